"""Which search finds the worst adversary of jointly normal records, a closed form, enumeration, or branch and bound,
and the noise that holds against all adversaries.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple, Protocol

import numpy as np

from ....calibration.choose import Choice
from ....calibration.choose import choose as pick
from ....errors import InputError
from ....experiment import Experiment
from ....laws.laplace import Laplace
from ....laws.normal import Normal
from ....laws.sums import NormalLaplaceShift
from ..risk import Progress, asked
from . import enumeration
from .bound import branch_and_bound, root_bounds
from .problem import Adversary, Found, Problem, closed_form
from .seen import Named, seen_by

#: Beyond this many records, without a closed form, only a search with a time limit is offered.
LARGEST_WITHOUT_LIMIT = 60
#: Enumeration comes first where it is this quick; beyond, branch and bound usually is quicker.
_ENUMERATE_SECONDS = 0.15
_FEW = 20_000


class Result(NamedTuple):
    """What was found, and how."""

    found: Found
    method: str
    complete: bool


def search(
    problem: Problem,
    sigma: float | None = None,
    *,
    least: int = 0,
    most: int | None = None,
    targets: tuple[int, ...] | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Result:
    """The worst adversary who knows ``least`` to ``most`` records, for Laplace (σ None) or Gaussian noise."""
    result = _search(problem, sigma, least, most, targets, time_limit, progress)
    return result._replace(found=result.found._replace(upper=result.found.upper * (1 + _lost(problem, targets))))


def _lost(problem: Problem, targets: tuple[int, ...] | None) -> float:
    """What rounding may have cost a search in doubles, as a share; nothing unless it is badly conditioned."""
    small = problem.condition <= 1e6 or (targets is None and enumeration.extended(problem))
    return 0.0 if small else 4 * float(np.finfo(float).eps) * problem.condition * problem.n


def _search(
    problem: Problem,
    sigma: float | None,
    least: int,
    most: int | None,
    targets: tuple[int, ...] | None,
    time_limit: float | None,
    progress: Progress | None,
) -> Result:
    n = problem.n
    most, everyone = n - 1 if most is None else most, tuple(range(n))
    who = everyone if targets is None else targets
    precise = targets is None and enumeration.extended(problem)
    closed = None if precise else closed_form(problem, sigma, least, most, who)
    if closed is not None:
        return Result(closed[0], f"closed form ({closed[1]})", True)
    if least == 0 and _sets(n, most) <= _FEW and most < n - 1 and n > 14:
        return Result(_few(problem, sigma, most, who), "enumeration", True)
    began = time.monotonic()
    deadline = None if time_limit is None else began + time_limit
    quick = enumeration.seconds(n, compile=False) <= min(
        _ENUMERATE_SECONDS, math.inf if time_limit is None else time_limit / 2
    )
    if quick and who == everyone:
        return _enumerate(problem, sigma, least, most, progress)
    if time_limit is None and n > LARGEST_WITHOUT_LIMIT:
        raise InputError(
            f"there are {n} records with no special structure: beyond {LARGEST_WITHOUT_LIMIT} the worst adversary may "
            "take too long to find exactly, so give a time_limit in seconds (the answer then carries a proven bound)",
            parameter="time_limit",
        )
    small = time_limit is None and n <= enumeration.LARGEST and who == everyone
    if small:  # one of the two is quick; nobody knows which
        deadline = began + max(2 * enumeration.seconds(n), 1.0)
    start = _start(problem, sigma, least, most, who, None if time_limit is None else began + time_limit / 4)
    found = branch_and_bound(
        problem, sigma, least=least, most=most, targets=targets, start=start, progress=progress, deadline=deadline
    )
    complete = found.upper <= found.value
    if small and not complete:
        return _enumerate(problem, sigma, least, most, progress)
    return Result(found, "branch and bound", complete)


def _enumerate(problem: Problem, sigma: float | None, least: int, most: int, progress: Progress | None) -> Result:
    every = enumeration.enumerate_adversaries(problem, sigma, progress=progress)
    assert every is not None  # no deadline was given
    return Result(max(every[least : most + 1], key=lambda f: f.value), "enumeration", True)


def _sets(n: int, most: int) -> int:
    return sum(math.comb(n, k) for k in range(min(most, n) + 1))


def _few(problem: Problem, sigma: float | None, most: int, targets: tuple[int, ...]) -> Found:
    """Every set of at most ``most`` known records, when these are few."""
    n, a, cov = problem.n, problem.weights, problem.cov
    best, examined = Found(-1.0, targets[0], (), np.inf, 0), 0
    mine = np.isin(np.arange(n), targets)
    for k in range(most + 1):
        for known in combinations(range(n), k):
            given = list(known)
            solved = np.linalg.solve(cov[np.ix_(given, given)], cov[given]) if given else np.empty((0, n))
            rest = cov - cov[:, given] @ solved
            v, d = rest @ a, np.diag(rest).copy()
            open_ = mine.copy()
            open_[given] = False
            d[~open_] = 1.0
            value = np.where(open_, np.abs(v) / d, -1.0)
            if sigma is not None:
                value = value / np.sqrt(sigma * sigma + np.maximum(a @ v - v * v / d, problem.trace))
            examined += int(open_.sum())
            if value.max() > best.value:
                best = Found(float(value.max()), int(value.argmax()), known, np.inf, 0)
    value_ = problem.value(best.target, best.known, sigma)
    return Found(value_, best.target, best.known, value_, examined)


def _start(
    problem: Problem,
    sigma: float | None,
    least: int,
    most: int,
    targets: tuple[int, ...],
    deadline: float | None = None,
) -> Found:
    """Some adversary to begin with: each target with the records that it is most correlated with known."""
    cov, a = problem.cov, problem.weights
    sd = np.sqrt(np.diag(cov))
    strength = np.abs(cov) / sd[:, None] / sd
    best = Found(-1.0, targets[0], (), np.inf, 0)
    for i in targets:
        known = [int(j) for j in np.argsort(-strength[i], kind="stable") if j != i][:least]
        given = [i, *known]
        beta = np.linalg.solve(cov[np.ix_(given, given)], cov[given] @ a)
        own2 = max(problem.variance - float(beta @ cov[given] @ a), 0.0)
        value = float(abs(beta[0])) / (1.0 if sigma is None else math.sqrt(sigma * sigma + own2))
        if value > best.value:
            best = Found(value, i, tuple(sorted(known)), np.inf, 0)
    for k in range(least, most + 1) if sigma is not None else ():
        strongest = problem.strongest(k)
        if strongest is not None and strongest[0] in targets:
            value = problem.value(*strongest, sigma)
            if value > best.value:
                best = Found(value, *strongest, np.inf, 0)
            break
    if least == 0 and most == problem.n - 1 and problem.n > LARGEST_WITHOUT_LIMIT:
        bounds = root_bounds(problem, sigma)
        for i in sorted(targets, key=lambda i: -float(bounds[i])):
            if deadline is None or time.monotonic() > deadline:
                break
            best = max(best, _climb(problem, sigma, i), key=lambda f: f.value)
    # a little less, so that rounding in its favour cannot close the search before it has begun
    return best._replace(value=best.value * (1 - 1e-12))


def _climb(problem: Problem, sigma: float | None, i: int) -> Found:
    """Start from an adversary who knows nothing; change what they know about one record as long as that helps.

    Λ bordered by a and Λ_i is swept on the unknown records U: the corner then holds −(p, c, g) of ``normal_bound``, and
    for a record on either side of U the corner after its change is corner − column·row/diagonal.
    """
    n, a, prec = problem.n, problem.weights, problem.precision
    others = np.flatnonzero(np.arange(n) != i)
    m = n - 1
    g = np.zeros((m + 2, m + 2))
    inverse = np.linalg.inv(prec[np.ix_(others, others)])
    right = np.column_stack((a[others], prec[others, i]))
    g[:m, :m], g[:m, m:] = -inverse, inverse @ right
    g[m:, :m], g[m:, m:] = g[:m, m:].T, -right.T @ inverse @ right
    unknown = np.ones(m, dtype=bool)

    def values(c: Any, p: Any) -> Any:
        return np.abs(a[i] + c) / (1.0 if sigma is None else np.sqrt(sigma * sigma + np.maximum(-p, problem.trace)))

    here = values(g[m, m + 1], g[m, m])
    for _ in range(4 * n):
        d = np.diag(g)[:m]
        after = values(g[m, m + 1] - g[:m, m] * g[:m, m + 1] / d, g[m, m] - g[:m, m] ** 2 / d)
        j = int(np.argmax(after))
        if not after[j] > here * (1 + 1e-9):
            break
        here, pivot, row = after[j], g[j, j], g[j].copy()
        g -= np.outer(row / pivot, row)
        g[j] = g[:, j] = row / pivot if not unknown[j] else -row / pivot
        g[j, j] = -1 / pivot
        unknown[j] = not unknown[j]
    known = tuple(int(j) for j in others[~unknown])
    return Found(problem.value(i, known, sigma), i, known, np.inf, 0)


def search_by_known(
    problem: Problem,
    sigma: float | None = None,
    *,
    targets: tuple[int, ...] | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """The worst adversary for each exact number of known records, 0 to n − 1."""
    n = problem.n
    if targets is None and n <= enumeration.LARGEST and (
        time_limit is None or enumeration.seconds(n) <= time_limit
    ):  # fmt: skip
        every = enumeration.enumerate_adversaries(problem, sigma, progress=progress)
        assert every is not None
        lost = 1 + _lost(problem, targets)
        return [Result(found._replace(upper=found.upper * lost), "enumeration", True) for found in every]
    who = tuple(range(n)) if targets is None else targets
    if time_limit is None and n > enumeration.LARGEST and closed_form(problem, sigma, n // 2, n // 2, who) is None:
        raise InputError(
            f"there are {n} records with no special structure: beyond {enumeration.LARGEST} the worst adversary for "
            "each number of known records may take too long to find exactly, so give a time_limit in seconds (each "
            "point then carries a proven bound)",
            parameter="time_limit",
        )
    share = None if time_limit is None else time_limit / (n + 1)
    ceiling = math.inf if share is None else search(problem, sigma, targets=targets, time_limit=share).found.upper
    out: list[Result] = []
    for k in range(n):
        if progress is not None:
            progress(k / n, f"{k} known records of {n - 1}")
        result = search(problem, sigma, least=k, most=k, targets=targets, time_limit=share)
        upper = max(min(result.found.upper, ceiling), result.found.value)  # no point exceeds the worst of all
        out.append(
            result._replace(
                found=result.found._replace(upper=upper), complete=result.complete or upper <= result.found.value
            )
        )
    return out


# -- the noise that keeps a reading of every adversary at or under a limit --------------------------------------------


_COMPARE_SECONDS = 10.0
_NOT_COUNTED = (
    "the data's own randomness is not counted, because there are too many adversaries to compare: the noise is safe "
    "for all of them and may be more than needed"
)

Candidate = tuple[int, tuple[int, ...], Adversary]


class Model(Named, Protocol):
    """What choosing asks of jointly normal records."""

    @property
    def n(self) -> int:
        """How many records."""
        ...

    @property
    def problem(self) -> Problem:
        """The same in units of each record's reach."""
        ...

    def largest_shift(self, time_limit: float | None, progress: Progress | None = None) -> Result:
        """The adversary with the largest shift."""
        ...


