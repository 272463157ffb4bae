"""What stands in one field of the Assess form: numbers, lists and names of groups, from text and back."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..plan.asked import Label


def number(text: str) -> Any:
    """A number as it was typed; text that is none is left for the release to complain about."""
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() and abs(value) < 1e15 and "." not in text else value


def text(value: float | None) -> str:
    """A number as a field shows it."""
    return "" if value is None else f"{value:.12g}"


def chance(text: str) -> Any:
    """A chance or a share as it was typed: 55 of 100, 55% and 0.55 are the same; other text is left as it is.

    >>> chance("55 of 100"), chance("55%"), chance("0.55"), chance("55"), chance("many")
    (0.55, 0.55, 0.55, 55, 'many')
    """
    counted = re.fullmatch(r"([0-9.eE+-]+)\s*(?:%|of 100)", text.strip())
    value = number(counted[1] if counted else text)
    return round(value / 100, 14) if counted and not isinstance(value, str) else value


def of_100(value: float | None) -> str:
    """A chance as a field shows it.

    >>> of_100(0.55), of_100(0.07), of_100(None)
    ('55 of 100', '7 of 100', '')
    """
    return "" if value is None else f"{text(round(100 * value, 12))} of 100"


def percent(value: float | None) -> str:
    """A share as a field shows it.

    >>> percent(0.15), percent(None)
    ('15%', '')
    """
    return "" if value is None else f"{text(round(100 * value, 12))}%"


def columns(text: str) -> str | list[str]:
    """A column, or several as JSON: a name may hold a comma."""
    try:
        several = json.loads(text) if text.startswith("[") else text
    except ValueError:
        return text
    return several if isinstance(several, list) and all(isinstance(c, str) for c in several) else text


def listed(text: str) -> list[str]:
    """Texts separated by commas, in double quotes where they hold one.

    >>> listed('a, "b, c"')
    ['a', 'b, c']
    """
    rows = csv.reader([" ".join(text.splitlines())], skipinitialspace=True)
    return [part.strip() for part in next(rows, []) if part.strip()]


def commas(texts: Sequence[str]) -> str:
    """Texts as a field shows them.

    >>> commas(["a", "b, c"])
    'a, "b, c"'
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(texts)
    return re.sub(r',(?=(?:[^"]*"[^"]*")*[^"]*$)', ", ", out.getvalue())


def labels(text: str) -> list[Any]:
    """The names of groups; of several columns each in brackets. The table's types say later what a number is.

    >>> labels("1, two, 007, (empty)"), labels("[a, 1], [b, 2]")
    ([1, 'two', '007', None], [['a', 1], ['b', 2]])
    """
    if re.fullmatch(r"(\s*\[[^\[\]]*\]\s*,?)+", text):
        return [[_label(part) for part in listed(inside)] for inside in re.findall(r"\[([^\[\]]*)\]", text)]
    return [_label(part) for part in listed(" ".join(text.split()))]


def _label(text: str) -> Any:
    if text == "(empty)":
        return None
    value = number(text)
    return value if not isinstance(value, str) and str(value) == text else text


def written(names: Sequence[Label | tuple[Label, ...]]) -> str:
    """Names of groups as a field shows them."""

    def one(label: Label) -> str:
        return "(empty)" if label is None else str(label)

    if any(isinstance(label, tuple) for label in names):
        return ", ".join(f"[{commas([one(x) for x in label])}]" for label in names if isinstance(label, tuple))
    return commas([one(label) for label in names if not isinstance(label, tuple)])
