"""Kernels on a real GPU, against float64. Skipped where there is none; utils/gpu-test runs them."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from chip_kernels import add, softmax
from gpu_machine import torch

import kiln

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
matmul = importlib.import_module("kernels").matmul  # the one that is measured
TOLERANCE = {"f32": 1e-6, "bf16": 6e-3, "f16": 8e-4}


@kiln.kernel
def moments(x: kiln.View, mean: kiln.View, spread: kiln.View, M: kiln.constexpr, N: kiln.constexpr):
    i = kiln.grid(kiln.cdiv(x.shape[0], M))
    t = x.load((i * M, 0), (M, N))
    m = kiln.sum(t, axis=1) / N
    mean.store((i * M,), m)
    centred = t - m[:, None]
    spread.store((i * M,), kiln.sqrt(kiln.sum(centred * centred, axis=1) / N))


def poisoned(*shape: int, dtype) -> torch.Tensor:
    return torch.full(shape, float("nan"), dtype=dtype, device="cuda")


def check(result: torch.Tensor, reference: np.ndarray, tolerance: float) -> None:
    torch.cuda.synchronize()
    got = result.to(torch.float64).cpu().numpy()
    norm = np.linalg.norm(reference.ravel())
    difference = np.abs(got - reference)
    assert np.linalg.norm(difference.ravel()) <= tolerance * norm
    assert difference.max() <= 32 * tolerance * norm / np.sqrt(reference.size)


def random(*shape: int, dtype) -> tuple[torch.Tensor, np.ndarray]:
    tensor = torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)
    return tensor, tensor.to(torch.float64).cpu().numpy()


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("size", [1, 1000, 4096, 1000003])
@pytest.mark.parametrize("shift", [0, 1])
def test_vector_add(name: str, size: int, shift: int) -> None:
    """A shift of one element takes the alignment away that wide accesses need."""
    x, x64 = random(size + shift, dtype=DTYPES[name])
    y, y64 = random(size + shift, dtype=DTYPES[name])
    z = poisoned(size + shift, dtype=DTYPES[name])
    add(x[shift:], y[shift:], z[shift:], B=1024)
    check(z[shift:], (x64 + y64)[shift:], TOLERANCE[name])
    assert torch.isnan(z[:shift]).all()


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (33, 781), (512, 1024)])
def test_softmax(name: str, shape: tuple[int, int]) -> None:
    x, x64 = random(*shape, dtype=DTYPES[name])
    y = poisoned(*shape, dtype=DTYPES[name])
    softmax(x, y, N=1 << (shape[1] - 1).bit_length())
    e = np.exp(x64 - x64.max(axis=1, keepdims=True))
    check(y, e / e.sum(axis=1, keepdims=True), TOLERANCE[name])


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("shape", [(64, 64, 32), (257, 130, 96), (512, 512, 512), (1, 200, 513)])
@pytest.mark.parametrize("layout", ["NN", "NT", "TN", "TT"])
def test_matmul(name: str, shape: tuple[int, int, int], layout: str) -> None:
    M, N, K = shape
    a, a64 = random(*((K, M) if layout[0] == "T" else (M, K)), dtype=DTYPES[name])
    b, b64 = random(*((N, K) if layout[1] == "T" else (K, N)), dtype=DTYPES[name])
    if layout[0] == "T":
        a, a64 = a.T, a64.T
    if layout[1] == "T":
        b, b64 = b.T, b64.T
    c = poisoned(M, N, dtype=DTYPES[name])
    matmul(a, b, c, BM=64, BN=64, BK=32)
    check(c, a64 @ b64, TOLERANCE[name])


@pytest.mark.parametrize("block", [(1, 1024), (4, 256), (16, 64), (64, 32)])
def test_row_reductions(block: tuple[int, int]) -> None:
    x, x64 = random(256, block[1], dtype=torch.float32)
    mean, spread = (poisoned(256, dtype=torch.float32) for _ in range(2))
    moments(x, mean, spread, M=block[0], N=block[1])
    check(mean, x64.mean(axis=1), 1e-5)
    check(spread, x64.std(axis=1), 1e-6)


def test_a_stream_orders_the_launch() -> None:
    """A launch on a side stream sees what that stream did before."""
    stream = torch.cuda.Stream()
    x = torch.zeros(1 << 20, device="cuda")
    z = torch.empty_like(x)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)
        x += 1
        add(x, x, z, B=1024)
    stream.synchronize()
    assert (z == 2).all()


def test_a_stream_can_be_named() -> None:
    stream = torch.cuda.Stream()
    x = torch.randn(1 << 20, device="cuda")
    z = torch.empty_like(x)
    torch.cuda.synchronize()
    add(x, x, z, B=1024, _stream=stream)
    stream.synchronize()
    assert torch.equal(z, x + x)


def test_an_empty_grid_launches_nothing() -> None:
    empty = torch.empty(0, device="cuda")
    add(empty, empty, empty, B=1024)
    torch.cuda.synchronize()


def test_memory_of_the_host_does_not_mix_in() -> None:
    x = torch.zeros(16, device="cuda")
    with pytest.raises(kiln.LaunchError, match=r"kernel `add`, argument `y`: expected .*reach"):
        add(x, np.zeros(16, np.float32), x, B=16)


def test_tuning_waits_for_the_device() -> None:
    @kiln.autotune(key=["x"], restore=["y"], seconds=0.002)
    @kiln.kernel
    def accumulate(x: kiln.View, y: kiln.View, B: kiln.tunable = kiln.tunable(128, 256)):
        i = kiln.grid(kiln.cdiv(x.shape[0], B))
        y.store((i * B,), y.load((i * B,), (B,)) + x.load((i * B,), (B,)))

    x = torch.randn(1000, device="cuda")
    y = torch.zeros_like(x)
    accumulate(x, y)
    torch.cuda.synchronize()
    assert torch.equal(y, x)
    assert accumulate.records[0]["device"] != "cpu"
