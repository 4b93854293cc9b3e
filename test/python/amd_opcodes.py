"""The opcodes of AMD's chips that Kiln is known to emit, each held against something that is derived twice.

- *Matrix* instructions: the tables of `conformance/test_amd_products.py` and its neighbour.
- What touches memory, other lanes or the order of waves: what the reader of final code says of it by
  LLVM's descriptions, and a row by hand (`test/Target/AMDGPU/ISA/EmittedTest.cpp`).
- *Integers*: what the reader of final code computes in its runs, and a formula here, from the pseudo-code of
  the ISA manuals ("Vector ALU", "Scalar ALU instructions"); `conformance/test_amd_opcodes.py` compares.
- *Comparisons*: a relation and a type, of which any two go together.
- *Named*: numbers of floats, of 16 and 64 bits and of masks. A run gives most of them a name alone, and no proof
  hangs on them; of conversions `emulated/test_amd_code.py` holds the numbers.

`unknown` names the opcodes of a code that have no entry: tests that read final code back ask it of each.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

TEST = Path(__file__).resolve().parents[1]
ALL = 0xFFFFFFFF


def signed(x: int) -> int:
    return x - (x >> 31 << 32)


def bits(x: int, first: int, count: int) -> int:
    return x >> (first & 31) & (1 << count) - 1


def extend(x: int, width: int) -> int:
    return x - (x >> (width - 1) << width) if width else 0


def pick(a: int, b: int, selector: int) -> int:
    """v_perm_b32: each byte of a selector names one of eight, the sign of every other one, 0 or 255."""
    both = a << 32 | b

    def get(which: int) -> int:
        if which < 8:
            return both >> 8 * which & 255
        return 255 * (both >> 16 * (which - 8) + 15 & 1) if which < 12 else 255 * (which > 12)

    return sum(get(selector >> 8 * i & 255) << 8 * i for i in range(4))


def first_one(x: int) -> int:
    return (x & -x).bit_length() - 1 if x else ALL


def last_one(x: int) -> int:
    return 32 - x.bit_length() if x else ALL


# By the opcode without its unit and encoding: how many operands, and the result; of the vector unit's.
INTEGERS: dict[str, tuple[int, Callable[..., int]]] = {
    "mov_b32": (1, lambda a: a),
    "not_b32": (1, lambda a: ~a),
    "bfrev_b32": (1, lambda a: int(f"{a:032b}"[::-1], 2)),
    "ffbl_b32": (1, first_one),
    "ctz_i32_b32": (1, first_one),
    "ffbh_u32": (1, last_one),
    "clz_i32_u32": (1, last_one),
    "add_u32": (2, lambda a, b: a + b),
    "add_nc_u32": (2, lambda a, b: a + b),
    "sub_u32": (2, lambda a, b: a - b),
    "sub_nc_u32": (2, lambda a, b: a - b),
    "subrev_u32": (2, lambda a, b: b - a),
    "subrev_nc_u32": (2, lambda a, b: b - a),
    "mul_lo_u32": (2, lambda a, b: a * b),
    "mul_hi_u32": (2, lambda a, b: a * b >> 32),
    "mul_u32_u24": (2, lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF)),
    "and_b32": (2, lambda a, b: a & b),
    "or_b32": (2, lambda a, b: a | b),
    "xor_b32": (2, lambda a, b: a ^ b),
    "lshlrev_b32": (2, lambda a, b: b << (a & 31)),
    "lshrrev_b32": (2, lambda a, b: b >> (a & 31)),
    "ashrrev_i32": (2, lambda a, b: signed(b) >> (a & 31)),
    "min_u32": (2, min),
    "max_u32": (2, max),
    "min_i32": (2, lambda a, b: min(signed(a), signed(b))),
    "max_i32": (2, lambda a, b: max(signed(a), signed(b))),
    "bcnt_u32_b32": (2, lambda a, b: a.bit_count() + b),
    "add3_u32": (3, lambda a, b, c: a + b + c),
    "xor3_b32": (3, lambda a, b, c: a ^ b ^ c),
    "or3_b32": (3, lambda a, b, c: a | b | c),
    "and_or_b32": (3, lambda a, b, c: a & b | c),
    "xad_u32": (3, lambda a, b, c: (a ^ b) + c),
    "lshl_add_u32": (3, lambda a, b, c: (a << (b & 31)) + c),
    "add_lshl_u32": (3, lambda a, b, c: (a + b & ALL) << (c & 31)),
    "lshl_or_b32": (3, lambda a, b, c: a << (b & 31) | c),
    "bfe_u32": (3, lambda a, b, c: bits(a, b, c & 31)),
    "bfe_i32": (3, lambda a, b, c: extend(bits(signed(a), b, c & 31), c & 31)),
    "bfi_b32": (3, lambda a, b, c: a & b | ~a & c),
    "alignbit_b32": (3, lambda a, b, c: (a << 32 | b) >> (c & 31)),
    "perm_b32": (3, pick),
    "mad_u32_u24": (3, lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c),
    "min3_u32": (3, min),
}
# Of the scalar unit, whose operands stand in the other order, or in one word.
SCALARS: dict[str, tuple[int, Callable[..., int]]] = {
    "s_lshl_b32": (2, lambda a, b: a << (b & 31)),
    "s_lshr_b32": (2, lambda a, b: a >> (b & 31)),
    "s_ashr_i32": (2, lambda a, b: signed(a) >> (b & 31)),
    "s_add_u32": (2, lambda a, b: a + b),
    "s_add_i32": (2, lambda a, b: a + b),
    "s_sub_u32": (2, lambda a, b: a - b),
    "s_sub_i32": (2, lambda a, b: a - b),
    "s_add_co_u32": (2, lambda a, b: a + b),
    "s_add_co_i32": (2, lambda a, b: a + b),
    "s_sub_co_u32": (2, lambda a, b: a - b),
    "s_sub_co_i32": (2, lambda a, b: a - b),
    "s_mul_i32": (2, lambda a, b: a * b),
    "s_mul_hi_u32": (2, lambda a, b: a * b >> 32),
    "s_andn2_b32": (2, lambda a, b: a & ~b),
    "s_and_not1_b32": (2, lambda a, b: a & ~b),
    "s_bfm_b32": (2, lambda a, b: (1 << (a & 31)) - 1 << (b & 31)),
    "s_bfe_u32": (2, lambda a, b: bits(a, b, b >> 16 & 127)),
    "s_bfe_i32": (2, lambda a, b: extend(bits(signed(a), b, b >> 16 & 127), b >> 16 & 127)),
    "s_lshl1_add_u32": (2, lambda a, b: (a << 1) + b),
    "s_lshl2_add_u32": (2, lambda a, b: (a << 2) + b),
    "s_lshl3_add_u32": (2, lambda a, b: (a << 3) + b),
    "s_lshl4_add_u32": (2, lambda a, b: (a << 4) + b),
    "s_sext_i32_i8": (1, lambda a: extend(a & 0xFF, 8)),
    "s_sext_i32_i16": (1, lambda a: extend(a & 0xFFFF, 16)),
    "s_brev_b32": (1, lambda a: int(f"{a:032b}"[::-1], 2)),
    "s_abs_i32": (1, lambda a: abs(signed(a))),
    "s_bcnt1_i32_b32": (1, int.bit_count),
} | {
    f"s_{word}": INTEGERS[word]
    for word in ("mov_b32", "not_b32", "and_b32", "or_b32", "xor_b32", "min_u32", "max_u32",
                 "min_i32", "max_i32")
}  # fmt: skip

# Of functions that a kernel calls (`Waits.CallsWaitForAll`).
CALLS = frozenset(("s_swappc_b64", "s_setpc_b64"))
RELATION = r"f|lt|eq|le|gt|lg|ne|ge|o|u|nge|nlg|ngt|nle|neq|nlt|tru|t"
COMPARISON = re.compile(
    rf"v_cmpx?_(?:(?:{RELATION})_[iuf](?:16|32|64)|class_f(?:16|32|64))"
    rf"|s_cmp_(?:{RELATION})_[iuf](?:32|64)|s_cmpk_(?:{RELATION})_[iu]32|s_bitcmp[01]_b(?:32|64)"
)
NAMED = frozenset(
    # Floats, and what they become.
    [f"v_{op}_f{width}" for width in (16, 32, 64) for op in (
        "add", "sub", "subrev", "mul", "fma", "fmac", "max", "min", "max_num", "min_num", "maximum",
        "minimum", "maximum3", "minimum3", "max3", "min3", "med3", "max3_num", "min3_num",
        "med3_num", "maxmin", "minmax", "maxmin_num", "minmax_num", "maximumminimum",
        "minimummaximum", "ldexp", "rcp", "rsq", "sqrt",
        "exp", "log", "sin", "cos", "trunc", "floor", "ceil", "rndne", "fract", "div_fixup",
        "div_fmas", "div_scale", "frexp_mant")]
    + [f"v_{op}_f32" for op in ("mad", "mac", "madmk", "madak", "fmamk", "fmaak", "rcp_iflag",
                                "pk_add", "pk_fma", "pk_mul", "s_rcp", "s_sqrt", "s_exp", "s_log",
                                "s_rsq", "fma_mix")]
    + [f"v_pk_{op}_f16" for op in ("add", "mul", "fma", "max", "min", "max_num", "min_num",
                                   "maximum", "minimum", "maximum3", "minimum3")]
    + ["v_fma_mixlo_f16", "v_fma_mixhi_f16", "v_frexp_exp_i32_f32", "v_frexp_exp_i32_f64",
       "v_frexp_exp_i16_f16"]
    + [f"s_{op}_f32" for op in ("add", "sub", "mul", "fmac", "fmamk", "fmaak", "trunc", "floor",
                                "ceil", "rndne", "min_num", "max_num", "minimum", "maximum")]
    + [f"{unit}_cvt_{to}_{of}" for unit in "vs" for to in (
        "f16", "f32", "f64", "i32", "u32", "i16", "u16") for of in (
        "f16", "f32", "f64", "i32", "u32", "i16", "u16", "ubyte0", "ubyte1", "ubyte2", "ubyte3")]
    + ["v_cvt_pk_bf16_f32", "v_cvt_pk_f16_f32", "v_cvt_pkrtz_f16_f32", "v_cvt_pk_rtz_f16_f32",
       "v_cvt_f32_bf16", "v_cvt_flr_i32_f32", "v_cvt_floor_i32_f32", "v_cvt_pk_u8_f32", "v_pack_b32_f16"]
    # Of 16 and of 64 bits, with a carry, of masks, and by a table.
    + [f"v_{op}16" for op in ("add_u", "add_nc_u", "sub_u", "sub_nc_u", "subrev_u", "mul_lo_u",
                              "and_b", "or_b", "xor_b", "not_b", "mov_b", "cndmask_b", "lshlrev_b",
                              "lshrrev_b", "ashrrev_i", "min_i", "max_i", "min_u", "max_u",
                              "mad_u", "mad_legacy_u", "bitop3_b")]
    + [f"v_pk_{op}16" for op in ("add_u", "sub_i", "mul_lo_u", "lshlrev_b", "lshrrev_b",
                                 "ashrrev_i", "min_i", "max_i", "min_u", "max_u", "mad_u", "add_i",
                                 "sub_u")]
    + ["v_mov_b64", "v_pk_mov_b32", "v_lshl_add_u64", "v_lshlrev_b64", "v_lshrrev_b64",
       "v_ashrrev_i64", "v_mad_u64_u32", "v_mad_i64_i32", "v_mad_co_u64_u32", "v_mad_co_i64_i32",
       "v_add_co_u32", "v_addc_co_u32", "v_add_co_ci_u32", "v_sub_co_u32", "v_subb_co_u32",
       "v_sub_co_ci_u32", "v_subrev_co_u32", "v_subbrev_co_u32", "v_subrev_co_ci_u32",
       "v_bitop3_b32", "v_mul_hi_i32", "v_mul_i32_i24", "v_mad_i32_i24", "v_mul_hi_u32_u24",
       "v_alignbyte_b32", "v_med3_i32", "v_med3_u32", "v_min3_i32", "v_max3_i32", "v_max3_u32",
       "v_bfm_b32", "v_ffbh_i32", "v_cls_i32", "v_sad_u32", "v_cndmask_b32", "v_mbcnt_lo_u32_b32",
       "v_mbcnt_hi_u32_b32", "v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32",
       "v_nop"]
    + [f"s_{op}64" for op in ("mov_b", "not_b", "and_b", "or_b", "xor_b", "andn2_b", "and_not1_b",
                              "orn2_b", "or_not1_b", "nand_b", "nor_b", "xnor_b", "lshl_b",
                              "lshr_b", "ashr_i", "bfe_u", "bfe_i", "bfm_b", "add_nc_u",
                              "sub_nc_u", "add_u", "sub_u", "mul_u", "cselect_b", "cmov_b")]
    + [f"s_{op}_saveexec_b{width}" for width in (32, 64) for op in (
        "and", "or", "xor", "andn2", "and_not1", "orn2", "or_not1")]
    + ["s_addc_u32", "s_add_co_ci_u32", "s_subb_u32", "s_sub_co_ci_u32", "s_addk_i32",
       "s_addk_co_i32", "s_mulk_i32", "s_movk_i32", "s_cmov_b32", "s_cmovk_i32", "s_cselect_b32",
       "s_mul_hi_i32", "s_nand_b32", "s_nor_b32", "s_xnor_b32", "s_orn2_b32", "s_or_not1_b32",
       "s_bitset0_b32", "s_bitset1_b32", "s_bcnt1_i32_b64", "s_flbit_i32", "s_flbit_i32_b32",
       "s_flbit_i32_b64", "s_ff1_i32_b32", "s_ff1_i32_b64", "s_ctz_i32_b32", "s_ctz_i32_b64",
       "s_clz_i32_u32", "s_clz_i32_u64", "s_cls_i32", "s_pack_ll_b32_b16", "s_pack_lh_b32_b16",
       "s_pack_hh_b32_b16", "s_getpc_b64", "s_getreg_b32", "s_setreg_b32", "s_setreg_imm32_b32",
       "s_abs_i32", "s_absdiff_i32"]
)  # fmt: skip


def plain(opcode: str) -> str:
    """Without its encoding, and of two in one without saying so."""
    for encoding in ("_dpp", "_sdwa", "_e32", "_e64"):
        opcode = opcode.removesuffix(encoding)
    return opcode.replace("v_dual_", "v_")


def of_matrix(opcode: str) -> str:
    """As names are compared: LLVM's intrinsics have dots, and opcodes of some chips a suffix."""
    return re.sub(r"[._]", "", opcode.removeprefix("v_")).removesuffix("1k")


