"""Paper 003: Ünsal and Önen, Journal of Cybersecurity and Privacy 2022: how large a false record hides in the noise.

The paper's formulas as they stand (``…_printed``) live here only. Unless said otherwise the noise is Lap(0, 1) without
an attack and Lap(m, θ) with it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..attacks.tampering_power import boundary, kl_bound, power_of, privacy_distortion, tampering
from ..mechanisms.noise import gaussian, laplace, noise_quantile, noise_tail
from ..numerics.roots import root
from ..show.charts.lines import Series
from .items import Numbers, Paper, Record, curve, named_rows, read_paper

_ALPHAS = np.unique(np.concatenate([np.linspace(0.001, 0.999, 150), np.geomspace(1e-4, 0.05, 30)]))


def paper() -> Paper:
    """Everything recomputed of this paper."""
    return read_paper("003")


# -- as printed, and corrected --------------------------------------------------------------------------------------


def threshold_printed(alpha: float) -> float:
    """Theorem 3 (12), for either sign of the bias: its two cases are exchanged."""
    return math.log(2 * (1 - alpha)) if alpha <= 0.5 else -math.log(2 * alpha)


def power_printed(k: float, m: float, theta: float = 1.0) -> float:
    """(29)–(33): the conditions k < μ1 and k > μ1 are exchanged."""
    return 0.5 * math.exp((m - k) / theta) if k < m else 1 - 0.5 * math.exp((k - m) / theta)


def two_sided_printed(m: float, alpha: float, theta: float = 1.0) -> float:
    """(42) as if it held everywhere; it holds while the bias lies between the thresholds."""
    k = -math.log(alpha)
    return 0.5 * math.exp((-k - m) / theta) + 0.5 * math.exp((m - k) / theta)


def kappa_printed(k: float, m: float, theta: float) -> float:
    """(28): the likelihood ratio at k on the branch between the means, wherever k is."""
    return math.exp((k * (1 + theta) - m) / theta) / theta


def corollary1_printed(alpha: float, power: float, theta: float) -> float:
    """(40): the bias is said to be detected between minus and plus this many units of noise."""
    return -math.log(alpha) - theta * math.log(power)


def corollary2_printed(n: int, s2: float, last: float) -> float:
    """(54): the bound on the variance of the false record."""
    return s2 / (1 - s2 / last) / (2 * math.pi * math.e) ** (n - 1)


def sigma_printed(epsilon: float, delta: float, s: float) -> float:
    """Theorem 6's σ, with an exponent of ½ that became a factor."""
    return math.sqrt(2) * s * 0.5 * math.log(1.25 / delta) / epsilon


def kl_negative_printed(shift: float, b0: float, b1: float, *, simplified: bool = False) -> float:
    """(76), or (77) with ``simplified``: the divergence for μ1 < μ0, shift = μ1 − μ0 < 0."""
    exponent = -shift / b0 if simplified else shift / b0
    return math.log(b1 / b0) - 1 + b0 / b1 * math.exp(exponent) + b0 / b1


def chernoff_gaussian_printed(a: float, shift: float, s0: float, s1: float) -> float:
    """§5.2: a plus where a minus belongs."""
    b = 1 - a
    mixed = a * s1 * s1 + b * s0 * s0
    return b * math.log(s1 / s0) + 0.5 * math.log(s1 * s1 / mixed) + a * b * shift**2 / (2 * mixed)


def ratio(z: float, m: float, theta: float) -> float:
    """The likelihood ratio Lap(m, θ) : Lap(0, 1) at z."""
    return math.exp(abs(z) - abs(z - m) / theta) / theta


def corollary2_corrected(n: int, s2: float, last: float) -> float | None:
    """What (59) really gives: s²/(K − s²/σ_n²), K = (2πe)^{n−1}, if K·σ_n² > s²; its premise does not hold either."""
    factor = (2 * math.pi * math.e) ** (n - 1)
    return s2 / (factor - s2 / last) if factor * last > s2 else None


