"""The public names, and what importing them costs."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import pytest

import epsilens as el


def test_every_public_name_is_there() -> None:
    for name in el.__all__:
        assert getattr(el, name) is not None
    assert {name for name in dir(el) if not name.startswith("__")} == set(el.__all__) - {"__version__"}
    with pytest.raises(AttributeError, match="nothing_here"):
        getattr(el, "nothing_here")  # noqa: B009


@pytest.mark.parametrize("space", ["mechanisms", "attacks", "bridges", "notions", "correlated", "papers"])
def test_every_name_of_a_namespace_is_there(space: str) -> None:
    part = getattr(el, space)
    assert len(part.__all__) == len(set(part.__all__))
    for name in part.__all__:
        assert getattr(part, name) is not None


@pytest.mark.parametrize("space", ["mechanisms", "attacks", "bridges"])
def test_no_module_of_a_namespace_hides_a_function(space: str) -> None:
    part = getattr(el, space)
    modules = {found.name for found in pkgutil.iter_modules(part.__path__)}
    assert modules & set(part.__all__) <= {"correlated"}


def loaded_by(code: str) -> set[str]:
    """The modules a fresh interpreter has loaded after running some code."""
    report = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print('\\n'.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(report.stdout.split())


def test_import_is_light() -> None:
    assert not {"numpy", "scipy", "ibis", "pandas"} & loaded_by("import epsilens")
    loaded = loaded_by("import epsilens; epsilens.choose(epsilens.laplace, 'epsilon', at_most=0.55).value")
    assert not {"scipy.stats", "scipy.optimize", "scipy.integrate", "ibis", "pandas", "duckdb", "pydantic"} & loaded


def test_help_does_not_import_scipy() -> None:
    code = "import sys; sys.argv = ['epsilens', '--help']\nfrom epsilens.cli.app import main\n"
    code += "try: main()\nexcept SystemExit: pass"
    assert not {"numpy", "scipy"} & loaded_by(code)


def test_submodules_do_not_hide_functions() -> None:
    # importing a submodule sets it as an attribute of the package: none may be named like a public function
    code = "import epsilens.calibration.choose, epsilens.data.scan.scan, epsilens.assessment.assess, epsilens"
    code += "\nassert callable(epsilens.scan)"
    loaded_by(code + "\nassert callable(epsilens.choose) and callable(epsilens.assess)")
