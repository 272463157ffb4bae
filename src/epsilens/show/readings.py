"""The table: every reading of an experiment with its baseline, its symbol and what it means in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from ..numerics.formatting import ceil_count, ceil_digits, count, denominator, floor_digits, frequencies, thousands
from ..worlds import WorldsKind
from .sentences import Question, false_alarms, number, separated, small

if TYPE_CHECKING:
    from ..overview import Overview


@dataclass(frozen=True, slots=True)
class Row:
    """One reading: its key in JSON, where it stands in the table, its value and baseline, and its words.

    ``shown`` is false for a row that the table leaves out because it would repeat another; ``nearly`` is true where
    the value is below 1 but double precision cannot say so.
    """

    key: str
    group: str
    name: str
    symbol: str
    value: float
    baseline: float
    words: str
    shown: bool = True
    nearly: bool = False

    @property
    def text(self) -> str:
        """The value as the table shows it."""
        if self.nearly:
            return "> 0.9999"
        beside = [self.baseline]
        if self.key in _COUNTED and 0 < self.value < 1 and ceil_count(100 * self.value) > math.floor(100 * self.value):
            beside.append(math.floor(100 * self.value) / 100)  # told as the next count: its decimals say why
        return number(self.value, *beside)

    @property
    def baseline_text(self) -> str:
        """The baseline as the table shows it."""
        return number(self.baseline)


#: What a count out of a round number says, with the baseline beside it.
_COUNTED = {
    "success": "Right {n} of {of} times; {base} without the release.",
    "recall": "Finds {n} of {of} times that {q.holds}; {base} without the release.",
    "precision": "Of {of} alarms, {n} are right; {base} without the release.",
    "auc": "Tells {q.one} from {q.other} {n} of {of} times; {base} without the release.",
    "attack_success": "One right {base} of {of} times against a release without this record can be right {n} with it.",
}


def _counted(key: str, q: Question, value: float, floor: float) -> str:
    scale = denominator([value], [floor])
    return _COUNTED[key].format(q=q, n=count(value, scale), base=count(floor, scale, given=True), of=thousands(scale))


def _advantage(q: Question, value: float) -> str:
    scale = denominator([value])
    n, of = count(value, scale), thousands(scale)
    return f"Raises the alarm {n} of {of} times more when {q.holds} than when not."


def _belief(world: str, value: float, floor: float) -> str:
    """How far an answer can raise belief in one of the two worlds."""
    if value == 1 > floor:
        return f"Some answers, however rare, leave as little doubt as one likes that {world}."
    after, before = frequencies(value, given=[floor])
    return f"Belief that {world} can rise from {before.split(' of ')[0]} to {after}."


def _fbeta(point: tuple[float, float] | None) -> str:
    if point is None:
        return "The best balance of precision and recall."
    alpha, recall = point
    if alpha == recall == 1:
        return "Reached by flagging everyone, which needs no release."
    scale = denominator([recall], [alpha])
    return f"Finds {count(recall, scale)} of {thousands(scale)}, with {false_alarms(alpha)}."


def _told(epsilon: float) -> str:
    """e^ε as a sentence writes it.

    >>> _told(1.0), _told(12.0), _told(40.0)
    ('2.72', '163,000', 'e^40')
    """
    return separated(_factor(epsilon)) if epsilon < 34 else f"e^{epsilon:g}"


def _factor(epsilon: float) -> str:
    """e^ε, rounded up."""
    if epsilon >= 700:
        return f"e^{epsilon:g}"
    if epsilon >= 0.1:
        return ceil_digits(math.exp(epsilon), 3)
    return str(1 + Decimal(ceil_digits(math.expm1(epsilon), 2)))


def _worked(value: float) -> str:
    """A number of a sum, rounded up: three digits, and from a thousand on whole."""
    return str(math.ceil(value)) if 1e3 <= value < 1e7 else ceil_digits(value, 3)


#: Denominators, and false alarms taken where more of them leave nothing to promise.
_SCALES = (100, 1_000, 10_000, 100_000, 1_000_000)
_FEWER = (0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 0.0)


def _epsilon(value: float, delta: float, fpr: float) -> str:
    if not math.isfinite(value):
        return "No bound without a δ." if delta == 0 else "No bound even with this δ."
    return _found(value, delta, fpr) if delta else f"The odds change by a factor of at most {_told(value)}."


def _delta(value: float, epsilon: float, fpr: float) -> str:
    return _found(epsilon, value, fpr) if value else f"ε = {epsilon:g} holds for every answer."


def _found(epsilon: float, delta: float, fpr: float) -> str:
    """What (ε, δ) promises, worked out: no test finds more than e^ε times its false alarms, plus δ.

    δ is no share of answers or of people. Where the promise is empty at this many false alarms, fewer are taken; all
    numbers are rounded up.

    >>> _found(0.5, 0.2212, 0.1)
    'With 10 false alarms of 100, no test finds more than 39 of 100: 1.65 × 10 + 22.2.'
    >>> _found(4.3772, 1e-5, 0.1)
    'With 1 false alarm of 100, no test finds more than 80 of 100: 79.7 × 1 + 0.001.'
    >>> _found(8.0, 1e-6, 0.1)
    'With 1 false alarm of 10,000, no test finds more than 2,982 of 10,000: 2,981 × 1 + 0.01.'
    """
    factor = "inf"  # of 700 and above only a test without false alarms is bounded
    if epsilon < 700:
        factor = _factor(epsilon) if epsilon < 1 else _worked(math.exp(epsilon))
    for share in (fpr, *(s for s in _FEWER if s < fpr)):
        scale = next(
            (n for n in _SCALES if share * n >= 0.999 and math.isclose(share * n, round(share * n))),
            denominator((), [share]),
        )
        alarms, beyond = small(float(f"{share * scale:.3g}")), _worked(max(delta * scale, 1e-3))
        most = (float(factor) * share * scale if share else 0.0) + float(beyond)
        if most < scale:
            told = (
                f"{alarms} false alarm{'' if alarms == '1' else 's'} of {thousands(scale)}"
                if share
                else "no false alarms"
            )
            sums = f": {separated(factor)} × {separated(alarms)} + {separated(beyond)}" if share else ""
            return f"With {told}, no test finds more than {thousands(math.ceil(most))} of {thousands(scale)}{sums}."
    return "Rules nothing out."


def _psi(value: float, sampled: bool) -> str:
    if not math.isfinite(value):
        return "No normal noise is as easy to attack."
    if value == 0:
        return "Tells the adversary nothing."
    told = f"No easier to attack than normal noise of σ = {floor_digits(1 / value, 2)} sensitivities."
    if sampled:
        told += " ψ is ruled by the rarest, most telling outcomes, where sampling does not help."
    return told


def _mu(value: float, level: float, instead: float | None = None) -> str:
    """μ beside ψ, or ``instead`` of one that is ruled by the rarest outcomes, where sampling does not help."""
    if not math.isfinite(value):
        return "No normal noise is as easy to attack."
    if value == 0:
        return "Tells the adversary nothing."
    noise = f"normal noise of σ = {floor_digits(1 / value, 2)} sensitivities"
    if instead is not None:
        return (
            f"No easier to attack than {noise}, by any test whose false alarms and misses both are at least "
            f"{small(level)}. Rarer ones are left out: with them it is ψ = {ceil_digits(instead)}, as if nothing were "
            "sampled."
        )
    return f"The same for tests whose false alarms and misses both are at least {small(level)}: {noise}."


def _chernoff(value: float, shared: bool) -> str:
    if not math.isfinite(value):
        return "One answer already tells the two apart."
    if shared:
        return "How well the best of all guesses tells the two apart, in nats; it does not add up over answers."
    if value > 700:
        return "Repeated, the adversary's error vanishes at once."
    return f"Repeated often, each repeat divides the adversary's error by {number(math.exp(value), digits=2)}."


def _nats(value: float, words: str) -> str:
    return words if math.isfinite(value) else "Unbounded: some answers are possible in one world only."


def rows(o: Overview, q: Question) -> tuple[Row, ...]:
    """Every reading, in the order of the table."""
    given = o.arguments
    fpr, delta, epsilon, level = (given[k] for k in ("fpr", "delta", "epsilon_for_delta", "level"))
    table: list[Row] = []

    def add(
        group: str, key: str, name: str, symbol: str, words: Callable[[float, float], str], *, shown: bool = True
    ) -> None:
        value, floor, nearly = o.readings[key]
        told = words(math.nextafter(1, 0) if nearly else value, floor)
        table.append(Row(key, group, name, symbol, value, floor, told, shown, nearly))

    member = o.experiment.worlds.kind is WorldsKind.MEMBERSHIP
    guessing = "Is the person in the data?" if member else "Which of the two is true?"
    add(guessing, "success", "Success", "", partial(_counted, "success", q))
    add(guessing, "advantage", "Advantage", "", lambda v, b: _advantage(q, v))
    add(guessing, "posterior", "Most certain belief", "", partial(_belief, q.holds))
    add(guessing, "posterior_reversed", "And of the opposite", "", partial(_belief, q.fails))
    at = f"At {false_alarms(fpr)}"
    add(at, "recall", "Recall", "", partial(_counted, "recall", q))
    add(at, "precision", "Precision", "", partial(_counted, "precision", q))
    over = "Over every threshold"
    add(over, "auc", "Area under the ROC curve", "AUC", partial(_counted, "auc", q))
    add(over, "fbeta", "Best F-score", f"F{_subscript(given['beta'])}", lambda v, b: _fbeta(o.best_f))
    add(over, "attack_success", "Any other attack", "", partial(_counted, "attack_success", q))
    claim, pure, ruled = "The guarantee", o.readings["epsilon"].value, o.readings["psi"].value
    add(claim, "epsilon", "Privacy loss at δ = 0", "ε", lambda v, b: _epsilon(v, 0.0, fpr))
    at_delta, unbounded = f"Privacy loss at δ = {small(delta)}", not math.isfinite(pure)
    add(claim, "epsilon_at_delta", at_delta, "ε", lambda v, b: _epsilon(v, delta, fpr), shown=unbounded)
    add(claim, "delta", f"Loss beyond ε = {epsilon:g}", "δ", lambda v, b: _delta(v, epsilon, fpr))
    instead = o.sampled and o.narrow and level > 0
    add(claim, "psi", "Sensitivity index", "ψ", lambda v, b: _psi(v, o.sampled), shown=not instead)
    beside = o.narrow and level > 0 and (o.wide or not math.isfinite(ruled))  # elsewhere it says what ψ says
    told = partial(_mu, level=level, instead=ruled if instead else None)
    add(claim, "mu", f"Practical index at {small(level)}", "μ", lambda v, b: told(v), shown=beside)
    average, added = "Average evidence in one answer, in nats.", "Used to add up many releases."
    unknown = bool(o.experiment.unknowns)
    if unknown:  # neither adds up: what is unknown is the same in the next answer
        added = "Average odds, in logs."
    add(claim, "kl", "Kullback–Leibler divergence", "KL", lambda v, b: _nats(v, average))
    add(claim, "renyi", "Rényi divergence, order 2", "D₂", lambda v, b: _nats(v, added))
    add(claim, "chernoff", "Chernoff information", "C", lambda v, b: _chernoff(v, unknown))
    return tuple(table)


def _subscript(value: float) -> str:
    lowered = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    return f"{value:g}".translate(lowered) if float(value).is_integer() else f"({value:g})"
