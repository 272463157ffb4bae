"""``epsilens compare``, and ``--sweep`` of explain and choose: many settings in one answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..catalogue.mechanisms import Entry
from ..catalogue.parameter import flag
from ..catalogue.readings import READINGS
from ..catalogue.readings import find as find_reading
from ..catalogue.said import arguments_given, readings_for_choose, readings_for_explain, shortened, split_limit
from ..catalogue.settings import setting_said, values_said
from ..errors import InputError, NoSolutionError, meant
from .common import Said, show

if TYPE_CHECKING:
    from ..show.presenters import Report


#: What a sweep reads unless told, and at which δ ε is read.
_USUAL = ("success", "advantage", "posterior", "auc", "epsilon")
_DELTA = 1e-5
_CHARTS = (".svg", ".png", ".pdf", ".html")


def compare(said: Said) -> None:
    """Put settings side by side: every reading of each, and their curves over each other.

    A setting is a mechanism or a claim with its parameters. --chart writes the ROC curves as SVG, PNG, PDF or HTML.

    For example: epsilens compare laplace:epsilon=1 gaussian:psi=1
    """
    settings = [setting_said(text) for text in said["settings"]]
    readings = readings_for_explain(said)
    if len(settings) < 2:
        raise InputError(
            "there is one setting: give two or more, such as laplace:epsilon=1 gaussian:psi=1", parameter="settings"
        )
    from ..calibration.comparison import compare as compared
    from ..catalogue.mechanisms import builder

    chart = said["chart"]
    if chart is not None:
        _writable(Path(chart))
    found = compared([builder(entry)(**arguments) for entry, arguments in settings], **readings)
    if chart is not None:
        found.chart("roc").save(chart)
    show(found, said["format"], said["output"])


def _writable(path: Path) -> None:
    """Refuse a name no chart can be written to, before anything is computed."""
    if path.suffix.lower() not in _CHARTS:
        why = f"give a name that ends in {', '.join(_CHARTS[:-1])} or {_CHARTS[-1]}"
    elif os.path.isdir(path) or not os.path.isdir(path.parent):
        why = "there is no such folder, so give a file that can be written"
    else:
        return
    raise InputError(f"--chart is {shortened(str(path))}: {why}", parameter="chart")


def _series(said: Said, takes: tuple[str, ...], also: tuple[str, ...] = ()) -> dict[str, list[float]]:
    """What is varied, each by its own values."""
    made: dict[str, list[float]] = {}
    for text in said["sweep"]:
        name, values = values_said(text)
        if name not in (*takes, *also):
            raise InputError(
                f"--sweep has no {name[:40]!r}{meant(name, takes)} to vary: give one of {', '.join((*takes, *also))}",
                parameter="sweep",
            )
        if name in made or (said.get(name) is not None and name in takes):
            raise InputError(f"{flag(name)} is said twice: vary it or give it, not both", parameter="sweep")
        made[name] = values
    return made


def _fixed(entry: Entry, said: Said, series: Mapping[str, list[float]], **more: Any) -> dict[str, Any]:
    """The arguments that stay as they are, checked as if the first values of the others were given."""
    first = {name: repr(values[0]) for name, values in series.items() if name in entry.takes}
    return {k: v for k, v in arguments_given(entry, {**said, **first}, **more).items() if k not in series}


def sweep_readings(entry: Entry, named: Mapping[str, Any], said: Said) -> None:
    """Readings of a mechanism at many values of its parameters."""
    series = _series(said, entry.takes)
    fixed = {**named, **_fixed(entry, said, series)}
    asked = [name.strip().replace("-", "_") for name in (said["reading"] or ",".join(_USUAL)).split(",")]
    given = {"delta": _DELTA, **readings_for_choose(said)}
    wanted: dict[str, dict[str, float]] = {}
    for name in asked:
        reading = find_reading(name)
        known = {*reading.required, *reading.either, *reading.optional}
        wanted[reading.name] = {k: v for k, v in given.items() if k in known}
    from ..calibration.sweep import sweep
    from ..catalogue.mechanisms import builder

    told = None if sys.stderr is not None and sys.stderr.isatty() else False
    values: dict[str, Any] = dict(series)
    show(sweep(builder(entry), reading=wanted, given=fixed, progress=told, **values), said["format"], said["output"])


def sweep_choice(mechanism: Entry, wanted: str, said: Said, readings: Mapping[str, float]) -> None:
    """What is chosen at many limits, or at many values of the mechanism's other parameters."""
    reading, limit = split_limit(said["at_most"])
    series = _series(said, tuple(name for name in mechanism.takes if name != wanted), (reading,))
    if len(series) > 1:
        raise InputError("--sweep is given twice: choose along one series at a time", parameter="sweep")
    (name, values), *_ = series.items()
    limits = name == reading  # of a name that the noise has too, the limit is what --at-most speaks of
    fixed = _fixed(mechanism, said, {} if limits else series, chosen=wanted)
    from ..calibration.choice import choose
    from ..catalogue.mechanisms import builder

    rows: list[dict[str, Any]] = []
    last: NoSolutionError | None = None
    for value in values:
        given, at = (fixed, value) if limits else ({**fixed, name: value}, limit)
        row: dict[str, Any] = {f"{name} at most" if limits else name: value, wanted: None, "reached": None}
        try:
            found = choose(builder(mechanism), wanted, at_most=at, reading=reading, given=given, **readings)
            row |= {wanted: float(found.value), "reached": float(found.reading)}
        except NoSolutionError as error:
            last = error
        rows.append(row)
    if last is not None and all(row[wanted] is None for row in rows):
        raise last
    show(_choices(mechanism, wanted, reading, limits, rows), said["format"], said["output"])


def _choices(mechanism: Entry, wanted: str, reading: str, limits: bool, rows: list[dict[str, Any]]) -> Report:
    from ..show.document import Document, Lead, Notes, Section, plain_table
    from ..show.document import said as spoken
    from ..show.presenters import Report
    from ..show.words import number as shown

    label = READINGS[reading].label if reading in READINGS else reading
    each = "each limit" if limits else f"each {next(iter(rows[0]))}"
    lead = f"The riskiest {wanted} of {mechanism.spoken} that keeps {label} under the limit, for {each}."
    cells = [
        [f"{v:.6g}" if i == 0 else "none" if v is None else shown(v) for i, v in enumerate(r.values())] for r in rows
    ]
    none = any(row[wanted] is None for row in rows)
    notes = ("none: no value keeps the limit, even pure noise exceeds it.",) if none else ()
    table = plain_table([*list(rows[0])[:2], reading], cells, "Values")
    body = Document(
        f"{mechanism.spoken}: {wanted}",
        "Choices",
        (Lead((spoken(lead),)),),
        (Section("Values", (table, Notes(notes))),),
    )
    return Report(body, {"schema": 1, "sentence": lead, "mechanism": mechanism.key, "rows": rows})
