"""Decisions of kernels, operations, loops and branches: where they stand in the text, and what is
refused."""

from __future__ import annotations

import re

import pytest
from lowered import lower_body as lowered

from kiln.frontend import CompileError

ROLES = 'kiln.pin(roles=(kiln.role("all", warps=4, copies=2, registers=40, skew=1),))'


def attributes_of(text: str, word: str) -> str:
    """What stands in braces in the one line that has a word."""
    (line,) = (line for line in text.splitlines() if word in line)
    return re.search(r"\{([^{}]*)\}", line)[1]


def test_a_kernel_has_roles_and_a_persistent_grid() -> None:
    text = lowered(
        "i, j = kiln.grid(n, n)",
        'kiln.pin(roles=(kiln.role("a", warps=4), kiln.role("b", warps=8, copies=2)))',
        "kiln.pin(persistent=(132, 16))",
    )
    assert (
        'tile.roles = [#tile.role<"a", warps = 4>, #tile.role<"b", warps = 8, copies = 2>]' in text
    )
    assert "tile.persistent = #tile.persistent<programs = 132, group = 16>" in text


def test_a_persistent_grid_has_a_raster_and_programs_a_core() -> None:
    text = lowered("kiln.grid(n)", 'kiln.pin(persistent=(8, 4, "even"))')
    assert "tile.persistent = #tile.persistent<programs = 8, group = 4, even = true>" in text
    text = lowered("kiln.grid(n)", 'kiln.pin(persistent=0, raster="chiplets", per_core=2)')
    assert "tile.persistent = #tile.persistent<programs = 0, group = 1>" in text
    assert 'tile.raster = "chiplets", tile.per_core = 2 : i64' in text


@pytest.mark.parametrize(
    "share, spelled",
    [
        ("4", "tile.share = 4 : i64"),
        ('(2, "atomic")', "tile.share = 2 : i64, tile.share_atomic"),
        ('"stream"', 'tile.share = "stream"'),
        ('("stream", "atomic")', 'tile.share = "stream", tile.share_atomic'),
    ],
)
def test_the_trips_of_a_loop_are_shared_out(share: str, spelled: str) -> None:
    text = lowered(
        "kiln.grid(n)",
        "x = kiln.zeros((8,), kiln.f32)",
        f"for i in kiln.pin(range(0, n, 8), share={share}):\n    x = x + v.load((0, i), (1, 8))[0]",
        "v.store((0, 0), x[None, :])",
    )
    assert spelled in text


def test_all_of_a_role() -> None:
    assert (
        'tile.roles = [#tile.role<"all", warps = 4, copies = 2, registers = 40, skew = 1>]'
        in lowered(ROLES)
    )


def test_operations_of_tile_spell_decisions_plainly() -> None:
    text = lowered(
        'x = kiln.pin(v.load((0, 0), (4, 8)), role="all", stage=0, order=1, ring="r", depth=2, '
        'atom="tma")'
    )
    found = attributes_of(text, "tile.load")
    assert found == (
        'role = "all", stage = 0 : i64, order = 1 : i64, ring = "r", depth = 2 : i64, '
        'tile.atom = "tma"'
    )


@pytest.mark.parametrize("axes, spelled", [('"x"', '["x"]'), ('("y", "x")', '["y", "x"]')])
def test_programs_share_a_load(axes: str, spelled: str) -> None:
    text = lowered(
        "kiln.pin(cluster=(2, 2))",
        f'x = kiln.pin(v.load((0, 0), (4, 8)), role="all", atom="tma", multicast={axes})',
    )
    found = attributes_of(text, "tile.load")
    assert found == f'role = "all", tile.atom = "tma", multicast = {spelled}'


def test_other_operations_have_them_as_attributes_of_tile() -> None:
    text = lowered('x = kiln.pin(v.load((0, 0), (4, 8)) + 1.0, role="all", stage=1)')
    assert attributes_of(text, "arith.addf") == 'tile.role = "all", tile.stage = 1 : i64'


def test_a_value_is_pinned_by_its_name_and_more_than_once() -> None:
    text = lowered(
        "x = v.load((0, 0), (4, 8))",
        "y = x * 2.0",
        'kiln.pin(x, role="all")',
        "kiln.pin(x, stage=0)",
    )
    assert attributes_of(text, "tile.load") == 'role = "all", stage = 0 : i64'


def test_a_load_that_drops_dimensions_is_the_load() -> None:
    text = lowered('x = kiln.pin(v.load((0, 0), (1, 8), squeeze=True), role="all")')
    assert attributes_of(text, "tile.load") == 'role = "all"'


