"""Products of every type on the chip, by its matrix instructions, against float64."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_machine import torch
from product_kernels import assert_sums, batched, packed, packed_scaled, product, scaled

import kiln

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
SHAPES = [(128, 128, 64), (16, 32, 96), (64, 256, 128), (4, 8, 8)]
FORTH = [0, 0.5, 1, 1.5, 2, 3, 4, 6]  # the numbers of f4E2M1FN
F4 = np.array(FORTH + [-v for v in FORTH])


def wide(x: torch.Tensor) -> np.ndarray:
    return x.cpu().double().numpy() if x.is_floating_point() else x.cpu().numpy().astype(np.float64)


def multiply(a, b, c, precision="ieee"):
    (m, k), n = a.shape, b.shape[0]
    got = c.clone()
    product(a, b, got, M=m, N=n, K=k, TA=False, TB=True, P=precision)
    x, y, z = wide(a), wide(b), wide(c)
    return wide(got), x @ y.T + z, np.abs(x) @ np.abs(y).T + np.abs(z)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("types", [(E4M3, E4M3), (E5M2, E5M2), (E4M3, E5M2), (E5M2, E4M3)])
def test_f8(shape, types):
    m, n, k = shape
    a, b = (
        torch.randn(rows, k, device="cuda").to(t) for rows, t in zip((m, n), types, strict=True)
    )
    assert_sums(*multiply(a, b, torch.randn(m, n, device="cuda")), 2.0**-20)


@pytest.mark.parametrize("narrow", [E4M3, E5M2])
def test_every_f8_counts(narrow):
    a = torch.zeros(256, 32, dtype=torch.uint8)
    a[:, 3] = torch.arange(256, dtype=torch.uint8)
    b = torch.zeros(16, 32)
    b[:, 3] = 1
    got, want, _ = multiply(
        a.view(narrow).cuda(), b.to(narrow).cuda(), torch.zeros(256, 16, device="cuda")
    )
    assert np.array_equal(got, want, equal_nan=True)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("signs", ["ss", "su", "us", "uu"])
def test_bytes(shape, signs):
    m, n, k = shape
    a, b = (
        torch.randint(-128, 128, (rows, k), dtype=torch.int8, device="cuda")
        if sign == "s"
        else torch.randint(0, 256, (rows, k), dtype=torch.uint8, device="cuda")
        for rows, sign in zip((m, n), signs, strict=True)
    )
    c = torch.randint(-(1 << 31), (1 << 31) - 1, (m, n), dtype=torch.int32, device="cuda")
    got, want, _ = multiply(a, b, c)
    assert np.array_equal(got, want.astype(np.int64).astype(np.int32))


@pytest.mark.parametrize("kind", [kiln.i4, kiln.u4])
def test_nibbles(kind):
    m, n, k = 64, 32, 128
    a, b = (np.random.randint(0, 256, (rows, k // 2), np.uint8) for rows in (m, n))
    c = torch.zeros(m, n, dtype=torch.int32, device="cuda")
    packed(torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda(), c, M=m, N=n, K=k, T=kind)

    def unpack(x):
        both = np.stack([x & 15, x >> 4], -1).reshape(x.shape[0], -1).astype(np.int64)
        return np.where(both > 7, both - 16, both) if kind is kiln.i4 else both

    assert np.array_equal(c.cpu().numpy(), unpack(a) @ unpack(b).T)


@pytest.mark.parametrize("shape", SHAPES)
def test_tf32x3_is_near_f32(shape):
    m, n, k = shape
    a, b, c = (torch.randn(s, device="cuda") for s in ((m, k), (n, k), (m, n)))
    got, want, terms = multiply(a, b, c, "tf32x3")
    ieee = multiply(a, b, c)[0]
    print("tf32x3", np.max(np.abs(got - want) / terms), "ieee", np.max(np.abs(ieee - want) / terms))
    assert_sums(got, want, terms, 2.0**-20)
    assert_sums(ieee, want, terms, 2.0**-20)


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, E4M3, torch.int8])
@pytest.mark.parametrize(
    "shape", [(2, 32, 32, 32), (3, 16, 32, 32), (16, 64, 16, 32), (2, 4, 4, 4)]
)
@pytest.mark.parametrize("transposed", [False, True])
def test_batches(kind, shape, transposed):
    g, m, n, k = shape
    isint = kind is torch.int8
    a, b = (
        (torch.randn(s, device="cuda") * (40 if isint else 1)).to(kind)
        for s in ((g, m, k), (g, n, k) if transposed else (g, k, n))
    )
    c = torch.zeros(g, m, n, dtype=torch.int32 if isint else torch.float32, device="cuda")
    batched(a, b, c, G=g, M=m, N=n, K=k, TB=transposed)
    x, y = wide(a), wide(b)
    y = y.swapaxes(1, 2) if transposed else y
    assert_sums(wide(c), x @ y, np.abs(x) @ np.abs(y) + isint, 2.0**-20)


def scales_of(rows, k, block):
    if block == 16:
        s = (torch.rand(rows, k // 16) * 400 + 0.01).to(E4M3)
        return s, s.double().numpy()
    bits = torch.randint(118, 137, (rows, k // 32), dtype=torch.uint8)
    return bits.view(torch.float8_e8m0fnu), 2.0 ** (bits.double().numpy() - 127)


@pytest.mark.parametrize("kind", [E4M3, E5M2])
@pytest.mark.parametrize("transposed", [False, True])
def test_scaled(kind, transposed):
    m, n, k = 64, 32, 128
    a, b = torch.randn(m, k).to(kind), torch.randn(n, k).to(kind)
    (sa, x), (sb, y) = scales_of(m, k, 32), scales_of(n, k, 32)
    c = torch.zeros(m, n, device="cuda")
    given = b if transposed else b.view(torch.uint8).T.contiguous().view(kind)
    scaled(a.cuda(), sa.cuda(), given.cuda(), sb.cuda(), c, M=m, N=n, K=k, S=32, TB=transposed)
    x, y = wide(a) * np.repeat(x, 32, 1), wide(b) * np.repeat(y, 32, 1)
    assert_sums(wide(c), x @ y.T, np.abs(x) @ np.abs(y).T, 2.0**-20)


@pytest.mark.parametrize("block", [16, 32])
def test_scaled_f4(block):
    m, n, k = 64, 32, 128
    a, b = (np.random.randint(0, 256, (rows, k // 2), np.uint8) for rows in (m, n))
    (sa, x), (sb, y) = scales_of(m, k, block), scales_of(n, k, block)
    c = torch.zeros(m, n, device="cuda")
    packed_scaled(torch.from_numpy(a).cuda(), sa.cuda(), torch.from_numpy(b).cuda(), sb.cuda(), c,
                  M=m, N=n, K=k, S=block, T=kiln.f4e2m1fn)  # fmt: skip

    def unpack(v):
        return F4[np.stack([v & 15, v >> 4], -1).reshape(v.shape[0], -1)]

    x, y = unpack(a) * np.repeat(x, block, 1), unpack(b) * np.repeat(y, block, 1)
    assert_sums(wide(c), x @ y.T, np.abs(x) @ np.abs(y).T, 2.0**-20)
