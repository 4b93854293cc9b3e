"""What is read before a write keeps its value, however late it is used and however the write gets
there: through the view that was read or one that overlaps it."""

import itertools

import kernel_check
import pytest
from kernel_writer import Case, Parameter, Type

READS = [
    "t = a.load(0, (16,))",
    "t = a.load(2, (16,)) // 3 + a.load(0, (16,))",
    "t = a.gather(15 - kiln.arange(16))",
    "t = kiln.maximum(a.load(40, (16,), pad=5), a.load(1, (16,)))",
]
WRITES = {
    "a store": "b.store(0, kiln.full((16,), 7, kiln.i32))",
    "a store of the value": "a.store(1, t)",
    "an element": "b[4] = kiln.i32(99)",
    "a scatter": "b.scatter(kiln.arange(8) * 2, kiln.full((8,), 9, kiln.i32))",
    "an atomic": "u = kiln.atomic_add(b, kiln.arange(16), t)",
    "a loop": "for i in range(n):\n        b[i * 3] = kiln.i32(i) + 50",
    "a branch": "if n > 1:\n        b.store(1, t * 2)\n    else:\n        a[0] = n",
}
USES = {
    "as it is": "out.store(0, t)",
    "in arithmetic": "out.store(3, t * 3 + b.load(0, (16,)))",
    "in a reduction": "out[2] = kiln.sum(t) + kiln.max(t)",
    "in a condition": "if kiln.min(t) < a[4]:\n        out.store(1, t)",
    "in a loop that writes": (
        "s = t + 1\n    for j in range(3):\n        s = s + t\n        a.store(j, s)\n"
        "    out.store(0, s)"
    ),
    "in a while": (
        "k = kiln.i32(0)\n    while k < 3 and kiln.max(t) > k:\n        b.store(k, t)\n"
        "        k = k + 1\n        out[k] = kiln.sum(t)"
    ),
    "in a product": (
        "m = kiln.reshape(kiln.cast(t, kiln.f32), (4, 4))\n"
        "    out.store(0, kiln.cast(kiln.reshape(kiln.dot(m, m.T), (16,)), kiln.i32))"
    ),
    "sorted": "out.store(0, kiln.sort(t) + t)",
    "where it came from": "b.store(1, t)\n    a.store(0, t + 1)",
}
CHIPS = ["emu:sm_90a", "emu:gfx942", "emu:gfx1201", "emu:gfx950"]
COMBINED = [
    (f"{write}, {use}", i) for i, (write, use) in enumerate(itertools.product(WRITES, USES))
]


@pytest.mark.drawn
@pytest.mark.parametrize("pair, number", COMBINED, ids=[pair for pair, _ in COMBINED])
def test_a_value_read_before(pair, number, monkeypatch):
    monkeypatch.setenv("KILN_COMPILE_IN_PROCESS", "1")
    write, use = pair.split(", ")
    lines = ["kiln.grid(1)", READS[number % len(READS)], WRITES[write], USES[use]]
    text = "@kiln.kernel\ndef kernel(a: kiln.View, b: kiln.View, out: kiln.View, n: kiln.i32):\n"
    text += "".join(f"    {line}\n" for line in lines)
    views = [
        Parameter("a", "x", "i32", ((0, 40, 1),), False),
        Parameter("b", "x", "i32", ((1, 43, 1),), False),
        Parameter("out", "y", "i32", ((0, 24, 1),), False),
    ]
    bases = {"x": Type("i32", (44,)), "y": Type("i32", (24,))}
    case = Case(number, text, bases, views, {"n": ("i32", number % 4)})
    wrong = kernel_check.check(case, ["cpu", CHIPS[number % len(CHIPS)]])
    assert not wrong, f"{wrong}\n{text}"
