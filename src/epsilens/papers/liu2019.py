"""Paper 000: Liu, He, Chanyaswad, Wang and Mittal, PoPETs 2019: the optimal adversary's precision, recall and Fβ.

The paper's formulas as they stand (``…_printed``) live here only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import k0, k1, modstruve

from .. import checks
from ..attacks.knowledge import Knowledge
from ..calibration.choose import choose
from ..errors import InputError, NoSolutionError
from ..experiment import Experiment
from ..mechanisms.composition import vector
from ..mechanisms.discrete import pure, randomized_response, unary
from ..mechanisms.noise import gaussian, laplace
from ..notions import IMPLICATIONS, NOTIONS, REFUTED, Conversion, promises
from ..numerics.formatting import ceil_digits
from ..show.charts.lines import Series
from ..show.sentences import number
from .items import Numbers, Paper, Record, curve, entries, named_rows, read_paper, sweep

_RECALL = np.unique(np.concatenate([np.linspace(0.005, 1, 120), 1 - np.geomspace(1e-4, 0.05, 15)]))


def paper() -> Paper:
    """Everything recomputed of this paper."""
    return read_paper("000")


# -- as printed, and corrected --------------------------------------------------------------------------------------


def lambda_printed(epsilon: float, alpha: float) -> float:
    """§4.1.5 as printed, right only between e^{−ε}/2 and ½."""
    tail = alpha if alpha <= 0.5 else 1 - alpha
    return math.exp(-epsilon) / (4 * tail * tail)


def lambda_corrected(epsilon: float, alpha: float) -> float:
    """The test's threshold on the likelihood ratio at false-positive rate α: the slope of the ROC curve there."""
    if alpha >= 0.5:
        return math.exp(-epsilon)
    return min(math.exp(-epsilon) / (4 * alpha * alpha), math.exp(epsilon))


def sigma_printed(epsilon: float, delta: float, sensitivity: float) -> float:
    """The paper's σ: it takes σ² = 2·log(1.25/δ)·ΔQ/ε for the classical σ = √(2·log(1.25/δ))·ΔQ/ε."""
    return math.sqrt(2 * math.log(1.25 / delta) * sensitivity / epsilon)


def odds_printed(rho_p: float, rho_c: float = 0.0, rho_t: float = 0.0) -> float:
    """Eqs 17, 20, 23: the paper's prior odds, without the condition that they be positive."""
    return 1 - rho_p - (2 - rho_p) * (rho_c + rho_t * (1 - rho_c))


def fscore_printed(epsilon: float, c: float, *, beta: float = 1.0, slip: bool = True) -> float:
    """Eqs 18 and 24 as printed: ε stands under the root where e^ε belongs (Eq. 21 has it right: ``slip`` false)."""
    b2 = beta * beta
    if epsilon < math.log1p(b2 / c):
        return (1 + b2) / (1 + b2 + c)
    s = math.sqrt(1 + 4 * b2 * (epsilon if slip else math.exp(epsilon)) / c)
    return (1 + b2) * (s - 1) / ((1 + b2) * s - 1 + b2)


def coefficients_of(joint: Sequence[Sequence[float]]) -> tuple[float, float]:
    """(ρ_p, ρ_c) of a record and one other, by the paper's definitions; rows are the record's values.

    >>> rho_p, rho_c = coefficients_of([[0.1, 0.7], [0.15, 0.05]])
    >>> round(rho_p, 12), round(rho_c, 12), round(odds_printed(rho_p, rho_c), 3)
    (0.75, 0.666666666667, -0.583)
    """
    own = [math.fsum(row) for row in joint]
    other = [math.fsum(column) for column in zip(*joint, strict=True)]
    ratios = [own[i] / (x / other[j]) for i, row in enumerate(joint) for j, x in enumerate(row) if x > 0]
    return 1 - min(own) / max(own), 1 - min(ratios)


