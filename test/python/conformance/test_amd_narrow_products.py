"""AMD's products of narrow elements, held as those of test_amd_products.py, which AMD's calculator does not
know: gfx950's of f8, f6 and f4 with a scale for each block of 32, and RDNA's of four-bit integers.
Where elements are is derived twice: by the formulas of the ISA manuals (CDNA 4, "Block-scaled matrix
multiply"; RDNA 4, "Wave Matrix Multiply Accumulate"), and by the bases of layouts that Triton's tests
state for `mfma_scale_f32_32x32x64_f8f6f4` (accelerate-amd-matmul-gfx950.mlir), of f8 and f4 and of scales.
Of the 16 rows' instruction these have two lanes' bits less of rows and one more of k. Of f6 there is the
formula alone."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from form_programs import Program, Text
from values import Source

# By the rows of the instruction: k of a lane's elements, and of the lane, by the bits of each number.
BASES = {
    (32, 8): ([1, 2, 4, 8, 32], [16]),
    (32, 4): ([1, 2, 4, 8, 16], [32]),
    (16, 8): ([1, 2, 4, 8, 64], [16, 32]),
    (16, 4): ([1, 2, 4, 8, 16], [32, 64]),
}
FORMATS = {  # by number: how many bits, and their type
    "f8E4M3FN": (0, 8, ml_dtypes.float8_e4m3fn),
    "f8E5M2": (1, 8, ml_dtypes.float8_e5m2),
    "f6E2M3FN": (2, 6, ml_dtypes.float6_e2m3fn),
    "f6E3M2FN": (3, 6, ml_dtypes.float6_e3m2fn),
    "f4E2M1FN": (4, 4, ml_dtypes.float4_e2m1fn),
}


def place(rows: int, bits: int, lane: int, i: int) -> int:
    """Bytes come from either half of k, sixteen each; others follow one another."""
    k, part = 2048 // rows, lane // rows
    return i // 16 * (k // 2) + part * 16 + i % 16 if bits == 8 else part * 32 + i


@pytest.mark.parametrize("rows, bits", BASES)
def test_formulas_are_the_bases(rows: int, bits: int) -> None:
    of_element, of_lane = BASES[rows, bits]
    for part in range(64 // rows):
        for i in range(32):
            want = sum(x for bit, x in enumerate(of_element) if i >> bit & 1)
            want += sum(x for bit, x in enumerate(of_lane) if part >> bit & 1)
            assert place(rows, bits, rows * part, i) == want


def packed(codes: np.ndarray, bits: int) -> np.ndarray:
    """Each lane's elements, the lowest bits first, in 32 bytes."""
    spread = codes.astype(np.uint8)[..., None] >> np.arange(bits, dtype=np.uint8) & 1
    rows = np.packbits(spread.reshape(len(codes), -1), axis=1, bitorder="little")
    return np.pad(rows, [(0, 0), (0, 32 - rows.shape[1])])


