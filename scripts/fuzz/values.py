"""Values of every kind, as the text of a Python expression, so that a failure can be typed again."""

from __future__ import annotations

import random
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

import epsilens as el
from epsilens.catalogue.parameters import PARAMETERS, Input

#: What the expressions may name.
NAMES: Mapping[str, Any] = {"el": el, "np": np, "pd": pd, "Decimal": Decimal, "Fraction": Fraction}

ODD = (
    "None", "True", "False", "''", "'x'", "'1'", "b'1'", "1j", "object()", "{}", "{'a': 1}", "[]", "()", "set()",
    "float('nan')", "float('inf')", "-float('inf')", "-1", "-1.0", "0", "0.0", "-0.0", "5e-324", "1e-300", "1e-100",
    "1e300", "1.7e308", "-1e300", "2**70", "-2**70", "10**400", "1e-17", "1 - 1e-16", "1 + 1e-15", "2.5", "1e16",
    "Decimal('0.5')", "Decimal('NaN')", "Fraction(1, 3)", "np.array(0.5)", "np.array('success')", "np.float32(0.5)",
    "np.int8(1)", "np.bool_(True)", "np.array([])", "np.array([[]])", "np.array([0.1, 0.2])", "np.ones((2, 2)) / 4",
    "np.ones((2, 0, 3))", "np.array([0.1, float('nan')])", "np.array(['a', 'b'])", "np.array([None, 1], dtype=object)",
    "np.ma.array([0.1, 0.2], mask=[0, 1])", "np.ma.masked", "np.datetime64('2020-01-01')", "pd.Series([0.1, 0.2])",
    "pd.NA", "pd.Timestamp('2020-01-01')", "pd.DataFrame({'a': [1]})", "[0.1, 'x']", "[[0.1, 0.2], [0.3]]",
    "[float('inf'), 1.0]", "range(3)", "iter([1, 2])", "lambda *a, **k: 1.0", "el",
    "el.laplace(epsilon=1.0)", "'x' * 10_000", "'55%'", "'1 of 0'", "['5%', 'x']",
    "'\\x00'", "'\\u202e'", "'\\ud800'", "'nan'",
    "[1] * 5", "[[[[1.0]]]]", "{1: 0.5, 2: 0.5}", "frozenset({1})", "memoryview(b'12')", "slice(3)", "...",
)  # fmt: skip
_EXPERIMENTS = (
    "el.laplace(epsilon=1.0)", "el.gaussian(psi=1.0)", "el.mechanisms.geometric(epsilon=0.5)",
    "el.mechanisms.pure(epsilon=2.0)",
    "el.mechanisms.randomized_response(epsilon=1.0)", "el.laplace(epsilon=1.0).repeat(3)",
    "el.mechanisms.finite([0.5, 0.5], [0.1, 0.9])",
    "el.gaussian(psi=0.2).repeat(100)", "el.laplace(epsilon=[0.1, 1.0])",
    "el.mechanisms.approximate(epsilon=1.0, delta=1e-5)",
    "el.dpsgd(sigma=1.0, rate=0.01, steps=10)", "el.mechanisms.discrete_gaussian(sigma=2.0)",
)  # fmt: skip
_PROBABILITIES = (
    "0.5", "0.1", "0.01", "1e-6", "1e-300", "0.999", "1 - 1e-12", "1.0", "0.0", "[0.1, 0.5]", "'10%'", "'1 of 20'",
    "['1%', 0.5]",
)  # fmt: skip
_NUMBERS = ("1.0", "0.5", "0.1", "2", "10.0", "1e-6", "1e-3", "30.0", "700.0", "[0.5, 2.0]")
_WHOLE = ("1", "2", "3", "10", "100", "1000")
#: Values that are right for parameters by these names.
_RIGHT: Mapping[str, tuple[str, ...]] = {
    "epsilon": ("1.0", "0.1", "1e-9", "5", "50.0", "700.0", "1e-12", "[0.1, 1.0, 3.0]"),
    "delta": ("1e-5", "1e-9", "0.0", "1e-300", "0.1", "'0.001%'"),
    "sigma": ("1.0", "0.3", "5.0", "100.0", "1e-3"),
    "mechanism": ("el.laplace", "el.gaussian", "el.mechanisms.pure", "el.mechanisms.geometric"),
    "parameter": ("'epsilon'", "'sigma'", "'scale'", "'psi'"),
    "reading": ("'success'", "'auc'", "'advantage'", "'delta'", "'epsilon'", "'renyi'", "'roc'", "'psi'", "'fbeta'"),
    "at_most": ("0.55", "0.6", "0.9", "1.0", "2.0", "1e-3"),
    "bounds": ("(0.0, 1.0)", "(-1, 5)", "(0, 0)", "(1, 0)"), "value_range": ("(0.0, 10.0)", "(3, 3)"),
    "against": _EXPERIMENTS, "name": ("'roc'", "'tradeoff'", "['roc', 'profile']", "'success'", "'rok'"),
    "experiment": _EXPERIMENTS, "experiments": _EXPERIMENTS, "e": _EXPERIMENTS, "law": _EXPERIMENTS,
    "values": ("[1.0, 2.0, 3.0]", "[0, 0, 1]", "[5]", "np.arange(20)"), "target": ("2.0", "0", "1"),
    "prior": ("0.5", "0.1", "1e-6", "[0.2, 0.8]", "{0: 0.5, 1: 0.5}"),
    "scores0": ("[0, 1, 2]", "[0.0]", "[1, 1]"), "scores1": ("[1, 1, 2]", "[1.0]", "[0, 2]"),
    "p0": ("[0.5, 0.5]", "[1.0]", "[0.2, 0.3, 0.5]"), "p1": ("[0.1, 0.9]", "[1.0]", "[0.3, 0.3, 0.4]"),
    "neighbours": ("'add-remove'", "'replace'"), "noise": ("'laplace'", "'gaussian'"),
    "shifts": ("[0, 1, 2]", "[0.0, 1.0]"), "weights": ("[0.81, 0.18, 0.01]", "[0.5, 0.5]"),
    "C": ("el.mechanisms.sqrt_prefix(4)", "np.eye(3)", "np.ones((2, 2))"), "given": ("{'sensitivity': 2.0}", "{}"),
    "channel": ("[[0.7, 0.3], [0.2, 0.8]]", "np.eye(2)"), "transition": ("[[0.9, 0.1], [0.2, 0.8]]",),
    "correlation": ("[[1, 0.5], [0.5, 1]]", "np.eye(3)"), "covariance": ("[[1, 0.5], [0.5, 1]]",),
    "width": ("None", "1e-3", "1e-2"), "steps": ("1", "2", "10", "100"), "rate": ("0.01", "0.5", "1.0", "1e-6", "'1%'"),
    "order": ("2.0", "1.5", "0.5", "32", "1e4"), "rho": ("0.1", "1.0", "1e-6"),
    "fpr": _PROBABILITIES, "recall": _PROBABILITIES, "baseline": _PROBABILITIES, "truth": _PROBABILITIES,
    "n": ("2", "5", "100", "1000"), "k": ("1", "2", "3", "10"), "leaves": ("1", "4", "16"), "bands": ("1", "3"),
}  # fmt: skip


