"""Many releases observed together: the composed privacy loss, with a certified bracket.

``Loss`` holds the steps of a product and answers each question by a slice of its profile made for it, by the series of
:mod:`.series` or on a lattice. It returns the side that does not flatter us, an upper bound on risk;
``other_side()`` is the same law seen from the other side, so that the two together are the bracket. What is left out,
cut off or rounded is all inside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...checks import Array
from ...numerics.written import brief
from ...readings.guesses import fbeta_floor
from ...readings.law import Known
from .moments import ERROR
from .order import ROUGH, Order, Product, Work, probit_gap
from .sampled import Swapped
from .step import Composable, Counted

__all__ = ["WIDTH", "Loss"]

Works = tuple[Work, Work]  # in this order and in the other

WIDTH = 1e-3
_TILTS = np.geomspace(0.05, 200.0, 24)  # of Chernoff's bounds
_ULPS = 2e-15
_BESIDE = 1e-3  # of the width: how well a term must be known beside a larger one


class Loss(Composable):
    """A product of steps, each (step, count); ``width`` is the relative width asked of a bracket.

    ``known`` is a bracket, or a bound where some step is only known to dominate what it stands for.
    """

    def __init__(self, steps: Sequence[Counted], width: float = WIDTH, *, bound: bool = False) -> None:
        product = Product(steps)
        bound = bound or any(step.known is Known.BOUND for step, _ in steps)
        self.known = Known.BOUND if bound else Known.BRACKET
        self._set(Order(product, False, width), Order(product, True, width), True)

    def _set(self, forward: Order, backward: Order, upper: bool) -> Loss:
        self._forward, self._backward, self._upper = forward, backward, upper
        return self

    def _facts(self) -> tuple[Any, ...]:
        """What makes it this law, whatever it has been asked so far."""
        return (self._counted, self.width, self.known, self._upper, self.flipped)

    def __eq__(self, other: object) -> bool:
        return self._facts() == other._facts() if isinstance(other, Loss) else NotImplemented

    def __hash__(self) -> int:
        return hash((Loss, self._facts()))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, self._facts())

    def __repr__(self) -> str:
        return f"Loss({brief(self.steps())}, width={self.width:g}, {self.known})"

    @property
    def _counted(self) -> tuple[Counted, ...]:
        """The steps with their counts, in the order in which they were given."""
        return self._forward.product.steps

    def steps(self) -> tuple[Counted, ...]:
        """The steps with their counts, exchanged where H0 and H1 are."""
        return tuple((Swapped(step), k) for step, k in self._counted) if self.flipped else self._counted

    @property
    def flipped(self) -> bool:
        """Whether H0 and H1 are exchanged."""
        return self._forward.flipped

    @property
    def only1(self) -> float:
        """The H1-mass of losses at +∞."""
        return self._at_top

    @property
    def width(self) -> float:
        """The relative width asked for."""
        return self._forward.width

    @property
    def reached(self) -> bool:
        """Whether every answer so far is as narrow as asked for."""
        return not (self._forward.missed or self._backward.missed)

    @property
    def symmetric(self) -> bool:
        """If every step is."""
        return all(step.mirrored for step, _ in self._counted)

    @property
    def direction(self) -> str:
        """Upper bounds on risk; from the other side, lower ones."""
        return "upper" if self._upper else "lower"

    def reverse(self) -> Loss:
        """The two laws exchanged; what was computed is kept."""
        if self.symmetric:
            return self
        return self._like(self._backward, self._forward, self._upper)

    def other_side(self) -> Loss:
        """The same law from the other side of its bracket."""
        return self._like(self._forward, self._backward, not self._upper)

    def _like(self, forward: Order, backward: Order, upper: bool) -> Loss:
        made = Loss.__new__(Loss)
        made.known = self.known
        return made._set(forward, backward, upper)

    def as_bound(self) -> Loss:
        """The same where it only stands for something no riskier."""
        made = self._like(self._forward, self._backward, self._upper)
        made.known = Known.BOUND
        return made

    def with_width(self, width: float) -> Loss:
        """The same product, to be read to another relative width."""
        product = self._forward.product
        made = self._like(self._forward, self._backward, self._upper)
        return made._set(Order(product, self.flipped, width), Order(product, not self.flipped, width), self._upper)

    def _back(self) -> Order:
        return self._forward if self.symmetric else self._backward

    def _pick(self, bracket: tuple[Array, Array]) -> Array:
        return bracket[1] if self._upper else bracket[0]

    def _outward(self, risk: Array) -> Array:
        """A probability that grows with risk, moved outwards by the rounding of the last operations."""
        slack = _slack(risk)
        return np.minimum(risk * (1 + slack), 1.0) if self._upper else risk * (1 - slack)

    def _inward(self, rest: Array) -> Array:
        """A probability that falls as risk grows, likewise."""
        slack = _slack(rest)
        return rest * (1 - slack) if self._upper else np.minimum(rest * (1 + slack), 1.0)

    @property
    def _ends(self) -> tuple[float, float]:
        low, high = self._forward.product.ends
        return (-high, -low) if self.flipped else (low, high)

    @property
    def _finite_top(self) -> float:
        low, high = self._forward.product.finite_ends
        return -low if self.flipped else high

    @property
    def _at_top(self) -> float:
        product = self._forward.product
        return product.at_bottom if self.flipped else product.at_top

    # -- the profile --------------------------------------------------------------------------------------------

    def profile(self, log_threshold: Array) -> Array:
        """h(e^u): by a slice for u ≥ 0, and h(t) = 1 − t + t·h'(1/t) with the other order below."""
        u = np.asarray(log_threshold, dtype=float)
        return self._mapped(u, self._profile)

    def _mapped(self, values: Array, f: Callable[[Array], Array]) -> Array:
        flat = values.ravel()
        return np.asarray(f(flat).reshape(values.shape)) if flat.size else np.zeros(values.shape)

    def _profile(self, u: Array, work: Works | None = None) -> Array:
        ahead, behind = work or (None, None)
        out = np.empty(u.size)
        positive = u >= 0
        if positive.any():
            out[positive] = self._above(self._forward, u[positive], self._finite_top, self._at_top, work=ahead)
        if not positive.all():
            back = self if self.symmetric else self.reverse()
            v = -u[~positive]
            # what is added to e^v − 1 need not be known better than that
            slack = _BESIDE * self.width * np.expm1(np.minimum(v, 700.0))
            rest = self._above(self._back(), v, back._finite_top, back._at_top, slack, behind)
            with np.errstate(over="ignore"):
                out[~positive] = -np.expm1(-v) + np.exp(-v) * rest
        return self._outward(out)

    def _above(
        self, order: Order, u: Array, most: float, at_top: float, slack: Array | float = 0.0, work: Work | None = None
    ) -> Array:
        """h for u ≥ 0; beyond the largest loss only what lies at +∞ is left."""
        allowed = np.broadcast_to(slack, u.shape)
        out = np.full(u.size, at_top)
        inside = (u < most) & np.isfinite(u)
        if inside.any():
            low, high = order.ask("delta", u[inside], allowed[inside], work)
            if self._upper and (high - low > 1).any():
                high = np.minimum(high, self._chernoff(order, u[inside]))
            out[inside] = np.exp(self._pick((low, high)))
        return np.asarray(np.maximum(out, at_top))

    def _chernoff(self, order: Order, u: Array) -> Array:
        """log of a bound on δ that falls: e^{K(λ)−λu} beside what lies at +∞."""
        if order.product.at_top > 0 or order.product.at_bottom > 0:
            return np.zeros(u.size)
        view = self if order.flipped == self.flipped else self.reverse()
        upper = view if view._upper else view.other_side()
        k_of = upper.log_moment(1 + _TILTS)
        return np.asarray(np.minimum(np.min(k_of - np.multiply.outer(u, _TILTS), axis=-1), 0.0))

    def profile_inverse(self, delta: Array) -> Array:
        """The least ε ≥ 0 with h(e^ε) ≤ δ."""
        return self._mapped(np.asarray(delta, dtype=float), self._epsilon)

    def _epsilon(self, delta: Array) -> Array:
        most, at_top = self._ends[1], self._at_top
        out = np.where(delta >= 1, 0.0, np.where(delta < at_top, np.inf, most))
        nothing = delta >= self._pinsker
        out = np.where(nothing, 0.0, out)
        inside = (delta > max(at_top, 0.0)) & (delta < 1) & (most > 0) & ~nothing
        if inside.any():
            found = self._pick(self._forward.ask("epsilon", np.log(delta[inside])))
            if np.isposinf(found).any():  # no window held it: Chernoff, δ(ε) ≤ e^{K(λ)−λε}
                bounds = (self.log_moment(1 + _TILTS) - np.log(delta[inside])[:, None]) / _TILTS
                found = np.where(np.isposinf(found), bounds.min(axis=1) * (1 + 1e-12), found)
            out[inside] = np.clip(found, 0.0, max(most, 0.0))
        return np.maximum(out, 0.0)

    @cached_property
    def _pinsker(self) -> float:
        """√(KL/2), a δ at which ε = 0 surely holds."""
        return math.sqrt(math.fsum(k * step.kl_bound() for step, k in self._counted) / 2) * (1 + 1e-9)

    def worse_delta(self, epsilon: Array) -> Array:
        """h(e^ε) in the worse order."""
        return self._worse(np.asarray(epsilon, dtype=float), inverse=False)

    def worse_epsilon(self, delta: Array) -> Array:
        """The least ε that holds in both orders."""
        return self._worse(np.asarray(delta, dtype=float), inverse=True)

    def _worse(self, values: Array, *, inverse: bool) -> Array:
        """The larger of both orders; one that rough brackets already put below the other is left at that."""

        def read(law: Loss, at: Array) -> Array:
            return law.profile_inverse(at) if inverse else law.profile(at)

        if self.symmetric:
            return read(self, values)
        back = self.reverse()
        if self.width >= ROUGH / 10:
            return np.maximum(read(self, values), read(back, values))
        if inverse:  # one order may be bounded by less than the other surely reaches
            for law, other in ((self, back), (back, self)):
                below = law if not law._upper else law.other_side()
                if math.isfinite(other._ends[1]) and (read(below, values) >= other._ends[1]).all():
                    return read(law, values)
        ahead, behind = self._forward.rough(), self._backward.rough()
        rough = (self._like(ahead, behind, self._upper), self._like(behind, ahead, self._upper))
        flat = values.ravel()
        (high, low), (back_high, back_low) = (
            (read(v, flat), read(v.other_side(), flat)) if v._upper else (read(v.other_side(), flat), read(v, flat))
            for v in rough
        )
        out = np.zeros(flat.size)
        for law, needed in ((self, ~(high < back_low)), (back, ~(back_high < low))):
            if needed.any():
                out[needed] = np.maximum(out[needed], read(law, flat[needed]))
        return out.reshape(values.shape)

    # -- the curve ----------------------------------------------------------------------------------------------

    def roc(self, alpha: Array) -> Array:
        """The true-positive rate: from above where it is small, from the other order where α is large."""
        return self._mapped(np.asarray(alpha, dtype=float), self._roc)

    def _roc(self, alpha: Array, slack: float = 0.0) -> Array:
        out = np.where(alpha >= 1, 1.0, self._at_top)
        low = (alpha > 0) & (alpha <= 0.5)
        if low.any():
            a = alpha[low]
            with np.errstate(over="ignore"):
                out[low] = np.exp(np.minimum(self._pick(self._forward.ask("roc", np.log(a), slack)), 0.0))
        high = (alpha > 0.5) & (alpha < 1)
        if high.any():
            out[high] = 1 - self._missed(alpha[high], slack)
        most = self._ends[1]
        if math.isfinite(most) and self._upper:  # never above e^L·α either
            with np.errstate(over="ignore", invalid="ignore"):
                out = np.minimum(out, self._at_top + alpha * np.exp(min(most, 700.0)) * (1 + 1e-12))
        return np.maximum(self._outward(out), np.maximum(alpha, self._at_top))

    def _missed(self, alpha: Array, slack: float = 0.0) -> Array:
        """f(α) as the least false-positive rate of the other order at recall 1 − α."""
        bracket = self._back().ask("recall", np.log1p(-alpha), slack)
        with np.errstate(over="ignore"):
            return np.minimum(self._inward(np.exp(bracket[0] if self._upper else bracket[1])), 1 - alpha)

    def tradeoff(self, alpha: Array) -> Array:
        """f(α), rounded down: 1 − TPR, or from the other order where that keeps more digits."""
        return self._mapped(np.asarray(alpha, dtype=float), self._tradeoff)

    def _tradeoff(self, alpha: Array) -> Array:
        out = 1 - self._roc(alpha)
        fine = (alpha > 0) & (alpha < 1) & (out < 0.1)
        if fine.any():
            other = self._missed(alpha[fine])
            out[fine] = np.maximum(out[fine], other) if self._upper else np.minimum(out[fine], other)
        return out

    def inverse_roc(self, recall: Array) -> Array:
        """The least α at which the recall is reached, rounded down (towards more risk)."""
        return self._mapped(np.asarray(recall, dtype=float), self._inverse_roc)

    def _inverse_roc(self, recall: Array) -> Array:
        out = np.where(recall >= 1, 1.0, 0.0)
        if self._upper and self._at_bottom > 0:
            out = np.where(recall >= 1, 1 - self._at_bottom, out)
        inside = (recall > self._at_top) & (recall < 1)
        if inside.any():
            bracket = self._forward.ask("recall", np.log(recall[inside]))
            with np.errstate(over="ignore"):
                found = self._inward(np.exp(bracket[0] if self._upper else bracket[1]))
                out[inside] = np.minimum(found, recall[inside])
        return out

    @property
    def _at_bottom(self) -> float:
        product = self._forward.product
        return product.at_top if self.flipped else product.at_bottom

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        """(α, recall) that the threshold test surely reaches: at most, and at least."""
        u = np.asarray(log_threshold, dtype=float)
        pairs = [self._at(float(v)) for v in u.ravel()]
        alpha, recall = (np.asarray([p[i] for p in pairs]).reshape(u.shape) for i in (0, 1))
        return alpha, recall

    def _at(self, u: float) -> tuple[float, float]:
        low, high = self._ends
        if u >= high:
            return 0.0, self._at_top
        if u < low:
            return 1.0, 1.0
        return self._forward.test(u)

    def auc(self) -> Array:
        """The area under the ROC curve, on a grid that is fine at both ends.

        The curve is concave: its height in the middle of a cell times the width is at least its area there, the chord
        between its ends at most. The first is taken from above, the second from below.
        """
        n = round(80 * min(max(math.sqrt(2e-4 / self.width), 1.0), 40.0))  # both errors fall with the square
        grid = np.concatenate(([0.0], np.geomspace(1e-12, 0.02, n), np.linspace(0.02, 0.5, 2 * n)[1:]))
        a = np.concatenate((grid, 1 - grid[::-1][1:]))
        slack = 0.2 * self.width * float(self.profile(np.asarray(0.0)))
        if self._upper:
            return np.asarray(min(float(np.diff(a) @ self._roc((a[1:] + a[:-1]) / 2, slack)) * (1 + 1e-12), 1.0))
        y = self._roc(a, slack)
        return np.asarray(float(np.diff(a) @ (y[1:] + y[:-1])) / 2 * (1 - 1e-12))

    # -- the rest -----------------------------------------------------------------------------------------------

    def max_llr(self) -> Array:
        """The sum of the largest losses."""
        return np.asarray(self._ends[1])

    def log_moment(self, a: Array) -> Array:
        """Moments multiply; quadrature's error widens them away from 0."""
        a = np.asarray(a, dtype=float)
        out = np.empty(a.size)
        for i, power in enumerate(a.ravel()):
            p = 1 - power if self.flipped else power
            out[i] = math.fsum(k * step.log_moment(float(p)) for step, k in self._counted)
        return np.asarray((out * self._rounded).reshape(a.shape))

    @property
    def _rounded(self) -> float:
        return 1 + ERROR if self._upper else 1 - ERROR

    def kl(self) -> Array:
        """Divergences add up."""
        if not self.flipped:
            total = math.fsum(k * step.kl() for step, k in self._counted)
        else:  # D(H1‖H0) = E_{H1} L: the slope of the log moment at 1, by the same positive sum with the laws exchanged
            total = math.fsum(k * step.kl_back() for step, k in self._counted)
        return np.asarray(total * self._rounded)

    def psi(self) -> Array:
        """At most √Σψ²; less where the loss is bounded, from the curve itself.

        Of normal noise, sampled or not, ψ is reached in the limit α → 0, whatever else is observed beside it.
        """
        bound = math.sqrt(math.fsum(k * step.psi() ** 2 for step, k in self._counted))
        least = math.sqrt(math.fsum(k * step.least_psi**2 for step, k in self._counted))
        if least >= bound * (1 - self.width):
            return np.asarray(bound if self._upper else least)
        if not math.isfinite(bound) and (self._at_top > 0 or self._at_bottom > 0):
            return np.asarray(math.inf)
        low, high = self._psi_bracket()
        return np.asarray(min(high, bound) if self._upper else max(min(low, bound), least))

    def _psi_bracket(self) -> tuple[float, float]:
        """sup Φ⁻¹(TPR) − Φ⁻¹(α) over α ≤ ½ in both orders, refined where it could be largest."""
        low = high = 0.0
        known = [(0.0, math.fsum(k * step.most_rho for step, k in self._counted))]
        bounded = [(max(-step.ends[0], step.ends[1]), step, k) for step, k in self._counted]
        rest = math.fsum(k * step.most_rho for most, step, k in bounded if not math.isfinite(most))
        known.append((math.fsum(k * most for most, _, k in bounded if math.isfinite(most)), rest))
        views = [self] if self.symmetric else [self, self.reverse()]
        for view in views:
            a, b = probit_gap(view._forward, view._back(), view._ends[1], known)
            low, high = max(low, a), max(high, b)
        return low, high

    def fbeta(self, beta: Array, odds: Array) -> Array:
        """The root F of (1+β²−F)·h(F·c/(1+β²−F)) = F·β², on this side's h."""
        beta, odds = np.broadcast_arrays(np.asarray(beta, dtype=float), np.asarray(odds, dtype=float))
        floor = fbeta_floor(beta, odds)
        out = np.array(
            [
                self._fbeta(float(b), float(c), float(f))
                for b, c, f in zip(beta.ravel(), odds.ravel(), floor.ravel(), strict=True)
            ]
        )
        return out.reshape(beta.shape)

    def _fbeta(self, beta: float, c: float, floor: float) -> float:
        b2 = beta * beta
        if c == 0:
            return 1.0
        if math.isinf(c) or not math.isfinite(b2):
            return floor

        work = (Work(), Work())

        def over(f: float) -> bool:
            t = math.log(f) + math.log(c) - math.log(1 + b2 - f)
            return (1 + b2 - f) * float(self._profile(np.asarray([t]), work)[0]) > f * b2

        low, high = floor, 1.0
        if not over(low) or floor >= 1:
            return floor
        if over(high):
            return 1.0
        while high - low > 4e-16 * high and high - low > 1e-3 * self.width * max(high - floor, 1e-12):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if over(middle) else (low, middle)
        return high if self._upper else low


def _slack(probability: Array) -> Array:
    """The relative rounding of a probability that was a logarithm."""
    return np.asarray(_ULPS - 1e-15 * np.log(np.clip(probability, 1e-300, 1.0)))


def _restored(steps: tuple[Counted, ...], width: float, known: Known, upper: bool, flipped: bool) -> Loss:
    """A law unpickled: what it had computed stays behind."""
    made = Loss(steps, width, bound=known is Known.BOUND)
    made = made._like(made._backward, made._forward, True) if flipped else made
    return made if upper else made.other_side()
