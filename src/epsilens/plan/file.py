"""A release from a YAML file, from YAML text or from a mapping.

Every complaint names the line and what is allowed, and carries as its ``parameter`` the path of the entry, written as
in the sentence: ``mechanism.epsilon``, ``queries.1.bounds`` (the first query is 1), ``limits.success``. Only plain YAML
is read: no tags, no aliases (a small file can otherwise unfold into gigabytes), one document, at most a megabyte.
"""

from __future__ import annotations

import os
import re
import select
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeAlias, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from ..errors import InputError, type_phrase
from .model import PlacedError, Release

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


def dotted_path(place: Place) -> str:
    """A place as people write it, counting from 1.

    >>> dotted_path(("queries", 0, "bounds"))
    'queries.1.bounds'
    """
    return ".".join(str(p + 1) if isinstance(p, int) else p for p in place)


def parse_yaml(text: str, name: str) -> tuple[Any, dict[Place, int]]:
    """The value of a text, and the line of each of its parts; ``name`` is what errors call the text.

    >>> parse_yaml("title: A\\nqueries:\\n- count: true\\n", "release")[0]
    {'title': 'A', 'queries': [{'count': True}]}
    >>> parse_yaml("title: 2024-13-45\\n", "release")
    Traceback (most recent call last):
    epsilens.errors.InputError: line 1 of release: '2024-13-45' looks like a date and is none: put text in quotes
    """
    try:
        return _YamlReader(text, name).read()
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
class _OpenCollection:
    """A mapping or a list whose end has not come yet, and in a mapping the key whose value comes next."""

    value: dict[str, Any] | list[Any]
    place: Place
    key: str | None = None
    seen: set[str] = field(default_factory=set)


class _YamlReader:
    """One text as it is read."""

    def __init__(self, text: str, name: str) -> None:
        self._name = name
        self._loader = LOADER(text)
        self._lines: dict[Place, int] = {}
        self._open: list[_OpenCollection] = []
        self._whole: Any = None
        self._documents = 0

    def read(self) -> tuple[Any, dict[Place, int]]:
        try:
            while self._loader.check_event():
                self._take(self._loader.get_event())
        finally:
            self._loader.dispose()
        return self._whole, self._lines

    def _where(self, event: object) -> str:
        return f"line {_line(event)} of {self._name}"

    def _take(self, event: object) -> None:
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

    def _key(self, event: object, inside: _OpenCollection) -> str:
        """A key; one given twice is refused, where YAML silently lets the last one win."""
        if not isinstance(event, yaml.ScalarEvent):
            raise InputError(f"{self._where(event)} has a list or a mapping as a key: give a word")
        key = str(event.value)
        place = (*inside.place, key)
        if key in inside.seen:
            shown = key if len(key) <= _LONGEST_SHOWN else f"{key[: _LONGEST_SHOWN - 3]}..."
            raise InputError(f"{self._where(event)} gives {shown!r} again: give it once", parameter=dotted_path(place))
        inside.seen.add(key)
        self._lines[place] = _line(event)
        return key

    def _place(self, event: object, inside: _OpenCollection | None) -> None:
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
            self._open.append(_OpenCollection(value, place))

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


_NUMBERS = ("float", "int", "finite_number", "greater_than", "less_than", "decimal")
_BOUNDS = {"gt": "above {}", "ge": "of {} or more", "lt": "below {}", "le": "at most {}"}
_SIMPLE = {
    "string": "text, in quotes where YAML would read a number or a date",
    "bool": "true or false",
    "tuple": "a list, [a, b]",
    "list": "a list, [a, b]",
    "dict": "entries, name: value",
    "model": "entries, name: value",
    "mapping": "entries, name: value",
}


