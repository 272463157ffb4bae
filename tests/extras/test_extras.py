"""The library with few of its extras: what `pip install` and `make demo` leave, not what the tests run in.

EPSILENS_LIGHT names the Python of a real environment (`make light`); without it, one is made of links into this one.
"""

from __future__ import annotations

import html
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest
from tests.extras.environments import ROOT, environment
from tests.extras.walk import START, page, walk
from tests.web.navigation import CSV, SMALL, attached, brought, followed

from epsilens.web.form import DEFAULT_TABLE, EXAMPLES

GIVEN = os.environ.get("EPSILENS_LIGHT")
PLAN = SMALL.replace("by: sex", "by: sex\n  groups: [f, m]").replace("epsilon: 1.0", "epsilon: 0.3")
#: What needs an extra, and which; nothing else of the specimens does.
ASKED = """Assessment: data
Published: data
Start: data
account: release
assess: data
init: data
pdf: pdf
png: charts
release: data
"""


def run(python: Path, *arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([python, *arguments], capture_output=True, text=True, check=False, cwd=cwd)


def test_without_extras_everything_but_tables_works(tmp_path: Path) -> None:
    done = run(environment(tmp_path / "bare"), "tests/extras/bare.py")
    assert (done.stdout, done.stderr, done.returncode) == (ASKED, "", 0)


def test_with_tables_alone_a_plan_is_assessed(tmp_path: Path) -> None:
    python = environment(tmp_path / "data", "data")
    (tmp_path / "people.csv").write_text(CSV, "utf-8")
    (tmp_path / "plan.yaml").write_text(PLAN.replace("TABLE", "people.csv"), "utf-8")
    done = run(python, "-m", "epsilens", "assess", "plan.yaml", "--output", "report.html", cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert "<svg" in (tmp_path / "report.html").read_text("utf-8")
    asked = run(python, "-m", "epsilens", "release", "plan.yaml", "--output", "answers.csv", cwd=tmp_path)
    assert asked.returncode == 2
    assert "pip install 'epsilens[release]'" in asked.stderr


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """The page as `make demo` leaves it, with a ledger."""
    folder = tmp_path_factory.mktemp("light")
    python = Path(GIVEN).absolute() if GIVEN else environment(folder / "environment", "web", "release")
    limit = ("limit", "--account", "people", "--success", "0.65", "--ledger", "ledger.db")
    done = run(python, "-m", "epsilens", "ledger", *limit, cwd=folder)
    assert done.returncode == 0, done.stderr
    with page(python, folder, "--ledger", "ledger.db") as client:
        yield client
    assert (folder / "serve.log").read_text("utf-8") == "epsilens: stopped by SIGTERM\n"


def test_every_link_of_the_page_answers(served: httpx.Client) -> None:
    example = f"/assess?{urlencode({'yaml': EXAMPLES[DEFAULT_TABLE]})}"
    # The papers are computed, and have no part in extras: they are opened in the real environment alone.
    answers = walk(served, *START, example, only="/" if GIVEN else "/(?!papers/)")
    assert {at: status for at, status in answers.items() if status != 200} == {}
    for kind in ("pdf", "csv", "json", "html", "yaml"):
        assert any(at.startswith(f"/assess.{kind}?") for at in answers)
    assert any(re.search(r"/picture/4\.svg$", at) for at in answers)
    assert not any(".png" in at for at in answers)  # without its extra, a picture of that kind is not promised


def test_a_table_brought_along_is_assessed_and_released(served: httpx.Client) -> None:
    assert 'id="plan-form"' in brought(served).text
    sent = served.post("/assess", **attached("people.csv", CSV.encode(), PLAN.replace("TABLE", "upload")))
    report = followed(served, sent)
    here = re.findall(r'href="(/assess/job/[^"]+)"', report.text)
    answers = walk(served, *here, only="/assess/job/")
    offer = served.get(next(at for at in here if at.endswith("/release")), params={"account": "people"})
    form = offer.text[offer.text.index('class="confirm"') :]
    where, token, amount = (
        html.unescape(found[1])
        for pattern in (r'action="([^"]+)"', r'name="offer" value="([^"]+)"', r'name="confirm" value="([^"]+)"')
        if (found := re.search(pattern, form))
    )
    origin = str(served.base_url).rstrip("/")
    done = followed(served, served.post(where, data={"offer": token, "confirm": amount}, headers={"origin": origin}))
    assert done.status_code == 200
    kept = re.findall(r'href="(/assess/job/[^"]+)"', done.text)
    answers |= walk(served, "/ledger", *kept, only="/assess/job/|/ledger")
    assert {at: status for at, status in answers.items() if status != 200} == {}
