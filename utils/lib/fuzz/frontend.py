"""Python programs through the front end: mutants of the examples, and random arithmetic.

A mutant must be refused with a caret under one of its own lines, or compile. What scalars a random
expression makes of random numbers must be, to the bit, what the tests' evaluator makes of the IR.
"""

import ast
import copy
import itertools
import linecache
import random
import re
import sys
import traceback
import warnings

import numpy as np
import pipelines
from worker import Worker

DTYPES = ["f64", "f32", "f16", "bf16", "f8e4m3fn", "f8e5m2", "i64", "i32", "i16", "i8", "i4", "u64",
          "u32", "u16", "u8"]  # fmt: skip
NUMBERS = itertools.count(1)
CONSTANTS = [0, 1, -1, 2, 3, 7, 16, 1 << 31, 1 << 63, 1 << 70, 0.5, 1e400, float("nan"), True, None,
             "x", b"y", ...]  # fmt: skip


def prepare():
    """The compiler, and the tests' evaluator."""
    native = pipelines.prepare()
    import evaluator

    return native, evaluator


def define(text, name):
    """The function of a module that stands in no file."""
    file = f"fuzzed_{next(NUMBERS)}.py"
    linecache.clearcache()
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    import kiln

    scope = {"kiln": kiln, "np": np}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, file, "exec"), scope)
    return scope[name], file


def lower(text, name, types, constants):
    """(IR, "") or (None, how it was refused), or (None, a line that begins with WRONG)."""
    from kiln.frontend import CompileError, KernelSource, PointerType, ScalarType, ViewType
    from kiln.language.dtypes import DTYPES as known

    kinds = {"view": ViewType, "scalar": ScalarType, "pointer": PointerType}
    given = {n: kinds[kind](known[dtype], *rest) for n, (kind, dtype, *rest) in types.items()}
    file = None
    try:
        function, file = define(text, name)
        return KernelSource(function).lower(given, constants), ""
    except CompileError as error:
        shown = str(error)
        in_place = error.span is not None and 1 <= error.line <= text.count("\n") + 1
        if not in_place or error.file != file or not re.search(r"(?m)^ +\| *\^", shown):
            return None, f"WRONG: a refusal without a place in the program: {shown}"
        return None, shown
    except SyntaxError as error:
        return None, f"no Python: {error}"
    except RecursionError:
        return None, "WRONG: a recursion error"
    except Exception:  # an error of another kind is a finding, whatever it is
        return None, "WRONG: " + traceback.format_exc()[-1500:]


def perform(state, job):
    """What is wrong, or "refused", "open" (the evaluator cannot tell) or the empty string."""
    native, evaluator = state
    text, name, types, constants, numbers = job
    sys.setrecursionlimit(1000)
    ir, refusal = lower(text, name, types, constants)
    if ir is None:
        return refusal if refusal.startswith("WRONG") else "refused"
    if numbers is None:
        said = pipelines.compile_text(native, (ir, "cpu", "stop-after=llvm"))
        return said if said and not pipelines.is_refusal(said) else "refused" if said else ""
    try:
        want = evaluator.evaluate(ir, numbers)
    except (AssertionError, KeyError, ValueError, OverflowError, TypeError):
        return "open"
    if want is None:
        return "open"
    return compute(native, evaluator, ir, types, numbers, want)


def compute(native, evaluator, ir, types, numbers, want):
    """Runs it on the host and compares the bits."""
    from generator.numbers import PACKED, STORED

    from kiln import PackedArray

    element = re.search(r"%v: !tile\.view<\?x(\w+)", ir)[1]
    out = np.zeros(8, STORED[element])
    packed = PackedArray.from_numpy(out) if element in PACKED else None
    scalars = dict(re.findall(r"(%\w+): (\w+)", re.search(r"tile.kernel @\w+\((.*)\)", ir)[1]))
    values = []
    for name in numbers:
        kind = scalars[f"%{name}"]
        value = evaluator.make(numbers[name], kind)
        is_real = kind in evaluator.FLOATS
        values.append(float(value) if is_real else evaluator.signed(value, kind))
    for level in (0, 3):
        request = {"source": ir, "target": "cpu", "opt_level": level, "source_name": "mutant"}
        try:
            artifact, _, _ = native.compile(None, None, request)
            executable = native.Device.open("cpu").load(artifact)
            executable.launch("kernel", [out if packed is None else packed, *values], (1,))
        except Exception as error:  # a program that is right must not meet it
            return f"{type(error).__name__}: {error}"
        got = (packed.to_numpy() if packed is not None else out)[0]
        if element in evaluator.FLOATS:
            right = float(got) == float(want) or (np.isnan(float(got)) and np.isnan(float(want)))
        else:
            bits = evaluator.width(element)
            right = int(got) & ((1 << bits) - 1) == int(want) & ((1 << bits) - 1)
        if not right:
            return f"wrong numbers at -O{level}: expected {want}, got {got} for {numbers}"
    return ""


