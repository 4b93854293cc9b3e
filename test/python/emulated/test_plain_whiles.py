"""Products in `while` loops of kernels that pin nothing, on emulated chips, against float64. Loops
whose trips are counted are decided as a `for` is; of others the roles and stages are those that
numbers allow: pages that lead to one another, loops that are left. What a product makes tells too
late whether there is another trip, and such a loop stays as it is."""

from __future__ import annotations

import isa
import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
TARGETS = {
    "sm_90a": "nvptx", "sm_100a": "nvptx", "sm_80": "nvptx",
    "gfx942": "amdgpu", "gfx950": "amdgpu", "gfx1201": "amdgpu",
}  # fmt: skip


@kiln.kernel
def counted(a: kiln.View, b: kiln.View, c: kiln.View, HOW: kiln.constexpr):
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], 64))
    acc = kiln.zeros((64, 64), kiln.f32)
    n = a.shape[1].to(kiln.i32)
    if HOW == "for":
        for k in range(0, a.shape[1], 32):
            x, y = a.load((i * 64, k), (64, 32)), b.load((j * 64, k), (64, 32))
            acc = kiln.dot(x, y, acc, transpose_b=True)
    if HOW == "up":
        at = kiln.i32(0)
        while at < a.shape[1]:
            x, y = a.load((i * 64, at), (64, 32)), b.load((j * 64, at), (64, 32))
            acc = kiln.dot(x, y, acc, transpose_b=True)
            at += 32
    if HOW == "down":
        at = (n - 1) // 32
        while at >= 0:
            x, y = a.load((i * 64, at * 32), (64, 32)), b.load((j * 64, at * 32), (64, 32))
            acc = kiln.dot(x, y, acc, transpose_b=True)
            at -= 1
    if HOW == "beside":
        at, left = 0, n
        while 0 < left:
            x, y = a.load((i * 64, at), (64, 32)), b.load((j * 64, at), (64, 32))
            acc = kiln.dot(x, y, acc, transpose_b=True)
            at, left = at + 32, left - 32
        acc = acc + (left + n - 1 - at.to(kiln.i32) + n).to(kiln.f32)
    c.store((i * 64, j * 64), acc)


@pytest.mark.parametrize("how", ["up", "down", "beside"])
@pytest.mark.parametrize("chip", TARGETS)
def test_counted_trips(rng: np.random.Generator, chip: str, how: str) -> None:
    for k in (8, 32, 64, 8 * int(rng.integers(9, 30))):
        m, n = (int(rng.integers(1, 150)) for _ in "mn")
        a, b = (rng.standard_normal((rows, k)).astype(BF16) for rows in (m, n))
        c = np.full((m, n), np.nan, np.float32)
        counted.options(device=f"emu:{chip}")(a, b, c, HOW=how)
        reference = a.astype(np.float64) @ b.astype(np.float64).T
        if how == "beside":
            trips = -(-k // 32)
            reference += (k - 32 * trips) + k - 1 - 32 * trips + k
        assert np.abs(c - reference).max() <= 1e-3, (m, n, k)
    # The same decisions as those of a `for`.
    x = np.zeros((256, 256), BF16)
    made, plain = (
        counted.compile(x, x, np.zeros((256, 256), np.float32), HOW=each,
                        target=f"{TARGETS[chip]}:{chip}").metadata
        for each in (how, "for")
    )  # fmt: skip
    for member in ("proposal", "shared_bytes", "warps"):
        assert made[member] == plain[member], member


@kiln.kernel
def chained(a: kiln.View, b: kiln.View, c: kiln.View, following: kiln.View, first: kiln.i32):
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], 64))
    acc = kiln.zeros((128, 64), kiln.f32)
    page = first
    while page >= 0:
        x, y = a.load((i * 128, page * 32), (128, 32)), b.load((j * 64, page * 32), (64, 32))
        acc = kiln.dot(x, y, acc, transpose_b=True)
        page = following[page]
    c.store((i * 128, j * 64), acc)


# What is proposed for them.
PROPOSALS = {"sm_90a": 0, "sm_100a": 0, "sm_80": 3, "gfx942": 3, "gfx950": 3, "gfx1201": 3}


def prove(compiled: kiln.CompiledKernel, chip: str) -> None:
    """That the final code for an AMD chip waits for what it reads."""
    if TARGETS[chip] == "amdgpu":
        isa.prove_waits(compiled.ir("tile"), chip)


