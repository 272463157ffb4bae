"""Every sentence of an audit is held against something other than the code that wrote it.

Audits of mechanisms whose truth is known are cut into sentences; each must fit exactly one entry of ``CLAIMS``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import beta, norm

import epsilens as el
from epsilens.auditing.canaries import Canaries
from epsilens.auditing.result import Audit, AuditVerdict, FindingKind
from epsilens.show.audit import event, present
from epsilens.show.charts.findings import band_chart
from epsilens.show.document import Lead, Notes, Paragraph, Status, flat

Match = re.Match[str]


@dataclass
class Counted:
    """A mechanism that remembers what it was asked and what it answered: the truth, by hand."""

    answer: Callable[[Any, np.random.Generator], Any]
    calls: list[tuple[Any, Any]] = field(default_factory=list)
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(11))

    def __call__(self, d: Any) -> Any:
        try:
            got = self.answer(d, self.rng)
        except ArithmeticError:
            self.calls.append((d, "failed"))
            raise
        self.calls.append((d, got))
        return got


@dataclass
class Case:
    """An audit, the mechanism's own record, and its true ε, μ and success."""

    found: Audit
    calls: list[tuple[Any, Any]]
    epsilon: float
    mu: float
    success: float


def coarse(scale: float) -> Callable[[Any, np.random.Generator], float]:
    return lambda d, rng: float(d + np.round(rng.laplace(0, scale) * 2**20) / 2**20)


def nothing(d: Any, rng: np.random.Generator) -> int:
    return 7


def fails(d: int, rng: np.random.Generator) -> float:
    return 1 / d


@cache
def case(name: str) -> Case:
    half = math.exp(-0.5) / 2
    mechanism, truth, arguments = {
        "kept": (coarse(1.0), (1.0, 1.0301, 1 - half), {"claim": 1.0, "runs": 2000}),
        "fixed size": (
            coarse(1.0), (1.0, 1.0301, 1 - half), {"claim": el.laplace(epsilon=1.0), "runs": 2000, "sequential": False}
        ),
        "broken": (coarse(0.5), (2.0, 1.8, 1 - math.exp(-1) / 2), {"claim": 1.0, "runs": 2000}),
        "curve": (
            lambda d, rng: int(rng.random() < expit(2 * d - 1)), (1.0, 1.233, float(expit(1.0))),
            {"claim": el.laplace(epsilon=1.0), "runs": 20_000},
        ),
        "bare": (coarse(1.0), (1.0, 1.0301, 1 - half), {"claim": (2.0, 1e-5), "runs": 1000}),
        "same": (nothing, (0.0, 0.0, 0.5), {"claim": 1.0, "runs": 100}),
        "fails": (fails, (math.inf, math.inf, 1.0), {"claim": 1.0, "runs": 100}),
        "few": (coarse(1.0), (1.0, 1.0301, 1 - half), {"claim": 4.0, "runs": 50}),
    }[name]  # fmt: skip
    counted = Counted(mechanism)
    found = el.audit(counted, 0, 1, seed=5, **arguments)  # type: ignore[arg-type]
    return Case(found, counted.calls, *truth)


@cache
def trained() -> Case:
    canaries = Canaries(500, seed=4)
    scores = np.random.default_rng(12).normal(size=500) + 4.0 * canaries.included
    return Case(canaries.audit(scores, claim="mu=1"), [], math.inf, 4.0, float(norm.cdf(2.0)))


NAMES = ("kept", "fixed size", "broken", "curve", "bare", "same", "fails", "few")
CASES: dict[str, Callable[[], Case]] = {name: partial(case, name) for name in NAMES} | {"canaries": trained}


def sentences(found: Audit) -> Iterator[str]:
    document = present(found)
    for block in (*document.opening, *(b for section in document.sections for b in section.blocks)):
        told: tuple[str, ...] = ()
        match block:
            case Lead():
                told = tuple(flat(p) for p in block.paragraphs)
            case Status():
                told = (block.text,)
            case Paragraph():
                told = (flat(block.said),)
            case Notes():
                told = block.items
        for text in told:
            yield from re.split(r"(?<=[.!?])\s+(?=[A-Z])", text)


def bound(c: Case, m: Match) -> None:
    """The bound is told no larger than it is, and is below the truth."""
    assert float(m["low"]) <= c.found.epsilon_lo <= c.epsilon + 1e-9
    assert float(m["claimed"]) >= c.found.claimed["epsilon"] - 1e-12


def broken(c: Case, m: Match) -> None:
    bound(c, m)
    assert c.found.verdict is AuditVerdict.VIOLATION
    assert c.epsilon > float(m["claimed"])


