"""Schedules that campaigns of `utils/fuzz schedules` have found refused or wrong, and that are right."""

import pytest
import schedule_check
from schedule_writer import Case

FOUND = {
    "a tile through registers is read in two layouts": Case(
        2253350066, "sm_100a", "handed",
        {"M": 128, "N": 64, "K": 16, "type": "i1", "mine": True},
        {"x": {"atom": "through_registers"}, "d": {"atom": "tcgen05", "stage": 3},
         "kernel": {"roles": [{"name": "all", "warps": 4}]}},
        [{"m": 201, "n": 55, "k": 40}],
    ),
    "copies share out a product with scales": Case(
        3680642541, "gfx950", "blocks",
        {"M": 64, "N": 32, "K": 64, "kinds": ["f8E4M3FN", "f8E4M3FN"], "block": 32, "gate": False},
        {"kernel": {"roles": [{"name": "all", "warps": 1, "copies": 2}]}},
        [{"m": 24, "n": 32, "k": 64}],
    ),
    "a cut tile of a batch goes through registers": Case(
        1298626202, "sm_100a", "sequel",
        {"M": 48, "N": 64, "K": 64, "scale": False, "else": False, "batch": True},
        {"z": {"atom": "through_registers"}, "e": {"parts": (1, 1, 2)}},
        [{"m": 32, "n": 128, "k": 192, "steps": 1, "batches": 2}],
    ),
    "lanes that read nothing have seen their slot before it is filled again": Case(
        292681308, "sm_90a", "product",
        {"M": 64, "N": 16, "K": 32, "dtype": "bf16", "sums": "f32", "out": "f32", "ta": False,
         "tb": True, "act": False, "bias": False, "second": True, "gate": True, "nest": True,
         "counted": False, "most": False},
        {"x": {"role": "load", "order": 2}, "y": {"role": "load", "atom": "tma"},
         "z": {"role": "load", "atom": "tma"},
         "e": {"role": "mma", "atom": "mma_sync", "swap": True},
         "out": {"role": "mma", "atom": "tma"}, "loop": {"depth": 3},
         "kernel": {"roles": [{"name": "mma", "warps": 2}, {"name": "load", "warps": 1}],
                    "persistent": (2, 8)}},
        [{"m": 88, "n": 24, "k": 128, "rounds": 2}],
    ),
    "a copy waits for the store over what it copies": Case(
        1263371380, "sm_90a", "relay",
        {"N": 32, "K": 16, "ahead": False, "by": "store", "again": False, "behind": False},
        {"x": {"atom": "cp_async"}, "kernel": {"roles": [{"name": "all", "warps": 1}]}},
        [{"rows": 64, "columns": 32}],
    ),
    "so does a load through registers": Case(
        1263371380, "gfx1201", "relay",
        {"N": 32, "K": 16, "ahead": False, "by": "store", "again": False, "behind": False},
        {"x": {"atom": "through_registers"},
         "kernel": {"roles": [{"name": "all", "warps": 1}]}},
        [{"rows": 64, "columns": 32}],
    ),
    "a conversion between copies' shares is followed by another": Case(
        2033315783, "gfx1201", "sequel",
        {"M": 64, "N": 32, "K": 32, "scale": False, "else": False, "batch": False},
        {"d": {"swap": True}, "e": {"stage": 3},
         "kernel": {"roles": [{"name": "all", "warps": 4, "copies": 2}]}},
        [{"m": 24, "n": 70, "k": 64, "steps": 3, "batches": 1}],
    ),
    "a condition is of another role than the product in it": Case(
        356574311, "gfx950", "sparse", {"M": 16, "N": 64, "K": 64, "both": True, "while": False},
        {"if": {"role": "load"}, "d": {"role": "mma"},
         "kernel": {"roles": [{"name": "mma", "warps": 1}, {"name": "load", "warps": 1}]}},
        [{"m": 16, "n": 64, "k": 128}],
    ),
    "copies hand what they share out to a condition of another role": Case(
        1, "sm_80", "sparse", {"M": 64, "N": 64, "K": 32, "both": True, "while": True},
        {"if": {"role": "load"}, "d": {"role": "mma", "atom": "mma_sync"},
         "kernel": {"roles": [{"name": "mma", "warps": 2, "copies": 2},
                              {"name": "load", "warps": 2}]}},
        [{"m": 70, "n": 64, "k": 96}],
    ),
    "two roles read tiles that take turns in a ring": Case(
        3348455875, "sm_100a", "attention",
        {"M": 128, "B": 16, "D": 32, "causal": False, "whole": True, "out": "bf16"},
        {"k": {"atom": "tma", "ring": "all", "depth": 5}, "s": {"role": "load"},
         "v": {"atom": "tma", "ring": "all"}, "o": {"role": "mma", "atom": "mma_sync"},
         "out": {"role": "mma"},
         "kernel": {"roles": [{"name": "load", "warps": 4}, {"name": "mma", "warps": 4}]}},
        [{"rows": 128, "keys": 64}],
    ),
    "copies share out the rows of both sides of a bitcast": Case(
        2638397852, "sm_90a", "blocks",
        {"M": 96, "N": 64, "K": 128, "kinds": ["f4E2M1FN", "f4E2M1FN"], "block": 32, "gate": False},
        {"kernel": {"roles": [{"name": "all", "warps": 4, "copies": 2}]}},
        [{"m": 8, "n": 64, "k": 32}],
    ),
    "a ring has more slots than a loop that stores over it has trips to fill ahead": Case(
        1, "gfx1201", "relay",
        {"N": 32, "K": 16, "ahead": False, "by": "store", "again": False, "behind": False},
        {"x": {"atom": "through_registers", "depth": 2},
         "kernel": {"roles": [{"name": "all", "warps": 1}]}},
        [{"rows": 64, "columns": 32}],
    ),
    "a role reads its own ring trips later, and loads for another in few slots": Case(
        3645505370, "sm_90a", "scaled",
        {"M": 64, "N": 32, "K": 32, "bits": 8, "out": "bf16", "late": False, "counted": False},
        {"x": {"role": "load", "atom": "tma", "depth": 1},
         "w": {"role": "load", "atom": "tma", "depth": 3}, "u": {"role": "load"},
         "d": {"role": "mma", "atom": "mma_sync"},
         "kernel": {"roles": [{"name": "mma", "warps": 4}, {"name": "load", "warps": 1}]}},
        [{"m": 64, "n": 20, "k": 160}],
    ),
    "a tile behind a loop of another role's tiles waits as long as the loop": Case(
        2714415044, "sm_90a", "nested",
        {"M": 64, "N": 16, "K": 64, "dots": False, "late": True, "counted": True},
        {"x": {"role": "mma", "atom": "through_registers"},
         "y": {"role": "load", "atom": "through_registers"},
         "z": {"role": "load", "atom": "through_registers"}, "out": {"role": "mma"},
         "kernel": {"roles": [{"name": "load", "warps": 4}, {"name": "mma", "warps": 4}]},
         "loop": {"depth": 2}},
        [{"rows": 64, "k": 192, "groups": 9}],
    ),
    "a loop of the trip goes round the ring of the trip": Case(
        3924477264, "sm_90a", "nested",
        {"M": 128, "N": 128, "K": 80, "dots": True, "late": False, "counted": False},
        {"x": {"atom": "through_registers", "ring": "all", "depth": 3},
         "y": {"atom": "through_registers", "ring": "all"}, "d": {"atom": "wgmma"},
         "kernel": {"roles": [{"name": "all", "warps": 4}]}},
        [{"m": 120, "n": 40, "k": 160, "groups": 2}],
    ),
    "a loop's sum that two roles make has one keeper": Case(
        900003772, "gfx950", "scaled",
        {"M": 16, "N": 64, "K": 64, "bits": 8, "out": "f32", "late": True, "counted": False},
        {"s": {"role": "load"}, "d": {"role": "mma"}, "out": {"role": "mma"},
         "kernel": {"roles": [{"name": "load", "warps": 4}, {"name": "mma", "warps": 4}]}},
        [{"m": 32, "n": 104, "k": 192}],
    ),
    "scores in columns of which operands fit over sums, too": Case(
        900001957, "sm_100a", "windows", {"M": 128, "B": 32, "D": 64, "window": True},
        {"q": {"atom": "cp_async", "ring": "q"},
         "s": {"in_flight": 0, "atom": "tcgen05", "stage": 3},
         "o": {"in_flight": 0, "atom": "tcgen05", "stage": 3, "swap": False},
         "kernel": {"roles": [{"name": "all", "warps": 4}]}},
        [{"rows": 128, "groups": 2, "keys": 128}],
    ),
    "a tile is there before a condition waits for what is made of it": Case(
        900003933, "gfx1201", "sparse",
        {"M": 16, "N": 64, "K": 32, "both": False, "while": False},
        {"if": {"role": "load"}, "x": {"role": "load", "atom": "through_registers"},
         "d": {"role": "mma", "swap": False},
         "kernel": {"roles": [{"name": "load", "warps": 4}, {"name": "mma", "warps": 4}]}},
        [{"m": 16, "n": 56, "k": 128}],
    ),
    "a tile through registers is written before its role gets what another made of it": Case(
        930000157, "gfx1201", "relay",
        {"N": 32, "K": 16, "ahead": False, "by": "store", "again": False, "behind": False},
        {"x": {"role": "load", "atom": "through_registers"}, "act": {"role": "mma"},
         "d": {"role": "load"},
         "kernel": {"roles": [{"name": "mma", "warps": 4}, {"name": "load", "warps": 4}]}},
        [{"rows": 32, "columns": 32}],
    ),
    "a condition's role computes with what it is handed there": Case(
        46394210, "gfx950", "attention",
        {"M": 64, "B": 32, "D": 32, "causal": True, "whole": False, "out": "bf16"},
        {"s": {"role": "load"}, "if": {"role": "mma"},
         "kernel": {"roles": [{"name": "load", "warps": 4}, {"name": "mma", "warps": 4}]}},
        [{"rows": 88, "keys": 64}],
    ),
    "a barrier in a condition publishes what copies brought in front of it": Case(
        3080944745, "sm_90a", "sparse",
        {"M": 64, "N": 128, "K": 32, "both": False, "while": True},
        {"x": {"atom": "cp_async"}, "d": {"atom": "wgmma"},
         "kernel": {"roles": [{"name": "all", "warps": 4}], "persistent": (12, 1),
                    "cluster": (2, 2)}},
        [{"m": 128, "n": 256, "k": 64}],
    ),
    "tiles of two roles have rings of their own, if nobody says that they share one": Case(
        1216400012, "sm_90a", "attention",
        {"M": 128, "B": 32, "D": 32, "causal": True, "whole": False, "out": "f32"},
        {"k": {"role": "load", "atom": "tma"}, "s": {"role": "load"},
         "v": {"role": "load", "atom": "tma"}, "out": {"role": "mma"},
         "o": {"role": "mma", "atom": "wgmma", "in_flight": 0}, "loop": {"depth": 5},
         "kernel": {"roles": [{"name": "load", "warps": 4}, {"name": "mma", "warps": 4}],
                    "persistent": (0, 1)}},
        [{"rows": 95, "keys": 96}],
    ),
    "the assembler keeps queries in registers that every trip multiplies": Case(
        71556047, "sm_90a", "windows", {"M": 64, "B": 64, "D": 64, "window": True},
        {"s": {"in_flight": 0, "atom": "wgmma"}, "o": {"in_flight": 0, "atom": "wgmma"},
         "kernel": {"roles": [{"name": "all", "warps": 4}]}},
        [{"rows": 64, "groups": 1, "keys": 192}],
    ),
    "copies that lag meet where a loop has no trip": Case(
        370625600, "sm_90a", "nested",
        {"M": 128, "N": 16, "K": 64, "dots": True, "late": False, "counted": True},
        {"x": {"role": "load", "atom": "tma", "ring": "x", "depth": 2, "multicast": "y"},
         "y": {"role": "load", "atom": "through_registers", "ring": "y", "depth": 4},
         "d": {"role": "mma", "atom": "wgmma", "in_flight": 0, "swap": False},
         "kernel": {"roles": [{"name": "load", "warps": 4},
                              {"name": "mma", "warps": 4, "copies": 2, "skew": 1}],
                    "cluster": (1, 2)}},
        [{"m": 128, "n": 32, "k": 256, "groups": 0}, {"m": 128, "n": 32, "k": 192, "groups": 1}],
    ),
    "copies that lag meet where a condition does not hold": Case(
        3869098641, "sm_90a", "sparse",
        {"M": 128, "N": 64, "K": 32, "both": True, "while": True},
        {"flag": {"role": "load"},
         "x": {"role": "load", "atom": "through_registers", "ring": "all", "depth": 3},
         "y": {"role": "load", "atom": "through_registers", "ring": "all", "depth": 3},
         "d": {"role": "mma", "atom": "wgmma", "in_flight": 0}, "out": {"role": "store"},
         "kernel": {"roles": [{"name": "mma", "warps": 4, "copies": 2, "skew": 1},
                              {"name": "load", "warps": 4}, {"name": "store", "warps": 1}]}},
        [{"m": 72, "n": 128, "k": 128}, {"m": 128, "n": 32, "k": 64}],
    ),
    "a ring that a loop's dots read has slots for copies that lag": Case(
        2375505183, "sm_90a", "windows", {"M": 128, "B": 32, "D": 32, "window": True},
        {"first": {"role": "load"}, "last": {"role": "load"},
         "q": {"role": "load", "atom": "cp_async", "ring": "q"},
         "k": {"role": "load", "atom": "through_registers", "ring": "k", "depth": 3},
         "s": {"role": "mma", "atom": "wgmma", "in_flight": 0},
         "v": {"role": "load", "atom": "tma", "ring": "v", "depth": 4},
         "o": {"role": "mma", "atom": "wgmma", "in_flight": 0, "swap": False},
         "out": {"role": "mma", "atom": "tma", "in_flight": 0},
         "kernel": {"roles": [{"name": "load", "warps": 4},
                              {"name": "mma", "warps": 4, "copies": 2, "skew": 1}],
                    "persistent": (0, 1), "per_core": 1}},
        [{"rows": 221, "groups": 1, "keys": 128}, {"rows": 192, "groups": 3, "keys": 128}],
    ),
    "so has what is completed for them": Case(
        2375505183, "sm_90a", "windows", {"M": 128, "B": 32, "D": 32, "window": False},
        {"q": {"role": "load", "atom": "cp_async"}, "v": {"role": "load"},
         "o": {"role": "mma", "atom": "wgmma"},
         "kernel": {"roles": [{"name": "load", "warps": 4},
                              {"name": "mma", "warps": 4, "copies": 2, "skew": 1}],
                    "persistent": (0, 1)}},
        [{"rows": 128, "groups": 1, "keys": 128}],
    ),
}  # fmt: skip

