"""Products in tensor memory whose sums a later trip uses: they are in flight where their trip ends.
On the emulated chip, against float64; in any order, for any number of trips, of one role or two."""

from __future__ import annotations

import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from cubin import ASSEMBLER

import kiln

BF16 = ml_dtypes.bfloat16
F32 = np.float32
CHIP = "emu:sm_100a"


def wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64)


def assert_near(got: np.ndarray, want: np.ndarray, told, limit: float = 1e-5) -> None:
    assert np.abs(got - want).max(initial=0) <= limit * np.abs(want).max(initial=1), told


@kiln.kernel
def decayed(
    a: kiln.View, b: kiln.View, c: kiln.View, BM: kiln.constexpr, copies: kiln.constexpr,
    own: kiln.constexpr, copy: kiln.constexpr, depth: kiln.constexpr, stage: kiln.constexpr,
    late: kiln.constexpr,
    first: kiln.constexpr, dots: kiln.constexpr, begins: kiln.constexpr, atom: kiln.constexpr,
    cluster: kiln.constexpr, persistent: kiln.constexpr,
):  # fmt: skip
    """Each product is used `late` trips later: in front of that trip's product, or behind it."""
    i = kiln.grid(kiln.cdiv(c.shape[0], BM))
    mma = kiln.role("mma", warps=4, copies=copies)
    kiln.pin(roles=mma if own else (kiln.role("load", warps=4), mma))
    if cluster:
        kiln.pin(cluster=(2, 1))
    if persistent:
        kiln.pin(persistent=(2, 1))
    load = "mma" if own else "load"
    acc = kiln.zeros((BM, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=depth):
        x = kiln.pin(a.load((i * BM, k), (BM, 64)), role=load, atom=copy, stage=0)
        y = kiln.pin(b.load((0, k), (64, 64)), role=load, atom=copy, stage=0)
        s = kiln.zeros((BM, 64), kiln.f32)
        if begins:
            s = s + kiln.arange(0, 64)[None, :].to(kiln.f32)
        if dots == 2:
            s = kiln.dot(x, y, s, transpose_b=True)
            kiln.pin(s, role="mma", atom=atom, in_flight=0, stage=stage)
        s = kiln.dot(x, y, s, transpose_b=True)
        kiln.pin(s, role="mma", atom=atom, in_flight=0, stage=stage)
        acc = kiln.pin(acc * 0.5 + s, role="mma", stage=stage + late)
        if first is not None:
            kiln.pin(acc, order=0 if first else 1)
            kiln.pin(s, order=1 if first else 0)
    kiln.pin(c.store((i * BM, 0), acc), role="mma")


def want_decayed(a: np.ndarray, b: np.ndarray, dots: int, begins: bool) -> np.ndarray:
    sums = np.zeros((a.shape[0], b.shape[0]))
    for k in range(0, a.shape[1], 64):
        sums = 0.5 * sums + dots * (wide(a[:, k : k + 64]) @ wide(b[:, k : k + 64]).T)
        sums += begins * np.arange(b.shape[0])
    return sums


USUAL = dict(
    BM=128, copies=1, own=False, copy="tma", depth=3, stage=0, late=1, first=None, dots=1, begins=False,
    atom="tcgen05", cluster=False, persistent=False,
)  # fmt: skip


def check_decayed(rng, trips=(0, 1, 2, 3, 9), **said) -> None:
    said = USUAL | said
    m = int(rng.integers(1, 3 * said["BM"]))
    for count in trips:
        k = max(0, 64 * count - 8 * int(rng.integers(0, 8)))
        a, b = (rng.integers(-3, 4, (rows, 640)).astype(BF16)[:, :k] for rows in (m, 64))
        c = np.full((m, 64), np.nan, F32)
        decayed.options(device=CHIP)(a, b, c, **said)
        assert_near(c, want_decayed(a, b, said["dots"], said["begins"]), (said, m, k))


@pytest.mark.parametrize("first", [None, False, True])
@pytest.mark.parametrize("late", [1, 2, 3])
def test_trips_later(rng, late: int, first: bool | None) -> None:
    check_decayed(rng, late=late, first=first)


@pytest.mark.parametrize(
    "said",
    [
        dict(copies=2, BM=256),
        dict(copies=2, BM=256, late=2, first=True),
        dict(BM=64),
        dict(copies=2, BM=128),
        dict(dots=2, late=2),
        dict(begins=True),
        dict(begins=True, dots=2, first=True),
        dict(begins=True, copies=2, BM=256),
        dict(persistent=True),
        dict(persistent=True, copies=2, BM=256, late=2),
        dict(atom="tcgen05_pair", cluster=True),
        dict(atom="tcgen05_pair", cluster=True, begins=True, late=2),
        dict(depth=1),
        dict(own=True),
        dict(own=True, copies=2, BM=256),
        dict(own=True, copy="cp_async"),
        dict(own=True, copy="cp_async", late=2, begins=True),
        dict(own=True, copy="through_registers", stage=1),
    ],
)  # fmt: skip
def test_whatever_begins_them(rng, said: dict) -> None:
    check_decayed(rng, **said)


# ---- Attention as a plain loop


@kiln.kernel
def attention(
    q: kiln.View, k: kiln.View, v: kiln.View, o: kiln.View, BM: kiln.constexpr, BN: kiln.constexpr,
    D: kiln.constexpr, copies: kiln.constexpr, own: kiln.constexpr, order: kiln.constexpr,
    columns: kiln.constexpr,
):  # fmt: skip
    """The scores of the next keys are made beside the weights of these, by one role."""
    i = kiln.grid(kiln.cdiv(q.shape[0], BM))
    n = k.shape[0]
    mma = kiln.role("mma", warps=4, copies=copies)
    kiln.pin(roles=mma if own else (kiln.role("load", warps=4), mma))
    load = "mma" if own else "load"
    x = kiln.pin(q.load((i * BM, 0), (BM, D)), role=load, atom="tma")
    acc = kiln.zeros((BM, D), kiln.f32)
    m, total = kiln.full((BM,), -kiln.inf, kiln.f32), kiln.zeros((BM,), kiln.f32)
    for j in kiln.pin(range(0, n, BN), depth=2):
        kt = kiln.pin(k.load((j, 0), (BN, D)), role=load, atom="tma", ring="k", stage=0)
        vt = kiln.pin(v.load((j, 0), (BN, D)), role=load, atom="tma", ring="v", stage=int(own))
        dot = kiln.dot(x, kt, transpose_b=True)
        scores = kiln.pin(dot, role="mma", atom="tcgen05", in_flight=0, stage=0)
        seen = kiln.arange(0, BN)[None, :] + j < n
        s = kiln.pin(kiln.where(seen, scores, -kiln.inf), role="mma", stage=1)
        most = kiln.maximum(m, kiln.max(s, axis=1))
        p = kiln.exp2((s - most[:, None]) * 1.4426950408889634)
        shrink = kiln.exp2((m - most) * 1.4426950408889634)
        total = total * shrink + kiln.sum(p, axis=1)
        acc = kiln.dot(p.to(q.dtype), vt, acc * shrink[:, None])
        kiln.pin(acc, role="mma", atom="tcgen05", in_flight=0, stage=1)
        m = most
        if order == "scores first":
            kiln.pin(scores, order=0)
            kiln.pin(s, order=1)
        elif order == "beside the weights":
            kiln.pin(s, order=0)
            kiln.pin(scores, order=1)
        elif order == "beside the product":
            kiln.pin(s, order=0)
            kiln.pin(acc, order=1)
            kiln.pin(scores, order=2)
        if columns:
            kiln.pin(scores, columns=0)
            kiln.pin(acc, columns=1, operand_columns=0)
    kiln.pin(o.store((i * BM, 0), acc / total[:, None]), role="mma")


def want_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    s = wide(q) @ wide(k).T
    p = np.exp(s - s.max(axis=1, keepdims=True))
    return p @ wide(v) / p.sum(axis=1, keepdims=True)


HEADS = dict(BM=128, BN=64, D=64, copies=1, own=False, order=None, columns=False)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(
    "order", [None, "scores first", "beside the weights", "beside the product"]
)
@pytest.mark.parametrize(
    "said", [dict(), dict(BM=256, copies=2), dict(BN=128, D=128), dict(BM=64, BN=32)]
)
def test_attention(rng, said: dict, order: str | None, own: bool) -> None:
    check_attention(rng, **said, order=order, own=own)


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_attention_in_all_of_tensor_memory(rng, own: bool, columns: bool) -> None:
    wide_heads = dict(BM=256, copies=2, BN=128, D=128)
    check_attention(rng, **wide_heads, own=own, order="beside the product", columns=columns)


def check_attention(rng, **said) -> None:
    said = HEADS | said
    m = int(rng.integers(1, 2 * said["BM"]))
    # Of one key the loop has one trip, as is known when it is compiled.
    for n in (1, int(rng.integers(2, said["BN"] + 1)), int(rng.integers(said["BN"] + 1, 400))):
        q, k, v = (rng.standard_normal((rows, said["D"])).astype(BF16) for rows in (m, n, n))
        o = np.full((m, said["D"]), np.nan, F32)
        attention.options(device=CHIP)(q, k, v, o, **said)
        want = want_attention(q, k, v)
        assert np.linalg.norm(o - want) <= 2e-3 * np.linalg.norm(want), (said, m, n)


# ---- Other things in between


@kiln.kernel
def between(
    a: kiln.View, b: kiln.View, f: kiln.View, c: kiln.View, own: kiln.constexpr,
    late: kiln.constexpr, inner: kiln.constexpr,
):  # fmt: skip
    """Other products, in a condition or a loop, stand between a product and what uses its sum."""
    kiln.grid(1)
    mma = kiln.role("mma", warps=4)
    kiln.pin(roles=mma if own else (kiln.role("load", warps=4), mma))
    load = "mma" if own else "load"
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=3):
        x = kiln.pin(a.load((0, k), (128, 64)), role=load, atom="tma", ring="a")
        y = kiln.pin(b.load((0, k), (64, 64)), role=load, atom="tma", ring="b")
        s = kiln.dot(x, y, transpose_b=True)
        kiln.pin(s, role="mma", atom="tcgen05", in_flight=0, stage=0)
        t = kiln.zeros((128, 64), kiln.f32)
        if inner == "if":
            if f[k // 64] > 0:
                t = kiln.dot(x, y, transpose_b=True)
                kiln.pin(t, role="mma", atom="tcgen05", in_flight=0)
        else:
            for _ in range(f[k // 64]):
                t = kiln.dot(x, y, t, transpose_b=True)
                kiln.pin(t, role="mma", atom="tcgen05", in_flight=0)
        acc = kiln.pin(acc * 0.5 + s - 2.0 * t, role="mma", stage=late)
    kiln.pin(c.store((0, 0), acc), role="mma")


@pytest.mark.parametrize("inner", ["if", "for"])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("late", [0, 1, 2])
def test_other_products_in_between(rng, late: int, own: bool, inner: str) -> None:
    for trips in (0, 1, 2, 7):
        a, b = (
            rng.integers(-3, 4, (rows, 448)).astype(BF16)[:, : 64 * trips] for rows in (128, 64)
        )
        f = rng.integers(0, 2 if inner == "if" else 4, 7).astype(np.int32)
        c, want = np.full((128, 64), np.nan, F32), np.zeros((128, 64))
        between.options(device=CHIP)(a, b, f, c, own=own, late=late, inner=inner)
        for i in range(trips):
            at = slice(64 * i, 64 * i + 64)
            want = 0.5 * want + (1 - 2 * int(f[i])) * (wide(a[:, at]) @ wide(b[:, at]).T)
        assert_near(c, want, (late, own, inner, trips))


@kiln.kernel
def chain(a: kiln.View, b: kiln.View, c: kiln.View, following: kiln.View, first: kiln.i32,
          late: kiln.constexpr, own: kiln.constexpr):  # fmt: skip
    """Pages that lead to one another: nobody counts the trips."""
    kiln.grid(1)
    mma = kiln.role("mma", warps=4)
    kiln.pin(roles=mma if own else (kiln.role("load", warps=4), mma))
    load = "mma" if own else "load"
    acc = kiln.zeros((128, 64), kiln.f32)
    page = first
    while page >= 0:
        x = kiln.pin(a.load((0, page * 64), (128, 64)), role=load, atom="tma", ring="r", depth=3)
        y = kiln.pin(b.load((0, page * 64), (64, 64)), role=load, atom="tma", ring="r", depth=3)
        s = kiln.dot(x, y, transpose_b=True)
        kiln.pin(s, role="mma", atom="tcgen05", in_flight=0, stage=0)
        acc = kiln.pin(acc * 0.5 + s, role="mma", stage=late)
        page = following[page]
    kiln.pin(c.store((0, 0), acc), role="mma")


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("late", [1, 2])
def test_trips_that_nobody_counts(rng, late: int, own: bool) -> None:
    a, b = (rng.integers(-3, 4, (rows, 512)).astype(BF16) for rows in (128, 64))
    for trips in (0, 1, 2, 3, 8):
        order = [int(page) for page in rng.permutation(8)[:trips]]
        following = np.full(8, -7, np.int32)
        for page, after in zip(order, [*order[1:], -1], strict=False):
            following[page] = after
        c, want = np.full((128, 64), np.nan, F32), np.zeros((128, 64))
        for page in order:
            at = slice(64 * page, 64 * page + 64)
            want = 0.5 * want + wide(a[:, at]) @ wide(b[:, at]).T
        first = order[0] if order else -1
        chain.options(device=CHIP)(a, b, c, following, first, late=late, own=own)
        assert_near(c, want, (late, own, order))


# ---- The code, and what is refused


def compile_decayed(**said):
    a, c = np.zeros((256, 640), BF16), np.zeros((256, 64), F32)
    return decayed.compile(a, a[:64], c, **(USUAL | said), target="nvptx:sm_100a")


@pytest.mark.skipif(not ASSEMBLER.exists(), reason="there is no ptxas")
@pytest.mark.parametrize("first", [False, True])
def test_the_code_is_assembled(first: bool, tmp_path: Path) -> None:
    """A trip that fetches before it starts has one sum's columns, else two."""
    compiled = compile_decayed(first=first)
    code = tmp_path / "code.ptx"
    code.write_text(compiled.asm)
    subprocess.run([ASSEMBLER, "-arch=sm_100a", code, "-o", tmp_path / "code.cubin"], check=True)
    slots = 1 if first else 2
    assert f"tile.channel<{slots}, !tile.pending<tensor<128x64xf32" in compiled.ir("schedule")


def test_more_sums_than_there_is_room_for() -> None:
    q, o = np.zeros((256, 128), BF16), np.zeros((256, 128), F32)
    said = HEADS | dict(BM=256, copies=2, BN=128, D=128, order="scores first")
    with pytest.raises(kiln.CompileError) as refused:
        attention.compile(q, q, q, o, **said, target="nvptx:sm_100a")
    text = str(refused.value)
    assert "expected sums, of all copies and turns, of at most 262144 bytes of tensor" in text, text
    assert "got 393216, of which this one takes 393216 for 3 slots" in text, text
    assert "in flight at once, as 'stage' and 'order' have it" in text, text
    assert "dot = kiln.dot(x, kt, transpose_b=True)" in text, text
