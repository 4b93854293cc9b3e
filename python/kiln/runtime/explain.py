"""`CompiledKernel.explain()`: what was compiled, and the decisions that stand in its IR."""

from __future__ import annotations

import json
import re
from typing import Any

# A decision is an attribute in the IR; the stages that write them, in order.
_DECIDING = ("layout", "schedule", "target")
_OPERATION = re.compile(r"^\s*(?:%\S+(?:, %\S+)* = )?\"?([a-z_]+\.[a-z_.]+)\"?")
_TYPE = re.compile(r"tensor<[^ ]*>")
_LAYOUT = re.compile(r"^#(\w+) = #tile\.layout<(.*)>$", re.MULTILINE)
_HELD = re.compile(r"(?:tensor|!tile\.buffer)<([^ ]+), #(\w+)>")
_FILLED = re.compile(r"buffer = !tile\.buffer<([^ ]+), #(\w+)>")
# What the source says, as opposed to what was decided.
_GIVEN = ("tile.name", "tile.facts", "tile.tunables", "tile.target")
_BARE = ("atom", "warps", "stage", "order", "role", "roles", "in_flight", "layout",
         "parts", "reads_ahead", "part_stages", "part_orders", "promote", "swap")  # fmt: skip


def explain(compiled: Any) -> str:
    """The text of `kiln explain`."""
    metadata = compiled.metadata
    lines = [f"kernel {compiled.name} for {compiled.target}"]
    for name, value in compiled.constants.items():
        lines.append(f"  {name} = {value!r}")
    tunables = metadata.get("tunables") or {}
    for name, value in tunables.items() if isinstance(tunables, dict) else ():
        if name not in compiled.constants:
            lines.append(f"  {name} = {value!r}")
    lines += ["", "arguments"]
    lines += [f"  {_argument(a)}" for a in metadata.get("arguments", ())]
    lines += ["", "parameters of the code"]
    for index, entry in enumerate(metadata.get("abi", ())):
        lines.append(f"  {index:2}  {_parameter(entry, metadata)}")
    lines += ["", "grid: " + ("the kernel's own" if metadata.get("has_grid") else "the call's")]
    one = "program"
    if metadata.get("programs_per_block"):
        one = "block"
        lines.append(f"blocks: of {metadata['programs_per_block']} programs each")
    if chunks := metadata.get("chunks"):
        loops = f"{chunks['loops']} loop{'s' * (chunks['loops'] > 1)}"
        what = f"tiles: in chunks of {chunks['length']}, in {loops}"
        tiles = f"{chunks['kept']} tile{'s' * (chunks['kept'] > 1)}"
        lines.append(what + (f", with {tiles} kept in shared memory" if chunks["kept"] else ""))
    for key, label in (("scratch_bytes", "scratch memory"), ("shared_bytes", "shared memory")):
        if metadata.get(key):
            lines.append(f"{label}: {metadata[key]} bytes a {one}")
    if metadata.get("warps"):
        lines.append(f"warps: {metadata['warps']} of {metadata.get('warp_size', '?')} lanes")
    lines += _registers(compiled)
    if reason := metadata.get("no_roles"):
        place = f"line {reason['line']}: " if "line" in reason else ""
        lines.append(f"no roles are decided, since {place}{reason['why']}")
    if protocol := _protocol(metadata.get("protocol") or {}):
        lines += ["", "protocol", *(f"  {line}" for line in protocol)]
    known: set[str] = set()
    for stage in _DECIDING:
        found = [d for d in _decisions(_ir(compiled, stage)) if d not in known]
        known.update(found)
        if found:
            lines += ["", f"decided by stage {stage}", *(f"  {d}" for d in found)]
    layout = _ir(compiled, "layout")
    for label, found in (
        ("layouts", _layouts(layout)),
        ("moves, for one warp", [_move(entry) for entry in metadata.get("moves", ())]),
    ):
        if found:
            lines += ["", label, *(f"  {line}" for line in dict.fromkeys(found))]
    lines += ["", "stages"]
    for stage in ("tile", *_DECIDING, "llvm", "llvmir", "asm"):
        text = _ir(compiled, stage)
        if text:
            lines.append(f"  {stage:9} {text.count(chr(10)):6} lines")
    lines.append(f"  {'binary':9} {len(compiled.binary):6} bytes")
    if compiled.remarks:
        lines += ["", "remarks", *(f"  {r}" for r in compiled.remarks)]
    return "\n".join(lines) + "\n"


