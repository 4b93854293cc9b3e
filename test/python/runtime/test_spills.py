"""`explain` tells the registers and spills that the assembler, the code object or the driver
reports. What none of them reported is unknown, never 0."""

import re
import subprocess

import pytest
from cubin import ASSEMBLER

import kiln
from kiln.runtime.devices import targets

TARGETS = {entry["name"] for entry in targets()}


@kiln.kernel
def crowded(x: kiln.View[kiln.f32, 3], y: kiln.View[kiln.f32, 3], n: kiln.i32,
            SIZE: kiln.constexpr = 128):  # fmt: skip
    kiln.grid(1)
    a = x.load((0, 0, 0), (1, SIZE, SIZE)).reshape(SIZE, SIZE)
    b = x.load((1, 0, 0), (1, SIZE, SIZE)).reshape(SIZE, SIZE)
    c = x.load((2, 0, 0), (1, SIZE, SIZE)).reshape(SIZE, SIZE)
    for _ in range(n):
        a, b, c = b * c + a, c * a + b, a * b + c
    y.store((0, 0, 0), (a + b * c).reshape(1, SIZE, SIZE))


VIEW = kiln.View[kiln.f32, 3]


@pytest.mark.skipif("nvptx" not in TARGETS, reason="this build has no such target")
@pytest.mark.skipif(not ASSEMBLER.exists(), reason=f"needs {ASSEMBLER}")
@pytest.mark.parametrize("size", [128, 16])
def test_spilled_bytes_are_those_that_the_assembler_reports(monkeypatch, tmp_path, size) -> None:
    monkeypatch.setenv("KILN_ASSEMBLER", str(ASSEMBLER))
    compiled = crowded.compile(VIEW, VIEW, kiln.i32, SIZE=size, target="nvptx:sm_90a")
    (tmp_path / "k.ptx").write_text(compiled.asm)
    told = subprocess.run(
        [ASSEMBLER, "-v", "-arch=sm_90a", "-lineinfo", "k.ptx", "-o", "k.cubin"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    account = told.stdout + told.stderr
    stack, stored, loaded = re.search(
        r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", account
    ).groups()
    assert (int(stored) > 0) == (size == 128), account
    lines = compiled.explain().splitlines()
    assert (
        f"spilled: {stored} bytes stored, {loaded} bytes loaded a thread; "
        f"{stack} bytes of local memory a thread"
    ) in lines
    registers = re.search(r"Used (\d+) registers", account)[1]
    assert f"registers: {registers} a thread" in lines


@pytest.mark.skipif("nvptx" not in TARGETS, reason="this build has no such target")
def test_spills_are_unknown_where_nothing_was_assembled(monkeypatch) -> None:
    monkeypatch.setenv("KILN_ASSEMBLER", "driver")
    text = crowded.compile(VIEW, VIEW, kiln.i32, target="nvptx:sm_90a").explain()
    assert (
        "registers: unknown (nothing was assembled, and no device has loaded the code)\n"
        "spilled: unknown; local memory unknown\n"
    ) in text
    assert "spilled: 0" not in text


@pytest.mark.skipif("amdgpu" not in TARGETS, reason="this build has no such target")
def test_spilled_registers_are_those_of_the_code_object() -> None:
    compiled = crowded.compile(VIEW, VIEW, kiln.i32, SIZE=256, target="amdgpu:gfx942", _opt_level=1)

    def stated(name: str) -> int:
        return int(re.search(rf"\.{name}:\s+(\d+)", compiled.asm)[1])

    spilled = stated("vgpr_spill_count") + stated("sgpr_spill_count")
    assert spilled > 0
    assert (
        f"spilled: {spilled} registers; {stated('private_segment_fixed_size')} bytes of local "
        "memory a thread"
    ) in compiled.explain()
