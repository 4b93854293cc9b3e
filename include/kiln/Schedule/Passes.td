// The passes that realise a schedule, and the one that checks what they made.
#ifndef KILN_SCHEDULE_PASSES_TD
#define KILN_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

class Schedule_Pass<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let dependentDialects = ["::kiln::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect"];
}

def DecideRoles : Schedule_Pass<"tile-decide-roles"> {
  let summary = "decide which warps and which instructions run a kernel of products";
  let description = [{
    Precondition: the module has a target; no layout is decided. Postcondition: a kernel that
    decides nothing, all of whose products can run on beside their warps while a copy engine brings
    their operands, has `tile.roles`: "compute", whose warps multiply and do all else, in two copies
    where rows suffice, or three of three times a power of two, and "load", one warp that has the engine bring what products read.
    Dots, loads and stores name their `role`; dots have an `atom`, and so have the loads and stores that the engine makes;
    loads of one product that stand together have one `ring`. Where the atom keeps few bits of a sum, dots have `promote`,
    and `parts` along k of at most 128. A kernel that computes its grid gets `tile.persistent`, if a core has room for
    one program alone, how long one runs does not hang on what it loads, and no product multiplies what its trip
    makes of another. In a kernel with `tile.cluster` the atom is one of two programs, if both would be done an
    eighth sooner with what a trip multiplies, writes to shared memory and reads; else loads have `multicast` along the
    axes along which all programs of a cluster load the same tile.

    Of other kernels that decide nothing, those whose products read what their loops load have one role "all", which
    fills rings of its own: such loads have a `role`, a `ring` and the `atom` of a copy past the registers, or
    `#tile.through_registers`. Where all products can run on beside their warps out of such rings, they do: the
    role has the warps of one product, in two copies where rows suffice.

    Each is a proposal: 0 is the first way, with trips that `tile-decide-stages` may overlap; 1 the
    same with products at `stage` 0; 2 is the second way, with products that run on beside their
    warps; 3 without. The metadata member "proposal" says which was taken; `tile.proposal = N` on a
    kernel passes over the first N, and goes.

    All other kernels stay as they are: one that decides more than `tile.persistent` and `tile.cluster`, stores what its
    loop may load again, or has a `while` that no numbers tell of; and one that cannot be realised. If products
    could run on beside their warps, the metadata says why an engine does not load for them, as "no_roles".

    Before:
    ```mlir
    %t = tile.load %a[%i, %k] : !tile.view<?x?xbf16> -> tensor<128x64xbf16>
    %u = tile.load %b[%j, %k] : !tile.view<?x?xbf16> -> tensor<256x64xbf16>
    %d = tile.dot %t, %u, %s transpose_b
    ```
    After:
    ```mlir
    %t = tile.load %a[%i, %k] {atom = #nvptx.tma, ring = "ring0", role = "load"}
    %u = tile.load %b[%j, %k] {atom = #nvptx.tma, ring = "ring0", role = "load"}
    %d = tile.dot %t, %u, %s transpose_b {atom = #nvptx.wgmma<…>, role = "compute"}
    ```
    The tests are `test/Schedule/decide-roles.mlir` and `decide-roles-pairs.mlir`.
  }];
}

def DecideSwap : Schedule_Pass<"tile-decide-swap"> {
  let summary = "compute the transposes of products that can run on beside their warps so alone, or "
                "faster";
  let description = [{
    Precondition: the module has a target; no atom is decided. Postcondition: in a kernel that decides
    nothing, products that cannot run on beside their warps, since they have fewer rows than an
    instruction or compute the operand that is read from shared memory alone, have `swap`, if all
    products of the kernel can run on beside their warps then. Few rows become columns; weights that a
    loop loads in few bits, widens and scales become the first operand, out of registers. So do all
    products of a kernel whose transposes keep the chip's units busy for a shorter time each, as of 64
    rows by 128 columns where an instruction of 64 rows uses half of them.

    Before:
    ```mlir
    %w = arith.sitofp %loaded : tensor<128x64xi8> to tensor<128x64xbf16>
    %d = tile.dot %x, %w, %s transpose_b : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
    ```
    After:
    ```mlir
    %d = tile.dot %x, %w, %s transpose_b {swap} : …
    ```
    The test is `test/Schedule/decide-swap.mlir`.
  }];
}

