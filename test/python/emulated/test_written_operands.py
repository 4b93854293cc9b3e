"""Products that run on beside their warps and read from shared memory what warps compute: another role
makes it, or the product's own. On emulated chips, against float64; and what is refused."""

from __future__ import annotations

import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from cubin import ASSEMBLER
from written_kernels import bytes_across, gathered, left, widened

import kiln

BF16, F16, F32 = ml_dtypes.bfloat16, np.float16, np.float32
E4M3 = ml_dtypes.float8_e4m3fn
CHIPS = {"wgmma": "emu:sm_90a", "tcgen05": "emu:sm_100a"}


def wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64)


def assert_near(got: np.ndarray, want: np.ndarray, what: object, tolerance: float = 1e-5) -> None:
    error = np.linalg.norm(wide(got) - want)
    assert error <= tolerance * np.linalg.norm(want) + 1e-30, (error, what)


@pytest.mark.parametrize("draw", range(4))
@pytest.mark.parametrize("maker", ["cast", "mma"])
@pytest.mark.parametrize("atom", ["wgmma", "tcgen05"])
def test_weights_that_are_widened(
    rng: np.random.Generator, atom: str, maker: str, draw: int
) -> None:
    dtype = (BF16, F16, F32)[rng.integers(3)]
    is_over = atom == "wgmma" and bool(draw % 2)
    copies = int(rng.integers(1, 3))
    tile = dict(
        atom=atom, maker=maker, makers=int(rng.integers(1, 3)), copies=copies,
        tb=dtype == F32 or bool(rng.integers(2)), flight=int(is_over),
        depth=int(rng.integers(1 + is_over, 4)), BM=(64 if atom == "wgmma" else 128) * copies,
        BN=int(rng.choice([32, 64])), BK=32 if dtype == F32 else int(rng.choice([32, 64])),
        precision="tf32" if dtype == F32 else "ieee", persistent=bool(rng.integers(2)),
    )  # fmt: skip
    m, n, k = rng.integers(1, 300), 16 * rng.integers(1, 10), 64 * rng.integers(0, 4)
    x = rng.integers(-8, 9, (m, max(k, 64))).astype(dtype)[:, :k]
    w = rng.integers(-8, 9, (n, max(k, 64)) if tile["tb"] else (max(k, 64), n)).astype(np.int8)
    w = w[:, :k] if tile["tb"] else w[:k]
    s = rng.choice([0.5, 1, 2], n).astype(dtype)
    c = np.full((m, n), np.nan, F32)
    widened.options(device=CHIPS[atom])(x, w, s, c, **tile)
    y = wide(w if tile["tb"] else w.T) * wide(s)[:, None]
    assert_near(c, wide(x) @ y.T, (tile, m, n, k))


@pytest.mark.parametrize("ta", [False, True])
@pytest.mark.parametrize("maker", ["cast", "mma"])
@pytest.mark.parametrize("atom", ["wgmma", "tcgen05"])
def test_the_first_operand_where_it_is_said(rng, atom: str, maker: str, ta: bool) -> None:
    copies = 1 if ta and maker == "mma" else int(rng.integers(1, 3))
    rows = (64 if atom == "wgmma" else 128) * copies
    k = 64 * int(rng.integers(1, 5))
    x = rng.integers(-8, 9, (k, rows) if ta else (rows, k)).astype(BF16)
    w, c = rng.integers(-8, 9, (64, k)).astype(BF16), np.full((rows, 64), np.nan, F32)
    flight = int(atom == "wgmma" and rng.integers(2))
    tile = dict(atom=atom, maker=maker, copies=copies, ta=ta, flight=flight, BM=rows)
    left.options(device=CHIPS[atom])(x, w, c, **tile)
    y = 2 * wide(x) + 1
    assert_near(c, (y.T if ta else y) @ wide(w).T, tile)


@pytest.mark.parametrize("maker", ["gather", "mma"])
@pytest.mark.parametrize("atom", ["wgmma", "tcgen05"])
def test_rows_that_a_list_names(rng, atom: str, maker: str) -> None:
    m = 64 if atom == "wgmma" else 128
    x, rows = (rng.integers(-8, 9, (n, 64)).astype(BF16) for n in (m, 100))
    pages = rng.integers(0, 100, 32 * rng.integers(1, 5)).astype(np.int32)
    c = np.full((m, len(pages)), np.nan, F32)
    gathered.options(device=CHIPS[atom])(x, rows, pages, c, atom=atom, maker=maker, BM=m)
    assert_near(c, wide(x) @ wide(rows)[pages].T, (m, len(pages)))


