"""One Hypothesis profile for everyone, the slow tests marked and first, and a loud word when a kind could not run."""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings
from mpmath import mp
from tests.examples import examples, function_of

settings.register_profile(
    "epsilens",
    derandomize=True,
    deadline=None,
    max_examples=examples(40),
    print_blob=False,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("epsilens")

# Whoever runs the tests in the background may have some signals ignored, and every process they start inherits it.
for _number, _usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGTERM, signal.SIG_DFL),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)


#: The functions that took longest, and their seconds, when ``make slow`` last measured them all.
_LINES = Path(__file__).with_name("slow.txt").read_text("utf-8").splitlines()
SLOW = {name: float(taken) for name, taken in (line.rsplit(" ", 1) for line in _LINES)}
#: ``make quick`` leaves out all of them. Of those that take ``LONG`` seconds or more ``make test`` runs as many
#: examples, evenly spread, as take ``SHARE`` seconds; one at least unless it takes ``MOST``, or ``LONG`` on Spark.
#: The mark ``always`` keeps all, or so many at least, where no judge of its kind would be left. ``make full`` runs all.
LONG = 0.4
SHARE = 0.25
MOST = 1.2
#: What a file of the browser's tests is taken to need: its processor time is spent elsewhere, and it waits.
WAITING = 60.0
DIGITS = 50


@pytest.fixture(scope="session", autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Secrets of this machine are drawn in a folder of the tests' own, and not in the home of who runs them."""
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
    yield
    os.environ.pop("XDG_STATE_HOME")
    if before is not None:
        os.environ["XDG_STATE_HOME"] = before


def pytest_runtest_setup() -> None:
    """mpmath's digits are the process's: whoever changed them before, each test begins with those of the oracles."""
    mp.dps = DIGITS


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Ten thousand tests are no garbage: nothing looks for any among them while they are made, nor ever after."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Nothing looks for examples to run in the tests that have none."""
    made = yield
    return made if b">>> " in file_path.read_bytes() else [one for one in made if not isinstance(one, DoctestModule)]


def kept(name: str, count: int) -> int:
    """How many examples of a slow test ``make test`` runs, by what all of them take; on Spark no long one."""
    seconds, most = SLOW[name], LONG if "spark" in name else MOST
    if seconds < LONG:
        return count
    return max(int(SHARE / seconds * count), int(seconds / count < most))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    examples = Counter(function_of(item.nodeid) for item in items)
    seen: Counter[str] = Counter()
    needed = defaultdict(float, browser=WAITING)
    for item in items:
        scope, name = scope_of(item.nodeid), function_of(item.nodeid)
        if item.get_closest_marker("spark") and scope != "spark":
            raise pytest.UsageError(f"{item.nodeid} runs on Spark: its name must say so")
        seen[name] += 1
        if name not in SLOW:
            continue
        item.add_marker(pytest.mark.slow)
        if name.startswith("tests/"):
            always = item.get_closest_marker("always")
            least = (*always.args, examples[name])[0] if always else 0
            some = min(max(least, kept(name, examples[name])), examples[name])
            if seen[name] * some // examples[name] == (seen[name] - 1) * some // examples[name]:
                item.add_marker(pytest.mark.long)
                continue
        needed[scope] += SLOW[name] / examples[name]
    # Scopes are handed out in this order (--no-loadscope-reorder): the longest first, so that none is left for the end.
    items.sort(key=lambda item: -needed[scope_of(item.nodeid)])


def scope_of(name: str) -> str:
    """The tests one process runs: those of a file, but all that need a Spark, a browser, or every chart there is."""
    if "spark" in name:
        return "spark"
    return next((room for room in ("browser", "charts") if f"/{room}/test_" in name), name.partition("::")[0])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A Spark, a server and a browser are started once in a run, and not once in each of its processes."""
    from xdist.scheduler import LoadFileScheduling

    class Shared(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)

    return Shared(config, log)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what was not tested. Read from the reports: with several workers the skip happens in another process."""
    reasons = {str(r.longrepr[2]) for r in terminalreporter.stats.get("skipped", []) if isinstance(r.longrepr, tuple)}
    for reason in sorted(r.removeprefix("Skipped: ") for r in reasons if "NOT TESTED" in r):
        title, _, why = reason.partition(": ")
        terminalreporter.write_sep("!", title, red=True, bold=True)
        terminalreporter.write_line(f"{why}; .ci/run installs what is missing and fails instead of skipping")
