"""Where products read an operand that a copy has brought to shared memory, as an author says it: out
of its slot or out of registers, on emulated chips, against float64; and what is refused."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View, left: kiln.constexpr, right: kiln.constexpr,
    sums: kiln.constexpr, BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr,
    copies: kiln.constexpr, flight: kiln.constexpr, atom: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies)))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], BK), depth=3):
        x = kiln.pin(a.load((i * BM, k), (BM, BK)), role="load", atom="tma")
        y = kiln.pin(b.load((j * BN, k), (BN, BK)), role="load", atom="tma")
        if left:
            kiln.pin(x, residency=left)
        if right:
            kiln.pin(y, residency=right)
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True), role="mma", in_flight=flight, atom=atom
        )
        if sums:
            kiln.pin(acc, residency=sums)
    kiln.pin(c.store((i * BM, j * BN), acc.to(c.dtype)), role="mma")


HOPPER = dict(right=None, sums=None, copies=1, flight=0, atom="wgmma", BM=64, BN=64, BK=64)


@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize("left", ["registers", "shared"])
def test_operands_of_group_products(rng: np.random.Generator, left: str, turn: int) -> None:
    dtype = (BF16, np.float16)[rng.integers(2)]
    copies = int(rng.integers(1, 3))
    tile = dict(
        BM=64 * copies * int(rng.integers(1, 3)), BN=int(rng.choice([32, 128])),
        BK=int(rng.choice([32, 64])), copies=copies,
    )  # fmt: skip
    m, n, k = rng.integers(1, 200), 8 * rng.integers(1, 25), 8 * rng.integers(1, 25)
    a, b = (rng.standard_normal((rows, k)).astype(dtype) for rows in (m, n))
    c = np.zeros((m, n), np.float32)
    options = HOPPER | tile | dict(left=left, right="shared", sums="registers")
    product.options(device="emu:sm_90a")(a, b, c, **options)
    reference = a.astype(np.float64) @ b.astype(np.float64).T
    assert np.linalg.norm(c - reference) < 1e-5 * np.linalg.norm(reference), (options, m, n, k)


def compile_for(chip: str, **options):
    a, c = np.zeros((256, 256), BF16), np.zeros((256, 256), np.float32)
    return product.compile(a, a, c, **(HOPPER | options), target=f"nvptx:{chip}")


def test_it_is_the_code_that_differs() -> None:
    unasked, shared, registers = (
        compile_for("sm_90a", left=left).asm for left in (None, "shared", "registers")
    )
    assert "ldmatrix" not in unasked and "ldmatrix" not in shared
    assert "ldmatrix" in registers


def refusal(chip: str, **options) -> str:
    with pytest.raises(kiln.CompileError) as refused:
        compile_for(chip, **options)
    return str(refused.value)


@pytest.mark.parametrize(
    "chip, options, line, message",
    [
        ("sm_90a", dict(left=None, right="registers"), "b.load", "read them from registers"),
        ("sm_90a", dict(left="shared", atom="mma_sync", flight=None), "a.load", "from shared"),
        ("sm_90a", dict(left=None, sums="tensor_memory"), "kiln.dot", "in tensor memory"),
        ("sm_100a", dict(left="registers", atom="tcgen05", BM=128), "a.load", "from registers"),
        ("sm_100a", dict(left=None, sums="registers", atom="tcgen05", BM=128), "kiln.dot", "in registers"),
    ],
)  # fmt: skip
def test_what_no_atom_does_is_refused(chip: str, options: dict, line: str, message: str) -> None:
    text = refusal(chip, **options)
    assert message in text and line in text, text
