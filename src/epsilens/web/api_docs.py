"""The API's documentation as a page of ours, rendered from the OpenAPI definition: no scripts, nothing fetched."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from .pages import render

__all__ = ["router"]

router = APIRouter(include_in_schema=False)

_EXAMPLES = {
    "/api/explain": "/api/explain?mechanism=laplace&epsilon=1",
    "/api/choose": "/api/choose?mechanism=laplace&reading=success&at_most=0.55",
    "/api/compare": "/api/compare?a=laplace:epsilon=1&b=gaussian:psi=1",
    "/api/tables": "/api/tables",
}


@router.get("/api")
def docs(request: Request) -> Response:
    """What each address takes and answers."""
    schema = request.app.openapi()
    operations = [
        (path, method, _operation(path, what))
        for path, methods in schema["paths"].items()
        for method, what in methods.items()
    ]
    return render("api.html", view="Help", schema=schema, operations=operations)


def _operation(path: str, what: dict[str, Any]) -> dict[str, Any]:
    body = what.get("requestBody")
    return {
        "description": what.get("description", ""),
        "summary": what.get("summary", ""),
        "example": _EXAMPLES.get(path, ""),
        "parameters": [
            {
                "name": p["name"],
                "kind": _kind(p["schema"]),
                "required": p.get("required", False),
                "description": p.get("description", ""),
            }
            for p in what.get("parameters", ())
        ],
        "body": f"{', '.join(body['content'])}, {body['description']}" if body else "",
        "answers": [(code, answer["description"].lower()) for code, answer in sorted(what["responses"].items())],
    }


def _kind(schema: dict[str, Any]) -> str:
    """A schema in a few words."""
    if "anyOf" in schema:
        schema = next((s for s in schema["anyOf"] if s.get("type") != "null"), {})
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    words = str(schema.get("type", "text")).replace("string", "text").replace("boolean", "yes or no")
    for key, sign in (("exclusiveMinimum", "above"), ("minimum", "from"), ("maximum", "to")):
        if key in schema:
            words += f" {sign} {schema[key]:g}"
    return words
