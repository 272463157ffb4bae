"""``epsilens assess`` and ``epsilens init`` as a shell sees them, releases to start from, and the demo."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
import yaml
from scripts.demo import PEOPLE, RELEASE, main

from epsilens.assessment.assess import assess
from epsilens.cli.console import run
from epsilens.cli.plans import assess as assess_command
from epsilens.cli.plans import init as init_command
from epsilens.errors import InputError, MissingExtra
from epsilens.plan.file import read_release
from epsilens.plan.starter import init

ROOT = Path(__file__).parents[2]

app = typer.Typer()
app.command()(assess_command)
app.command()(init_command)


def shell(*words: str) -> int:
    return run(typer.main.get_command(app), words)


@pytest.fixture
def release(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2)
    table = tmp_path / "people.parquet"
    frame = {"site": rng.integers(1, 5, 300), "age": rng.integers(20, 60, 300), "visits": rng.integers(0, 9, 300)}
    pd.DataFrame(frame).to_parquet(table)
    file = tmp_path / "release.yaml"
    file.write_text(
        f"data: {{table: {json.dumps(str(table))}, quasi_identifiers: [site, age]}}\n"
        "queries: [{count: visits > 4, by: site, groups: [1, 2, 3, 4]}]\n"
        "mechanism: {epsilon: 1.0}\nlimits: {success: 0.55}\n",
        encoding="utf-8",
    )
    return file


def test_a_limit_exceeded_is_exit_code_4_and_a_report(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell("assess", str(release)) == 4
    out, err = capsys.readouterr()
    # no secret is named: any two records are told apart, which moves two counts, and 0.21 keeps one of them only
    assert out.startswith("Lower ε from 1 to 0.2\n▲ Over the risk limit as planned\n")
    assert f"epsilens assess {Path(release).name}" in out  # which may be handed on: not where it lies
    assert str(Path(release).parent) not in out
    assert err == ""


def test_within_the_limits_is_0(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release.write_text(release.read_text().replace("0.55", "0.9"))
    assert shell("assess", str(release), "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "within"


def test_a_sheet_for_a_board(release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = tmp_path / "board.html"
    assert shell("assess", str(release), "--format", "board", "--output", str(sheet)) == 4
    assert capsys.readouterr() == ("", f"epsilens: Lower ε from 1 to 0.2; written to {sheet}\n")
    text = sheet.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert '<main class="report sheet">' in text
    assert "Lower ε from 1 to 0.2" in text


def test_no_epsilon_is_3(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release.write_text(release.read_text().replace("0.55", "0.45"))
    assert shell("assess", str(release)) == 3
    assert capsys.readouterr().out.startswith("No ε meets this limit\n")


def test_formats_and_files(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    starts = {"html": "<!DOCTYPE html>", "md": "# Lower", "registry": "# Written by epsilens", "json": "{"}
    for kind, start in starts.items():
        file = release.with_suffix(f".{kind}")
        assert shell("assess", str(release), "--format", kind, "--output", str(file)) == 4
        assert file.read_text(encoding="utf-8").startswith(start)
    yaml.safe_load(release.with_suffix(".registry").read_text(encoding="utf-8"))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [("just\nwords\n", "is not a mapping"), ("data: {table: x.csv}\n", "queries is missing")],
)
def test_wrong_input_is_2_and_one_sentence(
    tmp_path: Path, text: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "r.yaml"
    file.write_text(text)
    assert shell("assess", str(file)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert says in err
    assert shell("assess", str(tmp_path / "missing.yaml")) == 2


def test_init_does_not_overwrite(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, file = str(release.parent / "people.parquet"), release.parent / "new.yaml"
    assert shell("init", table, "--output", str(file)) == 0
    first = file.read_text(encoding="utf-8")
    read_release(file)
    file.write_text("mine")
    assert shell("init", table, "--output", str(file)) == 2
    assert "--force" in capsys.readouterr().err
    assert file.read_text() == "mine"
    assert shell("init", table, "--output", str(file), "--force") == 0
    assert file.read_text(encoding="utf-8") == first
    assert shell("init", table) == 0
    assert capsys.readouterr().out == first


# -- releases to start from ---------------------------------------------------------------------------------------


def test_a_start_for_the_bundled_tables() -> None:
    hie = init("epsilens:rand-hie").yaml
    plan = read_release(hie)
    assert plan.data.person == "person"
    assert {"site", "female", "black", "education"} <= set(plan.data.quasi_identifiers)
    assert hie.count("choose without looking at the data") == 2
    adult = init("epsilens:adult").release
    assert adult.data.person is None
    assert assess(adult).queries[0].answers


def test_bounds_are_not_the_datas(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("id,age,income\n" + "\n".join(f"{i // 3},{20 + i % 40},{12345 + i}" for i in range(90)) + "\n")
    text = init(str(file)).yaml
    assert "12345" not in text
    assert "12434" not in text
    plan = read_release(text)
    assert plan.data.person == "id"
    assert plan.queries[1].bounds == (0.0, 100_000.0)  # what incomes are, whatever these are
    assert assess(text).queries


@pytest.mark.parametrize(
    "frame",
    [
        {"a b": [1, 2, 2], "yes": ["x", "y", "y"], 'quo"te': [0.5, 0.1, 0.2]},
        {"<b>": ["1", "2", "3"], "null": [None, None, None], "日本": [1, 1, 2]},
        {"x": [1.5, 2.5, 3.5]},
        {"t": ["a", "a", "a"]},
        {"line\nbreak": ["a", "b", "a"], "# hash: x": [1, 2, 3]},
        {"when": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-02"]), "flag": [True, False, True]},
    ],
)
def test_any_table_can_be_started_with(frame: dict[str, list[object]]) -> None:
    table = pd.DataFrame(frame)
    text = init(table).yaml
    read_release(text)
    assert assess(text, table=table).queries


def test_nothing_to_start_with(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.csv"):
        init(str(tmp_path / "missing.csv"))


# -- the demo -----------------------------------------------------------------------------------------------------


def test_the_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    assert main([str(folder)]) == 0
    told = capsys.readouterr().out
    numbers = json.loads((folder / "assessment.json").read_text(encoding="utf-8"))
    assert told.startswith(numbers["headline"])
    assert numbers["sentence"] in told
    assert (folder / "report.html").resolve().as_uri() in told
    assert ".venv/bin/epsilens serve" in told
    assert numbers["headline"] in (folder / "report.html").read_text(encoding="utf-8")
    assert read_release(folder / "release.yaml") == read_release(RELEASE)


def test_the_demo_spells_out_what_a_folder_s_name_could_do_to_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "\u202eevil\x1b[2J")]) == 0
    told = capsys.readouterr().out
    assert "\\u202eevil\\x1b[2J" in told
    assert not {"\u202e", "\x1b"} & set(told)


def test_the_demo_publishes_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("opendp", reason="a release needs epsilens[release]")
    from epsilens.ledger.ledger import Ledger

    folder = tmp_path / "out"
    assert main([str(folder)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    answers = (folder / "answers.csv").read_bytes()
    account = Ledger(folder / "ledger.db").account(PEOPLE)
    assert [one.charge.epsilon for one in account.counted] == [pytest.approx(0.48)]
    assert "at most 55 times of 100 whether somebody is in the table; a coin gets 50" in told
    assert "ε = 0.48 is spent" in told
    assert str(folder / "answers.csv") in told
    assert str(folder / "ledger.db") in told
    assert main([str(folder)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "nothing was spent now" in told
    assert (folder / "answers.csv").read_bytes() == answers
    assert len(Ledger(folder / "ledger.db").account(PEOPLE).counted) == 1


def test_the_demo_without_what_a_release_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from scripts import demo

    def missing(*_: object) -> None:
        raise MissingExtra("opendp", extra="release", purpose="a release")

    monkeypatch.setattr(demo, "publish", missing)
    assert main([str(tmp_path)]) == 0
    assert "Nothing is released: " in capsys.readouterr().out
    assert not (tmp_path / "answers.csv").exists()


def test_the_demo_is_the_example() -> None:
    assert read_release(RELEASE) == read_release(ROOT / "examples" / "mental-visits.yaml")


def test_the_demo_says_where_it_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main([str(tmp_path / "file" / "under")]) == 2
    assert "failed" in capsys.readouterr().err


@pytest.mark.parametrize("rows", ["", ",3\n,4\n"])
def test_without_anybody_the_advice_is_about_the_data(
    rows: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text(f"person,age\n{rows}")
    plan = tmp_path / "plan.yaml"
    plan.write_text(f"data: {{table: {tmp_path / 't.csv'}, person: person}}\nqueries: [{{count: true}}]\n"
                    "mechanism: {epsilon: 1}\nlimits: {success: 0.55}\n")  # fmt: skip
    assert shell("assess", str(plan)) == 4
    assert capsys.readouterr().out.startswith("No row counts in any answer: look at the data before ε\n")
