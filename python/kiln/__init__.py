"""Kiln fires tiles into kernels.

    import kiln

    @kiln.kernel
    def add(a: kiln.View, b: kiln.View, c: kiln.View, BLOCK: kiln.constexpr = 1024):
        i = kiln.grid(kiln.cdiv(a.shape[0], BLOCK))
        c.store(i * BLOCK, a.load(i * BLOCK, BLOCK) + b.load(i * BLOCK, BLOCK))

    add(x, y, z)        # NumPy arrays, tensors of any framework that speaks DLPack

The language (what stands inside a kernel) is documented in `kiln.language`; compiling and
launching in `kiln.runtime`, which is loaded, with the compiler's library, when the first of its
names is used. `kiln.ops`, kernels for everyday work, is loaded likewise. `kiln --help` is the
command line.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from kiln.frontend import CompileError, Function, function
from kiln.language import *  # noqa: F403
from kiln.language import __all__ as _language
from kiln.paths import get_include

if TYPE_CHECKING:
    from kiln import ops  # noqa: I001
    from kiln.runtime import (  # noqa: F401
        CacheError, CompiledKernel, DeviceAssertError, DeviceError, Kernel, LaunchError,
        LaunchEvent, LoadedKernel, PackedArray, UnsupportedError, WorkerError, __version__,
        autotune, cache, device, devices, kernel, on_launch, synchronize, targets,
    )  # fmt: skip

_RUNTIME = (
    "CacheError", "CompiledKernel", "DeviceAssertError", "DeviceError", "Kernel", "LaunchError",
    "LaunchEvent", "LoadedKernel", "PackedArray", "UnsupportedError", "WorkerError", "__version__",
    "autotune", "cache", "device", "devices", "kernel", "on_launch", "synchronize", "targets",
)  # fmt: skip

__all__ = ["CompileError", "Function", "function", "get_include", "ops", *_RUNTIME, *_language]


def __getattr__(name: str):
    if name == "ops":
        return import_module("kiln.ops")
    if name not in _RUNTIME:
        raise AttributeError(f"module 'kiln' has no attribute {name!r}")
    from kiln import runtime

    globals().update((each, getattr(runtime, each)) for each in _RUNTIME)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
