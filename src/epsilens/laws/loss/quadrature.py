"""Quadrature of a step: Gauss–Legendre on panels short enough for whatever is integrated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array
from .step import Step

__all__ = ["LEGENDRE", "WIDE", "Nodes", "nodes", "panels", "quadrature", "resolved"]

LEGENDRE = {n: np.polynomial.legendre.leggauss(n) for n in (2, 3, 5, 10)}
WIDE = 4.0  # the change of a log density over a panel of ten nodes
_BEND = 2.0  # the same where the exponent may be complex


@dataclass(frozen=True, eq=False)
class Nodes:
    """Quadrature of a step: losses and log H1-masses, and what lies at ±∞."""

    loss: Array
    log_p: Array
    only0: float
    only1: float


def panels(step: Step, edges: Array) -> tuple[Array, Array, Any]:
    """Cut [edges[i], edges[i+1]] into panels short enough for 10 nodes: left ends, widths, interval numbers."""
    inside = [k for k in step.knots if edges[0] < k < edges[-1]]
    cuts = np.sort(np.concatenate((edges, inside))) if inside else edges
    width = np.diff(cuts)
    owner = np.clip(np.searchsorted(edges, cuts[:-1] + width / 2, side="right") - 1, 0, edges.size - 2)
    live = width > 0
    left, width, owner = cuts[:-1][live], width[live], owner[live]
    if not left.size:
        return left, width, owner
    spread = width * np.maximum(step.bend(left), step.bend(left + width))
    pieces = np.maximum(np.ceil(spread / WIDE), 1).astype(int)
    if (pieces > 1).any():
        first = np.repeat(np.cumsum(pieces) - pieces, pieces)
        rank = np.arange(pieces.sum()) - first
        width = np.repeat(width / pieces, pieces)
        left, owner = np.repeat(left, pieces) + rank * width, np.repeat(owner, pieces)
    return left, width, owner


def quadrature(step: Step, low: float, high: float, steepness: float = 1.0) -> tuple[Array, Array]:
    """Places and log weights for integrals over [low, high] of what changes ``steepness`` times as fast as the step."""
    first, wide, _ = panels(step, np.linspace(low, high, 9))
    times = max(math.ceil(steepness), 1)
    left = (first[:, None] + wide[:, None] * np.arange(times) / times).ravel()
    width = np.repeat(wide / times, times)
    x, w = LEGENDRE[10]
    at = (left[:, None] + width[:, None] * (1 + x) / 2).ravel()
    return at, np.log((width[:, None] / 2 * w).ravel())


def nodes(step: Step, low: float, high: float) -> Nodes:
    """The step between two places as a few hundred nodes, for the choice of tilt and window."""
    atoms = step.atoms
    loss, log_p, only0, only1 = atoms.loss, atoms.log_p, atoms.only0, atoms.only1
    if step.span is not None and high > low:
        at, log_w = quadrature(step, low, high)
        here = step.loss(at)
        loss = np.concatenate((loss, here))
        log_p = np.concatenate((log_p, step.log_p0(at) + here + log_w))
        only1 += math.exp(step.above(high)[0])
        only0 += math.exp(step.below(low)[1])
    return Nodes(loss, log_p, only0, only1)


def resolved(step: Step, low: float, high: float, steepness: float, most: int) -> tuple[Array, Array] | None:
    """Places and log weights for ∫ density·e^{zL} with |z| up to ``steepness``; None if more than ``most`` are needed.

    On each panel the log densities change by at most 2, so that the logarithm in the loss of a sampled step is analytic
    far enough beyond it, and all exponents together, real and imaginary, by at most 4, where ten nodes leave 1e-15.
    """
    cuts = np.concatenate((np.linspace(low, high, 17), [k for k in step.knots if low < k < high]))
    cuts.sort()
    for _ in range(12):
        bend, loss = step.bend(cuts), step.loss(cuts)
        plain = np.diff(cuts) * np.maximum(bend[1:], bend[:-1])
        change = np.maximum(plain / _BEND, (plain + steepness * np.diff(loss)) / WIDE)
        if not float(change.sum()) < most / 10:
            return None
        pieces = np.maximum(np.ceil(change), 1).astype(int)
        if int(pieces.max()) == 1:
            break
        rank = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        cuts = np.append(np.repeat(cuts[:-1], pieces) + rank * np.repeat(np.diff(cuts) / pieces, pieces), high)
    else:
        return None
    width = np.diff(cuts)
    x, w = LEGENDRE[10]
    at = (cuts[:-1, None] + width[:, None] * ((1 + x) / 2)).ravel()
    with np.errstate(divide="ignore"):
        return at, np.log((width[:, None] / 2 * w).ravel())
