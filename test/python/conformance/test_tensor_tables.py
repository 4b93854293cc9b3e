"""Products into tensor memory, for which there is no recording: where their operands, their sums and the
fields of their descriptors are, derived twice and held against an emulated sm_100a. By formulas of the
PTX ISA ("tcgen05": "Data path layout organization", "Shared memory descriptor", "Instruction
descriptor", "tcgen05.ld"), and by tables: of descriptors those of CUTLASS
(include/cute/arch/mma_sm100_desc.hpp), of rows the layouts D and F as TVM names them
(tirx.backend.cuda.layout.tmem_datapath_layout)."""

from __future__ import annotations

import numpy as np
import pytest
from form_programs import Program, Text, struct
from moves import fence, wait, when_first
from products import of_integers
from values import Source, bytes_of, word

# Lanes of tensor memory that hold the rows of a product, in their order.
LANES = {128: [*range(128)],
         64: [*range(16), *range(32, 48), *range(64, 80), *range(96, 112)]}  # fmt: skip
# Of eight rows of so many bytes: at which place of its row the first piece of 16 bytes lies.
FIRST_PIECE = {
    16: [0, 0, 0, 0, 0, 0, 0, 0], 32: [0, 0, 0, 0, 1, 1, 1, 1],
    64: [0, 0, 1, 1, 2, 2, 3, 3], 128: [0, 1, 2, 3, 4, 5, 6, 7],
}  # fmt: skip
LAYOUT = {16: 0, 128: 2, 64: 4, 32: 6}
# Of each element: the kind of the instruction, and its number in the descriptor.
ELEMENTS = {"f16": ("f16", 0), "bf16": ("f16", 1), "tf32": ("tf32", 2), "e4m3": ("f8f6f4", 0),
            "e5m2": ("f8f6f4", 1), "u8": ("i8", 0), "i8": ("i8", 1)}  # fmt: skip


