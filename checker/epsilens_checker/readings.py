"""Readings of a product of laws, each enclosed from delta alone."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Any

from flint import acb, arb, fmpq

from .inversion import Inversion, least
from .laws import ZERO, Atoms, Laplace, Laplaces, Law, Normal, OpenError, SampledLaplace, SampledNormal, furthest

MOST = 200_000  # outcomes that are enumerated


def exact(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def law(release: dict[str, Any], reverse: bool) -> Law:
    """A release as the pair of laws that dominates all its pairs (the theorems are cited in docs/proofs/checker.md)."""
    kind, count, people, m = release["mechanism"], *(int(release[key]) for key in ("count", "people", "shift"))
    if kind == "finite":
        return finite(release["p0"], release["p1"], reverse, count)
    rate, shift = exact(release["rate"]), exact(release["shift"])
    if kind == "gaussian":
        mu = shift / exact(release["sigma"])
        return Normal(people * mu * arb(count).sqrt()) if rate == 1 else SampledNormal(mu, rate, people, reverse, count)
    if m > MOST and kind != "laplace":
        raise OpenError("more outcomes than are enumerated")
    if kind == "discrete_gaussian":
        sigma = exact(release["sigma"])
        reach = int(min(MOST, 16 * float(sigma) + 2))  # beyond it the tail falls geometrically
        density = [(-(arb(x) ** 2) / (2 * sigma**2)).exp() for x in range(reach + m + 1)]
        beyond = 2 * density[reach] / ((reach / sigma**2).exp() - 1)
        total = 1 + 2 * sum(density[1 : reach + 1], ZERO) + beyond.union(ZERO)
        masses = [density[abs(x)] / total for x in range(-reach - m, reach + 1)]
        return Atoms(masses, masses[::-1], True, count, (beyond / total).upper(), True)
    loss = exact(release["epsilon"]) if "epsilon" in release else shift / exact(release["scale"])  # of the whole shift
    if kind == "laplace":
        return Laplace(people * loss, count) if rate == 1 else SampledLaplace(loss, rate, reverse, count)
    if kind == "randomized_response":
        ratio, others = loss.exp(), int(release["categories"]) - 1
        masses = [mass / (ratio + others) for mass in (arb(1), arb(others - 1), ratio)]
    else:  # geometric
        base = (-loss / m).exp()
        inner = [(1 - base) / (1 + base) * base ** (m - x) for x in range(1, m)]
        masses = [base**m / (1 + base), *inner, 1 / (1 + base)]
    made = Atoms(masses, masses[::-1], True, count, ZERO, True)
    made.top = loss
    return made


def finite(p0: list[Fraction], p1: list[Fraction], reverse: bool, count: int) -> Atoms:
    """Two lists, with the outcomes of one likelihood ratio merged."""
    masses: dict[Fraction, tuple[Fraction, Fraction]] = {}
    for a, b in zip(p1, p0, strict=True):
        share = a / (a + b) if a + b else Fraction(0)
        before = masses.get(share, (Fraction(0), Fraction(0)))
        masses[share] = (before[0] + a, before[1] + b)
    ordered = [masses[share] for share in sorted(masses)]
    even = all(a * b for a, b in ordered) and len({(a / b) / (c / d) for (c, d), (a, b) in pairwise(ordered)}) < 2
    p, q = ([exact(mass[side]) for mass in ordered] for side in ((1, 0) if reverse else (0, 1)))
    return Atoms(p, q, even or len(p) < 3, count, ZERO, False)


class Pair:
    """All releases together, in one order of the two worlds."""

    def __init__(self, releases: list[dict[str, Any]], reverse: bool) -> None:
        laws = [law(release, reverse) for release in releases]
        normal = [law.mu**2 for law in laws if isinstance(law, Normal)]
        atoms = [law for law in laws if isinstance(law, Atoms)]
        others = [law for law in laws if not isinstance(law, Normal | Atoms)]
        laplaces = [law for law in others if isinstance(law, Laplace)]
        if 1 < len(laplaces) == len(others) and not normal and Laplaces(laplaces).closed:
            others = [Laplaces(laplaces)]
        others += [Normal(sum(normal, ZERO).sqrt())] if normal else []
        self.laws, self.symmetric = [*others, *atoms], all(law.symmetric for law in laws)
        tops = [law.top * law.count for law in self.laws if law.top is not None]
        self.top = sum(tops, ZERO) if len(tops) == len(self.laws) else None
        enumerable = len(others) < 2 and math.prod(law.size for law in atoms) <= MOST
        self.closed = enumerable and all(law.closed for law in others)
        self.rest = others[0] if others else None
        self.outcomes, self.spare = [(arb(1), arb(1))], sum((law.spare * law.count for law in atoms), ZERO)
        for each in atoms if self.closed else []:
            self.outcomes = [(a * p, b * q) for a, b in self.outcomes for p, q in each.outcomes()]

    def approach(self, guess: Callable[[float], float] | float) -> float:
        """Prepares delta for thresholds about a guess, or about the least value of a bound on them."""
        if self.closed:
            return 1.0
        eps = guess if isinstance(guess, float) else guess(least(guess))
        self.inversion = Inversion(self.laws, eps)
        return eps

    def cumulant(self, c: float) -> float:
        return float(sum((law.moment(acb(c)).real.log() * law.count for law in self.laws), ZERO))

    def chernoff(self, eps: arb) -> arb:
        """A bound on delta(eps), as that of Theorem K1 on its copies."""
        exponents = [arb(2) ** k for k in range(-1, 7)]
        sums = [sum((law.moment(acb(c)).real.log() * law.count for law in self.laws), -c * eps) for c in exponents]
        bounds = [total.exp() * (c / (1 + c)) ** c / (1 + c) for c, total in zip(exponents, sums, strict=True)]
        return reduce(arb.min, bounds)

    def hockey(self, p: arb, q: arb) -> arb:
        """Lemma K6: the integral of (p dP - q dQ)+ of the law that is not enumerated, if there is one."""
        if self.rest is None or p.is_zero() or q.is_zero():
            return (p - q).max(ZERO)
        return p * self.rest.hockey(q / p)

    def delta(self, eps: arb) -> arb:
        if self.top is not None and eps >= self.top:
            return ZERO
        if not self.closed:
            return self.inversion.delta(eps).max(ZERO).min(arb(1))
        t = eps.exp()
        value = sum((self.hockey(p, t * q) for p, q in self.outcomes), ZERO).max(ZERO)
        return value if self.spare.is_zero() else value.union(value + self.spare)


def delta(pair: Pair, at: Fraction) -> arb:
    pair.approach(float(at))
    return pair.delta(exact(at))


def epsilon(pair: Pair, at: Fraction) -> arb:
    """The smallest eps >= 0 with delta(eps) <= at."""
    if at == 0 and pair.top is None:
        raise OpenError("at 0 the reading is infinite, or the largest loss is not known")
    if at == 0:
        return pair.top or ZERO
    target = exact(at)

    def saddle(c: float) -> float:
        low, here, high = (pair.cumulant(c * factor) for factor in (0.95, 1.0, 1.05))
        spread = max(1e-9, (low - 2 * here + high) / (0.05 * c) ** 2)
        return (here - math.log(at) - math.log(c * (c + 1)) - math.log(spread * 2 * math.pi) / 2) / c

    high, growth = arb(max(1e-9, pair.approach(saddle))), 2 if pair.closed else 1.02
    if pair.delta(ZERO) <= target:
        return ZERO
    while high < 1e9 and not pair.delta(high) <= target:
        high *= growth
    steps = 120 if pair.closed else 60
    upper = furthest(lambda eps: pair.delta(eps) <= target, high, ZERO, steps)
    below = (upper * (1 - arb(2) ** -k) for k in range(110, 0, -1))  # the nearest of these that is proven
    lower = next((eps for eps in below if pair.delta(eps) > target), ZERO)
    if pair.delta(lower) > target:
        lower = furthest(lambda eps: pair.delta(eps) > target, lower, upper, 8)
    return upper.union(lower)


def fnr(pair: Pair, at: Fraction) -> arb:
    """The largest value of h(t) = 1 - delta(log t) - t at, which is concave: Theorem K8."""

    def height(t: arb) -> arb:
        return 1 - pair.delta(t.log()) - t * exact(at)

    middle = pair.approach(lambda c: (pair.cumulant(c) - math.log(at)) / (1 + c))
    low, high = (arb(-200), arb(700)) if pair.closed else (arb(middle - 12 - abs(middle)), arb(middle + 1))
    for digits in (80,) if pair.closed else (8, 43):
        if digits == 43:
            pair.approach(float(low))
            low, high = low - 0.1, high + 0.1
        while high - low > arb(2) ** -digits:
            a, b = ((low * 2 + high) / 3).mid(), ((low + high * 2) / 3).mid()
            low, high = (a, high) if height(a.exp()).lower() < height(b.exp()).lower() else (low, b)
    t = low.exp().mid()
    top = height(t)
    for k in range(90, 1, -2):
        w = (t * arb(2) ** -k).mid()
        before, after = height(t - w), height(t + w)
        if before <= top and after <= top:
            return top.lower().union((2 * top - before.min(after)).upper())
    raise OpenError("no threshold could be proven")


def enclose(releases: list[dict[str, Any]], relation: str, reading: str, at: Fraction) -> arb:
    """The reading, enclosed; of both orders the worse."""
    pairs = [
        Pair(releases, reverse) for reverse in (False, True) if relation in ("both", "add" if reverse else "remove")
    ]
    if reading in ("advantage", "success"):
        value = delta(pairs[0], Fraction(0))  # the same in both orders
        return value if reading == "advantage" else (1 + value) / 2
    if pairs[0].symmetric:
        pairs = pairs[:1]
    read = {"delta": delta, "epsilon": epsilon, "fnr": fnr}[reading]
    first = read(pairs[0], at)
    if len(pairs) == 1 or pairs[1].closed or reading == "fnr":
        return reduce(arb.min if reading == "fnr" else arb.max, [first, *(read(pair, at) for pair in pairs[1:])])
    eps, most = (exact(at), first.lower()) if reading == "delta" else (first.lower(), exact(at))
    return first if pairs[1].chernoff(eps) <= most else first.max(read(pairs[1], at))
