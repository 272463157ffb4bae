"""What every view is made of: templates, files to keep, answers to a form.

The pieces of HTML the views share come from the report, so that page, report and command say the same: as
:class:`markupsafe.Markup`, already escaped where they had to be.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import jinja2
from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup

from .. import __version__
from ..catalogue.mechanisms import MECHANISMS, Purpose
from ..errors import EpsilensError, InputError, MissingExtra
from ..results import Result
from ..show import charts
from ..show.charts.chart import POLICY
from ..show.explanation import Explanation, by_noise_section, reading_table, told
from ..show.explanation import pictures as people
from ..show.render import html
from ..show.sentences import false_alarms
from .limits import ServerLimits
from .view_state import Field, FieldProblem, ViewState, problem_of, to_of_100

if TYPE_CHECKING:
    from ..show.charts.chart import Chart
    from .compare import SettingForm


T = TypeVar("T")
#: The style sheets of the pages that show a document.
STYLES = ("page.css", "assessment.css")
_VIEWS = (("Explain", "/explain"), ("Choose", "/choose"), ("Assess", "/assess"), ("Compare", "/compare"))
#: Views that only some servers have.
extra_views: ContextVar[tuple[tuple[str, str], ...]] = ContextVar("beside", default=())


def views() -> tuple[tuple[str, str], ...]:
    return (*_VIEWS, *extra_views.get())


class LRUCache(Generic[T]):
    """The last few values by key, safe between threads."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._held: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        with self._lock:
            return self._held.get(key)

    def keep(self, key: Hashable, value: T) -> None:
        with self._lock:
            self._held[key] = value
            self._held.move_to_end(key)
            while len(self._held) > self.most:
                self._held.popitem(last=False)

    def get_or_make(self, key: Hashable, make: Callable[[], T]) -> T:
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key]
        value = make()
        self.keep(key, value)
        return value


_charts: LRUCache[list[Markup]] = LRUCache(512)


def sentence_html(about: Explanation) -> Markup:
    """The headline, if something was chosen, and the sentence."""
    headline = Markup("<h1>{}</h1>").format(html.held(about.headline)) if about.headline else Markup("")
    return headline + html.blocks((told(about),))


def icon_arrays(about: Explanation) -> Markup:
    return html.blocks((people(about),))


def reading_section(about: Explanation) -> Markup:
    return html.section(reading_table(about))


def noise_section(about: Explanation) -> Markup:
    """What a claim means by what is known of the noise; nothing where the noise is known."""
    return Markup("").join(html.section(one) for one in by_noise_section(about))


def curve_charts(about: Explanation, key: Hashable) -> list[Markup]:
    """The ROC and precision–recall curves; ``key`` says what the experiment was built from."""

    def draw() -> list[Markup]:
        both = map(charts.marked, about.overview.curves.values())
        return [Markup(chart.svg("page", chart.phone)) for chart in both]  # two phones side by side fill a desk

    return _charts.get_or_make((key, about.arguments["prior"], about.arguments["fpr"]), draw)


def curves_note(about: Explanation) -> str:
    """What the two dots on the curves stand for."""
    return f"Filled dot: the guess that is right most often. Hollow dot: at {false_alarms(about.arguments['fpr'])}."


#: Attributes of a control whose change alters the other controls: it swaps the whole view, not what its form does.
_WHOLE_VIEW = Markup(
    'hx-get="{}" hx-trigger="change consume" hx-include="closest form" hx-target="#view" hx-select="#view" '
    'hx-select-oob="unset"'
)
#: The same for a button, which says its own name and value.
_PRESS = Markup(
    'hx-get="{}" hx-trigger="click" hx-include="closest form" hx-target="#view" hx-select="#view" hx-select-oob="unset"'
)
#: The kinds of file a chart may be kept as.
PICTURES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
_DOWNLOAD_CSP = f"{POLICY}; frame-ancestors 'none'"


