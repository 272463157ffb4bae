"""Root finding, many brackets at once or one boundary from its safe side; the least of a function; and quadrature."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..checks import Array

_X, _W = np.polynomial.legendre.leggauss(16)
_BOUNDARY_TOLERANCE = 1e-13  # relative: how near the boundary a search ends
_MINIMUM_TOLERANCE, _MINIMUM_STEPS = 1e-7, 100  # how near a minimum one does, and after how many steps at the latest


def root(f: Callable[[Array], Array], low: Array, high: Array, *, rtol: float = 4e-16, atol: float = 0.0) -> Array:
    """Roots of f in [low, high], elementwise, by Chandrupatla's method (Adv. Eng. Software 28, 1997).

    ``f(low)`` and ``f(high)`` must not have the same sign; where an end is a root it is returned.
    """
    a, b = (np.array(v, dtype=float) for v in np.broadcast_arrays(low, high))
    fa, fb = np.asarray(f(a), dtype=float), np.asarray(f(b), dtype=float)
    c, fc, t = a.copy(), fa.copy(), np.full_like(a, 0.5)
    best = np.where(np.abs(fa) < np.abs(fb), a, b)
    for _ in range(120):
        x = a + t * (b - a)
        fx = np.asarray(f(x), dtype=float)
        same = np.sign(fx) == np.sign(fa)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = x, fx
        best = np.where(np.abs(fa) < np.abs(fb), a, b)
        width = np.abs(b - a)
        tolerance = 2 * rtol * np.abs(best) + atol
        done = (fa == 0) | (width <= tolerance)
        if done.all():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
            inverse = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
            least = np.where(width > 0, tolerance / (2 * width), 0.5)
        quadratic = (phi * phi < xi) & ((1 - phi) ** 2 < 1 - xi) & np.isfinite(inverse)
        t = np.clip(np.where(quadratic, inverse, 0.5), least, 1 - least)
        t = np.where(done, 0.0, t)
    return best


def safe_boundary(f: Callable[[float], float], safe: float, unsafe: float) -> float:
    """The point nearest the boundary, on the safe side: f(x) ≤ 0 there, and f > 0 within 1e-13 of it beyond.

    ``f(safe) ≤ 0 < f(unsafe)``, both positive numbers; f need not be continuous, only to cross once. Works on
    the logarithm of x, by regula falsi (Illinois) where it helps and bisection where it does not.
    """
    a, b = np.log(safe), np.log(unsafe)
    fa, fb = f(safe), f(unsafe)
    side = 0
    for step in range(400):
        if abs(b - a) <= _BOUNDARY_TOLERANCE:
            break
        # f may be −∞, or flat at 0 on a plateau whose end is the boundary: bisect there, and every third step.
        usable = np.isfinite(fa) and np.isfinite(fb) and fa < 0 and step % 3 != 2
        x = (a * fb - b * fa) / (fb - fa) if usable else 0.5 * (a + b)
        margin = 0.25 * _BOUNDARY_TOLERANCE * np.sign(b - a)
        low, high = min(a + margin, b - margin), max(a + margin, b - margin)
        x = min(max(x, low), high)
        fx = f(float(np.exp(x)))
        if fx <= 0:
            a, fa = x, fx
            fb = fb / 2 if side == 1 else fb
            side = 1
        else:
            b, fb = x, fx
            fa = fa / 2 if side == -1 else fa
            side = -1
    point = float(np.exp(a))
    while f(point) > 0:  # exp(log(x)) may have moved an ulp over the edge
        point = float(point * (1 - np.sign(unsafe - safe) * 2.0**-52 * 2))
    return point


def minimum(f: Callable[[float], float], low: float, high: float) -> float:
    """The least value of a convex function inside an interval, by Brent's parabolas and golden sections.

    Where it lies is found to about √u of its distance from the nearer end, so that the value is good to u.

    >>> minimum(lambda x: (x - 0.25) ** 2 - 1, 0.0, 1.0)
    -1.0
    """
    golden, first, last = (3 - math.sqrt(5.0)) / 2, low, high
    x = w = v = low + golden * (high - low)
    fx = fw = fv = f(x)
    step = before = 0.0
    for _ in range(_MINIMUM_STEPS):
        middle, near = (low + high) / 2, _MINIMUM_TOLERANCE * min(x - first, last - x) + 1e-10 * (last - first)
        if abs(x - middle) <= 2 * near - (high - low) / 2:
            break
        if (w - x) * (v - x) < 0:  # convex: between these three it can be no lower than lines through two of them
            ratio = abs((w - x) / (v - x))
            if max((fv - fx) * ratio, (fw - fx) / ratio) <= 4e-16 * abs(fx):
                break
        fits = False
        if abs(before) > near:  # the parabola through the last three
            r, q = (x - w) * (fx - fv), (x - v) * (fx - fw)
            p, q = (x - v) * q - (x - w) * r, 2 * (q - r)
            p, q = (-p if q > 0 else p), abs(q)
            fits = abs(p) < abs(q * before / 2) and q * (low - x) < p < q * (high - x)
            if fits:
                before, step = step, p / q
        if not fits:
            before = (high if x < middle else low) - x
            step = golden * before
        u = x + (step if abs(step) >= near else math.copysign(near, step))
        fu = f(u)
        if fu <= fx:
            low, high = (x, high) if u >= x else (low, x)
            v, fv, w, fw, x, fx = w, fw, x, fx, u, fu
            continue
        low, high = (u, high) if u < x else (low, u)
        if fu <= fw or w == x:
            v, fv, w, fw = w, fw, u, fu
        elif fu <= fv or v in (x, w):
            v, fv = u, fu
    return fx


def integrate(f: Callable[[Array], Array], edges: Array, *, tolerance: float = 1e-14) -> float:
    """∫f over the panels between ``edges``: Gauss–Legendre, halving every panel whose two halves disagree with it."""

    def panels(a: Array, b: Array) -> Array:
        half = (b - a)[:, None] / 2
        x = a[:, None] + half * (1 + _X)
        return np.asarray((f(x.ravel()).reshape(x.shape) * _W * half).sum(axis=1))

    a, b = np.asarray(edges[:-1], dtype=float), np.asarray(edges[1:], dtype=float)
    whole, total = panels(a, b), 0.0
    for _ in range(40):
        middle = (a + b) / 2
        left, right = panels(a, middle), panels(middle, b)
        # below this width two halves differ by rounding alone
        rough = (np.abs(left + right - whole) > tolerance) & (b - a > 1e-12 * (edges[-1] - edges[0]))
        total += float(np.sum((left + right)[~rough]))
        if not rough.any() or rough.sum() > 5000:
            return total + float(np.sum((left + right)[rough]))
        a, b = np.concatenate((a[rough], middle[rough])), np.concatenate((middle[rough], b[rough]))
        whole = np.concatenate((left[rough], right[rough]))
    return total + float(whole.sum())
