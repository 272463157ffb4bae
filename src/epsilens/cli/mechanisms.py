"""The mechanisms by name and the options each takes, kept here so that help needs no numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from .common import parse_number, parse_numbers

if TYPE_CHECKING:
    from ..experiment import Experiment

__all__ = ["TAKES", "builder", "find", "given", "options_of"]

_NOISE = ("sensitivity", "shift", "neighbours")
TAKES: dict[str, tuple[str, ...]] = {
    "laplace": ("epsilon", "scale", *_NOISE, "stretch", "norm"),
    "gaussian": ("epsilon", "delta", "sigma", "psi", "calibration", *_NOISE, "norm"),
    "geometric": ("epsilon", "scale", *_NOISE),
    "discrete_gaussian": ("sigma", *_NOISE),
    "randomized_response": ("epsilon", "truth", "k"),
    "exponential": ("epsilon", "scores0", "scores1", "sensitivity", "monotonic", "neighbours"),
    "staircase": ("epsilon", "gamma", *_NOISE),
    "pure": ("epsilon", "neighbours"),
    "approximate": ("epsilon", "delta", "neighbours"),
    "dpsgd": ("sigma", "rate", "steps", "neighbours", "width"),
}
#: Those without which the mechanism cannot be built.
_NEEDS: dict[str, tuple[str, ...]] = {
    "discrete_gaussian": ("sigma",),
    "exponential": ("epsilon", "scores0", "scores1"),
    "staircase": ("epsilon",),
    "pure": ("epsilon",),
    "approximate": ("epsilon", "delta"),
    "dpsgd": ("sigma", "rate", "steps"),
}
#: What ``explain`` reads besides: claims about a release whose noise is not known.
CLAIMS: dict[str, tuple[str, ...]] = {
    "zcdp": ("rho", "xi", "neighbours"),
    "rdp": ("orders", "rho", "neighbours"),
    "gdp": ("mu", "neighbours"),
}
_CLAIMED: dict[str, tuple[str, ...]] = {"zcdp": ("rho",), "rdp": ("orders", "rho"), "gdp": ("mu",)}
_WORDS = ("neighbours", "norm", "calibration")
_LISTS = ("scores0", "scores1")


def _option(flag: str, help: str, metavar: str = "NUMBER") -> Any:
    return typer.Option(flag, metavar=metavar, help=help, rich_help_panel="Mechanism")


_NAMES = ", ".join(n.replace("_", "-") for n in TAKES)
Mechanism = Annotated[str, typer.Argument(metavar="MECHANISM", help=f"{_NAMES}.")]
MechanismOrClaim = Annotated[
    str, typer.Argument(metavar="MECHANISM", help=f"{_NAMES}; or a claim: {', '.join(CLAIMS)}.")
]
Epsilon = Annotated[str | None, _option("--epsilon", "Privacy loss.")]
Scale = Annotated[str | None, _option("--scale", "Scale of the noise, instead of --epsilon.")]
Sigma = Annotated[str | None, _option("--sigma", "Standard deviation of the noise.")]
Psi = Annotated[str | None, _option("--psi", "Sensitivity index: sensitivity over standard deviation.")]
Delta = Annotated[str | None, _option("--delta", "The δ that goes with --epsilon.")]
Calibration = Annotated[str | None, _option("--calibration", "analytic or classical.", "WORD")]
Sensitivity = Annotated[str | None, _option("--sensitivity", "The most one person moves the answer [1].")]
Shift = Annotated[str | None, _option("--shift", "How far this person moves it [the sensitivity].")]
Stretch = Annotated[str | None, _option("--stretch", "Scale of the noise under H1 over that under H0 [1].")]
Neighbours = Annotated[str | None, _option("--neighbours", "add-remove or replace.", "WORD")]
Norm = Annotated[str | None, _option("--norm", "Norm of the sensitivity: L1 or L2.", "WORD")]
Answers = Annotated[str | None, _option("--k", "Possible answers of randomised response [2].")]
Truth = Annotated[str | None, _option("--truth", "Probability of a true answer, instead of --epsilon.")]
Gamma = Annotated[str | None, _option("--gamma", "Where the staircase breaks.")]
Rate = Annotated[str | None, _option("--rate", "DP-SGD: the chance that a person is in a batch.")]
Steps = Annotated[str | None, _option("--steps", "DP-SGD: how many steps there are.")]
Width = Annotated[str | None, _option("--width", "DP-SGD: relative width asked of a value's bracket [0.001].")]
Rho = Annotated[str | None, _option("--rho", "Claims zcdp and rdp: the ρ claimed, for rdp one for each order.")]
Xi = Annotated[str | None, _option("--xi", "Claim zcdp: the ξ of (ξ, ρ)-zCDP [0].")]
Orders = Annotated[
    str | None,
    typer.Option(
        "--orders", "--order", metavar="LIST", help="Claim rdp: its order or orders: 2,8.", rich_help_panel="Mechanism"
    ),
]
Mu = Annotated[str | None, _option("--mu", "Claim gdp: the μ claimed.")]
Scores0 = Annotated[str | None, _option("--scores0", "Scores of the outcomes without the person: 1,2,3.", "LIST")]
Scores1 = Annotated[str | None, _option("--scores1", "Scores of the same outcomes with the person.", "LIST")]
Monotonic = Annotated[bool, typer.Option("--monotonic", help="A person can only raise scores.")]


def find(name: str, *, claims: bool = False) -> str:
    """The mechanism's name in the library, or a sentence listing those there are; with ``claims``, a claim's too."""
    wanted = name.strip().lower().replace("-", "_")
    if wanted not in TAKES and not (claims and wanted in CLAIMS):
        why = ", which is a claim that only the command explain takes" if wanted in CLAIMS else ""
        known = ", ".join(n.replace("_", "-") for n in (*TAKES, *(CLAIMS if claims else ())))
        raise InputError(f"there is no mechanism {name[:40]!r}{why}: give one of {known}")
    return wanted


def flag(name: str) -> str:
    """An option as it is typed."""
    return f"--{name.replace('_', '-')}"


def options_of(name: str) -> str:
    """The options a mechanism takes, as a list to read."""
    return ", ".join(flag(option) for option in (TAKES | CLAIMS)[name])


def given(name: str, parameters: Mapping[str, Any], *, chosen: str | None = None) -> dict[str, Any]:
    """The mechanism's arguments that were given, as the library takes them; ``chosen`` need not be given."""
    every = {option for taken in (TAKES | CLAIMS).values() for option in taken}
    said = {k: v for k, v in parameters.items() if k in every and v is not None and v is not False}
    for option in said:
        if option not in (TAKES | CLAIMS)[name]:
            raise InputError(f"{name.replace('_', '-')} takes no {flag(option)}: it takes {options_of(name)}")
    for option in (_NEEDS | _CLAIMED).get(name, ()):
        if option not in said and option != chosen:
            raise InputError(f"{name.replace('_', '-')} needs {flag(option)}: give a value for it")
    return {k: _value(k, v) for k, v in said.items()}


def _value(option: str, value: Any) -> Any:
    if isinstance(value, bool) or option in _WORDS:
        return value
    if option == "rho" and "," not in value:
        return parse_number(flag(option), value)
    lists = (*_LISTS, "orders", "rho")
    return parse_numbers(flag(option), value) if option in lists else parse_number(flag(option), value)


def builder(name: str) -> Callable[..., Experiment]:
    """The function that builds the mechanism; imports the library."""
    import epsilens

    if name == "rdp":
        return lambda orders, rho, **more: epsilens.from_rdp(orders, rho, **more)
    built: Callable[..., Experiment] = getattr(epsilens, f"from_{name}" if name in CLAIMS else name)
    return built
