"""Explain an experiment, or a choice: the sentence, the pictures, every reading, and how to get them again."""

from __future__ import annotations

import inspect
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__, checks
from ..catalogue.mechanisms import MECHANISMS
from ..catalogue.parameters import PARAMETERS, Panel, option_flag
from ..errors import InputError, MissingExtra
from ..mechanisms.claims import Claim, ClaimCase, NoiseFamily
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
from ..readings.law import Exactness
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

if TYPE_CHECKING:
    import pandas as pd

    from ..attacks.knowledge import Informed
    from ..calibration.choose import Choice
    from ..experiment import Experiment


# What a claim means by what is known of the noise: a sentence, a table and the curves over each other.


@dataclass(frozen=True, slots=True)
class Judged:
    """One case of a claim and its numbers; None where there is no such noise."""

    case: ClaimCase
    success: float | None = None
    recall: float | None = None

    @property
    def experiment(self) -> Experiment | None:
        """The noise that just keeps the claim."""
        return self.case.experiment

    @property
    def key(self) -> str:
        """Its name in JSON."""
        return str(self.case.noise)

    @property
    def name(self) -> str:
        """What is known, in a table or beside a curve."""
        return _NAMES[self.case.noise] if not self.case.example else "A training, for example"

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        e = self.experiment
        shown = {"success": self.success, "recall": self.recall, "why": self.case.why, "example": self.case.example}
        return {**shown, "experiment": None if e is None else finite(e.to_dict())}


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


def judged(claim: Claim, prior: float, fpr: float) -> tuple[Judged, ...]:
    """Every case with its numbers."""
    return tuple(
        Judged(case)
        if case.experiment is None
        else Judged(case, float(case.experiment.success(prior)), float(case.experiment.recall(fpr)))
        for case in claim.cases
    )


def ranged(cases: tuple[Judged, ...], baseline: float) -> Said:
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


def _named(before: list[tuple[Judged, float]]) -> bool:
    return any(each.case.noise is NoiseFamily.LAPLACE for each, _ in before)


def by_noise(cases: tuple[Judged, ...], fpr: float) -> Section:
    """The table of cases, and their ROC curves over each other."""
    columns = (
        Column("What is known", Kind.NAME, plain=""),
        Column("Right guesses", Kind.VALUE, plain="right"),
        Column(f"Found at {false_alarms(fpr)}", Kind.NUMBER, plain="found"),
        Column("In words", Kind.WORDS, plain=""),
    )
    rows = tuple(
        (Cell(each.name), Cell(_case_number(each.success)), Cell(_case_number(each.recall)), Cell(_case_words(each)))
        for each in cases
    )
    note = (
        f"Right: of the guesses which of the two worlds it is. Found: at {false_alarms(fpr)}. Each case is the noise "
        "that just keeps the claim. If there is more noise than the claim needs, less is told: so every number is the "
        "most."
    )
    table = Table(columns, (Group(rows),), "By what is known of the noise")
    chart = Figures((Figure(partial(claim_roc, cases, fpr)),))
    return Section("By what is known of the noise", (table, chart, Paragraph(said(note), Tone.NOTE)))


def claim_roc(cases: tuple[Judged, ...], fpr: float) -> charts.Chart:
    """The ROC curves of the cases over each other."""
    return charts.cases_roc([(each.name, each.experiment) for each in cases if each.experiment is not None], fpr)


def _case_number(value: float | None) -> str:
    return "none" if value is None else number(value)


def _sensitivities(shown: str) -> str:
    return f"{shown} {'sensitivity' if shown == '1' else 'sensitivities'}"


def _case_words(each: Judged) -> str:
    e = each.experiment
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


#: The width asked for where a narrower one is not reached.
_ROUGH = 0.05
_SAME = 1e-6  # relative: ends that a reader cannot tell apart

SCHEMA = 1
_GUESSED = ("success", "posterior", "posterior_reversed")


