"""Which trips the programs of a streamed loop run, where they leave what they have summed, and what the
last of a tile adds up: what tile-realise-streams writes, run here on lists of trips in place of tensors.
Programs take turns at random wherever one accesses memory that others see."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

TILE_OPT = Path(os.environ["KILN_BUILD"]) / "bin" / "tile-opt"
# A tensor of one element stands for all sums of a tile, whose number is the row of `x` and `y`.
KERNEL = """
!v = !tile.view<?x?xf32>
!t = tensor<1x1xf32>
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
tile.kernel @k(%x: !v, %y: !v, %m: index, %n: index, %k: index)
    attributes {tile.persistent = #tile.persistent<programs = 7, group = GROUP>, RASTER} grid {
  tile.grid %m, %n
} {
  %i = tile.program_id x
  %j = tile.program_id y
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  %none = arith.constant dense<0.0> : !t
  %row = arith.muli %i, %n : index
  %tile = arith.addi %row, %j : index
  %sum = scf.for %kk = %zero to %k step %three iter_args(%s = %none) -> !t {
    %d = tile.load %x[%tile, %kk] : !v -> !t
    %a = arith.addf %s, %d : !t
    scf.yield %a : !t
  } {tile.share = "stream"ATOMIC}
  tile.store %sum, %y[%tile, %zero] : !t, !v
  tile.return
}
}
"""
STEP = 3
SCALARS = {
    "addi": "({0} + {1}) % W", "subi": "({0} - {1}) % W", "muli": "{0} * {1} % W",
    "divui": "{0} // {1}", "remui": "{0} % {1}", "minui": "min({0}, {1})",
    "maxui": "max({0}, {1})", "addf": "{0} + {1}", "select": "{1} if {0} else {2}",
    "index_cast": "{0}",
}  # fmt: skip
COMPARED = {"ult": "<", "eq": "==", "ne": "!=", "sgt": ">"}


def translated(text: str) -> str:
    """The kernel's body as a generator, which yields in front of each access that others may see."""
    body = re.split(r"tile\.grid .*\n\s*\} \{\n", text)[1].split("\n")
    out = ["def program(memory, program_id, num_programs, _m, _n, _k):", "    _x, _y = 'x', 'y'"]
    # What is assigned when each open region yields.
    open_regions: list[list[tuple[str, ...]]] = []

    def name(value: str) -> str:
        return re.sub(r"\W", "_", value)

    def put(line: str) -> None:
        out.append("    " * (len(open_regions) + 1) + line)

    for line in map(str.strip, body):
        values = [name(value) for value in re.findall(r"%[\w#]+", line)]
        if line == "tile.return":
            break
        if found := re.search(r"scf\.for (%\S+) = (%\S+) to (%\S+) step (%[\w#]+)", line):
            counter, *bounds = map(name, found.groups())
            carried = re.search(r"iter_args\((%\S+) = (%[\w#]+)\)", line)
            targets = [(values[0], name(carried[1]))] if carried else []
            for names in targets:
                put(f"{' = '.join(names)} = {name(carried[2])}")
            put(f"for {counter} in range({', '.join(bounds)}):")
            open_regions.append(targets)
        elif found := re.search(r"(?:(%\w+)(?::(\d))? = )?scf\.if (%[\w#]+)", line):
            made = [f"{found[1]}#{i}" for i in range(int(found[2]))] if found[2] else [found[1]]
            put(f"if {name(found[3])}:")
            open_regions.append([(name(each),) for each in made if each])
        elif line.startswith("}"):
            put("pass")
            targets = open_regions.pop()
            if "else" in line:
                put("else:")
                open_regions.append(targets)
        elif line.startswith("scf.yield"):
            for names, value in zip(open_regions[-1], values, strict=True):
                put(f"{' = '.join(names)} = {value}")
        elif found := re.search(r"arith\.constant ([^\s:]+)", line):
            known = {"true": "True", "false": "False"}
            tensor = found[1].startswith("dense")
            put(f"{values[0]} = {'()' if tensor else known.get(found[1], found[1])}")
        elif found := re.search(r"tile\.(program_id|num_programs) x", line):
            put(f"{values[0]} = {found[1]}")
        elif "tile.view_from_pointer" in line:
            put(f"{values[0]} = {values[1]!r}")
        elif "tile.splat" in line:
            put(f"{values[0]} = {values[1]}")
        elif "tile.iota" in line:
            put(f"{values[0]} = 0")
        elif line.startswith("tile.store"):
            put("yield")
            put(f"assert {values[1]} != 'y' or ('y', {values[2]}) not in memory")
            put(f"memory[{values[1]}, {values[2]}] = {values[0]}")
        elif "tile.load" in line and values[1] == "_x":
            put(f"{values[0]} = (({values[2]}, {values[3]}),)")
        elif "tile.load" in line:
            put("yield")
            put(f"{values[0]} = memory[{values[1]}, {values[2]}]")
        elif "tile.atomic_rmw" in line:
            place = f"memory[{values[1]}, {values[2]}]"
            put("yield")
            put(f"{values[0]} = {place}")
            put(f"{place} = {values[-1]}" + ("" if "exch" in line else f" + {values[0]}"))
        elif found := re.search(r"arith\.cmpi (\w+),", line):
            put(f"{values[0]} = {values[1]} {COMPARED[found[1]]} {values[2]}")
        elif found := re.search(r"arith\.(\w+) ", line):
            put(f"{values[0]} = " + SCALARS[found[1]].format(*values[1:]))
        elif line:
            raise AssertionError(f"expected an operation that is known here, got {line!r}")
    return "\n".join(out)


