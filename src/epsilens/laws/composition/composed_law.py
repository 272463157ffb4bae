"""Many releases observed together: the composed privacy loss, with a certified bracket.

``ComposedLaw`` holds the steps of a product and answers each question by an :class:`.evaluator.Evaluator`, one for each
order of H0 and H1. It returns the side that does not flatter us, an upper bound on risk; ``other_side()`` is the same
law seen from the other side, so that the two together are the bracket. What is left out, cut off or rounded is all
inside. The law with H0 and H1 exchanged and the law from the other side are views that share the evaluators, which own
all that was made to answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Self

import numpy as np

from ...checks import Array
from ...numerics.formatting import short_repr
from ...readings.guesses import fbeta_floor
from ...readings.law import Exactness
from .evaluator import ROUGH, Budget, Evaluator, Product, ReadingWork
from .gdp_index import IndexView, mu_of, psi_of
from .quadrature import Sides, area, best_fbeta, divergences, rounding
from .step import Composable, CountedStep
from .wrappers import ReversedStep

WIDTH = 1e-3
_LEAST_DELTA = 1e-300  # no δ below is asked for
Works = tuple[ReadingWork | None, ReadingWork | None]  # in this order and in the other
Facts = tuple[tuple[CountedStep, ...], float, Exactness, bool, bool, int]  # steps, width, known, upper, flipped, part


_LEAST_PROBABILITY = 1e-300  # a probability that is told from none
_LEAST_RECALL = 1e-280  # recalls below have too few digits
_ADDEND_SHARE = 1e-3  # of the width: how well a term must be known beside a larger one


class ComposedLaw(Composable):
    """A product of steps, each (step, count); ``width`` is the relative width asked of a bracket.

    ``known`` is a bracket, or a bound where some step is only known to dominate what it stands for.
    """

    def __init__(self, steps: Sequence[CountedStep], width: float = WIDTH, *, bound: bool = False) -> None:
        product = Product(steps)
        bound = bound or any(step.known is Exactness.BOUND for step, _ in steps)
        self.known = Exactness.BOUND if bound else Exactness.BRACKET
        self._set(Evaluator(product, False, width), Evaluator(product, True, width), True)

    def _set(
        self, forward: Evaluator, backward: Evaluator, upper: bool, works: Works = (None, None), rough: bool = False
    ) -> Self:
        self._forward, self._backward, self._upper, self._works, self._rough = forward, backward, upper, works, rough
        return self

    def _facts(self) -> Facts:
        """What makes it this law, whatever it has been asked so far."""
        return (self._counted, self.width, self.known, self._upper, self.flipped, self._forward.part)

    def __reduce__(self) -> tuple[Callable[..., ComposedLaw], Facts]:
        return (_restored, self._facts())

    def __eq__(self, other: object) -> bool:
        return self._facts() == other._facts() if isinstance(other, ComposedLaw) else NotImplemented

    def __hash__(self) -> int:
        return hash((ComposedLaw, self._facts()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({short_repr(self.steps())}, width={self.width:g}, {self.known})"

    @property
    def _counted(self) -> tuple[CountedStep, ...]:
        """The steps with their counts, in the order in which they were given."""
        return self._forward.product.steps

    def steps(self) -> tuple[CountedStep, ...]:
        """The steps with their counts, exchanged where H0 and H1 are."""
        return tuple((ReversedStep(step), k) for step, k in self._counted) if self.flipped else self._counted

    @property
    def flipped(self) -> bool:
        return self._forward.flipped

    @property
    def only1(self) -> float:
        return self._at_top

    @property
    def width(self) -> float:
        return self._forward.width

    @property
    def reached(self) -> bool:
        return not (self._forward.unreached or self._backward.unreached)

    @property
    def symmetric(self) -> bool:
        return self._forward.product.symmetric

    @property
    def direction(self) -> str:
        """Upper bounds on risk; from the other side, lower ones."""
        return "upper" if self._upper else "lower"

    def reverse(self) -> Self:
        """The two laws exchanged; what was computed is kept."""
        if self.symmetric:
            return self
        return self._like(self._backward, self._forward, self._upper, (self._works[1], self._works[0]))

    def other_side(self) -> Self:
        return self._like(self._forward, self._backward, not self._upper, self._works)

    def _like(
        self,
        forward: Evaluator,
        backward: Evaluator,
        upper: bool,
        works: Works = (None, None),
        rough: bool | None = None,
    ) -> Self:
        made = type(self).__new__(type(self))
        made.known = self.known
        return made._set(forward, backward, upper, works, self._rough if rough is None else rough)

    def _sharing(self, budget: Budget) -> Self:
        """The same law from above for one reading that asks much: what is made is shared, and one budget holds."""
        ahead = ReadingWork(budget)
        return self._like(
            self._forward, self._backward, True, (ahead, ahead if self.symmetric else ReadingWork(budget))
        )

    def as_bound(self) -> Self:
        made = self._like(self._forward, self._backward, self._upper)
        made.known = Exactness.BOUND
        return made

    def with_width(self, width: float) -> Self:
        return self._like(self._forward.with_width(width), self._backward.with_width(width), self._upper)

    def sharing(self, of: int) -> Self:
        made = self._like(self._forward.sharing(of), self._backward.sharing(of), self._upper)
        return self if self._forward.part == of else made

    def _other_order(self) -> Evaluator:
        return self._forward if self.symmetric else self._backward

    def _pick(self, bracket: tuple[Array, Array]) -> Array:
        return bracket[1] if self._upper else bracket[0]

    @property
    def _ends(self) -> tuple[float, float]:
        return self._forward.loss_range

    @property
    def _at_top(self) -> float:
        return self._top_of(self._forward)

    def _top_of(self, order: Evaluator) -> float:
        """The mass at +∞; what stands for the end of a list (1e-320 a step) is there for the high end alone."""
        return order.at_top if self._upper or order.at_top >= _LEAST_DELTA else 0.0

    def seen(self, low: Array, high: Array) -> None:
        with np.errstate(invalid="ignore"):
            self._note(bool(np.any(high - low > self.width * np.abs(high) * (1 + 1e-9))))

    def _note(self, wide: bool) -> None:
        self._forward.unreached = self._forward.unreached or bool(wide)

    def _outward(self, risk: Array) -> Array:
        """A probability that grows with risk, moved outwards by the rounding of the last operations."""
        slack = rounding(risk)
        return np.minimum(risk * (1 + slack), 1.0) if self._upper else risk * (1 - slack)

    def _inward(self, rest: Array) -> Array:
        """A probability that falls as risk grows, likewise."""
        slack = rounding(rest)
        return rest * (1 - slack) if self._upper else np.minimum(rest * (1 + slack), 1.0)

    # -- the profile --------------------------------------------------------------------------------------------

    def profile(self, log_threshold: Array) -> Array:
        """h(e^u): by a slice for u ≥ 0, and h(t) = 1 − t + t·h'(1/t) with the other order below."""
        u = np.asarray(log_threshold, dtype=float)
        return self._mapped(u, self._profile)

    def _mapped(self, values: Array, f: Callable[[Array], Array]) -> Array:
        flat = values.ravel()
        return np.asarray(f(flat).reshape(values.shape)) if flat.size else np.zeros(values.shape)

    def _profile(self, u: Array) -> Array:
        # what is added to 1 − t need not be known better than that
        slack = _ADDEND_SHARE * self.width * np.where(u < 0, np.expm1(np.minimum(np.abs(u), 700.0)), 0.0)
        return self._outward(self._rest(u, slack) - np.expm1(np.minimum(u, 0.0)))

    def _rest(self, u: Array, slack: Array | float = 0.0) -> Array:
        """h(e^u) − (1 − e^u)₊, which for u < 0 is e^u·h'(e^{−u}) in the other order."""
        ahead, behind = self._works
        allowed = np.broadcast_to(np.asarray(slack, dtype=float), u.shape)
        out = np.empty(u.size)
        positive = u >= 0
        if positive.any():
            out[positive] = self._profile_above(self._forward, u[positive], allowed[positive], ahead)
        if not positive.all():
            v = -u[~positive]
            out[~positive] = np.exp(-v) * self._profile_above(self._other_order(), v, allowed[~positive], behind)
        return out

    def _profile_above(self, order: Evaluator, u: Array, allowed: Array, work: ReadingWork | None) -> Array:
        """h for u ≥ 0; beyond the largest loss only what lies at +∞ is left."""
        at_top = self._top_of(order)
        out = np.full(u.size, at_top)
        inside = (u < order.finite_top) & np.isfinite(u)
        if inside.any():
            low, high = order.ask("delta", u[inside], allowed[inside], work, rough=self._rough)
            apart = np.exp(np.minimum(high, 0.0)) - np.exp(low)
            if self._upper and ((high - low > 1) & (apart > np.maximum(allowed[inside], _LEAST_PROBABILITY))).any():
                high = np.minimum(high, self._chernoff(order, u[inside]))
                high = np.minimum(high, math.log(max(order.product.most, 1e-300)))
            out[inside] = np.exp(self._pick((low, high)))
        return np.asarray(np.maximum(out, at_top))

    def _chernoff(self, order: Evaluator, u: Array) -> Array:
        """log of a bound on δ that falls: e^{K(λ)−λu} beside what lies at +∞."""
        if order.product.at_top > 0 or order.product.at_bottom > 0:
            return np.zeros(u.size)
        return order.chernoff(lambda tilt, k: k - tilt * u, np.zeros(u.size))

    def profile_inverse(self, delta: Array) -> Array:
        return self._mapped(np.asarray(delta, dtype=float), lambda flat: self._pick(self._epsilons(flat)))

    def _epsilons(self, delta: Array) -> tuple[Array, Array]:
        most, at_top = self._ends[1], self._at_top
        inside = (delta > at_top) & (delta < min(1.0, self._forward.product.nothing)) & (most > 0)
        nothing = (delta >= 1) | (delta >= self._forward.product.nothing)
        low = np.where(nothing, 0.0, np.where(delta < at_top, np.inf, max(most, 0.0)))
        high = low.copy()
        if inside.any():
            within = delta[inside]
            least, largest = self._forward.ask("epsilon", np.log(within), rough=self._rough)
            if np.isposinf(largest).any():  # no window held it: Chernoff, δ(ε) ≤ e^{K(λ)−λε}
                start = np.full(within.size, np.inf)
                bound = self._forward.chernoff(lambda tilt, k: (k - np.log(within)) / tilt, start)
                largest = np.where(np.isposinf(largest), bound * (1 + 1e-12), largest)
            low[inside], high[inside] = (np.minimum(np.maximum(end, 0.0), most) for end in (least, largest))
        return low, high

    def worse_delta(self, epsilon: Array) -> Array:
        return self._worse(np.asarray(epsilon, dtype=float), inverse=False)

    def worse_epsilon(self, delta: Array) -> Array:
        return self._worse(np.asarray(delta, dtype=float), inverse=True)

    def _worse(self, values: Array, *, inverse: bool) -> Array:
        if self.symmetric:
            return self.profile_inverse(values) if inverse else self.profile(values)
        key = inverse, values.tobytes()
        bracket = self._forward.worse.get_or_make(key, lambda: self._worse_order(values.ravel(), inverse))
        return self._pick(bracket).reshape(values.shape)

    def _worse_order(self, flat: Array, inverse: bool) -> tuple[Array, Array]:
        """(low, high) of it; an order that rough brackets already put below the other is left at that."""

        def read(law: ComposedLaw, at: Array) -> tuple[Array, Array]:
            if inverse:
                return law._epsilons(at)
            upper = law if law._upper else law.other_side()
            return upper.other_side()._profile(at), upper._profile(at)

        back, product = self.reverse(), self._forward.product
        if inverse and math.isfinite(self._ends[1]) and not math.isfinite(back._ends[1]):
            found = read(back, flat)
            if (found[0] >= self._ends[1]).all():
                return found
        if inverse and flat.size == 1 and 0 < flat[0] < 1 and not product.at_top and not product.at_bottom:
            found = read(self, flat)
            if self._backward.moments_put_below(math.log(flat[0]), float(found[0][0])):
                return found
        if not flat.size or self.width >= ROUGH / 10:
            here, there = read(self, flat), read(back, flat)
            return np.maximum(here[0], there[0]), np.maximum(here[1], there[1])
        if inverse:  # one order may be bounded by less than the other surely reaches
            for law, other in ((self, back), (back, self)):
                if math.isfinite(other._ends[1]) and (read(law, flat)[0] >= other._ends[1]).all():
                    return read(law, flat)
        orders = self._forward, self._backward
        here, there = (read(self._like(*two, self._upper, rough=True), flat) for two in (orders, orders[::-1]))
        spent = [order.exhausted for order in orders]
        out = np.zeros(flat.size), np.zeros(flat.size)
        for law, exhausted, rough, against in ((self, spent[0], here, there), (back, spent[1], there, here)):
            needed = ~(rough[1] < against[0])
            if needed.any():  # what took all that a reading may cost stays as rough as it is
                found = (rough[0][needed], rough[1][needed]) if exhausted else read(law, flat[needed])
                self._note(exhausted and bool(np.any(found[1] - found[0] > self.width * found[1])))
                for side, value in zip(out, found, strict=True):
                    side[needed] = np.maximum(side[needed], value)
        return out

    # -- the curve ----------------------------------------------------------------------------------------------

    def roc(self, alpha: Array) -> Array:
        """The true-positive rate: from above where it is small, from the other order where α is large."""
        return self._mapped(np.asarray(alpha, dtype=float), self._roc)

    def _roc(self, alpha: Array) -> Array:
        out = np.where(alpha >= 1, 1.0, self._at_top)
        low = (alpha > 0) & (alpha <= 0.5)
        if low.any():
            a = alpha[low]
            with np.errstate(over="ignore"):
                out[low] = np.exp(np.minimum(self._pick(self._forward.ask("roc", np.log(a), work=self._works[0])), 0.0))
        high = (alpha > 0.5) & (alpha < 1)
        if high.any():
            out[high] = 1 - self._missed_rate(alpha[high])
        most = self._ends[1]
        if math.isfinite(most) and self._upper:  # never above e^L·α either
            with np.errstate(over="ignore", invalid="ignore"):
                out = np.minimum(out, self._at_top + alpha * np.exp(min(most, 700.0)) * (1 + 1e-12))
        return np.maximum(self._outward(out), np.maximum(alpha, self._at_top))

    def _missed_rate(self, alpha: Array) -> Array:
        """f(α) as the least false-positive rate of the other order at recall 1 − α."""
        bracket = self._other_order().ask("recall", np.log1p(-alpha), work=self._works[1])
        with np.errstate(over="ignore"):
            return np.minimum(self._inward(np.exp(bracket[0] if self._upper else bracket[1])), 1 - alpha)

    def tradeoff(self, alpha: Array) -> Array:
        """f(α), rounded down: 1 − TPR, or from the other order where that keeps more digits."""
        return self._mapped(np.asarray(alpha, dtype=float), self._tradeoff)

    def _tradeoff(self, alpha: Array) -> Array:
        recall = self._roc(alpha)
        out = 1 - recall
        fine = (alpha > 0) & (alpha < 1) & (out < 0.1)
        if fine.any():  # where few are missed, 1 − recall may not have the digits
            fine &= np.abs(recall - self.other_side()._roc(alpha)) > self.width * out
        if fine.any():
            other = self._missed_rate(alpha[fine])
            out[fine] = np.maximum(out[fine], other) if self._upper else np.minimum(out[fine], other)
        return out

    def inverse_roc(self, recall: Array) -> Array:
        """The least α at which the recall is reached, rounded down (towards more risk)."""
        return self._mapped(np.asarray(recall, dtype=float), self._inverse_roc)

    def _inverse_roc(self, recall: Array) -> Array:
        out = np.where(recall >= 1, 1.0, 0.0)
        if self._upper and self._backward.at_top > 0:
            out = np.where(recall >= 1, 1 - self._backward.at_top, out)
        inside = (recall > self._at_top) & (recall < 1)
        if inside.any():
            bracket = self._forward.ask("recall", np.log(recall[inside]), work=self._works[0])
            with np.errstate(over="ignore"):
                found = self._inward(np.exp(bracket[0] if self._upper else bracket[1]))
                out[inside] = np.minimum(found, recall[inside])
            if self._upper:  # each false positive is worth at most e^L
                out = np.maximum(out, self._inward((recall - self._at_top) * math.exp(-min(self._ends[1], 1e4))))
            elif (low := inside & (recall < _LEAST_RECALL)).any():  # and the first are worth the most
                out[low] = np.minimum(
                    out[low], recall[low] * (self._inverse_roc(np.asarray([_LEAST_RECALL])) / _LEAST_RECALL)
                )
        return out

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
        """The area under the ROC curve, as exact as the width asks of what exceeds ½."""
        return np.asarray(self._whole_curve("auc", 0.0, 0.0, self._auc))

    def _auc(self) -> tuple[float, float]:
        low, high = area(self._sides(Budget.share(self._forward.part)), self._ends, self.width)
        self._note(high - low > 4 * self.width * (high - 0.5) + 4e-15)
        return low, high

    def _sides(self, budget: Budget) -> Sides:
        """h(e^u) − (1 − e^u)₊ from both sides, for one reading of the whole curve."""
        upper = self._sharing(budget)
        return lambda u, slack: (upper.other_side()._rest(u, slack), upper._rest(u, slack))

    def _whole_curve(self, kind: str, one: float, other: float, read: Callable[[], tuple[float, float]]) -> float:
        """This side of a reading of the whole curve, whose bracket is kept."""
        return self._forward.summed.get_or_make((kind, one, other), read)[1 if self._upper else 0]

    # -- the rest -----------------------------------------------------------------------------------------------

    def max_llr(self) -> Array:
        return np.asarray(self._ends[1])

    def log_moment(self, a: Array) -> Array:
        """Moments multiply; quadrature's error widens them away from 0."""
        a = np.asarray(a, dtype=float)
        out = np.empty(a.size)
        for i, power in enumerate(a.ravel()):
            out[i] = self._forward.product.log_moment(float(1 - power if self.flipped else power))
        return np.asarray((out * self._rounded).reshape(a.shape))

    def far_renyi(self, order: Array) -> Array:
        """What the steps grow by adds up, from the side of this law."""
        order = np.asarray(order, dtype=float)
        sign, side = (1.0 if self.flipped else -1.0), (1 if self._upper else 0)
        found = [self._forward.product.moment_growth(sign * float(a))[side] for a in order.ravel()]
        return np.asarray(np.asarray(found) * self._rounded).reshape(order.shape)

    @property
    def _rounded(self) -> float:
        error = self._forward.product.moment_error
        return 1 + error if self._upper else max(1 - error, 0.0)

    def kl(self) -> Array:
        """Divergences add up."""
        if not self.flipped:
            total = math.fsum(k * step.kl() for step, k in self._counted)
        else:  # D(H1‖H0) = E_{H1} L: the slope of the log moment at 1, by the same positive sum with the laws exchanged
            total = math.fsum(k * step.reverse_kl() for step, k in self._counted)
        return np.asarray(total * self._rounded)

    def normal_size(self) -> float:
        """Divergences add up; a plan's nodes will do."""
        return math.sqrt(max(math.fsum(k * divergences(step) for step, k in self._counted), 0.0))

    def psi(self) -> Array:
        return np.asarray(self._whole_curve("psi", 0.0, 0.0, lambda: self._note_bracket(psi_of(self._curve))))

    def practical(self, level: float) -> Array:
        return np.asarray(self._whole_curve("mu", level, 0.0, lambda: self._note_bracket(mu_of(self._curve, level))))

    @property
    def _curve(self) -> IndexView:
        upper = self._sharing(Budget.share(2 * self._forward.part))
        views = [self] if self.symmetric else [self, self.reverse()]
        orders = [(view._forward, view._other_order(), view._ends[1]) for view in views]
        return IndexView(upper, self._sides, self._ends, self._counted, orders)

    def _note_bracket(self, bracket: tuple[float, float]) -> tuple[float, float]:
        """The same, and remembered where it is wider than asked for."""
        self._note(not bracket[1] - bracket[0] <= self.width * bracket[1] and math.isfinite(bracket[0]))
        return bracket

    def fbeta(self, beta: Array, odds: Array) -> Array:
        beta, odds = np.broadcast_arrays(np.asarray(beta, dtype=float), np.asarray(odds, dtype=float))
        out = [
            self._whole_curve("fbeta", b, c, lambda b=b, c=c: self._fbeta(b, c))  # type: ignore[misc]
            for b, c in zip(beta.ravel().tolist(), odds.ravel().tolist(), strict=True)
        ]
        return np.asarray(out).reshape(beta.shape)

    def _fbeta(self, beta: float, odds: float) -> tuple[float, float]:
        upper = self._sharing(Budget.share(self._forward.part))

        def rest(law: ComposedLaw) -> Callable[[float], float]:
            return lambda u: float(law._rest(np.asarray([u]))[0])

        low, high = best_fbeta((rest(upper.other_side()), rest(upper)), beta, odds, self.width)
        floor = float(fbeta_floor(np.asarray(beta), np.asarray(odds)))
        self._note(high - low > 4 * self.width * (high - floor) + 8e-15 * high)
        return low, high


def _restored(
    steps: tuple[CountedStep, ...], width: float, known: Exactness, upper: bool, flipped: bool, part: int
) -> ComposedLaw:
    made = ComposedLaw(steps, width, bound=known is Exactness.BOUND).sharing(part)
    made = made._like(made._backward, made._forward, True) if flipped else made
    return made if upper else made.other_side()
