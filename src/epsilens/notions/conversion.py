"""From an ε in one notion to an ε in another, through the shortest chain of implications that holds."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any

from .. import checks
from ..errors import InputError, NoSolutionError
from ..numerics.values import ValueSemantics
from ..results import SentenceResult, ShortResult
from .implications import IMPLICATIONS, NOTIONS, REFUTED, Conditions, Implication, Notion, even_odds_success, find


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConversionStep(ValueSemantics):
    """One implication of a chain, with the ε before and after it."""

    implication: Implication
    before: float
    after: float

    def words(self, c: Conditions) -> str:
        """The factor and what it relies on, with the numbers put in."""
        row = self.implication
        formula = _with_numbers(row.formula, c) if not row.curve else row.formula
        when = _with_numbers(row.when, c)
        if row.source == "ip" and row.target == "mp":
            formula, when = ("ln(p + (1−p)·e^ε)", f"p = {c.least:g}") if c.least else ("the same ε", "always")
        if formula == "ε":
            formula = "the same ε"
        return formula if when == "always" else f"{formula}: {when}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**self.implication.to_dict(), "before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Conversion(ValueSemantics, SentenceResult, ShortResult):
    """``given_epsilon`` in the notion ``given`` promises ``promised_epsilon`` in the notion ``promised``.

    From :func:`promise` the first is what was asked, from :func:`convert` the second.
    """

    shown_as = "conversion"

    given: Notion
    given_epsilon: float
    promised: Notion
    promised_epsilon: float
    steps: tuple[ConversionStep, ...]
    conditions: Conditions

    @property
    def factor(self) -> float:
        """The promised ε over the given one."""
        return self.promised_epsilon / self.given_epsilon if self.given_epsilon else math.nan

    @property
    def because(self) -> str:
        """The chain in words, without the steps that always hold with the same ε."""
        told = list(dict.fromkeys(s.words(self.conditions) for s in self.steps))
        return "; ".join(w for w in told if w != "the same ε") or "the same ε, always"

    @property
    def sure(self) -> float:
        """How sure an attacker with even odds can become, at most.

        By the promised notion, or by the one before it where that is about the same attacker and says more: a bound on
        odds holds for every prior odds, so it is sharper at even ones.
        """
        chance = sure(self.promised, self.promised_epsilon)
        for step in reversed(self.steps):
            before, after = NOTIONS[step.implication.source], NOTIONS[step.implication.target]
            if not (before.kind == "odds" != after.kind or (before.key, after.key) == ("mi", "mi-marginal")):
                break
            chance = min(chance, sure(before, step.before))
        return chance

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "given": self.given.key,
            "given_epsilon": self.given_epsilon,
            "promised": self.promised.key,
            "promised_epsilon": self.promised_epsilon,
            "factor": None if math.isnan(self.factor) else self.factor,
            "even_odds_become_at_most": self.sure,
            "steps": [s.to_dict() for s in self.steps],
            "conditions": self.conditions.to_dict(),
        }


def _with_numbers(text: str, c: Conditions) -> str:
    """k, n and d as the numbers they stand for."""
    if text.endswith("at most k records depend on each other") and c.dependent == 1:
        return "records are independent"
    for letter, value in (("k", c.dependent), ("n", c.records), ("d", c.diameter)):
        if value is not None:
            text = re.sub(rf"\b{letter}\b(?=·| records| edges)", f"{value:g}" if value < 1e6 else f"{value}", text)
    return re.sub(r"^1·ε$", "ε", text).replace("1 records", "1 record").replace("1 edges lead", "1 edge leads")


def sure(notion: Notion, epsilon: float) -> float:
    """How sure an attacker who gave even odds can become, at most; for information, how often right on average.

    Parameters
    ----------
    notion : Notion
        Which definition.
    epsilon : float
        Its ε, at least 0.

    Returns
    -------
    float
        A probability, an upper bound.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> round(sure(find("dp"), 1.0), 4), round(sure(find("mp"), 1.0), 4), round(sure(find("mi"), 0.11), 4)
    (0.7311, 0.8161, 0.7301)
    """
    if not isinstance(notion, Notion):
        raise InputError(f"notion is {notion!r:.40}: give one that find() returns", "notion")
    checks.at_least("epsilon", checks.scalar("epsilon", epsilon), 0.0)
    if notion.kind == "nats":
        return even_odds_success(epsilon)
    chance = 1 / (1 + math.exp(-epsilon)) if notion.kind == "odds" else 1 - 0.5 * math.exp(-epsilon)
    return min(chance, math.nextafter(1.0, 0.0))  # no finite ε allows certainty


def promise(given: str, epsilon: float, of: str, **conditions: object) -> Conversion:
    """What a guarantee of ``epsilon`` in one notion promises in another: the smallest ε the implications give.

    ``conditions`` are those of :class:`Conditions`.

    Parameters
    ----------
    given : str
        Key of the notion that holds.
    epsilon : float
        Its ε, > 0.
    of : str
        Key of the notion asked about.
    **conditions : object
        What else is known, as the fields of `Conditions`.

    Returns
    -------
    Conversion
        The ε promised, an upper bound, with the implications that were used.

    Raises
    ------
    InputError
        If a notion or a condition is unknown.
    NoSolutionError
        If nothing follows.

    Examples
    --------
    >>> promise("dp", 1.0, "ip", dependent=3).promised_epsilon
    3.0
    """
    source, target = find(given, "given"), find(of, "of")
    return _shortest_chain(source, _checked_epsilon(epsilon), target, Conditions(**_checked_conditions(conditions)))


def promises(given: str, epsilon: float, **conditions: object) -> dict[str, Conversion | str]:
    """The same for every other notion, or the sentence that says why it promises nothing there.

    Parameters
    ----------
    given : str
        Key of the notion that holds.
    epsilon : float
        Its ε, > 0.
    **conditions : object
        What else is known, as the fields of `Conditions`.

    Returns
    -------
    dict
        A conversion for each other notion, or the sentence that says why there is none.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.
    """
    made: dict[str, Conversion | str] = {}
    for key in NOTIONS:
        if key != find(given, "given").key:
            try:
                made[key] = promise(given, epsilon, key, **conditions)
            except (NoSolutionError, Missing) as error:
                made[key] = str(error)
    return made


def convert(wanted: str, epsilon: float, by: str = "dp", **conditions: object) -> Conversion:
    """The largest ε of the notion ``by`` that is sufficient for ``epsilon`` in the notion ``wanted``.

    Parameters
    ----------
    wanted : str
        Key of the notion whose ε is wanted.
    epsilon : float
        That ε, > 0.
    by : str, default 'dp'
        Key of the notion to be given.
    **conditions : object
        What else is known, as the fields of `Conditions`.

    Returns
    -------
    Conversion
        The ε that suffices, with the implications that were used.

    Raises
    ------
    InputError
        If a notion or a condition is unknown.
    NoSolutionError
        If nothing follows.

    Examples
    --------
    >>> c = convert("ip", 1.0, by="dp", dependent=4)
    >>> c.given_epsilon, [s.implication.formula for s in c.steps]
    (0.25, ['k·ε', 'ε'])
    >>> convert("dp", 1.0, by="ip", dependent=1)
    Traceback (most recent call last):
    epsilens.errors.NoSolutionError: no ε of inferential privacy under one prior bounds differential privacy: ...
    """
    target, source = find(wanted, "wanted"), find(by, "by")
    limit, c = _checked_epsilon(epsilon), Conditions(**_checked_conditions(conditions))
    # from the target backwards: the largest ε each notion may have
    most: dict[str, float] = {target.key: limit}
    rows, before = [row for row in IMPLICATIONS if row.holds(c)], None
    while most != before:
        before = dict(most)
        for row in rows:
            if row.target in before:
                most[row.source] = max(row.sufficient(before[row.target], c), most.get(row.source, 0.0))
    if source.key not in most:
        raise _no_solution(source, target, c)
    made = _shortest_chain(source, most[source.key], target, c)
    while made.promised_epsilon > limit:  # read again: rounding within a chain of curves may cross the limit
        made = _shortest_chain(source, math.nextafter(made.given_epsilon, 0.0), target, c)
    return made


class Missing(InputError):  # noqa: N818 - reads as what it is
    """A number the implications need was not given."""


def _checked_epsilon(epsilon: object) -> float:
    return checks.scalar("epsilon", checks.in_range("epsilon", epsilon, 0.0, 1e4))


def _checked_conditions(conditions: dict[str, Any]) -> dict[str, Any]:
    unknown = next((name for name in conditions if name not in Conditions.__slots__), None)
    if unknown is not None:
        raise InputError(f"{unknown} is not a condition: give some of {', '.join(Conditions.__slots__)}", unknown)
    return conditions


def _shortest_chain(source: Notion, epsilon: float, target: Notion, c: Conditions) -> Conversion:
    """Shortest paths with increasing functions for lengths: the least ε at each notion, and how it was reached."""
    least: dict[str, float] = {source.key: epsilon}
    steps: dict[str, tuple[ConversionStep, ...]] = {source.key: ()}
    rows, changed = [row for row in IMPLICATIONS if row.holds(c)], True
    while changed:
        changed = False
        for row in rows:
            if row.source in least:
                after = row.promised(least[row.source], c)
                shorter = after == least.get(row.target) and len(steps[row.source]) + 1 < len(steps[row.target])
                if after < least.get(row.target, math.inf) or shorter:
                    least[row.target], changed = after, True
                    steps[row.target] = (*steps[row.source], ConversionStep(row, least[row.source], after))
    if target.key not in least:
        raise _no_solution(source, target, c)
    return Conversion(source, epsilon, target, least[target.key], steps[target.key], c)


def _implies(source: Notion, target: Notion, c: Conditions) -> bool:
    seen = {source.key}
    for _ in NOTIONS:
        seen |= {row.target for row in IMPLICATIONS if row.source in seen and row.holds(c)}
    return target.key in seen


def _no_solution(source: Notion, target: Notion, c: Conditions) -> Missing | NoSolutionError:
    for name, words in (
        ("dependent", "how many records depend on each other, 1 if none do"),
        ("records", "how many records there are"),
    ):
        if getattr(c, name) is None:
            told = replace(c, dependent=1) if name == "dependent" else replace(c, records=c.dependent or 1)
            if _implies(source, target, told):
                return Missing(f"{name} is missing, and the ε grows with it: give {words}", parameter=name)
    return NoSolutionError(why_not(source, target, c), floor=math.inf)


def why_not(source: Notion, target: Notion, c: Conditions) -> str:
    """Why the source's ε promises nothing in the target, in one sentence."""
    under = "under one prior " if c.one and source.key not in ("dp", "blowfish") else ""
    return f"no ε of {_lower_name(source)} {under}bounds {_lower_name(target)}: {refutation_reason(source, target, c)}"


def refutation_reason(source: Notion, target: Notion, c: Conditions) -> str:
    """The same without naming the two."""
    # A does not imply B; so nothing that A implies does imply anything that implies B
    rows = [r for r in REFUTED if r.decides and _example_applies(r.example, c)]
    rows.sort(key=lambda r: (r.source, r.target) != (source.key, target.key))
    for row in rows:
        if _implies(NOTIONS[row.source], source, c) and _implies(target, NOTIONS[row.target], c):
            return row.because
    if source.kind == "nats":
        return "little information on average does not rule out a rare answer that tells everything"
    if source.key == "pufferfish" and c.secrets == "any":
        return "other secrets than the values of records say nothing about one record"
    return "no implication leads there"


def _lower_name(notion: Notion) -> str:
    return notion.name[0].lower() + notion.name[1:]


def _example_applies(example: str, c: Conditions) -> bool:
    """Whether an example is about these conditions."""
    if example == "parts":
        return not math.isfinite(c.diameter)
    if example == "known_total":
        return c.constrained
    if example in ("twins", "alike", "twins_differ"):
        return c.dependent != 1
    return True
