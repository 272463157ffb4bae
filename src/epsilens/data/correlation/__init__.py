"""Correlated records, estimated from a table."""
