"""Plain loops of products whose trips the compiler overlaps (tile-decide-stages), on emulated chips
and against float64: drawn chains of products with work between them, of any number of trips."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def chained(
    q: kiln.View, k: kiln.View, v: kiln.View, o: kiln.View, scale: kiln.f32,
    BM: kiln.constexpr, BN: kiln.constexpr, D: kiln.constexpr,
    WORK: kiln.constexpr, HALVES: kiln.constexpr, RESCALE: kiln.constexpr,
):  # fmt: skip
    """Weights are computed from scores by as many exponentials as asked, and multiply rows."""
    i = kiln.grid(kiln.cdiv(o.shape[0], BM))
    if not HALVES:
        x = q.load((i * BM, 0), (BM, D))
    else:
        low = q.load((i * BM, 0), (BM, D // 2))
        high = q.load((i * BM, D // 2), (BM, D // 2))
    acc = kiln.zeros((BM, D), kiln.f32)
    total = kiln.zeros((BM,), kiln.f32)
    for j in range(0, k.shape[0], BN):
        if not HALVES:
            s = kiln.dot(x, k.load((j, 0), (BN, D)), transpose_b=True)
        else:
            s = kiln.dot(low, k.load((j, 0), (BN, D // 2)), transpose_b=True)
            s = kiln.dot(high, k.load((j, D // 2), (BN, D // 2)), s, transpose_b=True)
        s = s * scale
        for _ in kiln.static_range(WORK):
            s = kiln.exp2(-(s * s))
        seen = (j.to(kiln.i32) + kiln.arange(BN))[None, :] < k.shape[0].to(kiln.i32)
        s = kiln.where(seen, s, 0.0)
        if RESCALE:
            acc = acc * 0.5
            total = total * 0.5
        total = total + kiln.sum(s, axis=1)
        acc = kiln.dot(s.to(v.dtype), v.load((j, 0), (BN, D)), acc)
    o.store((i * BM, 0), acc + total[:, None])


def expected(q, k, v, scale: float, bn: int, work: int, rescale: bool) -> np.ndarray:
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    sums = np.zeros((q.shape[0], v.shape[1]))
    for j in range(0, k.shape[0], bn):
        s = (q @ k[j : j + bn].T) * scale
        for _ in range(work):
            s = np.exp2(-(s * s))
        if rescale:
            sums = sums * 0.5
        sums = sums + s @ v[j : j + bn] + s.sum(axis=1)[:, None]
    return sums


def leaves_one_in_flight(compiled) -> bool:
    """Whether a product is waited for while a later one is in flight."""
    return re.search(r"wgmma\.wait_group\.sync\.aligned\s+1;", compiled.asm) is not None


@pytest.mark.parametrize("turn", range(6))
@pytest.mark.parametrize("chip", ["sm_90a", "sm_100a", "sm_80", "gfx950"])
def test_chains_of_products(rng: np.random.Generator, chip: str, turn: int) -> None:
    d = int(rng.choice([32, 64]))
    tile = dict(
        BM=int(rng.choice([64, 128])), BN=int(rng.choice([32, 64])), D=d,
        WORK=int(rng.integers(0, 4)), HALVES=bool(rng.integers(2)), RESCALE=bool(rng.integers(2)),
    )  # fmt: skip
    rows, keys = int(rng.integers(1, 130)), int(rng.integers(0, 5)) * tile["BN"]
    keys = max(keys - int(rng.integers(0, 9)), 1)
    q, k, v = (rng.standard_normal((n, d)).astype(BF16) for n in (rows, keys, keys))
    o = np.zeros((rows, d), np.float32)
    scale = 1 / d
    chained.options(device=f"emu:{chip}")(q, k, v, o, scale, **tile)
    reference = expected(q, k, v, scale, tile["BN"], tile["WORK"], tile["RESCALE"])
    assert np.linalg.norm(o - reference) <= 6e-3 * np.linalg.norm(reference) + 1e-6, tile


@kiln.kernel
def squared(q: kiln.View, k: kiln.View, v: kiln.View, o: kiln.View):
    i = kiln.grid(kiln.cdiv(o.shape[0], 128))
    x = q.load((i * 128, 0), (128, 128))
    acc = kiln.zeros((128, 128), kiln.f32)
    for j in range(0, k.shape[0], 128):
        s = kiln.dot(x, k.load((j, 0), (128, 128)), transpose_b=True)
        acc = kiln.dot((s * s).to(v.dtype), v.load((j, 0), (128, 128)), acc)
    o.store((i * 128, 0), acc)


def test_work_between_products_overlaps_them() -> None:
    """Where the lanes have about as much to do as the matrix units, not where they have little: on
    an H200 it made such a loop slower."""
    x, o = np.zeros((256, 128), BF16), np.zeros((256, 128), np.float32)
    tile = dict(BM=128, BN=128, D=128, WORK=2, HALVES=False, RESCALE=False)
    target = "nvptx:sm_90a"
    assert leaves_one_in_flight(chained.compile(x, x, x, o, 1.0, **tile, target=target))
    assert not leaves_one_in_flight(squared.compile(x, x, x, o, target=target))


def test_plain_attention_overlaps_without_spills() -> None:
    """The plain attention of benchmarks/: scores are waited for while the last weights' product is
    in flight, and no thread's registers are short."""
    sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
    try:
        import plain_kernels
    finally:
        sys.path.pop(0)
    x = np.zeros((16 * 512, 128), BF16)
    for causal in (False, True):
        compiled = plain_kernels.attention.compile(
            x, x, x, x, 512, 0.1275, CAUSAL=causal, D=128, target="nvptx:sm_90a"
        )
        assert leaves_one_in_flight(compiled)
        assert "no_roles" not in compiled.metadata
        assert compiled.metadata["proposal"] == 0
        assert compiled.metadata.get("local_bytes", 0) == 0


@kiln.kernel
def own_rows(
    q: kiln.View, k: kiln.View, v: kiln.View, o: kiln.View, keys,
    BN: kiln.constexpr, PERSISTENT: kiln.constexpr,
):  # fmt: skip
    i = kiln.grid(kiln.cdiv(keys, 64))
    if PERSISTENT:
        kiln.pin(persistent=2)
    x = q.load((i * 64, 0), (64, 64))
    acc = kiln.zeros((64, 64), kiln.f32)
    for j in range(0, keys, BN):
        s = kiln.exp2(kiln.dot(x, k.load((j, 0), (BN, 64)), transpose_b=True), flush=True)
        acc = kiln.dot(s.to(v.dtype), v.load((j, 0), (BN, 64)), acc)
    o.store((i * 64, 0), acc + 1.0)


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("keys", [0, 1, 64, 200])
def test_a_grid_of_the_callers_may_have_programs_without_trips(rng, keys, persistent) -> None:
    """The kernel's own grid has a program only where there are keys; the launch's always has one."""
    q, k, v = (0.1 * rng.standard_normal((256, 64)).astype(BF16) for _ in range(3))
    o = np.zeros((256, 64), np.float32)
    own_rows.options(device="emu:sm_90a")[(1,)](q, k, v, o, keys, BN=64, PERSISTENT=persistent)
    tiles = -(-keys // 64)
    rows = 64 * (tiles if persistent else 1)
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    trips = 64 * tiles
    want = np.exp2(q[:rows] @ k[:trips].T) @ v[:trips] + 1.0
    assert np.allclose(o[:rows], want, rtol=2e-2, atol=2e-2)
    assert not o[rows:].any()
