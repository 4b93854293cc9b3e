"""Extents that are no powers of two of tiles that copy atoms bring, on emulated chips: whoever brings
them, and whether or not something is computed of them before the product. Operands are whole numbers,
so sums are exact."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from copied_kernels import copied

import kiln

BF16 = ml_dtypes.bfloat16


def check(rng: np.random.Generator, chip: str, around: int = 2, programs: int = 1, **tile) -> None:
    """One program, or so many beside one another, whose tile ends up to so many groups of eight inside
    of the arguments or outside."""
    ta, tb, touched = tile.get("ta", False), tile.get("tb", True), tile.get("touched", "")
    epilogue = tile.get("epilogue", "")
    m, n = (
        tile[name] + (0 if epilogue else 8 * int(rng.integers(-around, around + 1)))
        for name in "MN"
    )
    m, n, k = max(m, 8), max(n, 8) * programs, 8 * int(rng.integers(1, 3 * tile["K"] // 8 + 2))
    dtype = [BF16, np.float16][int(rng.integers(2))]
    a = rng.integers(-8, 9, (k, m) if ta else (m, k)).astype(dtype)
    b = rng.integers(-8, 9, (n, k) if tb else (k, n)).astype(dtype)
    c = np.full((m, n), np.nan, np.float32)
    copied.options(device=f"emu:{chip}")(a, b, c, **tile)
    x, y = a.astype(np.float64), b.astype(np.float64)
    want = (x.T if ta else x) @ (y.T if tb else y) * (1 << len(touched))
    if epilogue:
        want = want - (want.max(1)[:, None] if epilogue == "rows" else want.sum(0)[None, :])
    np.testing.assert_array_equal(c, want, err_msg=f"{m} {n} {k} {tile}")


def layouts_of(chip: str, **tile) -> str:
    """The kernel's IR once extents and layouts are decided."""
    a, c = np.zeros((512, 512), BF16), np.zeros((512, 512), np.float32)
    family = "amdgpu" if chip.startswith("gfx") else "nvptx"
    target, stop = f"{family}:{chip}", "stop-after=schedule"
    return copied.compile(a, a, c, **tile, target=target, _pipeline=stop).ir("layout")


def tile_of(atom: str, load: str, M: int, N: int, **more):
    return {"atom": atom, "load_a": load, "load_b": load, "M": M, "N": N, "K": 32} | more


# By instruction of the product, and who brings the operands by what.
OWN = [
    ("sm_80", "mma_sync", "cp_async"), ("sm_90a", "wgmma", "cp_async"),
    ("sm_90a", "wgmma", "through_registers"), ("gfx942", "matrix", "load_to_lds"),
    ("gfx950", "matrix", "load_to_lds"), ("gfx1201", "matrix", "through_registers"),
]  # fmt: skip


@pytest.mark.parametrize("touched", ["", "x", "xy"])
@pytest.mark.parametrize("M, N, copies", [(192, 64, 1), (192, 64, 2), (64, 192, 1)])
@pytest.mark.parametrize("chip, atom, load", OWN)
def test_what_is_brought_is_exact(rng, chip, atom, load, M, N, copies, touched) -> None:
    tile = tile_of(atom, load, M, N, copies=copies, touched=touched)
    check(rng, chip, **tile)
    text = layouts_of(chip, **tile)
    assert "192x32xbf16" in text and "256x" not in text, text


@pytest.mark.parametrize("touched", ["", "x", "y"])
@pytest.mark.parametrize("M, N", [(192, 64), (192, 96), (96, 64)])
@pytest.mark.parametrize(
    "chip, atom, load, producers",
    [
        ("sm_80", "mma_sync", "cp_async", 0), ("sm_90a", "wgmma", "cp_async", 0),
        ("sm_90a", "wgmma", "cp_async", 1), ("sm_90a", "wgmma", "through_registers", 1),
        ("sm_90a", "mma_sync", "cp_async", 2), ("gfx950", "matrix", "through_registers", 0),
        ("gfx1201", "matrix", "through_registers", 0),
    ],
)  # fmt: skip
def test_three_copies(rng, chip, atom, load, producers, M, N, touched) -> None:
    """A third of the rows for each, where the instruction makes that many: 64, or 32."""
    if atom == "wgmma" and M == 96:
        pytest.skip("three copies of 32 rows are none of wgmma's 64")
    tile = tile_of(atom, load, M, N, copies=3, producers=producers, touched=touched)
    check(rng, chip, **tile)
    assert f"{M}x{N}xf32" in layouts_of(chip, **tile)


