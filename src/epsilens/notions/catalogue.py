"""The notions by name: what each one bounds, against whom, and where it is defined. No numbers here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..numerics.values import FrozenMapping


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


def find(name: Any, parameter: str = "notion") -> Notion:
    """A notion by its key.

    >>> find("Mp_Database").name
    'Membership privacy of whole databases'
    """
    key = name.strip().lower().replace("_", "-") if isinstance(name, str) else name
    if isinstance(key, str) and key in NOTIONS:
        return NOTIONS[key]
    shown = repr(name) if len(repr(name)) <= 40 else repr(name)[:37] + "..."
    raise InputError(f"{parameter} is {shown}: give one of {', '.join(NOTIONS)}", parameter=parameter)
