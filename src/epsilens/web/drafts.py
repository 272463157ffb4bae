"""What was typed, for as long as it may have to be shown again: until the file or the job it belongs to is old."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from .planform import Plan
from .questions import Problem


@dataclass(frozen=True)
class Draft:
    """A plan as it was entered, in fields or by hand as YAML; and what was wrong with it, for its visitor alone."""

    plan: Plan | None
    table: str = ""  # a bundled one; the upload otherwise
    text: str = ""
    by_hand: bool = False
    wanted: str = ""
    token: str = ""
    problem: Problem | None = None
    visitor: str = ""


class Drafts:
    """The latest drafts, by the token or the job they belong to."""

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._held: OrderedDict[str, Draft] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, key: str, draft: Draft) -> None:
        """Remember a draft, and forget the oldest."""
        with self._lock:
            self._held[key] = draft
            self._held.move_to_end(key)
            while len(self._held) > self._most:
                self._held.popitem(last=False)

    def get(self, key: str) -> Draft | None:
        """What was typed."""
        with self._lock:
            return self._held.get(key)
