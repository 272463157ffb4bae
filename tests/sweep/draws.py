"""Random numbers over the whole domain, and random readings of an experiment."""

from __future__ import annotations

import math
import random


def log_uniform(rng: random.Random, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def number(rng: random.Random, common: tuple[float, float], domain: tuple[float, float]) -> float:
    """Mostly where people are, sometimes anywhere; short decimals now and then."""
    low, high = common if rng.random() < 0.6 else domain
    x = log_uniform(rng, low, high)
    if rng.random() < 0.3:
        x = float(f"{x:.1g}")
    return min(max(x, domain[0]), domain[1])


def share(rng: random.Random) -> float:
    """A false-positive rate, a δ: mostly small, sometimes tiny, sometimes near 1."""
    where = rng.random()
    if where < 0.45:
        return log_uniform(rng, 1e-9, 0.5)
    if where < 0.7:
        return log_uniform(rng, 1e-300, 1e-9)
    if where < 0.9:
        return rng.uniform(0.01, 0.99)
    return 1 - log_uniform(rng, 1e-12, 0.3)


def prior(rng: random.Random) -> float:
    where = rng.random()
    if where < 0.4:
        return rng.choice([0.5, 0.1, 0.01, 0.9])
    if where < 0.7:
        return rng.uniform(0.01, 0.99)
    return log_uniform(rng, 1e-30, 0.5) if where < 0.9 else 1 - log_uniform(rng, 1e-12, 0.5)


def order(rng: random.Random) -> float:
    where = rng.random()
    if where < 0.3:
        return float(rng.choice([2, 3, 8, 32, 64, 128]))
    if where < 0.7:
        return 1 + log_uniform(rng, 1e-3, 100.0)
    return log_uniform(rng, 1.5, 1e6) if where < 0.85 else rng.uniform(0.05, 0.95)


def readings(
    rng: random.Random, count: int, losses: float, only: frozenset[str] | None = None, heavy: bool = False
) -> list[tuple[str, dict[str, float]]]:
    """Some readings with arguments; ``losses`` is the scale on which ε is worth asking."""
    made: list[tuple[str, dict[str, float]]] = []
    names = [n for n in NAMES if only is None or n in only]
    if heavy:  # each of these is a search over the whole curve, so one in a while
        drop = [n for n in ("auc", "fbeta", "psi", "mu") if rng.random() < 0.85]
        names = [n for n in names if n not in drop]
    for name in rng.sample(names, min(count, len(names))):
        arguments: dict[str, float] = {}
        if name == "delta":
            arguments["epsilon"] = 0.0 if rng.random() < 0.1 else losses * log_uniform(rng, 0.01, 3.0)
        elif name == "epsilon":
            arguments["delta"] = 0.0 if rng.random() < 0.05 else share(rng)
        elif name in ("roc", "recall", "tradeoff"):
            arguments["fpr"] = share(rng)
        elif name == "attack_success":
            arguments["baseline"] = share(rng)
        elif name in ("success", "posterior"):
            arguments["prior"] = prior(rng)
        elif name == "precision":
            arguments["prior"] = prior(rng)
            arguments[rng.choice(["fpr", "recall"])] = share(rng)
        elif name == "fbeta":
            arguments["beta"], arguments["prior"] = number(rng, (0.3, 3.0), (1e-3, 1e3)), prior(rng)
        elif name == "mu":
            arguments["level"] = log_uniform(rng, 1e-12, 0.3)
        elif name == "renyi":
            arguments["order"] = order(rng)
        made.append((name, arguments))
    return made


NAMES = (
    "advantage", "success", "delta", "epsilon", "roc", "recall", "tradeoff", "attack_success", "precision",
    "posterior", "renyi", "kl", "auc", "fbeta", "psi", "chernoff", "mu",
)  # fmt: skip
