"""The adversaries' readings at one release: at the planned ε, at the limit, and along a curve of ε.

Beside the worst-placed person stands a sample of real owners: those with the smallest keyed hash, the same
in every run and on every engine, and nobody chose it.

The numbers of an assessment are those of one worst-placed person. A real one adds less than the most to each number.
For a sample of the table's people the movement is known exactly, t = (what they add)/scale, and so are the names that
exist because of them alone. Up to ten Laplace numbers have their law in closed form; the losses of more are added on a
grid that rounds against the defender: each loss is shared by the two places of the grid around it so that both worlds
keep their masses, which is a mean-preserving spread of e^{−L} and can only help who guesses.

    success = (1 − p) + p·E₁[(1 − e^{ε₀−L})₊],   ε₀ = log((1 − p)/p).

Where one record is replaced by another, a person is told from a record that counts in no answer.

Several people together (a household) move the same numbers, k times as far, or are alone in groups of their own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from ..calibration.choose import reading_argument
from ..catalogue.readings import find_reading
from ..data.queries import Noise, QueryKind
from ..data.tables.columns import value_of
from ..data.tables.dialect import as_integer, number_duplicates
from ..data.tables.row_limit import HASH, hash_key
from ..data.tables.table import OpenTable
from ..errors import NoSolutionError
from ..numerics.values import FrozenMapping, ValueSemantics
from ..plan.answers import ExactAnswer, TableAnswers, grouped_needs, label_order, placed_items, rows_in_order
from ..plan.contribution import NoisyNumber, contribution, name_probability, noisy_numbers, scale_of
from ..plan.file import error_place
from ..plan.labels import display_label
from ..plan.model import Release
from ..plan.movement import AdversaryQuestion, movements
from ..plan.scan_plan import Need, QueryColumns, Survey, content_columns, query_columns
from .accuracy import MOST_EPSILON, QueryAccuracy
from .adversaries import AdversaryEntry, AdversaryGoal, Setting, met_adversaries
from .worst_case import MovementPair, WorstCase, largest_epsilon, largest_movements, movement_pair

_CURVE_POINTS = 25
_MOST_DRAWN = 100.0  # an ε beyond says "anything goes": it is told, not drawn
#: Readings that are 1 where some answer is conclusive.
_BELIEFS = ("posterior", "precision")


@dataclass(frozen=True, eq=False, repr=False)
class AdversaryRisk(ValueSemantics):
    """One adversary against this release.

    ``largest`` is the largest total ε within the limit (None without a limit, 0 where no ε meets it); ``recommended``
    is the risk at the recommended ε, ``needed`` the risk at the smallest ε that keeps the error tolerated.
    ``conclusive`` says that some answers leave no doubt, so that a reading of 1 is one and not a rounded number.
    ``exact`` says that some person can be found this easily, not only at most; ``from_data`` that whether this
    adversary is met, or how strong they are, was found in the table. ``opposite`` is, for a belief, how strong belief
    in the opposite can become.
    """

    key: str
    asks: AdversaryGoal
    name: str
    question: str
    reading: str
    arguments: Mapping[str, float]
    baseline: float
    planned: float
    limit: float | None
    largest: float | None
    recommended: float | None
    how: str
    needed: float | None = None
    conclusive: bool = False
    exact: bool = False
    from_data: bool = False
    opposite: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", FrozenMapping(self.arguments))

    @property
    def over(self) -> bool:
        """Whether the planned ε breaks the limit."""
        return self.limit is not None and self.planned > self.limit


@dataclass(frozen=True, eq=False, repr=False)
class RiskCurve(ValueSemantics):
    """Risk and relative error against ε."""

    epsilon: tuple[float, ...]
    risks: Mapping[str, tuple[float, ...]]
    errors: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "risks", FrozenMapping(self.risks))


def risks_of(setting: Setting) -> tuple[tuple[AdversaryRisk, ...], list[str]]:
    """Every adversary this release meets, and a note for each whose limit no ε keeps."""
    made, notes = [], []
    for adversary in met_adversaries(setting):
        reading = find_reading(adversary.reading)
        limited = setting.release.risk_limits.get(reading.name)
        extra = limited.arguments if limited else {}
        place = f"limits.{reading.name}"
        with error_place(place, **{name: f"{place}.{name}" for name in extra}):
            given = reading.arguments({**adversary.arguments(setting), **extra})
            args = {name: reading_argument(name, value) for name, value in given.items()}
            facing = adversary.facing(setting, setting.release.epsilon)
            planned = _reading(setting, adversary, args, setting.release.epsilon)
        largest: float | None = None
        if limited is not None:
            try:
                largest = _largest(adversary, setting, limited.at_most, args)
            except NoSolutionError as error:
                largest = 0.0
                notes += [] if facing.certain else [f"{adversary.name}: {error}."]  # names are told of by themselves
        made.append(
            AdversaryRisk(
                key=adversary.key,
                asks=adversary.asks,
                name=adversary.name,
                question=adversary.question(setting),
                reading=adversary.reading,
                arguments=args,
                baseline=float(reading.floor(**args)),
                planned=planned,
                limit=limited.at_most if limited else None,
                largest=largest,
                recommended=None,
                how=facing.how,
                conclusive=_conclusive(adversary.reading, facing),
                exact=facing.exact(reading.name, args),
                from_data=adversary.from_data(setting),
                opposite=facing.opposite(args["prior"]) if adversary.reading == "posterior" else None,
            )
        )
    return tuple(made), notes


def _largest(
    adversary: AdversaryEntry,
    setting: Setting,
    limit: float,
    arguments: Mapping[str, float],
    most: float = MOST_EPSILON,
) -> float:
    facing, planned = partial(adversary.facing, setting), setting.release.epsilon
    return largest_epsilon(facing, adversary.reading, limit, arguments, planned, monotone=setting.monotone, most=most)


@dataclass(frozen=True)
class RiskLimit:
    """The limit on one adversary: ``largest`` is the largest ε that keeps it, 0 where none does.

    Where risk only grows with ε (``monotone``) every smaller one keeps it too.
    """

    key: str
    largest: float
    monotone: bool
    over: Callable[[float], bool]
    below: Callable[[float], float]  # the largest ε up to this one that keeps it, 0 where none does


def _limit(
    setting: Setting, entry: AdversaryEntry, at_most: float, given: Mapping[str, float], largest: float | None = None
) -> RiskLimit:
    def over(epsilon: float) -> bool:
        return _reading(setting, entry, given, epsilon) > at_most

    def below(most: float) -> float:
        try:
            return _largest(entry, setting, at_most, given, most)
        except NoSolutionError:
            return 0.0

    return RiskLimit(entry.key, below(MOST_EPSILON) if largest is None else largest, setting.monotone, over, below)


def limits_on_risk(setting: Setting, risks: tuple[AdversaryRisk, ...]) -> tuple[RiskLimit, ...]:
    """The limits on the risks that have one."""
    met_by = {adversary.key: adversary for adversary in met_adversaries(setting)}
    return tuple(_limit(setting, met_by[r.key], r.limit, r.arguments, r.largest) for r in risks if r.limit is not None)


def blind_limits(setting: Setting, risks: tuple[AdversaryRisk, ...]) -> tuple[RiskLimit, ...] | None:
    """The limits on risk whatever the table holds; None where no number of the plan says so.

    An adversary who was, or was not, found in the table is supposed to be there: somebody can be isolated. How alike
    relatives are has no such worst case unless the plan states it.
    """
    if setting.release.risk_limits and any(relation.from_data for relation in setting.related):
        return None
    made = [*limits_on_risk(setting, tuple(r for r in risks if not r.from_data))]
    worst = replace(setting, scan=None, supposed=True)
    for adversary in met_adversaries(worst):
        limited = setting.release.risk_limits.get(adversary.reading)
        if limited is not None and adversary.from_data(worst):
            arguments = find_reading(adversary.reading).arguments({**adversary.arguments(worst), **limited.arguments})
            made.append(_limit(worst, adversary, limited.at_most, arguments))
    return tuple(made)


def _conclusive(reading: str, facing: WorstCase) -> bool:
    """Whether a reading of 1 is one: some answers leave no doubt, or all of them."""
    return facing.certain or (reading in _BELIEFS and facing.unbounded)


def reread_risks(
    setting: Setting, risks: tuple[AdversaryRisk, ...], recommended: float | None, needed: float | None
) -> tuple[AdversaryRisk, ...]:
    """The risks with what each is at the recommended ε, and at the smallest that keeps the error tolerated."""
    return tuple(
        replace(r, recommended=_read(setting, r, recommended), needed=_read(setting, r, needed)) for r in risks
    )


def _read(setting: Setting, risk: AdversaryRisk, epsilon: float | None) -> float | None:
    if not epsilon or not np.isfinite(epsilon):
        return None
    if (found := setting.readings.get((risk.key, epsilon))) is not None:
        return found
    return _reading(setting, next(a for a in met_adversaries(setting) if a.key == risk.key), risk.arguments, epsilon)


def _reading(setting: Setting, adversary: AdversaryEntry, arguments: Mapping[str, float], epsilon: float) -> float:
    key = adversary.key, epsilon
    if key not in setting.readings:
        setting.readings[key] = adversary.facing(setting, epsilon).read(adversary.reading, arguments)
    return setting.readings[key]


def curve_of(
    setting: Setting, risks: tuple[AdversaryRisk, ...], queries: tuple[QueryAccuracy, ...], recommended: float | None
) -> RiskCurve:
    """Right guesses and errors over the ε around the planned and the recommended one."""
    planned = setting.release.epsilon
    marks = [planned] + ([recommended] if recommended and recommended < _MOST_DRAWN else [])
    low, high = min(0.05, *(m / 3 for m in marks)), min(max(10.0, *(3 * m for m in marks)), MOST_EPSILON)
    grid = np.unique(np.concatenate((np.geomspace(low, high, _CURVE_POINTS), marks)))
    drawn = [r for r in risks if r.reading == "success"]
    lines = {r.key: tuple(float(_read(setting, r, float(e)) or 0.0) for e in grid) for r in drawn}
    drawn_at = tuple(float(e) for e in grid)
    return RiskCurve(drawn_at, lines, tuple(q.relatives(drawn_at, setting.release) for q in queries))


@dataclass(frozen=True)
class SampledPerson:
    """One owner of the table: what they add to each noisy number, an entry a group, zeros left out.

    An entry is (the query's place in the plan from 0, the kind of number, the amount in the number's own unit). Groups
    where nobody else is, if their names come from the data, are apart: (the query's place, how many people of theirs
    the threshold sees there).
    """

    moved: tuple[tuple[int, NoisyNumber, float], ...]
    alone: tuple[tuple[int, int], ...] = ()


def sample_people(
    table: TableAnswers, size: int = 300, answers: Sequence[Sequence[ExactAnswer]] = ()
) -> tuple[SampledPerson, ...]:
    """At most ``size`` owners; those whom no query covers add nothing, and are among them.

    With the plan's ``answers`` it is known who is alone in a group whose name comes from the data.

    >>> from epsilens.data.tables.table import open_table
    >>> from epsilens.plan.answers import TableAnswers
    >>> from epsilens.plan.file import read_release
    >>> plan = read_release({"data": {"table": "epsilens:rand-hie", "person": "person"},
    ...                      "queries": [{"count": "mental_visits > 0"}], "mechanism": {"epsilon": 1}})
    >>> with open_table(plan.data.table) as opened:
    ...     people = sample_people(TableAnswers(opened, plan), size=100)
    >>> sum(bool(person.moved) for person in people)  # of 100 people; in the whole table 7 of 100 are counted
    6
    """
    plan, needs = table.plan, table.needs
    if not table.seen.rows:
        return ()
    noisy = [noisy_numbers(query) for query in plan.queries]
    single = [{a.group for a in found if a.people == 1} for found in answers] or [set()] * len(plan.queries)
    find = _rows if plan.data.owner is None else _owners
    made = []
    for added in find(table.opened, needs, table.seen, size):
        moved, alone = list[tuple[int, NoisyNumber, float]](), list[tuple[int, int]]()
        for need, label, k, total in added:
            if k and not need.public and display_label(label) in single[need.position]:
                alone.append((need.position, k if contribution(plan, need.position).households else 1))
            else:
                moved += _entries(need, noisy[need.position], k, total)
        made.append(SampledPerson(tuple(moved), tuple(alone)))
    return tuple(made)


def _entries(
    need: Need, noisy: Sequence[NoisyNumber], kept: int | None, total: Fraction
) -> Iterator[tuple[int, NoisyNumber, float]]:
    """What ``kept`` items that add up to ``total`` add to the noisy numbers of one group; None for a limit's touch."""
    if kept is None:
        yield need.position, NoisyNumber.TOUCHED, 1.0
        return
    if need.query.kind is QueryKind.AVERAGE and need.query.bounds is not None:
        low, high = map(Fraction, need.query.bounds)
        total -= kept * (low + high) / 2
    amounts = {NoisyNumber.ANSWER: total, NoisyNumber.TOTAL: total, NoisyNumber.SIZE: kept, NoisyNumber.PEOPLE: 1}
    for kind in noisy:
        if kept and amounts.get(kind):
            yield need.position, kind, float(amounts[kind])


