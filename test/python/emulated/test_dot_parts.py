"""Products in parts, with sums that are promoted, and by their transposes: what is pinned of them in
Python, on emulated chips against float64; and where it cannot hold, an error at its line."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from product_kernels import plain

import kiln

BF16, E4M3 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn
COPIES = {
    "sm_80": "cp_async", "gfx942": "load_to_lds", "gfx950": "load_to_lds",
    "gfx1201": "through_registers",
}  # fmt: skip


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View, M: kiln.constexpr, N: kiln.constexpr,
    K: kiln.constexpr, copy: kiln.constexpr, warps: kiln.constexpr, parts: kiln.constexpr,
    ahead: kiln.constexpr,
):  # fmt: skip
    """One role that fills its own ring, as pinned kernels do; its products are in parts."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], M), kiln.cdiv(c.shape[1], N))
    kiln.pin(roles=kiln.role("all", warps=warps))
    acc = kiln.zeros((M, N), kiln.f32)
    for k in range(0, a.shape[1], K):
        x = kiln.pin(a.load((i * M, k), (M, K)), atom=copy, ring="r", depth=2, stage=0)
        y = kiln.pin(b.load((j * N, k), (N, K)), atom=copy, ring="r", depth=2, stage=0)
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True), stage=1, parts=parts, reads_ahead=ahead
        )
    c.store((i * M, j * N), acc)


def drawn(rng, rows: int, columns: int, dtype=BF16) -> np.ndarray:
    return rng.standard_normal((rows, columns)).astype(dtype)


def check(c: np.ndarray, a: np.ndarray, b: np.ndarray, worst: float = 1e-4) -> None:
    reference = a.astype(np.float64) @ b.astype(np.float64)
    assert np.abs(c - reference).max() <= worst * a.shape[1] ** 0.5


@pytest.mark.parametrize(
    "tile, warps, parts",
    [
        ((64, 64), 4, (1, 1, 2)),
        ((64, 64), 2, (1, 2, 2)),
        ((64, 128), 2, (2, 1, 2)),
        ((64, 64), 1, (2, 2, 2)),
        # Warps share out each part.
        ((128, 64), 4, (2, 1, 1)),
        ((128, 128), 4, (2, 2, 1)),
        ((64, 128), 4, (2, 4, 2)),
    ],
)
@pytest.mark.parametrize("chip", COPIES)
def test_parts(rng, chip: str, tile, warps: int, parts) -> None:
    m, n, k = (int(rng.integers(1, 130)) for _ in "mnk")
    a, b = drawn(rng, m, k + k % 2), drawn(rng, n, k + k % 2)
    c = np.zeros((m, n), np.float32)
    ahead = int(rng.integers(0, np.prod(parts)))
    product.options(device=f"emu:{chip}")(
        a, b, c, M=tile[0], N=tile[1], K=64, copy=COPIES[chip], warps=warps, parts=parts,
        ahead=ahead,
    )  # fmt: skip
    check(c, a, b.T)


def test_no_part_is_ignored() -> None:
    """Other parts, and reads further ahead, are other code."""
    view, out = kiln.View[kiln.bf16, 2], kiln.View[kiln.f32, 2]
    codes = []
    for parts, ahead in [((1, 1, 1), 0), ((1, 1, 2), 0), ((1, 1, 4), 0), ((1, 2, 1), 0),
                         ((1, 2, 1), 1), ((1, 4, 1), 1), ((1, 4, 1), 2)]:  # fmt: skip
        compiled = product.compile(
            view, view, out, target="nvptx:sm_80", M=64, N=64, K=64, copy="through_registers", warps=2,
            parts=parts, ahead=ahead, _pipeline="stop-after=target",
        )  # fmt: skip
        codes.append(compiled.ir("target"))
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("chip", COPIES)
def test_reads_ahead_stay_ahead(chip: str) -> None:
    """No code generator moves a part's reads back to where they are needed."""
    view, out = np.zeros((128, 128), BF16), np.zeros((128, 128), np.float32)
    family = "nvptx" if chip.startswith("sm_") else "amdgpu"

    def generate(ahead: int) -> str:
        made = product.compile(
            view, view, out, target=f"{family}:{chip}", M=128, N=128, K=64,
            copy=COPIES[chip], warps=4, parts=(1, 1, 2), ahead=ahead,
        )  # fmt: skip
        # Without what says which line it comes from, and what names it.
        lines = (line.split(";")[0].split("//")[0].strip() for line in str(made.asm).splitlines())
        return "\n".join(line for line in lines if line and not line.startswith((".", "$")))

    assert generate(0) != generate(1)


