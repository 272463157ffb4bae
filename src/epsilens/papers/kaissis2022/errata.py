"""Paper 002: what differs from what holds in Kaissis et al. 2022, each with a line of Python that shows it."""

from __future__ import annotations

from ..erratum import Erratum

_PHI = "0.5 * erfc(-({}) / sqrt(2))"

ERRATA: tuple[Erratum, ...] = (
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
        "abs(papers.kaissis2022.binormal(0.1, (0, 1.2), (0.8, 1.5)) - 0.5463742) < 1e-7",
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
        "abs(el.mechanisms.from_gdp(1.0).psi() - 1) < 1e-12",
    ),
    Erratum(
        "Corollary 9",
        "the training is ψ-GDP",
        "an approximation for T → ∞, below the truth for few steps or little noise",
        "el.mechanisms.clt(sigma=1, rate=0.01, steps=100, variant='fixed').epsilons['exact'] < 0.62 < 0.71 "
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
    Erratum(
        "Definition 2 and later",
        "N(f(D), σ) and σI",
        "N(f(D), σ²) and σ²I: σ is a standard deviation, as in ψ = Δ/σ",
        "abs(el.gaussian(sigma=2).psi() - 0.5) < 1e-12",
    ),
    Erratum(
        "Definition 3, in words",
        "the loss is bounded by e^ε with probability 1 − δ",
        "by ε, and that is sufficient only: at ψ = ε = 1 it is so with probability 0.69, and 1 − δ is 0.87",
        f"{_PHI.format('0.5')} < 0.7 < 0.87 < 1 - el.gaussian(psi=1).delta(1)",
    ),
    Erratum(
        "Lemma 2",
        "R maps into [0, 1]²",
        "into [0, 1]",
        "0 < el.gaussian(psi=1).roc(0.5) < 1",
    ),
    Erratum(
        "Corollary 4",
        "TPR ≤ e^ε·FPR + δ",
        "and 1 − FPR ≤ e^ε(1 − TPR) + δ: (FPR, TPR) = (0.9, 1) satisfies the first alone at ε = 1, δ = 0",
        "1 <= exp(1) * 0.9 and not 1 - 0.9 <= exp(1) * (1 - 1)",
    ),
    Erratum(
        "Eq. 20",
        "δ as the difference at one x, by monotonicity",
        "the supremum over x of R(x) − e^ε·x, by concavity",
        "0 <= el.gaussian(psi=1).delta(1) - max(el.gaussian(psi=1).roc(k / 1000) - exp(1) * k / 1000 for k in "
        "range(1000)) "
        "< 1e-6",
    ),
    Erratum(
        "Lemma 5, proof",
        "two outer Φ are missing, and the map is called a shift of x",
        "R(x) = 1 − G_ψ(x): the map is y → 1 − y",
        "abs(el.gaussian(psi=1).roc(0.3) - (1 - el.gaussian(psi=1).tradeoff(0.3))) < 1e-12",
    ),
    Erratum(
        "Corollary 6, reason",
        "G_μ falls with μ because R is monotone in x",
        "because R grows with ψ at every x",
        "el.gaussian(psi=2).tradeoff(0.3) < el.gaussian(psi=1).tradeoff(0.3)",
    ),
    Erratum(
        "Corollary 10",
        "the divergence for any two widths, in any dimension",
        "finite only if ασⱼ² + (1−α)σᵢ² > 0; in d dimensions the two logarithms count d times",
        "2 * 0.5**2 + (1 - 2) * 1**2 < 0",
    ),
    Erratum(
        "Lemma 7",
        "(α, ρ)-RDP, with the inequality garbled",
        "if and only if ρ ≥ αψ²/2",
        "abs(el.gaussian(psi=2).renyi(3) - 3 * 2**2 / 2) < 1e-12",
    ),
    Erratum(
        "Theorem of §6",
        "all five statements are equivalent",
        "for the Gaussian mechanism. Randomised response at ε = 1 keeps αψ²/2 at ψ = 1 for every α and is not 1-GDP",
        "el.mechanisms.randomized_response(epsilon=1).renyi(2) < 1 and "
        "el.mechanisms.randomized_response(epsilon=1).advantage() > 0.46 > "
        "0.39 "
        "> el.gaussian(psi=1).advantage()",
    ),
)
