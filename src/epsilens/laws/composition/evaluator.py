"""A product of steps in one order: views of its profile made for questions, verified, and made again if too wide.

What one reading may cost is counted, not timed, so that a reading is the same on every machine: in lattice points of
the plainest step, about a microsecond each. What is still wide when all is spent stays at what is known by then, a
wider bracket that holds all the same (Theorem C19 of docs/proofs/composition.md), and the law says that it was not
reached.

:meth:`Evaluator._engines` decides which engine answers, and in which order they are tried. All that is made is kept by
the evaluator of its order, which both sides of a bracket and all laws that share the product ask; what only one reading
uses is in its :class:`ReadingWork`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import NamedTuple, TypeVar

import numpy as np

from ...checks import Array
from .elementary_bounds import LargestLossBounds, MomentBounds, largest_loss_bounds, log_profile
from .grid_product import GridProfile, grid_profile
from .lattice import Lattice, added_lattices, discretise
from .profile import MOST_POINTS, POINT_COST, LatticeProfile, lattice_product, log_moment, side_powers
from .quadrature import TooManyPanels
from .series import SeriesProfile, demands, series_profile
from .step import CountedStep, Step, at_least_one
from .tilt import HALF, LatticePlan, ReadingQuery, SaddlePoint, aim, common_unit, largest_loss, levels, plan, reach_of

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
View = LatticeProfile | SeriesProfile | LargestLossBounds | GridProfile | MomentBounds

MOST_WORK = 2**20  # lattice points made for one question, after which what is known must do
ROUGH = 0.05  # relative width at which the two orders are compared
_ROUGH_PART = 8  # which order is worse costs less: one part of that many
_MOST_VIEWS, _MOST_ANSWERS, _MOST_MOMENTS = 48, 64, 256  # kept
# the order of the engines: how many attempts each has, and where it is given up
_MOST_FAILED_SERIES = 4  # series in a row that came to nothing, where steps are dear
_COSTLY_STEP = 4.0  # the price of a step above which laws that hardly overlap are left at what is sure
_LOG_OVERLAP = -10.0  # log of what two laws have in common, at most, where moments are asked
_FEW_STEPS = 16  # steps: pairs of points come before lattices
_FEW_QUERIES = 3  # questions at once
_SETTLED_WIDTHS = 30.0  # times the width asked for
_COARSER_WIDTHS = 10.0  # times what is known
_ROUNDING_SHARES = (0.4, 0.05)  # of the error allowed, where atoms are moved to a lattice
_LATTICE_ATTEMPTS = 3  # each finer than the last
# lattices
_MOST_BINS = 2**20  # of all steps together: a second or two
_REFUSED_LATTICE_COST = 2**17  # the plan of a lattice that cannot be, in points
_STEEPEST_TILT = 40.0  # times the spacing: steeper, all mass is at one lattice point
_COARSEST_SPACING = 8.0  # between lattice points: e^{−8} is all that one of them leaves of the next
_ORIGIN_SHIFT = 1e-12  # of a lattice's origin
# points
_GRID_RATIOS = (0.2, 0.08, 0.04)  # of neighbouring points
_MOST_PAIRS = 2**24  # of points, for one question
_PAIRS_PER_POINT = 10  # that cost as much as a lattice point
_LEAST_GRID_WORK = 2**18  # lattice points that a product on points may cost, whatever is left
_FIRST_DEPTH = 60.0  # how far below that an answer is looked for at first, as a logarithm
_CUT_STEP = 12.0  # log probabilities left out that share their work
_NEGLIGIBLE_LOG = -80.0  # a log probability that does not count beside a total variation
# values read one by one, and what one of them costs, in points: δ is read off, all else is searched for
_MOST_SINGLE_READS, _LEAST_SINGLE_READS = 64, 4
_DELTA_COST, _SEARCH_COST = 2**8, 2**12
# bounds by moments
_TILTS = np.geomspace(0.05, 200.0, 24)  # of Chernoff's bounds
_EPSILON_MARGIN = 1e-3  # by how much a bound must be below, relative
_LOG_MARGIN = 1e-3  # of a log probability
_LOG_UNDERFLOW = -750.0  # a log probability that no double holds
_LEAST_LOG = -690.0  # a log probability below which nothing is refined any further


@dataclass
class Budget:
    """What has been spent of ``most``, in lattice points."""

    spent: int = 0
    most: int = field(default_factory=lambda: MOST_WORK)

    @classmethod
    def share(cls, of: int) -> Budget:
        return cls(most=MOST_WORK // of)

    @property
    def left(self) -> int:
        """What remains; negative where the last piece cost more than there was."""
        return self.most - self.spent

    @property
    def portion(self) -> int:
        """What one piece may cost: what remains, or a quarter, in sixteenths so that equal pieces are made once."""
        unit = max(self.most // 16, 1)
        return max(self.left // unit, 4) * unit


@dataclass
class ReadingWork:
    """The slices that one reading has used in one order, and the questions that finer ones do not help.

    Only what belongs to one reading is kept together: a reading does not depend on what was asked before it. Both
    orders of a reading may share a budget. A ``rough`` one only compares the two orders.
    """

    budget: Budget = field(default_factory=Budget)
    rough: bool = False
    slices: list[View] = field(default_factory=list)
    abandoned: set[tuple[str, float]] = field(default_factory=set)
    # the last two answers, one for losses above 0 and one for those below: both sides of a bracket are asked for
    answers: BoundedCache[object, tuple[Array, Array]] = field(default_factory=lambda: BoundedCache(2))
    failed_series: int = 0  # series in a row that came to nothing

    @property
    def has_budget(self) -> bool:
        """True while the work budget allows another view; the first attempt is always allowed."""
        return self.budget.left > 0 or not (self.slices or self.abandoned)


class BoundedCache(dict[K, V]):
    """What was made last, at most so much of it; no answer depends on what it happens to hold."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        if key not in self:
            made = make()
            while len(self) >= self.most:
                del self[next(iter(self))]
            self[key] = made
        return self[key]


