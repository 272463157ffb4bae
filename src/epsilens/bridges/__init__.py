"""In and out of the field's own tools: claims (ε, δ), RDP, zCDP, GDP; dp-accounting, OpenDP, Opacus.

Names are loaded on first use, and the packages they speak to only when one is called.
"""

from __future__ import annotations

from ..namespaces import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
