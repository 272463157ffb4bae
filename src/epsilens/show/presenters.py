"""Who presents what: from a result to its document, and from the document to every form.

A result from below names its kind (``shown_as``), and the table here names the function that builds its document. A
result made up here (an explanation, a report of a command) knows its own document: see :class:`Presented`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

from ..shown import Shown
from .document import Document

__all__ = ["Presented", "data", "document", "explained", "fragment", "html", "markdown", "registry", "sentence",
           "terminal", "text", "verdict"]  # fmt: skip

#: The presenter of each kind of result: a module here, what builds the document in it, and what tells its sentence.
_PRESENTERS = {
    "experiment": ("explanation", "of_experiment", ""),
    "informed": ("explanation", "of_informed", ""),
    "choice": ("explanation", "of_choice", ""),
    "scan": ("scan", "present", "sentence"),
    "identification": ("identification", "present", "sentence"),
    "correlation": ("correlation", "present", "sentence"),
    "tampering": ("tampering", "present", ""),
    "rule": ("tampering", "of_rule", ""),
    "detection": ("detection", "of_detection", "verdict"),
    "series": ("detection", "of_series", "series_verdict"),
    "conversion": ("notions", "of_conversion", "promise_sentence"),
    "vector": ("sentenced", "of_vector", "vector"),
    "worst": ("sentenced", "of_worst", "worst"),
    "contribution": ("sentenced", "of_contribution", ""),
    "temporal": ("sentenced", "of_temporal", ""),
    "clt": ("sentenced", "of_clt", ""),
    "knowledge": ("sentenced", "of_knowledge", "knowledge"),
    "pair": ("sentenced", "of_pair", "pair"),
    "mistaken": ("sentenced", "of_mistaken", "mistaken"),
    "observed": ("sentenced", "of_observed", "observed"),
    "assessment": ("assessment.report", "present", ""),
}


class Presented(Shown):
    """A result that knows its own document."""

    __slots__ = ()

    @property
    def document(self) -> Document:
        """The document."""
        raise NotImplementedError


def document(result: Shown) -> Document:
    """The document of a result."""
    if isinstance(result, Presented):
        return result.document
    module, build, _ = _PRESENTERS[result.shown_as]
    return cast(Document, getattr(import_module(f".{module}", __package__), build)(result))


def text(result: Shown, width: int) -> str:
    """Plain text."""
    from .render.text import to_text

    return to_text(document(result), width)


def terminal(result: Shown, width: int) -> str:
    """Text with the emphasis of a terminal."""
    from .render.terminal import to_terminal

    return to_terminal(document(result), width)


def markdown(result: Shown) -> str:
    """Markdown."""
    from .render.markdown import to_markdown

    return to_markdown(document(result))


def html(result: Shown) -> str:
    """A self-contained page."""
    from .render.html import page

    return page(document(result))


def fragment(result: Shown) -> str:
    """HTML for a notebook."""
    from .render.html import fragment

    return fragment(document(result))


def sentence(result: Shown) -> str:
    """The finding in a sentence or two."""
    module, _, tell = _PRESENTERS[result.shown_as]
    return str(getattr(import_module(f".{module}", __package__), tell)(result))


def verdict(result: Shown) -> str:
    """Whether a scan keeps its limit, in words."""
    from ..data.scan.result import Scan
    from .scan import verdict

    return verdict(cast(Scan, result))


def data(result: Shown) -> dict[str, Any]:
    """The JSON of an assessment, which repeats its headline, its verdict and its sentence."""
    from ..assessment.assessment import Assessment
    from .assessment.data import as_dict

    return as_dict(cast(Assessment, result))


def explained(experiment: Shown, **arguments: Any) -> Shown:
    """Every reading of an experiment, in words."""
    from ..experiment import Experiment
    from .explanation import explain

    return explain(cast(Experiment, experiment), **arguments)


def registry(assessment: Shown) -> str:
    """A record for the public deployments registry."""
    from ..assessment.assessment import Assessment
    from .assessment.registry import to_registry

    return to_registry(cast(Assessment, assessment))
