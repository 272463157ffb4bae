"""Paper 001: Ashena, Dell'Aglio and Bernstein 2021: the success P_SDA of a differencing attack by two queries.

Algorithms 1 to 3 are the paper's Monte Carlo, as printed and corrected, kept only to be compared with:
``epsilens.attacks.differencing`` computes the same success exactly. What is wrong in print:

- Algorithm 1 uses 0 as "not given", so a true answer of 0 or a clamped answer of 0 is misread; with Q2 known its line
  11 needs n+1 instead of n−1; its comparison lacks the Jacobian (n−1 against n).
- Algorithm 2's line 27 passes M1 twice and omits n: executed literally with neither or Q1 known, it guesses a constant.
- Eq. 14 has the sign reversed; Eq. 15 has no solution for any ε > 0.
- Algorithm 3 stops at the first lucky estimate, which biases ε upwards (unsafe).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import betaincinv, ndtri

from .. import checks
from ..attacks.differencing_queries import differencing, differencing_average
from ..calibration.choose import choose
from ..checks import Array
from ..errors import InputError
from ..experiment import Experiment
from ..mechanisms.noise import laplace
from ..show.charts.lines import Series
from ..show.sentences import number
from .items import Numbers, Paper, Record, curve, named_rows, read_paper, sweep

_PEOPLE = 120
_GRID = np.linspace(0.05, 20, 100)
_COIN = Series("a coin", ((0.05, 0.5), (20, 0.5)), quiet=True)


def paper() -> Paper:
    """Everything recomputed of this paper."""
    return read_paper("001")


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack of the paper: what the adversary asks and knows.

    ``known`` is "nothing", "broad" (Q1 known) or "narrow" (Q2 known). With ``n`` the queries are averages over n
    people with the known ``answer`` and the target's ``value``; otherwise ``gap`` is d and the noise is on a count or
    sum.
    """

    epsilon: float
    sensitivity: float = 1.0
    gap: float = 1.0
    known: str = "nothing"
    n: int = 0
    value: float = 0.0
    answer: float = 0.0

    def __post_init__(self) -> None:
        checks.positive("epsilon", self.epsilon)
        checks.positive("sensitivity", self.sensitivity)
        checks.one_of("known", self.known, ("nothing", "broad", "narrow"))
        if self.n and (self.known == "nothing" or self.n < 2):
            raise InputError(
                f"n is {self.n} with {self.known} known: averages need n of at least 2 and one known answer", "n"
            )

    @property
    def other(self) -> int:
        """The size of the other query's set when the secret is 1."""
        return self.n - 1 if self.known == "broad" else self.n + 1

    @property
    def difference(self) -> float:
        """d = Q1 − Q2 when the secret is 1."""
        return (self.value - self.answer) / self.other if self.n else self.gap


@dataclass(frozen=True, slots=True)
class Estimate:
    """A simulated success with its Clopper–Pearson interval."""

    success: float
    low: float
    high: float
    draws: int


def clopper_pearson(successes: int, draws: int, alpha: float) -> tuple[float, float]:
    """The exact binomial interval of confidence 1 − α.

    >>> low, high = clopper_pearson(8342, 16684, 0.01)  # what a width of 0.02 takes at p = 1/2
    >>> round(high - low, 6)
    0.02
    """
    low = 0.0 if successes == 0 else float(betaincinv(successes, draws - successes + 1, alpha / 2))
    high = 1.0 if successes == draws else float(betaincinv(successes + 1, draws - successes, 1 - alpha / 2))
    return low, high


def _log_laplace(x: Array, scale: float) -> Array:
    return np.asarray(-np.abs(x) / scale)


def _log_difference(x: Array, scale: float) -> Array:
    z = np.abs(x) / scale
    return np.asarray(np.log1p(z) - z)


