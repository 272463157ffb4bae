"""``epsilens explain`` and ``choose``: what a mechanism tells, and the noise that keeps a reading under a limit; and
``difference``, ``tamper`` and ``identify``: one attack each, without looking at what else is released.
"""

from __future__ import annotations

import csv
import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..catalogue.commands import ExitCode
from ..catalogue.mechanisms import CatalogueEntry
from ..catalogue.parameters import option_flag
from ..catalogue.parsing import (
    builder_arguments,
    choice_arguments,
    condition_arguments,
    explanation_arguments,
    find_mechanism,
    find_subject,
    given_numbers,
    normalise_options,
    parse_number,
    parse_numbers,
    parse_series,
    parse_setting,
    shorten,
    split_limit,
    target_parameter,
)
from ..catalogue.readings import READINGS, find_reading
from ..errors import InputError, NoSolutionError, suggestion
from .console import (
    Format,
    FormatOption,
    Options,
    OutputOption,
    emit,
    on_terminal,
    repeatable_options,
    show,
    show_repeatable,
)

if TYPE_CHECKING:
    from ..attacks.knowledge import Knowledge
    from ..show.explanation import Explanation
    from ..show.presenters import Report


#: What a sweep reads unless told, and at which δ ε is read.
_DEFAULT_READINGS = ("success", "advantage", "posterior", "auc", "epsilon")
_DEFAULT_DELTA = 1e-5
_CHARTS = (".svg", ".png", ".pdf", ".html")


def compare(said: Options) -> None:
    """Put settings side by side: every reading of each, and their curves over each other.

    A setting is a mechanism or a claim with its parameters. --chart writes the ROC curves as SVG, PNG, PDF or HTML.

    For example: epsilens compare laplace:epsilon=1 gaussian:psi=1
    """
    settings = [parse_setting(text) for text in said["settings"]]
    readings = explanation_arguments(said)
    if len(settings) < 2:
        raise InputError("there is one setting: give two or more, such as laplace:epsilon=1 gaussian:psi=1", "settings")
    from ..calibration.sweep import compare as compared
    from ..catalogue.mechanisms import builder

    chart = said["chart"]
    if chart is not None:
        _check_chart_path(Path(chart))
    found = compared([builder(entry)(**arguments) for entry, arguments in settings], **readings)
    if chart is not None:
        found.chart("roc").save(chart)
    show(found, said["format"], said["output"])


def _check_chart_path(path: Path) -> None:
    """Refuse a name no chart can be written to, before anything is computed."""
    if path.suffix.lower() not in _CHARTS:
        why = f"give a name that ends in {', '.join(_CHARTS[:-1])} or {_CHARTS[-1]}"
    elif os.path.isdir(path) or not os.path.isdir(path.parent):
        why = "there is no such folder, so give a file that can be written"
    else:
        return
    raise InputError(f"--chart is {shorten(str(path))}: {why}", "chart")


def _series(said: Options, takes: tuple[str, ...], also: tuple[str, ...] = ()) -> dict[str, list[float]]:
    """What is varied, each by its own values."""
    made: dict[str, list[float]] = {}
    for text in said["sweep"]:
        name, values = parse_series(text)
        if name not in (*takes, *also):
            raise InputError(
                f"--sweep has no {name[:40]!r}{suggestion(name, takes)} to vary: give one of "
                f"{', '.join((*takes, *also))}",
                "sweep",
            )
        if name in made or (said.get(name) is not None and name in takes):
            raise InputError(f"{option_flag(name)} is said twice: vary it or give it, not both", "sweep")
        made[name] = values
    return made


def _fixed_arguments(
    entry: CatalogueEntry, said: Options, series: Mapping[str, list[float]], **more: Any
) -> dict[str, Any]:
    """The arguments that stay as they are, checked as if the first values of the others were given."""
    first = {name: repr(values[0]) for name, values in series.items() if name in entry.takes}
    return {k: v for k, v in builder_arguments(entry, {**said, **first}, **more).items() if k not in series}


def sweep_readings(entry: CatalogueEntry, named: Mapping[str, object], said: Options) -> None:
    """Readings of a mechanism at many values of its parameters."""
    series = _series(said, entry.takes)
    fixed = {**named, **_fixed_arguments(entry, said, series)}
    asked = [name.strip().replace("-", "_") for name in (said["reading"] or ",".join(_DEFAULT_READINGS)).split(",")]
    given = {"delta": _DEFAULT_DELTA, **choice_arguments(said)}
    wanted: dict[str, dict[str, float]] = {}
    for name in asked:
        reading = find_reading(name)
        known = {*reading.required, *reading.either, *reading.optional}
        wanted[reading.name] = {k: v for k, v in given.items() if k in known}
    from ..calibration.sweep import sweep
    from ..catalogue.mechanisms import builder

    told = None if on_terminal() else False
    values: dict[str, Any] = dict(series)
    show(sweep(builder(entry), reading=wanted, given=fixed, progress=told, **values), said["format"], said["output"])


