"""The error a release's noise makes, and the ε that an error tolerated needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..build.mechanisms import calibrated_psi
from ..build.tampering.hiding import hidden_bias
from ..data.queries import Noise as Kind
from ..data.queries import Query, QueryKind
from ..errors import InputError
from ..numerics.roots import last_safe
from ..plan.answers import Answer
from ..plan.plan import ERROR, Release

__all__ = ["MOST_EPSILON", "Noise", "QueryAccuracy", "accuracy_of", "error_epsilon", "noise_at", "simulate"]

#: The largest ε anything is read at: a limit that holds there is never broken.
MOST_EPSILON = 700.0

_LOG20 = math.log(20.0)  # P(|Lap(b)| > b·log 20) = 5%
_Z = 1.959963984540054  # P(|N(0,1)| > z) = 5%
SEED = 20251115
FALSE_ALARMS = 0.05


@dataclass(frozen=True)
class Noise:
    """The noise of one answer: its scale (b or σ), and the half-width that holds 95 of 100 answers.

    ``hidden`` is how far a false record may move the answer and be noticed at most every other time, by the best test
    with false alarms for 5 of 100 honest answers.
    """

    scale: float
    error: float
    hidden: float


@dataclass(frozen=True)
class QueryAccuracy:
    """One query's answers on this table and the error of its noise.

    ``typical`` is the median answer in size, ``divisor`` the rows an average is divided by (1 otherwise).
    """

    name: str
    kind: QueryKind
    sensitivity: float
    share: float
    answers: tuple[Answer, ...]
    typical: float
    divisor: float
    planned: Noise
    recommended: Noise | None
    smallest_epsilon: float | None = None

    def spread(self, answer: Answer) -> float:
        """The noise of one answer over the typical one's: an average of few rows is noisier."""
        return self.divisor / answer.rows if self.kind is QueryKind.AVERAGE and answer.rows else 1.0

    def relative(self, epsilon: float, release: Release) -> float:
        """The 95% error as a share of the typical answer; infinite where that is 0."""
        error = noise_at(self.sensitivity, self.share, self.divisor, epsilon, release).error
        return error / self.typical if self.typical else math.inf

    def too_noisy(self, epsilon: float, release: Release) -> bool:
        """Whether the error at this ε is over the limit; an answer of 0 has no error to compare with."""
        allowed = release.error_limit
        return allowed is not None and bool(self.typical) and self.relative(epsilon, release) > allowed


def noise_at(sensitivity: float, share: float, divisor: float, epsilon: float, release: Release) -> Noise:
    """The noise of a query with this sensitivity and share of ε."""
    if release.mechanism.noise is Kind.GAUSSIAN:
        psi = calibrated_psi(epsilon * share, (release.mechanism.delta or 0.0) * share, "analytic")
        sigma = sensitivity / psi / divisor
        return Noise(sigma, _Z * sigma, _hidden(Kind.GAUSSIAN) * sigma)
    scale = sensitivity / (epsilon * share) / divisor
    return Noise(scale, _LOG20 * scale, _hidden(Kind.LAPLACE) * scale)


@cache
def _hidden(noise: Kind) -> float:
    """The false record that half of the tests miss, in units of the noise (paper 003, corrected)."""
    if noise is Kind.GAUSSIAN:
        return float(hidden_bias(sigma=1.0, alpha=FALSE_ALARMS, power=0.5))
    return float(hidden_bias(scale=1.0, alpha=FALSE_ALARMS, power=0.5))


def accuracy_of(
    query: Query, share: float, answers: tuple[Answer, ...], release: Release, recommended: float | None
) -> QueryAccuracy:
    """Read the error of one query at the planned and the recommended ε."""
    sensitivity = query.sensitivity(release.data.max_rows if release.data.person else 1)
    sizes = [abs(a.bounded) for a in answers]
    typical = float(np.median(sizes)) if sizes else 0.0
    rows = [a.rows for a in answers if a.rows]
    divisor = float(np.median(rows)) if query.kind is QueryKind.AVERAGE and rows else 1.0
    planned = noise_at(sensitivity, share, divisor, release.epsilon, release)
    better = noise_at(sensitivity, share, divisor, recommended, release) if recommended else None
    return QueryAccuracy(str(query), query.kind, sensitivity, share, answers, typical, divisor, planned, better)


def error_epsilon(query: QueryAccuracy, release: Release, limit: float) -> float | None:
    """The smallest total ε that keeps the relative error at or under the limit; None where the typical answer is 0."""
    if not limit > 0:
        raise InputError(f"limits.error is {limit:g}: give a share above 0, 0.15 for 15%", parameter=f"limits.{ERROR}")
    if not query.typical:
        return None

    def excess(epsilon: float) -> float:
        return query.relative(epsilon, release) - limit

    if excess(MOST_EPSILON) > 0:
        return math.inf
    return 1e-9 if excess(1e-9) <= 0 else last_safe(excess, MOST_EPSILON, 1e-9)


def simulate(query: QueryAccuracy, noise: Noise, gaussian: bool, releases: int = 20) -> np.ndarray:
    """Simulated releases to look at: one row a group, one column a release, always the same draws."""
    rng = np.random.default_rng(SEED)
    values = np.asarray([a.bounded for a in query.answers])[:, None]
    size = (values.shape[0], releases)
    drawn = rng.normal(0, 1, size) if gaussian else rng.laplace(0, 1, size)
    return np.asarray(values + drawn * noise.scale * np.asarray([query.spread(a) for a in query.answers])[:, None])