@pytest.mark.parametrize(
    "load_b, fits", [("through_registers", True), ("load_to_lds", False)], ids=["past", "counted"]
)
def test_copies_whose_instructions_are_counted(rng, load_b: str, fits: bool) -> None:
    """Of 192 rows each of twelve waves copies as much; of 64 it cannot, and each must count alike."""
    tile = tile_of("matrix", "load_to_lds", 192, 64, copies=3) | {"load_b": load_b}
    if fits:
        return check(rng, "gfx942", **tile)
    message = (
        r"a tile that 12 warps, of all copies of its role, share out by 4 bytes a lane, each warp "
        r"as many, got 4096 bytes for 768 lanes"
    )
    with pytest.raises(kiln.CompileError, match=message) as refused:
        layouts_of("gfx942", **tile)
    assert 'that fits, "through_registers", got "load_to_lds"' in str(refused.value)
    return None


@pytest.mark.parametrize("K", [16, 32, 64, 128])
@pytest.mark.parametrize(
    "M, N, copies", [(192, 64, 3), (64, 192, 1), (64, 96, 1), (64, 80, 1), (64, 224, 1)]
)
@pytest.mark.parametrize("producers", [2, 3])
def test_producers_share_out_boxes(rng, producers, M, N, copies, K) -> None:
    """Half or a third of 192 or 96 rows are whole boxes of eight, of 80 columns 40 are."""
    tile = tile_of("wgmma", "tma", M, N, copies=copies, producers=producers) | {"K": K}
    if producers == 3 and (M % 24 or N % 24):
        with pytest.raises(kiln.CompileError, match=r"each of the 3 copies of role \"load\""):
            layouts_of("sm_90a", **tile)
    else:
        check(rng, "sm_90a", **tile)


@pytest.mark.parametrize("load", ["cp_async", "through_registers"])
@pytest.mark.parametrize("N, producers", [(224, 3), (208, 3), (240, 3)])
def test_several_instructions_read_what_lies_along_n(rng, N, producers, load) -> None:
    """16 warps leave a product few registers, so several instructions make its columns, of which each
    begins with a row of the swizzle."""
    check(rng, "sm_90a", **tile_of("wgmma", load, 64, N, producers=producers, tb=False))


@pytest.mark.parametrize(
    "M, N, ta, tb, copies, producers, touched",
    [
        (64, 256, False, False, 1, 2, ""), (64, 256, False, False, 1, 4, ""),
        # Of what is touched each copy of the product's role reads columns, or rows.
        (64, 64, False, False, 2, 2, "y"), (128, 96, True, True, 2, 2, "x"),
        # Columns of eight are turned on their way; of 16 rows no fourth lies together.
        (64, 16, False, False, 2, 2, "y"), (64, 16, False, True, 2, 4, ""),
    ],
)  # fmt: skip
def test_producers_write_parts_that_lie_together(rng, M, N, ta, tb, copies, producers, touched):
    tile = tile_of("wgmma", "through_registers", M, N, copies=copies, producers=producers)
    check(rng, "sm_90a", **(tile | {"ta": ta, "tb": tb, "touched": touched}))


@pytest.mark.parametrize("chip, atom, load", OWN)
def test_two_odd_factors_in_one_copy(rng, chip, atom, load) -> None:
    """Registers of one copy count one odd factor: of 192 by 96 the columns grow, which brings less
    than more rows would, and no ring has 256 rows."""
    tile = tile_of(atom, load, 192, 96, depth=2)
    check(rng, chip, **tile)
    text = layouts_of(chip, **tile)
    assert "192x128xf32" in text and "256x" not in text, text


@pytest.mark.parametrize("chip, atom, load", OWN)
@pytest.mark.parametrize("M, N, K", [(192, 96, 16), (96, 48, 32), (160, 40, 32)])
def test_copies_of_what_has_grown(rng, chip, atom, load, M: int, N: int, K: int) -> None:
    """The last of two copies has less of it."""
    if atom == "wgmma":
        pytest.skip("inner extents that are no power of two are read from registers")
    check(rng, chip, **tile_of(atom, load, M, N, copies=2, depth=2) | {"K": K})


# By instruction, and rows that two copies share out, or columns if these are too few.
IN_FLIGHT = [
    ("sm_90a", "wgmma", 128, 64), ("sm_90a", "wgmma", 128, 192), ("sm_90a", "wgmma", 64, 128),
    ("sm_100a", "tcgen05", 256, 64), ("sm_100a", "tcgen05", 128, 64),
]  # fmt: skip


@pytest.mark.parametrize("K", [48, 80, 96])
@pytest.mark.parametrize("load, producers", [("tma", 1), ("tma", 2), ("cp_async", 0)])
@pytest.mark.parametrize("chip, atom, M, N", IN_FLIGHT)
def test_copies_read_windows(rng, chip, atom, M, N, load, producers, K) -> None:
    """K ends early in boxes of all rows, of each of which a copy's product reads its part."""
    tile = tile_of(atom, load, M, N, copies=2, producers=producers) | {"K": K}
    check(rng, chip, **tile)
    text = layouts_of(chip, **tile)
    assert f"{M}x{K}xbf16" in text, text
    if M > N and producers == 1:
        check(rng, chip, **(tile | {"tb": False}))


