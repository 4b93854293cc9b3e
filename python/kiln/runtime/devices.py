"""Devices by name, and what they are."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from kiln import _native


def devices() -> list[dict[str, Any]]:
    """Every device that Kiln knows how to look for; those absent say why under "reason"."""
    return json.loads(_native.devices())


@cache
def device(name: str) -> Any:
    """The device of that name ("cpu"); it has `name`, `target`, `identity` and `synchronize()`."""
    return _native.Device.open(name)


def targets() -> list[dict[str, Any]]:
    """What kernels can be compiled for."""
    return json.loads(_native.targets())["targets"]


def synchronize(name: str | None = None, stream: int = 0) -> None:
    """Waits for what was launched on a device (every available one without a name), and raises
    what failed there."""
    names = [name] if name else [d["name"] for d in devices() if d.get("available")]
    for each in names:
        device(each).synchronize(stream)
