"""A case: a mechanism of a library, its claim, a pair of inputs, and whether it is known to break the claim.

Noise in doubles: the grid a double lies on depends on its size, so the last bits tell what was noised.

Mironov 2012. The sum 1 + x of a double x with |x| < ½ is a multiple of 2⁻⁵³, while 0 + x is x itself. Noise on the
integers has no such bits.

Sparse vector: which queries are above a threshold, in the variants of Lyu, Su and Li (2017), figure 1.

The threshold and each query get Laplace noise, and the answers stop after c queries above. Left out or halved in one
place, as in several publications, the promise is gone. Queries have sensitivity 1 and need not be monotone; the pairs
are those of the counterexamples in that paper, but for the variant that publishes values. An answer is 1 (above), 0
(below) or, where the variant publishes it, the noisy value of the query.

OpenDP: its noise in doubles lies on a grid of its own and keeps its claim; on integers it is not the law of Laplace.

On i64 OpenDP draws the geometric law: the ε of its map holds, but the trade-off of Laplace noise does not. A threshold
on integers lets a group of one pass more often than its map says (opendp issue 2922): at scale 2 and threshold 5 the
map gives δ = 0.0511, and the group passes with probability α⁴/(1+α) = 0.0842, α = e^{−½}.

Opacus: a step is divided by the expected size of a batch, int(n·rate), which depends on the number of records n.

With batches of 4, five records are cut into two batches (rate ½, expected size 2) and four into one (rate 1, expected
size 4), so the noise of a step is twice as wide with the fifth record, whatever the gradients are. Where the loss is a
sum nothing is divided.

PyDP and Tumult Core: Laplace noise in doubles on a grid, or rounded from an exact draw, which keeps its claim.

PyDP draws on a grid of a power of two (Google's library); Tumult Core rounds exact draws. They are the correct twins of
noise that is added in doubles. Their pins conflict with each other and with ours: each has an environment of its own.

All cases, and how they are run: the claim is tested by betting, and what broke it is bounded on fresh runs.

A bet may stop at any time, so it says how many runs refute a claim; a bound that is large as well needs an event that
is kept, so it is taken on as many fresh runs as the case has, chosen on a pilot. The level is shared out evenly over
all verdicts and bounds.

Released code that breaks its claim, each case beside a correct twin: what ``epsilens audit --catalogue`` runs.

``case``            what a case is, and what was found in it
``of_numpy``        noise in doubles
``sparse``          sparse vector, as published and as corrected
``of_diffprivlib``  noise, sums and a regression of diffprivlib
``of_opendp``       OpenDP's noise against what is claimed for it
``of_opacus``       Opacus's batch size
``of_twins``        correct noise of PyDP and Tumult Core
``catalogue``       all of them, and how they are run

The libraries cannot all be installed together. A case whose library is missing is skipped and says how to install it.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import numpy as np

from .. import checks
from ..checks import Array
from ..errors import InputError
from ..mechanisms.discrete import geometric
from ..mechanisms.noise import gaussian, laplace
from ..numerics.formatting import json_value
from ..numerics.values import ValueSemantics
from ..results import SentenceResult
from .audit import audit
from .claims import level_of
from .result import Audit, AuditVerdict

#: What is audited: a function of one input, or of an input and a number of runs where the case is batched.
Mechanism = Callable[..., Any]


@dataclass(frozen=True)
class CaseLibrary:
    """A distribution, the module that shows it is there, and the requirements that install it with what it needs."""

    name: str
    module: str
    requirements: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """The version installed; empty where there is none, or where a package it needs is of a kind it cannot use.

        >>> Library("numpy", "numpy").version > "1", Library("no-such-thing", "no_such_thing").version
        (True, '')
        """
        if find_spec(self.module) is None:
            return ""
        try:
            return version(self.name)
        except PackageNotFoundError:
            return ""

    @property
    def install(self) -> str:
        """The command that installs it.

        >>> Library("opendp", "opendp", ("opendp==0.16.0",)).install
        'pip install "opendp==0.16.0"'
        """
        return " ".join(("pip install", *(f'"{each}"' for each in self.requirements or (self.name,))))


NUMPY = CaseLibrary("numpy", "numpy")
EPSILENS = CaseLibrary("epsilens", "epsilens")


@dataclass(frozen=True)
class AuditCase:
    """What is audited, and what is known of it.

    ``make(seed)`` returns the mechanism; libraries with a generator of their own leave the seed aside. ``claim`` makes
    the claim when it is needed. ``twin`` names the correct case that stands beside a broken one. ``runs`` is the budget
    at which a broken case is found many times over. ``fixed`` cases are tested on that many runs at once: their event
    is too rare for bets that begin with others.
    """

    name: str
    about: str
    library: CaseLibrary
    claimed: str
    claim: Callable[[], Any]
    make: Callable[[int | None], Mechanism]
    d0: Any
    d1: Any
    pair: tuple[str, str]
    broken: bool = False
    twin: str = ""
    runs: int = 20_000
    batch: bool = False
    fixed: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class CaseResult(ValueSemantics):
    """What was found in a case: ``audit`` is None where it was not run, and ``why`` says what to do.

    ``audit`` is the verdict; ``bound`` a bound on fresh runs where the claim was refuted and it was asked.
    """

    case: AuditCase
    version: str
    audit: Audit | None
    bound: Audit | None = None
    why: str = ""

    @property
    def refuted_after(self) -> int | None:
        """How many runs refuted the claim; None where they did not."""
        return self.audit.runs if self.audit is not None and self.audit.refuted else None

    @property
    def epsilon_lo(self) -> float | None:
        """The bound on ε: on fresh runs where there are some."""
        shown = self.bound or self.audit
        return None if shown is None else shown.epsilon_lo

    @property
    def as_known(self) -> bool:
        """Whether a broken case was found and a correct one was not; a case that was not run is not held against it."""
        return self.audit is None or (self.audit.verdict is AuditVerdict.VIOLATION) == self.case.broken

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        c, a = self.case, self.audit
        return {
            "name": c.name, "about": c.about, "library": c.library.name, "version": self.version or None,
            "claim": c.claimed, "pair": list(c.pair), "broken": c.broken, "twin": c.twin or None,
            "verdict": None if a is None else str(a.verdict), "refuted_after": self.refuted_after,
            "as_known": self.as_known, "skipped": self.why or None, "epsilon_lo": json_value(self.epsilon_lo),
            "audit": None if a is None else a.to_dict(),
            "bound": None if self.bound is None else self.bound.to_dict(),
        }  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class CaseResults(ValueSemantics, SentenceResult):
    """What was found in several cases, in their order."""

    shown_as = "audited-cases"

    found: tuple[CaseResult, ...]

    @property
    def run(self) -> tuple[CaseResult, ...]:
        """Those whose library is installed."""
        return tuple(each for each in self.found if each.audit is not None)

    @property
    def as_known(self) -> bool:
        """Whether every broken case was found and no correct one."""
        return all(each.as_known for each in self.found)

    def twin_of(self, each: CaseResult) -> CaseResult | None:
        """What was found in the correct case beside a broken one."""
        return next((other for other in self.found if other.case.name == each.case.twin), None)

    def __getitem__(self, name: str) -> CaseResult:
        """The case of this name."""
        return next(each for each in self.found if each.case.name == name)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        return {
            "schema": 1, "as_known": self.as_known, "cases": [each.to_dict() for each in self.found],
            "sentence": self.sentence,
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"Catalogue({len(self.run)} of {len(self.found)} cases run, as_known={self.as_known})"


def _laplace(seed: int | None) -> Mechanism:
    rng = np.random.default_rng(seed)
    return lambda d: d + rng.laplace(0.0, 1.0)


def _normal(seed: int | None) -> Mechanism:
    rng = np.random.default_rng(seed)
    return lambda d: d + rng.normal(0.0, 1.0)


def _geometric(seed: int | None) -> Mechanism:
    rng = np.random.default_rng(seed)
    p = -math.expm1(-1.0)
    return lambda d: d + int(rng.geometric(p)) - int(rng.geometric(p))


def _rounded_normal(seed: int | None) -> Mechanism:
    rng = np.random.default_rng(seed)
    return lambda d: math.floor((d + rng.normal(0.0, 1.0)) * 1024) / 1024


NUMPY_CASES = (
    AuditCase(
        "numpy-laplace", "Laplace noise in doubles: the last bits of the answer tell 0 from 1.", NUMPY, "ε = 1",
        lambda: 1.0, _laplace, 0.0, 1.0, ("0", "1"), broken=True, twin="numpy-geometric",
    ),
    AuditCase(
        "numpy-geometric", "The difference of two geometric draws: noise on the integers.", NUMPY, "ε = 1",
        lambda: 1.0, _geometric, 0, 1, ("0", "1"),
    ),
    AuditCase(
        "numpy-normal", "Normal noise in doubles: the last bits of the answer tell 0 from 1.", NUMPY, "1-GDP",
        lambda: gaussian(psi=1.0), _normal, 0.0, 1.0, ("0", "1"), broken=True, twin="numpy-normal-rounded",
    ),
    AuditCase(
        "numpy-normal-rounded", "The same, rounded down to multiples of 2⁻¹⁰ before it is published.", NUMPY, "1-GDP",
        lambda: gaussian(psi=1.0), _rounded_normal, 0.0, 1.0, ("0", "1"),
    ),
)  # fmt: skip


_GRID = 1024.0


def sparse_vector(
    queries: Sequence[float],
    runs: int,
    rng: np.random.Generator,
    *,
    threshold_scale: float,
    query_scale: float,
    most: float,
    values: bool = False,
    fresh_scale: float = 0.0,
) -> Array:
    """Runs in rows: 1 for each query above the threshold 0, else 0; NaN once ``most`` were above.

    With ``values`` the noisy query itself is published where it is above, and NaN where it is below; it is rounded, so
    that its last bits say nothing. With a ``fresh_scale`` the threshold's noise is drawn anew after each answer above.

    >>> sparse_vector([90, -90, 90, 90], 1, np.random.default_rng(1), threshold_scale=1, query_scale=1, most=2).tolist()
    [[1.0, 0.0, 1.0, nan]]
    """
    rho = rng.laplace(0.0, threshold_scale, runs)
    told = np.full((runs, len(queries)), np.nan)
    above = np.zeros(runs)
    for i, query in enumerate(queries):
        noisy = query + (rng.laplace(0.0, query_scale, runs) if query_scale else np.zeros(runs))
        asked = above < most
        over = asked & (noisy >= rho)
        if values:
            told[over, i] = np.floor(noisy[over] * _GRID) / _GRID
        else:
            told[asked, i] = over[asked]
        above += over
        if fresh_scale:
            rho = np.where(over, rng.laplace(0.0, fresh_scale, runs), rho)
    return told


def _sparse_variant(**how: Any) -> Callable[[int | None], Mechanism]:
    def make(seed: int | None) -> Mechanism:
        rng = np.random.default_rng(seed)
        return lambda d, n: sparse_vector(d, n, rng, **how)

    return make


_SIDE_QUERIES = 6  # queries on each side of a counterexample
_MOST_ABOVE = 6  # answers above
_SPLIT = ([0.0] * (2 * _SIDE_QUERIES), [1.0] * _SIDE_QUERIES + [-1.0] * _SIDE_QUERIES)
_SPLIT_WORDS = (
    f"{2 * _SIDE_QUERIES} queries with answer 0",
    f"{_SIDE_QUERIES} with answer 1, then {_SIDE_QUERIES} with −1",
)
_LAST = ([0.0] * 5, [1.0] * 5)
_LAST_WORDS = ("5 queries with answer 0", "5 queries with answer 1")
_SWAP = ([0.0, 1.0], [1.0, 0.0])
_SWAP_WORDS = ("queries with answers 0, 1", "queries with answers 1, 0")


def _sparse_case(
    name: str, about: str, pair: tuple[Any, Any], words: tuple[str, str], how: dict[str, Any], **more: Any
) -> AuditCase:
    return AuditCase(
        name, about, EPSILENS, "ε = 1", lambda: 1.0, _sparse_variant(**how), *pair, words, batch=True, **more
    )


SPARSE_CASES = (
    _sparse_case(
        "sparse-no-query-noise", "Variant 5: noise on the threshold only, and no limit on answers above.",
        _SWAP, _SWAP_WORDS, {"threshold_scale": 2.0, "query_scale": 0.0, "most": math.inf}, broken=True,
        twin="sparse-swap",
    ),
    _sparse_case(
        "sparse-swap",
        "Variant 1 (correct) on the same queries: noise 2 on the threshold, 4 on queries, at most one above.",
        _SWAP, _SWAP_WORDS, {"threshold_scale": 2.0, "query_scale": 4.0, "most": 1},
    ),
    _sparse_case(
        "sparse-no-limit", "Variant 6: noise 2 on the threshold and on every query, and no limit on answers above.",
        _SPLIT, _SPLIT_WORDS, {"threshold_scale": 2.0, "query_scale": 2.0, "most": math.inf}, broken=True,
        twin="sparse-split",
    ),
    _sparse_case(
        "sparse-little-noise",
        f"Variant 4: noise 4 on the threshold, 4/3 on queries whatever c, at most c = {_MOST_ABOVE} above.",
        _SPLIT, _SPLIT_WORDS, {"threshold_scale": 4.0, "query_scale": 4 / 3, "most": _MOST_ABOVE}, broken=True,
        twin="sparse-split",
    ),
    _sparse_case(
        "sparse-fresh",
        f"Variant 2 (correct): the threshold's noise is drawn anew after each of at most c = {_MOST_ABOVE} above.",
        _SPLIT, _SPLIT_WORDS,
        {"threshold_scale": 2.0 * _MOST_ABOVE, "query_scale": 4.0 * _MOST_ABOVE, "most": _MOST_ABOVE,
        "fresh_scale": 2.0 * _MOST_ABOVE},
    ),
    _sparse_case(
        "sparse-split", f"Variant 1 (correct) on the same queries, at most c = {_MOST_ABOVE} above.", _SPLIT,
        _SPLIT_WORDS,
        {"threshold_scale": 2.0, "query_scale": 4.0 * _MOST_ABOVE, "most": _MOST_ABOVE},
    ),
    _sparse_case(
        "sparse-values", "Variant 3: the noisy value that was above the threshold is published, not only that it was.",
        _LAST, _LAST_WORDS, {"threshold_scale": 2.0, "query_scale": 2.0, "most": 1, "values": True}, broken=True,
        twin="sparse-last", runs=500_000, fixed=True,
    ),
    _sparse_case(
        "sparse-last", "Variant 1 (correct) on the same queries, at most one above.", _LAST, _LAST_WORDS,
        {"threshold_scale": 2.0, "query_scale": 4.0, "most": 1}, runs=500_000, fixed=True,
    ),
)  # fmt: skip


DIFFPRIVLIB = CaseLibrary("diffprivlib", "diffprivlib", ("diffprivlib==0.6.6", "scikit-learn==1.7.2"))


def _diffprivlib_noise(kind: str, **how: Any) -> Callable[[int | None], Mechanism]:
    def make(_seed: int | None) -> Mechanism:
        from diffprivlib import mechanisms

        return lambda d: getattr(mechanisms, kind)(sensitivity=1, **how).randomise(d)

    return make


def _diffprivlib_tool(name: str, **how: Any) -> Callable[[int | None], Mechanism]:
    def make(_seed: int | None) -> Mechanism:
        from diffprivlib import tools

        return lambda d: getattr(tools, name)(d, epsilon=1.0, **how)

    return make


def _linear_regression(lower: float) -> Callable[[int | None], Mechanism]:
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


def _rounding_pair() -> tuple[Any, Any]:
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


def _replace_first(rows: Any, first: Any) -> Any:
    made = rows.copy()
    made[0] = first
    return made


def _diffprivlib_case(
    name: str, about: str, make: Callable[[int | None], Mechanism], d0: Any, d1: Any, pair: tuple[str, str] = _ONE,
    twin: str = "", runs: int = 20_000, claim: Any = 1.0,
) -> AuditCase:  # fmt: skip
    claimed = "ε = 1" if claim == 1.0 else f"ε = {claim[0]:g}, δ = {claim[1]:g}"
    return AuditCase(
        f"diffprivlib-{name}", about, DIFFPRIVLIB, claimed, lambda: claim, make, d0, d1, pair, broken=bool(twin),
        twin=f"diffprivlib-{twin}" if twin else "", runs=runs,
    )  # fmt: skip


_WIDE = {"epsilon": 1.0, "lower": -1000, "upper": 1000}
_NORMAL = {"epsilon": 1.0, "delta": 1e-5}

DIFFPRIVLIB_CASES = (
    _diffprivlib_case("laplace", f"Laplace noise {_BITS}", _diffprivlib_noise("Laplace", epsilon=1.0), 0.0, 1.0,
    twin="snapping"),
    _diffprivlib_case(
        "snapping", "Laplace noise rounded to a grid by the snapping mechanism.", _diffprivlib_noise("Snapping",
        **_WIDE), 0.0, 1.0,
    ),
    _diffprivlib_case(
        "gaussian", f"Normal noise (GaussianAnalytic) {_BITS}", _diffprivlib_noise("GaussianAnalytic", **_NORMAL),
        0.0, 1.0,
        twin="gaussian-discrete", claim=(1.0, 1e-5),
    ),
    _diffprivlib_case(
        "gaussian-discrete", "Normal noise on the integers (GaussianDiscrete).",
        _diffprivlib_noise("GaussianDiscrete", **_NORMAL),
        0, 1, claim=(1.0, 1e-5),
    ),
    _diffprivlib_case("staircase", f"Staircase noise {_BITS}", _diffprivlib_noise("Staircase", epsilon=1.0), 0.0,
    1.0, twin="geometric"),
    _diffprivlib_case("geometric", "Geometric noise on the integers.", _diffprivlib_noise("Geometric", epsilon=1.0),
    0, 1),
    _diffprivlib_case(
        "truncated", f"Truncated Laplace noise {_BITS}", _diffprivlib_noise("LaplaceTruncated", **_WIDE), 0.0, 1.0,
        twin="geometric-truncated",
    ),
    _diffprivlib_case("geometric-truncated", "Truncated geometric noise.", _diffprivlib_noise("GeometricTruncated",
    **_WIDE), 0, 1),
    _diffprivlib_case(
        "sum", f"tools.sum of one number {_BITS}", _diffprivlib_tool("sum", bounds=(0, 1)), np.array([0.0, 0.0]),
        np.array([1.0, 0.0]), ("[0, 0]", "[1, 0]"), twin="sum-int", runs=10_000,
    ),
    _diffprivlib_case(
        "sum-int", "tools.sum of whole numbers.", _diffprivlib_tool("sum", bounds=(0, 1), dtype=int), np.array([0, 0]),
        np.array([1, 0]), ("[0, 0]", "[1, 0]"), runs=10_000,
    ),
    _diffprivlib_case(
        "sum-rounding", "tools.sum within bounds one unit apart in the last place: rounding moves the sum further.",
        _diffprivlib_tool("sum", bounds=(1.0, _UP)), *_rounding_pair(),
        ("16,384 records", "one of them replaced"), twin="sum-int", runs=1000,
    ),
    _diffprivlib_case(
        "sum-int8", "tools.sum(dtype=int8): the sum overflows.", _diffprivlib_tool("sum", bounds=(0, 10),
        dtype=np.int8),
        _replace_first(_TENS, 0), _TENS, ("0 and twelve times 10", "thirteen times 10"), twin="sum-int64", runs=2000,
    ),
    _diffprivlib_case(
        "sum-int64", "The same sum in 64 bits.", _diffprivlib_tool("sum", bounds=(0, 10), dtype=np.int64),
        _replace_first(_TENS, 0),
        _TENS, ("0 and twelve times 10", "thirteen times 10"), runs=2000,
    ),
    _diffprivlib_case(
        "sum-nan", "tools.sum of a table with NaN: the bounds do not hold it, and NaN comes out.",
        _diffprivlib_tool("sum", bounds=(0, 1)), np.array([0.0, 0.0]), np.array([np.nan, 0.0]), ("[0, 0]", "[NaN, 0]"),
        twin="nansum", runs=1000,
    ),
    _diffprivlib_case(
        "nansum", "tools.nansum leaves NaN out.", _diffprivlib_tool("nansum", bounds=(0, 1)), np.array([0.0, 0.0]),
        np.array([np.nan, 0.0]), ("[0, 0]", "[NaN, 0]"), runs=1000,
    ),
    _diffprivlib_case(
        "regression", "LinearRegression with bounds_X = (0, 1): the squares get no noise.", _linear_regression(0.0),
        np.array([[0.0], [0.0]]), np.array([[1.0], [0.0]]), ("x = 0, 0", "x = 1, 0"), twin="regression-wide", runs=200,
    ),
    _diffprivlib_case(
        "regression-wide", "LinearRegression with bounds_X = (−1, 1): the squares get their noise.",
        _linear_regression(-1.0),
        np.array([[0.0], [0.0]]), np.array([[1.0], [0.0]]), ("x = 0, 0", "x = 1, 0"), runs=2000,
    ),
)  # fmt: skip


OPENDP = CaseLibrary("opendp", "opendp", ("opendp==0.16.0",))


def _opendp() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp


def _opendp_noise(kind: str) -> Callable[[int | None], Mechanism]:
    """One call for many runs: the noise of each entry is drawn by itself."""

    def make(_seed: int | None) -> Mechanism:
        dp = _opendp()
        domain = dp.atom_domain(T="f64", nan=False) if kind == "f64" else dp.atom_domain(T="i64")
        noisy = dp.m.make_laplace(dp.vector_domain(domain), dp.l1_distance(T=kind), scale=1.0)
        return lambda d, n: list(noisy([d] * n))

    return make


def _opendp_threshold(kind: str) -> Callable[[int | None], Mechanism]:
    def make(_seed: int | None) -> Mechanism:
        dp = _opendp()
        domain = dp.atom_domain(T="f64", nan=False) if kind == "f64" else dp.atom_domain(T="i64")
        groups = dp.map_domain(dp.atom_domain(T=str), domain)
        metric = dp.l01inf_distance(dp.absolute_distance(T=kind))
        noisy = dp.m.make_laplace_threshold(groups, metric, scale=2.0, threshold=5.0 if kind == "f64" else 5)
        return lambda d: dict(noisy(d))

    return make


def _threshold_claim(kind: str) -> Callable[[], Any]:
    """What the measurement's own map says of one group of one row."""

    def claim() -> Any:
        dp = _opendp()
        domain = dp.atom_domain(T="f64", nan=False) if kind == "f64" else dp.atom_domain(T="i64")
        one = 1.0 if kind == "f64" else 1
        noisy = dp.m.make_laplace_threshold(
            dp.map_domain(dp.atom_domain(T=str), domain), dp.l01inf_distance(dp.absolute_distance(T=kind)),
            scale=2.0, threshold=5 * one,
        )  # fmt: skip
        epsilon, delta = noisy.map((1, one, one))
        return (epsilon, delta)

    return claim


