"""Rows that are too long for a program's registers, which passes have computed in chunks
(tile-decide-chunks), kept in shared memory or loaded again; on emulated chips and the CPU, against
float64."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
F16 = np.float16
F32 = np.float32
DEVICES = ["emu:sm_90a", "emu:gfx942", "emu:sm_80", "emu:gfx1201"]
LEAST = -float("inf")


@kiln.kernel
def softmax(x: kiln.View, y: kiln.View, WIDTH: kiln.constexpr, CHUNK: kiln.constexpr = 0,
            KEPT: kiln.constexpr = False):  # fmt: skip
    i = kiln.grid(x.shape[0])
    if CHUNK:
        kiln.pin(chunk=CHUNK)
    row = x.load((i, 0), (1, WIDTH), pad=LEAST)
    if KEPT:
        row = kiln.pin(row, kept="shared")
    row = row.to(kiln.f32)
    e = kiln.exp(row - kiln.max(row, axis=1, keepdims=True))
    y.store((i, 0), (e / kiln.sum(e, axis=1, keepdims=True)).to(y.dtype))


@kiln.kernel
def rmsnorm(x: kiln.View, w: kiln.View, y: kiln.View, WIDTH: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    row = x.load((i, 0), (1, WIDTH)).to(kiln.f32)
    mean = kiln.sum(row * row, axis=1, keepdims=True) / x.shape[1].to(kiln.f32)
    weights = w.load((0,), (WIDTH,)).to(kiln.f32)[None, :]
    y.store((i, 0), (row * kiln.rsqrt(mean + 1e-5) * weights).to(y.dtype))


@kiln.kernel
def layernorm(
    x: kiln.View, residual: kiln.View, w: kiln.View, total: kiln.View, y: kiln.View,
    seed: kiln.i64, keep: kiln.f32, WIDTH: kiln.constexpr,
):  # fmt: skip
    i = kiln.grid(x.shape[0])
    column = kiln.arange(WIDTH)[None, :]
    n = x.shape[1].to(kiln.f32)
    row = x.load((i, 0), (1, WIDTH)).to(kiln.f32)
    kept = kiln.rand(seed, column, i.to(kiln.i32)) < keep
    h = kiln.where(kept, row / keep, 0.0) + residual.load((i, 0), (1, WIDTH)).to(kiln.f32)
    total.store((i, 0), h.to(total.dtype))
    centred = kiln.where(column < x.shape[1].to(kiln.i32), h - kiln.sum(h, axis=1)[:, None] / n, 0)
    variance = kiln.sum(centred * centred, axis=1, keepdims=True) / n
    weights = w.load((0,), (WIDTH,))[None, :].to(kiln.f32)
    y.store((i, 0), (centred * kiln.rsqrt(variance + 1e-5) * weights).to(y.dtype))


@kiln.kernel
def squares(x: kiln.View, sums: kiln.View, WIDTH: kiln.constexpr):
    """Of differences from the mean, so that there are two loops; what is stored is no row."""
    i = kiln.grid(x.shape[0])
    row = x.load((i, 0), (1, WIDTH)).to(kiln.f32)
    column = kiln.arange(WIDTH)[None, :]
    mean = kiln.sum(row, axis=1, keepdims=True) / x.shape[1].to(kiln.f32)
    d = kiln.where(column < x.shape[1].to(kiln.i32), row - mean, 0.0)
    sums.store((i,), kiln.sum(d * d, axis=1))


@kiln.kernel
def last_largest(x: kiln.View, at: kiln.View, near: kiln.View, WIDTH: kiln.constexpr):
    """The largest of a row, and how many are as large."""
    i = kiln.grid(x.shape[0])
    row = x.load((i, 0), (1, WIDTH), pad=LEAST)
    at.store((i,), kiln.argmax(row, axis=1))
    most = kiln.max(row, axis=1, keepdims=True)
    near.store((i,), kiln.sum((row == most).to(kiln.i32), axis=1))


def softmax_of(x: np.ndarray) -> np.ndarray:
    e = np.exp(x.astype(np.float64) - x.astype(np.float64).max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def rows_of(rng, dtype, width: int) -> np.ndarray:
    """Few rows whose length is odd, or all that a tile has."""
    columns = int(rng.choice([width, width // 2 + 1, int(rng.integers(width // 2, width))]))
    return (3 * rng.standard_normal((int(rng.integers(1, 4)), columns))).astype(dtype)


def loops_of(kernel, *args, target: str = "nvptx:sm_90a", **options) -> int:
    return kernel.compile(*args, **options, target=target).ir("layout").count("scf.for")


@pytest.mark.parametrize(
    "dtype, width", [(BF16, 16384), (F16, 32768), (F32, 32768), (BF16, 262144)]
)
@pytest.mark.parametrize("device", DEVICES)
def test_softmax(rng: np.random.Generator, device: str, dtype, width: int) -> None:
    x = rows_of(rng, dtype, width)
    y = np.full(x.shape, np.nan, F32)
    softmax.options(device=device)(x, y, WIDTH=width)
    np.testing.assert_allclose(y, softmax_of(x), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("columns", [20000, 32768, 3])
@pytest.mark.parametrize("device", DEVICES[:2])
def test_what_is_no_number(rng: np.random.Generator, device: str, columns: int) -> None:
    """Padding of which no loop sees any makes nothing a number, and no number nothing."""
    x = (3 * rng.standard_normal((5, columns))).astype(F32)
    x[0] = LEAST
    x[1, rng.integers(columns)] = np.nan
    x[2, rng.integers(columns)] = np.inf
    x[3, : columns // 2] = LEAST
    y = np.full(x.shape, 7, F32)
    softmax.options(device=device)(x, y, WIDTH=32768)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(y, softmax_of(x), rtol=1e-5, atol=1e-9)


@kiln.kernel
def window(x: kiln.View, y: kiln.View, sums: kiln.View, begin: kiln.i64, WIDTH: kiln.constexpr):
    """From any place of a row on; what is stored lies elsewhere in it."""
    i = kiln.grid(x.shape[0])
    row = x.load((i, begin), (1, WIDTH), pad=1.5)
    most = kiln.max(row, axis=1, keepdims=True)
    y.store((i, 100), row - most)
    sums.store((i,), most.reshape((1,)))


@pytest.mark.parametrize("begin", [0, 777, -5000, 30000, -(1 << 40), 1 << 40])
def test_windows(rng: np.random.Generator, begin: int) -> None:
    width = 32768
    x = rng.standard_normal((2, 20000)).astype(F32)
    y = np.full((2, 34000), 7, F32)
    sums = np.full(2, np.nan, F32)
    window.options(device="emu:sm_90a")(x, y, sums, begin, WIDTH=width)
    row = np.full((2, width), 1.5, F32)
    at = np.arange(width) + begin
    inside = (at >= 0) & (at < 20000)
    row[:, inside] = x[:, at[inside]]
    np.testing.assert_array_equal(sums, row.max(axis=1))
    np.testing.assert_array_equal(y[:, 100 : 100 + width], row - row.max(axis=1, keepdims=True))
    assert (y[:, :100] == 7).all() and (y[:, 100 + width :] == 7).all()
    assert loops_of(window, x, y, sums, begin, WIDTH=width) == 2


@kiln.kernel
def several(x: kiln.View, y: kiln.View, ROWS: kiln.constexpr, WIDTH: kiln.constexpr):
    block = kiln.grid(kiln.cdiv(x.shape[0], ROWS))
    i = block * ROWS
    rows = x.load((i, 0), (ROWS, WIDTH), pad=LEAST).to(kiln.f32)
    e = kiln.exp(rows - kiln.max(rows, axis=1, keepdims=True))
    y.store((i, 0), (e / kiln.sum(e, axis=1, keepdims=True)).to(y.dtype))


@kiln.kernel
def in_turn(x: kiln.View, y: kiln.View, WIDTH: kiln.constexpr):
    """Programs that run several rows each."""
    first = kiln.grid(2)
    for i in range(first, x.shape[0], 2):
        row = x.load((i, 0), (1, WIDTH), pad=LEAST).to(kiln.f32)
        e = kiln.exp(row - kiln.max(row, axis=1, keepdims=True))
        y.store((i, 0), (e / kiln.sum(e, axis=1, keepdims=True)).to(y.dtype))


@pytest.mark.parametrize("device", DEVICES)
def test_rows_of_one_program(rng: np.random.Generator, device: str) -> None:
    x = (3 * rng.standard_normal((7, int(rng.integers(4000, 8192))))).astype(BF16)
    y = np.full(x.shape, np.nan, F32)
    several.options(device=device)(x, y, ROWS=4, WIDTH=8192)
    np.testing.assert_allclose(y, softmax_of(x), rtol=1e-5, atol=1e-9)
    assert loops_of(several, x, y, ROWS=4, WIDTH=8192) == 3
    y[:] = np.nan
    in_turn.options(device=device)(x, y, WIDTH=32768)
    np.testing.assert_allclose(y, softmax_of(x), rtol=1e-5, atol=1e-9)
    assert loops_of(in_turn, x, y, WIDTH=32768) == 4


@kiln.kernel
def cross_entropy(x: kiln.View, ids: kiln.View, loss: kiln.View, WIDTH: kiln.constexpr):
    """The gradient takes the place of the logits; a row's loss is stored between loops."""
    i = kiln.program_id(0)
    column = kiln.arange(WIDTH)[None, :]
    row = x.load((i, 0), (1, WIDTH), pad=LEAST).to(kiln.f32)
    most = kiln.max(row, axis=1, keepdims=True)
    e = kiln.exp(row - most)
    total = kiln.sum(e, axis=1, keepdims=True)
    target = ids[i]
    at = kiln.sum(kiln.where(column == target, row, 0.0), axis=1, keepdims=True)
    loss.store((i,), (kiln.log(total) + most - at).reshape((1,)))
    grad = e / total - kiln.where(column == target, 1.0, 0.0)
    x.store((i, 0), grad.to(x.dtype))


