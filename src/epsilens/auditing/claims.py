"""What is promised, as a set of lines: P₁(A) ≤ e^ε·P₀(A) + δ(ε) for every event A, and with the two worlds exchanged.

An :class:`~epsilens.experiment.Experiment`, (ε, δ), GDP, zCDP and RDP all say such lines, the larger δ of both orders
at each ε. An attacker who speaks with probability π and is right with probability q when speaking, about both worlds,
has

    q ≤ q₀(π) = min_ε (e^ε + δ(ε)/π)/(1 + e^ε);

one who only ever names one of the worlds pays half of δ. At δ = 0 that is the precision e^ε/(1 + e^ε) of any ε-DP
release.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..catalogue.mechanisms import builder
from ..catalogue.parsing import builder_arguments, find_entry
from ..checks import Array
from ..errors import InputError, type_phrase
from ..experiment import Experiment
from ..laws.normal import Normal
from ..mechanisms.claims import from_dp, from_gdp, from_rdp, from_zcdp
from ..numerics.values import ValueSemantics

_LINES = 41
_HIGHEST = 40.0  # of ε: beyond, no number of runs tells a claim from none
_LARGEST_EPSILON = 700.0  # as large as an ε may be
_SMALL = 1e-7  # of δ: an attack on an event this rare is not seen
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class ClaimLines(ValueSemantics):
    """Lines (ε, δ) that all hold, ε rising; ``experiment`` is what they were read from, where there is one.

    ``pure`` is the ε at which δ is 0, infinite where there is none. ``alone`` says that the pure line implies all the
    others; ``bare`` that one line with δ > 0 does, of which runs can test little.
    """

    epsilon: Array
    delta: Array
    experiment: Experiment | None = field(default=None)
    pure: float = math.inf
    alone: bool = False
    bare: bool = False

    @property
    def name(self) -> str:
        """What it was read from."""
        if self.experiment is not None:
            return repr(self.experiment)
        return f"({self.epsilon[0]:.6g}, {self.delta[0]:.6g})-DP"

    @property
    def stated(self) -> float:
        """The δ at which the claim's ε is told: 0 for a pure claim, its own where it has one, else 1e-5."""
        if math.isfinite(self.pure):
            return 0.0
        if self.bare:
            return float(self.delta[-1])
        own = self.experiment.parameters.get("delta") if self.experiment is not None else None
        return float(own) if isinstance(own, float) and 0 < own < 1 else 1e-5

    def most_precise(self, share: ArrayLike, sides: int = 2) -> Array:
        """q₀(π): the largest precision of guesses made with a probability ``share``, about one side or both.

        >>> float(claim_of(1.0).most_precise(0.1)), float(np.round(claim_of("mu=1").most_precise(0.3), 6))
        (0.7310585786300049, 0.841085)
        """
        with np.errstate(divide="ignore"):
            pi = np.asarray(share, dtype=float)[..., None]
            q = (np.exp(self.epsilon) + 0.5 * sides * self.delta / pi) / (1 + np.exp(self.epsilon))
        return np.asarray(np.minimum(np.nan_to_num(q.min(axis=-1), nan=1.0), 1.0))

    def shifted(self, more: float) -> ClaimLines:
        """The weaker claim that allows so much more ε at every δ: δ(ε − more) at ε.

        >>> claim_of(1.0).shifted(0.5).pure
        1.5
        """
        return replace(self, epsilon=self.epsilon + more, pure=self.pure + more, experiment=None)


def single_line(epsilon: float, delta: float) -> ClaimLines:
    """One (ε, δ)."""
    pure = epsilon if delta == 0 else math.inf
    return ClaimLines(np.array([epsilon]), np.array([delta]), None, pure, delta == 0, delta > 0)


def gdp_lines(mu: float) -> ClaimLines:
    """μ-GDP, by its closed form: δ(ε) of telling N(0, 1) from N(μ, 1).

    >>> round(float(gdp_lines(1.0).delta[0]), 6)  # 2Φ(½) − 1
    0.382925
    """
    if mu == 0:
        return single_line(0.0, 0.0)
    eps = np.linspace(0.0, 0.5 * mu * mu + 5 * mu, _LINES)
    eps = eps[eps <= _HIGHEST]
    return ClaimLines(eps, np.atleast_1d(Normal(np.asarray(mu)).worse_delta(eps)))


def claim_of(claim: object) -> ClaimLines:
    """A claim from whatever says one: an experiment, ε, (ε, δ), a mapping or a text such as ``"epsilon=1,
    delta=1e-6"``.

    >>> claim_of(1.0).pure, claim_of((1.0, 1e-5)).bare, claim_of("mu=1").pure
    (1.0, True, inf)
    >>> claim_of("zcdp=0.5").experiment, claim_of("psi=1").experiment, claim_of("rdp=2:1").experiment
    (zcdp(rho=0.5), gdp(mu=1), rdp(order=2, rho=1))
    """
    if isinstance(claim, ClaimLines):
        return claim
    if isinstance(claim, Experiment):
        if claim.many:
            raise InputError("claim holds many experiments at once: give one", parameter="claim")
        return _experiment_claim(claim)
    if isinstance(claim, str):
        claim = _parse_numbers(claim)
    if isinstance(claim, Mapping):
        return _claim_by_name({str(k): v for k, v in claim.items()})
    if isinstance(claim, tuple) and len(claim) == 2:
        return _claim_by_name({"epsilon": claim[0], "delta": claim[1]})
    if isinstance(claim, int | float | np.number) and not isinstance(claim, bool):
        return _claim_by_name({"epsilon": float(claim)})
    raise InputError(
        f"claim is {type_phrase(claim)}: give an experiment such as laplace(epsilon=1), a number ε, a pair (ε, δ), "
        'or a text such as "epsilon=1, delta=1e-6", "mu=1", "rho=0.5" or "order=8, rho=4"',
        parameter="claim",
    )


