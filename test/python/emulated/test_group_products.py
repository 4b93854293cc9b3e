"""Products that a group of warps starts, of each type that the instruction has, pinned in Python, on
an emulated chip, against float64: exact for integers, and within a rounding a term for floats, of
which byte floats have few bits."""

from __future__ import annotations

import ml_dtypes
import mutation
import numpy as np
import pytest
from product_kernels import assert_sums

import kiln

TYPES = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "i8": np.int8, "u8": np.uint8,
}  # fmt: skip
TOLERANCE = 2.0**-20
# Six instructions of byte floats, each of which cuts 33 terms at 13 bits.
FEW_BITS = 6 * 33 * 2.0**-13


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View,
    N: kiln.constexpr, K: kiln.constexpr, copies: kiln.constexpr, depth: kiln.constexpr,
    precision: kiln.constexpr, registers: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], N))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies)))
    acc = kiln.zeros((128, N), c.dtype)
    for k in kiln.pin(range(0, a.shape[1], K), depth=depth):
        x = kiln.pin(a.load((i * 128, k), (128, K)), role="load", stage=0, atom="tma")
        y = kiln.pin(b.load((j * N, k), (N, K)), role="load", stage=0, atom="tma")
        if registers:
            x = kiln.pin(kiln.maximum(x, 0), role="mma", stage=0)
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True, precision=precision),
            role="mma", stage=0, in_flight=0, atom="wgmma",
        )  # fmt: skip
    kiln.pin(c.store((i * 128, j * N), acc), role="mma")


def drawn(rng: np.random.Generator, rows: int, columns: int, dtype) -> np.ndarray:
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max + 1, (rows, columns)).astype(dtype)
    x = rng.standard_normal((rows, columns)).astype(dtype)
    # What memory holds as f32 is read as tf32: of numbers that both are the products are exact.
    return x.astype(ml_dtypes.bfloat16).astype(dtype) if dtype is np.float32 else x


@pytest.mark.parametrize("registers", [False, True])
@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("name", TYPES)
def test_each_type(rng, name: str, copies: int, registers: bool) -> None:
    dtype = TYPES[name]
    bytes = np.dtype(dtype).itemsize
    m, n = int(rng.integers(1, 150)), int(rng.integers(1, 100))
    k = int(rng.integers(1, 12)) * 16 // bytes
    a, b = drawn(rng, m, k, dtype), drawn(rng, n, k, dtype)
    c = np.zeros((m, n), np.int32 if np.issubdtype(dtype, np.integer) else np.float32)
    product.options(device="emu:sm_90a")(
        a, b, c, N=32, K=64 // bytes, copies=copies, depth=2, registers=registers,
        precision="tf32" if name == "tf32" else "ieee",
    )  # fmt: skip
    x, y = a.astype(np.float64), b.astype(np.float64)
    if registers:
        x = np.maximum(x, 0)
    assert_sums(c, x @ y.T, np.abs(x) @ np.abs(y.T) + 1e-30,
                FEW_BITS if name in ("e4m3", "e5m2") else TOLERANCE)  # fmt: skip


@pytest.mark.parametrize("columns", [8, 16, 32])
def test_a_narrow_tile_is_stored(rng, columns: int) -> None:
    """By stores of matrices whose rows the first lanes alone name."""

    @kiln.kernel
    def narrow(a: kiln.View, b: kiln.View, c: kiln.View, N: kiln.constexpr):
        i = kiln.grid(kiln.cdiv(c.shape[0], 64))
        kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
        acc = kiln.zeros((64, N), kiln.f32)
        for k in kiln.pin(range(0, a.shape[1], 32), depth=2):
            x = kiln.pin(a.load((i * 64, k), (64, 32)), role="load", stage=0, atom="tma")
            y = kiln.pin(b.load((0, k), (N, 32)), role="load", stage=0, atom="tma")
            product = kiln.dot(x, y, acc, transpose_b=True)
            acc = kiln.pin(product, role="mma", stage=0, in_flight=0, atom="wgmma")
        stored = c.store((i * 64, 0), acc.to(kiln.f16))
        kiln.pin(stored, role="mma", in_flight=0, atom="tma")

    m, k = int(rng.integers(1, 150)), 8 * int(rng.integers(1, 12))
    a, b = drawn(rng, m, k, np.float16), drawn(rng, columns, k, np.float16)
    c = np.zeros((m, columns), np.float16)
    narrow.options(device="emu:sm_90a")(a, b, c, N=columns)
    x, y = a.astype(np.float64), b.astype(np.float64)
    assert np.linalg.norm(c - x @ y.T) < 1e-3 * np.linalg.norm(x @ y.T)


@pytest.mark.parametrize("what, said", [
    ("without 'nvvm.wgmma.fence", "expected a 'wgmma.fence' between the last wait and this product"),
    ("one more in flight", "expected a wait for the earlier product of this instruction"),
])  # fmt: skip
def test_registers_of_products_that_nothing_holds_are_told(rng, what: str, said: str) -> None:
    a, b = (rng.standard_normal((128, 128)).astype(ml_dtypes.bfloat16) for _ in "ab")
    c = np.zeros((128, 128), np.float32)
    options = dict(N=128, K=32, copies=2, depth=3, precision="ieee", registers=True)
    text = product.compile(a, b, c, **options, target="emu:sm_90a").ir("llvm")
    lines = set(range(text.count("\n")))
    wrong = [
        m for m in mutation.mutants(text, lines) if m.what.startswith(what) and "wgmma" in m.what
    ]
    assert wrong
    with pytest.raises(kiln.DeviceError, match=said):
        mutation.loaded(mutation.changed(text, wrong[0]), "emu:sm_90a")(a, b, c)
