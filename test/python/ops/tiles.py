"""Kernels written as MLIR text over whole tensors, run for the tests beside: on the CPU, or on the
device that KILN_TEST_DEVICE names (`emu:sm_90a`, `cuda:0`), whose numbers must be the same. Where
that is an emulated AMD chip, the chip's own code is proven as well, of a quarter of the kernels;
beside a run on the CPU that of an eighth, on one of the chips. A commit draws which, and which
half of the host's code is optimised; with `--whole` it is that of all.

`apply(body, inputs, outputs)` makes a kernel that loads each input as one tile, runs the body and
stores each output, and returns the outputs.
"""

from __future__ import annotations

import os

import ml_dtypes
import numpy as np
import pytest
from isa import CHIPS, prove_waits
from placing import Placement
from seeds import draw_of, is_whole

import kiln
from kiln import _native

DEVICE = os.environ.get("KILN_TEST_DEVICE", "cpu")
NUMPY = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu, "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn, "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8, "i1": np.bool_,
    "i4": ml_dtypes.int4, "i2": ml_dtypes.int2, "index": np.int64,
}  # fmt: skip
PACKED = ("i4", "i2", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN")


def name_of(dtype: np.dtype) -> str:
    return next(name for name, known in NUMPY.items() if np.dtype(known) == dtype)


def bits(array: np.ndarray) -> np.ndarray:
    """The elements' bits, for comparisons to the bit."""
    return array.view({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[array.itemsize])


def tensor(shape: tuple[int, ...], element: str) -> str:
    return "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"


def view(rank: int, element: str, strides: str = "") -> str:
    return "!tile.view<" + "?x" * rank + element + strides + ">"


def compile_text(text: str, kernel: str = "k", **fields):
    device = _native.Device.open(DEVICE)
    request = {"source": text, "target": device.target, "kernel": kernel}
    level = 3
    if DEVICE.startswith("emu:"):  # the target's own code is the same at each level
        level = 0
    elif DEVICE == "cpu" and not is_whole():  # the host's is right at each
        level *= draw_of(text, 2)
    request |= {"source_name": "test.mlir", "opt_level": level, **fields}
    try:
        artifact = _native.compile(None, None, request)
    except kiln.CompileError as error:  # the support table holds which cells may be refused
        if DEVICE != "cpu" and f"is not supported on {device.target}" in str(error):
            pytest.skip(str(error).splitlines()[0])
        raise
    artifact = artifact[0] if isinstance(artifact, tuple) else artifact
    if DEVICE.startswith("emu:gfx"):
        if is_whole() or draw_of(text, 4) == 0:
            prove_waits(text, DEVICE.removeprefix("emu:"))
    elif DEVICE == "cpu" and (chip := sampled_chip(text)):
        prove_waits(text, chip, may_refuse=True)
    return device.load(artifact)


def sampled_chip(text: str) -> str | None:
    """The chip that a kernel is proven on; most are on none."""
    number = draw_of(text, (1 if is_whole() else 8) * len(CHIPS))
    return CHIPS[number] if number < len(CHIPS) else None


class Pointer:
    """An array that a kernel is given as a bare pointer."""

    def __init__(self, array: np.ndarray):
        self.array = array


def run(kernel: kiln.Kernel, *arguments, **options) -> None:
    """Runs a kernel in Python on the tests' device; arrays come back in place."""
    placement = Placement(DEVICE)
    kernel(*map(placement.place, arguments), _device=DEVICE, **options)
    placement.fetch()


def launch(text: str, arguments: list, grid: tuple[int, ...] = (1,)) -> None:
    """Runs a kernel @k. Arrays below a byte go packed and come back in place."""
    executable = compile_text(text)
    given, packed, placement = [], [], Placement(DEVICE)
    for argument in arguments:
        if isinstance(argument, np.ndarray) and name_of(argument.dtype) in PACKED:
            array = kiln.PackedArray.from_numpy(argument)
            packed.append((argument, array))
            given.append(array)
        else:
            given.append(argument)
    given = [
        placement.address(value.array) if isinstance(value, Pointer) else placement.place(value)
        for value in given
    ]
    executable.launch("k", given, grid)
    placement.fetch()
    for argument, array in packed:
        argument[...] = array.to_numpy()


def apply(body: str, inputs: dict[str, np.ndarray], outputs: dict[str, tuple], programs: int = 1):
    """`outputs` maps a name to (shape, element). In the body, `%name` is a tensor: the array, or of
    several programs each one's part of it, cut along the first dimension."""
    arguments, loads, stores = [], [], []
    results = {name: np.zeros(shape, NUMPY[element]) for name, (shape, element) in outputs.items()}
    given = {name: np.ascontiguousarray(array) for name, array in inputs.items()}
    for name, array in (given | results).items():
        element = outputs[name][1] if name in outputs else name_of(array.dtype)
        memory = "i8" if element == "i1" else element
        kind, start, shape = view(array.ndim, memory), "%zero", array.shape
        arguments.append(f"%{name}_view: {kind}")
        if programs > 1:
            start, shape = f"%{name}_start", (array.shape[0] // programs, *array.shape[1:])
            assert shape[0] * programs == array.shape[0]
            loads.append(f"%{name}_rows = arith.constant {shape[0]} : index")
            loads.append(f"{start} = arith.muli %program, %{name}_rows : index")
        at = ", ".join([start] + ["%zero"] * (array.ndim - 1) if array.ndim else [])
        whole, held = tensor(shape, element), tensor(shape, memory)
        moved = f"%{name}_byte" if element == "i1" else f"%{name}"
        if name in inputs:
            loads.append(f"{moved} = tile.load %{name}_view[{at}] : {kind} -> {held}")
            if element == "i1":
                loads.append(f"%{name} = arith.trunci {moved} : {held} to {whole}")
        else:
            if element == "i1":
                stores.append(f"{moved} = arith.extui %{name} : {whole} to {held}")
            stores.append(f"tile.store {moved}, %{name}_view[{at}] : {held}, {kind}")
    text = (
        f"tile.kernel @k({', '.join(arguments)}) {{\n%zero = arith.constant 0 : index\n"
        + "%program = tile.program_id x\n" * (programs > 1)
        + "\n".join([*loads, body, *stores])
        + "\ntile.return\n}\n"
    )
    launch(text, [*given.values(), *results.values()], (programs,))
    return tuple(results.values()) if len(results) > 1 else next(iter(results.values()))


def assert_close(got: np.ndarray, want: np.ndarray, tolerance: float, size=None) -> None:
    """Norm-wise and element by element; NaN and infinity must be where they are wanted. Where few
    sums may all cancel, errors are held to the `size` of what was summed."""
    got, want = got.astype(np.float64), want.astype(np.float64)
    assert got.shape == want.shape
    assert np.array_equal(np.isnan(got), np.isnan(want))
    finite = np.isfinite(want)
    assert np.array_equal(got[~finite & ~np.isnan(want)], want[~finite & ~np.isnan(want)])
    size = np.abs(want if size is None else size)[finite]
    got, want = got[finite], want[finite]
    scale = np.linalg.norm(size) or 1.0
    assert np.linalg.norm(got - want) <= tolerance * scale
    worst = np.abs(got - want) / np.maximum(size, scale / max(1, want.size) ** 0.5)
    assert worst.max(initial=0) <= 16 * tolerance
