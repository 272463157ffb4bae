"""Who could learn what from a planned release: one entry an adversary, in one place.

An adversary is a question about two worlds, what it faces at a total ε, and the reading that answers it. What it faces
comes from the movement of the plan's noisy numbers between the two worlds (:mod:`epsilens.plan.movement`), never from
a sensitivity of its own. A new adversary is a new entry in ``ADVERSARIES``; the command, the report and the page show
it by themselves. What an entry says in words (``name`` and ``question``) is for readers: no code acts on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from .. import worlds
from ..attacks.differencing_queries import differencing
from ..catalogue.readings import find_reading
from ..data.queries import Noise
from ..data.scan.combinations import Isolating
from ..data.scan.planned import attack_on
from ..data.scan.result import Scan
from ..experiment import Experiment, compose_counted
from ..mechanisms.noise import gaussian
from ..plan.model import Knows, Release
from ..plan.movement import (
    CorrelationFactor,
    Movement,
    Movements,
    Question,
    about_secret,
    correlated_movements,
    movements,
    worst_factor,
)
from ..plan.noise import contribution, psi_of, scale_of
from .worst_case import Faced, Facing, faced


class Asks(StrEnum):
    """What an adversary is after."""

    MEMBERSHIP = "membership"  # is this person in the table?
    SECRET = "secret"  # does this person have the secret?
    RECORD = "record"  # which record is this person's?
    MISSING = "missing"  # which of several people is missing?
    RELATIVES = "relatives"  # which record is that of a person whose relatives resemble them?

    @property
    def worlds(self) -> worlds.WorldsKind:
        """The kind of the two worlds the question compares."""
        return _WORLDS[self]

    @property
    def harm(self) -> Harm:
        """What regulators call it."""
        return _HARMS[self]


class Harm(StrEnum):
    """The three risks that regulators ask about (Article 29 Working Party, Opinion 05/2014)."""

    SINGLING_OUT = "singling out"  # to tell one person's record from all others
    LINKABILITY = "linkability"  # to tell that a known person is among those in the table
    INFERENCE = "inference"  # to deduce something about a person


_WORLDS = {
    Asks.MEMBERSHIP: worlds.WorldsKind.MEMBERSHIP,
    Asks.SECRET: worlds.WorldsKind.SECRET,
    Asks.RECORD: worlds.WorldsKind.MEMBERSHIP,  # any attack is bounded by what the release adds to a membership test
    Asks.MISSING: worlds.WorldsKind.RECORD,
    Asks.RELATIVES: worlds.WorldsKind.CORRELATED,
}
_HARMS = {
    Asks.MEMBERSHIP: Harm.LINKABILITY,
    Asks.SECRET: Harm.INFERENCE,
    Asks.RECORD: Harm.SINGLING_OUT,
    Asks.MISSING: Harm.SINGLING_OUT,
    Asks.RELATIVES: Harm.INFERENCE,
}


@dataclass(frozen=True)
class Setting:
    """What the adversaries may draw on: the release, and what was found in the table.

    ``scan`` says who can be isolated, and which planned answers do it together; ``related`` is how people resemble each
    other. ``supposed`` asks for the worst a table could hold: whatever could be isolated is.
    """

    release: Release
    scan: Scan | None = None
    related: tuple[CorrelationFactor, ...] = ()
    supposed: bool = False

    @property
    def laplace(self) -> bool:
        """Whether the noise is Laplace's."""
        return self.release.mechanism.noise is Noise.LAPLACE

    @cached_property
    def bounded(self) -> bool:
        """Whether every belief stays bounded: not under Gaussian noise, and not where names may be given away."""
        return self.bounded_for(Question.SECRET)

    def bounded_for(self, question: Question) -> bool:
        """The same of what a question asks."""
        return self.laplace and not any(m.alone for m in self.movements(question).each)

    @property
    def unread(self) -> bool:
        """Whether a secret is named of which no answer says anything: then it is the record that may be asked for."""
        return self.release.data.hidden is not None and not self.secret

    @cached_property
    def _found(self) -> dict[Question, Movements]:
        return {}

    def movements(self, question: Question) -> Movements:
        """The extreme movements of a question, found once."""
        if question not in self._found:
            self._found[question] = movements(self.release, question)
        return self._found[question]

    @cached_property
    def moved_together(self) -> Movements:
        """The extreme movements of a record whose relatives' records go with it."""
        return correlated_movements(self.release, self.related)

    @cached_property
    def _faced(self) -> dict[tuple[Question, float], Facing]:
        return {}

    def facing(self, question: Question, epsilon: float) -> Facing:
        """All answers at a total ε, one experiment for each extreme movement; several adversaries face the same."""
        if (question, epsilon) not in self._faced:
            found = self.movements(question)
            made = (faced(self.release, movement, epsilon) for movement in found.each)
            self._faced[question, epsilon] = Facing(tuple(e for e in made if e is not None), found.exact)
        return self._faced[question, epsilon]

    @cached_property
    def monotone(self) -> bool:
        """Whether risk only grows with ε: not where a fixed threshold holds names back, which more noise lets pass."""
        return not any(q.split_by and isinstance(q.threshold, float | int) for q in self.release.queries)

    @cached_property
    def readings(self) -> dict[tuple[str, float], float]:
        """What was read of an adversary, by key and ε; each is read once."""
        return {}

    @property
    def all(self) -> range:
        """Every query, by its place."""
        return range(len(self.release.queries))

    @cached_property
    def secret(self) -> tuple[int, ...]:
        """The queries whose answer depends on the secret."""
        return about_secret(self.release)

    @property
    def isolates(self) -> bool:
        """Whether somebody can be isolated by what an attacker may know, and some answer depends on the secret."""
        if not self.secret or not self.release.data.quasi_identifiers:
            return False
        return self.supposed or (self.scan is not None and self.scan.isolated > 0)

    @property
    def combined(self) -> tuple[Isolating, ...]:
        """Planned answers that isolate a person together, if they say something about the secret."""
        if self.scan is None:
            return ()
        return tuple(c for c in self.scan.combinations if set(self.secret) & {*c.queries, *c.moved})


