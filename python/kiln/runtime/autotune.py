"""`@kiln.autotune`: tries the candidates of a kernel's tunables and keeps the fastest.

The choice is made once for each key: the values of the arguments named in `key`, the types of
all arguments, the kernel's source, the compiler and the device. It is written beside the
compiled kernels, so that another process takes it over without measuring.
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kiln import _native
from kiln.frontend import travel
from kiln.frontend.errors import CompileError
from kiln.frontend.fingerprint import constant_key
from kiln.frontend.structures import leaves_of
from kiln.runtime import cache, measure
from kiln.runtime.devices import device, synchronize
from kiln.runtime.errors import DeviceError, LaunchError

_FORMAT = 1
_TOLERATED = (CompileError, LaunchError, DeviceError, MemoryError, AssertionError)


def autotune(
    key: Sequence[str] = (),
    configs: Iterable[dict[str, Any]] | None = None,
    restore: Sequence[str] = (),
    seconds: float = 0.1,
) -> Callable[[Any], Tuner]:
    """Stands above `@kiln.kernel` and picks the values of its tunables by measuring.

    key      arguments whose value (a number) or shape (an array) decides anew
    configs  the combinations to try, as dicts of tunables and constants; without them all
             combinations of the tunables' candidates
    restore  arrays that the kernel reads and writes: they are put back before every trial
    seconds  how long each candidate is measured

    A candidate that does not compile or launch is left out and reported in `records`; if none
    is left, the first one's error is raised. $KILN_AUTOTUNE=0 takes the defaults unmeasured.
    """
    if callable(key):
        raise TypeError("expected @kiln.autotune(...), with parentheses, got @kiln.autotune")
    for what, names in (("key", key), ("restore", restore)):
        if isinstance(names, str):
            raise TypeError(f"expected {what} to be a list of names, got {names!r}")
    if not isinstance(seconds, (int, float)) or not seconds >= 0:
        raise TypeError(f"expected seconds to be a number of at least 0, got {seconds!r}")
    if configs is not None:
        configs = list(configs)
        for config in configs:
            if not isinstance(config, dict):
                raise TypeError(f"expected configs to be dicts of constants, got {config!r}")
        configs = [dict(c) for c in configs]
        if not configs:
            raise ValueError("expected at least one config, got none")

    def decorate(kernel: Any) -> Tuner:
        if not hasattr(kernel, "parameters"):
            raise TypeError(f"expected @kiln.autotune(...) above @kiln.kernel, got {kernel!r}")
        return Tuner(kernel, tuple(key), configs, tuple(restore), seconds)

    return decorate


class Tuner:
    """A kernel that is tuned at its first call for each key.

    kernel   the kernel itself
    records  what was measured: one dict for each key, as it stands on disk
    """

    def __init__(self, kernel, key, configs, restore, seconds):
        self.kernel = kernel
        self.records: list[dict[str, Any]] = []
        self._key, self._restore, self._seconds = key, restore, seconds
        parameters = kernel.parameters
        names = [p.name for p in parameters]
        for name in (*key, *restore):
            if name not in names:
                raise TypeError(f"expected parameters of {kernel.__name__}, got {name!r}")
        tunables = {p.name: p.candidates for p in parameters if p.kind == "tunable"}
        if configs is None:
            if not tunables:
                raise TypeError(f"expected tunables in {kernel.__name__} or configs, got neither")
            configs = [
                dict(zip(tunables, values, strict=False))
                for values in itertools.product(*tunables.values())
            ]
        constants = {p.name for p in parameters if p.is_constant}
        for config in configs:
            for name in config:
                if name not in constants:
                    raise TypeError(
                        f"expected constants of {kernel.__name__} in a config, got {name!r}"
                    )
        self.configs = configs
        self._positional = [p.name for p in parameters if not p.keyword_only]
        self._best: dict[tuple, dict[str, Any]] = {}
        self.__wrapped__ = kernel.function
        self.__name__, self.__doc__ = kernel.__name__, kernel.__doc__

    def __call__(self, *args: Any, **keywords: Any) -> None:
        self._launch(None, args, keywords)

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        return lambda *args, **keywords: self._launch(grid, args, keywords)

    def options(self, grid: Any = None, **options: Any) -> Callable[..., None]:
        """The tuner with launch options, under which candidates are measured, too."""
        self.kernel.options(grid=grid, **options)  # refuses what is none
        given = {f"_{name}": value for name, value in options.items() if value is not None}
        return lambda *args, **keywords: self._launch(grid, args, {**given, **keywords})

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kernel, name)

    def __copy__(self) -> Tuner:
        return self

    def __deepcopy__(self, _: Any) -> Tuner:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """By its name where a module has it, else with the kernel; never what was measured."""
        function = self.kernel.function
        if travel.is_found(self, function):
            return travel.find, (function.__module__, function.__qualname__)
        return Tuner, (self.kernel, self._key, self.configs, self._restore, self._seconds)

    def best(self, *args: Any, **keywords: Any) -> dict[str, Any]:
        """The chosen values for such a call, which is tuned if it was not."""
        return self._choose(None, args, keywords)

    def _launch(self, grid: Any, args: tuple, keywords: dict[str, Any]) -> None:
        chosen = self._choose(grid, args, keywords)
        callee = self.kernel if grid is None else self.kernel[grid]
        given = self._positional[: len(args)]
        chosen = {name: value for name, value in chosen.items() if name not in given}
        callee(*args, **{**chosen, **keywords})

    def _choose(self, grid: Any, args: tuple, keywords: dict[str, Any]) -> dict[str, Any]:
        if len(args) > len(self._positional):
            self.kernel.raise_signature_error(list(args), keywords)
        arguments = dict(zip(self._positional, args, strict=False))
        names = self.kernel.source.by_name
        arguments.update((k, v) for k, v in keywords.items() if k in names)
        missing = [n for n in (*self._key, *self._restore) if n not in arguments]
        if missing:
            self.kernel.raise_signature_error(list(args), keywords)
            raise TypeError(f"expected the argument {missing[0]!r}, got none")
        if os.environ.get("KILN_AUTOTUNE") == "0":
            return {}
        constants = {p.name for p in self.kernel.parameters if p.is_constant}
        fixed = {
            n: v for n, v in arguments.items() if n in constants or not _described(v, typed=True)
        }
        options = {k: v for k, v in keywords.items() if k not in names and k != "_stream"}
        key = (
            _device_of(arguments, keywords),
            tuple(sorted((k, str(v)) for k, v in options.items() if k != "_device")),
            tuple(_described(arguments[n], typed=False) for n in self._key),
            tuple((n, _described(v, typed=True)) for n, v in arguments.items()),
            tuple((n, constant_key(v)) for n, v in fixed.items()),
            grid is None,
        )
        chosen = self._best.get(key)
        if chosen is None:
            callee = self.kernel if grid is None else self.kernel[grid]
            call = _Call(callee, args, keywords, arguments)
            chosen = self._best[key] = self._stored_or_measured(key, call)
        return chosen

    def _stored_or_measured(self, key: tuple, call: _Call) -> dict[str, Any]:
        where = device(_device_of(call.arguments, call.keywords))
        configs = [{**c} for c in self.configs]
        identity = cache.first_key(
            "autotune", self.kernel.source.source_hash, repr(key), repr(configs), where.name,
            where.identity, where.target,
        ).hex()  # fmt: skip
        stored = _read(identity)
        if stored is not None and stored.get("best") in configs:
            self.records.append(stored)
            return stored["best"]
        record = self._measure(identity, where, call)
        self.records.append(record)
        _write(identity, record)
        return record["best"]

    def _measure(self, identity: str, where: Any, call: _Call) -> dict[str, Any]:
        arrays = [array for n in self._restore for array in leaves_of(call.arguments[n])]
        kept = [(array, _copy_of(array)) for array in arrays]

        def put_back() -> None:
            for array, saved in kept:
                _assign(array, saved)

        try:
            trials, failures = self._try_all(where, call, put_back if kept else None)
        finally:  # also of what was interrupted
            put_back()
        measured = [t for t in trials if "seconds" in t]
        if not measured:
            raise failures[0]
        best = min(measured, key=lambda t: t["seconds"])
        return {
            "format": _FORMAT, "kernel": self.__name__, "device": where.name,
            "target": where.target, "compiler": _native.compiler_id(), "identity": identity,
            "best": best["config"], "trials": trials,
        }  # fmt: skip

    def _try_all(self, where: Any, call: _Call, put_back: Callable[[], None] | None) -> tuple:
        trials, failures = [], []
        given = call.arguments
        fitting = [c for c in self.configs if all(given.get(n, c[n]) == c[n] for n in c)]
        if not fitting:
            named = {n: given[n] for config in self.configs for n in config if n in given}
            raise LaunchError(
                f"expected constants of {self.__name__} that a config has, got "
                f"{', '.join(f'{n}={v!r}' for n, v in named.items())}; configs: {self.configs}"
            )
        progress = _Progress(self.__name__, len(fitting))
        for config in fitting:
            progress.step(config)
            try:
                if put_back:
                    put_back()
                times = measure.bench(
                    call.with_config(config),
                    seconds=self._seconds,
                    before=put_back,
                    synchronize=None if where.name == "cpu" else lambda: synchronize(where.name),
                )
            except _TOLERATED as error:
                failures.append(error)
                trials.append({"config": config, "error": str(error)})
                continue
            trials.append({
                "config": config, "seconds": statistics.median(times), "least": min(times),
                "calls": len(times),
            })  # fmt: skip
        progress.end()
        return trials, failures


@dataclass
class _Call:
    """The call that is tuned: the kernel with its grid, and its arguments also by name."""

    callee: Any
    args: tuple
    keywords: dict[str, Any]
    arguments: dict[str, Any]

    def with_config(self, config: dict[str, Any]) -> Callable[[], None]:
        config = {name: value for name, value in config.items() if name not in self.arguments}
        keywords = {**config, **self.keywords}
        return lambda: self.callee(*self.args, **keywords)


class _Progress:
    """A line on a terminal while candidates are measured; nothing elsewhere."""

    def __init__(self, name: str, total: int):
        self._name, self._total, self._done = name, total, 0
        self._shown = sys.stderr is not None and sys.stderr.isatty()

    def step(self, config: dict[str, Any]) -> None:
        self._done += 1
        if self._shown:
            text = f"tuning {self._name}: {self._done}/{self._total} {config}"
            sys.stderr.write(f"\r\x1b[K{text[:100]}")
            sys.stderr.flush()

    def end(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _described(value: Any, typed: bool) -> Any:
    """What of an argument counts for the key; None if it is a constant rather than an argument."""
    if isinstance(value, (bool, int, float)):
        return type(value).__name__ if typed else value
    if isinstance(value, (tuple, list)):
        return tuple(_described(item, typed) for item in value)
    shape = getattr(value, "shape", None)
    if shape is None:
        return None
    if shape == () and not typed and not hasattr(value, "__setitem__"):  # NumPy's number
        return value.item()
    if typed:
        return f"{getattr(value, 'dtype', '')}:{len(shape)}"
    return tuple(int(n) for n in shape)


def _device_of(arguments: dict[str, Any], keywords: dict[str, Any]) -> str:
    where = keywords.get("_device")
    if where:
        return str(getattr(where, "name", where))
    for value in (leaf for argument in arguments.values() for leaf in leaves_of(argument)):
        if hasattr(value, "__dlpack_device__") and not hasattr(value, "__array_interface__"):
            kind, number = value.__dlpack_device__()
            return _native.device_of_memory(int(kind), int(number))
    return "cpu"


def _copy_of(value: Any) -> Any:
    if hasattr(value, "clone"):
        return value.clone()
    if hasattr(value, "data") and hasattr(value, "__kiln_tensor__"):
        return value.data.copy()
    return value.copy()


def _assign(array: Any, saved: Any) -> None:
    if hasattr(array, "copy_"):
        array.copy_(saved)
    elif hasattr(array, "__kiln_tensor__"):
        array.data[...] = saved
    else:
        array[...] = saved


def _file(identity: str) -> Path | None:
    directory = cache.describe().get("directory")
    return Path(directory) / "autotune" / f"{identity}.json" if directory else None


def _read(identity: str) -> dict[str, Any] | None:
    path = _file(identity)
    try:
        record = json.loads(path.read_text()) if path else None
    except (OSError, ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and record.get("format") == _FORMAT else None


def _write(identity: str, record: dict[str, Any]) -> None:
    """To a temporary file that is renamed; a directory that cannot be written costs only time."""
    path = _file(identity)
    if path is None:
        return
    try:
        text = json.dumps(record, indent=1)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, prefix=".tmp-", suffix=".json", delete=False
        ) as file:
            file.write(text)
        os.replace(file.name, path)
    except (OSError, TypeError):
        return
