"""The whole game: draw, guess, learn, and say what the runs show.

In a sequential audit the event is learnt on past runs and bets on the next; it is learnt anew each time the runs have
grown by a quarter, later by half. One may look after every run, so the game ends as soon as the claim is refuted: of a
batch that was drawn together, the runs after that one do not count. In an audit of fixed size three runs of ten are a
pilot, on which the event is chosen, and the rest are counted once.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from .. import checks
from ..errors import InputError, type_phrase
from ..numerics.formatting import short_repr
from .betting import ALWAYS, History, claim_broken, latest_capital, learn_attacks, learn_events
from .bounds import Evidence, fixed_result, sequential_result
from .outcomes import Outcomes, Reader, ScoreAttack, concatenate_outcomes, entry_limit
from .result import Audit, Finding, FindingKind, StopReason, find_anomalies, level_of, parse_claim
from .sources import (
    BatchSource,
    Bits,
    CallSource,
    GroupSource,
    OutcomeSource,
    check_inputs_differ,
    runs_together,
    timeout_seconds,
)

_FIRST_RUNS = 10  # runs that are only learnt from
#: Events are learnt anew when the runs have grown so much, or less at first.
_LATE_GROWTH, _EARLY_GROWTH, _EARLY_RUNS = 1.5, 1.25, 500
_PILOT_SHARE = 0.3
_LOOKS_PER_DOUBLING = 128  # at the capital, while the runs grow by their own number
#: Where a call answers many runs: fewer calls, each for so many runs at least.
_BATCHES_PER_DOUBLING, _LEAST_BATCH = 16, 8
_MOST_RUNS = 10**9
_COIN_SEED = 0x617564697400  # the coins are not the numbers that a mechanism draws from the same seed


class NoRunsError(InputError):
    """An audit that was stopped before its first runs."""


@dataclass(frozen=True)
class AuditProgress:
    """How far an audit is: ``still`` estimates the runs a refutation still needs; None while nothing points to one."""

    runs: int
    budget: int
    seconds: float
    evidence: float
    needed: float
    still: int | None

    def __str__(self) -> str:
        rest = (self.budget - self.runs) * self.seconds / max(self.runs, 1)
        told = "nothing points against the claim" if self.still is None else f"about {self.still:,} more to refute it"
        return f"{self.runs:,} of {self.budget:,} runs, at most {rest:,.0f} s to go; {told}"


def audit(
    mechanism: Callable[..., object],
    d0: object,
    d1: object,
    *,
    claim: object,
    confidence: float = 0.95,
    runs: int = 20_000,
    batch: bool | int = False,
    groups: bool = False,
    sequential: bool = True,
    stop: bool = True,
    low_bits: bool = True,
    timeout: float | None = 300.0,
    seed: int | None = None,
    progress: bool | Callable[[AuditProgress], object] = False,
) -> Audit:
    """Does a mechanism keep a claim on two neighbouring inputs? Runs it and bounds from below what it gives away.

    ``mechanism(d)`` is called on ``d0`` or ``d1`` as a coin falls; with ``batch`` it is ``mechanism(d, n)`` and returns
    n outcomes at once (a number: at most so many a call). It must not change its input. Outcomes may be numbers,
    arrays, tables, models, texts, NaN; exceptions count too, and nothing it prints is shown. ``claim`` is an
    experiment, a number ε, a pair (ε, δ), or a text such as ``"mu=1"``. With ``groups`` the inputs have one entry a
    group, each group has a coin of its own, and one call on the mixture is as many guesses; such claims must be pure.

    ``runs`` is the most there are. By default the audit stops as soon as the claim is refuted; ``stop=False`` goes on,
    for a larger bound, and ``sequential=False`` counts a fixed number once. Noise in floating point gives itself away
    by its last bits, and the attacker looks at them; ``low_bits=False`` leaves that aside. ``progress`` is told how far
    it is; an interrupt keeps what is there.

    Parameters
    ----------
    mechanism : callable
        Called with an input, and with `batch` with a number of runs.
    d0 : object
        The first input.
    d1 : object
        Its neighbour.
    claim : Experiment, float, (float, float) or str
        What the mechanism is said to keep.
    confidence : float, default 0.95
        Of all bounds together, in (0, 1).
    runs : int, default 20000
        The most runs there are.
    batch : bool or int, default False
        Whether one call returns many outcomes, and how many at most.
    groups : bool, default False
        Whether each entry of the inputs has a coin of its own.
    sequential : bool, default True
        Stop as soon as the verdict is there.
    stop : bool, default True
        Whether a violation ends it.
    low_bits : bool, default True
        Whether the attacker looks at the last bits of floats.
    timeout : float, optional
        Seconds of one call.
    seed : int, optional
        Of the coins.
    progress : callable, optional
        Called with steps done, steps in all, and what is being done.

    Returns
    -------
    Audit
        The verdict, and bounds from below at `confidence`.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> import numpy as np
    >>> import epsilens as el
    >>> rng = np.random.default_rng(1)
    >>> noisy = lambda d, n: d + rng.laplace(0, 0.5, n)      # half of the noise that ε = 1 needs
    >>> found = audit(noisy, 0, 1, claim=1.0, batch=True, seed=1)
    >>> str(found.verdict), found.epsilon_lo > 1, found.runs < 1000
    ('VIOLATION', True, True)
    """
    if not callable(mechanism):
        raise InputError(
            f"mechanism is {type_phrase(mechanism)}: give a function of the input, such as lambda d: release(d)",
            parameter="mechanism",
        )
    limit = None if timeout is None else timeout_seconds(timeout)
    if groups and batch:
        raise InputError("groups and batch are both given: one call is many guesses or many runs, so give one of them")
    source: OutcomeSource
    if groups:
        source = GroupSource(mechanism, d0, d1, limit)
    elif batch:
        most = 1_000_000 if batch is True else checks.integer("batch", batch, low=1)
        source = BatchSource(mechanism, d0, d1, most, limit)
    else:
        source = CallSource(mechanism, d0, d1, limit)
    check_inputs_differ(d0, d1)
    return audit_source(
        source,
        claim=claim,
        confidence=confidence,
        runs=runs,
        sequential=sequential,
        stop=stop,
        low_bits=low_bits,
        seed=seed,
        progress=progress,
        pair=(short_repr(d0), short_repr(d1)),
    )


def audit_source(
    source: OutcomeSource,
    *,
    claim: object,
    confidence: float = 0.95,
    runs: int = 20_000,
    sequential: bool = True,
    stop: bool = True,
    low_bits: bool = True,
    seed: int | None = None,
    progress: bool | Callable[[AuditProgress], object] = False,
    pair: tuple[str, str] = ("", ""),
) -> Audit:
    """The same for anything that draws outcomes, a :class:`~.sources.OutcomeSource`; ``pair`` names the two inputs."""
    asked, alpha = parse_claim(claim), level_of(confidence)
    budget = checks.integer("runs", runs, low=1, high=_MOST_RUNS)
    if seed is not None:
        seed = checks.integer("seed", seed, low=0)
    if source.width > 1:
        if not math.isfinite(asked.pure):
            raise InputError(
                "claim has no ε at δ = 0: many guesses a call test pure claims only, so give ε, or leave out groups",
                parameter="claim",
            )
        asked = replace(asked, alone=True)
    coins = np.random.default_rng(None if seed is None else [seed, _COIN_SEED])
    game = Game(
        source,
        coins,
        _progress_callback(progress),
        low_bits,
        claim=asked,
        alpha=alpha,
        budget=budget,
        width=source.width,
        reader=Reader(most=entry_limit(budget)),
        pair=pair,
    )
    if sequential:
        game.play(stop)
    else:
        game.count()
    return game.result(sequential)


def _progress_callback(progress: bool | Callable[[AuditProgress], object]) -> Callable[[AuditProgress], object] | None:
    if callable(progress):
        return progress
    if not isinstance(progress, bool):
        raise InputError(
            f"progress is {type_phrase(progress)}: give True, or a function that is told how far it is", "progress"
        )
    if not progress:
        return None
    return lambda now: sys.stderr.write(f"\r{now}\033[K")


@dataclass
class Game(Evidence):
    """The state of an audit: :meth:`play` or :meth:`count` it, then ask for its :meth:`result`."""

    source: OutcomeSource
    rng: np.random.Generator
    tell: Callable[[AuditProgress], object] | None = None
    low_bits: bool = True
    past: list[Outcomes] = field(default_factory=list)
    bits: list[Bits] = field(default_factory=list)
    attacks: tuple[ScoreAttack, ...] = ()
    drawing: float = 0.0
    started: float = field(default_factory=time.perf_counter)

    def draw(self, count: int) -> tuple[Outcomes, Bits]:
        """So many more runs, in whole calls; fewer where the mechanism stays silent."""
        count = self.width * math.ceil(count / self.width)
        bits = self.rng.integers(0, 2, count).astype(bool)
        began = time.perf_counter()
        raw = self.source.draw(bits)
        self.drawing += time.perf_counter() - began
        if len(raw) < count:
            self.stopped = StopReason.SILENT
            bits = bits[: len(raw)]
        outcomes = self.reader.read(raw)
        if len(outcomes):
            self.past.append(outcomes)
            self.bits.append(bits)
            self.runs += len(outcomes)
        return outcomes, bits

    def gathered(self) -> tuple[Outcomes, Bits]:
        """All runs so far."""
        if len(self.past) > 1:
            self.past, self.bits = [concatenate_outcomes(self.past)], [np.concatenate(self.bits)]
        return self.past[0], self.bits[0]

    def learn_to_bet(self) -> None:
        """The attacks for the next runs, from all so far."""
        if self.past:
            outcomes, bits = self.gathered()
            found = learn_attacks(outcomes, bits, self.claim, low_bits=self.low_bits)
            self.attacks, self.events = (found[0], [found[1]]) if found is not None else ((), None)

    def play(self, stop: bool) -> None:
        """Learn on the past, bet on the next."""
        self.history = History(self.alpha, self.budget, self.claim.pure)
        try:
            while self.runs < self.budget and self.stopped is StopReason.BUDGET:
                growth = _EARLY_GROWTH if self.runs < _EARLY_RUNS else _LATE_GROWTH
                end = min(max(_FIRST_RUNS, math.ceil(growth * self.runs)), self.budget)
                while self.runs < end and self.stopped is StopReason.BUDGET:
                    if isinstance(self.source, BatchSource):
                        step = max(_LEAST_BATCH, self.runs // _BATCHES_PER_DOUBLING)
                    else:
                        step = max(runs_together(self.source), self.runs // _LOOKS_PER_DOUBLING)
                    outcomes, bits = self.draw(min(end - self.runs, step if self.runs >= _FIRST_RUNS else end))
                    if self.attacks and len(outcomes):
                        self._bet_on(outcomes, bits, stop)
                self._sane()
                if self.runs < self.budget and self.stopped is StopReason.BUDGET:
                    self.learn_to_bet()
        except KeyboardInterrupt:
            self.stopped = StopReason.INTERRUPTED

    def _bet_on(self, outcomes: Outcomes, bits: Bits, stop: bool) -> None:
        """Bet on these runs, one after the other; those after the one that refutes the claim do not count."""
        before = self.runs - len(outcomes)
        step = self.width * max(1, before // _LOOKS_PER_DOUBLING // self.width)  # whole calls
        for start in range(0, len(outcomes), step):
            piece = slice(start, start + step)
            self._bet(outcomes.take(piece), bits[piece], stop)
            if self.stopped is StopReason.EVIDENCE:
                self.runs = before + min(start + step, len(outcomes))
                self.past[-1], self.bits[-1] = outcomes.take(slice(0, self.runs - before)), bits[: self.runs - before]
                break

    def _bet(self, outcomes: Outcomes, bits: Bits, stop: bool) -> None:
        assert self.events is not None
        self.history.add(self.attacks, np.array([attack.count(outcomes, bits) for attack in self.attacks]))
        right, wrong, _ = self.events[0].count(outcomes, bits)
        for held, more in zip(self.always, (right, wrong), strict=True):
            held.append((held[-1] if held else 0) + more)
        capital = latest_capital(self.history, self.claim)
        if self.tell is not None:
            self.tell(self._progress(capital))
        if stop and capital >= -math.log(self.alpha) and claim_broken(self.history, self.claim):
            self.stopped = StopReason.EVIDENCE

    def _progress(self, capital: float) -> AuditProgress:
        needed = -math.log(self.alpha)
        still = math.ceil((needed - capital) * self.runs / capital) if 0.1 < capital < needed else None
        return AuditProgress(self.runs, self.budget, time.perf_counter() - self.started, capital, needed, still)

    def count(self) -> None:
        """Choose on a pilot, count on the rest."""
        try:
            self._some(max(1, math.ceil(_PILOT_SHARE * self.budget)))
            self._sane()
            if self.past:
                self.events = learn_events(*self.gathered(), self.claim, low_bits=self.low_bits)
            pilot = self.runs
            self._some(self.budget - pilot)
            if self.events and self.stopped is StopReason.BUDGET:  # a number that the outcomes cut short was not fixed
                outcomes, bits = self.gathered()
                fresh, bits = outcomes.take(slice(pilot, None)), bits[pilot:]
                self.counted = [event.count(fresh, bits) for event in self.events]
                self.scores = self.events[ALWAYS].scores(fresh, bits)
        except KeyboardInterrupt:
            self.stopped = StopReason.INTERRUPTED

    def _some(self, count: int) -> None:
        end = self.runs + count
        while self.runs < end and self.stopped is StopReason.BUDGET:
            whole = isinstance(self.source, BatchSource)
            self.draw(end - self.runs if whole else min(end - self.runs, 1 + self.budget // 20))
            if self.tell is not None:
                self.tell(self._progress(0.0))

    def _sane(self) -> None:
        """A mechanism that only ever fails in one way, in both worlds, is not audited but mended."""
        if not self.past or self.runs < min(_FIRST_RUNS, self.budget):
            return
        kinds = {kind.detail for kind in self.reader.kinds}
        if all(kind.what == "raised" for kind in self.reader.kinds) and len(kinds) == 1:
            raise InputError(
                f"the mechanism fails with {kinds.pop()} on every run of both inputs: call it on d0 and mend it",
                parameter="mechanism",
            )

    def result(self, sequential: bool) -> Audit:
        """What the runs show."""
        if not self.past:
            raise NoRunsError(
                "the audit was stopped before its first runs: nothing can be said of the claim", parameter="runs"
            )
        self.findings = find_anomalies(*self.gathered(), self.reader)
        if self.claim.bare:
            self.findings = (*self.findings, Finding(FindingKind.BARE))
        self.seconds = (self.drawing, time.perf_counter() - self.started - self.drawing)
        return sequential_result(self) if sequential else fixed_result(self)
