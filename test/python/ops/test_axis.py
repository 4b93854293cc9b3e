# ruff: noqa: E501
"""Reductions, scans, sorts and the rest that works along an axis."""

import numpy as np
import pytest
from tiles import DEVICE, NUMPY, apply, assert_close, bits, tensor

SHAPES = [
    ((1,), 0),
    ((7,), 0),
    ((100,), 0),
    ((256,), 0),
    ((5, 37), 0),
    ((5, 37), 1),
    ((37, 5), 1),
    ((3, 64), 1),
    ((4, 6, 10), 1),
    ((4, 1, 17), 2),
    ((33, 1), 0),
]
REDUCTIONS = {
    "addf": (np.add, "f"), "mulf": (np.multiply, "f"), "maximumf": (np.maximum, "f"), "minimumf": (np.minimum, "f"),
    "maxnumf": (np.fmax, "f"), "minnumf": (np.fmin, "f"),
    "addi": (np.add, "i"), "muli": (np.multiply, "i"), "maxsi": (np.maximum, "i"), "minsi": (np.minimum, "i"),
    "andi": (np.bitwise_and, "i"), "ori": (np.bitwise_or, "i"), "xori": (np.bitwise_xor, "i"),
}  # fmt: skip


def long_ones(cases):
    """Cases of more than a few vectors of the CPU; other devices have enough with the short ones."""
    return cases if DEVICE == "cpu" else []


def random_values(rng, shape, element):
    if element[0] == "i":
        return rng.integers(-100, 100, shape).astype(NUMPY[element])
    return rng.standard_normal(shape).astype(NUMPY[element])


@pytest.mark.crossed(1)
@pytest.mark.parametrize("shape, axis", SHAPES)
@pytest.mark.parametrize("op", REDUCTIONS)
def test_reduce_and_scan(rng, op, shape, axis):
    function, letter = REDUCTIONS[op]
    for element in ("f64", "f32", "f16", "bf16") if letter == "f" else ("i64", "i32", "i16", "i8"):
        a = random_values(rng, shape, element)
        if op == "mulf":  # near one, or products leave the range where an error is relative
            a = (np.exp2(rng.uniform(-0.25, 0.25, shape)) * np.sign(a)).astype(NUMPY[element])
        if "max" in op and letter == "f" and a.size > 20:
            a.flat[::9] = np.nan
        kept = shape[:axis] + shape[axis + 1 :]
        region = f"{{\n^bb0(%l: {element}, %r: {element}):\n%s = arith.{op} %l, %r : {element}\ntile.yield %s : {element}\n}}"
        t = tensor(shape, element)
        body = f"%x = tile.reduce %a axis = {axis} : {t} -> {tensor(kept, element)} {region}\n"
        body += f"%y = tile.scan %a axis = {axis} : {t} -> {t} {region}\n"
        body += f"%z = tile.scan %a axis = {axis} reverse : {t} -> {t} {region}"
        x, y, z = apply(
            body, {"a": a}, {"x": (kept, element), "y": (shape, element), "z": (shape, element)}
        )
        w = a.astype(np.float64) if letter == "f" else a
        # Of 256 factors, each of which rounds by up to 2^-11 of f16: some eight standard deviations.
        tolerance = {"f64": 1e-14, "f32": 1e-5, "f16": 4e-2, "bf16": 3e-1}.get(element, 0)
        with np.errstate(all="ignore"):
            want, size = (
                [
                    function.reduce(v, axis=axis),
                    function.accumulate(v, axis=axis),
                    np.flip(function.accumulate(np.flip(v, axis), axis=axis), axis),
                ]
                for v in (w, np.abs(w))
            )
        for got, wanted, bound in zip((x, y, z), want, size, strict=True):
            if letter == "i":
                assert np.array_equal(got, wanted.astype(got.dtype))
            elif op in ("addf", "mulf"):
                # What cancels in a sum keeps the error of what was summed.
                difference = np.abs(got.astype(np.float64) - wanted)
                assert np.all(difference <= tolerance * bound)
            else:
                assert np.array_equal(got.astype(np.float64), wanted, equal_nan=True)


