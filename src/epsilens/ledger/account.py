r"""One account: the limits set beforehand, what is spent of each, and what that promises.

A limit is a **filter**: a release is refused where the sums would exceed it, and then every reading of the limit's own
experiment holds for everything released, whatever was chosen after seeing answers. Several limits hold together. The
running total below a limit promises nothing by itself where somebody stops because of an answer (ε alone is an
exception), so it is told as what it is: the composition had all noise been fixed in advance.

People who are in one part of a declared partition only (a site, a birth year) pay for their own part: what counts is
the dearest part, beside all that was released about everybody.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from .. import checks
from ..build.claims import from_zcdp
from ..build.composition import compose
from ..build.discrete import approximate
from ..build.mechanisms import gaussian
from ..choice.choice import choose
from ..errors import InputError
from ..experiment import Experiment
from .charge import FREE, Charge
from .entry import Entry, Kind
from .parts import rebuilt

__all__ = ["Account", "Limits", "Refused", "Spending", "accounts_of"]

#: Sums of doubles may exceed a limit by their rounding; what a limit promises has room for it.
_ROUNDING = 1e-12
_MOST_MORE = 10**6


class Refused(InputError):  # noqa: N818 - reads as what it is
    """A release that would exceed a limit; nothing was spent."""


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
        cls, *, epsilon: Any = None, psi: Any = None, rho: Any = None, delta: Any = None, success: Any = None,
        partition: str = "",
    ) -> Limits:  # fmt: skip
        """From what a person says; ``success`` is how often an attacker may guess right, and becomes a limit on ψ.

        >>> Limits.of(success=0.65)  # Φ(ψ/2) = 0.65
        Limits(epsilon=None, psi=0.7706..., rho=None, delta=0.0, partition='')
        """
        given = {"epsilon": (epsilon, 700.0), "psi": (psi, 1e4), "rho": (rho, 1e4)}
        made = {
            name: None if value is None else float(checks.within(name, checks.scalar(name, value), 0.0, most))
            for name, (value, most) in given.items()
        }
        beside = 0.0 if delta is None else float(checks.probability("delta", checks.scalar("delta", delta)))
        if success is not None:
            found = _psi_for(float(checks.probability("success", checks.scalar("success", success))), beside)
            made["psi"] = found if made["psi"] is None else min(found, made["psi"])
        if all(value is None for value in made.values()):
            raise InputError("a limit needs at least one of success, epsilon, psi or rho: give a number for it")
        return cls(**made, delta=beside, partition=str(partition or ""))

    @property
    def currencies(self) -> tuple[str, ...]:
        """Those that are limited."""
        return tuple(name for name in ("epsilon", "psi", "rho") if getattr(self, name) is not None)

    def exceeded(self, spent: Charge) -> tuple[str, float, float] | None:
        """The first currency in which this is more than allowed: its name, what it would be, the limit."""
        tests = [(name, getattr(spent, name), getattr(self, name)) for name in self.currencies]
        beside = [("delta", spent.slack if name == "epsilon" else spent.delta, self.delta) for name in self.currencies]
        for name, value, limit in (*tests, *beside):
            if not value <= limit * (1 + _ROUNDING):
                return name, value, limit
        return None

    def experiments(self) -> dict[str, Experiment]:
        """For each limit the experiment whose every reading bounds that of everything released under it."""
        more, made = 1 + _ROUNDING, {}
        if self.epsilon is not None:
            made["epsilon"] = approximate(epsilon=self.epsilon * more, delta=min(self.delta * more, 1.0))
        if self.psi is not None:
            made["psi"] = self._beside(gaussian(psi=self.psi * more))
        if self.rho is not None:
            made["rho"] = self._beside(from_zcdp(self.rho * more))
        return made

    def _beside(self, experiment: Experiment) -> Experiment:
        """With the chance δ that all is given away."""
        if not self.delta:
            return experiment
        return compose(experiment, approximate(epsilon=0.0, delta=min(self.delta * (1 + _ROUNDING), 1.0)))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Limits:
        """Read again."""
        return cls(**{f.name: said[f.name] for f in fields(cls)})


def _psi_for(success: float, delta: float) -> float:
    """ψ* with δ + (1 − δ)·(2Φ(ψ*/2) − 1) = 2·success − 1."""
    rest = (2 * success - 1 - delta) / (1 - delta) if delta < 1 else -1.0
    if not 0 < rest < 1:
        raise InputError(
            f"success is {success:g}: give a share above {0.5 + delta / 2:g} (a coin's, and delta) and below 1",
            parameter="success",
            value=success,
        )
    return float(choose(gaussian, "psi", at_most=(1 + rest) / 2, reading="success").value)


@dataclass(frozen=True)
class Spending:
    """One release of an account, as the lines tell it."""

    id: str
    title: str
    state: Kind
    charge: Charge
    body: Mapping[str, Any]
    published: Mapping[str, Any] | None = None

    @property
    def at(self) -> str:
        """When it was reserved or added."""
        return str(self.body.get("at", ""))

    @property
    def part(self) -> str | None:
        """The part of the people it is about; None where it is about all of them."""
        found = self.body.get("part")
        return None if found is None else str(found)

    @cached_property
    def experiment(self) -> Experiment:
        """What it was, built again."""
        made = rebuilt(self.body["parts"])
        return compose(made, approximate(epsilon=0.0, delta=self.charge.delta)) if self._beside else made

    @property
    def _beside(self) -> bool:
        """Whether δ is not in the experiment itself."""
        return self.charge.delta > 0 and all(part["builder"] != "approximate" for part in self.body["parts"])


@dataclass(frozen=True)
class Account:
    """What is known of the releases about the same people."""

    people: str
    limits: Limits | None = None
    limited: tuple[str, ...] = ()  # when limits were set
    raised: bool = False  # after something had been released
    releases: tuple[Spending, ...] = ()
    head: str = ""

    @classmethod
    def of(cls, people: str, entries: Iterable[Entry]) -> Account:
        """From its lines, in order."""
        made, found = cls(people), dict[str, Spending]()
        for entry in entries:
            made = replace(made, head=entry.hash)
            match entry.kind:
                case Kind.LIMIT:
                    limits = Limits.from_dict(entry.body["limits"])
                    raised = made.raised or bool(found and made.limits and _higher(limits, made.limits))
                    at = (*made.limited, str(entry.body.get("at", "")))
                    made = replace(made, limits=limits, limited=at, raised=raised)
                case Kind.RESERVED | Kind.ADDED:
                    charge = Charge.from_dict(entry.body["charge"])
                    title = str(entry.body.get("title", ""))
                    found[entry.release] = Spending(entry.release, title, entry.kind, charge, entry.body)
                case Kind.PUBLISHED | Kind.WITHHELD | Kind.VOID if entry.release in found:
                    found[entry.release] = replace(found[entry.release], state=entry.kind, published=entry.body)
                case _:
                    pass
        return replace(made, releases=tuple(found.values()))

    @property
    def counted(self) -> tuple[Spending, ...]:
        """What is spent: everything but what was given back before it was drawn."""
        return tuple(one for one in self.releases if one.state is not Kind.VOID)

    @property
    def spent(self) -> Charge:
        """What the releases so far cost whoever they cost most."""
        return self._spent([(one.part, one.charge) for one in self.counted])

    def _spent(self, charges: list[tuple[str | None, Charge]]) -> Charge:
        partition = self.limits.partition if self.limits is not None else ""
        common = [charge for part, charge in charges if part is None or not partition]
        parts = {part for part, _ in charges if part is not None} if partition else set()
        total = Charge.total(common)
        dearest = FREE
        for part in parts:
            dearest = dearest.most(Charge.total([*common, *(c for p, c in charges if p == part)]))
        return total.most(dearest)

    def after(self, charge: Charge, part: str | None = None) -> Charge:
        """What would be spent with this as well."""
        return self._spent([*((one.part, one.charge) for one in self.counted), (part, charge)])

    def check(self, charge: Charge, part: str | None = None) -> None:
        """Refuse what would exceed a limit."""
        if part is not None and (self.limits is None or not self.limits.partition):
            raise InputError(
                f"{self.people!r} has no declared parts: set a limit with a partition first, or leave the part out",
                parameter="part",
            )
        if self.limits is None or (found := self.limits.exceeded(self.after(charge, part))) is None:
            return
        name, value, limit = found
        spent = getattr(self.spent, "slack" if name == "delta" and self.limits.epsilon is not None else name)
        would = "have no price in it" if math.isinf(value) else f"bring it to {value:.6g}"
        raise Refused(
            f"the ledger allows {_SAID[name]} = {limit:.6g} for {self.people!r}, of which {spent:.6g} is spent; this "
            f"release would {would}: lower its ε, or leave it",
            parameter="ledger",
        )

    def more(self, charge: Charge) -> int | None:
        """How many more releases that cost as much have room; None where nothing limits them."""
        if self.limits is None:
            return None
        low, high = 0, 1
        spent = self.spent

        def fits(count: int) -> bool:
            added = Charge(
                spent.epsilon + count * charge.epsilon, spent.slack + count * charge.slack,
                math.sqrt(spent.psi**2 + count * charge.psi**2), spent.rho + count * charge.rho,
                spent.delta + count * charge.delta,
            )  # fmt: skip
            return self.limits is not None and self.limits.exceeded(added) is None

        while fits(high):
            low, high = high, high * 2
            if high > _MOST_MORE:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low

    @cached_property
    def experiment(self) -> Experiment | None:
        """Everything observed together, had all noise been fixed in advance; None where nothing was released."""
        counted = self.counted
        return compose(*(one.experiment for one in counted)) if counted else None

    def promised(self, reading: str = "success", **arguments: float) -> float | None:
        """A reading of what the limits promise, whatever is chosen after seeing answers; None without limits."""
        if self.limits is None:
            return None
        return min(float(getattr(e, reading)(**arguments)) for e in self.limits.experiments().values())

    def so_far(self, reading: str = "success", **arguments: float) -> float:
        """A reading of everything released, had all noise been fixed in advance."""
        if self.experiment is None:
            return float(getattr(gaussian(psi=0.0), reading)(**arguments))
        return float(getattr(self.experiment, reading)(**arguments))


_SAID = {"epsilon": "ε", "psi": "ψ", "rho": "ρ", "delta": "δ"}


def _higher(new: Limits, old: Limits) -> bool:
    """Whether something is allowed now that was not before."""
    return any(
        getattr(old, name) is not None and (getattr(new, name) is None or getattr(new, name) > getattr(old, name))
        for name in ("epsilon", "psi", "rho", "delta")
    )


def accounts_of(entries: Iterable[Entry]) -> dict[str, Account]:
    """All accounts of a ledger."""
    lines: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.kind is not Kind.OPENED:
            lines.setdefault(entry.people, []).append(entry)
    return {people: Account.of(people, found) for people, found in lines.items()}
