"""The adversaries' readings at one release: at the planned ε, at the limit, and along a curve of ε."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..calibration.choose import reading_argument
from ..catalogue.readings import find_reading
from ..errors import NoSolutionError
from ..numerics.values import FrozenMapping, ValueSemantics
from ..plan.file import about
from .accuracy import MOST_EPSILON, QueryAccuracy
from .adversaries import Adversary, Asks, Setting, met
from .worst import Facing, largest_epsilon

_CURVE_POINTS = 25
_MOST_DRAWN = 100.0  # an ε beyond says "anything goes": it is told, not drawn
#: Readings that are 1 where some answer is conclusive.
_BELIEFS = ("posterior", "precision")


@dataclass(frozen=True, eq=False, repr=False)
class Risk(ValueSemantics):
    """One adversary against this release.

    ``largest`` is the largest total ε within the limit (None without a limit, 0 where no ε meets it); ``recommended``
    is the risk at the recommended ε, ``needed`` the risk at the smallest ε that keeps the error tolerated.
    ``conclusive`` says that some answers leave no doubt, so that a reading of 1 is one and not a rounded number.
    ``exact`` says that some person can be found this easily, not only at most; ``from_data`` that whether this
    adversary is met, or how strong they are, was found in the table. ``opposite`` is, for a belief, how strong belief
    in the opposite can become.
    """

    key: str
    asks: Asks
    name: str
    question: str
    reading: str
    arguments: Mapping[str, float]
    baseline: float
    planned: float
    limit: float | None
    largest: float | None
    recommended: float | None
    how: str
    needed: float | None = None
    conclusive: bool = False
    exact: bool = False
    from_data: bool = False
    opposite: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", FrozenMapping(self.arguments))

    @property
    def over(self) -> bool:
        """Whether the planned ε breaks the limit."""
        return self.limit is not None and self.planned > self.limit


@dataclass(frozen=True, eq=False, repr=False)
class Curve(ValueSemantics):
    """Risk and relative error against ε."""

    epsilon: tuple[float, ...]
    risks: Mapping[str, tuple[float, ...]]
    errors: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "risks", FrozenMapping(self.risks))


def risks_of(setting: Setting) -> tuple[tuple[Risk, ...], list[str]]:
    """Every adversary this release meets, and a note for each whose limit no ε keeps."""
    made, notes = [], []
    for adversary in met(setting):
        reading = find_reading(adversary.reading)
        limited = setting.release.risk_limits.get(reading.name)
        extra = limited.arguments if limited else {}
        place = f"limits.{reading.name}"
        with about(place, **{name: f"{place}.{name}" for name in extra}):
            given = reading.arguments({**adversary.arguments(setting), **extra})
            args = {name: reading_argument(name, value) for name, value in given.items()}
            facing = adversary.facing(setting, setting.release.epsilon)
            planned = _reading(setting, adversary, args, setting.release.epsilon)
        largest: float | None = None
        if limited is not None:
            try:
                largest = _largest(adversary, setting, limited.at_most, args)
            except NoSolutionError as error:
                largest = 0.0
                notes += [] if facing.certain else [f"{adversary.name}: {error}."]  # names are told of by themselves
        made.append(
            Risk(
                key=adversary.key,
                asks=adversary.asks,
                name=adversary.name,
                question=adversary.question(setting),
                reading=adversary.reading,
                arguments=args,
                baseline=float(reading.floor(**args)),
                planned=planned,
                limit=limited.at_most if limited else None,
                largest=largest,
                recommended=None,
                how=facing.how,
                conclusive=_conclusive(adversary.reading, facing),
                exact=facing.exact(reading.name, args),
                from_data=adversary.from_data(setting),
                opposite=facing.opposite(args["prior"]) if adversary.reading == "posterior" else None,
            )
        )
    return tuple(made), notes


def _largest(
    adversary: Adversary, setting: Setting, limit: float, arguments: Mapping[str, float], most: float = MOST_EPSILON
) -> float:
    def facing(epsilon: float) -> Facing:
        return adversary.facing(setting, epsilon)

    return largest_epsilon(
        facing, adversary.reading, limit, arguments, setting.release.epsilon, monotone=setting.monotone, most=most
    )


@dataclass(frozen=True)
class RiskLimit:
    """The limit on one adversary: ``largest`` is the largest ε that keeps it, 0 where none does.

    Where risk only grows with ε (``monotone``) every smaller one keeps it too.
    """

    key: str
    largest: float
    monotone: bool
    over: Callable[[float], bool]
    below: Callable[[float], float]  # the largest ε up to this one that keeps it, 0 where none does


def _limit(setting: Setting, adversary: Adversary, at_most: float, arguments: Mapping[str, float],
           largest: float | None = None) -> RiskLimit:  # fmt: skip
    def over(epsilon: float) -> bool:
        return _reading(setting, adversary, arguments, epsilon) > at_most

    def below(most: float) -> float:
        try:
            return _largest(adversary, setting, at_most, arguments, most)
        except NoSolutionError:
            return 0.0

    return RiskLimit(adversary.key, below(MOST_EPSILON) if largest is None else largest, setting.monotone, over, below)


def limits_of(setting: Setting, risks: tuple[Risk, ...]) -> tuple[RiskLimit, ...]:
    """The limits on the risks that have one."""
    met_by = {adversary.key: adversary for adversary in met(setting)}
    return tuple(_limit(setting, met_by[r.key], r.limit, r.arguments, r.largest) for r in risks if r.limit is not None)


def blind_limits(setting: Setting, risks: tuple[Risk, ...]) -> tuple[RiskLimit, ...] | None:
    """The limits on risk whatever the table holds; None where no number of the plan says so.

    An adversary who was, or was not, found in the table is supposed to be there: somebody can be isolated. How alike
    relatives are has no such worst case unless the plan states it.
    """
    if setting.release.risk_limits and any(relation.from_data for relation in setting.related):
        return None
    made = [*limits_of(setting, tuple(r for r in risks if not r.from_data))]
    worst = replace(setting, scan=None, supposed=True)
    for adversary in met(worst):
        limited = setting.release.risk_limits.get(adversary.reading)
        if limited is not None and adversary.from_data(worst):
            arguments = find_reading(adversary.reading).arguments({**adversary.arguments(worst), **limited.arguments})
            made.append(_limit(worst, adversary, limited.at_most, arguments))
    return tuple(made)


def _conclusive(reading: str, facing: Facing) -> bool:
    """Whether a reading of 1 is one: some answers leave no doubt, or all of them."""
    return facing.certain or (reading in _BELIEFS and facing.unbounded)


def read_again(
    setting: Setting, risks: tuple[Risk, ...], recommended: float | None, needed: float | None
) -> tuple[Risk, ...]:
    """The risks with what each is at the recommended ε, and at the smallest that keeps the error tolerated."""
    return tuple(
        replace(r, recommended=_read(setting, r, recommended), needed=_read(setting, r, needed)) for r in risks
    )


def _read(setting: Setting, risk: Risk, epsilon: float | None) -> float | None:
    if not epsilon or not np.isfinite(epsilon):
        return None
    if (found := setting.readings.get((risk.key, epsilon))) is not None:
        return found
    return _reading(setting, next(a for a in met(setting) if a.key == risk.key), risk.arguments, epsilon)


def _reading(setting: Setting, adversary: Adversary, arguments: Mapping[str, float], epsilon: float) -> float:
    key = adversary.key, epsilon
    if key not in setting.readings:
        setting.readings[key] = adversary.facing(setting, epsilon).read(adversary.reading, arguments)
    return setting.readings[key]


def curve_of(
    setting: Setting, risks: tuple[Risk, ...], queries: tuple[QueryAccuracy, ...], recommended: float | None
) -> Curve:
    """Right guesses and errors over the ε around the planned and the recommended one."""
    planned = setting.release.epsilon
    marks = [planned] + ([recommended] if recommended and recommended < _MOST_DRAWN else [])
    low, high = min(0.05, *(m / 3 for m in marks)), min(max(10.0, *(3 * m for m in marks)), MOST_EPSILON)
    grid = np.unique(np.concatenate((np.geomspace(low, high, _CURVE_POINTS), marks)))
    drawn = [r for r in risks if r.reading == "success"]
    lines = {r.key: tuple(float(_read(setting, r, float(e)) or 0.0) for e in grid) for r in drawn}
    errors = tuple(tuple(q.relative(float(e), setting.release) for e in grid) for q in queries)
    return Curve(tuple(float(e) for e in grid), lines, errors)
