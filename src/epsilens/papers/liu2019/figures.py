"""Figures 1 to 9: the test, precision against recall for every kind of adversary, the best F, and the notions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...attacks.knowledge.knowledge import Knowledge
from ...calibration.choose import choose
from ...experiment import Experiment
from ...mechanisms.noise import gaussian, laplace
from ...notions import IMPLICATIONS, NOTIONS, REFUTED, Conversion, promises
from ...show.charts import Chart
from ...show.charts.lines import Axis, Series, lines
from ...show.words import number
from ..item import Agreement, Item
from .printed import sigma_printed

_EPSILONS = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0)
_RECALL = np.unique(np.concatenate([np.linspace(0.005, 1, 120), 1 - np.geomspace(1e-4, 0.05, 15)]))
_KNOWN = {
    "nothing": (0.0, 0.0, 0.0), "a prior, ρ_p = 0.2": (0.2, 0.0, 0.0), "and a record, ρ_c = 0.1": (0.2, 0.1, 0.0),
    "and the past, ρ_t = 0.1": (0.2, 0.1, 0.1),
}  # fmt: skip


def _prior(rho: tuple[float, float, float]) -> float:
    return Knowledge.from_coefficients(rho_p=rho[0], rho_c=rho[1], rho_t=rho[2]).prior


def _pr(name: str, e: Experiment, prior: float = 0.5) -> Series:
    precision = np.asarray(e.precision(recall=_RECALL, prior=prior))
    return Series(name, tuple(zip(_RECALL.tolist(), precision.tolist(), strict=True)))


def _chart(name: str, title: str, drawn: Sequence[Series], aria: str, low: float = 0.4) -> Chart:
    axes = Axis(0, 1, "recall"), Axis(low, 1)
    return lines(name, title, "precision", drawn, *axes, aria, inside=True, height=360, width=520)


def _pr_item(
    key: str, what: str, experiments: dict[str, Experiment], prior: float, shows: str, gets: str,
    notes: Sequence[str] = (), agreement: Agreement = Agreement.AGREES, why: str = "",
) -> Item:  # fmt: skip
    records: list[dict[str, Any]] = [
        {"setting": name, "recall at α = 0.1": float(e.recall(0.1)), "precision there": float(e.precision(0.1, prior)),
         "best F1": float(e.fbeta(prior=prior))} for name, e in experiments.items()
    ]  # fmt: skip
    cells = tuple((str(r["setting"]), *(number(float(v)) for k, v in r.items() if k != "setting")) for r in records)
    drawn = [_pr(name, e, prior) for name, e in experiments.items()]
    drawn.append(Series("guessing", ((0.0, prior), (1.0, prior)), quiet=True))
    aria = "Precision at the recall of α = 0.1: " + ", ".join(
        f"{r['precision there']:.3f} at {r['setting']}" for r in records
    )
    chart = _chart(key, what, drawn, aria + ".")
    return Item(
        f"{key}: {what[0].lower()}{what[1:]}",
        ("setting", "recall at α = 0.1", "precision there", "best F1"),
        cells,
        tuple(notes),
        tuple(records),
        shows,
        gets,
        agreement,
        why,
        (chart,),
    )


def _figure1() -> Item:
    steps = (
        "Two worlds: the person is in the data, or not (or has one value, or the other).",
        "The noise gives the law of the answer in each; the adversary sees one answer.",
        "The best test at a false-alarm rate α is a threshold on the likelihood ratio (Neyman and Pearson).",
        "Its recall and, with a prior, its precision and Fβ are readings of one trade-off curve.",
        "The largest ε that keeps a reading under a limit is the inverse of that reading.",
    )
    limit = 0.76
    largest = choose(laplace, "epsilon", at_most=limit, reading="fbeta").value
    grid = np.linspace(0.02, 4, 100).tolist()
    return Item(
        "Figure 1: the procedure",
        (),
        (),
        steps,
        tuple({"step": k + 1, "what": step} for k, step in enumerate(steps)),
        "From two neighbouring databases to the choice of ε.",
        "The same steps, for any mechanism: an Experiment is the pair of laws, a reading each of the numbers, "
        f"el.choose the inverse. Drawn for a count: an F1 of at most {limit:g} allows ε = {largest:.4f}, as Table 1.",
        Agreement.DRAWING,
        charts=(
            lines(
                "figure 1",
                "From what is tolerated to the largest ε",
                "best F1 of an adversary, a count with Laplace noise",
                (
                    Series("best F1", tuple((e, float(laplace(epsilon=e).fbeta())) for e in grid)),
                    Series("tolerated", ((0.0, limit), (4.0, limit)), limit=True),
                    Series("largest ε", ((largest, 0.6), (largest, limit)), quiet=True),
                ),
                Axis(0, 4, "ε"),
                Axis(0.6, 1),
                f"The best F1 reaches the tolerated {limit:g} at ε = {largest:.4f}.",
                inside=True,
            ),
        ),
    )


def _figure2() -> Item:
    x, e = np.linspace(-5, 6, 221), laplace(epsilon=1.0)
    cut = float(e.threshold(0.1))
    drawn = (
        Series("without the record", tuple((float(v), math.exp(-abs(v)) / 2) for v in x)),
        Series("with the record", tuple((float(v), math.exp(-abs(v - 1)) / 2) for v in x)),
        Series("θ", ((cut, 0.0), (cut, 0.5)), quiet=True),
    )
    records = [
        {"alpha": a, "threshold": float(e.threshold(a)), "recall": float(e.recall(a))}
        for a in (0.01, 0.1, 0.3, 0.5, 0.7)
    ]
    cells = tuple((f"{r['alpha']:g}", number(r["threshold"]), number(r["recall"])) for r in records)
    return Item(
        "Figure 2: the test of one record",
        ("α", "θ − Q(D′)", "recall"),
        cells,
        (
            "ε = 1, ΔQ = 1. e.threshold(α) is Theorem 3's: −ln(2α)/ε for α ≤ ½, ln(2(1−α))/ε above. Figures 5(a), 6(a) "
            "and 7(a) are this picture with the two curves weighted by the prior.",
            "Proof and appendix write P_FA with a “1 −” too many and both exponents reversed; Eqs 9 and 10 have the "
            "same slip: as printed RSR at ψ = 0 is −0.359, and is 0.816.",
        ),
        tuple(records),
        "Two Laplace densities and the threshold θ between them.",
        "The same threshold.",
        Agreement.PARTLY,
        "The printed second branches of Eqs 9 and 10 are negative.",
        (
            lines(
                "figure 2",
                "The answer with and without a record, ε = 1",
                "density",
                drawn,
                Axis(-5, 6, "answer, from the one without the record"),
                Axis(0, 0.55),
                f"The threshold at a false-alarm rate of 0.1 is {cut:.3f}; right of it lie "
                f"{float(e.recall(0.1)):.3f} of the answers with the record.",
                inside=True,
            ),
        ),
    )


def _figure3b() -> Item:
    grid = np.geomspace(0.01, 10, 80).tolist()
    betas = (0.5, 1.0, 2.0)
    drawn = [Series(f"β = {b:g}", tuple((e, float(laplace(epsilon=e).fbeta(b))) for e in grid)) for b in betas]
    records = [{"epsilon": e, **{f"beta {b:g}": float(laplace(epsilon=e).fbeta(b)) for b in betas}} for e in
               (0.01, 0.1, 0.5, 1.0, 2.0, 5.0)]  # fmt: skip
    cells = tuple((f"{r['epsilon']:g}", *(number(r[f"beta {b:g}"]) for b in betas)) for r in records)
    return Item(
        "Figure 3b: the best Fβ against ε",
        ("ε", *(f"β = {b:g}" for b in betas)),
        cells,
        (
            "Eq. 12: F* = (1+β²)(s−1)/((1+β²)s−1+β²), s = √(1+4β²e^ε), from ε = ln(1+β²) on; below it is flat at "
            "(1+β²)/(2+β²), where always saying “present” is best and F* tells nothing of ε.",
        ),
        tuple(records),
        "The best Fβ grows with ε from a turning point on.",
        "The same.",
        charts=(
            lines(
                "figure 3b",
                "The best F an adversary can reach",
                "Fβ",
                drawn,
                Axis(0.01, 10, "ε (logarithmic)", log=True),
                Axis(0.4, 1),
                "; ".join(f"β = {b:g}: {float(laplace(epsilon=1).fbeta(b)):.3f} at ε = 1" for b in betas) + ".",
            ),
        ),
    )


def _figure4() -> tuple[Item, Item]:
    """Gaussian noise with the classical σ, which is what the paper means."""

    def classical(epsilon: float, delta: float) -> Experiment:
        return gaussian(sigma=math.sqrt(2 * math.log(1.25 / delta)) / epsilon)

    note = (
        "σ = √(2 ln(1.25/δ))·ΔQ/ε, which is proved for ε < 1. As printed, σ² = 2 ln(1.25/δ)·ΔQ/ε: at ε = 0.1 it is "
        f"{sigma_printed(0.1, 1e-5, 1.0):.2f} where {math.sqrt(2 * math.log(1.25e5)) / 0.1:.2f} is meant.",
        "The paper's values of ε and δ are not in its text; those here are chosen.",
    )
    first = _pr_item(
        "Figure 4a",
        "Precision and recall under Gaussian noise, by ε",
        {f"ε = {e:g}": classical(e, 1e-5) for e in (0.1, 0.5, 1.0, 2.0, 5.0)},
        0.5,
        "The adversary does better with a larger ε.",
        "The same.",
        note,
    )
    second = _pr_item(
        "Figure 4b",
        "Precision and recall under Gaussian noise, by δ",
        {f"δ = {d}": classical(1.0, float(d)) for d in ("0.000001", "0.0001", "0.01", "0.1")},
        0.5,
        "The adversary does better with a larger δ.",
        "The same.",
        note[1:],
    )
    return first, second


def _figure8() -> Item:
    grid = np.geomspace(0.05, 8, 80).tolist()
    priors = {name: _prior(rho) for name, rho in _KNOWN.items()}
    drawn = [
        Series(name, tuple((e, float(laplace(epsilon=e).fbeta(prior=p))) for e in grid)) for name, p in priors.items()
    ]
    records: list[dict[str, Any]] = [
        {"epsilon": e, **{name: float(laplace(epsilon=e).fbeta(prior=p)) for name, p in priors.items()}}
        for e in (0.5, 1.0, 2.0, 5.0)
    ]
    cells = tuple((f"{r['epsilon']:g}", *(number(r[name]) for name in priors)) for r in records)
    return Item(
        "Figure 8: the best F1 by what is known",
        ("ε", "nothing", "prior", "record", "past"),
        cells,
        (
            "What is known changes the odds c and nothing else: c = (2−ρ_p)(1−ρ_c)(1−ρ_t) − 1, which must be positive. "
            "Eqs 18 and 24 are printed with ε under the root in place of e^ε.",
        ),
        tuple(records),
        "The more is known, the higher the best F1.",
        "The same with e^ε: 0.838, 0.857 and 0.876 at ε = 2.",
        Agreement.PARTLY,
        "As printed, Eq. 18 gives 0.698 at ε = 2 and ρ_p = 0.2, less than without any knowledge.",
        (
            lines(
                "figure 8",
                "The best F1, by what the adversary knows",
                "F1",
                drawn,
                Axis(0.05, 8, "ε (logarithmic)", log=True),
                Axis(0.6, 1),
                "At ε = 2: " + ", ".join(f"{float(laplace(epsilon=2).fbeta(prior=p)):.3f} knowing {n}"
                                         for n, p in priors.items()) + ".",
            ),
        ),
    )  # fmt: skip


def _figure9() -> Item:
    differ = {
        "dp": "one record", "blowfish": "pairs of values that a policy names", "pufferfish": "any pair of secrets",
        "ddp": "one record and those that depend on it", "ip": "one record, the others by their law",
        "mp": "none stated: belief in membership", "mi": "none stated: information about one record",
    }  # fmt: skip
    alone, pairs = promises("dp", 1.0, dependent=1), promises("dp", 1.0, dependent=2)
    records: list[dict[str, Any]] = []
    for key, neighbours in differ.items():
        one, two = (1.0, 1.0) if key == "dp" else (_epsilon_of(alone[key]), _epsilon_of(pairs[key]))
        records.append({"notion": NOTIONS[key].name, "may differ": neighbours, "independent": one, "in pairs": two})
    cells = tuple((r["notion"], r["may differ"], number(r["independent"]), number(r["in pairs"])) for r in records)
    return Item(
        "Figure 9: neighbouring databases of the notions",
        ("notion", "what may differ", "independent", "in pairs"),
        cells,
        (
            "The last columns are what 1-DP promises in each notion, for independent records and for records that "
            "depend on each other in pairs.",
            f"epsilens notions --from dp --epsilon 1 lists {len(IMPLICATIONS)} implications with their conditions, and "
            f"{len(REFUTED)} refuted ones with a table that refutes them. Propositions 1 and 2, ε_IP = ε_DP, fail for "
            "a fixed prior: an exclusive or of two fair bits under randomised response has ε_IP = 0.",
        ),
        tuple(records),
        "Which databases count as neighbours in seven notions.",
        "The same list, with what ε-DP promises of each.",
        Agreement.DRAWING,
        charts=(_promised(),),
    )


def _promised() -> Chart:
    """What ε-DP promises in the other notions where records depend on each other in pairs."""
    grid = np.linspace(0.05, 2, 40).tolist()
    told = {e: promises("dp", e, dependent=2) for e in grid}
    groups = {"Pufferfish, DDP, IP, MP": "ddp", "Blowfish": "blowfish", "mutual information": "mi"}
    drawn = [
        Series(name, tuple((e, _epsilon_of(told[e][key])) for e in grid), quiet=key == "mi")
        for name, key in groups.items()
    ]
    return lines(
        "figure 9",
        "What ε-DP promises in other notions",
        "their ε, records dependent in pairs",
        drawn,
        Axis(0, 2, "ε of differential privacy"),
        Axis(0, 4),
        "Where records go in pairs, ε-DP promises 2ε of Pufferfish, dependent, inferential and membership privacy, ε "
        "of "
        "Blowfish privacy, and less than ε² / 8 nats of mutual information.",
    )


def _epsilon_of(told: Conversion | str) -> float:
    if isinstance(told, str):
        raise ValueError(told)
    return float(told.promised_epsilon)


def items() -> tuple[Item, ...]:
    """Figures 1 to 9."""
    plain = {f"ε = {e:g}": laplace(epsilon=e) for e in _EPSILONS}
    shows = "Precision rises at every recall when more is known."
    drawn_with = (
        ("Figure 5", "Precision and recall, knowing a prior", (0.2, 0.0, 0.0)),
        ("Figure 6", "Precision and recall, knowing a correlated record", (0.2, 0.1, 0.0)),
        ("Figure 7", "Precision and recall, knowing the past as well", (0.2, 0.1, 0.1)),
    )
    known = tuple(
        _pr_item(
            key,
            what,
            plain,
            _prior(rho),
            shows,
            "The same where the positive value is the likelier one.",
            (
                f"ρ_p = {rho[0]:g}, ρ_c = {rho[1]:g}, ρ_t = {rho[2]:g}: prior {_prior(rho):.4f}.",
                "If the positive value is the less likely one the odds turn round and precision falls.",
            ),
            Agreement.PARTLY,
            "The coefficients are allowed anywhere in [0, 1]; the odds they give must be positive.",
        )
        for key, what, rho in drawn_with
    )
    first = _pr_item(
        "Figure 3a",
        "Precision and recall of the best test",
        plain,
        0.5,
        "At ε = 0.01 the adversary guesses; at ε = 5 it is nearly exact; no query matters (Theorem 5).",
        "The same.",
    )
    return (_figure1(), _figure2(), first, _figure3b(), *_figure4(), *known, _figure8(), _figure9())
