"""Two ends that are different experiments: each reading from each, in both orders, composed and stored."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import epsilens as el
from epsilens.experiment import Experiment
from epsilens.laws.closed.laplace import Laplace
from epsilens.laws.closed.normal import Normal
from epsilens.laws.ends import Ends, Greatest
from epsilens.laws.finite.law import Finite
from epsilens.readings.law import Known


@pytest.fixture
def ends() -> Ends:
    found = Greatest((Normal(np.asarray(1.0)), Laplace(np.asarray(1.0))))
    return Ends((Normal(np.asarray(2.0), known=Known.BOUND),), attained=found)


def test_every_reading_reads_each_end(ends: Ends) -> None:
    e = Experiment(ends)
    first, second, above = el.gaussian(psi=1.0), el.laplace(epsilon=1.0), el.gaussian(psi=2.0)
    for reading, arguments in (
        ("success", {"prior": 0.3}), ("advantage", {}), ("auc", {}), ("fbeta", {}), ("posterior", {}),
        ("roc", {"fpr": 1e-3}), ("roc", {"fpr": 0.4}), ("precision", {"recall": 0.2}), ("delta", {"epsilon": 0.9}),
        ("epsilon", {"delta": 1e-3}), ("epsilon", {"delta": 0.2}), ("psi", {}), ("renyi", {"order": 3.0}),
        ("renyi", {"order": 0.5}), ("kl", {}), ("chernoff", {}), ("recall", {"alpha": 0.1}),
    ):  # fmt: skip
        low, high = e.bracket(reading, **arguments)
        expected = max(getattr(first, reading)(**arguments), getattr(second, reading)(**arguments))
        assert low == pytest.approx(expected, rel=1e-9), reading
        assert high == getattr(above, reading)(**arguments) == getattr(e, reading)(**arguments)
    assert e.bracket("tradeoff", alpha=0.1) == pytest.approx((above.tradeoff(0.1), first.tradeoff(0.1)))
    assert math.isinf(float(ends.attained.max_llr())) if ends.attained else False
    alpha, recall = ends.attained.at(np.asarray(0.2)) if ends.attained else (0, 0)
    assert 0 < float(alpha) < float(recall) < 1


def test_orders(ends: Ends) -> None:
    skew = Ends((Normal(np.asarray(5.0)),), attained=Greatest((Finite.of(np.array([0.9, 0.1]), np.array([0.5, 0.5])),)))
    assert ends.symmetric
    assert skew.attained is not None
    assert not skew.attained.symmetric
    assert skew.attained.direction == "lower"
    turned = skew.reverse()
    assert turned.attained is not None
    assert float(turned.attained.profile(np.asarray(0.0))) == pytest.approx(0.4)
    assert float(turned.attained.roc(np.asarray(0.5))) == pytest.approx(0.9)
    assert pickle.loads(pickle.dumps(skew)) == skew
    assert float(turned.reverse().attained.roc(np.asarray(0.5))) == pytest.approx(  # type: ignore[union-attr]
        float(skew.attained.roc(np.asarray(0.5)))
    )
    alone = Ends((Normal(np.asarray(1.0)),))
    assert alone.reverse().attained is None


def test_both_ends_compose(ends: Ends) -> None:
    both = el.compose(Experiment(ends), el.gaussian(psi=1.0))
    low, high = both.bracket("advantage")
    beside = el.compose(el.laplace(epsilon=1.0), el.gaussian(psi=1.0)).advantage()
    assert high == pytest.approx(el.gaussian(psi=math.sqrt(5.0)).advantage(), rel=1e-9)
    assert low == pytest.approx(max(el.gaussian(psi=math.sqrt(2.0)).advantage(), beside), rel=2e-3)
    assert both.law.known is Known.BOUND
    # what is only claimed is left out from below
    claimed = el.compose(Experiment(ends), el.from_gdp(1.0))
    low, high = claimed.bracket("advantage")
    assert low == pytest.approx(el.laplace(epsilon=1.0).advantage(), rel=2e-3)
    assert high == pytest.approx(el.gaussian(psi=math.sqrt(5.0)).advantage(), rel=2e-3)
    assert "bounds it from below" in claimed.notes[0]
    twice = Experiment(ends).repeat(2)
    assert twice.bracket("psi") == pytest.approx((math.sqrt(2), 2 * math.sqrt(2)), rel=2e-3)


def test_widths(ends: Ends) -> None:
    loss = el.dpsgd(sigma=1.0, rate=0.1, steps=10).law
    held = Greatest((loss.other_side(),))
    assert held.width == 1e-3
    assert held.with_width(1e-2).width == 1e-2
    assert held.reached
    assert held.steps() == loss.other_side().steps()  # type: ignore[attr-defined]
    assert held.only1 == 0.0
    assert ends.with_width(1e-2).attained == ends.attained
