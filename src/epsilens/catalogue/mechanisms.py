"""Each mechanism once: its builder, what it takes and how it is said. A mechanism is a builder and one entry here.

>>> MECHANISMS["laplace"].title
'Laplace noise'
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .parameters import PARAMETERS, Parameter

if TYPE_CHECKING:
    from ..experiment import Experiment


class Purpose(StrEnum):
    """What mechanisms are for, in the order in which lists show them."""

    NOISE = "Noise on an answer"
    TRAINING = "Training"
    SELECTION = "Picking an outcome"
    LOCAL = "Answers randomised by each person"
    CLAIM = "Only the claim is known"


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """What an experiment can be built from by name.

    ``builder`` is ``module:function``; ``takes`` are the parameters it takes, ``needs`` those without which it cannot
    be built, ``either`` groups of which it needs one besides, ``renamed`` those the builder knows by another name.
    ``note`` is a sentence or two for the docs.
    """

    key: str
    title: str
    builder: str
    takes: tuple[str, ...]
    needs: tuple[str, ...] = ()
    either: tuple[tuple[str, ...], ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    @property
    def spoken(self) -> str:
        """The name as it is typed."""
        return self.key.replace("_", "-")

    def missing(self, given: Collection[str]) -> str | None:
        """The first parameter that it cannot be built without; None where all is given.

        >>> MECHANISMS["dpsgd"].missing(["sigma", "n", "batch"]), MECHANISMS["dpsgd"].missing(["sigma", "rate"])
        ('epochs', 'steps')
        """
        for name in self.needs:
            if name not in given:
                return name
        if any(all(name in given for name in group) for group in self.either):
            return None
        nearest = max(self.either, key=lambda group: sum(name in given for name in group), default=())
        return next((name for name in nearest if name not in given), None)


@dataclass(frozen=True, slots=True)
class MechanismEntry(CatalogueEntry):
    """A mechanism.

    ``ways`` say how much noise there is, the page's first one first, each by the parameters that belong together.
    ``said_by`` are the ways in which an experiment's parameters reproduce it, the first that applies (none if nothing
    does). ``chosen`` is what ``choose`` looks for unless told, and ``instead`` what it looks for when a parameter is
    given. ``how`` is one line on how it works, with the experiment's parameters in braces.
    """

    family: Purpose = Purpose.NOISE

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

    def reproduced(self, parameters: Mapping[str, object]) -> dict[str, Any] | None:
        """The options that build the experiment of these parameters again; None where none do.

        >>> MECHANISMS["laplace"].reproduced({"epsilon": 1.0, "sensitivity": 2.0, "shift": 2.0})
        {'epsilon': 1.0, 'sensitivity': 2.0}
        """
        way = next((way for way in self.said_by if all(name in parameters for name in way)), None)
        if way is None or any(isinstance(parameters[name], list) for name in way):
            return None
        options = {name: parameters[name] for name in way}
        others = [p for n, p in PARAMETERS.items() if n in self.takes and n in parameters and n not in options]
        options |= {p.name: parameters[p.name] for p in others if p.usual is not None and parameters[p.name] != p.usual}
        derived = [p for p in others if p.follows is not None and parameters[p.name] != p.follows(parameters)]
        return options | {p.name: parameters[p.name] for p in derived}


_MOVES = ("sensitivity", "shift", "neighbours")
_EPSILON = (("epsilon",),)
_SIGMA = (("sigma",),)

# Records, one fact beside the other.
# fmt: off
MECHANISMS: dict[str, MechanismEntry] = {
    m.key: m
    for m in (
        MechanismEntry(
            "laplace", "Laplace noise", "epsilens.mechanisms.noise:laplace",
            ("epsilon", "scale", *_MOVES, "stretch", "norm"),
            note="Calibrated to the L1 sensitivity. `stretch` is the ratio of the noise scales under H1 and H0.",
            ways=(("epsilon",), ("scale",)), said_by=_EPSILON,
        ),
        MechanismEntry(
            "gaussian", "Gaussian noise", "epsilens.mechanisms.noise:gaussian",
            ("epsilon", "delta", "sigma", "psi", "calibration", *_MOVES, "norm"),
            note="L2 sensitivity. `calibration` is `analytic` (the smallest sufficient σ) or `classical`, which is "
            "proven only below ε = 1 and refused beyond.",
            ways=(("sigma",), ("psi",), ("epsilon", "delta")), said_by=(("epsilon", "delta"), ("sigma",)),
            chosen="sigma", instead={"delta": "epsilon"},
        ),
        MechanismEntry(
            "geometric", "Geometric noise", "epsilens.mechanisms.discrete:geometric", ("epsilon", "scale", *_MOVES),
            note="Whole-number noise for counts.",
            ways=(("epsilon",), ("scale",)), said_by=_EPSILON,
        ),
        MechanismEntry(
            "discrete_gaussian", "Discrete Gaussian noise", "epsilens.mechanisms.discrete:discrete_gaussian",
            ("sigma", *_MOVES), needs=("sigma",),
            note="Whole-number noise.",
            ways=_SIGMA, said_by=_SIGMA, chosen="sigma",
        ),
        MechanismEntry(
            "skellam", "Skellam noise",
            "epsilens.mechanisms.discrete:skellam", ("variance", *_MOVES), needs=("variance",),
            note="Whole-number noise, the difference of two Poisson numbers: what several parties add adds up to it.",
            ways=(("variance",),), said_by=(("variance",),), chosen="variance",
        ),
        MechanismEntry(
            "randomized_response", "Randomised response", "epsilens.mechanisms.discrete:randomized_response",
            ("epsilon", "truth", "k"),
            note="One person's own answer among `k`.", family=Purpose.LOCAL,
            ways=(("epsilon",), ("truth",)), said_by=_EPSILON,
        ),
        MechanismEntry(
            "unary", "Unary encoding", "epsilens.mechanisms.discrete:unary", ("epsilon", "kind"), needs=("epsilon",),
            note="One bit for each value, flipped at random.", family=Purpose.LOCAL, said_by=_EPSILON,
            how="Each person reports one bit for every possible value, set for their own, and flips each at random.",
        ),
        MechanismEntry(
            "hadamard_response", "Hadamard response", "epsilens.mechanisms.discrete:hadamard_response", ("epsilon",),
            needs=("epsilon",),
            note="A column of a Hadamard matrix, likelier one of the value's own.", family=Purpose.LOCAL,
            said_by=_EPSILON,
            how="Each person reports one of many sets of values, more often a set that holds their own; any two values "
            "share half of the sets.",
        ),
        MechanismEntry(
            "count_mean_sketch", "Count-mean sketch", "epsilens.mechanisms.discrete:count_mean_sketch",
            ("epsilon", "collision", "hadamard"), needs=("epsilon",),
            note="A hashed value in unary, or one coordinate of its `hadamard` transform.", family=Purpose.LOCAL,
            said_by=_EPSILON,
            how="Each person hashes their value by a function drawn at random, and reports the function and the hashed "
            "value with its bits flipped at random.",
        ),
        MechanismEntry(
            "rappor", "RAPPOR", "epsilens.mechanisms.discrete:rappor", ("f", "p", "q", "h", "reports"), needs=("f",),
            note="A Bloom filter randomised for good by `f` and at each report by `p` and `q`.", family=Purpose.LOCAL,
            ways=(("f",),), said_by=(("f",),), chosen="f",
            how="Each person sets {h} bits for their value, replaces bits by coins once and for good, and flips bits "
            "again at each report.",
        ),
        MechanismEntry(
            "shuffled", "Shuffled answers", "epsilens.mechanisms.shuffle:shuffled", ("epsilon", "n", "answers"),
            needs=("epsilon", "n"),
            note="The answers of `n` people, each randomised with ε and then shuffled: an upper bound for any "
            "randomiser, within a bracket for randomised response with so many `answers`.", family=Purpose.LOCAL,
            ways=(("epsilon", "n"),), said_by=(("epsilon", "n"),),
            how="Each of {n:,} people randomises their own answer; the answers are shuffled, so that nobody sees whose "
            "is whose.",
        ),
        MechanismEntry(
            "exponential", "Exponential mechanism", "epsilens.mechanisms.selection:exponential",
            ("epsilon", "scores0", "scores1", "sensitivity", "monotonic", "neighbours"), needs=("epsilon",),
            note="Picks an outcome by its score; the worst case over all scores unless they are given. `monotonic` "
            "when a person can only raise scores.",
            family=Purpose.SELECTION, how="The release picks one outcome, more often one with a higher score.",
        ),
        MechanismEntry(
            "staircase", "Staircase noise", "epsilens.mechanisms.discrete:staircase", ("epsilon", "gamma", *_MOVES),
            needs=("epsilon",),
            note="`gamma` defaults to the least mean absolute error.", said_by=_EPSILON,
        ),
        MechanismEntry(
            "pure", "Any ε-DP release", "epsilens.mechanisms.discrete:pure", ("epsilon",
            "neighbours"), needs=("epsilon",),
            note="For when only the claim is known: the riskiest release that is still ε-DP.", said_by=_EPSILON,
            family=Purpose.CLAIM,
        ),
        MechanismEntry(
            "approximate", "Any (ε, δ)-DP release", "epsilens.mechanisms.discrete:approximate",
            ("epsilon", "delta", "neighbours"), needs=("epsilon", "delta"),
            note="The same for (ε, δ)-DP.", family=Purpose.CLAIM,
            ways=(("epsilon", "delta"),), said_by=(("epsilon", "delta"),), instead={"epsilon": "delta"},
        ),
        MechanismEntry(
            "dpsgd", "DP-SGD", "epsilens.mechanisms.training:dpsgd",
            (
                "sigma", "rate", "steps", "n", "batch", "epochs", "batches", "truncation", "people", "schedule",
                "std", "clip", "neighbours", "width",
            ),
            either=(
                ("sigma", "rate", "steps"), ("sigma", "n", "batch", "epochs"), ("sigma", "n", "batch", "steps"),
                ("std", "clip", "rate", "steps"), ("std", "clip", "n", "batch", "epochs"),
                ("std", "clip", "n", "batch", "steps"), ("schedule",),
            ),
            note="Training in noisy steps, each on a batch; σ is in clipping norms. `batches` says how they are drawn: "
            "poisson, fixed, with replacement, truncated (to `truncation` records) or shuffled. `people` are a group. "
            "Noise in other units is `std`, with `clip`. [Which is mine?](which.md)",
            family=Purpose.TRAINING,
            ways=(("batch", "n", "epochs"), ("rate", "steps")),
            said_by=(
                ("sigma", "n", "batch", "epochs", "truncation"), ("sigma", "n", "batch", "steps", "truncation"),
                ("sigma", "n", "batch", "epochs"), ("sigma", "n", "batch", "steps"), ("sigma", "rate", "steps"),
            ),
            chosen="sigma", instead={"clip": "std"},
        ),
        MechanismEntry(
            "mixture", "Gaussian noise and a random shift", "epsilens.mechanisms.batches:mixture",
            ("shifts", "weights", "sigma", "neighbours", "width"), needs=("shifts", "weights", "sigma"),
            note="The answer moves by one of `shifts`, each with its weight in `weights`: dp-accounting's mixture of "
            "Gaussians.",
            ways=_SIGMA, said_by=(("sigma", "shifts", "weights"),), chosen="sigma",
            how="A person moves the answer by a random distance, and Gaussian noise of standard deviation {sigma:.4g} "
            "hides that.",
        ),
        MechanismEntry(
            "banded", "Banded DP-FTRL", "epsilens.mechanisms.matrix_factorization:banded",
            ("sigma", "rate", "bands", "steps", "neighbours", "width"), needs=("sigma", "rate", "bands", "steps"),
            note="Training under noise that is correlated over `bands` steps, on batches drawn from as many groups in "
            "turn; σ is in clipping norms and for columns of norm 1.",
            family=Purpose.TRAINING, ways=_SIGMA, said_by=(("sigma", "rate", "bands", "steps"),), chosen="sigma",
            how="Each of {steps} steps draws a batch from one of {bands} groups of people in turn, and adds noise that "
            "is correlated over {bands} steps.",
        ),
        MechanismEntry(
            "tree", "Binary tree", "epsilens.mechanisms.matrix_factorization:tree",
            ("leaves", "sigma", "participations", "separation", "neighbours"), needs=("leaves", "sigma"),
            note="Noisy sums over all complete dyadic blocks of steps; a person takes part `participations` times, at "
            "least `separation` steps apart.",
            family=Purpose.TRAINING, ways=_SIGMA, said_by=(("sigma", "leaves"),), chosen="sigma",
            how="The release is the noisy sum of every complete block of 1, 2, 4, … of {leaves} steps.",
        ),
        MechanismEntry(
            "noisy_max", "Noisy max", "epsilens.mechanisms.selection:noisy_max",
            ("epsilon", "scale", "noise", "sensitivity", "monotonic", "neighbours"),
            note="The outcome whose noisy score is highest. `noise` is laplace, exponential or gumbel; ε is what the "
            "selection guarantees, at a scale of 2Δ/ε, or Δ/ε with `monotonic`.",
            family=Purpose.SELECTION, ways=(("epsilon",), ("scale",)), said_by=_EPSILON,
            how="The release picks the outcome whose score is highest after noise on each.",
        ),
        MechanismEntry(
            "permute_and_flip", "Permute-and-flip", "epsilens.mechanisms.selection:permute_and_flip",
            ("epsilon", "sensitivity", "monotonic", "neighbours"), needs=("epsilon",),
            note="The same risk as noisy max with exponential noise.",
            family=Purpose.SELECTION, said_by=_EPSILON,
            how="The release goes through the outcomes in random order and keeps the first that passes a coin, which "
            "favours higher scores.",
        ),
        MechanismEntry(
            "top_k", "Top-k selection", "epsilens.mechanisms.selection:top_k",
            ("epsilon", "k", "by", "sensitivity", "monotonic", "neighbours", "width"), needs=("epsilon", "k"),
            note="`k` selections of ε each, `by` exponential (also one draw of Gumbel noise), noisy-max or "
            "permute-and-flip.",
            family=Purpose.SELECTION, said_by=(("epsilon", "k"),),
            how="The release picks {k} outcomes, one after the other, more often those with a higher score.",
        ),
        MechanismEntry(
            "sparse_vector", "Sparse vector", "epsilens.mechanisms.selection:sparse_vector",
            ("epsilon", "threshold_scale", "query_scale", "above", "sensitivity", "monotonic", "neighbours"),
            note="Which queries exceed a noisy threshold, until so many (`above`) did: ε-DP, and no more is known.",
            family=Purpose.SELECTION, ways=(("epsilon",), ("threshold_scale", "query_scale")), said_by=_EPSILON,
            how="The release says of each query whether it exceeds a threshold, with noise on both, and ends after "
            "{above} that did.",
        ),
    )
}
# fmt: on


def every_option() -> tuple[str, ...]:
    """Every parameter that some mechanism takes."""
    return tuple(dict.fromkeys(name for m in MECHANISMS.values() for name in m.takes))


def register(mechanism: MechanismEntry, *parameters: Parameter) -> None:
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


class ClaimEntry(CatalogueEntry):
    """A claim: the experiment built from it is the riskiest one it allows."""

    __slots__ = ()


# fmt: off
CLAIMS: dict[str, ClaimEntry] = {
    c.key: c
    for c in (
        ClaimEntry(
            "zcdp", "Any ρ-zCDP release", "epsilens.mechanisms.claims:from_zcdp", ("rho", "xi", "neighbours"),
            needs=("rho",),
            note="Zero-concentrated differential privacy: D_a ≤ ξ + ρ·a at every order a.",
        ),
        ClaimEntry(
            "rdp", "Any Rényi-DP release", "epsilens.mechanisms.claims:from_rdp", ("orders", "rho", "neighbours"),
            needs=("orders", "rho"), renamed={"orders": "order"},
            note="Rényi differential privacy at one order or several.",
        ),
        ClaimEntry(
            "gdp", "Any μ-GDP release", "epsilens.mechanisms.claims:from_gdp", ("mu", "neighbours"), needs=("mu",),
            note="Gaussian differential privacy: at most as risky as N(0, 1) against N(μ, 1).",
        ),
    )
}

#: A claim of any kind to be judged, with the training it may be about; or a published deployment by its name.
ANY_CLAIM = ClaimEntry(
    "claim", "A claim", "epsilens.mechanisms.claims:claim",
    (
        "epsilon", "delta", "rho", "xi", "orders", "mu", "neighbours", "rate", "steps", "n", "batch", "epochs",
        "batches", "truncation", "people",
    ),
    renamed={"orders": "order"},
)
# fmt: on


def builder(entry: CatalogueEntry) -> Callable[..., Experiment]:
    """The function that builds an entry, taking the parameters under the catalogue's names.

    >>> builder(MECHANISMS["laplace"])(epsilon=1.0).roc(0.1)
    0.27182818284590...
    """
    module, _, name = entry.builder.partition(":")
    build: Callable[..., Experiment] = getattr(import_module(module), name)
    if not entry.renamed:
        return build

    @wraps(build)
    def renamed(**arguments: object) -> Experiment:
        return build(**{entry.renamed.get(k, k): v for k, v in arguments.items()})

    return renamed