_GROUPS = ("no group", "a group of one")

OPENDP_CASES = (
    AuditCase(
        "opendp-laplace", "OpenDP's Laplace noise in doubles, on a grid of its own.", OPENDP, "Laplace noise, ε = 1",
        lambda: laplace(epsilon=1.0), _opendp_noise("f64"), 0.0, 1.0, ("0", "1"), batch=True,
    ),
    AuditCase(
        "opendp-integer-as-laplace", "OpenDP's noise on integers, claimed to be Laplace noise.", OPENDP,
        "Laplace noise, ε = 1", lambda: laplace(epsilon=1.0), _opendp_noise("i64"), 0, 1, ("0", "1"), broken=True,
        twin="opendp-integer", batch=True,
    ),
    AuditCase(
        "opendp-integer", "OpenDP's noise on integers, claimed to be the geometric law.", OPENDP,
        "geometric noise, ε = 1", lambda: geometric(epsilon=1.0), _opendp_noise("i64"), 0, 1, ("0", "1"), batch=True,
    ),
    AuditCase(
        "opendp-integer-threshold", "OpenDP's threshold on integer counts: δ is larger than its map says.", OPENDP,
        "its map: ε = 0.5, δ = 0.0511", _threshold_claim("i64"), _opendp_threshold("i64"), {}, {"a": 1}, _GROUPS,
        broken=True,
        twin="opendp-threshold",
    ),
    AuditCase(
        "opendp-threshold", "The same threshold on counts as doubles.", OPENDP, "its map: ε = 0.5, δ = 0.0677",
        _threshold_claim("f64"), _opendp_threshold("f64"), {}, {"a": 1.0}, _GROUPS,
    ),
)  # fmt: skip