def DecideGuards : Schedule_Pass<"tile-decide-guards"> {
  let summary = "decide which masks only some trips of a loop make";
  let description = [{
    Precondition: roles are decided. Postcondition: in loops of products of which nobody has pinned when they
    run, each `arith.select` of at least 1,024 elements whose mask every element passes in one run of trips
    has `tile.guarded = true`, and all others of the same mask: of two masks at most, those that the source
    guards among them, since each doubles the loop's code. What the source says stays.

    Before: `%s = arith.select %sees, %d, %never : tensor<64x128xi1>, tensor<64x128xf32>`.
    After: the same with `{tile.guarded = true}`.
    The test is `test/Schedule/decide-guards.mlir`.
  }];
}

def GuardMasks : Schedule_Pass<"tile-guard-masks"> {
  let summary = "mask only in the trips of a loop that need it, as `tile.guarded` says";
  let description = [{
    Precondition: selects may have `tile.guarded`. Postcondition: each of which it is true stands, with what
    makes the mask, in an `scf.if` with `tile.split_loop`. The mask is made of comparisons of integers
    that are affine in the loop's variable; of any other it is an error. A sliding window passes neither in
    the first trips nor in the last: the condition on the last trips stands in the `else` of the one on
    the first. The attribute is gone.

    Before:
    ```mlir
    %keys = arith.addi %iota, %j_splat : tensor<64x128xi32>
    %sees = arith.cmpi slt, %keys, %n_splat : tensor<64x128xi32>
    %s = arith.select %sees, %d, %never {tile.guarded = true} : tensor<64x128xi1>, tensor<64x128xf32>
    ```
    After:
    ```mlir
    %late = arith.cmpi sgt, %j, %last : index
    %s = scf.if %late -> tensor<64x128xf32> {
      // the mask, and the select
    } else {
      scf.yield %d : tensor<64x128xf32>
    } {tile.split_loop}
    ```
    The tests are `test/Schedule/guard-masks.mlir` and `guard-masks-invalid.mlir`.
  }];
}

def RotateLoops : Schedule_Pass<"tile-rotate-loops"> {
  let summary = "have an scf.while with stages carry its condition";
  let description = [{
    Precondition: none. Postcondition: an `scf.while` in whose body an op says when it runs (`stage`,
    `order`, or dots in flight) or a load fills a ring asks nothing but the first of the values that it carries, and hands
    all others on. What its condition is made of stands in front of the loop, and at the end of its
    body for the next trip. So it is known a trip ahead, at a stage like all that a trip does. An op
    in front of the condition that has a stage or an order is refused.

    Before:
    ```mlir
    scf.while (%i = %first) : (i32) -> i32 {
      %goes = arith.cmpi ne, %i, %end : i32
      scf.condition(%goes) %i : i32
    } do {
    ^bb0(%i: i32):
      %t = tile.load %a[%at] {stage = 0}
      %next = …
      scf.yield %next : i32
    }
    ```
    After:
    ```mlir
    %any = arith.cmpi ne, %first, %end : i32
    scf.while (%goes = %any, %i = %first) : (i1, i32) -> i32 {
      scf.condition(%goes) %i : i32
    } do {
    ^bb0(%i: i32):
      %t = tile.load %a[%at] {stage = 0}
      %next = …
      %more = arith.cmpi ne, %next, %end : i32
      scf.yield %more, %next : i1, i32
    }
    ```
    The tests are `test/Schedule/rotate-loops.mlir` and `rotate-loops-invalid.mlir`.
  }];
}

def DecideRegisters : Schedule_Pass<"tile-decide-registers"> {
  let summary = "decide how many registers the threads of roles have";
  let description = [{
    Precondition: roles and layouts are decided. Postcondition: where what warps begin with does not
    hold the sums that a role carries and what it computes beside them, each role says its `registers`:
    one that only has engines copy the least, one that computes as many as its largest tensor takes, and
    those that multiply share out the rest. What a role says stays. Too few are left as they are.

    Before:
    ```mlir
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"cast", warps = 4>, #tile.role<"mma", warps = 4, copies = 2>]}
    ```
    After:
    ```mlir
    attributes {tile.roles = [#tile.role<"load", warps = 4, registers = 24>, #tile.role<"cast", warps = 4, registers = 88>, #tile.role<"mma", warps = 4, copies = 2, registers = 200>]}
    ```
    The test is `test/Schedule/decide-registers.mlir`.
  }];
}