def run(instruction: str, chip: str, lanes: int, arrays: list, types: list, more) -> np.ndarray:
    """Of 8 sums a lane, or 4 or 16: `more` puts operands between those that are loaded."""
    text = Text()
    lane = text.op("rocdl.workitem.id.x : i32")
    loaded = []
    for number, (array, type) in enumerate(zip(arrays, types, strict=True)):
        offset = text.arithmetic("mul", lane, array.nbytes // lanes)
        loaded.append((text.load(text.place(f"%a{number}", offset), type), type))
    sums = arrays[2].nbytes // lanes
    made = text.call(f"llvm.amdgcn.{instruction}", more(text, loaded), types[2])
    out = text.place(f"%a{len(arrays)}", text.arithmetic("mul", lane, sums))
    text.store(made, out, types[2])
    flat = [array.reshape(-1).view(np.uint8) for array in arrays]
    shapes = [("i8", (len(each),)) for each in [*flat, flat[2]]]
    program = Program(text, shapes, len(arrays), lanes, lanes=lanes)
    return program.run(f"emu:{chip}", flat)[0].view(arrays[2].dtype)


PAIRS = [("f8E4M3FN", "f4E2M1FN"), ("f8E5M2", "f6E2M3FN"), ("f6E3M2FN", "f8E4M3FN"),
         ("f4E2M1FN", "f4E2M1FN")]  # fmt: skip


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
@pytest.mark.parametrize("m", [32, 16])
def test_scaled_products(m: int, kinds: tuple[str, str]) -> None:
    """Of whole numbers and powers of two, whose sums are exact."""
    k, source = 2048 // m, Source(m + len(kinds[0]))
    values, scales, arrays, types, numbers = [], [], [], [], []
    lanes = np.arange(64)
    for kind in kinds:
        number, bits, dtype = FORMATS[kind]
        whole = (source.below(5, m * k).astype(int) - 2).reshape(m, k).astype(np.float64)
        exponents = (source.below(4, m * k // 32).astype(int) + 126).reshape(m, k // 32)
        order = np.array([[place(m, bits, lane, i) for i in range(32)] for lane in range(64)])
        codes = whole.astype(dtype).view(np.uint8)[(lanes % m)[:, None], order]
        arrays.append(packed(codes, bits))
        types.append(f"vector<{bits}xi32>")
        values.append(whole * np.repeat(2.0 ** (exponents - 127), 32, axis=1))
        # The scale of a row's block lies in the lane of both, here in the register's third byte.
        scales.append(exponents[lanes % m, lanes // m].astype(np.uint32) << 16)
        numbers.append(number)
    rows = np.array([[i // 4 * (256 // m) + 4 * (lane // m) + i % 4 for i in range(m * m // 64)]
                     for lane in range(64)])  # fmt: skip
    columns = (lanes % m)[:, None]
    c = (source.below(15, m * m).astype(int) - 7).reshape(m, m)
    arrays += [c[rows, columns].astype(np.float32), *scales]
    types += [f"vector<{m * m // 64}xf32>", "i32", "i32"]

    def more(text: Text, loaded: list) -> list:
        format = [(text.constant(number), "i32") for number in numbers]
        byte = (text.constant(2), "i32")
        return [*loaded[:3], *format, byte, loaded[3], byte, loaded[4]]

    got = run(f"mfma.scale.f32.{m}x{m}x{k}.f8f6f4", "gfx950", 64, arrays, types, more)
    want = (values[0] @ values[1].T + c)[rows, columns]
    assert np.array_equal(got.reshape(want.shape), want)


@pytest.mark.parametrize("chip, k", [("gfx1100", 16), ("gfx1201", 32)])
def test_products_of_four_bits(chip: str, k: int) -> None:
    """Sixteen elements a lane: on RDNA 3 all of k in both halves of the wave, on RDNA 4 half of it in
    each, as kernels of others read them (words 2h and 2h + 1 of a row's, the lowest bits first)."""
    source, lanes = Source(k), np.arange(32)
    words = [[(16 * (lane // 16) + i) % k for i in range(16)] for lane in range(32)]
    by_kernels = [[(8 * (2 * (lane // 16) + i // 8) + i % 8) % k for i in range(16)]
                  for lane in range(32)]  # fmt: skip
    assert words == by_kernels
    a, b = ((source.below(16, 16 * k).astype(int) - 8).reshape(16, k) for _ in "ab")
    c = (source.below(15, 256).astype(int) - 7).reshape(16, 16)
    arrays = [packed((x & 15)[(lanes % 16)[:, None], words], 4)[:, :8].copy() for x in (a, b)]
    rows = np.array([[2 * i + lane // 16 if k == 16 else 8 * (lane // 16) + i for i in range(8)]
                     for lane in range(32)])  # fmt: skip
    columns = (lanes % 16)[:, None]
    arrays.append(c[rows, columns].astype(np.int32))

    def more(text: Text, loaded: list) -> list:
        signed, wraps = (text.op(f"llvm.mlir.constant({x}) : i1") for x in ("true", "false"))
        first, second, third = loaded
        return [(signed, "i1"), first, (signed, "i1"), second, third, (wraps, "i1")]

    types = ["vector<2xi32>", "vector<2xi32>", "vector<8xi32>"]
    got = run(f"wmma.i32.16x16x{k}.iu4", chip, 32, arrays, types, more)
    want = (a @ b.T + c)[rows, columns]
    assert np.array_equal(got.reshape(want.shape), want)
