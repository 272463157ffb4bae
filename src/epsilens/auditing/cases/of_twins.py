"""PyDP and Tumult Core: Laplace noise in doubles on a grid, or rounded from an exact draw, which keeps its claim.

PyDP draws on a grid of a power of two (Google's library); Tumult Core rounds exact draws. They are the correct twins of
noise that is added in doubles. Their pins conflict with each other and with ours: each has an environment of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .case import Case, Library, Mechanism

PYDP = Library("python-dp", "pydp", ("python-dp==1.1.5",))
TUMULT = Library("tmlt.core", "tmlt", ("tmlt.core==0.20.0",))


def _pydp(_seed: int | None) -> Mechanism:
    from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

    noisy = LaplaceMechanism(epsilon=1.0, sensitivity=1.0)
    return lambda d: noisy.add_noise(d)


def _pydp_count(_seed: int | None) -> Mechanism:
    from pydp.algorithms.laplacian import Count

    return lambda d: Count(epsilon=1.0, dtype="int").quick_result(d)


def _tumult(_seed: int | None) -> Mechanism:
    from tmlt.core.domains.numpy_domains import NumpyFloatDomain
    from tmlt.core.measurements.noise_mechanisms import AddLaplaceNoise

    noisy = AddLaplaceNoise(input_domain=NumpyFloatDomain(), scale=1)
    return lambda d: noisy(d)


def _tumult_geometric(_seed: int | None) -> Mechanism:
    from tmlt.core.measurements.noise_mechanisms import AddGeometricNoise

    noisy = AddGeometricNoise(alpha=1)
    return lambda d: noisy(d)


def _case(
    name: str, about: str, library: Library, make: Callable[[int | None], Mechanism], inputs: tuple[Any, Any],
    pair: tuple[str, str] = ("0", "1"),
) -> Case:  # fmt: skip
    return Case(name, about, library, "ε = 1", lambda: 1.0, make, *inputs, pair)


CASES = (
    _case("pydp-laplace", "PyDP's Laplace noise in doubles, on a grid.", PYDP, _pydp, (0.0, 1.0)),
    _case("pydp-count", "PyDP's count of rows.", PYDP, _pydp_count, ([1, 2], [1, 2, 3]), ("2 rows", "3 rows")),
    _case("tumult-laplace", "Tumult Core's Laplace noise, rounded from an exact draw.", TUMULT, _tumult, (0.0, 1.0)),
    _case("tumult-geometric", "Tumult Core's noise on the integers.", TUMULT, _tumult_geometric, (0, 1)),
)
