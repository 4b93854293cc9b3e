"""One small kernel for each op of the language and each element type: what the support table asks.

A probe computes %r, a tensor of 16 elements of the result type, from %x, %y and %z, tensors of 16
elements of type E that are read from the views %a, %b and %c; it is stored to the view %o.
"""

import re
from dataclasses import dataclass
from pathlib import Path

TYPES = [
    "f64", "f32", "tf32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f6E2M3FN", "f6E3M2FN",
    "f4E2M1FN", "i64", "i32", "i16", "i8", "i4", "i2", "i1", "index",
]  # fmt: skip
COUNT = 16

# What memory holds for a type that has no form there, and the casts from and to it.
STORAGE = {
    "i1": ("i8", "arith.trunci", "arith.extui"),
    "tf32": ("f32", "arith.truncf", "arith.extf"),
    "index": ("i64", "arith.index_cast", "arith.index_cast"),
}
C_ABS = {"f64": "fabs", "f32": "fabsf", "i64": "labs", "i32": "abs"}
LIBRARY = Path(__file__).resolve().parent / "functions.ll"


@dataclass(frozen=True)
class Probe:
    op: str  # the op, and for an atomic its kind
    body: str
    result: str = "E"  # the element type of %r
    source: str = "E"  # the element type of %x, %y and %z
    extra: str = ""  # a further argument, before %o
    raw: bool = False  # %a, %b, %c and %o are views of E itself, and the body does the accesses

    @property
    def name(self):
        """The op's name in the IR."""
        return self.op.split(" ")[0]

    @property
    def inputs(self):
        """Which of the three inputs the body reads, as letters."""
        views = "abc" if self.raw else "xyz"
        return "".join(
            letter
            for letter, view in zip("abc", views, strict=True)
            if re.search(rf"%{view}\b", self.body)
        )

    def kernel(self, element, target="cpu"):
        """The module's text; the target decides how registers are called."""
        result = {"E": element, "acc": accumulator(element)}.get(self.result, self.result)
        source = element if self.source == "E" else self.source
        stored = source if self.raw else STORAGE.get(source, (source,))[0]
        out = result if self.raw else STORAGE.get(result, (result,))[0]
        arguments = [f"%{letter}: !tile.view<?x{stored}>" for letter in self.inputs]
        if self.extra:
            arguments.append(self.extra.replace("{E}", element))
        arguments.append(f"%o: !tile.view<?x{out}>")
        lines = [
            f"tile.kernel @probe({', '.join(arguments)}) grid {{",
            "  %one = arith.constant 1 : index",
            "  tile.grid %one",
            "} {",
            "  %c0 = arith.constant 0 : index",
        ]
        if not self.raw:
            for letter, value in zip("abc", "xyz", strict=True):
                if letter in self.inputs:
                    lines += load(letter, value, source)
        real = element[0] in "ftb"
        words = {
            "T": f"tensor<{COUNT}x{element}>",
            "S": f"tensor<{COUNT}x{source}>",
            "R": f"tensor<{COUNT}x{result}>",
            "E": element,
            "0": "0.0" if real else ("false" if element == "i1" else "0"),
            "1": "1.0" if real else ("true" if element == "i1" else "1"),
            "add": "arith.addf" if real else "arith.addi",
            "less": "arith.cmpf olt," if real else "arith.cmpi slt,",
            "acc": accumulator(element),
            "acc0": "0" if accumulator(element) == "i32" else "0.0",
            "bytes": f"tensor<{COUNT * width(element) // 8}xi8>",
            "register": register(target, element),
            # The host has a library of C; accelerators are given one of bitcode.
            "abs": C_ABS.get(element, "f") if target == "cpu" else f"abs_{element}",
            "library": "" if target == "cpu" else str(LIBRARY),
        }
        body = self.body
        for word, text in words.items():
            body = body.replace("{" + word + "}", text)
        lines += [f"  {line.strip()}" for line in body.strip().splitlines()]
        if not self.raw:
            lines += store(result)
        return "\n".join([*lines, "  tile.return", "}"])


HEAD = """tile.kernel @probe({}) grid {{
  %one = arith.constant 1 : index
  tile.grid %one
}} {{
"""
KERNEL = re.compile(
    r"tile\.kernel @probe\((.*)\) grid \{\n.*?\n\} \{\n(.*)  tile\.return\n\}", re.S
)


def join(kernels):
    """One kernel that does what several do, one behind the other, to the arguments of all."""
    arguments, bodies = [], []
    for number, kernel in enumerate(kernels):
        apart = re.sub(r"%([A-Za-z_]\w*)", rf"%\1_{number}", kernel)
        own, body = KERNEL.fullmatch(apart).groups()
        arguments.append(own)
        bodies.append(body)
    return HEAD.format(", ".join(arguments)) + "".join(bodies) + "  tile.return\n}"


