"""What works along rows, of tiles whose rows copies of a role share out: each copy has whole rows. And
what changes which rows there are, in front of another role or behind it."""

from __future__ import annotations

import numpy as np
import pytest

import kiln


@kiln.kernel
def rows(
    a: kiln.View, c: kiln.View, M: kiln.constexpr, N: kiln.constexpr, copies: kiln.constexpr,
    axis: kiln.constexpr, what: kiln.constexpr, beside: kiln.constexpr = False,
):  # fmt: skip
    """Stored by the role that works, or another."""
    kiln.grid(1)
    work = kiln.role("work", warps=4, copies=copies)
    kiln.pin(roles=(work, kiln.role("out", warps=4)) if beside else work)
    t = kiln.pin(a.load((0, 0), (M, N)), role="work")
    if what == "sort":
        r = kiln.sort(t, axis=axis)
    elif what == "top":
        r = kiln.topk(t, 8, axis=axis)[0]
    else:
        r = kiln.flip(t, axis=axis)
    kiln.pin(c.store((0, 0), kiln.pin(r, role="work")), role="out" if beside else "work")


def expect(what: str, a: np.ndarray) -> np.ndarray:
    ordered = np.sort(a, 1)
    return {"sort": ordered, "top": ordered[:, :-9:-1], "flip": a[:, ::-1]}[what]


@pytest.mark.parametrize("what", ["sort", "top", "flip"])
@pytest.mark.parametrize("M, N, copies", [(64, 32, 2), (64, 24, 2), (128, 16, 4), (64, 64, 1)])
@pytest.mark.parametrize("chip, beside", [("sm_90a", False), ("sm_90a", True), ("gfx950", False)])
def test_each_copy_has_its_rows(rng, chip, beside, M, N, copies, what) -> None:
    a = rng.permuted(np.tile(np.arange(N, dtype=np.float32), (M, 1)), axis=1)
    want = expect(what, a)
    c = np.full(want.shape, np.nan, np.float32)
    rows.options(device=f"emu:{chip}")(
        a, c, M=M, N=N, copies=copies, axis=1, what=what, beside=beside
    )
    np.testing.assert_array_equal(c, want)


def test_along_what_is_shared_out_no_copy_has_all() -> None:
    a = np.zeros((64, 32), np.float32)
    message = (
        r"'tile\.sort' op expected a tensor that the copies of role \"work\" do not share out, "
        r"got 'tensor<64x32xf32>'"
    )
    with pytest.raises(kiln.CompileError, match=message) as refused:
        rows.compile(a, a, M=64, N=32, copies=2, axis=0, what="sort", target="nvptx:sm_90a")
    assert "test_sorted_copies.py" in str(refused.value)


@kiln.kernel
def turned(
    a: kiln.View, c: kiln.View, M: kiln.constexpr, N: kiln.constexpr, shape: kiln.constexpr,
    copies: kiln.constexpr, storing: kiln.constexpr, where: kiln.constexpr,
):  # fmt: skip
    kiln.grid(1)
    work = kiln.role("work", warps=4, copies=copies)
    kiln.pin(roles=(work, kiln.role("out", warps=4, copies=storing)))
    t = kiln.pin(a.load((0, 0), (M, N)), role="work")
    t = kiln.pin(t + t, role="work")
    r = kiln.pin(t.T.reshape(shape), role=where)
    kiln.pin(c.store((0, 0), kiln.pin(r + 1, role="out")), role="out")


@pytest.mark.parametrize("shape", [(16, 128), (64, 32), (1, 2048)])
@pytest.mark.parametrize(
    "copies, storing, where",
    [
        (1, 1, "work"),
        (1, 2, "work"),
        (1, 2, "out"),
        (2, 1, "work"),
        (2, 2, "work"),
        (2, 1, "out"),
        (3, 1, "work"),
        (3, 1, "out"),
    ],
)
def test_rows_that_become_others(rng, shape, copies, storing, where) -> None:
    """Copies take what they have of them from one another."""
    a = rng.integers(-9, 10, (64, 32)).astype(np.float32)
    c = np.full(shape, np.nan, np.float32)
    turned.options(device="emu:sm_90a")(a, c, 64, 32, shape, copies, storing, where)
    np.testing.assert_array_equal(c, 2 * a.T.reshape(shape) + 1)
