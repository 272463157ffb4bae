"""One release as a pair of laws (P, Q), in balls: what is enclosed is proven, whatever the floats propose.

``moment(z)`` is M(z) = E_P e^(zL) of the loss L = log dP/dQ; ``ceiling(c, y)`` bounds |M(c + iv)| for every v >= y;
``hockey(t)`` is the integral of (dP - t dQ)+ of all ``count`` releases together, where ``closed``; ``top`` is the
largest loss where it is known. The theorems are in docs/proofs/checker.md.
"""

import math
from collections.abc import Callable
from functools import reduce
from itertools import product

from flint import acb, arb, arb_poly

ZERO = arb(0)
#: Proposals of Lemma K2: the error of a quadrature is about exp(-STRIP), its nodes end where the rest is below CUT.
STRIP, CUT = 80.0, 1e-35


class OpenError(Exception):
    """Nothing is proven: no route, or a comparison that the balls cannot make."""


def furthest(holds: Callable[[arb], bool], start: arb, end: arb, steps: int = 120) -> arb:
    """A point towards ``end``, by bisection, up to which something is proven; it must be so at ``start``."""
    if not holds(start):
        raise OpenError("no end could be proven")
    for _ in range(steps):
        middle = ((start + end) / 2).mid()
        start, end = (middle, end) if holds(middle) else (start, middle)
    return start


def upper_tail(x: arb) -> arb:
    return (x / arb(2).sqrt()).erfc() / 2


class Law:
    closed, symmetric = False, True
    top: arb | None = None

    def __init__(self, count: int) -> None:
        self.count = count

    def moment(self, z: acb) -> acb:
        raise OpenError("no route for this composition")

    def ceiling(self, c: float, y: arb) -> arb:
        return self.moment(acb(c)).abs_upper()

    def hockey(self, t: arb) -> arb:
        raise OpenError("no closed form")


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


class Laplace(Law):
    """Laplace noise of scale 1 moved by r."""

    def __init__(self, r: arb, count: int) -> None:
        super().__init__(count)
        self.top, self.r, self.closed = r, r, count <= 150

    def moment(self, z: acb) -> acb:
        return self.ends(z) + (-self.r / 2).exp() * (self.r * (z + 0.5)).sinh() / (2 * z + 1)

    def ends(self, z: acb) -> acb:
        return ((self.r * z).exp() + (-self.r * (z + 1)).exp()) / 2

    def ceiling(self, c: float, y: arb) -> arb:
        between = (-self.r / 2).exp() * (self.r * (arb(c) + 0.5)).cosh() / (2 * y)
        return (self.ends(acb(c)).real + between).min(self.moment(acb(c)).real)

    def hockey(self, t: arb) -> arb:
        if self.count == 1:
            return (1 - (t.max(ZERO) * (-self.r).exp()).sqrt()).max(1 - t).max(ZERO)
        return Laplaces([self]).hockey(t)


class Laplaces(Law):
    """Unlike releases of Laplace noise together: the closed form of Theorem K5."""

    def __init__(self, laws: list[Laplace]) -> None:
        super().__init__(1)
        self.laws, self.many = laws, sum(law.count for law in laws)
        self.top = self.most = sum((law.r * law.count for law in laws), ZERO)
        self.closed = self.many <= 150 and self.many * math.prod(law.count + 1 for law in laws) <= 60_000

    def moment(self, z: acb) -> acb:
        return reduce(acb.__mul__, [law.moment(z) ** law.count for law in self.laws])

    def ceiling(self, c: float, y: arb) -> arb:
        return reduce(arb.__mul__, [law.ceiling(c, y) ** law.count for law in self.laws])

    def hockey(self, t: arb) -> arb:
        k, top, total = self.many, self.most, ZERO
        if t <= (-top).exp():
            return 1 - t
        if not t > (-top).exp():
            raise OpenError("the threshold is the least loss")
        eps, plus, minus = t.log(), arb_poly([0.5, 1]), arb_poly([-0.5, 1])
        inverse = arb_poly([-(arb(2) ** (i + 1)) for i in range(k)])  # of minus, up to u^(k-1)
        series = [plus ** (j - 1) * (inverse if j == k else minus ** (k - j - 1)) for j in range(1, k + 1)]
        for chosen in product(*(range(law.count + 1) for law in self.laws)):
            tau = (sum((law.r * (2 * j - law.count) for law, j in zip(self.laws, chosen, strict=True)), -eps)).max(ZERO)
            if tau.is_zero():
                continue
            j, ways = sum(chosen), math.prod(math.comb(law.count, j) for law, j in zip(self.laws, chosen, strict=True))
            terms = [series[j - 1][i] * tau ** (k - 1 - i) / math.factorial(k - 1 - i) for i in range(k)]
            total += ways * sum(terms, 2**k * (tau / 2).exp() if j == k else ZERO)
        scale: arb = ((eps - top) / 2).exp() / 2**k
        return scale * total


