"""Representations of the two laws of one observation; each offers what :class:`~epsilens.readings.law.Law` asks."""
