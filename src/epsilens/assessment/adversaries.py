"""Who could learn what from a planned release: one entry an adversary, in one place.

An adversary is a question, the experiment it faces at a total ε, and the reading that answers it. A new one is a new
entry in ``ADVERSARIES``; the command, the report and the page show it by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..build.composition import compose
from ..build.differencing import differencing
from ..build.mechanisms import calibrated_psi, gaussian, laplace
from ..experiment import Experiment
from ..plan.plan import Limit, Release
from ..plan.relatives import Relation, worst_relation

__all__ = ["ADVERSARIES", "Adversary", "Setting"]


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

    def share(self, i: int) -> float:
        """The share of ε that query i gets."""
        return self.release.shares[i]

    def answer(self, epsilon: float, i: int, swing: float = 1.0) -> Experiment:
        """Query i's answer at a total ε, moved by ``swing`` times its sensitivity: by all of it in the worst case."""
        part = self.share(i)
        if self.release.mechanism.noise == "gaussian":
            psi = calibrated_psi(epsilon * part, (self.release.mechanism.delta or 0.0) * part, "analytic")
            return gaussian(psi=psi * swing)
        return laplace(epsilon=epsilon * part * swing)


@dataclass(frozen=True)
class Adversary:
    """One adversary: ``applies`` says whether this release meets them, ``reading`` how they are measured."""

    key: str
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
        "noise": mechanism.noise,
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


def _laplace(setting: Setting) -> bool:
    return setting.release.mechanism.noise == "laplace"


def _wanted(setting: Setting) -> str:
    secret = setting.release.data.secret
    return f"Is “{secret}” true of this person?" if secret else "Does this person have the secret?"


ADVERSARIES: tuple[Adversary, ...] = (
    Adversary(
        "membership",
        "Membership test",
        lambda s: "Is this person in the table? Knows every other record, reads all answers.",
        "success",
        lambda s: {"prior": s.release.adversary.prior},
        _everything,
    ),
    Adversary(
        "differencing-known",
        "Differencing, one answer known",
        lambda s: f"{_wanted(s)} Knows the exact answer without them.",
        "success",
        lambda s: {"prior": 0.5},
        lambda s, epsilon: _isolating(s, epsilon, known=True),
        lambda s: s.release.adversary.knows == "one answer" and _can_isolate(s),
    ),
    Adversary(
        "differencing-noisy",
        "Differencing, both answers noisy",
        lambda s: f"{_wanted(s)} Has two noisy answers that differ only by them.",
        "success",
        lambda s: {"prior": 0.5},
        lambda s, epsilon: _isolating(s, epsilon, known=False),
        _can_isolate,
    ),
    Adversary(
        "belief",
        "Informed belief",
        lambda s: f"How sure can they become? {_wanted(s)}",
        "posterior",
        lambda s: {"prior": s.release.adversary.belief or s.release.adversary.prior},
        _secret_only,
        lambda s: bool(s.about_secret) and s.release.mechanism.noise != "gaussian",
    ),
    Adversary(
        "reidentification",
        "Re-identification",
        lambda s: "Which record is this person’s? Any attack with this success without the release.",
        "attack_success",
        lambda s: {"baseline": s.release.adversary.baseline},
        _everything,
    ),
    Adversary(
        "informed",
        "Informed belief, from what is known",
        lambda s: f"How sure can they become? {_wanted(s)} {_known(s)}",
        "posterior",
        _informed,
        _secret_only,
        lambda s: s.release.adversary.knowledge is not None and bool(s.about_secret) and _laplace(s),
    ),
    Adversary(
        "informed-guess",
        "Informed guess, from what is known",
        lambda s: f"{_wanted(s)} {_known(s)}",
        "success",
        _informed,
        _secret_only,
        lambda s: s.release.adversary.knowledge is not None and bool(s.about_secret) and not _laplace(s),
    ),
    Adversary(
        "identification",
        "Identification",
        _among,
        "posterior",
        lambda s: {"prior": _one_of(s)},
        _told_apart,
        lambda s: s.release.adversary.among is not None and _laplace(s),
    ),
    Adversary(
        "identification-guess",
        "Identification",
        _among,
        "attack_success",
        lambda s: {"baseline": _one_of(s)},
        _told_apart,
        lambda s: s.release.adversary.among is not None and not _laplace(s),
    ),
    Adversary(
        "correlated",
        "Correlated records",
        _relatives,
        "success",
        lambda s: {"prior": 0.5},
        _resembling,
        lambda s: bool(s.related),
    ),
)


def limits_of(release: Release) -> dict[str, tuple[float, dict[str, float]]]:
    """Each limited reading with its limit and its own arguments."""
    made: dict[str, tuple[float, dict[str, float]]] = {}
    for name, limit in release.limits.items():
        if isinstance(limit, Limit):
            made[name] = limit.at_most, dict(limit.model_extra or {})
        else:
            made[name] = float(limit), {}
    return made
