"""Paper 003: what differs from what holds in Ünsal and Önen 2022, each with a line of Python that shows it."""

from __future__ import annotations

from ..erratum import Erratum

_PHI = "0.5 * erfc(-({}) / sqrt(2))"

ERRATA: tuple[Erratum, ...] = (
    Erratum(
        "Theorem 3, Eq. 12",
        "k = ln(2(1−α)) for α ≤ ½, −ln(2α) above",
        "the cases are exchanged; printed, the false alarms are 1/(4(1−α)) and never below ¼",
        "0.5 * exp(-log(2 * 0.95)) > 0.26 and abs(el.attacks.tampering(scale=1, bias=1).one_sided(0.05).above + "
        "log(0.1)) "
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
        "for θ > 1 it grows without bound on both sides; the test is Λ > κ. The text names (15) for (16)",
        "exp(20 - 19 / 1.5) / 1.5 > 500",
    ),
    Erratum(
        "Theorem 4",
        "the two-sided test has the largest power",
        "only if the bias is 0",
        "el.attacks.tampering(scale=1, bias=1).two_sided(0.1).power < 0.155 < 0.271 "
        "< el.attacks.tampering(scale=1, bias=1).one_sided(0.1).power",
    ),
    Erratum(
        "Eq. 42",
        "α^(1/θ)·cosh(m/θ)",
        "for m ≤ ln(1/α); beyond 1 − e^−m/θ·sinh(ln(1/α)/θ)",
        "0.5 * cosh(2) > 1 and el.attacks.tampering(scale=1, bias=2).two_sided(0.5).power < 0.9",
    ),
    Erratum(
        "Corollary 1",
        "|m| < −ln α − θ·ln β̄ is detected",
        "m ≥ m*, the inverse of the power; printed, no bias at all is “detected”",
        "el.attacks.tampering(scale=1, bias=5).two_sided(0.1).power > 0.96 and -log(0.1) - log(0.966647) < 5",
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
        "abs(el.attacks.tampering(scale=0.5, bias=-2, stretch=1.5).kl() - 2.0843422007) < 1e-9",
    ),
    Erratum(
        "Eq. 78 and the Gaussian Chernoff divergence",
        "+ln∫ and +½ln(σ₁²/σ*²)",
        "−ln∫ f₀^a f₁^(1−a), and −½ln(σ₁²/σ*²); its maximum over a is the Chernoff information, a a tilt and no prior",
        "abs(el.attacks.tampering(sigma=1, bias=0, stretch=2).chernoff_coefficient(0.5) - 0.111571775657) < 1e-10",
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
        "abs(el.attacks.tampering(epsilon=2, bias=5, sensitivity=10).roc(0.1) - el.attacks.tampering(epsilon=1, "
        "bias=1).roc(0.1)) "
        "< 1e-12",
    ),
    Erratum(
        "Eqs 7 and 62, in words",
        "H0 is that the attack is not detected; (62) is the alarm in case of an attack",
        "H0 is that there is no attack, and (62) the alarm without one. That a random X_a keeps Laplace noise Laplace "
        "is a "
        "model: their sum is not Laplace",
        "abs(el.attacks.tampering(scale=1, bias=0).one_sided(0.1).power - 0.1) < 1e-12",
    ),
    Erratum(
        "Theorem 3, negative bias",
        "the same k as for a positive one",
        "the mirrored one, k = ln(2α) for α ≤ ½: printed, the false alarms at α = 0.05 are 0.737",
        "abs(el.attacks.tampering(scale=1, bias=-1).one_sided(0.05).below - log(0.1)) < 1e-12 and 1 - 0.5 * "
        "exp(-log(1.9)) > "
        "0.73",
    ),
    Erratum(
        "Theorem 3, θ > 1",
        "the one-sided test is the most powerful",
        "for θ = 1; for θ > 1 the best test gives the alarm outside an interval, and the one-sided one is biased",
        "el.attacks.tampering(scale=1, bias=1, stretch=3).optimal(0.1).power > 0.502 > 0.409 "
        "> el.attacks.tampering(scale=1, bias=1, stretch=3).one_sided(0.1).power",
    ),
    Erratum(
        "Eqs 27 and 28",
        "κ from the branch between the means, for every k",
        "Λ(k) on the branch that holds k: at k = 5, m = 1, θ = 1.5 printed 1424, and 6.87",
        "exp((5 * 2.5 - 1) / 1.5) / 1.5 > 1400 and exp(5 - 4 / 1.5) / 1.5 < 6.88",
    ),
    Erratum(
        "Eqs 47 and 52 to 58",
        "(47) and (53) as the same bound; (52) without the sensitivity; (58) as an entropy of n records",
        "they differ; (52) is 2πe·s²; (58) is of one record only, and adds quantities of different units for n ≥ 2",
        "abs(el.attacks.privacy_distortion([1.0], false_variance=1.0) - 0.5 * log(2)) < 1e-12",
    ),
    Erratum(
        "Theorem 6, in words",
        "the answer is compared with q(X) + k, k the threshold of the likelihood ratio",
        "with q(X) + k̃, k̃ = μ₀ + σ_z·Q⁻¹(α)",
        f"abs({_PHI.format('-1.2815515655446004')} - 0.1) < 1e-12",
    ),
    Erratum(
        "Eq. 71",
        "b₀/(2b₁)·e^((μ₀−μ₁)/b₀)",
        "b₀/b₁ without the ½, as (72) has it",
        "abs(el.attacks.tampering(scale=1, bias=1).kl() - exp(-1)) < 1e-12",
    ),
    Erratum(
        "Remark 4",
        "the divergence of two Laplace laws is not symmetric",
        "it is for θ = 1; for θ = 1.5 and m = 1 it is 0.317 one way and 0.365 the other",
        "abs(log(1.5) - 1 + exp(-1) / 1.5 + 1 / 1.5 - 0.317384735556) < 1e-9 "
        "and abs(-log(1.5) - 1 + 1.5 * exp(-1 / 1.5) + 1 - 0.364660570441) < 1e-9",
    ),
    Erratum(
        "Section 6.1, the two-sided test",
        "it is less accurate than the one-sided one",
        "for θ = 1; at m = 1, θ = 1.5, α = 0.5 it has power 0.754 where the other has 0.743",
        "el.attacks.tampering(scale=1, bias=1, stretch=1.5).two_sided(0.5).power > 0.754 > 0.744 "
        "> el.attacks.tampering(scale=1, bias=1, stretch=1.5).one_sided(0.5).power",
    ),
    Erratum(
        "Figure 9",
        "KL divergence exceeds e^ε at Δμ = 4s but for small ε",
        "not with equal σ and δ = ε/20, as in Figures 6 and 7: the largest ratio is 0.892 (the setting is not given "
        "in full)",
        "0.89 < max((4 * k / 100)**2 / (2 * log(2500 / k)) / 2 / exp(k / 100) for k in range(1, 1800)) < 0.9",
    ),
)