class SampledLaplace(Law):
    """Laplace noise on a Poisson sample: a mixture, so that one release follows from the unsampled one (Theorem K7)."""

    symmetric = False

    def __init__(self, r: arb, rate: arb, reverse: bool, count: int) -> None:
        super().__init__(count)
        self.base, self.rate, self.reverse, self.closed = Laplace(r, 1), rate, reverse, count == 1
        self.top = -(1 - rate + rate * (-r).exp()).log() if reverse else (1 - rate + rate * r.exp()).log()

    def hockey(self, t: arb) -> arb:
        if not self.reverse:
            return self.rate * self.base.hockey((t - 1 + self.rate) / self.rate)
        rest = 1 - t * (1 - self.rate)
        return ZERO if rest <= 0 else rest * self.base.hockey(t * self.rate / rest)


class SampledNormal(Law):
    """``people`` in a Poisson sample, each alone: Q = N(0, 1), P = sum_j Bin(people, rate)(j) N(mu j, 1), R = dP/dQ.

    M(z) = E_Q R^a with a = 1 + z, or a = -z in the reversed order.
    """

    symmetric = False

    def __init__(self, mu: arb, rate: arb, people: int, reverse: bool, count: int) -> None:
        super().__init__(count)
        self.mu, self.span, self.reverse, self.closed = mu, mu * people, reverse, count == 1
        self.shares = [math.comb(people, j) * rate**j * (1 - rate) ** (people - j) for j in range(people + 1)]
        self.grids: dict[tuple[float, int], tuple[list[tuple[arb, arb]], arb, arb]] = {}
        self.variations: dict[float, arb] = {}

    def ratios(self, x: arb) -> list[arb]:
        """R(x) and its first two derivatives."""
        terms = [b * (self.mu * j * (x - self.mu * j / 2)).exp() for j, b in enumerate(self.shares)]
        return [sum(((self.mu * j) ** n * v for j, v in enumerate(terms)), ZERO) for n in range(3)]

    def power(self, c: float) -> arb:
        return -arb(c) if self.reverse else 1 + arb(c)

    def grid(self, c: float, height: int) -> tuple[list[tuple[arb, arb]], arb, arb]:
        """Lemma K2: nodes (h phi R^(Re a), log R), the error of their sum at |Im z| <= height, a bound on M(c)."""
        if (c, height) in self.grids:
            return self.grids[c, height]
        a, span = self.power(c), self.span
        width = min(2 / float(span), 8.0)
        exponent = STRIP + width**2 / 2 + height * float(span) * width + 0.62 * max(0.0, -float(a))
        nodes: list[tuple[arb, arb]] = []
        d, h, total, rest = arb(width), arb(6.28 * width / exponent), ZERO, ZERO
        for side in (1, -1):
            edge, k = span * (a * side).max(ZERO), int(side < 0)
            while len(nodes) < 300_000:
                x = k * h
                log = self.ratios(side * x)[0].log()
                weight = h * (a * log - x * x / 2).exp() / (2 * arb.pi()).sqrt()
                nodes.append((weight, log))
                total, k = total + weight, k + 1
                if x > edge + 1 and (beyond := weight / ((h * (x - edge)).exp() - 1)) < total * CUT:
                    rest += beyond
                    break
        swell = 2 * (d * d / 2 + height * span * d).exp() / ((2 * arb.pi() * d / h).exp() - 1)
        swell *= (span * d / 2).cos() ** a.min(ZERO)
        if not (span * d < 3 and swell < 0.5 and len(nodes) < 300_000):
            raise OpenError("a quadrature has too many nodes, or too wide a strip")
        most = (total + rest) / (1 - swell)
        self.grids[c, height] = nodes, (most * swell + rest).upper(), most.upper()
        return self.grids[c, height]

    def moment(self, z: acb) -> acb:
        height = 8
        while not z.imag.abs_upper() <= height:
            height *= 2
        nodes, error, _ = self.grid(float(z.real), height)
        turn = acb(0, -z.imag if self.reverse else z.imag)
        return sum(((turn * log).exp() * weight for weight, log in nodes), acb(arb(0, error), arb(0, error)))

    def ceiling(self, c: float, y: arb) -> arb:
        """Lemma K3: |M(c + iy)| <= V/y, V the total variation of g = phi R^(1 + Re a) / R'."""
        if c not in self.variations:
            a, step, total = self.power(c) + 1, arb(1) / 64, ZERO
            x = start = -(self.span * (1 - a.min(ZERO)) + 4).upper()
            high = (self.span * a.max(ZERO) + 4).upper()
            while not x > high + step:
                piece = x.union(x + step)
                r, first, second = self.ratios(piece)
                g = (-piece * piece / 2).exp() * r**a / first / (2 * arb.pi()).sqrt()
                total += (g * (-piece + a * first / r - second / first)).abs_upper() * step
                total += g.abs_upper() if x is start or x > high else 0  # monotone from here outwards
                x += step
            self.variations[c] = total
        return (self.variations[c] / y).min(self.grid(c, 8)[2])

    def hockey(self, t: arb) -> arb:
        """Theorem K7: R grows, and crosses t (1/t in the reversed order) at one x."""
        target, far, sign = (1 / t, arb(-(2**40)), -1) if self.reverse else (t, arb(-(2**40)), 1)
        if target <= self.shares[0]:
            return ZERO if self.reverse else 1 - t
        low = furthest(lambda x: self.ratios(x)[0] < target, far, -far, 200)
        x = low.union(furthest(lambda x: self.ratios(x)[0] > target, -far, low, 200))
        moved = sum((b * upper_tail(sign * (x - self.mu * j)) for j, b in enumerate(self.shares)), ZERO)
        still = upper_tail(sign * x)
        return still - t * moved if self.reverse else moved - t * still