def _total(found: QueryColumns, need: Need, kept: int, parts: Sequence[Any]) -> Fraction:
    return found.grid[need.position][1].total(*(int(part or 0) for part in parts)) if need.valued else Fraction(kept)


def _owners(opened: OpenTable, needs: Sequence[Need], seen: Survey, size: int) -> Iterator[list[Any]]:
    """For each sampled owner the needs with groups and what is kept there, in the order of queries and groups."""
    engine, table, owner = opened.engine, opened.table, str(needs[0].data.owner)
    owners = table.select(p=value_of(table[owner], "person")).distinct()
    first = owners.mutate(hash_=hash_key(owners, ["p"])).order_by(["hash_", "p"]).limit(size)
    sample = engine.cache(first)
    got = sorted(engine.fetch(sample).to_pylist(), key=lambda row: (row["hash_"], row["p"]))
    added: dict[Any, list[Any]] = {row["p"]: [] for row in got}
    ordered = rows_in_order(opened, [sample.select("p")], needs, content_columns(needs))
    for part, together in product(ordered, list(grouped_needs(needs))):
        items, found, place = placed_items(part, together, seen)
        kept = {n.position: items[place[n.position]] <= n.most for n in together}
        sums = {f"k{i}": as_integer(stays).sum() for i, stays in kept.items()}
        sums |= {f"n{i}": as_integer(items[found.used[i]]).sum() for i in kept}
        for i, stays in kept.items():
            sums |= {f"kc{i}_{j}": items[name].sum(where=stays) for j, name in enumerate(found.clamped.get(i, ()))}
        rows = engine.fetch(items.group_by(["p", *found.keys]).agg(**sums)).to_pylist()
        for row in sorted(rows, key=lambda r: label_order(tuple(r[key] for key in found.keys))):
            for need in together:
                i, many = need.position, int(row[f"k{need.position}"])
                parts = [row[f"kc{i}_{j}"] for j in range(len(found.clamped.get(i, ())))]
                label = tuple(row[key] for key in found.keys)
                added[row["p"]].append((need, label, many, _total(found, need, many, parts)))
        for need in (n for n in together if n.touched):
            for whose in {row["p"] for row in rows if row[f"n{need.position}"] > row[f"k{need.position}"]}:
                added[whose].append((need, (), None, Fraction(1)))
    for entries in added.values():
        yield sorted(entries, key=lambda entry: entry[0].position)