def register(target, element):
    """The constraint for a register that holds an element."""
    if target.startswith("amdgpu"):
        return "v"
    return "l" if target.startswith("nvptx") and width(element) == 64 else "r"


def accumulator(element):
    """What a dot of such elements is added to."""
    if element == "f64":
        return "f64"
    return "f32" if element[0] in "ftb" else "i32"


def width(element):
    return {"tf32": 19, "bf16": 16, "index": 64}.get(element) or int(
        element[1:].split("E")[0] if element[0] == "f" else element[1:]
    )


def load(view, value, element):
    stored, narrow, _ = STORAGE.get(element, (element, None, None))
    name = value if narrow is None else f"{value}_stored"
    lines = [
        f"  %{name} = tile.load %{view}[%c0] : !tile.view<?x{stored}> -> tensor<{COUNT}x{stored}>"
    ]
    if narrow:
        lines.append(
            f"  %{value} = {narrow} %{name} : tensor<{COUNT}x{stored}> to tensor<{COUNT}x{element}>"
        )
    return lines


def store(result):
    stored, _, widen = STORAGE.get(result, (result, None, None))
    lines, name = [], "r"
    if widen:
        name = "r_stored"
        lines.append(
            f"  %{name} = {widen} %r : tensor<{COUNT}x{result}> to tensor<{COUNT}x{stored}>"
        )
    return [
        *lines,
        f"  tile.store %{name}, %o[%c0] : tensor<{COUNT}x{stored}>, !tile.view<?x{stored}>",
    ]


def unary(op):
    return Probe(op, f"%r = {op} %x : {{T}}")


def binary(op):
    return Probe(op, f"%r = {op} %x, %y : {{T}}")


def cast_to(op, target):
    return Probe(f"{op} to {target}", f"%r = {op} %x : {{S}} to {{R}}", result=target)


def cast_from(op, source):
    return Probe(f"{op} from {source}", f"%r = {op} %x : {{S}} to {{R}}", source=source)


def atomic(kind):
    return Probe(
        f"tile.atomic_rmw {kind}",
        f"""
        %i = tile.iota 0 : tensor<16xi32>
        %x = tile.load %a[%c0] : !tile.view<?x{{E}}> -> {{T}}
        %r = tile.atomic_rmw {kind} %o[%i], %x : !tile.view<?x{{E}}>, [tensor<16xi32>], {{T}}
        """,
        raw=True,
    )


