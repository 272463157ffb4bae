"""False alarms summed exactly: small mechanisms that just keep their claim, every answer, every event, every path."""

from __future__ import annotations

import math
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import logsumexp, ndtr
from scipy.stats import multinomial

from epsilens.auditing.audit import Game
from epsilens.auditing.betting import History, log_capital
from epsilens.auditing.bounds import GuessCounts, p_value
from epsilens.auditing.outcomes import ScoreAttack
from epsilens.auditing.result import ClaimLines, claim_of
from epsilens.auditing.sources import CallSource

Pair = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def random_pair(rng: np.random.Generator, outcomes: int) -> Pair:
    first, second = rng.dirichlet(np.ones(outcomes), 2)
    # what one world gives now and then the other never gives, in some of them
    return (first, second) if rng.random() < 0.7 else (first, np.append(second[:-1] / second[:-1].sum(), 0.0))


def both_ways(pair: Pair, epsilon: float) -> float:
    """δ(ε), the larger of both orders, by its definition."""
    first, second = pair
    grow = math.exp(epsilon)
    return float(max(np.maximum(first - grow * second, 0).sum(), np.maximum(second - grow * first, 0).sum()))


def gaussian_delta(mu: float, epsilon: float) -> float:
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


def attained(pair: Pair) -> list[ClaimLines]:
    """The smallest claims of several kinds that a pair keeps."""
    made = [claim_of((0.3, both_ways(pair, 0.3))), claim_of((1.0, max(both_ways(pair, 1.0), 1e-9)))]
    with np.errstate(divide="ignore"):
        losses = np.log(pair[1]) - np.log(pair[0])
    grid = np.linspace(0.0, float(np.abs(losses[np.isfinite(losses)]).max(initial=0.1)), 60)
    if np.isfinite(losses).all():
        made.append(claim_of(float(np.abs(losses).max())))
        logs = np.log(pair)
        rho = max(
            float(logsumexp(a * p + (1 - a) * q)) / (a - 1) / a
            for a in np.concatenate((1 + np.geomspace(1e-3, 1, 40), np.geomspace(2.1, 200, 60)))
            for p, q in (logs, logs[::-1])
        )
        made.append(claim_of({"rho": rho * (1 + 1e-6)}))
        two = max(math.log(float((p**2 / q).sum())) for p, q in (pair, pair[::-1]))
        made.append(claim_of({"order": 2.0, "rho": two}))
        least = max(brentq(lambda m, e=e: gaussian_delta(m, e) - both_ways(pair, e), 1e-6, 40.0) for e in grid[:-1])
        made.append(claim_of({"mu": float(least) * (1 + 1e-6)}))
    return made


def fixed_false_alarm(pair: Pair, names: tuple[int, ...], claim: ClaimLines, runs: int, alpha: float) -> float:
    """The chance that a mechanism is called broken by an event: outcome i names world names[i], −1 names nothing."""
    zero, one = pair
    right = 0.5 * sum(one[i] if name == 1 else zero[i] for i, name in enumerate(names) if name >= 0)
    spoken = 0.5 * sum(one[i] + zero[i] for i, name in enumerate(names) if name >= 0)
    sides, always = len({name for name in names if name >= 0}), min(names) >= 0
    if not sides:
        return 0.0

    @cache
    def refuted(hits: int, guesses: int) -> bool:
        # all the events but one that always speaks are of one side or both; that one pays for both
        return p_value(GuessCounts(hits, guesses, runs, 2 if always else sides, always), claim, alpha) <= alpha

    cells = [(hits, wrong) for hits in range(runs + 1) for wrong in range(runs + 1 - hits)]
    chosen = np.array([(h, w, runs - h - w) for h, w in cells if refuted(h, h + w)])
    if not chosen.size:
        return 0.0
    chances = np.clip([right, spoken - right, 1 - spoken], 0.0, 1.0)
    return float(multinomial.pmf(chosen, runs, chances / chances.sum()).sum())


@pytest.mark.parametrize("seed", range(3))
def test_a_number_of_runs_fixed_beforehand_has_the_level_whatever_the_event(seed: int) -> None:
    """Fresh runs are independent of the pilot, so what holds for every event holds for whichever the pilot chooses."""
    rng = np.random.default_rng([17, seed])
    pair = random_pair(rng, 2 + seed % 2)
    worst = 0.0
    for claim in attained(pair):
        for names in product((-1, 0, 1), repeat=pair[0].size):
            chance = fixed_false_alarm(pair, names, claim, 25, 0.05)
            assert chance <= 0.05 + 1e-9, (claim.name, names)
            worst = max(worst, chance)
    assert worst > 0.0  # there is something to refute with


#: A run of a mechanism with two answers: (the coin, the answer).
RUNS = tuple(product((False, True), (0.0, 1.0)))


