"""Where a loop has a sum in tensor memory from trip to trip, and how it is fetched to be stored, as an
author says it, on the emulated chip, against float64; and what is refused."""

from __future__ import annotations

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
