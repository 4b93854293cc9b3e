"""Each opcode that Kiln emits for AMD's chips has an entry (test/python/amd_opcodes.py), and of integers the
entry is what the run of the final code computes: small kernels store where their numbers say, and
`tile-check-isa` finds those whose number is not the formula's."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterator
from functools import cache

import isa
import pytest
from amd_opcodes import ALL, INTEGERS, SCALARS, effects, is_known, matrices, unknown
from pinned import BENCHMARKS, compiled
from seeds import seed_of_commit


@pytest.mark.parametrize("chip", ["gfx942", "gfx950"])
def test_each_opcode_of_a_pinned_kernel_has_an_entry(chip: str) -> None:
    """The examples and the memory suite's kernels are asked by who reads them back."""
    source = (BENCHMARKS / f"gemm-{chip}.mlir").read_bytes()
    assert not unknown(bytes(compiled(source, f"amdgpu:{chip}", ("asm",)).section("asm")))


@pytest.mark.skipif(not isa.has_checker(), reason="a package has no tile-check-isa")
def test_who_reads_code_back_asks_for_entries(monkeypatch) -> None:
    code = kernel("gfx950", "\tv_mul_hi_u32 v4, v0, v0\n").encode()
    isa.check(code, drawn=False)
    monkeypatch.delitem(INTEGERS, "mul_hi_u32")
    with pytest.raises(AssertionError, match="v_mul_hi_u32"):
        isa.check(code, drawn=False)
    isa.check(code)


def test_an_opcode_without_an_entry_is_found() -> None:
    code = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n\tv_add_u32_e32 v1, v2, v3\n'
    assert not unknown(code)
    for line in ("v_mfma_f32_4x4x4_16b_f16 v[0:3], v[4:5], v[6:7], v[0:3]", "v_sad_u8 v1, v2, v3, v4",
                 "ds_wrxchg_rtn_b32 v1, v2, v3", "v_cmp_eq_q32_e32 vcc, v1, v2",
                 "v_dual_mov_b32 v1, 0 :: v_dual_dot2acc_f32_f16 v2, v3, v4"):  # fmt: skip
        assert len(unknown(f"{code}\t{line}\n")) == 1, line
    assert not unknown("\tv_sad_u8 v1, v2, v3, v4\n")  # of another target


def test_tables_are_read() -> None:
    assert len(effects()) > 250 and len(matrices()) > 25
    assert is_known("ds_read_b64_tr_b16") and is_known("v_mfma_f32_32x32x8bf16_1k")


# Numbers as operands: signs, ends, shifts that go beyond 31.
EDGES = (0, 1, 2, 31, 32, 0x7FFFFFFF, 0x80000000, ALL)
PROLOGUE = {
    "gfx950": ("ds_write_b32", "ds_read_b32", "s_waitcnt lgkmcnt(0)", "vcc"),
    "gfx1201": ("ds_store_b32", "ds_load_b32", "s_wait_dscnt 0x0", "vcc_lo"),
}


def kernel(chip: str, body: str) -> str:
    """256 threads, of which each reads the word that it wrote if v8 is zero, else one of another wave."""
    store, load, wait, _ = PROLOGUE[chip]
    size = 64 if chip == "gfx950" else 32
    return f"""\t.amdgcn_target "amdgcn-amd-amdhsa--{chip}"
\t.text
\t.type\tk,@function
k:
\tv_mov_b32_e32 v8, 0
{body}\tv_min_u32_e32 v8, 1, v8
\tv_lshlrev_b32_e32 v8, 8, v8
\tv_lshlrev_b32_e32 v1, 2, v0
\tv_xor_b32_e32 v2, v1, v8
\t{store} v1, v0
\t{wait}
\t{load} v3, v2
\t{wait}
\ts_endpgm
\t.amdhsa_kernel k
\t.amdhsa_next_free_vgpr 64
\t.amdhsa_next_free_sgpr 64
{chr(9) + ".amdhsa_accum_offset 64" + chr(10) if chip == "gfx950" else ""}\t.end_amdhsa_kernel
\t.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .args:           []
    .group_segment_fixed_size: 65536
    .max_flat_workgroup_size: 256
    .name:           k
    .private_segment_fixed_size: 0
    .symbol:         k.kd
    .vgpr_count:     40
    .vgpr_spill_count: 0
    .wavefront_size: {size}
...
\t.end_amdgpu_metadata
"""