def choose(
    model: Model,
    at_most: float,
    reading: str,
    noise: str,
    own_noise: bool,
    time_limit: float | None,
    progress: Progress | None,
    arguments: Mapping[str, Any],
) -> Choice:
    """See :meth:`NormalRecords.choose`."""
    name, told, args, limit = asked(reading, noise, at_most, arguments)
    pure = told == "leakage"  # own randomness changes nothing: the largest shift decides
    if pure:
        told, args = "epsilon", {"delta": 0.0}
    candidates: list[Candidate] | None = None
    remarks: tuple[str, ...] = ()
    if own_noise and not pure:
        candidates = _candidates(model, time_limit, progress)
        remarks = () if candidates else (_NOT_COUNTED,)
    if candidates is None:
        result = model.largest_shift(time_limit, progress)
        found = result.found
        candidates = [(found.target, found.known, Adversary(found.upper, 0.0))]
        if not result.complete:
            remarks = (*remarks, "the search ended at its time limit: the noise covers the proven bound")
    most = max(seen.shift for *_, seen in candidates)
    if most == 0:
        raise InputError("no record moves the answer: every weight is 0, so no noise is needed")
    binding = max(candidates, key=lambda c: c[2].shift)
    for _ in range(1000):

        def mechanism(*, sensitivity: float, who: Candidate = binding, **width: float) -> Experiment:
            return seen_by(model, *who, name, width[name], True)

        choice = pick(mechanism, name, at_most=limit, reading=told, given={"sensitivity": most}, **args)
        readings = _read(candidates, name, choice)
        top = int(np.argmax(readings))
        if readings[top] <= choice.limit or candidates[top] == binding:
            break
        binding = candidates[top]
    if pure:
        target, known, seen = binding
        own = model.problem.adversary(target, known).own if own_noise else 0.0
        shown = seen_by(model, target, known, Adversary(seen.shift, own), name, choice.value, own_noise)
        choice = replace(choice, experiment=shown)
    return replace(choice, remarks=remarks)


