"""Roles on chips that have barriers in shared memory and no engines: warps bring tiles by copies past
the registers or through them, others multiply, others store. On emulated chips, against float64."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from role_kernels import PLAIN, attention, product

import kiln

BF16 = ml_dtypes.bfloat16
COPIES = ["cp_async", "through_registers"]
BY_CHIP = {
    "sm_80": COPIES, "sm_86": COPIES, "sm_89": COPIES, "sm_120a": COPIES,
    "gfx942": ["load_to_lds", "through_registers"],
    "gfx950": ["load_to_lds", "through_registers"],
    "gfx1100": ["through_registers"], "gfx1201": ["through_registers"],
}  # fmt: skip
CHIPS = list(BY_CHIP)


def atom_of(chip: str) -> str:
    return "matrix" if chip.startswith("gfx") else "mma_sync"


def draw_product(rng, chip: str) -> dict:
    copies, stores = BY_CHIP[chip], str(rng.choice(["mma", "mma", "store"]))
    # 64 KiB of shared memory hold no more slots beside what is stored, and no operand's turn.
    is_small = chip.startswith("gfx")
    return dict(
        copy_a=str(rng.choice(copies)), copy_b=str(rng.choice(copies)), atom=atom_of(chip),
        depth_a=int(rng.integers(1, 3 if is_small else 4)), depth_b=int(rng.integers(1, 4)),
        # Loads to LDS are as many of each warp.
        loaders=int(rng.choice([1, 2])), load_warps=int(rng.choice([1, 2])),
        copies=int(rng.choice([1, 2])), warps=int(rng.choice([2, 4])),
        stores=stores, persistent=bool(rng.integers(2)),
        lanes=bool(rng.integers(2)) and not (is_small and stores == "store"),
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [BF16, np.float16])
@pytest.mark.parametrize("chip", CHIPS)
def test_products_of_drawn_roles(rng, chip: str, dtype) -> None:
    schedule = draw_product(rng, chip)
    print(schedule)
    # What goes to LDS directly is of rows that are known to be whole words; those of none are not.
    counts = "load_to_lds" in (schedule["copy_a"], schedule["copy_b"])
    for trips in (2 if counts else 0, 1, int(rng.integers(2, 8))):
        m, n, k = int(rng.integers(1, 300)), int(rng.integers(1, 140)), 32 * trips
        a, b = (rng.standard_normal((rows, max(k, 32))).astype(dtype)[:, :k] for rows in (m, n))
        c = np.full((m, n), np.nan, np.float32)
        product.options(device=f"emu:{chip}")(a, b, c, **schedule)
        x = a.astype(np.float64)
        want = (np.maximum(x, 0) if schedule["lanes"] else x) @ b.astype(np.float64).T
        assert np.abs(c - want).max() <= 1e-3, (m, n, k)


@pytest.mark.parametrize("copy", COPIES)
def test_rows_of_any_length(rng, copy: str) -> None:
    """Of odd strides, through registers; of whole words, by copies of four bytes."""
    m, n, k, wider = 77, 91, 96, 97 if copy == "through_registers" else 98
    a, b = (rng.standard_normal((rows, wider)).astype(BF16)[:, :k] for rows in (m, n))
    c = np.full((m, n), np.nan, np.float32)
    schedule = PLAIN | {"copy_a": copy, "copy_b": copy, "copies": 2}
    product.options(device="emu:sm_86")(a, b, c, **schedule)
    assert np.abs(c - a.astype(np.float64) @ b.astype(np.float64).T).max() <= 1e-3


@pytest.mark.parametrize("turn", range(2))
@pytest.mark.parametrize("chip", CHIPS)
def test_attention_of_two_roles(rng, chip: str, turn: int) -> None:
    later, copy = int(rng.integers(2)), BY_CHIP[chip][turn % len(BY_CHIP[chip])]
    schedule = dict(
        copy=copy, depth=int(rng.integers(1, 4)) + later, copies=int(rng.choice([1, 2])),
        atom=atom_of(chip),
    )  # fmt: skip
    print(schedule, later)
    for keys in (32, int(rng.integers(1, 32)), int(rng.integers(33, 250))):
        rows = int(rng.integers(1, 200))
        q, k, v = (rng.standard_normal((n, 64)).astype(BF16) for n in (rows, keys, keys))
        q = (0.3 * q.astype(np.float32)).astype(BF16)
        out = np.full((rows, 64), np.nan, np.float32)
        attention.options(device=f"emu:{chip}")(q, k, v, out, later=later, **schedule)
        scores = q.astype(np.float64) @ k.astype(np.float64).T
        weights = np.exp2(scores - scores.max(axis=1, keepdims=True))
        want = weights @ v.astype(np.float64) / weights.sum(axis=1, keepdims=True)
        assert np.abs(out - want).max() <= 1e-2 * np.abs(want).max(), (rows, keys)


@kiln.kernel
def gathered(
    a: kiln.View, b: kiln.View, rows: kiln.View, c: kiln.View, copy: kiln.constexpr,
    gathers: kiln.constexpr, atom: kiln.constexpr,
):  # fmt: skip
    """Rows that are named by others, which the role that multiplies fetches, or one that hands them
    over."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], 64))
    roles = (kiln.role("load", warps=2), kiln.role("mma", warps=4))
    if gathers == "fetch":
        roles = (*roles, kiln.role("fetch", warps=4))
    kiln.pin(roles=roles)
    acc = kiln.zeros((64, 64), kiln.f32)
    at = kiln.pin(rows.load((i * 64,), (64,)), role=gathers)
    for k in range(0, a.shape[1], 32):
        column = k + kiln.arange(0, 32)[None, :]
        x = kiln.pin(a.gather((at[:, None], column)), role=gathers)
        y = kiln.pin(b.load((j * 64, k), (64, 32)), role="load", atom=copy, ring="b", depth=3)
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), role="mma", atom=atom)
    kiln.pin(c.store((i * 64, j * 64), acc), role="mma")


