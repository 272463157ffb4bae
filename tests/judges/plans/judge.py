"""Every number of an assessment beside what ``cells`` really tells: none may be below it.

:func:`judge_plans` is the judge: plans in which every two words of a plan meet, then random ones. What it judges of
each: the cells of the engine (the definition's, and those of its people added up), all risks with their opposite,
typical, together, recommended and largest, the 95% errors, the promise and the charge with the chance of a name, and of
some the law of what is drawn and published.
"""

from __future__ import annotations

import math
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest import mock

import numpy as np
from scipy.special import ndtr
from tests.judges.plans.errors import missed
from tests.judges.plans.laws import Pair
from tests.judges.plans.plans import Case, covering, frame, make, met_in, pairs, worth
from tests.judges.plans.published import unlike
from tests.judges.plans.worlds import Found, Question, World, Worlds

from epsilens.assessment import assess as whole
from epsilens.assessment.adversaries import Setting
from epsilens.assessment.provenance import plan_guarantee
from epsilens.assessment.risks import AdversaryRisk, RiskCurve, risks_of
from epsilens.data.queries import Noise
from epsilens.errors import EpsilensError
from epsilens.plan.cells import draws_of
from epsilens.plan.contribution import contribution, psi_of
from epsilens.plan.model import Release
from epsilens.publish.release import exact_cells

#: Below this an assessed number is no smaller than the truth, but for rounding.
SLACK = 1e-9
#: What an assessed number may lie above the truth and still be called exact: the bracket of a composition.
BRACKET = 2e-4
#: Some assessments search for minutes; a judge of many plans leaves them, and counts them.
_PATIENCE = 30.0
_READ = {"success", "posterior", "roc", "recall", "attack_success", "delta", "epsilon", "advantage"}


@dataclass(frozen=True)
class Failure:
    """A number that is below the truth, or another fault: what it is about, the two numbers, and the plan."""

    what: str
    stated: float
    truth: float
    case: Case
    detail: str = ""

    def __str__(self) -> str:
        return (
            f"{self.what}: stated {self.stated:.9g}, truth {self.truth:.9g}\n  plan  {self.case.words()}\n"
            f"  table {[tuple(r.values()) for r in self.case.rows][:12]}\n  {self.detail}"
        )


@dataclass
class Tally:
    """What was judged."""

    plans: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    numbers: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    near: set[tuple[str, str]] = field(default_factory=set)  # pairs of words that met in one query
    far: set[tuple[str, str]] = field(default_factory=set)  # and in different queries of one plan
    why: dict[tuple[str, str], str] = field(default_factory=dict)
    reached: Counter[bool] = field(default_factory=Counter)  # of numbers called exact
    laws: int = 0
    slow: list[Case] = field(default_factory=list)

    def below(self, case: Case, what: str, stated: float, truth: float, detail: str = "", slack: float = SLACK) -> None:
        """Count a number, and keep it if it is below the truth."""
        self.numbers[what.split(":")[0]] += 1
        if not stated >= truth - slack:
            self.failures.append(Failure(what, stated, truth, case, detail))

    def holds(self, case: Case, what: str, right: bool, detail: str = "") -> None:
        """Count a yes or no."""
        self.numbers[what.split(":")[0]] += 1
        if not right:
            self.failures.append(Failure(what, 0.0, 1.0, case, detail))

    def __str__(self) -> str:
        every = set(pairs())
        met = (self.near | self.far) & every
        apart = sorted((self.far - self.near) & every)
        missing = sorted(every - met - set(self.why))
        lines = [
            f"plans {self.plans}, refused {sum(self.refused.values())}",
            f"numbers {sum(self.numbers.values()):,}: " + ", ".join(f"{k} {n}" for k, n in self.numbers.most_common()),
            f"pairs of words {len(met)} of {len(every)}: in one query {len(self.near & every)}, only in different "
            f"queries {len(apart)}, that exclude each other {len(self.why)}, not met {len(missing)} "
            f"{missing[:5] or ''}",
            *(f"  {a} and {b}: {said}" for (a, b), said in sorted(self.why.items())),
            f"numbers called exact that a pair of worlds found here reaches: {self.reached[True]} of "
            f"{self.reached.total()}",
            f"releases whose law was compared {self.laws}",
            f"plans left after {_PATIENCE:g} s of processor: {len(self.slow)}",
            *(f"refused {n}: {said}" for said, n in self.refused.most_common(8)),
            f"below the truth, or otherwise wrong: {len(self.failures)}",
        ]
        return "\n".join(lines)


