"""Judge the judges: put faults into the code, one at a time, and see whether a test or a judge finds each.

Usage::

    python -m scripts.mutants faults                      # each fault of the list of defects, put back
    python -m scripts.mutants systematic --sample 60      # small changes all over the code that decides a number
    python -m scripts.mutants systematic --only plan/contribution --sample 1000

A *fault* is a piece of the code as it was when it was wrong (:mod:`tests.mutants.faults`). A *mutant* is one operator,
constant or name changed. A mutant that changes none of the numbers of :mod:`tests.mutants.numbers`, and breaks none, is
not counted: it may be the same program; nor is one that was read and found to be the same
(:mod:`tests.mutants.harmless`). Printed are those caught, those that survived, and every survivor with its place.

Each runs in a process of its own. All tests are collected, and run once to see which functions each goes through; a
mutant is a fork of that process in which the changed functions have their new code, and is judged by the tests that go
through them, the quickest first; where none finds it, by the slow ones of the module's own tests as well. What is
changed outside of functions is imported anew.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib.abc
import importlib.util
import inspect
import json
import os
import random
import select
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "epsilens"
#: Where systematic changes are made, and the tests that ought to find them.
TARGETS: dict[str, tuple[str, ...]] = {
    "plan/": ("tests/plan", "tests/judges", "tests/publish", "tests/assessment"),
    "publish/": ("tests/publish", "tests/plan"),
    "ledger/": ("tests/ledger", "tests/publish"),
    "laws/closed/": ("tests/laws", "tests/build", "tests/combinations", "tests/readings"),
}
#: What speaks to people and decides no number.
LEFT_OUT = (
    "__init__", "told", "wanted", "words", "file", "yaml_text", "commented", "start", "files", "offer", "parted",
)  # fmt: skip
SECONDS = 600.0  # until a process is taken not to end
#: Seconds of tests that a mutant is judged by.
MOST = 60.0
QUICK = "not spark and not slow and not long"
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:schemathesis", "-k", "not postgres")


# -- changes --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mutant:
    """One change of one module: where, what was changed into what, and its number among the changes of the module."""

    path: str
    line: int
    what: str
    number: int

    @cached_property
    def tree(self) -> ast.Module:
        """The module with the change made."""
        tree = ast.parse((SOURCE / self.path).read_text("utf-8"))
        for number, (*_, make, _undo) in enumerate(changes(tree)):
            if number == self.number:
                make()
                return ast.fix_missing_locations(tree)
        raise RuntimeError(f"{self.path} has changed")

    @property
    def source(self) -> str:
        """Its text."""
        return ast.unparse(self.tree)

    @property
    def key(self) -> str:
        """What is remembered of it, wherever in the module it stands."""
        return f"{self.path}: {self.what}"

    @cached_property
    def changed(self) -> list[tuple[CodeType, CodeType]] | None:
        """The functions that are changed, as they are and as they become; None where it is not functions alone."""
        file = str(SOURCE / self.path)
        old, new = (compile(tree, file, "exec") for tree in (ast.parse(Path(file).read_text("utf-8")), self.tree))
        found: list[tuple[CodeType, CodeType]] = []
        return found if _pairs(old, new, found) else None


def _pairs(old: CodeType, new: CodeType, found: list[tuple[CodeType, CodeType]]) -> bool:
    """Every changed function below; false where something else is changed."""
    if old == new:
        return True
    (own, inner), (other, others) = (_parts(code) for code in (old, new))
    if len(inner) != len(others) or old.co_freevars != new.co_freevars:
        return False
    if old.co_flags & inspect.CO_NEWLOCALS:
        found.append((old, new))
    elif own != other:
        return False
    below = [_pairs(a, b, found) for a, b in zip(inner, others, strict=True)]
    return all(below)


def _parts(code: CodeType) -> tuple[Any, list[CodeType]]:
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    plain = [repr(one) for one in code.co_consts if not isinstance(one, CodeType)]
    return (code.co_code, plain, code.co_names), inner


def _named(code: CodeType) -> str:
    """A function, for the list of those that a test goes through."""
    return f"{code.co_filename.removeprefix(str(SOURCE))[1:]}:{code.co_qualname}"


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
        elif isinstance(node, ast.IfExp | ast.If | ast.comprehension):
            for test in node.ifs if isinstance(node, ast.comprehension) else [node.test]:
                yield _negated(node, test)
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield _attribute(node, "value", not node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            more = isinstance(node.value, int) or node.value in (0, 1)
            yield _attribute(node, "value", node.value + 1 if more else node.value * 1.01)
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
    old, before = getattr(node, name), _told(node)
    setattr(node, name, new)
    after = _told(node)
    setattr(node, name, old)
    return node, f"{before}  →  {after}", lambda: setattr(node, name, new), lambda: setattr(node, name, old)


def _negated(node: Any, test: ast.expr) -> Any:
    new = ast.copy_location(ast.UnaryOp(ast.Not(), test), test)
    told = f"if {_told(test)}  →  if {_told(new)}"
    if isinstance(node, ast.comprehension):
        _, _, make, undo = _swap(node, node.ifs, node.ifs.index(test), new)
        return test, told, make, undo
    return node, told, lambda: setattr(node, "test", new), lambda: setattr(node, "test", test)


def _told(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:70]


def _swap(node: ast.AST, items: list[Any], place: int, new: Any) -> Any:
    old, before = items[place], _told(node)
    items[place] = new
    after = _told(node)
    items[place] = old
    told = f"{before}  →  {after}"
    return node, told, lambda: items.__setitem__(place, new), lambda: items.__setitem__(place, old)


def mutants(only: str) -> list[Mutant]:
    """Every systematic change below the targets."""
    made = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = str(path.relative_to(SOURCE))
        if path.stem in LEFT_OUT or not name.startswith(only or name) or not name.startswith((*TARGETS,)):
            continue
        tree = ast.parse(path.read_text("utf-8"))
        made += [Mutant(name, getattr(node, "lineno", 0), what, k) for k, (node, what, *_) in enumerate(changes(tree))]
    return made


# -- processes ------------------------------------------------------------------------------------------------------


def _apart(work: Callable[[], Any], seconds: float = SECONDS, silent: bool = True) -> Any:
    """What is found in a process of its own; None where it takes longer than it may."""
    hear, speak = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        if silent:
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
        try:
            said = json.dumps([work(), ""])
        except BaseException as error:
            said = json.dumps([None, f"{type(error).__name__}: {error}"[:4000]])
        with os.fdopen(speak, "w") as out:
            out.write(said)
        os._exit(0)
    os.close(speak)
    text, end = b"", time.monotonic() + seconds
    while select.select([hear], [], [], max(end - time.monotonic(), 0.0))[0] and (more := os.read(hear, 1 << 16)):
        text += more
    late = time.monotonic() >= end
    os.close(hear)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if late:
        return None
    found, wrong = json.loads(text) if text else (None, "its process died")
    if wrong:
        raise RuntimeError(f"a mutant could not be judged: {wrong}")
    return found


# -- imported anew --------------------------------------------------------------------------------------------------


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from other source than its file's."""

    def __init__(self, path: str, source: str) -> None:
        self.module, self.source, self.path = module_name(path), source, SOURCE / path

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        return importlib.util.spec_from_loader(name, self, origin=str(self.path)) if name == self.module else None

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = str(self.path)
        exec(compile(self.source, str(self.path), "exec"), module.__dict__)


