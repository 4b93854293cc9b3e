"""Every function of the language, in a small kernel each: verified IR, and the operations in it.

A case names its arguments as `Lowered` takes them, and the texts that must stand in the IR.
"""

import inspect

import pytest

import kiln
import kiln.frontend.intrinsics
from kiln import language
from kiln.frontend.syntax.calls import INTRINSICS

F32, F16, I32, U8 = (kiln.f32, 1), (kiln.f16, 1), (kiln.i32, 1), (kiln.u8, 1)
M32 = (kiln.f32, 2)
CASES = []


def case(*texts, **arguments):
    def add(function):
        CASES.append(pytest.param(function, texts, arguments, id=function.__name__))
        return function

    return add


@case("tile.program_id y", "tile.num_programs z", v=(kiln.i64, 1))
def program(v):
    v[kiln.program_id(1)] = kiln.num_programs(2).to(kiln.i64)


@case("arith.ceildivsi", v=(kiln.i64, 1), n=kiln.i64)
def cdiv(v, n):
    v[0] = kiln.cdiv(n, 8) + kiln.cdiv(17, 8)


@case("tile.assume", "tile.multiple_of %n, 16 : i64", v=F32, n=kiln.i64)
def promises(v, n):
    kiln.assume(n > 0)
    kiln.assume(True)
    at = kiln.multiple_of(n, 16) + kiln.multiple_of(32, 16)
    v[at] = 1


@case("attributes {tile.warps = 4 : i64}", v=F32)
def pin(v):
    kiln.pin(warps=4)
    v[0] = 1


@case('tile.roles = [#tile.role<"all", warps = 4, copies = 2>]', 'role = "all"', v=F32)
def pin_roles(v):
    kiln.pin(roles=kiln.role("all", warps=4, copies=2))
    kiln.pin(v.store(0, kiln.zeros(4, kiln.f32)), role="all")


@case("attributes {tile.cluster = array<i64: 2, 1, 1>, tile.overlap = unit}", v=F32)
def pin_launches(v):
    kiln.pin(cluster=2, overlap=True)
    v[0] = 1


@case(
    'tile.print "x=" hex unsigned (%',
    '"both" (%n) : i32',
    "tile.assert %",
    '"out of \\22range\\22"',
    v=U8,
    n=kiln.i32,
)
def messages(v, n):
    x = v.load(0, 16)
    kiln.device_print("x=", x, hex=True)
    kiln.device_print("both", x, n, 3, 1.5)
    kiln.device_print("alone")
    kiln.device_assert(x < 16, 'out of "range"')
    assert n > 0, f"n of {v.dtype}"


@case(
    "arith.constant dense<0.0> : tensor<4x4xf32>",
    "dense<1> : tensor<8xi4>",
    "tile.splat",
    v=M32,
    s=kiln.f32,
)
def creation(v, s):
    x = kiln.zeros((4, 4), kiln.f32) + kiln.full((4, 4), s) + kiln.full((4, 4), 2)
    y = kiln.ones(8, kiln.i4)
    v.store((0, 0), x + y.to(kiln.f32).sum())


@case("tile.iota 0 : tensor<16xi32>", "tile.iota 0 : tensor<8xi32>", "arith.trunci", v=F32)
def arange(v):
    kiln.static_assert(kiln.arange(8).dtype == kiln.i32)
    kiln.static_assert(kiln.arange(4, 12, dtype=kiln.u8).dtype == kiln.u8)
    v.store(
        0, kiln.arange(16, dtype=kiln.f32) + kiln.arange(2, 10, dtype=kiln.i16)[0:1].to(kiln.f32)
    )


@case(
    "math.exp %",
    "math.exp2",
    "math.log %",
    "math.log2",
    "math.sqrt",
    "math.rsqrt",
    "math.sin",
    "math.cos",
    "math.tanh",
    "math.erf",
    "arith.extf",
    "arith.truncf",
    v=F16,
)
def functions(v):
    x = v.load(0, 16)
    x = kiln.exp(x) + kiln.exp2(x) + kiln.log(x) + kiln.log2(x) + kiln.sqrt(x) + kiln.rsqrt(x)
    x = x + kiln.sin(x) + kiln.cos(x) + kiln.tanh(x) + kiln.erf(x) + kiln.sigmoid(x)
    v.store(0, x + kiln.sqrt(2.0) * kiln.exp(0))


