"""The account of everything that was released about the same people, and what it adds up to."""
