"""Products of 64 rows into tensor memory, of one role or of each of its copies, on the emulated chip,
against float64: drawn tiles, types and orders of the operands, and what warps write and carry."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from attention_kernels import attention
from product_kernels import assert_near, wide

import kiln

BF16, F16 = ml_dtypes.bfloat16, np.float16
E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
DEVICE, TARGET = "emu:sm_100a", "nvptx:sm_100a"


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr, depth: kiln.constexpr,
    TA: kiln.constexpr, TB: kiln.constexpr, precision: kiln.constexpr, copies: kiln.constexpr,
    flight: kiln.constexpr, apart: kiln.constexpr, swap: kiln.constexpr,
):  # fmt: skip
    """Stored by the role that multiplies, or by one of its own, while the next sums are made."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    roles = (kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies))
    if apart:
        roles = (*roles, kiln.role("store", warps=4, copies=copies))
        kiln.pin(roles=roles, persistent=1)
    else:
        kiln.pin(roles=roles)
    integers = c.dtype == kiln.i32
    acc = kiln.zeros((BM, BN), kiln.i32 if integers else kiln.f32)
    for k in kiln.pin(range(0, a.shape[0 if TA else 1], BK), depth=depth):
        if TA:
            x = kiln.pin(a.load((k, i * BM), (BK, BM)), role="load", stage=0, atom="tma")
        else:
            x = kiln.pin(a.load((i * BM, k), (BM, BK)), role="load", stage=0, atom="tma")
        if TB:
            y = kiln.pin(b.load((j * BN, k), (BN, BK)), role="load", stage=0, atom="tma")
        else:
            y = kiln.pin(b.load((k, j * BN), (BK, BN)), role="load", stage=0, atom="tma")
        acc = kiln.dot(x, y, acc, transpose_a=TA, transpose_b=TB, precision=precision)
        acc = kiln.pin(acc, role="mma", stage=0, in_flight=flight, atom="tcgen05", swap=swap)
    if apart:
        acc = kiln.pin(acc * 2, role="store")
        kiln.pin(c.store((i * BM, j * BN), acc), role="store", in_flight=0, atom="tma")
    else:
        kiln.pin(c.store((i * BM, j * BN), acc), role="mma", in_flight=0, atom="tma")


# Only 16 bits are read along m or n too; rows of a box are at least 32 bytes.
FORMS = [(dtype, ta, tb, "ieee") for dtype in (BF16, F16) for ta in (0, 1) for tb in (0, 1)]
FORMS += [(E4M3, 0, 1, "ieee"), (E5M2, 0, 1, "ieee"), (np.float32, 0, 1, "tf32")]
FORMS += [(np.int8, 0, 1, "ieee"), (np.uint8, 0, 1, "ieee")]


