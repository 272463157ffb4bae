"""Spark: silent when it is ours, untouched when it is somebody's, and helpful when it cannot start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from epsilens.data.scan.scan import scan
from epsilens.data.tables.engines import own_session
from epsilens.data.tables.table import open_table
from epsilens.errors import InputError

MARK = "XQZ4711"


@pytest.mark.spark
@pytest.mark.long  # a Spark of its own
def test_the_command_is_silent(spark: Any) -> None:
    command = ["-m", "epsilens.cli", "scan", "epsilens:rand-hie", "--quasi", "site", "--engine", "spark"]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("None of the 20,190 people")


@pytest.mark.spark
def test_a_session_is_left_as_it_was(spark: Any, tmp_path: Path) -> None:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    assert session is not None
    frame = session.sql("SELECT * FROM VALUES ('a', 1), ('b', 2), ('b', 2) AS t(site, age)")
    frame.createOrReplaceTempView("mine")
    folder = tmp_path / "star*, %41" / "month=01"
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"a": [1, 2]}), folder / "p.parquet")
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")

    def state() -> list[Any]:
        names = ("session.timeZone", "mapKeyDedupPolicy", "sources.partitionColumnTypeInference.enabled")
        kept = session.sparkContext._jsc.getPersistentRDDs().size()
        tables = sorted(table.name for table in session.catalog.listTables())
        return [*(session.conf.get(f"spark.sql.{name}") for name in names), tables, kept]

    before = state()
    try:
        for table, engine in ((frame, None), ("mine", session), ("mine", "spark")):
            with open_table(table, engine) as opened:
                kept = opened.engine.cache(opened.table.filter(opened.table.age == 2))
                assert opened.engine.fetch(kept).num_rows == 2
        with open_table(tmp_path / "star*, %41", session) as opened:
            assert opened.engine.fetch(opened.table).to_pydict() == {"a": [1, 2], "month": ["01", "01"]}
        assert state() == before
    finally:
        session.conf.set("spark.sql.session.timeZone", "UTC")
        session.catalog.dropTempView("mine")
    with pytest.raises(InputError, match="lives on Spark"):
        open_table(frame, "duckdb")
    with pytest.raises(InputError, match="two columns named 'site'"):
        open_table(frame.select("site", "site"))


@pytest.mark.spark
def test_no_cell_in_its_messages(spark: Any, capfd: pytest.CaptureFixture[str], caplog: Any) -> None:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    assert session is not None
    frame = session.sql(f"SELECT * FROM VALUES ('{MARK}', {2**63 - 1}L) AS t(v, n)")
    for trouble, words in (("CAST(v AS INT) AS x", "does not fit"), ("n + 1 AS x", "too large")):
        with pytest.raises(InputError, match=words) as error:
            scan(frame.selectExpr(trouble), ["x"])
        assert MARK not in str(error.value)
        assert str(2**63 - 1) not in str(error.value)
    out = capfd.readouterr()
    assert MARK not in out.out + out.err + caplog.text


def test_java_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    pyspark = pytest.importorskip("pyspark")
    monkeypatch.setattr(pyspark.SparkContext, "_gateway", None)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    monkeypatch.setenv("JAVA_HOME", os.path.abspath("nowhere"))
    with pytest.raises(InputError, match="install Java 17 or newer"):
        own_session()
