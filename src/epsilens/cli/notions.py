"""``epsilens notions``: other definitions of privacy, and what an ε in one of them promises in the others."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..errors import InputError
from .common import Format, FormatOption, OutputOption, parse_number, show

__all__ = ["CONDITIONS", "conditions_given", "notions_command"]

_WHOLE = ("dependent", "records")
#: The conditions by name, as the command line and the page give them.
CONDITIONS = ("priors", "dependent", "records", "full", "least", "diameter", "constrained", "secrets")


def _option(flag: str, help: str, metavar: str = "NUMBER") -> Any:
    return typer.Option(flag, metavar=metavar, help=help)


def conditions_given(said: dict[str, Any]) -> dict[str, Any]:
    """The conditions from text; records are independent unless it is said how many depend on each other."""
    made: dict[str, Any] = {}
    for name in CONDITIONS:
        value = said.get(name)
        if value is None or value is False or value == "":
            continue
        if name in _WHOLE or name in ("least", "diameter"):
            made[name] = parse_number(f"--{name}", str(value))
        else:
            made[name] = value
    return {"dependent": 1, **made}


def notions_command(
    ctx: typer.Context,
    from_: Annotated[
        str | None,
        _option("--from", "The notion that holds: dp, blowfish, pufferfish, ddp, ip, mp, mi, ip-database, …", "NOTION"),
    ] = None,
    to: Annotated[str | None, _option("--to", "The notion asked about.", "NOTION")] = None,
    epsilon: Annotated[str | None, _option("--epsilon", "The ε that holds, or that is wanted without --from.")] = None,
    priors: Annotated[str | None, _option("--priors", "Under one prior or every prior [one].", "one|every")] = None,
    dependent: Annotated[str | None, _option("--dependent", "Records that depend on each other [1].")] = None,
    records: Annotated[str | None, _option("--records", "How many records there are.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Every database is possible under the prior.")] = False,
    least: Annotated[str | None, _option("--least", "Probability no value of a record is below.")] = None,
    diameter: Annotated[str | None, _option("--diameter", "Blowfish: edges between any two values [1].")] = None,
    constrained: Annotated[
        bool, typer.Option("--constrained", help="Blowfish: it is known which databases are possible.")
    ] = False,
    secrets: Annotated[str | None, _option("--secrets", "Pufferfish: records or any [records].", "WORD")] = None,
    format: FormatOption = Format.table,
    output: OutputOption = None,
) -> None:
    """Say what another definition's ε promises; without options, list the definitions.

    For example: epsilens notions --from dp --epsilon 1
    """
    from ..show import notions as report
    from ..show.explanation import command_line

    if from_ is None and to is None:
        if epsilon is not None:
            raise InputError(
                "--epsilon is given without a notion: give --from, or --to for what would be enough",
                parameter="epsilon",
            )
        show(report.listed(), format, output)
        return
    if epsilon is None:
        raise InputError("--epsilon is missing: give the ε of the notion, such as --epsilon 1", parameter="epsilon")
    number, conditions = parse_number("--epsilon", epsilon), conditions_given(ctx.params)
    if from_ is not None and to is not None:
        about = report.between(from_, number, to, **conditions)
    elif from_ is not None:
        about = report.promised(from_, number, **conditions)
    else:
        assert to is not None
        about = report.enough(to, number, **conditions)
    skip = ("format", "output")
    said = {k.rstrip("_"): v for k, v in ctx.params.items() if k not in skip and v is not None and v is not False}
    show(about.with_command(command_line("notions", "", said)), format, output)
