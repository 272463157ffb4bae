"""How results reach what shows them: the one way up, which :mod:`epsilens` itself, knowing all rooms, leaves here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

__all__ = ["Charter", "Picture", "chart_with", "charter"]


class Picture(Protocol):
    """A chart that shows itself in a notebook: :class:`epsilens.show.charts.chart.Chart`."""

    @property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite definition with real colours."""
        ...

    @property
    def data(self) -> list[dict[str, Any]]:
        """The points of every series, a row each."""
        ...

    def svg(self, palette: str = "light", width: int | None = None) -> str:
        """The chart as SVG."""
        ...

    def save(self, path: str | Path) -> Path:
        """Write it as .svg, .png or .html."""
        ...

    def plot(self, ax: Any = None) -> Any:
        """The chart on matplotlib axes."""
        ...


class Charter(Protocol):
    """Draws an experiment, and lays its readings out as a frame."""

    def chart(self, experiment: Any, name: str, prior: float, fpr: float) -> Picture:
        """The chart of that name."""
        ...

    def frame(self, experiment: Any, arguments: Mapping[str, float]) -> Any:
        """Every reading, a row each."""
        ...


_charter: list[Callable[[], Charter]] = []


def chart_with(load: Callable[[], Charter]) -> None:
    """Say who draws charts; ``load`` is called when the first is asked for."""
    _charter[:] = [load]


def charter() -> Charter:
    """Who draws charts."""
    return _charter[0]()
