"""delta(eps) of a product of laws, enclosed: Theorem A with every omitted term bounded."""

import math
from functools import reduce

from flint import acb, arb

from .laws import Clock, Law

DIGITS = 1e-14


class Blur(Law):
    """Lemma 3: the factor that averages delta over eps + U, U a centred sum of uniforms on [-w, w] with E e^U = 1."""

    def __init__(self, width: float, times: int = 12) -> None:
        super().__init__(1)
        self.width, self.times = arb(width), times
        centre = times * (self.width.sinh() / self.width).log()
        self.low, self.high = -self.width * times - centre, self.width * times - centre
        self.centre = centre

    def moment(self, z: acb) -> acb:
        return (z * self.centre).exp() * ((self.width * z).sinh() / (self.width * z)) ** self.times

    def ceiling(self, c: float, y: arb) -> arb:
        return (c * self.centre).exp() * ((self.width * c).cosh() / (self.width * y)) ** self.times


def least(function, start: float = 1.0) -> float:
    """About where a convex function of x > 0 is least: a proposal."""
    k, step, values = 0, 16, {}

    def at(k: int) -> float:
        values[k] = values[k] if k in values else function(start * 1.1**k)
        return values[k]

    while step and abs(k) < 300:
        Clock.check()
        before, k = k, min((k, k - step, k + step), key=at)
        step = step // 2 if k == before else step
    return start * 1.1**k


class Inversion:
    """The terms of Theorem A at z = c + iks; c, s and b are proposed for thresholds near ``eps``."""

    def __init__(self, laws: list[Law], eps: float, blur: bool) -> None:
        self.laws, self.blur, self.terms, self.omitted = list(laws), None, [], arb(0)
        height = lambda c: self.cumulant(c) - c * eps - math.log(c * (c + 1))  # noqa: E731
        self.c = least(height)
        depth = 40 - height(self.c)  # copies of weight exp(-depth) are small beside delta
        reach = {b: (self.cumulant(b) - b * eps + depth) / (b - self.c) for b in (self.c * f for f in (1.2, 1.5, 2, 3))}
        self.b = min(reach, key=reach.get)
        self.step = 2 * math.pi / max(reach[self.b], depth / self.c)
        if blur:
            self.blur = Blur(12 / (20000 * self.step))
            self.laws.append(self.blur)
        self.sum_up()

    def cumulant(self, c: float) -> float:
        return float(self.moment(acb(c)).real.log())

    def moment(self, z: acb) -> acb:
        return reduce(acb.__mul__, [law.moment(z) ** law.count for law in self.laws])

    def sum_up(self) -> None:
        """Terms until the rest is small: beyond index k they sum to at most sup |M| / (pi y_k). Small runs are bounded
        at once, by M on an interval.
        """
        s, k, run, goal, size = arb(self.step), 0, 1, arb(0), arb(0)
        while True:
            Clock.check()
            y, before, z = s * k, s * (k - 1), acb(arb(self.c), s * k)
            if k > 1:
                rest = reduce(arb.__mul__, [law.ceiling(self.c, y) ** law.count for law in self.laws])
                if rest / y <= goal:
                    self.omitted += rest / (arb.pi() * before)
                    return
                if size <= goal:
                    end = y + s * (run - 1)
                    share = self.moment(acb(arb(self.c), y.union(end))).abs_upper() * (1 / before - 1 / end) / arb.pi()
                    if share <= goal / 64:
                        self.omitted += share
                        k, run = k + run, run * 2
                        continue
                    run = max(run // 2, 1)
            moment = self.moment(z)
            self.terms.append((z, moment / (z * (z + 1)) * s / (2 * arb.pi()) * (2 if k else 1)))
            goal = self.terms[0][1].abs_lower() * DIGITS
            size = (moment / z).abs_upper() * 64
            k += 1

    def raw(self, eps: arb) -> arb:
        """Theorem A: delta(eps), or its mean under the blur."""
        Clock.check()
        total = sum(((-z * eps).exp() * term for z, term in self.terms), acb(0)).real
        total += arb(0, (self.omitted * (-self.c * eps).exp()).upper())
        c, b, period = arb(self.c), arb(self.b), 2 * arb.pi() / arb(self.step)
        copies = 1 / ((c * period).exp() - 1)
        chernoff = (b / (1 + b)) ** b / (1 + b) * self.moment(acb(b)).real * (-b * eps).exp()
        copies += chernoff / (((b - c) * period).exp() - 1)
        return (total - copies).union(total)

    def delta(self, eps: arb) -> arb:
        if self.blur is None:
            return self.raw(eps)
        low, high = self.blur.low, self.blur.high
        theta = (high.exp() - 1) / (high.exp() - low.exp())
        below = (self.raw(eps - low).lower() - (1 - theta) * self.raw(eps + high - low).upper()) / theta
        return below.union(self.raw(eps))
