# ruff: noqa: E501
"""Loops and branches that carry tensors, and what a program does beside its memory."""

import subprocess
import sys

import numpy as np
import pytest
from tiles import NUMPY, apply, assert_close, launch

pytestmark = pytest.mark.packed  # one file of each folder runs whole


def test_loops_carry_tensors(rng):
    """Swapped, shifted and reduced values of the iteration before; scalars beside."""
    a, b = (rng.standard_normal((8, 20)).astype(np.float32) for _ in range(2))
    body = """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %half = arith.constant dense<0.5> : tensor<8x20xf32>
    %x, %y, %n = scf.for %i = %c0 to %c5 step %c1 iter_args(%p = %a, %q = %b, %k = %c0)
        -> (tensor<8x20xf32>, tensor<8x20xf32>, index) {
      %m = arith.mulf %p, %half : tensor<8x20xf32>
      %s = arith.addf %m, %q : tensor<8x20xf32>
      %k1 = arith.addi %k, %i : index
      scf.yield %s, %p, %k1 : tensor<8x20xf32>, tensor<8x20xf32>, index
    }
    %nn = arith.index_cast %n : index to i32
    %z = tile.splat %nn : tensor<4xi32>
    """
    x, y, z = apply(
        body, {"a": a, "b": b}, {"x": ((8, 20), "f32"), "y": ((8, 20), "f32"), "z": ((4,), "i32")}
    )
    p, q = a, b
    for _ in range(5):
        p, q = p * np.float32(0.5) + q, p
    assert np.array_equal(x, p) and np.array_equal(y, q) and np.all(z == 10)


def test_carried_tensor_read_elsewhere(rng):
    """A carried tensor that is read transposed may not be updated in place."""
    a = rng.standard_normal((16, 16)).astype(np.float32)
    body = """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %x = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %a) -> tensor<16x16xf32> {
      %t = tile.transpose %p [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
      %s = arith.addf %t, %p : tensor<16x16xf32>
      %u = arith.subf %s, %a : tensor<16x16xf32>
      scf.yield %u : tensor<16x16xf32>
    }
    """
    p = a
    for _ in range(3):
        p = (p.T + p) - a
    assert np.array_equal(apply(body, {"a": a}, {"x": ((16, 16), "f32")}), p)


@pytest.mark.parametrize("use", ["plain", "read after", "as operand", "scaled"])
def test_accumulating_dot(rng, use):
    a, b = rng.standard_normal((16, 24)), rng.standard_normal((24, 16))
    a, b = a.astype(np.float32) / 8, b.astype(np.float32) / 8
    t = "tensor<16x16xf32>"
    operands = "tensor<16x24xf32>, tensor<24x16xf32>"
    inner = {
        "plain": f"%d = tile.dot %a, %b, %p : {operands} -> {t}",
        "read after": f"%e = tile.dot %a, %b, %p : {operands} -> {t}\n%d = arith.subf %e, %p : {t}",
        "as operand": f"%e = tile.dot %p, %p, %p : {t}, {t} -> {t}\n%d = tile.dot %a, %b, %e : {operands} -> {t}",
        "scaled": f"%h = arith.constant dense<0.25> : {t}\n%m = arith.mulf %p, %h : {t}\n%d = tile.dot %a, %b, %m : {operands} -> {t}",
    }[use]
    body = f"""
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %z = arith.constant dense<0.0> : {t}
    %x = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %z) -> {t} {{
      {inner}
      scf.yield %d : {t}
    }}
    """
    p, ab = np.zeros((16, 16)), a.astype(np.float64) @ b
    for _ in range(4):
        p = {"plain": ab + p, "read after": ab, "as operand": ab + p @ p + p, "scaled": ab + p / 4}[
            use
        ]
    assert_close(apply(body, {"a": a, "b": b}, {"x": ((16, 16), "f32")}), p, 1e-6)