def _rows(opened: OpenTable, needs: Sequence[Need], seen: Survey, size: int) -> Iterator[list[Any]]:
    """The same where every row is an owner: rows that are alike in all that is looked at are told apart by number."""
    table = opened.table
    columns = sorted({name for need in needs for name in need.columns})
    if not columns:  # everybody is covered, and all are alike
        yield from [[(need, (), 1, Fraction(1)) for need in needs]] * min(size, seen.rows)
        return
    plain = table.select(**{name: value_of(table[name], "query") for name in columns})
    single = number_duplicates(plain, columns, "epsilens number")
    order = [HASH, *columns, "epsilens number"]
    first = single.mutate(**{HASH: hash_key(single, [*columns, "epsilens number"])}).order_by(order).limit(size)
    sample = opened.engine.cache(first)
    found = query_columns(sample, needs, seen, split=False)
    named = list(dict.fromkeys(name for need in needs if not need.public for name in need.split_by))
    labels = {row[HASH]: row for row in opened.engine.fetch(sample.select(HASH, *named)).to_pylist()} if named else {}
    added = []
    for row in opened.engine.fetch(found.rows).to_pylist():
        label = labels.get(row["hash_"], {})
        groups = [() if need.public else tuple(label[name] for name in need.split_by) for need in needs]
        counted = [int(row[found.used[need.position]]) for need in needs]
        parts = [[row[name] for name in found.clamped.get(need.position, ())] for need in needs]
        totals = [_total(found, *entry) for entry in zip(needs, counted, parts, strict=True)]
        added.append(list(zip(groups, counted, totals, strict=True)))
    for entries in sorted(
        added, key=lambda of: [(*one[1:], label_order(one[0])) for one in of]
    ):  # engines give any order
        yield [(need, *entry) for need, entry in zip(needs, entries, strict=True)]