@dataclass(frozen=True)
class Explanation(Presented):
    """What an experiment means for a person, ready to be shown.

    ``lead`` is the sentence with its emphasis, ``headline`` an instruction (empty unless something was chosen),
    ``mechanism`` one line on how it works, ``rows`` the table, ``command`` what reproduces it (empty if nothing does),
    ``warning`` what a limit does not see (empty if it sees enough), ``cases`` what a claim means by the kind of noise.
    """

    experiment: Experiment
    arguments: Mapping[str, float]
    lead: Said
    mechanism: str
    rows: tuple[Row, ...]
    command: str
    headline: str = ""
    choice: Choice | None = None
    warning: Said = ()
    cases: tuple[Judged, ...] = ()

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
        exact += self._apart
        if not self.experiment.law.reached:
            exact += " Some brackets are wider than was asked for, which costs accuracy but not safety."
        return (*(f"{note[:1].upper()}{note[1:]}." for note in notes), exact)

    @property
    def _apart(self) -> str:
        """How far a bound is from what is known to be reached; nothing where that is as near as was asked for."""
        law = self.experiment.law
        if law.known is not Exactness.BOUND or law.attained is None:
            return ""
        low, high = (float(end) for end in self.experiment.bracket("success", prior=self.arguments["prior"]))
        if high - low <= max(law.width, _SAME) * high:
            return ""
        return (
            f" How risky it is is not known exactly: a known attack guesses correctly {floor_digits(100 * low)} times "
            f"of 100, and none more than {ceil_digits(100 * high)}."
        )

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
            payload["cases"] = {each.key: each.to_dict() for each in self.cases}
        if self.choice is not None:
            payload["choice"] = finite(self.choice.to_dict())
        return payload


def explain(
    experiment: Experiment,
    prior: float = 0.5,
    fpr: float = 0.1,
    beta: float = 1.0,
    epsilon_for_delta: float | None = None,
    delta: float | None = None,
    baseline: float = 0.01,
    level: float = 1e-6,
) -> Explanation:
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
    if experiment.many:
        raise InputError("this experiment holds arrays: give single numbers, or read the values it returns")
    if delta is None:
        delta = _claimed_delta(experiment) or _USUAL["delta"]
    given = {
        "prior": float(checks.probability("prior", checks.scalar("prior", prior))),
        "fpr": float(checks.probability("fpr", checks.scalar("fpr", fpr))),
        "beta": float(checks.in_range("beta", checks.scalar("beta", beta), 1e-6, 1e6)),
        "baseline": float(checks.probability("baseline", checks.scalar("baseline", baseline))),
        "delta": float(checks.probability("delta", checks.scalar("delta", delta))),
        "level": float(checks.in_range("level", checks.scalar("level", level), 0.0, 0.5)),
    }
    if epsilon_for_delta is None:
        most = float(experiment.epsilon())
        given["epsilon_for_delta"] = float(f"{most / 2:.2g}") if math.isfinite(most) and most > 0 else 1.0
    else:
        shown = checks.scalar("epsilon_for_delta", epsilon_for_delta)
        given["epsilon_for_delta"] = float(checks.at_least("epsilon_for_delta", shown, 0.0))
    asked = question(experiment)
    table = rows(_in_time(experiment, given["prior"]), asked, given)
    success, belief, opposite = (next(r for r in table if r.key == k) for k in _GUESSED)
    right = math.nextafter(1, 0) if success.nearly else success.value
    first = lead(experiment, right, success.baseline, (belief.baseline, belief.value), 1 - opposite.value)
    cases = judged(experiment, given["prior"], given["fpr"]) if isinstance(experiment, Claim) else ()
    command = _reproduce(experiment, given)
    return Explanation(experiment, given, first, _how(experiment, table, given), table, command, cases=cases)


def _how(experiment: Experiment, table: tuple[Row, ...], given: Mapping[str, float]) -> str:
    """One line on how it works: with the ε of a training, or with who claims what."""
    if isinstance(experiment, Claim) and experiment.deployment is not None:
        known = experiment.deployment
        return f"{known.title} claims {known.claimed} ({known.variant})."
    told = mechanism(experiment)
    loss = next((r.value for r in table if r.key == "epsilon_at_delta"), math.inf)
    if experiment.origin != "dpsgd" or not math.isfinite(loss):
        return told
    return f"{told} Its privacy loss is at most ε = {ceil_digits(loss)} at δ = {small(given['delta'])}."


def _in_time(experiment: Experiment, prior: float) -> Experiment:
    """The experiment; where it does not reach the width asked for, with a wider one: the rest would cost minutes."""
    experiment.success(prior)
    law = experiment.law
    return experiment if law.reached else replace(experiment, law=law.with_width(max(_ROUGH, law.width)))


