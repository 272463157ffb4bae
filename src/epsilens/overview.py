"""What is read of an experiment before it is shown: every reading, and the points of its curves.

:mod:`epsilens.show` writes and draws these numbers, and computes none of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import checks
from .catalogue.mechanisms import CLAIMS, MECHANISMS
from .catalogue.readings import find_reading
from .certificate import certifiable
from .checks import Array
from .errors import InputError
from .numerics.formatting import ceil_digits, short_repr
from .numerics.values import fingerprint
from .readings.guesses import log_odds, odds
from .readings.law import Exactness
from .results import Result

if TYPE_CHECKING:
    from .attacks.knowledge import Knowledge
    from .calibration.choose import Choice
    from .experiment import Experiment
    from .mechanisms.claims import ClaimCase

Point = tuple[float, float]
Named = Sequence[tuple[str, "Experiment"]]

#: The arguments of readings where none are given; that of δ follows from the experiment.
USUAL = {"prior": 0.5, "fpr": 0.1, "beta": 1.0, "epsilon_for_delta": 1.0}
USUAL |= {"delta": 1e-5, "baseline": 0.01, "level": 1e-6}
#: The width asked for where a narrower one is not reached.
_ROUGH = 0.05
_SAME = 1e-6  # relative: ends that a reader cannot tell apart


class ReadingValue(NamedTuple):
    """A value and what it would be without the release; ``nearly``: below 1, but double precision cannot say so."""

    value: float
    baseline: float
    nearly: bool = False


@dataclass(frozen=True, slots=True)
class CaseReadings:
    """One case of a claim and its numbers; None where there is no such noise."""

    case: ClaimCase
    success: float | None = None
    recall: float | None = None


class Overviewed(Result):
    """A result that shows what an overview, or another result, holds."""

    __slots__ = ()
    overview: Result | None

    def _shown(self, pictures: bool = False) -> Result:
        if self.overview is not None:
            self.overview._shown(pictures)
        return self


@dataclass(frozen=True)
class Overview(Result):
    """Every reading of an experiment at some arguments, by its key, and what else is said of it.

    ``best_f`` is (false-positive rate, recall) where Fβ is largest; ``sampled`` says that steps of normal noise are
    sampled, ``wide`` that readings are brackets, ``narrow`` that those shown are as narrow as was asked for,
    ``reached`` that the experiment's own are, ``bounded`` that the release may be less risky, ``certifiable`` that a
    checker knows the pair. ``apart`` holds how
    often a known attack is right, and the most that any is, where they differ; ``within`` how far 95 of 100 answers
    stray at most. Of a ``choice``, ``hidden`` says whether its limit sees too little.
    """

    shown_as = "experiment"

    experiment: Experiment
    arguments: Mapping[str, float]
    readings: Mapping[str, ReadingValue]
    best_f: Point | None
    sampled: bool
    wide: bool
    narrow: bool
    bounded: bool
    apart: Point | None
    within: float | None
    reached: bool
    certifiable: bool
    cases: tuple[CaseReadings, ...] = ()
    choice: Choice | None = field(default=None, kw_only=True)
    hidden: bool = field(default=False, kw_only=True)
    knowledge: Knowledge | None = field(default=None, kw_only=True)

    @cached_property
    def curves(self) -> Mapping[str, MarkedCurve]:
        """The curves that are drawn beside it; that of a claim's cases is drawn from ``case_curves``."""
        prior, fpr = self.arguments["prior"], self.arguments["fpr"]
        return {name: marked_curve(self.experiment, name, prior, fpr) for name in ("roc", "precision_recall")}

    @cached_property
    def case_curves(self) -> tuple[CurvePoints, ...]:
        """The ROC curve of each case of a claim that there is."""
        return case_curves(self.experiment, self.arguments["fpr"])

    def _shown(self, pictures: bool = False) -> Result:
        if pictures:
            _ = self.curves, self.case_curves
        return self


