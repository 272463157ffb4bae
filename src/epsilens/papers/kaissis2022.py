"""Paper 002: Kaissis, Knolle, Jungmann, Ziller, Usynin and Rueckert 2022: ε of the Gaussian mechanism by ψ."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from ..build.mechanisms import gaussian
from ..checks import Array
from ..numerics.roots import root
from ..show.words import number, small
from . import Paper, Table

__all__ = ["epsilon_rdp", "epsilon_rdp_improved", "epsilon_table", "epsilon_tail", "paper"]

PSIS = (0.1, 0.5, 1.0, 2.0, 3.0, 6.0)
DELTA = 1e-5


def epsilon_tail(psi: float, delta: float) -> float:
    """Lemma 1 read as a bound: P(loss ≥ ε) ≤ δ is enough for (ε, δ)-DP, not necessary."""
    return psi * psi / 2 - psi * float(ndtri(delta))


def epsilon_rdp(psi: float, delta: float) -> float:
    """(29): conversion from Rényi DP at the best order, 1 + √(2·log(1/δ))/ψ."""
    return psi * psi / 2 + psi * math.sqrt(-2 * math.log(delta))


def epsilon_rdp_improved(psi: float, delta: float) -> float:
    """(30): the improved conversion; its best order is the root of (a−1)²ψ²/2 = −log(δa)."""

    def excess(a: Array) -> Array:
        return np.asarray((a - 1) ** 2 * psi * psi / 2 + np.log(delta * a))

    order = float(root(excess, np.asarray(1.0), np.asarray(1 / delta)))
    return max((order - 0.5) * psi * psi + math.log1p(-1 / order), 0.0)


def epsilon_table() -> Table:
    """ε at δ = 1e-5: the exact value and the bounds the paper compares."""
    records: list[dict[str, Any]] = [
        {
            "psi": psi,
            "exact": float(gaussian(psi=psi).epsilon(DELTA)),
            "tail": epsilon_tail(psi, DELTA),
            "rdp": epsilon_rdp(psi, DELTA),
            "rdp_improved": epsilon_rdp_improved(psi, DELTA),
        }
        for psi in PSIS
    ]
    keys = ("exact", "tail", "rdp", "rdp_improved")
    rows = tuple((f"{r['psi']:g}", *(number(r[key]) for key in keys)) for r in records)
    notes = (
        "Exact: the root of δ(ε) = δ. As printed, (31) asks for the argmin of δ(ε) − δ, which is ε = ∞.",
        "Tail: ψ²/2 + ψΦ⁻¹(1−δ), an upper bound on ε. Lemma 1 calls it necessary; it is only sufficient.",
        "(29) and (30) are taken at the best real order. The error the paper sees as ψ → 0 comes from its cap on the "
        "order at 64, not from a δ in a denominator.",
    )
    columns = ("ψ", "exact (31)", "tail (Lemma 1)", "RDP (29)", "RDP (30)")
    return Table(f"ε at δ = {small(DELTA)}", columns, rows, notes, tuple(records))


def _delta_table() -> Table:
    """What (21) calls δ beside what δ is."""
    records = [
        {
            "psi": psi,
            "epsilon": epsilon,
            "printed": float(ndtr(psi / 2 - epsilon / psi)),
            "corrected": float(gaussian(psi=psi).delta(epsilon)),
        }
        for psi, epsilon in ((0.5, 1.0), (1.0, 0.5), (1.0, 1.0), (2.0, 3.0), (3.0, 5.0), (6.0, 20.0))
    ]
    rows = tuple((f"{r['psi']:g}", f"{r['epsilon']:g}", number(r["printed"]), number(r["corrected"])) for r in records)
    notes = (
        "Lemma 4 takes δ to be Φ(ψ/2 − ε/ψ), the height of the point where the line of slope e^ε touches the ROC "
        "curve; δ is where that line meets the axis, Φ(ψ/2 − ε/ψ) − e^ε·Φ(−ψ/2 − ε/ψ), as in Corollary 13.",
    )
    columns = ("ψ", "ε", "Lemma 4 as printed", "δ corrected")
    return Table("δ of the Gaussian mechanism", columns, rows, notes, tuple(records))


def paper() -> Paper:
    """Everything recomputed of this paper."""
    citation = (
        "Kaissis, Knolle, Jungmann, Ziller, Usynin, Rueckert. A unified interpretation of the Gaussian mechanism for "
        "differential privacy through the sensitivity index. 2022."
    )
    return Paper("002", citation, (epsilon_table(), _delta_table()))
