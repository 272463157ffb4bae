"""The catalogue against the library it speaks of, and the proof that an entry is enough."""

from __future__ import annotations

import csv
import inspect
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from scripts.catalogue import TABLES, refresh_page

import epsilens as el
from epsilens.catalogue.commands import COMMANDS, ExitCode, command_options
from epsilens.catalogue.deployments import deployment, deployments
from epsilens.catalogue.mechanisms import CLAIMS, MECHANISMS, MechanismEntry, builder, register, unregister
from epsilens.catalogue.parameters import PARAMETERS, Domain, Input, Panel, Parameter, Range, Trend
from epsilens.catalogue.parsing import find_mechanism
from epsilens.catalogue.readings import READINGS, find_reading, reading_parameter
from epsilens.cli.app import make_app
from epsilens.cli.console import run
from epsilens.errors import InputError
from epsilens.laws.laplace import Laplace

# -- the entries are those of the library -------------------------------------------------------------------------


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_takes_what_its_builder_takes(name: str) -> None:
    entry = MECHANISMS[name]
    assert builder(entry) is getattr(el, name, None) or getattr(el.mechanisms, name)
    signature = inspect.signature(builder(entry)).parameters
    assert set(entry.takes) == set(signature)
    assert set(entry.needs) == {n for n, p in signature.items() if p.default is p.empty}


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_defaults_are_those_of_the_builder(name: str) -> None:
    for option, p in inspect.signature(builder(MECHANISMS[name])).parameters.items():
        usual = PARAMETERS[option].usual
        if p.default is p.empty or (option == "width" and p.default is None):
            continue
        if usual is not None:
            assert p.default == usual, option
        elif PARAMETERS[option].kind is not Input.FLAG and option != "norm":
            assert p.default is None, option


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_takes_what_its_builder_takes(name: str) -> None:
    entry = CLAIMS[name]
    taken = set(inspect.signature(getattr(el.mechanisms, f"from_{name}")).parameters)
    assert {entry.renamed.get(o, o) for o in entry.takes} == taken


def test_what_an_entry_names_exists() -> None:
    for entry in (*MECHANISMS.values(), *CLAIMS.values()):
        assert set(entry.takes) <= set(PARAMETERS)
        assert set(entry.needs) <= set(entry.takes)
    for entry in MECHANISMS.values():
        for way in (*entry.ways, *entry.said_by):
            assert set(way) <= set(entry.takes)
        assert {entry.chosen, *entry.instead, *entry.instead.values()} <= set(entry.takes)


def test_words_have_their_choices_and_the_library_takes_them() -> None:
    given = {"sigma": 1.0, "epsilon": 0.5, "delta": 1e-5}
    for word in PARAMETERS["calibration"].choices or ():
        assert el.gaussian(epsilon=0.5, delta=1e-5, calibration=word).parameters["calibration"] == word
    for word in PARAMETERS["neighbours"].choices or ():
        assert el.gaussian(sigma=given["sigma"], neighbours=word).parameters["neighbours"] == word


@pytest.mark.parametrize("name", READINGS)
def test_the_arguments_of_a_reading_are_parameters(name: str) -> None:
    taken = {n for n in inspect.signature(getattr(el.Experiment, name)).parameters if n != "self"}
    reading = READINGS[name]
    assert {*reading.required, *reading.either, *reading.optional} == taken
    assert all(reading_parameter(n).panel in (Panel.ADVERSARY, Panel.READING) for n in taken)


def test_risk_goes_the_way_the_catalogue_says() -> None:
    builds: dict[str, Callable[[float], el.Experiment]] = {
        "epsilon": lambda v: el.laplace(epsilon=v),
        "scale": lambda v: el.laplace(scale=v),
        "sigma": lambda v: el.gaussian(sigma=v),
        "variance": lambda v: el.mechanisms.skellam(variance=v),
        "psi": lambda v: el.gaussian(psi=v),
        "std": lambda v: el.dpsgd(std=v, clip=0.5, rate=1.0, steps=1),
        "delta": lambda v: el.mechanisms.approximate(epsilon=1.0, delta=v / 10),
        "shift": lambda v: el.laplace(epsilon=1.0, shift=v),
        "truth": lambda v: el.mechanisms.randomized_response(truth=(1 + v) / 2),
        "f": lambda v: el.mechanisms.rappor(f=v),
        "rate": lambda v: el.dpsgd(sigma=1.0, rate=v, steps=1),
        "steps": lambda v: el.dpsgd(sigma=1.0, rate=1.0, steps=round(10 * v)),
        "batch": lambda v: el.dpsgd(sigma=1.0, n=100, batch=round(10 * v), steps=10, batches="fixed"),
        "epochs": lambda v: el.dpsgd(sigma=1.0, n=10, batch=1, epochs=v),
    }
    assert set(builds) == {n for n, p in PARAMETERS.items() if p.risk is not None}
    for name, build in builds.items():
        less, more = build(0.2).success(), build(0.8).success()
        assert (less < more) == (PARAMETERS[name].risk is Trend.RISES), name
        search = PARAMETERS[name].search
        assert search is None or (search.weak < search.strong) == (PARAMETERS[name].risk is Trend.RISES), name


