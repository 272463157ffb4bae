"""``el.release``: a plan, assessed, run with vetted noise and entered in the ledger.

The order is what keeps the account true: the limits of the plan, the exact numbers, the room in the ledger, and only
then the noise. Whatever breaks before the room is taken costs nothing; after it, it counts as spent.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..assessment.adversaries import Setting
from ..assessment.assess import Assessment
from ..assessment.provenance import Guarantee, guarantee_sentence, owned_rows, plan_guarantee
from ..assessment.risks import limits_on_risk, risks_of
from ..assessment.verdict import allowed_epsilon, needed_epsilon
from ..data.tables.columns import column_of, parse_columns, value_of
from ..data.tables.conditions import parse, syntax, terms_of
from ..data.tables.engines import need_ibis
from ..data.tables.fingerprint import content_fingerprint
from ..data.tables.table import OpenTable, open_table, reading
from ..errors import InputError, LimitError, WriteError, type_phrase
from ..ledger.account import Spending
from ..ledger.budget import FREE, normalized_name
from ..ledger.ledger import Ledger, package_versions
from ..plan.cells import Cells, cells
from ..plan.contribution import unprotected_names
from ..plan.file import error_place, read_release
from ..plan.labels import mentioned_columns, normalized_plan
from ..plan.model import CorrelationSource, Release, Split
from ..plan.movement import stated_factors
from ..plan.scan_plan import needs_of, owner_columns
from .answers import (
    Drawing,
    Published,
    PublishedAnswer,
    RemainingBudget,
    draw_answers,
    drawings_of,
    loss_sentences,
    planned_answers,
    remaining_budget,
)
from .files import OutputFormat, check_writable, output_format, save

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import pyarrow as pa

ROWS = 2000
_EACH = 2  # rows a person
_SEED = 20261116


def synthetic_rows(plan: Release, table: object = None, engine: object = None, rows: int = ROWS) -> pa.Table:
    """An Arrow table of made-up rows."""
    import pyarrow as pa

    with error_place("data.table", engine="engine"):
        opened = open_table(plan.data.table if table is None else table, engine)
    with opened:
        read = parse_columns(opened.table, plan.data.forms) if plan.data.read else opened.table
        for name in owner_columns(plan.data):
            column_of(read, name, "person", "data.person")
        needs_of(read, plan)  # a column that is not there, or of another type, is refused as in a release
        kinds = {name: read.schema()[name] for name in read.columns if name in mentioned_columns(plan)}
    rng = np.random.default_rng(_SEED)
    named = _named(plan)
    made = {}
    for name, kind in kinds.items():
        if name in (plan.data.person, plan.data.unit):
            people = max(rows // (_EACH if name == plan.data.person else 2 * _EACH), 1)
            ids = rng.integers(0, people, rows).tolist()
            named_ids = pa.array([f"person {n}" for n in ids])
            made[name] = pa.array(ids).cast(_arrow(kind)) if kind.is_numeric() else named_ids
            continue
        values = named.get(name, [])
        low, high = _bounds(plan, name)
        made[name] = pa.array([_value(rng, kind, values, low, high) for _ in range(rows)], _arrow(kind))
    return pa.table(made) if made else pa.table({"row": list(range(rows))})


def _arrow(kind: dt.DataType) -> pa.DataType:
    return need_ibis().schema({"x": kind}).to_pyarrow().field("x").type


def _named(plan: Release) -> dict[str, list[object]]:
    """The values that the plan names of each column: its groups, and what its conditions compare with."""
    found: dict[str, list[object]] = {}
    for query in plan.queries:
        for label in query.labels or ():
            for name, part in zip(query.split_by, label, strict=True):
                found.setdefault(name, []).append(part)
        where = query.to_query().where
        for name, value in _compared(where) if where else ():
            found.setdefault(name, []).append(value)
    for name, value in _compared(plan.data.hidden.where) if plan.data.hidden is not None else ():
        found.setdefault(name, []).append(value)
    return found


def _compared(where: str) -> list[tuple[str, object]]:
    exp, made = syntax(), list[tuple[str, object]]()
    for node in parse(where, "where").find_all(exp.Predicate):
        columns = [c.name for c in node.find_all(exp.Column)]
        for literal in node.find_all(exp.Literal):
            near = [literal.this] if literal.is_string else [float(literal.this) + step for step in (-1, 0, 1)]
            made += [(name, value) for name in columns for value in near]
    return made


def _bounds(plan: Release, name: str) -> tuple[float, float]:
    bounds = [q.bounds for q in plan.queries if q.bounds is not None and q.to_query().column == name]
    return (min(b[0] for b in bounds), max(b[1] for b in bounds)) if bounds else (0.0, 10.0)


def _value(rng: np.random.Generator, kind: dt.DataType, values: list[object], low: float, high: float) -> object:
    if values and rng.random() < 0.7:
        found = _as(values[int(rng.integers(len(values)))], kind)
        if found is not None or rng.random() < 0.5:
            return found
    if kind.is_boolean():
        return bool(rng.integers(2))
    if kind.is_integer():
        least, most = _integer_range(kind)
        first = min(max(math.ceil(low), least), most)
        return int(rng.integers(first, max(min(math.floor(high), most), first), endpoint=True))
    if kind.is_numeric():
        return _as(float(rng.uniform(low, high)), kind)
    if kind.is_string():
        return f"group {int(rng.integers(1, 4))}"
    return None


def _integer_range(kind: dt.DataType) -> tuple[int, int]:
    held = np.iinfo(kind.to_numpy())
    return int(held.min), int(held.max)


def _as(value: Any, kind: dt.DataType) -> object:
    """A value the plan names, as the column has it; None where it does not fit."""
    try:
        if kind.is_string():
            return None if value is None else str(value)
        if kind.is_boolean():
            return bool(value)
        if kind.is_integer():
            least, most = _integer_range(kind)
            return int(value) if least <= int(value) <= most else None
        if kind.is_decimal():
            return round(Decimal(str(value)), kind.scale or 0)
        if kind.is_numeric():
            return float(value)
    except (TypeError, ValueError, ArithmeticError):
        return None
    return None


# -- releases about a part of the people ---------------------------------------------------------------------------

_INSTEAD = "or leave part out, and it is counted for everyone"


def check_part(plan: Release, partition: str, part: str) -> None:
    """Refuse a plan some query of which may count people of other parts; from the plan alone."""
    name = _name(part)
    if partition in plan.data.read:
        raise InputError(
            f"{partition!r} is read in a form of the plan's own, and parts are known by what the table has: take it "
            f"out of data.read, {_INSTEAD}",
            parameter="part",
        )
    for i, query in enumerate(plan.queries):
        where = query.to_query().where
        if any(_is(term, partition, name) for term in (terms_of(where) if where else ())):
            continue
        if partition in query.split_by and query.labels:
            place = query.split_by.index(partition)
            if all(_same(label[place], name) for label in query.labels):
                continue
        equals = f"{partition} = {part}" if part.isdecimal() else f"{partition} = '{part[:40]}'"
        raise InputError(
            f"query {i + 1} may count people of other parts: add {equals} to its condition, {_INSTEAD}",
            parameter=f"queries.{i + 1}.where",
        )


def check_single_part(opened: OpenTable, plan: Release, partition: str) -> None:
    """Refuse a table in which somebody is in several parts; its rows say whose they are already."""
    table = opened.table
    column = column_of(table, partition, "part", "part")
    kind = column.type()
    if not (kind.is_string() or kind.is_integer()):
        raise InputError(
            f"{partition!r} holds neither words nor whole numbers, by which parts are known: {_INSTEAD[3:]}", "part"
        )
    if plan.data.owner is None:
        return  # a row is a person
    owner = value_of(column_of(table, plan.data.owner, "person", "data.person"), "person")
    rows = table.select(owner=owner, part=value_of(column, "part")).filter(lambda t: t["part"].notnull())
    values = rows.group_by("owner").aggregate(low=rows["part"].min(), high=rows["part"].max())
    several = values.filter(values["low"] != values["high"]).limit(1)
    if opened.engine.fetch(several.select("low")).num_rows:
        raise InputError(
            f"somebody in the table has several values in {partition!r}, and could be charged for one part only: mend "
            f"the table, {_INSTEAD}; nothing was spent",
            parameter="part",
        )


def _is(term: str, partition: str, name: str) -> bool:
    """Whether a term of a condition says that the column is the part."""
    exp, node = syntax(), parse(term, "where")
    if type(node) is not exp.EQ or node.args.get("negate"):
        return False
    for one, other in ((node.this, node.expression), (node.expression, node.this)):
        if type(one) is exp.Column and one.name == partition and type(other) is exp.Literal:
            return _same(str(other.this) if other.is_string else _number(str(other.this)), name)
    return False


def _number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None  # 1.0 is 1, and would be another name for it


def _same(value: object, name: str) -> bool:
    """Whether a value is what the ledger calls the part; a number is called by its digits alone."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return False
    return _name(str(value)) == name


