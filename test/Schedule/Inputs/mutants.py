"""Breaks a realised kernel in many small ways and asks the protocol check to refuse each.

    mutants.py TILE_OPT SOURCE LEAST

A mutant is the source with one edit that breaks what roles agreed on; LEAST is how many there must
be. Prints `N mutants refused`, or each one that passed, and then fails. The source itself must pass.
A line that ends in `// loose` holds more than it must, and its numbers are left alone; a barrier that
does is one of several that each suffice. A release that ends in `// met` stands behind dots that its
lanes have started together.
"""

import re
import sys

from refusals import end_of, expect_refused


def counts_bytes(lines, at):
    """Whether the put around a copy announces what it brings."""
    put = next(line for line in reversed(lines[:at]) if "tile.put " in line)
    return "bytes = 0" not in put


def drops(lines):
    """Leaves out one op that has no result, or twice makes it."""
    pattern = r"\s*tile\.(put|release|commit|barrier|wait_stores|copy_in|copy_out)\b"
    for at, line in enumerate(lines):
        found = re.match(pattern, line)
        if not found:
            continue
        last = end_of(lines, at)
        if found[1] == "copy_out":  # what a kernel stores is its own affair
            continue
        if found[1] == "barrier" and line.endswith("// loose"):
            continue
        yield f"line {at + 1}: no tile.{found[1]}", lines[:at] + lines[last:]
        if found[1] == "copy_in" and not counts_bytes(lines, at):  # the same, brought twice
            continue
        if found[1] in ("put", "release", "commit", "copy_in"):
            yield f"line {at + 1}: tile.{found[1]} twice", lines[:last] + lines[at:]


# What each kind of fence must stand in front of.
ORDERED = {
    "tensor_after": r"tile\.(fetch|fill|start_dot)\b",
    "tensor_before": r"tile\.(release|barrier|put|commit)\b",
    "shared": r"tile\.(release|start_dot)\b",
}


def is_needed(lines, at):
    """Whether no other fence of its kind stands between this one and what it orders."""
    kind = lines[at].split()[1]
    for line in lines[at + 1 :]:
        if re.search(ORDERED[kind], line):
            return True
        if re.match(rf"\s*tile\.fence\s+{kind}\b", line):
            return False
    return True


def weakens(lines):
    """Leaves out what shows accesses to others, waits for less, or for fewer warps."""
    isInRole = False
    for at, line in enumerate(lines):
        isInRole |= bool(re.match(r"\s*role #?", line))
        if not isInRole or line.endswith("// loose"):
            continue
        found = re.match(r"\s*tile\.(fence|wait_puts)\b", line)
        if found and (found[1] != "fence" or is_needed(lines, at)):
            yield f"line {at + 1}: no tile.{found[1]}", lines[:at] + lines[at + 1 :]
        for old, new in (
            (" publish", ""),
            (" all_copies", ""),
            ("one_thread each_warp", "one_thread"),
        ):
            if re.match(rf"\s*tile\..*{old}\b", line):
                edited = line.replace(old, new)
                if old == " all_copies":
                    edited = edited.replace('"all"', '"copy"')
                yield f"line {at + 1}: no {old.strip()}", [*lines[:at], edited, *lines[at + 1 :]]


def numbers(lines):
    """Changes one number that roles count on."""
    patterns = {
        r"tile\.put .* bytes = (\d+)": (lambda n: n - 2, lambda n: 2 * n, lambda n: 0),
        r"full = (\d+)": (lambda n: n + 1,),
        r"empty = (\d+)": (lambda n: n - 1, lambda n: 2 * n),
        r"copies = 2, registers = (\d+)": (lambda n: 256,),
        r"registers = (\d+)": (lambda n: n - 4, lambda n: n + 256),
        r"tile\.wait .*in_flight = (\d+)": (lambda n: n + 1, lambda n: n + 4),
        r"tile\.wait_puts in_flight = (\d+)": (lambda n: n + 1,),
        r"tile\.wait_stores in_flight = (\d+)": (lambda n: n + 1,),
        r"warps = (\d+),": (lambda n: n + 1,),
    }
    for at, line in enumerate(lines):
        if line.endswith("// loose"):
            continue
        for pattern, changes in patterns.items():
            for found in re.finditer(pattern, line):
                for change in changes:
                    value = change(int(found[1]))
                    if value == int(found[1]):
                        continue
                    edited = line[: found.start(1)] + str(value) + line[found.end(1) :]
                    what = f"line {at + 1}: {found[0].split('=')[0].strip()} = {value}"
                    yield what, lines[:at] + [edited] + lines[at + 1 :]


