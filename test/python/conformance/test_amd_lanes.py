"""What AMD's lanes exchange, derived twice and held against the emulated chip: by formulas of the lane's
number, and by the figures of the ISA manuals ("Data Parallel Primitives", `V_PERMLANEX16_B32`,
`V_PERMLANE16_SWAP_B32`, `DS_BPERMUTE_B32`), row by row."""

from __future__ import annotations

import numpy as np
import pytest
from form_programs import Program, Text
from values import Source

ROW = range(16)
# Of a control word of DPP: the lane of a row of sixteen that each lane reads.
FIGURES = {
    0xB1: [1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14],  # quad_perm:[1,0,3,2]
    0x4E: [2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13],  # quad_perm:[2,3,0,1]
    0x1B: [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12],  # quad_perm:[3,2,1,0]
    0x128: [8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7],  # row_ror:8
    0x140: [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0],  # row_mirror
    0x141: [7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8],  # row_half_mirror
    0x161: [1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14],  # row_xmask:1
    0x166: [6, 7, 4, 5, 2, 3, 0, 1, 14, 15, 12, 13, 10, 11, 8, 9],  # row_xmask:6
    0x16F: [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0],  # row_xmask:15
}


def formula(control: int, lane: int) -> int:
    if control < 0x100:
        return lane & ~3 | control >> 2 * (lane & 3) & 3
    if 0x121 <= control <= 0x12F:
        return (lane - (control & 15)) % 16
    if control in (0x140, 0x141):
        return lane ^ (15 if control == 0x140 else 7)
    return lane ^ control & 15


@pytest.mark.parametrize("control", FIGURES, ids=hex)
def test_formulas_are_the_figures(control: int) -> None:
    assert [formula(control, lane) for lane in ROW] == FIGURES[control]


def exchange(chip: str, lanes: int, make) -> tuple[np.ndarray, list[np.ndarray]]:
    """What went in, and what each result is, lane by lane."""
    text = Text()
    lane = text.op("rocdl.workitem.id.x : i32")
    place = text.arithmetic("mul", lane, 4)
    results = make(text, text.load(text.place("%a0", place), "i32"), lane)
    for i, value in enumerate(results):
        text.store(value, text.place(f"%a{i + 1}", place), "i32")
    arrays = [("i32", (lanes,))] * (1 + len(results))
    given = Source(lanes).bits("i32", lanes)
    program = Program(text, arrays, 1, lanes, lanes=lanes)
    return given, [x.view(np.uint32) for x in program.run(f"emu:{chip}", [given])]


@pytest.mark.parametrize(
    "chip, lanes", [("gfx942", 64), ("gfx950", 64), ("gfx1100", 32), ("gfx1201", 32)]
)
def test_lanes_of_a_row(chip: str, lanes: int) -> None:
    controls = [c for c in FIGURES if lanes == 32 or c < 0x160]

    def make(text: Text, value: str, lane: str) -> list[str]:
        flag = text.op("llvm.mlir.constant(true) : i1")
        made = []
        for control in controls:
            operands = [(value, "i32"), (value, "i32"), (text.constant(control), "i32")]
            operands += [(text.constant(15), "i32")] * 2 + [(flag, "i1")]
            made.append(text.call("llvm.amdgcn.update.dpp.i32", operands, "i32"))
        return made

    given, got = exchange(chip, lanes, make)
    for control, result in zip(controls, got):
        want = [given[row + FIGURES[control][at]] for row in range(0, lanes, 16) for at in ROW]
        assert result.tolist() == want, hex(control)


def test_rows_of_rdna() -> None:
    """Each lane reads the one of its number in the other row."""

    def make(text: Text, value: str, lane: str) -> list[str]:
        low, high = text.constant(0x76543210), text.constant(0xFEDCBA98 - (1 << 32))
        flags = [(text.op(f"llvm.mlir.constant({x}) : i1"), "i1") for x in ("true", "false")]
        operands = [(x, "i32") for x in (value, value, low, high)]
        return [text.call("llvm.amdgcn.permlanex16.i32", operands + flags, "i32")]

    given, (got,) = exchange("gfx1201", 32, make)
    assert got.tolist() == [*given[16:], *given[:16]]
    assert got.tolist() == [given[lane ^ 16] for lane in range(32)]


@pytest.mark.parametrize("size", [16, 32])
def test_swapped_rows_of_cdna_4(size: int) -> None:
    """The odd rows of the first operand and the even ones of the second change places."""

    def make(text: Text, value: str, lane: str) -> list[str]:
        other = text.arithmetic("xor", value, -1)
        flag = text.op("llvm.mlir.constant(false) : i1")
        operands = [(value, "i32"), (other, "i32"), (flag, "i1"), (flag, "i1")]
        pair = "!llvm.struct<(i32, i32)>"
        both = text.call(f"llvm.amdgcn.permlane{size}.swap", operands, pair)
        return [text.op(f"llvm.extractvalue {both}[{i}] : {pair}") for i in range(2)]

    given, (first, second) = exchange("gfx950", 64, make)
    x, y = given, ~given
    rows = range(0, 64, 2 * size)
    assert first.tolist() == [v for r in rows for v in (*x[r : r + size], *y[r : r + size])]
    assert second.tolist() == [
        v for r in rows for v in (*x[r + size : r + 2 * size], *y[r + size : r + 2 * size])
    ]
    for lane in range(64):
        odd = bool(lane & size)
        assert first[lane] == (y[lane - size] if odd else x[lane])
        assert second[lane] == (y[lane] if odd else x[lane + size])


@pytest.mark.parametrize("chip, lanes", [("gfx942", 64), ("gfx1201", 32)])
def test_lanes_by_number(chip: str, lanes: int) -> None:
    """The address is in bytes, and wraps."""

    def make(text: Text, value: str, lane: str) -> list[str]:
        address = text.arithmetic("mul", lane, 4 * 13)
        return [text.call("llvm.amdgcn.ds.bpermute", [(address, "i32"), (value, "i32")], "i32")]

    given, (got,) = exchange(chip, lanes, make)
    assert got.tolist() == [given[13 * lane % lanes] for lane in range(lanes)]
