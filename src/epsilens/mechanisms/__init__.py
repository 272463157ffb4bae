"""Mechanisms: noise, selection, local reports, sampling, training, composition, and bare claims, each an experiment."""

from __future__ import annotations

from ..namespaces import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
