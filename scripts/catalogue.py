"""``python -m scripts.catalogue [FOLDER]``: print the docs' tables, or write them between their marks in a folder."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from epsilens.catalogue.commands import COMMANDS, ExitCode, Option, command_options
from epsilens.catalogue.mechanisms import CLAIMS, MECHANISMS, MechanismEntry, Purpose
from epsilens.catalogue.parameters import Input, Panel, option_flag
from epsilens.catalogue.readings import READINGS, Reading

_MARKED = re.compile(r"(<!-- catalogue: ([\w-]+) -->\n).*?(\n<!-- end -->)", re.DOTALL)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join([_line(head), "|---" * len(head) + "|", *map(_line, rows)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def _code(names: Iterable[str], between: str = ", ") -> str:
    return between.join(f"`{name}`" for name in names)


def _ways(mechanism: MechanismEntry) -> str:
    """`sigma`, `psi` or `epsilon` with `delta`; and what is needed besides."""
    ways = [_code(way, " with ") for way in mechanism.ways]
    said = " or ".join([", ".join(ways[:-1]), ways[-1]] if len(ways) > 1 else ways)
    besides = [name for name in mechanism.needs if not any(name in way for way in mechanism.ways)]
    return ", ".join([said, *(f"`{name}`" for name in besides)])


def _mechanisms() -> str:
    rows = []
    for m in sorted(MECHANISMS.values(), key=lambda m: list(Purpose).index(m.family)):
        others = [n for n in m.takes if n not in m.needs and not any(n in way for way in m.ways)]
        rows.append([f"`{m.key}`", _ways(m), _code(others), m.note])
    return _table(["Mechanism", "Say it by", "Takes besides", "Notes"], rows)


def _claims() -> str:
    rows = [
        [f"`{c.key}`", _code(c.needs), _code(n for n in c.takes if n not in c.needs), c.note] for c in CLAIMS.values()
    ]
    return _table(["Claim", "Say it by", "Takes besides", "Notes"], rows)


def _signature(reading: Reading) -> str:
    return f"`{reading.name}({', '.join((*reading.required, *reading.either[:1], *reading.optional))})`"


def _readings() -> str:
    rows = [[_signature(r), f"${r.formula}$", r.meaning, r.without, r.example] for r in READINGS.values()]
    return _table(["Reading", "Formula", "What it means", "Baseline", "Laplace, ε = 1"], rows)


def _exits() -> str:
    return _table(["Code", "Meaning"], ([str(int(code)), code.meaning] for code in ExitCode))


def _row(option: Option) -> list[str]:
    p = option.parameter
    value = "" if p.kind is Input.FLAG else f" {option.metavar.strip('[]')}"
    flags = ", ".join(option_flag(name) for name in (p.name, *p.aliases))
    shown = f"`{option.metavar if option.positional else flags + value}`".replace("|", "\\|")
    return [shown, p.explained(option_flag), _default(option)]


def _default(option: Option) -> str:
    p = option.parameter
    if option.needed:
        return "needed"
    if p.kind is Input.FLAG:
        return "on" if option.default else ""
    usual = p.usual if p.kind is Input.WORD else None
    return p.shown or str(option.default or usual or "")


def _options(command: str) -> Callable[[], str]:
    def table() -> str:
        options = command_options(command)
        rows = [["Argument", *_row(o)] for o in options if o.positional]
        rows += [
            [panel.value, *_row(o)]
            for panel in Panel
            for o in options
            if o.parameter.panel is panel and not o.positional
        ]
        shown = [["" if i and rows[i - 1][0] == row[0] else row[0], *row[1:]] for i, row in enumerate(rows)]
        return _table(["", "Option", "What it says", "Unless given"], shown)

    return table


#: The tables by the name in their mark.
TABLES: dict[str, Callable[[], str]] = {
    "mechanisms": _mechanisms,
    "claims": _claims,
    "readings": _readings,
    "exit-codes": _exits,
    **{command: _options(command) for command in COMMANDS},
}


def refresh_page(page: str) -> str:
    """A page with the tables between its marks made anew.

    >>> refresh_page("<!-- catalogue: exit-codes -->\\nold\\n<!-- end -->").splitlines()[3]
    '| 0 | Fine. |'
    """
    return _MARKED.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}{found[3]}", page)


def main(arguments: list[str]) -> None:
    """Print every table, or refresh the pages of a folder."""
    if not arguments:
        sys.stdout.write("\n\n".join(f"## {name}\n\n{table()}" for name, table in TABLES.items()) + "\n")
        return
    for page in sorted(Path(arguments[0]).glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if refresh_page(text) != text:
            page.write_text(refresh_page(text), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
