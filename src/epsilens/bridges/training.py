"""Opacus: an accountant that plugs into its ``PrivacyEngine`` and says what an attacker learns from the training.

Opacus finds accountants by name::

    engine = PrivacyEngine(accountant=epsilens.bridges.opacus_accountant())
    …train…
    engine.get_epsilon(delta=1e-5)
    engine.accountant.risk("success")          # how often an attacker guesses right who was in the training data
    print(engine.accountant.report())

``make_private_with_epsilon`` finds its noise through it too. As all of Opacus's accountants it takes the batches to be
Poisson samples, which ``make_private(poisson_sampling=True)`` makes them, and a person to be added or removed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from .. import checks
from ..build.discrete import approximate, pure
from ..build.training import dpsgd
from ..catalogue.readings import find
from ..errors import InputError, need
from ..experiment import Experiment
from ..shown import Shown, presenter

__all__ = ["NAME", "opacus_accountant", "trained"]

NAME = "epsilens"
_LEAST_NOISE, _MOST_NOISE, _LEAST_RATE = 1e-2, 1e12, 1e-12

#: One row of an accountant's history: noise multiplier, sample rate, steps.
Row = tuple[float, float, int]


def trained(history: Iterable[Row], *, width: float | None = None) -> Experiment:
    """What is learned about one person from training with this history of (noise multiplier, sample rate, steps).

    >>> round(trained([(1.0, 0.01, 1000)]).epsilon(1e-5), 2)
    1.83
    """
    if not isinstance(history, Iterable):
        raise InputError(
            f"history is {history!r}: give rows of (noise multiplier, sample rate, steps)", parameter="history"
        )
    rows = [_row(row) for row in history]
    rows = [row for row in rows if row[1] > 0 and row[2] > 0]
    if not rows:
        return pure(epsilon=0.0)
    if any(sigma < _LEAST_NOISE for sigma, _, _ in rows):  # noise of a hundredth of the norm hides nothing
        return approximate(epsilon=0.0, delta=1.0)
    sigma, rate, steps = (list(column) for column in zip(*rows, strict=True))
    if len(rows) == 1:
        return dpsgd(sigma=sigma[0], rate=rate[0], steps=steps[0], width=width)
    return dpsgd(sigma=sigma, rate=rate, steps=steps, width=width)


def _row(row: Any) -> Row:
    try:
        sigma, rate, steps = row
    except (TypeError, ValueError):
        raise InputError(f"the history has the row {row!r}: give (noise multiplier, sample rate, steps)") from None
    noise = float(checks.at_least("noise_multiplier", checks.scalar("noise_multiplier", sigma), 0.0))
    share = float(checks.at_least("sample_rate", checks.scalar("sample_rate", rate), 0.0))
    # accumulated batches can add up to more than everyone; too rare a draw is rounded up
    share = min(max(share, _LEAST_RATE), 1.0) if share else 0.0
    return min(noise, _MOST_NOISE), share, checks.whole("steps", steps, low=0)


def opacus_accountant() -> str:
    """Make the accountant known to Opacus, and return the name by which ``PrivacyEngine`` finds it.

    The class is :func:`accountant_class`; calling this twice does no harm.
    """
    registry = need("opacus.accountants.registry", "an accountant for Opacus")
    registry.register_accountant(NAME, accountant_class(), force=True)
    return NAME


@lru_cache(maxsize=1)
def accountant_class() -> type[Any]:
    """The accountant: a subclass of Opacus's ``IAccountant``, made when Opacus is first needed."""
    base: Any = need("opacus.accountants", "an accountant for Opacus").IAccountant

    class Accountant(base):  # type: ignore[misc]
        """Counts the steps of a training and reads the risk from their certified composition."""

        def __init__(self) -> None:
            self.history: list[Row] = []
            self._known: tuple[Any, Experiment] | None = None

        def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
            """One optimisation step; equal steps in a row are kept as one row."""
            if self.history and self.history[-1][:2] == (noise_multiplier, sample_rate):
                sigma, rate, steps = self.history[-1]
                self.history[-1] = (sigma, rate, steps + 1)
            else:
                self.history.append((noise_multiplier, sample_rate, 1))

        def experiment(self, *, width: float | None = None) -> Experiment:
            """What is learned about one person from the steps so far."""
            key = (width, tuple(map(tuple, self.history)))
            if self._known is None or self._known[0] != key:
                self._known = (key, trained(self.history, width=width))
            return self._known[1]

        def get_epsilon(self, delta: float, *, width: float | None = None, **_: Any) -> float:
            """The privacy loss so far at this δ, never understated."""
            return float(self.experiment(width=width).epsilon(delta))

        def risk(self, reading: str = "success", **arguments: Any) -> float:
            """A reading of the steps so far, by name: success, advantage, roc (with fpr), …"""
            wanted = find(reading)
            return float(getattr(self.experiment(), wanted.name)(**wanted.arguments(arguments)))

        def report(self, **arguments: float) -> Shown:
            """The sentence and the table: what an attacker learns from the training so far."""
            return presenter().explained(self.experiment(), **arguments)

        def __len__(self) -> int:
            return sum(steps for _, _, steps in self.history)

        @classmethod
        def mechanism(cls) -> str:
            """The name under which Opacus stores and finds it."""
            return NAME

    return Accountant
