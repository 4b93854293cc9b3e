"""Whole kernels: what users write first, from the source to verified IR."""

import re
from typing import NamedTuple

import kiln
from kiln.frontend import Facts, PointerType, ScalarType, ViewType


@kiln.function
def relu(x):
    return kiln.maximum(x, 0.0)


def matmul(
    a: kiln.View,
    b: kiln.View,
    c: kiln.View,
    alpha: kiln.f32,
    BM: kiln.tunable = kiln.tunable(32, 64, 128, default=64),
    BN: kiln.constexpr = 128,
    BK: kiln.constexpr = 32,
    epilogue: kiln.constexpr = relu,
):
    M, K = a.shape
    N = b.shape[1]
    i, j = kiln.grid(kiln.cdiv(M, BM), kiln.cdiv(N, BN))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, K, BK):
        x = a.load((i * BM, k), (BM, BK))
        y = b.load((k, j * BN), (BK, BN))
        acc = kiln.dot(x, y, acc)
    c.store((i * BM, j * BN), epilogue(alpha * acc).to(c.dtype))


def operations(text: str) -> list[str]:
    """The names of the operations, in order."""
    found = re.findall(r"^\s*(?:[%\w#, ]+ = )?((?:tile|arith|math|scf)\.\w+)", text, re.M)
    return [name for name in found if name != "tile.kernel"]


def test_matmul(lower):
    view = (kiln.bf16, 2)
    text = lower(matmul, a=view, b=view, c=view, alpha=kiln.f32)
    assert '#tile.tunable<"BM" = 64 of [32, 64, 128]>' in text
    assert "tile.grid" in text
    body = text.split("  } {\n")[1]
    loop = body[body.index("scf.for") :]
    assert operations(loop)[1:8] == [
        "arith.muli", "tile.load", "arith.muli", "tile.load", "tile.dot", "scf.yield", "arith.muli",
    ]  # fmt: skip
    assert "iter_args" in loop and "tensor<64x128xf32>" in loop
    assert "arith.maximumf" in loop and "arith.truncf" in loop


def test_tunable_and_constants_choose_the_shapes(lower):
    view = (kiln.f16, 2)
    text = lower(matmul, {"BM": 32, "BN": 16, "BK": 8}, a=view, b=view, c=view, alpha=kiln.f32)
    assert "tensor<32x8xf16>, tensor<8x16xf16> -> tensor<32x16xf32>" in text
    assert '"BM" = 32 of' in text


def test_pinned_grid_has_no_grid_region(lower):
    view = (kiln.bf16, 2)
    text = lower(matmul, grid_pinned=True, a=view, b=view, c=view, alpha=kiln.f32)
    assert "tile.grid" not in text and "tile.program_id x" in text and "tile.program_id y" in text


def add(x, y, z):
    i = kiln.program_id(0)
    z.store(i * 64, x.load(i * 64, 64) + y.load(i * 64, 64))


def test_vector_add_golden(lower):
    text = lower(add, x=(kiln.f32, 1), y=(kiln.f32, (1024,)), z=(kiln.f32, 1))
    without = re.sub(r" loc\(#l\d+\)| {tile.name = \"\w+\"}", "", text[text.index("module") :])
    assert without == (
        "module {\n"
        "  tile.kernel @add(%x: !tile.view<?xf32>, %y: !tile.view<1024xf32>, "
        "%z: !tile.view<?xf32>) {\n"
        "    %1 = tile.program_id x\n"
        "    %2 = arith.constant 64 : index\n"
        "    %3 = arith.muli %1, %2 : index\n"
        "    %4 = arith.muli %1, %2 : index\n"
        "    %5 = tile.load %x[%4] : !tile.view<?xf32> -> tensor<64xf32>\n"
        "    %6 = arith.muli %1, %2 : index\n"
        "    %7 = tile.load %y[%6] : !tile.view<1024xf32> -> tensor<64xf32>\n"
        "    %8 = arith.addf %5, %7 : tensor<64xf32>\n"
        "    tile.store %8, %z[%3] : tensor<64xf32>, !tile.view<?xf32>\n"
        "    tile.return\n"
        "  }\n"
        "}\n"
    )


def test_every_operation_has_a_location(lower):
    view = (kiln.bf16, 2)
    text = lower(matmul, a=view, b=view, c=view, alpha=kiln.f32)
    for line in text[text.index("module") :].splitlines()[1:]:
        name = operations(line + "\n")
        opens = line.rstrip().endswith("{")
        if name and not opens:
            assert re.search(r" loc\(#l\d+\)$", line), line


def test_locations_are_exact(lower):
    text = lower(add, x=(kiln.f32, 1), y=(kiln.f32, 1), z=(kiln.f32, 1))
    aliases = dict(re.findall(r'^(#l\d+) = loc\("[^"]*":(\d+:\d+)\)$', text, re.M))
    first = add.__code__.co_firstlineno
    (alias,) = re.findall(r"arith.addf .* loc\((#l\d+)\)", text)
    assert aliases[alias] == f"{first + 2}:21"
    (alias,) = re.findall(r"tile.program_id x loc\((#l\d+)\)", text)
    assert aliases[alias] == f"{first + 1}:9"