@case("math.log10", "math.expm1", "math.erfc", "math.cbrt", "math.log1p", v=F16)
def more_functions(v):
    x = v.load(0, 16)
    x = kiln.expm1(x) + kiln.log1p(x) + kiln.log10(x) + kiln.cbrt(x) + kiln.erfc(x)
    v.store(0, x * kiln.cbrt(8) + kiln.log10(100.0))


@case("math.asin", "math.acos", "math.atan", "math.tan", "math.atan2", v=F32)
def angles(v):
    x = v.load(0, 16)
    y = kiln.asin(x) + kiln.acos(x) + kiln.atan(x) + kiln.tan(x)
    v.store(0, kiln.atan2(x, y) + kiln.atan2(1, 2.0))


@case("math.sinh", "math.cosh", "math.asinh", "math.acosh", "math.atanh", "math.copysign", v=F32)
def hyperbolic(v):
    x = v.load(0, 16)
    y = kiln.asinh(kiln.sinh(x)) + kiln.acosh(kiln.cosh(x)) + kiln.atanh(x)
    v.store(0, kiln.copysign(y, x))


@case("tile.reduce", "math.sqrt", "math.exp %", "math.log %", v=M32)
def statistics(v):
    x = v.load((0, 0), (4, 8))
    kiln.static_assert(kiln.mean(x).dtype == kiln.f32)
    x = kiln.softmax(x - kiln.mean(x) + kiln.var(x, 1, keepdims=True)) * kiln.std(x, ddof=1)
    v.store((0, 0), kiln.log_softmax(x, axis=0) - kiln.logsumexp(x, axis=1, keepdims=True))


@case("arith.maximumf", "math.erfc", "math.tanh", "math.exp %", v=F32)
def activations(v):
    x = kiln.relu(v.load(0, 16))
    v.store(0, kiln.gelu(x) + kiln.gelu(x, "tanh") + kiln.silu(x))


@case("math.ctpop", "math.ctlz", "math.cttz", "arith.shrui", "arith.shrsi", v=I32)
def bits(v):
    x = kiln.bitreverse(v.load(0, 16))
    v.store(0, kiln.popcount(x) + kiln.clz(x) + kiln.ctz(x) + kiln.mulhi(x, 3))


@case("cmpf oeq", "cmpf olt", "cmpf ogt", v=F32)
def kinds(v):
    x = v.load(0, 16)
    finite = kiln.where(kiln.isfinite(x), kiln.sign(x), 0.0)
    v.store(0, kiln.where(kiln.isinf(x), 1.0, finite))


@case("tile.iota", "cmpi sge", "cmpi sle", "cmpi eq", v=M32)
def matrices(v):
    n: kiln.constexpr = kiln.next_power_of_2(7)
    x = v.load((0, 0), (n, n))
    y = kiln.tril(x, -1) + kiln.triu(x) + kiln.eye(8) + kiln.zeros_like(x) + kiln.ones_like(x)
    i, j = kiln.swizzle2d(kiln.program_id(0), kiln.program_id(1), 8, 8, 4)
    row = kiln.squeeze(y[0:1])
    v.store((i, j), y + kiln.full_like(row, kiln.pi))


@case("math.absf", "math.absi", "math.floor", "math.ceil", "cmpf uno", "math.fma", "math.trunc",
      "math.roundeven", v=F32, i=I32)  # fmt: skip
def rounding(v, i):
    x = v.load(0, 16)
    n = kiln.abs(i.load(0, 16)) + kiln.floor(3) + round(2.6)
    x = kiln.abs(x) + kiln.floor(x) + kiln.ceil(x) + kiln.trunc(x) + kiln.round(x) + round(x) + n
    x = kiln.where(kiln.isnan(x), 0, x)
    v.store(0, kiln.fma(x, 2, kiln.ceil(0.5)))


@case(
    "arith.select",
    "arith.minimumf",
    "arith.maximumf",
    "arith.minsi",
    "arith.maxui",
    v=F32,
    u=U8,
    i=I32,
)
def selection(v, u, i):
    x = v.load(0, 8)
    x = kiln.where(x > 0, x, 0.5)[None, :] + kiln.minimum(x, 1)[:, None]
    i.store(0, kiln.minimum(i.load(0, 4), 7))
    u.store(0, kiln.maximum(u.load(0, 4), 255))
    v.store(0, kiln.clamp(x, -1.0, 1.0).reshape(64))


