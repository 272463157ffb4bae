"""Readings of a product of laws, each enclosed from delta alone."""

import math
from fractions import Fraction

from flint import acb, arb, fmpq

from .inversion import Inversion, least
from .laws import Clock, Laplace, Law, Normal, OpenError, SampledNormal


def exact(value: Fraction | int) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def law(release: dict, reverse: bool) -> Law:
    kind, count, people = release["mechanism"], release["count"], release["people"]
    rate, shift = exact(release["rate"]), exact(release["shift"])
    if kind == "gaussian" and release["rate"] == 1:
        return Normal(people * shift / exact(release["sigma"]), count)
    if kind == "gaussian":
        return SampledNormal(shift / exact(release["sigma"]), rate, people, reverse, count)
    if kind == "laplace" and release["rate"] == 1:
        scale = exact(release["scale"] if "scale" in release else 1 / release["epsilon"])
        return Laplace(people * shift / scale, count)
    raise OpenError(f"no route for {kind} here")


class Pair:
    """All releases together, in one order of the two worlds."""

    def __init__(self, releases: list[dict], reverse: bool) -> None:
        laws = [law(release, reverse) for release in releases]
        normal = [law for law in laws if isinstance(law, Normal)]
        self.laws = [law for law in laws if not isinstance(law, Normal)]
        if normal:
            self.laws.append(Normal(sum((law.mu**2 * law.count for law in normal), arb(0)).sqrt(), 1))
        self.symmetric = all(law.symmetric for law in laws)
        falling = sum(law.count for law in laws if isinstance(law, SampledNormal))
        self.blur = not normal and falling < 4
        tops = [law.top * law.count for law in laws if law.top is not None]
        self.top = sum(tops, arb(0)) if len(tops) == len(laws) else None
        self.inversion: Inversion | None = None

    def approach(self, eps: arb) -> None:
        """Prepares delta for thresholds about eps."""
        if len(self.laws) > 1 or self.laws[0].count > 1:
            self.inversion = Inversion(self.laws, float(eps), self.blur)

    def delta(self, eps: arb) -> arb:
        Clock.check()
        if self.top is not None and eps >= self.top:
            return arb(0)
        if self.inversion is None:
            return self.laws[0].hockey(eps.exp()).max(arb(0))
        return self.inversion.delta(eps).min(arb(1))

    def cumulant(self, c: float) -> float:
        return float(sum((law.moment(acb(c)).real.log() * law.count for law in self.laws), arb(0)))


def delta(pair: Pair, at: Fraction) -> arb:
    pair.approach(exact(at))
    return pair.delta(exact(at))


def crossing(function, low: float, high: float) -> float:
    """About where a falling function that is positive at low and negative at high is zero (Illinois' rule)."""
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
    if at == 0:
        if pair.top is None:
            raise OpenError("the reading is infinite at 0, or its largest loss is not known")
        return pair.top
    if delta(pair, Fraction(0)) <= target:
        return arb(0)
    log = float(target.log())
    chernoff = lambda c: (pair.cumulant(c) - log + c * math.log(c) - (1 + c) * math.log1p(c)) / c  # noqa: E731
    x = arb(least(chernoff, 1.0)[1])
    excess = lambda x: float((pair.delta(arb(x)).mid() / target).max(arb("1e-30")).log())  # noqa: E731
    for _ in range(2):
        pair.approach(x)
        x = arb(crossing(excess, 0.0, float(x)))
    nudge = x * 1e-9
    for _ in range(3):
        here, there = pair.delta(x).mid(), pair.delta(x + nudge).mid()
        x = (x + nudge * (here - target) / (here - there)).mid()
    width = x * arb(2) ** -80
    for _ in range(60):
        if pair.delta(x + width) <= target:
            break
        width *= 4
    else:
        raise OpenError("no threshold could be proven")
    upper, width = x + width, width / 1024
    for _ in range(60):
        if width >= x:
            return arb(0).union(upper)
        if pair.delta(x - width) > target:
            return (x - width).union(upper)
        width *= 4
    raise OpenError("no threshold could be proven")


def read(releases: list[dict], relation: str, reading: str, at: Fraction) -> arb:
    """The reading, enclosed; of both orders the worse."""
    pairs = [Pair(releases, reverse) for reverse in (False, True) if relation in ("both", ("remove", "add")[reverse])]
    if all(pair.symmetric for pair in pairs) or reading in ("advantage", "success"):
        pairs = pairs[:1]
    if reading in ("advantage", "success"):
        value = delta(pairs[0], Fraction(0))
        return value if reading == "advantage" else (1 + value) / 2
    values = [{"delta": delta, "epsilon": epsilon}[reading](pair, at) for pair in pairs]
    return values[0] if len(values) == 1 else values[0].max(values[1])
