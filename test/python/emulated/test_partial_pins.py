"""Kernels of which little is pinned: who runs what nobody has said, and when, follows from the rest.
On emulated chips, against float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


def error(out: np.ndarray, reference: np.ndarray) -> float:
    return float(np.linalg.norm(out.astype(np.float64) - reference) / np.linalg.norm(reference))


@kiln.kernel
def product_of_roles(a: kiln.View, b: kiln.View, bias: kiln.View, c: kiln.View):
    """Loads and a product say their roles, and nothing says a stage."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], 64))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=2)))
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=3):
        x = kiln.pin(a.load((i * 128, k), (128, 32)), role="load", atom="tma")
        y = kiln.pin(b.load((j * 64, k), (64, 32)), role="load", atom="tma")
        product = kiln.dot(kiln.maximum(x, 0), y, acc, transpose_b=True)
        acc = kiln.pin(product, role="mma", in_flight=0, atom="wgmma")
    acc = acc + bias.load((j * 64,), (64,))[None, :]
    c.store((i * 128, j * 64), acc.to(c.dtype))


@kiln.kernel
def product_of_one_role(
    a: kiln.View, b: kiln.View, bias: kiln.View, c: kiln.View,
    copy: kiln.constexpr, product: kiln.constexpr, depth: kiln.constexpr,
):  # fmt: skip
    """Instructions alone are named."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], 64))
    kiln.pin(roles=kiln.role("all", warps=4))
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=depth):
        x = kiln.pin(a.load((i * 128, k), (128, 32)), atom=copy)
        y = kiln.pin(b.load((j * 64, k), (64, 32)), atom=copy)
        acc = kiln.pin(kiln.dot(kiln.maximum(x, 0), y, acc, transpose_b=True), atom=product)
    acc = acc + bias.load((j * 64,), (64,))[None, :]
    c.store((i * 128, j * 64), acc.to(c.dtype))


def check(kernel, rng, **constants) -> None:
    m, n, k = int(rng.integers(1, 200)), 8 * int(rng.integers(1, 20)), 8 * int(rng.integers(1, 20))
    a, b = (rng.standard_normal((rows, k)).astype(BF16) for rows in (m, n))
    bias, c = rng.standard_normal(n).astype(np.float32), np.zeros((m, n), BF16)
    kernel(a, b, bias, c, **constants)
    reference = np.maximum(a.astype(np.float64), 0) @ b.astype(np.float64).T + bias
    assert error(c, reference) < 4e-3, (m, n, k)


def test_roles_without_stages(rng) -> None:
    check(product_of_roles.options(device="emu:sm_90a"), rng)


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize(
    "chip, copy, product",
    [
        ("sm_80", "cp_async", "mma_sync"),
        ("gfx942", "load_to_lds", "matrix"),
        ("gfx950", "load_to_lds", "matrix"),
    ],
)
def test_one_role_without_pins(rng, chip: str, copy: str, product: str, depth: int) -> None:
    kernel = product_of_one_role.options(device=f"emu:{chip}")
    check(kernel, rng, copy=copy, product=product, depth=depth)


@kiln.kernel
def halves(a: kiln.View, b: kiln.View, c: kiln.View):
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("x", warps=1), kiln.role("y", warps=1)))
    x = kiln.pin(a.load((0, 0), (16, 16)), role="x")
    y = kiln.pin(b.load((0, 0), (16, 16)), role="y")
    c.store((0, 0), x + y)


def test_what_two_roles_make_is_refused_at_its_line() -> None:
    x = np.zeros((16, 16), np.float32)
    with pytest.raises(kiln.CompileError, match='since roles "x" and "y" make its operands') as got:
        halves.options(device="emu:sm_80")(x, x, x.copy())
    assert "c.store((0, 0), x + y)" in str(got.value)


@kiln.kernel
def counted(a: kiln.View, c: kiln.View, warps: kiln.constexpr):
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=2, copies=2), warps=warps)
    c.store((0, 0), a.load((0, 0), (16, 16)) + 1.0)


def test_warps_beside_roles_are_those_of_the_roles() -> None:
    x = np.ones((16, 16), np.float32)
    kernel = counted.options(device="emu:sm_80")
    kernel(x, x, warps=4)
    assert (x == 2).all()
    with pytest.raises(kiln.CompileError, match="to be those of all roles, 4, got 8"):
        kernel(x, x, warps=8)


@kiln.kernel
def odd_extents(
    a: kiln.View, b: kiln.View, c: kiln.View,
    M: kiln.constexpr, N: kiln.constexpr, K: kiln.constexpr, atoms: kiln.constexpr,
):  # fmt: skip
    """What lies behind a tile, an instruction brings with it: it does not count."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], M), kiln.cdiv(c.shape[1], N))
    if atoms == "wgmma":
        kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    else:
        kiln.pin(roles=kiln.role("mma", warps=4))
    acc = kiln.zeros((M, N), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], K), depth=2):
        x, y = a.load((i * M, k), (M, K)), b.load((j * N, k), (N, K))
        if atoms == "wgmma":
            kiln.pin(x, role="load", atom="tma")
            kiln.pin(y, role="load", atom="tma")
            product = kiln.dot(x, y, acc, transpose_b=True)
            acc = kiln.pin(product, role="mma", atom="wgmma", in_flight=0)
        else:
            kiln.pin(x, atom="cp_async")
            kiln.pin(y, atom="cp_async")
            acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), atom="mma_sync")
    c.store((i * M, j * N), kiln.max(acc, axis=1)[:, None] + acc)


