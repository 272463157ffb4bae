"""The engines of the data tests."""

from tests.data.conftest import engine, spark  # noqa: F401
