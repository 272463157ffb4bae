"""The command line: ``epsilens explain | choose | assess | init | serve | scan | ledger | …``.

Each command is a function in :mod:`epsilens.cli`, registered below by one line; what they share, and how to add
one, is in :mod:`epsilens.cli.console`; the exit codes are those of :class:`epsilens.catalogue.commands.ExitCode`.
Nothing here imports numpy: commands import the library when they run.

What a shell offers when a key is pressed: mechanisms, readings, words, and the columns of the table that is named.

``epsilens --install-completion`` teaches the shell to ask. Completion never fails: where nothing is found, nothing is
offered, and the shell goes on with the names of files.
"""

from __future__ import annotations

import csv
import inspect
import keyword
import socket
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from typer.core import TyperCommand, TyperGroup

from .. import __version__
from ..catalogue.commands import COMMANDS, Option, command_options
from ..catalogue.deployments import deployments
from ..catalogue.mechanisms import CLAIMS, MECHANISMS, CatalogueEntry, every_option
from ..catalogue.parameters import Input, Panel, option_flag
from ..catalogue.parsing import shorten
from ..catalogue.readings import READINGS
from ..errors import InputError, MissingExtra, suggestion
from ..results import escape_controls
from .console import RAW_OPTIONS, Format, Options, emit, run
from .explain import certify, choose, compare, difference, explain, identify, notions, reproduce, tamper
from .plans import LEDGER, assess, audit, correlate, init, ledger, release, scan

# ``epsilens serve``: the page, on this machine.

Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen; this machine only by default.")]
Port = Annotated[int, typer.Option("--port", metavar="NUMBER", help="0 takes any free port.")]
LedgerOption = Annotated[
    str | None,
    typer.Option(
        "--ledger", metavar="URL", help="Show this ledger, and release into it what is confirmed on the page."
    ),
]
Open = Annotated[bool, typer.Option("--open", help="Open the page in a browser.")]


def serve(host: Host = "127.0.0.1", port: Port = 8000, open: Open = False, ledger: LedgerOption = None) -> None:
    """Show the page: explain, choose, assess and compare in a browser.

    For example: epsilens serve --open
    """
    if not 0 <= port <= 65535:
        raise InputError(f"--port is {port}: give a number from 0 to 65535", "port")
    try:
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtra(error.name or "uvicorn", extra="web", purpose="the page") from error
    from ..web.app import create_app, server_of
    from ..web.limits import is_loopback

    kept = None
    if ledger is not None:
        from ..ledger.ledger import Ledger

        kept = Ledger(ledger)
        kept.accounts()  # told before anything is promised
    host = host.strip().removeprefix("[").removesuffix("]")
    listening = listen(host, port)
    try:
        url = address_of(host, listening.getsockname()[1])
        if not is_loopback(host):
            sys.stderr.write(
                f"--host is {host}: everyone who can reach this machine over the network can use the page, there is no "
                "password, and what they send is not encrypted; leave --host out to keep it to this machine\n"
            )
        emit(f"The page is at {url} (stop it with Ctrl+C)", None)
        if open:
            import webbrowser

            webbrowser.open(url)
        server_of(create_app(host, ledger=kept) if kept else create_app(host)).run(sockets=[listening])
    finally:
        listening.close()


def address_of(host: str, port: int) -> str:
    """What to type into a browser on this machine; a server that listens everywhere is found here too.

    >>> address_of("::1", 8000), address_of("0.0.0.0", 80)
    ('http://[::1]:8000/', 'http://127.0.0.1:80/')
    """
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/"


def listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError):
        raise InputError(
            f"--host is {host[:60]!r}: give an address of this machine, such as 127.0.0.1", "host"
        ) from None
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(128)
    except PermissionError:
        made.close()
        raise InputError(f"--port is {port}: this port is not open to you, so give one above 1023", "port") from None
    except OSError as error:
        made.close()
        import errno

        if error.errno == errno.EADDRINUSE:
            raise InputError(
                f"--port is {port}: another program uses it, so give another port or 0 for a free one", "port"
            ) from None
        raise InputError(
            f"--host is {host[:60]!r}: {error.strerror}; give an address of this machine", "host"
        ) from None
    return made


