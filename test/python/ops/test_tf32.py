# ruff: noqa: E501
"""tf32 on the CPU: an f32 whose low 13 bits are zero, rounded to nearest even wherever it is made.

Memory has no tf32, so the kernels below load f32, narrow it, and widen what they store.
"""

import subprocess
import sys

import numpy as np
import pytest
from tiles import DEVICE, apply, assert_close, launch

import kiln

EDGES = np.array(
    [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1.1754944e-38, 3.4028235e38,
     3.4019e38, -3.4028235e38, 6e-39],
    np.float32,
)  # fmt: skip


def rounded(x: np.ndarray) -> np.ndarray:
    """The nearest tf32, ties to even, in f32; by integers, for all that f32 holds."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    with np.errstate(all="ignore"):
        near = (bits + np.uint32(0xFFF) + (bits >> 13 & 1)) & ~np.uint32(0x1FFF)
    return np.where(np.isnan(x), np.float32(np.nan), near.view(np.float32))


def inputs(rng, n: int = 1 << 14) -> np.ndarray:
    """Random patterns, and every kind of tie with its neighbours."""
    patterns = rng.integers(0, 1 << 32, n, np.uint32)
    high = rng.integers(0, 1 << 19, n, np.uint32) << 13
    ties = high + np.uint32(0x1000)
    return np.concatenate(
        [p.view(np.float32) for p in (patterns, high, ties, ties - 1, ties + 1)] + [EDGES]
    )


def same(got, want) -> bool:
    both_nan = np.isnan(got) & np.isnan(want)
    return bool(np.all((got.view(np.uint32) == want.view(np.uint32)) | both_nan))


def through(body: str, n: int, **arrays) -> np.ndarray:
    """Runs a body on %x, %y, … as tf32; what it computes as %q comes back as f32."""
    wide, narrow = f"tensor<{n}xf32>", f"tensor<{n}xtf32>"
    narrowing = [f"%{name} = arith.truncf %{name}_f32 : {wide} to {narrow}" for name in arrays]
    text = "\n".join([*narrowing, body, f"%r = arith.extf %q : {narrow} to {wide}"])
    given = {f"{name}_f32": array for name, array in arrays.items()}
    return apply(text.replace("T", narrow), given, {"r": ((n,), "f32")})


def test_rounds_to_nearest_even(rng):
    x = inputs(rng)
    got = through("%q = arith.negf %x : T", x.size, x=x)
    assert same(got, -rounded(x))
    assert not np.any(got.view(np.uint32)[~np.isnan(x)] & 0x1FFF)


@pytest.mark.parametrize("element, dtype", [("f64", np.float64), ("f16", np.float16)])
def test_rounds_once_from_other_types(rng, element, dtype):
    values = inputs(rng, 4096)
    with np.errstate(all="ignore"):
        x = values.astype(dtype)
        if element == "f64":  # a bit that f32 drops decides some ties
            x = x * (1 + rng.choice([-1, 0, 1], x.size) * 2.0**-40)
    n = x.size
    op = "arith.truncf" if element == "f64" else "arith.extf"
    body = f"""
    %n = {op} %x : tensor<{n}x{element}> to tensor<{n}xtf32>
    %r = arith.extf %n : tensor<{n}xtf32> to tensor<{n}xf32>
    """
    got = apply(body, {"x": x}, {"r": ((n,), "f32")})
    with np.errstate(all="ignore"):
        step = 2.0 ** np.maximum(np.floor(np.log2(np.abs(x.astype(np.float64)))) - 10, -136)
        want = np.where(x == 0, x, np.rint(x / step) * step)
        want = np.where(np.isfinite(x), want, x).astype(np.float32)
    want[np.abs(want) > 3.4011622e38] = np.copysign(np.inf, want[np.abs(want) > 3.4011622e38])
    assert same(got, want)


@pytest.mark.parametrize("element, dtype", [("i32", np.int32), ("i64", np.int64), ("i8", np.int8)])
def test_integers_round_once(rng, element, dtype):
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, 4096, dtype=dtype, endpoint=True)
    if element == "i64":  # just beside ties: visible only in bits that f64 drops too
        x[:1024] = (rng.integers(1 << 10, 1 << 11, 1024) * 2 + 1 << 51) + rng.integers(-1, 2, 1024)
    body = f"""
    %n = arith.sitofp %x : tensor<4096x{element}> to tensor<4096xtf32>
    %r = arith.extf %n : tensor<4096xtf32> to tensor<4096xf32>
    %b = arith.fptosi %n : tensor<4096xtf32> to tensor<4096xi64>
    """
    got, back = apply(body, {"x": x}, {"r": ((4096,), "f32"), "b": ((4096,), "i64")})

    def nearest(v: int) -> int:
        drop = max(abs(v).bit_length() - 11, 0)
        half, kept = (1 << drop) >> 1, abs(v) >> drop
        rest = abs(v) - (kept << drop)
        kept += drop > 0 and (rest > half or (rest == half and kept & 1))
        return (kept << drop) * (1 if v >= 0 else -1)

    want = [nearest(int(v)) for v in x]
    assert np.array_equal(got, np.array(want, np.float64).astype(np.float32))
    assert back.tolist() == [min(w, 2**63 - 1) for w in want]


@pytest.mark.parametrize("op", ["addf", "subf", "mulf", "divf", "maximumf", "minnumf"])
def test_arithmetic_is_rounded_after_each_op(rng, op):
    x, y = (rng.standard_normal(1000).astype(np.float32) for _ in range(2))
    got = through(f"%q = arith.{op} %x, %y : T", 1000, x=x, y=y)
    combine = {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide,
               "maximumf": np.maximum, "minnumf": np.minimum}[op]  # fmt: skip
    # In f64 a sum or product of two tf32 is exact; a quotient is never near a tie of f32.
    want = rounded(combine(rounded(x).astype(np.float64), rounded(y)).astype(np.float32))
    assert same(got, want)


def test_functions(rng):
    x = rng.uniform(0.1, 4, 512).astype(np.float32)
    got = through("%e = math.exp %x : T\n%q = math.sqrt %e : T", 512, x=x)
    want = np.sqrt(rounded(np.exp(rounded(x).astype(np.float64)).astype(np.float32)).astype("f8"))
    assert_close(got, want, 2**-10)


def test_structure(rng):
    """Kept in memory, moved about, compared, combined and carried by a loop: the same values."""
    x, y = (rng.standard_normal(256).astype(np.float32) for _ in range(2))
    body = """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %less = arith.cmpf olt, %x, %y : T
    %low = arith.select %less, %x, %y : tensor<256xi1>, T
    %sorted = tile.sort %low axis = 0 : T -> T
    %m = tile.reshape %sorted : T -> tensor<16x16xtf32>
    %t = tile.transpose %m [1, 0] : tensor<16x16xtf32> -> tensor<16x16xtf32>
    %f = tile.reshape %t : tensor<16x16xtf32> -> T
    %half = arith.constant dense<0.5> : T
    %q = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %f) -> (T) {
      %n = arith.mulf %p, %half : T
      scf.yield %n : T
    }
    """
    got = through(body, 256, x=x, y=y)
    low = np.sort(np.minimum(rounded(x), rounded(y)))
    assert same(got, low.reshape(16, 16).T.ravel() * np.float32(0.125))


def test_reduce_scan_and_constants(rng):
    x = rng.integers(-8, 9, 64).astype(np.float32)
    table = rng.standard_normal(64).astype(np.float32)
    words = ", ".join(f"{v:.9e}" for v in rounded(table))
    body = f"""
    %n = arith.truncf %x : tensor<64xf32> to tensor<64xtf32>
    %k = arith.constant dense<[{words}]> : tensor<64xtf32>
    %s = tile.reduce %n axis = 0 : tensor<64xtf32> -> tensor<tf32> {{
    ^bb0(%a: tf32, %b: tf32):
      %c = arith.addf %a, %b : tf32
      tile.yield %c : tf32
    }}
    %t = tile.scan %n axis = 0 : tensor<64xtf32> -> tensor<64xtf32> {{
    ^bb0(%a: tf32, %b: tf32):
      %c = arith.maximumf %a, %b : tf32
      tile.yield %c : tf32
    }}
    %sum = arith.extf %s : tensor<tf32> to tensor<f32>
    %top = arith.extf %t : tensor<64xtf32> to tensor<64xf32>
    %con = arith.extf %k : tensor<64xtf32> to tensor<64xf32>
    """
    total, top, constant = apply(
        body, {"x": x}, {"sum": ((), "f32"), "top": ((64,), "f32"), "con": ((64,), "f32")}
    )
    assert total == x.sum()
    assert np.array_equal(top, np.maximum.accumulate(x))
    assert same(constant, rounded(table))


@pytest.mark.parametrize("flags", ["", "transpose_a", "transpose_b", "transpose_a transpose_b"])
def test_dot(rng, flags):
    m, n, k = 33, 50, 19
    a = rng.standard_normal((k, m) if "transpose_a" in flags else (m, k)).astype(np.float32)
    b = rng.standard_normal((n, k) if "transpose_b" in flags else (k, n)).astype(np.float32)
    c = rng.standard_normal((m, n)).astype(np.float32)
    shapes = ["x".join(map(str, x.shape)) for x in (a, b, c)]
    narrow = [
        f"%{name}t = arith.truncf %{name} : tensor<{shape}xf32> to tensor<{shape}xtf32>"
        for name, shape in zip("ab", shapes, strict=False)
    ]
    dot = f"%r = tile.dot %at, %bt, %c {flags} : tensor<{shapes[0]}xtf32>, tensor<{shapes[1]}xtf32> -> tensor<{shapes[2]}xf32>"
    got = apply("\n".join([*narrow, dot]), {"a": a, "b": b, "c": c}, {"r": (c.shape, "f32")})
    x, y = rounded(a).astype(np.float64), rounded(b).astype(np.float64)
    want = (x.T if "transpose_a" in flags else x) @ (y.T if "transpose_b" in flags else y) + c
    assert_close(got, want, 1e-6)
    # Which is what the precision does to f32 operands, to the bit.
    dot = f"%r = tile.dot %a, %b, %c {flags} precision = tf32 : tensor<{shapes[0]}xf32>, tensor<{shapes[1]}xf32> -> tensor<{shapes[2]}xf32>"
    assert same(apply(dot, {"a": a, "b": b, "c": c}, {"r": (c.shape, "f32")}), got)


def test_tf32x3_is_as_exact_as_f32(rng):
    """At least as good as three products of tf32 parts; on the host it is the f32 product itself."""
    a, b = rng.standard_normal((2, 64, 64)).astype(np.float32)
    c = np.zeros((64, 64), np.float32)
    t = "tensor<64x64xf32>"
    results = {
        precision: apply(
            f"%r = tile.dot %a, %b, %c precision = {precision} : {t}, {t} -> {t}",
            {"a": a, "b": b, "c": c}, {"r": (c.shape, "f32")},
        )
        for precision in ("ieee", "tf32x3", "tf32")
    }  # fmt: skip
    if DEVICE == "cpu":
        assert same(results["tf32x3"], results["ieee"])
    want = a.astype(np.float64) @ b.astype(np.float64)
    high_a, high_b = rounded(a), rounded(b)
    low_a, low_b = rounded(a - high_a), rounded(b - high_b)
    three = sum(x.astype("f8") @ y for x, y in ((high_a, high_b), (high_a, low_b), (low_a, high_b)))
    error = {p: np.linalg.norm(r - want) for p, r in results.items()}
    assert error["tf32x3"] <= 8 * np.linalg.norm(three.astype(np.float32) - want)
    assert error["tf32"] > 100 * error["tf32x3"]


@pytest.mark.host
def test_printed_as_the_f32_that_it_is():
    code = """