@case("tile.philox", "arith.shrui", "math.cos", "math.log", "arith.muli", v=F32, seed=kiln.u64)
def random(v, seed):
    at = kiln.arange(32)
    a, b, c, d = kiln.philox(seed, at, stream=3)
    kiln.static_assert(a.dtype == kiln.u32)
    x = kiln.rand(seed, at) + kiln.randn(2**64 - 1, at.to(kiln.u32), 1)
    x += kiln.randint(7, at, 0, 10) + kiln.randint(7, at).to(kiln.f32)
    v.store(0, x + kiln.randint(seed, at, seed.to(kiln.i32), 100) + (a ^ b ^ c ^ d).to(kiln.f32))


@case("pad(%", "cache = streaming evict = first", "cache = bypass", a=M32)
def accesses(a):
    x = kiln.load(a, (0, -1), (8, 8), pad=float("nan"), cache="streaming", evict="first")
    kiln.store(a, (8, a.shape[1]), x, cache="bypass")
    a.store((0, 0), 1.0)
    a[1, 2] = a[2, 1] * 2


@case("tile.gather %a[%", "mask(%", "pad(%", "tile.scatter", "tensor<8xi64>", a=M32, n=kiln.i64)
def indices(a, n):
    rows = kiln.arange(8)
    x = a.gather((rows, n), mask=rows < 4, pad=-1.0)
    y = kiln.gather(a, (rows[:, None], rows[None, :] + n))
    a.scatter((rows, 0), x + y[:, 0:1].reshape(8))
    kiln.scatter(a, (rows, rows), 1.0, mask=rows > 1)


@case(
    "tile.atomic_rmw addf",
    "addi",
    "mins",
    "maxu",
    " and ",
    " or ",
    " xor ",
    " exch ",
    "order = relaxed scope = system",
    "tile.atomic_cas",
    "[index], i32",
    f=F32,
    i=I32,
    u=(kiln.u64, 1),
)
def atomics(f, i, u):
    at = kiln.arange(8)
    old = kiln.atomic_add(f, at, 1.0, mask=at < 3, order="relaxed", scope="system")
    kiln.atomic_add(i, 0, 1)
    kiln.atomic_min(i, at, at)
    kiln.atomic_max(f, at, old)
    kiln.atomic_max(u, at, 3)
    kiln.atomic_and(i, at, 1)
    kiln.atomic_or(i, at, 1)
    kiln.atomic_xor(i, at, 1)
    kiln.atomic_exchange(f, at, 0.0)
    while kiln.atomic_cas(i, 0, 0, 1, order="acquire") != 0:
        pass


@case(
    "tile.dot",
    "transpose_a",
    "transpose_b",
    "precision = tf32x3",
    "unsigned_a",
    "-> tensor<16x16xi32>",
    a=M32,
    h=(kiln.f16, 2),
    u=(kiln.u8, 2),
    s=(kiln.i8, 2),
)
def products(a, h, u, s):
    x, y = a.load((0, 0), (32, 16)), a.load((0, 0), (16, 32))
    z = kiln.dot(x, y, transpose_a=True, transpose_b=True, precision="tf32x3")
    z = z + (y @ x)
    n = h.load((0, 0), (16, 16))
    n = kiln.dot(n, n, dtype=kiln.f16)
    i = kiln.dot(u.load((0, 0), (16, 32)), s.load((0, 0), (32, 16)))
    b = kiln.dot(kiln.zeros((2, 8, 4), kiln.bf16), kiln.zeros((2, 4, 8), kiln.bf16))
    kiln.static_assert(b.shape == (2, 8, 8) and b.dtype == kiln.f32)
    a.store((0, 0), z + n + i)


@case(
    "tile.dot_scaled",
    "f8E8M0FNU",
    "f4E2M1FN",
    c=M32,
    a=(kiln.f4e2m1fn, 2),
    b=(kiln.f4e2m1fn, 2),
    s=(kiln.f8e8m0fnu, 2),
    t=(kiln.f8e4m3fn, 2),
)
def scaled_products(a, b, s, t, c):
    x, y = a.load((0, 0), (16, 64)), b.load((0, 0), (16, 64))
    s = s.load((0, 0), (16, 2))
    z = kiln.dot_scaled(x, s, y, s, transpose_b=True)
    t = t.load((0, 0), (16, 4))
    c.store((0, 0), kiln.dot_scaled(x, t, y, t, z, True))


