"""PyTorch on this machine's GPU. Without one, what imports this is skipped; utils/gpu-test runs it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from mlir_kernel import MLIRKernel

torch = pytest.importorskip("torch", reason="PyTorch, which allocates on the GPU, is not installed")
if not torch.cuda.is_available():
    pytest.skip("this machine has no GPU that PyTorch can use", allow_module_level=True)

ROOT = Path(__file__).resolve().parents[3]
BENCHMARKS, EXAMPLES = ROOT / "benchmarks", ROOT / "examples"
sys.path[:0] = [str(BENCHMARKS), str(EXAMPLES)]


def pinned_kernel(name: str) -> MLIRKernel:
    """That of a text of benchmarks/, on the chip that its decisions are pinned to."""
    if torch.cuda.get_device_capability() != (9, 0):
        pytest.skip("the kernel is pinned to sm_90a")
    from mlir_kernel import MLIRKernel

    return MLIRKernel(BENCHMARKS / name)


def assert_same_bits(run: Callable[[], torch.Tensor]) -> None:
    """Whatever the order in which programs and warps run."""
    results = [run() for _ in range(20)]
    assert all(torch.equal(results[0], result) for result in results)
