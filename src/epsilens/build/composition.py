"""Several answers observed together, and groups of people: what is learned about all of them.

The product of the laws is :mod:`epsilens.laws.product`'s.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import digamma

from .. import checks
from ..checks import Array
from ..errors import InputError
from ..experiment import Experiment, factor_of, together
from ..laws.finite.envelope import Concentrated, Envelope, MomentClaim
from ..laws.finite.law import MOST_LOSS
from ..laws.loss.law import WIDTH
from ..laws.loss.step import Counted
from ..laws.product import certified, named, steps_of, width_of
from ..readings.law import Known
from . import claims

__all__ = ["compose", "group"]

_BLOCKS = 256  # of people, in a sum over a group


def compose(*experiments: Experiment, width: float | None = None) -> Experiment:
    """What an adversary learns who sees all the answers.

    ``width`` is the relative width asked of each reading's bracket (0.001 unless given); it is reached by refining.

    >>> import epsilens as el
    >>> compose(el.gaussian(psi=3.0), el.gaussian(psi=4.0)).psi()
    5.0
    >>> round(compose(el.laplace(epsilon=1.0), el.laplace(epsilon=1.0)).advantage(), 6)  # 1 − 3/(2e)
    0.448181
    >>> round(compose(el.laplace(epsilon=0.5), el.gaussian(psi=0.5)).advantage(), 2)
    0.27
    """
    if not experiments or not all(isinstance(e, Experiment) for e in experiments):
        raise InputError("compose needs one experiment or more: give what laplace, gaussian and the like return")
    return together([(e, 1) for e in experiments], width)


def group(experiment: Experiment, k: int, *, width: float | None = None) -> Experiment:
    """What is learned about a group of k people who enter or leave together: each moves the answer as one does.

    Noise that shifts is shifted k times as far. Under Poisson sampling at least one of the group is drawn with
    probability 1 − (1−q)^k, and then all are taken to be: an upper bound. A claim of ε becomes one of kε, and a δ grows
    to δ(e^{kε}−1)/(e^ε−1); μ-GDP becomes kμ-GDP; (ξ, ρ)-zCDP becomes (ξ·k·(1 + 1/2 + … + 1/k), k²ρ)-zCDP (Bun &
    Steinke 2016), and by the same argument a Rényi curve D becomes ka·Σ_j D_o/o over the orders o = k(a−1) + j,
    j = 1 … k.

    >>> import epsilens as el
    >>> group(el.gaussian(psi=0.5), 3).psi()
    1.5
    """
    if not isinstance(experiment, Experiment):
        raise InputError("group needs an experiment: give what laplace, gaussian and the like return")
    size = checks.whole("k", k, low=1, high=10**6)
    if size == 1:
        return experiment
    told = {"of": experiment.name, "people": size}
    parts = experiment.parts or ((experiment, 1),)
    steps: list[Counted] = []
    loose: list[str] = []
    for part, times in parts:
        claimed = _claimed_group(part, size)
        if claimed is not None and len(parts) == times == 1:
            return Experiment(claimed.law, "group", told, experiment.worlds, (_CLAIMED.format(size), *claimed.notes))
        inside = steps_of(factor_of(part, times))
        if claimed is not None:
            steps += steps_of(factor_of(claimed, times))
        else:
            steps += [(step.grouped(size), n) for step, n in inside]
        if claimed is not None or part.law.known is Known.BOUND or not all(step.moves for step, _ in inside):
            loose.append(part.name)
    if len(steps) == 1 and steps[0][1] == 1 and (law := steps[0][0].as_law()) is not None:
        note = _CLAIMED.format(size) if loose else f"a group of {size} moves the answer {size} times as far"
        return Experiment(law.as_bound() if loose else law, "group", told, experiment.worlds, (note,))
    above = (f"a group of {named(loose)}",) if loose else ()
    made = certified(steps, WIDTH if width is None else width_of(width), loose=above)
    return Experiment(made.law, "group", told, experiment.worlds, (made.note,))


_CLAIMED = (
    "an upper bound: what is known of one person bounds what a group of {} reveals, and nothing is known from below"
)


def _claimed_group(experiment: Experiment, size: int) -> Experiment | None:
    """What a claim of zCDP or of Rényi divergences says about a group; None of what is no such claim."""
    law = experiment.law
    if not isinstance(law, Envelope) or law.moment is None:
        return None
    moment = law.moment
    nothing = f"the claim promises nothing about a group of {size}"
    if isinstance(moment, Concentrated):
        rho, xi = moment.grouped(size)
        if max(rho, xi) > MOST_LOSS:
            raise InputError(f"{nothing}: ρ grows with the square of its size to {rho:.4g}, so ask of a smaller group")
        return claims.from_zcdp(rho, xi)
    low, high = 1e-9, 1e9
    if np.isfinite(moment(np.asarray(high))):
        low = high
    for _ in range(100):  # the highest order at which something is claimed
        middle = math.sqrt(low * high)
        low, high = (middle, high) if np.isfinite(moment(np.asarray(middle))) else (low, middle)
    worst = float(experiment.epsilon())
    orders, bound = np.zeros(0), np.zeros(0)
    if (most := (1 + low) / size - 1) > 1e-9:
        orders = 1 + np.geomspace(max(min(1e-3 * most, 1e-2), 1e-9), most, 281)
        bound = _summed(moment, orders, size, low)
    if math.isfinite(worst):
        orders, bound = np.append(orders, np.inf), np.append(bound, size * worst)
    if not orders.size:
        raise InputError(f"{nothing}: its highest order is {1 + low:.6g}, so claim orders above {size}")
    if bound.min() > MOST_LOSS:
        raise InputError(f"{nothing}: its Rényi divergence grows to {bound.min():.4g}, so ask of a smaller group")
    return claims.from_rdp(orders, bound)


def _summed(moment: MomentClaim, orders: Array, size: int, highest: float) -> Array:
    """ka·Σ_j D_o/o over o = k(a−1) + j: D_a(P‖Q) ≤ ka/(ka−1)·D_{(ka−1)/(k−1)}(P‖R) + D_{ka}(R‖Q), person by person.

    In blocks of people where there are many: D grows with the order, so the last order of a block bounds it.
    """
    ends = np.unique(np.linspace(0, size, min(size, _BLOCKS) + 1).astype(int))
    start = (size * (orders - 1))[:, None]
    most = np.minimum(start + ends[1:] - 1, highest)
    share = np.where(
        np.diff(ends) == 1, 1 / (start + ends[1:]), digamma(start + ends[1:] + 1) - digamma(start + ends[:-1] + 1)
    )
    return np.asarray(size * orders * np.sum(moment(most) / most * share, axis=1) * (1 + 1e-11))
