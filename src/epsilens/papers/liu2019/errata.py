"""Paper 000: what differs from what holds in Liu et al. 2019, each with a line of Python that shows it."""

from __future__ import annotations

from ..erratum import Erratum

ERRATA: tuple[Erratum, ...] = (
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
        "el.mechanisms.vector(epsilon=1, q=2, calibration='each').experiment.advantage() < 0.449 < 0.632 "
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
        "if the positive value is the likelier one; otherwise the odds turn round and precision falls. The names of "
        "the "
        "hypotheses are those of Eq. 13 exchanged",
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
        "only as a supremum over product priors; for a fixed prior ε_IP may be 0. The two are printed with the same "
        "words",
        "el.notions.inferential(el.notions.randomized_response(1.0, of=lambda d: d[0] ^ d[1], records=2), "
        "el.notions.uniform(el.notions.randomized_response(1.0, of=lambda d: d[0] ^ d[1], records=2))) == 0",
    ),
    Erratum(
        "§4.2",
        "telling any two values apart is “not worse than” telling the first from the last",
        "not better than: values nearer to each other move the answer by less, and the noise is the same",
        "el.laplace(epsilon=1, shift=0.5).success() < el.laplace(epsilon=1).success()",
    ),
    Erratum(
        "Eq. 8",
        "λ = e^((2θ−Q(D)−Q(D′))ε/ΔQ) for every θ",
        "for θ between Q(D′) and Q(D); beyond them λ stays e^−ε and e^ε, as Eq. 7 has it",
        "exp(2 * 3 - 1) > 148 and el.laplace(epsilon=1).epsilon(0) < 1.000001",
    ),
    Erratum(
        "Eq. 7 and Theorem 5",
        "precision against recall depends on ε alone, for every record",
        "for a record that moves the answer by ΔQ; one that moves it by less has ε·|Q(D)−Q(D′)|/ΔQ in place of ε",
        "abs(el.laplace(epsilon=1, shift=0.5).recall(0.1) - el.laplace(epsilon=0.5).recall(0.1)) < 1e-12",
    ),
    Erratum(
        "Table 1, entries rounded up",
        "nine further entries, such as 0.55 at (0.5, 0.62) and 4.29 at (0.5, 0.95)",
        "0.5488 and 4.2899: a largest ε is rounded down, or it breaks its bound",
        "el.laplace(epsilon=0.55).fbeta(0.5) > 0.62 and el.laplace(epsilon=4.29).fbeta(0.5) > 0.95",
    ),
    Erratum(
        "Appendix 10.3",
        "the “minimum value” of F at the turning point of f",
        "the maximum: f is what F has in its denominator",
        "el.laplace(epsilon=2).fbeta() > 2 * el.laplace(epsilon=2).recall(0.5) / (el.laplace(epsilon=2).recall(0.5) + "
        "1.5)",
    ),
    Erratum(
        "Eq. 28",
        "∂f/∂θ = ½β²ε·e^−x/(½e^−x)², x = (θ−Q(D))ε/ΔQ, after a line with ε²",
        "ε/ΔQ in place of ε in both lines; as Eq. 32 has it in its last one",
        "abs(((0.5 * exp(-8.002 / 3) + 1) / (0.5 * exp(-2.002 / 3)) - (0.5 * exp(-8 / 3) + 1) / (0.5 * exp(-2 / 3))) "
        "/ 0.001 "
        "- 2 * (2 / 3) * exp(2 / 3)) < 0.01",
    ),
    Erratum(
        "Appendix 10.5.1, third interval",
        "[Q(D′), ∞), from which Eq. 12 follows",
        "[Q(D), ∞), and Eq. 18 follows: with a prior the best F differs from Eq. 12's",
        "el.laplace(epsilon=2).fbeta(prior=1 / 1.8) - el.laplace(epsilon=2).fbeta() > 0.018",
    ),
    Erratum(
        "Text after Eq. 20",
        "the fraction before the result has 1 − 1/((1+1/(1−ρ_p))(1−ρ_c)) beneath",
        "1 − (1/(1−ρ_p))/((1+1/(1−ρ_p))(1−ρ_c)); the result 1/(1−ρ_p−ρ_c(2−ρ_p)) is right",
        "abs(1.25 / (2.25 * 0.9) / (1 - 1.25 / (2.25 * 0.9)) - 1 / 0.62) < 1e-12 and 1.25 / (2.25 * 0.9) / (1 - 1 / "
        "(2.25 * "
        "0.9)) < 1.22",
    ),
    Erratum(
        "Eqs 20 and 23, the largest posterior",
        "max P^c = 1/((2−ρ_p)(1−ρ_c)), and P^c of the other value is 1 − P^c",
        "an upper bound, since the two minima may be at different values; and 1 − P^c only if there are two values",
        "0.7 / 0.75 < 1 / ((2 - 0.75) * (1 - 2 / 3))",
    ),
    Erratum(
        "Theorem 7, ε_DDP = ε_IP",
        "dependent and inferential privacy have the same ε",
        "where inferential privacy is of whole databases; of one record it compares mixtures over the others, and may "
        "be 0",
        "(lambda m: el.notions.dp(m) > 0.999 and el.notions.inferential(m, el.notions.uniform(m)) == 0)("
        "el.notions.randomized_response(1.0, of=lambda d: d[0] ^ d[1], records=2))",
    ),
)
