# ruff: noqa: E501
"""Loads, stores, gathers, scatters and atomics: every border, stride, type and overlap."""

import numpy as np
import pytest
from tiles import DEVICE, NUMPY, Pointer, apply, bits, launch, name_of, tensor, view

ELEMENTS = ["f64", "f32", "f16", "bf16", "f8E4M3FN", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN",
            "i64", "i32", "i16", "i8", "i4", "i2"]  # fmt: skip


def random_bits(rng, shape, element):
    """Any values of a type that are not NaN."""
    small = rng.integers(-2, 2, shape)
    return (
        small.astype(np.float32).astype(NUMPY[element])
        if element[0] == "f" or element == "bf16"
        else small.astype(NUMPY[element])
    )


def same(a, b):
    if name_of(a.dtype) in ("i4", "i2"):
        return np.array_equal(a.astype(np.int64), b.astype(np.int64))
    return np.array_equal(bits(a), bits(b))


def reference_load(array, offsets, shape, padding):
    want = np.full(shape, padding, array.dtype)
    for index in np.ndindex(*shape):
        at = tuple(o + i for o, i in zip(offsets, index, strict=True))
        if all(0 <= a < n for a, n in zip(at, array.shape, strict=True)):
            want[index] = array[at]
    return want


def copy_kernel(element, shape, strides="", pad=""):
    rank, kind = len(shape), view(len(shape), element, strides)
    names = ", ".join(f"%o{d}" for d in range(rank))
    index = ", ".join(f"%o{d}: index" for d in range(rank))
    to = ", ".join(f"%p{d}" for d in range(rank))
    more = ", ".join(f"%p{d}: index" for d in range(rank))
    extra = f"%pad = arith.constant {pad} : {element}\n" if pad else ""
    use = f" pad(%pad : {element})" if pad else ""
    return (
        f"tile.kernel @k(%x: {kind}, %y: {view(rank, element)}, {index}, {more}) {{\n{extra}"
        f"%t = tile.load %x[{names}]{use} : {kind} -> {tensor(shape, element)}\n"
        f"tile.store %t, %y[{to}] : {tensor(shape, element)}, {view(rank, element)}\ntile.return\n}}"
    )


@pytest.mark.crossed(1)
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize(
    "extents, tile",
    [
        ((40,), (16,)),
        ((33,), (64,)),
        ((9, 21), (4, 16)),
        ((3, 5), (8, 32)),
        ((4, 3, 18), (2, 2, 17)),
    ],
)
def test_tiles_at_any_offset(rng, element, extents, tile):
    text = copy_kernel(element, tile)
    for _ in range(4):
        x, y = random_bits(rng, extents, element), random_bits(rng, extents, element)
        offsets = [int(rng.integers(-n - 1, n + 2)) for n in extents]
        to = [int(rng.integers(-n - 1, n + 2)) for n in extents]
        want = y.copy()
        loaded = reference_load(x, offsets, tile, 0)
        for index in np.ndindex(*tile):
            at = tuple(o + i for o, i in zip(to, index, strict=True))
            if all(0 <= a < n for a, n in zip(at, extents, strict=True)):
                want[at] = loaded[index]
        launch(text, [x, y, *offsets, *to])
        assert same(y, want), (offsets, to)


@pytest.mark.parametrize("offset", [-(2**62), 2**62, 2**63 - 1, -(2**63)])
def test_offsets_far_outside(offset):
    x, y = np.ones(40, np.float32), np.zeros(16, np.float32)
    launch(copy_kernel("f32", (16,), pad="7.0"), [x, y, offset, 0])
    assert np.all(y == 7)
    launch(copy_kernel("f32", (16,)), [x, y, 0, offset])
    assert np.all(y == 7)


@pytest.mark.crossed(1)
@pytest.mark.parametrize("element", ["f32", "bf16", "i8", "f64"])
@pytest.mark.parametrize("layout", ["reversed", "transposed", "stepped", "broadcast"])
def test_strides(rng, element, layout):
    base = random_bits(rng, (24, 40), element)
    x = {
        "reversed": base[::-1, ::-1], "transposed": base.T, "stepped": base[::3, ::2],
        "broadcast": np.broadcast_to(base[:1], (24, 40)),
    }[layout]  # fmt: skip
    for strides, tile in ((", strides [?, ?]", (8, 32)), (", strides [?, ?]", (32, 16))):
        for offsets in ((0, 0), (-3, 5), (2, 1)):
            y = np.zeros(tile, NUMPY[element])
            launch(copy_kernel(element, tile, strides), [x, y, *offsets, 0, 0])
            assert np.array_equal(bits(y), bits(reference_load(x, offsets, tile, 0)))
    if layout == "transposed":
        y = np.zeros((32, 16), NUMPY[element])
        launch(copy_kernel(element, (32, 16), ", strides [1, ?]"), [x, y, 4, 2, 0, 0])
        assert np.array_equal(bits(y), bits(reference_load(x, (4, 2), (32, 16), 0)))


