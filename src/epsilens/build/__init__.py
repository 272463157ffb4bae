"""From the world to an experiment: mechanisms, what the adversary knows, the attacks of the papers.

A catalogue entry is built by what it names: :func:`builder`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..catalogue.mechanisms import Entry
    from ..experiment import Experiment

__all__ = ["builder"]


def builder(entry: Entry) -> Callable[..., Experiment]:
    """The function that builds an entry, taking the parameters under the catalogue's names.

    >>> from epsilens.catalogue.mechanisms import MECHANISMS
    >>> builder(MECHANISMS["laplace"])(epsilon=1.0).roc(0.1)
    0.27182818284590...
    """
    module, _, name = entry.builder.partition(":")
    build: Callable[..., Experiment] = getattr(import_module(module), name)
    if not entry.renamed:
        return build

    @wraps(build)
    def renamed(**arguments: Any) -> Experiment:
        return build(**{entry.renamed.get(k, k): v for k, v in arguments.items()})

    return renamed
