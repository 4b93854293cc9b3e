"""From a description of arguments to compiled code, through both levels of the cache.

The first key is taken over the kernel's sources, captured values, argument facts, constants,
options and the compiler: looking it up needs no front end. Where it misses, the kernel is
lowered; the key over the IR deduplicates what comes out the same, and the first key becomes
another name of that entry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kiln import _native
from kiln.frontend.errors import CompileError
from kiln.frontend.fingerprint import constant_key
from kiln.frontend.kernel import KernelSource
from kiln.frontend.signature import Parameter
from kiln.frontend.types import ArgumentType, Facts, PointerType, ScalarType, ViewType
from kiln.language.dtypes import by_name
from kiln.runtime import cache
from kiln.runtime.compiled import CompiledKernel
from kiln.runtime.errors import WARNING, note_text
from kiln.runtime.options import request_fields

HITS = ("compiled", "memory", "disk")


@dataclass(frozen=True)
class Instance:
    """Everything that says which code is wanted.

    arguments       the run-time arguments by name, in order: called where the cache misses
    argument_text   the same as a text, for the key
    alone           each program runs its own tile: the launch says which programs run
    """

    source: KernelSource
    arguments: Callable[[], dict[str, ArgumentType]]
    argument_text: str
    constants: dict[str, Any]
    options: dict[str, Any]
    target: str
    identity: str
    alone: bool = False

    def first_key(self) -> bytes:
        constants = ";".join(f"{k}={constant_key(v)}" for k, v in self.constants.items())
        return cache.first_key(
            self.source.source_hash, self.argument_text, constants,
            repr((sorted(self.options.items()), self.alone)), self.target, self.identity,
            _native.target_identity(self.target),
        )  # fmt: skip

    def request(self, keep: tuple[str, ...] = ()) -> dict[str, Any]:
        """Lowers the kernel: the fields of a compile request."""
        text = self.source.lower(
            self.arguments(), self.constants, grid_pinned=not self.source.has_grid,
            takes_turns=not self.alone,
        )  # fmt: skip
        return {
            "source": text,
            "source_name": self.source.source.file,
            "kernel": self.source.name,
            "target": self.target,
            "keep_stages": keep,
            **request_fields(self.options),
        }


def types_of(
    description: list[dict[str, Any]], parameters: dict[str, Parameter]
) -> dict[str, ArgumentType]:
    """The "arguments" of kilnFunctionDescribeKey as the front end's types."""
    out: dict[str, ArgumentType] = {}
    for entry in description:
        facts = entry.get("facts") or {}
        known = Facts(
            pointer=facts.get("pointer") or 0,
            strides=tuple(s or 0 for s in facts.get("strides") or ()),
            extents=tuple(e or 0 for e in facts.get("extents") or ()),
            index32=bool(facts.get("index32")),
            noalias=bool(facts.get("noalias")),
            divisor=facts.get("divisor") or 0,
        )
        dtype = by_name(entry["dtype"])
        name = entry["name"]
        if entry["kind"] == "tensor":
            shape = tuple(entry["shape"])
            fixed = parameters[name].shape
            if fixed is not None:  # each launch checks these extents
                shape = tuple(e if f is None else f for f, e in zip(fixed, shape, strict=False))
            out[name] = ViewType(dtype, shape, tuple(entry["strides"]), known)
        elif entry["kind"] == "pointer":
            out[name] = PointerType(dtype, known)
        else:
            out[name] = ScalarType(dtype, known)
    return out


def build(instance: Instance, keep: tuple[str, ...] = ()) -> CompiledKernel:
    """Finds or makes the code. Warnings of the compiler become Python warnings."""
    store = cache.current()
    first = None
    if not keep:
        first = instance.first_key()
        found = store.get(first)
        if found is not None:
            return _compiled(instance, found, "disk", ())
    request = instance.request(keep)
    try:
        artifact, hit, messages = _native.compile(store, None, request)
    except CompileError as error:
        if f"`{instance.source.name}`" not in str(error):
            error.add_note(f"  while compiling the kernel `{instance.source.name}`")
        raise
    if first is not None:
        store.alias(first, _native.request_key(request))
    cache.notice()
    remarks = tuple(note_text(m) for m in messages)
    _warn(messages)
    return _compiled(instance, artifact, HITS[hit], remarks)


def _compiled(instance: Instance, artifact: Any, level: str, remarks: tuple) -> CompiledKernel:
    def again() -> Any:
        return _native.compile(cache.current(), None, instance.request(("all",)))[0]

    return CompiledKernel(artifact, instance.constants, level, again, remarks)


def _warn(messages: list[tuple]) -> None:
    for message in messages:
        if message[0] == WARNING:
            import warnings

            warnings.warn(f"kiln: {note_text(message)}", stacklevel=4)
