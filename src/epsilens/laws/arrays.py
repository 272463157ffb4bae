"""Many laws at once, in the shape of an array: each is read alone, and the answers stand where the laws do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..checks import Array
from ..readings.law import Exactness, Law

T = TypeVar("T")
_BY_EXACTNESS = (Exactness.EXACT, Exactness.ROUNDED, Exactness.BRACKET, Exactness.BOUND)


def _reading(name: str) -> Callable[..., Array]:
    def read(self: LawArray, *given: Array) -> Array:
        return map_members(self.laws, self.shape, lambda law, *each: getattr(law, name)(*each), given)

    return read


@dataclass(frozen=True, eq=False, repr=False)
class LawArray(Law):
    """Laws in the order of a flattened array of this ``shape``. Every reading broadcasts against the shape.

    >>> from epsilens.laws.normal import Normal
    >>> many = LawArray((Normal(np.asarray(1.0)), Normal(np.asarray(2.0))), (2,))
    >>> many.psi().tolist(), many.roc(np.asarray([[0.0], [1.0]])).tolist()
    ([1.0, 2.0], [[0.0, 0.0], [1.0, 1.0]])
    """

    laws: tuple[Law, ...]
    shape: tuple[int, ...]

    @property
    def members(self) -> tuple[tuple[Law, ...], tuple[int, ...]]:
        return self.laws, self.shape

    @property
    def known(self) -> Exactness:  # type: ignore[override]
        """As well as the least known of them."""
        return max((law.known for law in self.laws), key=_BY_EXACTNESS.index)

    def as_bound(self) -> LawArray:
        return self._map(lambda law: law.as_bound())

    @property
    def width(self) -> float:
        return max(law.width for law in self.laws)

    def with_width(self, width: float) -> LawArray:
        return self._map(lambda law: law.with_width(width))

    @property
    def reached(self) -> bool:
        return all(law.reached for law in self.laws)

    @property
    def symmetric(self) -> bool:
        return all(law.symmetric for law in self.laws)

    def reverse(self) -> LawArray:
        return self._map(lambda law: law.reverse())

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        alpha, recall = (
            map_members(self.laws, self.shape, lambda law, u, i=i: law.at(u)[i], (log_threshold,)) for i in (0, 1)
        )
        return alpha, recall

    def practical(self, level: float) -> Array:
        return map_members(self.laws, self.shape, lambda law: law.practical(level), ())

    tradeoff = _reading("tradeoff")
    roc = _reading("roc")
    inverse_roc = _reading("inverse_roc")
    profile = _reading("profile")
    profile_inverse = _reading("profile_inverse")
    max_llr = _reading("max_llr")
    log_moment = _reading("log_moment")
    far_renyi = _reading("far_renyi")
    kl = _reading("kl")
    auc = _reading("auc")
    psi = _reading("psi")
    fbeta = _reading("fbeta")
    worse_delta = _reading("worse_delta")
    worse_epsilon = _reading("worse_epsilon")

    def _map(self, change: Callable[[Law], Law]) -> LawArray:
        return replace(self, laws=tuple(change(law) for law in self.laws))


def map_members(
    members: Sequence[T], shape: tuple[int, ...], read: Callable[..., Array | float], given: Sequence[ArrayLike]
) -> Array:
    """``read(member, *given)`` where members of a shape and the arguments broadcast; each member is asked once."""
    arrays = [np.asarray(a, dtype=float) for a in given]
    whole = np.broadcast_shapes(shape, *(a.shape for a in arrays))
    which = np.broadcast_to(np.arange(len(members)).reshape(shape), whole).ravel()
    flat = [np.broadcast_to(a, whole).ravel() for a in arrays]
    places = np.argsort(which, kind="stable").reshape(len(members), -1)  # broadcasting repeats each equally often
    result = np.empty(which.size)
    for member, here in zip(members, places, strict=True):
        result[here] = read(member, *(a[here] for a in flat))
    return result.reshape(whole)