def deniable(likelihoods: Sequence[float], gamma: float, origin: int = 0) -> int:
    """Definition 4: the largest k for which a synthetic record is (k, γ)-deniable.

    ``likelihoods`` are P(M(d_i) = y) of the record released, for every d_i; ``origin`` is the one it came from. k
    counts the largest set that holds the origin and whose likelihoods differ pairwise by a factor of at most γ.

    >>> deniable([0.5, 0.4, 0.3, 0.1], 1.5), deniable([0.5, 0.4, 0.3, 0.1], 5.0)
    (2, 4)
    """
    factor = checks.scalar("gamma", gamma)
    if factor < 1:
        raise InputError(f"gamma is {factor:g}: give a factor of at least 1", "gamma", value=gamma)
    given = checks.at_least("likelihoods", likelihoods, 0.0).ravel()
    positive = sorted(given[given > 0].tolist())
    own = float(given[checks.integer("origin", origin, low=0, high=max(given.size - 1, 0))]) if given.size else 0.0
    if own <= 0:
        raise InputError("the record cannot come from its origin: its likelihood is 0", "likelihoods")
    within = [sum(low <= p <= factor * low for p in positive) for low in positive if low <= own <= factor * low]
    return int(max(within))


def planar_laplace(epsilon: float, distance: float) -> float:
    """How often the best guess between two places is right after planar Laplace noise, prior ½.

    In elliptic coordinates around the two places the loss is εd·cos v, and the total variation is
    a·(K₁(a)·L₀(a) + K₀(a)·L₁(a)) with a = εd/2, K modified Bessel and L modified Struve functions.

    >>> round(planar_laplace(1.0, 1.0), 6), planar_laplace(1.0, 0.0)
    (0.64798, 0.5)
    """
    a = checks.scalar("epsilon", checks.at_least("epsilon", epsilon, 0.0)) / 2
    a *= checks.scalar("distance", checks.at_least("distance", distance, 0.0))
    if a == 0:
        return 0.5
    if a > 300:  # L and K leave the range of doubles, and nothing is left to guess
        return 1.0
    variation = a * (k1(a) * modstruve(0, a) + k0(a) * modstruve(1, a))
    return float(min((1 + variation) / 2, 1.0))


def _fbeta(epsilon: float, beta: float = 1.0, prior: float = 0.5) -> float:
    return float(laplace(epsilon=epsilon).fbeta(beta, prior=prior))


def _from_coefficients(rho: Sequence[float]) -> Knowledge:
    return Knowledge.from_coefficients(rho_p=rho[0], rho_c=rho[1], rho_t=rho[2])


def _table_1_cell(beta: float, limit: float, printed: float | None) -> Record:
    """One cell: the printed ε, the Fβ it really reaches, the corrected ε or the floor that makes it impossible."""
    record: Record = {"beta": beta, "limit": limit, "printed": printed, "corrected": None, "floor": None}
    try:
        record["corrected"] = choose(laplace, "epsilon", at_most=limit, reading="fbeta", beta=beta).value
    except NoSolutionError as error:
        record["floor"] = error.floor
    reached = None if printed is None else _fbeta(printed, beta)
    return record | {"reached_by_printed": reached, "printed_breaks_limit": reached is not None and reached > limit}


def table_1(limits: list[float], printed: list[list[float]], drawn: list[float]) -> Numbers:
    """The largest ε that keeps the best Fβ under a bound.

    A line of ``printed`` is β and its entries, right-aligned to the limits: the paper's dashes are on the left.
    """
    records: list[Record] = []
    rows, lines, points = [], [], []
    for beta, *epsilons in printed:
        line = [*([None] * (len(limits) - len(epsilons))), *epsilons]
        cells = [_table_1_cell(beta, limit, entry) for limit, entry in zip(limits, line, strict=True)]
        records += cells
        shown = ("—" if c["printed"] is None else f"{c['printed']:g}{'*' * c['printed_breaks_limit']}" for c in cells)
        rows.append((f"β = {beta:g} printed", *shown))
        down = (None if c["corrected"] is None else math.floor(c["corrected"] * 1e4) / 1e4 for c in cells)
        rows.append(("  corrected", *("none" if value is None else f"{value:.4f}" for value in down)))
        if beta in drawn:
            turn = math.log1p(beta * beta)  # Fβ is flat below
            foot = [(_fbeta(e, beta), e) for e in (turn + (5 - turn) * k / 60 for k in range(61))]
            lines.append(Series(f"β = {beta:g}", ((foot[0][0], 0.0), *foot)))
            points += [(limit, entry) for limit, entry in zip(limits, line, strict=True) if entry is not None]
    floors = ", ".join(f"{(1 + b * b) / (2 + b * b):.3f} for β = {b:g}" for b in drawn)
    dots = Series("printed", tuple(points), quiet=True, dotted=True)
    return Numbers(records, [[*lines, dots]], {"floors": floors}, rows)


