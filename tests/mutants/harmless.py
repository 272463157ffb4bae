"""Mutants that survive and were read: the program they make gives the same numbers, or none that is worse."""

from __future__ import annotations

#: By what was changed into what, and why nothing follows from it.
HARMLESS: dict[str, str] = {}
