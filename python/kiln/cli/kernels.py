"""Kernels in files, and argument types and constants from the command line."""

from __future__ import annotations

import argparse
import ast
import importlib.util
import re
import sys
import traceback
from pathlib import Path
from typing import Any

from kiln.cli import COMPILE_FAILED, Failure

TYPES_HELP = """argument types:
  f32[?,128]   a view: element type and extents, `?` for one known only at launch
  *f32         a pointer
  i32          a scalar
  (f32[?],i32) a tuple or a list of them"""


def add_kernel_options(parser: argparse.ArgumentParser) -> None:
    """What `compile`, `explain` and `run` share."""
    parser.add_argument(
        "file", metavar="FILE[:KERNEL]",
        help="Python source, MLIR text or bytecode; the kernel's name if the file has several",
    )  # fmt: skip
    parser.add_argument(
        "--target", default=None,
        help="one that `kiln devices --targets` lists; without it that of --device, else what MLIR "
        "says, else cpu",
    )  # fmt: skip
    parser.add_argument(
        "--arg", action="append", default=[], metavar="NAME=TYPE",
        help="the type of an argument of a Python kernel, as f32[?,128], *f32 or i32; for `run` "
        "an argument of a kernel: x.npy, f32[64,128] or a number",
    )  # fmt: skip
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE",
        help="the value of a constant or tunable of a Python kernel",
    )  # fmt: skip
    parser.add_argument("-O", dest="opt_level", type=int, choices=range(4), default=3,
                        help="optimisation level (default 3)")  # fmt: skip
    parser.add_argument("--fast-math", action="store_true",
                        help="may reassociate and ignore NaN and infinities")  # fmt: skip
    parser.add_argument("--vendor-math", action="store_true",
                        help="on GPUs, the vendor's functions of mathematics if found")  # fmt: skip
    parser.add_argument("--pipeline", default="", metavar="OPTIONS",
                        help="stop-after=STAGE: what is stopped before code cannot be "
                        "launched")  # fmt: skip
    parser.add_argument("--from", dest="from_stage", metavar="STAGE", default=None,
                        choices=("tile", "layout", "schedule", "target", "llvm"),
                        help="the MLIR is what --emit of this stage wrote, perhaps edited: go on "
                        "behind it")  # fmt: skip
    parser.add_argument(
        "--exact",
        action="store_true",
        help="with --from layout: decide nothing that the MLIR leaves open",
    )
    parser.add_argument("--in-process", action="store_true",
                        help="compile MLIR in this process, not in a limited worker")  # fmt: skip


def split_name(text: str) -> tuple[Path, str | None]:
    """FILE[:KERNEL], and that the file is there."""
    path, name = Path(text), None
    if not path.exists() and ":" in text:
        file, name = text.rsplit(":", 1)
        path = Path(file)
    if not path.is_file():
        why = "which is none" if path.exists() else "which is not there"
        raise Failure(f"expected a file, got {text!r}, {why}")
    return path, name


def check_python(path: Path) -> None:
    """That Python can read a file: its own frames would tell a user nothing."""
    try:
        compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        text = "".join(traceback.format_exception_only(error)).rstrip()
        raise Failure(f"expected Python in {path}, got:\n{text}", COMPILE_FAILED) from None


def is_python(path: Path) -> bool:
    return path.suffix == ".py"


def load_kernel(path: Path, name: str | None, options: argparse.Namespace) -> Any:
    """The kernel of that name in a Python file, or its only one."""
    check_python(path)
    spec = importlib.util.spec_from_file_location("kiln_command_file", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.resolve().parent))
    spec.loader.exec_module(module)
    found = {}
    for key, value in vars(module).items():
        kernel = getattr(value, "kernel", value)  # of a tuner
        mine = getattr(kernel, "__module__", None) == spec.name
        if mine and hasattr(kernel, "parameters") and hasattr(kernel, "compile"):
            found[key] = kernel
    if name is None and len(found) == 1:
        return next(iter(found.values()))
    if name not in found:
        names = ", ".join(found) or "none"
        wanted = f"the kernel {name!r}" if name else "one kernel, or FILE:KERNEL"
        more = "" if name else launches_itself(options)
        raise Failure(f"expected {wanted} in {path}, got {names}{more}")
    return found[name]


