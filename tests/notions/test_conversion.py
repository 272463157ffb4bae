"""Conversions: the bounds against mpmath and brute force, both directions agree, and what is impossible says so."""

from __future__ import annotations

import json
import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import positive

import epsilens as el
from epsilens import notions as n
from epsilens.notions import implications

EPSILONS = [1e-300, 1e-150, 1e-12, 1e-6, 1e-3, 0.1, 1.0, 5.0, 50.0, 700.0, 1e4]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_bounds_against_mpmath(epsilon: float) -> None:
    digits = 50 + 3 * max(0, -math.floor(math.log10(epsilon)))
    with mpmath.workdps(digits):
        e = mpmath.mpf(epsilon)
        c = e / -mpmath.expm1(-e)
        assert implications.information_from_odds(epsilon) == pytest.approx(
            float(c - 1 - mpmath.log(c)), rel=1e-12, abs=1e-323
        )
        assert implications.information_from_belief(epsilon) == pytest.approx(
            float(e * mpmath.tanh(e / 2)), rel=1e-12, abs=1e-323
        )
        for p in (0.0, 1e-9, 0.2, 0.5):
            want = float(mpmath.log(p + (1 - mpmath.mpf(p)) * mpmath.exp(e)))
            assert implications.belief_from_odds(epsilon, p) == pytest.approx(want, rel=1e-12)


def test_information_from_odds_is_the_maximum() -> None:
    """The two-point law of the proof, maximised on a grid."""
    for epsilon in (0.01, 0.5, 1.0, 3.0, 10.0):
        low = np.linspace(math.exp(-epsilon), 1, 200_001)[1:-1]
        high = low * math.exp(epsilon)
        w = (1 - low) / (high - low)
        told = w * high * np.log(high) + (1 - w) * low * np.log(low)
        assert implications.information_from_odds(epsilon) == pytest.approx(told.max(), rel=1e-6)
        assert implications.information_from_odds(epsilon) <= implications.information_from_belief(epsilon) <= epsilon


@pytest.mark.parametrize("nats", [0.0, 1e-300, 1e-20, 1e-10, 1e-6, 0.01, 0.1109, 0.5, 0.6931, 0.7, 5.0])
def test_even_odds_success(nats: float) -> None:
    """Fano at even odds, inverted; never below the true value."""
    chance = implications.even_odds_success(nats)
    if nats == 0:
        assert chance == 0.5
    elif nats >= math.log(2):
        assert chance == 1
    else:
        with mpmath.workdps(60):
            p = mpmath.mpf(chance)
            told = mpmath.log(2) + p * mpmath.log(p) + (1 - p) * mpmath.log(1 - p)
            assert float(told) >= nats * (1 - 1e-12)
            assert chance < 0.5 + 1e-10 or float(told) == pytest.approx(nats, rel=1e-5)


CONDITIONS = st.fixed_dictionaries(
    {
        "priors": st.sampled_from(["one", "every"]),
        "dependent": st.integers(1, 5),
        "records": st.integers(5, 9),
        "diameter": st.sampled_from([1, 3, math.inf]),
        "secrets": st.sampled_from(["records", "any"]),
    }
)
KEYS = st.sampled_from(sorted(n.NOTIONS))


@given(KEYS, KEYS, positive(1e-12, 700.0), CONDITIONS, st.booleans(), st.booleans(), st.sampled_from([0.0, 0.1, 0.5]))
def test_both_directions_agree(
    source: str, target: str, epsilon: float, c: dict[str, Any], full: bool, constrained: bool, least: float
) -> None:
    """A promise of what is sufficient never exceeds what is wanted, and comes up to it."""
    if c["priors"] == "one":
        c = c | {"full": full, "constrained": constrained, "least": least}
    try:
        made = n.convert(target, epsilon, by=source, **c)
    except el.NoSolutionError:
        with pytest.raises(el.NoSolutionError) as error:
            n.promise(source, epsilon, target, **c)
        assert math.isinf(error.value.floor)
        return
    again = n.promise(source, made.given_epsilon, target, **c)
    assert again.promised_epsilon == made.promised_epsilon <= epsilon
    assert made.promised_epsilon == pytest.approx(epsilon, rel=1e-9)
    more = n.promise(source, made.given_epsilon * 1.01, target, **c) if made.given_epsilon < 9900 else again
    assert more.promised_epsilon >= again.promised_epsilon
    assert 0.5 <= made.sure <= 1
    json.dumps(made.to_dict(), allow_nan=False)
    assert [s.implication.source for s in made.steps][:1] == ([] if source == target else [source])
    for first, second in zip(made.steps, made.steps[1:], strict=False):
        assert first.implication.target == second.implication.source
        assert first.after == second.before


