"""What a plan would take instead, in words, from the kind of a complaint and the bounds the model declares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

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


def wanted(kind: str, context: Mapping[str, Any], metadata: list[Any]) -> str:
    """What to give, where a value was complained of as ``kind``; empty where there is nothing to add.

    >>> wanted("greater_than", {"gt": 0.0}, [])
    'give a number above 0'
    >>> wanted("literal_error", {"expected": "'laplace' or 'gaussian'"}, [])
    "give 'laplace' or 'gaussian'"
    >>> wanted("string_too_long", {"max_length": 200}, []), wanted("dict_type", {}, [])
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
        return f"give {noun}{_between(context, metadata)}"
    family = kind.partition("_")[0]
    return f"give {_SIMPLE[family]}" if family in _SIMPLE else ""


#: How pydantic writes a word that is allowed.
_MEMBER = re.compile(r"<\w+\.\w+: ('[^']*')>")


def _between(context: Mapping[str, Any], metadata: list[Any]) -> str:
    """The bounds of a number: all that the model declares, else the one that was crossed."""
    declared = {name: getattr(each, name) for each in metadata for name in _BOUNDS if hasattr(each, name)}
    known = declared or {name: context[name] for name in _BOUNDS if name in context}
    told = [_BOUNDS[name].format(f"{float(value):.12g}") for name, value in known.items()]
    return "".join(f"{' and' if i else ''} {each}" for i, each in enumerate(told))
