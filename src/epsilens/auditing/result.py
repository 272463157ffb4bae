"""What an audit found: a verdict, lower bounds at a confidence beside the claim's own readings, and the event.

Several audits of one claim, on several pairs of inputs, that hold together.

The level is shared: each of K pairs is audited at the confidence 1 − α/K, so that with probability 1 − α none of the
bounds is wrong. The verdict is that of the worst pair.

What is promised is a set of lines: P₁(A) ≤ e^ε·P₀(A) + δ(ε) for every event A, and with the two worlds exchanged. An
:class:`~epsilens.experiment.Experiment`, (ε, δ), GDP, zCDP and RDP all say such lines, the larger δ of both orders at
each ε. An attacker who speaks with probability π and is right with probability q when speaking, about both worlds, has

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
from enum import StrEnum
from typing import Any

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
from ..numerics.formatting import json_value
from ..numerics.values import FrozenMapping, ValueSemantics
from ..results import SentenceResult
from .outcomes import Outcomes, Reader
from .sources import Bits

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
                f"claim has the part {part[:40]!r}: write name=number, separated by commas, with {_WAYS}", "claim"
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
                f"claim has {name[:40]!r}: write a mechanism and its options, such as  laplace --epsilon 1", "claim"
            )
        key = name.removeprefix("--").replace("-", "_")
        if key not in entry.takes:
            takes = ", ".join(f"--{known.replace('_', '-')}" for known in entry.takes)
            raise InputError(f"claim has {name[:40]}: {entry.spoken} takes {takes}", parameter="claim")
        options[key] = value if equals else rest.pop(0)
    return builder(entry)(**builder_arguments(entry, options))


class AuditVerdict(StrEnum):
    """What the runs say of the claim."""

    VIOLATION = "VIOLATION"  # refuted at the confidence
    CONSISTENT = "CONSISTENT"  # not refuted, by runs that could have refuted it
    INCONCLUSIVE = "INCONCLUSIVE"  # not refuted, and these runs could not have


class StopReason(StrEnum):
    """Why there were no more runs."""

    EVIDENCE = "evidence"  # the claim was refuted
    BUDGET = "budget"  # as many as asked
    INTERRUPTED = "interrupted"  # by hand
    SILENT = "silent"  # the mechanism gave no answer too often


class FindingKind(StrEnum):
    """What else was seen."""

    RAISED = "raised"  # some runs failed
    LATE = "late"  # some runs gave no answer in time
    SAME = "same"  # every run of both worlds gave the same answer
    FIXED = "fixed"  # each world always gave its one answer
    KINDS = "kinds"  # answers differ in type, shape or keys
    UNREADABLE = "unreadable"  # answers whose own methods fail
    CUT = "cut"  # answers with more entries than were looked at
    BARE = "bare"  # a bare (ε, δ) can hardly be tested
    FEW = "few"  # no result of so few runs could have refuted the claim


@dataclass(frozen=True)
class Finding:
    """A finding, and how often in each world; ``of`` names what it is about (the type of an exception)."""

    finding: FindingKind
    zero: int = 0
    one: int = 0
    of: str = ""


@dataclass(frozen=True)
class AttackEvent:
    """The event that says most: what is looked at, in which cells, from where on which world is named, how it went.

    ``words`` are the kinds or texts that name the first and the second world. Guesses are counted on runs that were not
    used to choose the event.
    """

    looks: str
    cells: tuple[str, ...]
    low: float
    high: float
    below: int | None
    above: int | None
    right: int
    guesses: int
    runs: int
    words: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


@dataclass(frozen=True, eq=False, repr=False)
class Audit(ValueSemantics, SentenceResult):
    """The result of an audit. Every bound is from below, at ``confidence``, each by itself; none is a guarantee.

    ``epsilon_lo`` bounds ε at ``delta``, ``mu_lo`` the least μ-GDP, ``success_lo`` and ``advantage_lo`` what the best
    guess reaches; None where one call was many guesses, which bounds ε alone. ``claimed`` are the claim's own readings.
    ``excess_lo`` bounds by how much ε lies above the claim at some δ: above 0 exactly in a violation, and no other
    bound is above what is claimed unless it is. ``largest_epsilon`` is the bound that so many runs would give if every
    guess were right. ``band`` holds rows (ε, claimed δ, lower bound on δ); these bounds hold all at once, each also at
    every smaller ε. ``evidence`` is the capital against the claim (1/α refutes it) or, for a number of runs fixed
    beforehand, the p-value; ``exact`` is the largest probability the claim allows, of one run with canaries.
    """

    shown_as = "audit"

    verdict: AuditVerdict
    claim: ClaimLines
    confidence: float
    sequential: bool
    runs: int
    budget: int
    evidence: float
    epsilon_lo: float
    delta: float
    mu_lo: float | None
    success_lo: float | None
    advantage_lo: float | None
    claimed: Mapping[str, float]
    largest_epsilon: float
    excess_lo: float
    event: AttackEvent | None
    findings: tuple[Finding, ...] = ()
    stopped: StopReason = StopReason.BUDGET
    band: tuple[tuple[float, float, float], ...] = ()
    pair: tuple[str, str] = ("", "")
    guesses_a_call: int = 1
    exact: float | None = None
    seconds: tuple[float, float] = field(default=(0.0, 0.0), compare=False, repr=False)  # of the runs; of the audit

    def __post_init__(self) -> None:
        object.__setattr__(self, "claimed", FrozenMapping(self.claimed))

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted: what a pipeline asks."""
        return self.verdict is AuditVerdict.VIOLATION

    @property
    def canaries(self) -> bool:
        """Whether it was one run with canaries."""
        return self.event is not None and self.event.looks == "score"

    def has(self, finding: FindingKind) -> bool:
        """Whether this was seen."""
        return any(found.finding is finding for found in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record; null where there is no finite number."""
        event = self.event and {name: json_value(value) for name, value in vars(self.event).items()}
        return {
            "schema": 1,
            **{name: json_value(value) for name, value in vars(self).items()},
            "verdict": str(self.verdict),
            "claim": self.claim.name,
            "claimed": {name: json_value(value) for name, value in self.claimed.items()},
            "event": event,
            "findings": [vars(f) | {"finding": str(f.finding)} for f in self.findings],
            "stopped": str(self.stopped),
            "seconds": [round(s, 3) for s in self.seconds],
            "sentence": self.sentence,
        }

    def __repr__(self) -> str:
        bound = "inf" if math.isinf(self.epsilon_lo) else f"{self.epsilon_lo:.4g}"
        return f"Audit({self.verdict}, claim={self.claim.name[:80]}, epsilon_lo={bound}, runs={self.runs})"


def find_anomalies(outcomes: Outcomes, bits: Bits, reader: Reader) -> tuple[Finding, ...]:
    """Facts about the outcomes, each with how often it was seen in the first and the second world."""
    made: list[Finding] = []
    answers = 0
    for kind, code in reader.kinds.items():
        here = outcomes.kinds == code
        zero, one = int((here & ~bits).sum()), int((here & bits).sum())
        if kind.what == "answer":
            answers += zero + one > 0
        else:  # raised, late or unreadable
            made.append(Finding(FindingKind(kind.what), zero, one, kind.detail))
    if answers > 1:
        made.append(Finding(FindingKind.KINDS, of=str(answers)))
    if reader.cut:
        made.append(Finding(FindingKind.CUT, of=f"{reader.most:,}"))
    ones, zeros = int(bits.sum()), int((~bits).sum())
    if ones > 1 and zeros > 1:
        first, second = _constant_outcome(outcomes.take(~bits)), _constant_outcome(outcomes.take(bits))
        if first is not None and second is not None:
            same = all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first, second, strict=True))
            made.append(Finding(FindingKind.SAME if same else FindingKind.FIXED, zeros, ones))
    return tuple(made)


def _constant_outcome(outcomes: Outcomes) -> tuple[Array, ...] | None:
    """The one outcome of all runs; None where they vary."""
    parts = (outcomes.values, outcomes.texts.astype(float), outcomes.kinds[:, None].astype(float))
    constant = all(np.array_equal(part, np.broadcast_to(part[0], part.shape), equal_nan=True) for part in parts)
    return tuple(part[0] for part in parts) if constant else None


_VERDICT_ORDER = (AuditVerdict.VIOLATION, AuditVerdict.CONSISTENT, AuditVerdict.INCONCLUSIVE)


def shared_confidence(confidence: float, pairs: int) -> float:
    """The confidence of each of several pairs.

    >>> shared_confidence(0.95, 10)
    0.995
    """
    return 1 - level_of(confidence) / pairs


@dataclass(frozen=True)
class PairAudit:
    """The audit of one pair; ``entire`` of its runs were run from the table on, the others from exact numbers."""

    pair: str
    audit: Audit
    entire: int | None = None
    repeatable: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class Audits(ValueSemantics, SentenceResult):
    """The audits of all pairs; ``confidence`` is that of all of them together. No bound is a guarantee."""

    shown_as = "audits"

    title: str
    claim: ClaimLines
    confidence: float
    each: tuple[PairAudit, ...]
    skipped: int = 0  # pairs that were not reached, since the claim was refuted or a key stopped it
    left: int = 0  # listed groups that the pairs do without, where there are very many
    where: Mapping[str, object] = field(default_factory=dict, compare=False, repr=False)

    @property
    def worst(self) -> PairAudit:
        """The pair with the worst verdict, and of those with the largest bound."""
        return min(self.each, key=lambda one: (_VERDICT_ORDER.index(one.audit.verdict), -one.audit.epsilon_lo))

    @property
    def verdict(self) -> AuditVerdict:
        """A violation on any pair is one; consistent needs a pair whose runs could have refuted the claim."""
        return self.worst.audit.verdict

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted on some pair."""
        return self.verdict is AuditVerdict.VIOLATION

    @property
    def interrupted(self) -> bool:
        """Whether a key stopped it."""
        return any(one.audit.stopped is StopReason.INTERRUPTED for one in self.each)

    @property
    def runs(self) -> int:
        """Of all pairs."""
        return sum(one.audit.runs for one in self.each)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        return {
            "schema": 1,
            "title": self.title,
            "verdict": str(self.verdict),
            "claim": self.claim.name,
            "confidence": self.confidence,
            "runs": self.runs,
            "worst": self.worst.pair,
            "pairs": [
                {"pair": one.pair, "entire": one.entire, "repeatable": one.repeatable, "audit": one.audit.to_dict()}
                for one in self.each
            ],
            "skipped": self.skipped,
            "left": self.left,
            "sentence": self.sentence,
        }

    def __repr__(self) -> str:
        return f"Audits({self.verdict}, claim={self.claim.name[:80]}, pairs={len(self.each)}, runs={self.runs})"