def _name(part: object) -> str:
    return normalized_name("part", part, needed="name the part, or leave it out").casefold()


Progress: TypeAlias = Callable[[int, int, str], None] | None
#: Where the account is kept unless another place is named.
LEDGER = "ledger.db"


def release(
    plan: str | Path | Mapping[str, object] | Release,
    *,
    output: str | os.PathLike[str] | None = None,
    format: str | None = None,
    ledger: str | os.PathLike[str] | Ledger | None = LEDGER,
    account: str | None = None,
    part: str | None = None,
    other_people: bool = False,
    table: object = None,
    engine: object = None,
    dry_run: bool = False,
    synthetic: bool = False,
    again: bool = False,
    assessment: Assessment | None = None,
    progress: Progress = None,
) -> Published:
    """Publish the answers of a plan under noise drawn by OpenDP, and enter it in the ledger.

    ``output`` writes them (``csv``, ``json``, ``parquet`` or ``html``, by its ending or ``format``). ``account`` names
    those whom the table is about; tables about the same people share one, and a ledger with one account
    needs no name. Data that another account holds is refused, unless you say that it is about ``other_people``.
    ``part`` names the part of them that every query is about, where the ledger declares parts: only they are charged.
    A plan that breaks its own limits on risk, or the ledger's, is refused. ``dry_run`` says what would be published
    and spent, and looks at no data; ``synthetic`` runs the whole on made-up rows and spends nothing. The same plan
    gives the answers that were published before, whatever the data is by now, and looks at none: that they changed
    would tell that somebody joined. ``again`` draws and spends anew, and so does another ``data.version``.
    ``assessment`` is one that was made before, of exactly this plan.

    Parameters
    ----------
    plan : str, Path, mapping or Release
        The plan: a file, YAML text, or its content.
    output : str or Path, optional
        Where to write the answers.
    format : {"csv", "json", "parquet", "html"}, optional
        Follows from the ending unless given.
    ledger : str, Path or Ledger, optional
        Where it is entered; None for none.
    account : str, optional
        The account it is charged to.
    part : str, optional
        The declared part that every query is about.
    other_people : bool, default False
        Whether the data is about others than the account that holds it.
    table : object, optional
        Takes the place of the plan's own table.
    engine : str or backend, optional
        None or ``"duckdb"``, ``"spark"``, an Ibis connection or URL.
    dry_run : bool, default False
        Say what would be published and spent.
    synthetic : bool, default False
        Run on made-up rows and spend nothing.
    again : bool, default False
        Draw and spend what was released before.
    assessment : Assessment, optional
        Of exactly this plan.
    progress : callable, optional
        Called with steps done, steps in all, and what is being done.

    Returns
    -------
    Published
        The noisy answers with their intervals, and what was spent.

    Raises
    ------
    InputError
        If the plan or the table cannot be read.
    LimitError
        If a limit of the plan or of the ledger would be exceeded; nothing is spent.
    MissingExtra
        If OpenDP is not installed.
    """
    said = normalized_plan(read_release(plan))
    if output is not None and not isinstance(output, str | os.PathLike):
        raise InputError(f"output is {type_phrase(output)}: give the name of a file", parameter="output")
    form = output_format(output, format)
    if output is not None and not dry_run:
        check_writable(Path(output))
    check_publishable(said)
    drawings = drawings_of(said)
    promise = plan_guarantee(said)
    job = _ReleaseJob(said, drawings, promise, output, form, account or "", part)
    if synthetic:
        rows = synthetic_rows(said, table, engine)
        plain = said.model_copy(update={"data": said.data.model_copy(update={"read": {}})})
        return job.write(job.published("synthetic", job.draw(exact_cells(plain, rows))))
    book = ledger if isinstance(ledger, Ledger) or ledger is None else Ledger(ledger)
    name = "" if book is None else book.account_name(account)
    job = replace(job, account=name)
    job = replace(job, partition=_partition(job, book))
    saved = None if book is None or again else book.saved(name, said.identity())
    if dry_run:
        room, cost = tuple[RemainingBudget, ...](), promise.charge if saved is None else FREE
        if book is not None:
            state = book.account(name)
            state.fits(promise.experiment, part)
            if saved is None:  # what was published before needs no room
                state.check(cost, part)
            room = remaining_budget(state, cost, part)
        made = job.published("dry run", (), book)
        return replace(made, offered=planned_answers(said, drawings), room=room, spent=cost.to_dict())
    if book is not None and saved is not None:
        return _saved_answers(job, book, saved)
    _check_limits(said, assessment)
    exact, content = _exact_cells(said, table, engine, progress, job.partition, marked=book is not None)
    if book is None:
        return job.write(job.published("release", job.draw(exact)))
    return _reserve_and_draw(job, book, exact, content, again, other_people)


