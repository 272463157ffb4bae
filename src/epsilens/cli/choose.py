"""``epsilens choose``: the riskiest parameter that keeps a reading under a limit."""

from __future__ import annotations

from typing import Annotated

import typer

from ..errors import InputError
from . import explain as e
from . import mechanisms as m
from .common import Format, FormatOption, OutputOption, parse_number, show

__all__ = ["AtMost", "choose", "split_limit"]

AtMost = Annotated[str, typer.Option("--at-most", metavar="READING=VALUE", help="The limit, such as success=0.55.")]
Parameter = Annotated[str | None, typer.Option("--parameter", metavar="NAME", help="What to choose [epsilon].")]
Alpha = Annotated[str | None, e._option("--alpha", "False-positive rate of the readings recall and precision.")]
Recall = Annotated[str | None, e._option("--recall", "Recall at which precision is read.")]
Order = Annotated[str | None, e._option("--order", "Order of the Rényi divergence.")]


def split_limit(text: str, flag: str = "--at-most") -> tuple[str, float]:
    """A reading and its limit.

    >>> split_limit("success=0.55")
    ('success', 0.55)
    """
    reading, equals, value = text.partition("=")
    if not (equals and reading.strip() and value.strip()):
        raise InputError(f"{flag} is {text[:40]!r}: give a reading and its limit, such as success=0.55")
    return reading.strip().replace("-", "_"), parse_number(f"{flag} {reading.strip()}", value.strip())


def _default_parameter(name: str, said: dict[str, object]) -> str:
    """ε where the mechanism has it; σ for Gaussian noise unless a δ goes with the ε; what is left of a claim."""
    if name == "gaussian" and said.get("delta") is None:
        return "sigma"
    if name == "approximate" and said.get("epsilon") is not None and said.get("delta") is None:
        return "delta"
    return "epsilon" if "epsilon" in m.TAKES[name] else "sigma"


def choose(
    ctx: typer.Context,
    mechanism: m.Mechanism,
    at_most: AtMost,
    parameter: Parameter = None,
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
    scores0: m.Scores0 = None,
    scores1: m.Scores1 = None,
    monotonic: m.Monotonic = False,
    prior: e.Prior = None,
    rho_p: e.RhoP = None,
    rho_c: e.RhoC = None,
    rho_t: e.RhoT = None,
    less_likely: e.LessLikely = False,
    fpr: e.Fpr = None,
    beta: e.Beta = None,
    alpha: Alpha = None,
    recall: Recall = None,
    baseline: e.Baseline = None,
    order: Order = None,
    for_epsilon: e.ForEpsilon = None,
    for_delta: e.ForDelta = None,
    format: FormatOption = Format.table,
    output: OutputOption = None,
) -> None:
    """Find the noise that keeps a risk under a limit.

    For example: epsilens choose laplace --at-most success=0.55
    """
    name = m.find(mechanism)
    reading, limit = split_limit(at_most)
    wanted = parameter.strip().replace("-", "_") if parameter else _default_parameter(name, ctx.params)
    if wanted not in m.TAKES[name]:
        raise InputError(f"{mechanism} has no parameter {wanted[:40]!r}: it takes {m.options_of(name)}")
    arguments = m.given(name, ctx.params, chosen=wanted)
    if wanted in arguments:
        raise InputError(f"{m.flag(wanted)} is given, but it is what is being chosen: leave it out or name another")
    names = {"for_epsilon": "epsilon", "for_delta": "delta"}
    readings = {names.get(k, k): v for k, v in e.readings_given(ctx.params).items()}
    known = e.knowledge_given(ctx.params)
    if known is not None:
        readings["prior"] = known.prior
    from ..choice.choice import choose as choose_
    from ..show.explanation import chosen, command_line

    choice = choose_(m.builder(name), wanted, at_most=limit, reading=reading, given=arguments, **readings)
    show(
        e.with_knowledge(chosen(choice), known).with_command(command_line("choose", name, e.said(ctx.params))),
        format,
        output,
    )
