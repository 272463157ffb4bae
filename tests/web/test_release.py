"""Release on the page: what is offered is what is spent, once, and only by who sits at this machine and confirms it."""

from __future__ import annotations

import csv
import html
import io
import json
import os
import re
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

pytest.importorskip("fastapi", reason="the page needs epsilens[web]")
pytest.importorskip("opendp", reason="a release needs epsilens[release]")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

from tests.web.navigation import CSV, followed
from tests.web.servers import SOURCE

import epsilens as el
from epsilens.ledger.store import EntryKind
from epsilens.plan.file import read_release
from epsilens.plan.labels import normalized_plan
from epsilens.web import release
from epsilens.web.app import create_app
from epsilens.web.limits import ServerLimits

HOST = "http://127.0.0.1:8000"
HERE = ("127.0.0.1", 50_000)
PLAN = """title: People by <i>sex</i>
data:
  table: upload
queries:
- name: People
  count: true
  by: sex
  groups: [f, m]
mechanism: {noise: laplace, epsilon: 0.3}
limits: {success: 0.6}
"""
Words = Callable[[str], str]


def opened(ledger: el.Ledger | None, host: str = "127.0.0.1", client: tuple[str, int] = HERE) -> TestClient:
    app = create_app(host, ServerLimits(assess_seconds=120, reading_seconds=120), ledger=ledger)
    return TestClient(app, base_url=HOST, follow_redirects=False, client=client)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> el.Ledger:
    made = el.Ledger(tmp_path_factory.mktemp("released") / "ledger.db")
    made.limit("patients", epsilon=0.5)
    return made


@pytest.fixture(scope="module")
def asked(ledger: el.Ledger) -> Iterator[TestClient]:
    with opened(ledger) as made:
        yield made


@pytest.fixture(scope="module")
def page(asked: TestClient) -> Any:
    """One report for all; each test releases it about people of its own."""
    return report(asked)


@pytest.fixture
def people(ledger: el.Ledger, request: pytest.FixtureRequest) -> str:
    name = str(request.node.name)
    ledger.limit(name, epsilon=0.5)
    return name


@pytest.fixture
def held(asked: TestClient, page: Any, ledger: el.Ledger) -> None:
    """Some account holds the table, whichever test released it first."""
    if not any(account.counted for account in ledger.accounts().values()):
        ledger.limit("holders", epsilon=0.5)
        followed(asked, confirmed(asked, offered(asked, page, account="holders")))


def report(client: TestClient, data: str = CSV, yaml: str = PLAN) -> Any:
    """The report on an upload."""
    sent = client.post("/assess", data={"yaml": yaml}, files={"file": ("people.csv", data.encode())})
    return followed(client, sent)


def offered(client: TestClient, page: Any, **query: str) -> Any:
    """What the button of a report leads to."""
    found = re.search(r'href="(/assess/job/[\w-]+/release)"', page.text)
    assert found, page.text
    return client.get(found[1], params=query)


@contextmanager
def set_to(client: TestClient, name: str, value: Any) -> Iterator[None]:
    """For a moment, a server that was started otherwise."""
    state: Any = client.app.state  # type: ignore[attr-defined]
    kept = getattr(state, name)
    setattr(state, name, value)
    try:
        yield
    finally:
        setattr(state, name, kept)


def sent(page: Any, **changed: str) -> tuple[str, dict[str, str]]:
    """Where the confirmation of an offer goes, ticked, and what it says."""
    form = page.text[page.text.index('class="confirm"') :]
    where = re.search(r'action="([^"]+)"', form)
    token = re.search(r'name="offer" value="([^"]+)"', form)
    amount = re.search(r'name="confirm" value="([^"]+)"', form)
    assert where
    assert token
    assert amount
    return where[1], {"offer": token[1], "confirm": html.unescape(amount[1])} | changed


def confirmed(client: TestClient, page: Any, origin: str | None = HOST, **changed: str) -> Any:
    where, data = sent(page, **changed)
    return client.post(where, data=data, headers={} if origin is None else {"origin": origin})


def spent(ledger: el.Ledger, people: str) -> int:
    return len(ledger.account(people).counted)


