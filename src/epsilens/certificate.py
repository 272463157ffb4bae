"""A claim that can be checked without this software: releases, a reading, and the two ends it is proven to lie between.

The file is what the independent checker reads (``docs/proofs/checker.md``): the parameters of the noise as doubles or
as decimals, and nothing of how the ends were found. Of what no checker knows a pair for, batches that are shuffled,
claims, correlated records, there is none: that is refused with the reason.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from . import checks
from .catalogue.readings import find_reading
from .errors import InputError, WriteError
from .numerics.values import FrozenMapping, ValueSemantics
from .readings.law import Exactness
from .results import SentenceResult

if TYPE_CHECKING:
    from .experiment import Experiment

FORMAT = "epsilens-certificate/1"
#: The readings that are certified, and the argument of each.
CERTIFIED = {"delta": "epsilon", "epsilon": "delta", "advantage": "", "success": "prior", "tradeoff": "fpr"}
_MOST_RELEASES = 64  # unlike ones, in one file
_SAMPLED, _MOST_OUTCOMES = range(51), 1000  # people of a group in one sample, entries of a list
_ONES = "delta, epsilon, advantage, success or tradeoff"
#: One release as the file holds it: its mechanism and its parameters.
Value: TypeAlias = str | int | tuple[str, ...]
Release: TypeAlias = FrozenMapping[str, Value]
_NO_PAIR = (
    "no certificate is made of {}: a checker knows normal, Laplace, geometric and discrete normal noise, randomized "
    "response, lists of probabilities, samples and groups of normal or Laplace noise, and compositions, of a person "
    "who enters or leaves; no batches without a coin for each record, no claims, no correlated records"
)


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(ValueSemantics, SentenceResult):
    """A reading of a composition and its bracket, in the form that the independent checker reads.

    Attributes
    ----------
    releases : tuple of mapping
        Each mechanism with its parameters and how often it is released.
    numbers : {"doubles", "decimals"}
        What a parameter's text stands for: the nearest double, or the decimal itself.
    relation : {"both", "remove", "add"}
        Which world is tested; of both, the worse.
    reading : str
        The reading that is claimed: delta, epsilon, advantage, success or fnr.
    at : float or None
        Its argument.
    lower, upper : float
        The ends that are claimed.
    """

    shown_as: ClassVar[str] = "certificate"

    releases: tuple[Release, ...]
    numbers: str
    relation: str
    reading: str
    at: float | None
    lower: float
    upper: float

    def to_dict(self) -> dict[str, object]:
        """The certificate as the checker reads it.

        Returns
        -------
        dict
            Numbers are text.
        """
        return {
            "format": FORMAT,
            "numbers": self.numbers,
            "releases": [{k: list(v) if isinstance(v, tuple) else v for k, v in r.items()} for r in self.releases],
            "relation": self.relation,
            "reading": self.reading,
            **({} if self.at is None else {"at": repr(self.at)}),
            "lower": repr(self.lower),
            "upper": repr(self.upper),
        }

    def to_json(self) -> str:
        """The file.

        Returns
        -------
        str
            JSON that the checker reads.
        """
        return json.dumps(self.to_dict(), indent=2) + "\n"

    def save(self, path: str | Path) -> Path:
        """Write the file.

        Parameters
        ----------
        path : str or Path
            Where; a file of that name is replaced.

        Returns
        -------
        Path
            Where it was written.

        Raises
        ------
        WriteError
            If it cannot be written.
        """
        try:
            Path(path).write_text(self.to_json(), encoding="utf-8")
        except OSError as error:
            raise WriteError(
                f"the certificate cannot be written ({error.strerror or error}): name a file in a folder that is there"
            ) from None
        return Path(path)

    def __repr__(self) -> str:
        at = "" if self.at is None else f" at {self.at!r}"
        return f"Certificate({self.reading!r}{at}, {self.lower!r} to {self.upper!r})"


def certificate(e: Experiment, reading: str, arguments: Mapping[str, object]) -> Certificate:
    """The certificate of a reading; refused where nobody but us could check it."""
    if not isinstance(reading, str) or reading not in CERTIFIED:
        raise InputError(f"no certificate is made of {find_reading(reading).name!r}: give {_ONES}", "reading")
    name = CERTIFIED[reading]
    if set(arguments) - {name}:
        takes = f"it takes {name} alone" if name else "it takes no arguments"
        raise InputError(f"a certificate of {reading} is asked for {', '.join(arguments)}: {takes}", "reading")
    if e.many:
        raise InputError("this experiment holds arrays: give single numbers, and certify each")
    given = {key: float(checks.scalar(key, value)) for key, value in arguments.items()}
    if given.get("prior", 0.5) != 0.5:
        raise InputError(f"prior is {given['prior']:g}: a certificate of success is of the prior 0.5", "prior")
    releases, reverse = _releases(e)
    if reading == "tradeoff" and given.get("fpr") in (0.0, 1.0):
        raise InputError("fpr is 0 or 1: a certificate is of a rate between them", "fpr")
    low, high = (float(end) for end in e.bracket(reading, **given))
    if not (math.isfinite(low) and math.isfinite(high)):
        raise InputError(
            f"{reading} is infinite here, which no certificate claims: give a larger {name or 'noise'}", name
        )
    return Certificate(
        releases,
        "decimals" if any(release["mechanism"] == "finite" for release in releases) else "doubles",
        "both" if reading != "tradeoff" else "add" if reverse else "remove",
        "fnr" if reading == "tradeoff" else reading,
        None if reading == "success" else given.get(name, 0.0 if reading == "epsilon" else None),
        low,
        high,
    )


def success_certificate(e: Experiment) -> Certificate | None:
    """That of how often the best guess is right; None where none is made."""
    try:
        return certificate(e, "success", {})
    except InputError:
        return None


def certifiable(e: Experiment) -> bool:
    """Whether a checker knows the pair of each release."""
    try:
        return not e.many and bool(_releases(e)[0])
    except InputError:
        return False


def _releases(e: Experiment) -> tuple[tuple[Release, ...], bool]:
    """What is released, and whether the worlds are exchanged."""
    parts = e.parts or ((e, 1),)
    if len({part.worlds.reversed for part, _ in parts}) > 1:
        raise InputError("some of these releases are reversed and some not, of which no certificate is made")
    counted: dict[Release, int] = {}
    for part, count in parts:
        for release, times in _releases_of(part):
            counted[release] = counted.get(release, 0) + times * count
    if len(counted) > _MOST_RELEASES:
        raise InputError(f"{len(counted)} unlike releases are too many for a certificate, which holds {_MOST_RELEASES}")
    return tuple(FrozenMapping({**release, "count": n}) for release, n in counted.items()), parts[0][0].worlds.reversed


def _releases_of(e: Experiment) -> Iterator[tuple[Release, int]]:
    """The releases of one part, each so many times; refused where the checker knows no pair."""
    made: list[tuple[dict[str, Value], int]] = []
    inner = e.recipe[1].get("experiment") if e.recipe is not None else None
    if e.latent is None and e.law.known is not Exactness.BOUND:
        if e.origin == "dpsgd":
            made = _training(e)
        elif e.origin == "group" and inner is not None and not inner.parts:
            made = [(_grouped(dict(one), e.parameters["people"]), n) for one, n in _releases_of(inner)]
        elif e.origin == "subsample" and inner is not None and inner.origin in ("gaussian", "laplace"):
            if e.parameters["neighbours"] == "add-remove":
                made = [({**one, "rate": repr(e.parameters["rate"])}, n) for one, n in _releases_of(inner)]
        elif e.origin in _RELEASES:
            made = [(_RELEASES[e.origin](e), 1)]
    numbers = [value for one, _ in made for key, value in one.items() if key not in ("mechanism", "p0", "p1")]
    if not all(1e-12 < float(str(number)) <= 1e9 for number in numbers):  # what the checker reads
        raise InputError(f"{e.name} has a number outside of 1e-12 to 1e9, which no certificate holds")
    if not made or not all(one and ("rate" not in one or one.get("people", 1) in _SAMPLED) for one, _ in made):
        raise InputError(_NO_PAIR.format(e.name))
    yield from ((FrozenMapping(one), n) for one, n in made)


def _training(e: Experiment) -> list[tuple[dict[str, Value], int]]:
    """Each row of a schedule whose batches are drawn by a coin of each record's own."""
    p = e.parameters
    if "batches" in p or p["neighbours"] != "add-remove":
        return []
    columns = [p[name] if isinstance(p[name], list) else [p[name]] for name in ("sigma", "rate", "steps")]
    rows = max(map(len, columns))
    people: dict[str, Value] = {"people": p["people"]} if "people" in p else {}
    return [
        ({"mechanism": "gaussian", "sigma": repr(float(sigma)), "rate": repr(float(rate)), **people}, steps)
        for sigma, rate, steps in zip(*(c * rows if len(c) == 1 else c for c in columns), strict=True)
        if steps and rate
    ]


