"""The parameter that keeps a reading under a limit."""
