"""Paper 004: what differs from what holds in Li et al. 2019, each with a line of Python that shows it."""

from __future__ import annotations

from ..erratum import Erratum

ERRATA: tuple[Erratum, ...] = (
    Erratum(
        "Theorem 1",
        "independence makes the leakage the same for every adversary, for any mechanism",
        "for sums with Laplace noise; an exclusive or leaks 0 to who knows nothing and ε to who knows the rest",
        "(lambda xor: papers.li2019.leakage(xor, lambda a, b: a ^ b, 0, {}) < 1e-12 < 0.999 < "
        "papers.li2019.leakage(xor, "
        "lambda a, b: a ^ b, 0, {1: 0}))([[0.25, 0.25], [0.25, 0.25]])",
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
        "for two values; with three it may be the other at any λ, and all terms may be negative where the correlation "
        "is "
        "positive. The proof takes e^x for 1 + x; (30) needs x_{j,k}, and ν₁ is misprinted μ₂",
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
        "papers.li2019.algorithm2(papers.li2019.star(3)) < 1.97 < 2.21 < "
        "papers.li2019.algorithm1(papers.li2019.star(3))",
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
    Erratum(
        "Definition 1, local sensitivity",
        "LS_i is written as GS is",
        "LS_i is the supremum over pairs that differ in tuple i",
        "abs(el.correlated.table([[0.25, 0.25], [0.25, 0.25]], values=[[0, 1], [0, 5]]).leakage(0) - 1) < 1e-12",
    ),
    Erratum(
        "Definition 2",
        "the supremum over i, K and θ",
        "over the known values x_K as well: knowing a 1 or a 0 is not the same",
        "(lambda t: t.leakage(1, {0: 1}) > 1.26 > 1.11 > t.leakage(1, {0: 0}))(el.correlated.table([[[0.59, 0.19], "
        "[0.08, 0.04]], [[0.06, 0.02], [0.01, 0.01]]]))",
    ),
    Erratum(
        "Examples 2 and 3",
        "0.82 for II(b); Example 3's leakages are of who knows x₂",
        "0.81 (0.8146); they are of who knows nothing",
        "abs(el.correlated.table([[0.2, 0.3], [0.3, 0.2]]).leakage(0) - 0.8146240967) < 1e-9 "
        "and el.correlated.table([[0.49, 0.01], [0.01, 0.49]]).leakage(0) > 1.95",
    ),
    Erratum(
        "Eqs 9 and 10",
        "one term of correlation, with weights e^(−x/λ)",
        "it is the one of r → −∞; r → +∞ has weights e^(x/λ), and both orders of the two values and the answers in "
        "between "
        "count: at x₂ ∈ {0, 3} the leakage is 1.74 where both ends give 0.83",
        "el.correlated.table([[0.05, 0.45], [0.45, 0.05]], values=[[0, 1], [0, 3]]).leakage(0) > 1.741 > 0.84",
    ),
    Erratum(
        "Lemma 3",
        "the covariance without the factor p₁·p₂",
        "Cov = p₁·p₂·(x₂−x₁)(E[y|x₂]−E[y|x₁]); its sign, which the proof needs, is the same",
        "abs((0.3 - 0.5 * 0.5) - 0.5 * 0.5 * (0.6 - 0.4)) < 1e-12",
    ),
    Erratum(
        "Algorithm 1",
        "“return l_k” inside the loop, and a least upper bound of the leakage",
        "l_k is assigned there; and the result may be below the leakage",
        "(lambda t: papers.li2019.algorithm1(t) < 1.27 < 1.36 < t.worst(scale=1.0).leakage)("
        "el.correlated.table([[0.75, 0.15], [0.05, 0.05]]))",
    ),
    Erratum(
        "Corollary 2, proof",
        "the sum of the covariances without 1/Σ_ii",
        "|Σ_j Σ_ij|/Σ_ii·M/λ, as the corollary itself says",
        "abs(el.correlated.normal([[4, 1], [1, 1]]).leakage(0) - (4 + 1) / 4) < 1e-12",
    ),
    Erratum(
        "§VII, Figures 4(a), 4(b) and 5",
        "they validate Theorems 2 and 5",
        "their edges are drawn at random and belong to no joint law; on a real one Algorithm 2 falls below the leakage",
        "papers.li2019.algorithm2(papers.li2019.star(3)) < 1.97 < 2.21 < "
        "papers.li2019.star(3).worst(scale=1.0).leakage",
    ),
    Erratum(
        "Eqs 12 and 13, in words",
        "IR and LS_j/λ are the impact of sensitivity and of correlation, respectively",
        "the other way round: IR = IC·λ/LS_j is that of correlation, 1 for records that are equal",
        "abs(papers.li2019.correlation_terms(el.correlated.table([[0.5, 0], [0, 0.5]]), 0, 1, {}, 1.0)[0] - 1) < 1e-12",
    ),
)
