"""What each probe of the support table computes, in Python's own numbers."""

import math

WIDTHS = {"index": 64, "i1": 1, "i2": 2, "i4": 4, "i8": 8, "i16": 16, "i32": 32, "i64": 64}


def unsigned(value, element):
    return value & ((1 << WIDTHS[element]) - 1)


def truncated(x, y):
    """Division towards zero."""
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


# (x, y, z, element) to a value; integers come signed, and what comes back is wrapped.
ELEMENTWISE = {
    "arith.addf": lambda x, y, z, e: x + y,
    "arith.subf": lambda x, y, z, e: x - y,
    "arith.mulf": lambda x, y, z, e: x * y,
    "arith.divf": lambda x, y, z, e: x / y,
    "arith.remf": lambda x, y, z, e: math.fmod(x, y),
    "arith.maximumf": lambda x, y, z, e: max(x, y),
    "arith.minimumf": lambda x, y, z, e: min(x, y),
    "arith.maxnumf": lambda x, y, z, e: max(x, y),
    "arith.minnumf": lambda x, y, z, e: min(x, y),
    "arith.negf": lambda x, y, z, e: -x,
    "arith.cmpf": lambda x, y, z, e: int(x < y),
    "arith.addi": lambda x, y, z, e: x + y,
    "arith.subi": lambda x, y, z, e: x - y,
    "arith.muli": lambda x, y, z, e: x * y,
    "arith.divsi": lambda x, y, z, e: truncated(x, y),
    "arith.divui": lambda x, y, z, e: unsigned(x, e) // unsigned(y, e),
    "arith.remsi": lambda x, y, z, e: x - y * truncated(x, y),
    "arith.remui": lambda x, y, z, e: unsigned(x, e) % unsigned(y, e),
    "arith.ceildivsi": lambda x, y, z, e: -(-x // y),
    "arith.ceildivui": lambda x, y, z, e: -(-unsigned(x, e) // unsigned(y, e)),
    "arith.floordivsi": lambda x, y, z, e: x // y,
    "arith.andi": lambda x, y, z, e: x & y,
    "arith.ori": lambda x, y, z, e: x | y,
    "arith.xori": lambda x, y, z, e: x ^ y,
    "arith.shli": lambda x, y, z, e: x << y,
    "arith.shrsi": lambda x, y, z, e: x >> y,
    "arith.shrui": lambda x, y, z, e: unsigned(x, e) >> y,
    "arith.maxsi": lambda x, y, z, e: max(x, y),
    "arith.maxui": lambda x, y, z, e: max(unsigned(x, e), unsigned(y, e)),
    "arith.minsi": lambda x, y, z, e: min(x, y),
    "arith.minui": lambda x, y, z, e: min(unsigned(x, e), unsigned(y, e)),
    "arith.cmpi": lambda x, y, z, e: int(x < y),
    "arith.extf to f64": lambda x, y, z, e: x,
    "arith.extf to f32": lambda x, y, z, e: x,
    "arith.truncf from f32": lambda x, y, z, e: x,
    "arith.truncf from f64": lambda x, y, z, e: x,
    "arith.sitofp to f32": lambda x, y, z, e: float(x),
    "arith.uitofp to f32": lambda x, y, z, e: float(unsigned(x, e)),
    "arith.sitofp from i32": lambda x, y, z, e: float(x),
    "arith.fptosi to i32": lambda x, y, z, e: math.trunc(x),
    "arith.fptoui to i32": lambda x, y, z, e: math.trunc(x),
    "arith.fptosi from f32": lambda x, y, z, e: math.trunc(x),
    "arith.extsi to i64": lambda x, y, z, e: x,
    "arith.extui to i64": lambda x, y, z, e: unsigned(x, e),
    "arith.trunci from i64": lambda x, y, z, e: x,
    "arith.index_cast to index": lambda x, y, z, e: x,
    "arith.index_castui to index": lambda x, y, z, e: unsigned(x, e),
    "arith.constant": lambda x, y, z, e: 1,
    "math.absf": lambda x, y, z, e: abs(x),
    "math.absi": lambda x, y, z, e: abs(x),
    "math.ceil": lambda x, y, z, e: math.ceil(x),
    "math.ctlz": lambda x, y, z, e: WIDTHS[e] - unsigned(x, e).bit_length(),
    "math.ctpop": lambda x, y, z, e: unsigned(x, e).bit_count(),
    "math.cttz": lambda x, y, z, e: (unsigned(x, e) & -x).bit_length() - 1 if x else WIDTHS[e],
    "math.cos": lambda x, y, z, e: math.cos(x),
    "math.erf": lambda x, y, z, e: math.erf(x),
    "math.exp": lambda x, y, z, e: math.exp(x),
    "math.exp2": lambda x, y, z, e: 2.0**x,
    **{
        f"math.{name}": lambda x, y, z, e, compute=compute: compute(x)
        for name, compute in {
            "acos": math.acos, "asin": math.asin, "asinh": math.asinh, "atan": math.atan,
            "cbrt": lambda x: math.copysign(abs(x) ** (1 / 3), x), "cosh": math.cosh,
            "erfc": math.erfc, "expm1": math.expm1, "log10": math.log10, "log1p": math.log1p,
            "sinh": math.sinh, "tan": math.tan, "acosh": math.acosh, "atanh": math.atanh,
            "round": lambda x: math.copysign(math.floor(abs(x) + 0.5), x), "roundeven": round,
            "trunc": math.trunc,
        }.items()
    },
    "math.atan2": lambda x, y, z, e: math.atan2(x, y),
    "math.copysign": lambda x, y, z, e: math.copysign(x, y),
    "math.floor": lambda x, y, z, e: math.floor(x),
    "math.log": lambda x, y, z, e: math.log(x),
    "math.log2": lambda x, y, z, e: math.log2(x),
    "math.rsqrt": lambda x, y, z, e: 1 / math.sqrt(x),
    "math.sin": lambda x, y, z, e: math.sin(x),
    "math.sqrt": lambda x, y, z, e: math.sqrt(x),
    "math.tanh": lambda x, y, z, e: math.tanh(x),
    "math.powf": lambda x, y, z, e: x**y,
    "math.fma": lambda x, y, z, e: x * y + z,
    **{
        op: lambda x, y, z, e: x
        for op in [
            "tile.load", "tile.store", "tile.gather", "tile.scatter", "tile.write", "tile.read",
            "tile.view_from_pointer", "tile.subview", "tile.address", "tile.print", "tile.assert", "tile.inline_asm",
        ]
    },
    "tile.extern_call": lambda x, y, z, e: abs(x),
    "tile.program_id": lambda x, y, z, e: 0,
    "tile.num_programs": lambda x, y, z, e: 1,
    "tile.dim": lambda x, y, z, e: 16,
    "tile.stride": lambda x, y, z, e: 1,
}  # fmt: skip


def scan(x):
    sums = []
    for value in x:
        sums.append(value + (sums[-1] if sums else 0))
    return sums


def transposed(x):
    return [x[4 * (i % 4) + i // 4] for i in range(16)]


# (x, y, element) as lists of 16 to a list of 16.
WHOLE = {
    "tile.dot": lambda x, y, e: [sum(x) * 0 + sum(a * b for a, b in zip(x, y, strict=True))] * 16,
    "tile.dot tf32": lambda x, y, e: [sum(a * a for a in x)] * 16,
    "tile.dot tf32x3": lambda x, y, e: [sum(a * a for a in x)] * 16,
    "tile.dot_scaled": lambda x, y, e: [2 * sum(a * a for a in x)] * 16,
    "tile.reduce": lambda x, y, e: [sum(x)] * 16,
    "tile.scan": lambda x, y, e: scan(x),
    "tile.arg_reduce": lambda x, y, e: [x.index(min(x))] * 16,
    "tile.to_scalar": lambda x, y, e: [x[0]] * 16,
    "tile.iota": lambda x, y, e: [0, 1] * 8,
    "tile.broadcast": lambda x, y, e: [x[4 + i // 4] for i in range(16)],
    "tile.reshape": lambda x, y, e: transposed(x),
    "tile.transpose": lambda x, y, e: transposed(x),
    "tile.slice": lambda x, y, e: x[8:] * 2,
    "tile.concat": lambda x, y, e: x[8:] * 2,
    "tile.join": lambda x, y, e: [v for pair in zip(x[8:], x[:8], strict=True) for v in pair],
    "tile.split": lambda x, y, e: x[0::2] + x[1::2],
    "tile.sort": lambda x, y, e: sorted(x),
    "tile.topk": lambda x, y, e: sorted(x, reverse=True)[:8] * 2,
    "tile.take": lambda x, y, e: x[::-1],
    "tile.histogram": lambda x, y, e: [x.count(i) for i in range(16)],
    "tile.assume": lambda x, y, e: [x[0]] * 16,
    "tile.multiple_of": lambda x, y, e: [x[0]] * 16,
    "arith.select": lambda x, y, e: x[:5] + y[5:],
}

# (old, x, element) to what memory holds afterwards.
ATOMIC = {
    "addf": lambda old, x, e: old + x,
    "addi": lambda old, x, e: old + x,
    "minf": lambda old, x, e: min(old, x),
    "maxf": lambda old, x, e: max(old, x),
    "mins": lambda old, x, e: min(old, x),
    "maxs": lambda old, x, e: max(old, x),
    "minu": lambda old, x, e: min(unsigned(old, e), unsigned(x, e)),
    "maxu": lambda old, x, e: max(unsigned(old, e), unsigned(x, e)),
    "and": lambda old, x, e: old & x,
    "or": lambda old, x, e: old | x,
    "xor": lambda old, x, e: old ^ x,
    "exch": lambda old, x, e: x,
}


def philox(counter, stream, seed):
    """The first word of Philox 4x32-10."""
    words, key = [counter, stream, 0, 0], [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [(b >> 32) ^ words[1] ^ key[0], b & 0xFFFFFFFF, (a >> 32) ^ words[3] ^ key[1],
                 a & 0xFFFFFFFF]  # fmt: skip
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return words[0]