class Enumerated:
    """A sequential audit of a mechanism with two answers, over every path of the runs after the first ten."""

    def __init__(self, pair: Pair, claim: ClaimLines, alpha: float) -> None:
        self.claim, self.alpha = claim, alpha
        self.chance = [0.5 * float(pair[int(bit)][int(answer)]) for bit, answer in RUNS]

    def attacks_on(self, past: list[int]) -> tuple[tuple[ScoreAttack, ...], list[Any]]:
        """What the game bets with after these runs, and how each of the four runs counts."""
        source, coins = CallSource(lambda d: d, 0, 1), np.random.default_rng(1)
        game = Game(source, coins, claim=self.claim, alpha=self.alpha, budget=1000)
        game.past = [game.reader.read(np.array([RUNS[i][1] for i in past]))]
        game.bits = [np.array([RUNS[i][0] for i in past])]
        game.learn_to_bet()
        single = [(game.reader.read(np.array([answer])), np.array([bit])) for bit, answer in RUNS]
        return game.attacks, [np.array([attack.count(*run) for attack in game.attacks]) for run in single]

    def alarm(self, past: list[int], rounds: tuple[int, ...], history: History | None = None) -> float:
        """The chance that the capital ever reaches 1/α in rounds of so many runs, looked at after every run."""
        attacks, counted = self.attacks_on(past)
        before = History(self.alpha, 1000, self.claim.pure) if history is None else history
        now = History(self.alpha, 1000, self.claim.pure, [*before.rounds], [*before.counts])
        now.add(attacks, 0 * counted[0])

        @cache
        def reached(some: tuple[int, ...]) -> bool:
            """Whether these runs of the round, in whatever order, refute the claim: bets are those of the round."""
            now.counts[-1] = sum(counted[i] for i in some)
            return float(log_capital(now, self.claim)[-1]) >= -math.log(self.alpha)

        if len(rounds) == 1:  # what comes after does not matter: sums over the order of runs
            alive: dict[tuple[int, ...], float] = {(): 1.0}
            total = 0.0
            for _ in range(rounds[0]):
                ahead: dict[tuple[int, ...], float] = {}
                for some, chance in alive.items():
                    for i in range(4):
                        more = tuple(sorted((*some, i)))
                        if reached(more):
                            total += chance * self.chance[i]
                        else:
                            ahead[more] = ahead.get(more, 0.0) + chance * self.chance[i]
                alive = ahead
            return total
        total = 0.0
        for path in product(range(4), repeat=rounds[0]):
            chance = math.prod(self.chance[i] for i in path)
            if any(reached(tuple(sorted(path[: k + 1]))) for k in range(len(path))):
                total += chance
            else:
                then = History(self.alpha, 1000, self.claim.pure, [*before.rounds], [*before.counts])
                then.add(attacks, sum(counted[i] for i in path))
                total += chance * self.alarm([*past, *path], rounds[1:], then)
        return total


#: Runs after which the attacker is bold, for nearly every guess would have been right, the rounds that follow, a level.
PASTS = {"one round": ([0, 3] * 20, (10,), 0.2), "two rounds": ([0, 3] * 5, (3, 4), 0.5)}
COIN = 1 / (1 + math.exp(-0.5))
CLAIMS: dict[str, tuple[Pair, Any]] = {
    "pure": ((np.array([COIN, 1 - COIN]), np.array([1 - COIN, COIN])), 0.5),
    "with δ": ((np.array([0.9, 0.1]), np.array([0.6, 0.4])), (0.3, 0.4 - 0.1 * math.exp(0.3))),
    "GDP": ((np.array([ndtr(0.4), ndtr(-0.4)]), np.array([ndtr(-0.4), ndtr(0.4)])), "mu=0.8"),
}


@pytest.mark.parametrize(("past", "rounds", "alpha"), PASTS.values(), ids=PASTS.keys())
@pytest.mark.parametrize(("pair", "claimed"), CLAIMS.values(), ids=CLAIMS.keys())
def test_looking_after_every_run_has_the_level(
    pair: Pair, claimed: Any, past: list[int], rounds: tuple[int, ...], alpha: float
) -> None:
    claim = claim_of(claimed)
    assert all(both_ways(pair, e) <= d + 1e-9 for e, d in zip(claim.epsilon, claim.delta, strict=True))
    assert Enumerated(pair, claim, alpha).alarm(past, rounds) <= alpha + 1e-9


def test_such_rounds_can_refute_a_claim() -> None:
    """So that the chances above are not those of a game nobody can win."""
    pair, _ = CLAIMS["pure"]
    past, rounds, alpha = PASTS["one round"]
    assert Enumerated(pair, claim_of(0.5), alpha).alarm(past, rounds) > 0.05