def exact_cells(plan: Release, table: object = None, engine: object = None) -> tuple[Cells, ...]:
    """The exact numbers of a plan, as a release takes them from its table: confidential."""
    return _exact_cells(plan, table, engine, None)[0]


#: Its number in the ledger, the head there, and when.
Entry: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True)
class _ReleaseJob:
    """What is to be published, all of it known before any data is."""

    plan: Release
    drawings: tuple[Drawing, ...]
    promise: Guarantee
    output: str | os.PathLike[str] | None
    form: OutputFormat
    account: str
    part: str | None
    partition: str = ""  # the column by which the part is known

    def draw(self, exact: tuple[Cells, ...]) -> tuple[PublishedAnswer, ...]:
        return draw_answers(self.plan, self.drawings, exact)

    def published(
        self, kind: str, answers: tuple[PublishedAnswer, ...], book: Ledger | None = None, entry: Entry = ("", "", "")
    ) -> Published:
        release, head, at = entry
        return Published(
            plan=self.plan, kind=kind, answers=answers, guarantee=guarantee_sentence(self.plan, self.promise),
            success=self.promise.success, spent=self.promise.charge.to_dict(), lost=loss_sentences(self.plan),
            account=self.account, ledger="" if book is None else book.store.name, release=release, head=head,
            at=at or datetime.now(UTC).isoformat(timespec="seconds"),
            versions=package_versions("opendp", "ibis-framework", "duckdb"),
            certificate=self.promise.certificate,
        )  # fmt: skip

    def write(self, made: Published) -> Published:
        if self.output is not None:
            save(made, Path(self.output), self.form)
        return made