def violated_range() -> tuple[float, float]:
    """Where the divergence exceeds e^ε for a bias of 4s and stretch 1."""

    def excess(epsilon: Any) -> Any:
        return np.asarray([float(laplace(epsilon=4 * float(e)).kl()) - math.exp(float(e)) for e in np.ravel(epsilon)])

    edges = root(excess, np.asarray([0.1, 1.3]), np.asarray([1.3, 4.0]))
    return float(edges[0]), float(edges[1])


def largest_ratio() -> float:
    """The largest divergence over e^ε for equal σ, δ = ε/20, a bias of 2s or 4s, ε below 18."""
    epsilon = np.linspace(0.01, 18, 18_000)
    mu = 4 * epsilon / np.sqrt(2 * np.log(25 / epsilon))
    return float(np.max(mu**2 / 2 * np.exp(-epsilon)))


def two_sided_power(m: float, alpha: float) -> float:
    """The two-sided test's power at stretch 1."""
    return float(power_of("two-sided", "laplace", np.asarray(m), 1.0, np.asarray(alpha)))


def _power(test: str, bias: float, alpha: float, theta: float = 1.0) -> float:
    """The power of a test on Laplace noise."""
    return float(power_of(test, "laplace", np.asarray(bias), theta, np.asarray(alpha)))


def _classical_sigma(epsilon: float) -> float:
    """The σ of (ε, ε/20)-DP that the paper means, for s = 1; proved for ε < 1."""
    return math.sqrt(2 * math.log(1.25 / (epsilon / 20))) / epsilon


def theorem_3(alphas: list[float]) -> Numbers:
    rows = []
    for sign, side in ((1, "above"), (-1, "below")):
        for alpha in alphas:
            k = threshold_printed(alpha)
            test = tampering(scale=1.0, bias=float(sign)).one_sided(alpha)
            alarms = float(noise_tail("laplace", np.asarray(sign * k)))
            corrected = float(test.above if sign > 0 else test.below)
            rows.append((f"α = {alpha:g}, bias {side} 0", k, alarms, corrected, float(test.size)))
    return Numbers(named_rows("setting, printed, false_alarms_printed, corrected, false_alarms_corrected", rows))


def equations_29_to_33(thresholds: list[float]) -> Numbers:
    tails = noise_tail("laplace", np.asarray(thresholds) - 1.0).tolist()
    rows = [(f"k = {k:g}, bias 1", power_printed(k, 1.0), tail) for k, tail in zip(thresholds, tails, strict=True)]
    return Numbers(named_rows("setting, printed, corrected", rows))


def equations_15_to_28(answers: list[float]) -> Numbers:
    rows = [(f"z = {z:g}", ratio(z, 1.0, 1.5), kappa_printed(z, 1.0, 1.5)) for z in answers]
    return Numbers(named_rows("setting, ratio, kappa_printed", rows))


def theorems_3_and_4(settings: list[tuple[float, float, float]]) -> Numbers:
    rows = []
    for m, theta, alpha in settings:
        t = tampering(scale=1.0, bias=m, stretch=theta)
        powers = t.optimal(alpha).power, t.one_sided(alpha).power, t.two_sided(alpha).power
        rows.append((f"m = {m:g}, θ = {theta:g}, α = {alpha:g}", *powers))
    return Numbers(named_rows("setting, optimal, one_sided, two_sided", rows))


def equation_42(settings: list[tuple[float, float, float]]) -> Numbers:
    rows = [
        (f"m = {m:g}, α = {a:g}, θ = {theta:g}", two_sided_printed(m, a, theta), _power("two-sided", m, a, theta))
        for m, a, theta in settings
    ]
    return Numbers(named_rows("setting, printed, corrected", rows))


