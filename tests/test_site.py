"""The site's contents: every page and every public name has one place."""

from __future__ import annotations

from pathlib import Path

from scripts.site import API, SECTIONS

import epsilens as el

DOCS = Path(__file__).parents[1] / "docs"
#: What the site writes itself.
WRITTEN = {"api", "benchmarks", "gallery", "papers/errata", "papers/items", *(
    f"papers/{name}" for name in ("liu2019", "ashena2021", "kaissis2022", "unsal2022", "li2019")
)}  # fmt: skip


def test_every_page_stands_in_one_section() -> None:
    there = {str(p.relative_to(DOCS).with_suffix("")) for p in DOCS.rglob("*.md")} - {"index"}
    placed = [page for pages in SECTIONS.values() for page in pages]
    assert len(placed) == len(set(placed))
    assert set(placed) == there | WRITTEN


def test_every_public_name_stands_in_the_reference() -> None:
    placed = [name for names in API.values() for name in names]
    assert len(placed) == len(set(placed))
    assert set(placed) == {name for name in el.__all__ if name != "__version__"}
