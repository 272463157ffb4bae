"""One release as a pair of laws (P, Q), in balls: what is enclosed is proven, whatever the floats propose.

``moment(z)`` is M(z) = E_P e^(zL) of the loss L = log dP/dQ; ``ceiling(c, y)`` bounds |M(c + iv)| for every v >= y;
``hockey(t)`` is the integral of (dP - t dQ)+ of all ``count`` releases together, where ``closed``; ``top`` is the
largest loss, if finite. The lemmas are in docs/proofs/checker.md.
"""

import math
import time
from functools import reduce

from flint import acb, arb, arb_poly


class OpenError(Exception):
    """Nothing is proven: too little time, no route, or a comparison that the balls cannot make."""


class Clock:
    end = math.inf

    @classmethod
    def check(cls) -> None:
        if time.monotonic() > cls.end:
            raise OpenError("the time limit is reached")


class Law:
    closed, symmetric, top = False, True, None

    def __init__(self, count: int) -> None:
        self.count = count

    def moment(self, z: acb) -> acb:
        raise OpenError("no route for a composition with sampled Laplace noise")

    def ceiling(self, c: float, y: arb) -> arb:
        return self.moment(acb(c)).abs_upper()


class Normal(Law):
    """N(mu, 1) against N(0, 1)."""

    closed = True

    def __init__(self, mu: arb) -> None:
        super().__init__(1)
        self.mu = mu

    def moment(self, z: acb) -> acb:
        return (self.mu**2 / 2 * z * (z + 1)).exp()

    def ceiling(self, c: float, y: arb) -> arb:
        return (self.mu**2 / 2 * (arb(c) * (arb(c) + 1) - y * y)).exp()

    def hockey(self, t: arb) -> arb:
        middle = t.log() / self.mu
        return upper_tail(middle - self.mu / 2) - t * upper_tail(middle + self.mu / 2)


def upper_tail(x: arb) -> arb:
    return (x / arb(2).sqrt()).erfc() / 2


class Laplace(Law):
    """Laplace noise of scale 1 moved by r: Lemma 4."""

    def __init__(self, r: arb, count: int) -> None:
        super().__init__(count)
        self.top, self.closed = r, count <= 100

    def moment(self, z: acb) -> acb:
        ends = ((self.top * z).exp() + (-self.top * (z + 1)).exp()) / 2
        return ends + (-self.top / 2).exp() * (self.top * (z + 0.5)).sinh() / (2 * z + 1)

    def hockey(self, t: arb) -> arb:
        k = self.count
        if k == 1 or t <= (-k * self.top).exp():
            return (1 - (t.max(arb(0)) * (-self.top).exp()).sqrt()).max(1 - t).max(arb(0))
        eps, total, half = t.log(), arb(0), arb(0.5)
        for j in range(1, k + 1):
            tau = (self.top * (2 * j - k) - eps).max(arb(0))
            last = [-(arb(2) ** (i + 1)) for i in range(k)]  # 1/(u - 1/2)
            rest = arb_poly(last) if j == k else arb_poly([-half, 1]) ** (k - j - 1)
            series = arb_poly([half, 1]) ** (j - 1) * rest
            part = sum((series[i] * tau ** (k - 1 - i) / math.factorial(k - 1 - i) for i in range(k)), arb(0))
            total += math.comb(k, j) * (part + (2**k * (tau / 2).exp() if j == k else 0))
        return ((eps - k * self.top) / 2).exp() * total / 2**k


class SampledLaplace(Law):
    """A Poisson sample under Laplace noise: a mixture, so that one release follows from the unsampled one."""

    closed, symmetric = True, False

    def __init__(self, r: arb, rate: arb, reverse: bool, count: int) -> None:
        super().__init__(count)
        self.base, self.rate, self.reverse, self.closed = Laplace(r, 1), rate, reverse, count == 1
        self.top = -(1 - rate + rate * (-r).exp()).log() if reverse else (1 - rate + rate * r.exp()).log()

    def hockey(self, t: arb) -> arb:
        if not self.reverse:
            return self.rate * self.base.hockey((t - 1 + self.rate) / self.rate)
        rest = 1 - t * (1 - self.rate)
        return arb(0) if rest <= 0 else rest * self.base.hockey(t * self.rate / rest)