# -- one plan ----------------------------------------------------------------------------------------------------------


def _assessed(case: Case) -> whole.Assessment:
    """As epsilens assesses it; the curve of the report is not drawn, to save time."""
    with mock.patch.object(whole, "curve_of", return_value=RiskCurve((), {}, ())):
        return whole.assess(case.words(), table=frame(case))


def judge_case(case: Case, tally: Tally, seed: int | str = 0, effort: int = 24, law: bool = False) -> None:
    """Judge every number of one plan."""
    tally.plans += 1
    try:
        made = _assessed(case)
    except EpsilensError as error:
        tally.refused[str(error)[:100]] += 1
        return
    near, far = met_in(case)
    tally.near |= near
    tally.far |= far
    plan = made.release
    worlds = Worlds(case, plan, seed, effort)
    _cells(case, plan, worlds, tally)
    _risks(case, plan, made.risks, worlds, tally)
    _typical(case, plan, made, worlds, tally)
    for k, stated in made.together:
        found = worlds.apart(Question.MEMBERSHIP, plan.epsilon, people=k)
        prior = {"prior": plan.adversary.prior}
        truth, who = _worst(found, "success", prior)
        tally.below(case, f"together: {k}", stated, truth, _shown(who))
    _recommended(case, plan, made, worlds, tally)
    for what, stated, truth in missed(case, plan, made.queries):
        tally.below(case, what, stated, truth)
    _promise(case, plan, worlds, tally)
    if law:
        tally.laws += 1
        for said in unlike(case, plan):
            tally.holds(case, "law", False, said)


def _worst(found: Sequence[Found], reading: str, arguments: Mapping[str, float]) -> tuple[float, Found | None]:
    best: tuple[float, Found | None] = (-math.inf, None)
    for one in found:
        value = one.pair.read(reading, dict(arguments))
        if value > best[0]:
            best = value, one
    return best


def _shown(one: Found | None) -> str:
    if one is None:
        return ""

    def rows(world: World) -> str:
        return str([tuple(r.values()) for r in world[:8]]) + (f" and {len(world) - 8} more" if len(world) > 8 else "")

    return f"{one.pair}\n  first {rows(one.first)}\n  second {rows(one.second)}\n  among {rows(one.others)}"


def _cells(case: Case, plan: Release, worlds: Worlds, tally: Tally) -> None:
    """The engine's cells are the definition's, and those of people add up."""
    rows = list(case.rows)
    try:
        stated = exact_cells(plan, frame(case))
    except EpsilensError as error:
        tally.refused[str(error)[:100]] += 1
        return
    tally.holds(case, "cells: engine", stated == worlds.found(rows), f"{stated}\n  {worlds.found(rows)}")
    each: dict[Any, World] = {}
    for k, row in enumerate(rows):
        each.setdefault(k if case.owner is None else row[case.owner], []).append(row)
    if any(one.sizes for one in stated):
        return
    tally.holds(case, "cells: added up", worlds.additive(list(each.values()), lambda table: worlds.found(table)))


# -- risks -------------------------------------------------------------------------------------------------------------


def _question(key: str) -> Question | None:
    if key.startswith(("membership", "reidentification")):
        return Question.MEMBERSHIP
    if key.startswith(("identification", "record")):
        return Question.RECORD
    if key in ("belief", "informed", "informed-guess", "guess", "differencing-known"):
        return Question.SECRET
    return None


