"""Suite `chip`: the numbers that the record of an sm_90a chip holds, measured: rates and latencies
in cycles of the cores, bandwidths, what it costs to wait (include/kiln/Target/NVPTX/Chips.td).

Each case bears the name of a quantity of include/kiln/Target/Chip.td, in its unit. A kernel of
chip_probes.py is launched with two counts of trips, and the difference is divided by what the
second does more: launches, prologues and what is under way at the end drop out. The median of
several pairs is the result, beside the least and the most. It needs the driver alone, no peer.
"""

from __future__ import annotations

import json
import random
import statistics
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import chip_probes as kernels
import measure
import numpy as np
from cuda_driver import MAJOR, MULTIPROCESSORS, Driver, Memory

REPEATS = 9
LINE = 128  # bytes
DATA, COLD = 4 << 30, 256 << 20  # bytes; the second is more than any second-level cache
HOPS = 64  # trips of a chase through memory
FULL = 1024  # threads of a core that is kept busy by one block
MATRIX_THREADS = 128  # a matrix product is one of four warps
WARP_MATRIX_THREADS = 512  # enough warps for matrix products of one warp each
CLUSTER = ("remote", "cluster_barrier")  # kernels that run as a pair of blocks
WARMING = 0.5  # seconds


@dataclass
class Case:
    """A quantity, and what gives samples of it."""

    name: str
    unit: str
    samples: Callable[[Chip], list[float]]


@dataclass
class Row:
    name: str
    unit: str
    value: float
    least: float
    most: float


class Report(measure.Report):
    """Figures in units of their own in place of times and ratios."""

    def add_samples(self, case: Case, samples: list[float], device: str) -> None:
        values = statistics.median(samples), min(samples), max(samples)
        row = Row(case.name, case.unit, *(float(f"{value:.5g}") for value in values))
        self.rows.append(row)
        if self.output:
            line = {"suite": self.suite, "case": row.name, "implementation": device,
                    "value": row.value, "unit": row.unit, "least": row.least,
                    "most": row.most}  # fmt: skip
            print(json.dumps(line), file=self.output, flush=True)

    def print_table(self) -> int:
        print(f"{'quantity':24} {'median':>10} {'least':>10} {'most':>10}  unit")
        for row in self.rows:
            print(f"{row.name:24} {row.value:10.5g} {row.least:10.5g} {row.most:10.5g}  {row.unit}")
        return 0


class Chip:
    """The first GPU, with the kernels loaded."""

    def __init__(self, driver: Driver, out: Memory, data: Memory, cold: Memory) -> None:
        self.driver, self.out, self.data, self.cold = driver, out, data, cold
        self.module = driver.load(kernels.module(kernels.KERNELS))
        self.cores = driver.attribute(MULTIPROCESSORS)
        self.copies = {kernel.name: kernel.copies for kernel in kernels.KERNELS}

    def launch(self, name: str, blocks: int, threads: int, trips: int, offset: int = 0) -> None:
        self.module.launch(
            name, blocks, threads, (self.out.address, self.data.address + offset), (trips, 0)
        )

    def warm_up(self) -> None:
        """Until the clocks are up."""
        until = time.perf_counter() + WARMING
        while time.perf_counter() < until:
            self.launch("fmas", self.cores, FULL, 5000)
            self.driver.synchronize()

    def count(self, name: str, threads: int, trips: int, offset: int = 0) -> int:
        """The cycles of one launch, as its first thread counts them."""
        self.launch(name, 2 if name in CLUSTER else 1, threads, trips, offset)
        self.driver.synchronize()
        return struct.unpack("<Q", self.out.read(8))[0]

    def cycles(
        self, name: str, threads: int = 32, trips: int = 64, offset: int = 0,
        repeats: int = REPEATS, before: Callable[[], None] | None = None,
    ) -> list[float]:  # fmt: skip
        """The cycles of one body, of each pair of launches; `before` is called before each."""
        samples = []
        self.count(name, threads, trips, offset)  # brings code and data into the caches
        for _ in range(repeats):
            spent = []
            for factor in (1, 2):
                if before:
                    before()
                spent.append(self.count(name, threads, factor * trips, offset))
            samples.append((spent[1] - spent[0]) / (trips * self.copies[name]))
        return samples

    def seconds(self, name: str, blocks: int, trips: int) -> list[float]:
        """The seconds of one trip of a launch that fills the device, of each pair of launches."""
        samples = []
        for _ in range(REPEATS):
            spent = []
            for factor in (1, 2):
                start = self.driver.event()
                self.launch(name, blocks, FULL, factor * trips)
                spent.append(self.driver.seconds_between(start, self.driver.event()))
            samples.append((spent[1] - spent[0]) / trips)
        return samples


