"""Figures 1 and 2: the success of the attack by counts, sums and averages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...attacks.differencing_queries import differencing, differencing_average
from ...checks import Array
from ...show.charts import Chart
from ...show.charts.lines import Axis, Series, lines
from ...show.words import number
from ..item import Agreement, Item
from .algorithms import rule_success

_AGES = (20, 43, 121)
_SIZES = (13, 1320, 16_959)
_BOUNDS = (0, 121)
_MEAN = 50
_GRID = np.linspace(0.05, 20, 100)


def _line(name: str, success: Callable[[float], Any], grid: Array = _GRID, quiet: bool = False) -> Series:
    return Series(name, tuple((float(e), float(success(float(e)))) for e in grid), quiet)


def _chart(name: str, title: str, drawn: list[Series], aria: str, high: float = 20) -> Chart:
    coin = Series("a coin", ((0.05, 0.5), (high, 0.5)), quiet=True)
    return lines(name, title, "share of secrets guessed", [*drawn, coin], Axis(0, high, "ε"), Axis(0.4, 1), aria)


def _table(records: list[dict[str, Any]], head: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    names = tuple(records[0])
    cells = tuple((f"{r[names[0]]:g}", *(number(float(r[n])) for n in names[1:])) for r in records)
    return (head, *names[1:]), cells


def _counts() -> Item:
    def both(e: float) -> float:
        return float(differencing(epsilon=e).success())

    def known(e: float) -> float:
        return float(differencing(epsilon=e, known=True).success())

    records = [{"epsilon": e, "two noisy": both(e), "one known": known(e)} for e in (0.01, 0.1, 0.5, 1, 2, 5, 10, 20)]
    columns, cells = _table(records, "ε")
    drawn = [_line("two noisy answers", both), _line("one answer known", known)]
    return Item(
        "Figure 1a: success of the attack on counts",
        columns,
        cells,
        (
            "Exactly: 1 − ½(1 + ε/8)e^{−ε/4} with two noisy answers that share ε, 1 − ½e^{−ε/2} with one known. The "
            "paper simulates; Eq. 14 has its sign reversed, and as printed gives 1 − P_SDA (0.2328 at ε = 5).",
            "Only the first answer depends on the secret, so that the loss in the two answers is at most ε/2; an even "
            "split of ε is the best for the attacker.",
        ),
        tuple(records),
        "The success grows with ε, and is higher when one of the two answers is known.",
        "The same curves, in closed form.",
        charts=(
            _chart(
                "figure 1a",
                "How often the secret is guessed from two counts",
                drawn,
                f"At ε = 5 the secret is guessed {both(5):.3f} of the time from two noisy counts and {known(5):.3f} "
                "with one known.",
            ),
        ),
    )


def _sums() -> Item:
    def success(age: int) -> Callable[[float], float]:
        return lambda e: float(differencing(epsilon=e, gap=age, sensitivity=121).success())

    def known(e: float) -> float:
        return float(differencing(epsilon=e, gap=43, sensitivity=121, known=True).success())

    records = [
        {"epsilon": e, **{f"age {a}": success(a)(e) for a in _AGES}, "43, one known": known(e)}
        for e in (0.1, 0.5, 1, 2, 5, 10, 20)
    ]
    columns, cells = _table(records, "ε")
    return Item(
        "Figure 1b: success of the attack on sums",
        columns,
        cells,
        (
            "Two noisy answers, and in the last column one of them known; the noise is for the largest age, 121. With "
            "one answer known an age of 20 is guessed 0.6692 of the time at ε = 5. The paper does not say whose line "
            "with one answer known it draws; 43, Alice's age, is chosen.",
            "The paper says that a normalised sum behaves exactly like a count. It does so only for the largest value: "
            "normalising leaves the ratio of age and sensitivity as it is.",
        ),
        tuple(records),
        "The larger the attribute, the more often the secret is guessed; age 121 is like a count.",
        "The same curves.",
        Agreement.PARTLY,
        "A normalised sum at age 43 is guessed 0.6081 of the time at ε = 5, a count 0.7672.",
        (
            _chart(
                "figure 1b",
                "How often the secret is guessed from two sums",
                [*(_line(f"age {a}", success(a)) for a in _AGES), _line("43, one known", known)],
                "At ε = 5: " + ", ".join(f"{success(a)(5):.3f} at age {a}" for a in _AGES) + ".",
            ),
        ),
    )


def _by_rule(n: int, age: int) -> Callable[[float], float]:
    return lambda e: rule_success(epsilon=e, n=n, value=age, mean=_MEAN, bounds=_BOUNDS)


def _averages() -> Item:
    records: list[dict[str, Any]] = []
    for n in _SIZES:
        for age in _AGES:
            for epsilon in (1.0, 5.0, 10.0):
                given: dict[str, Any] = {"epsilon": epsilon, "n": n, "value": age, "mean": _MEAN, "bounds": _BOUNDS}
                records.append(
                    {
                        "n": n,
                        "age": age,
                        "epsilon": epsilon,
                        "rule": rule_success(**given),
                        "coin": rule_success(**given, clamped="random"),
                        "optimal": float(differencing_average(**given).success()),
                    }
                )
    cells = tuple(
        (f"{r['n']:,}", f"{r['age']}", f"{r['epsilon']:g}", *(number(r[k]) for k in ("rule", "coin", "optimal")))
        for r in records
    )
    drawn = [_line(f"age {age}, {n:,} people", _by_rule(n, age)) for age in _AGES for n in _SIZES]
    return Item(
        "Figure 2a: success of the attack on averages",
        ("n", "age", "ε", "paper's rule", "coin on bounds", "optimal"),
        cells,
        (
            "Mean 50, bounds 0 and 121, the broader average known. The rule of the paper succeeds with "
            "1 − ½·exp(−n|a−Q|ε/((2n−1)·121)).",
            "An answer on a bound is evidence, and the paper tosses a coin there: 13 people, age 43, ε = 0.1 is then "
            "guessed 0.4950 of the time, worse than a coin. Its rule also lacks the ratio n : n−1 of the two scales.",
            "This average is not ε-DP if people are added or removed: for 2 people and ε = 0.1 one event is 2.08 times "
            "as likely, where e^ε is 1.105.",
        ),
        tuple(records),
        "The farther the age from the mean, the higher the success; the number of people matters little; whose age is "
        "the mean is safe.",
        "The same curves for the paper's rule; the best rule does better where few people are averaged.",
        Agreement.PARTLY,
        "Someone whose age is the mean is not guessed exactly half of the time: the two scales differ, and 2 people "
        "give 0.625, 13 people 0.5147.",
        (
            lines(
                "figure 2a",
                "The secret guessed from two averages",
                "share of secrets guessed, by the paper's rule",
                [*drawn, Series("a coin", ((0.05, 0.5), (20.0, 0.5)), quiet=True)],
                Axis(0, 20, "ε"),
                Axis(0.4, 1),
                "Nine curves in three bundles, by age: 121 is guessed most, 43 least; within a bundle 13 people are "
                "guessed slightly more often than 16,959.",
                height=380,
            ),
        ),
    )


def _queries() -> Item:
    def count(e: float) -> float:
        return float(differencing(epsilon=e).success())

    def total(e: float) -> float:
        return float(differencing(epsilon=e, gap=43, sensitivity=121).success())

    def average(e: float) -> float:
        return float(differencing_average(epsilon=e, n=1320, value=43, mean=_MEAN, bounds=_BOUNDS).success())

    def far(e: float) -> float:
        return float(differencing_average(epsilon=e, n=1320, value=121, mean=_MEAN, bounds=_BOUNDS).success())

    records = [
        {"epsilon": e, "count": count(e), "sum": total(e), "average": average(e), "average, age 121": far(e)}
        for e in (0.5, 1, 2, 5, 10, 20)
    ]
    columns, cells = _table(records, "ε")
    grid = np.linspace(0.05, 20, 60)
    drawn = [
        _line("count", count, grid),
        _line("sum", total, grid),
        _line("average, 1,320 people", average, grid),
    ]
    return Item(
        "Figure 2b: the 43-year-old, by every query",
        columns,
        cells,
        (
            "Counts and sums with two noisy answers, the average with the broader one known, as the paper has them. "
            "The number of people of the average is not given here; 1,320 is chosen.",
        ),
        tuple(records),
        "The loss depends on the query, and counts are the weakest, so that a budget should be set for them.",
        "For this person counts are the weakest.",
        Agreement.PARTLY,
        "Only like for like: an average with one answer known at age 121 is guessed "
        f"{far(5):.4f} of the time at ε = 5, a count with two noisy answers {count(5):.4f}.",
        (
            _chart(
                "figure 2b",
                "The 43-year-old's secret, guessed",
                drawn,
                f"At ε = 5: {count(5):.3f} by counts, {total(5):.3f} by sums, {average(5):.3f} by averages.",
            ),
        ),
    )


def items() -> tuple[Item, ...]:
    """Figures 1a, 1b, 2a and 2b."""
    return _counts(), _sums(), _averages(), _queries()