_CELLS = 4096  # of the grid that losses are added on
_TOGETHER = (2, 5, 10)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TypicalRisk:
    """The membership test against a sample of real people: how often it is right for each of them, at most.

    Where neighbours replace a record: how often it is right whether their record is there, or one that counts nowhere.
    """

    people: int
    median: float
    mean: float
    largest: float


def typical_risk(plan: Release, people: Sequence[SampledPerson], epsilon: float) -> TypicalRisk | None:
    """How often the membership test is right for each of these people, given what they add to every noisy number.

    An upper bound, to six digits and more; never above that of the worst-placed person.
    """
    if not people:
        return None
    faces: dict[SampledPerson, float] = {}
    scales: dict[tuple[int, NoisyNumber], float] = {}
    for person in dict.fromkeys(people):
        moved = Counter[float]()
        for i, noisy, amount in person.moved:
            if (i, noisy) not in scales:
                scales[i, noisy] = scale_of(plan, i, noisy, epsilon)
            moved[abs(amount) / scales[i, noisy]] += 1
        shown = 1 - math.prod(1 - name_probability(plan, i, epsilon, members) for i, members in person.alone)
        faces[person] = guess_success(moved, plan.adversary.prior, plan.mechanism.noise, shown)
    worst = WorstCase(_membership(plan, epsilon, 1)).read("success", {"prior": plan.adversary.prior})
    odds = np.minimum([faces[person] for person in people], worst)
    return TypicalRisk(len(people), float(np.median(odds)), float(odds.mean()), float(odds.max()))