@pytest.mark.parametrize("shape, axis", SHAPES)
def test_region_of_several(rng, shape, axis):
    """Welford's mean and variance: three tensors, a region that does not commute by form."""
    a = random_values(rng, shape, "f32")
    kept = shape[:axis] + shape[axis + 1 :]
    t, k = tensor(shape, "f32"), tensor(kept, "f32")
    body = f"""
    %zero = arith.constant dense<0.0> : {t}
    %one = arith.constant dense<1.0> : {t}
    %m, %v, %n = tile.reduce %a, %zero_, %one axis = {axis} : {t}, {t}, {t} -> {k}, {k}, {k} {{
    ^bb0(%ma: f32, %va: f32, %na: f32, %mb: f32, %vb: f32, %nb: f32):
      %ns = arith.addf %na, %nb : f32
      %d = arith.subf %mb, %ma : f32
      %q = arith.divf %nb, %ns : f32
      %dm = arith.mulf %d, %q : f32
      %ms = arith.addf %ma, %dm : f32
      %dd = arith.mulf %d, %dm : f32
      %e = arith.mulf %dd, %na : f32
      %vs = arith.addf %va, %vb : f32
      %vt = arith.addf %vs, %e : f32
      tile.yield %ms, %vt, %ns : f32, f32, f32
    }}
    """.replace("%zero_", "%zeros").replace("%zero =", "%zeros =")
    m, v, n = apply(body, {"a": a}, {"m": (kept, "f32"), "v": (kept, "f32"), "n": (kept, "f32")})
    w = a.astype(np.float64)
    assert np.all(n == shape[axis])
    # A mean near zero keeps the error of what cancelled.
    assert np.all(np.abs(m - w.mean(axis)) <= 1e-5 * np.abs(w).mean(axis))
    assert_close(v, w.var(axis) * shape[axis], 1e-4)


def test_order_of_a_reduction(rng):
    """left always stands before right: an operation that does not commute."""
    for n in (5, 64, 100):
        a = rng.integers(1, 100, (3, n)).astype(np.int32)
        for shape, axis, given in (((3, n), 1, a), ((n, 3), 0, np.ascontiguousarray(a.T))):
            t = tensor(shape, "i32")
            first = "{\n^bb0(%l: i32, %r: i32):\ntile.yield %l : i32\n}"
            last = "{\n^bb0(%l: i32, %r: i32):\ntile.yield %r : i32\n}"
            body = f"%x = tile.reduce %a axis = {axis} : {t} -> tensor<3xi32> {first}\n"
            body += f"%y = tile.reduce %a axis = {axis} : {t} -> tensor<3xi32> {last}\n"
            body += f"%z = tile.scan %a axis = {axis} reverse : {t} -> {t} {last}"
            x, y, z = apply(
                body, {"a": given}, {"x": ((3,), "i32"), "y": ((3,), "i32"), "z": (shape, "i32")}
            )
            assert np.array_equal(x, a[:, 0]) and np.array_equal(y, a[:, -1])
            assert np.all(z == np.expand_dims(a[:, -1], axis))


@pytest.mark.parametrize("n", [2, 17, *long_ones([127, 129, 300, 530])])
def test_reduction_of_a_tuple_keeps_its_order(rng, n):
    """Products of matrices, as four tensors: they associate, and do not commute."""
    matrices = rng.integers(-(2**31), 2**31, (4, 3, n)).astype(np.int32)
    t, k = tensor((3, n), "i32"), "tensor<3xi32>"
    terms = [("a", "e", "b", "g"), ("a", "f", "b", "h"), ("c", "e", "d", "g"), ("c", "f", "d", "h")]
    lines = "".join(
        f"%p{i} = arith.muli %{w}, %{x} : i32\n%q{i} = arith.muli %{y}, %{z} : i32\n"
        f"%s{i} = arith.addi %p{i}, %q{i} : i32\n"
        for i, (w, x, y, z) in enumerate(terms)
    )
    arguments = ", ".join(f"%{name}: i32" for name in "abcdefgh")
    body = f"""%r0, %r1, %r2, %r3 = tile.reduce %m0, %m1, %m2, %m3 axis = 1
      : {t}, {t}, {t}, {t} -> {k}, {k}, {k}, {k} {{
    ^bb0({arguments}):
      {lines} tile.yield %s0, %s1, %s2, %s3 : i32, i32, i32, i32
    }}"""
    got = apply(
        body,
        {f"m{i}": matrices[i] for i in range(4)},
        {f"r{i}": ((3,), "i32") for i in range(4)},
    )
    for row in range(3):
        product = np.eye(2, dtype=np.uint32)
        for at in range(n):
            product = product @ matrices[:, row, at].reshape(2, 2).astype(np.uint32)
        assert [int(np.uint32(x[row])) for x in got] == product.ravel().tolist()