def launches_itself(options: argparse.Namespace) -> str:
    """What else a Python file may have that is checked."""
    if not getattr(options, "check", False):
        return ""
    return (
        "; or a script that launches its kernels, under `if __name__ == '__main__':`, which is run "
        "without --arg and without a kernel's name"
    )


def parse_type(text: str) -> Any:
    """`f32[?,128]`, `*f32` or `i32` as the front end's type."""
    from kiln.frontend.types import PointerType, ScalarType, ViewType
    from kiln.language.dtypes import DTYPES

    match = re.fullmatch(r"(\*?)(\w+)(?:\[([^\]]*)\])?", text.strip())
    if not match or match[2] not in DTYPES or (match[1] and match[3] is not None):
        raise Failure(f"expected a type such as f32[?,128], *f32 or i32, got {text!r}")
    dtype = DTYPES[match[2]]
    if match[1]:
        return PointerType(dtype)
    if match[3] is None:
        return ScalarType(dtype)
    extents = [e.strip() for e in match[3].split(",")] if match[3].strip() else []
    if not all(e == "?" or e.isdigit() for e in extents):
        raise Failure(f"expected extents that are numbers or `?`, got {text!r}")
    return ViewType(dtype, tuple(None if e == "?" else int(e) for e in extents))


def parse_types(text: str) -> Any:
    """A type; several in round brackets are those of a tuple."""
    text = text.strip()
    if not (text.startswith("(") and text.endswith(")")):
        return parse_type(text)
    parts, depth = [""], 0
    for char in text[1:-1]:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return tuple(parse_types(part) for part in parts if part.strip())


def parse_pairs(pairs: list[str], what: str) -> dict[str, str]:
    """NAME=VALUE, each."""
    out = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise Failure(f"expected {what}, got {pair!r}")
        out[name.strip()] = value.strip()
    return out


def parse_value(text: str) -> Any:
    """A constant: a Python literal, else a string or the name of a dtype."""
    from kiln.language.dtypes import DTYPES

    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return DTYPES.get(text, text)


def example_of(text: str) -> Any:
    """What the compiler knows of what `kiln run --arg` gives a launch: an array has the facts that
    a call would find, its address those of memory that the device allocates. None for a number,
    whose type the kernel says."""
    import numpy as np

    from kiln.cli.run import numpy_dtype

    if text.endswith(".npy"):
        try:
            array = np.load(text, mmap_mode="r")
        except (OSError, ValueError) as error:
            raise Failure(f"expected an array in {text}: {error}") from None
        return _aligned(array.shape, array.dtype)
    if re.fullmatch(r"[-+]?[\d.].*", text):
        return None
    found = parse_types(text)
    shape = getattr(found, "shape", None)
    if shape is None or None in shape or (found.dtype.bits < 8 and not found.dtype.is_bool):
        return found
    return _aligned(shape, numpy_dtype(found.dtype))


def _aligned(shape: tuple[int, ...], dtype: Any) -> Any:
    import numpy as np

    most = 64
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.zeros(size + most, np.uint8)
    start = -memory.ctypes.data % most
    return memory[start : start + size].view(dtype).reshape(shape)


