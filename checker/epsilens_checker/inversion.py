"""delta(eps) of a product of laws, enclosed: Theorem A with every omitted term bounded."""

import math

from flint import acb, arb

from .laws import Clock, Law

DIGITS = 1e-15


class Blur(Law):
    """Lemma 3: the factor of a delta averaged over eps + U, U the sum of ``times`` uniforms on [-w, w], E e^U = 1."""

    def __init__(self, width: float, times: int = 12) -> None:
        super().__init__(1)
        self.width, self.times = arb(width), times
        self.centre = times * (self.width.sinh() / self.width).log()

    def moment(self, z: acb) -> acb:
        return (z * self.centre).exp() * ((self.width * z).sinh() / (self.width * z)) ** self.times

    def ceiling(self, c: float, y: arb) -> arb:
        return (c * self.centre).exp() * ((self.width * c).cosh() / (self.width * y)) ** self.times


def least(function, start: float) -> tuple[float, float]:
    """About where a convex function of x > 0 is least, and its value there; a proposal, so in floats."""
    values = {}

    def at(k: int) -> float:
        if k not in values:
            values[k] = function(start * 1.1**k)
        return values[k]

    k, step = 0, 16
    while step and abs(k) < 300:
        Clock.check()
        k, before = min((k, k - step, k + step), key=at), k
        step = step if k != before else step // 2
    return start * 1.1**k, at(k)


class Inversion:
    """The moments of a product on the line Re z = c, at Im z = 0, s, 2s, ...: proposed for thresholds near ``eps``."""

    def __init__(self, laws: list[Law], eps: float, blur: bool) -> None:
        self.laws, self.blur = list(laws), None
        self.c, value = least(lambda c: self.cumulant(c) - c * eps - math.log(c * (c + 1)), 1.0)
        depth = 40 - value  # copies of weight exp(-depth) are small beside delta
        reach = {b: (self.cumulant(b) - b * eps + depth) / (b - self.c) for b in (self.c * f for f in (1.2, 1.5, 2, 3))}
        self.far = min(reach, key=reach.get)
        self.step = 2 * math.pi / max(reach[self.far], depth / self.c)
        self.period = 2 * arb.pi() / arb(self.step)
        if blur:
            self.blur = Blur(12 / (20000 * self.step))
            self.laws.append(self.blur)
        self.terms, self.omitted = [], arb(0)
        self.sum_up()

    def cumulant(self, c: float) -> float:
        return float(self.product(acb(c)).real.log())

    def product(self, z: acb) -> acb:
        value = acb(1)
        for law in self.laws:
            value *= law.moment(z) ** law.count
        return value

    def ceiling(self, y: arb) -> arb:
        value = arb(1)
        for law in self.laws:
            value *= law.ceiling(self.c, y) ** law.count
        return value

    def sum_up(self) -> None:
        """All terms up to where the rest is small; runs of small terms are bounded at once, the rest by ceilings.

        Terms with indices beyond k sum to at most sup |M| / (pi y_k), since sum_{i > k} 1/i^2 <= 1/k.
        """
        k, run, size, small = 0, 1, None, False
        while True:
            Clock.check()
            y = arb(self.step) * k
            if k > 1:
                before = y - self.step
                goal = size * DIGITS
                rest = self.ceiling(y) / (arb.pi() * before)
                if rest <= goal:
                    self.omitted += rest
                    return
                if small:
                    end = y + arb(self.step) * (run - 1)
                    bound = self.product(acb(arb(self.c), y.union(end))).abs_upper()
                    share = bound * (1 / before - 1 / end) / arb.pi()
                    if share <= goal / 64:
                        self.omitted += share
                        k, run = k + run, run * 2
                        continue
                    run = max(run // 2, 1)
            z = acb(arb(self.c), y)
            moment = self.product(z)
            term = moment / (z * (z + 1))
            self.terms.append((z, term * (2 if k else 1) / self.period))
            size = size or self.terms[0][1].abs_lower()
            small = (moment / z).abs_upper() <= size * DIGITS / 64 if k else False
            k += 1

    def raw(self, eps: arb) -> arb:
        """Theorem A: delta(eps), or its blurred mean."""
        Clock.check()
        total = sum(((-z * eps).exp() * term for z, term in self.terms), acb(0)).real
        total += arb(0, (self.omitted * (-self.c * eps).exp()).upper())
        c, b = arb(self.c), arb(self.far)
        copies = 1 / ((c * self.period).exp() - 1)
        copies += (
            (b / (1 + b)) ** b
            / (1 + b)
            * self.product(acb(b)).real
            * (-b * eps).exp()
            / (((b - c) * self.period).exp() - 1)
        )
        return (total - copies).union(total).max(arb(0))

    def delta(self, eps: arb) -> arb:
        if self.blur is None:
            return self.raw(eps)
        spread = self.blur.width * self.blur.times
        low, high = -spread - self.blur.centre, spread - self.blur.centre
        theta = (high.exp() - 1) / (high.exp() - low.exp())
        below = (self.raw(eps - low).lower() - (1 - theta) * self.raw(eps + high - low).upper()) / theta
        return below.union(self.raw(eps)).max(arb(0))
