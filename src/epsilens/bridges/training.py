"""Opacus: an accountant that plugs into its ``PrivacyEngine`` and says what an attacker learns from the training.

Opacus finds accountants by name::

    engine = PrivacyEngine(accountant=epsilens.bridges.opacus_accountant())
    …train…
    engine.get_epsilon(delta=1e-5)
    engine.accountant.risk("success")          # how often an attacker guesses right who was in the training data
    print(engine.accountant.report())

``make_private_with_epsilon`` finds its noise through it too. A person is added or removed. Other accountants of Opacus
take all batches to be Poisson samples; this one is told by the engine which loader it trains on, warns where that draws
them otherwise (``poisson_sampling=False``), and counts them as they are drawn.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any

from .. import checks
from ..catalogue.readings import find_reading
from ..errors import InputError, require, type_phrase
from ..experiment import Experiment
from ..laws.product import TwoSidedBound
from ..mechanisms.discrete import approximate, pure
from ..mechanisms.training import dpsgd
from ..results import Result, presenter

if TYPE_CHECKING:
    from opacus import PrivacyEngine
    from opacus.accountants import IAccountant
    from torch.utils.data import DataLoader

# A data loader is read, not trusted to be what an accountant takes it for: Opacus's own draws Poisson samples, a plain
# one cuts shuffled data into batches, one that does not shuffle shows everyone in the same batch of every epoch.

_WHY = "reading a data loader"


class BatchOrder(StrEnum):
    """How a loader draws its batches."""

    POISSON = "poisson"  # each record by its own coin
    SHUFFLED = "shuffled"  # one after the other from shuffled data
    WITH_REPLACEMENT = "with replacement"  # so many draws
    IN_ORDER = "in order"  # the same batches every epoch


@dataclass(frozen=True)
class LoaderDraws:
    """What a loader does: n records, ``batch`` at a time, ``passes`` batches an epoch.

    ``rate`` is the chance to be in a batch that coins draw; ``every`` says that an epoch shows every record, and leaves
    none out at its end.
    """

    way: BatchOrder
    n: int
    batch: int
    passes: int
    rate: float
    every: bool = True

    @property
    def warning(self) -> str:
        """What to say to those who expect Poisson samples; empty where these are."""
        if self.way is BatchOrder.POISSON:
            return ""
        words = {
            BatchOrder.SHUFFLED: "cuts shuffled data into batches, which are no Poisson samples",
            BatchOrder.WITH_REPLACEMENT: "draws batches with replacement, which are no Poisson samples",
            BatchOrder.IN_ORDER: "shows the same batches every epoch: nothing hides who is in which",
        }
        return (
            f"this loader {words[self.way]} (poisson_sampling=False), so a person shows far more than under Poisson "
            "sampling; the numbers here are of the loader as it is"
        )


def loader_draws(loader: DataLoader[object]) -> LoaderDraws:
    """How a PyTorch ``DataLoader`` draws its batches, Opacus's own included; a sentence where that is not known."""
    coins = require("opacus.utils.uniform_sampler", _WHY)
    data = require("torch.utils.data", _WHY)
    if not isinstance(loader, data.DataLoader):
        raise InputError(f"loader is {type_phrase(loader)}: give a DataLoader of PyTorch or Opacus", "loader")
    sampler, inner = loader.batch_sampler, None
    while type(sampler).__name__ == "BatchSplittingSampler":  # of Opacus's memory manager: the logical batch is inside
        sampler = sampler.sampler
    n = len(loader.dataset) if hasattr(loader.dataset, "__len__") else 0
    if isinstance(sampler, coins.UniformWithReplacementSampler | coins.DistributedUniformWithReplacementSampler):
        rate = float(sampler.sample_rate)
        return LoaderDraws(BatchOrder.POISSON, n, max(round(n * rate), 1), len(sampler), rate)
    if type(sampler) is data.BatchSampler and n:
        inner, batch = sampler.sampler, min(int(sampler.batch_size), n)
        left = n % batch if sampler.drop_last else 0
        passes = n // batch if sampler.drop_last else -(-n // batch)
        if type(inner) is data.RandomSampler and inner.num_samples == n and passes:
            way = BatchOrder.WITH_REPLACEMENT if inner.replacement else BatchOrder.SHUFFLED
            return LoaderDraws(way, n, batch, passes, batch / n, left == 0)
        if type(inner) is data.SequentialSampler and passes:
            return LoaderDraws(BatchOrder.IN_ORDER, n, batch, passes, batch / n, left == 0)
    named = type(sampler if inner is None else inner).__name__
    raise InputError(
        f"the loader draws its batches by a {named}, of which nothing is known here: use Opacus's Poisson sampling, a "
        "plain DataLoader, or say how batches are drawn by el.dpsgd(batches=…)",
        "loader",
    )