@pytest.mark.parametrize("parts", [(2, 1, 1), (2, 2, 2)])
def test_parts_of_what_copies_share_out_are_refused(parts) -> None:
    a, c = np.zeros((128, 64), BF16), np.zeros((128, 128), np.float32)
    with pytest.raises(kiln.CompileError, match=r"expected one part along m, which the 2 copies"):
        shared_out.compile(a, a, c, target="nvptx:sm_80", parts=parts)


def test_parts_beside_what_copies_share_out(rng) -> None:
    a, b = drawn(rng, 128, 64), drawn(rng, 128, 64)
    c = np.zeros((128, 128), np.float32)
    shared_out.options(device="emu:sm_80")(a, b, c, parts=(1, 2, 2))
    check(c, a, b.T)


@kiln.kernel
def shared_out(a: kiln.View, b: kiln.View, c: kiln.View, parts: kiln.constexpr):
    """Two copies of a role, each of which has half of the rows."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4, copies=2))
    acc = kiln.zeros((128, 128), kiln.f32)
    for k in range(0, a.shape[1], 32):
        x = kiln.pin(a.load((0, k), (128, 32)), atom="cp_async", depth=2, stage=0)
        y = kiln.pin(b.load((0, k), (128, 32)), atom="cp_async", depth=2, stage=0)
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), stage=1, parts=parts)
    c.store((0, 0), acc)


def test_reads_come_ahead() -> None:
    """Of two parts along n the second's read stands behind the first's product, or in front of it."""
    view, out = kiln.View[kiln.bf16, 2], kiln.View[kiln.f32, 2]

    def order(ahead: int) -> str:
        text = product.compile(
            view, view, out, target="nvptx:sm_80", M=64, N=64, K=64, copy="through_registers",
            warps=2, parts=(1, 2, 1), ahead=ahead, _pipeline="stop-after=schedule",
        ).ir("schedule")  # fmt: skip
        found = re.findall(r"tile\.(read|dot) ", text[text.rindex("scf.for") :])
        return "".join(word[0] for word in found)

    assert order(0).startswith("rrdrd") and order(1).startswith("rrrdd")


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a", "gfx1201"])
@pytest.mark.parametrize("tile", [(64, 64, 32), (32, 64, 16), (128, 32, 8)])
def test_multiply_adds_read_as_they_go(rng, chip: str, tile) -> None:
    """Products of f32 without matrix instructions, which the compiler cuts along k."""
    a, b = drawn(rng, 70, 45, np.float32), drawn(rng, 90, 45, np.float32)
    c = np.zeros((70, 90), np.float32)
    constants = dict(zip("MNK", tile, strict=True))
    plain.options(device=f"emu:{chip}")(a, b, c, **constants)
    check(c, a, b.T, 1e-5)
    target = f"nvptx:{chip}" if chip.startswith("sm") else f"amdgpu:{chip}"
    constants["_pipeline"] = "stop-after=schedule"
    schedule = plain.compile(a, b, c, target=target, **constants).ir("schedule")
    assert re.search(r"tile\.read .* at \[", schedule) and "parts = " not in schedule


# Promoted sums.


@kiln.kernel
def few_bits(
    a: kiln.View, b: kiln.View, c: kiln.View, K: kiln.constexpr, parts: kiln.constexpr,
    promote: kiln.constexpr,
):  # fmt: skip
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    acc = kiln.zeros((64, 32), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], K), depth=2):
        x = kiln.pin(a.load((0, k), (64, K)), role="load", stage=0, atom="tma")
        y = kiln.pin(b.load((0, k), (32, K)), role="load", stage=0, atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True),
            role="mma", stage=0, in_flight=0, atom="wgmma", parts=parts, promote=promote,
        )  # fmt: skip
    kiln.pin(c.store((0, 0), acc), role="mma")


def bound(a: np.ndarray, b: np.ndarray, part: int) -> np.ndarray:
    """How far a sum of parts can be off (docs/rationale/parts.md): an instruction of 32 products cuts
    each of its 33 terms by less than 2^-13 of the largest, which is at most all of a part."""
    terms = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    return part / 32 * 33 * 2.0**-13 * terms + 1e-6 * terms


@pytest.mark.parametrize("part, parts", [(64, (1, 1, 1)), (128, (1, 1, 1)), (256, (1, 1, 2)),
                                         (256, (1, 2, 2))])  # fmt: skip
def test_promoted_sums_keep_their_bound(rng, part: int, parts) -> None:
    """Of positive numbers, whose sum grows: without promotion it loses more than the bound."""
    a, b = (rng.uniform(0.5, 2, (rows, 2048)).astype(E4M3) for rows in (64, 32))
    sums = {}
    for promote in (False, True):
        c = np.zeros((64, 32), np.float32)
        few_bits.options(device="emu:sm_90a")(
            a, b, c, K=part, parts=parts if promote else (1, 1, 1), promote=promote
        )
        sums[promote] = np.abs(c - a.astype(np.float64) @ b.astype(np.float64).T)
    most = bound(a, b.T, min(part, 128))
    assert (sums[True] <= most).all()
    assert (sums[False] > most).any() and sums[True].max() < sums[False].max() / 4


@pytest.mark.parametrize("k", [64, 128, 256])
def test_plain_products_of_byte_floats_are_promoted(rng, k: int) -> None:
    m, n = int(rng.integers(1, 130)), int(rng.integers(1, 100))
    a, b = drawn(rng, m, 512, E4M3), drawn(rng, n, 512, E4M3)
    c = np.zeros((m, n), np.float32)
    code = plain.compile(a, b, c, target="nvptx:sm_90a", M=64, N=64, K=k)
    assert "wgmma.mma_async" in code.asm and "promote" in code.ir("layout")
    plain.options(device="emu:sm_90a")(a, b, c, M=64, N=64, K=k)
    reference = a.astype(np.float64) @ b.astype(np.float64).T
    assert (np.abs(c - reference) <= bound(a, b.T, 128)).all()
    assert np.linalg.norm(c - reference) < 4e-4 * np.linalg.norm(reference)


# Products by their transposes.


@kiln.kernel
def few_rows(
    a: kiln.View, b: kiln.View, c: kiln.View, swap: kiln.constexpr, form: kiln.constexpr,
):  # fmt: skip
    j = kiln.grid(kiln.cdiv(c.shape[1], 128))
    acc = kiln.zeros((16, 128), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x = a.load((0, k), (16, 64))
        if form == "T":
            y = b.load((j * 128, k), (128, 64)).T
        else:
            y = b.load((k, j * 128), (64, 128))
        acc = kiln.dot(x, y, acc)
        if swap is not None:
            acc = kiln.pin(acc, swap=swap)
    c.store((0, j * 128), acc)


@pytest.mark.parametrize("form", ["N", "T"])
@pytest.mark.parametrize(
    "device", ["cpu", "emu:sm_80", "emu:sm_90a", "emu:gfx942", "emu:gfx950", "emu:gfx1201"]
)
def test_swapped(rng, device: str, form: str) -> None:
    rows = int(rng.integers(1, 17))
    a, b = drawn(rng, rows, 136), drawn(rng, 136, 200)
    given = b if form == "N" else np.ascontiguousarray(b.T)
    c = np.zeros((rows, 200), np.float32)
    few_rows.options(device=device)(a, given, c, swap=True, form=form)
    check(c, a, b)


def test_few_rows_are_the_columns_of_the_instruction() -> None:
    a, b, c = (np.zeros(shape, BF16) for shape in ((16, 256), (256, 256), (16, 256)))
    for swap in (True, None, False):  # what nobody says, the compiler decides
        compiled = few_rows.compile(
            a, b, c.astype(np.float32), target="nvptx:sm_90a", swap=swap, form="T"
        )
        assert ("wgmma.mma_async.sync.aligned.m64n16k16" in compiled.asm) == (swap is not False)


# What cannot hold.


@kiln.kernel
def wrong(a: kiln.View, c: kiln.View, parts: kiln.constexpr, ahead: kiln.constexpr):
    kiln.grid(1)
    x = a.load((0, 0), (32, 32))
    d = kiln.pin(kiln.dot(x, x), parts=parts, reads_ahead=ahead)
    c.store((0, 0), d)


@pytest.mark.parametrize(
    "parts, ahead, said",
    [
        ((1, 1, 5), 0, "expected parts of m, n and k that divide [32, 32, 32], got [1, 1, 5]"),
        ((1, 1, 2), 2, "expected reads_ahead below the number of parts, 2, got 2"),
        ((1, 1, 4), 0, "expected parts of a multiple of 16 along k"),
    ],
)
def test_what_cannot_hold_is_refused_at_its_line(parts, ahead: int, said: str) -> None:
    a, c = np.zeros((32, 32), BF16), np.zeros((32, 32), np.float32)
    with pytest.raises(kiln.CompileError) as got:
        wrong.compile(a, c, target="nvptx:sm_80", parts=parts, ahead=ahead)
    assert said in str(got.value) and "kiln.pin(kiln.dot(x, x), parts=parts" in str(got.value)


@kiln.kernel
def placed(
    a: kiln.View, b: kiln.View, c: kiln.View, copy: kiln.constexpr, warps: kiln.constexpr,
    stage: kiln.constexpr, stages: kiln.constexpr, orders: kiln.constexpr,
):  # fmt: skip
    """As `product`, with four parts along k, each of whose reads and products has a place."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], 64))
    kiln.pin(roles=kiln.role("all", warps=warps))
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x = kiln.pin(a.load((i * 64, k), (64, 64)), atom=copy, ring="r", depth=4, stage=0, order=0)
        y = kiln.pin(b.load((j * 64, k), (64, 64)), atom=copy, ring="r", depth=4, stage=0, order=1)
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True),
            stage=stage,
            order=2,
            parts=(1, 1, 4),
            part_stages=stages,
            part_orders=orders,
        )
    c.store((i * 64, j * 64), acc)


