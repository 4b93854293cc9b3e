"""Products of matrices: where their elements are in registers and in shared memory, by the figures of
the PTX ISA ("Matrix Fragments for mma", "Register Fragments for wgmma", "Shared Memory Matrix
Layout"), and numbers that tell the laws of accumulation apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from form_programs import Program, Text, struct
from laws import HOPPER, HOPPER_F8, HOPPER_F8_BY_WARPS, INTEGERS, Law
from moves import fence
from suite import Bits, Form, Held, Numbers
from values import FLOATS, Source, bytes_of, specials, word

Places = Callable[[int, int], tuple[int, int]]  # of a lane's element: its row and column


@dataclass
class Product(Form):
    """A form whose result a law gives: d = a · b + c, many times over."""

    a: str = ""
    b: str = ""
    law: Law | None = None
    operands: Callable[[int], tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None
    gather: Callable[[list[np.ndarray]], np.ndarray] | None = None

    def matrices(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The bits of a, b and c, each of so many products."""
        return self.operands(self.seed())


# ===- Numbers -------------------------------------------------------------------------------===//


def elements(kind: str, source: Source, shape: tuple[int, ...], reach: int) -> np.ndarray:
    """Floats of some binades, integers of any bits."""
    count = int(np.prod(shape))
    if kind not in FLOATS:
        bits = source.words(count) >> np.uint64(32)
        width = 32 if kind == "i32" else int(kind[1:])
        return (bits & np.uint64((1 << width) - 1)).astype(np.uint32).reshape(shape)
    return source.near_one(kind, count, reach).reshape(shape)


NEAR, WIDE, SPARSE, SPECIAL, WHOLE = range(5)
EVERY = (NEAR, WIDE, SPARSE, SPECIAL, WHOLE)


