"""`@kiln.kernel`: the object that a kernel is.

A kernel is a `Launcher` of the extension, which makes launches; what is not a launch is the
`KernelHalf` here, to which the launcher passes on every attribute that it does not know.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any, overload

from kiln import _native
from kiln.frontend.errors import CompileError
from kiln.frontend.kernel import KernelSource
from kiln.frontend.signature import EMPTY, Parameter, leaf_parameters
from kiln.frontend.source import span_of_lambda
from kiln.frontend.structures import (
    is_structured,
    leaf_names,
    leaves_of,
    rebuilt,
    structure_key,
    structure_of,
)  # fmt: skip
from kiln.frontend.types import ArgumentType, PointerType, ScalarType, ViewType
from kiln.language.annotations import CHOSEN, PointerSpec, ViewSpec
from kiln.language.dtypes import DType
from kiln.runtime import hooks
from kiln.runtime.cache import Specialised, forget_recent, keep_recent
from kiln.runtime.choose import Choices, nominal_size
from kiln.runtime.compiled import CompiledKernel, load_on
from kiln.runtime.devices import device
from kiln.runtime.errors import LaunchError, launch_error
from kiln.runtime.options import LAUNCH_OPTIONS, check_options, options_key
from kiln.runtime.protocol import Kernel
from kiln.runtime.specialise import Instance, build, types_of

# KilnArgKind, and what stands for "the argument decides" and "a constant".
_TENSOR, _INTEGER, _FLOAT, _BOOL, _POINTER, _ANY, _CONSTANT = 0, 1, 2, 3, 4, -1, -2
_FACTS_DEFAULT = 63
MAX_ARGUMENTS = 512  # kMaxArguments of python/src/Arguments.h
VARIANTS_BEFORE_A_SWEEP = 64


class KernelHalf:
    """Everything about a kernel but its launches.

    Reached through the kernel itself: `kernel.compile(...)`, `kernel.warmup(...)`,
    `kernel.options(...)`, `kernel.parameters`.
    """

    def __init__(
        self,
        function: types.FunctionType,
        options: dict[str, Any],
        no_facts: tuple[str, ...],
        structures: dict[str, Any] | None = None,
        source: KernelSource | None = None,
    ):
        self.function = self.__wrapped__ = function
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.__kernel_options__ = options
        self.source = source or KernelSource(function)
        self.parameters: tuple[Parameter, ...] = self.source.parameters
        self._structures = structures or {}
        if structures:
            self.parameters = self._leaf_parameters(structures)
        self._structured: dict[Any, KernelHalf] = {}
        self.no_facts = no_facts
        unknown = [n for n in no_facts if n not in self.source.by_name]
        if unknown:
            raise TypeError(f"expected parameters of `{self.__name__}`, got {unknown[0]!r}")
        self._arguments = [p for p in self.parameters if not p.is_constant]
        self._constants = [p for p in self.parameters if p.is_constant]
        if len(self._arguments) > MAX_ARGUMENTS:
            raise launch_error(
                self.__name__, None,
                f"expected at most {MAX_ARGUMENTS} arguments, got {len(self._arguments)}",
            )  # fmt: skip
        self._variants: dict[int, tuple[dict[str, Any], dict[str, Any], int, bool]] = {}
        self._made_variants = 0
        self._settled_variants: set[int] = set()  # those that were compiled, or could not be
        self._sweep_at = VARIANTS_BEFORE_A_SWEEP
        self._specialised = Specialised()
        self._choices = Choices()
        self._watched = False
        self._empty: Callable[..., None] | None = None
        self.launcher = _native.Launcher(
            self, self.__name__, [self._native_parameter(p) for p in self.parameters]
        )

    def _native_parameter(self, parameter: Parameter) -> tuple:
        dtype = parameter.dtype
        of = parameter.of or parameter.name
        facts = 0 if of in self.no_facts else _FACTS_DEFAULT
        if parameter.is_constant:
            kind, dtype = _CONSTANT, None
        elif parameter.kind == "view":
            kind = _TENSOR
        elif parameter.kind == "pointer":
            kind = _POINTER
        elif parameter.kind == "scalar":
            kind = _FLOAT if dtype.is_float else _BOOL if dtype.is_bool else _INTEGER
        else:
            kind = _ANY
        code = _native.dtype_code("i64" if dtype.name == "index" else dtype.name) if dtype else 0
        rank = -1 if parameter.rank is None else parameter.rank
        extents = tuple(-1 if e is None else e for e in parameter.shape or ())
        default = parameter.default if parameter.has_default else None
        return (parameter.name, kind, code, rank, facts, parameter.has_default, default,
                parameter.keyword_only, extents, parameter.optional,
                parameter.is_chosen)  # fmt: skip

    @property
    def half(self) -> KernelHalf:
        """Itself, as the launcher's attribute."""
        return self

    def __copy__(self) -> Any:
        return self.launcher

    def __deepcopy__(self, _: Any) -> Any:
        return self.launcher

    # What users call.

    def compile(self, *arguments: Any, target: str | None = None, **constants: Any):
        """Compiles without launching, for a device that need not be there.

        arguments  for each argument an array, a tensor or a number (whose facts are then used),
                   or its type: `kiln.View[bf16, 2]`, `kiln.Pointer[f32]`, `kiln.i32`
        target     such as "cpu"; without one that of the CPU
        constants  constexprs and tunables by name, and launch options by `_name`

        The result has `.ir(stage)`, `.asm`, `.binary`, `.metadata` and `.explain()`.
        """
        values, options = {}, dict(self.__kernel_options__)
        extra = {}
        for name, value in constants.items():
            if name in self.source.by_name:
                values[name] = value
            elif name.startswith("_"):
                extra[name[1:]] = value
            else:
                self._empty_function()(*(None for _ in self._arguments), **{name: value})
        options.update(check_options(self.__name__, extra))
        given = self._arguments_of(arguments, values)
        if given is not None and any(map(is_structured, given.values())):
            half, leaves, kept = self._half_for(given, self._by_keyword(arguments, values))
            return half.compile(*leaves, target=target, **kept, **{
                f"_{name}": value for name, value in extra.items()
            })  # fmt: skip
        types_, fixed = self._types(arguments, values)
        where = device("cpu")
        target = target or where.target
        instance = self._instance(
            lambda: types_, repr(types_), fixed, options, target,
            where.identity if target == where.target else "",
        )  # fmt: skip
        given = self._by_keyword(arguments, values)
        sizes = [_size_of(p, given.get(p.name, p.default), types_[p.name]) for p in self._arguments]
        closed = self._choices.close(instance, sizes)
        return build(replace(instance, constants=closed), ("all",))

    def warmup(self, *args: Any, **keywords: Any) -> CompiledKernel:
        """Compiles and loads what the same call would launch, without launching it."""
        return self.compiled_for(None, args, keywords)

    def options(self, **options: Any) -> Any:
        """The kernel with launch options: `grid`, `stream`, `device`, `cluster`, `cooperative`,
        `overlap`, `priority`, `opt_level`, `fast_math`, `vendor_math`, `pipeline`. The result is
        called like the kernel."""
        return self.configured(None, options)

    # What the launcher calls.

    def configured(self, base: Any, options: dict[str, Any]) -> Any:
        launch = [options.pop(name, None) for name in LAUNCH_OPTIONS]
        kept = dict(base._described or {}) if base is not None else {}
        kept.update(check_options(self.__name__, options))
        return self.launcher._configure(base, *launch, options_key(kept), kept or None)

    def raise_signature_error(self, args: list, keywords: dict[str, Any]) -> None:
        known = {k: v for k, v in keywords.items()
                 if k in self.source.by_name or not k.startswith("_")}  # fmt: skip
        self._empty_function()(*args, **known)

    def new_variant(
        self, constants: list, options: tuple | None, read_only: int, alone: bool
    ) -> int:
        """`alone`: the launch says the grid or its clusters, so each program runs its own tile."""
        values = {p.name: v for p, v in zip(self._constants, constants, strict=False)}
        merged = {**self.__kernel_options__, **dict(options or ())}
        number = self._made_variants
        self._made_variants += 1
        self._variants[number] = (values, merged, read_only, alone)
        return number

    def choose_tunables(self, config: Any, args: list, keywords: dict[str, Any]) -> tuple:
        """Values for the tunables that a call leaves to the model, in their order."""
        given = self._by_keyword(args, keywords)
        open_ = [p for p in self._constants if p.is_chosen and p.name not in given]
        if config is not None and config._grid is not None:
            raise launch_error(
                self.__name__, open_[0].name,
                "expected a value, got none: a launch that pins the grid gives all tunables",
            )  # fmt: skip
        first = {p.name: p.candidates[0] for p in open_}
        function, key, variant = self.launcher._key(config, args, {**keywords, **first})
        constants, options, _, alone = self._variants[variant]
        described = json.loads(self.launcher._describe(function, key))
        where = device(described["device"])
        arguments = described["arguments"]
        constants = {**constants, **dict.fromkeys(first, CHOSEN)}
        instance = self._instance(
            lambda: types_of(arguments, self._by_name), repr(arguments), constants, options,
            where.target, where.identity, alone,
        )  # fmt: skip
        sizes = [given.get(p.name, p.default) for p in self._arguments]
        closed = self._choices.close(instance, sizes, where)
        return tuple(closed[name] for name in first)

    def _settle(self, variant: int) -> None:
        """Notes that the compile of a variant has ended. Now and then lets go of those that no
        specialisation is loaded of any more."""
        self._settled_variants.add(variant)
        if len(self._variants) < self._sweep_at:
            return
        for gone in self.launcher._drop_variants(list(self._settled_variants)):
            self._variants.pop(gone, None)
            self._settled_variants.discard(gone)
        self._sweep_at = max(VARIANTS_BEFORE_A_SWEEP, 2 * len(self._variants))

    def captured_changed(self) -> None:
        """Something that the kernel captures has another value: start afresh."""
        self.source = self.source.renewed()
        forget_recent(self._specialised)
        self._variants.clear()
        self._settled_variants.clear()
        self._choices = Choices()
        self.launcher._forget()
        self._watch()

    def specialise(self, function: int, key: bytes, variant: int) -> CompiledKernel | None:
        """Compiles for a key of the launcher's table, loads, and inserts it there. None where the
        variant has gone since the key was made: the caller makes another."""
        if not self.source.is_current():  # of a change that no launch has seen
            self.captured_changed()
        known = self._variants.get(variant)
        if known is None:
            return None
        try:
            return self._specialise(function, key, variant, known)
        finally:
            self._settle(variant)

    def _specialise(self, function: int, key: bytes, variant: int, known: tuple) -> CompiledKernel:
        if not self._watched:
            self._watch()
        constants, options, read_only, alone = known
        described = json.loads(self.launcher._describe(function, key))
        where = device(described["device"])
        arguments = described["arguments"]
        instance = self._instance(
            lambda: types_of(arguments, self._by_name), repr(arguments), constants, options,
            where.target, where.identity, alone,
        )  # fmt: skip
        compiled = build(instance)
        if not alone and not compiled.metadata.get("has_grid"):
            raise launch_error(
                self.__name__, None,
                f"expected a grid, got none: the kernel has no kiln.grid(...), so pin one with "
                f"{self.__name__}[grid](...)",
            )  # fmt: skip
        if read_only:
            self._check_writable(compiled, read_only)
        compiled.executable = load_on(where, compiled)
        entries = enumerate(compiled.metadata.get("arguments", ()))
        written = [index for index, entry in entries if entry.get("written")]
        self.launcher._insert(function, key, compiled.executable, variant, written)
        self._specialised[function, key] = compiled
        keep_recent(self._specialised, (function, key))
        return compiled

    def launch_structured(self, config: Any, args: list, keywords: dict[str, Any]) -> None:
        """A launch of which an argument is None, a tuple or a list."""
        given = self._arguments_of(args, keywords)
        if given is None:
            self.raise_signature_error(args, keywords)
        half, leaves, kept = self._half_for(given, self._by_keyword(args, keywords))
        half.launcher._launch(config, leaves, kept)

    def launch_with_hooks(self, config: Any, args: list, keywords: dict[str, Any]) -> None:
        keywords = hooks.placed(keywords)
        compiled = self.compiled_for(config, args, keywords)
        names = [p.name for p in self.parameters if not p.keyword_only]
        arguments = dict(zip(names, args, strict=False))
        arguments.update((k, v) for k, v in keywords.items() if k in self.source.by_name)
        options = {k: v for k, v in keywords.items() if k not in self.source.by_name}
        event = hooks.LaunchEvent(
            self.__name__, arguments, config._grid if config is not None else None, options,
            compiled,
        )  # fmt: skip
        hooks.run(event, lambda: self.launcher._launch(config, args, keywords))

    def compiled_for(self, config: Any, args: Any, keywords: dict[str, Any]) -> CompiledKernel:
        given = self._arguments_of(args, keywords)
        if given is not None and any(map(is_structured, given.values())):
            half, leaves, kept = self._half_for(given, self._by_keyword(args, keywords))
            return half.compiled_for(config, leaves, kept)
        while True:
            function, key, variant = self.launcher._key(config, args, keywords)
            found = self._specialised.get((function, key))
            if found is not None:
                keep_recent(self._specialised, (function, key))
                return found
            found = self.specialise(function, key, variant)
            if found is not None:
                return found

    def _check_writable(self, compiled: CompiledKernel, read_only: int) -> None:
        for index, entry in enumerate(compiled.metadata.get("arguments", ())):
            if read_only >> index & 1 and entry.get("written"):
                raise launch_error(
                    self.__name__, entry["name"],
                    "expected an array that may be written, since the kernel stores to it, got a "
                    "read-only one (JAX's arrays always are)",
                )  # fmt: skip

    def _watch(self) -> None:
        """Tells the launcher where what the source captures stands."""
        self.launcher._watch(self.source.fingerprint.places)
        self._watched = True

    def _types(
        self, arguments: tuple, values: dict[str, Any]
    ) -> tuple[dict[str, ArgumentType], dict[str, Any]]:
        """Argument types and constants of `compile`, from what its caller passed."""
        constants = {p.name: p.default for p in self._constants if p.has_default}
        given = dict(values)
        positional = [p for p in self.parameters if not p.keyword_only]
        if len(arguments) > len(positional):
            self._empty_function()(*arguments, **values)
        for parameter, value in zip(positional, arguments, strict=False):
            given[parameter.name] = value
        types_: dict[str, ArgumentType] = {}
        real: dict[str, Any] = {}
        for parameter in self.parameters:
            name = parameter.name
            if parameter.is_constant:
                if name in given:
                    constants[name] = given[name]
                continue
            if name not in given:
                if not parameter.has_default:
                    self._empty_function()(*arguments, **values)
                given[name] = parameter.default
            spec = _argument_type(parameter, given[name])
            if spec is None:
                real[name] = given[name]
            else:
                types_[name] = spec
        if real:
            types_.update(self._types_of_values(real))
        return {p.name: types_[p.name] for p in self._arguments}, constants

    def _types_of_values(self, values: dict[str, Any]) -> dict[str, ArgumentType]:
        """The types and facts of real arguments, as a launch would see them."""
        parameters = [self._native_parameter(self._by_name[n]) for n in values]
        probe = _native.Launcher(_Probe(), self.__name__, parameters)
        function, key, _ = probe._key(None, list(values.values()), {})
        described = json.loads(probe._describe(function, key))
        return types_of(described["arguments"], self._by_name)

    # Arguments that hold several, or none: another half launches the kernel for their leaves.

    @property
    def _by_name(self) -> dict[str, Parameter]:
        return {p.name: p for p in self.parameters}

    def _by_keyword(self, args: Any, keywords: dict[str, Any]) -> dict[str, Any]:
        """All that a call gives, by name."""
        positional = [p.name for p in self.parameters if not p.keyword_only]
        return {**dict(zip(positional, args, strict=False)), **keywords}

    def _arguments_of(self, args: Any, keywords: dict[str, Any]) -> dict[str, Any] | None:
        """The arguments of a call by name, defaults too; None where the call does not fit."""
        given = self._by_keyword(args, keywords)
        out = {}
        for parameter in self._arguments:
            if parameter.name not in given and not parameter.has_default:
                return None
            out[parameter.name] = given.get(parameter.name, parameter.default)
        return out

    def _half_for(
        self, arguments: dict[str, Any], given: dict[str, Any]
    ) -> tuple[KernelHalf, list[Any], dict[str, Any]]:
        """The half for the structures of arguments, their leaves, and the call's other keywords."""
        try:
            structures = {name: structure_of(value) for name, value in arguments.items()}
        except ValueError as error:
            raise launch_error(self.__name__, None, str(error)) from None
        key = tuple(structures.items())
        half = self._structured.get(key)
        if half is None:
            half = self._structured[key] = KernelHalf(
                self.function, self.__kernel_options__, self.no_facts, structures,
                self.source.renewed(),
            )  # fmt: skip
        leaves = [leaf for value in arguments.values() for leaf in leaves_of(value)]
        return half, leaves, {n: v for n, v in given.items() if n not in arguments}

    def _leaf_parameters(self, structures: dict[str, Any]) -> tuple[Parameter, ...]:
        out: list[Parameter] = []
        constants = [replace(p, keyword_only=True) for p in self.parameters if p.is_constant]
        for parameter in self.parameters:
            if parameter.is_constant:
                continue
            try:
                leaves = leaf_parameters(self.function, parameter, structures[parameter.name])
            except TypeError as error:
                raise launch_error(self.__name__, parameter.name, str(error)) from None
            out += [replace(leaf, keyword_only=False, default=EMPTY) for leaf in leaves]
        return (*out, *constants)

    def _instance(self, types_: Callable[[], dict], text: str, constants: dict, *rest) -> Instance:
        """What is compiled: the leaves' types as the source sees them, None for what is absent."""
        structures = self._structures
        if not structures:
            return Instance(self.source, types_, text, constants, *rest)
        absent = {name: None for name, structure in structures.items() if structure is None}

        def nested() -> dict[str, Any]:
            flat = types_()
            return {
                name: rebuilt(structure, iter([flat[n] for n in leaf_names(name, structure)]))
                for name, structure in structures.items()
                if structure is not None
            }

        text += repr([(name, structure_key(s)) for name, s in structures.items()])
        return Instance(self.source, nested, text, {**constants, **absent}, *rest)

    def _empty_function(self) -> Callable[..., None]:
        """A function of the same signature that does nothing: its errors are Python's own."""
        if self._empty is None:
            parts, star = [], False
            for p in self.parameters:
                if p.keyword_only and not star:
                    parts.append("*")
                    star = True
                parts.append(p.name + ("=None" if p.has_default else ""))
            scope: dict[str, Any] = {}
            exec(f"def {self.__name__}({', '.join(parts)}): pass", scope)
            self._empty = scope[self.__name__]
        return self._empty


