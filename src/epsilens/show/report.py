"""The report of a command: a document, the data behind it, and the line that reproduces both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .document import Code, Document, Forms, Paragraph, Section, said
from .presenters import Presented

__all__ = ["Report", "to_know", "with_command"]


@dataclass(frozen=True)
class Report(Presented):
    """A document and its data, ready to be shown; ``command`` reproduces it and stands in the data if there is room."""

    body: Document
    data: Mapping[str, Any]
    command: str = ""

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
