"""What a privacy promise says about telling two worlds apart, the right way round (paper 003 §5, corrected).

The chain runs ε-DP ⇒ KL-DP ⇒ Chernoff-DP. The paper's Definition 7 allows e^ε nats, one whole nat at ε = 0, and its
Definition 8 calls the Chernoff bound the stronger one; it is the weaker.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ... import checks
from ...checks import Number, plain
from ...errors import InputError

__all__ = ["chernoff_bound", "kl_bound", "privacy_distortion"]


def kl_bound(epsilon: ArrayLike) -> Number:
    """The largest Kullback–Leibler divergence, in nats, that any ε-DP release allows, either order: ε·tanh(ε/2).

    Randomised response attains it, so it is the tight form of Cuff and Yu's D ≤ ε.

    >>> round(kl_bound(1.0), 9)
    0.462117157
    """
    eps = checks.at_least("epsilon", epsilon, 0.0)
    return plain(eps * np.tanh(eps / 2))


def chernoff_bound(kl: ArrayLike, a: ArrayLike, *, reverse_kl: ArrayLike | None = None) -> Number:
    """The largest C_a = −log ∫ f0^a·f1^{1−a} that D(f0‖f1) ≤ ``kl`` allows: (1−a)·kl, by Jensen, for 0 ≤ a ≤ 1.

    So KL-DP implies Chernoff-DP, never the other way. If D(f1‖f0) ≤ ``reverse_kl`` too, a·reverse_kl also bounds it and
    the smaller of the two is returned.

    >>> chernoff_bound(0.5, 0.25), chernoff_bound(0.5, 0.25, reverse_kl=0.4)
    (0.375, 0.1)
    """
    d, tilt = checks.at_least("kl", kl, 0.0, infinite=True), checks.probability("a", a)
    with np.errstate(invalid="ignore"):
        bound = np.where(tilt == 1, 0.0, (1 - tilt) * d)
        if reverse_kl is not None:
            other = checks.at_least("reverse_kl", reverse_kl, 0.0, infinite=True)
            bound = np.minimum(bound, np.where(tilt == 0, 0.0, tilt * other))
    return plain(bound)


def privacy_distortion(
    variances: ArrayLike, *, false_variance: float | None = None, sensitivity: float | None = None
) -> float:
    """How much, in nats, a sum still says about itself after a false record was added: I(q; q + X).

    Premise: q = ΣX_i is **one number**, a sum of independent normal records with these ``variances``, and the false
    record X is normal, independent of them, with variance ``false_variance``. Then I = ½·log(1 + Σσ_i²/σ²), exactly.
    Given ``sensitivity`` instead, the value is a **lower** bound for every false record whose standard deviation is at
    most the sensitivity. Among all independent X of one variance the normal law gives the least, so the value is a
    lower bound without its normality too. Theorem 5 of paper 003 asks the same of the whole database, where the shared
    records make it infinite; its Corollary 2 does not hold.

    >>> round(privacy_distortion([1.0, 3.0], false_variance=4.0), 9)
    0.34657359
    """
    spread = checks.positive("variances", variances)
    if spread.size == 0:
        raise InputError("variances is empty: give the variance of at least one record", parameter="variances")
    if (false_variance is None) == (sensitivity is None):
        raise InputError("exactly one of false_variance or sensitivity is needed: give one of them")
    if false_variance is not None:
        log_noise = np.log(float(checks.positive("false_variance", checks.scalar("false_variance", false_variance))))
    else:
        assert sensitivity is not None
        log_noise = 2 * np.log(float(checks.positive("sensitivity", checks.scalar("sensitivity", sensitivity))))
    log_signal = np.log(spread.max()) + np.log((spread / spread.max()).sum())
    return float(np.logaddexp(0.0, log_signal - log_noise) / 2)
