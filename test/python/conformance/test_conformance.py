"""Emulated chips give what an H200 gave, bit for bit, of every form of instruction that Kiln emits for
it: record.py wrote down what that is. Accumulation follows a law, stated in laws.py; approximations
are within what the PTX ISA promises."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from forms import all_forms
from products import Product
from recordings import FOLDER, read
from suite import Form

FORMS = {form.name: form for form in all_forms()}


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


def test_recordings_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1 << 20
