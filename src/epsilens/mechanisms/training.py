"""DP-SGD: many noisy steps, alike or on a schedule, each on a batch.

Each step draws a batch and adds noise to the sum of what its records say. How batches are drawn decides how much one
person shows: by a coin of each record's own (Poisson, Theorem D10) here, all else in :mod:`.batches`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from .. import checks
from ..errors import InputError, type_phrase
from ..experiment import Experiment
from ..laws.composition.composed_law import WIDTH, ComposedLaw
from ..laws.normal import Normal
from ..laws.product import width_of
from ..numerics.roots import root
from ..readings.law import Exactness, Law
from ..results import ShortResult
from ..shares import SHARES, parse_shares
from ..worlds import Relation, worlds_of_relation
from .batches import (
    Batches,
    ScheduleSegment,
    fixed_batches_law,
    merge_steps,
    poisson_step,
    sampling_rate,
    sampling_relation,
    shuffled_batches_law,
    substitution_law,
    truncated_batches_law,
)
from .builders import vectorized

_MOST_PEOPLE = 10**12
#: What may change during one training.
_SCHEDULED = ("sigma", "rate", "steps", "n", "batch", "epochs", "truncation")
#: Lists by name, a row of names and numbers for each part, or the lists as a command spells them.
Schedule: TypeAlias = Mapping[str, Sequence[float]] | Sequence[Mapping[str, float]] | str
_DOMINATES = (
    "the numbers are of the worst case that bounds every training with these settings, however each step depends on "
    "those before; a real training may tell less, so the lower end of a bracket is no floor on it"
)
_FOLDED = (
    "an upper bound: no data set is the worst in both orders, so both are taken at once; the low end of a bracket is "
    "reached in one of them"
)
_MATCHED = (
    "an upper bound: both orders are taken at once, and a little is added for batches that hold several of a group, or "
    "one person several times; the low end of a bracket is reached in one of the orders"
)
_FEW = "an upper bound: without them fewer are there than a batch holds, and it is as if others took their place"
_CUT = (
    "an upper bound: the adversary is told whether a batch was cut; the low end of a bracket is reached where all "
    "others add nothing"
)
_SHUFFLED = (
    "an upper bound: the adversary is told the order of the records{}; the low end of a bracket is reached by an "
    "attack that looks at the largest sum of each epoch, or at the sum of all"
)
_GAP = ", of which the person's is left out and leaves a gap in its batch"
_NO_COIN = "batches are not drawn by a coin of each record's own: numbers for Poisson sampling do not hold here"


def _reject_ambiguous_lists(varied: Mapping[str, Any]) -> None:
    """Refuse lists that may be the rows of one schedule or many trainings."""
    lengths = {name: len(value) for name, value in varied.items() if np.ndim(value) == 1}
    alike = [name for name, length in lengths.items() if list(lengths.values()).count(length) > 1]
    if alike:
        lists = ", ".join(f"{name!r}: […]" for name in alike)
        raise InputError(
            f"{' and '.join(alike)} are lists of one length, which may be one training or many: for one training on a "
            f"schedule give schedule={{{lists}}}, for many trainings use sweep or give shapes that make a grid, such "
            f"as np.asarray({alike[0]})[:, None]",
            alike[0],
        )


@vectorized(
    "sigma",
    "rate",
    "steps",
    "n",
    "batch",
    "epochs",
    "truncation",
    "people",
    "std",
    "clip",
    check=_reject_ambiguous_lists,
)
def dpsgd(
    *,
    sigma: ArrayLike | None = None,
    rate: ArrayLike | None = None,
    steps: ArrayLike | None = None,
    n: ArrayLike | None = None,
    batch: ArrayLike | None = None,
    epochs: ArrayLike | None = None,
    batches: str = "poisson",
    truncation: ArrayLike | None = None,
    people: ArrayLike = 1,
    schedule: Schedule | None = None,
    std: ArrayLike | None = None,
    clip: ArrayLike | None = None,
    neighbours: str = "add-remove",
    width: float | None = None,
) -> Experiment:
    """DP-SGD: ``steps`` noisy steps, each on a batch, with Gaussian noise ``sigma`` times the clipping norm.

    Say how large batches are by ``rate``, the share of people in one, or by ``n`` people and ``batch`` of them; and
    how many there are by ``steps`` or ``epochs``. ``batches`` says how they are drawn:

    - ``"poisson"``: every record joins by its own coin, so sizes vary.
    - ``"fixed"``: so many records, drawn anew for each step without replacement. One person moves the sum twice as far.
    - ``"with replacement"``: so many draws for each step, each of any record. One person may be drawn several times.
    - ``"truncated"``: Poisson, of which at most ``truncation`` records are kept. A bound.
    - ``"shuffled"``: one after the other from data in random order, as most data loaders do. Two ends; n and batch. A
      pass goes on where a schedule changes the noise, and begins anew where it changes n or batch.

    ``sigma`` is in clipping norms (the noise multiplier of Opacus and TensorFlow Privacy). Noise whose standard
    deviation on a sum of gradients is known instead is ``std``, with ``clip`` the norm they are clipped to.

    ``people`` are a group who enter or leave together, or whose records are all replaced, or the examples of one
    person: a random number of them is in a batch, and the worst case is that they pull together.

    ``schedule`` says what changes during one training: lists by name, whose i-th entries belong together, or a row of
    names and numbers for each part; a number given beside it holds throughout. An array elsewhere is many trainings at
    once, as for every mechanism. ``width`` is the relative width asked of each reading's bracket (0.001 unless given);
    it is reached by refining.

    The pair of laws **dominates** every training with these settings: each step's worst case, a gradient that the
    person moves by the whole clipping norm. Dominating pairs compose also where each step depends on the outcomes of
    those before (Zhu, Dong & Wang 2022, Theorem 10), as training does, so every reading bounds a real training from
    above. From below nothing follows: where gradients move less, or only the last model is published, less is told.

    Parameters
    ----------
    sigma : float or array_like, optional
        Noise over the clipping norm, > 0; or `std` and `clip`.
    rate : float or array_like, optional
        Probability in (0, 1] that a record is in a batch.
    steps : int or array_like, optional
        How many steps there are.
    n : int or array_like, optional
        How many people there are.
    batch : int or array_like, optional
        How many of them are in a batch.
    epochs : float or array_like, optional
        Passes over the data, instead of `steps`.
    batches : {"poisson", "fixed", "with replacement", "truncated", "shuffled"}, default 'poisson'
        How batches are drawn.
    truncation : int or array_like, optional
        The largest size of a truncated batch.
    people : int or array_like, default 1
        Records that enter or leave together.
    schedule : mapping or sequence of mappings, optional
        What changes during one training.
    std : float or array_like, optional
        Standard deviation of the noise on a sum of gradients.
    clip : float or array_like, optional
        The norm gradients are clipped to, with `std`.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.
    width : float, optional
        Relative width asked of each reading's bracket; 0.001 unless given.

    Returns
    -------
    Experiment
        A pair that dominates every training with these settings, within a bracket.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> e = dpsgd(sigma=1.0, rate=0.01, steps=10_000)
    >>> round(e.epsilon(delta=1e-5), 2)  # of the dominating pair it is 6.18771…, and no value below that is returned
    6.19
    >>> round(dpsgd(rate=0.01, schedule={"sigma": [2.0, 1.0], "steps": [9_000, 1_000]}).epsilon(delta=1e-5), 2)
    2.79
    >>> dpsgd(sigma=[1.0, 2.0], rate=0.01, steps=10_000).epsilon(delta=1e-5).round(2).tolist()
    [6.19, 2.16]
    >>> low, high = dpsgd(sigma=1.0, n=10_000, batch=100, epochs=1, batches="shuffled").bracket("epsilon", delta=1e-5)
    >>> round(low, 2), round(high, 2)  # never that of Poisson sampling, 0.72
    (4.06, 4.38)
    """
    said, how = sampling_relation(neighbours), Batches(checks.one_of("batches", batches, [str(b) for b in Batches]))
    size = checks.integer("people", people, low=1, high=10**6)
    given = {"sigma": sigma, "rate": rate, "steps": steps, "n": n, "batch": batch, "epochs": epochs}
    given = {name: _as_scalar(value, name) for name, value in (given | {"truncation": truncation}).items()}
    if std is not None or clip is not None:
        given["sigma"] = _noise_multiplier(given["sigma"], _as_scalar(std), _as_scalar(clip))
    if schedule is not None:
        given |= _schedule_columns(schedule, [name for name, value in given.items() if value is not None])
    if given["sigma"] is None:
        raise InputError("dpsgd needs sigma, the noise in clipping norms: give it, or a schedule of it", "sigma")
    rows = _segments({name: value for name, value in given.items() if value is not None}, how)
    parameters = _training_parameters(given, rows, how, said)
    if size > 1:
        parameters["people"] = size
    asked = WIDTH if width is None else width_of(width)
    if width is not None:
        parameters["width"] = asked
    law, notes = _training_law([row for row in rows if row.steps and row.rate], how, said, asked, size)
    return Experiment(law, "dpsgd", parameters, notes=(*notes, _DOMINATES), worlds=worlds_of_relation(said))


def _training_law(
    rows: list[ScheduleSegment], how: Batches, neighbours: Relation, width: float, people: int
) -> tuple[Law, tuple[str, ...]]:
    """The law, and words about it."""
    replaces = neighbours is Relation.REPLACE
    if any(0 < row.n < people for row in rows):
        raise InputError(f"people is {people}, of n = {min(row.n for row in rows)}: give a group of these", "people")
    composed = (
        f"composed numerically: each value is the safe end of a proven bracket, {width:.3g} wide where that is reached"
    )
    if how is Batches.SHUFFLED:
        return shuffled_batches_law(rows, neighbours, width, people), (
            _SHUFFLED.format("" if replaces else _GAP),
            _NO_COIN,
        )
    again = how is Batches.WITH_REPLACEMENT
    if again or (how is Batches.FIXED and people > 1):
        if not all(row.n for row in rows):
            raise InputError("a group in batches of fixed size needs n and batch: give them instead of rate")
        law = substitution_law(rows, neighbours, width, people, again)
        few = _FEW if law.known is Exactness.BOUND else composed
        return law, (_MATCHED if replaces else few, _NO_COIN)
    if how is Batches.FIXED:
        law = fixed_batches_law(rows, neighbours, width)
        few = _FEW if law.known is Exactness.BOUND else composed
        return law, (_FOLDED if replaces else few, _NO_COIN)
    if how is Batches.TRUNCATED:
        if people > 1:
            raise InputError(
                f"people is {people}: no bound is known of a group in truncated batches, so give 1, or other batches",
                "people",
            )
        return truncated_batches_law(rows, neighbours, width), (_CUT,)
    steps = [(poisson_step(1 / row.sigma, row.rate, neighbours), row.steps) for row in rows]
    counted = merge_steps([(step if people == 1 else step.group(people), k) for step, k in steps])
    if all(row.rate == 1 for row in rows):
        mu = math.sqrt(sum(k * step.shift**2 for step, k in counted))
        return Normal(np.asarray(mu)), ("no sampling: exact",)
    return ComposedLaw(counted, width), (composed,)


def _noise_multiplier(sigma: object, std: object, clip: object) -> float:
    """The noise in clipping norms, from the noise itself and the norm."""
    if std is None:
        raise InputError(
            "clip is given without std: sigma is in clipping norms already, so that clip changes nothing; leave it "
            "out, or give the noise itself as std",
            "clip",
        )
    if clip is None:
        raise InputError("std is given without clip: give the norm that gradients are clipped to", "std")
    if sigma is not None:
        raise InputError("sigma and std are both given: give the noise once", "std")
    noise, norm = (float(checks.in_range(name, v, 1e-100, 1e100)) for name, v in (("std", std), ("clip", clip)))
    return noise / norm


def _schedule_columns(schedule: object, beside: Sequence[str]) -> dict[str, list[Any]]:
    """The columns of a schedule."""
    if isinstance(schedule, str):
        schedule = _parse_schedule(schedule)
    if isinstance(schedule, Mapping):
        columns = {name: _as_scalar(value, name) for name, value in schedule.items()}
    elif isinstance(schedule, list | tuple) and schedule and all(isinstance(row, Mapping) for row in schedule):
        if any(set(row) != set(schedule[0]) for row in schedule):
            raise InputError(
                "the rows of schedule do not name the same numbers: give each of them in every row", "schedule"
            )
        columns = {name: [row[name] for row in schedule] for name in schedule[0]}
    else:
        raise InputError(
            f"schedule is a {type(schedule).__name__}: give lists by name, such as {{'sigma': [1.0, 0.8], "
            "'steps': [500, 500]}, or such rows",
            "schedule",
        )
    for name, column in columns.items():
        if name not in _SCHEDULED:
            raise InputError(f"schedule has {name!r}: it may have {', '.join(_SCHEDULED)}", "schedule", value=name)
        if name in beside:
            raise InputError(f"{name} is given beside its schedule: give one of them", name)
        if isinstance(column, str) or not np.iterable(column):
            raise InputError(
                f"{name} in schedule is {column!r}: give a list there, or {name}= beside it where it holds throughout",
                "schedule",
            )
    return {name: list(column) for name, column in columns.items()}


def _parse_schedule(text: str) -> dict[str, list[float]]:
    """A schedule as a command spells it: ``sigma=1,0.8 steps=500,500``."""
    columns: dict[str, list[float]] = {}
    for word in text.replace(";", " ").split():
        name, equals, numbers = word.partition("=")
        try:
            column = [float(parse_shares(number) if name in SHARES else number) for number in numbers.split(",")]
        except ValueError:
            column = []
        if not equals or not column or name in columns:
            raise InputError(
                f"schedule has {word[:40]!r}: write names and numbers, each once, such as 'sigma=1,0.8 steps=500,500'",
                "schedule",
            )
        columns[name] = column
    return columns


def _training_parameters(
    given: dict[str, Any], rows: list[ScheduleSegment], how: Batches, neighbours: Relation
) -> dict[str, Any]:
    """The parameters as they go into JSON; rate and steps also where they follow."""
    parameters = {name: _json_numbers(value) for name, value in given.items() if value is not None}
    several = any(isinstance(value, list) for value in parameters.values())
    if "rate" not in parameters:
        parameters["rate"] = [row.rate for row in rows] if several else rows[0].rate
    listed = isinstance(parameters["steps"], list) if "steps" in parameters else several
    parameters["steps"] = [row.steps for row in rows] if listed else rows[0].steps
    if how is not Batches.POISSON:
        parameters["batches"] = str(how)
    return parameters | {"neighbours": neighbours.value}


def _segments(given: dict[str, Any], how: Batches) -> list[ScheduleSegment]:
    """One row per entry of a schedule, checked."""
    sized = "n" in given or "batch" in given
    if sized and not ("n" in given and "batch" in given and "rate" not in given):
        raise InputError(
            "n and batch say how large batches are, together and instead of rate: give both, or rate alone"
        )
    if not sized and how in (Batches.TRUNCATED, Batches.SHUFFLED, Batches.WITH_REPLACEMENT):
        raise InputError(f"batches='{how}' needs n and batch: give how many people there are, and how many to a batch")
    if not sized and ("rate" not in given or "epochs" in given):
        raise InputError("dpsgd needs rate and steps, or n, batch and epochs (or steps): give one of these")
    if ("epochs" in given) == ("steps" in given):
        raise InputError("dpsgd needs steps or epochs, and not both: give one of them", "steps")
    if ("truncation" in given) != (how is Batches.TRUNCATED):
        raise InputError(
            "truncation is the largest size of a batch that is cut: give it with batches='truncated', and only there",
            "truncation",
        )
    rows = [_segment(entry, several, how) for entry, several in _schedule_entries(given)]
    if not any(row.steps for row in rows):
        name = "steps" if "steps" in given else "epochs"
        raise InputError(f"{name} is 0 throughout: give a number of at least 1 somewhere in the schedule", name)
    return rows


def _segment(entry: dict[str, Any], several: bool, how: Batches) -> ScheduleSegment:
    noise = float(checks.in_range("sigma", entry["sigma"], 1e-2, 1e12))
    least = 0 if several else 1  # a row of a schedule may be empty, a training not
    if "rate" in entry:
        return ScheduleSegment(
            noise, sampling_rate(entry["rate"]), checks.integer("steps", entry["steps"], low=least, high=10**9)
        )
    n = checks.integer("n", entry["n"], low=1, high=_MOST_PEOPLE)
    batch = checks.integer("batch", entry["batch"], low=1, high=n)
    passes = -(-n // batch)
    if "steps" in entry:
        count = checks.integer("steps", entry["steps"], low=least, high=10**9)
    else:
        epochs = float(checks.in_range("epochs", entry["epochs"], 0.0 if several else 1e-9, 1e9))
        exact = Fraction(str(epochs))
        count = math.ceil(exact * passes if how is Batches.SHUFFLED else exact * n / batch)
        count = checks.integer("steps", count, low=0, high=10**9)
    largest = (
        checks.integer("truncation", entry["truncation"], low=1, high=_MOST_PEOPLE) if "truncation" in entry else 0
    )
    return ScheduleSegment(noise, sampling_rate(batch / n), count, n, batch, largest)


def _as_scalar(value: object, name: str = "") -> Any:
    """A number for an array of no dimension, and for shares that are written as 1%."""
    value = parse_shares(value) if name in SHARES else value
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _json_numbers(value: Any) -> Any:
    """As it goes into JSON."""
    if isinstance(value, list | tuple | np.ndarray):
        return [_json_numbers(v) for v in value]
    return int(value) if isinstance(value, int | np.integer) else float(value)


def _schedule_entries(columns: dict[str, Any]) -> list[tuple[dict[str, Any], bool]]:
    """The entries of a schedule, each with its parameters by name and whether its steps are one of several."""
    lists = {name: list(v) for name, v in columns.items() if isinstance(v, list | tuple | np.ndarray)}
    lengths = {len(v) for v in lists.values()}
    if len(lengths) > 1 or 0 in lengths:
        shapes = ", ".join(f"{name} has {len(v)}" for name, v in lists.items())
        raise InputError(f"a schedule needs lists of one length, not empty: {shapes}")
    several = "steps" in lists or "epochs" in lists
    entries = []
    for i in range(max(lengths, default=1)):
        entry = {name: lists[name][i] if name in lists else value for name, value in columns.items()}
        for name, value in entry.items():
            _check_number(name, value)
        entries.append((entry, several))
    return entries


def _check_number(name: str, value: object) -> None:
    """One number of a schedule, which is what a single number makes too."""
    if isinstance(value, list | tuple | np.ndarray) or np.asarray(value).dtype.kind not in "iuf":
        shown = f"{value!r}"
        shown = shown if len(shown) <= 40 else shown[:37] + "..."
        kind = "" if value is None else f", {type_phrase(value)}"
        raise InputError(f"{name} is {shown}{kind}: give a number, or a list of numbers in schedule", name)


# The central limit theorem of DP-SGD, which is no guarantee.
#
# Many small steps look like one normal shift ψ. Paper 002, Corollary 9 has, for batches of fixed size, ψ =
# q√(2T)·√(e^{1/σ²}Φ(1.5/σ) + 3Φ(−0.5/σ) − 2); Poisson sampling has its own, ψ = q√(T(e^{1/σ²} − 1)). Both are limits:
# for finitely many steps the truth lies above or below, and for few steps or little noise far above. :func:`clt`
# therefore shows them only beside the proven bracket (Theorem D34).

VARIANTS = ("poisson", "fixed")
_LEAST_PSI, _MOST_PSI = 1e-9, 1e3


def clt_psi(*, sigma: float, rate: float, steps: int, variant: str = "poisson") -> float:
    """ψ in the limit of many steps; an approximation, never a bound.

    >>> round(clt_psi(sigma=1.0, rate=0.01, steps=10_000), 7), round(clt_psi(sigma=1.0, rate=0.01, steps=10_000,
    ...     variant="fixed"), 7)
    (1.3108325, 1.7101425)
    """
    s = float(checks.in_range("sigma", checks.scalar("sigma", sigma), 0.04, 1e12))
    q = float(checks.probability("rate", checks.scalar("rate", rate)))
    k = checks.integer("steps", steps, low=1, high=10**9)
    checks.one_of("variant", variant, VARIANTS)
    if variant == "poisson":
        return q * math.sqrt(k * math.expm1(1 / s**2))
    # e^{v}Φ(1.5/σ) + 3Φ(−.5/σ) − 2 without its cancellation: with Φ = ½ + erf/2 the halves sum to expm1(v)/2
    v = 1 / s**2
    inside = math.expm1(v) * float(ndtr(1.5 / s)) + (float(ndtr(1.5 / s)) - 0.5) - 3 * (0.5 - float(ndtr(-0.5 / s)))
    return q * math.sqrt(2 * k * max(inside, 0.0))


def epsilon_conversions(psi: float, delta: float) -> dict[str, float]:
    """ε of a normal shift ψ at δ by the three ways of paper 002 §5, smallest first: exact, improved RDP, RDP.

    >>> {name: round(value, 6) for name, value in epsilon_conversions(1.0, 1e-5).items()}
    {'exact': 4.377178, 'improved RDP': 4.728387, 'RDP': 5.298526}
    """
    p = float(checks.in_range("psi", checks.scalar("psi", psi), _LEAST_PSI, _MOST_PSI))
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
class Clt(ShortResult):
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

    Parameters
    ----------
    sigma : float
        Noise over the clipping norm, > 0.
    rate : float
        Share of people in a batch.
    steps : int
        How many steps there are.
    delta : float, default 1e-05
        The δ that goes with ε, in (0, 1).
    variant : str, default 'poisson'
        How batches are drawn in the theorem's statement.

    Returns
    -------
    Clt
        The theorem's ε of each variant beside the proven bracket; not a bound itself.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> few = clt(sigma=1.0, rate=0.01, steps=100, variant="fixed")
    >>> few.safe, round(few.epsilons["exact"], 4), few.bracket[0] > 0.717
    (False, 0.6114, True)
    """
    psi = clt_psi(sigma=sigma, rate=rate, steps=steps, variant=variant)
    if checks.scalar("rate", rate) == 0:
        raise InputError("rate is 0, so nobody is ever drawn: give a probability above 0", "rate")
    if not _LEAST_PSI <= psi <= _MOST_PSI:
        raise InputError(
            f"sigma, rate and steps make a ψ of {psi:.3g}: give some that make one from {_LEAST_PSI:g} to {_MOST_PSI:g}"
        )
    d = float(checks.probability("delta", checks.scalar("delta", delta), closed=False))
    low, high = dpsgd(sigma=sigma, rate=rate, steps=steps).bracket("epsilon", delta=d)
    return Clt(variant, psi, d, epsilon_conversions(psi, d), (low, high))
