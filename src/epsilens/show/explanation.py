"""Explain an experiment, or a choice: the sentence, the pictures, every reading, and how to get them again.

The table has every reading of the experiment with its baseline, its symbol and what it means in words.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..catalogue.mechanisms import MECHANISMS
from ..catalogue.parameters import PARAMETERS, Panel, option_flag
from ..mechanisms.claims import Claim, NoiseFamily
from ..numerics.formatting import (
    ceil_count,
    ceil_digits,
    count,
    denominator,
    distinguishable,
    floor_digits,
    frequencies,
    frequency,
    thousands,
)
from ..overview import Overview, Overviewed
from ..worlds import MEMBERSHIP, WorldsKind
from . import charts
from .charts import icons
from .document import (
    Cell,
    Code,
    Column,
    Document,
    Fact,
    Figure,
    Figures,
    Forms,
    Group,
    IconArray,
    Icons,
    Kind,
    Lead,
    Notes,
    Paragraph,
    Said,
    Section,
    Span,
    Table,
    Tone,
    flat,
    said,
)
from .presenters import CHECKED, Presented, finite
from .presenters import table as table_of
from .sentences import (
    Question,
    consequence,
    falls,
    false_alarms,
    instruction,
    lead,
    mechanism,
    number,
    question,
    separated,
    small,
    title,
    unseen,
)
from .short_results import knowledge

if TYPE_CHECKING:
    import pandas as pd

    from ..calibration.choose import Choice
    from ..experiment import Experiment
    from ..mechanisms.claims import ClaimCase
    from ..overview import CaseReadings, Overview


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


# What a claim means by what is known of the noise: a sentence, a table and the curves over each other.


_NAMES = {
    NoiseFamily.ANY: "Nothing else is known",
    NoiseFamily.LAPLACE: "Laplace noise",
    NoiseFamily.GAUSSIAN: "Gaussian noise",
    NoiseFamily.TRAINING: "This training",
}
_IF = {
    NoiseFamily.ANY: "if nothing else is known",
    NoiseFamily.LAPLACE: "if the noise is Laplace",
    NoiseFamily.GAUSSIAN: "if it is Gaussian",
    NoiseFamily.TRAINING: "for this training",
}


def case_name(case: ClaimCase) -> str:
    """What is known, in a table or beside a curve."""
    return _NAMES[case.noise] if not case.example else "A training, for example"


def _case_data(each: CaseReadings) -> dict[str, object]:
    """A JSON-ready record."""
    e = each.case.experiment
    shown = {"success": each.success, "recall": each.recall, "why": each.case.why, "example": each.case.example}
    return {**shown, "experiment": None if e is None else finite(e.to_dict())}


def ranged(cases: tuple[CaseReadings, ...], baseline: float) -> Said:
    """How far the guesses reach by what the noise may be, out of one denominator."""
    known = [(each, each.success) for each in cases if each.success is not None]
    scale = max(denominator([value], [baseline]) for _, value in known)
    spans, unbounded = [Span(f"Of {thousands(scale)} guesses ")], False
    for i, (each, value) in enumerate(known):
        shown = count(value, scale)
        told = "for a training such as the one below" if each.case.example else _IF[each.case.noise]
        noise = "if the noise is Gaussian" if told == "if it is Gaussian" and not _named(known[:i]) else told
        spans += [
            Span("" if " than " in shown or (i and not unbounded) else "at most "),
            Span(shown, "risk"),
            Span(f"{'' if i else ' may be right'} {noise}{', ' if i < len(known) - 1 else '; '}"),
        ]
        unbounded = " than " in shown  # "at most more than 99" says nothing
    return (*spans, Span(f"{count(baseline, scale, given=True)} without the release."))


def _named(before: list[tuple[CaseReadings, float]]) -> bool:
    return any(each.case.noise is NoiseFamily.LAPLACE for each, _ in before)


def by_noise(about: Overview) -> Section:
    """The table of cases, and their ROC curves over each other."""
    cases, fpr = about.cases, about.arguments["fpr"]
    columns = (
        Column("What is known", Kind.NAME, plain=""),
        Column("Right guesses", Kind.VALUE, plain="right"),
        Column(f"Found at {false_alarms(fpr)}", Kind.NUMBER, plain="found"),
        Column("In words", Kind.WORDS, plain=""),
    )
    rows = tuple(
        tuple(map(Cell, (case_name(each.case), *map(_case_number, (each.success, each.recall)), _case_words(each))))
        for each in cases
    )
    note = (
        f"Right: of the guesses which of the two worlds it is. Found: at {false_alarms(fpr)}. Each case is the noise "
        "that just keeps the claim. If there is more noise than the claim needs, less is told: so every number is the "
        "most."
    )
    table = Table(columns, (Group(rows),), "By what is known of the noise")
    chart = Figures((Figure(partial(claim_roc, about)),))
    return Section("By what is known of the noise", (table, chart, Paragraph(said(note), Tone.NOTE)))


def claim_roc(about: Overview) -> charts.Chart:
    """The ROC curves of the cases over each other."""
    names = [case_name(each.case) for each in about.cases if each.case.experiment is not None]
    return charts.cases_roc(names, about.case_curves, about.arguments["fpr"])


def _case_number(value: float | None) -> str:
    return "none" if value is None else number(value)


def _sensitivities(shown: str) -> str:
    return f"{shown} {'sensitivity' if shown == '1' else 'sensitivities'}"


def _case_words(each: CaseReadings) -> str:
    e = each.case.experiment
    if e is None:
        return f"{each.case.why[:1].upper()}{each.case.why[1:]}."
    p = e.parameters
    match each.case.noise:
        case NoiseFamily.ANY:
            return "The riskiest release for which the claim is true."
        case NoiseFamily.LAPLACE:
            return f"One answer, at a scale of {_sensitivities(ceil_digits(p['scale']))}."
        case NoiseFamily.GAUSSIAN:
            return f"A standard deviation of {_sensitivities(ceil_digits(p['sigma']))}, ψ = {floor_digits(p['psi'])}."
        case NoiseFamily.TRAINING:
            more = " Give your own n, batch and epochs." if each.case.example else ""
            return f"{mechanism(e)}{more}"


SCHEMA = 1
_GUESSED = ("success", "posterior", "posterior_reversed")


@dataclass(frozen=True)
class Explanation(Overviewed, Presented):
    """What an experiment means for a person, ready to be shown.

    ``lead`` is the sentence with its emphasis, ``headline`` an instruction (empty unless something was chosen),
    ``mechanism`` one line on how it works, ``rows`` the table, ``command`` what reproduces it (empty if nothing does),
    ``warning`` what a limit does not see (empty if it sees enough).
    """

    overview: Overview
    lead: Said
    mechanism: str
    rows: tuple[Row, ...]
    command: str
    headline: str = ""
    warning: Said = ()

    @property
    def experiment(self) -> Experiment:
        """What is explained."""
        return self.overview.experiment

    @property
    def arguments(self) -> Mapping[str, float]:
        """What the readings were taken at."""
        return self.overview.arguments

    @property
    def cases(self) -> tuple[CaseReadings, ...]:
        """What a claim means by the kind of noise."""
        return self.overview.cases

    @property
    def choice(self) -> Choice | None:
        """What was chosen, if something was."""
        return self.overview.choice

    @property
    def sentence(self) -> str:
        """The headline, the lead and the warning as one plain text."""
        told = " ".join(flat(paragraph) for paragraph in (self.lead, self.ranged, self.warning) if paragraph)
        return f"{self.headline}: {told}" if self.headline else told

    @property
    def ranged(self) -> Said:
        """The range of a claim by what the noise may be; nothing where the noise is known."""
        return ranged(self.cases, self.row("success").baseline) if self.cases else ()

    @property
    def document(self) -> Document:
        """The document: sentence, picture, curves, table, and how it was computed."""
        e = self.experiment
        how = (Paragraph(said(self.mechanism), Tone.HOW),) if self.mechanism else ()
        worlds = f"The two worlds compared: {e.h0}; {e.h1}. epsilens {__version__}."
        command = (Code(self.command),) if self.command else ()
        if self.overview.certifiable and (certify := _certify(e)):
            command = (*command, Paragraph(said(CHECKED), forms=Forms.PAGE), Code(certify, forms=Forms.PAGE))
        return Document(
            title(e),
            "What to set" if self.headline else "What one release tells",
            (told(self), *how, pictures(self)),
            (
                *by_noise_section(self),
                _curves(self),
                reading_table(self),
                Section(
                    "How to reproduce",
                    (*command, Paragraph(said(worlds), Tone.NOTE, Forms.PAGE)),
                    silent=True,
                    forms=Forms.KEPT,
                ),
            ),
            headline=self.headline,
            facts=tuple(Fact(_title(key), _shown(key, value)) for key, value in e.parameters.items()),
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader should know besides: the experiment's notes, the choice's, and how exact the numbers are."""
        notes = [*self.experiment.notes, *([self.choice.note] if self.choice and self.choice.note else [])]
        if self.experiment.direction == "exact":
            exact = "All values are exact to the digits shown."
        else:
            exact = "Values are upper bounds on the risk: what is not exact is rounded against the defender."
        if self.overview.apart is not None:
            low, high = (100 * right for right in self.overview.apart)
            exact += (
                f" How risky it is is not known exactly: a known attack guesses correctly {floor_digits(low)} times "
                f"of 100, and none more than {ceil_digits(high)}."
            )
        if not self.overview.reached:
            exact += " Some brackets are wider than was asked for, which costs accuracy but not safety."
        return (*(f"{note[:1].upper()}{note[1:]}." for note in notes), exact)

    def row(self, key: str) -> Row:
        """The row of a reading."""
        return next(r for r in self.rows if r.key == key)

    def with_command(self, command: str) -> Explanation:
        """The same, reproduced by another command."""
        return replace(self, command=command)

    def to_dict(self) -> dict[str, Any]:
        """The JSON payload. JSON has no infinity: such a reading is null and its name stands under ``unbounded``."""
        payload: dict[str, object] = {
            "schema": SCHEMA,
            "sentence": self.sentence,
            "experiment": finite(self.experiment.to_dict()),
            "arguments": dict(self.arguments),
            "readings": {r.key: finite(r.value) for r in self.rows},
            "baselines": {r.key: finite(r.baseline) for r in self.rows},
            "unbounded": [r.key for r in self.rows if math.isinf(r.value)],
            "command": self.command,
        }
        if self.cases:
            payload["cases"] = {str(each.case.noise): _case_data(each) for each in self.cases}
        if self.choice is not None:
            payload["choice"] = finite(self.choice.to_dict())
        return payload