def _observe(attack: Attack, secret: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """(M1, M2) as Algorithm 2 draws them; the known one is NaN."""
    b, d, size = attack.sensitivity / attack.epsilon, attack.difference, secret.shape
    unknown = np.full(size, np.nan)
    if attack.known == "nothing":
        return rng.laplace(0, 2 * b, size) + secret * d, rng.laplace(0, 2 * b, size)
    noise = rng.laplace(0, b, size)
    if attack.known == "broad":
        return unknown, attack.answer + noise / (attack.n - secret if attack.n else 1) - secret * d
    return attack.answer + noise / (attack.n + secret if attack.n else 1) + secret * d, unknown


def _guess(attack: Attack, m1: Array, m2: Array) -> Array:
    """Algorithm 1 with explicit flags and n+1 where Q2 is known, but the paper's rule (no Jacobian)."""
    b, d = attack.sensitivity / attack.epsilon, attack.difference
    if attack.known == "nothing":
        gap = m1 - m2
        return np.asarray(_log_difference(gap - d, 2 * b) >= _log_difference(gap, 2 * b), dtype=float)
    gap = attack.answer - m2 if attack.known == "broad" else m1 - attack.answer
    scale0, scale1 = (attack.n, attack.other) if attack.n else (1, 1)
    return np.asarray(_log_laplace(scale1 * (gap - d), b) >= _log_laplace(scale0 * gap, b), dtype=float)


def _guess_as_printed(attack: Attack, m1: Array, m2: Array) -> Array:
    """Lines 27 of Algorithm 2 and 1–18 of Algorithm 1, literally: M1 passed twice, n dropped, 0 for "not given"."""
    b, d = attack.sensitivity / attack.epsilon, attack.difference
    first = np.where(np.isnan(m1), 0.0, m1)
    q = attack.answer if attack.known != "nothing" else 0.0
    if q != 0:
        gap = np.where(first != 0, first - q, q - first)
        return np.asarray(_log_laplace(gap - d, b) >= _log_laplace(gap, b), dtype=float)
    gap = first - first
    return np.asarray(_log_difference(gap - d, 2 * b) >= _log_difference(gap, 2 * b), dtype=float)


def estimate(
    attack: Attack, *, width: float = 0.02, alpha: float = 0.01, printed: bool = False, seed: int = 0, batch: int = 2000
) -> Estimate:
    """Algorithm 2: simulate until the Clopper–Pearson interval of confidence 1 − α is no wider than ``width``."""
    target = float(checks.probability("width", width, closed=False))
    level = float(checks.probability("alpha", alpha, closed=False))
    rng = np.random.default_rng(seed)
    guess = _guess_as_printed if printed else _guess
    successes = draws = 0
    while True:
        secret = rng.integers(0, 2, batch).astype(float)
        successes += int(np.sum(guess(attack, *_observe(attack, secret, rng)) == secret))
        draws += batch
        low, high = clopper_pearson(successes, draws, level)
        if high - low <= target:
            return Estimate(successes / draws, low, high, draws)


def set_epsilon(
    *,
    target: float = 0.5,
    tolerance: float = 0.01,
    start: float = 2.0,
    step: float = 0.01,
    seed: int = 0,
    **attack: Any,
) -> float:
    """Algorithm 3, literally: lower ε until one estimate is within ``tolerance`` of the target. Unsafe: too high."""
    rng = np.random.default_rng(seed)
    epsilon = start
    while epsilon > 0:
        run = estimate(Attack(epsilon=epsilon, **attack), seed=int(rng.integers(2**31)))
        if abs(run.success - target) <= tolerance:
            return epsilon
        epsilon = round(epsilon - step, 12)
    raise InputError(f"no epsilon from {start:g} down reached {target:g}: raise the tolerance or lower the step")


def rule_success(
    *,
    epsilon: float,
    n: int,
    value: float,
    mean: float,
    bounds: tuple[float, float],
    known: str = "broad",
    clamped: str = "plain",
) -> float:
    """How often the paper's rule for averages is right: 1 − ½·exp(−n|a−Q|ε/((2n∓1)·R)), n−1 or n+1 people in the
    other set.

    ``clamped="random"`` follows the paper's text and tosses a coin when the answer sits on a bound, which can fall
    below ½.
    """
    attack = Attack(epsilon=epsilon, sensitivity=bounds[1] - bounds[0], n=n, value=value, answer=mean, known=known)
    checks.one_of("clamped", clamped, ("plain", "random"))
    b, size, other = attack.sensitivity / epsilon, n, attack.other
    shift = abs(value - mean)
    if clamped == "plain":
        return 1 - 0.5 * math.exp(-size * shift / ((size + other) * b))
    # The rule guesses 1 on x ≥ Δ/(n+other) and on x ≤ −Δ, x the observed difference signed by the value's side.
    sign = 1.0 if value >= mean else -1.0
    centre1 = mean - attack.difference if known == "broad" else mean + attack.difference
    flip = -sign if known == "broad" else sign
    cut, far = mean + flip * shift / (size + other), mean - flip * shift
    low, high = bounds

    def cdf(x: float, centre: float, scale: float) -> float:
        z = (x - centre) / scale
        return 0.5 * math.exp(z) if z < 0 else 1 - 0.5 * math.exp(-z)

    def ones(centre: float, scale: float) -> tuple[float, float]:
        """P(guess 1 inside the bounds), P(on a bound)."""
        a, c = min(cut, far), max(cut, far)
        inside = cdf(high, centre, scale) - cdf(low, centre, scale)
        zeros = max(cdf(min(c, high), centre, scale) - cdf(max(a, low), centre, scale), 0.0)
        return inside - zeros, 1 - inside

    one0, edge0 = ones(mean, b / size)
    one1, edge1 = ones(centre1, b / other)
    return 0.5 * ((1 - edge0 - one0) + 0.5 * edge0) + 0.5 * (one1 + 0.5 * edge1)


def ages(sd: float = 9.0) -> Array:
    """120 ages: the quantiles of N(74.5, sd²) at (i − ½)/120, in place of the paper's random draw."""
    return np.asarray(74.5 + sd * ndtri((np.arange(1, _PEOPLE + 1) - 0.5) / _PEOPLE))


def lee_clifton(epsilon: float, n: int, ratio: float) -> float:
    """Lee and Clifton's bound on the belief that the one of the largest value is missing, 1/(1 + (n−1)e^{−εΔv/Δf}).

    >>> round(lee_clifton(10, 120, 60 / 121), 12)
    0.54476833628
    """
    return 1 / (1 + (n - 1) * math.exp(-epsilon * ratio))


def exact_belief(epsilon: float, values: Array, sensitivity: float) -> float:
    """The strongest belief that the one of the largest value is missing: 1/Σ_j e^{−ε(a_max−a_j)/Δf}."""
    return float(1 / np.sum(np.exp(-epsilon * (values.max() - values) / sensitivity)))


def tree(success: float, n: int) -> float:
    """P_SDA brought to a prior of 1/n, P/(P + (n−1)(1−P)): the only reading of the paper's tree that starts at 1/n."""
    return success / (success + (n - 1) * (1 - success))


def crowded(epsilon: float, k: int, share: float = 0.5) -> float:
    """How often the secret of one in a group of k alike is guessed from two noisy counts that differ by the group.

    The other k−1 have the secret independently with probability ``share``: the observed difference is theirs, plus the
    target's, plus Laplace noise of scale 2/ε twice. Success is (1 + sup_x [G(x) − G(x−1)])/2 with G the law of that sum
    without the target. A threshold is the best test: weights and noise are log-concave, so that by the composition of
    totally positive kernels the likelihood ratio of the two sums is monotone.

    >>> round(crowded(5.0, 1), 6), round(crowded(5.0, 20), 4) < 0.62
    (0.767215, True)
    """
    from scipy.stats import binom  # heavy, and needed here alone

    scale = 2 / float(checks.positive("epsilon", checks.scalar("epsilon", epsilon)))
    k = checks.integer("k", k, low=1, high=10_000)
    share = float(checks.probability("share", checks.scalar("share", share)))
    weights = binom.pmf(np.arange(k), k - 1, share)
    # The optimal threshold solves g(x) = g(x − 1); a fine grid finds the success to 1e-6.
    x = np.linspace(-2, k + 2, 400 * (k + 4) + 1)
    gap = sum(w * (_cdf(x - j, scale) - _cdf(x - 1 - j, scale)) for j, w in enumerate(weights))
    return float((1 + np.max(gap)) / 2)


def _cdf(x: Array, scale: float) -> Array:
    """The law of the difference of two Laplace variables of one scale: density (1 + |x|/b)e^{−|x|/b}/(4b)."""
    z = np.abs(x) / scale
    tail = (2 + z) * np.exp(-z) / 4
    return np.asarray(np.where(x < 0, tail, 1 - tail))


def reconstruction_bound(epsilon: float, queries: int, *, shared: bool = True) -> float:
    """No attack on ``queries`` noisy counts guesses a larger share of fair secrets than this.

    Who is told every other secret faces, for one person, at most ``queries`` Laplace tests of ε/m each (of ε each if
    the budget is not shared); whoever reconstructs knows less, and the share of secrets guessed is a mean over people.

    >>> round(reconstruction_bound(5.0, 2), 6)  # 1 − ½(1 + ε/4)e^{−ε/2}
    0.907654
    """
    each = float(checks.positive("epsilon", checks.scalar("epsilon", epsilon)))
    queries = checks.integer("queries", queries, low=1, high=10_000)
    return float(laplace(epsilon=each / queries if shared else each).repeat(queries).success())


def recovered(
    epsilon: float, people: int, queries: int, *, shared: bool = True, trials: int = 40, seed: int = 0
) -> tuple[float, float]:
    """The share of secrets that linear reconstruction guesses, by simulation, and its standard error.

    Secrets x are fair bits, every query counts a random half of the people, y = Ax + Laplace noise of scale b = m/ε, or
    1/ε where every query gets the whole ε. The attack is the linear estimate of least mean error,
    ½ + (AᵀA + 8b²I)⁻¹Aᵀ(y − A½), rounded.

    >>> share, error = recovered(5.0, 50, 200, shared=False)
    >>> share > 0.99, recovered(5.0, 50, 200)[0] < 0.6
    (True, True)
    """
    epsilon = float(checks.positive("epsilon", checks.scalar("epsilon", epsilon)))
    people = checks.integer("people", people, low=1, high=2_000)
    queries = checks.integer("queries", queries, low=1, high=10_000)
    trials = checks.integer("trials", trials, low=2, high=100_000)
    generator = np.random.default_rng(checks.integer("seed", seed, low=0, high=2**32))
    scale = (queries if shared else 1) / epsilon
    shares = np.empty(trials)
    for trial in range(trials):
        groups = generator.integers(0, 2, (queries, people)).astype(float)
        secret = generator.integers(0, 2, people)
        answers = groups @ secret + generator.laplace(0, scale, queries)
        normal = groups.T @ groups + 8 * scale * scale * np.eye(people)
        guess = np.linalg.solve(normal, groups.T @ (answers - groups.sum(axis=1) / 2))
        shares[trial] = np.mean((guess > 0) == (secret == 1))
    return float(shares.mean()), float(shares.std(ddof=1) / np.sqrt(trials))


def _success(epsilon: float, **attack: Any) -> float:
    return float(differencing(epsilon=epsilon, **attack).success())


def _average_success(epsilon: float, value: float) -> float:
    """The best attack on an average over 1,320 people, the broader one known."""
    return float(differencing_average(epsilon=epsilon, n=1320, value=value, mean=50, bounds=(0, 121)).success())


def figure_1a(epsilons: list[float]) -> Numbers:
    known = partial(_success, known=True)
    lines = [curve("two noisy answers", _success, _GRID), curve("one answer known", known, _GRID), _COIN]
    return Numbers(sweep("epsilon", epsilons, {"two noisy": _success, "one known": known}), [lines])


def figure_1b(epsilons: list[float], sums: list[float]) -> Numbers:
    noisy = {f"age {age}": partial(_success, gap=age, sensitivity=121) for age in sums}
    readings = {**noisy, "43, one known": partial(_success, gap=43, sensitivity=121, known=True)}
    lines = [curve(name, reading, _GRID) for name, reading in readings.items()]
    return Numbers(sweep("epsilon", epsilons, readings), [[*lines, _COIN]])


def figure_2a(sizes: list[int], values: list[int], epsilons: list[float]) -> Numbers:
    records: list[Record] = []
    for n in sizes:
        for age in values:
            for epsilon in epsilons:
                average: Record = {"epsilon": epsilon, "n": n, "value": age, "mean": 50, "bounds": (0, 121)}
                rules = rule_success(**average), rule_success(**average, clamped="random")
                row = n, age, epsilon, *rules, float(differencing_average(**average).success())
                records += named_rows("n, age, epsilon, rule, coin, optimal", [row])

    def by_rule(n: int, age: int) -> Callable[[float], float]:
        return lambda epsilon: rule_success(epsilon=epsilon, n=n, value=age, mean=50, bounds=(0, 121))

    lines = [curve(f"age {age}, {n:,} people", by_rule(n, age), _GRID) for age in values for n in sizes]
    return Numbers(records, [[*lines, Series("a coin", ((0.05, 0.5), (20.0, 0.5)), quiet=True)]])


def figure_2b(epsilons: list[float]) -> Numbers:
    readings: dict[str, Callable[[float], float]] = {
        "count": _success,
        "sum": partial(_success, gap=43, sensitivity=121),
        "average": partial(_average_success, value=43),
        "average, age 121": partial(_average_success, value=121),
    }
    names = {"count": "count", "sum": "sum", "average": "average, 1,320 people"}
    lines = [curve(name, readings[key], np.linspace(0.05, 20, 60)) for key, name in names.items()]
    return Numbers(sweep("epsilon", epsilons, readings), [[*lines, _COIN]])


def figure_3(epsilons: list[float]) -> Numbers:
    values = ages()
    top, gap, mean = float(values.max()), float(values.max() - values.min()), float(values.mean())

    def sums(epsilon: float) -> float:
        return tree(_success(epsilon, gap=top, sensitivity=121, known=True), _PEOPLE)

    def bound(epsilon: float) -> float:
        return lee_clifton(epsilon, _PEOPLE, gap / 121)

    def exact(epsilon: float) -> float:
        return exact_belief(epsilon, values, 121)

    def averages(epsilon: float) -> float:
        return tree(rule_success(epsilon=epsilon, n=_PEOPLE, value=top, mean=mean, bounds=(0, 121)), _PEOPLE)

    grid = np.linspace(0.1, 20, 100)
    readings = {"P_SDA at prior 1/120": sums, "Lee–Clifton bound": bound, "exact": exact, "P_SDA, averages": averages}
    strongest = curve("exact strongest belief", exact, grid)
    return Numbers(
        sweep("epsilon", epsilons, readings),
        [
            [curve("P_SDA by the tree", sums, grid), curve("Lee–Clifton's bound", bound, grid), strongest],
            [curve("P_SDA by the tree", averages, grid), strongest],
        ],
    )


def figure_4(epsilons: list[float], alphas: list[float]) -> Numbers:
    def scores(law: Experiment, alpha: float) -> dict[str, float]:
        """Accuracy, recall and precision of the best test at a false-alarm rate, prior ½."""
        recall = float(law.recall(alpha))
        return {"accuracy": (1 + recall - alpha) / 2, "recall": recall, "precision": float(law.precision(alpha))}

    def attack(epsilon: float) -> dict[str, float]:
        return scores(laplace(epsilon=epsilon), math.exp(-epsilon / 2) / 2)

    records: list[Record] = []
    for e in epsilons:
        records.append({"epsilon": e, "alpha": "P_SDA", **attack(e)})
        records += [{"epsilon": e, "alpha": f"{a:g}", **scores(laplace(epsilon=e), a)} for a in alphas]
    grid = np.linspace(0.1, 20, 80).tolist()
    charts, values = [], {}
    for score in ("accuracy", "recall", "precision"):
        lines = [Series("P_SDA", tuple((e, attack(e)[score]) for e in grid))]
        lines += [Series(f"α = {a:g}", tuple((e, scores(laplace(epsilon=e), a)[score]) for e in grid)) for a in alphas]
        charts.append(lines)
        values[score] = ", ".join(f"{line.name} {line.points[39][1]:.3f}" for line in lines)
    return Numbers(records, charts, values)


def algorithms_1_and_2() -> Numbers:
    average: Record = {"epsilon": 5.0, "sensitivity": 121, "n": 13, "value": 121, "answer": 50.0}
    rule: Record = {"epsilon": 5.0, "n": 13, "value": 121, "mean": 50, "bounds": (0, 121)}
    by_age: Record = {"gap": 43, "sensitivity": 121}
    attacks = (
        ("count, nothing known", Attack(epsilon=5.0), _success(5.0)),
        ("count, Q1 known", Attack(epsilon=5.0, known="broad", answer=50.0), _success(5.0, known=True)),
        ("count, Q2 known", Attack(epsilon=5.0, known="narrow", answer=50.0), _success(5.0, known=True)),
        ("sum at age 43, nothing known", Attack(epsilon=5.0, **by_age), _success(5.0, **by_age)),
        ("average of 13, age 121, Q1 known", Attack(known="broad", **average), rule_success(**rule)),
        ("average of 13, age 121, Q2 known", Attack(known="narrow", **average), rule_success(**rule, known="narrow")),
    )
    rows = []
    for name, attack, exact in attacks:
        run, literal = estimate(attack), estimate(attack, printed=True)
        rows.append((name, float(exact), run.success, run.low, run.high, literal.success, run.draws))
    return Numbers(named_rows("attack, exact, corrected, low, high, as_printed, draws", rows))


def algorithm_3(limits: list[float], runs: int) -> Numbers:
    """The ε for a success tolerated: closed form against Algorithm 3's first lucky estimate."""
    lucky = [set_epsilon(seed=seed) for seed in range(runs)]
    at_most = partial(choose, differencing, "epsilon")
    chosen = [(x, at_most(at_most=x).value, at_most(at_most=x, given={"known": True}).value) for x in limits]
    records = named_rows("limit, two_noisy, one_known", chosen)
    records[0]["algorithm_3_mean"] = mean = sum(lucky) / len(lucky)
    return Numbers(records, values={"mean": number(mean), "largest": number(records[0]["two_noisy"])})


def section_8(sizes: list[int], epsilons: list[float]) -> Numbers:
    records = [{"k": k, **{f"epsilon {e:g}": crowded(e, k) for e in epsilons}} for k in sizes]
    lines = [Series(f"ε = {e:g}", tuple((float(k), crowded(e, k)) for k in range(1, 51))) for e in epsilons]
    return Numbers(records, [[*lines, Series("a coin", ((1.0, 0.5), (50.0, 0.5)), quiet=True)]])


def section_8_other_threats(epsilons: list[float], people: int, queries: int) -> Numbers:
    records: list[Record] = []
    for e in epsilons:
        together, error = recovered(e, people, queries)
        each, error_of_each = recovered(e, people, queries, shared=False)
        row = e, _success(e), together, error, reconstruction_bound(e, queries), each, error_of_each
        records += named_rows("epsilon, P_SDA, shared, error, at most, each, error of each", [row])
    grid = np.linspace(0.5, 20, 40)
    lines = [
        Series("every query gets ε", tuple((r["epsilon"], r["each"]) for r in records)),
        curve("no attack exceeds, ε shared", lambda e: reconstruction_bound(e, queries), grid),
        curve("P_SDA, two queries", _success, grid),
        Series("200 queries share ε", tuple((r["epsilon"], r["shared"]) for r in records)),
    ]
    error = max(max(r["error"], r["error of each"]) for r in records)
    return Numbers(records, [lines], {"error": error, "two": reconstruction_bound(5.0, 2)})
