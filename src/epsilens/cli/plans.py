"""``epsilens assess`` and ``init``: a planned release judged, and one to start from."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..catalogue.commands import ExitCode
from ..catalogue.mechanisms import builder
from ..catalogue.parameters import Panel, option_flag
from ..catalogue.parsing import (
    builder_arguments,
    find_entry,
    given_numbers,
    parse_integer,
    parse_number,
    parse_numbers,
    shorten,
    split_limit,
)
from ..data.tables.address import pausing
from ..errors import InputError, LimitError, WriteError
from ..results import escape_controls
from .console import Format, FormatOption, Options, OutputOption, emit, emit_file, notice, on_terminal, say, show

if TYPE_CHECKING:
    from ..auditing.audit import AuditProgress
    from ..auditing.case_catalogue import CaseResult
    from ..auditing.result import Audits
    from ..experiment import Experiment
    from ..ledger.ledger import Ledger


def scan(said: Options) -> None:
    """Find the people two queries can isolate, and the ε that protects them. Exit code 4: the limit is exceeded.

    For example: epsilens scan epsilens:rand-hie --quasi site,age,female,black,education --person person
    --query "count where mental_visits > 0 by site" --epsilon 1 --at-most success=0.55
    """
    given: dict[str, Any] = given_numbers(said, "epsilon", "quantile", "delta", "sampling_fraction")
    for name in ("known_columns", "max_rows", "min_query_size"):
        if said[name] is not None:
            given[name] = parse_integer(option_flag(name), said[name], name)
    if said["at_most"] is not None:
        reading, value = split_limit(said["at_most"], "--at-most", "at_most")
        given["at_most"] = {reading: value}
    columns = column_names(said, "quasi")
    given |= {name: said[name] for name in ("person", "noise", "known", "engine", "show_people")}
    from ..data.scan.scan import scan as find
    from ..data.tables.resources import use_memory

    use_memory(said["memory"], said["spill"])

    with progress_bar() as told:
        found = find(said["table"], columns, queries=said["query"] or (), progress=told, **given)
    show(found, said["format"], said["output"])
    if found.exceeded:
        raise typer.Exit(ExitCode.EXCEEDED)


def column_names(said: Options, name: str) -> list[str]:
    columns = [c.strip() for c in said[name].split(",")]
    if not all(columns):
        raise InputError(f"{option_flag(name)} is {said[name]!r}: give column names separated by commas", name)
    return columns


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int, str], None] | None]:
    if not on_terminal():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar, pausing(bar.stop, bar.start):
        task = bar.add_task("opening the table", total=None)

        def told(done: int, total: int, what: str) -> None:
            bar.update(task, completed=done, total=total, description=escape(escape_controls(what)))

        yield told


def correlate(said: Options) -> None:
    """Find who learns most about one record from a noisy sum when records are correlated.

    A row is one observation of the records: the members of a household, or a person at several times.
    For example: epsilens correlate epsilens:rand-hie --columns visits --person person --time year --bounds 0,20
    """
    query, weights = said["query"], said["weights"]
    if query not in ("sum", "linear"):
        raise InputError(f"--query is {query!r}: give 'sum', or 'linear' with --weights", "query")
    if (query == "linear") != (weights is not None):
        raise InputError("give --query linear and --weights together, or neither for a sum", "query")
    given: dict[str, Any] = given_numbers(said, "scale", "sigma", "epsilon", "time_limit", "size", "confidence")
    if said["bounds"] is not None:
        given["bounds"] = parse_numbers("--bounds", said["bounds"], "bounds")
    if said["reach"] is not None:
        several = parse_numbers("--reach", said["reach"], "reach")
        given["reach"] = several[0] if len(several) == 1 else several
    names = column_names(said, "columns")
    given["query"] = "sum" if weights is None else parse_numbers("--weights", weights, "weights")
    given |= {name: said[name] for name in ("model", "own_noise", "by", "person", "time", "engine")}
    from ..data.correlation.estimation import correlate as find
    from ..data.tables.resources import use_memory

    use_memory(said["memory"], said["spill"])

    with progress_bar() as told:
        found = find(said["table"], names, progress=told, **given)
    show(found, said["format"], said["output"])


def _option(flag: str, panel: Panel, help: str, metavar: str | None = None) -> Any:
    return typer.Option(flag, rich_help_panel=panel.value, metavar=metavar, help=help)


#: An assessment as every result, as one sheet for a board, or as a record of the registry.
AssessFormat = StrEnum("AssessFormat", ["table", "json", "md", "html", "csv", "pdf", "board", "registry"])


ReleaseFile = Annotated[str, typer.Argument(metavar="RELEASE", help="A YAML file; 'epsilens init TABLE' writes one.")]
MemoryOption = Annotated[str | None, _option("--memory", Panel.DATA, "What reading may take, 4GB say.", "SIZE")]
SpillOption = Annotated[
    str | None, _option("--spill", Panel.DATA, "A folder with room for what memory does not hold.", "FOLDER")
]
EngineOption = Annotated[str | None, _option("--engine", Panel.DATA, "duckdb, spark or an Ibis URL.", "NAME")]
AssessFormatOption = Annotated[AssessFormat, typer.Option("--format", help="How to write the result.")]


def assess(
    release: ReleaseFile,
    engine: EngineOption = None,
    memory: MemoryOption = None,
    spill: SpillOption = None,
    ledger: Annotated[
        str | None, _option("--ledger", Panel.DATA, "Count what was released before about them.", "URL")
    ] = None,
    account: Annotated[
        str | None, _option("--account", Panel.DATA, "Whom the table is about: the ledger's account.", "NAME")
    ] = None,
    format: AssessFormatOption = AssessFormat.table,
    output: OutputOption = None,
) -> None:
    """Assess a planned release: the risk of each adversary, the ε to choose, the accuracy it buys.

    Exit code 4: a limit is exceeded; 3: no ε meets the limits. The report is written all the same, and the headline
    told on the side (standard error) where it goes to a file.
    --format board --output board.pdf is one sheet for those who decide.
    For example: epsilens assess release.yaml --output report.pdf
    """
    from ..assessment.assess import assess as assessed
    from ..data.tables.resources import use_memory

    use_memory(memory, spill)
    with progress_bar() as told:
        found = assessed(Path(release), engine=engine, ledger=ledger, account=account, progress=told)
    command = ["epsilens", "assess", Path(release).name, *(["--engine", _public_place(engine)] if engine else [])]
    command += ["--ledger", _public_place(ledger)] if ledger else []
    command += ["--account", account] if account else []
    found = replace(found, command=shlex.join(command))
    if format is AssessFormat.registry:
        emit(found.to_registry(), output)
    elif format is AssessFormat.board:
        if (output or "").lower().endswith(".pdf"):
            emit_file(found.to_board_pdf(), output)
        else:
            emit(found.to_board(), output, page=True)
    else:
        show(found, Format(format.value), output)
    if output is not None and output != "-":  # a file says nothing by itself, nor does an exit code
        from ..show.assessment.phrases import headline

        say(f"{headline(found)}; written to {output}")
    if found.exceeded:
        from ..assessment.verdict import Standing

        hopeless = found.verdict.standing in (Standing.IMPOSSIBLE, Standing.CONTRADICTORY)
        raise typer.Exit(ExitCode.NO_SOLUTION if hopeless else ExitCode.EXCEEDED)


def _public_place(place: str) -> str:
    """A place in a command that stands in a report: the name of a file, or the kind of an address, and no more."""
    scheme, address, _ = place.partition("://")
    return f"{scheme}://…" if address else Path(place).name


#: A plan to start from: alone, or with what was understood of every column.
InitFormat = StrEnum("InitFormat", ["yaml", "table", "json", "md", "html", "csv"])


InitFormatOption = Annotated[InitFormat, typer.Option("--format", help="The plan, or all that was understood.")]


def init(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="CSV, Parquet, epsilens:rand-hie or an Ibis URL.")],
    engine: EngineOption = None,
    memory: MemoryOption = None,
    spill: SpillOption = None,
    format: InitFormatOption = InitFormat.yaml,
    output: Annotated[str | None, typer.Option("--output", metavar="FILE", help="Write to a file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Understand a table and write a commented release for it, ready to be edited and assessed.

    What was understood, and what to look at first, is told on the side (standard error).
    For example: epsilens init people.csv --output release.yaml
    """
    if output is not None and output != "-" and not force and os.path.exists(output):
        raise InputError(
            f"--output is {output[:80]!r}, which exists: give another name, or --force to replace it", "output"
        )
    from ..data.tables.resources import use_memory
    from ..plan.starter import init as started

    use_memory(memory, spill)
    with progress_bar() as told:
        start = started(table, engine, progress=told)
    if format is not InitFormat.yaml:
        show(start, Format(format.value), output)
        return
    emit(start.yaml, output)
    for text in (*(f"WARNING: {text}" for text in start.warnings), start.sentence):
        notice(text)


