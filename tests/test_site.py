"""The site's contents: every page and every public name has one place."""

from __future__ import annotations

from pathlib import Path

import yaml
from scripts.links import broken, fetched
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
    spaces = {f"{space}.{name}" for space in ("mechanisms", "attacks") for name in getattr(el, space).__all__}
    at_root = {name for name in el.__all__ if name != "__version__"}
    twice = {name for name in spaces if name.partition(".")[2] in at_root}
    assert set(placed) == (spaces - twice) | at_root


def test_links_that_lead_nowhere_and_what_is_fetched_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="b.html#there">b</a><a href="#here">a</a><a href="b.html#gone">x</a>'
        '<a href="c.html">y</a><a href="https://example.org/">z</a><img src="no.png"></p>',
        encoding="utf-8",
    )
    (tmp_path / "b.html").write_text(
        '<h1 id="there"><script src="https://cdn.example/x.js"></script>', encoding="utf-8"
    )
    assert broken(tmp_path) == ["a.html: b.html#gone", "a.html: c.html", "a.html: no.png"]
    assert fetched(tmp_path) == ["b.html: https://cdn.example/x.js"]


def test_the_citation_is_of_this_version_and_names_nobody_twice() -> None:
    """What the schema of CITATION.cff asks for beside its fields."""
    cited = yaml.safe_load((DOCS.parent / "CITATION.cff").read_text("utf-8"))
    assert cited["version"] == el.__version__
    for work in (cited, *cited["references"]):
        people = [tuple(person.items()) for person in work["authors"]]
        assert len(people) == len(set(people)), work["title"]
