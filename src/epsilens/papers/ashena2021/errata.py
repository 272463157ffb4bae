"""Paper 001: what differs from what holds in Ashena et al. 2021, each with a line of Python that shows it."""

from __future__ import annotations

from ..erratum import Erratum

ERRATA: tuple[Erratum, ...] = (
    Erratum(
        "Eq. 14",
        "g(pdf(ΔM) − pdf(ΔM−d))",
        "g(pdf(ΔM−d) − pdf(ΔM)); as printed the mean is 1 − P_SDA",
        "el.attacks.differencing(epsilon=5).success() > 0.76 and 1 - el.attacks.differencing(epsilon=5).success() "
        "< 0.24",
    ),
    Erratum(
        "Eq. 15",
        "ε with P_SDA = ½",
        "no ε > 0: P_SDA = 1 − ½(1 + ε/8)e^−ε/4 > ½",
        "el.attacks.differencing(epsilon=1e-9).success() > 0.5",
    ),
    Erratum(
        "Section 6",
        "a normalised sum behaves exactly like a count",
        "only for the largest value; otherwise the exponent is scaled by value / largest",
        "el.attacks.differencing(epsilon=5, gap=43, sensitivity=121).success() < 0.61 < 0.76 "
        "< el.attacks.differencing(epsilon=5).success()",
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
        "abs(papers.ashena2021.estimate(papers.ashena2021.Attack(epsilon=5.0), printed=True).success - 0.5) < 0.02",
    ),
    Erratum(
        "Algorithm 3",
        "stop at the first estimate within the tolerance",
        "biased upwards, unsafe; the inverse of the closed form is exact",
        "abs(el.choose(el.attacks.differencing, 'epsilon', at_most=0.51).value - 0.160041856097) < 1e-9",
    ),
    Erratum(
        "Averages, clamped answers",
        "one can only guess randomly",
        "an answer on a bound is evidence, and the interior rule already uses it",
        "el.attacks.differencing_average(epsilon=0.5, n=2, value=90, mean=50, bounds=(0, 121)).success() > 0.59 > "
        "0.5055",
    ),
    Erratum(
        "Averages, a = Q1",
        "a success of exactly ½",
        "½ + ((n−1)/n)^(n−1)/(2n) without clamping: the two scales differ",
        "abs(el.attacks.differencing_average(epsilon=300, n=2, value=50, mean=50, bounds=(0, 121)).success() - "
        "0.625) < 1e-6",
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
        "(lambda a: a.tree(el.attacks.differencing(epsilon=10, gap=98, sensitivity=121, known=True).success(), "
        "120) > 10 * "
        "a.exact_belief(10, a.ages(), 121))(papers.ashena2021)",
    ),
    Erratum(
        "Figure 4",
        "similar recall at α = 0.5",
        "the test of paper 000 has 1 − ½e^−ε, higher by up to 0.125",
        "el.laplace(epsilon=2 * log(2)).recall(0.5) - el.laplace(epsilon=2 * log(2)).success() > 0.1249",
    ),
    Erratum(
        "Section 4, sums",
        "ΔQ is the maximum value of the attribute",
        "the largest absolute value: with values from −5 to 2 the noise must be for 5",
        "el.attacks.differencing(epsilon=1, gap=5, sensitivity=2).success() > "
        "el.attacks.differencing(epsilon=1).success()",
    ),
    Erratum(
        "Algorithm 1, lines 3 and 5",
        "0 stands for an answer that is not given",
        "an answer may be 0: with Q2 = 0 known, the attack as printed is a coin where 0.959 is right",
        "abs(papers.ashena2021.estimate(papers.ashena2021.Attack(epsilon=5.0, known='narrow'), printed=True).success "
        "- 0.5) "
        "< 0.02 < 0.4 < el.attacks.differencing(epsilon=5, known=True).success() - 0.5",
    ),
    Erratum(
        "Eqs 10 and 11, Algorithm 1, line 11",
        "pdf((n−1)(ΔM−d)) is compared with pdf(n·ΔM)",
        "(n−1)·pdf((n−1)(ΔM−d)) with n·pdf(n·ΔM): densities of scaled noise have their factor",
        "el.attacks.differencing_average(epsilon=1, n=13, value=43, mean=50, bounds=(0, 121)).success() > 0.519 > "
        "0.5149 "
        "> 1 - 0.5 * exp(-13 * 7 / (25 * 121))",
    ),
    Erratum(
        "Algorithms 2 and 3, names",
        "α is the confidence level; Q_Idx is 1 or 2, and passed by Algorithm 3; “success” is counted",
        "1 − α is the confidence; Q_Idx may be 0 (line 9) and is no parameter of Algorithm 2; “successes” is counted",
        "(lambda ends: 0.0199 < ends[1] - ends[0] <= 0.020001)(papers.ashena2021.clopper_pearson(8342, 16684, 0.01))",
    ),
    Erratum(
        "Section 7, counts",
        "counts are the weakest of the aggregations",
        "like for like; an average with one answer known, of somebody far from the mean, is guessed more often",
        "el.attacks.differencing_average(epsilon=5, n=1320, value=121, mean=50, bounds=(0, 121)).success() > 0.88 "
        "> el.attacks.differencing(epsilon=5).success()",
    ),
    Erratum(
        "Section 8, more than two queries",
        "the more Laplace variables are added, the closer to the uniform law",
        "the closer to the normal law: the excess kurtosis of k of them is 3/k, a uniform law has −6/5. That more "
        "queries "
        "help nobody holds",
        "3 / 100 > 0 > -6 / 5 and 1 - 0.5 * (1 + 5 / 4) * exp(-5 / 2) < el.attacks.differencing(epsilon=5, "
        "known=True).success()",
    ),
    Erratum(
        "Section 8, reconstruction",
        "ε set by P_SDA protects against linear reconstruction",
        "where all queries share that ε; P_SDA is the success of one attack and no bound on others",
        "el.laplace(epsilon=5 / 2).repeat(2).success() > 0.9 > 0.77 > el.attacks.differencing(epsilon=5).success()",
    ),
)
