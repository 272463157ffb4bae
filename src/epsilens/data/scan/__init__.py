"""Who in a table two queries can isolate."""
