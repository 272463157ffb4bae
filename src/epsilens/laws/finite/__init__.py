"""Pairs of laws with finitely many outcomes, their products, and the worst pair that keeps a set of claims."""
