"""Products of which any part of a schedule is pinned: what is said is kept, the rest is completed.
On emulated chips, against float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def gemm(
    a: kiln.View, b: kiln.View, c: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr, PINNED: kiln.constexpr,
    roles: kiln.constexpr = None, depth: kiln.constexpr = None, scaled: kiln.constexpr = False,
    a_role: kiln.constexpr = None, a_stage: kiln.constexpr = None, a_order: kiln.constexpr = None,
    a_atom: kiln.constexpr = None, a_ring: kiln.constexpr = None,
    b_role: kiln.constexpr = None, b_stage: kiln.constexpr = None, b_order: kiln.constexpr = None,
    b_atom: kiln.constexpr = None, b_ring: kiln.constexpr = None,
    dot_role: kiln.constexpr = None, dot_stage: kiln.constexpr = None,
    dot_order: kiln.constexpr = None, dot_atom: kiln.constexpr = None,
    dot_in_flight: kiln.constexpr = None,
    out_role: kiln.constexpr = None, out_in_flight: kiln.constexpr = None,
    out_atom: kiln.constexpr = None, warps: kiln.constexpr = None,
):  # fmt: skip
    """c = a · bᵀ, as benchmarks/pinned_kernels.py has it; `PINNED` says of what anything is."""
    row, column = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    if roles == 2:
        kiln.pin(
            roles=(
                kiln.role("load", warps=4, registers=40),
                kiln.role("mma", warps=4, copies=2, registers=232),
            )
        )
    if roles == 3:
        kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=2)))
    if roles == 1:
        kiln.pin(roles=kiln.role("all", warps=4))
    if warps is not None:
        kiln.pin(warps=warps)
    i, j = row * BM, column * BN
    acc = kiln.zeros((BM, BN), kiln.f32)
    steps = range(0, a.shape[1], BK)
    for k in kiln.pin(steps, depth=depth) if depth is not None else steps:
        x, y = a.load((i, k), (BM, BK)), b.load((j, k), (BN, BK))
        if "a" in PINNED:
            x = kiln.pin(x, role=a_role, stage=a_stage, order=a_order, atom=a_atom, ring=a_ring)
        if "b" in PINNED:
            y = kiln.pin(y, role=b_role, stage=b_stage, order=b_order, atom=b_atom, ring=b_ring)
        if scaled:
            x = x * 2
        acc = kiln.dot(x, y, acc, transpose_b=True)
        if "dot" in PINNED:
            acc = kiln.pin(
                acc, role=dot_role, stage=dot_stage, order=dot_order, atom=dot_atom,
                in_flight=dot_in_flight,
            )  # fmt: skip
    if "out" in PINNED:
        kiln.pin(
            c.store((i, j), acc.to(kiln.bf16)),
            role=out_role, in_flight=out_in_flight, atom=out_atom,
        )  # fmt: skip
    else:
        c.store((i, j), acc.to(kiln.bf16))


def pins_of_role(role: str, copy: str, product: str, **others) -> dict[str, object]:
    """All of one role, which fills its own ring."""
    each = {
        f"{name}_{pin}": value
        for order, name in enumerate("ab")
        for pin, value in
        {"role": role, "stage": 0, "order": order, "atom": copy, "ring": "r"}.items()
    }  # fmt: skip
    dot = {"dot_role": role, "dot_stage": 1, "dot_order": 2, "dot_atom": product}
    return {"roles": 1, "depth": 2, **each, **dot, "out_role": role, **others}


OF_TWO = {
    **pins_of_role("load", "tma", "wgmma"), "roles": 2, "depth": 4,
    "dot_role": "mma", "dot_stage": 0, "dot_order": 0, "dot_in_flight": 1,
    "out_role": "mma", "out_in_flight": 1, "out_atom": "tma",
}  # fmt: skip
# The same where warps copy, and no role has registers of its own.
OF_TWO_COPIED = {
    **pins_of_role("load", "cp_async", "mma_sync"), "roles": 3, "depth": 3,
    "dot_role": "mma", "dot_stage": 0, "dot_order": 0, "out_role": "mma",
}  # fmt: skip
OF_TWO_WAITED = {
    **pins_of_role("load", "load_to_lds", "matrix"), "roles": 3, "depth": 3,
    "dot_role": "mma", "dot_stage": 0, "dot_order": 0, "out_role": "mma",
}  # fmt: skip
SCHEDULES = [
    ("sm_90a", OF_TWO, (128, 128, 64)),
    ("sm_90a", pins_of_role("all", "cp_async", "wgmma", dot_in_flight=1, depth=3), (64, 64, 32)),
    ("sm_90a", pins_of_role("all", "cp_async", "mma_sync"), (64, 64, 32)),
    ("sm_80", pins_of_role("all", "cp_async", "mma_sync"), (64, 64, 32)),
    ("sm_80", OF_TWO_COPIED, (128, 64, 32)),
    ("sm_89", OF_TWO_COPIED, (64, 64, 32)),
    ("gfx942", OF_TWO_WAITED, (128, 64, 32)),
    ("gfx950", OF_TWO_WAITED, (128, 64, 32)),
    ("gfx942", pins_of_role("all", "load_to_lds", "matrix"), (64, 64, 32)),
    ("gfx950", pins_of_role("all", "load_to_lds", "matrix"), (64, 64, 32)),
    ("gfx1201", pins_of_role("all", "through_registers", "matrix"), (64, 64, 32)),
]


def check(rng, chip: str, tile: tuple[int, int, int], scaled: bool = False, **pins) -> None:
    m, n, k = int(rng.integers(1, 260)), 8 * int(rng.integers(1, 30)), 8 * int(rng.integers(1, 30))
    a, b = (rng.standard_normal((rows, k)).astype(BF16) for rows in (m, n))
    c = np.full((m, n), np.nan, BF16)
    pinned = tuple({name.split("_")[0] for name in pins} & {"a", "b", "dot", "out"})
    extents = dict(zip(("BM", "BN", "BK"), tile, strict=True))
    kernel = gemm.options(device=f"emu:{chip}")
    kernel(a, b, c, **extents, PINNED=pinned, scaled=scaled, **pins)
    reference = (1 + scaled) * (a.astype(np.float64) @ b.astype(np.float64).T)
    error = np.linalg.norm(c.astype(np.float64) - reference)
    assert error <= 4e-3 * np.linalg.norm(reference), (m, n, k, pins)


DRAWN = 8


@pytest.mark.parametrize("draw", range(DRAWN))
@pytest.mark.parametrize("number", range(len(SCHEDULES)))
def test_any_part_of_a_schedule(rng, number: int, draw: int) -> None:
    """Every subset of what a legal kernel pins is one."""
    rng = np.random.default_rng([number, draw, int(rng.integers(1 << 62))])
    chip, schedule, tile = SCHEDULES[number]
    share = rng.random()
    check(
        rng, chip, tile, **{pin: value for pin, value in schedule.items() if rng.random() < share}
    )


@pytest.mark.parametrize(
    "number, names",
    [
        (7, ("roles", "b_order", "dot_role", "dot_atom")),
        (5, ("roles", "depth", "a_role", "a_stage", "a_order", "a_atom", "b_stage", "b_order", "dot_role")),
        (6, ("roles", "a_role", "a_atom", "dot_role", "dot_stage", "dot_order", "dot_atom")),
    ],
)  # fmt: skip
def test_who_loads_is_open(rng, number: int, names: tuple[str, ...]) -> None:
    """A load without a role, though others have one: the product's place in a trip leaves it none in
    the role that multiplies, or a role has nothing to do yet."""
    chip, schedule, tile = SCHEDULES[number]
    check(rng, chip, tile, **{name: schedule[name] for name in names})


@pytest.mark.parametrize("draw", range(DRAWN))
@pytest.mark.parametrize("chip", ["sm_80", "gfx942"])
def test_part_of_another_chip_s_schedule(rng, chip: str, draw: int) -> None:
    """What a chip has not, is refused by its name; all else holds there, too."""
    rng = np.random.default_rng([draw, int(rng.integers(1 << 62))])
    share = rng.random() / 2
    pins = {pin: value for pin, value in OF_TWO.items() if rng.random() < share}
    foreign = [
        text
        for text, isSaid in (
            ("registers of role", pins.get("roles") == 2),
            ('"tma"', "tma" in pins.values()),
            ('"wgmma"', "wgmma" in pins.values()),
            ("'in_flight'", "dot_in_flight" in pins or "out_in_flight" in pins),
        )
        if isSaid
    ]
    # Its orders are those of two roles: where no pin says so, the compiler makes the roles.
    if not foreign:
        check(rng, chip, (64, 64, 32), **pins)
        return
    with pytest.raises(kiln.CompileError) as refused:
        check(rng, chip, (64, 64, 32), **pins)
    assert any(text.strip("\"'") in str(refused.value) for text in foreign), (pins, refused.value)


ALONE = [
    {"dot_atom": "wgmma"}, {"dot_in_flight": 0}, {"dot_in_flight": 1}, {"depth": 3},
    {"a_atom": "tma"}, {"b_atom": "cp_async"}, {"a_atom": "through_registers"},
    {"a_atom": "cp_async", "b_atom": "tma"}, {"depth": 3, "dot_in_flight": 1}, {"b_ring": "r"},
    {"dot_stage": 1}, {"a_role": "load"}, {"out_atom": "tma"},
]  # fmt: skip


@pytest.mark.parametrize("roles", [None, 1, 2])
@pytest.mark.parametrize("pins", ALONE, ids=str)
def test_one_pin_alone(rng, pins: dict[str, object], roles: int | None) -> None:
    if roles == 1 and "a_role" in pins:
        pins = {"a_role": "all"}
    if roles == 2 and "dot_stage" in pins:
        pins = {"dot_stage": 0}  # stages of a role begin with 0
    check(rng, "sm_90a", (128, 64, 32), **pins, **({} if roles is None else {"roles": roles}))


@pytest.mark.parametrize("rows", [48, 96, 192])
def test_an_instruction_for_extents_that_grow(rng, rows: int) -> None:
    check(rng, "sm_90a", (rows, 64, 32), dot_atom="wgmma")


@pytest.mark.parametrize(
    "chip, pins",
    [
        ("sm_90a", {"dot_atom": "wgmma"}), ("sm_100a", {"depth": 3}),
        ("sm_100a", {"a_atom": "tma"}), ("sm_100a", {"dot_in_flight": 0}),
        ("gfx942", {"depth": 2}), ("gfx942", {"b_atom": "load_to_lds"}),
    ],
)  # fmt: skip
def test_a_computed_operand(rng, chip: str, pins: dict[str, object]) -> None:
    check(rng, chip, (128, 64, 32), scaled=True, **pins)


@pytest.mark.parametrize(
    "chip, pins, message",
    [
        ("sm_80", {"dot_in_flight": 1}, "expected no 'in_flight' on emu:sm_80, no instruction"),
        ("sm_80", {"a_atom": "tma"}, 'that fits, "cp_async" or "through_registers", got "tma"'),
        ("sm_100a", {"dot_atom": "wgmma"}, 'got "wgmma"'),
        ("sm_90a", {"roles": 1, "dot_atom": "banana"}, 'got "banana"'),
        ("sm_90a", {"dot_stage": 40}, "expected a stage below 16, got 40"),
    ],
)
def test_what_contradicts_the_chip(rng, chip: str, pins: dict[str, object], message: str) -> None:
    with pytest.raises(kiln.CompileError, match=message):
        check(rng, chip, (64, 64, 32), **pins)


@pytest.mark.parametrize("warps", [1, 2, 4, 8])
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a", "gfx942", "gfx1201"])
def test_as_many_warps_as_are_said(rng, chip: str, warps: int) -> None:
    check(rng, chip, (64, 64, 32), warps=warps, depth=2)


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a", "gfx942"])
def test_a_stage_alone_gives_loads_a_ring(rng, chip: str) -> None:
    """Registers that hold tiles for so many trips would be as many products written out."""
    check(rng, chip, (64, 64, 32), dot_stage=3)


@kiln.kernel
def named(a: kiln.View, b: kiln.View, c: kiln.View):
    """A role that stores has the name that the compiler gives the one that loads."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 32), kiln.cdiv(c.shape[1], 32))
    acc = kiln.zeros((32, 32), kiln.f32)
    for k in range(0, a.shape[1], 32):
        x, y = a.load((i * 32, k), (32, 32)), b.load((k, j * 32), (32, 32))
        acc = kiln.pin(kiln.dot(x, y, acc), role="mma")
    kiln.pin(c.store((i * 32, j * 32), acc), role="load")


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a", "sm_100a", "gfx942"])
def test_roles_have_names_of_their_own(rng, chip: str) -> None:
    a, b = (rng.integers(-8, 9, (64, 64)).astype(BF16) for _ in "ab")
    c = np.full((64, 64), np.nan, np.float32)
    named.options(device=f"emu:{chip}")(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64))