def explain(experiment: Experiment, **arguments: float) -> Explanation:
    """Every reading of an experiment, in words.

    ``epsilon_for_delta`` is the ε whose δ is shown: half the guarantee unless given, or 1 where there is none.
    ``delta`` is the δ at which ε is shown: that of a claim unless given, or 0.00001 where there is none.

    >>> import epsilens as el
    >>> print(explain(el.laplace(epsilon=1.0)))
    An adversary who knows every other record guesses correctly 70 times of 100
    whether the worst-placed person is in the data. Without the release they would
    be right 50 times of 100.
    ...
    """
    return explanation(experiment.overview(**arguments))


def chosen(choice: Choice) -> Explanation:
    """A choice in words: what to set, what that achieves, and every reading at the chosen value.

    >>> import epsilens as el
    >>> print(chosen(el.choose(el.laplace, "epsilon", at_most=0.55)))
    Use ε = 0.2107 or less: an adversary who knows every other record then guesses
    correctly at most 55 times of 100 whether the worst-placed person is in the
    data. Without the release it would be 50 of 100. Your limit is 55 of 100.
    ...
    """
    return explanation(choice.overview())


def explanation(about: Overview) -> Explanation:
    """What was read of an experiment, or at a chosen value, in words."""
    e, choice = about.experiment, about.choice
    asked = question(e)
    table = rows(about, asked)
    how, command = _how(about, table), _reproduce(e, about.arguments)
    if choice is not None:
        then = consequence(about, choice, asked)
        return Explanation(about, then, how, table, command, instruction(choice), unseen(about, choice))
    success, belief, opposite = (about.readings[k] for k in _GUESSED)
    right = math.nextafter(1, 0) if success.nearly else success.value
    before = belief.baseline, belief.value
    told = lead(asked, right, success.baseline, before, 1 - opposite.value, bound=about.bounded)
    return Explanation(about, told, how, table, command)


