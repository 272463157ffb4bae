"""The colours of a chart: a definition names them ``var(--risk)``, a palette says what stands there.

Inside our pages the variables themselves stand there, so that one drawing serves light, dark and print. Nowhere else
are they known, so a chart that leaves the page takes real colours with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...errors import InputError

__all__ = ["DARK", "LIGHT", "PALETTES", "Palette", "colours", "named", "resolved"]

Palette = Mapping[str, str]

#: The colours of the page's style sheet (``assets/page.css``, ``assets/assessment.css``).
LIGHT: Palette = {
    "paper": "#FFFFFF", "ink": "#16191D", "secondary": "#555B62", "risk": "#B33C00", "accuracy": "#0B5FA5",
    "baseline": "#8C939B", "axis": "#868D95", "hairline": "#DCDFE2", "wash": "#F5F6F7", "band": "#DFEAF4",
}  # fmt: skip
DARK: Palette = {
    "paper": "#15181B", "ink": "#ECEEF0", "secondary": "#A9B0B8", "risk": "#FF8F4D", "accuracy": "#74B7F2",
    "baseline": "#69717A", "axis": "#7D868F", "hairline": "#33393F", "wash": "#1E2226", "band": "#223445",
}  # fmt: skip
#: A notebook has a theme of its own: the drawing carries these variables in a style of its own (``colours``).
_OWN = "--epsilens-"
PALETTES: Mapping[str, Palette] = {
    "page": {name: f"var(--{name})" for name in LIGHT},
    "light": LIGHT,
    "dark": DARK,
    "notebook": {name: f"var({_OWN}{name})" for name in LIGHT},
}
_VARIABLE = re.compile(r"var\(--([a-z]+)\)")
#: The papers of the notebooks that say which theirs is.
_PAPERS = "var(--jp-layout-color0, var(--vscode-editor-background, {}))"


def named(name: str) -> Palette:
    """A palette by its name."""
    if name not in PALETTES:
        raise InputError(
            f"palette is {name!r}: choose from {', '.join(PALETTES)}", parameter="palette", value=name
        )  # fmt: skip
    return PALETTES[name]


def resolved(value: Any, palette: Palette) -> Any:
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

    light = (rule(LIGHT, '[data-jp-theme-light="true"] '), rule(LIGHT, ".vscode-light "))
    dark = (rule(DARK, '[data-jp-theme-light="false"] '), rule(DARK, ".vscode-dark "))
    return f"{rule(LIGHT)}@media(prefers-color-scheme:dark){{{rule(DARK)}}}{''.join(light + dark)}"
