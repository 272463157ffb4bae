"""High orders of shifted sums of Laplaces against the integral about its crest in 60 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from epsilens.laws.closed.far_sums import far_out
from epsilens.laws.closed.sums import LaplaceSumShift


def truth(density: list[mpmath.mpf], shift: float, a: float) -> mpmath.mpf:
    """D_a by quadrature about the crest."""
    order, d = mpmath.mpf(a), mpmath.mpf(shift)

    def log_f(x: mpmath.mpf) -> mpmath.mpf:
        one, other = (mpmath.log(mpmath.polyval(density, z)) - z for z in (x, x - d))
        return (1 - order) * one + order * other

    about = mpmath.sqrt(order * (len(density) - 1) * d) + d
    crest = mpmath.findroot(lambda x: mpmath.diff(log_f, x, h=abs(x) * mpmath.mpf(10) ** -20), about)
    sd = 1 / mpmath.sqrt(-mpmath.diff(log_f, crest, 2, h=abs(crest) * mpmath.mpf(10) ** -12))
    top = log_f(crest)
    cuts = [crest + k * sd for k in range(-14, 17, 2)]
    return (top + mpmath.log(mpmath.quad(lambda x: mpmath.exp(log_f(x) - top), cuts))) / (order - 1)


@pytest.mark.parametrize("order", [1e8, 1e10, 1e12, 1e18, 1e30])
@pytest.mark.parametrize(("q", "shift"), [(2, 0.5), (2, 3.0), (4, 0.25), (4, 0.7)])
def test_high_orders(q: int, shift: float, order: float) -> None:
    # the convolution of q Laplaces: P = Σ_k (q−1+k)!/(k!·(q−1−k)!·2^k)·x^{q−1−k}/((q−1)!·2^q)
    with mpmath.workdps(60):
        unit = mpmath.factorial(q - 1) * mpmath.mpf(2) ** q
        density = [
            mpmath.factorial(q - 1 + k)
            / (mpmath.factorial(k) * mpmath.factorial(q - 1 - k) * mpmath.mpf(2) ** k)
            / unit
            for k in range(q)
        ]
        expected = float(truth(density, shift, order))
    law = LaplaceSumShift(q, np.asarray(shift))
    assert float(law.log_moment(np.asarray(order))) / (order - 1) == pytest.approx(expected, rel=1e-11)
    assert float(law.log_moment(np.asarray(1 - order))) / (order - 1) == pytest.approx(expected, rel=1e-11)


def test_where_both_ways_meet() -> None:
    for q, shift in ((2, 0.5), (3, 1e-3), (8, 2.0), (2, 100.0)):
        law = LaplaceSumShift(q, np.asarray(shift))
        orders = np.geomspace(1e3, 1e40, 38)
        divergence = np.asarray([float(law.log_moment(np.asarray(a))) / (a - 1) for a in orders])
        assert (np.diff(divergence) >= -1e-11 * shift).all()
        assert (divergence <= shift * (1 + 1e-15)).all()
        assert divergence[-1] == pytest.approx(shift, rel=1e-13)
        assert len({far_out(q, shift, a) for a in orders}) == 2
