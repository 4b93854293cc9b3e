"""A kernel as the front end sees it: its parameters, its fingerprint, and its lowering.

This is what the run-time half of `@kiln.kernel` is built on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from kiln.frontend.errors import CompileError, Misuse
from kiln.frontend.fingerprint import Fingerprint, constant_key
from kiln.frontend.function import CAPTURES, Function, as_constant
from kiln.frontend.grid import find_grid
from kiln.frontend.signature import Parameter, kernel_parameters, wrong_parameter
from kiln.frontend.source import FunctionSource
from kiln.frontend.structures import named_leaves
from kiln.frontend.types import ArgumentType, PointerType, ScalarType, ViewType
from kiln.frontend.values import Struct


class KernelSource:
    """A Python function that is a kernel.

    name          the symbol of the kernel in the IR
    parameters    in order; see `Parameter`
    has_grid      whether the source says how many programs run (`kiln.grid`)
    source_hash   a fingerprint of everything in the source that the compiled code depends on;
                  taken once, at the first use: `renewed` sees what has changed since
    """

    def __init__(self, function: Callable[..., Any], helper: Function | None = None):
        self.helper = helper or Function(function)
        self.name = function.__name__
        self.parameters: tuple[Parameter, ...] = kernel_parameters(function)
        self.by_name = {p.name: p for p in self.parameters}

    @property
    def source(self) -> FunctionSource:
        return self.helper.source

    @cached_property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(self.source)

    @property
    def source_hash(self) -> str:
        return self.fingerprint.hash

    def is_current(self) -> bool:
        """Whether all that it captures is what it was when the fingerprint was taken."""
        taken = self.__dict__.get("fingerprint")
        return taken is None or taken.hash == Fingerprint(self.source).hash

    def renewed(self) -> KernelSource:
        """The same text, whose fingerprint is yet to be taken."""
        return KernelSource(self.helper.function, self.helper)

    @cached_property
    def has_grid(self) -> bool:
        return find_grid(self.source) is not None

    def lower(
        self,
        argument_types: dict[str, ArgumentType],
        constants: dict[str, Any] | None = None,
        tunables: dict[str, Any] | None = None,
        grid_pinned: bool = False,
        takes_turns: bool = True,
    ) -> str:
        """The kernel as the text of a module of the tile dialect.

        argument_types  the type of each view, pointer and scalar argument, with its facts; a
                        tuple of types, or a structure of them, for an argument that holds several
        constants       the values of constexpr parameters; also of any other parameter that
                        this instance fixes (it is then no argument of the kernel)
        tunables        the values of tunables
        grid_pinned     the launch says the grid: no grid region is emitted
        takes_turns     passes may have a program run several tiles in turn, not its own alone

        Constants and tunables that are missing take their defaults, tunables without one their
        first candidate. Raises CompileError.
        """
        from kiln.frontend.lowering import lower_kernel

        values = self._constants(constants or {}, tunables or {})
        types = self._types(argument_types, values)
        try:
            return lower_kernel(self, types, values, grid_pinned, takes_turns)
        except CompileError as error:
            raise error.with_traceback(
                None
            ) from error.__cause__  # the compiler's own frames tell a user nothing

    def _constants(self, constants: dict[str, Any], tunables: dict[str, Any]) -> dict[str, Any]:
        from kiln.frontend.arithmetic.constants import check_length

        given = {**constants, **tunables}
        for name in given:
            if name not in self.by_name:
                raise self._wrong(None, f"expected a parameter of `{self.name}`, got `{name}`")
        out = {}
        for parameter in self.parameters:
            name = parameter.name
            if name in given:
                value = given[name]
            elif parameter.is_constant and parameter.has_default:
                value = parameter.candidates[0] if parameter.is_chosen else parameter.default
            elif parameter.is_constant:
                raise self._wrong(
                    parameter, f"expected a value for the constant `{name}`, got none"
                )
            else:
                continue
            if parameter.kind == "tunable":
                self._check_candidate(parameter, value)
            try:
                out[name] = check_length(as_constant(value))
            except Misuse as misuse:
                raise self._wrong(parameter, misuse.message) from None
            except TypeError:
                raise self._wrong(
                    parameter,
                    f"expected a constant for `{name}`, got a {type(value).__name__}",
                    CAPTURES,
                ) from None
        return out

    def _check_candidate(self, parameter: Parameter, value: Any) -> None:
        keys = map(constant_key, parameter.candidates)
        if constant_key(value) not in keys:
            raise self._wrong(
                parameter,
                f"expected a candidate of the tunable `{parameter.name}`, got {value!r}",
                ", ".join(map(repr, parameter.candidates)),
            )

    def _types(
        self, types: dict[str, ArgumentType], constants: dict[str, Any]
    ) -> dict[str, ArgumentType]:
        out = {}
        for parameter in self.parameters:
            name = parameter.name
            if name in constants:
                continue
            if name not in types:
                raise self._wrong(parameter, f"expected a type for the argument `{name}`, got none")
            given = types[name]
            if isinstance(given, (tuple, Struct)):
                if parameter.kind not in ("auto", "tuple"):
                    text = f"expected a {parameter.kind} for `{name}`, got a tuple"
                    raise self._wrong(parameter, text)
                for _, leaf in named_leaves(name, given):
                    self._check_memory(parameter, leaf)
            else:
                self._check_type(parameter, given)
            out[name] = given
        return out

    def _check_type(self, parameter: Parameter, given: ArgumentType) -> None:
        kinds = {"view": ViewType, "pointer": PointerType, "scalar": ScalarType}
        wanted = kinds.get(parameter.kind, (ViewType, PointerType, ScalarType))
        name = parameter.name
        if not isinstance(given, wanted):
            raise self._wrong(parameter, f"expected a {parameter.kind} for `{name}`, got: {given}")
        if parameter.dtype is not None and given.dtype is not parameter.dtype:
            raise self._wrong(
                parameter, f"expected {parameter.dtype} for `{name}`, got {given.dtype}"
            )
        self._check_memory(parameter, given)
        if not isinstance(given, ViewType):
            return
        if parameter.shape is not None:
            if len(parameter.shape) != given.rank:
                raise self._wrong(
                    parameter,
                    f"expected a view of rank {parameter.rank} for `{name}`, got rank {given.rank}",
                )
            for dim, (fixed, extent) in enumerate(zip(parameter.shape, given.shape, strict=False)):
                if fixed is not None and extent is not None and extent != fixed:
                    raise self._wrong(
                        parameter,
                        f"expected extent {fixed} of dimension {dim} of `{name}`, got {extent}",
                    )

    def _check_memory(self, parameter: Parameter, given: ArgumentType) -> None:
        if isinstance(given, ViewType) and given.dtype.name in ("tf32", "index"):
            raise self._wrong(
                parameter,
                f"expected a dtype that memory holds for `{parameter.name}`, got {given.dtype}",
                "kiln.f32" if given.dtype.is_float else "kiln.i64",
            )

    def _wrong(self, parameter: Parameter | None, message: str, legal: str | None = None):
        name = None if parameter is None else parameter.name
        return wrong_parameter(self.helper.function, name, message, legal)
