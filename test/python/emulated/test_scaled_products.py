"""Products of blocks with scales by tcgen05, on the emulated chip, against float64: kernels that pin
nothing and kernels that pin all, of drawn tiles, types and extents."""

from __future__ import annotations

import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from cubin import ASSEMBLER

import kiln

E4M3, E5M2, E2M1 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float4_e2m1fn
E8M0 = ml_dtypes.float8_e8m0fnu
BYTES = {"f8E4M3FN": E4M3, "f8E5M2": E5M2}


@kiln.kernel
def plain(
    a: kiln.View, sa: kiln.View, b: kiln.View, sb: kiln.View, c: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, a.shape[1], BK):
        x, y = a.load((i * BM, k), (BM, BK)), b.load((j * BN, k), (BN, BK))
        s = sa.load((i * BM, k // 32), (BM, BK // 32))
        t = sb.load((j * BN, k // 32), (BN, BK // 32))
        acc = kiln.dot_scaled(x, s, y, t, acc, transpose_b=True)
    c.store((i * BM, j * BN), acc)


@kiln.kernel
def nibbles(
    a: kiln.View, sa: kiln.View, b: kiln.View, sb: kiln.View, c: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr, S: kiln.constexpr,
):  # fmt: skip
    """Of elements of four bits, two in each byte, by blocks of S."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, a.shape[1] * 2, BK):
        x = kiln.bitcast(a.load((i * BM, k // 2), (BM, BK // 2)), kiln.f4e2m1fn)
        y = kiln.bitcast(b.load((j * BN, k // 2), (BN, BK // 2)), kiln.f4e2m1fn)
        s = sa.load((i * BM, k // S), (BM, BK // S))
        t = sb.load((j * BN, k // S), (BN, BK // S))
        acc = kiln.dot_scaled(x, s, y, t, acc, transpose_b=True)
    c.store((i * BM, j * BN), acc)


@kiln.kernel
def pinned(
    a: kiln.View, sa: kiln.View, b: kiln.View, sb: kiln.View, c: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr, depth: kiln.constexpr,
    copies: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies)))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], BK), depth=depth):
        x = kiln.pin(a.load((i * BM, k), (BM, BK)), role="load", atom="tma")
        y = kiln.pin(b.load((j * BN, k), (BN, BK)), role="load", atom="tma")
        s = kiln.pin(sa.load((i * BM, k // 32), (BM, BK // 32)), role="mma")
        t = kiln.pin(sb.load((j * BN, k // 32), (BN, BK // 32)), role="mma")
        product = kiln.dot_scaled(x, s, y, t, acc, transpose_b=True)
        acc = kiln.pin(product, role="mma", in_flight=0, atom="tcgen05")
    kiln.pin(c.store((i * BM, j * BN), acc), role="mma")


@kiln.kernel
def once(a: kiln.View, sa: kiln.View, b: kiln.View, sb: kiln.View, c: kiln.View):
    kiln.grid(1)
    x, s = a.load((0, 0), (128, 128)), sa.load((0, 0), (128, 4))
    y, t = b.load((0, 0), (64, 128)), sb.load((0, 0), (64, 4))
    c.store((0, 0), kiln.dot_scaled(x, s, y, t, transpose_b=True))


@kiln.kernel
def gated(
    a: kiln.View, sa: kiln.View, b: kiln.View, sb: kiln.View, g: kiln.View, sg: kiln.View,
    c: kiln.View, BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr,
):  # fmt: skip
    """Two products by one a, whose scales are written once for both."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    acc, gate = kiln.zeros((BM, BN), kiln.f32), kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, a.shape[1], BK):
        x, s = a.load((i * BM, k), (BM, BK)), sa.load((i * BM, k // 32), (BM, BK // 32))
        y, t = b.load((j * BN, k), (BN, BK)), sb.load((j * BN, k // 32), (BN, BK // 32))
        z, u = g.load((j * BN, k), (BN, BK)), sg.load((j * BN, k // 32), (BN, BK // 32))
        acc = kiln.dot_scaled(x, s, y, t, acc, transpose_b=True)
        gate = kiln.dot_scaled(x, s, z, u, gate, transpose_b=True)
    c.store((i * BM, j * BN), acc * gate)


@kiln.kernel
def added(
    a: kiln.View, sa: kiln.View, b: kiln.View, sb: kiln.View, c: kiln.View, d: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr,
):  # fmt: skip
    """A trip's products, by scales and by others, add to one sum, which begins as a tile."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    acc = d.load((i * BM, j * BN), (BM, BN))
    for k in range(0, a.shape[1], 2 * BK):
        x, y = a.load((i * BM, k), (BM, BK)), b.load((j * BN, k), (BN, BK))
        s = sa.load((i * BM, k // 32), (BM, BK // 32))
        t = sb.load((j * BN, k // 32), (BN, BK // 32))
        acc = kiln.dot_scaled(x, s, y, t, acc, transpose_b=True)
        x, y = a.load((i * BM, k + BK), (BM, BK)), b.load((j * BN, k + BK), (BN, BK))
        s = sa.load((i * BM, (k + BK) // 32), (BM, BK // 32))
        t = sb.load((j * BN, (k + BK) // 32), (BN, BK // 32))
        acc = kiln.dot_scaled(x, s, y, t, acc, transpose_b=True)
        acc = kiln.dot(x, y, acc, transpose_b=True)
    c.store((i * BM, j * BN), acc)


def draw(rng: np.random.Generator, m: int, n: int, k: int, kinds: tuple[str, str]) -> list:
    """Operands and their scales."""
    a, b = (rng.standard_normal((rows, k)).astype(BYTES[kind]) for rows, kind in zip((m, n), kinds))
    blocks = -(-k // 32)
    scales = [(2.0 ** rng.integers(-6, 7, (rows, blocks))).astype(E8M0) for rows in (m, n)]
    return [a, scales[0], b, scales[1]]


def draw_nibbles(rng: np.random.Generator, m: int, n: int, k: int, block: int) -> list:
    a, b = (rng.standard_normal((rows, k)).astype(E2M1) for rows in (m, n))
    if block == 32:
        sa, sb = ((2.0 ** rng.integers(-6, 7, (r, k // 32))).astype(E8M0) for r in (m, n))
    else:
        sa, sb = (rng.uniform(0, 20, (rows, k // 16)).astype(E4M3) for rows in (m, n))
    return [a, sa, b, sb]


def pack(args: list) -> list:
    """Two elements of four bits in each byte."""
    a, sa, b, sb = args
    x, y = (o.view(np.uint8)[:, ::2] & 15 | o.view(np.uint8)[:, 1::2] << 4 for o in (a, b))
    return [x, sa, y, sb]


def multiply(a, sa, b, sb, block: int = 32) -> tuple[np.ndarray, np.ndarray]:
    """The product, and what the magnitudes of its terms add up to."""

    def wide(elements: np.ndarray, scales: np.ndarray) -> np.ndarray:
        each = np.repeat(scales.astype(np.float64), block, 1)[:, : elements.shape[1]]
        return elements.astype(np.float64) * each

    x, y = wide(a, sa), wide(b, sb)
    return x @ y.T, np.abs(x) @ np.abs(y).T


def assert_near(got: np.ndarray, want: np.ndarray, terms: np.ndarray, what: object) -> None:
    assert np.all(np.abs(got - want) <= 1e-6 * terms), what


@pytest.mark.parametrize("turn", range(6))
@pytest.mark.parametrize("kinds", [("f8E4M3FN",) * 2, ("f8E5M2", "f8E4M3FN")])
def test_plain_products(rng: np.random.Generator, kinds: tuple[str, str], turn: int) -> None:
    rng = np.random.default_rng([turn, int(rng.integers(1 << 62))])
    tile = {
        "BM": int(rng.choice([128, 256])), "BN": int(rng.choice([16, 64, 128])),
        "BK": int(rng.choice([64, 128, 256])),
    }  # fmt: skip
    m, n, k = (int(rng.integers(1, limit)) for limit in (300, 200, 30))
    args = draw(rng, m, n, 32 * k, kinds)
    c = np.full((m, n), np.nan, np.float32)
    assert "block_scale" in plain.compile(*args, c, **tile, target="nvptx:sm_100a").asm, tile
    plain.options(device="emu:sm_100a")(*args, c, **tile)
    assert_near(c, *multiply(*args), (tile, m, n, 32 * k))


@pytest.mark.parametrize("turn", range(6))
def test_pinned_products(rng: np.random.Generator, turn: int) -> None:
    rng = np.random.default_rng([turn, int(rng.integers(1 << 62))])
    copies = 1 + turn % 2
    tile = {
        "BM": 128 * copies, "BN": int(rng.choice([8, 24, 32, 64, 96, 128, 192][: 8 - copies])),
        "BK": int(rng.choice([32, 64, 128])), "depth": int(rng.integers(1, 4)),
        "copies": copies,
    }  # fmt: skip
    m, n, k = (int(rng.integers(1, limit)) for limit in (300, 200, 30))
    args = draw(rng, m, n, 32 * k, tuple(rng.choice(list(BYTES), 2)))
    c = np.full((m, n), np.nan, np.float32)
    pinned.options(device="emu:sm_100a")(*args, c, **tile)
    assert_near(c, *multiply(*args), (tile, m, n, 32 * k))


@pytest.mark.parametrize("turn", range(5))
@pytest.mark.parametrize("block", [16, 32])
def test_nibbles(rng: np.random.Generator, block: int, turn: int) -> None:
    """MXFP4 by blocks of 32, NVFP4 by blocks of 16, whose scales are floats too."""
    rng = np.random.default_rng([turn, int(rng.integers(1 << 62))])
    tile = {
        "BM": int(rng.choice([128, 256])), "BN": int(rng.choice([16, 64, 128])),
        "BK": int(rng.choice([64, 128, 256])), "S": block,
    }  # fmt: skip
    m, n, k = (int(rng.integers(1, limit)) for limit in (300, 200, 30))
    k *= 32
    args = draw_nibbles(rng, m, n, k, block)
    c = np.full((m, n), np.nan, np.float32)
    kind = "mxf4.block_scale" if block == 32 else "mxf4nvf4.block_scale"
    assert kind in nibbles.compile(*pack(args), c, **tile, target="nvptx:sm_100a").asm, tile
    nibbles.options(device="emu:sm_100a")(*pack(args), c, **tile)
    assert_near(c, *multiply(*args, block), (tile, m, n, k))


@pytest.mark.parametrize("chip", ["sm_100a", "sm_103a"])
def test_gated(rng: np.random.Generator, chip: str) -> None:
    m, n, k = (int(rng.integers(1, limit)) for limit in (200, 150, 20))
    args = draw(rng, m, n, 32 * k, ("f8E4M3FN",) * 2)
    gate = draw(rng, m, n, 32 * k, ("f8E4M3FN",) * 2)[2:]
    c = np.full((m, n), np.nan, np.float32)
    tile = {"BM": 128, "BN": 64, "BK": 128}
    assert "block_scale" in gated.compile(*args, *gate, c, **tile, target=f"nvptx:{chip}").asm
    gated.options(device=f"emu:{chip}")(*args, *gate, c, **tile)
    (x, terms), (y, others) = multiply(*args), multiply(*args[:2], *gate)
    assert_near(c, x * y, 2 * terms * others, (m, n, 32 * k))


def test_added(rng: np.random.Generator) -> None:
    m, n, k = (int(rng.integers(1, limit)) for limit in (200, 150, 8))
    args = draw(rng, m, n, 256 * k, ("f8E4M3FN", "f8E5M2"))
    c, d = np.full((m, n), np.nan, np.float32), rng.standard_normal((m, n)).astype(np.float32)
    added.options(device="emu:sm_100a")(*args, c, d, BM=128, BN=64, BK=128)
    late = np.arange(256 * k) // 128 % 2 == 1
    a, b = (args[i].astype(np.float64)[:, late] for i in (0, 2))
    want, terms = multiply(*args)
    terms += np.abs(a) @ np.abs(b).T + np.abs(d)
    assert_near(c, want + a @ b.T + d, terms, (m, n, 256 * k))


@pytest.mark.parametrize("chip", ["sm_100a", "sm_90a"])
def test_without_a_loop(rng: np.random.Generator, chip: str) -> None:
    """What gets no such instruction is multiplied by its scales in registers."""
    args = draw(rng, 128, 64, 128, ("f8E4M3FN",) * 2)
    c = np.full((128, 64), np.nan, np.float32)
    once.options(device=f"emu:{chip}")(*args, c)
    assert_near(c, *multiply(*args), chip)


def test_nan_scales(rng: np.random.Generator) -> None:
    """A NaN scale makes its block NaN, and so its row or column of the product."""
    args = draw(rng, 128, 64, 256, ("f8E4M3FN",) * 2)
    args[1][5, 2] = args[3][7, 0] = np.nan
    c = np.zeros((128, 64), np.float32)
    plain.options(device="emu:sm_100a")(*args, c, BM=128, BN=64, BK=128)
    want, terms = multiply(*args)
    assert np.array_equal(np.isnan(c), np.isnan(want))
    rest = ~np.isnan(want)
    assert_near(c[rest], want[rest], terms[rest], "beside NaNs")


# ---- Pairs of programs


@kiln.kernel
def paired(
    a: kiln.View, sa: kiln.View, b: kiln.View, sb: kiln.View, c: kiln.View, BN: kiln.constexpr,
    BK: kiln.constexpr, S: kiln.constexpr, packed: kiln.constexpr, stores: kiln.constexpr,
):  # fmt: skip
    """Two programs multiply by one b, half of which each brings, and by all of its scales."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], BN))
    store = "store" if stores else "mma"
    roles = (kiln.role("load", warps=4), kiln.role("mma", warps=4))
    kiln.pin(cluster=(2, 1), roles=(*roles, kiln.role("store", warps=4)) if stores else roles)
    acc = kiln.zeros((128, BN), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1] * packed, BK), depth=2):
        x = kiln.pin(a.load((i * 128, k // packed), (128, BK // packed)), role="load", atom="tma")
        y = kiln.pin(b.load((j * BN, k // packed), (BN, BK // packed)), role="load", atom="tma")
        if packed == 2:
            x, y = kiln.bitcast(x, kiln.f4e2m1fn), kiln.bitcast(y, kiln.f4e2m1fn)
        s = kiln.pin(sa.load((i * 128, k // S), (128, BK // S)), role="mma")
        t = kiln.pin(sb.load((j * BN, k // S), (BN, BK // S)), role="mma")
        product = kiln.dot_scaled(x, s, y, t, acc, transpose_b=True)
        acc = kiln.pin(product, role="mma", in_flight=0, atom="tcgen05_pair")
    kiln.pin(c.store((i * 128, j * BN), acc), role=store)


@pytest.mark.parametrize("stores", [False, True])
@pytest.mark.parametrize("columns", [16, 32, 128, 256])
def test_pairs(rng: np.random.Generator, columns: int, stores: bool) -> None:
    m, n, k = 512, int(rng.integers(1, 2 * columns + 1)), 32 * int(rng.integers(1, 13))
    args = draw(rng, m, n, k, ("f8E4M3FN", "f8E5M2"))
    c = np.full((m, n), np.nan, np.float32)
    paired.options(device="emu:sm_100a")(*args, c, columns, 128, 32, 1, stores)
    want, terms = multiply(*args)
    assert_near(c, want, terms, (n, k))


@pytest.mark.parametrize("block", [16, 32])
def test_pairs_of_nibbles(rng: np.random.Generator, block: int) -> None:
    m, n, k = 256, int(rng.integers(1, 200)), 128 * int(rng.integers(1, 4))
    args, c = draw_nibbles(rng, m, n, k, block), np.full((m, n), np.nan, np.float32)
    paired.options(device="emu:sm_100a")(*pack(args), c, 64, 128, block, 2, False)
    want, terms = multiply(*args, block)
    assert_near(c, want, terms, (n, k))


@pytest.mark.parametrize("chip", ["sm_100a", "sm_103a"])
def test_the_code_of_pairs_is_assembled(chip: str, tmp_path: Path) -> None:
    args = draw(np.random.default_rng(0), 256, 128, 256, ("f8E4M3FN", "f8E5M2"))
    c = np.zeros((256, 128), np.float32)
    code = tmp_path / "code.ptx"
    said = dict(BN=128, BK=128, S=32, packed=1, stores=True)
    code.write_text(paired.compile(*args, c, **said, target=f"nvptx:{chip}").asm)
    assert "tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale" in code.read_text()
    if ASSEMBLER.exists():
        done = [ASSEMBLER, f"-arch={chip}", code, "-o", tmp_path / "code.cubin"]
        subprocess.run(done, check=True)
