r"""What planned answers that isolate a person are worth, each under its own noise.

Nothing is known of the others, whose amounts may be anything. What is left of the answers is what the others' amounts
leave unchanged (Hunt and Stein): where one combination of the answers is all of it, its law is the whole truth. For two
answers with Laplace noise of scales b₁ and b₂ that is a shift by the person's contribution under
:math:`\mathrm{Lap}(b_1)+\mathrm{Lap}(b_2)`, each answer at its own full ε; with normal noise, variances add. Where
several combinations tell something, all answers that the person is in, with everyone else known, are an upper bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...attacks.differencing_queries import differencing
from ...calibration.choose import choose
from ...experiment import Experiment
from ...mechanisms.composition import compose
from ...mechanisms.noise import calibrated_psi, gaussian, laplace
from ...readings.law import Exactness
from ..queries import Noise
from .combinations import Isolating
from .request import Attack

_MOST_ANSWERS = 64  # of a sum whose law is computed


@dataclass(frozen=True)
class PlannedRisk:
    """A combination of planned answers at the planned ε of each: how often a guess about the person is right.

    ``success`` is that of the worst-placed person, an upper bound where ``bound`` says so; ``alone`` what these answers
    by themselves reach, None where that is not computed; ``known`` what whoever knows everyone else's records reaches.
    ``largest_epsilon`` keeps ``success`` at the limit. All are None without an ε, or without a limit.
    """

    found: Isolating
    names: tuple[str, ...]
    success: float | None
    alone: float | None
    known: float | None
    bound: bool
    above: bool | None
    largest_epsilon: float | None

    def to_dict(self) -> dict[str, Any]:
        """The risk as plain values."""
        kept = {name: value for name, value in vars(self).items() if name != "found"}
        return {**self.found.to_dict(), **kept, "names": list(self.names)}


def everyone_known(found: Isolating, steps: Mapping[int, float], noise: Noise) -> Experiment:
    """All answers that the person is in, when everyone else's records are known: no attack does better.

    ``steps`` says for each query by how many noise scales (Laplace b, standard deviation σ) a person moves one answer
    of it; for geometric noise, its ε.
    """
    sizes = [steps[i] for i in found.moved]
    if noise is Noise.GAUSSIAN:
        return gaussian(psi=float(np.linalg.norm(sizes)))
    each = [_one(size, noise) for size in sizes]
    return each[0] if len(each) == 1 else compose(*each)


def attack_on(found: Isolating, steps: Mapping[int, float], noise: Noise) -> Experiment:
    """What the planned answers tell about the isolated person; ``law.known`` says whether it is exact or a bound.

    >>> pair = Isolating((0, 1), (1, -1), (0,), 1, True, 0.5**0.5)
    >>> attack_on(pair, {0: 1.0, 1: 1.0}, Noise.LAPLACE).success()
    0.62091833...
    >>> everyone_known(pair, {0: 1.0}, Noise.LAPLACE).success()
    0.69673467...
    """
    if found.exact:
        alone = by_itself(found, steps, noise)
        if alone is not None:
            return alone
    top = everyone_known(found, steps, noise)
    if noise is Noise.GAUSSIAN:
        # ‖Pt‖ in units of the smallest σ bounds it too, and is the truth where all answers have one scale.
        reach = min(float(np.linalg.norm([steps[i] for i in found.moved])), found.shift * max(steps.values()))
        top = gaussian(psi=reach)
    return replace(top, law=top.law.as_bound())


def by_itself(found: Isolating, steps: Mapping[int, float], noise: Noise) -> Experiment | None:
    """The combination alone: one answer, the difference of two, or more of one scale; None for any other."""
    sizes = [steps[i] for i in found.queries]
    if not found.weights:
        return None
    if noise is Noise.GAUSSIAN:  # variances add
        return gaussian(psi=found.gain / float(np.linalg.norm(np.divide(found.weights, sizes))))
    if any(abs(w) != 1 for w in found.weights):
        return None
    if found.alone:
        return _one(sizes[0], noise)
    total = sum(sizes)
    if found.pair:
        return differencing(epsilon=total, split=sizes[0] / total, gap=found.gain, noise=noise.value)
    if noise is Noise.LAPLACE and len(set(sizes)) == 1 and len(sizes) <= _MOST_ANSWERS:
        return differencing(epsilon=total, queries=len(sizes), gap=found.gain)
    return None


def _one(size: float, noise: Noise) -> Experiment:
    """One answer that moves by so many noise scales."""
    if noise is Noise.GEOMETRIC:
        return differencing(epsilon=size, known=True, noise=noise.value)
    return laplace(epsilon=size)


def planned_risks(
    combinations: Sequence[Isolating],
    names: Sequence[str],
    attack: Attack,
    epsilon: float | None,
    limit: float | None,
) -> tuple[PlannedRisk, ...]:
    """Each combination at the planned ε of every query; a person moves an answer by its sensitivity at most."""
    made = []
    remembered: dict[tuple[object, ...], tuple[Any, ...]] = {}
    for found in combinations:
        # In units of noise all answers are alike here, so combinations of one form have one risk.
        form = (found.weights, len(set(found.queries)), len(found.moved), found.exact, found.shift, found.compared)
        if form not in remembered:
            remembered[form] = _read(found, attack, epsilon, limit)
        made.append(PlannedRisk(found, tuple(names[i] for i in found.queries), *remembered[form]))
    return tuple(made)


def _read(found: Isolating, attack: Attack, epsilon: float | None, limit: float | None) -> tuple[Any, ...]:
    if not found.compared:
        return None, None, None, True, None, None

    def steps(epsilon: float) -> dict[int, float]:
        size = epsilon if attack.delta is None else calibrated_psi(epsilon, attack.delta, "analytic")
        return dict.fromkeys({*found.queries, *found.moved}, size)

    def seen(*, epsilon: float) -> Experiment:
        return (everyone_known if attack.known else attack_on)(found, steps(epsilon), attack.noise)

    success = alone = known = above = largest = None
    bound = seen(epsilon=epsilon or 1.0).law.known is Exactness.BOUND
    if epsilon is not None:
        success = float(np.asarray(seen(epsilon=epsilon).success()))
        known = float(np.asarray(everyone_known(found, steps(epsilon), attack.noise).success()))
        itself = by_itself(found, steps(epsilon), attack.noise)
        alone = None if itself is None else float(np.asarray(itself.success()))
        above = None if limit is None else success > limit * (1 + 1e-12)
    if limit is not None:
        largest = float(choose(seen, "epsilon", at_most=limit, reading="success").value)
    return success, alone, known, bound, above, largest
