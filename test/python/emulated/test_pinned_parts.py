"""Tiles of parts of a view, `a[h].load(...)`, that instructions copy which the kernel names, on
emulated chips, against float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def batched(
    a: kiln.View, b: kiln.View, c: kiln.View, zero,
    M: kiln.constexpr, N: kiln.constexpr, K: kiln.constexpr, middle: kiln.constexpr,
    store: kiln.constexpr,
):  # fmt: skip
    """c[0, h] = a[0, h] · b[h]ᵀ, where h stands first, or in the middle of b's dimensions."""
    i, j, h = kiln.grid(kiln.cdiv(c.shape[2], M), kiln.cdiv(c.shape[3], N), c.shape[1])
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=2)))
    acc = kiln.zeros((M, N), kiln.f32)
    for k in kiln.pin(range(0, a.shape[3], K), depth=2):
        x = kiln.pin(a[zero, h].load((i * M, k), (M, K)), role="load", atom="tma")
        rows = b[:, h] if middle else b[h]
        y = kiln.pin(rows.load((j * N, k), (N, K)), role="load", atom="tma")
        product = kiln.dot(x, y, acc, transpose_b=True)
        acc = kiln.pin(product, role="mma", in_flight=0, atom="wgmma")
    stored = c[zero, h].store((i * M, j * N), acc.to(c.dtype))
    if store:
        kiln.pin(stored, role="mma", in_flight=0, atom="tma")


@pytest.mark.parametrize("store", [False, True])
@pytest.mark.parametrize("middle", [False, True])
@pytest.mark.parametrize("M, N, K", [(128, 64, 64), (128, 128, 128), (64, 128, 32)])
def test_parts_by_the_engine(rng, M: int, N: int, K: int, middle: bool, store: bool) -> None:
    h, m, n, k = (
        3,
        int(rng.integers(1, 150)),
        8 * int(rng.integers(1, 20)),
        8 * int(rng.integers(1, 20)),
    )
    a = rng.standard_normal((1, h, m, k)).astype(BF16)
    b = rng.standard_normal((n, h, k) if middle else (h, n, k)).astype(BF16)
    c = np.zeros((1, h, m, n), BF16)
    batched.options(device="emu:sm_90a")(a, b, c, 0, M=M, N=N, K=K, middle=middle, store=store)
    x, y = a[0].astype(np.float64), b.astype(np.float64)
    reference = np.einsum("hmk,nhk->hmn" if middle else "hmk,hnk->hmn", x, y)
    assert np.linalg.norm(c[0] - reference) <= 4e-3 * np.linalg.norm(reference), (m, n, k)


