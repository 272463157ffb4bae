"""The packages next door, imported only when they are needed."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from ..errors import MissingExtra

__all__ = ["need"]

_EXTRAS = {"dp_accounting": "accounting", "opendp": "opendp", "opacus": "opacus"}


def need(module: str, purpose: str) -> ModuleType:
    """The module, or a sentence naming the extra that brings it.

    >>> need("dp_accounting.nothing_like_it", "reading an event")
    Traceback (most recent call last):
    epsilens.errors.MissingExtra: reading an event needs the package 'dp-accounting': install it with  pip install ...
    """
    package = module.split(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(package.replace("_", "-"), extra=_EXTRAS[package], purpose=purpose) from error
