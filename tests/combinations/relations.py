"""What must hold between two experiments, reading by reading; each relation says what is wrong, or nothing.

A reading's bracket surely holds the truth, so truths that are equal have brackets that overlap, and of truths in order
the low end of the lesser is no higher than the high end of the greater. Ends are of risk: a trade-off is turned over.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache

from epsilens.readings.law import Exactness

from .builders import build

Ends = tuple[float, float]
Arguments = tuple[tuple[str, float], ...]
Relation = Callable[[str, str, str, Arguments], str | None]

#: ε of noise that tells nothing.
USELESS = 1e-6
_CLOSE = 1e-10
#: Of a bracket that is as wide as asked, and of one that says it could not be.
_WIDTH = 2.1e-3

#: Arguments of each reading; every reading of the catalogue, and the trade-off.
ARGUMENTS: Mapping[str, tuple[dict[str, float], ...]] = {
    "success": ({"prior": 0.5}, {"prior": 0.1}, {"prior": 0.999}),
    "advantage": ({},),
    "auc": ({},),
    "fbeta": ({"beta": 1.0, "prior": 0.5}, {"beta": 2.0, "prior": 0.05}),
    "posterior": ({"prior": 0.5}, {"prior": 0.01}),
    "precision": ({"fpr": 0.1, "prior": 0.5}, {"fpr": 1e-6, "prior": 0.01}, {"recall": 0.5, "prior": 0.2}),
    "recall": ({"fpr": 0.01}, {"fpr": 0.5}, {"fpr": 0.999}),
    "roc": ({"fpr": 1e-6}, {"fpr": 0.1}),
    "attack_success": ({"baseline": 0.2},),
    "delta": tuple({"epsilon": e} for e in (0.0, 1e-6, 0.05, 0.2, 0.5, 1.0, 3.0, 10.0)),
    "epsilon": tuple({"delta": d} for d in (0.0, 1e-12, 1e-6, 1e-3, 0.05, 0.2)),
    "psi": ({},),
    "mu": ({"level": 1e-6}, {"level": 0.01}),
    "renyi": tuple({"order": a} for a in (0.5, 1.5, 2.0, 32.0, math.inf)),
    "kl": ({},),
    "chernoff": ({},),
    "tradeoff": ({"fpr": 1e-3}, {"fpr": 0.5}, {"fpr": 0.999}),
}


@lru_cache(maxsize=4096)
def bracket(code: str, reading: str, arguments: Arguments) -> Ends:
    """The ends of a reading; a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        low, high = build(code).bracket(reading, **dict(arguments))
    return float(low), float(high)


def ends(code: str, reading: str, arguments: Arguments) -> Ends:
    """(low, high) of a reading's risk."""
    low, high = bracket(code, reading, arguments)
    if not low <= high:
        raise ArithmeticError(f"the ends are {low!r} and {high!r}")
    return (1 - high, 1 - low) if reading == "tradeoff" else (low, high)


def _slack(*values: float) -> float:
    return _CLOSE * max([abs(v) for v in values if math.isfinite(v)], default=0.0) + 1e-13


def _over(low: float, high: float, more: float = 0.0) -> bool:
    """Whether a low end is above a high end it must not exceed."""
    return low > high + more + _slack(low, high)


def at_most(less: str, more: str, reading: str, arguments: Arguments) -> str:
    """The first is no riskier than the second."""
    (low, _), (_, high) = ends(less, reading, arguments), ends(more, reading, arguments)
    return f"at least {low!r}, and what is riskier at most {high!r}" if _over(low, high) else ""


def same(one: str, other: str, reading: str, arguments: Arguments) -> str:
    """Both are equally risky."""
    return at_most(one, other, reading, arguments) or at_most(other, one, reading, arguments)


def equal(one: str, other: str, reading: str, arguments: Arguments) -> str:
    """The same, and as well known: nothing is lost on the way."""
    wrong = same(one, other, reading, arguments)
    if wrong:
        return wrong
    mine, yours = ends(one, reading, arguments), ends(other, reading, arguments)
    exact = all(build(code).law.known in (Exactness.EXACT, Exactness.ROUNDED) for code in (one, other))
    for a, b in zip(mine, yours, strict=True):
        if a != b and not abs(a - b) <= max((1e-8 if exact else _WIDTH) * max(abs(a), abs(b)), 1e-12):
            return f"{mine} on one side, {yours} on the other"
    return ""


