"""Kernels in MLIR text whose decisions are pinned, such as benchmarks/*.mlir, on emulated chips."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path

from kiln import _native
from kiln.runtime.devices import device

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@functools.lru_cache(maxsize=32)
def compiled(source: bytes, target: str, stages: tuple[str, ...] = ()):
    """The artifact of the one kernel of a text, which several tests compile."""
    request = {
        "source": source, "source_name": "pinned.mlir", "kernel": None, "target": target,
        "keep_stages": stages, "opt_level": 3, "fast_math": 0, "options": None, "isolation": 2,
    }  # fmt: skip
    artifact, _, _ = _native.compile(None, None, request)
    return artifact


def build(source: bytes, chip: str) -> Callable[..., None]:
    """What runs the one kernel of a text on an emulated chip."""
    place = device(f"emu:{chip}")
    artifact = compiled(source, place.target)
    executable = place.load(artifact)
    name = json.loads(artifact.metadata)["kernel"]
    return lambda *arguments: executable.launch(name, list(arguments), None)
