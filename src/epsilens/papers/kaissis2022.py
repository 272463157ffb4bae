"""Paper 002: Kaissis, Knolle, Jungmann, Ziller, Usynin and Rueckert 2022: the Gaussian mechanism by one number, ψ."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import ndtr, ndtri

from ..checks import Array
from ..mechanisms.noise import gaussian
from ..mechanisms.training import clt, dpsgd
from ..numerics.roots import root
from ..show.charts.lines import Series
from .items import Numbers, Paper, Record, curve, named_rows, read_paper, sweep

_DELTA = 1e-5
_RATES = np.linspace(0, 1, 201)


def paper() -> Paper:
    """Everything recomputed of this paper."""
    return read_paper("002")


def loss_tail(psi: float, epsilon: float) -> float:
    """P(Ω ≥ ε) of the privacy-loss variable (8), Ω ~ N(ψ²/2, ψ²): an upper bound on δ(ε), not δ(ε).

    >>> round(loss_tail(1.0, 1.0), 10)
    0.3085375387
    """
    return float(ndtr(psi / 2 - epsilon / psi))


def binormal(rate: float, means: tuple[float, float], scales: tuple[float, float]) -> float:
    """Corollary 2: the ROC of thresholds between N(μ₀, σ₀²) and N(μ₁, σ₁²), Φ(a + b·Φ⁻¹(t)), a = (μ₁−μ₀)/σ₁, b = σ₀/σ₁.

    The paper's a has σ without an index; it must be that of the positive class.

    >>> round(binormal(0.1, (0.0, 1.2), (0.8, 1.5)), 7)
    0.5463742
    """
    a, b = (means[1] - means[0]) / scales[1], scales[0] / scales[1]
    return float(ndtr(a + b * ndtri(rate)))


def binormal_auc(means: tuple[float, float], scales: tuple[float, float]) -> float:
    """Corollary 3: the area under it, Φ(a/√(1+b²)).

    >>> round(binormal_auc((0.0, 1.2), (0.8, 1.5)), 10)
    0.7598693486
    """
    a, b = (means[1] - means[0]) / scales[1], scales[0] / scales[1]
    return float(ndtr(a / math.sqrt(1 + b * b)))


def epsilon_tail(psi: float, delta: float) -> float:
    """Lemma 1 read as a bound: P(loss ≥ ε) ≤ δ is enough for (ε, δ)-DP, not necessary."""
    return psi * psi / 2 - psi * float(ndtri(delta))


def epsilon_rdp(psi: float, delta: float, order: float | None = None) -> float:
    """(29): conversion from Rényi DP at an order α, αψ²/2 + log(1/δ)/(α−1); at the best, 1 + √(2·log(1/δ))/ψ.

    >>> round(epsilon_rdp(1.0, 1e-5), 6), round(epsilon_rdp(1.0, 1e-5, 6), 6)
    (5.298526, 5.302585)
    """
    if order is None:
        return psi * psi / 2 + psi * math.sqrt(-2 * math.log(delta))
    return order * psi * psi / 2 - math.log(delta) / (order - 1)


def epsilon_rdp_improved(psi: float, delta: float, order: float | None = None) -> float:
    """(30): the improved conversion, αψ²/2 + log(1−1/α) − log(δα)/(α−1); the best α solves (α−1)²ψ²/2 = −log(δα).

    >>> round(epsilon_rdp_improved(1.0, 1e-5), 6), round(epsilon_rdp_improved(1.0, 1e-5, 5), 6)
    (4.728387, 4.752728)
    """
    if order is not None:
        return max(order * psi * psi / 2 + math.log1p(-1 / order) - math.log(delta * order) / (order - 1), 0.0)

    def excess(a: Array) -> Array:
        return np.asarray((a - 1) ** 2 * psi * psi / 2 + np.log(delta * a))

    order = float(root(excess, np.asarray(1.0), np.asarray(1 / delta)))
    return max((order - 0.5) * psi * psi + math.log1p(-1 / order), 0.0)


def _bell(name: str, mean: float, scale: float, x: Array, *, quiet: bool = False) -> Series:
    y = np.exp(-0.5 * ((x - mean) / scale) ** 2) / (scale * math.sqrt(2 * math.pi))
    return Series(name, tuple(zip(x.tolist(), y.tolist(), strict=True)), quiet)


def _roc(name: str, psi: float, *, quiet: bool = False) -> Series:
    return Series(name, tuple(zip(_RATES.tolist(), gaussian(psi=psi).roc(_RATES).tolist(), strict=True)), quiet)


def figure_1(psis: list[float]) -> Numbers:
    x = np.linspace(-4, 8, 241)
    readings: dict[str, Callable[[float], float]] = {
        "mean of Ω": lambda psi: psi * psi / 2,
        "width of Ω": lambda psi: psi,
        "P(Ω ≥ 1)": lambda psi: loss_tail(psi, 1.0),
        "δ(1)": lambda psi: gaussian(psi=psi).delta(1.0),
    }
    bells = [_bell("M(f(D))", 0, 1, x), _bell("M(f(D′))", 2, 1, x), _bell("privacy loss Ω", 2, 2, x, quiet=True)]
    return Numbers(sweep("psi", psis, readings), [bells])


def figure_2(cuts: list[float], cut: float) -> Numbers:
    x = np.linspace(-4, 5, 181)
    readings: dict[str, Callable[[float], float]] = {
        "TPR": lambda c: ndtr(1.0 - c),
        "FPR": lambda c: ndtr(-c),
        "ROC at that FPR": lambda c: gaussian(psi=1.0).roc(float(ndtr(-c))),
    }
    bells = [_bell("without the person", 0, 1, x), _bell("with the person", 1.0, 1, x)]
    return Numbers(
        sweep("c", cuts, readings),
        [[*bells, Series("cut-off c", ((cut, 0.0), (cut, 0.45)), quiet=True)]],
        {"tpr": float(ndtr(1.0 - cut)), "fpr": float(ndtr(-cut))},
    )


def figure_3(psis: list[float], drawn: list[float]) -> Numbers:
    readings: dict[str, Callable[[float], float]] = {
        "AUC": lambda psi: gaussian(psi=psi).auc(),
        "ψ from AUC": lambda psi: round(math.sqrt(2) * float(ndtri(gaussian(psi=psi).auc())), 9),
        "R(0.05)": lambda psi: gaussian(psi=psi).roc(0.05),
        "advantage": lambda psi: gaussian(psi=psi).advantage(),
    }
    unequal = (0, 1.2), (0.8, 1.5)
    return Numbers(
        sweep("psi", psis, readings),
        [[*(_roc(f"ψ = {p:g}", p) for p in drawn), Series("guessing", ((0.0, 0.0), (1.0, 1.0)), quiet=True)]],
        {
            "areas": ", ".join(f"{float(gaussian(psi=p).auc()):.3f}" for p in drawn),
            "binormal": binormal(0.1, *unequal),
            "area": binormal_auc(*unequal),
        },
    )


def figure_4(settings: list[tuple[float, float]]) -> Numbers:
    delta = float(gaussian(psi=1.0).delta(1.0))
    mirrored = 1 - math.exp(-1.0) * (1 - delta)
    tangents = (
        Series("slope e^ε, ε = 1", ((0.0, delta), ((1 - delta) / math.e, 1.0))),
        Series("slope e^−ε", ((0.0, mirrored), (1.0, 1.0)), quiet=True),
    )
    rows = []
    for psi, epsilon in settings:
        touch = float(ndtr(-psi / 2 - epsilon / psi))
        height = float(ndtr(psi / 2 - epsilon / psi))
        intercept, delta_there = height - math.exp(epsilon) * touch, float(gaussian(psi=psi).delta(epsilon))
        rows.append((psi, epsilon, touch, height, intercept, delta_there))
    records = named_rows("psi, epsilon, touches at, height there, intercept, δ(ε)", rows)
    return Numbers(records, [[_roc("R(x), ψ = 1", 1.0), *tangents]], {"mirrored": mirrored, "delta": delta})


def figure_5(kappa: float) -> Numbers:
    promised = _roc("as promised, ψ = 1", 1.0, quiet=True)
    failed = ((0.0, 0.0), (0.0, kappa), *((x, max(kappa, y)) for x, y in promised.points))
    return Numbers(charts=[[Series("failed", failed), promised]])


def lemma_4(settings: list[tuple[float, float]]) -> Numbers:
    """What (21) calls δ beside what δ is."""
    rows = [(p, e, float(ndtr(p / 2 - e / p)), float(gaussian(psi=p).delta(e))) for p, e in settings]
    return Numbers(named_rows("psi, epsilon, printed, corrected", rows))


def _exact(psi: float) -> float:
    return float(gaussian(psi=psi).epsilon(_DELTA))


def corollaries_11_to_13(psis: list[float]) -> Numbers:
    bounds = {"tail": epsilon_tail, "rdp": epsilon_rdp, "rdp_improved": epsilon_rdp_improved}
    readings: dict[str, Callable[[float], float]] = {"exact": _exact}
    readings |= {name: partial(bound, delta=_DELTA) for name, bound in bounds.items()}
    return Numbers(sweep("psi", psis, readings))


def figure_6(psis: list[float], panels: list[tuple[float, float, int]]) -> Numbers:
    """ε against ψ at δ = 1e-5, the Rényi conversions at the paper's orders 2 and 6 and at the best order."""
    orders = [order for *_, order in panels]
    readings: dict[str, Callable[[float], float]] = {"exact": _exact}
    for name, conversion in (("rdp", epsilon_rdp), ("improved rdp", epsilon_rdp_improved)):
        readings |= {f"{name} at order {a}": partial(conversion, delta=_DELTA, order=a) for a in orders}
    charts = []
    for low, high, order in panels:
        psi = np.linspace(low, high, 120)
        charts.append(
            [
                curve("exact (31)", _exact, psi),
                curve(f"RDP, α = {order}", readings[f"rdp at order {order}"], psi),
                curve(f"improved RDP, α = {order}", readings[f"improved rdp at order {order}"], psi),
                curve("improved RDP, best α", partial(epsilon_rdp_improved, delta=_DELTA), psi, quiet=True),
            ]
        )
    return Numbers(sweep("psi", psis, readings), charts)


