"""Every sentence of a report is a claim, and every claim is held against something other than the code that wrote it.

Four reports are cut into sentences. Each sentence must fit exactly one entry of ``CLAIMS``, whose check verifies it
with pandas, closed forms, simulation or a second assessment; a new sentence without a check fails here. Risks are told
as a count out of 100 that is never below them; errors and ε are rounded to the safe side. ``WRONG`` lists sentences
known to be false.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from tests.judges.certificates import verdict
from tests.judges.plans.laws import Pair, gaussian_delta

from epsilens.assessment.assess import Assessment, assess
from epsilens.data.tables.table import open_table
from epsilens.plan.model import CorrelationSource
from epsilens.show.assessment.report import present
from epsilens.show.document import (
    Block,
    Combinations,
    Fold,
    Icons,
    Items,
    Kind,
    Lead,
    Notes,
    Paragraph,
    Part,
    Status,
    Table,
    flat,
)
from epsilens.worlds import Relation

Match = re.Match[str]

# -- the four reports ---------------------------------------------------------------------------------------------

_rng = np.random.default_rng(13)
STAYS = pd.DataFrame(
    {
        "who": np.arange(400) // 2 % 150,
        "home": np.arange(400) // 2 % 150 // 2,
        "ward": _rng.choice(["a", "b", "c"], 400),
        "age": _rng.integers(20, 60, 400),
        "stay": _rng.gamma(2.0, 3.0, 400).round(1),
        "ill": _rng.integers(0, 2, 400),
    }
)
HOME: dict[str, Any] = {
    "title": "Stays",
    "data": {
        "table": "stays.parquet", "person": "who", "unit": "home", "max_rows": 4, "quasi_identifiers": ["age", "ward"],
        "secret": {"name": "an illness", "where": "ill = 1"},
    },
    "queries": [
        {"name": "Ill people", "count": "ill = 1", "by": "ward", "groups": ["a", "b", "c"]},
        {"name": "Length of stay", "average": "stay", "bounds": [0, 10]},
    ],
    "mechanism": {"noise": "gaussian", "epsilon": 1.0, "delta": 1e-6, "neighbours": "replace"},
    "limits": {"success": 0.6, "error": 0.5},
}  # fmt: skip
NAMES: dict[str, Any] = {
    "title": "Names",
    "data": {"table": "stays.parquet", "quasi_identifiers": ["age", "ward"], "secret": "ill = 1"},
    "queries": [{"name": "Ill people", "count": "ill = 1", "by": "ward"}],
    "mechanism": {"noise": "laplace", "epsilon": 1.0},
    "limits": {"success": 0.6},
}


@cache
def bundled(name: str) -> pd.DataFrame:
    with open_table(name, None) as opened:
        return pd.DataFrame(opened.table.to_pyarrow().to_pandas())


@dataclass(frozen=True)
class Report:
    """A plan, its table and its assessment, with the truth by hand."""

    name: str
    plan: Any
    bundle: str = ""

    @cached_property
    def a(self) -> Assessment:
        return assess(self.plan, table=None if self.bundle else STAYS)

    @property
    def frame(self) -> pd.DataFrame:
        return bundled(self.bundle) if self.bundle else STAYS

    @property
    def person(self) -> pd.Series[Any]:
        column = self.a.release.data.person
        return self.frame[column] if column else pd.Series(np.arange(len(self.frame)))

    @cached_property
    def text(self) -> str:
        return " ".join(self.a.to_text().split())

    @property
    def shares(self) -> tuple[float, ...]:
        return self.a.release.shares

    @property
    def limit(self) -> float:
        return float(self.a.release.risk_limits["success"].at_most)

    @property
    def allowed(self) -> float:
        return float(self.a.release.error_limit or math.inf)

    @property
    def recommended(self) -> float:
        return float(self.a.recommended or 0.0)

    def success(self, epsilon: float, shares: Sequence[float] | None = None, k: int = 1) -> float:
        """How often the best membership test is right, by the closed forms of ``brute.laws``."""
        return max(pair.success() for pair in self.pairs(epsilon, shares, k))

    def pairs(self, epsilon: float, shares: Sequence[float] | None = None, k: int = 1) -> list[Pair]:
        """The worst pairs of worlds: what one person (k of them) moves, in scales of the noise."""
        e = [epsilon * s for s in shares or self.shares]
        if self.name == "names":
            return [Pair((k * e[0],), False, 0.0, 1.0)]
        if self.name == "home":
            count, half = (psi(x, 1e-6 * x / epsilon) for x in (e[0], e[1] / 2))
            # The average: values move across the bounds, or rows come and go with their half of the range.
            return [Pair((k * math.hypot(count, half * math.sqrt(1.25)),), True)]
        t = (e[0], e[1], e[2] / 2, e[2] / 2)
        made = [Pair(tuple(k * x for x in t), False)]
        if self.name == "incomes":  # or the name of the person's group appears because of them
            listed = 0.5 * math.exp(-(threshold(e[0], 1e-6 * e[0] / epsilon) - 1) * e[0])
            made.append(Pair(tuple(k * x for x in t[1:]), False, 0.0, listed))
        return made

    def secret(self, epsilon: float) -> list[Pair]:
        """The same for the secret: only what its columns touch moves."""
        e = [epsilon * s for s in self.shares]
        match self.name:
            case "demo":
                return [Pair((e[0],), False)]
            case "incomes":
                listed = 0.5 * math.exp(-(threshold(e[0], 1e-6 * e[0] / epsilon) - 1) * e[0])
                return [Pair((e[0], e[1]), False), Pair((e[1],), False, 0.0, listed)]
            case "home":  # four of a household in one group, where replacing moves two groups
                return [Pair((psi(e[0], 1e-6 * e[0] / epsilon) / math.sqrt(2),), True)]
        return [Pair((e[0],), False, 0.0, 1.0)]

    def errors(self, epsilon: float, shares: Sequence[float] | None = None) -> list[float]:
        """Each query's 95% error as a share of its answer, in its least accurate group that is not hidden."""
        e = [epsilon * s for s in shares or self.shares]
        f, twenty = self.frame, math.log(20)
        if self.name == "names":
            return [twenty / e[0] / f[f.ill == 1].groupby("ward").size().min()]
        if self.name == "home":
            ill = f[f.ill == 1].groupby("ward").who.nunique().min()
            sigma = math.sqrt(32) / psi(e[0], 1e-6 * e[0] / epsilon)
            return [1.959964 * sigma / ill]
        if self.name == "demo":
            visited = f[f.mental_visits > 0].groupby("site").person.nunique()
            total = float(f.visits.clip(0, 77).sum())
            average = ratio((f.income - 15000).sum(), len(f), 75_000 / (e[2] / 2), 5 / (e[2] / 2))
            return [twenty / e[0] / visited.min(), 385 * twenty / e[1] / total, average / f.income.mean()]
        rich = f[f.income == ">50K"].groupby("occupation", dropna=False).size()
        shown = rich[rich >= published(e[0], 1e-6 * e[0] / epsilon)].min()
        whole, b = float(f.capital_gain.sum()), 20_000 / e[1]
        bias = whole - float(f.capital_gain.clip(0, 20_000).sum())
        hours = [
            ratio((part.clip(0, 80) - 40).sum(), len(part), 40 / (e[2] / 2), 1 / (e[2] / 2), part.mean() - 40)
            / part.mean()
            for _, part in f.groupby("sex").hours_per_week
        ]
        return [twenty / e[0] / shown, biased(bias, b) / whole, max(hours)]


