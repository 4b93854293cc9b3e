"""Timing on a GPU whose clock depends on the power that it drew before.

The order of measurements would decide who wins, so implementations alternate (A B A B), in two
regimes: in *bursts* of a few launches, each after a rest in which the chip cools down and its clock
comes back, and *sustained*, a second of each in turn. Times are the device's own, between events.

Nothing is flushed: a case says how its arrays compare with the second-level cache.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch
from measure import Report

LAUNCHES = 10  # in a burst; at most 20, beyond which the clock falls
REST = 0.3  # seconds in front of a burst


def burst(runs: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of one run, in each round, by implementation."""
    for run in runs.values():
        _between_events(run, 2)
    samples = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            time.sleep(REST)
            samples[name].append(_between_events(run, LAUNCHES))
    return samples


def sustained(
    runs: dict[str, Callable[[], object]], seconds: float, rounds: int
) -> dict[str, list[float]]:
    """The same, each after a fifth of its turn that is not counted."""
    samples = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            count = max(1, int(0.8 * seconds / _between_events(run, 3)))
            for _ in range(count // 4):
                run()
            samples[name].append(_between_events(run, count))
    return samples


def ratio(ours: list[float], theirs: list[float]) -> float:
    """Our rate over theirs: the median over the turns that stood side by side."""
    return statistics.median(b / a for a, b in zip(ours, theirs, strict=True))


def report_regimes(
    report: Report, name: str, runs: dict[str, Callable[[], object]], work: float,
    errors: dict[str, float], asked: dict[str, dict[str, float]], seconds: float,
) -> None:  # fmt: skip
    """Times a case in both regimes. `runs` begins with ours, of whose rate over each peer's `asked`
    says the least by regime ("burst", "sustained"); `work` is one run's, in floating-point
    operations."""
    ours = next(iter(runs))
    regimes = {
        "burst": burst(runs, rounds=max(3, int(4 * seconds))),
        "sustained": sustained(runs, min(seconds, 1.0), rounds=2),
    }
    for regime, samples in regimes.items():
        for who in runs:
            report.add(
                f"{name}, {regime}", who, statistics.median(samples[who]), work, "GFLOP/s",
                errors[who], None if who == ours else ratio(samples[ours], samples[who]),
                asked.get(regime, {}).get(who),
            )  # fmt: skip


def _between_events(run: Callable[[], object], count: int) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(count):
        run()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / count * 1e-3
