"""Many private trainings at once, by matrix products: a logistic regression with a canary, as a source of outcomes.

Each training runs DP-SGD on the same records; the canary is one more record with a feature of its own, and takes part
where the coin says so. The gradient of the loss log(1 + e^{−w·x}) of a record (signed by its label) is −s(−w·x)·x, s
the logistic function, so clipping it to norm C is the minimum of a number, min(s(−w·x), C/‖x‖), and a step of B
trainings is two products of matrices with B rows. The canary is long enough to be clipped always.

What is published is the trajectory: every noisy sum. Only the canary's own feature speaks of it: u = m + σZ, where m is
1 if the canary is in the batch. The attacker's score is the likelihood ratio Σ log(1 − q + q·e^{(2u−1)/2σ²}), which is
all that the worst case of such a training tells, so the bound found can come near the certified one. The second number
is the last weight alone.

Runs on numpy, or on torch where it is installed, on any of its devices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from epsilens import checks
from epsilens.auditing.sources import Bits
from epsilens.checks import Array
from epsilens.errors import InputError
from epsilens.experiment import Experiment
from epsilens.mechanisms.training import dpsgd

_CANARY_NORM = 8.0  # of the canary: |w·x| stays below 1, so its gradient stays beyond the clip
_LEARNING_RATE = 0.5
_CPU_CELLS = 4_000_000  # of a matrix held at a time on a processor
_CUDA_CELLS = 64_000_000


@dataclass
class CanaryTrainings:
    """A source of trainings: ``draw(bits)`` returns (score along the trajectory, last weight) of one training a bit.

    ``device`` is ``"numpy"``, or one of torch's: ``"cpu"``, ``"cuda"``.

    >>> few = CanaryTrainings(records=50, features=5, steps=4, seed=1)
    >>> few.draw(np.array([False, True, True])).shape
    (3, 2)
    >>> few.claim
    dpsgd(sigma=1, rate=0.1, steps=4)
    """

    records: int = 1000
    features: int = 100
    steps: int = 100
    rate: float = 0.1
    sigma: float = 1.0
    device: str = "numpy"
    seed: int | None = None
    _rng: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.records = checks.integer("records", self.records, low=2)
        self.features = checks.integer("features", self.features, low=2)
        self.steps = checks.integer("steps", self.steps, low=1)
        self.rate = float(checks.probability("rate", checks.scalar("rate", self.rate), closed=False))
        self.sigma = float(checks.positive("sigma", checks.scalar("sigma", self.sigma)))
        if not isinstance(self.device, str):
            raise InputError('device is no word: give "numpy", "cpu" or "cuda"', parameter="device")
        self._rng = np.random.default_rng(self.seed) if self.device == "numpy" else None

    width = 1  # trainings are independent of each other

    @property
    def claim(self) -> Experiment:
        """What is certified of such a training: the canary added or removed."""
        return dpsgd(sigma=self.sigma, rate=self.rate, steps=self.steps)

    @cached_property
    def table(self) -> tuple[Array, Array]:
        """The records, signed by their labels, the canary last; and the largest weight of each in a clipped sum."""
        rng = np.random.default_rng([0x63616E61, 0 if self.seed is None else self.seed])
        truth = rng.normal(size=self.features - 1)
        x = rng.normal(size=(self.records, self.features - 1)) / math.sqrt(self.features)
        labels = np.where(rng.random(self.records) < 1 / (1 + np.exp(-x @ truth)), 1.0, -1.0)
        rows = np.zeros((self.records, self.features))
        rows[:, :-1] = labels[:, None] * x
        rows[-1] = 0.0
        rows[-1, -1] = _CANARY_NORM
        return rows.astype(np.float32), (1 / np.linalg.norm(rows, axis=1)).astype(np.float32)

    def draw(self, bits: Bits) -> Array:
        """As many trainings as bits, in as many parts as fit into memory."""
        cells = _CUDA_CELLS if self.device.startswith("cuda") else _CPU_CELLS
        most = max(1, cells // self.records)
        step = self._numpy if self.device == "numpy" else self._torch
        parts = [step(bits[at : at + most]) for at in range(0, bits.size, most)]
        return np.concatenate(parts) if parts else np.zeros((0, 2))

    def _numpy(self, bits: Bits) -> Array:
        rows, clip = self.table
        rng, count = self._rng, bits.size
        weights = np.zeros((count, self.features), dtype=np.float32)
        score = np.zeros(count)
        rate, pace = np.float32(self.rate), np.float32(_LEARNING_RATE / (self.rate * self.records))
        for _ in range(self.steps):
            part = weights @ rows.T
            np.exp(part, out=part)
            part += 1.0
            np.reciprocal(part, out=part)
            np.minimum(part, clip, out=part)
            part *= rng.random(part.shape, dtype=np.float32) < rate
            part[:, -1] *= bits
            noisy = part @ rows
            noisy += np.float32(self.sigma) * rng.standard_normal(noisy.shape, dtype=np.float32)
            score += self._told(noisy[:, -1].astype(float), np.log1p, np.expm1)
            weights += pace * noisy
        return np.column_stack((score, weights[:, -1].astype(float)))

    def _torch(self, bits: Bits) -> Array:
        torch = self._loaded()
        with torch.no_grad():
            rows, clip = (torch.as_tensor(part, device=self.device) for part in self.table)
            inside = torch.as_tensor(bits, device=self.device, dtype=rows.dtype)
            weights = torch.zeros((bits.size, self.features), device=self.device)
            score = torch.zeros(bits.size, device=self.device)
            part = torch.empty((bits.size, self.records), device=self.device)
            coins = torch.empty_like(part)
            pace = _LEARNING_RATE / (self.rate * self.records)
            for _ in range(self.steps):
                torch.matmul(weights, -rows.T, out=part)
                torch.minimum(part.sigmoid_(), clip, out=part)
                part.mul_(coins.uniform_(generator=self._rng).lt_(self.rate))
                part[:, -1].mul_(inside)
                noisy = part @ rows
                noisy += self.sigma * torch.randn(noisy.shape, device=self.device, generator=self._rng)
                score += self._told(noisy[:, -1], torch.log1p, torch.expm1)
                weights.add_(noisy, alpha=pace)
            return np.asarray(torch.stack((score, weights[:, -1]), dim=1).cpu().numpy(), dtype=float)

    def _told(self, u: Any, log1p: Any, expm1: Any) -> Any:
        """log(1 − q + q·e^{(2u−1)/2σ²}): what a step says for the canary."""
        return log1p(self.rate * expm1((2 * u - 1) / (2 * self.sigma**2)))

    def _loaded(self) -> Any:
        """torch, and its generator on the device."""
        try:
            import torch
        except ImportError:
            raise InputError(
                f"device is {self.device!r} and torch is not installed: install it with  pip install torch, or give "
                '"numpy"',
                parameter="device",
            ) from None
        if self._rng is None:
            try:
                self._rng = torch.Generator(device=self.device)
            except RuntimeError:
                raise InputError(
                    f'device is {self.device[:40]!r}, which torch does not have here: give "cpu" or "numpy"',
                    parameter="device",
                ) from None
            if self.seed is not None:
                self._rng.manual_seed(self.seed)
        return torch
