"""OpenDP: what a measurement's privacy map promises, as an experiment; and the arguments of its noise constructors.

A measurement shows its map, never its noise: all that can honestly be taken from it is the claim under its measure. Who
knows the noise may say so.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from .. import checks
from ..build.claims import ROUNDING, from_dp, from_rdp, from_zcdp
from ..build.discrete import approximate
from ..build.mechanisms import gaussian, laplace
from ..checks import Array
from ..choice.choice import Choice
from ..errors import InputError, need
from ..experiment import Experiment
from ..laws.finite.envelope import Envelope, envelope
from ..laws.finite.law import Finite
from ..laws.finite.rdp import MayFail

__all__ = ["from_measurement", "to_measurement"]


def from_measurement(
    measurement: Any, d_in: Any, *, noise: str | None = None, neighbours: str = "add-remove"
) -> Experiment:
    """The riskiest release that an OpenDP ``Measurement`` allows for inputs at distance ``d_in``.

    Read by its measure: pure ε, (ε, δ), a whole privacy profile, ρ-zCDP, or a Rényi curve. With ``noise`` "laplace" or
    "gaussian" **you** say what the measurement cannot: its one answer carries that noise. The reading is then that of
    the noise with this ε (or ρ), not of the worst release with it.
    """
    known = need("opendp.mod", "reading a measurement")
    if not isinstance(measurement, known.Measurement):
        raise InputError(
            f"measurement is a {type(measurement).__name__}: give a Measurement of OpenDP", parameter="measurement"
        )
    try:
        promised = measurement.map(d_in)
    except (known.OpenDPException, TypeError, ValueError) as error:
        what = re.sub(r"\d{20,}", "…", " ".join(str(error).split()))[:120]
        raise InputError(
            f"d_in is {d_in!r}, which the measurement's map refuses ({what}): give another", parameter="d_in"
        ) from None
    measure = str(measurement.output_measure.type)
    if noise is not None:
        return _noise(noise, measure, promised, neighbours)
    inside, loss, beyond = measure, promised, 0.0
    if measure.startswith("Approximate<"):
        inside, (loss, beyond) = measure.removeprefix("Approximate<").removesuffix(">"), promised
    beyond = float(beyond)
    if inside == "MaxDivergence":
        experiment = _capped(lambda: from_dp(float(loss), beyond, neighbours=neighbours), float(loss), neighbours)
    elif inside == "ZeroConcentratedDivergence":
        experiment = _capped(lambda: from_zcdp(float(loss), neighbours=neighbours), float(loss), neighbours)
    elif inside == "RenyiDivergence":
        experiment = from_rdp(rho=lambda order: _order(loss, order), neighbours=neighbours)
    elif inside == "SmoothedMaxDivergence":
        experiment = from_dp(*_profile(loss), neighbours=neighbours)
    else:
        raise InputError(f"the measure {measure} has no experiment here: cast the measurement to approximate DP")
    if beyond and inside != "MaxDivergence":
        experiment = _with_failure(experiment, beyond)
    note = f"an OpenDP measurement under {measurement.output_measure} at d_in = {d_in}"
    told = {**experiment.parameters, "d_in": d_in if isinstance(d_in, int | float) else str(d_in)}
    return Experiment(experiment.law, experiment.origin, told, experiment.worlds, (note, *experiment.notes))


def _capped(build: Any, loss: float, neighbours: str) -> Experiment:
    """The claim, or the one that promises nothing where the loss is beyond what has a meaning."""
    made: Experiment = build() if loss <= 1e4 else from_dp(0.0, 1.0, neighbours=neighbours)
    return made


def _noise(noise: str, measure: str, promised: Any, neighbours: str) -> Experiment:
    wanted = {"laplace": "MaxDivergence", "gaussian": "ZeroConcentratedDivergence"}
    checks.choice("noise", noise, tuple(wanted))
    if measure != wanted[noise]:
        raise InputError(f"{noise} noise is measured by {wanted[noise]}, not by {measure}: leave noise out")
    loss = float(promised)
    if loss == 0:
        return approximate(epsilon=0.0, delta=0.0, neighbours=neighbours)
    if noise == "laplace":
        return laplace(epsilon=loss, neighbours=neighbours)
    return gaussian(psi=math.sqrt(2 * loss), neighbours=neighbours)  # ρ = ψ²/2


def _order(curve: Any, order: float) -> float:
    """D at one order; infinite where the curve has no answer."""
    try:
        value = float(curve(order))
    except Exception:  # whatever a curve written by hand may raise: no answer is no promise
        return math.inf
    return math.inf if math.isnan(value) else value


def _profile(curve: Any) -> tuple[Array, Array]:
    """(ε, δ) along a privacy profile: more of them where δ falls fast. Any choice of ε is safe."""

    def delta(epsilon: Array) -> Array:
        return np.asarray([min(max(float(curve.delta(e)), 0.0), 1.0) for e in epsilon.tolist()])

    end = 2.0**-20
    while float(curve.delta(end)) > 1e-300 and end < 1e4:
        end = min(2 * end, 1e4)
    coarse = np.concatenate(([0.0], np.geomspace(1e-4 * end, end, 40)))
    fallen = -np.log(np.maximum(np.minimum.accumulate(delta(coarse)), 1e-300))
    wanted = np.concatenate((np.linspace(0.0, min(40.0, fallen[-1]), 160), np.linspace(40.0, 690.0, 400)))
    epsilon = np.unique(np.concatenate((coarse, np.interp(wanted, fallen, coarse))))
    return epsilon, delta(epsilon)


def _with_failure(experiment: Experiment, delta: float) -> Experiment:
    """With probability δ all is given away, otherwise the claim holds: δ(ε) grows to δ + (1−δ)·δ(ε)."""
    law = experiment.law
    assert isinstance(law, Finite)  # as every claim is
    eps = np.unique(np.maximum(law.llr, 0.0))
    grown = delta + (1 - delta) * np.asarray(law.profile(eps), dtype=float)
    best = law.conversion if isinstance(law, Envelope) else None
    best = MayFail(best, delta) if best is not None and 0 < delta < 1 else None
    more = envelope(eps, np.minimum(grown, 1.0), rounding=ROUNDING, conversion=best)
    told = {**experiment.parameters, "delta": delta}
    return Experiment(more, experiment.origin, told, experiment.worlds, experiment.notes)


def to_measurement(chosen: Choice | Experiment) -> dict[str, Any]:
    """The constructor of ``opendp.measurements`` for a choice or an experiment, its ``scale``, and the ``d_in`` kept.

    The scale is rounded up, so that the map at ``d_in`` never exceeds what was chosen.

    >>> import epsilens as el
    >>> to_measurement(el.choose(el.laplace, "epsilon", at_most=0.55, given={"sensitivity": 3.0}))
    {'make': 'make_laplace', 'scale': 14.23683..., 'd_in': 3.0}
    """
    experiment = chosen.experiment if isinstance(chosen, Choice) else chosen
    if not isinstance(experiment, Experiment) or experiment.many:
        raise InputError("give a choice, or one experiment: what choose, laplace, gaussian and the like return")
    p = experiment.parameters
    makes = {
        "laplace": ("make_laplace", "scale"),
        "geometric": ("make_laplace", "scale"),
        "gaussian": ("make_gaussian", "sigma"),
        "discrete_gaussian": ("make_gaussian", "sigma"),
    }
    if experiment.origin not in makes or p.get("stretch", 1.0) != 1:
        raise InputError(f"OpenDP adds Laplace or Gaussian noise, continuous or whole: {experiment.name} is neither")
    make, key = makes[experiment.origin]
    scale = float(p[key]) * (1 + 2.0**-50)
    return {"make": make, "scale": scale, "d_in": p["sensitivity"]}
