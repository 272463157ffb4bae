"""The Papers view: what it says, that it is computed once and elsewhere, and the files it gives."""

from __future__ import annotations

import html
import re
import time
from concurrent.futures import Future
from typing import Any

import pytest

from epsilens.papers import CITATIONS, PAPERS, reproduction
from epsilens.papers.items import ERRATA
from epsilens.web.limits import RequestError, ServerLimits
from epsilens.web.papers import PaperCache, paper_content
from epsilens.web.pool import Pool


def _visited(client: Any, address: str) -> Any:
    """The page once it is there; a browser without a script looks again by itself."""
    end = time.monotonic() + 120
    while "Recomputing…" in (page := client.get(address)).text:
        assert page.status_code == 200
        assert '<noscript><meta http-equiv="refresh"' in page.text
        assert time.monotonic() < end, "it never came about"
    return page


@pytest.fixture(scope="module")
def paper() -> Any:
    return reproduction("liu2019").papers[0]


def test_a_paper_says_all_its_items(client: Any, text_of: Any, paper: Any) -> None:
    page = _visited(client, "/papers/liu2019")
    assert page.status_code == 200
    words = text_of(page.text)
    for item in paper.items:
        assert f'<section id="{item.key}">' in page.text
        for told in (item.title, item.shows, item.gets, item.why, *item.notes):
            assert " ".join(told.split()) in words
    assert CITATIONS["000"].title in words
    assert page.text.count("<h1") == 1
    drawn = sum(len(item.charts) for item in paper.items)
    assert page.text.count('<div class="desk"><svg') == page.text.count('<div class="phone"><svg') == drawn > 0


def test_nothing_is_fetched_and_no_style_is_inline(client: Any) -> None:
    main = _visited(client, "/papers/liu2019").text.split("<main", 1)[1]
    assert "style=" not in main
    assert "<script" not in main
    assert not re.findall(r'(?:src|href|url\()["\s]*=?["\s]*(?:https?:)?//', main)


@pytest.mark.always
def test_the_second_visit_computes_nothing(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = _visited(client, "/papers/liu2019")

    def refuse(self: Any, name: str) -> Any:
        raise AssertionError(f"{name} is computed again")

    monkeypatch.setattr(PaperCache, "_begun", refuse)
    assert client.get("/papers/liu2019").text == first.text


def test_files_are_the_items_own(client: Any, paper: Any) -> None:
    page = _visited(client, "/papers/liu2019").text
    for item in paper.items:
        address = f"/papers/liu2019/{item.key}.csv"
        assert (f'href="{address}" download' in page) is bool(item.records or item.charts)
        if not item.records and not item.charts:  # a drawing, in words
            continue
        kept = client.get(address)
        assert (kept.status_code, kept.text) == (200, item.csv)
        assert kept.headers["content-type"] == "text/csv; charset=utf-8"
        assert "attachment" in kept.headers["content-disposition"]
        for name, text in item.files.items():
            if name.endswith(".svg"):
                picture = client.get(f"/papers/liu2019/{name}")
                assert (picture.headers["content-type"], picture.text) == ("image/svg+xml", text)
    data = client.get("/papers/liu2019/paper.json").json()
    assert [item["key"] for item in data["papers"][0]["items"]] == [item.key for item in paper.items]


def test_what_is_not_there(client: Any, text_of: Any) -> None:
    page = client.get("/papers/joy2020")
    assert page.status_code == 404
    assert "There is no paper 'joy2020'" in text_of(page.text)
    assert "liu2019" in page.text
    hostile = client.get("/papers/%3Cscript%3Ealert(1)")
    assert (hostile.status_code, "<script>alert" in hostile.text) == (404, False)
    file = client.get("/papers/liu2019/figure-99.csv")
    assert file.status_code == 404
    assert "There is no file 'figure-99.csv' of this paper" in text_of(file.text)
    assert client.get("/papers/recomputed/liu2019").status_code == 404  # which processes alone answer


def test_other_ways_to_say_a_paper_lead_there(client: Any) -> None:
    for said in ("000", "Liu2019"):
        away = client.get(f"/papers/{said}")
        assert (away.status_code, away.headers["location"]) == (308, "/papers/liu2019")


def test_errata_with_their_checks(client: Any, text_of: Any) -> None:
    page = _visited(client, "/papers/errata")
    words = text_of(page.text)
    for number, errata in ERRATA.items():
        assert f'<section id="{PAPERS[number]}">' in page.text
        for one in errata:
            assert f"<code>{html.escape(one.check, quote=True).replace('&#x27;', '&#39;')}</code>" in page.text
            assert " ".join(one.holds.split()) in words
    assert page.text.count('<p class="note">True</p>') == sum(map(len, ERRATA.values()))
    assert "False" not in words


def test_the_list_says_what_is_there_what_failed_and_what_comes(
    client: Any, text_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    there: Future[Any] = Future()
    there.set_result(paper_content("liu2019"))
    failed: Future[Any] = Future()
    failed.set_exception(RequestError("this takes longer than 60 seconds: use the command line", 504))
    states = {name: Future[Any]() for name in PAPERS.values()} | {"liu2019": there, "li2019": failed}
    monkeypatch.setattr(client.app.state.papers, "every", lambda: states)
    page = client.get("/papers")
    words = text_of(page.text)
    assert page.status_code == 200
    assert "5 agree 7 agree in part 4 do not hold 2 drawings, no claim 2 beyond the paper" in words
    assert "▲ This takes longer than 60 seconds: use the command line. Try again" in words
    assert words.count("Recomputing…") == 3
    assert 'hx-trigger="load delay' in page.text
    assert '<noscript><meta http-equiv="refresh"' in page.text
    for number, name in PAPERS.items():
        assert f'href="/papers/{name}"' in page.text
        assert CITATIONS[number].title in words
    for name in states:
        states[name] = there
    page = client.get("/papers")
    assert "refresh" not in page.text.split("<title>")[1]
    assert "hx-trigger" not in page.text
    assert "Of 100 tables, figures and claims, 25 agree, 35 agree in part and 20 do not hold; the other 20" in text_of(
        page.text
    )


def test_what_failed_is_said_and_can_be_tried_again(client: Any, text_of: Any) -> None:
    papers = client.app.state.papers
    failed: Future[Any] = Future()
    failed.set_exception(RequestError("the server is busy: try again in a moment", 503))
    papers._asked["unsal2022"] = failed
    page = client.get("/papers/unsal2022")
    assert page.status_code == 503
    assert "The server is busy: try again in a moment." in text_of(page.text)
    assert "unsal2022" not in papers._asked


def test_a_paper_ends_in_time() -> None:
    limits = ServerLimits(assess_seconds=0.01)
    papers = PaperCache(limits, Pool(limits))
    try:
        with pytest.raises(RequestError, match=r"longer than 0\.01 seconds|busy"):
            papers.of("li2019").result(60)
    finally:
        papers.close()
    with pytest.raises(RequestError, match="stopped"):
        papers.of("liu2019").result(10)


def test_it_stands_at_the_foot(client: Any) -> None:
    assert '<a href="/papers">Papers</a>' in client.get("/explain").text.partition("</header>")[2]
    assert '<a href="/papers" aria-current="page">Papers</a>' in client.get("/papers/joy").text
