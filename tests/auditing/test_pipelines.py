"""Our own release held against its own plan."""

from __future__ import annotations

import hashlib
import json
import math
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from epsilens.auditing import external
from epsilens.auditing.audit import audit
from epsilens.auditing.external import CommandSource, WorkerSource, command_words
from epsilens.auditing.pairs import PairKind, table_pairs
from epsilens.auditing.pipelines import GROUPS_PAIR, GroupsSource, ReleaseSource, audit_external, audit_plan, plan_claim
from epsilens.auditing.result import Audits, AuditVerdict, StopReason, parse_claim
from epsilens.auditing.sources import NoAnswer, RunFailure, UnreadableAnswer
from epsilens.errors import InputError, LimitError
from epsilens.plan.cells import cells
from epsilens.plan.file import read_release
from epsilens.publish import release as module

pytest.importorskip("opendp")

TABLE = pa.table({"who": [1, 2], "site": ["a", "b"], "x": [1.0, 2.0]})
#: Noise is drawn anew in every test: a false alarm must be a wonder.
SURE = 1 - 1e-6
NAMES = ("at the bounds", "many rows", "alone in a group")
PLAN: dict[str, Any] = {
    "title": "Visits",
    "data": {"table": "t", "person": "who", "max_rows": 2},
    "queries": [{"count": True, "by": "site", "groups": ["a", "b", "c"]}, {"sum": "x", "bounds": [0, 8]}],
    "mechanism": {"epsilon": 2.0},
}


def test_the_claim_of_a_plan_with_names_has_their_delta() -> None:
    """Alone in a group, a person is named with p = ½·e^{−(τ−1)/b}, b = 1/ε; the noise adds nothing at ε."""
    plan = {"data": {"table": "t"}, "queries": [{"histogram": "site", "threshold": 10}], "mechanism": {"epsilon": 0.5}}
    assert plan_claim(read_release(plan)).delta(0.5) == pytest.approx(0.5 * math.exp(-9 * 0.5), rel=1e-3)


def test_the_correct_release_is_not_flagged_and_everything_is_told() -> None:
    found = audit_plan(PLAN, table=TABLE, runs=150, confidence=SURE, pairs=NAMES)
    assert found.verdict is AuditVerdict.CONSISTENT
    assert [one.pair for one in found.each] == list(NAMES)
    assert all(one.audit.confidence == pytest.approx(1 - 1e-6 / 3) for one in found.each)
    assert all(one.entire is not None and one.entire >= 2 and one.repeatable for one in found.each)
    told = found.to_dict()
    assert told["verdict"] == "CONSISTENT"
    assert [p["pair"] for p in told["pairs"]] == list(NAMES)
    text = " ".join(found.to_text().split())
    assert "No violation was found on 3 pairs of tables in 450 runs" in text
    assert "nothing entered a ledger" in text


@pytest.mark.always
def test_a_smaller_claim_is_refuted() -> None:
    """ε = 8 on one count, held against a claim of 1."""
    plan = {"data": {"table": "t"}, "queries": [{"count": True}], "mechanism": {"epsilon": 8.0}}
    found = audit_plan(plan, table=TABLE, claim="epsilon=1", runs=400, seed=1, pairs=("at the bounds", "exposed"))
    assert found.refuted
    assert 1 < found.worst.audit.epsilon_lo <= 8
    assert "The claim is broken on the pair" in found.sentence


def test_a_threshold_has_something_to_show() -> None:
    """With 19 others and a threshold of 20 the name appears with probability e⁻¹/2 without the person and ½ with them.

    So an attacker who goes by the name alone is right 65.8 times of 100.
    """
    plan = {
        "data": {"table": "t", "person": "who"}, "queries": [{"count": True, "by": "site", "threshold": 20}],
        "mechanism": {"epsilon": 1.0},
    }  # fmt: skip
    found = audit_plan(plan, table=TABLE, runs=1200, confidence=1 - 1e-4, pairs=("at the bounds",))
    assert found.verdict is AuditVerdict.CONSISTENT
    assert 0 < found.worst.audit.epsilon_lo <= 1


