"""Tables: open them on any engine, scan them for people who can be isolated, plan queries on them."""
