"""A product in MLIR text whose rings are filled by cp.async, for any type, chip and depth, and one
that the tensor copy engine brings a tile to."""

from __future__ import annotations

import ml_dtypes
import numpy as np

KERNEL = """
#mma = #nvptx.mma_sync<"{shape}", {type}, {sum}>
#rows = #tile.layout<offset = [{offset}]>
#acc = #tile.layout<register = [[0,1],[8,0],[16,0],[0,8],[0,16]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[32,0],[0,32]]>
#opa = #tile.layout<register = [{word}[8,0],[0,{q}],[0,{h}],[16,0]], lane = [[0,{w}],[0,{d}],[1,0],[2,0],[4,0]], warp = [[32,0],[0,0]]>
#opb = #tile.layout<register = [{word}[0,{q}],[0,{h}],[8,0],[16,0]], lane = [[0,{w}],[0,{d}],[1,0],[2,0],[4,0]], warp = [[0,0],[32,0]]>
!view = !tile.view<?x?x{type}, strides [?, 1]>
!out = !tile.view<?x?x{sum}>
!buffer = !tile.buffer<64x{k}x{type}, #rows>
#facts = #tile.facts<pointer = {bytes}, strides = [{bytes}, {size}]>
module attributes {{tile.target = #nvptx.target<chip = "{chip}">}} {{
tile.kernel @multiply(%a: !view {{tile.facts = #facts}}, %b: !view {{tile.facts = #facts}}, %c: !out)
    attributes {{tile.roles = [#tile.role<"all", warps = 4>]}} grid {{
  %c64 = arith.constant 64 : index
  %m = tile.dim %c, 0 : !out
  %n = tile.dim %c, 1 : !out
  %tm = arith.ceildivui %m, %c64 : index
  %tn = arith.ceildivui %n, %c64 : index
  tile.grid %tm, %tn
}} {{
  %x = tile.program_id x
  %y = tile.program_id y
  %c0 = arith.constant 0 : index
  %ck = arith.constant {k} : index
  %c64 = arith.constant 64 : index
  %row = arith.muli %x, %c64 : index
  %column = arith.muli %y, %c64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<{zero}> : tensor<64x64x{sum}, #acc>
  %sum = scf.for %kk = %c0 to %k step %ck iter_args(%s = %zero) -> tensor<64x64x{sum}, #acc> {{
    %at = tile.load %a[%row, %kk] {hint}
        {{atom = #nvptx.cp_async<{bytes}>, buffer = !buffer, {read}stage = 0, role = "all"}}
        : !view -> tensor<64x{k}x{type}, #opa>
    %bt = tile.load %b[%column, %kk]
        {{atom = #nvptx.cp_async<{bytes}>, buffer = !buffer, {read}stage = 0, role = "all"}}
        : !view -> tensor<64x{k}x{type}, #opb>
    %d = tile.dot %at, %bt, %s transpose_b {{atom = #mma, stage = {stage}, role = "all"}}
       : tensor<64x{k}x{type}, #opa>, tensor<64x{k}x{type}, #opb> -> tensor<64x64x{sum}, #acc>
    scf.yield %d : tensor<64x64x{sum}, #acc>
  }} {{tile.depth = {depth}}}
  tile.store %sum, %c[%row, %column] {{role = "all"}} : tensor<64x64x{sum}, #acc>, !out
  tile.return
}}
}}
"""
# By name: what memory holds, what sums are, and the instruction's shape.
TYPES = {
    "f16": (np.float16, "f16", "f32", "m16n8k16"),
    "bf16": (ml_dtypes.bfloat16, "bf16", "f32", "m16n8k16"),
    "i8": (np.int8, "i8", "i32", "m16n8k32"),
    "e4m3": (ml_dtypes.float8_e4m3fn, "f8E4M3FN", "f32", "m16n8k32"),
    "e5m2": (ml_dtypes.float8_e5m2, "f8E5M2", "f32", "m16n8k32"),
}


def write(name: str, chip: str, bytes: int, depth: int, stage: int, hint: str = "") -> str:
    """A product of this type: rows of 64 bytes whose pieces of 16 are permuted."""
    dtype, type, sum, shape = TYPES[name]
    size = np.dtype(dtype).itemsize
    w = 4 // size  # elements of a word
    k = 16 * w
    powers = [1 << bit for bit in range((k - 1).bit_length())]
    offset = [[0, p] for p in powers] + [[1, 0], [2, 4 * w], [4, 8 * w], [8, 0], [16, 0], [32, 0]]
    return KERNEL.format(
        shape=shape, sum=sum, type=type, chip=chip, bytes=bytes, size=size,
        offset=", ".join(map(str, offset)), word="".join(f"[0,{p}]," for p in powers if p < w),
        w=w, d=2 * w, q=4 * w, h=8 * w, k=k, depth=depth, stage=stage, hint=hint,
        zero="0" if sum == "i32" else "0.0",
        read=f"read_atom = #nvptx.ldmatrix<4, {8 * size}>, ",
    )  # fmt: skip


def write_beside_the_engine(chip: str) -> str:
    """The same in bf16, and a bias that a second role brings by the tensor copy engine."""
    text = write("bf16", chip, 16, 3, 2)
    for old, new in {
        '[#tile.role<"all", warps = 4>]': '[#tile.role<"load", warps = 1>, #tile.role<"all", warps = 4>]',
        "%c: !out)": "%c: !out, %bias: !tile.view<?x?xf32> "
        "{tile.facts = #tile.facts<pointer = 16, strides = [16, 4]>})",
        "  tile.store %sum,": """  %more = tile.load %bias[%row, %column]
      {atom = #nvptx.tma, buffer = !tile.buffer<64x64xf32>, role = "load", ring = "bias"}
      : !tile.view<?x?xf32> -> tensor<64x64xf32, #acc>
  %all = arith.addf %sum, %more {tile.role = "all"} : tensor<64x64xf32, #acc>
  tile.store %all,""",
    }.items():
        assert old in text
        text = text.replace(old, new)
    return text