SQUARE = "tensor<4x4x{E}>"
PROBES = [
    # Memory
    Probe("tile.load", """
        %r = tile.load %a[%c0] : !tile.view<?x{E}> -> {T}
        tile.store %r, %o[%c0] : {T}, !tile.view<?x{E}>""", raw=True),
    Probe("tile.store", """
        %r = tile.load %a[%c0] : !tile.view<?x{E}> -> {T}
        tile.store %r, %o[%c0] : {T}, !tile.view<?x{E}>""", raw=True),
    Probe("tile.gather", """
        %i = tile.iota 0 : tensor<16xi32>
        %r = tile.gather %a[%i] : !tile.view<?x{E}>, [tensor<16xi32>] -> {T}
        tile.store %r, %o[%c0] : {T}, !tile.view<?x{E}>""", raw=True),
    Probe("tile.scatter", """
        %i = tile.iota 0 : tensor<16xi32>
        %r = tile.load %a[%c0] : !tile.view<?x{E}> -> {T}
        tile.scatter %r, %o[%i] : {T}, !tile.view<?x{E}>, [tensor<16xi32>]""", raw=True),
    *[atomic(kind) for kind in ["addf", "addi", "minf", "maxf", "mins", "maxs", "minu", "maxu",
                                "and", "or", "xor", "exch"]],
    Probe("tile.atomic_cas", """
        %i = tile.iota 0 : tensor<16xi32>
        %x = tile.load %a[%c0] : !tile.view<?x{E}> -> {T}
        %y = tile.load %b[%c0] : !tile.view<?x{E}> -> {T}
        %r = tile.atomic_cas %o[%i], %x, %y
           : !tile.view<?x{E}>, [tensor<16xi32>], {T}""", raw=True),
    Probe("tile.write", """
        %m = tile.alloc : !tile.buffer<16x{E}>
        tile.write %x, %m : {T}, !tile.buffer<16x{E}>
        %r = tile.read %m : !tile.buffer<16x{E}> -> {T}"""),
    Probe("tile.read", """
        %m = tile.alloc : !tile.buffer<16x{E}>
        tile.write %x, %m : {T}, !tile.buffer<16x{E}>
        %r = tile.read %m : !tile.buffer<16x{E}> -> {T}"""),
    # The kernel and its arguments
    Probe("tile.kernel", "%r = tile.splat %s : {T}", extra="%s: {E}"),
    Probe("tile.program_id", """
        %i = tile.program_id x
        %r = tile.splat %i : {R}""", result="index"),
    Probe("tile.num_programs", """
        %i = tile.num_programs x
        %r = tile.splat %i : {R}""", result="index"),
    Probe("tile.dim", """
        %i = tile.dim %v, 0 : !tile.view<?x{E}>
        %r = tile.splat %i : {R}""", result="index", extra="%v: !tile.view<?x{E}>"),
    Probe("tile.stride", """
        %i = tile.stride %v, 0 : !tile.view<?x{E}, strides [?]>
        %r = tile.splat %i : {R}""", result="index", extra="%v: !tile.view<?x{E}, strides [?]>"),
    Probe("tile.view_from_pointer", """
        %n = arith.constant 16 : index
        %v = tile.view_from_pointer %p extents [%n] strides []
           : !tile.pointer<{E}> -> !tile.view<?x{E}>
        %r = tile.load %v[%c0] : !tile.view<?x{E}> -> {T}""", extra="%p: !tile.pointer<{E}>"),
    Probe("tile.subview", """
        %n = arith.constant 16 : index
        %w = tile.subview %v at %c0 extents [%n] strides [] : !tile.view<?x{E}> -> !tile.view<?x{E}>
        %r = tile.load %w[%c0] : !tile.view<?x{E}> -> {T}""", extra="%v: !tile.view<?x{E}>"),
    Probe("tile.address", """
        %n = arith.constant 16 : index
        %a = tile.address %v : !tile.view<?x{E}>
        %p = tile.pointer_from_address %a : !tile.pointer<{E}>
        %w = tile.view_from_pointer %p extents [%n] strides []
           : !tile.pointer<{E}> -> !tile.view<?x{E}>
        %r = tile.load %w[%c0] : !tile.view<?x{E}> -> {T}""", extra="%v: !tile.view<?x{E}>"),
    # Products, and combining along an axis
    Probe("tile.dot", """
        %p = tile.reshape %x : {T} -> tensor<1x16x{E}>
        %q = tile.reshape %y : {T} -> tensor<1x16x{E}>
        %p16 = tile.broadcast %p : tensor<1x16x{E}> -> tensor<16x16x{E}>
        %q16 = tile.broadcast %q : tensor<1x16x{E}> -> tensor<16x16x{E}>
        %zero = arith.constant dense<{acc0}> : tensor<16x16x{acc}>
        %d = tile.dot %p16, %q16, %zero transpose_b
           : tensor<16x16x{E}>, tensor<16x16x{E}> -> tensor<16x16x{acc}>
        %r = tile.reduce %d axis = 0 : tensor<16x16x{acc}> -> tensor<16x{acc}> {
        ^bb0(%l: {acc}, %n: {acc}):
          tile.yield %l : {acc}
        }""", result="acc"),
    *[Probe(f"tile.dot {precision}", f"""
        %p = tile.reshape %x : {{T}} -> tensor<1x16x{{E}}>
        %p16 = tile.broadcast %p : tensor<1x16x{{E}}> -> tensor<16x16x{{E}}>
        %zero = arith.constant dense<{{acc0}}> : tensor<16x16x{{acc}}>
        %d = tile.dot %p16, %p16, %zero transpose_b precision = {precision}
           : tensor<16x16x{{E}}>, tensor<16x16x{{E}}> -> tensor<16x16x{{acc}}>
        %r = tile.reduce %d axis = 0 : tensor<16x16x{{acc}}> -> tensor<16x{{acc}}> {{
        ^bb0(%l: {{acc}}, %n: {{acc}}):
          tile.yield %l : {{acc}}
        }}""", result="acc")
      for precision in ("tf32", "tf32x3")],
    Probe("tile.dot_scaled", """
        %p = tile.reshape %x : {T} -> tensor<1x16x{E}>
        %p16 = tile.broadcast %p : tensor<1x16x{E}> -> tensor<32x16x{E}>
        %p32 = tile.reshape %p16 : tensor<32x16x{E}> -> tensor<16x32x{E}>
        %one = arith.constant dense<1.0> : tensor<16x1xf8E8M0FNU>
        %zero = arith.constant dense<0.0> : tensor<16x16xf32>
        %d = tile.dot_scaled %p32 scale %one, %p32 scale %one, %zero transpose_b
           : tensor<16x32x{E}>, tensor<16x1xf8E8M0FNU>, tensor<16x32x{E}>, tensor<16x1xf8E8M0FNU>
             -> tensor<16x16xf32>
        %r = tile.reduce %d axis = 0 : tensor<16x16xf32> -> tensor<16xf32> {
        ^bb0(%l: f32, %n: f32):
          tile.yield %l : f32
        }""", result="f32"),
    Probe("tile.reduce", """
        %s = tile.reduce %x axis = 0 : {T} -> tensor<{E}> {
        ^bb0(%l: {E}, %n: {E}):
          %t = {add} %l, %n : {E}
          tile.yield %t : {E}
        }
        %u = tile.to_scalar %s : tensor<{E}>
        %r = tile.splat %u : {T}"""),
    Probe("tile.scan", """
        %r = tile.scan %x axis = 0 : {T} -> {T} {
        ^bb0(%l: {E}, %n: {E}):
          %t = {add} %l, %n : {E}
          tile.yield %t : {E}
        }"""),
    Probe("tile.arg_reduce", """
        %v, %i = tile.arg_reduce %x axis = 0 : {T} -> tensor<{E}>, tensor<i32> {
        ^bb0(%best: {E}, %next: {E}):
          %wins = {less} %next, %best : {E}
          tile.yield %wins : i1
        }
        %u = tile.to_scalar %i : tensor<i32>
        %r = tile.splat %u : {R}""", result="i32"),
    # Shapes
    Probe("tile.splat", "%r = tile.splat %s : {T}", extra="%s: {E}"),
    Probe("tile.to_scalar", """
        %h = tile.load %a[%c0] : !tile.view<?x{E}> -> tensor<1x{E}>
        %u = tile.to_scalar %h : tensor<1x{E}>
        %r = tile.splat %u : {T}
        tile.store %r, %o[%c0] : {T}, !tile.view<?x{E}>""", raw=True),
    Probe("tile.iota", """
        %i = tile.iota 1 : tensor<8x2x{E}>
        %r = tile.reshape %i : tensor<8x2x{E}> -> {T}"""),
    Probe("tile.broadcast", f"""
        %c4 = arith.constant 4 : index
        %h = tile.load %a[%c4] : !tile.view<?x{{E}}> -> tensor<4x{{E}}>
        %q = tile.reshape %h : tensor<4x{{E}}> -> tensor<4x1x{{E}}>
        %w = tile.broadcast %q : tensor<4x1x{{E}}> -> {SQUARE}
        %r = tile.reshape %w : {SQUARE} -> {{T}}
        tile.store %r, %o[%c0] : {{T}}, !tile.view<?x{{E}}>""", raw=True),
    Probe("tile.reshape", f"""
        %m = tile.reshape %x : {{T}} -> {SQUARE}
        %t = tile.transpose %m [1, 0] : {SQUARE} -> {SQUARE}
        %r = tile.reshape %t : {SQUARE} -> {{T}}"""),
    Probe("tile.transpose", f"""
        %m = tile.reshape %x : {{T}} -> {SQUARE}
        %t = tile.transpose %m [1, 0] : {SQUARE} -> {SQUARE}
        %r = tile.reshape %t : {SQUARE} -> {{T}}"""),
    Probe("tile.slice", """
        %h = tile.slice %x [8] : {T} -> tensor<8x{E}>
        %r = tile.concat %h, %h axis = 0 : tensor<8x{E}>, tensor<8x{E}> -> {T}"""),
    Probe("tile.concat", """
        %h = tile.slice %x [8] : {T} -> tensor<8x{E}>
        %r = tile.concat %h, %h axis = 0 : tensor<8x{E}>, tensor<8x{E}> -> {T}"""),
    Probe("tile.join", """
        %h = tile.slice %x [8] : {T} -> tensor<8x{E}>
        %g = tile.slice %x [0] : {T} -> tensor<8x{E}>
        %j = tile.join %h, %g : tensor<8x{E}> -> tensor<8x2x{E}>
        %r = tile.reshape %j : tensor<8x2x{E}> -> {T}"""),
    Probe("tile.split", """
        %j = tile.reshape %x : {T} -> tensor<8x2x{E}>
        %g, %h = tile.split %j : tensor<8x2x{E}> -> tensor<8x{E}>
        %r = tile.concat %g, %h axis = 0 : tensor<8x{E}>, tensor<8x{E}> -> {T}"""),
    Probe("tile.bitcast", """
        %i = tile.bitcast %x : {T} -> {bytes}
        %one = arith.constant dense<1> : {bytes}
        %n = arith.xori %i, %one : {bytes}
        %r = tile.bitcast %n : {bytes} -> {T}"""),
    # Selection
    Probe("tile.sort", "%r = tile.sort %x axis = 0 : {T} -> {T}"),
    Probe("tile.topk", """
        %v, %i = tile.topk %x axis = 0 : {T} -> tensor<8x{E}>, tensor<8xi32>
        %r = tile.concat %v, %v axis = 0 : tensor<8x{E}>, tensor<8x{E}> -> {T}"""),
    Probe("tile.take", """
        %i = tile.iota 0 : tensor<16xi32>
        %m = arith.constant dense<15> : tensor<16xi32>
        %j = arith.subi %m, %i : tensor<16xi32>
        %r = tile.take %x[%j] axis = 0 : {T}, tensor<16xi32> -> {T}"""),
    Probe("tile.histogram", "%r = tile.histogram %x : {T} -> {R}", result="i32"),
    Probe("tile.philox", """
        %seed = arith.constant 7 : i64
        %stream = arith.constant 3 : i32
        %r, %r1, %r2, %r3 = tile.philox %seed, %stream, %x : {T}"""),
    # Checks, hints, foreign code
    Probe("tile.print", """
        tile.print "x" (%x) : {T}
        %t = arith.constant true
        %r = arith.select %t, %x, %x : {T}"""),
    Probe("tile.assert", """
        tile.assert %x, "holds" : {T}
        %t = arith.constant true
        %r = arith.select %t, %x, %x : {T}"""),
    Probe("tile.assume", """
        %h = tile.slice %x [0] : {T} -> tensor<1x{E}>
        %u = tile.to_scalar %h : tensor<1x{E}>
        tile.assume %u
        %r = tile.splat %u : {T}"""),
    Probe("tile.multiple_of", """
        %h = tile.slice %x [0] : {T} -> tensor<1x{E}>
        %u = tile.to_scalar %h : tensor<1x{E}>
        %m = tile.multiple_of %u, 1 : {E}
        %r = tile.splat %m : {T}"""),
    Probe("tile.inline_asm", """
        %r = tile.inline_asm "" "={register},0" pure (%x) : ({T}) -> {T}"""),
    Probe("tile.extern_call", """
        %r = tile.extern_call "{abs}" from "{library}" pure (%x) : ({T}) -> {T}"""),
    # Arithmetic
    *[binary(f"arith.{op}") for op in [
        "addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf",
        "addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui",
        "floordivsi", "andi", "ori", "xori", "shli", "shrsi", "shrui", "maxsi", "maxui", "minsi",
        "minui"]],
    unary("arith.negf"),
    Probe("arith.cmpf", "%r = arith.cmpf olt, %x, %y : {T}", result="i1"),
    Probe("arith.cmpi", "%r = arith.cmpi slt, %x, %y : {T}", result="i1"),
    Probe("arith.select", """
        %i = tile.iota 0 : tensor<16xi32>
        %five = arith.constant dense<5> : tensor<16xi32>
        %m = arith.cmpi slt, %i, %five : tensor<16xi32>
        %r = arith.select %m, %x, %y : tensor<16xi1>, {T}"""),
    Probe("arith.constant", "%r = arith.constant dense<{1}> : {T}"),
    cast_to("arith.extf", "f64"),
    cast_to("arith.extf", "f32"),
    cast_from("arith.truncf", "f32"),
    cast_from("arith.truncf", "f64"),
    cast_to("arith.sitofp", "f32"),
    cast_to("arith.uitofp", "f32"),
    cast_from("arith.sitofp", "i32"),
    cast_to("arith.fptosi", "i32"),
    cast_to("arith.fptoui", "i32"),
    cast_from("arith.fptosi", "f32"),
    cast_to("arith.extsi", "i64"),
    cast_to("arith.extui", "i64"),
    cast_from("arith.trunci", "i64"),
    cast_to("arith.index_cast", "index"),
    cast_to("arith.index_castui", "index"),
    # Mathematics
    *[unary(f"math.{op}") for op in [
        "absf", "absi", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil",
        "cos", "cosh", "ctlz", "ctpop", "cttz", "erf", "erfc", "exp", "exp2", "expm1",
        "floor", "log", "log10", "log1p", "log2", "round", "roundeven", "rsqrt", "sin",
        "sinh", "sqrt", "tan", "tanh", "trunc"]],
    binary("math.atan2"),
    binary("math.copysign"),
    binary("math.powf"),
    Probe("math.fma", "%r = math.fma %x, %y, %z : {T}"),
]  # fmt: skip