ReleaseFormat = StrEnum("ReleaseFormat", ["csv", "json", "parquet", "html"])


def release(
    plan: ReleaseFile,
    output: Annotated[str | None, typer.Option("--output", metavar="FILE", help="Where to write the answers.")] = None,
    format: Annotated[ReleaseFormat | None, typer.Option("--format", help="By the file's ending unless given.")] = None,
    ledger: Annotated[str, _option("--ledger", Panel.DATA, "A file, or postgresql://…", "URL")] = "ledger.db",
    account: Annotated[
        str | None, _option("--account", Panel.DATA, "Whom the table is about: the account.", "NAME")
    ] = None,
    part: Annotated[
        str | None, _option("--part", Panel.DATA, "The declared part that every query is about.", "NAME")
    ] = None,
    other_people: Annotated[
        bool, _option("--other-people", Panel.DATA, "This data is in another account, and yet about others.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be released and spent.")] = False,
    synthetic: Annotated[bool, _option("--synthetic", Panel.DATA, "Run on made-up rows; spends nothing.")] = False,
    again: Annotated[bool, _option("--again", Panel.DATA, "Draw, and spend, what was released before.")] = False,
    script: Annotated[
        bool, typer.Option("--script", help="Write a Python script that needs opendp alone, and release nothing.")
    ] = False,
    assessed: Annotated[
        str | None, _option("--assessed", Panel.DATA, "The JSON of its assessment: refuse another plan.", "FILE")
    ] = None,
    engine: EngineOption = None,
    memory: MemoryOption = None,
    spill: SpillOption = None,
) -> None:
    """Release a plan: noise by OpenDP on its answers, within its limits and the ledger's.

    The same plan gives the answers of before, whatever the data is by now, and spends nothing; another data.version in
    it is another plan.
    Exit code 4: the plan breaks its own limits or the ledger's; nothing is spent.
    For example: epsilens release release.yaml --output answers.csv --account patients
    """
    from ..plan.file import read_release
    from ..plan.labels import normalized_plan

    said = normalized_plan(read_release(Path(plan)))
    if assessed is not None:
        _check_assessment(said.digest(), assessed)
    if script:
        from ..publish.files import script_of

        emit(script_of(said, engine=engine), output)
        return
    if output is None and not dry_run:
        raise InputError(
            "--output is missing: name the file for the answers, such as answers.csv, or give --dry-run", "output"
        )
    from ..data.tables.resources import use_memory
    from ..publish.release import release as released

    use_memory(memory, spill)
    with progress_bar() as told:
        kind = None if format is None else format.value
        run = partial(released, said, output=output, format=kind, ledger=ledger, account=account, part=part)
        run = partial(run, other_people=other_people, engine=engine, dry_run=dry_run, synthetic=synthetic)
        made = run(again=again, progress=told)
    try:
        show(made, Format.table, None)
    except WriteError as error:
        if made.kind != "release":
            raise
        raise WriteError(f"{error}; ε is spent, and the answers are in {str(output)[:80]!r}") from None
    if made.ledger:
        notice(f"ledger {made.ledger}, account {made.account!r}")
    if output is not None and not dry_run:
        notice(f"answers {output}")