def sweep_choice(mechanism: CatalogueEntry, wanted: str, said: Options, readings: Mapping[str, float]) -> None:
    """What is chosen at many limits, or at many values of the mechanism's other parameters."""
    reading, limit = split_limit(said["at_most"])
    series = _series(said, tuple(name for name in mechanism.takes if name != wanted), (reading,))
    if len(series) > 1:
        raise InputError("--sweep is given twice: choose along one series at a time", "sweep")
    (name, values), *_ = series.items()
    limits = name == reading  # of a name that the noise has too, the limit is what --at-most speaks of
    fixed = _fixed_arguments(mechanism, said, {} if limits else series, chosen=wanted)
    from ..calibration.choose import choose
    from ..catalogue.mechanisms import builder

    rows: list[dict[str, Any]] = []
    last: NoSolutionError | None = None
    for value in values:
        given, at = (fixed, value) if limits else ({**fixed, name: value}, limit)
        row: dict[str, Any] = {f"{name} at most" if limits else name: value, wanted: None, "reached": None}
        try:
            found = choose(builder(mechanism), wanted, at_most=at, reading=reading, given=given, **readings)
            row |= {wanted: float(found.value), "reached": float(found.reading)}
        except NoSolutionError as error:
            last = error
        rows.append(row)
    if last is not None and all(row[wanted] is None for row in rows):
        raise last
    show(_choice_report(mechanism, wanted, reading, limits, rows), said["format"], said["output"])


def _choice_report(
    mechanism: CatalogueEntry, wanted: str, reading: str, limits: bool, rows: list[dict[str, Any]]
) -> Report:
    from ..show.document import Document, Lead, Notes, Section, plain_table
    from ..show.document import said as spoken
    from ..show.presenters import Report
    from ..show.sentences import number as shown

    label = READINGS[reading].label if reading in READINGS else reading
    each = "each limit" if limits else f"each {next(iter(rows[0]))}"
    lead = f"The riskiest {wanted} of {mechanism.spoken} that keeps {label} under the limit, for {each}."
    cells = [
        [f"{v:.6g}" if i == 0 else "none" if v is None else shown(v) for i, v in enumerate(r.values())] for r in rows
    ]
    none = any(row[wanted] is None for row in rows)
    notes = ("none: no value keeps the limit, even pure noise exceeds it.",) if none else ()
    table = plain_table([*list(rows[0])[:2], reading], cells, "Values")
    body = Document(
        f"{mechanism.spoken}: {wanted}",
        "Choices",
        (Lead((spoken(lead),)),),
        (Section("Values", (table, Notes(notes))),),
    )
    return Report(body, {"schema": 1, "sentence": lead, "mechanism": mechanism.key, "rows": rows})


_COEFFICIENTS = ("rho_p", "rho_c", "rho_t")


def prior_knowledge(said: Options) -> Knowledge | None:
    """What the coefficients say about the prior, None if none is given; refused beside a prior."""
    rho = {k: said[k] for k in _COEFFICIENTS if said[k] is not None}
    if not rho:
        if said["less_likely"]:
            raise InputError(
                "--less-likely is given without a coefficient: give --rho-p, --rho-c or --rho-t too", "less_likely"
            )
        return None
    if said["prior"] is not None:
        raise InputError(
            f"--prior and {option_flag(next(iter(rho)))} are both given: give the prior, or what it comes from"
        )
    from ..attacks.knowledge import Knowledge

    positive = "less likely" if said["less_likely"] else "more likely"
    return Knowledge.from_coefficients(
        **{k: parse_number(option_flag(k), v, k) for k, v in rho.items()}, positive=positive
    )


def with_knowledge(about: Explanation, known: Knowledge | None) -> Explanation:
    """The same with a last sentence that says where the prior comes from."""
    if known is None:
        return about
    from ..show.document import Span

    return replace(about, lead=(*about.lead, Span(f" {known.sentence}")))


def explain(said: Options) -> None:
    """Say what an adversary can do with a release.

    For example: epsilens explain laplace --epsilon 1, or of a claim: epsilens explain --epsilon 8 --delta 1e-6
    """
    if said["sweep"]:
        varied = {name: repr(values[0]) for name, values in map(parse_series, said["sweep"])}
        entry, named = find_subject(said["mechanism"], {**said, **varied})
        told = normalise_options(entry, {**said, **varied})
        sweep_readings(entry, named, {**told, **{name: said.get(name) for name in varied}})
        return
    if said["reading"] is not None:
        raise InputError("--reading goes with --sweep: every reading is shown otherwise", "reading")
    entry, named = find_subject(said["mechanism"], said)
    told = normalise_options(entry, said)
    arguments, readings = builder_arguments(entry, told), explanation_arguments(told)
    known = prior_knowledge(said)
    if known is not None:
        readings["prior"] = known.prior
    from ..catalogue.mechanisms import builder
    from ..show.explanation import explain as explained

    about = with_knowledge(explained(builder(entry)(**named, **arguments), **readings), known)
    show_repeatable(about, said, "explain", entry.key if said["mechanism"] else "")