def test_stores_and_reductions() -> None:
    text = lowered(
        'x = kiln.pin(kiln.sum(v.load((0, 0), (4, 8)), axis=1), role="all", stage=2)',
        'kiln.pin(v.store((0, 0), x[:, None]), role="all", atom="tma", in_flight=1)',
    )
    assert attributes_of(text, "tile.reduce") == 'role = "all", stage = 2 : i64'
    assert (
        attributes_of(text, "tile.store") == 'role = "all", in_flight = 1 : i64, tile.atom = "tma"'
    )


@pytest.mark.parametrize(
    "operation", ["atomic_add(v, (0, 0), 1.0)", "atomic_cas(v, (0, 0), 0.0, 1.0)"]
)
def test_the_order_of_an_atomic_operation_is_no_order_of_memory(operation: str) -> None:
    text = lowered(f'kiln.pin(kiln.{operation}, role="all", stage=0, order=1)')
    found = attributes_of(text, "tile.atomic")
    assert found == 'role = "all", stage = 0 : i64, tile.order = 1 : i64'


def test_loops_and_branches() -> None:
    text = lowered(
        "x = kiln.zeros((4, 8), kiln.f32)",
        "for i in kiln.pin(range(n), depth=3):",
        '    if kiln.pin(i > 4, role="all", stage=0, order=2, split=True):',
        "        x = x + 1.0",
        "v.store((0, 0), x)",
    )
    assert "} {tile.depth = 3 : i64}" in text
    assert (
        '} {tile.role = "all", tile.stage = 0 : i64, tile.order = 2 : i64, tile.split_loop}' in text
    )


@pytest.mark.parametrize(
    "layout",
    [
        "register = [[0,1],[0,2],[0,4]], lane = [[1,0],[2,0]]",
        "register=[ [0, 1],[0,2], [0,4],[1,0],[2,0] ], warp = []",
    ],
)
def test_a_layout(layout) -> None:
    text = lowered(f'x = kiln.pin(v.load((0, 0), (4, 8)), layout="{layout}")')
    assert f"tile.layout = #tile.layout<{layout}>" in text


@pytest.mark.parametrize("load", ["v[n].load((0,), (8,))", "v.load((n, 0), (1, 8), squeeze=0)"])
def test_a_layout_of_a_tile_without_a_dimension_of_one_element(load) -> None:
    text = lowered(f'x = kiln.pin({load}, layout="register = [[1], [4]], lane = [[2]]")')
    assert "tile.layout = #tile.layout<register = [[0,1], [0,4]], lane = [[0,2]]>" in text
    text = lowered(f'x = kiln.pin({load}, atom="tma", buffer="offset = [[2], [1], [4]]")')
    assert "tile.buffer<1x8xf32, #tile.layout<offset = [[0,2], [0,1], [0,4]]>>" in text


def test_residencies() -> None:
    text = lowered(
        'x = kiln.pin(v.load((0, 0), (16, 16)), residency="shared")',
        'v.store((0, 0), kiln.pin(kiln.dot(x, x), residency="tensor_memory"))',
    )
    assert attributes_of(text, "tile.load") == 'tile.residency = "shared"'
    assert attributes_of(text, "tile.dot") == 'tile.residency = "tensor_memory"'


def test_sums_in_tensor_memory() -> None:
    text = lowered(
        "x = v.load((0, 0), (16, 16))",
        'kiln.pin(v.store((0, 0), kiln.pin(kiln.dot(x, x), carried="registers")), fetched="boxes")',
        "kiln.pin(kiln.dot(x, x), columns=1, operand_columns=0)",
    )
    first, second = re.findall(r"tile.dot [^{]*\{([^}]*)\}", text)
    assert first == 'tile.carried = "registers"'
    assert second == "tile.columns = 1 : i64, tile.operand_columns = 0 : i64"
    assert attributes_of(text, "tile.store") == 'tile.fetched = "boxes"'


def test_products() -> None:
    text = lowered(
        "x = v.load((0, 0), (16, 16))",
        "y = kiln.pin(kiln.dot(x, x), parts=(1, 2, 4), reads_ahead=1, promote=True, swap=True)",
        "v.store((0, 0), y)",
    )
    assert attributes_of(text, "tile.dot") == (
        "parts = array<i64: 1, 2, 4>, reads_ahead = 1 : i64, promote = true, swap = true"
    )
    text = lowered(
        "x = v.load((0, 0), (16, 16))",
        "v.store((0, 0), kiln.pin(kiln.dot(x, x), promote=False, swap=False))",
    )
    assert "promote = false, swap = false" in text


def test_extents() -> None:
    text = lowered(
        "x = v.load((0, 0), (16, 24))",
        "y = kiln.pin(kiln.dot(x, x, transpose_b=True), extents=(16, 16, 16, 8))",
        "v.store((0, 0), y)",
    )
    assert attributes_of(text, "tile.dot") == "tile.extents = array<i64: 16, 16, 16, 8>"


