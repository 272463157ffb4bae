"""Paper 000: Liu, He, Chanyaswad, Wang and Mittal, PoPETs 2019: Table 1, and the printed formulas that are unsafe."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..build.composition import vector
from ..build.knowledge.knowledge import Knowledge
from ..build.mechanisms import gaussian, laplace
from ..choice.choice import choose
from ..errors import NoSolutionError
from ..show.words import number, rounded_up, small
from .item import Item, Paper

__all__ = [
    "BETAS", "LIMITS", "PRINTED", "coefficients_of", "fscore_printed", "lambda_corrected", "lambda_printed",
    "odds_printed", "paper", "sigma_printed", "table1",
]  # fmt: skip

LIMITS = (0.55, 0.58, 0.62, 0.67, 0.76, 0.83, 0.9, 0.95)
BETAS = (0.5, 0.6, 0.8, 1.0, 1.5, 2.0)
#: Table 1 as printed; None is the paper's dash.
PRINTED: tuple[tuple[float | None, ...], ...] = (
    (0.22, 0.34, 0.55, 0.82, 1.42, 2.04, 3.0, 4.29),
    (None, 0.33, 0.54, 0.83, 1.45, 2.11, 3.11, 4.43),
    (None, None, 0.49, 0.8, 1.46, 2.16, 3.21, 4.58),
    (None, None, None, 0.71, 1.4, 2.12, 3.2, 4.6),
    (None, None, None, None, 1.17, 1.88, 2.99, 4.41),
    (None, None, None, None, None, 1.61, 2.69, 4.12),
)


def _cell(beta: float, limit: float, printed: float | None) -> dict[str, Any]:
    """One cell: the printed ε, the Fβ it really reaches, the corrected ε or the floor that makes it impossible."""
    record: dict[str, Any] = {"beta": beta, "limit": limit, "printed": printed, "corrected": None, "floor": None}
    try:
        choice = choose(laplace, "epsilon", at_most=limit, reading="fbeta", beta=beta)
        record["corrected"] = choice.value
    except NoSolutionError as error:
        record["floor"] = error.floor
    reached = None if printed is None else float(laplace(epsilon=printed).fbeta(beta))
    return record | {"reached_by_printed": reached, "printed_breaks_limit": reached is not None and reached > limit}


def _down(value: float) -> str:
    """Four decimals, rounded down."""
    return f"{math.floor(value * 1e4) / 1e4:.4f}"


def table1() -> Item:
    """The largest ε that keeps the best Fβ under a bound."""
    records, rows = [], []
    for beta, line in zip(BETAS, PRINTED, strict=True):
        cells = [_cell(beta, limit, printed) for limit, printed in zip(LIMITS, line, strict=True)]
        records += cells
        shown = ("—" if c["printed"] is None else f"{c['printed']:g}{'*' * c['printed_breaks_limit']}" for c in cells)
        rows.append((f"β = {beta:g} printed", *shown))
        rows.append(("  corrected", *("none" if c["corrected"] is None else _down(c["corrected"]) for c in cells)))
    notes = (
        "* the printed ε breaks the bound at the head of its column: it is rounded up, or no ε satisfies the bound.",
        "none: even pure noise exceeds the bound. Where the paper prints a value there, it is the turning point "
        "log(1+β²), at which Fβ is already above the bound.",
        "Corrected values are rounded down.",
    )
    columns = ("Fβ at most", *(f"{limit:g}" for limit in LIMITS))
    return Item("Table 1: the largest ε under a bound on Fβ", columns, tuple(rows), notes, tuple(records))


def lambda_printed(epsilon: float, alpha: float) -> float:
    """§4.1.5 as printed, right only between e^{−ε}/2 and ½."""
    tail = alpha if alpha <= 0.5 else 1 - alpha
    return math.exp(-epsilon) / (4 * tail * tail)


def lambda_corrected(epsilon: float, alpha: float) -> float:
    """The test's threshold on the likelihood ratio at false-positive rate α: the slope of the ROC curve there."""
    if alpha >= 0.5:
        return math.exp(-epsilon)
    return min(math.exp(-epsilon) / (4 * alpha * alpha), math.exp(epsilon))


def _lambda_table() -> Item:
    records = [
        {"epsilon": 1.0, "alpha": a, "printed": lambda_printed(1.0, a), "corrected": lambda_corrected(1.0, a)}
        for a in (0.01, 0.1, 0.3, 0.5, 0.7, 0.9)
    ]
    rows = tuple((f"{r['alpha']:g}", number(r["printed"]), number(r["corrected"])) for r in records)
    notes = (
        "The likelihood ratio of Laplace noise lies between 1/e^ε and e^ε, so no threshold outside separates "
        "anything; the printed formula holds only for α between 1/(2e^ε) and 1/2.",
    )
    return Item("§4.1.5: threshold λ(α) of the test, ε = 1", ("α", "printed", "corrected"), rows, notes, tuple(records))


def sigma_printed(epsilon: float, delta: float, sensitivity: float) -> float:
    """The paper's σ: it takes σ² = 2·log(1.25/δ)·ΔQ/ε for the classical σ = √(2·log(1.25/δ))·ΔQ/ε."""
    return math.sqrt(2 * math.log(1.25 / delta) * sensitivity / epsilon)