# What cannot be is refused in front, at its line.
REFUSED = {
    "expected a tile of which each of the 2 copies of role \"load\"": Case(
        4233727345, "sm_90a", "handed",
        {"M": 64, "N": 24, "K": 32, "type": "f16", "mine": False},
        {"y": {"role": "load", "atom": "tma"}, "cast": {"role": "cast"}, "d": {"atom": "wgmma"},
         "out": {"role": "mma"},
         "kernel": {"roles": [{"name": "load", "warps": 4, "copies": 2},
                              {"name": "mma", "warps": 4}, {"name": "cast", "warps": 4}]}},
        [{"m": 64, "n": 24, "k": 0}],
    ),
    "expected no 'in_flight' on emu:sm_90a, no instruction of which makes this product": Case(
        3972039185, "sm_90a", "blocks",
        {"M": 128, "N": 64, "K": 64, "kinds": ["f8E5M2", "f8E5M2"], "block": 32, "gate": False},
        {"d": {"role": "mma", "in_flight": 1},
         "kernel": {"roles": [{"name": "mma", "warps": 4}]}},
        [{"m": 256, "n": 32, "k": 320}],
    ),
    "expected the condition that it stands in to have 'tile.stage', since all in it run at": Case(
        515069397, "gfx950", "sparse", {"M": 96, "N": 128, "K": 64, "both": False, "while": True},
        {"x": {"atom": "through_registers"}, "d": {"stage": 0},
         "kernel": {"roles": [{"name": "all", "warps": 4}]}},
        [{"m": 32, "n": 256, "k": 384}],
    ),
    "expected to convert what another role makes, since 'role' is decided": Case(
        2650062313, "sm_80", "scaled",
        {"M": 128, "N": 64, "K": 32, "bits": 4, "out": "f32", "late": True, "counted": False},
        {"x": {"role": "load", "atom": "cp_async", "ring": "x", "depth": 3},
         "w": {"role": "load", "atom": "through_registers", "ring": "w", "depth": 1},
         "s": {"role": "load"}, "d": {"role": "mma", "atom": "mma_sync", "stage": 0},
         "out": {"role": "mma"},
         "kernel": {"roles": [{"name": "mma", "warps": 2}, {"name": "load", "warps": 1}]}},
        [{"m": 192, "n": 80, "k": 64}],
    ),
    "expected bounds and conditions of ring uses that follow from the program's number": Case(
        2426965918, "sm_90a", "ragged",
        {"M": 1, "N": 128, "K": 32, "what": "sum", "masked": True},
        {"last": {"role": "mma"}, "x": {"role": "load"}, "d": {"role": "mma"},
         "kernel": {"roles": [{"name": "load", "warps": 4},
                              {"name": "mma", "warps": 2, "turns": 2}], "persistent": (5, 1)}},
        [{"groups": 3, "trips": 5, "m": 2}],
    ),
    "expected at least 4 slots ('depth') of the ring, since it fills a slot that another load": Case(
        35369139, "gfx1201", "nested",
        {"M": 64, "N": 64, "K": 64, "dots": True, "late": True, "counted": False},
        {"x": {"atom": "through_registers"}, "d": {"role": "mma", "atom": "matrix"},
         "z": {"role": "load", "atom": "through_registers", "stage": 2}, "loop": {"depth": 3},
         "kernel": {"roles": [{"name": "mma", "warps": 4}, {"name": "load", "warps": 1}]}},
        [{"m": 80, "n": 96, "k": 192, "groups": 2}],
    ),
    "expected a load without 'atom', since copies of role \"program\" run a program each": Case(
        1202541549, "sm_100a", "sequel",
        {"M": 128, "N": 64, "K": 16, "scale": False, "else": False, "batch": False},
        {"x": {"atom": "tma"}, "kernel": {"programs_per_block": 4}},
        [{"m": 72, "n": 64, "k": 16, "steps": 0, "batches": 1}],
    ),
    "expected a tile that the 2 copies of role \"mma\" share out evenly, got 96 of 128": Case(
        4043305077, "sm_90a", "handed", {"M": 96, "N": 64, "K": 64, "type": "i16", "mine": False},
        {"d": {"role": "mma"}, "out": {"role": "mma", "atom": "tma"},
         "kernel": {"roles": [{"name": "mma", "warps": 4, "copies": 2},
                              {"name": "load", "warps": 4}]}},
        [{"m": 8, "n": 128, "k": 192}],
    ),
    "expected a role ('role') that uses what is loaded to store over it": Case(
        600396872, "sm_90a", "relay",
        {"N": 32, "K": 16, "ahead": False, "by": "add", "again": False, "behind": False},
        {"x": {"role": "load", "atom": "tma"}, "act": {"role": "mma"}, "each": {"role": "load"},
         "kernel": {"roles": [{"name": "load", "warps": 4}, {"name": "mma", "warps": 4}]}},
        [{"rows": 1, "columns": 1}],
    ),
    "expected no skew of role \"all\", one of whose copies changes a number in memory": Case(
        810911784, "sm_80", "routed",
        {"M": 32, "N": 128, "K": 32, "pages": False, "scatter": "add", "out": "f32",
         "counted": False},
        {"y": {"atom": "through_registers"}, "loop": {"share": (2, "atomic")},
         "kernel": {"roles": [{"name": "all", "warps": 4, "copies": 2, "skew": 1}]}},
        [{"m": 10, "n": 128, "all": 1, "k": 0}],
    ),
    "expected a grid of whole clusters of 2 x 1 x 1 programs, got 1 x 1 x 1": Case(
        966692109, "sm_100a", "sparse",
        {"M": 128, "N": 32, "K": 32, "both": False, "while": True},
        {"kernel": {"cluster": (2, 1)}}, [{"m": 96, "n": 32, "k": 32}],
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def in_process(monkeypatch):
    monkeypatch.setenv("KILN_COMPILE_IN_PROCESS", "1")


@pytest.mark.parametrize("name", FOUND)
def test_what_campaigns_found_is_right(name):
    assert schedule_check.check(FOUND[name]) == "", FOUND[name].text


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_is_refused(text):
    said = schedule_check.check(REFUSED[text])
    assert said.startswith("refused: ") and text in said, said
