"""Released code that breaks its claim, each case beside a correct twin: what ``epsilens audit --catalogue`` runs.

A case is a mechanism of a library, its claim, a pair of inputs, and whether it is known to break the claim. The cases
are listed in ``case_catalogue.toml``; the mechanisms they name are functions here. The libraries cannot all be
installed together: a case whose library is missing is skipped and says how to install it.

The claim is tested by betting, and what broke it is bounded on fresh runs. A bet may stop at any time, so it says how
many runs refute a claim; a bound that is large as well needs an event that is kept, so it is taken on as many fresh
runs as the case has, chosen on a pilot. The level is shared out evenly over all verdicts and bounds.
"""

from __future__ import annotations

import logging
import math
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
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
from .result import Audit, AuditVerdict, level_of

#: What is audited: a function of one input, or of an input and a number of runs where the case is batched.
Mechanism = Callable[..., object]


@dataclass(frozen=True)
class CaseLibrary:
    """A distribution, the module that shows it is there, and the requirements that install it with what it needs."""

    name: str
    module: str
    requirements: Sequence[str] = ()

    @property
    def version(self) -> str:
        """The version installed; empty where there is none, or where a package it needs is of a kind it cannot use.

        >>> CaseLibrary("numpy", "numpy").version > "1", CaseLibrary("no-such-thing", "no_such_thing").version
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

        >>> CaseLibrary("opendp", "opendp", ("opendp==0.16.0",)).install
        'pip install "opendp==0.16.0"'
        """
        return " ".join(("pip install", *(f'"{each}"' for each in self.requirements or (self.name,))))


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
            "schema": 1,
            "as_known": self.as_known,
            "cases": [each.to_dict() for each in self.found],
            "sentence": self.sentence,
        }

    def __repr__(self) -> str:
        return f"Catalogue({len(self.run)} of {len(self.found)} cases run, as_known={self.as_known})"


#
# Noise in doubles: the grid a double lies on depends on its size, so the last bits tell what was noised. Mironov 2012:
# the sum 1 + x of a double x with |x| < ½ is a multiple of 2⁻⁵³, while 0 + x is x itself. Noise on the integers has no
# such bits.


def numpy_laplace(seed: int | None) -> Mechanism:
    rng = np.random.default_rng(seed)
    return lambda d: d + rng.laplace(0.0, 1.0)


def numpy_normal(seed: int | None) -> Mechanism:
    rng = np.random.default_rng(seed)
    return lambda d: d + rng.normal(0.0, 1.0)


def numpy_geometric(seed: int | None) -> Mechanism:
    rng = np.random.default_rng(seed)
    p = -math.expm1(-1.0)
    return lambda d: d + int(rng.geometric(p)) - int(rng.geometric(p))


def numpy_rounded_normal(seed: int | None) -> Mechanism:
    rng = np.random.default_rng(seed)
    return lambda d: math.floor((d + rng.normal(0.0, 1.0)) * 1024) / 1024


# Sparse vector: which queries are above a threshold, in the variants of Lyu, Su and Li (2017), figure 1. The threshold
# and each query get Laplace noise, and the answers stop after c queries above. Left out or halved in one place, as in
# several publications, the promise is gone. Queries have sensitivity 1 and need not be monotone; the pairs are those of
# the counterexamples in that paper, but for the variant that publishes values.


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
    answers = np.full((runs, len(queries)), np.nan)
    above = np.zeros(runs)
    for i, query in enumerate(queries):
        noisy = query + (rng.laplace(0.0, query_scale, runs) if query_scale else np.zeros(runs))
        running = above < most
        over = running & (noisy >= rho)
        if values:
            answers[over, i] = np.floor(noisy[over] * 1024.0) / 1024.0
        else:
            answers[running, i] = over[running]
        above += over
        if fresh_scale:
            rho = np.where(over, rng.laplace(0.0, fresh_scale, runs), rho)
    return answers


def sparse(seed: int | None, **variant: Any) -> Mechanism:
    rng = np.random.default_rng(seed)
    return lambda d, n: sparse_vector(d, n, rng, **variant)


def diffprivlib_noise(_seed: int | None, kind: str, **settings: object) -> Mechanism:
    from diffprivlib import mechanisms

    return lambda d: getattr(mechanisms, kind)(sensitivity=1, **settings).randomise(d)