def overview(
    e: Experiment,
    prior: float = 0.5,
    fpr: float = 0.1,
    beta: float = 1.0,
    epsilon_for_delta: float | None = None,
    delta: float | None = None,
    baseline: float = 0.01,
    level: float = 1e-6,
) -> Overview:
    """Every reading of an experiment.

    ``epsilon_for_delta`` is the ε whose δ is shown: half the guarantee unless given, or 1 where there is none.
    ``delta`` is the δ at which ε is shown.
    """
    if e.many:
        raise InputError("this experiment holds arrays: give single numbers, or read the values it returns")
    given = {
        "prior": float(checks.probability("prior", checks.scalar("prior", prior))),
        "fpr": float(checks.probability("fpr", checks.scalar("fpr", fpr))),
        "beta": float(checks.in_range("beta", checks.scalar("beta", beta), 1e-6, 1e6)),
        "baseline": float(checks.probability("baseline", checks.scalar("baseline", baseline))),
        "delta": float(checks.probability("delta", checks.scalar("delta", USUAL["delta"] if delta is None else delta))),
        "level": float(checks.in_range("level", checks.scalar("level", level), 0.0, 0.5)),
    }
    if epsilon_for_delta is None:
        most = float(e.epsilon())
        given["epsilon_for_delta"] = float(f"{most / 2:.2g}") if math.isfinite(most) and most > 0 else 1.0
    else:
        shown = checks.scalar("epsilon_for_delta", epsilon_for_delta)
        given["epsilon_for_delta"] = float(checks.at_least("epsilon_for_delta", shown, 0.0))
    read_from = in_time(e, given["prior"])
    sampled = _samples_normal(read_from)
    readings, narrow = _read(read_from, given)
    best_f = _best_f_point(read_from, readings["fbeta"].value, given["beta"], given["prior"])
    facts = (bounded(e), _apart(e, given["prior"]), noise_reach(e), e.law.reached, certifiable(e))
    return Overview(e, given, readings, best_f, sampled, bool(read_from.law.width), narrow, *facts)


def in_time(e: Experiment, prior: float) -> Experiment:
    """The experiment; where it does not reach the width asked for, with a wider one: the rest would cost minutes."""
    e.success(prior)
    return e if e.law.reached else replace(e, law=e.law.with_width(max(_ROUGH, e.law.width)))


def _read(e: Experiment, given: Mapping[str, float]) -> tuple[dict[str, ReadingValue], bool]:
    """Each reading by its key, and whether the law was as narrow as asked for when it came to μ."""
    prior, fpr, back = given["prior"], given["fpr"], e.reverse()
    read: dict[str, ReadingValue] = {}

    def add(key: str, of: Experiment = e, *, both: bool = False, **arguments: float) -> None:
        known = find_reading(key.removesuffix("_at_delta").removesuffix("_reversed"))
        value, floor = float(getattr(of, known.name)(**arguments)), float(known.floor(**arguments))
        if both:  # a divergence has one order; the larger of the two is shown
            value = max(value, float(getattr(back, known.name)(**arguments)))
        nearly = value == 1 > floor and known.ceiling == 1 and float(of.tradeoff(0.0)) > 0
        nearly = nearly and not (known.name in ("posterior", "precision") and math.isinf(float(of.law.max_llr())))
        read[key] = ReadingValue(value, floor, nearly)

    add("success", prior=prior)
    add("advantage")
    add("posterior", prior=prior)
    add("posterior_reversed", back, prior=1 - prior)
    add("recall", fpr=fpr)
    add("precision", fpr=fpr, prior=prior)
    add("auc")
    add("fbeta", beta=given["beta"], prior=prior)
    add("attack_success", baseline=given["baseline"])
    add("epsilon", delta=0.0)
    add("epsilon_at_delta", delta=given["delta"])
    add("delta", epsilon=given["epsilon_for_delta"])
    add("psi")
    narrow = e.law.reached
    if narrow:
        add("mu", level=given["level"])
    else:  # a search of a curve that is costly at every place; ψ is never below it
        read["mu"] = ReadingValue(read["psi"].value, 0.0)
    add("kl", both=True)
    add("renyi", both=True, order=2.0)
    add("chernoff")
    return read, narrow


