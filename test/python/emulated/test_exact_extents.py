"""Products by tiles whose extents are no powers of two, on emulated chips and the CPU, against float64.

What is drawn is any multiple of eight up to 320: extents that an instruction makes are exact, others
grow, and numbers are the same. Some cases are checked to be exact.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from product_kernels import plain, shared_out

import kiln

BF16 = ml_dtypes.bfloat16
DRAWN = 8
LDS_BYTES = 64 * 1024


def drawn(rng: np.random.Generator, draw: int) -> np.random.Generator:
    """Another generator for each draw of a test."""
    return np.random.default_rng([draw, int(rng.integers(1 << 62))])


def error(out: np.ndarray, reference: np.ndarray) -> float:
    return float(np.linalg.norm(out.astype(np.float64) - reference) / np.linalg.norm(reference))


def check(rng: np.random.Generator, chip: str, dtype, out, **tile) -> None:
    m, n, k = (8 * int(rng.integers(1, most)) for most in (60, 60, 40))
    a = rng.standard_normal((k, m) if tile["ta"] else (m, k)).astype(dtype)
    b = rng.standard_normal((n, k) if tile["tb"] else (k, n)).astype(dtype)
    c = np.full((m, n + 8), np.nan, out)
    shared_out.options(device=f"emu:{chip}")(a, b, c[:, :n], **tile)
    x, y = (t.astype(np.float64).T if turned else t.astype(np.float64)
            for t, turned in ((a, tile["ta"]), (b, tile["tb"])))  # fmt: skip
    assert error(c[:, :n], x @ y) < (1e-5 if out == np.float32 else 4e-3), (m, n, k, tile)
    assert np.isnan(c[:, n:].astype(np.float64)).all(), "expected nothing beyond the last column"


# Columns by one instruction and by several, rows by three copies and by one, both at once, and inner
# extents of several boxes.
TILES = [
    (128, 192, 64, 2), (64, 192, 64, 1), (64, 96, 32, 1), (64, 200, 64, 1), (64, 320, 64, 1),
    (192, 64, 64, 3), (192, 192, 64, 3), (192, 64, 64, 1), (384, 40, 32, 3), (64, 64, 48, 1),
    (320, 64, 64, 5), (128, 176, 16, 2), (128, 224, 64, 2), (64, 8 * 29, 32, 1),
]  # fmt: skip


@pytest.mark.parametrize("store", [False, True])
@pytest.mark.parametrize("M, N, K, copies", TILES)
def test_exact_tiles(rng, M: int, N: int, K: int, copies: int, store: bool) -> None:
    out = np.float32 if store and N % 16 else BF16  # the engine stores 16 bytes at once
    check(rng, "sm_90a", BF16, out, M=M, N=N, K=K, copies=copies, ta=False, tb=True, store=store)


@pytest.mark.parametrize("store", [False, True])
@pytest.mark.parametrize("ta, tb", [(False, False), (True, True), (True, False)])
@pytest.mark.parametrize(
    "M, N, K, copies", [(64, 192, 64, 1), (192, 64, 32, 3), (64, 96, 64, 1), (192, 192, 64, 3)]
)
def test_exact_operands_either_way(rng, M, N, K, copies, ta, tb, store) -> None:
    check(rng, "sm_90a", BF16, BF16, M=M, N=N, K=K, copies=copies, ta=ta, tb=tb, store=store)


def test_columns_that_grow_where_copies_share_out_rows(rng) -> None:
    """No instruction brings 40 columns of an operand that lies along them."""
    check(rng, "sm_90a", BF16, BF16, M=256, N=40, K=32, copies=2, ta=False, tb=False, store=False)


@pytest.mark.parametrize("draw", range(DRAWN))
def test_drawn_tiles(rng, draw: int) -> None:
    rng = drawn(rng, draw)
    copies = int(rng.integers(1, 3))
    rows = 8 * int(rng.integers(8, 41))
    # A thread of a copy has room for 128 numbers of the sum, were its rows to grow to a power of two.
    columns = 64 * 256 * copies // (1 << (rows - 1).bit_length())
    tile = {
        "M": rows, "N": 8 * int(rng.integers(2, columns // 8 + 1)),
        "K": int(rng.choice([16, 32, 64])), "copies": copies,
        "ta": bool(rng.integers(2)), "tb": bool(rng.integers(2)), "store": False,
    }  # fmt: skip
    dtype = [BF16, np.float16][int(rng.integers(2))]
    check(rng, "sm_90a", dtype, [np.float32, dtype][int(rng.integers(2))], **tile)


@pytest.mark.parametrize("M, N", [(184, 64), (72, 96), (248, 40), (136, 128)])
def test_rows_that_grow_are_shared_out(rng, M: int, N: int) -> None:
    """The last copies have fewer of them, or none."""
    check(rng, "sm_90a", BF16, BF16, M=M, N=N, K=32, copies=2, ta=False, tb=True, store=False)


def test_rows_that_grow_are_no_engine_s_to_store() -> None:
    a, b, c = (np.zeros((256, 256), BF16) for _ in range(3))
    with pytest.raises(kiln.CompileError, match='2 copies of role "mma" share out evenly, got 184'):
        shared_out.compile(
            a, b, c, M=184, N=64, K=32, copies=2, ta=False, tb=True, store=True,
            target="nvptx:sm_90a",
        )  # fmt: skip


@pytest.mark.parametrize("device", ["cpu", "emu:sm_80", "emu:sm_90a", "emu:gfx942"])
@pytest.mark.parametrize("draw", range(2))
def test_drawn_tiles_without_pins(rng, device: str, draw: int) -> None:
    rng = drawn(rng, draw)
    tile, taken = {}, LDS_BYTES + 1
    while taken > LDS_BYTES:  # of gfx942, where tiles that grow must fit too
        tile = {
            name: 8 * int(rng.integers(1, most)) for name, most in (("M", 25), ("N", 25), ("K", 13))
        }
        grown = {name: 1 << (extent - 1).bit_length() for name, extent in tile.items()}
        taken = 2 * (grown["M"] + grown["N"]) * grown["K"]
    m, n, k = (8 * int(rng.integers(1, 40)) for _ in range(3))
    a, b = (rng.standard_normal((rows, k)).astype(BF16) for rows in (m, n))
    c = np.zeros((m, n), BF16)
    plain.options(device=device)(a, b, c, **tile)
    reference = a.astype(np.float64) @ b.astype(np.float64).T
    assert error(c, reference) < 4e-3, (m, n, k, tile)


@kiln.kernel
def weighted(
    q: kiln.View, k: kiln.View, o: kiln.View,
    M: kiln.constexpr, N: kiln.constexpr, copies: kiln.constexpr,
):  # fmt: skip
    """Of each query its weights over the tile's keys, which add to one."""
    i = kiln.grid(kiln.cdiv(o.shape[0], M))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies)))
    x = kiln.pin(q.load((i * M, 0), (M, 64)), role="load", ring="x", depth=1, atom="tma")
    y = kiln.pin(k.load((0, 0), (N, 64)), role="load", ring="x", depth=1, atom="tma")
    none = kiln.zeros((M, N), kiln.f32)
    scores = kiln.pin(kiln.dot(x, y, none, transpose_b=True), role="mma", in_flight=0, atom="wgmma")
    weights = kiln.exp(scores - kiln.max(scores, axis=1)[:, None])
    weights = weights / kiln.sum(weights, axis=1)[:, None]
    kiln.pin(o.store((i * M, 0), weights), role="mma")


