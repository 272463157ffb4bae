"""Spark: a session of our own that is quiet, or somebody's session, left as it was.

How much memory it has, and where it runs, is said as Spark's users say it: ``spark-defaults.conf``, the variable
``PYSPARK_SUBMIT_ARGS`` (``--driver-memory 4g pyspark-shell``), ``engine="spark://host:7077"``, settings in an address
(``pyspark://?spark.master=local[4]&spark.driver.memory=4g``), or a session that is running already.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ...errors import InputError, MissingExtra
from .failures import sentence

#: Of a session of our own. The console of Spark shows every query, with its values, to whoever reaches its port.
_SETTINGS = {
    "spark.app.name": "epsilens",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
}
#: What Ibis sets on any session it is given.
_CHANGED = ("spark.sql.session.timeZone", "spark.sql.mapKeyDedupPolicy")
#: Where pyspark and py4j log.
_LOGGERS = ("py4j.clientserver", "py4j.java_gateway", "DataFrameQueryContextLogger", "SQLQueryContextLogger")
_JAVA = "install Java 17 or newer, or use engine='duckdb'"


@contextmanager
def hushed() -> Iterator[None]:
    """No warnings and no logs of pyspark: it warns of every pandas 3, and logs errors with the values in them."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [each.disabled for each in loggers]
    root, others = logging.getLogger(), _Others()
    with warnings.catch_warnings():
        for kind in (FutureWarning, DeprecationWarning, ResourceWarning, UserWarning):
            warnings.simplefilter("ignore", kind)
        for each in loggers:
            each.disabled = True
        root.addFilter(others)
        try:
            yield
        finally:
            root.removeFilter(others)
            for each, was in zip(loggers, before, strict=True):
                each.disabled = was


class _Others(logging.Filter):
    """Lets pass what others say: py4j tells of an interrupt, with all its lines, in nobody's name."""

    def filter(self, record: logging.LogRecord) -> bool:
        return f"{os.sep}py4j{os.sep}" not in record.pathname


def is_spark_frame(data: Any) -> bool:
    """Whether it is a DataFrame of Spark."""
    return type(data).__module__.startswith("pyspark.sql") and hasattr(data, "sparkSession")


def own_session(master: str | None = None, settings: Mapping[str, str] | None = None) -> Any:
    """The session that is running, or a new one that is silent."""
    try:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingExtra("pyspark", extra="spark", purpose="the engine 'spark'") from error
    with hushed(), tempfile.TemporaryFile() as log:  # Java holds it too, as long as it lives
        running = SparkSession.getActiveSession()
        if running is not None:
            return running
        wanted = {**_SETTINGS, **({"spark.master": master} if master else {}), **(settings or {})}
        try:
            if SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" not in os.environ:
                _need_java()
                _start_java(wanted, log)
            builder = SparkSession.builder
            for name, value in wanted.items():
                builder = builder.config(name, value)
            return builder.getOrCreate()
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"engine is 'spark': Spark did not start ({_why(error, log)})", parameter="engine"
            ) from None


def _start_java(settings: Mapping[str, str], log: IO[bytes]) -> None:
    """Start Spark's Java with nothing on our terminal: it warns before any setting of its own could tell it not to."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    conf = SparkConf().setAll(list(settings.items()))
    SparkContext._ensure_initialized(gateway=launch_gateway(conf, {"stdout": log, "stderr": log}))


def _need_java() -> None:
    home = os.environ.get("JAVA_HOME")
    found = (Path(home) / "bin" / "java").exists() if home else shutil.which("java") is not None
    if not found:
        where = "JAVA_HOME names a folder without it" if home else "none was found"
        raise InputError(f"engine is 'spark', which needs Java, and {where}: {_JAVA}", parameter="engine")


def _why(error: Exception, log: IO[bytes] | None) -> str:
    text = ""
    if log is not None:
        log.seek(0)
        text = f"{log.read(100_000).decode('utf-8', 'replace')} {error}"
    if re.search(r"UnsupportedClassVersion|more recent version of the Java|Unrecognized option|unrecognized VM", text):
        return f"Java is too old: {_JAVA}"
    if re.search(r"Could not (reserve|create)|Cannot allocate memory|insufficient memory|Invalid maximum heap", text):
        return "the memory asked for is not there: lower spark.driver.memory"
    if re.search(r"Master must|Could not parse Master URL", text):
        return "the master is none of Spark's: give local[4], spark://host:7077, yarn or k8s://…"
    if re.search(r"masters are unresponsive|Failed to connect to master|UnknownHost|Connection refused", text):
        return "no Spark master answers there: check the host and the port"
    return f"{sentence(error)}: check Spark's settings (PYSPARK_SUBMIT_ARGS, spark-defaults.conf), or {_JAVA}"


def unchanged(session: Any) -> Callable[[], None]:
    """Remember the settings of somebody's session; what comes back restores them."""
    before = {name: session.conf.get(name, None) for name in _CHANGED}

    def restore() -> None:
        with suppress(Exception):  # the session may have ended meanwhile
            for name, value in before.items():
                if value is None:
                    session.conf.unset(name)
                else:
                    session.conf.set(name, value)

    return restore
