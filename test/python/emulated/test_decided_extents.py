"""Which extents of a product are exact, as an author says it, on emulated chips, to the number; and
what is refused."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View,
    M: kiln.constexpr, N: kiln.constexpr, K: kiln.constexpr, extents: kiln.constexpr,
    swap: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], M), kiln.cdiv(c.shape[1], N))
    acc = kiln.zeros((M, N), kiln.f32)
    for k in range(0, a.shape[1], K):
        x = a.load((i * M, k), (M, K))
        y = b.load((j * N, k), (N, K))
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), extents=extents, swap=swap)
    c.store((i * M, j * N), acc)


@kiln.kernel
def in_roles(
    a: kiln.View, b: kiln.View, c: kiln.View,
    M: kiln.constexpr, N: kiln.constexpr, K: kiln.constexpr, extents: kiln.constexpr,
    copies: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], M), kiln.cdiv(c.shape[1], N))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies)))
    acc = kiln.zeros((M, N), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], K), depth=2):
        x = kiln.pin(a.load((i * M, k), (M, K)), role="load", atom="tma")
        y = kiln.pin(b.load((j * N, k), (N, K)), role="load", atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True),
            role="mma", in_flight=1, atom="wgmma", extents=extents,
        )  # fmt: skip
    kiln.pin(c.store((i * M, j * N), acc), role="mma")


@kiln.kernel
def summed(a: kiln.View, c: kiln.View, extents: kiln.constexpr):
    """A product whose columns are sorted, so that they cannot be exact."""
    x = a.load((0, 0), (64, 64))
    y = a.load((0, 0), (96, 64))
    scores = kiln.pin(kiln.dot(x, y, transpose_b=True), extents=extents)
    c.store((0, 0), kiln.sort(scores, axis=1))


def run(rng: np.random.Generator, kernel, chip: str, **options) -> None:
    """Whole numbers, of which no sum is rounded."""
    m, n, k = int(rng.integers(1, 300)), int(rng.integers(1, 300)), 8 * int(rng.integers(1, 30))
    a, b = (rng.integers(-8, 9, (rows, k)).astype(BF16) for rows in (m, n))
    c = np.full((m, n), np.nan, np.float32)
    kernel.options(device=f"emu:{chip}")(a, b, c, **options)
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64).T)


# All grown, one exact, all that can be, and k in parts of any order, powers of two too.
PINNED = [
    ("sm_90a", (128, 192, 64), (128, 256, 64)), ("sm_90a", (128, 192, 64), (128, 192, 64)),
    ("sm_90a", (192, 192, 64), (192, 256, 64)), ("sm_90a", (64, 96, 96), (64, 96, 64, 32)),
    ("sm_90a", (64, 96, 96), (64, 96, 32, 64)), ("sm_90a", (64, 96, 96), (64, 128, 96)),
    ("sm_90a", (128, 64, 64), (128, 64, 32, 32)),
    ("sm_80", (64, 96, 32), (64, 96, 32)), ("sm_80", (64, 96, 32), (64, 128, 32)),
    ("sm_80", (48, 64, 32), (48, 64, 16, 16)), ("sm_80", (64, 96, 48), (64, 96, 16, 32)),
    ("gfx942", (64, 96, 32), (64, 96, 32)), ("gfx942", (64, 96, 48), (64, 128, 48)),
    ("gfx1201", (64, 96, 32), (64, 128, 32)),
]  # fmt: skip


@pytest.mark.parametrize("chip, tile, extents", PINNED)
def test_pinned_extents(rng, chip: str, tile, extents) -> None:
    M, N, K = tile
    run(rng, product, chip, M=M, N=N, K=K, extents=extents, swap=False)


@pytest.mark.parametrize("extents", [(16, 192, 64), (16, 256, 64)])
def test_extents_of_a_transpose(rng, extents) -> None:
    run(rng, product, "sm_90a", M=16, N=192, K=64, extents=extents, swap=True)


@pytest.mark.parametrize(
    "tile, extents, copies",
    [
        ((128, 192, 64), (128, 192, 64), 2), ((128, 192, 64), (128, 256, 64), 2),
        ((192, 96, 64), (192, 128, 64), 3), ((64, 96, 64), (64, 96, 64), 1),
    ],
)  # fmt: skip
def test_pinned_extents_in_roles(rng, tile, extents, copies: int) -> None:
    M, N, K = tile
    run(rng, in_roles, "sm_90a", M=M, N=N, K=K, extents=extents, copies=copies)


def code_of(kernel, chip: str = "nvptx:sm_90a", **options) -> str:
    a, c = np.zeros((512, 512), BF16), np.zeros((512, 512), np.float32)
    return kernel.compile(a, a, c, **options, target=chip).asm


def test_the_instruction_has_the_extents() -> None:
    tile = dict(M=128, N=192, K=64, copies=2)
    exact = code_of(in_roles, **tile, extents=(128, 192, 64))
    grown = code_of(in_roles, **tile, extents=(128, 256, 64))
    assert "m64n192k16" in exact and "m64n256k16" not in exact
    assert "m64n256k16" in grown and "m64n192k16" not in grown
    swapped = dict(M=16, N=192, K=64, swap=True)
    assert "m64n16k16" in code_of(product, **swapped, extents=(16, 192, 64))


REFUSED = [
    (product, "sm_90a", dict(M=128, N=96, K=64, extents=(128, 112, 64), swap=False),
     "expected 96 or 128 columns in 'tile.extents', got 128, 112, 64"),
    (product, "sm_90a", dict(M=128, N=96, K=64, extents=(256, 96, 64), swap=False),
     "expected 128 rows in 'tile.extents', got 256, 96, 64"),
    (product, "sm_90a", dict(M=128, N=96, K=96, extents=(128, 96, 64, 16), swap=False),
     "expected inner extents that are powers of two and add up to 96 in 'tile.extents'"),
    (product, "sm_80", dict(M=96, N=96, K=32, extents=(96, 96, 32), swap=False),
     "expected one extent at most with an odd factor for #nvptx.mma_sync"),
    (product, "gfx942", dict(M=64, N=72, K=32, extents=(64, 72, 32), swap=False),
     "expected extents that an instruction of amdgpu:gfx942 makes in 'tile.extents'"),
    (in_roles, "sm_90a", dict(M=192, N=96, K=64, extents=(192, 96, 64), copies=2),
     "expected rows or columns that 2 copies share out for #nvptx.wgmma"),
    (in_roles, "sm_90a", dict(M=128, N=96, K=96, extents=(128, 96, 64, 32), copies=2),
     "expected loads of the product's own, of which nothing is decided, to cut along its inner"),
]  # fmt: skip


@pytest.mark.parametrize("kernel, chip, options, message", REFUSED)
def test_what_cannot_be_is_refused_at_its_line(kernel, chip, options, message: str) -> None:
    family = "amdgpu" if chip.startswith("gfx") else "nvptx"
    with pytest.raises(kiln.CompileError) as refused:
        code_of(kernel, f"{family}:{chip}", **options)
    text = str(refused.value)
    assert message in text and re.search(r"test_decided_extents\.py", text), text
    assert "kiln.dot(x, y, acc, transpose_b=True)" in text, text


def test_another_operation_refuses_it() -> None:
    a, c = np.zeros((512, 512), BF16), np.zeros((512, 512), np.float32)
    with pytest.raises(kiln.CompileError, match=r"expected 128 columns in 'tile\.extents'"):
        summed.compile(a, c, extents=(64, 96, 64), target="nvptx:sm_90a")
    summed.compile(a, c, extents=(64, 128, 64), target="nvptx:sm_90a")


@kiln.kernel
def told(a: kiln.View, c: kiln.View, extents: kiln.constexpr):
    """A kernel whose products wait for their warps, since it says something on the way."""
    acc = kiln.zeros((192, 192), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x = a.load((0, k), (192, 64))
        acc = kiln.pin(kiln.dot(x, x, acc, transpose_b=True), extents=extents)
        kiln.device_print("at", k)
    c.store((0, 0), acc)


def test_what_turns_out_later_names_it() -> None:
    """Rows that copies of a role would share out are exact of products beside their warps alone."""
    a, c = np.zeros((512, 512), BF16), np.zeros((512, 512), np.float32)
    with pytest.raises(kiln.CompileError, match=r"one part of a place counts") as refused:
        told.compile(a, c, extents=(192, 192, 64), target="nvptx:sm_90a")
    assert "keeps an extent of 192 by its 'tile.extents'" in str(refused.value)


def test_a_host_refuses_it() -> None:
    a, c = np.zeros((64, 64), BF16), np.zeros((64, 64), np.float32)
    with pytest.raises(kiln.CompileError, match=r"expected no 'tile\.extents'"):
        product.compile(a, a, c, M=32, N=24, K=32, extents=(32, 24, 32), swap=False, target="cpu")
