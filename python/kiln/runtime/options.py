"""Launch options: how a kernel is compiled, apart from its arguments and constants."""

from __future__ import annotations

import os
from typing import Any

# KilnIsolation of kiln-c/Compiler.h.
_HERE, _KEPT_WORKER = 0, 2

# What each option is, and its default. `pipeline` is more of the pipeline's own options,
# "name=value name=value"; include/kiln/Pipeline/Compile.h lists them.
COMPILE_OPTIONS: dict[str, Any] = {
    "opt_level": 3, "fast_math": False, "vendor_math": False, "pipeline": "",
}  # fmt: skip
LAUNCH_OPTIONS = ("grid", "stream", "device", "cluster", "cooperative", "overlap", "priority")


def check_options(kernel: str, options: dict[str, Any]) -> dict[str, Any]:
    """The compile options among `options` that differ from the defaults, checked."""
    out = {}
    for name, value in options.items():
        if name not in COMPILE_OPTIONS:
            legal = ", ".join(f"_{n}" for n in (*LAUNCH_OPTIONS[1:], *COMPILE_OPTIONS))
            raise TypeError(
                f"{kernel}() got an unexpected launch option '_{name}'; expected one of {legal}"
            )
        default = COMPILE_OPTIONS[name]
        if name == "opt_level" and (type(value) is not int or not 0 <= value <= 3):
            raise TypeError(f"expected an opt_level of 0 to 3, got {value!r}")
        if name in ("fast_math", "vendor_math") and type(value) is not bool:
            raise TypeError(f"expected True or False for {name}, got {value!r}")
        if name == "pipeline" and not isinstance(value, str):
            raise TypeError(f"expected a string for pipeline, got {value!r}")
        if value != default:
            out[name] = value
    return out


def options_key(options: dict[str, Any]) -> tuple | None:
    """Hashable; None for the defaults."""
    return tuple(sorted(options.items())) or None


def request_fields(options: dict[str, Any]) -> dict[str, Any]:
    """The options as fields of a compile request, and where it is compiled: in a worker that is
    kept for the next one, so that Ctrl-C ends it, and running out of memory ends nothing else."""
    full = {**COMPILE_OPTIONS, **options}
    return {
        "isolation": _HERE if os.environ.get("KILN_COMPILE_IN_PROCESS") else _KEPT_WORKER,
        "opt_level": full["opt_level"],
        "fast_math": int(full["fast_math"]),
        "vendor_math": int(full["vendor_math"]),
        "options": full["pipeline"] or None,
    }
