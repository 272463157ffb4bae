"""Objects that are what they hold: mappings that do not change, and results that compare, hash and pickle by value.

Arrays are compared by shape and content, and a NaN is equal to another: a result read back from a file equals the one
that was written.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Set, ValuesView
from contextlib import suppress
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, Self, TypeVar, cast

import numpy as np

from .formatting import short_repr

K = TypeVar("K")
V = TypeVar("V", covariant=True)

_REPR_LENGTH = 240  # letters of a repr
_NAN = "not a number"


class FrozenMapping(Mapping[K, V]):
    """A mapping that does not change: equal to a dict of the same content, hashable, picklable.

    >>> frozen = FrozenMapping({"epsilon": 1.0, "known": [0, 1]})
    >>> frozen == {"known": [0, 1], "epsilon": 1}, hash(frozen) == hash(FrozenMapping(dict(frozen))), frozen
    (True, True, {'epsilon': 1.0, 'known': [0, 1]})
    """

    __slots__ = ("_held",)
    _held: dict[K, V]

    def __init__(self, held: Mapping[K, V] | None = None) -> None:
        object.__setattr__(self, "_held", dict(held or {}))

    def __getitem__(self, key: K) -> V:
        return self._held[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def values(self) -> ValuesView[V]:
        """Those of the dict itself, which are quicker."""
        return self._held.values()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} does not change: build another one")

    def __eq__(self, other: object) -> bool:
        return fingerprint(self) == fingerprint(other) if isinstance(other, Mapping) else NotImplemented

    def __hash__(self) -> int:
        return hash(fingerprint(self))

    def __reduce__(self) -> tuple[type[Self], tuple[dict[K, V]]]:
        return type(self), (self._held,)

    def __repr__(self) -> str:
        return repr(self._held)


def fingerprint(value: object) -> Hashable:
    """Something hashable that is equal for two values exactly where these hold the same.

    >>> fingerprint(np.array([1.0, np.nan])) == fingerprint(np.array([1.0, np.nan])), fingerprint(np.array(2.0))
    (True, 2.0)
    """
    if isinstance(value, np.ndarray):
        return fingerprint(value.item()) if value.ndim == 0 else (value.shape, _content(value))
    if isinstance(value, float | np.floating):
        return _NAN if math.isnan(value) else float(value)
    if isinstance(value, Mapping):
        return frozenset((key, fingerprint(held)) for key, held in value.items())
    if isinstance(value, list | tuple):
        return tuple(fingerprint(held) for held in value)
    if isinstance(value, Set):
        return frozenset(fingerprint(held) for held in value)
    if not is_dataclass(value) or isinstance(value, type | ValueSemantics):
        return value if isinstance(value, Hashable) else repr(value)
    if type(value).__eq__ is not object.__eq__:  # it says itself what it is equal to, unless it holds arrays
        with suppress(TypeError):
            hash(value)
            return cast(Hashable, value)
    return type(value), *_content_fields(value)


def _content(array: np.ndarray[Any, Any]) -> Hashable:
    if array.dtype.kind not in "biuf":
        return tuple(fingerprint(held) for held in array.ravel().tolist())
    numbers = array.astype(np.float64) + 0.0  # a zero has no sign
    return np.where(np.isnan(numbers), np.nan, numbers).tobytes()


def _content_fields(value: object) -> tuple[Hashable, ...]:
    """The fields that are compared; of a class without fields, whatever it holds under a public name."""
    if is_dataclass(value):
        return tuple(fingerprint(getattr(value, f.name)) for f in fields(value) if f.compare)
    return tuple((name, fingerprint(held)) for name, held in sorted(vars(value).items()) if not name.startswith("_"))


class ValueSemantics:
    """Equal to another of its kind that holds the same; a repr of one line.

    For dataclasses (``eq=False, repr=False``), whose fields with ``compare=False`` do not count, and for plain classes
    that hold all they are under public names.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return _content_fields(self) == _content_fields(other) if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), *_content_fields(self)))

    def __repr__(self) -> str:
        own_fields: tuple[Field[object], ...] = fields(self) if is_dataclass(self) else ()
        shown = [
            f"{f.name}={short_repr(held)}"
            for f in own_fields
            if f.repr and not _is_default(f.default, held := getattr(self, f.name))
        ]
        while len(shown) > 1 and len(", ".join(shown)) > _REPR_LENGTH:
            shown[-2:] = ["…"]
        return f"{type(self).__name__}({', '.join(shown)})"


def _is_default(default: object, held: object) -> bool:
    return default is not MISSING and fingerprint(default) == fingerprint(held)
