"""Forms that move data: between lanes, between registers and shared memory, and by copy engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from elementwise import registers
from form_programs import Map, Program, Text, struct
from suite import Bits, Form, Operand
from values import Source

WORDS4 = "vector<4xi32>"
ALL = -1  # lanes of a warp


def shuffles() -> Form:
    def code(text: Text, loaded: list[list[str]]) -> list[list[str]]:
        (value,), (lane,) = loaded
        every, clamp = text.constant(ALL), text.constant(31)
        return [
            [text.op(f"nvvm.shfl.sync {how} {every}, {value}, {lane}, {clamp} : i32 -> i32")]
            for how in ("bfly", "idx")
        ]

    word = Operand("i32", "i32")
    return registers(
        "shfl", [word, word], {"bfly": word, "idx": word}, [Bits(), Bits()], code, items=256
    )


def rows(seed: int, threads: int, blocks: int) -> list[np.ndarray]:
    """16 bytes a thread, and of each warp the order in which its lanes name them."""
    source = Source(seed)
    data = source.bits("i32", threads * blocks * 4)
    order = [np.argsort(source.words(32), kind="stable") for _ in range(threads * blocks // 32)]
    return [data, np.concatenate(order).astype(np.uint32)]


class Lanes:
    """The start of a kernel of one warp a block: its rows, and the order of them."""

    def __init__(self, text: Text) -> None:
        self.text, self.lane, self.shared = text, text.thread(), text.shared()
        first = text.arithmetic("mul", text.block(), 32)
        self.item = text.arithmetic("add", first, self.lane)
        self.row = text.load(text.place("%a0", self.times(self.item, 16)), WORDS4)
        self.named = text.load(text.place("%a1", self.times(self.item, 4)), "i32")

    def times(self, number: str, by: int) -> str:
        return self.text.arithmetic("mul", number, by)

    def at(self, offset: str | int, more: int = 0) -> str:
        """A place in shared memory."""
        text = self.text
        if more:
            offset = text.arithmetic("add", offset, more)
        return text.place(self.shared, offset, 3)


def matrix_loads() -> Form:
    text = Text()
    lanes = Lanes(text)
    text.store(lanes.row, lanes.at(lanes.times(lanes.lane, 16)), WORDS4, 3)
    text.meet()
    place = lanes.at(lanes.times(lanes.named, 16))
    names, arrays, out = [], [("i32", (4 * 32 * 4,)), ("i32", (4 * 32,))], 2
    for count in (1, 2, 4):
        for trans in ("", ".trans"):
            types = ["i32"] * count
            value = text.call(
                f"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x{count}{trans}.b16.p3",
                [(place, "!llvm.ptr<3>")], struct(types),
            )  # fmt: skip
            for i, word in enumerate(text.fields(value, types)):
                offset = text.arithmetic("add", lanes.times(lanes.item, 4 * count), 4 * i)
                text.store(word, text.place(f"%a{out}", offset), "i32")
            names.append(f"x{count}{trans}")
            arrays.append(("i32", (4 * 32 * count,)))
            out += 1
    program = Program(text, arrays, 2, 32, blocks=4, shared=512)
    return Form("ldmatrix", program, lambda s: rows(s, 32, 4), names, [Bits()] * len(names))


def matrix_stores() -> Form:
    text = Text()
    lanes = Lanes(text)
    words = [
        text.op(f"llvm.extractelement {lanes.row}[{text.constant(i)} : i32] : {WORDS4}")
        for i in range(4)
    ]
    zeros = text.op(f"llvm.mlir.zero : {WORDS4}")
    mine = lanes.times(lanes.lane, 16)
    named = lanes.times(lanes.named, 16)
    names, arrays, begin = [], [("i32", (4 * 32 * 4,)), ("i32", (4 * 32,))], 0
    forms = [(count, trans) for count in (1, 2, 4) for trans in ("", ".trans")]
    for i in range(len(forms)):
        text.store(zeros, lanes.at(mine, 512 * i), WORDS4, 3)
    text.meet()
    for count, trans in forms:
        operands = [(lanes.at(named, begin), "!llvm.ptr<3>")]
        operands += [(word, "i32") for word in words[:count]]
        text.call(f"llvm.nvvm.stmatrix.sync.aligned.m8n8.x{count}{trans}.b16.p3", operands)
        begin += 512
    text.meet()
    for i, (count, trans) in enumerate(forms):
        value = text.load(lanes.at(mine, 512 * i), WORDS4, 3)
        text.store(value, text.place(f"%a{2 + i}", lanes.times(lanes.item, 16)), WORDS4)
        names.append(f"x{count}{trans}")
        arrays.append(("i32", (4 * 32 * 4,)))
    program = Program(text, arrays, 2, 32, blocks=4, shared=512 * len(forms))
    return Form("stmatrix", program, lambda s: rows(s, 32, 4), names, [Bits()] * len(names))


COPIES = [("ca", 4, ""), ("ca", 8, ""), ("ca", 16, ""), ("cg", 16, ""), ("ca", 4, ".s"),
          ("ca", 8, ".s"), ("ca", 16, ".s"), ("cg", 16, ".s")]  # fmt: skip


def async_copies(by_barrier: bool) -> Form:
    """Each thread copies some bytes; the thread beside it reads them."""
    text = Text()
    lanes = Lanes(text)
    mine, source = lanes.times(lanes.lane, 16), text.place("%a0", lanes.times(lanes.item, 16))
    other = lanes.times(text.arithmetic("xor", lanes.lane, 1), 16)
    zeros = text.op(f"llvm.mlir.zero : {WORDS4}")
    bytes = 512 * len(COPIES)
    for i in range(len(COPIES)):
        text.store(zeros, lanes.at(mine, 512 * i), WORDS4, 3)
    barrier = lanes.at(text.constant(bytes))
    if by_barrier:
        first = text.arithmetic("mul", lanes.lane, 8)
        own = text.place(barrier, first, 3)  # one each: who waits for its own is told
        text.do(f"nvvm.mbarrier.init {own}, {text.constant(1)} : !llvm.ptr<3>, i32")
        text.do("nvvm.fence.mbarrier.init")
    text.meet()
    names = []
    arrays = [("i32", (4 * 32 * 4,)), ("i32", (4 * 32,))]
    for i, (cache, size, part) in enumerate(COPIES):
        operands = [(lanes.at(mine, 512 * i), "!llvm.ptr<3>"), (source, "!llvm.ptr<1>")]
        if part:
            operands.append((text.arithmetic("urem", lanes.named, size + 1), "i32"))
        text.call(f"llvm.nvvm.cp.async.{cache}.shared.global.{size}{part}", operands)
        names.append(f"{cache}-{size}{part}")
        arrays.append(("i32", (4 * 32 * 4,)))
    if by_barrier:
        text.call("llvm.nvvm.cp.async.mbarrier.arrive.shared", [(own, "!llvm.ptr<3>")])
        text.op(f"nvvm.mbarrier.arrive {own} : !llvm.ptr<3> -> i64")
        wait(text, own, 0)
    else:
        text.call("llvm.nvvm.cp.async.commit.group", [])
        text.call("llvm.nvvm.cp.async.wait.group", [(text.constant(0), "i32")])
    text.meet()
    for i in range(len(COPIES)):
        value = text.load(lanes.at(other, 512 * i), WORDS4, 3)
        text.store(value, text.place(f"%a{2 + i}", lanes.times(lanes.item, 16)), WORDS4)
    program = Program(text, arrays, 2, 32, blocks=4, shared=bytes + 8 * 32)
    name = "cp-async-mbarrier" if by_barrier else "cp-async"
    return Form(name, program, lambda s: rows(s, 32, 4), names, [Bits()] * len(names))


LABELS = [0]


def wait(text: Text, barrier: str, parity: int, scope: str = "", how: str = "try_wait") -> None:
    """Tries until it holds."""
    LABELS[0] += 1
    loop, done = f"^wait{LABELS[0]}", f"^done{LABELS[0]}"
    bit = text.constant(parity)
    text.do(f"llvm.br {loop}")
    text.do(f"{loop}:")
    scope = f" {{scope = #nvvm.mem_scope<{scope}>}}" if scope else ""
    ended = text.op(f"nvvm.mbarrier.{how} {barrier}, {bit}{scope} : !llvm.ptr<3>, i32 -> i1")
    text.do(f"llvm.cond_br {ended}, {done}, {loop}")
    text.do(f"{done}:")


def when_first(text: Text, lane: str, act: Callable[[], None]) -> None:
    """By thread 0 alone."""
    LABELS[0] += 1
    inside, after = f"^first{LABELS[0]}", f"^after{LABELS[0]}"
    is_first = text.op(f'llvm.icmp "eq" {lane}, {text.constant(0)} : i32')
    text.do(f"llvm.cond_br {is_first}, {inside}, {after}")
    text.do(f"{inside}:")
    act()
    text.do(f"llvm.br {after}")
    text.do(f"{after}:")


def barriers(how: str = "try_wait") -> Form:
    """Warps hand numbers round: by barriers that count arrivals, over three phases, then by a barrier
    of all and one of two warps. Chips before the H200 ask by `test.wait`."""
    text = Text()
    thread, shared = text.thread(), text.shared()
    value = text.load(text.place("%a0", text.arithmetic("mul", thread, 4)), "i32")
    counter = text.place(shared, text.constant(1024), 3)
    when_first(
        text, thread,
        lambda: text.do(f"nvvm.mbarrier.init {counter}, {text.constant(128)} : !llvm.ptr<3>, i32"),
    )  # fmt: skip
    text.do("nvvm.fence.mbarrier.init")
    text.meet()
    for phase in range(3):
        begin = 512 * (phase % 2)
        mine = text.arithmetic("add", text.arithmetic("mul", thread, 4), begin)
        text.store(value, text.place(shared, mine, 3), "i32", 3)
        text.op(f"nvvm.mbarrier.arrive {counter} : !llvm.ptr<3> -> i64")
        wait(text, counter, phase % 2, how=how)
        other = text.arithmetic("and", text.arithmetic("add", thread, 33), 127)
        there = text.arithmetic("add", text.arithmetic("mul", other, 4), begin)
        got = text.load(text.place(shared, there, 3), "i32", 3)
        value = text.arithmetic("add", text.arithmetic("mul", value, 3), got)
    text.meet()
    text.store(value, text.place(shared, text.arithmetic("mul", thread, 4), 3), "i32", 3)
    pair = text.arithmetic("add", text.arithmetic("lshr", thread, 6), 1)
    text.do(f"nvvm.barrier id = {pair} number_of_threads = {text.constant(64)}")
    other = text.arithmetic("mul", text.arithmetic("xor", thread, 32), 4)
    got = text.load(text.place(shared, other, 3), "i32", 3)
    text.do(f"nvvm.bar.warp.sync {text.constant(ALL)} : i32")
    value = text.arithmetic("xor", value, got)
    text.store(value, text.place("%a1", text.arithmetic("mul", thread, 4)), "i32")
    program = Program(text, [("i32", (128,)), ("i32", (128,))], 1, 128, shared=1032)
    name = "barriers" if how == "try_wait" else f"barriers-{how.replace('.', '-')}"
    return Form(name, program, lambda s: [Source(s).bits("i32", 128)], ["value"], [Bits()])


SPANS = (0, 32, 64, 128)
TALL, WIDE = 20, 40  # a tensor's rows and columns, of i32
PIECE = 4  # elements of 16 bytes: a box that begins between two is an illegal instruction


def box_place(text: Text, block: str, rank: int) -> list[str]:
    """Where the box of a block begins, the last dimension first."""
    begin = text.arithmetic("mul", block, 4 * rank)
    places = [text.arithmetic("add", begin, 4 * i) for i in reversed(range(rank))]
    return [text.load(text.place("%a1", place), "i32") for place in places]


def engine_load(rank: int, span: int, outside: bool = False) -> Form:
    """A box, some or all of whose elements lie outside, lands in shared memory, which is read as it
    is."""
    text = Text()
    thread, block, shared = text.thread(), text.block(), text.shared()
    columns = span // 4 if span else 16 if rank > 1 else 32
    box = (*(2,) * (rank - 2), *(8,) * (rank > 1), columns)
    bytes = int(np.prod(box)) * 4
    at = box_place(text, block, rank)
    barrier = text.place(shared, text.constant(8192), 3)

    def begin() -> None:
        text.do(f"nvvm.mbarrier.init {barrier}, {text.constant(1)} : !llvm.ptr<3>, i32")
        text.do("nvvm.fence.mbarrier.init")
        fence(text)
        text.do("nvvm.prefetch tensormap, %m0 : !llvm.ptr")
        text.do(
            f"nvvm.mbarrier.arrive.expect_tx {barrier}, {text.constant(bytes)} : !llvm.ptr<3>, i32"
        )
        text.do(
            f"nvvm.cp.async.bulk.tensor.shared.cluster.global {shared}, %m0, {barrier}, "
            f"box[{', '.join(at)}] {{isCTAOnly = true}} : !llvm.ptr<3>, !llvm.ptr"
        )

    when_first(text, thread, begin)
    text.meet()
    wait(text, barrier, 0)
    per_thread = bytes // 32 // 4
    for i in range(per_thread):
        place = text.arithmetic("mul", text.arithmetic("add", thread, 32 * i), 4)
        word = text.load(text.place(shared, place, 3), "i32", 3)
        out = text.arithmetic("add", place, text.arithmetic("mul", block, bytes))
        text.store(word, text.place("%a2", out), "i32")
    blocks = 6
    shape = tensor(rank)
    arrays = [("i32", shape), ("i32", (blocks * rank,)), ("i32", (blocks * bytes // 4,))]
    program = Program(text, arrays, 2, 32, blocks=blocks, shared=8200, maps=[Map(0, box, span)])
    name = f"tma-load-{rank}d-{span}{'-outside' if outside else ''}"
    begins = beyond if outside else across
    return Form(
        name, program, lambda s: boxes(s, shape, begins(s, shape, box, blocks)), ["box"], [Bits()]
    )


def tensor(rank: int) -> tuple[int, ...]:
    return (*(3,) * (rank - 2), *(TALL,) * (rank > 1), WIDE)


def boxes(seed: int, shape: tuple[int, ...], begins: np.ndarray) -> list[np.ndarray]:
    data = Source(seed).bits("i32", int(np.prod(shape)))
    return [data, begins.astype(np.int32).view(np.uint32).reshape(-1)]


def across(seed: int, shape: tuple[int, ...], box: tuple[int, ...], blocks: int) -> np.ndarray:
    """Where boxes begin that have elements of the tensor, the first at 0."""
    source = Source(seed + 1)
    at = np.zeros((blocks, len(shape)), np.int64)
    for dim, (extent, length) in enumerate(zip(shape, box)):
        step = PIECE if dim == len(shape) - 1 else 1
        places = (extent + length) // step - 1
        at[1:, dim] = (source.below(places, blocks - 1).astype(np.int64) + 1) * step - length
    return at


def beyond(seed: int, shape: tuple[int, ...], box: tuple[int, ...], blocks: int) -> np.ndarray:
    """Where boxes begin that have none."""
    at = np.zeros((blocks, len(shape)), np.int64)
    for block in range(blocks):
        dim = block % len(shape)
        at[block, dim] = (-box[dim], shape[dim], shape[dim] + box[dim])[block // len(shape) % 3]
    return at


def fence(text: Text) -> None:
    text.do(
        "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"
    )


def engine_store(span: int) -> Form:
    """Boxes of a tensor of zeros; what of them lies outside is left out."""
    text = Text()
    thread, shared = text.thread(), text.shared()
    columns = span // 4 if span else 16
    places = [(0, 0), (8, columns), (16, WIDE - columns + PIECE)]  # apart: in no order
    bytes = 8 * columns * 4
    for number in range(len(places)):
        for i in range(bytes // 128):
            place = text.arithmetic("mul", text.arithmetic("add", thread, 32 * i), 4)
            place = text.arithmetic("add", place, number * bytes)
            word = text.load(text.place("%a0", place), "i32")
            text.store(word, text.place(shared, place, 3), "i32", 3)
    fence(text)
    text.meet()

    def begin() -> None:
        for number, (row, column) in enumerate(places):
            origin = text.place(shared, text.constant(number * bytes), 3)
            text.do(
                f"nvvm.cp.async.bulk.tensor.global.shared.cta %m0, {origin}, "
                f"box[{text.constant(column)}, {text.constant(row)}] : !llvm.ptr, <3>"
            )
        text.do("nvvm.cp.async.bulk.commit.group")
        text.do("nvvm.cp.async.bulk.wait_group 0")

    when_first(text, thread, begin)
    count = len(places) * bytes // 4
    program = Program(
        text, [("i32", (count,)), ("i32", (TALL, WIDE))], 1, 32, shared=4 * count,
        maps=[Map(1, (8, columns), span)],
    )  # fmt: skip
    return Form(
        f"tma-store-{span}", program, lambda s: [Source(s).bits("i32", count)], ["tensor"], [Bits()]
    )


def forms() -> Iterator[Form]:
    yield shuffles()
    yield matrix_loads()
    yield matrix_stores()
    yield async_copies(by_barrier=False)
    yield async_copies(by_barrier=True)
    yield barriers()
    yield barriers("test.wait")
    for span in SPANS:
        yield engine_load(2, span)
        yield engine_store(span)
    yield engine_load(1, 0)
    yield engine_load(3, 64)
    yield engine_load(4, 32)
    yield engine_load(5, 0)
    yield engine_load(2, 64, outside=True)
