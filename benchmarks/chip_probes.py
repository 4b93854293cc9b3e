"""Small kernels in PTX, of which each repeats one thing that a chip's record has a number of.

A kernel counts the cycles of a loop whose body stands several times in it. What a body computes
goes into the next one, or is stored at the end: nothing can be left out. `zero` is 0, which the
assembler does not know. The loop is run with two counts, and what it takes more with the larger is
the bodies' own.
"""

from __future__ import annotations

from dataclasses import dataclass

SHARED = 40960  # bytes, of each kernel's block
MATRIX_A = 8192  # bytes of shared memory before the second operand of a matrix product


@dataclass
class Kernel:
    """A kernel of one loop.

    body      what is measured; `@i` is the number of the copy
    copies    how often the body stands in the loop
    setup     before the loop
    each      once in each trip, not counted
    finish    behind the loop, within the time
    leave     behind the time
    registers declarations
    lane      run the loop in the first lane of each warp alone
    """

    name: str
    body: str
    copies: int = 16
    setup: str = ""
    each: str = ""
    finish: str = ""
    leave: str = ""
    registers: str = ""
    directives: str = ""
    lane: bool = False

    def text(self) -> str:
        bodies = "\n".join(self.body.replace("@i", str(i)) for i in range(self.copies))
        skip = "setp.ne.u32 %skip, %lane, 0;\n@%skip bra DONE;" if self.lane else ""
        return f"""
.visible .entry {self.name}(.param .u64 p_out, .param .u64 p_data, .param .u32 p_count,
                            .param .u32 p_zero)
{self.directives}
{{
.reg .b64 %out, %data, %start, %stop, %p, %q;
.reg .b32 %count, %zero, %thread, %lane, %warp, %block, %threads, %base, %sum, %x, %y;
.reg .pred %more, %skip, %done;
{self.registers}
.shared .align 1024 .b8 memory[{SHARED}];
ld.param.u64 %out, [p_out];
ld.param.u64 %data, [p_data];
ld.param.u32 %count, [p_count];
ld.param.u32 %zero, [p_zero];
mov.u32 %thread, %tid.x;
mov.u32 %block, %ctaid.x;
mov.u32 %threads, %ntid.x;
and.b32 %lane, %thread, 31;
shr.u32 %warp, %thread, 5;
mov.u32 %base, memory;
mov.u32 %sum, %zero;
mov.u32 %x, %zero;
{self.setup}
bar.sync 0;
{skip}
mov.u64 %start, %clock64;
LOOP:
{self.each}
{bodies}
add.s32 %count, %count, -1;
setp.ne.s32 %more, %count, 0;
@%more bra LOOP;
{self.finish}
mov.u64 %stop, %clock64;
{self.leave}
sub.u64 %stop, %stop, %start;
xor.b32 %sum, %sum, %x;
mad.lo.u32 %y, %block, %threads, %thread;
mul.wide.u32 %p, %y, 16;
add.u64 %p, %p, %out;
cvt.u64.u32 %q, %sum;
st.global.v2.u64 [%p], {{%stop, %q}};
DONE:
ret;
}}
"""


def module(kernels: list[Kernel]) -> str:
    head = ".version 8.4\n.target sm_90a\n.address_size 64\n"
    return head + "".join(kernel.text() for kernel in kernels)


# ===- One thing behind the other --------------------------------------------------------------===#

FLOATS = ".reg .f32 %f, %a, %b;"
FLOAT_SETUP = "cvt.rn.f32.u32 %f, %zero;\nmov.f32 %a, %f;\nadd.f32 %b, %f, 0f3F800000;"
FLOAT_END = "mov.b32 %x, %f;"
# A pointer to itself, at `zero` bytes from the data.
CHASE = "cvt.u64.u32 %q, %zero;\nadd.u64 %p, %data, %q;"
CHASE_END = "cvt.u32.u64 %x, %p;"
CLUSTER = ".explicitcluster\n.reqnctapercluster 2, 1, 1"
CLUSTER_BARRIER = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;"