@pytest.mark.parametrize("chip", PROPOSALS)
def test_trips_that_memory_tells(rng: np.random.Generator, chip: str) -> None:
    m, n = (int(rng.integers(1, 150)) for _ in "mn")
    a, b = (rng.standard_normal((rows, 256)).astype(BF16) for rows in (m, n))
    for trips in (0, 1, 2, 3, 5, 8):
        order = [int(page) for page in rng.permutation(8)[:trips]]
        following = np.full(8, -7, np.int32)
        for page, after in zip(order, [*order[1:], -1], strict=False):
            following[page] = after
        c = np.full((m, n), np.nan, np.float32)
        first = order[0] if order else -1
        chained.options(device=f"emu:{chip}")(a, b, c, following, first)
        columns = np.array([32 * page + at for page in order for at in range(32)], int)
        reference = a.astype(np.float64)[:, columns] @ b.astype(np.float64)[:, columns].T
        assert np.abs(c - reference).max() <= 1e-3, (m, n, order)
    made = chained.compile(a, b, c, following, 0, target=f"{TARGETS[chip]}:{chip}")
    assert made.metadata.get("proposal") == PROPOSALS[chip]
    prove(made, chip)


@kiln.kernel
def attention(q: kiln.View, k: kiln.View, v: kiln.View, o: kiln.View, lengths: kiln.View):
    """Blocks of keys up to the first that is none of the row's."""
    i = kiln.grid(kiln.cdiv(q.shape[0], 64))
    x = q.load((i * 64, 0), (64, 64))
    acc = kiln.zeros((64, 64), kiln.f32)
    for at in range(0, k.shape[0], 64):
        if at >= lengths[i]:
            break
        s = kiln.dot(x, k.load((at, 0), (64, 64)), kiln.zeros((64, 64), kiln.f32), transpose_b=True)
        weights = kiln.exp(s * 0.125).to(kiln.bf16)
        acc = kiln.dot(weights, v.load((at, 0), (64, 64)), acc)
    o.store((i * 64, 0), acc)


@pytest.mark.parametrize("chip", ["sm_90a", "sm_80", "gfx942", "gfx950", "gfx1201"])
def test_loops_that_are_left(rng: np.random.Generator, chip: str) -> None:
    q, k, v = (rng.standard_normal((rows, 64)).astype(BF16) for rows in (192, 256, 256))
    lengths = rng.integers(0, 5, 3).astype(np.int32) * 64
    o = np.full((192, 64), np.nan, np.float32)
    attention.options(device=f"emu:{chip}")(q, k, v, o, lengths)
    for i, length in enumerate(lengths):
        rows = slice(64 * i, 64 * i + 64)
        s = q[rows].astype(np.float64) @ k[:length].astype(np.float64).T * 0.125
        want = np.exp(s).astype(BF16).astype(np.float64) @ v[:length].astype(np.float64)
        assert np.linalg.norm(o[rows] - want) <= 1e-2 * np.linalg.norm(want), (i, length)
    made = attention.compile(q, k, v, o, lengths, target=f"{TARGETS[chip]}:{chip}")
    assert made.metadata.get("proposal") == PROPOSALS[chip]
    prove(made, chip)


