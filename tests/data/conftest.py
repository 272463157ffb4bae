"""Engines for the data tests: DuckDB always, a real local Spark where Java is found."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

REQUIRED = os.environ.get("EPSILENS_REQUIRE_SPARK") == "1"


def _why_no_spark() -> str | None:
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        return "Java is not installed"
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark is not installed"
    return None


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """One Spark session for the whole run: starting it is the expensive part."""
    why = _why_no_spark()
    if why:
        if REQUIRED:
            pytest.fail(f"EPSILENS_REQUIRE_SPARK=1, but {why}")
        pytest.skip(f"SPARK WAS NOT TESTED: {why}")
    from pyspark.sql import SparkSession

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = (
            SparkSession.builder.master("local[2]")
            .appName("epsilens-tests")
            # small tables and many queries: compiling them well takes twice as long as running them
            .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "1")
            .config("spark.default.parallelism", "1")
            .config("spark.sql.adaptive.enabled", "false")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .getOrCreate()
        )
    session.sparkContext.setLogLevel("OFF")
    yield session
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session.stop()


@pytest.fixture(params=["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def engine(request: pytest.FixtureRequest) -> str:
    """The name of each engine in turn."""
    if request.param == "spark":
        request.getfixturevalue("spark")
    return str(request.param)
