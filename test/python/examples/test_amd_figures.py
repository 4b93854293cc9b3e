"""What the examples become on AMD's chips, held to figures that are checked in (amd-figures.json).

No such chip is needed: the final code is read back by tile-check-isa, which also proves its waits.
Three kinds of figures. A floor holds for every kernel: no vector register spills, nothing lies in
scratch memory, products go through matrix instructions, nothing is read that was not waited for,
and no wait of an inner loop is stronger than needed. What is written down may only get better:
registers, scalar spills (to lanes of a vector register), the number of accesses, of waits, and of
barriers. Of matrix instructions the forms are the same.

`python test/python/examples/test_amd_figures.py --write` writes the figures anew; look at what
changed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from example_cases import CASES, bf16, compile_case, example, f32, several, write_rows

import kiln

ROOT = Path(__file__).resolve().parents[3]
FIGURES = Path(__file__).with_name("amd-figures.json")
CHECKER = os.environ.get("TILE_CHECK_ISA") or str(ROOT / "build" / "bin" / "tile-check-isa")
if __name__ != "__main__" and not os.access(CHECKER, os.X_OK):
    pytest.skip("a package has no tile-check-isa, which reads code back", allow_module_level=True)
CHIPS = ("gfx90a", "gfx942", "gfx950", "gfx1201")


def compile_(name: str, chip: str):
    return compile_case(name, f"amdgpu:{chip}")


def check_isa(assembly: str) -> dict[str, Any]:
    """The figures of proven code."""
    done = subprocess.run(
        [CHECKER, "--figures", "-"],
        input=assembly,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def summarise(figures: dict[str, Any]) -> dict[str, Any]:
    """What is worth holding."""
    groups = ("global_loads", "global_stores", "loads_to_lds", "lds_reads", "lds_writes", "matrix",
              "lane_permutes")  # fmt: skip
    kept = {name: figures[name] for name in groups if name in figures}
    kept["registers"] = figures["vgprs"]
    kept["sgpr_spills"] = figures["sgpr_spills"]
    kept["lds_bytes"] = figures["lds_bytes"]
    kept["inner_loops"] = [
        {"waits": len(loop["waits"]), "barriers": loop.get("barriers", 0)}
        | {name: loop[name] for name in groups if name in loop}
        for loop in figures["inner_loops"]
    ]
    return kept


def recorded() -> dict[str, Any]:
    return json.loads(FIGURES.read_text(encoding="utf-8"))


def accesses(kept: dict[str, Any], group: str) -> int:
    return sum(kept.get(group, {}).values())


def check_not_worse(now: dict[str, Any], before: dict[str, Any]) -> None:
    assert now["registers"] <= before["registers"] + 8  # what registers are handed out by
    assert now["lds_bytes"] <= before["lds_bytes"]
    assert now["sgpr_spills"] <= before["sgpr_spills"]
    for group in ("global_loads", "global_stores", "loads_to_lds", "lds_reads", "lds_writes"):
        assert accesses(now, group) <= accesses(before, group), group
    assert set(now.get("matrix", {})) == set(before.get("matrix", {}))
    assert len(now["inner_loops"]) <= len(before["inner_loops"])
    for mine, theirs in zip(now["inner_loops"], before["inner_loops"], strict=False):
        for count in ("waits", "barriers"):
            assert mine[count] <= theirs[count], count


@pytest.mark.drawn(0.5)
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", CASES)
def test_figures(name: str, chip: str) -> None:
    before = recorded()[name][chip]
    try:
        compiled = compile_(name, chip)
    except kiln.CompileError as error:
        assert isinstance(before, str), "what compiled before is refused"
        assert before in str(error)
        return
    assert compiled.binary[:4] == b"\x7fELF"
    figures = check_isa(compiled.asm)
    # The floor.
    assert figures["scratch_bytes"] == figures["vgpr_spills"] == 0
    assert "scratch" not in figures
    # Scalars that are kept in lanes of a vector register; trips of two slots have many addresses.
    assert figures["sgpr_spills"] <= {"10_image_filter": 128, "06_attention": 32}.get(name, 0)
    if name.startswith(("05_matmul", "06_attention")):
        assert accesses(figures, "matrix") > 0
    if name in ("01_vector_add", "02_softmax", "03_rmsnorm", "04_layernorm_dropout"):
        wide = {"16"} if name != "04_layernorm_dropout" else {"16", "8", "4"}
        assert set(figures["global_loads"]) <= wide
        assert set(figures["global_stores"]) <= {"16"}
    if not isinstance(before, str):  # what was refused before has the floor only
        check_not_worse(summarise(figures), before)
    # The same of the code object, as `kiln explain` shows it.
    assert compiled.metadata["registers"] == figures["vgprs"]
    assert compiled.metadata["spilled_registers"] == figures["sgpr_spills"]
    assert compiled.metadata["local_bytes"] == 0
    assert 1 <= compiled.metadata["waves_per_simd"] <= 16
    assert f"registers: {figures['vgprs']} a thread" in compiled.explain()


@pytest.mark.drawn(2)
@pytest.mark.parametrize("chip", (*CHIPS, "gfx1100"))
def test_attention_in_f32(chip: str) -> None:
    """Chips without matrix instructions for f32 multiply and add: what a thread needs for that is
    read from LDS as it goes, and none of it lies in scratch memory."""
    arguments = (*several(4, f32, 2, 8, 512, 64), 0.125)
    attention = example("06_attention").attention
    compiled = attention.compile(*arguments, target=f"amdgpu:{chip}", CAUSAL=False, D=64)
    figures = check_isa(compiled.asm)
    assert figures["scratch_bytes"] == figures["vgpr_spills"] == 0
    assert ("matrix" in figures) == (chip in ("gfx90a", "gfx942", "gfx950"))


def test_the_next_proposal_is_taken_where_registers_do_not_suffice() -> None:
    """A ring through registers has a thread of gfx1100 keep more than it can: the loop stays as it
    was written, whatever stage is asked for."""
    proposals = {}
    for chip in ("gfx1100", "gfx1201"):

        def compile_for(target: str = f"amdgpu:{chip}", **options):
            return example("05_matmul").matmul.compile(
                *several(3, bf16, 512, 512), BM=128, BN=128, BK=64, target=target, **options
            )

        compiled = compile_for()
        proposals[chip] = compiled.metadata.get("proposal")
        assert compile_for(_pipeline="stop-after=asm").asm == compiled.asm
    assert proposals == {"gfx1100": None, "gfx1201": 3}


@pytest.mark.parametrize("chip", CHIPS)
def test_text(chip: str) -> None:
    """The example that is MLIR text, of whose arguments nothing is known."""
    command = [str(Path(CHECKER).with_name("tile-compile")), str(ROOT / "examples/11_swiglu.mlir"),
               "--target", f"amdgpu:{chip}", "-o", "-", "--emit"]  # fmt: skip
    assembly, binary = (
        subprocess.run([*command, stage], capture_output=True, check=True).stdout
        for stage in ("asm", "binary")
    )
    figures = check_isa(assembly.decode())
    assert binary[:4] == b"\x7fELF"
    assert figures["scratch_bytes"] == figures["vgpr_spills"] == figures["sgpr_spills"] == 0


def test_what_got_worse_is_found() -> None:
    before = recorded()["05_matmul"]["gfx942"]
    check_not_worse(before, before)
    for worse in (
        before | {"registers": before["registers"] + 9},
        before | {"lds_reads": {"2": accesses(before, "lds_reads") + 1}},
        before | {"matrix": {}},
        before | {"inner_loops": [before["inner_loops"][0] | {"waits": 99}]},
    ):
        with pytest.raises(AssertionError):
            check_not_worse(worse, before)


def write() -> None:
    figures: dict[str, Any] = {}
    for name in CASES:
        for chip in CHIPS:
            try:
                kept: Any = summarise(check_isa(compile_(name, chip).asm))
            except kiln.CompileError as error:
                kept = str(error).splitlines()[0].split("error: ")[-1]
            figures.setdefault(name, {})[chip] = kept
    write_rows(FIGURES, figures)


if __name__ == "__main__":
    assert sys.argv[1:] == ["--write"], "expected --write"
    write()
