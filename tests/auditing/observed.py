"""What is published of two tables, without a run: the cells of a release are exact, and the law of its noise known.

Beside a claim it is an audit that needs no sampling. It stays below the truth: groups that both tables have, and that
a threshold may hold back, are left out, so every reading is reached by somebody who sees the release.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from scipy.special import ndtr

from epsilens.assessment.worst_case import MovementPair, WorstCase
from epsilens.auditing.result import ClaimLines
from epsilens.data.queries import Noise
from epsilens.plan.cells import Cells, Draw, draws_of, unit_of
from epsilens.plan.model import Release


def observed_laws(plan: Release, first: Sequence[Cells], second: Sequence[Cells]) -> WorstCase:
    """The two laws of what is published of tables with these cells: a lower bound on every reading.

    Names that one table alone has settle the question where they are published; numbers move by so many scales of their
    noise.
    """
    moved = Counter[float]()
    hidden = [0.0, 0.0]  # the logarithm of the chance that none of a table's own names is published
    for here, there in zip(first, second, strict=True):
        draws = draws_of(plan, here.query)
        decides = next((noisy for noisy, draw in draws.items() if draw.threshold is not None), None)
        for world, (own, other) in enumerate(((here, there), (there, here))):
            if decides is not None:
                counts = dict(zip(own.labels, own.numbers[decides], strict=True))
                chances = [_name_chance(draws[decides], float(n)) for k, n in counts.items() if k not in other.labels]
                hidden[world] += math.fsum(math.log1p(-p) if p < 1 else -math.inf for p in chances)
        if decides is not None:
            continue
        for noisy, draw in draws.items():
            unit = float(unit_of(plan, here.query, noisy)) / draw.scale
            for a, b in zip(here.numbers[noisy], there.numbers[noisy], strict=True):
                moved[abs(float(a - b)) * unit] += 1
    names = tuple(-math.expm1(h) for h in hidden)
    shifts = tuple(sorted((t, k) for t, k in moved.items() if t))
    if plan.mechanism.noise is Noise.GAUSSIAN:
        return WorstCase((MovementPair((), math.sqrt(math.fsum(k * t * t for t, k in shifts)), *names),))
    return WorstCase((MovementPair(shifts, 0.0, *names),))


def lower_reading(found: WorstCase, reading: str, arguments: Mapping[str, float]) -> float:
    """A reading of what is reached: exact where there is a closed form, else the low end of its bracket."""
    if found.closed:
        return found.read(reading, arguments)
    return max(float(e.bracket(reading, **arguments)[0]) for e in found.experiments)


def exact_excess(found: WorstCase, claim: ClaimLines) -> float:
    """By how much δ lies above the claim at least, at the line where it does most; not above 0 where it is kept."""
    lines = zip(claim.epsilon.tolist(), claim.delta.tolist(), strict=True)
    return float(max(lower_reading(found, "delta", {"epsilon": eps}) - delta for eps, delta in lines))


def _name_chance(draw: Draw, people: float) -> float:
    """The chance that the name of a group with so many people is published."""
    assert draw.threshold is not None
    away = (draw.threshold - people) / draw.scale
    if draw.noise is Noise.GAUSSIAN:
        return float(ndtr(-away))
    return 0.5 * math.exp(-away) if away >= 0 else 1 - 0.5 * math.exp(away)
