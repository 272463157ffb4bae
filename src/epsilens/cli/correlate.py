"""``epsilens correlate``: what a release gives away when records depend on each other."""

from __future__ import annotations

from typing import Any

from ..catalogue.said import numbers, numbers_said
from ..errors import InputError
from .common import show
from .options import Said
from .scan import columns_said, progress_bar

__all__ = ["correlate"]


def correlate(said: Said) -> None:
    """Find who learns most about one record from a noisy sum when records are correlated.

    A row is one observation of the records: the members of a household, or a person at several times.
    For example: epsilens correlate epsilens:rand-hie --columns visits --person person --time year --bounds 0,20
    """
    query, weights = said["query"], said["weights"]
    if query not in ("sum", "linear"):
        raise InputError(f"--query is {query!r}: give 'sum', or 'linear' with --weights", parameter="query")
    if (query == "linear") != (weights is not None):
        raise InputError("give --query linear and --weights together, or neither for a sum", parameter="query")
    given: dict[str, Any] = numbers_said(said, "scale", "sigma", "epsilon", "time_limit", "size", "confidence")
    if said["bounds"] is not None:
        given["bounds"] = numbers("--bounds", said["bounds"], "bounds")
    if said["reach"] is not None:
        several = numbers("--reach", said["reach"], "reach")
        given["reach"] = several[0] if len(several) == 1 else several
    names = columns_said(said, "columns")
    given["query"] = "sum" if weights is None else numbers("--weights", weights, "weights")
    given |= {name: said[name] for name in ("model", "own_noise", "by", "person", "time", "engine")}
    from ..data.correlation.correlation import correlate as find

    with progress_bar() as told:
        found = find(said["table"], names, progress=told, **given)
    show(found, said["format"], said["output"])
