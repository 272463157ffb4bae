"""The links of a built site: every page, picture, script and place on a page that one leads to is there.

python -m scripts.links build/site
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: What a page shows or runs by itself, and would have to fetch.
LOADED = {("img", "src"), ("script", "src"), ("source", "srcset"), ("link", "href"), ("iframe", "src")}


class _Page(HTMLParser):
    """Where a page leads, what it loads, and the places that can be led to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.places: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if not value:
                continue
            if name == "id":
                self.places.add(value)
            elif (tag, name) == ("a", "href"):
                self.links.add(value)
            elif (tag, name) in LOADED:
                self.loads.add(value)


def _pages(site: Path) -> dict[Path, _Page]:
    """The pages written for readers: not the theme's own, nor Sphinx's listings of source."""
    skipped = {"_static", "_modules"}
    return {path: _Page(path) for path in sorted(site.rglob("*.html")) if not skipped & set(path.parts)}


def broken(site: Path) -> list[str]:
    """Links inside the site that lead nowhere, as "page: link"."""
    site = site.resolve()
    pages = _pages(site)
    wrong = []
    for path, page in pages.items():
        for link in sorted(page.links | page.loads):
            there = urlsplit(link)
            if there.scheme or there.netloc:
                continue
            target = (path.parent / unquote(there.path)).resolve() if there.path else path
            place = unquote(there.fragment)
            known = not place or target not in pages or place in pages[target].places
            if not target.exists() or not known:
                wrong.append(f"{path.relative_to(site)}: {link}")
    return wrong


def fetched(site: Path) -> list[str]:
    """What pages would load from elsewhere, as "page: address"."""
    site = site.resolve()
    return [
        f"{path.relative_to(site)}: {address}"
        for path, page in _pages(site).items()
        for address in sorted(page.loads)
        if urlsplit(address).netloc
    ]


def main() -> int:
    """Say what is wrong with a site."""
    site = Path(sys.argv[1])
    wrong = [f"leads nowhere: {link}" for link in broken(site)] + [f"fetched: {address}" for address in fetched(site)]
    for each in wrong:
        print(each, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