def draw_operand(rng: np.random.Generator, dtype, shape: tuple[int, int]) -> np.ndarray:
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def as_read(operand: np.ndarray, precision: str) -> np.ndarray:
    if precision == "tf32":
        operand = (operand.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return wide(operand)


def run_drawn(rng, dtype, ta: int, tb: int, precision: str, others=None, **tile) -> None:
    m, n, k = (16 * int(rng.integers(1, limit)) for limit in (20, 12, 16))
    a = draw_operand(rng, dtype, (k, m) if ta else (m, k))
    b = draw_operand(rng, others or dtype, (n, k) if tb else (k, n))
    integers = np.issubdtype(dtype, np.integer)
    c = np.full((m, n), -7 if integers else np.nan, np.int32 if integers else np.float32)
    tile |= dict(TA=bool(ta), TB=bool(tb), precision=precision)
    product.options(device=DEVICE)(a, b, c, **tile)
    x, y = as_read(a, precision), as_read(b, precision)
    want = (x.T if ta else x) @ (y.T if tb else y) * (2 if tile["apart"] else 1)
    if integers:
        assert (c == want).all(), (tile, m, n, k)
    else:
        assert_near(c, want, 1e-5, (tile, m, n, k))


@pytest.mark.parametrize("draw", range(3))
@pytest.mark.parametrize("dtype, ta, tb, precision", FORMS)
def test_drawn_products(rng, dtype, ta: int, tb: int, precision: str, draw: int) -> None:
    rng = np.random.default_rng([draw, int(rng.integers(1 << 62))])
    size = np.dtype(dtype).itemsize
    copies, apart = int(rng.integers(1, 4)), bool(rng.integers(2))
    columns = [16, 32, 48, 64, 96, 128] + [8, 24, 40] * (tb and np.dtype(dtype).kind not in "iu")
    columns += [192, 256] * (copies == 1)
    run_drawn(
        rng, dtype, ta, tb, precision, BM=64 * copies, BN=int(rng.choice(columns)),
        BK=int(rng.choice([32, 64, 128])) // size, depth=int(rng.integers(1, 4)), copies=copies,
        apart=apart, flight=int(rng.integers(2)) if apart and copies < 3 else 0, swap=False,
    )  # fmt: skip


@pytest.mark.parametrize("rows, columns", [(16, 64), (32, 64), (64, 64), (128, 64), (16, 128)])
@pytest.mark.parametrize("dtype", [BF16, np.int8])
def test_products_that_are_swapped(rng, dtype, rows: int, columns: int) -> None:
    tile = dict(BM=rows, BN=columns, BK=64, depth=2, copies=1, apart=False, flight=0, swap=True)
    run_drawn(rng, dtype, 0, 1, "ieee", **tile)


@pytest.mark.parametrize("rows", [64, 128])
def test_floats_of_a_byte_of_either_format(rng, rows: int) -> None:
    tile = dict(BM=rows, BN=48, BK=64, depth=2, copies=1, apart=False, flight=0, swap=False)
    run_drawn(rng, E4M3, 0, 1, "ieee", others=E5M2, **tile)
    run_drawn(rng, E5M2, 0, 1, "ieee", others=E4M3, **tile)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(
    "rows, columns, copies", [(64, 128, 2), (64, 192, 3), (64, 512, 1), (128, 128, 2), (192, 64, 3)]
)
def test_copies_share_rows_or_columns(
    rng, rows: int, columns: int, copies: int, apart: bool
) -> None:
    """Columns where there are 64 rows for all of them. More than 256 columns are two instructions'."""
    tile = dict(BM=rows, BN=columns, BK=64, depth=2, copies=copies, apart=apart, swap=False,
                flight=int(apart and columns < 512))  # fmt: skip
    run_drawn(rng, BF16, 0, 1, "ieee", **tile)


@pytest.mark.parametrize("rows", [64, 128, 256])
def test_integers_of_either_sign(rng, rows: int) -> None:
    """Each operand has its own; sums wrap as int32."""
    copies = 2 if rows == 256 else 1
    tile = dict(BM=rows, BN=64, BK=64, depth=2, copies=copies, apart=False, flight=0, swap=False)
    run_drawn(rng, np.int8, 0, 1, "ieee", others=np.uint8, **tile)
    run_drawn(rng, np.uint8, 0, 1, "ieee", others=np.int8, **tile)


@kiln.kernel
def chain(
    x: kiln.View, w: kiln.View, v: kiln.View, c: kiln.View, o: kiln.View,
    BM: kiln.constexpr, H: kiln.constexpr, N: kiln.constexpr, depth: kiln.constexpr,
    halves: kiln.constexpr, copies: kiln.constexpr,
):  # fmt: skip
    """A hidden layer of so many columns a trip, added to what there was, or to half of it."""
    i = kiln.grid(kiln.cdiv(o.shape[0], BM))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies)))
    rows = kiln.pin(x.load((i * BM, 0), (BM, 64)), role="load", atom="tma", ring="x")
    acc = kiln.pin(c.load((i * BM, 0), (BM, N)), role="mma")
    for h in kiln.pin(range(0, w.shape[0], H), depth=depth):
        first = kiln.pin(w.load((h, 0), (H, 64)), role="load", stage=0, atom="tma", ring="w")
        s = kiln.dot(rows, first, transpose_b=True)
        s = kiln.pin(s, role="mma", stage=0, in_flight=0, atom="tcgen05")
        p = kiln.maximum(s, 0.0).to(v.dtype)
        second = kiln.pin(v.load((0, h), (N, H)), role="load", stage=0, atom="tma", ring="v")
        acc = kiln.dot(p, second, acc * 0.5 if halves else acc, transpose_b=True)
        acc = kiln.pin(acc, role="mma", stage=0, in_flight=0, atom="tcgen05")
    kiln.pin(o.store((i * BM, 0), acc), role="mma", in_flight=0, atom="tma")