def guess_success(moved: Mapping[float, int], prior: float, noise: Noise, shown: float = 0.0) -> float:
    """How often the best guess is right: numbers moved by so much, in units of noise, so often; names with a chance.

    >>> [round(guess_success({1.0: k}, 0.5, Noise.LAPLACE), 3) for k in (1, 2)]
    [0.697, 0.724]
    """
    shifts = tuple(sorted((t, k) for t, k in moved.items() if t))
    if noise is Noise.GAUSSIAN:
        face = MovementPair((), math.sqrt(math.fsum(k * t * t for t, k in shifts)), 0.0, shown)
    else:
        face = MovementPair(shifts, 0.0, 0.0, shown)
    if face.closed or face.certain:
        return WorstCase((face,)).read("success", {"prior": prior})
    level = math.log1p(-prior) - math.log(prior) - math.log1p(-shown)
    found = shown + (1 - shown) * _on_a_grid(shifts, level)
    return min(max((1 - prior) + prior * found, prior, 1 - prior), 1.0)


def _on_a_grid(shifts: Sequence[tuple[float, int]], level: float) -> float:
    """E₁[(1 − e^{level−L})₊] of many Laplace numbers, from above."""
    total = math.fsum(t * k for t, k in shifts)
    step = 2 * total / _CELLS
    spectrum: Any = 1.0
    # A number moved by t has its losses on places from −n to n steps, n·step > t.
    sizes = [math.floor(t / step) + 1 for t, _ in shifts]
    reach = sum(n * k for n, (_, k) in zip(sizes, shifts, strict=True))
    many = int(next_fast_len(2 * reach + 1, real=True))
    for n, (t, k) in zip(sizes, shifts, strict=True):
        spectrum = spectrum * rfft(_shared(np.arange(-n, n + 1.0) * step, t), n=many) ** k
    law: Floats = np.maximum(irfft(spectrum, n=many), 0.0)[: 2 * reach + 1]
    loss = np.arange(-reach, reach + 1) * step
    gained = float(np.sum(law * -np.expm1(np.minimum(level - loss, 0.0))))
    return gained + many * 2.0**-50  # of the transform


