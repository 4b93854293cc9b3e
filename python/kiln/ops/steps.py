"""Epilogues as the entry functions take them, and as kernels do."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import kiln
from kiln.ops import arrays

Finish = Callable[[dict[str, Any]], None]
"""Launches what combines partial results, with the launch options of the product."""

# The extents that an operand has beside a result [..., M, N].
_EXTENTS = {
    "rows": lambda shape: shape[-2:-1], "columns": lambda shape: shape[-1:],
    "matrix": lambda shape: shape[-2:],
}  # fmt: skip
_WORDS = {"rows": "rows", "columns": "columns", "matrix": "elements"}


class Epilogue:
    """A kiln function of a tile, its `Place` and these operands: arrays and numbers.

    extents  for each operand "rows", "columns" or "matrix", of whose elements it has one number
             each, and leading dimensions that broadcast; without, operands may be anything
    whole    whether the function wants tiles that begin at multiples of their extents
    """

    whole = False

    def __init__(self, function: Any, *operands: Any, extents: tuple[str, ...] = ()):
        self.function = function
        self.operands = operands
        self.extents = extents

    def bound(self, op: str, shape: arrays.Shape, like: Any) -> tuple[tuple, Finish | None]:
        """The operands for a result of a shape, and what is to be done behind the launch."""
        for wanted, operand in zip(self.extents, self.operands):
            got, last = arrays.shape_of(op, "epilogue", operand), _EXTENTS[wanted](shape)
            batch, own = shape[:-2], got[: len(got) - len(last)]
            if len(own) < len(batch):
                own = (1,) * (len(batch) - len(own)) + own
            fits = len(own) == len(batch) and all(n in (1, m) for n, m in zip(own, batch))
            if got[len(got) - len(last) :] != last or not fits:
                arrays.refuse(
                    op, "epilogue",
                    f"expected an operand of the shape {batch + last}, one number for each of the "
                    f"{_WORDS[wanted]} of the result, whose leading dimensions may be 1 or "
                    f"missing, got {got}",
                )  # fmt: skip
        return self.operands, None

    def __repr__(self) -> str:
        return f"Epilogue({self.function!r}, {len(self.operands)} operands)"


class Steps:
    """An argument `epilogue`, for one result.

    functions  each with whether it wants its place, as a kernel's constant
    operands   of each
    whole      whether one of them wants tiles that begin at multiples of their extents
    finish     what combines partial results, in order
    """

    def __init__(
        self, op: str, epilogue: Any, shape: arrays.Shape, like: Any, whole: bool = True
    ):  # fmt: skip
        """`whole`: whether tiles begin at multiples of their extents."""
        steps = [e if isinstance(e, Epilogue) else Epilogue(e) for e in _flat(epilogue)]
        self.whole = any(step.whole for step in steps)
        if not whole and self.whole:
            arrays.refuse(
                op, "epilogue",
                "expected functions of single rows or elements, got a reduction or a quantisation, "
                "which want tiles that are not cut by groups",
            )  # fmt: skip
        self.functions = tuple((step.function, _wants_place(op, step)) for step in steps)
        bound = [step.bound(op, shape, like) for step in steps]
        self.operands = tuple(operands for operands, _ in bound)
        self.finish = [finish for _, finish in bound if finish is not None]


def _flat(epilogue: Any) -> list[Any]:
    if epilogue is None:
        return []
    if isinstance(epilogue, (list, tuple)):
        return [step for each in epilogue for step in _flat(each)]
    return [epilogue]


def _wants_place(op: str, step: Epilogue) -> bool:
    function, count = step.function, len(step.operands)
    if hasattr(function, "__kiln_intrinsic__") and not count:
        return False
    if not isinstance(function, kiln.Function):
        arrays.refuse(
            op, "epilogue",
            f"expected kiln functions, or kiln.ops.Epilogue of one, got {function!r}; write "
            f"@kiln.function above its `def`",
        )  # fmt: skip
    least, most = _parameters(function)
    if not count and least <= 1 <= most:
        return False
    if not least <= 2 + count <= most:
        wanted = "a tile" if not count else f"a tile, its place and {count} operands"
        got = least if least == most else f"{least} to {most}"
        arrays.refuse(
            op, "epilogue",
            f"expected a function of {wanted}, got `{function.__name__}` of {got} parameters",
        )  # fmt: skip
    return True


@lru_cache(maxsize=256)
def _parameters(function: kiln.Function) -> tuple[int, int]:
    """How many arguments a function takes by position, at least and at most."""
    given = inspect.signature(function.function).parameters.values()
    placed = [p for p in given if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    least = sum(p.default is p.empty for p in placed)
    return least, len(placed) + (1 << 16 if any(p.kind is p.VAR_POSITIONAL for p in given) else 0)