def _risks(case: Case, plan: Release, risks: Sequence[AdversaryRisk], worlds: Worlds, tally: Tally) -> None:
    for risk in risks:
        what = f"{risk.key}: {risk.reading}{dict(risk.arguments)}"
        if risk.key == "differencing-noisy":
            tally.below(case, what, risk.planned, _twice(plan, worlds))
        elif risk.key == "correlated":
            found = worlds.told(list(related(case, worlds)), _draws(plan, plan.epsilon))
            found += worlds.apart(Question.SECRET, plan.epsilon)  # who knows the relatives learns no less
            truth, who = _worst(found, risk.reading, risk.arguments)
            tally.below(case, what, risk.planned, truth, _shown(who))
        question = _question(risk.key)
        if question is None or risk.reading not in _READ:
            continue
        found = worlds.apart(question, plan.epsilon)
        truth, who = _worst(found, risk.reading, risk.arguments)
        tally.below(case, what, risk.planned, truth, _shown(who))
        if risk.exact and math.isfinite(risk.planned):
            tally.reached[risk.planned - truth <= BRACKET] += 1
        if risk.opposite is not None:
            turned = [one.pair.turned.posterior(1 - risk.arguments["prior"]) for one in found]
            tally.below(case, f"opposite: {risk.key}", risk.opposite, max(turned, default=0.0))


def _draws(plan: Release, epsilon: float) -> list[Any]:
    return [draws_of(plan, i, epsilon) for i in range(len(plan.queries))]


def _twice(plan: Release, worlds: Worlds) -> float:
    """One query asked twice, half of its ε each, by the number that moves farthest, or by its names: a lower bound."""
    best = 0.5
    for i, share in enumerate(plan.shares):
        draws = _draws(plan, plan.epsilon)
        part = share * contribution(plan, i).part(next(iter(draws[i])))
        for one in worlds.told(worlds.asked(Question.SECRET), draws, only={i}):
            t, names = one.pair.t, Pair((), False, one.pair.q0, one.pair.q1)
            best = max(best, names.success())
            if t and plan.mechanism.noise is Noise.LAPLACE:
                x = t[0] / 4  # noises of twice the scale; the middle of the movement
                best = max(best, 1 - math.exp(-x) * (1 + x / 2) / 2)
            elif t and plan.queries[i].touched is None:
                delta = plan.mechanism.delta or 0.0
                half = psi_of(plan.epsilon * part / 2, delta * part / 2) / psi_of(plan.epsilon * part, delta * part)
                best = max(best, float(ndtr(t[0] * half / math.sqrt(2) / 2)))
    return best


def related(case: Case, worlds: Worlds) -> Iterator[tuple[World, World]]:
    """A person and one whose value goes with theirs: both move, the other by ρ times as far, all else being known.

    Jointly normal values with a spread that is small beside the noise: what one knows of the relative is then their
    regression on the person. Values stay within the domain, which bounds do not cut more than once.
    """
    rho = case.correlation or 0.0
    told = [n for n in ("v", "w") if n in case.told]
    for _ in range(worlds.effort):
        target = [r for r in worlds.person() if all(r[n] is not None for n in told)]
        relative = [{**r, "who": r["who"] + 5000000, "home": f"relative of {r['home']}"} for r in target]
        ends = {n: (min(k), max(k)) for n in told if (k := [x for x in case.domain[n] if isinstance(x, float)])}
        turn, start = worlds.rng.random() < 0.5, worlds.rng.choice((0.0, 0.5, 1.0))
        sides = []
        for side in (0, 1):
            far = side if turn else 1 - side
            own = {n: low if far == 0 else high for n, (low, high) in ends.items()}
            near = {n: low + (high - low) * ((1 - rho) * start + rho * far) for n, (low, high) in ends.items()}
            sides.append([{**r, **own} for r in target] + [{**r, **near} for r in relative])
        if target and ends and (case.secret is None or (not worlds.has(sides[0][:1]) and worlds.has(sides[1][:1]))):
            yield sides[0], sides[1]


# -- people as they are ------------------------------------------------------------------------------------------------