def DecideStages : Schedule_Pass<"tile-decide-stages"> {
  let summary = "decide when the ops of roles run, and how far a copy engine runs ahead";
  let description = [{
    Precondition: roles and layouts are decided. Postcondition: where a dot that runs on beside its
    warps has no `in_flight`, it has one, and so have the stores that an engine makes in its kernel;
    loads by an engine have a `stage` and their ring's `depth`: as many slots as shared memory has
    room for, at most eight. Rings that a role fills for itself have a depth of at most four, such
    that two programs share a core where they can, and the ops of their loops have stages: copies run
    depth - 1 trips ahead, loads through registers one, and so do gathers whose indices are known a
    trip ahead. Where dots in flight read such a ring, it has
    a slot more for each of them, if there is room, and two programs need not share a core.

    What a role loads through registers for another has `tile.write_stage`, one behind its `stage`, if
    the roles do not wait for one another then: so the next load is under way while it is written.

    Loads that a role fills rings of its own with, and of which nobody says a ring or its depth, have
    rings apart (`ring = "apart0"`) where one stands behind uses of another: each is as far ahead as
    its own readers let it.

    A role that fills a ring of its own hands over what it makes of it as many trips later as it
    reads it; what it loads for others, of which nobody says a stage, is as many stages later as
    those rings have slots too few for that, so that the roles do not wait for one another.

    Rings, and what is handed over, have the slots that copies need which lag behind one another, if
    nobody says a depth: a `tile.load` too that fills no ring has a `depth` then.

    Where the source says orders of some of a role's ops in a loop, and they are not those from 0 on,
    each is a place among all of the role's ops there, and the others have the places that are left,
    as in the source.

    In a loop of several products, or of one that reads what the loop computes, a solver
    (`kiln/Schedule/Problem/Solver.h`) looks for stages at which products run beside what else the
    role does, by the figures of the chip. If that makes a trip shorter by a sixth, ops have these
    stages, their orders, and dots their `in_flight`.

    Before:
    ```mlir
    %s = tile.dot %q, %k, %zero transpose_b
    %e = math.exp2 %s
    %w = arith.truncf %e
    %o = tile.dot %w, %v, %sum
    ```
    After:
    ```mlir
    %s = tile.dot %q, %k, %zero transpose_b {in_flight = 1, order = 0, stage = 0}
    %e = math.exp2 %s {tile.order = 2, tile.stage = 0}
    %w = arith.truncf %e {tile.order = 3, tile.stage = 0}
    %o = tile.dot %w, %v, %sum {in_flight = 0, order = 1, stage = 1}
    ```
    With `solver=exact` it is that of `ExactSolver.h`, whose own orders are taken where they are shorter.
    Tests: `test/Schedule/decide-stages.mlir` and `-exact`, `-delayed`, `decide-write-stages.mlir`.
  }];
  let options = [Option<"solver", "solver", "std::string", "\"swing\"", "swing or exact">];
}

def CountTrips : Schedule_Pass<"tile-count-trips"> {
  let summary = "find how many trips loops surely have";
  let description = [{
    Precondition: a kernel with `tile.roles` has its grid region, if any. Postcondition: a loop that
    surely has trips says how many at least, as `tile.least_trips`; `tile-realise-stages` then writes
    so many without a condition. A persistent kernel runs the tiles that its grid has: of an extent
    `ceildiv(n, 128)` follows that n is at least 1. Others may be launched on any grid.

    Before:
    ```mlir
    attributes {tile.persistent = …} grid {
      %tiles = arith.ceildivsi %n, %c128 : index
      tile.grid %tiles
    } {
      scf.for %i = %c0 to %n step %c128 {}
    ```
    After:
    ```mlir
      scf.for %i = %c0 to %n step %c128 {} {tile.least_trips = 1 : i64}
    ```
    The test is `test/Schedule/count-trips.mlir`.
  }];
}