def section_4_1_5(alphas: list[float]) -> Numbers:
    readings = {"printed": partial(lambda_printed, 1.0), "corrected": partial(lambda_corrected, 1.0)}
    lines = [curve(name, reading, (k / 200 for k in range(1, 200))) for name, reading in readings.items()]
    ceiling = Series("e^ε, no ratio is larger", ((0.0, math.e), (1.0, math.e)), quiet=True)
    records = [{"epsilon": 1.0, **record} for record in sweep("alpha", alphas, readings)]
    return Numbers(records, [[*lines, ceiling]])


def gaussian_noise(settings: list[tuple[float, float]], delta: float) -> Numbers:
    made = []
    for epsilon, sensitivity in settings:
        sigma = sigma_printed(epsilon, delta, sensitivity)
        best = gaussian(epsilon=epsilon, delta=delta, sensitivity=sensitivity)
        reached = float(gaussian(sigma=sigma, sensitivity=sensitivity).delta(epsilon))
        classical = sensitivity * math.sqrt(2 * math.log(1.25 / delta)) / epsilon if epsilon < 1 else None
        made.append((epsilon, sensitivity, delta, sigma, reached, classical, best.parameters["sigma"]))
    records = named_rows("epsilon, sensitivity, target, printed, reached_by_printed, classical, corrected", made)
    rows = [
        (
            f"ε = {r['epsilon']:g}, ΔQ = {r['sensitivity']:g}",
            ceil_digits(r["printed"], 5),
            number(r["reached_by_printed"]),
            "not proven" if r["classical"] is None else ceil_digits(r["classical"], 5),
            ceil_digits(r["corrected"], 5),
        )
        for r in records
    ]
    return Numbers(records, rows=rows)


def section_5(coefficients: list[tuple[float, float, float]], epsilon: float, alpha: float) -> Numbers:
    e = laplace(epsilon=epsilon)
    records: list[Record] = []
    rows = []
    for rho in coefficients:
        known = _from_coefficients(rho)
        slip = (rho[0] > 0 and rho[1] == 0) or rho[2] > 0
        readings = {
            "odds": known.odds,
            "precision": float(e.precision(alpha, known.prior)),
            "printed": fscore_printed(epsilon, known.odds, slip=slip),
            "corrected": float(e.fbeta(prior=known.prior)),
        }
        records.append({"rho_p": rho[0], "rho_c": rho[1], "rho_t": rho[2], **readings})
        rows.append((f"ρ_p = {rho[0]:g}, ρ_c = {rho[1]:g}, ρ_t = {rho[2]:g}", *map(number, readings.values())))
    return Numbers(records, rows=rows)


def section_5_2(joint: list[list[float]]) -> Numbers:
    rho_p, rho_c = coefficients_of(joint)
    c = odds_printed(rho_p, rho_c)
    recall, alpha = 1 - 0.5 * math.exp(-1.0), 0.5
    known = Knowledge.from_records(joint)
    precision, right = 1 / (1 + c * alpha / recall), float(laplace(epsilon=1.0).precision(alpha, known.prior))
    names = "rho_p, rho_c, odds_printed, precision_printed, odds, precision, largest_rho_c"
    records = named_rows(names, [(rho_p, rho_c, c, precision, known.odds, right, (1 - rho_p) / (2 - rho_p))])
    rows = [("odds c", number(c), number(known.odds)), ("precision, ε = 1, α = 0.5", number(precision), number(right))]
    return Numbers(records, rows=rows)


