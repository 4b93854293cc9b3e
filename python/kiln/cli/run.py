"""`kiln run`: a Python script, or a kernel, on random or given inputs."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from kiln.cli import EXIT_CODES, Failure
from kiln.cli.kernels import (
    add_kernel_options,
    check_python,
    compile_file,
    is_python,
    parse_pairs,
    parse_type,
    split_name,
)
from kiln.cli.placed import Placed

_EXAMPLES = """examples:
  kiln run softmax.py                          runs the script
  kiln run add.mlir --size a=4096              a kernel on random inputs, 4096 elements
  kiln run add.kiln --arg a=x.npy --arg n=7    a compiled kernel, on an array of a file
  kiln run add.kiln --device emu:CHIP          where a kernel for that chip can run
  kiln run k.py:add --device emu:CHIP --check --arg 'a=f32[4096]'   a kernel of a Python file
  kiln run k.py --device emu:CHIP --check      the script, with all of its launches there
  kiln run gemm.mlir --size a=512x256 --size b=256x128 --size c=512x128 --repeat 20"""


def add_options(_: str, parser: argparse.ArgumentParser) -> None:
    add_kernel_options(parser)
    parser.epilog = f"{_EXAMPLES}\n\n{EXIT_CODES}"
    parser.add_argument("script_args", nargs="*", metavar="ARGUMENT",
                        help="arguments of a script (after --)")  # fmt: skip
    add_launch_options(parser)
    parser.add_argument("--check", action="store_true",
                        help="on emu:<chip>: whether the kernel races, stalls or breaks another "
                        "rule; its results are not printed")  # fmt: skip
    parser.add_argument("--repeat", type=int, default=0, metavar="N", help="time N launches")
    parser.add_argument("--save", metavar="FILE", help="write all arrays to a .npz file")
    parser.set_defaults(handler=handle)


def add_launch_options(parser: argparse.ArgumentParser) -> None:
    """What says how a kernel is launched; `explain --emulate` has it, too."""
    parser.add_argument("--device", default=None, metavar="NAME",
                        help="where to run a kernel, and what it is compiled for: cpu (the "
                        "default), emu:<chip>, or a GPU")  # fmt: skip
    parser.add_argument("--size", action="append", default=[], metavar="NAME=EXTENTS",
                        help="the shape of a view, as 512x256 (default: 256 each)")  # fmt: skip
    parser.add_argument("--value", action="append", default=[], metavar="NAME=VALUE",
                        help="the value of a scalar (default: 1)")  # fmt: skip
    parser.add_argument("--grid", help="pins the grid, as 4x4")
    parser.add_argument("--seed", type=int, default=None, help="of the inputs (default: fresh)")


def handle(options: argparse.Namespace) -> None:
    path, name = split_name(options.file)
    if options.check:
        is_script = is_python(path) and not (name or _says_what_to_launch(options))
        if not (is_script and check_script(path, options)):
            check(options)
    elif is_python(path):
        if options.device or options.target:
            raise Failure(
                "expected --device and --target with --check, MLIR or a compiled kernel, got a "
                "script, whose arrays say where it runs"
            )
        _run_script(path, options.script_args)
    else:
        _run_kernel(options)


def _says_what_to_launch(options: argparse.Namespace) -> bool:
    return any((options.arg, options.size, options.value, options.set, options.grid))


def check_script(path: Path, options: argparse.Namespace) -> bool:
    """Runs a script whose launches all go to an emulated chip; whether it launches anything."""
    import os

    from kiln.runtime.emulation import Profile, profiled, spell_work
    from kiln.runtime.hooks import LaunchEvent, launched_on

    require_emulated(options)
    done: dict[str, list[Counter[str]]] = {}

    def note(event: LaunchEvent) -> None:
        if event.error is None:
            profile = Profile(event.compiled.executable, event.kernel, options.device)
            done.setdefault(event.kernel, []).append(profile.work())

    os.environ["KILN_AUTOTUNE"] = "0"  # steps are no times
    with profiled(), launched_on(options.device, note):
        _run_script(path, options.script_args)
    for name, launches in done.items():
        total = sum(launches[1:], launches[0])
        times = f"{len(launches)} launches, " if len(launches) > 1 else ""
        work = spell_work(Counter({what: total[what] for what in launches[0]}))
        print(f"{name} on {options.device}: {times}{work}; nothing is wrong")
    return bool(done)


def require_emulated(options: argparse.Namespace) -> None:
    if not (options.device or "").startswith("emu:"):
        got = options.device or "none"
        raise Failure(f"expected --device emu:<chip>, an emulated chip, got {got}")


def check(options: argparse.Namespace) -> None:
    """Runs a kernel on an emulated chip; what is wrong with it ends the command."""
    print(f"{launch_emulated(options).summary()}; nothing is wrong")


def launch_emulated(options: argparse.Namespace) -> Any:
    """What one launch on an emulated chip did."""
    from kiln.runtime.emulation import Profile, profiled

    require_emulated(options)
    launch = Launch(options)
    with profiled():
        launch()
    return Profile(launch.executable, launch.compiled.name, options.device)


class Launch:
    """A kernel with its arguments on a device; called, it is launched and waited for."""

    def __init__(self, options: argparse.Namespace):
        import numpy as np

        from kiln.runtime.compiled import load_on
        from kiln.runtime.devices import device

        self.compiled = compile_file(options, arguments_are_types=False)
        entropy = np.random.SeedSequence().entropy
        self.seed = options.seed if options.seed is not None else entropy % 2**32
        inputs = _Inputs(options, np.random.default_rng(self.seed))
        self.entries = self.compiled.metadata["arguments"]
        self.arguments = [inputs.make(entry) for entry in self.entries]
        inputs.finish()
        self.grid = _extents(options.grid, "--grid") if options.grid else None
        self.device = device(options.device or "cpu")
        self.executable = load_on(self.device, self.compiled)
        self.placed = Placed(self.device, self.arguments)

    def __call__(self) -> None:
        names = [entry["name"] for entry in self.entries]
        self.executable.launch(self.compiled.name, self.placed.arguments, self.grid, 0, names)
        self.device.synchronize()


def _run_script(path: Path, arguments: list[str]) -> None:
    import runpy

    check_python(path)
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.resolve().parent))
    runpy.run_path(str(path), run_name="__main__")


def _run_kernel(options: argparse.Namespace) -> None:
    import numpy as np

    launch = Launch(options)
    compiled, arguments = launch.compiled, launch.arguments
    launch()
    launch.placed.fetch()
    print(f"{compiled.name} for {compiled.target}, seed {launch.seed}")
    for entry, value in zip(launch.entries, arguments, strict=True):
        print(f"  {_summary(entry, value)}")
    if options.repeat > 0:
        times = sorted(_once(launch) for _ in range(options.repeat))
        print(f"  median of {options.repeat}: {times[len(times) // 2] * 1e3:.4f} ms, least "
              f"{times[0] * 1e3:.4f} ms")  # fmt: skip
    if options.save:
        arrays = {
            entry["name"]: value.to_numpy() if hasattr(value, "to_numpy") else np.asarray(value)
            for entry, value in zip(launch.entries, arguments, strict=True)
        }
        np.savez(options.save, **arrays)


def _once(call: Any) -> float:
    from time import perf_counter

    start = perf_counter()
    call()
    return perf_counter() - start


def _extents(text: str, what: str) -> tuple[int, ...]:
    parts = text.lower().split("x")
    if not all(p.isdigit() for p in parts):
        raise Failure(f"expected extents such as 4x4 for {what}, got {text!r}")
    return tuple(map(int, parts))


class _Inputs:
    """Random arguments for what the metadata asks for."""

    def __init__(self, options: argparse.Namespace, generator: Any):
        self.sizes = parse_pairs(options.size, "NAME=EXTENTS")
        self.values = parse_pairs(options.value, "NAME=VALUE")
        self.given = parse_pairs(options.arg, "NAME=FILE.npy, NAME=TYPE or NAME=VALUE")
        self.generator = generator

    def finish(self) -> None:
        """What was given for arguments that are not there is wrong usage."""
        for rest in (*self.sizes, *self.values, *self.given):
            raise Failure(f"expected the name of an argument, got {rest!r}")

    def make(self, entry: dict[str, Any]) -> Any:
        name = entry["name"]
        if name in self.given:
            array = self._given(entry, self.given.pop(name))
            if array is not None:
                return array
        if entry["kind"] == "scalar":
            return self._scalar(entry)
        if entry["kind"] != "view":
            raise Failure(f"expected views and scalars, got the {entry['kind']} `{name}`")
        wanted = entry["shape"]
        shape = tuple(256 if n is None else n for n in wanted)
        if name in self.sizes:
            shape = _extents(self.sizes.pop(name), f"--size {name}")
            if len(shape) != len(wanted) or any(
                n is not None and n != m for n, m in zip(wanted, shape, strict=False)
            ):
                text = "x".join("?" if n is None else str(n) for n in wanted)
                raise Failure(f"expected a shape like {text} for `{name}`, got {shape}")
        return self._array(shape, entry["type"])

    def _given(self, entry: dict[str, Any], text: str) -> Any:
        """What `--arg` says: an array of a file; else a type, whose extents are the shape, or a
        value, both of which are noted."""
        import numpy as np

        name = entry["name"]
        if text.endswith(".npy"):
            if entry["kind"] != "view":
                raise Failure(f"expected a number for the {entry['kind']} `{name}`, got {text!r}")
            try:
                return np.ascontiguousarray(np.load(text))
            except (OSError, ValueError) as error:
                raise Failure(f"expected an array in {text}: {error}") from None
        if entry["kind"] == "scalar":
            self.values[name] = text
            return None
        type = parse_type(text)
        if getattr(type, "shape", None) is None or None in type.shape:
            raise Failure(f"expected a type with extents such as f32[512,256], got {text!r}")
        if type.dtype.storage_ir != entry["type"] and type.dtype.name != entry["type"].lower():
            raise Failure(f"expected elements of {entry['type']} for `{name}`, got {text!r}")
        self.sizes[name] = "x".join(map(str, type.shape))
        return None

    def _scalar(self, entry: dict[str, Any]) -> Any:
        text = self.values.pop(entry["name"], "1")
        try:
            return float(text) if entry["type"].startswith(("f", "bf")) else int(text, 0)
        except ValueError:
            raise Failure(f"expected a number for `{entry['name']}`, got {text!r}") from None

    def _array(self, shape: tuple[int, ...], name: str) -> Any:
        import numpy as np

        from kiln.language.dtypes import by_name
        from kiln.runtime.arrays import PackedArray

        dtype = by_name("bool" if name == "i1" else name.lower())
        if dtype.is_integer or dtype.is_bool:
            low, high = max(dtype.minimum, -128), min(dtype.maximum, 127)
            values = self.generator.integers(low, high, shape, endpoint=True)
        else:
            values = self.generator.standard_normal(shape)
        if dtype.bits < 8 and not dtype.is_bool:
            if dtype.is_float:
                values = self.generator.integers(0, 1 << dtype.bits, shape).astype(np.uint8)
            return PackedArray.from_numpy(values, dtype)
        return values.astype(numpy_dtype(dtype))


def numpy_dtype(dtype: Any) -> Any:
    import numpy as np

    plain = {"f64": "float64", "f32": "float32", "f16": "float16", "bool": "bool"}
    if dtype.name in plain:
        return np.dtype(plain[dtype.name])
    if dtype.is_integer:
        return np.dtype(f"{'u' if dtype.kind == 'uint' else ''}int{dtype.bits}")
    import ml_dtypes

    names = {"bf16": "bfloat16", "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
             "f8e8m0fnu": "float8_e8m0fnu"}  # fmt: skip
    return np.dtype(getattr(ml_dtypes, names[dtype.name]))


def _summary(entry: dict[str, Any], value: Any) -> str:
    """One line: enough to compare two runs by eye."""
    import numpy as np

    if not hasattr(value, "shape"):
        return f"{entry['name']} = {value}"
    array = (value.to_numpy() if hasattr(value, "to_numpy") else value).astype(np.float64)
    first = ", ".join(f"{x:.6g}" for x in array.reshape(-1)[:4])
    written = " written" if entry.get("written") else ""
    return (
        f"{entry['name']}: {'x'.join(map(str, array.shape))} {entry['type']}{written}, norm "
        f"{np.linalg.norm(array.reshape(-1)):.9g}, [{first}{', …' if array.size > 4 else ''}]"
    )