def _protocol(protocol: dict[str, Any]) -> list[str]:
    """By what warps hand data to one another: what the check of final code looks for."""
    lines = []
    for role in protocol.get("roles", ()):
        warps, copies = role["warps"], role["copies"]
        name = f"role {role['name']}" if "name" in role else "role"
        text = f"{name}: {f'{copies} copies of ' if copies > 1 else ''}"
        text += f"{_count(warps, 'warp')} from warp {role['first']} on"
        if role["skew"]:
            text += f", each {_count(role['skew'], 'barrier')} behind the one before it"
        if role["registers"]:
            text += f", {role['registers']} registers a thread"
        lines.append(text)
    for ring in protocol.get("rings", ()):
        text = f"ring of {_count(ring['depth'], 'slot')}: "
        buffers = [
            f"{each['bytes']} bytes each from byte {each['at']} on" for each in ring["buffers"]
        ]
        text += " and ".join(buffers)
        if ring["own"]:
            text += ", filled by who reads it"
        lines.append(text)
    for counter in protocol.get("counters", ()):
        text = f"{_count(counter['slots'], 'counter')} from byte {counter['at']} on: "
        text += _count(counter["arrivals"], "arrival")
        text += f" by {' and '.join(counter['arrive'])}, {' and '.join(counter['wait'])} waits"
        lines.append(text)
    for barrier in protocol.get("barriers", ()):
        first, count = barrier["number"], barrier["count"]
        name = f"barrier {first}" if count == 1 else f"barriers {first} to {first + count - 1}"
        lines.append(f"{name}: {_count(barrier['warps'], 'warp')}{' each' if count > 1 else ''}")
    fences = [f"{fence['count']} of {fence['kind']}" for fence in protocol.get("fences", ())]
    return lines + ([f"fences: {', '.join(fences)}"] if fences else [])


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _ir(compiled: Any, stage: str) -> str:
    try:
        return compiled.ir(stage)
    except LookupError:
        return ""


def _layouts(text: str) -> list[str]:
    """Each layout, and the values and buffers that have it: the operation that makes one, or that
    fills one, and its type."""
    known = dict(_LAYOUT.findall(text))
    holders: dict[str, dict[str, None]] = {}
    for line in text.splitlines():
        operation = _OPERATION.match(line)
        held = _HELD.findall(line.rsplit("->", 1)[-1]) if operation and "=" in line else []
        for shape, alias in held[-1:]:
            holders.setdefault(alias, {})[f"{operation[1]} {shape}"] = None
        for shape, alias in _FILLED.findall(line) if operation else ():
            holders.setdefault(alias, {})[f"buffer of {operation[1]} {shape}"] = None
    found = []
    for alias, who in holders.items():
        if alias in known:
            found += [known[alias], *(f"  {name}" for name in who)]
    return found


def _move(entry: dict[str, Any]) -> str:
    """What moving a tile costs each warp: of memory, of shared memory, or between lanes."""
    text = f"line {entry['line']}: " if "line" in entry else ""
    text += f"{entry['op']} {entry['type']}: "
    count = entry.get("instructions", 0)
    plural = "s" if count != 1 else ""
    if entry.get("way") == "registers":
        return text + "in registers, free"
    if "way" in entry:
        return text + f"between lanes, {count} shuffle{plural}, {entry['cycles']} cycles"
    text += f"{entry['bytes']} bytes a lane, {count} instruction{plural}"
    if "sectors" in entry:
        text += f", {entry['sectors']} sectors of 32 bytes"
    if "cycles" in entry:
        text += f", {entry['cycles']} cycles"
    if "conflicts" in entry:
        conflicts = entry["conflicts"]
        text += f", {conflicts} of them bank conflicts" if conflicts else ", no bank conflict"
    return text + (f", by {entry['atom']}" if "atom" in entry else "")


def _argument(entry: dict[str, Any]) -> str:
    if entry.get("kind") != "view":
        text = f"{entry['name']}: {entry.get('type')} {entry.get('kind')}"
    else:
        shape = "x".join("?" if n is None else str(n) for n in entry.get("shape") or ())
        strides = ", ".join("?" if n is None else str(n) for n in entry.get("strides") or ())
        text = f"{entry['name']}: view {shape} of {entry.get('type')}, strides [{strides}]"
    facts = entry.get("facts") or {}
    known = []
    if (facts.get("pointer") or 0) > 1:
        known.append(f"address a multiple of {facts['pointer']} bytes")
    if any((s or 0) > 1 for s in facts.get("strides") or ()):
        known.append(f"strides multiples of {facts['strides']} bytes")
    if any((e or 0) > 1 for e in facts.get("extents") or ()):
        known.append(f"extents multiples of {facts['extents']}")
    if facts.get("index32"):
        known.append("addressable in 32 bits")
    if facts.get("noalias"):
        known.append("overlaps no other")
    if (facts.get("divisor") or 0) > 1:
        known.append(f"a multiple of {facts['divisor']}")
    if entry.get("written"):
        text += ", written"
    return text + (f"; {'; '.join(known)}" if known else "")