@pytest.mark.parametrize(
    ("wanted", "epsilon", "by", "conditions", "value"),
    [
        ("ip", 1.0, "dp", {"dependent": 1}, 1.0),
        ("ip", 1.0, "dp", {"dependent": 4}, 0.25),
        ("ip", 1.0, "dp", {"records": 5}, 0.2),
        ("mp", 0.620114506957, "dp", {"dependent": 1, "least": 0.5}, 1.0),
        ("mp", 1.0, "dp", {"dependent": 1}, 1.0),
        ("ip", 1.0, "mp", {"dependent": 3}, 0.5),
        ("ip", 1.0, "mp", {"dependent": 3, "priors": "every"}, 1.0),
        ("dp", 1.0, "mp", {"dependent": 1, "priors": "every"}, 1.0),
        ("dp", 1.0, "ip", {"dependent": 2, "priors": "every"}, 1.0),
        ("dp", 1.0, "pufferfish", {"dependent": 1, "priors": "every"}, 1.0),
        ("dp", 1.0, "ddp", {"dependent": 2, "full": True}, 1.0),
        ("ddp", 1.0, "mp-database", {"dependent": 2}, 0.5),
        ("dp", 1.0, "blowfish", {"diameter": 4}, 0.25),
        ("dp", 1.0, "blowfish", {}, 1.0),
        ("blowfish", 1.0, "dp", {"constrained": True, "records": 8}, 0.125),
        ("blowfish", 1.0, "dp", {"constrained": True, "records": 8, "dependent": 2}, 0.5),
        ("ddp", 1.0, "blowfish", {"constrained": True, "dependent": 2}, 0.5),
        ("pufferfish", 1.0, "dp", {"secrets": "any", "records": 10, "dependent": 1}, 0.1),
        ("ip-database", 1.0, "dp", {"records": 10, "dependent": 1}, 0.1),
        ("dp", 0.7, "dp", {}, 0.7),
    ],
)
def test_known_conversions(wanted: str, epsilon: float, by: str, conditions: dict[str, Any], value: float) -> None:
    assert n.convert(wanted, epsilon, by=by, **conditions).given_epsilon == pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize(
    ("wanted", "by", "conditions", "words"),
    [
        ("dp", "ip", {"dependent": 1}, "exclusive or"),
        ("dp", "ip", {"dependent": 1, "full": True}, "exclusive or"),
        ("dp", "mp", {"dependent": 1}, "exclusive or"),
        ("ddp", "mp", {"dependent": 2}, "exclusive or"),
        ("dp", "pufferfish", {"dependent": 1}, "exclusive or"),
        ("mi", "mp", {"dependent": 1}, "exclusive or"),
        ("dp", "ddp", {"dependent": 2}, "always equal"),
        ("dp", "ddp", {"dependent": 1}, "certain"),
        ("dp", "mi", {"dependent": 1}, "once in a million"),
        ("dp", "mi", {"dependent": 1, "priors": "every"}, "once in a million"),
        ("dp", "blowfish", {"diameter": math.inf}, "parts"),
        ("dp", "blowfish", {"constrained": True, "dependent": 1}, "total"),
        ("ip", "pufferfish", {"secrets": "any", "dependent": 1}, "other secrets"),
    ],
)
def test_impossible_is_one_sentence(wanted: str, by: str, conditions: dict[str, Any], words: str) -> None:
    with pytest.raises(el.NoSolutionError) as error:
        n.convert(wanted, 1.0, by=by, **conditions)
    assert words in str(error.value)
    assert str(error.value).startswith("no ε of ")
    assert "\n" not in str(error.value)
    with pytest.raises(el.NoSolutionError):
        n.promise(by, 1.0, wanted, **conditions)