def _judged(path: str, source: str, tests: Sequence[str]) -> str:
    """The first test that fails, of a module with other source; empty where none does."""
    sys.meta_path.insert(0, _Changed(path, source))
    import pytest

    class Seen:
        name = ""

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.failed and not self.name:
                self.name = report.nodeid

    seen = Seen()
    if missing := [test for test in tests if not (ROOT / test.partition("::")[0]).exists()]:
        raise RuntimeError(f"there is no {missing[0]}")
    # What is named itself runs however slow it is.
    named, files = [test for test in tests if "::" in test], [test for test in tests if "::" not in test]
    for some, wanted in ((named, "not spark"), (files, QUICK)):
        code = int(pytest.main([*some, *OPTIONS, "-m", wanted], plugins=[seen])) if some else 0
        if code not in (0, 1, 2):  # 2: a module that tests import does not even load
            raise RuntimeError(f"pytest says {code} of {some}")
        if code:
            return seen.name or "it is not imported"
    return ""


def _renewed(mutant: Mutant, told: Told) -> tuple[str, str]:
    """What becomes of a mutant that is imported anew."""

    def differs() -> bool:
        sys.meta_path.insert(0, _Changed(mutant.path, mutant.source))
        try:
            from tests.mutants.numbers import PARTS
        except Exception:
            return True
        return any(_differs(PARTS[name], told.numbers[name]) for name in parts)

    def inside(name: str) -> bool:
        return name.partition(":")[0] == mutant.path

    parts = [name for name, names in told.through.items() if any(map(inside, names))]
    if _apart(differs) is False:
        return "unchanged", ""
    tests = [test for test, _ in told.covering(inside)]
    if not tests:
        return "survived", "0 tests"
    by = _apart(lambda: _judged(mutant.path, mutant.source, tests))
    return ("survived", "") if by == "" else ("caught", "time" if by is None else by)


