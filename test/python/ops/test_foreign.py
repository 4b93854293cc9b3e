# ruff: noqa: E501
"""Code that is not ours: functions of shared libraries, and inline assembly, good and bad."""

import ctypes
import platform
import random
from pathlib import Path

import numpy as np
import pytest
from tiles import apply, assert_close, compile_text

import kiln

pytestmark = pytest.mark.host
needs_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="assembly of x86-64")


def path_of_libm() -> str:
    ctypes.CDLL("libm.so.6")
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return next(line.split()[-1] for line in maps if "libm.so.6" in line or "libm-2" in line)


# ===- Libraries --------------------------------------------------------------------------------===#


def call(symbol: str, library: str, a, element: str = "f32") -> np.ndarray:
    t = f"tensor<{a.size}x{element}>"
    body = f'%r = tile.extern_call "{symbol}" from "{library}" pure (%a) : ({t}) -> {t}'
    return apply(body, {"a": a}, {"r": (a.shape, element)})


@pytest.mark.parametrize("library", ["", "libm.so.6", "path"])
def test_a_function_of_a_library(rng, library):
    a = rng.uniform(1, 4, 21).astype(np.float32)
    got = call("cbrtf", path_of_libm() if library == "path" else library, a)
    assert_close(got, np.cbrt(a.astype(np.float64)), 1e-6)


def test_one_name_in_two_libraries(rng):
    """The functions stay apart though both are called `abs`; LLVM knows a third."""
    i = rng.integers(-100, 100, 16).astype(np.int32)
    t = "tensor<16xi32>"
    body = f"""
    %x = tile.extern_call "abs" from "libc.so.6" pure (%i) : ({t}) -> {t}
    %y = tile.extern_call "abs" from "" pure (%i) : ({t}) -> {t}
    %w = arith.extsi %i : {t} to tensor<16xi64>
    %z = tile.extern_call "labs" from "libc.so.6" pure (%w) : (tensor<16xi64>) -> tensor<16xi64>
    %s = arith.addi %x, %y : {t}
    %u = arith.trunci %z : tensor<16xi64> to {t}
    %r = arith.addi %s, %u : {t}
    """
    assert np.array_equal(apply(body, {"i": i}, {"r": ((16,), "i32")}), 3 * abs(i))


def test_the_bits_of_tf32_that_a_library_sees(rng):
    """An f32 whose low 13 bits are zero, in both directions."""
    a = rng.standard_normal(40).astype(np.float32)
    t = "tensor<40xtf32>"
    body = f"""
    %n = arith.truncf %a : tensor<40xf32> to {t}
    %m = tile.extern_call "fabsf" from "libm.so.6" pure (%n) : ({t}) -> {t}
    %r = arith.extf %m : {t} to tensor<40xf32>
    """
    bits = a.view(np.uint32)
    rounded = (bits + 0xFFF + (bits >> 13 & 1)) & ~np.uint32(0x1FFF)
    assert np.array_equal(apply(body, {"a": a}, {"r": ((40,), "f32")}), abs(rounded.view("f4")))


@pytest.mark.parametrize(
    "symbol, library, message",
    [
        ("f", "/no/such/lib.so", r"cannot read library '/no/such/lib\.so': .*[Nn]o such file"),
        ("f", __file__, r"cannot read library '.*test_foreign\.py'"),
        ("no_such_function", "PATH", r"expected a function 'no_such_function' in library '.*libm"),
        ("f", "libm.bc", r"expected the path or name of a shared library, got 'libm\.bc'"),
        ("f", "/lib/x.a", r"expected the path or name of a shared library, got '/lib/x\.a'"),
        ("f", "libnone-such.so.9", r"test\.mlir:4:\d+: cannot load library 'libnone-such\.so\.9'"),
        ("none_such", "libm.so.6", r"test\.mlir:4:\d+: expected a function 'none_such' in library"),
        ("none_such", "", r"test\.mlir:4:\d+: expected a function 'none_such' in this process"),
    ],
)
def test_what_is_missing_is_named_at_its_line(symbol, library, message):
    library = path_of_libm() if library == "PATH" else library
    text = f"""tile.kernel @k(%y: !tile.view<?xf32>) {{
      %c0 = arith.constant 0 : index
      %x = arith.constant dense<1.0> : tensor<4xf32>
      %r = tile.extern_call "{symbol}" from "{library}" (%x) : (tensor<4xf32>) -> tensor<4xf32>
      tile.store %r, %y[%c0] : tensor<4xf32>, !tile.view<?xf32>
      tile.return
    }}"""
    with pytest.raises(kiln.CompileError, match=message) as caught:
        compile_text(text)
    assert "test.mlir:4:" in str(caught.value)