def test_an_order_of_instructions() -> None:
    text = lowered(
        "x = v.load((0, 0), (16, 16))",
        "y = kiln.pin(",
        "    kiln.dot(x, x, kiln.zeros((16, 16), kiln.f32)),",
        '    interleave="16 x (1 read), 32 x (2 matrix,1 load)",',
        ")",
        "v.store((0, 0), y)",
    )
    assert "interleave = #tile.interleave<16 x (1 read), 32 x (2 matrix,1 load)>" in text


def test_places_of_parts() -> None:
    text = lowered(
        "x = v.load((0, 0), (16, 16))",
        "y = kiln.pin(kiln.dot(x, x), parts=(1, 1, 2), part_stages=((0, 1), (1, 1)),",
        "             part_orders=((3, 0), (1, 2)))",
        "v.store((0, 0), y)",
    )
    assert attributes_of(text, "tile.dot") == (
        "parts = array<i64: 1, 1, 2>, part_stages = array<i64: 0, 1, 1, 1>, "
        "part_orders = array<i64: 3, 0, 1, 2>"
    )


@pytest.mark.parametrize("guarded", [True, False])
def test_guarded_masks(guarded: bool) -> None:
    text = lowered(
        "x = v.load((0, 0), (16, 16))",
        f"v.store((0, 0), kiln.pin(kiln.where(x > 0.0, x, 1.0), guarded={guarded}))",
    )
    assert f"tile.guarded = {str(guarded).lower()}" in attributes_of(text, "arith.select")