OPACUS = CaseLibrary("opacus", "opacus", ("opacus==1.6.0",))
_OPACUS_NOISE = 8.0


def _opacus_step(reduction: str) -> Callable[[int | None], Mechanism]:
    """The weight after one step of training on n records whose gradients are all zero."""

    def make(_seed: int | None) -> Mechanism:
        import torch
        from opacus import PrivacyEngine
        from torch.utils.data import DataLoader, TensorDataset

        told = logging.getLogger("opacus")

        def train(n: int) -> Any:
            level = told.level
            told.setLevel(logging.ERROR)  # it warns of an empty batch, which is an outcome like any other
            try:
                module = torch.nn.Linear(1, 1, bias=False)
                torch.nn.init.zeros_(module.weight)
                module, optimiser, loader = PrivacyEngine().make_private(
                    module=module, optimizer=torch.optim.SGD(module.parameters(), lr=1.0),
                    data_loader=DataLoader(TensorDataset(torch.zeros(n, 1)), batch_size=4),
                    noise_multiplier=_OPACUS_NOISE, max_grad_norm=1.0, loss_reduction=reduction,
                )  # fmt: skip
                (batch,) = next(iter(loader))
                answer = module(batch)
                (answer.sum() if reduction == "sum" else answer.mean()).backward()
                optimiser.step()
                return float(next(module.parameters()))
            finally:
                told.setLevel(level)

        return train

    return make