def draw(
    a: str, b: str, c: str, m: int, n: int, k: int, tiles: tuple[int, ...], seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tiles each of numbers near one, of many binades, of some with zeros, with special ones, or of
    small integers, whose sums are exact and say where each element is."""
    source = Source(seed)
    result = []
    for kind, rows, columns in ((a, m, k), (b, k, n), (c, m, n)):
        drawn = []
        for how in tiles:
            shape = (rows, columns)
            if kind not in FLOATS:
                drawn.append(elements(kind, source, shape, 0))
                continue
            wide = {"f64": 40, "e4m3": 6}.get(kind, 12)
            bits = elements(kind, source, shape, (1, wide, 4, 6, 0)[how])
            if how == SPARSE:
                bits = np.where(source.below(3, bits.size).reshape(shape) == 0, 0, bits)
            if how == SPECIAL:
                special = specials(kind)[
                    source.below(len(specials(kind)), bits.size).astype(np.int64)
                ].reshape(shape)
                if kind == "f32":  # an emulated warp group tells sums in flight by signalling ones
                    special = np.where(special & 0x7FFFFFFF == 0x7F800001, 0x7FC00000, special)
                bits = np.where(source.below(12, bits.size).reshape(shape) == 0, special, bits)
            if how == WHOLE:
                small = source.below(15, bits.size).reshape(shape).astype(int) - 7
                bits = of_integers(kind, small)
            drawn.append(bits.astype(word(kind)))
        result.append(np.stack(drawn))
    return tuple(result)


def of_integers(kind: str, values: np.ndarray) -> np.ndarray:
    """The bits of small ones."""
    if kind == "f64":
        return values.astype(np.float64).view(np.uint64)
    bits = values.astype(np.float32).view(np.uint32)
    if kind in ("f32", "tf32"):
        return bits
    if kind == "bf16":
        return (bits >> 16).astype(np.uint16)
    if kind == "f16":
        return values.astype(np.float16).view(np.uint16)
    bias, fraction = (7, 3) if kind == "e4m3" else (15, 2)
    exponent = ((bits >> 23) & 255).astype(int) - 127 + bias
    kept = (exponent << fraction) | ((bits >> (23 - fraction)) & ((1 << fraction) - 1)).astype(int)
    return np.where(values == 0, 0, kept | np.where(values < 0, 0x80, 0)).astype(np.uint8)


# ===- mma.sync ------------------------------------------------------------------------------===//


def pack(matrix: np.ndarray, place: Places, count: int, bits: int) -> np.ndarray:
    """Lanes' registers of 32 bits, or of f64, from the elements of matrices."""
    tiles = matrix.shape[0]
    at = np.array([[place(lane, i) for i in range(count)] for lane in range(32)])
    values = matrix[:, at[..., 0], at[..., 1]]
    if bits == 4:
        values = values.astype(np.uint8) & 15
        values = (values[..., 0::2] | (values[..., 1::2] << 4)).astype(np.uint8)
    elif bits == 8:
        values = values.astype(np.uint8)
    return np.ascontiguousarray(values).reshape(tiles, -1).view(np.uint8)


def row_wise(element_bits: int, below: int, after: int) -> Places:
    """Of a: groups of four lanes a row; words of a row's elements; from register `below` on rows from
    8 on, and from `after` on the second half of k."""
    each = max(1, 32 // element_bits)

    def place(lane: int, i: int) -> tuple[int, int]:
        register, inside = divmod(i, each)
        row = lane // 4 + (8 if register & below else 0)
        return row, (lane % 4) * each + inside + (4 * each * (register // after) if after else 0)

    return place


def column_wise(element_bits: int) -> Places:
    each = max(1, 32 // element_bits)

    def place(lane: int, i: int) -> tuple[int, int]:
        register, inside = divmod(i, each)
        return (lane % 4) * each + inside + 4 * each * register, lane // 4

    return place


def sums_at(lane: int, i: int) -> tuple[int, int]:
    return lane // 4 + 8 * (i // 2), 2 * (lane % 4) + i % 2


BITS = {"s8": 8, "u8": 8, "s4": 4, "u4": 4}


def mma(
    shape: str, intrinsic: str, a: str, b: str, c: str, law: Law, types: tuple[str, str]
) -> Product:
    """Warps multiply, one tile each; of a product's types those of a's registers and c's."""
    m, n, k = (int(x) for x in shape[1:].replace("n", " ").replace("k", " ").split())
    tiles = 10
    bits = BITS[a] if a in BITS else 8 * bytes_of(a)
    type, sum_type = types
    counts = [m * k // 32, k * n // 32, m * n // 32]
    place_a = row_wise(bits, 1 if m == 16 else 0, 2 if m == 16 else 1)
    place_b = column_wise(bits)
    words = [count * bits // (64 if type == "f64" else 32) for count in counts[:2]]
    text = Text()
    lane = text.thread()
    item = text.arithmetic("add", text.arithmetic("mul", text.block(), 32), lane)
    operands = []
    bytes = 8 if type == "f64" else 4
    for number, (count, each) in enumerate(zip([*words, counts[2]], [type, type, sum_type])):
        size = 8 if each == "f64" else 4
        begin = text.arithmetic("mul", item, count * size)
        for i in range(count):
            at = text.place(f"%a{number}", text.arithmetic("add", begin, i * size))
            operands.append((text.load(at, each), each))
    results = [sum_type] * counts[2]
    made = text.call(intrinsic, operands, struct(results))
    size = 8 if sum_type == "f64" else 4
    for i, value in enumerate(text.fields(made, results)):
        begin = text.arithmetic("mul", item, counts[2] * size)
        at = text.place("%a3", text.arithmetic("add", begin, i * size))
        text.store(value, at, sum_type)
    integer = f"i{8 * bytes}"
    sum_integer = f"i{8 * size}"
    arrays = [
        (integer, (tiles * 32 * words[0],)), (integer, (tiles * 32 * words[1],)),
        (sum_integer, (tiles * 32 * counts[2],)), (sum_integer, (tiles * 32 * counts[2],)),
    ]  # fmt: skip
    program = Program(text, arrays, 3, 32, blocks=tiles)

    def operands_of(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return draw(a, b, c, m, n, k, 2 * EVERY, seed)

    def given(seed: int) -> list[np.ndarray]:
        x, y, z = operands_of(seed)
        return [
            pack(x, place_a, counts[0], bits), pack(y, place_b, counts[1], bits),
            pack(z, sums_at, counts[2], 8 * size),
        ]  # fmt: skip

    def gather(outputs: list[np.ndarray]) -> np.ndarray:
        values = outputs[0].reshape(tiles, 32, counts[2])
        result = np.zeros((tiles, m, n), values.dtype)
        for lane in range(32):
            for i in range(counts[2]):
                result[(slice(None), *sums_at(lane, i))] = values[:, lane, i]
        return result

    held: Held = Bits(size) if c == "i32" else Numbers(c)
    name = "mma-" + intrinsic.removeprefix("llvm.nvvm.mma.").replace(".", "-")
    return Product(name, program, given, ["d"], [held], a, b, law, operands_of, gather)


def warp_products() -> Iterator[Product]:
    prefix = "llvm.nvvm.mma."
    pair = "vector<2xf16>"
    yield mma(
        "m16n8k16", prefix + "m16n8k16.row.col.f32.f32", "f16", "f16", "f32", HOPPER, (pair, "f32")
    )
    yield mma(
        "m16n8k16", prefix + "m16n8k16.row.col.bf16", "bf16", "bf16", "f32", HOPPER, ("i32", "f32")
    )
    yield mma(
        "m16n8k8", prefix + "m16n8k8.row.col.tf32", "tf32", "tf32", "f32", HOPPER, ("i32", "f32")
    )
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            name = f"{prefix}m16n8k32.row.col.f32.{a}.{b}.f32"
            yield mma("m16n8k32", name, a, b, "f32", HOPPER_F8_BY_WARPS, ("i32", "f32"))
    for width, shape in ((8, "m16n8k32"), (4, "m16n8k64")):
        for a in "su":
            for b in "su":
                types = f"{a}{width}" + (f".{b}{width}" if a != b else "")
                name = f"{prefix}{shape}.row.col.{types}"
                yield mma(
                    shape, name, f"{a}{width}", f"{b}{width}", "i32", INTEGERS, ("i32", "i32")
                )
    for shape in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"):
        yield mma(shape, f"{prefix}{shape}.row.col.f64", "f64", "f64", "f64", None, ("f64", "f64"))


# ===- wgmma ---------------------------------------------------------------------------------===//


def swizzled(address: np.ndarray, span: int) -> np.ndarray:
    """Bits from 128 bytes on permute those from 16 bytes on."""
    return address ^ ((address >> 7 & (span // 16 - 1)) << 4) if span else address


def in_shared(matrix: np.ndarray, transposed: bool, span: int) -> tuple[np.ndarray, int, int]:
    """The bytes of a matrix, its rows along m or n, in atoms of 8 rows of `span` bytes; and how far
    the next atom is along the contiguous extent, and along the other one."""
    if transposed:
        matrix = matrix.T
    rows, row_bytes = matrix.shape[0], matrix.shape[1] * matrix.dtype.itemsize
    width = span or 16
    data = np.ascontiguousarray(matrix).view(np.uint8).reshape(rows, row_bytes)
    leading, stride = rows * width, 8 * width  # columns of atoms, one behind the other
    out = np.zeros(rows * max(row_bytes, width), np.uint8)
    row, byte = np.meshgrid(np.arange(rows), np.arange(row_bytes), indexing="ij")
    address = byte // width * leading + row // 8 * stride + row % 8 * width + byte % width
    out[swizzled(address, span).reshape(-1)] = data.reshape(-1)
    return out, leading, stride


def wgmma(
    a: str, b: str, n: int, law: Law, span: int = 32, transposed: tuple[bool, bool] = (False, False),
    in_registers: bool = False, accumulates: bool = True, drawn: tuple[int, ...] = EVERY,
) -> Product:  # fmt: skip
    """A warp group a tile, which loads bytes that already lie as the instruction wants them."""
    integer = a[0] in "su" and a[1:].isdigit()
    bits = 8 if integer else 8 * bytes_of(a)
    k, m = 256 // bits, 64
    if integer:
        drawn = (WHOLE, WHOLE)
    tiles, c, sums = len(drawn), "i32" if integer else "f32", n // 2
    sum_type = "i32" if integer else "f32"

    def example(transposed: bool, extent: int) -> tuple[np.ndarray, int, int]:
        return in_shared(np.zeros((extent, k), word("i8" if integer else a)), transposed, span)

    bytes_a, bytes_b = (
        example(which, extent)[0].nbytes for which, extent in zip(transposed, (m, n))
    )
    text = Text()
    thread, block, shared = text.thread(), text.block(), text.shared()
    item = text.arithmetic("add", text.arithmetic("mul", block, 128), thread)
    base_b = (bytes_a + 1023) // 1024 * 1024
    if not in_registers:
        bring(text, "%a0", bytes_a, 0)
    bring(text, "%a1", bytes_b, base_b)
    fence(text)
    text.meet()
    address = text.op(f"llvm.ptrtoint {shared} : !llvm.ptr<3> to i64")

    def describe(offset: int, leading: int, stride: int) -> str:
        code = {0: 0, 32: 3, 64: 2, 128: 1}[span] << 62 | (stride >> 4) << 32 | (leading >> 4) << 16
        where = text.arithmetic("add", address, offset, "i64")
        where = text.arithmetic("and", text.arithmetic("lshr", where, 4, "i64"), 0x3FFF, "i64")
        signed = code - (1 << 64) if code >> 63 else code
        return text.arithmetic("or", where, signed, "i64")

    operands: list[tuple[str, str]] = []
    if in_registers:
        for i in range(4):
            place = text.arithmetic("add", text.arithmetic("mul", item, 16), 4 * i)
            operands.append((text.load(text.place("%a0", place), "i32"), "i32"))
    else:
        operands.append((describe(0, *example(transposed[0], m)[1:]), "i64"))
    operands.append((describe(base_b, *example(transposed[1], n)[1:]), "i64"))
    operands.append((text.constant(int(accumulates)), "i32"))
    inputs = len(operands)
    for i in range(sums):
        place = text.arithmetic("add", text.arithmetic("mul", item, 4 * sums), 4 * i)
        operands.append((text.load(text.place("%a2", place), sum_type), sum_type))
    text.do("nvvm.wgmma.fence.aligned")
    statement = spell(a, b, n, k, sums, inputs, in_registers, transposed, integer)
    constraints = ",".join(
        ["=r" if integer else "=f"] * sums
        + ["r" if type == "i32" else "l" for _, type in operands[:inputs]]
        + [str(i) for i in range(sums)]
    )
    types = [sum_type] * sums
    whole = struct(types)
    made = text.op(
        f'llvm.inline_asm has_side_effects asm_dialect = att "{statement}", "{constraints}" '
        f"{', '.join(v for v, _ in operands)} : ({', '.join(t for _, t in operands)}) -> {whole}"
    )
    text.do("nvvm.wgmma.commit.group.sync.aligned")
    letter = "r" if integer else "f"
    constraints = ",".join([f"={letter}"] * sums + [str(i) for i in range(sums)] + ["~{memory}"])
    values = text.fields(made, types)
    waited = text.op(
        'llvm.inline_asm has_side_effects asm_dialect = att "wgmma.wait_group.sync.aligned 0;", '
        f'"{constraints}" {", ".join(values)} : ({", ".join(types)}) -> {whole}'
    )
    for i, value in enumerate(text.fields(waited, types)):
        place = text.arithmetic("add", text.arithmetic("mul", item, 4 * sums), 4 * i)
        text.store(value, text.place("%a3", place), sum_type)
    a_words = tiles * (128 * 4 if in_registers else bytes_a // 4)
    arrays = [("i32", (a_words,)), ("i32", (tiles * bytes_b // 4,))]
    arrays += [("i32", (tiles * 128 * sums,))] * 2
    program = Program(text, arrays, 3, 128, blocks=tiles, shared=base_b + bytes_b + 1024)

    def operands_of(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x, y, z = draw(a, b, c, m, n, k, drawn, seed)
        return x, y, z if accumulates else np.zeros_like(z)

    def sum_place(thread: int, i: int) -> tuple[int, int]:
        return (
            16 * (thread // 32) + thread % 32 // 4 + (8 if i & 2 else 0),
            8 * (i // 4) + 2 * (thread % 4) + (i & 1),
        )

    places = np.array([[sum_place(t, i) for i in range(sums)] for t in range(128)])
    each = 32 // bits

    def a_place(thread: int, i: int) -> tuple[int, int]:
        register, inside = divmod(i, each)
        row = 16 * (thread // 32) + thread % 32 // 4 + (8 if register & 1 else 0)
        return row, (thread % 4) * each + inside + (4 * each if register & 2 else 0)

    a_places = np.array([[a_place(t, i) for i in range(4 * each)] for t in range(128)])

    def given(seed: int) -> list[np.ndarray]:
        x, y, _ = operands_of(seed)
        z = draw(a, b, c, m, n, k, drawn, seed)[2]
        if integer:
            x, y = x.astype(np.uint8), y.astype(np.uint8)
        if in_registers:
            first = np.ascontiguousarray(x[:, a_places[..., 0], a_places[..., 1]])
        else:
            first = np.stack([in_shared(t, transposed[0], span)[0] for t in x])
        second = np.stack([in_shared(t.T, transposed[1], span)[0] for t in y])
        third = np.ascontiguousarray(z[:, places[..., 0], places[..., 1]])
        return [p.reshape(-1).view(np.uint8) for p in (first, second, third)]

    def gather(outputs: list[np.ndarray]) -> np.ndarray:
        result = np.zeros((tiles, m, n), outputs[0].dtype)
        result[:, places[..., 0], places[..., 1]] = outputs[0].reshape(tiles, 128, sums)
        return result

    marks = f"{'-at' * transposed[0]}{'-bt' * transposed[1]}{'-registers' * in_registers}"
    marks += "" if accumulates else "-zero"
    name = f"wgmma-n{n}-{a}-{b}-{span}{marks}"
    held: Held = Bits(4) if integer else Numbers("f32")
    return Product(name, program, given, ["d"], [held], a, b, law, operands_of, gather)


def bring(text: Text, array: str, bytes: int, to: int) -> None:
    """Bytes of a block to shared memory, by all of 128 threads."""
    thread, shared = text.thread(), text.shared()
    block = text.arithmetic("mul", text.block(), bytes)
    size = next(each for each in (16, 8, 4, 2) if bytes % (128 * each) == 0)
    type = {16: "vector<4xi32>", 8: "i64", 4: "i32", 2: "i16"}[size]
    for i in range(bytes // (128 * size)):
        at = text.arithmetic("mul", text.arithmetic("add", thread, 128 * i), size)
        value = text.load(text.place(array, text.arithmetic("add", block, at)), type)
        text.store(value, text.place(shared, text.arithmetic("add", at, to), 3), type, 3)


def spell(
    a: str, b: str, n: int, k: int, sums: int, inputs: int, in_registers: bool,
    transposed: tuple[bool, bool], integer: bool,
) -> str:  # fmt: skip
    """As lib/Target/NVPTX/Wgmma.cpp spells one product."""
    counts = f"${sums + inputs - 1}"
    list = ", ".join(f"${i}" for i in range(sums))
    tail = "" if integer else ", 1, 1"
    if a in ("f16", "bf16"):
        tail += ("" if in_registers else f", {int(transposed[0])}") + f", {int(transposed[1])}"
    left = f"${sums}"
    if in_registers:
        left = "{" + ", ".join(f"${sums + i}" for i in range(4)) + "}"
    right = f"${sums + (4 if in_registers else 1)}"
    form = f"m64n{n}k{k}.{'s32' if integer else 'f32'}.{a}.{b}"
    return (
        "{\\0A.reg .pred p, q;\\0Asetp.ne.b32 p, " + counts + ", 0;\\0Asetp.eq.b32 q, " + counts
        + ", " + counts + f";\\0Awgmma.mma_async.sync.aligned.{form} {{{list}}}, {left}, {right}, p"
        + tail + ";\\0A}"
    )  # fmt: skip


def group_products() -> Iterator[Product]:
    wide, narrow = HOPPER, HOPPER_F8
    for kind in ("f16", "bf16"):
        yield wgmma(kind, kind, 8, wide)
        yield wgmma(kind, kind, 16, wide, in_registers=True)
    yield wgmma("bf16", "bf16", 16, wide, accumulates=False)
    whole = (WHOLE,)  # of these the places of elements are what is new
    yield wgmma("bf16", "bf16", 256, wide, drawn=whole)
    yield wgmma("f16", "f16", 64, wide, 128, (True, True), drawn=whole)
    yield wgmma("f16", "f16", 64, wide, 128, drawn=whole)
    yield wgmma("f16", "f16", 64, wide, 64, (False, True), drawn=whole)
    yield wgmma("f16", "f16", 32, wide, 64, (False, True), in_registers=True, drawn=whole)
    yield wgmma("bf16", "bf16", 24, wide, 0, drawn=whole)
    yield wgmma("tf32", "tf32", 8, wide)
    yield wgmma("tf32", "tf32", 16, wide, in_registers=True)
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            yield wgmma(a, b, 8, narrow)
    yield wgmma("e4m3", "e4m3", 16, narrow, in_registers=True)
    for a in ("s8", "u8"):
        for b in ("s8", "u8"):
            yield wgmma(a, b, 8, INTEGERS)
    yield wgmma("s8", "s8", 16, INTEGERS, in_registers=True)


def forms() -> Iterator[Product]:
    yield from warp_products()
    yield from group_products()