def test_while_and_if(rng):
    a = rng.uniform(1, 2, (3, 30)).astype(np.float32)
    t = "tensor<3x30xf32>"
    body = f"""
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %limit = arith.constant 500.0 : f32
    %x, %n = scf.while (%p = %a, %k = %c0) : ({t}, index) -> ({t}, index) {{
      %m = tile.reshape %p : {t} -> tensor<90xf32>
      %r = tile.reduce %m axis = 0 : tensor<90xf32> -> tensor<f32> {{
      ^bb0(%u: f32, %v: f32):
        %w = arith.addf %u, %v : f32
        tile.yield %w : f32
      }}
      %s = tile.to_scalar %r : tensor<f32>
      %more = arith.cmpf olt, %s, %limit : f32
      scf.condition(%more) %p, %k : {t}, index
    }} do {{
    ^bb0(%p: {t}, %k: index):
      %d = arith.addf %p, %p : {t}
      %k1 = arith.addi %k, %c1 : index
      scf.yield %d, %k1 : {t}, index
    }}
    %c2 = arith.constant 2 : index
    %odd = arith.remui %n, %c2 : index
    %is = arith.cmpi eq, %odd, %c1 : index
    %y, %i = scf.if %is -> ({t}, i32) {{
      %g = arith.negf %x : {t}
      %one = arith.constant 1 : i32
      scf.yield %g, %one : {t}, i32
    }} else {{
      %two = arith.constant 2 : i32
      scf.yield %x, %two : {t}, i32
    }}
    %z = tile.splat %i : tensor<2xi32>
    """
    x, y, z = apply(
        body, {"a": a}, {"x": ((3, 30), "f32"), "y": ((3, 30), "f32"), "z": ((2,), "i32")}
    )
    p, k = a.copy(), 0
    while p.astype(np.float64).sum() < 500:
        p, k = p + p, k + 1
    assert (
        np.array_equal(x, p)
        and np.array_equal(y, -p if k % 2 else p)
        and np.all(z == (1 if k % 2 else 2))
    )


def test_nested_loops(rng):
    a = rng.standard_normal((4, 40)).astype(np.float32)
    t = "tensor<4x40xf32>"
    body = f"""
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %e = math.absf %a : {t}
    %x = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %a) -> {t} {{
      %q = arith.addf %p, %e : {t}
      %y = scf.for %j = %c0 to %i step %c1 iter_args(%r = %q) -> {t} {{
        %s = arith.subf %r, %p : {t}
        scf.yield %s : {t}
      }}
      scf.yield %y : {t}
    }}
    """
    p, e = a, np.abs(a)
    for i in range(3):
        r = p + e
        for _ in range(i):
            r = r - p
        p = r
    assert np.array_equal(apply(body, {"a": a}, {"x": ((4, 40), "f32")}), p)


def test_constant_tensors():
    body = """
    %x = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %y = arith.constant dense<[1, -2, 3, -4, 5]> : tensor<5xi8>
    %z = arith.constant dense<[1.0, 0.5, -1.5]> : tensor<3xbf16>
    %w = arith.constant dense<[1.0, 0.5, -1.5]> : tensor<3xf8E4M3FN>
    """
    x, y, z, w = apply(
        body,
        {},
        {"x": ((2, 3), "f32"), "y": ((5,), "i8"), "z": ((3,), "bf16"), "w": ((3,), "f8E4M3FN")},
    )
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]] and y.tolist() == [1, -2, 3, -4, 5]
    assert z.astype(float).tolist() == [1, 0.5, -1.5] and w.astype(float).tolist() == [1, 0.5, -1.5]


@pytest.mark.parametrize(
    "kind, value",
    [
        ("i64", -(2**40)),
        ("i32", -7),
        ("i16", 300),
        ("i8", -3),
        ("f32", 1.5),
        ("f64", -2.25),
        ("index", 12),
    ],
)
def test_scalar_arguments(kind, value):
    got = np.zeros(
        3,
        {
            "index": np.int64,
            "i64": np.int64,
            "i32": np.int32,
            "i16": np.int16,
            "i8": np.int8,
            "f32": np.float32,
            "f64": np.float64,
        }[kind],
    )
    memory = "i64" if kind == "index" else kind
    cast = "%s = arith.index_cast %v : index to i64" if kind == "index" else ""
    name = "%s" if cast else "%v"
    launch(
        f"""tile.kernel @k(%y: !tile.view<?x{memory}>, %v: {kind}) {{
      %z = arith.constant 0 : index
      {cast}
      %t = tile.splat {name} : tensor<3x{memory}>
      tile.store %t, %y[%z] : tensor<3x{memory}>, !tile.view<?x{memory}>
      tile.return }}""",
        [got, value],
    )
    assert np.all(got == value)