def corollary_1(settings: list[tuple[float, float, float]]) -> Numbers:
    rows = []
    for alpha, power, theta in settings:
        bound = corollary1_printed(alpha, power, theta)
        powers = (_power("two-sided", m, alpha, theta) for m in (0.0, bound))
        setting, corrected = f"α = {alpha:g}, power {power:g}, θ = {theta:g}", (theta, alpha, power)
        rows.append((setting, f"|m| < {bound:.4f}", *powers, boundary("two-sided", "laplace", *corrected)))
    records = named_rows("setting, printed, power_at_nothing, power_at_printed, corrected", rows)
    power = two_sided_power(5.0, 0.1)
    return Numbers(records, values={"power": power, "bound": corollary1_printed(0.1, power, 1.0)})


def theorem_5_and_corollary_2(settings: list[tuple[int, float, float]]) -> Numbers:
    rows = []
    for n, s2, last in settings:
        printed, factor = corollary2_printed(n, s2, last), (2 * math.pi * math.e) ** (n - 1)
        needed, whole = math.sqrt(factor * last * printed / (last + printed)), 0.5 * math.log(factor * last**n / s2)
        solved, scalar = corollary2_corrected(n, s2, last), privacy_distortion([last] * n, sensitivity=1.0)
        rows.append((f"n = {n}, s = 1, σ² = 4", printed, needed, solved, whole, scalar))
    return Numbers(named_rows("setting, printed, sensitivity_it_needs, corrected, theorem5, scalar", rows))


def theorem_6(settings: list[tuple[float, float]]) -> Numbers:
    rows = []
    for epsilon, bias in settings:
        sigma = _classical_sigma(epsilon)
        threshold = math.exp(bias / sigma * (float(noise_quantile("gaussian", np.asarray(0.1))) - bias / (2 * sigma)))
        alarms = float(noise_tail("gaussian", np.asarray(threshold / sigma)))
        sigmas, power = (sigma_printed(epsilon, epsilon / 20, 1.0), sigma), tampering(sigma=sigma, bias=bias).roc(0.1)
        rows.append((f"ε = {epsilon:g}, δ = ε/20, Δμ = {bias:g}s", *sigmas, alarms, bias / sigma, power))
    return Numbers(named_rows("setting, sigma_printed, sigma, false_alarms_at_k, mu, power", rows))


def definitions_7_and_8(epsilons: list[float]) -> Numbers:
    rows = []
    for epsilon in epsilons:
        nats = math.exp(epsilon)
        accuracy = (float(gaussian(psi=math.sqrt(k * nats)).success()) for k in (2, 8))
        rows.append((f"ε = {epsilon:g}", nats, *accuracy, float(kl_bound(epsilon))))
    return Numbers(named_rows("setting, printed, accuracy_definition7, accuracy_definition8, corrected", rows))


def equations_75_to_77(settings: list[tuple[float, float, float]]) -> Numbers:
    rows = []
    for shift, b0, b1 in settings:
        t = tampering(scale=b0, bias=shift, stretch=b1 / b0)
        printed = (kl_negative_printed(shift, b0, b1, simplified=simplified) for simplified in (False, True))
        rows.append((f"μ: 0 → {shift:g}, b: {b0:g} → {b1:g}", *printed, t.kl(), t.reverse().kl()))
    return Numbers(named_rows("setting, eq76, eq77, corrected, reverse", rows))


def section_5_2(settings: list[tuple[float, float, float]]) -> Numbers:
    rows = []
    for a, shift, s1 in settings:
        t = tampering(sigma=1.0, bias=shift, stretch=s1)
        printed, corrected = chernoff_gaussian_printed(a, shift, 1.0, s1), t.chernoff_coefficient(a)
        setting = f"a = {a:g}, N(0, 1) and N({shift:g}, {s1 * s1:g})"
        rows.append((setting, printed, corrected, (1 - a) * t.kl(), t.chernoff()))
    return Numbers(named_rows("setting, printed, corrected, bound, information", rows))


def _roc(powers: dict[str, Any]) -> list[Series]:
    """A line for each name and its powers at the false-alarm rates, beside guessing."""
    lines = [
        Series(name, ((0.0, 0.0), *zip(_ALPHAS.tolist(), np.asarray(power).tolist(), strict=True), (1.0, 1.0)))
        for name, power in powers.items()
    ]
    return [*lines, Series("guessing", ((0.0, 0.0), (1.0, 1.0)), quiet=True)]


