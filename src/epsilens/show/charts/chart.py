"""A chart: a definition that can be drawn at any width, in any palette, and taken along as a file or a table.

>>> import epsilens as el
>>> chart = el.laplace(epsilon=1.0).chart("roc")
>>> chart
Chart('roc')
>>> chart.data[0], chart.svg()[:16]
({'series': 'without the release', 'x': 0.0, 'y': 0.0}, '<svg role="img" ')
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import checks
from ...errors import InputError, MissingExtra, type_phrase
from ..typesetting import drawings_pdf
from .renderers import DARK, LIGHT, Palette, beside, colours, named, plot, resolved, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: Pixels of a picture for each pixel of the chart: sharp on paper and on dense screens.
_ZOOM = 2
_OWN_CLASS = "epsilens-chart"
#: Pixels between which words and axes fit.
_NARROWEST, _WIDEST = 200, 10_000


#: What a file of ours may do in a browser: show itself, and nothing else. A report holds words that came from a table.
#: They are escaped; should one slip through, the browser runs no script, fetches nothing and sends nothing.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src data:; base-uri 'none'; form-action 'none'"
)


def meta() -> str:
    """The policy as an element for the head of a page."""
    return f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'


@dataclass(frozen=True)
class Chart:
    """A chart that shows itself in a notebook, and can be saved, plotted with matplotlib or read as data.

    ``make`` writes the Vega-Lite definition from what is ``given`` and a width in pixels, axes and labels included;
    ``desk`` and ``phone`` are the widths it is made for. Colours are the page's variables until it is drawn.
    """

    name: str
    make: Callable[..., dict[str, Any]] = field(repr=False)
    given: tuple[Any, ...] = field(repr=False)
    desk: int = 808
    phone: int = 350

    def definition(self, width: int | None = None) -> dict[str, Any]:
        """The Vega-Lite definition at a width, its colours still the page's variables."""
        wide = self.desk if width is None else checks.integer("width", width, low=_NARROWEST, high=_WIDEST)
        return self.make(*self.given, wide)

    @property
    def label(self) -> str:
        """What the chart says to those who cannot see it, with its numbers."""
        return str(self.definition()["description"])

    @property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite definition with real colours, for other programs."""
        made: dict[str, object] = resolved(self.definition(), LIGHT)
        return made

    @property
    def data(self) -> list[dict[str, Any]]:
        """The points of every named series, a row each: ``pandas.DataFrame(chart.data)`` reads it."""
        return [
            {"series": layer["description"], **point}
            for layer in self.definition()["layer"]
            if "description" in layer
            for point in layer["data"]["values"]
        ]

    def svg(self, palette: str = "light", width: int | None = None) -> str:
        """The chart as SVG: ``light`` or ``dark``; ``page`` inside our pages, ``notebook`` to follow a theme
        (``fragment`` where what is around it has set the theme's colours).

        Outside our pages the font may be missing, so there every text is held to the width it has in ours.
        """
        fits = f".{_OWN_CLASS}{{max-width:100%;height:auto}}"  # a cell may be narrower
        style = colours(_OWN_CLASS) + fits if palette == "notebook" else ""
        marked = _OWN_CLASS if palette == "notebook" else "marks"
        return svg(self.definition(width), named(palette), fixed=palette != "page", style=style, marked=marked)

    def png(self, palette: str = "light", width: int | None = None) -> bytes:
        """The chart as a PNG picture, twice as dense as its SVG; needs the extra ``charts``."""
        try:
            import resvg_py
        except ImportError:
            raise MissingExtra("resvg-py", extra="charts", purpose="a PNG picture") from None
        chosen = _light_or_dark(palette)
        # resvg reads no WOFF2: the same letters stand in files of another name (assets/README.md).
        fonts = files("epsilens.show").joinpath("assets")
        drawn = svg(self.definition(width), chosen).replace("&#x27;Source Sans 3&#x27;", "Epsilens Sans")
        return bytes(
            resvg_py.svg_to_bytes(
                svg_string=drawn,
                background=chosen["paper"],
                zoom=_ZOOM,
                skip_system_fonts=True,
                font_files=[str(fonts.joinpath(f"epsilens-sans-{weight}.ttf")) for weight in (400, 600)],
            )
        )

    def pdf(self, palette: str = "light", width: int | None = None) -> bytes:
        """The chart as a PDF page of its own size: lines and letters, sharp on any paper; needs the extra ``pdf``."""
        chosen = _light_or_dark(palette)
        return drawings_pdf([svg(self.definition(width), chosen)], self.title, chosen["paper"])

    @property
    def title(self) -> str:
        """What the chart is called: its own heading, or its name."""
        return str(self.definition().get("title", {}).get("text", self.name))

    def html(self) -> str:
        """A page of its own that fetches nothing and follows the reader's light or dark theme."""
        return _page(self.title, self.svg("notebook"))

    def save(self, path: str | Path) -> Path:
        """Write the chart; the ending of the name says how.

        ``.svg``, ``.png``, ``.pdf``, ``.html``, or ``.json`` (Vega-Lite).

        >>> import epsilens as el, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     el.laplace(epsilon=1.0).chart("roc").save(f"{folder}/roc.pdf").read_bytes()[:8]
        b'%PDF-1.7'
        """
        ways: dict[str, Callable[[], bytes]] = {
            ".svg": lambda: self.svg("light").encode(),
            ".png": self.png,
            ".pdf": self.pdf,
            ".html": lambda: self.html().encode(),
            ".json": lambda: json.dumps(self.spec, ensure_ascii=False, allow_nan=False).encode(),
        }
        return _saved(path, ways)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The chart on matplotlib axes, on ``ax`` where it is given."""
        return plot(self.definition(), ax)

    def _repr_html_(self) -> str:
        return self.svg("notebook")

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """What a notebook keeps: the chart in its theme, and one in real colours for where there is none."""
        return {"text/plain": repr(self), "text/html": self._repr_html_(), "image/svg+xml": self.svg("light")}

    def __repr__(self) -> str:
        return f"Chart({self.name!r})"


@dataclass(frozen=True)
class Charts:
    """Several charts that belong together, side by side where there is room."""

    charts: tuple[Chart, ...]

    def __getitem__(self, index: int) -> Chart:
        return self.charts[index]

    def __len__(self) -> int:
        return len(self.charts)

    def __iter__(self) -> Iterator[Chart]:
        return iter(self.charts)

    def html(self) -> str:
        """A page with all of them that fetches nothing and follows the reader's light or dark theme."""
        return _page(self.title, self._repr_html_())

    def pdf(self, palette: str = "light") -> bytes:
        """A PDF with a page for each chart."""
        chosen = _light_or_dark(palette)
        return drawings_pdf([svg(chart.definition(), chosen) for chart in self.charts], self.title, chosen["paper"])

    @property
    def title(self) -> str:
        """What they are called together."""
        return ", ".join(chart.name for chart in self.charts)

    def save(self, path: str | Path) -> Path:
        """Write them as one file: ``.html``, or ``.pdf`` with a page each.

        A picture is of one chart, so save each by itself: ``charts[0].save("x.svg")``.
        """
        return _saved(path, {".html": lambda: self.html().encode(), ".pdf": self.pdf})

    def plot(self, axes: Any = None) -> Any:
        """The charts on matplotlib axes, on as many as are given; the array of them."""
        given = beside(len(self.charts)) if axes is None else axes
        if not checks.has_length(given) or len(given) != len(self.charts):
            raise InputError(
                f"axes is not {len(self.charts)} matplotlib axes, one for each chart: give as many, or none", "axes"
            )
        for chart, ax in zip(self.charts, given, strict=True):
            plot(chart.definition(), ax)
        return given

    def _repr_html_(self) -> str:
        each = "".join(f"<div>{chart.svg('notebook')}</div>" for chart in self.charts)
        return f'<div style="display:flex;flex-wrap:wrap;gap:16px 32px">{each}</div>'

    def __repr__(self) -> str:
        return f"Charts({', '.join(repr(chart.name) for chart in self.charts)})"


def _light_or_dark(palette: str) -> Palette:
    """The palette of a file that takes its colours with it."""
    chosen = named(palette)
    if chosen not in (LIGHT, DARK):
        raise InputError(f"palette is {palette!r}: a picture is light or dark", parameter="palette", value=palette)
    return chosen


def _page(title: str, body: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"{meta()}"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)} · epsilens</title>"
        f"<style>{_faces()}:root{{color-scheme:light dark}}body{{margin:24px}}svg{{max-width:100%;height:auto}}"
        "@media(prefers-color-scheme:dark){body{background:" + DARK["paper"] + "}}</style></head>"
        f"<body>{body}</body></html>\n"
    )