# ===- Cases ----------------------------------------------------------------------------------===#


def latency(name: str, **how: int) -> Callable[[Chip], list[float]]:
    return lambda chip: chip.cycles(name, **how)


def fence_cost(chip: Chip) -> list[float]:
    """Beyond the store that it orders."""
    both, store = chip.cycles("proxy_fence"), chip.cycles("shared_store")
    return [a - b for a, b in zip(both, store, strict=True)]


def per_cycle(name: str, work: float, threads: int = FULL) -> Callable[[Chip], list[float]]:
    """What the threads of one block do in a cycle; `work` is what they do in one body."""
    return lambda chip: [work / cycles for cycles in chip.cycles(name, threads)]


def results(name: str, of_an_instruction: int = 1) -> Callable[[Chip], list[float]]:
    return per_cycle(name, kernels.CHAINS * FULL * of_an_instruction)


def products(kind: str) -> Callable[[Chip], list[float]]:
    depth = kernels.TYPES[kind][0]
    work = 64 * 256 * depth * kernels.PRODUCTS_OF_A_TRIP
    return per_cycle(f"products_{kind}", work, MATRIX_THREADS)


def warp_products(kind: str) -> Callable[[Chip], list[float]]:
    (m, n, k), *_ = kernels.WARP_TYPES[kind]
    work = m * n * k * kernels.CHAINS * (WARP_MATRIX_THREADS // 32)
    return per_cycle(f"warp_products_{kind}", work, WARP_MATRIX_THREADS)


def product_latency(kernel_suffix: str = "") -> Callable[[Chip], list[float]]:
    """Of products into one accumulator each takes the result of the one before."""

    def samples(chip: Chip) -> list[float]:
        one = chip.cycles(f"one_product{kernel_suffix}", MATRIX_THREADS)
        several = chip.cycles(f"several_products{kernel_suffix}", MATRIX_THREADS)
        more = kernels.SEVERAL - kernels.ONE
        return [(b - a) / more for a, b in zip(one, several, strict=True)]

    return samples


def wait_cost(chip: Chip) -> list[float]:
    one = chip.cycles("one_product", MATRIX_THREADS)
    return [a - b for a, b in zip(one, product_latency()(chip), strict=True)]


def cached(kernel: str) -> Callable[[Chip], list[float]]:
    """A word that points to itself."""

    def samples(chip: Chip) -> list[float]:
        chip.data.write(struct.pack("<Q", chip.data.address))
        return chip.cycles(kernel)

    return samples


def second_level(share: float) -> Callable[[Chip], list[float]]:
    """Lines anywhere, of which about half lie in the part that is far: the samples are those of the
    lines around this place in the order of their latencies."""

    def samples(chip: Chip) -> list[float]:
        found = []
        for line in random.sample(range((64 << 20) // LINE), 128):
            offset = line * LINE
            chip.data.write(struct.pack("<Q", chip.data.address + offset), offset)
            found += chip.cycles("l2", trips=8, offset=offset, repeats=1)
        found.sort()
        middle, few = int(share * len(found)), len(found) // 16
        return found[middle - few : middle + few + 1]

    return samples


def memory_latency(chip: Chip) -> list[float]:
    """A walk over lines anywhere in 256 MiB, each visited once, when none is in a cache."""
    hops = 2 * HOPS * chip.copies["l2"] + 1
    places = [0, *(line * LINE for line in random.sample(range(1, COLD // LINE), hops))]
    for here, there in pairwise(places):
        chip.data.write(struct.pack("<Q", chip.data.address + there), here)

    def flush() -> None:
        chip.cold.fill(1)
        chip.driver.synchronize()

    return chip.cycles("l2", trips=HOPS, before=flush)


def bandwidth(name: str, copies: int, trips: int) -> Callable[[Chip], list[float]]:
    """GB/s of all cores."""

    def samples(chip: Chip) -> list[float]:
        blocks = 2 * chip.cores
        moved = blocks * FULL * 16 * copies
        if name == "memory_reads":
            assert 2 * trips * moved <= DATA
        return [moved / seconds * 1e-9 for seconds in chip.seconds(name, blocks, trips)]

    return samples


def barrier(coefficient: int) -> Callable[[Chip], list[float]]:
    """Of the line through the cycles of a barrier by warps: what each adds, or the rest."""

    def samples(chip: Chip) -> list[float]:
        warps = (1, 2, 4, 8, 16, 32)
        taken = [chip.cycles("barrier", 32 * count) for count in warps]
        return [
            float(np.polyfit(warps, cycles, 1)[coefficient]) for cycles in zip(*taken, strict=True)
        ]

    return samples


RATE, CYCLES, BYTES = "a cycle", "cycles", "bytes a cycle"
CASES = [
    Case("matrixF16", RATE, products("bf16")),
    Case("matrixTF32", RATE, products("tf32")),
    Case("matrixF8", RATE, products("e4m3")),
    Case("matrixI8", RATE, products("s8")),
    Case("matrixF64", RATE, warp_products("f64")),
    Case("warpMatrixF16", RATE, warp_products("bf16")),
    Case("warpMatrixTF32", RATE, warp_products("tf32")),
    Case("warpMatrixF8", RATE, warp_products("e4m3")),
    Case("warpMatrixI8", RATE, warp_products("s8")),
    Case("warpMatrixLatency", CYCLES, latency("one_warp_product")),
    Case("matrixLatency", CYCLES, product_latency()),
    Case("matrixLatency of shared", CYCLES, product_latency("_of_shared")),
    Case("matrixWaitCost", CYCLES, wait_cost),
    Case("fmaF32", RATE, results("fmas")),
    Case("fmaF16", RATE, results("halves", 2)),
    Case("multiplyI32", RATE, results("multiplies")),
    Case("exp2s", RATE, results("exp2s")),
    Case("specials", RATE, results("roots")),
    Case("conversions", RATE, results("conversions", 2)),
    Case("shuffles", RATE, results("shuffles")),
    Case("fmaLatency", CYCLES, latency("fma")),
    Case("exp2Latency", CYCLES, latency("exp2")),
    Case("shuffleLatency", CYCLES, latency("shuffle")),
    Case("sharedLatency", CYCLES, latency("shared")),
    Case("fragmentLatency", CYCLES, latency("fragment")),
    Case("remoteSharedLatency", CYCLES, latency("remote")),
    Case("l1Latency", CYCLES, cached("l1")),
    Case("l2Latency", CYCLES, second_level(0.2)),
    Case("l2FarLatency", CYCLES, second_level(0.8)),
    Case("memoryLatency", CYCLES, memory_latency),
    Case("asyncLatency", CYCLES, latency("async_copy")),
    Case("engineLatency", CYCLES, latency("engine_copy")),
    Case("sharedBandwidth", BYTES, per_cycle("shared_reads", kernels.VECTORS)),
    Case("l1Bandwidth", BYTES, per_cycle("l1_reads", kernels.VECTORS)),
    Case("l2Bandwidth", "GB/s", bandwidth("l2_reads", kernels.L2_READS, 1000)),
    Case("measuredBandwidth", "GB/s", bandwidth("memory_reads", kernels.MEMORY_READS, 60)),
    Case("barrierLatency", CYCLES, barrier(1)),
    Case("barrierWarpCost", CYCLES, barrier(0)),
    Case("namedBarrierLatency", CYCLES, latency("named_barrier")),
    Case("arriveCost", CYCLES, latency("arrive")),
    Case("barrierRoundTrip", CYCLES, latency("round_trip")),
    Case("handOverLatency", CYCLES,
         lambda chip: [cycles / 2 for cycles in chip.cycles("hand_over", 64)]),
    Case("clusterBarrierLatency", CYCLES, latency("cluster_barrier")),
    Case("proxyFenceCost", CYCLES, fence_cost),
    Case("deviceFenceCost", CYCLES, latency("device_fence")),
    Case("resizeCost", CYCLES,
         lambda chip: [cycles / 2 for cycles in chip.cycles("resize", 128)]),
]  # fmt: skip


def run(report: Report, options) -> None:
    driver = Driver()
    if driver.attribute(MAJOR) != 9:
        raise AssertionError(f"expected an sm_90a chip, got {driver.name}")
    wanted = [case for case in CASES if (options.only or "") in case.name]
    print(f"{driver.name}: medians of {REPEATS} pairs of launches", file=sys.stderr)
    out = 16 * FULL * 2 * driver.attribute(MULTIPROCESSORS)
    with driver.memory(out) as results, driver.memory(DATA) as data, driver.memory(COLD) as cold:
        chip = Chip(driver, results, data, cold)
        for case in wanted:
            print(f"  {case.name} ...", file=sys.stderr, flush=True)
            chip.warm_up()
            report.add_samples(case, case.samples(chip), driver.name)