@pytest.mark.always
def test_from_a_report_to_the_answers(
    asked: TestClient, page: Any, ledger: el.Ledger, people: str, text_of: Words
) -> None:
    offer = offered(asked, page, account=people)
    assert offer.status_code == 200
    words = text_of(offer.text)
    # One person is one row in one of two groups: b = 1/0.3, and the best guess is right with 1 - exp(-0.15)/2 = 0.5696.
    for told in ("People", "2 by sex", "3.333", "at most 57 times of 100", "a coin gets 50"):
        assert told in words
    assert f"Spend ε = 0.3 of the account {people}" in words
    assert re.search(r"\bε 0 0\.3 0\.5 0\.2\b", words)  # spent so far, with this, the limit, what is left
    assert "<i>sex" not in offer.text
    assert spent(ledger, people) == 0
    shown = followed(asked, confirmed(asked, offer))
    assert shown.status_code == 200
    assert f"ε = 0.3 is spent of the account {people}" in text_of(shown.text)
    account = ledger.account(people)
    assert [one.charge.epsilon for one in account.counted] == [pytest.approx(0.3)]
    saved = account.counted[0].published
    assert saved is not None
    answers = [one["answer"] for one in saved["answers"]]
    links = re.findall(r'href="(/assess/job/[\w-]+/answers\.\w+)"', shown.text)
    files = {link.rpartition(".")[2]: asked.get(link) for link in links}
    assert list(files) == ["csv", "json", "parquet", "html"]
    assert all(one.headers["content-disposition"].startswith("attachment") for one in files.values())
    rows = csv.DictReader(line for line in files["csv"].text.splitlines() if not line.startswith("#"))
    assert [float(row["answer"]) for row in rows] == answers
    assert [one["answer"] for one in json.loads(files["json"].text)["answers"]] == answers
    assert pq.read_table(io.BytesIO(files["parquet"].content)).column("answer").to_pylist() == answers
    assert "<title>" in files["html"].text
    # The same file brought once more, and the same plan: the same answers, and nothing is spent.
    again = offered(asked, report(asked), account=people)
    assert "This plan was released on" in text_of(again.text)
    shown = followed(asked, confirmed(asked, again))
    assert "Nothing was spent: these answers were published on" in text_of(shown.text)
    links = re.findall(r'href="(/assess/job/[\w-]+/answers\.json)"', shown.text)
    assert [one["answer"] for one in json.loads(asked.get(links[0]).text)["answers"]] == answers
    assert spent(ledger, people) == 1


def test_sent_twice_it_is_spent_once(
    asked: TestClient, page: Any, ledger: el.Ledger, people: str, text_of: Words, held: None
) -> None:
    """Of a table that another account holds already, which is refused unless somebody says that it is about others."""
    assert "the ledger has several accounts: say whom" in text_of(offered(asked, page).text).replace("The", "the")
    shown = followed(asked, confirmed(asked, offered(asked, page, account=people)))
    assert "say that it is about other people" in text_of(shown.text)
    assert spent(ledger, people) == 0
    offer = offered(asked, page, account=people)
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: confirmed(asked, offer, other_people="yes"), range(4)))
    assert {one.status_code for one in made} == {303}
    assert len({one.headers["location"] for one in made}) == 1
    shown = followed(asked, made[0])
    assert confirmed(asked, offer).headers["location"] == made[0].headers["location"]
    assert asked.get(str(shown.url)).text == shown.text  # looking again is not releasing again
    assert spent(ledger, people) == 1
    # A limit that leaves no room for a second one does not keep back what was published.
    ledger.limit(people, epsilon=0.4)
    again = offered(asked, page, account=people)
    assert again.status_code == 200
    followed(asked, confirmed(asked, again))
    assert spent(ledger, people) == 1


def test_what_is_not_confirmed_is_not_spent(
    asked: TestClient, page: Any, ledger: el.Ledger, people: str, text_of: Words
) -> None:
    offer = offered(asked, page, account=people)
    for confirm in ("", "ε = 0.2", "on"):
        answer = confirmed(asked, offer, confirm=confirm)
        assert answer.status_code == 422
        assert "Nothing was spent: tick that ε = 0.3 is to be spent" in text_of(answer.text)
        assert 'name="confirm"' in answer.text
    for token in ("", "x" * 43, "../../etc/passwd"):
        answer = confirmed(asked, offer, offer=token)
        assert answer.status_code == 409
        assert "nothing was spent" in text_of(answer.text)
    assert spent(ledger, people) == 0


