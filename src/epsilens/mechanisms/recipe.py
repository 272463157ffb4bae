"""What an experiment was built from, where its parameters do not say it: another experiment, a matrix, scores.

A builder that is :func:`remembered` leaves its arguments with what it returns. They are for writing it down, as a
ledger does: whoever uses them builds again and compares, so that what was changed since is not taken for what was.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import ParamSpec

from ..experiment import Experiment

_P = ParamSpec("_P")


def remembered(build: Callable[_P, Experiment]) -> Callable[_P, Experiment]:
    """A builder whose experiments know its name and its arguments.

    >>> import epsilens as el
    >>> name, arguments = el.group(el.gaussian(psi=0.5), 3).recipe
    >>> name, arguments["k"], arguments["experiment"].psi()
    ('group', 3, 0.5)
    """
    signature = inspect.signature(build)

    @wraps(build)
    def building(*given: _P.args, **named: _P.kwargs) -> Experiment:
        made = build(*given, **named)
        said = signature.bind(*given, **named).arguments
        if any(made is value for value in said.values()):  # nothing was to be done
            return made
        return replace(made, recipe=(build.__name__, said))

    return building
