"""``python -m epsilens_checker certificate.json``: one JSON object on stdout, and an exit code that says the same."""

import argparse
import json
import math
import signal
import sys
import threading
import time
from _thread import interrupt_main

from flint import arb, ctx

from .certificate import Certificate, InputError, read
from .laws import OpenError
from .readings import enclose, exact

EXITS = {"certified": 0, "open": 3, "refuted": 4}  # 2: the file is no certificate


def judge(claim: Certificate) -> tuple[str, arb | None, str]:
    """The verdict, the enclosure of the true value, and the reason."""
    try:
        value = enclose(claim.releases, claim.relation, claim.reading, claim.at)
    except OpenError as reason:
        return "open", None, str(reason)
    except (ArithmeticError, ValueError, MemoryError):
        return "open", None, "no parameters could be proposed"
    lower, upper = exact(claim.lower), exact(claim.upper)
    least, most = (0.5 if claim.reading == "success" else 0, math.inf if claim.reading == "epsilon" else 1)
    if (lower <= least or lower <= value.lower()) and (upper >= most or value.upper() <= upper):
        return "certified", value, "both ends are proven"
    if value < lower or value > upper:
        return "refuted", value, f"the true value is {'below lower' if value < lower else 'above upper'}"
    return "open", value, "the enclosure lies neither within the claim nor apart from it"


def outward(end: arb, direction: float) -> float | None:
    """A double next to an end, outside of it."""
    value = float(end)
    while math.isfinite(value) and not (arb(value) <= end if direction < 0 else arb(value) >= end):
        value = math.nextafter(value, direction)
    return value if math.isfinite(value) else None


def main() -> int:
    parser = argparse.ArgumentParser(prog="epsilens_checker", description="Checks a claimed bracket.")
    parser.add_argument("certificate")
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments, start = parser.parse_args(), time.monotonic()
    ctx.prec = 192
    signal.signal(signal.SIGINT, signal.default_int_handler)
    limit = threading.Timer(max(0.0, arguments.seconds), interrupt_main)
    limit.daemon = True
    try:
        claim = read(arguments.certificate)
        limit.start()
        verdict, value, reason = judge(claim)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        verdict, value, reason = "open", None, "the time limit is reached"
    limit.cancel()
    ends = None if value is None else [outward(value.lower(), -math.inf), outward(value.upper(), math.inf)]
    seconds = round(time.monotonic() - start, 3)
    print(json.dumps({"verdict": verdict, "enclosure": ends, "seconds": seconds, "reason": reason}))
    return EXITS[verdict]


if __name__ == "__main__":
    sys.exit(main())
