"""Numbers as users write them: positions meet tiles without casts, constants take the type of what
they meet through `if` and loops, and what is written widens where that loses nothing."""

from __future__ import annotations

import numpy as np
import pytest

import kiln

DEVICES = ["cpu", "emu:sm_90a", "emu:gfx942", "emu:gfx1201"]


@kiln.kernel
def positions(wide: kiln.View, kept: kiln.View, n: kiln.i32, BLOCK: kiln.constexpr = 64):
    i = kiln.grid(kiln.cdiv(wide.shape[0], BLOCK))
    offsets = i * BLOCK + kiln.arange(BLOCK)
    inside = offsets < n
    wide.store(i * BLOCK, kiln.where(inside, offsets, -1))
    kept.store(i * BLOCK, kiln.rand(7, offsets) - kiln.rand(7, offsets.to(kiln.u32)))


@pytest.mark.parametrize("device", DEVICES)
def test_arange_and_program_id_meet_without_casts_and_count_for_rand(device: str) -> None:
    wide, kept = np.zeros(200, np.int64), np.ones(200, np.float32)
    positions(wide, kept, 130, _device=device)
    at = np.arange(200)
    assert np.array_equal(wide, np.where(at < 130, at, -1))
    assert not kept.any()


@kiln.kernel
def bits_of(counter: kiln.View, bits: kiln.View, seed: kiln.i64, stream: kiln.i32):
    i = kiln.grid(1)
    words = kiln.philox(seed, counter.load(i, 16), stream)
    for word in kiln.static_range(4):
        bits.store((word, 0), words[word][None, :])


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Ten rounds, on Python's integers."""
    c, k = counter, key
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [q >> 32 ^ c[1] ^ k[0], q & 0xFFFFFFFF, p >> 32 ^ c[3] ^ k[1], p & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


@pytest.mark.parametrize("device", DEVICES)
def test_counters_of_64_bits_count_beyond_32(device: str, rng) -> None:
    counter = rng.integers(0, 1 << 40, 16)
    counter[:4] = 0, 1 << 32, (1 << 32) + 1, 1
    bits = np.zeros((4, 16), np.uint32)
    seed, stream = 0x0123456789ABCDEF, 77
    bits_of(counter, bits, seed, stream, _device=device)
    key = [seed & 0xFFFFFFFF, seed >> 32]
    want = [philox([int(n) & 0xFFFFFFFF, stream, int(n) >> 32, 0], key) for n in counter]
    assert np.array_equal(bits, np.array(want, np.uint32).T)


@kiln.kernel
def chosen(
    x: kiln.View, h: kiln.View, d: kiln.View, out: kiln.View, halves: kiln.View, exact: kiln.View,
    count: kiln.View, n: kiln.i32,
):  # fmt: skip
    kiln.grid(1)
    step = 3
    scale = 0.1
    if n > 5:
        step = -3
        scale = 0.3
    total = 0
    top = 0.0
    evens = 0
    for i in range(n):
        total += x[i]
        top = kiln.maximum(top, h[i])
        if i % 2 == 0:
            evens += 1
    kiln.static_assert(total.dtype == x.dtype and top.dtype == h.dtype)
    out.store(0, x.load(0, 8) * step + total)
    halves[0] = top
    exact[0] = d[0] * scale
    count[0] = evens
    count[1] = step


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("n", [4, 7])
def test_constants_take_the_type_of_what_they_meet_through_if_and_loops(
    device: str, n: int, rng
) -> None:
    x = rng.integers(-99, 99, 8, np.int32)
    h = rng.standard_normal(8).astype(np.float16)
    d, exact = np.array([0.7]), np.zeros(1)
    out, halves, count = np.zeros(8, np.int32), np.zeros(1, np.float16), np.zeros(2, np.int16)
    chosen(x, h, d, out, halves, exact, count, n, _device=device)
    step, scale = (-3, 0.3) if n > 5 else (3, 0.1)
    assert np.array_equal(out, x * step + x[:n].sum(dtype=np.int32))
    assert halves[0] == max(h[:n].max(), np.float16(0))
    assert exact[0] == 0.7 * scale
    assert count.tolist() == [(n + 1) // 2, step]


@kiln.kernel
def widen(
    a: kiln.View, b: kiln.View, c: kiln.View, f: kiln.View, wide_a: kiln.View, wide_b: kiln.View,
    wide_c: kiln.View, wide_f: kiln.View,
):  # fmt: skip
    i = kiln.grid(1)
    wide_a.store(i, a.load(0, 16))
    wide_b.scatter(kiln.arange(16), b.load(0, 16) > 0)
    for j in range(16):
        wide_c[j] = c[j]
    wide_f.store(0, f.load(0, 16))
    wide_f[0] = f[0]
    wide_a[15] = i


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "pairs", [("i1 i8", "i1 u1", "i4 i8", "f2 f4"), ("u4 i8", "i8 f2", "u1 f2", "f4 f8")]
)
def test_stores_and_element_writes_widen_without_loss(device: str, pairs, rng) -> None:
    types = [tuple(map(np.dtype, pair.split())) for pair in pairs]
    given = [rng.integers(0, 256, 16 * n.itemsize, np.uint8).view(n) for n, _ in types]
    given[3] = rng.standard_normal(16).astype(types[3][0])
    given[1] = rng.integers(-3, 3, 16).astype(types[1][0])
    made = [np.full(16, 77, w) for _, w in types]
    widen(*given, *made, _device=device)
    given[1] = given[1] > 0
    for source, (_, wide), got in zip(given, types, made, strict=True):
        want = source.astype(wide)
        if got is made[0]:
            want[15] = 0
        assert np.array_equal(got, want)
