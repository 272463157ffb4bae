"""Hosts, origins, headers, and that no page fetches anything from elsewhere."""

from __future__ import annotations

import re
from typing import Any

import pytest

from epsilens.web.limits import allowed_hosts

PAGES = [
    "/",
    "/explain?mechanism=gaussian&psi=1",
    "/choose",
    "/compare?a=laplace:epsilon=1",
    "/assess",
    "/help",
    "/api",
    "/no",
]


@pytest.mark.parametrize("url", PAGES)
def test_no_page_reaches_outside(client: Any, url: str) -> None:
    page = client.get(url).text
    for target in re.findall(r"""(?:src|href|action|hx-get|hx-post)=["']([^"']*)["']""", page):
        assert target.startswith(("/", "#", "data:")), target
        assert not target.startswith("//")
    assert not re.findall(r"url\(\s*['\"]?(?:https?:)?//", page)
    assert "<script>" not in page
    assert not re.search(r"\son[a-z]+=", page), "an inline handler"


def test_style_and_script_reach_nowhere(client: Any) -> None:
    for name in ("web.css", "fonts.css", "web.js"):
        text = client.get(f"/static/{name}").text
        assert "http://" not in text
        assert "https://" not in text
    assert "url(http" not in client.get("/assets/page.css").text


@pytest.mark.parametrize("url", [*PAGES, "/api/tables", "/static/web.js"])
def test_headers(client: Any, url: str) -> None:
    headers = client.get(url).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "script-src 'self';" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "a b", "[::1", "192.168.0.1", "evil@127.0.0.1"],
)
def test_other_hosts_are_refused(client: Any, host: str) -> None:
    for url in ("/", "/api/tables"):
        answer = client.get(url, headers={"host": host})
        assert answer.status_code == 400
    assert answer.json()["schema"] == 1


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "[::1]:8000", "LOCALHOST"])
def test_our_own_hosts_are_answered(client: Any, host: str) -> None:
    assert client.get("/help", headers={"host": host}).status_code == 200


def test_hosts_of_a_server_on_the_network() -> None:
    assert "0.0.0.0" not in allowed_hosts("0.0.0.0")
    assert "192.168.1.5" in allowed_hosts("192.168.1.5")


@pytest.mark.parametrize("url", ["/assess", "/assess/columns", "/api/assess"])
@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "https://localhost"])
def test_forms_from_elsewhere_are_refused(client: Any, url: str, origin: str) -> None:
    assert client.post(url, content=b"", headers={"origin": origin}).status_code == 403


def test_other_sites_may_link_but_not_fetch(client: Any) -> None:
    cross = {"sec-fetch-site": "cross-site"}
    assert client.get("/explain", headers={**cross, "sec-fetch-mode": "navigate"}).status_code == 200
    assert client.get("/explain", headers={**cross, "sec-fetch-mode": "no-cors"}).status_code == 403
    assert client.get("/api/tables", headers={**cross, "sec-fetch-mode": "cors"}).status_code == 403


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/assets/..%2fpage.py", "/static/"])
def test_only_static_files_are_served(client: Any, path: str) -> None:
    assert client.get(path).status_code == 404


def test_strange_requests(client: Any, text_of: Any) -> None:
    assert client.delete("/explain").status_code == 405
    assert "There is no such page" in text_of(client.get("/%00<script>").text)
    assert client.get("/explain?" + "&".join(f"x{i}=1" for i in range(2000))).status_code == 200
    assert client.get("/explain?epsilon=1&epsilon=2").status_code == 200
    # A form that is none is answered by the page that says so, at an address of its own.
    broken = client.post("/assess", content=b"x", headers={"content-type": "multipart/form-data"})
    assert broken.status_code == 303
    assert client.get(broken.headers["location"]).status_code in (400, 422)
    assert client.get("/explain?epsilon=%ff%fe").status_code == 422
