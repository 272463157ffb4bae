"""PDF set by Typst: the programs are ours (``assets/*.typ``), and what they set reaches them as data.

Nothing of the data is read as markup, and the programs read no file and fetch nothing. The letters are those of the
page; signs and alphabets that these lack come from the fonts within Typst, and a character that none of them has is a
question mark. No date and nothing of the machine is written, so the same data are the same bytes.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from types import ModuleType
from typing import TypeAlias

from ..errors import require

Node: TypeAlias = dict[str, object]

#: What no font at hand draws, in the syntax that Python and Typst share: all but the letters of Latin, Greek, Cyrillic,
#: Armenian, Hebrew and Georgian, marks, arrows and the signs of mathematics.
UNKNOWN = (
    "[^\t\n -~\u00a0-\u0377\u037a-\u037f\u0384-\u038a\u038c\u038e-\u03a1\u03a3-\u04ff\u0531-\u0556\u0559-\u058a"
    "\u05d0-\u05ea\u10d0-\u10ff\u1e00-\u1eff\u2000-\u200a\u2010-\u2027\u202f-\u2040\u2044-\u2052\u2070\u2071\u2074-\u208e"
    "\u20a0-\u20c0\u2100-\u211e\u2190-\u23ff\u2500-\u25ff\u2610-\u2612]"
)
_SIZE = re.compile(r'(?<![-\w])width="([\d.]+)" height="([\d.]+)"')
_LABEL = re.compile(r'aria-label="([^"]*)"')


def typeset(program: str, data: Mapping[str, object]) -> bytes:
    """What a program of ours makes of data."""
    typst = require("typst", "a PDF", "pdf")
    source = files("epsilens.show").joinpath("assets", f"{program}.typ").read_bytes()
    words = json.dumps({**data, "unknown": UNKNOWN}, ensure_ascii=False, allow_nan=False)
    words = unicodedata.normalize("NFC", words).encode("utf-8", "replace").decode("utf-8")
    made: bytes = typst.compile(
        source, root=_assets(), font_paths=_fonts(typst), sys_inputs={"document": words}, format="pdf"
    )
    return made


def drawings_pdf(drawings: Sequence[str], title: str = "", paper: str = "#FFFFFF") -> bytes:
    """Drawings of ours in real colours, each on a page of its own size; without a title, what the first of them tells.

    >>> import epsilens as el
    >>> drawings_pdf([el.laplace(epsilon=1.0).chart("roc").svg("light")])[:8]
    b'%PDF-1.7'
    """
    pages = [picture(one) for one in drawings]
    return typeset("drawings", {"paper": paper, "name": title or pages[0]["alt"], "pages": pages})


def picture(drawing: str) -> Node:
    """A drawing of ours with its size and what it tells those who cannot see it."""
    size, label = _SIZE.search(drawing), _LABEL.search(drawing)
    if size is None or label is None:
        raise ValueError("a drawing of ours says its size and what it shows")
    drawn = re.sub(UNKNOWN, "?", drawing).replace("&#x27;Source Sans 3&#x27;", "Epsilens Sans")
    return {"svg": drawn, "width": float(size[1]), "height": float(size[2]), "alt": html.unescape(label[1])}


def _assets() -> str:
    return str(files("epsilens.show").joinpath("assets"))


@cache
def _fonts(typst: ModuleType) -> object:
    return typst.Fonts(include_system_fonts=False, font_paths=[_assets()])