class Memory(dict):
    """What a launch gives: counters of zero and, where sums are added as they come, pieces of zero.
    Other pieces are not read before they are written."""

    def __init__(self, counters: str, pieces: bool, start: int = 0) -> None:
        super().__init__()
        self.counters, self.pieces, self.start = counters, pieces, start

    def __missing__(self, place):
        if place[0] == self.counters:
            return self.start
        assert self.pieces, f"{place} is read before it is written"
        return ()

    def get_pieces(self) -> dict:
        return {place: x for place, x in self.items() if place[0] not in ("y", self.counters)}


def realised(group: int, raster: str, atomic: bool):
    """A program, and the name of the counters that it takes."""
    text = KERNEL.replace("GROUP", str(group)).replace("RASTER", f'tile.raster = "{raster}"')
    text = text.replace("ATOMIC", ", tile.share_atomic" if atomic else "")
    made = subprocess.run(
        [TILE_OPT, "-", "--tile-realise-streams"],
        input=text, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    space: dict = {"W": 2**64}
    exec(translated(made), space)
    (counters,) = re.findall(r"%(\w+): !tile\.pointer<i32>", made)
    return space["program"], f"_{counters}"


def draw(rng) -> tuple[int, int, int, int]:
    """The extents of a grid, how many programs there are, and how many trips a tile has."""
    m, n = (int(each) for each in rng.integers(1, 12, 2))
    trips = int(rng.choice([0, 1, 2, int(rng.integers(3, 30))]))
    return m, n, int(rng.integers(1, 40)), trips


@pytest.mark.parametrize("raster, group", [("grouped", 1), ("grouped", 3), ("chiplets", 2)])
@pytest.mark.parametrize("atomic", [False, True])
def test_each_trip_is_run_once_and_added_in_order(rng, raster: str, group: int, atomic) -> None:
    program, counters = realised(group, raster, atomic)
    for _ in range(60):
        drawn = m, n, programs, trips = draw(rng)
        # The last trip may be a short one.
        k = max(trips * STEP - int(rng.integers(STEP)), 0)
        memory = Memory(counters, pieces=atomic)
        running = [program(memory, p, programs, m, n, k) for p in range(programs)]
        while running:
            one = running[int(rng.integers(len(running)))]
            if next(one, "ended") == "ended":
                running.remove(one)
        for tile in range(m * n):
            found = memory["y", tile]
            expected = tuple((tile, trip * STEP) for trip in range(trips))
            assert (tuple(sorted(found)) if atomic else found) == expected, (drawn, tile)
        # As much memory as is asked for; what is to hold zeros does so again.
        for (_, place), value in memory.get_pieces().items():
            assert place < (1 if atomic else 2) * programs, drawn
            assert value == () or not atomic, drawn
        for (name, place), value in memory.items():
            assert name != counters or (value == 0 and place < programs), drawn


@pytest.mark.parametrize("raster, group", [("grouped", 3), ("chiplets", 1)])
def test_trips_are_shared_out_evenly(rng, raster: str, group: int) -> None:
    program, counters = realised(group, raster, atomic=False)
    for _ in range(60):
        drawn = m, n, programs, trips = draw(rng)
        counts = []
        for p in range(programs):
            # Where none finds itself the last of a tile, all that it has run is what it has left.
            memory = Memory(counters, pieces=False, start=-(2**20))
            for _ in program(memory, p, programs, m, n, trips * STEP):
                pass
            sums = [x for place, x in memory.items() if place[0] != counters]
            counts.append(sum(len(x) for x in sums))
            assert len(memory.get_pieces()) <= 2, drawn
        assert sum(counts) == m * n * trips and max(counts) - min(counts) <= 1, drawn