class Atoms(Law):
    """Outcomes (P, Q), Lemma K6; on a ``lattice`` (losses in arithmetic progression) polynomials compose them.

    ``spare`` bounds the mass under P of the outcomes that are left out.
    """

    closed = True

    def __init__(self, p: list[arb], q: list[arb], lattice: bool, count: int, spare: arb, symmetric: bool) -> None:
        super().__init__(count)
        self.pairs, self.lattice, self.spare, self.symmetric = list(zip(p, q, strict=True)), lattice, spare, symmetric
        self.size = count * (len(p) - 1) + 1 if lattice else math.comb(count + len(p) - 1, count)
        if spare.is_zero() and all(b > 0 or a.is_zero() for a, b in self.pairs):
            self.top = reduce(arb.max, [(a / b).log() for a, b in self.pairs if not a.is_zero()])

    def moment(self, z: acb) -> acb:
        if self.top is None:
            raise OpenError("no route for this composition, of which an outcome is left out or made by one world only")
        return sum((p * (z * (p / q).log()).exp() for p, q in self.pairs if not p.is_zero()), acb(0))

    def outcomes(self) -> list[tuple[arb, arb]]:
        """Those of all releases together."""
        if self.lattice:
            p, q = (arb_poly([pair[side] for pair in self.pairs]) ** self.count for side in (0, 1))
            return [(p[i], q[i]) for i in range(self.size)]
        made = [(arb(1), arb(1), self.count)]
        for k, (a, b) in enumerate(self.pairs):
            made = [
                (p * a**n * math.comb(left, n), q * b**n * math.comb(left, n), left - n)
                for p, q, left in made
                for n in range(left if k == len(self.pairs) - 1 else 0, left + 1)
            ]
        return [(p, q) for p, q, _ in made]
