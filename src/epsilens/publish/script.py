"""A plan as a stand-alone script: for those who must run it where nothing but Python and opendp is installed.

The script holds the plan and the rules, and nothing of the data: only the types of the columns are looked up. It cannot
ask the ledger, so it says at its end how to enter what it released.
"""

from __future__ import annotations

import pprint
import re
from importlib.resources import files
from typing import Any

from ..assessment.promise import guarantee_of, promise_of
from ..data.tables.table import open_table
from ..errors import InputError
from ..plan.cells import rules_of
from ..plan.file import about
from ..plan.plan import Release
from .noise import drawings_of
from .words import TOUCHED, interval_of, lost_of, touched_name


def script_of(plan: Release, table: Any = None, engine: Any = None) -> str:
    """The script as text."""
    _possible(plan)
    with about("data.table", engine="engine"):
        opened = open_table(plan.data.table if table is None else table, engine)
    with opened:
        rules = rules_of(plan, opened.table)
    promise = promise_of(plan)
    drawings = drawings_of(plan)
    for i, query in enumerate(rules.plan["queries"]):
        query["drawings"] = {d.noisy.value: d.terms for d in drawings if d.query == i}
        query["interval_of"] = interval_of(plan, i)
        if query["touched"]:
            query["touched"] = {"name": touched_name(query["name"]), "by": [], "interval_of": TOUCHED}
    said = {
        **rules.plan,
        "remarks": [plan.title, guarantee_of(plan, promise), *lost_of(plan)],
        "enter": _enter(plan, promise.charge.to_dict()),
    }
    head = (
        f'"""{_safe(plan.title)}: a release under differential privacy. Needs opendp alone (0.12 or later).\n\n'
        "    python script.py people.csv answers.csv\n\nEach run spends anew: enter each in your ledger.\n" + '"""\n'
    )
    conditions = ",\n    ".join(rules.conditions)
    return (
        f"{head}\n{_code()}\n\n# -- the plan {'-' * 107}\n\nPLAN: dict[str, Any] = "
        f"{pprint.pformat(said, width=116, sort_dicts=False)}\nCONDITIONS: list[Callable[[Row], Any]] = [\n    "
        f'{conditions},\n]\n\nif __name__ == "__main__":\n    sys.exit(run(PLAN, CONDITIONS, sys.argv[1:]))\n'
    )


def _code() -> str:
    """What every script runs: the definition of a plan's cells, and the noise, with all imports first."""
    texts = (("epsilens.plan", "plain_cells.py"), ("epsilens.publish", "standalone.py"))
    lines, imports = [], dict[str, None]()
    for package, name in texts:
        for line in files(package).joinpath(name).read_text("utf-8").split('"""', 2)[2].splitlines():
            if line.startswith(("import ", "from ")):
                imports |= {} if line.startswith("from epsilens") else {line: None}
            else:
                lines.append(line)
    future = "from __future__ import annotations"
    rest = [line for line in sorted(imports) if line != future]
    body = re.sub(r"\n{3,}", "\n\n\n", "\n".join(lines)).strip("\n")
    return "\n".join([future, "", *rest, "", body])


def _safe(text: str) -> str:
    return " ".join(text.replace("\\", " ").replace('"', "'").split())


def _possible(plan: Release) -> None:
    if plan.data.read:
        raise InputError(
            "the plan reads columns of text in some form (data.read), which a script cannot: release it with epsilens, "
            "or write the columns into the CSV as they are read",
            parameter="script",
        )


def _enter(plan: Release, charge: dict[str, float | None]) -> str:
    if charge["epsilon"] is not None:
        delta = f" --delta {charge['slack']!r}" if charge["slack"] else ""
        what = f"{'approximate' if delta else 'pure'} --epsilon {charge['epsilon']!r}{delta}"
        return f"epsilens ledger add {what} --people NAME --title {_safe(plan.title)!r}"
    return f"epsilens ledger add gaussian --psi {charge['psi']!r} --people NAME --title {_safe(plan.title)!r}"