def corollary_9(settings: list[tuple[float, float, int]]) -> Numbers:
    """ε at δ = 1e-5 of eight trainings, and of one training as it goes on."""
    records: list[Record] = []
    for rate, sigma, steps in settings:
        fixed = clt(sigma=sigma, rate=rate, steps=steps, delta=_DELTA, variant="fixed")
        poisson = clt(sigma=sigma, rate=rate, steps=steps, delta=_DELTA)
        exact, (low, high) = fixed.epsilons["exact"], fixed.bracket
        row = rate, sigma, steps, fixed.psi, exact, poisson.epsilons["exact"], low, high, exact >= high
        names = "rate, sigma, steps, psi, epsilon_28, epsilon_poisson_clt, low, high, 28 is safe"
        records += named_rows(names, [row])

    def limit(steps: float, variant: str) -> float:
        return clt(sigma=1.0, rate=0.01, steps=int(steps), delta=_DELTA, variant=variant).epsilons["exact"]

    def proven(steps: float) -> float:
        return float(dpsgd(sigma=1.0, rate=0.01, steps=int(steps)).epsilon(_DELTA))

    grid = np.unique(np.round(np.geomspace(10, 10_000, 16)).astype(int))
    lines = [
        curve("proven", proven, grid),
        curve("(28), an approximation", partial(limit, variant="fixed"), grid),
        curve("Poisson limit", partial(limit, variant="poisson"), grid, quiet=True),
    ]
    ends = {name: [line.points[k][1] for k in (0, -1)] for name, line in zip(("proven", "limit"), lines, strict=False)}
    return Numbers(records, [lines], {"worst": min(records, key=lambda r: r["epsilon_28"] / r["high"]), **ends})
