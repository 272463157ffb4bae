"""A fresh ledger in each database: a file of SQLite, and a real PostgreSQL server where one is found."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.conftest import server  # noqa: F401
from tests.engines.server import Server


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a ledger may be made; nothing is there yet."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    made: Server = request.getfixturevalue("server")
    with made.connect() as connection:
        connection.execute("DROP TABLE IF EXISTS epsilens_ledger")
    return made.url()
