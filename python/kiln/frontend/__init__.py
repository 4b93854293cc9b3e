"""From a Python function to the text of a kernel of the tile dialect.

    source.py, signature.py, function.py, grid.py, kernel.py   a kernel before it is compiled
    types.py, values.py, views.py    what things are while it is compiled
    arithmetic/                      numbers: literals, dtypes, casts, operators
    syntax/                          from the syntax tree to operations
    intrinsics/                      the functions of `kiln.language`
    emitter.py, lowering.py          the text; a whole kernel
    errors.py                        what a user sees when something is wrong

`KernelSource` is the seam to the run-time half: it gives the parameters and the fingerprint
of a kernel, and lowers it for given argument types and constants.
"""

from kiln.frontend.errors import CompileError, SourceSpan, render_diagnostic
from kiln.frontend.fingerprint import constant_key
from kiln.frontend.function import Function, function
from kiln.frontend.kernel import KernelSource
from kiln.frontend.signature import EMPTY, Parameter
from kiln.frontend.types import ArgumentType, Facts, PointerType, ScalarType, ViewType

__all__ = [
    "EMPTY", "ArgumentType", "CompileError", "Facts", "Function", "KernelSource", "Parameter",
    "PointerType", "ScalarType", "SourceSpan", "ViewType", "constant_key", "function",
    "render_diagnostic",
]  # fmt: skip