def _grouped(release: dict[str, Value], people: int) -> dict[str, Value]:
    """The same of a group, which moves the answer so many times as far."""
    if release["mechanism"] in ("gaussian", "laplace"):
        return {**release, "people": int(str(release.get("people", 1))) * people}
    if release["mechanism"] == "geometric" and "epsilon" in release:
        release["epsilon"] = repr(float(str(release["epsilon"])) * people)
    elif release["mechanism"] not in ("geometric", "discrete_gaussian"):
        return {}
    return {**release, "shift": int(str(release["shift"])) * people}


def _laplace(e: Experiment) -> dict[str, Value]:
    """In words of ε, that of the whole shift, where this is how the noise was said: the scale is rounded then."""
    p, whole = e.parameters, e.origin == "geometric"
    if "stretch" in p:
        return {}
    moved: dict[str, Value] = {"shift": p["shift"] if whole else repr(p["shift"])}
    if p["shift"] == p["sensitivity"] and len(repr(p["epsilon"])) <= len(repr(p["scale"])):
        return {"mechanism": e.origin, "epsilon": repr(p["epsilon"])} | (moved if whole else {})
    return {"mechanism": e.origin, "scale": repr(p["scale"])} | moved


def _gaussian(e: Experiment) -> dict[str, Value]:
    """In words of ψ where that is how the noise was said: the σ that follows from it is rounded."""
    p = e.parameters
    if "rate" in p:  # batches that take turns
        return {}
    shift = p["sensitivity"] if e.origin in ("matrix", "tree") else p["shift"]
    if e.origin == "gaussian" and len(repr(p["psi"])) <= len(repr(p["sigma"])):
        return {"mechanism": "gaussian", "sigma": "1", "shift": repr(p["psi"])}
    return {"mechanism": "gaussian", "sigma": repr(p["sigma"]), "shift": repr(shift)}


def _finite(e: Experiment) -> dict[str, Value]:
    """Two lists, as the decimals that were given: doubles rarely sum to 1."""
    if e.recipe is None:
        return {}
    lists = {name: tuple(map(repr, map(float, e.recipe[1][name]))) for name in ("p0", "p1")}
    if len(lists["p0"]) > _MOST_OUTCOMES or any(sum(map(Fraction, p)) != 1 for p in lists.values()):
        return {}
    return {"mechanism": "finite", **lists}


#: The mechanisms of one release each that the checker knows.
_RELEASES: Mapping[str, Callable[[Experiment], dict[str, Value]]] = {
    "laplace": _laplace,
    "geometric": _laplace,
    "gaussian": _gaussian,
    "matrix": _gaussian,
    "tree": _gaussian,
    "finite": _finite,
    "discrete_gaussian": lambda e: {
        "mechanism": "discrete_gaussian",
        "sigma": repr(e.parameters["sigma"]),
        "shift": e.parameters["shift"],
    },
    "randomized_response": lambda e: {
        "mechanism": "randomized_response",
        "epsilon": repr(e.parameters["epsilon"]),
        "categories": e.parameters["k"],
    },
}