def many_readings(e: Experiment, given: Mapping[str, float]) -> dict[str, Any]:
    """Every reading of many experiments at once, as columns beside their parameters."""
    prior = given["prior"]
    read: dict[str, Any] = {
        "success": e.success(prior), "advantage": e.advantage(), "posterior": e.posterior(prior),
        "recall": e.recall(given["fpr"]), "precision": e.precision(given["fpr"], prior), "auc": e.auc(),
        "fbeta": e.fbeta(given["beta"], prior), "attack_success": e.attack_success(given["baseline"]),
        "epsilon_at_delta": e.epsilon(given["delta"]), "delta_at_epsilon": e.delta(given["epsilon_for_delta"]),
        "pure_epsilon": e.epsilon(), "psi": e.psi(), "kl": e.kl(), "renyi": e.renyi(2.0), "chernoff": e.chernoff(),
    }  # fmt: skip
    told = {
        name: str(value) if isinstance(value, list | tuple) else value  # one setting; those that vary are arrays
        for name, value in e.parameters.items()
        if np.ndim(value) or isinstance(value, str | int | float)
    }
    shape = np.broadcast_shapes(*(np.shape(v) for v in (*told.values(), *read.values())))
    both = told | {(f"{name}_read" if name in told else name): value for name, value in read.items()}
    return {name: np.broadcast_to(np.asarray(value), shape).ravel() for name, value in both.items()}


def case_readings(cases: Sequence[ClaimCase], prior: float, fpr: float) -> tuple[CaseReadings, ...]:
    """Every case of a claim with its numbers."""
    return tuple(
        CaseReadings(case)
        if case.experiment is None
        else CaseReadings(case, float(case.experiment.success(prior)), float(case.experiment.recall(fpr)))
        for case in cases
    )


def best_guess(e: Experiment, prior: float) -> Point:
    """(false-positive rate, recall) of the guess that is right most often."""
    alpha, recall = e.law.at(log_odds(np.asarray(prior)))
    return float(alpha), float(recall)


def _best_f_point(e: Experiment, value: float, beta: float, prior: float) -> Point | None:
    """(false-positive rate, recall) where Fβ is largest: the posterior cut-off is F/(1+β²) for every mechanism."""
    b2, c = beta * beta, float(odds(np.asarray(prior)))
    if not (0 < value < 1 + b2 and 0 < c < math.inf):
        return None
    threshold = math.log(value) + math.log(c) - math.log(1 + b2 - value)
    alpha, recall = (float(x) for x in e.law.at(np.asarray(threshold)))
    reached = (1 + b2) * recall / (recall + c * alpha + b2)
    if math.isclose(reached, value, rel_tol=1e-9):
        return alpha, recall
    # A tie at an atom: flagging everyone is as good as any.
    return (1.0, 1.0) if math.isclose((1 + b2) / (1 + c + b2), value, rel_tol=1e-9) else None


def _samples_normal(e: Experiment) -> bool:
    """Whether this is a composition with sampled steps of normal noise, whose extremes look unsampled."""
    if not e.law.width or e.unknowns:
        return False
    from .laws.composition.step import NoiseKind  # late, here and below: most experiments are never composed
    from .laws.product import ProductFactor, factor_steps

    noises = (step.noise for step, _ in factor_steps(ProductFactor(e.law, 1, e.name, True)))
    return any(n is not None and n.kind is NoiseKind.NORMAL and n.rate is not None for n in noises)


def bounded(e: Experiment) -> bool:
    """Whether the pair stands for releases that may be less risky: a claim, or training by its dominating pair."""
    if e.parts:
        return any(bounded(part) for part, _ in e.parts)
    return e.law.known is Exactness.BOUND or e.origin in CLAIMS or e.origin in ("pure", "approximate", "dpsgd")


def _apart(e: Experiment, prior: float) -> Point | None:
    """How far a bound is from what is known to be reached; None where that is as near as was asked for."""
    law = e.law
    if law.known is not Exactness.BOUND or law.attained is None:
        return None
    low, high = (float(one.success(prior)) for one in (replace(e, law=law.attained), e))
    return None if high - low <= max(law.width, _SAME) * high else (low, high)


def noise_reach(e: Experiment) -> float | None:
    """Within how much of the truth 95 of 100 answers fall; None where the mechanism adds no noise to a number."""
    return float(_REACH[e.origin](e)) if e.origin in _REACH else None


def _reach_geometric(e: Experiment) -> float:
    # P(|X| > k) = 2q^{k+1}/(1+q), at most 0.05
    a = e.parameters["epsilon"] / e.parameters["sensitivity"]
    return float(max(math.ceil(-math.log(0.025 * (1 + math.exp(-a))) / a - 1 - 1e-12), 0))


