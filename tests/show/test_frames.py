"""Show computes nothing: while a result is written or drawn, no frame of a law, a mechanism or a plan is entered.

What show may ask of a result: a field, a property, an entry of a stored mapping, its plain data. Everything else that
it needs stands in the result when rendering begins, put there by those who know it.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.specimens import EXPERIMENTS, RESULTS

import epsilens as el
from epsilens.assessment.assess import Assessment
from epsilens.results import Result, presenter

HOUSE = Path(el.__file__).parent
#: What writes a number, names things or holds what was asked: any part of it may be entered. A notion of privacy is a
#: row of a table with a formula of ε alone.
GROUND = (
    *("show/", "catalogue/", "notions/", "results.py", "errors.py", "namespaces.py", "worlds.py", "checks.py"),
    *("shares.py", "__init__.py", "numerics/formatting.py", "numerics/values.py", "plan/model.py"),
)
#: Methods that hand out what is stored: plain data, an entry, a comparison, a name.
STORED = {
    *("to_dict", "rows", "has", "near", "name_of", "names", "to_json", "_array", "_binding_note"),
    *("__getitem__", "__iter__", "__len__", "__hash__", "__eq__", "__init__", "__post_init__", "__contains__"),
}


def _getters() -> set[CodeType]:
    """The code of every property of the house that is not cached: a field under another name."""
    found = set()
    for name, module in list(sys.modules.items()):
        if name.startswith("epsilens"):
            for kind in vars(module).values():
                if isinstance(kind, type):
                    getters = (p.fget for p in vars(kind).values() if isinstance(p, property))
                    found |= {g.__code__ for g in getters if isinstance(g, FunctionType)}
    return found


@contextmanager
def watched() -> Iterator[Counter[str]]:
    """Counts the calls that go from show into what computes, by the function entered."""
    entered: Counter[str] = Counter()
    getters, root = _getters(), str(HOUSE)

    def look(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(root):
            return
        place = code.co_filename[len(root) + 1 :]
        if place.startswith(GROUND) or code.co_name in STORED or code in getters or code.co_name.startswith("<"):
            return
        entered[f"{place}:{code.co_qualname}"] += 1

    sys.setprofile(look)
    try:
        yield entered
    finally:
        sys.setprofile(None)


def written(result: Any) -> dict[str, int]:
    """What is entered while a result is written in every form."""
    shown = result._shown(pictures=True)
    forms: list[Callable[[Any], Any]] = [presenter().html, presenter().markdown, presenter().fragment]
    forms.append(lambda r: presenter().text(r, 80))
    if hasattr(result, "sentence"):
        forms.append(presenter().sentence if shown.shown_as else lambda r: r.sentence)
    for write in forms:
        write(shown)  # whatever is imported at first use
    with watched() as entered:
        for write in forms:
            write(shown)
    return dict(entered)


@pytest.mark.always(8)
@pytest.mark.parametrize("kind", EXPERIMENTS)
def test_an_experiment_is_written_from_its_overview(kind: str) -> None:
    experiment = EXPERIMENTS[kind]()
    if experiment.many:
        pytest.skip("shown as its fields: an overview is of single numbers")
    assert written(experiment) == {}


@pytest.mark.parametrize("kind", RESULTS)
def test_a_result_is_written_from_its_fields(kind: str) -> None:
    result = RESULTS[kind]()
    if not isinstance(result, Result):
        pytest.skip("it has no presenter")
    assert written(result) == {}


# -- assessments, scans, releases ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(180), rng.integers(1, 5, 180))
    return pd.DataFrame(
        {
            "who": who,
            "site": rng.integers(1, 5, who.size),
            "age": rng.integers(20, 60, who.size),
            "sex": rng.choice(["f", "m"], who.size),
            "visits": rng.integers(0, 30, who.size).astype(float),
            "sick": rng.random(who.size) < 0.2,
        }
    )


COUNT = {"count": "sick"}
SITES = {"count": "sick", "by": "site", "groups": [1, 2, 3, 4]}
NAMED = {"count": "sick", "by": "site", "threshold": "auto"}
BARE = {"count": "sick", "by": "site"}
MEAN = {"average": "visits", "by": "sex", "groups": ["f", "m"], "bounds": [0, 20]}
TOTAL = {"sum": "visits", "bounds": [0, 10]}
PERSON = {"table": "t", "person": "who", "max_rows": 2, "quasi_identifiers": ["site", "age", "sex"], "secret": "sick"}
ROWS = {"table": "t", "quasi_identifiers": ["site", "age"], "secret": "sick"}
LAPLACE = {"noise": "laplace", "epsilon": 1.0}
GAUSSIAN = {"noise": "gaussian", "epsilon": 1.0, "delta": 1e-6}


def plan(data: Mapping[str, Any], *queries: Mapping[str, Any], noise: Any = LAPLACE, **limits: float) -> dict[str, Any]:
    return {"title": "Visits", "data": data, "queries": list(queries), "mechanism": noise, "limits": limits}


SHARED: list[Mapping[str, Any]] = [SITES | {"share": "70%"}, COUNT | {"share": "30%"}]
#: Plans that differ in what is said about them.
PLANS: Mapping[str, Mapping[str, Any]] = {
    "over": plan(ROWS, COUNT, SITES, success=0.55),
    "within": plan(ROWS, COUNT, success=0.9, error=0.9),
    "inaccurate": plan(PERSON, SITES, MEAN, error=0.01),
    "open": plan(PERSON, TOTAL, MEAN, noise=GAUSSIAN),
    "names": plan(PERSON, NAMED, COUNT, noise=GAUSSIAN, success=0.6),
    "names given away": plan(ROWS, BARE, success=0.6),
    "impossible": plan(ROWS, COUNT, success=0.4),
    "contradictory": plan(ROWS, SITES, COUNT, noise=LAPLACE | {"epsilon": 0.1}, success=0.55, error=0.01),
    "own shares": plan(ROWS, *SHARED, success=0.55),
    "least error": plan(ROWS, SITES, MEAN, noise=LAPLACE | {"split": "least error"}, success=0.55),
}


def drawn(a: Assessment, name: str) -> str:
    return presenter().chart(a, name).svg()


@pytest.mark.always(2)
@pytest.mark.parametrize("name", PLANS)
def test_an_assessment_is_written_and_drawn_from_its_fields(people: pd.DataFrame, name: str) -> None:
    a = el.assess(PLANS[name], table=people)
    seen = written(a)
    more: list[Callable[[], Any]] = [
        partial(each, a) for each in (presenter().board, presenter().data, presenter().registry)
    ]
    more += [partial(drawn, a, name) for name in ("risk", "accuracy", "simulated", "precedents")]
    for write in more:
        write()
    with watched() as entered:
        for write in more:
            write()
    assert seen | dict(entered) == {}


def test_a_scan_is_written_from_its_fields(people: pd.DataFrame) -> None:
    assert written(el.scan(people, quasi_identifiers=["site", "age", "sex"])) == {}


def test_a_frame_of_a_law_is_noticed() -> None:
    law = el.laplace(epsilon=1.0)
    with watched() as entered:
        law.success()
    assert any(name.startswith("laws/") for name in entered)
