"""The mechanism's outputs and its ROC curve: Figures 1 to 5, the privacy-loss variable, Corollaries 1 to 3."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from ...mechanisms.noise import gaussian
from ...show.charts.lines import Axis, Series, lines
from ...show.words import number
from ..item import Agreement, Item

_PSI = 1.0


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


def _bell(mean: float, scale: float, x: Any) -> tuple[tuple[float, float], ...]:
    y = np.exp(-0.5 * ((x - mean) / scale) ** 2) / (scale * math.sqrt(2 * math.pi))
    return tuple(zip(x.tolist(), y.tolist(), strict=True))


def _figure1() -> Item:
    x = np.linspace(-4, 8, 241)
    drawn = (
        Series("M(f(D))", _bell(0, 1, x)),
        Series("M(f(D′))", _bell(2, 1, x)),
        Series("privacy loss Ω", _bell(2, 2, x), quiet=True),
    )
    chart = lines(
        "figure 1",
        "Gaussian outputs and the privacy loss",
        "density, at ψ = 2",
        drawn,
        Axis(-4, 8, "output in units of σ, or loss"),
        Axis(0, 0.45),
        "Two bell curves of width 1 at 0 and 2, and the privacy loss, a bell curve around 2 of width 2.",
        inside=True,
    )
    records = [
        {"psi": p, "mean of Ω": p * p / 2, "width of Ω": p, "P(Ω ≥ 1)": loss_tail(p, 1.0),
         "δ(1)": float(gaussian(psi=p).delta(1.0))} for p in (0.5, 1.0, 2.0, 3.0)
    ]  # fmt: skip
    cells = tuple((f"{r['psi']:g}", *(number(float(v)) for k, v in r.items() if k != "psi")) for r in records)
    notes = (
        "(8) and (10): Ω ~ N(ψ²/2, ψ²) under D. (9) reads P(Ω ≥ ε) ≤ δ as necessary; it is sufficient. Exactly, "
        "δ(ε) = E[(1 − e^{ε−Ω})₊], which the last column holds.",
    )
    return Item(
        "Figure 1: outputs and the privacy-loss variable",
        ("ψ", "mean of Ω", "width of Ω", "P(Ω ≥ 1)", "δ(1)"),
        cells,
        notes,
        tuple(records),
        "The loss of the Gaussian mechanism is itself normal.",
        "The same law; its tail is an upper bound on δ, not δ.",
        Agreement.PARTLY,
        "At ψ = 1 the tail at ε = 1 is 0.3085, δ(1) is 0.1269.",
        (chart,),
    )


def _figure2() -> Item:
    cut, x = 1.2, np.linspace(-4, 5, 181)
    drawn = (
        Series("without the person", _bell(0, 1, x)),
        Series("with the person", _bell(_PSI, 1, x)),
        Series("cut-off c", ((cut, 0.0), (cut, 0.45)), quiet=True),
    )
    found, false = float(ndtr(_PSI - cut)), float(ndtr(-cut))
    chart = lines(
        "figure 2",
        "A cut-off decides who is called present",
        "density, at ψ = 1",
        drawn,
        Axis(-4, 5, "output in units of σ"),
        Axis(0, 0.45),
        f"Right of the cut-off 1.2 lie {found:.3f} of the outputs with the person and {false:.3f} of those without.",
        inside=True,
    )
    records = [
        {"c": c, "TPR": float(ndtr(_PSI - c)), "FPR": float(ndtr(-c)), "ROC at that FPR": float(
            gaussian(psi=_PSI).roc(float(ndtr(-c))))} for c in (-1.0, 0.0, 0.5, 1.2, 2.0)
    ]  # fmt: skip
    cells = tuple((f"{r['c']:g}", *(number(float(v)) for k, v in r.items() if k != "c")) for r in records)
    notes = (
        "Corollary 1: TPR(c) = 1 − Φ((c − f(D′))/σ), FPR(c) = 1 − Φ((c − f(D))/σ). The right-hand sides are right; the "
        "integrands before them are exchanged and the limits of the FPR must be c and ∞. With f(D) = 0, f(D′) = 1.3, "
        "σ = 0.7, c = 0.4: TPR 0.9007, FPR 0.2839; the printed integrals give 0.2839 and 0.0993.",
    )
    return Item(
        "Figure 2: the adversary's cut-off (Corollary 1)",
        ("c", "TPR", "FPR", "ROC at that FPR"),
        cells,
        notes,
        tuple(records),
        "True and false positives as areas right of a cut-off.",
        "The same rates, each on the ROC curve.",
        Agreement.PARTLY,
        "The integrals of Corollary 1 are exchanged.",
        (chart,),
    )


def _figure3() -> Item:
    t = np.linspace(0, 1, 201)
    psis = (0.5, 1.0, 2.0, 3.0)
    drawn = [Series(f"ψ = {p:g}", tuple(zip(t.tolist(), gaussian(psi=p).roc(t).tolist(), strict=True))) for p in psis]
    drawn.append(Series("guessing", ((0.0, 0.0), (1.0, 1.0)), quiet=True))
    chart = lines(
        "figure 3",
        "ROC curves of the Gaussian mechanism",
        "true positives",
        drawn,
        Axis(0, 1, "false positives"),
        Axis(0, 1),
        "ROC curves for ψ of 0.5, 1, 2 and 3: areas under them "
        + ", ".join(f"{float(gaussian(psi=p).auc()):.3f}" for p in psis)
        + ".",
        inside=True,
        height=420,
        width=480,
    )
    records: list[dict[str, Any]] = [
        {
            "psi": p,
            "AUC": float(gaussian(psi=p).auc()),
            "ψ from AUC": round(math.sqrt(2) * float(ndtri(gaussian(psi=p).auc())), 9),
            "R(0.05)": float(gaussian(psi=p).roc(0.05)),
            "advantage": float(gaussian(psi=p).advantage()),
        }
        for p in (0.1, 0.5, 1.0, 2.0, 3.0, 6.0)
    ]
    cells = tuple((f"{r['psi']:g}", *(number(float(v)) for k, v in r.items() if k != "psi")) for r in records)
    notes = (
        "Lemmas 2 and 3: R(x) = Φ(ψ + Φ⁻¹(x)), AUC = Φ(ψ/√2), ψ = √2·Φ⁻¹(AUC).",
        "Corollaries 2 and 3, unequal widths: N(0, 0.8²) against N(1.2, 1.5²) has R(0.1) = "
        f"{binormal(0.1, (0, 1.2), (0.8, 1.5)):.4f} and AUC = {binormal_auc((0, 1.2), (0.8, 1.5)):.4f}; with the other "
        "class's σ in a it would be 0.7929. With unequal widths this is the curve of thresholds, not of the best test.",
    )
    return Item(
        "Figure 3: the ROC curve and the area under it",
        ("ψ", "AUC", "ψ from AUC", "R(0.05)", "advantage"),
        cells,
        notes,
        tuple(records),
        "One ROC curve for each ψ, and its area determines ψ.",
        "The same curves and areas.",
        charts=(chart,),
    )


def _figure4() -> Item:
    t, epsilon, e = np.linspace(0, 1, 201), 1.0, gaussian(psi=_PSI)
    delta = float(e.delta(epsilon))
    touch = float(ndtr(-_PSI / 2 - epsilon / _PSI)), float(ndtr(_PSI / 2 - epsilon / _PSI))
    mirrored = 1 - math.exp(-epsilon) * (1 - delta)
    ends = (1 - delta) / math.e
    drawn = (
        Series("R(x), ψ = 1", tuple(zip(t.tolist(), e.roc(t).tolist(), strict=True))),
        Series("slope e^ε, ε = 1", ((0.0, delta), (ends, 1.0))),
        Series("slope e^−ε", ((0.0, mirrored), (1.0, 1.0)), quiet=True),
    )
    chart = lines(
        "figure 4",
        "The line of slope e^ε that touches the ROC curve",
        "true positives",
        drawn,
        Axis(0, 1, "false positives"),
        Axis(0, 1),
        f"The line touches the curve at ({touch[0]:.4f}, {touch[1]:.4f}) and meets the axis at δ = {delta:.4f}; its "
        f"mirror image meets it at {mirrored:.4f}.",
        inside=True,
        height=420,
        width=480,
    )
    records = []
    for psi, eps in ((1.0, 1.0), (2.0, 1.0), (1.0, 2.0)):
        x = float(ndtr(-psi / 2 - eps / psi))
        top = float(ndtr(psi / 2 - eps / psi))
        records.append(
            {"psi": psi, "epsilon": eps, "touches at": x, "height there": top, "intercept": top - math.exp(eps) * x,
             "δ(ε)": float(gaussian(psi=psi).delta(eps))}
        )  # fmt: skip
    cells = tuple((f"{r['psi']:g}", f"{r['epsilon']:g}", *(number(v) for v in list(r.values())[2:])) for r in records)
    return Item(
        "Figure 4: the tangent and its intercept",
        ("ψ", "ε", "touches at", "height there", "intercept", "δ(ε)"),
        cells,
        (
            "Corollary 4 needs its second half as well: 1 − FPR ≤ e^ε(1 − TPR) + δ, the line of slope e^−ε, whose "
            "intercept is 1 − e^−ε(1 − δ).",
        ),
        tuple(records),
        "δ is where the tangent of slope e^ε meets the axis.",
        "The same picture; (21) then writes down the height of the point of contact instead of the intercept.",
        Agreement.PARTLY,
        f"At ψ = ε = 1 the point of contact is {touch[1]:.4f} high, the intercept {delta:.4f}.",
        (chart,),
    )


def _figure5() -> Item:
    t, kappa, e = np.linspace(0, 1, 201), 0.3, gaussian(psi=_PSI)
    failed = [(0.0, 0.0), (0.0, kappa), *((x, max(kappa, y)) for x, y in zip(t.tolist(), e.roc(t), strict=True))]
    drawn = (
        Series("failed", tuple((float(x), float(y)) for x, y in failed)),
        Series("as promised, ψ = 1", tuple(zip(t.tolist(), e.roc(t).tolist(), strict=True)), quiet=True),
    )
    chart = lines(
        "figure 5",
        "A mechanism that has failed",
        "true positives",
        drawn,
        Axis(0, 1, "false positives"),
        Axis(0, 1),
        "The curve of the failed mechanism starts at κ = 0.3 instead of 0: some people are found without false alarms.",
        inside=True,
        height=420,
        width=480,
    )
    return Item(
        "Figure 5: a failed mechanism",
        (),
        (),
        (
            "The paper's curve is fictitious, and δ is not the chance of such an event: the Gaussian mechanism has a "
            "δ > 0 at every ε and never fails in this way. κ is not given; 0.3 is chosen here.",
        ),
        (),
        "A ROC curve that meets the axis at κ > 0.",
        "The same drawing.",
        Agreement.DRAWING,
        charts=(chart,),
    )


def items() -> tuple[Item, ...]:
    """Figures 1 to 5."""
    return _figure1(), _figure2(), _figure3(), _figure4(), _figure5()