LOAD = "v.load((0, 0), (4, 8))"
PRODUCT = "kiln.dot(kiln.zeros((16, 16), kiln.f32), kiln.zeros((16, 16), kiln.f32))"
REFUSED = [
    (f"kiln.pin({LOAD}, parts=(1, 1, 2))", "expected parts of a product, got"),
    (f"kiln.pin({LOAD} + 1.0, swap=True)", "expected swap of a product, got"),
    ("kiln.pin(kiln.dot(v.load((0, 0), (8, 8)), v.load((0, 0), (8, 8))), parts=(1, 2))",
     "expected how many parts along m, n and k, got"),
    ("kiln.pin(kiln.dot(v.load((0, 0), (8, 8)), v.load((0, 0), (8, 8))), parts=(1, 0, 2))",
     "expected how many parts along m, n and k, got"),
    ("kiln.pin(kiln.pin(kiln.dot(v.load((0, 0), (8, 8)), v.load((0, 0), (8, 8))), swap=True), "
     "swap=True)", "expected one decision about swap, got two"),
    (f"kiln.pin({PRODUCT}, parts=(1, 1, 2), part_stages=(0, 1, 1, 1))",
     "expected part_stages of a pair of numbers for each part, of its reads and of its product, "
     "got (0, 1, 1, 1)"),
    (f"kiln.pin({LOAD}, extents=(4, 8, 8))", "expected extents of a product, got"),
    (f"kiln.pin({PRODUCT}, extents=(16, 16))",
     "expected rows, columns and inner extents of at least 1, got (16, 16)"),
    (f"kiln.pin({PRODUCT}, extents=(16, 16, 0))",
     "expected rows, columns and inner extents of at least 1, got (16, 16, 0)"),
    (f"kiln.pin({PRODUCT}, parts=(1, 1, 1), part_orders=((0, -1),))",
     "expected part_orders of at least 0, got"),
    (f"kiln.pin({LOAD}, part_stages=((0, 1),))", "expected part_stages of a product, got"),
    (f"kiln.pin({LOAD}, guarded=True)", "expected guarded of a choice by a mask, got"),
    (f"kiln.pin({LOAD}, warps=4)", "expected decisions about an operation, got warps"),
    ("kiln.pin(stage=1)", "expected decisions about a kernel, got stage"),
    (f"kiln.pin({LOAD})", "expected a decision to pin, got none"),
    (f"kiln.pin({LOAD}, stage=-1)", "expected stage of at least 0, got -1"),
    (f"kiln.pin({LOAD}, depth=0)", "expected depth of at least 1, got 0"),
    (f"kiln.pin({LOAD}, stage=n)", "expected a constant int for `stage`, got an i64 scalar"),
    (f'kiln.pin({LOAD}, role="")', 'expected role to be a name, got ""'),
    (f'kiln.pin({LOAD}, layout="register = <")', "expected a layout, got 'register = <'"),
    (f"x = kiln.pin({LOAD}, stage=1)\nkiln.pin(x, stage=2)", "expected one decision about stage, got two"),
    (f"x = kiln.pin({LOAD} + 1.0, stage=1)\nkiln.pin(x, stage=1)", "expected one decision about stage, got two"),
    (f'kiln.pin({LOAD}, layout="hello")', "expected a layout, got 'hello'"),
    (f'kiln.pin({LOAD}, layout="register = [[0,-1]]")', "expected a layout, got 'register = [[0,-1]]'"),
    (f'kiln.pin({LOAD}, layout="lane = [[0,1]] lane = [[1,0]]")', "expected a layout, got 'lane ="),
    (f'kiln.pin({LOAD}, layout="lane = [[0,1]], lane = [[1,0]]")', "expected a layout, got 'lane ="),
    (f'kiln.pin({LOAD}, layout="register = [[0,1]]\\n}}")', "expected a layout, got 'register = [[0,1]]"),
    (f'kiln.pin({LOAD}, layout="core = [[0,1]]")', "expected register, lane and warp in a layout, got core"),
    ('kiln.pin(roles=(kiln.role("a", warps=4, skew=1),))', "expected several copies of a role with a skew, got 1"),
    (f'kiln.pin({PRODUCT}, interleave="16 x 1 read")', "expected rounds of instructions, got '16 x 1 read'"),
    (f'kiln.pin({PRODUCT}, interleave="1 x (1 product)")', "expected rounds of instructions, got '1 x (1"),
    (f'kiln.pin({PRODUCT}, interleave="0 x (1 read)")', "expected rounds of instructions, got '0 x (1 read)'"),
    (f'kiln.pin({PRODUCT}, interleave="1 x (1 read)>, a = <")', "expected rounds of instructions"),
    (f'kiln.pin({LOAD}, residency="tensor_memory")', "expected a residency of an operand, got 'tensor_memory'"),
    (f'kiln.pin({PRODUCT}, residency="shared")', "expected a residency of a product, got 'shared'"),
    (f'kiln.pin({LOAD}, carried="registers")', "expected carried of a product, got"),
    (f"kiln.pin({LOAD}, columns=0)", "expected columns of a product, got"),
    (f"kiln.pin({PRODUCT}, operand_columns=-1)", "expected operand_columns of at least 0, got -1"),
    (f'kiln.pin({PRODUCT}, carried="shared")', "expected carried to be 'registers' or 'tensor_memory', got 'shared'"),
    (f'kiln.pin({PRODUCT}, fetched="boxes")', "expected fetched of a store, got"),
    ('kiln.pin(v.store((0, 0), kiln.zeros((4, 8), kiln.f32)), fetched="rows")',
     "expected fetched to be 'whole' or 'boxes', got 'rows'"),
    ("kiln.pin(v, stage=1)", "expected what an operation of this block gives, got"),
    ("kiln.pin(kiln.zeros(4, kiln.f32), stage=1)", "expected what an operation of this block gives"),
    ("for i in kiln.pin(range(n), in_flight=2):\n    v.store((i, 0), kiln.zeros((4, 8), kiln.f32))",
     "expected decisions about a loop, got in_flight"),
    ('kiln.pin(roles="load")', "expected roles"),
    ('kiln.pin(roles=(kiln.role("a", warps=0),))', "expected warps of at least 1, got 0"),
    ("kiln.pin(persistent=(1, 2, 3))", "expected programs, or a pair of programs"),
    ('kiln.pin(persistent=(1, "even"))', "expected programs, or a pair of programs"),
    ('kiln.pin(persistent=(1, 2, "odd"))', "expected a constant int for `persistent`"),
    ('kiln.pin(raster="chiplets")', "expected persistent beside raster or before it"),
    ('kiln.pin(persistent=2, raster="spiral")', "expected a raster, got 'spiral'"),
    ("kiln.pin(persistent=0, per_core=0)", "expected per_core of at least 1, got 0"),
    ("kiln.pin(persistent=8, per_core=2)", "expected persistent=0, since per_core counts"),
    ("for i in kiln.pin(range(n), share=1):\n    pass", "expected share among at least 2 programs, got 1"),
    ('for i in kiln.pin(range(n), share=(2, "fast")):\n    pass',
     'expected programs or "stream", or a pair of these and "atomic", got (2, \'fast\')'),
    ('for i in kiln.pin(range(n), share="river"):\n    pass',
     'expected programs or "stream", or a pair of these and "atomic", got \'river\''),
    ("kiln.pin(persistent=2)\nkiln.pin(persistent=3)", "expected one persistent grid, got (2, 1) and"),
]  # fmt: skip


@pytest.mark.parametrize("statement, message", REFUSED)
def test_refused(statement: str, message: str) -> None:
    with pytest.raises(CompileError, match=re.escape(message)):
        lowered(statement)