def test_gaussian_noise_has_more_runs_and_is_consistent() -> None:
    """Noise of ψ = .2367 is guessed right 54.7 times of 100, a Laplace answer of ε = 1 62 times."""
    plan = {
        "data": {"table": "t", "person": "who"}, "queries": [{"sum": "x", "bounds": [0, 8]}],
        "mechanism": {"epsilon": 1.0, "delta": 1e-6, "noise": "gaussian"},
    }  # fmt: skip
    found = audit_plan(plan, table=TABLE, confidence=SURE, pairs=("at the bounds",))
    (one,) = found.each
    assert one.audit.runs == 6000
    assert one.entire is not None
    assert one.entire < 15
    assert found.verdict is AuditVerdict.CONSISTENT
    assert one.audit.mu_lo is not None
    assert one.audit.mu_lo <= 0.2368


def test_many_groups_are_many_guesses() -> None:
    names = [f"g{i}" for i in range(500)]
    plan = {
        "data": {"table": "t"}, "queries": [{"count": True, "by": "site", "groups": names}],
        "mechanism": {"epsilon": 1.0},
    }  # fmt: skip
    found = audit_plan(plan, table=TABLE, runs=3000, confidence=SURE, pairs=(GROUPS_PAIR,))
    (one,) = found.each
    assert one.pair == GROUPS_PAIR
    assert one.audit.runs == 3000
    assert one.audit.guesses_a_call == 500
    assert found.verdict is AuditVerdict.CONSISTENT
    assert 0.5 < one.audit.epsilon_lo <= 1


def test_pairs_are_named_as_they_are() -> None:
    with pytest.raises(InputError, match="pairs has 'nobody': give some of exposed, at the bounds"):
        audit_plan(PLAN, table=TABLE, pairs=("nobody",))
    with pytest.raises(InputError, match="pairs has none that applies"):
        audit_plan({**PLAN, "queries": [{"count": True}]}, table=TABLE, pairs=("alone in a group",))


def test_very_many_groups_are_narrowed_on_the_pairs_and_all_there_where_each_has_a_coin() -> None:
    names = [f"g{i}" for i in range(1000)]
    plan = {
        "data": {"table": "t"}, "queries": [{"count": True, "by": "site", "groups": names}],
        "mechanism": {"epsilon": 1.0},
    }  # fmt: skip
    found = audit_plan(plan, table=TABLE, runs=1000, confidence=SURE, pairs=("at the bounds", GROUPS_PAIR))
    assert found.left == 900
    assert found.each[1].audit.guesses_a_call == 1000
    assert found.verdict is AuditVerdict.CONSISTENT
    assert "900 of the listed groups are left out" in " ".join(found.to_text().split())


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"queries": [{"count": True, "by": "nosuch", "groups": ["a"]}]}, "(its columns are 'who', 'site', 'x')"),
        ({"queries": [{"sum": "y", "bounds": [0, 1]}]}, "'y', which is not a column of the table"),
        ({"data": {"table": "t", "person": "nobody"}}, "person has 'nobody', which is not a column"),
        ({"queries": [{"sum": "site", "bounds": [0, 1]}]}, "which is string: give a column of numbers"),
        ({"queries": [{"sum": "x", "bounds": [5, 0]}]}, "bounds are 5 and 0: give two finite numbers"),
        ({"queries": [{"sum": "x", "bounds": [0, 0]}]}, "bounds are 0 and 0: give two finite numbers"),
        ({"queries": [{"count": True, "by": "site"}]}, "list the groups, or add a threshold"),
        ({"mechanism": {"epsilon": 1, "split": "least error"}}, "its shares come from the data"),
        ({"mechanism": {"epsilon": float("inf")}}, "at most 700"),
    ],
)
def test_a_plan_that_cannot_be_released_is_one_sentence(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as told:
        audit_plan({**PLAN, **changed}, table=TABLE)
    assert words in str(told.value)
    assert not isinstance(told.value, LimitError)  # whose exit code is that of a violation


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({"mechanism": {"epsilon": 1e-12}}, AuditVerdict.CONSISTENT),
        ({"queries": [{"count": True}], "mechanism": {"epsilon": 1e-290}}, AuditVerdict.CONSISTENT),
        ({"mechanism": {"epsilon": 700}}, AuditVerdict.INCONCLUSIVE),
        ({"mechanism": {"epsilon": 700, "delta": 1e-6, "noise": "gaussian"}}, AuditVerdict.INCONCLUSIVE),
        ({"queries": [{"sum": "n", "bounds": [0, 1e100]}]}, AuditVerdict.CONSISTENT),
        ({"data": {"table": "t", "person": "who", "max_rows": 10**9}}, AuditVerdict.CONSISTENT),
    ],
)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_plans_at_the_ends_of_what_is_allowed(changed: dict[str, Any], verdict: AuditVerdict) -> None:
    table = pa.table({"who": [1], "site": ["a"], "x": [1.0], "n": pa.array([1], "int8")})
    found = audit_plan({**PLAN, **changed}, table=table, runs=40, confidence=SURE, pairs=("at the bounds",))
    assert found.verdict is verdict or found.verdict is AuditVerdict.INCONCLUSIVE
    assert found.worst.audit.claimed["epsilon"] <= 700
    assert found.worst.audit.claimed["epsilon"] > 0.8 * changed.get("mechanism", PLAN["mechanism"])["epsilon"]


