"""Who could learn what from a planned release: one entry an adversary, in one place.

An adversary is a question about two worlds, the experiment it faces at a total ε, and the reading that answers it. A
new one is a new entry in ``ADVERSARIES``; the command, the report and the page show it by themselves. What an entry
says in words (``name`` and ``question``) is for readers: no code acts on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from .. import worlds
from ..build.composition import compose
from ..build.differencing import differencing
from ..build.mechanisms import calibrated_psi, gaussian, laplace
from ..catalogue.readings import find
from ..data.queries import Noise
from ..experiment import Experiment
from ..plan.plan import Release
from ..plan.relatives import Relation, worst_relation
from ..plan.words import Knows

__all__ = ["ADVERSARIES", "Adversary", "Asks", "Setting", "met"]


class Asks(StrEnum):
    """What an adversary is after."""

    MEMBERSHIP = "membership"  # is this person in the table?
    SECRET = "secret"  # does this person have the secret?
    RECORD = "record"  # which record is this person's?
    MISSING = "missing"  # which of several people is missing?
    RELATIVES = "relatives"  # which value has a record whose relatives resemble it?

    @property
    def worlds(self) -> worlds.Kind:
        """The kind of the two worlds the question compares."""
        return _WORLDS[self]


_WORLDS = {
    Asks.MEMBERSHIP: worlds.Kind.MEMBERSHIP,
    Asks.SECRET: worlds.Kind.SECRET,
    Asks.RECORD: worlds.Kind.MEMBERSHIP,  # any attack is bounded by what the release adds to a membership test
    Asks.MISSING: worlds.Kind.RECORD,
    Asks.RELATIVES: worlds.Kind.CORRELATED,
}


@dataclass(frozen=True)
class Setting:
    """What the adversaries may draw on: the release and what the scan found.

    ``exposure`` is each query's worst gap over sensitivity among the people who can be isolated (0 for nobody);
    ``about_secret`` are the queries whose answer depends on the secret; ``related`` is how people resemble each other.
    """

    release: Release
    exposure: tuple[float, ...]
    about_secret: tuple[int, ...]
    related: tuple[Relation, ...] = ()

    @property
    def laplace(self) -> bool:
        """Whether the noise is Laplace's, which bounds every belief; Gaussian noise bounds none."""
        return self.release.mechanism.noise is Noise.LAPLACE

    def share(self, i: int) -> float:
        """The share of ε that query i gets."""
        return self.release.shares[i]

    def answer(self, epsilon: float, i: int, swing: float = 1.0) -> Experiment:
        """Query i's answer at a total ε, moved by ``swing`` times its sensitivity: by all of it in the worst case."""
        part = self.share(i)
        if not self.laplace:
            psi = calibrated_psi(epsilon * part, (self.release.mechanism.delta or 0.0) * part, "analytic")
            return gaussian(psi=psi * swing)
        return laplace(epsilon=epsilon * part * swing)


@dataclass(frozen=True)
class Adversary:
    """One adversary: ``applies`` says whether this release meets them, ``reading`` how they are measured."""

    key: str
    asks: Asks
    name: str
    question: Callable[[Setting], str]
    reading: str
    arguments: Callable[[Setting], Mapping[str, float]]
    experiment: Callable[[Setting, float], Experiment]
    applies: Callable[[Setting], bool] = lambda _: True


def _everything(setting: Setting, epsilon: float) -> Experiment:
    return compose(*(setting.answer(epsilon, i) for i in range(len(setting.release.queries))))


def _secret_only(setting: Setting, epsilon: float) -> Experiment:
    return compose(*(setting.answer(epsilon, i) for i in setting.about_secret))


def _most_exposed(setting: Setting) -> int:
    return max(setting.about_secret, key=lambda i: setting.exposure[i] * setting.share(i))


def _isolating(setting: Setting, epsilon: float, known: bool) -> Experiment:
    i = _most_exposed(setting)
    part, mechanism = setting.share(i), setting.release.mechanism
    given: dict[str, Any] = {
        "epsilon": epsilon * part,
        "gap": setting.exposure[i],
        "known": known,
        "noise": mechanism.noise.value,
    }
    if mechanism.delta is not None:
        given["delta"] = mechanism.delta * part
    return differencing(**given)


def _can_isolate(setting: Setting) -> bool:
    return any(setting.exposure[i] > 0 for i in setting.about_secret)