@pytest.mark.parametrize("shift", [-17, -1, 0, 1, 5, 16])
def test_overlapping_store(rng, shift):
    """A store may overlap what it reads: as if the whole tile had been read before."""
    text = """
    tile.kernel @k(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>, %s: index) {
      %c20 = arith.constant 25 : index
      %to = arith.addi %c20, %s : index
      %one = arith.constant dense<1.0> : tensor<64xf32>
      %t = tile.load %x[%c20] : !tile.view<?xf32> -> tensor<64xf32>
      %u = arith.addf %t, %one : tensor<64xf32>
      tile.store %u, %y[%to] : tensor<64xf32>, !tile.view<?xf32>
      tile.return
    }"""
    for second in (False, True):
        x = rng.standard_normal(110).astype(np.float32)
        want = x.copy()
        want[25 + shift : 89 + shift] = x[25:89] + 1
        given = x.copy()
        if second:  # through another argument that overlaps by an offset of its own
            launch(text, [given[:100], given[5:105], shift - 5])
        else:
            launch(text, [given, given, shift])
        assert np.array_equal(given, want)


def test_two_dimensional_overlap(rng):
    """A transpose in place."""
    text = """
    tile.kernel @k(%x: !tile.view<?x?xf32>, %y: !tile.view<?x?xf32>) {
      %z = arith.constant 0 : index
      %t = tile.load %x[%z, %z] : !tile.view<?x?xf32> -> tensor<32x32xf32>
      %u = tile.transpose %t [1, 0] : tensor<32x32xf32> -> tensor<32x32xf32>
      tile.store %u, %y[%z, %z] : tensor<32x32xf32>, !tile.view<?x?xf32>
      tile.return
    }"""
    for n in (32, 27):
        x = rng.standard_normal((n, n)).astype(np.float32)
        want = x.T.copy()
        launch(text, [x, x])
        assert np.array_equal(x, want)


def test_read_after_write(rng):
    """A load before a store sees the old values, wherever its result is used."""
    text = """
    tile.kernel @k(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>) {
      %z = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %t = tile.load %x[%z] : !tile.view<?xf32> -> tensor<32xf32>
      %zero = arith.constant dense<0.0> : tensor<32xf32>
      tile.store %zero, %x[%c8] : tensor<32xf32>, !tile.view<?xf32>
      %u = tile.load %x[%z] : !tile.view<?xf32> -> tensor<32xf32>
      %d = arith.subf %t, %u : tensor<32xf32>
      tile.store %d, %y[%z] : tensor<32xf32>, !tile.view<?xf32>
      tile.return
    }"""
    x, y = rng.standard_normal(32).astype(np.float32), np.zeros(32, np.float32)
    want = np.where(np.arange(32) < 8, 0, x)
    launch(text, [x, y])
    assert np.array_equal(y, want)


