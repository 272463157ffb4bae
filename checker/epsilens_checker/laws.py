"""One release as a pair of laws (P, Q): moments M(z) = E_P e^(zL) of its privacy loss L = log dP/dQ, as balls.

A law answers ``moment(z)``; ``ceiling(c, y)``, an upper bound on |M(c + iv)| for every v >= y; ``top``, the largest
loss where it is finite; ``atoms``, its outcomes (P, Q) where they are few; ``hockey(t)``, the integral of (P - tQ)+.
"""

import math
import time

from flint import acb, arb


class OpenError(Exception):
    """Nothing is proven: too little time, no route, or a comparison that the balls cannot make."""


class Clock:
    """The one deadline of the process."""

    end = math.inf

    @classmethod
    def check(cls) -> None:
        if time.monotonic() > cls.end:
            raise OpenError("the time limit is reached")


def upper_tail(x: arb) -> arb:
    """P(Z > x) of a standard normal Z."""
    return (x / arb(2).sqrt()).erfc() / 2


class Law:
    atoms: list[tuple[arb, arb]] | None = None
    top: arb | None = None
    symmetric = True

    def __init__(self, count: int) -> None:
        self.count = count

    def moment(self, z: acb) -> acb:
        raise NotImplementedError

    def ceiling(self, c: float, y: arb) -> arb:
        return self.moment(acb(c)).abs_upper()

    def hockey(self, t: arb) -> arb:
        raise OpenError("one release of this kind has no closed form here")


class Normal(Law):
    """N(mu, 1) against N(0, 1)."""

    def __init__(self, mu: arb, count: int) -> None:
        super().__init__(count)
        self.mu = mu

    def moment(self, z: acb) -> acb:
        return (self.mu**2 / 2 * z * (z + 1)).exp()

    def ceiling(self, c: float, y: arb) -> arb:
        return (self.mu**2 / 2 * (arb(c) * (arb(c) + 1) - y * y)).exp()

    def hockey(self, t: arb) -> arb:
        middle = t.log() / self.mu
        return upper_tail(middle - self.mu / 2) - t * upper_tail(middle + self.mu / 2)


class Laplace(Law):
    """Laplace noise of scale 1 moved by r: a loss with atoms at r and -r."""

    def __init__(self, r: arb, count: int) -> None:
        super().__init__(count)
        self.top = r

    def moment(self, z: acb) -> acb:
        r = self.top
        ends = ((r * z).exp() + (-r * (z + 1)).exp()) / 2
        return ends + (-r / 2).exp() * (r * (z + 0.5)).sinh() / (2 * z + 1)

    def hockey(self, t: arb) -> arb:
        return (1 - (t * (-self.top).exp()).sqrt()).max(1 - t).max(arb(0))


class SampledNormal(Law):
    """``people`` records, each in a Poisson sample by itself: Q = N(0, 1) and P = sum_j Bin(people, q)(j) N(mu j, 1).

    ``exponent``: M(z) = E_Q R^a with R = dP/dQ, a = 1 + z where P has the people, a = -z in the reversed order.
    """

    symmetric = False

    def __init__(self, mu: arb, rate: arb, people: int, reverse: bool, count: int) -> None:
        super().__init__(count)
        self.mu, self.people, self.reverse = mu, people, reverse
        self.shares = [math.comb(people, j) * rate**j * (1 - rate) ** (people - j) for j in range(people + 1)]
        self.grids: dict[tuple[float, int], tuple[list[tuple[arb, arb]], arb, arb]] = {}
        self.variations: dict[float, arb] = {}

    def ratios(self, x: arb) -> tuple[arb, arb, arb]:
        """R(x) and its first two derivatives."""
        terms = [b * (self.mu * j * (x - self.mu * j / 2)).exp() for j, b in enumerate(self.shares)]
        first = self.mu * sum((j * v for j, v in enumerate(terms)), arb(0))
        return sum(terms, arb(0)), first, self.mu**2 * sum((j * j * v for j, v in enumerate(terms)), arb(0))

    def power(self, c: float) -> arb:
        """The real part of a."""
        return -arb(c) if self.reverse else 1 + arb(c)

    def grid(self, c: float, height: int) -> tuple[list[tuple[arb, arb]], arb, arb]:
        """Lemma 1: nodes (h phi R^(Re a), log R), the error of their sum at |Im z| <= height, a bound on M(c)."""
        if (c, height) in self.grids:
            return self.grids[c, height]
        span, a = float(self.mu) * self.people, float(self.power(c))
        widths = [min(3.1 / span, 12) * k / 40 for k in range(1, 40)]
        losses = [80 + d * d / 2 + height * span * d + min(a, 0) * math.log(math.cos(span * d / 2)) for d in widths]
        fewest, d = max((d / loss, d) for d, loss in zip(widths, losses, strict=True))
        h = arb(6.28 * fewest)
        d, a, span = arb(d), self.power(c), self.mu * self.people
        nodes, total, rest = [], arb(0), arb(0)
        for side in (1, -1):
            edge, k = span * a.max(arb(0)) if side > 0 else span * (-a).max(arb(0)), int(side < 0)
            while True:
                Clock.check()
                x = side * k * h
                log = self.ratios(x)[0].log()
                weight = h * (a * log - x * x / 2).exp() / (2 * arb.pi()).sqrt()
                nodes.append((weight, log))
                total, k = total + weight, k + 1
                if abs(x) > edge + 1:
                    beyond = weight / ((h * (abs(x) - edge)).exp() - 1)  # Lemma 1: the nodes beyond fall geometrically
                    if beyond < total * 1e-35:
                        rest += beyond
                        break
        swell = (d * d / 2 + height * span * d).exp() * 2 / ((2 * arb.pi() * d / h).exp() - 1)
        swell *= (span * d / 2).cos() ** a.min(arb(0))
        if not (span * d < 3.14 and swell < 0.5):
            raise OpenError("the strip of a quadrature is too wide")
        self.grids[c, height] = (
            nodes,
            ((total + rest) / (1 - swell) * swell + rest).upper(),
            (total + rest) / (1 - swell),
        )
        return self.grids[c, height]

    def moment(self, z: acb) -> acb:
        c, y = float(z.real), z.imag
        height = 8
        while not y.abs_upper() <= height:
            height *= 2
        nodes, error, _ = self.grid(c, height)
        turn = acb(0, -y if self.reverse else y)
        return sum(((turn * log).exp() * weight for weight, log in nodes), acb(0)) + acb(arb(0, error), arb(0, error))

    def ceiling(self, c: float, y: arb) -> arb:
        if c not in self.variations:
            self.variations[c] = self.variation(c)
        return (self.variations[c] / y).min(self.grid(c, 8)[2]).upper()

    def variation(self, c: float) -> arb:
        """Lemma 2: the total variation V of g = phi R^(1 + Re a) / R', so that |M(c + iy)| <= V / |y|."""
        a, span, step = self.power(c) + 1, self.mu * self.people, 1 / arb(64)
        low = -(span * (1 - a.min(arb(0))) + 4).upper()
        high = (span * a.max(arb(0)) + 4).upper()
        total, x = arb(0), low
        while not x > high + step:
            Clock.check()
            bin = x.union(x + step)
            r, first, second = self.ratios(bin)
            g = (-bin * bin / 2).exp() * r**a / first
            slope = abs(-bin + a * first / r - second / first)
            total += (g * slope).abs_upper() * step
            if x is low or x > high:
                total += g.abs_upper()  # monotone from here outwards
            x += step
        return total / (2 * arb.pi()).sqrt()
