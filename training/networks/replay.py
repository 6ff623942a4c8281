"""A pool of traced samples on the device, learned from again and again: tracing takes far longer than learning."""

from __future__ import annotations

import random
from collections import deque

import torch
from torch import Tensor


class ReplayPool:
    """Batches on the device, from which others are drawn; the oldest give way to the newest.

    Args:
        capacity: most samples it holds.
        mixed: batches of which one drawn batch is mixed.
        seed: of the draws.

    """

    def __init__(self, capacity: int, mixed: int = 8, seed: int = 0) -> None:
        self._capacity, self._mixed = capacity, mixed
        self._blocks: deque[tuple[Tensor, ...]] = deque()
        self._held, self._added = 0, 0
        self._random = random.Random(seed)  # noqa: S311 - not for secrets

    def __len__(self) -> int:
        return self._held

    @property
    def added(self) -> int:
        """Samples taken in so far."""
        return self._added

    def add(self, batch: tuple[Tensor, ...]) -> None:
        """Take samples in, tensors of shape (n, ...) each; the oldest batches are dropped."""
        self._blocks.append(batch)
        self._held += len(batch[0])
        self._added += len(batch[0])
        while self._held > self._capacity and len(self._blocks) > 1:
            self._held -= len(self._blocks.popleft()[0])

    def draw(self, count: int) -> tuple[Tensor, ...]:
        """Return random samples, in equal parts from some of the batches."""
        each = max(count // self._mixed, 1)
        parts = []
        for _ in range(-(-count // each)):
            block = self._blocks[self._random.randrange(len(self._blocks))]
            rows = torch.randint(len(block[0]), (each,), device=block[0].device)
            parts.append([part.index_select(0, rows) for part in block])
        return tuple(torch.cat(columns)[:count] for columns in zip(*parts, strict=True))
