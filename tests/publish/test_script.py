"""The stand-alone script: the same numbers as the engine's, noise of the same law, and nothing but opendp."""

from __future__ import annotations

import ast
import csv
import importlib.util
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyarrow.csv import write_csv
from scipy.stats import kstest, laplace
from tests.publish.laws import DRAWS, SITES, assert_released
from tests.publish.laws import plan as laws_plan
from tests.publish.laws import table as people

from epsilens.data.tables.table import open_table
from epsilens.errors import InputError
from epsilens.plan.cells import cells
from epsilens.plan.file import read_release
from epsilens.publish.files import script_of

pytest.importorskip("opendp")

QUERIES: list[dict[str, Any]] = [
    {"count": "x > 0 AND NOT (n < 2 OR g IN ('a', 'é'))", "by": "g", "groups": ["a", "b", "é", None]},
    {"sum": "x", "bounds": [-3, 7.5], "by": ["g", "ok"], "threshold": 4},
    {"average": "x", "bounds": [0.1, 250], "where": "day BETWEEN '2024-01-03' AND '2024-02-01'"},
    {"count": "n % 3 = 1 OR x / (n - 2) > 0.5 OR g LIKE '_'", "rows": True},
    {"count": "ok IS NOT FALSE AND x IS NOT NULL AND -n < -1", "by": "day", "groups": ["2024-01-05", "2024-01-09"]},
    {"histogram": "n", "groups": [0, 1, 2, 3]},
]
LIMITS: list[dict[str, Any]] = [{}, {"person": "who", "max_rows": 2}, {"person": "who", "max_rows": 4, "max_groups": 2}]
UNITS: list[dict[str, Any]] = [
    {"unit": "home", "person": "who", "max_rows": 3},
    {"unit": "home", "person": "who", "max_rows": 5, "max_groups": 2},
    {"unit": "home", "max_rows": 2},
]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    draw = random.Random(4)
    path = tmp_path_factory.mktemp("script") / "people.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["who", "g", "x", "n", "ok", "day", "home"])
        for _ in range(400):
            x = draw.choice(["", "7.5", "-0.0", f"{draw.uniform(-9, 300):.4f}"])
            day = f"2024-01-{draw.randrange(1, 28):02}"
            who = draw.randrange(70)
            writer.writerow([
                who, draw.choice(["a", "b", "é", ""]), x, draw.randrange(5), draw.choice(["true", "false", ""]), day,
                f"home {who // 3}",
            ])  # fmt: skip
    return path


def plan(path: Path, limits: dict[str, Any], queries: list[dict[str, Any]] = QUERIES, **mechanism: Any) -> Any:
    return read_release({
        "title": 'It\'s "quoted" \\n', "data": {"table": str(path), **limits}, "queries": queries,
        "mechanism": {"epsilon": 1.0, **mechanism}, "limits": {},
    })  # fmt: skip


