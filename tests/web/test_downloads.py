"""What a view shows, as a file: each begins as its kind does, and a view that has nothing says so."""

from __future__ import annotations

import re
import sys
from typing import Any
from urllib.parse import urlencode

import pytest
from tests.show.read_pdf import pages_of, words_of

import epsilens as el
from epsilens.show import charts
from epsilens.show.explanation import explain
from epsilens.web.form import EXAMPLES
from epsilens.web.pages import in_base64, picture, result_file, sent_pdf

VIEWS = {
    "explain": "mechanism=laplace&epsilon=1",
    "choose": "mechanism=laplace&reading=success&at_most=0.55",
    "compare": "a=laplace:epsilon=1&b=gaussian:psi=1",
    "claim": "epsilon=8&delta=0.000001",
    "notions": "from=dp&epsilon=1",
}


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_a_pdf(client: Any, view: str) -> None:
    made = client.get(f"/{view}.pdf?{VIEWS[view]}")
    assert made.status_code == 200
    assert made.headers["content-type"] == "application/pdf"
    assert made.headers["content-disposition"].startswith("attachment")
    assert len("".join(words_of(made.content))) > 500
    assert f"/{view}.pdf?" in client.get(f"/{view}?{VIEWS[view]}").text
    assert client.get(f"/{view}.pdf?a=laplace:epsilon=x&epsilon=x&at_most=x").status_code == 422


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_a_page_and_a_csv(client: Any, view: str) -> None:
    shown = client.get(f"/{view}?{VIEWS[view]}").text
    page, rows = (client.get(f"/{view}.{kind}?{VIEWS[view]}") for kind in ("html", "csv"))
    for made, kind in ((page, "text/html"), (rows, "text/csv")):
        assert (made.status_code, made.headers["content-type"].partition(";")[0]) == (200, kind)
        assert made.headers["content-disposition"].startswith("attachment")
    assert page.text.count("<svg") > 1
    assert "default-src 'none'" in page.text
    assert len({line.count(",") >= 2 for line in rows.text.splitlines()}) == 1
    assert f'href="/{view}.html?' in shown
    assert f'href="/{view}.csv?' in shown
    assert client.get(f"/{view}.csv?a=laplace:epsilon=x&epsilon=x&at_most=x").status_code == 422


def test_a_comparison_is_told_in_words_and_drawn_with_letters(client: Any) -> None:
    page = client.get("/compare.html?a=laplace:epsilon=1&b=gaussian:psi=1&c=pure:epsilon=2").text
    assert "Laplace noise with ε = 1, Gaussian noise with ψ = 1 and Any ε-DP release with ε = 2" in page
    labels = re.findall(r"<text[^>]*>([^<]*)</text>", page)
    assert {"A", "B", "C"} <= set(labels)
    assert not any("…" in label for label in labels)


def test_one_setting_is_a_pdf_too(client: Any) -> None:
    assert client.get("/compare.pdf?a=laplace:epsilon=1").content.startswith(b"%PDF")


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_curves_are_files(client: Any, kind: str) -> None:
    start = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}[kind]
    for path in ("/explain/roc", "/explain/precision-recall", "/choose/roc", "/compare/roc"):
        query = VIEWS[path.split("/")[1]]
        assert client.get(f"{path}.{kind}?{query}").content.startswith(start)


def test_without_its_extra_a_pdf_is_a_sentence_and_the_rest_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    about = explain(el.laplace(epsilon=1.0))
    chart = charts.marked(about.overview.curves["roc"])
    sent = sent_pdf(in_base64(about.to_pdf), "assessment.pdf")
    for made in (result_file(about, "explain", "pdf"), picture(chart, "roc", "pdf"), sent):
        assert made.status_code == 422
        assert "install it with pip install &#39;epsilens[pdf]&#39;" in bytes(made.body).decode()
    assert result_file(about, "explain", "html").status_code == 200


def test_the_report_and_the_board_s_sheet_are_pdfs(client: Any) -> None:
    query = urlencode({"yaml": EXAMPLES["epsilens:rand-hie"]})
    report = client.get(f"/assess.pdf?{query}")
    assert report.content.startswith(b"%PDF")
    assert "Lower" in " ".join(words_of(report.content))
    sheet = client.get(f"/assess.board.pdf?{query}")
    assert len(pages_of(sheet.content)) == 1
    assert f"/assess.board.pdf?{query.split('&')[0][:20]}" in client.get(f"/assess/board?{query}").text


@pytest.mark.parametrize("view", ["explain", "choose"])
def test_what_can_be_certified_has_its_certificate(client: Any, view: str) -> None:
    link = f"/{view}/certificate.json?{VIEWS[view]}"
    made = client.get(link)
    assert made.status_code == 200
    assert made.headers["content-disposition"].startswith("attachment")
    epsilon = el.choose(el.laplace, "epsilon", at_most=0.55).value if view == "choose" else 1.0
    assert made.json() == el.laplace(epsilon=float(epsilon)).certificate("success").to_dict()
    assert f"/{view}/certificate.json?" in client.get(f"/{view}?{VIEWS[view]}").text


def test_what_cannot_be_certified_says_so(client: Any) -> None:
    shuffled = "mechanism=dpsgd&sigma=1&n=1000&batch=10&epochs=1&batches=shuffled"
    assert "certificate.json" not in client.get(f"/explain?{shuffled}").text
    refused = client.get(f"/explain/certificate.json?{shuffled}")
    assert (refused.status_code, "o certificate is made of dpsgd" in refused.text) == (422, True)
    assert client.get("/explain/certificate.json?mechanism=laplace&epsilon=x").status_code == 422
