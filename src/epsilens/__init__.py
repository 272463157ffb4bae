"""epsilens: see ε through the adversary's eyes.

>>> import epsilens as el
>>> el.laplace(epsilon=1.0).success()   # an attacker guesses right 70 times of 100; a coin gets 50
0.69673467014368...
>>> el.choose(el.laplace, "epsilon", at_most=0.55, reading="success").value
0.21072103131565...
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from . import shown

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
    "skellam": "build.discrete",
    "randomized_response": "build.discrete",
    "unary": "build.local",
    "hadamard_response": "build.local",
    "count_mean_sketch": "build.local",
    "rappor": "build.local",
    "shuffled": "build.shuffle",
    "staircase": "build.discrete",
    "pure": "build.discrete",
    "approximate": "build.discrete",
    "finite": "build.discrete",
    "banded": "build.matrix",
    "matrix": "build.matrix",
    "sqrt_prefix": "build.matrix",
    "tree": "build.matrix",
    "mixture": "build.mixtures",
    "exponential": "build.selection",
    "noisy_max": "build.selection",
    "permute_and_flip": "build.selection",
    "repeat_and_select": "build.selection",
    "sparse_vector": "build.selection",
    "top_k": "build.selection",
    "differencing": "build.differencing",
    "differencing_average": "build.differencing",
    "differencing_median": "build.differencing",
    "tampering": "build.tampering.tampering",
    "hidden_bias": "build.tampering.hiding",
    "detected_bias": "build.tampering.hiding",
    "epsilon_to_detect": "build.tampering.hiding",
    "detect": "build.tampering.detection",
    "detect_series": "build.tampering.detection",
    "watch": "build.tampering.detection",
    "kl_bound": "build.tampering.tampering",
    "chernoff_bound": "build.tampering.tampering",
    "privacy_distortion": "build.tampering.tampering",
    "Knowledge": "build.knowledge.knowledge",
    "worst_pair": "build.knowledge.composite",
    "above": "build.knowledge.composite",
    "mistaken": "attacks.mistaken",
    "observed": "attacks.observed",
    "vector": "build.composition",
    "identify": "attacks.identification",
    "Identification": "attacks.identification",
    "choose": "choice.choice",
    "Choice": "choice.choice",
    "Choices": "choice.choice",
    "sweep": "choice.sweep",
    "Sweep": "choice.sweep",
    "compare": "choice.comparison",
    "Comparison": "choice.comparison",
    "compose": "build.composition",
    "group": "build.composition",
    "claim": "build.claimed",
    "Claim": "build.claimed",
    "from_dp": "build.claims",
    "from_gdp": "build.claims",
    "from_rdp": "build.claims",
    "from_zcdp": "build.claims",
    "clt": "build.limits",
    "dpsgd": "build.training",
    "subsample": "build.sampling",
    "scan": "data.scan.scan",
    "Scan": "data.scan.result",
    "correlate": "data.correlation.correlation",
    "Correlation": "data.correlation.correlation",
    "use_memory": "data.tables.memory",
    "init": "plan.start",
    "Start": "plan.start",
    "Ledger": "ledger.ledger",
    "release": "publish.release",
    "Published": "publish.published",
    "audit": "auditing.audit",
    "Audit": "auditing.result",
    "assess": "assessment.assessment",
    "Assessment": "assessment.assessment",
}

if TYPE_CHECKING:
    from . import bridges, notions
    from .assessment.assessment import Assessment, assess
    from .attacks.identification import Identification, identify
    from .attacks.mistaken import mistaken
    from .attacks.observed import observed
    from .auditing.audit import audit
    from .auditing.result import Audit
    from .build import correlated
    from .build.claimed import Claim, claim
    from .build.claims import from_dp, from_gdp, from_rdp, from_zcdp
    from .build.composition import compose, group, vector
    from .build.differencing import differencing, differencing_average, differencing_median
    from .build.discrete import (
        approximate,
        discrete_gaussian,
        finite,
        geometric,
        pure,
        randomized_response,
        skellam,
        staircase,
    )
    from .build.knowledge.composite import above, worst_pair
    from .build.knowledge.knowledge import Knowledge
    from .build.limits import clt
    from .build.local import count_mean_sketch, hadamard_response, rappor, unary
    from .build.matrix import banded, matrix, sqrt_prefix, tree
    from .build.mechanisms import gaussian, laplace
    from .build.mixtures import mixture
    from .build.sampling import subsample
    from .build.selection import (
        exponential,
        noisy_max,
        permute_and_flip,
        repeat_and_select,
        sparse_vector,
        top_k,
    )
    from .build.shuffle import shuffled
    from .build.tampering.detection import detect, detect_series, watch
    from .build.tampering.hiding import detected_bias, epsilon_to_detect, hidden_bias
    from .build.tampering.tampering import chernoff_bound, kl_bound, privacy_distortion, tampering
    from .build.training import dpsgd
    from .choice.choice import Choice, Choices, choose
    from .choice.comparison import Comparison, compare
    from .choice.sweep import Sweep, sweep
    from .data.correlation.correlation import Correlation, correlate
    from .data.scan.result import Scan
    from .data.scan.scan import scan
    from .data.tables.memory import use_memory
    from .errors import EpsilensError, InputError, MissingExtra, NoSolutionError
    from .experiment import Experiment
    from .ledger.ledger import Ledger
    from .plan.start import Start, init
    from .publish.published import Published
    from .publish.release import release

__all__ = [
    "Assessment",
    "Audit",
    "Choice",
    "Choices",
    "Claim",
    "Comparison",
    "Correlation",
    "EpsilensError",
    "Experiment",
    "Identification",
    "InputError",
    "Knowledge",
    "Ledger",
    "MissingExtra",
    "NoSolutionError",
    "Published",
    "Scan",
    "Start",
    "Sweep",
    "__version__",
    "above",
    "approximate",
    "assess",
    "audit",
    "banded",
    "bridges",
    "chernoff_bound",
    "choose",
    "claim",
    "clt",
    "compare",
    "compose",
    "correlate",
    "correlated",
    "count_mean_sketch",
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
    "hadamard_response",
    "hidden_bias",
    "identify",
    "init",
    "kl_bound",
    "laplace",
    "matrix",
    "mistaken",
    "mixture",
    "noisy_max",
    "notions",
    "observed",
    "permute_and_flip",
    "privacy_distortion",
    "pure",
    "randomized_response",
    "rappor",
    "release",
    "repeat_and_select",
    "scan",
    "shuffled",
    "skellam",
    "sparse_vector",
    "sqrt_prefix",
    "staircase",
    "subsample",
    "sweep",
    "tampering",
    "top_k",
    "tree",
    "unary",
    "use_memory",
    "vector",
    "watch",
    "worst_pair",
]


def __getattr__(name: str) -> Any:
    if name == "correlated":  # a namespace: correlated.normal, correlated.table, …
        globals()[name] = import_module(".build.correlated", __name__)
        return globals()[name]
    if name == "bridges":  # a namespace: bridges.from_pld, bridges.from_measurement, …
        return import_module(".bridges", __name__)
    if name == "notions":  # a namespace too: notions.dp, notions.convert, …
        return import_module(".notions", __name__)
    if name in _HOME:
        value = getattr(import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'epsilens' has no attribute {name!r}")


def _presenter() -> shown.Presenter:
    return cast(shown.Presenter, import_module(".show.presenters", __name__))


# Results stand below what shows them; this room knows both.
shown.present_with(_presenter)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
