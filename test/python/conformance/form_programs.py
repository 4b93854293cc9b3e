"""Kernels in the text of the stage `llvm`, compiled for a chip or its emulation, and launched."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kiln import _native
from kiln.runtime.devices import device

SIZES = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8}


def size_of(type: str) -> int:
    """Bytes of one of LLVM's types, as MLIR spells it."""
    if type.startswith("vector<"):
        count, element = type[len("vector<") : -1].split("x", 1)
        return int(count) * SIZES[element]
    return SIZES[type]


class Text:
    """A function's body; values are named by what makes them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._constants: dict[tuple[Any, str], str] = {}
        self._names = 0

    def do(self, line: str) -> None:
        self.lines.append(line)

    def op(self, line: str) -> str:
        self._names += 1
        name = f"%v{self._names}"
        self.do(f"{name} = {line}")
        return name

    def constant(self, value: float, type: str = "i32") -> str:
        if (value, type) not in self._constants:
            name = f"%c{len(self._constants)}"
            self.lines.insert(0, f"{name} = llvm.mlir.constant({value} : {type}) : {type}")
            self._constants[value, type] = name
        return self._constants[value, type]

    def call(self, name: str, operands: list[tuple[str, str]], result: str = "") -> str:
        """An intrinsic, on values each with its type."""
        text = (
            f'llvm.call_intrinsic "{name}"({", ".join(v for v, _ in operands)})'
            f" : ({', '.join(t for _, t in operands)}) -> {result or '()'}"
        )
        if result:
            return self.op(text)
        self.do(text)
        return ""

    def fields(self, value: str, types: list[str]) -> list[str]:
        """Of a struct; of one field alone it is the value itself."""
        if len(types) == 1:
            return [value]
        whole = struct(types)
        return [self.op(f"llvm.extractvalue {value}[{i}] : {whole}") for i in range(len(types))]

    def arithmetic(self, op: str, a: str, b: str | int, type: str = "i32") -> str:
        if isinstance(b, int):
            b = self.constant(b, type)
        return self.op(f"llvm.{op} {a}, {b} : {type}")

    def thread(self) -> str:
        return self.op("nvvm.read.ptx.sreg.tid.x : i32")

    def block(self) -> str:
        return self.op("nvvm.read.ptx.sreg.ctaid.x : i32")

    def place(self, base: str, offset: str, space: int = 1) -> str:
        """So many bytes behind a pointer."""
        pointer = f"!llvm.ptr<{space}>"
        return self.op(f"llvm.getelementptr {base}[{offset}] : ({pointer}, i32) -> {pointer}, i8")

    def shared(self) -> str:
        return self.op("llvm.mlir.addressof @kiln_shared : !llvm.ptr<3>")

    def load(self, pointer: str, type: str, space: int = 1) -> str:
        align = min(size_of(type), 16)
        return self.op(
            f"llvm.load {pointer} {{alignment = {align} : i64}} : !llvm.ptr<{space}> -> {type}"
        )

    def store(self, value: str, pointer: str, type: str, space: int = 1) -> None:
        align = min(size_of(type), 16)
        self.do(
            f"llvm.store {value}, {pointer} {{alignment = {align} : i64}} "
            f": {type}, !llvm.ptr<{space}>"
        )

    def meet(self) -> None:
        self.do("nvvm.barrier0")


def struct(types: list[str]) -> str:
    return f"!llvm.struct<({', '.join(types)})>" if len(types) > 1 else types[0]


@dataclass(frozen=True)
class Map:
    """What the copy engine is told of an argument: the box of a copy, and how rows are permuted."""

    argument: int
    box: tuple[int, ...]
    swizzle: int


@dataclass
class Program:
    """One kernel: its arrays become `%a0` and so on, maps `%m0`; those after `inputs` are written."""

    body: Text
    arrays: list[tuple[str, tuple[int, ...]]]  # an element type of LLVM's, and extents
    inputs: int
    threads: int
    blocks: int = 1
    shared: int = 0
    maps: list[Map] = field(default_factory=list)
    flushes: bool = False
    lanes: int = 32  # of a warp
    cluster: int = 1  # blocks of one, along x

    def text(self, chip: str, emulated: bool) -> str:
        family = "amdgcn" if chip.startswith("gfx") else "nvptx"
        target = f'#{family}.target<chip = "{chip}">'
        if emulated:
            target = f"#emulated.target<{target}>"
        abi, arguments, hidden = [], [], []
        for i, (type, shape) in enumerate(self.arrays):
            abi.append(f'{{arg = {i} : i64, kind = "pointer", type = "{type}"}}')
            strides = [int(np.prod(shape[d + 1 :])) for d in range(len(shape))]
            written = "false" if i < self.inputs else "true"
            arguments.append(
                f'{{kind = "view", name = "a{i}", shape = {list(shape)}, strides = {strides}, '
                f'facts = {{pointer = 16 : i64}}, type = "{type}", written = {written}}}'
            )
        for each in self.maps:
            box = ", ".join(map(str, each.box))
            type = self.arrays[each.argument][0]
            hidden.append(
                f"{{arg = {each.argument} : i64, box = array<i64: {box}>, "
                f'kind = "tensor_map", swizzle = {each.swizzle} : i64, type = "{type}"}}'
            )
        name = "emu:" + chip if emulated else "nvptx:" + chip
        cluster = f"cluster = [{self.cluster}, 1, 1], " if self.cluster > 1 else ""
        metadata = (
            f"{{abi = [{', '.join(abi)}], arguments = [{', '.join(arguments)}], {cluster}fast_math = false, "
            f'file = "form.mlir", has_grid = false, hidden_parameters = [{", ".join(hidden)}], '
            f'kernel = "k", line = 1 : i64, moves = [], opt_level = 3 : i64, '
            f'shared_bytes = {self.shared} : i64, source = "form.mlir", target = "{name}", '
            f"vendor_math = false, warp_size = {self.lanes} : i64, warps = {self.threads // self.lanes} : i64}}"
        )
        parameters = [f"%a{i}: !llvm.ptr<1>" for i in range(len(self.arrays))]
        parameters += [
            f"%m{i}: !llvm.ptr {{llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, "
            "nvvm.grid_constant}"
            for i in range(len(self.maps))
        ]
        lines = "\n".join("    " + line for line in self.body.lines)
        marks = f"nvvm.kernel, nvvm.reqntid = array<i32: {self.threads}>"
        if family == "amdgcn":
            marks = f"rocdl.kernel, rocdl.reqd_work_group_size = array<i32: {self.threads}, 1, 1>"
        if self.flushes:
            marks += ', denormal_fp_math_f32 = "preserve-sign,preserve-sign"'
        return f"""module attributes {{tile.emitted = "llvm", tile.metadata = {metadata}, tile.target = {target}}} {{
  llvm.mlir.global external @kiln_shared() {{addr_space = 3 : i32, alignment = 1024 : i64}} : !llvm.array<0 x i8>
  llvm.func @k({", ".join(parameters)}) attributes {{{marks}}} {{
{lines}
    llvm.return
  }}
}}
"""

    def compile(self, chip: str, emulated: bool, stages: tuple[str, ...] = ()) -> Any:
        request = {
            "source": self.text(chip, emulated).encode(), "source_name": "form.mlir",
            "kernel": None, "target": ("emu:" if emulated else "nvptx:") + chip,
            "keep_stages": stages, "opt_level": 3, "fast_math": 0,
            "options": "from=llvm", "isolation": 2,
        }  # fmt: skip
        return _native.compile(None, None, request)[0]

    def code(self, chip: str) -> str:
        """The PTX of the kernel."""
        return bytes(self.compile(chip, emulated=False, stages=("asm",)).section("asm")).decode()

    def run(self, place: str, given: list[np.ndarray]) -> list[np.ndarray]:
        """The arrays that it writes, on a device by name; those that it reads are given, and so may
        be what stands in the others before."""
        chip = place.removeprefix("emu:") if place.startswith("emu:") else "sm_90a"
        where = device(place)
        executable = where.load(self.compile(chip, emulated=place.startswith("emu:")))
        shapes = [(NUMPY[type], shape) for type, shape in self.arrays]
        arrays = [np.ascontiguousarray(x).view(t).reshape(s) for x, (t, s) in zip(given, shapes)]
        arrays += [np.zeros(s, t) for t, s in shapes[len(arrays) :]]
        if not place.startswith("cuda:"):
            executable.launch("k", arrays, (self.blocks,))
            return arrays[self.inputs :]
        import torch  # which has memory there

        there = [torch.from_numpy(x.copy()).to(place) for x in arrays]
        executable.launch("k", there, (self.blocks,), torch.cuda.current_stream().cuda_stream)
        where.synchronize(torch.cuda.current_stream().cuda_stream, LONGEST)
        return [x.cpu().numpy() for x in there[self.inputs :]]


LONGEST = 20.0  # seconds of a kernel on a chip
# What NumPy and PyTorch both have.
NUMPY = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f32": np.float32}
