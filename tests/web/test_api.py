"""The API answers what the command line prints."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from epsilens.cli.app import app as commands
from epsilens.cli.console import run


def from_command(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    import typer

    assert run(typer.main.get_command(commands), [*words, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def rounded(told: Any) -> Any:
    """To 12 digits: the page's processes have fewer threads than this one, which add up in another order."""
    if isinstance(told, float):
        return float(f"{told:.12g}")
    if isinstance(told, dict):
        return {name: rounded(value) for name, value in told.items()}
    return [rounded(value) for value in told] if isinstance(told, list) else told


@pytest.mark.parametrize(
    "query",
    [
        {"mechanism": "laplace", "epsilon": "1"},
        {"mechanism": "laplace", "epsilon": "1e-3", "prior": "0.2", "fpr": "0.05"},
        {"mechanism": "gaussian", "epsilon": "1", "delta": "1e-5"},
        {"mechanism": "randomized-response", "truth": "0.75", "k": "3"},
        {"mechanism": "exponential", "epsilon": "1", "scores0": "1,2,3", "scores1": "1,2,4", "monotonic": "true"},
        {"mechanism": "staircase", "epsilon": "2", "for_epsilon": "0.1"},
        {"mechanism": "dpsgd", "rate": "0.01", "schedule": "sigma=1,0.8 steps=50,50"},
    ],
)
def test_explain_is_the_command_s_json(client: Any, capsys: pytest.CaptureFixture[str], query: dict[str, str]) -> None:
    words: list[str] = []
    for name, value in query.items():
        if name != "mechanism":
            words += [f"--{name.replace('_', '-')}", *([] if value == "true" else [value])]
    answer = client.get("/api/explain", params=query)
    assert answer.status_code == 200
    assert rounded(answer.json()) == rounded(from_command(capsys, "explain", query["mechanism"], *words))


def test_choose_is_the_command_s_json(client: Any, capsys: pytest.CaptureFixture[str]) -> None:
    answer = client.get("/api/choose?mechanism=laplace&reading=success&at_most=0.55").json()
    assert answer == from_command(capsys, "choose", "laplace", "--at-most", "success=0.55")
    answer = client.get("/api/choose?mechanism=gaussian&reading=roc&at_most=0.05&fpr=0.01").json()
    assert answer == from_command(capsys, "choose", "gaussian", "--at-most", "roc=0.05", "--fpr", "0.01")


def test_no_solution_names_the_floor(client: Any) -> None:
    answer = client.get("/api/choose?mechanism=laplace&at_most=0.4")
    assert answer.status_code == 422
    assert answer.json()["floor"] == 0.5


@pytest.mark.parametrize(
    ("url", "field"),
    [
        ("/api/explain?epsilon=-1", "epsilon"),
        ("/api/explain?epsilon=one", "epsilon"),
        ("/api/explain?epsilon=1&colour=red", None),
        ("/api/explain?epsilon=1&epsilon=2", "epsilon"),
        ("/api/explain?mechanism=magic", "mechanism"),
        ("/api/explain?mechanism=laplace&sigma=1", "sigma"),
        ("/api/explain?mechanism=dpsgd&sigma=1&rate=0.01", "steps"),
        ("/api/explain?mechanism=gaussian&sigma=nan", "sigma"),
        ("/api/choose?mechanism=gaussian&reading=epsilon&at_most=1", None),
        ("/api/choose?at_most=0.1&reading=roc", "fpr"),
        ("/api/choose", "at_most"),
        ("/api/choose?at_most=0.55&reading=joy", "reading"),
        ("/api/choose?at_most=0.55&epsilon=1", "epsilon"),
        ("/api/compare?a=", "a"),
        ("/api/compare?a=laplace:epsilon=1&b=x", "b"),
    ],
)
def test_errors_are_sentences(client: Any, url: str, field: str | None) -> None:
    answer = client.get(url)
    assert answer.status_code == 422, answer.text
    assert answer.json()["schema"] == 1
    assert answer.json()["error"].endswith(".")
    assert answer.json()["field"] == field


def test_a_number_that_is_none(client: Any) -> None:
    for value in ("nan", "-inf"):
        told = client.get("/api/explain", params={"mechanism": "gaussian", "sigma": value}).json()
        assert told["error"] == f"sigma is '{value}': give a finite number."
    assert client.get("/api/choose?mechanism=gaussian&reading=epsilon&at_most=1").json()["floor"] is None


def test_compare(client: Any) -> None:
    answer = client.get("/api/compare", params={"a": "laplace:epsilon=1", "b": "gaussian:psi=1"}).json()
    assert [s["letter"] for s in answer["settings"]] == ["a", "b"]
    explained = client.get("/api/explain?mechanism=gaussian&psi=1&for_epsilon=1").json()
    assert answer["settings"][1]["explanation"]["readings"] == explained["readings"]


def test_tables(client: Any) -> None:
    answer = client.get("/api/tables").json()
    assert {t["name"] for t in answer["tables"]} == {"epsilens:adult", "epsilens:rand-hie"}
    assert "path" not in answer["tables"][0]


def test_the_docs_are_ours(client: Any, text_of: Any) -> None:
    page = client.get("/api")
    assert page.status_code == 200
    for path in client.get("/openapi.json").json()["paths"]:
        assert path in page.text
    assert client.get("/docs").status_code == 404


SMALL = """title: People by sex
data: {table: upload, quasi_identifiers: [age, sex]}
queries:
- count: true
  by: sex
mechanism: {noise: laplace, epsilon: 1.0}
limits: {success: 0.6}
"""


def test_a_release_is_assessed_on_the_file_that_comes_with_it(client: Any, app: Any) -> None:
    csv = "age,sex\n" + "".join(f"{20 + i % 40},{'fm'[i % 2]}\n" for i in range(300))
    kept = app.state.uploads.open()
    before = set(kept.iterdir())  # other tests' visitors may have files here
    sent = client.post("/api/assess", data={"release": SMALL}, files={"file": ("people.csv", csv)})
    assert sent.status_code == 200, sent.text
    assert {"risks", "queries", "recommended"} & set(sent.json())
    assert sent.headers["cache-control"] == "no-store"
    assert set(kept.iterdir()) <= before
    for part, name in (("other", "people.csv"), ("file", "people.xlsx")):
        refused = client.post("/api/assess", data={"release": SMALL}, files={part: (name, csv)})
        assert refused.status_code == 422
        assert refused.json()["field"] == "file"


def test_the_definition_says_what_a_release_is(client: Any) -> None:
    definition = client.get("/openapi.json").json()
    body = definition["paths"]["/api/assess"]["post"]["requestBody"]["content"]
    assert set(body) == {"application/json", "application/yaml", "multipart/form-data"}
    known = definition["components"]["schemas"]
    assert {"data", "queries", "mechanism"} <= set(known["Release"]["properties"])
    used = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(definition)))
    assert used <= set(known)