def psi(epsilon: float, delta: float) -> float:
    """How far apart normal noise may hold two answers, in σ, to be (ε, δ)."""
    return float(brentq(lambda p: gaussian_delta(p, epsilon) - delta, 1e-12, 50.0, xtol=1e-15))


def threshold(epsilon: float, delta: float) -> int:
    return math.ceil(1 + math.log(1 / (2 * delta)) / epsilon)


def published(epsilon: float, delta: float) -> float:
    """The smallest group that at least 95 of 100 releases publish."""
    return threshold(epsilon, delta) + math.log(10) / epsilon


def biased(bias: float, b: float) -> float:
    """b·log(20·cosh(B/b)), without overflow."""
    return b * math.log(10) + b * float(np.logaddexp(bias / b, -bias / b))


@cache
def ratio(total: float, size: int, noise: float, rows: float, whole: float | None = None) -> float:
    """95% error of (total + noise)/(size + noise), from 100,000 draws: to two in a hundred."""
    rng = np.random.default_rng(1)
    drawn = (total + rng.laplace(0, noise, 100_000)) / (size + rng.laplace(0, rows, 100_000))
    return float(np.quantile(np.abs(drawn - (total / size if whole is None else whole)), 0.95))


REPORTS = {
    r.name: r
    for r in (
        Report("demo", "examples/mental-visits.yaml", "epsilens:rand-hie"),
        Report("incomes", "examples/incomes.yaml", "epsilens:adult"),
        Report("home", HOME),
        Report("names", NAMES),
    )
}


# -- their sentences ----------------------------------------------------------------------------------------------


