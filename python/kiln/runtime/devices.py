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
    """The device of that name ("cpu").

    It has `name`, `target`, `identity`; `synchronize(stream, timeout)`; for several devices
    `can_access_peer(other)` and `enable_peer_access(other)`, after which its kernels reach the
    other's memory; and `reset()`, which makes a device anew that a kernel took down.
    """
    return _native.Device.open(name)


# What this processor can do, and which targets there are: taken at import, so that the first launch
# need not.
device("cpu")
_native.target_identity("cpu")


def targets() -> list[dict[str, Any]]:
    """What kernels can be compiled for."""
    return json.loads(_native.targets())["targets"]


def in_words(entry: dict[str, Any]) -> str:
    """What one of `devices()` is, or why it is absent."""
    if entry["available"]:
        return f"{entry['description']} (target {entry['target']})"
    # A target that is not a device itself: each of its chips is one.
    if any(entry["name"] == target["name"] for target in targets()):
        return entry["reason"]
    return f"absent: {entry['reason']}"


def synchronize(name: str | None = None, stream: int = 0, timeout: float | None = None) -> None:
    """Waits for what was launched on a device (every available one without a name), and raises
    what failed there.

    timeout  the most seconds to wait on a device: then it is a `TimeoutError`, which names what
             was launched last; nothing is ended by it
    """
    names = [name] if name else [d["name"] for d in devices() if d.get("available")]
    for each in names:
        device(each).synchronize(stream, timeout)
