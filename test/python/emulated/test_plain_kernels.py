"""Kernels that pin nothing, of the kinds that models have beside products and attention as they are in
textbooks, on emulated chips against float64: each runs by the proposal that it should."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


def drawn(rng: np.random.Generator, *shape: int, dtype: Any = BF16, scale: float = 1) -> np.ndarray:
    return (scale * rng.standard_normal(shape)).astype(dtype)


def wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)


def run(kernel: Any, chip: str, *arrays: Any, proposal: int | None, **constants: Any) -> None:
    family = "nvptx" if chip.startswith("sm") else "amdgpu"
    compiled = kernel.compile(*arrays, target=f"{family}:{chip}", **constants)
    assert compiled.metadata.get("proposal") == proposal, compiled.metadata
    kernel.options(device=f"emu:{chip}")(*arrays, **constants)


def check(found: np.ndarray, reference: np.ndarray, tolerance: float = 1e-5) -> None:
    difference = np.abs(wide(found) - reference)
    assert np.linalg.norm(difference) <= tolerance * np.linalg.norm(reference)
    assert difference.max() <= 4 * tolerance * np.abs(reference).max()


@kiln.kernel
def gated(x: kiln.View, w: kiln.View, v: kiln.View, out: kiln.View, BM: kiln.constexpr):
    i, j = kiln.grid(kiln.cdiv(out.shape[0], BM), kiln.cdiv(out.shape[1], 64))
    gate, up = kiln.zeros((BM, 64), kiln.f32), kiln.zeros((BM, 64), kiln.f32)
    for k in range(0, x.shape[1], 32):
        t = x.load((i * BM, k), (BM, 32))
        gate = kiln.dot(t, w.load((k, j * 64), (32, 64)), gate)
        up = kiln.dot(t, v.load((k, j * 64), (32, 64)), up)
    out.store((i * BM, j * 64), gate / (1.0 + kiln.exp(-gate)) * up)


@pytest.mark.parametrize(("chip", "proposal"), [("sm_90a", 0), ("gfx942", 3), ("gfx950", 3)])
def test_two_products_of_one_tile(rng, chip: str, proposal: int) -> None:
    """What is loaded behind the first product is brought with what it reads."""
    m, n, k = int(rng.integers(2, 150)), 8 * int(rng.integers(1, 12)), 8 * int(rng.integers(1, 20))
    x, w, v = drawn(rng, m, k), drawn(rng, k, n, scale=0.2), drawn(rng, k, n, scale=0.2)
    out = np.zeros((m, n), np.float32)
    run(gated, chip, x, w, v, out, BM=64, proposal=proposal)
    gate, up = wide(x) @ wide(w), wide(x) @ wide(v)
    check(out, gate / (1 + np.exp(-gate)) * up)


@kiln.kernel
def of_itself(a: kiln.View, c: kiln.View, sums: kiln.View):
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[0], 64))
    acc, total = kiln.zeros((64, 64), kiln.f32), kiln.zeros((64,), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x = a.load((i * 64, k), (64, 64))
        acc = kiln.dot(x, a.load((j * 64, k), (64, 64)), acc, transpose_b=True)
        total += kiln.sum(x.to(kiln.f32), axis=1)
    c.store((i * 64, j * 64), acc)
    sums.store((i * 64, j), total[:, None])


def test_lanes_read_what_products_in_flight_read(rng) -> None:
    """The fence of the last trip finds that the one before has ordered its slot."""
    m, k = int(rng.integers(2, 120)), 8 * int(rng.integers(1, 40))
    a = drawn(rng, m, k)
    c, sums = np.zeros((m, m), np.float32), np.zeros((m, -(-m // 64)), np.float32)
    run(of_itself, "sm_90a", a, c, sums, proposal=0)
    check(c, wide(a) @ wide(a).T)
    check(sums, np.repeat(wide(a).sum(axis=1)[:, None], sums.shape[1], axis=1))


@kiln.kernel
def perceptron(x: kiln.View, w: kiln.View, v: kiln.View, out: kiln.View):
    i = kiln.grid(kiln.cdiv(out.shape[0], 64))
    t = x.load((i * 64, 0), (64, 64))
    acc = kiln.zeros((64, 64), kiln.f32)
    for h in range(0, w.shape[0], 64):
        z = kiln.maximum(kiln.dot(t, w.load((h, 0), (64, 64)), transpose_b=True), 0.0)
        acc = kiln.dot(z.to(kiln.bf16), v.load((h, 0), (64, 64)), acc)
    out.store((i * 64, 0), acc)


def test_a_product_of_registers_is_carried(rng) -> None:
    """The trip that starts it waits for it: the next one writes its operand's registers."""
    m, h = int(rng.integers(2, 150)), int(rng.integers(2, 250))
    x, w, v = drawn(rng, m, 64), drawn(rng, h, 64, scale=0.2), drawn(rng, h, 64)
    out = np.zeros((m, 64), np.float32)
    run(perceptron, "sm_90a", x, w, v, out, proposal=0)
    z = np.maximum(wide(x) @ wide(w).T, 0)
    check(out, wide(z.astype(BF16)) @ wide(v), 2e-3)