_OPACUS_PAIR = ("4 records", "5 records")
_OPACUS_CLAIM = "noise 8, one step: ⅛-GDP"

OPACUS_CASES = (
    AuditCase(
        "opacus-batch-size", "One step where every gradient is zero: its noise tells the number of records.", OPACUS,
        _OPACUS_CLAIM, lambda: gaussian(psi=1 / _OPACUS_NOISE), _opacus_step("mean"), 4, 5, _OPACUS_PAIR,
        broken=True, twin="opacus-sum",
        runs=1000,
    ),
    AuditCase(
        "opacus-sum", "The same step with loss_reduction='sum', which divides by nothing.", OPACUS, _OPACUS_CLAIM,
        lambda: gaussian(psi=1 / _OPACUS_NOISE), _opacus_step("sum"), 4, 5, _OPACUS_PAIR, runs=1000,
    ),
)  # fmt: skip


PYDP = CaseLibrary("python-dp", "pydp", ("python-dp==1.1.5",))
TUMULT = CaseLibrary("tmlt.core", "tmlt", ("tmlt.core==0.20.0",))


def _pydp(_seed: int | None) -> Mechanism:
    from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

    noisy = LaplaceMechanism(epsilon=1.0, sensitivity=1.0)
    return lambda d: noisy.add_noise(d)