@pytest.mark.parametrize("narrowed", [False, True])
@pytest.mark.parametrize("ta, tb", [(False, False), (True, True), (True, False)])
@pytest.mark.parametrize("atom", ["wgmma", "tcgen05"])
def test_bytes_that_are_read_along_k_alone(
    rng, atom: str, ta: bool, tb: bool, narrowed: bool
) -> None:
    m, n = 64 if atom == "wgmma" else 128, int(rng.choice([64, 128]))
    k = 64 * int(rng.integers(1, 5))
    x = rng.integers(-8, 9, (k, m) if ta else (m, k)).astype(E4M3)
    w = rng.integers(-8, 9, (n, k) if tb else (k, n)).astype(BF16 if narrowed else E4M3)
    c = np.full((m, n), np.nan, F32)
    flight = int(atom == "wgmma" and rng.integers(2))
    tile = dict(atom=atom, ta=ta, tb=tb, flight=flight, BM=m, BN=n, narrowed=narrowed)
    bytes_across.options(device=CHIPS[atom])(x, w, c, **tile)
    assert_near(c, wide(x.T if ta else x) @ wide(w.T if tb else w), tile)


@kiln.kernel
def sometimes(
    x: kiln.View, w: kiln.View, c: kiln.View, atom: kiln.constexpr, maker: kiln.constexpr,
    after: kiln.i32, slots: kiln.constexpr, BM: kiln.constexpr, persistent: kiln.constexpr,
):  # fmt: skip
    """Under a condition; and a tile that is scaled once, for all trips of a loop."""
    i = kiln.grid(kiln.cdiv(c.shape[0], BM))
    load, mma = kiln.role("load", warps=4), kiln.role("mma", warps=4)
    if maker == "mma":
        kiln.pin(roles=(load, mma))
    else:
        kiln.pin(roles=(load, kiln.role("cast", warps=4), mma))
    if persistent:
        kiln.pin(persistent=(2, 1))
    first = kiln.pin(x.load((i * BM, 0), (BM, 64)), role="load", atom="tma", ring="x")
    a = kiln.pin((first * 2.0).to(x.dtype), role=maker, residency="shared")
    acc = kiln.zeros((BM, 64), kiln.f32)
    for k in range(0, w.shape[1], 64):
        if k > after:
            y = kiln.pin(w.load((0, k), (64, 64)), role="load", atom="tma", ring="y", depth=2)
            b = kiln.pin(y.to(x.dtype), role=maker, depth=slots)
            acc = kiln.pin(
                kiln.dot(a, b, acc, transpose_b=True), role="mma", atom=atom, in_flight=0
            )
    kiln.pin(c.store((i * BM, 0), acc), role="mma")


@pytest.mark.parametrize("slots", [1, 2])
@pytest.mark.parametrize("maker", ["cast", "mma"])
@pytest.mark.parametrize("atom", ["wgmma", "tcgen05"])
def test_under_a_condition_and_in_front_of_a_loop(rng, atom: str, maker: str, slots: int) -> None:
    m, k, after = (
        int(rng.integers(1, 500)),
        64 * int(rng.integers(1, 7)),
        int(rng.integers(-64, 300)),
    )
    x, w = rng.integers(-8, 9, (m, 64)).astype(BF16), rng.integers(-8, 9, (64, k)).astype(np.int8)
    c = np.full((m, 64), np.nan, F32)
    tile = dict(atom=atom, maker=maker, slots=slots, BM=64 if atom == "wgmma" else 128,
                persistent=bool(rng.integers(2)))  # fmt: skip
    sometimes.options(device=CHIPS[atom])(x, w, c, after=after, **tile)
    y = sum((wide(w)[:, at : at + 64] for at in range(0, k, 64) if at > after), np.zeros((64, 64)))
    assert_near(c, 2 * wide(x) @ y.T, (tile, m, k, after))


@kiln.kernel
def alone(
    x: kiln.View, w: kiln.View, c: kiln.View, atom: kiln.constexpr, copy: kiln.constexpr,
    stages: kiln.constexpr, depth: kiln.constexpr, flight: kiln.constexpr, copies: kiln.constexpr,
    BM: kiln.constexpr,
):  # fmt: skip
    """One role loads, widens and multiplies, each at a stage of its own."""
    i = kiln.grid(kiln.cdiv(c.shape[0], BM))
    kiln.pin(roles=kiln.role("mma", warps=4, copies=copies))
    acc = kiln.zeros((BM, 64), kiln.f32)
    for k in kiln.pin(range(0, x.shape[1], 64), depth=depth):
        a = kiln.pin(x.load((i * BM, k), (BM, 64)), stage=stages[0])
        y = kiln.pin(w.load((0, k), (64, 64)), stage=stages[0])
        if copy is not None:
            kiln.pin(a, atom=copy)
            kiln.pin(y, atom=copy)
        else:
            kiln.pin(a, residency="shared")
        b = kiln.pin(y.to(x.dtype), stage=stages[1])
        acc = kiln.pin(
            kiln.dot(a, b, acc, transpose_b=True),
            role="mma", atom=atom, in_flight=flight, stage=stages[2],
        )  # fmt: skip
    kiln.pin(c.store((i * BM, 0), acc), role="mma")


