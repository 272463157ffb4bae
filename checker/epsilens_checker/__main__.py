"""``python -m epsilens_checker certificate.json``: one JSON object on stdout, and an exit code that says the same."""

import argparse
import json
import math
import sys
import time

from flint import arb, ctx

from .certificate import Certificate, InputError, read
from .laws import Clock, OpenError
from .readings import exact
from .readings import read as enclose

EXITS = {"certified": 0, "bad input": 2, "open": 3, "refuted": 4}


def outward(end: arb, direction: float) -> float:
    """The double nearest to an end from outside."""
    value = float(end)
    while not (arb(value) <= end if direction < 0 else arb(value) >= end):
        value = math.nextafter(value, direction)
    return value


def judge(claim: Certificate) -> tuple[str, arb | None, str]:
    try:
        value = enclose(claim.releases, claim.relation, claim.reading, claim.at)
    except OpenError as reason:
        return "open", None, str(reason)
    except (ArithmeticError, ValueError, MemoryError):
        return "open", None, "no parameters could be proposed"
    lower, upper = exact(claim.lower), exact(claim.upper)
    if not value.is_finite():
        return "open", None, "the enclosure is not finite"
    if lower <= value.lower() and value.upper() <= upper:
        return "certified", value, "both ends are proven"
    if value < lower:
        return "refuted", value, "the true value is below the claimed lower end"
    if value > upper:
        return "refuted", value, "the true value is above the claimed upper end"
    return "open", value, "the enclosure does not lie within the claim, nor apart from it"


def main() -> int:
    parser = argparse.ArgumentParser(prog="epsilens_checker", description="Checks a claimed bracket.")
    parser.add_argument("certificate")
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    ctx.prec, start = 192, time.monotonic()
    Clock.end = start + arguments.seconds
    try:
        verdict, value, reason = judge(read(arguments.certificate))
    except InputError as error:
        print(error, file=sys.stderr)
        return EXITS["bad input"]
    ends = None if value is None else [outward(value.lower(), -math.inf), outward(value.upper(), math.inf)]
    seconds = round(time.monotonic() - start, 3)
    print(json.dumps({"verdict": verdict, "enclosure": ends, "seconds": seconds, "reason": reason}))
    return EXITS[verdict]


if __name__ == "__main__":
    sys.exit(main())
