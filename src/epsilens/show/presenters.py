"""Who presents what: from a result to its document, and from the document to every form.

A result from below names its kind (``shown_as``), and the table here names the function that builds its document. A
result made up here (an explanation, the :class:`Report` of a command) knows its own document: see :class:`Presented`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from .. import checks
from ..errors import MissingExtra
from ..overview import Overviewed
from ..results import ChartLike, Result, escape_controls
from .document import Code, Document, Forms, Paragraph, Section, said

if TYPE_CHECKING:
    from ..overview import Curves
    from .charts import Chart, Charts


#: The presenter of each kind of result: a module here, what builds the document in it, and what tells its sentence.
_PRESENTERS = {
    "experiment": ("explanation", "of_experiment", ""),
    "scan": ("scan", "present", "sentence"),
    "start": ("scan", "of_start", "start_sentence"),
    "identification": ("short_results", "of_identification", "identification_sentence"),
    "correlation": ("correlation", "present", "sentence"),
    "tampering": ("tampering", "present", ""),
    "rule": ("tampering", "of_rule", ""),
    "detection": ("tampering", "of_detection", "verdict"),
    "series": ("tampering", "of_series", "series_verdict"),
    "conversion": ("notions", "of_conversion", "promise_sentence"),
    "vector": ("short_results", "of_vector", "vector"),
    "worst": ("short_results", "of_worst", "worst"),
    "contribution": ("short_results", "of_contribution", ""),
    "temporal": ("short_results", "of_temporal", ""),
    "clt": ("short_results", "of_clt", ""),
    "knowledge": ("short_results", "of_knowledge", "knowledge"),
    "certificate": ("short_results", "of_certificate", "certificate_sentence"),
    "pair": ("short_results", "of_pair", "pair"),
    "mistaken": ("short_results", "of_mistaken", "mistaken"),
    "observed": ("short_results", "of_observed", "observed"),
    "account": ("releases", "of_account", "account_sentence"),
    "ledger": ("releases", "of_ledger", "ledger_sentence"),
    "assessment": ("assessment.report", "present", ""),
    "published": ("releases", "of_release", "release_sentence"),
    "audit": ("audit", "present", "sentence"),
    "sweep": ("comparison", "of_sweep", ""),
    "choices": ("comparison", "of_choices", ""),
    "comparison": ("comparison", "present", ""),
    "audited-cases": ("audit", "of_cases", "cases_sentence"),
    "audits": ("audit", "of_audits", "audits_sentence"),
}


#: Under every certificate.
CHECKED = "This can be checked without epsilens: python -m epsilens_checker FILE, a program of its own (checker/)."

#: The charts of each kind of result: a module here, and what draws one by its name.
_CHARTS = {
    "choice": ("charts.registry", "of_choice"),
    "choices": ("charts.registry", "of_choices"),
    "sweep": ("charts.registry", "of_sweep"),
    "assessment": ("charts.assessment", "of_assessment"),
}


class Presented(Result):
    """A result that knows its own document."""

    __slots__ = ()

    @property
    def document(self) -> Document:
        """The document."""
        raise NotImplementedError


def document(result: Result) -> Document:
    """The document of a result; what a table wrote into it commands no terminal."""
    if isinstance(result, Presented):
        made = result.document
    else:
        module, build, _ = _PRESENTERS[result.shown_as]
        made = getattr(import_module(f".{module}", __package__), build)(result)
    return cast(Document, _harmless(made))


def _harmless(part: object) -> Any:
    """A part of a document with all its text harmless; the same object where it was."""
    if isinstance(part, str):
        return part if isinstance(part, Enum) or part.isprintable() else escape_controls(part)
    if isinstance(part, tuple):
        made = [_harmless(each) for each in part]
        if all(new is old for new, old in zip(made, part, strict=True)):
            return part
        return type(part)(*made) if hasattr(part, "_fields") else tuple(made)
    if is_dataclass(part) and not isinstance(part, type):
        old = {f.name: getattr(part, f.name) for f in fields(part) if f.init}
        new = {name: _harmless(value) for name, value in old.items()}
        return part if all(new[name] is old[name] for name in old) else replace(part, **new)
    return part


def text(result: Result, width: int) -> str:
    """Plain text."""
    from .render.text import to_text

    return to_text(document(result), checks.integer("width", width, low=20))


def terminal(result: Result, width: int) -> str:
    """Text with the emphasis of a terminal."""
    from .render.text import to_terminal

    return to_terminal(document(result), checks.integer("width", width, low=20))


def markdown(result: Result) -> str:
    """Markdown."""
    from .render.text import to_markdown

    return to_markdown(document(result))


def html(result: Result) -> str:
    """A self-contained page."""
    from .render.html import page

    return page(document(result))


def pdf(result: Result) -> bytes:
    """A PDF on A4."""
    from .render.pdf import to_pdf

    return to_pdf(document(result))


def csv(data: Mapping[str, object]) -> str:
    """The main table of a result's data."""
    from .render.text import to_csv

    return to_csv(data)