@pytest.mark.parametrize("dtype", [BF16, F16, E4M3])
@pytest.mark.parametrize("copies, halves", [(1, 0), (1, 1), (2, 0), (2, 1)])
def test_chains(rng, dtype, copies: int, halves: int) -> None:
    tile = dict(BM=64 * copies, H=int(rng.choice([32, 64])), N=int(rng.choice([32, 48, 64, 128])),
                depth=int(rng.integers(1, 3)), copies=copies, halves=bool(halves))  # fmt: skip
    m, trips = int(rng.integers(1, 200)), int(rng.integers(0, 5))
    hidden = trips * tile["H"]

    def few(*shape: int) -> np.ndarray:
        return rng.integers(-1, 2, shape).astype(np.float32) * (rng.random(shape) < 0.3)

    x, w = few(m, 64).astype(dtype), few(max(hidden, 16), 64).astype(dtype)[:hidden]
    v = few(tile["N"], max(hidden, 16)).astype(dtype)[:, :hidden]
    c = rng.standard_normal((m, tile["N"])).astype(np.float32)
    o = np.full((m, tile["N"]), np.nan, np.float32)
    chain.options(device=DEVICE)(x, w, v, c, o, **tile)
    want = wide(c)
    for h in range(0, hidden, tile["H"]):
        some = slice(h, h + tile["H"])
        p = np.maximum(wide(x) @ wide(w[some]).T, 0).astype(dtype)
        want = want * (0.5 if halves else 1) + wide(p) @ wide(v[:, some]).T
    assert_near(o, want, 1e-5, (tile, m, hidden))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("rows, heads", [(64, 32), (64, 64), (64, 128), (128, 64)])
def test_plain_attention(rng, rows: int, heads: int, causal: bool) -> None:
    """As the compiler decides it: small heads and few rows do not keep it from tensor memory."""
    m, n = int(rng.integers(1, 200)), int(rng.integers(1, 200))
    n = max(m, n) if causal else n
    q, k, v = (rng.standard_normal((size, heads)).astype(BF16) for size in (m, n, n))
    out = np.full((m, heads), np.nan, np.float32)
    kernel = attention.options(device=DEVICE)
    kernel(q, k, v, out, heads**-0.5 * 1.4427, CAUSAL=causal, BM=rows, BN=64, D=heads)
    score = wide(q) @ wide(k).T * heads**-0.5 * 1.4427
    if causal:
        score[np.arange(n)[None, :] > np.arange(m)[:, None]] = -np.inf
    p = np.exp2(score - score.max(axis=1, keepdims=True))
    want = (p / p.sum(axis=1, keepdims=True)) @ wide(v)
    assert np.linalg.norm(out - want) <= 2e-2 * np.linalg.norm(want), (m, n)