def diffprivlib_tool(_seed: int | None, name: str, bounds: Sequence[float], **settings: Any) -> Mechanism:
    from diffprivlib import tools

    if "dtype" in settings:
        settings["dtype"] = {"int": int, "int8": np.int8, "int64": np.int64}[settings["dtype"]]
    return lambda d: getattr(tools, name)(d, epsilon=1.0, bounds=tuple(bounds), **settings)


def linear_regression(_seed: int | None, lower: float) -> Mechanism:
    from diffprivlib.models import LinearRegression

    y = np.array([0.0, 1.0])

    def fit(x: object) -> object:
        model = LinearRegression(epsilon=1.0, bounds_X=(lower, 1.0), bounds_y=(0.0, 1.0), fit_intercept=False)
        return model.fit(x, y).coef_

    return fit


def _rounding_pair(rows: int = 2**14) -> tuple[Array, Array]:
    """Two tables that differ in one record, within 2⁻⁵², whose sums differ by 2⁻³⁸.

    From all records at the lower bound to all at the upper one, record by record, the sum in doubles makes a single
    step; which record does it depends on the order in which numpy adds.
    """
    low, high = 0, rows
    up, at = float(np.nextafter(1.0, 2.0)), np.arange(rows)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if np.where(at < middle, up, 1.0).sum() == rows else (low, middle)
    return np.where(at < low, up, 1.0), np.where(at < high, up, 1.0)


# OpenDP: its noise in doubles lies on a grid of its own and keeps its claim. On i64 it draws the geometric law: the ε
# of its map holds, but the trade-off of Laplace noise does not. A threshold on integers lets a group of one pass more
# often than its map says (opendp issue 2922): at scale 2 and threshold 5 the map gives δ = 0.0511, and the group passes
# with probability α⁴/(1+α) = 0.0842, α = e^{−½}.


def _opendp(kind: str) -> tuple[Any, Any]:
    """The library, and its domain of a number of this kind."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp, dp.atom_domain(T="f64", nan=False) if kind == "f64" else dp.atom_domain(T="i64")


def opendp_noise(_seed: int | None, kind: str) -> Mechanism:
    """One call for many runs: the noise of each entry is drawn by itself."""
    dp, domain = _opendp(kind)
    noisy = dp.m.make_laplace(dp.vector_domain(domain), dp.l1_distance(T=kind), scale=1.0)
    return lambda d, n: list(noisy([d] * n))


def _opendp_threshold(kind: str) -> Any:
    dp, domain = _opendp(kind)
    groups = dp.map_domain(dp.atom_domain(T=str), domain)
    metric = dp.l01inf_distance(dp.absolute_distance(T=kind))
    return dp.m.make_laplace_threshold(groups, metric, scale=2.0, threshold=5.0 if kind == "f64" else 5)


def opendp_threshold(_seed: int | None, kind: str) -> Mechanism:
    noisy = _opendp_threshold(kind)
    return lambda d: dict(noisy(d))


def _threshold_claim(kind: str) -> tuple[float, float]:
    """What the measurement's own map says of one group of one row."""
    one = 1.0 if kind == "f64" else 1
    epsilon, delta = _opendp_threshold(kind).map((1, one, one))
    return epsilon, delta


# Opacus: a step is divided by the expected size of a batch, int(n·rate), which depends on the number of records n. With
# batches of 4, five records are cut into two batches (rate ½, expected size 2) and four into one (rate 1, expected size
# 4), so the noise of a step is twice as wide with the fifth record, whatever the gradients are. Where the loss is a sum
# nothing is divided.


_OPACUS_NOISE = 8.0


def opacus_step(_seed: int | None, reduction: str) -> Mechanism:
    """The weight after one step of training on n records whose gradients are all zero."""
    import torch
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset

    logger = logging.getLogger("opacus")

    def train(n: int) -> object:
        level = logger.level
        logger.setLevel(logging.ERROR)  # it warns of an empty batch, which is an outcome like any other
        try:
            module = torch.nn.Linear(1, 1, bias=False)
            torch.nn.init.zeros_(module.weight)
            module, optimiser, loader = PrivacyEngine().make_private(
                module=module,
                optimizer=torch.optim.SGD(module.parameters(), lr=1.0),
                data_loader=DataLoader(TensorDataset(torch.zeros(n, 1)), batch_size=4),
                noise_multiplier=_OPACUS_NOISE,
                max_grad_norm=1.0,
                loss_reduction=reduction,
            )
            (batch,) = next(iter(loader))
            answer = module(batch)
            (answer.sum() if reduction == "sum" else answer.mean()).backward()
            optimiser.step()
            return float(next(module.parameters()))
        finally:
            logger.setLevel(level)

    return train


