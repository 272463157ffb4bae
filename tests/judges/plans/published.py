"""The law of what ``release`` publishes, and the stand-alone script, against the law that ``cells`` and draws say.

By the largest distance between distribution functions (:mod:`tests.publish.laws`): it is exceeded by chance once in 10⁸
comparisons.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from tests.judges.plans.errors import law_of_draw, ratio_below
from tests.judges.plans.plans import Case, frame, schema
from tests.publish.laws import far

from epsilens.errors import EpsilensError
from epsilens.plan.cells import Cells, cells_of_rows, draws_of, unit_of
from epsilens.plan.contribution import NoisyNumber
from epsilens.plan.model import Release
from epsilens.publish.answers import draw_answers, drawings_of
from epsilens.publish.files import script_of
from epsilens.publish.release import exact_cells

DRAWS = 400

Key = tuple[int, tuple[str | None, ...]]


def unlike(case: Case, plan: Release) -> Iterator[str]:
    """What of the published answers has another law than the definition says."""
    exact = cells_of_rows(plan, schema(case))(list(case.rows))
    try:
        taken = exact_cells(plan, frame(case))
        drawings = drawings_of(plan)
    except EpsilensError:
        return
    found: dict[Key, list[float]] = defaultdict(list)
    for _ in range(DRAWS):
        for one in draw_answers(plan, drawings, taken):
            if one.group or not plan.queries[one.query].split_by:  # not the number of those whom a limit touched
                found[one.query, tuple(part for _, part in one.group)].append(one.answer)
    yield from _compared(plan, exact, found, "release")
    yield from _compared(plan, exact, _scripted(plan, case), "script")


def _scripted(plan: Release, case: Case) -> dict[Key, list[float]] | None:
    """The same by the stand-alone script, all that it does after reading its file; None where a plan has no script."""
    try:
        text = script_of(plan, frame(case))
    except EpsilensError:
        return None
    script: dict[str, Any] = {"__name__": "script"}
    exec(compile(text, "script.py", "exec"), script)
    said, found = script["PLAN"], defaultdict[Key, list[float]](list)
    rows = [{name: row[name] for name in said["columns"]} for row in case.rows]
    exact = [
        script["numbers"](rows, query, said, covers)
        for query, covers in zip(said["queries"], script["CONDITIONS"], strict=True)
    ]
    for _ in range(DRAWS):
        for i, (query, own) in enumerate(zip(said["queries"], exact, strict=True)):
            for *label, answer, _, _ in script["answered"](query, script["drawn"](query, own), own):
                found[i, tuple(None if part is None else str(part) for part in label)].append(answer)
    return found


def _compared(plan: Release, exact: tuple[Cells, ...], found: dict[Key, list[float]] | None, who: str) -> Iterator[str]:
    if found is None:
        return
    expected = set()
    for one in exact:
        for place, label in enumerate(one.labels):
            key = one.query, tuple(None if part is None else str(part) for part in label)
            expected.add(key)
            chance, law, coarse = _law(plan, one, place)
            values = np.sort(np.asarray(found.get(key, ()), dtype=float))
            if abs(values.size / DRAWS - chance) > far(DRAWS):
                yield f"{who}: {key} is published in {values.size} of {DRAWS}, {chance:.4f} expected"
            if values.size < 50:
                continue
            for t in np.unique(np.quantile(values, np.linspace(0, 1, 21))):
                share = float(np.searchsorted(values, t, side="right")) / values.size
                if not law(t - coarse) - far(values.size) <= share <= law(t + coarse) + far(values.size):
                    yield f"{who}: {key} at {t:g}: {share:.3f} of the answers, {law(t):.3f} expected"
                    break
    for key in set(found) - expected:
        yield f"{who}: {key} is published and has no cell"


def _law(plan: Release, one: Cells, place: int) -> tuple[float, Callable[[float], float], float]:
    """The chance that a group is published, and its answer's distribution function where it is."""
    i, draws, query = one.query, draws_of(plan, one.query), plan.queries[one.query]
    kinds: list[NoisyNumber] = [k for k in draws if k != NoisyNumber.TOUCHED]
    own = {k: float(one.numbers[k][place]) * float(unit_of(plan, i, k)) for k in kinds}
    decides = next((k for k, d in draws.items() if d.threshold is not None), None)
    chance = 1.0
    if decides is not None:
        draw = draws[decides]
        chance = float(law_of_draw(draw.noise, draw.scale).sf((draw.threshold or 0.0) - own[decides]))
    if NoisyNumber.TOTAL in own:
        bounds = query.bounds or (0.0, 0.0)
        size = float(one.sizes[place]) if one.sizes else own[NoisyNumber.SIZE]
        return (
            chance,
            ratio_below(draws, own[NoisyNumber.TOTAL], size, bounds, bool(one.sizes)),
            0.02 * (bounds[1] - bounds[0]),
        )
    answer = law_of_draw(draws[NoisyNumber.ANSWER].noise, draws[NoisyNumber.ANSWER].scale)
    counts = not query.kind.bounded
    low = draws[NoisyNumber.ANSWER].threshold

    def below(t: float) -> float:
        at = math.floor(t) + 0.5 if counts else t
        found = float(answer.cdf(at - own[NoisyNumber.ANSWER]))
        if low is None:
            return found
        cut = float(answer.cdf(low - own[NoisyNumber.ANSWER]))
        return max(found - cut, 0.0) / (1 - cut)

    return chance, below, 0.0 if counts else 0.02 * draws[NoisyNumber.ANSWER].scale
