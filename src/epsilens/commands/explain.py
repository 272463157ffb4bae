"""``epsilens explain``: what a release tells, in words, numbers and curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from . import mechanisms as m
from .common import Format, FormatOption, OutputOption, parse_number, show

__all__ = ["explain", "readings_given", "said"]


def _option(flag: str, help: str) -> Any:
    return typer.Option(flag, metavar="NUMBER", help=help, rich_help_panel="Reading")


Prior = Annotated[str | None, _option("--prior", "The adversary's belief before the release [0.5].")]
Fpr = Annotated[str | None, _option("--fpr", "False-positive rate [0.1].")]
Beta = Annotated[str | None, _option("--beta", "Weight of recall in the F-score [1].")]
Baseline = Annotated[str | None, _option("--baseline", "Success of an attack without the release [0.01].")]
ForEpsilon = Annotated[str | None, _option("--for-epsilon", "The ε whose δ is read.")]
ForDelta = Annotated[str | None, _option("--for-delta", "The δ whose ε is read [0.00001].")]

_READINGS = ("prior", "fpr", "beta", "baseline", "for_epsilon", "for_delta", "alpha", "recall", "order")


def readings_given(parameters: Mapping[str, Any]) -> dict[str, float]:
    """The readings' options that were given, under the names they have on the command line."""
    return {k: parse_number(m.flag(k), v) for k, v in parameters.items() if k in _READINGS and v is not None}


def said(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Every option as it was typed, without how and where to write, for the line that reproduces the result."""
    skip = ("mechanism", "format", "output")
    return {k: v for k, v in parameters.items() if k not in skip and v is not None and v is not False}


def explain(
    ctx: typer.Context,
    mechanism: m.Mechanism,
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
    scores0: m.Scores0 = None,
    scores1: m.Scores1 = None,
    monotonic: m.Monotonic = False,
    prior: Prior = None,
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
    name = m.find(mechanism)
    arguments, readings = m.given(name, ctx.params), readings_given(ctx.params)
    names = {"for_epsilon": "epsilon_for_delta", "for_delta": "delta"}
    from ..report.explain import command_line
    from ..report.explain import explain as explained

    about = explained(m.builder(name)(**arguments), **{names.get(k, k): v for k, v in readings.items()})
    show(about.with_command(command_line("explain", name, said(ctx.params))), format, output)
