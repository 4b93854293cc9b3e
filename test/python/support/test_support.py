"""Each cell of the support table, op by type by target: the compiler says what the table says, and
what the table says can be done is run, on the host or on an emulated chip, and compared with
Python's numbers. What an op's own verifier refuses is no cell, and is asked once. With
KILN_TEST_DEVICE only the cells of that device's target are run, there, and all of them.

The host, and one chip of each family, are asked for every cell, and run it. A chip that is like
another is asked for every cell of the ops in which they differ, and runs it; the rest in pairs: each
op in some types and each type in some ops, others each time. With `--whole` every chip runs every cell.

A kernel of one op takes as long to compile as to start the passes; so the cells of a row are one
kernel, and each is a kernel of its own with `--whole`."""

import math
import os
import re
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from isa import check, has_checker
from placing import Placement
from references import ATOMIC, ELEMENTWISE, WHOLE, WIDTHS, philox
from seeds import is_whole

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "utils/support"))
import probes  # noqa: E402
import table  # noqa: E402

import kiln  # noqa: E402
from kiln import PackedArray, _native  # noqa: E402

TABLE = table.read()
VERIFIED = table.read_verified()
PROBES = {probe.op: probe for probe in probes.PROBES}
# Where a target's code runs on any machine, or on the one that was asked for.
DEVICES = {t: "cpu" if t == "cpu" else "emu:" + t.split(":")[1] for t in TABLE}
if chosen := os.environ.get("KILN_TEST_DEVICE"):
    target = _native.Device.open(chosen).target
    DEVICES = {name: chosen for name in TABLE if chosen == DEVICES[name] or name == target}
CASES = [(t, p.op, e) for t in TABLE for p in probes.PROBES for e in probes.TYPES]
OWN = {t: TABLE[t] if chosen or is_whole() else table.own_rows(TABLE, t) for t in TABLE}
ROWS = [(t, p.op) for t in DEVICES for p in probes.PROBES if p.op in OWN[t]]
LIKE = [target for target in DEVICES if OWN[target].keys() != TABLE[target].keys()]
SOME_TYPES = 1  # in which an op is asked for where a chip is like another
# On an emulated chip the target's own code is the same at each level.
LEVEL = 0 if all(device.startswith(("emu:", "cpu")) for device in DEVICES.values()) else 3
TOGETHER = 16  # ops that are one kernel there
ALONE = {"tile.extern_call"}  # ops that are no part of a kernel: it calls each function as one type
DTYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu, "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn, "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8, "i4": ml_dtypes.int4,
    "i2": ml_dtypes.int2,
}  # fmt: skip
PACKED = {"f6E2M3FN", "f6E3M2FN", "f4E2M1FN", "i4", "i2"}
# What a function's argument is divided by, or what is added to it, to be where it is defined.
UNIT = {"math.acos", "math.asin", "math.atanh"}
POSITIVE = {
    "tile.scan",
    "tile.reduce",
    "math.acosh",
    "math.log",
    "math.log10",
    "math.log1p",
    "math.log2",
    "math.sqrt",
    "math.rsqrt",
    "math.powf",
    "arith.fptoui to i32",
}
DIVISIONS = {"divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"}


def tool():
    return str((Path(os.environ.get("KILN_BUILD", ROOT / "build")) / "bin/tile-opt").resolve())


def is_real(element):
    return element[0] in "ftb"


def stored(element):
    return probes.STORAGE.get(element, (element,))[0]


def random_values(element, op, letter, rng):
    """16 values that the type holds, of a size at which nothing overflows."""
    if is_real(element):
        dtype = DTYPES[stored(element)]
        pool = rng.uniform(0.5, 2, 16)
        if op in ("tile.scan", "tile.reduce") and np.dtype(dtype).itemsize == 1:
            pool = rng.permutation([1.0] * 3 + [0.0] * 13)  # narrow sums that are exact
        if op == "arith.fptosi from f32":
            pool = rng.uniform(0.1, 0.9, 16)
        if not (op in POSITIVE or element == "f8E8M0FNU"):
            pool *= rng.choice([-1, 1], 16)
        if op in UNIT:
            pool = pool / 4
        elif op == "math.acosh":
            pool = pool + 1
        values = pool.astype(np.float32).astype(dtype)
        if element == "tf32":
            values = (values.view(np.uint32) & ~np.uint32(0x1FFF)).view(np.float32)
        return [float(v) for v in values.astype(np.float64)]
    bits = WIDTHS[element]
    if op == "tile.extern_call":
        return [int(v) for v in rng.integers(-100, 100, 16)]
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    if op.split(".")[-1] in DIVISIONS and letter == "b":
        low, high = (-1, -1) if bits == 1 else (1, high)
    if op.split(".")[-1] in ("shli", "shrsi", "shrui") and letter == "b":
        if bits == 1:
            return [0] * 16
        low, high = 0, min(bits - 1, high)
    if op == "tile.assert" or op == "tile.assume":
        return [-1] * 16
    if op == "arith.sitofp from i32" or op == "arith.trunci from i64":
        low, high = -2, 1
    return [int(v) for v in rng.integers(low, high, 16, endpoint=True)]


