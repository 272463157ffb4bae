"""Who could learn what from a planned release: one entry an adversary, in one place (Lemma P7 of docs/proofs/plans.md).

An adversary is a question about two worlds, what it faces at a total ε, and the reading that answers it. What it faces
comes from the movement of the plan's noisy numbers between the two worlds (:mod:`epsilens.plan.movement`), never from
a sensitivity of its own. A new adversary is a new entry in ``ADVERSARIES``; the command, the report and the page show
it by themselves. What an entry says in words (``name`` and ``question``) is for readers: no code acts on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from .. import worlds
from ..attacks.differencing_queries import differencing
from ..catalogue.readings import find_reading
from ..data.queries import Noise
from ..data.scan.answer_combinations import AnswerCombination
from ..data.scan.result import Scan, combination_experiment
from ..experiment import Experiment, compose_counted
from ..mechanisms.noise import gaussian
from ..plan.contribution import contribution, psi_of, scale_of
from ..plan.model import BackgroundKnowledge, Release
from ..plan.movement import (
    AdversaryQuestion,
    CorrelationFactor,
    Movement,
    Movements,
    correlated_movements,
    movements,
    secret_queries,
    worst_factor,
)
from .worst_case import MovementPair, WorstCase, largest_movements, movement_pair


class AdversaryGoal(StrEnum):
    """What an adversary is after."""

    MEMBERSHIP = "membership"  # is this person in the table?
    SECRET = "secret"  # does this person have the secret?
    RECORD = "record"  # which record is this person's?
    MISSING = "missing"  # which of several people is missing?
    RELATIVES = "relatives"  # which record is that of a person whose relatives resemble them?

    @property
    def worlds(self) -> worlds.WorldsKind:
        return _WORLDS[self]

    @property
    def harm(self) -> Harm:
        return _HARMS[self]


class Harm(StrEnum):
    """The three risks that regulators ask about (Article 29 Working Party, Opinion 05/2014)."""

    SINGLING_OUT = "singling out"  # to tell one person's record from all others
    LINKABILITY = "linkability"  # to tell that a known person is among those in the table
    INFERENCE = "inference"  # to deduce something about a person


_WORLDS = {
    AdversaryGoal.MEMBERSHIP: worlds.WorldsKind.MEMBERSHIP,
    AdversaryGoal.SECRET: worlds.WorldsKind.SECRET,
    # Any attack is bounded by what the release adds to a membership test.
    AdversaryGoal.RECORD: worlds.WorldsKind.MEMBERSHIP,
    AdversaryGoal.MISSING: worlds.WorldsKind.RECORD,
    AdversaryGoal.RELATIVES: worlds.WorldsKind.CORRELATED,
}
_HARMS = {
    AdversaryGoal.MEMBERSHIP: Harm.LINKABILITY,
    AdversaryGoal.SECRET: Harm.INFERENCE,
    AdversaryGoal.RECORD: Harm.SINGLING_OUT,
    AdversaryGoal.MISSING: Harm.SINGLING_OUT,
    AdversaryGoal.RELATIVES: Harm.INFERENCE,
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
    #: What was read of an adversary, by key and ε; each is read once.
    readings: dict[tuple[str, float], float] = field(default_factory=dict, init=False, compare=False)
    _found: dict[AdversaryQuestion, Movements] = field(default_factory=dict, init=False, compare=False)
    _largest: dict[AdversaryQuestion, tuple[Movement, ...]] = field(default_factory=dict, init=False, compare=False)
    _faced: dict[tuple[AdversaryQuestion, float], WorstCase] = field(default_factory=dict, init=False, compare=False)

    @property
    def laplace(self) -> bool:
        return self.release.mechanism.noise is Noise.LAPLACE

    @cached_property
    def bounded(self) -> bool:
        """Whether every belief stays bounded: not under Gaussian noise, and not where names may be given away."""
        return self.bounded_for(AdversaryQuestion.SECRET)

    def bounded_for(self, question: AdversaryQuestion) -> bool:
        """The same of what a question asks."""
        return self.laplace and not any(m.alone for m in self.movements(question).each)

    @property
    def unread(self) -> bool:
        """Whether a secret is named of which no answer says anything: then it is the record that may be asked for."""
        return self.release.data.hidden is not None and not self.secret

    def movements(self, question: AdversaryQuestion) -> Movements:
        if question not in self._found:
            self._found[question] = movements(self.release, question)
        return self._found[question]

    @cached_property
    def moved_together(self) -> Movements:
        """The extreme movements of a record whose relatives' records go with it."""
        return correlated_movements(self.release, self.related)

    def facing(self, question: AdversaryQuestion, epsilon: float) -> WorstCase:
        """All answers at a total ε, one experiment for each extreme movement; several adversaries face the same."""
        if (question, epsilon) not in self._faced:
            found = self.movements(question)
            if question not in self._largest:
                self._largest[question] = largest_movements(self.release, found.each)
            made = (movement_pair(self.release, movement, epsilon) for movement in self._largest[question])
            each = dict.fromkeys(e for e in made if e is not None)
            self._faced[question, epsilon] = WorstCase(tuple(each), found.exact)
        return self._faced[question, epsilon]

    @cached_property
    def monotone(self) -> bool:
        """Whether risk only grows with ε: not where a fixed threshold holds names back, which more noise lets pass."""
        return not any(q.split_by and isinstance(q.threshold, float | int) for q in self.release.queries)

    @cached_property
    def secret(self) -> tuple[int, ...]:
        """The queries whose answer depends on the secret."""
        return secret_queries(self.release)

    @property
    def isolates(self) -> bool:
        """Whether somebody can be isolated by what an attacker may know, and some answer depends on the secret."""
        if not self.secret or not self.release.data.quasi_identifiers:
            return False
        return self.supposed or (self.scan is not None and self.scan.isolated > 0)

    @property
    def combined(self) -> tuple[AnswerCombination, ...]:
        """Planned answers that isolate a person together, if they say something about the secret."""
        if self.scan is None:
            return ()
        return tuple(c for c in self.scan.combinations if set(self.secret) & {*c.queries, *c.moved})


