"""Bounds on ε by the testers of dp_auditorium, from a checkout: it is not on PyPI.

``audit.py --auditorium CHECKOUT/python/dp_auditorium`` in an environment with tensorflow and etils. Its testers say
whether (ε, 0) is refuted by a set of draws. The bound is the largest ε that is, by bisection on the same draws: nothing
is paid for the search, so the figures are above what it would vouch for. Its generators of datasets are left out, since
the pair is given; they want vizier.
"""

from __future__ import annotations

import contextlib
import io
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Testers"]

_STEPS = 6  # halvings of the largest ε looked at


class Testers:
    """The hockey-stick tester, with its own network and training, and the histogram tester."""

    def __init__(self, checkout: str) -> None:
        sys.path.insert(0, checkout)
        package = types.ModuleType("dp_auditorium")  # without what its own __init__ imports
        package.__path__ = [f"{checkout}/dp_auditorium"]
        sys.modules["dp_auditorium"] = package
        from dp_auditorium.configs import privacy_property, property_tester_config  # type: ignore[import-not-found]
        from dp_auditorium.testers import (  # type: ignore[import-not-found]
            histogram_tester,
            hockey_stick_tester,
        )

        self._property, self._config = privacy_property, property_tester_config
        self._histogram, self._hockey = histogram_tester.HistogramTester, hockey_stick_tester

    def _rejects(self, tester: Any, one: Any, zero: Any, alpha: float) -> bool:
        with contextlib.redirect_stdout(io.StringIO()):
            return bool(tester.reject_property(tester.estimate_lower_bound(one, zero, alpha)))

    def hockey(self, epsilon: float) -> Any:
        """The tester of (ε, 0) by a network that tells the worlds apart."""
        training = self._hockey.make_default_hs_training_config()
        config = self._config.HockeyStickPropertyTesterConfig(
            training_config=training, approximate_dp=self._property.ApproximateDp(epsilon, 0.0)
        )
        return self._hockey.HockeyStickPropertyTester(config, self._hockey.make_default_hs_base_model())

    def histogram(self, epsilon: float, low: float, high: float) -> Any:
        """The tester of (ε, 0) by a histogram of ten bins."""
        return self._histogram(
            self._config.HistogramPropertyTesterConfig(
                test_discrete_mechanism=False, histogram_size=10, min_value=low, max_value=high,
                approximate_dp=self._property.ApproximateDp(epsilon, 0.0),
            )
        )  # fmt: skip

    def bounds(self, zero: Any, one: Any, most: float, alpha: float) -> dict[str, float]:
        """The largest ε up to ``most`` that each tester refutes on these draws."""
        first, second = (np.asarray(side, dtype=np.float32) for side in (zero, one))
        low, high = float(min(first.min(), second.min())), float(max(first.max(), second.max()))
        made: dict[str, Callable[[float], Any]] = {
            "hockey stick": self.hockey, "histogram": lambda e: self.histogram(e, low, high)
        }  # fmt: skip
        return {
            name: _largest(lambda e, tester=tester: self._rejects(tester(e), first, second, alpha), most)  # type: ignore[misc]
            for name, tester in made.items()
        }


def _largest(refutes: Callable[[float], bool], most: float) -> float:
    low, high = 0.0, most
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if refutes(middle) else (low, middle)
    return low