#: What is offered: the word, and a few words on it.
Completions: TypeAlias = list[tuple[str, str]]
Completer: TypeAlias = Callable[[typer.Context, str], Completions]

#: Options whose value is one column, or several with commas between them.
_COLUMN_OPTIONS = ("person", "column", "by", "time", "partition")
_COLUMN_LISTS = ("quasi", "columns")
_DELIMITERS = frozenset(",;\t|")


def completer(option: Option) -> Completer | None:
    """What completes the value of an option; None where that is for the shell.

    >>> from epsilens.catalogue.commands import command_options
    >>> limit = next(o for o in command_options("choose") if o.name == "at_most")
    >>> completer(limit)(None, "su")
    [('success=', 'right guesses')]
    """
    name, choices = option.name, option.parameter.choices
    if name == "mechanism":
        return lambda ctx, incomplete: _matching(_entries(option), incomplete.lower().replace("_", "-"))
    if name == "settings":
        return lambda ctx, incomplete: _setting(incomplete)
    if name in ("at_most", "limit"):
        return lambda ctx, incomplete: _matching(_limits(), incomplete)
    if name == "parameter":
        return lambda ctx, incomplete: _matching(_parameters(ctx.params), incomplete)
    if choices:
        return lambda ctx, incomplete: _matching(choices.items(), incomplete)
    if name in _COLUMN_LISTS:
        return lambda ctx, incomplete: _list_completions(_table_columns(ctx.params), incomplete)
    if name in _COLUMN_OPTIONS and option.parameter.metavar in ("COLUMN", "NAME"):
        return lambda ctx, incomplete: _matching(_table_columns(ctx.params), incomplete)
    return None


def _matching(offered: Iterable[tuple[str, str]], begun: str) -> Completions:
    return [(word, help) for word, help in offered if word.startswith(begun)]


def _list_completions(offered: Iterable[tuple[str, str]], begun: str) -> Completions:
    """Completions of the last of several words with commas between them, without those that stand before it."""
    before, comma, last = begun.rpartition(",")
    taken = {word.strip() for word in before.split(",")}
    return [(f"{before}{comma}{word}", help) for word, help in _matching(offered, last.strip()) if word not in taken]


def _entries(option: Option) -> Completions:
    claims = "claim" in option.parameter.help
    known: dict[str, CatalogueEntry] = {**MECHANISMS, **(CLAIMS if claims else {})}
    named = "deployment" in option.parameter.help
    published = [(each.name, each.title) for each in deployments()] if named else []
    return [*((entry.spoken, entry.title) for entry in known.values()), *published]


def _setting(begun: str) -> Completions:
    """``lap`` becomes ``laplace:``, and behind the colon come the parameters."""
    known: dict[str, CatalogueEntry] = {**MECHANISMS, **CLAIMS}
    name, colon, rest = begun.partition(":")
    if not colon:
        return _matching([(f"{entry.spoken}:", entry.title) for entry in known.values()], begun)
    key = name.lower().replace("-", "_")
    if key not in known:
        return []
    before, comma, last = rest.rpartition(",")
    return [(f"{name}:{before}{comma}{each}=", option_flag(each)) for each in known[key].takes if each.startswith(last)]


def _limits() -> Completions:
    return [(f"{r.name.replace('_', '-')}=", r.label) for r in READINGS.values() if r.name != "tradeoff"]


def _parameters(params: Mapping[str, object]) -> Completions:
    key = str(params.get("mechanism") or "").strip().lower().replace("-", "_")
    return [(name, option_flag(name)) for name in MECHANISMS[key].takes] if key in MECHANISMS else []


def _table_columns(params: Mapping[str, Any]) -> Completions:
    table = params.get("table")
    return [(name, "") for name in columns_of(table)] if table else []


