"""Roles of several copies, pinned in Python, on emulated chips, against float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from product_kernels import shared_out

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def skewed(
    a: kiln.View, b: kiln.View, c: kiln.View,
    depth: kiln.constexpr, copy: kiln.constexpr, product: kiln.constexpr,
):  # fmt: skip
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4, copies=2, skew=1))
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=depth):
        x = kiln.pin(a.load((0, k), (128, 32)), role="all", stage=0, atom=copy)
        y = kiln.pin(b.load((0, k), (64, 32)), role="all", stage=0, atom=copy)
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True), role="all", stage=depth - 1, atom=product
        )
    kiln.pin(c.store((0, 0), acc), role="all")


@pytest.mark.parametrize(
    "chip, copy, product",
    [
        ("sm_80", "cp_async", "mma_sync"),
        ("sm_90a", "cp_async", "mma_sync"),
        ("gfx942", "load_to_lds", "matrix"),
        ("gfx950", "load_to_lds", "matrix"),
        # Both barriers of a trip stand at its end, where what is loaded is written to its slot.
        ("sm_90a", "through_registers", "mma_sync"),
        ("gfx942", "through_registers", "matrix"),
        ("gfx1201", "through_registers", "matrix"),
    ],
)
def test_copies_lag(rng, chip: str, copy: str, product: str) -> None:
    k = 8 * int(rng.integers(1, 30))  # an empty array has no rows whose alignment is known
    a, b = (rng.standard_normal((rows, k)).astype(BF16) for rows in (128, 64))
    c = np.zeros((128, 64), np.float32)
    skewed.options(device=f"emu:{chip}")(a, b, c, depth=2, copy=copy, product=product)
    reference = a.astype(np.float64) @ b.astype(np.float64).T
    assert np.linalg.norm(c - reference) <= 1e-6 * np.linalg.norm(reference), k


@kiln.kernel
def at_once(
    a: kiln.View, c: kiln.View, product: kiln.constexpr, in_flight: kiln.constexpr,
    depth: kiln.constexpr, write: kiln.constexpr, stage: kiln.constexpr,
    ordered: kiln.constexpr = False,
):  # fmt: skip
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    acc = kiln.zeros((128, 128), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=depth):
        x = kiln.pin(a.load((0, k), (128, 32)), stage=0, atom="through_registers")
        if write is not None:
            kiln.pin(x, write_stage=write)
        acc = kiln.pin(kiln.dot(x, x, acc, transpose_b=True), stage=stage, atom=product)
        if in_flight is not None:
            kiln.pin(acc, in_flight=in_flight)
        if ordered:
            kiln.pin(x, order=0)
            kiln.pin(acc, order=1)
    c.store((0, 0), acc)


PRODUCTS = [
    ("sm_80", "mma_sync", None), ("sm_90a", "wgmma", 0), ("sm_90a", "wgmma", 1),
    ("sm_100a", "tcgen05", 0), ("gfx942", "matrix", None), ("gfx1201", "matrix", None),
]  # fmt: skip


@pytest.mark.parametrize("chip, product, in_flight", PRODUCTS)
def test_what_comes_through_registers_is_used_in_its_trip(rng, chip, product, in_flight) -> None:
    """Then it is written where it is loaded, not at the end of the trip."""
    for depth in range(1 + bool(in_flight), 4):
        k = 8 * int(rng.integers(1, 30))
        a, c = rng.standard_normal((128, k)).astype(BF16), np.zeros((128, 128), np.float32)
        at_once.options(device=f"emu:{chip}")(
            a, c, product=product, in_flight=in_flight, depth=depth, write=None, stage=0,
            ordered=depth % 2 == 0,
        )  # fmt: skip
        want = a.astype(np.float64) @ a.astype(np.float64).T
        assert np.abs(c - want).max() <= 1e-3, (depth, k)


@pytest.mark.parametrize("chip, product, in_flight", PRODUCTS)
@pytest.mark.parametrize("write, stage", [(0, 0), (1, 1), (1, 0)])
def test_what_is_read_before_it_is_written(chip, product, in_flight, write, stage) -> None:
    a, c = np.zeros((128, 64), BF16), np.zeros((128, 128), np.float32)
    message = (
        f"'tile.dot' op expected a stage of at least {write + 1}, since what it reads is loaded at "
        rf"stage 0 and written to its slot at the end of a trip \('tile.write_stage' is {write}\), "
        f"got {stage}"
    )
    with pytest.raises(kiln.CompileError, match=message) as got:
        at_once.options(device=f"emu:{chip}")(
            a, c, product=product, in_flight=in_flight, depth=4, write=write, stage=stage
        )
    assert "kiln.dot(x, x, acc" in str(got.value)


# Rows of boxes wider than the widest row of the engine's; rows too few for all copies, which share
# out columns; and each operand either way.
SHARES = [
    (128, 64, 128, 2), (128, 128, 128, 2), (256, 64, 128, 4), (64, 128, 64, 2), (64, 64, 128, 2),
    (128, 128, 64, 4), (64, 256, 32, 4),
]  # fmt: skip


@pytest.mark.parametrize("store", [False, True])
@pytest.mark.parametrize("ta, tb", [(False, True), (False, False), (True, True), (True, False)])
@pytest.mark.parametrize("M, N, K, copies", SHARES)
def test_copies_share_out_products(rng, M, N, K, copies, ta, tb, store) -> None:
    m, n, k = (8 * int(rng.integers(1, most)) for most in (40, 40, 50))
    a = rng.standard_normal((k, m) if ta else (m, k)).astype(BF16)
    b = rng.standard_normal((n, k) if tb else (k, n)).astype(BF16)
    c = np.zeros((m, n), BF16)
    shared_out.options(device="emu:sm_90a")(
        a, b, c, M=M, N=N, K=K, copies=copies, ta=ta, tb=tb, store=store
    )
    x, y = (t.astype(np.float64).T if turned else t.astype(np.float64)
            for t, turned in ((a, ta), (b, tb)))  # fmt: skip
    assert np.linalg.norm(c - x @ y) <= 4e-3 * np.linalg.norm(x @ y), (m, n, k)


def test_too_small_a_product_for_its_copies(rng) -> None:
    x = np.zeros((64, 64), BF16)
    message = "expected 64 rows or 8 columns, times a power of two, for each of the 2 copies"
    with pytest.raises(kiln.CompileError, match=message):
        shared_out.options(device="emu:sm_90a")(
            x, x, x.copy(), M=64, N=8, K=64, copies=2, ta=False, tb=True, store=False
        )


@kiln.kernel
def prepared(
    a: kiln.View, b: kiln.View, c: kiln.View,
    M: kiln.constexpr, N: kiln.constexpr, copies: kiln.constexpr, which: kiln.constexpr,
    copy: kiln.constexpr, product: kiln.constexpr,
):  # fmt: skip
    """What is done to an operand in registers, each copy does to what it multiplies."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], M), kiln.cdiv(c.shape[1], N))
    kiln.pin(roles=kiln.role("all", warps=4, copies=copies))
    acc = kiln.zeros((M, N), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=2):
        x = kiln.pin(a.load((i * M, k), (M, 32)), atom=copy)
        y = kiln.pin(b.load((j * N, k), (N, 32)), atom=copy)
        if which == "a":
            x = kiln.maximum(x, 0)
        if which == "b":
            y = y.to(a.dtype)
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), stage=1, atom=product)
    c.store((i * M, j * N), acc)