@pytest.mark.parametrize("chip, atom, M, N", IN_FLIGHT[:1] + IN_FLIGHT[3:])
def test_windows_of_what_a_cluster_shares(rng, chip, atom, M, N) -> None:
    tile = tile_of(atom, "tma", M, N, copies=2, producers=1, multicast=True) | {"K": 48}
    check(rng, chip, **tile, around=0, programs=2)


def test_turned_operands_of_copies_are_refused_by_name() -> None:
    """Rows of k below one another are counted in front of which box of rows of a it is."""
    tile = tile_of("wgmma", "tma", 128, 64, copies=2, producers=1, ta=True) | {"K": 48}
    with pytest.raises(
        kiln.CompileError, match="an inner extent that is a power of two"
    ) as refused:
        layouts_of("sm_90a", **tile)
    note = (
        r"operands a of 128 by 48 and b of 48 by 64, of which 2 copies \('copies'\) read parts, lie "
        r"in memory as they are if one extent of each is no power of two, at most"
    )
    assert re.search(note, str(refused.value)), refused.value


def test_parts_of_a_turned_tile_that_copies_touch(rng) -> None:
    """No part of 32 by 160 lies together in columns that the product reads: each copy has all of it."""
    check(
        rng, "sm_100a",
        **tile_of("tcgen05", "tma", 128, 160, copies=2, producers=1, touched="y", tb=False),
    )  # fmt: skip


@pytest.mark.parametrize("touched", ["", "xy"])
@pytest.mark.parametrize("M, N", [(64, 64), (128, 96)])
@pytest.mark.parametrize("ta, tb", [(True, True), (False, False), (True, False)])
@pytest.mark.parametrize(
    "chip, atom",
    [("sm_80", "mma_sync"), ("gfx942", "matrix"), ("gfx950", "matrix"), ("gfx1201", "matrix")],
)
def test_copies_load_turned_operands_as_they_read_them(rng, chip, atom, ta, tb, M, N, touched):
    """Through registers, a part of a buffer each: of columns, where these are the product's rows."""
    tile = tile_of(atom, "through_registers", M, N, copies=2, touched=touched, ta=ta, tb=tb)
    check(rng, chip, **tile)


def test_copies_load_rows_of_k_of_what_all_read(rng) -> None:
    """Where copies share out columns of the product, of rows of a each loads some of k."""
    tile = tile_of("matrix", "through_registers", 96, 128, copies=2, tb=False)
    check(rng, "gfx950", **tile)


@kiln.kernel
def stored(a: kiln.View, b: kiln.View, c: kiln.View, atom: kiln.constexpr, load: kiln.constexpr):
    kiln.grid(1)
    roles = [
        kiln.role(name, warps=4, copies=n) for name, n in (("load", 1), ("mma", 3), ("out", 1))
    ]
    kiln.pin(roles=tuple(roles))
    s = kiln.zeros((192, 96), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=2):
        x = kiln.pin(a.load((0, k), (192, 32)), role="load", atom=load)
        y = kiln.pin(b.load((0, k), (96, 32)), role="load", atom=load)
        in_flight = 0 if atom == "wgmma" else None
        s = kiln.dot(x, y, s, transpose_b=True)
        kiln.pin(s, role="mma", atom=atom, in_flight=in_flight)
    kiln.pin(c.store((0, 0), kiln.pin(s * 2, role="out")), role="out")


@pytest.mark.parametrize(
    "chip, atom, load", [("sm_80", "mma_sync", "cp_async"), ("sm_90a", "wgmma", "tma")]
)
def test_another_role_has_all_that_copies_share_out(rng, chip, atom, load) -> None:
    """Its one copy counts one odd factor, so the other extent grows."""
    a, b = (rng.integers(-8, 9, (rows, 96)).astype(BF16) for rows in (192, 96))
    c = np.full((192, 96), np.nan, np.float32)
    stored.options(device=f"emu:{chip}")(a, b, c, atom, load)
    np.testing.assert_array_equal(c, 2 * a.astype(np.float64) @ b.astype(np.float64).T)


