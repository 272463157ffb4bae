r"""Alone in the table, and alone in the population: what a sample says about the second.

Whoever finds in the population a person with a combination that one person of the table has alone, takes the one for
the other. The match is right with probability :math:`\theta = \sum_j 1(f_j=1) / \sum_j F_j 1(f_j=1)`, where of
the :math:`F_j` people with combination j the table holds :math:`f_j`. If everyone is in the table with probability
:math:`\pi`, independently, then

.. math:: \hat\theta = \frac{\pi n_1}{\pi n_1 + 2(1-\pi) n_2},

with :math:`n_k` combinations that k people of the table share, estimates it without any model of the population:
:math:`E[n_1] = \sum F\pi(1-\pi)^{F-1}` and :math:`2(1-\pi)E[n_2] = \pi\sum (F-1)F\pi(1-\pi)^{F-1}`
(Skinner and Elliot, A measure of disclosure risk for microdata, J. R. Statist. Soc. B 64, 2002, 855-867).
"""

from __future__ import annotations


def right_matches(fraction: float, alone: int, twice: int) -> float | None:
    """The share of matches with a person alone in the table that are right; None where nobody is alone.

    >>> right_matches(0.1, alone=90, twice=45)
    0.1
    >>> right_matches(1.0, alone=3, twice=5)
    1.0
    """
    if not alone:
        return None
    return fraction * alone / (fraction * alone + 2 * (1 - fraction) * twice)
