"""Values for tunables that nobody has given: those of which the model predicts the least time.

The model of a candidate is a closed form of its kernel's sizes that the compiler describes
(docs/rationale/model.md). It is described once for what a specialisation is made of, and computed
for each new combination of sizes; the chosen candidate alone is compiled to code.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

from kiln import _native
from kiln.frontend.errors import CompileError
from kiln.frontend.fingerprint import constant_key
from kiln.frontend.types import ArgumentType, ScalarType, ViewType
from kiln.language.annotations import CHOSEN
from kiln.runtime import cache
from kiln.runtime.specialise import Instance

NOMINAL = 4096  # an extent that nobody knows, where a kernel is compiled without a call
_OPTIONS = "model=true stop-after=tile"

Candidate = tuple[dict[str, Any], "_native.Model | None"]


class Choices:
    """What was described of a kernel's candidates."""

    def __init__(self) -> None:
        self._described: dict[tuple, list[Candidate]] = {}

    def close(self, instance: Instance, sizes: list[Any], where: Any = None) -> dict[str, Any]:
        """The constants of an instance, with values where they have `CHOSEN`.

        sizes  of each argument: the array, the shape as a tuple, or the number
        where  the device of the launch, whose cores count; None: those of the chip's record

        Raises the first candidate's CompileError where all are refused.
        """
        open_ = [name for name, value in instance.constants.items() if value is CHOSEN]
        if not open_:
            return instance.constants
        key = (
            instance.argument_text, instance.target, instance.alone, repr(instance.options),
            tuple((name, constant_key(value)) for name, value in instance.constants.items()
                  if value is not CHOSEN),
        )  # fmt: skip
        candidates = self._described.get(key)
        if candidates is None:
            candidates = self._described[key] = _describe(instance, open_)
        modelled = [(values, model) for values, model in candidates if model is not None]
        if not modelled:
            return {**instance.constants, **candidates[0][0]}
        times = [model.predict(sizes, where) for _, model in modelled]
        return {**instance.constants, **modelled[times.index(min(times))][0]}


def _describe(instance: Instance, open_: list[str]) -> list[Candidate]:
    """All combinations that are not refused, in the source's order, each with its model. Where the
    chip has none, no other is asked for."""
    by_name = instance.source.by_name
    combinations = [
        dict(zip(open_, values, strict=True))
        for values in itertools.product(*(by_name[name].candidates for name in open_))
    ]
    found: list[Candidate] = []
    refusal = None
    for values in combinations:
        try:
            metadata = _describe_one(replace(instance, constants={**instance.constants, **values}))
        except CompileError as error:
            refusal = refusal or error
            continue
        model = metadata.get("model")
        found.append((values, model and _native.Model.read(json.dumps(model))))
        if metadata.get("no_model", {}).get("of_chip"):
            break
    if not found:
        raise refusal
    return found


def _describe_one(instance: Instance) -> dict[str, Any]:
    request = {**instance.request(), "options": _OPTIONS}
    artifact, _, _ = _native.compile(cache.current(), None, request)
    return json.loads(artifact.metadata)


def nominal_size(given: ArgumentType) -> Any:
    """What stands for an argument of which the type alone is known."""
    if isinstance(given, ViewType):
        return tuple(NOMINAL if extent is None else extent for extent in given.shape)
    if isinstance(given, ScalarType) and given.dtype.is_float:
        return 1.0
    return NOMINAL if isinstance(given, ScalarType) else 0
