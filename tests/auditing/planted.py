"""Bugs planted in our own release: each patches one step of it, as people get that step wrong.

Each case has a plan that claims ε = 1 and the pair of tables on which the bug shows. ``sheet`` is the mean number of
runs after which a sequential audit with a prototype found it (``reference/auditing-2.md``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from epsilens.auditing.pairs import MadeUpRows, NeighbourTables, PairKind, plan_pairs
from epsilens.auditing.pipelines import ReleaseSource, plan_claim, secret_claim
from epsilens.auditing.result import ClaimLines, claim_of
from epsilens.plan import answers, cells, scan_plan
from epsilens.plan.contribution import NoisyNumber
from epsilens.plan.file import read_release
from epsilens.publish import answers as published
from epsilens.publish import release
from epsilens.publish.answers import Drawing

Patch = pytest.MonkeyPatch

TABLE = pa.table({"who": [1, 2], "home": [1, 1], "site": ["a", "b"], "x": [1.0, 2.0], "v": [0.0, 1.0]})
ONE = {"table": "t", "person": "who"}


def plan(*queries: dict[str, Any], **data: Any) -> dict[str, Any]:
    return {"data": {**ONE, **data}, "queries": list(queries), "mechanism": {"epsilon": 1.0}}


COUNT = plan({"count": True})
TWO_COUNTS = plan({"count": True}, {"count": True, "name": "again"})
SUM = plan({"sum": "x", "bounds": [0, 8]})
SUM_BY_SITE = plan({"sum": "x", "bounds": [0, 8], "by": "site", "groups": ["a", "b", "c"]})
NARROW = plan({"average": "x", "bounds": [1000, 1000.001]})
BY_SITE = plan({"count": True, "by": "site", "groups": ["a", "b", "c"]})
AVERAGE_BY_SITE = plan({"average": "x", "bounds": [0, 8], "by": "site", "groups": ["a", "b", "c"]})
NAMES = plan({"count": True, "by": "site", "threshold": 20})
LOW_NAMES = plan({"count": True, "by": "site", "threshold": 4})
AVERAGES = plan({"average": "x", "bounds": [0, 8], "by": "site", "threshold": 10})
HOMES = plan({"count": True, "by": "site", "threshold": 4}, unit="home")
SECRET = {
    **plan({"sum": "x", "bounds": [0, 8]}, {"sum": "v", "bounds": [0, 1]}, secret="v > 0"),
    "mechanism": {"epsilon": 4.0},
}


# -- the bugs ---------------------------------------------------------------------------------------------------------


def _scaled(patch: Patch, scale: Callable[[Drawing], float], threshold: float | None = None) -> None:
    """Noise of another scale, or names from another threshold on, than what was checked."""

    def measurement(self: Drawing) -> Any:
        at = self.names if threshold is None or self.names is None else threshold
        return published._measurement(self.noise, self.scale * scale(self), at)

    patch.setattr(Drawing, "_measurement", property(measurement))


def halved(patch: Patch) -> None:
    _scaled(patch, lambda drawing: 0.5)


def halved_in_one(patch: Patch) -> None:
    _scaled(patch, lambda drawing: 0.5 if drawing.query == 0 else 1.0)


def no_limits(patch: Patch) -> None:
    patch.setattr(answers.TableAnswers, "_biting", lambda *given: {})


def label_leak(patch: Patch) -> None:
    def all_of_them(self: Drawing, labels: Any, exact: Any) -> dict[int, float]:
        plain = replace(self, names=None, delta=0.0)
        return dict(enumerate(plain.draw(exact)))

    patch.setattr(Drawing, "draw_names", all_of_them)


def low_threshold(patch: Patch) -> None:
    _scaled(patch, lambda drawing: 1.0, threshold=3.0)


def float_sum(patch: Patch) -> None:
    """Half precision: the sum of values near 1000 is rounded far more coarsely than the bounds are apart."""
    honest = cells._number

    def rounded(need: Any, tally: Any, noisy: NoisyNumber) -> Fraction:
        if noisy is not NoisyNumber.TOTAL:
            return honest(need, tally, noisy)
        low, high = need.query.bounds
        total = Fraction(float(np.float16(float(tally.added)))) - tally.kept * Fraction(low / 2 + high / 2)
        return Fraction(total / cells._steps(need).size)

    patch.setattr(cells, "_number", rounded)


def float_noise(patch: Patch) -> None:
    """numpy's Laplace noise, and answers that are not rounded."""
    rng = np.random.default_rng()

    def draw(self: Drawing, exact: Any) -> list[float]:
        return [float(n) * float(self.unit) + rng.laplace(0, self.plain_scale) for n in exact]

    patch.setattr(Drawing, "draw", draw)
    patch.setattr(published, "round", lambda value, digits: value, raising=False)


def true_size(patch: Patch) -> None:
    honest = published._draw_query

    def divided(one: Any, drawings: Any) -> Any:
        made = honest(one, drawings)
        if NoisyNumber.SIZE in one.numbers:
            exact = {NoisyNumber.SIZE: [float(n) for n in one.numbers[NoisyNumber.SIZE]]}
            made = replace(made, numbers={**made.numbers, **exact})
        return made

    patch.setattr(published, "_draw_query", divided)


