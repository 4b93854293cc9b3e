"""What a schedule is refused for of registers is what the assembler surely needs: sums of products
in flight. Held against its own count, of kernels of one role and another that loads."""

from __future__ import annotations

import re
import subprocess

import pytest
from cubin import ASSEMBLER
from pinned import compiled

import kiln

KERNEL = """
#copy = #nvptx.tma
#mma = #nvptx.wgmma<"m64n{n}k16", f16, f32>
!view = !tile.view<?x?xf16>
#facts = #tile.facts<pointer = 16, strides = [16, 2]>
#roles = [#tile.role<"load", warps = 4{loads}>, #tile.role<"mma", warps = 4{sums}>]
module attributes {{tile.target = #nvptx.target<chip = "sm_90a">}} {{
tile.kernel @product(%a: !view {{tile.facts = #facts}}, %b: !view {{tile.facts = #facts}},
                     %c: !tile.view<?x?xf32>)
    attributes {{tile.roles = #roles}} grid {{
  %c1 = arith.constant 1 : index
  tile.grid %c1
}} {{
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<{m}x{n}xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<{m}x{n}xf32> {{
    %x = tile.load %a[%c0, %kk] {{atom = #copy, role = "load"}} : !view -> tensor<{m}x64xf16>
    %y = tile.load %b[%c0, %kk] {{atom = #copy, role = "load"}} : !view -> tensor<{n}x64xf16>
    %d = tile.dot %x, %y, %s transpose_b {{atom = #mma, role = "mma", in_flight = 1}}
       : tensor<{m}x64xf16>, tensor<{n}x64xf16> -> tensor<{m}x{n}xf32>
    scf.yield %d : tensor<{m}x{n}xf32>
  }} {{tile.depth = 3}}
  tile.store %sum, %c[%c0, %c0] {{role = "mma"}} : tensor<{m}x{n}xf32>, !tile.view<?x?xf32>
  tile.return
}}
}}
"""
THREADS = 128


def count_refused(m: int, n: int) -> int:
    """The registers a thread of the sums, as a role that has next to none is refused."""
    text = KERNEL.format(m=m, n=n, loads=", registers = 24", sums=", registers = 24")
    with pytest.raises(kiln.CompileError) as caught:
        compiled(text.encode(), "nvptx:sm_90a")
    found = re.search(
        r"expected at most (\d+) bytes of registers in role 'mma', got results of (\d+) at once",
        str(caught.value),
    )
    assert found, str(caught.value)
    assert int(found[1]) == 24 * 4 * THREADS
    assert "pinned.mlir:21:" in str(caught.value), "the line of the product"
    return int(found[2]) // (4 * THREADS)


@pytest.mark.skipif(not ASSEMBLER.exists(), reason="there is no ptxas")
@pytest.mark.parametrize("m, n", [(64, 64), (64, 128), (128, 64), (64, 256), (128, 128)])
def test_sums_that_are_counted_the_assembler_has_in_registers(tmp_path, m: int, n: int) -> None:
    counted = count_refused(m, n)
    assert counted == m * n // THREADS
    artifact = compiled(KERNEL.format(m=m, n=n, loads="", sums="").encode(), "nvptx:sm_90a")
    text = tmp_path / "text.ptx"
    text.write_bytes(bytes(artifact.section("asm")))
    done = subprocess.run(
        [ASSEMBLER, "-v", "-arch=sm_90a", text, "-o", tmp_path / "code.cubin"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    used = int(re.search(r"Used (\d+) registers", done.stderr)[1])
    # It needs these, and little more: addresses, slots and phases.
    assert counted <= used <= counted + 64
    assert "0 bytes spill stores" in done.stderr