def check_publishable(plan: Release) -> None:
    """Refuse what no noise can make right."""
    if plan.mechanism.split is Split.LEAST_ERROR:
        raise InputError(
            "mechanism.split is least error, and its shares come from the data: write them into the queries as share, "
            "the assessment shows them",
            parameter="mechanism.split",
        )
    if plan.adversary.correlation is CorrelationSource.FROM_DATA and plan.risk_limits:
        raise InputError(
            "adversary.correlation is from data, and so whether the limits are kept comes from the data: write it as a "
            "matrix, the assessment shows how alike related people are",
            parameter="adversary.correlation",
        )
    if names := unprotected_names(plan):
        raise LimitError(
            f"query {names[0] + 1} takes the names of its groups from the data, and one that exists because of a "
            "person gives them away: list the groups, or add a threshold",
            parameter=f"queries.{names[0] + 1}.groups",
        )


def _check_limits(plan: Release, given: Assessment | None) -> None:
    """Refuse a plan that breaks its own limits on risk, and an assessment of another plan or one that breaks a limit.

    The plan alone decides, with whatever a table could hold: were it the table's own people, or the errors in its own
    answers, then whether anything is published would tell of them. Those are the operator's to look at, in an
    assessment.
    """
    if given is not None and given.release.digest() != plan.digest():
        raise InputError("the plan is not the one that was assessed: assess it again, nothing was spent", "assessment")
    if given is not None and given.exceeded:
        verdict, needed = given.verdict, needed_epsilon(given.queries)
        keeps = f"ε = {verdict.recommended if verdict.over_risk else needed:g} keeps them"
        if not verdict.possible or verdict.at_least == math.inf:
            keeps = "no ε keeps them, so change a limit or what is asked"
        elif verdict.apart:
            keeps = f"the risk allows ε = {verdict.recommended:g} and the error needs {needed:g}, so change a limit or "
            keeps += "what is asked"
        raise _limit_error(plan, verdict.broken, keeps)
    setting = Setting(plan, related=stated_factors(plan), supposed=True)
    risks, _ = risks_of(setting)
    if broken := {r.reading for r in risks if r.over}:
        most = allowed_epsilon(limits_on_risk(setting, risks), plan.epsilon).recommended
        keeps = f"ε = {most:g} keeps them" if most else "no ε keeps them, so change a limit or what is asked"
        raise _limit_error(plan, [name for name in plan.limits if name in broken], keeps)


