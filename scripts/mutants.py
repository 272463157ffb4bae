"""Judge the judges: put faults into the code, one at a time, and see whether a test or a judge finds each.

Usage::

    python -m scripts.mutants faults                      # each fault of the list of defects, put back
    python -m scripts.mutants systematic --sample 60      # small changes all over the code that decides a number
    python -m scripts.mutants systematic --only plan/noise --sample 1000

A *fault* is a piece of the code as it was when it was wrong (:mod:`tests.mutants.faults`). A *mutant* is one operator,
constant or name changed. Each runs in a process of its own, with the changed module in place of the file's. A mutant
that changes none of the numbers of :mod:`tests.mutants.numbers`, and breaks none, is not counted: it may be the same
program. Printed are those caught, those that survived, and every survivor with its place.
"""

from __future__ import annotations

import argparse
import ast
import importlib.abc
import importlib.util
import os
import random
import select
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "epsilens"
#: Where systematic changes are made, and the tests that ought to find them.
TARGETS: dict[str, tuple[str, ...]] = {
    "plan/": ("tests/plan", "tests/judges", "tests/publish/test_drawn.py", "tests/assessment"),
    "publish/": ("tests/publish",),
    "ledger/": ("tests/ledger", "tests/publish/test_release.py"),
    "laws/closed/": ("tests/laws/closed", "tests/build", "tests/combinations"),
}
#: What speaks to people and decides no number.
LEFT_OUT = (
    "__init__",
    "told",
    "wanted",
    "words",
    "file",
    "yaml_text",
    "commented",
    "start",
    "files",
    "offer",
    "parted",
)
SECONDS = 300.0


# -- changes --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mutant:
    """One change of one module: the new source, where, and what was changed into what."""

    path: str
    line: int
    what: str
    source: str
    tests: tuple[str, ...]

    @property
    def module(self) -> str:
        """The dotted name of the module that is changed."""
        return module_name(self.path)


def module_name(path: str) -> str:
    """The dotted name of a module of ours, by its path within the package."""
    return "epsilens." + path.removesuffix(".py").replace("/", ".")


_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_CALCULATED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}


