"""A kernel compiled for one combination of argument types, constants, options and target."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from typing import Any

from kiln.runtime.errors import CacheError, StoppedError

STAGES = ("tile", "layout", "schedule", "target", "llvm", "llvmir", "asm", "binary")


class CompiledKernel:
    """What `kernel.compile(...)` and `kernel.warmup(...)` give.

    name, target   of the kernel
    constants      the values of its constants and tunables
    source_level   how it came about: "compiled", "memory" or "disk" (a cache hit)
    """

    def __init__(
        self,
        artifact: Any,
        constants: dict[str, Any] | None = None,
        source_level: str = "compiled",
        recompile: Callable[[], Any] | None = None,
        remarks: tuple[str, ...] = (),
    ):
        self.artifact = artifact
        self.constants = dict(constants or {})
        self.source_level = source_level
        self.remarks = remarks
        self._recompile = recompile

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """The kernel's ABI and everything else the runtime knows of it."""
        return json.loads(self.artifact.metadata)

    @property
    def name(self) -> str:
        return self.metadata.get("kernel", "")

    @property
    def target(self) -> str:
        return self.metadata.get("target", "")

    def ir(self, stage: str) -> str:
        """The program after a stage: tile, layout, schedule, target, llvm, llvmir or asm.

        A kernel that a launch compiled keeps none of them: it is then compiled once more.
        """
        if stage not in STAGES[:-1]:
            raise ValueError(f"expected a stage of {', '.join(STAGES[:-1])}, got {stage!r}")
        return self._section("asm" if stage == "asm" else f"ir:{stage}").decode()

    @property
    def asm(self) -> str:
        """The target's assembly."""
        return self._section("asm").decode()

    @property
    def binary(self) -> bytes:
        """What the device loads: machine code, or assembly where the driver assembles it."""
        return self.artifact.section("binary" if "binary" in self.artifact.sections else "asm")

    def save(self, path: Any) -> None:
        """Writes the artifact to a file, for `load` of another process or for tools."""
        from pathlib import Path

        Path(path).write_bytes(self.artifact.serialize())

    def __reduce__(self) -> tuple[Any, ...]:
        content = self.artifact.serialize()
        return _compiled_of, (content, self.constants, self.source_level, self.remarks)

    def explain(self) -> str:
        """What was compiled and every decision that the compiler took, as text."""
        from kiln.runtime.explain import explain

        return explain(self)

    def _section(self, name: str) -> bytes:
        if name not in self.artifact.sections and self._recompile is not None:
            self.artifact = self._recompile()
            self._recompile = None
        return self.artifact.section(name)

    def __repr__(self) -> str:
        constants = "".join(f", {k}={v!r}" for k, v in self.constants.items())
        return f"<kiln.CompiledKernel {self.name} for {self.target}{constants}>"


def load_on(where: Any, compiled: CompiledKernel) -> Any:
    """The kernel on a device, ready to be launched. One that was stopped before there was code is a
    `StoppedError`."""
    try:
        return where.load(compiled.artifact)
    except CacheError:
        if "binary" in compiled.artifact.sections:
            raise
        raise StoppedError(
            f"kernel `{compiled.name}`: expected code to launch, got a kernel whose compile was "
            "stopped before it (stop-after)", compiled.name,
        ) from None  # fmt: skip


def _compiled_of(content: bytes, constants: dict[str, Any], level: str, remarks: tuple):
    from kiln import _native

    return CompiledKernel(_native.Artifact.deserialize(content), constants, level, None, remarks)