@pytest.mark.parametrize("gathers", ["mma", "fetch"])
@pytest.mark.parametrize("chip", CHIPS)
def test_a_gather_beside_a_ring(rng, chip: str, gathers: str) -> None:
    copy = str(rng.choice(BY_CHIP[chip]))
    for k in (8 if copy == "load_to_lds" else 0, 8 * int(rng.integers(1, 25))):
        m, n, every = (int(rng.integers(1, 150)) for _ in "mne")
        a, b = (rng.standard_normal((rows, max(k, 8))).astype(BF16)[:, :k] for rows in (every, n))
        rows = rng.integers(0, every, m).astype(np.int32)
        c = np.full((m, n), np.nan, np.float32)
        gathered.options(device=f"emu:{chip}")(
            a, b, rows, c, copy=copy, gathers=gathers, atom=atom_of(chip)
        )
        want = a.astype(np.float64)[rows] @ b.astype(np.float64).T
        assert np.abs(c - want).max() <= 1e-3, (m, n, k, copy)


@kiln.kernel
def uneven(a: kiln.View, b: kiln.View, d: kiln.View, c: kiln.View, slots: kiln.constexpr):
    """Two tiles of a trip go round in one ring, a third one goes through registers."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=2), kiln.role("mma", warps=2)))
    acc, other = kiln.zeros((64, 64), kiln.f32), kiln.zeros((64, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=slots):
        x = kiln.pin(a.load((0, k), (64, 64)), role="load", atom="cp_async")
        y = kiln.pin(b.load((k, 0), (64, 64)), role="load", atom="through_registers")
        acc = kiln.pin(kiln.dot(x, y, acc), role="mma", stage=0, swap=True)
        z = kiln.pin(d.load((0, k), (64, 64)), role="load", atom="cp_async")
        other = kiln.pin(kiln.dot(x, z, other, transpose_b=True), role="mma")
    kiln.pin(c.store((0, 0), acc - other), role="mma")


@pytest.mark.parametrize("slots", [2, 3, 4, 5])
def test_slots_that_tiles_do_not_share_out_evenly(rng, slots: int) -> None:
    """What goes through registers is not written a trip late then, where nobody knows whether the
    roles would wait for one another."""
    for trips in (1, 2, 5):
        a, d = (rng.integers(-4, 5, (64, 64 * trips)).astype(BF16) for _ in "ad")
        b = rng.integers(-4, 5, (64 * trips, 64)).astype(BF16)
        c = np.full((64, 64), np.nan, np.float32)
        uneven.options(device="emu:sm_80")(a, b, d, c, slots=slots)
        x, y, z = (each.astype(np.float64) for each in (a, b, d))
        np.testing.assert_array_equal(c, x @ (y - z.T))


def test_nothing_of_engines_is_in_the_code() -> None:
    """Barriers are tested, not tried; nobody publishes anything."""
    a, b = (np.zeros((256, 256), BF16) for _ in "ab")
    made = product.compile(a, b, np.zeros((256, 256), np.float32), **PLAIN, target="nvptx:sm_80")
    assert "mbarrier.test_wait.parity.shared.b64" in made.asm
    assert "cp.async.mbarrier.arrive.shared.b64" in made.asm
    assert not re.search(
        r"try_wait|expect_tx|fence|setmaxnreg", made.asm.split("// kiln.protocol")[0]
    )


@kiln.kernel
def refused(
    a: kiln.View, c: kiln.View, atom: kiln.constexpr, stored: kiln.constexpr = None,
    multicast: kiln.constexpr = None, registers: kiln.constexpr = None,
    cluster: kiln.constexpr = None, copies: kiln.constexpr = 1, warps: kiln.constexpr = 4,
):  # fmt: skip
    i, j = kiln.grid(c.shape[0] // 64, 1)
    load = kiln.role("load", warps=4)
    if registers is not None:
        load = kiln.role("load", warps=4, registers=registers)
    kiln.pin(roles=(load, kiln.role("add", warps=warps, copies=copies)))
    if cluster is not None:
        kiln.pin(cluster=cluster)
    x = kiln.pin(a.load((i * 64, j * 64), (64, 64)), role="load", ring="a", depth=2, atom=atom)
    if multicast is not None:
        x = kiln.pin(x, multicast=multicast)
    out = kiln.pin(c.store((i * 64, j * 64), x + x), role="add")
    if stored is not None:
        kiln.pin(out, atom=stored)


@pytest.mark.parametrize(
    "options, message, line",
    [
        (
            {"atom": "tma"},
            "expected 'atom' to be an instruction of emu:sm_80.*got \"tma\"",
            "a.load",
        ),
        (
            {"stored": "tma"},
            "expected 'atom' to be an instruction of emu:sm_80.*\"tma\"",
            "c.store",
        ),
        (
            {"registers": 40},
            'expected no registers of role "load", .* on emu:sm_80, got 40',
            "kiln.pin(roles",
        ),
        (
            {"cluster": (2, 1)},
            "expected a chip that has clusters, .*got emu:sm_80",
            "kiln.pin(cluster",
        ),
        ({"multicast": "x"}, "expected .*cluster", "a.load"),
        (
            {"copies": 14, "warps": 1},
            "at most 15 barriers on emu:sm_80, one each, got 17",
            "kiln.pin(roles",
        ),
    ],
)
def test_what_these_chips_lack_is_refused(options: dict, message: str, line: str) -> None:
    a, c = (np.zeros((128, 64), np.float32) for _ in "ac")
    with pytest.raises(kiln.CompileError, match=message) as got:
        refused.options(device="emu:sm_80")(a, c, **({"atom": "cp_async"} | options))
    assert line in str(got.value)


def test_waves_keep_their_registers() -> None:
    a, c = (np.zeros((128, 64), np.float32) for _ in "ac")
    with pytest.raises(kiln.CompileError, match='no registers of role "load", .*gfx942, got 40'):
        refused.options(device="emu:gfx942")(a, c, atom="load_to_lds", registers=40)


def test_waves_meet_at_words_of_shared_memory() -> None:
    """The block's own barrier stands in front of the roles alone."""
    a, b = (np.zeros((256, 256), BF16) for _ in "ab")
    schedule = PLAIN | {"copy_a": "load_to_lds", "copy_b": "through_registers", "atom": "matrix"}
    for chip in ("gfx942", "gfx950"):
        made = product.compile(
            a, b, np.zeros((256, 256), np.float32), **schedule, target=f"amdgpu:{chip}"
        )
        assert made.asm.count("s_barrier") == 1
        assert "s_sleep 1" in made.asm and "ds_inc_u32" in made.asm