@pytest.mark.parametrize("M, N, K", [(96, 64, 32), (64, 96, 32), (64, 64, 48), (48, 24, 80)])
@pytest.mark.parametrize("chip, atoms", [("sm_80", "mma_sync"), ("sm_90a", "wgmma")])
def test_extents_that_are_no_powers_of_two(rng, chip: str, atoms: str, M, N, K) -> None:
    m, n, k = 2 * M - 5, N, 192
    a, b = (rng.standard_normal((rows, k)).astype(BF16) for rows in (m, 2 * n))
    c = np.zeros((m, n), np.float32)
    kernel = odd_extents.options(device=f"emu:{chip}")
    kernel(a, b, c, M=M, N=N, K=K, atoms=atoms)
    # The second operand goes on behind the tile's columns, which no maximum may see.
    reference = a.astype(np.float64) @ b[:n].astype(np.float64).T
    assert error(c, reference + reference.max(axis=1, keepdims=True)) < 1e-5


@kiln.kernel
def scaled_and_summed(
    a: kiln.View, b: kiln.View, c: kiln.View, sums: kiln.View,
    M: kiln.constexpr, N: kiln.constexpr, copy: kiln.constexpr, product: kiln.constexpr,
):  # fmt: skip
    """What is made of a loaded tile goes to a product and to a sum, each as it wants it."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], M), kiln.cdiv(c.shape[1], N))
    kiln.pin(roles=kiln.role("all", warps=4))
    acc = kiln.zeros((M, N), kiln.f32)
    total = kiln.zeros((M,), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=2):
        x = kiln.pin(a.load((i * M, k), (M, 32)), atom=copy)
        y = kiln.pin(b.load((j * N, k), (N, 32)), atom=copy)
        x = (x * 2.0).to(a.dtype)
        total = total + kiln.sum(x.to(kiln.f32), axis=1)
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), atom=product)
    c.store((i * M, j * N), acc)
    sums.store((i * M,), total)


@pytest.mark.parametrize("M, N", [(64, 64), (64, 16), (128, 128)])
@pytest.mark.parametrize(
    "chip, copy, product",
    [
        ("sm_80", "cp_async", "mma_sync"),
        ("gfx942", "load_to_lds", "matrix"),
        ("gfx950", "load_to_lds", "matrix"),
    ],
)
def test_a_tile_for_a_product_and_a_sum(rng, chip, copy, product, M: int, N: int) -> None:
    if chip == "gfx950" and N == 16:
        pytest.skip("16 bytes a lane are more than the tile has")
    m, n, k = int(rng.integers(1, 150)), N, 16 * int(rng.integers(1, 12))
    a, b = (rng.standard_normal((rows, k)).astype(BF16) for rows in (m, n))
    c, sums = np.zeros((m, n), np.float32), np.zeros(m, np.float32)
    kernel = scaled_and_summed.options(device=f"emu:{chip}")
    kernel(a, b, c, sums, M=M, N=N, copy=copy, product=product)
    x = 2 * a.astype(np.float64)
    assert error(c, x @ b.astype(np.float64).T) < 1e-6
    assert error(sums, x.sum(axis=1)) < 1e-5


@kiln.kernel
def product_and_its_greatest(
    a: kiln.View, b: kiln.View, c: kiln.View, each: kiln.View, all_of_them: kiln.View
):  # fmt: skip
    """What is written of a number belongs to the role whose tile the number is of."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], 64))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=2):
        x = kiln.pin(a.load((i * 64, k), (64, 64)), role="load", atom="tma")
        y = kiln.pin(b.load((j * 64, k), (64, 64)), role="load", atom="tma")
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), role="mma")
    greatest = kiln.max(kiln.abs(acc))
    assert greatest >= 0.0, "no number"
    each[i, j] = greatest
    if greatest > 1.0:
        kiln.atomic_add(all_of_them, (0,), 1)
    kiln.atomic_max(all_of_them, (1,), kiln.round(greatest).to(kiln.i32))
    c.store((i * 64, j * 64), acc.to(c.dtype))


@pytest.mark.parametrize("chip", ["sm_90a", "sm_100a"])
def test_numbers_of_a_role_s_tile(rng, chip: str) -> None:
    a, b = (rng.standard_normal((rows, 72)).astype(BF16) for rows in (130, 72))
    c, each, together = (
        np.zeros((130, 72), BF16),
        np.zeros((3, 2), np.float32),
        np.zeros(2, np.int32),
    )
    product_and_its_greatest.options(device=f"emu:{chip}")(a, b, c, each, together)
    reference = a.astype(np.float64) @ b.astype(np.float64).T
    assert error(c, reference) < 4e-3
    tiles = np.zeros((192, 128))
    tiles[:130, :72] = np.abs(reference)
    greatest = tiles.reshape(3, 64, 2, 64).max(axis=(1, 3))
    assert np.abs(each - greatest).max() < 1e-3
    assert together.tolist() == [(greatest > 1).sum(), np.round(each.max())]