# Mutants of the examples


def examples(root):
    """(module, name) of each kernel: constants and what is decorated, and nothing else."""
    found = []
    for path in sorted((root / "examples").glob("*.py")):
        tree = ast.parse(path.read_text())
        constants = [
            node
            for node in tree.body
            if isinstance(node, ast.Assign)
            and not any(isinstance(part, ast.Call) for part in ast.walk(node))
        ]
        parts = [
            node
            for node in tree.body
            if isinstance(node, ast.FunctionDef)
            and any(ast.unparse(d).startswith("kiln.") for d in node.decorator_list)
        ]
        for node in parts:
            if any(ast.unparse(d).startswith("kiln.function") for d in node.decorator_list):
                continue
            kernel = copy.deepcopy(node)
            kernel.decorator_list = []
            helpers = [part for part in parts if part.name != node.name]
            found.append((ast.Module([*constants, *helpers, kernel], []), node.name))
    return found


def guess_types(tree, name, rng):
    """Types for the views that were given none, such that the kernel lowers as it is."""
    text = ast.unparse(tree)
    from kiln.frontend import KernelSource

    try:
        function, _ = define(text, name)
    except NameError:  # it wants more than its own module
        return None

    parameters = KernelSource(function).parameters
    for _ in range(400):
        types, constants = {}, {}
        dtype = rng.choice(["f32", "f32", "bf16", "i32", "u8", "f16"])
        for p in parameters:
            if p.is_constant:
                if not p.has_default:
                    constants[p.name] = rng.choice([16, 64, True])
            elif p.kind == "scalar" and p.dtype is not None:
                types[p.name] = ("scalar", p.dtype.name)
            else:
                rank = rng.choice([1, 2, 2, 3, 4])
                kind = dtype if rng.random() < 0.7 else rng.choice(["f32", "i32", "u8", "u32"])
                types[p.name] = ("view", kind, (None,) * rank)
        if lower(text, name, types, constants)[0] is not None:
            return types, constants
    return None


class Damage(ast.NodeTransformer):
    """One place of a function changed; which, is counted out beforehand."""

    def __init__(self, at, others, rng):
        self.at, self.others, self.rng = at, others, rng

    def visit(self, node):
        self.at -= 1
        if self.at == 0:
            return self.change(node)
        return self.generic_visit(node)

    def change(self, node):
        rng = self.rng
        if isinstance(node, ast.stmt):
            return rng.choice([[node, copy.deepcopy(node)], [], node]) or ast.Pass()
        if isinstance(node, ast.operator):
            return rng.choice([ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow,
                               ast.LShift, ast.BitAnd, ast.MatMult])()  # fmt: skip
        if isinstance(node, ast.cmpop):
            return rng.choice([ast.Lt, ast.Eq, ast.NotIn, ast.Is, ast.GtE])()
        if isinstance(node, ast.Constant):
            return ast.Constant(rng.choice(CONSTANTS))
        if isinstance(node, ast.expr):
            other = rng.choice([o for o in self.others if isinstance(o, ast.expr)])
            return copy.deepcopy(other)
        if isinstance(node, ast.keyword):
            return ast.keyword(rng.choice(["axis", "pad", "transpose_b", "shape", "nothing"]),
                               node.value)  # fmt: skip
        return node