@kiln.kernel
def four_and_eight(a: kiln.View, b: kiln.View, c: kiln.View, copy: kiln.constexpr):
    """Four waves load for eight that multiply."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], 128))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=8)))
    acc = kiln.zeros((128, 128), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=3):
        x = kiln.pin(a.load((i * 128, k), (128, 32)), role="load", atom=copy)
        y = kiln.pin(b.load((j * 128, k), (128, 32)), role="load", atom=copy)
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), role="mma", atom="matrix")
    kiln.pin(c.store((i * 128, j * 128), acc), role="mma")


@pytest.mark.parametrize("copy", BY_CHIP["gfx942"])
def test_four_waves_load_for_eight(rng, copy: str) -> None:
    m, n, k = int(rng.integers(1, 300)), int(rng.integers(1, 300)), 8 * int(rng.integers(1, 30))
    a, b = (rng.standard_normal((rows, k)).astype(BF16) for rows in (m, n))
    c = np.full((m, n), np.nan, np.float32)
    four_and_eight.options(device="emu:gfx942")(a, b, c, copy=copy)
    assert np.abs(c - a.astype(np.float64) @ b.astype(np.float64).T).max() <= 1e-3, (m, n, k)


@kiln.kernel
def touched(a: kiln.View, b: kiln.View, c: kiln.View, rounds: kiln.i32):
    """Sums of bytes whose first operand the role touches, in a loop in a loop."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], 32))
    kiln.pin(roles=(kiln.role("mma", warps=4), kiln.role("load", warps=2)), persistent=(1, 2))
    acc = kiln.zeros((64, 32), kiln.i32)
    for _ in range(rounds):
        for k in range(0, a.shape[1], 32):
            x = kiln.pin(a.load((i * 64, k), (64, 32)), role="load", atom="through_registers")
            y = kiln.pin(b.load((j * 32, k), (32, 32)), role="load", atom="through_registers")
            x = kiln.maximum(x, 0)
            acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), role="mma")
    c.store((i * 64, j * 32), acc)


