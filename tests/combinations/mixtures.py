"""Small tables whose sampling, batches and unknown records are written out: mixtures of noise on a line or in a box.

Where a person is there or not, H0 is without them, as the library says it; what looks at both orders does so itself.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .neighbours import KINDS, Component, Enumerated, Masses, floor, line, mixture, worst

__all__: list[str] = []

Weights = Sequence[tuple[float, float]]
#: What a person may add to an answer, in units of the sensitivity.
VALUES = (-1.0, 0.0, 1.0)


def _noises() -> Iterator[tuple[str, str, float]]:
    """The code of noise, its kind, and its sensitivity in units of it."""
    for e in (1.0, 5.0, 0.1):
        yield f"el.laplace(epsilon={e})", "laplace", e
    for psi in (1.0, 4.0):
        yield f"el.gaussian(psi={psi})", "normal", psi


def _samples() -> Iterator[Enumerated]:
    """A record drawn by its own coin: there or not, or of one value or another."""
    for (code, noise, reach), q in itertools.product(_noises(), (0.5, 0.1, 0.9, 1.0)):
        drawn: dict[float, Weights] = {v: [(1 - q, 0.0), (q, v * reach)] for v in VALUES}
        there = [line(noise, [(1.0, 0.0)], side) for side in drawn.values()]
        yield f"el.subsample({code}, {q})", worst(there)
        values = [line(noise, a, b) for a, b in itertools.permutations(drawn.values(), 2)]
        yield f"el.subsample({code}, {q}, neighbours='replace')", worst(values)
        if noise == "normal":
            training = f"el.dpsgd(sigma={1 / reach}, rate={q}, steps=1"
            yield f"{training})", worst(there)
            yield f"{training}, neighbours='replace')", worst(values)


def _sampled_groups() -> Iterator[Enumerated]:
    """Of k people who pull together a binomial number is drawn."""
    for (code, noise, reach), q, k in itertools.product(_noises(), (0.1, 0.5), (2, 3)):
        side = [(math.comb(k, j) * q**j * (1 - q) ** (k - j), j * reach) for j in range(k + 1)]
        told = worst([line(noise, [(1.0, 0.0)], side)])
        yield f"el.group(el.subsample({code}, {q}), {k})", told
        if noise == "normal":
            yield f"el.dpsgd(sigma={1 / reach}, rate={q}, steps=1, people={k})", told
    for code, noise, reach in _noises():
        yield f"el.group({code}, 3)", worst([line(noise, [(1.0, 0.0)], [(1.0, v * reach)]) for v in (-3, -1, 2, 3)])


def _random_shifts() -> Iterator[Enumerated]:
    for shifts, weights, sigma in (((0.0, 1.0), (0.5, 0.5), 1.0), ((0.0, 1.0, 2.0), (0.81, 0.18, 0.01), 0.5)):
        side = [(w, s / sigma) for w, s in zip(weights, shifts, strict=True)]
        told = worst([line("normal", [(1.0, 0.0)], side)])
        yield f"el.mechanisms.mixture(shifts={list(shifts)}, weights={list(weights)}, sigma={sigma})", told


# -- batches ----------------------------------------------------------------------------------------------------------


def _law(sums: Mapping[float, Fraction], mu: float) -> Weights:
    return [(float(w), s * mu) for s, w in sums.items()]


def _without_replacement(gradients: Sequence[float], batch: int) -> Counter[float]:
    subsets = list(itertools.combinations(gradients, batch))
    made: Counter[float] = Counter()
    for subset in subsets:
        made[sum(subset)] += Fraction(1, len(subsets))  # type: ignore[assignment]
    return made


def _with_replacement(gradients: Sequence[float], batch: int) -> Counter[float]:
    draws = list(itertools.product(gradients, repeat=batch))
    made: Counter[float] = Counter()
    for draw in draws:
        made[sum(draw)] += Fraction(1, len(draws))  # type: ignore[assignment]
    return made


def _cut(gradients: Sequence[float], rate: Fraction, most: int) -> Counter[float]:
    """Each by its own coin, and of too many only some, any of them."""
    made: Counter[float] = Counter()
    for coins in itertools.product((0, 1), repeat=len(gradients)):
        share = math.prod((rate if c else 1 - rate for c in coins), start=Fraction(1))
        taken = [g for g, c in zip(gradients, coins, strict=True) if c]
        for total, part in _without_replacement(taken, min(most, len(taken))).items():
            made[total] += share * part  # type: ignore[assignment]
    return made


def _batches() -> Iterator[Enumerated]:
    """All gradients of all people of a small table; the person has one value or another, or is not there.

    Steps draw anew, so that two of them are a product.
    """
    for n, batch, most, sigma in ((3, 1, 1, 1.0), (3, 2, 2, 0.5), (3, 1, 2, 0.5), (4, 2, 3, 1.0), (4, 1, 1, 0.7)):
        mu = 1 / sigma
        kinds: list[tuple[str, Any]] = [
            ("fixed", lambda g, b=batch: _without_replacement(g, b)),
            ("with replacement", lambda g, b=batch: _with_replacement(g, b)),
            ("truncated", lambda g, b=batch, n=n, most=most: _cut(g, Fraction(b, n), most)),
        ]
        for kind, drawn in kinds:
            more = f", truncation={most}" if kind == "truncated" else ""
            replaced: list[tuple[Weights, Weights]] = []
            added: list[tuple[Weights, Weights]] = []
            for others in itertools.combinations_with_replacement(VALUES, n - 1):
                laws = [_law(drawn((g, *others)), mu) for g in VALUES]
                replaced += itertools.permutations(laws, 2)
                added += [(_law(drawn(others), mu), law) for law in laws]
            for steps, (relation, pairs) in itertools.product((1, 2), (("replace", replaced), ("add-remove", added))):
                code = f"el.dpsgd(sigma={sigma}, n={n}, batch={batch}, steps={steps}, batches='{kind}'{more}"
                masses = [line("normal", *pair) if steps == 1 else _twice(pair) for pair in pairs]
                yield f"{code}, neighbours='{relation}')", worst(masses)


def _twice(pair: tuple[Weights, Weights]) -> Masses:
    """Two steps alike, in boxes."""
    once = _box("normal", ([(w, (c,)) for w, c in pair[0]], [(w, (c,)) for w, c in pair[1]]), 60)
    return np.multiply.outer(once[0], once[0]).ravel(), np.multiply.outer(once[1], once[1]).ravel()


def _box(noise: str, sides: tuple[Sequence[Component], Sequence[Component]], cells: int) -> Masses:
    """Both laws in a box of cells, finest between the centres and beyond them."""
    edges = []
    for axis in range(len(sides[0][0][1])):
        centres = [c[axis] for side in sides for _, c in side]
        edges.append(np.linspace(min(centres) - 3.0, max(centres) + 5.0, cells))
    first, second = (mixture(noise, side, edges) for side in sides)
    return first, second


#: (n, batch, σ of each row, steps of each row): passes of two and three steps, also cut off, also with a smaller batch.
_PASSES: tuple[tuple[int, int, list[float], list[int]], ...] = (
    (2, 1, [1.0], [2]),
    (2, 1, [2.0, 0.5], [1, 2]),
    (3, 1, [2.0, 0.5], [2, 2]),
    (3, 1, [0.5], [3]),
    (2, 1, [0.5, 2.0], [1, 1]),
    (2, 1, [1.0, 0.7], [2, 1]),
    (3, 2, [2.0, 0.5], [1, 2]),
    (5, 2, [0.5, 1.0], [2, 2]),
    (3, 2, [0.7, 0.4, 2.0], [1, 1, 2]),
    (2, 2, [1.0, 0.5], [1, 2]),
    (7, 3, [1.0, 0.5], [3, 1]),
)


def _orders() -> Iterator[Enumerated]:
    """Passes over a small table, a few records to a batch: every place of everybody in every pass.

    Who is not there leaves a gap in their batch; the schedule's rows may change inside a pass.
    """
    for n, batch, sigmas, steps in _PASSES:
        noise = [s for s, k in zip(sigmas, steps, strict=True) for _ in range(k)]
        total, length = len(noise), -(-n // batch)
        for people in (1, 2):
            places: list[list[tuple[int, ...]]] = []
            for start in range(0, total, length):
                step = [start + slot // batch for slot in range(n)]
                places.append([tuple(step[i] for i in slots) for slots in itertools.permutations(range(n), people)])
            seen = Counter(tuple(itertools.chain.from_iterable(where)) for where in itertools.product(*places))
            ways = sum(seen.values())
            centres: Counter[tuple[int, ...]] = Counter()
            for where, k in seen.items():
                centres[tuple(where.count(i) for i in range(total))] += k

            def pull(by: float, centres: Any = centres, noise: Any = noise, ways: int = ways) -> list[Component]:
                return [
                    (k / ways, tuple(by * c / s for c, s in zip(at, noise, strict=True))) for at, k in centres.items()
                ]

            cells = {2: 120, 3: 40, 4: 20}[total]
            still: list[Component] = [(1.0, (0.0,) * total)]
            more = "" if people == 1 else f", people={people}"
            rows = f"schedule={{'sigma': {sigmas}, 'steps': {steps}}}"
            code = f"el.dpsgd(n={n}, batch={batch}, batches='shuffled', {rows}{more}"
            yield f"{code})", worst([_box("normal", (still, pull(1.0)), cells)])
            replaced = [_box("normal", pair, cells) for pair in ((pull(-1.0), pull(1.0)), (still, pull(1.0)))]
            yield f"{code}, neighbours='replace')", worst(replaced)


# -- unknown records --------------------------------------------------------------------------------------------------


_TABLES = ([[0.01, 0.49], [0.49, 0.01]], [[0.3, 0.2], [0.2, 0.3]], [[0.45, 0.05], [0.05, 0.45]])


def _sums(table: Any, value: int, rate: float = 1.0) -> dict[float, float]:
    """The sum of both records where the first has this value, each drawn by its own coin."""
    row = np.asarray(table)[value] / np.sum(np.asarray(table)[value])
    made: dict[float, float] = {}
    for other, share in enumerate(row):
        for a, b in itertools.product((0, 1), repeat=2):
            weight = share * (rate if a else 1 - rate) * (rate if b else 1 - rate)
            made[float(a * value + b * other)] = made.get(float(a * value + b * other), 0.0) + weight
    return {total: weight for total, weight in made.items() if weight}


def _unknown() -> Iterator[Enumerated]:
    """Answers about the same unknown record, which is drawn once."""
    for table, (name, size, noise) in itertools.product(_TABLES, (("scale", 1.0, "laplace"), ("sigma", 1.0, "normal"))):
        code = f"el.correlated.table({table}).experiment(0, {{}}, {name}={size}, pair=(0, 1))"
        for k in (1, 2, 3):
            sides = [[(w, (s / size,) * k) for s, w in _sums(table, v).items()] for v in (0, 1)]
            told = worst([_box(noise, (sides[0], sides[1]), {1: 800, 2: 90, 3: 36}[k])])
            yield code if k == 1 else f"({code}).repeat({k})", told
        for k in (4, 10) if noise == "normal" else ():  # the mean of them is all that matters
            means = [[(w, s / size * math.sqrt(k)) for s, w in _sums(table, v).items()] for v in (0, 1)]
            yield f"({code}).repeat({k})", worst([line(noise, means[0], means[1])])
        for q in (0.1, 0.5):
            drawn = [[(w, s / size) for s, w in _sums(table, v, q).items()] for v in (0, 1)]
            told = worst([line(noise, drawn[0], drawn[1])])
            yield f"el.subsample({code}, {q}, neighbours='replace')", told
            yield f"el.subsample({code}, {q})", told


# -- attacks ----------------------------------------------------------------------------------------------------------


def _differences() -> Iterator[Enumerated]:
    """Two noisy counts that differ by the target; far out the ratio tends to that of the wider noise."""
    for e, split, gap in ((1.0, 0.5, 1), (2.0, 0.3, 1), (0.5, 0.5, 2), (1.0, 0.5, 3)):
        rates = [e * split, e * (1 - split)]
        reach = math.ceil(60 / min(rates))
        k = np.arange(-reach, reach + 1)
        one, other = (np.exp(-r * np.abs(k)) / np.exp(-r * np.abs(k)).sum() for r in rates)
        p = np.convolve(one, other)
        law, moved = np.append(p, np.zeros(gap)), np.append(np.zeros(gap), p)
        inside = (law > 1e-22) & (moved > 1e-22)  # where 16 digits are left of a convolution of positive numbers
        code = f"el.attacks.differencing(epsilon={e}, gap={gap}, noise='geometric', split={split})"
        yield code, [floor(law[inside], moved[inside], min(rates) * gap)]


def _ranges() -> Iterator[Enumerated]:
    """Is the value above γ? Each side is a mixture of the answers of its values."""
    for prior, values in (((0.25,) * 4, (0.0, 1.0, 2.0, 3.0)), ((0.1, 0.5, 0.3, 0.1), (0.0, 1.0, 2.0, 7.0))):
        high = [v > 1.5 for v in values]
        for noise, told, unit in (
            ("laplace", "epsilon=1., sensitivity=3.", 3.0),
            ("normal", "noise='gaussian', sigma=1.", 1.0),
        ):
            sides = []
            for side in (False, True):
                total = sum(p for p, h in zip(prior, high, strict=True) if h is side)
                sides.append([(p / total, v / unit) for p, v, h in zip(prior, values, high, strict=True) if h is side])
            code = f"el.attacks.above(1.5, {list(prior)}, {list(values)}, {told}).experiment"
            yield code, [floor(*line(noise, *sides))]


def _false_records() -> Iterator[Enumerated]:
    for bias in (-3.0, 0.5):
        yield f"el.attacks.tampering(epsilon=1., bias={bias})", worst([line("laplace", [(1.0, 0.0)], [(1.0, bias)])])
        yield f"el.attacks.tampering(sigma=2., bias={bias})", worst([line("normal", [(1.0, 0.0)], [(1.0, bias / 2)])])


def _spread() -> Iterator[Enumerated]:
    """A vector whose L1 budget one person spends on one coordinate or on several."""
    for e in (1.0, 3.0):
        ways = ((1.0, 0.0), (0.5, 0.5), (0.8, 0.2))
        still: list[Component] = [(1.0, (0.0, 0.0))]
        boxes = [_box("laplace", (still, [(1.0, (a * e, b * e))]), 120) for a, b in ways]
        yield f"el.mechanisms.vector(epsilon={e}, q=2).scalar", worst(boxes)
        yield f"el.mechanisms.vector(epsilon={e}, q=2).experiment", worst(boxes[1:2])
        yield f"el.mechanisms.vector(epsilon={e}, shifts=[.8, .2]).experiment", worst(boxes[2:])


KINDS |= {
    "samples": _samples,
    "groups": _sampled_groups,
    "random shifts": _random_shifts,
    "batches": _batches,
    "orders": _orders,
    "unknown records": _unknown,
    "differences": _differences,
    "ranges": _ranges,
    "false records": _false_records,
    "vectors": _spread,
}
