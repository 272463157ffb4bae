"""A PDF file of pages on which lines, dots and words are drawn, measured like a screen: pixels from the top left.

It holds no date and nothing of the machine, so the same pages are the same bytes. Each page may carry its words for
readers who cannot see it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from .fonts import Font, font

#: Points of paper for each pixel: 96 pixels are an inch, and so are 72 points.
_POINTS = 0.75
#: How far the handles of a quarter of a circle reach.
_ROUND = 0.5522847498
_STEP = re.compile(r"([MLHVhvC])([^MLHVhvC]*)")
_NUMBER = re.compile(r"-?[\d.]+")


def _n(value: float) -> str:
    """A number, short; PDF knows no exponents."""
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _paint(colour: str, stroke: bool = False) -> str:
    """What sets a colour such as #B33C00."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return f"{' '.join(map(_n, parts))} {'RG' if stroke else 'rg'}"


@dataclass
class Page:
    """One page, ``wide`` and ``high`` in pixels; of a picture ``said`` is what a reader hears who cannot see it."""

    wide: float
    high: float
    said: str = ""
    _drawn: list[str] = field(default_factory=list, repr=False)
    _used: dict[int, dict[int, str]] = field(default_factory=dict, repr=False)
    _faint: dict[str, float] = field(default_factory=dict, repr=False)

    def fill(self, colour: str) -> None:
        """Colour the whole page."""
        self.rectangle(0, 0, self.wide, self.high, colour)

    def rectangle(self, x: float, y: float, wide: float, high: float, colour: str) -> None:
        """A filled rectangle."""
        self._drawn.append(f"q {_paint(colour)} {_n(x)} {_n(y)} {_n(wide)} {_n(high)} re f Q")

    def begin(self, said: str) -> None:
        """A picture on the page begins, and what a reader hears who cannot see it."""
        self._drawn.append(f"/Span << /Alt {_text(said)} >> BDC")

    def end(self) -> None:
        """It ends."""
        self._drawn.append("EMC")

    def shape(self, corners: Sequence[tuple[float, float]], colour: str) -> None:
        """A filled shape."""
        (x, y), *rest = corners
        lines = " ".join(f"{_n(a)} {_n(b)} l" for a, b in rest)
        self._drawn.append(f"q {_paint(colour)} {_n(x)} {_n(y)} m {lines} h f Q")

    def path(
        self,
        steps: str,
        colour: str,
        width: float = 1,
        *,
        at: tuple[float, float] = (0, 0),
        dash: Sequence[float] = (),
        rounded: bool = False,
    ) -> None:
        """A line along the steps of an SVG path: M, L, H, V, h, v and C."""
        pattern = f"[{' '.join(map(_n, dash))}] 0 d " if dash else ""
        join = "1 j " if rounded else ""
        self._drawn.append(f"q {_paint(colour, stroke=True)} {_n(width)} w {join}{pattern}{_along(steps, at)} S Q")

    def circle(
        self,
        middle: tuple[float, float],
        radius: float,
        fill: str | None,
        stroke: tuple[str, float] | None = None,
        opacity: float = 1,
    ) -> None:
        """A dot, filled, outlined or both."""
        (x, y), r, k = middle, radius, radius * _ROUND
        points = (
            ((x + r, y + k), (x + k, y + r), (x, y + r)), ((x - k, y + r), (x - r, y + k), (x - r, y)),
            ((x - r, y - k), (x - k, y - r), (x, y - r)), ((x + k, y - r), (x + r, y - k), (x + r, y)),
        )  # fmt: skip
        curve = " ".join(" ".join(f"{_n(a)} {_n(b)}" for a, b in some) + " c" for some in points)
        paints = [_paint(fill)] if fill else []
        paints += [f"{_paint(stroke[0], stroke=True)} {_n(stroke[1])} w"] if stroke else []
        if opacity != 1:
            name = f"G{round(opacity * 1000)}"
            self._faint[name] = opacity
            paints.append(f"/{name} gs")
        how = {(True, True): "B", (True, False): "f", (False, True): "S", (False, False): "n"}[bool(fill), bool(stroke)]
        self._drawn.append(f"q {' '.join(paints)} {_n(x + r)} {_n(y)} m {curve} h {how} Q")

    def text(
        self,
        words: str,
        at: tuple[float, float],
        colour: str,
        *,
        size: float = 15,
        weight: int = 400,
        halo: tuple[str, float] | None = None,
    ) -> None:
        """Words from a point on their baseline; with a ``halo`` they are outlined, as ground for themselves."""
        glyphs = font(weight).drawn(words)
        self._used.setdefault(weight, {}).update({glyph: char for char, glyph in glyphs})
        code = "".join(f"{glyph:04X}" for _, glyph in glyphs)
        outline = f"{_paint(halo[0], stroke=True)} {_n(halo[1])} w 1 j 2 Tr" if halo else "0 Tr"
        # The page is turned upside down to count from the top, so its letters are turned back.
        place = f"1 0 0 -1 {_n(at[0])} {_n(at[1])} Tm"
        words_drawn = f"q BT {_paint(colour)} {outline} /F{weight} {_n(size)} Tf {place} <{code}> Tj ET Q"
        # A halo lies beneath the same words once more: only those are read aloud, found and copied.
        self._drawn.append(f"/Span << /ActualText <FEFF> >> BDC {words_drawn} EMC" if halo else words_drawn)