def _how(about: Overview, table: tuple[Row, ...]) -> str:
    """One line on how it works: with the ε of a training, or with who claims what."""
    e = about.experiment
    if isinstance(e, Claim) and e.deployment is not None:
        return f"{e.deployment.title} claims {e.deployment.claimed} ({e.deployment.variant})."
    told = mechanism(e, about.within)
    loss = about.readings["epsilon_at_delta"].value
    if e.origin != "dpsgd" or not math.isfinite(loss):
        return told
    return f"{told} Its privacy loss is at most ε = {ceil_digits(loss)} at δ = {small(about.arguments['delta'])}."


def frame(about: Overview) -> pd.DataFrame:
    """Every reading with its baseline and its words, a row each."""
    names = ("name", "symbol", "value", "baseline", "words")
    return table_of(
        [{"reading": row.key, **{name: getattr(row, name) for name in names}} for row in explanation(about).rows],
        "reading",
    )


def command_line(command: str, mechanism: str, options: Mapping[str, object]) -> str:
    """The command that says the same, quoted for a shell.

    >>> command_line("explain", "laplace", {"epsilon": 1.0, "neighbours": "replace"})
    'epsilens explain laplace --epsilon 1 --neighbours replace'
    """
    words = ["epsilens", command, *([mechanism.replace("_", "-")] if mechanism else [])]
    for name, value in options.items():
        if value is True:
            words.append(option_flag(name))
        else:
            shown = repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
            words += [option_flag(name), shown]
    return shlex.join(words)