@pytest.mark.parametrize("chip", ["sm_80", "gfx942", "gfx1201"])
def test_products_that_the_solver_overlaps(rng, chip: str) -> None:
    """They end in order: none is in flight, at whichever stage it is."""
    for k, rounds in ((96, 2), (64, 0), (16 * int(rng.integers(1, 9)), 1)):
        a, b = (rng.integers(-9, 10, (rows, k)).astype(np.int8) for rows in (120, 40))
        c = np.full((120, 40), 77, np.int32)
        touched.options(device=f"emu:{chip}")(a, b, c, rounds)
        want = np.maximum(a.astype(np.int64), 0) @ b.astype(np.int64).T
        np.testing.assert_array_equal(c, rounds * want)


@kiln.kernel
def counted(a: kiln.View, n: kiln.View, c: kiln.View, copy: kiln.constexpr):
    """What one role stores, another one's atomic tells of, once a number behind it is handed over."""
    i = kiln.grid(kiln.cdiv(a.shape[0], 64))
    kiln.pin(roles=tuple(kiln.role(name, warps=2) for name in ("load", "sum", "count")))
    x = kiln.pin(a.load((i * 64, 0), (64, 32)), role="load", atom=copy)
    s = kiln.pin(x.to(kiln.f32) * 2.0, role="sum")
    kiln.pin(c.store((i * 64, 0), s), role="sum")
    most = kiln.pin(kiln.max(kiln.max(s, axis=1), axis=0), role="sum")
    kiln.pin(kiln.atomic_add(n, (0,), kiln.where(most > 100.0, 2, 1)), role="count")


@pytest.mark.parametrize(
    "chip, copy, wait",
    [
        ("gfx942", "load_to_lds", "s_waitcnt vmcnt(0)"),
        ("gfx950", "through_registers", "s_waitcnt vmcnt(0)"),
        ("gfx1100", "through_registers", "s_waitcnt_vscnt null, 0x0"),
        ("gfx1201", "through_registers", "s_wait_storecnt 0x0"),
    ],
)
def test_an_atomic_tells_of_what_another_role_stored(rng, chip: str, copy: str, wait: str) -> None:
    """It waits for its own wave's accesses, so whoever stores waits before it tells of that."""
    a = rng.integers(-8, 9, (192, 32)).astype(BF16)
    n, c = np.zeros(1, np.int32), np.zeros((192, 32), np.float32)
    counted.options(device=f"emu:{chip}")(a, n, c, copy=copy)
    assert n[0] == 3
    np.testing.assert_array_equal(c, a.astype(np.float32) * 2)
    asm = counted.compile(a, n, c, copy=copy, target=f"amdgpu:{chip}").asm
    stored = asm[re.search("(buffer|global)_store", asm).start() :]
    assert wait in stored[: stored.index("ds_inc_")]
