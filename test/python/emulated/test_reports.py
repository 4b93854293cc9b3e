"""What emulated chips tell of kernels that are wrong: both accesses with their lines, warps, roles and
engines, the edge that is missing; each role of a deadlock; a program that never ends."""

from __future__ import annotations

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from mutation import loaded
from pinned import BENCHMARKS, compiled

import kiln
from kiln.runtime.devices import device

BF16 = ml_dtypes.bfloat16


@pytest.fixture(scope="module")
def pinned() -> str:
    """The pinned product for one program, as IR of the last stage."""
    source = (BENCHMARKS / "gemm.mlir").read_bytes()
    source = re.sub(rb"programs = \d+", b"programs = 1", source)
    return compiled(source, device("emu:sm_90a").target, ("llvm",)).section("ir:llvm").decode()


def report(text: str) -> str:
    launch = loaded(text, device("emu:sm_90a").target)
    # More trips than the ring has slots.
    a, b, c = (np.zeros((256, n), BF16) for n in (320, 320, 256))
    with pytest.raises(kiln.DeviceError) as raised:
        launch(a, b, c)
    return str(raised.value)


def without(text: str, pattern: str, place: int = 0) -> str:
    """Without one of the lines that begin so."""
    lines = text.split("\n")
    found = [i for i, line in enumerate(lines) if re.match(rf"\s*(?:%\w+ = )?{pattern}", line)]
    del lines[found[place]]
    return "\n".join(lines)


def lines_of(text: str, told: str, label: str) -> list[str]:
    """The source lines that a line of the report names."""
    line = re.search(rf"^  {label}: (.*)$", told, re.MULTILINE)[1]
    return [text.split("\n")[int(n) - 1].strip() for n in re.findall(r"mutant\.mlir:(\d+):", line)]


def test_a_missing_fence_has_writer_engine_and_proxies(pinned: str) -> None:
    text = without(pinned, r"nvvm\.fence\.proxy", place=1)
    told = report(text)
    assert "no fence of the proxy stands between the write and the engine" in told
    assert re.search(r"this read: a store of a box started by thread \d+ \(warp \d+, role mma\), "
                     r"by the asynchronous proxy, at", told)  # fmt: skip
    assert "nvvm.cp.async.bulk.tensor" in lines_of(text, told, "this read")[0]
    assert "nvvm.stmatrix" in lines_of(text, told, "that write")[0]
    assert re.search(r"  missing: a fence of the proxy, by thread \d+ \(warp \d+, role mma\)", told)


def test_a_missing_wait_has_the_product_that_still_reads(pinned: str) -> None:
    text = without(pinned, r"nvvm\.wgmma\.wait\.group")
    told = report(text)
    assert "which an engine is still reading" in told
    assert "nvvm.cp.async.bulk.tensor" in lines_of(text, told, "this copy")[0]
    # The line at which the statement of the product begins.
    assert "wgmma.mma_async" in lines_of(text, told, "that read")[0]
    assert re.search(r"that read: a product started by thread 128 \(warp 4, role mma\)", told)
    assert "missing: a wait of thread 0 (warp 0, role load)" in told


def test_a_missing_barrier_has_two_threads_and_that_none_was_told(pinned: str) -> None:
    told = report(without(pinned, r"nvvm\.barrier id", place=1))
    assert "nothing orders the two" in told
    assert re.search(
        r"missing: thread \d+ \(warp \d+, role mma\) has come to no barrier since", told
    )


def test_a_deadlock_has_each_role_and_what_it_waits_for(pinned: str) -> None:
    text = without(pinned, r"nvvm\.mbarrier\.arrive %", place=0)
    told = report(text).split("\n")
    assert "waits forever for a phase of the barrier at offset" in told[0]
    assert [re.match(r"  warps? ([\d to]+), role (\w+): (ended|waits)", line).groups()
            for line in told[1:]] == [
        ("0", "load", "waits"), ("1 to 3", "load", "ended"), ("4 to 11", "mma", "waits")
    ]  # fmt: skip
    assert re.search(r"for whose end \d of 8 arrivals and 0 bytes are missing, at mutant", told[1])


# ---- Lines of Python


@kiln.kernel
def halve(x: kiln.View):
    kiln.grid(1)
    most = kiln.max(x.load((0,), (32,)), axis=0)
    while most < 100:  # LOOP
        most = most * 0.5
    x.store((0,), kiln.full((32,), most, kiln.f32))


def line_of(mark: str) -> int:
    lines = Path(__file__).read_text(encoding="utf-8").split("\n")
    return next(i for i, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


@pytest.mark.parametrize("chip", ["sm_90a", "gfx942"])
def test_a_kernel_that_never_ends_is_stopped_and_shown(monkeypatch, chip: str) -> None:
    monkeypatch.setenv("KILN_EMULATED_STEPS", "10000")
    with pytest.raises(kiln.DeviceError) as raised:
        halve.options(device=f"emu:{chip}")(np.ones(32, np.float32))
    told = str(raised.value)
    assert "the program does not end: it was stopped after 10000 steps" in told
    place = f"test_reports.py:{line_of('LOOP')}:5 (loop)"
    assert told.count(place) == 2, told
    assert "\n  warp 0: runs, at " in told


def test_a_number_of_steps_that_is_none_is_refused(monkeypatch) -> None:
    monkeypatch.setenv("KILN_EMULATED_STEPS", "many")
    with pytest.raises(ValueError, match="expected a number in KILN_EMULATED_STEPS"):
        halve.options(device="emu:sm_90a")(np.full(32, 100, np.float32))


def test_no_clashes_are_no_number_of_them(monkeypatch) -> None:
    monkeypatch.setenv("KILN_EMULATED_CLASHES", "0")
    with pytest.raises(
        ValueError, match="expected a number from 1 to .* in KILN_EMULATED_CLASHES, got 0"
    ):
        halve.options(device="emu:sm_90a")(np.full(32, 100, np.float32))


def test_an_instruction_that_is_not_known_has_its_name_and_line(pinned: str) -> None:
    lines = pinned.split("\n")
    at = next(i for i, line in enumerate(lines) if "nvvm.barrier0" in line)
    unknown = '    llvm.call_intrinsic "llvm.nvvm.exit"() : () -> ()'
    told = report("\n".join([*lines[:at], unknown, *lines[at:]]))
    assert f"at mutant.mlir:{at + 1}:5 (nvvm.exit)" in told
    assert "the emulator does not know the instruction 'nvvm.exit'" in told


def test_assembly_that_is_not_known_is_refused_at_its_line(pinned: str) -> None:
    lines = pinned.split("\n")
    at = next(i for i, line in enumerate(lines) if "nvvm.barrier0" in line)
    unknown = '    llvm.inline_asm has_side_effects "brkpt;", "" : () -> ()'
    with pytest.raises(kiln.CompileError) as raised:
        loaded("\n".join([*lines[:at], unknown, *lines[at:]]), device("emu:sm_90a").target)
    told = str(raised.value)
    assert f"mutant.mlir:{at + 1}:5: the emulator cannot run assembly: 'brkpt;'" in told


def test_a_program_that_ends_too_early_has_what_is_left(pinned: str) -> None:
    text = without(pinned, r"nvvm\.cp\.async\.bulk\.wait_group 0", place=-1)
    told = report(text)
    assert "ends while the engine may still read from shared memory" in told
    assert "nvvm.cp.async.bulk.tensor" in lines_of(text, told, "the last")[0]
