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
    "tampering": "build.tampering",
    "hidden_bias": "build.hiding",
    "detected_bias": "build.hiding",
    "epsilon_to_detect": "build.hiding",
    "detect": "build.detecting",
    "detect_series": "build.detecting",
    "watch": "build.detecting",
    "kl_bound": "build.tampering_bounds",
    "chernoff_bound": "build.tampering_bounds",
    "privacy_distortion": "build.tampering_bounds",
    "Knowledge": "build.knowledge",
    "worst_pair": "build.composite",
    "above": "build.composite",
    "mistaken": "mistaking",
    "observed": "observing",
    "vector": "vectors",
    "identify": "identifying",
    "Identification": "identifying",
    "choose": "choosing",
    "Choice": "choosing",
    "compose": "composing",
    "group": "composing",
    "from_dp": "neighbours.claims",
    "from_gdp": "neighbours.claims",
    "from_rdp": "neighbours.claims",
    "from_zcdp": "neighbours.claims",
    "clt": "build.approximations",
    "dpsgd": "build.sampling",
    "subsample": "build.sampling",
    "scan": "data.scan",
    "Scan": "data.result",
    "correlate": "correlating",
    "Correlation": "correlating",
    "assess": "assessing",
    "Assessment": "assessing",
}

if TYPE_CHECKING:
    from . import neighbours, notions
    from .assessing import Assessment, assess
    from .build import correlated
    from .build.approximations import clt
    from .build.composite import above, worst_pair
    from .build.detecting import detect, detect_series, watch
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
    from .build.hiding import detected_bias, epsilon_to_detect, hidden_bias
    from .build.knowledge import Knowledge
    from .build.mechanisms import gaussian, laplace
    from .build.sampling import dpsgd, subsample
    from .build.tampering import tampering
    from .build.tampering_bounds import chernoff_bound, kl_bound, privacy_distortion
    from .choosing import Choice, choose
    from .composing import compose, group
    from .correlating import Correlation, correlate
    from .data.result import Scan
    from .data.scan import scan
    from .errors import EpsilensError, InputError, MissingExtra, NoSolutionError
    from .experiment import Experiment
    from .identifying import Identification, identify
    from .mistaking import mistaken
    from .neighbours.claims import from_dp, from_gdp, from_rdp, from_zcdp
    from .observing import observed
    from .vectors import vector

__all__ = [
    "Assessment",
    "Choice",
    "Correlation",
    "EpsilensError",
    "Experiment",
    "Identification",
    "InputError",
    "Knowledge",
    "MissingExtra",
    "NoSolutionError",
    "Scan",
    "__version__",
    "above",
    "approximate",
    "assess",
    "chernoff_bound",
    "choose",
    "clt",
    "compose",
    "correlate",
    "correlated",
    "detect",
    "detect_series",
    "detected_bias",
    "differencing",
    "differencing_average",
    "differencing_median",
    "discrete_gaussian",
    "dpsgd",
    "epsilon_to_detect",
    "exponential",
    "finite",
    "from_dp",
    "from_gdp",
    "from_rdp",
    "from_zcdp",
    "gaussian",
    "geometric",
    "group",
    "hidden_bias",
    "identify",
    "kl_bound",
    "laplace",
    "mistaken",
    "neighbours",
    "notions",
    "observed",
    "privacy_distortion",
    "pure",
    "randomized_response",
    "scan",
    "staircase",
    "subsample",
    "tampering",
    "vector",
    "watch",
    "worst_pair",
]


def __getattr__(name: str) -> Any:
    if name == "correlated":  # a namespace: correlated.normal, correlated.table, …
        globals()[name] = import_module(".build.correlated", __name__)
        return globals()[name]
    if name == "neighbours":  # a namespace: neighbours.from_pld, neighbours.from_measurement, …
        return import_module(".neighbours", __name__)
    if name == "notions":  # a namespace too: notions.dp, notions.convert, …
        return import_module(".notions", __name__)
    if name in _HOME:
        value = getattr(import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'epsilens' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
