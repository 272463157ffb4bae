"""Jobs: who may run, who waits, what is ended, and what is kept of an answer."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.web.servers import awaited, until

pytest.importorskip("duckdb", reason="assessing needs epsilens[data]")


from epsilens.errors import InputError
from epsilens.web.form import EXAMPLES
from epsilens.web.limits import RequestError, ServerLimits
from epsilens.web.pool import Call, Job, Jobs, JobState, Pool, Source
from epsilens.web.tasks import TASKS, Task
from epsilens.web.uploads import Upload
from epsilens.web.worker import task_answer

#: A crowded machine takes longer than a server allows.
_PATIENT = ServerLimits(assess_seconds=180)
PLAN = """title: People by sex
data: {table: upload, quasi_identifiers: [age, sex]}
queries:
- count: true
  by: sex
mechanism: {noise: laplace, epsilon: 1.0}
limits: {success: 0.6}
"""


class Pretended:
    """A worker that answers when it is let go, or is killed."""

    def __init__(self, call: Call) -> None:
        self.request, self.told = call.request, call.progress
        self._go = threading.Event()
        self.killed = False

    def ask(self) -> dict[str, Any]:
        self._go.wait(120)  # a test that lets nobody go leaves its threads behind, silently
        return {"error": "killed", "status": 413} if self.killed else {"made": self.request.get("yaml", "")}

    def answer(self) -> None:
        self._go.set()

    def kill(self) -> None:
        self.killed = True
        self._go.set()


class Crew:
    """A pool whose workers do nothing by themselves."""

    def __init__(self) -> None:
        self.made: list[Pretended] = []

    def run(self, call: Call) -> dict[str, Any]:
        worker: Any = Pretended(call)
        call.hold(worker)
        self.made.append(worker)
        call.size = 10
        return worker.ask()  # type: ignore[no-any-return]


def _jobs(**limits: Any) -> tuple[Jobs, Crew]:
    crew = Crew()
    made: Any = Jobs(ServerLimits(**limits), crew)  # type: ignore[arg-type]
    return made, crew


def _worker(crew: Crew, text: str) -> Pretended:
    until(lambda: any(w.request.get("yaml") == text for w in crew.made))
    return next(w for w in crew.made if w.request.get("yaml") == text)


def _wait(job: Job) -> JobState:
    until(lambda: job.state.over)
    return job.state


def test_few_run_and_the_others_follow_in_turn() -> None:
    jobs, crew = _jobs(assessments=1)
    first, second, third = (jobs.start("assess", owner=name, yaml=name) for name in "abc")
    _worker(crew, "a")
    assert [j.state for j in (first, second, third)] == [JobState.RUNNING, JobState.WAITING, JobState.WAITING]
    assert [j.ahead() for j in (first, second, third)] == [0, 0, 1]
    second.end()
    assert second.state is JobState.ENDED
    _worker(crew, "a").answer()
    assert _wait(first) is JobState.DONE
    assert first.result() == {"made": "a"}
    _worker(crew, "c").answer()
    assert _wait(third) is JobState.DONE
    assert [w.request["yaml"] for w in crew.made] == ["a", "c"]


def test_looking_at_a_table_does_not_wait_for_assessments() -> None:
    jobs, crew = _jobs(assessments=2, looking=1)
    running = [jobs.start("assess", owner=name, yaml=name) for name in "ab"]
    looking = jobs.start("understand", owner="c", yaml="look")
    _worker(crew, "look").answer()
    assert _wait(looking) is JobState.DONE
    assert all(job.state is JobState.RUNNING for job in running)
    jobs.close()


def test_a_visitor_s_new_job_ends_the_old_one_and_frees_its_place() -> None:
    jobs, crew = _jobs(assessments=1)
    old = jobs.start("assess", owner="me", yaml="old")
    worker = _worker(crew, "old")
    new = jobs.start("assess", owner="me", yaml="new")
    assert old.state is JobState.ENDED
    assert worker.killed
    assert new.state is JobState.RUNNING
    _worker(crew, "new").answer()
    assert _wait(new) is JobState.DONE
    assert old.answer is None
    with pytest.raises(RequestError, match="ended before it was done"):
        old.result()


def test_the_same_again_is_the_one_that_runs() -> None:
    """Four clicks are one assessment."""
    jobs, crew = _jobs()
    clicks = {jobs.start("assess", owner="me", yaml="x").id for _ in range(4)}
    assert len(clicks) == 1
    assert jobs.start("assess", owner="you", yaml="x").id not in clicks
    _worker(crew, "x")
    jobs.close()


def test_progress_is_told() -> None:
    jobs, crew = _jobs()
    job = jobs.start("assess", owner="me", yaml="x")
    worker = _worker(crew, "x")
    worker.told(2, 5, "scanning")
    assert (job.progress.done, job.progress.total, job.progress.what) == (2, 5, "scanning")
    worker.answer()
    _wait(job)


def test_what_nobody_asks_about_is_ended() -> None:
    jobs, crew = _jobs(abandoned_seconds=0.2)
    left, kept = (jobs.start("assess", owner=name, yaml=name) for name in "ab")
    _worker(crew, "a")
    _worker(crew, "b")
    for _ in range(6):
        time.sleep(0.05)
        assert jobs.get(kept.id, "b") is kept
        jobs.expire()
    assert left.state is JobState.ENDED
    assert _worker(crew, "a").killed
    assert not kept.state.over
    jobs.close()
    assert kept.state is JobState.ENDED


def test_a_job_is_shown_to_its_visitor_alone() -> None:
    jobs, _ = _jobs()
    job, nobody_s = jobs.start("assess", owner="me", yaml="x"), jobs.start("assess", yaml="y")
    assert jobs.get(job.id, "me") is job
    assert jobs.get(job.id, "you") is None
    assert jobs.get(nobody_s.id, None) is None
    jobs.close()


def test_a_long_line_is_refused_and_nothing_starts_after_the_end() -> None:
    jobs, _ = _jobs(assessments=1, waiting=2)
    for name in "abc":
        jobs.start("assess", owner=name, yaml=name)
    with pytest.raises(RequestError, match="2 others wait already: try again") as refused:
        jobs.start("assess", owner="d", yaml="d")
    assert refused.value.status == 503
    jobs.close()
    with pytest.raises(RequestError):
        jobs.start("assess", owner="d", yaml="d")


def test_answers_are_kept_by_number_and_by_size(tmp_path: Path) -> None:
    upload = Upload("t", "me", "a.csv", tmp_path / "a.csv")
    jobs, crew = _jobs(answers=3, answer_bytes=25)
    made = []
    for i in range(4):
        made.append(jobs.start("assess", upload, owner="me", yaml=str(i)))
        _worker(crew, str(i)).answer()
        _wait(made[-1])
    jobs.expire()
    assert [jobs.get(job.id, "me") is not None for job in made] == [False, False, True, True]  # 10 bytes each
    jobs.forget(upload)
    assert all(jobs.get(job.id, "me") is None for job in made)


def test_a_bundled_table_is_assessed_once() -> None:
    jobs, crew = _jobs()
    first = jobs.start("assess", owner="me", yaml="x")
    _worker(crew, "x").answer()
    _wait(first)
    again = jobs.start("assess", owner="you", yaml="x")
    assert again.state is JobState.DONE
    assert again.result() == first.result()
    assert len(crew.made) == 1


def test_what_was_understood_stays_with_the_file(tmp_path: Path) -> None:
    upload = Upload("t", "me", "a.csv", tmp_path / "a.csv", digest="d")
    jobs, crew = _jobs()
    job = jobs.start("understand", upload, owner="me", yaml="u")
    worker = _worker(crew, "u")
    assert worker.request["table"] == str(tmp_path / "a.csv")
    assert (worker.request["name"], worker.request["digest"]) == ("a.csv", "d")
    worker.answer()
    _wait(job)
    assert upload.understood == {"made": "u"}


def test_waiting_with_a_limit() -> None:
    jobs, crew = _jobs()

    async def both() -> None:
        job = jobs.start("assess", owner="me", yaml="x")
        assert not await job.finished(0.05)
        threading.Timer(0.05, lambda: _worker(crew, "x").answer()).start()
        assert await job.finished(10)
        assert job.state is JobState.DONE

    awaited(both)


# -- real processes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "status", "said"),
    [
        ({"assess_seconds": 0.05}, 503, "took longer than 0.05 seconds"),
        ({"assess_memory": 30_000_000}, 413, "memory"),
    ],
)
def test_an_assessment_that_needs_too_much_is_stopped(limits: dict[str, Any], status: int, said: str) -> None:
    within = ServerLimits(**limits)
    jobs = Jobs(within, Pool(within))
    try:
        job = jobs.start("assess", yaml=EXAMPLES["epsilens:adult"])
        assert _wait(job) is JobState.FAILED
        assert job.answer is not None
        assert job.answer["status"] == status, job.answer
        assert said in job.answer["error"]
    finally:
        jobs.close()
        jobs.pool.close()


def test_a_table_is_understood_assessed_and_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    path = tmp_path / "upload.csv"
    path.write_text("age,sex,note\n" + "".join(f"{20 + i % 40},{'fm'[i % 2]},{i * 7919}x\n" for i in range(300)))
    upload = Upload("t", "me", "my people.csv", path, digest="0123")
    source = Source()
    jobs = Jobs(_PATIENT, Pool(_PATIENT, source))
    try:
        looked = jobs.start("understand", upload, owner="me")
        looked.wait()
        found = looked.result()
        columns = {c["name"]: c for c in found["columns"]}
        assert columns["sex"]["values"] == ["f", "m"]
        assert "values" not in columns["note"]
        assert {"yaml", "sentence", "warnings"} <= set(found)
        job = jobs.start("assess", upload, owner="me", yaml=PLAN)
        job.wait()
        assert job.result()["file"] == {"name": "my people.csv", "digest": "0123"}
        assert job.progress.done == job.progress.total > 0
        both = jobs.start("assess", upload, owner="me", yaml=PLAN.replace("table: upload", "table: 'epsilens:adult'"))
        both.wait()
        with pytest.raises(RequestError, match=r"'epsilens:adult' and a file is uploaded: write 'table: upload'"):
            both.result()
    finally:
        jobs.close()
        jobs.pool.close()
        source.stop()
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("data", [b"", b"\x00\x01\x02" * 50, b"\x1f\x8b broken", b"PK\x03\x04zip"])
@pytest.mark.parametrize("name", ["p.csv", "p.csv.gz", "p.parquet"])
def test_files_that_are_not_tables(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / f"upload.{name.partition('.')[2]}"
    path.write_bytes(data)
    made = task_answer(Task({"task": "understand", "table": str(path), "name": name, "unpacked": 1_000_000}))
    if "error" in made:
        assert made["status"] == 422
        assert str(tmp_path) not in made["error"]
        assert path.name not in made["error"]  # but the name its owner gave it
    else:  # a lone header, however strange, is a table without rows
        assert made["columns"]


@pytest.mark.parametrize("about", ["memory", "spill"])
def test_what_only_the_command_could_be_given_more_of(monkeypatch: pytest.MonkeyPatch, about: str) -> None:
    """The page has no --memory and no --spill: it says what can be done from there."""

    def outgrown(work: Task) -> dict[str, Any]:
        raise InputError(f"{about} is used up: give more with --{about}", parameter=about)

    monkeypatch.setitem(TASKS, "understand", outgrown)
    made = task_answer(Task({"task": "understand"}))
    assert (made["status"], "--" in made["error"]) == (413, False)
    assert made["error"].endswith("use the command line")


def test_a_crash_is_logged_by_its_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The class of the error and a line of ours; not its message, and nothing that a library writes."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "sys.stderr.write('cell 4711\\n')\n"
        "import epsilens.web.tasks as tasks\n"
        "def broken(work):\n"
        "    from epsilens.checks import real\n"
        "    real('x', object.__new__(type('Odd', (), {'__array__': lambda *a, **k: 1 / 0})))\n"
        "tasks.TASKS['shares'] = broken\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    source = Source()
    jobs = Jobs(_PATIENT, Pool(_PATIENT, source))
    try:
        job = jobs.start("shares", yaml="cell 4711")
        _wait(job)
        assert "4711" not in str(job.answer)
        until(lambda: "failed" in caplog.text)
    finally:
        jobs.close()
        jobs.pool.close()
        source.stop()
    assert "a shares failed with ZeroDivisionError at epsilens.checks:" in caplog.text
    assert "4711" not in caplog.text


def test_a_release_that_runs_is_ended_by_nobody() -> None:
    jobs, crew = _jobs(abandoned_seconds=0.0)
    running = jobs.start("release", owner="me", yaml="a")
    waiting = jobs.start("release", owner="you", yaml="b")
    worker = _worker(crew, "a")
    running.end()
    another = jobs.start("release", owner="me", yaml="c")
    time.sleep(0.01)
    jobs.expire()
    assert waiting.state is JobState.ENDED  # nobody asked about it, and nothing of it had begun
    jobs.close()
    assert running.state is JobState.RUNNING
    assert another.state is JobState.ENDED
    assert not worker.killed
    worker.answer()
    assert _wait(running) is JobState.DONE
