"""The namespace ``epsilens.correlated``: every name is what it says, whatever was imported before."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import pytest

from epsilens.attacks import correlated


def test_no_module_has_the_name_of_something_exported() -> None:
    """``import epsilens.attacks.correlated.x as m`` would then give the function, not the module."""
    modules = {m.name for m in pkgutil.iter_modules(correlated.__path__)}
    assert not modules & set(correlated.__all__)


@pytest.mark.parametrize("first", ["tables", "chains", "networks", "temporal_leakage", "normal_records"])
def test_functions_stay_functions_in_every_order_of_imports(first: str) -> None:
    code = (
        f"import epsilens.attacks.correlated.{first} as m; import types; assert isinstance(m, types.ModuleType); "
        "import epsilens as el; c = el.correlated; "
        "assert all(callable(f) for f in (c.normal, c.table, c.chain, c.tree, c.temporal))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
