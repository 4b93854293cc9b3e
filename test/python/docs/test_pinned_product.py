"""The pinned product of docs/language.md, as it stands there, on an emulated chip."""

from __future__ import annotations

import linecache
from pathlib import Path

import numpy as np

import kiln

PAGE = Path(__file__).resolve().parents[3] / "docs" / "language.md"


def test_the_page_multiplies(rng) -> None:
    (text,) = (
        block.partition("```")[0]
        for block in PAGE.read_text().split("```python\n")[1:]
        if "kiln.pin(" in block.partition("```")[0]
    )
    scope: dict[str, object] = {"kiln": kiln}
    linecache.cache[str(PAGE)] = (len(text), None, text.splitlines(keepends=True), str(PAGE))
    exec(compile(text, str(PAGE), "exec"), scope)
    a, b = (rng.standard_normal((rows, 200)).astype(np.float16) for rows in (130, 264))
    c = np.zeros((130, 264), np.float16)
    scope["product"].options(device="emu:sm_90a")(a, b, c)
    reference = a.astype(np.float64) @ b.astype(np.float64).T
    assert np.linalg.norm(c - reference) < 1e-3 * np.linalg.norm(reference)