def test_every_pair_has_an_answer_or_a_reason() -> None:
    for c in ({"dependent": 1}, {"dependent": 3, "records": 7}, {"dependent": 3, "priors": "every"}, {}):
        for source in n.NOTIONS:
            for key, made in n.promises(source, 1.0, **c).items():
                assert key != source
                if isinstance(made, str):
                    assert "no implication leads there" not in made, (source, key, c)
                else:
                    assert made.sentence in str(made)
                    assert "<li>" in made._repr_html_()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: n.convert("joy", 1.0), "wanted is 'joy'"),
        (lambda: n.convert("ip", 1.0, by=3), "by is 3"),  # type: ignore[arg-type]
        (lambda: n.promise("ipé", 1.0, "dp"), "given is 'ipé'"),
        (lambda: n.convert("ip", -1.0), "epsilon is -1"),
        (lambda: n.convert("ip", math.nan), "NaN"),
        (lambda: n.convert("ip", math.inf), "epsilon is inf"),
        (lambda: n.convert("ip", [1.0, 2.0]), "single number"),  # type: ignore[arg-type]
        (lambda: n.convert("ip", 1.0), "dependent is missing"),
        (lambda: n.promise("dp", 1.0, "ip-database", dependent=1), "records is missing"),
        (lambda: n.convert("ip", 1.0, dependent=0), "dependent is 0"),
        (lambda: n.convert("ip", 1.0, dependent=1.5), "dependent is 1.5"),
        (lambda: n.convert("ip", 1.0, dependent=math.inf), "infinite"),
        (lambda: n.convert("ip", 1.0, dependent=4, records=3), "at most the number of records"),
        (lambda: n.convert("ip", 1.0, priors="some"), "priors"),
        (lambda: n.convert("ip", 1.0, secrets="all"), "secrets"),
        (lambda: n.convert("ip", 1.0, full="yes"), "full"),
        (lambda: n.convert("ip", 1.0, diameter=1.5), "diameter"),
        (lambda: n.convert("ip", 1.0, diameter=0), "diameter"),
        (lambda: n.convert("ip", 1.0, least=0.7), "least"),
        (lambda: n.convert("ip", 1.0, priors="every", least=0.1), "describes one prior"),
        (lambda: n.convert("ip", 1.0, priors="every", full=True), "describes one prior"),
        (lambda: n.convert("ip", 1.0, colour=1), "colour is not a condition"),
    ],
)
def test_wrong_input_is_one_sentence(call: Any, words: str) -> None:
    with pytest.raises(el.InputError) as error:
        call()
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_zero_and_the_ends() -> None:
    for key in n.NOTIONS:
        made = n.convert(key, 0.0, by="dp", dependent=2, records=3)
        assert made.given_epsilon == made.promised_epsilon == 0
        json.dumps(made.to_dict(), allow_nan=False)
    tiny = n.convert("mi", 1e-300, by="dp", dependent=1)
    assert tiny.given_epsilon == pytest.approx(math.sqrt(8e-300), rel=1e-9)
    assert n.convert("ip", 1e-300, dependent=3).given_epsilon == pytest.approx(1e-300 / 3)
    assert n.promise("dp", 1e4, "ip-database", records=10**6).promised_epsilon == 1e10


def test_odds_of_even_beliefs() -> None:
    """With even odds a membership bound that comes from an odds bound is as good as that: 73 of 100 at ε = 1."""
    made = n.promise("dp", 1.0, "mp", dependent=1)
    assert made.sure == pytest.approx(1 / (1 + math.exp(-1)))
    m, p = n.examples.coin(1.0)
    assert made.sure == pytest.approx(float(m.matrix.max()))
    assert n.sure(n.find("mp"), n.membership(m, p)) == pytest.approx(float(m.matrix.max()))
    assert n.sure(n.find("dp"), 1e4) < 1


def test_the_namespace() -> None:
    assert el.notions is n
    for name in n.__all__:
        assert getattr(el.notions, name) is not None
    rows: list[Any] = [*n.IMPLICATIONS, *n.REFUTED]
    for row in rows:
        assert row.source in n.NOTIONS
        assert row.target in n.NOTIONS
        json.dumps(row.to_dict())
    for refuted in n.REFUTED:
        assert callable(getattr(n.examples, refuted.example))
