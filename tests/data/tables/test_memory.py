"""How much memory reading a table takes: as said, from the environment, by the machine; what is said at its end."""

from __future__ import annotations

import resource
from pathlib import Path

import pyarrow as pa
import pytest

from epsilens.data.scan.scan import scan
from epsilens.data.tables import resources as memory_module
from epsilens.data.tables.engines import connect
from epsilens.data.tables.resources import available, memory, use_memory
from epsilens.errors import InputError


@pytest.fixture(autouse=True)
def usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EPSILENS_MEMORY", raising=False)
    monkeypatch.delenv("EPSILENS_SPILL", raising=False)
    monkeypatch.setattr(memory_module, "_memory_in_use", None)


def settings() -> tuple[str, str]:
    engine = connect()
    asked = "SELECT current_setting('memory_limit'), current_setting('temp_directory')"
    found: tuple[str, str] = engine.connection.con.execute(asked).fetchone()
    engine.close()
    return found


def test_duckdb_gets_half_and_spills_where_it_is_told(tmp_path: Path) -> None:
    use_memory("4GiB", spill=tmp_path)
    limit, folder = settings()
    assert limit == "2.0 GiB"
    assert Path(folder).is_relative_to(tmp_path)
    assert list(tmp_path.iterdir()) == []  # the private folder is gone with the engine


def test_the_environment_is_asked_and_an_argument_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPSILENS_MEMORY", "2GiB")
    monkeypatch.setenv("EPSILENS_SPILL", str(tmp_path))
    limit, folder = settings()
    assert limit == "1.0 GiB"
    assert Path(folder).is_relative_to(tmp_path)
    assert use_memory("1GB").size == 10**9
    assert memory().spill == tmp_path


@pytest.mark.parametrize("wrong", ["", "many", "4 XB", "-1GB", "1e9GB", "10MB", True])
def test_a_wrong_size_is_refused_in_a_sentence(wrong: str) -> None:
    with pytest.raises(InputError, match=r"^memory is .*: give ") as caught:
        use_memory(wrong)
    assert caught.value.parameter == "memory"


def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPSILENS_MEMORY", "plenty")
    with pytest.raises(InputError, match=r"^EPSILENS_MEMORY is 'plenty'"):
        scan({"a": [1]}, ["a"])


def test_a_spill_folder_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^spill is .*exists and can be written to"):
        use_memory(spill=tmp_path / "nowhere")


def test_a_container_has_less_than_its_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "max").write_text("3000000000\n")
    (tmp_path / "now").write_text("1000000000\n")
    monkeypatch.setattr(memory_module, "_CGROUPS", ((str(tmp_path / "max"), str(tmp_path / "now")),))
    assert available() <= 2_000_000_000
    assert memory().size == 500_000_000
    (tmp_path / "max").write_text("max\n")
    assert available() > 0


def test_a_limit_of_the_process_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (3_000_000_000, resource.RLIM_INFINITY))
    assert available() <= 3_000_000_000
    assert memory().size <= 750_000_000


def test_a_full_disk_says_so(tmp_path: Path) -> None:
    use_memory("500MB", spill=tmp_path)
    engine = connect()
    engine.connection.con.execute("SET max_temp_directory_size = '1MB'")
    engine.connection.con.execute("CREATE VIEW v AS SELECT md5(i::VARCHAR) AS a, i FROM range(1000000) t(i)")
    engine.connection.con.execute("SET memory_limit = '30MB'")
    with pytest.raises(InputError, match=r"^spill is .*full.*EPSILENS_SPILL=/big") as caught:
        engine.cache(engine.connection.table("v").distinct())
    assert str(tmp_path) in str(caught.value)
    engine.close()


def test_too_little_memory_says_so() -> None:
    use_memory("500MB")
    engine = connect()
    engine.connection.con.execute("CREATE VIEW v AS SELECT list(md5(i::VARCHAR)) AS a FROM range(1000000) t(i)")
    long = engine.connection.table("v")
    engine.connection.con.execute("SET memory_limit = '5MB'")
    with pytest.raises(InputError, match=r"^memory is 500 MB, .*EPSILENS_MEMORY=8GB") as caught:
        engine.fetch(long)
    assert caught.value.parameter == "memory"
    engine.close()


def test_long_texts_are_grouped_by_their_digests_and_shown_as_they_are() -> None:
    texts = ["x" * 400 + str(i // 2) for i in range(6)] + [None]
    table = pa.table({"a": texts, "b": [1, 1, 1, 2, 1, 1, 1]})
    found = scan(table, ["a", "b"], show_people=True)
    assert found.isolated == 3
    assert {row["a"] for row in found.shown} == {None, texts[2], texts[3]}


def test_the_memory_is_told_once() -> None:
    said: list[str] = []
    scan({"a": [1, 2]}, ["a"], progress=lambda done, of, what: said.append(what))
    assert sum("of memory, spilling into" in what for what in said) == 1