def value(chance: random.Random, name: str, default: Any = None, odd: float = 0.3) -> str:
    """An expression for a parameter of this name: anything with probability ``odd``, else nearly right."""
    if chance.random() < odd:
        return chance.choice(ODD)
    if name in _RIGHT and chance.random() < 0.9:
        return chance.choice(_RIGHT[name])
    if isinstance(default, str | bool | int | float) and chance.random() < 0.5:
        return repr(default)
    known = PARAMETERS.get(name)
    if known is not None:
        if known.kind is Input.WORD and known.choices:
            return repr(chance.choice(list(known.choices)))
        if known.kind is Input.FLAG:
            return chance.choice(("True", "False"))
        if known.kind is Input.WHOLE:
            return chance.choice(_WHOLE)
        if known.kind is Input.PROBABILITY:
            return chance.choice(_PROBABILITIES)
    return chance.choice((*_NUMBERS, *_WHOLE, *_PROBABILITIES))


_TEXTS = (
    "1", "0.5", "0", "-1", "nan", "inf", "-inf", "1e400", "1e-400", "", " ", "x", "1,2,3", "1,", ",", "50%",
    "55 of 100",
    "0x10", "1_000", "٣", "½", "1" * 5000, "\x1b[31mred", "\u202eevil", "\ud800", "a\nb", "'; drop", "--help", "-",
    "--",
    "None", "true", "1e5", "0.55", "success=0.55", "success", "epsilon=1", "=", "laplace", "gaussian", "{}", "[]", "\0",
)  # fmt: skip


def text(chance: random.Random) -> str:
    """What somebody might type where a number or a word is asked for."""
    if chance.random() < 0.1:
        return "".join(chance.choice("0123456789.-+e,:=%[]{}'\"\\ \t\n\x00\x1b\u202eε½aZ") for _ in range(8))
    return chance.choice(_TEXTS)
