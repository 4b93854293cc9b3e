"""Small runs of each kernel of benchmarks/ whose schedule is pinned, against float64, and the chips that
have its instructions: every other one refuses it, and says where and why."""

from __future__ import annotations

from functools import partial

import numpy as np
from every_kernel import BF16, Case, Run, exact, module_of, normal

# One tile; ragged along each dimension, and less than one; more tiles than one; K of no trip, one,
# as many as are put ahead or a ring has, one more, a round and what is left, and no multiple of a tile.
WAVES = [(256, 256, 96), (256, 256, 32), (256, 256, 64), (100, 70, 200), (1, 2, 2), (300, 514, 66),
         (257, 30, 34)]  # fmt: skip
COPIES = [(128, 256, 96), (128, 256, 32), (128, 256, 128), (100, 70, 200), (1, 2, 2),
          (300, 514, 66), (257, 30, 333), (16, 16, 0), (40, 20, 321), (8, 8, 97)]  # fmt: skip
# An engine stores pieces of 16 bytes, so rows of the result have a multiple of 8 columns.
ENGINES = [(128, 256, 64), (100, 72, 200), (300, 520, 328), (16, 16, 2), (8, 8, 0)]


def matrix(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Random, with rows that begin at multiples of 16 bytes and numbers behind them."""
    return normal(rng, rows, (columns + 15) // 8 * 8)[:, :columns]


def check_product(
    launch, rng: np.random.Generator, m: int, n: int, k: int, pad: int, make=matrix
) -> None:
    a, b = make(rng, m, k), make(rng, n, k)
    c = np.full((m, n + pad), np.nan, BF16)
    launch(a, b, c[:, :n])
    want = exact(a) @ exact(b).T
    difference = np.abs(exact(c[:, :n]) - want)
    norm = np.linalg.norm(want)
    assert np.linalg.norm(difference) <= 4e-3 * norm, (m, n, k)
    assert difference.max(initial=0) <= 0.04 * norm / max(want.size, 1) ** 0.5, (m, n, k)
    assert np.isnan(exact(c[:, n:])).all(), "expected nothing beyond the last column"


def text(shapes: list[tuple[int, int, int]], pad: int, multiple: int = 1) -> Case:
    """The product of a file of MLIR text, K rounded up to a multiple."""

    def case(run: Run, rng: np.random.Generator) -> None:
        for m, n, k in shapes:
            k = -(-k // multiple) * multiple
            check_product(partial(run, "gemm"), rng, m, n, k, pad)

    return case


def product(name: str, shapes: list[tuple[int, int, int]], pad: int = 0, **constants) -> Case:
    """A product in Python, of whole arrays."""

    def case(run: Run, rng: np.random.Generator) -> None:
        mine = {key: each(run.chip) if callable(each) else each for key, each in constants.items()}
        for m, n, k in shapes:
            check_product(partial(run, name, **mine), rng, m, n, k, pad, normal)

    return case


def weighed(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> np.ndarray:
    q, k, v = exact(q), exact(k), exact(v)
    scores = q @ k.swapaxes(1, 2) / q.shape[2] ** 0.5
    if causal:
        scores = np.where(np.tri(scores.shape[1], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    return weights @ v / weights.sum(axis=2, keepdims=True)


def check_attention(
    launch, rng: np.random.Generator, heads: int, n: int, causal: bool, width: int = 128
) -> None:
    q, k, v = normal(rng, 3, heads, n, width)
    # Scores of some rows are large: then weights are sharp and the largest moves from block to block.
    q[:, ::3] *= BF16(8)
    out = np.full((heads * n, width), np.nan, BF16)
    launch(*(x.reshape(-1, width) for x in (q, k, v)), out, n, int(causal))
    want = weighed(q, k, v, causal).reshape(-1, width)
    difference = np.abs(exact(out) - want)
    norm = np.linalg.norm(want)
    assert np.linalg.norm(difference) <= 5e-3 * norm, (heads, n, causal)
    assert difference.max() <= 0.06 * norm / want.size**0.5 + 0.01 * np.abs(want).max()


def either(rng: np.random.Generator, count: int, values: tuple = (False, True)) -> list:
    """So many of two values, as many of each, others each time."""
    first = int(rng.integers(2))
    return rng.permutation([values[(first + i) % 2] for i in range(count)]).tolist()


def attention(run: Run, rng: np.random.Generator) -> None:
    """One block of keys; two, so that one loop runs; three and more, so that both rings go round and one
    loop hands them to the other; keys that do not fill a block; several heads."""
    shapes = ((1, 128), (1, 256), (1, 640), (1, 200), (1, 40), (2, 384))
    for (heads, n), causal in zip(shapes, either(rng, len(shapes)), strict=True):
        check_attention(partial(run, "attention"), rng, heads, n, causal)


def python_attention(run: Run, rng: np.random.Generator) -> None:
    for (heads, n), causal in zip(((1, 200), (2, 128)), either(rng, 2), strict=True):
        check_attention(partial(run, "attention"), rng, heads, n, causal)


def attention_by_waves(run: Run, rng: np.random.Generator) -> None:
    for width in (64, 128):
        known = module_of("benchmarks", "pinned_kernels").heads_of(width)
        launch = partial(run, "attention_by_waves", **known)
        shapes = ((1, 200), (2, 128), (1, 7))
        for (heads, n), causal in zip(shapes, either(rng, len(shapes)), strict=True):
            check_attention(launch, rng, heads, n, causal, width)


def clustered_gemm(run: Run, rng: np.random.Generator) -> None:
    """More programs than tiles, and fewer."""
    for (x, y), programs in zip(((2, 1), (1, 2), (2, 2)), either(rng, 3, (4, 132)), strict=True):
        m = 2 * x * 128 - 8 * int(rng.integers(16))
        n = 2 * y * 256 - 8 * int(rng.integers(32))
        shape = m, n, 8 * int(rng.integers(1, 30))
        constants = {"X": x, "Y": y, "programs": programs}
        product("clustered_gemm", [shape], **constants)(run, rng)


def gemm_in_turn(run: Run, rng: np.random.Generator) -> None:
    for rows, columns, slots in ((64, 256, 4), (128, 128, 5), (128, 192, 4)):
        drawn = tuple(8 * int(rng.integers(1, 60)) for _ in "mnk")
        constants = {"rows": rows, "columns": columns, "slots": slots}
        product("gemm_in_turn", [(rows, columns, 64), drawn], **constants)(run, rng)


def programs(chip: str) -> int:
    return {"gfx950": 256}.get(chip, 304)


def interleaved(chip: str) -> str:
    known = module_of("benchmarks", "pinned_kernels").INTERLEAVED
    return known.get(chip, known["gfx942"])


CDNA = {"gfx942", "gfx950"}
# Of each its run, and the chips that have its instructions.
PINNED: dict[str, tuple[Case, set[str]]] = {
    "gemm.mlir:gemm": (text(ENGINES, 8), {"sm_90a"}),
    "gemm-sm_80.mlir:gemm": (text(COPIES, 6), {"sm_80"}),
    "gemm-sm_100a.mlir:gemm_sm_100a": (text(ENGINES, 8), {"sm_100a"}),
    "gemm-gfx942.mlir:gemm": (text(WAVES, 6), {"gfx942"}),
    "gemm-gfx950.mlir:gemm": (text(WAVES, 6, multiple=8), {"gfx950"}),
    "attention.mlir:attention": (attention, {"sm_90a"}),
} | {
    f"pinned_kernels.py:{name}": each for name, each in {
        "gemm": (product("gemm", [(128, 256, 64), (200, 304, 328), (40, 520, 72)]), {"sm_90a"}),
        "large_gemm": (
            product("large_gemm", [(256, 192, 64), (300, 304, 328), (40, 584, 72)], pad=8),
            {"sm_90a"},
        ),
        "clustered_gemm": (clustered_gemm, {"sm_90a"}),
        "gemm_in_turn": (gemm_in_turn, {"sm_90a"}),
        "attention": (python_attention, {"sm_90a"}),
        "gemm_skewed": (
            product("gemm_skewed", [(256, 256, 64), (200, 304, 104), (40, 520, 24)],
                    PROGRAMS=programs),
            CDNA,
        ),
        "gemm_interleaved": (
            product("gemm_interleaved", [(128, 256, 64), (200, 304, 104), (40, 520, 24)],
                    PROGRAMS=programs, INTERLEAVE=interleaved),
            CDNA,
        ),
        "gemm_through_registers": (
            product("gemm_through_registers",
                    [(128, 256, 64), (200, 304, 328), (40, 520, 72), (9, 8, 7)]),
            CDNA | {"gfx1201"},
        ),
        "attention_by_waves": (attention_by_waves, CDNA),
    }.items()
}  # fmt: skip
RUNS: dict[str, Case] = {name: case for name, (case, _) in PINNED.items()}
