"""Somebody else's pipeline: commands and functions in processes, resumed, silent, within their time."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from epsilens.auditing import commands
from epsilens.auditing.audit import audit
from epsilens.auditing.calls import Late, Raised, Unreadable
from epsilens.auditing.commands import CommandSource, words_of
from epsilens.auditing.outside import audit_outside
from epsilens.auditing.pairs import Kind
from epsilens.auditing.result import Stopped, Verdict
from epsilens.auditing.said import claim_said
from epsilens.auditing.several import Audits
from epsilens.auditing.tables import pairs_from
from epsilens.auditing.workers import WorkerSource
from epsilens.errors import InputError

SCRIPT = """\
import os, random, sys, time
table, out, how = sys.argv[1:4]
n = len(open(table).read().splitlines()) - 1
print("secret", n)
if how == "fails" and n > 3: sys.exit(7)
if how == "hangs" and n > 3: open(os.path.join(os.path.dirname(__file__), "hanging"), "w"); time.sleep(60)
if how == "silent" and n > 3: sys.exit(0)
rng = random.SystemRandom()
noise = rng.expovariate(1) - rng.expovariate(1)
if how == "exact": noise = 0
if how == "folder": os.mkdir(out); sys.exit(0)
if how == "pipe": os.mkfifo(out); sys.exit(0)
if how == "endless": os.symlink("/dev/zero", out); sys.exit(0)
if how == "killed": os.kill(os.getpid(), 9)
if how == "large": open(out, "wb").write(b"x" * 300); sys.exit(0)
if how == "deep": open(out, "w").write("[" * 10000 + "]" * 10000); sys.exit(0)
if how == "bytes": open(out, "wb").write(b"\\xff"); sys.exit(0)
if how == "digits": open(out, "w").write("1" * 5000); sys.exit(0)
if how == "gone": import shutil; shutil.rmtree(os.path.dirname(out)); sys.exit(0)
if how == "stays": import subprocess; subprocess.Popen(["sleep", "77.25"])
if how == "path": open(out, "w").write(table.rpartition("/")[2]); sys.exit(0)
open(out, "w").write("n\\n%r\\n" % (n + noise))
"""
MODULE = """\
import os, random, time
def noisy(d):
    print("secret", d)
    return {"n": d + random.expovariate(1) - random.expovariate(1)}
def hangs(d):
    if d: time.sleep(60)
    return 0
def fails(d):
    return 1 / (1 - d)
def dies(d):
    if d: os._exit(3)
    return 0
def rows(path):
    return len(open(path).read().splitlines())
def unsendable(d):
    return lambda: d
class Evil:
    def __reduce__(self): return (os._exit, (9,))
class Own:
    def __init__(self, d): self.d = d
class Odd:
    def __reduce__(self): raise ValueError
    def __repr__(self): raise ValueError
def evil(d): return Evil()
def own(d): return Own(d)
def odd(d): return Odd()
def array(d):
    import numpy as np
    return {"a": np.array([d, 1.5]), "b": np.float32(2), "c": "x\\u2028y\\udc80", "d": d + 2j, "e": (1, None)}
def forks(d):
    os.fork()
    return d
def base(d): raise GeneratorExit
def large(d): return bytes(11_000_000)
def yields(d):
    yield d
async def waits(d): return d
def held(d):
    while True:
        try: time.sleep(60)
        except BaseException: pass
number = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("release.py").write_text(SCRIPT)
    Path("theirs_for_audit.py").write_text(MODULE)
    Path("d0.csv").write_text("who,x\n" + "".join(f"{i},{i}\n" for i in range(3)))
    Path("d1.csv").write_text("who,x\n" + "".join(f"{i},{i}\n" for i in range(4)))
    return tmp_path


def command(how: str) -> str:
    return f"{sys.executable} release.py {{table}} {{out}} {how}"


def bits(*each: int) -> Any:
    return np.array(each, dtype=bool)


def drawn(how: str, *each: int, timeout: float = 30.0) -> list[Any]:
    return list(CommandSource(command(how), "d0.csv", "d1.csv", timeout, jobs=2).draw(bits(*each)))


