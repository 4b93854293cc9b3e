"""What is made of a product before it is stored, with sums that fill half of a thread's registers:
a bias, an activation, a residual. On emulated chips, against float64."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from cubin import ASSEMBLER

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def layer(
    a: kiln.View, b: kiln.View, bias: kiln.View, residual: kiln.View, c: kiln.View,
    ACTIVATION: kiln.constexpr, RESIDUAL: kiln.constexpr,
    BM: kiln.constexpr = 128, BN: kiln.constexpr = 256, BK: kiln.constexpr = 64,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, a.shape[1], BK):
        x, y = a.load((i * BM, k), (BM, BK)), b.load((j * BN, k), (BN, BK))
        acc = kiln.dot(x, y, acc, transpose_b=True)
    x = acc + bias.load((j * BN,), (BN,)).to(kiln.f32)[None, :]
    if ACTIVATION == "silu":
        x = x / (1.0 + kiln.exp(-x))
    if ACTIVATION == "gelu":
        x = 0.5 * x * (1.0 + kiln.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))
    if RESIDUAL:
        x = x + residual.load((i * BM, j * BN), (BM, BN)).to(kiln.f32)
    c.store((i * BM, j * BN), x.to(c.dtype))


def activate(x: np.ndarray, activation: str) -> np.ndarray:
    if activation == "silu":
        return x / (1 + np.exp(-x))
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("activation", ["silu", "gelu"])
@pytest.mark.parametrize("chip", ["sm_90a", "sm_100a", "gfx950"])
def test_epilogues(rng: np.random.Generator, chip: str, activation: str, residual: bool) -> None:
    m, n, k = (int(rng.integers(1, 40)) * 8 for _ in "mnk")
    a, b, bias, more = (
        rng.standard_normal(shape).astype(BF16) for shape in ((m, k), (n, k), (n,), (m, n))
    )
    c = np.zeros((m, n), BF16)
    run = layer.options(device=f"emu:{chip}")
    run(a, b, bias, more, c, ACTIVATION=activation, RESIDUAL=residual)
    a, b, bias, more = (x.astype(np.float64) for x in (a, b, bias, more))
    reference = activate(a @ b.T + bias, activation) + (more if residual else 0)
    error = np.abs(c.astype(np.float64) - reference)
    assert np.linalg.norm(error) <= 4e-3 * np.linalg.norm(reference)
    assert error.max() <= 2**-8 * np.abs(reference).max() + 1e-3


@kiln.kernel
def gated(
    a: kiln.View, b: kiln.View, gate: kiln.View, residual: kiln.View, c: kiln.View,
    HOW: kiln.constexpr, BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr = 64,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, a.shape[1], BK):
        x, y = a.load((i * BM, k), (BM, BK)), b.load((j * BN, k), (BN, BK))
        acc = kiln.dot(x, y, acc, transpose_b=True)
    g = gate.load((i * BM, j * BN), (BM, BN))
    r = residual.load((i * BM, j * BN), (BM, BN))
    if HOW == "added":
        acc = acc + r.to(kiln.f32)
    if HOW == "scaled":
        acc = acc * g.to(kiln.f32) + r.to(kiln.f32)
    if HOW == "masked":
        acc = kiln.where(g.to(kiln.f32) > 0.0, acc, r.to(kiln.f32))
    if HOW == "product":
        acc = acc + g.to(kiln.f32) * r.to(kiln.f32)
    c.store((i * BM, j * BN), acc.to(c.dtype))


TILES = [(128, 256), (128, 128), (64, 192)]
LOADED = [BF16, np.float16, np.float32, np.int8, ml_dtypes.float8_e4m3fn]


def matrix(
    rng: np.random.Generator, shape: tuple[int, int], dtype: type, turned: bool
) -> np.ndarray:
    made = rng.integers(-3, 4, shape[:: -1 if turned else 1]).astype(dtype)
    return made.T if turned else made


@pytest.mark.parametrize("how", ["scaled", "masked", "product"])
@pytest.mark.parametrize("chip", ["sm_90a", "sm_100a", "sm_80", "gfx942", "gfx950"])
def test_tiles_that_are_loaded_behind_a_loop(rng: np.random.Generator, chip: str, how: str) -> None:
    """Of any types and in any order of memory; the same array may be read and written."""
    for _ in range(2):
        step = int(rng.choice([1, 8, 16]))
        m, n = (int(rng.integers(1, 320 // step)) * step for _ in "mn")
        k = int(rng.integers(1, 16)) * 8
        tile = TILES[rng.integers(len(TILES))]
        types = [LOADED[rng.integers(len(LOADED))] for _ in range(2)]
        turned = [bool(rng.integers(2)) for _ in range(2)]
        a, b = (rng.standard_normal(shape).astype(BF16) for shape in ((m, k), (n, k)))
        gate, residual = (matrix(rng, (m, n), *of) for of in zip(types, turned, strict=True))
        in_place = types[1] in (BF16, np.float32) and not turned[1] and bool(rng.integers(2))
        wide = [x.astype(np.float64) for x in (a, b, gate, residual)]
        c = residual if in_place else np.zeros((m, n), (BF16, np.float32)[rng.integers(2)])
        run = gated.options(device=f"emu:{chip}")
        run(a, b, gate, residual, c, HOW=how, BM=tile[0], BN=tile[1])
        sums = wide[0] @ wide[1].T
        reference = {
            "scaled": sums * wide[2] + wide[3], "masked": np.where(wide[2] > 0, sums, wide[3]),
            "product": sums + wide[2] * wide[3],
        }[how]  # fmt: skip
        error = np.linalg.norm(c.astype(np.float64) - reference)
        case = (m, n, k, tile, types, turned, in_place, c.dtype)
        assert error <= 4e-3 * np.linalg.norm(reference) + 1e-6, case


@pytest.mark.parametrize("turned", [(True, False), (False, True)])
@pytest.mark.parametrize("types", [(np.int8, BF16), (BF16, np.float32), (np.float32, np.int8)])
def test_what_no_exchange_has_room_for_is_loaded_as_it_is_used(rng, types, turned) -> None:
    """The gate times the residual, in f32, would be an exchange of twice a gfx942's shared memory."""
    m, n, k = (int(rng.integers(1, 300)), int(rng.integers(1, 300)), 64)
    a, b = (rng.standard_normal(shape).astype(BF16) for shape in ((m, k), (n, k)))
    gate, residual = (matrix(rng, (m, n), *of) for of in zip(types, turned, strict=True))
    c = np.zeros((m, n), np.float32)
    gated.options(device="emu:gfx942")(a, b, gate, residual, c, HOW="product", BM=128, BN=256)
    wide = [x.astype(np.float64) for x in (a, b, gate, residual)]
    want = wide[0] @ wide[1].T + wide[2] * wide[3]
    assert np.linalg.norm(c - want) <= 1e-5 * np.linalg.norm(want)