@case(
    "tile.reduce",
    "axis = 1",
    "axis = 0",
    "arith.mulf",
    "tile.to_scalar",
    "arith.ori",
    "arith.andi",
    a=M32,
)
def reductions(a):
    x = a.load((0, 0), (8, 4))
    kiln.static_assert(x.sum(1).shape == (8,) and x.sum(axis=-2, keepdims=True).shape == (1, 4))
    y = x - kiln.max(x, axis=1, keepdims=True) + x.min(0) + x.prod()
    y = kiln.where(kiln.any(x > 0, 1)[:, None] & kiln.all(x > 1, 0), y, 0)
    kiln.static_assert(kiln.sum(x.to(kiln.bf16)).dtype == kiln.f32)
    kiln.static_assert(kiln.sum(x.to(kiln.u8)).dtype == kiln.u32)
    kiln.static_assert(kiln.max(x.to(kiln.f8e5m2), 0).dtype == kiln.f8e5m2)
    a.store((0, 0), y)


@case("tile.arg_reduce", "cmpf ugt", "cmpf ord", "cmpi ult", v=F32, a=M32)
def positions(v, a):
    x = a.load((0, 0), (8, 4))
    kiln.static_assert(kiln.argmax(x, 1).dtype == kiln.i32 and kiln.argmax(x, 1).shape == (8,))
    v.store(0, (x.argmax(1) + kiln.argmin(x.to(kiln.u8), 1) + kiln.argmin(x)).to(kiln.f32))


@kiln.function
def pair(a, i, b, j):
    later = b > a
    return kiln.where(later, b, a), j if later else i


@case("tile.reduce %", "arith.select", "tile.scan", "reverse", "arith.mulf", "arith.addf", v=F32)
def regions(v):
    x = v.load(0, 16)
    best, where = kiln.reduce((x, kiln.arange(16)), 0, pair)
    y = kiln.scan(x, 0, lambda a, b: a * b, reverse=True)
    y = y + kiln.cumsum(x) + kiln.cumsum(x, 0, reverse=True) + kiln.cumprod(x)
    bias = v[0]
    y = y + kiln.reduce(x, None, lambda a, b: kiln.maximum(a, b) + bias)
    v.store(0, y + best + where)


@case(
    "tile.sort",
    "descending",
    "unsigned",
    "tile.topk",
    "smallest",
    "tile.histogram",
    "mask(",
    v=F32,
    u=U8,
)
def order(v, u):
    x = v.load(0, 16)
    k, i, j = kiln.sort(x, kiln.arange(16), x, descending=True)
    x = kiln.sort(k + i + j, axis=0)
    top, at = kiln.topk(x, 4)
    low, _ = kiln.topk(u.load(0, 16), 2, largest=False)
    counts = kiln.histogram(u.load(0, 16), 8, mask=x > 0)
    v.store(0, (top[None, :] + at[None, :] + low[:, None]).reshape(8) + counts)


@case(
    "tile.broadcast",
    "tile.reshape",
    "tile.transpose",
    "tile.join",
    "tile.split",
    "tile.concat %",
    "axis = 0 : tensor<8xf32>, tensor<8xf32>",
    "tile.slice",
    v=F32,
)
def shapes(v):
    x = v.load(0, 8)
    y = kiln.broadcast_to(x, (4, 8)).T.transpose(1, 0).reshape(-1, 2)
    a, b = kiln.split(kiln.join(x, x))
    c = kiln.concat((a, b), 0) + y.reshape((16, 2))[:, 1]
    c = kiln.slice(c, 4, 8) + c[8:16] + c[3] + kiln.expand_dims(c, 1)[8:, 0]
    kiln.static_assert(kiln.transpose(y, (1, 0)).shape == (2, 16))
    kiln.static_assert(x.broadcast_to(shape=(2, 8)).shape == (2, 8))
    kiln.static_assert(x[..., None].shape == (8, 1) and x.reshape(2, 4).T.shape == (4, 2))
    v.store(0, c)