@kiln.kernel
def plain(
    a: kiln.View, b: kiln.View, c: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    acc = kiln.zeros((BM, BN), c.dtype)
    for k in range(0, a.shape[1], BK):
        x, y = a.load((i * BM, k), (BM, BK)), b.load((j * BN, k), (BN, BK))
        acc = kiln.dot(x, y, acc, transpose_b=True)
    c.store((i * BM, j * BN), acc)


# Of 64 rows the instruction is one of 64, but where more columns make one of 128 of the transpose.
PLAIN = [
    (BF16, 64, 64, 64), (BF16, 64, 24, 64), (BF16, 16, 64, 64), (BF16, 192, 64, 64),
    (BF16, 64, 128, 128), (BF16, 128, 64, 128), (np.int8, 64, 64, 64), (np.int8, 128, 128, 128),
]  # fmt: skip


@pytest.mark.parametrize("dtype, rows, columns, high", PLAIN)
def test_plain_products(rng, dtype, rows: int, columns: int, high: int) -> None:
    m, n, k = (16 * int(rng.integers(1, limit)) for limit in (20, 12, 16))
    integers = dtype is np.int8
    a, b = draw_operand(rng, dtype, (m, k)), draw_operand(rng, dtype, (n, k))
    c = np.zeros((m, n), np.int32 if integers else np.float32)
    tile = dict(BM=rows, BN=columns, BK=64)
    stop = "stop-after=schedule"
    code = plain.compile(a, b, c, **tile, target=TARGET, _pipeline=stop).ir("schedule")
    atoms = set(re.findall(r"#nvptx\.(?:mma_sync|tcgen05)<\"(m\d+)n", code))
    assert atoms == {f"m{high}"}, atoms
    plain.options(device=DEVICE)(a, b, c, **tile)
    assert_near(c, wide(a) @ wide(b).T, 1e-5, (tile, m, n, k))


@pytest.mark.parametrize(
    "chip, dtype, rows, fits",
    [
        ("sm_103a", np.int8, 64, '"mma_sync", got "tcgen05"'),
        ("sm_100a", BF16, 32, '"mma_sync", got "tcgen05"'),
        ("sm_90a", BF16, 64, '"wgmma" or "mma_sync", got "tcgen05"'),
    ],
)
def test_refusals_name_what_fits(rng, chip: str, dtype, rows: int, fits: str) -> None:
    a = draw_operand(rng, dtype, (64, 64))
    c = np.zeros((64, 64), np.int32 if dtype is np.int8 else np.float32)
    tile = dict(BM=rows, BN=64, BK=32, depth=2, TA=False, TB=True, precision="ieee", copies=1,
                flight=0, apart=False, swap=False)  # fmt: skip
    with pytest.raises(kiln.CompileError, match=f"an instruction of .*{chip} that fits, {fits}"):
        product.options(device=f"emu:{chip}")(a, a, c, **tile)


def test_sums_of_64_rows_take_whole_columns(rng) -> None:
    """Three copies of 192 columns of 64 rows each are more than there are."""
    a = draw_operand(rng, BF16, (192, 64))
    c = np.zeros((192, 192), np.float32)
    tile = dict(BM=192, BN=192, BK=64, depth=2, TA=False, TB=True, precision="ieee", copies=3,
                flight=0, apart=False, swap=False)  # fmt: skip
    with pytest.raises(kiln.CompileError, match="at most 262144 bytes of tensor memory"):
        product.options(device=DEVICE)(a, a, c, **tile)


@kiln.kernel
def doubled(a: kiln.View, b: kiln.View, c: kiln.View, BN: kiln.constexpr):
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 192), kiln.cdiv(c.shape[1], BN))
    acc = kiln.zeros((192, BN), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x, y = a.load((i * 192, k), (192, 64)), b.load((j * BN, k), (BN, 64))
        acc = kiln.dot(x * 2, y, acc, transpose_b=True)
    c.store((i * 192, j * BN), acc - kiln.max(acc, axis=1)[:, None])


@pytest.mark.parametrize("BN", [96, 128])
def test_192_rows_whose_copies_have_no_room(rng: np.random.Generator, BN: int) -> None:
    """Three copies of 64 rows have sums, and weights that warps write, in too many columns: one copy
    has no instruction for them."""
    a, b = (rng.integers(-3, 4, (rows, 128)).astype(BF16) for rows in (192, BN))
    c = np.zeros((192, BN), np.float32)
    doubled.options(device="emu:sm_100a")(a, b, c, BN)
    product = 2 * a.astype(np.float64) @ b.astype(np.float64).T
    np.testing.assert_array_equal(c, product - product.max(axis=1, keepdims=True))
