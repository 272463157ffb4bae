"""Many laws at once, in the shape of an array: each is read alone, and the answers stand where the laws do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..checks import Array
from ..readings.law import Exactness, Law

_BY_EXACTNESS = (Exactness.EXACT, Exactness.ROUNDED, Exactness.BRACKET, Exactness.BOUND)


@dataclass(frozen=True, eq=False, repr=False)
class LawArray(Law):
    """Laws in the order of a flattened array of this ``shape``. Every reading broadcasts against the shape.

    >>> from epsilens.laws.normal import Normal
    >>> many = Many((Normal(np.asarray(1.0)), Normal(np.asarray(2.0))), (2,))
    >>> many.psi().tolist(), many.roc(np.asarray([[0.0], [1.0]])).tolist()
    ([1.0, 2.0], [[0.0, 0.0], [1.0, 1.0]])
    """

    laws: tuple[Law, ...]
    shape: tuple[int, ...]

    @property
    def members(self) -> tuple[tuple[Law, ...], tuple[int, ...]]:
        """The laws, and their shape."""
        return self.laws, self.shape

    @property
    def known(self) -> Exactness:  # type: ignore[override]
        """As well as the least known of them."""
        return max((law.known for law in self.laws), key=_BY_EXACTNESS.index)

    def as_bound(self) -> LawArray:
        """All of them as bounds."""
        return self._of(lambda law: law.as_bound())

    @property
    def width(self) -> float:
        """The widest asked for."""
        return max(law.width for law in self.laws)

    def with_width(self, width: float) -> LawArray:
        """All of them to another width."""
        return self._of(lambda law: law.with_width(width))

    @property
    def reached(self) -> bool:
        """Whether all are."""
        return all(law.reached for law in self.laws)

    @property
    def symmetric(self) -> bool:
        """Whether all are."""
        return all(law.symmetric for law in self.laws)

    def reverse(self) -> LawArray:
        """Each in the other order."""
        return self._of(lambda law: law.reverse())

    def tradeoff(self, alpha: Array) -> Array:
        """f(α) of each."""
        return self._each(lambda law, a: law.tradeoff(a), alpha)

    def roc(self, alpha: Array) -> Array:
        """1 − f(α) of each."""
        return self._each(lambda law, a: law.roc(a), alpha)

    def inverse_roc(self, recall: Array) -> Array:
        """The least α of each."""
        return self._each(lambda law, r: law.inverse_roc(r), recall)

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        """(α, recall) of each."""
        return (
            self._each(lambda law, u: law.at(u)[0], log_threshold),
            self._each(lambda law, u: law.at(u)[1], log_threshold),
        )

    def profile(self, log_threshold: Array) -> Array:
        """h(t) of each."""
        return self._each(lambda law, u: law.profile(u), log_threshold)

    def profile_inverse(self, delta: Array) -> Array:
        """The least ε of each."""
        return self._each(lambda law, d: law.profile_inverse(d), delta)

    def max_llr(self) -> Array:
        """The supremum of llr of each."""
        return self._each(lambda law: law.max_llr())

    def log_moment(self, a: Array) -> Array:
        """The moments of each."""
        return self._each(lambda law, order: law.log_moment(order), a)

    def far_renyi(self, order: Array) -> Array:
        """D_a(H0‖H1) of each."""
        return self._each(lambda law, far: law.far_renyi(far), order)

    def kl(self) -> Array:
        """D(H0‖H1) of each."""
        return self._each(lambda law: law.kl())

    def auc(self) -> Array:
        """The area of each."""
        return self._each(lambda law: law.auc())

    def psi(self) -> Array:
        """ψ of each."""
        return self._each(lambda law: law.psi())

    def practical(self, level: float) -> Array:
        """μ of each."""
        return self._each(lambda law: law.practical(level))

    def fbeta(self, beta: Array, odds: Array) -> Array:
        """The largest Fβ of each."""
        return self._each(lambda law, b, c: law.fbeta(b, c), beta, odds)

    def worse_delta(self, epsilon: Array) -> Array:
        """δ of each, in its worse order."""
        return self._each(lambda law, e: law.worse_delta(e), epsilon)

    def worse_epsilon(self, delta: Array) -> Array:
        """ε of each, in its worse order."""
        return self._each(lambda law, d: law.worse_epsilon(d), delta)

    def _of(self, change: Callable[[Law], Law]) -> LawArray:
        return replace(self, laws=tuple(change(law) for law in self.laws))

    def _each(self, read: Callable[..., Array], *given: Array) -> Array:
        return map_members(self.laws, self.shape, read, given)


def map_members(
    members: Sequence[Any], shape: tuple[int, ...], read: Callable[..., Any], given: Sequence[Any]
) -> Array:
    """``read(member, *given)`` where members of a shape and the arguments broadcast; each member is asked once."""
    arrays = [np.asarray(a, dtype=float) for a in given]
    whole = np.broadcast_shapes(shape, *(a.shape for a in arrays))
    which = np.broadcast_to(np.arange(len(members)).reshape(shape), whole).ravel()
    flat = [np.broadcast_to(a, whole).ravel() for a in arrays]
    places = np.argsort(which, kind="stable").reshape(len(members), -1)  # broadcasting repeats each equally often
    made = np.empty(which.size)
    for member, here in zip(members, places, strict=True):
        made[here] = read(member, *(a[here] for a in flat))
    return made.reshape(whole)
