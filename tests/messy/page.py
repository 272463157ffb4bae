"""The same tables in a browser: a file chosen, the form it fills, the report; pictures of each, wide and narrow."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_WIDTHS = {1440: 900, 390: 844}
_PATIENCE = 180_000  # milliseconds, on a crowded machine


@dataclass(frozen=True)
class Visit:
    """Seconds from choosing a file to the filled form, and to the report; what went wrong."""

    upload: float = 0.0
    report: float = 0.0
    problems: tuple[str, ...] = ()


@contextmanager
def served() -> Iterator[str]:
    """The address of a server as ``epsilens serve`` starts it."""
    code = "from epsilens.cli.app import serve; serve(port=0)"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        yield next(word for line in process.stdout for word in line.split() if word.startswith("http")).rstrip("/.,")
    finally:
        process.terminate()
        process.wait(30)


def screenshots(address: str, folder: Path, names: Sequence[str]) -> dict[str, Visit]:
    """Pictures of each report as a file, and of each upload."""
    from playwright.sync_api import sync_playwright

    visits: dict[str, Visit] = {}
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name in names:
            report = folder / "reports" / f"{name}.html"
            for width, height in _WIDTHS.items():
                page = browser.new_page(viewport={"width": width, "height": height})
                page.set_default_timeout(_PATIENCE)
                if report.exists():
                    page.goto(report.as_uri())
                    _picture(page, folder, f"{name}-file", width)
                found = _visit(page, address, folder, name, width)
                if found is not None:
                    visits.setdefault(name, found)
                page.close()
        browser.close()
    return visits


def _visit(page: Any, address: str, folder: Path, name: str, width: int) -> Visit | None:
    """One file brought to the page; a database is no file."""
    from tests.messy.tables import TABLES
    from tests.messy.unseen_expected import EVERY

    if EVERY[name].table:
        return None
    path, problems = TABLES[name](folder / "tables"), []
    page.goto(f"{address}/assess")
    began = time.perf_counter()
    try:
        page.set_input_files("#f-file", path)
        page.wait_for_selector("#f-title, #error-file:not(:empty)")
        upload = time.perf_counter() - began
        problems += _too_wide(page, "form", width)
        _picture(page, folder, f"{name}-form", width)
        began = time.perf_counter()
        page.click("button.assess")
        page.wait_for_selector(".report h1, #trouble")
        done = time.perf_counter() - began
        problems += _too_wide(page, "report", width)
    except Exception as error:
        upload = done = time.perf_counter() - began
        problems.append(f"{width} px: {str(error).splitlines()[0][:200]}")
    _picture(page, folder, f"{name}-page", width)
    return Visit(upload, done, tuple(problems))


def _picture(page: Any, folder: Path, name: str, width: int) -> None:
    page.screenshot(path=folder / "shots" / f"{name}-{width}.png", full_page=True)


def _too_wide(page: Any, what: str, width: int) -> list[str]:
    wide = page.evaluate("document.documentElement.scrollWidth")
    return [f"{width} px: the {what} is {wide} px wide"] if wide > width else []
