"""Readings of the curve as a whole that need a search: ψ with a certificate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from ..checks import Array
from .law import Law

__all__ = ["psi_by_tangents"]


def psi_by_tangents(
    law: Law, thresholds: Array, *, most: int = 20_000, split: Callable[[Array], tuple[Array, ...]] | None = None
) -> float:
    """An upper bound on sup_α Φ⁻¹(1−α) − Φ⁻¹(f(α)), to 1e-9 of the value where the optimum is isolated.

    f is convex, so between two known points it lies above the tangents there, whose slopes are the likelihood-ratio
    thresholds; the bound is taken at their crossing, and stretches that could still hold the supremum are refined.
    ``thresholds`` are log-likelihood ratios that cover the range, ends included. ``split`` gives α, recall and
    1 − recall with all its digits; then α within 1e-9 of 1 is left to a second call with the laws reversed.
    """
    full, least = (1.0, 1e-15) if split is None else (1 - 1e-9, 1e-300)
    u = np.unique(np.clip(thresholds[np.isfinite(thresholds)], -700.0, 700.0))
    best, bound = 0.0, np.inf
    for _ in range(40):
        if split is None:
            alpha, recall = law.at(u)
            rest = 1 - recall
        else:
            alpha, recall, rest = split(u)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            here = -ndtri(alpha) + np.where(recall > 0.5, -ndtri(rest), ndtri(recall))
            live = (alpha > 1e-300) & (rest > least) & (alpha < full)
            best = max(best, float(np.max(here[live], initial=0.0)))
            t0, t1 = np.exp(u[:-1]), np.exp(u[1:])
            gap = np.where(recall[:-1] > 0.5, rest[1:] - rest[:-1], recall[:-1] - recall[1:])
            a = np.clip((gap - t0 * alpha[:-1] + t1 * alpha[1:]) / (t1 - t0), alpha[1:], alpha[:-1])
            less = t0 * (alpha[:-1] - a)
            hit, miss = np.clip(recall[:-1] - less, 0.0, 1.0), np.clip(rest[:-1] + less, 0.0, 1.0)
            crossing = np.where(hit > 0.5, -ndtri(miss), ndtri(hit)) - ndtri(a)
            crossing = np.where((a > 0) & (a < full) & (miss > 0), crossing, 0.0)
        before, bound = bound, max(best, float(np.max(np.where(np.isfinite(crossing), crossing, 0.0), initial=0.0)))
        wide = crossing > best * (1 + 1e-9) + 1e-12
        # where finer stretches bound no better, rounding decides
        if not wide.any() or u.size > most or (u.size > 500 and bound > before * (1 - 1e-12)):
            break
        finer = (np.linspace(a, b, 6) for a, b in zip(u[:-1][wide], u[1:][wide], strict=True))
        u = np.unique(np.concatenate((u, *finer)))
    return bound