@pytest.mark.parametrize("M, N, copies", [(64, 96, 1), (192, 64, 3), (192, 24, 3), (128, 176, 2)])
def test_sums_along_exact_extents(rng, M: int, N: int, copies: int) -> None:
    m = int(rng.integers(1, 300))
    q, k = (rng.standard_normal((rows, 64)).astype(BF16) for rows in (m, N))
    o = np.zeros((m, N), np.float32)
    weighted.options(device="emu:sm_90a")(q, k, o, M=M, N=N, copies=copies)
    weights = q.astype(np.float64) @ k.astype(np.float64).T
    weights = np.exp(weights - weights.max(1, keepdims=True))
    assert error(o, weights / weights.sum(1, keepdims=True)) < 1e-5


@pytest.mark.parametrize(
    "tile, instruction",
    [
        ((128, 192, 64, 2), "m64n192k16"), ((192, 96, 64, 3), "m64n96k16"),
        ((64, 200, 64, 1), "m64n200k16"),
    ],
)  # fmt: skip
def test_what_is_exact_has_its_instruction(tile, instruction: str) -> None:
    M, N, K, copies = tile
    a, b, c = (np.zeros((512, 512), BF16) for _ in range(3))
    code = shared_out.compile(
        a, b, c, M=M, N=N, K=K, copies=copies, ta=False, tb=True, store=True, target="nvptx:sm_90a"
    ).asm
    assert f"wgmma.mma_async.sync.aligned.{instruction}." in code
