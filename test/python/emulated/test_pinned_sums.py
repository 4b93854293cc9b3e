"""Where a loop has a sum in tensor memory from trip to trip, and how it is fetched to be stored, as an
author says it, on the emulated chip, against float64; and what is refused."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def decayed(
    a: kiln.View, b: kiln.View, c: kiln.View, BN: kiln.constexpr, carried: kiln.constexpr,
    fetched: kiln.constexpr, told: kiln.constexpr,
):  # fmt: skip
    """Each trip halves what there is, and adds a product; with `told` it looks at the sum as well."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], BN))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    acc = kiln.zeros((128, BN), kiln.f32)
    most = kiln.zeros((128, BN), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=2):
        x = kiln.pin(a.load((i * 128, k), (128, 32)), role="load", stage=0, atom="tma")
        y = kiln.pin(b.load((j * BN, k), (BN, 32)), role="load", stage=0, atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc * 0.5, transpose_b=True),
            role="mma", stage=0, in_flight=0, atom="tcgen05",
        )  # fmt: skip
        if carried:
            kiln.pin(acc, carried=carried)
        if told:
            most = kiln.maximum(most, acc)
    if told:
        acc = acc + most
    if fetched:
        kiln.pin(
            c.store((i * 128, j * BN), acc), role="mma", in_flight=0, atom="tma", fetched=fetched
        )
    else:
        kiln.pin(c.store((i * 128, j * BN), acc), role="mma", in_flight=0, atom="tma")