def encode(values, element):
    """The array that a view of the type takes."""
    kind = stored(element)
    if element == "i1":
        return np.array([v & 1 for v in values], np.int8)
    array = np.array(values, np.float64 if is_real(kind) else np.int64).astype(DTYPES[kind])
    return PackedArray.from_numpy(array) if kind in PACKED else array


def decode(array, element):
    array = array.to_numpy() if isinstance(array, PackedArray) else array
    kind = float if is_real(element) else int
    return [kind(v) for v in array.astype(np.float64 if is_real(element) else np.int64)]


def agrees(got, want, element, widest):
    """Integers wrap; floats are as near as the type and the type computed in allow."""
    if not is_real(element):
        mask = (1 << WIDTHS[element]) - 1
        return int(got) & mask == int(want) & mask
    info = ml_dtypes.finfo(DTYPES[stored(element)])
    biggest, eps = float(info.max), float(info.eps) if element != "tf32" else 2.0**-10
    if element == "f8E8M0FNU" and want < float(info.tiny):
        return math.isnan(got)
    if abs(want) > biggest:
        return math.isnan(got) or abs(got) >= biggest
    slack = float(info.smallest_subnormal) if element != "f8E8M0FNU" else 0.0
    return abs(got - want) <= max(eps, 8 * widest) * abs(want) + slack


def expected(probe, values, old, element):
    """What is in %o afterwards."""
    x, y, z = (values.get(letter, [0] * 16) for letter in "abc")
    if probe.op.startswith("tile.atomic_rmw"):
        combine = ATOMIC[probe.op.split(" ")[1]]
        return [combine(o, v, element) for o, v in zip(old, x, strict=True)]
    if probe.op == "tile.atomic_cas":
        return [b if o == a else o for o, a, b in zip(old, x, y, strict=True)]
    if probe.op in ("tile.kernel", "tile.splat"):
        return [1] * 16
    if probe.op == "tile.philox":
        return [philox(v & 0xFFFFFFFF, 3, 7) for v in x]
    if probe.op == "tile.bitcast":
        return flipped(x, element)
    if probe.op in WHOLE:
        return [float(v) if is_real(element) else v for v in WHOLE[probe.op](x, y, element)]
    return [ELEMENTWISE[probe.op](*v, element) for v in zip(x, y, z, strict=True)]


def flipped(values, element):
    """The lowest bit of each byte of the packed values, flipped."""
    if element == "i1":
        return [v ^ 1 if i % 8 == 0 else v for i, v in enumerate(values)]
    array = encode(values, element)
    if isinstance(array, PackedArray):
        return decode(PackedArray(array.data ^ 1, array.shape, array.dtype), element)
    return decode((array.view(np.uint8) ^ 1).view(array.dtype), element)