# -- one builder and one entry are enough -------------------------------------------------------------------------


def toy(size: float, sensitivity: float = 1.0) -> el.Experiment:
    """Laplace noise by another name: ``size`` is the scale in sensitivities."""
    from epsilens import checks

    scale = float(checks.positive("size", checks.scalar("size", size)))
    return el.Experiment(Laplace(1 / scale), "toy", {"size": scale, "sensitivity": sensitivity})  # type: ignore[arg-type]


TOY = MechanismEntry(
    "toy",
    "Toy noise",
    f"{__name__}:toy",
    ("size", "sensitivity"),
    needs=("size",),
    ways=(("size",),),
    said_by=(("size",),),
    chosen="size",
    how="Toy noise of size {size:g} hides the answer.",
)
SIZE = Parameter(
    "size",
    "How large the toy is",
    symbol="s",
    allowed=Range(0, above=True),
    risk=Trend.FALLS,
    search=Domain(1e6, 1e-2),
)


@pytest.fixture
def registered() -> Iterator[None]:
    register(TOY, SIZE)
    yield
    unregister("toy", "size")


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run(typer.main.get_command(make_app()), words)
    return code, *capsys.readouterr()


@pytest.mark.usefixtures("registered")
def test_the_command_has_a_new_mechanism(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "explain", "toy", "--size", "2", "--format", "json")
    assert code == 0
    said = json.loads(out)
    # Laplace noise of scale b tells one apart from another by 1 − e^(−1/(2b))/2 at even odds
    assert said["readings"]["success"] == pytest.approx(1 - math.exp(-1 / 4) / 2, rel=1e-12)
    assert said["command"] == "epsilens explain toy --size 2"
    again = call(capsys, *said["command"].split()[1:], "--format", "json")
    assert again[1] == out
    assert "Toy noise of size 2 hides the answer." in call(capsys, "explain", "toy", "--size", "2")[1]
    assert call(capsys, "explain", "toy")[2] == "epsilens: toy needs --size: give a value for it\n"
    assert "--size NUMBER" in call(capsys, "explain", "--help")[1]
    code, out, _ = call(capsys, "choose", "toy", "--at-most", "success=0.55")
    assert code == 0
    assert out.startswith("Use s = 4.746 or more: ")  # 1/(2·ln(1/0.9)), rounded up


@pytest.mark.usefixtures("registered")
def test_choose_has_a_new_parameter() -> None:
    found = el.choose(toy, "size", at_most=0.55)
    assert found.value == pytest.approx(-0.5 / math.log(0.9), rel=1e-9)
    assert el.choose(toy, "size", at_most=1.0).value == 1e-2  # the end of the range that the entry says


@pytest.mark.usefixtures("registered")
def test_the_page_and_the_api_have_a_new_mechanism() -> None:
    pytest.importorskip("fastapi")
    from starlette.testclient import TestClient

    from epsilens.web.app import create_app

    with TestClient(create_app(), base_url="http://127.0.0.1:8000", follow_redirects=False) as client:
        page = client.get("/explain?mechanism=toy&size=2")
        assert page.status_code == 200
        assert '<option value="toy" selected>Toy noise</option>' in page.text
        assert 'name="size" value="2"' in page.text
        chosen = client.get("/choose?mechanism=toy&at_most=0.55")
        assert "Use s = 4.746 or more" in chosen.text
        wrong = client.get("/explain?mechanism=toy&size=-1")
        assert "s is -1: give a number above 0." in wrong.text
        told = client.get("/api/explain?mechanism=toy&size=2").json()
        assert told["readings"]["success"] == pytest.approx(1 - math.exp(-1 / 4) / 2, rel=1e-12)
        taken = client.get("/openapi.json").json()["paths"]["/api/explain"]["get"]["parameters"]
        assert "toy" in next(p for p in taken if p["name"] == "mechanism")["schema"]["enum"]
        size = next(p for p in taken if p["name"] == "size")
        assert size["description"] == "how large the toy is"
        assert size["schema"]["anyOf"][0]["exclusiveMinimum"] == 0


def test_the_catalogue_is_as_before() -> None:
    assert "toy" not in MECHANISMS
    assert "size" not in PARAMETERS
    with pytest.raises(ValueError, match="already"):
        register(MECHANISMS["laplace"])
    with pytest.raises(ValueError, match="no parameter of the catalogue"):
        register(TOY)
    with pytest.raises(el.InputError) as wrong:
        find_mechanism("toy")
    assert wrong.value.parameter == "mechanism"


# -- help ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_help_lists_every_option_under_its_heading(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, *name.split("-"), "--help")
    assert code == 0
    headings = [line.rstrip(":") for line in out.splitlines() if line and not line[0].isspace()]
    panels = {o.parameter.panel.value for o in command_options(name) if not o.positional}
    assert panels <= set(headings)
    for option in command_options(name):
        if not option.positional:
            assert f"  --{option.name.replace('_', '-')}" in out


# The registry of published deployments: named, found by words, and read as reported.

