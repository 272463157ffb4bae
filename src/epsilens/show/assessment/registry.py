"""A record for the public deployments registry: what an assessment knows, and empty fields for the rest."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ... import __version__
from .queries import title
from .words import headline

if TYPE_CHECKING:
    from ...assessment.assessment import Assessment

__all__ = ["to_registry"]

#: A value with a comment; an empty value is one to be filled in.
Line = tuple[str, Any, str]


def to_registry(a: Assessment) -> str:
    """The YAML record, as a draft: the ε is the planned one, because that is the release described."""
    r, person = a.release, a.release.data.person
    noise = r.mechanism.noise.value.capitalize()
    variant = "Pure DP" if r.mechanism.delta is None else "Approximate DP"
    unit = "one person, all of whose rows" if person else "one row, which is one person"
    used = f"at most {r.data.max_rows} rows a person in sums and averages" if person else ""
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
            ("privacy_parameters", {"epsilon": a.epsilon, "delta": r.mechanism.delta, "rho": None}, ""),
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