def _pydp_count(_seed: int | None) -> Mechanism:
    from pydp.algorithms.laplacian import Count

    return lambda d: Count(epsilon=1.0, dtype="int").quick_result(d)


def _tumult(_seed: int | None) -> Mechanism:
    from tmlt.core.domains.numpy_domains import NumpyFloatDomain
    from tmlt.core.measurements.noise_mechanisms import AddLaplaceNoise

    noisy = AddLaplaceNoise(input_domain=NumpyFloatDomain(), scale=1)
    return lambda d: noisy(d)


def _tumult_geometric(_seed: int | None) -> Mechanism:
    from tmlt.core.measurements.noise_mechanisms import AddGeometricNoise

    noisy = AddGeometricNoise(alpha=1)
    return lambda d: noisy(d)


def _twin_case(
    name: str, about: str, library: CaseLibrary, make: Callable[[int | None], Mechanism], inputs: tuple[Any, Any],
    pair: tuple[str, str] = ("0", "1"),
) -> AuditCase:  # fmt: skip
    return AuditCase(name, about, library, "ε = 1", lambda: 1.0, make, *inputs, pair)


TWIN_CASES = (
    _twin_case("pydp-laplace", "PyDP's Laplace noise in doubles, on a grid.", PYDP, _pydp, (0.0, 1.0)),
    _twin_case("pydp-count", "PyDP's count of rows.", PYDP, _pydp_count, ([1, 2], [1, 2, 3]), ("2 rows", "3 rows")),
    _twin_case(
        "tumult-laplace", "Tumult Core's Laplace noise, rounded from an exact draw.", TUMULT, _tumult, (0.0, 1.0)
    ),
    _twin_case("tumult-geometric", "Tumult Core's noise on the integers.", TUMULT, _tumult_geometric, (0, 1)),
)


