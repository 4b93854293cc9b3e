"""Kernels whose loops, one after another, and what is done with their results take the same shared
memory, on emulated chips against float64. Drawn tiles and extents, programs that run several tiles."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
CHIPS = ["sm_80", "sm_86", "sm_90a", "sm_100a", "gfx942", "gfx950", "gfx1100", "gfx1201"]


@kiln.kernel
def layers(
    x: kiln.View, w: kiln.View, v: kiln.View, out: kiln.View, sums: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, PERSISTENT: kiln.constexpr,
):  # fmt: skip
    """Two products, the second of what the first becomes; sums of its columns and its rows between."""
    if PERSISTENT:
        kiln.pin(persistent=2)
    i = kiln.grid(kiln.cdiv(x.shape[0], BM))
    acc = kiln.zeros((BM, 128), kiln.f32)
    for k in range(0, x.shape[1], 64):
        acc = kiln.dot(
            x.load((i * BM, k), (BM, 64)), w.load((0, k), (128, 64)), acc, transpose_b=True
        )
    columns = kiln.sum(acc, axis=0)
    sums.store((i, 0), columns[None, :])
    acc = kiln.maximum(acc - columns[None, :] / BM, 0.0)
    h = (acc / (1.0 + kiln.sum(acc, axis=1)[:, None])).to(kiln.bf16)
    for n in range(0, v.shape[0], BN):
        y = kiln.dot(h, v.load((n, 0), (BN, 128)), kiln.zeros((BM, BN), kiln.f32), transpose_b=True)
        out.store((i * BM, n), y)


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("chip", CHIPS)
def test_loops_and_sums_between(rng: np.random.Generator, chip: str, persistent: bool) -> None:
    bm, bn = int(rng.choice([32, 64, 128])), int(rng.choice([32, 64]))
    m, k = int(rng.integers(1, 3 * bm)), 8 * int(rng.integers(1, 40))
    n = int(rng.integers(1, 200))
    x, w, v = (rng.standard_normal(s).astype(BF16) for s in ((m, k), (128, k), (n, 128)))
    tiles = -(-m // bm)
    out, sums = np.zeros((m, n), np.float32), np.zeros((tiles, 128), np.float32)
    layers.options(device=f"emu:{chip}")(x, w, v, out, sums, BM=bm, BN=bn, PERSISTENT=persistent)
    whole = np.zeros((tiles * bm, 128))
    whole[:m] = x.astype(np.float64) @ w.astype(np.float64).T
    parts = whole.reshape(tiles, bm, 128)
    want = parts.sum(axis=1)
    assert np.abs(sums - want).max() <= 1e-5 * max(np.abs(whole).max(), 1) * bm**0.5
    acc = np.maximum(parts - want[:, None] / bm, 0).reshape(-1, 128)[:m]
    h = acc / (1 + acc.sum(axis=1, keepdims=True))
    reference = h @ v.astype(np.float64).T
    # bf16 rounds what is multiplied to 8 bits.
    assert np.linalg.norm(out - reference) <= 4e-3 * max(np.linalg.norm(reference), 1e-6)


@pytest.mark.parametrize("chip", ["sm_80", "gfx942", "gfx950"])
def test_rings_of_loops_lie_at_one_place(chip: str) -> None:
    """On sm_80 each has four slots, of 32 and 16 KB: side by side the chip has no room for them."""
    x, w, v = np.zeros((256, 256), BF16), np.zeros((128, 256), BF16), np.zeros((256, 128), BF16)
    out, sums = np.zeros((256, 256), np.float32), np.zeros((2, 128), np.float32)
    target = ("nvptx:" if chip.startswith("sm") else "amdgpu:") + chip
    options = dict(BM=128, BN=64, PERSISTENT=False)
    compiled = layers.compile(x, w, v, out, sums, target=target, **options)
    ir = compiled.ir("schedule")
    rings = [line for line in ir.splitlines() if "= tile.channel" in line]
    assert len(rings) == 2 and all("tile.shared_offset = 0 " in ring for ring in rings), rings
    if chip == "sm_80":
        assert all("tile.channel<4, own" in ring for ring in rings), rings
        assert compiled.metadata["shared_bytes"] == 4 * 32768
