"""Opacus: a step is divided by the expected size of a batch, int(n·rate), which depends on the number of records n.

With batches of 4, five records are cut into two batches (rate ½, expected size 2) and four into one (rate 1, expected
size 4), so the noise of a step is twice as wide with the fifth record, whatever the gradients are. Where the loss is a
sum nothing is divided.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from ...mechanisms.noise import gaussian
from .case import Case, Library, Mechanism

OPACUS = Library("opacus", "opacus", ("opacus==1.6.0",))
_NOISE = 8.0


def _step(reduction: str) -> Callable[[int | None], Mechanism]:
    """The weight after one step of training on n records whose gradients are all zero."""

    def make(_seed: int | None) -> Mechanism:
        import torch
        from opacus import PrivacyEngine
        from torch.utils.data import DataLoader, TensorDataset

        told = logging.getLogger("opacus")

        def train(n: int) -> Any:
            level = told.level
            told.setLevel(logging.ERROR)  # it warns of an empty batch, which is an outcome like any other
            try:
                module = torch.nn.Linear(1, 1, bias=False)
                torch.nn.init.zeros_(module.weight)
                module, optimiser, loader = PrivacyEngine().make_private(
                    module=module, optimizer=torch.optim.SGD(module.parameters(), lr=1.0),
                    data_loader=DataLoader(TensorDataset(torch.zeros(n, 1)), batch_size=4),
                    noise_multiplier=_NOISE, max_grad_norm=1.0, loss_reduction=reduction,
                )  # fmt: skip
                (batch,) = next(iter(loader))
                answer = module(batch)
                (answer.sum() if reduction == "sum" else answer.mean()).backward()
                optimiser.step()
                return float(next(module.parameters()))
            finally:
                told.setLevel(level)

        return train

    return make


_PAIR = ("4 records", "5 records")
_CLAIMED = "noise 8, one step: ⅛-GDP"

CASES = (
    Case(
        "opacus-batch-size", "One step where every gradient is zero: its noise tells the number of records.", OPACUS,
        _CLAIMED, lambda: gaussian(psi=1 / _NOISE), _step("mean"), 4, 5, _PAIR, broken=True, twin="opacus-sum",
        runs=1000,
    ),
    Case(
        "opacus-sum", "The same step with loss_reduction='sum', which divides by nothing.", OPACUS, _CLAIMED,
        lambda: gaussian(psi=1 / _NOISE), _step("sum"), 4, 5, _PAIR, runs=1000,
    ),
)  # fmt: skip
