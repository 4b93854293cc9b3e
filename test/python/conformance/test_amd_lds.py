"""Accesses of AMD's chips to LDS, derived twice and held against the emulated chip: by formulas, and by
rows as others give them. Loads that go to LDS directly: the CDNA 3 ISA, "Buffer load to LDS", by which
M0, the same for a wave, says where the first lane's bytes go, and each next lane's go behind. Reads
that transpose: for 16 bits the 4 by 16 block of FlyDSL (ROCm/FlyDSL, GEMMs for gfx950) and of Mojo
(`ds_read_tr16_b64_row`), for 8 bits the "two interleaved 8x8 byte transposes" of Mojo
(docs.modular.com, `ds_read_tr8_b64`)."""

from __future__ import annotations

import numpy as np
import pytest
from form_programs import Program, Text
from values import Source

LANES = 64
# Of the lanes of a group of sixteen: whose row each element comes from, and which element of it.
FIGURES = {
    16: {
        "rows": 4 * [[0, 4, 8, 12]] + 4 * [[1, 5, 9, 13]] + 4 * [[2, 6, 10, 14]]
        + 4 * [[3, 7, 11, 15]],
        "element": [0, 1, 2, 3] * 4,
    },
    8: {
        "rows": 8 * [[0, 2, 4, 6, 8, 10, 12, 14]] + 8 * [[1, 3, 5, 7, 9, 11, 13, 15]],
        "element": [0, 1, 2, 3, 4, 5, 6, 7] * 2,
    },
}  # fmt: skip


def formula(bits: int, lane: int, i: int) -> tuple[int, int]:
    """The rows of eight bytes, lane by lane, are a matrix of sixteen columns; a lane gets one column."""
    width = 64 // bits
    place = 16 * i + lane
    return place // width, place % width


@pytest.mark.parametrize("bits", FIGURES)
def test_formulas_are_the_figures(bits: int) -> None:
    figure = FIGURES[bits]
    for lane in range(16):
        for i in range(64 // bits):
            found = formula(bits, lane, i)
            assert found == (figure["rows"][lane][i], figure["element"][lane])


class Wave:
    """The start of a kernel of one wave: its lane's number, and what it reads."""

    def __init__(self) -> None:
        self.text = Text()
        self.lane = self.text.op("rocdl.workitem.id.x : i32")
        self.shared = self.text.shared()

    def at(self, array: int, stride: int) -> str:
        offset = self.text.arithmetic("mul", self.lane, stride)
        return self.text.place(f"%a{array}", offset)

    def in_lds(self, offset: str) -> str:
        return self.text.place(self.shared, offset, 3)


@pytest.mark.parametrize("bits", FIGURES)
def test_reads_that_transpose(bits: int) -> None:
    """Each lane names any row; each group of sixteen works by itself."""
    wave = Wave()
    text = wave.text
    whole = text.load(wave.at(0, 8), "i64")
    text.store(whole, wave.in_lds(text.arithmetic("mul", wave.lane, 8)), "i64", 3)
    text.do("rocdl.s.barrier")
    named = text.arithmetic("mul", text.load(wave.at(1, 4), "i32"), 8)
    kind = {16: "vector<4xi16>", 8: "vector<2xi32>"}[bits]
    name = f"llvm.amdgcn.ds.read.tr{bits}.b64"
    read = text.call(name, [(wave.in_lds(named), "!llvm.ptr<3>")], kind)
    text.store(text.op(f"llvm.bitcast {read} : {kind} to i64"), wave.at(2, 8), "i64")
    arrays = [("i64", (LANES,)), ("i32", (LANES,)), ("i64", (LANES,))]
    program = Program(text, arrays, 2, LANES, lanes=LANES, shared=8 * LANES)
    source = Source(bits)
    data = source.bits("i64", LANES)
    order = np.argsort(source.words(LANES), kind="stable").astype(np.uint32)
    (got,) = program.run("emu:gfx950", [data, order])
    element = np.dtype(f"u{bits // 8}")
    rows, figure = data.view(element).reshape(LANES, -1), FIGURES[bits]
    want = np.array([
        [rows[order[lane // 16 * 16 + row], figure["element"][lane % 16]]
         for row in figure["rows"][lane % 16]]
        for lane in range(LANES)
    ])  # fmt: skip
    assert np.array_equal(got.view(element).reshape(LANES, -1), want)


# What a lane brings, by chip; and the flags of a descriptor there, as the compiler writes them.
@pytest.mark.parametrize("chip, bytes", [("gfx942", 4), ("gfx950", 4), ("gfx950", 16)])
def test_loads_to_lds(chip: str, bytes: int) -> None:
    """Lanes bring what they name, in any order; behind the end of the array it is zeros."""
    wave = Wave()
    text = wave.text
    words = bytes // 4
    size = text.constant(LANES * bytes, "i64")
    flags = text.constant(159744)
    buffer = text.op(
        f"rocdl.make.buffer.rsrc %a0, {text.constant(0, 'i16')}, {size}, {flags} : <1> to <8>"
    )
    begin = text.constant(64)
    zero = text.constant(0)
    named = text.arithmetic("mul", text.load(wave.at(1, 4), "i32"), bytes)
    text.do(
        f"rocdl.raw.ptr.buffer.load.lds {buffer}, {wave.in_lds(begin)}, {text.constant(bytes)}, "
        f"{named}, {zero}, {zero}, {zero}"
    )
    text.do("rocdl.s.waitcnt 3952")  # no load is under way
    text.do("rocdl.s.barrier")
    other = text.arithmetic("xor", wave.lane, 5)
    for i in range(words):
        offset = text.arithmetic("add", text.arithmetic("mul", other, bytes), 64 + 4 * i)
        word = text.load(wave.in_lds(offset), "i32", 3)
        place = text.arithmetic("add", text.arithmetic("mul", other, bytes), 4 * i)
        text.store(word, text.place("%a2", place), "i32")
    count = LANES * words
    arrays = [("i32", (count,)), ("i32", (LANES,)), ("i32", (count,))]
    program = Program(text, arrays, 2, LANES, lanes=LANES, shared=64 + 4 * count)
    source = Source(bytes)
    data = source.bits("i32", count)
    order = source.below(LANES + 8, LANES).astype(np.uint32)
    (got,) = program.run(f"emu:{chip}", [data, order])
    rows = np.concatenate([data.reshape(LANES, words), np.zeros((8, words), np.uint32)])
    assert np.array_equal(got.view(np.uint32).reshape(LANES, words), rows[order])
