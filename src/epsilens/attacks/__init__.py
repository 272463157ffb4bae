"""Attacks: differencing queries, what an adversary knows or gets wrong, tampering, identification, correlated "
"records."""

from __future__ import annotations

from ..namespaces import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
