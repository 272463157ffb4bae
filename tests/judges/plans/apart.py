"""Planned answers that isolate a person together: an attacker who knows who is in which answer, and nobody's value.

Every record has a public part (who is covered) and a private value, which the others' totals make unknown. What the
attacker can use are combinations of answers to which nobody else adds anything: with weights −1, 0 and 1, all of them
are tried. Such a combination moves by what the person adds to it, under the noises of all its answers, each with its
own scale. The sum of Laplace noises is log-concave, so that the best guess compares it with the middle: it is right
with chance F(shift/2). With normal noise the best of all combinations is known: the movement's part that is orthogonal
to all that the others may add.
"""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from scipy.integrate import quad
from scipy.special import ndtr

import epsilens as el
from epsilens.assessment import assess as whole
from epsilens.assessment.risks import AdversaryRisk, RiskCurve


@dataclass(frozen=True)
class Part:
    """One query about the private columns: a count of those who are ill, or a sum, of those with the public part."""

    total: bool  # a sum of v; else a count of those who are ill
    where: tuple[str, str, float] | None
    by: str | None = None
    epsilon: float = 1.0

    def covers(self, person: dict[str, Any]) -> bool:
        if self.where is None:
            return True
        column, sign, value = self.where
        cell = person[column]
        return bool({"<": cell < value, ">=": cell >= value, "<>": cell != value, "=": cell == value}[sign])

    def words(self) -> dict[str, Any]:
        where = f"{self.where[0]} {self.where[1]} {self.where[2]:g}" if self.where else None
        made: dict[str, Any] = {"epsilon": self.epsilon}
        if self.total:
            made |= {"sum": "v", "bounds": [0.0, 2.0]} | ({"where": where} if where else {})
        else:
            made |= {"count": f"v > 1 AND {where}" if where else "v > 1"}
        return made | ({"by": self.by, "groups": [0.0, 1.0, 2.0]} if self.by else {})


@dataclass(frozen=True)
class Apart:
    """A plan of such queries, and its people: age and site are public, v is private."""

    parts: tuple[Part, ...]
    people: tuple[tuple[float, float, float], ...]
    gaussian: bool

    def words(self) -> dict[str, Any]:
        mechanism: dict[str, Any] = {"noise": "gaussian", "delta": 1e-5} if self.gaussian else {"noise": "laplace"}
        return {
            "data": {"table": "t", "quasi_identifiers": ["age", "site"], "secret": "v > 1"},
            "queries": [p.words() for p in self.parts],
            "mechanism": mechanism,
            "adversary": {"knows": "nothing"},
            "limits": {},
        }

    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(list(self.people), columns=["age", "site", "v"])

    def cells(self) -> list[tuple[Part, float, list[int], float]]:
        """Each published answer: its query, the noise's scale, who may add to it, and what one person can add."""
        made = []
        total = math.fsum(p.epsilon for p in self.parts)
        for part in self.parts:
            reach = 2.0 if part.total else 1.0
            scale = reach / part.epsilon
            if self.gaussian:
                scale = reach / float(el.gaussian(epsilon=part.epsilon, delta=1e-5 * part.epsilon / total).psi())
            for label in (0.0, 1.0, 2.0) if part.by else (None,):
                inside = [
                    i
                    for i, (age, site, _) in enumerate(self.people)
                    if part.covers({"age": age, "site": site})
                    and (label is None or {"age": age, "site": site}[str(part.by)] == label)
                ]
                made.append((part, scale, inside, reach))
        return made

    def truth(self) -> tuple[float, str]:
        """The most an attacker who knows nobody's value guesses right about one person, and how."""
        cells = self.cells()
        return max((self._one(cells, i) for i in range(len(self.people))), default=(0.5, ""))

    def _one(self, cells: list[tuple[Part, float, list[int], float]], target: int) -> tuple[float, str]:
        moves = np.asarray([reach if target in inside else 0.0 for _, _, inside, reach in cells])
        scales = np.asarray([scale for _, scale, _, _ in cells])
        # what another person may add: the same to every sum, and the same to every count, they are in
        free = []
        for other in range(len(self.people)):
            for total in (False, True):
                row = [float(other in inside and part.total is total) for part, _, inside, _ in cells]
                if other != target and any(row):
                    free.append(row)
        if self.gaussian:
            t = moves / scales
            if free:
                axes = (np.asarray(free) / scales).T
                t = t - axes @ np.linalg.lstsq(axes, t, rcond=None)[0]
            return float(ndtr(np.linalg.norm(t) / 2)), f"person {target}"
        best = (0.5, "")
        table = np.asarray(free) if free else np.zeros((1, len(cells)))
        for weights in itertools.product((-1, 0, 1), repeat=len(cells)):
            w = np.asarray(weights)
            shift = float(w @ moves)
            if shift > 0 and not np.any(table @ w):
                right = _right(shift, tuple(sorted(scales[w != 0])))
                best = max(best, (right, f"person {target}, weights {weights}"))
        return best


@lru_cache(maxsize=10_000)
def _right(shift: float, scales: tuple[float, ...]) -> float:
    """F(shift/2) of a sum of Laplace noises, by inversion of their characteristic function."""
    x = shift / 2
    if len(scales) == 1:
        return 1 - math.exp(-x / scales[0]) / 2

    def f(u: float) -> float:
        return math.sin(u * x) / u / math.prod(1 + (b * u) ** 2 for b in scales) if u else x

    return 0.5 + float(quad(f, 0, 400 / min(scales), limit=2000)[0]) / math.pi


def risks_apart(case: Apart) -> tuple[AdversaryRisk, ...]:
    """The risks as epsilens assesses them; the curve of the report is not drawn, to save time."""
    with mock.patch.object(whole, "curve_of", return_value=RiskCurve((), {}, ())):
        return whole.assess(case.words(), table=case.frame()).risks


def make_apart(rng: random.Random) -> Apart:
    """A random plan of two to four such queries on a few people."""
    people = tuple(
        (float(rng.randint(0, 2)), float(rng.randint(0, 2)), float(rng.randint(0, 2))) for _ in range(rng.randint(3, 6))
    )
    parts = []
    same = rng.random() < 0.7
    total = rng.random() < 0.3
    for _ in range(rng.choice((2, 2, 3))):
        where = None
        if rng.random() < 0.7:
            where = (rng.choice(("age", "site")), rng.choice(("<", ">=", "<>", "=")), float(rng.randint(0, 2)))
        parts.append(
            Part(
                total if same else rng.random() < 0.4,
                where,
                rng.choice((None, None, None, "age", "site")),
                rng.choice((0.5, 1.0, 2.0)),
            )
        )
    made = Apart(tuple(parts), people, rng.random() < 0.4)
    if len(made.cells()) > 7:
        return make_apart(rng)
    return made