# PyDP and Tumult Core: PyDP draws on a grid of a power of two (Google's library), Tumult Core rounds exact draws. They
# are the correct twins of noise that is added in doubles. Their pins conflict with each other and with ours: each has
# an environment of its own.


def pydp_laplace(_seed: int | None) -> Mechanism:
    from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

    noisy = LaplaceMechanism(epsilon=1.0, sensitivity=1.0)
    return lambda d: noisy.add_noise(d)


def pydp_count(_seed: int | None) -> Mechanism:
    from pydp.algorithms.laplacian import Count

    return lambda d: Count(epsilon=1.0, dtype="int").quick_result(d)


def tumult_laplace(_seed: int | None) -> Mechanism:
    from tmlt.core.domains.numpy_domains import NumpyFloatDomain
    from tmlt.core.measurements.noise_mechanisms import AddLaplaceNoise

    noisy = AddLaplaceNoise(input_domain=NumpyFloatDomain(), scale=1)
    return lambda d: noisy(d)


def tumult_geometric(_seed: int | None) -> Mechanism:
    from tmlt.core.measurements.noise_mechanisms import AddGeometricNoise

    noisy = AddGeometricNoise(alpha=1)
    return lambda d: noisy(d)


_MECHANISMS = (
    *(numpy_laplace, numpy_normal, numpy_geometric, numpy_rounded_normal, sparse),
    *(opendp_noise, opendp_threshold, opacus_step, diffprivlib_noise, diffprivlib_tool, linear_regression),
    *(pydp_laplace, pydp_count, tumult_laplace, tumult_geometric),
)
_CLAIMS: dict[str, Callable[[], object]] = {
    "laplace": partial(laplace, epsilon=1.0),
    "geometric": partial(geometric, epsilon=1.0),
    "gaussian": partial(gaussian, psi=1.0),
    "opacus_step": partial(gaussian, psi=1 / _OPACUS_NOISE),
    "opendp_threshold_i64": partial(_threshold_claim, "i64"),
    "opendp_threshold_f64": partial(_threshold_claim, "f64"),
}


def _same(value: object) -> object:
    return value


def _read_cases() -> Iterable[AuditCase]:
    document = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    libraries = {name: CaseLibrary(name, **entry) for name, entry in document["library"].items()}
    mechanisms: dict[str, Callable[..., Mechanism]] = {function.__name__: function for function in _MECHANISMS}
    for entry in document["case"]:
        claim, inputs = entry.pop("claim"), entry.pop("inputs", None) or _rounding_pair()
        make = partial(mechanisms[entry.pop("mechanism")], **entry.pop("given", {}))
        if entry["library"] == "diffprivlib":
            inputs = [np.asarray(d) if isinstance(d, list) else d for d in inputs]
        value = tuple(claim) if isinstance(claim, list) else claim
        yield AuditCase(
            **{**entry, "library": libraries[entry["library"]], "pair": tuple(entry["pair"])},
            claim=_CLAIMS[claim] if isinstance(claim, str) else partial(_same, value),
            make=make,
            d0=inputs[0],
            d1=inputs[1],
            broken="twin" in entry,
        )


#: Libraries that are always there first.
CASES: tuple[AuditCase, ...] = tuple(_read_cases())


def select_cases(names: Iterable[str] = ()) -> tuple[AuditCase, ...]:
    """The cases of these names, or whose names begin so, and their twins; all of them without a name.

    >>> [case.name for case in select_cases(["numpy-laplace"])]
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
    told: Callable[[CaseResult], object] | None = None,
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

    play = partial(audit, mechanism, case.d0, case.d1, claim=claim, confidence=confidence, batch=case.batch, seed=seed)
    found = play(runs=budget, sequential=not case.fixed)
    again = found.refuted and bound and not case.fixed
    return CaseResult(case, version, found, play(runs=budget, sequential=False) if again else None)