def theorem_4(sizes: list[int]) -> Numbers:
    records: list[Record] = []
    for q in sizes:
        each, together = vector(epsilon=1.0, q=q, calibration="each"), vector(epsilon=1.0, q=q)
        laws = each.experiment, each.claimed, together.experiment, together.scalar
        records += named_rows("q, each, claimed, together, scalar", [(q, *(float(law.advantage()) for law in laws))])
    return Numbers(records)


def figure_1(limit: float) -> Numbers:
    steps = entries("liu2019")["figure_1"]["notes"]
    largest = choose(laplace, "epsilon", at_most=limit, reading="fbeta").value
    lines = [
        curve("best F1", _fbeta, np.linspace(0.02, 4, 100)),
        Series("tolerated", ((0.0, limit), (4.0, limit)), limit=True),
        Series("largest ε", ((largest, 0.6), (largest, limit)), quiet=True),
    ]
    records = [{"step": k, "what": step} for k, step in enumerate(steps, 1)]
    return Numbers(records, [lines], {"limit": limit, "largest": largest})


def figure_2(alphas: list[float]) -> Numbers:
    x, e = np.linspace(-5, 6, 221), laplace(epsilon=1.0)
    cut = float(e.threshold(0.1))
    lines = [
        curve("without the record", lambda v: math.exp(-abs(v)) / 2, x),
        curve("with the record", lambda v: math.exp(-abs(v - 1)) / 2, x),
        Series("θ", ((cut, 0.0), (cut, 0.5)), quiet=True),
    ]
    return Numbers(sweep("alpha", alphas, {"threshold": e.threshold, "recall": e.recall}), [lines], {"cut": cut})


def _precision_and_recall(experiments: Mapping[str, Experiment], prior: float = 0.5) -> Numbers:
    records: list[Record] = []
    lines = []
    for name, e in experiments.items():
        row = name, float(e.recall(0.1)), float(e.precision(0.1, prior)), float(e.fbeta(prior=prior))
        records += named_rows("setting, recall at α = 0.1, precision there, best F1", [row])
        precision = np.asarray(e.precision(recall=_RECALL, prior=prior))
        lines.append(Series(name, tuple(zip(_RECALL.tolist(), precision.tolist(), strict=True))))
    lines.append(Series("guessing", ((0.0, prior), (1.0, prior)), quiet=True))
    precisions = ", ".join(f"{r['precision there']:.3f} at {r['setting']}" for r in records)
    return Numbers(records, [lines], {"precisions": precisions, "prior": prior})


def laplace_precision_and_recall(epsilons: list[float], rho: Sequence[float] = (0.0, 0.0, 0.0)) -> Numbers:
    """Figures 3a and 5 to 7: with the coefficients of what is known."""
    return _precision_and_recall({f"ε = {e:g}": laplace(epsilon=e) for e in epsilons}, _from_coefficients(rho).prior)


def figure_3b(epsilons: list[float], betas: list[float]) -> Numbers:
    readings = {f"beta {b:g}": partial(_fbeta, beta=b) for b in betas}
    lines = [curve(f"β = {b:g}", partial(_fbeta, beta=b), np.geomspace(0.01, 10, 80)) for b in betas]
    at_one = "; ".join(f"β = {b:g}: {_fbeta(1, b):.3f} at ε = 1" for b in betas)
    return Numbers(sweep("epsilon", epsilons, readings), [lines], {"at_one": at_one})


def _classical(epsilon: float, delta: float) -> Experiment:
    """Gaussian noise with the classical σ, which is what the paper means."""
    return gaussian(sigma=math.sqrt(2 * math.log(1.25 / delta)) / epsilon)


