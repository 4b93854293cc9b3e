"""How work on a GPU is timed: by events around each run, with a cold and clean L2, in turns.

Before each run a buffer four times the L2 is *read*, so that the cache holds none of the run's
bytes and nothing that must be written back: a flush that writes would leave its write-back to the
next kernel's account. Runs are queued well ahead of the device, so that no launch is timed.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from measure import Case, Implementation


class Device:
    """The current GPU, as a clock."""

    def __init__(self) -> None:
        if not torch.cuda.is_available():
            raise AssertionError("expected a GPU that PyTorch can use, got none")
        properties = torch.cuda.get_device_properties(0)
        self.name = properties.name
        self.l2_bytes = properties.L2_cache_size
        self._cold = torch.zeros(self.l2_bytes, dtype=torch.int32, device="cuda")
        self._sum = torch.zeros((), dtype=torch.int64, device="cuda")

    def flush(self) -> None:
        torch.sum(self._cold, dim=0, dtype=torch.int64, out=self._sum)

    def once(self, run: Callable[[], Any]) -> tuple[torch.cuda.Event, torch.cuda.Event]:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.flush()
        start.record()
        run()
        end.record()
        return start, end

    def turn(self, run: Callable[[], Any], count: int) -> list[float]:
        """The seconds of each of `count` runs."""
        events = [self.once(run) for _ in range(count)]
        torch.cuda.synchronize()
        return [start.elapsed_time(end) * 1e-3 for start, end in events]

    def time_in_turns(self, case: Case) -> dict[str, list[float]]:
        """The seconds of one run, by implementation: the medians of ten turns of ten runs. The
        implementations take each round's turns in random order, after a rest."""
        for one in case.implementations:  # loads code, fills caches, wakes the clocks
            self.turn(one.run, 3)
        samples: dict[str, list[float]] = {one.name: [] for one in case.implementations}
        for _ in range(10):
            for one in random.sample(case.implementations, len(case.implementations)):
                time.sleep(0.002)
                samples[one.name].append(statistics.median(self.turn(one.run, 10)))
        return samples


def fastest(device: Device, candidates: dict[str, Callable[[], Any]]) -> tuple[str, Callable]:
    """The candidate with the least median of two turns; the others are forgotten."""
    taken: dict[str, list[float]] = {name: [] for name in candidates}
    for run in candidates.values():
        device.turn(run, 2)
    for _ in range(2):
        for name, run in candidates.items():
            taken[name] += device.turn(run, 5)
    best = min(taken, key=lambda name: statistics.median(taken[name]))
    return best, candidates[best]


def implementation_of_fastest(
    device: Device, name: str, candidates: dict[str, Callable[[], Any]], **keywords: Any
) -> Implementation:
    best, run = fastest(device, candidates)
    return Implementation(f"{name} ({best})", run, **keywords)
