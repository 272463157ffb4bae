"""``epsilens tamper``: would a false record be noticed, how large a one stays hidden, was this answer tampered with?"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import typer

from ..catalogue.exits import Exit
from ..catalogue.said import number, numbers, numbers_said
from ..errors import InputError
from .common import show
from .options import Said, to_repeat

__all__ = ["read_series", "tamper"]


def tamper(said: Said) -> None:
    """Say how often a false record would be noticed behind the noise, or test published answers for one.

    With --bias: how often it is noticed. Without: how large a one stays hidden. With --bias and no noise: the ε at
    which it is noticed. With --published and --expected, or --series: the verdict; exit code 3 when it is an alarm.

    For example: epsilens tamper --epsilon 1 --bias 3
    """
    testing = any(said[k] is not None for k in ("published", "expected", "series"))
    if not testing and (said["side"] is not None or said["method"] is not None):
        alone = "side" if said["side"] else "method"
        raise InputError(f"--{alone} goes with answers to test: give --published and --expected", parameter=alone)
    if testing and said["power"] is not None:
        raise InputError(
            "--power does not go with answers to test: give --bias to read the power against it", parameter="power"
        )
    about = _tested(said) if testing else _planned(said)
    from ..show.explanation import command_line

    show(about.sheet.with_command(command_line("tamper", "", to_repeat(said))), said["format"], said["output"])
    if about.alarm:
        raise typer.Exit(Exit.NO_SOLUTION)


class _About:
    """What is shown, and whether it is an alarm."""

    def __init__(self, sheet: Any, alarm: bool = False) -> None:
        self.sheet, self.alarm = sheet, alarm


def _given(said: Said, *names: str) -> dict[str, Any]:
    return numbers_said(said, *names) | {k: said[k] for k in ("noise", "calibration") if said[k] is not None}


_NOISE = ("epsilon", "sensitivity", "delta", "scale", "sigma")


def _planned(said: Said) -> _About:
    """Without answers: how often, how large, or at which ε."""
    from .. import checks
    from ..build.tampering.hiding import epsilon_to_detect
    from ..build.tampering.tampering import checked_stretch, tampering
    from ..show.tampering import about, limits, price

    given, bias = _given(said, *_NOISE), said["bias"]
    stretch = checked_stretch(1.0 if said["stretch"] is None else number("--stretch", said["stretch"], "stretch"))
    noisy = any(said[k] is not None for k in ("epsilon", "scale", "sigma"))
    share = 0.5 if bias is None else 0.9
    a = _share("alpha", said["alpha"], 0.05)
    p = _share("power", said["power"], share)
    if bias is not None:
        moved = checks.scalar("bias", number("--bias", bias, "bias"))
        if noisy:
            return _About(about(tampering(bias=moved, stretch=stretch, **given), a, p))
        needed = epsilon_to_detect(bias=moved, stretch=stretch, alpha=a, power=p, **given)
        return _About(price(needed, moved, stretch, a, p, {"noise": "laplace", **given}))
    if not noisy:
        raise InputError(
            "--epsilon is missing: give ε, --scale or --sigma, or --bias to learn which ε shows it", parameter="epsilon"
        )
    return _About(limits(dict(tampering(bias=0.0, **given).parameters), stretch, a, p))


def _tested(said: Said) -> _About:
    """With answers: the verdict."""
    from ..build.tampering.detection import detect, detect_series
    from ..show.tampering import detection, series

    given = _given(said, *_NOISE, "bias", "stretch", "alpha")
    given |= {"side": said["side"]} if said["side"] is not None else {}
    if said["series"] is not None:
        if said["published"] is not None or said["expected"] is not None:
            raise InputError("--series and --published are both given: give the answers in one place")
        seen, true = read_series(said["series"])
    else:
        for name in ("published", "expected"):
            if said[name] is None:
                raise InputError(f"--{name} is missing: a test needs --published and --expected", parameter=name)
        seen, true = (numbers(f"--{n}", said[n], n) for n in ("published", "expected"))
        if len(seen) == 1 and len(true) == 1 and said["method"] is None:
            found = detect(seen[0], true[0], **given)
            return _About(detection(found), found.alarm)
    given |= {"method": said["method"]} if said["method"] is not None else {}
    many = detect_series(seen, true if len(true) > 1 else true[0], **given)
    return _About(series(many), bool(many.alarms))


def _share(name: str, text: str | None, default: float) -> float:
    if text is None:
        return default
    value = number(f"--{name}", text, name)
    if not 0 <= value <= 1:
        raise InputError(f"--{name} is {text!r}: give a share between 0 and 1", parameter=name, value=value)
    return value


def read_series(path: str) -> tuple[list[float], list[float]]:
    """The columns published and expected of a CSV file."""
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            table = csv.DictReader(file)
            names = [(n or "").strip().lower() for n in table.fieldnames or []]
            for name in ("published", "expected"):
                if names.count(name) != 1:
                    shown = ", ".join(names)[:80] or "none"
                    raise InputError(
                        f"--series is {path!r}: it needs one column {name!r}, and its columns are {shown}",
                        parameter="series",
                    )
            table.fieldnames = names
            rows = list(table)
    except (OSError, UnicodeDecodeError, csv.Error, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or "it is not a CSV file in UTF-8"
        raise InputError(
            f"--series is {path!r}: {reason}, so give a CSV file that can be read", parameter="series"
        ) from None
    if not rows:
        raise InputError(f"--series is {path!r}: it has no rows, so give at least one answer", parameter="series")
    columns: dict[str, list[float]] = {"published": [], "expected": []}
    for line, row in enumerate(rows, 2):
        for name, values in columns.items():
            values.append(number(f"{name} in line {line} of {path!r}", row[name] or "", "series"))
    return columns["published"], columns["expected"]