@pytest.mark.parametrize("width", [32768, 131072])
@pytest.mark.parametrize("device", DEVICES[:2])
def test_cross_entropy_in_place(rng: np.random.Generator, device: str, width: int) -> None:
    x = (3 * rng.standard_normal((3, width - 77))).astype(F32)
    ids = rng.integers(0, x.shape[1], 3).astype(np.int32)
    loss = np.full(3, np.nan, F32)
    p, rows = softmax_of(x), np.arange(3)
    grad = p.copy()
    grad[rows, ids] -= 1
    assert loops_of(cross_entropy, x, ids, loss, WIDTH=width) == 3
    cross_entropy.options(device=device)[3](x, ids, loss, WIDTH=width)
    np.testing.assert_allclose(loss, -np.log(p[rows, ids]), rtol=1e-5)
    np.testing.assert_allclose(x, grad, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("device", DEVICES[:2])
def test_softmax_in_place(rng: np.random.Generator, device: str) -> None:
    """A program keeps what it has loaded, or its tile is whole: nothing it has stored is loaded."""
    x = rows_of(rng, BF16, 32768)
    want = softmax_of(x)
    softmax.options(device=device)(x, x, WIDTH=32768)
    np.testing.assert_allclose(x.astype(np.float64), want, rtol=1e-2, atol=1e-9)


@pytest.mark.parametrize("chunk", [1024, (512, 4), (2048, 4)])
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("device", [*DEVICES, "cpu"])
def test_chunks_that_are_pinned(rng: np.random.Generator, device: str, kept: bool, chunk) -> None:
    x = rows_of(rng, F32, 8192)
    y = np.full(x.shape, np.nan, F32)
    softmax.options(device=device)(x, y, WIDTH=8192, CHUNK=chunk, KEPT=kept)
    np.testing.assert_allclose(y, softmax_of(x), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("dtype", [BF16, F32])
@pytest.mark.parametrize("device", DEVICES)
def test_rmsnorm(rng: np.random.Generator, device: str, dtype) -> None:
    x = rows_of(rng, dtype, 32768)
    w = rng.standard_normal(x.shape[1]).astype(dtype)
    y = np.full(x.shape, np.nan, F32)
    rmsnorm.options(device=device)(x, w, y, WIDTH=32768)
    t = x.astype(np.float64)
    want = t / np.sqrt((t * t).mean(axis=1, keepdims=True) + 1e-5) * w.astype(np.float64)
    np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("device", DEVICES)
def test_layernorm_of_a_residual_with_dropout(rng: np.random.Generator, device: str) -> None:
    """What is dropped is the same in each loop; the sum is stored, and used again, by the last."""
    x = rows_of(rng, F32, 32768)
    residual = rng.standard_normal(x.shape).astype(F32)
    w = rng.standard_normal(x.shape[1]).astype(F32)
    results = []
    for where in (device, "cpu"):
        total, y = np.full((2, *x.shape), np.nan, F32)
        layernorm.options(device=where)(x, residual, w, total, y, 12345, 0.75, WIDTH=32768)
        results.append((total, y))
    (total, y), (expected, _) = results
    np.testing.assert_allclose(total, expected, rtol=1e-6, atol=1e-6)
    h = expected.astype(np.float64)
    centred = h - h.mean(axis=1, keepdims=True)
    want = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * w
    np.testing.assert_allclose(y, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("device", DEVICES)
def test_sums_and_winners(rng: np.random.Generator, device: str) -> None:
    x = rows_of(rng, F32, 32768)
    x[:, rng.integers(0, x.shape[1], 5)] = 20.0  # several are the largest
    sums = np.full(len(x), np.nan, F32)
    squares.options(device=device)(x, sums, WIDTH=32768)
    t = x.astype(np.float64)
    np.testing.assert_allclose(sums, ((t - t.mean(axis=1, keepdims=True)) ** 2).sum(axis=1), 1e-5)
    at, near = np.full((2, len(x)), -1, np.int32)
    last_largest.options(device=device)(x, at, near, WIDTH=32768)
    np.testing.assert_array_equal(at, x.argmax(axis=1))
    np.testing.assert_array_equal(near, (x == x.max(axis=1, keepdims=True)).sum(axis=1))


def test_results_are_the_same_each_time(rng: np.random.Generator) -> None:
    x = rows_of(rng, F32, 65536)
    results = [np.full(x.shape, np.nan, F32) for _ in range(2)]
    for y in results:
        softmax.options(device="emu:sm_90a")(x, y, WIDTH=65536)
    assert results[0].tobytes() == results[1].tobytes()


@kiln.kernel
def whole(x: kiln.View, y: kiln.View, WIDTH: kiln.constexpr):
    kiln.pin(chunk=False)
    i = kiln.grid(x.shape[0])
    row = x.load((i, 0), (1, WIDTH)).to(kiln.f32)
    y.store((i, 0), (row / kiln.sum(row, axis=1, keepdims=True)).to(y.dtype))


def test_which_tiles_are_cut() -> None:
    x, y = np.zeros((2, 4, 16384), BF16)
    assert loops_of(softmax, x, y, WIDTH=16384) == 0
    assert loops_of(softmax, x, y, WIDTH=32768) == 3
    assert loops_of(softmax, x, y, WIDTH=262144) == 3
    assert loops_of(softmax, x, x, WIDTH=32768) == 3  # kept, so it may be in place
    assert loops_of(softmax, x, x, WIDTH=131072) == 0  # there is no room to keep it
    assert loops_of(rmsnorm, x, x[0], y, WIDTH=32768) == 2
    assert loops_of(whole, x, y, WIDTH=32768) == 0


def test_explain_tells_of_chunks() -> None:
    x, y = np.zeros((2, 4, 16384), BF16)
    for width, told in (
        (8192, ""),
        (32768, "tiles: in chunks of 2048, in 3 loops, with 1 tile kept in shared memory"),
        (262144, "tiles: in chunks of 8192, in 3 loops"),
    ):
        text = softmax.compile(x, y, WIDTH=width, target="nvptx:sm_90a").explain()
        lines = [line for line in text.splitlines() if line.startswith("tiles: ")]
        assert lines == [told] * bool(told)


@kiln.kernel(fast_math=True)
def without_infinities(x: kiln.View, y: kiln.View, WIDTH: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    row = x.load((i, 0), (1, WIDTH), pad=-1e30).to(kiln.f32)
    e = kiln.exp(row - kiln.max(row, axis=1, keepdims=True))
    y.store((i, 0), (e / kiln.sum(e, axis=1, keepdims=True)).to(y.dtype))


@pytest.mark.parametrize("device", DEVICES)
def test_fast_math(rng: np.random.Generator, device: str) -> None:
    x = rows_of(rng, BF16, 32768)
    y = np.full(x.shape, np.nan, F32)
    without_infinities.options(device=device)(x, y, WIDTH=32768)
    np.testing.assert_allclose(y, softmax_of(x), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("target", ["nvptx:sm_90a", "nvptx:sm_80", "amdgpu:gfx942"])
@pytest.mark.parametrize("kernel", [softmax, rmsnorm], ids=["softmax", "rmsnorm"])
def test_code_does_not_grow_with_rows(kernel, target: str) -> None:
    """Loops stay rolled: a row of 131072 elements takes no more code than one of 32768 by much."""
    x, y = np.zeros((2, 4, 4096), BF16)
    args = (x, y) if kernel is softmax else (x, x[0], y)
    for width in (32768, 131072, 262144):
        asm = kernel.compile(*args, WIDTH=width, target=target).asm
        instructions = len(re.findall(r"^\s+[a-z@][\w.@%]*[\s;]", asm, re.M))
        assert instructions < 4000


@kiln.kernel
def kept_whole(x: kiln.View):
    row = kiln.pin(x.load((0, 0), (1, 16384)), kept="shared")
    x.store((0, 0), row * 2)


@kiln.kernel
def sorted_in_chunks(x: kiln.View):
    kiln.pin(chunk=1024)
    x.store((0, 0), kiln.sort(x.load((0, 0), (1, 16384)), axis=1))


@pytest.mark.parametrize(
    "kernel, message",
    [(kept_whole, "expected a kernel with 'tile.chunk', since 'tile.kept' is decided"),
     (sorted_in_chunks, "expected ops that work element by element, or sums, loads and stores")],
    ids=["kept", "sorted"],
)  # fmt: skip
def test_what_cannot_be_cut_is_refused(kernel, message: str) -> None:
    with pytest.raises(kiln.CompileError, match=message):
        kernel.options(device="emu:sm_90a")(np.zeros((1, 16384), F32))


def test_pins_that_mean_nothing() -> None:
    @kiln.kernel
    def odd(x: kiln.View):
        kiln.pin(chunk=1000)
        x.store((0, 0), x.load((0, 0), (1, 16384)) * 2)

    @kiln.kernel
    def elsewhere(x: kiln.View):
        kiln.pin(chunk=1024)
        x.store((0, 0), kiln.pin(x.load((0, 0), (1, 16384)), kept="registers") * 2)

    for kernel, message in ((odd, "power of two of elements"), (elsewhere, "kept to be 'shared'")):
        with pytest.raises(kiln.CompileError, match=message):
            kernel.options(device="emu:sm_90a")(np.zeros((1, 16384), F32))