@pytest.mark.always
def test_other_sites_and_programs_cannot_confirm(asked: TestClient, page: Any, ledger: el.Ledger, people: str) -> None:
    offer = offered(asked, page, account=people)
    where, data = sent(offer)
    for origin in ("http://evil.example", "null", None):
        assert confirmed(asked, offer, origin=origin).status_code == 403
    for site in ("cross-site", "same-site"):
        assert asked.post(where, data=data, headers={"origin": HOST, "sec-fetch-site": site}).status_code == 403
    rebound = {"origin": "http://evil.example", "host": "evil.example"}
    assert asked.post(where, data=data, headers=rebound).status_code == 400
    for name in ("x-forwarded-for", "forwarded", "via"):
        assert asked.post(where, data=data, headers={"origin": HOST, name: "203.0.113.7"}).status_code == 403
    # Another browser on this machine knows the address and the words of the form, but has not the cookie.
    other = TestClient(asked.app, base_url=HOST, follow_redirects=False, client=HERE)
    assert other.get(where).status_code == 404
    assert other.post(where, data=data, headers={"origin": HOST}).status_code == 404
    assert spent(ledger, people) == 0


@pytest.mark.parametrize(
    ("host", "client"), [("0.0.0.0", HERE), ("127.0.0.1", ("203.0.113.7", 4_000)), ("192.0.2.1", ("192.0.2.1", 4_000))]
)
def test_over_a_network_nothing_is_released(
    ledger: el.Ledger, host: str, client: tuple[str, int], text_of: Words
) -> None:
    elsewhere = TestClient(create_app(host, ledger=ledger), base_url=HOST, follow_redirects=False, client=client)
    where = "/assess/job/x/release"
    for answer in (elsewhere.get(where), elsewhere.post(where, data={"confirm": "ε = 0.3"}, headers={"origin": HOST})):
        assert answer.status_code == 403
        assert "Nothing can be released" in text_of(answer.text)


