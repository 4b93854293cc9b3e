"""Where AMD's matrix instructions have their elements, derived twice and held against the emulated
chip: by the formulas of the ISA manuals (CDNA 3 and 4, "Dense matrix operations"; RDNA 3 and 4,
"Wave Matrix Multiply Accumulate"), and by tables of rows. The tables, and of each instruction the rows,
columns and k of both operands, are those that AMD's matrix instruction calculator 1.3.2 prints
(ROCm/amd_matrix_instruction_calculator), but for gfx950's instructions of twice the k, which it does
not know: of these with 16 bits it is what Triton's tests have (`TWICE`), of bytes the formula alone. Of
RDNA 4 and 16 bits it has another order of k, `BY_FOURS`, of both operands alike: the sum
is the same, so that either serves."""

from __future__ import annotations

import numpy as np
import pytest
from form_programs import Program, Text, struct
from products import of_integers
from values import Source, word

# Of the lanes that hold one column: the rows in their registers, lane group by lane group.
FIGURES = {
    "mfma32": [[*range(0, 4), *range(8, 12), *range(16, 20), *range(24, 28)],
               [*range(4, 8), *range(12, 16), *range(20, 24), *range(28, 32)]],
    "mfma16": [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]],
    "mfma16-f64": [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]],
    "wmma-rdna3": [[0, 2, 4, 6, 8, 10, 12, 14], [1, 3, 5, 7, 9, 11, 13, 15]],
    "wmma-rdna4": [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]],
}  # fmt: skip
FORMULAS = {
    "mfma32": lambda lane, i: 8 * (i // 4) + 4 * (lane // 32) + i % 4,
    "mfma16": lambda lane, i: 4 * (lane // 16) + i % 4,
    "mfma16-f64": lambda lane, i: 4 * i + lane // 16,
    "wmma-rdna3": lambda lane, i: 2 * i + lane // 16,
    "wmma-rdna4": lambda lane, i: 8 * (lane // 16) + i,
}


@pytest.mark.parametrize("name", FIGURES)
def test_formulas_are_the_figures(name: str) -> None:
    figure, formula = FIGURES[name], FORMULAS[name]
    width = 32 if name == "mfma32" else 16
    for group, rows in enumerate(figure):
        for i, row in enumerate(rows):
            assert {formula(width * group + column, i) for column in range(width)} == {row}


# An instruction, its chip, the elements' kind, M, K, how a lane's elements are typed, and the figure.
CASES = [
    ("mfma.f32.32x32x8f16", "gfx942", "f16", 32, 8, "vector<4xf16>", "mfma32"),
    ("mfma.f32.32x32x8bf16.1k", "gfx942", "bf16", 32, 8, "vector<4xi16>", "mfma32"),
    ("mfma.f32.32x32x16.f16", "gfx950", "f16", 32, 16, "vector<8xf16>", "mfma32"),
    ("mfma.f32.32x32x16.bf16", "gfx950", "bf16", 32, 16, "vector<8xbf16>", "mfma32"),
    ("mfma.f32.16x16x16f16", "gfx942", "f16", 16, 16, "vector<4xf16>", "mfma16"),
    ("mfma.f32.16x16x16bf16.1k", "gfx942", "bf16", 16, 16, "vector<4xi16>", "mfma16"),
    ("mfma.f32.16x16x32.f16", "gfx950", "f16", 16, 32, "vector<8xf16>", "mfma16"),
    ("mfma.f32.16x16x32.bf16", "gfx950", "bf16", 16, 32, "vector<8xbf16>", "mfma16"),
    ("mfma.f32.16x16x4f32", "gfx942", "f32", 16, 4, "f32", "mfma16"),
    ("mfma.f64.16x16x4f64", "gfx942", "f64", 16, 4, "f64", "mfma16-f64"),
    ("mfma.f32.32x32x4.xf32", "gfx942", "f32", 32, 4, "vector<2xf32>", "mfma32"),
    ("mfma.f32.16x16x8.xf32", "gfx942", "f32", 16, 8, "vector<2xf32>", "mfma16"),
    ("mfma.i32.32x32x16.i8", "gfx942", "i8", 32, 16, "i64", "mfma32"),
    ("mfma.i32.32x32x8i8", "gfx90a", "i8", 32, 8, "i32", "mfma32"),
    ("mfma.i32.16x16x32.i8", "gfx942", "i8", 16, 32, "i64", "mfma16"),
    ("mfma.i32.16x16x16i8", "gfx90a", "i8", 16, 16, "i32", "mfma16"),
    ("mfma.i32.32x32x32.i8", "gfx950", "i8", 32, 32, "vector<4xi32>", "mfma32"),
    ("mfma.i32.16x16x64.i8", "gfx950", "i8", 16, 64, "vector<4xi32>", "mfma16"),
    ("mfma.f32.32x32x16.fp8.fp8", "gfx950", "e4m3", 32, 16, "i64", "mfma32"),
    ("mfma.f32.32x32x16.bf8.bf8", "gfx950", "e5m2", 32, 16, "i64", "mfma32"),
    ("mfma.f32.16x16x32.fp8.fp8", "gfx950", "e4m3", 16, 32, "i64", "mfma16"),
    ("mfma.f32.16x16x32.bf8.bf8", "gfx950", "e5m2", 16, 32, "i64", "mfma16"),
    ("wmma.f32.16x16x16.f16", "gfx1100", "f16", 16, 16, "vector<16xf16>", "wmma-rdna3"),
    ("wmma.f32.16x16x16.bf16", "gfx1100", "bf16", 16, 16, "vector<16xi16>", "wmma-rdna3"),
    ("wmma.f32.16x16x16.f16", "gfx1201", "f16", 16, 16, "vector<8xf16>", "wmma-rdna4"),
    ("wmma.f32.16x16x16.bf16", "gfx1201", "bf16", 16, 16, "vector<8xi16>", "wmma-rdna4"),
    ("wmma.i32.16x16x16.iu8", "gfx1100", "i8", 16, 16, "vector<4xi32>", "wmma-rdna3"),
    ("wmma.i32.16x16x16.iu8", "gfx1201", "i8", 16, 16, "vector<2xi32>", "wmma-rdna4"),
    ("wmma.f32.16x16x16.fp8.fp8", "gfx1201", "e4m3", 16, 16, "vector<2xi32>", "wmma-rdna4"),
    ("wmma.f32.16x16x16.bf8.bf8", "gfx1201", "e5m2", 16, 16, "vector<2xi32>", "wmma-rdna4"),
]
# By the rows: k of a lane's elements and of the lane, by the bits of each number. Triton has its operands
# for mfma_f32_16x16x32 and 32x32x16, of f16 and bf16, by 8 along k a lane ("kWidth = 8").
TWICE = {16: ([1, 2, 4], [8, 16]), 32: ([1, 2, 4], [8])}
# The k of a lane's elements, by the half of the wave that it is in.
BY_FOURS = [[0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]]


@pytest.mark.parametrize("m", TWICE)
def test_formulas_of_twice_the_k_are_the_bases(m: int) -> None:
    of_element, of_lane = TWICE[m]
    for part in range(64 // m):
        for i in range(8):
            at = sum(x for bit, x in enumerate(of_element) if i >> bit & 1)
            at += sum(x for bit, x in enumerate(of_lane) if part >> bit & 1)
            assert at == part * 8 + i


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_elements_are_where_the_manual_has_them(case: tuple) -> None:
    """Of whole numbers, whose sums are exact."""
    instruction, chip, kind, m, k, type, figure = case
    lanes = 64 if instruction.startswith("mfma") else 32
    source = Source(len(instruction) + m)

    def whole(rows: int, columns: int) -> np.ndarray:
        return (source.below(15, rows * columns).astype(int) - 7).reshape(rows, columns)

    a, b, c = whole(m, k), whole(k, m), whole(m, m)
    sum_type = {"i8": "i32", "f64": "f64"}.get(kind, "f32")

    def bits(values: np.ndarray, kind: str) -> np.ndarray:
        if kind in ("i8", "i32"):
            return values.astype(kind.replace("i", "int"))
        return of_integers(kind, values)

    # A lane has the row (of b the column) of its number, and of k its group's share in sequence.
    each = k if figure == "wmma-rdna3" else m * k // lanes
    sums = m * m // lanes
    rows = np.array([[FIGURES[figure][lane // m][i] for i in range(sums)] for lane in range(lanes)])
    columns = np.arange(lanes)[:, None] % m
    want = bits((a @ b + c)[rows, columns], sum_type)
    program = kernel(instruction, type, each * word(kind).itemsize, sums, sum_type, lanes)
    order = [[(lane // m * each + i) % k for i in range(each)] for lane in range(lanes)]
    orders = [order]
    if figure == "wmma-rdna4" and kind in ("f16", "bf16"):
        orders.append([BY_FOURS[lane // m] for lane in range(lanes)])
    for order in orders:
        x = np.array([[a[lane % m, at] for at in order[lane]] for lane in range(lanes)])
        y = np.array([[b[at, lane % m] for at in order[lane]] for lane in range(lanes)])
        given = [bits(x, kind), bits(y, kind), bits(c[rows, columns], sum_type)]
        got = program.run(f"emu:{chip}", [each.reshape(-1).view(np.uint8) for each in given])[0]
        assert np.array_equal(got.view(want.dtype).reshape(want.shape), want)


def kernel(
    instruction: str, type: str, bytes: int, sums: int, sum_type: str, lanes: int
) -> Program:
    text = Text()
    lane = text.op("rocdl.workitem.id.x : i32")
    size = 8 if sum_type == "f64" else 4
    vector = f"vector<{sums}x{sum_type}>"

    def at(array: int, stride: int) -> str:
        return text.place(f"%a{array}", text.arithmetic("mul", lane, stride))

    operands = [(text.load(at(0, bytes), type), type), (text.load(at(1, bytes), type), type)]
    operands.append((text.load(at(2, sums * size), vector), vector))
    if instruction.startswith("mfma"):
        operands += [(text.constant(0), "i32")] * 3
    if instruction.endswith("iu8"):  # both are signed, and the sum wraps
        signed, wraps = (text.op(f"llvm.mlir.constant({x}) : i1") for x in ("true", "false"))
        first, second, third = operands
        operands = [(signed, "i1"), first, (signed, "i1"), second, third, (wraps, "i1")]
    made = text.call(f"llvm.amdgcn.{instruction}", operands, struct([vector]))
    text.store(made, at(3, sums * size), vector)
    arrays = [("i8", (bytes * lanes,))] * 2 + [("i8", (sums * size * lanes,))] * 2
    return Program(text, arrays, 3, lanes, lanes=lanes)
