"""Pairs of densities on the line, piece by piece."""