def loaded(
    loader: DataLoader[object],
    *,
    sigma: float,
    epochs: float | None = None,
    steps: int | None = None,
    neighbours: str = "add-remove",
    width: float | None = None,
) -> Experiment:
    """What training over this data loader tells about one person, with noise ``sigma`` times the clipping norm.

    Say how long by ``epochs`` or by ``steps``. Where the loader is Opacus's own it is DP-SGD with Poisson sampling;
    where it shuffles, both ends of what is known of shuffled batches.

    Parameters
    ----------
    loader : DataLoader
        The training's data loader.
    sigma : float
        Noise over the clipping norm, > 0.
    epochs : float, optional
        Passes over the data; or `steps`.
    steps : int, optional
        How many steps there are.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.
    width : float, optional
        Relative width asked of each reading's bracket; 0.001 unless given.

    Returns
    -------
    Experiment
        A pair that dominates the training.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.
    """
    loop = loader_draws(loader)
    if (epochs is None) == (steps is None):
        raise InputError("training lasts so many epochs or so many steps: give one of them", "epochs")
    if epochs is not None:
        length = float(checks.in_range("epochs", checks.scalar("epochs", epochs), 1e-9, 1e9))
        steps = math.ceil(length * loop.passes - 1e-9)
    return loader_training(
        loop, [(sigma, loop.rate, checks.integer("steps", steps, low=1))], neighbours=neighbours, width=width
    )


