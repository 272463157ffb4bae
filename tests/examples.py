"""How many random examples a property is tried on: a third of them in ``make test``, all in ``make full``.

They are drawn in the same order every time, so the third is the same one, and what a property pins is pinned by both.
"""

from __future__ import annotations

import os

FULL = os.environ.get("EPSILENS_FULL") == "1"


def examples(count: int) -> int:
    """So many, or a third of them.

    >>> examples(60) in (20, 60)
    True
    """
    return count if FULL else max(count // 3, 5)
