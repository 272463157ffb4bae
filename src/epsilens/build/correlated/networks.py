"""Networks of pgmpy as models of the records: a joint table while it is small, factors beyond."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import checks
from ...checks import Array
from ...errors import InputError, MissingExtra
from .sums import contributions
from .trees import Factor, Network
from .worst import record_names

__all__ = ["network"]


def network(
    model: Any, values: Any = None, weights: ArrayLike | None = None, *, names: Sequence[str] | None = None
) -> Network:
    """A discrete Bayesian network of pgmpy, or the path of a BIF file, as records; its nodes in their own order.

    States that are numbers are the records' values; others count 0, 1, 2, … unless ``values`` says otherwise.
    """
    if isinstance(model, (str, Path)):
        if not Path(model).is_file():
            raise InputError(f"there is no file {str(model)!r}: give the path of a BIF file", parameter="model")
        try:
            reader = import_module("pgmpy.readwrite").BIFReader
        except ImportError:
            raise MissingExtra("pgmpy", extra="networks", purpose="reading a network from a file") from None
        try:
            model = reader(str(model)).get_model()
        except Exception as error:  # a parser may stumble in any way
            raise InputError(
                f"{str(model)!r} cannot be read as a BIF file: {error}".splitlines()[0], parameter="model"
            ) from None
    if not (hasattr(model, "get_cpds") and hasattr(model, "nodes")):
        raise InputError(
            f"model is a {type(model).__name__}: give a discrete Bayesian network of pgmpy, or a BIF file",
            parameter="model",
        )
    nodes = list(model.nodes())
    if not nodes:
        raise InputError(
            "the network has no nodes: give one with at least one node, or a file in the BIF format", parameter="model"
        )
    tables = list(model.get_cpds())
    if len(tables) != len(nodes):
        raise InputError(
            f"the network has {len(nodes)} nodes and {len(tables)} tables: give one table per node", parameter="model"
        )
    place = {node: j for j, node in enumerate(nodes)}
    sizes, found = [0] * len(nodes), [np.zeros(0)] * len(nodes)
    factors = []
    for t in tables:
        variables = list(t.variables)
        p = checks.real(f"the table of {t.variable}", np.asarray(t.values, dtype=float), of="model")
        off = np.abs(p.sum(axis=0) - 1).max() if p.size else 1.0
        if (p < 0).any() or off > 1e-6:
            raise InputError(
                f"the table of {t.variable} is not a distribution: its columns must sum to 1", parameter="model"
            )
        j = place[t.variable]
        sizes[j], found[j] = p.shape[0], _states(t, p.shape[0])
        order = sorted(range(len(variables)), key=lambda k: place[variables[k]])
        with np.errstate(divide="ignore"):
            logs = np.log(np.transpose(p / p.sum(axis=0), order))[..., None]
        factors.append(Factor(tuple(sorted(place[v] for v in variables)), np.zeros(1), logs))
    parts = contributions(sizes, found if values is None else values, weights)
    return Network(tuple(factors), parts, record_names([str(v) for v in nodes] if names is None else names, len(nodes)))


def _states(table: Any, size: int) -> Array:
    listed = (getattr(table, "state_names", None) or {}).get(table.variable, range(size))
    try:
        values = np.asarray([float(s) for s in listed])
    except (TypeError, ValueError):
        return np.arange(size, dtype=float)
    return values if values.size == size and np.unique(values).size == size else np.arange(size, dtype=float)
