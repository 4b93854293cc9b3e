"""What machine code of NVIDIA's chips does with registers."""

from __future__ import annotations

import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

from cubin import ASSEMBLER

# Words of operand a that a warp's lane has of 64 rows.
WORDS = 4


def disassemble(ptx: str, chip: str, folder: Path) -> list[tuple[int, str]]:
    """Each instruction and its address, of the pinned assembler's code. Triton brings the tool."""
    triton = find_spec("triton")
    assert triton and triton.origin, "expected the package triton"
    tool = Path(triton.origin).parent / "backends/nvidia/bin/cuobjdump"
    text, code = folder / "text.ptx", folder / "code.cubin"
    text.write_text(ptx)
    subprocess.run([ASSEMBLER, f"-arch={chip}", text, "-o", code], check=True)
    said = subprocess.run([tool, "--dump-sass", code], check=True, capture_output=True, text=True)
    found = re.findall(r"/\*([0-9a-f]{4,5})\*/\s+([^;]*);", said.stdout)
    return [(int(address, 16), line.strip()) for address, line in found]


def written_register(line: str) -> int | None:
    """The first register that an instruction writes: stores and products name others there."""
    if re.match(r"(?:@!?U?P\d+ )?(?:ST|HGMMA|RED|BAR)", line):
        return None
    found = re.match(r"(?:@!?U?P\d+ )?\S+ R(\d+)\b", line)
    return int(found[1]) if found else None


def overwritten_operands(code: list[tuple[int, str]]) -> list[int]:
    """Registers that are operand a of a `wgmma` before a loop writes them, and that it writes then:
    the next trip reads what was written, instead of what stood in front of the loop."""
    lost = []
    for address, line in code:
        branch = re.search(r"\bBRA 0x([0-9a-f]+)", line)
        if not branch or int(branch[1], 16) >= address:
            continue
        loop = [line for at, line in code if int(branch[1], 16) <= at <= address]
        written: set[int] = set()
        kept: set[int] = set()
        for each in loop:
            product = re.search(r"HGMMA\S* R\d+, R(\d+), gdesc", each)
            if product:
                kept |= {int(product[1]) + word for word in range(WORDS)} - written
            register = written_register(each)
            if register is not None:
                written.add(register)
        lost += sorted(kept & written)
    return lost