@kiln.kernel
def keys_and_values(
    q: kiln.View, k: kiln.View, v: kiln.View, do: kiln.View, lse: kiln.View, delta: kiln.View,
    dk: kiln.View, dv: kiln.View, D: kiln.constexpr = 128, BM: kiln.constexpr = 64,
    BN: kiln.constexpr = 128, WARPS: kiln.constexpr = 0,
):  # fmt: skip
    """Their gradients in attention's backward pass, of scores that count as powers of two."""
    j, h = kiln.grid(kiln.cdiv(k.shape[1], BN), k.shape[0])
    if WARPS:
        kiln.pin(warps=WARPS)
    keys, values = k[h].load((j * BN, 0), (BN, D)), v[h].load((j * BN, 0), (BN, D))
    to_keys, to_values = kiln.zeros((BN, D), kiln.f32), kiln.zeros((BN, D), kiln.f32)
    for i in range(0, q.shape[1], BM):
        queries, slopes = q[h].load((i, 0), (BM, D)), do[h].load((i, 0), (BM, D))
        weights = kiln.exp2(
            kiln.dot(keys, queries, transpose_b=True) - lse[h].load((i,), (BM,))[None, :]
        )
        to_values = kiln.dot(weights.to(do.dtype), slopes, to_values)
        change = kiln.dot(values, slopes, transpose_b=True) - delta[h].load((i,), (BM,))[None, :]
        to_keys = kiln.dot((weights * change).to(q.dtype), queries, to_keys)
    dk[h].store((j * BN, 0), to_keys.to(dk.dtype))
    dv[h].store((j * BN, 0), to_values.to(dv.dtype))


