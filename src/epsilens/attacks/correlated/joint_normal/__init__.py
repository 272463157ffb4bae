"""Jointly normal records: the worst adversary, and the certificate that it is the worst."""