def RealiseRings : Schedule_Pass<"tile-realise-rings"> {
  let summary = "make channels of what one role brings and another uses";
  let description = [{
    Precondition: a kernel with `tile.roles` has loads with `atom`, `buffer` and `role`, and with
    `stage` where their loop has `tile.depth`; what uses them names its role. Postcondition: each
    ring is a channel. A ring is the loads of one `ring`, wherever they stand, or those of one role
    of a loop without such a name; it has the `depth` of its loads or their loops, else one slot.
    Loads of a ring that stand together are one `tile.put`, which keeps their `stage` and `order`;
    each role that uses them gets the slot, which dots with `in_flight` read, and what is read into
    registers for all others. Each put and each get has a `tile.next`, which counts its role's uses.
    Stages count within a role, from 0; how far another role runs ahead is the depth alone.

    A store by an engine, in another role than the one that makes its value, is a ring too, of
    `in_flight` + 1 slots: the maker writes the value's boxes to a slot, the other role copies them
    out.

    What a role loads through registers, it writes to the slot at the end of a trip: of the load's
    stage, or of `tile.write_stage`; each of the role's warps arrives. So it does with what its warps copy past the registers, whose
    copies arrive themselves. Copies of a role that bring what an engine counts share each box out.

    A ring that the role which reads it also fills is an `own` channel. Its loads become a put of
    copies, or, through registers, loads and a put that is written as for another role.

    Before:
    ```mlir
    %t = tile.load %a[%m, %k] {atom = …, buffer = …, stage = 0, role = "load"}
    %d = tile.dot %t, %u, %s {atom = …, stage = 0, role = "mma", in_flight = 1}
    ```
    After:
    ```mlir
    %s0, %p0 = tile.next %ring {role = "load"}
    tile.put %ring[%s0, %p0] … {stage = 0, role = "load"}
    %s1, %p1 = tile.next %ring {role = "mma"}
    %x = tile.get %ring[%s1, %p1] {role = "mma"}
    %d = tile.dot %x, %u, %s {atom = …, stage = 0, role = "mma", in_flight = 1}
    ```
    The tests are `test/Schedule/realise-rings.mlir`, `realise-rings-stores.mlir` and
    `realise-own-rings.mlir`. Loops keep their `tile.depth`, which is that of tensors between roles, too.
  }];
}

def RealiseWarpGroups : Schedule_Pass<"tile-realise-warp-groups"> {
  let summary = "give each role the part of the program that is its own";
  let description = [{
    Precondition: in a kernel with `tile.roles` every op that touches memory, and every dot, names
    its role, and no tensor goes from one role to another: rings carry what did. A load of one number
    that no op of the kernel changes has no role: each one loads it. Postcondition: the kernel's body
    is a `tile.warp_groups`; each region has the ops of its role, and of all others what they need:
    loops, conditions and scalars are made again in each region. A scalar that one role makes, as
    what an atomic gives or what becomes of a tensor, goes to the roles that use it through a channel
    of one element. The kernel has as many `tile.warps` as its roles together. Roles stand in the
    author's order, unless groups of warps would not begin at multiples of their size.

    The source's order of two roles' accesses to one argument, of which one writes, is that of
    what is handed over in between: it is an error if nothing is, and tiles are not known to lie apart.
    Behind an access by warps that another role's follows stands a `tile.barrier global`, which
    publishes what engines read; what engines store is waited for.
    The tests are `test/Schedule/realise-warp-groups.mlir`, `hand-over-scalars.mlir`,
    `across-roles.mlir` and `across-roles-invalid.mlir`.
  }];
}

