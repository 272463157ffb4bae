"""The notions' definitions for a mechanism that can be enumerated: the smallest ε each of them holds with.

Losses are natural logarithms of ratios of probabilities; mutual information is in nats. An answer impossible under
both sides says nothing; an answer possible under one side only gives an infinite loss; and conditioning on an event of
probability 0 is left out, as the definitions ask. Where a definition quantifies over several priors, pass
a list and the largest loss is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..checks import Array
from ..errors import InputError
from ..numerics.special import expm1mx
from .mechanism import Database, FiniteMechanism, Prior, checked_mechanism, mixture

#: Which values must not be told apart: None for all pairs, pairs of values, or a function of two values.
Graph: TypeAlias = Iterable[tuple[Hashable, Hashable]] | Callable[[Any, Any], object] | None
#: A statement about the database: a function of it, or the databases it is true of.
Event: TypeAlias = Callable[[Database], object] | Iterable[Database]

Mask: TypeAlias = NDArray[np.bool_]

_SAME = 1e-12  # two laws whose probabilities agree to this relative size are the same law
_MOST_PAIRED = 600


def spread(log_ratio: Array, possible: Mask | bool = True, axes: tuple[int, ...] | None = None) -> float:
    """The largest |ℓ(x) − ℓ(y)| over answers and over x, y that differ only along ``axes`` and are both possible."""
    axes = tuple(range(log_ratio.ndim - 1)) if axes is None else axes
    mask = np.broadcast_to(np.asarray(possible, dtype=bool)[..., None], log_ratio.shape)
    high = np.max(np.where(mask, log_ratio, -np.inf), axis=axes)
    low = np.min(np.where(mask, log_ratio, np.inf), axis=axes)
    seen = high > -np.inf  # otherwise the answer is impossible everywhere, or nothing is possible at all
    return float(np.max(np.where(seen, np.where(seen, high, 0.0) - np.where(seen, low, 0.0), 0.0), initial=0.0))


def _priors(mechanism: FiniteMechanism, prior: Prior | Sequence[Prior]) -> list[Array]:
    """One prior or several, each on the grid."""
    checked_mechanism(mechanism)
    several = isinstance(prior, (list, tuple)) and bool(prior) and not np.isscalar(prior[0])
    several = several or (
        isinstance(prior, np.ndarray) and prior.ndim == 2 and prior.shape[1] == len(mechanism.databases)
    )
    if not several:
        return [mechanism.prior(prior)]  # type: ignore[arg-type]
    return [mechanism.prior(p, f"prior {i + 1}") for i, p in enumerate(prior)]  # type: ignore[arg-type]


def _conditional_law(mechanism: FiniteMechanism, theta: Array, event: Mask) -> Array | None:
    """ℓ of the mixture of the databases for which the event holds; None if it has probability 0."""
    weight = np.where(event, theta, 0.0)
    total = weight.sum()
    return mixture(mechanism.log_ratio, weight / total) if total > 0 else None


def _laws_by_value(mechanism: FiniteMechanism, theta: Array, record: int) -> tuple[Array, Array]:
    """For one record: the probability of each value that has any, and ℓ of the answers given that value."""
    weights = np.moveaxis(theta, record, 0)
    ratio = np.moveaxis(mechanism.log_ratio, record, 0)
    total = weights.reshape(weights.shape[0], -1).sum(axis=1)
    live = np.flatnonzero(total > 0)
    return total[live], np.array([mixture(ratio[v], weights[v] / total[v]) for v in live])


def _checked_level(level: str) -> str:
    return checks.one_of("level", level, ("record", "database"))


def dp(mechanism: FiniteMechanism) -> float:
    """Bounded differential privacy (Dwork, McSherry, Nissim & Smith 2006).

    ε = max ln P(o|D)/P(o|D′) over answers o and databases D, D′ that differ in one record.

    Parameters
    ----------
    mechanism : Mechanism
        The release as a table of P(answer | database).

    Returns
    -------
    float
        ε in nats; exact, infinite where there is none.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> from epsilens import notions
    >>> notions.dp(notions.randomized_response(1.0, of=lambda d: d[0] ^ d[1], records=2))
    1.0
    """
    ratio = checked_mechanism(mechanism).log_ratio
    return max(spread(ratio, axes=(i,)) for i in range(mechanism.records))


def dependent(mechanism: FiniteMechanism, prior: Prior | Sequence[Prior], size: int | None = None) -> float:
    """Dependent differential privacy (Liu, Chakraborty & Mittal 2016).

    ε = max ln P(o|D)/P(o|D′) over dependent neighbours: databases possible under the prior where one record differs
    and, because of it, at most ``size`` − 1 others that depend on it (the same group of :func:`dependent_groups`).
    Without ``size`` a whole group may differ, which is what the implications are about.

    Parameters
    ----------
    mechanism : Mechanism
        The release as a table of P(answer | database).
    prior : array_like, mapping or sequence of these
        Probability of each database; several are all considered.
    size : int, optional
        Records that may change together, at most.

    Returns
    -------
    float
        ε in nats; exact, infinite where there is none.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.
    """
    records = checked_mechanism(mechanism).records
    most = records if size is None else checks.integer("size", size, low=1, high=records)
    worst = 0.0
    for theta in _priors(mechanism, prior):
        for group in _independent_groups(theta):
            for axes in combinations(group, min(most, len(group))):
                worst = max(worst, spread(mechanism.log_ratio, theta > 0, axes))
    return worst


def dependent_groups(mechanism: FiniteMechanism, prior: Prior) -> list[tuple[int, ...]]:
    """The finest split of the records into groups that are independent of each other under the prior.

    Parameters
    ----------
    mechanism : Mechanism
        The release as a table of P(answer | database).
    prior : array_like or mapping
        Probability of each database.

    Returns
    -------
    list of tuple of int
        The groups.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> from epsilens import notions
    >>> m = notions.noisy_sum(1.0, records=3)
    >>> notions.dependent_groups(m, {(0, 0, 0): 0.25, (1, 1, 0): 0.25, (0, 0, 1): 0.25, (1, 1, 1): 0.25})
    [(0, 1), (2,)]
    """
    return _independent_groups(checked_mechanism(mechanism).prior(prior))


def _independent_groups(theta: Array) -> list[tuple[int, ...]]:
    # Sets A independent of their complement are closed under intersection: the group of i is the smallest around i.
    n = theta.ndim
    around = [frozenset(range(n))] * n
    for size in range(1, n):
        for some in combinations(range(n), size):
            rest = tuple(i for i in range(n) if i not in some)
            apart = theta.sum(axis=rest, keepdims=True) * theta.sum(axis=some, keepdims=True)
            # when in doubt they are dependent, which can only raise the loss
            if np.all(np.abs(theta - apart) <= _SAME * np.maximum(theta, apart)):
                around = [a & frozenset(some) if i in some else a for i, a in enumerate(around)]
                around = [a - frozenset(some) if i not in some else a for i, a in enumerate(around)]
    return sorted({tuple(sorted(a)) for a in around})


def _edge_test(graph: Graph) -> Callable[[Hashable, Hashable], bool]:
    if graph is None:
        return lambda x, y: x != y
    if callable(graph):
        rule = graph
        return lambda x, y: x != y and bool(rule(x, y) or rule(y, x))
    try:
        pairs = {frozenset(pair) for pair in graph}
    except TypeError:
        raise InputError(f"graph is {graph!r}: give pairs of values, or a function of two values", "graph") from None
    if any(len(pair) != 2 for pair in pairs):
        raise InputError("graph has an entry that is no pair of different values: give pairs such as (0, 1)", "graph")
    return lambda x, y: frozenset((x, y)) in pairs


_MOST_VALUES = 500  # paths between all of them are looked at


def diameter(values: Sequence[Hashable], graph: Graph = None) -> float:
    """The most edges on a shortest path between two values; infinite if some cannot be reached.

    Parameters
    ----------
    values : sequence
        The values a record may have.
    graph : callable or iterable of pairs, optional
        Which two values are neighbours; all unless given.

    Returns
    -------
    float
        Edges, infinite where the graph falls apart.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> diameter([1, 2, 3, 4], lambda x, y: abs(x - y) <= 1)
    3.0
    """
    try:
        labels = list(values)
    except TypeError:
        raise InputError(f"values is {values!r:.40}: give a list of values", "values") from None
    if any(isinstance(label, np.ndarray | list | dict | set) for label in labels):
        raise InputError(f"values is {values!r:.40}: give a list of single values", "values")
    edge, n = _edge_test(graph), len(labels)
    if n > _MOST_VALUES:
        raise InputError(f"values are {n:,}: give at most {_MOST_VALUES}, or the diameter itself", "values")
    steps = np.array(
        [[0.0 if i == j else 1.0 if edge(labels[i], labels[j]) else np.inf for j in range(n)] for i in range(n)]
    )
    for k in range(n):
        steps = np.minimum(steps, steps[:, k, None] + steps[None, k, :])
    return float(steps.max(initial=0.0))


def blowfish(mechanism: FiniteMechanism, graph: Graph = None, constraint: Event | None = None) -> float:
    """Blowfish privacy (He, Machanavajjhala & Ding 2014).

    ``graph`` says which two values of a record must not be told apart; ``constraint`` is what is publicly known to be
    true of the database. Neighbours are two possible databases D, D′ that differ along at least one edge, with as
    few edges, and among those as few other changes, as any third possible database would need. (The text's
    minimality is read with at least one edge left: read to the letter, D itself would always be smaller. Where a graph
    makes two databases neighbours in one order only, the loss is taken in both.)

    Parameters
    ----------
    mechanism : Mechanism
        The release as a table of P(answer | database).
    graph : callable or iterable of pairs, optional
        Which two values must not be told apart; all unless given.
    constraint : callable, optional
        What is publicly true of the database.

    Returns
    -------
    float
        ε in nats; exact, infinite where there is none.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.
    """
    edge = _edge_test(graph)
    if constraint is None:
        worst = 0.0
        for i, values in enumerate(checked_mechanism(mechanism).values):
            ratio = np.moveaxis(mechanism.log_ratio, i, 0)
            for a, b in combinations(range(len(values)), 2):
                if edge(values[a], values[b]):
                    worst = max(worst, spread(ratio[[a, b]], axes=(0,)))
        return worst
    return max((spread(pair) for pair in _constrained_pairs(mechanism, edge, constraint)), default=0.0)


def _constrained_pairs(
    mechanism: FiniteMechanism, edge: Callable[[Hashable, Hashable], bool], constraint: Event
) -> Iterator[Array]:
    """ℓ of every pair of neighbours among the databases that satisfy the constraint."""
    mask = checked_mechanism(mechanism).event(constraint, "constraint")
    if not mask.any():
        raise InputError("constraint is true of no database: give one that some database satisfies", "constraint")
    if mask.sum() > _MOST_PAIRED:
        raise InputError(
            f"constraint leaves {mask.sum()} databases: give one that leaves at most {_MOST_PAIRED}", "constraint"
        )
    cells = np.argwhere(mask)
    ratio = mechanism.log_ratio[mask]
    steps = [np.array([[edge(x, y) for y in values] for x in values]) for values in mechanism.values]
    for j, here in enumerate(cells):
        changed = cells != here
        told = np.array([s[h][c] for s, h, c in zip(steps, here, cells.T, strict=True)]).T & changed
        for k in np.flatnonzero(told.any(axis=1)):
            if _is_nearest(cells, told, changed, int(k)):
                yield ratio[[j, int(k)]]


def _is_nearest(cells: NDArray[np.int64], told: Mask, changed: Mask, k: int) -> bool:
    """Whether no D3 is nearer to D1 than D2, the k-th database, is.

    D3 is nearer if its changes along edges, at least one, are some but not all of D2's; or if those are the same and
    its changes altogether are some but not all of D2's.
    """
    agrees = cells == cells[k]
    within = np.all(~told | (told[k] & agrees), axis=1) & told.any(axis=1)
    fewer = within & (told.sum(axis=1) < told[k].sum())
    same = within & (told.sum(axis=1) == told[k].sum())
    closer = same & np.all(~changed | (changed[k] & agrees), axis=1) & (changed.sum(axis=1) < changed[k].sum())
    return not (fewer | closer).any()


def pufferfish(
    mechanism: FiniteMechanism,
    prior: Prior | Sequence[Prior],
    secrets: Mapping[str, Event] | None = None,
    pairs: Iterable[tuple[str, str]] | None = None,
) -> float:
    """Pufferfish privacy (Kifer & Machanavajjhala 2014).

    ε = max |ln P(o|s, θ)/P(o|s′, θ)| over answers, over the discriminative ``pairs`` of ``secrets`` and over the
    priors θ that give both secrets some probability. Without ``secrets`` they are "record i has value v", paired
    within each record; without ``pairs`` every two secrets that exclude each other are one.

    Parameters
    ----------
    mechanism : Mechanism
        The release as a table of P(answer | database).
    prior : array_like, mapping or sequence of these
        Probability of each database; several are all considered.
    secrets : mapping, optional
        Events by name; every value of every record unless given.
    pairs : iterable of (str, str), optional
        Which secrets must not be told apart.

    Returns
    -------
    float
        ε in nats; exact, infinite where there is none.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> from epsilens import notions
    >>> m = notions.noisy_sum(1.0, records=2)
    >>> few = {"nobody": lambda d: sum(d) == 0, "both": lambda d: sum(d) == 2}
    >>> round(notions.pufferfish(m, notions.uniform(m), few), 12)
    2.0
    """
    priors = _priors(mechanism, prior)
    if secrets is None:
        if pairs is not None:
            raise InputError("pairs is given without secrets: give the secrets they are made of", "pairs")
        return max(_record_loss(mechanism, theta) for theta in priors)
    if not isinstance(secrets, Mapping):
        raise InputError(f"secrets is {secrets!r:.40}: give a mapping from names to events", "secrets")
    if pairs is not None and not isinstance(pairs, Iterable):
        raise InputError(f"pairs is {pairs!r:.40}: give pairs of names of secrets", "pairs")
    events = {name: mechanism.event(holds, f"secret {name!r}") for name, holds in secrets.items()}
    if pairs is None:
        chosen = [(a, b) for a, b in combinations(events, 2) if not (events[a] & events[b]).any()]
    else:
        chosen = [_checked_pair(pair, events) for pair in pairs]
    worst = 0.0
    for theta in priors:
        laws = {name: _conditional_law(mechanism, theta, event) for name, event in events.items()}
        for a, b in chosen:
            first, second = laws[a], laws[b]
            if first is not None and second is not None:
                worst = max(worst, spread(np.array([first, second])))
    return worst


def _checked_pair(pair: Iterable[str], events: Mapping[str, Mask]) -> tuple[str, str]:
    try:
        a, b = pair
    except (TypeError, ValueError):
        raise InputError(f"pairs has {pair!r}: give pairs of names of secrets", "pairs") from None
    for name in (a, b):
        if name not in events:
            raise InputError(
                f"pairs has the secret {name!r}: give secrets among {', '.join(map(repr, events))}", "pairs"
            )
    if (events[a] & events[b]).any():
        raise InputError(
            f"pairs has {a!r} and {b!r}, which can both be true: give secrets that exclude each other", "pairs"
        )
    return a, b


def _record_loss(mechanism: FiniteMechanism, theta: Array) -> float:
    return max(spread(_laws_by_value(mechanism, theta, i)[1]) for i in range(mechanism.records))


def inferential(mechanism: FiniteMechanism, prior: Prior | Sequence[Prior], level: str = "record") -> float:
    """Inferential privacy (Ghosh & Kleinberg 2016): how far the odds between two values of a record can move.

    ε = max ln [P(Dᵢ=a|o)/P(Dᵢ=b|o)] / [P(Dᵢ=a)/P(Dᵢ=b)] = max ln P(o|Dᵢ=a)/P(o|Dᵢ=b), where the other records are
    drawn from the prior. With ``level="database"`` the odds are between whole databases, as paper 000 restates it.

    Parameters
    ----------
    mechanism : Mechanism
        The release as a table of P(answer | database).
    prior : array_like, mapping or sequence of these
        Probability of each database; several are all considered.
    level : {"record", "database"}, default 'record'
        Between values of a record, or whole databases.

    Returns
    -------
    float
        ε in nats; exact, infinite where there is none.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> from epsilens import notions
    >>> xor = notions.randomized_response(1.0, of=lambda d: d[0] ^ d[1], records=2)
    >>> notions.inferential(xor, notions.uniform(xor)), notions.inferential(xor, notions.uniform(xor), level="database")
    (0.0, 1.0)
    """
    whole = _checked_level(level) == "database"
    return max(
        spread(mechanism.log_ratio, theta > 0) if whole else _record_loss(mechanism, theta)
        for theta in _priors(mechanism, prior)
    )


def membership(
    mechanism: FiniteMechanism,
    prior: Prior | Sequence[Prior],
    direction: str = "both",
    level: str = "record",
    events: Mapping[str, Event] | None = None,
) -> float:
    """Membership privacy (Li, Qardaji, Su, Wu & Yang 2013), with γ = e^ε.

    The entities t are "record i has value v", or the ``events`` given. ``direction="positive"`` asks for
    P(t|o) ≤ e^ε·P(t) and P(¬t|o) ≥ e^{−ε}·P(¬t): the adversary does not become much surer of t; ``"negative"`` for
    the same with t and ¬t exchanged; ``"both"`` for both. ``level="database"`` takes whole databases as entities.

    Parameters
    ----------
    mechanism : Mechanism
        The release as a table of P(answer | database).
    prior : array_like, mapping or sequence of these
        Probability of each database; several are all considered.
    direction : {"both", "positive", "negative"}, default 'both'
        Which beliefs are bounded.
    level : {"record", "database"}, default 'record'
        What the entities are.
    events : mapping, optional
        Entities by name, instead.

    Returns
    -------
    float
        ε in nats; exact, infinite where there is none.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> from epsilens import notions
    >>> m = notions.randomized_response(1.0, of=lambda d: d[0], records=1)
    >>> round(notions.membership(m, notions.uniform(m)), 9)      # ln((1+e)/2)
    0.620114507
    """
    wanted = checks.one_of("direction", direction, ("both", "positive", "negative"))
    whole = _checked_level(level) == "database"
    if events is not None and whole:
        raise InputError("events and level='database' are both given: give one of them")
    if not isinstance(events, Mapping | None):
        raise InputError(f"events is {events!r:.40}: give a mapping of names to events", "events")
    kept = checked_mechanism(mechanism)
    masks = None if events is None else [kept.event(e, f"event {name!r}") for name, e in events.items()]
    worst = 0.0
    for theta in _priors(mechanism, prior):
        overall = mixture(mechanism.log_ratio, theta)
        if whole and wanted == "both":  # then ¬D is a mixture of the others and adds nothing
            laws = mechanism.log_ratio[theta > 0]
            worst = max(worst, *(max(_log_over(one, overall), _log_over(overall, one)) for one in laws))
            continue
        for inside, outside in _entity_laws(mechanism, theta, masks, whole):
            up, down = _log_over(inside, overall), _log_over(overall, outside)
            positive = max(up, down)
            negative = max(_log_over(outside, overall), _log_over(overall, inside))
            worst = max(
                worst, *{"both": (positive, negative), "positive": (positive,), "negative": (negative,)}[wanted]
            )
    return worst


def _entity_laws(
    mechanism: FiniteMechanism, theta: Array, masks: list[Mask] | None, whole: bool
) -> Iterator[tuple[Array, Array]]:
    """ℓ given t and given ¬t, for every entity t that is neither impossible nor certain."""
    if masks is None and whole:
        masks = [np.arange(theta.size).reshape(theta.shape) == k for k in np.flatnonzero(theta)]
    if masks is None:
        masks = []
        for i, size in enumerate(theta.shape):
            index = np.arange(size).reshape([-1 if j == i else 1 for j in range(theta.ndim)])
            masks += [np.broadcast_to(index == v, theta.shape) for v in range(size)]
    for mask in masks:
        inside, outside = _conditional_law(mechanism, theta, mask), _conditional_law(mechanism, theta, ~mask)
        if inside is not None and outside is not None:
            yield inside, outside


def _log_over(first: Array, second: Array) -> float:
    """max over answers of ln first/second, where either is possible."""
    live = first > -np.inf
    return float(np.max(first[live] - second[live], initial=0.0))


def mutual_information(mechanism: FiniteMechanism, prior: Prior | Sequence[Prior], given: str = "others") -> float:
    """Mutual-information differential privacy in nats (Cuff & Yu 2016), for these priors.

    The largest over records of I(Dᵢ; answer | all other records). ``given="nothing"`` leaves the condition out.

    Parameters
    ----------
    mechanism : Mechanism
        The release as a table of P(answer | database).
    prior : array_like, mapping or sequence of these
        Probability of each database; several are all considered.
    given : {"others", "nothing"}, default 'others'
        What is known beside the answer.

    Returns
    -------
    float
        Nats; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> from epsilens import notions
    >>> xor = notions.randomized_response(1.0, of=lambda d: d[0] ^ d[1], records=2)
    >>> [round(notions.mutual_information(xor, notions.uniform(xor), given=g), 6) for g in ("others", "nothing")]
    [0.110944, 0.0]
    """
    others = checks.one_of("given", given, ("others", "nothing")) == "others"
    worst = 0.0
    for theta in _priors(mechanism, prior):
        for i in range(mechanism.records):
            if others:
                weights = np.moveaxis(theta, i, -1).reshape(-1, theta.shape[i])
                ratio = np.moveaxis(mechanism.log_ratio, i, -2).reshape(*weights.shape, -1)
                told = 0.0  # averaged over what the others may be
                for w, laws in zip(weights, ratio, strict=True):
                    total = w.sum()
                    if total > 0:
                        told += float(total) * _information(w[w > 0] / total, laws[w > 0], mechanism.log_scale)
            else:
                w, laws = _laws_by_value(mechanism, theta, i)
                told = _information(w / w.sum(), laws, mechanism.log_scale)
            worst = max(worst, told)
    return worst


def _information(weights: Array, laws: Array, log_scale: Array) -> float:
    """Σ w·KL(law‖mixture) as Σ w·P̄·(t·ln t − t + 1) with t = e^u: positive terms, so that ε² keeps its digits."""
    middle = mixture(laws, weights)
    live = middle > -np.inf
    u = laws[:, live] - middle[live]
    near = np.maximum(u, -30.0)
    with np.errstate(invalid="ignore"):
        far = 1 - np.exp(u) * (1 - np.where(u > -np.inf, u, 0.0))
    term = np.where(u > -30, np.exp(near) * expm1mx(-near), far)
    return float(np.sum(weights[:, None] * np.exp(log_scale[live] + middle[live]) * term))