# Reads right in front of their products; each a part ahead; the first part's of the next trip behind
# the last product but one, as CUTLASS's loops for sm_80 have it; and all of the next trip's.
PLACES = {
    "close": (1, ((1, 1),) * 4, ((0, 1), (2, 3), (4, 5), (6, 7))),
    "ahead": (1, ((1, 1),) * 4, ((0, 2), (1, 4), (3, 6), (5, 7))),
    "next": (2, ((1, 2), (2, 2), (2, 2), (2, 2)), ((6, 1), (0, 3), (2, 5), (4, 7))),
    "all": (2, ((1, 2),) * 4, ((4, 0), (5, 1), (6, 2), (7, 3))),
}


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("chip", ["sm_80", "gfx942"])
def test_places_of_parts(rng, chip: str, places: str) -> None:
    stage, stages, orders = PLACES[places]
    rows, columns, inner = (int(rng.integers(1, 3)) * 64, 64, 64 * int(rng.integers(1, 7)))
    a, b = drawn(rng, rows, inner), drawn(rng, columns, inner)
    c = np.zeros((rows, columns), np.float32)
    placed.options(device=f"emu:{chip}")(
        a, b, c, copy=COPIES[chip], warps=4, stage=stage, stages=stages, orders=orders
    )
    check(c, a, b.T)


