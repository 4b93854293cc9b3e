// The passes that realise a schedule, and the one that checks what they made.
#ifndef KILN_SCHEDULE_PASSES_TD
#define KILN_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

class Schedule_Pass<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let dependentDialects = ["::kiln::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect"];
}

def RealisePersistence : Schedule_Pass<"tile-realise-persistence"> {
  let summary = "let a fixed number of programs run all tiles of a grid";
  let description = [{
    Precondition: kernels with `tile.persistent` have a grid region of one or two extents.
    Postcondition: none has the attribute; such a kernel's grid is at most so many programs along
    x, and its body a loop over tiles, from `program_id x` on in steps of `num_programs x`, in the
    order that the attribute's `group` says. Messages name the tile's program.

    Before: a body that runs tile (`program_id x`, `program_id y`).
    After:
    ```mlir
    scf.for %t = %first to %tiles step %programs {
      // x and y of tile %t, and the body
    }
    ```
    The test is `test/Schedule/realise-persistence.mlir`.
  }];
}

def RealiseRings : Schedule_Pass<"tile-realise-rings"> {
  let summary = "make channels of loads whose users run at another stage";
  let description = [{
    Precondition: a kernel with `tile.roles` has loads with `atom`, `buffer` and `role`, and with
    `stage` where their loop has `tile.depth`; what uses them names its role. Postcondition: each
    ring is a channel. A ring is the loads of one `ring`, wherever they stand, or those of one role
    of a loop without such a name; it has the `depth` of its loads or their loops, else one slot.
    Stages count within a role, from 0: loads are at stage 0, and a role that fills its own ring
    uses them as many stages later as it is ahead. How far another role runs ahead is the depth
    alone. `order` counts the ops of a role and stage that have one, as they stand. Loads of a ring that stand together are one `tile.put`; each role that uses them gets
    the slot, and releases it once what read it is done. Slot and phase go from use to use through
    loops and conditions, so a ring does not drain between two loops, and a load outside of loops
    has a ring of its own that goes from tile to tile of a persistent kernel.

    A dot with `in_flight` is a `tile.start_dot` on the buffers. It is waited for in front of the
    first op that uses its result, when at most so many dots of the role that started after it may
    still run; a dot that only adds to it takes the pending sum. One that adds to a value of its
    loop and hands it on stays in flight from trip to trip, and at the end of each trip at most so
    many are under way. What is put and got stands side by side still, each op with its `role`.

    A store by an engine, in another role than the one that makes its value, is a ring too, of
    `in_flight` + 1 slots: the maker writes the value's boxes to a slot, the other role copies them
    out and releases it. In a role whose copies have a `skew` barriers of all copies stand around
    the starts of dots, and later copies come to them that much later.

    Before:
    ```mlir
    %t = tile.load %a[%m, %k] {atom = …, buffer = …, stage = 0, role = "load"}
    %d = tile.dot %t, %u, %s {atom = …, stage = 0, role = "mma", in_flight = 1}
    ```
    After:
    ```mlir
    tile.put %ring[%slot, %phase] … {role = "load"}
    %x, %y = tile.get %ring[%slot, %phase] {role = "mma"}
    %d = tile.start_dot %x, %y, %s when %more
    %p = tile.wait %d in_flight = 1
    ```
    The tests are `test/Schedule/realise-rings.mlir`, `realise-rings-shared.mlir` and
    `realise-rings-stores.mlir`.
  }];
}

def RealiseWarpGroups : Schedule_Pass<"tile-realise-warp-groups"> {
  let summary = "give each role the part of the program that is its own";
  let description = [{
    Precondition: in a kernel with `tile.roles` every op that touches memory, and every dot, names
    its role, and no tensor goes from one role to another. Postcondition: the kernel's body is a
    `tile.warp_groups`; each region has the ops of its role, and of all others what they need:
    loops, conditions and scalars are made again in each region. The kernel has as many
    `tile.warps` as its roles together.
    The test is `test/Schedule/realise-warp-groups.mlir`.
  }];
}

def RealiseCopies : Schedule_Pass<"tile-realise-copies"> {
  let summary = "share each tensor out among the copies of its role";
  let description = [{
    Precondition: in roles of several copies each tensor has a layout. Postcondition: where a
    layout has more bits of `warp` than a copy has, those above became the copy: the tensor is the
    share of one copy, and what reads or writes memory for it is at the copy's offset.
    A tensor whose layout has no such bits is each copy's own.

    Before: `tensor<128x256xf32, #layout of 8 warps>` in a role of 4 warps and 2 copies.
    After: `tensor<64x256xf32, #layout of 4 warps>`.
    The test is `test/Schedule/realise-copies.mlir`.
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

def CheckProtocol : Schedule_Pass<"tile-check-protocol"> {
  let summary = "prove that roles keep to their channels";
  let description = [{
    Precondition: a schedule is realised. Changes nothing; an error says at which op the roles of a
    kernel fall out of step, and on which small instance.

    - What stands still: bytes that a `tile.put` announces are those that its copies bring, arrivals
      are those of the warps that make them, registers fit the chip, what is pending has one use.
    - What moves: on instances from no trip to several rounds of each ring, each use of a channel
      has the slot and phase that it must have, nothing is read that was released or is not there
      yet, nothing is released or overwritten that a dot or a store in flight still reads, barriers
      stand between what warps write and what others read, and no role waits forever.

    The tests are `test/Schedule/check-protocol-invalid.mlir` and the mutants of
    `test/Schedule/mutants.test`.
  }];
}

#endif // KILN_SCHEDULE_PASSES_TD
