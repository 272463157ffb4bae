"""Small worlds in which the notions disagree: each returns a mechanism and a prior, built at a given ε."""

from __future__ import annotations

import math

from .mechanism import FiniteMechanism, Prior, laplace_sum, noisy_sum, randomized_response, uniform


def xor(epsilon: float) -> tuple[FiniteMechanism, Prior]:
    """The exclusive or of two independent fair bits under randomised response: ε_IP = ε_MP = 0 but ε_DP = ε."""
    m = randomized_response(epsilon, of=lambda d: int(d[0] != d[1]), records=2)
    return m, uniform(m)


def coin(epsilon: float) -> tuple[FiniteMechanism, Prior]:
    """One fair bit under randomised response: ε_MP = ln((1+e^ε)/2) below ε_IP = ε."""
    m = randomized_response(epsilon, of=lambda d: d[0], records=1)
    return m, uniform(m)


def laplace_bit(epsilon: float, cells: int = 4000) -> tuple[FiniteMechanism, Prior]:
    """One fair bit with Laplace noise, read to 1/cells: ε_MP = ln((1+e^ε)/2), and 0.0885196 nats at ε = 1."""
    m = laplace_sum(epsilon, records=1, cells=cells)
    return m, uniform(m)


def twins(epsilon: float) -> tuple[FiniteMechanism, Prior]:
    """A noisy sum of two bits that are always equal: ε_IP = 2·ε_DP, and I(Dᵢ; o | others) = 0."""
    return noisy_sum(epsilon, records=2), {(0, 0): 0.5, (1, 1): 0.5}


def twins_differ(epsilon: float) -> tuple[FiniteMechanism, Prior]:
    """Whether two bits that are always equal differ: ε_DDP = 0, ε_DP = ε."""
    return randomized_response(epsilon, of=lambda d: int(d[0] != d[1]), records=2), {(0, 0): 0.5, (1, 1): 0.5}


def alike(epsilon: float) -> tuple[FiniteMechanism, Prior]:
    """A noisy sum of two bits that are usually equal, every database possible: ε_BP = ε_DP = ε, ε_DDP = 2ε."""
    return noisy_sum(epsilon, records=2), {(0, 0): 0.45, (0, 1): 0.05, (1, 0): 0.05, (1, 1): 0.45}


def foregone(epsilon: float) -> tuple[FiniteMechanism, Prior]:
    """A bit under randomised response that is certainly 0, beside another: ε_DDP = ε_IP = 0, ε_DP = ε."""
    return randomized_response(epsilon, of=lambda d: d[0], records=2), {(0, 0): 0.5, (0, 1): 0.5}


def ruled_out(epsilon: float) -> tuple[FiniteMechanism, Prior]:
    """One of three values is ruled out: positive membership privacy ln(3/2), inferential privacy infinite."""
    del epsilon  # the same at every ε
    half = [[0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]]
    m = FiniteMechanism(half, [(0,), (1,), (2,)])
    return m, uniform(m)


def parts(epsilon: float) -> tuple[FiniteMechanism, Prior]:
    """Four values in two parts, 0–1 and 2–3: the part is told, the value within it is noisy."""
    p = 1 / (1 + math.exp(-epsilon))
    rows = [[p, 1 - p, 0, 0], [1 - p, p, 0, 0], [0, 0, p, 1 - p], [0, 0, 1 - p, p]]
    m = FiniteMechanism(rows, [(v,) for v in range(4)])
    return m, uniform(m)


def known_total(epsilon: float) -> tuple[FiniteMechanism, Prior]:
    """The noisy sum of two bits of which one, nobody knows which, is known to be set: ε_BP = 0, ε_DP = ε."""
    return noisy_sum(epsilon, records=2), {(0, 1): 0.5, (1, 0): 0.5}


def rare_leak(epsilon: float, chance: float = 1e-6) -> tuple[FiniteMechanism, Prior]:
    """Noise, except once in a million runs, when the bit itself is told: a millionth of ln 2 more, ε_DP infinite."""
    p = 1 / (1 + math.exp(-epsilon))
    told = [
        [(1 - chance) * p, (1 - chance) * (1 - p), chance, 0],
        [(1 - chance) * (1 - p), (1 - chance) * p, 0, chance],
    ]
    m = FiniteMechanism(told, [(0,), (1,)])
    return m, uniform(m)
