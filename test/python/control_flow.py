"""Which lines of a function in the LLVM dialect may come before which."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field


@dataclass
class Block:
    first: int
    last: int  # its terminator
    is_idle: bool = False
    defined: set[str] = field(default_factory=set)
    # To each neighbour, and the condition that holds on the way, if there is one.
    after: list[tuple[int, str, bool]] = field(default_factory=list)
    before: list[tuple[int, str, bool]] = field(default_factory=list)


class Flow:
    LABEL = re.compile(r"\s*(\^bb\d+)")
    END = re.compile(r"\s*llvm\.(?:br|cond_br|switch|return|unreachable)\b")
    MOST = 20_000  # states of a walk, behind which a path counts as found

    def __init__(self, lines: list[str], idle: set[int] = frozenset()):
        """`idle` are lines that do not come to pass, and with one no block that has it does."""
        self.lines = lines
        self.blocks: list[Block] = []
        self.block_at: dict[int, int] = {}
        self.found: dict[tuple[str, bool], list[int]] = {}
        labels: dict[str, int] = {}
        begin, made = None, 0
        for i, line in enumerate(lines):
            if line.lstrip().startswith("llvm.func"):
                begin, labels, made = i, {}, len(self.blocks)
            elif label := self.LABEL.match(line):
                begin = i
                labels[label[1]] = len(self.blocks)
            if begin is not None and self.END.match(line):
                self.blocks.append(Block(begin, i))
                begin = None
            if line.startswith("  }"):
                self._join(made, labels)
        for number, block in enumerate(self.blocks):
            for i in range(block.first, block.last + 1):
                self.block_at[i] = number
                block.is_idle |= i in idle
                head = lines[i].split(" = ")[0] if " = " in lines[i] else ""
                if self.LABEL.match(lines[i]):
                    head = lines[i].split("//")[0]
                block.defined.update(re.findall(r"%\w+", head))

    def _join(self, first: int, labels: dict[str, int]) -> None:
        for number in range(first, len(self.blocks)):
            text = self.lines[self.blocks[number].last].split("//")[0]
            targets = [labels[name] for name in re.findall(r"\^bb\d+", text)]
            condition = re.match(r"\s*llvm\.cond_br (%\w+)", text)
            for i, target in enumerate(targets):
                given = (condition[1], i == 0) if condition else ("", True)
                self.blocks[number].after.append((target, *given))
                self.blocks[target].before.append((number, *given))

    def _hits(self, what: re.Pattern, begins: bool) -> list[int]:
        key = what.pattern, begins
        if key not in self.found:
            look = what.match if begins else what.search
            self.found[key] = [i for i, line in enumerate(self.lines) if look(line)]
        return self.found[key]

    def reaches(self, i: int, way: int, what: re.Pattern, first: re.Pattern) -> bool:
        """Whether a path from a line, forward or back, comes to `what` before it comes to a line that
        begins with `first`. No path takes one condition both ways."""
        hits, stops = self._hits(what, False), self._hits(first, True)

        def nearest(places: list[int], low: int, high: int) -> int | None:
            """Of what lies in low <= place < high."""
            at = bisect_left(places, low if way > 0 else high) - (way < 0)
            return places[at] if 0 <= at < len(places) and low <= places[at] < high else None

        if i not in self.block_at:
            return True
        start = self.blocks[self.block_at[i]]
        span = (i + 1, start.last + 1) if way > 0 else (start.first, i)
        open_, seen = [(self.block_at[i], span, frozenset())], set()
        while open_:
            number, (low, high), assumed = open_.pop()
            hit, stop = nearest(hits, low, high), nearest(stops, low, high)
            if stop is not None and (hit is None or (stop - hit) * way <= 0):
                continue
            if hit is not None or len(seen) > self.MOST:
                return True
            block = self.blocks[number]
            if way < 0:  # the values of conditions that it makes were others before
                assumed = frozenset(a for a in assumed if a[0] not in block.defined)
            for other, condition, holds in block.after if way > 0 else block.before:
                if (condition, not holds) in assumed or self.blocks[other].is_idle:
                    continue
                known = assumed | {(condition, holds)} if condition else assumed
                if way > 0:
                    defined = self.blocks[other].defined
                    known = frozenset(a for a in known if a[0] not in defined)
                if (other, known) not in seen:
                    seen.add((other, known))
                    target = self.blocks[other]
                    open_.append((other, (target.first, target.last + 1), known))
        return False
