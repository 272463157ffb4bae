"""Steps of a product by their nodes: points of a quadrature with their H0-mass and their loss, in ordinary numbers.

log E_P e^{zL} is found from what e^{(z+1)L} exceeds its first order by, so that a loss of 1e-9 keeps all its digits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .truth import MP

_ROOT = math.sqrt(2 * math.pi)
_FAR = 10.0  # standard deviations
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_SMALL = 0.4
_TERMS = 22


class Step:
    """What a contour asks of a step."""

    top: Any = math.inf
    bottom: Any = -math.inf

    def log_moment(self, z: Any) -> Any:
        """log E_P e^{zL} for an array of complex z."""
        raise NotImplementedError

    def kl(self, flipped: bool) -> float:
        """E_Q of −L, or E_P of L."""
        raise NotImplementedError

    def too_far(self, z: float) -> bool:
        return False

    def nodes(self, end: float) -> int:
        """About how many nodes it takes up to a frequency."""
        return 1

    def prepare(self, end: float) -> None:
        """Nodes dense enough for frequencies up to this."""

    def mirrored(self) -> Step:
        """The step whose loss under its H1 is −L under H0."""
        return Mirrored(self)


class Mirrored(Step):
    """M(−1−z) for M(z)."""

    def __init__(self, one: Step) -> None:
        self.one, self.top, self.bottom = one, -one.bottom, -one.top

    def log_moment(self, z: Any) -> Any:
        return self.one.log_moment(-1 - z)

    def kl(self, flipped: bool) -> float:
        return self.one.kl(not flipped)

    def too_far(self, z: float) -> bool:
        return self.one.too_far(-1 - z)

    def nodes(self, end: float) -> int:
        return self.one.nodes(end)

    def prepare(self, end: float) -> None:
        self.one.prepare(end)


class NormalShift(Step):
    """N(0,1) against N(μ,1)."""

    def __init__(self, mu: float) -> None:
        self.mu = float(mu)

    def log_moment(self, z: Any) -> Any:
        return z * (z + 1) * (self.mu**2 / 2)

    def kl(self, flipped: bool) -> float:
        return self.mu**2 / 2


def _second(a: Any) -> Any:
    """e^a − 1 − a for real a."""
    series = a * a / 2 * (1 + a / 3 * (1 + a / 4 * (1 + a / 5 * (1 + a / 6 * (1 + a / 7 * (1 + a / 8))))))
    with np.errstate(over="ignore"):
        return np.where(np.abs(a) < 0.05, series, np.expm1(a) - a)


def _log1p(w: Any) -> Any:
    """log(1 + w) for complex w."""
    small = np.abs(w) < 1e-2
    safe = np.where(small, w, 0)
    series = safe * (1 - safe * (0.5 - safe * (1 / 3 - safe * (0.25 - safe * (0.2 - safe * (1 / 6 - safe / 7))))))
    return np.where(small, series, np.log(np.where(small, 1, np.where(w == -1, 1e-300, 1 + w))))


def _of_nodes(log_q: Any, loss: Any, z: Any) -> Any:
    """log Σ q·e^{(z+1)·l}, knowing that Σ q = Σ q·e^l = 1."""
    s = z + 1
    peak = float(np.max(log_q + np.real(s[0]) * loss))
    if peak > 200:
        return _direct(log_q, loss, s, peak)
    small = np.abs(loss) * np.max(np.abs(s)) < _SMALL
    q, at = np.exp(log_q[small]), loss[small]
    excess = np.zeros(s.shape, dtype=complex)
    if q.size:
        powers = q * at * at / 2
        weight = np.ones_like(at)
        moments = []
        for n in range(2, _TERMS):
            moments.append(float((powers * weight).sum()))
            weight = weight * at / (n + 1)
        for moment in reversed(moments):
            excess = excess * s + moment
        excess = excess * s * s - s * float((q * _second(at)).sum())
    log_q, at = log_q[~small], loss[~small]
    q = np.exp(log_q)
    if q.size:
        total = _transform(np.exp(log_q + s[0].real * at), at, s.imag)  # Re z is the same all along a line
        far = at > 30
        beyond = np.where(far, np.exp(log_q + at) - q * (1 + at), q * _second(np.where(far, 0, at)))
        excess = excess + (total - float(q.sum()) - s * float((q * at).sum())) - s * float(beyond.sum())
    return _log1p(excess)


def _direct(log_q: Any, loss: Any, s: Any, peak: float) -> Any:
    total = _transform(np.exp(log_q - peak + s[0].real * loss), loss, s.imag)
    return peak + np.log(total)  # up to whole turns, which whole powers forget


def _transform(weight: Any, loss: Any, at: Any) -> Any:
    """Σ w·e^{iωl} at each ω; evenly spaced ones in blocks, e^{i(a+b)l} = e^{ial}·e^{ibl}."""
    block = 64
    if at.size <= 2 * block:
        return np.exp(1j * np.multiply.outer(at, loss)) @ weight
    rows = -(-at.size // block)
    step = at[1] - at[0]
    near = np.exp(1j * np.multiply.outer(step * np.arange(block), loss)) * weight
    total = np.empty((rows, block), dtype=complex)
    for start in range(0, rows, 64):
        far = np.exp(1j * np.multiply.outer(at[0] + step * block * np.arange(start, min(start + 64, rows)), loss))
        total[start : start + 64] = far @ near.T
    return total.ravel()[: at.size]


def _divergence(log_q: Any, loss: Any, flipped: bool) -> float:
    """E_Q of e^L − 1 − L, which is E_Q of −L; or E_P of e^{−L} − 1 + L."""
    own, ratio = (log_q + loss, -loss) if flipped else (log_q, loss)
    far = ratio > 30
    over = np.where(far, np.exp(own + np.where(far, ratio, 0)), 0) - np.where(far, np.exp(own) * (1 + ratio), 0)
    return float((over + np.where(far, 0, np.exp(own) * _second(np.where(far, 0, ratio)))).sum())


class Points(Step):
    """Finitely many points, atoms or the nodes of a quadrature; only what both sides show."""

    def __init__(self, log_q: Any, loss: Any) -> None:
        self.log_q, self.loss = np.asarray(log_q, dtype=float), np.asarray(loss, dtype=float)
        self.top, self.bottom = float(self.loss.max()), float(self.loss.min())

    def log_moment(self, z: Any) -> Any:
        return _of_nodes(self.log_q, self.loss, z)

    def kl(self, flipped: bool) -> float:
        return _divergence(self.log_q, self.loss, flipped)

    def nodes(self, end: float) -> int:
        return int(self.loss.size)


def laplace_points(m: float, end: float = 0.0) -> Points:
    """Lap(0) against Lap(m): an atom at either end, e^{−l/2 − m/2}/4 of H0 between."""
    pieces = max(4, math.ceil(end * m / 4), math.ceil(m))
    edges = np.linspace(-m, m, pieces + 1)
    half = m / pieces
    loss = ((edges[:-1] + edges[1:]) / 2)[:, None] + half * _NODES
    log_q = -loss / 2 - m / 2 - math.log(4) + np.log(half * _WEIGHTS)
    ends = [-math.log(2), -math.log(2) - m]
    return Points(np.append(log_q.ravel(), ends), np.append(loss.ravel(), [-m, m]))


def sampled_points(of: Points, rate: float) -> Points:
    """Q against (1−q)Q + qP."""
    far = of.loss > 500
    near = np.log1p(rate * np.expm1(np.where(far, 0.0, of.loss)))
    return Points(of.log_q, np.where(far, of.loss + math.log(rate), near))


class Mixed(Step):
    """Σ w₀ N(c₀, 1) against Σ w₁ N(c₁, 1), the weights of each given as those of 0 left out: shifts other than 0."""

    def __init__(self, first: list[tuple[float, float]], second: list[tuple[float, float]]) -> None:
        """Lists of (weight, shift) of H0 and of H1; what is left is at 0."""
        self.first, self.second = first, second
        shifts = [c for _, c in first + second]
        self.low, self.high = min([0.0, *shifts]), max([0.0, *shifts])
        self.widest = max(self.high, -self.low)
        none0, none1 = (1 - MP.fsum(MP.mpf(w) for w, _ in side) for side in (first, second))
        if not any(c < 0 for c in shifts) and none1 > 0:
            self.bottom = MP.log(none1 / none0)
        if not any(c > 0 for c in shifts) and none0 > 0:
            self.top = MP.log(none1 / none0)
        self._kept: dict[tuple[float, float, float], tuple[Any, Any]] = {}
        self.end = 0.0
        at = self._ratio(second, np.array([-1e-3, 1e-3])) - self._ratio(first, np.array([-1e-3, 1e-3]))
        self._slope = float(at[1] - at[0]) / 2e-3

    def _ratio(self, side: list[tuple[float, float]], y: Any) -> Any:
        """log of the density over that of N(0, 1)."""
        over = sum((w * np.expm1(np.minimum(c * y - c * c / 2, 600.0)) for w, c in side), np.zeros_like(y))
        with np.errstate(divide="ignore", invalid="ignore"):
            near = np.log1p(np.maximum(over, -1.0))
        left = 1 - sum(w for w, _ in side)
        logs = [np.full_like(y, math.log(left))] if left > 0 else []
        logs += [math.log(w) + c * y - c * c / 2 for w, c in side]
        return np.where(np.abs(over) < 0.5, near, np.logaddexp.reduce(logs, axis=0))

    def _range(self, z: float) -> tuple[float, float]:
        most = 3 * 1.5 ** math.ceil(math.log((max(2.0, z + 1, -z) + 1) / 3) / math.log(1.5) - 1e-9)
        # where all shifts go one way, the loss falls no faster than at 0 on the other, and a tilt moves the mass so far
        back = self._slope * 1.5 * most if z < 0 else 0.0
        low, high = min(self.low * most, -back), max(self.high * most, back)
        return low - _FAR, high + _FAR

    def too_far(self, z: float) -> bool:
        return max(abs(z), 3.0) * self.widest > 400

    def nodes(self, end: float) -> int:
        reach = self._range(0.0)
        return int(16 * (reach[1] - reach[0]) * max(1.0, self.widest / 1.5, end * self.widest / 8))

    def prepare(self, end: float) -> None:
        self.end = end

    def _points(self, z: float, end: float = 0.0) -> tuple[Any, Any]:
        """Panels short enough for the bends of log r, and where it matters for e^{iωL}."""
        low, high = self._range(z)
        key = (round(low, 9), round(high, 9), end)
        if key not in self._kept:
            coarse = np.linspace(low, high, 2 + int((high - low) / min(1.0, 1.5 / self.widest)))
            if end:
                loss = self._ratio(self.second, coarse) - self._ratio(self.first, coarse)
                turns = np.abs(np.diff(loss)) * end / 8
                pieces = [np.linspace(a, b, 1 + math.ceil(t) + 1)[:-1] for a, b, t in
                          zip(coarse[:-1], coarse[1:], np.minimum(turns, 4000.0), strict=True)]  # fmt: skip
                coarse = np.append(np.concatenate(pieces), high)
            half = np.diff(coarse) / 2
            y = ((coarse[:-1] + coarse[1:]) / 2)[:, None] + half[:, None] * _NODES
            weight = np.log(half[:, None] * _WEIGHTS) - y * y / 2 - math.log(_ROOT)
            y, weight = y.ravel(), weight.ravel()
            log_q, log_p = self._ratio(self.first, y), self._ratio(self.second, y)
            self._kept = {} if len(self._kept) > 8 else self._kept
            self._kept[key] = weight + log_q, log_p - log_q
        return self._kept[key]

    def log_moment(self, z: Any) -> Any:
        tilt = float(np.real(z[0]))
        if z.size == 1:
            return _of_nodes(*self._points(tilt), z)
        log_q, loss = self._points(tilt, self.end)
        size = log_q + np.maximum(np.maximum((tilt + 1) * loss, loss), 0)
        keep = size > size.max() - 50  # no digit of the sum depends on the others
        return _of_nodes(log_q[keep], loss[keep], z)

    def kl(self, flipped: bool) -> float:
        log_q, loss = self._points(0.0)
        return _divergence(log_q, loss, flipped)