def _rare_open(rare: list[Field], asked: ViewState | SettingForm) -> bool:
    """Whether something behind the fold differs from its default or is wrong, and must be seen."""
    wrong = asked.problem.field if asked.problem else ""
    return any(asked.value(f.name) not in ("", f.default) or f.name == wrong for f in rare)


def _command_html(command: str) -> Markup:
    """The command with each option in one piece, so that a line never breaks between a dash and its word."""
    return Markup(" ").join(Markup("<span>{}</span>").format(word) for word in command.split(" "))


def templates() -> jinja2.Environment:
    """The templates, which escape whatever they are given."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals |= {
        "version": __version__,
        "views": views,
        "mechanisms": MECHANISMS,
        "mechanism_groups": lambda: [
            (family, [(m.spoken, m.title) for m in MECHANISMS.values() if m.family is family]) for family in Purpose
        ],
        "stylesheets": ["page.css"],
        "of_100": to_of_100,
        "spaced": _command_html,
        "rare_open": _rare_open,
        "whole_view": _WHOLE_VIEW.format,
        "press": _PRESS.format,
        "with_png": lambda: find_spec("resvg_py") is not None,
        "upload_mb": f"{ServerLimits().upload_bytes / 1e6:g}",
        "said": sentence_html,
        "pictures": icon_arrays,
        "readings": reading_section,
        "by_noise": noise_section,
        "curves": curve_charts,
        "curves_note": curves_note,
    }
    return made


_TEMPLATES = templates()


def render(name: str, status: int = 200, headers: Mapping[str, str] | None = None, **values: object) -> HTMLResponse:
    return HTMLResponse(_TEMPLATES.get_template(name).render(**values), status, dict(headers or {}))


def attachment(text: str, name: str, kind: str) -> Response:
    return file_of(text.encode(), name, kind)


def file_of(content: bytes, name: str, kind: str) -> Response:
    """A file to keep; should a browser show it all the same, it may do nothing."""
    headers = {"content-disposition": f'attachment; filename="{name}"', "content-security-policy": _DOWNLOAD_CSP}
    return Response(content, media_type=kind, headers=headers)


#: The kinds of file a result may be kept as.
KINDS = {"html": "text/html", "csv": "text/csv; charset=utf-8", "json": "application/json", **PICTURES}


def kind_of(request: Request) -> str:
    return request.url.path.rpartition(".")[2]


def result_file(result: Result, name: str, kind: str) -> Response:
    """A result as a file of a kind; its JSON is named without what follows a dash."""
    if kind == "pdf":
        return pdf_file(result.to_pdf, f"{name}.pdf")
    if kind == "json":
        return attachment(as_json(result.to_dict()), f"{name.partition('-')[0]}.json", KINDS["json"])
    if kind == "csv":
        text = explanation_csv(result) if isinstance(result, Explanation) else result.to_csv()
    else:
        text = result.to_html()
    return attachment(text, f"{name}.{kind}", KINDS[kind])


def pdf_file(make: Callable[[], bytes], name: str) -> Response:
    """A PDF as it is made, or the sentence that says what is missing."""
    try:
        return file_of(make(), name, PICTURES["pdf"])
    except EpsilensError as error:
        return no_file(problem_of(error))


def in_base64(make: Callable[[], bytes]) -> str:
    """A file that a process sends along, or nothing where the extra that makes it is not there."""
    try:
        return base64.b64encode(make()).decode("ascii")
    except MissingExtra:
        return ""


def sent_pdf(sent: str, name: str) -> Response:
    """A PDF that a process has sent along, or the sentence that says what it lacked."""

    def unpacked() -> bytes:
        if not sent:
            raise MissingExtra("typst", extra="pdf", purpose="a PDF")
        return base64.b64decode(sent)

    return pdf_file(unpacked, name)


def message_page(
    status: int, view: str, heading: str, sentence: str, headers: Mapping[str, str] | None = None
) -> Response:
    return render("message.html", status, headers, view=view, heading=heading, sentence=sentence)


def no_file(problem: FieldProblem | None) -> Response:
    return message_page(422, "", "This cannot be computed", problem.sentence if problem else "")


def picture(chart: Chart, name: str, kind: str) -> Response:
    draw = {"svg": lambda: chart.svg("light").encode(), "png": chart.png, "pdf": chart.pdf}.get(kind)
    if draw is None:
        return unknown_file(f"{name}.{kind}")
    try:
        return file_of(draw(), f"{name}.{kind}", PICTURES[kind])
    except EpsilensError as error:
        return no_file(problem_of(error))


def unknown_file(name: str) -> Response:
    return no_file(
        problem_of(InputError(f"there is no file {name[:40]!r} of this view: give one that is linked there"))
    )


def as_json(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)


def query_of(request: Request) -> dict[str, str]:
    return dict(request.query_params)


def _is_htmx(request: Request) -> bool:
    return request.headers.get("hx-request") == "true"


def canonical_redirect(request: Request, url: str, valid: bool) -> tuple[Response | None, dict[str, str]]:
    """A form's URL has entries of its own: redirect to the plain one, or tell htmx to show that."""
    if not valid:  # what is wrong stays in the address too: it is there again when the page is loaded again
        return None, {"hx-replace-url": f"{request.url.path}?{request.url.query}"} if _is_htmx(request) else {}
    if _is_htmx(request):
        return None, {"hx-push-url": url}
    form = any(k.endswith(("_of_100", "_mechanism")) or k in ("by", "add", "drop") for k in request.query_params)
    return (RedirectResponse(url, 303), {}) if form else (None, {})


