"""Equality by content, for frozen dataclasses that hold arrays: numpy compares entry by entry and does not hash."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

__all__ = ["Content"]


def _plain(value: Any) -> Any:
    """A value that compares and hashes: an array by its shape and bytes, one number as that number."""
    if isinstance(value, np.ndarray | np.generic):
        return value.item() if value.ndim == 0 else (value.dtype.str, value.shape, value.tobytes())
    return value


class Content:
    """Equal where type and compared fields are: mix in before ``@dataclass(frozen=True, eq=False)``."""

    __slots__ = ()

    def _content(self) -> tuple[Any, ...]:
        it: Any = self
        return tuple(_plain(getattr(it, f.name)) for f in fields(it) if f.init and f.compare)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or not isinstance(other, Content):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash((type(self), self._content()))
