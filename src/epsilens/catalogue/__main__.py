"""``python -m epsilens.catalogue [FOLDER]``: print the docs' tables, or write them between their marks in a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from .tables import TABLES, refreshed


def main(arguments: list[str]) -> None:
    """Print every table, or refresh the pages of a folder."""
    if not arguments:
        sys.stdout.write("\n\n".join(f"## {name}\n\n{table()}" for name, table in TABLES.items()) + "\n")
        return
    for page in sorted(Path(arguments[0]).glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if refreshed(text) != text:
            page.write_text(refreshed(text), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
