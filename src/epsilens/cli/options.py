"""A command's options from the catalogue: typer's parameters, and help that lists them under headings.

A command is a function of what was said, one mapping; :func:`command` gives typer the signature it reads options from.
"""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeAlias

import typer
from typer.core import TyperCommand

from ..catalogue.commands import Option, options_of
from ..catalogue.parameter import Kind, Panel, flag
from ..catalogue.said import is_said
from .common import Format

__all__ = ["Grouped", "Said", "command", "to_repeat"]

#: What was said, by the catalogue's names, in the order in which it was typed; None where nothing was.
Said: TypeAlias = Mapping[str, Any]


class Grouped(TyperCommand):
    """A command whose help lists the options under the headings of their panels, in plain text."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and then each panel."""
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], **{p.value: [] for p in Panel}}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is not None:
                positional = each.param_type_name == "argument"
                # what has no panel of its own, --help among it, stands with the output
                panel = "Arguments" if positional else getattr(each, "rich_help_panel", None) or Panel.OUTPUT.value
                panels[panel].append(record)
        for title, records in panels.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


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
    if option.positional:
        metavar = option.metavar if option.needed else f"[{option.metavar}]"
        info: Any = typer.Argument(metavar=metavar.strip("[]"), help=option.help)
        return Annotated[str, info] if option.needed else Annotated[str | None, info]
    flags = [flag(n) for n in (p.name, *p.aliases)]
    if p.kind is Kind.FLAG:
        if option.default is True:
            flags = [f"{flags[0]}/--no-{flags[0].removeprefix('--')}"]
        return Annotated[bool, typer.Option(*flags, help=option.help, rich_help_panel=p.panel.value)]
    if option.name == "format":
        return Annotated[Format, typer.Option(*flags, help=option.help, rich_help_panel=p.panel.value)]
    info = typer.Option(*flags, metavar=option.metavar, help=option.help, rich_help_panel=p.panel.value)
    kind: Any = list[str] if option.repeated else str
    return Annotated[kind, info] if option.needed or option.default is not None else Annotated[kind | None, info]


def to_repeat(said: Said, *without: str) -> dict[str, Any]:
    """Every option as it was typed, without how and where to write, for the line that reproduces the result."""
    skip = ("mechanism", "format", "output", *without)
    return {k: v for k, v in said.items() if k not in skip and is_said(v)}
