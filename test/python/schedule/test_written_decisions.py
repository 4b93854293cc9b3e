"""What a source decides is obeyed, or refused with an error at its line: one by one the places where
a decision was once dropped without a word. `test_flipped_decisions.py` beside changes each decision
of whole kernels."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TOOLS = Path(os.environ["KILN_BUILD"]) / "bin"
GEMM = (ROOT / "benchmarks" / "gemm.mlir").read_text(encoding="utf-8")
DOT = 'stage = 0, order = 0, role = "mma", in_flight = 1'
PLAIN = """
module attributes {{tile.target = #nvptx.target<chip = "sm_90a">}} {{
  tile.kernel @k(%a: !tile.view<?x?xbf16>, %c: !tile.view<?x?xf32>) {{
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %x = tile.load %a[%c0, %c0] {{{load}}} : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %zero transpose_b {{{dot}}}
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    tile.store %d, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
    tile.return
  }}
}}
"""


def run(tool: str, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [TOOLS / tool, "-", *options], input=source, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode >= 0, done.stderr
    return done


def code(source: str) -> str:
    """A thread's program, which holds all that runs on the device."""
    done = run("tile-opt", source, "--tile-pipeline=stop-after=llvm")
    assert done.returncode == 0, done.stderr
    return done.stdout


def error(source: str) -> str:
    done = run("tile-opt", source, "--tile-pipeline=stop-after=llvm")
    assert done.returncode != 0
    return done.stderr


def replaced(source: str, old: str, new: str) -> str:
    assert source.count(old) == 1, old
    return source.replace(old, new)


def line_of(source: str, text: str) -> int:
    return source[: source.index(text)].count("\n") + 1


def outcome(source: str) -> str:
    """The code, or the errors."""
    done = run("tile-opt", source, "--tile-pipeline=stop-after=llvm")
    return done.stdout if done.returncode == 0 else done.stderr


def test_stage_of_a_dot_in_a_ring_changes_the_code() -> None:
    made = [
        outcome(replaced(GEMM, DOT, DOT.replace("stage = 0", f"stage = {n}"))) for n in range(4)
    ]
    assert "error:" not in made[0]
    assert len(set(made)) == 4


def test_order_of_loads_in_a_ring_changes_the_code() -> None:
    """The second operand is brought first."""
    loads = [f'stage = 0, order = {n}, role = "load"' for n in (0, 1)]
    swapped = replaced(GEMM, loads[0], "LATER")
    swapped = replaced(swapped, loads[1], loads[0]).replace("LATER", loads[1])
    assert code(swapped) != code(GEMM)


@pytest.mark.parametrize("hint", ["evict = last", "evict = first", "cache = streaming"])
def test_eviction_of_loads_by_an_engine_changes_the_code(hint: str) -> None:
    load = "tile.load %a[%row, %kk]"
    assert code(replaced(GEMM, load, f"{load} {hint}")) != code(GEMM)


@pytest.mark.parametrize(
    "atom, message",
    [
        ('"banana"', "attribute 'atom' failed to satisfy constraint: a matrix instruction"),
        ('#amdgcn.matrix<"mfma.f32.32x32x8bf16.1k", "gfx90a", bf16>',
         "expected 'atom' to be an instruction of nvptx:sm_90a"),
    ],
)  # fmt: skip
def test_a_dot_outside_of_roles_refuses_an_atom_that_cannot_be(atom: str, message: str) -> None:
    source = PLAIN.format(load="", dot=f"atom = {atom}")
    errors = error(source)
    assert message in errors
    assert f"<stdin>:{line_of(source, 'tile.dot')}:" in errors


def test_a_dot_outside_of_roles_is_made_by_its_atom() -> None:
    made = [
        code(PLAIN.format(load="", dot=f"atom = {atom}"))
        for atom in ('#nvptx.mma_sync<"m16n8k16", bf16, f32>', "#tile.fma")
    ]
    assert "nvvm.mma.sync" in made[0]
    assert "nvvm.mma.sync" not in made[1]


def test_a_load_outside_of_roles_refuses_an_engine_that_cannot_bring_it() -> None:
    source = PLAIN.format(load="atom = #nvptx.tma", dot="")
    errors = error(source)
    assert "expected an address that is known to be a multiple of 16 bytes" in errors
    assert "roles are completed, since 'atom' is decided" in errors
    assert f"<stdin>:{line_of(source, 'tile.load')}:" in errors


@pytest.mark.parametrize(
    "load, dot",
    [("", 'role = "mma"'), ("", "in_flight = 0"), ('ring = "r"', ""), ("depth = 2", ""),
     ("", 'atom = #nvptx.wgmma<"m64n64k16", bf16, f32>')],
)  # fmt: skip
def test_decisions_about_roles_are_completed_by_roles(load: str, dot: str) -> None:
    assert code(PLAIN.format(load=load, dot=dot)) != code(PLAIN.format(load="", dot=""))


@pytest.mark.parametrize(
    "load, dot, name", [("stage = 1", "", "stage"), ("", "order = 1", "order")]
)
def test_places_in_a_trip_are_refused_without_a_loop(load: str, dot: str, name: str) -> None:
    source = PLAIN.format(load=load, dot=dot)
    errors = error(source)
    assert f"expected to stand in a loop, since '{name}' is decided" in errors
    assert f"<stdin>:{line_of(source, 'tile.load' if load else 'tile.dot')}:" in errors


def test_a_module_is_compiled_for_its_own_target() -> None:
    done = run("tile-compile", PLAIN.format(load="", dot=""), "--emit", "asm")
    assert ".target sm_90a" in done.stdout
    done = run("tile-compile", PLAIN.format(load="", dot=""), "--target", "cpu")
    assert "expected the target that the module is for, nvptx:sm_90a, got cpu" in done.stderr


def test_a_pinned_sum_stays_in_its_loop() -> None:
    source = """
    tile.kernel @k(%f: f32, %x: !tile.view<?xf32>, %n: index) attributes {
        tile.roles = [#tile.role<"all", warps = 4>]} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %n step %c1 {
        %e = arith.addf %f, %f PINS : f32
        %t = tile.splat %e : tensor<64xf32>
        tile.store %t, %x[%i] : tensor<64xf32>, !tile.view<?xf32>
      }
      tile.return
    }"""
    pins = '{tile.role = "all", tile.stage = 0 : i64}'
    for text, stays in ((pins, True), ("", False)):
        done = run("tile-opt", source.replace("PINS", text), "--tile-simplify",
                   "--tile-hoist-invariants")  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert (done.stdout.index("scf.for") < done.stdout.index("arith.addf")) == stays
