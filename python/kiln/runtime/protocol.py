"""What a kernel is to a type checker. At run time it is a `Launcher` of the extension."""

from __future__ import annotations

from typing import Any, Protocol

from kiln.frontend.signature import Parameter
from kiln.runtime.compiled import CompiledKernel


class ConfiguredKernel(Protocol):
    """`kernel[grid]` and `kernel.options(...)`: a kernel with launch options."""

    def __call__(self, *arguments: Any, **keywords: Any) -> None: ...
    def __getitem__(self, grid: int | tuple[int, ...]) -> ConfiguredKernel: ...
    def warmup(self, *arguments: Any, **keywords: Any) -> CompiledKernel: ...


class Kernel(Protocol):
    """What `@kiln.kernel` makes of a function."""

    __name__: str
    parameters: tuple[Parameter, ...]

    def __call__(self, *arguments: Any, **keywords: Any) -> None: ...
    def __getitem__(self, grid: int | tuple[int, ...]) -> ConfiguredKernel: ...
    def options(self, **options: Any) -> ConfiguredKernel: ...
    def warmup(self, *arguments: Any, **keywords: Any) -> CompiledKernel: ...
    def compile(
        self, *arguments: Any, target: str | None = None, **constants: Any
    ) -> CompiledKernel: ...