def places(lines):
    """Takes another slot or phase than the one whose turn it is."""
    for at, line in enumerate(lines):
        found = re.match(
            r"(\s*(?:tile\.put|.*tile\.get|.*tile\.acquire) %\w+\[)(%\w+), (%\w+)(\].*)", line
        )
        if found and ", own," not in line:  # whose slots are constants, and whose phases are 0
            start, slot, phase, rest = found.groups()
            for new in ((phase, slot), (slot, slot), (phase, phase)):
                edited = f"{start}{new[0]}, {new[1]}{rest}"
                if edited != line and slot != phase:
                    yield (
                        f"line {at + 1}: slot {new[0]}, phase {new[1]}",
                        lines[:at] + [edited] + lines[at + 1 :],
                    )
        found = re.match(r"(\s*)(%\w+), (%\w+) = tile\.advance (%\w+), (%\w+) of(.*)", line)
        if found:
            indent, slot, phase, old_slot, old_phase, rest = found.groups()
            for new in (
                f"{slot}, {phase} = tile.advance {old_phase}, {old_slot} of{rest}",
                f"{phase}, {slot} = tile.advance {old_slot}, {old_phase} of{rest}",
                f"{slot}, {phase} = tile.advance {old_slot}, {old_slot} of{rest}",
            ):
                if indent + new == line:
                    continue
                yield (
                    f"line {at + 1}: {new.split(' of')[0]}",
                    lines[:at] + [indent + new] + lines[at + 1 :],
                )
        found = re.match(r"(\s*tile\.release %\w+\[)(%[\w#]+)(\].*)", line)
        if found:
            for new in ("%s1", "%vs", "%ks1", "%loop#1", "%loop#4"):
                if new != found[2]:
                    edited = f"{found[1]}{new}{found[3]}"
                    yield f"line {at + 1}: release {new}", lines[:at] + [edited] + lines[at + 1 :]


def moves(lines):
    """Moves what must come first past the next op that waits or touches memory, or a release in
    front of the one before it. At a barrier of the cluster all threads of a program meet, too."""
    scalar = r"\s*%[\w, ]+ = (arith|tile\.(slice|advance|part|pend|dim|copy_id))"
    for at, line in enumerate(lines[:-1]):
        found = re.match(
            r"\s*(%[\w, ]+ = )?tile\.(wait|release|commit|barrier|wait_stores|wait_puts|fence|write|copy_out|get)\b",
            line,
        )
        if not found or line.endswith("// loose"):
            continue
        backwards = found[2] == "release"
        other = at - 1 if backwards else at + 1
        skipped = (
            "tile.one_thread",
            "tile.cluster_barrier",
            "tile.priority",
            "tile.wait_shared",
            "tile.schedule_barrier",
            "tile.dot ",
        )
        while re.match(scalar, lines[other]) or any(op in lines[other] for op in skipped):
            other += -1 if backwards else 1
        if not re.match(r"\s*(%[\w, ]+ = )?(tile\.|scf\.if)", lines[other]):
            continue
        if found[2] == "fence" and not (
            line.split()[1] in ORDERED and re.search(ORDERED[line.split()[1]], lines[other])
        ):
            continue
        if found[2] == "barrier" and any(
            "tile.barrier" in inner for inner in lines[other : end_of(lines, other)]
        ):
            continue
        own = found[2] in ("write", "copy_out")  # each its own buffer
        if own and f"tile.{found[2]} " in lines[other]:
            continue
        if backwards:
            moved = lines[:other] + [line] + lines[other:at] + lines[at + 1 :]
        else:
            last = end_of(lines, other)
            moved = lines[:at] + lines[at + 1 : last] + [line] + lines[last:]
        yield f"line {at + 1}: tile.{found[2]} past line {other + 1}", moved


