"""What implies what: every implication between notions as data, and the claims that do not hold, with an example.

Theorem 7 and Propositions 1 and 2 of paper 000 are here corrected. A row says: if the source holds with ε then the
target holds with ``bound(ε)``, for any mechanism, under ``when``. Each row is proved in ``proof`` and tested by
enumeration of random mechanisms and priors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import checks
from ..errors import InputError
from ..numerics.roots import safe_boundary
from ..numerics.special import expm1mx, log1pmx
from ..numerics.values import FrozenMapping, ValueSemantics

# Increasing functions of ε with inverses on the safe side. With t = P(o|x)/P̄(o) of mean one, information is Σ
# P̄·E[t·ln t]. The integrand is convex, so for t ∈ [L, U] the most is the two-point law on L and U; maximised over what
# is free it gives both bounds below.

_TINY = 5e-324


def information_from_odds(epsilon: float) -> float:
    """The most information, in nats, when all laws of the answer are within e^ε of each other.

    U = e^ε·L and the best L is 1/c with c = ε/(1 − e^{−ε}): c − 1 − ln c. It is ε²/8 for small ε, below
    ε·tanh(ε/2) always, and reached in the limit by telling a random set of values that holds the true one more
    often than another (values without number).

    >>> round(information_from_odds(1.0), 9)
    0.123301561
    """
    if epsilon == 0 or math.isinf(epsilon):
        return epsilon
    more = float(expm1mx(np.asarray(-epsilon))) / -math.expm1(-epsilon)  # c − 1
    return max(float(-log1pmx(np.asarray(more))), _TINY)


def information_from_belief(epsilon: float) -> float:
    """The most information, in nats, when no belief moves by more than e^{±ε}: L = e^{−ε}, U = e^ε, so ε·tanh(ε/2).

    >>> round(information_from_belief(1.0), 9)
    0.462117157
    """
    return max(epsilon * math.tanh(epsilon / 2), _TINY) if epsilon > 0 else 0.0


def belief_from_odds(epsilon: float, least: float = 0.0) -> float:
    """How far one belief moves when odds move by e^ε and no value, nor all others together, is rarer than ``least``.

    P(o)/P(o|t) = q + (1−q)·P(o|¬t)/P(o|t) ≤ p + (1−p)·e^ε with q = P(t) ≥ p; the other ratios are smaller.

    >>> round(belief_from_odds(1.0, 0.5), 12)
    0.620114506958
    """
    return epsilon + math.log1p(least * math.expm1(-epsilon))


def odds_from_belief(epsilon: float, least: float = 0.0) -> float:
    """The inverse of :func:`belief_from_odds`."""
    return epsilon + math.log1p(-least * math.expm1(-epsilon) / (1 - least))


def inverse(bound: Callable[[float], float], limit: float, most: float = 1e9) -> float:
    """The largest ε whose bound does not exceed the limit, never above it."""
    if limit == 0:
        return 0.0
    if bound(most) <= limit:
        return most
    low = 1e-300
    if bound(low) > limit:
        return 0.0
    return safe_boundary(lambda e: bound(e) - limit, low, most)


def even_odds_success(nats: float) -> float:
    """How often a yes/no value with even odds is guessed, at most, when so much is told: ln 2 − h(p) = nats (Fano).

    >>> round(even_odds_success(0.110944), 4), even_odds_success(1.0)
    (0.7311, 1.0)
    """
    if nats >= math.log(2):
        return 1.0
    if nats <= 0:
        return 0.5

    def information(edge: float) -> float:  # ln 2 − h((1+edge)/2)
        return edge * math.atanh(edge) + 0.5 * math.log1p(-edge * edge)

    low, high = 0.0, min(math.sqrt(2 * nats), 1.0)  # information(x) ≥ x²/2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if information(middle) < nats else (low, middle)
    return min(math.nextafter(0.5 + high / 2, 1.0), 1.0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Conditions(ValueSemantics):
    """Under what the notions are compared.

    ``priors``: "one" compares the guarantees under one and the same prior; "every" where both hold for every prior
    whose records fall into independent groups of at most ``dependent`` records. ``dependent`` is the size of the
    largest group of records that depend on each other, 1 if all are independent. ``records`` is how many there are.
    ``full``: the one prior gives every database some probability. ``diameter`` of Blowfish's graph (1: every two
    values are joined) and ``constrained``: Blowfish's constraint is that the database is possible under the
    prior. ``secrets``: those of Pufferfish are "record i has value v" ("records") or anything ("any"). ``least``:
    under the one prior no value of a record, nor all its other values together, has less probability.
    """

    priors: str = "one"
    dependent: int | None = None
    records: int | None = None
    full: bool = False
    diameter: float = 1.0
    constrained: bool = False
    secrets: str = "records"
    least: float = 0.0

    def __post_init__(self) -> None:
        checks.one_of("priors", self.priors, ("one", "every"))
        checks.one_of("secrets", self.secrets, ("records", "any"))
        for name in ("dependent", "records"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, checks.integer(name, value, low=1, high=10**9))
        if self.dependent is None and self.records is not None:
            object.__setattr__(self, "dependent", self.records)
        if self.dependent is not None and self.records is not None and self.dependent > self.records:
            raise InputError(
                f"dependent is {self.dependent}: give at most the number of records, which is {self.records}",
                "dependent",
            )
        for name in ("full", "constrained"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name} is {getattr(self, name)!r}: give True or False", name)
        d = checks.at_least("diameter", self.diameter, 1.0, infinite=True)
        if d.ndim or (math.isfinite(float(d)) and float(d) != int(d)):
            raise InputError(
                f"diameter is {self.diameter!r}: give a whole number of at least 1, or infinity", "diameter"
            )
        object.__setattr__(self, "diameter", float(d))
        object.__setattr__(self, "least", checks.scalar("least", checks.in_range("least", self.least, 0.0, 0.5)))
        if self.priors == "every" and (self.full or self.least or self.constrained):
            wrong = "full" if self.full else "least" if self.least else "constrained"
            raise InputError(f"{wrong} describes one prior, but priors is 'every': leave one of them out", wrong)

    @property
    def one(self) -> bool:
        """Whether one prior is meant."""
        return self.priors == "one"

    def to_dict(self) -> dict[str, Any]:
        """For JSON; an infinite diameter is null."""
        made = {name: getattr(self, name) for name in self.__slots__}
        return made | {"diameter": self.diameter if math.isfinite(self.diameter) else None}


Factor = Callable[[Conditions], float | None]


def _identity(c: Conditions) -> float:
    """The same ε, always."""
    return 1.0


@dataclass(frozen=True, slots=True)
class Implication:
    """If the source holds with ε, the target holds with factor·ε, or with ``curve(ε)``, whose inverse is ``undo``.

    ``factor`` gives None where the implication does not hold; ``needs`` is the condition it cannot do without.
    ``formula`` and ``when`` say it in words, ``proof`` why.
    """

    source: str
    target: str
    formula: str
    when: str
    proof: str
    factor: Factor = _identity
    curve: Callable[[float, Conditions], float] | None = None
    undo: Callable[[float, Conditions], float] | None = None
    needs: str = ""

    @property
    def always(self) -> bool:
        """Whether it holds without any condition."""
        return self.factor is _identity

    def __reduce__(self) -> tuple[object, ...]:
        """A row of the table is pickled by where it stands: its functions have no names."""
        rows = [row for row in IMPLICATIONS if (row.source, row.target) == (self.source, self.target)]
        return _table_row, (self.source, self.target, rows.index(self))

    def missing(self, c: Conditions) -> bool:
        """Whether a number is needed that was not given."""
        return bool(self.needs) and getattr(c, self.needs) is None

    def holds(self, c: Conditions) -> bool:
        """Whether it applies under these conditions."""
        return not self.missing(c) and self.factor(c) is not None

    def promised(self, epsilon: float, c: Conditions) -> float:
        """The target's ε."""
        factor = self.factor(c)
        assert factor is not None
        return self.curve(epsilon, c) if self.curve else factor * epsilon

    def sufficient(self, epsilon: float, c: Conditions) -> float:
        """The largest ε of the source with which the target's is at most ``epsilon``, from its safe side."""
        factor = self.factor(c)
        assert factor is not None
        if self.curve and not self.undo:
            return inverse(lambda e: self.promised(e, c), epsilon)
        enough = self.undo(epsilon, c) if self.undo else epsilon / factor
        while self.promised(enough, c) > epsilon:
            enough = math.nextafter(enough, 0.0)
        return enough

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the words, without the functions."""
        return {name: getattr(self, name) for name in ("source", "target", "formula", "when", "proof")}


def _holds_if(test: Callable[[Conditions], bool], factor: Factor = lambda c: 1.0) -> Factor:
    return lambda c: factor(c) if test(c) else None


def _group_size(c: Conditions) -> float | None:
    return c.dependent


def _record_count(c: Conditions) -> float | None:
    return c.records


def _from_odds(source: str, target: str, when: str, proof: str) -> Implication:
    """What is within e^ε given each value tells so much about it."""
    formula = "c − 1 − ln c nats, with c = ε/(1 − e^−ε)"
    return Implication(source, target, formula, when, proof, curve=lambda e, c: information_from_odds(e))


def _from_belief(source: str, target: str, proof: str) -> Implication:
    """What moves a belief by at most e^ε tells so much."""
    formula = "ε·tanh(ε/2) nats"
    return Implication(source, target, formula, "always", proof, curve=lambda e, c: information_from_belief(e))


_MIXTURE = "a mixture of laws is within e^ε of another if all their parts are"

IMPLICATIONS: tuple[Implication, ...] = (
    # -- differential privacy and databases that differ in several records
    Implication(
        "dp", "ddp", "k·ε", "at most k records depend on each other",
        "group privacy: two dependent neighbours are joined by k changes of one record", _group_size, needs="dependent",
    ),
    Implication(
        "ddp", "dp", "ε", "every database is possible under the prior, or the guarantee holds for every prior",
        "two databases that differ in one record are dependent neighbours once both are possible",
        _holds_if(lambda c: c.full or not c.one),
    ),
    Implication(
        "dp", "ip-database", "n·ε", "there are n records",
        "group privacy: any two databases are joined by n changes of one record", _record_count, needs="records",
    ),
    Implication(
        "ip-database", "ddp", "ε", "always", "dependent neighbours are two possible databases",
    ),
    Implication(
        "ddp", "ip-database", "n·ε", "there are n records; ε alone if all of them depend on each other",
        "possible databases are combinations of the groups' possible values: change one group at a time", _record_count,
        needs="records",
    ),
    # -- beliefs about a record
    Implication(
        "ddp", "ip", "ε", "always",
        f"with the other groups fixed, two values of the record compare dependent neighbours, and {_MIXTURE}",
    ),
    Implication(
        "ip", "ddp", "ε", "the guarantee holds for every prior",
        "a prior on two databases that differ within one group makes the mixture a single database",
        _holds_if(lambda c: not c.one),
    ),
    Implication(
        "ip", "pufferfish", "ε", "the secrets are the values of records",
        "the same definition: by Bayes posterior odds over prior odds are P(o|s)/P(o|s′)",
        _holds_if(lambda c: c.secrets == "records"),
    ),
    Implication(
        "pufferfish", "ip", "ε", "the secrets are the values of records",
        "the same definition: by Bayes posterior odds over prior odds are P(o|s)/P(o|s′)",
        _holds_if(lambda c: c.secrets == "records"),
    ),
    Implication(
        "ip-database", "pufferfish", "ε", "whatever the secrets are",
        f"a secret is a mixture of possible databases, and {_MIXTURE}",
    ),
    # -- membership
    Implication(
        "ip", "mp", "ε", "always; ln(p + (1−p)·e^ε) if no value is rarer than p",
        "P(o) is a mixture of P(o|v); with q = P(t): P(o)/P(o|t) = q + (1−q)·P(o|¬t)/P(o|t)",
        curve=lambda e, c: belief_from_odds(e, c.least),
        undo=lambda e, c: odds_from_belief(e, c.least),
    ),
    Implication(
        "mp", "ip", "2·ε", "for one prior", "P(o|a)/P(o|b) = P(o|a)/P(o) · P(o)/P(o|b)",
        _holds_if(lambda c: c.one, lambda c: 2.0),
    ),
    Implication(
        "mp", "ip", "ε", "the guarantee holds for every prior",
        "as the prior of a goes to 0, P(o) goes to P(o|b): the ratio to the prior becomes the odds ratio",
        _holds_if(lambda c: not c.one),
    ),
    Implication(
        "ip-database", "mp-database", "ε", "always", "P(o) is a mixture of P(o|D) over the possible databases",
    ),
    Implication(
        "mp-database", "ip-database", "2·ε", "for one prior", "P(o|D)/P(o|D′) = P(o|D)/P(o) · P(o)/P(o|D′)",
        _holds_if(lambda c: c.one, lambda c: 2.0),
    ),
    Implication(
        "mp-database", "ip-database", "ε", "the guarantee holds for every prior",
        "among priors on two databases let the probability of one go to 0", _holds_if(lambda c: not c.one),
    ),
    Implication(
        "mp-database", "mp", "ε", "always",
        f"P(o|t) is a mixture of P(o|D) over the databases where t holds, and {_MIXTURE}",
    ),
    # -- Blowfish
    Implication(
        "dp", "blowfish", "ε", "Blowfish has no constraint", "its neighbours differ in one record",
        _holds_if(lambda c: not c.constrained),
    ),
    Implication(
        "blowfish", "dp", "d·ε", "no constraint, and at most d edges lead from any value to any other",
        "walk along the edges; with every two values joined, d = 1, the two are the same",
        _holds_if(lambda c: not c.constrained and math.isfinite(c.diameter), lambda c: c.diameter),
    ),
    Implication(
        "dp", "blowfish", "n·ε", "with a constraint and n records", "its neighbours differ in at most n records",
        _holds_if(lambda c: c.constrained, _record_count), needs="records",
    ),
    Implication(
        "ddp", "blowfish", "ε", "the constraint says which databases are possible under the prior",
        "its neighbours differ within one group: otherwise changing that group alone would be nearer",
        _holds_if(lambda c: c.constrained),
    ),
    Implication(
        "blowfish", "ddp", "k·ε", "the same, every two values joined, at most k records dependent",
        "a dependent neighbour that is not nearest has a possible database between: go there, less is left to change",
        _holds_if(lambda c: c.constrained and c.diameter == 1, _group_size), needs="dependent",
    ),
    # -- information
    _from_odds(
        "dp", "mi", "always, for any prior",
        "given the others, the record's laws are within e^ε: convexity, see bounds; below ε·tanh(ε/2), near ε²/8",
    ),
    _from_odds(
        "ddp", "mi", "always",
        "given the others, the record's possible values are dependent neighbours: as for differential privacy",
    ),
    _from_odds(
        "ip", "mi-marginal", "always",
        "the laws of the answer given each value are within e^ε: as for differential privacy",
    ),
    _from_belief(
        "mp", "mi-marginal",
        "E[t·ln t] for t = P(v|o)/P(v) in [e^−ε, e^ε] with mean 1 is largest on the two ends; at most ε",
    ),
    _from_belief(
        "mp-database", "mi",
        "I(Dᵢ; o | others) ≤ I(D; o), and as for membership privacy",
    ),
    Implication(
        "mi", "mi-marginal", "ε", "records are independent",
        "I(Dᵢ; o) ≤ I(Dᵢ; o, others) = I(Dᵢ; o | others) when Dᵢ tells nothing about the others",
        _holds_if(lambda c: c.dependent == 1), needs="dependent",
    ),
    Implication(
        "mi-marginal", "mi", "ε", "the guarantee holds for every prior",
        "given the others, each case is a prior in which they are fixed", _holds_if(lambda c: not c.one),
    ),
)  # fmt: skip


def _table_row(source: str, target: str, number: int) -> Implication:
    return [row for row in IMPLICATIONS if (row.source, row.target) == (source, target)][number]


@dataclass(frozen=True, slots=True)
class Refuted:
    """A claim that does not hold: the source's ε does not bound the target's as claimed.

    ``example`` names a function of :mod:`epsilens.notions.examples`; ``claimed`` is who said it, if someone did.
    ``decides``: the example rules out every factor, not only the claimed one.
    """

    source: str
    target: str
    claim: str
    example: str
    because: str
    claimed: str = ""
    decides: bool = True

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


_LIU = "Liu et al. 2019"
_XOR = "the exclusive or of two fair bits tells nothing about either bit alone"

REFUTED: tuple[Refuted, ...] = (
    Refuted(
        "ip", "dp", "ε_DP = ε_IP under one prior with independent records", "xor",
        f"{_XOR}, but gives it away once the other is known",
        f"{_LIU}, Propositions 1 and 2",
    ),
    Refuted(
        "ip", "ddp", "ε_DDP = ε_IP", "xor",
        f"{_XOR}, but tells which databases are likely; the two are equal only for whole databases",
        f"{_LIU}, Theorem 7",
    ),
    Refuted(
        "mp", "ddp", "ε_DDP ≤ 2·ε_MP", "xor",
        f"{_XOR}, but tells which databases are likely; the claim is true of beliefs in whole databases",
        f"{_LIU}, Theorem 7",
    ),
    Refuted(
        "mp", "mi", "ε_MI ≤ ε_MP", "xor",
        f"{_XOR}, but does once the other is known; the claim is true when the others stay unknown",
        f"{_LIU}, Theorem 7",
    ),
    Refuted(
        "mi-marginal", "mi", "I(Dᵢ; o | others) ≤ I(Dᵢ; o) under one prior", "xor",
        f"{_XOR}, but does once the other is known",
    ),
    Refuted(
        "ip", "mi", "ε_IP bounds I(Dᵢ; o | others) under one prior", "xor",
        f"{_XOR}, but does once the other is known",
    ),
    Refuted(
        "blowfish", "ddp", "ε_BP ≥ ε_DDP", "alike",
        "two records that are usually equal: Blowfish without excluded databases is differential privacy, which "
        "changes one record; dependent neighbours change both",
        f"{_LIU}, Theorem 7",
        decides=False,
    ),
    Refuted(
        "ddp", "dp", "ε_DDP ≥ ε_DP when some databases are impossible", "twins_differ",
        "two records that are always equal: telling whether they differ is harmless, and without any bound for "
        "differential privacy",
        f"{_LIU}, Theorem 7",
    ),
    Refuted(
        "ip-database", "dp", "ε_DP ≤ ε_IP of whole databases under one prior", "foregone",
        "a record whose value is certain under the prior may be told: nothing is left to learn, except for someone "
        "with another prior",
    ),
    Refuted(
        "dp", "ip", "ε_IP ≤ ε_DP for dependent records", "twins",
        "two records that are always equal: a noisy sum moves twice as far as for one record",
        decides=False,
    ),
    Refuted(
        "mp", "ip", "ε_IP ≤ ε_MP under one prior", "coin",
        "a fair bit under randomised response: belief moves by ln((1+e^ε)/2), odds by ε",
        decides=False,
    ),
    Refuted(
        "mp", "ip", "Positive membership privacy alone bounds ε_IP", "ruled_out",
        "an answer that rules one of three values out raises no belief by more than half, yet moves odds without bound",
        decides=False,
    ),
    Refuted(
        "blowfish", "dp", "ε_DP ≤ c·ε_BP when the graph falls apart", "parts",
        "values in different parts need not be hidden at all: telling the part costs nothing",
    ),
    Refuted(
        "blowfish", "dp", "ε_DP ≤ c·ε_BP under a constraint", "known_total",
        "with a known total, telling the total costs nothing, but it has no bound for differential privacy",
    ),
    Refuted(
        "mi", "dp", "ε_DP ≤ c·ε_MI for some c", "rare_leak",
        "telling everything once in a million runs is little on average, and without any bound in the worst case; "
        "for every prior it bounds (0, δ)-differential privacy with δ = √(2·ε_MI) instead",
    ),
    Refuted(
        "mi", "mi-marginal", "I(Dᵢ; o) ≤ I(Dᵢ; o | others) for dependent records", "twins",
        "two records that are always equal: given the other one, nothing is left to tell",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Notion:
    """One definition of privacy.

    ``words`` says in one sentence what its ε bounds; ``attacker`` who is held back; ``formula`` the definition;
    ``measured_by`` how :mod:`epsilens.notions` computes its ε for a mechanism that can be enumerated. ``kind`` says
    what the ε is: a bound on how far odds move, on how far one belief moves, or on information in nats. ``asks`` is
    what the attacker wants to know.
    """

    key: str
    name: str
    words: str
    attacker: str
    formula: str
    source: str
    measured_by: str
    kind: str = "odds"
    asks: str = "one record's value"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


_ALL = (
    Notion(
        "dp",
        "Differential privacy",
        "Changing one record changes the chance of any answer by a factor of at most e^ε.",
        "an attacker who knows every other record",
        "P(o|D) ≤ e^ε·P(o|D′) for databases that differ in one record",
        "Dwork, McSherry, Nissim & Smith 2006 (bounded)",
        "dp(mechanism)",
    ),
    Notion(
        "blowfish",
        "Blowfish privacy",
        "As differential privacy, but only between values a policy calls secret, and given what is publicly known.",
        "an attacker who knows every other record and the public facts",
        "P(o|D) ≤ e^ε·P(o|D′) for nearest possible databases that differ along an edge of the policy's graph",
        "He, Machanavajjhala & Ding 2014",
        "blowfish(mechanism, graph, constraint)",
    ),
    Notion(
        "pufferfish",
        "Pufferfish privacy",
        "The odds between two secrets move by a factor of at most e^ε, for every prior belief listed.",
        "an attacker with one of the prior beliefs listed",
        "P(o|s, θ) ≤ e^ε·P(o|s′, θ) for each pair of secrets and each prior θ under which both can be true",
        "Kifer & Machanavajjhala 2014",
        "pufferfish(mechanism, priors, secrets, pairs)",
        asks="one of two secrets",
    ),
    Notion(
        "ddp",
        "Dependent differential privacy",
        "Changing one record and the records that depend on it changes the chance of any answer by at most e^ε.",
        "an attacker who knows which records depend on which",
        "P(o|D) ≤ e^ε·P(o|D′) for possible databases that differ in one record and in records dependent on it",
        "Liu, Chakraborty & Mittal 2016",
        "dependent(mechanism, prior, size)",
    ),
    Notion(
        "ip",
        "Inferential privacy",
        "The odds between two values of one record move by a factor of at most e^ε.",
        "an attacker who holds the stated prior belief about all records",
        "P(Dᵢ=a|o)/P(Dᵢ=b|o) ≤ e^ε·P(Dᵢ=a)/P(Dᵢ=b)",
        "Ghosh & Kleinberg 2016",
        "inferential(mechanism, prior)",
    ),
    Notion(
        "ip-database",
        "Inferential privacy of whole databases",
        "The odds between any two databases that are possible move by a factor of at most e^ε.",
        "an attacker who has narrowed the data down to two databases",
        "P(o|D) ≤ e^ε·P(o|D′) for any two possible databases",
        "Liu et al. 2019, appendix; with every database possible, free-lunch privacy (Kifer & Machanavajjhala 2011)",
        'inferential(mechanism, prior, level="database")',
        asks="one of two databases",
    ),
    Notion(
        "mp",
        "Membership privacy",
        "Belief in any one value of a record grows or shrinks by a factor of at most e^ε.",
        "an attacker who holds the stated prior belief about all records",
        "e^−ε ≤ P(t|o)/P(t) ≤ e^ε and the same for not t, for each entity t",
        "Li, Qardaji, Su, Wu & Yang 2013 (positive and negative)",
        "membership(mechanism, prior, direction)",
        "belief",
    ),
    Notion(
        "mp-database",
        "Membership privacy of whole databases",
        "Belief in any one database grows or shrinks by a factor of at most e^ε.",
        "an attacker who holds the stated prior belief about all records",
        "e^−ε ≤ P(D|o)/P(D) ≤ e^ε for each possible database D",
        "Liu et al. 2019, appendix",
        'membership(mechanism, prior, level="database")',
        "belief",
        "one database",
    ),
    Notion(
        "mi",
        "Mutual-information privacy",
        "The answer tells at most ε nats about a record on average, all other records being known.",
        "an attacker who knows every other record, judged on average",
        "I(Dᵢ; answer | all other records) ≤ ε",
        "Cuff & Yu 2016",
        "mutual_information(mechanism, prior)",
        "nats",
    ),
    Notion(
        "mi-marginal",
        "Mutual information, others unknown",
        "The answer tells at most ε nats about a record on average, the other records being unknown.",
        "an attacker who holds the stated prior belief, judged on average",
        "I(Dᵢ; answer) ≤ ε",
        "the same without the condition",
        'mutual_information(mechanism, prior, given="nothing")',
        "nats",
    ),
)

NOTIONS: Mapping[str, Notion] = FrozenMapping({n.key: n for n in _ALL})


def find(name: object, parameter: str = "notion") -> Notion:
    """A notion by its key.

    Parameters
    ----------
    name : str
        The key, however it is capitalised.
    parameter : str, default 'notion'
        What an error calls it.

    Returns
    -------
    Notion
        The definition.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> find("Mp_Database").name
    'Membership privacy of whole databases'
    """
    key = name.strip().lower().replace("_", "-") if isinstance(name, str) else name
    if isinstance(key, str) and key in NOTIONS:
        return NOTIONS[key]
    shown = repr(name) if len(repr(name)) <= 40 else repr(name)[:37] + "..."
    raise InputError(f"{parameter} is {shown}: give one of {', '.join(NOTIONS)}", parameter)
