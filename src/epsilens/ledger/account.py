r"""One account: the limits set beforehand, what is spent of each, and what that promises.

What the limits promise holds whatever was chosen after seeing answers. The running total below them promises nothing by
itself where somebody stops because of an answer (ε alone is an exception), so it is told as what it is: the composition
had all noise been fixed in advance. For the same reason a limit that is lowered later promises what it did before, and
one that is set or raised after something was released is told as such.

People who are in one part of a declared partition only (a site, a birth year) pay for their own part: what counts is
the dearest part, beside all that was released about everybody. Whoever reserves for a part has looked up that nobody
else's rows count.

An experiment is written down as what it was built from, and built again exactly. Only builders of the catalogue and of
:data:`RECIPES` are called, with numbers, words, lists of them and experiments built in the same way: nothing that is
read from a ledger can run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from ..catalogue.mechanisms import CLAIMS, MECHANISMS, CatalogueEntry, builder
from ..catalogue.readings import find_reading
from ..checks import Array
from ..errors import EpsilensError, InputError, LimitError, type_phrase
from ..experiment import Experiment, compose_counted, require_independent
from ..mechanisms.composition import compose
from ..mechanisms.discrete import approximate
from ..results import SentenceResult
from ..worlds import Relation
from ..worlds import WorldsKind as World
from .budget import FREE, Charge, Limits, approximate_delta, elementwise_max
from .store import EntryKind, LedgerEntry, Record

#: What builds from another experiment or from a matrix, beside the catalogue.
RECIPES = {
    "subsample": "epsilens.mechanisms.batches",
    "group": "epsilens.mechanisms.composition",
    "matrix": "epsilens.mechanisms.matrix_factorization",
    "repeat_and_select": "epsilens.mechanisms.selection",
    "from_dp": "epsilens.mechanisms.claims",
    "from_rdp": "epsilens.mechanisms.claims",
}
_WHOLE = "composition"  # of the parts inside, as one
_MOST = 200_000  # numbers of one part: a line of a ledger is read whole
_DEEPEST = 20


def serialize(experiment: Experiment) -> list[Record]:
    """What an experiment was built from, ready for JSON: a builder, its parameters and how often, for each part.

    >>> import epsilens as el
    >>> serialize(el.compose(el.laplace(epsilon=0.5).repeat(2), el.gaussian(psi=1.0)))
    [{'builder': 'laplace', 'parameters': {'epsilon': 0.5}, 'times': 2}, {'builder': 'gaussian', ...}]
    """
    if not isinstance(experiment, Experiment):
        raise InputError(
            f"experiment is {type_phrase(experiment)}: give one, such as el.laplace(epsilon=1.0)", "experiment"
        )
    if experiment.many:
        raise InputError("this is many experiments at once: give one", parameter="experiment")
    made = [_part(part, times) for part, times in experiment.parts or ((experiment, 1),)]
    if deserialize(made) == experiment:
        return made
    if experiment.parts and experiment.worlds.reversed:  # as a whole, and not each of its parts
        whole = {"experiment": {"experiment": serialize(experiment.reverse())}}
        made = [{"builder": _WHOLE, "parameters": whole, "times": 1, "reversed": True}]
        if deserialize(made) == experiment:
            return made
    raise _unserializable(experiment)


def _part(part: Experiment, times: int) -> Record:
    """The first way of saying it that builds the same."""
    turned = {"reversed": True} if part.worlds.reversed else {}
    for name, options in _ways(part):
        try:
            said = {key: _plain(value) for key, value in options.items()}
            made: dict[str, object] = {"builder": name, "parameters": said, "times": times, **turned}
            again = deserialize([{**made, "times": 1}])
            if again != part:  # what else is told of it, such as the distance a measurement was read at
                made["told"] = {key: _plain(v) for key, v in part.parameters.items() if key not in again.parameters}
                again = deserialize([{**made, "times": 1}])
            if again == part:
                return made
        except EpsilensError:
            continue
    raise _unserializable(part)


def _ways(part: Experiment) -> Iterator[tuple[str, Mapping[str, object]]]:
    """How it may have been said: as its builder was called, as the catalogue reproduces it, or by each of its ways."""
    if part.recipe is not None:
        yield part.recipe
    entry = MECHANISMS.get(part.origin) or CLAIMS.get(part.origin)
    if entry is None:
        return
    known = {name: part.parameters[name] for name in entry.takes if name in part.parameters}
    ways: tuple[tuple[str, ...], ...] = (tuple(known),)
    if part.origin in MECHANISMS:
        mechanism = MECHANISMS[part.origin]
        if (short := mechanism.reproduced(part.parameters)) is not None:
            yield part.origin, short
        ways = (*mechanism.said_by, *mechanism.ways)
    others = {name: value for name, value in known.items() if not any(name in way for way in ways)}
    for way in ways:
        if all(name in known for name in way):
            yield part.origin, {**{name: known[name] for name in way}, **others}


def _plain(value: object) -> object:
    """A value in JSON's terms; an experiment as its parts, a matrix of equal diagonals as its first column."""
    if isinstance(value, Experiment):
        return {"experiment": serialize(value)}
    if isinstance(value, np.generic):
        value = value.item()
    elif hasattr(value, "toarray") and hasattr(value, "shape"):  # sparse
        value = value.toarray() if math.prod(value.shape) <= _MOST else None
    if isinstance(value, np.ndarray):
        if value.ndim == 2 and (column := _diagonal(value)) is not None:
            return {"diagonals": _plain(column)}
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": repr(value)}  # JSON has no word for it
    if isinstance(value, list | tuple):
        if _size(value) > _MOST:
            raise InputError(f"there are more than {_MOST:,} numbers in it: enter what is known of it as a claim")
        return [_plain(v) for v in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise InputError(f"{type_phrase(value)} cannot be written into a ledger: enter what is known of it as a claim")


def _size(value: object) -> int:
    return sum(_size(v) for v in value) if isinstance(value, list | tuple) else 1


def _diagonal(matrix: NDArray[np.generic]) -> NDArray[np.generic] | None:
    """The first column of a square lower-triangular matrix whose diagonals are each of one number."""
    column = matrix[:, 0] if matrix.shape[0] == matrix.shape[1] and matrix.size else None
    return column if column is not None and np.array_equal(_spread(column), matrix) else None


def _spread(column: ArrayLike) -> Array:
    numbers = np.asarray(column, dtype=float)
    if numbers.ndim != 1 or numbers.size > 10_000:
        raise InputError("a matrix of the ledger is larger than this version builds: install a newer epsilens")
    places = np.arange(numbers.size)
    away = places[:, None] - places[None, :]
    return np.where(away >= 0, numbers[np.maximum(away, 0)], 0.0)


def _unserializable(part: Experiment) -> InputError:
    require_independent(part)  # a claim of what shares unknowns would be added up as if it did not
    return InputError(
        f"{part.name} cannot be written down so that it is built again: enter what is known of it as a claim, such as "
        "from_zcdp(rho) or approximate(epsilon=, delta=)",
        parameter="experiment",
    )


def deserialize(parts: Sequence[Record]) -> Experiment:
    """The experiment again.

    >>> deserialize([{"builder": "laplace", "parameters": {"epsilon": 0.5}, "times": 2}])
    laplace(epsilon=0.5).repeat(2)
    """
    try:
        return _deserialize(parts, 0)
    except EpsilensError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
        raise InputError(
            "the ledger speaks of a release that cannot be built again: it was changed by other hands", "ledger"
        ) from None


def _deserialize(parts: Sequence[Record], depth: int) -> Experiment:
    if depth > _DEEPEST:
        raise InputError(f"the ledger speaks of experiments within more than {_DEEPEST} others: it was changed")
    made = []
    for part in parts:
        said = {k: _value(v, depth) for k, v in part["parameters"].items()}
        one = _builder(str(part["builder"]))(**(_scheduled(said) if part["builder"] == "dpsgd" else said))
        if told := part.get("told"):  # beside what it was built with, and never instead
            one = replace(one, parameters={**{k: _value(v, depth) for k, v in told.items()}, **one.parameters})
        made.append((one.reverse() if part.get("reversed") else one, int(part["times"])))
    each = [one if times == 1 else one.repeat(times) for one, times in made]
    return each[0] if len(each) == 1 else compose(*each)


def _builder(key: str) -> Callable[..., Experiment]:
    if key == _WHOLE:
        return lambda experiment: experiment
    if key in RECIPES:
        found: Callable[..., Experiment] = getattr(import_module(RECIPES[key]), key)
        return found
    known: dict[str, CatalogueEntry] = {**MECHANISMS, **CLAIMS}
    if key not in known:
        raise InputError(
            f"the ledger speaks of {key[:40]!r}, which this version does not know: install a newer epsilens"
        )
    return builder(known[key])


def _scheduled(said: Mapping[str, object]) -> dict[str, object]:
    """Of a training, which lists its numbers where they change: these as its schedule."""
    lists = {name: value for name, value in said.items() if isinstance(value, list)}
    return {**{name: value for name, value in said.items() if name not in lists}, "schedule": lists or None}


def _value(value: object, depth: int) -> object:

    if isinstance(value, list):
        return [_value(v, depth) for v in value]
    if not isinstance(value, Mapping):
        return value
    if "experiment" in value:
        return _deserialize(value["experiment"], depth + 1)
    return _spread(value["diagonals"]) if "diagonals" in value else float(value["number"])


_MOST_MORE = 10**6
_MOST_READ = 24  # releases after which the account is read; of more, some of them


@dataclass(frozen=True)
class Spending:
    """One release of an account, as the lines tell it."""

    id: str
    title: str
    state: EntryKind
    charge: Charge
    body: Record = field(repr=False, hash=False)
    published: Record | None = field(default=None, repr=False, hash=False)

    @property
    def at(self) -> str:
        return str(self.body.get("at", ""))

    @property
    def by(self) -> str:
        return str(self.body.get("by", ""))

    @property
    def part(self) -> str | None:
        """The part of the people it is about; None where it is about all of them.

        What was released by other means counts for all: that it was about a part alone cannot be looked up.
        """
        found = self.body.get("part")
        return None if found is None or self.state is EntryKind.ADDED else str(found)

    @property
    def certificate(self) -> Record | None:
        """What a checker reads of it, as it was entered; None where none was made."""
        found = self.body.get("certificate")
        return found if isinstance(found, dict) else None

    @cached_property
    def experiment(self) -> Experiment:
        """What it was, built again, with the chance that something beside the noise gave a person away."""
        made = deserialize(self.body.get("parts", ()))
        own = approximate_delta(made)
        beside = self.charge.delta - own
        if beside <= 1e-15 * own:
            return made
        away = approximate(epsilon=0.0, delta=min(beside, 1.0), neighbours=experiment_neighbours(made).value)
        return compose_counted([(made, 1), (away, 1)])

    def to_dict(self) -> dict[str, object]:
        told = {"id": self.id, "at": self.at, "by": self.by, "title": self.title, "state": self.state.value}
        kept = {"charge": self.charge.to_dict(), "parts": list(self.body["parts"]), "certificate": self.certificate}
        return {**told, "part": self.part, **kept}


def experiment_neighbours(experiment: Experiment) -> Relation:
    """How the two tables of an experiment differ; only such can be entered in a ledger."""
    if not isinstance(experiment, Experiment):
        raise InputError(
            f"experiment is {type_phrase(experiment)}: give one, such as el.laplace(epsilon=1.0)", "experiment"
        )
    if experiment.worlds.kind not in (World.MEMBERSHIP, World.RECORD):
        raise InputError(
            f"{experiment.name} does not say what a release tells about one person: enter the mechanism of the release",
            parameter="experiment",
        )
    return Relation.REPLACE if experiment.worlds.replaces else Relation.ADD_REMOVE


@dataclass(frozen=True, repr=False)
class Account(SentenceResult):
    """What is known of the releases about the same people.

    ``limits`` are those that hold now; ``standing`` those that everything was released under, of which the promise is.
    """

    shown_as: ClassVar[str] = "account"

    name: str
    limits: Limits | None = None
    standing: Limits | None = None
    limited: tuple[str, ...] = ()  # when limits were set
    late: bool = False  # some limit was first set when something had been released
    raised: bool = False  # or raised then
    releases: tuple[Spending, ...] = ()
    head: str = ""

    def __repr__(self) -> str:
        return f"Account({self.name!r}, releases={len(self.counted)})"

    @classmethod
    def of(cls, name: str, entries: Iterable[LedgerEntry]) -> Account:
        made = cls(name)
        found: dict[str, Spending] = {}
        for entry in entries:
            made = replace(made, head=entry.hash)
            try:
                if entry.kind is EntryKind.LIMIT:
                    made = made._limited(entry, any(one.state is not EntryKind.VOID for one in found.values()))
                elif entry.kind in (EntryKind.RESERVED, EntryKind.ADDED):
                    title, charge = str(entry.body.get("title", "")), Charge.from_dict(entry.body["charge"])
                    one = Spending(entry.release, title, entry.kind, charge, entry.body)
                    found[entry.release if entry.release not in found else f"{entry.release} {entry.hash}"] = one
                elif (known := found.get(entry.release)) is not None and can_close(known.state, entry.kind):
                    found[entry.release] = replace(known, state=entry.kind, published=entry.body)
            except (KeyError, TypeError, ValueError, AttributeError):
                raise InputError(
                    f"line {entry.seq} of the ledger cannot be read: it was changed by other hands", parameter="ledger"
                ) from None
        return replace(made, releases=tuple(found.values()))

    def _limited(self, entry: LedgerEntry, released: bool) -> Account:
        limits = Limits.from_dict(entry.body["limits"])
        at = (*self.limited, str(entry.body.get("at", "")))
        made = replace(self, limits=limits, standing=limits, limited=at)
        if not released:
            return made
        if self.limits is None or self.standing is None:
            return replace(made, late=True)
        late = self.late or bool(set(limits.currencies) - set(self.limits.currencies))
        raised = self.raised or limits.rises_above(self.limits)
        return replace(made, standing=limits.looser(self.standing), late=late, raised=raised)

    @property
    def counted(self) -> tuple[Spending, ...]:
        """What is spent: everything but what was given back before it was drawn."""
        return tuple(one for one in self.releases if one.state is not EntryKind.VOID)

    @cached_property
    def spent(self) -> Charge:
        """What the releases so far cost whoever they cost most."""
        return self._dearest([(one.part, one.charge) for one in self.counted])

    def _dearest(self, charges: Sequence[tuple[str | None, Charge]]) -> Charge:
        dearest = FREE
        for part in (None, *self._parts([part for part, _ in charges])):
            dearest = elementwise_max(dearest, Charge.total([c for p, c in charges if self._concerns(p, part)]))
        return dearest

    def _parts(self, parts: Iterable[str | None]) -> list[str]:
        parted = self.limits is not None and self.limits.partition
        return sorted({part.casefold() for part in parts if part is not None}) if parted else []

    def _concerns(self, part: str | None, whose: str | None) -> bool:
        """Whether a release about a part of the people concerns those of another; without a partition each does."""
        if part is None or self.limits is None or not self.limits.partition:
            return True
        return whose is not None and part.casefold() == whose.casefold()  # in capitals or not, it is the same

    def after(self, charge: Charge, part: str | None = None) -> Charge:
        """What would be spent with this as well."""
        _check_charge(charge)
        return self._dearest([*((one.part, one.charge) for one in self.counted), (part, charge)])

    @cached_property
    def over(self) -> bool:
        """Whether more was released than the limits allow, so that they promise nothing: what others did counts."""
        return self.standing is not None and self.standing.exceeded(self.spent) is not None

    def fits(self, experiment: Experiment, part: str | None = None) -> None:
        """Refuse what cannot be added to the rest: another relation between tables, a part nobody declared."""
        if part is not None and (self.limits is None or not self.limits.partition):
            raise InputError(
                f"{self.name!r} has no declared parts: set a limit with a partition first, or leave the part out",
                parameter="part",
            )
        mine = experiment_neighbours(experiment).value
        if part is not None and mine == Relation.REPLACE:
            raise InputError(
                "somebody who is replaced may leave one part for another, and face the releases of both: leave part "
                "out, or state it for add-remove neighbours",
                parameter="part",
            )
        others = {str(one.body.get("neighbours", mine)) for one in self.counted} - {mine}
        if others:
            raise InputError(
                f"what was released for {self.name!r} so far is about {others.pop()} neighbours and this is about "
                f"{mine}: the two do not add up, so state it for the others' or name other people",
                parameter="neighbours",
            )

    def check(self, charge: Charge, part: str | None = None) -> None:
        """Refuse what would exceed a limit."""
        if self.limits is None or (found := self.limits.exceeded(self.after(charge, part))) is None:
            return
        spent = getattr(self.spent, found.field)
        would = "has no price in it" if math.isinf(found.value) else f"would bring it to {found.value:.6g}"
        raise LimitError(
            f"the ledger allows {found.symbol} = {found.limit:.6g} for {self.name!r}, of which {spent:.6g} is spent; "
            f"this release {would}: add noise to it, or leave it",
            parameter="ledger",
        )

    def more(self, charge: Charge, part: str | None = None) -> int | None:
        """How many more releases that cost as much have room; None where nothing limits them."""
        _check_charge(charge)
        if self.limits is None:
            return None
        limits = self.limits
        spent = self.spent
        if part is not None and limits.partition:
            spent = Charge.total([one.charge for one in self.counted if self._concerns(one.part, part)])

        def room(count: int) -> bool:
            sums = {n: getattr(spent, n) + count * getattr(charge, n) for n in ("epsilon", "slack", "rho", "delta")}
            return limits.exceeded(Charge(**sums, psi=math.sqrt(spent.psi**2 + count * charge.psi**2))) is None

        low, high = 0, 1
        while room(high):
            low, high = high, high * 2
            if high > _MOST_MORE:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if room(middle) else (low, middle)
        return low

    @cached_property
    def room(self) -> int | None:
        """How many more releases like the last have room; None where nothing limits them, or nothing was released."""
        last = self.counted[-1] if self.counted else None
        return None if last is None else self.more(last.charge, last.part)

    def promised(self, reading: str = "success", **arguments: float) -> float | None:
        """A reading of what the limits promise, whatever is chosen after seeing answers; None where they do not."""
        name, given = _reading_arguments(reading, arguments)
        if self.standing is None or self.over:
            return None
        return min(float(getattr(e, name)(**given)) for e in self.standing.experiments().values())

    @cached_property
    def experiment(self) -> Experiment | None:
        """All that was released, observed together, had all noise been fixed in advance; None where nothing was.

        Whoever is in one part only of a partition faces less than this.
        """
        return _together(self.counted) if self.counted else None

    def so_far(self, reading: str = "success", count: int | None = None, **arguments: float) -> float:
        """A reading of the first ``count`` releases, or of all, had all noise been fixed in advance.

        With a partition it is that of the part which faces most.
        """
        name, given = _reading_arguments(reading, arguments)
        released = self.counted[: None if count is None else checks.integer("count", count, low=0)]
        found = float(getattr(approximate(epsilon=0.0, delta=0.0), name)(**given))
        done: set[tuple[str, ...]] = set()
        for part in (None, *self._parts([one.part for one in released])):
            faced = [one for one in released if self._concerns(one.part, part)]
            if faced and (key := tuple(one.id for one in faced)) not in done:
                done.add(key)
                found = max(found, _read(faced, name, given))
        return found

    @cached_property
    def history(self) -> tuple[tuple[int, float], ...]:
        """How often an attacker guesses right after so many releases, the last one all; of many, after some of them."""
        count = len(self.counted)
        read = min(count, _MOST_READ)
        some = sorted({round(1 + k * (count - 1) / max(read - 1, 1)) for k in range(read)})
        return tuple((k, self.so_far(count=k)) for k in some)

    @cached_property
    def success_promised(self) -> float | None:
        """How often an attacker guesses right at most, by the limits; None where they promise nothing."""
        return self.promised()

    def _shown(self, pictures: bool = False) -> SentenceResult:
        _ = self.spent, self.over, self.room, self.history, self.success_promised
        return self

    def to_dict(self) -> dict[str, object]:
        """For JSON: what is told of the account, and every release; null where there is no price."""
        limits, standing = (None if each is None else each.to_dict() for each in (self.limits, self.standing))
        success = {"promised": self.success_promised, "fixed_in_advance": self.so_far()}
        return (
            {"schema": 1, "account": self.name, "sentence": self.sentence, "limits": limits, "standing": standing}
            | {"late": self.late, "raised": self.raised, "over": self.over, "spent": self.spent.to_dict()}
            | {"success": success, "releases": [one.to_dict() for one in self.releases], "head": self.head}
        )


def can_close(state: EntryKind, kind: EntryKind) -> bool:
    """Whether such a line may follow: only what is reserved is published, withheld or given back, and once."""
    return state is EntryKind.RESERVED and kind in (EntryKind.PUBLISHED, EntryKind.WITHHELD, EntryKind.VOID)


def _together(released: Sequence[Spending]) -> Experiment:
    return compose_counted(list(Counter(one.experiment for one in released).items()))


def _check_charge(charge: object) -> None:
    if not isinstance(charge, Charge):
        raise InputError(f"charge is {charge!r:.40}: give a Charge, such as charge_of(experiment)", parameter="charge")


def _reading_arguments(reading: str, arguments: Mapping[str, float]) -> tuple[str, dict[str, float]]:
    """A reading that is one number, and its arguments."""
    wanted = find_reading(reading)
    return wanted.name, {name: checks.scalar(name, value) for name, value in wanted.arguments(arguments).items()}


def _read(released: Sequence[Spending], reading: str, arguments: Mapping[str, float]) -> float:
    """A reading of all of them; where no composition is known, of the sums, which bound it."""
    try:
        return float(getattr(_together(released), reading)(**arguments))
    except EpsilensError:
        spent = Charge.total([one.charge for one in released])
        known = [Limits(epsilon=spent.epsilon, delta=spent.slack)]
        known += [Limits(psi=spent.psi, delta=spent.delta), Limits(rho=spent.rho, delta=spent.delta)]
        made = [e for each in known if each.sensible for e in each.experiments().values()]
        worst = approximate(epsilon=0.0, delta=1.0)
        return min(float(getattr(e, reading)(**arguments)) for e in (*made, worst))


def accounts_of(entries: Iterable[LedgerEntry]) -> dict[str, Account]:
    lines: dict[str, list[LedgerEntry]] = {}
    for entry in entries:
        if entry.kind is not EntryKind.OPENED:
            lines.setdefault(entry.account, []).append(entry)
    return {name: Account.of(name, found) for name, found in lines.items()}