@dataclass(frozen=True)
class AdversaryEntry:
    """One adversary: ``applies`` says whether this release meets them, ``reading`` how they are measured.

    ``from_data`` says that whether, or how strongly, they are met was found in the table, not in the plan.
    """

    key: str
    asks: AdversaryGoal
    name: str
    question: Callable[[Setting], str]
    reading: str
    arguments: Callable[[Setting], Mapping[str, float]]
    facing: Callable[[Setting, float], WorstCase]
    applies: Callable[[Setting], bool] = lambda _: True
    from_data: Callable[[Setting], bool] = lambda _: False


def _facing_question(question: AdversaryQuestion) -> Callable[[Setting, float], WorstCase]:
    """All answers, worst over what the question leaves open."""
    return lambda setting, epsilon: setting.facing(question, epsilon)


_in_table, _secret, _other_record = (
    _facing_question(q) for q in (AdversaryQuestion.MEMBERSHIP, AdversaryQuestion.SECRET, AdversaryQuestion.RECORD)
)


def _noisy_differencing(setting: Setting, epsilon: float) -> WorstCase:
    """One query about the secret asked twice, with the person and without, half of its ε each: the worst of them."""
    plan, found = setting.release, setting.movements(AdversaryQuestion.SECRET)
    seen = {movement.only({i}): None for movement in found.each for i in setting.secret}
    return WorstCase(tuple(_difference(plan, m, epsilon) for m in seen if m.moves or m.alone), found.exact)


def _difference(plan: Release, movement: Movement, epsilon: float) -> MovementPair | Experiment:
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
    names = movement_pair(plan, replace(movement, moves=()), epsilon)
    if names is None and not parts:
        return MovementPair()  # a name that is never published
    if names is not None and names.certain:
        return names
    return compose_counted([*parts, *([(names.experiment, 1)] if names is not None else [])])