def CompleteStages : Schedule_Pass<"tile-complete-stages"> {
  let summary = "decide the stages and orders that are not pinned";
  let description = [{
    Precondition: roles have regions of their own; any op of a loop may have a `stage`, and an
    `order` among those of its role. Postcondition: each op of a block with any decision about its
    schedule has both, the orders of a block count from 0. Scalars that follow from a loop's
    variable alone have neither: they are made again where they are used.

    An op without a stage runs as early as what it needs lets it; gets and reads of a slot, and what
    puts parts of a dot in flight together, come as late as their users let them, but a get stays in
    front of accesses of memory that may meet another role's, and of stores over what its slot was
    copied from. What a role writes for its own dots it writes no more trips ahead than the ring has
    slots for. Beside a loop of the trip in which a role waits for another, all that it gets from that
    one, or puts for it, is as late as the latest of it. An op without an order stays behind the op that it follows in the
    source, and comes behind what it needs. The rule is `completePins` of `lib/Schedule/Problem`.
    Only attributes are added.

    Before:
    ```mlir
    %t = tile.load %a[%i, %c0] {stage = 0}
    %u = arith.negf %t
    tile.store %u, %b[%i, %c0] {stage = 1}
    ```
    After:
    ```mlir
    %t = tile.load %a[%i, %c0] {order = 0, stage = 0}
    %u = arith.negf %t {tile.order = 1, tile.stage = 0}
    tile.store %u, %b[%i, %c0] {order = 2, stage = 1}
    ```
    The tests are `test/Schedule/complete-stages.mlir`, `complete-stages-nests.mlir` and
    `realise-stages-invalid.mlir`.
  }];
}

def RealiseStages : Schedule_Pass<"tile-realise-stages"> {
  let summary = "overlap the trips of each role's loops as stages say";
  let description = [{
    Precondition: stages and orders are complete. Postcondition: no op has either; dots with
    `in_flight` are starts and waits, and each slot that is got is released.

    - An op at stage s works on the iteration that began s trips before. A loop with stages 0 to S has its first S trips in front of
      it, its last S behind it, and what a later trip uses among its values; with fewer iterations
      than S, these alone run.
    - Ops of a trip go by `order`.
    - A dot with `in_flight` is waited for in front of the first op that uses its result, at that
      op's stage; a dot that only adds to it takes the pending sum. By then as many later dots as it
      says may be under way, in the loop; in front of and behind it as many as have surely started.
      A dot that adds to a value of its loop and hands it on stays in flight from trip to trip, and
      at the end of each at most so many are under way.
    - A slot is released behind the last op that reads it, or the wait for the dot that does; if
      all that reads it are dots whose atom ends by commit, by a commit behind the last of them. In a
      ring that others of the role read, too, each slot is released in both ways.
    - In a role whose copies have a `skew` barriers of all copies stand around the starts of dots,
      and later copies come to them that much later. Where a trip that uses a ring starts no dots
      all copies meet twice, too.
    - Each trip of an `scf.while` says at stage 0 whether there is another one. Its first trips stand
      in one another's conditions, beside the trips that end as many iterations as there are then.
    - Where a role fills rings of its own, puts are waited for by counts; ops in front of and behind
      a counted loop stand behind the condition that their iteration is there. Where the chip must
      know slots when compiling, a trip of the loop is as many as take all of its rings round.
    - A dot in flight reads operands in registers until it is waited for. If trips make these again by
      then, a trip of the loop is as many as have their own; those left stand behind a condition.

    Before:
    ```mlir
    scf.for %i = %c0 to %n step %c1 {
      %t = tile.load %a[%i, %c0] {stage = 0}
      tile.store %t, %b[%i, %c0] {stage = 1}
    }
    ```
    After:
    ```mlir
    scf.if %any {
      %t0 = tile.load %a[%c0, %c0]
      %last = scf.for %i = %c1 to %n step %c1 iter_args(%t = %t0) {
        %u = tile.load %a[%i, %c0]
        tile.store %t, %b[%before, %c0]
        scf.yield %u
      }
      tile.store %last, %b[%end, %c0]
    }
    ```
    The tests are `test/Schedule/realise-stages.mlir`, `realise-stages-while.mlir`,
    `realise-stages-dots.mlir`, `realise-stages-registers.mlir`, `skews.mlir` and
    `realise-stages-invalid.mlir`.
  }];
}

