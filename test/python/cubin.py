"""Machine code by the assembler that the tests are pinned to, and its size."""

from __future__ import annotations

import struct
import subprocess
import sysconfig
from pathlib import Path

# The one that the lit tests have too, of the package nvidia-cuda-nvcc.
ASSEMBLER = Path(sysconfig.get_paths()["purelib"]) / "nvidia/cu13/bin/ptxas"
INSTRUCTION_BYTES = 16


def count_instructions(ptx: str, name: str, chip: str, folder: Path) -> int:
    """How many machine instructions a kernel's text becomes."""
    text, cubin = folder / "text.ptx", folder / "code.cubin"
    text.write_text(ptx)
    subprocess.run([ASSEMBLER, f"-arch={chip}", text, "-o", cubin], check=True)
    return code_bytes(cubin.read_bytes(), name) // INSTRUCTION_BYTES


def code_bytes(cubin: bytes, name: str) -> int:
    """The size of a function's section in an ELF file of 64 bits."""
    (sections,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", cubin, sections + i * size) for i in range(count)]
    for at, _, _, _, _, length in headers:
        start = headers[names][4] + at
        if cubin[start : cubin.index(b"\0", start)] == f".text.{name}".encode():
            return length
    raise AssertionError(f"expected the section .text.{name}")
