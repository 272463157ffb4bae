"""A result as CSV: its main table, numbers in full, for a spreadsheet or a script.

Which table that is, is said once here, by where the result's JSON holds it. A result without one is a single row.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

#: Where the main table of a result is: the first of these that is a list of records. A star goes through a list, and
#: what stands beside it there (a paper, an account) is repeated in each row.
_TABLES = (
    "rows", "risks", "promises", "tests", "sizes", "series.answers", "answers", "subsets", "pairs", "cases",
    "accounts.*.releases", "releases", "papers.*.items.*.records", "understanding.columns", "notions",
)  # fmt: skip
_BESIDE = ("people", "paper", "title")
#: A spreadsheet takes what begins so for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_csv(data: Mapping[str, Any]) -> str:
    """The main table of a result's data; every row has the same columns, empty where it has no value.

    >>> print(to_csv({"risks": [{"key": "guess", "planned": 0.62, "arguments": {"prior": 0.5}}]}), end="")
    key,planned,arguments.prior
    guess,0.62,0.5
    """
    rows = [dict(_flat(record)) for record in records(data)]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([_cell(name) for name in columns])
    writer.writerows([_cell(row.get(name)) for name in columns] for row in rows)
    return file.getvalue()


def records(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The records of the main table.

    >>> records({"readings": {"success": 0.7}, "baselines": {"success": 0.5}, "unbounded": []})
    [{'reading': 'success', 'value': 0.7, 'without': 0.5}]
    >>> records({"schema": 1, "certainty": 0.5})
    [{'certainty': 0.5}]
    """
    if isinstance(data.get("readings"), Mapping) and isinstance(data.get("experiments"), Mapping):
        return _side_by_side(data["readings"], data["experiments"])
    if isinstance(data.get("readings"), Mapping) and isinstance(data.get("baselines"), Mapping):
        endless = data.get("unbounded", ())
        choice = data.get("choice") or {}
        chosen = [{"reading": f"chosen {choice['parameter']}", "value": choice["value"]}] if choice else []
        return chosen + [
            {"reading": name, "value": "inf" if name in endless else value, "without": data["baselines"].get(name)}
            for name, value in data["readings"].items()
        ]
    for path in _TABLES:
        found = list(_along(data, path.split("."), {}))
        if found:
            return found
    return [{name: value for name, value in data.items() if name not in ("schema", "command")}]


def _side_by_side(readings: Mapping[str, Any], experiments: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Each reading of a comparison, a column for each experiment."""
    return [
        {
            "reading": reading,
            **{name: "inf" if reading in experiments[name].get("unbounded", ()) else v for name, v in values.items()},
        }
        for reading, values in readings.items()
    ]


def _along(data: Any, path: Sequence[str], beside: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The records at a path, with the single values that stand beside a star."""
    if not path:
        if isinstance(data, list | tuple) and all(isinstance(each, Mapping) for each in data):
            yield from ({**beside, **each} for each in data)
        return
    first, *rest = path
    if first == "*":
        for each in data if isinstance(data, list | tuple) else ():
            if isinstance(each, Mapping):
                own = {
                    k: v
                    for k, v in each.items()
                    if isinstance(v, str | int | float) and k in ("people", "paper", "title")
                }
                yield from _along(each, rest, {**beside, **own})
    elif isinstance(data, Mapping) and first in data:
        yield from _along(data[first], rest, beside)


def _flat(record: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Values by name, those inside others with a dot; several single ones in one cell, other lists left out."""
    for name, value in record.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        elif not isinstance(value, list | tuple):
            yield f"{before}{name}", value
        elif all(not isinstance(each, Mapping | list | tuple) for each in value):
            yield f"{before}{name}", "; ".join(_cell(each) for each in value)


def _cell(value: Any) -> str:
    """A cell: numbers in full, nothing where there is none, and no text that a spreadsheet would run.

    >>> _cell(0.1), _cell(None), _cell(True), _cell("=1+1"), _cell(-2.0)
    ('0.1', '', 'true', "'=1+1", '-2.0')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value) if isinstance(value, float) else str(value)
    return f"'{value}" if value.startswith(_FORMULA) else value
