"""What every representation of the two laws offers, and all that the readings ask of it.

H0 is the law of the observation if the person is absent (or has the first value, or nobody tampered), H1 if
they are present. Write ``llr`` for log dH1/dH0. The trade-off is T(H0, H1): α is the false-positive rate of a
test of H0, 1 − f(α) its recall. Arguments are float64 arrays, already checked; results broadcast.
"""

from __future__ import annotations

from typing import Protocol

from ..checks import Array

__all__ = ["Law"]


class Law(Protocol):
    """A pair of laws of one observation."""

    @property
    def symmetric(self) -> bool:
        """Whether T(H0, H1) = T(H1, H0), so that one order serves both."""
        ...

    @property
    def direction(self) -> str:
        """``exact`` for closed forms; ``upper`` where a stated error is rounded against the defender."""
        ...

    def reverse(self) -> Law:
        """The same pair in the other order."""
        ...

    def tradeoff(self, alpha: Array) -> Array:
        """f(α), the least type-II error at type-I error α."""
        ...

    def roc(self, alpha: Array) -> Array:
        """1 − f(α), with relative precision where it is small."""
        ...

    def inverse_roc(self, recall: Array) -> Array:
        """The least α at which the recall is reached."""
        ...

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        """(α, recall) of the test that rejects H0 where llr > log_threshold."""
        ...

    def profile(self, log_threshold: Array) -> Array:
        """h(t) = ∫(dH1 − t·dH0)₊ at t = exp(log_threshold); δ(ε) in this order is h(e^ε)."""
        ...

    def profile_inverse(self, delta: Array) -> Array:
        """The least ε ≥ 0 with h(e^ε) ≤ δ; infinite where there is none."""
        ...

    def max_llr(self) -> Array:
        """The supremum of llr; infinite where H1 can show what H0 never does."""
        ...

    def log_moment(self, a: Array) -> Array:
        """log ∫ dH1^a dH0^{1−a}, for any real a; +∞ where it diverges."""
        ...

    def kl(self) -> Array:
        """D(H0‖H1) in nats."""
        ...

    def auc(self) -> Array:
        """Area under the optimal ROC curve."""
        ...

    def psi(self) -> Array:
        """The least μ such that f ≥ G_μ, the trade-off of N(0,1) against N(μ,1)."""
        ...

    def fbeta(self, beta: Array, odds: Array) -> Array:
        """The largest Fβ over all tests, with odds = P(H0)/P(H1)."""
        ...