def test_gradients_of_keys_and_values(rng: np.random.Generator) -> None:
    heads, n, d = 2, 128 * int(rng.integers(1, 3)), 128
    q, k, v, do = ((0.2 * rng.standard_normal((heads, n, d))).astype(BF16) for _ in range(4))
    wide = [x.astype(np.float64) for x in (q, k, v, do)]
    scores = wide[0] @ wide[1].transpose(0, 2, 1)
    lse = np.log2(np.exp2(scores).sum(axis=2)).astype(np.float32)
    weights = np.exp2(scores - lse.astype(np.float64)[:, :, None])
    slopes = wide[3] @ wide[2].transpose(0, 2, 1)
    delta = (weights * slopes).sum(axis=2).astype(np.float32)
    change = weights * (slopes - delta.astype(np.float64)[:, :, None])
    dk, dv = np.zeros((heads, n, d), np.float32), np.zeros((heads, n, d), np.float32)
    keys_and_values.options(device="emu:sm_90a")(q, k, v, do, lse, delta, dk, dv)
    for ours, reference in (
        (dk, change.transpose(0, 2, 1) @ wide[0]), (dv, weights.transpose(0, 2, 1) @ wide[3])
    ):  # fmt: skip
        assert np.linalg.norm(ours - reference) <= 1e-2 * np.linalg.norm(reference)


def assemble(kernel: str, *args: str, **constants: object) -> dict:
    """What the assembler says of a kernel here, whose process starts with it."""
    code = (
        f"import json, numpy as np; from test_epilogues import *; c = {kernel}.compile("
        f"{', '.join(args)}, target='nvptx:sm_90a', **{constants!r}); "
        "print(json.dumps({name: c.metadata.get(name) for name in ('proposal', 'registers', "
        "'local_bytes', 'shared_bytes')} | {'wgmma': 'wgmma' in c.asm, 'told': '.minnctapersm 1' in c.asm}))"
    )
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env=os.environ | {"KILN_ASSEMBLER": str(ASSEMBLER), "PYTHONPATH": path},
    )  # fmt: skip
    return json.loads(ran.stdout)


needs_assembler = pytest.mark.skipif(not ASSEMBLER.exists(), reason=f"needs {ASSEMBLER}")


@needs_assembler
@pytest.mark.parametrize("activation", ["silu", "gelu"])
def test_wide_sums_leave_room_for_activations(activation: str) -> None:
    """They are made of a box at a time: of all sums at once they fill a thread's registers, and
    products by four warps take the place of those that run beside theirs."""
    matrix, line = "np.zeros((512, 512), BF16)", "np.zeros(512, BF16)"
    told = assemble(
        "layer", matrix, matrix, line, matrix, matrix, ACTIVATION=activation, RESIDUAL=False
    )
    assert told["proposal"] == 0 and told["wgmma"] and told["local_bytes"] <= 256, told


SLOTS, BOXES = 4 * 49152, 2 * 16384


@needs_assembler
@pytest.mark.parametrize("dtype", ["BF16", "np.float32"])
def test_a_residual_leaves_the_ring_its_slots(dtype: str) -> None:
    """It is loaded near the layout of the sums, some boxes at a time if it is wide: shared memory has four
    slots and what stores go through, and nothing is spilled."""
    matrix, residual = "np.zeros((512, 512), BF16)", f"np.zeros((512, 512), {dtype})"
    told = assemble("gated", matrix, matrix, matrix, residual, matrix, HOW="added", BM=128, BN=256)
    assert told["proposal"] == 0 and told["wgmma"] and told["local_bytes"] == 0, told
    assert told["shared_bytes"] >= SLOTS + BOXES, told


