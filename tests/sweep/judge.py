"""Hold one reading of an experiment against the truth: is each end on its side, and as near as it claims to be?

The verdict is None where all is well, else a sentence. Readings that come from a search are checked at what they
returned (δ at the ε read, the equation of Fβ at the F read), so that no second search is needed.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scipy.special import ndtri

import epsilens as el
from epsilens.catalogue.readings import READINGS
from epsilens.readings.law import Exactness

from .truth import MP, Between, Truth, digits, larger

#: No reading may take longer.
LONGEST = 2.0
#: Of the truth itself, where it comes from numbers of 18 digits; the ends of closed forms are forgiven no more.
DOUBT = 1e-17


@dataclass(frozen=True)
class Case:
    """One reading of one experiment."""

    kind: str
    code: str  # builds the experiment
    reading: str
    arguments: dict[str, float]
    reverse: bool = False

    def __str__(self) -> str:
        told = "".join(f", {k}={v!r}" for k, v in self.arguments.items())
        return f"{self.code}{'.reverse()' if self.reverse else ''}.bracket({self.reading!r}{told})"


@dataclass(frozen=True)
class Outcome:
    """What came of a case: what is wrong (if anything), how far off it is, and how long it took."""

    case: Case
    wrong: str = ""
    error: float = 0.0  # relative distance of an exact claim from the truth
    width: float = 0.0
    known: str = ""
    judged: bool = True
    seconds: float = 0.0
    refused: bool = False

    @property
    def slow(self) -> bool:
        return self.seconds > LONGEST

    @property
    def fault(self) -> str:
        """What is wrong without its numbers."""
        return " ".join(word for word in self.wrong.split() if not any(c.isdigit() for c in word))[:60]


def relative(a: Any, b: Any) -> float:
    """|a − b| over |b|."""
    if a == b:
        return 0.0
    if not (math.isfinite(a) and math.isfinite(b)):
        return math.inf
    return float(abs(MP.mpf(a) - MP.mpf(b)) / max(abs(MP.mpf(b)), MP.mpf(10) ** -320))


def judge(case: Case, experiment: el.Experiment, truth: Truth, *, width: float = 1e-3) -> Outcome:
    """One case."""
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            low, high = experiment.bracket(case.reading, **case.arguments)
    except el.InputError as error:
        return Outcome(
            case,
            "" if _one_sentence(str(error)) else f"refused in other than one sentence: {error}",
            judged=False,
            refused=True,
        )
    except Exception as error:  # whatever reaches a user is a finding
        return Outcome(case, f"raised {type(error).__name__}: {error}", seconds=time.process_time() - start)
    seconds = time.process_time() - start
    known = experiment.law.known
    asked = READINGS.get(case.reading)
    if experiment.law.pointwise and asked is not None and asked.whole:
        known = Exactness.BOUND  # each point is exact, and no pair has them all
    low, high = float(low), float(high)
    if math.isnan(low) or math.isnan(high):
        return Outcome(case, f"NaN: ({low}, {high})", known=known, seconds=seconds)
    if low > high:
        return Outcome(case, f"low end above high end: ({low!r}, {high!r})", known=known, seconds=seconds)
    wide = _too_wide(case, experiment, low, high, width)
    check = CHECKS[case.reading]
    tol = truth.closed if known is Exactness.EXACT else max(truth.closed, 1e-15)
    if known is Exactness.EXACT and not experiment.law.width:
        tol = DOUBT  # its ends are rounded outward
    if known is Exactness.BRACKET or (known is Exactness.BOUND and experiment.law.width):
        tol = 2e-15  # both ends are proven: only the rounding of the last digit is forgiven
    said = check(case, truth, low, high, tol, known)
    if said is None:
        return Outcome(case, wide, known=known, judged=False, seconds=seconds, width=_width(low, high))
    return Outcome(case, said[0] or wide, said[1], _width(low, high), known, True, seconds)


def _at_least(tol: float, doubt: float) -> float:
    """A tolerance, and no less than what is in doubt of proven ends and their arguments; closed forms hold more."""
    return tol if tol == DOUBT else max(tol, doubt)


def _one_sentence(said: str) -> bool:
    return 0 < len(said) < 400 and "\n" not in said and "Traceback" not in said


def _width(low: float, high: float) -> float:
    return 0.0 if low == high else (high - low) / abs(high) if math.isfinite(high) else math.inf


def _too_wide(case: Case, experiment: el.Experiment, low: float, high: float, width: float) -> str:
    known = experiment.law.known
    if known in (Exactness.EXACT, Exactness.BOUND) or low == high:
        return ""
    small = any(0 < x <= 1e-6 for name, x in case.arguments.items() if name in ("fpr", "recall", "baseline"))
    # that of a search, for its end from below, and of a place that a double rounds
    most = width if known is Exactness.BRACKET else (1e-6 if small else 1e-9) + 1.1e-12 / abs(high)
    if case.reading in ("tradeoff",):  # asked of the recall
        low, high = 1 - high, 1 - low
    if _width(low, high) <= most * 1.01 or (known is Exactness.BRACKET and not experiment.law.reached):
        return ""
    return f"wider than {most:g} and said to be reached: ({low!r}, {high!r})"


# -- values that the oracle gives outright ---------------------------------------------------------------------------


def _against(found: Between | None, low: float, high: float, tol: float, known: Exactness, floor: float = 0.0) -> Any:
    """Both ends against an interval that holds the truth; ``floor`` is an absolute slack."""
    if found is None:
        return None
    a, b = found.low, found.high
    far = max(relative(high, float(b)) if high > b else 0.0, relative(low, float(a)) if low < a else 0.0)
    if math.isinf(a) and a > 0:
        ok = high == math.inf or float(a) > 1e308
        return ("" if ok else f"high end {high!r} below the truth inf"), 0.0
    slack = floor + tol * abs(float(b) if math.isfinite(b) else float(a))
    if high < a - slack:
        return f"high end {high!r} below the truth {float(a)!r} by {relative(high, a):.2g}", relative(high, a)
    if low > b + (slack if known is not Exactness.BOUND else max(slack, 1e-13 * float(b))):
        return f"low end {low!r} above the truth {float(b)!r} by {relative(low, b):.2g}", relative(low, b)
    if known in (Exactness.EXACT, Exactness.ROUNDED) and b - a <= 1e-11 * abs(b):
        most = max(tol, 1e-12 if known is Exactness.EXACT else 1e-9)
        for end in (low, high) if known is Exactness.ROUNDED else ((low + high) / 2,):
            off = min(relative(end, a), relative(end, b))
            if off > most and not a <= end <= b and abs(end - float(a)) > floor:
                return f"said to be exact, {end!r} where {float(a)!r} is true, off by {off:.2g}", off
        far = max(min(relative(end, a), relative(end, b)) if not a <= end <= b else 0.0 for end in (low, high))
        far = 0.0 if abs(high - float(a)) <= floor else far
        return "", far
    return "", 0.0


def _advantage(case: Case, truth: Truth, low: float, high: float, tol: float, known: Exactness) -> Any:
    return _against(truth.profile(0.0), low, high, tol, known)


def _success(case: Case, truth: Truth, low: float, high: float, tol: float, known: Exactness) -> Any:
    prior = MP.mpf(case.arguments["prior"])
    if prior in (0, 1):
        return _against(Between(1, 1), low, high, tol, known)
    x = MP.log((1 - prior) / prior)
    found = truth.profile(x)
    if found is None and (most := truth.at_most(float(x))) * prior < 1e-14 * (1 - prior):
        found = Between(0, most)  # too little to matter beside 1 − prior
    return None if found is None else _against(found * prior + (1 - prior), low, high, tol, known)


def _both(truth: Truth, x: Any) -> Between | None:
    one, other = truth.profile(x), truth.reverse().profile(x)
    return None if one is None or other is None else larger(one, other)


def _delta(case: Case, truth: Truth, low: float, high: float, tol: float, known: Exactness) -> Any:
    x = MP.mpf(case.arguments["epsilon"])
    found = _both(truth, case.arguments["epsilon"])
    if found is not None and truth.cheap and x and tol > DOUBT:  # a loss just above x is known to its last digits only
        ends = _both(truth, x * (1 + MP.mpf(10) ** -15)), _both(truth, x * (1 - MP.mpf(10) ** -15))
        if ends[0] is not None and ends[1] is not None:
            found = Between(min(found.low, ends[0].low), max(found.high, ends[1].high))
    return _against(found, low, high, tol, known, 5e-324)


def _epsilon(case: Case, truth: Truth, low: float, high: float, tol: float, known: Exactness) -> Any:
    """δ at the ε read is at most what was asked, at the low end at least that: each moved by the tolerance."""
    delta = case.arguments["delta"]
    more = _at_least(tol, 1e-15)
    top = max(digits(truth.top), -digits(truth.bottom))
    if math.isinf(high):
        if (known is Exactness.EXACT or low == high) and not truth.floor:
            if math.isfinite(top):
                return f"said to be inf where {float(top)!r} always holds", math.inf
            found = _both(truth, 5000.0)
            if found is not None and found.high < delta * (1 - 1e-9) and low == high:
                return f"said to be inf where δ(5000) = {float(found.high):.3g} is below", math.inf
        return "", 0.0
    found = _both(truth, MP.mpf(high) * (1 + more))
    if found is None:
        return None
    if found.low > MP.mpf(delta) * (1 + more) + MP.mpf(10) ** -323:
        off = float((found.low - delta) / delta) if delta else math.inf
        return f"at ε = {high!r} δ is still {float(found.low)!r}, {off:.2g} above", off
    if known is Exactness.BOUND or low == 0 or truth.floor:  # a floor says nothing of the low end
        return ("", 0.0) if low == 0 or truth.floor else None
    slack = more if known is not Exactness.ROUNDED else 1e-9
    found = _both(truth, MP.mpf(low) * (1 - slack))
    if found is None:
        return None
    if found.high < MP.mpf(delta) * (1 - slack) or (delta == 0 and low * (1 - slack) > top):
        off = float((delta - found.high) / delta) if delta else relative(low, top)
        return f"already at ε = {low!r} δ is {float(found.high)!r}, {off:.2g} below", off
    return "", 0.0


def _rounded(reading: Callable[[Any], Between | None], at: float, ulp: float = 0.0) -> Between | None:
    """A reading, where the argument (or the masses it is compared with) is known to half a digit in the last place."""
    if not ulp or not 0 < at < 1:
        return reading(at)
    ends = [reading(min(max(MP.mpf(at) + s * ulp * at, MP.mpf(0)), MP.mpf(1))) for s in (-1, 1)]
    if ends[0] is None or ends[1] is None:
        return None
    return Between(min(e.low for e in ends if e), max(e.high for e in ends if e))


def _recall(case: Case, truth: Truth, low: float, high: float, tol: float, known: Exactness) -> Any:
    (alpha,) = case.arguments.values()
    return _against(truth.recall(alpha), low, high, tol, known, 5e-324)


def _tradeoff(case: Case, truth: Truth, low: float, high: float, tol: float, known: Exactness) -> Any:
    found = _rounded(truth.missed, case.arguments["fpr"], _at_least(tol, 1.0) * truth.ulp)
    return _against(found, low, high, tol, known, 0.0 if tol == DOUBT else 2.3e-16)


def _precision(case: Case, truth: Truth, low: float, high: float, tol: float, known: Exactness) -> Any:
    prior, alpha = MP.mpf(case.arguments["prior"]), MP.mpf(case.arguments["fpr"])
    found = truth.recall(float(alpha))
    if found is None or prior in (0, 1) or not alpha:
        return None
    c = (1 - prior) / prior
    return _against(Between(*(r / (r + c * alpha) for r in (found.low, found.high))), low, high, tol, known)


def _precision_at(case: Case, truth: Truth, low: float, high: float, tol: float, known: Exactness) -> Any:
    prior, recall = MP.mpf(case.arguments["prior"]), MP.mpf(case.arguments["recall"])
    found = _rounded(truth.needed, float(recall), _at_least(tol, 1.0) * truth.ulp)
    if found is None or prior in (0, 1) or not recall:
        return None
    c = (1 - prior) / prior
    return _against(Between(*(recall / (recall + c * a) for a in (found.high, found.low))), low, high, tol, known)


def _posterior(case: Case, truth: Truth, low: float, high: float, tol: float, known: Exactness) -> Any:
    prior = MP.mpf(case.arguments["prior"])
    top = truth.top
    value = MP.mpf(1) if math.isinf(top) else 1 / (1 + (1 - prior) / prior * MP.exp(-digits(top)))
    return _against(Between(value, 1 if truth.floor else value), low, high, _at_least(tol, 1e-14), known)


def _renyi(case: Case, truth: Truth, low: float, high: float, tol: float, known: Exactness) -> Any:
    order = MP.mpf(case.arguments["order"])
    if order == 1:
        return _against(truth.kl(), low, high, tol, known)
    found = truth.log_moment(1 - order)
    if found is None:
        return None
    ends = sorted((found.low / (order - 1), found.high / (order - 1)))
    return _against(Between(*ends), low, high, tol, known, 1e-300)


def _kl(case: Case, truth: Truth, low: float, high: float, tol: float, known: Exactness) -> Any:
    return _against(truth.kl(), low, high, tol, known, 1e-300)


def _auc(case: Case, truth: Truth, low: float, high: float, tol: float, known: Exactness) -> Any:
    return _against(truth.area(), low, high, tol, known)


def _chernoff(case: Case, truth: Truth, low: float, high: float, tol: float, known: Exactness) -> Any:
    """−min of a convex function: from three points around its lowest the minimum is bounded on both sides."""
    a, b = MP.mpf(10) ** -30, 1 - MP.mpf(10) ** -30  # where the supports differ E jumps at the very ends
    best = math.inf
    for _ in range(9):
        points = [a + (b - a) * k / 8 for k in range(9)]
        seen = [truth.log_moment(p) for p in points]
        if any(v is None for v in seen):
            return None
        k = min(range(9), key=lambda i: float(seen[i].high))  # type: ignore[union-attr]
        best = min(best, float(seen[k].high))  # type: ignore[union-attr]
        a, b = points[max(k - 1, 0)], points[min(k + 1, 8)]
    most = math.inf if truth.floor else -best * (1 + 1e-9)
    return _against(Between(-best, most), low, high, max(tol, 1e-11), known, 1e-300)


def _fbeta(case: Case, truth: Truth, low: float, high: float, tol: float, known: Exactness) -> Any:
    """(1+β²−F)·h(F·c/(1+β²−F)) − F·β² falls in F and is 0 at the best."""
    prior, beta = MP.mpf(case.arguments["prior"]), MP.mpf(case.arguments["beta"])
    if prior in (0, 1):
        return None
    c, b2 = (1 - prior) / prior, beta * beta

    def balance(f: Any, upper: bool) -> Any:
        found = truth.profile(MP.log(f * c / (1 + b2 - f)))
        return None if found is None else (1 + b2 - f) * (found.high if upper else found.low) - f * b2

    slack = tol if known is not Exactness.ROUNDED else 1e-9
    if high <= 0 or low < 0 or high > 1 + 1e-12:
        return f"not a share: ({low!r}, {high!r})", math.inf
    f = MP.mpf(high) * (1 + tol)
    if f < 1:
        left = balance(f, False)
        if left is None:
            return None
        if left > 0:
            return f"high end {high!r} below the truth: the balance there is {float(left):.3g}", float(left)
    if known is Exactness.BOUND or low == 0:
        return "", 0.0
    right = balance(MP.mpf(low) * (1 - slack), True)
    if right is None:
        return None
    if right < 0:
        return f"low end {low!r} above the truth: the balance there is {float(right):.3g}", float(-right)
    return "", 0.0


def _psi(case: Case, truth: Truth, low: float, high: float, tol: float, known: Exactness) -> Any:
    """h ≤ that of N(0,1) against N(ψ,1) at every x, in both orders, and nearly equal at some x."""
    if math.isinf(high):
        return "", 0.0
    if high == 0:
        return _against(truth.profile(0.0), 0.0, 0.0, tol, known)
    mu = MP.mpf(high) * (1 + _at_least(tol, 1e-12))
    at = {mu * mu * k / 24 + mu * s for k in (-12, 0, 12) for s in (-4, -1, 0, 1, 4)}
    for x in at if truth.cheap else list(at)[::5]:
        for one in (truth, truth.reverse()):
            found = one.profile(float(x))
            if found is None:
                return None
            x0 = MP.mpf(float(x))
            most = MP.ncdf(mu / 2 - x0 / mu) - MP.exp(x0) * MP.ncdf(-mu / 2 - x0 / mu)
            if found.low > most * (1 + MP.mpf(10) ** -12) and found.low > 1e-300:
                return (
                    f"high end {high!r} too small: at x = {float(x)!r} h is {float(found.low)!r} > {float(most)!r}",
                    float(found.low / most - 1),
                )
    return "", 0.0


def _mu(case: Case, truth: Truth, low: float, high: float, tol: float, known: Exactness) -> Any:
    """No test with both errors at the level or above is further apart than μ; of atoms some corner is the furthest."""
    level = MP.mpf(case.arguments["level"])
    best = MP.mpf("-inf")
    shares = (0.0, 0.1, 0.25, 0.4, 0.6, 0.8) if truth.cheap else (0.0, 0.4)
    last = truth.needed(float(1 - level)) if truth.cheap else None
    ends = [] if last is None else [MP.mpf(last.high) * (1 - MP.mpf(10) ** -12)]
    alphas = [*(level ** (1 - s) * MP.mpf("0.4") ** s for s in shares), MP.mpf("0.5"), *truth.corners, *ends]
    for alpha in alphas:
        found = truth.recall(alpha)
        if found is None or alpha < level:
            continue
        missed = 1 - found.low
        if missed < level or not 0 < found.low < 1:
            continue
        best = max(best, normal_quantile(found.low) - normal_quantile(alpha))
    if not math.isfinite(best):
        return None
    if best > high * (1 + MP.mpf(_at_least(tol, 1e-13))) + MP.mpf(10) ** -300:
        return f"high end {high!r} below a gap of {float(best)!r} that some test has", relative(high, best)
    return "", 0.0


def normal_quantile(share: Any) -> Any:
    """Φ⁻¹ in as many digits as the share has."""
    share = MP.mpf(share)
    if share > 0.5:
        return -normal_quantile(1 - share)
    y = MP.mpf(float(ndtri(float(share))))
    for _ in range(3):  # Newton's steps
        y += (share - MP.ncdf(y)) / MP.npdf(y)
    return y


Check = Callable[[Case, Truth, float, float, float, Exactness], Any]
CHECKS: dict[str, Check] = {
    "advantage": _advantage,
    "success": _success,
    "delta": _delta,
    "epsilon": _epsilon,
    "roc": _recall,
    "recall": _recall,
    "attack_success": _recall,
    "tradeoff": _tradeoff,
    "precision": lambda c, *rest: (_precision_at if "recall" in c.arguments else _precision)(c, *rest),
    "posterior": _posterior,
    "renyi": _renyi,
    "kl": _kl,
    "auc": _auc,
    "chernoff": _chernoff,
    "fbeta": _fbeta,
    "psi": _psi,
    "mu": _mu,
}
