"""Make from the vendored WOFF2 files what the charts need besides: how wide each letter is, and fonts for PNG.

``python scripts/fonts.py`` reads ``src/epsilens/show/assets/source-sans-3-*.woff2`` (see the README there) and writes

- ``letter-widths.json``: the advance width of every character, in thousandths of the font size, by weight;
- ``epsilens-sans-{400,600}.ttf``: Latin and Greek in one file, because resvg reads no WOFF2. A merged font is a
  modified version in the sense of the Open Font License, so it does not carry the reserved name "Source".

Needs ``fonttools`` and ``brotli`` (the dev group).
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from fontTools.merge import Merger
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

ASSETS = Path(__file__).parents[1] / "src" / "epsilens" / "show" / "assets"
SUBSETS = ("latin", "greek")
STYLES = {400: "Regular", 600: "SemiBold"}
FAMILY = "Epsilens Sans"


def opened(subset: str, weight: int) -> Any:
    """One vendored font."""
    return TTFont(ASSETS / f"source-sans-3-{subset}-{weight}-normal.woff2", recalcTimestamp=False)


def widths(weight: int) -> dict[str, int]:
    """Every character of both subsets with its advance width, in thousandths of an em."""
    found: dict[int, int] = {}
    for subset in SUBSETS:
        font = opened(subset, weight)
        em = font["head"].unitsPerEm
        for code, glyph in font.getBestCmap().items():
            found.setdefault(code, round(1000 * font["hmtx"][glyph][0] / em))
    return {chr(code): found[code] for code in sorted(found) if chr(code).isprintable() or code == 0xA0}


def merged(weight: int) -> Any:
    """Both subsets as one font with kerning and nothing else, under a name of its own."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for subset in SUBSETS:
            font = opened(subset, weight)
            font.flavor = None
            paths.append(str(Path(folder) / f"{subset}.ttf"))
            font.save(paths[-1])
        font = Merger().merge(paths)
    options = Options()
    options.layout_features, options.hinting, options.name_IDs = ["kern", "mark"], False, ["*"]
    only = Subsetter(options)
    only.populate(unicodes=font.getBestCmap())
    only.subset(font)
    names = {1: FAMILY, 2: STYLES[weight], 4: f"{FAMILY} {STYLES[weight]}", 6: f"EpsilensSans-{STYLES[weight]}"}
    names |= {3: names[6], 16: FAMILY, 17: STYLES[weight]}
    table = font["name"]
    table.names = [record for record in table.names if record.nameID in (0, 14)]
    for number, text in names.items():
        table.setName(text, number, 3, 1, 0x409)
    font["OS/2"].usWeightClass = weight
    font["head"].created = font["head"].modified = opened("latin", weight)["head"].created  # the same bytes each time
    font.recalcTimestamp = False
    return font


def main() -> None:
    """Write the table and both fonts."""
    table = {str(weight): widths(weight) for weight in STYLES}
    lines = ",\n".join(f'"{w}": {json.dumps(t, ensure_ascii=False, separators=(",", ":"))}' for w, t in table.items())
    (ASSETS / "letter-widths.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    for weight in STYLES:
        merged(weight).save(ASSETS / f"epsilens-sans-{weight}.ttf")


if __name__ == "__main__":
    main()