def no_more_than_noise(noisy: str, alone: str, reading: str, arguments: Arguments) -> str:
    """With noise of ε = u beside it nothing is less risky, and no event more than e^u as likely.

    So recall, 1/miss, the area and the odds grow by e^u at most, divergences by u, and δ(ε) to e^u·δ(ε − u).
    """
    wrong = at_most(alone, noisy, reading, arguments)
    if wrong:
        return wrong
    low, _ = ends(noisy, reading, arguments)
    if reading == "epsilon":
        _, high = ends(alone, reading, tuple((name, d * math.exp(-USELESS)) for name, d in arguments))
    else:
        _, high = ends(alone, reading, arguments)
    if _over(low, high, 2 * USELESS * (1 + abs(high))):
        return f"with useless noise at least {low!r}, alone at most {high!r}"
    return ""


def sampled(rate: float) -> Relation:
    """Of H0 against (1−q)·H0 + q·H1: recall is (1−q)α + q·recall(α), and what follows from it."""

    def relation(drawn: str, whole: str, reading: str, arguments: Arguments) -> str | None:
        given = dict(arguments)
        low, high = ends(drawn, reading, arguments)
        base = ends(whole, reading, arguments)
        if reading in ("recall", "roc", "attack_success", "tradeoff"):
            (alpha,) = given.values()
            expected = [(1 - rate) * alpha + rate * v for v in base]
        elif reading == "advantage":
            expected = [rate * v for v in base]
        elif reading == "auc":
            expected = [(1 - rate) / 2 + rate * v for v in base]
        elif reading == "posterior":
            odds = given["prior"] / (1 - given["prior"])
            expected = [_share(odds * (1 - rate) + rate * (v / (1 - v) if v < 1 else math.inf)) for v in base]
        elif reading == "renyi" and given["order"] == math.inf:  # of H0 against H1
            expected = [-math.log1p(rate * math.expm1(-v)) for v in base]
        elif reading == "precision" and "fpr" in given:
            c = (1 - given["prior"]) / given["prior"] * given["fpr"]
            recalls = [c * v / (1 - v) if v < 1 else math.inf for v in base]
            expected = [_share(((1 - rate) * given["fpr"] + rate * r) / c) for r in recalls]
        else:
            return None
        if low > max(expected) + _slack(low, *expected) or high < min(expected) - _slack(high, *expected):
            return f"({low!r}, {high!r}), and of the whole follows {tuple(expected)}"
        return ""

    return relation


def _share(odds: float) -> float:
    return 1.0 if math.isinf(odds) else odds / (1 + odds)


def mirrored(other: str, one: str, reading: str, arguments: Arguments) -> str | None:
    """In the other order: what looks at both orders is the same, a trade-off is its inverse."""
    if reading in ("advantage", "auc", "delta", "epsilon", "psi", "chernoff", "mu"):
        return same(other, one, reading, arguments)
    given = dict(arguments)
    if reading == "renyi" and 0 < given["order"] < 1:  # (1−a)·D_a(P‖Q) = a·D_{1−a}(Q‖P)
        a = given["order"]
        low, high = ends(other, reading, (("order", 1 - a),))
        base = [v * (1 - a) / a for v in ends(one, reading, arguments)]
        return f"({low!r}, {high!r}) for {base}" if _over(low, base[1]) or _over(base[0], high) else ""
    if reading == "tradeoff":  # f′(f(α)) ≤ α
        _, missed = bracket(one, reading, arguments)
        low, _ = bracket(other, reading, (("fpr", missed),))
        return f"back from {missed!r} it is at least {low!r}" if _over(low, given["fpr"]) else ""
    return None


def added(*parts: str) -> Relation:
    """Of answers observed together divergences add up, ε at most, and 1 − advantage multiplies at most."""

    def relation(all_: str, _: str, reading: str, arguments: Arguments) -> str | None:
        given = dict(arguments)
        each = [ends(part, reading, arguments) for part in parts]
        low, high = ends(all_, reading, arguments)
        sums = [math.fsum(e[i] for e in each) for i in (0, 1)]
        if reading == "kl" or reading == "renyi":
            return f"({low!r}, {high!r}) for {sums}" if _over(low, sums[1]) or _over(sums[0], high) else ""
        if reading == "epsilon" and given["delta"] == 0:
            return f"({low!r}, {high!r}) for {sums}" if _over(low, sums[1]) else ""
        if reading == "advantage":
            most = 1 - math.prod(1 - e[1] for e in each)
            return f"({low!r}, {high!r}) and at most {most!r}" if _over(low, most) else ""
        if reading == "psi":
            most = math.hypot(*(e[1] for e in each))
            return f"({low!r}, {high!r}) and at most {most!r}" if _over(low, most) else ""
        return None

    return relation