class Product:
    """Steps with their counts: what is known of their product before anything is asked, and the steps on lattices."""

    def __init__(self, steps: Sequence[CountedStep]) -> None:
        self.steps = tuple(steps)
        self.count = sum(k for _, k in self.steps)
        self._lattices: dict[tuple[int, bool, bool], list[tuple[tuple[float, float, float], Lattice]]] = {}
        self._moments: BoundedCache[float, float] = BoundedCache(_MOST_MOMENTS)

    def log_moment(self, power: float) -> float:
        return self._moments.get_or_make(power, lambda: math.fsum(k * step.log_moment(power) for step, k in self.steps))

    def moment_growth(self, power: float) -> tuple[float, float]:
        """Ends of log ∫dH1^a dH0^{1−a}/|a| at |a| > 1e100, which add up; the lower one a double."""
        each = [(*step.moment_growth(power), k) for step, k in self.steps]
        low, high = sum(k * low for low, _, k in each), sum(k * high for _, high, k in each)
        return (low if any(math.isinf(low) for low, _, _ in each) else min(low, sys.float_info.max)), high

    @cached_property
    def _gaps(self) -> list[float]:
        """Between the losses of a step's atoms; none where they are too many."""
        found: list[float] = []
        for step, _ in self.steps:
            losses = np.unique(step.atoms.loss)
            gaps = np.diff(losses)
            if gaps.size > 1 and np.ptp(gaps) < 1e-9 * gaps[0]:
                gaps = np.array([(losses[-1] - losses[0]) / gaps.size])
            if gaps.size > 256:
                return []
            found += gaps.tolist()
        return found

    @cached_property
    def cost(self) -> float:
        """What a place of its dearest step costs to look at."""
        return max((step.cost for step, _ in self.steps), default=1.0)

    @cached_property
    def symmetric(self) -> bool:
        return all(step.symmetric for step, _ in self.steps)

    @cached_property
    def moment_error(self) -> float:
        return max((step.moment_error for step, _ in self.steps), default=0.0)

    @cached_property
    def pinsker(self) -> float:
        """A δ at which ε = 0 surely holds, TV² ≤ KL/2 (Pinsker).

        Divergences add up in one order, and a step bounds its own in either. Where those may be of different orders,
        TV² ≤ 1 − BC² ≤ 1 − e^{−KL} (Bretagnolle and Huber) stands in: BC ≥ e^{−KL/2} holds in both, and BC multiplies.
        """
        total = math.fsum(k * step.kl_bound() for step, k in self.steps)
        one_order = sum(not step.symmetric for step, _ in self.steps) <= 1
        return math.sqrt(total / 2 if one_order else -math.expm1(-total)) * (1 + 1e-9)

    @cached_property
    def nothing(self) -> float:
        """A δ at which ε = 0 surely holds; of atoms alone the total variation is at hand, too."""
        alone = all(step.support is None and not step.components for step, _ in self.steps)
        return min(self.pinsker, self.most * (1 + 1e-9)) if alone else self.pinsker

    @cached_property
    def most(self) -> float:
        """1 − Π(1 − TV)^k ≥ TV: with the rest nothing can be told, however the steps come together."""
        apart = []
        for step, k in self.steps:
            alone = grid_profile(
                [(step, 1)], False, 0.1, ReadingQuery("delta", 0.0), 0.1, _NEGLIGIBLE_LOG, None, _MOST_PAIRS
            )
            apart.append((math.exp(float(alone.delta(np.zeros(1))[1][0])) if alone is not None else 1.0, k))
        return at_least_one(apart)

    @cached_property
    def at_top(self) -> float:
        return at_least_one((step.atoms.only1, k) for step, k in self.steps)

    @cached_property
    def at_bottom(self) -> float:
        return at_least_one((step.atoms.only0, k) for step, k in self.steps)

    @cached_property
    def loss_range(self) -> tuple[float, float]:
        low = math.fsum(k * step.loss_range[0] for step, k in self.steps)
        return low, math.fsum(k * step.loss_range[1] for step, k in self.steps)

    @cached_property
    def finite_ends(self) -> tuple[float, float]:
        """The same, of what does not lie at ±∞."""
        pairs = [(*_finite_ends(step), k) for step, k in self.steps]
        return math.fsum(k * low for low, _, k in pairs), math.fsum(k * high for _, high, k in pairs)

    def unit(self, finest: float) -> float | None:
        """The largest spacing that puts every atom on the lattice, each law about its own origin."""
        return common_unit(self._gaps, finest) if self._gaps else None

    @cached_property
    def uneven_atoms(self) -> int:
        """How many steps are atoms alone, of which no spacing puts all on one lattice."""
        if self.unit(0.0) is not None:
            return 0
        return sum(k for step, k in self.steps if step.support is None and step.atoms.loss.size > 1)

    def extent(self, cut: tuple[float, float], most: float) -> float:
        """The ranges of the steps' losses together, cut off there; of those that are not atoms alone."""
        moving = [step for step, _ in self.steps if step.support is not None]
        return math.fsum(float(np.ptp(step.loss(np.asarray(reach_of(step, cut, most))))) for step in moving)

    @property
    def atom_range(self) -> float:
        """The ranges of the losses of steps that are atoms alone, likewise."""
        lists = [step.atoms.loss for step, _ in self.steps if step.support is None]
        return math.fsum(float(np.ptp(loss)) for loss in lists if loss.size)

    def lattice(
        self, index: int, flipped: bool, dt: float, cut: tuple[float, float], most: float, rounded: bool = False
    ) -> Lattice:
        """One step on a lattice, kept for the next question; atoms alone may be ``rounded``."""
        rounded = rounded and self.steps[index][0].support is None
        known = self._lattices.setdefault((index, flipped, rounded), [])
        for reached, lattice in known:  # no other will do: an answer shall not depend on what was asked before
            if lattice.dt == dt and reached == (*cut, most):
                return lattice
        step = self.steps[index][0]
        losses = step.atoms.loss
        c = float(losses.min()) if losses.size else _origin(step, flipped, dt)
        made = _discretised(step, dt, c, cut, most, rounded)
        known.append(((*cut, most), made))
        del known[:-4]
        return made