def broken_curve(c: Case, m: Match) -> None:
    """ε is kept, and yet no mechanism that keeps the claim is guessed right so often."""
    bound(c, m)
    assert c.found.verdict is AuditVerdict.VIOLATION
    assert c.success > c.found.claimed["success"]


def broken_mu(c: Case, m: Match) -> None:
    """μ is told no larger than it is, is below the truth, and above what is claimed, though ε is not."""
    assert c.found.verdict is AuditVerdict.VIOLATION
    assert c.found.epsilon_lo <= c.found.claimed["epsilon"]
    assert c.found.mu_lo is not None
    assert float(m["low"]) <= c.found.mu_lo <= c.mu + 1e-9
    assert c.found.mu_lo > c.found.claimed["mu"]
    assert float(m["claimed"]) >= c.found.claimed["mu"] - 1e-12


def status(c: Case, m: Match) -> None:
    assert m[1] == c.found.verdict
    excess = c.epsilon > c.found.claimed["epsilon"] or c.success > c.found.claimed.get("success", 1.0)
    assert (c.found.verdict is AuditVerdict.VIOLATION) == excess


def named(c: Case, m: Match) -> None:
    seen = c.found.event
    assert seen is not None
    assert event(seen) in m.string


def pair(c: Case, m: Match) -> None:
    assert {d for d, _ in c.calls} == {0, 1}
    assert (m[1], m[2]) == ("0", "1")


def says_nothing(c: Case, m: Match) -> None:
    bound(c, m)
    answers = {got for _, got in c.calls}
    assert m["why"] == ("which all gave the same answer" if len(answers) == 1 else "which could not have refuted it")


def spoke(c: Case, m: Match) -> None:
    runs, guesses, right = (1 if v == "once" else int(v.replace(",", "").split()[0]) for v in m.groups())
    assert right <= guesses <= runs <= len(c.calls)
    pilot = 600 if not c.found.sequential else 10
    assert runs == len(c.calls) - pilot


def most(c: Case, m: Match) -> None:
    """Never more than the bound of as many right guesses counted once: logit α^{1/n}."""
    n = len(c.calls) or 500
    top = float(beta.ppf(0.05, n, 1))
    assert float(m[1]) <= math.log(top / (1 - top)) + 1e-9


def canaries_guessed(c: Case, m: Match) -> None:
    assert int(m[1]) == 500
    assert int(m[3]) <= int(m[2]) <= 500


def programme(c: Case, m: Match) -> None:
    assert float(m[1]) <= float(m[2]) * 1.02
    assert c.found.exact is not None
    assert c.found.exact <= float(m[1])


def failed(c: Case, m: Match) -> None:
    zero = sum(d == 0 and got == "failed" for d, got in c.calls)
    assert int(m[2].split()[0]) == zero
    assert m[1] == "ZeroDivisionError"
    assert m[3] == "0 times"


def same(c: Case, m: Match) -> None:
    assert {got for _, got in c.calls} == {7}


def one_answer(c: Case, m: Match) -> None:
    for side in (0, 1):
        assert len({got for d, got in c.calls if d == side}) == 1


def of(finding: FindingKind) -> Callable[[Case, Match], None]:
    return lambda c, m: None if c.found.has(finding) else pytest.fail(str(finding))


def sequential(c: Case, m: Match) -> None:
    assert c.found.sequential


def fixed(c: Case, m: Match) -> None:
    assert len(c.calls) == c.found.budget == 2000


def general(c: Case, m: Match) -> None:
    """True of every audit: a lower bound on one pair is one of the worst pair, never the other way round."""


def refuting(c: Case, m: Match) -> None:
    assert c.found.refuted
    assert c.found.event is not None


def below(c: Case, m: Match) -> None:
    assert all(low <= delta for _, delta, low in c.found.band)


