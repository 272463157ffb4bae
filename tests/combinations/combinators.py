"""Ways to combine an experiment with others or with itself, and what must then hold (DESIGN's ninth rule of number)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping

from .builders import BUILDERS, SHIFTED, SPLIT, build
from .relations import USELESS, Relation, added, at_most, equal, mirrored, no_more_than_noise, same, sampled

#: The code on the left, how it must stand to that on the right, and that.
Check = tuple[str, Relation, str]
_NOISE = f"el.laplace(epsilon={USELESS!r})"
_WIDE = "el.gaussian(sigma=1e6)"


def _useless(code: str, rng: random.Random) -> Iterator[Check]:
    yield f"el.compose({code}, {_NOISE})", no_more_than_noise, code
    yield f"el.compose({_NOISE}, {code})", no_more_than_noise, code


def _wide(code: str, rng: random.Random) -> Iterator[Check]:
    yield code, at_most, f"el.compose({code}, {_WIDE})"


def _once(code: str, rng: random.Random) -> Iterator[Check]:
    yield f"({code}).repeat(1)", equal, code
    yield f"el.compose({code})", equal, code


def _shares(*codes: str) -> bool:
    """Whether two of these may be about the same unknown records, so that they are no independent answers."""
    return sum(bool(build(code).unknowns) for code in codes) > 1


def _repeat(code: str, rng: random.Random) -> Iterator[Check]:
    twice, thrice = f"({code}).repeat(2)", f"({code}).repeat(3)"
    yield twice, same, f"el.compose({code}, {code})"
    yield code, at_most, twice
    yield twice, at_most, thrice
    yield thrice, same, f"el.compose({twice}, {code})"
    if not _shares(code, code):
        yield twice, added(code, code), code


def _group(code: str, rng: random.Random) -> Iterator[Check]:
    yield f"el.group({code}, 1)", equal, code
    yield code, at_most, f"el.group({code}, 2)"
    yield f"el.group({code}, 2)", at_most, f"el.group({code}, 3)"


def _shifted(code: str, rng: random.Random) -> Iterator[Check]:
    k = rng.choice([2, 3, 5])
    yield f"el.group({code.format(k=1)}, {k})", equal, code.format(k=k)
    yield f"el.group({code.format(k=1)}, 2)", at_most, code.format(k=3)


def _drawn(code: str, rng: random.Random) -> Iterator[Check]:
    q = rng.choice([1e-3, 0.1, 0.5, 0.9])
    some = f"el.subsample({code}, {q})"
    yield f"el.subsample({code}, 1.)", equal, code
    yield some, at_most, code
    yield f"el.subsample({code}, {q / 2})", at_most, some
    yield some, sampled(q), code


def _drawn_replaced(code: str, rng: random.Random) -> Iterator[Check]:
    q = rng.choice([0.1, 0.5, 0.9])
    some, more = (f"el.subsample({code}, {r}, neighbours='replace')" for r in (q / 2, q))
    whole = f"el.subsample({code}, 1., neighbours='replace')"
    yield some, at_most, more
    yield more, at_most, whole
    yield f"el.subsample({code}, {q})", at_most, more  # a record that changes nothing is a value too
    yield f"el.compose({more}, {_NOISE})", no_more_than_noise, more


def _reverse(code: str, rng: random.Random) -> Iterator[Check]:
    yield f"({code}).reverse()", mirrored, code
    yield f"({code}).reverse().reverse()", equal, code


def _with_another(code: str, rng: random.Random) -> Iterator[Check]:
    first, second = (rng.choice(BUILDERS[rng.choice(list(BUILDERS))]) for _ in range(2))
    both = f"el.compose({code}, {first})"
    yield code, at_most, both
    yield first, at_most, both
    yield both, same, f"el.compose({first}, {code})"
    if not _shares(code, first):
        yield both, added(code, first), code
    all_ = f"el.compose({both}, {second})"
    yield all_, same, f"el.compose({code}, el.compose({first}, {second}))"
    yield both, at_most, all_
    yield f"({both}).reverse()", same, f"el.compose(({code}).reverse(), ({first}).reverse())"


def _split(code: str, rng: random.Random) -> Iterator[Check]:
    """Steps that are alike, in one row or two; and steps that follow never lower a risk."""
    sigma, other, steps = rng.choice([0.8, 1.0, 2.0]), rng.choice([0.7, 3.0]), rng.randint(2, 7)
    first = rng.randint(1, steps - 1)

    def of(sigmas: list[float], counts: list[int]) -> str:
        return code.format(rows=f"schedule={{'sigma': {sigmas}, 'steps': {counts}}}")

    whole = code.format(rows=f"sigma={sigma}, steps={steps}")
    yield of([sigma, sigma], [first, steps - first]), equal, whole
    if "shuffled" not in code or first % 3 == 0:  # a pass of three is not left half-way
        yield f"el.compose({of([sigma], [first])}, {of([sigma], [steps - first])})", same, whole
    if code.startswith("el.dpsgd(rate=.1"):
        replaced = ", neighbours='replace'" if "replace" in code else ""
        sampled_step = f"el.subsample(el.gaussian(sigma={sigma}), .1{replaced})"
        if "people" in code:
            sampled_step = f"el.group({sampled_step}, 3)"
        yield f"({sampled_step}).repeat({steps})", same, whole
    yield of([sigma], [first]), at_most, of([sigma, other], [first, steps - first])
    yield of([max(sigma, other)], [steps]), at_most, of([sigma, other], [first, steps - first])
    yield of([sigma, other], [first, steps - first]), at_most, of([min(sigma, other)], [steps])


Combinator = Callable[[str, random.Random], Iterator[Check]]
COMBINATORS: Mapping[str, Combinator] = {
    "with useless noise": _useless,
    "with wide normal noise": _wide,
    "once": _once,
    "repeat": _repeat,
    "group": _group,
    "group as a shift": _shifted,
    "subsample": _drawn,
    "subsample, replaced": _drawn_replaced,
    "reverse": _reverse,
    "with another": _with_another,
    "a schedule split": _split,
}


def parameters(combinator: str) -> Mapping[str, tuple[str, ...]]:
    """The builders that a combinator takes, and their code."""
    if combinator == "group as a shift":
        return SHIFTED
    if combinator == "a schedule split":
        return {f"dpsgd, {kind}": (code,) for kind, code in SPLIT.items()}
    if combinator.startswith("subsample"):  # of unknown records the others are drawn too, which may hide less
        return {name: codes for name, codes in BUILDERS.items() if name not in ("above", "correlated")}
    return BUILDERS
