"""An assessment as data: plain values for JSON, and a draft record for the public deployments registry.

Nobody's values are in it: answers of groups, counts of people, no rows.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ... import __version__
from ...assessment.assess import SCHEMA
from ...catalogue.deployments import SOURCE
from ...data.queries import Noise
from ...plan.noise import name_delta, unprotected_names
from ..presenters import finite
from .labels import title
from .tables import relatives_data
from .words import cautions, headline, sentence, status

if TYPE_CHECKING:
    from ...assessment.accuracy import GroupError, QueryAccuracy, QueryErrors
    from ...assessment.assess import Assessment
    from ...assessment.risks import AdversaryRisk
    from ...assessment.split import SplitComparison
    from ...data.scan.result import Scan


def as_dict(a: Assessment) -> dict[str, Any]:
    """Everything the report shows. JSON has no infinity: what is unbounded is null."""
    plain: dict[str, Any] = {
        "schema": SCHEMA,
        "title": a.release.title,
        "verdict": a.verdict.standing.value,
        "exceeded": a.verdict.exceeded,
        "headline": headline(a),
        "status": status(a),
        "sentence": sentence(a),
        "planned": {"epsilon": a.epsilon, "delta": a.release.mechanism.delta, "noise": a.release.mechanism.noise.value},
        "recommended": {
            "epsilon": a.recommended or None,
            "at_least": a.at_least,
            "possible": a.possible,
            "from_data": a.verdict.looked,
            "whatever_the_data": a.verdict.blind,
        },
        "cautions": [
            {"about": w.about.value, "column": w.column, "count": w.count, "sentence": text}
            for w, text in zip(a.cautions, cautions(a), strict=True)
        ],
        "ledger": None if a.room is None else {k: v for k, v in vars(a.room).items() if k != "ledger"},
        "binding": a.binding,
        "risks": [_risk(r) for r in a.risks],
        "queries": [_query(a, q) for q in a.queries],
        "error_limit": a.release.error_limit,
        "curve": {
            "epsilon": list(a.curve.epsilon),
            "risks": {key: list(line) for key, line in a.curve.risks.items()},
            "errors": [list(line) for line in a.curve.errors],
        },
        "isolation": None if a.scan is None else _isolation(a.scan),
        "relatives": relatives_data(a),
        "typical": None if a.typical is None else dict(vars(a.typical)),
        "guarantee": a.guarantee,
        "together": [{"people": k, "success": p} for k, p in a.together],
        "names": {"delta": name_delta(a.release, a.epsilon), "unsaid": list(unprotected_names(a.release))},
        "split": None if a.split is None else _split(a.split),
        "proposals": [{**vars(p), "parameter": p.parameter.value} for p in a.proposals],
        "precedents": {"source": SOURCE, "deployments": [dict(vars(p)) for p in a.precedents]},
        "assumptions": list(a.assumptions),
        "notes": list(a.notes),
        "reproduce": {**a.reproduce, **({"command": a.command} if a.command else {})},
        "release": release_values(a),
    }
    made: dict[str, Any] = finite(plain)
    return made


def _split(split: SplitComparison) -> dict[str, Any]:
    return {
        name: {"shares": list(way.shares), "errors": list(way.errors)}
        for name, way in (("equal", split.equal), ("least_error", split.best))
    }


def release_values(a: Assessment) -> dict[str, Any]:
    """The release as it was given, without what was left to its default, and without the table's address."""
    return a.release.public()


def _risk(r: AdversaryRisk) -> dict[str, Any]:
    kept = {name: value for name, value in vars(r).items() if name not in ("asks", "conclusive")}
    return {**kept, "arguments": dict(r.arguments), "over": r.over, "harm": r.asks.harm.value}


def _query(a: Assessment, q: QueryAccuracy) -> dict[str, Any]:
    return {
        "name": q.name,
        "title": title(a, q),
        "kind": q.kind.value,
        "sensitivity": q.sensitivity,
        "share": q.share,
        "answers": [{**vars(answer), "group": list(answer.group)} for answer in q.answers],
        "typical": q.typical,
        "planned": _errors(q, q.planned),
        "recommended": None if q.recommended is None else _errors(q, q.recommended),
        "smallest_epsilon": q.smallest_epsilon,
        "obstacle": None if q.obstacle is None else q.obstacle.value,
    }


def _errors(q: QueryAccuracy, found: QueryErrors) -> dict[str, Any]:
    groups = {"typical": found.typical, "worst": found.worst}
    return {
        "epsilon": found.epsilon,
        "scale": found.scale,
        "hidden": found.hidden,
        **{name: None if group is None else _group(group) for name, group in groups.items()},
    }


