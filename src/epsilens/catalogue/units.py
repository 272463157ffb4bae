"""What people type in units of their own, as the builders take it: a δ at which ε is read, a training on a schedule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InputError
from .mechanisms import Entry
from .parameter import Kind, flag
from .parameters import PARAMETERS
from .said import Spelling, is_said

_LENGTHS = ("steps", "epochs")


def in_units(
    entry: Entry, options: Mapping[str, Any], *, reading: str = "", spelled: Spelling = flag
) -> dict[str, Any]:
    """The options as the catalogue names them; ``reading`` is what a limit is on.

    Where the noise is said by its size, a δ can only be one at which ε is read. Lists are a schedule of one training.

    >>> from .mechanisms import MECHANISMS
    >>> in_units(MECHANISMS["dpsgd"], {"sigma": "1,0.8", "rate": "0.01", "steps": "500,500", "delta": "1e-5"})
    {'rate': '0.01', 'for_delta': '1e-5', 'schedule': 'sigma=1,0.8 steps=500,500'}
    """
    made = dict(options)
    if is_said(made.get("delta")) and not is_said(made.get("for_delta")) and _is_read(entry, made, reading):
        made["for_delta"] = made.pop("delta")
    return _scheduled(made, spelled) if "schedule" in entry.takes else made


def _is_read(entry: Entry, options: Mapping[str, Any], reading: str) -> bool:
    """Whether a δ belongs to the reading of ε rather than to the noise."""
    if "epsilon" not in entry.takes or reading == "epsilon":
        return True
    sizes = [name for name in ("sigma", "psi") if name in entry.takes]
    return not is_said(options.get("epsilon")) and any(is_said(options.get(name)) for name in sizes)


def _scheduled(options: dict[str, Any], spelled: Spelling) -> dict[str, Any]:
    numbers = (Kind.NUMBER, Kind.WHOLE, Kind.PROBABILITY)
    lists = {
        name: "".join(str(value).split())
        for name, value in options.items()
        if name in PARAMETERS and PARAMETERS[name].kind in numbers and isinstance(value, str) and "," in value
    }
    if not lists:
        return options
    if is_said(options.get("schedule")):
        raise InputError(
            f"{spelled('schedule')} is given beside a list of {next(iter(lists))}: give all of it in one of them",
            parameter="schedule",
        )
    for name in _LENGTHS:
        if is_said(options.get(name)) and name not in lists:
            first, count = next((name, text.count(",") + 1) for name, text in lists.items())
            raise InputError(
                f"{spelled(name)} is {options[name]} beside {count} numbers of {spelled(first)}: give as many, one for "
                f"each part of the training, such as {spelled(name)} {','.join(['5'] * count)}",
                parameter=name,
            )
    kept = {name: value for name, value in options.items() if name not in lists}
    return {**kept, "schedule": " ".join(f"{name}={text}" for name, text in lists.items())}
