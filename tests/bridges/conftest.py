"""The packages next door: tested where they are installed, and required where EPSILENS_REQUIRE_BRIDGES=1."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from typing import Any

import pytest

REQUIRED = os.environ.get("EPSILENS_REQUIRE_BRIDGES") == "1"


def _package(name: str, *modules: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [import_module(module) for module in modules]
    except ImportError as error:
        if REQUIRED:
            pytest.fail(f"EPSILENS_REQUIRE_BRIDGES=1, but {name} is not there: {error}")
        pytest.skip(f"{name.upper()} WAS NOT TESTED: it is not installed")
    return found[0]


@pytest.fixture(scope="session")
def accounting() -> Any:
    """dp-accounting, with its modules loaded."""
    return _package("dp-accounting", "dp_accounting", "dp_accounting.pld.privacy_loss_distribution")


@pytest.fixture(scope="session")
def opendp() -> Any:
    """OpenDP's prelude, with the features that user-written measurements need."""
    prelude = _package("opendp", "opendp.prelude")
    prelude.enable_features("contrib", "honest-but-curious")
    return prelude


@pytest.fixture(scope="session")
def opacus() -> Any:
    """Opacus, and torch with it."""
    return _package("opacus", "opacus", "torch")