# -- in place -------------------------------------------------------------------------------------------------------


@dataclass
class Told:
    """Of each test its seconds and the functions it goes through; the numbers, and those they go through."""

    tests: dict[str, tuple[float, list[str]]]
    numbers: dict[str, list[str]]
    through: dict[str, list[str]]

    def covering(self, wanted: Callable[[str], bool]) -> list[tuple[str, float]]:
        """The tests that go through wanted functions, the quickest first, as many as take ``MOST`` seconds."""
        found = sorted((taken, test) for test, (taken, names) in self.tests.items() if any(map(wanted, names)))
        made: list[tuple[str, float]] = []
        total = 0.0
        for taken, test in found:
            if (total := total + taken) > MOST and made:
                break
            made.append((test, taken))
        return made


def _differs(part: Callable[[], Iterable[str]], numbers: Sequence[str]) -> bool:
    """Whether some number of a part is another one, or is no longer there."""
    try:
        made = iter(part())
        return any(one != next(made, None) for one in numbers) or next(made, None) is not None
    except Exception:
        return True


class _Late(BaseException):
    """A test takes far longer than it did."""


class _Forks:
    """Collects tests, sees what each goes through, and judges mutants in forks."""

    def __init__(self, chosen: Sequence[Mutant], traces: Path | None, end: float) -> None:
        self.chosen, self.traces, self.end = chosen, traces, end
        self.found: list[tuple[Mutant, str, str]] = []
        self.told = Told({}, {}, {})

    def pytest_runtestloop(self, session: Any) -> bool:
        """In place of pytest's own."""
        if session.testsfailed:
            raise RuntimeError("a test module is not imported")
        self.items = {item.nodeid: item for item in session.items if not item.get_closest_marker("slow")}
        self.slow = [item for item in session.items if item.get_closest_marker("slow")]
        from tests.mutants import numbers  # so that every fork has it

        self.parts = numbers.PARTS
        known = json.loads(self.traces.read_text()) if self.traces is not None and self.traces.exists() else {}
        left = [item for item in self.items.values() if item.nodeid not in known]
        known |= _apart(lambda: self._traced(left), 1e9)
        if self.traces is not None:
            self.traces.write_text(json.dumps(known))
        self.told.tests = {name: known[name] for name in self.items if known[name] is not None}
        self.told.numbers, self.told.through = _apart(self._numbers, 1e9)
        print(f"{len(self.told.tests)} tests of {sum(one[0] for one in self.told.tests.values()):.0f} s; "
              f"{len(self.items) - len(self.told.tests)} fail, or are skipped, as the code is", flush=True)  # fmt: skip
        self.live: dict[tuple[str, str, int], list[FunctionType]] = {}
        for one in gc.get_objects():
            if isinstance(one, FunctionType) and one.__code__.co_filename.startswith(str(SOURCE)):
                self.live.setdefault(_place(one.__code__), []).append(one)
        for mutant in self.chosen:
            if time.monotonic() > self.end:
                break
            if mutant.changed is None:
                continue
            state, by = self._fate(mutant)
            self.found.append((mutant, state, by))
            _say(mutant, state, by)
        return True

    def _traced(self, items: Sequence[Any]) -> dict[str, Any]:
        """The seconds of each test and the functions it goes through; None of one that does not pass."""
        made: dict[str, Any] = {}
        for item, after in zip(items, [*items[1:], None], strict=False):
            start = time.process_time()
            passed, names = _through(partial(_passes, item, after))
            made[item.nodeid] = (time.process_time() - start, names) if passed else None
        return made

    def _numbers(self) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        made = {name: _through(partial(lambda part: [*part()], part)) for name, part in self.parts.items()}
        return {name: one for name, (one, _) in made.items()}, {name: names for name, (_, names) in made.items()}

    def _fate(self, mutant: Mutant) -> tuple[str, str]:
        wanted = {_named(old) for old, _ in mutant.changed or ()}
        parts = [name for name, names in self.told.through.items() if not wanted.isdisjoint(names)]
        tests = self.told.covering(wanted.__contains__)

        def judged() -> list[str]:
            self._plant(mutant)
            if not any(_differs(self.parts[name], self.told.numbers[name]) for name in parts):
                return ["unchanged", ""]
            for (test, taken), after in zip(tests, [*tests[1:], None], strict=False):
                item, next_ = self.items[test], self.items[after[0]] if after is not None else None
                signal.signal(signal.SIGPROF, _late)
                signal.setitimer(signal.ITIMER_PROF, 10 + 20 * taken)
                try:
                    if not _passes(item, next_):
                        return ["caught", test]
                except _Late:
                    return ["caught", f"time, in {test}"]
                finally:
                    signal.setitimer(signal.ITIMER_PROF, 0)
            slow = [item for item in self.slow if item.nodeid.startswith(_mirror(mutant.path))]
            for item, later in zip(slow, [*slow[1:], None], strict=False):
                if not _passes(item, later):
                    return ["caught", item.nodeid]
            return ["survived", f"{len(tests)} tests, {len(slow)} slow ones"]

        state, by = _apart(judged) or ("caught", "time")
        return state, by

    def _plant(self, mutant: Mutant) -> None:
        for old, new in mutant.changed or ():
            for function in self.live.get(_place(old), ()):
                function.__code__ = new
        for one in gc.get_objects():
            if hasattr(type(one), "cache_clear") and str(getattr(one, "__module__", "")).startswith("epsilens"):
                one.cache_clear()


