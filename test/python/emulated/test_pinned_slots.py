"""What lies in slots, pinned from Python: the order of a tile there, the instruction that reads it, by
how many slots a tensor is handed over, and how many boxes a thread holds. On emulated chips, against
float64; another decision is other code, or refused."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
SWIZZLED = "offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0],[32,0]]"
ROWS = "offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,0],[4,0],[8,0],[16,0],[32,0]]"
# Rows whose pieces of 16 bytes lie apart; and rows of which the last 32 begin at odd places.
PIECES_APART = "offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,4],[2,2],[4,0],[8,0],[16,0],[32,0]]"
ODD_ROWS = "offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,0],[4,0],[8,0],[16,0],[32,1]]"
COLUMNS = "offset = [[1,0],[2,0],[4,0],[8,0],[16,0],[32,0],[0,1],[0,2],[0,4],[0,8],[0,16]]"
COPIES = {
    "sm_80": "cp_async", "sm_90a": "tma", "gfx942": "load_to_lds", "gfx950": "load_to_lds",
    "gfx1201": "through_registers",
}  # fmt: skip


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View, atom: kiln.constexpr, order: kiln.constexpr,
    reader: kiln.constexpr,
):  # fmt: skip
    kiln.grid(1)
    if atom == "tma":
        kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    else:
        kiln.pin(roles=kiln.role("mma", warps=4))
    role = "load" if atom == "tma" else "mma"
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=2):
        x = kiln.pin(a.load((0, k), (64, 32)), atom=atom, role=role)
        y = kiln.pin(b.load((0, k), (64, 32)), atom=atom, role=role)
        if order is not None:
            kiln.pin(x, buffer=order)
        if reader is not None:
            kiln.pin(x, read_atom=reader)
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), role="mma")
    kiln.pin(c.store((0, 0), acc), role="mma")


def run(rng, chip: str, order: str | None, reader: str | None = None) -> None:
    a, b = (rng.standard_normal((64, 128)).astype(BF16) for _ in "ab")
    c = np.zeros((64, 64), np.float32)
    product.options(device=f"emu:{chip}")(a, b, c, COPIES[chip], order, reader)
    reference = a.astype(np.float64) @ b.astype(np.float64).T
    assert np.abs(c - reference).max() <= 1e-3


@pytest.mark.parametrize("chip", COPIES)
@pytest.mark.parametrize("order", [None, SWIZZLED, ROWS], ids=["decided", "swizzled", "rows"])
def test_orders_of_slots(rng, chip: str, order: str | None) -> None:
    run(rng, chip, order)


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
def test_instructions_that_read_slots(rng, chip: str) -> None:
    run(rng, chip, SWIZZLED, "#nvptx.ldmatrix<4, 16>")


def code(target: str, order: str | None, reader: str | None = None) -> str:
    a = np.zeros((64, 128), BF16)
    atom = COPIES[target.partition(":")[2]]
    return product.compile(
        a, a, np.zeros((64, 64), np.float32), atom, order, reader, target=target
    ).asm


@pytest.mark.parametrize("target", ["nvptx:sm_80", "amdgpu:gfx942", "amdgpu:gfx1201"])
def test_another_order_is_other_code(target: str) -> None:
    assert code(target, ROWS) != code(target, SWIZZLED)


@pytest.mark.parametrize(
    "target, order, reader, message",
    [
        ("nvptx:sm_90a", COLUMNS, None, "expected 'buffer' to lie as #nvptx.tma fills it, got"),
        ("amdgpu:gfx942", ROWS, "#nvptx.ldmatrix<4, 16>",
         "expected 'read_atom' to be an instruction of amdgpu:gfx942"),
        ("nvptx:sm_80", SWIZZLED, "#nvptx.tma", "read_atom"),
        ("nvptx:sm_80", "offset = [[0,1]]", None, "expected"),
        ("nvptx:sm_80", PIECES_APART, None, "expected 'buffer' to lie as #nvptx.cp_async<16> fills"),
        ("amdgpu:gfx942", ODD_ROWS, None, "expected 'buffer' to lie as #amdgcn.load_to_lds"),
    ],
)  # fmt: skip
def test_orders_and_instructions_that_do_not_fit(target, order, reader, message: str) -> None:
    with pytest.raises(kiln.CompileError, match=re.escape(message)):
        code(target, order, reader)


@pytest.mark.parametrize(
    "order, reader",
    [(None, "#nvptx.ldmatrix<what>"), (None, "#nowhere.reader"), ("offset = [[0,1],[1]]", None)],
)
def test_text_that_does_not_parse_is_told_where_it_is_written(order, reader) -> None:
    with pytest.raises(kiln.CompileError) as caught:
        code("nvptx:sm_80", order, reader)
    assert "x = kiln.pin(a.load((0, k), (64, 32)), atom=atom, role=role)" in str(caught.value)


@kiln.kernel
def summed(a: kiln.View, c: kiln.View, order: kiln.constexpr, name: kiln.constexpr):
    kiln.grid(1)
    kiln.pin(roles=kiln.role(name, warps=4))
    x = a.load((0, 0), (64, 64)).to(kiln.f32)
    s = kiln.cumsum(x, axis=1)
    if order:
        kiln.pin(s, layout=order)
    c.store((0, 0), s)


@pytest.mark.parametrize(
    "order, name, line",
    [("register = [[0,1],[1]]", "all", "s = kiln.cumsum"), (None, "", "def summed(")],
)
def test_so_is_what_an_operation_of_several_lines_says(order, name, line: str) -> None:
    with pytest.raises(kiln.CompileError) as caught:
        a = np.zeros((64, 64), BF16)
        summed.compile(a, np.zeros((64, 64), np.float32), order, name, target="nvptx:sm_80")
    assert line in str(caught.value), str(caught.value)


@kiln.kernel
def handed(a: kiln.View, c: kiln.View, depth: kiln.constexpr, maker: kiln.constexpr):
    """Twice the sum of tiles of 32 columns."""
    kiln.grid(1)
    kiln.pin(
        roles=(
            kiln.role("load", warps=4), kiln.role("make", warps=4), kiln.role("add", warps=4),
        )
    )  # fmt: skip
    total = kiln.zeros((64, 32), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=2):
        x = kiln.pin(a.load((0, k), (64, 32)), atom="tma", role="load")
        made = kiln.pin(x.to(kiln.f32) * 2.0, role=maker)
        if depth is not None:
            kiln.pin(made, depth=depth)
        halves = kiln.pin(made * 0.5, role="make")
        total = kiln.pin(total + made + halves, role="add")
    kiln.pin(c.store((0, 0), total), role="add")


@pytest.mark.parametrize("chip", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("depth", [None, 1, 2, 3])
def test_slots_of_what_is_handed_over(rng, chip: str, depth: int | None) -> None:
    a, c = rng.standard_normal((64, 160)).astype(BF16), np.zeros((64, 32), np.float32)
    handed.options(device=f"emu:{chip}")(a, c, depth, "make")
    reference = 3 * a.astype(np.float64).reshape(64, 5, 32).sum(1)
    assert np.abs(c - reference).max() <= 1e-4
    made = handed.compile(
        a, c, depth, "make", target=f"nvptx:{chip}", _pipeline="stop-after=schedule"
    )
    channels = re.findall(r"!tile.channel<(\d+), !tile.buffer<64x32xf32", made.ir("schedule"))
    assert set(channels) == {"2"} if depth is None else {"2", str(depth)} >= set(channels)
    assert str(depth or 2) in channels


@kiln.kernel
def ended(
    a: kiln.View, b: kiln.View, c: kiln.View, depth: kiln.constexpr, atom: kiln.constexpr,
    copy: kiln.constexpr, flight: kiln.constexpr,
):  # fmt: skip
    """Another role stores each tile's last sum, and the sums of its rows."""
    i = kiln.grid(c.shape[0] // 64)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4),
                    kiln.role("end", warps=4)), persistent=2)  # fmt: skip
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=2):
        x = kiln.pin(a.load((i * 64, k), (64, 32)), role="load", atom=copy)
        y = kiln.pin(b.load((0, k), (64, 32)), role="load", atom=copy)
        acc = kiln.dot(x, y, acc, transpose_b=True)
        acc = kiln.pin(acc, role="mma", atom=atom, in_flight=flight, depth=depth)
    row = kiln.pin(kiln.sum(acc, axis=1), role="end")
    kiln.pin(c.store((i * 64, 0), kiln.pin(acc + row[:, None], role="end")), role="end")


