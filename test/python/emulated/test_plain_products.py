"""Kernels of products that pin nothing, on emulated chips whose products run beside their warps: the
compiler gives them roles of its own (tile-decide-roles). Drawn tiles, strides, operands and
epilogues, against float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from attention_kernels import attention
from product_kernels import finished

import kiln

BF16 = ml_dtypes.bfloat16
DEVICE = "emu:sm_90a"


def error(out: np.ndarray, reference: np.ndarray) -> float:
    return float(np.linalg.norm(out.astype(np.float64) - reference) / np.linalg.norm(reference))


# By chip, what multiplies beside its warps.
CHIPS = {"sm_90a": "wgmma.mma_async", "sm_100a": "tcgen05.mma"}


def by_products(kernel, *args, chip: str = "sm_90a", **options) -> bool:
    """Whether the kernel multiplies by products that run beside their warps."""
    return CHIPS[chip] in kernel.compile(*args, **options, target=f"nvptx:{chip}").asm


def strided(rng: np.random.Generator, rows: int, columns: int, dtype, kind: str) -> np.ndarray:
    """Random numbers in rows, in columns, in rows of a wider array, or at an odd stride."""
    if kind == "columns":
        return rng.standard_normal((columns, rows)).astype(dtype).T
    wider = {"rows": columns, "wide": columns + 16, "odd": columns + 3}[kind]
    return rng.standard_normal((rows, wider)).astype(dtype)[:, :columns]


@pytest.mark.parametrize("turn", range(16))
@pytest.mark.parametrize("chip", CHIPS)
def test_products(rng: np.random.Generator, chip: str, turn: int) -> None:
    dtype = (BF16, np.float16)[int(rng.integers(2))]
    tile = dict(
        BM=int(rng.choice([32, 64, 128])), BN=int(rng.choice([16, 32, 64, 128])),
        BK=int(rng.choice([16, 32, 64])),
    )  # fmt: skip
    m, n, k = (int(rng.integers(1, 40)) * 8 for _ in range(3))
    kinds = [str(rng.choice(["rows", "columns", "wide", "odd"])) for _ in range(3)]
    a, b = strided(rng, m, k, dtype, kinds[0]), strided(rng, k, n, dtype, kinds[1])
    c, more = (strided(rng, m, n, dtype, kinds[2]) for _ in range(2))
    bias = rng.standard_normal(n).astype(dtype)
    switches = {name: bool(rng.integers(2)) for name in ("BIAS", "MORE", "RELU", "SCALED")}
    finished.options(device=f"emu:{chip}")(a, b, c, bias, more, **tile, **switches)
    reference = a.astype(np.float64) @ b.astype(np.float64) * (0.5 if switches["SCALED"] else 1)
    if switches["BIAS"]:
        reference = reference + bias.astype(np.float64)
    if switches["MORE"]:
        reference = reference + more.astype(np.float64)
    if switches["RELU"]:
        reference = np.maximum(reference, 0)
    assert error(c, reference) < 4e-3, (m, n, k, kinds, tile, switches)


@pytest.mark.parametrize("turn", range(6))
def test_products_of_what_no_engine_brings(rng: np.random.Generator, turn: int) -> None:
    """Odd strides, in rows or columns, go through registers or by copies of few bytes, and the
    products run on beside them all the same."""
    tile = dict(
        BM=int(rng.choice([64, 128])), BN=int(rng.choice([32, 64, 128])),
        BK=int(rng.choice([32, 64])),
    )  # fmt: skip
    m, n, k = (2 * int(rng.integers(1, 100)) + 1 for _ in range(3))
    if turn % 2:
        k = 4 * (k // 4) + 2  # rows of whole words
    form = str(rng.choice(["NN", "NT", "TN", "TT"]))
    a, b = (rng.standard_normal((m, k)).astype(BF16), rng.standard_normal((k, n)).astype(BF16))
    x, y = (
        operand if f == "N" else np.ascontiguousarray(operand.T).T
        for f, operand in zip(form, (a, b), strict=True)
    )
    c, more = (np.zeros((m, n), BF16), rng.standard_normal((m, n)).astype(BF16))
    switches = dict(BIAS=False, MORE=True, RELU=False, SCALED=False)
    assert by_products(finished, x, y, c, more[0], more, **tile, **switches)
    finished.options(device=DEVICE)(x, y, c, more[0], more, **tile, **switches)
    reference = a.astype(np.float64) @ b.astype(np.float64) + more.astype(np.float64)
    assert error(c, reference) < 4e-3, (m, n, k, form, tile)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("form", ["NT", "NN", "TN", "TT"])
def test_engines_bring_all_transpositions(form: str, chip: str) -> None:
    a = np.zeros((256, 256), BF16)
    x, y = (operand if f == "N" else operand.T for operand, f in zip((a, a), form, strict=True))
    switches = dict(BIAS=False, MORE=False, RELU=False, SCALED=False)
    assert by_products(finished, x, y, a, a[0], a, chip=chip, BM=128, BN=128, BK=64, **switches)


def test_a_pinned_grid_runs_its_own_tiles(rng) -> None:
    """One program is asked for, and no other tile is written."""
    a, b = (rng.standard_normal(shape).astype(BF16) for shape in ((256, 64), (64, 256)))
    c = np.zeros((256, 256), BF16)
    switches = dict(BIAS=False, MORE=False, RELU=False, SCALED=False)
    options = dict(BM=128, BN=128, BK=64, **switches)
    assert by_products(finished, a, b, c, b[0], c, **options)
    finished.options(device=DEVICE)[(1, 1)](a, b, c, b[0], c, **options)
    assert error(c[:128, :128], a[:128].astype(np.float64) @ b[:, :128].astype(np.float64)) < 4e-3
    assert not c[128:].any() and not c[:, 128:].any()


@pytest.mark.parametrize("tile", [(64, 64), (128, 32), (128, 128)])
def test_what_is_added_lies_where_the_sum_goes(rng, tile: tuple[int, int]) -> None:
    """c += a b: each warp has loaded its part when any stores."""
    a, b = (rng.standard_normal(shape).astype(BF16) for shape in ((136, 64), (64, 200)))
    c = rng.standard_normal((136, 200)).astype(BF16)
    expected = a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64)
    switches = dict(BIAS=False, MORE=True, RELU=False, SCALED=False)
    options = dict(BM=tile[0], BN=tile[1], BK=32, **switches)
    assert by_products(finished, a, b, c, b[0], c, **options)
    finished.options(device=DEVICE)(a, b, c, b[0], c, **options)
    assert error(c, expected) < 4e-3


@kiln.kernel
def gated(
    x: kiln.View, up: kiln.View, gate: kiln.View, out: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(out.shape[0], BM), kiln.cdiv(out.shape[1], BN))
    s = kiln.zeros((BM, BN), kiln.f32)
    t = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, x.shape[1], BK):
        tile = x.load((i * BM, k), (BM, BK))
        s = kiln.dot(tile, up.load((j * BN, k), (BN, BK)), s, transpose_b=True)
        t = kiln.dot(tile, gate.load((j * BN, k), (BN, BK)), t, transpose_b=True)
    out.store((i * BM, j * BN), (s * t / (1.0 + kiln.exp(-t))).to(out.dtype))


@pytest.mark.parametrize("bm, bn", [(64, 64), (128, 64), (128, 128)])
def test_two_products_of_one_operand(rng, bm: int, bn: int) -> None:
    x, up, gate = (rng.standard_normal((r, 136)).astype(BF16) for r in (200, 136, 136))
    out = np.zeros((200, 136), BF16)
    gated.options(device=DEVICE)(x, up, gate, out, BM=bm, BN=bn, BK=32)
    assert by_products(gated, x, up, gate, out, BM=bm, BN=bn, BK=32)
    s, t = (x.astype(np.float64) @ w.astype(np.float64).T for w in (up, gate))
    assert error(out, s * t / (1 + np.exp(-t))) < 4e-3


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("n, bm, bn, d", [(200, 64, 64, 64), (136, 128, 64, 64), (70, 64, 32, 32)])
def test_attention(rng, n: int, bm: int, bn: int, d: int, causal: bool) -> None:
    q, k, v = (rng.standard_normal((n, d)).astype(BF16) for _ in range(3))
    out = np.zeros((n, d), BF16)
    tile = dict(CAUSAL=causal, BM=bm, BN=bn, D=d)
    exponent = d**-0.5 * 1.4426950408889634
    attention.options(device=DEVICE)(q, k, v, out, exponent, **tile)
    assert by_products(attention, q, k, v, out, exponent, **tile)
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = q @ k.T * d**-0.5
    if causal:
        scores = np.where(np.tri(n, n, 0, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    assert error(out, weights @ v / weights.sum(1, keepdims=True)) < 1e-2


@kiln.kernel
def chained(
    a: kiln.View, b: kiln.View, c: kiln.View, out: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr,
):  # fmt: skip
    i = kiln.grid(kiln.cdiv(out.shape[0], BM))
    acc = kiln.zeros((BM, 64), kiln.f32)
    for j in range(0, b.shape[1], BN):
        s = kiln.zeros((BM, BN), kiln.f32)
        for k in range(0, a.shape[1], BK):
            s = kiln.dot(a.load((i * BM, k), (BM, BK)), b.load((k, j), (BK, BN)), s)
        acc = kiln.dot(s.to(kiln.bf16), c.load((j, 0), (BN, 64)), acc)
    out.store((i * BM, 0), acc.to(out.dtype))


def test_products_in_nested_loops(rng) -> None:
    a, b, c = (rng.standard_normal(s).astype(BF16) for s in ((136, 72), (72, 200), (200, 64)))
    out = np.zeros((136, 64), BF16)
    chained.options(device=DEVICE)(a, b, c, out, BM=64, BN=64, BK=32)
    s = (a.astype(np.float64) @ b.astype(np.float64)).astype(BF16).astype(np.float64)
    assert error(out, s @ c.astype(np.float64)) < 1e-2


@kiln.kernel
def ragged(
    a: kiln.View, b: kiln.View, first: kiln.View, out: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr,
):  # fmt: skip
    i, g = kiln.grid(kiln.cdiv(out.shape[1], BM), first.shape[0] - 1)
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(first[g], first[g + 1], 16):
        acc = kiln.dot(a.load((i * BM, k), (BM, 16)), b.load((k, 0), (16, BN)), acc)
    out.store((g, i * BM, 0), acc.reshape((1, BM, BN)).to(out.dtype))


def test_bounds_from_memory(rng) -> None:
    a, b = rng.standard_normal((136, 160)).astype(BF16), rng.standard_normal((160, 64)).astype(BF16)
    first = np.array([0, 32, 32, 160], np.int32)
    out = np.zeros((3, 136, 64), np.float32)
    ragged.options(device=DEVICE)(a, b, first, out, BM=64, BN=64)
    x, y = a.astype(np.float64), b.astype(np.float64)
    for g in range(3):
        part = slice(first[g], first[g + 1])
        reference = x[:, part] @ y[part]
        assert np.linalg.norm(out[g] - reference) <= 1e-3 * max(1, np.linalg.norm(reference))


@kiln.kernel
def in_place(a: kiln.View, b: kiln.View, steps, BM: kiln.constexpr):
    """What a step stores the next one loads: no engine may run ahead."""
    kiln.grid(1)
    for _ in range(0, steps, 1):
        acc = kiln.zeros((BM, BM), kiln.f32)
        for k in range(0, BM, 32):
            acc = kiln.dot(a.load((0, k), (BM, 32)), b.load((k, 0), (32, BM)), acc)
        a.store((0, 0), acc.to(a.dtype))


def test_what_is_stored_is_loaded_again(rng) -> None:
    a, b = (rng.standard_normal((64, 64)).astype(BF16) for _ in range(2))
    b = (b.astype(np.float64) / 8).astype(BF16)
    expected = a.astype(np.float64)
    for _ in range(3):
        expected = (expected @ b.astype(np.float64)).astype(BF16).astype(np.float64)
    in_place.options(device=DEVICE)(a, b, 3, BM=64)
    assert error(a, expected) < 2e-2


@kiln.kernel
def in_turn(a: kiln.View, b: kiln.View, c: kiln.View, PERSISTENT: kiln.constexpr = None):
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], 64))
    if PERSISTENT is not None:
        kiln.pin(persistent=PERSISTENT)
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in range(0, a.shape[1], 64):
        acc = kiln.dot(a.load((i * 64, k), (64, 64)), b.load((k, j * 64), (64, 64)), acc)
    c.store((i * 64, j * 64), acc.to(c.dtype))


def test_programs_run_tiles_in_turn_but_those_of_a_launch_s_own_grid(rng, tmp_path) -> None:
    """An emulated chip has three cores, for sixteen tiles."""
    a, b = (rng.standard_normal((256, 256)).astype(BF16) for _ in range(2))
    reference = a.astype(np.float64) @ b.astype(np.float64)
    kernel = in_turn.options(device=DEVICE)

    def run(launch, **options) -> np.ndarray:
        c = np.full((256, 256), np.nan, BF16)
        launch(a, b, c, **options)
        return c

    assert error(run(kernel), reference) < 4e-3
    # A launch's grid says which tiles are run, before and after.
    alone = run(kernel[(2, 3)])
    assert error(alone[:128, :192], reference[:128, :192]) < 4e-3
    assert np.isnan(alone.astype(np.float32)[128:]).all()
    assert np.isnan(alone.astype(np.float32)[:, 192:]).all()
    assert error(run(kernel), reference) < 4e-3
    assert error(run(kernel, PERSISTENT=False), reference) < 4e-3

    # Programs that an author has take turns run all tiles, however many they are.
    assert error(run(kernel[5], PERSISTENT=0), reference) < 4e-3
    with pytest.raises(kiln.LaunchError, match="expected a grid along x alone.*got 2, 3, 1"):
        run(kernel[(2, 3)], PERSISTENT=0)

    compiled = in_turn.compile(a, b, a, target="emu:sm_90a")
    assert compiled.metadata["persistent_per_core"] == 1
    told = in_turn.compile(a, b, a, PERSISTENT=False, target="emu:sm_90a")
    assert "persistent_per_core" not in told.metadata
    compiled.save(tmp_path / "in_turn.kiln")
    loaded = kiln.load(tmp_path / "in_turn.kiln")
    assert error(run(loaded, _device=DEVICE), reference) < 4e-3
    with pytest.raises(kiln.LaunchError, match="expected no grid, because the kernel alone"):
        run(loaded[(2, 3)], _device=DEVICE)


@kiln.kernel
def wide_rows(a: kiln.View, b: kiln.View, c: kiln.View, BN: kiln.constexpr):
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 192), kiln.cdiv(c.shape[1], BN))
    acc = kiln.zeros((192, BN), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x, y = a.load((i * 192, k), (192, 64)), b.load((j * BN, k), (BN, 64))
        acc = kiln.dot(x, y, acc, transpose_b=True)
    c.store((i * 192, j * BN), acc)


@pytest.mark.parametrize("columns", [208, 256])
def test_three_copies_begin_with_few_registers(rng: np.random.Generator, columns: int) -> None:
    """No instruction has more sums than the assembler takes of threads of 16 warps."""
    a, b = (rng.standard_normal((n, 200)).astype(BF16) for n in (200, columns + 8))
    c = np.zeros((200, columns + 8), np.float32)
    assert by_products(wide_rows, a, b, c, BN=columns)
    wide_rows.options(device=DEVICE)(a, b, c, BN=columns)
    assert error(c, a.astype(np.float64) @ b.astype(np.float64).T) < 1e-5