@pytest.mark.parametrize("element", ["f64", "f32", "f16", "bf16", "f8E5M2", "i64", "i32", "i8"])
@pytest.mark.parametrize("index", ["i32", "i64"])
def test_gather_and_scatter(rng, element, index):
    n, rows, columns = 50, 11, 13
    x = random_bits(rng, (rows, columns), element)
    i = rng.integers(-3, rows + 3, n).astype(NUMPY[index])
    j = rng.integers(-3, columns + 3, n).astype(NUMPY[index])
    m = rng.integers(0, 2, n).astype(np.int8)
    t, ti = tensor((n,), element), tensor((n,), index)
    v2, v1, vi = view(2, element), view(1, element), view(1, index)
    head = f"""%z = arith.constant 0 : index
      %i = tile.load %iv[%z] : {vi} -> {ti}
      %j = tile.load %jv[%z] : {vi} -> {ti}
      %mb = tile.load %mv[%z] : !tile.view<?xi8> -> tensor<{n}xi8>
      %m = arith.trunci %mb : tensor<{n}xi8> to tensor<{n}xi1>"""
    arguments = f"%x: {v2}, %iv: {vi}, %jv: {vi}, %mv: !tile.view<?xi8>, %y: {v1}"
    inside = (i >= 0) & (i < rows) & (j >= 0) & (j < columns) & (m != 0)
    y = np.zeros(n, NUMPY[element])
    launch(
        f"""tile.kernel @k({arguments}) {{ {head}
      %t = tile.gather %x[%i, %j] mask(%m : tensor<{n}xi1>) : {v2}, [{ti}, {ti}] -> {t}
      tile.store %t, %y[%z] : {t}, {v1}
      tile.return }}""",
        [x, i, j, m, y],
    )
    want = np.zeros(n, NUMPY[element])
    want[inside] = x[i[inside], j[inside]]
    assert np.array_equal(bits(y), bits(want))

    flat = rng.permutation(rows * columns)[:n]  # no index twice
    i, j = (flat // columns).astype(NUMPY[index]), (flat % columns).astype(NUMPY[index])
    i[::7] = rows
    inside = (i < rows) & (m != 0)
    y, want = random_bits(rng, n, element), x.copy()
    want[i[inside], j[inside]] = y[inside]
    launch(
        f"""tile.kernel @k({arguments}) {{ {head}
      %t = tile.load %y[%z] : {v1} -> {t}
      tile.scatter %t, %x[%i, %j] mask(%m : tensor<{n}xi1>) : {t}, {v2}, [{ti}, {ti}]
      tile.return }}""",
        [x, i, j, m, y],
    )
    assert np.array_equal(bits(x), bits(want))


@pytest.mark.parametrize("element", ["f32", "bf16", "i8"])
@pytest.mark.parametrize("index", ["i32", "i64"])
def test_gather_and_scatter_of_runs(rng, element, index):
    """A row by its number and neighbouring columns: rows and columns outside, masks, and columns
    whose numbers wrap around."""
    rows, columns, n, d = 9, 37, 6, 21
    t, ti, tj = tensor((n, d), element), tensor((n, 1), index), tensor((1, d), index)
    to, vi = tensor((n, d), index), view(1, index)
    v = view(2, element, ", strides [?, 1]")
    mask = f"mask(%m : tensor<{n}x{d}xi1>)"
    head = f"""%z = arith.constant 0 : index
      %rows = tile.load %i[%z] : {vi} -> {tensor((n,), index)}
      %column = tile.reshape %rows : {tensor((n,), index)} -> {ti}
      %i2 = tile.broadcast %column : {ti} -> {to}
      %first = tile.load %j[%z] : {vi} -> {tensor((1,), index)}
      %first2 = tile.reshape %first : {tensor((1,), index)} -> {tensor((1, 1), index)}
      %first3 = tile.broadcast %first2 : {tensor((1, 1), index)} -> {to}
      %count = tile.iota 1 : {to}
      %j2 = arith.addi %first3, %count : {to}
      %mb = tile.load %mv[%z, %z] : !tile.view<?x?xi8> -> tensor<{n}x{d}xi8>
      %m = arith.trunci %mb : tensor<{n}x{d}xi8> to tensor<{n}x{d}xi1>
      %y1 = tile.load %y[%z, %z] : {v} -> {t}"""
    arguments = f"%x: {v}, %i: {vi}, %j: {vi}, %mv: !tile.view<?x?xi8>, %y: {v}"
    gather = f"""tile.kernel @k({arguments}) {{ {head}
      %r = tile.gather %x[%i2, %j2] {mask} : {v}, [{to}, {to}] -> {t}
      tile.store %r, %y[%z, %z] : {t}, {v}
      tile.return }}"""
    scatter = f"""tile.kernel @k({arguments}) {{ {head}
      tile.scatter %y1, %x[%i2, %j2] {mask} : {t}, {v}, [{to}, {to}]
      tile.return }}"""
    last = np.iinfo(NUMPY[index]).max
    for start in (0, 5, -4, columns - 10, columns + 3, last - 7):
        x = random_bits(rng, (rows, columns), element)
        i = rng.permutation(np.arange(-2, rows + 2))[:n].astype(NUMPY[index])
        j = np.array([start], NUMPY[index])
        m = rng.integers(0, 4, (n, d)).clip(0, 1).astype(np.int8)
        at = [(int(start) + k) for k in range(d)]
        wanted = np.zeros((n, d), NUMPY[element])
        y = random_bits(rng, (n, d), element)
        written = x.copy()
        for a in range(n):
            for b in range(d):
                if 0 <= i[a] < rows and 0 <= at[b] < columns and m[a, b]:
                    wanted[a, b] = x[i[a], at[b]]
                    written[i[a], at[b]] = y[a, b]
        changed = x.copy()
        launch(scatter, [changed, i, j, m, y.copy()])
        assert np.array_equal(bits(changed), bits(written)), start
        launch(gather, [x, i, j, m, y])
        assert np.array_equal(bits(y), bits(wanted)), start


@pytest.mark.parametrize("element", ["f64", "f32", "f16", "bf16", "i64", "i32"])
def test_atomics(rng, element):
    n, slots = 200, 9

    def as_unsigned(value):
        return int(value) % (2**32 if element == "i32" else 2**64)

    real = element[0] != "i"
    kinds = (
        ["addf", "minf", "maxf"]
        if real
        else ["addi", "mins", "maxs", "minu", "maxu", "and", "or", "xor"]
    )
    t, m = tensor((n,), element), tensor((n,), "i1")
    for kind in [*kinds, "exch"]:
        i = rng.integers(-1, slots + 1, n).astype(np.int32)
        v = rng.integers(-3, 4, n).astype(NUMPY[element])
        k = rng.integers(0, 2, n).astype(np.int8)
        x = rng.integers(-3, 4, slots).astype(NUMPY[element])
        old, start = np.zeros(n, NUMPY[element]), x.copy()
        launch(
            f"""tile.kernel @k(%x: {view(1, element)}, %iv: !tile.view<?xi32>, %vv: {view(1, element)},
                                  %kv: !tile.view<?xi8>, %ov: {view(1, element)}) {{
          %z = arith.constant 0 : index
          %i = tile.load %iv[%z] : !tile.view<?xi32> -> tensor<{n}xi32>
          %v = tile.load %vv[%z] : {view(1, element)} -> {t}
          %b = tile.load %kv[%z] : !tile.view<?xi8> -> tensor<{n}xi8>
          %m = arith.trunci %b : tensor<{n}xi8> to {m}
          %o = tile.atomic_rmw {kind} %x[%i], %v mask(%m : {m}) order = relaxed : {view(1, element)}, [tensor<{n}xi32>], {t}
          tile.store %o, %ov[%z] : {t}, {view(1, element)}
          tile.return }}""",
            [x, i, v, k, old],
        )
        inside = (i >= 0) & (i < slots) & (k != 0)
        assert np.all(old[~inside].astype(np.float64) == 0)
        for s in range(slots):
            mine = v[inside & (i == s)]
            if kind == "exch":
                assert x[s] in (mine if mine.size else start[s : s + 1])
                continue
            want = start[s]
            for value in mine:
                want = {
                    "addf": lambda a, b: a + b, "addi": lambda a, b: a + b, "minf": min, "maxf": max, "mins": min,
                    "maxs": max, "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
                    "minu": lambda a, b: min(a, b, key=as_unsigned),
                    "maxu": lambda a, b: max(a, b, key=as_unsigned),
                }[kind](want, value)  # fmt: skip
            assert x[s] == want, (kind, s)


@pytest.mark.parametrize("element", ["f64", "f32", "f16", "bf16", "i64", "i32"])
def test_atomics_from_many_programs(element):
    """Programs of a grid run on several threads: no update is lost."""
    letter = "i" if element[0] == "i" else "f"
    x = np.zeros(1, NUMPY[element])
    one = "1" if letter == "i" else "1.0"
    programs = 200 if element in ("f16", "bf16") else 2000
    launch(
        f"""tile.kernel @k(%x: {view(1, element)}) {{
      %z = arith.constant 0 : index
      %v = arith.constant {one} : {element}
      %o = tile.atomic_rmw add{letter} %x[%z], %v : {view(1, element)}, [index], {element}
      tile.return }}""",
        [x],
        (programs,),
    )
    assert x[0] == programs


@pytest.mark.parametrize("element", ["f32", "f16", "i64", "i32"])
def test_compare_and_swap(rng, element):
    n = 64
    x = rng.integers(0, 3, n).astype(NUMPY[element])
    start, old = x.copy(), np.zeros(n, NUMPY[element])
    one, five = ("1", "5") if element[0] == "i" else ("1.0", "5.0")
    t = tensor((n,), element)
    launch(
        f"""tile.kernel @k(%x: {view(1, element)}, %ov: {view(1, element)}) {{
      %z = arith.constant 0 : index
      %i = tile.iota 0 : tensor<{n}xi32>
      %c = arith.constant dense<{one}> : {t}
      %v = arith.constant dense<{five}> : {t}
      %o = tile.atomic_cas %x[%i], %c, %v order = acquire : {view(1, element)}, [tensor<{n}xi32>], {t}
      tile.store %o, %ov[%z] : {t}, {view(1, element)}
      tile.return }}""",
        [x, old],
    )
    assert np.array_equal(old, start) and np.array_equal(x, np.where(start == 1, 5, start))


@pytest.mark.parametrize("element", ["i4", "i2", "f4E2M1FN", "f6E2M3FN"])
def test_neighbours_below_a_byte(rng, element):
    """Tiles that end inside a byte keep the neighbours that other programs write."""
    n, tile = 1003, 5
    x, y = random_bits(rng, n, element), np.zeros(n, NUMPY[element])
    t, v = tensor((tile,), element), view(1, element)
    launch(
        f"""tile.kernel @k(%x: {v}, %y: {v}) {{
      %i = tile.program_id x
      %c = arith.constant {tile} : index
      %o = arith.muli %i, %c : index
      %t = tile.load %x[%o] : {v} -> {t}
      tile.store %t, %y[%o] : {t}, {v}
      tile.return }}""",
        [x, y],
        (-(-n // tile),),
    )
    assert same(y, x)


def test_view_from_pointer_and_buffers(rng):
    x, y = rng.standard_normal((8, 32)).astype(np.float32), np.zeros((8, 32), np.float32)
    launch(
        """tile.kernel @k(%p: !tile.pointer<f32>, %y: !tile.view<?x?xf32>, %m: index, %n: index) {
      %z = arith.constant 0 : index
      %v = tile.view_from_pointer %p extents [%m, %n] strides [%n] : !tile.pointer<f32> -> !tile.view<?x?xf32>
      %b = tile.alloc : !tile.buffer<8x32xf32>
      %t = tile.load %v[%z, %z] : !tile.view<?x?xf32> -> tensor<8x32xf32>
      tile.write %t, %b : tensor<8x32xf32>, !tile.buffer<8x32xf32>
      %r = tile.read %b : !tile.buffer<8x32xf32> -> tensor<8x32xf32>
      %d = arith.addf %r, %r : tensor<8x32xf32>
      tile.write %d, %b : tensor<8x32xf32>, !tile.buffer<8x32xf32>
      %e = tile.read %b : !tile.buffer<8x32xf32> -> tensor<8x32xf32>
      %s = arith.addf %e, %r : tensor<8x32xf32>
      tile.store %s, %y[%z, %z] : tensor<8x32xf32>, !tile.view<?x?xf32>
      tile.return }""",
        [Pointer(x), y, 8, 32],
    )
    assert np.allclose(y, 3 * x)


def test_shapes(rng):
    """Shape ops, one after another, against NumPy."""
    a = rng.standard_normal((6, 4, 10)).astype(np.float32)
    body = """
    %t = tile.transpose %a [2, 0, 1] : tensor<6x4x10xf32> -> tensor<10x6x4xf32>
    %f = tile.reshape %t : tensor<10x6x4xf32> -> tensor<240xf32>
    %g = tile.reshape %f : tensor<240xf32> -> tensor<15x16xf32>
    %s = tile.slice %g [3, 2] : tensor<15x16xf32> -> tensor<9x12xf32>
    %n = arith.negf %s : tensor<9x12xf32>
    %j = tile.join %s, %n : tensor<9x12xf32> -> tensor<9x12x2xf32>
    %c = tile.concat %s, %g axis = 0 : tensor<9x12xf32>, tensor<9x12xf32> -> tensor<18x12xf32>
    """.replace("%s, %g axis", "%s, %n axis")
    j, c = apply(body, {"a": a}, {"j": ((9, 12, 2), "f32"), "c": ((18, 12), "f32")})
    s = a.transpose(2, 0, 1).reshape(15, 16)[3:12, 2:14]
    assert np.array_equal(j, np.stack([s, -s], -1)) and np.array_equal(c, np.concatenate([s, -s]))
    body = """
    %l, %r = tile.split %a : tensor<9x12x2xf32> -> tensor<9x12xf32>
    %p = tile.reshape %l : tensor<9x12xf32> -> tensor<9x1x12xf32>
    %b = tile.broadcast %p : tensor<9x1x12xf32> -> tensor<9x3x12xf32>
    """
    r, b = apply(body, {"a": j}, {"r": ((9, 12), "f32"), "b": ((9, 3, 12), "f32")})
    assert np.array_equal(r, -s) and np.array_equal(b, np.repeat(s[:, None], 3, 1))


@pytest.mark.parametrize(
    "extents, sizes, offsets",
    [
        ((40,), (18,), (9,)),
        ((64,), (32,), (9,)),
        ((64,), (32,), (32,)),
        ((256,), (16,), (240,)),
        ((1024,), (512,), (2,)),
        ((8, 64), (4, 64), (3, 0)),
        ((16, 24), (5, 9), (10, 15)),
        ((3, 40, 4), (2, 33, 2), (1, 7, 2)),
    ],
)
@pytest.mark.parametrize("element", ["f32", "i8", "i4"])
def test_slices_at_any_offset(rng, element, extents, sizes, offsets):
    x = rng.integers(-8, 8, extents).astype(NUMPY[element])
    source, result = tensor(extents, element), tensor(sizes, element)
    body = f"%s = tile.slice %x {list(offsets)} : {source} -> {result}"
    got = apply(body, {"x": x}, {"s": (sizes, element)})
    part = tuple(slice(o, o + n) for o, n in zip(offsets, sizes, strict=True))
    assert np.array_equal(got.astype(np.float32), x[part].astype(np.float32))


@pytest.mark.parametrize(
    "source, target",
    [
        ("i8", "i4"),
        ("i4", "i8"),
        ("i32", "i2"),
        ("f32", "i32"),
        ("i16", "bf16"),
        ("f64", "i16"),
        ("i8", "f6E2M3FN"),
        ("f6E3M2FN", "i8"),
        ("f6E2M3FN", "i2"),
        ("f4E2M1FN", "f6E3M2FN"),
        ("f64", "f6E2M3FN"),
        ("f6E3M2FN", "f6E2M3FN"),
        ("f4E2M1FN", "i16"),
        ("i64", "f32"),
    ],
)
def test_bitcast(rng, source, target):
    width = {
        "i8": 8,
        "i4": 4,
        "i32": 32,
        "i2": 2,
        "f32": 32,
        "i16": 16,
        "bf16": 16,
        "f64": 64,
        "f6E2M3FN": 6,
        "f6E3M2FN": 6,
        "f4E2M1FN": 4,
        "i64": 64,
    }
    n = 3 * 48
    import kiln

    raw = rng.integers(0, 2, (5, n * 8), dtype=np.uint8)
    packed = np.packbits(raw, bitorder="little")
    m = raw.shape[1]

    def make(element, data):
        shape = (5, m // width[element])
        if width[element] < 8:
            name = {"f6E2M3FN": "f6e2m3fn", "f6E3M2FN": "f6e3m2fn", "f4E2M1FN": "f4e2m1fn"}.get(
                element, element
            )
            return kiln.PackedArray(data, shape, name)
        return data.view(NUMPY[element]).reshape(shape)

    if DEVICE.startswith("emu") and "bf16" in (source, target):
        pytest.skip("the host that emulates a chip quiets bfloat16's signalling NaNs")
    out = np.zeros_like(packed)
    s, t = (5, m // width[source]), (5, m // width[target])
    text = f"""tile.kernel @k(%x: {view(2, source)}, %y: {view(2, target)}) {{
      %z = arith.constant 0 : index
      %t = tile.load %x[%z, %z] : {view(2, source)} -> {tensor(s, source)}
      %u = tile.bitcast %t : {tensor(s, source)} -> {tensor(t, target)}
      tile.store %u, %y[%z, %z] : {tensor(t, target)}, {view(2, target)}
      tile.return }}"""
    launch(text, [make(source, packed), make(target, out)])
    assert np.array_equal(out, packed)


@pytest.mark.parametrize("shape", [(4,), (16,), (20,), (7, 12), (2, 3, 64)])
def test_bytes_of_six_bits_are_flipped(rng, shape):
    """There and back, and whatever stands between is done to the row's own bytes."""
    x = rng.standard_normal(shape).astype(NUMPY["f6E3M2FN"])
    six = tensor(shape, "f6E3M2FN")
    eight = tensor((*shape[:-1], shape[-1] * 6 // 8), "i8")
    body = f"""
    %i = tile.bitcast %x : {six} -> {eight}
    %ones = arith.constant dense<-1> : {eight}
    %n = arith.xori %i, %ones : {eight}
    %y = tile.bitcast %n : {eight} -> {six}
    """
    got = apply(body, {"x": x}, {"y": (shape, "f6E3M2FN")})
    assert np.array_equal(got.view(np.uint8) & 63, ~x.view(np.uint8) & 63)
