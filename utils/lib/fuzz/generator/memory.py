"""Views, buffers and every access to them, at offsets inside, outside and across the edge."""

import numpy as np

from .elementwise import exactly
from .numbers import FLOATS, PACKED, STORED, is_float, random_array, rounded, wrap
from .program import Argument
from .shapes import tensor

VIEWED = [e for e in STORED if e != "index"]


def store_form(array, element):
    """An array as the host keeps it."""
    return array if is_float(element) else array.astype(STORED[element])


def new_view(program, element, shape, array, name):
    """An argument; extents and strides are static or dynamic, the array contiguous or not."""
    rank = len(shape)
    extents = [str(n) if program.chance(0.3) else "?" for n in shape]
    strides = ""
    if element not in PACKED and program.chance(0.25):
        strides = ", strides [" + ", ".join(["?"] * rank) + "]"
        wide = [2 * n for n in shape]
        base = np.zeros(wide, array.dtype)
        part = base[tuple(slice(None, None, 2) for _ in shape)]
        part[...] = array
        array = part
    type_ = "!tile.view<" + "".join(f"{n}x" for n in extents) + element + strides + ">"
    argument = Argument(f"{name}{len(program.arguments)}", element, array, type_)
    program.arguments.append(argument)
    return argument


def input_view(program, element, shape=None):
    """A new input, or one that is there."""
    known = [a for a in program.arguments if a.element == element and a.name[0] == "a"]
    if known and program.chance(0.5) and shape is None:
        return program.pick(known)
    shape = shape or program.shape()
    if element in PACKED:
        shape = (*shape[:-1], 8 * (1 + shape[-1] // 8))
    array = random_array(shape, element, program.rng)
    view = new_view(program, element, shape, array, "a")
    program.memory[view.name] = array
    return view


def offsets_of(program, view, shape):
    """For each dimension a scalar of type index: mostly inside, at times across an edge."""
    values = []
    for extent, size in zip(view.array.shape, shape, strict=True):
        ids = program.scalars("index")
        if ids and program.chance(0.3) and view.element not in PACKED:
            values.append(program.pick(ids))
        elif program.chance(0.6) or view.element in PACKED:
            values.append(program.constant(0))
        else:
            values.append(program.constant(int(program.rng.integers(-size, extent + 2))))
    return values


def window(array, offsets, shape, padding):
    """The elements at an offset, with a padding outside."""
    result = np.full(shape, padding, array.dtype)
    places = np.indices(shape).reshape(len(shape), -1)
    at = places + np.array(offsets, np.int64).reshape(-1, 1)
    limits = np.array(array.shape).reshape(-1, 1)
    inside = np.all((at >= 0) & (at < limits), 0)
    result[tuple(places[:, inside])] = array[tuple(at[:, inside])]
    return result


def load(program):
    element = program.pick([e for e in VIEWED if not program.plain or e[-2:] in ("16", "32", "64")])
    view = input_view(program, element)
    rank = view.array.ndim
    shape = view.array.shape if program.chance(0.4) else program.shape(rank)
    if view.element in PACKED or np.prod(shape) > 2048:
        shape = view.array.shape
    if program.plain and any(n & (n - 1) for n in shape):
        return
    offsets = offsets_of(program, view, shape)
    padded = program.chance(0.3) and element != "f8E8M0FNU"
    amount = int(program.rng.integers(-2, 2)) if element != "i2" else -1
    padding = program.constant(amount, element) if padded else None
    hints = program.pick(["", "", " cache = streaming", " cache = bypass", " evict = first"])
    fill = np.zeros((), view.array.dtype if is_float(element) else np.int64)
    fill = rounded(amount, element) if padded and is_float(element) else fill
    fill = np.asarray(wrap(amount, element)) if padded and not is_float(element) else fill
    if element == "f8E8M0FNU":
        fill = np.zeros((), np.uint8).view(FLOATS[element])

    def run(machine, *given):
        array = machine.memory[view.name]
        return [(window(array, [int(x[0]) for x in given], shape, fill), None)]

    pad = f" pad({padding.name} : {element})" if padded else ""
    names = ", ".join(v.name for v in offsets)
    text = f"tile.load %{view.name}[{names}]{pad}{hints} : {view.type} -> {tensor(shape, element)}"
    program.emit(text, offsets, [(shape, element)], run)


def store(program, value, name="o"):
    """Each program of the grid writes a part of its own, along a new first dimension."""
    element = (
        "i8" if value.element == "i1" else "i64" if value.element == "index" else value.element
    )
    if element in PACKED and value.shape[-1] % 8:
        return
    shape = (program.programs * value.shape[0], *value.shape[1:]) if value.shape else ()
    array = np.zeros(shape, STORED[element])
    view = new_view(program, element, shape, array, name)
    program.memory[view.name] = np.zeros(shape, FLOATS.get(element, np.int64))
    slack = program.memory[view.name + "?"] = np.zeros(shape)
    rough = program.memory[view.name + "!"] = np.zeros(shape, bool)
    block = program.block
    stored = value
    if element != value.element:
        op = "arith.extui" if element == "i8" else "arith.index_cast"
        form = tensor(value.shape, element)
        convert = (lambda x: x & 1) if element == "i8" else (lambda x: x)
        stored = program.emit(f"{op} {value.name} : {value.type} to {form}", [value],
                              [(value.shape, element)], exactly(convert))[0]  # fmt: skip
    rows = value.shape[0]
    at = f"%at{len(program.arguments)}"
    block.lines += [f"{at}_r = arith.constant {rows} : index",
                    f"{at} = arith.muli %pid, {at}_r : index"]  # fmt: skip
    zero = program.constant(0)
    names = ", ".join([at] + [zero.name] * (len(shape) - 1))

    def run(machine, x):
        where = slice(machine.program * rows, (machine.program + 1) * rows)
        machine.memory[view.name][where] = x[0]
        slack[where] = 0 if x[1] is None else x[1]
        rough[where] = x[1] is not None
        return []

    text = f"tile.store {stored.name}, %{view.name}[{names}] : {stored.type}, {view.type}"
    program.emit(text, [stored], [], run)
    program.outputs.append(view)


def gather(program):
    indices = program.pick(program.tensors(lambda v: v.element in ("i32", "i64", "index")))
    if indices is None or program.plain:
        return
    rank = int(program.rng.integers(1, 3))
    element = program.pick([e for e in VIEWED if e not in PACKED])
    view = input_view(program, element, program.shape(rank))
    places = [indices] + [
        program.pick(program.tensors(lambda v: v.element in ("i32", "i64", "index")
                                     and v.shape == indices.shape)) for _ in range(rank - 1)
    ]  # fmt: skip
    mask = program.pick(program.tensors(lambda v: v.element == "i1" and v.shape == indices.shape))

    def run(machine, *given):
        array = machine.memory[view.name]
        at = [x[0] for x in given[:rank]]
        inside = np.ones(indices.shape, bool) if mask is None else given[rank][0] != 0
        for where, extent in zip(at, array.shape, strict=True):
            inside = inside & (where >= 0) & (where < extent)
        result = np.zeros(indices.shape, array.dtype)
        if element == "f8E8M0FNU":
            result = np.zeros(indices.shape, np.uint8).view(FLOATS[element])
        result[inside] = array[tuple(where[inside] for where in at)]
        return [(result, None)]

    masked = f" mask({mask.name} : {mask.type})" if mask else ""
    text = (
        f"tile.gather %{view.name}[{', '.join(v.name for v in places)}]{masked} : {view.type}, "
        f"[{', '.join(v.type for v in places)}] -> {tensor(indices.shape, element)}"
    )
    operands = [*places, mask] if mask else places
    program.emit(text, operands, [(indices.shape, element)], run)


def scatter(program):
    """Through a permutation, so that no two elements share an index."""
    value = program.pick(program.tensors(lambda v: len(v.shape) == 1 and v.element in VIEWED
                                         and v.element not in PACKED))  # fmt: skip
    if value is None or program.depth or program.plain:
        return
    count, total = value.shape[0], value.shape[0] * program.programs
    step = program.pick([n for n in range(1, 8) if np.gcd(n, count) == 1])
    view = new_view(program, value.element, (total,), np.zeros(total, STORED[value.element]), "o")
    memory = program.memory
    memory[view.name] = np.zeros(total, FLOATS.get(value.element, np.int64))
    memory[view.name + "?"] = np.zeros(total)
    memory[view.name + "!"] = np.zeros(total, bool)
    n = f"%s{len(program.arguments)}"
    form, ints = tensor((count,), "i64"), tensor((count,), "i64")
    program.block.lines += [
        f"{n}_i = tile.iota 0 : {form}",
        f"{n}_k = arith.constant dense<{step}> : {form}",
        f"{n}_n = arith.constant dense<{count}> : {form}",
        f"{n}_m = arith.muli {n}_i, {n}_k : {form}",
        f"{n}_p = arith.remui {n}_m, {n}_n : {form}",
        f"{n}_w = arith.index_cast %pid : index to i64",
        f"{n}_c = arith.constant {count} : i64",
        f"{n}_b = arith.muli {n}_w, {n}_c : i64",
        f"{n}_s = tile.splat {n}_b : {form}",
        f"{n} = arith.addi {n}_p, {n}_s : {form}",
    ]

    def run(machine, x):
        at = machine.program * count + np.arange(count) * step % count
        machine.memory[view.name][at] = x[0]
        return []

    text = f"tile.scatter {value.name}, %{view.name}[{n}] : {value.type}, {view.type}, [{ints}]"
    program.emit(text, [value], [], run)
    program.outputs.append(view)


def atomic(program):
    """What does not depend on the order: whole numbers."""
    kinds = {"addi": np.add, "mins": np.minimum, "maxs": np.maximum, "and": np.bitwise_and,
             "or": np.bitwise_or, "xor": np.bitwise_xor}  # fmt: skip
    value = program.pick(program.tensors(lambda v: v.element in ("i32", "i64")))
    if value is None or program.depth or program.plain:
        return
    indices = program.pick(program.tensors(lambda v: v.element in ("i32", "i64", "index")
                                           and v.shape == value.shape))  # fmt: skip
    if indices is None:
        return
    kind, extent = program.pick(kinds), int(program.pick(program.extents))
    view = new_view(program, value.element, (extent,), np.zeros(extent, STORED[value.element]), "o")
    memory = program.memory
    memory[view.name] = np.zeros(extent, np.int64)
    memory[view.name + "?"], memory[view.name + "!"] = np.zeros(extent), np.zeros(extent, bool)

    def run(machine, x, at):
        target = machine.memory[view.name]
        for place, number in zip(at[0].ravel(), x[0].ravel(), strict=True):
            if 0 <= place < extent:
                target[place] = wrap(kinds[kind](target[place], number), value.element)
        return []

    program.counter += 1
    text = (
        f"%old{program.counter} = tile.atomic_rmw {kind} %{view.name}[{indices.name}], "
        f"{value.name} : {view.type}, [{indices.type}], {value.type}"
    )
    program.emit(text, [value, indices], [], run)
    program.outputs.append(view)


def buffer(program):
    """Written, and read after something else was written."""
    value = program.pick(program.tensors(lambda v: v.element in VIEWED))
    if value is None or program.depth or (program.plain and value.element[1] == "8"):
        return
    program.counter += 1
    name = f"%b{program.counter}"
    form = "!tile.buffer<" + "".join(f"{n}x" for n in value.shape) + value.element + ">"
    program.block.lines += [f"{name} = tile.alloc : {form}",
                            f"tile.write {value.name}, {name} : {value.type}, {form}"]  # fmt: skip
    text = f"tile.read {name} : {form} -> {value.type}"
    program.emit(text, [value], [(value.shape, value.element)], exactly(lambda x: x))


FAMILIES = [load, load, load, load, gather, scatter, atomic, buffer]
