"""Forms of blocks in a cluster: boxes that the copy engine brings to several of them at once, arrivals at
another block's barrier, and the barrier of all. Kiln's clusters lie along x, so that a block's place in
its cluster is its number's remainder."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from form_programs import Map, Program, Text
from moves import fence, wait, when_first
from suite import Bits, Form
from values import Source

WIDE, TALL = 32, 48  # a tensor's columns and rows, of i32
BOX = (8, WIDE)
BYTES = BOX[0] * BOX[1] * 4
OF_CLUSTER = "!llvm.ptr<7>"


def meet_all(text: Text) -> None:
    text.do("nvvm.cluster.arrive")
    text.do("nvvm.cluster.wait")


def multicast(text: Text, at: str, barrier: str, place: tuple[str, str], mask: str) -> None:
    """Box `place` to the same place of each block whose bit is set."""
    there = text.op(f"llvm.addrspacecast {at} : !llvm.ptr<3> to {OF_CLUSTER}")
    row, column = place
    text.do(
        f"nvvm.cp.async.bulk.tensor.shared.cluster.global {there}, %m0, {barrier}, "
        f"box[{column}, {row}] multicast_mask = {mask} : {OF_CLUSTER}, !llvm.ptr"
    )


def expect(text: Text, barrier: str, bytes: str) -> None:
    text.do(f"nvvm.mbarrier.arrive.expect_tx {barrier}, {bytes} : !llvm.ptr<3>, i32")


def multicasts(blocks: int) -> Form:
    """Each block brings one box to those of its cluster that it draws; what nobody brings stays."""
    clusters = 3
    text = Text()
    thread, block, shared = text.thread(), text.block(), text.shared()
    rank = text.arithmetic("urem", block, blocks)
    first = text.arithmetic("sub", block, rank)
    parts = BYTES // 128
    old = text.arithmetic("xor", text.arithmetic("mul", block, 0x1010101), -1)
    for i in range(blocks * parts):
        place = text.arithmetic("mul", text.arithmetic("add", thread, 32 * i), 4)
        text.store(old, text.place(shared, place, 3), "i32", 3)
    fence(text)
    barrier = text.place(shared, text.constant(blocks * BYTES), 3)

    def begin() -> None:
        text.do(f"nvvm.mbarrier.init {barrier}, {text.constant(1)} : !llvm.ptr<3>, i32")
        text.do("nvvm.fence.mbarrier.init")
        fence(text)

    when_first(text, thread, begin)
    meet_all(text)

    def bring() -> None:
        coming = text.constant(0)
        for other in range(blocks):
            at = text.arithmetic("mul", text.arithmetic("add", first, other), 4)
            mask = text.load(text.place("%a1", at), "i32")
            mine = text.arithmetic("and", text.arithmetic("lshr", mask, rank), 1)
            coming = text.arithmetic("add", coming, mine)
        expect(text, barrier, text.arithmetic("mul", coming, BYTES))
        mask = text.load(text.place("%a1", text.arithmetic("mul", block, 4)), "i32")
        mask = text.op(f"llvm.trunc {mask} : i32 to i16")
        row = text.load(text.place("%a2", text.arithmetic("mul", block, 4)), "i32")
        at = text.place(shared, text.arithmetic("mul", rank, BYTES), 3)
        multicast(text, at, barrier, (row, text.constant(0)), mask)

    when_first(text, thread, bring)
    text.meet()
    wait(text, barrier, 0)
    for i in range(blocks * parts):
        place = text.arithmetic("mul", text.arithmetic("add", thread, 32 * i), 4)
        word = text.load(text.place(shared, place, 3), "i32", 3)
        out = text.arithmetic("add", place, text.arithmetic("mul", block, blocks * BYTES))
        text.store(word, text.place("%a3", out), "i32")
    meet_all(text)
    count = blocks * clusters
    arrays = [("i32", (TALL, WIDE)), ("i32", (count,)), ("i32", (count,)),
              ("i32", (count * blocks * BYTES // 4,))]  # fmt: skip

    def draw(seed: int) -> list[np.ndarray]:
        source = Source(seed)
        data = source.bits("i32", TALL * WIDE)
        masks = source.below((1 << blocks) - 1, count) + 1  # to one block at least
        rows = source.below(TALL + BOX[0], count).astype(np.int32) - BOX[0]
        return [data, masks.astype(np.uint32), rows.view(np.uint32)]

    program = Program(text, arrays, 3, 32, blocks=count, shared=blocks * BYTES + 8,
                      maps=[Map(0, BOX, 0)], cluster=blocks)  # fmt: skip
    return Form(f"tma-multicast-{blocks}", program, draw, ["boxes"], [Bits()])


def ring(blocks: int) -> Form:
    """One slot, which the blocks of a cluster fill for all in turn: who does it next waits until each
    has told it, by an arrival at its barrier, that the box before was read."""
    rounds, clusters = 2 * blocks + 1, 2
    text = Text()
    thread, block, shared = text.thread(), text.block(), text.shared()
    rank = text.arithmetic("urem", block, blocks)
    full = text.place(shared, text.constant(BYTES), 3)
    empty = text.place(shared, text.constant(BYTES + 8), 3)

    def begin() -> None:
        for barrier, arrivals in ((full, 1), (empty, blocks)):
            text.do(f"nvvm.mbarrier.init {barrier}, {text.constant(arrivals)} : !llvm.ptr<3>, i32")
        text.do("nvvm.fence.mbarrier.init")
        fence(text)

    when_first(text, thread, begin)
    meet_all(text)
    everyone = text.constant((1 << blocks) - 1, "i16")
    row = text.arithmetic("mul", text.arithmetic("udiv", block, blocks), 16)
    words = BYTES // 128
    values = [text.constant(0)] * words
    for turn in range(rounds):

        def fill(turn: int = turn) -> None:
            if turn:
                wait(text, empty, (turn - 1) // blocks % 2, "cluster")
            at = text.arithmetic("add", row, turn)
            multicast(text, shared, full, (at, text.constant(0)), everyone)

        def release(turn: int = turn) -> None:
            following = text.constant((turn + 1) % blocks)
            there = text.op(f"nvvm.mapa {empty}, {following} : !llvm.ptr<3> -> {OF_CLUSTER}")
            text.do(f"nvvm.mbarrier.arrive {there} : {OF_CLUSTER}")

        when_first(text, thread, lambda: expect(text, full, text.constant(BYTES)))
        is_other = text.arithmetic("sub", rank, turn % blocks)
        when_first(text, text.arithmetic("or", is_other, thread), fill)
        wait(text, full, turn % 2)
        for i in range(words):
            place = text.arithmetic("mul", text.arithmetic("add", thread, 32 * i), 4)
            word = text.load(text.place(shared, place, 3), "i32", 3)
            values[i] = text.arithmetic("add", text.arithmetic("mul", values[i], 3), word)
        fence(text)  # lanes have read what an engine writes next
        text.meet()
        if turn + 1 < rounds:
            when_first(text, thread, release)
    for i, value in enumerate(values):
        place = text.arithmetic("mul", text.arithmetic("add", thread, 32 * i), 4)
        out = text.arithmetic("add", place, text.arithmetic("mul", block, BYTES))
        text.store(value, text.place("%a1", out), "i32")
    meet_all(text)
    count = blocks * clusters
    arrays = [("i32", (TALL, WIDE)), ("i32", (count * BYTES // 4,))]
    program = Program(text, arrays, 1, 32, blocks=count, shared=BYTES + 16,
                      maps=[Map(0, BOX, 0)], cluster=blocks)  # fmt: skip
    return Form(
        f"cluster-ring-{blocks}", program, lambda s: [Source(s).bits("i32", TALL * WIDE)],
        ["sums"], [Bits()],
    )  # fmt: skip


def exchange(blocks: int) -> Form:
    """Numbers go round by global memory, over the barrier of a cluster, three times."""
    threads, clusters = 64, 2
    text = Text()
    thread, block = text.thread(), text.block()
    rank = text.arithmetic("urem", block, blocks)
    first = text.arithmetic("sub", block, rank)
    beside = text.arithmetic("urem", text.arithmetic("add", rank, 1), blocks)
    count = threads * blocks * clusters

    def place(array: str, block: str, thread: str, begin: int = 0) -> str:
        at = text.arithmetic("add", text.arithmetic("mul", block, threads), thread)
        return text.place(array, text.arithmetic("add", text.arithmetic("mul", at, 4), 4 * begin))

    value = text.load(place("%a0", block, thread), "i32")
    other = text.arithmetic("xor", thread, 33)
    for turn in range(3):
        text.store(value, place("%a1", block, thread, turn * count), "i32")
        meet_all(text)
        there = text.arithmetic("add", first, beside)
        got = text.load(place("%a1", there, other, turn * count), "i32")
        value = text.arithmetic("add", text.arithmetic("mul", value, 3), got)
    text.store(value, place("%a2", block, thread), "i32")
    arrays = [("i32", (count,)), ("i32", (3 * count,)), ("i32", (count,))]
    program = Program(text, arrays, 1, threads, blocks=blocks * clusters, cluster=blocks)
    return Form(
        f"cluster-barrier-{blocks}", program, lambda s: [Source(s).bits("i32", count)],
        ["handed", "value"], [Bits()] * 2,
    )  # fmt: skip


def forms() -> Iterator[Form]:
    for blocks in (2, 4):
        yield multicasts(blocks)
        yield ring(blocks)
        yield exchange(blocks)
