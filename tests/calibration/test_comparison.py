"""Experiments side by side: every reading is that of each alone, in text, table, frame and chart."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

import epsilens as el

BOTH = [el.laplace(epsilon=1.0), el.gaussian(psi=1.0)]


def test_every_reading_of_each() -> None:
    pytest.importorskip("pandas")
    found = el.compare(BOTH, prior=0.3, delta=1e-6)
    frame = found.frame()
    assert list(frame.columns) == ["laplace(epsilon=1)", "gaussian(sigma=1)", "without the release"]
    for name, e in zip(found.names, BOTH, strict=True):
        assert frame.loc["success", name] == e.success(0.3)
        assert frame.loc["epsilon_at_delta", name] == e.epsilon(1e-6)
        assert frame.loc["auc", name] == e.auc()
    assert frame.loc["success", "without the release"] == 0.7
    assert found.to_dict()["readings"]["psi"]["gaussian(sigma=1)"] == 1.0
    json.dumps(found.to_dict(), allow_nan=False)


def test_text_and_page() -> None:
    told = str(el.compare({"ours": BOTH[0], "theirs": BOTH[1]}))
    assert "697 times of 1,000 (A, ours) and 692 times of 1,000 (B, theirs)" in " ".join(told.split())
    page = el.compare(BOTH).to_html()
    assert page.count("<svg") >= 2
    assert "at most" in str(el.compare([BOTH[0], el.mechanisms.from_gdp(1.0)]))


@pytest.mark.parametrize("name", ["roc", "tradeoff", "precision_recall", "profile", "success", "posterior", "renyi"])
def test_charts_hold_the_readings(name: str) -> None:
    data = el.compare(BOTH).chart(name).data  # type: ignore[union-attr]
    for e, label in zip(BOTH, ("laplace(epsilon=1)", "gaussian(sigma=1)"), strict=True):
        points = [(p["x"], p["y"]) for p in data if p["series"] == label]
        assert len(points) > 50
        for x, y in points[::7]:
            expected: Any = {
                "roc": lambda x, e=e: 100 * e.roc(x / 100), "tradeoff": lambda x, e=e: 100 * e.tradeoff(x / 100),
                "precision_recall": lambda x, e=e: 100 * e.precision(recall=x / 100),
                "profile": lambda x, e=e: max(e.delta(x), 1e-10), "success": lambda x, e=e: 100 * e.success(x / 100),
                "posterior": lambda x, e=e: 100 * e.posterior(x / 100), "renyi": lambda x, e=e: e.renyi(x),
            }[name](x)  # fmt: skip
            assert y == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_it_is_what_it_holds() -> None:
    found = el.compare(BOTH)
    for other in (el.compare(BOTH), pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert other == found
        assert other.to_html() == found.to_html()
    assert (
        el.compare([*BOTH, el.choose(el.laplace, "epsilon", at_most=0.55)]).names[2].startswith("laplace(epsilon=0.21")
    )
    assert el.compare([BOTH[0], BOTH[0]]).names == ("laplace(epsilon=1) (1)", "laplace(epsilon=1) (2)")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([BOTH[0]], "fewer than two"),
        (BOTH * 5, "has 10: give at most 8"),
        ([BOTH[0], 3], "has a int: give experiments"),
        ([BOTH[0], el.laplace(epsilon=[1.0, 2.0])], "give single ones, or use sweep"),
        (3, "has a int"),
    ],
)
def test_what_is_refused(given: Any, said: str) -> None:
    with pytest.raises(el.InputError, match=said):
        el.compare(given)
    with pytest.raises(el.InputError, match="takes no 'colour'"):
        str(el.compare(BOTH, colour=3))


def test_charts_against_others() -> None:
    e = BOTH[0]
    both = e.chart(["roc", "profile"], against=BOTH[1])
    assert len(both) == 2
    assert {p["series"] for p in both[0].data} == {"without the release", "laplace(epsilon=1)", "gaussian(sigma=1)"}
    named = e.chart("delta", against={"theirs": BOTH[1]})
    assert {p["series"] for p in named.data} == {"laplace(epsilon=1)", "theirs"}
    with pytest.raises(el.InputError, match="name is 'spider'"):
        e.chart("spider")
    with pytest.raises(el.InputError, match="against has 9"):
        e.chart("roc", against=[BOTH[1]] * 9)
