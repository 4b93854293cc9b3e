"""The text of the kernels that benchmarks/pinned_kernels.py pins in Python."""

from __future__ import annotations

import functools
import re

import ml_dtypes
import numpy as np
from every_kernel import module_of


@functools.cache
def in_python(name: str, chip: str = "sm_90a", width: int = 128) -> str:
    """What the front end makes of one of the kernels that are pinned in Python, for whole tiles; of
    attention heads of a width."""
    pinned_kernels = module_of("benchmarks", "pinned_kernels")

    def some(*shape: int) -> np.ndarray:
        return np.empty(shape, ml_dtypes.bfloat16)

    product = (some(512, 512), some(512, 512), some(512, 512))
    arguments = {
        "gemm": product,
        "clustered_gemm": (*product, 2, 1),
        "gemm_in_turn": (*product, 64, 256, 4),
        "large_gemm": product,
        "attention": (*(some(512, 128) for _ in range(4)), 512, 1),
        "gemm_skewed": (*product, 304),
        "gemm_interleaved": (*product, 304, pinned_kernels.INTERLEAVED.get(chip)),
        "gemm_through_registers": product,
        "attention_by_waves": (
            *(some(512, width) for _ in range(4)),
            512,
            1,
            *pinned_kernels.heads_of(width).values(),
        ),
    }[name]
    family = "nvptx" if chip.startswith("sm_") else "amdgpu"
    made = getattr(pinned_kernels, name).compile(
        *arguments, target=f"{family}:{chip}", _pipeline="stop-after=tile"
    )
    dialect = "nvptx" if family == "nvptx" else "amdgcn"
    target = f'{{tile.target = #{dialect}.target<chip = "{chip}">}}'
    return re.sub(r"module attributes \{.*\} \{", f"module attributes {target} {{", made.ir("tile"))
