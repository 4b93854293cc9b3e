"""A tuned copy in Triton: reads some arrays, writes some, and does nothing else worth a name.

The yardstick of what is bound by memory: the same bytes as the kernel beside it, at the same ratio
of reads to writes.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl


@triton.jit
def _move(sources, targets, words, READS: tl.constexpr, WRITES: tl.constexpr, BLOCK: tl.constexpr):
    """Arrays of `words` 32-bit words, one after another in `sources` and in `targets`."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < words
    value = tl.load(sources + at, mask=inside)
    for i in tl.static_range(1, READS):
        value ^= tl.load(sources + i * words + at, mask=inside)
    for i in tl.static_range(WRITES):
        tl.store(targets + i * words + at, value, mask=inside)


def copies(read_bytes: int, written_bytes: int) -> dict[str, Callable[[], None]]:
    """Ways to read and write so many bytes, by what they are tuned with.

    The bytes are dealt out over equal arrays; their least common part decides how many.
    """
    reads, writes = _ratio(read_bytes, written_bytes)
    words = max(1, (read_bytes + written_bytes) // (reads + writes) // 4)
    sources = torch.randint(-(2**31), 2**31 - 1, (reads * words,), dtype=torch.int32, device="cuda")
    targets = torch.empty(max(1, writes) * words, dtype=torch.int32, device="cuda")

    def make(block: int, warps: int) -> Callable[[], None]:
        grid = (triton.cdiv(words, block),)

        def run() -> None:
            _move[grid](sources, targets, words, reads, writes, block, num_warps=warps)

        return run

    return {
        f"{block} by {warps} warps": make(block, warps)
        for block in (1024, 2048, 4096, 8192)
        for warps in (4, 8)
        if block // warps // 32 in (4, 8, 16, 32)
    }


def _ratio(read: int, written: int) -> tuple[int, int]:
    """Small numbers of arrays in about the same ratio. One that writes next to nothing writes to
    one array in 32, so that its reads cannot be left out."""
    return min(
        ((r, w) for r in range(1, 33) for w in range(1, 5)),
        key=lambda p: (
            round(abs(p[0] * written - p[1] * read) / (read + written) / p[1], 3),
            sum(p),
        ),
    )
