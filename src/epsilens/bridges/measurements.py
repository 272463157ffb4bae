"""OpenDP: what a measurement's privacy map promises, as an experiment; and the arguments of its noise constructors.

A measurement shows its map, never its noise: all that can honestly be taken from it is the claim under its measure. Who
knows the noise may say so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from ..calibration.choose import Choice
from ..checks import Array
from ..errors import InputError, require, type_phrase
from ..experiment import Experiment
from ..laws.envelope import Envelope, FailureConversion, envelope
from ..laws.finite import Finite
from ..mechanisms.claims import ROUNDING, from_dp, from_rdp, from_zcdp
from ..mechanisms.discrete import approximate, discrete_gaussian, geometric, randomized_response
from ..mechanisms.noise import gaussian, laplace
from ..mechanisms.selection import exponential, noisy_max
from ..worlds import Relation, parse_relation

if TYPE_CHECKING:
    from opendp.mod import Measurement

_FINE = 1e-6  # of a shift: noise on a grid so fine is continuous to the digits shown


def from_measurement(
    measurement: Measurement,
    d_in: object,
    *,
    noise: str | None = None,
    answers: int = 2,
    whole: int | None = None,
    neighbours: str = "add-remove",
) -> Experiment:
    """The riskiest release that an OpenDP ``Measurement`` allows for inputs at distance ``d_in``.

    Read by its measure: pure ε, (ε, δ), a whole privacy profile, ρ-zCDP, or a Rényi curve. With ``noise`` **you** say
    what the measurement cannot, and the reading is that of this noise with this ε (or ρ), not of the worst release:

    - ``"laplace"``, ``"gaussian"``: noise on a number, or on a vector under its L1 or L2 distance. Whole numbers get
      whole-number noise and are read so, and floats on a coarse grid (OpenDP's ``k``) too. Behind a transformation the
      number itself is not seen: ``whole`` says by how much it moves at ``d_in``, 0 if it is no whole number.
    - ``"exponential"``, ``"gumbel"``: noisy max under ``max_divergence``, under ``zero_concentrated_divergence``.
    - ``"response"``: randomised response among so many ``answers``.

    Parameters
    ----------
    measurement : opendp.Measurement
        The measurement.
    d_in : object
        Distance of neighbouring inputs.
    noise : str, optional
        What is known of the noise.
    answers : int, default 2
        Possible answers of randomised response.
    whole : int, optional
        How far a whole number moves behind a transformation.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.

    Returns
    -------
    Experiment
        The riskiest release it allows, or that of the noise named.

    Raises
    ------
    InputError
        If it cannot be read, with the part that is not understood.
    MissingExtra
        If the library is not installed.
    """
    known = require("opendp.mod", "reading a measurement")
    neighbours = parse_relation(neighbours)
    if not isinstance(measurement, known.Measurement):
        raise InputError(f"measurement is {type_phrase(measurement)}: give a Measurement of OpenDP", "measurement")
    try:
        promised = measurement.map(d_in)
    except (known.OpenDPException, TypeError, ValueError) as error:
        what = re.sub(r"\d{20,}", "…", " ".join(str(error).split()))[:120]
        raise InputError(
            f"d_in is {d_in!r}, which the measurement's map refuses ({what}): give another", "d_in"
        ) from None
    measure = str(measurement.output_measure.type)
    if noise is not None:
        return _noise(noise, measurement, d_in, promised, answers, whole, neighbours)
    inside, loss, beyond = measure, promised, 0.0
    if measure.startswith("Approximate<"):
        inside, (loss, beyond) = measure.removeprefix("Approximate<").removesuffix(">"), promised
    beyond = float(beyond)
    if inside == "MaxDivergence":
        experiment = _capped_claim(lambda: from_dp(float(loss), beyond, neighbours=neighbours), float(loss), neighbours)
    elif inside == "ZeroConcentratedDivergence":
        experiment = _capped_claim(lambda: from_zcdp(float(loss), neighbours=neighbours), float(loss), neighbours)
    elif inside == "RenyiDivergence":
        experiment = from_rdp(rho=lambda order: _renyi_at(loss, order), neighbours=neighbours)
    elif inside == "SmoothedMaxDivergence":
        experiment = from_dp(*_profile(loss), neighbours=neighbours)
    else:
        raise InputError(f"the measure {measure} has no experiment here: cast the measurement to approximate DP")
    if beyond and inside != "MaxDivergence":
        experiment = _with_failure(experiment, beyond)
    note = f"an OpenDP measurement under {measurement.output_measure} at d_in = {d_in}"
    told = {**experiment.parameters, "d_in": d_in if isinstance(d_in, int | float) else str(d_in)}
    return replace(experiment, parameters=told, notes=(note, *experiment.notes))


def _capped_claim(build: Callable[[], Experiment], loss: float, neighbours: Relation) -> Experiment:
    """The claim, or the one that promises nothing where the loss is beyond what has a meaning."""
    return build() if loss <= 1e4 else from_dp(0.0, 1.0, neighbours=neighbours)


#: The measure under which OpenDP makes each noise.
_MEASURED = {
    "laplace": "MaxDivergence",
    "gaussian": "ZeroConcentratedDivergence",
    "exponential": "MaxDivergence",
    "gumbel": "ZeroConcentratedDivergence",
    "response": "MaxDivergence",
}
_DISTANCES = ("AbsoluteDistance", "LpDistance<1", "LpDistance<2", "L1Distance", "L2Distance")
_WHOLE = re.compile(r"\b[iu](8|16|32|64|128|size)\b")


def _noise(
    noise: str,
    measurement: Measurement,
    d_in: object,
    promised: float,
    answers: int,
    whole: int | None,
    neighbours: Relation,
) -> Experiment:
    checks.one_of("noise", noise, tuple(_MEASURED))
    measure = str(measurement.output_measure.type)
    if measure != _MEASURED[noise]:
        raise InputError(f"{noise} noise is measured by {_MEASURED[noise]}, not by {measure}: leave noise out")
    loss = float(promised)
    if loss == 0:
        return approximate(epsilon=0.0, delta=0.0, neighbours=neighbours)
    if noise == "response":
        return randomized_response(epsilon=loss, k=answers)
    if noise == "exponential":
        return noisy_max(epsilon=loss, noise="exponential", neighbours=neighbours)
    if noise == "gumbel":  # ρ = ε²/8
        return exponential(epsilon=math.sqrt(8 * loss), neighbours=neighbours)
    size = loss if noise == "laplace" else math.sqrt(2 * loss)  # the shift in units of noise: ε, or ψ as ρ = ψ²/2
    steps = _noise_steps(noise, measurement, d_in, size, whole)
    if steps == 0:
        if noise == "laplace":
            return laplace(epsilon=size, neighbours=neighbours)
        return gaussian(psi=size, neighbours=neighbours)
    if noise == "laplace":
        return geometric(epsilon=size, sensitivity=steps, neighbours=neighbours)
    return discrete_gaussian(sigma=steps / size, sensitivity=steps, neighbours=neighbours)


def _noise_steps(noise: str, measurement: Measurement, d_in: object, size: float, whole: int | None) -> int:
    """By how many steps of its noise the answer moves; 0 where the noise is continuous.

    Laplace noise on a vector that moves by so much in L1 tells at most what it tells of one number that moves as far:
    along the way, no test's rate changes faster than the smaller of it and its rest. Normal noise on a vector depends
    on the L2 distance alone, but only where it is continuous.
    """
    if whole is not None:
        return checks.integer("whole", whole, low=0)
    carrier, metric = str(measurement.input_domain.carrier_type), str(measurement.input_metric.type)
    if not metric.startswith(_DISTANCES):
        raise InputError(
            f"the measurement's distance is {metric}, so that its noise is on a number nobody sees here: say by whole "
            "how far a whole number moves (0 if it is none), or leave noise out",
            "whole",
        )
    if _WHOLE.search(carrier):
        moved = checks.integer("d_in", d_in, low=1)
    else:
        unit = float(measurement.map(0.0))  # of rounding to a grid, which the map adds to every distance
        unit = unit if noise == "laplace" else math.sqrt(2 * unit)
        moved = 0 if unit < _FINE * size else math.ceil(size / unit * (1 - 1e-9))
    if moved and noise == "gaussian" and carrier.startswith("Vec"):
        raise InputError("whole-number Gaussian noise on a vector depends on its direction: leave noise out")
    return moved


def _renyi_at(curve: Callable[[float], float], order: float) -> float:
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
    best = FailureConversion(best, delta) if best is not None and 0 < delta < 1 else None
    more = envelope(eps, np.minimum(grown, 1.0), rounding=ROUNDING, conversion=best)
    told = {**experiment.parameters, "delta": delta}
    return Experiment(more, experiment.origin, told, experiment.worlds, experiment.notes)


def to_measurement(chosen: Choice | Experiment) -> dict[str, Any]:
    """The constructor of ``opendp.measurements`` for a choice or an experiment, its ``scale``, and the ``d_in`` kept.

    The scale is rounded up, so that the map at ``d_in`` never exceeds what was chosen. A selection also says its
    ``output_measure``, which decides the noise that OpenDP draws, and whether its distance is ``monotonic``; randomised
    response has a ``prob`` instead of a scale.

    Parameters
    ----------
    chosen : Choice or Experiment
        What to release.

    Returns
    -------
    dict
        Constructor, scale (rounded up) and distance.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> import epsilens as el
    >>> to_measurement(el.choose(el.laplace, "epsilon", at_most=0.55, given={"sensitivity": 3.0}))
    {'make': 'make_laplace', 'scale': 14.23683..., 'd_in': 3.0}
    """
    experiment = chosen.experiment if isinstance(chosen, Choice) else chosen
    if not isinstance(experiment, Experiment) or experiment.many:
        raise InputError("give a choice, or one experiment: what choose, laplace, gaussian and the like return")
    p = experiment.parameters
    if experiment.origin in _SELECTED:
        drawn = _SELECTED[experiment.origin] or p["noise"]
        if drawn not in _SELECTS:
            raise InputError("OpenDP's noisy max draws exponential or Gumbel noise: give noise='exponential'")
        scale = (1 if p["monotonic"] else 2) * p["sensitivity"] / p["epsilon"] * _UP
        told = {"make": "make_noisy_max", "scale": scale, "d_in": p["sensitivity"], "monotonic": p["monotonic"]}
        return {**told, "output_measure": _SELECTS[drawn]}
    if experiment.origin == "randomized_response":
        prob = math.exp(p["epsilon"]) / (math.expm1(p["epsilon"]) + p["k"]) / _UP  # of a true answer, rounded down
        make = "make_randomized_response_bool" if p["k"] == 2 else "make_randomized_response"
        return {"make": make, "prob": prob, "d_in": 1}
    if experiment.origin not in _ADDED or p.get("stretch", 1.0) != 1:
        raise InputError(
            "OpenDP adds Laplace or Gaussian noise, continuous or whole, selects by noisy max and randomises "
            f"responses: {experiment.name} is neither"
        )
    make, key = _ADDED[experiment.origin]
    return {"make": make, "scale": float(p[key]) * _UP, "d_in": p["sensitivity"]}


_UP = 1 + 2.0**-50
_ADDED = {
    "laplace": ("make_laplace", "scale"),
    "geometric": ("make_laplace", "scale"),
    "gaussian": ("make_gaussian", "sigma"),
    "discrete_gaussian": ("make_gaussian", "sigma"),
}
#: The noise of a selection, where its name says it, and the measure under which OpenDP draws that.
_SELECTED = {"exponential": "gumbel", "permute_and_flip": "exponential", "noisy_max": ""}
_SELECTS = {"exponential": "max_divergence", "gumbel": "zero_concentrated_divergence"}