class _Probe:
    """Stands in for a KernelHalf where only the facts of arguments are asked for."""

    def new_variant(self, *_: Any) -> int:
        return 0


def _size_of(parameter: Parameter, value: Any, type_: ArgumentType) -> Any:
    """What the model is told of an argument of `compile`, whose type alone may be given."""
    return value if _argument_type(parameter, value) is None else nominal_size(type_)


def _argument_type(parameter: Parameter, value: Any) -> ArgumentType | None:
    """The type that `value` says, or None if it is a real argument."""
    if isinstance(value, (ViewType, PointerType, ScalarType)):
        return value
    if isinstance(value, ViewSpec):
        shape = value.shape if value.shape is not None else parameter.shape
        if shape is None:
            raise LaunchError(
                f"expected the rank of `{parameter.name}`, as in kiln.View[{value.dtype}, 2], got "
                f"none", argument=parameter.name,
            )  # fmt: skip
        return ViewType(value.dtype, shape)
    if isinstance(value, PointerSpec):
        return PointerType(value.dtype)
    if isinstance(value, DType):
        return ScalarType(value)
    return None


@overload
def kernel(function: Callable[..., Any], /) -> Kernel: ...
@overload
def kernel(
    *,
    opt_level: int = 3,
    fast_math: bool = False,
    vendor_math: bool = False,
    pipeline: str = "",
    no_facts: tuple[str, ...] = (),
) -> Callable[[Callable[..., Any]], Kernel]: ...