def wanted(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    sums = np.zeros((a.shape[0], b.shape[0]))
    for k in range(0, a.shape[1], 32):
        sums = (
            0.5 * sums + a[:, k : k + 32].astype(np.float64) @ b[:, k : k + 32].astype(np.float64).T
        )
    return sums


OPTIONS = dict(carried=None, fetched=None, told=False, BN=64)


@pytest.mark.parametrize(
    "carried, fetched",
    [(None, None), (None, "boxes"), ("registers", None), ("registers", "whole"),
     ("tensor_memory", None), ("tensor_memory", "whole"), ("tensor_memory", "boxes")],
)  # fmt: skip
def test_sums_wherever_they_are(rng, carried: str | None, fetched: str | None) -> None:
    m, n, k = (8 * int(rng.integers(1, limit)) for limit in (24, 14, 20))
    a, b = (rng.standard_normal((rows, k)).astype(BF16) for rows in (m, n))
    c = np.full((m, n), np.nan, np.float32)
    options = OPTIONS | dict(carried=carried, fetched=fetched)
    decayed.options(device="emu:sm_100a")(a, b, c, **options)
    want = wanted(a, b)
    assert np.linalg.norm(c - want) <= 1e-5 * np.linalg.norm(want), (options, m, n, k)


def compile_it(**options):
    a, c = np.zeros((256, 256), BF16), np.zeros((256, 256), np.float32)
    return decayed.compile(a, a, c, **(OPTIONS | options), target="nvptx:sm_100a")


def instructions(**options) -> list[str]:
    """Without the lines of the source that they are of."""
    return [line for line in compile_it(**options).asm.splitlines() if ".loc" not in line]


def test_it_is_the_code_that_differs() -> None:
    unasked, registers, memory, whole, boxes = (
        instructions(**options)
        for options in (
            {}, dict(carried="registers"), dict(carried="tensor_memory"), dict(fetched="whole"),
            dict(fetched="boxes"),
        )
    )  # fmt: skip
    assert unasked == memory != registers
    assert unasked == boxes != whole


@pytest.mark.parametrize(
    "options, line, message",
    [
        (dict(carried="tensor_memory", told=True), "kiln.dot", "hands to the next one and uses no more"),
        # What a loop hands on in registers nobody fetches again.
        (dict(carried="registers", fetched="boxes"), "c.store", "made of sums in tensor memory"),
        (dict(fetched="boxes", BN=32), "c.store", "since 'tile.fetched' is decided"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(options: dict, line: str, message: str) -> None:
    with pytest.raises(kiln.CompileError) as refused:
        compile_it(**options)
    text = str(refused.value)
    assert message in text and line in text, text


# ---- In which columns


@kiln.kernel
def layers(
    x: kiln.View, w: kiln.View, v: kiln.View, o: kiln.View, scores: kiln.constexpr,
    operand: kiln.constexpr, total: kiln.constexpr, copies: kiln.constexpr,
):  # fmt: skip
    """What a trip computes of one product is multiplied by another, and added up; -1 says nothing."""
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies)))
    i = kiln.grid(kiln.cdiv(o.shape[0], 128 * copies))
    rows = kiln.pin(x.load((i * 128 * copies, 0), (128 * copies, 64)), role="load", atom="tma")
    acc = kiln.zeros((128 * copies, 64), kiln.f32)
    for h in kiln.pin(range(0, w.shape[0], 64), depth=2):
        first = kiln.pin(w.load((h, 0), (64, 64)), role="load", stage=0, atom="tma")
        s = kiln.pin(
            kiln.dot(rows, first, transpose_b=True),
            role="mma", stage=0, in_flight=0, atom="tcgen05",
        )  # fmt: skip
        if scores >= 0:
            kiln.pin(s, columns=scores)
        p = kiln.maximum(s, 0.0).to(v.dtype)
        second = kiln.pin(v.load((h, 0), (64, 64)), role="load", stage=0, atom="tma")
        acc = kiln.pin(kiln.dot(p, second, acc), role="mma", stage=0, in_flight=0, atom="tcgen05")
        if operand >= 0:
            kiln.pin(acc, operand_columns=operand)
        if total >= 0:
            kiln.pin(acc, columns=total)
    kiln.pin(o.store((i * 128 * copies, 0), acc), role="mma", in_flight=0, atom="tma")


SAID = [
    (-1, -1, -1),
    (0, 0, 1),
    (1, 1, 0),
    (1, 0, 2),
    (0, 2, 1),
    (-1, -1, 0),
    (2, -1, -1),
    (1, 0, -1),
]


@pytest.mark.parametrize("scores, operand, total", SAID)
def test_columns_wherever_they_are(rng, scores: int, operand: int, total: int) -> None:
    copies = int(rng.integers(1, 3))
    m, hidden = 16 * int(rng.integers(1, 20)), 64 * int(rng.integers(0, 4))
    x = rng.integers(-2, 3, (m, 64)).astype(BF16)
    w, v = (
        (rng.integers(-1, 2, (max(hidden, 64), 64)) * (rng.random((max(hidden, 64), 64)) < 0.3)).astype(BF16)
        for _ in "wv"
    )  # fmt: skip
    w, v, o = w[:hidden], v[:hidden], np.full((m, 64), np.nan, np.float32)
    said = dict(scores=scores, operand=operand, total=total, copies=copies)
    if (scores, operand, total) == (2, -1, -1):  # nobody has 1
        with pytest.raises(kiln.CompileError, match="without a gap, .* since 'tile.columns' is 2"):
            layers.options(device="emu:sm_100a")(x, w, v, o, **said)
        return
    layers.options(device="emu:sm_100a")(x, w, v, o, **said)
    x, w, v = (each.astype(np.float64) for each in (x, w, v))
    want = np.maximum(x @ w.T, 0) @ v
    assert np.abs(o - want).max(initial=0) <= 1e-5 * np.abs(want).max(initial=1), (said, m, hidden)


def compile_layers(scores: int, operand: int, total: int):
    x, o = np.zeros((128, 64), BF16), np.zeros((128, 64), np.float32)
    return layers.compile(
        x, x, x, o, scores=scores, operand=operand, total=total, copies=1, target="nvptx:sm_100a"
    )


def test_columns_are_taken_as_they_are_said() -> None:
    unasked, over, others, apart = (
        [line for line in compile_layers(*said).asm.splitlines() if ".loc" not in line]
        for said in ((-1, -1, -1), (1, 1, 0), (0, 0, 1), (2, 1, 0))
    )
    assert unasked == over != others  # which lie elsewhere
    # Each number takes columns: two sums, and the operand that is over none; a power of two of all.
    columns = []
    for code in ("\n".join(over), "\n".join(apart)):
        (register,) = re.findall(r"tcgen05\.alloc\S+\s+\S+, (%r\d+);", code)
        columns += re.findall(rf"mov\.b32\s+{register}, (\d+);", code)
    assert columns == ["128", "256"]


@pytest.mark.parametrize(
    "said, line, message",
    [
        ((0, 0, 0), "kiln.dot(rows", "over all the sums in these columns, or none, since 'tile.columns' is 0"),
        ((0, 1, 1), "kiln.dot(p", "has fetched in front .* since 'tile.operand_columns' is 1"),
        ((3, 0, 1), "kiln.dot(rows", "the next of which is 2, since 'tile.columns' is 3"),
    ],
)  # fmt: skip
def test_columns_that_cannot_be_are_refused(said: tuple, line: str, message: str) -> None:
    with pytest.raises(kiln.CompileError) as refused:
        compile_layers(*said)
    text = str(refused.value)
    assert re.search(message, text) and line in text, text
