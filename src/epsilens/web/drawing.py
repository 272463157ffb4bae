"""Draw our own Vega-Lite charts without a JavaScript engine, fast enough for a slider.

The report hands its chart definitions to vl-convert, which starts a Vega view for each and takes about a tenth of a
second. A slider needs two charts in less. The definitions in :mod:`epsilens.show.charts` use a small part of
Vega-Lite (lines, dots and text on two linear axes with a title), and this module draws exactly that part, to the same
coordinates; a test compares the two. A definition that asks for anything else is left to vl-convert.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

__all__ = ["Unsupported", "draw", "svg"]

Scale = Callable[[float], float]
#: How far below its point a text's baseline lies, as a share of the font size; Vega rounds the product to a pixel.
_BASELINES = {"middle": 0.3, "top": 0.79, "alphabetic": 0.0, "bottom": -0.21}
#: Vega sets axes half a pixel off, so that hairlines are sharp.
_SHARP = 0.5
#: What Vega leaves below a subtitle's baseline, besides the title's offset.
_UNDER_TITLE = 10


class Unsupported(Exception):  # noqa: N818 - not an error: the caller then asks vl-convert
    """The definition uses a part of Vega-Lite that is not drawn here."""


def svg(spec: Mapping[str, Any], label: str) -> str:
    """A definition as inline SVG, described by ``label`` for readers who cannot see it."""
    try:
        return draw(spec, label)
    except (Unsupported, KeyError):
        import re

        import vl_convert

        made = re.sub(r' (?:role|aria-[a-z]+)="[^"]*"', "", str(vl_convert.vegalite_to_svg(dict(spec))))
        return made.replace("<svg ", f'<svg role="img" aria-label="{html.escape(label)}" ', 1)


def draw(spec: Mapping[str, Any], label: str) -> str:
    """The same without vl-convert; raises :class:`Unsupported` for what is not drawn here."""
    _only(spec, {"$schema", "width", "height", "autosize", "padding", "title", "layer", "encoding", "config"})
    width, height, pad = spec["width"], spec["height"], spec["padding"]
    x = _scale(spec["encoding"]["x"], 0, width)
    y = _scale(spec["encoding"]["y"], height, 0)
    config = spec["config"]
    parts = [
        *_grid(spec["encoding"], x, y, width, height, config["axis"]),
        *_axis_labels(spec["encoding"], x, y, height, config["axis"]),
        *_title(spec["title"], config["title"]),
        *(_layer(layer, x, y) for layer in spec["layer"]),
    ]
    wide, high = width + pad["left"] + pad["right"], height + pad["top"] + pad["bottom"]
    font = html.escape(config["font"])
    return (
        f'<svg role="img" aria-label="{html.escape(label)}" xmlns="http://www.w3.org/2000/svg" width="{wide:g}" '
        f'height="{high:g}" viewBox="0 0 {wide:g} {high:g}" class="marks" font-family="{font}">'
        f'<g transform="translate({pad["left"]:g},{pad["top"]:g})" fill="none">{"".join(parts)}</g></svg>'
    )


def _only(given: Mapping[str, Any], known: set[str]) -> None:
    for key in given:
        if key not in known:
            raise Unsupported(key)


def _scale(channel: Mapping[str, Any], start: float, end: float) -> Scale:
    _only(channel, {"field", "type", "scale", "axis"})
    _only(channel["scale"], {"domain", "nice"})
    if channel["type"] != "quantitative" or channel["scale"]["nice"]:
        raise Unsupported("scale")
    low, high = channel["scale"]["domain"]
    return partial(_linear, low, (end - start) / (high - low), start)


def _linear(low: float, step: float, start: float, value: float) -> float:
    return start + (value - low) * step


def _drop(baseline: str, size: float) -> int:
    return math.floor(_BASELINES[baseline] * size + 0.5)


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"


def _text(
    words: str, at: tuple[float, float], anchor: str, size: float, fill: str, weight: int = 400, **more: Any
) -> str:
    extra = "".join(f' {name.replace("_", "-")}="{html.escape(str(value))}"' for name, value in more.items())
    heavy = f' font-weight="{weight}"' if weight != 400 else ""
    return (
        f'<text text-anchor="{anchor}" transform="translate({_n(at[0])},{_n(at[1])})" '
        f'font-size="{size:g}px"{heavy}{extra} fill="{html.escape(fill)}">{html.escape(words)}</text>'
    )


def _grid(
    encoding: Mapping[str, Any], x: Scale, y: Scale, width: float, height: float, axis: Mapping[str, Any]
) -> list[str]:
    lines = []
    for value in encoding["x"]["axis"]["values"]:
        lines.append(f"M{_n(x(value) + _SHARP)},{_SHARP}V{_n(height + _SHARP)}")
    for value in encoding["y"]["axis"]["values"]:
        lines.append(f"M{_SHARP},{_n(y(value) + _SHARP)}H{_n(width + _SHARP)}")
    return [f'<path d="{"".join(lines)}" stroke="{html.escape(axis["gridColor"])}"/>']


def _axis_labels(encoding: Mapping[str, Any], x: Scale, y: Scale, height: float, axis: Mapping[str, Any]) -> list[str]:
    for channel in ("x", "y"):
        known = {
            "values",
            "grid",
            "domain",
            "ticks",
            "labelPadding",
            "labelFlush",
            "title",
            "titleAnchor",
            "titlePadding",
        }
        _only(encoding[channel]["axis"], known)
    size, colour, gap = axis["labelFontSize"], axis["labelColor"], encoding["x"]["axis"]["labelPadding"]
    down = height + _SHARP + gap + _drop("top", size)
    made = [_text(f"{v:g}", (x(v) + _SHARP, down), "middle", size, colour) for v in encoding["x"]["axis"]["values"]]
    across = _SHARP - encoding["y"]["axis"]["labelPadding"]
    made += [
        _text(f"{v:g}", (across, y(v) + _SHARP + _drop("middle", size)), "end", size, colour)
        for v in encoding["y"]["axis"]["values"]
    ]
    if encoding["y"]["axis"]["title"] is not None:
        raise Unsupported("y title")
    under = encoding["x"]["axis"]
    drop = height + _SHARP + gap + size + under["titlePadding"] + _drop("top", axis["titleFontSize"])
    made.append(_text(under["title"], (_SHARP, drop), "start", axis["titleFontSize"], axis["titleColor"]))
    return made


def _title(title: Mapping[str, Any], config: Mapping[str, Any]) -> list[str]:
    _only(title, {"text", "subtitle"})
    size, small = config["fontSize"], config["subtitleFontSize"]
    under = -config["offset"] - _UNDER_TITLE
    over = under - small - config["subtitlePadding"]
    return [
        _text(title["text"], (config["dx"], over), "start", size, config["color"], config["fontWeight"]),
        _text(title["subtitle"], (config["dx"], under), "start", small, config["subtitleColor"]),
    ]


def _layer(layer: Mapping[str, Any], x: Scale, y: Scale) -> str:
    _only(layer, {"data", "mark", "encoding"})
    if layer.get("encoding", {"order": {"value": None}}) != {"order": {"value": None}}:
        raise Unsupported("encoding of a layer")
    points = [(x(p["x"]), y(p["y"])) for p in layer["data"]["values"]]
    mark = layer["mark"]
    if mark["type"] == "line":
        return _line(mark, points)
    if mark["type"] == "point":
        return "".join(_dot(mark, point) for point in points)
    if mark["type"] == "text":
        return "".join(_word(mark, point) for point in points)
    raise Unsupported(mark["type"])


def _line(mark: Mapping[str, Any], points: list[tuple[float, float]]) -> str:
    _only(mark, {"type", "color", "strokeWidth", "strokeJoin", "clip", "strokeDash"})
    # Points that fall on the same hundredth of a pixel are one: curves are dense where they may be steep.
    path = "L".join(dict.fromkeys(f"{_n(a)},{_n(b)}" for a, b in points))
    dash = f' stroke-dasharray="{",".join(f"{d:g}" for d in mark["strokeDash"])}"' if "strokeDash" in mark else ""
    return (
        f'<path d="M{path}" stroke="{html.escape(mark["color"])}" stroke-width="{mark["strokeWidth"]:g}" '
        f'stroke-linejoin="round"{dash}/>'
    )


def _dot(mark: Mapping[str, Any], at: tuple[float, float]) -> str:
    _only(mark, {"type", "size", "opacity", "fill", "stroke", "strokeWidth"})
    radius = (mark["size"] ** 0.5) / 2  # Vega's size is the square of the circle's width
    return (
        f'<circle cx="{_n(at[0])}" cy="{_n(at[1])}" r="{_n(radius)}" fill="{html.escape(mark["fill"])}" '
        f'stroke="{html.escape(mark["stroke"])}" stroke-width="{mark["strokeWidth"]:g}"/>'
    )


def _word(mark: Mapping[str, Any], at: tuple[float, float]) -> str:
    known = {
        "type",
        "text",
        "align",
        "baseline",
        "fontSize",
        "fontWeight",
        "color",
        "stroke",
        "strokeWidth",
        "strokeJoin",
    }
    _only(mark, known)
    anchor = {"left": "start", "right": "end", "center": "middle"}[mark["align"]]
    more = {"stroke": mark["stroke"], "stroke_width": mark["strokeWidth"]} if "stroke" in mark else {}
    if more:
        more["stroke_linejoin"] = mark["strokeJoin"]
    at = at[0], at[1] + _drop(mark["baseline"], mark["fontSize"])
    return _text(mark["text"], at, anchor, mark["fontSize"], mark["color"], mark["fontWeight"], **more)
