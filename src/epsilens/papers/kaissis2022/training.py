"""Corollary 9: DP-SGD by the central limit theorem, beside the proven bracket."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...mechanisms.limits import clt
from ...mechanisms.training import dpsgd
from ...show.charts.lines import Axis, Series, lines
from ...show.words import number
from ..item import Agreement, Item

_DELTA = 1e-5
_SETTINGS = (
    (0.01, 1.0, 10), (0.01, 1.0, 100), (0.01, 1.0, 1000), (0.01, 1.0, 10_000), (0.01, 0.8, 1000), (0.01, 0.5, 100),
    (0.001, 0.5, 1000), (256 / 60_000, 1.1, 14_062),
)  # fmt: skip


def item() -> Item:
    """ε at δ = 1e-5 of eight trainings, and of one training as it goes on."""
    records: list[dict[str, Any]] = []
    for rate, sigma, steps in _SETTINGS:
        fixed = clt(sigma=sigma, rate=rate, steps=steps, delta=_DELTA, variant="fixed")
        poisson = clt(sigma=sigma, rate=rate, steps=steps, delta=_DELTA)
        records.append(
            {
                "rate": rate, "sigma": sigma, "steps": steps, "psi": fixed.psi, "epsilon_28": fixed.epsilons["exact"],
                "epsilon_poisson_clt": poisson.epsilons["exact"], "low": fixed.bracket[0], "high": fixed.bracket[1],
                "28 is safe": fixed.epsilons["exact"] >= fixed.bracket[1],
            }
        )  # fmt: skip
    cells = tuple(
        (
            f"{r['rate']:.4g}", f"{r['sigma']:g}", f"{r['steps']:,}", number(r["epsilon_28"]),
            number(r["epsilon_poisson_clt"]), number(r["high"]), "above" if r["28 is safe"] else "below",
        )
        for r in records
    )  # fmt: skip
    notes = (
        "δ = 0.00001, Poisson sampling, people added or removed. (28) approximates a bound of its own, for samples of "
        "a fixed size; the proven ε is of Poisson sampling, as the paper's readers train.",
        "Both approximations are labelled as such by el.mechanisms.clt and are never used where a bound is promised.",
    )
    worst = min(records, key=lambda r: r["epsilon_28"] / r["high"])
    return Item(
        "Corollary 9: DP-SGD by the central limit theorem",
        ("rate", "σ", "steps", "ε by (28)", "ε by Poisson", "ε proven", "(28) is"),
        cells,
        notes,
        tuple(records),
        "A training of T steps is ψ-GDP with ψ = r√(2T)·√(e^{1/σ²}Φ(1.5/σ) + 3Φ(−0.5/σ) − 2).",
        "The formula is right in the limit T → ∞; for finite T it is an approximation, above or below the truth.",
        Agreement.DIFFERS,
        f"At rate {worst['rate']:g}, σ = {worst['sigma']:g} and {worst['steps']} steps it says ε = "
        f"{worst['epsilon_28']:.3f} where {worst['low']:.3f} is proven to be needed.",
        (_chart(),),
    )


def _chart() -> Any:
    steps = np.unique(np.round(np.geomspace(10, 10_000, 16)).astype(int)).tolist()
    runs = [(k, clt(sigma=1.0, rate=0.01, steps=k, delta=_DELTA, variant="fixed")) for k in steps]
    poisson = [(k, clt(sigma=1.0, rate=0.01, steps=k, delta=_DELTA)) for k in steps]
    proven = [(k, float(dpsgd(sigma=1.0, rate=0.01, steps=k).epsilon(_DELTA))) for k in steps]
    drawn = (
        Series("proven", tuple((float(k), e) for k, e in proven)),
        Series("(28), an approximation", tuple((float(k), c.epsilons["exact"]) for k, c in runs)),
        Series("Poisson limit", tuple((float(k), c.epsilons["exact"]) for k, c in poisson), quiet=True),
    )
    return lines(
        "corollary 9",
        "ε of DP-SGD as it trains: σ = 1, rate 0.01",
        "ε at δ = 0.00001",
        drawn,
        Axis(10, 10_000, "steps (logarithmic)", log=True),
        Axis(0.05, 10, log=True),
        f"After 10 steps (28) says {runs[0][1].epsilons['exact']:.3f} where {proven[0][1]:.3f} is proven; after 10,000 "
        f"steps {runs[-1][1].epsilons['exact']:.3f} where {proven[-1][1]:.3f} is.",
    )
