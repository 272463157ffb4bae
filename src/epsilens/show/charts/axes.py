"""A definition on matplotlib axes: the same lines, points and words in the style of the reader's own figures.

Importing this module needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from ...errors import InputError, type_phrase
from .scales import written
from .svg import LIGHT, resolved

#: A pixel of a chart in points of print.
_POINTS = 0.72


def plot(spec: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw a definition on axes, on new ones of its shape where none are given."""
    if ax is not None and not isinstance(ax, Axes):
        raise InputError(
            f"ax is {type_phrase(ax)}: give matplotlib axes, or nothing to have some made", parameter="ax", value=ax
        )
    drawn = resolved(spec, LIGHT)
    if ax is None:
        pad = spec["padding"]
        wide, high = spec["width"] + pad["left"] + pad["right"], spec["height"] + pad["top"] + pad["bottom"]
        figure = pyplot.figure(figsize=(wide / 100, high / 100))
        ax = figure.add_axes((
            pad["left"] / wide, pad["bottom"] / high, spec["width"] / wide, spec["height"] / high
        ))  # fmt: skip
    for depth, layer in enumerate(drawn["layer"], 2):
        _layer(ax, layer, depth)
    _side(ax, "x", drawn["encoding"]["x"], drawn["config"]["axis"])
    _side(ax, "y", drawn["encoding"]["y"], drawn["config"]["axis"])
    for spine in ("top", "left", "right"):
        ax.spines[spine].set_visible(False)
    if "title" in drawn:
        ax.set_title(f"{drawn['title']['text']}\n{drawn['title']['subtitle']}", loc="left", fontsize="medium")
    return ax


def beside(count: int) -> list[Axes]:
    """So many new axes, two to a row."""
    rows = -(-count // 2)
    figure = pyplot.figure(figsize=(6 * min(count, 2), 5 * rows), layout="constrained")
    return [figure.add_subplot(rows, min(count, 2), i + 1) for i in range(count)]


def _layer(ax: Axes, layer: Mapping[str, Any], depth: int) -> None:
    mark = layer["mark"]
    x, y = [p["x"] for p in layer["data"]["values"]], [p["y"] for p in layer["data"]["values"]]
    if mark["type"] == "line":
        dash = (0, [d * _POINTS for d in mark["strokeDash"]]) if "strokeDash" in mark else "-"
        ax.plot(x, y, color=mark["color"], linewidth=mark["strokeWidth"] * _POINTS, linestyle=dash, zorder=depth,
                clip_on=False, solid_joinstyle="round", label=layer.get("description", "_"))  # fmt: skip
    elif mark["type"] == "point":
        filled = mark.get("filled", False)
        ax.scatter(x, y, s=mark["size"] * _POINTS**2, facecolor=mark["color"] if filled else mark["fill"], zorder=depth,
                   edgecolor="none" if filled else mark["stroke"], linewidth=0 if filled else 2 * _POINTS,
                   alpha=mark["opacity"], clip_on=False)  # fmt: skip
    elif "stroke" not in mark:  # a halo is not a word of its own
        for at in zip(x, y, strict=True):
            ax.annotate(mark["text"], at, (mark["dx"] * _POINTS, -mark["dy"] * _POINTS), textcoords="offset points",
                        ha=mark["align"], va="center", color=mark["color"], fontsize=mark["fontSize"] * 0.6,
                        fontweight="bold" if mark["fontWeight"] > 400 else "normal", annotation_clip=False,
                        zorder=depth)  # fmt: skip


def _side(ax: Axes, side: Literal["x", "y"], channel: Mapping[str, Any], config: Mapping[str, Any]) -> None:
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