def conditions(lines):
    """Turns a condition around, or lets it hold always."""
    for at, line in enumerate(lines):
        if re.search(r"%more = arith\.cmpi ne", line):
            for new in ("eq", "sge"):
                edited = line.replace("cmpi ne", f"cmpi {new}")
                yield f"line {at + 1}: {new}", lines[:at] + [edited] + lines[at + 1 :]
        if re.search(r"step %c64", line):
            edited = line.replace("step %c64", "step %c128")
            yield f"line {at + 1}: a longer step", lines[:at] + [edited] + lines[at + 1 :]
        if line.startswith("!ring = !tile.channel<"):
            edited = re.sub(r"!tile\.channel<\d+", "!tile.channel<1", line)
            if edited != line:
                yield f"line {at + 1}: one slot", lines[:at] + [edited] + lines[at + 1 :]
        if re.match(r"\s*(%\w+ = )?scf\.for .* iter_args\(%s = %s0, %p = %s0\)", line):
            edited = line.replace("%p = %s0", "%p = %one").replace("%s = %s0", "%s = %one")
            indent = " " * (len(line) - len(line.lstrip()))
            extra = f"{indent}%one = arith.constant 1 : i32"
            yield f"line {at + 1}: begins at slot 1", lines[:at] + [extra, edited] + lines[at + 1 :]


def carries(lines):
    """Begins a loop at the first slot or phase instead of where the code before it stopped."""
    zero = None
    for at, line in enumerate(lines):
        found = re.match(r"\s*(%\w+) = arith\.constant 0 : i32", line)
        zero = found[1] if found else zero
        found = re.search(r"scf\.for .* iter_args\((.*?)\) -> \((.*)\) \{", line)
        if not found:
            continue
        inits = found[1].split(", ")
        types, nested = found[2], 1
        while nested:
            types, nested = re.subn(r"<[^<>]*>", "", types)
        types = types.split(", ")
        for i, (init, kind) in enumerate(zip(inits, types, strict=True)):
            name, value = init.split(" = ")
            if kind != "i32" or value == zero:
                continue
            edited = line.replace(init, f"{name} = {zero}")
            yield f"line {at + 1}: {init} is {zero}", lines[:at] + [edited] + lines[at + 1 :]


def reads(lines):
    """Reads the buffers of an earlier use of a channel, without those that it got."""
    got = {}
    for at, line in enumerate(lines):
        found = re.match(r"\s*(%\w+)(:\d)? = tile\.get (%\w+)\[", line)
        if not found:
            continue
        for earlier in got.setdefault(found[3], []):
            if earlier == found[1]:
                continue
            edited = [
                re.sub(re.escape(found[1]) + r"\b", earlier, after) for after in lines[at + 1 :]
            ]
            yield f"line {at + 1}: reads {earlier}", lines[: at + 1] + edited
        got[found[3]].append(found[1])


def fills_itself(lines, at):
    """Whether the role that releases a slot of tensor memory here acquires from the channel, too."""
    starts = [i for i, line in enumerate(lines) if re.match(r"\s*role #?", line)]
    first = max(i for i in starts if i <= at)
    last = min((i for i in starts if i > at), default=len(lines))
    channel = re.search(r"tile\.release (%\w+)", lines[at])
    return any(channel and f"tile.acquire {channel[1]}[" in line for line in lines[first:last])