@pytest.mark.parametrize("draw", range(3))
@pytest.mark.parametrize(
    "atom, copy",
    [("wgmma", "cp_async"), ("wgmma", "through_registers"), ("wgmma", None), ("tcgen05", None)],
)
def test_one_role_alone(rng, atom: str, copy: str | None, draw: int) -> None:
    flight = int(atom == "wgmma" and draw > 0)
    stages = ((0, 1, 2), (0, 2, 2), (0, 1, 1))[draw]
    copies = int(rng.integers(1, 3))
    tile = dict(atom=atom, copy=copy, stages=stages, depth=stages[2] + 1 + flight, flight=flight,
                copies=copies, BM=copies * (64 if atom == "wgmma" else 128))  # fmt: skip
    m, k = int(rng.integers(1, 400)), 64 * int(rng.integers(1, 6))
    x, w = rng.integers(-8, 9, (m, k)).astype(BF16), rng.integers(-8, 9, (64, k)).astype(np.int8)
    c = np.full((m, 64), np.nan, F32)
    alone.options(device=CHIPS[atom])(x, w, c, **tile)
    assert_near(c, wide(x) @ wide(w).T, (tile, m, k))


# ---- The code


@pytest.mark.skipif(not ASSEMBLER.exists(), reason="there is no ptxas")
@pytest.mark.parametrize("maker", ["cast", "mma"])
@pytest.mark.parametrize("atom", ["wgmma", "tcgen05"])
def test_the_code_is_assembled(atom: str, maker: str, tmp_path: Path) -> None:
    """What threads have written they let the unit see, in front of the barrier by which they tell."""
    chip = CHIPS[atom].removeprefix("emu:")
    x, w, s = np.zeros((256, 256), BF16), np.zeros((256, 256), np.int8), np.zeros(256, BF16)
    tile = dict(atom=atom, maker=maker, makers=1, copies=1, tb=True, flight=int(atom == "wgmma"),
                depth=3, BM=64 if atom == "wgmma" else 128, BN=64, BK=64, precision="ieee",
                persistent=False)  # fmt: skip
    c = np.zeros((256, 256), F32)
    ptx = widened.compile(x, w, s, c, target=f"nvptx:{chip}", **tile).asm
    code = tmp_path / "code.ptx"
    code.write_text(ptx)
    subprocess.run([ASSEMBLER, f"-arch={chip}", code, "-o", tmp_path / "code.cubin"], check=True)
    behind = ptx[ptx.rindex("st.shared.v4") :]
    assert 0 < behind.find("fence.proxy.async.shared") < behind.find("bar.sync"), behind
    assert f"{'wgmma.mma_async' if atom == 'wgmma' else 'tcgen05.mma'}" in ptx


# ---- What is refused


def refusal(kernel, device: str, *args, **tile) -> str:
    with pytest.raises(kiln.CompileError) as refused:
        kernel.options(device=device)(*args, **tile)
    return str(refused.value)


def test_too_few_slots_are_refused() -> None:
    """Of a product in flight: its slot is read while the next is written."""
    x, w, s = np.zeros((64, 128), BF16), np.zeros((64, 128), np.int8), np.zeros(64, BF16)
    tile = dict(atom="wgmma", makers=1, copies=1, tb=True, flight=1, depth=1, BM=64, BN=64, BK=64,
                precision="ieee", persistent=False)  # fmt: skip
    for maker in ("cast", "mma"):
        text = refusal(
            widened, CHIPS["wgmma"], x, w, s, np.zeros((64, 64), F32), maker=maker, **tile
        )
        assert "slots" in text and "kiln.pin(" in text, text


@kiln.kernel
def unread(x: kiln.View, c: kiln.View):
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("all", warps=4)))
    y = kiln.pin(x.load((0, 0), (64, 64)), role="load", atom="tma")
    kiln.pin(c.store((0, 0), kiln.pin(y * 2.0, role="all", depth=2)), role="all")


def test_slots_of_what_nobody_else_reads_are_refused() -> None:
    text = refusal(unread, CHIPS["wgmma"], np.zeros((64, 64), BF16), np.zeros((64, 64), BF16))
    assert "since 'tile.depth' is decided" in text and "y * 2.0" in text, text