# Lane L reads the word that says where lane L's row is: that of the first matrix.
FRAGMENT_SETUP = """
mad.lo.u32 %x, %lane, 16, %base;
mad.lo.u32 %y, %lane, 4, %base;
st.shared.u32 [%y], %x;"""
# Each block's pointer is to itself as the other block sees it.
REMOTE_SETUP = f"""
cvt.u64.u32 %q, %base;
cvta.shared.u64 %q, %q;
mov.u32 %y, %cluster_ctarank;
mapa.u64 %p, %q, %y;
st.shared.u64 [%base], %p;
xor.b32 %y, %y, 1;
mapa.u64 %p, %q, %y;
{CLUSTER_BARRIER}"""

LATENCIES = [
    Kernel("fma", "fma.rn.f32 %f, %f, %a, %b;", 32, FLOAT_SETUP, finish=FLOAT_END,
           registers=FLOATS),
    Kernel("exp2", "ex2.approx.ftz.f32 %f, %f;", 32, FLOAT_SETUP, finish=FLOAT_END,
           registers=FLOATS),
    Kernel("shuffle", "shfl.sync.bfly.b32 %x, %x, 1, 31, 0xffffffff;", 32,
           "mad.lo.u32 %x, %thread, %thread, %zero;"),
    Kernel("shared", "ld.shared.u32 %x, [%x];",
           setup="st.shared.u32 [%base], %base;\nmov.u32 %x, %base;"),
    Kernel("fragment", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%x, %r1, %r2, %r3}, [%x];",
           setup=FRAGMENT_SETUP, registers=".reg .b32 %r<4>;"),
    Kernel("remote", "ld.u64 %p, [%p];", setup=REMOTE_SETUP, finish=CHASE_END,
           leave=CLUSTER_BARRIER, directives=CLUSTER),
    Kernel("l1", "ld.global.u64 %p, [%p];", setup=CHASE, finish=CHASE_END),
    Kernel("l2", "ld.global.cg.u64 %p, [%p];", setup=CHASE, finish=CHASE_END),
]  # fmt: skip

# ===- As many as there can be -----------------------------------------------------------------===#

CHAINS = 4  # in each thread, of a full core


def rate(name: str, instruction: str, registers: str, setup: str, copies: int = 32) -> Kernel:
    """`@c` is the number of the chain."""

    def chains(text: str, end: str = "\n") -> str:
        return end.join(text.replace("@c", str(c)) for c in range(CHAINS))

    finish = "bar.sync 0;\n" + chains("mov.b32 %y, %v@c;\nxor.b32 %x, %x, %y;")
    return Kernel(name, chains(instruction), copies, chains(setup), finish=finish,
                  registers=registers)  # fmt: skip


FLOAT_CHAIN = "add.u32 %y, %zero, %thread;\ncvt.rn.f32.u32 %v@c, %y;"
WORD_CHAIN = "mad.lo.u32 %v@c, %thread, %zero, %thread;"
RATES = [
    rate("fmas", "fma.rn.f32 %v@c, %v@c, %v@c, %v@c;", f".reg .f32 %v<{CHAINS}>;", FLOAT_CHAIN),
    rate("halves", "fma.rn.f16x2 %v@c, %v@c, %v@c, %v@c;", f".reg .b32 %v<{CHAINS}>;", WORD_CHAIN),
    rate("exp2s", "ex2.approx.ftz.f32 %v@c, %v@c;", f".reg .f32 %v<{CHAINS}>;", FLOAT_CHAIN),
    rate("roots", "rsqrt.approx.ftz.f32 %v@c, %v@c;", f".reg .f32 %v<{CHAINS}>;", FLOAT_CHAIN),
    rate("multiplies", "mad.lo.s32 %v@c, %v@c, %v@c, %v@c;", f".reg .b32 %v<{CHAINS}>;",
         WORD_CHAIN),
    rate("shuffles", "shfl.sync.bfly.b32 %v@c, %v@c, 1, 31, 0xffffffff;",
         f".reg .b32 %v<{CHAINS}>;", WORD_CHAIN),
    rate("conversions", "mov.b32 %f, %v@c;\ncvt.rn.bf16x2.f32 %v@c, %f, %f;",
         f".reg .f32 %f;\n.reg .b32 %v<{CHAINS}>;", WORD_CHAIN),
]  # fmt: skip

