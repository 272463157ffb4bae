"""The stand-alone script: the same numbers as the engine's, noise of the same law, and nothing but opendp."""

from __future__ import annotations

import ast
import csv
import importlib.util
import math
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyarrow.csv import write_csv
from scipy.special import log_ndtr
from scipy.stats import kstest, laplace, norm
from tests.publish.laws import DRAWS, SITES, assert_released
from tests.publish.laws import plan as laws_plan
from tests.publish.laws import table as people

from epsilens.data.tables.table import open_table
from epsilens.errors import InputError
from epsilens.plan.cells import cells
from epsilens.plan.contribution import NoisyNumber
from epsilens.plan.file import read_release
from epsilens.publish.answers import NoisyQuery, answers_of, drawing_of
from epsilens.publish.files import script_of
from epsilens.publish.standalone import beyond, counted, interval, limited, listed_interval, quantile

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


@pytest.mark.always
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


LAWS: dict[str, Any] = {"laplace": laplace, "gaussian": norm}


@pytest.mark.parametrize("noise", LAWS)
def test_tails_and_quantiles(noise: str) -> None:
    for x in (-30.0, -3.0, -0.1, 0.0, 0.4, 5.0, 24.9, 25.1, 60.0):
        truth = LAWS[noise].logsf(x) if noise == "laplace" else log_ndtr(-x)
        assert beyond(noise, x) == pytest.approx(float(truth), rel=1e-5, abs=1e-13)
    for miss in (0.5, 0.05, 0.025, 0.0125, 1e-9):
        assert quantile(noise, miss) == pytest.approx(float(LAWS[noise].isf(miss)), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("noise", LAWS)
def test_an_interval_leaves_out_a_fortieth_on_each_side(noise: str) -> None:
    low, high = interval(noise, 2.0, 10.0)
    assert LAWS[noise].sf(10.0, loc=low, scale=2.0) == pytest.approx(0.025)
    assert LAWS[noise].cdf(10.0, loc=high, scale=2.0) == pytest.approx(0.025)


@pytest.mark.parametrize("noise", LAWS)
@pytest.mark.parametrize(
    ("value", "threshold", "scale"), [(30.0, 20.0, 2.0), (26.0, 20.0, 2.0), (21.0, 20.0, 3.0), (80.0, 6.0, 1.0)]
)
def test_an_interval_of_a_named_group_by_its_definition(
    noise: str, value: float, threshold: float, scale: float
) -> None:
    """The share of named values above this one is a fortieth at the low end, all but a fortieth at the high one."""

    def above(n: float) -> float:
        law = LAWS[noise](loc=n, scale=scale)
        return float(law.sf(value) / law.sf(threshold))

    low, high = listed_interval(noise, scale, value, threshold)
    assert 1.0 <= low <= value <= high
    assert above(low) == pytest.approx(0.025, rel=1e-6) if low > 1 else above(1.0) >= 0.025
    assert above(high) == pytest.approx(0.975, rel=1e-6)


def test_counts_are_whole_and_their_ends_outward() -> None:
    drawings = {
        "answer": {"noise": "laplace", "scale": 2.0, "threshold": None},
        "touched": {"noise": "laplace", "scale": 3.0},
    }
    away, wider = 2 * math.log(20), 2 * math.log(40)
    assert counted(drawings, 10.4) == (10.0, math.floor(10.4 - away), math.ceil(10.4 + away))
    more = 5.2 + 3 * math.log(20)
    assert counted(drawings, 10.4, 5.2) == (10.0, math.floor(10.4 - wider), math.ceil(10.4 + wider + more))
    assert counted(drawings, 10.4, -50.0)[2] == math.ceil(10.4 + wider)  # nobody is touched a negative number of times
    drawings["answer"]["threshold"] = 6.0
    low, high = listed_interval("laplace", 2.0, 6.3, 6.0)
    assert counted(drawings, 6.3) == (6.0, math.floor(low), math.ceil(high))


def test_those_whom_a_limit_touched_are_never_fewer_than_none() -> None:
    drawing = {"noise": "laplace", "scale": 3.0}
    away = 3 * math.log(20)
    assert limited(drawing, 20.2) == [20.0, math.floor(20.2 - away), math.ceil(20.2 + away)]
    assert limited(drawing, -20.2) == [-20.0, 0.0, 0.0]
    assert limited(drawing, 2.0) == [2.0, 0.0, math.ceil(2 + away)]


@pytest.mark.parametrize("noise", [{}, {"noise": "gaussian", "delta": 1e-6}])
def test_a_sum_is_rounded_to_its_noise_and_its_ends_outward(noise: dict[str, Any]) -> None:
    plan = read_release(
        {"data": {"table": "t"}, "queries": [{"sum": "x", "bounds": [0, 50]}], "mechanism": {"epsilon": 2.0, **noise}}
    )
    drawing = drawing_of(plan, 0, NoisyNumber.ANSWER)
    scale = drawing.plain_scale
    away = scale * float(LAWS[drawing.noise.value].isf(0.025))
    digits = 2 - math.floor(math.log10(scale))
    half = 0.5 * 10.0**-digits
    for value in (123.45678, -7.3, 0.0, 99.999, 1 / 3, 1e5 / 7, -2e4 / 3):
        (one,) = answers_of(plan, NoisyQuery(0, ((),), {NoisyNumber.ANSWER: [value]}), {NoisyNumber.ANSWER: drawing})
        assert one.answer == round(value, digits)
        assert -1e-9 <= (one.answer - away - half) - one.low <= 2 * half + 1e-9
        assert -1e-9 <= one.high - (one.answer + away + half) <= 2 * half + 1e-9
        assert one.noise == scale