@kiln.kernel
def paged(q: kiln.View, keys: kiln.View, values: kiln.View, table: kiln.View, lengths: kiln.View,
          out: kiln.View):  # fmt: skip
    b = kiln.grid(q.shape[0])
    t, n = q.load((b, 0, 0), (1, 64, 64), squeeze=True), lengths[b]
    acc, total = kiln.zeros((64, 64), kiln.f32), kiln.zeros((64,), kiln.f32)
    most = kiln.full((64,), -1e30, kiln.f32)
    for p in range(0, kiln.cdiv(n, 32)):
        page = table[b, p]
        s = (
            kiln.dot(t, keys.load((page, 0, 0), (1, 32, 64), squeeze=True), transpose_b=True)
            * 0.125
        )
        s = kiln.where((p * 32 + kiln.arange(32))[None, :] < n, s, -1e30)
        larger = kiln.maximum(most, kiln.max(s, axis=1))
        e, scale = kiln.exp(s - larger[:, None]), kiln.exp(most - larger)
        total = total * scale + kiln.sum(e, axis=1)
        v = values.load((page, 0, 0), (1, 32, 64), squeeze=True)
        acc = kiln.dot(e.to(kiln.bf16), v, acc * scale[:, None])
        most = larger
    out.store((b, 0, 0), (acc / total[:, None])[None])


@pytest.mark.parametrize(("chip", "proposal"), [("sm_90a", 0), ("sm_80", 3)])
def test_a_page_is_known_to_who_loads_it(rng, chip: str, proposal: int) -> None:
    """Each role loads its number: nothing of it has an order among what overlaps. One that fills
    its own ring does so a trip before."""
    q = drawn(rng, 2, 64, 64)
    keys, values = drawn(rng, 7, 32, 64), drawn(rng, 7, 32, 64)
    table = rng.integers(0, 7, (2, 5)).astype(np.int32)
    lengths = rng.integers(1, 161, 2).astype(np.int32)
    out = np.zeros((2, 64, 64), np.float32)
    run(paged, chip, q, keys, values, table, lengths, out, proposal=proposal)
    for b, n in enumerate(lengths):
        k, v = (wide(x[table[b]]).reshape(-1, 64)[:n] for x in (keys, values))
        s = wide(q[b]) @ k.T / 8
        e = np.exp(s - s.max(axis=1, keepdims=True))
        check(out[b], e @ v / e.sum(axis=1, keepdims=True), 4e-3)


@kiln.kernel
def in_tf32(a: kiln.View, b: kiln.View, c: kiln.View):
    i = kiln.grid(kiln.cdiv(c.shape[0], 64))
    acc = kiln.zeros((64, 32), kiln.f32)
    for k in range(0, a.shape[1], 32):
        x, y = a.load((i * 64, k), (64, 32)), b.load((k, 0), (32, 32))
        acc = kiln.dot(x, y, acc, precision="tf32")
    c.store((i * 64, 0), acc)


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
def test_elements_that_lie_apart_are_copied_one_by_one(rng, chip: str) -> None:
    """No stride is 1, so that a row of a copy is one element. Of one column nothing is said."""
    m, k = int(rng.integers(2, 100)), int(rng.integers(2, 100))
    a, b = drawn(rng, m, 3 * k, dtype=np.float32)[:, ::3], drawn(rng, k, 32, dtype=np.float32)
    c = np.zeros((m, 32), np.float32)
    run(in_tf32, chip, a, b, c, proposal=3)
    check(c, wide(a) @ wide(b), 1e-3)


@kiln.kernel
def narrowed(a: kiln.View, b: kiln.View, c: kiln.View):
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], 64))
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in range(0, a.shape[1], 32):
        y = b.load((k, j * 64), (32, 64)).to(kiln.f16)
        acc = kiln.dot(a.load((i * 128, k), (128, 32)), y, acc)
    c.store((i * 128, j * 64), acc)


def test_what_is_swapped_may_lie_along_k(rng) -> None:
    """Weights in rows of n are read from registers as the transpose's first operand."""
    m, n, k = int(rng.integers(2, 150)), 8 * int(rng.integers(1, 12)), 8 * int(rng.integers(1, 20))
    a, b = drawn(rng, m, k, dtype=np.float16), drawn(rng, k, n, dtype=np.float32)
    c = np.zeros((m, n), np.float32)
    run(narrowed, "sm_90a", a, b, c, proposal=0)
    check(c, wide(a) @ wide(b.astype(np.float16)))


