"""What a claim means by what is known of the noise: a sentence, a table and the curves over each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ..mechanisms.claimed import Case, Claim, Noise
from ..numerics.formatting import ceil_digits, count, denominator, floor_digits, thousands
from . import charts
from .document import (
    Cell,
    Column,
    Figure,
    Figures,
    Group,
    Kind,
    Paragraph,
    Said,
    Section,
    Span,
    Table,
    Tone,
    said,
)
from .presenters import finite
from .sentences import false_alarms, mechanism
from .words import number

if TYPE_CHECKING:
    from ..experiment import Experiment


@dataclass(frozen=True, slots=True)
class Judged:
    """One case of a claim and its numbers; None where there is no such noise."""

    case: Case
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
    Noise.ANY: "Nothing else is known",
    Noise.LAPLACE: "Laplace noise",
    Noise.GAUSSIAN: "Gaussian noise",
    Noise.TRAINING: "This training",
}
_IF = {
    Noise.ANY: "if nothing else is known",
    Noise.LAPLACE: "if the noise is Laplace",
    Noise.GAUSSIAN: "if it is Gaussian",
    Noise.TRAINING: "for this training",
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
    return any(each.case.noise is Noise.LAPLACE for each, _ in before)


def by_noise(cases: tuple[Judged, ...], fpr: float) -> Section:
    """The table of cases, and their ROC curves over each other."""
    columns = (
        Column("What is known", Kind.NAME, plain=""),
        Column("Right guesses", Kind.VALUE, plain="right"),
        Column(f"Found at {false_alarms(fpr)}", Kind.NUMBER, plain="found"),
        Column("In words", Kind.WORDS, plain=""),
    )
    rows = tuple(
        (Cell(each.name), Cell(_shown(each.success)), Cell(_shown(each.recall)), Cell(_words(each))) for each in cases
    )
    note = (
        f"Right: of the guesses which of the two worlds it is. Found: at {false_alarms(fpr)}. Each case is the noise "
        "that just keeps the claim. If there is more noise than the claim needs, less is told: so every number is the "
        "most."
    )
    table = Table(columns, (Group(rows),), "By what is known of the noise")
    chart = Figures((Figure(partial(curves, cases, fpr)),))
    return Section("By what is known of the noise", (table, chart, Paragraph(said(note), Tone.NOTE)))


def curves(cases: tuple[Judged, ...], fpr: float) -> charts.Chart:
    """The ROC curves of the cases over each other."""
    return charts.cases_roc([(each.name, each.experiment) for each in cases if each.experiment is not None], fpr)


def _shown(value: float | None) -> str:
    return "none" if value is None else number(value)


def _sensitivities(shown: str) -> str:
    return f"{shown} {'sensitivity' if shown == '1' else 'sensitivities'}"


def _words(each: Judged) -> str:
    e = each.experiment
    if e is None:
        return f"{each.case.why[:1].upper()}{each.case.why[1:]}."
    p = e.parameters
    match each.case.noise:
        case Noise.ANY:
            return "The riskiest release for which the claim is true."
        case Noise.LAPLACE:
            return f"One answer, at a scale of {_sensitivities(ceil_digits(p['scale']))}."
        case Noise.GAUSSIAN:
            return f"A standard deviation of {_sensitivities(ceil_digits(p['sigma']))}, ψ = {floor_digits(p['psi'])}."
        case Noise.TRAINING:
            more = " Give your own n, batch and epochs." if each.case.example else ""
            return f"{mechanism(e)}{more}"