def kernel(
    function: Callable[..., Any] | None = None,
    /,
    *,
    opt_level: int = 3,
    fast_math: bool = False,
    vendor_math: bool = False,
    pipeline: str = "",
    no_facts: tuple[str, ...] = (),
) -> Any:
    """Makes a kernel of a Python function.

    `kernel(...)` launches it on its own grid, `kernel[grid](...)` on a pinned one. Results are
    written in place.

    opt_level  0 to 3
    fast_math  may reassociate and approximate, ignore NaN, infinities and signed zeros, saturate
               where a narrow float has no number so large, and on GPUs flush subnormals of f32
    vendor_math  on GPUs, functions of mathematics from the vendor's library where it is found
    pipeline   "stop-after=STAGE" for `compile`: what is stopped before code cannot be launched
    no_facts   parameters whose facts (alignment, divisibility, ones, overlap) are not compiled for
    """
    if function is None:
        return lambda fn: kernel(
            fn, opt_level=opt_level, fast_math=fast_math, vendor_math=vendor_math,
            pipeline=pipeline, no_facts=no_facts,
        )  # fmt: skip
    if not isinstance(function, types.FunctionType):
        raise CompileError(f"expected a function to make a kernel of, got {function!r}")
    if function.__name__ == "<lambda>":
        raise CompileError(
            "expected a function defined with `def` to make a kernel of, got a lambda",
            legal="def NAME(...), with @kiln.kernel above it",
            span=span_of_lambda(function),
        )
    options = check_options(
        function.__name__,
        {"opt_level": opt_level, "fast_math": fast_math, "vendor_math": vendor_math,
         "pipeline": pipeline},
    )  # fmt: skip
    return KernelHalf(function, options, tuple(no_facts)).launcher
