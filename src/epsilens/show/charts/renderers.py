"""Draw our Vega-Lite charts as SVG: the one renderer of reports, page and notebooks.

A definition is a plain Vega-Lite dict; ours use a small part of the language (lines, points and text on two axes,
linear or logarithmic, under a title), and exactly that part is drawn, to the coordinates Vega itself would give. The
tests hold each chart against Vega. A definition that asks for more is an error, never a wrong picture.

A definition names its colours ``var(--risk)``, a palette says what stands there: inside our pages the variables
themselves, so that one drawing serves light, dark and print; a chart that leaves the page takes real colours with it.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from ...errors import InputError, MissingExtra, type_phrase
from .layout import Point, Scale, scale, width_of, written

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Palette = Mapping[str, str]

#: The colours of the page's style sheet (``assets/page.css``, ``assets/assessment.css``).
LIGHT = {"paper": "#FFFFFF", "ink": "#16191D", "secondary": "#555B62", "risk": "#B33C00", "accuracy": "#0B5FA5"}
LIGHT |= {"baseline": "#8C939B", "axis": "#868D95", "hairline": "#DCDFE2", "wash": "#F5F6F7", "band": "#DFEAF4"}
DARK = {"paper": "#15181B", "ink": "#ECEEF0", "secondary": "#A9B0B8", "risk": "#FF8F4D", "accuracy": "#74B7F2"}
DARK |= {"baseline": "#69717A", "axis": "#7D868F", "hairline": "#33393F", "wash": "#1E2226", "band": "#223445"}
#: A notebook has a theme of its own: the drawing carries these variables in a style of its own (``colours``).
_OWN = "--epsilens-"
PALETTES: Mapping[str, Palette] = {
    "page": {name: f"var(--{name})" for name in LIGHT},
    "light": LIGHT,
    "dark": DARK,
    "notebook": {name: f"var({_OWN}{name})" for name in LIGHT},
    "fragment": {name: f"var({_OWN}{name})" for name in LIGHT},  # the same, set by what is around the drawing
}
_VARIABLE = re.compile(r"var\(--([a-z]+)\)")
#: The papers of the notebooks that say which theirs is.
_PAPERS = "var(--jp-layout-color0, var(--vscode-editor-background, {}))"


def named(name: str) -> Palette:
    """A palette by its name."""
    if not isinstance(name, str) or name not in PALETTES:
        raise InputError(f"palette is {name!r}: choose from {', '.join(PALETTES)}", parameter="palette", value=name)
    return PALETTES[name]


def resolved(value: object, palette: Palette) -> Any:
    """The same definition, or part of one, with the palette's colours."""
    if palette is PALETTES["page"]:
        return value
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: palette[found[1]], value) if "var(" in value else value
    if isinstance(value, Mapping):
        return {key: resolved(item, palette) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [resolved(item, palette) for item in value]
    return value


def colours(chosen: str) -> str:
    """The style that gives a class the notebook's colours: its theme where it tells, else the reader's preference."""

    def rule(of: Palette, where: str = "") -> str:
        told = {**of, "paper": _PAPERS.format(of["paper"])}
        return f"{where}.{chosen}{{{';'.join(f'{_OWN}{name}:{colour}' for name, colour in told.items())}}}"

    # JupyterLab, VS Code, and sites built by Sphinx with a switch
    bright = '[data-jp-theme-light="true"]', ".vscode-light", '[data-theme="light"]'
    night = '[data-jp-theme-light="false"]', ".vscode-dark", '[data-theme="dark"]'
    light, dark = [rule(LIGHT, f"{where} ") for where in bright], [rule(DARK, f"{where} ") for where in night]
    return f"{rule(LIGHT)}@media(prefers-color-scheme:dark){{{rule(DARK)}}}{''.join(light + dark)}"


#: How far below its point a text's baseline lies, as a share of the font size; Vega rounds the product to a pixel.
_BASELINES = {"middle": 0.3, "top": 0.79}
_ANCHORS = {"left": "start", "right": "end", "center": "middle"}
#: Vega sets axes half a pixel off, so that hairlines are sharp.
_SHARP = 0.5
#: What Vega leaves below a subtitle's baseline, besides the title's offset.
_UNDER_TITLE = 10
_TICK = 5

_TOP = {"$schema", "description", "width", "height", "autosize", "padding", "title", "layer", "encoding", "config"}
_AXIS = {"values", "format", "grid", "domain", "ticks", "labels", "labelPadding", "labelOverlap"}
_AXIS |= {"title", "titlePadding", "titleX"}
_LINE = {"type", "color", "strokeWidth", "strokeJoin", "strokeDash", "interpolate"}
_POINT = {"type", "size", "opacity", "fill", "stroke", "strokeWidth", "filled", "color"}
_TEXT = {"type", "text", "align", "baseline", "fontSize", "fontWeight", "dx", "dy"}
_TEXT |= {"color", "stroke", "strokeWidth", "strokeJoin"}


def svg(
    spec: Mapping[str, Any],
    palette: Palette = PALETTES["page"],
    *,
    fixed: bool = False,
    style: str = "",
    marked: str = "marks",
) -> str:
    """A definition as one SVG image, described by its own ``description`` for readers who cannot see it.

    ``fixed`` states how wide each text is, so that a font other than ours cannot push it over an edge; ``style`` is a
    style sheet to carry along, ``marked`` the image's class.
    """
    _only(spec, _TOP)
    drawing = _Drawing(spec, palette, fixed)
    pad = spec["padding"]
    wide, high = spec["width"] + pad["left"] + pad["right"], spec["height"] + pad["top"] + pad["bottom"]
    font = html.escape(spec["config"]["font"])
    return (
        f'<svg role="img" aria-label="{html.escape(spec["description"])}" xmlns="http://www.w3.org/2000/svg" '
        f'width="{wide:g}" height="{high:g}" viewBox="0 0 {wide:g} {high:g}" class="{marked}" font-family="{font}">'
        f"{f'<style>{style}</style>' if style else ''}"
        f'<g transform="translate({pad["left"]:g},{pad["top"]:g})" fill="none">{"".join(drawing.parts())}</g></svg>'
    )


def _only(given: Mapping[str, object], known: set[str]) -> None:
    if not known.issuperset(given):
        raise ValueError(f"no chart of ours has {', '.join(sorted(set(given) - known))}: draw it here first")


def _drop(baseline: str, size: float) -> int:
    return math.floor(_BASELINES[baseline] * size + 0.5)


def _n(value: float) -> str:
    """A coordinate to a twentieth of a pixel at worst, as short as it can be written."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


class _Drawing:
    """One definition on its way to SVG: its scales, and its configuration in the palette's colours."""

    def __init__(self, spec: Mapping[str, Any], palette: Palette, fixed: bool) -> None:
        self.spec, self.palette, self.fixed = spec, palette, fixed
        config = resolved(spec["config"], palette)
        self.axis, self.heading = config["axis"], config["title"]
        self.width, self.height = spec["width"], spec["height"]
        channels = spec["encoding"]
        for channel in channels.values():
            _only(channel, {"field", "type", "scale", "axis"})
            _only(channel["scale"], {"type", "domain", "nice"})
            _only(channel["axis"] or {}, _AXIS)
        self.x: Scale = scale(channels["x"]["scale"], 0, self.width)
        self.y: Scale = scale(channels["y"]["scale"], self.height, 0)
        self.across: Mapping[str, Any] = channels["x"]["axis"] or {"values": []}
        self.up: Mapping[str, Any] = channels["y"]["axis"] or {"values": []}

    def parts(self) -> list[str]:
        """From back to front; the title last, so that no label's halo reaches over it."""
        title = self._title(self.spec["title"]) if "title" in self.spec else []
        return [
            *self._grid(),
            *self._across(),
            *self._up(),
            *(self._layer(layer) for layer in self.spec["layer"]),
            *title,
        ]

    def _grid(self) -> list[str]:
        lines = [
            f"M{_n(self.x(value) + _SHARP)},{_SHARP}V{_n(self.height + _SHARP)}"
            for value in self.across["values"]
            if self.across["grid"]
        ]
        lines += [
            f"M{_SHARP},{_n(self.y(value) + _SHARP)}H{_n(self.width + _SHARP)}"
            for value in self.up["values"]
            if self.up["grid"]
        ]
        return [f'<path d="{"".join(lines)}" stroke="{self.axis["gridColor"]}"/>'] if lines else []

    def _across(self) -> list[str]:
        """The horizontal axis: its line, ticks and labels, and its title from the left."""
        axis, low = self.across, self.height + _SHARP
        path = f"M{_SHARP},{_n(low)}H{_n(self.width + _SHARP)}" if axis.get("domain") else ""
        if axis.get("ticks"):
            path += "".join(f"M{_n(self.x(v) + _SHARP)},{_n(low)}v{_TICK}" for v in axis["values"])
        made = [f'<path d="{path}" stroke="{self.axis["domainColor"]}"/>'] if path else []
        if not axis.get("labels", True) or not axis["values"]:
            return made
        size, colour = self.axis["labelFontSize"], self.axis["labelColor"]
        down = low + axis["labelPadding"] + (_TICK if axis["ticks"] else 0)
        made += [
            self._text(written(v, axis["format"]), (self.x(v) + _SHARP, down + _drop("top", size)), "middle", colour)
            for v in axis["values"]
        ]
        if axis["title"]:
            under = down + size + axis["titlePadding"] + _drop("top", self.axis["titleFontSize"])
            made.append(self._text(axis["title"], (_SHARP, under), "start", self.axis["titleColor"]))
        return made

    def _up(self) -> list[str]:
        axis = self.up
        at, drop = _SHARP - axis.get("labelPadding", 0), _SHARP + _drop("middle", self.axis["labelFontSize"])
        return [
            self._text(written(v, axis["format"]), (at, self.y(v) + drop), "end", self.axis["labelColor"])
            for v in axis["values"]
        ]

    def _title(self, title: Mapping[str, str]) -> list[str]:
        given = self.heading
        under = -given["offset"] - _UNDER_TITLE
        over = under - given["subtitleFontSize"] - given["subtitlePadding"]
        return [
            self._text(title["text"], (given["dx"], over), "start", given["color"], given["fontWeight"]),
            self._text(title["subtitle"], (given["dx"], under), "start", given["subtitleColor"]),
        ]

    def _layer(self, layer: Mapping[str, Any]) -> str:
        _only(layer, {"data", "mark", "encoding", "description"})
        mark, x, y = resolved(layer["mark"], self.palette), self.x, self.y
        points = [(x(p["x"]), y(p["y"])) for p in layer["data"]["values"]]
        kind = mark["type"]
        if kind == "line":
            return _line(mark, points)
        if kind == "point":
            return "".join(_dot(mark, point) for point in points)
        if kind == "text":
            return "".join(self._word(mark, point) for point in points)
        raise ValueError(f"no chart of ours has the mark {kind!r}: draw it here first")

    def _word(self, mark: Mapping[str, Any], at: Point) -> str:
        _only(mark, _TEXT)
        place = at[0] + mark["dx"], at[1] + mark["dy"] + _drop(mark["baseline"], mark["fontSize"])
        halo = ""
        if "stroke" in mark:
            halo = f' stroke="{mark["stroke"]}" stroke-width="{mark["strokeWidth"]:g}" stroke-linejoin="round"'
        return self._text(
            mark["text"], place, _ANCHORS[mark["align"]], mark["color"], mark["fontWeight"], mark["fontSize"], halo
        )

    def _text(
        self, words: str, at: Point, anchor: str, fill: str, weight: int = 400, size: float = 15, halo: str = ""
    ) -> str:
        heavy = f' font-weight="{weight}"' if weight != 400 else ""
        length = f' textLength="{_n(width_of(words, weight, size))}" lengthAdjust="spacingAndGlyphs"'
        return (
            f'<text text-anchor="{anchor}" transform="translate({_n(at[0])},{_n(at[1])})" font-size="{size:g}px"'
            f'{heavy}{halo}{length if self.fixed else ""} fill="{fill}">{html.escape(words)}</text>'
        )


def _line(mark: Mapping[str, Any], points: Sequence[Point]) -> str:
    _only(mark, _LINE)
    smooth = mark.get("interpolate") == "monotone"
    path = _monotone(points) if smooth else _straight(points)
    dash = f' stroke-dasharray="{",".join(f"{d:g}" for d in mark["strokeDash"])}"' if "strokeDash" in mark else ""
    return (
        f'<path d="{path}" stroke="{mark["color"]}" stroke-width="{mark["strokeWidth"]:g}" '
        f'stroke-linejoin="round"{dash}/>'
    )


def _straight(points: Sequence[Point]) -> str:
    """A line through all points; those that fall on one place are one: curves are dense where they may be steep."""
    return "M" + "L".join(dict.fromkeys([f"{a:.1f},{b:.1f}" for a, b in points]))


def _monotone(points: Sequence[Point]) -> str:
    """Steffen's monotone cubic through points from left to right: d3's curveMonotoneX, which Vega uses."""
    points = [p for i, p in enumerate(points) if i == 0 or p != points[i - 1]]
    if len(points) < 3:
        return _straight(points)
    wide = [b[0] - a[0] for a, b in pairwise(points)]
    rise = [(b[1] - a[1]) / w for a, b, w in zip(points, points[1:], wide, strict=False)]
    inner = []
    for (w0, s0), (w1, s1) in zip(zip(wide, rise, strict=True), zip(wide[1:], rise[1:], strict=True), strict=False):
        mean = (s0 * w1 + s1 * w0) / (w0 + w1)
        inner.append((_sign(s0) + _sign(s1)) * min(abs(s0), abs(s1), abs(mean) / 2))
    slopes = [(3 * rise[0] - inner[0]) / 2, *inner, (3 * rise[-1] - inner[-1]) / 2]
    made = [f"M{_n(points[0][0])},{_n(points[0][1])}"]
    for (x0, y0), (x1, y1), w, t0, t1 in zip(points, points[1:], wide, slopes, slopes[1:], strict=False):
        third = w / 3
        made.append(f"C{x0 + third:.1f},{y0 + third * t0:.1f},{x1 - third:.1f},{y1 - third * t1:.1f},{x1:.1f},{y1:.1f}")
    return "".join(made)


def _sign(value: float) -> int:
    return -1 if value < 0 else 1


def _dot(mark: Mapping[str, Any], at: Point) -> str:
    _only(mark, _POINT)
    radius = (mark["size"] ** 0.5) / 2  # Vega's size is the square of the circle's width
    line = f' stroke="{mark["stroke"]}" stroke-width="{mark["strokeWidth"]:g}"' if "stroke" in mark else ""
    fill = mark["color"] if mark.get("filled") else mark["fill"]
    faint = f' fill-opacity="{mark["opacity"]:g}"' if mark["opacity"] != 1 else ""
    return f'<circle cx="{_n(at[0])}" cy="{_n(at[1])}" r="{radius:.2f}" fill="{fill}"{line}{faint}/>'


# -- on matplotlib axes: the same lines, points and words in the style of the reader's own figures ----------------

#: A pixel of a chart in points of print.
_POINTS = 0.72


def plot(spec: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw a definition on axes, on new ones of its shape where none are given."""
    try:
        from matplotlib.axes import Axes
    except ImportError:
        raise MissingExtra("matplotlib", extra="notebook", purpose="plotting with matplotlib") from None
    if ax is not None and not isinstance(ax, Axes):
        raise InputError(f"ax is {type_phrase(ax)}: give matplotlib axes, or nothing to have some made", "ax", ax)
    drawn = resolved(spec, LIGHT)
    if ax is None:
        pad = spec["padding"]
        wide, high = spec["width"] + pad["left"] + pad["right"], spec["height"] + pad["top"] + pad["bottom"]
        figure = _figure(figsize=(wide / 100, high / 100))
        ax = figure.add_axes((pad["left"] / wide, pad["bottom"] / high, spec["width"] / wide, spec["height"] / high))
    for depth, layer in enumerate(drawn["layer"], 2):
        _layer(ax, layer, depth)
    _side(ax, "x", drawn["encoding"]["x"], drawn["config"]["axis"])
    _side(ax, "y", drawn["encoding"]["y"], drawn["config"]["axis"])
    for spine in ("top", "left", "right"):
        ax.spines[spine].set_visible(False)
    if "title" in drawn:
        ax.set_title(f"{drawn['title']['text']}\n{drawn['title']['subtitle']}", loc="left", fontsize="medium")
    return ax


def _figure(**arguments: object) -> Figure:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingExtra("matplotlib", extra="notebook", purpose="plotting with matplotlib") from None
    made: Figure = pyplot.figure(**arguments)
    return made


def beside(count: int) -> list[Axes]:
    """So many new axes, two to a row."""
    rows = -(-count // 2)
    figure = _figure(figsize=(6 * min(count, 2), 5 * rows), layout="constrained")
    return [figure.add_subplot(rows, min(count, 2), i + 1) for i in range(count)]


def _layer(ax: Axes, layer: Mapping[str, Any], depth: int) -> None:
    mark = layer["mark"]
    x, y = [p["x"] for p in layer["data"]["values"]], [p["y"] for p in layer["data"]["values"]]
    if mark["type"] == "line":
        dash = (0, [d * _POINTS for d in mark["strokeDash"]]) if "strokeDash" in mark else "-"
        style = {"linewidth": mark["strokeWidth"] * _POINTS, "linestyle": dash, "solid_joinstyle": "round"}
        label = layer.get("description", "_")
        ax.plot(x, y, color=mark["color"], zorder=depth, clip_on=False, label=label, **style)
    elif mark["type"] == "point":
        if mark.get("filled", False):
            style = {"facecolor": mark["color"], "edgecolor": "none", "linewidth": 0}
        else:
            style = {"facecolor": mark["fill"], "edgecolor": mark["stroke"], "linewidth": 2 * _POINTS}
        ax.scatter(x, y, s=mark["size"] * _POINTS**2, zorder=depth, alpha=mark["opacity"], clip_on=False, **style)
    elif "stroke" not in mark:  # a halo is not a word of its own
        font = {"fontsize": mark["fontSize"] * 0.6, "fontweight": "bold" if mark["fontWeight"] > 400 else "normal"}
        style = {"ha": mark["align"], "va": "center", "color": mark["color"], "annotation_clip": False, **font}
        moved = (mark["dx"] * _POINTS, -mark["dy"] * _POINTS)
        for at in zip(x, y, strict=True):
            ax.annotate(mark["text"], at, moved, textcoords="offset points", zorder=depth, **style)


def _side(ax: Axes, side: Literal["x", "y"], channel: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

    axis, given = (ax.xaxis if side == "x" else ax.yaxis), channel["axis"]
    (ax.set_xscale if side == "x" else ax.set_yscale)(channel["scale"].get("type", "linear"))
    (ax.set_xlim if side == "x" else ax.set_ylim)(*channel["scale"]["domain"])
    axis.set_minor_locator(NullLocator())
    if given is None:
        axis.set_visible(False)
        return
    axis.set_major_locator(FixedLocator(given["values"]))
    shown = given.get("labels", True)
    axis.set_major_formatter(FuncFormatter(lambda v, _: written(v, given["format"])) if shown else NullFormatter())
    axis.set_tick_params(length=4 if given.get("ticks") else 0, colors=config["labelColor"], labelsize="small")
    ax.spines["bottom"].set_visible((side == "x" and bool(given.get("domain"))) or ax.spines["bottom"].get_visible())
    if given["grid"]:
        ax.grid(True, axis=side, color=config["gridColor"], linewidth=0.7)
        ax.set_axisbelow(True)
    if given["title"]:
        axis.set_label_text(given["title"], color=config["titleColor"], fontsize="small")