@cache
def matrices() -> frozenset[str]:
    text = (TEST / "python/conformance/test_amd_products.py").read_text()
    found = set(re.findall(r'"((?:mfma|wmma)\.[\w.]+)"', text))
    narrow = (TEST / "python/conformance/test_amd_narrow_products.py").read_text()
    for form in re.findall(r'f"((?:mfma|wmma)\.[\w.{}]+)"', narrow):
        found |= {
            form.replace("{m}", str(m)).replace("{k}", str(k))
            for m, k in ((16, 128), (32, 64), (16, 16), (16, 32))
        }
    return frozenset(map(of_matrix, found))


@cache
def effects() -> frozenset[str]:
    """The opcodes of which a row says what they do, and those of which one says what they compute."""
    text = (TEST / "Target/AMDGPU/ISA/EmittedTest.cpp").read_text()
    return frozenset(map(plain, re.findall(r'\{"gfx\w+",\s*"(\w+)', text)))


def is_known(opcode: str) -> bool:
    name = plain(opcode)
    if name.startswith(("v_mfma", "v_wmma")):
        return of_matrix(name) in matrices()
    return (
        name in effects() | NAMED | CALLS
        or name in SCALARS
        or (name.startswith("v_") and name.removeprefix("v_") in INTEGERS)
        or bool(COMPARISON.fullmatch(name))
    )


def opcodes(assembly: str) -> set[str]:
    """Of what LLVM prints, the instructions alone."""
    found = set()
    for line in re.findall(r"^\t([a-z]\w*\b.*)$", assembly, re.MULTILINE):
        found |= {half.split()[0] for half in line.split(" :: ")}
    return found


def unknown(assembly: bytes | str) -> list[str]:
    """The opcodes of AMD's final code that have no entry."""
    text = assembly if isinstance(assembly, str) else assembly.decode()
    if ".amdgcn_target" not in text:
        return []
    return sorted(opcode for opcode in opcodes(text) if not is_known(opcode))