NUMBER = r"[\d.]+(?:e-?\d+)?"
LOW = rf"ε is at least (?P<low>{NUMBER})(?: at δ = {NUMBER})?"
CLAIMED = rf"(?P<claimed>{NUMBER}) is claimed"
RUNS = r"(?:[\d,]+ runs?|one run with 500 canaries)"
CLAIMS: list[tuple[str, Callable[[Case, Match], Any]]] = [
    (rf"The claim is broken: {LOW}, {CLAIMED} \(95% confidence, {RUNS}\)\.", broken),
    (
        rf"The claim is broken: μ is at least (?P<low>{NUMBER}), {CLAIMED} \(95% confidence, {RUNS}\)\.",
        broken_mu,
    ),
    (
        rf"The claim is broken: no mechanism that keeps it gives such answers \(95% confidence, {RUNS}\); {LOW}, "
        rf"{CLAIMED}\.",
        broken_curve,
    ),
    (rf"No violation was found in {RUNS}: {LOW} at 95% confidence, {CLAIMED}\.", bound),
    (rf"Nothing can be said of the claim from {RUNS}, (?P<why>[^:]*): {LOW}, {CLAIMED}\.", says_nothing),
    (r"(VIOLATION|CONSISTENT|INCONCLUSIVE): the runs .*", status),
    (r"The attacker names the (?:first|second) input where .*\.", named),
    (r"The attacker calls in the canaries that score at least .*, out those that score at most .*\.", named),
    (r"The first input is (.+), the second (.+)\.", pair),
    (
        r"On ([\d,]+) runs (?:the attacker, who had learnt from earlier ones,|that did not choose the event, the "
        r"attacker) spoke (once|[\d,]+ times) and was right (once|[\d,]+ times)\.",
        spoke,
    ),
    (rf"Had every guess been right, {RUNS} would have shown ε to be at least ({NUMBER}), and no more\.", most),
    (r"Of (\d+) canaries (\d+) were guessed, (\d+) rightly\.", canaries_guessed),
    (rf"The claim allows so many right guesses with probability ({NUMBER}) at most, .* says ({NUMBER})\.", programme),
    (r"How many canaries were guessed was fixed beforehand; their noise may depend on each other\.", general),
    (r"It failed with (\w+) (once|[\d,]+ times) on the first input and (once|[\d,]+ times) on the second\.", failed),
    (r"Every run gave the same answer, .*", same),
    (r"Each input always has its one answer: there is no noise, or its seed is fixed\.", one_answer),
    (r"Answers came in \d+ types, shapes or sets of keys\.", of(FindingKind.KINDS)),
    (r"A bare \(ε, δ\) can hardly be tested: .*", of(FindingKind.BARE)),
    (r"No result of so few runs could have refuted the claim: give more\.", of(FindingKind.FEW)),
    (r"One may stop such an audit at any time: the confidence holds\.", sequential),
    (r"The number of runs was fixed beforehand; three of ten chose the event\.", fixed),
    (r"Thick line: what the runs show δ to be at least, at all ε at once\.", general),
    (r"Thin line: what is claimed\.", general),
    (r"The event below refutes the claim\.", refuting),
    (r"The thick line holds at all ε at once, .*", below),
    (r"A bound from below is no guarantee: .*", general),
]


@pytest.mark.parametrize("name", CASES)
def test_every_sentence_is_true(name: str) -> None:
    c = CASES[name]()
    for text in sentences(c.found):
        fitting = [(m, check) for pattern, check in CLAIMS if (m := re.fullmatch(pattern, text))]
        assert len(fitting) == 1, text
        fitting[0][1](c, fitting[0][0])


@pytest.mark.always(6)
@pytest.mark.parametrize("name", CASES)
def test_the_bounds_are_below_the_truth(name: str) -> None:
    c = CASES[name]()
    assert c.found.epsilon_lo <= c.epsilon + 1e-9
    assert c.found.mu_lo is None or c.found.mu_lo <= c.mu + 1e-9
    assert c.found.success_lo is None or c.found.success_lo <= c.success + 1e-9


@pytest.mark.parametrize("name", CASES)
def test_every_form_is_written(name: str) -> None:
    found = CASES[name]().found
    for form in (found.to_text(), found.to_markdown(), found.to_html(), found.to_html_fragment(), found.to_terminal()):
        assert str(found.verdict) in form
    assert found.to_dict()["sentence"] == found.sentence
    assert "guarantee" in found.to_text()


def test_the_chart_holds_the_claimed_curve_and_the_band() -> None:
    found = case("kept").found
    chart = band_chart(found)
    assert chart is not None
    rows = [row for row in chart.data if row["series"] == "claimed, at most"]
    for row in rows:  # of a pure claim: (e − e^ε)/(1 + e)
        assert row["y"] / 100 == pytest.approx((math.e - math.exp(row["x"])) / (1 + math.e), abs=1e-9)
    assert band_chart(trained().found) is None


def test_an_event_in_words() -> None:
    rng = np.random.default_rng(3)
    found = el.audit(lambda d: float(d + rng.laplace(0, 1)), 0.0, 1.0, claim=1.0, seed=2)
    assert "not a multiple of 2⁻⁵³" in " ".join(found.to_text().split())


def test_a_chart_below_the_claim_is_explained() -> None:
    generator = np.random.default_rng(1)
    told = el.audit(lambda x: x + generator.laplace(0, 0.5), 0.0, 1.0, claim="epsilon=1")
    assert told.verdict.name == "VIOLATION"
    assert not any(low > delta for _, delta, low in told.band)
    assert "The event below refutes the claim" in told.to_html()  # few runs: the event tells before the line does
