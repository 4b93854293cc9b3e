"""Random programs: whatever the front end accepts verifies, and what it refuses it refuses with
an error at a line of the program."""

import ast

from hypothesis import given, settings
from hypothesis import strategies as st
from lowered import from_text, verified
from seeds import is_whole

import kiln
from kiln.frontend import CompileError, KernelSource, ScalarType, ViewType
from kiln.language.dtypes import DTYPES

PART = 1 if is_whole() else 3  # of the examples, others each time
MEMORY = [name for name in DTYPES if name not in ("tf32", "index")]
BINARY = [
    "+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "<", "<=", "==", "!=", "**", "and",
    "or", "@",
]  # fmt: skip
UNARY = ["-", "~", "not ", "+"]
FUNCTIONS = [
    "kiln.exp({})", "kiln.abs({})", "kiln.maximum({}, {})", "kiln.where({}, {}, {})",
    "kiln.minimum({}, 1)", "{}.sum()", "{}.max(0)", "{}.T", "{}[None, :]", "{}[:, None]",
    "{}.reshape(-1)", "kiln.cast({}, kiln.i8)", "{}.to(kiln.bf16)", "kiln.cumsum({})",
    "kiln.sort({})", "kiln.argmax({})", "kiln.floor({})", "kiln.sigmoid({})", "kiln.cdiv({}, {})",
    "kiln.fma({}, {}, {})", "({} if {} else {})", "kiln.bitcast({}, kiln.i32)", "({}, {})[0]",
    "kiln.join({}, {})", "kiln.full((2, 4), {})", "(lambda q: q + {})({})", "kiln.clamp({}, 0, {})",
    "kiln.any({})", "int({})", "kiln.rand({}, {})", "kiln.dot({}, {})",
    "kiln.flip({})", "kiln.roll({}, 1, 0)", "{}[::-1]", "kiln.gather({}, {}, 0)", "{}.T",
    "kiln.sum({}, axis=(0, 1))", "({} in ({}, 2))", "kiln.max({}, return_indices=True)[1]",
    "{}.load(0, 4)", "{}[1:]", "{}[:, 2]", "{}.permute(1, 0)",
]  # fmt: skip
LEAVES = [
    "x", "y", "z", "n", "s", "b", "i", "1", "-3", "2.5", "True", "300", "kiln.arange(4)",
    "float('inf')", "v[0]", "kiln.program_id(0)", "v.shape[0]", "m", "h", "k", "(1 if b else 2)",
    "(0.5 if b else 2)",
    "v", "u", "w", "w[1]", "v[n:]",
]  # fmt: skip
WRITES = [
    "v[0] = {}", "w[n, 1] = {}", "u.store(0, {})", "v.scatter(kiln.arange(4), {})",
    "kiln.atomic_add(u, 1, {})", "y = v.load(0, 4, pad={})",
]  # fmt: skip

leaves = st.sampled_from(LEAVES)


def grow(inner):
    return st.one_of(
        st.tuples(st.sampled_from(BINARY), inner, inner).map(lambda t: f"({t[1]} {t[0]} {t[2]})"),
        st.tuples(st.sampled_from(UNARY), inner).map(lambda t: f"({t[0]}{t[1]})"),
        st.tuples(st.sampled_from(FUNCTIONS), inner, inner, inner).map(
            lambda t: t[0].replace("{}", "({})").format(*t[1 : 1 + t[0].count("{}")])
        ),
    )


expressions = st.recursive(leaves, grow, max_leaves=6)


def statements(depth: int):
    name = st.sampled_from(["x", "y", "z", "n", "s", "b", "i", "k"])
    simple = st.one_of(
        st.tuples(name, expressions).map(lambda t: f"{t[0]} = {t[1]}"),
        st.tuples(name, st.sampled_from(["0", "0.0", "1"])).map(lambda t: f"{t[0]} = {t[1]}"),
        st.tuples(st.sampled_from(WRITES), expressions).map(lambda t: t[0].format(t[1])),
    )
    augmented = st.tuples(name, st.sampled_from("+-*"), expressions).map(
        lambda t: f"{t[0]} {t[1]}= {t[2]}"
    )
    if depth == 0:
        return st.lists(st.one_of(simple, augmented), min_size=1, max_size=2)
    inner = statements(depth - 1)
    ends = st.sampled_from([[], [], ["if n > 2:\n    break"], ["if x.sum() > 1:\n    continue"]])
    header = st.one_of(
        expressions.map(lambda e: f"if {e}:"),
        expressions.map(lambda e: f"for i in range({e}):"),
        st.just("for i in kiln.static_range(2):"),
        expressions.map(lambda e: f"while {e}:"),
    )

    def written(parts) -> str:
        head, body, end = parts
        body = body if head.startswith("if") else [*end, *body]
        return head + "\n" + "\n".join("    " + line for s in body for line in s.splitlines())

    nested = st.tuples(header, inner, ends).map(written)
    return st.lists(st.one_of(simple, augmented, nested), min_size=1, max_size=3)


def lowered(body: list[str], dtypes) -> str | None:
    """The IR of a program, or None where it was refused as it should be."""
    lines = "\n".join("    " + line for s in body for line in s.splitlines())
    text = (
        "def kernel(v, w, u, n, s, m, h):\n"
        "    i, k, b = 0, 0.0, n > 3\n"
        "    x, y, z = v.load(0, 4), w.load((0, 0), (4, 4)), u.load(0, 4)\n"
        f"{lines}\n"
        "    kiln.device_print('', x)\n"
    )
    ast.parse(text)
    a, b, c = (DTYPES[name] for name in dtypes)
    types = {
        "v": ViewType(a, (None,)),
        "w": ViewType(b, (None, 64)),
        "u": ViewType(c, (32,)),
        "n": ScalarType(kiln.i64),
        "s": ScalarType(kiln.f32),
        "m": ScalarType(kiln.i32),
        "h": ScalarType(kiln.f16),
    }
    kernel = from_text(text)
    try:
        return KernelSource(kernel).lower(types)
    except CompileError as error:
        assert error.message.startswith(("expected ", "static assertion")), error
        assert error.file == kernel.__code__.co_filename and 1 <= error.line <= text.count("\n")
        return None


three = st.tuples(*[st.sampled_from(MEMORY)] * 3)


@given(expression=expressions, dtypes=three)
@settings(max_examples=2000 // PART)
def test_random_expressions_are_compiled_or_refused(expression, dtypes):
    lowered([f"x = {expression}"], dtypes)


@given(body=statements(2), dtypes=three)
@settings(max_examples=1000 // PART)
def test_random_programs_are_compiled_or_refused(body, dtypes):
    lowered(body, dtypes)


@given(programs=st.lists(st.tuples(statements(2), three), min_size=30, max_size=60))
@settings(max_examples=24 // PART)
def test_random_programs_verify(programs):
    texts = [text for text in (lowered(body, dtypes) for body, dtypes in programs) if text]
    if texts:
        verified("\n// -----\n".join(texts), "--split-input-file")


@given(programs=st.lists(st.tuples(expressions, st.sampled_from(MEMORY)), min_size=20))
@settings(max_examples=20 // PART)
def test_random_expressions_over_one_dtype_verify(programs):
    texts = [lowered([f"x = {expression}"], (dtype,) * 3) for expression, dtype in programs]
    texts = [text for text in texts if text]
    if texts:
        verified("\n// -----\n".join(texts), "--split-input-file")