def loader_training(
    loop: LoaderDraws,
    rows: Sequence[tuple[float, float, int]],
    *,
    neighbours: str = "add-remove",
    width: float | None = None,
) -> Experiment:
    """Training in rows of (noise, share of the data in a step, steps) over a loader that draws its batches so.

    A share of several batches is that of gradients accumulated over these.
    """
    more: dict[str, Any] = {"neighbours": neighbours, "width": width}
    sigmas, rates, lasts = ([row[k] for row in rows] for k in range(3))
    if loop.way is BatchOrder.POISSON:
        return dpsgd(**_row_arguments(sigma=sigmas, rate=rates, steps=lasts), **more)
    joined = max(round(max(rates) * loop.passes), 1)  # batches to a step
    if loop.way is BatchOrder.WITH_REPLACEMENT:
        drawn: dict[str, Any] = {"n": loop.n, "batch": min(loop.batch * joined, loop.n), "batches": str(loop.way)}
        return dpsgd(**_row_arguments(sigma=sigmas, steps=lasts), **drawn, **more)
    passes = -(-loop.passes // joined)
    epochs = math.fsum(lasts) / passes
    even = all(steps % passes == 0 for steps in lasts)
    sure = loop.every and len(set(rates)) == 1  # that everyone is in each epoch once
    if loop.way is BatchOrder.IN_ORDER:
        # everyone is in one known batch of each epoch: as if all were in one step of it
        noise = sigmas if even else [min(sigmas)]
        made = dpsgd(
            schedule={"sigma": noise, "steps": [k // passes for k in lasts] if even else [math.ceil(epochs)]},
            rate=1.0,
            **more,
        )
        return made if even and sure else replace(made, law=made.law.as_bound())
    people = loop.n if loop.every else loop.batch * loop.passes
    shuffled: dict[str, Any] = {"n": people, "batch": min(loop.batch * joined, people), "batches": "shuffled", **more}
    if sure:
        lasting = {"epochs": [k // passes for k in lasts]} if even else {"steps": lasts}
        return dpsgd(**_row_arguments(sigma=sigmas, **lasting), **shuffled)
    above = dpsgd(sigma=min(sigmas), epochs=epochs, **shuffled)  # all of it at its least
    upper = above.law.laws if isinstance(above.law, TwoSidedBound) else (above.law,)
    return replace(above, law=TwoSidedBound(upper))


def _row_arguments(**columns: Sequence[float]) -> dict[str, Any]:
    """Numbers where there is one row, otherwise a schedule."""
    if all(len(column) == 1 for column in columns.values()):
        return {name: column[0] for name, column in columns.items()}
    return {"schedule": columns}


NAME = "epsilens"
_LEAST_NOISE, _MOST_NOISE, _LEAST_RATE = 1e-2, 1e12, 1e-12

#: One row of an accountant's history: noise multiplier, sample rate, steps.
Row = tuple[float, float, int]


def trained(
    history: Iterable[Row] | PrivacyEngine | IAccountant,
    *,
    loader: DataLoader[object] | LoaderDraws | None = None,
    width: float | None = None,
) -> Experiment:
    """What is learned about one person from training with this history of (noise multiplier, sample rate, steps).

    ``history`` may also be Opacus's ``PrivacyEngine`` or its accountant, whose history it is then. Batches are Poisson
    samples unless a data ``loader`` says how they are drawn; our own accountant was told by its engine.

    Parameters
    ----------
    history : iterable of (float, float, int), PrivacyEngine or accountant
        Noise multiplier, sample rate and steps of each part.
    loader : DataLoader, optional
        How batches were drawn; Poisson unless given.
    width : float, optional
        Relative width asked of each reading's bracket; 0.001 unless given.

    Returns
    -------
    Experiment
        A pair that dominates the training.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> round(trained([(1.0, 0.01, 1000)]).epsilon(1e-5), 2)
    1.83
    """
    accountant: Any = getattr(history, "accountant", history)
    if loader is None and hasattr(accountant, "reads"):  # ours
        made: Experiment = accountant.experiment(width=width)
        return made
    history = getattr(accountant, "history", accountant)
    if not isinstance(history, Iterable) or isinstance(history, str):
        raise InputError(
            f"history is {history!r:.40}: give rows of (noise multiplier, sample rate, steps), or Opacus's engine or "
            "accountant",
            "history",
        )
    rows = [_history_row(row) for row in history]
    rows = [row for row in rows if row[1] > 0 and row[2] > 0]
    if not rows:
        return pure(epsilon=0.0)
    if any(sigma < _LEAST_NOISE for sigma, _, _ in rows):  # noise of a hundredth of the norm hides nothing
        return approximate(epsilon=0.0, delta=1.0)
    if loader is not None:
        return loader_training(loader if isinstance(loader, LoaderDraws) else loader_draws(loader), rows, width=width)
    sigma, rate, steps = (list(column) for column in zip(*rows, strict=True))
    return dpsgd(**_row_arguments(sigma=sigma, rate=rate, steps=steps), width=width)


def _history_row(row: Row) -> Row:
    try:
        sigma, rate, steps = row
    except (TypeError, ValueError):
        raise InputError(f"the history has the row {row!r}: give (noise multiplier, sample rate, steps)") from None
    noise = float(checks.at_least("noise_multiplier", checks.scalar("noise_multiplier", sigma), 0.0))
    share = float(checks.at_least("sample_rate", checks.scalar("sample_rate", rate), 0.0))
    # accumulated batches can add up to more than everyone; too rare a draw is rounded up
    share = min(max(share, _LEAST_RATE), 1.0) if share else 0.0
    return min(noise, _MOST_NOISE), share, checks.integer("steps", steps, low=0)


def opacus_accountant() -> str:
    """Make the accountant known to Opacus, and return the name by which ``PrivacyEngine`` finds it.

    The class is :func:`accountant_class`; calling this twice does no harm. From then on ``PrivacyEngine`` also tells
    such an accountant which data loader it prepared.

    Returns
    -------
    str
        The accountant's name.

    Raises
    ------
    MissingExtra
        If Opacus is not installed.
    """
    registry = require("opacus.accountants.registry", "an accountant for Opacus")
    registry.register_accountant(NAME, accountant_class(), force=True)
    _hook_loader(require("opacus", "an accountant for Opacus").PrivacyEngine)
    return NAME


def _hook_loader(engine: type[PrivacyEngine]) -> None:
    """Let an engine's accountant of ours see the loader, which Opacus itself shows to none."""
    prepare = engine._prepare_data_loader
    if hasattr(prepare, "__wrapped__"):
        return

    @wraps(prepare)
    def prepared(self: PrivacyEngine, *given: object, **options: object) -> DataLoader[object]:
        loader = prepare(self, *given, **options)
        if isinstance(self.accountant, accountant_class()):
            self.accountant.reads(loader)
        return loader

    engine._prepare_data_loader = prepared


@lru_cache(maxsize=1)
def accountant_class() -> type[IAccountant]:
    """The accountant: a subclass of Opacus's ``IAccountant``, made when Opacus is first needed."""
    base: Any = require("opacus.accountants", "an accountant for Opacus").IAccountant

    class Accountant(base):  # type: ignore[misc]
        """Counts the steps of a training and reads the risk from their certified composition."""

        def __init__(self) -> None:
            self.history: list[Row] = []
            self.loop: LoaderDraws | None = None  # how batches are drawn, once a loader was read
            self._refused = ""
            self._known: tuple[object, Experiment] | None = None

        def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
            """One optimisation step; equal steps in a row are kept as one row."""
            if self.history and self.history[-1][:2] == (noise_multiplier, sample_rate):
                sigma, rate, steps = self.history[-1]
                self.history[-1] = (sigma, rate, steps + 1)
            else:
                self.history.append((noise_multiplier, sample_rate, 1))

        def reads(self, loader: DataLoader[object]) -> None:
            """See how a loader draws its batches, and warn where these are not Poisson samples."""
            try:
                loop, self._refused = loader_draws(loader), ""
            except InputError as error:
                warnings.warn(str(error), stacklevel=2)
                self._refused = str(error)
                return
            if self.history and self.loop not in (None, loop):
                self._refused = "two loaders were trained on with one accountant: use an engine for each, then compose"
            self.loop = loop
            if loop.warning:
                warnings.warn(loop.warning, stacklevel=2)

        def experiment(self, *, width: float | None = None) -> Experiment:
            """What is learned about one person from the steps so far."""
            if self._refused and self.history:
                raise InputError(self._refused, "loader")
            key = (width, self.loop, tuple(map(tuple, self.history)))
            if self._known is None or self._known[0] != key:
                other = self.loop if self.loop is not None and self.loop.way is not BatchOrder.POISSON else None
                self._known = (key, trained(self.history, loader=other, width=width))
            return self._known[1]

        def state_dict(self, destination: object = None) -> dict[str, object]:
            """What Opacus stores, and how batches are drawn."""
            told: dict[str, object] = super().state_dict(destination)
            told["loop"] = None if self.loop is None else asdict(self.loop)
            return told

        def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
            """As Opacus does; how batches are drawn too, where it is told."""
            super().load_state_dict(state_dict)
            told = state_dict.get("loop")
            if told is not None:
                self.loop = LoaderDraws(**{**told, "way": BatchOrder(told["way"])})

        def get_epsilon(self, delta: float, *, width: float | None = None, **_: object) -> float:
            """The privacy loss so far at this δ, never understated."""
            return float(self.experiment(width=width).epsilon(delta))

        def risk(self, reading: str = "success", **arguments: object) -> float:
            """A reading of the steps so far, by name: success, advantage, roc (with fpr), …"""
            wanted = find_reading(reading)
            return float(getattr(self.experiment(), wanted.name)(**wanted.arguments(arguments)))

        def report(self, **arguments: float) -> Result:
            """The sentence and the table: what an attacker learns from the training so far."""
            return presenter().explained(self.experiment(), **arguments)

        def __len__(self) -> int:
            return sum(steps for _, _, steps in self.history)

        @classmethod
        def mechanism(cls) -> str:
            """The name under which Opacus stores and finds it."""
            return NAME

    return Accountant
