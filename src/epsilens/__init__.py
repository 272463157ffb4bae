"""epsilens: see ε through the adversary's eyes.

>>> import epsilens as el
>>> el.laplace(epsilon=1.0).success()   # an attacker guesses right 70 times of 100; a coin gets 50
0.69673467014368...
>>> el.choose(el.laplace, "epsilon", at_most=0.55, reading="success").value
0.21072103131565...
"""

from __future__ import annotations

from importlib import import_module
from typing import cast

from .namespaces import attach_stub
from .results import Presenter, set_presenter

__version__ = "0.2.0"
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
__all__ = ["__version__", *__all__]


def _presenter() -> Presenter:
    return cast(Presenter, import_module(".show.presenters", __name__))


# Results stand below what shows them; this package knows both.
set_presenter(_presenter)
