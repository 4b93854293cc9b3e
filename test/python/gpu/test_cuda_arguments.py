"""What a launch is given, on a real GPU: None, lists, numbers on the device, addresses, and kernels
from files and other processes. Skipped where there is none; utils/gpu-test runs them."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys

from gpu_machine import torch

import kiln


@kiln.kernel
def blend(
    images: list[kiln.View], weights: tuple, out: kiln.View, alpha: kiln.f32,
    mask: kiln.View | None = None, B: kiln.constexpr = 256,
):  # fmt: skip
    i = kiln.grid(kiln.cdiv(out.shape[0], B))
    acc = kiln.zeros((B,), kiln.f32)
    for image, weight in zip(images, weights):
        acc += image.load(i * B, B) * weight
    if mask is not None:
        acc = acc * mask.load(i * B, B)
    out.store(i * B, acc * alpha)


def test_lists_optional_arrays_and_numbers_on_the_device() -> None:
    images = [torch.randn(1000, device="cuda") for _ in range(3)]
    out, mask = torch.zeros(1000, device="cuda"), torch.randn(1000, device="cuda")
    half = torch.tensor(0.5, device="cuda")  # a view that the kernel reads
    alpha = torch.tensor(2.0, device="cuda")  # a number that the host waits for
    for given in (None, mask):
        blend(images, (half, 1.0, 3.0), out, alpha, given)
        want = 2 * (images[0] * 0.5 + images[1] + images[2] * 3)
        torch.testing.assert_close(out, want if given is None else want * mask)


@kiln.kernel
def sums(addresses: kiln.View, out: kiln.View, n: kiln.i32):
    g = kiln.grid(addresses.shape[0])
    x = kiln.view(addresses[g], (n,), dtype=kiln.f32)
    total = kiln.zeros((64,), kiln.f32)
    for j in range(0, n, 64):
        total += x.load(j, 64)
    out[g] = kiln.sum(total)


def test_an_array_of_addresses() -> None:
    arrays = [torch.randn(777, device="cuda") for _ in range(5)]
    addresses = torch.tensor([a.data_ptr() for a in arrays], device="cuda")
    out = torch.zeros(5, device="cuda")
    sums(addresses, out, 777)
    torch.testing.assert_close(out, torch.stack([a.sum() for a in arrays]), rtol=1e-4, atol=1e-4)


def double_there(kernel) -> float:
    x, y = torch.arange(100.0, device="cuda"), torch.zeros(100, device="cuda")
    kernel([x], (2.0,), y, 1.0)
    return float(y[7])


def test_a_kernel_travels_to_a_spawned_worker() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(double_there, (blend,)) == 14.0


def test_a_kernel_of_a_file_runs_on_the_gpu(tmp_path) -> None:
    x, y = torch.randn(1000, device="cuda"), torch.zeros(1000, device="cuda")
    compiled = blend.compile([x], (3.0,), y, 1.0, target=kiln.device("cuda:0").target)
    compiled.save(tmp_path / "k.kiln")
    kiln.load(tmp_path / "k.kiln")([x], (3.0,), y, 1.0)
    torch.testing.assert_close(y, x * 3)
    command = [sys.executable, "-m", "kiln", "run", tmp_path / "k.kiln", "--device", "cuda:0",
               "--save", tmp_path / "out.npz"]  # fmt: skip
    subprocess.run(list(map(str, command)), check=True)
