"""Several experiments side by side, a sweep and many choices: as documents and as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ..catalogue.parameters import PARAMETERS
from ..catalogue.readings import find_reading
from ..errors import InputError
from ..numerics.formatting import frequencies, times
from ..results import join_words
from .charts.registry import of_choices as choices_chart
from .charts.registry import of_curves
from .charts.registry import of_sweep as sweep_chart
from .document import Document, Figure, Figures, Lead, Notes, Section, Span, plain_table, said
from .explanation import explanation
from .presenters import finite, table
from .sentences import at_most, guessed, number, question

if TYPE_CHECKING:
    from ..calibration.choose import Choices
    from ..calibration.sweep import ComparisonOverview, Sweep
    from .charts import Chart
    from .explanation import Explanation


#: Rows that a document shows of a long table.
_MOST_ROWS = 40
#: Letters that fit at the end of a line of the narrower chart.
_LABEL = 14


def frame(found: ComparisonOverview) -> Any:
    """Every reading, a row each: a column for each experiment, and what no release reads."""
    each = [explanation(one) for one in found.each]
    rows = [
        {
            "reading": row.key,
            **{name: about.row(row.key).value for name, about in zip(found.names, each, strict=True)},
            "without the release": row.baseline,
        }
        for row in each[0].rows
    ]
    return table(rows, "reading")


def as_dict(found: ComparisonOverview) -> dict[str, Any]:
    """The JSON payload."""
    each = [explanation(one) for one in found.each]
    return {
        "schema": 1,
        "sentence": present(found).sentence,
        "arguments": dict(each[0].arguments),
        "experiments": {name: about.to_dict() for name, about in zip(found.names, each, strict=True)},
        "readings": {
            row.key: {name: finite(about.row(row.key).value) for name, about in zip(found.names, each, strict=True)}
            for row in each[0].rows
        },
    }


def _letters(many: int) -> list[str]:
    """What stands for each of them in a table.

    >>> _letters(3), _letters(28)[-2:]
    (['A', 'B', 'C'], ['A2', 'B2'])
    """
    return [chr(ord("A") + i % 26) + (f"{i // 26 + 1}" if i >= 26 else "") for i in range(many)]


def present(found: ComparisonOverview) -> Document:
    """How often the best guess is right against each, their ROC curves, and every reading of each."""
    each = [explanation(one) for one in found.each]
    asked, letters = question(found.each[0].experiment), _letters(len(each))
    base = each[0].row("success").baseline
    told: list[Span] = [Span(f"{asked.who} guesses correctly ")]
    values = [about.row("success").value for about in each]
    *together, without = times(*values, given=[base], per="of")  # out of one denominator that tells them apart
    for i, (letter, name, about) in enumerate(zip(letters, found.names, each, strict=True)):
        between = "" if i == 0 else " and " if i == len(each) - 1 else ", "
        above, right = about.overview.bounded, together[i]
        most = at_most(right, bound=above)
        if above and not most:
            most, right, _ = guessed(values[i], base, bound=True)
        told += [Span(f"{between}{most}"), Span(right, "risk"), Span(f" ({letter}, {name})")]
    told.append(Span(f" {asked.asks}. Without the release they would be right "))
    told.append(Span(f"{without}.", "strong"))
    shown = [row for row in each[0].rows if any(about.row(row.key).shown for about in each)]
    rows = [
        [row.name, *(about.row(row.key).text for about in each), each[0].row(row.key).baseline_text] for row in shown
    ]
    readings = plain_table(["Reading", *letters, "without"], rows, "Every reading")
    names = join_words([f"{letter} is {name}" for letter, name in zip(letters, found.names, strict=True)])
    notes = (f"{names}.", *_kept(each))
    return Document(
        join_words(found.names),
        "Side by side",
        (Lead((tuple(told),)),),
        (
            Section("Curves", (Figures(tuple(Figure(partial(_curve, found, i)) for i in (0, 1))),)),
            Section("Every reading", (readings, Notes(notes)), silent=True),
        ),
    )


def _curve(found: ComparisonOverview, which: int) -> Chart:
    """A chart of all; where a name is longer than the room at a line's end, letters stand for them as in the table."""
    drawn = found.curves[which]
    if any(len(each) > _LABEL for each in found.names):
        letters = zip(_letters(len(found.names)), drawn.lines, strict=True)
        drawn = replace(drawn, lines=tuple(replace(line, label=letter) for letter, line in letters))
    return of_curves(drawn)