def _sigma_table() -> Item:
    target = 1e-5
    records = []
    for epsilon, sensitivity in ((0.1, 1.0), (0.5, 1.0), (1.0, 10.0)):
        sigma = sigma_printed(epsilon, target, sensitivity)
        best = gaussian(epsilon=epsilon, delta=target, sensitivity=sensitivity)
        records.append(
            {
                "epsilon": epsilon,
                "sensitivity": sensitivity,
                "target": target,
                "printed": sigma,
                "reached_by_printed": float(gaussian(sigma=sigma, sensitivity=sensitivity).delta(epsilon)),
                "classical": sensitivity * math.sqrt(2 * math.log(1.25 / target)) / epsilon if epsilon < 1 else None,
                "corrected": best.parameters["sigma"],
            }
        )
    rows = tuple(
        (
            f"ε = {r['epsilon']:g}, ΔQ = {r['sensitivity']:g}",
            rounded_up(r["printed"], 5),
            number(r["reached_by_printed"]),
            "not proven" if r["classical"] is None else rounded_up(r["classical"], 5),
            rounded_up(r["corrected"], 5),
        )
        for r in records
    )
    notes = (
        f"The printed σ is meant to give δ = {small(target)}; the column beside it is the δ it really gives.",
        "Classical is the formula the paper meant, proven for ε < 1; smallest is the analytic calibration, rounded up.",
    )
    columns = ("setting", "σ printed", "δ it gives", "classical", "smallest")
    return Item("Gaussian noise: σ for δ = 0.00001", columns, rows, notes, tuple(records))


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


def _knowledge_table() -> Item:
    epsilon, alpha = 2.0, 0.1
    e = laplace(epsilon=epsilon)
    records = []
    for rho in ((0.0, 0.0, 0.0), (0.2, 0.0, 0.0), (0.2, 0.1, 0.0), (0.2, 0.1, 0.1)):
        known = Knowledge.from_coefficients(rho_p=rho[0], rho_c=rho[1], rho_t=rho[2])
        slip = (rho[0] > 0 and rho[1] == 0) or rho[2] > 0
        records.append(
            {
                "rho_p": rho[0],
                "rho_c": rho[1],
                "rho_t": rho[2],
                "odds": known.odds,
                "precision": float(e.precision(alpha, known.prior)),
                "printed": fscore_printed(epsilon, known.odds, slip=slip),
                "corrected": float(e.fbeta(prior=known.prior)),
            }
        )
    rows = tuple(
        (
            f"ρ_p = {r['rho_p']:g}, ρ_c = {r['rho_c']:g}, ρ_t = {r['rho_t']:g}",
            number(r["odds"]),
            number(r["precision"]),
            number(r["printed"]),
            number(r["corrected"]),
        )
        for r in records
    )
    notes = (
        "Odds are of the less likely value against the more likely one; if the positive value is the less likely one "
        "they are the other way round, and precision falls.",
        "Eqs 18 and 24 are printed with ε under the root instead of e^ε; Eq. 21 is right.",
    )
    columns = ("what is known", "odds c", "precision", "F₁ printed", "corrected")
    title = f"§5: what the adversary knows, ε = {epsilon:g}; precision at α = {alpha:g}"
    return Item(title, columns, rows, notes, tuple(records))


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


def _domain_table() -> Item:
    joint = ((0.1, 0.7), (0.15, 0.05))
    rho_p, rho_c = coefficients_of(joint)
    c = odds_printed(rho_p, rho_c)
    recall, alpha = 1 - 0.5 * math.exp(-1.0), 0.5
    known = Knowledge.from_records(joint)
    record = {
        "rho_p": rho_p,
        "rho_c": rho_c,
        "odds_printed": c,
        "precision_printed": 1 / (1 + c * alpha / recall),
        "odds": known.odds,
        "precision": float(laplace(epsilon=1.0).precision(alpha, known.prior)),
        "largest_rho_c": (1 - rho_p) / (2 - rho_p),
    }
    rows = (
        ("odds c", number(c), number(known.odds)),
        ("precision, ε = 1, α = 0.5", number(record["precision_printed"]), number(record["precision"])),
    )
    notes = (
        f"A record with P(A) = 0.8 and a neighbour with P = 0.25, P(A|1) = 0.4, P(A|0) = 0.9333: ρ_p = {rho_p:.4g}, "
        f"ρ_c = {rho_c:.4g}, both allowed by the paper, give negative odds and a precision above 1.",
        f"With this ρ_p the formula needs ρ_c below {record['largest_rho_c']:.4g}; the table itself gives the truth.",
    )
    columns = ("what the neighbour tells", "printed", "corrected")
    return Item("§5.2: coefficients outside their domain", columns, rows, notes, (record,))


def _vector_table() -> Item:
    records = []
    for q in (2, 3, 10):
        each, together = vector(epsilon=1.0, q=q, calibration="each"), vector(epsilon=1.0, q=q)
        records.append(
            {
                "q": q,
                "each": float(each.experiment.advantage()),
                "claimed": float(each.claimed.advantage()),
                "together": float(together.experiment.advantage()),
                "scalar": float(together.scalar.advantage()),
            }
        )
    rows = tuple((str(r["q"]), *(number(r[k]) for k in ("each", "claimed", "together", "scalar"))) for r in records)
    notes = (
        "Advantage of the best test. With ε for each coordinate the theorem's scalar qε is an upper bound, not equal.",
        "Noise calibrated to the L1 sensitivity of the vector is ε-DP as a whole: spread over the coordinates a person "
        "is harder to find than in one.",
    )
    columns = ("coordinates", "ε each", "claimed: scalar qε", "ε in all", "scalar ε")
    return Item("Theorem 4: vector answers, ε = 1", columns, rows, notes, tuple(records))


def paper() -> Paper:
    """Everything recomputed of this paper."""
    citation = (
        "Liu, He, Chanyaswad, Wang, Mittal. Investigating Statistical Privacy Frameworks from the Perspective of "
        "Hypothesis Testing. PoPETs 2019."
    )
    tables = (table1(), _lambda_table(), _sigma_table(), _knowledge_table(), _domain_table(), _vector_table())
    return Paper("000", citation, tables)
