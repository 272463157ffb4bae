"""The four engines: DuckDB always; a real Spark, a real PostgreSQL server and SQLite where they are found."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from tests.data.conftest import spark  # noqa: F401
from tests.engines import places
from tests.engines.places import Place
from tests.engines.server import Server, running, why_no_postgres

NAMES = ["duckdb", "sqlite", "postgres", pytest.param("pyspark", marks=pytest.mark.spark)]


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One PostgreSQL server for the whole run."""
    why = why_no_postgres()
    if why:
        if os.environ.get("EPSILENS_REQUIRE_POSTGRES") == "1":
            pytest.fail(f"EPSILENS_REQUIRE_POSTGRES=1, but {why}")
        pytest.skip(f"POSTGRESQL WAS NOT TESTED: {why}")
    with running() as made:
        yield made


@pytest.fixture(scope="session")
def on_postgres(server: Server) -> Place:
    return places.postgres(server)


@pytest.fixture(scope="session")
def on_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return places.sqlite(tmp_path_factory.mktemp("sqlite"))


@pytest.fixture(params=NAMES)
def place(request: pytest.FixtureRequest) -> Place:
    """Each engine in turn."""
    return _place(request)


@pytest.fixture(params=NAMES[1:])
def elsewhere(request: pytest.FixtureRequest) -> Place:
    """Each engine but DuckDB, for what is compared with it."""
    return _place(request)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Spark takes seconds for what the others do at once: ``on_spark`` says which examples of a test it has its turn
    with, and the others are not made for it."""

    def wanted(item: pytest.Item) -> bool:
        mark, call = item.get_closest_marker("on_spark"), getattr(item, "callspec", None)
        if mark is None or call is None or "pyspark" not in call.params.values():
            return True
        return bool(mark.args[0](**{name: value for name, value in call.params.items() if value != "pyspark"}))

    config.hook.pytest_deselected(items=[item for item in items if not wanted(item)])
    items[:] = [item for item in items if wanted(item)]


def _place(request: pytest.FixtureRequest) -> Place:
    if request.param == "pyspark":
        request.getfixturevalue("spark")
        return places.spark()
    if request.param == "duckdb":
        return places.duckdb()
    made: Place = request.getfixturevalue(f"on_{request.param}")
    return made
