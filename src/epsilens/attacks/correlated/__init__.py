"""Correlated records (paper 004, corrected): what one noisy answer tells about one record when records depend on
each other, and the worst adversary over everything they might already know.
"""

from __future__ import annotations

from .chains import Chain, chain
from .joint_normal.records import NormalRecords, normal
from .joint_table import table
from .over_time import Temporal, backward, forward, limit, temporal
from .risk import Contribution, Worst, worst_of
from .tables import Table
from .trees import Network, network, tree

__all__ = [
    "Chain", "Contribution", "Network", "NormalRecords", "Table", "Temporal", "Worst", "backward", "chain",
    "forward", "limit", "network", "normal", "table", "temporal", "tree", "worst_of",
]  # fmt: skip
