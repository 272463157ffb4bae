"""epsilens: see ε through the adversary's eyes.

>>> import epsilens as el
>>> el.laplace(epsilon=1.0).success()   # an attacker guesses right for 70 of 100 people; a coin gets 50
0.69673467014368...
>>> el.choose(el.laplace, "epsilon", at_most=0.55, reading="success").value
0.21072103131565...
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Names are loaded on first use, so that `epsilens --help` needs neither numpy nor scipy.
_HOME = {
    "EpsilensError": "errors",
    "InputError": "errors",
    "MissingExtra": "errors",
    "NoSolutionError": "errors",
    "Experiment": "experiment",
    "laplace": "build.mechanisms",
    "gaussian": "build.mechanisms",
    "geometric": "build.discrete",
    "discrete_gaussian": "build.discrete",
    "randomized_response": "build.discrete",
    "exponential": "build.discrete",
    "staircase": "build.discrete",
    "pure": "build.discrete",
    "approximate": "build.discrete",
    "finite": "build.discrete",
    "differencing": "build.differencing",
    "differencing_average": "build.differencing",
    "differencing_median": "build.differencing",
    "choose": "choosing",
    "Choice": "choosing",
    "compose": "composing",
    "scan": "data.scan",
    "Scan": "data.result",
    "assess": "assessing",
    "Assessment": "assessing",
}

if TYPE_CHECKING:
    from .assessing import Assessment, assess
    from .build.differencing import differencing, differencing_average, differencing_median
    from .build.discrete import (
        approximate,
        discrete_gaussian,
        exponential,
        finite,
        geometric,
        pure,
        randomized_response,
        staircase,
    )
    from .build.mechanisms import gaussian, laplace
    from .choosing import Choice, choose
    from .composing import compose
    from .data.result import Scan
    from .data.scan import scan
    from .errors import EpsilensError, InputError, MissingExtra, NoSolutionError
    from .experiment import Experiment

__all__ = [
    "Assessment",
    "Choice",
    "EpsilensError",
    "Experiment",
    "InputError",
    "MissingExtra",
    "NoSolutionError",
    "Scan",
    "__version__",
    "approximate",
    "assess",
    "choose",
    "compose",
    "differencing",
    "differencing_average",
    "differencing_median",
    "discrete_gaussian",
    "exponential",
    "finite",
    "gaussian",
    "geometric",
    "laplace",
    "pure",
    "randomized_response",
    "scan",
    "staircase",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'epsilens' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