def _reach_whole(e: Experiment) -> float:
    from .laws.discrete_noise import DiscreteNormal, IntegerNoise, Skellam

    p = e.parameters
    noise: IntegerNoise = Skellam(p["variance"]) if e.origin == "skellam" else DiscreteNormal(p["sigma"])
    k = np.arange(noise.reach + 1.0)
    return float(np.searchsorted(np.cumsum(np.exp(noise.log_mass(k)) * np.where(k == 0, 1, 2)), 0.95))


def _reach_staircase(e: Experiment) -> float:
    # |X| lies in step k with probability (1−q)q^k, and within a step is uniform on each side of the break γ
    p = e.parameters
    q, g = math.exp(-p["epsilon"]), p["gamma"]
    k = math.floor(math.log(0.05) / -p["epsilon"])
    share = (q**k - 0.05) / (q**k * -math.expm1(-p["epsilon"]))
    mean = g + (1 - g) * q
    inside = share * mean if share * mean <= g else g + (share * mean - g) / q
    return float(p["sensitivity"] * (k + inside))


_REACH: Mapping[str, Callable[[Experiment], float]] = {
    "laplace": lambda e: e.parameters["scale"] * math.log(20),
    "gaussian": lambda e: e.parameters["sigma"] * 1.959963984540055,  # Φ⁻¹(0.975), rounded up
    "geometric": _reach_geometric,
    "discrete_gaussian": _reach_whole,
    "skellam": _reach_whole,
    "staircase": _reach_staircase,
}


#: Names a reader may give a curve, beside its own: the readings that are points of it.
_READINGS = {"recall": "roc", "precision": "precision_recall", "attack_success": "roc"}
_READINGS |= {"delta": "profile", "epsilon": "profile"}
CURVES = ("roc", "tradeoff", "precision_recall", "profile", "success", "posterior", "renyi")
#: Lines that can be told apart in one chart.
MOST = 8
#: The least δ of a profile, and the orders of Rényi divergences.
LEAST_DELTA = 1e-10
ORDERS = 1.05, 64.0
#: False-positive rates at which lines carry their letter, and their name beneath: so that these never meet.
LETTERED = (0.12, 0.3, 0.48, 0.66)
PLUMBED = (0.1, 0.22, 0.34, 0.46)


@dataclass(frozen=True, slots=True)
class MarkedCurve:
    """A curve of one experiment, with its best guess at a prior and what is ``chosen`` by a false-positive rate.

    All are shares. ``best_guess`` is (false-positive rate, recall), and ``best`` where that stands on the curve.
    """

    name: str
    experiment: Experiment
    prior: float
    fpr: float
    x: Array
    y: Array
    best_guess: Point
    best: Point
    chosen: Point


@dataclass(frozen=True, slots=True)
class CurvePoints:
    """A curve of one of several experiments; ``told`` is a reading for its words, ``mark`` where its name stands."""

    label: str
    experiment: Experiment
    x: Array
    y: Array
    told: float = math.nan
    mark: Point | None = None


@dataclass(frozen=True, slots=True)
class Curves:
    """What a chart of experiments needs: one ``marked`` curve, or several over each other.

    ``cases`` are those of a claim, one for each line. ``top`` is the largest ε of a privacy profile.
    """

    name: str
    prior: float
    fpr: float
    marked: MarkedCurve | None = None
    lines: tuple[CurvePoints, ...] = ()
    cases: tuple[ClaimCase, ...] = ()
    top: float = math.nan


def curves(
    e: Experiment, name: str, *, prior: float = 0.5, fpr: float = 0.1, against: Any = (), called: str = ""
) -> Curves:
    """A curve of an experiment, with those of others beside it; the ROC of a claim alone by what the noise may be."""
    cases = tuple(case for case in getattr(e, "cases", ()) if case.experiment is not None)
    if cases and name == "roc" and not against:
        return Curves(name, prior, fpr, lines=case_curves(e, fpr), cases=cases)
    asked = _READINGS.get(name, name) if isinstance(name, str) else name
    checks.one_of("name", asked, CURVES)
    if e.many:
        raise InputError("this experiment holds arrays: give single numbers, or chart a sweep of them")
    names, others = named_experiments("against", against)
    if 1 + len(others) > MOST:
        raise InputError(f"against has {len(others)}: give at most {MOST - 1}, or use sweep", parameter="against")
    if not others and asked in ("roc", "tradeoff", "precision_recall"):
        return Curves(asked, prior, fpr, marked_curve(e, asked, prior, fpr))
    both = [(called or e.label or repr(e), e), *zip(names, others, strict=True)]
    if len({label for label, _ in both}) < len(both):
        both = [(f"{label} ({i})", one) for i, (label, one) in enumerate(both, 1)]
    lines, top = _profile(both) if asked == "profile" else (_lines(asked, both, prior), math.nan)
    return Curves(asked, prior, fpr, lines=lines, top=top)


