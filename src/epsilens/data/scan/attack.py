"""The differencing attack as a scan asks about it: many people's gaps at once.

This is where a scan meets the mathematics. Success grows with the gap, and a scan knows gaps as a histogram. So one
call serves all people of it, and the ε for a quantile of people is the ε for that quantile's gap. The formulas are
those of :mod:`epsilens.build.differencing`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...build.differencing import differencing
from ...checks import choice
from ...choice.choice import choose
from ...errors import InputError
from ..queries import Noise, Query

__all__ = ["Attack"]


@dataclass(frozen=True)
class Attack:
    """The noise on the answers, and whether the attacker knows one of the two answers exactly."""

    noise: Noise = Noise.LAPLACE
    delta: float | None = None
    known: bool = False

    @classmethod
    def on(cls, queries: tuple[Query, ...], noise: str, delta: float | None, known: bool) -> Attack:
        """The attack on planned queries, or a sentence about noise that does not exist or does not fit them.

        >>> from ..queries import QueryKind
        >>> Attack.on((Query(QueryKind.SUM, "visits", bounds=(0, 77)),), "geometric", None, False)
        Traceback (most recent call last):
        epsilens.errors.InputError: noise is 'geometric', which is for whole numbers, but 'sum visits bounds 0 77' is planned: use 'laplace' or 'gaussian'
        """  # noqa: E501 - the message is one sentence, on one line
        choice("noise", noise, tuple(Noise))
        made = cls(Noise(noise), delta, known)
        if (delta is not None) != (made.noise is Noise.GAUSSIAN):
            raise InputError(
                f"delta is {delta!r} with {noise} noise: gaussian noise needs a delta, the others take none",
                parameter="delta",
            )
        for query in queries:
            if made.noise is Noise.GEOMETRIC and query.bounds is not None:
                raise InputError(
                    f"noise is 'geometric', which is for whole numbers, but {str(query)!r} is planned: "
                    "use 'laplace' or 'gaussian'",
                    parameter="noise",
                )
        return made

    def success(self, epsilon: float, gaps: NDArray[np.float64], sensitivity: float) -> NDArray[np.float64]:
        r"""How often the attacker's guess of the secret is right, for each gap.

        With Laplace noise and r = gap/sensitivity, two noisy answers give
        :math:`1-\frac12(1+r\varepsilon/8)e^{-r\varepsilon/4}`, and one answer known exactly
        :math:`1-\frac12 e^{-r\varepsilon/2}` (reference sheet §2).

        >>> Attack().success(1.0, np.array([0.0, 1.0]), 1.0).round(12).tolist()
        [0.5, 0.561924559522]
        """
        given = self._given(sensitivity)
        if self.noise is Noise.GEOMETRIC:  # enumerated, one gap at a time; gaps of counts are few
            each, where = np.unique(gaps, return_inverse=True)
            odds = [differencing(epsilon=epsilon, gap=float(g), **given).success() for g in each]
            return np.asarray(odds, float)[where]
        return np.asarray(differencing(epsilon=epsilon, gap=gaps, **given).success(), float)

    def largest_epsilon(self, at_most: float, gap: float, sensitivity: float) -> float | None:
        """The largest ε that keeps success at ``gap`` at or below ``at_most``; None when every ε does.

        >>> round(Attack().largest_epsilon(0.55, 1.0, 1.0), 9)
        0.804917289
        """
        if gap <= 0:
            return None
        given = {"gap": gap, **self._given(sensitivity)}
        return float(choose(differencing, "epsilon", at_most=at_most, reading="success", given=given).value)

    def _given(self, sensitivity: float) -> dict[str, Any]:
        made: dict[str, Any] = {"sensitivity": sensitivity, "known": self.known, "noise": self.noise.value}
        return made if self.delta is None else {**made, "delta": self.delta}
