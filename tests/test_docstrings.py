"""What is public is described as numpydoc wants it: a sentence, parameters, what comes back, examples."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from numpydoc.validate import validate

import epsilens as el
from epsilens.catalogue.readings import READINGS

#: No or empty docstring, summary of one sentence, every parameter with type and description, what is returned.
CHECKS = {"GL08", "SS01", "SS03", "SS06", "PR01", "PR02", "PR03", "PR04", "PR06", "PR07", "PR10", "RT01", "RT03"}
SPACES = [el, *(getattr(el, name) for name in ("mechanisms", "attacks", "correlated", "notions", "bridges", "papers"))]


def public(space: ModuleType) -> Iterator[tuple[str, Any]]:
    for name in space.__all__:
        value = getattr(space, name)
        if inspect.isfunction(value) or inspect.isclass(value):
            yield f"{value.__module__}.{value.__qualname__}", value


def functions() -> list[str]:
    """Public functions, and the methods of an experiment."""
    found = {path for space in SPACES for path, value in public(space) if inspect.isfunction(value)}
    methods = {name for name, value in vars(el.Experiment).items() if inspect.isfunction(value)}
    return sorted(found | {f"epsilens.experiment.Experiment.{name}" for name in methods if not name.startswith("_")})


@pytest.mark.parametrize("path", functions())
def test_functions_are_described(path: str) -> None:
    report = validate(path)
    assert [f"{code}: {message}" for code, message in report["errors"] if code in CHECKS] == []


@pytest.mark.parametrize(
    "path", sorted({p for space in SPACES for p, value in public(space) if inspect.isclass(value)})
)
def test_classes_are_described(path: str) -> None:
    assert [code for code, _ in validate(path)["errors"] if code in {"GL08", "SS01", "SS03"}] == []


def test_help_of_choose_lists_the_readings() -> None:
    assert all(name in (el.choose.__doc__ or "") for name in READINGS)


def test_what_public_functions_return_is_public() -> None:
    exported = {getattr(getattr(space, name), "__name__", name) for space in SPACES for name in space.__all__}
    returned = {
        name
        for space in SPACES
        for _, value in public(space)
        if inspect.isfunction(value)
        for name in re.findall(r"\b[A-Z]\w+", str(inspect.signature(value).return_annotation))
    }
    assert returned - exported - {"Any", "Array", "Iterator", "None", "Number"} == set()