def _saved(path: Any, ways: Mapping[str, Callable[[], bytes]]) -> Path:
    try:
        target = Path(path)
    except TypeError:
        raise InputError(f"path is {type_phrase(path)}: give the name of a file", "path", path) from None
    if target.suffix.lower() not in ways:
        *most, last = ways
        allowed = f"{', '.join(most)} or {last}" if most else last
        raise InputError(f"path is {str(path)[:80]!r}: give a name that ends in {allowed}", "path", path)
    made = ways[target.suffix.lower()]()
    try:
        target.write_bytes(made)
    except (OSError, ValueError) as error:  # a name that is too long, or has letters that none has
        why = getattr(error, "strerror", None) or "it cannot be written"
        raise InputError(
            f"path is {str(path)[:80]!r}: {why}, so give a file that can be written", parameter="path", value=path
        ) from None
    return target


def _faces() -> str:
    """The four files of Source Sans 3 as style rules."""
    made = []
    for subset in ("latin", "greek"):
        for weight in (400, 600):
            raw = (
                files("epsilens.show").joinpath("assets", f"source-sans-3-{subset}-{weight}-normal.woff2").read_bytes()
            )
            code = base64.b64encode(raw).decode("ascii")
            covers = ";unicode-range:U+0370-03FF" if subset == "greek" else ""
            made.append(
                f'@font-face{{font-family:"Source Sans 3";font-weight:{weight};'
                f"src:url(data:font/woff2;base64,{code}) format('woff2'){covers}}}"
            )
    return "".join(made)