@case("tile.bitcast", "arith.bitcast", "arith.sitofp", "arith.fptosi", "arith.fptoui", v=F32, i=I32)
def conversions(v, i):
    x = v.load(0, 8)
    n = x.bitcast(kiln.u32) >> 31
    kiln.static_assert(kiln.bitcast(n, kiln.i8).shape == (32,))
    n = kiln.bitcast(x, kiln.i4)
    i.store(0, kiln.cast(x, kiln.i32) + x.to(kiln.u32).to(kiln.i32) + x.to(kiln.i8) + n[0:8])
    v.store(0, i.load(0, 8).to(kiln.f32) + kiln.f32(3) + kiln.u8(x.max()))


@case('tile.inline_asm "op $0" "=f,f" pack = 2 pure (', "tile.extern_call", 'from "lib.bc"', v=F32)
def foreign(v):
    x = v.load(0, 8)
    x = kiln.inline_asm("op $0", "=f,f", x, kiln.f32, pack=2)
    y, z = kiln.inline_asm("op2", "=f,=r,f,f", (x, 1.0), (kiln.f32, kiln.i32), pure=False)
    v.store(0, y + z + kiln.extern_call("erfcxf", (x,), kiln.f32, library="lib.bc"))


@case(
    "tile.take",
    "tile.concat",
    "tile.transpose",
    "tile.arg_reduce",
    u=(kiln.i32, 1),
    a=(kiln.f32, 2),
)
def taking(u, a):
    x = a.load((0, 0), (4, 8))
    at = u.load(0, 4)[:, None]
    x = kiln.gather(x, at, 1) + kiln.roll(kiln.flip(x, axis=(0, 1)), 3, axis=1)
    best, place = kiln.max(kiln.permute(x, 1, 0), axis=0, return_indices=True)
    a.store((0, 0), kiln.roll(x, u[0])[:, ::-2] + best * place)


@case("tile.subview", "tile.address", a=(kiln.f32, 2), n=kiln.i64)
def parts(a, n):
    b = a[n:, 1] if n > 2 else a.T[0, ::2]
    b.store(0, a.permute(1, 0).load((0, 0), (4, 1), squeeze=1))
    a[0, 0:4] += a.reshape(-1).load(0, 4)


@case("tile.view_from_pointer", p=kiln.frontend.PointerType(kiln.bf16), n=kiln.i64)
def views(p, n):
    v = kiln.view(p, (n, n), (n, 1))
    kiln.static_assert(v.rank == 2 and v.dtype == kiln.bf16)
    kiln.view(p, 16)[0] = v[0, 0]


@case("tile.pointer_from_address", "tile.view_from_pointer", n=kiln.i64)
def addresses(n):
    v = kiln.view(kiln.pointer(n, kiln.f32), (n, 4))
    kiln.static_assert(v.rank == 2 and v.dtype == kiln.f32)
    kiln.view(n, 16, dtype=kiln.i8)[0] = 3


@case(v=F32)
def static(v):
    total = 0
    for k in kiln.static_range(1, 9, 2):
        total += k
    kiln.static_assert(total == 16, f"total is {total}")
    v[total] = 0


@pytest.mark.parametrize(("function", "texts", "arguments"), CASES)
def test_intrinsics(lower, function, texts, arguments):
    text = lower(function, **arguments)
    for wanted in texts:
        assert wanted in text, f"{wanted}\n{text}"


def test_every_intrinsic_has_a_meaning_and_a_case():
    declared = {
        name for name in language.__all__ if hasattr(getattr(language, name), "__kiln_intrinsic__")
    }
    assert declared == set(INTRINSICS)
    source = inspect.getsource(inspect.getmodule(case))
    tested = {name for name in declared if f"kiln.{name}(" in source or f".{name}(" in source}
    assert declared - tested - {"grid", "static_print"} == set()


def test_every_intrinsic_is_documented():
    for name in INTRINSICS:
        assert getattr(language, name).__doc__, name


@pytest.mark.parametrize("name", sorted(INTRINSICS))
def test_outside_a_kernel_is_an_error(name):
    on_the_host = {"cdiv": ((9, 4), 3), "next_power_of_2": ((9,), 16)}
    if name in on_the_host:
        arguments, result = on_the_host[name]
        assert getattr(kiln, name)(*arguments) == result
        return
    with pytest.raises(TypeError, match="inside a kernel"):
        getattr(kiln, name)()