def SplitLoops : Schedule_Pass<"tile-split-loops"> {
  let summary = "cut loops in two where a condition changes";
  let description = [{
    Precondition: an `scf.if` with `tile.split_loop`, in the loop or in another such `scf.if`,
    compares the induction variable of its loop with what does not change in it. Postcondition: the loop is two, one in front of the change and
    one behind it, and neither has the condition. Rings and dots in flight go on from one to the
    other. So attention masks the last blocks of keys alone.

    Before:
    ```mlir
    scf.for %i = %c0 to %n step %c64 {
      %late = arith.cmpi sge, %i, %m : index
      scf.if %late {
        // a mask
      } {tile.split_loop}
      // the rest
    }
    ```
    After: a loop from `%c0` to `%m` with the rest, and one from there to `%n` with both.
    The tests are `test/Schedule/split-loops.mlir` and `test/Schedule/split-loops-invalid.mlir`.
  }];
}

def RealiseSlots : Schedule_Pass<"tile-realise-slots"> {
  let summary = "make the slots and phases of channels values";
  let description = [{
    Precondition: in each role `tile.next` stands in front of each use of a channel. Postcondition:
    there is none; slots and phases go from use to use through loops and conditions, so a ring does
    not drain between two loops.

    Before: `%s, %p = tile.next %ring` in a loop. After: the loop carries slot and phase, and
    `tile.advance` makes the next ones.
    The test is `test/Schedule/realise-slots.mlir`.
  }];
}

def RealiseCopies : Schedule_Pass<"tile-realise-copies"> {
  let summary = "share each tensor out among the copies of its role";
  let description = [{
    Precondition: in roles of several copies each tensor has a layout. Postcondition: where a
    layout has more bits of `warp` than a copy has, those above became the copy: the tensor is the
    share of one copy, and what reads or writes memory for it is at the copy's offset. So it is of what
    is pending, whose place in tensor memory comes later; where other roles fetch it, slots become one a copy.
    A tensor whose layout has no such bits is each copy's own. Of a reduction or a scan along what
    copies share out each makes a part, and writes it to a buffer of the program: all meet
    (`tile.barrier all_copies`), and each combines the parts of all in the order of the copies. So they
    take what others have of a tensor that is converted to one of which each has all, or that they
    share out along another dimension. Of a tile that has grown (`extents`) the last copies have less,
    for which a `tile.subview` ends with it.
    A conversion through memory of what copies share out has no `how` any more, and new ones have
    none: `tile-decide-conversions` comes behind.

    Before: `tensor<128x256xf32, #layout of 8 warps>` in a role of 4 warps and 2 copies.
    After: `tensor<64x256xf32, #layout of 4 warps>`. Of a role of 3 copies it is a third of 192 rows.
    The tests are `test/Schedule/realise-copies.mlir`, `realise-copies-across.mlir` and
    `realise-copies-exchanged.mlir`.
  }];
}

def RealiseOwnConversions : Schedule_Pass<"tile-realise-own-conversions"> {
  let summary = "send the conversions of a role that go through shared memory there";
  let description = [{
    Precondition: each copy of a role has its own tensors, and each `tile.convert_layout` has `how`.
    Postcondition: one through memory is a barrier of the copy, a `tile.write`, a barrier and a
    `tile.read`; conversions of a role by buffers of one type share one. Where slices alone use it,
    as those of a product's parts do, each is read where it stands.
    The test is `test/Schedule/realise-own-conversions.mlir`.
  }];
}

def RealiseStores : Schedule_Pass<"tile-realise-stores"> {
  let summary = "send stores by engines through shared memory, a box at a time";
  let description = [{
    Precondition: stores with an `atom` stand in a role, with `buffer` and `in_flight`.
    Postcondition: each is cut into boxes of the buffer's shape; a box is written to one of
    `in_flight` + 1 buffers, published, and copied out; each buffer's copy is waited for before it
    is written again, and all before the role ends.
    The test is `test/Schedule/realise-stores.mlir`.
  }];
}

include "kiln/Schedule/BoxPasses.td"
include "kiln/Schedule/GridPasses.td"
include "kiln/Schedule/PartPasses.td"
include "kiln/Schedule/ProblemPasses.td"
include "kiln/Schedule/SynchronisationPasses.td"
include "kiln/Schedule/HandOverPasses.td"
include "kiln/Schedule/TensorMemoryPasses.td"

#endif // KILN_SCHEDULE_PASSES_TD