def flags(lines):
    """Leaves out how a slot is waited for or given back, or says another way."""
    ways = (" to_start", " commit", " lanes")
    for at, line in enumerate(lines):
        if not re.match(r"\s*(.*tile\.get|tile\.release) ", line):
            continue
        own = [way for way in ways if f"]{way} " in line]
        if ", own," in line:  # at whose slots nobody arrives
            continue
        news = ["", *ways] if own else ways
        for new in set(news) - set(own):
            # To meet without need is slow alone, and need is none where the role itself fills the
            # slot next, behind a barrier.
            if not own and new == " lanes":
                continue
            is_met = line.endswith("// met") or fills_itself(lines, at)
            if own == [" lanes"] and new == "" and is_met:
                continue
            edited = re.sub(
                r"\]( to_start| commit| lanes)?( one_thread)?(?= (?:to %|:|\{))",
                f"]{new}",
                line,
                count=1,
            )
            if new not in (" to_start", " commit"):
                edited = edited.replace(" {tile.first_of_pair}", "")
            yield f"line {at + 1}: '{new}' for {own}", lines[:at] + [edited] + lines[at + 1 :]


def says(lines):
    """Does not say which lanes meet, or which program of two acts for both."""
    for at, line in enumerate(lines):
        for name in ("tile.lanes", "tile.first_of_pair"):
            edited = line.replace(f" {{{name}}}", "").replace(f", {name}", "")
            if edited != line:
                yield f"line {at + 1}: no {name}", lines[:at] + [edited] + lines[at + 1 :]


def fences(lines):
    """Adds a fence that nothing needs: one right behind the same, one where nothing was accessed, and
    barriers that show to engines what none reads."""
    isInRole = False
    for at, line in enumerate(lines):
        isInRole |= bool(re.match(r"\s*role #?", line))
        if re.match(r"\s*tile\.fence (shared|tensor_before|tensor_after)$", line) and isInRole:
            yield f"line {at + 1}: a second fence", lines[: at + 1] + lines[at:]
        if re.match(r"\s*tile\.barrier(?!.*(publish|global))", line) and isInRole:
            edited = line.replace("tile.barrier", "tile.barrier publish").replace(
                "publish bare", "bare publish"
            )
            yield f"line {at + 1}: publishes", [*lines[:at], edited, *lines[at + 1 :]]
        if re.match(r"\s*role #?", line):
            for kind in ("shared", "tensor_before", "tensor_after"):
                extra = f"      tile.fence {kind}"
                yield (
                    f"line {at + 1}: a fence at the start",
                    [*lines[: at + 1], extra, *lines[at + 1 :]],
                )


def clusters(lines):
    """Forgets a program of the cluster, or tells one twice; lets them begin, or end, alone."""
    for at, line in enumerate(lines):

        def instead(*new, at=at):
            return lines[:at] + list(new) + lines[at + 1 :]

        if "tile.cluster_barrier" in line:
            yield f"line {at + 1}: no tile.cluster_barrier", instead()
        found = re.match(r"(\s*tile\.copy_in .*) to %\w+( .*)", line)
        if found:
            yield f"line {at + 1}: a copy for this program alone", instead(found[1] + found[2])
        found = re.match(r"(\s*tile\.release .*) to (%\w+(?:, %\w+)*)( .*)", line)
        if found:
            peers = found[2].split(", ")
            yield f"line {at + 1}: a release to this program alone", instead(found[1] + found[3])
            for i in range(len(peers)):
                rest = peers[:i] + peers[i + 1 :]
                for others in (rest, [*rest, rest[0]]):
                    text = f"{found[1]} to {', '.join(others)}{found[3]}"
                    yield f"line {at + 1}: to {others} of {peers}", instead(text)


def main(tool, path, least):
    with open(path) as file:
        source = file.read()
    lines = [line for line in source.splitlines() if not line.lstrip().startswith("//")]
    made = (
        mutant
        for make in (
            drops,
            weakens,
            numbers,
            places,
            moves,
            conditions,
            carries,
            reads,
            flags,
            says,
            fences,
            clusters,
        )  # fmt: skip
        for mutant in make(lines)
    )
    # An edit that MLIR itself refuses proves nothing.
    by_mlir = ("undeclared", "does not dominate", "invalid result number", "expected ':'")
    command = [tool, "-", "--tile-check-protocol", "-o", "/dev/null"]
    expect_refused(command, source, made, least, by_mlir, splits=True)


if __name__ == "__main__":
    main(*sys.argv[1:4])