VECTOR = ".reg .b32 %r<4>;"
ADD_UP = """
lop3.b32 %sum, %sum, %r0, %r1, 0x96;
lop3.b32 %sum, %sum, %r2, %r3, 0x96;"""
VECTORS = 1024 * 16  # bytes that 1024 threads read at once
L1_READS, L2_READS, MEMORY_READS = 4, 4, 8

# All threads of a launch side by side, each with 16 bytes; %stride is what they read at once.
ALL_THREADS = """
mad.lo.u32 %y, %block, %threads, %thread;
mul.wide.u32 %p, %y, 16;
add.u64 %p, %data, %p;
mov.u32 %y, %nctaid.x;
mul.lo.u32 %y, %y, %threads;
mul.wide.u32 %stride, %y, 16;
mov.u64 %q, %p;"""
# Each trip reads other bytes than the one before: no load can be moved out of the loop.
OTHER_HALF = """
and.b32 %y, %count, 1;
mul.wide.u32 %q, %y, @bytes;
add.u64 %q, %p, %q;"""
BANDWIDTHS = [
    Kernel("shared_reads", f"ld.volatile.shared.v4.u32 {{%r0, %r1, %r2, %r3}}, [%y];{ADD_UP}",
           setup="mad.lo.u32 %y, %thread, 16, %base;", finish="bar.sync 0;", registers=VECTOR),
    Kernel("l1_reads",
           f"ld.global.v4.u32 {{%r0, %r1, %r2, %r3}}, [%q];{ADD_UP}\n"
           f"add.u64 %q, %q, {VECTORS};",
           L1_READS, "mul.wide.u32 %p, %thread, 16;\nadd.u64 %p, %data, %p;",
           OTHER_HALF.replace("@bytes", str(L1_READS * VECTORS)), "bar.sync 0;",
           registers=VECTOR),
    Kernel("l2_reads",
           f"ld.global.cg.v4.u32 {{%r0, %r1, %r2, %r3}}, [%q];{ADD_UP}\nadd.u64 %q, %q, %stride;",
           L2_READS, ALL_THREADS, OTHER_HALF.replace("@bytes", "16"),
           registers=f"{VECTOR}\n.reg .b64 %stride;"),
    Kernel("memory_reads",
           "ld.global.L1::no_allocate.v4.u32 {%r0, %r1, %r2, %r3}, [%q];"
           f"{ADD_UP}\nadd.u64 %q, %q, %stride;",
           MEMORY_READS, ALL_THREADS, registers=f"{VECTOR}\n.reg .b64 %stride;"),
]  # fmt: skip

# ===- Waiting for one another -----------------------------------------------------------------===#

# Two barriers in shared memory, of so many arrivals.
BARRIERS = """
setp.ne.u32 %skip, %thread, 0;
@!%skip mbarrier.init.shared::cta.b64 [%base], @arrivals;
@!%skip mbarrier.init.shared::cta.b64 [%base + 8], @arrivals;
fence.mbarrier_init.release.cluster;
mov.u32 %phase, 0;
mov.u32 %mine, %base;
mov.u32 %theirs, %base;"""
# Each warp arrives at its own and waits for the other's; the first arrives first.
EACH_ITS_OWN = """
mad.lo.u32 %mine, %warp, 8, %base;
xor.b32 %theirs, %mine, 8;
setp.eq.u32 %first, %warp, 0;"""
BARRIER_REGISTERS = ".reg .b32 %phase, %mine, %theirs;\n.reg .pred %first;\n.reg .b64 %state;"
WAIT = """
WAIT@i:
mbarrier.try_wait.parity.shared::cta.b64 %done, [%theirs], %phase;
@!%done bra WAIT@i;
xor.b32 %phase, %phase, 1;"""
ARRIVE = "mbarrier.arrive.shared::cta.b64 %state, [%mine];"
COPIED = 1024  # bytes of one copy by the engine