def _reproduce(e: Experiment, given: Mapping[str, float]) -> str:
    """The explain command for an experiment that one can be written for."""
    options = MECHANISMS[e.origin].reproduced(e.parameters) if e.origin in MECHANISMS else None
    name = e.origin
    if isinstance(e, Claim):
        name, options = _claimed(e)
    if options is None:
        return ""
    asked = [p for p in PARAMETERS.values() if p.panel in (Panel.ADVERSARY, Panel.READING) and p.usual is not None]
    options |= {p.name: given[p.name] for p in asked if p.name in given and given[p.name] != p.usual}
    return command_line("explain", name, options)


def _certify(e: Experiment) -> str:
    """The command that writes a certificate; empty of what no command can be written for."""
    options = MECHANISMS[e.origin].reproduced(e.parameters) if e.origin in MECHANISMS else None
    return "" if options is None else command_line("certify", e.origin, {**options, "output": "certificate.json"})


def _claimed(claim: Claim) -> tuple[str, dict[str, object] | None]:
    """A claim as the command takes it: by the name of a deployment, or by its numbers."""
    if claim.deployment is not None:
        return claim.deployment.name, dict(claim.training)
    said = {"orders" if name == "order" else name: value for name, value in claim.claimed.items()}
    options = {
        name: ",".join(f"{v:g}" for v in value) if isinstance(value, list) else value for name, value in said.items()
    }
    unusual = {"neighbours": claim.parameters["neighbours"]} if claim.worlds != MEMBERSHIP else {}
    return "", {**options, **claim.training, **unusual}


def of_experiment(result: Experiment | Overview) -> Document:
    """What is read of an experiment; many at once are only listed. Of an adversary's, what they know too."""
    if isinstance(result, Overview):
        made = explanation(result).document
        if result.knowledge is None:
            return made
        source = Section("What the adversary knows", (Paragraph(said(knowledge(result.knowledge))),), silent=True)
        return replace(made, sections=(*made.sections, source))
    return Document(title(result), "Many experiments", (Code(repr(result), command=False, forms=Forms.ALL),))


