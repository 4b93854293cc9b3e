"""How long things take: for the tuner, the benchmarks and users."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from time import perf_counter, perf_counter_ns
from typing import Any


def bench(
    call: Callable[[], Any],
    *,
    seconds: float = 0.1,
    warmup: float = 0.02,
    before: Callable[[], Any] | None = None,
    synchronize: Callable[[], Any] | None = None,
) -> list[float]:
    """Times of single calls in seconds, over at least `seconds` in total and five calls.

    `before` runs untimed ahead of each call; `synchronize` ends each call's time.
    """

    def once() -> float:
        if before is not None:
            before()
        start = perf_counter()
        call()
        if synchronize is not None:
            synchronize()
        return perf_counter() - start

    first = once()
    spent = 0.0
    while spent < warmup and first < seconds:
        spent += max(once(), 1e-7)
    times = []
    spent = 0.0
    while len(times) < 5 or spent < seconds:
        times.append(once())
        spent += max(times[-1], 1e-7)
        if spent > 10 * seconds and len(times) >= 3:
            break
    return times


def launch_overhead(
    call: Callable[..., Any], arguments: tuple, count: int = 100_000
) -> dict[str, float]:
    """Nanoseconds of one launch: the median, and the median of an empty call, over `count`.

    What is launched should be one empty block, so that only the way there is measured.
    """

    def nothing(*_: Any) -> None:
        pass

    def median(function: Callable[..., Any]) -> float:
        times = []
        for _ in range(count):
            start = perf_counter_ns()
            function(*arguments)
            times.append(perf_counter_ns() - start)
        return statistics.median(times)

    for _ in range(100):
        call(*arguments)
    empty = median(nothing)
    return {"median_ns": median(call), "empty_call_ns": empty}
