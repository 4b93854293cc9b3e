"""What a chip gave, kept: of a form its results, and a check of what went in."""

from __future__ import annotations

import json
import lzma
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from suite import Form

FOLDER = Path(__file__).resolve().parent / "recordings"


def check_of(form: Form) -> int:
    """Of the operands: a generator that draws others needs new recordings."""
    check = 0
    for array in form.given():
        check = zlib.crc32(np.ascontiguousarray(array).tobytes(), check)
    return check


# What moves words, computes with integers, or goes elsewhere in the program, as the host does it; and
# what orders, fetches or schedules, and has no result.
PLAIN = {
    "mov", "ld", "st", "cvta", "bra", "brx", "ret", "call", "trap", "exit", "and", "or", "xor", "not",
    "shl", "shr", "shf", "prmt", "bfe", "bfi", "clz", "popc", "brev", "bfind", "addc", "subc", "lop3",
    "nanosleep", "isspacep", "selp", "fence", "membar", "setmaxnreg", "prefetch", "griddepcontrol",
}  # fmt: skip
INTEGER = {"add", "sub", "mul", "mad", "div", "rem", "min", "max", "neg", "abs", "setp", "cvt"}
FLOAT_TYPES = re.compile(r"\.(f64|f32|f16|f16x2|bf16|bf16x2|tf32|e4m3\w*|e5m2\w*)\b")


def instructions(ptx: str) -> set[str]:
    """Of a kernel in PTX, those that a suite of forms has to try."""
    found = set()
    for name in re.findall(r"^\s*(?:@!?%\w+\s+)?([a-z]\w*(?:\.[\w:]+)+)(?=[\s;])", ptx, re.M):
        name = re.sub(r"\.(relaxed|acquire|release|acq_rel|gpu|cta|sys|read)(?=\.|$)", "", name)
        base = name.split(".")[0]
        if base not in PLAIN and (base not in INTEGER or FLOAT_TYPES.search(name)):
            found.add(name)
    return found


def write(folder: Path, form: Form, outputs: list[np.ndarray], chip: str) -> None:
    head = {
        "form": form.name, "operands": check_of(form), "chip": chip,
        "instructions": sorted(instructions(form.program.code("sm_90a"))),
        "results": {name: each.nbytes for name, each in zip(form.results, outputs)},
    }  # fmt: skip
    data = json.dumps(head).encode() + b"\n" + b"".join(each.tobytes() for each in outputs)
    (folder / f"{form.name}.xz").write_bytes(lzma.compress(data, preset=9))


def open_recording(path: Path) -> tuple[dict[str, Any], bytes]:
    """What it says of itself, and the results."""
    head, _, data = lzma.decompress(path.read_bytes()).partition(b"\n")
    return json.loads(head), data


def has_recording(folder: Path, form: Form) -> bool:
    return (folder / f"{form.name}.xz").exists()


def read(folder: Path, form: Form) -> list[np.ndarray]:
    path = folder / f"{form.name}.xz"
    said, data = open_recording(path)
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