# ===- Assembly ---------------------------------------------------------------------------------===#


@needs_x86
def test_assembly(rng):
    a = rng.uniform(1, 4, (3, 7)).astype(np.float32)
    t = "tensor<3x7xf32>"
    body = f'%r = tile.inline_asm "vsqrtss $1, $1, $0" "=x,x" pure (%a) : ({t}) -> {t}'
    assert_close(apply(body, {"a": a}, {"r": ((3, 7), "f32")}), np.sqrt(a.astype(np.float64)), 1e-6)
    i = rng.integers(-100, 100, 40).astype(np.int32)
    body = '%r = tile.inline_asm "movl $1, $0\\\\0Aaddl $$5, $0" "=&r,r" (%i) : (tensor<40xi32>) -> tensor<40xi32>'
    assert np.array_equal(
        apply(body.replace("\\\\0A", "; "), {"i": i}, {"r": ((40,), "i32")}), i + 5
    )
    body = '%r = tile.inline_asm "vpaddd $1, $1, $0" "=x,x" pack = 4 pure (%i) : (tensor<40xi32>) -> tensor<40xi32>'
    assert np.array_equal(apply(body, {"i": i}, {"r": ((40,), "i32")}), 2 * i)


def assemble(text: str, constraints: str, element: str = "i32", pack: int = 1):
    words = f"pack = {pack} " if pack > 1 else ""
    escaped = "".join(
        c if c.isalnum() or c in " ,%{}$():.=&~[]|#" else f"\\{ord(c):02X}" for c in text
    )
    constraints = "".join(
        c if c not in '"\\\n' and c.isprintable() else f"\\{ord(c) & 255:02X}" for c in constraints
    )
    return compile_text(f"""tile.kernel @k(%y: !tile.view<?x{element}>) {{
      %c0 = arith.constant 0 : index
      %x = tile.load %y[%c0] : !tile.view<?x{element}> -> tensor<16x{element}>
      %r = tile.inline_asm "{escaped}" "{constraints}" {words}(%x) : (tensor<16x{element}>) -> tensor<16x{element}>
      tile.store %r, %y[%c0] : tensor<16x{element}>, !tile.view<?x{element}>
      tile.return
    }}""")


@needs_x86
@pytest.mark.parametrize(
    "text, constraints, message",
    [
        ("no such instruction", "=r,r", "inline assembly 'no such instruction': "),
        ("movl $1, $0; bogus $0", "=r,r", "inline assembly '.*; bogus .*': invalid"),
        ("movl $1, $7", "=r,r", r"expected an operand's number below 2, got \$7"),
        # What only the x87 stack has, over which LLVM ends the process.
        ("", "=f,f", "expected constraints on registers other than the x87 stack's, got \"f\""),
        ("", "={st},r", "expected constraints on registers other than the x87 stack's"),
        ("movl $1, ${0", "=r,r", "expected '}' after"),
        ("movl $1, ${0:zz}", "=r,r", "expected one letter as the operand's modifier"),
        ("movl $1, ${0:!}", "=r,r", ": invalid operand in inline asm"),
        ("movl $1, ${x}", "=r,r", "expected an operand's number, got"),
        ("movl $1, ${:what}", "=r,r", "expected .*{:uid}"),
        ("movl $x, $0", "=r,r", "expected an operand's number, got"),
        ("movl $1, $0 $", "=r,r", "expected something after '\\$', got the text's end"),
        ("$(movl $1, $0$|$(a$)", "=r,r", "not nested"),
        ("$(movl $1, $0", "=r,r", "expected '\\$\\)' after"),
        ("movl $1, $0", "=r", "expected constraints for 1 results and 1 operands, got \"=r\""),
        ("movl $1, $0", "=r,r,r", "for 1 and 2"),
        ("movl $1, $0", "r,=r", "expected constraints"),
        ("movl $1, $0", "=r,*m", "one on memory"),
        ("movl $1, $0", "=&&&,,[[", "expected constraints that LLVM can read"),
        ("movl $1, $0", "=Q9,r", "couldn't allocate|expected constraints|inline asm"),
        ("movl $1, $0", "={no_such_register},r", "couldn't allocate output register"),
        ("movl $1, $0", "=r,i", "invalid operand for inline asm constraint 'i'"),
        # What follows the text would be in no section that runs.
        (".section x", "=r,r", r"stays in the kernel's section, got '\.section': put"),
        ("nop; 1: .Text 1", "=r,r", r"section, got '\.Text'"),
        ("nop\n .data", "=r,r", r"section, got '\.data'"),
        ("$(nop$|.previous$)", "=r,r", r"section, got '\.previous'"),
        (".pushsection x; .popsection; .bss", "=r,r", r"section, got '\.bss'"),
        (".pushsection x; nop", "=r,r", r"expected '\.popsection' after '\.pushsection'"),
        # What the assembler finds once all is read.
        (".quad $0", "=r,r", "inline assembly '': expected relocatable expression"),
        # What only the loader finds.
        ("call none_such", "=r,r", r"inline assembly: .*does not have: 'none_such'"),
        ("jmp 12", "=r,r", r"inline assembly: cannot load the host code of 'k': .*out of range"),
    ],
)  # fmt: skip
def test_nonsense_is_an_error_at_its_line(text, constraints, message):
    with pytest.raises(kiln.CompileError, match=message) as caught:
        assemble(text, constraints)
    assert str(caught.value).count("test.mlir:4:") == 1