@dataclass(frozen=True)
class Adversary:
    """One adversary: ``applies`` says whether this release meets them, ``reading`` how they are measured.

    ``from_data`` says that whether, or how strongly, they are met was found in the table, not in the plan.
    """

    key: str
    asks: Asks
    name: str
    question: Callable[[Setting], str]
    reading: str
    arguments: Callable[[Setting], Mapping[str, float]]
    facing: Callable[[Setting, float], Facing]
    applies: Callable[[Setting], bool] = lambda _: True
    from_data: Callable[[Setting], bool] = lambda _: False


# -- what they face -----------------------------------------------------------------------------------------------


def _asked(question: Question) -> Callable[[Setting, float], Facing]:
    """All answers, worst over what the question leaves open."""

    def facing(setting: Setting, epsilon: float) -> Facing:
        return setting.facing(question, epsilon)

    return facing


_in_table, _secret, _other_record = (_asked(q) for q in (Question.MEMBERSHIP, Question.SECRET, Question.RECORD))


def _twice(setting: Setting, epsilon: float) -> Facing:
    """One query about the secret asked twice, with the person and without, half of its ε each: the worst of them."""
    plan, found = setting.release, setting.movements(Question.SECRET)
    seen = {movement.only({i}): None for movement in found.each for i in setting.secret}
    return Facing(tuple(_difference(plan, m, epsilon) for m in seen if m.moves or m.alone), found.exact)


def _difference(plan: Release, movement: Movement, epsilon: float) -> Faced | Experiment:
    """The difference of two answers with half of the ε each, in every number that moves."""
    parts: list[tuple[Experiment, int]] = []
    if plan.mechanism.noise is Noise.GAUSSIAN:
        total = 0.0
        for m in movement.moves:
            one = contribution(plan, m.query)
            part = plan.shares[m.query] * one.part(m.noisy) / 2
            psi = psi_of(epsilon * part, (plan.mechanism.delta or 0.0) * part)
            ratio = m.amount / one.sensitivity(m.noisy, plan.mechanism.neighbours, 2)
            total += m.times * (ratio * psi) ** 2 / 2
        parts += [(gaussian(psi=math.sqrt(total)), 1)] if total else []
    else:
        parts += [
            (differencing(epsilon=m.amount / scale_of(plan, m.query, m.noisy, epsilon)), m.times)
            for m in movement.moves
        ]
    names = faced(plan, replace(movement, moves=()), epsilon)
    if names is None and not parts:
        return Faced()  # a name that is never published
    if names is not None and names.certain:
        return names
    return compose_counted([*parts, *([(names.experiment, 1)] if names is not None else [])])


