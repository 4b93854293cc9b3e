"""What a campaign of random schedules has drawn: how many were accepted and refused, by kernel and
chip, by each decision that they took, and why they were refused."""

from collections import Counter

SHOWN = 25  # reasons why schedules were refused, the most frequent
VERDICTS = ("accepted", "refused", "wrong")


class Table:
    def __init__(self):
        self.cells = Counter()  # by kernel, chip and verdict
        self.decisions = Counter()  # by name and verdict
        self.refusals = {}  # by kind, the seed and the text of each

    def add(self, case, answer):
        """Counts a case by what became of it, and says it in a word."""
        import schedule_check

        is_refused = answer.startswith("refused: ")
        verdict = "refused" if is_refused else "wrong" if answer else "accepted"
        self.cells[case.kernel, case.chip, verdict] += 1
        for name in decisions_of(case):
            self.decisions[name, verdict] += 1
        if is_refused:
            seed = f"{case.seed} {case.chip} {case.kernel}"
            reasons = self.refusals.setdefault(schedule_check.kind(answer), [])
            reasons.append((seed, answer.splitlines()[0]))
        return verdict

    def text(self):
        return "\n".join([*self.of_cells(), *self.of_decisions(), *self.of_refusals()])

    def of_cells(self):
        """A row for each kernel: accepted and refused on each chip, and what is wrong."""
        chips = sorted({chip for _, chip, _ in self.cells})
        kernels = sorted({kernel for kernel, _, _ in self.cells})
        yield "  accepted / refused [/ wrong]"
        yield f"  {'':10}" + "".join(f"{chip:>14}" for chip in (*chips, "all"))
        for kernel in (*kernels, "all"):
            row = []
            for chip in (*chips, "all"):
                counts = [
                    sum(
                        count
                        for (of, on, what), count in self.cells.items()
                        if what == verdict and kernel in (of, "all") and chip in (on, "all")
                    )
                    for verdict in VERDICTS
                ]
                row.append(" / ".join(map(str, counts if counts[2] else counts[:2])))
            yield f"  {kernel:10}" + "".join(f"{each:>14}" for each in row)

    def of_decisions(self):
        """A row for each decision: how many schedules with it were accepted, and how many not."""
        yield f"  {'with':18}" + "".join(f"{verdict:>10}" for verdict in VERDICTS)
        for name in sorted({name for name, _ in self.decisions}):
            counts = (self.decisions[name, verdict] for verdict in VERDICTS)
            yield f"  {name:18}" + "".join(f"{count:>10}" for count in counts)

    def of_refusals(self):
        yield "  refused, the most frequent first"
        for examples in sorted(self.refusals.values(), key=len, reverse=True)[:SHOWN]:
            seed, said = examples[0]
            yield f"  {len(examples):5} {said} (seed {seed})"


def decisions_of(case):
    """By name, each once; of roles what they say beside their warps."""
    names = set()
    for decisions in case.pins.values():
        for name, value in decisions.items():
            names.add(name)
            if name == "roles":
                names |= {f"role.{each}" for role in value for each in role} - {"role.name"}
                names.add(f"roles: {len(value)}")
            if name == "persistent" and isinstance(value, tuple) and "even" in value:
                names.add("persistent even")
            if value is False:
                names.add(f"{name} False")
    return names
