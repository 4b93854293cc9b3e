"""Random loops with random stages and orders give the numbers of the loops as they are written.

A loop is drawn, then stages and orders for its ops. What is legal must be accepted, what is not must
be refused with an error that names an op, and all that is accepted must agree to the bit with an
interpreter that runs one iteration after the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
import pytest
from pinned import build

import kiln

ROWS = 96  # of each view; a tensor has four
LANES = {"sm_90a": 32, "sm_80": 32, "gfx942": 64}
TARGETS = {"sm_90a": "nvptx", "sm_80": "nvptx", "gfx942": "amdgcn"}
FUNCTIONS: dict[str, Callable] = {
    "addi": np.add, "subi": np.subtract, "muli": np.multiply, "xori": np.bitwise_xor,
    "maxsi": np.maximum,
}  # fmt: skip
TYPES = {"tensor": "!t", "scalar": "i32"}


@dataclass
class Op:
    """One op of a loop's body: its text, with a mark where its decisions stand, and what it does."""

    text: str
    uses: list[str]
    makes: str
    run: Callable[[dict, dict, int], object]
    # The views that it accesses: none, one, or, if it is a region, perhaps several.
    views: tuple[str, ...] = ()
    is_load: bool = False
    is_region: bool = False
    is_split: bool = False

    def write(self, stage: int | None, order: int | None) -> str:
        prefix = "" if re.search(r"\btile\.(load|store|splat)\b.*@", self.text) else "tile."
        decisions = [] if stage is None else [f'{prefix}role = "all"', f"{prefix}stage = {stage}"]
        if order is not None:
            decisions.append(f"{prefix}order = {order}")
        if self.views and not self.is_region and stage is None:
            decisions = ['role = "all"']
        if self.is_split:
            decisions.append("tile.split_loop")
        return self.text.replace("@", "{" + ", ".join(decisions) + "}")


@dataclass
class Loop:
    """A loop's ops, the values that it carries, and where it runs from and in which steps."""

    chip: str
    ops: list[Op] = field(default_factory=list)
    carried: list[tuple[str, str, str, str]] = field(default_factory=list)
    stored: list[str] = field(default_factory=list)
    is_unsigned: bool = False
    index: str = "index"
    lower: int = 0
    step: int = 1
    are_constant: bool = False


