"""What a worker does: understand a table, assess a release on it, share ε differently.

A request and its answer are plain JSON (:class:`~epsilens.web.pool.TaskRequest`). What a task needs is imported
here, once, by the process that workers are forked from.

For a release it says what that would publish and spend; then, once that is confirmed, it makes it. The order is the
library's (:mod:`epsilens.publish.release`): the plan is assessed once more, the room in the ledger is taken, and only
then noise is drawn. From its beginning to its end nothing of ours ends the process.

The server keeps nothing about an uploaded table once its report is sent, so the page itself carries what another
division of ε needs (:class:`~epsilens.assessment.split.SplitBasis`: a few kilobytes, no names of groups) and sends it
back with the shares. It comes from outside then, like any entry: it is read as plain data, where time and memory are
limited, and what it says is shown to nobody but its sender.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from pydantic import TypeAdapter, ValidationError

from ..assessment.assess import Assessment, assess
from ..assessment.split import SplitBasis, basis_of, division, resplit
from ..data.tables.columns import parse_columns
from ..data.tables.engines import Engine
from ..data.tables.sources import Bundled, bundled_dataset, names, source_of
from ..data.tables.table import OpenTable, open_table
from ..errors import EpsilensError, InputError
from ..ledger.ledger import Ledger
from ..plan.file import parse_yaml, read_release
from ..plan.labels import normalized_plan
from ..plan.model import Release, Split
from ..plan.starter import init
from ..publish.files import OutputFormat, file_content
from ..publish.release import release
from ..show.assessment.board import board
from ..show.assessment.report import HEADING, present, resplit_data, resplit_sentence, resplit_table
from ..show.assessment.tables import share, title
from ..show.charts.chart import Chart
from ..show.document import Block, Document, Figure, Figures, Forms, Part
from ..show.presenters import document
from ..show.releases import PLAN
from ..show.render import html
from ..show.render.pdf import to_pdf
from .pages import in_base64
from .papers import paper_content
from .pool import Message, TaskRequest

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from ..data.schema.inference import TableSchema


_Tell = Callable[[int, int, str], None]
#: Values offered for a condition: those of columns with few of them, and none as long as a sentence.
_MOST_VALUES, _LONGEST_VALUE = 30, 80


@dataclass(frozen=True)
class Task:
    """A request, who hears how far it is, and what is to be done before a table is read."""

    request: TaskRequest
    tell: _Tell | None = None
    reading: Callable[[], None] = lambda: None
    undisturbed: AbstractContextManager[object] = field(default_factory=nullcontext)  # the process outlives the server

    def table(self) -> str | None:
        """The path of the upload, if there is one, about to be read; it must not unpack into more than is allowed."""
        self.reading()
        path = self.request.get("table")
        if path is not None and path.lower().endswith(".gz"):
            _check_unpacked(Path(path), self.request["unpacked"])
        return path


def _check_unpacked(path: Path, most: int) -> None:
    size = 0
    try:
        with gzip.open(path) as file:
            while block := file.read(1 << 20):
                size += len(block)
                if size > most:
                    raise InputError(f"the file unpacks to more than {most / 1e9:g} GB: use the command line", "table")
    except (OSError, EOFError, zlib.error):
        raise InputError("the file is not a whole gzip file: give a CSV, a gzipped CSV or Parquet", "table") from None


def _understand(work: Task) -> Message:
    """A first plan for an upload, what was understood, and the columns with the values one may pick."""
    with open_table(work.table()) as opened:
        lent = replace(opened, engine=Engine(opened.engine.connection))  # to be closed without closing the table
        start = init(lent, name=work.request["name"], progress=work.tell)
        return {
            "yaml": start.yaml,
            "sentence": start.sentence,
            "warnings": list(start.warnings),
            "nobody": start.understanding.nobody,
            "columns": _columns(opened, parse_columns(opened.table, start.release.data.forms), start.understanding),
        }


def _columns(opened: OpenTable, read: ir.Table, found: TableSchema) -> list[Message]:
    """The columns as they are stored; their values as ``read``, the table as the plan reads it, has them.

    Columns that were not looked at, because there are too many, have neither a role nor values.
    """
    known = {c.name: c for c in found.columns}
    made = []
    for name, kind in opened.table.schema().items():
        role, distinct = (known[name].role.value, known[name].distinct) if name in known else ("", -1)
        column: Message = {"name": name, "kind": str(kind), "role": role, "distinct": distinct}
        pickable = kind.is_string() or kind.is_integer() or kind.is_boolean()
        if pickable and 0 <= distinct <= _MOST_VALUES and (values := _values(opened, read, name)):
            column |= {"values": values, "distinct": len(values)}
        made.append(column)
    return made


def _values(opened: OpenTable, read: ir.Table, name: str) -> list[str]:
    """The values of a column of few, in order; none of one that has many, or long ones."""
    column = read.select(value=read[name]).filter(lambda t: t.value.notnull())
    found = opened.engine.fetch(column.distinct().limit(_MOST_VALUES + 1)).column("value").to_pylist()
    fits = 1 < len(found) <= _MOST_VALUES and all(len(str(v)) <= _LONGEST_VALUE for v in found)
    return [str(v) for v in sorted(found)] if fits else []


def _check_source(table: str, upload: str | None) -> None:
    """Refuse other tables than the bundled ones and the upload: a form must not open files of the server.

    An upload beside the name of a bundled table is refused too: one of them would be ignored in silence.
    """
    shown = table if len(table) <= 60 else f"{table[:57]}..."
    if upload is not None and table not in ("upload", upload):
        raise InputError(
            f"data.table is {shown!r} and a file is uploaded: write 'table: upload' for the file, or take it away",
            "data.table",
        )
    if upload is None and isinstance(source_of(table), Bundled):
        bundled_dataset(table)
    elif upload is None:
        raise InputError(
            f"data.table is {shown!r}: the page opens only {', '.join(names())}, or 'upload' with an uploaded file; "
            "for others use the command line",
            "data.table",
        )


def request_plan(request: TaskRequest) -> Release:
    """The plan of a request, on a table that it may open."""
    # The line break says that this is YAML: without one the library would take it for the name of a file.
    plan = read_release(request["yaml"] + "\n")
    _check_source(plan.data.table, request.get("name"))
    if request.get("table"):  # the report says which file it is about, wherever it goes
        plan = plan.model_copy(update={"data": plan.data.model_copy(update={"table": request["name"]})})
    return plan


def _assess(work: Task) -> Message:
    """The report of a release, whole and in pieces, and what the sliders need."""
    request = work.request
    plan = request_plan(request)
    made = assess(plan, table=work.table(), progress=work.tell)
    if request.get("table"):
        told = f"{request['name']}, keyed hash {request['digest']} (of the server that assessed it)"
        made = replace(made, reproduce={**made.reproduce, "data": told})
    document, sheet = present(made), board(made)
    parts = html.sections(document)
    packed = pack_basis(made)
    # The sliders stand after the section they are about.
    headings = [section.heading for section in document.sections if Forms.PAGE in section.forms]
    at = len(parts) - len(headings) + headings.index(HEADING) + 1 if HEADING in headings else len(parts)
    return {
        "data": made.to_dict(),
        "fragment": "\n".join(parts[:at]),
        "rest": "\n".join(parts[at:]),
        "html": html.page(document, parts),
        "pdf": in_base64(partial(to_pdf, document)),
        "board": {
            "html": html.page(sheet),
            "pdf": in_base64(partial(to_pdf, sheet)),
            "sheet": "\n".join(html.sections(sheet)),
            "kind": sheet.kind,
            "aside": sheet.aside,
        },
        "pictures": _pictures(document),
        "basis": packed,
        "panel": shares_panel({"yaml": request["yaml"], "basis": packed}) if packed else None,
        "file": {"name": request["name"], "digest": request["digest"]} if request.get("table") else None,
    }


def _pictures(document: Document) -> list[dict[str, str]]:
    """The charts of a report as files, by what their section says they are; no PNG without its extra."""

    def figures(blocks: Iterable[Block]) -> Iterator[Figure]:
        for block in blocks:
            if isinstance(block, Figure):
                yield block
            elif isinstance(block, Figures):
                yield from block.figures
            elif isinstance(block, Part):
                yield from figures(block.blocks)

    made = []
    for section in document.sections:
        for figure in figures(section.blocks):
            chart = figure.chart()
            if not isinstance(chart, Chart):
                continue
            told = str(chart.spec.get("title", {}).get("text", "")) or section.heading
            said = f"Simulated releases: {figure.caption}" if figure.caption else told
            one = {"name": chart.name.replace("_", "-"), "said": said, "svg": chart.svg("light")}
            made.append({**one, "png": in_base64(chart.png), "pdf": in_base64(chart.pdf)})
    return made


#: A report with more than this to carry (thousands of groups) is not offered with sliders.
MOST_PACKED = 500_000
_MOST_UNPACKED = 20_000_000


def pack_basis(a: Assessment) -> str:
    """What the page carries: packed text; empty for one query, or where it would be too much."""
    basis = basis_of(a)
    if basis is None:
        return ""
    text = json.dumps({"names": [title(a, q) for q in a.queries], "basis": basis}, default=_json_value)
    packed = base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode()
    return packed if len(packed) <= MOST_PACKED else ""


def _json_value(value: object) -> Message:
    if is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)


@cache
def _basis_reader() -> TypeAdapter[SplitBasis]:
    return TypeAdapter(SplitBasis)


def _unpack(packed: str) -> tuple[list[str], SplitBasis]:
    try:
        unpacking = zlib.decompressobj()
        held = json.loads(unpacking.decompress(base64.urlsafe_b64decode(packed), _MOST_UNPACKED))
        return [str(name) for name in held["names"]], _basis_reader().validate_python(held["basis"])
    except (ValueError, KeyError, TypeError, zlib.error, binascii.Error, RecursionError, ValidationError):
        raise InputError("the shares came without the report they belong to: open the report again", "shares") from None


def percentages(shares: Sequence[float]) -> list[str]:
    """Shares of 1 out of 100, with two decimals at most; together they are 100.

    >>> percentages([1 / 3, 1 / 3, 1 / 3]), percentages([0.5, 0.4999995, 0.0000005])
    (['33.34', '33.33', '33.33'], ['49.99', '50', '0.01'])
    """
    hundredths = [max(round(10_000 * share), 1) for share in shares]
    largest = hundredths.index(max(hundredths))
    hundredths[largest] += 10_000 - sum(hundredths)
    return [f"{h / 100:.2f}".rstrip("0").rstrip(".") for h in hundredths]


def shares_panel(request: TaskRequest) -> Message:
    """The answer to ``shares`` of a report, to a named division (``to``: equal, least error), or to its own.

    Numbers, and the pieces of the page; ``yaml`` becomes the plan with these shares.
    """
    plan = read_release(request["yaml"] + "\n")
    names, basis = _unpack(request["basis"])
    if not len(names) == len(basis.answers) == len(plan.queries):
        raise InputError("the shares belong to another plan: open the report again", "shares")
    named = {Split.EQUAL.value: basis.split.equal.shares, Split.LEAST_ERROR.value: basis.split.best.shares}
    assessed = named[plan.mechanism.split] if plan.mechanism.split is Split.LEAST_ERROR else plan.shares
    found = resplit(plan, basis, request.get("shares") or named.get(request.get("to", ""), assessed))
    before = division(plan, basis.answers, plan.epsilon, assessed)
    allowed = plan.error_limit
    shares, errors = found.division.shares, found.division.errors
    return {
        "data": resplit_data(basis, found, names),
        "names": names,
        "shares": percentages(shares),
        "errors": [
            {
                "text": share(e, allowed) if math.isfinite(e) else "",
                "before": share(b, allowed) if math.isfinite(b) else "",
                "over": allowed is not None and math.isfinite(e) and e > allowed,
            }
            for e, b in zip(errors, before.errors, strict=True)
        ],
        "sentence": str(html.said(resplit_sentence(basis, before, found))),
        "table": str(html.blocks((resplit_table(basis, found),))),
        "yaml": _plan_text(parse_yaml(request["yaml"], "release")[0], shares, plan.epsilon),
        "title": plan.title,
        "basis": request["basis"],
    }


def _plan_text(release: Message, shares: Sequence[float], epsilon: float) -> str:
    hundredths = [float(text) / 100 for text in percentages(shares)]
    for query, one in zip(release["queries"], hundredths, strict=True):
        query.pop("epsilon", None)
        query["share"] = round(one, 4)
    release["mechanism"] = {k: v for k, v in release["mechanism"].items() if k != "split"} | {"epsilon": epsilon}
    return yaml.safe_dump(release, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)


_SYMBOLS = {"epsilon": "ε", "psi": "ψ", "rho": "ρ"}


def amount_of(spent: Mapping[str, float | None], limited: tuple[str, ...]) -> str:
    """What a release spends, in ε where that has a price and in whatever is limited.

    >>> amount_of({"epsilon": 0.48, "psi": 0.25686, "rho": 0.03}, ("psi",))
    'ε = 0.48, ψ = 0.2569'
    >>> amount_of({"epsilon": None, "psi": 0.25686, "rho": 0.03}, ())
    'ψ = 0.2569'
    """
    named = [name for name in _SYMBOLS if spent[name] is not None and (name == "epsilon" or name in limited)]
    return ", ".join(f"{_SYMBOLS[name]} = {spent[name]:.4g}" for name in named or ["psi"])


def _offer(work: Task) -> Message:
    """What would be released and spent; what stands against it is raised."""
    request = work.request
    plan, book = normalized_plan(request_plan(request)), Ledger(request["ledger"])
    account = book.account(request["account"])
    found = book.saved(account.name, plan.identity())
    made = release(plan, ledger=book, account=account.name, part=request["part"] or None, dry_run=True)
    shown = document(made)
    sections = [section for section in shown.sections if section.heading != PLAN]
    limits = account.limits
    return {
        "title": made.title,
        "fragment": "\n".join(html.sections(replace(shown, sections=tuple(sections)))),
        "amount": amount_of(made.spent, () if limits is None else limits.currencies),
        "account": account.name,
        "partition": "" if limits is None else limits.partition,
        "assessed": plan.digest(),
        "before": found.at if found is not None else "",
    }


def _release(work: Task) -> Message:
    """The answers, to show and to keep. ``spent`` says of an error whether the ledger counts it."""
    request = work.request
    plan, book = normalized_plan(request_plan(request)), Ledger(request["ledger"])
    if plan.digest() != request["assessed"]:
        raise InputError("the plan is not the one that was assessed: assess it again", "yaml")
    account = request["account"]
    with work.undisturbed:
        known = {one.id for one in book.account(account).releases}
        table = work.table()
        try:
            found = assess(plan, table=table, progress=work.tell)
            into = partial(release, plan, table=table, ledger=book, account=account, part=request["part"] or None)
            made = into(other_people=bool(request.get("other_people")), assessment=found, progress=work.tell)
        except EpsilensError as error:
            spent = any(one.id not in known for one in book.account(account).counted)
            about = error.parameter if isinstance(error, InputError) else ""
            return {"error": str(error), "status": 422, "parameter": about, "spent": spent}
        return {
            "title": made.title,
            "saved": made.kind == "saved",
            "at": made.at,
            "amount": amount_of(made.spent, ()),
            "account": made.account,
            "head": made.head,
            "fragment": "\n".join(html.sections(document(made))),
            "files": {form.value: base64.b64encode(file_content(made, form)).decode("ascii") for form in OutputFormat},
        }


#: What is done, by its name.
TASKS: dict[str, Callable[[Task], Message]] = {
    "understand": _understand,
    "assess": _assess,
    "shares": lambda task: shares_panel(task.request),
    "offer": _offer,
    "release": _release,
    "paper": lambda task: paper_content(task.request["paper"]),
}