def changes(tree: ast.Module) -> Iterator[tuple[ast.AST, str, Callable[[], None], Callable[[], None]]]:
    """Every small change of a tree: the node, what it is, and how it is made and undone."""
    for node in _deciding(tree):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARED:
            yield _swap(node, node.ops, 0, _COMPARED[type(node.ops[0])]())
        elif isinstance(node, ast.BinOp) and type(node.op) in _CALCULATED:
            yield _attribute(node, "op", _CALCULATED[type(node.op)]())
        elif isinstance(node, ast.BoolOp):
            yield _attribute(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield _attribute(node, "op", ast.UAdd())
        elif isinstance(node, ast.IfExp | ast.If):
            yield _attribute(node, "test", ast.UnaryOp(ast.Not(), node.test))
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield _attribute(node, "value", not node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            yield _attribute(node, "value", node.value + 1 if node.value in (0, 1) else node.value * 1.01)
        elif isinstance(node, ast.Name) and node.id in _NAMES:
            yield _attribute(node, "id", _NAMES[node.id])
        elif isinstance(node, ast.Attribute) and node.attr in _NAMES:
            yield _attribute(node, "attr", _NAMES[node.attr])


def _deciding(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that may decide a number: no texts, no errors, no types, no slices that are types."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(
                child, ast.Raise | ast.Import | ast.ImportFrom | ast.JoinedStr
            ):
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.Assign) and any(getattr(t, "id", "") == "__all__" for t in child.targets):
                continue
            yield child
            yield from _deciding(child)


def _attribute(node: Any, name: str, new: Any) -> tuple[ast.AST, str, Callable[[], None], Callable[[], None]]:
    old, before = getattr(node, name), ast.unparse(node)
    setattr(node, name, new)
    after = ast.unparse(node)
    setattr(node, name, old)
    return node, f"{before[:60]}  →  {after[:60]}", lambda: setattr(node, name, new), lambda: setattr(node, name, old)


def _swap(node: ast.AST, items: list[Any], place: int, new: Any) -> Any:
    old, before = items[place], ast.unparse(node)
    items[place] = new
    after = ast.unparse(node)
    items[place] = old
    return (
        node,
        f"{before[:60]}  →  {after[:60]}",
        lambda: items.__setitem__(place, new),
        lambda: items.__setitem__(place, old),
    )


def mutants(only: str) -> list[Mutant]:
    """Every systematic change below the targets."""
    made = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = str(path.relative_to(SOURCE))
        tests = next((found for start, found in TARGETS.items() if name.startswith(start)), None)
        if tests is None or path.stem in LEFT_OUT or not name.startswith(only or name):
            continue
        tree = ast.parse(path.read_text("utf-8"))
        for node, what, make, undo in changes(tree):
            make()
            source = ast.unparse(ast.fix_missing_locations(tree))
            undo()
            made.append(Mutant(name, getattr(node, "lineno", 0), what, source, tests))
    return made


# -- running --------------------------------------------------------------------------------------------------------


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from other source than its file's."""

    def __init__(self, module: str, source: str, path: Path) -> None:
        self.module, self.source, self.path = module, source, path

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        return importlib.util.spec_from_loader(name, self, origin=str(self.path)) if name == self.module else None

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = str(self.path)
        exec(compile(self.source, str(self.path), "exec"), module.__dict__)


def _numbers(mutant: Mutant | None) -> str:
    """The numbers of the code, of which a mutant breaks some or changes some."""
    if mutant is not None:
        sys.meta_path.insert(0, _Changed(mutant.module, mutant.source, SOURCE / mutant.path))
    from tests.mutants.numbers import digest

    try:
        return digest()
    except Exception as error:
        return f"broken by {type(error).__name__}"


def _judged(mutant: Mutant) -> str:
    """The first test that fails; empty where none does."""
    sys.meta_path.insert(0, _Changed(mutant.module, mutant.source, SOURCE / mutant.path))
    import pytest

    class Seen:
        name = ""

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.failed and not self.name:
                self.name = report.nodeid

    seen = Seen()
    tests = [test for test in mutant.tests if (ROOT / test.split("::")[0]).exists()]
    options = [
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:schemathesis",
        "-m",
        "not spark and not slow and not long",
    ]
    code = int(pytest.main([*tests, *options], plugins=[seen]))
    if code not in (0, 1, 2):  # 2: a module that tests import does not even load
        raise RuntimeError(f"pytest says {code}")
    return seen.name or ("it is not imported" if code else "")


def _apart(work: Callable[[], str], seconds: float = SECONDS) -> str | None:
    """What is found in a process of its own; None where it takes longer than it may."""
    hear, speak = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        try:
            os.write(speak, ("=" + work()).encode())
        except BaseException as error:
            os.write(speak, f"!{type(error).__name__}: {error}".encode()[:4000])
        os._exit(0)
    os.close(speak)
    ready = select.select([hear], [], [], seconds)[0]
    said = os.read(hear, 65536).decode() if ready else None
    os.close(hear)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if said is not None and not said.startswith("="):
        raise RuntimeError(f"a mutant could not be judged: {said[1:] or 'its process died'}")
    return None if said is None else said[1:]


def run(mutant: Mutant, numbers: str | None = None) -> tuple[str, str]:
    """What becomes of a mutant: unchanged, caught or survived, and by what; one that does not end is caught."""
    if numbers is not None and _apart(lambda: _numbers(mutant)) == numbers:
        return "unchanged", ""
    by = _apart(lambda: _judged(mutant))
    return ("survived", "") if by == "" else ("caught", "time" if by is None else by)


def _warm() -> None:
    """Whatever is slow to import and none of ours, so that each child has it."""
    for name in ("numpy", "scipy.special", "scipy.optimize", "scipy.stats", "ibis", "duckdb", "pydantic", "sqlglot",
                 "pyarrow", "sqlalchemy", "opendp.prelude", "mpmath", "pandas"):  # fmt: skip
        with suppress(ImportError):
            importlib.import_module(name)


def systematic(only: str, sample: int, seed: int, minutes: float) -> int:
    """A sample of all small changes; returns 1 where fewer than nine of ten that change a number are caught."""
    every = mutants(only)
    chosen = random.Random(seed).sample(every, min(sample, len(every)))
    numbers = _apart(lambda: _numbers(None))
    tally: Counter[str] = Counter()
    survivors = []
    began = time.monotonic()
    for mutant in chosen:
        if time.monotonic() - began > 60 * minutes:
            break
        state, by = run(mutant, numbers)
        tally[state] += 1
        if state == "survived":
            survivors.append(mutant)
        print(f"{state:9} {mutant.path}:{mutant.line} {mutant.what}  [{by}]", flush=True)
    counted = tally["caught"] + tally["survived"]
    print(
        f"\n{len(every):,} mutants, {sum(tally.values())} tried (seed {seed}), {tally['unchanged']} change no number; "
        f"of {counted} others {tally['caught']} caught, {tally['survived']} survived "
        f"({tally['caught'] / max(counted, 1):.0%} caught)"
    )
    for mutant in survivors:
        print(f"survived: src/epsilens/{mutant.path}:{mutant.line}: {mutant.what}")
    return int(tally["caught"] < 0.9 * counted)


def faults(only: str) -> int:
    """Every fault of the list, put back; returns 1 where one is not caught, or no longer fits the code."""
    from tests.mutants.faults import FAULTS

    survived = []
    for fault in FAULTS:
        if only and not fault.name.startswith(only):
            continue
        path = SOURCE / fault.path
        text = path.read_text("utf-8")
        if text.count(fault.mended) != 1:
            survived.append(fault.name)
            print(f"{fault.name:6} does not fit {fault.path} any more", flush=True)
            continue
        mutant = Mutant(fault.path, 0, fault.name, text.replace(fault.mended, fault.broken), fault.judges)
        state, by = run(mutant)
        if state != "caught":
            survived.append(fault.name)
        print(f"{fault.name:6} {state:9} {fault.pair}  [{by}]", flush=True)
    print(f"\n{len(FAULTS)} faults, {len(survived)} not caught{': ' if survived else ''}{', '.join(survived)}")
    return int(bool(survived))


def main(given: Sequence[str] | None = None) -> int:
    """Run them, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["faults", "systematic", "all"])
    parser.add_argument("--only", default="", help="a module by its path, or a fault by its name")
    parser.add_argument("--sample", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=1e9)
    asked = parser.parse_args(given)
    _warm()
    code = 0
    if asked.kind in ("faults", "all"):
        code |= faults(asked.only)
    if asked.kind in ("systematic", "all"):
        code |= systematic(asked.only, asked.sample, asked.seed, asked.minutes)
    return code


if __name__ == "__main__":
    sys.exit(main())