def texts(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Lead():
                yield from (flat(paragraph) for paragraph in block.paragraphs)
            case Paragraph():
                yield flat(block.said)
            case Notes() | Items():
                yield from block.items
            case Icons():
                yield block.note
            case Status():
                yield block.text
            case Fold() | Part():
                yield from texts(block.blocks)
            case _:
                pass  # tables, pictures and commands hold no sentences


def sentences(a: Assessment) -> list[str]:
    document = present(a)
    every = [*texts(document.opening)]
    for section in document.sections:
        every += [section.note, *texts(section.blocks)]
    parts = (re.split(r"(?<=[.!?])\s+(?=[A-Z“▲ε0-9])", text.strip()) for text in every)
    return list(dict.fromkeys(s for part in parts for s in part if s))


def told(text: str, value: float, scale: int = 100) -> bool:
    """Whether a count out of ``scale`` is the next one up, or says on which side of it the number lies."""
    if text.startswith("more than "):
        return int(text[10:]) / scale < value < 1
    if text.lower().startswith("fewer than "):
        return 0 < value < int(text[11:]) / scale
    return -1e-6 <= int(text.replace(",", "")) / scale - value < 1 / scale


def near(text: str, value: float) -> bool:
    """Whether a share of the people there are is the nearest count out of 100, or says on which side it lies."""
    if text.lower().startswith("fewer than "):
        return 0 < value < int(text[11:]) / 100
    return abs(int(text) / 100 - value) <= 0.005 + 1e-9


def count(text: str) -> float:
    """A count out of 100 or of 1,000."""
    some, whole = text.replace(",", "").split(" times of ")
    return int(some) / int(whole)


def above(text: str, value: float, slack: float = 0.05) -> bool:
    """Whether a number is told no smaller than it is (half a last digit aside), and not much larger."""
    shown = float(text.replace(",", ""))
    return value - 0.005 * shown <= shown * (1 + 0.005) and shown <= value * (1 + slack) + 0.5


# -- the checks: risk ---------------------------------------------------------------------------------------------

Check = Callable[[Report, Match], Any]


def over_risk(r: Report, m: Match) -> None:
    assert r.success(r.a.epsilon) > r.limit


def over_at_any(r: Report, m: Match) -> None:
    assert r.success(1e-6) > r.limit


def over_error(r: Report, m: Match) -> None:
    assert r.success(r.a.epsilon) <= r.limit
    assert max(r.errors(r.a.epsilon)) > r.allowed


def lead_number(r: Report, m: Match) -> None:
    truth = r.success(float(m["e"]))
    assert float(m["e"]) == r.a.epsilon
    assert told(m["n"], truth)
    assert (r.a.release.mechanism.neighbours is Relation.REPLACE) == ("two records" in m.string)


def typical(r: Report, m: Match) -> None:
    """People of the table, each by hand: two samples of 300 have medians between each other's .4 and .6
    quantiles (3.5 standard errors)."""
    f, e = r.frame, [r.a.epsilon * s for s in r.shares]
    unit = m["unit"]
    assert int(m["people"]) == min(300, r.person.nunique() if unit is None else f[unit].nunique())
    if unit is not None:  # normal noise: between chance and the worst-placed
        assert 0.5 <= count(m["n"]) <= count(m["most"] or m["n"]) <= r.success(r.a.epsilon) + 0.01
        return
    if r.name == "demo":
        f = f[f.person.isin(np.random.default_rng(2).choice(f.person.unique(), 300, replace=False))]
        f = f.assign(visits=f.visits.clip(0, 77), income=f.income.clip(0, 30_000) - 15_000, hit=f.mental_visits > 0)
        g = f.groupby("person").agg(hit=("hit", "max"), v=("visits", "sum"), i=("income", "sum"), n=("income", "size"))
        moved = [g.hit * e[0], g.v / 385 * e[1], g.i.abs() / 75_000 * e[2] / 2, g.n / 5 * e[2] / 2]
    elif r.name == "incomes":
        f = f.sample(300, random_state=2)
        hours = (f.hours_per_week.clip(0, 80) - 40).abs() / 40
        moved = [(f.income == ">50K") * e[0], f.capital_gain.clip(0, 20_000) / 20_000 * e[1], hours * e[2] / 2]
        moved.append(pd.Series(e[2] / 2, f.index))
    else:
        moved = [f.ill * e[0]]
    odds = [Pair(tuple(x for x in t if x > 0), False).success() for t in np.column_stack(moved).astype(float)]
    low, high, upper = np.quantile(odds, (0.4, 0.6, 0.95))
    assert low <= count(m["n"]) <= high + 0.01
    most = count(m["most"] or m["n"])
    assert upper <= most <= r.success(r.a.epsilon) + 0.01


def keeps(r: Report, m: Match) -> None:
    truth = r.success(float(m["e"]))
    assert truth <= r.limit
    assert told(m["n"], truth)
    assert r.success(float(m["e"]) + 0.01) > r.limit


def figure(r: Report, m: Match) -> None:
    assert r.a.release.adversary.prior == 0.5
    assert r.a.release.mechanism.neighbours is Relation.ADD_REMOVE  # else nobody is in or out of the table


def as_likely(r: Report, m: Match) -> None:
    figure(r, m)


def largest(r: Report, m: Match) -> None:
    for risk in r.a.risks:
        assert (risk.largest is None) == (risk.limit is None)
        if risk.key == "membership" and risk.largest:
            assert r.success(risk.largest) <= r.limit + 1e-9 < r.success(1.001 * risk.largest)


def smallest(r: Report, m: Match) -> None:
    least = min(risk.largest for risk in r.a.risks if risk.largest is not None)
    assert 0 <= least - r.recommended <= 0.01


def out_of_100(r: Report, m: Match) -> None:
    for risk in r.a.risks:
        shown = re.search(re.escape(risk.name) + r" (?:\* )?([\d.]+) (?:> )?([\d.]+)", r.text)
        assert shown is not None
        assert -1e-6 <= float(shown[2]) - 100 * risk.planned < 1
        assert float(shown[1]) == pytest.approx(100 * risk.baseline)


def most(r: Report, m: Match) -> None:
    """Never below the truth of the worst pair of worlds, and equal to it where it is called exact."""
    e = r.a.epsilon
    for risk in r.a.risks:
        pairs = r.pairs(e) if risk.key in ("membership", "reidentification") else r.secret(e)
        if risk.key in ("differencing-noisy", "combined"):
            continue  # nobody knows the others: below "guess" or "one answer known", which bound them
        truth = max(p.read(risk.reading, dict(risk.arguments)) for p in pairs)
        assert risk.planned >= truth - 1e-9, risk.key
        if risk.exact:
            assert risk.planned == pytest.approx(truth, abs=1e-4), risk.key


def bounds(r: Report, m: Match) -> None:
    assert not all(risk.exact for risk in r.a.risks)


def bars(r: Report, m: Match) -> None:
    drawn = [t for s in present(r.a).sections for t in s.blocks if isinstance(t, Table) and t.column(Kind.BAR)]
    (table,) = drawn
    named = {risk.name: risk for risk in r.a.risks}
    seen = 0
    for row in table.rows:
        risk = next((named[c.text] for c in row if c.text in named), None)
        bar = row[table.column(Kind.BAR) or 0]
        if risk is not None and risk.limit is not None and bar.share is not None:
            wide = (risk.planned - risk.baseline) / (risk.limit - risk.baseline)
            assert bar.share == pytest.approx(wide)
            seen += 1
    assert seen


def several(r: Report, m: Match) -> None:
    assert r.a.release.mechanism.neighbours is Relation.ADD_REMOVE  # else nobody is in or out
    assert r.a.release.data.unit is None  # else each of the k is a household
    for k, n in zip((2, 5, 10), m.groups(), strict=True):
        assert told(n, r.success(r.a.epsilon, k=k))


def several_records(r: Report, m: Match) -> None:
    assert r.a.release.mechanism.neighbours is Relation.REPLACE
    assert r.a.release.data.unit == "home"
    for k, n in zip((2, 5, 10), m.groups(), strict=True):
        assert told(n, r.success(r.a.epsilon, k=k))


def larger(r: Report, m: Match) -> None:
    assert r.success(1.0) <= r.success(2.0)
    assert all(later <= now for now, later in zip(r.errors(1.0), r.errors(2.0), strict=True))
    assert all(np.all(np.diff(line) >= -1e-6) for line in r.a.curve.risks.values())


def revealed(r: Report, m: Match) -> None:
    """One more person, in a ward of their own: a name appears that no noise hides."""
    more = pd.concat([STAYS, STAYS[STAYS.ill == 1].head(1).assign(ward="z")])
    new = assess(NAMES, table=more)
    names = {answer.group for answer in new.queries[0].answers} - {answer.group for answer in r.a.queries[0].answers}
    assert names == {("z",)}
    assert max(risk.planned for risk in r.a.risks) == 1


def listing_helps(r: Report, m: Match) -> None:
    query = {**NAMES["queries"][0]}
    for more, delta in (({"groups": ["a", "b", "c"]}, {}), ({"threshold": "auto"}, {"delta": 1e-6})):
        noise = {**NAMES["mechanism"], **delta}
        assert assess({**NAMES, "queries": [{**query, **more}], "mechanism": noise}, table=STAYS).possible


# -- the checks: accuracy -----------------------------------------------------------------------------------------


def price(r: Report, m: Match) -> None:
    """In scales of the count's noise; "unbounded" is no error that 95 of 100 releases keep."""
    assert "unbounded" not in m.string
    now = r.a.epsilon
    assert above(m["there"], math.log(20) / (r.recommended * r.shares[0]))
    assert above(m["here"], math.log(20) / (now * r.shares[0]))


def priced(r: Report, m: Match) -> None:
    assert m["n"] is not None
    assert above(m["n"], 100 * max(r.errors(r.recommended)))
    assert float(m["allowed"]) == 100 * r.allowed


def too_strong(r: Report, m: Match) -> None:
    error = r.errors(r.a.epsilon)[0]
    least = STAYS[STAYS.ill == 1].groupby("ward").who.nunique().min()
    assert above(m["e"], error * least)
    assert above(m["n"], 100 * error)
    assert error == max(r.errors(r.a.epsilon)) > r.allowed == float(m["allowed"]) / 100


def enough(r: Report, m: Match) -> None:
    truth = r.success(float(m["e"]))
    assert r.errors(float(m["e"]))[0] <= r.allowed
    assert told(m["n"], truth)
    assert truth <= r.limit


def needs(r: Report, m: Match) -> None:
    at = float(m["e"])
    assert r.errors(at)[0] <= float(m["allowed"]) / 100 < r.errors(0.97 * at)[0]
    assert told(m["n"], r.success(at))
    assert bool(m["still"]) == (r.success(at) > r.limit)


def not_both(r: Report, m: Match) -> None:
    top = brentq(lambda e: r.success(e) - r.limit, 1e-3, 50)
    assert max(r.errors(top)) > r.allowed


def never(r: Report, m: Match) -> None:
    """A group of one person is below any threshold above 1, and is hidden but for a chance of at most δ."""
    rich = r.frame[r.frame.income == ">50K"].groupby("occupation", dropna=False).size()
    assert rich.min() == 1
    for e in (1e-3, 1.0, 700.0):
        tau = threshold(e, 1e-6)
        assert tau > 1
        assert 0.5 * math.exp(-(tau - 1) * e) <= 1e-6 < 0.05


def few(r: Report, m: Match) -> None:
    rich = r.frame[r.frame.income == ">50K"].groupby("occupation", dropna=False).size()
    assert int(m["n"]) == ((rich > 0) & (rich < 10)).sum()


def lose(r: Report, m: Match) -> None:
    gain, e = r.frame.capital_gain, r.a.epsilon * r.shares[1]
    assert float(gain.sum() - gain.clip(0, 20_000).sum()) > math.log(20) * 20_000 / e


def lose_less(r: Report, m: Match) -> None:
    gain, e, found = r.frame.capital_gain, r.a.epsilon * r.shares[1], []
    for top in (float(m["top"]), 20_000.0):
        found.append(100 * biased(float(gain.sum() - gain.clip(0, top).sum()), top / e) / float(gain.sum()))
    assert above(m["then"], found[0], 0.01)
    assert above(m["now"], found[1], 0.01)
    assert found[0] < found[1]


def choosing_looks(r: Report, m: Match) -> None:
    other = assess(r.plan, table=r.frame.assign(capital_gain=r.frame.capital_gain.clip(upper=10_000)))
    assert [p.value for p in other.proposals] != [p.value for p in r.a.proposals]


def within_shown(r: Report, m: Match) -> None:
    """The noise of the count drawn 200,000 times: 95 of 100 within the error, to .002."""
    if r.name == "home":
        scale = math.sqrt(32) / psi(0.5, 5e-7)
        drawn = np.random.default_rng(3).normal(0, scale, 200_000)
    else:
        drawn = np.random.default_rng(3).laplace(0, 1 / (r.a.epsilon * r.shares[0]), 200_000)
    typical = r.a.queries[0].planned.typical
    assert typical is not None
    assert np.mean(np.abs(drawn + typical.contribution + typical.clamping) <= typical.error) >= 0.948


def least_accurate(r: Report, m: Match) -> None:
    """With one noise for all groups, the smallest answer is the least accurate for its size."""
    worst, column = r.a.queries[0].planned.worst, r.a.queries[0].answers
    assert worst is not None
    assert worst.answer.value == min(answer.value for answer in column if answer.value)
    if r.a.release.error_limit is not None:
        assert ("error" in r.a.verdict.broken) == (worst.error / worst.answer.value > r.allowed)


def dots(r: Report, m: Match) -> None:
    """The bands are those of one group; pandas has the answers."""
    column, hit = {"demo": ("site", "mental_visits > 0"), "incomes": ("occupation", "income == '>50K'")}.get(
        r.name, ("ward", "ill == 1")
    )
    f = r.frame.assign(_p=r.person.to_numpy()).query(hit)
    true = sorted(f.groupby(column, dropna=False)._p.nunique())
    q = r.a.queries[0]
    assert sorted(answer.value for answer in q.answers) == true
    if r.name == "demo":  # around what is left lies noise alone: 95 of 100 within b·log 20
        assert q.bands(1.0, r.a.release, limited=True) == pytest.approx([math.log(20) / r.shares[0]] * len(true))


def itself(r: Report, m: Match) -> None:
    """The same number as over the report; δ is no more than the plan gives, where it gives one."""
    if "coin" in m.string:
        assert told(m["n"], r.success(r.a.epsilon))
        assert (r.a.release.mechanism.neighbours is Relation.REPLACE) == ("two records" in m.string)
        return
    assert float(m["e"]) == r.a.epsilon
    assert (m["d"] is not None) == (r.name != "demo")
    assert float(m["d"] or 0.0) <= 1e-6


def wider(r: Report, m: Match) -> None:
    q = r.a.queries[0]
    one, every = (q.bands(1.0, r.a.release, all_together=both) for both in (False, True))
    assert all(b > a or a == b == math.inf for a, b in zip(one, every, strict=True))


def narrower(r: Report, m: Match) -> None:
    """The same plan with half the bounds, in which the stays above them are cut off: its noise is less."""
    queries = [dict(q) for q in HOME["queries"]]
    queries[1]["bounds"] = [0, 5]
    there = assess({**HOME, "queries": queries}, table=STAYS).queries[1].planned.worst
    here = r.a.queries[1].planned.worst
    assert r.name == "home"
    assert here is not None
    assert there is not None
    assert there.noise < here.noise


def drawn(r: Report, m: Match) -> None:
    assert int(m["n"]) == r.frame[r.frame.income == ">50K"].occupation.nunique(dropna=False)


# -- the checks: how ε is shared ----------------------------------------------------------------------------------


def less_noise(r: Report, m: Match) -> None:
    for i in range(len(r.shares)):
        more = [0.9 if j == i else 0.1 / (len(r.shares) - 1) for j in range(len(r.shares))]
        fewer = [0.1 if j == i else 0.9 / (len(r.shares) - 1) for j in range(len(r.shares))]
        found = r.errors(1.0, more), r.errors(1.0, fewer)
        if i < len(found[0]):
            assert found[0][i] < found[1][i]


def nothing_hidden(r: Report) -> None:
    """The least accurate group is not one that a threshold hides."""
    rich = r.frame[r.frame.income == ">50K"].groupby("occupation", dropna=False).size()
    assert rich.min() >= published(1 / 3, 1e-6 / 3)


def error_is_of_least(r: Report, m: Match) -> None:
    assert r.a.split is not None
    for way in (r.a.split.equal, r.a.split.best):
        truth = r.errors(r.a.epsilon, way.shares)
        assert list(way.errors[: len(truth)]) == pytest.approx(truth, rel=0.02)
    if r.name == "incomes" and "published" not in m.string:
        nothing_hidden(r)


def shared(r: Report, m: Match) -> None:
    """Nothing is better than the best where all errors are alike, or one query already has everything."""
    assert r.a.split is not None
    n = len(r.shares)
    equal, best = (r.errors(r.a.epsilon, way) for way in ([1 / n] * n, r.a.split.best.shares))
    assert above(m["equal"], 100 * max(equal), 0.03)
    if r.name == "home":  # an average in [0, 10] is at most 100% off; the count alone needs .95 of ε for less
        assert m["best"] == "100"
        assert max(best) < 1 < r.errors(r.a.epsilon, [0.9, 0.1])[0]
    else:
        assert above(m["best"], 100 * max(best), 0.03)
        assert max(best) < 1.03 * min(best)


def shared_bias(r: Report, m: Match) -> None:
    """The least accurate answer must be the one that is off by that much."""
    assert above(m["equal"], 100 * r.errors(r.a.epsilon, [1 / 3] * 3)[1], 0.03)
    assert "published" in m.string  # some groups are hidden


def by_noise(r: Report, m: Match) -> None:
    gain = r.frame.capital_gain
    bias = 1 - gain.clip(0, 20_000).sum() / gain.sum()
    errors = r.errors(r.a.epsilon)
    assert bias > errors[0] == pytest.approx(errors[2], rel=0.03)


@cache
def elsewhere(name: str) -> tuple[Assessment, ...]:
    """The same plan on other tables."""
    r = REPORTS[name]
    f = r.frame
    if name == "incomes":
        return (assess(r.plan, table=f.assign(capital_gain=f.capital_gain.clip(upper=100))),)
    return (assess(r.plan, table=f.head(100 if name == "home" else 1000)),)


def found_by_looking(r: Report, m: Match) -> None:
    assert r.a.split is not None
    assert any(o.split is not None and o.split.best.shares != r.a.split.best.shares for o in elsewhere(r.name))


def moves_with_it(r: Report, m: Match) -> None:
    assert r.a.split is not None
    assert told(m["best"], r.success(r.a.epsilon, r.a.split.best.shares))
    assert told(m["equal"], r.success(r.a.epsilon, [1 / len(r.shares)] * len(r.shares)))


# -- the checks: who can be isolated ------------------------------------------------------------------------------


def people_alone(r: Report, columns: Sequence[str]) -> int:
    f = r.frame[list(columns)].assign(_p=r.person.to_numpy()).drop_duplicates()
    return int(f[f.groupby(list(columns), dropna=False)._p.transform("size") == 1]._p.nunique())


def alone(r: Report, m: Match) -> None:
    quasi = r.a.release.data.quasi_identifiers
    found, people = people_alone(r, quasi), r.person.nunique()
    assert (int(m["some"].replace(",", "")), int(m["all"].replace(",", ""))) == (found, people)
    assert near(m["n"], found / people)
    assert re.findall(r"\w+", m["columns"].replace(" and ", " ")) == list(quasi)


def does_most(r: Report, m: Match) -> None:
    quasi = r.a.release.data.quasi_identifiers
    left = {c: people_alone(r, [q for q in quasi if q != c]) for c in quasi}
    assert min(left, key=lambda c: left[c]) == "age"
    n = m["n"].split(" of ")[0].removeprefix("none")
    assert near(n, left["age"] / r.person.nunique()) if n else left["age"] == 0


def combinations_listed(r: Report, m: Match) -> None:
    quasi = r.a.release.data.quasi_identifiers
    every = [c for k in range(1, len(quasi) + 1) for c in combinations(quasi, k)]
    (shown,) = (b for s in present(r.a).sections for b in s.blocks if isinstance(b, Combinations))
    assert int(m["n"]) == len(shown.rows)
    for row in shown.rows:
        assert row.share == pytest.approx(people_alone(r, row.members) / r.person.nunique())
    assert int(m["all"]) == len(every) == len(r.a.to_dict()["isolation"]["subsets"])


def singled_out(r: Report, m: Match) -> None:
    """Two counts that differ by one person, noise aside, differ by whether they have the secret."""
    hits = r.frame.assign(_hit=r.person.to_numpy() % 2 == 0)
    one = hits.index[0]
    assert hits._hit.sum() - hits.drop(one)._hit.sum() == hits._hit[one]
    assert r.a.scan is not None
    assert r.a.scan.isolated > 0


def takes_two(r: Report, m: Match) -> None:
    """One answer about the combination of somebody alone in it is about them only."""
    quasi = list(r.a.release.data.quasi_identifiers)
    assert (r.frame[quasi].value_counts() == 1).any()


def population(r: Report, m: Match) -> None:
    """Of half of the table some are alone who are not in the whole."""
    quasi, half = list(r.a.release.data.quasi_identifiers), r.frame.iloc[::2]
    single = half[half.groupby(quasi, dropna=False)[quasi[0]].transform("size") == 1]
    whole = r.frame.groupby(quasi, dropna=False)[quasi[0]].transform("size")
    assert (whole[single.index] > 1).any()


# -- the checks: tampering ----------------------------------------------------------------------------------------


def hidden(r: Report, m: Match) -> None:
    """The best test at 5 false alarms of 100 is one threshold: ln 10 scales of Laplace, 1.645 of normal noise."""
    for at, n in (("e", "n"), ("e2", "n2")):
        if m[at] is None:
            continue
        e = float(m[at]) * r.shares[0]
        edge = 1.644854 * math.sqrt(32) / psi(e, 5e-7) if r.name == "home" else math.log(10) / e
        assert float(m[n]) == pytest.approx(edge, rel=0.03)  # two digits are shown
    assert (m["e2"] is None) == (r.a.verdict.alternative is None)


def hides_too(r: Report, m: Match) -> None:
    """At 5 false alarms of 100, one false record in the first count is missed more often than noticed."""
    assert Pair((r.a.epsilon * r.shares[0],), False).roc(0.05) < 0.5  # normal noise of this ε hides more


def one_person(r: Report, m: Match) -> None:
    table = next(s for s in present(r.a).sections if "“One person”" in s.note).blocks[1]
    assert isinstance(table, Table)
    first = table.rows[0][1].running
    assert first == {"home": "8"}.get(
        r.name, "1"
    )  # of a count: one, or the household's four out of one ward and into another


# -- the checks: what was assumed ---------------------------------------------------------------------------------


def knows_all(r: Report, m: Match) -> None:
    most(r, m)  # the risks are those of the worst pair of worlds, all else and the noise being known


def contributes(r: Report, m: Match) -> None:
    """Shuffled values and other names keep the same people and rows: their numbers stay."""
    data = r.a.release.data
    assert int(m["rows"]) == data.max_rows
    if r.name == "demo":
        assert r.frame.groupby("person").size().max() <= 5  # nothing is dropped here
        assert r.a.queries[1].answers[0].value == r.a.queries[1].answers[0].limited
        return
    assert int(m["people"]) == data.max_rows
    assert data.unit == m["unit"]
    other = assess(r.plan, table=STAYS.assign(stay=10 - STAYS.stay.clip(0, 10)))
    mine, theirs = (one.queries[1].answers[0].bounded for one in (r.a, other))
    assert mine + theirs == pytest.approx(10, abs=0.6)  # smallest first would lose one way and the other


def one_row(r: Report, m: Match) -> None:
    assert r.a.release.data.person is None
    assert r.person.nunique() == len(r.frame)
    cut(r, m)


def cut(r: Report, m: Match) -> None:
    match r.name:
        case "incomes":
            clipped = float(r.frame.capital_gain.clip(0, 20_000).sum())
            assert r.a.queries[1].answers[0].bounded == clipped
        case "home":
            answer = r.a.queries[1].answers[0]
            assert answer.bounded < answer.limited
            assert STAYS.stay.max() > 10
        case "demo":
            assert r.frame.visits.max() <= 77
            assert r.a.queries[1].answers[0].bounded == r.frame.visits.sum()


def replaced(r: Report, m: Match) -> None:
    assert r.a.release.mechanism.neighbours is Relation.REPLACE


def groups_listed(r: Report, m: Match) -> None:
    """Those of the plan, and those only: a group that nobody is in has an answer of 0."""
    q = next(q for q in r.a.release.queries if q.name == m["query"])
    assert q.groups is not None
    found = r.a.queries[r.a.release.queries.index(q)].answers
    assert len(found) == len(q.groups)


def noisy_sizes(r: Report, m: Match) -> None:
    """Of k equal numbers with half of ε each, the average's are two."""
    i = next(i for i, q in enumerate(r.a.release.queries) if m["query"] in (f"“{q.name}”", f"query {i + 1}"))
    if r.name != "home":
        e = r.a.epsilon * r.shares[i]
        width = {"demo": 75_000, "incomes": 40}[r.name]
        assert r.a.queries[i].planned.scale == pytest.approx(width / (e / 2))


def from_threshold(r: Report, m: Match) -> None:
    e = r.a.epsilon * r.shares[0]
    tau = threshold(e, 1e-6 * r.shares[0])
    assert int(m["n"]) == tau
    assert float(m["p"]) == pytest.approx(0.5 * math.exp(-(tau - 1) * e), rel=0.02)


def names_from_data(r: Report, m: Match) -> None:
    revealed(r, m)


def together(r: Report, m: Match) -> None:
    assert int(m["n"]) == len(r.a.release.queries)
    most(r, m)


def one_answer(r: Report, m: Match) -> None:
    assert len(r.a.release.queries) == 1


def unrelated(r: Report, m: Match) -> None:
    """No resemblance is stated; two people who always agree move a count twice as far."""
    assert r.a.release.adversary.correlation is CorrelationSource.NONE
    assert not r.a.relations
    assert Pair((2.0,), False).success() > Pair((1.0,), False).success()


def says_nothing(r: Report, m: Match) -> None:
    """None of the columns named occurs in these queries, and each in the secret or beside it."""
    columns = m["columns"].split(", ")
    secret = r.a.release.data.hidden
    assert secret is not None
    assert all(c in secret.where or c in secret.columns for c in columns)
    for named in re.findall(r"“([^”]+)”|query (\d+)", m["queries"]):
        q = next(q for i, q in enumerate(r.a.release.queries) if q.name == named[0] or str(i + 1) == named[1])
        assert not any(c in str(q.model_dump(exclude={"name"})) for c in columns)


@cache
def with_column() -> float:
    """The risk to the secret where the length of a stay is said to go with it."""
    data = {**HOME["data"], "secret": {**HOME["data"]["secret"], "columns": ["stay"]}, "quasi_identifiers": []}
    return next(risk.planned for risk in assess({**HOME, "data": data}, table=STAYS).risks if risk.key == "guess")


def belongs(r: Report, m: Match) -> None:
    """A query on a column that is said to go with the secret counts against it."""
    assert with_column() > max(p.success() for p in REPORTS["home"].secret(1.0)) + 0.001


# -- the checks: disclosure ---------------------------------------------------------------------------------------


def plan_alone(r: Report, m: Match) -> None:
    """Another table gives the same ε."""
    assert float(m["e"]) == r.a.recommended
    assert all(other.recommended == r.a.recommended for other in elsewhere(r.name))


def depends(r: Report, m: Match) -> None:
    """Another table gives another ε."""
    assert any(other.recommended != r.a.recommended for other in elsewhere(r.name))


def may_publish(r: Report, m: Match) -> None:
    assert all(other.recommended == r.a.recommended for other in elsewhere(r.name))


def stands(r: Report, m: Match) -> None:
    assert r.a.verdict.alternative is None


def keep_inside(r: Report, m: Match) -> None:
    dots(r, m)
    assert r.a.scan is not None
    assert f"{r.person.nunique():,}" in r.text


def certified(r: Report, m: Match) -> None:
    """The two ends are those of the file, and the independent program proves them."""
    assert r.a.certificate is not None
    assert (float(m["low"]), float(m["high"])) == (r.a.certificate.lower, r.a.certificate.upper)
    assert verdict(r.a.certificate.to_dict()) == "certified"


def checkable(r: Report, m: Match) -> None:
    assert r.a.certificate is not None
    assert r.a.certificate.to_json().strip() in html.unescape(r.a.to_html())


def deployments(r: Report, m: Match) -> None:
    assert int(m["n"]) == len(r.a.precedents) == len([p for p in r.a.precedents if p.epsilon > 0])


def units(r: Report, m: Match) -> None:
    assert len({p.unit for p in r.a.precedents}) > 1


def baseline(r: Report, m: Match) -> None:
    assert int(m["n"]) / 100 == max(r.a.release.adversary.prior, 1 - r.a.release.adversary.prior)


def limited(r: Report, m: Match) -> None:
    assert int(m["n"]) / 100 == r.limit


# -- the claims ---------------------------------------------------------------------------------------------------

N, E = r"((?:more|fewer) than )?\d+", r"\d+(?:\.\d+)?"
SUBJECT = r"the least accurate count by \w+"
CLAIMS: tuple[tuple[str, Check], ...] = (
    (r"Over the risk limit as planned", over_risk),
    (r"Over the risk limit at any ε", over_at_any),
    (r"Over the error limit as planned", over_error),
    (rf"At the planned ε = (?P<e>{E}), an adversary who knows every other record guesses correctly (at most )?"
     r"(?P<n>\d+) times of 100 (whether one worst-placed person is in the table|which of two records is that of one "
     r"worst-placed person)\.", lead_number),
    (r"Without the release they would be right (?P<n>\d+) times of 100\.", baseline),
    (r"Your limit is (?P<n>\d+) of 100\.", limited),
    (r"The membership test is right (?P<n>\d+ times of 1(00|,000)) for the typical one of (?P<people>\d+) "
     r"(people|groups of people with one (?P<unit>\w+)) of this table"
     r"(, (?P<most>\d+ times of 1(00|,000)) for the most exposed of them)?\.", typical),
    (r"From a record that counts in no answer the typical one of (?P<people>\d+) groups of people with one "
     r"(?P<unit>\w+) of this table is told right (?P<n>\d+ times of 1(00|,000))"
     r"(, (?P<most>\d+ times of 1(00|,000)) for the most exposed of them)?\.", typical),
    (rf"ε = (?P<e>{E}) keeps them to (?P<n>\d+)\.", keeps),
    (rf"The price is accuracy: in 95 of 100 releases {SUBJECT} is within (±(?P<there>\S+)|unbounded), not "
     r"(±(?P<here>\S+)|unbounded)\.", price),
    (rf"That is ((?P<n>{E})%|no share) of it; you allow (?P<allowed>{E})%\.", priced),
    (r"Each figure is one guess of 100 about which of two records is one worst-placed person’s\.", replaced),
    (r"Some are bounds: nobody need be as exposed as that\.", bounds),
    (r"Before the release they think it as likely as not that the second of two records is the person's\.", replaced),
    (r"Each figure is one guess of 100 about one worst-placed person, who is in the table in half of them\.", figure),
    (r"The risk each adversary poses at the planned ε, and the largest ε that keeps it within the limit\.", largest),
    (r"The smallest of these is the recommendation\.", smallest),
    (r"Numbers are out of 100\.", out_of_100),
    (r"Each is the most that adversary can reach against one worst-placed person\.", most),
    (r"Bars show the increase because of the release, as a share of what the limit allows\.", bars),
    (r"Whether several people, a household say, are all in the table or none of them is guessed right: 2 people (.+) "
     r"times of 100, 5 people (.+) times of 100, 10 people (.+) times of 100\.", several),
    (r"Which of two sets of records is that of several people together is guessed right: 2 with the same home each "
     r"(.+) times of 100, 5 with the same home each (.+) times of 100, 10 with the same home each (.+) times of 100\.",
     several_records),
    (r"A larger ε means less noise: better answers, and better guesses\.", larger),
    (r"The names of the groups of “.+” come from the data, and a name that exists because of one person gives them "
     r"away, whatever the noise\.", revealed),
    (r"List the groups in the plan \(groups: \[a, b\]\), or publish only those with enough people "
     r"\(threshold: auto\)\.", listing_helps),
    (rf"The price is accuracy: in more than 5 of 100 releases {SUBJECT} is not published at all\.", never),
    (rf"ε = (?P<e>{E}) was found by looking at the confidential data, and tells a little about it\.", depends),
    (r"One person can change it, so whoever knows the rest of the table may learn of them\.", depends),
    (r"Choose one from a list fixed beforehand instead, with shares of ε that do not come from the answers\.", depends),
    # accuracy
    (rf"The noise is too strong: in 95 of 100 releases {SUBJECT} is within ±(?P<e>\S+), (?P<n>{E})% of it; you allow "
     rf"(?P<allowed>{E})%\.", too_strong),
    (rf"ε = (?P<e>{E}) is enough, where the risk is (?P<n>\d+) of 100, still within your limit\.", enough),
    (r"No ε meets both limits\.", not_both),
    (rf"Keeping {SUBJECT} within (?P<allowed>{E})% needs ε of at least (?P<e>{E}), where the risk is (?P<still>still )?"
     r"(?P<n>\d+) of 100\.", needs),
    (rf"No ε up to 700 keeps {SUBJECT} within 50%\.", never),
    (r"▲ (?P<n>\d+) groups of “.+” have fewer than 10 people: what is said there is about them\.", few),
    (r"Bounds or limits lose more than the noise hides\.", lose),
    (r"These would lose less; choosing them looks at the data:", choosing_looks),
    (rf"bounds: \[0, (?P<top>\d+)\] for “Capital gains”: error (?P<then>{E})% of the answer instead of (?P<now>{E})%\.",
     lose_less),
    (r"95 of 100 releases fall within the ± shown of the whole table’s answer: noise, and what bounds, limits and "
     r"thresholds lose\.", within_shown),
    (r"A limit on the error is kept by the least accurate group\.", least_accurate),
    (r"Each dot is one simulated answer, and the band, around what limits and bounds leave of the true answer, holds "
     r"95 of 100 of its own group; the upright line is the true answer\.", dots),
    (r"The noise of “Length of stay” grows with its bounds, 0 to 10\.", narrower),
    (r"Where smaller ones would cut little off they give less noise: take them from what is known of the quantity, not "
     r"from the table\.", narrower),
    (r"How far from that releases are, each by itself and all groups at once: see the numbers behind this picture\.",
     wider),
    (r"What the release will say of itself: An adversary who knows everything else guesses right at most (?P<n>\d+) "
     r"times of 100 (whether somebody is in the table|which of two records is somebody's); a coin gets 50\.", itself),
    (r"This holds for (any one person|everyone with the same home) \(ε = (?P<e>\S+)(, δ = (?P<d>[\d.]+))?, (Laplace|"
     r"Gaussian) noise\)\.", itself),
    (r"The first 12 of (?P<n>\d+) groups are drawn\.", drawn),
    # how ε is shared
    (r"A query with a larger share of ε has less noise\.", less_noise),
    (r"The error is that of the least accurate( published)? group, as a share of its answer; "
     r"95 of 100 releases keep within it\.",
     error_is_of_least),
    (r"Shared equally, the least accurate( published)? answer is off by up to (?P<equal>\d+)% of itself; the "
     r"best division brings it to (?P<best>\d+)%\.", shared),
    (r"Shared equally, the least accurate( published)? answer is off by up to (?P<equal>\d+)% of itself: that "
     r"is what bounds and limits lose, which no division of ε mends\.", shared_bias),
    (r"Where bounds or limits lose more than any noise, the best division goes by the noise alone\.", by_noise),
    (r"It was found by looking at the data\.", found_by_looking),
    (r"The risk moves with it \(membership test\): (?P<best>\d+) of 100 instead of (?P<equal>\d+) of 100; without the "
     r"release 50 of 100\.", moves_with_it),
    # who can be isolated
    (r"A person alone in a combination of columns can be singled out by answers that differ only by them; such "
     r"questions need not be among the planned ones\.", singled_out),
    (r"(?P<n>\d+) of 100 people in this table \((?P<some>[\d,]+) of (?P<all>[\d,]+)\) are alone in their combination "
     r"of (?P<columns>.+)\.", alone),
    (r"Age does most: without it, (?P<n>.+) people are alone\.", does_most),
    (r"(?P<n>\d+) of the (?P<all>\d+) combinations; all are in the JSON form\.", combinations_listed),
    (r"To single out a person who is alone in a combination takes one answer about it alone, or two that differ only "
     r"by them: questions outside the plan, unless planned answers are named here\.", takes_two),
    (r"Alone in this table is not alone in the population: people outside the table may share the combination\.",
     population),
    # tampering, and what others used
    (r"The noise hides tampering too\.", hides_too),
    (rf"At ε = (?P<e>{E}) false records that together move a typical count by \w+ by up to (?P<n>{E}) go unnoticed at "
     rf"least every other time(, at ε = (?P<e2>{E}) by up to (?P<n2>{E}))?; that is the best test of somebody who "
     r"knows what the answer should be, with false alarms for 5 of 100 honest answers\.", hidden),
    (r"“One person” is the most an honest one moves all answers of a query together\.", one_person),
    (r"Published deployments, as reported\.", units),
    (r"They protect different units \(a person, a day, an event\), so read them as context, not as a licence\.", units),
    (r"(?P<n>\d+) deployments that report ε\.", deployments),
    (r"Source: drafts of the public deployments registry .+, as reported\.", units),
    # what was assumed
    (r"The adversary knows the noise, the queries and every other person's record\.", knows_all),
    (r"Before the release they think it as likely as not that the person is in the table\.", as_likely),
    (r"(A person counts once, in one group of each count|Everyone with the same (?P<unit>\w+), together, counts as at "
     r"most (?P<people>\d+) people), and adds at most (?P<rows>\d+) rows to sums, averages and counts of rows; which "
     r"rows and groups are kept is drawn as by lot from theirs alone, in no order of values or names\.", contributes),
    (r"One row is one person; values beyond the bounds are cut off\.", one_row),
    (r"Values beyond the bounds are cut off\.", cut),
    (r"The number of people is public: the guarantee is about one person's record being replaced by any other, and a "
     r"membership test asks which of two records is theirs\.", replaced),
    (r"The groups of “(?P<query>.+)” are those the plan lists, whether anyone is in them or not\.", groups_listed),
    (r"The average of (?P<query>.+) is a noisy sum over a noisy number of rows, half of its ε each\.", noisy_sizes),
    (r"A group of “.+” is published where its noisy number of people reaches (?P<n>\d+); a person alone in one is "
     r"named with a chance of (?P<p>\S+)\.", from_threshold),
    (r"The names of the groups of “.+” come from the data: one that exists because of a person shows them\.",
     names_from_data),
    (r"The (?P<n>\d+) answers are read together\.", together),
    (r"There is one answer\.", one_answer),
    (r"Records of other people say nothing about this one; if families resemble each other, the risk is higher "
     r"\(adversary\.correlation states how, data\.unit protects them together\)\.", unrelated),
    (r"Taken to say nothing about the secret, because they mention none of its columns \((?P<columns>.+)\): "
     r"(?P<queries>.+)\.", says_nothing),
    (r"A column that goes with the secret belongs to data\.secret\.columns\.", belongs),
    # disclosure
    (rf"ε = (?P<e>{E}) follows from the plan alone: no table would give another\.", plan_alone),
    (r"It may be published\.", may_publish),
    (r"The share of right guesses lies between (?P<low>\S+) and (?P<high>\S+)\.", certified),
    (r"This can be checked without epsilens: python -m epsilens_checker FILE, a program of its own \(checker/\)\.",
     checkable),
    (r"The planned ε stands: it was not chosen here\.", stands),
    (r"Keep this report inside the organisation: it holds true answers and counts of people\.", keep_inside),
)  # fmt: skip

#: Sentences known to be false or misleading: the report, how it begins, and why. A mended one must leave the list.
WRONG: tuple[tuple[str, str, str], ...] = ()


@pytest.mark.always(1)
@pytest.mark.parametrize("name", REPORTS)
def test_every_sentence_is_true(name: str) -> None:
    r, wrong = REPORTS[name], {start: why for at, start, why in WRONG if at == name}
    failed: list[str] = []
    for sentence in sentences(r.a):
        found = [(check, m) for pattern, check in CLAIMS if (m := re.fullmatch(pattern, sentence))]
        if len(found) != 1:
            failed.append(f"{len(found)} claims fit: {sentence}")
            continue
        known = next((start for start in wrong if sentence.startswith(start)), None)
        try:
            found[0][0](r, found[0][1])
        except AssertionError as error:
            if known is None:
                first = str(error).split("\n")[0]
                failed.append(f"not true: {sentence} ({type(error).__name__}: {first})")
        else:
            if known is not None:
                failed.append(f"true now, take it off the list: {sentence}")
    said = sentences(r.a)
    failed += [f"no longer said, take it off the list: {s}" for s in wrong if not any(x.startswith(s) for x in said)]
    assert not failed, "\n".join(failed)


def test_every_claim_is_made() -> None:
    said = [s for r in REPORTS.values() for s in sentences(r.a)]
    assert not [pattern for pattern, _ in CLAIMS if not any(re.fullmatch(pattern, s) for s in said)]


#: What a referee struck (defects §5).
STRUCK = (
    "none is an estimate", "in the worst case", "number of rows is public", "the safe value to plan with",
    "reveals a little", "set aside", "guarantee may fail", "without the release it finds", "never touches",
    "strongest belief any answer", "differ by one person are named", "a false record that moves",
    "of 100 people whether", "one of 100 people", "proven from both sides", "can be singled out by two answers",
)  # fmt: skip


@pytest.mark.parametrize("name", REPORTS)
def test_nothing_that_was_struck_is_said(name: str) -> None:
    every = " ".join([REPORTS[name].text, *sentences(REPORTS[name].a)])
    assert not [text for text in STRUCK if text in every]