def _combined(setting: Setting, epsilon: float) -> Facing:
    """Planned answers that isolate a person, each with its own noise; nothing is known of the others.

    What the scan compares is one number an answer, and one group a person. Where there are more, or too many answers
    to compare, whoever knows everyone else is the bound.
    """
    if setting.supposed:
        return setting.facing(Question.SECRET, epsilon)
    plan, found = setting.release, setting.movements(Question.SECRET)
    steps = {i: _step(setting, i) / scale_of(plan, i, contribution(plan, i).noisy[0], epsilon) for i in setting.all}
    made: dict[Faced | Experiment, None] = {}
    for isolating in setting.combined:
        involved = {*isolating.queries, *isolating.moved}
        parts = [contribution(plan, i) for i in involved]
        if isolating.compared and all(len(one.noisy) == 1 and one.groups == 1 and not one.named for one in parts):
            made[attack_on(isolating, steps, plan.mechanism.noise)] = None
            continue
        for movement in found.each:
            known = faced(plan, movement.only(involved), epsilon)
            made |= {} if known is None else {known: None}
    return Facing(tuple(made), possible=False)


def _step(setting: Setting, i: int) -> float:
    """How far the secret moves one answer of query i at most; what other values do where it says nothing of it."""
    moved = [m.amount for v in setting.movements(Question.SECRET).each for m in v.only({i}).moves]
    return max(moved or [m.amount for v in contribution(setting.release, i).changed for m in v.moved])


def _resembling(setting: Setting, epsilon: float) -> Facing:
    """All answers, moved by the target and by what their record says about their relatives."""
    made = [faced(setting.release, movement, epsilon) for movement in setting.moved_together.each]
    return Facing(tuple(e for e in made if e is not None), possible=False)


# -- what they know, and their words ------------------------------------------------------------------------------


def _informed(setting: Setting) -> Mapping[str, float]:
    knowledge = setting.release.adversary.knowledge
    return {"prior": setting.release.adversary.prior if knowledge is None else knowledge.odds().prior}


def _known(setting: Setting) -> str:
    knowledge = setting.release.adversary.knowledge
    return "" if knowledge is None else f"Knows beforehand: {knowledge.odds().because}."


def _among(setting: Setting) -> str:
    n = setting.release.adversary.among or 0
    return f"Which of {n:,} people is missing from the table? Knows everyone’s record."


def _one_of(setting: Setting) -> float:
    return 1 / (setting.release.adversary.among or 1)


def _relatives(setting: Setting) -> str:
    alike = worst_factor(setting.related)
    who = "" if alike is None else f", and the values of {alike.known or 'none'} of {alike.others}"
    return f"Which of two records is this person’s? Reads all answers, knows how alike related records are{who}."


#: What is asked where no secret is named, or no answer depends on it.
_RECORD = "Which of two records is this person’s?"


def _wanted(setting: Setting) -> str:
    secret = setting.release.data.hidden
    if secret is None:
        return _RECORD
    return f"Is it true of this person: {secret.name}?" if secret.name else "Does this person have the secret?"


