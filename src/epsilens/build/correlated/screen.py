"""Bounds on what an adversary gains, and adversaries examined in their order until no bound exceeds the best found."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...checks import Array
from .adversary import displacement
from .ternary import Found
from .worst import Progress

if TYPE_CHECKING:
    from .records import Records, Risk

__all__ = ["screen", "swing"]


def swing(logs: Array) -> Array:
    """For each pair of rows (x, x′), how far log P(y|x)/P(y|x′) ranges over y: (d, d), infinite where a zero differs.

    With x and x′ two values of a record, and y those of its neighbour in a chain or tree, this bounds how far anything
    beyond that edge can move the odds, whatever is known there: knowledge reweights y, which cancels in the range.
    """
    with np.errstate(invalid="ignore"):
        ratio = logs[:, None] - logs[None]
    ratio = np.where(np.isneginf(logs)[:, None] & np.isneginf(logs)[None], np.nan, ratio)
    high = np.max(np.where(np.isnan(ratio), -np.inf, ratio), axis=-1)
    low = np.min(np.where(np.isnan(ratio), np.inf, ratio), axis=-1)
    known = np.isfinite(high) & np.isfinite(low)
    return np.where(known, np.where(known, high, 0.0) - np.where(known, low, 0.0), np.inf)


def screen(
    model: Records,
    adversaries: Iterable[tuple[int, Mapping[int, int]]],
    risk: Risk,
    start: Found,
    deadline: float,
    progress: Progress | None,
) -> tuple[Found, float, bool, int]:
    """(best found, upper bound, complete, examined) over (target, known values).

    The bound moves the law of one value of the target to that of another by the shortest furthest move Δ: no test tells
    the mixtures better apart than bare noise shifted by Δ.
    """
    best, waiting, k = start, [], -1
    everyone = risk.shift(float(model.reach.sum()))
    for k, (target, known) in enumerate(adversaries):
        if k and time.monotonic() > deadline:
            return best, max(best.value, everyone), best.value >= everyone, k
        laws = model._laws(target, known)
        possible = laws.possible
        if len(possible) < 2:
            continue
        moved = max(displacement(laws, x, y) for at, x in enumerate(possible) for y in possible[at + 1 :])
        bound = risk.shift(moved)
        if bound > best.value * (1 + 1e-12):
            waiting.append((bound, target, known))
    waiting.sort(key=lambda w: -w[0])
    examined = k + 1 - len(waiting)
    for done, (bound, target, known) in enumerate(waiting):
        if bound <= best.value * (1 + 1e-12):
            return best, best.value, True, examined + done
        if done and time.monotonic() > deadline:
            return best, bound, False, examined + done
        if progress is not None:
            progress(done / len(waiting), f"{examined + done:,} adversaries examined")
        value, pair = risk.read(model._laws(target, known), best.value)
        if value > best.value:
            pattern = tuple(known.get(j, -1) for j in range(model.n))
            best = Found(value, target, pattern, pair)
    return best, best.value, True, examined + len(waiting)