def loaded(text: str, path: Path) -> Any:
    path.write_text(text, "utf-8")
    spec = importlib.util.spec_from_file_location("epsilens_script", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("limits", [*LIMITS, *UNITS])
def test_numbers_are_the_engines_to_the_last_digit(table: Path, limits: dict[str, Any], tmp_path: Path) -> None:
    planned = plan(table, limits)
    script = loaded(script_of(planned), tmp_path / "script.py")
    rows = script.read(str(table), script.PLAN["columns"])
    with open_table(str(table)) as opened:
        expected = cells(opened, planned)
    for query, covers, one in zip(script.PLAN["queries"], script.CONDITIONS, expected, strict=True):
        found = script.numbers(rows, query, script.PLAN, covers)
        for place, label in enumerate(one.labels):
            for noisy, numbers in one.numbers.items():
                own = found[label][noisy.value] if label in found else 0
                assert own == numbers[place], (query["name"], label, noisy)


def test_it_runs_where_only_opendp_is(table: Path, tmp_path: Path) -> None:
    text = script_of(plan(table, {"person": "who"}))
    imported = {
        ((node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name).split(".")[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert {name for name in imported if name not in sys.stdlib_module_names} == {"opendp"}
    (tmp_path / "script.py").write_text(text, "utf-8")
    done = subprocess.run(
        [sys.executable, "-I", "script.py", str(table), "answers.csv"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "epsilens ledger add" in done.stderr
    lines = (tmp_path / "answers.csv").read_text("utf-8").splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert len(rows) >= 4 + 1 + 1 + 2 + 4
    assert all(float(row["low"]) <= float(row["answer"]) <= float(row["high"]) for row in rows)


def test_its_noise_has_the_assessed_law(table: Path, tmp_path: Path) -> None:
    """Kolmogorov–Smirnov on 4,000 draws of a count; above 2.4/√n by chance once in 50,000."""
    one = plan(table, {}, [{"count": True}])
    script = loaded(script_of(one), tmp_path / "script.py")
    query = script.PLAN["queries"][0]
    made = script.checked(query["drawings"]["answer"])
    assert kstest(made([400.0] * 4000), laplace(loc=400.0, scale=1.0).cdf).statistic < 2.4 / 4000**0.5


@pytest.mark.parametrize(("change", "said"), [({"read": {"g": "category"}}, "data.read")])
def test_what_has_no_script_is_told(table: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        script_of(plan(table, change, [{"count": True}]))


@pytest.mark.parametrize("noise", [{}, {"noise": "gaussian", "delta": 1e-6}])
def test_a_public_size_is_not_drawn(table: Path, tmp_path: Path, noise: dict[str, Any]) -> None:
    """At ε = 500 the answer and the ends of its interval are the true average, of the rows there are."""
    queries = [{"average": "n", "bounds": [0, 4], "size": "public"}]
    one = plan(table, {}, queries, **{"neighbours": "replace", "epsilon": 500.0, **noise})
    script = loaded(script_of(one), tmp_path / "script.py")
    rows = script.read(str(table), script.PLAN["columns"])
    query = script.PLAN["queries"][0]
    assert set(query["drawings"]) == {"total"}
    exact = script.numbers(rows, query, script.PLAN, script.CONDITIONS[0])
    ((answer, low, high),) = script.answered(query, script.drawn(query, exact), exact)
    true = sum(row["n"] for row in rows) / len(rows)
    assert answer == pytest.approx(true, abs=1e-2)
    assert high - low < 1e-2
    with pytest.raises(script.Stopped, match="has no value in some rows"):
        script.numbers([*rows, {**rows[0], "n": None}], query, script.PLAN, script.CONDITIONS[0])


@pytest.mark.parametrize(("head", "said"), [("who,g", "column 'x'"), ("who,g,x,x,n,ok,day", "column 'x'")])
def test_a_wrong_file_is_one_sentence(table: Path, tmp_path: Path, head: str, said: str) -> None:
    (tmp_path / "script.py").write_text(script_of(plan(table, {})), "utf-8")
    (tmp_path / "other.csv").write_text(head + "\n1,2,3,4,5,6,7\n")
    done = subprocess.run(
        [sys.executable, "script.py", "other.csv", "a.csv"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "a.csv").exists()


def test_a_cell_is_never_shown(table: Path, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(script_of(plan(table, {})), "utf-8")
    (tmp_path / "other.csv").write_text("who,g,x,n,ok,day\n1,a,hush,2,true,2024-01-01\n")
    done = subprocess.run(
        [sys.executable, "script.py", "other.csv", "a.csv"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "hush" not in done.stderr
    assert "line 2" in done.stderr


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_its_answers_have_the_laws_of_a_release(noise: str, tmp_path: Path) -> None:
    """All that a script does after reading the file, 3,000 times: the same laws as a release's own answers."""
    path = tmp_path / "people.csv"
    write_csv(people(), path)
    script = loaded(script_of(read_release(laws_plan(noise, source=str(path)))), tmp_path / "script.py")
    rows = script.read(str(path), script.PLAN["columns"])
    exact = [
        script.numbers(rows, query, script.PLAN, covers)
        for query, covers in zip(script.PLAN["queries"], script.CONDITIONS, strict=True)
    ]
    found: dict[tuple[str, str | None], list[float]] = {("named", site): [] for site in SITES}
    for _ in range(DRAWS):
        for query, numbers in zip(script.PLAN["queries"], exact, strict=True):
            for *label, answer, low, high in script.answered(query, script.drawn(query, numbers), numbers):
                assert low <= answer <= high
                found.setdefault((query["name"], label[0] if label else None), []).append(answer)
    assert_released(noise, found, DRAWS)
