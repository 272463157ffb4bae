"""How much wider the error of a leakage is than normal rows would have it.

The leakage of an adversary is a regression coefficient β. With e, what their regression leaves of the query, and z,
what the records they know leave of the target, both of variance 1, β lies above its estimate by less than d (in units
of sd(e)/sd(z)) exactly if E v(d) < 0, where v(d) = z(e − d z). That is a statement about a mean of independent rows,
and its limit that of :mod:`.upper`: d is rejected at the level α if P(E₀ v₀(d) + Σ E_i v_i(d) ≥ 0) < α. v₀ is the
largest v of any row within its range where every record is bounded or has two values, else twice the largest v seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import stdtrit

from ...checks import Array
from ...numerics.roots import root
from .records import Moments, Records, complete
from .upper import tail_of_exponentials

#: Rows are nearly alike if e and z agree to this part of their standard deviations.
_STEPS = 8
_MOST_CELLS = 1 << 20


def inflation(records: Records, found: Moments, answer: Array, part: Array, df: float, alpha: float) -> float:
    """By what Student's t error must be multiplied at this adversary for an upper end of level 1 − α; at least 1.

    ``answer`` and ``part`` are e and z as weights over the records, ``df`` the degrees of freedom. It is no less than
    the root of the ratio of the variance of β for any rows (Σz²e²/(Σz²)², the sandwich estimate) to that for normal
    ones ((Σe²/N)/Σz²).
    """
    if not answer.any() or not part.any() or answer @ found.cov @ answer <= 0:
        return 1.0
    left, own = (w / math.sqrt(float(w @ found.cov @ w)) for w in (answer, part))
    got = _cells(records, found, left, own)
    c, ze, zz, zzee, zzze, zzzz, ee = (got[name] for name in ("c", "ze", "zz", "zzee", "zzze", "zzzz", "ee"))
    usual = float(zz.sum() * ee.sum()) / float(c.sum())
    wider = max(math.sqrt(float(zzee.sum()) / usual), 1.0) if usual > 0 else 1.0
    limits = _ranges(records, found)

    def excess(d: float, sign: float) -> float:
        mean = (sign * ze - d * zz) / c
        spread = np.sqrt(np.maximum((zzee - 2 * sign * d * zzze + d**2 * zzzz) / c - mean**2, 0.0))
        if limits is None:
            most = 2 * max(float((mean + spread).max()), 0.0)
        else:
            most = largest_product(own, sign * left - d * own, *limits)
        values = np.concatenate((mean - spread, mean + spread, [most]))
        return tail_of_exponentials(values, np.concatenate((c / 2, c / 2, [1.0]))) - alpha

    for sign in (1.0, -1.0):  # whichever way |β| grows
        high = 4.0 / math.sqrt(df)
        while excess(high, sign) > 0 and high < 1e6:
            high *= 2
        d = float(root(partial(_of_arrays, excess, sign), np.asarray(0.0), np.asarray(high), atol=1e-9))
        wider = max(wider, d * math.sqrt(df) / float(stdtrit(df, 1 - alpha)))
    return wider


def _of_arrays(f: Callable[[float, float], float], sign: float, d: Array) -> Array:
    return np.asarray(f(float(d), sign))


def _cells(records: Records, found: Moments, left: Array, own: Array) -> dict[str, Array]:
    """Sums of powers of e and z over cells of rows nearly alike."""
    place = [(column - float(m)) for column, m in zip(records.columns, found.mean, strict=True)]

    def combined(weights: Array) -> Any:
        terms = [column * float(w) for column, w in zip(place, weights, strict=True) if w]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    rows = records.base.filter(complete(records)).select(e=combined(left), z=combined(own))
    e, z = rows["e"], rows["z"]
    asked = {"ze": z * e, "zz": z**2, "zzee": (z * e) ** 2, "zzze": z**3 * e, "zzzz": z**4, "ee": e**2}
    cells = rows.group_by(i=(_STEPS * e).floor(), j=(_STEPS * z).floor())
    got = records.engine.fetch(
        cells.agg(c=rows.count(), **{name: value.sum() for name, value in asked.items()}).limit(_MOST_CELLS)
    )
    got = got.sort_by([("i", "ascending"), ("j", "ascending")])  # engines have no order, and sums do
    return {name: got[name].to_numpy(zero_copy_only=False).astype(np.float64) for name in ("c", *asked)}


def _ranges(records: Records, found: Moments) -> tuple[Array, Array] | None:
    """From where to where each record lies about its mean; None where one has neither bounds nor only two values."""
    low, high = found.low.copy(), found.high.copy()
    # two values have the largest variance that their mean and range allow
    variance = np.diag(found.cov) * (found.rows - 1) / found.rows
    two = (found.mean - low) * (high - found.mean) - variance <= 1e-9 * (high - low) ** 2
    for i, name in enumerate(records.names):
        if name in records.bounds:
            low[i], high[i] = records.bounds[name]
        elif not two[i]:
            return None
    return low - found.mean, high - found.mean


def largest_product(a: Array, b: Array, low: Array, high: Array) -> float:
    """The largest (a·x)(b·x) for x between ``low`` and ``high``.

    The pairs (a·x, b·x) fill a polygon with an edge for each record, both ways; the product is largest on an edge.

    >>> largest_product(np.array([1.0, 0.0]), np.array([1.0, 1.0]), np.array([-1.0, -1.0]), np.array([1.0, 2.0]))
    3.0
    """
    edges = np.stack((a, b), axis=1) * (high - low)[:, None]
    turned = (edges[:, 1] < 0) | ((edges[:, 1] == 0) & (edges[:, 0] < 0))
    first = np.array([a @ low, b @ low]) + edges[turned].sum(axis=0)
    edges = np.where(turned[:, None], -edges, edges)
    edges = edges[np.argsort(np.arctan2(edges[:, 1], edges[:, 0]))]
    steps = np.concatenate((edges, -edges))
    x, y = (first + np.concatenate((np.zeros((1, 2)), np.cumsum(steps, axis=0)[:-1]))).T
    dx, dy = steps.T
    curved = dx * dy
    t = np.clip(np.where(curved < 0, -(x * dy + y * dx) / np.where(curved < 0, 2 * curved, 1.0), 0.0), 0.0, 1.0)
    return float(max((x * y).max(), ((x + t * dx) * (y + t * dy)).max()))
