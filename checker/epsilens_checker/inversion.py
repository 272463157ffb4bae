"""delta(eps) of a product of laws, enclosed: Theorem K1, every omitted term bounded."""

import math
from collections.abc import Callable
from functools import reduce

from flint import acb, arb

from .laws import ZERO, Law, OpenError

#: Proposals: omitted terms beside the first, copies about exp(-DEPTH) beside delta. Then the most terms.
DIGITS, DEPTH, MOST = 1e-12, 42.0, 500_000


class Blur(Law):
    """Lemma K4: the factor that averages delta over eps + U, U a centred sum of uniforms on [-w, w] with E e^U = 1."""

    def __init__(self, width: float, times: int = 12) -> None:
        super().__init__(1)
        self.w, self.times = arb(width), times
        self.centre = times * (self.w.sinh() / self.w).log()
        self.low, self.high = -self.w * times - self.centre, self.w * times - self.centre

    def moment(self, z: acb) -> acb:
        return (z * self.centre).exp() * ((self.w * z).sinh() / (self.w * z)) ** self.times

    def ceiling(self, c: float, y: arb) -> arb:
        return (c * self.centre).exp() * ((self.w * c).cosh() / (self.w * y)) ** self.times


def least(function: Callable[[float], float]) -> float:
    """About where a convex function of x > 0 is least: a proposal."""
    x, value = 1.0, function(1.0)
    for step in (4, 1 / 4, 1.6, 1 / 1.6, 1.15, 1 / 1.15):
        while 1e-9 < x < 1e9 and (there := function(x * step)) < value:
            x, value = x * step, there
    return x


class Inversion:
    """The terms of Theorem K1 at z = c + iks; c, b and the step s are proposed for thresholds near ``eps``."""

    def __init__(self, laws: list[Law], eps: float) -> None:
        self.laws, self.omitted = laws, ZERO

        def size(c: float) -> float:
            return self.cumulant(c) - c * eps - math.log(c * (c + 1))

        best = least(size)
        depth = DEPTH - size(best)  # copies of weight exp(-depth) are small beside delta
        far = {b: self.cumulant(b) - b * eps + depth for b in (best * f for f in (1, 1.03, 1.1, 1.2, 1.5, 2, 3))}
        near = [c for c in (best * f for f in (0.5, 0.7, 0.85, 0.95, 1)) if size(c) < size(best) + 3]
        period, self.c, self.b = min(
            (max(depth / c, height / (b - c)), c, b) for c in near for b, height in far.items() if b > c
        )
        self.step = 2 * math.pi / period
        falls = float(self.ceiling(arb(1e9)) / self.moment(acb(self.c)).real) < 1e-9
        self.blur = None if falls else Blur(12 / (10000 * self.step))
        self.laws = [*laws, self.blur] if self.blur else laws
        self.terms = self.sum_up()

    def cumulant(self, c: float) -> float:
        return float(self.moment(acb(c)).real.log())

    def moment(self, z: acb) -> acb:
        return reduce(acb.__mul__, [law.moment(z) ** law.count for law in self.laws])

    def ceiling(self, y: arb) -> arb:
        return reduce(arb.__mul__, [law.ceiling(self.c, y) ** law.count for law in self.laws])

    def sum_up(self) -> list[tuple[acb, acb]]:
        """Terms until the rest is small: beyond index k they sum to at most sup |M| / (pi y_k).

        Runs of small terms are bounded at once, by M on an interval.
        """
        c, s, terms = arb(self.c), arb(self.step), [(acb(self.c), self.moment(acb(self.c)) / self.c / (self.c + 1))]
        goal, size, k, run = terms[0][1].abs_lower() * s * DIGITS, arb.pos_inf(), 1, 1
        while len(terms) < MOST:
            y, before = s * k, s * (k - 1)
            ceiling = self.ceiling(y)
            if ceiling <= goal * before:
                self.omitted += ceiling / (arb.pi() * before)
                return [(z, term * s / (2 * arb.pi())) for z, term in terms]
            if size <= goal:
                end = y + s * (run - 1)
                share = self.moment(acb(c, y.union(end))).abs_upper() * (1 / before - 1 / end) / arb.pi()
                if share <= goal / 100:
                    self.omitted += share
                    k, run = k + run, run * 2
                    continue
                run = max(run // 2, 1)
            z = acb(c, y)
            moment = self.moment(z)
            terms.append((z, 2 * moment / (z * (z + 1))))
            size = (moment / z).abs_upper() * 64
            k += 1
        raise OpenError("too many terms")

    def mean(self, eps: arb) -> arb:
        """Theorem K1: delta(eps), or its mean under the blur."""
        total = sum(((-z * eps).exp() * term for z, term in self.terms), acb(0)).real
        total += arb(0, (self.omitted * (-self.c * eps).exp()).upper())
        c, b, period = arb(self.c), arb(self.b), 2 * arb.pi() / arb(self.step)
        chernoff = (b / (1 + b)) ** b / (1 + b) * self.moment(acb(b)).real * (-b * eps).exp()
        copies = 1 / ((c * period).exp() - 1) + chernoff / (((b - c) * period).exp() - 1)
        return (total - copies).union(total)

    def delta(self, eps: arb) -> arb:
        if self.blur is None:
            return self.mean(eps)
        low, high = self.blur.low, self.blur.high
        theta = (high.exp() - 1) / (high.exp() - low.exp())
        below = (self.mean(eps - low).lower() - (1 - theta) * self.mean(eps + high - low).upper()) / theta
        return below.union(self.mean(eps))
