"""The views: Explain, Choose, Compare and Help. A view is a query turned into a result and put into a template.

The pieces of HTML the views share come from the report, so that page, report and command say the same: as
:class:`markupsafe.Markup`, already escaped where they had to be.
"""

from __future__ import annotations

import csv
import io
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup

from .. import __version__
from ..catalogue.mechanisms import MECHANISMS, MechanismEntry, Purpose
from ..catalogue.parameters import PARAMETERS, symbol
from ..catalogue.parsing import EXPLANATION_OPTIONS
from ..catalogue.readings import READINGS
from ..results import join_words
from ..shares import parse_share
from ..show import charts
from ..show.explanation import by_noise_section, reading_table, told
from ..show.explanation import pictures as people
from ..show.policy import POLICY
from ..show.render import html
from ..show.sentences import false_alarms
from . import view_state
from .limits import ServerLimits
from .view_state import Field, field_of, mechanism_fields, to_of_100, ways_of

if TYPE_CHECKING:
    from ..show.explanation import Explanation
    from .compare import SettingForm


_VIEWS = (("Explain", "/explain"), ("Choose", "/choose"), ("Assess", "/assess"), ("Compare", "/compare"))
#: Views that only some servers have.
extra_views: ContextVar[tuple[tuple[str, str], ...]] = ContextVar("beside", default=())


def views() -> tuple[tuple[str, str], ...]:
    """The views of this server, each with its address."""
    return (*_VIEWS, *extra_views.get())


class LRUCache:
    """The last few results by key, safe between threads."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._held: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def held(self, key: Hashable) -> Any:
        """What is kept under the key, or None."""
        with self._lock:
            return self._held.get(key)

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What is kept under the key, or what ``make`` returns, kept from then on."""
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key]
        made = make()
        with self._lock:
            self._held[key] = made
            while len(self._held) > self.most:
                self._held.popitem(last=False)
        return made


_charts = LRUCache(512)


def sentence_html(about: Explanation) -> Markup:
    """The headline, if something was chosen, and the sentence."""
    headline = Markup("<h1>{}</h1>").format(html.held(about.headline)) if about.headline else Markup("")
    return headline + html.blocks((told(about),))


def icon_arrays(about: Explanation) -> Markup:
    """The icon arrays with their note."""
    return html.blocks((people(about),))


def reading_section(about: Explanation) -> Markup:
    """The section with every reading."""
    return html.section(reading_table(about))


def noise_section(about: Explanation) -> Markup:
    """What a claim means by what is known of the noise; nothing where the noise is known."""
    return Markup("").join(html.section(one) for one in by_noise_section(about))


def curve_charts(about: Explanation, key: Hashable) -> list[Markup]:
    """The ROC and precision–recall curves; ``key`` says what the experiment was built from."""
    prior, fpr = about.arguments["prior"], about.arguments["fpr"]

    def draw() -> list[Markup]:
        both = (charts.roc(about.experiment, prior, fpr), charts.precision_recall(about.experiment, prior, fpr))
        return [Markup(chart.svg("page", chart.phone)) for chart in both]  # two phones side by side fill a desk

    made: list[Markup] = _charts.get((key, prior, fpr), draw)
    return made


def curves_note(about: Explanation) -> str:
    """What the two dots on the curves stand for."""
    return f"Filled dot: the guess that is right most often. Hollow dot: at {false_alarms(about.arguments['fpr'])}."


router = APIRouter(include_in_schema=False)

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


def _rare_open(rare: list[Field], asked: view_state.ViewState | SettingForm) -> bool:
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


def render(name: str, status: int = 200, headers: Mapping[str, str] | None = None, **values: Any) -> HTMLResponse:
    """A view."""
    return HTMLResponse(_TEMPLATES.get_template(name).render(**values), status, dict(headers or {}))


def attachment(text: str, name: str, kind: str) -> Response:
    """A file of text to keep."""
    return file_of(text.encode(), name, kind)


def file_of(content: bytes, name: str, kind: str) -> Response:
    """A file to keep; should a browser show it all the same, it may do nothing."""
    headers = {"content-disposition": f'attachment; filename="{name}"', "content-security-policy": _DOWNLOAD_CSP}
    return Response(content, media_type=kind, headers=headers)


