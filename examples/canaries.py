"""One training with canaries: does this loop keep what its noise promises?

    python examples/canaries.py

A logistic regression is trained with Opacus. Half of the canaries, records with a feature of their own, take part; the
audit guesses which. The loss is a sum: with a mean Opacus divides by a batch size that tells the number of records.
Needs torch and opacus.
"""

from __future__ import annotations

import logging
import warnings

import torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset

import epsilens as el
from epsilens.auditing.canaries import Canaries
from epsilens.auditing.result import Audit


def train(
    dataset: torch.utils.data.Dataset, features: int, *, sigma: float, batches: int, epochs: int
) -> torch.nn.Module:
    """An ordinary private loop; a plain one with its own clipping and noise is audited in the same way."""
    module = torch.nn.Linear(features, 1, bias=False)
    torch.nn.init.zeros_(module.weight)
    size = -(-len(dataset) // batches)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, optimiser, loader = PrivacyEngine().make_private(
            module=module, optimizer=torch.optim.SGD(module.parameters(), lr=0.05),
            data_loader=DataLoader(dataset, batch_size=size), noise_multiplier=sigma, max_grad_norm=1.0,
            loss_reduction="sum",
        )  # fmt: skip
        for _ in range(epochs):
            for x, y in loader:
                optimiser.zero_grad()
                if len(x):
                    torch.nn.functional.softplus(-y * model(x)[:, 0]).sum().backward()
                    optimiser.step()
    return module


def main(m: int = 500, *, claimed: float | None = None, sigma: float = 2.0, seed: int = 1) -> Audit:
    """Trains once and audits; ``claimed`` is the noise the claim speaks of, if not the loop's own."""
    logging.getLogger("opacus").setLevel(logging.ERROR)
    torch.manual_seed(seed)
    plain, batches, epochs = 10, 4, 5
    features = plain + m
    x = torch.zeros(400, features)
    x[:, :plain] = torch.randn(400, plain) / 4
    y = torch.sign(x[:, 0] + 0.1 * torch.randn(400))
    own = torch.zeros(m, features)
    own[torch.arange(m), plain + torch.arange(m)] = 4.0
    records = TensorDataset(own, torch.ones(m))

    canaries = Canaries(m, seed=seed)
    model = train(canaries.insert(TensorDataset(x, y), records), features, sigma=sigma, batches=batches, epochs=epochs)
    scores = canaries.scores(model, records, lambda z, y: torch.nn.functional.softplus(-y * z[:, 0]))
    claim = el.dpsgd(sigma=sigma if claimed is None else claimed, rate=1 / batches, steps=batches * epochs)
    return canaries.audit(scores, claim=claim)


if __name__ == "__main__":
    print(main())  # noqa: T201