@pytest.mark.parametrize(
    "chip, atom, copy, flight",
    [("nvptx:sm_90a", "wgmma", "tma", 1), ("amdgpu:gfx942", "matrix", "through_registers", None)],
)
def test_slots_of_the_last_sum(rng, chip: str, atom: str, copy: str, flight: int | None) -> None:
    a, b = (
        rng.integers(-2, 3, (64 * 7, 96)).astype(BF16),
        rng.integers(-2, 3, (64, 96)).astype(BF16),
    )
    c = np.full((64 * 7, 64), np.nan, np.float32)
    how = (2, atom, copy, flight)
    ended.options(device=f"emu:{chip.split(':')[1]}")(a, b, c, *how)
    want = a.astype(np.float64) @ b.astype(np.float64).T
    np.testing.assert_array_equal(c, want + want.sum(1, keepdims=True))
    made = ended.compile(a, b, c, *how, target=chip, _pipeline="stop-after=schedule")
    assert "!tile.channel<2, !tile.buffer<64x64xf32" in made.ir("schedule")
    with pytest.raises(
        kiln.CompileError, match=r"\d+ bytes .* of 64x64xf32, of 20 slots \('depth'\)"
    ):
        ended.compile(a, b, c, 20, *how[1:], target=chip)


@kiln.kernel
def kept(a: kiln.View, c: kiln.View):
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    made = kiln.pin(a.load((0, 0), (64, 32)).to(kiln.f32) * 2.0, role="all", depth=2)
    c.store((0, 0), made)


