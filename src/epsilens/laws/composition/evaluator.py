"""A product of steps in one order: views of its profile made for questions, verified, and made again if too wide.

What one reading may cost is counted, not timed, so that a reading is the same on every machine: in lattice points of
the plainest step, about a microsecond each. What is still wide when all is spent stays at what is known by then, a
wider bracket that holds all the same, and the law says that it was not reached.

All that is made is kept by the evaluator of its order, which both sides of a bracket and all laws that share the
product ask; what only one reading uses is in its :class:`ReadingWork`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from ...checks import Array
from .elementary_bounds import LargestLossBounds, MomentBounds, largest_loss_bounds, log_profile
from .grid_product import GridProfile, grid_profile
from .lattice import Lattice
from .product import MOST_PAIRS, BoundedCache, Product
from .profile import MOST_POINTS, POINT_COST, LatticeProfile, lattice_product, log_moment, side_powers
from .quadrature import TooManyPanels
from .series import SeriesProfile, series_profile
from .tilt import HALF, LatticePlan, Query, SaddlePoint, aim, largest_loss, levels, plan

MOST_WORK = 2**20  # lattice points made for one question, after which what is known must do


def _default_work() -> int:
    return MOST_WORK


@dataclass
class Budget:
    """What has been spent of ``most``, in lattice points."""

    spent: int = 0
    most: int = field(default_factory=_default_work)

    @classmethod
    def share(cls, of: int) -> Budget:
        """One part of that many."""
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
    orders of a reading may share a budget.
    """

    budget: Budget = field(default_factory=Budget)
    slices: list[View] = field(default_factory=list)
    abandoned: set[tuple[str, float]] = field(default_factory=set)
    # the last two answers, one for losses above 0 and one for those below: both sides of a bracket are asked for
    answers: BoundedCache[object, tuple[Array, Array]] = field(default_factory=lambda: BoundedCache(2))
    failed_series: int = 0  # series in a row that came to nothing

    @property
    def has_budget(self) -> bool:
        """True while the work budget allows another view; the first attempt is always allowed."""
        return self.budget.left > 0 or not (self.slices or self.abandoned)


_LATTICE_ATTEMPTS = 3  # each finer than the last
_ROUNDING_SHARES = (0.4, 0.05)  # of the error allowed, where atoms are moved to a lattice
_MOST_VIEWS = 48  # kept
_MOST_SINGLE_READS, _LEAST_SINGLE_READS = 64, 4  # values read one by one
_DELTA_COST, _SEARCH_COST = 2**8, 2**12  # what one of them costs, in points: δ is read off, all else is searched for
_FAILED_SERIES_COST = 1  # what a series that comes to nothing costs, for each node of its cumulants
_MOST_FAILED_SERIES = 4  # of such series in a row, where steps are dear
_STEEPEST_TILT = 40.0  # times the spacing: steeper, all mass is at one lattice point
_COARSEST_SPACING = 8.0  # between lattice points: e^{−8} is all that one of them leaves of the next
_EPSILON_MARGIN = 1e-3  # by how much a bound must be below, relative
_LOG_MARGIN = 1e-3  # of a log probability
View = LatticeProfile | SeriesProfile | LargestLossBounds | GridProfile | MomentBounds
_TILTS = np.geomspace(0.05, 200.0, 24)  # of Chernoff's bounds
ROUGH = 0.05  # relative width at which the two orders are compared
_REFUSED_LATTICE_COST = 2**17  # the plan of a lattice that cannot be, in points
_MOST_BINS = 2**20  # of all steps together: a second or two
_SETTLED_WIDTHS = 30.0  # times the width asked for
_COARSER_WIDTHS = 10.0  # times what is known
_FEW_QUERIES = 3  # questions at once
_CUT_STEP = 12.0  # log probabilities left out that share their work
_FEW_STEPS = 16  # steps: pairs of points come before lattices
_GRID_RATIOS = (0.2, 0.08, 0.04)  # of neighbouring points
_PAIRS_PER_POINT = 10  # that cost as much as a lattice point
_LEAST_GRID_WORK = 2**18  # lattice points that a product on points may cost, whatever is left
_FIRST_DEPTH = 60.0  # how far below that an answer is looked for at first, as a logarithm
_LOG_OVERLAP = -10.0  # log of what two laws have in common, at most, where moments are asked
_COSTLY_STEP = 4.0  # the price of a step above which laws that hardly overlap are left at what is sure
_LOG_UNDERFLOW = -750.0  # a log probability that no double holds
_LEAST_LOG = -690.0  # a log probability below which nothing is refined any further