class Run:
    """An op of one type: what it is given, and what is to come of it."""

    def __init__(self, probe, element):
        rng = np.random.default_rng()
        self.probe, self.element = probe, element
        self.source = source = element if probe.source == "E" else probe.source
        results = {"E": element, "acc": probes.accumulator(element)}
        self.result = results.get(probe.result, probe.result)
        self.values = {x: random_values(source, probe.op, x, rng) for x in probe.inputs}
        self.old = random_values(self.result, probe.op, "o", rng) if probe.raw else [1] * 16
        if probe.op == "tile.atomic_cas":
            pairs = zip(self.values["a"], self.old, strict=True)
            self.old = [a if i % 2 else o for i, (a, o) in enumerate(pairs)]
        self.out = encode(self.old, self.result)
        self.extra = random_values(source, probe.op, "a", rng) if probe.extra else []

    def place(self, placement):
        """The kernel's arguments."""
        probe, element = self.probe, self.element
        given = [encode(self.values[letter], self.source) for letter in probe.inputs]
        if probe.op in ("tile.kernel", "tile.splat"):
            given.append(True if element == "i1" else 1.0 if is_real(element) else 1)
        elif probe.extra:
            given.append(encode(self.extra, self.source))
            if probe.op in ("tile.subview", "tile.address", "tile.view_from_pointer"):
                self.values["a"] = self.extra
            if probe.op == "tile.view_from_pointer":
                self.kept = given.pop()
                given.append(placement.address(self.kept))
        return [placement.place(value) for value in [*given, self.out]]

    def check(self):
        probe, source, result = self.probe, self.source, self.result
        widest = 1e-16 if result == "f64" and source in ("f64", "f32") else 6e-8
        if probe.op == "tile.dot tf32":
            widest = 2**-12
        absolute = 0.0
        if probe.op.startswith("tile.dot") and is_real(result):
            # What is rounded is a sum's largest part, which may be gone from the sum.
            peak = max((abs(v) for some in self.values.values() for v in some), default=0.0)
            absolute = 16 * widest * peak**2
        got = decode(self.out, result)
        computed = source if probe.source == "E" else self.element
        want = expected(probe, self.values, self.old, computed)
        if is_real(result) and probe.op in ("tile.scan", "tile.reduce"):
            if self.element == "f8E8M0FNU":
                return  # it holds no sums
            widest = float(ml_dtypes.finfo(DTYPES[stored(result)]).eps) * 16
            if result == "tf32":
                widest = 2.0**-10 * 16
        wrong = [
            (index, g, w)
            for index, (g, w) in enumerate(zip(got, want, strict=True))
            if not agrees(g, w, result, widest) and not abs(g - w) <= absolute
        ]
        assert not wrong, f"expected {want}, got {got} for {self.values}"


class Attempts:
    """What fails is said of each cell, behind those that do not."""

    def __init__(self, target):
        self.target, self.failures = target, []

    def attempt(self, action, cells, *more):
        try:
            action(self.target, cells, *more)
        except Exception as failure:
            failure.add_note(f"{', '.join(f'{p.op} of {e}' for p, e in cells)} on {self.target}")
            self.failures.append(failure)

    def raise_all(self):
        if self.failures:
            raise ExceptionGroup(self.target, self.failures)


def kernels_of(cells):
    """Those that are one kernel."""
    apart = [[cell] for cell in cells if is_whole() or cell[0].op in ALONE]
    joined = [cell for cell in cells if [cell] not in apart]
    return [*apart, joined] if joined else apart


def compiled(target, cells, kernel_target, **fields):
    """One kernel of some cells; if it is refused, by the first that is."""
    texts = [probe.kernel(element, kernel_target) for probe, element in cells]
    text = texts[0] if len(texts) == 1 else probes.join(texts)
    request = {"source": text.encode(), "target": target, "isolation": 0, **fields}
    try:
        return _native.compile(None, None, request)[0]
    except kiln.CompileError:
        for cell in cells if len(cells) > 1 else []:
            compiled(target, [cell], kernel_target, **fields)
        raise


def run(target, cells, level):
    opened = _native.Device.open(DEVICES[target])
    artifact = compiled(opened.target, cells, target, opt_level=level)
    if any(p.op == "tile.extern_call" and e not in probes.C_ABS for p, e in cells):
        return  # no library has a function of that type
    placement = Placement(DEVICES[target])
    runs = [Run(probe, element) for probe, element in cells]
    arguments = [value for each in runs for value in each.place(placement)]
    opened.load(artifact).launch("probe", arguments)
    placement.fetch()
    attempts = Attempts(target)
    for each in runs:
        attempts.attempt(lambda *_, each=each: each.check(), [(each.probe, each.element)])
    attempts.raise_all()


def look(target, cells, links):
    """Looks at the code of the target itself, and at what is linked of it: a binary beside assembly,
    which the checker assembles, is generated once more."""
    options = {} if links else {"options": "stop-after=asm"}
    artifact = compiled(target, cells, target, keep_stages=["asm"], **options)
    assembly = bytes(artifact.section("asm"))
    assert assembly
    if target.startswith("amdgpu:"):
        assert ("binary" in artifact.sections) == links
        if has_checker():
            check(assembly)


def test_every_op_type_and_target_has_an_answer():
    assert len(CASES) == len(TABLE) * len(PROBES) * len(probes.TYPES)
    assert len(CASES) == sum(len(row) for rows in TABLE.values() for row in rows.values())
    for target, op, element in CASES:
        answer = TABLE[target][op][element]
        assert answer in table.WORDS or answer.startswith("refused: "), (target, op)
    assert list(TABLE) == table.targets(tool())


