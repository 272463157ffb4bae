"""The faults of defects.md §1 put back, each by itself: what the judge must find. ``with FAULTS["1.1"](): ...``"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any
from unittest import mock

from tests.judges.plans.worlds import listed_with

from epsilens.assessment import adversaries, assess, risks
from epsilens.assessment.risks import RiskLimit
from epsilens.assessment.worst_case import WorstCase, movement_pair
from epsilens.plan import answers, cells, movement, plain_cells, scan_plan
from epsilens.plan.cells import Draw, draws_of
from epsilens.plan.contribution import contribution
from epsilens.plan.model import Release
from epsilens.plan.movement import AdversaryQuestion, CorrelationFactor, Movements, movements


@contextmanager
def rewritten(module: ModuleType, name: str, old: str, new: str) -> Iterator[None]:
    """A function of a module with some of its text exchanged."""
    function = getattr(module, name)
    text = inspect.getsource(function)
    if old not in text:
        raise AssertionError(f"{module.__name__}.{name} has no {old!r} any more: write the fault anew")
    made: dict[str, Any] = {}
    exec(compile("from __future__ import annotations\n" + text.replace(old, new), "fault", "exec"), vars(module), made)
    with mock.patch.object(module, name, made[name]):
        yield


@contextmanager
def names_of_nobody() -> Iterator[None]:
    """1.1: a group all of whose rows were dropped keeps its name, with a count of 0."""
    with ExitStack() as both:
        both.enter_context(rewritten(cells, "cells", "if need.public or tally.owners", "if True"))
        both.enter_context(
            rewritten(
                plain_cells, "numbers", "sorted(inside,", "sorted({label(r, by) for r in rows if covers(r) is True},"
            )
        )
        yield


@contextmanager
def secret_in_the_hash() -> Iterator[None]:
    """1.2: the columns that tell the secret decide which rows are kept."""
    honest = scan_plan.content_columns

    def content_of(of: Sequence[scan_plan.Need]) -> tuple[list[str], list[str]]:
        content, beside = honest(of)
        return [*content, *beside], []

    with ExitStack() as all_:
        for module in (cells, answers, risks):
            all_.enter_context(mock.patch.object(module, "content_columns", content_of))
        yield


@contextmanager
def all_in_one_group() -> Iterator[None]:
    """1.3: k people together are all in one group, never each in their own."""

    def together_of(plan: Release, epsilon: float) -> tuple[tuple[int, float], ...]:
        made = []
        for k in (2, 5, 10):
            found = []
            for each in movements(plan, AdversaryQuestion.MEMBERSHIP).each:
                moves = tuple(replace(m, amount=k * m.amount) for m in each.moves)
                one = movement_pair(plan, replace(each, moves=moves, alone=()), epsilon)
                hidden = [0.0, 0.0]
                for i, *alone in each.alone:
                    draws = draws_of(plan, i, epsilon).values()
                    decides = next((d for d in draws if d.threshold is not None), Draw(plan.mechanism.noise, 1.0))
                    chance = listed_with(decides, k * contribution(plan, i).owner_size)
                    for world, places in enumerate(alone):
                        hidden[world] += places * math.log1p(-min(chance, 1 - 1e-12))
                first, second = (-math.expm1(h) for h in hidden)
                base = one or movement_pair(plan, each, epsilon)
                if base is not None:
                    moved = base if one is not None else replace(base, shifts=(), psi=0.0)
                    found.append(replace(moved, first=first, second=second))
            made.append((k, WorstCase(tuple(found)).read("success", {"prior": plan.adversary.prior})))
        return tuple(made)

    with mock.patch.object(assess, "group_risks", together_of):
        yield


@contextmanager
def one_answer_of_relatives() -> Iterator[None]:
    """1.4: of related people one answer is read, the one that seems to tell most, without its names."""
    honest = movement.correlated_movements

    def correlated_movements(plan: Release, found: tuple[CorrelationFactor, ...]) -> Movements:
        whole = honest(plan, found)
        most = max(found, key=lambda r: r.swing * plan.shares[r.query])
        return replace(whole, each=tuple(replace(m.only({most.query}), alone=()) for m in whole.each))

    with mock.patch.object(adversaries, "correlated_movements", correlated_movements):
        yield


@contextmanager
def advice_not_read_again() -> Iterator[None]:
    """1.5: the smallest of the largest ε is recommended, whatever it does to the other limits."""
    honest = risks.limits_on_risk

    def limits_of(*given: Any) -> tuple[RiskLimit, ...]:
        return tuple(replace(one, monotone=True, over=lambda _: False) for one in honest(*given))

    with mock.patch.object(assess, "limits_on_risk", limits_of):
        yield


@contextmanager
def nobody_alone() -> Iterator[None]:
    """1.6: of people as they are the numbers they move are read, not the names that exist because of them."""

    def people_of(*given: Any, **more: Any) -> tuple[risks.SampledPerson, ...]:
        return risks.sample_people(*given, **{k: v for k, v in more.items() if k != "answers"})

    with mock.patch.object(assess, "sample_people", people_of):
        yield


FAULTS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "1.1": names_of_nobody,
    "1.2": secret_in_the_hash,
    "1.3": all_in_one_group,
    "1.4": one_answer_of_relatives,
    "1.5": advice_not_read_again,
    "1.6": nobody_alone,
}
