# What editors and type checkers see of the package, whose run time is loaded when it is needed.
from kiln import ops as ops
from kiln.frontend.errors import CompileError as CompileError
from kiln.frontend.function import Function as Function
from kiln.frontend.function import function as function
from kiln.language import *  # noqa: F403
from kiln.paths import get_include as get_include
from kiln.runtime import cache as cache
from kiln.runtime.arrays import PackedArray as PackedArray
from kiln.runtime.autotune import autotune as autotune
from kiln.runtime.compiled import CompiledKernel as CompiledKernel
from kiln.runtime.devices import device as device
from kiln.runtime.devices import devices as devices
from kiln.runtime.devices import synchronize as synchronize
from kiln.runtime.devices import targets as targets
from kiln.runtime.errors import CacheError as CacheError
from kiln.runtime.errors import DeviceAssertError as DeviceAssertError
from kiln.runtime.errors import DeviceError as DeviceError
from kiln.runtime.errors import LaunchError as LaunchError
from kiln.runtime.errors import UnsupportedError as UnsupportedError
from kiln.runtime.errors import WorkerError as WorkerError
from kiln.runtime.hooks import LaunchEvent as LaunchEvent
from kiln.runtime.hooks import on_launch as on_launch
from kiln.runtime.kernel import kernel as kernel
from kiln.runtime.loaded import LoadedKernel as LoadedKernel
from kiln.runtime.protocol import Kernel as Kernel

__version__: str