def names_of_ops(pattern="*.td"):
    names = set()
    for path in (ROOT / "include/kiln/Dialect/Tile/IR").glob(pattern):
        names |= set(
            re.findall(r"^def \w+\s*:\s*Tile_\w*(?:Op|Query)<\"(\w+)\"", path.read_text(), re.M)
        )
    return names


def test_every_op_of_the_dialect_has_a_round_trip_and_an_invalid_test():
    texts = {True: "", False: ""}
    for path in (ROOT / "test/Dialect/Tile").glob("*.mlir"):
        texts["-invalid" in path.name] += path.read_text()
    names = names_of_ops()
    assert len(names) > 50
    for invalid, text in texts.items():
        missing = {name for name in names if not re.search(rf"\btile\.{name}\b", text)}
        assert not missing, f"{'invalid' if invalid else 'round-trip'} tests of {missing}"


def test_every_op_of_the_dialect_has_a_row():
    names = names_of_ops()
    asked = {probe.name.removeprefix("tile.") for probe in probes.PROBES}
    # part of other ops' probes
    every = {"grid", "return", "alloc", "yield", "pointer_from_address"}
    # No kernel is written with what decisions are realised by.
    groups = ("Layout", "Schedule", "Instruction", "Thread", "TensorMemory")
    realised = set().union(*(names_of_ops(f"Tile{group}Ops.td") for group in groups))
    assert names - asked - realised == every


def test_the_page_is_made_of_the_table():
    assert table.PAGE.read_text() == table.render(TABLE)


def test_verifiers_say_what_the_table_says():
    assert not list(table.differences(VERIFIED, table.verify(tool(), VERIFIED)))


def asked_of(target, rng):
    """The cells that the compiler is asked for."""
    cells = table.cells(VERIFIED)
    if OWN[target].keys() == TABLE[target].keys():
        return cells
    types, chip = rng.permutation(probes.TYPES).tolist(), list(TABLE).index(target)
    some = {}
    for number, probe in enumerate(probes.PROBES):
        first = (number + chip) * SOME_TYPES
        some[probe.op] = [types[(first + i) % len(types)] for i in range(SOME_TYPES)]
    return [(p, e) for p, e in cells if p.op in OWN[target] or e in some[p.op]]


def is_run(target, probe, element):
    return probe.op in OWN[target] and not table.is_refused(TABLE[target][probe.op][element])


@pytest.mark.parametrize("target", DEVICES)
def test_the_compiler_says_what_the_table_says(rng, target):
    """The cells that `test_row` compiles, which fails if one is refused, are lowered there alone."""
    asked = asked_of(target, rng)
    lowered = [cell for cell in asked if is_run(target, *cell)]
    answers = table.classify(tool(), target, asked, TABLE[target], lowered)
    held = {op: {e: TABLE[target][op][e] for e in row} for op, row in answers.items()}
    assert not list(table.differences(held, answers))


@pytest.mark.parametrize("target, op", ROWS, ids=["-".join(row) for row in ROWS])
def test_row(rng, target, op):
    """An op in each type that the target does not refuse. The target's own code is looked at in half of
    them, others each time, and linked in one; the host's is optimised in half of them."""
    cells = [(PROBES[op], e) for e, a in TABLE[target][op].items() if not table.is_refused(a)]
    half = [cells[i] for i in rng.permutation(len(cells))[: -(-len(cells) // 2)]]
    others, attempts = [cell for cell in cells if cell not in half], Attempts(target)
    if target == "cpu":
        for cells, level in ((half, 3), (others, 3 if is_whole() else 0)):
            for some in kernels_of(cells):
                attempts.attempt(run, some, level)
        attempts.raise_all()
        return
    for some in kernels_of(cells):
        attempts.attempt(run, some, LEVEL)
    for some in kernels_of(half):
        attempts.attempt(look, some, False)
    attempts.attempt(look, half[:1], True)
    attempts.raise_all()


@pytest.mark.parametrize("target", LIKE)
def test_pairs_of_op_and_type(rng, target):
    """Where a chip is like another: each op in one type."""
    attempts, cells, types = Attempts(target), [], rng.permutation(probes.TYPES).tolist()
    for number, (op, row) in enumerate(TABLE[target].items()):
        wanted = types[number % len(types) :] + types[: number % len(types)]
        if op not in OWN[target]:
            cells.append((PROBES[op], next(e for e in wanted if not table.is_refused(row[e]))))
    for first in range(0, len(cells), TOGETHER):
        for some in kernels_of(cells[first : first + TOGETHER]):
            attempts.attempt(run, some, LEVEL)
    attempts.raise_all()