def named_experiments(parameter: str, given: object) -> tuple[tuple[str, ...], tuple[Experiment, ...]]:
    """Experiments with names of their own, which tell them apart: those given, or what each of them is."""
    if isinstance(given, Mapping):
        names, listed = [str(name) for name in given], list(given.values())
    else:
        listed = list(given) if isinstance(given, list | tuple) else [given]
        names = []
    result: list[Experiment] = []
    for value in listed:
        one = value if _is_experiment(value) else getattr(value, "experiment", None)
        if one is None or not _is_experiment(one):
            raise InputError(
                f"{parameter} has a {type(value).__name__}: give experiments, such as laplace(epsilon=1)", parameter
            )
        if one.many:
            raise InputError(f"{parameter} has one of many numbers: give single ones, or use sweep", parameter)
        result.append(one)
    names = names or [one.label or repr(one) for one in result]
    twice = {name for name in names if names.count(name) > 1}
    titles = [f"{name} ({names[: i + 1].count(name)})" if name in twice else name for i, name in enumerate(names)]
    return tuple(titles), tuple(result)


def _is_experiment(value: object) -> bool:
    return isinstance(value, Result) and hasattr(value, "law")


def alphas() -> Array:
    """False-positive rates at which a curve is drawn."""
    return np.unique(np.concatenate((np.linspace(0, 1, 301), np.geomspace(1e-12, 1, 120))))


def marked_curve(e: Experiment, name: str, prior: float = 0.5, fpr: float = 0.1) -> MarkedCurve:
    """The curve ``roc``, ``tradeoff`` or ``precision_recall`` of an experiment."""
    guess = x, y = best_guess(e, prior)
    at, best = alphas(), guess
    if name == "precision_recall":
        at = np.unique(np.concatenate((np.linspace(0, 1, 301), 1 - np.geomspace(1e-9, 1, 60))))
        best = y, float(e.precision(recall=y, prior=prior))
        chosen = float(e.recall(fpr)), float(e.precision(fpr, prior))
    elif name == "tradeoff":
        best, chosen = (x, 1 - y), (fpr, float(e.tradeoff(fpr)))
    else:
        chosen = fpr, float(e.recall(fpr))
    return MarkedCurve(name, e, prior, fpr, at, np.asarray(_SHARES[name](e, at, prior)), guess, best, chosen)


def roc_curves(named: Named, fpr: float, at: Sequence[float]) -> tuple[CurvePoints, ...]:
    """ROC curves over each other, each marked at a false-positive rate of its own, as far as there are such."""
    x = alphas()
    marks = [*at, *[math.nan] * len(named)]
    return tuple(
        CurvePoints(
            label, e, x, e.roc(x), float(e.recall(fpr)), None if math.isnan(mark) else (mark, float(e.roc(mark)))
        )
        for (label, e), mark in zip(named, marks, strict=False)
    )


def case_curves(e: Experiment, fpr: float) -> tuple[CurvePoints, ...]:
    """The ROC curve of each case of a claim for which there is noise."""
    cases: Sequence[ClaimCase] = getattr(e, "cases", ())
    return roc_curves([("", case.experiment) for case in cases if case.experiment is not None], fpr, PLUMBED)


_SHARES: Mapping[str, Callable[[Experiment, Array, float], Any]] = {
    "roc": lambda e, at, prior: e.roc(at),
    "tradeoff": lambda e, at, prior: e.tradeoff(at),
    "precision_recall": lambda e, at, prior: e.precision(recall=at, prior=prior),
    "success": lambda e, at, prior: e.success(at),
    "posterior": lambda e, at, prior: e.posterior(at),
    "renyi": lambda e, at, prior: np.maximum(e.renyi(at), e.reverse().renyi(at)),
}