def fragment(result: Result) -> str:
    """HTML for a notebook."""
    from .render.html import fragment

    return fragment(document(result))


def sentence(result: Result) -> str:
    """The finding in a sentence or two."""
    module, _, tell = _PRESENTERS[result.shown_as]
    return str(getattr(import_module(f".{module}", __package__), tell)(result))


def verdict(result: Result) -> str:
    """Whether a scan keeps its limit, in words."""
    from ..data.scan.result import Scan
    from .scan import verdict

    return verdict(cast(Scan, result))


def data(result: Result) -> dict[str, Any]:
    """The JSON of a result whose JSON repeats what is said about it: an assessment or a comparison."""
    module = "comparison" if result.shown_as == "comparison" else "assessment.report"
    made: dict[str, object] = import_module(f".{module}", __package__).as_dict(result)
    return made


def explained(experiment: Result, **arguments: Any) -> Result:
    """Every reading of an experiment, in words."""
    from ..experiment import Experiment
    from .explanation import explain

    return explain(cast(Experiment, experiment), **arguments)


def chart(result: Result, name: str, **asked: object) -> Chart:
    """A chart of a result by its name."""
    module, draw = _CHARTS[result.shown_as]
    made: Chart = getattr(import_module(f".{module}", __package__), draw)(result, name, **asked)
    return made


def curves(points: Curves) -> Chart:
    """The chart of one experiment or several."""
    from .charts.registry import of_curves

    return of_curves(points)


def charts(some: Sequence[ChartLike]) -> Charts:
    """Several charts together."""
    from .charts import Charts

    return Charts(cast("tuple[Chart, ...]", tuple(some)))


def frame(result: Result) -> Any:
    """Every reading of an experiment, or of several, a row each."""
    module = "comparison" if result.shown_as == "comparison" else "explanation"
    return import_module(f".{module}", __package__).frame(result)


def table(rows: Sequence[dict[str, Any]] | dict[str, Any], index: str = "") -> Any:
    """Rows, or columns, as a pandas DataFrame, by one of its columns where it is named; pandas is imported here."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("pandas", extra="notebook", purpose="a frame") from None
    made = pd.DataFrame(rows if isinstance(rows, dict) else list(rows))
    return made.set_index(index) if index else made


def board(assessment: Result) -> str:
    """The sheet of an assessment for those who decide, as a page of its own."""
    from .render.html import page

    return page(_sheet(assessment))


def board_pdf(assessment: Result) -> bytes:
    """The same sheet as a PDF of one page."""
    from .render.pdf import to_pdf

    return to_pdf(_sheet(assessment))


def _sheet(assessment: Result) -> Document:
    from ..assessment.assess import Assessment
    from .assessment.board import board

    return cast(Document, _harmless(board(cast(Assessment, assessment))))


def registry(assessment: Result) -> str:
    """A record for the public deployments registry."""
    from ..assessment.assess import Assessment
    from .assessment.report import to_registry

    return to_registry(cast(Assessment, assessment))


@dataclass(frozen=True)
class Report(Overviewed, Presented):
    """A document and its data, ready to be shown; ``command`` reproduces it and stands in the data if there is room."""

    body: Document
    data: Mapping[str, Any]
    command: str = ""
    overview: Result | None = None

    @property
    def document(self) -> Document:
        """The document with its command."""
        return with_command(self.body, self.command)

    @property
    def sentence(self) -> str:
        """What is said first."""
        return self.body.sentence

    def with_command(self, command: str) -> Report:
        """The same, reproduced by a command."""
        return replace(self, command=command)

    def to_dict(self) -> dict[str, Any]:
        """The JSON payload."""
        return {**self.data, **({"command": self.command} if "command" in self.data else {})}


def finite(value: object) -> Any:
    """The same structure with null for what JSON cannot hold."""
    if isinstance(value, dict):
        return {key: finite(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def to_know(remarks: Sequence[str]) -> tuple[Section, ...]:
    """What must be said besides, at the end; nothing where there is nothing to say."""
    if not remarks:
        return ()
    return (Section("What to know", tuple(Paragraph(said(r)) for r in remarks), silent=True),)


def with_command(body: Document, command: str) -> Document:
    """The document with the line that reproduces it, in its last section if that says what to know."""
    if not command:
        return body
    code = Code(command, forms=Forms.KEPT)
    *before, last = body.sections or (Section("What to know", (), silent=True),)
    if last.silent:
        return replace(body, sections=(*before, replace(last, blocks=(*last.blocks, code))))
    return replace(body, sections=(*body.sections, Section("What to know", (code,), silent=True)))