class _PricedView(NamedTuple):
    view: LatticeProfile | SeriesProfile | None  # none where no series will do
    cost: int
    coarse: bool  # as fine as memory and time allow


class _LatticeOutline(NamedTuple):
    plan: LatticePlan
    cut: tuple[float, float]
    most: float
    whole: float  # what its bins and its window cost at a spacing of 1
    finest: float


class Evaluator:
    """One order of a product."""

    def __init__(self, product: Product, flipped: bool, width: float, part: int = 1) -> None:
        self.product, self.flipped, self.width, self.part = product, flipped, width, part
        self.unreached = False  # whether an answer is wider than asked for
        self.exhausted = False  # whether the last one took all that a reading may cost
        self._series_width = width
        self._made: BoundedCache[tuple[Query, float, int], _PricedView | None] = BoundedCache(_MOST_VIEWS)
        self._answers: BoundedCache[tuple[str, bytes, bytes], tuple[Array, Array, bool, bool]] = BoundedCache(64)
        self.worse: BoundedCache[tuple[bool, bytes], tuple[Array, Array]] = BoundedCache(1)  # of both orders
        self.summed: BoundedCache[tuple[str, float, float], tuple[float, float]] = BoundedCache(64)  # of whole curves
        self._aims: BoundedCache[tuple[Query, float], SaddlePoint] = BoundedCache(4)
        self._outlines: BoundedCache[tuple[Query, float], _LatticeOutline] = BoundedCache(1)
        self._grids: dict[tuple[Query | None, float, float], tuple[GridProfile | None, int]] = {}
        self._rough: Evaluator | None = None
        self._fine: Evaluator | None = None
        self._shared: Evaluator | None = None

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

    @cached_property
    def _moment_bounds(self) -> MomentBounds:
        return MomentBounds(
            lambda s: self.product.log_moment(1 - s if self.flipped else s), min(self.product.moment_error, 1.0)
        )

    @cached_property
    def _largest_loss(self) -> LargestLossBounds:
        return largest_loss_bounds(self.product.steps, self.flipped)

    def rough(self) -> Evaluator:
        """The same order to be read with wide brackets, kept; series are as narrow as ever."""
        if self._rough is None:
            self._rough = Evaluator(self.product, self.flipped, ROUGH, 8 * self.part)  # which order is worse costs less
            self._rough._series_width, self._rough._fine = self.width, self
            self._rough._made, self._rough._aims = self._made, self._aims
        return self._rough

    def with_width(self, width: float) -> Evaluator:
        """The same order, to be read to another width."""
        return Evaluator(self.product, self.flipped, width, self.part)

    def sharing(self, of: int) -> Evaluator:
        """The same order where a reading may cost one part of that many, kept: several laws may have it."""
        if self._shared is None or self._shared.part != of:
            self._shared = Evaluator(self.product, self.flipped, self.width, of)
        return self._shared

    # -- making slices ------------------------------------------------------------------------------------------

    def make(
        self, ask: Query, width: float, budget: Budget, lattice: bool = False
    ) -> LatticeProfile | SeriesProfile | None:
        """A slice for one question: by the series where that is possible, unless a ``lattice`` is asked for."""
        made = None if lattice else self._series_view(ask)
        if made is not None:
            budget.spent += made.cost
        if made is None or made.view is None:
            made = self._lattice_view(ask, width, budget.portion)
            budget.spent += 0 if made is None else made.cost
        return None if made is None else made.view

    def _series_view(self, ask: Query) -> _PricedView | None:
        """By the series, kept for the next time; None where that is not tried."""
        if ask.kind == "recall" and ask.value > HALF:  # λ < 0: what is missed is not in δ
            return None
        return self._made.get_or_make((ask, self._series_width, 0), lambda: self._by_series(ask))

    def _lattice_view(self, ask: Query, width: float, most: int) -> _PricedView | None:
        """On a lattice that costs no more than ``most``, likewise; None where its points would lie too far apart to
        tell anything.
        """
        return self._made.get_or_make((ask, width, most), lambda: self._by_lattice(ask, width, most))

    def _by_series(self, ask: Query) -> _PricedView:
        steps, nodes = self.product.steps, 0
        # what is too much for narrow brackets may come out narrow all the same
        for width in (self._series_width, ROUGH):
            at = self._aim(ask, width)
            view = series_profile(steps, self.flipped, at, width)
            if view is not None:
                return _PricedView(view, view.work, True)
            nodes = max(nodes, at.cumulants.nodes)
        return _PricedView(None, _FAILED_SERIES_COST * nodes, True)

    def _aim(self, ask: Query, width: float) -> SaddlePoint:
        return self._aims.get_or_make((ask, width), lambda: aim(self.product.steps, self.flipped, ask, width))

    @cached_property
    def _reverse_saddle(self) -> SaddlePoint:
        """Of the total variation, with the laws exchanged."""
        return aim(self.product.steps, not self.flipped, Query("delta", 0.0), self._series_width)

    def moments_put_below(self, log_delta: float, epsilon: float) -> bool:
        """Whether moments alone put ε(δ) below; where they do not, what it took is kept for the series."""
        bound = self._aim(Query("epsilon", log_delta), self._series_width)
        left_out = 1e-5 + 2 * bound.cumulants.at_top * math.exp(-log_delta)  # as a share of δ, and of the quadrature
        if bound.loss * (1 + _EPSILON_MARGIN) + left_out / bound.saddle < epsilon:
            return True
        shape = bound.cumulants.shape(bound.saddle)
        if shape is None or not shape.variance > 0:
            return False
        return log_profile(shape, bound.saddle, epsilon * (1 - _EPSILON_MARGIN)) + left_out + _LOG_MARGIN < log_delta

    def _outline(self, ask: Query, width: float) -> _LatticeOutline:
        """What a lattice for a question would be, and how fine it can be."""
        return self._outlines.get_or_make((ask, width), lambda: self._make_outline(ask, width))

    def _make_outline(self, ask: Query, width: float) -> _LatticeOutline:
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

    def _by_lattice(self, ask: Query, width: float, worth: int) -> _PricedView | None:
        product = self.product
        outline, cut, most, whole, finest = self._outline(ask, width)
        if finest > _COARSEST_SPACING:
            return None
        finest = max(finest, min(whole / worth, _COARSEST_SPACING))
        dt = self._spacing(outline.dt, finest)
        cost = 0
        for _ in range(8):
            try:
                lattices = [product.lattice(i, self.flipped, dt, cut, most) for i in range(len(product.steps))]
            except TooManyPanels:  # densities that fall far faster than the loss moves
                return None
            cost += math.ceil(product.cost * sum(lattice.upper.log_p.size for lattice in lattices))
            if self.flipped:
                lattices = [lattice.reverse() for lattice in lattices]
            if all(lattice.exact for lattice in lattices):
                break
            counted = self._counted(lattices)
            high, low = (log_moment(side_powers(counted, upper), outline.saddle) for upper in (True, False))
            ratio = (high - low) / min(outline.tolerance, 1.0)
            finer = self._spacing(dt * min(max(0.85 / math.sqrt(max(ratio, 1e-3)), 0.3), 0.7), finest)
            left = worth - cost if product.count <= _FEW_STEPS else worth  # few steps have points to fall back on
            if ratio <= 1.05 or finer >= dt or whole / finer > left:
                break
            dt = finer
        # a tilt that moves all mass to one lattice point serves nobody
        if abs(outline.tilt) * dt > _STEEPEST_TILT:
            outline = replace(outline, tilt=math.copysign(_STEEPEST_TILT / dt, outline.tilt))
        view, points = lattice_product(self._counted(lattices), outline, ask)
        return _PricedView(view, cost + points, dt < 1.5 * finest)

    def _counted(self, lattices: Sequence[Lattice]) -> list[tuple[Lattice, int]]:
        return [(lattice, k) for lattice, (_, k) in zip(lattices, self.product.steps, strict=True)]

    def _by_rounding(self, ask: Query, share: float, worth: int) -> _PricedView | None:
        """On a lattice to whose points atoms are moved, which errs by half its spacing a step, in both sides alike.

        Atoms that share no lattice leave a lower side next to nothing: it is made of what two of them have in common.
        The error may be that ``share`` of what is allowed; None where so fine a lattice would cost too much.
        """
        product = self.product
        outline, cut, most, whole, finest = self._outline(ask, self.width)
        slope = max(abs(outline.saddle), 1 / self._aim(ask, self.width).spread)
        slope += 0.0 if ask.kind in ("delta", "epsilon") else 1.0
        wanted = share * min(outline.tolerance, 1.0) / (product.uneven_atoms * slope)
        dt = self._spacing(max(wanted, whole / worth), finest)
        if dt * product.uneven_atoms * slope > 1:
            return None
        try:
            lattices = [product.lattice(i, self.flipped, dt, cut, most, True) for i in range(len(product.steps))]
        except TooManyPanels:
            return None
        cost = math.ceil(product.cost * sum(lattice.upper.log_p.size for lattice in lattices))
        if self.flipped:
            lattices = [lattice.reverse() for lattice in lattices]
        view, points = lattice_product(self._counted(lattices), outline, ask)
        return _PricedView(view, cost + points, dt > 1.5 * wanted)

    def _spacing(self, dt: float, finest: float) -> float:
        """The spacing nearest below what is wanted that puts atoms on the lattice, and that memory and time allow."""
        dt, alone = max(dt, finest), all(step.support is None for step, _ in self.product.steps)
        unit = self.product.unit(finest / 2 if alone else max(dt / 16, finest / 2))  # of atoms alone it leaves no error
        if unit is None:
            return float(2.0 ** (math.floor(8 * math.log2(dt)) / 8))  # few distinct ones, so that lattices are shared
        if alone:
            return unit
        return unit / max(math.ceil(unit / dt), 1)

    # -- asking -------------------------------------------------------------------------------------------------

    def ask(
        self, kind: str, values: Array, slack: Array | float = 0.0, work: ReadingWork | None = None
    ) -> tuple[Array, Array]:
        """(low, high) of log δ, ε, log TPR or log α for each value, as tight as asked for where that can be.

        ``slack`` is an absolute error of the probability that the asker does not mind. With ``work``, slices are shared
        with other questions of the same reading, which says itself whether its own answer is wide.
        """
        flat = np.asarray(values, dtype=float).ravel()
        allowed = np.broadcast_to(np.asarray(slack, dtype=float), np.shape(values)).ravel()
        key = (kind, flat.tobytes(), allowed.tobytes())
        if work is not None:
            shared = work
            low, high = work.answers.get_or_make(
                (self.flipped, *key), lambda: self._search(kind, flat, allowed, shared)[:2]
            )
        else:
            low, high, wide, self.exhausted = self._answers.get_or_make(key, lambda: self._answer(key, flat, allowed))
            if self._fine is not None and not self._fine._wide(kind, low, high, allowed).any():
                exhausted = self.exhausted
                self._fine._answers.get_or_make(
                    key, lambda: (low, high, False, exhausted)
                )  # the same series would answer
            self.unreached = self.unreached or wide
        return low.reshape(np.shape(values)), high.reshape(np.shape(values))

    def _answer(self, key: tuple[str, bytes, bytes], flat: Array, allowed: Array) -> tuple[Array, Array, bool, bool]:
        """(low, high), whether it is wide, and whether it took all that a reading may cost."""
        if self._fine is not None and key in self._fine._answers:
            return self._fine._answers[key]
        work = ReadingWork(Budget.share(self.part))
        whole = Budget.share(self.part if self._fine is None else self._fine.part).most
        low, high, wide = self._search(key[0], flat, allowed, work)
        return low, high, wide, work.budget.spent > whole

    def _search(self, kind: str, flat: Array, allowed: Array, work: ReadingWork) -> tuple[Array, Array, bool]:
        low, high = self._read(work.slices, kind, flat)
        if self.product.count == 1:
            low, high = self._by_largest(kind, flat, low, high, allowed, work)
        while work.has_budget:
            todo = np.flatnonzero(self._wide(kind, low, high, allowed))
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
        return low, high, bool(self._wide(kind, low, high, allowed).any())

    def _by_largest(
        self, kind: str, flat: Array, low: Array, high: Array, allowed: Array, work: ReadingWork
    ) -> tuple[Array, Array]:
        """Where the bracket is too wide: what the largest loss alone shows, of as many values as may be read so."""
        wide = np.flatnonzero(self._wide(kind, low, high, allowed))
        cost = _DELTA_COST if kind == "delta" else _SEARCH_COST
        each = math.ceil(self._largest_loss.read_cost * cost * self.product.cost)
        if each:
            wide = wide[: min(max(work.budget.left // each, _LEAST_SINGLE_READS), _MOST_SINGLE_READS)]
        if wide.size:
            work.budget.spent += each * wide.size
            a, b = self._read([self._largest_loss], kind, flat[wide])
            low, high = low.copy(), high.copy()
            low[wide], high[wide] = np.maximum(low[wide], a), np.minimum(high[wide], b)
        return low, high

    def _refine(self, kind: str, flat: Array, target: int, allowed: Array, work: ReadingWork) -> tuple[Array, Array]:
        """(low, high) from what is made for one of the values: the series, points, then lattices, finer each time."""
        low, high = np.full(flat.size, -np.inf), np.full(flat.size, np.inf)
        question = Query(kind, float(flat[target]))

        def use(view: View | None, cost: int) -> bool:
            """Read it; whether that is enough."""
            nonlocal low, high
            work.budget.spent += cost
            if view is None:
                return False
            work.slices.append(view)
            a, b = self._read([view], kind, flat)
            low, high = np.maximum(low, a), np.minimum(high, b)
            return not self._wide(kind, low[[target]], high[[target]], allowed[[target]])[0]

        hopeless = work.failed_series >= _MOST_FAILED_SERIES and self.product.cost > _COSTLY_STEP
        made = None if hopeless else self._series_view(question)
        if made is not None:
            work.failed_series = 0 if made.view is not None else work.failed_series + 1
            if use(made.view, made.cost):
                return low, high
        if self._disjoint and (use(self._moment_bounds, 0) or self.product.cost > _COSTLY_STEP):
            work.abandoned.add((kind, float(flat[target])))
            return low, high
        if self._grid_serves(question):
            for view, cost in self._by_points(question, flat.size > _FEW_QUERIES, work):
                if use(view, cost):
                    return low, high
                if work.budget.left <= 0:
                    break
            gap, unit = float(high[target] - low[target]), float(high[target]) if kind == "epsilon" else 1.0
            settled = (
                self.product.count > _FEW_STEPS
                and flat.size > _FEW_QUERIES
                and gap < _SETTLED_WIDTHS * self.width * unit
            )
            if settled or (math.isfinite(gap) and self._lattice_is_coarser(question, gap / unit)):
                work.abandoned.add((kind, float(flat[target])))
                return low, high
        for share in _ROUNDING_SHARES if self.product.uneven_atoms else ():
            made = self._made.get_or_make(
                (question, -share, work.budget.portion),
                partial(self._by_rounding, question, share, work.budget.portion),
            )
            if made is not None and use(made.view, made.cost):
                return low, high
            if made is None or made.coarse or work.budget.left <= 0:
                break
        width, last = self.width, math.inf
        for again in range(_LATTICE_ATTEMPTS):
            if again and work.budget.left <= 0:
                break
            made = self._lattice_view(question, width, work.budget.portion)
            if made is None:
                work.budget.spent += _REFUSED_LATTICE_COST
                break
            if use(made.view, made.cost):
                return low, high
            gap, wanted = float(high[target] - low[target]), self.width
            if kind == "epsilon":
                gap, wanted = max(gap, 0.0), wanted * max(float(high[target]), 1e-300)
            if gap > 0.95 * last or made.coarse or (again and math.isinf(gap)):  # finer does not help, or cannot be
                break
            # the width falls with the square of the spacing, and so with what is asked of it
            ratio = wanted / gap if math.isfinite(gap) and math.isfinite(wanted) else 0.0
            width, last = width * min(max(0.6 * ratio, 0.05), 0.5), gap
        work.abandoned.add((kind, float(flat[target])))
        return low, high

    def _lattice_is_coarser(self, ask: Query, gap: float) -> bool:
        """Whether a lattice would be wider than the present bracket: its width grows with the square of its spacing."""
        made = self._outline(ask, self.width)
        return self.width * (made.finest / made.plan.dt) ** 2 > _COARSER_WIDTHS * gap

    @cached_property
    def _disjoint(self) -> bool:
        """Whether the two laws have next to nothing in common."""
        return not (self.product.at_top or self.product.at_bottom) and self.product.log_moment(0.5) < _LOG_OVERLAP

    def _grid_serves(self, ask: Query) -> bool:
        """Whether points serve better than a lattice: few steps, or losses that reach far beyond their spread."""
        if all(step.support is None for step, _ in self.product.steps):
            return False
        if self.product.count <= _FEW_STEPS:
            return True
        ways = (self._aim(ask, self._series_width), self._reverse_saddle)
        return any(at.heavy or at.longest > 64 * at.cumulants.spread(0.0)[1] for at in ways)

    def _by_points(self, ask: Query, many: bool, work: ReadingWork) -> Iterator[tuple[GridProfile, int]]:
        """The product on points, closer together each time, with its cost; for ``many`` questions everywhere alike."""
        most = math.log(max(self.product.most, 1e-290))
        known = ask.value
        if ask.kind == "delta":
            known = max(float(self._largest_loss.delta(np.asarray([ask.value]))[0][0]), most - _FIRST_DEPTH)
        first, last, seen = None, 0, 0
        for ratio in _GRID_RATIOS:
            if many and 4 * last > work.budget.left:  # twice as many points are four times as many pairs
                break
            # what lies below this is left out: little beside the answer, and beside what can be told apart at all
            least = math.log(1e-3 * self.width) + min(known, most)
            # what serves one of many questions shall serve the others: of bounded losses how far it goes costs little
            bounded = math.isfinite(self.product.loss_range[0]) and math.isfinite(self.product.loss_range[1])
            least = _LEAST_LOG if many and bounded else max(_CUT_STEP * math.floor(least / _CUT_STEP), _LEAST_LOG)
            half = work.budget.left < work.budget.most // 2  # of what there was is spent: no more than is left
            left = max(work.budget.portion, min(_LEAST_GRID_WORK, work.budget.most))
            pairs = min(_PAIRS_PER_POINT * left, MOST_PAIRS) if half else MOST_PAIRS
            if 4 * seen > pairs:
                break
            key = (None if first is None else ask, ratio, least)
            made, tried = self._grids.get(key, (None, 0))
            if made is None and pairs > tried:
                while len(self._grids) >= _MOST_VIEWS:
                    del self._grids[next(iter(self._grids))]
                made = grid_profile(self.product.steps, self.flipped, ratio, ask, self.width, least, first, pairs)
                self._grids[key] = made, pairs
            if made is None or made.work > pairs:
                break
            last, seen = made.work // _PAIRS_PER_POINT + made.upper.loss.size, made.work
            if not any(made is view for view in work.slices):  # otherwise it has been read
                yield made, last
            if ask.kind == "delta":
                known = max(known, float(made.delta(np.asarray([ask.value]))[0][0]))
            first = None if many else made

    def _read(self, slices: Sequence[View], kind: str, flat: Array) -> tuple[Array, Array]:
        low, high = np.full(flat.size, -np.inf), np.full(flat.size, np.inf)
        for one in slices:
            read = {"delta": one.delta, "epsilon": one.epsilon, "roc": one.roc, "recall": one.inverse_roc}[kind]
            a, b = read(flat)
            low, high = np.maximum(low, a), np.minimum(high, b)
        return low, high

    def _wide(self, kind: str, low: Array, high: Array, slack: Array) -> Array:
        with np.errstate(invalid="ignore"):
            if kind == "epsilon":
                top = np.maximum(high, 0.0)
                return np.asarray(np.isinf(high) | ~(top - np.maximum(low, 0.0) <= self.width * top))
            apart = np.exp(np.minimum(high, 0.0)) - np.exp(low)
            return np.asarray(~(high - low <= self.width) & ~(high < _LEAST_LOG) & (apart > slack))

    def test(self, loss: float) -> tuple[float, float]:
        """(false-positive rate, recall) that the test of this threshold surely has at most and at least."""
        work = ReadingWork()
        self.unreached = self._search("delta", np.asarray([loss]), np.zeros(1), work)[2] or self.unreached
        known = [one.test(loss) for one in (*work.slices, self._largest_loss)]
        alpha, recall, _ = min((k for k in known if k[1] > 0), key=lambda k: k[2], default=(0.0, 0.0, 0.0))
        return float(alpha), float(recall)