FILE = Path(__file__).parents[2] / "src" / "epsilens" / "catalogue" / "files" / "precedents.csv"


def test_every_row_is_read() -> None:
    with FILE.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [d.name for d in deployments()] == [row["name"] for row in rows]
    assert len({d.name for d in deployments()}) == len(rows) == 35
    for d, row in zip(deployments(), rows, strict=True):
        assert (d.epsilon is None) == (row["epsilon"] == "")
        assert d.rho == (float(row["rho"]) if row["rho"] else None)
        assert d.epsilon is not None or d.rho is not None


def test_a_name_finds_its_own() -> None:
    for d in deployments():
        assert deployment(d.name) is d
        assert deployment(d.name.upper().replace("-", " ")) is d


def test_words_find_one_or_say_which() -> None:
    found = deployment("U.S. Census redistricting")
    assert found is not None
    assert found.rho == 2.63
    assert deployment("gaussian") is None
    assert deployment("") is None
    with pytest.raises(InputError, match="fits 5 published deployments: give one of census-dhc"):
        deployment("us-census-2020")


def test_a_delta_that_is_a_formula_is_not_read_as_none() -> None:
    flex = deployment("uber-flex")
    assert flex is not None
    assert flex.delta is None
    assert flex.unread.startswith("n^")


# The readings by name: their floors are what pure noise reads, and they grow with risk.

CASES: list[tuple[str, dict[str, Any]]] = [
    ("success", {"prior": 0.2}),
    ("advantage", {}),
    ("auc", {}),
    ("fbeta", {"beta": 2.0, "prior": 0.3}),
    ("posterior", {"prior": 0.3}),
    ("precision", {"fpr": 0.2, "prior": 0.3}),
    ("precision", {"recall": 0.2, "prior": 0.3}),
    ("recall", {"fpr": 0.2}),
    ("roc", {"fpr": 0.2}),
    ("attack_success", {"baseline": 0.2}),
    ("delta", {"epsilon": 0.5}),
    ("epsilon", {"delta": 0.01}),
    ("psi", {}),
    ("mu", {"level": 1e-3}),
    ("renyi", {"order": 3.0}),
    ("kl", {}),
    ("chernoff", {}),
]


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_the_floor_is_what_pure_noise_reads(name: str, arguments: dict[str, Any]) -> None:
    floor = READINGS[name].floor(**READINGS[name].arguments(arguments))
    for nothing in (
        el.mechanisms.pure(epsilon=0.0),
        el.laplace(epsilon=1.0, shift=0.0),
        el.gaussian(psi=1.0, shift=0.0),
    ):
        assert getattr(nothing, name)(**arguments) == pytest.approx(floor, rel=1e-14, abs=1e-300)


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_every_reading_grows_with_risk(name: str, arguments: dict[str, Any]) -> None:
    builders: dict[str, list[Any]] = {"epsilon": [el.laplace, el.mechanisms.pure], "psi": [el.gaussian]}
    for parameter, build in ((p, b) for p, several in builders.items() for b in several):
        values = [getattr(build(**{parameter: x}), name)(**arguments) for x in (0.1, 0.5, 2.0, 8.0)]
        assert values == sorted(values)
        assert values[-1] <= READINGS[name].ceiling


def test_every_reading_is_here() -> None:
    assert {name for name, _ in CASES} == set(READINGS)
    with pytest.raises(el.InputError, match="roc"):
        find_reading("tradeoff")
    with pytest.raises(el.InputError, match=r"there is no reading 'x'.*bracket can also be of tradeoff"):
        find_reading("x")
    assert el.mechanisms.pure(epsilon=0.0).bracket("tradeoff", fpr=0.25) == (0.75, 0.75)


# The tables in docs/ are the catalogue's, and the numbers in them the library's.

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda p: p.stem)
def test_the_docs_are_fresh(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert refresh_page(text) == text, "run: python -m scripts.catalogue docs"


def test_every_table_has_its_place() -> None:
    pages = "".join(p.read_text(encoding="utf-8") for p in DOCS.glob("*.md"))
    for name in TABLES:
        assert pages.count(f"<!-- catalogue: {name} -->\n") == 1, name


@pytest.mark.parametrize("name", READINGS)
def test_the_example_of_a_reading(name: str) -> None:
    reading = READINGS[name]
    shown, _, at = reading.example.partition(" at ")
    needed = (*reading.required, *reading.either[:1])
    value = getattr(el.laplace(epsilon=1.0), name)(**{n: float(at) for n in needed})
    assert f"{value:.4f}".removesuffix(".0000") == shown


def test_the_exit_codes_scripts_rely_on() -> None:
    assert {code.name: int(code) for code in ExitCode} == {
        "FINE": 0,
        "FAULT": 1,
        "BAD_INPUT": 2,
        "NO_SOLUTION": 3,
        "EXCEEDED": 4,
        "UNWRITTEN": 5,
        "HUNG_UP": 129,
        "INTERRUPTED": 130,
        "TERMINATED": 143,
    }
    assert all(code.meaning.endswith(".") for code in ExitCode)