def _along(steps: str, at: tuple[float, float]) -> str:
    made, x, y = [], 0.0, 0.0
    right, down = at
    for kind, rest in _STEP.findall(steps):
        given = [float(text) for text in _NUMBER.findall(rest)]
        if kind in "HhVv":
            (by,) = given
            x = by if kind == "H" else x + by if kind == "h" else x
            y = by if kind == "V" else y + by if kind == "v" else y
            made.append(f"{_n(x + right)} {_n(y + down)} l")
            continue
        each = 6 if kind == "C" else 2
        for i in range(0, len(given), each):
            some = given[i : i + each]
            x, y = some[-2:]
            moved = " ".join(_n(value + (down if j % 2 else right)) for j, value in enumerate(some))
            made.append(f"{moved} {kind.lower() if i == 0 or kind != 'M' else 'l'}")
    return " ".join(made)


# -- the file -----------------------------------------------------------------------------------------------------


class _File:
    """The numbered objects of a PDF."""

    def __init__(self) -> None:
        self.objects: list[bytes] = []

    def kept(self, content: str | bytes = b"") -> int:
        """Keep an object and give its number; an empty one is filled later."""
        self.objects.append(content.encode("latin-1") if isinstance(content, str) else content)
        return len(self.objects)

    def set(self, number: int, content: str) -> None:
        self.objects[number - 1] = content.encode("latin-1")

    def stream(self, content: bytes, more: str = "") -> int:
        packed = zlib.compress(content, 9)
        told = f"<< /Length {len(packed)} /Filter /FlateDecode {more}>>\nstream\n"
        return self.kept(told.encode() + packed + b"\nendstream")

    def bytes(self, root: int, info: int) -> bytes:
        made, places = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), []
        for number, content in enumerate(self.objects, 1):
            places.append(len(made))
            made += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
        table = len(made)
        made += f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n".encode()
        made += b"".join(b"%010d 00000 n \n" % place for place in places)
        made += f"trailer\n<< /Size {len(places) + 1} /Root {root} 0 R /Info {info} 0 R >>\n".encode()
        return bytes(made + f"startxref\n{table}\n%%EOF\n".encode())


def _text(words: str) -> str:
    """A string of any characters."""
    return f"<FEFF{words.encode('utf-16-be').hex().upper()}>"


