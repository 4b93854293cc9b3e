"""The cache of compiled kernels that launches use, and what belongs in its keys."""

from __future__ import annotations

import hashlib
import json
import os
import weakref
from collections import OrderedDict
from pathlib import Path
from typing import Any

from kiln import _native
from kiln.runtime.errors import CacheError


class _State:
    """The cache in use, whether its notice was shown, and the bound of specialisations."""

    cache: Any = None
    notice_shown = False
    most: int | None = None


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
    """Where the cache is, how full, and how often it was hit by this process; and how many
    specialisations of kernels it has loaded."""
    return {**json.loads(current().describe()), "specialisations": specialisations()}


def specialisations() -> dict[str, int]:
    """How many are loaded in this process, how many may be, and how many have gone since."""
    return json.loads(_native.specialisations())


def set_max_specialisations(most: int) -> None:
    """Bounds how many specialisations of kernels stay loaded, of all kernels together: the one
    that was launched longest ago goes. 0: no bound. Without this, $KILN_MAX_SPECIALISATIONS."""
    _native.set_max_specialisations(most)
    _State.most = most
    _trim()


class Specialised(dict):
    """What a kernel knows of its specialisations, by function and key."""

    __slots__ = ("__weakref__",)


# Those of all kernels, those used last at the end.
_recent: OrderedDict[tuple[int, Any], weakref.ref[Specialised]] = OrderedDict()


def keep_recent(owner: Specialised, key: Any) -> None:
    """Notes a use of `owner[key]`, and drops what was used longest ago over the bound."""
    _recent[id(owner), key] = weakref.ref(owner)
    _recent.move_to_end((id(owner), key))
    _trim()


def forget_recent(owner: Specialised) -> None:
    """Empties `owner`."""
    for key in owner:
        _recent.pop((id(owner), key), None)
    owner.clear()


def _trim() -> None:
    if _State.most is None:
        _State.most = specialisations()["max"]
    while _State.most and len(_recent) > _State.most:
        try:
            (_, key), owner = _recent.popitem(last=False)
        except KeyError:  # another thread was here
            return
        alive = owner()
        if alive is not None:
            alive.pop(key, None)


def notice() -> None:
    """Says once, as a warning, that kernels are not kept on disk and why."""
    if _State.notice_shown:
        return
    if text := current().notice():
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
