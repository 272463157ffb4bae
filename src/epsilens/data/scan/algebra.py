r"""Which combinations of answers cancel everyone but one person: linear algebra on patterns of 0 and 1.

Write A for the matrix with a row for each answer and a column for each *pattern*, a set of answers that some people
share. People of one pattern add an unknown amount to each of its answers, so a combination w of the answers is free of
the others exactly where :math:`wA` vanishes outside one person's own columns. Such a w exists if that unit row lies in
the row space of A; the rows w with :math:`wA = 0` are *relations* between the answers, which hold whoever is there.

Rank and row space are computed modulo a prime of 21 bits, so that every product is exact in doubles. A determinant of
the patterns that is a multiple of the prime could mislead it; those of planned answers are small numbers, and every
combination that is reported with its weights is checked again in whole numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

Integers: TypeAlias = NDArray[np.int64]

PRIME = 2_097_143  # the largest below 2²¹: a sum of 2¹⁰ products stays below 2⁵³
_CHUNK = 256
_LARGEST_WEIGHT = 64


@dataclass(frozen=True)
class Isolation:
    """One isolated person: the whole-number ``weights`` of each answer (None where they are not small).

    ``gain`` is how many times the person's contribution the combination shows (0 without weights);
    ``own`` are the answers that the person is in and that bear upon the combination; ``exact`` says that no other
    combination tells anything more about them; ``shift`` is :math:`\\|Pt\\|_2`, the most that normal noise of standard
    deviation 1 on each answer leaves of the person's 1 (P projects off the directions of everyone else).
    """

    owner: int
    weights: tuple[int, ...] | None
    gain: int
    own: tuple[int, ...]
    exact: bool
    shift: float


def isolate(patterns: Integers, owner: Integers) -> tuple[Isolation, ...]:
    """Everyone whom a combination of the answers isolates; ``owner`` is −1 for patterns that several people share.

    Two groups and their total, which has one person more:

    >>> patterns = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 1]])
    >>> [(found.owner, found.weights) for found in isolate(patterns, np.array([-1, -1, 7]))]
    [(7, (-1, -1, 1))]
    """
    shared, lone = patterns[:, owner < 0], patterns[:, owner >= 0]
    owners = owner[owner >= 0]
    first, rank = _echelon(shared)
    free = first[rank:]  # a basis of what the shared patterns leave alone
    if not len(free) or not lone.shape[1]:
        return ()
    left = _times(free, lone)
    second, more = _echelon(left)
    reduced = _times(second[:more], left)
    relations = _times(second[more:], free)
    # The rank is exact, so that eigenvalues only order the vectors: the last ones span the columns of all patterns.
    spanning = np.linalg.eigh(patterns.astype(float) @ patterns.T)[1][:, len(patterns) - rank - more :]
    pivots = np.array([int(np.flatnonzero(row)[0]) for row in reduced], np.int64)
    found = []
    for person in np.unique(owners[pivots]):
        mine = np.flatnonzero(owners == person)
        rows = np.flatnonzero(owners[pivots] == person)
        outside = np.delete(reduced[rows], mine, axis=1)
        mixed, lost = _echelon(outside)
        if lost == len(rows):
            continue
        ways = _times(_times(mixed[lost:], second[rows]), free)
        all_mine = np.flatnonzero(owner == person)
        found.append(_described(int(person), ways, relations, patterns, all_mine, spanning))
    return tuple(found)


def _described(
    person: int,
    ways: Integers,
    relations: Integers,
    patterns: Integers,
    mine: Integers,
    spanning: NDArray[np.float64],
) -> Isolation:
    """The person's combination, and what else bears upon it."""
    weights = _whole(ways[0], patterns, mine)
    bearing, dimensions = _bearing(np.concatenate([ways, relations]), patterns[:, mine])
    own = np.flatnonzero(bearing & patterns[:, mine].any(axis=1))
    gain = 0 if weights is None else int(np.abs(np.asarray(weights) @ patterns[:, mine]).max())
    shift = float(np.sqrt(patterns[:, mine].sum(axis=0).max()))  # everyone else known: never too small
    if weights is not None and len(mine) == 1:
        # 1/‖w‖ for the shortest of all combinations that give the person 1: w less its part among the relations
        shift = float(gain / np.linalg.norm(spanning.T @ np.asarray(weights, float)))
    shift = math.ceil(shift * 1e12) / 1e12  # never too small, and the same for all who stand alike
    return Isolation(person, weights, gain, tuple(map(int, own)), dimensions == 1, shift)


def _bearing(rows: Integers, mine: Integers) -> tuple[NDArray[np.bool_], int]:
    """The answers in combinations that tell something about the person, and the dimension of these combinations.

    Answers that meet in a row of the reduced form of ``rows`` belong together; noise is independent between such
    components, and those that show nothing of the person's own patterns ``mine`` are silent about them.
    """
    form, rank = _echelon(rows)
    basis = _times(form[:rank], rows)
    at, answers = np.nonzero(basis)
    size = rank + rows.shape[1]
    joined = coo_matrix((np.ones(len(at)), (at, rank + answers)), shape=(size, size))
    label = connected_components(joined, directed=False)[1]
    ours = np.isin(label, label[:rank][_times(basis, mine).any(axis=1)])
    return ours[rank:], int(ours[:rank].sum())


def _whole(way: Integers, patterns: Integers, mine: Integers) -> tuple[int, ...] | None:
    """A row of residues as small whole numbers without a common divisor, checked; None where there are none."""
    for times in range(1, _LARGEST_WEIGHT + 1):
        lead = way[np.flatnonzero(way)[0]]
        tried = way * (times * pow(int(lead), -1, PRIME) % PRIME) % PRIME
        tried = np.where(tried > PRIME // 2, tried - PRIME, tried)
        if np.abs(tried).max() <= _LARGEST_WEIGHT:
            whole = tried // np.gcd.reduce(tried)
            told = whole @ patterns
            if np.delete(told, mine).any():
                return None
            sign = -1 if told[mine][np.flatnonzero(told[mine])[0]] < 0 else 1
            return tuple(int(sign * w) for w in whole)
    return None


def _times(a: Integers, b: Integers) -> Integers:
    """The product modulo the prime, by floating-point multiplication of exact integers."""
    made: Integers = (a.astype(float) @ b.astype(float)).astype(np.int64) % PRIME
    return made


def _echelon(matrix: Integers) -> tuple[Integers, int]:
    """(T, rank) with T invertible and T·matrix reduced: unit columns at the first ``rank`` rows, zero below them."""
    rows = matrix.shape[0]
    made = np.eye(rows, dtype=np.int64)
    rank = 0
    for start in range(0, matrix.shape[1], _CHUNK):
        if rank == rows:
            break
        part = _times(made, matrix[:, start : start + _CHUNK])
        for column in range(part.shape[1]):
            below = np.flatnonzero(part[rank:, column])
            if not len(below):
                continue
            for both in (part, made):
                both[[rank, rank + below[0]]] = both[[rank + below[0], rank]]
            inverse = pow(int(part[rank, column]), -1, PRIME)
            factor = part[:, column].copy()
            factor[rank] = 0
            for both in (part, made):
                both[rank] = both[rank] * inverse % PRIME
                both -= factor[:, None] * both[rank]
                both %= PRIME
            rank += 1
            if rank == rows:
                break
    return made, rank