def _discretised(step: Step, dt: float, c: float, cut: tuple[float, float], most: float, rounded: bool) -> Lattice:
    if step.components:
        return added_lattices([(_discretised(one, dt, c, cut, most, rounded), share) for one, share in step.components])
    reach = reach_of(step, cut, most)
    return discretise(step, dt, c, reach, reach[1] < step.cutoffs(*cut)[1], rounded)


def _origin(step: Step, flipped: bool, dt: float) -> float:
    """Where a bounded loss has the mass next to its end, so that this is on the lattice; 0 where it has no end.

    A hair to the side where the lower side of this order can drop the difference.
    """
    low, high = step.loss_range
    if math.isfinite(low):
        p, q = step.below(float(step.inverse_loss(np.asarray(low + dt / 2))))
    elif math.isfinite(high):
        p, q = step.above(float(step.inverse_loss(np.asarray(high - dt / 2))))
    else:
        return 0.0
    return p - q + (_ORIGIN_SHIFT if flipped else -_ORIGIN_SHIFT) if math.isfinite(p) and math.isfinite(q) else 0.0


def _finite_ends(step: Step) -> tuple[float, float]:
    losses = step.atoms.loss
    if step.support is None and losses.size:
        return float(losses.min()), float(losses.max())
    return step.loss_range


class _PricedView(NamedTuple):
    view: LatticeProfile | SeriesProfile | None  # none where no series will do
    cost: int
    coarse: bool  # as fine as memory and time allow


class _Answer(NamedTuple):
    low: Array
    high: Array
    wide: bool  # wider than asked for
    exhausted: bool  # took all that a reading may cost


class _LatticeOutline(NamedTuple):
    plan: LatticePlan
    cut: tuple[float, float]
    most: float
    whole: float  # what its bins and its window cost at a spacing of 1
    finest: float


