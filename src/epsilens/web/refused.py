"""What the server or one of its workers refused, with the status code that says why."""

from __future__ import annotations

from typing import Any

from ..errors import EpsilensError


class Refused(EpsilensError):  # noqa: N818 - reads as what it is
    """A refusal in a sentence; ``parameter`` is the field or the part of a release it speaks of."""

    def __init__(self, sentence: str, status: int, parameter: str = "") -> None:
        super().__init__(sentence)
        self.status, self.parameter = status, parameter


def fine(made: dict[str, Any]) -> dict[str, Any]:
    """A worker's answer, unless it refused."""
    if "error" in made:
        raise Refused(str(made["error"]), int(made["status"]), made.get("parameter", ""))
    return made
