"""The peers that a suite measures beside: present, of the pinned version, on the same threads."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path


class MissingPeer(Exception):
    pass


def require(requirements: Path) -> None:
    """Fails if a package of the list is absent or of another version."""
    for line in requirements.read_text(encoding="utf-8").splitlines():
        name, _, wanted = line.partition("==")
        if not wanted or name.startswith("#"):
            continue
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            found = None
        # "2.13.0+cpu" is a build of 2.13.0.
        if found is None or found.split("+")[0] != wanted:
            raise MissingPeer(
                f"expected {name} {wanted}, got {found or 'none'}; "
                f"run: pip install -r {requirements}"
            )


def describe(threads: int) -> str:
    """The machine and the versions, for the head of the report."""
    import torch

    torch.set_num_threads(threads)
    versions = " ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "torch", "triton"))
    return f"{processor()}, {threads} threads, Python {platform.python_version()}, {versions}"


def processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()