@pytest.mark.parametrize("n", [5, 16, 37, 200])
def test_reduction_of_a_tuple_that_commutes(rng, n):
    """A sum and a maximum at once."""
    a = rng.standard_normal((3, n)).astype(np.float32)
    b = rng.integers(-100, 100, (3, n)).astype(np.int64)
    body = f"""%s, %m = tile.reduce %a, %b axis = 1
      : {tensor(a.shape, "f32")}, {tensor(a.shape, "i64")} -> tensor<3xf32>, tensor<3xi64> {{
    ^bb0(%la: f32, %lb: i64, %ra: f32, %rb: i64):
      %s = arith.addf %la, %ra : f32
      %m = arith.maxsi %lb, %rb : i64
      tile.yield %s, %m : f32, i64
    }}"""
    s, m = apply(body, {"a": a, "b": b}, {"s": ((3,), "f32"), "m": ((3,), "i64")})
    assert np.allclose(s, a.sum(1), atol=1e-4) and np.array_equal(m, b.max(1))


@pytest.mark.parametrize("shape, axis", SHAPES)
@pytest.mark.parametrize("element", ["f64", "f32", "bf16", "i32", "i8"])
def test_arg_reduce(rng, element, shape, axis):
    a = rng.integers(-5, 5, shape).astype(NUMPY[element])  # many ties: the lowest position wins
    if element[0] != "i":
        a = np.where(rng.random(shape) < 0.5, np.minimum(a, 0), a).astype(a.dtype)
        a[(a == 0) & (rng.random(shape) < 0.5)] = -0.0
    kept = shape[:axis] + shape[axis + 1 :]
    compare = (
        f"arith.cmpi sgt, %n, %b : {element}"
        if element[0] == "i"
        else f"arith.cmpf ogt, %n, %b : {element}"
    )
    body = f"""%v, %i = tile.arg_reduce %a axis = {axis} : {tensor(shape, element)} -> {tensor(kept, element)}, {tensor(kept, "i32")} {{
    ^bb0(%b: {element}, %n: {element}):
      %w = {compare}
      tile.yield %w : i1
    }}"""
    v, i = apply(body, {"a": a}, {"v": (kept, element), "i": (kept, "i32")})
    w = a.astype(np.float64)
    assert np.array_equal(i, w.argmax(axis)) and np.array_equal(v.astype(np.float64), w.max(axis))


