"""A chart as a page of PDF: what the SVG draws, line for line and word for word, sharp at any size.

The drawing is read from the SVG itself, so there is one renderer and one picture. Letters are those of the page,
inside the file.
"""

from __future__ import annotations

from xml.etree import ElementTree

from ..pdf.fonts import font
from ..pdf.page import Page, written


def pdf(drawing: str) -> bytes:
    """A drawing of ours in real colours as a PDF file of one page, as large as the chart.

    >>> import epsilens as el
    >>> pdf(el.laplace(epsilon=1.0).chart("roc").svg("light"))[:8]
    b'%PDF-1.7'
    """
    page = page_of(drawing)
    return written([page], page.said)


def page_of(drawing: str, paper: str = "") -> Page:
    """A drawing as a page of its own size, on ``paper`` of a colour where it is given."""
    drawn = ElementTree.fromstring(drawing)  # written here, never a stranger's
    page = Page(float(drawn.get("width", 0)), float(drawn.get("height", 0)), drawn.get("aria-label", ""))
    if paper:
        page.fill(paper)
    _draw(page, drawn, (0.0, 0.0))
    return page


def put(page: Page, drawing: str, at: tuple[float, float]) -> None:
    """Draw a drawing of ours onto a page, its upper left corner at a point."""
    drawn = ElementTree.fromstring(drawing)
    page.begin(drawn.get("aria-label", ""))
    _draw(page, drawn, at)
    page.end()


def size_of(drawing: str) -> tuple[float, float]:
    """How wide and high a drawing is."""
    drawn = ElementTree.fromstring(drawing)
    return float(drawn.get("width", 0)), float(drawn.get("height", 0))


def _draw(page: Page, drawn: ElementTree.Element, at: tuple[float, float]) -> None:
    (group,) = drawn
    x, y = _moved(group)
    for mark in group:
        _mark(page, mark, (at[0] + x, at[1] + y))


def _moved(mark: ElementTree.Element) -> tuple[float, float]:
    """The two numbers of ``translate(x,y)``."""
    x, y = mark.get("transform", "translate(0,0)").removeprefix("translate(").removesuffix(")").split(",")
    return float(x), float(y)


def _mark(page: Page, mark: ElementTree.Element, at: tuple[float, float]) -> None:
    kind, width = mark.tag.rpartition("}")[2], float(mark.get("stroke-width", 1))
    stroke = (mark.get("stroke", ""), width) if mark.get("stroke") else None
    if kind == "path" and stroke is not None:
        dash = [float(text) for text in mark.get("stroke-dasharray", "").split(",") if text]
        page.path(mark.get("d", ""), *stroke, at=at, dash=dash, rounded=mark.get("stroke-linejoin") == "round")
    elif kind == "circle":
        middle = at[0] + float(mark.get("cx", 0)), at[1] + float(mark.get("cy", 0))
        page.circle(middle, float(mark.get("r", 0)), mark.get("fill"), stroke, float(mark.get("opacity", 1)))
    elif kind == "text":
        words, weight = mark.text or "", int(mark.get("font-weight", 400))
        size = float(mark.get("font-size", "15px").removesuffix("px"))
        back = {"start": 0.0, "middle": 0.5, "end": 1.0}[mark.get("text-anchor", "start")]
        x, y = _moved(mark)
        place = at[0] + x - back * font(weight).width(words, size), at[1] + y
        page.text(words, place, mark.get("fill", ""), size=size, weight=weight, halo=stroke)
    else:
        raise ValueError(f"no chart of ours has the mark {kind!r}: draw it here first")
