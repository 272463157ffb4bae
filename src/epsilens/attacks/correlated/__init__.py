"""Correlated records (paper 004, corrected): what one noisy answer tells about one record when records depend on
each other, and the worst adversary over everything they might already know.
"""

from __future__ import annotations

from ...namespaces import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
