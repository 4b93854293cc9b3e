"""Loops and branches of random index programs."""

from __future__ import annotations

import numpy as np
from index_values import ASSIGNMENTS, PREDICATES, Value, compare


class ControlFlow:
    def loop(self) -> None:
        """Two tiles go round; each turn computes them anew of one another and of the turn."""
        first = self.tile()
        second = self.like(first)
        low = self.constant_of("index", (), int(self.pick([0, 8])))
        high = self.constant_of("index", (), int(self.pick([24, 25])))
        step = self.constant_of("index", (), int(self.pick([1, 8, 5])))
        a, b = (Value(f"%c{self.count}_{k}", first.type, first.shape, v.now)
                for k, v in enumerate((first, second)))  # fmt: skip
        result = f"%r{self.count}"
        turn = Value(f"%t{self.count}", "index", (), [low.now[i] for i in range(ASSIGNMENTS)])
        at = self.line(
            f"{result}:2 = scf.for {turn.name} = {low.name} to {high.name} step {step.name} "
            f"iter_args({a.name} = {first.name}, {b.name} = {second.name}) -> ({a.ir}, {b.ir}) {{"
        )
        outer, pool, self.body = self.body, self.pool, []
        stop, by = int(high.now[0]), int(step.now[0])
        before = (list(first.now), list(second.now))
        self.pool = [*pool, a, b, turn]
        self.steps(6)
        ends = [self.pick([v for v in self.pool if v.ir == a.ir]) for _ in range(2)]
        self.line(f"scf.yield {ends[0].name}, {ends[1].name} : {a.ir}, {b.ir}")
        self.line("}")
        # The first turn has been computed.
        position, inside = int(low.now[0]), self.body
        out = before
        while position < stop:
            if position != int(low.now[0]):
                a.now, b.now = out
                turn.now = [np.int64(position)] * ASSIGNMENTS
                for run in inside:
                    run()
            out = (list(ends[0].now), list(ends[1].now))
            position += by
        results = [Value(f"{result}#{k}", a.type, a.shape, out[k]) for k in range(2)]
        self.seen[at] = [list(out[0]), list(out[1])]
        self.body, self.pool = outer, [*pool, *results]

    def while_loop(self) -> None:
        """A loop that computes in front of its condition too, and hands one value on twice."""
        first = self.tile()
        second = self.like(first)
        low = self.constant_of("index", (), int(self.pick([0, 8])))
        high = self.constant_of("index", (), int(self.pick([9, 25])))
        step = self.constant_of("index", (), int(self.pick([1, 8, 5])))
        name, tile = self.count, first.ir
        turn = Value(f"%t{name}", "index", (), list(low.now))
        a, b = (Value(f"%c{name}_{k}", first.type, first.shape, list(v.now))
                for k, v in enumerate((first, second)))  # fmt: skip
        handed = [Value(f"%h{name}_{k}", first.type, first.shape, None) for k in range(3)]
        old = Value(f"%h{name}_3", "index", (), None)
        at = self.line(
            f"%r{name}:4 = scf.while ({turn.name} = {low.name}, {a.name} = {first.name}, "
            f"{b.name} = {second.name}) : (index, {tile}, {tile}) -> ({tile}, {tile}, {tile}, index) {{"
        )
        self.seen[at] = [[], [], [], []]
        outer, pool, self.body = self.body, self.pool, []
        self.pool = [*pool, a, b, turn]
        again = self.emit(
            f"arith.cmpi slt, {turn.name}, {high.name} : index", "i1", (),
            lambda i: -np.int64(turn.now[i] < high.now[i]),
        )  # fmt: skip
        chosen = self.branch(again, a)
        self.steps(2)
        other = self.like(a)
        front, self.body = self.body, []
        self.line(f"scf.condition({again.name}) {chosen.name}, {chosen.name}, {other.name}, "
                  f"{turn.name} : {tile}, {tile}, {tile}, index")  # fmt: skip
        self.line("} do {")
        self.line("^bb0(" + ", ".join(f"{v.name}: {v.ir}" for v in [*handed, old]) + "):")

        def hand_over():
            for value, now in zip([*handed, old], [chosen, chosen, other, turn], strict=True):
                value.now = list(now.now)

        hand_over()
        self.pool = [*pool, *handed, old]
        self.steps(4)
        ends = [self.pick([v for v in self.pool if v.ir == tile]) for _ in range(2)]
        end = self.apply("addi", old, step)
        self.line(f"scf.yield {end.name}, {ends[0].name}, {ends[1].name} : index, {tile}, {tile}")
        self.line("}")
        # The first turn has been computed.
        behind = self.body
        while True:
            turn.now, a.now, b.now = (list(v.now) for v in (end, *ends))
            for run in front:
                run()
            hand_over()
            if not again.now[0]:
                break
            for run in behind:
                run()
        results = [Value(f"%r{name}#{k}", v.type, v.shape, v.now)
                   for k, v in enumerate([*handed, old])]  # fmt: skip
        self.see(at, [v.now for v in results])
        self.body, self.pool = outer, [*pool, *results]

    def branch(self, which: Value | None = None, like: Value | None = None) -> Value:
        """One of two ways, each with two results."""
        like = like or self.tile()
        which = which or self.condition()
        result, tile = f"%b{self.count}", like.ir
        self.count += 1
        at = self.line(f"{result}:2 = scf.if {which.name} -> ({tile}, {tile}) {{")
        self.seen[at] = [[], []]
        outer, pool, active = self.body, self.pool, self.active
        ways: dict[bool, tuple[list, list[Value]]] = {}
        for way in (True, False):
            self.body, self.pool, self.active = [], list(pool), self.coming(active, which, way)
            for _ in range(2):
                self.pool.append(self.pick([self.binary, self.choose, self.cast, self.constant])())
            ends = [self.like(like), self.like(like)]
            self.line(f"scf.yield {ends[0].name}, {ends[1].name} : {tile}, {tile}")
            self.line("} else {" if way else "}")
            ways[way] = (self.body, ends)
        self.body, self.pool, self.active = outer, pool, active
        results = [Value(f"{result}#{k}", like.type, like.shape, None) for k in range(2)]

        def merge():
            for k, value in enumerate(results):
                value.now = [ways[bool(which.now[i])][1][k].now[i] for i in range(ASSIGNMENTS)]
            self.see(at, [value.now for value in results])

        def run():
            active = self.active
            for way, (inside, _) in ways.items():
                self.active = self.coming(active, which, way)
                for step in inside:
                    step()
            self.active = active
            merge()

        merge()
        self.body.append(run)
        self.pool.append(results[1])
        return results[0]

    @staticmethod
    def coming(active: list[bool], which: Value, way: bool) -> list[bool]:
        return [a and bool(w) == way for a, w in zip(active, which.now, strict=True)]

    def condition(self) -> Value:
        scalars = [v for v in self.pool if v.shape == () and v.type != "i1"]
        a = self.pick(scalars)
        b = self.constant_of(a.type, (), self.some_number())
        predicate = self.pick(PREDICATES)
        return self.emit(
            f"arith.cmpi {predicate}, {a.name}, {b.name} : {a.type}", "i1", (),
            lambda i: -compare(predicate, a.now[i], b.now[i], a.type).astype(np.int64),
        )  # fmt: skip