def columns_of(table: str) -> list[str]:
    """The names of a table's columns; of a CSV file its first line, without opening the rest. None where it fails."""
    with suppress(Exception):  # completion never fails
        path = Path(table)
        if path.suffix.lower() in (".csv", ".tsv", ".txt") and path.is_file():
            with path.open(newline="", encoding="utf-8-sig") as file:
                line = file.readline(1_000_000)
            between = max(_DELIMITERS, key=line.count)
            names = next(csv.reader([line], delimiter=between), [])
        else:
            from ..data.tables.table import open_table

            with open_table(table) as opened:
                names = [str(name) for name in opened.table.columns]
        return [name for name in names if name and escape_controls(name) == name]
    return []


class PanelCommand(TyperCommand):
    """A command in plain text: options under the headings of their panels, and each given once unless it may repeat.

    Behind a mechanism (``explain laplace --help``), help and completion keep to what that mechanism takes.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Look for options that come twice, then read the arguments as usual."""
        if ctx.resilient_parsing:  # a shell asks: an option whose value is still to come would hide the arguments
            args = args[:-1] if args and args[-1].startswith("-") else args
        else:
            typed, _, order = self.make_parser(ctx).parse_args(args=list(args))
            ctx.meta[RAW_OPTIONS] = typed
            for i, each in enumerate(order):
                if each in order[:i] and each.param_type_name == "option" and not getattr(each, "multiple", False):
                    name = max(each.opts, key=len)
                    raise InputError(f"{name} is given twice: give it once", each.name or "")
        return list(super().parse_args(ctx, args))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], **{p.value: [] for p in Panel}}
        spoken, others = _mechanism(ctx.meta.get(RAW_OPTIONS, {}))
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is not None and each.name not in others:
                positional = each.param_type_name == "argument"
                # what has no panel of its own, --help among it, stands with the output
                panel = "Arguments" if positional else getattr(each, "rich_help_panel", None) or Panel.OUTPUT.value
                panels[panel].append(record)
        for title, records in panels.items():
            if records:
                of_one = spoken and title == Panel.NOISE.value
                with formatter.section(f"{title} of {spoken}" if of_one else title):
                    formatter.write_dl(records)
        if not spoken and any(each.name == "mechanism" for each in self.get_params(ctx)):
            formatter.write_paragraph()
            formatter.write_text(f"The options of one mechanism alone: {ctx.command_path} laplace --help")

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """What a shell offers, without the options another mechanism takes."""
        _, others = _mechanism(ctx.params)
        hidden = {flag for each in self.get_params(ctx) if each.name in others for flag in each.opts}
        return [each for each in super().shell_complete(ctx, incomplete) if each.value not in hidden]


def _mechanism(typed: Mapping[str, object]) -> tuple[str, frozenset[str]]:
    """The mechanism that was typed, and the options that only others take; nothing where there is none."""
    key = str(typed.get("mechanism") or "").strip().lower().replace("-", "_")
    entry = MECHANISMS.get(key) or CLAIMS.get(key)
    if entry is None:
        return "", frozenset()
    everyone = {*every_option(), *(name for claim in CLAIMS.values() for name in claim.takes)}
    return entry.spoken, frozenset(map(_identifier, everyone.difference(entry.takes)))


class PanelGroup(TyperGroup):
    """Commands listed under the headings of their panels, each with its whole first sentence."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is named, or a sentence with the one that was meant."""
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            close = suggestion(name, self.list_commands(ctx))
            raise InputError(f"there is no command {shorten(name)}{close}: see '{ctx.command_path} --help'")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            each = self.get_command(ctx, name)
            if each is not None and not each.hidden:
                panel = getattr(each, "rich_help_panel", None) or "Commands"
                panels.setdefault(str(panel), []).append((name, _first_sentence(each.help or "")))
        widest = max(len(name) for records in panels.values() for name, _ in records)
        for title, records in panels.items():
            with formatter.section(title):  # every panel with its descriptions in one line below the other
                formatter.write_dl([(name.ljust(widest), told) for name, told in records])


def _first_sentence(text: str) -> str:
    """The first sentence of a command's help.

    >>> _first_sentence("Find the people. Exit code 4: too many.")
    'Find the people.'
    """
    told = " ".join(text.split("\n\n")[0].split())
    return told.partition(". ")[0].removesuffix(".") + "."


