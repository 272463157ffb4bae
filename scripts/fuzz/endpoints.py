"""Every endpoint: the API by its own definition (schemathesis), the pages by addresses that are nearly right."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from hypothesis import HealthCheck, Phase, given, seed, settings

from epsilens.catalogue.mechanisms import MECHANISMS, every_option
from epsilens.catalogue.parsing import EXPLANATION_OPTIONS
from epsilens.web.app import create_app
from epsilens.web.limits import ServerLimits

from .values import text
from .watched import Failed, Tried, watched

_FINE = (200, 303, 400, 403, 404, 405, 409, 413, 415, 422)
_HOST = "http://127.0.0.1:8000"


def endpoints(tried: Tried, numbers: Iterator[int], seconds: float) -> None:
    """Try one request for each number; each hundredth stands for a run of schemathesis over the API."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import schemathesis
        from starlette.testclient import TestClient

        app = create_app(limits=ServerLimits(reading_seconds=120))
        with TestClient(app, base_url=_HOST, follow_redirects=False) as client:
            definition = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
            every: Any = definition.get_all_operations()
            operations: list[Any] = [made for made in (found.ok() for found in every) if made is not None]
            routes: list[Any] = app.routes
            paths = [r.path for r in routes if "GET" in (getattr(r, "methods", None) or ())]
            for number in numbers:
                chance = random.Random(f"{tried.seed} {number}")
                if number % 100 == 99:
                    _by_definition(tried, number, seconds, chance.choice(operations), client)
                    continue
                url = _address(chance, paths)
                watched(tried, number, url, partial(_got, client, url), seconds)


def _address(chance: random.Random, paths: list[str]) -> str:
    path = chance.choice(paths)
    for place in ("{id}", "{token}", "{key}", "{prefix}", "{kind}"):
        path = path.replace(place, quote(text(chance).encode("utf-8", "replace"), safe="") or "x")
    spoken = [m.spoken for m in MECHANISMS.values() if m.spoken not in ("top-k", "mixture")]
    query = {"mechanism": chance.choice(spoken)} if chance.random() < 0.8 else {}
    for name in chance.sample([*every_option(), *EXPLANATION_OPTIONS, "reading", "at_most", "a", "b", "yaml", "by"], 4):
        query[name] = text(chance)
    if chance.random() < 0.3:
        query["a"] = f"{chance.choice(spoken)}:{text(chance)}"
    return f"{path}?{urlencode(query, errors='replace')}"


def _got(client: Any, url: str) -> None:
    _fine(client.get(url))


def _fine(answer: Any) -> None:
    if answer.status_code not in _FINE:
        raise Failed(f"{answer.status_code}: {answer.text[:200]}")
    if "Traceback" in answer.text or ">nan<" in answer.text.lower() or "NaN" in answer.text:
        raise Failed(f"a traceback or NaN in the answer: {answer.text[:100]}")


def _by_definition(tried: Tried, number: int, seconds: float, operation: Any, client: Any) -> None:
    @seed(tried.seed * 1_000_003 + number)
    @settings(max_examples=20, database=None, deadline=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(operation.as_strategy())
    def each(case: Any) -> None:
        if case.media_type == "multipart/form-data":  # which the client in this process cannot send in odd shapes
            return

        def call() -> None:
            kwargs = case.as_transport_kwargs(base_url=_HOST)
            kwargs.pop("cookies", None)
            kwargs.setdefault("headers", {})["host"] = "127.0.0.1"
            _fine(client.request(**kwargs))

        watched(tried, number, f"{case.method} {case.path} {case.query} {case.body}", call, seconds)

    each()