def test_an_interrupt_keeps_the_pairs_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = ReleaseSource.draw

    def stopped(self: ReleaseSource, bits: Any) -> Any:
        if self.second.num_rows - self.first.num_rows > 2:  # the pair with many rows
            raise KeyboardInterrupt
        return draw(self, bits)

    monkeypatch.setattr(ReleaseSource, "draw", stopped)
    found = audit_plan(PLAN, table=TABLE, runs=30, pairs=NAMES)
    assert [one.pair for one in found.each] == ["at the bounds"]
    assert found.skipped == 2
    with pytest.raises(InputError, match="stopped before its first runs"):
        audit_plan(PLAN, table=TABLE, runs=30, pairs=("many rows",))


pytest.importorskip("opendp")

PIPELINE_PLAN: dict[str, Any] = {
    "data": {"table": "t"},
    "queries": [{"name": "n", "count": True, "by": "site", "groups": ["a", "b"]}, {"average": "x", "bounds": [0, 10]}],
    "mechanism": {"epsilon": 1.0},
}
FIRST = pa.table({"site": ["a"] * 50, "x": [5.0] * 50})
SECOND = pa.table({"site": ["a"] * 50 + ["b"] * 1000, "x": [5.0] * 1050})


def bits(*each: int) -> Any:
    return np.array(each, dtype=bool)


def test_outcomes_are_what_is_published_on_the_table_of_the_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = ReleaseSource(read_release(PIPELINE_PLAN), FIRST, SECOND, whole=4)
    out = source.draw(bits(0, 1, 0, 1, 1, 0, 0, 0, 0))
    assert [round(o["n b"] / 1000) for o in out] == [0, 1, 0, 1, 1, 0, 0, 0, 0]
    assert len({o["n a"] for o in out}) > 1
    assert {"n a", "n b", "average x bounds 0 10", "average x bounds 0 10, below"} <= set(out[0])
    # the first run of each table, then runs 5 and 9
    assert (source.runs, source.entire, source.repeatable) == (9, 4, True)
    assert list(tmp_path.iterdir()) == []


def test_a_long_audit_has_an_entire_release_each_time_the_runs_have_grown_by_half() -> None:
    """With one in two: before runs 0, 2, 4, 6, 9, 13, 19 and 28."""
    source = ReleaseSource(read_release(PIPELINE_PLAN), FIRST, SECOND, whole=2)
    source.draw(bits(*[0] * 30))
    assert (source.runs, source.entire) == (30, 8)


def test_exact_numbers_that_differ_between_releases_make_every_run_an_entire_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = ReleaseSource(read_release(PIPELINE_PLAN), FIRST, SECOND, whole=3)
    honest = cells

    def other(opened: Any, plan: Any, tell: Any = None) -> Any:
        made = honest(opened, plan, tell)
        made[0].numbers.update({k: tuple(n + source.entire for n in v) for k, v in made[0].numbers.items()})
        return made

    monkeypatch.setattr(module, "cells", other)
    source.draw(bits(0, 0, 0, 0, 0, 0))
    assert not source.repeatable
    assert source.entire == 4  # the first, the fourth, which differs, and all after it


def test_a_release_that_fails_is_an_outcome() -> None:
    broken = pa.table({"site": ["a"], "x": [float("inf")]})
    out = ReleaseSource(read_release(PIPELINE_PLAN), FIRST, broken).draw(bits(0, 1))
    assert isinstance(out[0], dict)
    assert out[1] == RunFailure("InputError")


def test_one_release_is_many_guesses() -> None:
    """Noise of scale 1/50: every group's count says whether its person is there."""
    names = [f"g{i}" for i in range(40)]
    plan = {
        "data": {"table": "t"}, "queries": [{"count": True, "by": "site", "groups": names}],
        "mechanism": {"epsilon": 50.0},
    }  # fmt: skip
    source = GroupsSource(read_release(plan), pa.table({"site": ["a"]}))
    coins = np.random.default_rng(1).integers(0, 2, 80).astype(bool)
    assert source.width == 40
    assert np.array_equal(source.draw(coins) > 0.5, coins)


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


