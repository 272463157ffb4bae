"""The OpenAPI definition, fuzzed in-process: no crash, and every answer as the definition says."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.examples import examples

from epsilens.errors import EpsilensError
from epsilens.web.app import create_app
from epsilens.web.jobs import Job, JobState
from epsilens.web.limits import ServerLimits
from epsilens.web.tasks import Task
from epsilens.web.worker import task_answer

_app = create_app(limits=ServerLimits(assess_seconds=30, reading_seconds=120))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    schema = schemathesis.openapi.from_asgi("/openapi.json", _app, headers={"Host": "127.0.0.1"})


@pytest.fixture(autouse=True)
def no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release that is valid by chance is not worth a process here; the assessment has tests of its own."""

    def done(task: str, upload: Any = None, owner: Any = None, **request: Any) -> Job:
        read: list[str] = []

        def reading() -> None:
            read.append(task)
            raise EpsilensError("the table would be read now")

        job = Job(_app.state.jobs, task, upload, owner, request)
        made = task_answer(Task({"task": task, **request}, reading=reading))
        job.state, job.answer = JobState.DONE, {"data": {"schema": 1}, "basis": ""} if read else made
        job._over.set_result(None)
        return job

    monkeypatch.setattr(_app.state.jobs, "start", done)


@schema.parametrize()
@settings(
    max_examples=examples(20),
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@pytest.mark.filterwarnings("ignore")
def test_the_api_holds(case: Any) -> None:
    response = case.call(headers={"Host": "127.0.0.1"})
    case.validate_response(
        response,
        checks=(
            not_a_server_error,
            status_code_conformance,
            content_type_conformance,
            response_schema_conformance,
        ),
    )