def _check_assessment(digest: str, assessed: str) -> None:
    """Refuse a plan that is not the one of this assessment, or that breaks a limit there."""
    try:
        told = json.loads(Path(assessed).read_text("utf-8"))
        found, exceeded = told["reproduce"]["release"], bool(told["exceeded"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise InputError(
            f"--assessed is {assessed[:80]!r}, which is no assessment: give what 'epsilens assess --format json' wrote",
            "assessed",
        ) from None
    if found != f"SHA-256 {digest}":
        raise InputError(
            f"the plan is not the one that was assessed in {assessed[:80]!r}: assess it again, nothing was spent",
            "assessed",
        )
    if exceeded:
        raise LimitError(
            f"the plan breaks its own limits in {assessed[:80]!r}: change it and assess it again; nothing was spent",
            "assessed",
        )


_DEFAULT_LEDGER = "ledger.db"


def ledger(ctx: typer.Context) -> None:
    """Keep the account of everything released about the same people."""
    if ctx.invoked_subcommand is None:
        emit(ctx.get_help(), None)


def ledger_show(said: Options) -> None:
    """Say what everything released so far gives away together, and what is left.

    For example: epsilens ledger show --ledger ledger.db
    """
    opened = _open_ledger(said)
    found = opened.accounts()
    if said["account"] is None:
        show(opened, said["format"], said["output"])
        _notices(opened, said)
        return
    state = opened.account(said["account"])
    if state.name not in found:
        raise InputError(
            f"--account is {state.name[:40]!r}, of whom the ledger has nothing: give one of {_names_text(found)}",
            "account",
        )
    show(state, said["format"], said["output"])
    _notices(opened, said)


def ledger_add(said: Options) -> None:
    """Enter what was released by other means: another tool's claim, a measurement, a training.

    It has happened, so it counts whatever the limits say; exit code 4 where they are exceeded.
    For example: epsilens ledger add gaussian --sigma 4 --title "visits by month"
    """
    made = _entered_experiment(said)
    opened = _open_ledger(said)
    account = opened.account_name(said["account"])
    new = _new_account_notice(opened, account)
    entered = opened.add(
        account,
        made,
        title=said["title"] or "",
        part=said["part"],
        delta=_number(said, "beside") or 0.0,
        at_delta=_number(said, "for_delta") or 0.0,
        within_limits=bool(said["within_limits"]),
    )
    state = opened.account(account)
    show(state, said["format"], said["output"])
    all_the_same = "That it is about a part alone cannot be checked: it counts for everyone."
    noted = (all_the_same,) if said["part"] is not None else ()
    _notices(
        opened, said, f"Entered for {account}: {made!r}{', ' if entered.title else ''}{entered.title}.", *noted, *new
    )
    if state.over:
        raise typer.Exit(ExitCode.EXCEEDED)


def ledger_limit(said: Options) -> None:
    """Set what may be released at most; what it promises holds even if noise is chosen after seeing answers.

    For example: epsilens ledger limit --success 0.65 --account patients
    """
    told = {name: _number(said, name) for name in ("success", "epsilon", "psi", "rho", "delta")}
    opened = _open_ledger(said)
    account = opened.account_name(said["account"])
    new = _new_account_notice(opened, account)
    state = opened.limit(account, **told, partition=said["partition"] or "")
    show(state, said["format"], said["output"])
    _notices(opened, said, f"The limits of {account} are set.", *new)


def ledger_check(said: Options) -> None:
    """Say whether the lines are those that were written, and within their limits; exit code 4 if not.

    For example: epsilens ledger check --head 1f0c…
    """
    opened = _open_ledger(said)
    found = opened.check(said["head"])
    for trouble in found:
        emit(f"line {trouble.line} {trouble.what}" if trouble.line else trouble.what, None)
    if found:
        _notices(opened, said)
        raise typer.Exit(ExitCode.EXCEEDED)
    accounts = opened.accounts()
    released = sum(len(account.releases) for account in accounts.values())
    emit(f"The ledger is as it was written: {len(accounts)} accounts, {released} releases.", None)
    _notices(opened, said)


def ledger_export(said: Options) -> None:
    """Write every line as JSON, without the ledger's key.

    For example: epsilens ledger export --output lines.json
    """
    opened = _open_ledger(said)
    lines = opened.export(said["account"])
    emit(json.dumps(lines, indent=2, ensure_ascii=False, allow_nan=False), said["output"])
    _notices(opened, said)


#: The commands by their second word.
LEDGER: Mapping[str, Callable[[Options], None]] = {
    "show": ledger_show, "add": ledger_add, "limit": ledger_limit, "check": ledger_check, "export": ledger_export,
}  # fmt: skip


def _open_ledger(said: Options) -> Ledger:
    from ..ledger.ledger import Ledger

    return Ledger(said["ledger"])


def _notices(ledger: Ledger, said: Options, *words: str) -> None:
    """Beside the result: what was done, and where, unless that was said."""
    for text in words:
        notice(text)
    if said["ledger"] == _DEFAULT_LEDGER and ledger.store.path is not None:
        notice(f"The ledger is {ledger.store.path.resolve()} (--ledger names another).")


def _new_account_notice(ledger: Ledger, account: str) -> tuple[str, ...]:
    """A word where an account is made beside others: a slip of the pen would escape their limits."""
    others = [name for name in ledger.accounts() if name != account] if ledger.store.exists else []
    if not others or ledger.account(account).head:
        return ()
    return (f"{account!r} is a new account, beside {_names_text(others)}: are they not the same people?",)


def _names_text(names: Any) -> str:
    names = [repr(name[:40]) for name in names]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _entered_experiment(said: Options) -> Experiment:
    name = said["mechanism"]
    if name is None:
        if said["epsilon"] is None:
            raise InputError("what was released is missing: give a mechanism, or --epsilon with its --delta")
        name = "approximate" if said["delta"] is not None else "pure"
    entry = find_entry(name)
    arguments = builder_arguments(entry, {name: value for name, value in said.items() if name != "account"})
    times = 1 if said["times"] is None else parse_integer("--times", said["times"], "times")
    made: Experiment = builder(entry)(**arguments)
    return made if times == 1 else made.repeat(times)


def _number(said: Options, name: str) -> float | None:
    return None if said[name] is None else parse_number(option_flag(name), said[name], name)


# ``epsilens audit``: does the code keep what was promised?


def audit(
    what: Annotated[
        str | None, typer.Argument(metavar="WHAT", help="A plan (a YAML file), or package.module:function.")
    ] = None,
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", hidden=True)] = None,
    catalogue: Annotated[bool, _option("--catalogue", Panel.DATA, "The known cases: all, or those named.")] = False,
    command: Annotated[
        str | None, _option("--command", Panel.DATA, '"python release.py {table} {out}": no shell.', "WORDS")
    ] = None,
    claim: Annotated[
        str | None, _option("--claim", Panel.NOISE, '"epsilon=1", "gaussian --sigma 2"; of a plan, its own.', "CLAIM")
    ] = None,
    d0: Annotated[str | None, _option("--d0", Panel.DATA, "The first input.", "FILE")] = None,
    d1: Annotated[str | None, _option("--d1", Panel.DATA, "The second: one person differs.", "FILE")] = None,
    table: Annotated[
        str | None, _option("--table", Panel.DATA, "Make pairs from it; of a plan, its columns.", "TABLE")
    ] = None,
    person: Annotated[str | None, _option("--person", Panel.DATA, "Whose row of the table it is.", "COLUMN")] = None,
    pair: Annotated[
        list[str] | None, _option("--pair", Panel.DATA, "Only this pair of tables; may be repeated.", "NAME")
    ] = None,
    runs: Annotated[
        int | None,
        _option(
            "--runs",
            Panel.READING,
            "The most on each pair. [2000, of Gaussian noise 6000; 1000 of a command]",
            "NUMBER",
        ),
    ] = None,
    confidence: Annotated[float, _option("--confidence", Panel.READING, "Of all bounds together.", "NUMBER")] = 0.95,
    fixed: Annotated[bool, _option("--fixed", Panel.READING, "Count all runs once; do not stop early.")] = False,
    timeout: Annotated[float, _option("--timeout", Panel.READING, "Of one run of a command.", "SECONDS")] = 300.0,
    jobs: Annotated[
        int | None, _option("--jobs", Panel.READING, "Runs at a time. [as many as processors]", "NUMBER")
    ] = None,
    resume: Annotated[
        str | None, _option("--resume", Panel.DATA, "Keep outcomes here, and go on from them.", "FILE")
    ] = None,
    seed: Annotated[int | None, _option("--seed", Panel.READING, "Of the coins.", "NUMBER")] = None,
    format: FormatOption = Format.table,
    output: OutputOption = None,
) -> None:
    """Audit a release: run it on neighbouring tables and bound from below what it gives away.

    A plan is held against its own promise, on made-up rows; nothing enters a ledger. Another pipeline is a command
    or a function, with a claim and two tables, or one to make pairs from; what it prints is not shown. The catalogue
    has released code that breaks its claim, each case beside a correct twin; exit code 4: not as known.
    Exit code 4: the claim is refuted. A claim that is not refuted is not proven.
    For example: epsilens audit release.yaml
    """
    if catalogue:
        given = {"command": command, "claim": claim, "d0": d0, "d1": d1, "table": table, "pair": pair, "resume": resume}
        for name, value in given.items():
            if value is not None:
                raise InputError(f"--{name} is not for --catalogue: leave it out", name)

        asked = [each for each in (what, *(names or ())) if each is not None]
        audit_catalogue(asked, confidence=confidence, runs=runs, seed=seed, format=format, output=output)
        return
    if names:
        raise InputError(f"there is one thing too many, {shorten(names[0])}: give one WHAT", "what")
    if (what is None) == (command is None):
        both = "nothing to audit is" if what is None else "WHAT and --command are both"
        raise InputError(
            f"{both} named: give a plan such as release.yaml, package.module:function, or --command", "what"
        )
    options: dict[str, Any] = {"claim": claim, "table": table, "pairs": tuple(pair) if pair else None, "seed": seed}
    options |= {"confidence": confidence, "sequential": not fixed} | ({} if runs is None else {"runs": runs})
    options["progress"] = _write_progress if on_terminal() else None
    others: dict[str, Any] = {"d0": d0, "d1": d1, "person": person, "resume": resume, "jobs": jobs}
    found: Audits
    if command is not None or (":" in str(what) and not os.path.isfile(str(what))):
        if claim is None:
            raise InputError('--claim is missing: say what is promised, such as "epsilon=1"', "claim")
        from ..auditing.pipelines import audit_external

        code, ran = (str(what), False) if command is None else (command, True)
        found = audit_external(code, command=ran, timeout=timeout, **others, **options)
    else:
        found = _audit_plan_file(str(what), others, options)
    if on_terminal():
        sys.stderr.write("\r\033[K")
    show(found, format, output)
    if found.refuted:
        raise typer.Exit(ExitCode.EXCEEDED)


def _audit_plan_file(what: str, others: dict[str, Any], options: dict[str, Any]) -> Audits:
    if not os.path.isfile(what):
        raise InputError(f"WHAT is {shorten(what)}, which is no file: give a plan, or package.module:function", "what")
    for name, value in others.items():
        if value is not None:
            raise InputError(f"--{name} is not for a plan: leave it out", name)
    from ..auditing.pipelines import audit_plan

    return audit_plan(what, **options)


def _write_progress(pair: str, now: AuditProgress) -> None:
    sys.stderr.write(f"\r{pair}: {now}\033[K")
    sys.stderr.flush()


def audit_catalogue(
    names: Sequence[str], *, confidence: float, runs: int | None, seed: int | None, format: Format, output: str | None
) -> None:
    """Run the cases of these names, all where there is none, and show what was found; exit code 4 if not as known."""
    from ..auditing.case_catalogue import audit_cases

    told = _write_case if on_terminal() else None
    found = audit_cases(names, confidence=confidence, runs=runs, seed=seed, told=told)
    show(found, format, output)
    if not found.as_known:
        raise typer.Exit(ExitCode.EXCEEDED)


def _write_case(each: CaseResult) -> None:
    sys.stderr.write(f"{each.case.name}: {each.why if each.audit is None else each.audit.verdict}\n")
    sys.stderr.flush()