def chosen(choice: Choice) -> Explanation:
    """A choice in words: what to set, what that achieves, and every reading at the chosen value.

    >>> import epsilens as el
    >>> print(chosen(el.choose(el.laplace, "epsilon", at_most=0.55)))
    Use ε = 0.2107 or less: an adversary who knows every other record then guesses
    correctly at most 55 times of 100 whether the worst-placed person is in the
    data. Without the release it would be 50 of 100. Your limit is 55 of 100.
    ...
    """
    args = choice.arguments
    taken = {k: v for k, v in args.items() if k in ("prior", "fpr", "beta", "baseline", "level")}
    if choice.reading_name == "delta":
        taken["epsilon_for_delta"] = args["epsilon"]
    if choice.reading_name == "epsilon" and args["delta"] > 0:
        taken["delta"] = args["delta"]
    about = explain(choice.experiment, **taken)
    then = consequence(choice, question(choice.experiment))
    return replace(about, lead=then, headline=instruction(choice), choice=choice, warning=unseen(choice))


def frame(experiment: Experiment, **arguments: float) -> pd.DataFrame:
    """Every reading with its baseline and its words, a row each; pandas is imported here."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("pandas", extra="notebook", purpose="a frame") from None
    taken = [name for name in inspect.signature(explain).parameters if name != "experiment"]
    for name in arguments:
        if name not in taken:
            raise InputError(f"a frame takes no {name!r}: give one of {', '.join(taken)}", parameter=name)
    if experiment.many:
        return pd.DataFrame(_each(experiment, {**_USUAL, **arguments}))
    table = explain(experiment, **arguments).rows
    columns = {name: [getattr(row, name) for row in table] for name in ("name", "symbol", "value", "baseline", "words")}
    return pd.DataFrame(columns, index=pd.Index([row.key for row in table], name="reading"))


#: The arguments of readings in a frame of many experiments.
_USUAL = {
    "prior": 0.5, "fpr": 0.1, "beta": 1.0, "epsilon_for_delta": 1.0, "delta": 1e-5, "baseline": 0.01, "level": 1e-6,
}  # fmt: skip


def _claimed_delta(e: Experiment) -> float:
    """The δ that stands in a claim; 0 where none does."""
    told = e.claimed.get("delta") if isinstance(e, Claim) else None
    return float(told) if isinstance(told, int | float) else 0.0


def _each(e: Experiment, given: Mapping[str, float]) -> dict[str, Any]:
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


def of_experiment(e: Experiment) -> Document:
    """An experiment at the usual prior; many at once are only listed."""
    if e.many:
        return Document(title(e), "Many experiments", (Code(repr(e), command=False, forms=Forms.ALL),))
    return explain(e).document


def of_informed(informed: Informed) -> Document:
    """An experiment as an adversary with some knowledge reads it, and where their prior comes from."""
    made = explain(informed.experiment, prior=informed.prior).document
    source = Section("What the adversary knows", (Paragraph(said(informed.knowledge.sentence)),), silent=True)
    return replace(made, sections=(*made.sections, source))


def of_choice(choice: Choice) -> Document:
    """What to set, what that achieves, and every reading at the chosen value."""
    return chosen(choice).document


def told(about: Explanation) -> Lead:
    """The sentence, which continues the headline where there is one, and a claim's range and the warning beneath it."""
    more = tuple(paragraph for paragraph in (about.ranged, about.warning) if paragraph)
    return Lead((about.lead, *more), continues=bool(about.headline))


def by_noise_section(about: Explanation) -> tuple[Section, ...]:
    """What a claim means by what is known of the noise, with the curves over each other; nothing where it is known."""
    if not isinstance(about.experiment, Claim):
        return ()
    return (by_noise(about.cases, about.arguments["fpr"]),)


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
    e, prior, fpr = about.experiment, about.arguments["prior"], about.arguments["fpr"]
    both = (partial(charts.roc, e, prior, fpr), partial(charts.precision_recall, e, prior, fpr))
    note = (
        f"The adversary can find more by raising more false alarms, over 100 guesses{question(e).about}. "
        f"Filled dot: the best guess. Hollow dot: at {false_alarms(fpr)}."
    )
    return Section(
        "How the guess can be tuned",
        (Figures((Figure(both[0]), Figure(both[1], forms=Forms.PAGE))), Paragraph(said(note), Tone.NOTE)),
        silent=True,
        forms=Forms.PICTURED,
    )


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