@pytest.mark.parametrize("chip", ["sm_80", "gfx942"])
def test_places_of_parts_are_obeyed(chip: str) -> None:
    """Reads and products stand in a trip of the loop in the order that is pinned."""
    a, c = np.zeros((64, 512), BF16), np.zeros((64, 64), np.float32)
    family = "nvptx" if chip.startswith("sm_") else "amdgpu"
    seen = {}
    for name, (stage, stages, orders) in PLACES.items():
        made = placed.compile(
            a, a, c, target=f"{family}:{chip}", copy=COPIES[chip], warps=4, stage=stage,
            stages=stages, orders=orders, _pipeline="stop-after=schedule",
        )  # fmt: skip
        loops = re.findall(r"scf\.for.*?scf\.yield", made.ir("schedule"), re.S)
        loop = max(loops, key=lambda text: text.count("tile.dot"))
        seen[name] = "".join(
            {"read": "r", "dot": "d"}[op] for op in re.findall(r"tile\.(read|dot) ", loop)
        )
    # Loops whose slots are constants have several trips in their bodies.
    reads = re.match(r"r+", seen["close"])[0]
    trips = {
        "close": f"{reads}d" * 4, "ahead": f"{reads}{reads}d{reads}d{reads}dd",
        "next": f"{reads}d" * 4, "all": "dddd" + reads * 4,
    }  # fmt: skip
    for name, trip in trips.items():
        assert re.fullmatch(f"(?:{trip})+", seen[name]), (name, seen[name])