def _powers_at_a_tenth(records: list[Record]) -> str:
    return ", ".join(f"{r['power at α = 0.1']:.3f} at ε = {r['epsilon']:g}" for r in records)


def laplace_roc(test: str, bias: float, stretches: list[float], epsilons: list[float]) -> Numbers:
    """Figures 1 to 4: a bias in units of the sensitivity, a chart for each θ."""
    charts, records, powers = [], list[Record](), []
    for theta in stretches:
        charts.append(
            _roc({f"ε = {e:g}": power_of(test, "laplace", np.asarray(bias * e), theta, _ALPHAS) for e in epsilons})
        )
        panel = [
            {"theta": theta, "epsilon": e, "power at α = 0.1": _power(test, bias * e, 0.1, theta)} for e in epsilons
        ]
        records += panel
        powers.append(_powers_at_a_tenth(panel))
    return Numbers(records, charts, {"powers": powers})


def gaussian_roc(bias: float, epsilons: list[float]) -> Numbers:
    """Figures 6 and 7: a bias in units of the sensitivity, δ = ε/20."""
    curves: dict[str, object] = {}
    records: list[Record] = []
    for epsilon in epsilons:
        sigma = _classical_sigma(epsilon)
        t = tampering(sigma=sigma, bias=bias)
        curves[f"ε = {epsilon:g}"] = t.roc(_ALPHAS)
        records.append({"epsilon": epsilon, "sigma": sigma, "mu": bias / sigma, "power at α = 0.1": float(t.roc(0.1))})
    return Numbers(records, [_roc(curves)], {"powers": _powers_at_a_tenth(records), "bias": bias})


def figure_5(biases: list[float], stretches: list[float]) -> Numbers:
    grid = np.linspace(0.02, 4, 100).tolist()
    charts, records = [], list[Record]()
    for theta in stretches:
        lines = []
        for k in biases:
            points = tuple((e, float(tampering(epsilon=e, bias=k, stretch=theta).kl())) for e in grid)
            lines.append(Series(f"Δμ = {k:g}s", points))
            largest = max(nats / math.exp(e) for e, nats in points)
            records.append({"theta": theta, "bias / s": k, "largest D/e^ε": largest})
        charts.append([*lines, curve("e^ε", math.exp, grid, quiet=True)])
    low, high = violated_range()
    records.append({"theta": 1.0, "bias / s": 4.0, "from": low, "to": high})
    return Numbers(records, charts, {"low": low, "high": high})


def figure_8(sizes: list[int]) -> Numbers:
    rows = [(n, corollary2_printed(n, 1.0, 4.0), corollary2_corrected(n, 1.0, 4.0)) for n in sizes]
    return Numbers(named_rows("n, printed, solved", rows))


def figure_9(epsilons: list[float], biases: dict[str, float]) -> Numbers:
    """The divergence of a bias in units of s, with the σ of δ = ε/20."""
    grid = np.linspace(0.05, 10, 120).tolist()
    lines = []
    for name, k in biases.items():
        mu = [k * e / math.sqrt(2 * math.log(25 / e)) for e in grid]
        lines.append(Series(name, tuple((e, m * m / 2) for e, m in zip(grid, mu, strict=True))))
    lines.append(curve("e^ε", math.exp, grid, quiet=True))
    records: list[Record] = []
    for e in epsilons:
        unit = e / math.sqrt(2 * math.log(25 / e))
        nats = {f"KL, {k}s": (k * unit) ** 2 / 2 for k in (1, 2, 4)} | {"Chernoff, 4s": (4 * unit) ** 2 / 8}
        records.append({"epsilon": e, **nats, "e^ε": math.exp(e), "KL, 4s / e^ε": (4 * unit) ** 2 / 2 / math.exp(e)})
    largest = largest_ratio()
    records.append({"largest D/e^ε for Δμ = 2s and 4s": largest})
    return Numbers(records, [lines], {"largest": largest})
