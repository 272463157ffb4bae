"""OpenDP: its noise in doubles lies on a grid of its own and keeps its claim; on integers it is not the law of Laplace.

On i64 OpenDP draws the geometric law: the ε of its map holds, but the trade-off of Laplace noise does not. A threshold
on integers lets a group of one pass more often than its map says (opendp issue 2922): at scale 2 and threshold 5 the
map gives δ = 0.0511, and the group passes with probability α⁴/(1+α) = 0.0842, α = e^{−½}.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...mechanisms.discrete import geometric
from ...mechanisms.noise import laplace
from .case import Case, Library, Mechanism

OPENDP = Library("opendp", "opendp", ("opendp==0.16.0",))


def _opendp() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp


def _noise(kind: str) -> Callable[[int | None], Mechanism]:
    """One call for many runs: the noise of each entry is drawn by itself."""

    def make(_seed: int | None) -> Mechanism:
        dp = _opendp()
        domain = dp.atom_domain(T="f64", nan=False) if kind == "f64" else dp.atom_domain(T="i64")
        noisy = dp.m.make_laplace(dp.vector_domain(domain), dp.l1_distance(T=kind), scale=1.0)
        return lambda d, n: list(noisy([d] * n))

    return make


def _threshold(kind: str) -> Callable[[int | None], Mechanism]:
    def make(_seed: int | None) -> Mechanism:
        dp = _opendp()
        domain = dp.atom_domain(T="f64", nan=False) if kind == "f64" else dp.atom_domain(T="i64")
        groups = dp.map_domain(dp.atom_domain(T=str), domain)
        metric = dp.l01inf_distance(dp.absolute_distance(T=kind))
        noisy = dp.m.make_laplace_threshold(groups, metric, scale=2.0, threshold=5.0 if kind == "f64" else 5)
        return lambda d: dict(noisy(d))

    return make


def _mapped(kind: str) -> Callable[[], Any]:
    """What the measurement's own map says of one group of one row."""

    def claim() -> Any:
        dp = _opendp()
        domain = dp.atom_domain(T="f64", nan=False) if kind == "f64" else dp.atom_domain(T="i64")
        one = 1.0 if kind == "f64" else 1
        noisy = dp.m.make_laplace_threshold(
            dp.map_domain(dp.atom_domain(T=str), domain), dp.l01inf_distance(dp.absolute_distance(T=kind)),
            scale=2.0, threshold=5 * one,
        )  # fmt: skip
        epsilon, delta = noisy.map((1, one, one))
        return (epsilon, delta)

    return claim


_GROUPS = ("no group", "a group of one")

CASES = (
    Case(
        "opendp-laplace", "OpenDP's Laplace noise in doubles, on a grid of its own.", OPENDP, "Laplace noise, ε = 1",
        lambda: laplace(epsilon=1.0), _noise("f64"), 0.0, 1.0, ("0", "1"), batch=True,
    ),
    Case(
        "opendp-integer-as-laplace", "OpenDP's noise on integers, claimed to be Laplace noise.", OPENDP,
        "Laplace noise, ε = 1", lambda: laplace(epsilon=1.0), _noise("i64"), 0, 1, ("0", "1"), broken=True,
        twin="opendp-integer", batch=True,
    ),
    Case(
        "opendp-integer", "OpenDP's noise on integers, claimed to be the geometric law.", OPENDP,
        "geometric noise, ε = 1", lambda: geometric(epsilon=1.0), _noise("i64"), 0, 1, ("0", "1"), batch=True,
    ),
    Case(
        "opendp-integer-threshold", "OpenDP's threshold on integer counts: δ is larger than its map says.", OPENDP,
        "its map: ε = 0.5, δ = 0.0511", _mapped("i64"), _threshold("i64"), {}, {"a": 1}, _GROUPS, broken=True,
        twin="opendp-threshold",
    ),
    Case(
        "opendp-threshold", "The same threshold on counts as doubles.", OPENDP, "its map: ε = 0.5, δ = 0.0677",
        _mapped("f64"), _threshold("f64"), {}, {"a": 1.0}, _GROUPS,
    ),
)  # fmt: skip
