"""Tables on any engine: opening them, conditions, columns, people."""
