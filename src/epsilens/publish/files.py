"""The file of a release: CSV, JSON, Parquet or a page. It is there whole, or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
import pprint
import re
import tempfile
from contextlib import suppress
from enum import StrEnum
from importlib.resources import files
from pathlib import Path

from ..assessment.provenance import guarantee_sentence, plan_guarantee
from ..data.tables.table import open_table
from ..errors import InputError, WriteError, require
from ..plan.cells import rules_of
from ..plan.file import error_place
from ..plan.model import Release
from .answers import TOUCHED, Published, drawings_of, interval_of, loss_sentences, touched_name

#: Bytes for which a disk must have room before anything is spent; few files of answers are longer.
_ROOM = 1 << 16
#: Of the file, beside those that queries are split by.
_COLUMNS = ("query", "answer", "low", "high", "interval_of")


class OutputFormat(StrEnum):
    """How answers are written."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"
    HTML = "html"


def output_format(output: str | os.PathLike[str] | None, format: str | None) -> OutputFormat:
    """The form that was asked for, or that the file's name ends in.

    >>> output_format("answers.parquet", None), output_format("answers.txt", None)
    (<OutputFormat.PARQUET: 'parquet'>, <OutputFormat.CSV: 'csv'>)
    """
    if format is not None:
        try:
            return OutputFormat(str(format).lower())
        except ValueError:
            raise InputError(
                f"format is {str(format)[:20]!r}: give one of {', '.join(OutputFormat)}", parameter="format"
            ) from None
    ending = Path(output).suffix.lstrip(".").lower() if output is not None else ""
    if ending == "htm":
        return OutputFormat.HTML
    return OutputFormat(ending) if ending in tuple(OutputFormat) else OutputFormat.CSV