_WAYS = "epsilon; epsilon and delta; mu; rho; or order and rho"
_OTHER_NAMES = {"psi": "mu", "gdp": "mu", "zcdp": "rho"}
_BUILDERS: Mapping[tuple[str, ...], Callable[..., Experiment]] = {
    ("epsilon",): from_dp,
    ("delta", "epsilon"): from_dp,
    ("mu",): from_gdp,
    ("rho",): from_zcdp,
    ("order", "rho"): from_rdp,
}


def _parse_numbers(text: str) -> dict[str, float]:
    numbers: dict[str, float] = {}
    text = re.sub(r"\brdp\s*=\s*([^:,;]+):", r"order=\1,rho=", text)
    for part in filter(None, (p.strip() for p in re.split(r"[,;]", text))):
        name, equals, value = (p.strip() for p in part.partition("="))
        name = _OTHER_NAMES.get(name, name)
        try:
            if not equals:
                raise ValueError
            number = float(value)
        except ValueError:
            raise InputError(
                f"claim has the part {part[:40]!r}: write name=number, separated by commas, with {_WAYS}",
                parameter="claim",
            ) from None
        if name in numbers:
            raise InputError(f"claim says {name[:40]} twice: say it once", parameter="claim")
        numbers[name] = number
    return numbers


def _claim_by_name(numbers: Mapping[str, ArrayLike]) -> ClaimLines:
    names = tuple(sorted(numbers))
    if names not in _BUILDERS:
        raise InputError(f"claim says {', '.join(names) or 'nothing'}: give {_WAYS}", parameter="claim")
    return _experiment_claim(_BUILDERS[names](**numbers))


def _experiment_claim(e: Experiment) -> ClaimLines:
    """The lines of an experiment; each δ is the safe end, so each line holds."""
    return lines_of(lambda at: float(e.epsilon(at)), lambda at: np.asarray(e.delta(at), dtype=float), e)


def lines_of(
    loss: Callable[[float], float], beyond: Callable[[Array], Array], e: Experiment | None = None
) -> ClaimLines:
    """A claim from ε(δ) and δ(ε), which takes several ε at once; both from above."""
    pure = loss(0.0)
    if pure <= _HIGHEST:
        eps = np.linspace(0.0, pure, _LINES) if pure > 0 else np.zeros(1)
        delta = np.atleast_1d(beyond(eps))
        delta[-1] = 0.0
        implied = (np.exp(pure) - np.exp(eps)) / (1 + np.exp(pure))
        return ClaimLines(eps, delta, e, pure, bool(np.all(delta >= implied - _TOLERANCE)))
    floor, further = np.atleast_1d(beyond(np.array([_HIGHEST, _LARGEST_EPSILON]))).tolist()
    top = min(loss(max(floor, _SMALL)), _HIGHEST)
    eps = np.linspace(0.0, top, _LINES) if top > 0 else np.zeros(1)
    delta = np.atleast_1d(beyond(eps))
    implied = floor + (1 - floor) * (np.exp(top) - np.exp(eps)) / (1 + np.exp(top))
    stays = 0 < floor < 1 and further >= floor - _TOLERANCE  # else δ falls further on
    bare = stays and bool(np.all(delta >= implied - _TOLERANCE))
    return ClaimLines(eps, delta, e, math.inf, False, bare)


def level_of(confidence: float) -> float:
    """The level α = 1 − confidence."""
    value = float(checks.probability("confidence", checks.scalar("confidence", confidence), closed=False))
    if value < 0.5:
        raise InputError(f"confidence is {value:g}: give at least 0.5, such as 0.95", parameter="confidence")
    return 1 - value


def parse_claim(claim: object) -> ClaimLines:
    """A claim as :func:`~.claims.claim_of` takes it, or a text with a mechanism in it: ``gaussian --sigma 2``.

    >>> parse_claim("epsilon=1").pure, parse_claim(1.0).pure
    (1.0, 1.0)
    >>> parse_claim("laplace --epsilon 2").pure
    2.0
    """
    if not isinstance(claim, str):
        return claim_of(claim)
    try:
        words = shlex.split(claim)
    except ValueError:
        raise InputError(f"claim is {claim[:60]!r}: close its quotes", parameter="claim") from None
    return claim_of(_mechanism_claim(words) if words and "=" not in words[0] else claim)


def _mechanism_claim(words: Sequence[str]) -> object:
    try:
        entry = find_entry(words[0])
    except InputError as error:
        raise InputError(f"claim has no number by name, and {error}", parameter="claim") from None
    options: dict[str, str] = {}
    rest = list(words[1:])
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if not name.startswith("--") or not (equals or rest):
            raise InputError(
                f"claim has {name[:40]!r}: write a mechanism and its options, such as  laplace --epsilon 1",
                parameter="claim",
            )
        key = name.removeprefix("--").replace("-", "_")
        if key not in entry.takes:
            takes = ", ".join(f"--{known.replace('_', '-')}" for known in entry.takes)
            raise InputError(f"claim has {name[:40]}: {entry.spoken} takes {takes}", parameter="claim")
        options[key] = value if equals else rest.pop(0)
    return builder(entry)(**builder_arguments(entry, options))
