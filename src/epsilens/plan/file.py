"""A release from a YAML file, from YAML text or from a mapping.

Every complaint names the line and what is allowed, and carries as its ``parameter`` the path of the entry, written as
in the sentence: ``mechanism.epsilon``, ``queries.1.bounds`` (the first query is 1), ``limits.success``. Only plain YAML
is read: no tags, no aliases (a small file can otherwise unfold into gigabytes), one document, at most a megabyte.
"""

from __future__ import annotations

import os
import select
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from ..errors import InputError, MissingExtra, type_phrase
from .plan import Release
from .wanted import wanted
from .words import Misplaced
from .yaml_text import Lines, Place, dotted, parsed

try:
    from pydantic import BaseModel, ValidationError
except ImportError as error:  # pragma: no cover - exercised in an environment without the extra
    raise MissingExtra(error.name or "pydantic", extra="data", purpose="describing a release") from error


MOST_BYTES = 1_000_000
_WAIT_SECONDS = 20.0
_LONGEST_NAME = 300


def read_release(source: str | Path | Mapping[str, Any] | Release) -> Release:
    """Read a release from a file, from YAML text (anything with a line break) or from a mapping."""
    if isinstance(source, Release):
        return source
    if isinstance(source, Mapping):
        return _validated(dict(source), {}, "release")
    if not isinstance(source, str | os.PathLike):
        raise InputError(
            f"release is {type_phrase(source)}: give a YAML file, YAML text or a mapping",
            parameter="release",
            value=source,
        )
    text, name = (
        (source, "release") if isinstance(source, str) and "\n" in source else (_text(Path(source)), str(source))
    )
    return _validated(*_parsed(text, name), name)


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
            f"release is {str(path)!r}, larger than a megabyte: give a YAML file that describes a release",
            parameter="release",
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


def _parsed(text: str, name: str) -> tuple[Any, Lines]:
    if len(text) > MOST_BYTES:
        raise InputError("release is larger than a megabyte: give YAML that describes a release", parameter="release")
    value, lines = parsed(text, name)
    if not isinstance(value, dict):
        raise InputError(
            f"{name} is not a mapping: start with title:, data:, queries:, mechanism: and limits:", parameter="release"
        )
    return value, lines


def _validated(value: Any, lines: Lines, name: str) -> Release:
    try:
        return Release.model_validate(value)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
    place, part = _place(problem["loc"], Release)
    complaint = problem.get("ctx", {}).get("error")
    inside = complaint.place if isinstance(complaint, Misplaced) else ()
    said = _sentence(problem, place, inside, part, lines, name)
    raise InputError(said, parameter=dotted((*place, *inside)), value=problem.get("input"))


@contextmanager
def about(place: str, **others: str) -> Iterator[None]:
    """What goes wrong here is about ``place`` in the release, or where another part names its parameter, there.

    >>> with about("data.quasi_identifiers", max_rows="data.max_rows"):
    ...     raise InputError("max_rows is 0: give at least 1", parameter="max_rows")
    Traceback (most recent call last):
    epsilens.errors.InputError: max_rows is 0: give at least 1
    """
    try:
        yield
    except InputError as error:
        error.parameter = others.get(error.parameter, place)
        raise


def _place(location: Sequence[str | int], kind: Any, part: type[BaseModel] = Release) -> tuple[Place, type[BaseModel]]:
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
        inner, found = _place(rest, None if field is None else field.annotation, part)
        return (first, *inner), found
    arguments = [a for a in get_args(kind) if a is not NoneType and a is not Ellipsis]
    if get_origin(kind) in (Union, UnionType):
        if len(arguments) == 1:  # that or nothing: no type had to be tried
            return _place(location, arguments[0], part)
        tried = next((a for a in arguments if isinstance(a, type) and a.__name__ == first), None)
        within = next((a for a in arguments if get_origin(a) is tuple), None)
        return _place(rest, tried if tried is not None else within, part)
    if get_origin(kind) in (dict, tuple):
        inner, found = _place(rest, arguments[-1], part)
        return (first, *inner), found
    return (), part


def _sentence(
    problem: Mapping[str, Any], path: Place, inside: Place, part: type[BaseModel], lines: Lines, name: str
) -> str:
    place = (*path, *inside)
    while place and place not in lines:
        place = place[:-1]
    where = f"line {lines[place]} of {name}" if place in lines else name
    told = dotted(path) or dotted(inside) or "the release"
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
    allowed = wanted(kind, context, [] if field is None else field.metadata)
    told = f"{told} is {shown if len(shown) < 60 else shown[:57] + '...'}"
    return f"{where}: {told}: {allowed or message[0].lower() + message[1:]}"
