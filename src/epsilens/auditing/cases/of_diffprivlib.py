"""diffprivlib: noise in doubles, sums whose rounding or overflow breaks their sensitivity, a regression without noise.

diffprivlib 0.6.6 does not import with scikit-learn 1.9, so it needs an environment of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .case import Case, Library, Mechanism

DIFFPRIVLIB = Library("diffprivlib", "diffprivlib", ("diffprivlib==0.6.6", "scikit-learn==1.7.2"))


def _noise(kind: str, **how: Any) -> Callable[[int | None], Mechanism]:
    def make(_seed: int | None) -> Mechanism:
        from diffprivlib import mechanisms

        return lambda d: getattr(mechanisms, kind)(sensitivity=1, **how).randomise(d)

    return make


def _tool(name: str, **how: Any) -> Callable[[int | None], Mechanism]:
    def make(_seed: int | None) -> Mechanism:
        from diffprivlib import tools

        return lambda d: getattr(tools, name)(d, epsilon=1.0, **how)

    return make


def _regression(lower: float) -> Callable[[int | None], Mechanism]:
    def make(_seed: int | None) -> Mechanism:
        from diffprivlib.models import LinearRegression

        y = np.array([0.0, 1.0])

        def fit(x: Any) -> Any:
            model = LinearRegression(epsilon=1.0, bounds_X=(lower, 1.0), bounds_y=(0.0, 1.0), fit_intercept=False)
            return model.fit(x, y).coef_

        return fit

    return make


_ONE = ("0", "1")
_BITS = "in doubles: the last bits of the answer tell 0 from 1."
_UP = float(np.nextafter(1.0, 2.0))
_LONG = 2**14


def _jump() -> tuple[Any, Any]:
    """Two tables that differ in one record, within 2⁻⁵², whose sums differ by 2⁻³⁸.

    From all records at the lower bound to all at the upper one, record by record, the sum in doubles makes a single
    step; which record does it depends on the order in which numpy adds.
    """
    low, high = 0, _LONG
    rows = np.arange(_LONG)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if np.where(rows < middle, _UP, 1.0).sum() == _LONG else (low, middle)
    return np.where(rows < low, _UP, 1.0), np.where(rows < high, _UP, 1.0)


_TENS = np.full(13, 10)


def _replaced(rows: Any, first: Any) -> Any:
    made = rows.copy()
    made[0] = first
    return made


def _case(
    name: str, about: str, make: Callable[[int | None], Mechanism], d0: Any, d1: Any, pair: tuple[str, str] = _ONE,
    twin: str = "", runs: int = 20_000, claim: Any = 1.0,
) -> Case:  # fmt: skip
    claimed = "ε = 1" if claim == 1.0 else f"ε = {claim[0]:g}, δ = {claim[1]:g}"
    return Case(
        f"diffprivlib-{name}", about, DIFFPRIVLIB, claimed, lambda: claim, make, d0, d1, pair, broken=bool(twin),
        twin=f"diffprivlib-{twin}" if twin else "", runs=runs,
    )  # fmt: skip


_WIDE = {"epsilon": 1.0, "lower": -1000, "upper": 1000}
_NORMAL = {"epsilon": 1.0, "delta": 1e-5}

CASES = (
    _case("laplace", f"Laplace noise {_BITS}", _noise("Laplace", epsilon=1.0), 0.0, 1.0, twin="snapping"),
    _case(
        "snapping", "Laplace noise rounded to a grid by the snapping mechanism.", _noise("Snapping", **_WIDE), 0.0, 1.0,
    ),
    _case(
        "gaussian", f"Normal noise (GaussianAnalytic) {_BITS}", _noise("GaussianAnalytic", **_NORMAL), 0.0, 1.0,
        twin="gaussian-discrete", claim=(1.0, 1e-5),
    ),
    _case(
        "gaussian-discrete", "Normal noise on the integers (GaussianDiscrete).", _noise("GaussianDiscrete", **_NORMAL),
        0, 1, claim=(1.0, 1e-5),
    ),
    _case("staircase", f"Staircase noise {_BITS}", _noise("Staircase", epsilon=1.0), 0.0, 1.0, twin="geometric"),
    _case("geometric", "Geometric noise on the integers.", _noise("Geometric", epsilon=1.0), 0, 1),
    _case(
        "truncated", f"Truncated Laplace noise {_BITS}", _noise("LaplaceTruncated", **_WIDE), 0.0, 1.0,
        twin="geometric-truncated",
    ),
    _case("geometric-truncated", "Truncated geometric noise.", _noise("GeometricTruncated", **_WIDE), 0, 1),
    _case(
        "sum", f"tools.sum of one number {_BITS}", _tool("sum", bounds=(0, 1)), np.array([0.0, 0.0]),
        np.array([1.0, 0.0]), ("[0, 0]", "[1, 0]"), twin="sum-int", runs=10_000,
    ),
    _case(
        "sum-int", "tools.sum of whole numbers.", _tool("sum", bounds=(0, 1), dtype=int), np.array([0, 0]),
        np.array([1, 0]), ("[0, 0]", "[1, 0]"), runs=10_000,
    ),
    _case(
        "sum-rounding", "tools.sum within bounds one unit apart in the last place: rounding moves the sum further.",
        _tool("sum", bounds=(1.0, _UP)), *_jump(),
        ("16,384 records", "one of them replaced"), twin="sum-int", runs=1000,
    ),
    _case(
        "sum-int8", "tools.sum(dtype=int8): the sum overflows.", _tool("sum", bounds=(0, 10), dtype=np.int8),
        _replaced(_TENS, 0), _TENS, ("0 and twelve times 10", "thirteen times 10"), twin="sum-int64", runs=2000,
    ),
    _case(
        "sum-int64", "The same sum in 64 bits.", _tool("sum", bounds=(0, 10), dtype=np.int64), _replaced(_TENS, 0),
        _TENS, ("0 and twelve times 10", "thirteen times 10"), runs=2000,
    ),
    _case(
        "sum-nan", "tools.sum of a table with NaN: the bounds do not hold it, and NaN comes out.",
        _tool("sum", bounds=(0, 1)), np.array([0.0, 0.0]), np.array([np.nan, 0.0]), ("[0, 0]", "[NaN, 0]"),
        twin="nansum", runs=1000,
    ),
    _case(
        "nansum", "tools.nansum leaves NaN out.", _tool("nansum", bounds=(0, 1)), np.array([0.0, 0.0]),
        np.array([np.nan, 0.0]), ("[0, 0]", "[NaN, 0]"), runs=1000,
    ),
    _case(
        "regression", "LinearRegression with bounds_X = (0, 1): the squares get no noise.", _regression(0.0),
        np.array([[0.0], [0.0]]), np.array([[1.0], [0.0]]), ("x = 0, 0", "x = 1, 0"), twin="regression-wide", runs=200,
    ),
    _case(
        "regression-wide", "LinearRegression with bounds_X = (−1, 1): the squares get their noise.", _regression(-1.0),
        np.array([[0.0], [0.0]]), np.array([[1.0], [0.0]]), ("x = 0, 0", "x = 1, 0"), runs=2000,
    ),
)  # fmt: skip