def figure_4a(epsilons: list[float]) -> Numbers:
    numbers = _precision_and_recall({f"ε = {e:g}": _classical(e, 1e-5) for e in epsilons})
    sigmas = {"printed": sigma_printed(0.1, 1e-5, 1.0), "meant": math.sqrt(2 * math.log(1.25e5)) / 0.1}
    return replace(numbers, values={**numbers.values, **sigmas})


def figure_4b(deltas: list[str]) -> Numbers:
    return _precision_and_recall({f"δ = {d}": _classical(1.0, float(d)) for d in deltas})


def figure_8(epsilons: list[float], known: dict[str, list[float]]) -> Numbers:
    readings = {name: partial(_fbeta, prior=_from_coefficients(rho).prior) for name, rho in known.items()}
    lines = [curve(name, reading, np.geomspace(0.05, 8, 80)) for name, reading in readings.items()]
    at_two = ", ".join(f"{reading(2):.3f} knowing {name}" for name, reading in readings.items())
    return Numbers(sweep("epsilon", epsilons, readings), [lines], {"at_two": at_two})


def _promised_epsilon(conversion: Conversion | str) -> float:
    if isinstance(conversion, str):
        raise ValueError(conversion)
    return float(conversion.promised_epsilon)


def figure_9(neighbours: dict[str, str]) -> Numbers:
    """What ε-DP promises in the other notions, for independent records and for those that depend in pairs."""
    alone, pairs = promises("dp", 1.0, dependent=1), promises("dp", 1.0, dependent=2)
    records: list[Record] = []
    for key, differ in neighbours.items():
        one, two = (1.0, 1.0) if key == "dp" else (_promised_epsilon(alone[key]), _promised_epsilon(pairs[key]))
        records.append({"notion": NOTIONS[key].name, "may differ": differ, "independent": one, "in pairs": two})
    grid = np.linspace(0.05, 2, 40).tolist()
    promised = {e: promises("dp", e, dependent=2) for e in grid}
    groups = {"Pufferfish, DDP, IP, MP": "ddp", "Blowfish": "blowfish", "mutual information": "mi"}
    lines = [
        Series(name, tuple((e, _promised_epsilon(promised[e][key])) for e in grid), quiet=key == "mi")
        for name, key in groups.items()
    ]
    return Numbers(records, [lines], {"implications": len(IMPLICATIONS), "refuted": len(REFUTED)})


def definition_4(epsilons: list[float], factors: list[float]) -> Numbers:
    generator = np.random.default_rng(0)
    years = generator.integers(20, 80, 200)
    records: list[Record] = []
    for epsilon in epsilons:
        released = years[0] + generator.laplace(scale=1 / epsilon)
        near = np.exp(-epsilon * np.abs(released - years)).tolist()
        records.append({"epsilon per year": epsilon, **{f"gamma {g:g}": deniable(near, g) for g in factors}})
    return Numbers(records)


def local_differential_privacy(epsilons: list[float]) -> Numbers:
    laws: dict[str, Callable[..., Experiment]] = {
        "randomised response": randomized_response,
        "16 answers": partial(randomized_response, k=16),
        "unary encoding": unary,
        "bound": pure,
    }

    def success(law: Callable[..., Experiment]) -> Callable[[float], Any]:
        return lambda epsilon: law(epsilon=epsilon).success()

    return Numbers(sweep("epsilon", epsilons, {name: success(law) for name, law in laws.items()}))


def geo_indistinguishability(distances: list[float]) -> Numbers:
    def bound(distance: float) -> float:
        return float(pure(epsilon=distance).success())

    grid, planar = np.linspace(0.01, 10, 100), partial(planar_laplace, 1.0)
    lines = [
        curve("any such mechanism", bound, grid),
        curve("planar Laplace", planar, grid),
        Series("a coin", ((0.01, 0.5), (10.0, 0.5)), quiet=True),
    ]
    return Numbers(sweep("epsilon · distance", distances, {"planar Laplace": planar, "bound": bound}), [lines])