def _kept(each: list[Explanation]) -> tuple[str, ...]:
    """What is said of them, once; with the letters of those it is said of where it is not all."""
    said_of: dict[str, list[str]] = {}
    for letter, about in zip(_letters(len(each)), each, strict=True):
        for note in about.remarks:
            said_of.setdefault(note, []).append(letter)
    return tuple(note if len(of) == len(each) else f"{join_words(of)}: {note}" for note, of in said_of.items())


def of_sweep(found: Sweep) -> Document:
    """The chart of each reading, and the first rows of the table."""
    every = list(islice(found.rows(), _MOST_ROWS))
    total, asked = 1, join_words([each.name for each in found.readings])
    for size in found.shape:
        total *= size
    over = join_words([f"{len(values)} values of {_spoken(name)}" for name, values in found.varied.items()])
    shown = [
        name
        for name in every[0]
        if not name.endswith("_low") or any(_cell(r[name]) != _cell(r[name[:-4]]) for r in every)
    ]
    rows = [[_cell(row[name], name in found.varied) for name in shown] for row in every]
    notes = (f"The first {len(rows)} of {total:,} rows; frame() holds all.",) if total > len(rows) else ()
    head = [_spoken(name) if name in found.varied else name for name in shown]
    figures = tuple(Figure(partial(_drawable, found, each.name)) for each in found.readings)
    return Document(
        found.mechanism,
        "A sweep",
        (
            Lead((said(f"{asked[:1].upper()}{asked[1:]} of {found.mechanism} at {over}.{_ranged(found)}"),)),
            Figures(figures),
        ),
        (Section("Values", (plain_table(head, rows, "Values"), Notes(notes)), silent=True),),
    )


def _ranged(found: Sweep) -> str:
    """From where to where right guesses go, beside what they would be without the release."""
    asked = next((each for each in found.readings if each.name == "success"), None)
    if asked is None:
        return ""
    values = found.values["success"]
    values = values[np.isfinite(values)]
    if not values.size:
        return ""
    ends = float(np.min(values)), float(np.max(values))
    least, most, without = frequencies(*ends, given=[float(find_reading("success").floor(**asked.arguments))])
    reach = f"reach {most}" if least == most else f"go from {least} to {most}"
    return f" Right guesses {reach}; without the release they are {without}."


def _drawable(found: Sweep, reading: str) -> Chart | None:
    """The chart of a reading; nothing where it cannot be drawn."""
    try:
        return sweep_chart(found, reading)
    except InputError:
        return None


def of_choices(found: Choices) -> Document:
    """What was chosen for each limit."""
    one = found.all[0]
    plain = ("at_most", *one.arguments)
    rows = [[_cell(value, name in plain) for name, value in row.items()] for row in found.rows[:_MOST_ROWS]]
    total = len(found.all)
    notes = (f"The first {len(rows)} of {total:,} choices; frame() holds all.",) if total > len(rows) else ()
    lead = f"The riskiest {_spoken(found.parameter)} within each of {total} limits on {one.reading_name}."
    head = [_spoken(name) if name == found.parameter else name for name in found.rows[0]]
    return Document(
        f"{one.parameter} by the limit on {one.reading_name}",
        "Choices",
        (Lead((said(lead),)), Figures((Figure(partial(choices_chart, found, found.parameter)),))),
        (Section("Values", (plain_table(head, rows, "Values"), Notes(notes)), silent=True),),
    )


def _spoken(name: str) -> str:
    known: Mapping[str, Any] = PARAMETERS
    return known[name].symbol or name if name in known else name


def _cell(value: object, given: bool = False) -> str:
    """A number as a table shows it; one that was ``given`` in few letters."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.4g}" if given else number(value)