@pytest.mark.parametrize(
    "kind",
    ["i4", "i2", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN", "bf16"],
)
def test_narrow_scalar_arguments(rng, kind):
    """Any number of the type, as it is, and as the grid, a comparison and wider types see it."""
    whole = kind[0] == "i"
    wide, to, less, last = (
        ("i32", "extsi", "cmpi slt", "0") if whole else ("f32", "extf", "cmpf olt", "1.0")
    )
    high = 1 << int(kind[1:]) - 1 if whole else 0
    drawn = rng.integers(-high, high, 6) if whole else rng.standard_normal(6)
    drawn = (abs(drawn) if kind == "f8E8M0FNU" else drawn).astype(NUMPY[kind])
    text = f"""
    tile.kernel @k(%y: !tile.view<?x{kind}>, %w: !tile.view<?x{wide}>, %b: !tile.view<?xi8>,
                   %v: {kind}) grid {{
      %last = arith.constant {last} : {kind}
      %below = arith.{less}, %v, %last : {kind}
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %n = arith.select %below, %two, %one : index
      tile.grid %n
    }} {{
      %z = arith.constant 0 : index
      %t = tile.splat %v : tensor<12x{kind}>
      tile.store %t, %y[%z] : tensor<12x{kind}>, !tile.view<?x{kind}>
      %u = arith.{to} %v : {kind} to {wide}
      %s = tile.splat %u : tensor<5x{wide}>
      tile.store %s, %w[%z] : tensor<5x{wide}>, !tile.view<?x{wide}>
      %last = arith.constant {last} : {kind}
      %below = arith.{less}, %v, %last : {kind}
      %bit = arith.extui %below : i1 to i8
      %p = tile.program_id x
      %r = tile.splat %bit : tensor<1xi8>
      tile.store %r, %b[%p] : tensor<1xi8>, !tile.view<?xi8>
      tile.return
    }}"""
    for value in drawn:
        same, wider = np.zeros(12, NUMPY[kind]), np.zeros(5, NUMPY[wide])
        below = np.full(2, 7, np.int8)
        number = int(value) if whole else float(value)
        launch(text, [same, wider, below, number], None)
        assert np.all(same == value) and np.all(wider == number)
        assert below.tolist() == ([1, 1] if number < float(last) else [0, 7])


def test_grid_and_ids():
    """Every program of a three-dimensional grid runs once, and knows where it is."""
    text = """
    tile.kernel @k(%y: !tile.view<?x?x?xi64>) {
      %i = tile.program_id x
      %j = tile.program_id y
      %k = tile.program_id z
      %a = tile.num_programs x
      %b = tile.num_programs y
      %p = arith.muli %k, %b : index
      %q = arith.addi %p, %j : index
      %r = arith.muli %q, %a : index
      %s = arith.addi %r, %i : index
      %t = arith.index_cast %s : index to i64
      %u = tile.splat %t : tensor<1x1x1xi64>
      tile.store %u, %y[%k, %j, %i] : tensor<1x1x1xi64>, !tile.view<?x?x?xi64>
      tile.return
    }"""
    y = np.full((4, 5, 6), -1, np.int64)
    launch(text.replace("program_id x", "program_id x"), [y], (6, 5, 4))
    assert np.array_equal(y.ravel(), np.arange(120))


def test_assert_names_the_place():
    text = """
    tile.kernel @k(%x: !tile.view<?xf32>) {
      %i = tile.program_id x
      %t = tile.load %x[%i] : !tile.view<?xf32> -> tensor<1xf32>
      %z = arith.constant dense<0.0> : tensor<1xf32>
      %ok = arith.cmpf oge, %t, %z : tensor<1xf32>
      tile.assert %ok, "a negative number" : tensor<1xi1>
      tile.return
    }"""
    launch(text, [np.ones(5, np.float32)], (5,))
    with pytest.raises(Exception, match="a negative number"):
        launch(text, [np.array([1, 2, -3, 4], np.float32)], (4,))


def test_print(tmp_path):
    """Lines on standard output: program, indices, prefix and value."""
    code = """
import numpy as np
from tiles import launch
launch('''
tile.kernel @k(%x: !tile.view<?xf32>) {
  %z = arith.constant 0 : index
  %i = tile.program_id x
  %t = tile.load %x[%z] : !tile.view<?xf32> -> tensor<2xf32>
  tile.print "value" (%t) : tensor<2xf32>
  %n = arith.constant -1 : i8
  tile.print "byte" hex (%n) : i8
  tile.print "index" (%i) : index
  tile.return
}''', [np.array([1.5, -2], np.float32)])
"""
    import os

    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join([here, *sys.path])})  # fmt: skip
    lines = done.stdout.splitlines()
    assert lines == [
        "(0, 0, 0) [0] value: 1.5",
        "(0, 0, 0) [1] value: -2",
        "(0, 0, 0) byte: 0xff",
        "(0, 0, 0) index: 0",
    ]


@pytest.mark.parametrize("value", [0, 1])
def test_branch_without_else(value):
    text = """
    tile.kernel @k(%y: !tile.view<?xf32>, %n: index) {
      %c0 = arith.constant 0 : index
      %one = arith.constant dense<1.0> : tensor<4xf32>
      %is = arith.cmpi eq, %n, %c0 : index
      scf.if %is {
        tile.store %one, %y[%c0] : tensor<4xf32>, !tile.view<?xf32>
      }
      tile.return
    }"""
    y = np.zeros(4, np.float32)
    launch(text, [y, value])
    assert np.all(y == (1 if value == 0 else 0))
