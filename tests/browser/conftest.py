"""A real browser and a real server. Without chromium the tests are skipped, loudly, unless they are required.

Debian's chromium is driven by playwright, which downloads nothing. ``EPSILENS_REQUIRE_BROWSER=1`` turns the skip into a
failure. The tests wait for what must become true, never for a time to pass: the one ceiling is there only so that one
which waits in vain ends, and is far above what a crowded machine takes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

#: The same engine without a window takes half the processor time: it is taken where Debian has installed it.
_BUILDS = ("/usr/bin/chromium-headless-shell", "/usr/bin/chromium")
CHROMIUM = os.environ.get("EPSILENS_CHROMIUM") or next(filter(os.path.exists, _BUILDS), _BUILDS[1])
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
CEILING = 180.0  # seconds
REQUIRED = os.environ.get("EPSILENS_REQUIRE_BROWSER") == "1"
SIZES = {1280: 900, 390: 844}


#: ``epsilens serve`` with a ledger, but for the time that work may take, which a crowded machine would exceed.
SERVE = f"""
import tempfile
from functools import partial
import epsilens as el
from epsilens.cli.app import serve
from epsilens.web import app
from epsilens.web.limits import ServerLimits
app.create_app = partial(app.create_app, limits=ServerLimits(assess_seconds={CEILING}, reading_seconds={CEILING}))
with tempfile.TemporaryDirectory() as folder:
    ledger = el.Ledger(folder + "/ledger.db")
    ledger.limit("patients", success=0.65)
    for month in ("January", "February", "March"):
        ledger.add("patients", el.laplace(epsilon=0.2), title="Visits in " + month)
    ledger.limit("doctors", epsilon=1.0)
    serve(port=0, ledger=folder + "/ledger.db")
"""


def _missing() -> str:
    if not Path(CHROMIUM).exists():
        return f"there is no {CHROMIUM}: apt-get install chromium"
    for package in ("playwright", "fastapi", "uvicorn", "duckdb"):
        try:
            __import__(package)
        except ImportError:
            return f"the package {package} is not installed"
    return ""


_WHY = _missing()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if _WHY and not REQUIRED and here in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=f"THE BROWSER WAS NOT TESTED: {_WHY}"))


@pytest.fixture(scope="session")
def base() -> Iterator[str]:
    """The address of a server as ``epsilens serve`` starts it."""
    if _WHY:
        pytest.fail(f"the browser tests are required, but {_WHY}")
    source = str(Path(__file__).parents[2] / "src")
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": source, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        url = next(word for word in process.stdout.readline().split() if word.startswith("http://"))
        # The port is open before the address is printed: a request waits in line until the server answers.
        urllib.request.urlopen(f"{url}help", timeout=CEILING).close()
        yield url.rstrip("/")
    finally:
        process.terminate()
        process.communicate(timeout=CEILING)


@pytest.fixture(scope="session")
def browser(base: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=1000 * CEILING)
        yield made
        made.close()


@pytest.fixture
def visit(browser: Any, base: str) -> Iterator[Callable[..., Any]]:
    """Open a path at a width; whatever the browser complains about fails the test, but for ``quiet`` words."""
    contexts: list[Any] = []
    complaints: list[str] = []

    def open_page(path: str, width: int = 1280, quiet: Sequence[str] = ("status of 4",), **options: Any) -> Any:
        context = browser.new_context(
            base_url=base,
            viewport={"width": width, "height": SIZES.get(width, 900)},
            reduced_motion="reduce",
            **options,
        )
        context.set_default_timeout(1000 * CEILING)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda said: (
                complaints.append(said.text)
                if said.type == "error" and not any(words in said.text for words in quiet)
                else None
            ),
        )
        page.on("request", lambda sent: None if sent.url.startswith((base, "data:")) else complaints.append(sent.url))
        page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
