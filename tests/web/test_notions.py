"""The Notions view."""

from __future__ import annotations

from typing import Any

import pytest

from epsilens import notions as n
from epsilens.show.document import Table
from epsilens.show.notions import promised


def test_equals_the_library(client: Any, text_of: Any) -> None:
    page = client.get("/notions?from=ip&epsilon=1&dependent=4")
    words = text_of(page.text)
    assert page.status_code == 200
    assert promised("ip", 1.0, dependent=4).sentence.replace(" of it", "") in words.replace(" of it", "")
    assert "Use differential privacy with ε = 0.25 or less to keep this promise." in words
    table = promised("ip", 1.0, dependent=4).tables[0].blocks[0]
    assert isinstance(table, Table)
    for row in table.rows:
        assert row[-1].text in words
    assert "epsilens notions --from ip --epsilon 1 --dependent 4" in words


@pytest.mark.parametrize("key", sorted(n.NOTIONS))
@pytest.mark.parametrize("epsilon", ["0", "1e-12", "1", "700"])
def test_every_notion(client: Any, text_of: Any, key: str, epsilon: str) -> None:
    page = client.get(f"/notions?from={key}&epsilon={epsilon}&records=5&dependent=2")
    assert page.status_code == 200
    assert n.NOTIONS[key].name in text_of(page.text)
    assert "style=" not in page.text.split("<main", 1)[1]  # the security policy refuses inline styles
    assert page.text.count("<h1") == 1


def test_a_form_without_javascript(client: Any, text_of: Any) -> None:
    sent = {"from": "mp", "epsilon": "1", "dependent": "1", "records": "", "priors": "every", "least": "0",
            "diameter": "1", "secrets": "records", "constrained": ""}  # fmt: skip
    page = client.get("/notions", params=sent)
    assert page.status_code == 200
    assert "Use differential privacy with ε = 1 or less" in text_of(page.text)


def test_htmx_is_told_the_plain_address(client: Any) -> None:
    page = client.get("/notions?from=mp&epsilon=2&dependent=1&priors=one&full=on", headers={"hx-request": "true"})
    assert page.headers["hx-push-url"] == "/notions?from=mp&epsilon=2&full=on"
    assert 'name="full" value="on" checked' in page.text
    assert '<details class="rare" open>' in page.text


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("from=joy", "from"),
        ("epsilon=x", "epsilon"),
        ("epsilon=-1", "epsilon"),
        ("epsilon=nan", "epsilon"),
        ("dependent=0", "dependent"),
        ("dependent=x", "dependent"),
        ("dependent=9&records=3", "dependent"),
        ("least=0.9", "least"),
        ("priors=every&least=0.1", "least"),
        ("priors=joy", "priors"),
        ("diameter=0", "diameter"),
        ("secrets=all", "secrets"),
    ],
)
def test_errors_stand_by_their_field(client: Any, text_of: Any, query: str, field: str) -> None:
    page = client.get(f"/notions?{query}")
    assert page.status_code == 422
    start = page.text.index(f'id="error-{field}"')
    assert "▲" in text_of(page.text[start - 20 : page.text.index("</p>", start)])


def test_hostile_entries(client: Any) -> None:
    page = client.get("/notions", params={"from": "<script>alert(1)</script>", "epsilon": '"><img src=x>'})
    assert page.status_code == 422
    assert "<script>alert" not in page.text
    assert "<img" not in page.text
    assert client.get("/notions", params={"epsilon": "1" * 5000}).status_code == 422


def test_files(client: Any) -> None:
    made = client.get("/notions.json?from=dp&epsilon=1&records=4").json()
    assert {c["promised"] for c in made["promises"]} == set(n.NOTIONS) - {"dp"}
    kept = client.get("/notions.html?from=dp&epsilon=1")
    assert "Differential privacy" in kept.text
    assert "attachment" in kept.headers["content-disposition"]
    assert client.get("/notions.html?epsilon=x").status_code == 422
    assert client.get("/notions.json?epsilon=x").status_code == 422


def test_it_stands_at_the_foot_and_not_among_the_views(client: Any) -> None:
    words = "Other definitions of privacy</a>"
    assert f'<a href="/notions" aria-current="page">{words}' in client.get("/notions").text
    views, _, rest = client.get("/explain").text.partition("</header>")
    assert "/notions" not in views
    assert f'<a href="/notions">{words}' in rest