def _planned_differencing(setting: Setting, epsilon: float) -> WorstCase:
    """Planned answers that isolate a person, each with its own noise; nothing is known of the others.

    What the scan compares is one number an answer, and one group a person. Where there are more, or too many answers
    to compare, whoever knows everyone else is the bound.
    """
    if setting.supposed:
        return setting.facing(AdversaryQuestion.SECRET, epsilon)
    plan, found = setting.release, setting.movements(AdversaryQuestion.SECRET)
    steps = {
        i: _step(setting, i) / scale_of(plan, i, contribution(plan, i).noisy[0], epsilon)
        for i in range(len(plan.queries))
    }
    made: dict[object, MovementPair | Experiment] = {}
    for isolating in setting.combined:
        involved = {*isolating.queries, *isolating.moved}
        parts = [contribution(plan, i) for i in involved]
        if isolating.compared and all(len(one.noisy) == 1 and one.groups == 1 and not one.named for one in parts):
            sizes = (tuple(steps[i] for i in places) for places in (isolating.queries, isolating.moved))
            told = isolating.exact, isolating.weights, isolating.shift, isolating.gain, *sizes
            if told not in made:
                made[told] = combination_experiment(isolating, steps, plan.mechanism.noise)
            continue
        for movement in found.each:
            known = movement_pair(plan, movement.only(involved), epsilon)
            made |= {} if known is None else {known: known}
    return WorstCase(tuple(made.values()), possible=False)


def _step(setting: Setting, i: int) -> float:
    """How far the secret moves one answer of query i at most; what other values do where it says nothing of it."""
    moved = [m.amount for v in setting.movements(AdversaryQuestion.SECRET).each for m in v.only({i}).moves]
    return max(moved or [m.amount for v in contribution(setting.release, i).changed for m in v.moved])


def _correlated_records(setting: Setting, epsilon: float) -> WorstCase:
    """All answers, moved by the target and by what their record says about their relatives."""
    made = [movement_pair(setting.release, movement, epsilon) for movement in setting.moved_together.each]
    return WorstCase(tuple(e for e in made if e is not None), possible=False)


# -- what they know, and their words ------------------------------------------------------------------------------


def _informed_prior(setting: Setting) -> Mapping[str, float]:
    knowledge = setting.release.adversary.knowledge
    return {"prior": setting.release.adversary.prior if knowledge is None else knowledge.odds().prior}


def _knowledge_words(setting: Setting) -> str:
    knowledge = setting.release.adversary.knowledge
    return "" if knowledge is None else f"Knows beforehand: {knowledge.odds().because}."


def _identification_question(setting: Setting) -> str:
    n = setting.release.adversary.among or 0
    return f"Which of {n:,} people is missing from the table? Knows everyone’s record."


def _uniform_prior(setting: Setting) -> float:
    return 1 / (setting.release.adversary.among or 1)


def _correlated_question(setting: Setting) -> str:
    alike = worst_factor(setting.related)
    who = "" if alike is None else f", and the values of {alike.known or 'none'} of {alike.others}"
    return f"Which of two records is this person’s? Reads all answers, knows how alike related records are{who}."


#: What is asked where no secret is named, or no answer depends on it.
_RECORD = "Which of two records is this person’s?"


def _secret_question(setting: Setting) -> str:
    secret = setting.release.data.hidden
    if secret is None:
        return _RECORD
    return f"Is it true of this person: {secret.name}?" if secret.name else "Does this person have the secret?"


