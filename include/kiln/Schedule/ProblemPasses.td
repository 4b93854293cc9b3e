// Passes that ask what a schedule costs, and whether it can be.
#ifndef KILN_SCHEDULE_PROBLEMPASSES_TD
#define KILN_SCHEDULE_PROBLEMPASSES_TD

def CompletePins : Schedule_Pass<"tile-complete-pins"> {
  let summary = "decide roles and instructions where a source says a part of them";
  let description = [{
    Precondition: the module has a target; no layout is decided. Postcondition: a kernel that says something which means
    nothing without roles (an instruction of a load or of a product that runs on beside its warps, `in_flight`, a stage, a
    role, the depth of a loop or of a ring) has `tile.roles`; what fills rings has a `role` and a `tile.atom`, and so have
    products where `in_flight` is said of them. What the source says stays. Of a kernel with roles, ops that say none, or no instruction,
    get them if it could not be realised as it is.

    A role loads for another, if the chip has barriers for that, or all warps have one role that loads for itself:
    the latter first where copies by lanes are said. Tiles come by the best copy that fits, else through
    registers. What can be realised is tried on a copy; where nothing can, the error is that of
    the first completion, or of what is said, if both are the same. Stages, depths and counts in flight are left to
    `tile-decide-stages`.

    Before:
    ```mlir
    %t = tile.load %a[%i, %k] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %u = tile.load %b[%j, %k] : !tile.view<?x?xbf16> -> tensor<256x64xbf16>
    %d = tile.dot %t, %u, %s transpose_b {tile.atom = "wgmma"}
    ```
    After:
    ```mlir
    %t = tile.load %a[%i, %k] {tile.atom = "tma", role = "load"}
    %u = tile.load %b[%j, %k] {tile.atom = "tma", role = "load"}
    %d = tile.dot %t, %u, %s transpose_b {tile.atom = "wgmma", role = "compute"}
    ```
    The tests are `test/Schedule/complete-pins.mlir` and `complete-pins-invalid.mlir`.
  }];
}

def CheckSchedule : Schedule_Pass<"tile-check-schedule"> {
  let summary = "hold pinned schedules against what the chip has";
  let description = [{
    Precondition: roles, layouts, depths and counts in flight are decided. Changes nothing. Roles have
    barriers and registers, and sums their tensor memory. Each loop
    all of whose ops are of one role each is a `schedule::Problem`, with what is pinned completed by
    the rule of `tile-complete-stages`, and `schedule::verify` must find nothing wrong with it. An
    error names the op's line, the decision and the limit:

    - roles and copies that take more barriers or registers than there are, at the kernel;
    - sums in tensor memory that do not fit it: those that other roles fetch by their slots, of others
      that are alike one;
    - roles that wait for one another, since a ring has too few slots for what its readers hold, or
      for copies that lag behind one another, also around loops of several roles; or since in a
      trip a role waits for what all such copies make, and they for what it loads;
    - rings that together with all else in shared memory do not fit it;
    - loads with `multicast` that the programs which share their tiles out may not make alike: of
      different tiles, or under loops and conditions that depend on which of them it is;
    - what copies of a role cannot do: store a tile by an engine that they do not share out evenly,
      or, if they lag behind one another, change a number in memory for all;
    - stores over a tile by the role that has it copied for others;
    - sums of products in flight that the role's registers cannot hold. Only what surely lies in
      registers counts: the assembler makes other values late, or again, and has the last word.

    What goes from role to role inside conditions and between loops, `tile-check-protocol` proves on
    the realised kernel, and `tile-plan-shared-memory` counts scratch as it is lowered.
    The tests are `test/Schedule/check-schedule-invalid.mlir`, `check-schedule-copies-invalid.mlir`,
    `check-schedule-limits-invalid.mlir`, `check-schedule-skews-invalid.mlir` and
    `check-clusters-invalid.mlir`.
  }];
}

def PrintCosts : Schedule_Pass<"tile-print-costs"> {
  let summary = "say as remarks what ops take of a core";
  let description = [{
    Of each op of a kernel, by the chip's record and the op's atom: which units it keeps busy, for how
    many cycles, and how many cycles after its start its result is there. It is what a solver is
    told; where the record lacks a number for it, that is said instead. A `tile.dot` without an atom
    costs what it does by the first that `tile-decide-atoms` would take. Nothing is changed. The test
    is `test/Schedule/print-costs.mlir`.
  }];
}

def PrintSchedules : Schedule_Pass<"tile-print-schedules"> {
  let summary = "say as remarks how short the trips of loops can be";
  let description = [{
    Of each loop with products, as `tile-decide-stages` asks for it whatever is pinned: the interval
    that the heuristic solver finds, the one that the exact solver does, below which there is none, and what units and
    circles of needs ask for at least. The exact schedule's stages and counts in flight are told at
    the products. It needs Z3. Nothing is changed.

    `parts=N` takes the role that runs the products as so many groups of warps, each with its share
    of every tile: then groups have stages of their own, and by how many cycles each begins behind the first is
    told too. `most-stages` is how many a role may have.

    The tests are `test/Schedule/print-schedules.mlir` and `ten-loops.mlir`.
  }];
  let options = [Option<"parts", "parts", "int64_t", "1",
                        "into how many groups of warps the role of the products is cut">,
                 Option<"mostStages", "most-stages", "int64_t", "3",
                        "how many stages a role may have">];
}

#endif // KILN_SCHEDULE_PROBLEMPASSES_TD
