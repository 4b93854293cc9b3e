"""Hints about caches: on every target each is obeyed, by other code, or refused at its line; and they
change no number."""

from __future__ import annotations

import itertools
import subprocess

import pytest
from cubin import ASSEMBLER
from test_memory import random_bits, same
from tiles import launch, view

import kiln
from kiln import _native

CACHES = ["", "all", "global", "streaming", "bypass"]
EVICTIONS = ["", "normal", "first", "last"]
# What is also done unasked.
USUAL = [("", ""), ("all", ""), ("", "normal"), ("all", "normal")]
HINTS = [hint for hint in itertools.product(CACHES, EVICTIONS) if hint not in USUAL]
CHIPS = ["nvptx:sm_80", "nvptx:sm_90a", "nvptx:sm_100a", "amdgpu:gfx90a", "amdgpu:gfx942",
         "amdgpu:gfx1100", "amdgpu:gfx1201"]  # fmt: skip
# A store on these goes past the first cache unasked.
WRITE_THROUGH = ["amdgpu:gfx90a", "amdgpu:gfx1100"]
ACCESSES = ["load", "store", "gather", "scatter"]


def spelled(cache: str, eviction: str) -> str:
    return (f" cache = {cache}" if cache else "") + (f" evict = {eviction}" if eviction else "")


def copy(element: str, access: str, hints: str, size: int = 64) -> str:
    """A kernel that takes a tile from one place of %x to another of %y, by one hinted access."""
    kind, tile, index = view(1, element), f"tensor<{size}x{element}>", f"tensor<{size}xindex>"
    hint = {name: hints if name == access else "" for name in ACCESSES}
    read = f"%t = tile.load %x[%from]{hint['load']} : {kind} -> {tile}"
    if access == "gather":
        read = f"%t = tile.gather %x[%sources]{hint['gather']} : {kind}, [{index}] -> {tile}"
    write = f"tile.store %t, %y[%to]{hint['store']} : {tile}, {kind}"
    if access == "scatter":
        write = f"tile.scatter %t, %y[%places]{hint['scatter']} : {tile}, {kind}, [{index}]"
    return f"""
    tile.kernel @k(%x: {kind}, %y: {kind}, %from: index, %to: index) {{
      %iota = tile.iota 0 : tensor<{size}xindex>
      %start = tile.splat %from : {index}
      %end = tile.splat %to : {index}
      %sources = arith.addi %iota, %start : {index}
      %places = arith.addi %iota, %end : {index}
      {read}
      {write}
      tile.return
    }}"""


def follows(message: str) -> bool:
    return "expected hints that" not in message


@pytest.mark.crossed
@pytest.mark.parametrize("element", ["i8", "bf16", "f32", "f64", "i4"])
@pytest.mark.parametrize("access", ACCESSES)
@pytest.mark.parametrize("cache, eviction", HINTS)
def test_hints_change_no_number(rng, element, access, cache, eviction) -> None:
    if element == "i4" and access in ("gather", "scatter"):
        pytest.skip("elements that share bytes are not scattered")
    text = copy(element, access, spelled(cache, eviction))
    x, y = random_bits(rng, (100,), element), random_bits(rng, (90,), element)
    want = y.copy()
    want[11:75] = x[7:71]
    try:
        launch(text, [x, y, 7, 11])
    except kiln.CompileError as error:
        assert not follows(str(error)), error
        return
    assert same(y, want)


def code(target: str, text: str) -> str:
    request = {
        "source": text, "target": target, "kernel": "k", "source_name": "hint.mlir",
        "keep_stages": ("asm",),
    }  # fmt: skip
    return bytes(_native.compile(None, None, request)[0].section("asm")).decode()


@pytest.mark.crossed(1)
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("access", ACCESSES)
def test_each_hint_is_obeyed_or_refused(chip: str, access: str, tmp_path) -> None:
    plain = code(chip, copy("f32", access, ""))
    for cache, eviction in USUAL:
        assert code(chip, copy("f32", access, spelled(cache, eviction))) == plain
    made: dict[str, tuple[str, str]] = {}
    for cache, eviction in HINTS:
        text = copy("f32", access, spelled(cache, eviction))
        try:
            found = code(chip, text)
        except kiln.CompileError as error:
            line = text[: text.index(f"tile.{access}")].count("\n") + 1
            assert f"hint.mlir:{line}:" in str(error)
            assert f"hints that {chip} follows" in str(error)
            assert str(error).rstrip().split("\n")[0].endswith(spelled(cache, eviction))
            continue
        is_write = access in ("store", "scatter")
        if not (chip in WRITE_THROUGH and is_write and cache == "global"):
            assert found != plain, (cache, eviction)
        # Data that is used once is let go of first.
        meaning = ("streaming", "first") if "streaming" == cache or (
            eviction == "first" and cache in ("", "all")
        ) else (cache.replace("all", ""), eviction.replace("normal", ""))  # fmt: skip
        assert made.setdefault(found, meaning) == meaning
        if chip.startswith("nvptx") and ASSEMBLER.exists():  # a GPU machine need not have it
            path = tmp_path / "k.ptx"
            path.write_text(found)
            name = chip.removeprefix("nvptx:")
            subprocess.run([ASSEMBLER, f"-arch={name}", path, "-o", tmp_path / "k"], check=True)
    assert any(meaning == ("streaming", "first") for meaning in made.values())
    if chip.startswith("nvptx"):
        # All but those that contradict each other.
        assert set(made.values()) == {
            ("global", ""), ("global", "first"), ("global", "last"), ("streaming", "first"),
            ("bypass", ""), ("", "last"),
        }  # fmt: skip
