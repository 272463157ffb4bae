"""Poisson sampling, and DP-SGD: many sampled Gaussian steps, alike or on a schedule.

Each step draws every record with probability q and adds noise to what the drawn records say. **Add/remove**: the
person is in the data or not, H0 against (1−q)·H0 + q·H1 (Zhu, Dong & Wang 2022). **Replace**: the person's record has
one value or another, and both were drawn with probability q.

Many small steps look like one normal shift ψ. Paper 002, Corollary 9 has, for batches of fixed size,
ψ = q√(2T)·√(e^{1/σ²}Φ(1.5/σ) + 3Φ(−0.5/σ) − 2); Poisson sampling has its own, ψ = q√(T(e^{1/σ²} − 1)). Both are limits:
for finitely many steps the truth lies above or below, and for few steps or little noise far above. :func:`clt`
therefore shows them only beside the proven bracket.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from scipy.special import ndtr

from .. import checks
from ..errors import InputError
from ..experiment import Experiment, factor_of
from ..laws.closed.laplace import LaplaceReplaced
from ..laws.closed.normal import Normal, NormalReplaced, NormalStep
from ..laws.finite.law import Finite, FiniteStep
from ..laws.loss.law import WIDTH, Loss
from ..laws.loss.sampled import Flagged, Sampled
from ..laws.loss.step import NoiseKind, Step
from ..laws.product import steps_of, width_of
from ..numerics.roots import root
from ..readings.law import Known, Law
from ..shown import Told
from ..worlds import Neighbours, between, neighbours_of

__all__ = ["Clt", "clt", "clt_psi", "conversions", "dpsgd", "schedule", "subsample"]

_LEAST_RATE = 1e-12
_DOMINATES = (
    "the numbers are of the worst case that bounds every training with these settings, however each step depends on "
    "those before; a real training may tell less, so the lower end of a bracket is no floor on it"
)
#: Both records may pull in opposite directions, each as far as one can.
_REPLACED = {NoiseKind.NORMAL: NormalReplaced, NoiseKind.LAPLACE: LaplaceReplaced}


class Drawn(StrEnum):
    """What is known of a release computed on a sample."""

    FINITE = "finite"  # atoms stay atoms
    MIXED = "mixed"  # H1 is mixed with H0
    OPPOSITE = "opposite"  # two records, each as far away as one can be
    TOLD = "told"  # whether the record was drawn is given away, for want of anything better
    CLAIM = "claim"  # what was sampled is only known by a bound itself


_NOTES = {
    Drawn.FINITE: "Poisson sampling of a finite pair: exact",
    Drawn.MIXED: "Poisson sampling: the safe end of a proven bracket",
    Drawn.OPPOSITE: "the two records may pull in opposite directions, each as far as one can",
    Drawn.TOLD: "an upper bound: the adversary is told whether the record was drawn",
    Drawn.CLAIM: "Poisson sampling of a bound: an upper bound, as {} is one; nothing is known from below",
}


def _neighbours(neighbours: Any) -> Neighbours:
    """Also as it is often written, with a stroke."""
    return neighbours_of("add-remove" if str(neighbours) == "add/remove" else neighbours)


def _rate(value: Any) -> float:
    rate = float(checks.probability("rate", checks.scalar("rate", value)))
    if 0 < rate < _LEAST_RATE:
        raise InputError(f"rate is {rate:g}: give 0, or a probability of at least {_LEAST_RATE:g}", parameter="rate")
    return rate


def subsample(
    experiment: Experiment, rate: float, *, neighbours: str = "add-remove", width: float | None = None
) -> Experiment:
    """The release computed on a Poisson sample: every record takes part with probability ``rate``.

    The experiment says what one person does who is drawn: H0 without them, H1 with them.

    >>> import epsilens as el
    >>> round(subsample(el.laplace(epsilon=1.0), 0.1).epsilon(), 6)  # log(1 + 0.1·(e − 1))
    0.158565
    """
    if not isinstance(experiment, Experiment):
        raise InputError("subsample needs an experiment: give what laplace, gaussian and the like return")
    q, said = _rate(rate), _neighbours(neighbours)
    told = {"of": experiment.name, "rate": q, "neighbours": str(said)}
    worlds = between(said)
    if q == 0:
        law: Law = Finite(np.zeros(1), np.zeros(1), mirrored=True)
        return Experiment(law, "subsample", told, notes=("nobody is ever drawn",), worlds=worlds)
    if q == 1 and said == experiment.parameters.get("neighbours", "add-remove"):
        return experiment
    step, drawn = _sampled(experiment, q, said)
    if experiment.law.known is Known.BOUND:
        drawn = Drawn.CLAIM
    bound = drawn in (Drawn.TOLD, Drawn.CLAIM)
    closed = step.as_law()
    if closed is not None:
        law = closed.as_bound() if bound else closed
    else:
        law = Loss([(step, 1)], WIDTH if width is None else width_of(width), bound=bound)
    return Experiment(law, "subsample", told, notes=(_NOTES[drawn].format(experiment.name),), worlds=worlds)


def _sampled(experiment: Experiment, rate: float, neighbours: Neighbours) -> tuple[Step, Drawn]:
    swaps = experiment.worlds.replaces
    steps = steps_of(factor_of(experiment))
    if len(steps) != 1 or steps[0][1] != 1 or steps[0][0].sampled:
        raise InputError(
            f"{experiment.name} is several releases or sampled already: subsample each release, then compose"
        )
    step = steps[0][0]
    if neighbours is Neighbours.ADD_REMOVE:
        if swaps:
            raise InputError(
                "the experiment replaces a record: give one that adds or removes it, or neighbours='replace'"
            )
        if isinstance(step, FiniteStep):
            return step.drawn(rate), Drawn.FINITE
        return Sampled(step, rate), Drawn.MIXED
    if not swaps:
        noise = step.noise
        if experiment.law.known is Known.EXACT and noise is not None:  # the noise itself, not only a claim about it
            return _REPLACED[noise.kind](noise.size, rate), Drawn.OPPOSITE
        raise InputError(
            f"sampling {experiment.name} with neighbours='replace' needs an experiment that replaces a record: give "
            "Gaussian or Laplace noise, randomized_response, or what a mechanism that takes neighbours='replace' builds"
        )
    if isinstance(step, FiniteStep):
        return step.flagged(rate), Drawn.TOLD
    return Flagged(step, rate), Drawn.TOLD


def dpsgd(
    *,
    sigma: float | Sequence[float],
    rate: float | Sequence[float],
    steps: int | Sequence[int],
    neighbours: str = "add-remove",
    width: float | None = None,
) -> Experiment:
    """DP-SGD: ``steps`` Poisson-sampled Gaussian steps with noise ``sigma`` times the clipping norm.

    Lists make a schedule: the i-th entries belong together, and a single number holds throughout. ``width`` is the
    relative width asked of each reading's bracket (0.001 unless given); it is reached by refining.

    The pair of laws **dominates** every training with these settings: each step's worst case, a gradient that the
    person moves by the whole clipping norm. Dominating pairs compose also where each step depends on the outcomes of
    those before (Zhu, Dong & Wang 2022, Theorem 10), as training does, so every reading bounds a real training from
    above. From below nothing follows: where gradients move less, or only the last model is published, less is told.

    >>> e = dpsgd(sigma=1.0, rate=0.01, steps=10_000)
    >>> round(e.epsilon(delta=1e-5), 2)  # of the dominating pair it is 6.18771…, and no value below that is returned
    6.19
    """
    said = _neighbours(neighbours)
    sigma, rate, steps = _unwrapped(sigma), _unwrapped(rate), _unwrapped(steps)
    rows = [(s, q, k) for s, q, k in schedule(sigma, rate, steps) if k and q]
    counted: dict[Step, int] = {}
    for s, q, k in rows:
        step = _step(1 / s, q, said)
        counted[step] = counted.get(step, 0) + k
    told = {"sigma": _plain(sigma), "rate": _plain(rate), "steps": _counts(steps), "neighbours": str(said)}
    asked = WIDTH if width is None else width_of(width)
    if width is not None:
        told["width"] = asked
    worlds = between(said)
    if all(q == 1 for _, q, _ in rows):
        mu = math.sqrt(sum(k * step.shift**2 for step, k in counted.items()))
        return Experiment(
            Normal(np.asarray(mu)), "dpsgd", told, notes=("no sampling: exact", _DOMINATES), worlds=worlds
        )
    note = (
        f"composed numerically: each value is the safe end of a proven bracket, {asked:.3g} wide where that is reached"
    )
    return Experiment(Loss(list(counted.items()), asked), "dpsgd", told, notes=(note, _DOMINATES), worlds=worlds)


def _step(mu: float, rate: float, neighbours: Neighbours) -> Step:
    if neighbours is Neighbours.REPLACE:
        return NormalStep(2 * mu) if rate == 1 else NormalReplaced(mu, rate)
    return NormalStep(mu) if rate == 1 else Sampled(NormalStep(mu), rate)


def _unwrapped(value: Any) -> Any:
    """A number for an array of no dimension."""
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _plain(value: Any) -> Any:
    """As it goes into JSON."""
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(v) for v in value]
    return int(value) if isinstance(value, int | np.integer) else float(value)


def _counts(steps: Any) -> Any:
    return [int(k) for k in steps] if isinstance(steps, list | tuple | np.ndarray) else int(steps)


def schedule(sigma: Any, rate: Any, steps: Any) -> list[tuple[float, float, int]]:
    """One (σ, q, steps) per entry."""
    columns = {"sigma": sigma, "rate": rate, "steps": steps}
    lists = {name: list(v) for name, v in columns.items() if isinstance(v, list | tuple | np.ndarray)}
    lengths = {len(v) for v in lists.values()}
    if len(lengths) > 1 or 0 in lengths:
        shapes = ", ".join(f"{name} has {len(v)}" for name, v in lists.items())
        raise InputError(f"a schedule needs lists of one length, not empty: {shapes}")
    rows = max(lengths, default=1)
    out = []
    for i in range(rows):
        s, q, k = (lists[name][i] if name in lists else value for name, value in columns.items())
        for name, entry in zip(columns, (s, q, k), strict=True):
            _number(name, entry)
        noise = float(checks.within("sigma", s, 1e-2, 1e12))
        # a row of a schedule may be empty, a training not
        out.append((noise, _rate(q), checks.whole("steps", k, low=0 if "steps" in lists else 1, high=10**9)))
    if not any(k for _, _, k in out):
        raise InputError(
            "steps is 0 throughout: give a whole number of at least 1 somewhere in the schedule", parameter="steps"
        )
    return out


def _number(name: str, value: Any) -> None:
    """One number of a schedule, which is what a single number makes too."""
    if isinstance(value, list | tuple | np.ndarray) or np.asarray(value).dtype.kind not in "iuf":
        shown = f"{value!r}"
        shown = shown if len(shown) <= 40 else shown[:37] + "..."
        raise InputError(
            f"{name} is {shown}, a {type(value).__name__}: give a number, or a list of numbers for a schedule",
            parameter=name,
        )


# -- the central limit theorem: not a guarantee -----------------------------------------------------------------------


VARIANTS = ("poisson", "fixed")
_LEAST_PSI, _MOST_PSI = 1e-9, 1e3


def clt_psi(*, sigma: float, rate: float, steps: int, variant: str = "poisson") -> float:
    """ψ in the limit of many steps; an approximation, never a bound.

    >>> round(clt_psi(sigma=1.0, rate=0.01, steps=10_000), 7), round(clt_psi(sigma=1.0, rate=0.01, steps=10_000,
    ...     variant="fixed"), 7)
    (1.3108325, 1.7101425)
    """
    s = float(checks.within("sigma", checks.scalar("sigma", sigma), 0.04, 1e12))
    q = float(checks.probability("rate", checks.scalar("rate", rate)))
    k = checks.whole("steps", steps, low=1, high=10**9)
    checks.choice("variant", variant, VARIANTS)
    if variant == "poisson":
        return q * math.sqrt(k * math.expm1(1 / s**2))
    # e^{v}Φ(1.5/σ) + 3Φ(−.5/σ) − 2 without its cancellation: with Φ = ½ + erf/2 the halves sum to expm1(v)/2
    v = 1 / s**2
    inside = math.expm1(v) * float(ndtr(1.5 / s)) + (float(ndtr(1.5 / s)) - 0.5) - 3 * (0.5 - float(ndtr(-0.5 / s)))
    return q * math.sqrt(2 * k * max(inside, 0.0))


def conversions(psi: float, delta: float) -> dict[str, float]:
    """ε of a normal shift ψ at δ by the three ways of paper 002 §5, smallest first: exact, improved RDP, RDP.

    >>> {name: round(value, 6) for name, value in conversions(1.0, 1e-5).items()}
    {'exact': 4.377178, 'improved RDP': 4.728387, 'RDP': 5.298526}
    """
    p = float(checks.within("psi", checks.scalar("psi", psi), _LEAST_PSI, _MOST_PSI))
    d = float(checks.probability("delta", checks.scalar("delta", delta), closed=False))
    exact = float(Normal(np.asarray(p)).profile_inverse(np.asarray(d)))
    # (α−1)²ψ²/2 = −log(δα) on (1, 1/δ); then ε = (α − ½)ψ² + log(1 − 1/α)
    order = float(
        root(lambda a: (a - 1) ** 2 * p * p / 2 + np.log(d) + np.log(a), np.asarray(1.0), np.asarray(max(1 / d, 2.0)))
    )
    improved = max((order - 0.5) * p * p + math.log1p(-1 / order), 0.0) if order > 1 else 0.0
    plain = p * p / 2 + p * math.sqrt(2 * math.log(1 / d))
    return {"exact": exact, "improved RDP": max(improved, exact), "RDP": plain}


@dataclass(frozen=True)
class Clt(Told):
    """The central limit theorem beside the truth: ψ, the ε each conversion makes of it, and the proven bracket of ε.

    ``error`` is the exact conversion over the bracket's middle, minus 1: negative means that the approximation claims
    less risk than there is.
    """

    shown_as = "clt"

    variant: str
    psi: float
    delta: float
    epsilons: dict[str, float]
    bracket: tuple[float, float]

    @property
    def error(self) -> float:
        """Relative error of the approximation's ε; negative is unsafe."""
        middle = sum(self.bracket) / 2
        return self.epsilons["exact"] / middle - 1 if middle > 0 else 0.0

    @property
    def safe(self) -> bool:
        """Whether it happens to claim no less than the truth here; nothing promises that elsewhere."""
        return self.epsilons["exact"] >= self.bracket[1]

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        return {
            "approximation": self.variant,
            "psi": self.psi,
            "delta": self.delta,
            "epsilons": dict(self.epsilons),
            "bracket": list(self.bracket),
            "error": self.error,
            "guarantee": False,
        }


def clt(*, sigma: float, rate: float, steps: int, delta: float = 1e-5, variant: str = "poisson") -> Clt:
    """The central limit theorem's ε of DP-SGD beside the proven bracket.

    >>> few = clt(sigma=1.0, rate=0.01, steps=100, variant="fixed")
    >>> few.safe, round(few.epsilons["exact"], 4), few.bracket[0] > 0.717
    (False, 0.6114, True)
    """
    psi = clt_psi(sigma=sigma, rate=rate, steps=steps, variant=variant)
    if float(rate) == 0:
        raise InputError("rate is 0, so nobody is ever drawn: give a probability above 0", parameter="rate")
    if not _LEAST_PSI <= psi <= _MOST_PSI:
        raise InputError(
            f"sigma, rate and steps make a ψ of {psi:.3g}: give some that make one from {_LEAST_PSI:g} to {_MOST_PSI:g}"
        )
    d = float(checks.probability("delta", checks.scalar("delta", delta), closed=False))
    low, high = dpsgd(sigma=sigma, rate=rate, steps=steps).bracket("epsilon", delta=d)
    return Clt(variant, psi, d, conversions(psi, d), (low, high))