def command(name: str, run: Callable[[Options], None]) -> Callable[..., None]:
    """The function typer registers: its signature has every option the catalogue declares for the command."""
    options = {_identifier(o.name): o for o in command_options(name)}

    def called(ctx: typer.Context, **_: object) -> None:
        run({options[k].name: v for k, v in ctx.params.items() if k in options})

    annotations: dict[str, object] = {k: _annotation(o) for k, o in options.items()}
    shown = [
        inspect.Parameter(
            k, inspect.Parameter.KEYWORD_ONLY, annotation=annotations[k], default=_default(o, inspect.Parameter.empty)
        )
        for k, o in options.items()
    ]
    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    called.__signature__ = inspect.Signature([context, *shown])  # type: ignore[attr-defined]
    called.__annotations__ = {"ctx": typer.Context, **annotations}
    called.__name__, called.__doc__ = name, run.__doc__
    return called


def _identifier(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _default(option: Option, none: object) -> Any:
    if option.needed:
        return none
    if option.name == "format":
        return Format(str(option.default))
    return option.default is True if option.parameter.kind is Input.FLAG else option.default


def _annotation(option: Option) -> Any:
    p = option.parameter
    offered: dict[str, Any] = {"help": option.help, "autocompletion": completer(option)}
    if option.positional:
        info: Any = typer.Argument(metavar=option.metavar.strip("[]"), **offered)
        if option.repeated:
            return Annotated[list[str], info]
        return Annotated[str, info] if option.needed else Annotated[str | None, info]
    flags = [option_flag(n) for n in (p.name, *p.aliases)]
    offered["rich_help_panel"] = p.panel.value
    if p.kind is Input.FLAG:
        if option.default is True:
            flags = [f"{flags[0]}/--no-{flags[0].removeprefix('--')}"]
        return Annotated[bool, typer.Option(*flags, **offered)]
    if option.name == "format":
        return Annotated[Format, typer.Option(*flags, **offered)]
    info = typer.Option(*flags, metavar=option.metavar, **offered)
    kind: Any = list[str] if option.repeated else str
    return Annotated[kind, info] if option.needed or option.default is not None else Annotated[kind | None, info]


#: In the order of help, under their headings. Those the catalogue declares options for take what was said; the others
#: spell theirs out.
_COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "Noise and what it means": (explain, choose, compare, certify),
    "A table and its release": (init, scan, assess, release, audit, correlate),
    "One attack": (difference, tamper, identify),
    "More": (notions, reproduce, serve),
}
_EXITS = (
    "Exit codes: 0 fine, 1 a fault of epsilens, 2 bad input, 3 nothing satisfies the limit, 4 a limit is exceeded or a "
    "claim is broken, 5 what was made, and may be spent, could not be written, 129, 130 and 143 stopped."
)


def make_app() -> typer.Typer:
    """The command line, with the options of whatever the catalogue holds now."""
    made = typer.Typer(
        name="epsilens",
        cls=PanelGroup,
        epilog=_EXITS,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # plain help: fast, and readable at any width and in any encoding
    )
    for panel, functions in _COMMANDS.items():
        for function in functions:
            name = function.__name__
            called = command(name, function) if name in COMMANDS else function
            made.command(name, cls=PanelCommand, rich_help_panel=panel)(called)
    kept = typer.Typer(cls=PanelGroup, rich_markup_mode=None)
    for word, function in LEDGER.items():
        kept.command(word, cls=PanelCommand)(command(f"ledger-{word}", function))
    kept.callback(invoke_without_command=True)(ledger)
    made.add_typer(kept, name="ledger", rich_help_panel="A table and its release")
    made.callback(invoke_without_command=True)(_epsilens)
    return made


def _epsilens(
    ctx: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    """See ε through the adversary's eyes: what an attacker learns from a differentially private release."""
    if version:
        emit(f"epsilens {__version__}", None)
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        emit(ctx.get_help(), None)


app = make_app()


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # help has Greek letters: a terminal without them shows a question mark
            stream.reconfigure(errors="replace")
    sys.exit(run(typer.main.get_command(app)))


if __name__ == "__main__":
    main()
