"""What a chip gave, kept: of a form its results, and a check of what went in."""

from __future__ import annotations

import json
import lzma
import zlib
from pathlib import Path

import numpy as np
from suite import Form

FOLDER = Path(__file__).resolve().parent / "recordings"


def check_of(form: Form) -> int:
    """Of the operands: a generator that draws others needs new recordings."""
    check = 0
    for array in form.given():
        check = zlib.crc32(np.ascontiguousarray(array).tobytes(), check)
    return check


def write(folder: Path, form: Form, outputs: list[np.ndarray], chip: str) -> None:
    head = {
        "form": form.name, "operands": check_of(form), "chip": chip,
        "results": {name: each.nbytes for name, each in zip(form.results, outputs)},
    }  # fmt: skip
    data = json.dumps(head).encode() + b"\n" + b"".join(each.tobytes() for each in outputs)
    (folder / f"{form.name}.xz").write_bytes(lzma.compress(data, preset=9))


def read(folder: Path, form: Form) -> list[np.ndarray]:
    path = folder / f"{form.name}.xz"
    head, _, data = lzma.decompress(path.read_bytes()).partition(b"\n")
    said = json.loads(head)
    if said["operands"] != check_of(form) or list(said["results"]) != form.results:
        raise AssertionError(
            f"expected {path.name} to be recorded of the operands that '{form.name}' draws now: "
            "record it again (record.py)"
        )
    arrays, at = [], 0
    for size in said["results"].values():
        arrays.append(np.frombuffer(data, np.uint8, size, at))
        at += size
    return arrays
