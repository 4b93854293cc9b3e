"""Launch hooks: functions that are called around every launch, for profilers and tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kiln import _native


@dataclass
class LaunchEvent:
    """One launch, as hooks see it.

    kernel     the kernel's name
    arguments  its arguments by name
    grid       as the call pinned it, or None for the kernel's own
    options    further launch options
    compiled   the code that runs; "compiled" as `source_level` if this launch compiled it
    seconds    how long the call took, in after hooks; on an accelerator until it was queued
    error      what the launch raised, in after hooks, or None
    data       for hooks to pass something from before to after
    """

    kernel: str
    arguments: dict[str, Any]
    grid: tuple[int, ...] | None
    options: dict[str, Any]
    compiled: Any
    seconds: float | None = None
    error: BaseException | None = None
    data: dict[Any, Any] = field(default_factory=dict)


Hook = Callable[[LaunchEvent], None]
_hooks: list[tuple[Hook | None, Hook | None]] = []
_devices: list[str] = []  # the last is that of every launch, whatever its call says


class HookHandle:
    """Removes its hooks when it is called, or when the `with` block ends."""

    def __init__(self, pair: tuple[Hook | None, Hook | None]):
        self._pair = pair

    def remove(self) -> None:
        """Takes the hooks out; a second call does nothing."""
        _hooks[:] = [p for p in _hooks if p is not self._pair]
        _native.set_active_hooks(len(_hooks))

    __call__ = remove

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def on_launch(before: Hook | None = None, after: Hook | None = None) -> HookHandle:
    """Calls `before(event)` and `after(event)` around every launch of every kernel.

    `after` is called in the reverse order of registration, also for a launch that raised. What
    a hook raises ends the launch. Launches cost some microseconds more while there are hooks.
    """
    for hook in (before, after):
        if hook is not None and not callable(hook):
            raise TypeError(f"expected a function, got {hook!r}")
    pair = (before, after)
    _hooks.append(pair)
    _native.set_active_hooks(len(_hooks))
    return HookHandle(pair)


@contextmanager
def launched_on(device: str, after: Hook) -> Iterator[None]:
    """Every launch inside runs on a device, wherever its arrays are and whatever its call says,
    and is told to `after`."""
    with on_launch(after=after):
        _devices.append(device)
        try:
            yield
        finally:
            _devices.pop()


def placed(keywords: dict[str, Any]) -> dict[str, Any]:
    """A launch's keywords, with the device of all."""
    return {**keywords, "_device": _devices[-1]} if _devices else keywords


def run(event: LaunchEvent, launch: Callable[[], None]) -> None:
    """The launch with its hooks around it."""
    from time import perf_counter

    active = list(_hooks)
    for before, _ in active:
        if before is not None:
            before(event)
    start = perf_counter()
    try:
        launch()
    except BaseException as error:
        event.error = error
        raise
    finally:
        event.seconds = perf_counter() - start
        for _, after in reversed(active):
            if after is not None:
                after(event)
