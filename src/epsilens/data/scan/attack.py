"""The attacker's success from the gap a person causes: the only place where a scan meets the mathematics.

Success grows with the gap, and a scan knows gaps as a histogram. So one call serves all people of it, and the ε for a
quantile of people is the ε for that quantile's gap. The formulas are those of :mod:`epsilens.build.differencing`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...build.differencing import differencing
from ...checks import choice
from ...choice.choice import choose
from ...errors import InputError
from ..queries import Query

__all__ = ["check_noise", "largest_epsilon", "success"]


def check_noise(noise: str, delta: float | None, queries: tuple[Query, ...]) -> None:
    """Refuse noise that does not exist or does not fit the planned queries.

    >>> check_noise("geometric", None, (Query("sum", "visits", bounds=(0, 77)),))
    Traceback (most recent call last):
    epsilens.errors.InputError: noise is 'geometric', which is for whole numbers, but 'sum visits bounds 0 77' is planned: use 'laplace' or 'gaussian'
    """  # noqa: E501 - the message is one sentence, on one line
    choice("noise", noise, ("laplace", "gaussian", "geometric"))
    if (delta is not None) != (noise == "gaussian"):
        raise InputError(
            f"delta is {delta!r} with {noise} noise: gaussian noise needs a delta, the others take none",
            parameter="delta",
        )
    for query in queries:
        if noise == "geometric" and query.bounds is not None:
            raise InputError(
                f"noise is 'geometric', which is for whole numbers, but {str(query)!r} is planned: "
                "use 'laplace' or 'gaussian'",
                parameter="noise",
            )


def success(
    epsilon: float,
    gaps: NDArray[np.float64],
    sensitivity: float,
    *,
    known: bool,
    noise: str = "laplace",
    delta: float | None = None,
) -> NDArray[np.float64]:
    r"""How often the attacker's guess of the secret is right, for each gap.

    With Laplace noise and r = gap/sensitivity, two noisy answers give
    :math:`1-\frac12(1+r\varepsilon/8)e^{-r\varepsilon/4}`, and one answer known exactly
    :math:`1-\frac12 e^{-r\varepsilon/2}` (reference sheet §2).

    >>> success(1.0, np.array([0.0, 1.0]), 1.0, known=False).round(12).tolist()
    [0.5, 0.561924559522]
    """
    if noise == "geometric":  # enumerated, one gap at a time; gaps of counts are few
        each, where = np.unique(gaps, return_inverse=True)
        odds = [_attack(epsilon, float(g), sensitivity, known, noise, delta).success() for g in each]
        return np.asarray(odds, float)[where]
    return np.asarray(_attack(epsilon, gaps, sensitivity, known, noise, delta).success(), float)


def largest_epsilon(
    at_most: float,
    gap: float,
    sensitivity: float,
    *,
    known: bool,
    noise: str = "laplace",
    delta: float | None = None,
) -> float | None:
    """The largest ε that keeps success at ``gap`` at or below ``at_most``; None when every ε does.

    >>> round(largest_epsilon(0.55, 1.0, 1.0, known=False), 9)
    0.804917289
    """
    if gap <= 0:
        return None
    given: dict[str, Any] = {"gap": gap, "sensitivity": sensitivity, "known": known, "noise": noise}
    given |= {} if delta is None else {"delta": delta}
    return float(choose(differencing, "epsilon", at_most=at_most, reading="success", given=given).value)


def _attack(epsilon: float, gap: Any, sensitivity: float, known: bool, noise: str, delta: float | None) -> Any:
    return differencing(epsilon=epsilon, gap=gap, sensitivity=sensitivity, known=known, noise=noise, delta=delta)
