"""Tables on any engine: where they come from, opening them, their columns, conditions on their rows."""