@pytest.mark.parametrize("which", ["a", "b"])
@pytest.mark.parametrize("M, N, copies", [(128, 64, 2), (64, 128, 2), (32, 128, 2)])
@pytest.mark.parametrize(
    "chip, copy, product",
    [
        ("sm_80", "cp_async", "mma_sync"),
        ("gfx942", "load_to_lds", "matrix"),
        ("gfx950", "load_to_lds", "matrix"),
    ],
)
def test_copies_prepare_operands(rng, chip, copy, product, M, N, copies, which) -> None:
    m, n, k = int(rng.integers(1, 150)), int(rng.integers(1, 150)), 16 * int(rng.integers(1, 12))
    a = rng.standard_normal((m, k)).astype(BF16)
    b = rng.integers(-8, 8, (n, k)).astype(np.int8 if which == "b" else BF16)
    c = np.zeros((m, n), np.float32)
    prepared.options(device=f"emu:{chip}")(
        a, b, c, M=M, N=N, copies=copies, which=which, copy=copy, product=product
    )
    x, y = a.astype(np.float64), b.astype(np.float64)
    if which == "a":
        x = np.maximum(x, 0)
    assert np.linalg.norm(c - x @ y.T) <= 1e-6 * np.linalg.norm(x @ y.T), (m, n, k)


@kiln.kernel
def finished(
    a: kiln.View, b: kiln.View, r: kiln.View, c: kiln.View,
    M: kiln.constexpr, N: kiln.constexpr, residual: kiln.constexpr, out: kiln.constexpr,
):  # fmt: skip
    """Something is added to a product, which its role or another one stores."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], M), kiln.cdiv(c.shape[1], N))
    load, mma = kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=2)
    if out:
        kiln.pin(roles=(load, mma, kiln.role("out", warps=4)))
    else:
        kiln.pin(roles=(load, mma))
    acc = kiln.zeros((M, N), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=2):
        x = kiln.pin(a.load((i * M, k), (M, 64)), role="load", atom="tma")
        y = kiln.pin(b.load((j * N, k), (N, 64)), role="load", atom="tma")
        product = kiln.dot(x, y, acc, transpose_b=True)
        acc = kiln.pin(product, role="mma", in_flight=0, atom="wgmma")
    z = r.load((i * M, j * N), (M, N))
    if residual:
        kiln.pin(z, role="load", ring="residual", depth=1, atom="tma")
    stored = c.store((i * M, j * N), acc + z.to(kiln.f32))
    if out:
        kiln.pin(stored, role="out", in_flight=0, atom="tma")


@pytest.mark.parametrize("out", [False, True])
@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("M, N", [(128, 64), (64, 128), (64, 16), (256, 32)])
def test_what_copies_make_is_finished(rng, M: int, N: int, residual: bool, out: bool) -> None:
    m, n, k = int(rng.integers(1, 300)), 8 * int(rng.integers(1, 30)), 8 * int(rng.integers(1, 20))
    a, b, r = (rng.standard_normal(shape).astype(BF16) for shape in ((m, k), (n, k), (m, n)))
    c = np.zeros((m, n), np.float32)
    finished.options(device="emu:sm_90a")(a, b, r, c, M=M, N=N, residual=residual, out=out)
    reference = a.astype(np.float64) @ b.astype(np.float64).T + r.astype(np.float64)
    assert np.linalg.norm(c - reference) <= 1e-6 * np.linalg.norm(reference), (m, n, k)
