"""Small mechanisms over all neighbouring inputs, not only the pair that a builder believes to be the worst.

Each kind yields what builds an experiment and floors of it: the outcomes' masses under two neighbouring inputs, written
out by hand or integrated. Outcomes on the line are parted into cells, which is something an adversary may do as well,
so that every floor is reached. What the library says from above must lie above all of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr
from tests.sweep.atoms import LONG, Atoms
from tests.sweep.truth import AtLeast, Between

Masses = tuple[Any, Any]
#: The code, and floors of what it builds.
Enumerated = tuple[str, list["Floor"]]

#: What the masses' rounding leaves in doubt.
_DOUBT = 1e-10
_LEAST = 1e-290
_MOST = 2500


class Floor(AtLeast):
    """A pair that some neighbouring inputs have; losses come as near to ±``limit`` as one likes, where one is given."""

    def __init__(self, one: Atoms, limit: float = 0.0) -> None:
        super().__init__(one)
        near = limit * (1 - 1e-11)
        self.top, self.bottom = max(float(self.top), near), min(float(self.bottom), -near)

    def profile(self, x: float) -> Between | None:
        found = super().profile(x)
        assert found is not None
        return Between(max(found.low, 1e-300 if float(x) < self.top else 0.0), found.high)

    def log_moment(self, a: float) -> Between | None:
        """At an infinite order a loss, in units of that order."""
        if math.isinf(a):
            return None
        return super().log_moment(a)

    def reverse(self) -> Floor:
        made = Floor(self.one.reverse())  # type: ignore[arg-type]
        made.top, made.bottom = -self.bottom, -self.top
        return made


def floor(p0: Any, p1: Any, limit: float = 0.0) -> Floor:
    """From masses under H0 and H1; losses a trifle nearer to 0 than they are, for what was rounded."""
    q, p = (np.asarray(v, dtype=LONG).ravel() for v in (p0, p1))
    both = (p > _LEAST) & (q > _LEAST)
    only1, only0 = (float(own[(own > 1e-12) & (other == 0)].sum()) for own, other in ((p, q), (q, p)))
    p, q = _gathered(p[both], q[both])
    return Floor(Atoms(p, q, np.log(p / q) * (1 - LONG(1e-11)), only1, only0, rest=_DOUBT), limit)


def _gathered(p: Any, q: Any) -> tuple[Any, Any]:
    """Outcomes of nearly one loss as one, where there are many: an adversary may look no closer."""
    if p.size <= _MOST:
        return p, q
    loss = np.log(p / q).astype(float)
    bins = np.unique(np.digitize(loss, np.linspace(loss.min(), loss.max(), _MOST)), return_inverse=True)[1]
    made = np.zeros((2, bins.max() + 1), dtype=LONG)
    np.add.at(made[0], bins, p)
    np.add.at(made[1], bins, q)
    return made[0], made[1]


def worst(pairs: Iterable[Masses]) -> list[Floor]:
    """Those that are the worst of all somewhere on the curve."""
    made = list(pairs)
    size = max(len(p0) for p0, _ in made)
    p0, p1 = (np.asarray([np.pad(np.asarray(m[i], dtype=float), (0, size - len(m[i]))) for m in made]) for i in (0, 1))
    tilts = np.exp([0.0, 1e-6, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0])
    kept = {int(np.argmax(np.maximum(p1 - t * p0, 0).sum(axis=1))) for t in tilts}
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = np.where((p0 > _LEAST) & (p1 > 0), np.log(p1) - np.log(p0), -np.inf)
        kl = np.where(p0 > _LEAST, p0 * (np.log(p0) - np.log(np.maximum(p1, 1e-300))), 0.0).sum(axis=1)
    kept |= {int(np.argmax(losses.max(axis=1))), int(np.argmax(kl))}
    return [floor(p0[i], p1[i]) for i in sorted(kept)]


# -- noise in cells ---------------------------------------------------------------------------------------------------


def _laplace_cells(edges: Any, at: float) -> Any:
    z = edges - at
    below, above = 0.5 * np.exp(np.minimum(z, 0.0)), 0.5 * np.exp(-np.maximum(z, 0.0))
    return _between(z, below, above)


def _normal_cells(edges: Any, at: float) -> Any:
    z = edges - at
    return _between(z, ndtr(z), ndtr(-z))


def _between(z: Any, below: Any, above: Any) -> Any:
    """Masses between edges, from the tail that is the smaller; the part up to the middle from below."""
    low, high = z[:-1], z[1:]
    left, right = below[1:] - below[:-1], above[:-1] - above[1:]
    across = (low < 0) & (high > 0)
    inner = np.where(high <= 0, left, np.where(across, 1 - below[:-1] - above[1:], right))
    return np.concatenate(([below[0]], inner, [above[-1]]))


Component = tuple[float, tuple[float, ...]]
CELLS: Mapping[str, Callable[[Any, float], Any]] = {"laplace": _laplace_cells, "normal": _normal_cells}


def mixture(noise: str, components: Sequence[Component], edges: Sequence[Any]) -> Any:
    """The masses of boxes under Σ w·noise(centre); centres are in units of the noise on each coordinate."""
    total: Any = 0.0
    for weight, centres in components:
        box: Any = np.asarray(float(weight))
        for at, cuts in zip(centres, edges, strict=True):
            box = np.multiply.outer(box, CELLS[noise](cuts, at))
        total = total + box
    return np.asarray(total).ravel()


def line(noise: str, first: Sequence[tuple[float, float]], second: Sequence[tuple[float, float]]) -> Masses:
    """Two mixtures on a line: (weight, centre) of each part, in units of the noise."""
    centres = [c for _, c in (*first, *second)]
    low, high = min(centres) - 9, max(centres) + 9
    cuts = np.unique(np.concatenate((np.linspace(low, high, 1201), centres)))
    made = [mixture(noise, [(w, (c,)) for w, c in side], [cuts]) for side in (first, second)]
    return made[0], made[1]


# -- noise that shifts ------------------------------------------------------------------------------------------------


def _shifts() -> Iterator[Enumerated]:
    for e, s in ((1.0, 1.0), (3.0, 2.0), (1e-3, 1.0)):
        pairs = [line("laplace", [(1, 0)], [(1, e * share)]) for share in (-1, -0.5, 0.25, 1)]
        yield f"el.laplace(epsilon={e}, sensitivity={s})", worst(pairs)
    for psi in (1.0, 0.01, 5.0):
        yield f"el.gaussian(psi={psi})", worst([line("normal", [(1, 0)], [(1, psi * share)]) for share in (-1, 0.5, 1)])
    k = np.arange(-400, 401)
    noises: list[tuple[str, Any, list[int]]] = []
    for e, most in ((1.0, 1), (0.5, 3), (4.0, 2)):
        noises.append(
            (f"el.mechanisms.geometric(epsilon={e}, sensitivity={most})", np.exp(-e / most * np.abs(k)), [most])
        )
        noises.append(
            (f"el.group(el.mechanisms.geometric(epsilon={e / most}), {most})", np.exp(-e / most * np.abs(k)), [most])
        )
    for s, most in ((1.0, 1), (0.6, 5), (4.0, 2)):
        noises.append(
            (f"el.mechanisms.discrete_gaussian(sigma={s}, sensitivity={most})", np.exp(-((k / s) ** 2) / 2), [most])
        )
    for code, weights, (most,) in noises:
        p = weights / weights.sum()
        yield code, worst([(p, np.roll(p, d)) for d in range(-most, most + 1)])


def _staircases() -> Iterator[Enumerated]:
    """Densities constant on cells of a twentieth of the sensitivity."""
    for e, gamma, people in ((1.0, 0.3, 1), (3.0, 0.5, 1), (0.5, 0.1, 1), (1.0, 0.5, 2), (2.0, 0.3, 3)):
        x = (np.arange(-20 * 60, 20 * 60) + 0.5) / 20
        level = np.floor(np.abs(x)) + (np.abs(x) - np.floor(np.abs(x)) >= gamma)
        p = np.exp(-e * level)
        p /= p.sum()
        one = f"el.mechanisms.staircase(epsilon={e}, gamma={gamma}, sensitivity=1.)"
        pairs = [(p, np.roll(p, d)) for d in range(-20 * people, 20 * people + 1)]
        inside = slice(20 * people, -20 * people)  # what is rolled in from the other end is no outcome
        yield one if people == 1 else f"el.group({one}, {people})", worst([(a[inside], b[inside]) for a, b in pairs])


# -- choosing an outcome ----------------------------------------------------------------------------------------------


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def _highest(noise: str, scores: tuple[float, ...]) -> tuple[float, ...]:
    """Which of a few scores is the highest, with noise of scale 1 on each."""
    if noise == "gumbel":
        weights = np.exp(np.asarray(scores) - max(scores))
        return tuple(weights / weights.sum())
    edges = np.unique(np.concatenate([[s + z for z in (-40, -12, -4, -1, 0, 1, 4, 12, 40)] for s in scores]))
    half = np.diff(edges)[:, None] / 2
    y = (edges[:-1, None] + half + half * _NODES).ravel()
    w = (half * _WEIGHTS).ravel()
    gaps = [y - s for s in scores]
    if noise == "laplace":
        density = [0.5 * np.exp(-np.abs(g)) for g in gaps]
        below = [np.where(g < 0, 0.5 * np.exp(np.minimum(g, 0)), 1 - 0.5 * np.exp(-np.maximum(g, 0))) for g in gaps]
    else:
        density = [np.where(g < 0, 0.0, np.exp(-np.maximum(g, 0))) for g in gaps]
        below = [np.where(g < 0, 0.0, -np.expm1(-np.maximum(g, 0))) for g in gaps]
    found = []
    for i in range(len(scores)):
        others = np.prod([b for j, b in enumerate(below) if j != i], axis=0)
        found.append(float((w * density[i] * others).sum()))
    return tuple(np.asarray(found) / math.fsum(found))


def _moved(scores: Iterable[tuple[float, ...]], most: float, rises: bool) -> Iterator[tuple[Any, Any]]:
    """Scores and their neighbours; both orders, since whoever raises scores may enter or leave."""
    for s in scores:
        for d in itertools.product((0.0, most) if rises else (-most, 0.0, most), repeat=len(s)):
            other = tuple(a + b for a, b in zip(s, d, strict=True))
            yield s, other
            yield other, s


def _scores(size: int, unit: float) -> list[tuple[float, ...]]:
    return [
        (0.0, *(unit * v for v in rest))
        for rest in itertools.product((-3.0, -1.0, -0.5, 0.0, 1.0, 6.0), repeat=size - 1)
    ]


def _selections() -> Iterator[Enumerated]:
    for noise in ("laplace", "exponential", "gumbel"):
        for e, rises in ((1.0, False), (0.3, False), (2.0, True)):
            scale = (1 if rises else 2) / e
            pairs = [
                (_highest(noise, tuple(v / scale for v in a)), _highest(noise, tuple(v / scale for v in b)))
                for size in (2, 3)
                for a, b in _moved(_scores(size, 1.0 if size == 2 else scale), 1.0, rises)
            ]
            told = worst(pairs)
            yield f"el.mechanisms.noisy_max(epsilon={e}, noise='{noise}', monotonic={rises})", told
            if noise == "gumbel":
                yield f"el.mechanisms.exponential(epsilon={e}, monotonic={rises})", told
            if noise == "exponential":
                yield f"el.mechanisms.permute_and_flip(epsilon={e}, monotonic={rises})", told


def _peeled() -> Iterator[Enumerated]:
    """Two of three, one after the other, each by the exponential mechanism."""
    for e in (0.5, 2.0):

        def law(scores: tuple[float, ...], e: float = e) -> tuple[float, ...]:
            w = [math.exp(e * s / 2) for s in scores]
            return tuple(w[i] / sum(w) * w[j] / (sum(w) - w[i]) for i, j in itertools.permutations(range(len(w)), 2))

        pairs = [(law(a), law(b)) for a, b in _moved(_scores(3, 2 / e), 1.0, False)]
        yield f"el.mechanisms.top_k(epsilon={e}, k=2)", worst(pairs)


def _sparse() -> Iterator[Enumerated]:
    """Two queries against a noisy threshold, until one is above."""
    edges = np.unique(np.concatenate([[c + z for z in (-45, -12, -4, -1, 0, 1, 4, 12, 45)] for c in range(-5, 6)]))
    half = np.diff(edges)[:, None] / 2
    z, w = (edges[:-1, None] + half + half * _NODES).ravel(), (half * _WEIGHTS).ravel()
    for threshold, query in ((1.0, 2.0), (2.0, 1.0)):
        density = w * np.exp(-np.abs(z) / threshold) / (2 * threshold)

        def law(answers: tuple[float, ...]) -> tuple[float, ...]:
            g = [(z - a) / query for a in answers]  # noqa: B023
            below = [np.where(v < 0, 0.5 * np.exp(np.minimum(v, 0)), 1 - 0.5 * np.exp(-np.maximum(v, 0))) for v in g]
            made = [1 - below[0], below[0] * (1 - below[1]), below[0] * below[1]]
            masses = [float((density * m).sum()) for m in made]  # noqa: B023
            return tuple(np.asarray(masses) / math.fsum(masses))

        pairs = [(law(a), law(b)) for a, b in _moved(itertools.product((-3.0, 0.0, 3.0), repeat=2), 1.0, False)]
        yield f"el.mechanisms.sparse_vector(threshold_scale={threshold}, query_scale={query})", worst(pairs)


def _best_of_runs() -> Iterator[Enumerated]:
    """The best of a geometric number of runs of randomised response: G(z) = γz/(1 − (1−γ)z)."""
    for e, mean in ((0.5, 3.0), (1.0, 10.0)):
        g = 1 / mean
        low = [1 / (1 + math.exp(e)), math.exp(e) / (1 + math.exp(e))]
        none = [g * z / (1 - (1 - g) * z) for z in low]
        laws = [(v, 1 - v) for v in none]
        yield (
            f"el.mechanisms.repeat_and_select(el.mechanisms.pure(epsilon={e}), mean={mean})",
            worst([(laws[0], laws[1]), (laws[1], laws[0])]),
        )


# -- people who randomise their own values ----------------------------------------------------------------------------


def _response(e: float, k: int) -> Any:
    g = math.exp(e)
    return (np.ones((k, k)) + (g - 1) * np.eye(k)) / (g + k - 1)


def _bits(keep: float, other: float, size: int) -> Any:
    """A bit for each value: set with ``keep`` if it is the own one, with ``other`` if not."""
    rows = []
    for value in range(size):
        rates = [keep if j == value else other for j in range(size)]
        rows.append([math.prod(r if b else 1 - r for r, b in zip(rates, bits, strict=True))
                     for bits in itertools.product((0, 1), repeat=size)])  # fmt: skip
    return np.asarray(rows)


def _pairs(channel: Any) -> list[Masses]:
    return [(a, b) for a, b in itertools.permutations(channel, 2)]


def _local() -> Iterator[Enumerated]:
    for e in (0.5, 3.0):
        for k in (2, 3, 4):
            yield f"el.mechanisms.randomized_response(epsilon={e}, k={k})", worst(_pairs(_response(e, k)))
        yield f"el.mechanisms.unary(epsilon={e})", worst(_pairs(_bits(0.5, 1 / (math.exp(e) + 1), 3)))
        half = 1 / (math.exp(e / 2) + 1)
        symmetric = _pairs(_bits(1 - half, half, 3))
        yield f"el.mechanisms.unary(epsilon={e}, kind='symmetric')", worst(symmetric)
        yield f"el.mechanisms.count_mean_sketch(epsilon={e})", worst(symmetric)
        signs = np.asarray([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])
        columns = np.where(signs > 0, math.exp(e), 1.0)[1:] / (2 * math.exp(e) + 2)
        yield f"el.mechanisms.hadamard_response(epsilon={e})", worst(_pairs(columns))
    for f, reports in ((0.5, 1), (0.25, 2)):
        shown = _bits_over_time(f, 0.5, 0.75, reports)
        laws = [np.multiply.outer(shown[i], shown[1 - i]).ravel() for i in (0, 1)]
        yield f"el.mechanisms.rappor(f={f}, h=1, reports={reports})", worst(_pairs(laws))


def _bits_over_time(f: float, p: float, q: float, reports: int) -> list[Any]:
    """All reports of a bit that the value does not set, and of one that it sets."""
    patterns = list(itertools.product((0, 1), repeat=reports))
    seen = [np.asarray([math.prod(r if b else 1 - r for b in bits) for bits in patterns]) for r in (p, q)]
    return [(1 - f / 2) * seen[i] + f / 2 * seen[1 - i] for i in (0, 1)]


def _shuffles() -> Iterator[Enumerated]:
    """The histogram of all answers, whatever the others hold."""
    for e, k, n in ((1.0, 2, 2), (1.0, 2, 4), (2.0, 3, 2), (1.0, 3, 3), (0.5, 4, 2)):
        channel = _response(e, k)
        outcomes = sorted({tuple(sorted(o)) for o in itertools.product(range(k), repeat=n)})

        def law(values: tuple[int, ...], channel: Any = channel, outcomes: Any = outcomes, k: int = k) -> list[float]:
            found = dict.fromkeys(outcomes, 0.0)
            for answers in itertools.product(range(k), repeat=len(values)):
                found[tuple(sorted(answers))] += math.prod(channel[v, a] for v, a in zip(values, answers, strict=True))
            return list(found.values())

        pairs = [
            (law((a, *others)), law((b, *others)))
            for others in itertools.combinations_with_replacement(range(k), n - 1)
            for a, b in itertools.permutations(range(k), 2)
        ]
        told = worst(pairs)
        yield f"el.mechanisms.shuffled(el.mechanisms.randomized_response(epsilon={e}, k={k}), n={n})", told
        yield f"el.mechanisms.shuffled({e}, n={n})", told


KINDS: dict[str, Callable[[], Iterator[Enumerated]]] = {
    "shifts": _shifts,
    "staircases": _staircases,
    "selections": _selections,
    "two of three": _peeled,
    "sparse vector": _sparse,
    "best of runs": _best_of_runs,
    "local answers": _local,
    "shuffled answers": _shuffles,
}