def told(about: Explanation) -> Lead:
    """The sentence, which continues the headline where there is one, and a claim's range and the warning beneath it."""
    more = tuple(paragraph for paragraph in (about.ranged, about.warning) if paragraph)
    return Lead((about.lead, *more), continues=bool(about.headline))


def by_noise_section(about: Explanation) -> tuple[Section, ...]:
    """What a claim means by what is known of the noise, with the curves over each other; nothing where it is known."""
    if not isinstance(about.experiment, Claim):
        return ()
    return (by_noise(about.overview),)


def _title(key: str) -> str:
    """A parameter's name in a report."""
    known = PARAMETERS.get(key)
    return known.title if known and known.title else key.replace("_", " ").capitalize()


def _shown(key: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return str(value)
    return ceil_digits(value, 6) if falls(key) else floor_digits(value, 6)


def pictures(about: Explanation) -> Icons:
    """100 guesses before and after the release, all about one person."""
    row, asked = about.row("success"), question(about.experiment)
    right = 0.9999999 if row.nearly else row.value
    with_it, without = frequencies(right, given=[row.baseline])
    limit = about.choice.limit if about.choice and about.choice.reading_name == "success" else None
    prior = about.arguments["prior"]
    share = "half of them" if prior == 0.5 else frequency(prior)
    note = f"Each figure is one of 100 guesses{asked.about}; in {share} {asked.holds}."
    if icons.filled(row.value, row.baseline) == icons.filled(row.baseline):
        added = distinguishable(right, row.baseline)
        note += " The release adds fewer than 1 of 100." if added else " The release changes no guess."
    before = (Span("Without the release: "), Span(without, "number"), Span(" right"))
    after = (Span("With it: "), Span(with_it, "risk"), Span(" right"))
    return Icons(
        (IconArray(before, row.baseline, key="before"), IconArray(after, row.baseline, right, limit, key="after")), note
    )


def _curves(about: Explanation) -> Section:
    both = [partial(_curve, about.overview, name) for name in ("roc", "precision_recall")]
    note = (
        "The adversary can find more by raising more false alarms, over 100 "
        f"guesses{question(about.experiment).about}. "
        f"Filled dot: the best guess. Hollow dot: at {false_alarms(about.arguments['fpr'])}."
    )
    return Section(
        "How the guess can be tuned",
        (Figures((Figure(both[0]), Figure(both[1], forms=Forms.PAGE))), Paragraph(said(note), Tone.NOTE)),
        silent=True,
        forms=Forms.PICTURED,
    )


def _curve(about: Overview, name: str) -> charts.Chart:
    return charts.marked(about.curves[name])


def reading_table(about: Explanation) -> Section:
    """Every reading with its baseline and its words, then what a reader should know besides."""
    columns = (
        Column("Reading", Kind.NAME, plain=""),
        Column("Symbol", Kind.SYMBOL),
        Column("Value", Kind.VALUE, plain="value"),
        Column("Without", Kind.QUIET, plain="without"),
        Column("In words", Kind.WORDS, plain=""),
    )
    shown = groupby((r for r in about.rows if r.shown), key=lambda r: r.group)
    groups = tuple(Group(tuple(_cells(r) for r in members), name) for name, members in shown)
    return Section("Every reading", (Table(columns, groups, "Every reading"), Notes(about.remarks)), silent=True)


def _cells(r: Row) -> tuple[Cell, ...]:
    """Running text has no column for symbols: the name takes one that it does not already tell."""
    named = f"{r.name} {r.symbol}" if r.symbol and r.symbol[0] in ("ε", "δ", "ψ", "F") else r.name
    return (
        Cell(r.name, plain=named),
        Cell(r.symbol),
        Cell(r.text),
        Cell(r.baseline_text, alone=r.key == "fbeta"),  # the other rows' words repeat it
        Cell(r.words),
    )
