"""The two worlds an experiment compares, as data: which kind of question it is, and who moves between them.

A world is a fact the program acts on, its words are for readers: code asks for ``worlds.kind`` and ``worlds.reversed``,
never for ``h0`` and ``h1``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from .errors import InputError, suggestion


class Relation(StrEnum):
    """How two neighbouring tables differ."""

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"


class WorldsKind(StrEnum):
    """What the adversary wants to know."""

    MEMBERSHIP = "membership"  # is the person in the data?
    RECORD = "record"  # which of two values has the person's record?
    SECRET = "secret"  # is the target's secret true?
    TAMPERING = "tampering"  # did false records move the answer?
    CORRELATED = "correlated"  # which value has a record that goes together with others?
    OTHER = "other"  # two worlds of the caller's own


_WORDS = {
    WorldsKind.MEMBERSHIP: ("the person is not in the data", "the person is in the data"),
    WorldsKind.RECORD: ("the person's record has one value", "the person's record has another value"),
    WorldsKind.SECRET: ("the target does not have the secret", "the target has the secret"),
    WorldsKind.TAMPERING: ("nobody tampered with the answer", "false records moved the answer"),
    WorldsKind.CORRELATED: ("the record has one value", "the record has another value"),
    WorldsKind.OTHER: ("it is the first world", "it is the second world"),
}


@dataclass(frozen=True, slots=True)
class Worlds:
    """A pair of worlds: its kind, whether H0 and H1 are exchanged, and words of its own where the usual do not fit.

    >>> Worlds(WorldsKind.MEMBERSHIP).h1, Worlds(WorldsKind.MEMBERSHIP).reverse().h1
    ('the person is in the data', 'the person is not in the data')
    """

    kind: WorldsKind
    reversed: bool = False
    words: tuple[str, str] | None = None  # of H0 and of H1 before any exchange

    @property
    def h0(self) -> str:
        """H0 in words."""
        return (self.words or _WORDS[self.kind])[self.reversed]

    @property
    def h1(self) -> str:
        """H1 in words."""
        return (self.words or _WORDS[self.kind])[not self.reversed]

    @property
    def replaces(self) -> bool:
        """Whether the person's record is exchanged for another, rather than added or removed."""
        return self.kind in (WorldsKind.RECORD, WorldsKind.CORRELATED)

    def reverse(self) -> Worlds:
        """H0 and H1 exchanged."""
        return replace(self, reversed=not self.reversed)


MEMBERSHIP = Worlds(WorldsKind.MEMBERSHIP)
RECORD = Worlds(WorldsKind.RECORD)
SECRET = Worlds(WorldsKind.SECRET)
TAMPERING = Worlds(WorldsKind.TAMPERING)


def worlds_of_values(first: object, second: object) -> Worlds:
    """Two values of the person's record.

    >>> worlds_of_values("a", "b").h1
    "the person's record has the value b"
    """
    words = f"the person's record has the value {first}", f"the person's record has the value {second}"
    return Worlds(WorldsKind.RECORD, words=words)


def parse_relation(neighbours: object) -> Relation:
    """The neighbouring relation by its name.

    >>> parse_relation("replace")
    <Relation.REPLACE: 'replace'>
    """
    try:
        return Relation(str(neighbours))
    except ValueError:
        words = ", ".join(repr(n.value) for n in Relation)
        near = suggestion(neighbours, list(Relation))
        raise InputError(
            f"neighbours is {neighbours!r}{near}: give one of {words}", "neighbours", value=neighbours
        ) from None


def worlds_of_relation(neighbours: Relation) -> Worlds:
    """The two worlds of a neighbouring relation.

    >>> worlds_of_relation(Relation.ADD_REMOVE) == MEMBERSHIP, worlds_of_relation(Relation.REPLACE).replaces
    (True, True)
    """
    return RECORD if neighbours is Relation.REPLACE else MEMBERSHIP