SYNCHRONISATION = [
    Kernel("barrier", "bar.sync 0;"),
    Kernel("named_barrier", "bar.sync 1, 32;"),
    Kernel("cluster_barrier", CLUSTER_BARRIER, directives=CLUSTER),
    Kernel("arrive", ARRIVE, setup=BARRIERS.replace("@arrivals", "1048575"),
           registers=BARRIER_REGISTERS, lane=True),
    Kernel("round_trip", ARRIVE + WAIT, setup=BARRIERS.replace("@arrivals", "1"),
           registers=BARRIER_REGISTERS, lane=True),
    # One body is two hand-overs.
    Kernel("hand_over", f"@%first {ARRIVE}{WAIT}\n@!%first {ARRIVE}",
           setup=BARRIERS.replace("@arrivals", "1") + EACH_ITS_OWN, registers=BARRIER_REGISTERS,
           lane=True),
    Kernel("proxy_fence", "st.shared.u32 [%base + 64], %x;\nfence.proxy.async.shared::cta;",
           lane=True),
    Kernel("shared_store", "st.volatile.shared.u32 [%base + 64], %x;", lane=True),
    Kernel("device_fence", "st.global.u32 [%data], %x;\nfence.acq_rel.gpu;", lane=True),
    Kernel("async_copy",
           "cp.async.cg.shared.global [%y], [%p], 16;\ncp.async.commit_group;\n"
           "cp.async.wait_group 0;",
           setup="mul.wide.u32 %p, %thread, 16;\nadd.u64 %p, %data, %p;\n"
                 "mad.lo.u32 %y, %thread, 16, %base;"),
    Kernel("engine_copy",
           "mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%mine], "
           f"{COPIED};\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
           f"[%y], [%data], {COPIED}, [%mine];{WAIT}",
           setup=BARRIERS.replace("@arrivals", "1") + "\nadd.u32 %y, %base, 1024;",
           registers=BARRIER_REGISTERS, lane=True),
    # One body gives registers away and takes them back.
    Kernel("resize", "setmaxnreg.dec.sync.aligned.u32 64;\nsetmaxnreg.inc.sync.aligned.u32 128;", 4,
           directives=".reqntid 128\n.maxnreg 128"),
]  # fmt: skip

# ===- Matrix products -------------------------------------------------------------------------===#

# Rows of 128 bytes in the swizzle of 128 bytes; eight rows are 1024 bytes.
DESCRIPTORS = f"""
shr.u32 %y, %base, 4;
cvt.u64.u32 %da, %y;
or.b64 %da, %da, {1 << 62 | 1024 >> 4 << 32 | 1 << 16};
add.u64 %db, %da, {MATRIX_A >> 4};
setp.eq.u32 %accumulate, %zero, 0;"""
CLEAR = "\n".join(
    ["mad.lo.u32 %y, %thread, 16, %base;",
     *(f"st.shared.v4.u32 [%y + {at}], {{%zero, %zero, %zero, %zero}};"
       for at in range(0, SHARED, 128 * 16)),
     "fence.proxy.async.shared::cta;"]
)  # fmt: skip
FENCE, COMMIT = "wgmma.fence.sync.aligned;", "wgmma.commit_group.sync.aligned;"
# By type: the depth of one instruction, the accumulator's type, and what follows the descriptors.
TYPES = {
    "bf16": (16, "f32", "%accumulate, 1, 1, 0, 0"),
    "tf32": (8, "f32", "%accumulate, 1, 1"),
    "e4m3": (32, "f32", "%accumulate, 1, 1"),
    "s8": (32, "s32", "%accumulate"),
}


def products(name: str, kind: str, columns: int, count: int, in_flight: int = 0,
             from_registers: bool = False) -> Kernel:  # fmt: skip
    """Groups of `count` products of 64 rows into the same accumulators, by one group of warps; a
    trip waits until so many groups are under way."""
    depth, accumulator, rest = TYPES[kind]
    size = columns // 2
    sums = ", ".join(f"%d{i}" for i in range(size))
    left = "{%r0, %r1, %r2, %r3}" if from_registers else "%da"
    if from_registers:
        rest = rest.removesuffix(", 0")
    shape = f"m64n{columns}k{depth}.{accumulator}.{kind}.{kind}"
    one = f"wgmma.mma_async.sync.aligned.{shape} {{{sums}}}, {left}, %db, {rest};"
    wait = "wgmma.wait_group.sync.aligned"
    start = "\n".join(f"mov.b32 %d{i}, %zero;" for i in range(size))
    start += "".join(f"\nadd.u32 %r{i}, %zero, {i};" for i in range(4))
    return Kernel(
        name, "\n".join([FENCE, *[one] * count, COMMIT, f"{wait} {in_flight};"]), 1,
        f"{CLEAR}\n{DESCRIPTORS}\n{start}", finish=f"{wait} 0;\nmov.b32 %x, %d0;",
        registers=f".reg .{'f32' if accumulator == 'f32' else 'b32'} %d<{size}>;\n"
                  ".reg .b32 %r<4>;\n.reg .b64 %da, %db;\n.reg .pred %accumulate;",
        directives=".reqntid 128",
    )  # fmt: skip