class Writer:
    """Draws a loop."""

    def __init__(self, rng: np.random.Generator, chip: str) -> None:
        self.rng = rng
        self.loop = Loop(chip)
        self.values = {"tensor": ["one", "two"], "scalar": ["s3", "s5"]}
        self.count = 0

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def pick(self, options):
        return options[self.rng.integers(len(options))]

    def value(self, kind: str) -> str:
        """One of the latest, mostly."""
        values = self.values[kind]
        return self.pick(values[-4:] if self.chance(0.6) else values)

    def new(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def add(self, kind: str, op: Op) -> str:
        self.loop.ops.append(op)
        if kind:
            self.values[kind].append(op.makes)
        return op.makes

    def draw(self) -> Loop:
        loop = self.loop
        loop.index = "index" if self.chance(0.7) else "i32"
        loop.is_unsigned = self.chance(0.2)
        loop.lower, loop.step = int(self.rng.integers(3)), int(self.rng.integers(1, 4))
        loop.are_constant = self.chance(0.3)
        kinds = ["tensor", "scalar"]
        kinds += [self.pick(["tensor", "scalar"]) for _ in range(self.rng.integers(3))]
        for number, kind in enumerate(kinds):
            self.values[kind].append(f"k{number}")
        steps = [self.load, self.binary, self.binary, self.scalar, self.splat, self.store]
        steps += [self.condition, self.nested, self.far_load]
        self.load()
        for _ in range(self.rng.integers(3, 8)):
            self.pick(steps)()
        self.store()
        for number, kind in enumerate(kinds):
            start = self.pick(["one", "two"] if kind == "tensor" else ["s3", "s5"])
            last = self.value(kind)
            while last in (f"k{number}", start):  # which would not change
                last = self.pick(self.values[kind])
            loop.carried.append((f"k{number}", kind, start, last))
            if number == 0 or self.chance(0.8):
                loop.stored.append(f"k{number}")
        self.drop_unused()
        return loop

    def drop_unused(self) -> None:
        """Decisions about what nothing uses are refused."""
        loop = self.loop
        last = {name: handed for name, _, _, handed in loop.carried}
        makers = {op.makes: op for op in loop.ops if op.makes}
        work = [x for op in loop.ops if op.views and not op.is_load for x in op.uses]
        work += [op.makes for op in loop.ops if op.is_region and op.views] + loop.stored
        needed: set[str] = set()
        while work:
            value = work.pop()
            if value not in needed:
                needed.add(value)
                work += makers[value].uses if value in makers else []
                work += [last[value]] if value in last else []
        loop.carried = [each for each in loop.carried if each[0] in needed]
        loop.ops = [op for op in loop.ops if op.makes in needed or (op.views and not op.is_load)]

    def binary(self) -> str:
        return self.make_binary("tensor")

    def scalar(self) -> str:
        if self.chance(0.3):
            name = self.new()
            run = lambda env, memory, iv: np.int32(iv)  # noqa: E731
            text = f"%{name} = arith.index_cast %iv @ : index to i32"
            return self.add("scalar", Op(text, [], name, run))
        return self.make_binary("scalar")

    def make_binary(self, kind: str) -> str:
        name, x, y = self.new(), self.value(kind), self.value(kind)
        while x == y or {x, y} <= {"one", "two", "s3", "s5"}:  # which would be folded
            x, y = self.pick(self.values[kind]), self.pick(self.values[kind])
        function = self.pick(list(FUNCTIONS))

        def run(env: dict, memory: dict, iv: int):
            return FUNCTIONS[function](env[x], env[y])

        text = f"%{name} = arith.{function} %{x}, %{y} @ : {TYPES[kind]}"
        return self.add(kind, Op(text, [x, y], name, run))

    def splat(self) -> str:
        name, x = self.new(), self.value("scalar")

        def run(env: dict, memory: dict, iv: int):
            return np.full((4, LANES[self.loop.chip]), env[x], np.int32)

        return self.add("tensor", Op(f"%{name} = tile.splat %{x} @ : !t", [x], name, run))

    def load(self) -> str:
        name, by = self.new(), int(self.rng.integers(2))

        def run(env: dict, memory: dict, iv: int):
            return memory["a"][4 * (iv + by) :][:4].copy()

        text = f"%{name} = tile.load %a[%row{by}, %c0] @ : !view -> !t"
        return self.add("tensor", Op(text, [], name, run, ("a",), is_load=True))

    def far_load(self) -> str:
        """From where a scalar says."""
        x, masked, place, name = self.value("scalar"), self.new(), self.new(), self.new()

        def run(env: dict, memory: dict, iv: int):
            return memory["a"][int(env[place]) :][:4].copy()

        text = f"%{masked} = arith.andi %{x}, %s60 @ : i32"
        self.add("scalar", Op(text, [x], masked, lambda env, memory, iv: env[x] & np.int32(60)))
        text = f"%{place} = arith.index_cast %{masked} @ : i32 to index"
        self.add("", Op(text, [masked], place, lambda env, memory, iv: env[masked]))
        text = f"%{name} = tile.load %a[%{place}, %c0] @ : !view -> !t"
        return self.add("tensor", Op(text, [place], name, run, ("a",), is_load=True))

    def store(self) -> str:
        """To a place of the iteration's own, or to one that all write."""
        x, view = self.value("tensor"), self.pick(["b", "b", "c"])
        row = "row0" if view == "b" else "c0"

        def run(env: dict, memory: dict, iv: int):
            memory[view][4 * iv if view == "b" else 0 :][:4] = env[x]

        text = f"tile.store %{x}, %{view}[%{row}, %c0] @ : !t, !view"
        return self.add("", Op(text, [x], "", run, (view,)))

    def condition(self) -> str:
        """A choice, by a place in the loop or by a scalar; one branch may store."""
        name, x, y, z = self.new(), *(self.value("tensor") for _ in range(3))
        stores = self.chance(0.4)
        uses, is_late = [x, y, z], self.chance(0.6)
        if is_late:
            test, lines = "%late", []
        else:
            p, q = self.value("scalar"), self.value("scalar")
            uses += [p, q]
            test, lines = f"%{name}_test", [f"%{name}_test = arith.cmpi slt, %{p}, %{q} : i32"]

        def run(env: dict, memory: dict, iv: int):
            if not (iv >= 4 if is_late else env[p] < env[q]):
                return env[z]
            made = np.maximum(env[x], env[y])
            if stores:
                memory["b"][4 * iv :][:4] = made
            return made

        lines.append(f"%{name} = scf.if {test} -> !t {{")
        # No clean-up makes one operand of it, as of a sum with a difference.
        lines.append(f"  %{name}_most = arith.maxsi %{x}, %{y} : !t")
        if stores:
            store = f'  tile.store %{name}_most, %b[%row0, %c0] {{role = "all"}} : !t, !view'
            lines.append(store)
        lines += [f"  scf.yield %{name}_most : !t", "} else {", f"  scf.yield %{z} : !t", "} @"]
        is_split = is_late and not self.loop.is_unsigned and self.chance(0.5)
        views = ("b",) if stores else ()
        op = Op("\n".join(lines), uses, name, run, views, is_region=True, is_split=is_split)
        return self.add("tensor", op)

    def nested(self) -> str:
        """A loop of two iterations."""
        name, x, y = self.new(), self.value("tensor"), self.value("tensor")

        def run(env: dict, memory: dict, iv: int):
            made = env[x]
            for _ in range(2):
                made = made * np.int32(3) + env[y]
            return made

        text = f"""%{name} = scf.for %{name}_j = %c0 to %c2 step %c1 iter_args(%{name}_s = %{x}) -> !t {{
  %{name}_p = arith.muli %{name}_s, %three : !t
  %{name}_q = arith.addi %{name}_p, %{y} : !t
  scf.yield %{name}_q : !t
}} @"""
        return self.add("tensor", Op(text, [x, y], name, run, is_region=True))


HEAD = """
#l = #tile.layout<register = [], lane = [{lanes}], warp = [[1,0],[2,0]]>
!view = !tile.view<?x?xi32>
!t = tensor<4x{width}xi32, #l>
module attributes {{tile.target = #{target}.target<chip = "{chip}">}} {{
tile.kernel @stages(%a: !view {{tile.facts = #tile.facts<noalias>}}, %b: !view {{tile.facts = #tile.facts<noalias>}},
                    %c: !view {{tile.facts = #tile.facts<noalias>}}, %from: {index}, %to: {index}, %by: {index},
                    %s3: i32, %s5: i32)
    attributes {{tile.roles = [#tile.role<"all", warps = 4>]}} grid {{
  %c1 = arith.constant 1 : index
  tile.grid %c1
}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %late0 = arith.constant 4 : {index}
  %s60 = arith.constant 60 : i32
  %lower = arith.constant {lower} : {index}
  %step = arith.constant {step} : {index}
  %one = tile.splat %s3 : !t
  %two = tile.splat %s5 : !t
  %three = arith.constant dense<3> : !t
"""


def write(loop: Loop, stages: list, orders: list) -> str:
    width = LANES[loop.chip]
    lanes = ",".join(f"[0,{1 << bit}]" for bit in range(width.bit_length() - 1))
    text = HEAD.format(
        lanes=lanes, width=width, target=TARGETS[loop.chip], chip=loop.chip, index=loop.index,
        lower=loop.lower, step=loop.step,
    )  # fmt: skip
    first, by = ("lower", "step") if loop.are_constant else ("from", "by")
    values = ", ".join(f"%{name} = %{start}" for name, _, start, _ in loop.carried)
    types = ", ".join(TYPES[kind] for _, kind, _, _ in loop.carried)
    unsigned = "unsigned " if loop.is_unsigned else ""
    text += f"""%r:{len(loop.carried)} = scf.for {unsigned}%i = %{first} to %to step %{by}
    iter_args({values}) -> ({types}) : {loop.index} {{
  %iv = {"arith.index_cast %i : i32 to index" if loop.index == "i32" else "arith.addi %i, %c0 : index"}
  %late = arith.cmpi sge, %i, %late0 : {loop.index}
  %row0 = arith.muli %iv, %c4 : index
  %row1 = arith.addi %row0, %c4 : index
"""
    text = text.replace(" : index {", " {")
    for op, stage, order in zip(loop.ops, stages, orders, strict=True):
        text += op.write(stage, order) + "\n"
    handed = ", ".join(f"%{last}" for *_, last in loop.carried)
    text += f"scf.yield {handed} : {types}\n}}\n"
    for number, (name, kind, _, _) in enumerate(loop.carried):
        if name not in loop.stored:
            continue
        value = f"%r#{number}"
        if kind == "scalar":
            text += f"%t{number} = tile.splat {value} : !t\n"
            value = f"%t{number}"
        row = f"%at{number} = arith.constant {4 + 4 * number} : index\n"
        text += row + f'tile.store {value}, %c[%at{number}, %c0] {{role = "all"}} : !t, !view\n'
    return text + "tile.return\n}\n}\n"


def interpret(loop: Loop, memory: dict, trips: int) -> None:
    shape = (4, LANES[loop.chip])
    env = {"one": np.full(shape, 3, np.int32), "two": np.full(shape, 5, np.int32)}
    env |= {"s3": np.int32(3), "s5": np.int32(5)}
    env |= {name: env[start] for name, _, start, _ in loop.carried}
    with np.errstate(over="ignore"):
        for trip in range(trips):
            iv = loop.lower + trip * loop.step
            for op in loop.ops:
                made = op.run(env, memory, iv)
                if op.makes:
                    env[op.makes] = made
            env |= {name: env[last] for name, _, _, last in loop.carried}
    for number, (name, *_) in enumerate(loop.carried):
        if name in loop.stored:
            memory["c"][4 + 4 * number :][:4] = env[name]


# Schedules.


def find_needs(loop: Loop) -> list[tuple[int, int, int]]:
    """Which op makes what which op uses, how many iterations before."""
    makers = {op.makes: number for number, op in enumerate(loop.ops) if op.makes}
    last = {name: last for name, _, _, last in loop.carried}
    needs = []
    for user, op in enumerate(loop.ops):
        for value in op.uses:
            distance, seen = 0, set()
            while value in last and value not in seen:
                seen.add(value)
                value, distance = last[value], distance + 1
            if value in makers:
                needs.append((makers[value], user, distance))
    return needs


def find_edges(loop: Loop, stages: list[int]) -> list[tuple[int, int]] | None:
    """Which op stands in front of which one in a trip; nothing if the stages are not legal."""
    edges = []
    for maker, user, distance in find_needs(loop):
        lag = stages[user] + distance - stages[maker]
        if lag < 0:
            return None
        if lag == 0:
            edges.append((maker, user))
    accesses = [number for number, op in enumerate(loop.ops) if op.views]
    for i, x in enumerate(accesses):
        for y in accesses[i + 1 :]:
            one, other = loop.ops[x], loop.ops[y]
            isApart = not (one.is_region or other.is_region) and one.views != other.views
            if isApart or (one.is_load and other.is_load):
                continue
            if stages[y] == stages[x]:
                edges.append((x, y))
            elif stages[y] == stages[x] + 1:
                edges.append((y, x))
            else:
                return None
    return edges if min(stages) == 0 else None


def draw_stages(rng: np.random.Generator, loop: Loop, most: int) -> list[int]:
    """Random ones, raised to what their ops need."""
    stages = [int(stage) for stage in rng.integers(0, most + 1, len(loop.ops))]
    if rng.random() < 0.5:  # rather where the ops stand
        stages = sorted(stages)
    for _ in range(16):
        for maker, user, distance in find_needs(loop):
            stages[user] = max(stages[user], stages[maker] - distance)
    return [stage - min(stages) for stage in stages]


def draw_order(rng: np.random.Generator, count: int, edges: list) -> list[int] | None:
    """A place for each op, behind those that it must follow."""
    orders: list = [None] * count
    for place in range(count):
        ready = [
            op for op in range(count)
            if orders[op] is None and all(orders[x] is not None for x, y in edges if y == op)
        ]  # fmt: skip
        if not ready:
            return None
        orders[ready[rng.integers(len(ready))]] = place
    return orders


def draw_schedule(rng: np.random.Generator, loop: Loop) -> tuple[list[int], list[int]]:
    """A legal one; the loop as it stands if none is found soon."""
    for _ in range(60):
        stages = draw_stages(rng, loop, int(rng.integers(1, 4)))
        edges = find_edges(loop, stages)
        orders = None if edges is None else draw_order(rng, len(loop.ops), edges)
        if orders is not None and max(stages) > 0:
            return stages, orders
    return [0] * len(loop.ops), list(range(len(loop.ops)))


def is_legal(loop: Loop, stages: list[int], orders: list[int]) -> bool:
    edges = find_edges(loop, stages)
    return edges is not None and all(orders[x] < orders[y] for x, y in edges)


def forget(rng: np.random.Generator, stages: list, orders: list) -> tuple[list, list]:
    """The same with some decisions left open."""
    share = rng.random()
    stages = [None if rng.random() < share else stage for stage in stages]
    orders = [
        None if stage is None or rng.random() < 0.3 else order
        for stage, order in zip(stages, orders)
    ]
    ranks = sorted(order for order in orders if order is not None)
    return stages, [None if order is None else ranks.index(order) for order in orders]


def compiled(source: str, chip: str) -> tuple[Callable | None, str]:
    """What runs a kernel, or the error by which it is refused, which must name an op."""
    try:
        return build(source.encode(), chip), ""
    except kiln.CompileError as error:
        message = str(error)
        assert re.search(r"\d+:\d+: error: '[\w.]+' op expected", message), f"{message}\n{source}"
        return None, message


def check_loop(rng: np.random.Generator, loop: Loop, kernel: Callable, source: str) -> None:
    width = LANES[loop.chip]
    for trips in range(8):
        memory = {
            name: rng.integers(-(2**31), 2**31, (ROWS, width)).astype(np.int32) for name in "abc"
        }
        want = {name: array.copy() for name, array in memory.items()}
        interpret(loop, want, trips)
        spare = int(rng.integers(loop.step)) if trips else 0
        end = loop.lower + trips * loop.step - spare
        kernel(*memory.values(), loop.lower, end, loop.step, 3, 5)
        for name in "abc":
            same = (memory[name] == want[name]).all()
            assert same, f"{trips} trips, view {name}\n{source}"


MET = 5  # schedules of several stages


@pytest.mark.parametrize("chip", LANES)
def test_loops(rng: np.random.Generator, chip: str) -> None:
    overlapped = 0
    for attempt in range(100):
        loop = Writer(rng, chip).draw()
        stages, orders = draw_schedule(rng, loop)
        kind = ["legal", "some", "legal", "any"][attempt % 4]
        if kind == "some":
            stages, orders = forget(rng, stages, orders)
        elif kind == "any":
            orders = [int(order) for order in rng.permutation(len(orders))]
            if rng.random() < 0.5:
                stages = [int(stage) for stage in rng.integers(0, 4, len(stages))]
        source = write(loop, stages, orders)
        kernel, message = compiled(source, chip)
        # What a region accesses counts as all memory; a condition by which a loop is cut may not
        # be found again at a later stage.
        is_open = "tile.split_loop" in message or any(op.is_region and op.views for op in loop.ops)
        if kind != "some" and not is_open:
            assert bool(kernel) == is_legal(loop, stages, orders), f"{message}\n{source}"
        if kernel:
            overlapped += len(set(stages) - {None}) > 1
            check_loop(rng, loop, kernel, source)
        if overlapped == MET:
            break
    assert overlapped == MET


# Rings that one role fills and another empties.

RING = """
#copy = #nvptx.tma
#mma = #nvptx.wgmma<"m64n64k16", bf16, f32>
#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
#acc = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
#facts = #tile.facts<noalias, pointer = 16, strides = [16, 2]>
!view = !tile.view<?x?xbf16>
!out = !tile.view<?x?xf32>
!rows = !tile.buffer<64x64xbf16, #rows>
!o = tensor<64x64xbf16>
!h = tensor<64x64xbf16, #acc>
!s = tensor<64x64xf32, #acc>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @rings(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %z: !view {tile.facts = #facts},
                   %c: !out {tile.facts = #tile.facts<noalias>}, %d: !out {tile.facts = #tile.facts<noalias>}, %n: index)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} grid {
  %c1 = arith.constant 1 : index
  tile.grid %c1
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %start = arith.constant dense<START> : !s
  %none = arith.constant dense<0.0> : !s
  %ones = arith.constant dense<1.0> : !s
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start, %t = %ones) -> (!s, !s) {
    %row = arith.muli %i, %c64 : index
    BODY
    scf.yield %next, %sum : !s, !s
  }
  %r1 = arith.addf %r#0, %r#1 : !s
  tile.store %r1, %c[%c0, %c0] {role = "mma"} : !s, !out
  tile.return
}
}
"""


def write_rings(rng: np.random.Generator) -> tuple[str, float, int]:
    """A product of two operands, which may wait for later stages, beside the sum of a third one."""
    start = float(rng.integers(2))
    decisions: dict[str, str] = {}
    together = rng.random() < 0.5  # both operands in one ring
    loads = {"x": "a", "y": "b", "w": "z"}
    rings = {name: "xy" if together and name != "w" else name for name in loads}
    names = sorted(set(rings.values()), key=lambda _: rng.random())
    depths = {ring: int(rng.integers(2, 6)) for ring in names}
    early = {ring: int(rng.integers(3)) for ring in names}
    early = {ring: stage - min(early.values()) for ring, stage in early.items()}
    order = 0
    for ring in names:
        for name in loads:
            if rings[name] == ring:
                decisions[name] = (
                    f'atom = #copy, buffer = !rows, ring = "{ring}", depth = {depths[ring]}, '
                    f'stage = {early[ring]}, order = {order}, role = "load"'
                )
                order += 1
    is_held = rng.random() < 0.5
    dot, add = sorted(int(stage) for stage in rng.integers(0, 3, 2))
    wide, plus, store = sorted(int(stage) for stage in rng.integers(0, 3, 3))
    least = min(dot, wide)
    dot, add, wide, plus, store = (stage - least for stage in (dot, add, wide, plus, store))
    flight = int(rng.integers(3))
    product = (
        f"tile.dot %x, %y, %{'s' if is_held else 'none'} transpose_b "
        f'{{atom = #mma, stage = {dot}, role = "mma", in_flight = {flight}}} : !o, !o -> !s'
    )

    def staged(stage: int) -> str:
        return f'{{tile.stage = {stage}, tile.role = "mma"}}'

    groups = [[f"%{'next' if is_held else 'p'} = {product}"]]
    if not is_held:
        groups[0].append(f"%next = arith.addf %p, %s {staged(add)} : !s")
    groups.append([
        f"%e = arith.extf %w {staged(wide)} : !h to !s",
        f"%sum = arith.addf %e, %t {staged(plus)} : !s",
        f'tile.store %sum, %d[%row, %c0] {{stage = {store}, role = "mma"}} : !s, !out',
    ])  # fmt: skip
    lines = [
        f"%{name} = tile.load %{view}[%row, %c0] {{{decisions[name]}}} : !view -> "
        + ("!h" if name == "w" else "!o")
        for name, view in loads.items()
    ]
    for group in sorted(groups, key=lambda _: rng.random()):
        lines += group
    text = RING.replace("START", str(start)).replace("BODY", "\n    ".join(lines))
    last = max(add if not is_held else dot, store, *early.values())
    return text, start, last


def test_rings(rng: np.random.Generator) -> None:
    overlapped = 0
    for _ in range(100):
        source, start, last = write_rings(rng)
        kernel, _ = compiled(source, "sm_90a")
        if not kernel:
            continue
        overlapped += last > 0
        for trips in range(7):
            a, b, z = (
                rng.integers(-2, 3, (64 * max(trips, 1), 64)).astype(ml_dtypes.bfloat16)
                for _ in range(3)
            )
            c, d = np.zeros((64, 64), np.float32), np.zeros((64 * 7, 64), np.float32)
            kernel(a, b, z, c, d, trips)
            sums, total = np.full((64, 64), start, np.float32), np.ones((64, 64), np.float32)
            want = np.zeros_like(d)
            for trip in range(trips):
                x, y, w = (t[64 * trip :][:64].astype(np.float32) for t in (a, b, z))
                sums, total = sums + x @ y.T, total + w
                want[64 * trip :][:64] = total
            assert (c == sums + total).all() and (d == want).all(), f"{trips} trips\n{source}"
        if overlapped == MET:
            break
    assert overlapped == MET