import sys; sys.path[:0] = ["FOLDER", "FOLDER/.."]
from tiles import launch
launch('''tile.kernel @k() {
  %x = arith.constant 1.5 : tf32
  tile.print "x" (%x) : tf32
  tile.print "x" hex (%x) : tf32
  tile.return
}''', [])
""".replace("FOLDER", str(__file__).rsplit("/", 1)[0])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["(0, 0, 0) x: 1.5", "(0, 0, 0) x: 0x3fc00000"]


@kiln.kernel
def narrowed(x: kiln.View, y: kiln.View):
    kiln.grid(1)
    t = x.load((0,), (256,)).to(kiln.tf32)
    y.store((0,), (t * t + 1.0).to(kiln.f32))


def test_from_python(rng):
    """Each result is rounded to tf32 again."""
    x, y = rng.standard_normal(256).astype(np.float32), np.zeros(256, np.float32)
    narrowed(x, y)
    square = rounded((rounded(x).astype(np.float64) ** 2).astype(np.float32))
    assert same(y, rounded(square + np.float32(1)))


def test_memory_refuses_it():
    with pytest.raises(kiln.CompileError, match="tf32"):
        launch(
            "tile.kernel @k(%y: !tile.view<?xtf32>) {\n tile.return\n}", [np.zeros(1, np.float32)]
        )
