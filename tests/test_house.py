"""The house itself: no private name crosses a module, no room reaches up through the door, no room is too large.

Which room may import which is import-linter's part (``make check``, the contracts in ``pyproject.toml``).
"""

from __future__ import annotations

import ast
import gc
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "src" / "epsilens"
#: Folders of tests that look at the whole house rather than at one room.
ACROSS = {
    "browser", "checker", "combinations", "engines", "extras", "identities", "fuzz", "judges", "messy", "mutants",
    "references", "sweep",
}  # fmt: skip
LONGEST = 900  # one subject each, as long as it is
#: What the house may grow to. These numbers fall; a commit that raises one says why in its message.
BUDGET = {
    "modules": 236, "lines": 91_360, "Any": 771, "cast": 98, "type: ignore": 26, "fmt: skip": 52, "late imports": 55,
    "one importer": 0, "riddles": 0, "class names twice": 0, "parameters": 19,
}  # fmt: skip
RIDDLES = re.compile(
    r"told|said|asked|kept|seen|surely|around|beyond|faced|wanted|written|called|claimed|sentenced|drawn|parted|counted|"
    r"listed|folded|raised|scattered|joined|sided|overall|apart|understood|commented|recorded|planned|steady|sent|refused|"
    r"timed|several|many|shown|whole|alone|inside|decoded|copied|typed|recomputed"
)


def name_of(path: Path) -> str:
    """The dotted name of a module, from where its file lies."""
    parts = path.relative_to(HOUSE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[Path, ast.Module]:
    gc.disable()  # millions of nodes, none of them garbage
    try:
        return {path: ast.parse(path.read_text("utf-8")) for path in sorted(HOUSE.rglob("*.py"))}
    finally:
        gc.enable()


def statements(body: list[Any], late: bool = False, typing: bool = False) -> Iterator[tuple[Any, bool, bool]]:
    """Every statement, whether it stands in a function, and whether only a type checker reads it."""
    for node in body:
        yield node, late, typing
        inside = late or isinstance(node, ast.FunctionDef)
        checked = typing or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from statements(getattr(node, part, []), inside, checked)


@cache
def names() -> frozenset[str]:
    return frozenset(name_of(path) for path in modules())


def taken(path: Path, tree: ast.Module) -> Iterator[tuple[int, str, ast.alias]]:
    """Each name a module takes from another one of ours, late or not: the line, the other module, the name."""
    for node, *_ in statements(tree.body):
        if not isinstance(node, ast.ImportFrom):
            continue
        source = node.module or ""
        if node.level:
            package = path.relative_to(HOUSE.parent).parent.parts
            source = ".".join([*package[: len(package) - node.level + 1], *filter(None, [node.module])])
        if source.split(".")[0] == "epsilens":
            yield from ((node.lineno, source, alias) for alias in node.names)


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def crossings(path: Path, tree: ast.Module, text: str) -> Iterator[str]:
    """Where a module takes a private name from another: ``from x import _y``, and ``x._y`` for a module x."""
    local: dict[str, str] = {}
    for line, source, alias in taken(path, tree):
        if private(alias.name):
            yield f"{name_of(path)}:{line} from {source} import {alias.name}"
        elif f"{source}.{alias.name}" in names():
            local[alias.asname or alias.name] = f"{source}.{alias.name}"
    if not any(f"{name}._" in text for name in local):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and private(node.attr):
            owner = local.get(node.value.id)
            if owner:
                yield f"{name_of(path)}:{node.lineno} {owner}.{node.attr}"


def through_the_door(path: Path, tree: ast.Module) -> Iterator[str]:
    """What a module takes from ``epsilens`` itself, which knows every room: an import upwards that nobody counts."""
    for line, source, alias in taken(path, tree):
        if source == "epsilens" and f"epsilens.{alias.name}" not in names() and alias.name != "__version__":
            yield f"{name_of(path)}:{line} from epsilens import {alias.name}"


def test_no_private_name_crosses_a_module() -> None:
    each = ((path, tree, path.read_text("utf-8")) for path, tree in modules().items())
    assert [found for one in each for found in crossings(*one)] == []


def test_no_room_reaches_up_through_the_door() -> None:
    assert [found for path, tree in modules().items() for found in through_the_door(path, tree)] == []


def test_no_module_is_too_long() -> None:
    lengths = {name_of(path): len(path.read_text("utf-8").splitlines()) for path in modules()}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}


