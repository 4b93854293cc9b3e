"""Decisions of the author: on the kernel, on operations, on loops and on branches."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from kiln.frontend.arithmetic.literals import quoted
from kiln.frontend.errors import Misuse
from kiln.frontend.syntax.branches import PinnedCondition
from kiln.frontend.syntax.calls import implements
from kiln.frontend.syntax.loops import Range
from kiln.frontend.values import Value, as_flag, as_int, as_text, describe
from kiln.language.dtypes import bool_

_ON_KERNELS = ("warps", "cluster", "overlap", "roles", "persistent", "raster", "per_core",
               "programs_per_block", "batch", "chunk")  # fmt: skip
_ON_PRODUCTS = ("parts", "reads_ahead", "part_stages", "part_orders", "promote", "swap",
                "extents", "interleave")  # fmt: skip
_ON_OPERATIONS = ("role", "stage", "order", "ring", "depth", "write_stage", "in_flight", "atom",
                  "read_atom", "buffer", "held", "kept", "layout", "residency", "carried",
                  "columns", "operand_columns", "fetched", "guarded", "triggers", "multicast",
                  *_ON_PRODUCTS)  # fmt: skip
_ON_LOOPS = ("role", "stage", "order", "depth", "share")
_ON_CONDITIONS = ("role", "stage", "order", "depth", "split")
_NUMBERS = ("stage", "order", "depth", "write_stage", "in_flight", "reads_ahead", "columns",
            "operand_columns", "held")  # fmt: skip
_RASTERS = ("grouped", "chiplets", "longest_x", "longest_y", "longest_z")
_MOST = 1 << 30


@dataclass(frozen=True)
class Role:
    """What kiln.role gives, as the IR spells it, and how many copies take tiles in turn."""

    ir: str
    turns: str = ""


@implements("role")
def role(c: Any, name: Any, warps: Any, copies: Any, registers: Any, skew: Any, turns: Any) -> Role:
    fields = [quoted(as_text(name, "name"))]
    given = {"warps": warps, "copies": copies, "registers": registers, "skew": skew}
    for word, number in given.items():
        number = as_int(number, word)
        least = 1 if word in ("warps", "copies") else 0
        if not least <= number < _MOST:
            raise Misuse(f"expected {word} of at least {least}, got {number}", argument=word)
        if word == "warps" or number != least:
            fields.append(f"{word} = {number}")
    if as_int(skew, "skew") and as_int(copies, "copies") == 1:
        raise Misuse(f"expected several copies of a role with a skew, got {skew}", argument="skew")
    taken = as_int(turns, "turns")
    if not 1 <= taken < _MOST:
        raise Misuse(f"expected turns of at least 1, got {taken}", argument="turns")
    if taken > 1 and as_int(copies, "copies") > 1:
        raise Misuse(
            f"expected turns or copies of a role, got {taken} and {copies}", argument="turns"
        )
    return Role(
        f"#tile.role<{', '.join(fields)}>", f"{fields[0]} = {taken} : i64" if taken > 1 else ""
    )


@implements("pin")
def pin(c: Any, value: Any, *decisions: Any) -> Any:
    names = (*_ON_KERNELS, "role", "stage", "order", "ring", "depth", "write_stage", "in_flight",
             "atom", "read_atom", "buffer", "held", "kept", "layout", "residency", "carried",
             "columns", "operand_columns", "fetched", "guarded", "split", "triggers", "multicast",
             *_ON_PRODUCTS,
             "share")  # fmt: skip
    given = {name: x for name, x in zip(names, decisions, strict=True) if x is not None}
    if value is ...:
        _allow(given, _ON_KERNELS, "a kernel")
        for name, decision in given.items():
            _PIN_KERNEL[name](c, decision)
        return None
    if not given:
        raise Misuse("expected a decision to pin, got none", "kiln.pin(x, stage=1)")
    if isinstance(value, (Range, range)):
        _allow(given, _ON_LOOPS, "a loop")
        decisions = _added(c, value, _foreign(given))
        return _open(c, Range(value.start, value.stop, value.step, decisions))
    if isinstance(value, Value) and value.is_scalar and value.dtype.is_bool:
        _allow(given, _ON_CONDITIONS, "a condition")
        constant = value.constant if isinstance(value, PinnedCondition) else None
        return _open(c, PinnedCondition(value, _added(c, value, _foreign(given)), constant))
    if isinstance(value, bool):
        _allow(given, _ON_CONDITIONS, "a condition")
        constant = c.e.constant(value, bool_)
        return _open(c, PinnedCondition(constant, _added(c, value, _foreign(given)), value))
    _allow(given, _ON_OPERATIONS, "an operation")
    _pin_operation(c, value, given)
    return value


def _added(c: Any, value: Any, given: dict[str, str | None]) -> dict[str, str | None]:
    """Decisions beside those that were taken of a range or a condition before."""
    c.open_pins.pop(value, None)
    known = getattr(value, "decisions", None) or {}
    for name in given:
        if name in known:
            word = name.removeprefix("tile.")
            raise Misuse(f"expected one decision about {word}, got two", argument=word)
    return {} if c.e.host else known | given  # of what computes a grid nothing is decided


def _open(c: Any, pinned: Any) -> Any:
    """What a loop or a branch has still to use."""
    if not c.e.host:
        c.open_pins[pinned] = c.e.node
    return pinned


def _allow(given: dict[str, Any], allowed: tuple[str, ...], what: str) -> None:
    for name in given:
        if name not in allowed:
            raise Misuse(
                f"expected decisions about {what}, got {name}", ", ".join(allowed), argument=name
            )


# The kernel.


def _pin_warps(c: Any, warps: Any) -> None:
    warps = as_int(warps, "warps")
    if not 1 <= warps <= 64 or warps & (warps - 1):
        raise Misuse(f"expected 1, 2, 4, 8, 16, 32 or 64 warps, got {warps}", argument="warps")
    _decide(c, "warps", f"{warps} : i64", "one number of warps", shown=f"{warps}")


def _pin_cluster(c: Any, cluster: Any) -> None:
    given = cluster if isinstance(cluster, tuple) else (cluster,)
    extents = [as_int(extent, "cluster") for extent in given]
    if not 1 <= len(extents) <= 3 or any(extent < 1 for extent in extents):
        raise Misuse(
            f"expected one to three extents of at least 1, got {cluster}", argument="cluster"
        )
    extents += [1] * (3 - len(extents))
    text = ", ".join(map(str, extents))
    _decide(c, "cluster", f"array<i64: {text}>", "one shape of clusters", shown=f"({text})")


def _pin_overlap(c: Any, overlap: Any) -> None:
    if as_flag(overlap, "overlap"):
        _decide(c, "overlap", "unit", "one overlap", shown="True")


def _pin_roles(c: Any, roles: Any) -> None:
    roles = roles if isinstance(roles, tuple) else (roles,)
    if not roles or not all(isinstance(each, Role) for each in roles):
        raise Misuse(
            "expected roles", 'roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4))',
            "roles",
        )  # fmt: skip
    text = ", ".join(each.ir for each in roles)
    _decide(c, "roles", f"[{text}]", "one list of roles", shown="others")
    if turns := ", ".join(each.turns for each in roles if each.turns):
        _decide(c, "turns", f"{{{turns}}}", "one list of roles", shown="others")


def _pin_persistent(c: Any, persistent: Any) -> None:
    if persistent is False:
        _decide(c, "persistent", "false", "one persistent grid", shown="False")
        return
    given = persistent if isinstance(persistent, tuple) else (persistent, 1)
    given, even = (given[:-1], True) if given[-1:] == ("even",) else (given, False)
    numbers = [as_int(number, "persistent") for number in given]
    if len(numbers) != 2 or not 0 <= numbers[0] < _MOST or not 1 <= numbers[1] < _MOST:
        raise Misuse(
            f'expected programs, or a pair of programs and a group of tiles, and perhaps "even" '
            f"behind it, got {persistent}",
            'persistent=(132, 16, "even")',
            "persistent",
        )
    text = f"#tile.persistent<programs = {numbers[0]}, group = {numbers[1]}"
    text += ", even = true>" if even else ">"
    shown = (*numbers, "even") if even else tuple(numbers)
    _decide(c, "persistent", text, "one persistent grid", shown=f"{shown}")


def _need_persistent(c: Any, name: str) -> None:
    if c.decisions.get("persistent", ("false",))[0] == "false":
        raise Misuse(
            f"expected persistent beside {name} or before it, since {name} is of such a grid",
            'persistent=(0, 16), raster="chiplets"',
            name,
        )


def _pin_raster(c: Any, raster: Any) -> None:
    raster = as_text(raster, "raster")
    if raster not in _RASTERS:
        raise Misuse(f"expected a raster, got {raster!r}", ", ".join(_RASTERS), "raster")
    _need_persistent(c, "raster")
    _decide(c, "raster", quoted(raster), "one raster", shown=f"{raster!r}")


def _pin_per_core(c: Any, per_core: Any) -> None:
    per_core = as_int(per_core, "per_core")
    if not 1 <= per_core < _MOST:
        raise Misuse(f"expected per_core of at least 1, got {per_core}", argument="per_core")
    _need_persistent(c, "per_core")
    if "programs = 0," not in c.decisions["persistent"][0]:
        raise Misuse(
            "expected persistent=0, since per_core counts the programs of a core, got "
            f"{c.decisions['persistent'][1]}",
            argument="per_core",
        )
    _decide(c, "per_core", f"{per_core} : i64", "one number of programs a core", f"{per_core}")


def _pin_programs_per_block(c: Any, programs: Any) -> None:
    what = "one number of programs a block"
    _pin_count(c, "programs_per_block", "block_programs", programs, what)


def _pin_batch(c: Any, batch: Any) -> None:
    _pin_count(c, "batch", "batch", batch, "one number of programs in step")


def _pin_count(c: Any, argument: str, name: str, count: Any, what: str) -> None:
    count = as_int(count, argument)
    if not 1 <= count < _MOST:
        raise Misuse(f"expected {argument} of at least 1, got {count}", argument=argument)
    _decide(c, name, f"{count} : i64", what, shown=f"{count}")


def _pin_chunk(c: Any, chunk: Any) -> None:
    if chunk is False:
        _decide(c, "chunk", "false", "one length of chunks", shown="False")
        return
    given = chunk if isinstance(chunk, tuple) else (chunk, 1)
    numbers = [as_int(number, "chunk") for number in given]
    if len(numbers) != 2 or any(not 1 <= x < _MOST or x & (x - 1) for x in numbers):
        raise Misuse(
            f"expected a power of two of elements, or a pair of that and how many loads at once, "
            f"also a power of two, got {chunk}",
            "chunk=(2048, 4)",
            "chunk",
        )
    text = f"array<i64: {numbers[0]}, {numbers[1]}>"
    _decide(c, "chunk", text, "one length of chunks", shown=f"{tuple(numbers)}")


_PIN_KERNEL = {
    "warps": _pin_warps, "cluster": _pin_cluster, "overlap": _pin_overlap, "roles": _pin_roles,
    "persistent": _pin_persistent, "raster": _pin_raster, "per_core": _pin_per_core,
    "programs_per_block": _pin_programs_per_block, "batch": _pin_batch, "chunk": _pin_chunk,
}  # fmt: skip


def _decide(c: Any, name: str, value: str, what: str, shown: str) -> None:
    """Once or the same again. `value` is as the IR spells it, `shown` as a person does."""
    before = c.decisions.setdefault(name, (value, shown))
    c.pinned_at.setdefault(name, c.e.alias())
    if before[0] != value:
        raise Misuse(f"expected {what}, got {before[1]} and {shown}")


# Operations, loops and branches.


def _parts(parts: Any) -> str:
    given = parts if isinstance(parts, tuple) else (parts,)
    numbers = [as_int(number, "parts") for number in given]
    if len(numbers) != 3 or not all(1 <= number < _MOST for number in numbers):
        raise Misuse(
            f"expected how many parts along m, n and k, got {parts}", "parts=(1, 1, 4)", "parts"
        )
    return f"array<i64: {', '.join(map(str, numbers))}>"


def _extents(extents: Any) -> str:
    given = extents if isinstance(extents, tuple) else (extents,)
    numbers = [as_int(number, "extents") for number in given]
    if len(numbers) < 3 or not all(1 <= number < _MOST for number in numbers):
        raise Misuse(
            f"expected rows, columns and inner extents of at least 1, got {extents}",
            "extents=(128, 192, 64)",
            "extents",
        )
    return f"array<i64: {', '.join(map(str, numbers))}>"


def _places(name: str, places: Any) -> str:
    """Pairs of numbers, one for each part, as one list."""
    pairs = places if isinstance(places, tuple) else (places,)
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise Misuse(
            f"expected {name} of a pair of numbers for each part, of its reads and of its product, "
            f"got {places}",
            f"{name}=((0, 1), (2, 3))",
            name,
        )
    numbers = [as_int(number, name) for pair in pairs for number in pair]
    if not all(0 <= number < _MOST for number in numbers):
        raise Misuse(f"expected {name} of at least 0, got {places}", argument=name)
    return f"array<i64: {', '.join(map(str, numbers))}>"


def _axes(axes: Any) -> str:
    given = axes if isinstance(axes, tuple) else (axes,)
    names = [as_text(axis, "multicast") for axis in given]
    if not names or len(names) != len(set(names)) or not set(names) <= {"x", "y", "z"}:
        raise Misuse(
            f'expected axes from "x", "y" and "z", each once, got {axes!r}',
            'multicast="x" or multicast=("x", "y")',
            "multicast",
        )
    return f"[{', '.join(map(quoted, names))}]"


def _spelled(name: str, decision: Any) -> str | None:
    """A decision as the IR spells it, or nothing if its name says it all."""
    if name in _NUMBERS:
        number = as_int(decision, name)
        least = 1 if name in ("depth", "held") else 0
        if not least <= number < _MOST:
            raise Misuse(f"expected {name} of at least {least}, got {number}", argument=name)
        return f"{number} : i64"
    if name == "parts":
        return _parts(decision)
    if name == "extents":
        return _extents(decision)
    if name in ("part_stages", "part_orders"):
        return _places(name, decision)
    if name in ("guarded", "promote", "swap"):
        return "true" if as_flag(decision, name) else "false"
    if name == "multicast":
        return _axes(decision)
    text = as_text(decision, name)
    if name == "kept" and text != "shared":
        raise Misuse(f"expected kept to be 'shared', got {decision!r}", argument=name)
    if not text:
        raise Misuse(f'expected {name} to be a name, got ""', argument=name)
    if name == "interleave":
        return f"#tile.interleave<{_rounds(text)}>"
    if name == "read_atom":
        return _read_atom(text)
    if name == "buffer":
        return f"#tile.layout<{_layout(text, ('offset',))}>"
    if name != "layout":
        return quoted(text)
    return f"#tile.layout<{_layout(text, ('register', 'lane', 'warp'))}>"


def _shared(share: Any) -> dict[str, str | None]:
    """How many programs run a loop's trips, or that all do, and whether they add to one sum as they
    come."""
    programs, *how = share if isinstance(share, tuple) else (share,)
    if how not in ([], ["atomic"]) or (isinstance(programs, str) and programs != "stream"):
        raise Misuse(
            f'expected programs or "stream", or a pair of these and "atomic", got {share!r}',
            'share=4, share="stream" or share=(4, "atomic")',
            "share",
        )
    atomic = {"tile.share_atomic": None} if how else {}
    if programs == "stream":
        return {"tile.share": quoted("stream")} | atomic
    programs = as_int(programs, "share")
    if not 2 <= programs < _MOST:
        raise Misuse(f"expected share among at least 2 programs, got {programs}", argument="share")
    return {"tile.share": f"{programs} : i64"} | atomic


_KINDS = "matrix|vector|scalar|transcendental|load|store|read|write"
_GROUP = rf"\s*[1-9]\d{{0,8}}\s+(?:{_KINDS})\s*"
_ROUND = rf"\s*[1-9]\d{{0,8}}\s+x\s*\({_GROUP}(?:,{_GROUP})*\)\s*"
_ROUNDS = re.compile(rf"{_ROUND}(?:,{_ROUND})*")


def _rounds(text: str) -> str:
    """Groups of instructions, each round so many times over, as the IR spells them."""
    if not _ROUNDS.fullmatch(text):
        raise Misuse(
            f"expected rounds of instructions, got {text!r}",
            "interleave='16 x (1 read), 32 x (2 matrix, 1 load)'",
            "interleave",
        )
    return text


_BASIS = r"\[\s*\d+(?:\s*,\s*\d+)*\s*\]"
_PART = rf"\s*(\w+)\s*=\s*\[((?:\s*{_BASIS}\s*(?:,(?=\s*\[))?)*)\s*\]\s*"
_LAYOUT = re.compile(rf"{_PART}(?:,{_PART})*")


def _layout(text: str, names: tuple[str, ...]) -> str:
    """Parts of a layout, each with its basis vectors, as `kiln layout` shows it."""
    parts = [name for name, _ in re.findall(_PART, text)]
    if not _LAYOUT.fullmatch(text) or len(parts) != len(set(parts)):
        raise Misuse(
            f"expected a layout, got {text!r}",
            f"'{names[0]} = [[0,1],[1,0]]'",
            "buffer" if names == ("offset",) else "layout",
        )
    for name in parts:
        if name not in names:
            what = "offset in the layout of a buffer"
            if len(names) > 1:
                what = "register, lane and warp in a layout"
            raise Misuse(f"expected {what}, got {name}")
    return text


def _with_units(text: str, whole: str, shape: tuple[int, ...]) -> str:
    """A layout of a tile, in the dimensions that it was loaded with: some of one element were
    dropped."""
    extents = [int(extent) for extent in whole.split("x")[:-1]]
    places, left = [], [*shape]
    for at, extent in enumerate(extents):
        if extent != 1 or len(extents) - at <= len(left):
            places.append(at)
            left = left[1:]
    if len(places) != len(shape) or len(places) == len(extents):
        return text

    def spread(basis: re.Match[str]) -> str:
        numbers = re.findall(r"\d+", basis.group())
        if len(numbers) != len(places):
            return basis.group()
        of_dim = dict(zip(places, numbers, strict=True))
        return f"[{','.join(of_dim.get(at, '0') for at in range(len(extents)))}]"

    return re.sub(_BASIS, spread, text)


_READ_ATOM = re.compile(r"#\w+\.\w+(<[\w\s,]*>)?")


def _read_atom(text: str) -> str:
    """An instruction that reads slots, as the IR spells it."""
    if not _READ_ATOM.fullmatch(text):
        raise Misuse(
            f"expected an instruction as the IR spells it, got {text!r}",
            "read_atom='#nvptx.ldmatrix<4, 16>'",
            "read_atom",
        )
    return text


def _foreign(given: dict[str, Any]) -> dict[str, str | None]:
    """Decisions as attributes of an operation of another dialect than tile."""
    splits = "split" in given and as_flag(given["split"], "split")
    spelled: dict[str, str | None] = {
        f"tile.{name}": _spelled(name, x)
        for name, x in given.items()
        if name not in ("split", "share")
    }
    shares = _shared(given["share"]) if "share" in given else {}
    return spelled | shares | ({"tile.split_loop": None} if splits else {})


def _check_residency(place: Any, of_product: bool) -> None:
    """Of a product, where its sum is; of all else, where products read it."""
    places = ("registers", "tensor_memory" if of_product else "shared")
    if as_text(place, "residency") not in places:
        what = "of a product" if of_product else "of an operand"
        raise Misuse(f"expected a residency {what}, got {place!r}", ", ".join(places), "residency")


# Of loads alone; and of what brings a tile to slots, which gathered rows never go to by themselves.
_ON_LOADS = ("multicast", "write_stage", "read_atom", "held", "kept", "ring")
_ON_RINGS = ("atom", "buffer", "depth")
# Decisions that are one of two words, and where every operation of tile spells them alike.
_WORDS = {"carried": ("registers", "tensor_memory"), "fetched": ("whole", "boxes")}
_OF_SUMS = ("carried", "columns", "operand_columns")
_SPELLED_ALIKE = (
    "atom", "held", "kept", "layout", "residency", "write_stage", "extents", *_OF_SUMS, *_WORDS
)  # fmt: skip


def _check_word(name: str, word: Any) -> None:
    words = _WORDS[name]
    if as_text(word, name) not in words:
        raise Misuse(f"expected {name} to be {words[0]!r} or {words[1]!r}, got {word!r}",
                     argument=name)  # fmt: skip


def _refuse_regions(c: Any, value: Value) -> None:
    """Of what a loop or a branch gives, whose operations inside are several."""
    what = c.e.of_regions.get(value.ref)
    if what is None:
        return
    legal = "around an operation in a branch, or the condition: if kiln.pin(x > 0, stage=1)"
    if what.startswith("the loop"):
        legal = "around an operation in it, or the range: for i in kiln.pin(range(n), stage=1)"
    raise Misuse(f"expected what an operation gives, got what {what} gives", legal, "value")


def _pin_operation(c: Any, value: Any, given: dict[str, Any]) -> None:
    """Writes decisions to the operation of this block that gives a value, or that stores one."""
    is_store = value is None
    at = c.e.find_store() if is_store else None
    if isinstance(value, Value):
        _refuse_regions(c, value)
        at = c.e.find_operation(value.ref)
    if at is None:
        raise Misuse(
            f"expected what an operation of this block gives, got {describe(value)}",
            "around the load, the product or the store itself",
            "value",
        )
    if "residency" in given:
        _check_residency(given["residency"], c.e.is_product(at))
    for name, decision in given.items():
        if name in _WORDS:
            _check_word(name, decision)
        if name == "fetched" and not is_store:
            raise Misuse(f"expected fetched of a store, got {describe(value)}",
                         "around the store itself", name)  # fmt: skip
        if name in (*_ON_PRODUCTS, *_OF_SUMS) and not c.e.is_product(at):
            raise Misuse(f"expected {name} of a product, got {describe(value)}",
                         "around kiln.dot itself", name)  # fmt: skip
        if name == "guarded" and not c.e.is_choice(at):
            raise Misuse(f"expected guarded of a choice by a mask, got {describe(value)}",
                         "around kiln.where itself", name)  # fmt: skip
        of_gather = name in _ON_RINGS and c.e.is_gather(at)
        if of_gather or (name in _ON_LOADS and not c.e.is_load(at)):
            what = "rows that are gathered, which go through registers"
            what = what if c.e.is_gather(at) else describe(value)
            raise Misuse(f"expected {name} of a load, got {what}",
                         "around the load itself", name)  # fmt: skip
        if name == "buffer" and not (is_store or c.e.is_load(at)):
            raise Misuse(f"expected buffer of a load or of a store, got {describe(value)}",
                         "around the load or the store itself", name)  # fmt: skip
    ours = c.e.is_of_tile(at)
    spelled: dict[str, str | None] = {}
    if "triggers" in given and as_flag(given["triggers"], "triggers"):
        spelled["tile.triggers"] = None
    for name, decision in given.items():
        if name == "triggers":
            continue
        plain = ours and name not in _SPELLED_ALIKE
        plain = plain and not (name == "depth" and not c.e.is_load(at))
        plain = plain and not (name == "order" and c.e.orders_memory(at))
        text = _spelled(name, decision)
        if text and name in ("layout", "buffer") and isinstance(value, Value):
            text = _with_units(text, c.e.tile_of(at), value.shape)
        if name == "buffer":
            text = f"!tile.buffer<{c.e.tile_of(at)}, {text}>"
        spelled[name if plain else f"tile.{name}"] = text
    if spelled:
        c.e.decide(at, spelled)
