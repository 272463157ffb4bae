"""The page of an environment, followed as a reader follows it: every view, every link, every file to keep."""

from __future__ import annotations

import html
import re
import subprocess
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from tests.web.navigation import followed

#: Addresses that differ in their query alone are one view, and so are the items of papers: so many of them are opened.
ALIKE = 2
START = ("/", "/explain", "/choose", "/compare", "/claim", "/assess", "/ledger", "/notions", "/papers")


@contextmanager
def page(python: Path, folder: Path, *more: str) -> Iterator[httpx.Client]:
    """A client of ``epsilens serve``, run by a Python of its own."""
    log = folder / "serve.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [python, "-m", "epsilens", "serve", "--port", "0", *more],
            stdout=subprocess.PIPE, stderr=errors, text=True, cwd=folder,
            env={"PATH": "/usr/bin:/bin", "PYTHONUNBUFFERED": "1", "TMPDIR": str(folder)},
        )  # fmt: skip
        assert process.stdout is not None
        try:
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found, log.read_text()
            with httpx.Client(base_url=found[0], timeout=120) as client:
                yield client
        finally:
            process.terminate()
            process.wait(60)
            process.stdout.close()


def links(text: str) -> list[str]:
    """Where a page leads; not where its forms go, which wait for somebody to fill them in."""
    return [html.unescape(one) for one in re.findall(r'(?:href|src|hx-get)="(/[^/"#][^"#]*)', text)]


def walk(client: httpx.Client, *start: str, only: str = "/") -> dict[str, int]:
    """What each address answers that is reached from the start and begins like the pattern ``only``."""
    answers: dict[str, int] = {}
    seen: Counter[str] = Counter()
    waiting = deque(start)
    while waiting:
        at = waiting.popleft()
        view = re.sub(r"^/papers/.+(?=\.\w+$)", "/papers/item", at.partition("?")[0])
        if at in answers or seen[view] >= ALIKE or not re.match(only, at):
            continue
        seen[view] += 1
        answer = followed(client, client.get(at))
        answers[at] = answer.status_code if answer.content else 204
        if answer.headers["content-type"].startswith("text/html"):
            waiting += links(answer.text)
    return answers