@kiln.kernel
def summed(
    a: kiln.View, b: kiln.View, c: kiln.View,
    copy: kiln.constexpr, product: kiln.constexpr, depth: kiln.constexpr,
):  # fmt: skip
    """The sum over h of a[h] · b[h]ᵀ."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], 64))
    kiln.pin(roles=kiln.role("all", warps=4))
    acc = kiln.zeros((64, 64), kiln.f32)
    for h in range(a.shape[0]):
        for k in kiln.pin(range(0, a.shape[2], 32), depth=depth):
            x = kiln.pin(a[h].load((i * 64, k), (64, 32)), atom=copy)
            y = kiln.pin(b[h].load((j * 64, k), (64, 32)), atom=copy)
            acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), atom=product)
    c.store((i * 64, j * 64), acc)


@pytest.mark.parametrize(
    "chip, copy, product, depth",
    [
        ("sm_80", "cp_async", "mma_sync", 3),
        ("gfx942", "load_to_lds", "matrix", 2),
        ("gfx950", "load_to_lds", "matrix", 3),
    ],
)
def test_parts_by_lanes(rng, chip: str, copy: str, product: str, depth: int) -> None:
    h, m, n, k = (
        3,
        int(rng.integers(1, 100)),
        int(rng.integers(1, 100)),
        8 * int(rng.integers(1, 20)),
    )
    a = rng.standard_normal((h, m, k)).astype(BF16)
    b = rng.standard_normal((h, n, k)).astype(BF16)
    c = np.zeros((m, n), np.float32)
    kernel = summed.options(device=f"emu:{chip}")
    kernel(a, b, c, copy=copy, product=product, depth=depth)
    reference = np.einsum("hmk,hnk->mn", a.astype(np.float64), b.astype(np.float64))
    assert np.linalg.norm(c - reference) <= 1e-6 * np.linalg.norm(reference), (m, n, k)


@kiln.kernel
def turned(a: kiln.View, b: kiln.View, c: kiln.View):
    """Operands that lie the other way round, transposed once they are loaded."""
    i = kiln.grid(kiln.cdiv(c.shape[0], 64))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[0], 32), depth=2):
        x = kiln.pin(a.load((k, i * 64), (32, 64)), role="load", atom="tma")
        y = kiln.pin(b.load((0, k), (64, 32)), role="load", atom="tma")
        acc = kiln.pin(kiln.dot(x.T, y.T, acc), role="mma", in_flight=0, atom="wgmma")
    c.store((i * 64, 0), acc)


def test_transposed_tiles(rng) -> None:
    m, k = 8 * int(rng.integers(1, 20)), 8 * int(rng.integers(1, 20))
    a, b = rng.standard_normal((k, m)).astype(BF16), rng.standard_normal((64, k)).astype(BF16)
    c = np.zeros((m, 64), np.float32)
    turned.options(device="emu:sm_90a")(a, b, c)
    reference = a.astype(np.float64).T @ b.astype(np.float64).T
    assert np.linalg.norm(c - reference) <= 1e-6 * np.linalg.norm(reference), (m, k)


@kiln.kernel
def halves(
    a: kiln.View, b: kiln.View, c: kiln.View,
    copy: kiln.constexpr, product: kiln.constexpr, roles: kiln.constexpr,
):  # fmt: skip
    """Each tile in two halves of k, which two products take."""
    i = kiln.grid(kiln.cdiv(c.shape[0], 64))
    load, mma = kiln.role("load", warps=4), kiln.role("mma", warps=4)
    kiln.pin(roles=(load, mma) if roles else (mma,))
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=2):
        x = kiln.pin(a.load((i * 64, k), (64, 64)), role="load" if roles else "mma", atom=copy)
        y = kiln.pin(b.load((0, k), (64, 64)), role="load" if roles else "mma", atom=copy)
        for half in kiln.static_range(2):
            at = half * 32
            left, right = x[:, at : at + 32], y[:, at : at + 32]
            acc = kiln.pin(kiln.dot(left, right, acc, transpose_b=True), role="mma", atom=product)
            if roles:
                kiln.pin(acc, in_flight=0)
    c.store((i * 64, 0), acc)


@pytest.mark.parametrize(
    "chip, copy, product, roles",
    [
        ("sm_90a", "tma", "wgmma", True),
        ("sm_80", "cp_async", "mma_sync", False),
        ("gfx942", "load_to_lds", "matrix", False),
        ("gfx950", "load_to_lds", "matrix", False),
    ],
)
def test_slices_of_tiles(rng, chip: str, copy: str, product: str, roles: bool) -> None:
    m, k = int(rng.integers(1, 150)), 8 * int(rng.integers(1, 40))
    a, b = (rng.standard_normal((rows, k)).astype(BF16) for rows in (m, 64))
    c = np.zeros((m, 64), np.float32)
    kernel = halves.options(device=f"emu:{chip}")
    kernel(a, b, c, copy=copy, product=product, roles=roles)
    reference = a.astype(np.float64) @ b.astype(np.float64).T
    assert np.linalg.norm(c - reference) <= 1e-6 * np.linalg.norm(reference), (m, k)


@kiln.kernel
def raised(a: kiln.View, c: kiln.View, SHAPE: kiln.constexpr, store: kiln.constexpr):
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=1), kiln.role("add", warps=2)))
    at = (0,) * len(SHAPE)
    x = kiln.pin(a.load(at, SHAPE), role="load", atom="tma")
    stored = c.store(at, x + 1.0)
    kiln.pin(stored, role="add")
    if store:
        kiln.pin(stored, in_flight=0, atom="tma")


@pytest.mark.parametrize("store", [False, True])
@pytest.mark.parametrize("shape", [(256,), (16, 32), (4, 8, 16), (2, 2, 8, 16), (2, 2, 2, 8, 16)])
def test_tiles_of_one_to_five_dimensions(rng, shape: tuple[int, ...], store: bool) -> None:
    a = rng.standard_normal((*(max(1, extent - 1) for extent in shape[:-1]), shape[-1]))
    a = a.astype(np.float32)
    c = np.zeros_like(a)
    raised.options(device="emu:sm_90a")(a, c, SHAPE=shape, store=store)
    np.testing.assert_array_equal(c, a + np.float32(1))