def _shared(at: Floats, t: float) -> Floats:
    """The masses of one Laplace number moved by t on these places, as the second world has them.

    Below each place lie F₁ of the second world and F₀ of the first, F₀ = ∫e^{−L}dF₁. A piece between two places with
    the masses m₁, m₀ is shared so that both are kept: the upper place gets (m₁e^{−low} − m₀)/(e^{−low} − e^{−high}).
    """
    inside = np.clip(at, -t, t)
    second = np.where(at >= t, 1.0, np.where(at < -t, 0.0, 0.5 * np.exp((inside - t) / 2)))
    first = np.where(at >= t, 1.0, np.where(at < -t, 0.0, 1 - 0.5 * np.exp(-(inside + t) / 2)))
    low, high = at[:-1], at[1:]
    # Relative to the lower place, so that nothing is lost where losses are large.
    m1, m0 = np.diff(second), np.diff(first) * np.exp(low)
    upper = (m1 - m0) / -np.expm1(low - high)
    masses = np.zeros(len(at))
    masses[1:] += upper
    masses[:-1] += m1 - upper
    masses[0] += second[0]
    return np.maximum(masses, 0.0)


def _membership(plan: Release, epsilon: float, people: int) -> tuple[MovementPair, ...]:
    each = largest_movements(plan, movements(plan, AdversaryQuestion.MEMBERSHIP, people).each)
    return tuple(e for m in each if (e := movement_pair(plan, m, epsilon)) is not None)


def group_risks(plan: Release, epsilon: float) -> tuple[tuple[int, float], ...]:
    """How often it is right at most whether k people are in the table or none of them; replaced by k others or not.

    The worst of all ways in which they share groups: all in one, each alone in their own, or anything between.
    """
    prior = {"prior": plan.adversary.prior}
    return tuple((k, WorstCase(_membership(plan, epsilon, k)).read("success", prior)) for k in _TOGETHER)
