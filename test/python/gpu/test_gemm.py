"""The pinned matrix product on a real GPU of its kind, against float64.

Skipped elsewhere; utils/gpu-test runs it.
"""

from __future__ import annotations

import json

import pytest
from gpu_machine import BENCHMARKS, assert_same_bits, pinned_kernel, torch
from mlir_kernel import MLIRKernel
from pinned import compiled
from ring_kernels import write_beside_the_engine

from kiln.runtime.devices import device


@pytest.fixture(scope="module")
def kernel() -> MLIRKernel:
    return pinned_kernel("gemm.mlir")


def matrix(rows: int, columns: int, dtype=torch.bfloat16) -> torch.Tensor:
    """Random, with rows that begin at multiples of 16 bytes."""
    padded = (columns + 7) // 8 * 8
    return torch.randn(rows, padded, device="cuda").to(dtype)[:, :columns]


# Whole tiles; ragged along each dimension; less than one; K that is no multiple of the ring. N is
# a multiple of 8, for the engine writes 16 bytes at once.
SHAPES = [
    (128, 256, 64), (256, 512, 640), (4096, 4096, 512), (1000, 776, 333), (4097, 304, 2049),
    (1, 8, 1), (129, 264, 65), (100, 3000, 8), (2304, 2560, 448),
]  # fmt: skip


@pytest.mark.parametrize("m, n, k", SHAPES)
def test_product(kernel: MLIRKernel, m: int, n: int, k: int) -> None:
    check(kernel, m, n, k)


def check(kernel: MLIRKernel, m: int, n: int, k: int) -> None:
    a, b = matrix(m, k), matrix(n, k)
    c = torch.full((m, n + 64), float("nan"), dtype=torch.bfloat16, device="cuda")
    kernel(a, b, c[:, :n])
    reference = a.double() @ b.double().T
    difference = (c[:, :n].double() - reference).abs()
    norm = reference.norm()
    assert difference.norm() <= 4e-3 * norm
    assert difference.max() <= 0.04 * norm / reference.numel() ** 0.5
    assert c[:, n:].isnan().all(), "expected nothing to be written beyond the last column"


@pytest.fixture(scope="module")
def multistage(tmp_path_factory) -> MLIRKernel:
    """The product pinned to sm_80, whose rings are filled by cp.async, for this chip."""
    major, minor = torch.cuda.get_device_capability()
    if major < 8:
        pytest.skip("the kernel needs sm_80 or later")
    chip = f"sm_{major}{minor}" + ("a" if major >= 9 else "")
    path = tmp_path_factory.mktemp("multistage") / "gemm.mlir"
    source = (BENCHMARKS / "gemm-sm_80.mlir").read_text()
    path.write_text(source.replace('"sm_80"', f'"{chip}"'))
    return MLIRKernel(path)


@pytest.mark.parametrize("m, n, k", [*SHAPES, (300, 514, 66), (257, 30, 333)])
def test_product_by_asynchronous_copies(multistage: MLIRKernel, m: int, n: int, k: int) -> None:
    check(multistage, m, n, k)


def test_a_ring_of_asynchronous_copies_beside_one_of_the_engine() -> None:
    """Two kinds of rings in one kernel: cp.async by its own warps, a bias by tensor copies."""
    if torch.cuda.get_device_capability() != (9, 0):
        pytest.skip("the kernel is pinned to sm_90a")
    place = device("cuda:0")
    artifact = compiled(write_beside_the_engine("sm_90a").encode(), place.target)
    executable, name = place.load(artifact), json.loads(artifact.metadata)["kernel"]
    for m, n, k in [(64, 64, 256), (70, 33, 101), (1000, 776, 333), (2304, 2560, 448)]:
        a, b, bias = matrix(m, k), matrix(n, k), matrix(m, n, torch.float32)
        c = torch.empty(m, n, device="cuda")
        executable.launch(name, [a, b, c, bias], None)
        reference = a.double() @ b.double().T + bias.double()
        terms = a.double().abs() @ b.double().T.abs() + bias.double().abs()
        assert ((c.double() - reference).abs() <= 2.0**-18 * terms).all()


def test_the_same_input_gives_the_same_bits(kernel: MLIRKernel) -> None:
    a, b = matrix(1500, 1000), matrix(712, 1000)

    def run() -> torch.Tensor:
        c = torch.empty(1500, 712, dtype=torch.bfloat16, device="cuda")
        kernel(a, b, c)
        return c

    assert_same_bits(run)


def test_nothing_to_sum_is_zero(kernel: MLIRKernel) -> None:
    a, b = matrix(200, 8)[:, :0], matrix(296, 8)[:, :0]
    c = torch.full((200, 296), float("nan"), dtype=torch.bfloat16, device="cuda")
    kernel(a, b, c)
    assert (c == 0).all()


def test_an_empty_result(kernel: MLIRKernel) -> None:
    kernel(matrix(0, 64), matrix(128, 64), matrix(0, 128))
    torch.cuda.synchronize()


def test_misaligned_tensors_are_named(kernel: MLIRKernel) -> None:
    a, b, c = matrix(128, 64), matrix(256, 64), matrix(128, 256)
    with pytest.raises(ValueError, match="`a`: expected an address that is a multiple of 16"):
        kernel(torch.randn(128 * 64 + 1, device="cuda").bfloat16()[1:].view(128, 64), b, c)
    with pytest.raises(ValueError, match="`b`: expected a stride that is a multiple of 16 bytes"):
        kernel(a, torch.randn(256, 65, device="cuda").bfloat16()[:, :64], c)
    with pytest.raises(ValueError, match="`c`: expected an extent that is a multiple of 8"):
        kernel(a, matrix(255, 64), c[:, :255])


def test_no_spills(kernel: MLIRKernel) -> None:
    assert kernel.registers == 168
    assert kernel.local_bytes == 0