def compile_python(
    kernel: Any, options: argparse.Namespace, arguments_are_types: bool = True
) -> Any:
    """A Python kernel for the types on the command line; annotations give the others."""
    from kiln.frontend.types import PointerType, ScalarType, ViewType

    read = parse_types if arguments_are_types else example_of
    given = {n: read(t) for n, t in parse_pairs(options.arg, "NAME=TYPE").items()}
    given = {n: t for n, t in given.items() if t is not None}
    constants = {n: parse_value(v) for n, v in parse_pairs(options.set, "NAME=VALUE").items()}
    types: dict[str, Any] = {}
    missing = []
    for parameter in kernel.parameters:
        name = parameter.name
        if parameter.is_constant or name in constants:
            continue
        if name in given:
            types[name] = given.pop(name)
        elif parameter.optional:
            types[name] = None
        elif parameter.kind == "view" and parameter.dtype and parameter.shape is not None:
            types[name] = ViewType(parameter.dtype, parameter.shape)
        elif parameter.kind == "pointer" and parameter.dtype:
            types[name] = PointerType(parameter.dtype)
        elif parameter.kind == "scalar":
            types[name] = ScalarType(parameter.dtype)
        else:
            missing.append(name)
    if given:
        raise Failure(f"expected arguments of {kernel.__name__}, got {', '.join(given)}")
    if missing:
        extents = "?" if arguments_are_types else "256"
        raise Failure(
            f"expected the types of {', '.join(missing)}, got none; for example "
            f"--arg '{missing[0]}=f32[{extents}]'{launches_itself(options)}"
        )
    return kernel.compile(
        **types, **constants, target=options.target, _opt_level=options.opt_level,
        _fast_math=options.fast_math, _vendor_math=options.vendor_math,
        _pipeline=options.pipeline,
    )  # fmt: skip


def compile_mlir(path: Path, name: str | None, options: argparse.Namespace) -> Any:
    """A kernel in MLIR, in a worker process unless told otherwise."""
    from kiln import _native
    from kiln.runtime.compiled import CompiledKernel
    from kiln.runtime.errors import note_text

    pipeline = [options.pipeline] if options.pipeline else []
    if options.from_stage:
        pipeline.append(f"from={options.from_stage}")
    if options.exact:
        pipeline.append("exact=true")
    request = {
        "source": path.read_bytes(),
        "source_name": str(path),
        "kernel": name,
        "target": options.target or "",  # what the module says, else the CPU
        "keep_stages": ("all",),
        "opt_level": options.opt_level,
        "fast_math": int(options.fast_math),
        "vendor_math": int(options.vendor_math),
        "options": " ".join(pipeline) or None,
        "isolation": 0 if options.in_process else 1,
    }
    artifact, _, messages = _native.compile(None, None, request)
    for message in messages:
        print(note_text(message), file=sys.stderr)
    return CompiledKernel(artifact)


def load_artifact(path: Path, options: argparse.Namespace) -> Any:
    """A kernel that was compiled before."""
    from kiln import _native
    from kiln.runtime.compiled import CompiledKernel
    from kiln.runtime.errors import CacheError

    if options.set or options.target:
        raise Failure("expected --set and --target with a source, got a compiled kernel")
    if options.from_stage or options.exact:
        raise Failure("expected --from and --exact with MLIR, got a compiled kernel")
    try:
        return CompiledKernel(_native.Artifact.deserialize(path.read_bytes()))
    except CacheError as error:
        raise Failure(f"expected a compiled kernel in {path}: {error}") from None


def compile_file(options: argparse.Namespace, arguments_are_types: bool = True) -> Any:
    """What the command line names, compiled with every stage kept, or as a `.kiln` file has it."""
    from kiln.cli.progress import Progress

    path, name = split_name(options.file)
    if path.suffix == ".kiln":
        return load_artifact(path, options)
    if not options.target and getattr(options, "device", None):
        from kiln.runtime.devices import device

        options.target = device(options.device).target
    with Progress(f"compiling {options.file}"):
        if is_python(path) and (options.from_stage or options.exact):
            raise Failure("expected --from and --exact with MLIR, got a Python file")
        if is_python(path):
            return compile_python(load_kernel(path, name, options), options, arguments_are_types)
        if (options.arg and arguments_are_types) or options.set:
            raise Failure("expected --arg and --set with a Python kernel, got MLIR")
        return compile_mlir(path, name, options)