def read_back(text: str) -> tuple[int, str]:
    done = subprocess.run(
        [isa.CHECKER, "-"], input=text, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


def is_scalar(name: str) -> bool:
    return name.startswith("s_")


def compared(name: str, numbers: tuple[int, ...], off: int = 0) -> str:
    """What an opcode gives of numbers in registers, against what its formula does; what differs in v8."""
    file = "s" if is_scalar(name) else "v"
    move = "s_mov_b32 s" if file == "s" else "v_mov_b32_e32 v"
    lines = [f"{move}{20 + i}, {hex(x)}" for i, x in enumerate(numbers)]
    _, formula = SCALARS[name] if file == "s" else INTEGERS[name]
    operands = ", ".join(f"{file}{20 + i}" for i in range(len(numbers)))
    opcode = name if file == "s" else f"v_{name}"
    lines += [f"{opcode} {file}30, {operands}",
              f"v_mov_b32_e32 v31, {hex((formula(*numbers) + off) & ALL)}",
              f"v_mov_b32_e32 v30, {file}30", "v_xor_b32_e32 v30, v30, v31",
              "v_or_b32_e32 v8, v8, v30"]  # fmt: skip
    return "".join(f"\t{line}\n" for line in lines)


def operands(name: str, rng: random.Random, count: int) -> Iterator[tuple[int, ...]]:
    arity = (SCALARS if is_scalar(name) else INTEGERS)[name][0]
    for _ in range(count):
        yield tuple(
            rng.choice(EDGES) if rng.random() < 0.4 else rng.getrandbits(32) for _ in range(arity)
        )


@cache
def opcodes_of(chip: str) -> tuple[str, ...]:
    """Those that the chip has, as its assembler says."""
    found = []
    for name in (*INTEGERS, *SCALARS):
        arity = (SCALARS if is_scalar(name) else INTEGERS)[name][0]
        status, said = read_back(kernel(chip, compared(name, (1,) * arity)))
        if status != 2:
            found.append(name)
        else:
            assert re.search("instruction|operand", said), said
    return tuple(found)


needs_checker = pytest.mark.skipif(not isa.has_checker(), reason="a package has no tile-check-isa")


@needs_checker
@pytest.mark.parametrize("chip", PROLOGUE)
def test_integers_are_what_the_manual_says(chip: str) -> None:
    rng = random.Random(seed_of_commit())
    names = opcodes_of(chip)
    assert len(names) > 50
    drawn = [(name, x) for name in names for x in operands(name, rng, 12)]
    if read_back(kernel(chip, "".join(compared(*each) for each in drawn)))[0] == 0:
        return
    wrong = [(n, x) for n, x in drawn if read_back(kernel(chip, compared(n, x)))[0]]
    raise AssertionError([f"{name} of {list(map(hex, x))}" for name, x in wrong])


@needs_checker
@pytest.mark.parametrize("chip", PROLOGUE)
def test_another_number_is_found(chip: str) -> None:
    rng = random.Random(seed_of_commit())
    for name in rng.sample(opcodes_of(chip), 8):
        for numbers in operands(name, rng, 1):
            status, said = read_back(kernel(chip, compared(name, numbers, off=1)))
            assert status == 1 and "of LDS" in said, name


def test_each_integer_is_one_of_some_chip() -> None:
    if isa.has_checker():
        assert {*opcodes_of("gfx950"), *opcodes_of("gfx1201")} == {*INTEGERS, *SCALARS}