def test_slots_of_what_nobody_else_uses() -> None:
    a, c = np.zeros((64, 128), BF16), np.zeros((64, 32), np.float32)
    with pytest.raises(kiln.CompileError, match="expected a tensor that another role uses"):
        kept.compile(a, c, target="nvptx:sm_90a")


@kiln.kernel
def copied(a: kiln.View, c: kiln.View, held: kiln.constexpr):
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    x = kiln.pin(a.load((0, 0), (64, 128)), role="all", held=held)
    kiln.pin(c.store((0, 0), x * 2.0), role="all", atom="tma", in_flight=0)


def test_boxes_that_threads_hold(rng) -> None:
    a, codes = rng.standard_normal((64, 128)).astype(np.float32), set()
    for held in (1, 2, 3):
        c = np.zeros_like(a)
        copied.options(device="emu:sm_90a")(a, c, held)
        np.testing.assert_array_equal(c, 2 * a)
        codes.add(copied.compile(a, c, held, target="nvptx:sm_90a").asm)
    assert len(codes) == 3


@kiln.kernel
def gathered(a: kiln.View, c: kiln.View, how: kiln.constexpr):
    kiln.grid(1)
    rows = kiln.arange(0, 64)
    x = a.gather((rows[:, None], kiln.arange(0, 32)[None]))
    if how == "atom":
        kiln.pin(x, atom="cp_async")
    elif how == "ring":
        kiln.pin(x, ring="x")
    elif how == "depth":
        kiln.pin(x, depth=2)
    else:
        kiln.pin(x, buffer="offset = [[0,1]]")
    c.store((0, 0), x)


@pytest.mark.parametrize("how", ["atom", "ring", "depth", "buffer"])
def test_gathered_rows_lie_in_no_ring(how: str) -> None:
    a = np.zeros((64, 32), np.float32)
    with pytest.raises(kiln.CompileError) as e:
        gathered.options(device="emu:sm_90a")(a, a.copy(), how)
    assert f"expected {how} of a load, got rows that are gathered" in str(e.value)
