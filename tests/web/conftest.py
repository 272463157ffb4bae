"""One application for all, asked in-process under the host name it listens on."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the page needs epsilens[web]")

with warnings.catch_warnings():  # it asks for a successor of httpx that is not there yet
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

from epsilens.web.app import create_app
from epsilens.web.limits import ServerLimits

HOST = "http://127.0.0.1:8000"


@pytest.fixture(scope="session")
def app() -> Any:
    # A crowded machine takes longer than a server allows.
    limits = ServerLimits(assess_seconds=120, reading_seconds=120, upload_bytes=3_000_000, unpacked_bytes=20_000_000)
    return create_app(limits=limits)


@pytest.fixture(scope="session")
def client(app: Any) -> Iterator[TestClient]:
    with TestClient(app, base_url=HOST, follow_redirects=False) as made:
        yield made


@pytest.fixture
def text_of() -> Any:
    """The words of a page, without its tags."""

    def words(page: str) -> str:
        import html

        return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())

    return words
