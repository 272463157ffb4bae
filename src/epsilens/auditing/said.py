"""Claims as they are said in a line: numbers by name, or a mechanism with its options."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from ..catalogue.mechanisms import builder
from ..catalogue.parsing import builder_arguments, find_entry
from ..errors import InputError
from .claims import Claim, claim_of


def claim_said(claim: Any) -> Claim:
    """A claim as :func:`~.claims.claim_of` takes it, or a text with a mechanism in it: ``gaussian --sigma 2``.

    >>> claim_said("epsilon=1").pure, claim_said(1.0).pure
    (1.0, 1.0)
    >>> claim_said("laplace --epsilon 2").pure
    2.0
    """
    words = _words(claim) if isinstance(claim, str) else []
    return claim_of(_mechanism(words) if words and "=" not in words[0] else claim)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        raise InputError(f"claim is {text[:60]!r}: close its quotes", parameter="claim") from None


def _mechanism(words: Sequence[str]) -> object:
    try:
        entry = find_entry(words[0])
    except InputError as error:
        raise InputError(f"claim has no number by name, and {error}", parameter="claim") from None
    said: dict[str, str] = {}
    rest = list(words[1:])
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if not name.startswith("--") or not (equals or rest):
            raise InputError(
                f"claim has {name[:40]!r}: write a mechanism and its options, such as  laplace --epsilon 1",
                parameter="claim",
            )
        key = name.removeprefix("--").replace("-", "_")
        if key not in entry.takes:
            takes = ", ".join(f"--{known.replace('_', '-')}" for known in entry.takes)
            raise InputError(f"claim has {name[:40]}: {entry.spoken} takes {takes}", parameter="claim")
        said[key] = value if equals else rest.pop(0)
    return builder(entry)(**builder_arguments(entry, said))
