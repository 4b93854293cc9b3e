"""Kernels of models that pin nothing, on emulated chips against float64: sequences of many lengths,
attention's backward, convolution by gathers, a scan of chunks, the choice of experts, rotations."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


def drawn(rng: np.random.Generator, *shape: int, scale: float = 1) -> np.ndarray:
    return (scale * rng.standard_normal(shape)).astype(BF16)


def wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)


def check(found: np.ndarray, reference: np.ndarray, tolerance: float = 1e-5) -> None:
    difference = np.abs(wide(found) - reference)
    assert np.linalg.norm(difference) <= tolerance * np.linalg.norm(reference)
    assert difference.max() <= 4 * tolerance * np.abs(reference).max()


@kiln.kernel
def windowed(q: kiln.View, k: kiln.View, v: kiln.View, starts: kiln.View, slopes: kiln.View,
             out: kiln.View, sums: kiln.View, scale: kiln.f32, WINDOW: kiln.constexpr,
             LONGEST: kiln.constexpr, D: kiln.constexpr):  # fmt: skip
    i, h, b = kiln.grid(kiln.cdiv(LONGEST, 64), q.shape[1], starts.shape[0] - 1)
    low, high = starts[b], starts[b + 1]
    n = high - low
    if i * 64 < n:
        of = h // (q.shape[1] // k.shape[1])
        keys, values = k[low:high, of], v[low:high, of]
        rows = i * 64 + kiln.arange(64)
        t = q[low:high, h].load((i * 64, 0), (64, D))
        most = kiln.full((64,), -1e30, kiln.f32)
        total, acc = kiln.zeros((64,), kiln.f32), kiln.zeros((64, D), kiln.f32)
        first = kiln.maximum(0, i * 64 - WINDOW + 1) // 32 * 32
        for j in range(first, kiln.minimum(n, i * 64 + 64), 32):
            apart = rows[:, None] - (j + kiln.arange(32))[None, :]
            s = kiln.dot(t, keys.load((j, 0), (32, D)).T) * scale - slopes[h] * apart
            s = kiln.where((apart >= 0) & (apart < WINDOW), s, -1e30)
            larger = kiln.maximum(most, kiln.max(s, axis=1))
            p = kiln.where(s > -1e29, kiln.exp(s - larger[:, None]), 0.0)
            old = kiln.exp(most - larger)
            total = total * old + kiln.sum(p, axis=1)
            acc = kiln.dot(p.to(v.dtype), values.load((j, 0), (32, D)), acc * old[:, None])
            most = larger
        out[low:high, h].store((i * 64, 0), acc / total[:, None])
        sums[low:high, h].store(i * 64, most + kiln.log(total))


@pytest.mark.parametrize("chip", ["sm_90a", "gfx942"])
def test_sequences_in_windows(rng, chip: str) -> None:
    lengths = [int(rng.integers(1, 12)), 0, int(rng.integers(65, 100))]
    d, window = 8 * int(rng.integers(3, 16)), int(rng.integers(1, 90))
    starts = np.cumsum([0, *lengths]).astype(np.int32)
    n = int(starts[-1])
    q, k, v = drawn(rng, n, 2, d), drawn(rng, n, 1, d), drawn(rng, n, 1, d)
    slopes = np.float32([0.5, 0.25])
    out, sums = np.zeros((n, 2, d), np.float32), np.zeros((n, 2), np.float32)
    windowed.options(device=f"emu:{chip}")(
        q, k, v, starts, slopes, out, sums, d**-0.5, WINDOW=window, LONGEST=max(lengths), D=d
    )
    sequence = np.repeat(np.arange(3), lengths)
    apart = np.arange(n)[:, None] - np.arange(n)
    seen = (sequence[:, None] == sequence) & (apart >= 0) & (apart < window)
    for h in range(2):
        s = wide(q[:, h]) @ wide(k[:, 0]).T * d**-0.5 - slopes[h] * apart
        s = np.where(seen, s, -np.inf)
        e = np.exp(s - s.max(axis=1, keepdims=True))
        check(out[:, h], e @ wide(v[:, 0]) / e.sum(axis=1, keepdims=True), 5e-3)
        check(sums[:, h], s.max(axis=1) + np.log(e.sum(axis=1)), 2e-5)


@kiln.kernel
def backward(q: kiln.View, k: kiln.View, v: kiln.View, do: kiln.View, sums: kiln.View,
             delta: kiln.View, dq: kiln.View, dk: kiln.View, dv: kiln.View,
             scale: kiln.f32):  # fmt: skip
    j = kiln.grid(kiln.cdiv(k.shape[0], 64))
    key, value = k.load((j * 64, 0), (64, 64)), v.load((j * 64, 0), (64, 64))
    of_key, of_value = kiln.zeros((64, 64), kiln.f32), kiln.zeros((64, 64), kiln.f32)
    for i in range(j * 64, q.shape[0], 32):
        x, y = q.load((i, 0), (32, 64)), do.load((i, 0), (32, 64))
        s = kiln.dot(key, x, transpose_b=True) * scale
        p = kiln.exp(s - sums.load(i, 32, pad=kiln.inf)[None, :])
        rows = i + kiln.arange(32)
        p = kiln.where((j * 64 + kiln.arange(64))[:, None] <= rows[None, :], p, 0.0)
        of_value = kiln.dot(p.to(q.dtype), y, of_value)
        inner = kiln.dot(value, y, transpose_b=True) - delta.load(i, 32)[None, :]
        ds = (p * inner * scale).to(q.dtype)
        of_key = kiln.dot(ds, x, of_key)
        kiln.atomic_add(dq, (rows[:, None], kiln.arange(64)[None, :]), kiln.dot(ds.T, key))
    dk.store((j * 64, 0), of_key)
    dv.store((j * 64, 0), of_value)


@pytest.mark.parametrize("chip", ["sm_90a"])
def test_backward_of_attention(rng, chip: str) -> None:
    n, scale = int(rng.integers(2, 150)), 0.125
    q, k, v, do = (drawn(rng, n, 64) for _ in range(4))
    s = np.where(np.tri(n, dtype=bool), wide(q) @ wide(k).T * scale, -np.inf)
    sums = s.max(axis=1) + np.log(np.exp(s - s.max(axis=1, keepdims=True)).sum(axis=1))
    p = np.exp(s - sums[:, None])
    delta = (p @ wide(v) * wide(do)).sum(axis=1)
    ds = p * (wide(do) @ wide(v).T - delta[:, None]) * scale
    dq, dk, dv = (np.zeros((n, 64), np.float32) for _ in range(3))
    sums, delta = sums.astype(np.float32), delta.astype(np.float32)
    backward.options(device=f"emu:{chip}")(q, k, v, do, sums, delta, dq, dk, dv, scale)
    check(dq, ds @ wide(k), 6e-3)
    check(dk, ds.T @ wide(q), 6e-3)
    check(dv, p.T @ wide(do), 6e-3)


@kiln.kernel
def convolution(x: kiln.View, w: kiln.View, out: kiln.View, STRIDE: kiln.constexpr,
                PAD: kiln.constexpr):  # fmt: skip
    """Rows of one operand are gathered; an index before the image or behind it gives zero."""
    C, R, S = w.shape[1], w.shape[2], w.shape[3]
    H, W = out.shape[2], out.shape[3]
    M, K = x.shape[0] * H * W, C * R * S
    i, j = kiln.grid(kiln.cdiv(M, 32), kiln.cdiv(w.shape[0], 32))
    m, o = i * 32 + kiln.arange(32), j * 32 + kiln.arange(32)
    n, h, v = (m // (H * W))[:, None], (m // W % H)[:, None], (m % W)[:, None]
    rows = w.reshape((w.shape[0], -1))
    acc = kiln.zeros((32, 32), kiln.f32)
    for k in range(0, K, 32):
        e = (k + kiln.arange(32))[None, :]
        y, z = h * STRIDE - PAD + e // S % R, v * STRIDE - PAD + e % S
        a = x.gather((n, e // (R * S), y, z), mask=e < K)
        acc = kiln.dot(a, rows.load((j * 32, k), (32, 32)), acc, transpose_b=True)
    out.scatter((n, o[None, :], h, v), acc)


@pytest.mark.parametrize("chip", ["sm_80", "gfx950"])
def test_convolution_by_gathers(rng, chip: str) -> None:
    stride, pad, side = (int(rng.integers(low, high)) for low, high in ((1, 3), (0, 3), (4, 8)))
    x, w = drawn(rng, 2, 3, side, side + 1), drawn(rng, int(rng.integers(1, 40)), 3, 3, 2)
    whole = np.pad(wide(x), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    patches = np.lib.stride_tricks.sliding_window_view(whole, (3, 2), axis=(2, 3))
    want = np.einsum("nchwrs,ocrs->nohw", patches[:, :, ::stride, ::stride], wide(w))
    out = np.zeros(want.shape, np.float32)
    convolution.options(device=f"emu:{chip}")(x, w, out, STRIDE=stride, PAD=pad)
    check(out, want)


@kiln.kernel
def of_chunks(q: kiln.View, k: kiln.View, v: kiln.View, out: kiln.View, decay: kiln.f32,
              C: kiln.constexpr):  # fmt: skip
    """Linear attention: what a chunk leaves is a state that the next one multiplies by."""
    h = kiln.grid(q.shape[0])
    state, at = kiln.zeros((64, 64), kiln.f32), kiln.arange(C).to(kiln.f32)
    for t in range(0, q.shape[1], C):
        x, y, z = (a[h].load((t, 0), (C, 64)) for a in (q, k, v))
        apart = at[:, None] - at[None, :]
        s = kiln.dot(x, y, transpose_b=True) * kiln.exp(kiln.abs(apart) * decay)
        before = kiln.dot(x, state.to(x.dtype)) * kiln.exp((at + 1.0) * decay)[:, None]
        out[h].store((t, 0), kiln.dot(kiln.where(apart >= 0, s, 0.0).to(z.dtype), z) + before)
        y = (y * kiln.exp((C - 1.0 - at) * decay)[:, None]).to(z.dtype)
        state = kiln.dot(y, z, state * kiln.exp(C * decay), transpose_a=True)


@pytest.mark.parametrize(("chip", "rows"), [("gfx942", 16), ("sm_100a", 64)])
def test_state_of_chunks(rng, chip: str, rows: int) -> None:
    n, decay = int(rng.integers(2, 200)), -0.125
    q, k, v = drawn(rng, 1, n, 64, scale=0.4), drawn(rng, 1, n, 64, scale=0.4), drawn(rng, 1, n, 64)
    out = np.zeros((1, n, 64), np.float32)
    of_chunks.options(device=f"emu:{chip}")(q, k, v, out, decay, C=rows)
    apart = np.arange(n)[:, None] - np.arange(n)
    weights = wide(q[0]) @ wide(k[0]).T * np.exp(np.abs(apart) * decay) * (apart >= 0)
    check(out[0], weights @ wide(v[0]), 8e-3)


@kiln.kernel
def experts(x: kiln.View, w: kiln.View, chosen: kiln.View, shares: kiln.View, counts: kiln.View,
            K: kiln.constexpr, E: kiln.constexpr):  # fmt: skip
    i = kiln.grid(kiln.cdiv(x.shape[0], 16))
    acc = kiln.zeros((16, E), kiln.f32)
    for k in range(0, x.shape[1], 32):
        acc = kiln.dot(
            x.load((i * 16, k), (16, 32)), w.load((0, k), (E, 32)), acc, transpose_b=True
        )
    acc = kiln.where((kiln.arange(E) < w.shape[0])[None, :], acc, -kiln.inf)
    best, at = kiln.topk(kiln.softmax(acc, axis=1), K, axis=1)
    chosen.store((i * 16, 0), at)
    shares.store((i * 16, 0), best / kiln.sum(best, axis=1, keepdims=True))
    inside = kiln.broadcast_to((i * 16 + kiln.arange(16) < x.shape[0])[:, None], (16, K))
    kiln.atomic_add(counts, (at,), 1, mask=inside)


@pytest.mark.parametrize("chip", ["gfx942"])
def test_choice_of_experts(rng, chip: str) -> None:
    m, e, k = int(rng.integers(1, 50)), int(rng.integers(6, 60)), int(rng.integers(1, 7))
    x, w = drawn(rng, m, 40), drawn(rng, e, 40)
    chosen, counts = np.zeros((m, k), np.int32), np.zeros(e, np.int32)
    shares = np.zeros((m, k), np.float32)
    experts.options(device=f"emu:{chip}")(
        x, w, chosen, shares, counts, K=k, E=kiln.cdiv(e, 16) * 16
    )
    p = np.exp(wide(x) @ wide(w).T)
    best = np.take_along_axis(p, chosen, axis=1)
    check(best, -np.sort(-p, axis=1)[:, :k], 2e-5)  # of scores as good as equal, either
    check(shares, best / best.sum(axis=1, keepdims=True), 2e-5)
    np.testing.assert_array_equal(counts, np.bincount(chosen.ravel(), minlength=e))


@kiln.kernel
def rotated(x: kiln.View, w: kiln.View, angles: kiln.View, positions: kiln.View, slots: kiln.View,
            out: kiln.View, D: kiln.constexpr, pairs: kiln.constexpr):  # fmt: skip
    """A product's halves, or neighbours, are rotated and go to the slots of a cache."""
    i, h = kiln.grid(kiln.cdiv(x.shape[0], 32), w.shape[0] // D)
    acc = kiln.zeros((32, D), kiln.f32)
    for k in range(0, x.shape[1], 64):
        b = w.load((h * D, k), (D, 64))
        acc = kiln.dot(x.load((i * 32, k), (32, 64)), b, acc, transpose_b=True)
    angle = angles.gather((positions.load(i * 32, 32)[:, None], kiln.arange(D // 2)[None, :]))
    c, s = kiln.cos(angle), kiln.sin(angle)
    if pairs:
        a, b = kiln.split(acc.reshape((32, D // 2, 2)))
        y = kiln.join(a * c - b * s, b * c + a * s).reshape((32, D))
    else:
        a, b = acc[:, : D // 2], acc[:, D // 2 :]
        y = kiln.concat((a * c - b * s, b * c + a * s), axis=1)
    slot = slots.load(i * 32, 32, pad=-1)
    out.scatter((slot[:, None], h, kiln.arange(D)[None, :]), y)


@pytest.mark.parametrize(("chip", "pairs"), [("sm_90a", True), ("gfx1201", False)])
def test_rotations_into_a_cache(rng, chip: str, pairs: bool) -> None:
    m, d, k = int(rng.integers(1, 50)), 16 * int(rng.integers(2, 9)), int(rng.integers(1, 150))
    x, w = drawn(rng, m, k), drawn(rng, 2 * d, k)
    angles = rng.uniform(0, 6, (50, d // 2)).astype(np.float32)
    positions, slots = rng.integers(0, 50, m), rng.permutation(m + 3)[:m].astype(np.int32)
    out, want = np.zeros((m + 3, 2, d), np.float32), np.zeros((m + 3, 2, d))
    rotated.options(device=f"emu:{chip}")(x, w, angles, positions, slots, out, D=d, pairs=pairs)
    y = (wide(x) @ wide(w).T).reshape(m, 2, d)
    y = y.reshape(m, 2, -1, 2).swapaxes(2, 3) if pairs else y.reshape(m, 2, 2, -1)
    turned = (y[:, :, 0] + 1j * y[:, :, 1]) * np.exp(1j * wide(angles)[positions])[:, None]
    y = np.stack((turned.real, turned.imag), axis=2)
    want[slots] = (y.swapaxes(2, 3) if pairs else y).reshape(m, 2, d)
    check(out, want)