def mutant(tree, name, pool, rng):
    """The module with some places of its kernel's body, or of a helper's, changed."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        functions = [part for part in tree.body if isinstance(part, ast.FunctionDef)]
        function = rng.choice([f for f in functions if f.name == name or rng.random() < 0.2])
        places = sum(1 for part in function.body for _ in ast.walk(part))
        damage = Damage(rng.randint(1, places), rng.choice(pool), rng)
        body = []
        for part in function.body:
            changed = damage.visit(part)
            body += changed if isinstance(changed, list) else [changed]
        function.body = body or [ast.Pass()]
    ast.fix_missing_locations(tree)
    return ast.unparse(tree)


# Random arithmetic

BINARY = ["+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "<", "<=", "==", "!="]
CALLS = ["kiln.maximum({}, {})", "kiln.minimum({}, {})", "kiln.where({} < {}, {}, {})", "abs({})",
         "kiln.floor({})", "kiln.clamp({}, 0, {})", "({} if {} < 3 else {})", "kiln.cdiv({}, {})",
         "kiln.cast({}, kiln.DT)", "kiln.cast({}, kiln.DT)", "(-{})", "(~{})"]  # fmt: skip
LEAVES = ["a", "b", "c", "a", "b", "1", "-3", "2.5", "300", "True", "0"]
HUGE = ["0x" + "f" * 100_000, "-0x" + "7" * 100_000, "0x" + "3" * 2_000, "1" * 4_000, "BIG"]


def expression(rng, depth):
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(LEAVES if rng.random() < 0.995 else HUGE)
    if rng.random() < 0.55:
        left, right = expression(rng, depth - 1), expression(rng, depth - 1)
        return f"({left} {rng.choice(BINARY)} {right})"
    call = rng.choice(CALLS).replace("DT", rng.choice(DTYPES[:-5]))
    return call.format(*[expression(rng, depth - 1) for _ in range(call.count("{}"))])


def number(dtype, rng):
    """A value that the type holds."""
    if dtype[0] in "fb":
        import ml_dtypes

        kinds = {"f64": np.float64, "f32": np.float32, "f16": np.float16,
                 "bf16": ml_dtypes.bfloat16, "f8e4m3fn": ml_dtypes.float8_e4m3fn,
                 "f8e5m2": ml_dtypes.float8_e5m2}  # fmt: skip
        value = rng.choice([0.0, -0.0, 1.0, rng.uniform(-4, 4), rng.uniform(-200, 200)])
        return float(np.asarray(value, np.float32).astype(kinds[dtype]))
    bits, low = int(dtype[1:]), 0 if dtype[0] == "u" else -(1 << (int(dtype[1:]) - 1))
    edges = [low, low + 1, low + (1 << bits) - 1, 0, 1, 3]
    return rng.choice([rng.choice(edges), rng.randrange(low, low + (1 << bits))])


def arithmetic(rng):
    dtypes = [rng.choice(DTYPES) for _ in range(3)]
    types = {name: ("scalar", dtype) for name, dtype in zip("abc", dtypes, strict=True)}
    types["v"] = ("view", rng.choice(DTYPES), (None,))
    numbers = {name: number(dtype, rng) for name, dtype in zip("abc", dtypes, strict=True)}
    value = f"kiln.cast({expression(rng, rng.choice([1, 2, 3]))}, kiln.{types['v'][1]})"
    text = f"def kernel(v, a, b, c):\n    v[0] = {value}\n"
    if "BIG" in value:
        text = "BIG = 10**100000\n" + text
    return text, "kernel", types, {}, numbers


def run(campaign):
    rng = campaign.rng
    sys.path.insert(0, str(campaign.root / "test/python/frontend"))
    known = []
    for tree, name in examples(campaign.root):
        guess = guess_types(tree, name, random.Random(1))
        if guess:
            campaign.count("examples")
            known.append((tree, name, *guess))
    pool = [list(ast.walk(tree)) for tree, *_ in known]
    with Worker(prepare, perform, campaign.output / "frontend.stderr", seconds=60) as worker:
        while campaign.goes_on():
            campaign.runs += 1
            if rng.random() < 0.5:
                job = arithmetic(rng)
            else:
                tree, name, types, constants = rng.choice(known)
                job = (mutant(tree, name, pool, rng), name, types, constants, None)
            answer = worker.attempt(job)
            campaign.count(
                answer if answer in ("refused", "open") else "wrong" if answer else "right"
            )
            if answer and answer not in ("refused", "open"):
                what = re.sub(r"(?s)^WRONG: Traceback.*\n(?=\S)", "", answer)
                text = job[0] + f"\n# {job[1:]}\n"
                campaign.find(f"{answer}\n{job[2:]}", text, ".py", pipelines.signature(what))