def _told_apart(setting: Setting, epsilon: float) -> Experiment:
    """All answers without one person against all without another: what tells which of several people is missing.

    Exchanging two people moves a grouped answer in two places, and an ungrouped one by the range of the values.
    """
    answers: list[Experiment] = []
    for i, query in enumerate(setting.release.queries):
        planned = query.planned()
        if planned.groups:
            answers += [setting.answer(epsilon, i)] * 2
        else:
            answers.append(setting.answer(epsilon, i, planned.swing))
    return compose(*answers)


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


def _alike(setting: Setting) -> Relation:
    """The relation of the query that tells most about one of several related people."""
    found = worst_relation(setting.related, setting.release.shares)
    assert found is not None
    return found


def _resembling(setting: Setting, epsilon: float) -> Experiment:
    """The answer that tells most, moved by the target and by what their value says about their relatives."""
    alike = _alike(setting)
    return setting.answer(epsilon, alike.query, alike.swing)


def _relatives(setting: Setting) -> str:
    alike = _alike(setting)
    who = f"{alike.known} of {alike.others}" if alike.known else f"none of {alike.others}"
    return (
        "Which of two values has this record? Reads one answer, and knows how alike related records are, "
        f"and the values of {who}."
    )


def _wanted(setting: Setting) -> str:
    secret = setting.release.data.secret
    return f"Is “{secret}” true of this person?" if secret else "Does this person have the secret?"


# Records: who, what they ask, how they are read, and when they are met.
# fmt: off
ADVERSARIES: tuple[Adversary, ...] = (
    Adversary(
        "membership", Asks.MEMBERSHIP, "Membership test",
        lambda s: "Is this person in the table? Knows every other record, reads all answers.",
        "success", lambda s: {"prior": s.release.adversary.prior}, _everything,
    ),
    Adversary(
        "differencing-known", Asks.SECRET, "Differencing, one answer known",
        lambda s: f"{_wanted(s)} Knows the exact answer without them.",
        "success", lambda s: {"prior": 0.5}, lambda s, epsilon: _isolating(s, epsilon, known=True),
        lambda s: s.release.adversary.knows is Knows.ONE_ANSWER and _can_isolate(s),
    ),
    Adversary(
        "differencing-noisy", Asks.SECRET, "Differencing, both answers noisy",
        lambda s: f"{_wanted(s)} Has two noisy answers that differ only by them.",
        "success", lambda s: {"prior": 0.5}, lambda s, epsilon: _isolating(s, epsilon, known=False),
        _can_isolate,
    ),
    Adversary(
        "belief", Asks.SECRET, "Informed belief",
        lambda s: f"How sure can they become? {_wanted(s)}",
        "posterior", lambda s: {"prior": s.release.adversary.belief or s.release.adversary.prior}, _secret_only,
        lambda s: bool(s.about_secret) and s.laplace,
    ),
    Adversary(
        "reidentification", Asks.RECORD, "Re-identification",
        lambda s: "Which record is this person’s? Any attack with this success without the release.",
        "attack_success", lambda s: {"baseline": s.release.adversary.baseline}, _everything,
    ),
    Adversary(
        "informed", Asks.SECRET, "Informed belief, from what is known",
        lambda s: f"How sure can they become? {_wanted(s)} {_known(s)}",
        "posterior", _informed, _secret_only,
        lambda s: s.release.adversary.knowledge is not None and bool(s.about_secret) and s.laplace,
    ),
    Adversary(
        "informed-guess", Asks.SECRET, "Informed guess, from what is known",
        lambda s: f"{_wanted(s)} {_known(s)}",
        "success", _informed, _secret_only,
        lambda s: s.release.adversary.knowledge is not None and bool(s.about_secret) and not s.laplace,
    ),
    Adversary(
        "identification", Asks.MISSING, "Identification",
        _among,
        "posterior", lambda s: {"prior": _one_of(s)}, _told_apart,
        lambda s: s.release.adversary.among is not None and s.laplace,
    ),
    Adversary(
        "identification-guess", Asks.MISSING, "Identification",
        _among,
        "attack_success", lambda s: {"baseline": _one_of(s)}, _told_apart,
        lambda s: s.release.adversary.among is not None and not s.laplace,
    ),
    Adversary(
        "correlated", Asks.RELATIVES, "Correlated records",
        _relatives,
        "success", lambda s: {"prior": 0.5}, _resembling,
        lambda s: bool(s.related),
    ),
)
# fmt: on


def met(setting: Setting) -> tuple[Adversary, ...]:
    """The adversaries this release meets, and the membership test again for each further reading that is limited."""
    made = [a for a in ADVERSARIES if a.applies(setting)]
    test = next(a for a in ADVERSARIES if a.asks is Asks.MEMBERSHIP)
    for name in setting.release.risk_limits:
        if all(a.reading != name for a in made):
            reading = find(name)
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