def as_json(data: Any) -> str:
    """Plain values as the command writes them."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)


def query_of(request: Request) -> dict[str, str]:
    """The entries of an address."""
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


def _redirect(request: Request, url: str) -> Response:
    """Another view, also for htmx."""
    return Response(headers={"hx-redirect": url}) if _is_htmx(request) else RedirectResponse(url, 303)


def oob_targets(*names: str) -> str:
    """What is swapped beside a result: the way to get it again, and the place of each error."""
    return ",".join(("#reproduce", *(f"#error-{n}" for n in names)))


@router.get("/")
@router.get("/explain")
def explain_view(request: Request) -> Response:
    """Explain."""
    given = query_of(request)
    if given.get("mechanism") == "claim":
        return _redirect(request, "/claim")
    asked = view_state.explain_state(given)
    away, headers = canonical_redirect(request, asked.url, asked.problem is None)
    if away:
        return away
    mechanism = MECHANISMS[asked.mechanism]
    noise, usual, rare = mechanism_fields(mechanism, asked.way)
    ways = _way_labels(mechanism)
    return render(
        "explain.html",
        asked.problem.status if asked.problem else 200,
        headers,
        view="Explain",
        asked=asked,
        ways=ways,
        noise=noise,
        usual=usual,
        rare=rare,
        oob=oob_targets("mechanism", *(f.name for f in (*noise, *usual, *rare))),
    )


def _way_labels(mechanism: MechanismEntry) -> list[tuple[str, str]]:
    return [(way, join_words([symbol(n) for n in names])) for way, names in ways_of(mechanism).items()]


@router.get("/explain.html")
def explain_file(request: Request) -> Response:
    """The Explain report to keep."""
    return _file(view_state.explain_state(query_of(request)), "explain")


@router.get("/choose.html")
def choose_file(request: Request) -> Response:
    """The Choose report to keep."""
    return _file(view_state.choose_state(query_of(request)), "choose")


@router.get("/explain.pdf")
@router.get("/choose.pdf")
def explain_pdf(request: Request) -> Response:
    """The same on paper."""
    view = request.url.path.strip("/").removesuffix(".pdf")
    ask = view_state.explain_state if view == "explain" else view_state.choose_state
    asked = ask(query_of(request))
    if asked.about is None:
        return no_file(asked.problem)
    return file_of(asked.about.to_pdf(), f"{view}-{asked.mechanism}.pdf", PICTURES["pdf"])


@router.get("/choose.json")
def choose_json(request: Request) -> Response:
    """The choice as JSON, from the view's own query."""
    asked = view_state.choose_state(query_of(request))
    if asked.about is None:
        return no_file(asked.problem)
    return attachment(as_json(asked.about.to_dict()), "choose.json", "application/json")


def _file(asked: view_state.ViewState, name: str) -> Response:
    if asked.about is None:
        return no_file(asked.problem)
    return attachment(asked.about.to_html(), f"{name}-{asked.mechanism}.html", "text/html")


def no_file(problem: view_state.FieldProblem | None) -> Response:
    """Why there is no file to keep."""
    sentence = problem.sentence if problem else ""
    return render("message.html", 422, view="", heading="This cannot be computed", sentence=sentence)