@pytest.mark.crossed
@pytest.mark.parametrize("shape, axis", SHAPES[2::4])
@pytest.mark.parametrize(
    "element", ["f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "i64", "i32", "i8", "i4"]
)
@pytest.mark.parametrize("descending", [False, True])
def test_sort_and_topk(rng, element, shape, axis, descending):
    a = rng.integers(-6, 6, shape).astype(np.float32).astype(NUMPY[element])
    if element[0] != "i" and a.size > 10:
        a[rng.random(shape) < 0.2] = np.nan
        a[rng.random(shape) < 0.2] = 0.0
        a[rng.random(shape) < 0.2] = -0.0
    t, p = tensor(shape, element), tensor(shape, "i32")
    word = "descending" if descending else ""
    count = (shape[axis] + 1) // 2
    top = (*shape[:axis], count, *shape[axis + 1 :])
    body = f"%at = tile.iota {axis} : {p}\n"
    body += f"%k, %v = tile.sort %a, %at axis = {axis} {word} : {t}, {p} -> {t}, {p}\n"
    body += f"%tk, %ti = tile.topk %a axis = {axis} {'' if descending else 'smallest'} : {t} -> {tensor(top, element)}, {tensor(top, 'i32')}"
    k, v, tk, ti = apply(
        body,
        {"a": a},
        {"k": (shape, element), "v": (shape, "i32"), "tk": (top, element), "ti": (top, "i32")},
    )
    w = a.astype(np.float64)
    # NumPy's own stable order, in which -0 equals +0 and NaN is last.
    order = np.argsort(-w if descending else w, axis=axis, kind="stable")
    assert np.array_equal(v, order)
    wanted = np.take_along_axis(a.view(np.uint8) if element == "i4" else bits(a), order, axis)
    assert np.array_equal(k.view(np.uint8) if element == "i4" else bits(k), wanted)
    assert np.array_equal(ti, np.take(order, range(count), axis))
    assert np.array_equal(
        tk.astype(np.float64), np.take(k, range(count), axis).astype(np.float64), equal_nan=True
    )


@pytest.mark.crossed(1)
@pytest.mark.parametrize("n, k", [(2, 1), (9, 9), (33, 8), *long_ones([(257, 60), (1000, 5)])])
@pytest.mark.parametrize("element", ["f64", "f32", "bf16", "i32"])
def test_sort_and_topk_of_any_length(rng, element, n, k):
    """In ascending, descending and random order, with and without ties: the runs of a top-k that
    hold nothing of use are passed over."""
    few, many = rng.integers(-4, 4, n), np.sort(rng.integers(-(2**31), 2**31, n))
    rows = [few, many, many[::-1], rng.permutation(many)]
    a = np.array(rows).astype(np.float64 if element[0] != "i" else np.int64).astype(NUMPY[element])
    t, p = tensor(a.shape, element), tensor(a.shape, "i32")
    kt, kp = tensor((4, k), element), tensor((4, k), "i32")
    body = f"%at = tile.iota 1 : {p}\n"
    body += f"%s, %o = tile.sort %a, %at axis = 1 : {t}, {p} -> {t}, {p}\n"
    body += f"%l, %lo = tile.topk %a axis = 1 : {t} -> {kt}, {kp}\n"
    body += f"%m, %mo = tile.topk %a axis = 1 smallest : {t} -> {kt}, {kp}"
    results = {"s": (a.shape, element), "o": (a.shape, "i32")}
    for name in "lm":
        results |= {name: ((4, k), element), name + "o": ((4, k), "i32")}
    s, o, largest, where, smallest, there = apply(body, {"a": a}, results)
    w = a.astype(np.int64) if element[0] == "i" else a.astype(np.float64)
    up, down = (
        np.argsort(v, axis=1, kind="stable") for v in (w, -1 - w if element[0] == "i" else -w)
    )
    assert np.array_equal(o, up) and np.array_equal(there, up[:, :k])
    assert np.array_equal(where, down[:, :k])
    for got, order in ((s, up), (smallest, up[:, :k]), (largest, down[:, :k])):
        assert np.array_equal(bits(got), bits(np.take_along_axis(a, order, 1)))


@pytest.mark.parametrize("element", ["i64", "i32", "i16", "i8", "i4"])
def test_histogram(rng, element):
    a = rng.integers(-8 if element == "i4" else -20, 8 if element == "i4" else 40, 333).astype(
        NUMPY[element]
    )
    m = rng.integers(0, 2, 333).astype(np.bool_)
    t = tensor((333,), element)
    body = f"%h = tile.histogram %a : {t} -> tensor<16xi32>\n"
    body += f"%g = tile.histogram %a mask(%m : tensor<333xi1>) : {t} -> tensor<16xi32>"
    h, g = apply(body, {"a": a, "m": m}, {"h": ((16,), "i32"), "g": ((16,), "i32")})
    w = a.astype(np.int64)
    ok = (w >= 0) & (w < 16)
    assert np.array_equal(h, np.bincount(w[ok], minlength=16))
    assert np.array_equal(g, np.bincount(w[ok & m], minlength=16))


def test_philox():
    """Known answers of the authors' own test vectors, and a plain model of the rounds."""

    def model(counter, key):
        c, k = list(counter), list(key)
        for _ in range(10):
            p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [
                (p1 >> 32) ^ c[1] ^ k[0],
                p1 & 0xFFFFFFFF,
                (p0 >> 32) ^ c[3] ^ k[1],
                p0 & 0xFFFFFFFF,
            ]
            k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
        return c

    assert model((0, 0, 0, 0), (0, 0)) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    counter = np.array([0, 1, 2, -1, 12345, -(2**31)] * 7, np.int32)
    n = counter.size
    seed, stream = 0x0123456789ABCDEF, 77
    body = f"""%seed = arith.constant {seed} : i64
    %stream = arith.constant {stream} : i32
    %a, %b, %c, %d = tile.philox %seed, %stream, %n : tensor<{n}xi32>"""
    shapes = dict.fromkeys("abcd", ((n,), "i32"))
    got = apply(body, {"n": counter}, shapes)
    want = np.array(
        [model((int(c) % 2**32, stream, 0, 0), (seed & 0xFFFFFFFF, seed >> 32)) for c in counter],
        np.uint32,
    )
    for word, result in enumerate(got):
        assert np.array_equal(result.view(np.uint32), want[:, word])
    one = apply(body, {"n": counter}, {"b": ((n,), "i32")})
    assert np.array_equal(one.view(np.uint32), want[:, 1])
