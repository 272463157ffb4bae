"""Laws of the line that the library has in another form, for the general law to be tested with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from epsilens.checks import Array
from epsilens.laws.piecewise import Tail
from epsilens.numerics.special import mills

_LOG2 = np.log(2.0)
_HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)


@dataclass(frozen=True, slots=True)
class NormalLaplace:
    """location + N(0, σ²) + Lap(b): Laplace noise about normal data (paper 004, Lemma 2).

    With t = (x − location)/σ and r = σ/b the density is φ(t)·(M(r+t) + M(r−t))/(2b), M Mills' ratio.
    """

    sigma: float
    b: float
    location: float = 0.0

    @property
    def knots(self) -> tuple[float, ...]:
        """None: the density is smooth."""
        return ()

    @property
    def atoms(self) -> tuple[tuple[float, float], ...]:
        return ()

    @property
    def support(self) -> tuple[float, float]:
        return (-np.inf, np.inf)

    @property
    def centre(self) -> float:
        return self.location

    @property
    def scale(self) -> float:
        """The larger of the two."""
        return max(self.sigma, self.b)

    def _log_sides(self, x: Array) -> tuple[Array, Array, Array]:
        t, r = (np.asarray(x, dtype=float) - self.location) / self.sigma, self.sigma / self.b
        base = r * r / 2
        return t, base + r * t + log_ndtr(-t - r), base - r * t + log_ndtr(t - r)

    def tails(self) -> tuple[Tail, Tail]:
        """The Laplace part, raised by e^{σ²/2b²}."""
        log_factor, at = (self.sigma / self.b) ** 2 / 2 - np.log(2 * self.b), self.location / self.b
        return Tail(1 / self.b, 0, float(log_factor - at)), Tail(1 / self.b, 0, float(log_factor + at))

    def log_pdf(self, x: Array) -> Array:
        """The two exponential sides, added in logs."""
        _, left, right = self._log_sides(x)
        return np.asarray(np.logaddexp(left, right) - np.log(2 * self.b))

    def _log_tail(self, x: Array) -> Array:
        """log P(X ≤ −|x − location|): φ(t)(M(t) − ½M(r+t)) + ½·(exponential side), t = |·|/σ: positive terms."""
        t, r = np.abs(np.asarray(x, dtype=float) - self.location) / self.sigma, self.sigma / self.b
        normal = np.log(mills(t) - 0.5 * mills(r + t)) - t * t / 2 - _HALF_LOG_2PI
        side = r * r / 2 - r * t + log_ndtr(t - r) - _LOG2
        return np.asarray(np.logaddexp(normal, side))

    def log_cdf(self, x: Array) -> Array:
        """The tail on the left; one minus it on the right."""
        tail = self._log_tail(x)
        return np.where(np.asarray(x) < self.location, tail, np.log1p(-np.exp(np.minimum(tail, -_LOG2))))

    def log_sf(self, x: Array) -> Array:
        """The mirror image of the cdf."""
        tail = self._log_tail(x)
        return np.where(np.asarray(x) > self.location, tail, np.log1p(-np.exp(np.minimum(tail, -_LOG2))))
