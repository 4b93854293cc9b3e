"""What can go wrong between a call and its result, as exceptions.

    CompileError        the kernel's source; shows the user's line (kiln.frontend.errors)
    LaunchError         the call: names the kernel and the argument
    DeviceError         the device's driver, or a device that is not there
    DeviceAssertError   an assertion in the kernel failed while it ran
    CacheError          the cache directory is unsafe or cannot be used, or a file holds no kernel

The extension makes them through `from_native` and `launch_error`.
"""

from __future__ import annotations

import re

from kiln.frontend.errors import CompileError, render_diagnostic


class LaunchError(ValueError):
    """A call that a kernel cannot be launched with.

    kernel    the kernel's name, or None
    argument  the argument's name, or None
    """

    def __init__(self, message: str, kernel: str | None = None, argument: str | None = None):
        self.kernel = kernel
        self.argument = argument
        super().__init__(message)


class StoppedError(LaunchError):
    """The kernel was compiled with `stop-after`: there is no code to launch."""


class DeviceError(RuntimeError):
    """A device is absent, or its driver reported a failure."""


class DeviceAssertError(AssertionError):
    """An assertion inside a kernel failed. What the launch wrote before it stays written."""


class CacheError(OSError):
    """The cache directory was refused, the file system failed, or a file that is to hold a compiled
    kernel holds none, or a damaged one.

    refused  whether it is unsafe, as opposed to unusable
    """

    def __init__(self, message: str, refused: bool = False):
        self.refused = refused
        super().__init__(message)


class UnsupportedError(CompileError):
    """The kernel is right, but this target cannot run it."""


class RequestError(CompileError):
    """What a compile was asked for is not there, a target or an option: no source's fault."""


class WorkerError(CompileError):
    """The process that compiled the kernel died or went over its limits."""


# KilnErrorCode of kiln-c/Base.h.
_INVALID, _COMPILE, _UNSUPPORTED, _NOT_FOUND, _MEMORY, _IO = 1, 2, 3, 4, 5, 6
_CORRUPT, _REFUSED, _DEVICE, _ASSERT, _WORKER, _CANCELLED, _INTERNAL = 7, 8, 9, 10, 11, 12, 13
_TIMEOUT = 14

# How the C API begins what it says of an argument.
_PLACE = re.compile(r"kernel '([^']*)': (?:argument '([^']*)': )?(.*)", re.DOTALL)

# KilnSeverity.
ERROR, WARNING, REMARK, NOTE = 0, 1, 2, 3


def launch_error(kernel: str | None, argument: str | None, message: str) -> LaunchError:
    """The error about one argument of one launch."""
    where = [f"kernel `{kernel}`"] if kernel else []
    if argument:
        where.append(f"argument `{argument}`")
    text = f"{', '.join(where)}: {message}" if where else message
    return LaunchError(text, kernel, argument)


def from_native(
    code: int, message: str, diagnostics: list[tuple], kernel: str | None
) -> BaseException:
    """A KilnError as an exception. Diagnostics are (severity, parent, file, line, column, text)."""
    if code in (_INVALID, _NOT_FOUND) and diagnostics:  # a target, a kernel, an option
        placed = any(d[0] == ERROR and d[2] for d in diagnostics)
        kind = CompileError if code == _NOT_FOUND or placed else RequestError
        return _compile_error(kind, message, diagnostics)
    if code == _INVALID:
        place = _PLACE.match(message)
        if place:
            return launch_error(place[1], place[2], place[3])
        return launch_error(kernel, None, message)
    if code == _UNSUPPORTED and not diagnostics and not _PLACE.match(message):
        return DeviceError(message)  # no kernel's fault: a driver too old, a peer out of reach
    if code in (_COMPILE, _UNSUPPORTED, _WORKER):
        kind = {_UNSUPPORTED: UnsupportedError, _WORKER: WorkerError}.get(code, CompileError)
        return _compile_error(kind, message, diagnostics)
    if code == _ASSERT:
        return DeviceAssertError(message)
    if code == _MEMORY:
        return MemoryError(message)
    if code in (_IO, _REFUSED) and not diagnostics:
        return CacheError(message, refused=code == _REFUSED)
    if code == _REFUSED:
        return _compile_error(CompileError, message, diagnostics)
    if code == _NOT_FOUND:
        is_section = " has no section '" in message
        return LookupError(message) if is_section else DeviceError(message)
    if code == _DEVICE:
        return DeviceError(message)
    if code == _TIMEOUT:
        return TimeoutError(message)
    if code == _CORRUPT:
        return CacheError(message)
    return RuntimeError(message)


def _compile_error(kind: type[CompileError], message: str, diagnostics: list[tuple]):
    """The first error, with its notes, at the user's line; the others as notes."""
    first = next((i for i, d in enumerate(diagnostics) if d[0] == ERROR), None)
    if first is None:
        return kind(message)
    _, _, file, line, column, text = diagnostics[first]
    notes = tuple(
        note_text(d) for i, d in enumerate(diagnostics) if d[0] == NOTE and d[1] == first
    ) + tuple(note_text(d) for d in diagnostics[first + 1 :] if d[0] == ERROR)
    if kind is WorkerError and not (file and line):
        return kind(message, notes=(text, *notes))  # only the message names the kernel
    if not file or not line:
        return kind(text, notes=notes)
    error = render_diagnostic(file, line, column, text, notes)
    if kind is not CompileError:
        error = kind(error.message, span=error.span, notes=error.notes)
    return error


def note_text(diagnostic: tuple) -> str:
    """A diagnostic on one line, with its place if it has one."""
    _, _, file, line, column, text = diagnostic
    return f"{file}:{line}:{column}: {text}" if file and line else text