@needs_assembler
@pytest.mark.parametrize("how", ["scaled", "masked"])
def test_so_do_two_tiles(how: str) -> None:
    matrix = "np.zeros((512, 512), BF16)"
    told = assemble("gated", *[matrix] * 5, HOW=how, BM=128, BN=256)
    assert told["proposal"] == 0 and told["wgmma"] and told["local_bytes"] <= 32, told
    assert told["shared_bytes"] >= SLOTS + BOXES, told


@needs_assembler
@pytest.mark.parametrize("activation", ["", "silu"])
def test_so_does_a_layer(activation: str) -> None:
    """A few words are let pass, as where the compile chooses among proposals."""
    matrix, line = "np.zeros((512, 512), BF16)", "np.zeros(512, BF16)"
    told = assemble(
        "layer", matrix, matrix, line, matrix, matrix, ACTIVATION=activation, RESIDUAL=True
    )
    assert told["proposal"] == 0 and told["wgmma"] and told["local_bytes"] <= 32, told
    assert told["shared_bytes"] >= SLOTS + BOXES, told


GRADIENTS = ["np.zeros((2, 256, 128), BF16)"] * 4 + ["np.zeros((2, 256), np.float32)"] * 2
GRADIENTS += GRADIENTS[:2]


@needs_assembler
def test_gradients_have_registers() -> None:
    """Not all of their four sums live at once: two roles have registers for them."""
    told = assemble("keys_and_values", *GRADIENTS)
    assert told["proposal"] == 0 and told["wgmma"] and told["local_bytes"] == 0, told


@needs_assembler
def test_registers_are_there_before_local_memory() -> None:
    """Of its own accord ptxas 13.0 gives this kernel 32 registers and kilobytes of local memory."""
    told = assemble("keys_and_values", *GRADIENTS, BM=64, BN=32, WARPS=2)
    assert told["registers"] > 128, told


@kiln.kernel
def cuts(a: kiln.View, b: kiln.View, d: kiln.View, HOW: kiln.constexpr, COPIES: kiln.constexpr):
    """Stores slices of what is made of a role's sums, as an author cuts them."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=COPIES)))
    M = 64 * COPIES
    acc = kiln.zeros((M, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=2):
        x = kiln.pin(a.load((0, k), (M, 64)), role="load", stage=0, order=0, atom="tma")
        y = kiln.pin(b.load((0, k), (64, 64)), role="load", stage=0, order=1, atom="tma")
        dot = kiln.dot(x, y, acc, transpose_b=True)
        acc = kiln.pin(dot, role="mma", stage=0, order=0, in_flight=1, atom="wgmma")
    if HOW == "reshape":
        e = acc[:, None, :]
        d.store((0, 0, 0), e[:, :, 0:16])
        d.store((0, 0, 16), e[:, :, 16:48])
        d.store((0, 0, 48), e[:, :, 48:64])
    else:
        e = acc * acc + acc
        if HOW == "rows":
            e = kiln.broadcast_to(kiln.sum(acc, axis=1)[:, None], (M, 64))
        d.store((0, 0), e[:, 0:32])
        d.store((0, 32), e[:, 32:64])


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("how", ["reshape", "rows", "elements"])
def test_slices_that_other_threads_have(rng: np.random.Generator, how: str, copies: int) -> None:
    """A slice may be laid out in any way: it is made of the whole then, and not of other slices."""
    a = rng.standard_normal((64 * copies, 128)).astype(BF16)
    b = rng.standard_normal((64, 128)).astype(BF16)
    sums = a.astype(np.float64) @ b.astype(np.float64).T
    reference = {
        "reshape": sums[:, None], "elements": sums * sums + sums,
        "rows": np.broadcast_to(sums.sum(axis=1, keepdims=True), sums.shape),
    }[how]  # fmt: skip
    d = np.zeros(reference.shape, np.float32)
    cuts.options(device="emu:sm_90a")(a, b, d, HOW=how, COPIES=copies)
    assert np.linalg.norm(d - reference) <= 1e-5 * np.linalg.norm(reference)