def drawn(how: str, *each: int, timeout: float = 30.0) -> list[Any]:
    return list(CommandSource(command(how), "d0.csv", "d1.csv", timeout, jobs=2).draw(bits(*each)))


@pytest.mark.always
def test_what_a_command_does_is_an_outcome(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert drawn("exact", 0, 1, 1) == [{"n of ": 3.0}, {"n of ": 4.0}, {"n of ": 4.0}]
    assert drawn("fails", 0, 1)[1] == RunFailure("exit status 7")
    assert drawn("silent", 1) == [RunFailure("no output")]
    assert drawn("hangs", 1, timeout=0.5) == [NoAnswer()]
    assert capfd.readouterr() == ("", "")


def test_whatever_a_command_writes_is_an_outcome(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for how in ("folder", "pipe", "endless", "gone"):
        assert drawn(how, 1) == [RunFailure("no output")]
    assert drawn("killed", 1) == [RunFailure("exit status -9")]
    assert drawn("digits", 1) == [{"text": "#", "numbers": [float("inf")]}]
    assert isinstance(drawn("deep", 1)[0], dict)
    assert set(drawn("bytes", 1)[0]) == {"size", "sum"}
    monkeypatch.setattr(external, "MOST_BYTES", 100)
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
        signal.raise_signal(signal.SIGINT)  # in this thread: it does not end what the main one waits for

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(InputError, match="stopped before its first runs"):
        found.append(
            audit_external(command("hangs"), command=True, claim="epsilon=1", d0="d0.csv", d1="d1.csv", jobs=2)
        )
    assert time.monotonic() - sent[0] < 50  # a run that hangs takes 60


def test_the_name_of_a_table_does_not_tell_which_it_is(folder: Path) -> None:
    first, second = drawn("path", 0, 1)
    assert first == second


def test_no_shell_reads_a_command(folder: Path) -> None:
    assert command_words(f"{sys.executable} 'a b.py' {{table}} {{out}} ; rm -rf x")[4:] == [";", "rm", "-rf", "x"]
    for text, words in (
        ("python release.py {table}", "command has no {out}"),
        ("python {out}", "command has no {table}"),
        ("python '{table} {out}", "close its quotes"),
        ("nowhere/at/all {table} {out}", "no program here"),
    ):
        with pytest.raises(InputError, match=words):
            command_words(text)


def test_a_command_without_noise_is_found_and_one_with_it_is_not(folder: Path) -> None:
    found = audit_external(command("exact"), command=True, claim="epsilon=1", d0="d0.csv", d1="d1.csv", runs=60)
    assert found.refuted
    kept = audit_external(
        command("noisy"), command=True, claim="epsilon=1", d0="d0.csv", d1="d1.csv", runs=80, confidence=0.999
    )
    assert kept.verdict is not AuditVerdict.VIOLATION


def test_an_audit_goes_on_from_its_file(folder: Path) -> None:
    options: dict[str, Any] = {"claim": "epsilon=1", "d0": "0", "d1": "1", "jobs": 1, "resume": "runs.jsonl"}
    first = audit_external("theirs_for_audit:noisy", runs=30, **options)
    lines = Path("runs.jsonl").read_text().splitlines()
    assert len(lines) == 31
    assert set(json.loads(lines[1])) == {"pair", "coin", "answer"}
    with Path("runs.jsonl").open("a") as file:
        file.write('{"pair": "giv')  # cut off
    again = audit_external("theirs_for_audit:noisy", runs=30, **options)
    assert again.each[0].audit == first.each[0].audit
    more = audit_external("theirs_for_audit:noisy", runs=45, confidence=0.9999, **options)
    assert more.runs == 45
    assert Path("runs.jsonl").read_text().splitlines()[:31] == lines
    assert len(Path("runs.jsonl").read_text().splitlines()) == 46
    with pytest.raises(InputError, match="holds no runs of this audit"):
        audit_external("theirs_for_audit:noisy", runs=30, **{**options, "d1": "2"})
    Path("runs.jsonl").write_text("no json\n")
    with pytest.raises(InputError, match="holds no runs of this audit"):
        audit_external("theirs_for_audit:noisy", runs=30, **options)


def test_what_is_kept_is_what_was_answered(folder: Path) -> None:
    """Arrays, other numbers, texts that break lines, and answers that cannot be read."""
    for name in ("array", "own", "odd", "fails", "evil"):
        options: dict[str, Any] = {"claim": "epsilon=1", "d0": "0", "d1": "1", "jobs": 1, "runs": 25, "seed": 3}
        plain = audit_external(f"theirs_for_audit:{name}", **options)
        kept = audit_external(f"theirs_for_audit:{name}", **options, resume=f"{name}.jsonl")
        assert kept.each[0].audit == plain.each[0].audit or name == "array"
        again = audit_external(f"theirs_for_audit:{name}", **options, resume=f"{name}.jsonl")
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

    assert called("fails", 0, 1) == [1.0, RunFailure("ZeroDivisionError"), 1.0]
    assert called("hangs", 0, 1, timeout=0.5) == [0, NoAnswer(), 0]
    assert called("dies", 0, 1) == [0, RunFailure("an early end"), 0]
    assert called("rows", Path("d0.csv"), Path("d1.csv")) == [4, 5, 4]
    assert called("unsendable", 0, 1)[0] == {"function": "<function unsendable.<locals>.<lambda>>"}
    assert called("evil", 0, 1)[0] == {"Evil": "<theirs_for_audit.Evil object>"}
    assert called("own", 0, 1) == [{"Own": {"d": 0}}, {"Own": {"d": 1}}, {"Own": {"d": 0}}]
    assert called("odd", 0, 1)[0] == UnreadableAnswer("Odd")
    assert called("array", 0, 1)[1]["a"].tolist() == [1, 1.5]
    assert called("forks", 0, 1) == [0, 1, 0]
    assert called("base", 0, 1)[0] == RunFailure("GeneratorExit")
    assert set(called("large", 0, 1)[0]) == {"size", "sum"}
    assert called("yields", 0, 1) == [[0], [1], [0]]
    assert called("held", 1, 1, timeout=0.3)[0] == NoAnswer()
    with pytest.raises(InputError, match="returns a coroutine"):
        called("waits", 0, 1)
    assert capfd.readouterr() == ("", "")


def test_a_function_that_never_answers_ends_the_audit(folder: Path) -> None:
    found = audit_external("theirs_for_audit:hangs", claim="epsilon=1", d0="1", d1="2", timeout=0.3, jobs=1)
    assert found.each[0].audit.stopped is StopReason.SILENT


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
            audit_external(asked.pop("what"), **asked)
    with pytest.raises(InputError, match="no column of the table: it has who, x"):
        audit_external(command("exact"), command=True, claim="epsilon=1", table="d0.csv", person="nobody")


def test_pairs_of_a_table_differ_in_one_person() -> None:
    import pyarrow as pa

    table = pa.table({"who": [1, 1, 2, 3, 3], "site": ["a", "a", "b", "a", "a"], "x": [1.0, 2.0, 7.0, 1.0, 2.0]})
    made = {pair.kind: pair for pair in table_pairs(table, "who")}
    assert set(made) == {
        PairKind.EXPOSED,
        PairKind.BEYOND,
        PairKind.MANY,
        PairKind.MISSING,
        PairKind.ORDER,
        PairKind.OWN,
    }
    for pair in made.values():
        assert set(pair.first.column("who").to_pylist()) == {1, 3}
        assert set(pair.second.column("who").to_pylist()) == {1, 2, 3}
        others = [row for row in pair.second.to_pylist() if row["who"] != 2]
        assert sorted(map(repr, others)) == sorted(map(repr, pair.first.to_pylist()))
    assert made[PairKind.BEYOND].second.column("x").to_pylist()[-1] == 700
    assert made[PairKind.MANY].second.num_rows == 24
    assert made[PairKind.MISSING].second.column("x").to_pylist()[-1] is None
    own = [row["site"] for row in made[PairKind.OWN].second.to_pylist() if row["who"] == 2]
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
    assert parse_claim(text).name == name
    assert audit(lambda d: d, 0, 1, claim=text, runs=1).claim.name == name  # as they are in Python


def test_claims_that_say_nothing() -> None:
    for text, words in (
        ("laplace --sigma 2", "laplace takes --epsilon"), ("laplace epsilon", "write a mechanism and its options"),
        ("lapalce --epsilon 1", "there is no mechanism"), ("epsilon=x", "write name=number"),
        ("'", "close its quotes"), ("psi=-1", "mu"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=words):
            parse_claim(text)
