"""Going where the page goes: redirects, and the pages that say how far a job is; plans and tables to go with."""

from __future__ import annotations

import html
import io
import re
import time
from typing import Any


def followed(client: Any, answer: Any, seconds: float = 120.0) -> Any:
    """The first answer that is neither a redirect nor a job's progress."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        then = re.search(r'data-then="([^"]*)"', answer.text)
        if answer.status_code == 303:
            answer = client.get(answer.headers["location"])
        elif then:
            time.sleep(0.05)
            answer = client.get(html.unescape(then[1]))
        else:
            return answer
    raise AssertionError("the job did not end")


def entries(page: str) -> dict[str, list[str]]:
    """What the plan form of a page would send."""
    form = page[page.index('id="plan-form"') :]
    form = form[: form.index("</form>")]
    sent: dict[str, list[str]] = {}

    def add(name: str, value: str) -> None:
        sent.setdefault(html.unescape(name), []).append(html.unescape(value))

    for tag in re.finditer(r"<input ([^>]*)>", form):
        given = dict(re.findall(r'([\w-]+)="([^"]*)"', tag[1]))
        if given.get("type") in ("checkbox", "radio") and " checked" not in tag[1]:
            continue
        if "name" in given and given.get("type") != "file":
            add(given["name"], given.get("value", ""))
    for name, inside in re.findall(r'<select [^>]*?name="([^"]*)"[^>]*>(.*?)</select>', form, re.DOTALL):
        options = re.findall(r"<option([^>]*)>", inside)
        chosen = next((o for o in options if " selected" in o), options[0])
        add(name, (re.search(r'value="([^"]*)"', chosen) or ["", ""])[1])
    return sent


def problems(page: str) -> list[str]:
    """The fields that say what is wrong with them."""
    return re.findall(r'<p class="error" id="error-([a-z0-9_]*)"><span', page)


SMALL = """title: People by sex
data:
  table: TABLE
  quasi_identifiers: [age, sex]
queries:
- count: true
  by: sex
mechanism: {noise: laplace, epsilon: 1.0}
limits: {success: 0.6}
"""
CSV = "age,sex,<b>bold</b>\n" + "".join(f"{20 + i % 40},{'fm'[i % 2]},{i}\n" for i in range(300))


def attached(name: str, data: bytes, yaml: str = SMALL.replace("TABLE", "upload")) -> dict[str, Any]:
    """YAML with a file, as a form sends them."""
    return {"files": {"file": (name, io.BytesIO(data), "text/csv")}, "data": {"yaml": yaml}}


def linked(client: Any, yaml: str) -> Any:
    """What a link to a plan shows."""
    return followed(client, client.get("/assess", params={"yaml": yaml}))


def brought(client: Any, name: str = "people.csv", data: str = CSV) -> Any:
    """The form of an upload."""
    sent = client.post("/assess/file", files={"file": (name, data.encode())})
    assert sent.status_code == 303, sent.text
    return followed(client, sent)


def sent_as(client: Any, form: dict[str, Any], **changed: Any) -> Any:
    """What comes of a form."""
    return followed(client, client.post("/assess", data={**form, **changed}))
