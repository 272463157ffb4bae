"""Sharing ε differently on the page: what a report carries with it, and the answer to other shares.

The server keeps nothing about an uploaded table once its report is sent, so the page itself carries what another
division needs (:class:`~epsilens.assessment.split.Basis`: a few kilobytes, no names of groups) and sends it back with
the shares. It comes from outside then, like any entry: it is read as plain data, in a worker whose time and memory are
limited, and what it says is shown to nobody but its sender.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup
from pydantic import BaseModel, ConfigDict, Field

from ..errors import EpsilensError, InputError
from .form import check_size, plan_problem, texts
from .jobs import assess_answer, job_answer
from .pages import render

if TYPE_CHECKING:
    from ..assessment.assess import Assessment
    from ..assessment.split import Basis


#: A report with more than this to carry (thousands of groups) is not offered with sliders.
MOST_PACKED = 500_000
_MOST_UNPACKED = 20_000_000


def pack_basis(a: Assessment) -> str:
    """What the page carries: packed text; empty for one query, or where it would be too much."""
    from ..assessment.split import basis_of
    from ..show.assessment.labels import title

    basis = basis_of(a)
    if basis is None:
        return ""
    text = json.dumps({"names": [title(a, q) for q in a.queries], "basis": basis}, default=_json_value)
    packed = base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode()
    return packed if len(packed) <= MOST_PACKED else ""


def _json_value(value: Any) -> dict[str, Any]:
    if is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)


@cache
def _basis_reader() -> Any:
    from pydantic import TypeAdapter

    from ..assessment.split import Basis

    return TypeAdapter(Basis)


def _unpack(packed: str) -> tuple[list[str], Basis]:
    from pydantic import ValidationError

    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(base64.urlsafe_b64decode(packed), _MOST_UNPACKED)
        held = json.loads(text)
        return [str(name) for name in held["names"]], _basis_reader().validate_python(held["basis"])
    except (ValueError, KeyError, TypeError, zlib.error, binascii.Error, RecursionError, ValidationError):
        raise InputError(
            "the shares came without the report they belong to: open the report again", parameter="shares"
        ) from None


def shares_of(texts: Sequence[str]) -> list[float]:
    """The shares as they were typed, out of 100 or of anything.

    >>> shares_of(["50", "25 %", "25"])
    [50.0, 25.0, 25.0]
    """
    made = []
    for i, text in enumerate(texts):
        try:
            share = float(text.strip().removesuffix("%").replace(",", "."))
        except ValueError:
            share = math.nan
        if not (0 < share < 1e9):
            raise InputError(
                f"the share of query {i + 1} is {text.strip()[:20]!r}: give a number above 0, 25 for a quarter of ε",
                parameter=f"shares.{i + 1}",
            )
        made.append(share)
    return made


def percentages(shares: Sequence[float]) -> list[str]:
    """Shares of 1 out of 100, with two decimals at most; together they are 100.

    >>> percentages([1 / 3, 1 / 3, 1 / 3]), percentages([0.5, 0.4999995, 0.0000005])
    (['33.34', '33.33', '33.33'], ['49.99', '50', '0.01'])
    """
    hundredths = [max(round(10_000 * share), 1) for share in shares]
    largest = hundredths.index(max(hundredths))
    hundredths[largest] += 10_000 - sum(hundredths)
    return [f"{h / 100:.2f}".rstrip("0").rstrip(".") for h in hundredths]


def shares_panel(request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to ``shares`` of a report, to a named division (``to``: equal, least error), or to its own.

    Numbers, and the pieces of the page; ``yaml`` becomes the plan with these shares.
    """
    from ..assessment.split import division, resplit
    from ..plan.file import parsed, read_release
    from ..plan.model import Split
    from ..show.assessment.labels import share
    from ..show.assessment.split import resplit_data, resplit_sentence, resplit_table
    from ..show.render import html

    plan = read_release(request["yaml"] + "\n")
    names, basis = _unpack(request["basis"])
    if not len(names) == len(basis.answers) == len(plan.queries):
        raise InputError("the shares belong to another plan: open the report again", parameter="shares")
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
        "yaml": _plan_text(parsed(request["yaml"], "release")[0], shares, plan.epsilon),
        "title": plan.title,
        "basis": request["basis"],
    }