def per_row(patch: Patch) -> None:
    """Each row gets its noise before rows are grouped: a group's number has as many draws in it as it has rows."""

    def draw(self: Drawing, exact: Any) -> list[float]:
        made = []
        for n in exact:
            noise = sum(list(self._measurement([0.0] * int(n)))) if n else 0.0
            made.append((float(n) + noise) * float(self.unit))
        return made

    patch.setattr(Drawing, "draw", draw)


def fixed_seed(patch: Patch) -> None:
    def draw(self: Drawing, exact: Any) -> list[float]:
        rng = np.random.default_rng(7)
        return [(float(n) + rng.laplace(0, self.scale)) * float(self.unit) for n in exact]

    patch.setattr(Drawing, "draw", draw)


def same_noise(patch: Patch) -> None:
    """One draw for all numbers of a release; their difference is exact. The person is in one of the two numbers."""
    state: dict[int, float] = {}
    rng = np.random.default_rng()

    def draw(self: Drawing, exact: Any) -> list[float]:
        shared = rng.laplace(0, self.scale) if self.query == 0 or 0 not in state else state[0]
        state[0] = shared
        return [(float(n) + shared) * float(self.unit) for n in exact]

    patch.setattr(Drawing, "draw", draw)


def before_grouping(patch: Patch) -> None:
    """Noise on the total, which is then shared out among the groups by their true sizes."""

    def draw(self: Drawing, exact: Any) -> list[float]:
        total = sum(exact)
        (noisy,) = list(self._measurement([float(total)]))
        return [noisy * float(n / total) * float(self.unit) if total else 0.0 for n in exact]

    patch.setattr(Drawing, "draw", draw)


def clamped_after(patch: Patch) -> None:
    """Values go in as they are; the answer is cut to the bounds of a sum of 50 rows."""
    honest = cells.cells

    def exact(opened: Any, plan: Any, tell: Any = None) -> Any:
        raw = float(opened.engine.fetch(opened.table.aggregate(s=opened.table["x"].sum())).to_pylist()[0]["s"] or 0)
        made = honest(opened, plan, tell)
        for one in made:
            one.numbers[NoisyNumber.ANSWER] = (Fraction(raw) / cells.unit_of(plan, one.query, NoisyNumber.ANSWER),)
        return made

    draws = Drawing.draw

    def draw(self: Drawing, given: Any) -> list[float]:
        return [min(max(value, 0.0), 8.0 * 50) for value in draws(self, given)]

    patch.setattr(release, "cells", exact)
    patch.setattr(Drawing, "draw", draw)


def unkept_names(patch: Patch) -> None:
    """Groups of which nothing is kept go through the draw with 0 people, and may be named."""

    def nothing_left_out(opened: Any, plan: Any, tell: Any = None) -> Any:
        with pytest.MonkeyPatch.context() as inner:
            # every group has an owner while names are chosen; the numbers are the honest ones
            honest = cells._number
            inner.setattr(cells, "_number", lambda need, tally, noisy: honest(need, tally.tally, noisy))
            tallies = answers.tallies_of
            inner.setattr(
                cells,
                "tallies_of",
                lambda *given, **how: {
                    need: [(label, _Named(tally)) for label, tally in found]
                    for need, found in tallies(*given, **how).items()
                },
            )
            return cells.cells(opened, plan, tell)

    patch.setattr(release, "cells", nothing_left_out)


@dataclass(frozen=True)
class _Named:
    """The tally of a group that is there whatever is kept of it."""

    tally: Any
    owners: int = 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tally, name)


def secret_in_the_hash(patch: Patch) -> None:
    """Which rows count depends on all that the queries look at, the secret's columns among it."""
    honest = scan_plan.content_columns

    def content(of: Any) -> tuple[list[str], list[str]]:
        outside, told = honest(of)
        return [*outside, *told], []

    for module in (answers, cells):
        patch.setattr(module, "content_columns", content)


# -- where they show --------------------------------------------------------------------------------------------------


def _kind(kind: PairKind) -> Callable[[dict[str, Any]], NeighbourTables]:
    return lambda said: plan_pairs(read_release(said), TABLE, kinds=[kind])[0]


def _rows(count: int) -> Callable[[dict[str, Any]], NeighbourTables]:
    """A person with so many rows at the bound."""

    def make(said: dict[str, Any]) -> NeighbourTables:
        rows = MadeUpRows(read_release(said), TABLE)
        first, second = rows.beside(rows.others, rows.person(rows.far_end, rows=count))
        return NeighbourTables(PairKind.MANY, rows.table(first), rows.table(second))

    return make


def _sized(size: int) -> Callable[[dict[str, Any]], NeighbourTables]:
    """The person's group has so many rows with them, at the bound, one of each person."""

    def make(said: dict[str, Any]) -> NeighbourTables:
        rows = MadeUpRows(read_release(said), TABLE)
        other = [row for i in range(size - 1) for row in rows.person(rows.far_end, number=1000 + i)]
        first, second = rows.beside([*rows.elsewhere, *other], rows.person(rows.far_end))
        return NeighbourTables(PairKind.TWO, rows.table(first), rows.table(second))

    return make