# Records: who, what they ask, how they are read, and when they are met.
# fmt: off
ADVERSARIES: tuple[Adversary, ...] = (
    Adversary(
        "membership", Asks.MEMBERSHIP, "Membership test",
        lambda s: "Is this person in the table? Knows every other record, reads all answers.",
        "success", lambda s: {"prior": s.release.adversary.prior}, _in_table,
    ),
    Adversary(
        "differencing-known", Asks.SECRET, "Differencing, one answer known",
        lambda s: f"{_wanted(s)} Knows the exact answers without them.",
        "success", lambda s: {"prior": 0.5}, _secret,
        lambda s: s.release.adversary.knows is Knows.ONE_ANSWER and s.isolates, lambda s: True,
    ),
    Adversary(
        "guess", Asks.SECRET, "Guess of the secret",
        lambda s: f"{_wanted(s)} Knows every other record, reads all answers.",
        "success", lambda s: {"prior": 0.5}, _secret,
        lambda s: bool(s.secret) and not (s.release.adversary.knows is Knows.ONE_ANSWER and s.isolates),
    ),
    Adversary(
        "combined", Asks.SECRET, "Differencing, planned answers",
        lambda s: f"{_wanted(s)} Adds and subtracts planned answers until only they are left.",
        "success", lambda s: {"prior": 0.5}, _combined,
        lambda s: bool(s.combined) or (s.supposed and s.isolates), lambda s: True,
    ),
    Adversary(
        "differencing-noisy", Asks.SECRET, "Differencing, both answers noisy",
        lambda s: f"{_wanted(s)} Has two noisy answers that differ only by them.",
        "success", lambda s: {"prior": 0.5}, _twice,
        lambda s: s.isolates, lambda s: True,
    ),
    Adversary(
        "belief", Asks.SECRET, "Informed belief",
        lambda s: f"How sure can they become? {_wanted(s)}",
        "posterior", lambda s: {"prior": s.release.adversary.belief or s.release.adversary.prior}, _secret,
        lambda s: bool(s.secret) and s.bounded,
    ),
    Adversary(
        "record", Asks.RECORD, "Guess of the record",
        lambda s: f"{_RECORD} Knows every other record, reads all answers.",
        "success", lambda s: {"prior": 0.5}, _other_record,
        lambda s: s.unread,
    ),
    Adversary(
        "record-belief", Asks.RECORD, "Belief in the record",
        lambda s: f"How sure can they become? {_RECORD}",
        "posterior", lambda s: {"prior": s.release.adversary.belief or s.release.adversary.prior}, _other_record,
        lambda s: s.unread and s.bounded_for(Question.RECORD),
    ),
    Adversary(
        "reidentification", Asks.RECORD, "Re-identification",
        lambda s: "Which record is this person’s? Any attack with this success against a release without them.",
        "attack_success", lambda s: {"baseline": s.release.adversary.baseline}, _in_table,
    ),
    Adversary(
        "informed", Asks.SECRET, "Informed belief, from what is known",
        lambda s: f"How sure can they become? {_wanted(s)} {_known(s)}",
        "posterior", _informed, _secret,
        lambda s: s.release.adversary.knowledge is not None and bool(s.secret) and s.bounded,
    ),
    Adversary(
        "informed-guess", Asks.SECRET, "Informed guess, from what is known",
        lambda s: f"{_wanted(s)} {_known(s)}",
        "success", _informed, _secret,
        lambda s: s.release.adversary.knowledge is not None and bool(s.secret) and not s.bounded,
    ),
    Adversary(
        "identification", Asks.MISSING, "Identification",
        _among,
        "posterior", lambda s: {"prior": _one_of(s)}, _other_record,
        lambda s: s.release.adversary.among is not None and s.bounded,
    ),
    Adversary(
        "identification-guess", Asks.MISSING, "Identification",
        _among,
        "attack_success", lambda s: {"baseline": _one_of(s)}, _other_record,
        lambda s: s.release.adversary.among is not None and not s.bounded,
    ),
    Adversary(
        "correlated", Asks.RELATIVES, "Correlated records",
        _relatives,
        "success", lambda s: {"prior": 0.5}, _resembling,
        lambda s: bool(s.related), lambda s: any(r.from_data for r in s.related),
    ),
)
# fmt: on


def met(setting: Setting) -> tuple[Adversary, ...]:
    """The adversaries this release meets, and the membership test again for each further reading that is limited."""
    made = [a for a in ADVERSARIES if a.applies(setting)]
    test = next(a for a in ADVERSARIES if a.asks is Asks.MEMBERSHIP)
    for name in setting.release.risk_limits:
        if all(a.reading != name for a in made):
            reading = find_reading(name)
            arguments = test.arguments if "prior" in reading.optional else lambda _: {}
            made.append(
                replace(
                    test,
                    key=f"{test.key}-{name}",
                    name=f"{test.name}, {reading.label}",
                    reading=name,
                    arguments=arguments,
                )
            )
    return tuple(made)
