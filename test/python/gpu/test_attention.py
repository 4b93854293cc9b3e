"""The pinned attention on a real GPU of its kind, against float64.

Skipped elsewhere; utils/gpu-test runs it. The emulated tests run the same source.
"""

from __future__ import annotations

import pytest
from gpu_machine import assert_same_bits, pinned_kernel, torch
from mlir_kernel import MLIRKernel

HEAD = 128


@pytest.fixture(scope="module")
def kernel() -> MLIRKernel:
    return pinned_kernel("attention.mlir")


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "heads, n", [(1, 128), (1, 40), (1, 1000), (3, 256), (16, 1024), (64, 2048), (2, 8192)]
)
def test_attention(kernel: MLIRKernel, heads: int, n: int, causal: bool) -> None:
    q, k, v = (torch.randn(heads, n, HEAD, device="cuda").bfloat16() for _ in range(3))
    out = torch.full((heads * n, HEAD), float("nan"), dtype=torch.bfloat16, device="cuda")
    kernel(*(x.reshape(-1, HEAD) for x in (q, k, v)), out, n, int(causal))
    worst = total = norm = 0.0
    for head in range(heads):  # one at a time: scores in f64 are large
        scores = q[head].double() @ k[head].double().T / HEAD**0.5
        if causal:
            scores = scores.masked_fill(scores.new_ones(n, n).tril() == 0, float("-inf"))
        want = scores.softmax(dim=1) @ v[head].double()
        difference = (out.view(heads, n, HEAD)[head].double() - want).abs()
        worst = max(worst, difference.max().item())
        total += difference.square().sum().item()
        norm += want.square().sum().item()
    assert total**0.5 <= 5e-3 * norm**0.5
    assert worst <= 0.1


def test_the_same_input_gives_the_same_bits(kernel: MLIRKernel) -> None:
    q, k, v = (torch.randn(8 * 1024, HEAD, device="cuda").bfloat16() for _ in range(3))

    def run() -> torch.Tensor:
        out = torch.empty_like(q)
        kernel(q, k, v, out, 1024, 1)
        return out

    assert_same_bits(run)