# Records: who, what they ask, how they are read, and when they are met.
# fmt: off
ADVERSARIES: tuple[AdversaryEntry, ...] = (
    AdversaryEntry(
        "membership", AdversaryGoal.MEMBERSHIP, "Membership test",
        lambda s: "Is this person in the table? Knows every other record, reads all answers.",
        "success", lambda s: {"prior": s.release.adversary.prior}, _in_table,
    ),
    AdversaryEntry(
        "differencing-known", AdversaryGoal.SECRET, "Differencing, one answer known",
        lambda s: f"{_secret_question(s)} Knows the exact answers without them.",
        "success", lambda s: {"prior": 0.5}, _secret,
        lambda s: s.release.adversary.knows is BackgroundKnowledge.ONE_ANSWER and s.isolates, lambda s: True,
    ),
    AdversaryEntry(
        "guess", AdversaryGoal.SECRET, "Guess of the secret",
        lambda s: f"{_secret_question(s)} Knows every other record, reads all answers.",
        "success", lambda s: {"prior": 0.5}, _secret,
        lambda s: bool(s.secret) and not (s.release.adversary.knows is BackgroundKnowledge.ONE_ANSWER and s.isolates),
    ),
    AdversaryEntry(
        "combined", AdversaryGoal.SECRET, "Differencing, planned answers",
        lambda s: f"{_secret_question(s)} Adds and subtracts planned answers until only they are left.",
        "success", lambda s: {"prior": 0.5}, _planned_differencing,
        lambda s: bool(s.combined) or (s.supposed and s.isolates), lambda s: True,
    ),
    AdversaryEntry(
        "differencing-noisy", AdversaryGoal.SECRET, "Differencing, both answers noisy",
        lambda s: f"{_secret_question(s)} Has two noisy answers that differ only by them.",
        "success", lambda s: {"prior": 0.5}, _noisy_differencing,
        lambda s: s.isolates, lambda s: True,
    ),
    AdversaryEntry(
        "belief", AdversaryGoal.SECRET, "Informed belief",
        lambda s: f"How sure can they become? {_secret_question(s)}",
        "posterior", lambda s: {"prior": s.release.adversary.belief or s.release.adversary.prior}, _secret,
        lambda s: bool(s.secret) and s.bounded,
    ),
    AdversaryEntry(
        "record", AdversaryGoal.RECORD, "Guess of the record",
        lambda s: f"{_RECORD} Knows every other record, reads all answers.",
        "success", lambda s: {"prior": 0.5}, _other_record,
        lambda s: s.unread,
    ),
    AdversaryEntry(
        "record-belief", AdversaryGoal.RECORD, "Belief in the record",
        lambda s: f"How sure can they become? {_RECORD}",
        "posterior", lambda s: {"prior": s.release.adversary.belief or s.release.adversary.prior}, _other_record,
        lambda s: s.unread and s.bounded_for(AdversaryQuestion.RECORD),
    ),
    AdversaryEntry(
        "reidentification", AdversaryGoal.RECORD, "Re-identification",
        lambda s: "Which record is this person’s? Any attack with this success against a release without them.",
        "attack_success", lambda s: {"baseline": s.release.adversary.baseline}, _in_table,
    ),
    AdversaryEntry(
        "informed", AdversaryGoal.SECRET, "Informed belief, from what is known",
        lambda s: f"How sure can they become? {_secret_question(s)} {_knowledge_words(s)}",
        "posterior", _informed_prior, _secret,
        lambda s: s.release.adversary.knowledge is not None and bool(s.secret) and s.bounded,
    ),
    AdversaryEntry(
        "informed-guess", AdversaryGoal.SECRET, "Informed guess, from what is known",
        lambda s: f"{_secret_question(s)} {_knowledge_words(s)}",
        "success", _informed_prior, _secret,
        lambda s: s.release.adversary.knowledge is not None and bool(s.secret) and not s.bounded,
    ),
    AdversaryEntry(
        "identification", AdversaryGoal.MISSING, "Identification",
        _identification_question,
        "posterior", lambda s: {"prior": _uniform_prior(s)}, _other_record,
        lambda s: s.release.adversary.among is not None and s.bounded,
    ),
    AdversaryEntry(
        "identification-guess", AdversaryGoal.MISSING, "Identification",
        _identification_question,
        "attack_success", lambda s: {"baseline": _uniform_prior(s)}, _other_record,
        lambda s: s.release.adversary.among is not None and not s.bounded,
    ),
    AdversaryEntry(
        "correlated", AdversaryGoal.RELATIVES, "Correlated records",
        _correlated_question,
        "success", lambda s: {"prior": 0.5}, _correlated_records,
        lambda s: bool(s.related), lambda s: any(r.from_data for r in s.related),
    ),
)
# fmt: on


def met_adversaries(setting: Setting) -> tuple[AdversaryEntry, ...]:
    """The adversaries this release meets, and the membership test again for each further reading that is limited."""
    made = [a for a in ADVERSARIES if a.applies(setting)]
    test = next(a for a in ADVERSARIES if a.asks is AdversaryGoal.MEMBERSHIP)
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
