"""What the planned queries answer on this table: on the whole of it, after the limits, and after the bounds."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Answer"]


@dataclass(frozen=True)
class Answer:
    """One number before noise, for one group."""

    group: tuple[str, ...]
    value: float
    limited: float
    bounded: float
    rows: int
    people: int
    nulls: int

    @property
    def contribution(self) -> float:
        """What the limits on contributions changed."""
        return self.limited - self.value

    @property
    def clamping(self) -> float:
        """What the bounds changed."""
        return self.bounded - self.limited

    @property
    def bias(self) -> float:
        """What both changed."""
        return self.bounded - self.value
