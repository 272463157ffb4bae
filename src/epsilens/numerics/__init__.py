"""Special functions and roots, stable over the whole domain."""
