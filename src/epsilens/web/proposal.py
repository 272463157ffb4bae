"""Why a starting plan says what it says: its comments, each by the field of the form that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from ..plan.yaml_text import LOADER, dotted, parsed
from .picker import condition_of
from .problems import field_of

#: A word that is offered and not set: ``  # person: id   # the column that says whose row it is``.
_OFFERED = re.compile(r"  # (\w+): (.*?)\s+# (.*)$")
_CHOOSE = re.compile(r"^choose(: | (?=without))")
#: The parts of a plan that are proposed for what the table is.
_OF_TABLE = ("data", "queries")


@dataclass(frozen=True)
class Reason:
    """What a comment says; ``offered`` is the value of a word that is not set."""

    said: str
    offered: str = ""


def reasons(text: str) -> dict[str, Reason]:
    """The comment on each choice of a commented plan, by field; on columns by ``read NAME`` and ``quasi NAME``.

    >>> made = reasons('data:\\n  person: id   # choose: its name says so\\n  # unit: home  # together\\n')
    >>> made["person"], made["unit"]
    (Reason(said='its name says so', offered=''), Reason(said='together', offered='home'))
    """
    lines = text.splitlines()
    made: dict[str, Reason] = {}
    ends: dict[int, int] = {}
    for token in yaml.scan(text, Loader=LOADER):
        if token.end_mark.column:
            ends[token.end_mark.line] = max(ends.get(token.end_mark.line, 0), token.end_mark.column)
    for place, line in _keys(yaml.compose(text, Loader=LOADER), ()):
        said = lines[line][ends[line] :].strip()
        if said.startswith("# ") and place[0] in _OF_TABLE:
            made.setdefault(_name(place), Reason(_CHOOSE.sub("", said[2:])))
    part = ""
    for words in lines:
        part = words.rstrip(":") if re.fullmatch(r"\w+:", words) else part
        offered = _OFFERED.match(words)
        if offered and part in _OF_TABLE:
            name, value = field_of(f"{part}.{offered[1]}"), str(parsed(offered[2], "the plan")[0])
            made.setdefault(name, Reason(_CHOOSE.sub("", offered[3]), _columns(value) if name == "secret" else value))
    made.pop("", None)
    return made


def _name(place: tuple[str | int, ...]) -> str:
    """The field of a place; of a column to read or to know, the word and the column."""
    words = {"read": "read", "quasi_identifiers": "quasi"}
    if place[0] == "data" and len(place) == 3 and place[1] in words:
        return f"{words[str(place[1])]} {place[2]}"
    return field_of(dotted(place))


def _columns(condition: str) -> str:
    """The column of a condition of one row."""
    found = condition_of(condition)
    return found.terms[0].column if found is not None and len(found.terms) == 1 else ""


def _keys(node: yaml.Node | None, place: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], int]]:
    """Where each key stands, and in which line."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield (*place, key.value), key.start_mark.line
            yield from _keys(value, (*place, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for i, value in enumerate(node.value):
            if isinstance(value, yaml.ScalarNode):
                yield (*place, value.value), value.start_mark.line
            yield from _keys(value, (*place, i))
