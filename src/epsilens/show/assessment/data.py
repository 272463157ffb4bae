"""An assessment as plain values for JSON. Nobody's values are in it: answers of groups, counts of people, no rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...assessment.assessment import SCHEMA
from ...assessment.provenance import SOURCE
from ...data.tables.source import masked
from .queries import title
from .relatives import relatives_data
from .words import headline, sentence, status

if TYPE_CHECKING:
    from ...assessment.accuracy import Noise, QueryAccuracy
    from ...assessment.assessment import Assessment, Risk
    from ...data.scan.result import Scan

__all__ = ["as_dict", "release_values"]


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
        "recommended": {"epsilon": a.recommended or None, "at_least": a.at_least, "possible": a.possible},
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
        "precedents": {"source": SOURCE, "deployments": [dict(vars(p)) for p in a.precedents]},
        "assumptions": list(a.assumptions),
        "notes": list(a.notes),
        "reproduce": {**a.reproduce, **({"command": a.command} if a.command else {})},
        "release": release_values(a),
    }
    made: dict[str, Any] = _finite(plain)
    return made


def release_values(a: Assessment) -> dict[str, Any]:
    """The release as it was given, without what was left to its default, and without a database's password."""
    made = a.release.model_dump(mode="json", exclude_defaults=True)
    made["data"]["table"] = masked(made["data"]["table"])
    return made


def _risk(r: Risk) -> dict[str, Any]:
    kept = {name: value for name, value in vars(r).items() if name not in ("asks", "conclusive")}
    return {**kept, "arguments": dict(r.arguments), "over": r.over}


def _query(a: Assessment, q: QueryAccuracy) -> dict[str, Any]:
    at = {"planned": (q.planned, a.epsilon), "recommended": (q.recommended, a.recommended)}
    return {
        "name": q.name,
        "title": title(a, q),
        "kind": q.kind.value,
        "sensitivity": q.sensitivity,
        "share": q.share,
        "answers": [{"group": list(answer.group), "value": answer.value} for answer in q.answers],
        "typical": q.typical,
        **{name: _noise(a, q, noise, epsilon) for name, (noise, epsilon) in at.items()},
        "smallest_epsilon": q.smallest_epsilon,
    }


def _noise(a: Assessment, q: QueryAccuracy, noise: Noise | None, epsilon: float | None) -> dict[str, float] | None:
    if noise is None or not epsilon:
        return None
    return {**vars(noise), "relative": q.relative(epsilon, a.release)}


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


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
