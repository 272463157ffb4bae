"""Explain an experiment, or a choice: the sentence, the pictures, every reading, and how to get them again."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..catalogue.mechanisms import MECHANISMS
from ..catalogue.parameters import PARAMETERS, Panel, option_flag
from ..mechanisms.claims import Claim, NoiseFamily
from ..numerics.formatting import (
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
from ..worlds import MEMBERSHIP
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
from .presenters import Presented, finite
from .presenters import table as table_of
from .readings import Row, rows
from .sentences import (
    consequence,
    falls,
    false_alarms,
    instruction,
    lead,
    mechanism,
    number,
    question,
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
    from ..overview import CaseReadings


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


def _case_data(each: CaseReadings) -> dict[str, Any]:
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
        payload: dict[str, Any] = {
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


def command_line(command: str, mechanism: str, options: Mapping[str, Any]) -> str:
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


def _claimed(claim: Claim) -> tuple[str, dict[str, Any] | None]:
    """A claim as the command takes it: by the name of a deployment, or by its numbers."""
    if claim.deployment is not None:
        return claim.deployment.name, dict(claim.training)
    said = {"orders" if name == "order" else name: value for name, value in claim.claimed.items()}
    options = {
        name: ",".join(f"{v:g}" for v in value) if isinstance(value, list) else value for name, value in said.items()
    }
    unusual = {"neighbours": claim.parameters["neighbours"]} if claim.worlds != MEMBERSHIP else {}
    return "", {**options, **claim.training, **unusual}


# -- the document -------------------------------------------------------------------------------------------------


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
