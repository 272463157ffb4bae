"""Data loaders of PyTorch: how they draw their batches, and what training over them tells.

A loader is read, not trusted to be what an accountant takes it for: Opacus's own loader draws Poisson samples, a plain
one cuts shuffled data into batches, one that does not shuffle shows everyone in the same batch of every epoch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from .. import checks
from ..errors import InputError, require, type_phrase
from ..experiment import Experiment
from ..laws.intersection import TwoSidedBound
from ..mechanisms.training import dpsgd

_WHY = "reading a data loader"


class Way(StrEnum):
    """How a loader draws its batches."""

    POISSON = "poisson"  # each record by its own coin
    SHUFFLED = "shuffled"  # one after the other from shuffled data
    WITH_REPLACEMENT = "with replacement"  # so many draws
    IN_ORDER = "in order"  # the same batches every epoch


@dataclass(frozen=True)
class Loop:
    """What a loader does: n records, ``batch`` at a time, ``passes`` batches an epoch.

    ``rate`` is the chance to be in a batch that coins draw; ``every`` says that an epoch shows every record, and leaves
    none out at its end.
    """

    way: Way
    n: int
    batch: int
    passes: int
    rate: float
    every: bool = True

    @property
    def warning(self) -> str:
        """What to say to those who expect Poisson samples; empty where these are."""
        if self.way is Way.POISSON:
            return ""
        words = {
            Way.SHUFFLED: "cuts shuffled data into batches, which are no Poisson samples",
            Way.WITH_REPLACEMENT: "draws batches with replacement, which are no Poisson samples",
            Way.IN_ORDER: "shows the same batches every epoch: nothing hides who is in which",
        }
        return (
            f"this loader {words[self.way]} (poisson_sampling=False), so a person shows far more than under Poisson "
            "sampling; the numbers here are of the loader as it is"
        )


def loop_of(loader: Any) -> Loop:
    """How a PyTorch ``DataLoader`` draws its batches, Opacus's own included; a sentence where that is not known."""
    coins = require("opacus.utils.uniform_sampler", _WHY)
    data = require("torch.utils.data", _WHY)
    if not isinstance(loader, data.DataLoader):
        raise InputError(f"loader is {type_phrase(loader)}: give a DataLoader of PyTorch or Opacus", parameter="loader")
    sampler, inner = loader.batch_sampler, None
    while type(sampler).__name__ == "BatchSplittingSampler":  # of Opacus's memory manager: the logical batch is inside
        sampler = sampler.sampler
    n = len(loader.dataset) if hasattr(loader.dataset, "__len__") else 0
    if isinstance(sampler, coins.UniformWithReplacementSampler | coins.DistributedUniformWithReplacementSampler):
        rate = float(sampler.sample_rate)
        return Loop(Way.POISSON, n, max(round(n * rate), 1), len(sampler), rate)
    if type(sampler) is data.BatchSampler and n:
        inner, batch = sampler.sampler, min(int(sampler.batch_size), n)
        left = n % batch if sampler.drop_last else 0
        passes = n // batch if sampler.drop_last else -(-n // batch)
        if type(inner) is data.RandomSampler and inner.num_samples == n and passes:
            way = Way.WITH_REPLACEMENT if inner.replacement else Way.SHUFFLED
            return Loop(way, n, batch, passes, batch / n, left == 0)
        if type(inner) is data.SequentialSampler and passes:
            return Loop(Way.IN_ORDER, n, batch, passes, batch / n, left == 0)
    named = type(sampler if inner is None else inner).__name__
    raise InputError(
        f"the loader draws its batches by a {named}, of which nothing is known here: use Opacus's Poisson sampling, a "
        "plain DataLoader, or say how batches are drawn by el.dpsgd(batches=…)",
        parameter="loader",
    )


def loaded(
    loader: Any,
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
    """
    loop = loop_of(loader)
    if (epochs is None) == (steps is None):
        raise InputError("training lasts so many epochs or so many steps: give one of them", parameter="epochs")
    if epochs is not None:
        length = float(checks.in_range("epochs", checks.scalar("epochs", epochs), 1e-9, 1e9))
        steps = math.ceil(length * loop.passes - 1e-9)
    return over(loop, [(sigma, loop.rate, checks.integer("steps", steps, low=1))], neighbours=neighbours, width=width)


def over(
    loop: Loop,
    rows: Sequence[tuple[float, float, int]],
    *,
    neighbours: str = "add-remove",
    width: float | None = None,
) -> Experiment:
    """Training in rows of (noise, share of the data in a step, steps) over a loader that draws its batches so.

    A share of several batches is that of gradients accumulated over these.
    """
    more: dict[str, Any] = {"neighbours": neighbours, "width": width}
    if loop.way is Way.POISSON:
        return dpsgd(
            **_said(sigma=[s for s, _, _ in rows], rate=[q for _, q, _ in rows], steps=[k for _, _, k in rows]), **more
        )
    joined = max(round(max(rate for _, rate, _ in rows) * loop.passes), 1)  # batches to a step
    if loop.way is Way.WITH_REPLACEMENT:
        size = min(loop.batch * joined, loop.n)
        drawn: dict[str, Any] = {"n": loop.n, "batch": size, "batches": str(loop.way)}
        return dpsgd(**_said(sigma=[s for s, _, _ in rows], steps=[k for _, _, k in rows]), **drawn, **more)
    passes = -(-loop.passes // joined)
    epochs = math.fsum(steps for _, _, steps in rows) / passes
    even = all(steps % passes == 0 for _, _, steps in rows)
    sure = loop.every and len({rate for _, rate, _ in rows}) == 1  # that everyone is in each epoch once
    if loop.way is Way.IN_ORDER:
        # everyone is in one known batch of each epoch: as if all were in one step of it
        noise = [s for s, _, _ in rows] if even else [min(s for s, _, _ in rows)]
        lasts = [steps // passes for _, _, steps in rows] if even else [math.ceil(epochs)]
        made = dpsgd(schedule={"sigma": noise, "steps": lasts}, rate=1.0, **more)
        return made if even and sure else replace(made, law=made.law.as_bound())
    people = loop.n if loop.every else loop.batch * loop.passes
    shuffled: dict[str, Any] = {"n": people, "batch": min(loop.batch * joined, people), "batches": "shuffled", **more}
    if sure:
        lasting = {"epochs": [k // passes for _, _, k in rows]} if even else {"steps": [k for _, _, k in rows]}
        return dpsgd(**_said(sigma=[s for s, _, _ in rows], **lasting), **shuffled)
    above = dpsgd(sigma=min(s for s, _, _ in rows), epochs=epochs, **shuffled)  # all of it at its least
    upper = above.law.laws if isinstance(above.law, TwoSidedBound) else (above.law,)
    return replace(above, law=TwoSidedBound(upper))


def _said(**columns: list[Any]) -> dict[str, Any]:
    """Numbers where there is one row, otherwise a schedule."""
    if all(len(column) == 1 for column in columns.values()):
        return {name: column[0] for name, column in columns.items()}
    return {"schedule": columns}