def _group(group: GroupError) -> dict[str, Any]:
    plain = {name: value for name, value in vars(group).items() if name != "answer"}
    return {"answer": group.answer.value, **plain, "relative": group.relative, "cause": group.cause.value}


def _isolation(scan: Scan) -> dict[str, Any]:
    return {
        "sentence": scan.sentence,
        "people": scan.people,
        "rows": scan.rows,
        "isolated": scan.isolated,
        "quasi_identifiers": list(scan.quasi_identifiers),
        "subsets": [{"columns": list(s.columns), "people": s.people} for s in scan.subsets],
        "columns": [dict(vars(c)) for c in scan.columns],
        "fewest": {str(k): n for k, n in scan.fewest.items()},
        "never": scan.never,
        "largest_share_of_sensitivity": [q.ratio["worst"] for q in scan.queries],
    }


# -- the registry -------------------------------------------------------------------------------------------------

#: A value with a comment; an empty value is one to be filled in.
Line = tuple[str, Any, str]


def to_registry(a: Assessment) -> str:
    """The YAML record, as a draft: the ε is the planned one, because that is the release described."""
    r, person = a.release, a.release.data.person
    noise = r.mechanism.noise.value.capitalize()
    names = name_delta(r, a.epsilon)
    delta = ((r.mechanism.delta or 0.0) if r.mechanism.noise is Noise.GAUSSIAN else 0.0) + names
    variant = "Approximate DP" if delta else "Pure DP"
    unit = "one person, all of whose rows" if person else "one row, which is one person"
    rows = f"{r.data.max_rows} row{'' if r.data.max_rows == 1 else 's'}"
    used = f"at most {rows} a person in sums and averages" if person else ""
    shares = ", ".join(f"{title(a, q)}: {q.share * a.epsilon:.6g}" for q in a.queries)
    how = list(dict.fromkeys(risk.how for risk in a.risks if risk.how))
    out = [
        f"# Written by epsilens {__version__}. {headline(a)}.",
        "# Fields that are empty are not known to the assessment: fill them in before publishing.",
        "# Do not publish figures on isolation or true answers.",
        *_lines(0, ("status", "Draft", ""), ("tier", "", "assigned by the registry")),
        "deployment:",
        *_part(
            "basic",
            ("name", r.title, ""), ("data_curators", [], "who holds the data"), ("intended_use", "", ""),
            ("data_product_type", "", "for example summary statistics"), ("data_product_region", "", ""),
            ("description", "; ".join(title(a, q) for q in a.queries), ""), ("publication_date", "", ""),
            ("data_product_sector", "", ""),
        ),
        *_part("dp_variant", ("variant_name", variant, "")),
        *_part(
            "privacy_loss",
            ("privacy_unit", "User-level" if person else "Record-level", ""),
            ("privacy_unit_details", ", ".join(filter(None, (unit, used))), ""),
            ("privacy_parameters", {"epsilon": a.epsilon, "delta": delta or None, "rho": None}, ""),
            ("privacy_parameters_details", f"ε of each query: {shares}", ""),
        ),
        *_part(
            "deployment_model",
            ("model_name", "Central", ""), ("model_name_details", "", ""),
            ("release_type", "", "one-shot or continual"),
            ("release_type_details", "", ""), ("data_source_type", "", "static or dynamic"),
            ("data_source_type_details", "", ""), ("access_type", "", "interactive or not"),
            ("access_type_details", "", ""),
        ),
        *_part("accounting", ("composition", "; ".join(how), ""), ("post_processing", "", "")),
        *_part(
            "implementation",
            ("mechanisms", [f"{noise} noise"], ""),
            ("justification", "", "why this ε: the limits, and who agreed to them"),
        ),
        *_part(
            "administrative",
            ("sources", [], "links to what was published"), ("notes", "", ""), ("registry_authors", [], ""),
        ),
    ]  # fmt: skip
    return "\n".join(out) + "\n"


def _part(name: str, *lines: Line) -> list[str]:
    return [f"  {name}:", *_lines(4, *lines)]


def _lines(indent: int, *lines: Line) -> list[str]:
    """Values as JSON, which is YAML too and needs no further escaping."""
    made = []
    for name, value, comment in lines:
        shown = json.dumps(value, ensure_ascii=True)
        if isinstance(value, dict):  # YAML takes 1e-06 for text: a float needs its point
            shown = re.sub(r"\b(\d+)e(?=[-+])", r"\1.0e", shown)
        note = comment or ("to be filled in" if value in ("", []) else "")
        made.append(f"{' ' * indent}{name}: {shown}" + (f"  # {note}" if note else ""))
    return made