@kiln.kernel
def of_rows(x: kiln.View, w: kiln.View, rows: kiln.View, to: kiln.View, out: kiln.View,
            packed: kiln.constexpr):  # fmt: skip
    i = kiln.grid(kiln.cdiv(rows.shape[0], 128))
    row = rows.load((i * 128,), (128,), pad=-1)
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in range(0, w.shape[0], 64):
        if packed:
            t = x.gather((row[:, None], (k // 2 + kiln.arange(32))[None, :]))
            t = kiln.join((t & 15).to(kiln.bf16), (t >> 4).to(kiln.bf16)).reshape((128, 64))
        else:
            t = x.gather((row[:, None], (k + kiln.arange(64))[None, :]))
        acc = kiln.dot(t, w.load((k, 0), (64, 64)), acc)
    target = to.load((i * 128,), (128,), pad=-1)
    out.scatter((target[:, None], kiln.arange(64)[None, :]), acc)


@pytest.mark.parametrize("packed", [False, True])
def test_gathered_rows_and_scattered_sums(rng, packed: bool) -> None:
    """Copies of a role each gather, put together and scatter their own rows."""
    m, k = int(rng.integers(2, 200)), 64 * int(rng.integers(1, 5))
    x = drawn(rng, 50, k) if not packed else rng.integers(0, 256, (50, k // 2)).astype(np.uint8)
    w, rows = drawn(rng, k, 64), rng.integers(0, 50, m).astype(np.int32)
    to, out = rng.permutation(m).astype(np.int32), np.zeros((m, 64), np.float32)
    run(of_rows, "sm_90a", x, w, rows, to, out, packed=packed, proposal=0)
    whole = np.stack([x & 15, x >> 4], axis=-1).reshape(50, k) if packed else x
    want = np.zeros((m, 64))
    want[to] = wide(whole[rows]) @ wide(w)
    check(out, want)


@kiln.kernel
def sparse(a: kiln.View, b: kiln.View, mask: kiln.View, c: kiln.View):
    i = kiln.grid(kiln.cdiv(c.shape[0], 128))
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in range(0, kiln.cdiv(a.shape[1], 64)):
        if mask[i, k] != 0:
            acc = kiln.dot(a.load((i * 128, k * 64), (128, 64)), b.load((k * 64, 0), (64, 64)), acc)
    c.store((i * 128, 0), acc)


def test_products_behind_a_condition_of_the_trip(rng) -> None:
    m, k = int(rng.integers(2, 200)), 8 * int(rng.integers(1, 50))
    a, b, c = drawn(rng, m, k), drawn(rng, k, 64), np.zeros((m, 64), np.float32)
    mask = rng.integers(0, 2, (-(-m // 128), -(-k // 64))).astype(np.int32)
    run(sparse, "sm_90a", a, b, mask, c, proposal=0)
    kept = np.repeat(np.repeat(mask, 128, axis=0), 64, axis=1)[:m, :k]
    check(c, wide(a) * kept @ wide(b)) if (wide(a) * kept).any() else check(c + 1, np.ones(c.shape))


@kiln.kernel
def squared(q: kiln.View, k: kiln.View, out: kiln.View):
    i = kiln.grid(kiln.cdiv(q.shape[0], 128))
    t, total = q.load((i * 128, 0), (128, 64)), kiln.zeros((128,), kiln.f32)
    for j in range(0, k.shape[0], 32):
        s = kiln.dot(t, k.load((j, 0), (32, 64)), transpose_b=True)
        total += kiln.sum(s * s, axis=1)
    out.store((i * 128,), total)


@pytest.mark.parametrize("chip", ["sm_90a", "sm_100a"])
def test_a_tile_is_read_by_all_products_of_a_loop(rng, chip: str) -> None:
    """It is given back behind the loop: on sm_100a by a commit that nobody else waits for."""
    m, n = int(rng.integers(2, 200)), int(rng.integers(2, 150))
    q, k, out = drawn(rng, m, 64), drawn(rng, n, 64), np.zeros(m, np.float32)
    run(squared, chip, q, k, out, proposal=0)
    check(out, ((wide(q) @ wide(k).T) ** 2).sum(axis=1))


@kiln.kernel
def scaled_blocks(a: kiln.View, b: kiln.View, s: kiln.View, c: kiln.View):
    i = kiln.grid(kiln.cdiv(c.shape[0], 128))
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in range(0, kiln.cdiv(a.shape[1], 128)):
        x, y = a.load((i * 128, k * 128), (128, 128)), b.load((0, k * 128), (64, 128))
        acc += kiln.dot(x, y, transpose_b=True) * s.load((i * 128, k), (128, 1))
    c.store((i * 128, 0), acc)


@pytest.mark.parametrize("chip", ["sm_90a", "sm_100a"])
def test_scales_of_each_block_of_k(rng, chip: str) -> None:
    m, k = int(rng.integers(2, 200)), 16 * int(rng.integers(1, 20))
    a, b = (drawn(rng, rows, k, dtype=ml_dtypes.float8_e4m3fn) for rows in (m, 64))
    s = rng.uniform(0.5, 2, (m, -(-k // 128))).astype(np.float32)
    c = np.zeros((m, 64), np.float32)
    run(scaled_blocks, chip, a, b, s, c, proposal=0)
    check(c, (wide(a) * np.repeat(wide(s), 128, axis=1)[:, :k]) @ wide(b).T, 1e-3)
