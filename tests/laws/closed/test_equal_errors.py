"""ψ of shifted sums with Laplace noise, against mpmath in 40 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import epsilens as el
from epsilens.laws.closed.equal_errors import psi_by_equal_errors
from epsilens.laws.closed.sums import LaplaceSumShift, NormalLaplaceShift

MP = mpmath.mp.clone()
MP.dps = 40


def _probit(log_p: mpmath.mpf) -> mpmath.mpf:
    """z with P(N > z) = p, by its logarithm."""
    start = MP.sqrt(-2 * log_p)
    return MP.findroot(lambda z: MP.log(MP.erfc(z / MP.sqrt(2)) / 2) - log_p, start - MP.log(start + 1) / (start + 1))


@pytest.mark.parametrize("shift", [0.3, 4.0, 100.0, 2500.0, 5000.0])
def test_two_laplaces(shift: float) -> None:
    """P(S > x) = e^{−x}(2 + x)/4; no test has a larger gap than that with equal errors."""
    d = MP.mpf(shift)
    gaps = [_probit(MP.log((2 + c) / 4) - c) + _probit(MP.log((2 + d - c) / 4) - d + c) for c in (d / 2, d * 3 / 5)]
    law = LaplaceSumShift(2, np.asarray(shift))
    assert float(law.psi()) == pytest.approx(float(gaps[0]), rel=1e-12)
    assert gaps[1] < gaps[0]
    assert float(law.practical(1e-6)) == float(law.psi())


def test_whatever_the_size() -> None:
    """Errors of e^{−2500} are no doubles: the index was 0 there, and 0.4 where 0.26 is true of much normal data."""
    assert el.attacks.differencing(epsilon=1e4).psi() == pytest.approx(141.09248146978, rel=1e-12)
    assert el.attacks.differencing(epsilon=1e4).mu(level=0.01) == pytest.approx(141.09248146978, rel=1e-12)
    assert float(LaplaceSumShift(2, np.asarray(1e-12)).psi()) == pytest.approx(np.sqrt(2 * np.pi) / 4 * 1e-12, rel=1e-9)
    law = NormalLaplaceShift(np.asarray(30.0), np.asarray(7.9))
    inside = float(law.profile(np.asarray(0.0)))
    assert float(law.psi()) == pytest.approx(float(2 * MP.sqrt(2) * MP.erfinv(inside)), rel=1e-12)


def test_lighter_tails_show() -> None:
    """Of P(X > x) = e^{−x²}/2 other tests have larger gaps, and the largest of those looked at is taken."""
    found = psi_by_equal_errors(lambda x: -x * x - np.log(2), 2.0, 1 - np.exp(-1.0))
    assert found > 2 * float(_probit(-1 - MP.log(2)))


def test_errors_below_doubles_of_pieces() -> None:
    """An average that clamps has a bounded loss: where no error is a double, that bounds ψ, which was 0."""
    few, many = (
        el.attacks.differencing_average(epsilon=e, n=5, value=1.0, mean=0.5, bounds=(0, 1)).psi()
        for e in (700.0, 5000.0)
    )
    assert few < many <= el.mechanisms.pure(epsilon=5000.0).psi()
