"""The proofs and the code name each other: no link between them is dead."""

from __future__ import annotations

import re
from pathlib import Path
from pkgutil import resolve_name

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "proofs").glob("*.md"))
STATEMENT = re.compile(r"^### (Definition|Theorem|Lemma) ([A-Z]\d+): \S", re.MULTILINE)
#: "Theorem D3", "Lemmas C1, C2 and C4", "Theorems D13 to D19": the kind, and the numbers.
NAMED = re.compile(r"\b(Definition|Theorem|Lemma)s? ([A-Z]\d+(?:(?:,? and|,? or|,| to)\s(?:#\s)?[A-Z]\d+)*)")


def statements() -> dict[str, tuple[Path, str, str]]:
    """By number: the page, the kind, the text up to the next heading."""
    found: dict[str, tuple[Path, str, str]] = {}
    for page in PAGES:
        text = page.read_text("utf-8")
        heads = list(STATEMENT.finditer(text))
        assert len(heads) == len(re.findall(r"^### ", text, re.MULTILINE)), page
        for head in heads:
            assert head[2] not in found, head[2]
            found[head[2]] = page, head[1], re.split(r"^##", text[head.end() :], maxsplit=1, flags=re.MULTILINE)[0]
    return found


def reliant(text: str) -> list[str]:
    """The code that a statement says relies on it."""
    last = text.strip().rsplit("\n", 1)[-1]
    return re.findall(r"`(epsilens\.[\w.]+)`", last) if last.startswith("*Relied on by* ") else []


def links(text: str) -> list[tuple[str, str]]:
    """The kind and the number of every statement that a text names."""
    found = []
    for kind, numbers in NAMED.findall(text):
        named = re.findall(r"[A-Z]\d+|to", numbers)
        for before, number in zip(["", *named], named, strict=False):
            if number != "to":
                found.append((kind if before == "" else "", number))
    return found


@pytest.mark.parametrize("number", statements())
def test_a_statement_names_code_that_exists(number: str) -> None:
    named = reliant(statements()[number][2])
    assert named
    for name in named:
        resolve_name(name)


def test_every_link_leads_to_a_statement() -> None:
    """From the code, and from one proof to another."""
    found = statements()
    linked = 0
    for path in [*sorted((ROOT / "src").rglob("*.py")), *PAGES]:
        text = path.read_text("utf-8")
        for kind, number in links(text):
            assert number in found, (path, number)
            assert kind in ("", found[number][1]), (path, kind, number)
            linked += 1
        for page in re.findall(r"docs/proofs/([\w-]+)\.md", text):
            assert (ROOT / "docs" / "proofs" / f"{page}.md").is_file(), (path, page)
    assert linked