@pytest.mark.parametrize(
    "stage, stages, orders, said",
    [
        (1, ((0, 0),) * 4, None, "expected 'stage' to be that of the last dot in 'part_stages', 0, got 1"),
        (1, ((1, 0), (1, 1), (1, 1), (1, 1)), None, "the dot of part 0 comes behind the reads of part 0"),
        (1, ((1, 1), (1, 0), (1, 1), (1, 1)), None, "by which the dot of part 1 comes behind"),
        (1, None, ((1, 0), (2, 3), (4, 5), (6, 7)), "the dot of part 0 comes behind the reads of part 0"),
        (1, None, ((0, 3), (2, 1), (4, 5), (6, 7)), "by which the dot of part 1 comes behind"),
        (1, ((1, 1),) * 3, None, "expected 'part_stages' of 8 numbers of at least 0"),
        (1, None, ((0, 1), (2, 3), (4, 5), (6, 6)), "expected 'part_orders' of 8 different numbers"),
    ],
)  # fmt: skip
def test_places_that_cannot_hold_are_refused(stage, stages, orders, said: str) -> None:
    a, c = np.zeros((64, 512), BF16), np.zeros((64, 64), np.float32)
    with pytest.raises(kiln.CompileError) as got:
        placed.compile(
            a, a, c, target="nvptx:sm_80", copy="cp_async", warps=4, stage=stage, stages=stages,
            orders=orders,
        )  # fmt: skip
    assert said in str(got.value) and "kiln.dot(x, y, acc, transpose_b=True)" in str(got.value)


def test_the_host_refuses_parts() -> None:
    a, c = np.zeros((32, 32), BF16), np.zeros((32, 32), np.float32)
    with pytest.raises(kiln.CompileError, match="expected no 'parts' on cpu, which runs"):
        wrong.compile(a, c, target="cpu", parts=(1, 1, 2), ahead=0)
