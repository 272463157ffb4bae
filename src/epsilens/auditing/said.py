"""Claims as they are said in a line: numbers by name, or a mechanism with its options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from ..build import builder
from ..catalogue.said import arguments_given, find_entry
from ..errors import InputError
from .claims import Claim, claim_of

__all__ = ["claim_said"]

_OTHER_NAMES = {"psi": "mu", "zcdp": "rho", "gdp": "mu"}


def claim_said(text: str) -> Claim:
    """A claim such as ``epsilon=1,delta=1e-6``, ``psi=1``, ``zcdp=.5``, ``rdp=2:1`` or ``gaussian --sigma 2``.

    >>> claim_said("epsilon=1").pure, claim_said("psi=1").experiment, claim_said("rdp=2:1").experiment
    (1.0, gdp(mu=1), rdp(order=2, rho=1))
    >>> claim_said("laplace --epsilon 2").pure
    2.0
    """
    words = _words(text)
    if words and "=" not in words[0]:
        return claim_of(_mechanism(words))
    rdp = re.fullmatch(r"\s*rdp\s*=\s*([^:,]+):([^:,]+)", text)
    if rdp:
        return claim_of(f"order={rdp[1]},rho={rdp[2]}")
    parts = []
    for part in re.split(r"[,;]", text):
        name, equals, value = part.partition("=")
        parts.append(f"{_OTHER_NAMES.get(name.strip(), name)}{equals}{value}")
    return claim_of(",".join(parts))


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        raise InputError(f"claim is {text[:60]!r}: close its quotes", parameter="claim") from None


def _mechanism(words: Sequence[str]) -> object:
    entry = find_entry(words[0])
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
    return builder(entry)(**arguments_given(entry, said))
