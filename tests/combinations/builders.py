"""Every builder at a few parameters, odd ones among them, as the code that builds it: smallest first."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import epsilens as el

_TABLE = "el.correlated.table([[.01, .49], [.49, .01]])"
_THREE = "el.correlated.table([[[.2, .1], [.05, .15]], [[.1, .1], [.1, .2]]], weights=[1, 2, 1])"
_CHAIN = "el.correlated.chain([2/3, 1/3], [[.9, .1], [.2, .8]], 4)"
_NORMAL = "el.correlated.normal([[1, .5, .2], [.5, 1, .3], [.2, .3, 1]])"
_COPIES = "[[.85, .15], [.15, .85]]"
_TREE = (
    f"el.correlated.tree([3, 3, 3, -1], [.5, .5], [{_COPIES}, {_COPIES}, {_COPIES}, None], "
    "values=[[0, 1]] * 3 + [[0, .2]])"
)

#: By the builder's public name.
BUILDERS: Mapping[str, tuple[str, ...]] = {
    "laplace": (
        "el.laplace(epsilon=1.)", "el.laplace(epsilon=1e-9)", "el.laplace(epsilon=30.)",
        "el.laplace(scale=2., sensitivity=3., shift=1.25, neighbours='replace')",
        "el.laplace(epsilon=1., stretch=1.5)", "el.laplace(epsilon=1., stretch=.5)",
    ),
    "gaussian": (
        "el.gaussian(sigma=1.)", "el.gaussian(psi=1e-8)", "el.gaussian(psi=20.)",
        "el.gaussian(sigma=2., sensitivity=3., neighbours='replace')", "el.gaussian(epsilon=.5, delta=1e-6)",
    ),
    "geometric": (
        "el.mechanisms.geometric(epsilon=1.)", "el.mechanisms.geometric(epsilon=.5, sensitivity=3, shift=2)",
        "el.mechanisms.geometric(epsilon=1e-8)",
        "el.mechanisms.geometric(scale=.25, sensitivity=5, neighbours='replace')",
    ),
    "discrete_gaussian": (
        "el.mechanisms.discrete_gaussian(sigma=1.)", "el.mechanisms.discrete_gaussian(sigma=.6, sensitivity=5)",
        "el.mechanisms.discrete_gaussian(sigma=30., sensitivity=2, shift=1, neighbours='replace')",
    ),
    "skellam": ("el.mechanisms.skellam(variance=4.)", "el.mechanisms.skellam(variance=.5, sensitivity=3)"),
    "staircase": (
        "el.mechanisms.staircase(epsilon=1.)", "el.mechanisms.staircase(epsilon=3., gamma=.3, sensitivity=2.)",
        "el.mechanisms.staircase(epsilon=.1, shift=.3)", "el.mechanisms.staircase(epsilon=1., neighbours='replace')",
    ),
    "randomized_response": (
        "el.mechanisms.randomized_response(epsilon=1.)", "el.mechanisms.randomized_response(epsilon=3., k=5)",
        "el.mechanisms.randomized_response(epsilon=1e-6)", "el.mechanisms.randomized_response(truth=.999)",
    ),
    "unary": ("el.mechanisms.unary(epsilon=1.)", "el.mechanisms.unary(epsilon=4., kind='symmetric')"),
    "hadamard_response": ("el.mechanisms.hadamard_response(epsilon=1.)", "el.mechanisms.hadamard_response(epsilon=6.)"),
    "count_mean_sketch": (
        "el.mechanisms.count_mean_sketch(epsilon=2.)",
        "el.mechanisms.count_mean_sketch(epsilon=2., collision=.1, hadamard=True)",
    ),
    "rappor": ("el.mechanisms.rappor(f=.5)", "el.mechanisms.rappor(f=.25, p=.35, q=.65, h=1, reports=5)",
    "el.mechanisms.rappor(f=.5, reports=None)"),
    "shuffled": (
        "el.mechanisms.shuffled(1., n=20)",
        "el.mechanisms.shuffled(el.mechanisms.randomized_response(epsilon=1.), n=20)",
        "el.mechanisms.shuffled(el.mechanisms.randomized_response(epsilon=2., k=3), n=50)",
        "el.mechanisms.shuffled(1., n=200, answers=10)",
    ),
    "exponential": (
        "el.mechanisms.exponential(epsilon=1.)", "el.mechanisms.exponential(epsilon=20., neighbours='replace')",
        "el.mechanisms.exponential(scores0=[1, 2, 3], scores1=[1, 2, 4], epsilon=1.)",
        "el.mechanisms.exponential(scores0=[0, 0], scores1=[1, 0], epsilon=1e-4, monotonic=True)",
    ),
    "noisy_max": (
        "el.mechanisms.noisy_max(epsilon=1.)", "el.mechanisms.noisy_max(scale=3., noise='gumbel', monotonic=True)",
        "el.mechanisms.noisy_max(epsilon=3., noise='exponential', sensitivity=.2)",
    ),
    "permute_and_flip": ("el.mechanisms.permute_and_flip(epsilon=1.)", "el.mechanisms.permute_and_flip(epsilon=1e-6)"),
    "top_k": ("el.mechanisms.top_k(epsilon=.5, k=2)", "el.mechanisms.top_k(epsilon=.5, k=5, by='permute-and-flip')"),
    "sparse_vector": (
        "el.mechanisms.sparse_vector(epsilon=1.)",
        "el.mechanisms.sparse_vector(threshold_scale=2., query_scale=4., above=2, sensitivity=.5)",
    ),
    "repeat_and_select": (
        "el.mechanisms.repeat_and_select(el.gaussian(sigma=4.), mean=10)",
        "el.mechanisms.repeat_and_select(el.mechanisms.pure(epsilon=.1), mean=2, eta=0)",
    ),
    "pure": ("el.mechanisms.pure(epsilon=1.)", "el.mechanisms.pure(epsilon=1e-9)",
    "el.mechanisms.pure(epsilon=50., neighbours='replace')"),
    "approximate": (
        "el.mechanisms.approximate(epsilon=1., delta=1e-5)", "el.mechanisms.approximate(epsilon=0., delta=.3)",
        "el.mechanisms.approximate(epsilon=1., delta=1e-200)",
    ),
    "finite": (
        "el.mechanisms.finite([.5, .5, 0.], [0., .6, .4])", "el.mechanisms.finite([.5, .3, .2], [.2, .1, .7])",
        "el.mechanisms.finite([1., 0.], [1 - 1e-9, 1e-9])",
    ),
    "from_dp": ("el.mechanisms.from_dp(1., 1e-5)", "el.mechanisms.from_dp([.5, 1., 2.], [1e-2, 1e-4, 1e-7])"),
    "from_gdp": ("el.mechanisms.from_gdp(1.)", "el.mechanisms.from_gdp(.01, neighbours='replace')"),
    "from_zcdp": ("el.mechanisms.from_zcdp(.1)", "el.mechanisms.from_zcdp(.1, .2)"),
    "from_rdp": ("el.mechanisms.from_rdp(2., .1)", "el.mechanisms.from_rdp([1.5, 2., 4., 16.], [.05, .1, .25, 1.2])"),
    "claim": ("el.claim(epsilon=2., delta=1e-5)", "el.claim(rho=.1)", "el.claim('apple-emojis')"),
    "mixture": (
        "el.mechanisms.mixture(shifts=[0, 1], weights=[.5, .5], sigma=1.)",
        "el.mechanisms.mixture(shifts=[0, 1, 2], weights=[.81, .18, .01], sigma=2.)",
    ),
    "matrix": (
        "el.mechanisms.matrix(el.mechanisms.sqrt_prefix(12), 1., 3, 3)",
        "el.mechanisms.matrix([[1., 0., 0.], [-.5, 1., 0.], [.2, -.5, 1.]], 1., 2)",
        "el.mechanisms.matrix(el.mechanisms.sqrt_prefix(100, 4), 2., rate=.01)",
    ),
    "tree": ("el.mechanisms.tree(16, 2., 2, 8)",),
    "banded": ("el.mechanisms.banded(sigma=2., rate=.01, bands=4, steps=100)",),
    "dpsgd": (
        "el.dpsgd(sigma=1., rate=.1, steps=1)", "el.dpsgd(sigma=1., rate=1, steps=4)",
        "el.dpsgd(sigma=1., rate=.01, steps=100)", "el.dpsgd(sigma=2., rate=.01, steps=20, neighbours='replace')",
        "el.dpsgd(sigma=2., rate=.01, steps=100, people=3)",
        "el.dpsgd(rate=.01, schedule={'sigma': [1., 2.], 'steps': [20, 30]})",
        "el.dpsgd(sigma=1., n=100, batch=10, epochs=2, batches='fixed')",
        "el.dpsgd(sigma=1., n=100, batch=10, epochs=2, batches='fixed', neighbours='replace')",
        "el.dpsgd(sigma=1., n=100, batch=10, steps=20, batches='truncated', truncation=15)",
        "el.dpsgd(sigma=1., n=100, batch=10, epochs=2, batches='shuffled')",
        "el.dpsgd(sigma=1., n=100, batch=10, epochs=1, batches='shuffled', neighbours='replace')",
        "el.dpsgd(n=30, batch=10, batches='shuffled', schedule={'sigma': [2., 1.], 'steps': [2, 2]})",
        "el.dpsgd(sigma=2., n=100, batch=10, steps=5, batches='with replacement')",
        "el.dpsgd(sigma=2., n=100, batch=10, steps=5, batches='with replacement', neighbours='replace')",
    ),
    "subsample": (
        "el.subsample(el.laplace(epsilon=1.), .5)", "el.subsample(el.laplace(epsilon=1.), .5, neighbours='replace')",
        "el.subsample(el.gaussian(psi=1.), .1, neighbours='replace')",
        "el.subsample(el.mechanisms.geometric(epsilon=2.), 1e-6)",
        "el.subsample(el.mechanisms.randomized_response(epsilon=1.), .3, neighbours='replace')",
        "el.subsample(el.mechanisms.from_gdp(1.), .1)", "el.subsample(el.mechanisms.exponential(epsilon=1.), .2)",
        "el.subsample(el.laplace(epsilon=5., neighbours='replace'), .5, neighbours='replace')",
    ),
    "group": (
        "el.group(el.gaussian(psi=.5), 3)", "el.group(el.mechanisms.geometric(epsilon=1.), 3)",
        "el.group(el.mechanisms.staircase(epsilon=1.), 2)",
        "el.group(el.mechanisms.from_zcdp(.02), 3)", "el.group(el.mechanisms.pure(epsilon=.5), 2)",
        "el.group(el.subsample(el.laplace(epsilon=.5), .1), 2)",
    ),
    "compose": (
        "el.compose(el.gaussian(psi=3.), el.gaussian(psi=4.))", "el.laplace(epsilon=.5).repeat(2)",
        "el.compose(el.laplace(epsilon=.5), el.gaussian(psi=.5))",
        "el.compose(el.mechanisms.from_dp(.5, 1e-6), el.mechanisms.from_gdp(.3))",
        "el.compose(el.mechanisms.geometric(epsilon=.5), el.laplace(epsilon=.5)).reverse()",
        "el.compose(el.dpsgd(sigma=2., rate=.01, steps=20), el.laplace(epsilon=.1))",
    ),
    "vector": (
        "el.mechanisms.vector(epsilon=1., q=3).experiment",
        "el.mechanisms.vector(epsilon=1., shifts=[.2, .3, .5]).experiment",
        "el.mechanisms.vector(psi=1., q=3, noise='gaussian').experiment",
        "el.mechanisms.vector(epsilon=1., q=40).experiment",
    ),
    "differencing": (
        "el.attacks.differencing(epsilon=1.)", "el.attacks.differencing(epsilon=1., known=True)",
        "el.attacks.differencing(epsilon=1., noise='geometric')",
        "el.attacks.differencing(epsilon=2., noise='geometric', split=.3)",
        "el.attacks.differencing(epsilon=1., noise='gaussian', delta=1e-6)",
        "el.attacks.differencing(epsilon=1., queries=4)",
        "el.attacks.differencing(epsilon=3., split=.2)",
    ),
    "differencing_average": (
        "el.attacks.differencing_average(epsilon=1., n=10, value=8., mean=4., bounds=(0, 10))",
        "el.attacks.differencing_average(epsilon=1., n=3, value=0., mean=1., bounds=(0, 10), known='narrow', "
        "clamp=False)",
    ),
    "differencing_median": (
        "el.attacks.differencing_median(epsilon=1., values=[1, 4, 6, 7, 9], target=8., bounds=(0, 10))",
    ),
    "tampering": ("el.attacks.tampering(epsilon=1., bias=-3.)", "el.attacks.tampering(sigma=2., bias=3., stretch=2.)"),
    "worst_pair": (
        "el.attacks.worst_pair([0, 1, 4], epsilon=1.).experiment",
        "el.attacks.worst_pair(['a', 'b', 'c'], channel=[[.7, .2, .1], [.1, .8, .1], [.3, .3, .4]]).experiment",
    ),
    "above": (
        "el.attacks.above(1, [.25] * 4, [0, 1, 2, 3], epsilon=1., sensitivity=3.).experiment",
        "el.attacks.above(1.5, [.25] * 4, [0, 1, 2, 7], noise='gaussian', sigma=1.).experiment",
    ),
    "correlated": (
        f"{_TABLE}.experiment(0, {{}}, scale=1.)", f"{_TABLE}.experiment(0, {{}}, sigma=1.)",
        f"{_THREE}.experiment(0, {{1: 1}}, scale=1.)", f"{_CHAIN}.experiment(1, scale=1.)",
        f"{_TREE}.experiment(0, {{1: 1}}, scale=1.)", f"{_NORMAL}.experiment(0, [1], scale=2.)",
        f"{_NORMAL}.experiment(0, [1, 2], sigma=2.)",
    ),
}  # fmt: skip

#: Noise that a group shifts k times as far: code with k for the reach, exact both ways.
SHIFTED: Mapping[str, tuple[str, ...]] = {
    "laplace": ("el.laplace(scale=1., sensitivity={k})", "el.laplace(scale=20., sensitivity=3. * {k})"),
    "gaussian": ("el.gaussian(sigma=1., sensitivity={k})", "el.gaussian(sigma=.1, sensitivity=.5 * {k})"),
    "geometric": ("el.mechanisms.geometric(scale=1., sensitivity={k})",
    "el.mechanisms.geometric(scale=9., sensitivity=4 * {k})"),
    "discrete_gaussian": (
        "el.mechanisms.discrete_gaussian(sigma=1., sensitivity={k})",
        "el.mechanisms.discrete_gaussian(sigma=7., sensitivity=2 * {k})",
    ),
    "skellam": ("el.mechanisms.skellam(variance=3., sensitivity={k})",),
    "vector": ("el.mechanisms.vector(psi=.5 * {k}, q=3, noise='gaussian').experiment",),
    "mixture": ("el.mechanisms.mixture(shifts=[1. * {k}], weights=[1.], sigma=2.)",),
}  # fmt: skip

#: Trainings whose schedule may be cut: {rows} is σ and steps.
SPLIT: Mapping[str, str] = {
    "poisson": "el.dpsgd(rate=.1, {rows})",
    "poisson, replaced": "el.dpsgd(rate=.1, neighbours='replace', {rows})",
    "a group": "el.dpsgd(rate=.1, people=3, {rows})",
    "fixed": "el.dpsgd(n=30, batch=3, batches='fixed', {rows})",
    "fixed, replaced": "el.dpsgd(n=30, batch=3, batches='fixed', neighbours='replace', {rows})",
    "truncated": "el.dpsgd(n=30, batch=3, batches='truncated', truncation=5, {rows})",
    "with replacement": "el.dpsgd(n=30, batch=3, batches='with replacement', {rows})",
    "shuffled": "el.dpsgd(n=30, batch=10, batches='shuffled', {rows})",
    "shuffled, replaced": "el.dpsgd(n=30, batch=10, batches='shuffled', neighbours='replace', {rows})",
}


@lru_cache(maxsize=512)
def build(code: str) -> el.Experiment:
    """The experiment that a line of code builds; a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made: Any = eval(code, {"el": el})
    if not isinstance(made, el.Experiment):
        raise TypeError(f"{code} is no experiment")
    return made
