"""Why a starting plan says what it says: its comments, each by the field of the form that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from ..plan.file import dotted
from .problems import field_of

__all__ = ["reasons"]

#: A word that is offered and not set: ``  # person: id   # the column that says whose row it is``.
_OFFERED = re.compile(r"  # (\w+): .* # (.*)$")
_CHOOSE = re.compile(r"^choose(: | (?=without))")


def reasons(text: str) -> dict[str, str]:
    """The comment on each choice of a commented plan, by field; those on how columns are read by ``read NAME``.

    >>> reasons('data:\\n  table: t.csv\\n  person: id   # choose: its name says so\\n  # unit: home  # together\\n')
    {'person': 'its name says so', 'unit': 'together'}
    """
    lines = text.splitlines()
    made: dict[str, str] = {}
    ends: dict[int, int] = {}
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        if token.end_mark.column:
            ends[token.end_mark.line] = max(ends.get(token.end_mark.line, 0), token.end_mark.column)
    for place, line in _keys(yaml.compose(text, Loader=yaml.SafeLoader), ()):
        said = lines[line][ends[line] :].strip()
        if said.startswith("# "):
            read = place[:2] == ("data", "read") and len(place) == 3
            name = f"read {place[2]}" if read else field_of(dotted(place))
            made.setdefault(name, _plain(said[2:]))
    part = ""
    for words in lines:
        part = words.rstrip(":") if re.fullmatch(r"\w+:", words) else part
        offered = _OFFERED.match(words)
        if offered:
            made.setdefault(field_of(f"{part}.{offered[1]}"), _plain(offered[2]))
    made.pop("", None)
    return made


def _plain(comment: str) -> str:
    return _CHOOSE.sub("", comment)


def _keys(node: yaml.Node | None, place: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], int]]:
    """Where each key stands, and in which line."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield (*place, key.value), key.start_mark.line
            yield from _keys(value, (*place, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for i, value in enumerate(node.value):
            yield from _keys(value, (*place, i))