def _candidates(model: Model, time_limit: float | None, progress: Progress | None) -> list[Candidate] | None:
    """The adversaries that no other beats in both shift and own randomness, where all can be enumerated in time."""
    allowed = _COMPARE_SECONDS if time_limit is None else time_limit
    if model.n > enumeration.LARGEST or enumeration.seconds(model.n) > allowed:
        return None
    return enumeration.front(model.problem, progress=progress)


def _read(candidates: list[Candidate], name: str, choice: Choice) -> Any:
    """The chosen reading of every candidate at the chosen noise, in one go."""
    shift = np.asarray([seen.shift for *_, seen in candidates])
    own = np.asarray([seen.own for *_, seen in candidates])
    width = choice.value
    if name == "sigma":
        return _reading(Normal(shift / np.hypot(width, own)), choice)
    out = np.empty(shift.size)
    bare = (own <= 1e-12 * width) | (shift == 0)
    if bare.any():
        out[bare] = _reading(Laplace(shift[bare] / width), choice)
    if not bare.all():
        out[~bare] = _reading(NormalLaplaceShift(own[~bare] / width, shift[~bare] / width), choice)
    return out


def _reading(law: Any, choice: Choice) -> Any:
    return getattr(Experiment(law), choice.reading_name)(**choice.arguments)
