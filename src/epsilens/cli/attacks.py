"""``epsilens difference``, ``tamper`` and ``identify``: one attack each, without looking at what else is released."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..catalogue.commands import ExitCode
from ..catalogue.parameters import option_flag
from ..catalogue.parsing import (
    choice_arguments,
    explanation_arguments,
    given_numbers,
    parse_number,
    parse_numbers,
    split_limit,
)
from ..errors import InputError
from .console import Options, repeatable_options, show, show_repeatable

if TYPE_CHECKING:
    from ..show.presenters import Report

_SIMPLE = ("gap", "sensitivity", "delta", "split", "queries", "targets")
_AVERAGE = ("n", "value", "mean", "bounds")


def difference(said: Options) -> None:
    """Say how well two queries that differ by one person give away that person's secret.

    For example: epsilens difference --epsilon 1 --known
    """
    builder, given = _attack(said)
    from ..calibration.choose import choose
    from ..show.explanation import chosen
    from ..show.explanation import explain as explained

    epsilon, at_most = said["epsilon"], said["at_most"]
    if at_most is not None:
        readings = choice_arguments(said)
        if epsilon is not None:
            raise InputError("--epsilon and --at-most are both given: give ε, or the limit it is chosen by", "epsilon")
        reading, limit = split_limit(at_most)
        about = chosen(choose(builder, "epsilon", at_most=limit, reading=reading, given=given, **readings))
    else:
        readings = explanation_arguments(said)
        if epsilon is None:
            raise InputError("--epsilon is missing: give ε, or --at-most success=0.55 to have it chosen", "epsilon")
        about = explained(builder(epsilon=parse_number("--epsilon", epsilon, "epsilon"), **given), **readings)
    show_repeatable(about, said, "difference")


def _attack(said: Options) -> tuple[Callable[..., Any], dict[str, Any]]:
    """The builder and its arguments: an average as soon as one of its options is given."""
    from ..attacks.differencing_queries import differencing, differencing_average

    given: dict[str, Any] = given_numbers(said, *_SIMPLE)
    average = {k: said[k] for k in _AVERAGE if said[k] is not None}
    if not average:
        if said["narrow"]:
            raise InputError(
                "--narrow is given without an average: give --n, --value, --mean and --bounds too", "narrow"
            )
        return differencing, {**given, "known": said["known"], **({"noise": said["noise"]} if said["noise"] else {})}
    missing = [k for k in _AVERAGE if k not in average]
    if missing:
        raise InputError(f"--{missing[0]} is missing: an average needs --n, --value, --mean and --bounds", missing[0])
    extra = [k for k in given if k != "sensitivity"] + [k for k in ("known", "noise") if said[k]]
    if extra:
        raise InputError(
            f"--{extra[0]} does not go with an average: it takes --n, --value, --mean, --bounds, --narrow", extra[0]
        )
    limits = parse_numbers("--bounds", average.pop("bounds"), "bounds")
    if len(limits) != 2:
        raise InputError(
            f"--bounds is {said['bounds']!r}: give two numbers, the smaller first, such as 0,121", "bounds"
        )
    return differencing_average, {
        **given,
        **{k: parse_number(option_flag(k), v, k) for k, v in average.items()},
        "bounds": tuple(limits),
        "known": "narrow" if said["narrow"] else "broad",
    }


def tamper(said: Options) -> None:
    """Say how often false records would be noticed behind the noise, or test published answers for them.

    With --bias: how often that is noticed. Without: how large a bias stays hidden. With --bias and no noise: the ε at
    which it is noticed. With --published and --expected, or --series: the verdict; exit code 4 when it is an alarm.

    For example: epsilens tamper --epsilon 1 --bias 3
    """
    testing = any(said[k] is not None for k in ("published", "expected", "series"))
    if not testing and (said["side"] is not None or said["method"] is not None):
        alone = "side" if said["side"] else "method"
        raise InputError(f"--{alone} goes with answers to test: give --published and --expected", alone)
    if testing and said["power"] is not None:
        raise InputError("--power does not go with answers to test: give --bias to read the power against it", "power")
    sheet, alarm = _detection_report(said) if testing else (_power_report(said), False)
    show_repeatable(sheet, said, "tamper")
    if alarm:
        raise typer.Exit(ExitCode.EXCEEDED)


def _noise_arguments(said: Options, *names: str) -> dict[str, Any]:
    return given_numbers(said, *names) | {k: said[k] for k in ("noise", "calibration") if said[k] is not None}


_NOISE = ("epsilon", "sensitivity", "delta", "scale", "sigma")


def _power_report(said: Options) -> Report:
    """Without answers: how often, how large, or at which ε."""
    from .. import checks
    from ..attacks.tampering_power import checked_stretch, epsilon_to_detect, hidden_limit, tampering
    from ..show.tampering import about, limits, price

    given, bias = _noise_arguments(said, *_NOISE), said["bias"]
    stretch = checked_stretch(1.0 if said["stretch"] is None else parse_number("--stretch", said["stretch"], "stretch"))
    noisy = any(said[k] is not None for k in ("epsilon", "scale", "sigma"))
    share = 0.5 if bias is None else 0.9
    a = _share("fpr", said["fpr"], 0.05)
    p = _share("power", said["power"], share)
    if bias is not None:
        moved = checks.scalar("bias", parse_number("--bias", bias, "bias"))
        if noisy:
            return about(tampering(bias=moved, stretch=stretch, **given).tests(a, p))
        needed = epsilon_to_detect(bias=moved, stretch=stretch, fpr=a, power=p, **given)
        return price(needed, moved, stretch, a, p, {"noise": "laplace", **given})
    if not noisy:
        raise InputError(
            "--epsilon is missing: give ε, --scale or --sigma, or --bias to learn which ε shows it", "epsilon"
        )
    return limits(hidden_limit(dict(tampering(bias=0.0, **given).parameters), stretch, a, p))


def _detection_report(said: Options) -> tuple[Report, bool]:
    """The verdict on published answers, and whether it is an alarm."""
    from ..attacks.tampering_detection import detect, detect_series
    from ..show.tampering import detection, series

    given = _noise_arguments(said, *_NOISE, "bias", "stretch", "fpr")
    given |= {"side": said["side"]} if said["side"] is not None else {}
    if said["series"] is not None:
        if said["published"] is not None or said["expected"] is not None:
            raise InputError("--series and --published are both given: give the answers in one place")
        seen, true = read_series(said["series"])
    else:
        for name in ("published", "expected"):
            if said[name] is None:
                raise InputError(f"--{name} is missing: a test needs --published and --expected", name)
        seen, true = (parse_numbers(f"--{n}", said[n], n) for n in ("published", "expected"))
        if len(seen) == 1 and len(true) == 1 and said["method"] is None:
            found = detect(seen[0], true[0], **given)
            return detection(found), found.alarm
    given |= {"method": said["method"]} if said["method"] is not None else {}
    many = detect_series(seen, true if len(true) > 1 else true[0], **given)
    return series(many), bool(many.alarms)


def _share(name: str, text: str | None, default: float) -> float:
    if text is None:
        return default
    value = parse_number(f"--{name}", text, name)
    if not 0 <= value <= 1:
        raise InputError(f"--{name} is {text!r}: give a share between 0 and 1", name, value=value)
    return value


def read_series(path: str) -> tuple[list[float], list[float]]:
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            table = csv.DictReader(file)
            names = [(n or "").strip().lower() for n in table.fieldnames or []]
            for name in ("published", "expected"):
                if names.count(name) != 1:
                    shown = ", ".join(names)[:80] or "none"
                    raise InputError(
                        f"--series is {path!r}: it needs one column {name!r}, and its columns are {shown}", "series"
                    )
            table.fieldnames = names
            rows = list(table)
    except (OSError, UnicodeDecodeError, csv.Error, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or "it is not a CSV file in UTF-8"
        raise InputError(f"--series is {path!r}: {reason}, so give a CSV file that can be read", "series") from None
    if not rows:
        raise InputError(f"--series is {path!r}: it has no rows, so give at least one answer", "series")
    columns: dict[str, list[float]] = {"published": [], "expected": []}
    for line, row in enumerate(rows, 2):
        for name, values in columns.items():
            values.append(parse_number(f"{name} in line {line} of {path!r}", row[name] or "", "series"))
    return columns["published"], columns["expected"]


_IDENTIFY_DEFAULTS = {"query": "sum", "noise": "laplace"}


def identify(said: Options) -> None:
    """Say how sure an attacker can become of which of n people is missing. Exit code 4: the limit is exceeded.

    For example: epsilens identify --n 120 --range 0,60 --sensitivity 121 --epsilon 5
    """
    given: dict[str, Any] = {"query": said["query"], "noise": said["noise"]}
    given |= given_numbers(said, "epsilon", "delta", "sensitivity")
    if said["at_most"] is not None:
        reading, limit = split_limit(said["at_most"])
        given |= {"reading": reading, "at_most": limit}
    elif said["epsilon"] is None:
        raise InputError("--epsilon is missing: give ε, or --at-most posterior=0.1 to have it chosen", "epsilon")
    from ..attacks.identification import identify as find
    from ..show.explanation import command_line
    from ..show.short_results import identification_report

    found = find(**_people(said), **given)
    typed = {k: v for k, v in repeatable_options(said, "table").items() if _IDENTIFY_DEFAULTS.get(k) != v}
    line = command_line("identify", "", typed)
    if said["table"] is not None:
        line = line.replace("identify", f"identify {shlex.quote(said['table'])}", 1)
    show(identification_report(found).with_command(line), said["format"], said["output"])
    if found.exceeded:
        raise typer.Exit(ExitCode.EXCEEDED)


def _people(said: Options) -> dict[str, Any]:
    """The people as the library takes them: the values of a column, or n and a range."""
    table, column, person, n, ends_said = (said[k] for k in ("table", "column", "person", "n", "range"))
    if table is None:
        if column is not None or person is not None:
            alone = "column" if column is not None else "person"
            raise InputError(f"--{alone} is given without a table: give the table it is a column of", alone)
        if n is None or ends_said is None:
            raise InputError("who the people are is missing: give a table and --column, or --n and --range")
        ends = parse_numbers("--range", ends_said, "range")
        if len(ends) != 2:
            raise InputError(
                f"--range is {ends_said[:40]!r}: give two numbers, the smaller first, such as 0,60", "range"
            )
        return {"n": parse_number("--n", n, "n"), "value_range": tuple(ends)}
    if n is not None or ends_said is not None:
        raise InputError("a table is given with --n or --range: its column says both, so leave them out")
    if column is None:
        raise InputError("--column is missing: name the column with the values", "column")
    from ..data.tables.columns import numbers_of

    return {"values": numbers_of(table, column, person=person)}
