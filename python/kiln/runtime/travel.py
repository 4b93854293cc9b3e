"""Kernels in pickles, and in copies, which are the kernel itself as those of functions are.

The launcher of the extension knows nothing of it: what is registered with `copyreg` here is what
`pickle`, `copy` and `multiprocessing` ask.
"""

from __future__ import annotations

import copyreg
from typing import Any

from kiln import _native
from kiln.frontend import travel


def _reduce_kernel(launcher: Any) -> tuple[Any, ...]:
    half = launcher.half
    function = half.function
    found = travel.find(function.__module__, function.__qualname__)
    if travel.is_found(found, function) and _kernel_of(found) is launcher:
        return _named_kernel, (function.__module__, function.__qualname__)
    return _made_kernel, (travel.packed(function), half.__kernel_options__, half.no_facts)


def _kernel_of(found: Any) -> Any:
    """The kernel under a name: itself, or that of a tuner."""
    return found if isinstance(found, _native.Launcher) else getattr(found, "kernel", None)


def _named_kernel(module: str, name: str) -> Any:
    return _kernel_of(travel.find(module, name))


def _made_kernel(content: dict[str, Any], options: dict[str, Any], no_facts: tuple) -> Any:
    from kiln.runtime.kernel import KernelHalf

    return KernelHalf(travel.unpacked(content), options, no_facts).launcher


def _reduce_configured(configured: Any) -> tuple[Any, ...]:
    launch = configured._launch_options
    if launch[1] is not None:
        raise TypeError(
            "expected a kernel without a stream to pickle, got one with `_stream`, which no other "
            "process has"
        )
    described = configured._described
    return _configured, (configured.kernel, launch, described, configured._options)


def _configured(kernel: Any, launch: tuple, described: Any, options: Any) -> Any:
    return kernel._configure(None, *launch, options, described)


copyreg.pickle(_native.Launcher, _reduce_kernel)
copyreg.pickle(_native.Configured, _reduce_configured)
