"""The cache of compiled kernels that launches use, and what belongs in its keys."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from kiln import _native
from kiln.runtime.errors import CacheError


class _State:
    """The cache in use, and whether its notice was shown."""

    cache: Any = None
    notice_shown = False


def current() -> Any:
    """The cache that launches use: opened at the first compile, at $KILN_CACHE_DIR,
    $XDG_CACHE_HOME/kiln or ~/.cache/kiln. A directory that cannot be made costs the kernels'
    way to the disk, and a warning; one that is unsafe is an error."""
    if _State.cache is None:
        try:
            _State.cache = _native.Cache.open()
        except CacheError as error:
            if error.refused:
                raise
            _State.cache = _native.Cache.open("")
            _warn(f"{error}; kernels are kept in memory only")
    return _State.cache


def use(directory: str | os.PathLike | None, max_bytes: int = 0) -> None:
    """Makes launches use another directory from now on; "" keeps kernels in memory only."""
    path = os.fspath(directory) if directory is not None else None
    _State.cache = _native.Cache.open(path, max_bytes)
    _State.notice_shown = False


def describe() -> dict[str, Any]:
    """Where the cache is, how full, and how often it was hit by this process."""
    return json.loads(current().describe())


def notice() -> None:
    """Says once, as a warning, that kernels are not kept on disk and why."""
    if _State.notice_shown:
        return
    text = describe().get("notice")
    if text:
        _warn(text)


def _warn(text: str) -> None:
    import warnings

    _State.notice_shown = True
    warnings.warn(f"kiln: {text}", RuntimeWarning, stacklevel=3)


def front_end_identity() -> str:
    """Changes when the front end does. Its files' sizes and times stand for their contents:
    another installation then misses at this level and hits at that of the IR."""
    digest = hashlib.sha256()
    root = Path(__file__).parent.parent
    parts = ("arithmetic", "intrinsics", "syntax")
    for folder in ("frontend", *(f"frontend/{part}" for part in parts), "language", "runtime"):
        with os.scandir(root / folder) as entries:
            for entry in sorted(entries, key=lambda e: e.name):
                if entry.name.endswith(".py"):
                    stat = entry.stat()
                    digest.update(f"{entry.name}:{stat.st_size}:{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


# Taken at import, so that the first launch need not.
_FRONT_END = front_end_identity()


def first_key(*parts: str) -> bytes:
    """A key over a front end's view of a kernel, and over whatever compiles it."""
    text = "\0".join((*parts, _native.compiler_id(), _FRONT_END))
    return _native.key_of_bytes(text.encode())