def _registers(compiled: Any) -> list[str]:
    """What the assembler, or else the driver that loaded the code, says that the code takes."""
    metadata = compiled.metadata
    if not metadata.get("warps"):
        return []
    if "registers" not in metadata:
        return _registers_by_driver(compiled)
    line = f"registers: {metadata['registers']} a thread"
    if metadata.get("accumulator_registers"):
        line += f", {metadata['accumulator_registers']} of them accumulators"
    if metadata.get("scalar_registers"):
        line += f"; {metadata['scalar_registers']} scalar ones a warp"
    lines = [line, f"spilled: {_spilled(metadata)}; {_local(metadata.get('local_bytes'))}"]
    if metadata.get("assembler"):
        lines.append(f"assembler: {metadata['assembler']}")
    if metadata.get("programs_per_core"):
        what = "blocks" if metadata.get("programs_per_block") else "programs"
        lines.append(f"occupancy: {metadata['programs_per_core']} {what} a multiprocessor")
    if metadata.get("waves_per_simd"):
        lines.append(f"occupancy: {metadata['waves_per_simd']} waves a SIMD")
    return lines


def _spilled(metadata: dict[str, Any]) -> str:
    if "spilled_registers" in metadata:
        return f"{metadata['spilled_registers']} registers"
    if "spill_store_bytes" in metadata and "spill_load_bytes" in metadata:
        stored, loaded = metadata["spill_store_bytes"], metadata["spill_load_bytes"]
        return f"{stored} bytes stored, {loaded} bytes loaded a thread"
    return "unknown"


def _local(size: int | None) -> str:
    return "local memory unknown" if size is None else f"{size} bytes of local memory a thread"


def _registers_by_driver(compiled: Any) -> list[str]:
    """Nothing was assembled here: only a device that has loaded the code can tell."""
    executable = getattr(compiled, "executable", None)
    told = json.loads(executable.describe()) if executable is not None else {}
    known = {name: value for name, value in told.items() if isinstance(value, int) and value >= 0}
    if "registers" not in known:
        why = "nothing was assembled, and no device has loaded the code"
        return [f"registers: unknown ({why})", f"spilled: unknown; {_local(None)}"]
    lines = [f"registers: {known['registers']} a thread"]
    return [*lines, f"spilled: unknown; {_local(known.get('local_bytes'))}", "assembler: driver"]


def _parameter(entry: dict[str, Any], metadata: dict[str, Any]) -> str:
    text = f"{entry['kind']} {entry.get('type', '')}".strip()
    arguments = metadata.get("arguments", ())
    if isinstance(entry.get("arg"), int) and entry["arg"] < len(arguments):
        text += f" of {arguments[entry['arg']]['name']}"
    if isinstance(entry.get("dim"), int):
        text += f", dimension {entry['dim']}"
    return text


def _decisions(text: str) -> list[str]:
    """Operations that carry attributes of a decision, once each, in the order of the program."""
    found: dict[str, None] = {}
    regions: list[str] = []
    for line in text.splitlines():
        operation = _OPERATION.match(line)
        body = line.strip()
        name = operation[1] if operation else ""
        if body.startswith("}"):
            name = regions.pop() if regions else ""
        if name:
            groups, result = _groups(line)
            kept = [a for group in groups for a in _split(group) if _is_decision(a)]
            if kept:
                type_ = _TYPE.search(result.rsplit("->", 1)[-1])
                what = f"{name} {type_[0]}" if type_ and not body.endswith(("{", "}")) else name
                found[f"{what}: {', '.join(dict.fromkeys(map(_short, kept)))}"] = None
        if body.endswith("{"):
            regions.append(name)
    return list(found)


def _groups(line: str) -> tuple[list[str], str]:
    """The contents of the outermost braces of a line, and the line without them."""
    groups, rest, depth, start = [], [], 0, 0
    quoted = False
    for index, character in enumerate(line):
        if character == '"' and line[index - 1] != "\\":
            quoted = not quoted
        if quoted:
            pass
        elif character == "{":
            if depth == 0:
                start = index + 1
            depth += 1
        elif character == "}" and depth:
            depth -= 1
            if depth == 0:
                groups.append(line[start:index])
                continue
        if depth == 0:
            rest.append(character)
    return groups, "".join(rest)


def _split(attributes: str) -> list[str]:
    """A list of attributes at the commas that are in no bracket."""
    out, depth, start = [], 0, 0
    for index, character in enumerate(attributes):
        if character in "<[({":
            depth += 1
        elif character in ">])}":
            depth -= 1
        elif character == "," and depth == 0:
            out.append(attributes[start:index])
            start = index + 1
    return [part.strip() for part in (*out, attributes[start:]) if part.strip()]


def _short(attribute: str) -> str:
    """`array<i64: 1, 2>` as `[1, 2]`, and integers without their type."""
    text = re.sub(r"array<\w+(?:: ([^<>]*))?>", lambda m: f"[{m[1] or ''}]", attribute)
    return re.sub(r"(= -?\d+) : \w+$", r"\1", text)


def _is_decision(attribute: str) -> bool:
    name = attribute.split("=", maxsplit=1)[0].strip()
    return name in _BARE or ("." in name and name not in _GIVEN and re.match(r"[\w.]+$", name))
