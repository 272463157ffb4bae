"""The cut-off of the best test on the answer itself (paper 000, Theorem 3 and Eq. 14).

For one number with Laplace or Gaussian noise the likelihood ratio grows towards the answer of H1, so the best test at a
false-alarm rate α calls H1 where the answer lies beyond the upper α-quantile of the noise, seen from the answer of H0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import ndtri

from ..checks import Array
from ..errors import InputError


def threshold(origin: str, parameters: Mapping[str, Any], alpha: Array) -> Array:
    """Laplace: −b·log(2α) for α ≤ ½ and b·log(2(1−α)) above; Gaussian: −σ·Φ⁻¹(α)."""
    if origin == "laplace" and np.all(np.asarray(parameters.get("stretch", 1.0)) == 1):
        low = np.minimum(alpha, 0.5)
        with np.errstate(divide="ignore"):
            cut = np.where(alpha <= 0.5, -np.log(2 * low), np.log(2 * (1 - np.maximum(alpha, 0.5))))
        return np.asarray(np.asarray(parameters["scale"]) * cut)
    if origin == "gaussian" and np.all(np.asarray(parameters.get("stretch", 1.0)) == 1):
        return np.asarray(-np.asarray(parameters["sigma"]) * ndtri(alpha))
    raise InputError(
        f"threshold is asked of {origin}: only one number with Laplace or Gaussian noise has a single cut-off; "
        "read recall or roc for the others",
        parameter="threshold",
    )