class Evaluator:
    """One order of a product, read to a relative ``width``; a reading may cost one ``part`` of so many."""

    def __init__(self, product: Product, flipped: bool, width: float, part: int = 1) -> None:
        self.product, self.flipped, self.width, self.part = product, flipped, width, part
        self.unreached = False  # whether an answer is wider than asked for
        self.exhausted = False  # whether the last one took all that a reading may cost
        self._made: BoundedCache[tuple[ReadingQuery, float, int], _PricedView | None] = BoundedCache(_MOST_VIEWS)
        self._answers: dict[bool, BoundedCache[tuple[str, bytes, bytes], _Answer]]
        self._answers = {rough: BoundedCache(_MOST_ANSWERS) for rough in (False, True)}
        self.worse: BoundedCache[tuple[bool, bytes], tuple[Array, Array]] = BoundedCache(1)  # of both orders
        self.summed: BoundedCache[tuple[str, float, float], tuple[float, float]] = BoundedCache(64)  # of whole curves
        self._aims: BoundedCache[tuple[ReadingQuery, float], SaddlePoint] = BoundedCache(4)
        self._outlines: BoundedCache[tuple[ReadingQuery, float], _LatticeOutline] = BoundedCache(1)
        self._grids: dict[tuple[float, ReadingQuery | None, float, float], tuple[GridProfile | None, int]] = {}
        self._largest: BoundedCache[bool, LargestLossBounds] = BoundedCache(2)
        self._shared: Evaluator | None = None

    def with_width(self, width: float) -> Evaluator:
        return Evaluator(self.product, self.flipped, width, self.part)

    def sharing(self, of: int) -> Evaluator:
        """The same order where a reading may cost one part of that many, kept: several laws may have it."""
        if self._shared is None or self._shared.part != of:
            self._shared = Evaluator(self.product, self.flipped, self.width, of)
        return self._shared

    @property
    def loss_range(self) -> tuple[float, float]:
        """The infimum and the supremum of the loss in this order."""
        low, high = self.product.loss_range
        return (-high, -low) if self.flipped else (low, high)

    @property
    def finite_top(self) -> float:
        """The supremum of what does not lie at +∞."""
        low, high = self.product.finite_ends
        return -low if self.flipped else high

    @property
    def at_top(self) -> float:
        """The mass of losses at +∞ in this order."""
        return self.product.at_bottom if self.flipped else self.product.at_top

    # -- bounds by moments ----------------------------------------------------------------------------------------

    def chernoff(self, bound: Callable[[float, float], Array], start: Array) -> Array:
        """The least of a bound made of λ and K(λ), from above, that is convex in λ: it ends where it no longer falls.

        Fewer λ are tried where a moment takes long.
        """
        best, more = start, 1 + self.product.moment_error
        for tilt in (_TILTS if self.product.cost <= 2 else _TILTS[::3]).tolist():
            here = bound(tilt, self.product.log_moment(-tilt if self.flipped else 1 + tilt) * more)
            if not (here < best).any() or best.max() < _LOG_UNDERFLOW:
                break
            best = np.minimum(best, here)
        return best

    def moments_put_below(self, log_delta: float, epsilon: float) -> bool:
        """Whether moments alone put ε(δ) below; where they do not, what it took is kept for the series."""
        bound = self._aim(ReadingQuery("epsilon", log_delta), self.width)
        left_out = 1e-5 + 2 * bound.cumulants.at_top * math.exp(-log_delta)  # as a share of δ, and of the quadrature
        if bound.loss * (1 + _EPSILON_MARGIN) + left_out / bound.saddle < epsilon:
            return True
        shape = bound.cumulants.shape(bound.saddle)
        if shape is None or not shape.variance > 0:
            return False
        return log_profile(shape, bound.saddle, epsilon * (1 - _EPSILON_MARGIN)) + left_out + _LOG_MARGIN < log_delta

    @cached_property
    def _moment_bounds(self) -> MomentBounds:
        return MomentBounds(
            lambda s: self.product.log_moment(1 - s if self.flipped else s), min(self.product.moment_error, 1.0)
        )

    @cached_property
    def _disjoint(self) -> bool:
        """Whether the two laws have next to nothing in common."""
        return not (self.product.at_top or self.product.at_bottom) and self.product.log_moment(0.5) < _LOG_OVERLAP

    def _largest_loss(self, work: ReadingWork) -> LargestLossBounds:
        return self._largest.get_or_make(work.rough, lambda: largest_loss_bounds(self.product.steps, self.flipped))

    # -- asking ---------------------------------------------------------------------------------------------------

    def ask(
        self,
        kind: str,
        values: Array,
        slack: Array | float = 0.0,
        work: ReadingWork | None = None,
        *,
        rough: bool = False,
    ) -> tuple[Array, Array]:
        """(low, high) of log δ, ε, log TPR or log α for each value, as tight as asked for where that can be.

        ``slack`` is an absolute error of the probability that the asker does not mind. With ``work``, slices are shared
        with other questions of the same reading, which says itself whether its own answer is wide. ``rough`` brackets
        only tell which order is worse; series are as narrow as ever.
        """
        flat = np.asarray(values, dtype=float).ravel()
        allowed = np.broadcast_to(np.asarray(slack, dtype=float), np.shape(values)).ravel()
        key = (kind, flat.tobytes(), allowed.tobytes())
        if work is not None:
            shared = work
            own = self.flipped, *key
            low, high = work.answers.get_or_make(own, lambda: self._search(kind, flat, allowed, shared)[:2])
        else:
            low, high, wide, self.exhausted = self._answers[rough].get_or_make(
                key, lambda: self._answer(key, flat, allowed, rough)
            )
            self.unreached = self.unreached or (wide and not rough)
        return low.reshape(np.shape(values)), high.reshape(np.shape(values))

    def _answer(self, key: tuple[str, bytes, bytes], flat: Array, allowed: Array, rough: bool) -> _Answer:
        if rough and key in self._answers[False]:
            return self._answers[False][key]
        work = ReadingWork(Budget.share(self.part * (_ROUGH_PART if rough else 1)), rough)
        low, high, wide = self._search(key[0], flat, allowed, work)
        answer = _Answer(low, high, wide, work.budget.spent > Budget.share(self.part).most)
        if rough and not _wide(key[0], low, high, allowed, self.width).any():  # the same series would answer
            self._answers[False].get_or_make(key, lambda: answer._replace(wide=False))
        return answer

    def _width_of(self, work: ReadingWork) -> float:
        return ROUGH if work.rough else self.width

    def _search(self, kind: str, flat: Array, allowed: Array, work: ReadingWork) -> tuple[Array, Array, bool]:
        """(low, high), and whether some of it is wider than asked for."""
        width = self._width_of(work)
        low, high = read_views(work.slices, kind, flat)
        if self.product.count == 1:
            low, high = self._by_largest(kind, flat, low, high, allowed, work)
        while work.has_budget:
            todo = np.flatnonzero(_wide(kind, low, high, allowed, width))
            if work.abandoned:
                todo = todo[[(kind, float(v)) not in work.abandoned for v in flat[todo]]]
            if not todo.size:
                if not work.abandoned:
                    return low, high, False
                break
            target = int(np.argpartition(flat[todo], todo.size // 2)[todo.size // 2])
            a, b = self._refine(kind, flat[todo], target, allowed[todo], work)
            low[todo], high[todo] = np.maximum(low[todo], a), np.minimum(high[todo], b)
        low, high = self._by_largest(kind, flat, low, high, allowed, work)
        return low, high, bool(_wide(kind, low, high, allowed, width).any())

    def _by_largest(
        self, kind: str, flat: Array, low: Array, high: Array, allowed: Array, work: ReadingWork
    ) -> tuple[Array, Array]:
        """Where the bracket is too wide: what the largest loss alone shows, of as many values as may be read so."""
        wide = np.flatnonzero(_wide(kind, low, high, allowed, self._width_of(work)))
        bounds = self._largest_loss(work)
        each = math.ceil(bounds.read_cost * (_DELTA_COST if kind == "delta" else _SEARCH_COST) * self.product.cost)
        if each:
            wide = wide[: min(max(work.budget.left // each, _LEAST_SINGLE_READS), _MOST_SINGLE_READS)]
        if wide.size:
            work.budget.spent += each * wide.size
            a, b = read_views([bounds], kind, flat[wide])
            low, high = low.copy(), high.copy()
            low[wide], high[wide] = np.maximum(low[wide], a), np.minimum(high[wide], b)
        return low, high

    def _refine(self, kind: str, flat: Array, target: int, allowed: Array, work: ReadingWork) -> tuple[Array, Array]:
        """(low, high) from views made for one of the values, until that is narrow enough or no engine does better."""
        low, high = np.full(flat.size, -np.inf), np.full(flat.size, np.inf)
        question, width = ReadingQuery(kind, float(flat[target])), self._width_of(work)

        def known() -> tuple[float, float]:
            return float(low[target]), float(high[target])

        for view, cost in self._engines(question, flat.size > _FEW_QUERIES, work, known):
            work.budget.spent += cost
            if view is None:
                continue
            work.slices.append(view)
            a, b = read_views([view], kind, flat)
            low, high = np.maximum(low, a), np.minimum(high, b)
            if not _wide(kind, low[[target]], high[[target]], allowed[[target]], width)[0]:
                return low, high
        work.abandoned.add((kind, question.value))
        return low, high

    def _engines(
        self, ask: ReadingQuery, many: bool, work: ReadingWork, known: Callable[[], tuple[float, float]]
    ) -> Iterator[tuple[View | None, int]]:
        """Views that may answer one of ``many`` questions, each with its cost: the engines in order of precedence.

        First the series, which needs no lattice. Where the laws hardly overlap, moments say nearly all. Points serve
        few steps, and losses that reach far beyond their spread; lattices serve many steps, atoms alone first on one
        to whose points they are moved. ``known`` is the bracket so far.
        """
        width = self._width_of(work)
        hopeless = work.failed_series >= _MOST_FAILED_SERIES and self.product.cost > _COSTLY_STEP
        if not hopeless and (made := self._series(ask)) is not None:
            work.failed_series = 0 if made.view is not None else work.failed_series + 1
            yield made.view, made.cost
        if self._disjoint:
            yield self._moment_bounds, 0
            if self.product.cost > _COSTLY_STEP:
                return
        if self._grid_serves(ask):
            for view, cost in self._by_points(ask, many, work):
                yield view, cost
                if work.budget.left <= 0:
                    break
            low, high = known()
            gap, unit = high - low, high if ask.kind == "epsilon" else 1.0
            if self.product.count > _FEW_STEPS and many and gap < _SETTLED_WIDTHS * width * unit:
                return
            if math.isfinite(gap) and self._lattice_is_coarser(ask, gap / unit, width):
                return
        for share in _ROUNDING_SHARES if self.product.uneven_atoms else ():
            portion = work.budget.portion
            make = partial(self._by_rounding, ask, share, portion, width)
            made = self._made.get_or_make((ask, -share, portion), make)
            if made is not None:
                yield made.view, made.cost
            if made is None or made.coarse or work.budget.left <= 0:
                break
        finer, last = width, math.inf
        for again in range(_LATTICE_ATTEMPTS):
            if again and work.budget.left <= 0:
                break
            made = self._lattice(ask, finer, work.budget.portion)
            if made is None:
                yield None, _REFUSED_LATTICE_COST
                break
            yield made.view, made.cost
            low, high = known()
            gap, wanted = high - low, width
            if ask.kind == "epsilon":
                gap, wanted = max(gap, 0.0), wanted * max(high, 1e-300)
            if gap > 0.95 * last or made.coarse or (again and math.isinf(gap)):  # finer does not help, or cannot be
                break
            # the width falls with the square of the spacing, and so with what is asked of it
            ratio = wanted / gap if math.isfinite(gap) and math.isfinite(wanted) else 0.0
            finer, last = finer * min(max(0.6 * ratio, 0.05), 0.5), gap

    def test(self, loss: float) -> tuple[float, float]:
        """(false-positive rate, recall) that the test of this threshold surely has at most and at least."""
        work = ReadingWork()
        self.unreached = self._search("delta", np.asarray([loss]), np.zeros(1), work)[2] or self.unreached
        known = [one.test(loss) for one in (*work.slices, self._largest_loss(work))]
        alpha, recall, _ = min((k for k in known if k[1] > 0), key=lambda k: k[2], default=(0.0, 0.0, 0.0))
        return float(alpha), float(recall)

    # -- the series -----------------------------------------------------------------------------------------------

    def make(
        self, ask: ReadingQuery, width: float, budget: Budget, lattice: bool = False
    ) -> LatticeProfile | SeriesProfile | None:
        """A slice for one question: by the series where that is possible, unless a ``lattice`` is asked for."""
        made = None if lattice else self._series(ask)
        if made is not None:
            budget.spent += made.cost
        if made is None or made.view is None:
            made = self._lattice(ask, width, budget.portion)
            budget.spent += 0 if made is None else made.cost
        return None if made is None else made.view

    def _series(self, ask: ReadingQuery) -> _PricedView | None:
        """By the series, kept for the next time; None where that is not tried."""
        if ask.kind == "recall" and ask.value > HALF:  # λ < 0: what is missed is not in δ
            return None
        return self._made.get_or_make((ask, self.width, 0), lambda: self._by_series(ask))

    def _by_series(self, ask: ReadingQuery) -> _PricedView:
        nodes, tried = 0, None
        # what is too much for narrow brackets may come out narrow all the same
        for width in (self.width, ROUGH):
            at = self._aim(ask, width)
            if tried == (tried := demands(at)):
                break
            view = series_profile(self.product.steps, self.flipped, at, width)
            if view is not None:
                return _PricedView(view, view.work, True)
            nodes = max(nodes, at.cumulants.nodes)
        return _PricedView(None, nodes, True)  # what comes to nothing costs its cumulants

    def _aim(self, ask: ReadingQuery, width: float) -> SaddlePoint:
        return self._aims.get_or_make((ask, width), lambda: aim(self.product.steps, self.flipped, ask, width))

    # -- lattices -------------------------------------------------------------------------------------------------

    def _lattice(self, ask: ReadingQuery, width: float, most: int) -> _PricedView | None:
        """On a lattice that costs no more than ``most``, kept; None where its points would lie too far apart to tell
        anything.
        """
        return self._made.get_or_make((ask, width, most), lambda: self._by_lattice(ask, width, most))

    def _lattice_is_coarser(self, ask: ReadingQuery, gap: float, width: float) -> bool:
        """Whether a lattice would be wider than the present bracket: its width grows with the square of its spacing."""
        made = self._outline(ask, width)
        return width * (made.finest / made.plan.dt) ** 2 > _COARSER_WIDTHS * gap

    def _outline(self, ask: ReadingQuery, width: float) -> _LatticeOutline:
        """What a lattice for a question would be, and how fine it can be."""
        return self._outlines.get_or_make((ask, width), lambda: self._make_outline(ask, width))

    def _make_outline(self, ask: ReadingQuery, width: float) -> _LatticeOutline:
        product = self.product
        aimed = self._aim(ask, width)
        if ask.kind == "roc" and aimed.saddle < 0 and (aimed.exact or product.uneven_atoms):
            aimed = replace(aimed, saddle=0.0)  # nearly all is found: a tilt would raise what the window leaves out
        outline = plan(aimed)
        cut = levels(outline.log_value, min(outline.tolerance, 1.0), product.count, self.flipped)
        most = largest_loss(product.steps, self.flipped, ask, min(outline.tolerance, 1.0))
        bins, window = product.extent(cut, most) * product.cost, outline.high - outline.low
        finest = max(window / MOST_POINTS, bins / _MOST_BINS)
        whole = bins + POINT_COST * window + (product.atom_range if product.unit(0.0) is None else 0.0)
        return _LatticeOutline(outline, cut, most, whole, finest)

    def _by_lattice(self, ask: ReadingQuery, width: float, worth: int) -> _PricedView | None:
        product = self.product
        outline, cut, most, whole, finest = self._outline(ask, width)
        if finest > _COARSEST_SPACING:
            return None
        finest = max(finest, min(whole / worth, _COARSEST_SPACING))
        dt = self._spacing(outline.dt, finest)
        cost = 0
        for _ in range(8):
            made = self._lattices(dt, cut, most)
            if made is None:
                return None
            counted, price = made
            cost += price
            if all(lattice.exact for lattice, _ in counted):
                break
            high, low = (log_moment(side_powers(counted, upper), outline.saddle) for upper in (True, False))
            ratio = (high - low) / min(outline.tolerance, 1.0)
            finer = self._spacing(dt * min(max(0.85 / math.sqrt(max(ratio, 1e-3)), 0.1), 0.7), finest)
            left = worth - cost if product.count <= _FEW_STEPS else worth  # few steps have points to fall back on
            if ratio <= 1.05 or finer >= dt or whole / finer > left:
                break
            dt = finer
        # a tilt that moves all mass to one lattice point serves nobody
        if abs(outline.tilt) * dt > _STEEPEST_TILT:
            outline = replace(outline, tilt=math.copysign(_STEEPEST_TILT / dt, outline.tilt))
        view, points = lattice_product(counted, outline, ask)
        return _PricedView(view, cost + points, dt < 1.5 * finest)

    def _by_rounding(self, ask: ReadingQuery, share: float, worth: int, width: float) -> _PricedView | None:
        """On a lattice to whose points atoms are moved, which errs by half its spacing a step, in both sides alike.

        Atoms that share no lattice leave a lower side next to nothing: it is made of what two of them have in common.
        The error may be that ``share`` of what is allowed; None where so fine a lattice would cost too much. Of thirty
        discrete Gaussians of σ 3, each sampled at 0.1, δ(1) lies in (9.08, 9.11)·1e-8; without this, in (0, 9.11)·1e-8.
        """
        product = self.product
        outline, cut, most, whole, finest = self._outline(ask, width)
        slope = max(abs(outline.saddle), 1 / self._aim(ask, width).spread)
        slope += 0.0 if ask.kind in ("delta", "epsilon") else 1.0
        wanted = share * min(outline.tolerance, 1.0) / (product.uneven_atoms * slope)
        dt = self._spacing(max(wanted, whole / worth), finest)
        if dt * product.uneven_atoms * slope > 1:
            return None
        made = self._lattices(dt, cut, most, True)
        if made is None:
            return None
        view, points = lattice_product(made[0], outline, ask)
        return _PricedView(view, made[1] + points, dt > 1.5 * wanted)

    def _lattices(
        self, dt: float, cut: tuple[float, float], most: float, rounded: bool = False
    ) -> tuple[list[tuple[Lattice, int]], int] | None:
        """Each step on a lattice in this order, and what that costs; None where densities fall far faster than the loss
        moves.
        """
        product = self.product
        try:
            made = [product.lattice(i, self.flipped, dt, cut, most, rounded) for i in range(len(product.steps))]
        except TooManyPanels:
            return None
        cost = math.ceil(product.cost * sum(lattice.upper.log_p.size for lattice in made))
        ordered = [lattice.reverse() for lattice in made] if self.flipped else made
        return [(lattice, k) for lattice, (_, k) in zip(ordered, product.steps, strict=True)], cost

    def _spacing(self, dt: float, finest: float) -> float:
        """The spacing nearest below what is wanted that puts atoms on the lattice, and that memory and time allow."""
        dt, alone = max(dt, finest), all(step.support is None for step, _ in self.product.steps)
        unit = self.product.unit(finest / 2 if alone else max(dt / 16, finest / 2))  # of atoms alone it leaves no error
        if unit is None:
            return float(2.0 ** (math.floor(8 * math.log2(dt)) / 8))  # few distinct ones, so that lattices are shared
        if alone:
            return unit
        return unit / max(math.ceil(unit / dt), 1)

    # -- points ---------------------------------------------------------------------------------------------------

    def _grid_serves(self, ask: ReadingQuery) -> bool:
        """Whether points serve better than a lattice: few steps, or losses that reach far beyond their spread."""
        if all(step.support is None for step, _ in self.product.steps):
            return False
        if self.product.count <= _FEW_STEPS:
            return True
        ways = (self._aim(ask, self.width), self._reverse_saddle)
        return any(at.heavy or at.longest > 64 * at.cumulants.spread(0.0)[1] for at in ways)

    @cached_property
    def _reverse_saddle(self) -> SaddlePoint:
        """Of the total variation, with the laws exchanged."""
        return aim(self.product.steps, not self.flipped, ReadingQuery("delta", 0.0), self.width)

    def _by_points(self, ask: ReadingQuery, many: bool, work: ReadingWork) -> Iterator[tuple[GridProfile, int]]:
        """The product on points, closer together each time, with its cost; for ``many`` questions everywhere alike."""
        most, width = math.log(max(self.product.most, 1e-290)), self._width_of(work)
        known = ask.value
        if ask.kind == "delta":
            known = max(float(self._largest_loss(work).delta(np.asarray([ask.value]))[0][0]), most - _FIRST_DEPTH)
        first, last, seen = None, 0, 0
        for ratio in _GRID_RATIOS:
            if many and 4 * last > work.budget.left:  # twice as many points are four times as many pairs
                break
            # what lies below this is left out: little beside the answer, and beside what can be told apart at all
            least = math.log(1e-3 * width) + min(known, most)
            # what serves one of many questions shall serve the others: of bounded losses how far it goes costs little
            bounded = math.isfinite(self.product.loss_range[0]) and math.isfinite(self.product.loss_range[1])
            least = _LEAST_LOG if many and bounded else max(_CUT_STEP * math.floor(least / _CUT_STEP), _LEAST_LOG)
            half = work.budget.left < work.budget.most // 2  # of what there was is spent: no more than is left
            left = max(work.budget.portion, min(_LEAST_GRID_WORK, work.budget.most))
            pairs = min(_PAIRS_PER_POINT * left, _MOST_PAIRS) if half else _MOST_PAIRS
            if 4 * seen > pairs:
                break
            key = (width, None if first is None else ask, ratio, least)
            made, tried = self._grids.get(key, (None, 0))
            if made is None and pairs > tried:
                while len(self._grids) >= _MOST_VIEWS:
                    del self._grids[next(iter(self._grids))]
                made = grid_profile(self.product.steps, self.flipped, ratio, ask, width, least, first, pairs)
                self._grids[key] = made, pairs
            if made is None or made.work > pairs:
                break
            last, seen = made.work // _PAIRS_PER_POINT + made.upper.loss.size, made.work
            if not any(made is view for view in work.slices):  # otherwise it has been read
                yield made, last
            if ask.kind == "delta":
                known = max(known, float(made.delta(np.asarray([ask.value]))[0][0]))
            first = None if many else made


def read_views(slices: Sequence[View], kind: str, flat: Array) -> tuple[Array, Array]:
    low, high = np.full(flat.size, -np.inf), np.full(flat.size, np.inf)
    for one in slices:
        read = {"delta": one.delta, "epsilon": one.epsilon, "roc": one.roc, "recall": one.inverse_roc}[kind]
        a, b = read(flat)
        low, high = np.maximum(low, a), np.minimum(high, b)
    return low, high


def _wide(kind: str, low: Array, high: Array, slack: Array, width: float) -> Array:
    with np.errstate(invalid="ignore"):
        if kind == "epsilon":
            top = np.maximum(high, 0.0)
            return np.asarray(np.isinf(high) | ~(top - np.maximum(low, 0.0) <= width * top))
        apart = np.exp(np.minimum(high, 0.0)) - np.exp(low)
        return np.asarray(~(high - low <= width) & ~(high < _LEAST_LOG) & (apart > slack))