#: In the order they are told: libraries that are always there first.
CASES: tuple[AuditCase, ...] = (
    *(*NUMPY_CASES, *SPARSE_CASES, *OPENDP_CASES),
    *(*OPACUS_CASES, *DIFFPRIVLIB_CASES, *TWIN_CASES),
)


def select_cases(names: Iterable[str] = ()) -> tuple[AuditCase, ...]:
    """The cases of these names, or whose names begin so, and their twins; all of them without a name.

    >>> [case.name for case in chosen(["numpy-laplace"])]
    ['numpy-laplace', 'numpy-geometric']
    """
    asked = list(names)
    if not asked:
        return CASES
    held: set[str] = set()
    for name in asked:
        found = [case for case in CASES if case.name == name] or [c for c in CASES if c.name.startswith(f"{name}-")]
        if not found:
            known = ", ".join(dict.fromkeys(case.name.partition("-")[0] for case in CASES))
            raise InputError(
                f"there is no case {str(name)[:40]!r}: give a name that the catalogue lists, or one of {known}",
                parameter="catalogue",
            )
        held.update(case.name for case in found)
        held.update(case.twin for case in found if case.twin)
    return tuple(case for case in CASES if case.name in held)


def audit_cases(
    names: Iterable[str] = (),
    *,
    confidence: float = 0.95,
    runs: int | None = None,
    seed: int | None = None,
    bound: bool = True,
    told: Callable[[CaseResult], Any] | None = None,
) -> CaseResults:
    """What the cases of these names show; ``confidence`` is that of all verdicts and bounds together.

    ``runs`` is the most for each, where it is less than the case's own. Without ``bound`` the larger bound on fresh
    runs is left out. ``told`` is given each case as it is done.

    >>> found = audit_cases(["numpy-laplace"], seed=1, bound=False)
    >>> [(each.case.name, str(each.audit.verdict)) for each in found.found]
    [('numpy-laplace', 'VIOLATION'), ('numpy-geometric', 'CONSISTENT')]
    """
    most = None if runs is None else checks.integer("runs", runs, low=1)
    asked = select_cases(names)
    each = 1 - level_of(confidence) / (2 * len(asked))
    done: list[CaseResult] = []
    for case in asked:
        done.append(audit_case(case, confidence=each, runs=most, seed=seed, bound=bound))
        if told is not None:
            told(done[-1])
    return CaseResults(tuple(done))


def audit_case(
    case: AuditCase, *, confidence: float = 0.999, runs: int | None = None, seed: int | None = None, bound: bool = True
) -> CaseResult:
    """What one case shows; skipped where its library is not there or does not load."""
    version = case.library.version
    if not version:
        return CaseResult(case, "", None, why=f"{case.library.name} is not installed: {case.library.install}")
    try:
        mechanism, claim = case.make(seed), case.claim()
    except Exception:  # it is there, but not with what it needs, or in a version whose functions are others
        return CaseResult(
            case, version, None, why=f"{case.library.name} {version} does not load here: {case.library.install}"
        )
    budget = case.runs if runs is None else min(runs, case.runs)

    def play(sequential: bool) -> Audit:
        return audit(
            mechanism, case.d0, case.d1, claim=claim, confidence=confidence, runs=budget, batch=case.batch,
            sequential=sequential, seed=seed,
        )  # fmt: skip

    found = play(not case.fixed)
    again = found.refuted and bound and not case.fixed
    return CaseResult(case, version, found, play(False) if again else None)
