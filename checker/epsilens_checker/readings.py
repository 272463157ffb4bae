"""Readings of a product of laws, each enclosed from delta alone."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from itertools import pairwise

from flint import acb, arb, fmpq

from .inversion import Inversion, least
from .laws import Atoms, Clock, Laplace, Law, Normal, OpenError, SampledLaplace, SampledNormal

MOST = 200_000  # outcomes that are enumerated


def exact(value: Fraction | int) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def law(release: dict, reverse: bool) -> Law:
    """A release as the pair of laws that dominates all its pairs (the theorems are cited in docs/proofs/checker.md)."""
    kind, count, people, moves = (release[key] for key in ("mechanism", "count", "people", "shift"))
    if kind == "finite":
        merged: dict[Fraction | None, list[Fraction]] = {}
        for p0, p1 in zip(release["p0"], release["p1"], strict=True):
            mass = merged.setdefault(p1 / p0 if p0 else None, [Fraction(0), Fraction(0)])
            mass[0], mass[1] = mass[0] + p1, mass[1] + p0
        merged = {key: mass for key, mass in merged.items() if any(mass)}
        ratios = sorted(key for key in merged if key)
        lattice = len(ratios) == len(merged) and len({b / a for a, b in pairwise(ratios)}) < 2
        order = ratios + [key for key in merged if not key]
        p, q = ([exact(merged[key][side]) for key in order] for side in (0, 1))
        return Atoms(*((q, p) if reverse else (p, q)), lattice, count, arb(0), False)
    rate, shift, scale = exact(release["rate"]), exact(moves), release.get("sigma", release.get("scale"))
    scale = exact(1 / release["epsilon"] if scale is None else scale)
    if kind == "gaussian":
        mu = shift / scale
        return Normal(people * mu * arb(count).sqrt()) if rate == 1 else SampledNormal(mu, rate, people, reverse, count)
    if kind == "laplace":
        r = people * shift / scale
        return Laplace(r, count) if rate == 1 else SampledLaplace(r, rate, reverse, count)
    if kind == "randomized_response":
        others, ratio = release["categories"] - 1, (1 / scale).exp()
        p = [x / (ratio + others) for x in (arb(1), arb(others - 1), ratio)]
        return Atoms(p, p[::-1], True, count, arb(0), True)
    if kind == "geometric":
        base, m = (-1 / scale).exp(), int(moves)
        p = [base**m / (1 + base), *((1 - base) / (1 + base) * base ** (m - x) for x in range(1, m)), 1 / (1 + base)]
        return Atoms(p, p[::-1], True, count, arb(0), True)
    reach, m = int(16 * float(scale)) + 2, int(moves)  # discrete Gaussian noise
    if reach + m > MOST:
        raise OpenError("more outcomes than are enumerated")
    density = lambda x: (-x * x / (2 * scale**2)).exp()  # noqa: E731
    fall = (-reach / scale**2).exp()
    beyond = 2 * density(arb(reach)) * fall / (1 - fall)
    total = 1 + 2 * sum((density(arb(x)) for x in range(1, reach + 1)), arb(0)) + beyond.union(arb(0))
    p = [density(arb(x)) / total for x in range(-reach - m, reach + 1)]
    return Atoms(p, p[::-1], True, count, (beyond / total).upper(), True)


class Pair:
    """All releases together, in one order of the two worlds."""

    def __init__(self, releases: list[dict], reverse: bool) -> None:
        laws = [law(release, reverse) for release in releases]
        normal = [law for law in laws if isinstance(law, Normal)]
        others = [law for law in laws if not isinstance(law, (Normal, Atoms))]
        others += [Normal(sum((law.mu**2 for law in normal), arb(0)).sqrt())] if normal else []
        atoms = [law for law in laws if isinstance(law, Atoms)]
        self.laws, self.symmetric = others + atoms, all(law.symmetric for law in laws)
        falls = sum(law.count for law in laws if isinstance(law, SampledNormal))
        self.blur = not normal and falls < 4
        known = all(law.top is not None for law in self.laws)
        self.top = sum((law.top * law.count for law in self.laws), arb(0)) if known else None
        self.rest = others[0] if others else None
        self.closed = len(others) < 2 and all(law.closed for law in others)
        self.closed = self.closed and math.prod(law.size for law in atoms) <= MOST
        self.outcomes, self.spare = [(arb(1), arb(1))], sum((law.spare * law.count for law in atoms), arb(0))
        for each in atoms if self.closed else []:
            self.outcomes = [(a * p, b * q) for a, b in self.outcomes for p, q in each.outcomes()]

    def approach(self, eps: arb) -> None:
        """Prepares delta for thresholds about eps."""
        if not self.closed:
            self.inversion = Inversion(self.laws, float(eps), self.blur)

    def hockey(self, p: arb, q: arb) -> arb:
        """The integral of (p dP - q dQ)+ of the one law that is not enumerated, if there is one."""
        if self.rest is None or p.is_zero() or q.is_zero():
            return (p - q).max(arb(0))
        return p * self.rest.hockey(q / p)

    def delta(self, eps: arb) -> arb:
        Clock.check()
        if self.top is not None and eps >= self.top:
            return arb(0)
        if not self.closed:
            return self.inversion.delta(eps).max(arb(0)).min(arb(1))
        t = eps.exp()
        value = sum((self.hockey(p, t * q) for p, q in self.outcomes), arb(0))
        return value.union(value + self.spare).max(arb(0)) if self.spare > 0 else value.max(arb(0))

    def cumulant(self, c: float) -> float:
        return float(sum((law.moment(acb(c)).real.log() * law.count for law in self.laws), arb(0)))


def delta(pair: Pair, at: Fraction) -> arb:
    pair.approach(exact(at))
    return pair.delta(exact(at))


def crossing(function: Callable[[float], float], low: float, high: float) -> float:
    """About where a falling function is zero (Illinois' rule)."""
    first, last, x = function(low), function(high), low
    for _ in range(60):
        x = low + (high - low) * first / (first - last)
        value = function(x)
        if abs(value) < 1e-12 or high - low < 1e-15 * high:
            break
        if value > 0:
            low, first, last = x, value, last / 2
        else:
            high, last, first = x, value, first / 2
    return x


def epsilon(pair: Pair, at: Fraction) -> arb:
    """The smallest eps >= 0 with delta(eps) <= at: proposed, then proven by delta on both sides of it."""
    target = exact(at)
    if at == 0 and pair.top is None:
        raise OpenError("at 0 the reading is infinite, or the largest loss is not known")
    if at == 0:
        return pair.top
    bound = lambda c: (pair.cumulant(c) - math.log(at) + c * math.log(c) - (1 + c) * math.log1p(c)) / c  # noqa: E731
    high = 1.0 if pair.closed else max(1e-9, bound(least(bound)))  # Chernoff's
    pair.approach(arb(high))
    if pair.delta(arb(0)) <= target:
        return arb(0)
    while high < 1e9 and not pair.delta(arb(high)) <= target:
        high *= 2
    excess = lambda x: float((pair.delta(arb(x)).mid() / target).max(arb("1e-30")).log())  # noqa: E731
    high = crossing(excess, 0.0, high)
    x, nudge = arb(high), arb(high) * 1e-9
    for _ in range(3):
        here, there = pair.delta(x).mid(), pair.delta(x + nudge).mid()
        x = (x + nudge * (here - target) / (here - there)).mid() if here > there else x
    upper = proven(lambda w: pair.delta(x + w) <= target, x)
    lower = proven(lambda w: w >= x or pair.delta(x - w) > target, x)
    return (x - lower).max(arb(0)).union(x + upper)


def proven(holds: Callable[[arb], bool], scale: arb) -> arb:
    """The first of growing widths for which something is proven."""
    for k in range(100, -2, -2):
        if holds(scale * arb(2) ** -k):
            return scale * arb(2) ** -k
    raise OpenError("no threshold could be proven")


def fnr(pair: Pair, at: Fraction) -> arb:
    """The largest of h(t) = 1 - delta(log t) - t at, which is concave: Lemma 5."""
    height = lambda t: 1 - pair.delta(t.log()) - t * exact(at)  # noqa: E731
    low, high = -200.0, 700.0
    for _ in range(1 if pair.closed else 3):
        if not pair.closed:
            bound = lambda c: (pair.cumulant(c) - math.log(at)) / (1 + c)  # noqa: E731
            middle = (low + high) / 2 if high - low < 99 else bound(least(bound))
            pair.approach(arb(middle))
            low, high = middle - 3, middle + 2
        while high - low > 1e-13 * max(1.0, abs(low)):
            a, b = low + (high - low) / 3, high - (high - low) / 3
            low, high = (a, high) if height(arb(a).exp()).mid() < height(arb(b).exp()).mid() else (low, b)
    t = arb((low + high) / 2).exp().mid()
    top = height(t)
    rises = lambda w: height(t - w) <= top and height(t + w) <= top  # noqa: E731
    w = proven(rises, t / 2)
    return top.lower().union((2 * top - height(t - w).min(height(t + w))).upper())


def read(releases: list[dict], relation: str, reading: str, at: Fraction) -> arb:
    """The reading, enclosed; of both orders the worse."""
    orders = {"remove": [False], "add": [True], "both": [False, True]}[relation]
    pairs = [Pair(releases, reverse) for reverse in orders]
    if reading in ("advantage", "success"):
        value = delta(pairs[0], Fraction(0))  # the same in both orders
        return value if reading == "advantage" else (1 + value) / 2
    values = [{"delta": delta, "epsilon": epsilon, "fnr": fnr}[reading](pair, at)
              for pair in (pairs[:1] if pairs[0].symmetric else pairs)]  # fmt: skip
    return reduce(arb.min if reading == "fnr" else arb.max, values)
