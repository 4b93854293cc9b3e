"""A program allocates nothing while it runs: what the host's code of each op calls is known.

Scratch memory is planned when a kernel is compiled, and the launcher hands it over. So an object may
refer to functions of mathematics and to the three that compilers make of loops, and to nothing else;
what it prints and asserts goes through the table of services, which its caller passes in.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "utils/support"))
import probes  # noqa: E402
import table  # noqa: E402

from kiln import _native  # noqa: E402

TABLE = table.read()["cpu"]
MOVES = {"memcpy", "memmove", "memset"}
# Of libm, and (on processors without f16) of compilers; each returns a number and keeps nothing.
NUMBERS = {
    stem + suffix
    for stem in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh",
                 "acosh", "atanh", "pow", "cbrt", "fmod", "exp", "exp2", "expm1", "log", "log2",
                 "log10", "log1p", "erf", "erfc", "ldexp", "floor", "ceil", "fma", "sqrt", "rint",
                 "roundeven", "round", "trunc")
    for suffix in ("", "f")
} | {"__extendhfsf2", "__truncsfhf2", "__truncdfhf2", "__extendhfdf2"}  # fmt: skip


def undefined(code: bytes) -> set[str]:
    """The names that an ELF object leaves to others, read off its symbol table."""
    assert code[:5] == b"\x7fELF\x02"
    start, size, count = struct.unpack_from("<Q", code, 40)[0], *struct.unpack_from("<HH", code, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, start + size * i) for i in range(count)]
    names = set()
    for _, kind, _, _, offset, length, link, *_ in sections:
        if kind != 2:  # SHT_SYMTAB
            continue
        strings = sections[link][4]
        for at in range(offset, offset + length, 24):
            name, _, _, section, _, _ = struct.unpack_from("<IBBHQQ", code, at)
            if section == 0 and name:
                end = code.index(b"\0", strings + name)
                names.add(code[strings + name : end].decode())
    return names


def calls(text: str) -> set[str]:
    artifact, _, _ = _native.compile(None, None, {"source": text.encode(), "target": "cpu"})
    return undefined(artifact.section("binary"))


@pytest.mark.drawn
@pytest.mark.parametrize("probe", probes.PROBES, ids=lambda probe: probe.op)
def test_what_an_op_calls(probe):
    element = next((e for e in ("f32", "i32", "i64", "i1", "f8E4M3FN", "bf16")
                    if not TABLE[probe.op][e].startswith("refused")), None)  # fmt: skip
    assert element, "no type to compile the op with"
    foreign = {"fabsf", "abs"} if probe.op == "tile.extern_call" else set()
    assert calls(probe.kernel(element)) <= MOVES | NUMBERS | foreign


def test_a_call_would_be_seen():
    text = next(p for p in probes.PROBES if p.op == "tile.extern_call").kernel("f32")
    assert calls(text.replace('"fabsf"', '"malloc"')) == {"malloc"}
