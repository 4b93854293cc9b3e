"""`kiln.load`: kernels from files that `CompiledKernel.save` or `kiln compile` wrote."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kiln import _native
from kiln.frontend.structures import leaves_of
from kiln.runtime.compiled import CompiledKernel, load_on
from kiln.runtime.devices import device
from kiln.runtime.errors import launch_error

_OPTIONS = ("_device", "_stream")


def load(path: str | os.PathLike) -> LoadedKernel:
    """A compiled kernel of a file, ready to be launched without its source and without a compile.

    path  a file that `compiled.save(path)`, `kiln compile` or `tile-compile` wrote

    The result is called as the kernel was, without its constants, which are in the code:

        add.compile(x, y, z, BLOCK=256).save("add.kiln")
        kiln.load("add.kiln")(x, y, z)

    Arguments must keep what the kernel was compiled for: dtypes, ranks, and the facts of the
    arrays that were given then, else it is a `LaunchError`. `kiln.CacheError` is raised for a file
    that is no artifact or damaged, an `OSError` for one that cannot be read, and `LaunchError`
    where the kernel is for another device than that of the arrays.
    """
    return LoadedKernel(CompiledKernel(_native.Artifact.deserialize(Path(path).read_bytes())))


class LoadedKernel:
    """A kernel without its source: what `kiln.load` gives.

    compiled                what was loaded: `.ir(stage)`, `.asm`, `.metadata`, `.explain()`
    name, target, metadata  of it
    """

    def __init__(self, compiled: CompiledKernel):
        self.compiled = compiled
        self.name = self.__name__ = compiled.name
        self.target = compiled.target
        self.metadata = compiled.metadata
        self._entries = self.metadata["arguments"]
        self._names = [entry["name"] for entry in self._entries]
        self._written = [i for i, entry in enumerate(self._entries) if entry.get("written")]
        # What a call names: an argument that holds several stands for all of them.
        self._parameters = list(dict.fromkeys(re.split(r"[.[]", n)[0] for n in self._names))
        self._executables: dict[str, Any] = {}

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        """Launches on the kernel's own grid; `_device` and `_stream` as for any kernel."""
        self._launch(None, arguments, keywords)

    def __getitem__(self, grid: int | tuple[int, ...]) -> Callable[..., None]:
        """The kernel on a pinned grid."""
        return lambda *arguments, **keywords: self._launch(grid, arguments, keywords)

    def _launch(self, grid: Any, arguments: tuple, keywords: dict[str, Any]) -> None:
        options = {name: keywords.pop(name) for name in _OPTIONS if name in keywords}
        leaves = list(leaves_of([*arguments, *self._by_name(arguments, keywords)]))
        if len(leaves) != len(self._names):
            names = ", ".join(self._names)
            message = f"expected {len(self._names)} arguments ({names}), got {len(leaves)}"
            raise launch_error(self.name, None, message)
        where = options.get("_device") or _device_of(leaves)
        executable = self._executable(getattr(where, "name", where))
        for i, entry in enumerate(self._entries):
            if entry["kind"] == "scalar" and getattr(leaves[i], "shape", None) == ():
                leaves[i] = leaves[i].item()
        stream = _handle(options.get("_stream"))
        executable.launch(self.name, leaves, grid, stream, self._names, self._written)

    def _by_name(self, given: tuple, keywords: dict[str, Any]) -> list[Any]:
        """The arguments that follow those by position."""
        present = sum(1 for value in given if value is not None)
        out = []
        for name in self._parameters[present:]:
            if name not in keywords:
                raise TypeError(f"{self.name}() missing the argument {name!r}")
            out.append(keywords.pop(name))
        for name, value in keywords.items():
            if value is not None or name in self._parameters:
                raise TypeError(f"{self.name}() got an unexpected argument {name!r}")
        return out

    def _executable(self, where: str) -> Any:
        found = self._executables.get(where)
        if found is None:
            found = self._executables[where] = load_on(device(where), self.compiled)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return LoadedKernel, (self.compiled,)

    def __repr__(self) -> str:
        return f"<kiln.LoadedKernel {self.name} for {self.target}>"


def _device_of(leaves: list[Any]) -> str:
    """Where the first array is."""
    for leaf in leaves:
        where = getattr(leaf, "__dlpack_device__", None)
        if where is not None:
            kind, number = where()
            return _native.device_of_memory(int(kind), int(number))
        if hasattr(leaf, "__kiln_tensor__"):
            return _native.device_of_memory(*leaf.__kiln_tensor__[4:6])
    return "cpu"


def _handle(stream: Any) -> int:
    """The handle of a framework's stream."""
    if stream is None or isinstance(stream, int):
        return stream or 0
    named = (getattr(stream, name) for name in dir(stream) if name.endswith("_stream"))
    handle = next((value for value in named if isinstance(value, int)), None)
    if handle is None:
        raise launch_error(None, "_stream", f"expected a stream or its handle, got {stream!r}")
    return handle
