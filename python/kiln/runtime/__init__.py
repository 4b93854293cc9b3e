"""Compiling and launching kernels.

kernel.py       @kiln.kernel: the object that a kernel is
specialise.py   from argument types to code, through both levels of the cache
compiled.py     what was compiled; explain.py tells of it
options.py      compile options
hooks.py        functions around every launch
autotune.py     @kiln.autotune
measure.py      how long launches take
travel.py       kernels in pickles; loaded.py: kernels in files
cache.py, devices.py, arrays.py, errors.py
"""

from kiln import _native
from kiln.runtime import cache, travel
from kiln.runtime.arrays import PackedArray
from kiln.runtime.autotune import autotune
from kiln.runtime.compiled import CompiledKernel
from kiln.runtime.devices import device, devices, synchronize, targets
from kiln.runtime.errors import (
    CacheError,
    DeviceAssertError,
    DeviceError,
    LaunchError,
    UnsupportedError,
    WorkerError,
)  # fmt: skip
from kiln.runtime.hooks import LaunchEvent, on_launch
from kiln.runtime.kernel import kernel
from kiln.runtime.loaded import LoadedKernel
from kiln.runtime.protocol import ConfiguredKernel, Kernel

__version__ = _native.version()

__all__ = [
    "CacheError", "CompiledKernel", "ConfiguredKernel", "DeviceAssertError", "DeviceError",
    "Kernel", "LaunchError",
    "LaunchEvent", "LoadedKernel", "PackedArray", "UnsupportedError", "WorkerError", "autotune",
    "cache",
    "device", "devices", "kernel", "on_launch", "synchronize", "targets", "travel",
]  # fmt: skip