def _mirror(path: str) -> str:
    """The tests of a module: those of them that are slow run where no quick one finds anything."""
    folder, _, name = path.rpartition("/")
    return f"tests/{folder}/test_{name}::"


def _late(*_: Any) -> None:
    raise _Late


def _place(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _passes(item: Any, after: Any) -> bool:
    """Whether a test runs and nothing of it fails."""
    from _pytest.runner import runtestprotocol

    reports = runtestprotocol(item, nextitem=after, log=False)
    return all(report.passed or hasattr(report, "wasxfail") for report in reports)


def _through(work: Callable[[], Any]) -> tuple[Any, list[str]]:
    """What is made, and the functions of ours it goes through."""
    codes: set[CodeType] = set()

    def call(frame: FrameType, event: str, argument: Any) -> None:
        codes.add(frame.f_code)

    threading.settrace(call)
    sys.settrace(call)
    try:
        made = work()
    finally:
        sys.settrace(None)
        threading.settrace(None)
    return made, sorted({_named(code) for code in codes if code.co_filename.startswith(str(SOURCE))})


# -- what comes of it -----------------------------------------------------------------------------------------------


def _say(mutant: Mutant, state: str, by: str) -> None:
    print(f"{state:9} {mutant.path}:{mutant.line} {mutant.what}  [{by}]", flush=True)


def _warm() -> None:
    """Whatever is slow to import and none of ours, so that each child has it."""
    for name in ("numpy", "scipy.special", "scipy.optimize", "scipy.stats", "ibis", "duckdb", "pydantic", "sqlglot",
                 "pyarrow", "sqlalchemy", "opendp.prelude", "mpmath", "pandas"):  # fmt: skip
        with suppress(ImportError):
            importlib.import_module(name)


def _in_place(chosen: Sequence[Mutant], traces: Path | None, end: float) -> Any:
    """Those that change functions alone, judged in forks of one process that has collected all tests."""
    import pytest

    tests = {test: None for start, some in TARGETS.items() for test in some
             if any(mutant.path.startswith(start) for mutant in chosen)}  # fmt: skip
    forks = _Forks(chosen, traces, end)
    code = int(pytest.main([*tests, *OPTIONS, "-s", "-m", "not spark and not long"], plugins=[forks]))
    if code not in (0, 5):
        raise RuntimeError(f"pytest says {code}")
    told = forks.told
    return [(chosen.index(m), state, by) for m, state, by in forks.found], told.tests, told.numbers, told.through


def systematic(only: str, sample: int, seed: int, minutes: float, traces: Path | None) -> int:
    """A sample of all small changes; returns 1 where fewer than nine of ten that change a number are caught."""
    from tests.mutants.harmless import HARMLESS

    every = mutants(only)
    chosen = random.Random(seed).sample(every, min(sample, len(every)))
    end = time.monotonic() + 60 * minutes
    made, *rest = _apart(lambda: _in_place(chosen, traces, end), 1e9, silent=False)
    found = [(chosen[k], state, by) for k, state, by in made]
    for mutant in chosen:
        if mutant.changed is None and time.monotonic() < end:
            found.append((mutant, *_renewed(mutant, Told(*rest))))
            _say(*found[-1])
    return _summary(every, found, seed, HARMLESS)


def _summary(every: Sequence[Mutant], found: list[tuple[Mutant, str, str]], seed: int, read: dict[str, str]) -> int:
    found = [(m, "harmless" if state == "survived" and m.key in read else state, by) for m, state, by in found]
    print(f"\n{len(every):,} mutants, {len(found)} tried (seed {seed})\n")
    print(f"{'':14}  tried  no number  read, harmless  caught  survived")
    for start in (*TARGETS, ""):
        tally = Counter(state for mutant, state, _ in found if mutant.path.startswith(start))
        if total := sum(tally.values()):
            counts = f"{tally['unchanged']:9}  {tally['harmless']:14}  {tally['caught']:6}  {tally['survived']:8}"
            print(f"{start or 'all':14}  {total:5}  {counts}")
    counted = tally["caught"] + tally["survived"]
    share = tally["caught"] / max(counted, 1)
    print(f"\nOf {counted} that change a number {share:.0%} are caught, and {tally['survived']} survived.")
    for mutant, state, _ in sorted(found, key=lambda one: (one[0].path, one[0].line)):
        if state == "harmless":
            print(f"read, harmless: {mutant.path}:{mutant.line}: {mutant.what} ({read[mutant.key]})")
        if state == "survived":
            print(f"survived: src/epsilens/{mutant.path}:{mutant.line}: {mutant.what}")
    return int(tally["caught"] < 0.9 * counted)


def faults(only: str) -> int:
    """Every fault of the list, put back; returns 1 where one is not caught, or no longer fits the code."""
    from tests.mutants.faults import FAULTS

    survived = []
    chosen = [fault for fault in FAULTS if fault.name.startswith(only)]
    for fault in chosen:
        text = (SOURCE / fault.path).read_text("utf-8")
        if text.count(fault.mended) != 1:
            survived.append(fault.name)
            print(f"{fault.name:14} does not fit {fault.path} any more", flush=True)
            continue
        by = _apart(partial(_judged, fault.path, text.replace(fault.mended, fault.broken), fault.judges))
        if by == "":
            survived.append(fault.name)
        state = "survived" if by == "" else "caught"
        print(f"{fault.name:14} {state:9} {fault.pair}  [{'time' if by is None else by}]", flush=True)
    print(f"\n{len(chosen)} faults, {len(survived)} not caught{': ' if survived else ''}{', '.join(survived)}")
    return int(bool(survived))


def main(given: Sequence[str] | None = None) -> int:
    """Run them, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["faults", "systematic", "all"])
    parser.add_argument("--only", default="", help="a module by its path, or a fault by its name")
    parser.add_argument("--sample", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--traces", type=Path, help="keeps which functions tests go through, for the next run")
    asked = parser.parse_args(given)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a fork keeps one thread
    _warm()
    code = 0
    if asked.kind in ("faults", "all"):
        code |= faults(asked.only)
    if asked.kind in ("systematic", "all"):
        code |= systematic(asked.only, asked.sample, asked.seed, asked.minutes, asked.traces)
    return code


if __name__ == "__main__":
    sys.exit(main())