def expected_input(kind: str, context: Mapping[str, object], metadata: list[Any]) -> str:
    """What to give, where a value was complained of as ``kind``; empty where there is nothing to add.

    >>> expected_input("greater_than", {"gt": 0.0}, [])
    'give a number above 0'
    >>> expected_input("literal_error", {"expected": "'laplace' or 'gaussian'"}, [])
    "give 'laplace' or 'gaussian'"
    >>> expected_input("string_too_long", {"max_length": 200}, []), expected_input("dict_type", {}, [])
    ('give at most 200 characters', 'give entries, name: value')
    """
    if kind in ("literal_error", "enum"):
        words = _MEMBER.sub(lambda found: found[1], str(context.get("expected", "one of its words")))
        return f"give {words}{' or a number' if context.get('number') else ''}"
    if kind in ("string_too_long", "too_long"):
        what = "characters" if kind == "string_too_long" else "entries"
        return f"give at most {context.get('max_length')} {what}"
    if kind in ("string_too_short", "too_short"):
        return "it is empty, give one at least"
    if kind.startswith(_NUMBERS):
        noun = "a whole number" if kind.startswith("int") or context.get("whole") else "a number"
        return f"give {noun}{_range_words(context, metadata)}"
    family = kind.partition("_")[0]
    return f"give {_SIMPLE[family]}" if family in _SIMPLE else ""


#: How pydantic writes a word that is allowed.
_MEMBER = re.compile(r"<\w+\.\w+: ('[^']*')>")


def _range_words(context: Mapping[str, object], metadata: list[Any]) -> str:
    """The bounds of a number: all that the model declares, else the one that was crossed."""
    declared = {name: getattr(each, name) for each in metadata for name in _BOUNDS if hasattr(each, name)}
    known = declared or {name: context[name] for name in _BOUNDS if name in context}
    told = [_BOUNDS[name].format(f"{float(value):.12g}") for name, value in known.items()]
    return "".join(f"{' and' if i else ''} {each}" for i, each in enumerate(told))


MOST_BYTES = 1_000_000
_WAIT_SECONDS = 20.0
_LONGEST_NAME = 300


def read_release(source: str | Path | Mapping[str, object] | Release) -> Release:
    """Read a release from a file, from YAML text (anything with a line break) or from a mapping."""
    if isinstance(source, Release):
        return source
    if isinstance(source, Mapping):
        return _validate(dict(source), {}, "release")
    if not isinstance(source, str | os.PathLike):
        raise InputError(
            f"release is {type_phrase(source)}: give a YAML file, YAML text or a mapping", "release", source
        )
    text, name = (
        (source, "release") if isinstance(source, str) and "\n" in source else (_text(Path(source)), str(source))
    )
    return _validate(*_parse(text, name), name)


def _text(path: Path) -> str:
    try:
        raw = _bytes(path)
        text = raw.decode("utf-8") if len(raw) <= MOST_BYTES else None
    except (OSError, ValueError) as error:  # of a name that is none too
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else "it is no path"
        reason = (error.strerror or reason) if isinstance(error, OSError) else reason
        named = str(path) if len(str(path)) <= _LONGEST_NAME else f"{str(path)[:_LONGEST_NAME]}..."
        raise InputError(f"release is {named!r}: {reason}; give a readable YAML file", parameter="release") from None
    if text is None:
        raise InputError(
            f"release is {str(path)!r}, larger than a megabyte: give a YAML file that describes a release", "release"
        )
    return text


def _bytes(path: Path) -> bytes:
    """A byte more than is allowed at most: of a device the size is not told, and some never end.

    A pipe is read as it comes, and not waited for longer than a while: nobody may be writing to it.
    """
    if not stat.S_ISFIFO(path.stat().st_mode):
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    made, until = b"", time.monotonic() + _WAIT_SECONDS
    try:
        while len(made) <= MOST_BYTES:
            ready, _, _ = select.select([pipe], [], [], max(until - time.monotonic(), 0))
            if not ready:
                raise TimeoutError(0, f"nothing came through it in {_WAIT_SECONDS:g} seconds")
            block = os.read(pipe, MOST_BYTES + 1 - len(made))
            if not block:
                break
            made += block
        return made
    finally:
        os.close(pipe)


