"""Two mixtures of normals on opposite sides, Σ w_j·N(−c_j, 1) against Σ w_j·N(c_j, 1): records replaced in a sample.

**It dominates vectors.** Let H1 = Σ p_i·N(u_i, I) and H0 = Σ r_j·N(v_j, I) with |u_i − v_j| ≤ m_i + n_j for all i, j.
Then Σ p_i·N(m_i, 1) against Σ r_j·N(−n_j, 1) dominates the pair. On the line the best test at t rejects above some τ.
Give each i the share λ_i = p_i·φ(τ−m_i)/Σ p·φ(τ−m) of what is subtracted: ∫(dH1 − t·dH0)₊ is at most

    Σ_i ∫(p_i·dN(u_i) − t·λ_i·dH0)₊ = Σ_i p_i·E(1 − Σ_j b_ij·Y_ij)₊,     Y_ij = dN(v_j)/dN(u_i) under N(u_i).

Y_ij is lognormal of size |u_i − v_j|, grows with it in convex order, and a sum is largest in convex order when its
terms rise and fall together: on the line they do, at the largest size. There every term changes sign at τ, by the
choice of λ, so that the bound is the integral itself. Every t, so both orders.

A group of which each record is drawn or not, and has one value or another of norm at most μ, is this pair with w_j
binomial and c_j = jμ: what is drawn in one world lies at most (i + j)μ from what is drawn in the other, whoever it is.
Values ±μ attain it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...checks import Array
from ..composition.moments import Unbounded
from ..composition.step import Step
from .mixture import group_step

_U = 2.0**-53
_HALVINGS = 100


@dataclass(frozen=True)
class Opposite(Unbounded):
    """``side`` is N(0, 1) against the mixture; here its mirror image takes the place of N(0, 1)."""

    side: Step

    @property
    def shift(self) -> float:
        """Of one side."""
        return self.side.shift

    @property
    def sampled(self) -> bool:
        """As the side."""
        return self.side.sampled

    @property
    def price(self) -> float:
        """Two of one side, and where a loss is must be searched for."""
        return 2 * self.side.price

    def loss(self, x: Array) -> Array:
        """F(x) − F(−x), F the loss of one side."""
        x = np.asarray(x, dtype=float)
        return np.asarray(self.side.loss(x) - self.side.loss(-x))

    def slope(self, x: Array) -> Array:
        """F'(x) + F'(−x)."""
        x = np.asarray(x, dtype=float)
        return np.asarray(self.side.slope(x) + self.side.slope(-x))

    def place(self, loss: Array) -> Array:
        """Newton's steps, kept between 0 and the place of the loss on one side: beyond 0, F(−x) < 0."""
        loss = np.asarray(loss, dtype=float)
        flat = np.abs(loss).ravel()
        out = np.where(np.isposinf(flat), np.inf, 0.0)
        inside = np.flatnonzero((flat > 0) & np.isfinite(flat))
        if inside.size:
            out[inside] = self._newton(flat[inside])
        return np.asarray(np.copysign(out.reshape(loss.shape), loss))

    def _newton(self, wanted: Array) -> Array:
        low, high = np.zeros(wanted.size), np.maximum(self.side.place(wanted), 0.0)
        x = high.copy()
        live = np.arange(wanted.size)
        for _ in range(_HALVINGS):
            at = x[live]
            over = self.loss(at) - wanted[live]
            slope = self.slope(at)
            high[live] = np.where(over >= 0, at, high[live])
            low[live] = np.where(over < 0, at, low[live])
            with np.errstate(divide="ignore", invalid="ignore"):
                guess = at - over / slope
            middle = 0.5 * (low[live] + high[live])
            inside = (guess >= low[live]) & (guess <= high[live]) & np.isfinite(guess)
            x[live] = np.where(inside, guess, middle)
            step = np.abs(x[live] - at)
            live = live[step > 4 * _U * (np.abs(at) + wanted[live] / np.maximum(slope, 1e-300))]
            if not live.size:
                break
        return x

    def log_p0(self, x: Array) -> Array:
        """The mirror image of the mixture: φ(x)·e^{F(−x)}."""
        x = np.asarray(x, dtype=float)
        return np.asarray(self.side.log_p0(x) + self.side.loss(-x))

    def bend(self, x: Array) -> Array:
        """Both sides."""
        x = np.abs(x)
        return np.asarray(2 * self.side.bend(x) - x)

    def wave(self, x: Array) -> Array:
        """Both sides."""
        return np.asarray(2 * self.side.wave(np.abs(x)))

    def error(self, x: Array) -> Array:
        """Both sides, and the inverse."""
        x = np.asarray(x, dtype=float)
        size = np.abs(self.side.loss(x)) + np.abs(self.side.loss(-x))
        return np.asarray(self.side.error(x) + self.side.error(-x) + 16 * _U * size)

    def above(self, x: float) -> tuple[float, float]:
        """Both mixtures."""
        return self.side.above(x)[0], self.side.below(-x)[0]

    def below(self, x: float) -> tuple[float, float]:
        """By symmetry."""
        return self.side.below(x)[0], self.side.above(-x)[0]

    def reach(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        """Of one side, each way."""
        return -self.side.reach(log_bottom, log_bottom)[1], self.side.reach(log_top, log_top)[1]

    def growth(self, power: float) -> tuple[float, float]:
        """That of one side upwards, where H0 ≤ N(0) beyond 0, and H0 ≥ w·N(0) with the weight w of no shift."""
        low, high = self.side.growth(abs(power))
        return max(low - 1 / abs(power), 0.0), min(high - self.side.ends[0], self.most_rho * abs(power))

    def psi(self) -> float:
        """Twice the largest shift."""
        return 2 * self.shift

    @cached_property
    def turns(self) -> tuple[float, ...]:
        """Of one side, each way."""
        return (*self.side.turns, *(-turn for turn in self.side.turns))

    @property
    def moves(self) -> bool:
        """As the side."""
        return self.side.moves

    def grouped(self, size: int) -> Step:
        """More of them on either side."""
        return Opposite(self.side.grouped(size))


def group_replaced(mu: float, rate: float, people: int) -> Step:
    """A Poisson sample of normal noise, for a group whose records have some values or others, 0 < q < 1."""
    return Opposite(group_step(mu, rate, people))
