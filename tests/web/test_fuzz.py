"""The OpenAPI definition, fuzzed in-process: no crash, and every answer as the definition says."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tests.examples import examples

from epsilens.errors import EpsilensError
from epsilens.web.app import create_app
from epsilens.web.limits import ServerLimits
from epsilens.web.pool import Job, JobState
from epsilens.web.tasks import Task
from epsilens.web.worker import task_answer

HOST = {"Host": "127.0.0.1"}
OPERATIONS = (
    "GET /api/explain",
    "GET /api/choose",
    "GET /api/compare",
    "GET /api/tables",
    "POST /api/assess",
    "POST /api/assess/shares",
)
SETTINGS = settings(
    max_examples=examples(20),
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def app() -> Any:
    return create_app(limits=ServerLimits(assess_seconds=30, reading_seconds=120))


@pytest.fixture(scope="module")
def schema(app: Any) -> Any:
    """The definition. Schemathesis makes its cases when a test is collected, for seconds and in every process of a run,
    so it is asked here for those of the one operation that is tried."""
    import schemathesis

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return schemathesis.openapi.from_asgi("/openapi.json", app, headers=HOST)


@pytest.fixture(autouse=True)
def no_processes(app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release that is valid by chance is not worth a process here; the assessment has tests of its own."""

    def done(task: str, upload: Any = None, owner: Any = None, **request: Any) -> Job:
        read: list[str] = []

        def reading() -> None:
            read.append(task)
            raise EpsilensError("the table would be read now")

        job = Job(app.state.jobs, task, upload, owner, request)
        sent: Any = {"task": task, **request}
        made = task_answer(Task(sent, reading=reading))
        job.state, job.answer = JobState.DONE, {"data": {"schema": 1}, "basis": ""} if read else made
        job._over.set_result(None)
        return job

    monkeypatch.setattr(app.state.jobs, "start", done)


@pytest.mark.parametrize("label", OPERATIONS)
@pytest.mark.filterwarnings("ignore")
def test_the_api_holds(label: str, schema: Any) -> None:
    from schemathesis.checks import not_a_server_error
    from schemathesis.generation.hypothesis import builder
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    checks = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)

    def holds(case: Any) -> None:
        case.validate_response(case.call(headers=HOST), checks=checks)

    operation = next(made.ok() for made in schema.get_all_operations() if made.ok().label == label)
    modes = list(builder.HypothesisTestMode)
    config = builder.HypothesisTestConfig(project=schema.config, modes=modes, explicit_settings=SETTINGS)
    builder.create_test(operation=operation, test_func=holds, config=config)()


def test_every_operation_of_the_definition_is_tried(schema: Any) -> None:
    assert sorted(made.ok().label for made in schema.get_all_operations()) == sorted(OPERATIONS)