def _parse(text: str, name: str) -> tuple[object, Lines]:
    if len(text) > MOST_BYTES:
        raise InputError("release is larger than a megabyte: give YAML that describes a release", parameter="release")
    value, lines = parse_yaml(text, name)
    if not isinstance(value, dict):
        raise InputError(
            f"{name} is not a mapping: start with title:, data:, queries:, mechanism: and limits:", parameter="release"
        )
    return value, lines


def _validate(value: object, lines: Lines, name: str) -> Release:
    try:
        return Release.model_validate(value)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
    place, part = _entry_place(problem["loc"], Release)
    complaint = problem.get("ctx", {}).get("error")
    inside = complaint.place if isinstance(complaint, PlacedError) else ()
    said = _error_sentence(problem, place, inside, part, lines, name)
    raise InputError(said, parameter=dotted_path((*place, *inside)), value=problem.get("input"))


@contextmanager
def error_place(place: str, **others: str) -> Iterator[None]:
    """What goes wrong here is about ``place`` in the release, or where another part names its parameter, there.

    >>> with error_place("data.quasi_identifiers", max_rows="data.max_rows"):
    ...     raise InputError("max_rows is 0: give at least 1", parameter="max_rows")
    Traceback (most recent call last):
    epsilens.errors.InputError: max_rows is 0: give at least 1
    """
    try:
        yield
    except InputError as error:
        error.parameter = others.get(error.parameter, place)
        raise


def _entry_place(
    location: Sequence[str | int], kind: object, part: type[BaseModel] = Release
) -> tuple[Place, type[BaseModel]]:
    """The place that pydantic's location means for a value of type ``kind``, and the part of the release it is in.

    Where several types are allowed, a location also holds the name of the one that was tried: it stands for no entry
    of the file, and only the types tell it from one.
    """
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        part = kind
    if not location:
        return (), part
    first, *rest = location
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        field = kind.model_fields.get(str(first))
        inner, found = _entry_place(rest, None if field is None else field.annotation, part)
        return (first, *inner), found
    arguments = [a for a in get_args(kind) if a is not NoneType and a is not Ellipsis]
    if get_origin(kind) in (Union, UnionType):
        if len(arguments) == 1:  # that or nothing: no type had to be tried
            return _entry_place(location, arguments[0], part)
        tried = next((a for a in arguments if isinstance(a, type) and a.__name__ == first), None)
        within = next((a for a in arguments if get_origin(a) is tuple), None)
        return _entry_place(rest, tried if tried is not None else within, part)
    if get_origin(kind) in (dict, tuple):
        inner, found = _entry_place(rest, arguments[-1], part)
        return (first, *inner), found
    return (), part


def _error_sentence(
    problem: Mapping[str, Any], path: Place, inside: Place, part: type[BaseModel], lines: Lines, name: str
) -> str:
    place = (*path, *inside)
    while place and place not in lines:
        place = place[:-1]
    where = f"line {lines[place]} of {name}" if place in lines else name
    told = dotted_path(path) or dotted_path(inside) or "the release"
    kind, message = problem["type"], problem["msg"].removeprefix("Value error, ")
    if kind == "missing":
        return f"{where}: {told} is missing"
    if kind == "extra_forbidden":
        return f"{where}: there is no {told}; allowed here are {', '.join(part.model_fields)}"
    if kind == "value_error":
        return f"{where}: {told}: {message}"
    if kind == "too_short":
        return f"{where}: {told} is empty: give one at least, or leave it out"
    shown = "empty" if problem.get("input") is None else repr(problem.get("input"))
    field = part.model_fields.get(str(path[-1])) if path else None
    types = get_args(field.annotation) or (field.annotation,) if field is not None else ()
    context = {**problem.get("ctx", {}), "whole": int in types and float not in types, "number": float in types}
    allowed = expected_input(kind, context, [] if field is None else field.metadata)
    told = f"{told} is {shown if len(shown) < 60 else shown[:57] + '...'}"
    return f"{where}: {told}: {allowed or message[0].lower() + message[1:]}"