class SampledNormal(Law):
    """``people`` in a Poisson sample, each alone: Q = N(0, 1), P = sum_j Bin(people, rate)(j) N(mu j, 1), R = dP/dQ.

    M(z) = E_Q R^a with a = 1 + z, or a = -z in the reversed order.
    """

    symmetric = False

    def __init__(self, mu: arb, rate: arb, people: int, reverse: bool, count: int) -> None:
        super().__init__(count)
        self.mu, self.span, self.reverse, self.closed = mu, mu * people, reverse, count == 1
        self.shares = [math.comb(people, j) * rate**j * (1 - rate) ** (people - j) for j in range(people + 1)]
        self.grids, self.variations = {}, {}

    def ratios(self, x: arb) -> list[arb]:
        """R(x) and its first two derivatives."""
        terms = [b * (self.mu * j * (x - self.mu * j / 2)).exp() for j, b in enumerate(self.shares)]
        return [sum(((self.mu * j) ** n * v for j, v in enumerate(terms)), arb(0)) for n in range(3)]

    def power(self, c: float) -> arb:
        return -arb(c) if self.reverse else 1 + arb(c)

    def grid(self, c: float, height: int) -> tuple[list[tuple[arb, arb]], arb, arb]:
        """Lemma 1: nodes (h phi R^(Re a), log R), the error of their sum at |Im z| <= height, a bound on M(c)."""
        if (c, height) in self.grids:
            return self.grids[c, height]
        a, span = self.power(c), self.span
        width = min(2 / float(span), 8.0)
        d = arb(width)
        h = arb(6.28 * width / (80 + width**2 / 2 + height * float(span) * width + 0.62 * max(0.0, -float(a))))
        nodes, total, rest = [], arb(0), arb(0)
        for side in (1, -1):
            edge, k = span * (a * side).max(arb(0)), int(side < 0)
            while True:
                Clock.check()
                x = k * h
                log = self.ratios(side * x)[0].log()
                weight = h * (a * log - x * x / 2).exp() / (2 * arb.pi()).sqrt()
                nodes.append((weight, log))
                total, k = total + weight, k + 1
                if x > edge + 1 and (beyond := weight / ((h * (x - edge)).exp() - 1)) < total * 1e-35:
                    rest += beyond
                    break
        swell = 2 * (d * d / 2 + height * span * d).exp() / ((2 * arb.pi() * d / h).exp() - 1)
        swell *= (span * d / 2).cos() ** a.min(arb(0))
        if not (span * d < 3.14 and swell < 0.5):
            raise OpenError("the strip of a quadrature is too wide")
        most = (total + rest) / (1 - swell)
        self.grids[c, height] = nodes, (most * swell + rest).upper(), most
        return self.grids[c, height]

    def moment(self, z: acb) -> acb:
        height = 8
        while not z.imag.abs_upper() <= height:
            height *= 2
        nodes, error, _ = self.grid(float(z.real), height)
        turn = acb(0, -z.imag if self.reverse else z.imag)
        return sum(((turn * log).exp() * weight for weight, log in nodes), acb(0)) + acb(arb(0, error), arb(0, error))

    def ceiling(self, c: float, y: arb) -> arb:
        """Lemma 2: |M(c + iy)| <= V/y, V the total variation of g = phi R^(1 + Re a) / R'."""
        if c not in self.variations:
            a, step, total = self.power(c) + 1, arb(1) / 64, arb(0)
            x = start = -(self.span * (1 - a.min(arb(0))) + 4).upper()
            high = (self.span * a.max(arb(0)) + 4).upper()
            while not x > high + step:
                Clock.check()
                bin = x.union(x + step)
                r, first, second = self.ratios(bin)
                g = (-bin * bin / 2).exp() * r**a / first / (2 * arb.pi()).sqrt()
                total += (g * (-bin + a * first / r - second / first)).abs_upper() * step
                total += g.abs_upper() if x is start or x > high else 0  # monotone from here outwards
                x += step
            self.variations[c] = total
        return (self.variations[c] / y).min(self.grid(c, 8)[2]).upper()

    def hockey(self, t: arb) -> arb:
        """One release: the threshold x at which R crosses t (1/t in the reversed order), by bisection."""
        target = 1 / t if self.reverse else t
        if target <= self.shares[0]:
            return arb(0) if self.reverse else 1 - t
        low, high = arb(-1), arb(1)
        while not self.ratios(low)[0] < target:
            low *= 2
            Clock.check()
        while not self.ratios(high)[0] > target:
            high *= 2
            Clock.check()
        for _ in range(200):
            middle = ((low + high) / 2).mid()
            ratio = self.ratios(middle)[0]
            low, high = (middle if ratio < target else low), (middle if ratio > target else high)
        x, sign = low.union(high), -1 if self.reverse else 1
        moved = sum((b * upper_tail(sign * (x - self.mu * j)) for j, b in enumerate(self.shares)), arb(0))
        still = upper_tail(sign * x)
        return still - t * moved if self.reverse else moved - t * still


class Atoms(Law):
    """Outcomes (P, Q); on a ``lattice`` (losses in arithmetic progression) powers of polynomials compose them.

    ``spare`` bounds the mass under P of the outcomes that are left out.
    """

    closed = True

    def __init__(self, p: list[arb], q: list[arb], lattice: bool, count: int, spare: arb, symmetric: bool) -> None:
        super().__init__(count)
        self.p, self.q, self.lattice, self.spare, self.symmetric = p, q, lattice or len(p) < 3, spare, symmetric
        size = len(p) - 1
        self.size = count * size + 1 if self.lattice else math.comb(count + size, size)
        if all(b > 0 or a.is_zero() for a, b in zip(p, q, strict=True)) and spare.is_zero():
            self.top = reduce(arb.max, [(a / b).log() for a, b in zip(p, q, strict=True) if not a.is_zero()])

    def outcomes(self) -> list[tuple[arb, arb]]:
        if self.lattice:
            p, q = arb_poly(self.p) ** self.count, arb_poly(self.q) ** self.count
            return [(p[i], q[i]) for i in range(self.size)]
        made = [(arb(1), arb(1), self.count)]
        for k, (p, q) in enumerate(zip(self.p, self.q, strict=True)):
            last = k == len(self.p) - 1
            made = [(a * p**n * math.comb(left, n), b * q**n * math.comb(left, n), left - n)
                    for a, b, left in made for n in (range(left, left + 1) if last else range(left + 1))]  # fmt: skip
        return [(a, b) for a, b, _ in made]

    def moment(self, z: acb) -> acb:
        if self.top is None:
            raise OpenError("no route for this composition of an outcome that only one world can make")
        pairs = zip(self.p, self.q, strict=True)
        return sum((p * (z * (p / q).log()).exp() for p, q in pairs if not p.is_zero()), acb(0))
