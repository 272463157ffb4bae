"""Brackets of random releases, judged by the independent checker: a claim of ours may be open, and never refuted.

Moved past the truth by 10⁻³ to 10⁻⁹ of it, a claim may be refuted or open, and never certified.
"""

from __future__ import annotations

import json
import math
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from types import FrameType
from unittest.mock import patch

from flint import ctx
from tests.combinations.builders import BUILDERS

import epsilens as el
from epsilens.certificate import Certificate, certifiable
from epsilens.experiment import Experiment
from epsilens_checker import __main__ as checker
from epsilens_checker.certificate import read

#: Seconds of one claim, then it is open.
MOST = 20.0
#: A claim that is proven moved past the truth by so much of it.
PAST = (1e-3, 1e-5, 1e-7, 1e-9)


def verdict(entry: Mapping[str, object]) -> str:
    """What the checker says of a certificate: certified, refuted or open."""
    before, ctx.prec = ctx.prec, 192
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "certificate.json"
            path.write_text(json.dumps(entry), encoding="utf-8")
            return checker.judge(read(str(path)))[0]
    finally:
        ctx.prec = before


def _log(rng: random.Random, low: float, high: float) -> float:
    return float(f"{math.exp(rng.uniform(math.log(low), math.log(high))):.3g}")


def _alone(rng: random.Random) -> str:
    """One release, as the code that builds it."""
    match rng.randrange(9):
        case 0:
            return f"el.laplace(epsilon={_log(rng, 1e-4, 40)})"
        case 1:
            return f"el.gaussian(sigma={_log(rng, 0.1, 200)})"
        case 2:
            return f"el.mechanisms.geometric(epsilon={_log(rng, 1e-3, 20)}, sensitivity={rng.randint(1, 5)})"
        case 3:
            return f"el.mechanisms.discrete_gaussian(sigma={_log(rng, 0.4, 40)}, sensitivity={rng.randint(1, 4)})"
        case 4:
            return f"el.mechanisms.randomized_response(epsilon={_log(rng, 1e-3, 20)}, k={rng.randint(2, 9)})"
        case 5:
            cuts = [sorted(rng.sample(range(1, 1000), 3)) for _ in range(2)]
            lists = [[(b - a) / 1000 for a, b in zip([0, *c], [*c, 1000], strict=True)] for c in cuts]
            return f"el.mechanisms.finite({lists[0]}, {lists[1]})"
        case 6:
            rate, steps = _log(rng, 1e-4, 1), rng.choice([1, 40, 300, 2000, 20_000])
            return (
                f"el.dpsgd(sigma={_log(rng, 0.5, 20)}, rate={rate}, steps={steps}, people={rng.choice([1, 1, 2, 4])})"
            )
        case 7:
            inner = rng.choice([f"el.laplace(epsilon={_log(rng, 0.01, 8)})", f"el.gaussian(psi={_log(rng, 0.01, 5)})"])
            return f"el.subsample({inner}, {_log(rng, 1e-4, 0.9)})"
    return rng.choice([code for codes in BUILDERS.values() for code in codes])


def _code(rng: random.Random) -> str:
    """One release or several, repeated, of a group, or in the other order."""
    made = _alone(rng)
    match rng.randrange(6):
        case 0:
            return f"({made}).repeat({rng.choice([2, 10, 100, 1000])})"
        case 1:
            return f"el.compose({', '.join([made, *(_alone(rng) for _ in range(rng.randint(1, 3)))])})"
        case 2:
            return f"el.group({made}, {rng.randint(2, 5)})"
        case 3:
            return f"({made}).reverse()"
    return made


def _claim(e: Experiment, rng: random.Random) -> Certificate:
    reading = rng.choice(["delta", "delta", "epsilon", "epsilon", "success", "advantage", "tradeoff"])
    if reading == "delta":
        most = min(float(e.epsilon(1e-12)), 600.0)
        return e.certificate(reading, epsilon=rng.uniform(0, most))
    given = {"epsilon": {"delta": 10 ** -rng.uniform(0.3, 12)}, "tradeoff": {"fpr": 10 ** -rng.uniform(0.1, 6)}}
    return e.certificate(reading, **given.get(reading, {}))


@dataclass
class Tally:
    """What was found of the claims of each mechanism."""

    found: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    moved: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        many = sum(self.found.values())
        lines = [
            f"{many} claims: " + ", ".join(f"{n} {what}" for what, n in self.found.most_common())
            + f"; {self.refused} releases without a certificate; {self.seconds / max(many, 1):.2f} s a claim",
            "moved past the truth: " + ", ".join(f"{n} {what}" for what, n in self.moved.most_common()),
            *(f"FAILED {line}" for line in sorted(self.wrong, key=len)[:10]),
            f"{len(self.wrong)} failures",
        ]  # fmt: skip
        return "\n".join(lines)


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _judged(claim: Certificate, folder: Path, tally: Tally, code: str) -> None:
    path = folder / "certificate.json"
    path.write_text(json.dumps(claim.to_dict()), encoding="utf-8")
    asked, start = read(str(path)), time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, MOST)
    try:
        verdict, value, reason = checker.judge(asked)
    except KeyboardInterrupt:
        verdict, value, reason = "open", None, "time"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    tally.seconds += time.monotonic() - start
    tally.found[verdict] += 1
    if verdict == "refuted":
        tally.wrong.append(f"{claim!r} of {code}: {reason}, {value}")
    if value is None:
        return
    with patch.object(checker, "enclose", return_value=value):
        for past in map(Fraction, PAST):
            most = Fraction(10**9) if claim.reading == "epsilon" else Fraction(1)
            above = replace(asked, lower=min(asked.upper * (1 + past), most), upper=most)
            below = replace(asked, lower=Fraction(0), upper=asked.lower * (1 - past))
            for moved in ([above] if asked.upper < above.lower else []) + ([below] if asked.lower else []):
                found, *_ = checker.judge(moved)
                tally.moved[found] += 1
                if found == "certified":
                    tally.wrong.append(
                        f"certified: {float(moved.lower)!r} to {float(moved.upper)!r}, {claim!r} of {code}"
                    )


def judge_certificates(seed: str, seconds: float, only: str = "", most: int = 10**9) -> Tally:
    """So many claims, or for so long."""
    tally, before, until = Tally(), ctx.prec, time.monotonic() + seconds
    ctx.prec, alarm = 192, signal.signal(signal.SIGALRM, _stop)
    try:
        with tempfile.TemporaryDirectory() as folder:
            turn = 0
            while time.monotonic() < until and sum(tally.found.values()) < most:
                rng, turn = random.Random(f"{seed}:{turn}"), turn + 1
                code = _code(rng)
                if only not in code:
                    continue
                try:
                    e = eval(code, {"el": el})
                    claim = _claim(e, rng) if certifiable(e) else None
                except el.EpsilensError:
                    claim = None
                if claim is None:
                    tally.refused += 1
                else:
                    _judged(claim, Path(folder), tally, code)
    finally:
        ctx.prec = before
        signal.signal(signal.SIGALRM, alarm)
    return tally
