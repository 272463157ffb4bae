"""``epsilens explain``: what a release tells, in words, numbers and curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from . import mechanisms as m
from .common import Format, FormatOption, OutputOption, parse_number, show

if TYPE_CHECKING:
    from ..build.knowledge.knowledge import Knowledge
    from ..show.explanation import Explanation

__all__ = ["explain", "knowledge_given", "readings_given", "said", "with_knowledge"]


def _option(flag: str, help: str) -> Any:
    return typer.Option(flag, metavar="NUMBER", help=help, rich_help_panel="Reading")


Prior = Annotated[str | None, _option("--prior", "The adversary's belief before the release [0.5].")]
RhoP = Annotated[str | None, _option("--rho-p", "Instead of --prior: coefficient of the prior over two values.")]
RhoC = Annotated[str | None, _option("--rho-c", "Coefficient of correlated records.")]
RhoT = Annotated[str | None, _option("--rho-t", "Coefficient of correlation over time.")]
LessLikely = Annotated[
    bool,
    typer.Option(
        "--less-likely", help="With --rho-…: the positive value is the less likely one.", rich_help_panel="Reading"
    ),
]
Fpr = Annotated[str | None, _option("--fpr", "False-positive rate [0.1].")]
Beta = Annotated[str | None, _option("--beta", "Weight of recall in the F-score [1].")]
Baseline = Annotated[str | None, _option("--baseline", "Success of an attack without the release [0.01].")]
ForEpsilon = Annotated[str | None, _option("--for-epsilon", "The ε whose δ is read.")]
ForDelta = Annotated[str | None, _option("--for-delta", "The δ whose ε is read [0.00001].")]

_READINGS = ("prior", "fpr", "beta", "baseline", "for_epsilon", "for_delta", "alpha", "recall", "order")


def readings_given(parameters: Mapping[str, Any]) -> dict[str, float]:
    """The readings' options that were given, under the names they have on the command line."""
    return {k: parse_number(m.flag(k), v) for k, v in parameters.items() if k in _READINGS and v is not None}


def knowledge_given(parameters: Mapping[str, Any]) -> Knowledge | None:
    """What the coefficients say about the prior, None if none is given; refused beside a prior."""
    rho = {k: parameters[k] for k in ("rho_p", "rho_c", "rho_t") if parameters[k] is not None}
    if not rho:
        if parameters["less_likely"]:
            raise InputError("--less-likely is given without a coefficient: give --rho-p, --rho-c or --rho-t too")
        return None
    if parameters["prior"] is not None:
        raise InputError(f"--prior and {m.flag(next(iter(rho)))} are both given: give the prior, or what it comes from")
    from ..build.knowledge.knowledge import Knowledge

    positive = "less likely" if parameters["less_likely"] else "more likely"
    return Knowledge.from_coefficients(**{k: parse_number(m.flag(k), v) for k, v in rho.items()}, positive=positive)


def with_knowledge(about: Explanation, known: Knowledge | None) -> Explanation:
    """The same with a last sentence that says where the prior comes from."""
    if known is None:
        return about
    from ..show.document import Span

    return replace(about, lead=(*about.lead, Span(f" {known.sentence}")))


def said(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Every option as it was typed, without how and where to write, for the line that reproduces the result."""
    skip = ("mechanism", "format", "output")
    return {k: v for k, v in parameters.items() if k not in skip and v is not None and v is not False}


def explain(
    ctx: typer.Context,
    mechanism: m.MechanismOrClaim,
    epsilon: m.Epsilon = None,
    scale: m.Scale = None,
    sigma: m.Sigma = None,
    psi: m.Psi = None,
    delta: m.Delta = None,
    calibration: m.Calibration = None,
    sensitivity: m.Sensitivity = None,
    shift: m.Shift = None,
    stretch: m.Stretch = None,
    neighbours: m.Neighbours = None,
    norm: m.Norm = None,
    k: m.Answers = None,
    truth: m.Truth = None,
    gamma: m.Gamma = None,
    rate: m.Rate = None,
    steps: m.Steps = None,
    width: m.Width = None,
    rho: m.Rho = None,
    xi: m.Xi = None,
    orders: m.Orders = None,
    mu: m.Mu = None,
    scores0: m.Scores0 = None,
    scores1: m.Scores1 = None,
    monotonic: m.Monotonic = False,
    prior: Prior = None,
    rho_p: RhoP = None,
    rho_c: RhoC = None,
    rho_t: RhoT = None,
    less_likely: LessLikely = False,
    fpr: Fpr = None,
    beta: Beta = None,
    baseline: Baseline = None,
    for_epsilon: ForEpsilon = None,
    for_delta: ForDelta = None,
    format: FormatOption = Format.table,
    output: OutputOption = None,
) -> None:
    """Say what an adversary can do with a release.

    For example: epsilens explain laplace --epsilon 1
    """
    name = m.find(mechanism, claims=True)
    arguments, readings = m.given(name, ctx.params), readings_given(ctx.params)
    known = knowledge_given(ctx.params)
    if known is not None:
        readings["prior"] = known.prior
    names = {"for_epsilon": "epsilon_for_delta", "for_delta": "delta"}
    from ..show.explanation import command_line
    from ..show.explanation import explain as explained

    about = explained(m.builder(name)(**arguments), **{names.get(k, k): v for k, v in readings.items()})
    show(with_knowledge(about, known).with_command(command_line("explain", name, said(ctx.params))), format, output)
