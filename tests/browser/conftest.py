"""A real browser and a real server. Without chromium the tests are skipped, loudly, unless they are required.

Debian's chromium is driven by playwright, which downloads nothing. ``EPSILENS_REQUIRE_BROWSER=1`` turns the skip into a
failure.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = os.environ.get("EPSILENS_CHROMIUM", "/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
REQUIRED = os.environ.get("EPSILENS_REQUIRE_BROWSER") == "1"
SIZES = {1280: 900, 390: 844}


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
        [sys.executable, "-c", "from epsilens.cli.serve import serve; serve(port=0)"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": source, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        url = next(word for word in process.stdout.readline().split() if word.startswith("http://"))
        for _ in range(200):
            try:
                urllib.request.urlopen(f"{url}help", timeout=10).close()
                break
            except OSError:
                time.sleep(0.1)
        yield url.rstrip("/")
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.fixture(scope="session")
def browser(base: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield made
        made.close()


@pytest.fixture
def visit(browser: Any, base: str) -> Iterator[Callable[..., Any]]:
    """Open a path at a width; whatever the browser complains about fails the test."""
    contexts: list[Any] = []
    complaints: list[str] = []

    def open_page(path: str, width: int = 1280, **options: Any) -> Any:
        context = browser.new_context(
            base_url=base,
            viewport={"width": width, "height": SIZES.get(width, 900)},
            reduced_motion="reduce",
            **options,
        )
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda said: (
                complaints.append(said.text) if said.type == "error" and "status of 4" not in said.text else None
            ),
        )
        page.on("request", lambda sent: None if sent.url.startswith((base, "data:")) else complaints.append(sent.url))
        page.goto(path, timeout=90_000)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
