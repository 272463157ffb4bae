"""Plain YAML, read once: the value it says, and the line on which each part of it stands.

YAML can do far more than describe a release, and most of it is a trap: an alias lets a small file unfold into
gigabytes, a tag builds objects, a merge copies keys, a key may be a list. Only mappings, lists and plain values are
read here, at most twenty deep, in one pass over the parser's events, so that nothing is built before it is allowed.
Keys are the text they are written as: a column called ``no`` or ``2024`` keeps its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..errors import InputError, MissingExtra

try:
    import yaml
except ImportError as error:  # pragma: no cover - exercised in an environment without the extra
    raise MissingExtra(error.name or "pyyaml", extra="data", purpose="describing a release") from error


#: Where an entry stands: keys of mappings, and places in lists counted from 0.
Place: TypeAlias = tuple[str | int, ...]
Lines: TypeAlias = Mapping[Place, int]

_MOST_DEPTH = 20
_LONGEST_NUMBER = 400
_LONGEST_SHOWN = 40
#: The parser written in C is many times as fast, where PyYAML was built with it.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT_TAG = "tag:yaml.org,2002:str"
_NUMBER_TAGS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_READ_AS = {_NUMBER_TAGS[0]: "a whole number", _NUMBER_TAGS[1]: "a number", "tag:yaml.org,2002:timestamp": "a date"}


def dotted(place: Place) -> str:
    """A place as people write it, counting from 1.

    >>> dotted(("queries", 0, "bounds"))
    'queries.1.bounds'
    """
    return ".".join(str(p + 1) if isinstance(p, int) else p for p in place)


def parsed(text: str, name: str) -> tuple[Any, dict[Place, int]]:
    """The value of a text, and the line of each of its parts; ``name`` is what errors call the text.

    >>> parsed("title: A\\nqueries:\\n- count: true\\n", "release")[0]
    {'title': 'A', 'queries': [{'count': True}]}
    >>> parsed("title: 2024-13-45\\n", "release")
    Traceback (most recent call last):
    epsilens.errors.InputError: line 1 of release: '2024-13-45' looks like a date and is none: put text in quotes
    """
    try:
        return _Reading(text, name).read()
    except yaml.YAMLError as error:
        marked = error if isinstance(error, yaml.MarkedYAMLError) else yaml.MarkedYAMLError()
        where = f"line {marked.problem_mark.line + 1} of {name}" if marked.problem_mark else name
        problem = marked.problem or "it is not YAML"
        raise InputError(f"{where} cannot be read: {problem}") from None
    except UnicodeEncodeError:  # half of a pair of surrogates, which is no character
        raise InputError(f"{name} cannot be read: it is not UTF-8 text") from None


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


@dataclass
class _Open:
    """A mapping or a list whose end has not come yet, and in a mapping the key whose value comes next."""

    value: dict[str, Any] | list[Any]
    place: Place
    key: str | None = None
    seen: set[str] = field(default_factory=set)


class _Reading:
    """One text as it is read."""

    def __init__(self, text: str, name: str) -> None:
        self._name = name
        self._loader = LOADER(text)
        self._lines: dict[Place, int] = {}
        self._open: list[_Open] = []
        self._whole: Any = None
        self._documents = 0

    def read(self) -> tuple[Any, dict[Place, int]]:
        """The whole text."""
        try:
            while self._loader.check_event():
                self._take(self._loader.get_event())
        finally:
            self._loader.dispose()
        return self._whole, self._lines

    def _where(self, event: Any) -> str:
        return f"line {_line(event)} of {self._name}"

    def _take(self, event: Any) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise InputError(f"{self._where(event)} cannot be read: a second document begins; give one")
        elif isinstance(event, yaml.CollectionEndEvent):
            self._open.pop()
        elif isinstance(event, yaml.NodeEvent):
            self._check(event)
            inside = self._open[-1] if self._open else None
            if inside is not None and isinstance(inside.value, dict) and inside.key is None:
                inside.key = self._key(event, inside)
            else:
                self._place(event, inside)

    def _check(self, event: Any) -> None:
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            raise InputError(f"{self._where(event)} uses an anchor or alias: write the value out")
        if event.tag not in (None, "!"):
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")[:_LONGEST_SHOWN]
            raise InputError(
                f"{self._where(event)} cannot be read: it has the tag {tag!r}; write the value without one"
            )
        if len(self._open) >= _MOST_DEPTH and isinstance(event, yaml.CollectionStartEvent):
            raise InputError(f"{self._where(event)} is nested more than {_MOST_DEPTH} deep: a release needs three")

    def _key(self, event: Any, inside: _Open) -> str:
        """A key; one given twice is refused, where YAML silently lets the last one win."""
        if not isinstance(event, yaml.ScalarEvent):
            raise InputError(f"{self._where(event)} has a list or a mapping as a key: give a word")
        key = str(event.value)
        place = (*inside.place, key)
        if key in inside.seen:
            shown = key if len(key) <= _LONGEST_SHOWN else f"{key[: _LONGEST_SHOWN - 3]}..."
            raise InputError(f"{self._where(event)} gives {shown!r} again: give it once", parameter=dotted(place))
        inside.seen.add(key)
        self._lines[place] = _line(event)
        return key

    def _place(self, event: Any, inside: _Open | None) -> None:
        """Put a value where it belongs."""
        place: Place = ()
        if inside is not None:
            place = (*inside.place, inside.key if inside.key is not None else len(inside.value))
        self._lines.setdefault(place, _line(event))
        value = self._value(event)
        if inside is None:
            self._whole = value
        elif isinstance(inside.value, list):
            inside.value.append(value)
        else:
            inside.value[inside.key or ""] = value
            inside.key = None
        if isinstance(event, yaml.CollectionStartEvent):
            self._open.append(_Open(value, place))

    def _value(self, event: Any) -> Any:
        if isinstance(event, yaml.MappingStartEvent):
            return {}
        if isinstance(event, yaml.SequenceStartEvent):
            return []
        text = str(event.value)
        tag = self._loader.resolve(yaml.ScalarNode, text, event.implicit)
        if tag == _TEXT_TAG:
            return text
        shown = text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."
        if tag in _NUMBER_TAGS and len(text) > _LONGEST_NUMBER:
            raise InputError(f"{self._where(event)}: {shown!r} is longer than any number: put text in quotes")
        try:
            return self._loader.construct_object(yaml.ScalarNode(tag, text, event.start_mark, event.end_mark))
        except (ValueError, ArithmeticError, yaml.constructor.ConstructorError):
            kind = _READ_AS.get(tag, "a special value")
            raise InputError(
                f"{self._where(event)}: {shown!r} looks like {kind} and is none: put text in quotes"
            ) from None