@kiln.kernel
def left_product(
    a: kiln.View, b: kiln.View, c: kiln.View, lengths: kiln.View, found: kiln.View,
    SKIPS: kiln.constexpr,
):  # fmt: skip
    """Columns up to a length, and where that was; a `while` and a `for` that are left."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], 64))
    acc = kiln.zeros((64, 64), kiln.f32)
    at = kiln.i32(0)
    if SKIPS:
        while at < a.shape[1].to(kiln.i32):
            if at >= lengths[i]:
                break
            x, y = a.load((i * 64, at), (64, 32)), b.load((j * 64, at), (64, 32))
            acc = kiln.dot(x, y, acc, transpose_b=True)
            at += 32
    else:
        for k in range(0, a.shape[1], 32):
            at = k.to(kiln.i32)
            if k >= lengths[i]:
                break
            x, y = a.load((i * 64, k), (64, 32)), b.load((j * 64, k), (64, 32))
            acc = kiln.dot(x, y, acc, transpose_b=True)
    found[i] = at
    c.store((i * 64, j * 64), acc)


@pytest.mark.parametrize("skips", [False, True])
@pytest.mark.parametrize("chip", ["sm_90a", "sm_80", "gfx942", "gfx950", "gfx1201"])
def test_where_a_loop_was_left(rng: np.random.Generator, chip: str, skips: bool) -> None:
    columns = 8 * int(rng.integers(12, 30))
    m, n = (int(rng.integers(65, 190)) for _ in "mn")
    a, b = (rng.standard_normal((rows, columns)).astype(BF16) for rows in (m, n))
    lengths = 32 * rng.integers(0, columns // 32 + 2, -(-m // 64)).astype(np.int32)
    lengths[0] = 0
    c, found = np.full((m, n), np.nan, np.float32), np.full(len(lengths), -1, np.int32)
    kernel = left_product.options(device=f"emu:{chip}")
    compiled = kernel(a, b, c, lengths, found, SKIPS=skips)
    del compiled
    for i, length in enumerate(lengths):
        rows, k = slice(64 * i, 64 * i + 64), min(int(length), columns)
        reference = a[rows, :k].astype(np.float64) @ b[:, :k].astype(np.float64).T
        assert np.abs(c[rows] - reference).max() <= 1e-3, (i, length)
        last = 32 * (-(-columns // 32) - (not skips))
        assert found[i] == min(int(length), last), (i, length)
    made = left_product.compile(
        a, b, c, lengths, found, SKIPS=skips, target=f"{TARGETS[chip]}:{chip}"
    )
    assert made.metadata.get("proposal") is not None
    prove(made, chip)


@kiln.kernel
def converging(a: kiln.View, c: kiln.View, trips: kiln.View, most: kiln.f32):
    kiln.grid(1)
    acc = kiln.zeros((64, 64), kiln.f32)
    k = kiln.i32(0)
    found = kiln.f32(0.0)
    while found < most:
        x = a.load((0, k * 32), (64, 32))
        acc = kiln.dot(x, x, acc, transpose_b=True)
        found = kiln.max(acc)
        k += 1
    trips[0] = k
    c.store((0, 0), acc)


@pytest.mark.parametrize("chip", TARGETS)
def test_trips_that_a_product_tells(rng: np.random.Generator, chip: str) -> None:
    a = rng.standard_normal((64, 512)).astype(BF16)
    most = float(rng.uniform(0, 300))
    c, trips = np.full((64, 64), np.nan, np.float32), np.zeros(1, np.int32)
    converging.options(device=f"emu:{chip}")(a, c, trips, most)
    sums = np.cumsum([x @ x.T for x in np.split(a.astype(np.float64), 16, axis=1)], axis=0)
    count = int(np.argmax(sums.max(axis=(1, 2)) >= most)) + 1
    assert abs(sums[count - 1].max() - most) < 1e-2 or trips[0] == count
    assert np.abs(c - sums[trips[0] - 1]).max() <= 1e-3
    made = converging.compile(a, c, trips, most, target=f"{TARGETS[chip]}:{chip}")
    assert "proposal" not in made.metadata


@kiln.kernel
def written_to_the_end(flags: kiln.View, a: kiln.View, sums: kiln.View, n: kiln.i32):
    """The last trip adds nothing, but writes."""
    kiln.grid(1)
    found = flags[0] < 0
    i = kiln.i32(0)
    s = kiln.zeros((16,), kiln.f32)
    while (i < n) & ~found:
        found = flags[i] != 0
        if ~found:
            s += a.load((i, 0), (1, 16)).reshape((16,))
        sums.store((i, 0), s.reshape((1, 16)))
        i += 1


@pytest.mark.parametrize("device", ["cpu", "emu:sm_90a", "emu:gfx942"])
def test_what_the_trip_that_is_left_writes(rng: np.random.Generator, device: str) -> None:
    n = int(rng.integers(2, 9))
    last = int(rng.integers(0, n))
    flags, a = np.zeros(n, np.int32), rng.standard_normal((n, 16)).astype(np.float32)
    flags[last] = 1
    sums = np.full((n, 16), np.nan, np.float32)
    written_to_the_end.options(device=device)(flags, a, sums, n)
    want = np.cumsum(np.where(np.arange(n)[:, None] < last, a.astype(np.float64), 0), axis=0)
    assert np.isnan(sums[last + 1 :]).all()
    np.testing.assert_allclose(sums[: last + 1], want[: last + 1], atol=1e-5)
