"""Many values at once: what each would read alone, in the shape they were given."""

from __future__ import annotations

import copy
import json
import math
import pickle
from typing import Any

import numpy as np
import pytest
from tests.laws.oracles import downward, upward

import epsilens as el

TRAINING: dict[str, Any] = {"rate": 0.01, "steps": 10_000}


def test_a_training() -> None:
    """σ = 1 is known from the reference sheet."""
    found = el.sweep(el.dpsgd, sigma=[1.0, 2.0, 4.0], reading="epsilon", given=TRAINING, delta=1e-5)
    low, high = found.low["epsilon"], found.high["epsilon"]
    assert low[0] <= 6.187712390 <= high[0] <= 6.18775
    assert (low <= high).all()
    assert (np.diff(high) < 0).all()
    alone = el.dpsgd(sigma=4.0, **TRAINING).bracket("epsilon", delta=1e-5)
    assert (low[2], high[2]) == alone


def test_arrays_are_read_at_once() -> None:
    values = np.array([0.1, 1.0, 3.0, 9.0])
    found = el.sweep(el.laplace, epsilon=values, reading="success")
    assert found["success"] == pytest.approx(1 - np.exp(-values / 2) / 2, rel=1e-14)
    assert found.low["success"].tolist() == [downward(v) for v in found["success"]]
    assert found.high["success"].tolist() == [upward(v) for v in found["success"]]


def test_single_numbers_one_after_the_other() -> None:
    found = el.sweep(el.mechanisms.randomized_response, epsilon=[0.5, 2], reading="success", prior=0.5)
    assert found["success"] == pytest.approx([math.exp(e) / (1 + math.exp(e)) for e in (0.5, 2.0)], rel=1e-13)


def test_a_grid_of_several_readings() -> None:
    found = el.sweep(
        el.gaussian, sigma=[1.0, 2.0], sensitivity=[1.0, 2.0, 4.0], reading=["success", "epsilon"], delta=1e-5
    )
    assert found.shape == (2, 3)
    for i, sigma in enumerate((1.0, 2.0)):
        for j, far in enumerate((1.0, 2.0, 4.0)):
            e = el.gaussian(sigma=sigma, sensitivity=far)
            assert found["success"][i, j] == pytest.approx(norm_cdf(far / sigma / 2), rel=1e-12)
            assert found["epsilon"][i, j] == pytest.approx(e.epsilon(1e-5), rel=1e-12)
    rows = list(found.rows())
    assert len(rows) == 6
    assert rows[4] == {"sigma": 2.0, "sensitivity": 2.0, "success": found["success"][1, 1],
                       "epsilon": found["epsilon"][1, 1]}  # fmt: skip


def norm_cdf(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))


def test_words_are_varied_too() -> None:
    found = el.sweep(
        el.dpsgd, sigma=[1.0, 2.0], batches=["poisson", "fixed"], n=1000, batch=10, steps=50, reading="epsilon",
        delta=1e-5,
    )  # fmt: skip
    alone = el.dpsgd(sigma=2.0, batches="fixed", n=1000, batch=10, steps=50)
    assert (found.low["epsilon"][1, 1], found.high["epsilon"][1, 1]) == alone.bracket("epsilon", delta=1e-5)
    assert {point["series"] for point in found.chart().data} == {"poisson", "fixed"}  # type: ignore[union-attr]


def test_a_number_belongs_to_the_reading_that_takes_it() -> None:
    """δ is the reading's; the mechanism's own stands in given."""
    found = el.sweep(el.gaussian, epsilon=[0.5, 1.0], given={"delta": 1e-5}, reading="epsilon", delta=1e-3)
    assert found["epsilon"][1] == pytest.approx(el.gaussian(epsilon=1.0, delta=1e-5).epsilon(1e-3), rel=1e-12)
    plain = el.sweep(el.gaussian, epsilon=[0.5, 1.0], delta=1e-5)  # no reading takes it: the mechanism does
    assert plain["success"][1] == pytest.approx(el.gaussian(epsilon=1.0, delta=1e-5).success(), rel=1e-12)
    own = el.sweep(el.laplace, epsilon=[0.5, 1.0], reading={"delta": {"epsilon": 0.25}})
    assert own["delta"] == pytest.approx([1 - math.exp((0.25 - e) / 2) for e in (0.5, 1.0)], rel=1e-12)


def test_progress() -> None:
    told: list[tuple[int, int]] = []
    el.sweep(el.mechanisms.pure, epsilon=[0.5, 1.0, 2.0], progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    with pytest.raises(el.InputError, match="progress is 3"):
        el.sweep(el.mechanisms.pure, epsilon=[0.5], progress=3)  # type: ignore[arg-type]


def test_a_line_for_who_watches(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1000))
    monkeypatch.setattr("epsilens.calibration.sweep.time.monotonic", lambda: next(clock))
    el.sweep(el.mechanisms.pure, epsilon=[0.5, 1.0], progress=True)
    assert "1 of 2, about 1 s left" in capsys.readouterr().err
    el.sweep(el.mechanisms.pure, epsilon=[0.5, 1.0])  # nobody watches a test
    el.sweep(el.mechanisms.pure, epsilon=[0.5, 1.0], progress=False)
    assert capsys.readouterr().err == ""


def test_frames_and_charts_hold_the_readings() -> None:
    pytest.importorskip("pandas")
    found = el.sweep(el.dpsgd, sigma=[1.0, 2.0], rate=0.01, steps=100, reading=["epsilon", "success"], delta=1e-5)
    frame = found.frame()
    assert list(frame.columns) == ["sigma", "epsilon", "epsilon_low", "success", "success_low"]
    assert frame["epsilon"].tolist() == found["epsilon"].tolist()
    both: Any = found.chart()
    assert [(p["x"], p["y"]) for p in both[0].data] == list(zip([1.0, 2.0], found["epsilon"], strict=True))
    one: Any = found.chart("success")
    assert [p["y"] for p in one.data] == found["success"].tolist()
    assert found.to_dict()["rows"][1]["sigma"] == 2.0
    assert "2 values of σ" in str(found)
    with pytest.raises(el.InputError, match="no reading 'auc': it has epsilon, success"):
        found.chart("auc")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sigma": []}, "sigma is not one list of values"),
        ({"sigma": 1.0}, "nothing is varied"),
        ({"sigma": np.ones((2, 2))}, "sigma is not one list of values"),
        ({"sigma": [[1.0], [2.0]]}, "sigma is not one list of values"),
        ({"sigma": [1.0, math.nan]}, "NaN"),
        ({"sigma": [1.0, -1.0]}, "above 0"),
        ({"sigma": [1.0], "given": {"sigma": 2.0}}, "both"),
        ({"sigma": [1.0], "given": 3}, "given is 3"),
        ({"nothing": [1.0]}, "no parameter 'nothing'"),
        ({"sigma": [1.0], "reading": "nothing"}, "no reading 'nothing'"),
        ({"sigma": [1.0], "reading": []}, "reading is empty"),
        ({"sigma": [1.0], "reading": {"success": 3}}, "give them by name"),
        ({"sigma": [1.0], "reading": "delta"}, "needs 'epsilon'"),
        ({"sigma": range(1, 500), "sensitivity": range(1, 500)}, "make 249,001 experiments"),
    ],
)
def test_what_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(el.InputError, match=said):
        el.sweep(el.gaussian, **given)


# Experiments side by side: every reading is that of each alone, in text, table, frame and chart.

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
def test_comparison_what_is_refused(given: Any, said: str) -> None:
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
