"""Loads, stores and copies that ask something of caches: whatever they ask, the bits are the same. A hint
stands in the stage `llvm` as an alias scope (kiln/Target/Common/CacheHints.h); of the copy engine it
is a policy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from form_programs import Map, Program, Text, size_of
from moves import fence, wait, when_first
from suite import Bits, Form
from values import Source

DOMAIN = '#llvm.alias_scope_domain<id = "kiln.caches", description = "kiln.caches">'
HINTS = ("global normal", "global first", "global last", "streaming first", "bypass normal",
         "all first", "all last")  # fmt: skip
TYPES = ("i8", "i16", "i32", "i64", "vector<2xi32>", "vector<4xi32>", "vector<2xi64>")
THREADS = 64


def hinted(hint: str) -> str:
    scope = f'#llvm.alias_scope<id = "{hint}", domain = {DOMAIN}, description = "{hint}">'
    streams = ", nontemporal" if hint.startswith("streaming") or hint == "all first" else ""
    return f"alias_scopes = [{scope}]{streams}"


def accesses(load: bool) -> Form:
    """Each thread takes words of every size from its place to its place, by each hint: the loads, or the
    stores, have it."""
    text = Text()
    thread = text.thread()
    results, begin = [], 0
    for type in TYPES:
        size = size_of(type)
        place = text.arithmetic("add", text.arithmetic("mul", thread, size), begin)
        source = text.place("%a0", place)
        plain = text.load(source, type)
        for number, hint in enumerate(HINTS):
            marks = f"{{alignment = {size} : i64, {hinted(hint)}}}"
            target = text.place(f"%a{1 + number}", place)
            if load:
                value = text.op(f"llvm.load {source} {marks} : !llvm.ptr<1> -> {type}")
                text.store(value, target, type)
            else:
                text.do(f"llvm.store {plain}, {target} {marks} : {type}, !llvm.ptr<1>")
        begin += THREADS * size
    results = [hint.replace(" ", "-") for hint in HINTS]
    arrays = [("i32", (begin // 4,))] * (1 + len(HINTS))
    program = Program(text, arrays, 1, THREADS)
    return Form(
        f"cache-hints-{'load' if load else 'store'}", program,
        lambda s: [Source(s).bits("i32", begin // 4)], results, [Bits()] * len(results),
    )  # fmt: skip


# As CUTLASS names them (`TMA::CacheHintSm90`).
POLICIES = {"first": 0x12F0000000000000, "last": 0x14F0000000000000}
TALL, WIDE = 20, 40  # a tensor's rows and columns, of i32
BOX = (8, 16)
BYTES = BOX[0] * BOX[1] * 4


def policies() -> Form:
    """The copy engine brings boxes and takes them to another tensor, each with a policy."""
    text = Text()
    thread, shared = text.thread(), text.shared()
    cases = [(0, 0), (12, 24)]  # of each policy, the second one's over no edge
    barrier = text.place(shared, text.constant(2 * BYTES), 3)

    def begin() -> None:
        text.do(f"nvvm.mbarrier.init {barrier}, {text.constant(1)} : !llvm.ptr<3>, i32")
        text.do("nvvm.fence.mbarrier.init")
        fence(text)
        bytes = text.constant(2 * BYTES)
        text.do(f"nvvm.mbarrier.arrive.expect_tx {barrier}, {bytes} : !llvm.ptr<3>, i32")
        for number, (policy, (row, column)) in enumerate(zip(POLICIES.values(), cases)):
            at = text.place(shared, text.constant(BYTES * number), 3)
            text.do(
                f"nvvm.cp.async.bulk.tensor.shared.cluster.global {at}, %m0, {barrier}, "
                f"box[{text.constant(column)}, {text.constant(row)}] "
                f"l2_cache_hint = {text.constant(policy, 'i64')} {{isCTAOnly = true}} "
                ": !llvm.ptr<3>, !llvm.ptr"
            )
        wait(text, barrier, 0)
        for number, (policy, (row, column)) in enumerate(zip(POLICIES.values(), cases)):
            at = text.place(shared, text.constant(BYTES * number), 3)
            text.do(
                f"nvvm.cp.async.bulk.tensor.global.shared.cta %m1, {at}, "
                f"box[{text.constant(column)}, {text.constant(row)}] "
                f"l2_cache_hint = {text.constant(policy, 'i64')} : !llvm.ptr, <3>"
            )
        text.do("nvvm.cp.async.bulk.commit.group")
        text.do("nvvm.cp.async.bulk.wait_group 0")

    when_first(text, thread, begin)
    arrays = [("i32", (TALL, WIDE))] * 2
    program = Program(
        text, arrays, 1, 32, shared=2 * BYTES + 8, maps=[Map(0, BOX, 0), Map(1, BOX, 0)]
    )
    return Form("tma-policies", program, draw, ["tensor"], [Bits()])


def draw(seed: int) -> list[np.ndarray]:
    return [Source(seed).bits("i32", TALL * WIDE)]


def forms() -> Iterator[Form]:
    yield accesses(load=True)
    yield accesses(load=False)
    yield policies()