def _lines(name: str, named: Named, prior: float) -> tuple[CurvePoints, ...]:
    """Any curve but the profile, of several."""
    at: Array = np.linspace(0, 1, 101)
    if name in ("roc", "tradeoff"):
        at = np.unique(np.concatenate((at, np.geomspace(1e-6, 1, 40))))
    elif name == "renyi":
        at = np.geomspace(*ORDERS, 61)
    return tuple(CurvePoints(label, e, at, np.asarray(_SHARES[name](e, at, prior))) for label, e in named)


def _profile(named: Named) -> tuple[tuple[CurvePoints, ...], float]:
    """δ against ε, each line down to the ε at which δ is the least shown, and the largest ε."""
    ends = [float(e.epsilon(LEAST_DELTA)) for _, e in named]
    finite = [end for end in ends if math.isfinite(end) and end > 0]
    top = max(finite, default=1.0) if len(finite) == len(ends) else max([*(1.25 * end for end in finite), 4.0])
    top = float(ceil_digits(top, 3))
    lines = []
    for (label, e), end in zip(named, ends, strict=True):
        at = np.linspace(0, min(end, top), 81)
        lines.append(CurvePoints(label, e, at, np.maximum(e.delta(at), LEAST_DELTA), float(e.epsilon(1e-5))))
    return tuple(lines), top


# -- an experiment in one line ------------------------------------------------------------------------------------

#: What a repr leaves out: what nobody changed, and what follows from the rest.
_USUAL_PARAMETERS: dict[str, object] = {
    "sensitivity": 1.0,
    "stretch": 1.0,
    "k": 2,
    "monotonic": False,
    "by": "exponential",
}
_USUAL_PARAMETERS |= {"neighbours": "add-remove", "calibration": "analytic", "noise": "laplace", "batches": "poisson"}
_USUAL_PARAMETERS |= dict.fromkeys(("above", "participations", "separation", "people"), 1)
_FOLLOWS = {"scale": ("epsilon",), "sigma": ("epsilon", "delta"), "psi": ("epsilon", "delta"), "truth": ("epsilon",)}
_FOLLOWS |= {"rate": ("n", "batch"), "steps": ("n", "batch", "epochs")}
_MOST_LETTERS = 160  # letters, then a repr names no further part of a composition


def experiment_repr(e: Experiment) -> str:
    """The calls that an experiment comes from."""
    if e.parts:
        return _composition_repr(e.parts)
    reverse = ".reverse()" if e.worlds.reversed else ""
    return f"{e.name}({_arguments_repr(e.parameters, e.origin)}){reverse}"


def _arguments_repr(parameters: Mapping[str, Any], origin: str) -> str:
    """Where an experiment comes from, as an argument list."""
    needed = MECHANISMS[origin].needs if origin in MECHANISMS else ()
    left_out = {
        name
        for name, usual in _USUAL_PARAMETERS.items()
        if name in parameters and name not in needed and fingerprint(parameters[name]) == fingerprint(usual)
    }
    left_out |= {name for name, given in _FOLLOWS.items() if all(g in parameters for g in given)}
    left_out |= {"psi"} if "sigma" in parameters else set()
    left_out |= {"norm"}  # each noise has its own
    if "shift" in parameters and fingerprint(parameters["shift"]) == fingerprint(parameters.get("sensitivity")):
        left_out.add("shift")
    shown = {name: value for name, value in parameters.items() if name not in left_out}
    if origin == "dpsgd":  # lists that belong together are one argument
        lists = {name: value for name, value in shown.items() if isinstance(value, list)}
        shown = {name: value for name, value in shown.items() if name not in lists} | (
            {"schedule": lists} if lists else {}
        )
    return ", ".join(f"{name}={short_repr(value)}" for name, value in shown.items())


def _composition_repr(parts: tuple[tuple[Experiment, int], ...]) -> str:
    shown: list[str] = []
    for part, count in parts:
        if shown and len(", ".join(shown)) > _MOST_LETTERS:
            return f"compose({', '.join(shown)}, … {sum(count for _, count in parts)} in all)"
        shown.append(repr(part) if count == 1 else f"{part!r}.repeat({count})")
    return shown[0] if len(shown) == 1 else f"compose({', '.join(shown)})"
