"""Kernels that a soak breaks, or whose threads it runs in other orders: what is asked of one in a
process of its own, and how what is found is made smaller.

Of a random schedule decisions and extents go as long as the same is found of what is left; of a
pinned kernel the launches that do not show it.
"""

import os
import re
from dataclasses import replace

from worker import WRONG

EXPLAINED = "not found, explained: "
SECONDS = 120  # in which a finding is made smaller


def perform(_, job):
    """One of the questions below, by its name."""
    question, *asked = job
    return QUESTIONS[question](*asked)


def ask_of_mutant(subject, mutant, seed):
    """What an emulated chip finds wrong with a kernel that is changed so, or why it need not."""
    os.environ["KILN_EMULATED_SEED"] = str(seed)
    said = subject.find(mutant)
    why = "" if said else subject.explain(mutant)
    return f"{EXPLAINED}{why}" if why else said


def ask_of_order(subject, seed):
    """What it finds wrong with the kernel as it is, in an order of its threads."""
    os.environ["KILN_EMULATED_SEED"] = str(seed)
    return subject.find()


def ask_of_order_of_case(case, seed):
    import mutation_subjects

    subject = mutation_subjects.of_case(case)
    return ask_of_order(subject, seed) if subject else ""


def ask_of_mutants_like(case, kind):
    """A mutant of a random schedule that breaks the same, and is neither found nor explained."""
    import mutation_subjects

    subject = mutation_subjects.of_case(case)
    os.environ["KILN_EMULATED_SEED"] = "0"
    is_right = subject is not None and not subject.find()
    for mutant in (*subject.wrong, *subject.wrong_in_code) if is_right else ():
        if kind_of(mutant.what) == kind and subject.survivors([mutant]):
            return mutant.what
    return ""


QUESTIONS = {
    "mutant": ask_of_mutant,
    "order": ask_of_order,
    "order of case": ask_of_order_of_case,
    "mutants like": ask_of_mutants_like,
}


def kind_of(what):
    """What a mutant breaks, but for values and lines."""
    return re.sub(r"%\w+|\d+", "…", what)


def smallest(worker, subject, question, *more):
    """The subject's random schedule with as little as it takes for the answer to be of the same
    kind, and the last answer."""
    import schedule_check

    def ask(case):
        return worker.attempt((question, case, *more))

    def same(answer):
        return WRONG if answer.startswith(WRONG) else schedule_check.kind(answer)

    answer = ask(subject.case)
    if not answer:
        return subject.case, ""
    sort = bool if question == "mutants like" else same
    case = schedule_check.shrunk(
        subject.case, lambda smaller: sort(ask(smaller)) == sort(answer), seconds=SECONDS
    )
    return case, ask(case)


def shrunk_mutant(worker, subject, mutant):
    """What a file of the finding holds: a smaller schedule whose mutant is not found either, or the
    text of the kernel."""
    import schedule_check

    if not subject.case:
        return subject.text, ".mlir"
    case, what = smallest(worker, subject, "mutants like", kind_of(mutant.what))
    return schedule_check.reproduction(case, f"{mutant.what}, here: {what}"), ".py"


def shrunk_order(worker, subject, seed):
    """The same of a kernel that is accused under a seed."""
    import schedule_check

    if getattr(subject, "case", None):
        case, said = smallest(worker, subject, "order of case", seed)
        return schedule_check.reproduction(case, f"KILN_EMULATED_SEED={seed}: {said}"), ".py"
    runs = getattr(subject, "runs", [])
    alone = [run for run in runs if worker.attempt(("order", replace(subject, runs=[run]), seed))]
    shown = f"// KILN_EMULATED_SEED={seed}, by each of {alone or runs}\n" if runs else ""
    return shown + subject.text, ".mlir"