def _typical(case: Case, plan: Release, made: whole.Assessment, worlds: Worlds, tally: Tally) -> None:
    """Each person of the table left out: the numbers they move and the names that are theirs alone."""
    if made.typical is None:
        return
    rows = list(case.rows)
    owners = list(range(len(rows))) if case.owner is None else sorted({r[case.owner] for r in rows})
    if made.typical.people != len(owners):
        tally.holds(case, "typical: people", False, f"{made.typical.people} of {len(owners)}")
        return
    draws, found = _draws(plan, plan.epsilon), []
    for one in owners:
        own = [k for k, r in enumerate(rows) if (k if case.owner is None else r[case.owner]) == one]
        mine, rest = [rows[k] for k in own], [r for k, r in enumerate(rows) if k not in own]
        try:
            pair = worlds.between([], mine, rest, draws)
        except EpsilensError:
            return
        found.append(0.5 if pair is None else pair.success(plan.adversary.prior))
    for name in ("median", "mean", "largest"):
        truth = {"median": float(np.median(found)), "mean": float(np.mean(found)), "largest": max(found)}[name]
        tally.below(case, f"typical: {name}", getattr(made.typical, name), truth)


# -- what is advised -------------------------------------------------------------------------------------------------


def _at(plan: Release, epsilon: float) -> Release:
    same = plan.shared(plan.shares)
    return same.model_copy(update={"mechanism": same.mechanism.model_copy(update={"epsilon": epsilon})})


def _recommended(case: Case, plan: Release, made: whole.Assessment, worlds: Worlds, tally: Tally) -> None:
    advised = made.recommended
    if advised is not None and advised > 0:
        setting = Setting(_at(plan, advised), made.scan, made.relations)
        for risk in risks_of(setting)[0]:
            if risk.limit is not None:
                tally.below(case, f"recommended: {risk.key}", risk.limit, risk.planned, f"at {advised:g}", 1e-7)
                question = _question(risk.key)
                if question is not None and risk.reading in _READ:
                    truth, who = _worst(worlds.apart(question, advised), risk.reading, risk.arguments)
                    tally.below(
                        case, f"recommended: {risk.key}", risk.limit, truth, f"at {advised:g} {_shown(who)}", 1e-7
                    )
    fixed = any(isinstance(q.threshold, float) for q in plan.queries)
    for risk in made.risks:
        if risk.limit is None or not risk.largest or not 0 < risk.largest < 700:
            continue
        question = _question(risk.key)
        if question is not None and risk.reading in _READ:
            truth, who = _worst(worlds.apart(question, risk.largest), risk.reading, risk.arguments)
            tally.below(case, f"largest: {risk.key}", risk.limit, truth, f"at {risk.largest:g} {_shown(who)}", 1e-7)
        if not fixed:
            setting = Setting(_at(plan, risk.largest * 1.002), made.scan, made.relations)
            with mock.patch("epsilens.assessment.risks._largest", return_value=0.0):
                beyond = {r.key: r.planned for r in risks_of(setting)[0]}
            tally.holds(case, "largest: no larger", beyond.get(risk.key, 1.0) > risk.limit - 1e-4,
                        f"{risk.key} at {risk.largest:g} × 1.002 is {beyond.get(risk.key)}")  # fmt: skip


def _promise(case: Case, plan: Release, worlds: Worlds, tally: Tally) -> None:
    """What is promised and charged covers every pair of worlds, the chance of a name first."""
    promise = plan_guarantee(plan)
    found = worlds.apart(Question.MEMBERSHIP, plan.epsilon)
    for one in found:
        pair = one.pair
        named = max(pair.q0, pair.q1)
        tally.below(case, "promise: delta", promise.delta, named, _shown(one), 1e-12)
        tally.below(case, "promise: success", promise.success, pair.success(), _shown(one))
        charge = promise.charge
        if math.isfinite(charge.epsilon):
            tally.below(case, "charge: slack", charge.slack, pair.delta(charge.epsilon), _shown(one))
        if pair.gaussian:
            tally.below(case, "charge: psi", charge.psi, math.hypot(*pair.t), _shown(one))