def _value(times: float) -> Callable[[dict[str, Any]], NeighbourTables]:
    """A person whose value is so many times the bound."""

    def make(said: dict[str, Any]) -> NeighbourTables:
        rows = MadeUpRows(read_release(said), TABLE)
        first, second = rows.beside(rows.others, rows.person(lambda name: times * rows.far_end(name)))
        return NeighbourTables(PairKind.BEYOND, rows.table(first), rows.table(second))

    return make


def _below(said: dict[str, Any]) -> NeighbourTables:
    """A person who is counted in the first number alone."""
    rows = MadeUpRows(read_release(said), TABLE)
    first, second = rows.beside(rows.others, rows.person(None, x=4.0))
    return NeighbourTables(PairKind.AT, rows.table(first), rows.table(second))


def _own(kind: PairKind, groups: int = 300) -> Callable[[dict[str, Any]], NeighbourTables]:
    """A person alone in so many groups."""

    def make(said: dict[str, Any]) -> NeighbourTables:
        rows = MadeUpRows(read_release(said), TABLE)
        rows.fresh = rows.fresh[:groups]
        ((_, first, second),) = rows.worlds([kind])
        return NeighbourTables(kind, rows.table(first), rows.table(second))

    return make


@dataclass(frozen=True)
class Bug:
    """A bug, the plan and the pair it shows on, and the runs of the sheet (sequential mean).

    Faults of our own that were found in ``plan/`` are not on the sheet: theirs are the runs we saw.
    """

    name: str
    plant: Callable[[Patch], None]
    plan: dict[str, Any]
    pair: Callable[[dict[str, Any]], NeighbourTables]
    sheet: int

    def source(self) -> ReleaseSource:
        """The release, set up before the bug is planted: its own checks refuse noise of another scale than planned.

        Which rows a hash keeps is luck, so the pair of that bug is the one on which it shows.
        """
        with self.planted() if self.plant is secret_in_the_hash else nullcontext():
            pair = self.pair(self.plan)
        return ReleaseSource(read_release(self.plan), pair.first, pair.second)

    @property
    def claim(self) -> ClaimLines:
        """The plan's own: of the person, or of the secret where one is named."""
        said = read_release(self.plan)
        return secret_claim(said) if said.data.hidden is not None else claim_of(plan_claim(said))

    @contextmanager
    def planted(self) -> Iterator[None]:
        """With the bug in place."""
        with pytest.MonkeyPatch.context() as patch:
            self.plant(patch)
            yield


#: Two counts; the person is in the first alone.
APART = plan({"count": True}, {"count": "x > 8", "name": "above"})

BUGS = (
    Bug("sensitivity halved", halved, COUNT, _kind(PairKind.AT), 161),
    Bug("sensitivity halved in one of two cells", halved_in_one, TWO_COUNTS, _kind(PairKind.AT), 1274),
    Bug("limits forgotten: 3 rows where 1 is used", no_limits, SUM, _rows(3), 63),
    Bug("limits forgotten: 20 rows where 1 is used", no_limits, SUM, _kind(PairKind.MANY), 35),
    Bug("label leak", label_leak, NAMES, _kind(PairKind.ALONE), 34),
    Bug("label leak, only where the noisy count is above 3", low_threshold, NAMES, _kind(PairKind.ALONE), 1182),
    Bug("float sum", float_sum, NARROW, _kind(PairKind.AT), 32),
    Bug("float Laplace noise", float_noise, SUM_BY_SITE, _kind(PairKind.ALONE), 282),
    Bug("true size in an average: 9 rows or 10", true_size, AVERAGE_BY_SITE, _sized(10), 107_686),
    Bug("fixed seed", fixed_seed, COUNT, _kind(PairKind.AT), 32),
    Bug("same noise in two cells", same_noise, APART, _below, 33),
    Bug("noise before grouping: shares", before_grouping, BY_SITE, _kind(PairKind.ALONE), 38),
    Bug("noise before grouping: a draw for each of 0 rows or 1", per_row, BY_SITE, _kind(PairKind.ALONE), 22_610),
    Bug("noise before grouping: a draw for each of 1 row or 2", per_row, BY_SITE, _kind(PairKind.TWO), 22_610),
    Bug("clamped after the noise: 100 times the bound", clamped_after, SUM, _kind(PairKind.BEYOND), 34),
    Bug("clamped after the noise: twice the bound", clamped_after, SUM, _value(2.0), 162),
    Bug("names of groups with nothing kept: limits", unkept_names, LOW_NAMES, _own(PairKind.OWN), 57),
    Bug("names of groups with nothing kept: no values", unkept_names, AVERAGES, _own(PairKind.EMPTY), 35),
    Bug("names of groups with nothing kept: a household", unkept_names, HOMES, _own(PairKind.OWN), 54),
    Bug("rows are kept by the secret", secret_in_the_hash, SECRET, _kind(PairKind.SECRET), 221),
)
