"""High orders of shifted sums of Laplaces against the integral about its crest in 60 digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from epsilens.laws.closed.far_sums import far_out
from epsilens.laws.closed.sums import LaplaceSumShift


def truth(density: list[mp.mpf], shift: float, a: float) -> mp.mpf:
    """D_a by quadrature about the crest."""
    order, d = mp.mpf(a), mp.mpf(shift)

    def log_f(x: mp.mpf) -> mp.mpf:
        one, other = (mp.log(mp.polyval(density, z)) - z for z in (x, x - d))
        return (1 - order) * one + order * other

    about = mp.sqrt(order * (len(density) - 1) * d) + d
    crest = mp.findroot(lambda x: mp.diff(log_f, x, h=abs(x) * mp.mpf(10) ** -20), about)
    sd = 1 / mp.sqrt(-mp.diff(log_f, crest, 2, h=abs(crest) * mp.mpf(10) ** -12))
    top = log_f(crest)
    cuts = [crest + k * sd for k in range(-14, 17, 2)]
    return (top + mp.log(mp.quad(lambda x: mp.exp(log_f(x) - top), cuts))) / (order - 1)


@pytest.mark.parametrize("order", [1e8, 1e10, 1e12, 1e18, 1e30])
@pytest.mark.parametrize(("q", "shift"), [(2, 0.5), (2, 3.0), (4, 0.25), (4, 0.7)])
def test_high_orders(q: int, shift: float, order: float) -> None:
    # the convolution of q Laplaces: P = Σ_k (q−1+k)!/(k!·(q−1−k)!·2^k)·x^{q−1−k}/((q−1)!·2^q)
    with mp.workdps(60):
        unit = mp.factorial(q - 1) * mp.mpf(2) ** q
        density = [
            mp.factorial(q - 1 + k) / (mp.factorial(k) * mp.factorial(q - 1 - k) * mp.mpf(2) ** k) / unit
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
