"""Run beside a copy of the checker: proposals so bad that every bound bites; prints the name of each that fails.

The truths are midpoints under good proposals, which the quadratures of test_enclosures.py confirm.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import acb, arb, ctx

from epsilens_checker import inversion, laws
from epsilens_checker.certificate import release
from epsilens_checker.readings import enclose

SAMPLED = {"mechanism": "gaussian", "sigma": "1", "rate": "0.01", "count": "200"}
NORMAL = {"mechanism": "gaussian", "sigma": "1.5"}
LEAST = inversion.least


def proposals(
    exponent: float = 1.0, strip: float = 80.0, cut: float = 1e-35, depth: float = 40.0, digits: float = 1e-11
) -> None:
    inversion.least = lambda function: exponent * LEAST(function)
    laws.STRIP, laws.CUT, inversion.DEPTH, inversion.DIGITS = strip, cut, depth, digits


def check(name: str, holds: bool) -> None:
    if not holds:
        print(name)


def moments(relation: str) -> None:
    """Lemmas 1 and 2, for one release."""
    for z in (acb(3, 0), acb(3, 5), acb(8, 7)):
        proposals()
        good = laws.SampledNormal(arb(1), arb("0.1"), 2, relation == "add", 1)
        truth = good.moment(z)
        for words in ({"strip": 1.5}, {"cut": 1e-1}):
            proposals(**words)
            coarse = laws.SampledNormal(arb(1), arb("0.1"), 2, relation == "add", 1)
            check(f"moment, {relation}", coarse.moment(z).overlaps(truth))
        proposals()
        for y in (2, 20, 100):
            ceiling = good.ceiling(float(z.real), arb(y))
            check(f"ceiling, {relation}", good.moment(acb(z.real, y)).abs_lower() <= ceiling)


def copies() -> None:
    """Theorem K1 with a period so short that the copies on either side are as large as the profile."""
    proposals()
    law = laws.Normal(arb(1))
    made = inversion.Inversion([law], 1.0)
    for c, b, step in ((0.2, 3.0, 2.0), (8.0, 12.0, 6.0)):
        made.c, made.b, made.step, made.omitted = c, b, step, arb(0)
        made.terms = made.sum_up()
        check(f"copies, {c}", made.delta(arb(1)).overlaps(law.hockey(arb(1).exp())))


def main() -> None:
    ctx.prec = 192
    copies()
    both = [release(SAMPLED, True), release(NORMAL, True)]
    for relation, truth in (("remove", REMOVE), ("add", ADD)):
        moments(relation)
        for words in ({}, {"exponent": 0.4, "depth": 1.0}, {"exponent": 2.0, "depth": 1.0}, {"digits": 0.9}):
            proposals(**words)
            check(f"delta, {relation}", enclose(both, relation, "delta", Fraction(2)).overlaps(arb(truth)))
    proposals()
    blurred = inversion.Inversion([laws.Laplace(arb("0.1"), 40)], 1.5).delta(arb(1.5))
    check("blur", blurred.overlaps(arb(LAPLACE)))
    found = enclose([release({**NORMAL, "shift": "0.75"}, True)], "both", "fnr", Fraction(1, 10))
    check("fnr", all(math.isclose(float(end), FNR, rel_tol=1e-13) for end in (found.lower(), found.upper())))


REMOVE, ADD = "0.001029419650156 +/- 1e-15", "0.0009552633358521 +/- 1e-16"
LAPLACE, FNR = "0.0030775182063694556755", 0.7827609195726948

if __name__ == "__main__":
    main()