def redirect(request: Request, url: str) -> Response:
    return Response(headers={"hx-redirect": url}) if _is_htmx(request) else RedirectResponse(url, 303)


def oob_targets(*names: str) -> str:
    """What is swapped beside a result: the way to get it again, and the place of each error."""
    return ",".join(("#reproduce", *(f"#error-{n}" for n in names)))


def csv_text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Rows as CSV; a text that a spreadsheet would run as a formula is marked as text.

    >>> csv_text(["name", "value"], [["=1+1", 0.5], ["a, b", None]])
    'name,value\r\n\'=1+1,0.5\r\n"a, b",\r\n'
    """
    out = io.StringIO()
    sheet = csv.writer(out)
    sheet.writerow(head)
    sheet.writerows([_csv_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _csv_cell(value: object) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def explanation_csv(about: Explanation) -> str:
    return csv_text(
        ("reading", "name", "symbol", "value", "without", "words"),
        ((r.key, r.name, r.symbol, r.value, r.baseline, r.words) for r in about.rows),
    )


def comparison_csv(heads: Sequence[str], every: Sequence[Explanation]) -> str:
    rows = [[r.key, r.name, *(about.rows[i].value for about in every), r.baseline] for i, r in enumerate(every[0].rows)]
    return csv_text(("reading", "name", *heads, "without"), rows)


def assessment_csv(data: Mapping[str, Any]) -> str:
    """Adversaries and queries of an assessment, from its JSON."""
    head = ("part", "name", "reading", "without", "planned", "recommended", "limit", "largest or smallest epsilon")
    risks = (
        ("adversary", r["name"], r["reading"], r["baseline"], r["planned"], r["recommended"], r["limit"], r["largest"])
        for r in data["risks"]
    )
    share, limit = "error as a share of the answer", data["error_limit"]
    queries = []
    for q in data["queries"]:
        planned, recommended = _worst_share(q["planned"]), _worst_share(q["recommended"])
        queries.append(("query", q["title"], share, None, planned, recommended, limit, q["smallest_epsilon"]))
    return csv_text(head, (*risks, *queries))


def _worst_share(errors: Mapping[str, Any] | None) -> float | None:
    worst = errors["worst"] if errors else None
    return worst["relative"] if worst else None