PRODUCTS_OF_A_TRIP = 8
ONE, SEVERAL = 1, 17
PRODUCTS = [
    *(products(f"products_{kind}", kind, 256, PRODUCTS_OF_A_TRIP, 1) for kind in TYPES),
    products("one_product", "bf16", 8, ONE, from_registers=True),
    products("several_products", "bf16", 8, SEVERAL, from_registers=True),
    products("one_product_of_shared", "bf16", 8, ONE),
    products("several_products_of_shared", "bf16", 8, SEVERAL),
]
# By type: extents, registers of each lane for a, b and the accumulators, and the latter's type.
WARP_TYPES = {
    "f64": ((16, 8, 16), (8, 4, 4), "f64"),
    "tf32": ((16, 8, 8), (4, 2, 4), "f32"),
    "bf16": ((16, 8, 16), (4, 2, 4), "f32"),
    "e4m3": ((16, 8, 32), (4, 2, 4), "f32"),
    "s8": ((16, 8, 32), (4, 2, 4), "s32"),
}


def warp_products(name: str, kind: str, chains: int = CHAINS) -> Kernel:
    """Products of one warp (mma.sync), each into its own accumulators."""
    (m, n, k), counts, accumulator = WARP_TYPES[kind]
    word = ".f64" if kind == "f64" else ".b32"
    a, b = ("{" + ", ".join(f"%{of}{i}" for i in range(count)) + "}"
            for of, count in zip("ab", counts, strict=False))  # fmt: skip
    sums = ["{" + ", ".join(f"%d{c}_{i}" for i in range(counts[2])) + "}" for c in range(chains)]
    # The next chain multiplies what this one has summed: no conversion of bytes is moved out.
    hand_on = "" if kind == "f64" else "\nmov.b32 %a@i, %d@c_@i;"
    body = "\n".join(
        f"mma.sync.aligned.m{m}n{n}k{k}.row.col.{accumulator}.{kind}.{kind}.{accumulator} "
        f"{each}, {a}, {b}, {each};"
        + "".join(hand_on.replace("@i", str(i)).replace("@c", str(c)) for i in range(4))
        for c, each in enumerate(sums)
    )  # fmt: skip
    names = [f"%{of}{i}" for of, count in zip("ab", counts, strict=False) for i in range(count)]
    sums = [f"%d{c}_{i}" for c in range(chains) for i in range(counts[2])]
    float_sums = accumulator == "f32"
    zero = {".f64": "cvt.rn.f64.u32 {}, %zero;", ".b32": "mov.b32 {}, %zero;"}[word]
    add_up = {
        ".f64": "cvt.rzi.u32.f64 %y, {};\nxor.b32 %x, %x, %y;",
        ".b32": "mov.b32 %y, {};\nxor.b32 %x, %x, %y;",
    }[word]
    return Kernel(
        name, body, 8, "\n".join(zero.format(each) for each in [*names, *sums]),
        finish="bar.sync 0;", leave="\n".join(add_up.format(each) for each in sums),
        registers=f".reg {word} {', '.join(names)};\n"
                  f".reg {'.f32' if float_sums else word} {', '.join(sums)};",
    )  # fmt: skip


WARP_PRODUCTS = [
    *(warp_products(f"warp_products_{kind}", kind) for kind in WARP_TYPES),
    warp_products("one_warp_product", "bf16", chains=1),
]
KERNELS = [*LATENCIES, *RATES, *BANDWIDTHS, *SYNCHRONISATION, *PRODUCTS, *WARP_PRODUCTS]