@kiln.kernel
def biased(
    a: kiln.View, b: kiln.View, bias: kiln.View, c: kiln.View, M: kiln.constexpr,
    N: kiln.constexpr, copies: kiln.constexpr, atom: kiln.constexpr, load: kiln.constexpr,
):  # fmt: skip
    """A product to which each trip adds a tile that is brought as its operands are."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("mma", warps=4, copies=copies))
    s = kiln.zeros((M, N), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=2):
        x = kiln.pin(a.load((0, k), (M, 32)), role="mma", stage=0, atom=load)
        y = kiln.pin(b.load((0, k), (N, 32)), role="mma", stage=0, atom=load)
        t = kiln.pin(bias.load((0, 0), (M, N)), role="mma", stage=0, atom=load)
        s = s + t.to(kiln.f32)
        product = kiln.dot(x, y, s, transpose_b=True)
        in_flight = 0 if atom == "wgmma" else None
        s = kiln.pin(product, role="mma", stage=1, atom=atom, in_flight=in_flight)
    kiln.pin(c.store((0, 0), s), role="mma")


@pytest.mark.parametrize("M, N, copies", [(192, 64, 3), (64, 192, 1), (128, 96, 2), (192, 96, 3)])
@pytest.mark.parametrize(
    "chip, atom, load", [("sm_80", "mma_sync", "cp_async"), ("sm_90a", "wgmma", "cp_async")]
)
def test_a_tile_that_is_added(rng, chip, atom, load, M, N, copies) -> None:
    """A buffer of what two copies share out by rows counts these, and no odd factor of columns."""
    a, b, bias = (rng.integers(-8, 9, shape).astype(BF16) for shape in ((M, 96), (N, 96), (M, N)))
    c = np.full((M, N), np.nan, np.float32)
    tile = {"M": M, "N": N, "copies": copies, "atom": atom, "load": load}
    biased.options(device=f"emu:{chip}")(a, b, bias, c, **tile)
    x, y, z = (each.astype(np.float64) for each in (a, b, bias))
    np.testing.assert_array_equal(c, x @ y.T + 3 * z)


ODD = [48, 80, 96, 112, 160, 192, 224]
EVEN = [16, 32, 64, 128]
DRAWN = [
    ("sm_80", "mma_sync", ("cp_async", "through_registers"), (0,)),
    ("sm_90a", "wgmma", ("tma", "cp_async", "through_registers"), (0, 1, 2, 3)),
    ("sm_90a", "mma_sync", ("tma", "cp_async", "through_registers"), (0, 1, 2)),
    ("sm_100a", "tcgen05", ("tma", "cp_async"), (1, 2)),
    ("gfx942", "matrix", ("load_to_lds", "through_registers"), (0,)),
    ("gfx950", "matrix", ("load_to_lds", "through_registers"), (0,)),
    ("gfx1201", "matrix", ("through_registers",), (0,)),
]  # fmt: skip

# Limits of instructions and chips, none of them an error of ours: what cannot be shared out, brought
# or held. Each is told at the user's line.
LIMITS = (
    "share out evenly", "share out by", "times a power of two, for each of", "of registers in role",
    "bytes of shared memory", "bytes of tensor memory", "warps of a program",
    "an inner extent that is a power of two", "brings as many rows or columns", "that fits,",
    "have each of its own where another role or another layout takes them", "rings of at most",
    # Turned or narrow tiles that no order of a buffer suits; and products, counted by extents that
    # have grown, which a target without an instruction would write out.
    "expected a tile that", "products, got",
)  # fmt: skip


@pytest.mark.parametrize("draw", range(8))
@pytest.mark.parametrize("chip, atom, loads, producers", DRAWN)
def test_drawn(rng, chip, atom, loads, producers, draw: int) -> None:
    """Any of these is exact to the number, or refused by a limit."""

    def pick(of):
        return of[int(rng.integers(len(of)))]

    is_beside = atom in ("wgmma", "tcgen05")
    tile = {
        "atom": atom, "load_a": pick(loads), "load_b": pick(loads), "producers": pick(producers),
        "M": pick(ODD + EVEN), "N": pick(ODD + EVEN), "K": pick([16, 32, 64, 48, 80, 96]),
        "copies": pick([1, 1, 2, 3, 3, 5]), "warps": 4 if is_beside else pick([1, 2, 4]),
        "touched": pick(["", "", "x", "y", "xy"]), "ta": pick([False] * 3 + [True]),
        "tb": pick([True] * 3 + [False]), "epilogue": pick(["", "", "rows", "columns"]),
    }  # fmt: skip
    if is_beside:
        tile["M"] = pick([128, 256] if atom == "tcgen05" else [64, 128, 192, 320])
    if tile["producers"] == 0 and "tma" in (tile["load_a"], tile["load_b"]):
        tile["producers"] = 1
    tile["N"] = min(
        tile["N"], max(16, 4096 * tile["warps"] * tile["copies"] // tile["M"] // 16 * 16)
    )
    try:
        check(rng, chip, **tile)
    except kiln.CompileError as refused:
        text = str(refused)
        assert any(limit in text for limit in LIMITS), (text, tile)
        assert "copied_kernels.py" in text, (text, tile)