def check_writable(path: Path) -> None:
    """Refuse a file that cannot be written, on a full disk too, before anything is spent on it."""
    if os.path.isdir(path):
        raise _refused(path, "it is a folder")
    try:
        str(path).encode()  # the ledger keeps it
        with suppress(FileNotFoundError):
            path.lstat()  # a name that no file can have
        handle, name = tempfile.mkstemp(prefix=".epsilens", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(bytes(_ROOM))
        finally:
            os.unlink(name)
    except ValueError:
        raise _refused(path, "it has letters that no name has") from None
    except OSError as error:
        raise _refused(path, error.strerror or str(error)) from None


def save(made: Published, path: Path, form: OutputFormat) -> None:
    """Write the file; where that fails, what was just spent is said to be."""
    content = file_content(made, form)
    try:
        handle, name = tempfile.mkstemp(prefix=".epsilens", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(name, 0o666 & ~umask)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        why = error.strerror or str(error)
        if made.kind != "release" or not made.ledger:
            raise _refused(path, why) from None
        raise WriteError(
            f"output is {str(path)[:80]!r}: {why}; the answers are in the ledger, and spent; run again with another "
            "--output, which costs nothing",
            parameter="output",
        ) from None


def _refused(path: Path, why: str) -> InputError:
    return InputError(
        f"output is {str(path)[:80]!r}: {why}; give a file in a folder that exists and may be written to",
        parameter="output",
    )


def file_content(made: Published, form: OutputFormat) -> bytes:
    match form:
        case OutputFormat.JSON:
            return (json.dumps(made.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
        case OutputFormat.HTML:
            return made.to_html().encode()
        case OutputFormat.PARQUET:
            return _parquet(made)
        case _:
            return _csv(made).encode()


def rows_of(made: Published) -> list[dict[str, object]]:
    """The answers, a row each, with a column for every column that some query is split by."""
    columns = list(dict.fromkeys(name for answer in made.answers for name, _ in answer.group))
    return [
        {
            "query": answer.name,
            # a column of the table may be called as one of ours
            **{f"{n} (group)" if n in _COLUMNS else n: dict(answer.group).get(n) for n in columns},
            "answer": answer.answer,
            "low": answer.low,
            "high": answer.high,
            "interval_of": answer.interval_of,
        }
        for answer in made.answers
    ]


def _csv(made: Published) -> str:
    """Lines that begin with # say what it is; then a header and the answers."""
    out = io.StringIO()
    for line in remarks_of(made):
        out.write(f"# {' '.join(line.split())}\n")
    rows = rows_of(made)
    heads = list(rows[0]) if rows else list(_COLUMNS)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_plain(head) for head in heads])
    for row in rows:
        writer.writerow([_plain(row[head]) for head in heads])
    return out.getvalue()


def _plain(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula."""
    if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + cell
    return "" if cell is None else cell


def remarks_of(made: Published) -> list[str]:
    """What a file says of itself before its numbers."""
    lines = [made.title, made.guarantee, *made.lost]
    if made.kind == "synthetic":
        lines.insert(0, "MADE UP: these are answers about rows that nobody wrote down. Nothing was spent.")
    lines.append(f"Released {made.at}" + (f" as {made.release}" if made.release else ""))
    if made.ledger:
        lines.append(f"Ledger: account {made.account}, head {made.head}")
    lines.append(", ".join(f"{name} {version}" for name, version in made.versions.items()))
    lines.append("Plan: " + json.dumps(made.plan.public(), ensure_ascii=False))
    return lines


def _parquet(made: Published) -> bytes:
    pa = require("pyarrow", "writing Parquet", "data")
    pq = require("pyarrow.parquet", "writing Parquet", "data")
    rows = rows_of(made)
    table = pa.Table.from_pylist(rows) if rows else pa.table({"query": pa.array([], pa.string())})
    about = {"epsilens": json.dumps(made.to_dict(), ensure_ascii=False, allow_nan=False)}
    sink = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(about), sink)
    return sink.getvalue()


def script_of(plan: Release, table: object = None, engine: object = None) -> str:
    _check_scriptable(plan)
    with error_place("data.table", engine="engine"):
        opened = open_table(plan.data.table if table is None else table, engine)
    with opened:
        rules = rules_of(plan, opened.table)
    promise = plan_guarantee(plan)
    drawings = drawings_of(plan)
    for i, query in enumerate(rules.plan["queries"]):
        query["drawings"] = {d.noisy.value: d.terms for d in drawings if d.query == i}
        query["interval_of"] = interval_of(plan, i)
        if query["touched"]:
            query["touched"] = {"name": touched_name(query["name"]), "by": [], "interval_of": TOUCHED}
    said = {
        **rules.plan,
        "remarks": [plan.title, guarantee_sentence(plan, promise), *loss_sentences(plan)],
        "enter": _ledger_command(plan, promise.charge.to_dict()),
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
                imports |= {} if line.startswith("from .") else {line: None}
            else:
                lines.append(line)
    future = "from __future__ import annotations"
    rest = [line for line in sorted(imports) if line != future]
    body = re.sub(r"\n{3,}", "\n\n\n", "\n".join(lines)).strip("\n")
    return "\n".join([future, "", *rest, "", body])


def _safe(text: str) -> str:
    return " ".join(text.replace("\\", " ").replace('"', "'").split())


def _check_scriptable(plan: Release) -> None:
    if plan.data.read:
        raise InputError(
            "the plan reads columns of text in some form (data.read), which a script cannot: release it with epsilens, "
            "or write the columns into the CSV as they are read",
            parameter="script",
        )


def _ledger_command(plan: Release, charge: dict[str, float | None]) -> str:
    if charge["epsilon"] is not None:
        delta = f" --delta {charge['slack']!r}" if charge["slack"] else ""
        what = f"{'approximate' if delta else 'pure'} --epsilon {charge['epsilon']!r}{delta}"
        return f"epsilens ledger add {what} --account NAME --title {_safe(plan.title)!r}"
    return f"epsilens ledger add gaussian --psi {charge['psi']!r} --account NAME --title {_safe(plan.title)!r}"
