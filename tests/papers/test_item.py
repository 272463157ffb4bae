"""A reproduction in every form, and as files in a folder."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import epsilens as el
from epsilens.errors import InputError
from epsilens.papers import PAPERS, named, reproduction
from epsilens.papers.ashena2021.crowd import crowded
from epsilens.papers.li2019.nonlinear import leakage
from epsilens.papers.liu2019.beyond import deniable, planar_laplace


def test_every_form_of_a_reproduction() -> None:
    whole = reproduction(*PAPERS)
    assert [p.key for p in whole.papers] == list(PAPERS)
    for paper in whole.papers:  # a key is a file's name
        assert len({item.key for item in paper.items}) == len(paper.items)
    assert json.loads(json.dumps(whole.to_dict(), allow_nan=False))["schema"] == 2
    text, markdown, page = whole.to_text(), whole.to_markdown(), whole.to_html()
    for form in (text, markdown, page):
        assert "0.5488" in form
        assert "nan" not in form.split("</style>")[-1]
    assert max(map(len, text.splitlines())) <= 82
    assert "http" not in page.split("</style>")[1].replace("http://www.w3.org/2000/svg", "")


def test_a_paper_goes_by_its_number_and_by_its_author() -> None:
    assert [named(name) for name in PAPERS.values()] == list(PAPERS)
    with pytest.raises(InputError, match="there is no paper '999': give one of 000"):
        named("999")


def test_every_item_becomes_files(tmp_path: Path) -> None:
    made = reproduction("002")
    written = made.write(tmp_path / "out")
    assert written[0].name == "index.html"
    for item in made.papers[0].items:
        folder = tmp_path / "out" / "002"
        rows = list(csv.DictReader((folder / f"{item.key}.csv").read_text(encoding="utf-8").splitlines()))
        assert len(rows) >= len(item.records) > 0 or item.charts
        assert item.title.split(":")[0] in (folder / f"{item.key}.md").read_text(encoding="utf-8")
        assert len(list(folder.glob(f"{item.key}*.svg"))) == len(item.charts)
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written"):
        made.write(tmp_path / "file")


@pytest.mark.parametrize(
    "call",
    [
        lambda: reproduction(7),  # type: ignore[arg-type]
        lambda: el.laplace(epsilon=[1.0, 2.0]).threshold([0.1, 0.2, 0.3]),
        lambda: deniable([], 2.0),
        lambda: deniable([0.5, math.nan], 2.0),
        lambda: deniable([0.5, 0.4], math.nan),
        lambda: planar_laplace(math.nan, 1.0),
        lambda: planar_laplace(-1.0, 1.0),
        lambda: crowded(0.0, 5),
        lambda: crowded(1.0, 0),
        lambda: leakage([[0.5, math.nan], [0.2, 0.3]], lambda a, b: a + b, 0, {}),
    ],
)
def test_wrong_values_are_refused_in_a_sentence(call: Callable[[], Any]) -> None:
    with pytest.raises(InputError):
        call()
