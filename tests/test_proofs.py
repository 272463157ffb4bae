"""The proofs and the code name each other: no link between them is dead."""

from __future__ import annotations

import re
import sys
from inspect import isfunction, unwrap
from itertools import pairwise
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType

import pytest

import epsilens as el
from epsilens.catalogue.mechanisms import ANY_CLAIM, CLAIMS, MECHANISMS

ROOT = Path(__file__).parents[1]
#: The pages whose statements say what code relies on them.
PAGES = [p for p in sorted((ROOT / "docs" / "proofs").glob("*.md")) if "\n*Relied on by* `" in p.read_text("utf-8")]
STATEMENT = re.compile(r"^### (Definition|Theorem|Lemma) ([A-Z]\d+): \S", re.MULTILINE)
#: "Theorem D3", "Lemmas C1, C2 and C4", "Theorems D13 to D19": the kind, and the numbers.
NAMED = re.compile(
    r"\b(Definition|Theorem|Lemma)s?\s+(?:#\s)?([A-Z]\d+(?:(?:,?\s+and|,?\s+or|,|\s+to)\s+(?:#\s)?[A-Z]\d+)*)"
)


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
    return re.findall(r"`(epsilens(?:_checker)?\.[\w.]+)`", last) if last.startswith("*Relied on by* ") else []


def links(text: str) -> list[tuple[str, str]]:
    """The kind and the number of every statement that a text names; of a range the kind of the first alone."""
    found = []
    for kind, numbers in NAMED.findall(text):
        named = re.findall(r"[A-Z]\d+|to", numbers)
        found.append((kind, named[0]))
        for before, number in pairwise(named):
            if before == "to":
                letter, first, last = number[0], int(found[-1][1][1:]) + 1, int(number[1:])
                found += [("", f"{letter}{n}") for n in range(first, last)]
            if number != "to":
                found.append(("", number))
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
    for path in [*sorted((ROOT / "src").rglob("*.py")), *sorted((ROOT / "checker").rglob("*.py")), *PAGES]:
        text = path.read_text("utf-8")
        for kind, number in links(text):
            assert number in found, (path, number)
            assert kind in ("", found[number][1]), (path, kind, number)
            linked += 1
        for page in re.findall(r"docs/proofs/([\w-]+)\.md", text):
            assert (ROOT / "docs" / "proofs" / f"{page}.md").is_file(), (path, page)
    assert linked


def builders() -> dict[int, str]:
    """Every function that builds something to read, from the catalogue and the namespaces: by identity, its name."""
    entries = (*MECHANISMS.values(), *CLAIMS.values(), ANY_CLAIM)
    found = {id(unwrap(resolve_name(entry.builder))): entry.builder for entry in entries}
    for space in (el.mechanisms, el.attacks, el.correlated, el.bridges):
        for name in space.__all__:
            made = getattr(space, name)
            writes = space is el.bridges and unwrap(made).__annotations__.get("return") != "Experiment"
            if isfunction(unwrap(made)) and not writes:
                found[id(unwrap(made))] = f"{space.__name__}.{name}"
    return found


def test_every_builder_has_a_statement() -> None:
    named = {id(unwrap(resolve_name(name))) for _, _, text in statements().values() for name in reliant(text)}
    built = builders()
    assert len(built) > 60
    assert [name for one, name in built.items() if one not in named] == []


def test_every_statement_is_named_by_code_that_it_names() -> None:
    """In the module that holds it, or in the one from which it was moved there: some module of those it names."""
    missing = {}
    for number, (_, _, text) in statements().items():
        modules = {holder(name) for name in reliant(text)}
        texts = [Path(str(module.__file__)).read_text("utf-8") for module in modules]
        if not any(number in [n for _, n in links(one)] for one in texts):
            missing[number] = sorted(module.__name__ for module in modules)
    assert missing == {}


def holder(name: str) -> ModuleType:
    """The module that a dotted name is, or lies in."""
    made = unwrap(resolve_name(name))
    return made if isinstance(made, ModuleType) else sys.modules[made.__module__]