@router.get("/choose")
def choose_view(request: Request) -> Response:
    """Choose."""
    given = query_of(request)
    asked = view_state.choose_state(given)
    solvable = asked.problem is None or asked.problem.floor is not None
    away, headers = canonical_redirect(request, asked.url, solvable and bool(asked.options))
    if away:
        return away
    reading = asked.values.get("reading", "success")
    mechanism = MECHANISMS[asked.mechanism]
    arguments = [field_of(PARAMETERS[n]) for n in READINGS[reading].options] if reading in READINGS else []
    parameter = asked.values.get("parameter", "epsilon")
    ways = ways_of(mechanism)
    noise, usual, rare = mechanism_fields(mechanism, asked.way if asked.way in ways else next(iter(ways)))
    taken = {f.name for f in arguments} | {parameter, *EXPLANATION_OPTIONS}
    noise, usual, rare = ([f for f in some if f.name not in taken] for some in (noise, usual, rare))
    return render(
        "choose.html",
        asked.problem.status if asked.problem else 200,
        headers,
        view="Choose",
        asked=asked,
        readings_choices=[(name, _sentence_case(r.label)) for name, r in READINGS.items() if name != "roc"],
        counted=view_state.of_100_limits(reading),
        at_most_unit=READINGS[reading].ceiling == 1 if reading in READINGS else True,
        arguments=arguments,
        parameters=[(n, field_of(PARAMETERS[n]).label) for n in view_state.choice_parameters(mechanism)],
        ways=[] if parameter in ways else _way_labels(mechanism),
        symbol=symbol(parameter),
        unmet=_unmet_limit(asked),
        noise=noise,
        usual=usual,
        rare=rare,
        oob=oob_targets("mechanism", "reading", "at_most", *(f.name for f in (*arguments, *noise, *usual, *rare))),
    )


def _unmet_limit(asked: view_state.ViewState) -> str:
    """That nothing keeps the limit, in the units it was entered in; empty where the floor does not say why."""
    floor, reading = asked.problem.floor if asked.problem else None, READINGS.get(asked.value("reading"))
    if floor is None or reading is None:
        return ""
    entry = asked.value("at_most")
    limit = parse_share(entry) or float(entry)  # it was read before
    if not limit < floor < reading.ceiling:
        return ""
    entered = view_state.of_100_limits(reading.name)
    shown, least = (f"{to_of_100(f'{v:.6g}')} of 100" if entered else f"{v:.6g}" for v in (limit, floor))
    sign = symbol(asked.value("parameter"))
    return (
        f"No {sign} keeps {reading.label} at or below {shown}: the least there can be is {least}, "
        "so give a limit above that."
    )


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:] if text[:1].isascii() else text


@router.get("/help")
def help_view() -> Response:
    """Help."""
    return render("help.html", view="Help")


def csv_text(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""Rows as CSV; a text that a spreadsheet would run as a formula is marked as text.

    >>> csv_text(["name", "value"], [["=1+1", 0.5], ["a, b", None]])
    'name,value\r\n\'=1+1,0.5\r\n"a, b",\r\n'
    """
    out = io.StringIO()
    sheet = csv.writer(out)
    sheet.writerow(head)
    sheet.writerows([_csv_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _csv_cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def explanation_csv(about: Explanation) -> str:
    """Every reading with its value, what it would be without the release, and its words."""
    return csv_text(
        ("reading", "name", "symbol", "value", "without", "words"),
        ((r.key, r.name, r.symbol, r.value, r.baseline, r.words) for r in about.rows),
    )


def comparison_csv(letters: Sequence[str], settings: Sequence[str], every: Sequence[Explanation]) -> str:
    """Every reading, a column for each setting."""
    heads = [f"{letter.upper()}: {setting}" for letter, setting in zip(letters, settings, strict=True)]
    rows = [[r.key, r.name, *(about.rows[i].value for about in every), r.baseline] for i, r in enumerate(every[0].rows)]
    return csv_text(("reading", "name", *heads, "without"), rows)


def assessment_csv(data: Mapping[str, Any]) -> str:
    """Adversaries and queries of an assessment, from its JSON."""
    head = ("part", "name", "reading", "without", "planned", "recommended", "limit", "largest or smallest epsilon")
    risks = (
        ("adversary", r["name"], r["reading"], r["baseline"], r["planned"], r["recommended"], r["limit"], r["largest"])
        for r in data["risks"]
    )
    limit = data["error_limit"]
    queries = (
        (
            "query", q["title"], "error as a share of the answer", None, _worst_share(q["planned"]),
            _worst_share(q["recommended"]),
            limit, q["smallest_epsilon"],
        )
        for q in data["queries"]
    )  # fmt: skip
    return csv_text(head, (*risks, *queries))


def _worst_share(errors: Mapping[str, Any] | None) -> float | None:
    """The error of the least accurate group as a share of its answer."""
    worst = errors["worst"] if errors else None
    return worst["relative"] if worst else None