def panel_values(made: Mapping[str, Any], text: str, url: str) -> dict[str, Any]:
    """The answer as the template takes it; ``text`` is the report's plan, ``url`` its own address if it has one."""
    other = f"/assess?{urlencode({'yaml': made['yaml']})}"
    pieces = {key: Markup(made[key]) for key in ("sentence", "table")}
    rows = list(zip(made["names"], made["shares"], made["errors"], strict=True))
    return {**made, **pieces, "rows": rows, "given": text, "back": url, "url": other if url else ""}


def _plan_text(release: dict[str, Any], shares: Sequence[float], epsilon: float) -> str:
    """The plan with these shares, as YAML."""
    import yaml

    hundredths = [float(text) / 100 for text in percentages(shares)]
    for query, one in zip(release["queries"], hundredths, strict=True):
        query.pop("epsilon", None)
        query["share"] = round(one, 4)
    release["mechanism"] = {k: v for k, v in release["mechanism"].items() if k != "split"} | {"epsilon": epsilon}
    return yaml.safe_dump(release, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)


router = APIRouter(include_in_schema=False)


class SharesRequest(BaseModel):
    """A release and how its queries share ε."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    release: str | dict[str, Any] = Field(description="a release, as YAML text or as an object; its table is bundled")
    shares: Annotated[list[float], Field(min_length=1, max_length=32)] = Field(
        description="a number for each query: ε is shared in this proportion"
    )


async def shares_answer(request: Request, sent: SharesRequest) -> dict[str, Any]:
    """The numbers of other shares; the assessment they rest on is kept, as that of a bundled table always is."""
    text = sent.release if isinstance(sent.release, str) else json.dumps(sent.release)
    made = await assess_answer(request, text)
    if not made["basis"]:
        raise InputError("the release has one query, which has all of ε: give two or more", parameter="queries")
    job = request.app.state.jobs.start("shares", yaml=text, basis=made["basis"], shares=sent.shares)
    data: dict[str, Any] = (await job_answer(request, job))["data"]
    return data


@router.post("/assess/shares")
async def post_shares(request: Request) -> Response:
    """Risks and errors with other shares, from what the report carried; nothing else is kept about its table."""
    form = await request.form(max_files=0, max_fields=100, max_part_size=1_000_000)
    given = texts(form.multi_items())
    text, url = given.get("yaml", "").replace("\r\n", "\n"), given.get("back", "")
    entered = [v for v in form.getlist("shares") if isinstance(v, str)]
    problem = None
    try:
        check_size(text)
        wanted: dict[str, Any] = {}
        try:
            wanted = {"to": given["to"]} if "to" in given else {"shares": shares_of(entered)}
        except InputError as error:  # the entry is kept, and what was assessed stands
            problem = plan_problem(error)
        start = request.app.state.jobs.start
        job = start("shares", owner=request.state.visitor, yaml=text, basis=given.get("basis", ""), **wanted)
        made = dict(await job_answer(request, job))
    except EpsilensError as error:
        sentence, status = plan_problem(error).sentence, plan_problem(error).status
        return render("message.html", status, view="Assess", heading="No other shares", sentence=sentence)
    if problem is not None and len(entered) == len(made["shares"]):
        made["shares"] = entered
    panel = panel_values(made, text, url if url.startswith("/assess?") else "")
    return render(
        "shares.html", problem.status if problem else 200, view="Assess", stylesheets=["page.css", "assessment.css"],
        panel=panel, problem=problem,
    )  # fmt: skip
