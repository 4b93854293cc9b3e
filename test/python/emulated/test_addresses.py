"""Pointers made of integers inside kernels: arrays of addresses, and addresses as arguments."""

from __future__ import annotations

import numpy as np
import pytest

import kiln

DEVICES = ["cpu", "emu:sm_90a", "emu:gfx942", "emu:gfx1201"]


@kiln.kernel
def grouped(addresses: kiln.View, rows: kiln.View, out: kiln.View, marks: kiln.i64,
            BLOCK: kiln.constexpr = 32):  # fmt: skip
    g = kiln.grid(addresses.shape[0])
    x = kiln.view(addresses[g], (rows[g], 4), dtype=kiln.f32)
    total = kiln.zeros((BLOCK,), kiln.f32)
    for j in range(0, rows[g], BLOCK):
        total += kiln.sum(x.load((j, 0), (BLOCK, 4)), axis=1)
    out[g] = kiln.sum(total)
    kiln.view(kiln.pointer(marks, kiln.i16), (8,))[g] = 7


@pytest.mark.parametrize("device", DEVICES)
def test_views_of_an_array_of_addresses(device: str, rng) -> None:
    arrays = [rng.standard_normal((rows, 4), dtype=np.float32) for rows in (5, 40, 70)]
    addresses = np.array([array.ctypes.data for array in arrays], np.uint64)
    rows = np.array([len(array) for array in arrays], np.int32)
    out, marks = np.zeros(3, np.float32), np.zeros(8, np.int16)
    grouped(addresses, rows, out, marks.ctypes.data, _device=device)
    np.testing.assert_allclose(out, [array.sum() for array in arrays], rtol=1e-4, atol=1e-4)
    assert marks.tolist() == [7, 7, 7, 0, 0, 0, 0, 0]


@kiln.kernel
def shifted(x: kiln.View, y: kiln.View, address: kiln.i64):
    kiln.grid(1)
    other = kiln.view(address, (16,), dtype=x.dtype)
    before = x.load(0, 16)
    other.store(0, before + 1)
    y.store(0, x.load(0, 16) * 2)


@pytest.mark.parametrize("device", DEVICES)
def test_an_address_may_be_that_of_an_argument(device: str) -> None:
    x, y = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    shifted(x, y, x.ctypes.data, _device=device)
    assert np.array_equal(y, (np.arange(16) + 1) * 2)
    shifted(x, y, y.ctypes.data, _device=device)
    assert np.array_equal(y, x * 2)


@kiln.kernel
def bare(p: kiln.Pointer[kiln.f32], n: int):
    i = kiln.grid(n)
    kiln.view(p, (n,))[i] = i * 0.5


@pytest.mark.parametrize("device", DEVICES)
def test_an_integer_is_a_pointer_argument(device: str) -> None:
    x = np.zeros(4, np.float32)
    bare(x.ctypes.data, 4, _device=device)
    assert x.tolist() == [0, 0.5, 1, 1.5]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("kiln.view(n, (4,))", "expected a pointer, got an i64 scalar"),
        ("kiln.view(0.5, (4,), dtype=kiln.f32)", "expected an integer scalar"),
        ("kiln.pointer(n, kiln.tf32)", "expected a dtype that memory holds, got tf32"),
        ("kiln.pointer(n, 4)", "expected a dtype, got the constant 4"),
    ],
)
def test_what_is_no_address_is_refused(body: str, message: str, tmp_path) -> None:
    import linecache

    file = str(tmp_path / "kernel.py")
    text = f"def kernel(n):\n    kiln.grid(1)\n    {body}\n"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"kiln": kiln}
    exec(compile(text, file, "exec"), scope)
    with pytest.raises(kiln.CompileError, match=message):
        kiln.kernel(scope["kernel"]).compile(kiln.i64)
