"""What a scan found: a sentence, a table, plain values; nobody's values unless asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...attacks.differencing_queries import differencing
from ...calibration.choose import choose
from ...experiment import Experiment
from ...mechanisms.composition import compose
from ...mechanisms.noise import calibrated_psi, gaussian, laplace
from ...numerics.values import FrozenMapping, ValueSemantics
from ...readings.law import Exactness
from ...results import SentenceResult, presenter
from ..queries import Noise, Query
from .answer_combinations import AnswerCombination, IsolatingPair
from .request import NoiseAttack, ScanRequest

if TYPE_CHECKING:
    import ibis.expr.types as ir

#
# The attack (paper 001): ask the planned query, ask it again without the person's combination, and subtract. What
# remains is the person's contribution or nothing, under noise. The person's *gap* is that contribution:
#
# * count, histogram: 1, a person counts once; sum: :math:`\sum|x|` with x clamped to the bounds; average:
#   :math:`\sum|x-\bar x|\cdot 2n/(2n-1)` over the n rows of the answer (the paper's rule for one known answer);
# * over rows the attacker knows to be covered: a WHERE term on quasi-identifiers is knowledge and counts, any other
#   term is the secret itself. The guess is as good for people whose secret is "no", so they count in full;
# * at most the query's sensitivity, because rows beyond ``max_rows`` a person are dropped before the release;
# * through rows whose combination is the person's alone. Where several rows or groups add up, the sum of absolute
#   values is an upper bound on what any way of combining the answers can show.

Floats: TypeAlias = NDArray[np.float64]
_LEVELS = {"worst": 1.0, "99%": 0.99, "90%": 0.9, "median": 0.5}


@dataclass(frozen=True)
class GroupFacts:
    """How many groups a query answers for, how many cover one person only, and the expression of them all."""

    groups: int
    lonely: int
    table: ir.Table
    people: int
    rows: int
    mean: float | None


@dataclass(frozen=True, eq=False, repr=False)
class QueryRisk(ValueSemantics):
    """What one planned query means for the people who can be isolated.

    ``gap``, ``ratio`` (gap over sensitivity) and ``success`` are read at the worst-placed person, at 99% and 90% of
    people and at the median; ``above`` counts those above the limit; ``largest_epsilon`` keeps the worst, or the
    chosen quantile, at the limit, and is None when there is no limit or nobody is exposed. ``known`` is the success at
    the worst-placed person if one of the two answers is known exactly.
    """

    query: Query
    sensitivity: float
    groups: int
    lonely_groups: int
    people: int
    gap: Mapping[str, float]
    ratio: Mapping[str, float]
    success: Mapping[str, float] | None
    above: int | None
    largest_epsilon: float | None
    known: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "gap", FrozenMapping(self.gap))
        object.__setattr__(self, "ratio", FrozenMapping(self.ratio))
        object.__setattr__(self, "success", None if self.success is None else FrozenMapping(self.success))

    def to_dict(self) -> dict[str, object]:
        """The risk as plain values."""
        plain = {k: dict(v) if isinstance(v, Mapping) else v for k, v in vars(self).items()}
        return {**plain, "query": self.query.to_dict()}


def query_risk(
    query: Query, facts: GroupFacts, gaps: tuple[Floats, NDArray[np.int64]], max_rows: int, request: ScanRequest
) -> QueryRisk:
    """Read the risk of one query off the histogram ``(values, people)`` of its gaps."""
    epsilon, limit, attack = request.epsilon, request.at_most, request.attack
    sensitivity = query.sensitivity(max_rows)
    values, people = np.minimum(gaps[0], sensitivity), gaps[1]
    order = np.argsort(values, kind="stable")
    values, people = values[order], people[order]
    total = int(people.sum())
    at = {name: _quantile(values, people, q) for name, q in _LEVELS.items()}
    ratio = {name: gap / sensitivity for name, gap in at.items()}
    success = above = largest = known = None
    if epsilon is not None:
        told = replace(attack, known=True)
        known = float(told.success(epsilon, np.array([at["worst"]]), sensitivity)[0])
        odds = attack.success(epsilon, np.array(list(at.values())), sensitivity)
        success = dict(zip(at, (float(o) for o in odds), strict=True))
        if limit is not None:
            each = attack.success(epsilon, values, sensitivity) if total else values
            above = int(people[each > limit * (1 + 1e-12)].sum())
    if limit is not None:
        largest = attack.largest_epsilon(limit, _quantile(values, people, request.quantile or 1.0), sensitivity)
    return QueryRisk(
        query=query, sensitivity=sensitivity, groups=facts.groups, lonely_groups=facts.lonely, people=total, gap=at,
        ratio=ratio, success=success, above=above, largest_epsilon=largest, known=known,
    )  # fmt: skip


def _quantile(values: Floats, people: NDArray[np.int64], q: float) -> float:
    """The least value such that at least a share ``q`` of the people are at or below it; 0 for nobody.

    >>> _quantile(np.array([0.0, 1.0, 5.0]), np.array([5, 4, 1]), 0.9)
    1.0
    """
    total = int(people.sum())
    if total == 0:
        return 0.0
    reached = np.cumsum(people)
    # A hair below q·total: 0.9 · 10 must not become 9.000000000000002 and skip a person.
    return float(values[int(np.searchsorted(reached, q * total * (1 - 1e-12)))])


#
# Nothing is known of the others, whose amounts may be anything. What is left of the answers is what the others'
# amounts leave unchanged (Hunt and Stein): where one combination of the answers is all of it, its law is the whole
# truth. For two answers with Laplace noise of scales b₁ and b₂ that is a shift by the person's contribution under
# :math:`\mathrm{Lap}(b_1)+\mathrm{Lap}(b_2)`, each answer at its own full ε; with normal noise, variances add. Where
# several combinations tell something, all answers that the person is in, with everyone else known, are an upper bound.

_MOST_ANSWERS = 64  # of a sum whose law is computed


@dataclass(frozen=True)
class PlannedRisk:
    """A combination of planned answers at the planned ε of each: how often a guess about the person is right.

    ``success`` is that of the worst-placed person, an upper bound where ``bound`` says so; ``alone`` what these answers
    by themselves reach, None where that is not computed; ``known`` what whoever knows everyone else's records reaches.
    ``largest_epsilon`` keeps ``success`` at the limit. All are None without an ε, or without a limit.
    """

    found: AnswerCombination
    names: tuple[str, ...]
    success: float | None
    alone: float | None
    known: float | None
    bound: bool
    above: bool | None
    largest_epsilon: float | None

    def to_dict(self) -> dict[str, object]:
        """The risk as plain values."""
        kept = {name: value for name, value in vars(self).items() if name != "found"}
        return {**self.found.to_dict(), **kept, "names": list(self.names)}


def full_knowledge_experiment(found: AnswerCombination, steps: Mapping[int, float], noise: Noise) -> Experiment:
    """All answers that the person is in, when everyone else's records are known: no attack does better.

    ``steps`` says for each query by how many noise scales (Laplace b, standard deviation σ) a person moves one answer
    of it; for geometric noise, its ε.
    """
    sizes = [steps[i] for i in found.moved]
    if noise is Noise.GAUSSIAN:
        return gaussian(psi=float(np.linalg.norm(sizes)))
    each = [_single_answer_experiment(size, noise) for size in sizes]
    return each[0] if len(each) == 1 else compose(*each)


def combination_experiment(found: AnswerCombination, steps: Mapping[int, float], noise: Noise) -> Experiment:
    """What the planned answers tell about the isolated person; ``law.known`` says whether it is exact or a bound.

    >>> pair = AnswerCombination((0, 1), (1, -1), (0,), 1, True, 0.5**0.5)
    >>> combination_experiment(pair, {0: 1.0, 1: 1.0}, Noise.LAPLACE).success()
    0.62091833...
    >>> full_knowledge_experiment(pair, {0: 1.0}, Noise.LAPLACE).success()
    0.69673467...
    """
    if found.exact:
        alone = exact_combination_experiment(found, steps, noise)
        if alone is not None:
            return alone
    top = full_knowledge_experiment(found, steps, noise)
    if noise is Noise.GAUSSIAN:
        # ‖Pt‖ in units of the smallest σ bounds it too, and is the truth where all answers have one scale.
        reach = min(float(np.linalg.norm([steps[i] for i in found.moved])), found.shift * max(steps.values()))
        top = gaussian(psi=reach)
    return replace(top, law=top.law.as_bound())


def exact_combination_experiment(
    found: AnswerCombination, steps: Mapping[int, float], noise: Noise
) -> Experiment | None:
    """The combination alone: one answer, the difference of two, or more of one scale; None for any other."""
    sizes = [steps[i] for i in found.queries]
    if not found.weights:
        return None
    if noise is Noise.GAUSSIAN:  # variances add
        return gaussian(psi=found.gain / float(np.linalg.norm(np.divide(found.weights, sizes))))
    if any(abs(w) != 1 for w in found.weights):
        return None
    if found.alone:
        return _single_answer_experiment(sizes[0], noise)
    total = sum(sizes)
    if found.pair:
        return differencing(epsilon=total, split=sizes[0] / total, gap=found.gain, noise=noise.value)
    if noise is Noise.LAPLACE and len(set(sizes)) == 1 and len(sizes) <= _MOST_ANSWERS:
        return differencing(epsilon=total, queries=len(sizes), gap=found.gain)
    return None


def _single_answer_experiment(size: float, noise: Noise) -> Experiment:
    """One answer that moves by so many noise scales."""
    if noise is Noise.GEOMETRIC:
        return differencing(epsilon=size, known=True, noise=noise.value)
    return laplace(epsilon=size)


def planned_risks(
    combinations: Sequence[AnswerCombination],
    names: Sequence[str],
    attack: NoiseAttack,
    epsilon: float | None,
    limit: float | None,
) -> tuple[PlannedRisk, ...]:
    """Each combination at the planned ε of every query; a person moves an answer by its sensitivity at most."""
    made = []
    remembered: dict[tuple[object, ...], tuple[Any, ...]] = {}
    for found in combinations:
        # In units of noise all answers are alike here, so combinations of one form have one risk.
        form = (found.weights, len(set(found.queries)), len(found.moved), found.exact, found.shift, found.compared)
        if form not in remembered:
            remembered[form] = _combination_risk(found, attack, epsilon, limit)
        made.append(PlannedRisk(found, tuple(names[i] for i in found.queries), *remembered[form]))
    return tuple(made)


def _combination_risk(
    found: AnswerCombination, attack: NoiseAttack, epsilon: float | None, limit: float | None
) -> tuple[object, ...]:
    if not found.compared:
        return None, None, None, True, None, None

    def steps(epsilon: float) -> dict[int, float]:
        size = epsilon if attack.delta is None else calibrated_psi(epsilon, attack.delta, "analytic")
        return dict.fromkeys({*found.queries, *found.moved}, size)

    def seen(*, epsilon: float) -> Experiment:
        return (full_knowledge_experiment if attack.known else combination_experiment)(
            found, steps(epsilon), attack.noise
        )

    success = alone = known = above = largest = None
    bound = seen(epsilon=epsilon or 1.0).law.known is Exactness.BOUND
    if epsilon is not None:
        success = float(np.asarray(seen(epsilon=epsilon).success()))
        known = float(np.asarray(full_knowledge_experiment(found, steps(epsilon), attack.noise).success()))
        itself = exact_combination_experiment(found, steps(epsilon), attack.noise)
        alone = None if itself is None else float(np.asarray(itself.success()))
        above = None if limit is None else success > limit * (1 + 1e-12)
    if limit is not None:
        largest = float(choose(seen, "epsilon", at_most=limit, reading="success").value)
    return success, alone, known, bound, above, largest


#
# Whoever finds in the population a person with a combination that one person of the table has alone, takes the one for
# the other. The match is right with probability :math:`\theta = \sum_j 1(f_j=1) / \sum_j F_j 1(f_j=1)`, where of the
# :math:`F_j` people with combination j the table holds :math:`f_j`. If everyone is in the table with probability
# :math:`\pi`, independently, then
#
# .. math:: \hat\theta = \frac{\pi n_1}{\pi n_1 + 2(1-\pi) n_2},
#
# with :math:`n_k` combinations that k people of the table share, estimates it without any model of the population:
# :math:`E[n_1] = \sum F\pi(1-\pi)^{F-1}` and :math:`2(1-\pi)E[n_2] = \pi\sum (F-1)F\pi(1-\pi)^{F-1}` (Skinner and
# Elliot, A measure of disclosure risk for microdata, J. R. Statist. Soc. B 64, 2002, 855-867).


def right_matches(fraction: float, alone: int, twice: int) -> float | None:
    """The share of matches with a person alone in the table that are right; None where nobody is alone.

    >>> right_matches(0.1, alone=90, twice=45)
    0.1
    >>> right_matches(1.0, alone=3, twice=5)
    1.0
    """
    if not alone:
        return None
    return fraction * alone / (fraction * alone + 2 * (1 - fraction) * twice)


#: The version of ``Scan.to_dict``; it changes when a key changes its name or meaning.
SCHEMA = 1


@dataclass(frozen=True)
class SubsetResult:
    """One subset of the quasi-identifiers: the combinations it takes and the people it isolates."""

    columns: tuple[str, ...]
    combinations: int
    people: int


@dataclass(frozen=True)
class ColumnShare:
    """What one column contributes to isolation.

    ``alone`` people are isolated by this column by itself; ``lost_without`` fewer are isolated when it is left out;
    ``shapley`` is its fair share of the people isolated by all columns (the shares add up to them). The last two are
    None when ``known_columns`` leaves out the subsets they need.
    """

    column: str
    alone: int
    lost_without: int | None
    shapley: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Scan(ValueSemantics, SentenceResult):
    """Who can be isolated in a table, and what planned queries tell about them.

    ``isolated`` people have, among their rows, a combination of at most ``known_columns`` quasi-identifiers that no
    other person has; ``class_sizes`` maps a range of sizes to the combinations of all columns shared by that many
    people; ``fewest[k]`` people need k columns and no fewer, ``never`` are never alone. ``exceeded`` says whether
    the attacker's success is over the limit at ``epsilon``; ``largest_epsilon`` is the one that keeps it there.
    ``planned`` are the planned answers that isolate someone together; they count for both.
    """

    shown_as = "scan"

    table: str
    engine: str
    rows: int
    people: int
    person: str | None
    quasi_identifiers: tuple[str, ...]
    known_columns: int
    min_query_size: int
    isolated: int
    class_sizes: Mapping[str, int]
    subsets: tuple[SubsetResult, ...]
    fewest: Mapping[int, int]
    never: int
    columns: tuple[ColumnShare, ...]
    queries: tuple[QueryRisk, ...]
    pairs: tuple[IsolatingPair, ...]
    planned: tuple[PlannedRisk, ...]
    epsilon: float | None
    at_most: float | None
    quantile: float | None
    noise: Noise
    delta: float | None
    known: bool
    max_rows: int
    largest_epsilon: float | None
    exceeded: bool | None
    shown: tuple[Mapping[str, object], ...]
    notes: tuple[str, ...]
    sampling_fraction: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "class_sizes", FrozenMapping(self.class_sizes))
        object.__setattr__(self, "fewest", FrozenMapping(self.fewest))
        object.__setattr__(self, "shown", tuple(FrozenMapping(values) for values in self.shown))

    def __repr__(self) -> str:
        table = self.table if len(self.table) <= 60 else self.table[:59] + "…"
        epsilon = "" if self.epsilon is None else f", epsilon={self.epsilon:g}"
        told = "" if self.exceeded is None else f", exceeded={self.exceeded}"
        return (
            f"Scan(table={table!r}, people={self.people}, isolated={self.isolated}, "
            f"quasi_identifiers={len(self.quasi_identifiers)}, queries={len(self.queries)}{epsilon}{told})"
        )

    @property
    def worst(self) -> QueryRisk | None:
        """The planned query under which the attacker does best."""
        return max(self.queries, key=lambda q: q.ratio["worst"], default=None)

    @property
    def right_matches(self) -> float | None:
        """The share of matches between the population and people alone in the table that are right, an estimate.

        It is about combinations of all the columns; None without a sampling fraction, or where nobody is alone.
        """
        if self.sampling_fraction is None:
            return None
        return right_matches(self.sampling_fraction, self.class_sizes["1"], self.class_sizes["2"])

    @property
    def combinations(self) -> tuple[AnswerCombination, ...]:
        """Planned answers that isolate someone together, whatever their noise."""
        return tuple(risk.found for risk in self.planned)

    @property
    def worst_planned(self) -> PlannedRisk | None:
        """The planned answers under which the person they isolate stands worst; None where they isolate nobody."""
        compared = [p for p in self.planned if p.found.compared]
        return max(compared, key=lambda p: (p.success or 0.0, p.found.shift), default=None)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON."""
        plain = dict(vars(self))
        plain["class_sizes"] = dict(self.class_sizes)
        plain["noise"] = self.noise.value
        plain["schema"] = SCHEMA
        plain["sentence"] = self.sentence
        plain["quasi_identifiers"] = list(self.quasi_identifiers)
        plain["subsets"] = [{**vars(s), "columns": list(s.columns)} for s in self.subsets]
        plain["fewest"] = {str(k): v for k, v in self.fewest.items()}
        plain["columns"] = [dict(vars(c)) for c in self.columns]
        plain["queries"] = [q.to_dict() for q in self.queries]
        plain["pairs"] = [p.to_dict() for p in self.pairs]
        plain["combinations"] = [p.to_dict() for p in plain.pop("planned")]
        plain["right_matches"] = self.right_matches
        plain["worst_query"] = None if self.worst is None else str(self.worst.query)
        plain["shown"] = [dict(s) for s in self.shown]
        plain["notes"] = list(self.notes)
        return plain

    @property
    def verdict(self) -> str:
        """Whether the limit holds, and the largest ε for which it does; empty without a limit."""
        return presenter().verdict(self)
