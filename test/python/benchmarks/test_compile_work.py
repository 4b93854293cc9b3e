"""How much work compiling kernels is, in instructions of the compiler's own process.

Time depends on the machine and on its neighbours; the instructions that `tile-compile` executes
from text to code do not, and cachegrind counts them. Each pinned kernel may take a fifth more than
it took before schedules were lowered in general: 726 and 1,880 million then, 629 and 1,720 now. A
product that pins nothing took 417 million on an emulated chip while its protocol was proven on each
copy that decisions are tried on, and takes 220 of which 80 start the process.

Of these the proof of the protocol is held by itself (`PROOF`), which callgrind counts inside of the
pass: a fifth more than it takes, 16.5 million of a product, 23 of attention and 55 of a product by
clusters. They were 34.5, 51 and 123 before roles were decoded once for all traces.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MOST = {
    ("gemm", "nvptx:sm_90a"): 726_000_000 * 6 // 5,
    ("attention", "nvptx:sm_90a"): 1_880_000_000 * 6 // 5,
    ("plain", "emu:sm_90a"): 300_000_000,
}
ROWS = (
    "!tile.view<?x?xbf16> {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], "
    "extents = [16, 16], index32, noalias>}"
)
PLAIN = f"""
tile.kernel @plain(%a: {ROWS}, %b: {ROWS}, %c: {ROWS}) grid {{
  %c64 = arith.constant 64 : index
  %m = tile.dim %c, 0 : !tile.view<?x?xbf16>
  %n = tile.dim %c, 1 : !tile.view<?x?xbf16>
  %rows = arith.ceildivsi %m, %c64 : index
  %columns = arith.ceildivsi %n, %c64 : index
  tile.grid %rows, %columns
}} {{
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %row = tile.program_id x
  %column = tile.program_id y
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %i = arith.muli %row, %c64 : index
  %j = arith.muli %column, %c64 : index
  %sum = scf.for %at = %c0 to %k step %c32 iter_args(%so_far = %zeros) -> (tensor<64x64xf32>) {{
    %x = tile.load %a[%i, %at] : !tile.view<?x?xbf16> -> tensor<64x32xbf16>
    %y = tile.load %b[%at, %j] : !tile.view<?x?xbf16> -> tensor<32x64xbf16>
    %next = tile.dot %x, %y, %so_far
      : tensor<64x32xbf16>, tensor<32x64xbf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }}
  %rounded = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %rounded, %c[%i, %j] : tensor<64x64xbf16>, !tile.view<?x?xbf16>
  tile.return
}}
"""


# Blocks of code that end at each jump, which valgrind translates sooner than traces along several.
BLOCKS = ["--vex-guest-chase=no"]


def tool(name: str) -> str:
    return str(Path(os.environ.get("KILN_BUILD", ROOT / "build")) / "bin" / name)


def count_inside(function: str, command: list[str], out: Path) -> list[int]:
    """The instructions that a command executes inside of a function and whatever that calls, of
    each of its calls."""
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", *BLOCKS, f"--toggle-collect={function}",
         f"--dump-after={function}", f"--callgrind-out-file={out}", *command],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    dumps = sorted(out.parent.glob(f"{out.name}.*"), key=lambda path: int(path.suffix[1:]))
    return [int(re.search(r"^totals: (\d+)$", path.read_text(), re.M)[1]) for path in dumps]


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind counts instructions")
@pytest.mark.drawn(1)
@pytest.mark.parametrize("name, target", MOST)
def test_work(name: str, target: str, tmp_path: Path) -> None:
    source = ROOT / "benchmarks" / f"{name}.mlir"
    if name == "plain":
        source = tmp_path / "plain.mlir"
        source.write_text(PLAIN)
    command = [
        "valgrind", "--tool=cachegrind", *BLOCKS, "--cache-sim=no",
        f"--cachegrind-out-file={tmp_path / 'counts'}", tool("tile-compile"), str(source),
        "--target", target,
        "--emit", "binary" if target.startswith("emu") else "asm", "-o", str(tmp_path / "code"),
    ]  # fmt: skip
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    (executed,) = re.findall(r"I +refs: +([\d,]+)", run.stderr)
    assert int(executed.replace(",", "")) <= MOST[name, target], executed


# Programs of a cluster that load both operands for one another.
SHARED = (
    ("tile.persistent = ", "tile.cluster = array<i64: 2, 2, 1>, tile.persistent = "),
    ('order = 0, role = "load"', 'order = 0, multicast = ["y"], role = "load"'),
    ("order = 1, role", 'order = 1, multicast = ["x"], role'),
)
PROOF = {"gemm": 20_000_000, "attention": 28_000_000, "clusters": 66_000_000}


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind counts instructions")
def test_work_of_proof(tmp_path: Path) -> None:
    """What `tile-check-protocol` executes on each kernel: one process, since half a minute of
    valgrind's goes by before it has seen the compiler's code once."""
    texts = {
        name: (ROOT / "benchmarks" / f"{name}.mlir").read_text() for name in ("gemm", "attention")
    }
    shared = texts["gemm"]
    for old, new in SHARED:
        assert shared.count(old) == 1, old
        shared = shared.replace(old, new)
    texts["clusters"] = shared
    source = tmp_path / "kernels.mlir"
    source.write_text("// -----\n".join(texts[name] for name in PROOF))
    counts = count_inside(
        "(anonymous namespace)::CheckProtocol::runOnOperation()",
        [tool("tile-opt"), str(source), "-split-input-file", "-o", os.devnull,
         "--tile-pipeline=target=nvptx:sm_90a stop-after=schedule"],
        tmp_path / "calls",
    )  # fmt: skip
    assert len(counts) == len(PROOF)
    for executed, (name, most) in zip(counts, PROOF.items(), strict=True):
        assert 1_000_000 < executed <= most, (name, executed)