def test_where_nothing_can_be_released_there_is_a_sentence_and_no_button(
    asked: TestClient, page: Any, ledger: el.Ledger, text_of: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(name: str, value: Any) -> str:
        with set_to(asked, name, value):
            shown = asked.get(str(page.url))
        assert 'id="release"' in shown.text
        assert ">Release…<" not in shown.text
        return text_of(shown.text)

    assert ">Release…<" in asked.get(str(page.url)).text
    assert "start the page with a ledger that counts it: epsilens serve --ledger ledger.db." in told("ledger", None)
    assert "Nothing can be released from a page that is open to the network" in told("here_alone", False)
    monkeypatch.setattr(release, "find_spec", lambda _: None)
    shown = asked.get(str(page.url))
    assert "A release needs the package 'opendp'" in text_of(shown.text)
    assert ">Release…<" not in shown.text


def test_a_plan_beyond_its_limits_has_no_button(asked: TestClient, text_of: Words) -> None:
    shown = report(asked, yaml=PLAN.replace("0.6}", "0.51}"))
    assert "breaks its own limits" in text_of(shown.text)
    assert ">Release…<" not in shown.text
    answer = asked.get(f"{shown.url.path}/release")
    assert answer.status_code == 422
    assert "The plan breaks its own limits" in text_of(answer.text)


def test_a_limit_of_the_ledger(asked: TestClient, page: Any, ledger: el.Ledger, people: str, text_of: Words) -> None:
    held = offered(asked, page, account=people)
    ledger.add(people, el.laplace(epsilon=0.4), title="meanwhile")
    answer = offered(asked, page, account=people)
    assert answer.status_code == 422
    assert f"The ledger allows ε = 0.5 for '{people}', of which 0.4 is spent" in text_of(answer.text)
    assert 'name="confirm"' not in answer.text
    # Who still holds the offer of before is refused by the ledger itself.
    shown = followed(asked, confirmed(asked, held))
    assert shown.status_code == 422
    words = text_of(shown.text)
    assert "Nothing was released" in words
    assert "Nothing was spent." in words
    assert spent(ledger, people) == 1


def test_a_plan_that_changed_since_it_was_assessed(
    asked: TestClient, page: Any, ledger: el.Ledger, people: str, text_of: Words
) -> None:
    offer = offered(asked, page, account=people)
    _, data = sent(offer)
    offers: Any = asked.app.state.offers  # type: ignore[attr-defined]
    held = offers.of(data["offer"], asked.cookies["epsilens-visitor"], offer.url.path.split("/")[3])
    held.made = {**held.made, "assessed": "of another plan"}
    shown = followed(asked, confirmed(asked, offer))
    assert shown.status_code == 422
    assert "The plan is not the one that was assessed: assess it again" in text_of(shown.text)
    assert spent(ledger, people) == 0


@pytest.mark.always
def test_accounts_that_cannot_be(asked: TestClient, page: Any, ledger: el.Ledger, people: str) -> None:
    for wrong in ("x" * 150 + "\x07", "x" * 5000):
        assert offered(asked, page, account=wrong).status_code == 422
    assert offered(asked, page, account=people, part="north").status_code == 422
    assert offered(asked, page, account=people.upper()).status_code in (200, 422)


def test_a_file_that_is_forgotten_is_not_released(
    asked: TestClient, ledger: el.Ledger, people: str, text_of: Words
) -> None:
    shown = report(asked, CSV + "99,f,1\n")
    offer = offered(asked, shown, account=people)
    token = re.search(r"/assess/file/([\w-]+)/forget", shown.text)
    assert token
    asked.post(f"/assess/file/{token[1]}/forget", headers={"origin": HOST})
    answer = confirmed(asked, offer)
    assert answer.status_code in (404, 410)
    assert "nothing was spent" in text_of(answer.text)
    assert spent(ledger, people) == 0


@pytest.mark.parametrize("id", ["x", "..%2f..%2fetc%2fpasswd", "%00", "x" * 3000])
def test_foreign_paths(asked: TestClient, id: str) -> None:
    for path in (f"/assess/job/{id}/release", f"/assess/job/{id}/answers", f"/assess/job/{id}/answers.csv"):
        assert asked.get(path).status_code in (404, 422)
    answer = asked.post(f"/assess/job/{id}/release", data={"confirm": "ε = 0.3"}, headers={"origin": HOST})
    assert answer.status_code in (404, 422)


def test_a_ledger_that_goes_away_is_told(asked: TestClient, page: Any, text_of: Words, tmp_path: Path) -> None:
    with set_to(asked, "ledger", el.Ledger(tmp_path / "none.db")):
        answer = asked.get(f"{page.url.path}/release")
    assert answer.status_code == 422
    assert "There is no ledger at" in text_of(answer.text)
    assert not (tmp_path / "none.db").exists()


def test_a_release_outlives_the_server(ledger: el.Ledger, people: str) -> None:
    """A worker whose server is gone goes on to the end of a release: what it took would be spent for nothing."""
    plan = PLAN.replace("upload", "epsilens:adult").replace(
        "by: sex\n  groups: [f, m]", "by: sex\n  groups: [Male, Female]"
    )
    assessed = normalized_plan(read_release(plan)).digest()
    request = {
        "task": "release", "yaml": plan, "ledger": ledger.store.address, "account": people, "part": "",
        "assessed": assessed, "unpacked": 10**9, "memory": 3 * 10**9, "seconds": 240,
    }  # fmt: skip
    worker = subprocess.Popen(
        [sys.executable, "-m", "epsilens.web.worker"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": SOURCE},
    )  # fmt: skip
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(json.dumps(request).encode() + b"\n")
    worker.stdin.flush()
    assert b"process" in worker.stdout.readline()
    assert b"progress" in worker.stdout.readline()
    worker.send_signal(signal.SIGINT)
    worker.stdin.close()
    worker.stdout.close()
    worker.wait(180)
    [made] = ledger.account(people).counted
    assert made.state is EntryKind.PUBLISHED
