"""A reproduction in every form, and as files in a folder."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import epsilens as el
from epsilens.errors import InputError
from epsilens.papers import PAPERS, Agreement, Reproduction, named, reproduction
from epsilens.papers.ashena2021 import crowded
from epsilens.papers.li2019 import leakage
from epsilens.papers.liu2019 import deniable, planar_laplace


@pytest.fixture(scope="module")
def whole() -> Reproduction:
    return reproduction(*PAPERS)


def test_every_form_of_a_reproduction(whole: Reproduction) -> None:
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
    assert [named(name.rstrip("0123456789")) for name in PAPERS.values()] == list(PAPERS)
    with pytest.raises(InputError, match="there is no paper '999': give one of 000"):
        named("999")
    with pytest.raises(InputError, match="did you mean kaissis2022"):
        named("kaisis2022")


def test_what_the_list_of_items_names_is_reproduced(whole: Reproduction) -> None:
    """A place such as "`epsilens reproduce 000`, Figure 4a, Table 1" is the beginning of titles."""
    titles = {paper.key: [item.title for item in paper.items] for paper in whole.papers}
    seen = 0
    with (Path(__file__).parents[2] / "docs" / "papers" / "items.tsv").open(encoding="utf-8") as file:
        said = [part for row in csv.DictReader(file, delimiter="\t") for part in row["where"].split("; ")]
    for paper, named_ in (
        found.groups() for part in said if (found := re.match(r"`epsilens reproduce (\d+)`, (.+)", part))
    ):
        for title in re.split(r", (?=[A-Z§(])", re.split(", (?:all|which|with|in) ", named_)[0]):
            assert any(there.startswith(title) for there in titles[paper]), (paper, title)
            seen += 1
    assert seen > 90


#: The tables and figures of each paper that the reproduction must have, by the beginning of their titles.
FIGURES = {
    "000": "Table 1,§4.1.5,Definition 4,Local,Geo,Figure 1:,Figure 2,Figure 3a,Figure 3b,Figure 4a,Figure 4b,Figure 5,"
    "Figure 6,Figure 7,Figure 8,Figure 9",
    "001": "Figure 1a,Figure 1b,Figure 2a,Figure 2b,Figure 3,Figure 4,Algorithms 1 and 2,Algorithm 3,Section "
    "8:,Section 8,",
    "002": "Figure 1,Figure 2,Figure 3,Figure 4,Figure 5,Figure 6,Corollary 9",
    "003": "Figure 1,Figure 2,Figure 3,Figure 4,Figure 5,Figure 6,Figure 7,Figure 8,Figure 9",
    "004": "Figure 2,Figure 4(a),Figure 4(c),Figure 5,Examples 2 to 5,Algorithms 1 and 2,Theorem 3,Corollaries 1.1,"
    "Corollary 1.2,Propositions 1 and 2,Queries",
}


def test_every_table_and_figure_has_numbers_a_picture_and_words(whole: Reproduction) -> None:
    for paper in whole.papers:
        for title in filter(None, FIGURES[paper.key].split(",")):
            (item, *_) = [item for item in paper.items if item.title.startswith(title)]
            assert item.shows, item.title
            assert item.gets, item.title
            assert len(item.csv.splitlines()) > 1
            if item.agreement in (Agreement.PARTLY, Agreement.DIFFERS):
                assert re.search(r"\d", item.why + item.gets), item.title  # the number that proves it
            if title.startswith(("Figure", "Table")) and (paper.key, title) != ("003", "Figure 8"):
                assert item.charts, item.title


def test_every_item_becomes_files(tmp_path: Path) -> None:
    made = reproduction("002")
    written = made.write(tmp_path / "out")
    assert written[0].name == "index.html"
    for item in made.papers[0].items:
        folder = tmp_path / "out" / "002"
        rows = list(csv.DictReader((folder / f"{item.key}.csv").read_text(encoding="utf-8").splitlines()))
        assert len(rows) >= len(item.records) > 0 or item.charts
        assert item.title.split(":")[0] in (folder / f"{item.key}.md").read_text(encoding="utf-8")
        pictures = list(folder.glob(f"{item.key}*.svg"))
        assert len(pictures) == len(item.charts)
        words = (folder / f"{item.key}.md").read_text(encoding="utf-8")
        assert all(f"]({picture.name})" in words for picture in pictures)
        if item.charts:  # what is drawn, a row a point
            drawn = sum(len(chart.data) for chart in item.charts)
            kept = folder / (f"{item.key}-points.csv" if item.records else f"{item.key}.csv")
            assert len(list(csv.DictReader(kept.read_text(encoding="utf-8").splitlines()))) == drawn
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
