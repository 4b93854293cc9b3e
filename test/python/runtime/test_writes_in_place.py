"""Frameworks hear of what a kernel writes: PyTorch counts it and refuses what it would refuse of its
own operations, JAX's arrays are never written. What a kernel only reads is nobody's concern."""

import importlib.util

import numpy as np
import pytest
from runtime_kernels import accumulate, add, copy

import kiln

torch = pytest.importorskip("torch")


def test_what_autograd_saved_is_noticed(rng) -> None:
    for _ in range(2):  # the first launch compiles, the second does not
        x = torch.from_numpy(rng.standard_normal(64, dtype=np.float32)).requires_grad_()
        saved = x.detach() * 2
        loss = (x * saved).sum()
        before = saved._version
        copy(torch.zeros(64), saved)
        assert saved._version == before + 1
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()


def test_views_and_their_base_count_together(rng) -> None:
    base = torch.zeros(4, 64)
    before = base._version
    copy(torch.ones(64), base[1])
    assert base._version == before + 1 and base[1].sum() == 64 and base.sum() == 64


def test_what_is_only_read_is_not_counted() -> None:
    x, y = torch.ones(64), torch.zeros(64)
    leaf = torch.ones(64, requires_grad=True)
    for _ in range(2):
        counts = x._version, leaf._version
        add(x, leaf, y)
        assert (x._version, leaf._version) == counts
    assert torch.equal(y, x + leaf.detach())


@pytest.mark.parametrize("of", ["a leaf", "a view of a leaf"])
def test_leaves_that_require_grad_are_refused(of: str) -> None:
    leaf = torch.zeros(64, requires_grad=True)
    out = leaf if of == "a leaf" else leaf[:]
    for _ in range(2):
        with pytest.raises(
            kiln.LaunchError,
            match=rf"kernel `copy`, argument `y`: .*{of} Variable that requires grad is being used "
            r"in an in-place operation.*detach\(\).*no_grad",
        ):
            copy(torch.ones(64), out)
        assert leaf.sum() == 0 and leaf._version == 0
    with torch.no_grad():
        copy(torch.ones(64), leaf)
    assert leaf.sum() == 64 and leaf._version == 1
    copy(torch.zeros(64), leaf.detach())
    assert leaf.sum() == 0


def test_results_of_operations_may_be_written() -> None:
    x = torch.ones(64, requires_grad=True)
    y = x * 2
    copy(torch.zeros(64), y)
    assert y.sum() == 0 and y._version == 1
    accumulate(torch.ones(64), y)
    assert y.sum() == 64 and y._version == 2


def test_tensors_of_inference_mode() -> None:
    with torch.inference_mode():
        out = torch.zeros(64)
        copy(torch.ones(64), out)
        assert out.sum() == 64


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
def test_tensors_with_the_negative_bit_are_refused_however_they_lie(dtype: str) -> None:
    x = torch._neg_view(torch.ones(64, dtype=getattr(torch, dtype)))
    out = torch.zeros(64, dtype=x.dtype)
    with pytest.raises(kiln.LaunchError, match=r"argument `x`: expected .*negated.*resolve_neg"):
        copy(x, out)
    with pytest.raises(kiln.LaunchError, match=r"argument `y`: expected .*negated.*resolve_neg"):
        copy(out, x)
    copy(x.resolve_neg(), out)
    assert torch.equal(out, -torch.ones(64, dtype=x.dtype))


def test_conjugates_are_refused() -> None:
    x = torch.ones(64, dtype=torch.complex64).conj()
    with pytest.raises(kiln.LaunchError, match=r"kernel `copy`, argument `x`: expected"):
        copy(x, torch.zeros(64))


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")
def test_arrays_of_jax_are_read_and_never_written(python) -> None:
    lines = python("""
import jax.numpy as jnp, kiln, numpy as np
from runtime_kernels import copy
x, out = jnp.arange(64, dtype=jnp.float32), np.zeros(64, np.float32)
for _ in range(2):
    copy(x, out)
    print(np.array_equal(out, x))
    try:
        copy(np.ones(64, np.float32), x)
    except kiln.LaunchError as error:
        print(error)
    print(x[3])
""")
    assert lines[0] == lines[3] == "True" and lines[2] == lines[5] == "3.0"
    assert (
        lines[1]
        == lines[4]
        == (
            "kernel `copy`, argument `y`: expected an array that may be written, since the kernel "
            "stores to it, got a read-only one (JAX's arrays always are)"
        )
    )
