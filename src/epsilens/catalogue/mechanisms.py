"""Each mechanism once: its builder, what it takes and how it is said. A mechanism is a builder and one entry here.

>>> MECHANISMS["laplace"].title
'Laplace noise'
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from .parameter import Parameter
from .parameters import PARAMETERS

__all__ = ["CLAIMS", "MECHANISMS", "Claim", "Entry", "Family", "Mechanism", "every_option", "register", "unregister"]


class Family(StrEnum):
    """What mechanisms are for, in the order in which lists show them."""

    NOISE = "Noise on an answer"
    TRAINING = "Training"
    SELECTION = "Picking an outcome"
    LOCAL = "Answers randomised by each person"
    CLAIM = "Only the claim is known"


@dataclass(frozen=True, slots=True)
class Entry:
    """What an experiment can be built from by name.

    ``builder`` is ``module:function``; ``takes`` are the parameters it takes, ``needs`` those without which it cannot
    be built, ``renamed`` those the builder knows by another name. ``note`` is a sentence or two for the docs.
    """

    key: str
    title: str
    builder: str
    takes: tuple[str, ...]
    needs: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    @property
    def spoken(self) -> str:
        """The name as it is typed."""
        return self.key.replace("_", "-")


@dataclass(frozen=True, slots=True)
class Mechanism(Entry):
    """A mechanism.

    ``ways`` say how much noise there is, the page's first one first, each by the parameters that belong together.
    ``said_by`` are the ways in which an experiment's parameters reproduce it, the first that applies (none if nothing
    does). ``chosen`` is what ``choose`` looks for unless told, and ``instead`` what it looks for when a parameter is
    given. ``how`` is one line on how it works, with the experiment's parameters in braces.
    """

    family: Family = Family.NOISE

    ways: tuple[tuple[str, ...], ...] = (("epsilon",),)
    said_by: tuple[tuple[str, ...], ...] = ()
    chosen: str = "epsilon"
    instead: Mapping[str, str] = field(default_factory=dict)
    how: str = ""

    def default_parameter(self, given: Collection[str]) -> str:
        """What ``choose`` looks for beside what is given.

        >>> MECHANISMS["gaussian"].default_parameter([]), MECHANISMS["gaussian"].default_parameter(["delta"])
        ('sigma', 'epsilon')
        """
        for beside, other in self.instead.items():
            if beside in given and not (other in given and self.chosen in given):
                return other
        return self.chosen

    def reproduced(self, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
        """The options that build the experiment of these parameters again; None where none do.

        >>> MECHANISMS["laplace"].reproduced({"epsilon": 1.0, "sensitivity": 2.0, "shift": 2.0})
        {'epsilon': 1.0, 'sensitivity': 2.0}
        """
        way = next((way for way in self.said_by if all(name in parameters for name in way)), None)
        if way is None or any(isinstance(parameters[name], list) for name in way):
            return None
        options = {name: parameters[name] for name in way}
        others = [p for n, p in PARAMETERS.items() if n in self.takes and n in parameters and n not in options]
        options |= {p.name: parameters[p.name] for p in others if _unusual(p, parameters)}
        return options | {p.name: parameters[p.name] for p in others if _beside(p, parameters)}


def _unusual(parameter: Parameter, parameters: Mapping[str, Any]) -> bool:
    """Whether a parameter with a usual value has another."""
    return parameter.usual is not None and parameters[parameter.name] != parameter.usual


def _beside(parameter: Parameter, parameters: Mapping[str, Any]) -> bool:
    """Whether a parameter that follows from others unless given is not what follows."""
    return parameter.follows is not None and parameters[parameter.name] != parameter.follows(parameters)


_MOVES = ("sensitivity", "shift", "neighbours")
_EPSILON = (("epsilon",),)
_SIGMA = (("sigma",),)

# Records, one fact beside the other.
# fmt: off
MECHANISMS: dict[str, Mechanism] = {
    m.key: m
    for m in (
        Mechanism(
            "laplace", "Laplace noise", "epsilens.build.mechanisms:laplace",
            ("epsilon", "scale", *_MOVES, "stretch", "norm"),
            note="Calibrated to the L1 sensitivity. `stretch` is the ratio of the noise scales under H1 and H0.",
            ways=(("epsilon",), ("scale",)), said_by=_EPSILON,
        ),
        Mechanism(
            "gaussian", "Gaussian noise", "epsilens.build.mechanisms:gaussian",
            ("epsilon", "delta", "sigma", "psi", "calibration", *_MOVES, "norm"),
            note="L2 sensitivity. `calibration` is `analytic` (the smallest sufficient σ) or `classical`, which is "
            "proven only below ε = 1 and refused beyond.",
            ways=(("sigma",), ("psi",), ("epsilon", "delta")), said_by=(("epsilon", "delta"), ("sigma",)),
            chosen="sigma", instead={"delta": "epsilon"},
        ),
        Mechanism(
            "geometric", "Geometric noise", "epsilens.build.discrete:geometric", ("epsilon", "scale", *_MOVES),
            note="Whole-number noise for counts.",
            ways=(("epsilon",), ("scale",)), said_by=_EPSILON,
        ),
        Mechanism(
            "discrete_gaussian", "Discrete Gaussian noise", "epsilens.build.discrete:discrete_gaussian",
            ("sigma", *_MOVES), needs=("sigma",),
            note="Whole-number noise.",
            ways=_SIGMA, said_by=_SIGMA, chosen="sigma",
        ),
        Mechanism(
            "skellam", "Skellam noise", "epsilens.build.discrete:skellam", ("variance", *_MOVES), needs=("variance",),
            note="Whole-number noise, the difference of two Poisson numbers: what several parties add adds up to it.",
            ways=(("variance",),), said_by=(("variance",),), chosen="variance",
        ),
        Mechanism(
            "randomized_response", "Randomised response", "epsilens.build.discrete:randomized_response",
            ("epsilon", "truth", "k"),
            note="One person's own answer among `k`.", family=Family.LOCAL,
            ways=(("epsilon",), ("truth",)), said_by=_EPSILON,
        ),
        Mechanism(
            "exponential", "Exponential mechanism", "epsilens.build.discrete:exponential",
            ("epsilon", "scores0", "scores1", "sensitivity", "monotonic", "neighbours"),
            needs=("epsilon", "scores0", "scores1"),
            note="Picks an outcome by its score; `monotonic` when a person can only raise scores.",
            family=Family.SELECTION,
            how="The release picks one of {outcomes} outcomes, more often those with a higher score.",
        ),
        Mechanism(
            "staircase", "Staircase noise", "epsilens.build.discrete:staircase", ("epsilon", "gamma", *_MOVES),
            needs=("epsilon",),
            note="`gamma` defaults to the least mean absolute error.", said_by=_EPSILON,
        ),
        Mechanism(
            "pure", "Any ε-DP release", "epsilens.build.discrete:pure", ("epsilon", "neighbours"), needs=("epsilon",),
            note="For when only the claim is known: the riskiest release that is still ε-DP.", said_by=_EPSILON,
            family=Family.CLAIM,
        ),
        Mechanism(
            "approximate", "Any (ε, δ)-DP release", "epsilens.build.discrete:approximate",
            ("epsilon", "delta", "neighbours"), needs=("epsilon", "delta"),
            note="The same for (ε, δ)-DP.", family=Family.CLAIM,
            ways=(("epsilon", "delta"),), said_by=(("epsilon", "delta"),), instead={"epsilon": "delta"},
        ),
        Mechanism(
            "dpsgd", "DP-SGD", "epsilens.build.sampling:dpsgd", ("sigma", "rate", "steps", "neighbours", "width"),
            needs=("sigma", "rate", "steps"),
            note="Training in noisy steps, each on a sample; σ is in clipping norms. [More](composition.md).",
            family=Family.TRAINING,
            ways=_SIGMA, said_by=(("sigma", "rate", "steps"),), chosen="sigma",
        ),
    )
}
# fmt: on


def every_option() -> tuple[str, ...]:
    """Every parameter that some mechanism takes."""
    return tuple(dict.fromkeys(name for m in MECHANISMS.values() for name in m.takes))


def register(mechanism: Mechanism, *parameters: Parameter) -> None:
    """Add a mechanism, with parameters of its own: the command, the page and the API built from then on have it."""
    own = {p.name: p for p in parameters}
    twice = [name for name in own if name in PARAMETERS] + [mechanism.key] * (mechanism.key in MECHANISMS)
    if twice:
        raise ValueError(f"{twice[0]!r} is in the catalogue already")
    unknown = [name for name in mechanism.takes if name not in PARAMETERS and name not in own]
    if unknown:
        raise ValueError(f"{mechanism.key!r} takes {unknown[0]!r}, which is no parameter of the catalogue")
    PARAMETERS.update(own)
    MECHANISMS[mechanism.key] = mechanism


def unregister(key: str, *parameters: str) -> None:
    """Take a mechanism out again, and the parameters that came with it."""
    del MECHANISMS[key]
    for name in parameters:
        del PARAMETERS[name]


class Claim(Entry):
    """A claim: the experiment built from it is the riskiest one it allows."""

    __slots__ = ()


# fmt: off
CLAIMS: dict[str, Claim] = {
    c.key: c
    for c in (
        Claim(
            "zcdp", "Any ρ-zCDP release", "epsilens.build.claims:from_zcdp", ("rho", "xi", "neighbours"),
            needs=("rho",),
            note="Zero-concentrated differential privacy: D_a ≤ ξ + ρ·a at every order a.",
        ),
        Claim(
            "rdp", "Any Rényi-DP release", "epsilens.build.claims:from_rdp", ("orders", "rho", "neighbours"),
            needs=("orders", "rho"), renamed={"orders": "order"},
            note="Rényi differential privacy at one order or several.",
        ),
        Claim(
            "gdp", "Any μ-GDP release", "epsilens.build.claims:from_gdp", ("mu", "neighbours"), needs=("mu",),
            note="Gaussian differential privacy: at most as risky as N(0, 1) against N(μ, 1).",
        ),
    )
}
# fmt: on
