r"""What a release costs, what may be spent at most, and what such a limit promises.

A limit is a **filter**: a release is refused where the sums would exceed it, and then every reading of the limit's own
experiment holds for everything released, whatever was chosen after seeing answers: Theorem P10. Several limits hold
together.

Costs are in currencies that may be added up even where noise was chosen after seeing answers.

=====  ==========================  ==========================================================
       adds up as                  what a limit on it promises
=====  ==========================  ==========================================================
ε      Σε, with its own Σδ         (ε*, δ*)-DP (Rogers et al. 2016)
ψ      √Σψ²                        every reading of ``gaussian(psi=ψ*)`` (Smith & Thakurta 2022)
ρ      Σρ                          every reading of ``from_zcdp(ρ*)`` (Feldman & Zrnic 2021)
δ      Σδ                          is beside ψ and ρ: the chance that a name gives someone away
=====  ==========================  ==========================================================

Trade-off curves and privacy-loss distributions may **not** be added up so.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import NamedTuple, SupportsFloat

from .. import checks
from ..calibration.choose import choose
from ..errors import InputError, type_phrase
from ..experiment import Experiment, compose_counted
from ..mechanisms.claims import from_zcdp, to_zcdp
from ..mechanisms.composition import compose
from ..mechanisms.discrete import approximate, pure
from ..mechanisms.noise import gaussian
from ..worlds import Relation
from .store import Record


@dataclass(frozen=True)
class Charge:
    """What one release, or several together, cost.

    ``slack`` is the δ that goes with ``epsilon``; ``delta`` the one that goes with ``psi`` and ``rho``. Infinite where
    a release has no price in a currency: Gaussian noise has no ε without a δ.
    """

    epsilon: float = 0.0
    slack: float = 0.0
    psi: float = 0.0
    rho: float = 0.0
    delta: float = 0.0

    @classmethod
    def total(cls, charges: Iterable[Charge]) -> Charge:
        """What several cost together.

        >>> Charge.total([Charge(0.5, 0, 3.0, 0.1), Charge(0.5, 0, 4.0, 0.1)])
        Charge(epsilon=1.0, slack=0.0, psi=5.0, rho=0.2, delta=0.0)
        """
        each = list(charges)
        added = {f.name: math.fsum(getattr(c, f.name) for c in each) for f in fields(cls)}
        return cls(**added | {"psi": math.sqrt(math.fsum(c.psi**2 for c in each))})

    def to_dict(self) -> dict[str, float | None]:
        each = {f.name: float(getattr(self, f.name)) for f in fields(self)}
        return {name: value if math.isfinite(value) else None for name, value in each.items()}

    @classmethod
    def from_dict(cls, said: Record) -> Charge:
        each = {f.name: math.inf if said[f.name] is None else float(said[f.name]) for f in fields(cls)}
        if not all(value >= 0 for value in each.values()):
            raise ValueError(said)
        return cls(**each)


FREE = Charge()


def elementwise_max(one: Charge, other: Charge) -> Charge:
    return Charge(**{f.name: max(getattr(one, f.name), getattr(other, f.name)) for f in fields(Charge)})


def charge_of(experiment: Experiment, *, delta: float = 0.0, at_delta: float = 0.0) -> Charge:
    """What a release with this experiment costs.

    ``delta`` is the chance that something beside the noise gives a person away (a threshold's); ``at_delta`` the δ at
    which ε is read where the noise has none without, as Gaussian noise. Releases that are only known by (ε, δ) are
    charged as ε-DP with their δ beside it.

    >>> import epsilens as el
    >>> charge_of(el.laplace(epsilon=1.0))  # ρ = ε − 1 + 1/e
    Charge(epsilon=1.0, slack=0.0, psi=1.03006..., rho=0.36787..., delta=0.0)
    >>> charge_of(el.gaussian(psi=0.5), at_delta=1e-6)
    Charge(epsilon=2.25408..., slack=1e-06, psi=0.5, rho=0.125, delta=0.0)
    """
    if not isinstance(experiment, Experiment):
        raise InputError(
            f"experiment is {type_phrase(experiment)}: give what laplace, gaussian and the like return", "experiment"
        )
    if experiment.many:
        raise InputError("this is many experiments at once: give one", parameter="experiment")
    beside = float(checks.probability("delta", checks.scalar("delta", delta)))
    at = float(checks.probability("at_delta", checks.scalar("at_delta", at_delta)))
    beside = min(beside + approximate_delta(experiment), 1.0)
    noise = _noise(experiment)
    parts = noise.parts or ((noise, 1),)
    # ε and ρ of a product are the sums over its parts, or less; ψ of the whole is less than their norm.
    each = Charge.total(
        Charge(n * float(part.epsilon(0.0)), 0.0, math.sqrt(n) * float(part.psi()), n * to_zcdp(part))
        for part, n in parts
    )
    psi = min(each.psi, float(noise.psi())) if noise.parts else each.psi
    if math.isfinite(each.epsilon) or not at:
        return Charge(each.epsilon, beside, psi, each.rho, beside)
    return Charge(float(noise.epsilon(at)), beside + at, psi, each.rho, beside)


def approximate_delta(experiment: Experiment) -> float:
    """The chance that a part which is only known by (ε, δ) gives all away.

    >>> import epsilens as el
    >>> approximate_delta(el.mechanisms.approximate(epsilon=1.0, delta=1e-6).repeat(3))
    3e-06
    """
    away = (
        times * float(part.parameters["delta"])
        for part, times in experiment.parts or ((experiment, 1),)
        if part.origin == "approximate"
    )
    return min(math.fsum(away), 1.0)


def _noise(experiment: Experiment) -> Experiment:
    """What is left of the experiment beside that chance."""
    if not approximate_delta(experiment):
        return experiment
    made = []
    for part, times in experiment.parts or ((experiment, 1),):
        known = part
        if part.origin == "approximate":
            known = pure(epsilon=part.parameters["epsilon"], neighbours=part.parameters["neighbours"])
            known = known.reverse() if part.worlds.reversed else known
        made.append((known, times))
    return compose_counted(made)


_LONGEST = 200
#: Code points that are not shown (Default_Ignorable_Code_Point of Unicode), and the blank of braille.
_IGNORABLE = re.compile(
    r"[\u00AD\u034F\u061C\u115F-\u1160\u17B4-\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u2800\u3164"
    r"\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFF8\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A\U000E0000-\U000E0FFF]"
)


def normalized_name(name: str, value: object, *, needed: str = "") -> str:
    """A name a person gave, in one spelling: without spaces around it, and with letters composed.

    >>> normalized_name("part", " caf\u0065\u0301 ") == "caf\u00e9"
    True
    """
    text = "" if value is None else str(value)
    if len(text) <= _LONGEST:
        text = unicodedata.normalize("NFC", text).strip()
    if needed and not text:
        raise InputError(f"{name} is empty: {needed}", parameter=name)
    if len(text) > _LONGEST or not text.isprintable():
        raise InputError(
            f"{name} is too long or has characters that cannot be printed: give up to {_LONGEST} letters", name
        )
    return text


def confusable(one: str, other: str) -> bool:
    """Whether two names may be taken for one another.

    They are compared after NFKC, without what is not shown, with blanks collapsed, in capitals or not, by the skeleton
    of UTS #39: letters of other scripts as those of ASCII that they look like.

    >>> [confusable("my patients", other) for other in ("My  Patients", "my\u2060 patients", "my \uff50atients")]
    [True, True, True]
    >>> confusable("patients", "p\u0430tients"), confusable("patients", "doctors")
    (True, False)
    """
    return not _skeletons(one).isdisjoint(_skeletons(other))


def _skeletons(name: str) -> set[str]:
    """As it stands and in small letters: a capital I looks like an l, and is an i."""
    visible = _IGNORABLE.sub("", unicodedata.normalize("NFKC", _IGNORABLE.sub("", name)))
    shown = " ".join(visible.split())
    return {_skeleton(shown), _skeleton(shown.casefold())}


def _skeleton(text: str) -> str:
    looks = unicodedata.normalize("NFD", text).translate(_confusables())
    return unicodedata.normalize("NFD", looks).casefold()


@cache
def _confusables() -> dict[int, str]:
    lines = files("epsilens.ledger").joinpath("confusables.txt").read_text("utf-8").splitlines()
    rows = [line.split(" ") for line in lines if not line.startswith("#")]
    return {int(code, 16): looks for looks, *codes in rows for code in codes}


#: What is limited, by its name; δ goes with each of them.
CURRENCIES = ("epsilon", "psi", "rho")
_SAID = {"epsilon": "ε", "psi": "ψ", "rho": "ρ", "delta": "δ"}
#: The least and the most a limit may be: beyond, it promises nothing that a double could tell from nothing.
_RANGES = {"epsilon": (0.0, 500.0), "psi": (1e-9, 500.0), "rho": (0.0, 500.0)}
#: Sums of doubles may exceed a limit by their rounding; what a limit promises has room for it.
_ROUNDING = 1e-12


class Excess(NamedTuple):
    """A currency in which more would be spent than a limit allows."""

    currency: str
    value: float
    limit: float
    field: str  # of a charge, where the value stands

    @property
    def symbol(self) -> str:
        return _SAID[self.currency]


@dataclass(frozen=True)
class Limits:
    """What may be spent at most, in each currency; None is no limit. ``delta`` goes with all of them.

    ``partition`` names a column whose values part the people: nobody is in two parts, nor ever moves.
    """

    epsilon: float | None = None
    psi: float | None = None
    rho: float | None = None
    delta: float = 0.0
    partition: str = ""

    @classmethod
    def of(
        cls, *, epsilon: object = None, psi: object = None, rho: object = None, delta: object = None,
        success: object = None, partition: object = "",
    ) -> Limits:  # fmt: skip
        """From what a person says; ``success`` is how often an attacker may guess right, and becomes a limit on ψ.

        >>> Limits.of(success=0.65)  # Φ(ψ/2) = 0.65
        Limits(epsilon=None, psi=0.7706..., rho=None, delta=0.0, partition='')
        """
        said = {"epsilon": epsilon, "psi": psi, "rho": rho}
        made: dict[str, float | None] = {
            name: None if value is None else float(checks.in_range(name, checks.scalar(name, value), *_RANGES[name]))
            for name, value in said.items()
        }
        beside = 0.0 if delta is None else float(checks.in_range("delta", checks.scalar("delta", delta), 0.0, 0.5))
        if success is not None:
            found = _psi_for(float(checks.probability("success", checks.scalar("success", success))), beside)
            made["psi"] = found if made["psi"] is None else min(found, made["psi"])
        if all(value is None for value in made.values()):
            raise InputError("a limit needs at least one of success, epsilon, psi or rho: give a number for it")
        return cls(**made, delta=beside, partition=normalized_name("partition", partition))

    @property
    def currencies(self) -> tuple[str, ...]:
        return tuple(name for name in CURRENCIES if getattr(self, name) is not None)

    @property
    def sensible(self) -> bool:
        """Whether each is such that an experiment stands for it."""
        return all(_RANGES[n][0] <= getattr(self, n) <= _RANGES[n][1] for n in self.currencies) and self.delta <= 1

    def exceeded(self, spent: Charge) -> Excess | None:
        """The first currency in which this is more than allowed."""
        tests = [(name, getattr(self, name), name) for name in self.currencies]
        tests += [("delta", self.delta, "slack" if name == "epsilon" else "delta") for name in self.currencies]
        for name, limit, field in tests:
            value = getattr(spent, field)
            if not value <= limit * (1 + _ROUNDING):
                return Excess(name, value, limit, field)
        return None

    def experiments(self, neighbours: str = Relation.ADD_REMOVE) -> dict[str, Experiment]:
        """For each limit the experiment whose every reading bounds that of everything released under it."""
        more, made = 1 + _ROUNDING, {}
        given = approximate(epsilon=0.0, delta=self.delta * more, neighbours=neighbours)
        if self.epsilon is not None:
            made["epsilon"] = approximate(epsilon=self.epsilon * more, delta=self.delta * more, neighbours=neighbours)
        if self.psi is not None:
            made["psi"] = gaussian(psi=self.psi * more, neighbours=neighbours)
        if self.rho is not None:
            made["rho"] = from_zcdp(self.rho * more, neighbours=neighbours)
        beside = ("psi", "rho") if self.delta else ()
        return {name: compose(e, given) if name in beside else e for name, e in made.items()}

    def looser(self, other: Limits) -> Limits:
        """These limits, each no lower than the other's where that has one; what is unlimited here stays so."""
        each = {
            name: max(getattr(self, name), -math.inf if getattr(other, name) is None else getattr(other, name))
            for name in self.currencies
        }
        return Limits(**each, delta=max(self.delta, other.delta), partition=self.partition)

    def rises_above(self, other: Limits) -> bool:
        """Whether something is allowed here that the other does not allow."""
        missing = any(getattr(self, name) is None for name in other.currencies)
        both = [name for name in (*other.currencies, "delta") if getattr(self, name) is not None]
        return missing or any(getattr(self, name) > getattr(other, name) for name in both)

    def to_dict(self) -> dict[str, float | str | None]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_dict(cls, said: Record) -> Limits:
        """Read again; what is no limit is an error of Python's own, which the account tells."""
        each = {name: None if said[name] is None else _number(said[name]) for name in CURRENCIES}
        return cls(**each, delta=_number(said["delta"]), partition=str(said["partition"]))


def _number(value: SupportsFloat) -> float:
    made = float(value)
    if not 0 <= made < math.inf:
        raise ValueError(value)
    return made


def _psi_for(success: float, delta: float) -> float:
    """ψ* with δ + (1 − δ)·(2Φ(ψ*/2) − 1) = 2·success − 1."""
    rest = (2 * success - 1 - delta) / (1 - delta)
    if not 0 < rest < 1:
        raise InputError(
            f"success is {success:g}: give a share above {0.5 + delta / 2:g} (a coin's, and delta) and below 1",
            parameter="success",
            value=success,
        )
    found = float(choose(gaussian, "psi", at_most=(1 + rest) / 2, reading="success").value)
    return float(checks.in_range("psi", found, *_RANGES["psi"]))