def test_inlined_calls_have_call_site_locations(lower):
    view = (kiln.bf16, 2)
    text = lower(matmul, a=view, b=view, c=view, alpha=kiln.f32)
    (alias,) = re.findall(r"arith.maximumf .* loc\((#l\d+)\)", text)
    inner, outer = re.findall(rf"^{alias} = loc\(callsite\((#l\d+) at (#l\d+)\)\)", text, re.M)[0]
    line = relu.function.__code__.co_firstlineno + 2
    assert re.search(rf"^{inner} = loc\(.*:{line}:12\)", text, re.M)
    assert re.search(rf"^{outer} = loc\(", text, re.M)


def softmax(x: kiln.View[kiln.bf16, 2], y: kiln.View, BLOCK: kiln.constexpr):
    row = kiln.grid(x.shape[0])
    m = float("-inf")
    total = 0.0
    for at in range(0, x.shape[1], BLOCK):
        tile = x.load((row, at), (1, BLOCK), pad=float("-inf")).to(kiln.f32)
        new = kiln.maximum(m, tile.max())
        total = total * kiln.exp(m - new) + kiln.exp(tile - new).sum()
        m = new
    for at in range(0, x.shape[1], BLOCK):
        tile = x.load((row, at), (1, BLOCK)).to(kiln.f32)
        y.store((row, at), (kiln.exp(tile - m) / total).to(y.dtype))


def test_online_softmax(lower):
    text = lower(softmax, {"BLOCK": 256}, x=(kiln.bf16, 2), y=(kiln.bf16, 2))
    assert text.count("scf.for") == 2
    assert re.search(r"scf.for .* -> \(f32, f32\)", text)
    assert "0xFF80" in text and "tile.to_scalar" in text


def attention(q, k, v, o, scale: kiln.f32, causal: kiln.constexpr, D: kiln.constexpr = 64):
    BM, BN = 64, 32
    i = kiln.grid(kiln.cdiv(q.shape[0], BM))
    start = i * BM
    queries = q.load((start, 0), (BM, D))
    rows = start + kiln.arange(BM)
    m = kiln.full((BM,), float("-inf"), kiln.f32)
    total = kiln.zeros((BM,), kiln.f32)
    acc = kiln.zeros((BM, D), kiln.f32)
    end = kiln.minimum(start + BM, k.shape[0]) if causal else k.shape[0]
    for at in range(0, end, BN):
        keys = k.load((at, 0), (BN, D))
        s = kiln.dot(queries, keys, transpose_b=True) * scale
        cols = at + kiln.arange(BN)
        valid = (cols < k.shape[0])[None, :]
        if causal:
            valid = valid & (rows[:, None] >= cols[None, :])
        s = kiln.where(valid, s, float("-inf"))
        new = kiln.maximum(m, kiln.max(s, axis=1))
        p = kiln.exp(s - new[:, None])
        shrink = kiln.exp(m - new)
        total = total * shrink + kiln.sum(p, 1)
        acc = kiln.dot(p.to(v.dtype), v.load((at, 0), (BN, D)), acc * shrink[:, None])
        m = new
    o.store((start, 0), (acc / total[:, None]).to(o.dtype))


def test_attention(lower):
    view = (kiln.bf16, 2)
    for causal in (False, True):
        text = lower(attention, {"causal": causal}, q=view, k=view, v=view, o=view, scale=kiln.f32)
        assert text.count("tile.dot") == 2
        assert ("arith.andi" in text) == causal


class Point(NamedTuple):
    x: object
    y: object = 1

    @kiln.function
    def scaled(self, factor):
        return Point(self.x * factor, self.y * factor)


def structures(v):
    p = Point(v.load(0, 8))
    p = p._replace(y=p.x + 1).scaled(2)
    x, y = p
    q = Point(y=x, x=y)
    v.store(0, q.x - q[1])


def test_named_structures(lower):
    text = lower(structures, v=(kiln.f32, 1))
    assert text.count("arith.mulf") == 2


def pointers(p: kiln.Pointer[kiln.f32], n: int, ld: kiln.i32):
    v = kiln.view(p, (n, 16), (ld, 1))
    w = kiln.view(p, (n, 16))
    w.store((0, 0), v.load((0, 0), (8, 16)) + v.shape[0].to(kiln.f32))


def test_views_of_pointers(lower):
    text = lower(pointers, p=PointerType(kiln.f32), n=kiln.i64, ld=kiln.i32)
    assert "!tile.pointer<f32> -> !tile.view<?x16xf32>" in text
    assert "!tile.view<?x16xf32, strides [16, 1]>" in text


def test_facts_stand_on_the_arguments(lower):
    facts = Facts(pointer=16, strides=(16, 4), extents=(0, 16), index32=True, noalias=True)
    text = lower(
        lambda_free,
        a=ViewType(kiln.f32, (None, None), facts=facts),
        n=ScalarType(kiln.i64, Facts(divisor=16)),
    )
    assert (
        "#tile.facts<pointer = 16, strides = [16, 4], extents = [0, 16], index32, noalias>" in text
    )
    assert "#tile.facts<divisor = 16>" in text


def lambda_free(a, n):
    a.store((n, 0), a.load((0, 0), (4, 4)))


def bools(m, x):
    keep = m.load(0, 16)
    x.store(0, kiln.where(keep, x.load(0, 16), 0))
    m.store(0, ~keep)


def test_bool_views_are_bytes(lower):
    text = lower(bools, m=(kiln.bool, 1), x=(kiln.i32, 1))
    assert "%m: !tile.view<?xi8>" in text and "arith.extui" in text and "cmpi ne" in text
