"""kiln.ops on a real GPU, with tiles that the model chooses, against float64.

Skipped elsewhere; utils/gpu-test runs it. test/python/kernels has the same functions on the CPU and
on emulated chips, small.
"""

from __future__ import annotations

import pytest
from gpu_machine import assert_same_bits, torch

import kiln
from kiln import ops
from kiln.ops import epilogues

DEVICE = "cuda"


def drawn(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.randn(*shape, device=DEVICE).to(dtype)


def check(got: torch.Tensor, want: torch.Tensor, tolerance: float = 5e-3) -> None:
    """By norm, and the worst element by what numbers of that norm have on average."""
    difference = (got.double() - want).abs()
    assert difference.isfinite().all()
    assert difference.norm() <= tolerance * want.norm()
    assert difference.max() <= 64 * tolerance * want.norm() / want.numel() ** 0.5


@pytest.mark.parametrize("form", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize("sizes", [(512, 384, 1024), (16, 2048, 2048), (777, 333, 501)])
def test_matmul(form: str, sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    a = drawn(m, k) if form[0] == "N" else drawn(k, m)
    b = drawn(k, n) if form[1] == "N" else drawn(n, k)
    got = ops.matmul(a, b, transpose_a=form[0] == "T", transpose_b=form[1] == "T")
    left, right = a if form[0] == "N" else a.T, b if form[1] == "N" else b.T
    check(got, left.double() @ right.double())


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_a_batch(dtype: torch.dtype) -> None:
    a, b = drawn(3, 2, 200, 128, dtype=dtype), drawn(2, 128, 136, dtype=dtype)
    check(ops.matmul(a, b), a.double() @ b.double(), 1e-3 if dtype is torch.float16 else 1e-6)


def test_epilogues_have_the_same_bits_each_time() -> None:
    a, b, skip = drawn(600, 256), drawn(512, 256), drawn(600, 512)
    bias = drawn(512, dtype=torch.float32)
    rows, columns = torch.empty(600, device=DEVICE), torch.empty(512, device=DEVICE)
    steps = [
        epilogues.bias(bias), kiln.relu, epilogues.residual(skip), epilogues.row_reduction(rows, "max"),
        epilogues.column_reduction(columns),
    ]  # fmt: skip

    def run() -> torch.Tensor:
        got = ops.matmul(a, b, transpose_b=True, epilogue=steps, out_dtype=kiln.f32)
        return torch.cat([got.ravel(), rows, columns])

    want = (a.double() @ b.double().T + bias.double()).relu() + skip.double()
    got = run()
    check(got[: want.numel()].view_as(want), want, 1e-5)
    check(rows, want.max(dim=1).values, 1e-5)
    check(columns, want.sum(dim=0), 1e-5)
    assert_same_bits(run)


def test_f8_with_block_scales() -> None:
    a, b = (drawn(*s, dtype=torch.float8_e4m3fn) for s in ((300, 512), (384, 512)))
    scale_a, scale_b = (
        torch.rand(300, 4, device=DEVICE) + 0.5,
        torch.rand(3, 4, device=DEVICE) + 0.5,
    )
    got = ops.matmul(a, b, transpose_b=True, scale_a=scale_a, scale_b=scale_b, out_dtype=kiln.f32)
    left = a.double() * scale_a.double().repeat_interleave(128, 1)
    right = b.double() * scale_b.double().repeat_interleave(128, 0).repeat_interleave(128, 1)
    check(got, left @ right.T, 1e-3)


def attention(q, k, v, visible: torch.Tensor) -> torch.Tensor:
    group = q.shape[1] // k.shape[1]
    k, v = k.double().repeat_interleave(group, 1), v.double().repeat_interleave(group, 1)
    scores = q.double() @ k.mT / q.shape[3] ** 0.5
    return scores.masked_fill(~visible, float("-inf")).softmax(3) @ v


@pytest.mark.parametrize("d", [64, 80, 128, 256])
@pytest.mark.parametrize("window", [None, (100, 0)])
def test_attention(d: int, window: tuple[int, int] | None) -> None:
    q, k, v = drawn(2, 4, 500, d), drawn(2, 2, 700, d), drawn(2, 2, 700, d)
    distance = torch.arange(500, device=DEVICE)[:, None] + 200 - torch.arange(700, device=DEVICE)
    visible = (distance >= 0) & (distance <= (700 if window is None else window[0]))
    check(ops.attention(q, k, v, causal=True, window=window), attention(q, k, v, visible), 8e-3)


def test_attention_of_lengths() -> None:
    q, k, v = (drawn(3, 4, 300, 128) for _ in range(3))
    lengths = torch.tensor([300, 0, 77], device=DEVICE, dtype=torch.int32)
    got, lse = ops.attention(q, k, v, lengths=lengths, causal=True, return_lse=True)
    for i, n in enumerate(lengths.tolist()):
        if n:
            visible = torch.ones(n, n, device=DEVICE, dtype=torch.bool).tril()
            one = (x[i : i + 1, :, :n] for x in (q, k, v))
            check(got[i : i + 1, :, :n], attention(*one, visible), 8e-3)
        assert not got[i, :, n:].any() and lse[i, :, n:].isneginf().all()


@pytest.mark.parametrize("page", [None, 16, 64])
def test_decode(page: int | None) -> None:
    """Behind the lengths NaNs lie, and the table has no pages."""
    batch, heads, keys = 4, 2, 1024
    q, k, v = drawn(batch, 8, 128), drawn(batch, heads, keys, 128), drawn(batch, heads, keys, 128)
    many = [1024, 1, 500, 0]
    lengths = torch.tensor(many, device=DEVICE, dtype=torch.int32)
    visible = torch.arange(keys, device=DEVICE) < lengths[:, None, None, None]
    want = attention(q[:, :, None], k, v, visible)[:, :, 0].nan_to_num(0.0)
    for i, n in enumerate(many):
        k[i, :, n:] = v[i, :, n:] = float("nan")
    given = {}
    if page is not None:
        count = keys // page
        order = torch.randperm(batch * count, device=DEVICE)
        pages = []
        for x in (k, v):
            x = x.view(batch, heads, count, page, 128).transpose(1, 2).flatten(0, 1)
            pages.append(torch.empty_like(x))
            pages[-1][order] = x
        k, v = pages
        table = order.to(torch.int32).view(batch, count)
        for i, n in enumerate(many):
            table[i, kiln.cdiv(n, page) :] = -1
        given["block_table"] = table
    check(ops.decode(q, k, v, lengths=lengths, **given), want, 8e-3)


def test_grouped_matmul() -> None:
    counts = [130, 0, 5, 257, 64, 1]
    rows, groups = sum(counts), len(counts)
    x, w = drawn(300, 256), drawn(groups, 192, 256)
    gather = torch.randint(300, (rows,), device=DEVICE, dtype=torch.int32)
    scatter = torch.randperm(rows, device=DEVICE).to(torch.int32)
    offsets = torch.tensor([0, *counts], device=DEVICE).cumsum(0).to(torch.int32)
    out = torch.empty(rows, 192, device=DEVICE)
    ops.grouped_matmul(x, w, offsets, out, transpose_b=True, gather=gather, scatter=scatter)
    of = torch.repeat_interleave(torch.arange(groups), torch.tensor(counts)).to(DEVICE)
    want = torch.einsum("rk,rnk->rn", x[gather.long()].double(), w[of].double())
    check(out[scatter.long()], want, 1e-5)


@pytest.mark.parametrize("rows", [1, 16, 200])
def test_quantized_matmul(rows: int) -> None:
    numbers = torch.randint(16, (512, 1024), device=DEVICE, dtype=torch.uint8)
    packed = numbers[:, ::2] | numbers[:, 1::2] << 4
    scales = torch.rand(512, 8, device=DEVICE) * 0.1
    zeros = torch.randint(16, (512, 8), device=DEVICE, dtype=torch.uint8)
    a = drawn(rows, 1024)
    spread = [x.float().repeat_interleave(128, 1) for x in (zeros, scales)]
    weights = ((numbers.float() - spread[0]) * spread[1]).bfloat16()
    check(ops.quantized_matmul(a, packed, scales, zeros=zeros), a.double() @ weights.double().T)


@pytest.mark.parametrize("columns", [64, 4096, 5000])
def test_rows(columns: int) -> None:
    x, weight, bias = drawn(300, columns), drawn(columns), drawn(columns)
    y = x.double()
    check(ops.softmax(x), y.softmax(1))
    root = (y.square().mean(1, keepdim=True) + 1e-6).sqrt()
    check(ops.rms_norm(x, weight), y / root * weight.double())
    want = torch.nn.functional.layer_norm(y, (columns,), weight.double(), bias.double())
    check(ops.layer_norm(x, weight, bias), want)
