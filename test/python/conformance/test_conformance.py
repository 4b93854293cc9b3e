"""Emulated chips give what an H200 gave, bit for bit, of every form of instruction that Kiln emits for
it: record.py wrote down what that is. Accumulation follows a law, stated in laws.py; approximations
are within what the PTX ISA promises."""

from __future__ import annotations

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from arithmetic_cells import CELLS, final_code
from forms import all_forms
from pinned import compiled
from products import Product
from recordings import FOLDER, has_recording, instructions, open_recording, read

import kiln

FORMS = {form.name: form for form in all_forms()}


def test_each_form_is_recorded() -> None:
    assert not [name for name, form in FORMS.items() if not has_recording(FOLDER, form)]


@pytest.mark.parametrize("name", FORMS)
def test_the_emulated_chip_gives_what_the_chip_gave(name: str) -> None:
    form = FORMS[name]
    for result, held, chip, ours in zip(
        form.results, form.held, read(FOLDER, form), form.emulate(), strict=True
    ):
        differs = held.differs(chip, ours)
        assert not differs.any(), (
            f"{result}: {int(differs.sum())} of {len(differs)} differ, first at "
            f"{np.flatnonzero(differs)[:4].tolist()}"
        )


@pytest.mark.parametrize("name", [n for n, form in FORMS.items() if isinstance(form, Product)])
def test_the_chip_keeps_the_law_of_accumulation(name: str) -> None:
    form = FORMS[name]
    if form.law is None:
        pytest.skip("each product is added by one rounding, as the emulated chip does it")
    a, b, c = form.matrices()
    want = form.law.apply(a, b, c, (form.a, form.b))
    chip = form.gather([read(FOLDER, form)[0].view(np.uint32)])
    assert not form.held[0].differs(chip, want).any()


def known() -> set[str]:
    recorded = [open_recording(path)[0]["instructions"] for path in FOLDER.iterdir()]
    return {name for names in recorded for name in names}


def test_a_box_begins_at_whole_pieces() -> None:
    """An H200 calls another an illegal instruction."""
    form = FORMS["tma-load-2d-64"]
    tensor, begins = form.given()
    begins = begins.copy()
    begins[1] = 1
    with pytest.raises(kiln.DeviceError, match="at element 1 of its rows, no multiple of 16 bytes"):
        form.program.run("emu:sm_90a", [tensor, begins])


BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.mark.parametrize("name", ["gemm", "attention", "gemm-sm_80"])
def test_each_form_of_a_pinned_kernel_has_a_case(name: str) -> None:
    source = (BENCHMARKS / f"{name}.mlir").read_bytes().replace(b"sm_80", b"sm_90a")
    code = bytes(compiled(source, "nvptx:sm_90a", ("asm",)).section("asm")).decode()
    assert not general(instructions(code)) - general(known())


def test_each_form_of_a_cluster_has_a_case(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import pinned_kernels

    arrays = [np.empty((256, 256), ml_dtypes.bfloat16) for _ in range(3)]
    kernel = pinned_kernels.clustered_gemm.compile(*arrays, X=2, Y=2, target="nvptx:sm_90a")
    assert not general(instructions(kernel.asm)) - general(known())


@pytest.mark.parametrize("part", range(4))
def test_each_form_of_arithmetic_has_a_case(part: int) -> None:
    code = "".join(final_code(cell, "sm_90a") for cell in list(CELLS.values())[part::4])
    assert not instructions(code) - known()


def general(names: set[str]) -> set[str]:
    """Of products of warp groups without their width: what is told of one, is of all."""
    return {re.sub(r"m64n\d+", "m64n", name) for name in names}


def test_recordings_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1 << 20
