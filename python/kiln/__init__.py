"""Kernels over tiles, written in Python.

    import kiln

    @kiln.kernel
    def add(x: kiln.View, y: kiln.View, z: kiln.View, N: kiln.constexpr = 1024):
        i = kiln.grid(kiln.cdiv(x.shape[0], N))
        z.store(i * N, x.load(i * N, N) + y.load(i * N, N))

The names are those of the language (`kiln.language`) and of the run time.
"""

from kiln.frontend import CompileError, function
from kiln.language import *  # noqa: F403
from kiln.language import __all__ as _language

__all__ = ["CompileError", "function", *_language]
