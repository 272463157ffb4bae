"""Several answers observed together: the product of their experiments.

Exact where a closed form exists (normals, equal Laplaces); otherwise the safe sum of ε, whose worst case bounds every
release with that total. The experiment says which in its notes.
"""

from __future__ import annotations

import numpy as np

from .build.discrete import pure
from .errors import InputError
from .experiment import Experiment
from .laws.laplace import Laplace
from .laws.laplace_product import laplace_product
from .laws.normal import Normal
from .readings.law import Law

__all__ = ["compose"]

_MOST_EXACT = 8  # equal Laplaces; beyond, the exact product takes seconds


def compose(*experiments: Experiment) -> Experiment:
    """What an adversary learns who sees all the answers.

    >>> import epsilens as el
    >>> compose(el.gaussian(psi=3.0), el.gaussian(psi=4.0)).psi()
    5.0
    >>> round(compose(el.laplace(epsilon=1.0), el.laplace(epsilon=1.0)).advantage(), 6)  # 1 − 3/(2e)
    0.448181
    """
    if not experiments or not all(isinstance(e, Experiment) for e in experiments):
        raise InputError("compose needs one experiment or more: give what laplace, gaussian and the like return")
    laws = [e.law for e in experiments]
    first = experiments[0]
    if len(laws) == 1:
        return first
    if all(isinstance(law, Normal) for law in laws):
        mu = np.sqrt(sum(np.asarray(law.mu) ** 2 for law in laws if isinstance(law, Normal)))
        return _joint(Normal(np.asarray(mu)), experiments, "normal noise composes to normal noise: exact")
    shifts = {float(law.m) for law in laws if isinstance(law, Laplace) and np.ndim(law.m) == 0}
    alike = len(shifts) == 1 and all(isinstance(law, Laplace) for law in laws)
    if alike and 0 < len(laws) <= _MOST_EXACT and (m := shifts.pop()) > 0:
        law: Law = laplace_product(m, len(laws))
        return _joint(law, experiments, f"{len(laws)} equal Laplace answers compose in closed form: exact")
    total = float(sum(e.epsilon() for e in experiments))
    if not np.isfinite(total):
        raise InputError("these experiments do not compose in closed form and have no finite epsilon to add up")
    safe = pure(epsilon=total)
    note = f"their losses add up to at most ε = {total:.4g}; this is the worst case of that sum, an upper bound"
    return _joint(safe.law, experiments, note)


def _joint(law: Law, experiments: tuple[Experiment, ...], note: str) -> Experiment:
    first = experiments[0]
    return Experiment(law, "composition", {"parts": len(experiments)}, first.h0, first.h1, (note,))
