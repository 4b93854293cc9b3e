"""Tiles in shared memory that products in tensor memory read and lanes, too, of one role: a slot goes
back when a commit has told of the one and the warps of the other. On the emulated chip, against
float64."""

from __future__ import annotations

import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from cubin import ASSEMBLER

import kiln

BF16 = ml_dtypes.bfloat16
F32 = np.float32
CHIP = "emu:sm_100a"


@kiln.kernel
def summed(
    a: kiln.View, b: kiln.View, c: kiln.View, r: kiln.View, BM: kiln.constexpr,
    copies: kiln.constexpr, own: kiln.constexpr, copy: kiln.constexpr, rings: kiln.constexpr,
    depth: kiln.constexpr, stages: kiln.constexpr, sums: kiln.constexpr, again: kiln.constexpr,
    chosen: kiln.constexpr, cluster: kiln.constexpr, shared: kiln.constexpr,
    persistent: kiln.constexpr, atom: kiln.constexpr,
):  # fmt: skip
    """A product, and beside it the sums of rows of one operand or of both."""
    i = kiln.grid(kiln.cdiv(c.shape[0], BM))
    mma = kiln.role("mma", warps=4, copies=copies)
    kiln.pin(roles=mma if own else (kiln.role("load", warps=4), mma))
    if cluster:
        kiln.pin(cluster=(2, 1))
    if persistent:
        kiln.pin(persistent=(2, 1))
    load = "mma" if own else "load"
    acc, rows = kiln.zeros((BM, 64), kiln.f32), kiln.zeros((BM,), kiln.f32)
    columns = kiln.zeros((64,), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=depth):
        x = kiln.pin(a.load((i * BM, k), (BM, 64)), role=load, atom=copy, ring=rings[0])
        y = kiln.pin(b.load((0, k), (64, 64)), role=load, atom=copy, ring=rings[1])
        if shared:
            kiln.pin(y, multicast="x")
        acc = kiln.dot(x, y, acc, transpose_b=True)
        kiln.pin(acc, role="mma", atom=atom, in_flight=0)
        if chosen:
            if k % 128 == 0:
                rows = kiln.pin(rows + kiln.sum(x.to(kiln.f32), axis=1), role="mma")
        else:
            rows = kiln.pin(rows + kiln.sum(x.to(kiln.f32), axis=1), role="mma")
        if sums == "both":
            columns = kiln.pin(columns + kiln.sum(y.to(kiln.f32), axis=1), role="mma")
        if stages:
            kiln.pin(x, stage=0)
            kiln.pin(y, stage=0)
            kiln.pin(acc, stage=stages[0])
            kiln.pin(rows, stage=stages[1])
    if again:
        for k in kiln.pin(range(0, a.shape[1], 64), depth=depth):
            x = kiln.pin(a.load((i * BM, k), (BM, 64)), role=load, atom=copy, ring=rings[0])
            y = kiln.pin(b.load((0, k), (64, 64)), role=load, atom=copy, ring=rings[1])
            acc = kiln.dot(x, y, acc, transpose_b=True)
            kiln.pin(acc, role="mma", atom=atom, in_flight=0)
    if sums == "both":
        acc = acc + columns[None, :]
    kiln.pin(c.store((i * BM, 0), acc), role="mma")
    kiln.pin(r.store((i * BM,), rows), role="mma")


USUAL = dict(
    BM=128, copies=1, own=False, copy="tma", rings=("r", "r"), depth=3, stages=None, sums="one",
    again=False, chosen=False, cluster=False, shared=False, persistent=False, atom="tcgen05",
)  # fmt: skip


def check(rng, **said) -> None:
    said = USUAL | said
    m = int(rng.integers(1, 3 * said["BM"]))
    for trips in (0, 1, 2, 3, 9):
        k = max(0, 64 * trips - 8 * int(rng.integers(0, 8)))
        a, b = (rng.integers(-3, 4, (rows, 576)).astype(BF16)[:, :k] for rows in (m, 64))
        c, r = np.full((m, 64), np.nan, F32), np.full(m, np.nan, F32)
        summed.options(device=CHIP)(a, b, c, r, **said)
        a, b = a.astype(np.float64), b.astype(np.float64)
        want = (1 + said["again"]) * (a @ b.T)
        if said["sums"] == "both":
            want += b.sum(axis=1)
        seen = np.arange(k) // 64 % 2 == 0 if said["chosen"] else np.arange(k) >= 0
        assert np.array_equal(c, want), (said, m, k)
        assert np.array_equal(r, a[:, seen].sum(axis=1)), (said, m, k)