def _limit_error(plan: Release, names: Sequence[str], keeps: str) -> LimitError:
    """Which limits a plan breaks, and the ε that keeps them, where there is one."""
    what = f"the plan breaks its own limits ({', '.join(names) or 'a limit'})"
    if "limits" not in plan.model_fields_set:
        held = ", ".join(f"{name} at most {value}" for name, value in plan.limits.items())
        what = f"the plan sets no limits, is held to the usual ones ({held}) and breaks them"
    return LimitError(f"{what}: {keeps}; nothing was spent", parameter="limits")


def _partition(job: _ReleaseJob, book: Ledger | None) -> str:
    """The column by which a part is known, once the plan is about that part alone; empty for a release about all."""
    if job.part is None:
        return ""
    if book is None:
        raise InputError("part is counted in a ledger, and there is none: name one, or leave part out", "part")
    account = book.account(job.account)
    account.fits(job.promise.experiment, job.part)
    column = account.limits.partition if account.limits is not None else ""
    check_part(job.plan, column, job.part)
    return column


def _exact_cells(
    plan: Release, table: object, engine: object, progress: Progress, partition: str = "", *, marked: bool = False
) -> tuple[tuple[Cells, ...], str]:
    """The exact numbers, and where it is ``marked`` what the table holds, in a few digits: confidential."""

    def tell(done: int, what: str) -> None:
        if progress is not None:
            progress(done, len(plan.queries) + 1, what)

    with error_place("data.table", engine="engine"):
        opened = open_table(plan.data.table if table is None else table, engine)
    with opened:
        content = ""
        if marked:
            with reading(opened):
                content = content_fingerprint(opened)
        return _numbers(opened, plan, tell, partition), content


def _numbers(opened: OpenTable, plan: Release, tell: Callable[[int, str], object], partition: str) -> tuple[Cells, ...]:
    with error_place("data.read"):
        if plan.data.read:
            read = parse_columns(opened.table, plan.data.forms)
            with reading(opened):
                opened.table = opened.engine.cache(
                    read.select(*(c for c in read.columns if c in mentioned_columns(plan)))
                )
    with error_place("data.person"), reading(opened):
        opened.table, _ = owned_rows(opened, plan)
    if partition:
        with reading(opened):
            check_single_part(opened, plan, partition)
    return cells(opened, plan, tell)


def _reserve_and_draw(
    job: _ReleaseJob, book: Ledger, exact: tuple[Cells, ...], content: str, again: bool, other_people: bool
) -> Published:
    """Take the room, draw, write, and say that it is out."""
    plan, promise = job.plan, job.promise
    taken = book.reserve(
        job.account, promise.experiment, promise.charge, title=plan.title, part=job.part, partition=job.partition,
        identity=plan.identity(), plan=plan.public(defaults=True), data=book.keyed(content), again=again,
        other_people=other_people, unit=plan.data.unit or plan.data.person or "row", exact=promise.exact,
        drawings=[d.record for d in job.drawings],
    )  # fmt: skip
    if isinstance(taken, Spending):
        return _saved_answers(job, book, taken)
    try:
        answers = job.draw(exact)
    except BaseException:
        taken.withhold("the noise could not be drawn")
        raise
    # First into the ledger: what breaks off after that is written by running the plan again, and not spent twice.
    file = "" if job.output is None else Path(job.output).name
    try:
        taken.publish(answers=[answer.to_dict() for answer in answers], head=taken.head, file=file)
    except InputError as error:
        raise WriteError(
            f"the ledger {book.store.name} could not keep the answers, its disk is full or somebody holds it: they are "
            "spent and never published; make room, and draw and spend anew with --again"
        ) from error
    return job.write(job.published("release", answers, book, (taken.id, taken.head, taken.at)))


def _saved_answers(job: _ReleaseJob, book: Ledger, found: Spending) -> Published:
    """What was published before, once more."""
    published = found.published or {}
    answers = tuple(PublishedAnswer.from_dict(one) for one in published.get("answers", ()))
    entry = (found.id, str(published.get("head", "")), found.at)
    return job.write(job.published("saved", answers, book, entry))