# -- many --------------------------------------------------------------------------------------------------------------


def _smaller(case: Case) -> Iterator[Case]:
    for i in range(len(case.asks)):
        if len(case.asks) > 1:
            rest = case.asks[:i] + case.asks[i + 1 :]
            yield replace(case, asks=tuple(replace(a, epsilon=None, share=None) for a in rest))
    changes: tuple[dict[str, Any], ...] = (
        {"limits": {}}, {"adversary": {}}, {"quasi": ()}, {"also": ()}, {"correlation": None}, {"read": False},
        {"version": None}, {"split": False}, {"noise": "laplace", "delta": None}, {"replace": False},
        {"max_groups": None}, {"max_rows": 1}, {"unit": False, "person": True}, {"secret": None},
        {"rows": case.rows[: len(case.rows) // 2]},
    )  # fmt: skip
    for change in changes:
        if any(getattr(case, name) != value for name, value in change.items()):
            yield replace(case, **change)
    for i, ask in enumerate(case.asks):
        for changed in (
            replace(ask, where=None), replace(ask, sql=False), replace(ask, epsilon=None, share=None),
            replace(ask, by=ask.by[:1], groups=None) if len(ask.by) > 1 else ask,
        ):  # fmt: skip
            if changed != ask:
                yield replace(case, asks=(*case.asks[:i], changed, *case.asks[i + 1 :]))


def shrunk(failure: Failure, seed: int | str, effort: int = 24, seconds: float = 20.0) -> Failure:
    """The smallest plan found in some time that shows the same."""
    best, kind, going, until = failure, failure.what.split(":")[0], True, time.monotonic() + seconds
    while going:
        going = False
        for smaller in _smaller(best.case):
            if time.monotonic() > until:
                break
            tally = Tally()
            try:
                judge_case(smaller, tally, seed, effort, law=kind == "law")
            except Exception:
                continue
            shows = [f for f in tally.failures if f.what.split(":")[0] == kind]
            if shows and worth(shows[0].case) < worth(best.case):
                best, going = shows[0], True
                break
    return best


class _Slow(BaseException):
    """Too long for one plan."""


@contextmanager
def _patience() -> Iterator[None]:
    """Leaves after some seconds of processor, where signals can be had."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(*_: object) -> None:
        raise _Slow

    before = signal.signal(signal.SIGPROF, leave)
    signal.setitimer(signal.ITIMER_PROF, _PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def judge_plans(
    seed: int | str = 0, seconds: float = 60.0, *, only: str = "", effort: int = 24, laws: int = 3,
    tell: Callable[[str], object] | None = None, stop: bool = False, tally: Tally | None = None,
) -> list[Failure]:  # fmt: skip
    """Judge plans until the time is over: first those in which every two words meet, in a random order, then others.

    Returns what is below the truth, or otherwise wrong; ``tally`` counts what was judged. ``stop`` ends at the first;
    ``only`` asks for plans that have this word.
    """
    begun, tally, rng = time.monotonic(), Tally() if tally is None else tally, random.Random(seed)
    cases, tally.why = covering(rng)
    rng.shuffle(cases)
    number = 0
    while time.monotonic() - begun < seconds and not (stop and tally.failures):
        case = cases[number] if number < len(cases) else make(rng)
        before = len(tally.failures)
        number += 1
        if only and not any(only in pair for pair in met_in(case)[0]):
            continue
        try:
            with _patience():
                every = max(len(cases) // max(laws, 1), 1)
                judge_case(case, tally, f"{seed} {number}", effort, law=number % every == 0)
        except _Slow:
            tally.slow.append(case)
        except Exception as error:
            tally.failures.append(Failure(f"crash: {error!r}", 0.0, 1.0, case))
        for failure in tally.failures[before:][:1] if tell else ():
            assert tell
            tell(f"\nplan {number} of seed {seed}: {shrunk(failure, f'{seed} {number}', effort)}\n")
    return tally.failures
