"""What the five papers print that does not hold, in plain mathematics, each with a line of Python that shows it.

The checks are expressions of ``from math import *`` and ``import epsilens as el`` alone, so that anyone can run them:

>>> first = ERRATA["000"][0]
>>> holds(first)
True
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["ERRATA", "Erratum", "holds"]


@dataclass(frozen=True, slots=True)
class Erratum:
    """Where, what is printed, what holds, and an expression that is true because it does."""

    where: str
    printed: str
    holds: str
    check: str


def holds(erratum: Erratum) -> bool:
    """Run the check."""
    import epsilens as el

    names = {name: value for name, value in vars(math).items() if not name.startswith("_")}
    return bool(eval(erratum.check, {**names, "el": el}))


_PHI = "0.5 * erfc(-({}) / sqrt(2))"

ERRATA: dict[str, tuple[Erratum, ...]] = {
    "000": (
        Erratum(
            "§4.1.5, λ(α)",
            "λ = e^−ε/(4α²) for α ≤ ½, e^−ε/(4(1−α)²) above",
            "λ = min(e^−ε/(4α²), e^ε) for α ≤ ½, e^−ε above: a likelihood ratio of Laplace noise is within e^±ε",
            "exp(-1) / (4 * 0.01**2) > 900 and el.laplace(epsilon=1).epsilon(0) < 1.000001",
        ),
        Erratum(
            "Eqs 9 and 10",
            "RSR = 1 − ½e^−(ψ−1)ε for ψ < 1, GSR = 1 − ½e^−ψε for ψ < 0",
            "the exponents are positive there: RSR = 1 − ½e^(ψ−1)ε, GSR = 1 − ½e^ψε",
            "1 - 0.5 * exp(1) < 0 and abs(el.laplace(epsilon=1).recall(0.5) - (1 - 0.5 * exp(-1))) < 1e-12",
        ),
        Erratum(
            "Proof of Theorem 3, P_FA",
            "P_FA = 1 − ∫_θ^∞, and exponents of the other sign",
            "P_FA = ∫_θ^∞ P(A(D′) = o) do: ½e^−ψε for ψ ≥ 0, 1 − ½e^ψε below",
            "abs(el.laplace(epsilon=1).threshold(0.05) + log(0.1)) < 1e-12",
        ),
        Erratum(
            "Theorem 4",
            "a vector of q answers is tested as one answer with qε",
            "noise for the vector's L1 sensitivity is already ε-DP; noise for each answer stays below qε",
            "el.vector(epsilon=1, q=2, calibration='each').experiment.advantage() < 0.449 < 0.632 "
            "< el.laplace(epsilon=2).advantage()",
        ),
        Erratum(
            "Table 1",
            "ε = 0.22, 0.49, 1.17 and 1.61 at (β, F) = (0.5, 0.55), (0.8, 0.62), (1.5, 0.76), (2, 0.83)",
            "no ε: the best F is (1+β²)/(2+β²) at any ε, already above the bound",
            "el.laplace(epsilon=1e-9).fbeta(0.5) > 0.555 and el.laplace(epsilon=1e-9).fbeta(2) > 0.833",
        ),
        Erratum(
            "§4.3 and appendix, σ",
            "σ² = 2·log(1.25/δ)·ΔQ/ε",
            "σ² = 2·log(1.25/δ)·(ΔQ/ε)², proved for ε < 1",
            "el.gaussian(sigma=sqrt(2 * log(1.25e5) / 0.1)).delta(0.1) > 100 * 1e-5",
        ),
        Erratum(
            "Eqs 16 and 17",
            "a prior raises precision",
            "if the positive value is the likelier one; otherwise the odds turn round and precision falls",
            "el.laplace(epsilon=1).precision(0.1, 0.4) < el.laplace(epsilon=1).precision(0.1, 0.5)",
        ),
        Erratum(
            "Eqs 18 and 24",
            "ε under the root",
            "e^ε under the root, as in Eq. 12 and the appendix",
            "abs(el.laplace(epsilon=2).fbeta(prior=1 / 1.8) - 0.837661654209) < 1e-11",
        ),
        Erratum(
            "Eqs 19 to 24",
            "ρ_c and ρ_t anywhere in [0, 1]",
            "(2−ρ_p)(1−ρ_c)(1−ρ_t) > 1, or the odds are negative",
            "(2 - 0.75) * (1 - 2 / 3) - 1 < 0",
        ),
        Erratum(
            "Propositions 1 and 2",
            "ε_IP = ε_DP",
            "only as a supremum over product priors; for a fixed prior ε_IP may be 0",
            "el.notions.inferential(el.notions.randomized_response(1.0, of=lambda d: d[0] ^ d[1], records=2), "
            "el.notions.uniform(el.notions.randomized_response(1.0, of=lambda d: d[0] ^ d[1], records=2))) == 0",
        ),
        Erratum(
            "§4.2",
            "the adversary's test is “not worse than” with more values",
            "not better than: more possible values make the test harder",
            "el.randomized_response(epsilon=1, k=4).success() < el.randomized_response(epsilon=1).success()",
        ),
    ),
    "001": (
        Erratum(
            "Eq. 14",
            "g(pdf(ΔM) − pdf(ΔM−d))",
            "g(pdf(ΔM−d) − pdf(ΔM)); as printed the mean is 1 − P_SDA",
            "el.differencing(epsilon=5).success() > 0.76 and 1 - el.differencing(epsilon=5).success() < 0.24",
        ),
        Erratum(
            "Eq. 15",
            "ε with P_SDA = ½",
            "no ε > 0: P_SDA = 1 − ½(1 + ε/8)e^−ε/4 > ½",
            "el.differencing(epsilon=1e-9).success() > 0.5",
        ),
        Erratum(
            "Section 6",
            "a normalised sum behaves exactly like a count",
            "only for the largest value; otherwise the exponent is scaled by value / largest",
            "el.differencing(epsilon=5, gap=43, sensitivity=121).success() < 0.61 < 0.76 "
            "< el.differencing(epsilon=5).success()",
        ),
        Erratum(
            "Algorithm 1, line 11",
            "n − 1 when Q2 is known",
            "n + 1; and the two densities need their factors n and n ± 1",
            "1 - 0.5 * exp(-2 * 71 * 5 / (5 * 121)) < 1 - 0.5 * exp(-2 * 71 * 5 / (3 * 121))",
        ),
        Erratum(
            "Algorithm 2, line 27",
            "GUESS_SECRET(M1, M1, …)",
            "GUESS_SECRET(M1, M2, …, n): as printed the guess is constant and right half of the time",
            "abs(__import__('epsilens.papers.ashena2021', fromlist=['x']).estimate(__import__("
            "'epsilens.papers.ashena2021', fromlist=['x']).Attack(epsilon=5.0), printed=True).success - 0.5) < 0.02",
        ),
        Erratum(
            "Algorithm 3",
            "stop at the first estimate within the tolerance",
            "biased upwards, unsafe; the inverse of the closed form is exact",
            "abs(el.choose(el.differencing, 'epsilon', at_most=0.51).value - 0.160041856097) < 1e-9",
        ),
        Erratum(
            "Averages, clamped answers",
            "one can only guess randomly",
            "an answer on a bound is evidence, and the interior rule already uses it",
            "el.differencing_average(epsilon=0.5, n=2, value=90, mean=50, bounds=(0, 121)).success() > 0.59 > 0.5055",
        ),
        Erratum(
            "Averages, a = Q1",
            "a success of exactly ½",
            "½ + ((n−1)/n)^(n−1)/(2n) without clamping: the two scales differ",
            "abs(el.differencing_average(epsilon=300, n=2, value=50, mean=50, bounds=(0, 121)).success() - 0.625) "
            "< 1e-6",
        ),
        Erratum(
            "Averages",
            "ε-differentially private",
            "for a fixed n; if people are added or removed the loss is max(ε, ln(n/(n−1)) + ε(n−1)/n)",
            "(1 - exp(-0.02)) / (0.5 * (exp(-0.04) - exp(-0.06))) > 2 > exp(0.1)",
        ),
        Erratum(
            "Figure 3a",
            "the attack outperforms Lee and Clifton's adversary",
            "different hypotheses: no precision exceeds the exact belief 1/Σ e^−ε(a_max−a_j)/Δ",
            "(lambda c: c.tree(el.differencing(epsilon=10, gap=98, sensitivity=121, known=True).success(), 120) > 10 * "
            "c.exact_belief(10, c.ages(), 121))(__import__('epsilens.papers.ashena2021.comparisons', fromlist=['x']))",
        ),
        Erratum(
            "Figure 4",
            "similar recall at α = 0.5",
            "the test of paper 000 has 1 − ½e^−ε, higher by up to 0.125",
            "el.laplace(epsilon=2 * log(2)).recall(0.5) - el.laplace(epsilon=2 * log(2)).success() > 0.1249",
        ),
    ),
    "002": (
        Erratum(
            "Eq. 9 and Lemma 1",
            "(ε, δ)-DP means P(Ω ≥ ε) ≤ δ",
            "sufficient, not necessary; exactly δ(ε) = E[(1 − e^(ε−Ω))₊]",
            f"el.gaussian(psi=1).delta(1) < 0.127 < 0.308 < {_PHI.format('-0.5')}",
        ),
        Erratum(
            "Corollary 1",
            "integrands of f(D) and f(D′) exchanged, limits of the FPR",
            "TPR(c) = 1 − Φ((c−f(D′))/σ), FPR(c) = 1 − Φ((c−f(D))/σ)",
            f"{_PHI.format('(1.3 - 0.4) / 0.7')} > 0.9 and {_PHI.format('-0.4 / 0.7')} < 0.284",
        ),
        Erratum(
            "Corollary 2",
            "a = (μ₁−μ₀)/σ",
            "σ must be that of the positive class; and with unequal σ it is the curve of thresholds, not the best",
            "abs(__import__('epsilens.papers.kaissis2022', fromlist=['x']).binormal(0.1, (0, 1.2), (0.8, 1.5)) "
            "- 0.5463742) < 1e-7",
        ),
        Erratum(
            "Lemma 4, Eq. 21",
            "δ = Φ(ψ/2 − ε/ψ)",
            "that is the height of the point of contact; the intercept is Φ(ψ/2 − ε/ψ) − e^ε·Φ(−ψ/2 − ε/ψ)",
            "abs(el.gaussian(psi=2).delta(1) - 0.5098616601) < 1e-9",
        ),
        Erratum(
            "Lemma 6",
            "ψ-GDP if and only if ψ ≤ μ",
            "μ-GDP if and only if ψ ≤ μ",
            "abs(el.from_gdp(1.0).psi() - 1) < 1e-12",
        ),
        Erratum(
            "Corollary 9",
            "the training is ψ-GDP",
            "an approximation for T → ∞, below the truth for few steps or little noise",
            "el.clt(sigma=1, rate=0.01, steps=100, variant='fixed').epsilons['exact'] < 0.62 < 0.71 "
            "< el.dpsgd(sigma=1, rate=0.01, steps=100).bracket('epsilon', delta=1e-5)[0]",
        ),
        Erratum(
            "Eq. 31",
            "argmin of δ(x, ψ) − δ",
            "the root of δ(x, ψ) = δ; the argmin is x = ∞",
            "el.gaussian(psi=1).delta(50) < el.gaussian(psi=1).delta(el.gaussian(psi=1).epsilon(1e-5))",
        ),
        Erratum(
            "§5",
            "the error of the Rényi conversions as ψ → 0 comes from a δ in a denominator",
            "it comes from the cap α ≤ 64: log(1/δ)/63 is their floor",
            "el.gaussian(psi=1e-5).epsilon(1e-5) < 1e-9 < 0.18 < log(1e5) / 63",
        ),
    ),
    "003": (
        Erratum(
            "Theorem 3, Eq. 12",
            "k = ln(2(1−α)) for α ≤ ½, −ln(2α) above",
            "the cases are exchanged; printed, the false alarms are 1/(4(1−α)) and never below ¼",
            "0.5 * exp(-log(2 * 0.95)) > 0.26 and abs(el.tampering(scale=1, bias=1).one_sided(0.05).above + log(0.1)) "
            "< 1e-12",
        ),
        Erratum(
            "Eqs 29 to 33",
            "½e^−(k−μ₁)/θb for k < μ₁",
            "for k ≥ μ₁; below it is 1 − ½e^(k−μ₁)/θb",
            "0.5 * exp(1) > 1 and abs(1 - 0.5 * exp(-1) - 0.816060279) < 1e-8",
        ),
        Erratum(
            "Eqs 23 to 25",
            "the likelihood ratio is confined to an interval, and Λ < κ",
            "for θ > 1 it grows without bound on both sides; the test is Λ > κ",
            "exp(20 - 19 / 1.5) / 1.5 > 500",
        ),
        Erratum(
            "Theorem 4",
            "the two-sided test has the largest power",
            "only if the bias is 0",
            "el.tampering(scale=1, bias=1).two_sided(0.1).power < 0.155 < 0.271 "
            "< el.tampering(scale=1, bias=1).one_sided(0.1).power",
        ),
        Erratum(
            "Eq. 42",
            "α^(1/θ)·cosh(m/θ)",
            "for m ≤ ln(1/α); beyond 1 − e^−m/θ·sinh(ln(1/α)/θ)",
            "0.5 * cosh(2) > 1 and el.tampering(scale=1, bias=2).two_sided(0.5).power < 0.9",
        ),
        Erratum(
            "Corollary 1",
            "|m| < −ln α − θ·ln β̄ is detected",
            "m ≥ m*, the inverse of the power; printed, no bias at all is “detected”",
            "el.tampering(scale=1, bias=5).two_sided(0.1).power > 0.96 and -log(0.1) - log(0.966647) < 5",
        ),
        Erratum(
            "Theorem 5",
            "a bound by I(X^n; X̃^n)",
            "infinite for n ≥ 2, because all but one record are shared; h(g(X)) ≤ h(X) fails for "
            "differential entropy (g(x) = 2x); sound for the sum: ½·ln(1 + Σσ²/σ_a²)",
            "0.5 * log(2 * pi * e * 4) > 0.5 * log(2 * pi * e)",
        ),
        Erratum(
            "Corollary 2, Eq. 54",
            "σ² ≤ s²/(1 − s²/σ_n²)/(2πe)^(n−1)",
            "from Eq. 59: s²/((2πe)^(n−1) − s²/σ_n²), on a premise that fails",
            "1 / (1 - 1 / 4) / (2 * pi * e) > 1 / (2 * pi * e - 1 / 4)",
        ),
        Erratum(
            "Theorem 6, σ_z",
            "½ as a factor",
            "½ as an exponent: σ_z = s√(2 ln(1.25/δ))/ε",
            "abs(sqrt(2 * log(1.25 / 0.05)) - 2.53727248) < 1e-8",
        ),
        Erratum(
            "Definition 7",
            "D ≤ e^ε",
            "D ≤ ε nats (Cuff and Yu); e^ε allows a nat at ε = 0",
            "el.gaussian(psi=sqrt(2)).success() > 0.76",
        ),
        Erratum(
            "Eqs 75 to 77",
            "b₀/b₁ as last term, and an exponent of the other sign",
            "|Δμ|/b₁: ln(b₁/b₀) − 1 + (b₀/b₁)e^−|Δμ|/b₀ + |Δμ|/b₁ for either sign",
            "abs(el.tampering(scale=0.5, bias=-2, stretch=1.5).kl() - 2.0843422007) < 1e-9",
        ),
        Erratum(
            "Eq. 78 and the Gaussian Chernoff divergence",
            "+ln∫ and +½ln(σ₁²/σ*²)",
            "−ln∫ f₀^a f₁^(1−a), and −½ln(σ₁²/σ*²)",
            "abs(el.tampering(sigma=1, bias=0, stretch=2).chernoff_coefficient(0.5) - 0.111571775657) < 1e-10",
        ),
        Erratum(
            "Definition 8",
            "Chernoff-DP is stronger than KL-DP",
            "weaker: C_a ≤ (1−a)·D",
            "el.gaussian(psi=1).chernoff() <= 0.5 * el.gaussian(psi=1).kl() + 1e-12",
        ),
        Erratum(
            "Section 6.1",
            "ROC curves depend on s, contrary to paper 000",
            "they depend on m = εΔμ/s and θ alone; paper 000 takes Δμ = s",
            "abs(el.tampering(epsilon=2, bias=5, sensitivity=10).roc(0.1) - el.tampering(epsilon=1, bias=1).roc(0.1)) "
            "< 1e-12",
        ),
    ),
    "004": (
        Erratum(
            "Theorem 1",
            "independence makes the leakage the same for every adversary, for any mechanism",
            "for sums with Laplace noise; an exclusive or leaks 0 to who knows nothing and ε to who knows the rest",
            "__import__('epsilens.papers.li2019.nonlinear', fromlist=['x']).leakage([[0.25, 0.25], [0.25, 0.25]], "
            "lambda a, b: a ^ b, 0, {}) < 1e-12",
        ),
        Erratum(
            "Remark 1",
            "the leakage never exceeds ε",
            "it is at most the sum of the sensitivities of the unknown and the target",
            "abs(el.correlated.table([[0.5, 0], [0, 0.5]]).leakage(0) - 2) < 1e-12",
        ),
        Erratum(
            "Table II(d)",
            "x₂ ∈ {0, 1}",
            "x₂ ∈ {0, 5}, which its leakage of 6 needs",
            "abs(el.correlated.table([[0.5, 0], [0, 0.5]], values=[[0, 1], [0, 5]]).leakage(0) - 6) < 1e-12",
        ),
        Erratum(
            "Theorems 2 and 5",
            "leakage by a chain rule at r → −∞",
            "neither exact nor an upper bound: the supremum may be at r → +∞ or in between",
            "el.correlated.table([[0.5, 0], [0.25, 0.25]]).leakage(0) > 1.62 > 1.38",
        ),
        Erratum(
            "Theorem 3(3)",
            "the sign of the term is that of the covariance",
            "for two values; with three it may be the other at any λ",
            "0.49 + 0.51 * exp(-1 / 1.5) > exp(-0.5 / 1.5) and 0.51 - 0.5 > 0",
        ),
        Erratum(
            "Corollary 1.1",
            "all IC = 1",
            "all ratios IR = 1",
            "abs(el.correlated.table([[0.5, 0], [0, 0.5]]).leakage(0) - 2) < 1e-12",
        ),
        Erratum(
            "Corollary 1.2",
            "all terms positive: who knows least learns most",
            "not always: knowing record 0 may tell more of record 1",
            "(lambda w: w[1].leakage > w[0].leakage)(el.correlated.table([[[0.59, 0.19], [0.08, 0.04]], "
            "[[0.06, 0.02], [0.01, 0.01]]]).by_known(scale=1.0))",
        ),
        Erratum(
            "Corollary 1.3",
            "all terms negative: who knows all learns most, of every record",
            "over all records; of one record it fails where another's range is more than twice its own",
            "el.correlated.table([[0.05, 0.45], [0.45, 0.05]], values=[[0, 0.5], [0, 3]]).leakage(0) > 1.9 > 0.5",
        ),
        Erratum(
            "Algorithm 2",
            "overestimates",
            "what it drops is lost: it can fall below Algorithm 1 and below the truth",
            "__import__('epsilens.papers.li2019', fromlist=['x']).algorithm2(__import__("
            "'epsilens.papers.li2019.settings', fromlist=['x']).star(3)) < 2 < 2.21",
        ),
        Erratum(
            "§VII, Figure 4(d)",
            "15 records, all correlated −0.8",
            "none below −1/14 exists",
            "1 + 14 * -0.8 < 0",
        ),
        Erratum(
            "§III-A3, a_i = 0",
            "a record that does not count leaks nothing",
            "it leaks what its correlation with those that count tells",
            "el.correlated.table([[0.5, 0], [0, 0.5]], weights=[0, 1]).leakage(0) > 0.99",
        ),
    ),
}
