"""One risk reads the same wherever it is shown: the assessment, the board's page, the release, the ledger, the picture.

The plans are released as they are, so the ledger's account is that of the very release that was assessed. The count is
what the chance itself says by hand: the next whole number, and out of more where a release adds less than half of one.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import epsilens as el
from epsilens.show.charts.icons import filled
from epsilens.show.explanation import explain

EXAMPLES = Path(__file__).parents[2] / "examples"
WARDS = pd.DataFrame({"ward": np.arange(300) % 3, "flu": np.arange(300) % 4 == 0})
COUNT: dict[str, Any] = {
    "title": "Flu by ward",
    "data": {"table": "wards"},
    "queries": [{"name": "Flu", "count": "flu", "by": "ward", "groups": [0, 1, 2]}],
    "mechanism": {"noise": "laplace", "epsilon": 0.25},
    "limits": {"success": 0.6},
}


def planned(name: str, epsilon: float) -> dict[str, Any]:
    plan: dict[str, Any] = yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text("utf-8"))
    plan["mechanism"] = {"noise": "laplace", "epsilon": epsilon}
    plan["limits"] = {"success": 0.99}
    return plan


PLANS: dict[str, tuple[dict[str, Any], Any]] = {
    "demo": (planned("mental-visits", 0.48), None),
    "incomes": (planned("incomes", 0.31), None),
    "a count": (COUNT, WARDS),
    "a large one": ({**COUNT, "mechanism": {"noise": "laplace", "epsilon": 9.5}, "limits": {"success": 0.9999}}, WARDS),
    "next to nothing": ({**COUNT, "mechanism": {"noise": "laplace", "epsilon": 0.004}}, WARDS),
}
#: What is told, worked out by hand: 1 − e^{−ε/2}/2 for one count, and 0.5001 and 0.9957 at both ends.
COUNTS = {
    "a count": "56 times of 100",
    "a large one": "more than 99 times of 100",
    "next to nothing": "501 times of 1,000",
}


@pytest.mark.parametrize("name", PLANS)
def test_a_risk_reads_the_same_on_every_surface(name: str, tmp_path: Path) -> None:
    plan, table = PLANS[name]
    assessed = el.assess(plan, table=table)
    risk = next(r for r in assessed.risks if r.key == "membership").planned
    scale = 1_000 if name == "next to nothing" else 100
    shown = "more than 99" if risk > 0.99 else str(int(np.ceil(risk * scale - 1e-4)))
    told = f"{shown} times of {scale:,}"
    assert told == COUNTS.get(name, told)

    made = el.release(plan, table=table, ledger=tmp_path / "ledger.db")
    account = next(iter(el.Ledger(tmp_path / "ledger.db").accounts().values()))
    text, page, board = (_plain(part) for part in (assessed.to_text(), assessed.to_html(), assessed.to_board()))
    for surface in (text, page, board, made.guarantee, account.sentence):
        assert told in surface
    for surface in (text, page, board):
        assert not re.search(rf"\b(?!{shown}\b)\d+ times of {scale:,} whether one worst-placed", surface)
    assert account.so_far() == pytest.approx(risk, abs=1e-6)  # composed, and so a little above
    pictured = assessed.leading.planned
    if scale == 100 and pictured < 0.99:  # over the picture, and in it
        assert f": {int(np.ceil(100 * pictured - 1e-4))} of 100 right" in page
        assert filled(pictured, 0.5) == int(np.ceil(100 * pictured - 1e-4))


def test_a_limit_that_is_met_reads_as_the_limit() -> None:
    """ε = −2 ln 0.9 is right 55 times of 100 to the last bit: not 56, and not below."""
    chosen = el.choose(el.laplace, "epsilon", at_most="55 of 100")
    assert chosen.reading <= 0.55
    assert "correctly at most 55 times of 100" in _plain(str(chosen))
    assert "correctly 55 times of 100" in explain(el.laplace(epsilon=chosen.value)).sentence
    assert "correctly 55 times of 100" in explain(el.laplace(epsilon=-2 * np.log(0.9))).sentence
    # 0.55004 is told as 56, and its decimals say why
    over = explain(el.laplace(epsilon=-2 * np.log(0.89992))).row("success")
    assert over.words.startswith("Right 56 of 100 times")
    assert over.text == "0.55004"


def test_explain_compare_and_choose_agree() -> None:
    e = el.laplace(epsilon=0.3)  # 0.5696
    assert "57 times of 100" in explain(e).sentence
    assert "57 times of 100 (A" in _plain(str(el.compare(e, el.laplace(epsilon=2.0))))
    assert "Right 57 of 100 times" in explain(e).to_text()


def _plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split())