def test_what_a_command_does_is_an_outcome(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert drawn("exact", 0, 1, 1) == [{"n of ": 3.0}, {"n of ": 4.0}, {"n of ": 4.0}]
    assert drawn("fails", 0, 1)[1] == Raised("exit status 7")
    assert drawn("silent", 1) == [Raised("no output")]
    assert drawn("hangs", 1, timeout=0.5) == [Late()]
    assert capfd.readouterr() == ("", "")


def test_whatever_a_command_writes_is_an_outcome(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for how in ("folder", "pipe", "endless", "gone"):
        assert drawn(how, 1) == [Raised("no output")]
    assert drawn("killed", 1) == [Raised("exit status -9")]
    assert drawn("digits", 1) == [{"text": "#", "numbers": [float("inf")]}]
    assert isinstance(drawn("deep", 1)[0], dict)
    assert set(drawn("bytes", 1)[0]) == {"size", "sum"}
    monkeypatch.setattr(commands, "MOST_BYTES", 100)
    assert drawn("large", 1) == [{"size": 300, "sum": hashlib.sha256(b"x" * 300).hexdigest()}]


def test_what_a_command_leaves_running_ends_with_it(folder: Path) -> None:
    drawn("stays", 0)
    running = subprocess.run(["pgrep", "-f", "^sleep 77.25"], stdout=subprocess.PIPE, check=False).stdout
    assert running == b""


def test_an_interrupt_waits_for_nobody(folder: Path) -> None:
    found: list[Audits] = []
    sent: list[float] = []

    def interrupt() -> None:
        until = time.monotonic() + 300
        while not (folder / "hanging").exists() and time.monotonic() < until:
            time.sleep(0.02)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(InputError, match="stopped before its first runs"):
        found.append(audit_outside(command("hangs"), command=True, claim="epsilon=1", d0="d0.csv", d1="d1.csv", jobs=2))
    assert time.monotonic() - sent[0] < 50  # a run that hangs takes 60


def test_the_name_of_a_table_does_not_tell_which_it_is(folder: Path) -> None:
    first, second = drawn("path", 0, 1)
    assert first == second


def test_no_shell_reads_a_command(folder: Path) -> None:
    assert words_of(f"{sys.executable} 'a b.py' {{table}} {{out}} ; rm -rf x")[4:] == [";", "rm", "-rf", "x"]
    for text, words in (
        ("python release.py {table}", "command has no {out}"),
        ("python {out}", "command has no {table}"),
        ("python '{table} {out}", "close its quotes"),
        ("nowhere/at/all {table} {out}", "no program here"),
    ):
        with pytest.raises(InputError, match=words):
            words_of(text)


def test_a_command_without_noise_is_found_and_one_with_it_is_not(folder: Path) -> None:
    found = audit_outside(command("exact"), command=True, claim="epsilon=1", d0="d0.csv", d1="d1.csv", runs=60)
    assert found.refuted
    kept = audit_outside(
        command("noisy"), command=True, claim="epsilon=1", d0="d0.csv", d1="d1.csv", runs=80, confidence=0.999
    )
    assert kept.verdict is not Verdict.VIOLATION


def test_an_audit_goes_on_from_its_file(folder: Path) -> None:
    options: dict[str, Any] = {"claim": "epsilon=1", "d0": "0", "d1": "1", "jobs": 1, "resume": "runs.jsonl"}
    first = audit_outside("theirs_for_audit:noisy", runs=30, **options)
    lines = Path("runs.jsonl").read_text().splitlines()
    assert len(lines) == 31
    assert set(json.loads(lines[1])) == {"pair", "coin", "answer"}
    with Path("runs.jsonl").open("a") as file:
        file.write('{"pair": "giv')  # cut off
    again = audit_outside("theirs_for_audit:noisy", runs=30, **options)
    assert again.each[0].audit == first.each[0].audit
    more = audit_outside("theirs_for_audit:noisy", runs=45, confidence=0.9999, **options)
    assert more.runs == 45
    assert Path("runs.jsonl").read_text().splitlines()[:31] == lines
    assert len(Path("runs.jsonl").read_text().splitlines()) == 46
    with pytest.raises(InputError, match="holds no runs of this audit"):
        audit_outside("theirs_for_audit:noisy", runs=30, **{**options, "d1": "2"})
    Path("runs.jsonl").write_text("no json\n")
    with pytest.raises(InputError, match="holds no runs of this audit"):
        audit_outside("theirs_for_audit:noisy", runs=30, **options)


def test_what_is_kept_is_what_was_answered(folder: Path) -> None:
    """Arrays, other numbers, texts that break lines, and answers that cannot be read."""
    for name in ("array", "own", "odd", "fails", "evil"):
        options: dict[str, Any] = {"claim": "epsilon=1", "d0": "0", "d1": "1", "jobs": 1, "runs": 25, "seed": 3}
        plain = audit_outside(f"theirs_for_audit:{name}", **options)
        kept = audit_outside(f"theirs_for_audit:{name}", **options, resume=f"{name}.jsonl")
        assert kept.each[0].audit == plain.each[0].audit or name == "array"
        again = audit_outside(f"theirs_for_audit:{name}", **options, resume=f"{name}.jsonl")
        assert again.each[0].audit == kept.each[0].audit
        assert len(Path(f"{name}.jsonl").read_text().split("\n")) == 27
        assert (kept.verdict, kept.runs) == (plain.verdict, plain.runs)


def test_what_a_function_does_is_an_outcome(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def called(name: str, first: Any, second: Any, timeout: float = 30.0) -> list[Any]:
        source = WorkerSource(f"theirs_for_audit:{name}", first, second, timeout, jobs=1)
        try:
            return list(source.draw(bits(0, 1, 0)))
        finally:
            source.close()

    assert called("fails", 0, 1) == [1.0, Raised("ZeroDivisionError"), 1.0]
    assert called("hangs", 0, 1, timeout=0.5) == [0, Late(), 0]
    assert called("dies", 0, 1) == [0, Raised("an early end"), 0]
    assert called("rows", Path("d0.csv"), Path("d1.csv")) == [4, 5, 4]
    assert called("unsendable", 0, 1)[0] == {"function": "<function unsendable.<locals>.<lambda>>"}
    assert called("evil", 0, 1)[0] == {"Evil": "<theirs_for_audit.Evil object>"}
    assert called("own", 0, 1) == [{"Own": {"d": 0}}, {"Own": {"d": 1}}, {"Own": {"d": 0}}]
    assert called("odd", 0, 1)[0] == Unreadable("Odd")
    assert called("array", 0, 1)[1]["a"].tolist() == [1, 1.5]
    assert called("forks", 0, 1) == [0, 1, 0]
    assert called("base", 0, 1)[0] == Raised("GeneratorExit")
    assert set(called("large", 0, 1)[0]) == {"size", "sum"}
    assert called("yields", 0, 1) == [[0], [1], [0]]
    assert called("held", 1, 1, timeout=0.3)[0] == Late()
    with pytest.raises(InputError, match="returns a coroutine"):
        called("waits", 0, 1)
    assert capfd.readouterr() == ("", "")


def test_a_function_that_never_answers_ends_the_audit(folder: Path) -> None:
    found = audit_outside("theirs_for_audit:hangs", claim="epsilon=1", d0="1", d1="2", timeout=0.3, jobs=1)
    assert found.each[0].audit.stopped is Stopped.SILENT


def test_bad_input_is_one_sentence(folder: Path) -> None:
    options: dict[str, Any] = {"claim": "epsilon=1", "d0": "0", "d1": "1"}
    for changed, words in (
        ({"what": "theirs_for_audit:nothing"}, "cannot be imported here"),
        ({"what": "no_such_module:f"}, "cannot be imported here"),
        ({"what": "theirs_for_audit:number"}, "cannot be imported here"),
        ({"d1": None}, "the inputs are missing"),
        ({"d1": "{"}, "d1 is '{': give a file, or a value in JSON"),
        ({"d1": "0"}, "d0 and d1 are the same"),
        ({"table": "d0.csv"}, "both given"),
        ({"person": "who"}, "person and pair are for a table"),
        ({"jobs": 0}, "jobs is 0"),
        ({"timeout": -1.0}, "timeout"),
    ):
        asked = {"what": "theirs_for_audit:noisy", **options, **changed}
        with pytest.raises(InputError, match=words):
            audit_outside(asked.pop("what"), **asked)
    with pytest.raises(InputError, match="no column of the table: it has who, x"):
        audit_outside(command("exact"), command=True, claim="epsilon=1", table="d0.csv", person="nobody")


def test_pairs_of_a_table_differ_in_one_person() -> None:
    import pyarrow as pa

    table = pa.table({"who": [1, 1, 2, 3, 3], "site": ["a", "a", "b", "a", "a"], "x": [1.0, 2.0, 7.0, 1.0, 2.0]})
    made = {pair.kind: pair for pair in pairs_from(table, "who")}
    assert set(made) == {Kind.EXPOSED, Kind.BEYOND, Kind.MANY, Kind.MISSING, Kind.ORDER, Kind.OWN}
    for pair in made.values():
        assert set(pair.first.column("who").to_pylist()) == {1, 3}
        assert set(pair.second.column("who").to_pylist()) == {1, 2, 3}
        others = [row for row in pair.second.to_pylist() if row["who"] != 2]
        assert sorted(map(repr, others)) == sorted(map(repr, pair.first.to_pylist()))
    assert made[Kind.BEYOND].second.column("x").to_pylist()[-1] == 700
    assert made[Kind.MANY].second.num_rows == 24
    assert made[Kind.MISSING].second.column("x").to_pylist()[-1] is None
    own = [row["site"] for row in made[Kind.OWN].second.to_pylist() if row["who"] == 2]
    assert len({*own}) == len(own) == 300
    assert not {*own} & {"a", "b"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("epsilon=1", "pure(epsilon=1)"), ("psi=1", "gdp(mu=1)"), ("zcdp=.5", "zcdp(rho=0.5)"),
        ("rdp=2:1", "rdp(order=2, rho=1)"), ("laplace --scale 2 --sensitivity=1", "laplace(epsilon=0.5)"),
        ("gaussian --sigma 2", "gaussian(sigma=2)"),
    ],
)  # fmt: skip
def test_claims_are_said_in_a_line(text: str, name: str) -> None:
    assert claim_said(text).name == name
    assert audit(lambda d: d, 0, 1, claim=text, runs=1).claim.name == name  # as they are in Python


def test_claims_that_say_nothing() -> None:
    for text, words in (
        ("laplace --sigma 2", "laplace takes --epsilon"), ("laplace epsilon", "write a mechanism and its options"),
        ("lapalce --epsilon 1", "there is no mechanism"), ("epsilon=x", "write name=number"),
        ("'", "close its quotes"), ("psi=-1", "mu"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=words):
            claim_said(text)
