"""One chart a finding: how sure an attacker can become, what knowing others gains, how often false records are seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ...attacks.tampering_power import TamperingTests
from ...numerics.formatting import floor_digits
from ..sentences import number
from .chart import Chart
from .curves import PHONE, SIDE_BY_SIDE, hundredths, plot_width, square
from .layout import (
    LINE,
    End,
    Layer,
    Point,
    Room,
    block,
    dashed,
    dot,
    ends,
    frame,
    line,
    linear_axis,
    log_axis,
    room_for,
    steps,
    text,
    width_of,
)

if TYPE_CHECKING:
    from ...attacks.identification import Identification
    from ...attacks.tampering_power import HiddenBias
    from ...auditing.result import Audit
    from ...ledger.account import Account


# -- who is missing: percent sure against ε -----------------------------------------------------------------------

_PADDING = {"left": 52, "right": 20, "top": 62, "bottom": 56}


def certainty_chart(found: Identification) -> Chart | None:
    """Percent sure against ε: exact in colour where the values are known, the bound beside it; None without a curve."""
    return Chart("certainty", _certainty, (found,), 600) if found.curve else None


def _certainty(found: Identification, width: int) -> dict[str, object]:
    low, high = found.curve[0][0], found.curve[-1][0]
    bound = [(e, 100 * b) for e, b, _ in found.curve]
    exact = [(e, 100 * x) for e, _, x in found.curve if x is not None]
    aria = (
        f"How sure the attacker can become, against ε: {number(100 * found.certainty)} percent at "
        f"ε = {floor_digits(found.epsilon)}; a blind guess gives {number(100 * found.baseline)} percent."
    )
    plot = width - _PADDING["left"] - _PADDING["right"]
    floor = ((low, 100 * found.baseline), (high, 100 * found.baseline))
    layers = [dashed(floor, "var(--ink)", 1.25, (4, 3), "blind guess")]
    if exact:
        layers.append(line(bound, "var(--secondary)", 1.75, "bound"))
    layers.append(line(exact or bound, "var(--risk)", 3, "exact" if exact else "bound"))
    if low <= found.epsilon <= high:
        layers.append(dot((found.epsilon, 100 * found.certainty), filled=True))
    x = log_axis(low, high, plot, "ε (logarithmic scale)", domain=False, ticks=False, labelPadding=8)
    title = "Percent sure of who is missing"
    return frame(aria, plot, 280, layers, x, hundredths(None), _PADDING, title, f"Among {found.n:,} people")


def legend(found: Identification) -> str:
    """What the lines are."""
    exact = found.curve and found.curve[0][2] is not None
    lines = (
        "Thick line: exact for these values. Thin line: the bound from n and the range."
        if exact
        else "Line: the bound from n and the range."
    )
    return f"{lines} Dashed: a blind guess. Dot: ε = {floor_digits(found.epsilon)}. All at the most telling answer."


# -- correlated records: the worst adversary against how many records they know (paper 004, Figure 4) -------------

_LEFT = 52


def known_curve(
    levels: Sequence[float],
    *,
    independent: float,
    title: str,
    group: float | None = None,
    top: float | None = None,
    upper: float | None = None,
) -> Chart:
    """``levels[k]`` is the worst among all who know k records; ``independent`` what it would be without correlation.

    ``group`` is a bound drawn above, ``upper`` the end of an interval at the worst point, ``top`` how high the chart
    must reach.
    """
    points = tuple((float(k), float(level)) for k, level in enumerate(levels))
    return Chart("known", _known, (points, independent, title, group, top, upper))


def _known(
    points: Sequence[Point],
    independent: float,
    title: str,
    group: float | None,
    top: float | None,
    upper: float | None,
    width: int,
) -> dict[str, object]:
    worst, last = max(points, key=lambda p: p[1]), points[-1][0]
    high = 1.08 * max(top or worst[1], group or 0.0, independent)
    wide = width >= 600
    names = [("independent records", 400), ("worst adversary", 600), ("group privacy", 600)]
    right = room_for(names, 150 if wide else 94, 150 if wide else 112)
    height, plot = 300 if wide else 250, width - _LEFT - right

    def down(value: float) -> float:
        return (1 - value / high) * height

    layers = [line(((0, independent), (last, independent)), "var(--secondary)", 1.75, "independent records")]
    labels: list[End] = [("independent records", down(independent), "var(--secondary)", 400)]
    if group is not None:
        layers.append(dashed(((0, group), (last, group)), "var(--ink)", 1.5, (5, 3), "group privacy"))
        labels.append(("group privacy", down(group), "var(--ink)", 600))
    if upper is not None and upper <= high:
        layers.append(line((worst, (worst[0], upper)), "var(--risk)", 1.25))
    layers.append(line(points, "var(--risk)", 3, "worst adversary"))
    layers += [dot(p, filled=p == worst) for p in (points if len(points) <= 30 else [worst])]
    if abs(points[-1][1] - independent) > 0.12 * high:
        labels.append(("worst adversary", down(points[-1][1]), "var(--risk)", 600))
    layers += ends(labels, (last, high), height, right)
    near = worst[0] < last / 2
    layers += text(f"{worst[1]:.3g}", worst, "left" if near else "right", "var(--risk)", 600, 9 if near else -9, -12)
    step = max(1, math.ceil((len(points) - 1) / (12 if wide else 6)))
    x = linear_axis(0, last, grid=False, domain=True, ticks=True, labelPadding=2, titlePadding=8, titleX=0)
    x["axis"] |= {"values": list(range(0, len(points), step)), "format": ",.0f"}
    x["axis"]["title"] = f"known records, of {len(points) - 1} others"
    bound = "" if group is None else f"; group privacy {group:.4g}"
    aria = (
        f"{title}, against the number of known records: "
        + ", ".join(f"{k:g} known {v:.4g}" for k, v in _few(points))
        + f"; independent records {independent:.4g}{bound}."
    )
    padding = {"left": _LEFT, "right": right, "top": 58, "bottom": 56}
    subtitle = f"If records were independent: {independent:.3g}"
    return frame(aria, plot, height, layers, x, linear_axis(0, high), padding, title, subtitle)


def _few(points: Sequence[Point]) -> list[Point]:
    step = max(1, math.ceil(len(points) / 8))
    return [p for k, p in enumerate(points) if k % step == 0 or k == len(points) - 1]


# -- tampering: how often false records are noticed, by what they move ------------------------------------------


@dataclass(frozen=True, slots=True)
class PowerCurve:
    """Noticed of 100 against the size of the bias: the best test in colour, the two-sided one beside it.

    ``most`` is the end of the horizontal axis in units of the answer, ``alarms`` the false alarms of 100.
    """

    title: str
    subtitle: str
    aria: str
    best: tuple[Point, ...]
    two_sided: tuple[Point, ...]
    alarms: float
    most: float
    chosen: Point | None = None

    def spec(self, width: int) -> dict[str, Any]:
        """The Vega-Lite definition at a width in pixels, axis and edges included."""
        floor = ((0.0, self.alarms), (self.most, self.alarms))
        layers = [
            dashed(floor, "var(--ink)", 1.5, (4, 3), "false alarms"),
            line(self.two_sided, "var(--secondary)", 1.75, "two-sided"),
            line(self.best, "var(--risk)", 3, "best test"),
        ]
        if self.chosen:
            layers.append(dot(self.chosen, filled=False))
        x = linear_axis(0, self.most, grid=False, title="Moved by false records together", titlePadding=8)
        return square(width, self.title, self.subtitle, [*layers, *self._labels(plot_width(width))], x, self.aria)

    def _labels(self, plot: int) -> list[Layer]:
        """The best test left of its curve, the two-sided one right of its own, the false alarms at their end."""
        room = Room(plot, plot)

        def pixel(at: Point) -> Point:
            return at[0] / self.most * plot, (1 - at[1] / 100) * plot

        for points in (self.best, self.two_sided, ((0.0, self.alarms), (self.most, self.alarms))):
            room.line([pixel(p) for p in points])
        if self.chosen:
            room.dot(pixel(self.chosen))
        at = (self.most, self.alarms)
        out = self._beside(
            room, pixel, "false alarms", [at], "right", (0, -11 if self.alarms < 90 else 11), "var(--ink)", 400
        )
        start = self.best[0][1]  # a stretched noise is noticed even at size 0
        heights = [start + share * (100 - start) for share in (0.7, 0.6, 0.5, 0.8, 0.4, 0.9, 0.97)]
        left = [_at(self.best, h) for h in heights]
        out += self._beside(room, pixel, "best test", left, "right", (-10, 0), "var(--risk)", 600)
        right = [_at(self.two_sided, h) for h in reversed(heights) if h - self.alarms > 8] or [self.two_sided[-1]]
        middle = len(right) // 2
        return out + self._beside(
            room, pixel, "two-sided", [*right[middle:], *right[:middle]], "left", (10, 0), "var(--secondary)", 400
        )

    def _beside(
        self, room: Room, pixel: Callable[[Point], Point], words: str, places: Sequence[Point], side: str,
        moved: Point, colour: str, weight: int,
    ) -> list[Layer]:  # fmt: skip
        """Words beside the first of the places where they cross nothing."""
        ends = [pixel(p) for p in places]
        boxes = [block((x + moved[0], y + moved[1]), width_of(words, weight), LINE, side) for x, y in ends]
        at = places[room.best(boxes)]
        return text(words, at, side, colour, weight, *moved)


def power_chart(found: HiddenBias) -> Chart | None:
    """Noticed of 100 by the size of the bias; None where no size is noticed."""
    drawn = found.points
    if drawn is None:
        return None
    best, most = [100 * v for v in drawn.best], drawn.bias[-1]
    aria = (
        f"Noticed of 100 against what false records move together, from {best[0]:.0f} at 0 to {best[-1]:.0f} at "
        f"{number(most)}; half are noticed at {number(drawn.half)}."
    )
    curve = PowerCurve(
        "False records noticed, of 100",
        f"with {100 * found.fpr:.3g} false alarms of 100",
        aria,
        tuple(zip(drawn.bias, best, strict=True)),
        tuple(zip(drawn.bias, (100 * v for v in drawn.two_sided), strict=True)),
        100 * found.fpr,
        most,
        (abs(found.bias), 100 * float(found.rules[0].power)) if isinstance(found, TamperingTests) else None,
    )
    return Chart("power", PowerCurve.spec, (curve,), SIDE_BY_SIDE, PHONE)


def _at(points: tuple[Point, ...], height: float) -> Point:
    """The first point of a rising curve at or above a height, or its last."""
    return next((p for p in points if p[1] >= height), points[-1])


# An audit as a chart: the claimed δ at each ε, and what the runs show it to be at least.

_BAND_LEFT = 52


def band_chart(found: Audit) -> Chart | None:
    """δ, out of 100, against ε: claimed from above, found from below; None where δ was not bounded."""
    lines = tuple(zip(found.claim.epsilon.tolist(), found.claim.delta.tolist(), strict=True))
    return Chart("audit", _band, (found.band, lines)) if len(found.band) > 1 else None


def _band(
    band: Sequence[tuple[float, float, float]], lines: Sequence[tuple[float, float]], width: int
) -> dict[str, object]:
    claimed = [(eps, 100 * delta) for eps, delta in lines]
    found = [(eps, 100 * low) for eps, _, low in band]
    # a bound holds at every smaller ε too, and nowhere beyond: steps
    steps = [found[0]] + [at for (left, _), (eps, low) in pairwise(found) for at in ((left, low), (eps, low))]
    last = band[-1][0]
    high = min(105.0, 1.1 * max(max(y for _, y in claimed), max(y for _, y in found), 1.0))
    wide = width >= 600
    names = [("claimed, at most", 400), ("found, at least", 600)]
    right = room_for(names, 110 if wide else 94, 150 if wide else 112)
    height, plot = 300 if wide else 250, width - _BAND_LEFT - right

    def down(value: float) -> float:
        return (1 - value / high) * height

    layers = [
        line(claimed, "var(--secondary)", 1.75, "claimed, at most"),
        line(steps, "var(--risk)", 3, "found, at least"),
    ]
    above = [(eps, 100 * low) for eps, delta, low in band if low > delta]
    layers += [dot(at, filled=True) for at in above]
    labels: list[End] = [
        ("claimed, at most", down(claimed[-1][1]), "var(--secondary)", 400),
        ("found, at least", down(found[-1][1]), "var(--risk)", 600),
    ]
    layers += ends(labels, (last, high), height, right)
    x = linear_axis(0, last, grid=False, domain=True, ticks=True, labelPadding=2, titlePadding=8, titleX=0)
    x["axis"]["title"] = "ε"
    aria = "δ out of 100 against ε, as claimed and as found at least: " + ", ".join(
        f"at {eps:.3g} {100 * delta:.3g} claimed, {100 * low:.3g} found"
        for eps, delta, low in band[:: len(band) // 7 or 1]
    )
    padding = {"left": _BAND_LEFT, "right": right, "top": 58, "bottom": 56}
    subtitle = "A dot is above the claim" if above else ""
    return frame(f"{aria}.", plot, height, layers, x, linear_axis(0, high), padding, "δ, of 100", subtitle)


# An account over time: how often an attacker guesses right after each release, beside what the limits promise.

_ACCOUNT_LEFT = 52
_MOST_DOTS = 12


def over_time(account: Account) -> Chart | None:
    """Guesses right of 100 against how many releases there were; None where there was none."""
    if not account.counted:
        return None
    points = ((0.0, 50.0), *((float(k), 100 * success) for k, success in account.history))
    promised = account.success_promised
    dates = tuple(one.at[:10] for one in account.counted)
    return Chart("ledger", _account, (points, None if promised is None else 100 * promised, dates))


def _account(points: Sequence[Point], promised: float | None, dates: Sequence[str], width: int) -> dict[str, object]:
    last = points[-1]
    high = _above(max(last[1], promised or 0.0))
    wide = width >= 600
    names = [("if noise was fixed in advance", 600), ("at most, whatever was chosen", 600), ("a coin", 400)]
    right = room_for(names, 130 if wide else 94, 170 if wide else 124)
    height, plot = 280 if wide else 240, width - _ACCOUNT_LEFT - right

    def down(value: float) -> float:
        return (1 - (value - 50) / (high - 50)) * height

    end = max(last[0], 1.0)
    layers = [line(((0, 50), (end, 50)), "var(--secondary)", 1.75, "a coin")]
    labels: list[End] = [("a coin", down(50), "var(--secondary)", 400)]
    if promised is not None:
        layers.append(dashed(((0, promised), (end, promised)), "var(--ink)", 1.5, (5, 3), "limit"))
        labels.append(("at most, whatever was chosen", down(promised), "var(--ink)", 600))
    layers.append(line(points, "var(--risk)", 3, "if noise was fixed in advance"))
    layers += [dot(p, filled=p == last) for p in (points[1:] if len(points) <= _MOST_DOTS else [last])]
    labels.append(("if noise was fixed in advance", down(last[1]), "var(--risk)", 600))
    layers += ends(labels, (end, high), height, right)
    step = max(1, math.ceil(end / (10 if wide else 5)))
    x = linear_axis(0, end, grid=False, domain=True, ticks=True, labelPadding=2, titlePadding=8, titleX=0)
    when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    x["axis"] |= {"values": list(range(0, int(end) + 1, step)), "format": ",.0f", "title": f"releases, {when}"}
    values, form = steps(50, high, 5)
    y = linear_axis(50, high)
    y["axis"] |= {"values": values, "format": form}
    limit = "" if promised is None else f"; at most {promised:.4g} whatever was chosen"
    aria = (
        "Right guesses of 100 after each release, had all noise been fixed in advance: "
        + ", ".join(f"{k:.0f} released {v:.4g}" for k, v in points)
        + f"{limit}; a coin 50."
    )
    padding = {"left": _ACCOUNT_LEFT, "right": right, "top": 58, "bottom": 56}
    return frame(aria, plot, height, layers, x, y, padding, "Right guesses of 100", "A coin gets 50")


def _above(value: float) -> float:
    """A round number above what is shown, which does not touch the frame."""
    for top in (50.1, 50.2, 50.5, 51, 52, 55, 60, 70, 80, 90):
        if value <= 50 + (top - 50) * 0.94:
            return float(top)
    return 100.0