@needs_x86
def test_what_may_be_of_two_texts_names_both():
    text = """tile.kernel @k(%y: !tile.view<?xi32>) {
      %c0 = arith.constant 0 : index
      %x = tile.load %y[%c0] : !tile.view<?xi32> -> tensor<16xi32>
      %q = tile.inline_asm "movl $1, $0" "=r,r" (%x) : (tensor<16xi32>) -> tensor<16xi32>
      %r = tile.inline_asm ".quad $0" "=r,r" (%q) : (tensor<16xi32>) -> tensor<16xi32>
      tile.store %r, %y[%c0] : tensor<16xi32>, !tile.view<?xi32>
      tile.return
    }"""
    with pytest.raises(kiln.CompileError, match="test.mlir:4:.*relocatable expression") as caught:
        compile_text(text)
    assert "test.mlir:5:12: or in this inline assembly" in str(caught.value)


@needs_x86
def test_other_sections_are_pushed_and_popped(rng):
    """Words that begin like a section's name, or stand in no statement of their own, are none."""
    text = ".pushsection .rodata; .section x; .quad 5; .popsection; movl $1, $0 # .text"
    i = rng.integers(-100, 100, 40).astype(np.int32)
    body = f'%r = tile.inline_asm "{text}" "=r,r" (%i) : (tensor<40xi32>) -> tensor<40xi32>'
    assert np.array_equal(apply(body, {"i": i}, {"r": ((40,), "i32")}), i)


@needs_x86
def test_nonsense_at_random_never_ends_the_process():
    """What a check at the op's line does not catch, a worker process takes upon itself."""
    pieces = ["$0", "$1", "$$", "${0:b}", "${1:w}", "$(", "$|", "$)", "movl", "addl", " ", ", ", ";",
              "%eax", "$$5", "#", ".section x", ".byte 300", "(", ")", "\n", "${:uid}", "jmp", "1:"]  # fmt: skip
    parts = ["=r", "=&r", "=x", "r", "x", "0", "~{eax}", "~{memory}", "={ax}", "i", "m", "*m", "f", "=f", "~{dirflag}"]  # fmt: skip
    seed = random.SystemRandom().getrandbits(32)
    choose = random.Random(seed)
    for _ in range(60):
        text = "".join(choose.choices(pieces, k=choose.randrange(1, 7)))
        constraints = ",".join(
            [choose.choice(parts), *choose.choices(parts, k=choose.randrange(3))]
        )
        element, pack = choose.choice([("i32", 1), ("f32", 1), ("i8", 1), ("i32", 4), ("f64", 2), ("i64", 1)])  # fmt: skip
        print(seed, repr(text), constraints, element, pack, flush=True)
        try:
            assemble(text, constraints, element, pack)
        except kiln.CompileError as error:
            assert "test.mlir:4:" in str(error) or "'k'" in str(error)
