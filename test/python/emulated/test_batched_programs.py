"""Programs of short rows that one program runs in step, as one more dimension of its tiles
(tile-decide-batch, tile-realise-batch): as passes decide, and as an author pins. On emulated chips
and the host, against float64: softmax, norms, elementwise work, rows by a list, windows and columns,
of lengths that are no powers of two, of grids that are no whole batches, of the kernel's and of the
call's."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
DEVICES = ("emu:sm_90a", "emu:gfx942", "emu:sm_80", "cpu")
TARGETS = {"emu:sm_90a": "nvptx:sm_90a", "emu:gfx942": "amdgpu:gfx942", "emu:sm_80": "nvptx:sm_80"}
WIDTHS = (1, 3, 32, 63, 64, 100, 256)


def block_of(width: int) -> int:
    return 1 << (width - 1).bit_length()


@kiln.kernel
def softmax(x: kiln.View, y: kiln.View, BLOCK: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    row = x.load((i, 0), (1, BLOCK), pad=float("-inf")).to(kiln.f32)
    e = kiln.exp(row - kiln.max(row, axis=1, keepdims=True))
    y.store((i, 0), (e / kiln.sum(e, axis=1, keepdims=True)).to(y.dtype))


def softmax_of(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def draw_rows(rng: np.random.Generator, width: int) -> int:
    """No whole batches, and sometimes fewer rows than one has."""
    return int(rng.integers(1, 80 if width <= 64 else 30))


def in_step(kernel, *args, device: str, **given) -> int:
    """Programs of the source that one block has, in step or side by side."""
    return kernel.compile(*args, **given, target=TARGETS[device]).metadata.get(
        "programs_per_block", 1
    )


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("device", DEVICES)
def test_softmax(rng: np.random.Generator, device: str, width: int) -> None:
    for dtype, error in ((np.float32, 2e-6), (BF16, 5e-3)):
        x = (4 * rng.standard_normal((draw_rows(rng, width), width))).astype(dtype)
        y = np.full_like(x, np.nan)
        softmax.options(device=device)(x, y, BLOCK=block_of(width))
        np.testing.assert_allclose(y.astype(np.float64), softmax_of(x), rtol=error, atol=1e-12)


@pytest.mark.parametrize("device", ["emu:sm_90a", "emu:gfx942"])
def test_rows_of_views_that_are_no_arrays(rng: np.random.Generator, device: str) -> None:
    """Every other row and column, transposed, and behind a start that is not aligned."""
    whole = rng.standard_normal((90, 201)).astype(np.float32)
    for x in (whole[::2, ::2], whole.T[:40, 3:70], whole[5:38, 1:65]):
        given = x.copy()
        y = np.full(x.shape, np.nan, np.float32)
        softmax.options(device=device)(x, y, BLOCK=block_of(x.shape[1]))
        np.testing.assert_allclose(y, softmax_of(given), rtol=2e-6, atol=1e-12)


@pytest.mark.parametrize("device", DEVICES)
def test_in_place(rng: np.random.Generator, device: str) -> None:
    x = rng.standard_normal((draw_rows(rng, 50), 50)).astype(np.float32)
    want = softmax_of(x)
    softmax.options(device=device)(x, x, BLOCK=64)
    np.testing.assert_allclose(x, want, rtol=2e-6, atol=1e-12)


@pytest.mark.parametrize("device", DEVICES)
def test_a_call_says_how_many_programs(rng: np.random.Generator, device: str) -> None:
    x = rng.standard_normal((61, 64)).astype(np.float32)
    for rows in (0, 1, 7, 8, 16, int(rng.integers(17, 60))):
        y = np.full_like(x, 7)
        softmax.options(device=device)[(rows,)](x, y, BLOCK=64)
        np.testing.assert_allclose(y[:rows], softmax_of(x)[:rows], rtol=2e-6, atol=1e-12)
        assert (y[rows:] == 7).all()


@kiln.kernel
def rmsnorm(x: kiln.View, w: kiln.View, y: kiln.View, eps: kiln.f32, BLOCK: kiln.constexpr):
    rows, columns = x.shape
    i = kiln.grid(rows)
    row = x.load((i, 0), (1, BLOCK)).to(kiln.f32)
    mean = kiln.sum(row * row, axis=1, keepdims=True) / columns.to(kiln.f32)
    weights = w.load((0,), (BLOCK,)).to(kiln.f32)
    y.store((i, 0), (row * kiln.rsqrt(mean + eps) * weights[None, :]).to(y.dtype))


@kiln.kernel
def layernorm_dropout(
    x: kiln.View, residual: kiln.View, w: kiln.View, bias: kiln.View, total: kiln.View,
    y: kiln.View, seed: kiln.i64, keep: kiln.f32, BLOCK: kiln.constexpr,
):  # fmt: skip
    rows, columns = x.shape
    i = kiln.grid(rows)
    column = kiln.arange(BLOCK)[None, :]
    inside = column < columns.to(kiln.i32)
    n = columns.to(kiln.f32)
    dropped = x.load((i, 0), (1, BLOCK)).to(kiln.f32)
    uniform = kiln.rand(seed, column, i.to(kiln.i32))  # the row is the stream
    dropped = kiln.where(uniform < keep, dropped / keep, 0.0)
    h = dropped + residual.load((i, 0), (1, BLOCK)).to(kiln.f32)
    total.store((i, 0), h.to(total.dtype))
    mean = kiln.sum(h, axis=1, keepdims=True) / n
    centred = kiln.where(inside, h - mean, 0.0)
    variance = kiln.sum(centred * centred, axis=1, keepdims=True) / n
    weights = w.load((0,), (BLOCK,))[None, :].to(kiln.f32)
    offsets = bias.load((0,), (BLOCK,))[None, :].to(kiln.f32)
    y.store((i, 0), (centred * kiln.rsqrt(variance + 1e-5) * weights + offsets).to(y.dtype))


@pytest.mark.parametrize("width", [1, 33, 64, 200])
@pytest.mark.parametrize("device", DEVICES)
def test_norms(rng: np.random.Generator, device: str, width: int) -> None:
    rows = draw_rows(rng, width)
    x, residual = rng.standard_normal((2, rows, width), dtype=np.float32)
    w, bias = rng.standard_normal((2, width), dtype=np.float32)
    y, total = np.full((2, *x.shape), np.nan, np.float32)
    rmsnorm.options(device=device)(x, w, y, 1e-5, BLOCK=block_of(width))
    real = x.astype(np.float64)
    want = real / np.sqrt((real * real).mean(axis=1, keepdims=True) + 1e-5) * w
    np.testing.assert_allclose(y, want, rtol=2e-6, atol=1e-7)

    seed = int(rng.integers(2**62))
    given = (x, residual, w, bias, total, y, seed, 0.75)
    layernorm_dropout.options(device=device)(*given, BLOCK=block_of(width))
    # The same bits of the host, whose programs are loops.
    ours = total.copy()
    layernorm_dropout.options(device="cpu")(*given, BLOCK=block_of(width))
    np.testing.assert_array_equal(ours, total)
    h = ours.astype(np.float64)
    centred = h - h.mean(axis=1, keepdims=True)
    want = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * w + bias
    y[:] = np.nan
    layernorm_dropout.options(device=device)(*given, BLOCK=block_of(width))
    np.testing.assert_allclose(y, want, rtol=2e-4, atol=2e-5)


@kiln.kernel
def embed(table: kiln.View, ids: kiln.View, y: kiln.View, D: kiln.constexpr):
    i = kiln.grid(ids.shape[0])
    y.store((i, 0), table.load((ids[i], 0), (1, D)))


@pytest.mark.parametrize("width", [8, 64, 100])
@pytest.mark.parametrize("device", DEVICES)
def test_rows_by_a_list(rng: np.random.Generator, device: str, width: int) -> None:
    table = rng.standard_normal((50, width)).astype(np.float32)
    ids = rng.integers(0, 50, draw_rows(rng, width)).astype(np.int32)
    y = np.full((len(ids), width), np.nan, np.float32)
    embed.options(device=device)(table, ids, y, D=width)
    np.testing.assert_array_equal(y, table[ids])


@kiln.kernel
def places(x: kiln.View, BATCH: kiln.constexpr):
    """Numbers of the program, in loops and conditions that all programs share."""
    kiln.pin(batch=BATCH)
    i = kiln.grid(x.shape[0])
    total = i * 0
    for k in range(3):
        total = total + i * k
    if x.shape[1] > 4:
        total = total + 1
    line = kiln.full((1, 8), total * 1000) + kiln.arange(8)[None, :]
    x.store((i, 0), (line + kiln.num_programs(0) * 100).to(x.dtype))


@pytest.mark.parametrize("batch", [1, 2, 3, 16])
@pytest.mark.parametrize("device", DEVICES)
def test_numbers_of_programs(rng: np.random.Generator, device: str, batch: int) -> None:
    rows = int(rng.integers(1, 50))
    for width in (3, 8):
        x = np.zeros((rows, width), np.int32)
        places.options(device=device)(x, BATCH=batch)
        numbers = 3 * np.arange(rows) + (width > 4)
        want = numbers[:, None] * 1000 + np.arange(width) + rows * 100
        np.testing.assert_array_equal(x, want)


@kiln.kernel
def windows(x: kiln.View, y: kiln.View, BATCH: kiln.constexpr):
    """Tiles that overlap, stored backwards; begins below zero."""
    kiln.pin(batch=BATCH)
    n = y.shape[0]
    i = kiln.grid(n)
    tile = x.load((i * 2 - 1,), (8,))
    y.store((n - 1 - i, 0), kiln.cumsum(tile).reshape((1, 8)))


@pytest.mark.parametrize("device", DEVICES)
def test_windows(rng: np.random.Generator, device: str) -> None:
    rows = int(rng.integers(1, 40))
    x = rng.standard_normal(2 * rows).astype(np.float32)
    y = np.full((rows, 8), np.nan, np.float32)
    windows.options(device=device)(x, y, BATCH=4)
    padded = np.concatenate([[0.0], x.astype(np.float64), np.zeros(8)])
    want = np.stack([np.cumsum(padded[2 * i : 2 * i + 8]) for i in range(rows)])[::-1]
    np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-5)


@kiln.kernel
def columns(x: kiln.View, y: kiln.View, best: kiln.View, BATCH: kiln.constexpr):
    """Two columns a program, of a grid of two axes."""
    kiln.pin(batch=BATCH)
    i, j = kiln.grid(kiln.cdiv(x.shape[1], 2), kiln.cdiv(x.shape[0], 16))
    tile = x.load((j * 16, i * 2), (16, 2), pad=float("-inf"))
    y.store((j * 16, i * 2), kiln.cumsum(tile, axis=0))
    best.store((j, i * 2), kiln.max(tile, axis=0)[None, :])


@pytest.mark.parametrize("device", DEVICES)
def test_columns(rng: np.random.Generator, device: str) -> None:
    width = int(rng.integers(1, 40))
    x = rng.standard_normal((32, width)).astype(np.float32)
    y, best = np.full_like(x, np.nan), np.full((2, width), np.nan, np.float32)
    columns.options(device=device)(x, y, best, BATCH=4)
    halves = x.reshape(2, 16, width)
    np.testing.assert_array_equal(best, halves.max(axis=1))
    want = np.cumsum(halves.astype(np.float64), axis=1).reshape(32, width)
    np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-5)


@kiln.kernel
def shapes(x: kiln.View, y: kiln.View, BATCH: kiln.constexpr):
    """What only moves elements, of one program's tile and of all programs'."""
    kiln.pin(batch=BATCH)
    i = kiln.grid(x.shape[0])
    tile = x.load((i, 0), (1, 16)).reshape((4, 4))
    ours = kiln.arange(16).reshape((4, 4)).to(kiln.f32)
    turned = (tile.T + ours).reshape((16,))
    scale = kiln.where(turned > 0, turned, -turned)
    y.store((i, 0), scale.reshape((1, 16)))


@pytest.mark.parametrize("batch", [2, 5])
@pytest.mark.parametrize("device", DEVICES)
def test_shapes(rng: np.random.Generator, device: str, batch: int) -> None:
    rows = int(rng.integers(1, 30))
    x = rng.standard_normal((rows, 16)).astype(np.float32)
    y = np.full_like(x, np.nan)
    shapes.options(device=device)(x, y, BATCH=batch)
    turned = x.reshape(rows, 4, 4).transpose(0, 2, 1).reshape(rows, 16)
    np.testing.assert_array_equal(y, np.abs(turned + np.arange(16, dtype=np.float32)))


@kiln.kernel
def both(x: kiln.View, y: kiln.View, BATCH: kiln.constexpr, PROGRAMS: kiln.constexpr):
    kiln.pin(batch=BATCH, programs_per_block=PROGRAMS, warps=1)
    i = kiln.grid(x.shape[0])
    row = x.load((i, 0), (1, 32))
    y.store((i, 0), row - kiln.max(row, axis=1, keepdims=True))


@pytest.mark.parametrize("device", ["emu:sm_90a", "emu:gfx942"])
def test_batches_side_by_side(rng: np.random.Generator, device: str) -> None:
    x = rng.standard_normal((int(rng.integers(1, 100)), 32)).astype(np.float32)
    y = np.full_like(x, np.nan)
    assert in_step(both, x, y, device=device, BATCH=4, PROGRAMS=3) == 12
    both.options(device=device)(x, y, BATCH=4, PROGRAMS=3)
    np.testing.assert_array_equal(y, x - x.max(axis=1, keepdims=True))


@pytest.mark.parametrize("programs", [1, 3])
@pytest.mark.parametrize("device", ["emu:sm_90a", "emu:gfx942", "cpu"])
def test_a_grid_of_the_call_ends_in_front_of_the_view(rng, device: str, programs: int) -> None:
    x = rng.standard_normal((50, 32)).astype(np.float32)
    for rows in (0, 1, 4, 5, 12, int(rng.integers(13, 50))):
        y = np.full_like(x, 7)
        both.options(device=device)[(rows,)](x, y, BATCH=4, PROGRAMS=programs)
        np.testing.assert_array_equal(y[:rows], (x - x.max(axis=1, keepdims=True))[:rows])
        assert (y[rows:] == 7).all()
        # The rows behind are read as they are, and written by nobody.
        z = x.copy()
        both.options(device=device)[(rows,)](z, z, BATCH=4, PROGRAMS=programs)
        np.testing.assert_array_equal(z[:rows], y[:rows])
        np.testing.assert_array_equal(z[rows:], x[rows:])


@kiln.kernel
def counts(x: kiln.View, total: kiln.View, BATCH: kiln.constexpr):
    kiln.pin(batch=BATCH)
    i = kiln.grid(x.shape[0])
    kiln.atomic_add(total, (0,), kiln.sum(x.load((i, 0), (1, 8))))


@kiln.kernel
def trips(x: kiln.View, BATCH: kiln.constexpr):
    kiln.pin(batch=BATCH)
    i = kiln.grid(x.shape[0])
    for k in range(0, i):
        x.store((i, k), kiln.full((1, 1), 1.0))


@pytest.mark.parametrize(
    "kernel, op, why",
    [(counts, "tile.atomic_rmw", "this is one program's alone"),
     (trips, "scf.for", "its trips depend on the program's number")],
)  # fmt: skip
def test_what_cannot_run_in_step_is_refused_where_it_is_pinned(kernel, op: str, why: str) -> None:
    x, total = np.zeros((4, 8), np.float32), np.zeros(1, np.float32)
    given = (x, total) if kernel is counts else (x,)
    with pytest.raises(kiln.CompileError, match="expected programs that can run in step") as error:
        kernel.options(device="emu:sm_90a")(*given, BATCH=4)
    assert f"'{op}': {why}" in str(error.value)
    kernel.options(device="emu:sm_90a")(*given, BATCH=1)


def test_fewer_programs_than_one_are_refused() -> None:
    with pytest.raises(kiln.CompileError, match="expected batch of at least 1, got 0"):
        counts.options(device="emu:sm_90a")(np.zeros((4, 8), np.float32), np.zeros(1), BATCH=0)


def test_what_is_decided() -> None:
    def rows_of(width: int, dtype, device: str) -> int:
        x = np.zeros((4, width), dtype)
        return in_step(softmax, x, x, device=device, BLOCK=width)

    assert rows_of(64, BF16, "emu:sm_90a") == 16
    assert rows_of(64, np.float32, "emu:sm_90a") == 8
    assert rows_of(1024, BF16, "emu:sm_90a") == 1
    assert rows_of(64, BF16, "emu:gfx942") == 8
    x = np.zeros((4, 8), np.float32)
    assert in_step(counts, x, x[0], device="emu:sm_90a", BATCH=1) == 8  # side by side


def test_a_short_row_is_accessed_16_bytes_at_a_time() -> None:
    x = np.zeros((1024, 64), BF16)
    made = softmax.compile(x, np.zeros_like(x), BLOCK=64, target="nvptx:sm_90a")
    assert "ld.global.v4.b32" in made.asm and "st.global.v4.b32" in made.asm
    # Eight lanes share a row: three exchanges a reduction, each for four rows at once.
    assert made.asm.count("shfl.sync.bfly") <= 12