def written(pages: Sequence[Page], title: str) -> bytes:
    """The pages as a PDF file.

    >>> page = Page(200, 100, said="a line")
    >>> page.path("M0,0L200,100", "#16191D")
    >>> page.text("ε = 1", (20, 50), "#B33C00", weight=600)
    >>> written([page], "One page")[:8]
    b'%PDF-1.7'
    """
    file = _File()
    root, tree, structure, parents = (file.kept() for _ in range(4))
    letters = {weight: _font(file, font(weight), _all(pages, weight)) for weight in _weights(pages)}
    fonts = " ".join(f"/F{weight} {number} 0 R" for weight, number in letters.items())
    faint = {name: value for page in pages for name, value in page._faint.items()}
    states = " ".join(f"/{name} << /ca {_n(v)} /CA {_n(v)} >>" for name, v in faint.items())
    shared = f"/Resources << /Font << {fonts} >> /ExtGState << {states} >> >>"
    kids: list[int] = []
    figures: list[int] = []
    tagged: dict[int, int] = {}
    for i, page in enumerate(pages):
        size = _n(page.wide * _POINTS), _n(page.high * _POINTS)
        drawn = "\n".join(page._drawn)
        content = f"q {_POINTS} 0 0 -{_POINTS} 0 {size[1]} cm\n{drawn}\nQ"
        content = f"/Figure << /MCID 0 >> BDC\n{content}\nEMC" if page.said else content
        stream = file.stream(content.encode("latin-1"))
        kids.append(
            file.kept(
                f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 {size[0]} {size[1]}] /Contents {stream} 0 R "
                f"/StructParents {i} {shared} >>"
            )
        )
        if not page.said:
            continue
        tagged[i] = len(figures)
        figures.append(
            file.kept(
                f"<< /Type /StructElem /S /Figure /P {structure} 0 R /Pg {kids[-1]} 0 R /K 0 /Alt {_text(page.said)} >>"
            )
        )
    file.set(tree, f"<< /Type /Pages /Kids [{_references(kids)}] /Count {len(kids)} >>")
    file.set(structure, f"<< /Type /StructTreeRoot /K [{_references(figures)}] /ParentTree {parents} 0 R >>")
    file.set(parents, f"<< /Nums [{' '.join(f'{i} [{figures[k]} 0 R]' for i, k in tagged.items())}] >>")
    marked = "true" if all(page.said for page in pages) else "false"
    file.set(
        root,
        f"<< /Type /Catalog /Pages {tree} 0 R /Lang (en) /MarkInfo << /Marked {marked} >> "
        f"/StructTreeRoot {structure} 0 R /ViewerPreferences << /DisplayDocTitle true >> >>",
    )
    return file.bytes(root, file.kept(f"<< /Title {_text(title)} /Producer (epsilens) >>"))


def _references(numbers: Sequence[int]) -> str:
    return " ".join(f"{number} 0 R" for number in numbers)


def _weights(pages: Sequence[Page]) -> list[int]:
    return sorted({weight for page in pages for weight in page._used})


def _all(pages: Sequence[Page], weight: int) -> dict[int, str]:
    made: dict[int, str] = {}
    for page in pages:
        made |= page._used.get(weight, {})
    return dict(sorted(made.items()))


def _font(file: _File, one: Font, used: dict[int, str]) -> int:
    """The font with its widths, and the characters of its glyphs, so that words can be searched and copied."""
    raw = file.stream(one.raw, f"/Length1 {len(one.raw)} ")
    box = " ".join(str(one.scaled(value)) for value in one.box)
    above, below = one.scaled(one.ascent), one.scaled(one.descent)
    described = file.kept(
        f"<< /Type /FontDescriptor /FontName /{one.name} /Flags 4 /FontBBox [{box}] /ItalicAngle 0 /Ascent {above} "
        f"/Descent {below} /CapHeight {above} /StemV 80 /FontFile2 {raw} 0 R >>"
    )
    widths = " ".join(f"{glyph} [{one.scaled(one.advances[glyph])}]" for glyph in used)
    kept = file.kept(
        f"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /{one.name} /CIDSystemInfo << /Registry (Adobe) /Ordering "
        f"(Identity) /Supplement 0 >> /FontDescriptor {described} 0 R /W [{widths}] /CIDToGIDMap /Identity >>"
    )
    return file.kept(
        f"<< /Type /Font /Subtype /Type0 /BaseFont /{one.name} /Encoding /Identity-H /DescendantFonts [{kept} 0 R] "
        f"/ToUnicode {file.stream(_characters(used))} 0 R >>"
    )


def _characters(used: dict[int, str]) -> bytes:
    each = [f"<{glyph:04X}> <{char.encode('utf-16-be').hex().upper()}>" for glyph, char in used.items()]
    parts = [each[i : i + 100] for i in range(0, len(each), 100)]  # no list may be longer
    lists = "\n".join(f"{len(some)} beginbfchar\n" + "\n".join(some) + "\nendbfchar" for some in parts)
    return (
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n"
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n"
        "/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n"
        f"1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n{lists}\n"
        "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend"
    ).encode()