SAID = [
    dict(),
    dict(own=True),
    dict(copy="cp_async"),
    dict(own=True, copy="cp_async"),
    dict(own=True, copy="through_registers", stages=(1, 1)),
    dict(BM=64),
    dict(depth=1),
    dict(again=True),
    dict(chosen=True),
    dict(again=True, chosen=True, own=True),
    dict(stages=(0, 1)),
    dict(stages=(1, 0)),
    dict(stages=(0, 2), own=True),
    dict(stages=(2, 0), own=True, copy="cp_async"),
    dict(persistent=True),
    dict(cluster=True, shared=True),
]


@pytest.mark.crossed(1)
@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("sums", ["one", "both"])
@pytest.mark.parametrize("rings", [("r", "r"), ("a", "b")])
def test_products_and_sums_of_rows(rng, said: dict, sums: str, rings: tuple[str, str]) -> None:
    check(rng, **said, sums=sums, rings=rings)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("BM", [128, 256])
def test_copies_of_a_role(rng, BM: int, own: bool) -> None:
    check(rng, copies=2, BM=BM, own=own)
    check(rng, copies=2, BM=BM, own=own, stages=(1, 0), rings=("a", "b"))


@pytest.mark.skipif(not ASSEMBLER.exists(), reason="there is no ptxas")
def test_the_code_is_assembled(tmp_path: Path) -> None:
    """Five arrivals give a slot back, one of which is a commit's."""
    a, c, r = np.zeros((256, 256), BF16), np.zeros((256, 64), F32), np.zeros(256, F32)
    compiled = summed.compile(a, a[:64], c, r, **USUAL, target="nvptx:sm_100a")
    code = tmp_path / "code.ptx"
    code.write_text(compiled.asm)
    subprocess.run([ASSEMBLER, "-arch=sm_100a", code, "-o", tmp_path / "code.cubin"], check=True)
    assert "tile.channel full = 1 empty = 5 {" in compiled.ir("schedule")


def test_two_programs_do_not_see_what_they_multiply() -> None:
    a, c, r = np.zeros((256, 256), BF16), np.zeros((256, 64), F32), np.zeros(256, F32)
    said = USUAL | dict(cluster=True, atom="tcgen05_pair")
    with pytest.raises(kiln.CompileError) as refused:
        summed.compile(a, a[:64], c, r, **said, target="nvptx:sm_100a")
    text = str(refused.value)
    assert "expected a tile that is operand a of dots of two programs alone" in text, text
    assert "x = kiln.pin(a.load(" in text and "note: " in text, text


@kiln.kernel
def touched(
    a: kiln.View, b: kiln.View, c: kiln.View, atom: kiln.constexpr, near: kiln.constexpr,
    far: kiln.constexpr,
):  # fmt: skip
    """One ring of what the role computes with and of what its products read, a stage later."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    acc = kiln.zeros((128, 16), kiln.f32)
    for k in range(0, a.shape[1], 32):
        x = kiln.pin(a.load((0, k), (128, 32)), atom="through_registers")
        y = kiln.pin(b.load((0, k), (16, 32)), atom="through_registers")
        w = kiln.pin(kiln.maximum(x, 0), stage=near)
        acc = kiln.pin(kiln.dot(w, y, acc, transpose_b=True), atom=atom, stage=far)
    c.store((0, 0), acc)


@pytest.mark.parametrize("near, far", [(0, 0), (0, 1), (1, 1), (1, 2)])
@pytest.mark.parametrize(
    "chip, atom",
    [("sm_80", "mma_sync"), ("sm_90a", "wgmma"), ("sm_100a", "tcgen05"), ("gfx942", "matrix")],
)
def test_products_of_a_later_stage(rng, chip: str, atom: str, near: int, far: int) -> None:
    for k in (32, 64, 8 * int(rng.integers(5, 30))):
        a, b = (rng.integers(-4, 5, (rows, k)).astype(BF16) for rows in (128, 16))
        c = np.full((128, 16), np.nan, F32)
        touched.options(device=f"emu:{chip}")(a, b, c, atom=atom, near=near, far=far)
        want = np.maximum(a.astype(np.float64), 0) @ b.astype(np.float64).T
        np.testing.assert_array_equal(c, want)
