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


def function_of(name: str) -> str:
    """The function that a test is an example of: the unit in which tests are measured. One on Spark stands apart, as it
    takes seconds where the other engines take none.

    >>> function_of("tests/data/test_x.py::test_y[spark-1]"), function_of("tests/data/test_x.py::test_y[duckdb-1]")
    ('tests/data/test_x.py::test_y[spark]', 'tests/data/test_x.py::test_y')
    """
    function, _, example = name.partition("[")
    return f"{function}[spark]" if "spark" in example else function