def choose(said: Options) -> None:
    """Find the noise that keeps a risk under a limit.

    For example: epsilens choose laplace --at-most success=0.55
    """
    mechanism = find_mechanism(said["mechanism"])
    reading, limit = split_limit(said["at_most"])
    told = normalise_options(mechanism, said, reading=reading)
    wanted = target_parameter(mechanism, said["parameter"], told)
    if wanted not in mechanism.takes:
        takes = ", ".join(map(option_flag, mechanism.takes))
        raise InputError(
            f"{said['mechanism']} has no parameter {wanted[:40]!r}{suggestion(wanted, mechanism.takes)}: it "
            f"takes {takes}",
            "parameter",
        )
    if said["sweep"]:
        if prior_knowledge(said) is not None:
            raise InputError("--sweep does not go with coefficients of a prior: give --prior", "sweep")
        sweep_choice(mechanism, wanted, told, choice_arguments(told))
        return
    arguments = builder_arguments(mechanism, told, chosen=wanted)
    if wanted in arguments:
        raise InputError(
            f"{option_flag(wanted)} is given, but it is what is being chosen: leave it out or name another", wanted
        )
    readings = choice_arguments(told)
    known = prior_knowledge(said)
    if known is not None:
        readings["prior"] = known.prior
    from ..calibration.choose import choose as choose_
    from ..catalogue.mechanisms import builder
    from ..show.explanation import chosen

    choice = choose_(builder(mechanism), wanted, at_most=limit, reading=reading, given=arguments, **readings)
    show_repeatable(with_knowledge(chosen(choice), known), said, "choose", mechanism.key)


def certify(said: Options) -> None:
    """Write a number that can be checked without epsilens: python -m epsilens_checker FILE.

    For example: epsilens certify dpsgd --sigma 1 --rate 0.01 --steps 1000 --delta 1e-5 --output certificate.json
    """
    mechanism = find_mechanism(said["mechanism"])
    told = normalise_options(mechanism, said)
    given = choice_arguments({name: told[name] for name in ("for_delta", "for_epsilon", "fpr")})
    implied = {"delta": "epsilon", "epsilon": "delta", "fpr": "tradeoff"}
    reading = said["reading"] or next((implied[name] for name in given), "success")
    from ..catalogue.mechanisms import builder

    experiment = builder(mechanism)(**builder_arguments(mechanism, told))
    show(experiment.certificate(reading, **given), said["format"], said["output"])


def notions(said: Options) -> None:
    """Say what another definition's ε promises; without options, list the definitions.

    For example: epsilens notions --from dp --epsilon 1
    """
    from ..show import notions as report

    held, asked, epsilon = said["from"], said["to"], said["epsilon"]
    if held is None and asked is None:
        if epsilon is not None:
            raise InputError(
                "--epsilon is given without a notion: give --from, or --to for what would be enough", "epsilon"
            )
        show(report.listed(), said["format"], said["output"])
        return
    if epsilon is None:
        raise InputError("--epsilon is missing: give the ε of the notion, such as --epsilon 1", "epsilon")
    size, conditions = parse_number("--epsilon", epsilon, "epsilon"), condition_arguments(said)
    if held is not None and asked is not None:
        about = report.between(held, size, asked, **conditions)
    elif held is not None:
        about = report.promised(held, size, **conditions)
    else:
        about = report.enough(asked, size, **conditions)
    show_repeatable(about, said, "notions")


Paper = Annotated[
    str | None,
    typer.Argument(
        metavar="[PAPER]",
        help="000 to 004, or liu2019, ashena2021, kaissis2022, unsal2022, li2019; all if left out.",
        autocompletion=lambda incomplete: complete_paper(incomplete),
    ),
]


def complete_paper(incomplete: str) -> list[str]:
    """The papers whose number or name begins so."""
    from ..papers import PAPERS

    return [name for name in (*PAPERS, *PAPERS.values()) if name.startswith(incomplete)]


def reproduce(paper: Paper = None, format: FormatOption = Format.table, output: OutputOption = None) -> None:
    """Recompute the tables and figures of the papers, as printed and corrected.

    With --output and the name of a folder, each is written as CSV, SVG and text, and all of it as one page; files of
    the same names are replaced.

    For example: epsilens reproduce 002 --output papers/
    """
    from ..papers import reproduction

    if output is not None and not output.strip():
        raise InputError("--output is empty: give the name of a folder or of a file", "output", value=output)
    folder = output is not None and (output.endswith("/") or (format is Format.table and is_folder(output)))
    if folder and format is not Format.table:
        raise InputError(
            f"--output is the folder {output!r:.80}, which gets every form at once: leave --format out, or name a file",
            "output",
        )
    made = reproduction(*([paper] if paper else ()))
    if output is not None and folder:
        written = made.write(output)
        emit(f"{len(written)} files in {output}: open {written[0]}", None)
        return
    show(made, format, output)


def is_folder(output: str) -> bool:
    """Whether what was asked for is a folder: one that is there, or a name without an ending."""
    return os.path.isdir(output) or output.endswith("/") or (not Path(output).suffix and output != "-")


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