def lane_of(rows: int, row: int) -> int:
    return row if rows == 128 else 32 * (row // 16) + row % 16


def permuted(address: int, span: int) -> int:
    """The lowest bits of the number of a piece, and as many of the three of the number of 128 bytes."""
    bits = {16: 0, 32: 1, 64: 2, 128: 3}[span]
    return address ^ (address >> 7 & (1 << bits) - 1) << 4


def test_formulas_are_the_tables() -> None:
    for rows, lanes in LANES.items():
        assert [lane_of(rows, row) for row in range(rows)] == lanes
    for span, pieces in FIRST_PIECE.items():
        for row, piece in enumerate(pieces):
            assert permuted(row * span, span) == row * span + 16 * piece


def image(matrix: np.ndarray, span: int) -> np.ndarray:
    """Bytes of rows in shared memory, groups of eight rows behind one another; without a permutation the
    pieces of a row lie apart, each with those of the other seven rows."""
    rows, width = matrix.shape
    out = np.zeros(rows * width, np.uint8)
    for row in range(rows):
        group, inner = divmod(row, 8)
        for piece in range(width // 16):
            if span == 16:
                at = (group * (width // 16) + piece) * 128 + inner * 16
            else:
                at = row * span + 16 * (FIRST_PIECE[span][inner] ^ piece)
            out[at : at + 16] = matrix[row, 16 * piece : 16 * piece + 16]
    return out


def descriptor(span: int, width: int) -> int:
    """All of a descriptor of shared memory but where it begins."""
    apart = 8 * (width if span == 16 else span)  # of two groups of rows
    return 128 // 16 << 16 | apart // 16 << 32 | 1 << 46 | LAYOUT[span] << 61


def instruction(element: str, m: int, n: int) -> int:
    _, number = ELEMENTS[element]
    result = 2 if element in ("u8", "i8") else 1
    return result << 4 | number << 7 | number << 10 | n // 8 << 17 | m // 16 << 24


def signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def product(element: str, span: int, m: int, n: int, width: int) -> Program:
    """One block: an image of both operands goes to shared memory, one thread multiplies along rows of
    `width` bytes, and each warp stores its lanes' columns."""
    kind, _ = ELEMENTS[element]
    text = Text()
    thread, shared = text.thread(), text.shared()
    rows, columns = m * width, n * width
    for i in range((rows + columns) // 4 // 128):
        place = text.arithmetic("mul", text.arithmetic("add", thread, 128 * i), 4)
        value = text.load(text.place("%a0", place), "i32")
        text.store(value, text.place(shared, place, 3), "i32", 3)
    behind = rows + columns
    barrier = text.place(shared, text.constant(behind), 3)
    slot = text.place(shared, text.constant(behind + 8), 3)
    warp = text.arithmetic("lshr", thread, 5)

    def begin() -> None:
        text.do(f"nvvm.mbarrier.init {barrier}, {text.constant(1)} : !llvm.ptr<3>, i32")
        text.do("nvvm.fence.mbarrier.init")

    def allocate() -> None:
        text.do(f"nvvm.tcgen05.alloc {slot}, {text.constant(64)} : !llvm.ptr<3>, i32")
        text.do("nvvm.tcgen05.relinquish_alloc_permit")

    def meet() -> None:
        text.do("nvvm.tcgen05.fence <before>")
        text.meet()
        text.do("nvvm.tcgen05.fence <after>")

    when_first(text, thread, begin)
    when_first(text, warp, allocate)  # all threads of one
    fence(text)
    meet()
    tensor = text.load(slot, "i32", 3)
    place = text.arithmetic("add", tensor, text.arithmetic("shl", warp, 5 + 16))
    own = text.arithmetic("mul", thread, n)
    store(text, place, [text.arithmetic("add", own, i) for i in range(n)])
    meet()

    def multiply() -> None:
        base = text.op(f"llvm.ptrtoint {shared} : !llvm.ptr<3> to i32")
        sums = text.op(f"llvm.inttoptr {tensor} : i32 to !llvm.ptr<6>")
        how = text.constant(instruction(element, m, n))
        for step in range(width // 32):
            ahead = 32 * step if span > 16 else 256 * step
            operands = []
            for offset in (0, rows):
                at = text.arithmetic("lshr", text.arithmetic("add", base, offset + ahead), 4)
                at = text.op(f"llvm.zext {text.arithmetic('and', at, 0x3FFF)} : i32 to i64")
                fixed = text.constant(signed(descriptor(span, width)), "i64")
                operands.append(text.arithmetic("or", at, fixed, "i64"))
            adds = text.op(f"llvm.mlir.constant({'true' if step else 'false'}) : i1")
            text.do(
                f"nvvm.tcgen05.mma {sums}, {operands[0]}, {operands[1]}, {how}, {adds} "
                f"{{ctaGroup = #nvvm.cta_group<cta_1>, kind = #nvvm.tcgen05_mma_kind<{kind}>}} "
                ": (!llvm.ptr<6>, i64, i64, i32, i1)"
            )
        text.do(f"nvvm.tcgen05.commit {barrier} : !llvm.ptr<3>")

    when_first(text, thread, multiply)
    wait(text, barrier, 0)
    text.do("nvvm.tcgen05.fence <after>")
    for i, value in enumerate(load(text, place, n)):
        at = text.arithmetic("add", text.arithmetic("mul", thread, 4 * n), 4 * i)
        text.store(value, text.place("%a1", at), "i32")
    if m == 64:
        for i, value in enumerate(load(text, place, n // 2, apart=n // 2)):
            at = text.arithmetic("add", text.arithmetic("mul", thread, 2 * n), 4 * i)
            text.store(value, text.place("%a2", at), "i32")
    meet()
    address = text.op(f"llvm.inttoptr {tensor} : i32 to !llvm.ptr<6>")
    columns = text.constant(64)
    when_first(text, warp, lambda: text.do(
        f"nvvm.tcgen05.dealloc {address}, {columns} : !llvm.ptr<6>, i32"
    ))  # fmt: skip
    arrays = [("i32", (behind // 4,)), ("i32", (128, n)), ("i32", (128, n // 2))]
    return Program(text, arrays, 1, 128, shared=behind + 16)


def store(text: Text, address: str, words: list[str]) -> None:
    """Columns of a thread's lane."""
    pointer = text.op(f"llvm.inttoptr {address} : i32 to !llvm.ptr<6>")
    kind = f"vector<{len(words)}xi32>"
    vector = text.op(f"llvm.mlir.zero : {kind}")
    for i, value in enumerate(words):
        vector = text.op(f"llvm.insertelement {value}, {vector}[{text.constant(i)} : i32] : {kind}")
    shape = "{shape = #nvvm.tcgen05_ldst_shape<shape_32x32b>}"
    text.do(f"nvvm.tcgen05.st {pointer}, {vector} {shape} : {kind}")
    text.do("nvvm.tcgen05.wait <store>")


def load(text: Text, address: str, count: int, apart: int = 0) -> list[str]:
    """So many columns of a thread's lane, once they are there; or, of 16 lanes, half of the threads get
    those so many columns apart from the others'."""
    pointer = text.op(f"llvm.inttoptr {address} : i32 to !llvm.ptr<6>")
    offset = f", {text.constant(apart, 'i64')}" if apart else ""
    shape = "shape_16x32bx2" if apart else "shape_32x32b"
    loaded = text.op(
        f"nvvm.tcgen05.ld {pointer}{offset} {{shape = #nvvm.tcgen05_ldst_shape<{shape}>}} "
        f": vector<{count}xi32>"
    )
    words = [
        text.op(f"llvm.extractelement {loaded}[{text.constant(i)} : i32] : vector<{count}xi32>")
        for i in range(count)
    ]
    types = ["i32"] * count
    constraints = ",".join(["=r"] * count + [str(i) for i in range(count)])
    made = text.op(
        'llvm.inline_asm has_side_effects asm_dialect = att "tcgen05.wait::ld.sync.aligned;", '
        f'"{constraints}" {", ".join(words)} : ({", ".join(types)}) -> {struct(types)}'
    )
    return text.fields(made, types)


CASES = [
    *(("bf16", span, 128, 16) for span in (16, 32, 64, 128)),
    ("f16", 128, 64, 16), ("tf32", 128, 128, 16), ("tf32", 32, 64, 16),
    ("e4m3", 64, 128, 32), ("e5m2", 16, 64, 16), ("u8", 32, 128, 16), ("i8", 128, 64, 16),
]  # fmt: skip


@pytest.mark.parametrize("element, span, m, n", CASES)
def test_a_product_has_its_elements_where_the_tables_say(element, span, m, n) -> None:
    """Of whole numbers, whose sums are exact."""
    width = max(span, 32)
    k = width // bytes_of(element)
    source = Source(m + span)
    low = 0 if element == "u8" else -3

    def whole(rows: int) -> np.ndarray:
        return (source.below(7, rows * k).astype(int) + low).reshape(rows, k)

    a, b = whole(m), whole(n)

    def packed(values: np.ndarray) -> np.ndarray:
        if element in ("u8", "i8"):
            bits = values.astype(np.int8).view(np.uint8)
        else:
            bits = of_integers(element, values).astype(word(element))
        return image(bits.view(np.uint8).reshape(len(values), width), span)

    given = np.concatenate([packed(a), packed(b)])
    got, halves = product(element, span, m, n, width).run("emu:sm_100a", [given])
    sums = a @ b.T
    want = sums.astype(np.int32) if element in ("u8", "i8") else sums.astype(np.float32)
    lanes = got.reshape(128, n)
    assert np.array_equal(lanes.view(want.dtype)[LANES[m]], want)
    others = np.setdiff1d(np.arange(128), LANES[m])  # have what each thread has stored
    assert np.array_equal(lanes[others], np.arange(128 * n).reshape(128, n)[others])
    if m == 64:  # rows of 16 of a warp, by all of its threads
        both = halves.view(want.dtype).reshape(4, 2, 16, n // 2)
        assert np.array_equal(np.concatenate([both[:, 0], both[:, 1]], axis=2).reshape(m, n), want)
