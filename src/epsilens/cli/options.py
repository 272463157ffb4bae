"""How a command takes its options: from the catalogue, once each, and listed under headings in its help."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from ..catalogue.commands import Option, options_of
from ..catalogue.mechanisms import CLAIMS, MECHANISMS, every_option
from ..catalogue.parameter import Kind, Panel, flag
from ..catalogue.said import shortened
from ..errors import InputError, meant
from .common import TYPED, Format, Said
from .completion import completer


class Grouped(TyperCommand):
    """A command in plain text: options under the headings of their panels, and each given once unless it may repeat.

    Behind a mechanism (``explain laplace --help``), help and completion keep to what that mechanism takes.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Look for options that come twice, then read the arguments as usual."""
        if ctx.resilient_parsing:  # a shell asks: an option whose value is still to come would hide the arguments
            args = args[:-1] if args and args[-1].startswith("-") else args
        else:
            typed, _, order = self.make_parser(ctx).parse_args(args=list(args))
            ctx.meta[TYPED] = typed
            for i, each in enumerate(order):
                if each in order[:i] and each.param_type_name == "option" and not getattr(each, "multiple", False):
                    name = max(each.opts, key=len)
                    raise InputError(f"{name} is given twice: give it once", parameter=each.name or "")
        return list(super().parse_args(ctx, args))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and then each panel."""
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], **{p.value: [] for p in Panel}}
        spoken, names = _mechanism(ctx.meta.get(TYPED, {}))
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is not None and (names is None or each.name in names):
                positional = each.param_type_name == "argument"
                # what has no panel of its own, --help among it, stands with the output
                panel = "Arguments" if positional else getattr(each, "rich_help_panel", None) or Panel.OUTPUT.value
                panels[panel].append(record)
        for title, records in panels.items():
            if records:
                of_one = spoken and title == Panel.NOISE.value
                with formatter.section(f"{title} of {spoken}" if of_one else title):
                    formatter.write_dl(records)
        if names is None and any(each.name == "mechanism" for each in self.get_params(ctx)):
            formatter.write_paragraph()
            formatter.write_text(f"The options of one mechanism alone: {ctx.command_path} laplace --help")

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """What a shell offers, without the options another mechanism takes."""
        _, names = _mechanism(ctx.params)
        offered = super().shell_complete(ctx, incomplete)
        if names is None:
            return offered
        flags = {flag for each in self.get_params(ctx) if each.name in names for flag in each.opts}
        return [each for each in offered if not each.value.startswith("-") or each.value in flags]


def _mechanism(typed: Mapping[str, Any]) -> tuple[str, _Names | None]:
    """The mechanism that was typed, and the options that go with it; None where there is none."""
    key = str(typed.get("mechanism") or "").strip().lower().replace("-", "_")
    entry = MECHANISMS.get(key) or CLAIMS.get(key)
    return ("", None) if entry is None else (entry.spoken, _Names(entry.takes))


class _Names:
    """The options of a command that go with a mechanism: its own, and those no mechanism takes."""

    def __init__(self, takes: Iterable[str]) -> None:
        everyone = {*every_option(), *(name for claim in CLAIMS.values() for name in claim.takes)}
        self._others = {_identifier(name) for name in everyone.difference(takes)}

    def __contains__(self, name: object) -> bool:
        return name not in self._others


class Commands(TyperGroup):
    """Commands listed under the headings of their panels, each with its whole first sentence."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is named, or a sentence with the one that was meant."""
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            close = meant(name, self.list_commands(ctx))
            raise InputError(f"there is no command {shortened(name)}{close}: see '{ctx.command_path} --help'")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each panel of commands."""
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


def command(name: str, run: Callable[[Said], None]) -> Callable[..., None]:
    """The function typer registers: its signature has every option the catalogue declares for the command."""
    options = {_identifier(o.name): o for o in options_of(name)}

    def called(ctx: typer.Context, **_: Any) -> None:
        run({options[k].name: v for k, v in ctx.params.items() if k in options})

    annotations: dict[str, Any] = {k: _annotation(o) for k, o in options.items()}
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


def _default(option: Option, none: Any) -> Any:
    if option.needed:
        return none
    if option.name == "format":
        return Format(option.default)
    return option.default is True if option.parameter.kind is Kind.FLAG else option.default


def _annotation(option: Option) -> Any:
    """The type of an option, with what typer needs to know."""
    p = option.parameter
    offered: dict[str, Any] = {"help": option.help, "autocompletion": completer(option)}
    if option.positional:
        info: Any = typer.Argument(metavar=option.metavar.strip("[]"), **offered)
        if option.repeated:
            return Annotated[list[str], info]
        return Annotated[str, info] if option.needed else Annotated[str | None, info]
    flags = [flag(n) for n in (p.name, *p.aliases)]
    offered["rich_help_panel"] = p.panel.value
    if p.kind is Kind.FLAG:
        if option.default is True:
            flags = [f"{flags[0]}/--no-{flags[0].removeprefix('--')}"]
        return Annotated[bool, typer.Option(*flags, **offered)]
    if option.name == "format":
        return Annotated[Format, typer.Option(*flags, **offered)]
    info = typer.Option(*flags, metavar=option.metavar, **offered)
    kind: Any = list[str] if option.repeated else str
    return Annotated[kind, info] if option.needed or option.default is not None else Annotated[kind | None, info]
