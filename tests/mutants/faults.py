"""Faults that were found by trying (the numbers are those of the list of defects), each as the code was when wrong.

``mended`` stands once in the module at ``path``; put back, ``broken`` must be caught by one of ``judges``.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FAULTS", "Fault"]


@dataclass(frozen=True)
class Fault:
    """A defect: its number, the pair of features in which it lay, and how to put it back."""

    name: str
    pair: str
    path: str
    mended: str
    broken: str
    judges: tuple[str, ...]


FAULTS = (
    Fault(
        "1.1", "threshold x limits that bite", "plan/cells.py",
        "if need.public or tally.owners]", "]",
        ("tests/plan/test_cells.py",),
    ),
    Fault(
        "1.1d", "threshold x limits that bite, in the definition", "plan/plain_cells.py",
        "        found = sorted(inside, key",
        "        found = sorted({label(r, by) for r in rows if covers(r) is True}, key",
        ("tests/plan/test_cells.py",),
    ),
    Fault(
        "1.2", "a secret x another query's limit", "plan/needs.py",
        "    return [name for name in found if name not in told], [name for name in found if name in told]",
        "    return list(found), []",
        ("tests/plan/test_cells.py",),
    ),
)  # fmt: skip
