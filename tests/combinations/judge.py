"""Cases (builder, parameters, combinator, reading, arguments) in a random order, and what came of each."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

from tests.sweep import judge as sweep

import epsilens as el
from epsilens.readings.law import Exactness

from . import mixtures  # noqa: F401  (it registers its kinds)
from .builders import build
from .combinators import COMBINATORS, parameters
from .neighbours import KINDS, Enumerated, Floor
from .relations import ARGUMENTS, Arguments, bracket, ends

#: Kinds of which all neighbours there are were gone through, so that one of them has what is said to be exact.
REACHED = (
    "shifts", "staircases", "local answers", "samples", "groups", "random shifts", "unknown records", "differences",
    "ranges", "false records", "vectors",
)  # fmt: skip
#: The combinator of a builder with all its neighbouring inputs.
ENUMERATED = "all neighbours"


@dataclass(frozen=True)
class Case:
    """One reading of an experiment and of what a combinator makes of it."""

    builder: str
    code: str
    combinator: str
    reading: str
    arguments: Arguments
    seed: str

    @property
    def triple(self) -> tuple[str, str, str]:
        return self.builder, self.combinator, self.reading


@dataclass(frozen=True)
class Outcome:
    """How many relations were held against numbers, how many were refused in a sentence, and what is wrong."""

    case: Case
    judged: int = 0
    refused: int = 0
    wrong: tuple[str, ...] = ()
    seconds: float = 0.0


@cache
def enumerated(kind: str) -> tuple[Enumerated, ...]:
    return tuple(KINDS[kind]())


def triples(only: str = "") -> list[tuple[str, str, str]]:
    """Every builder × combinator × reading there is; of neighbours the kind of mechanism is the builder."""
    made = [
        (builder, combinator, reading)
        for combinator in COMBINATORS
        for builder in parameters(combinator)
        for reading in ARGUMENTS
    ]
    made += [(kind, ENUMERATED, reading) for kind in KINDS for reading in ARGUMENTS]
    return [t for t in made if only in " / ".join(t)]


def cases(seed: str, only: str = "") -> Iterator[Case]:
    """All triples in random order, again and again, each time at parameters and arguments drawn anew."""
    order, turn = triples(only), 0
    while order:
        random.Random(f"{seed}:{turn}").shuffle(order)
        yield from (case_of(f"{seed}:{turn}", *triple) for triple in order)
        turn += 1


def case_of(seed: str, builder: str, combinator: str, reading: str) -> Case:
    """The case that a seed draws of a triple."""
    rng = random.Random(f"{seed}:{builder}:{combinator}:{reading}")
    codes = [code for code, _ in enumerated(builder)] if combinator == ENUMERATED else parameters(combinator)[builder]
    code, arguments = rng.choice(codes), rng.choice(ARGUMENTS[reading])
    return Case(builder, code, combinator, reading, tuple(arguments.items()), seed)


def judge(case: Case) -> Outcome:
    """Every relation of one case; one sentence of refusal on either side is an answer, any other error a finding."""
    start = time.process_time()
    judged, refused, wrong = 0, 0, []
    for told, check in _checks(case):
        try:
            said = check()
        except el.EpsilensError as error:
            refused += 1
            if not 0 < len(str(error)) < 400 or "\n" in str(error):
                wrong.append(f"{told}: refused in other than one sentence: {error}")
        except Exception as error:
            wrong.append(f"{told}: raised {type(error).__name__}: {error}")
        else:
            judged += said is not None
            wrong += [f"{told}: {said}"] if said else []
    return Outcome(case, judged, refused, tuple(wrong), time.process_time() - start)


def _checks(case: Case) -> Iterator[tuple[str, Callable[[], str | None]]]:
    """What is held against what, in words, and what to call."""
    asked = f"{case.reading}{dict(case.arguments)} of"
    if case.combinator == ENUMERATED:
        floors = next(found for code, found in enumerated(case.builder) if code == case.code)
        for number, one in enumerate(floors):
            yield f"{asked} {case.code} | pair {number} of its neighbours", partial(_above, case, one)
        if case.builder in REACHED:
            yield f"{asked} {case.code} | the worst of its neighbours", partial(_reached, case, floors)
        return
    rng = random.Random(f"{case.seed}:{case.code}:{case.combinator}")
    for left, relation, right in COMBINATORS[case.combinator](case.code, rng):
        told = f"{asked} {left} | {relation.__name__} | {right}"
        yield told, partial(relation, left, right, case.reading, case.arguments)


def _above(case: Case, one: Floor) -> str | None:
    """Whether a reading's high end is above what a pair of neighbouring inputs has."""
    _, high = ends(case.code, case.reading, case.arguments)
    given = dict(case.arguments)
    if given.get("order") == math.inf:
        least = -float(one.bottom) * (1 - 1e-10)
        return f"at most {high!r}, and some inputs have {least!r}" if high < least else ""
    read: Any = SimpleNamespace(  # once for all pairs
        law=build(case.code).law, bracket=lambda reading, **_: bracket(case.code, reading, case.arguments)
    )
    found = sweep.judge(sweep.Case(case.builder, case.code, case.reading, given), read, one)
    if found.refused:
        raise el.InputError(found.wrong or "refused")
    return found.wrong if found.judged else None


def _reached(case: Case, floors: list[Floor]) -> str | None:
    """Whether a reading that is no mere bound has a low end that some neighbours reach, as closely as boxes tell."""
    if build(case.code).law.known is Exactness.BOUND:
        return None
    low, _ = ends(case.code, case.reading, case.arguments)
    given = list(dict(case.arguments).values())
    if case.reading == "advantage" or case.reading == "delta":
        x = given[0] if given else 0.0
        seen = [side.profile(x) for one in floors for side in (one, one.reverse())]
    elif case.reading in ("recall", "roc", "attack_success", "tradeoff"):
        seen = [one.recall(given[0]) for one in floors]
    else:
        return None
    most = max(float(found.low) for found in seen if found is not None)
    return f"at least {low!r}, and no neighbours have more than {most!r}" if low > most * 1.02 + 1e-4 else ""


def forget() -> None:
    """Nothing built before is used again, as after a fault was put back."""
    build.cache_clear()
    bracket.cache_clear()
