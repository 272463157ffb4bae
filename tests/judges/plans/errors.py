"""The 95% errors of an assessment against the exact law of what is drawn: how often an answer is farther off."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.stats import laplace, norm
from tests.judges.plans.plans import Case, schema

from epsilens.assessment.accuracy import QueryAccuracy
from epsilens.data.queries import Noise
from epsilens.plan.cells import cells_of_rows, draws_of, unit_of
from epsilens.plan.contribution import NoisyNumber, unprotected_names
from epsilens.plan.labels import display_label
from epsilens.plan.model import Release


def law_of_draw(noise: Noise, scale: float) -> Any:
    """The noise as scipy has it."""
    return (norm if noise is Noise.GAUSSIAN else laplace)(scale=scale)


def ratio_below(draws: Any, total: float, size: float, bounds: tuple[float, float], public: bool) -> Any:
    """P(answer ≤ t) of an average: the middle + S/N within its bounds, N being 1 at least."""
    low, high = bounds
    centre = low / 2 + high / 2
    upper = law_of_draw(draws[NoisyNumber.TOTAL].noise, draws[NoisyNumber.TOTAL].scale)
    if public:
        n, weight = np.array([max(size, 1.0)]), np.array([1.0])
    else:
        lower = law_of_draw(draws[NoisyNumber.SIZE].noise, draws[NoisyNumber.SIZE].scale)
        edges = np.unique(np.concatenate((
            [1.0, max(size, 1.0)], size + lower.std() * np.sinh(np.linspace(-6, 6, 4001)) / 5,
        )))  # fmt: skip
        edges = edges[edges >= 1.0]
        n, weight = (edges[1:] + edges[:-1]) / 2, np.diff(lower.cdf(edges - size))

    def below(t: float) -> float:
        if t >= high:
            return 1.0
        if t < low:
            return 0.0
        found = float(np.sum(weight * upper.cdf((t - centre) * n - total)))
        return found + (0.0 if public else float(lower.cdf(1.0 - size) * upper.cdf(t - centre - total)))

    return below


def missed(case: Case, plan: Release, queries: Sequence[QueryAccuracy]) -> Iterator[tuple[str, float, float]]:
    """For each error that is stated: how often it may be exceeded or the answer be hidden (.05), and how often it is.

    The answers themselves come from the rows: of the whole table without limits and bounds, and what is drawn on.
    """
    found = cells_of_rows(plan, schema(case))(list(case.rows))
    for query in queries:
        if query.index in unprotected_names(plan):
            continue  # a plan that takes names from the data is never published
        i, one, draws = query.index, found[query.index], draws_of(plan, query.index)
        places = {display_label(label): place for place, label in enumerate(one.labels)}
        for errors in (query.planned.typical, query.planned.worst):
            if errors is None or not math.isfinite(errors.error):
                continue
            place = places.get(errors.answer.group)
            if place is None:
                yield f"error: {i + 1} of a group that has no cell", errors.error, math.inf
                continue
            own = {
                k: float(of[place]) * float(unit_of(plan, i, k))
                for k, of in one.numbers.items()
                if k in draws and len(of) > place
            }
            own.pop(NoisyNumber.TOUCHED, None)
            decides = next((k for k, d in draws.items() if d.threshold is not None), None)
            low, high = errors.answer.value - errors.error, errors.answer.value + errors.error
            wide = 1e-9 * (abs(low) + abs(high))
            hidden = 0.0
            if decides is not None:
                draw = draws[decides]
                hidden = float(law_of_draw(draw.noise, draw.scale).cdf((draw.threshold or 0.0) - own[decides]))
            if NoisyNumber.TOTAL in own:
                bounds = plan.queries[i].bounds or (0.0, 0.0)
                size = float(one.sizes[place]) if one.sizes else own[NoisyNumber.SIZE]
                below = ratio_below(draws, own[NoisyNumber.TOTAL], size, bounds, bool(one.sizes))
                within = (below(high + wide) - below(low - wide)) * (1 - hidden)
            else:
                law = law_of_draw(draws[NoisyNumber.ANSWER].noise, draws[NoisyNumber.ANSWER].scale)
                low = max(low, draws[NoisyNumber.ANSWER].threshold or low) if decides is NoisyNumber.ANSWER else low
                within = float(
                    law.cdf(high + wide - own[NoisyNumber.ANSWER]) - law.cdf(low - wide - own[NoisyNumber.ANSWER])
                )
                within = within if decides in (None, NoisyNumber.ANSWER) else within * (1 - hidden)
            yield f"error: {i + 1}", 0.05 + 1e-4, 1 - within