def importers() -> Iterator[tuple[str, str, bool]]:
    """Who imports whom among modules, and whether late (in a function); what only a type checker reads is left out."""
    for path, tree in modules().items():
        for node, late, typing in statements(tree.body):
            if isinstance(node, ast.ImportFrom) and not typing:
                package = path.relative_to(HOUSE.parent).parent.parts
                stem = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
                source = ".".join(filter(None, [stem, node.module]))
                for alias in node.names:
                    other = f"{source}.{alias.name}" if f"{source}.{alias.name}" in names() else source
                    if other in names() and other != name_of(path):
                        yield name_of(path), other, late


def spent() -> dict[str, int]:
    """What the house has of all that its budget counts."""
    texts = {path: path.read_text("utf-8") for path in modules()}
    whole = "".join(texts.values())
    pairs = set(importers())
    users = Counter(other for _, other in {(user, other) for user, other, _ in pairs})
    small = [p for p, text in texts.items() if text.count("\n") < 250 and p.name not in ("__init__.py", "__main__.py")]
    nodes = [node for tree in modules().values() for node, *_ in statements(tree.body)]
    classes = Counter(n.name for n in nodes if isinstance(n, ast.ClassDef) and not n.name.startswith("_"))
    arguments = [n.args for n in nodes if isinstance(n, ast.FunctionDef)]
    return {
        "modules": len(texts),
        "lines": whole.count("\n"),
        "Any": len(re.findall(r"\bAny\b", whole)),
        "cast": whole.count("cast("),
        "type: ignore": whole.count("type: ignore"),
        "fmt: skip": whole.count("fmt: skip"),
        "late imports": len({pair[:2] for pair in pairs if pair[2]} - {pair[:2] for pair in pairs if not pair[2]}),
        "one importer": sum(users[name_of(path)] == 1 for path in small),
        "riddles": sum(bool(RIDDLES.fullmatch(path.stem)) for path in texts),
        "class names twice": sum(count > 1 for count in classes.values()),
        "parameters": max(len(a.posonlyargs + a.args + a.kwonlyargs) for a in arguments),
    }


def test_the_house_keeps_to_its_budget() -> None:
    assert {what: count for what, count in spent().items() if count > BUDGET[what]} == {}


def test_a_package_has_one_directory_of_tests() -> None:
    tests = ROOT / "tests"
    folders = {path.relative_to(tests).parts[0] for path in tests.rglob("test_*.py") if path.parent != tests}
    assert [folder for folder in sorted(folders - ACROSS) if not (HOUSE / folder).is_dir()] == []


def test_pytest_looks_into_every_room(pytestconfig: pytest.Config) -> None:
    """What pytest leaves out by name (``build``, unless told) must not be the name of a room."""
    left_out = pytestconfig.getini("norecursedirs")
    rooms = {path.name for start in (HOUSE, ROOT / "tests") for path in start.rglob("*") if path.is_dir()}
    rooms.discard("__pycache__")
    assert [room for room in sorted(rooms) if any(fnmatch(room, pattern) for pattern in left_out)] == []


def test_every_slow_test_is_there() -> None:
    """What moved or is gone must not stay on the list: ``python -m scripts.slow --tidy`` follows it."""
    known: dict[str, set[str]] = {}
    for line in (ROOT / "tests" / "slow.txt").read_text("utf-8").splitlines():
        path, _, rest = line.rsplit(" ", 1)[0].partition("::")
        known.setdefault(path, set()).add(rest.split("::")[-1].removesuffix("[spark]"))
    for path, functions in known.items():
        if path.startswith("tests/"):
            there = set(re.findall(r"^ *def (\w+)", (ROOT / path).read_text("utf-8"), re.M))
            assert functions <= there, path
        else:  # a doctest is named by what it documents
            assert (ROOT / path).exists(), path


def test_the_searches_find_what_they_look_for() -> None:
    code = """
from ..laws import _x, composition as pairs
from ...epsilens import __version__, laplace
def late():
    from ..errors import _y
    return pairs._z
"""
    path, tree = HOUSE / "mechanisms" / "made_up.py", ast.parse(code)
    assert list(crossings(path, tree, code)) == [
        "epsilens.mechanisms.made_up:2 from epsilens.laws import _x",
        "epsilens.mechanisms.made_up:5 from epsilens.errors import _y",
        "epsilens.mechanisms.made_up:6 epsilens.laws.composition._z",
    ]
    assert list(through_the_door(path, tree)) == ["epsilens.mechanisms.made_up:3 from epsilens import laplace"]


def test_the_house_is_drawn_as_it_is_built() -> None:
    """The rooms in CONTRIBUTING.md, from top to bottom, are the layers that import-linter holds."""
    drawn = re.findall(r"^   │  (cli/ │ web/|[a-z]+(?:/|\.py)) ", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.M)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (held,) = (contract["layers"] for contract in settings["contracts"] if contract["id"] == "layers")
    assert [name.replace("/", "").replace("│", "|").removesuffix(".py") for name in drawn] == held
