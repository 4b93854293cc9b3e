"""How a case is measured: checked first, then timed in turns, then reported as a line of JSON.

Each implementation is timed alone, though all share a process. The threads of a peer (OpenMP's,
OpenBLAS's) go on spinning for a while after their work is done, for the next piece of it: with as
many threads as cores they would take half of the machine from whoever comes next, and its time
would depend on who ran before. So before each turn the process comes to rest (`rest`): its CPU time
must stand still. Then the implementation runs once untimed, which wakes its threads and brings its
data into the caches, and after that it is timed. No peer's own settings are touched: what it gains
by spinning, it keeps.

Turns alternate (A B A B), so that a machine that slows down slows all of them. Times are medians;
a ratio is the median of the ratios of turns that stood side by side, for the machine's other load
comes in phases that last longer than a round.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter, process_time, sleep
from typing import Any, TextIO

import numpy as np


@dataclass
class Implementation:
    """One way to do a case's work.

    run        does it once
    result     what it computed, for the check; None: nothing to compare
    tolerance  the error it may have against the case's float64 reference
    work       if one run of it does another amount of work than the case says
    """

    name: str
    run: Callable[[], Any]
    result: Callable[[], np.ndarray] | None = None
    tolerance: float = 1e-5
    work: float | None = None


@dataclass
class Case:
    """Work that several implementations do. The first is ours, the others are its peers.

    work       floating-point operations, bytes or calls of one run
    unit       what `work` a second is called: "GFLOP/s", "GB/s" or "/s"
    targets    the least ratio of our rate to a peer's, by the peer's name
    """

    name: str
    work: float
    unit: str
    implementations: list[Implementation]
    reference: Callable[[], np.ndarray] | None = None
    targets: dict[str, float] = field(default_factory=dict)
    seconds: float = 2.0  # of timing, for each implementation that is not slower than that


@dataclass
class Measurement:
    """A line of the output."""

    suite: str
    case: str
    implementation: str
    milliseconds: float
    rate: float
    unit: str
    error: float | None
    ratio: float | None = None  # our rate over this one's
    asked: float | None = None  # the least ratio that was asked for
    limit: float | None = None  # the most milliseconds that were asked for

    @property
    def missed(self) -> bool:
        return (self.asked is not None and not self.ratio >= self.asked) or (
            self.limit is not None and not self.milliseconds <= self.limit
        )

    def line(self) -> str:
        optional = ("ratio", "asked", "limit")
        members = self.__dict__.items()
        return json.dumps({k: v for k, v in members if k not in optional or v is not None})


def error_of(result: np.ndarray, reference: np.ndarray) -> float:
    """‖x − ref‖ / ‖ref‖ in float64."""
    result = np.asarray(result).astype(np.float64)
    if result.shape != reference.shape:
        raise AssertionError(f"expected a result of shape {reference.shape}, got {result.shape}")
    return float(np.linalg.norm((result - reference).ravel()) / np.linalg.norm(reference.ravel()))


def check(case: Case) -> dict[str, float | None]:
    """Runs each implementation once and compares; a wrong one is not worth timing."""
    reference = case.reference() if case.reference else None
    errors: dict[str, float | None] = {}
    for one in case.implementations:
        one.run()
        if reference is None or one.result is None:
            errors[one.name] = None
            continue
        error = error_of(one.result(), reference)
        if not error <= one.tolerance:
            raise AssertionError(
                f"{case.name}: expected {one.name} within {one.tolerance:.1e} of the reference, "
                f"got {error:.1e}"
            )
        errors[one.name] = error
    return errors


def time_in_turns(case: Case) -> dict[str, list[float]]:
    """The seconds of one run in each turn, by implementation.

    A turn lasts at least 10 ms. Each has three turns at least, unless one takes a multiple of the
    case's budget.
    """
    repeats, samples = {}, {one.name: [] for one in case.implementations}
    for one in case.implementations:
        count = 1
        rest()
        while True:
            spent = timed(one.run, count)
            if spent >= 0.01 or count >= 1 << 20:
                break
            count = max(2 * count, int(count * 0.012 / max(spent, 1e-9)))
        repeats[one.name] = count
        samples[one.name].append(spent / count)
    spent = {one.name: 0.0 for one in case.implementations}
    while True:
        due = [
            one
            for one in case.implementations
            if (spent[one.name] < case.seconds or len(samples[one.name]) < 3)
            and len(samples[one.name]) < 200
            and samples[one.name][0] * repeats[one.name] < LONG * case.seconds
        ]
        if not due:
            break
        for one in due:
            rest()
            if samples[one.name][0] < WARM_UP:
                one.run()
            seconds = timed(one.run, repeats[one.name])
            spent[one.name] += seconds
            samples[one.name].append(seconds / repeats[one.name])
    return samples


LONG = 4.0  # budgets: what takes longer than this is run once
WARM_UP = 0.5  # seconds: what runs longer than this is not run once more before it is timed


def rest(limit: float = 2.0) -> bool:
    """Waits until no thread of this process computes any more, or for `limit` seconds.

    One look is not enough: a thread that others keep off the cores stands still for a while.
    """
    until, still = perf_counter() + limit, 0
    while still < 4 and perf_counter() < until:
        before = process_time()
        sleep(0.002)
        still = still + 1 if process_time() - before < 0.0004 else 0
    return still == 4


def timed(run: Callable[[], Any], count: int) -> float:
    start = perf_counter()
    for _ in range(count):
        run()
    return perf_counter() - start


def ratio_of(theirs: list[float], ours: list[float]) -> float:
    """Their time over ours: turn by turn where both had turns enough, else by the medians."""
    pairs = [a / b for a, b in zip(theirs, ours, strict=False)][1:]
    if len(pairs) < 4:
        return statistics.median(theirs) / statistics.median(ours)
    return statistics.median(pairs)


class Report:
    """Collects measurements, writes each as a line of JSON, and prints the table at the end."""

    def __init__(self, suite: str, output: TextIO | None):
        self.suite, self.output = suite, output
        self.rows: list[Measurement] = []

    def add(
        self, case: str, implementation: str, seconds: float, work: float, unit: str,
        error: float | None = None, ratio: float | None = None, target: float | None = None,
        limit: float | None = None,
    ) -> None:  # fmt: skip
        """`ratio`: our rate over this one's; `target`: what it ought to be at least; `limit`:
        the most seconds that this may take."""
        scale = 1e-9 if unit.startswith("G") else 1.0
        rate = work * scale / seconds
        row = Measurement(
            self.suite, case, implementation, seconds * 1e3, rate, unit, error, ratio, target,
            None if limit is None else limit * 1e3,
        )  # fmt: skip
        self.rows.append(row)
        if self.output:
            print(row.line(), file=self.output, flush=True)

    def run(
        self, case: Case, clock: Callable[[Case], dict[str, list[float]]] | None = None
    ) -> None:
        """`clock` times a case's implementations in turns; without one, this process's own."""
        print(f"  {case.name} ...", file=sys.stderr, flush=True)
        errors = check(case)
        samples = (clock or time_in_turns)(case)
        ours = samples[case.implementations[0].name]
        for index, one in enumerate(case.implementations):
            work = case.work if one.work is None else one.work
            self.add(
                case.name, one.name, statistics.median(samples[one.name]), work, case.unit,
                errors[one.name],
                ratio_of(samples[one.name], ours) * case.work / work if index else None,
                case.targets.get(one.name),
            )  # fmt: skip

    def print_table(self) -> int:
        """The number of targets missed."""
        last = None
        header = f"{'case':34} {'implementation':24} {'ms':>11} {'rate':>17} {'error':>8}"
        print(f"{header}  ours / this")
        for row in self.rows:
            if last not in (None, row.case):
                print()
            name, last = row.case if row.case != last else "", row.case
            error = "" if row.error is None else f"{row.error:.1e}"
            text = f"{name:34} {row.implementation:24} {row.milliseconds:11.5f} "
            text += f"{row.rate:9.4g} {row.unit:7} {error:>8}"
            over = ", MISSED" if row.missed else ""
            if row.ratio is not None:
                text += f"  {row.ratio:.3g}"
            if row.asked is not None:
                text += f" (asked: {row.asked:g}{over})"
            if row.limit is not None:
                text += f"  (asked: at most {row.limit:.4g} ms{over})"
            print(text)
        return sum(row.missed for row in self.rows)
