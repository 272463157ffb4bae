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

if TYPE_CHECKING:
    from ..show.explanation import Explanation

__all__ = ["Kept", "compared_roc", "curves", "curves_note", "pictures", "readings", "said", "title"]


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
        return [Markup(chart.svg("page", chart.phone)) for chart in both]  # two phones side by side fill a desk

    made: list[Markup] = _charts.get((key, prior, fpr), draw)
    return made


def curves_note(about: Explanation) -> str:
    """What the two dots on the curves stand for."""
    return f"Filled dot: the guess that is right most often. Hollow dot: at {false_alarms(about.arguments['fpr'])}."


def compared_roc(settings: Sequence[tuple[str, Explanation]]) -> Markup:
    """One ROC chart with a line, labelled by its letter, for each setting, at both widths."""
    first = settings[0][1]
    chart = charts.compared_roc([(letter, about.experiment) for letter, about in settings], first.arguments["fpr"])
    desk, phone = (Markup(chart.svg("page", width)) for width in (chart.desk, chart.phone))
    return Markup('<div class="desk">{}</div><div class="phone">{}</div>').format(desk, phone)
