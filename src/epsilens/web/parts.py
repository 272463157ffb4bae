"""Pieces of HTML the views share, taken from the report so that page, report and command say the same.

What comes back is :class:`markupsafe.Markup`: already escaped where it had to be.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ..show import charts
from ..show.explanation import pictures as people
from ..show.explanation import reading_table, told
from ..show.render import html
from ..show.sentences import false_alarms, title
from ..show.words import frequency
from . import drawing

if TYPE_CHECKING:
    from ..show.explanation import Explanation

__all__ = ["Kept", "compared_roc", "curves", "curves_note", "pictures", "readings", "said", "title"]

#: One plot width serves both layouts: two charts side by side on a desk and one on a phone are equally wide.
WIDTH = charts.PHONE


class Kept:
    """The last few results by key, safe between threads."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._held: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What is kept under the key, or what ``make`` returns, kept from then on."""
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key]
        made = make()
        with self._lock:
            self._held[key] = made
            while len(self._held) > self.most:
                self._held.popitem(last=False)
        return made


_charts = Kept(512)


def said(about: Explanation) -> Markup:
    """The headline, if something was chosen, and the sentence."""
    headline = Markup("<h1>{}</h1>").format(about.headline) if about.headline else Markup("")
    return headline + html.blocks((told(about),))


def pictures(about: Explanation) -> Markup:
    """The icon arrays with their note."""
    return html.blocks((people(about),))


def readings(about: Explanation) -> Markup:
    """The section with every reading."""
    return html.section(reading_table(about))


def curves(about: Explanation, key: Hashable) -> list[Markup]:
    """The ROC and precision–recall curves; ``key`` says what the experiment was built from."""
    prior, fpr = about.arguments["prior"], about.arguments["fpr"]

    def draw() -> list[Markup]:
        both = (charts.roc(about.experiment, prior, fpr), charts.precision_recall(about.experiment, prior, fpr))
        return [Markup(drawing.svg(chart.spec(WIDTH), chart.aria)) for chart in both]

    made: list[Markup] = _charts.get((key, prior, fpr), draw)
    return made


def curves_note(about: Explanation) -> str:
    """What the two dots on the curves stand for."""
    return f"Filled dot: the guess that is right most often. Hollow dot: at {false_alarms(about.arguments['fpr'])}."


# -- several settings in one chart --------------------------------------------------------------------------------

#: Line, width and dashes of each setting: told apart without colour as well.
_LINES: tuple[tuple[str, float, list[int] | None], ...] = (
    ("var(--risk)", 3, None),
    ("var(--accuracy)", 3, [9, 4]),
    ("var(--ink)", 1.75, None),
    ("var(--secondary)", 2.5, [2, 4]),
)
#: Which false-alarm rate each line carries its letter at, so that letters never meet.
_LETTER_AT = (0.12, 0.3, 0.48, 0.66)


def compared_roc(settings: Sequence[tuple[str, Explanation]], width: int) -> Markup:
    """One ROC chart with a line, labelled by its letter, for each setting."""
    first = charts.roc(settings[0][1].experiment)
    spec = first.spec(width)
    layers = [spec["layer"][0]]
    letters: list[dict[str, Any]] = []
    found_by = []
    for (letter, about), (colour, stroke, dash), at in zip(settings, _LINES, _LETTER_AT, strict=False):
        chart = charts.roc(about.experiment, about.arguments["prior"], about.arguments["fpr"])
        layers.append(_line(chart.curve, colour, stroke, dash))
        letters += _letter(letter.upper(), at, float(about.experiment.roc(at)), colour)
        found = float(about.experiment.recall(about.arguments["fpr"]))
        found_by.append(f"{letter.upper()} finds {frequency(found)}")
    spec["layer"] = [*layers, *letters]
    spec["title"] = {"text": "ROC curves", "subtitle": first.subtitle}
    fpr = settings[0][1].arguments["fpr"]
    return Markup(drawing.svg(spec, f"ROC curves: at {false_alarms(fpr)}, {', '.join(found_by)}."))


def _line(points: Sequence[charts.Point], colour: str, width: float, dash: list[int] | None) -> dict[str, Any]:
    mark: dict[str, Any] = {"type": "line", "color": colour, "strokeWidth": width, "strokeJoin": "round"}
    if dash:
        mark["strokeDash"] = dash
    return {"data": {"values": [{"x": x, "y": y} for x, y in points]}, "mark": mark}


def _letter(letter: str, x: float, y: float, colour: str) -> list[dict[str, Any]]:
    data = {"values": [{"x": 100 * x, "y": 100 * y}]}
    mark = {"type": "text", "text": letter, "align": "center", "baseline": "middle", "fontSize": 17, "fontWeight": 600}
    halo = {**mark, "color": "var(--paper)", "stroke": "var(--paper)", "strokeWidth": 9, "strokeJoin": "round"}
    return [{"data": data, "mark": halo}, {"data": data, "mark": {**mark, "color": colour}}]
