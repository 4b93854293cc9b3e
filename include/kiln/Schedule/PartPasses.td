// The passes that cut products into parts.
#ifndef KILN_SCHEDULE_PARTPASSES_TD
#define KILN_SCHEDULE_PARTPASSES_TD

def CarryParts : Schedule_Pass<"tile-carry-parts"> {
  let summary = "have loops carry a sum as the parts that dots in flight make of it";
  let description = [{
    Precondition: tensors have layouts; no role has a region of its own. Postcondition: where dots with
    `in_flight` and with `parts` along m or n alone add to a value of their loop, the loop carries that
    value's parts, which the dots put together and take apart again. `tile-realise-parts` makes of each an
    accumulator that stays where it is from trip to trip. Behind the loop each role that uses the sum
    puts it together, so that parts go from role to role.

    Before:
    ```mlir
    %sum = scf.for %k = %lo to %hi step %s iter_args(%acc = %zero) -> (tensor<64x128xf32, #l>) {
      %d = tile.dot %x, %y, %acc {in_flight = 1, parts = array<i64: 1, 2, 1>, …}
      scf.yield %d
    }
    ```
    After:
    ```mlir
    %sums:2 = scf.for %k = %lo to %hi step %s iter_args(%acc0 = %zero0, %acc1 = %zero1)
        -> (tensor<64x64xf32, #h>, tensor<64x64xf32, #h>) {
      %acc = tile.concat %acc0, %acc1 axis = 1
      %d = tile.dot %x, %y, %acc {in_flight = 1, parts = array<i64: 1, 2, 1>, …}
      %d0 = tile.slice %d [0, 0]
      %d1 = tile.slice %d [0, 64]
      scf.yield %d0, %d1
    }
    %sum = tile.concat %sums#0, %sums#1 axis = 1
    ```
    The test is `test/Schedule/carry-parts.mlir`.
  }];
}

def RealiseParts : Schedule_Pass<"tile-realise-parts"> {
  let summary = "cut dots into their parts, and what makes their operands";
  let description = [{
    Precondition: tensors have layouts; what dots read has been got. Postcondition: no dot has
    `parts`, `reads_ahead`, `part_stages`, `part_orders` or `promote`. One that had is as many dots as
    its parts along m, n and k together, in the order of k, then m, then n: those along k add to one another, and the results
    of the others are put together. All have its stage and stand in its place, but for what
    `part_stages` and `part_orders` say of each part's reads and of its dot: then what it does has
    orders of its own, from the dot's on, and what had later ones in the block has them behind these.

    Operands that come out of shared memory for it alone are read part by part, each in front of the
    first part that needs it, or so many parts in front of that as `reads_ahead` says; so are casts
    and transposes between. A read is cut no finer than what one access of a lane moves; of a larger
    piece, and of other tensors, parts take slices of the registers that threads have.

    Operands that engines read out of shared memory are parts of their buffers (`tile.part`). A value
    that is put together of what others have made, or taken apart again, stays in parts.

    With `promote` each part along k begins at zero and is added to the sum. Of dots in flight a part
    is added once those behind it have started that may be in flight.

    Before:
    ```mlir
    %x = tile.read %p : !tile.buffer<64x64xf16> -> tensor<64x64xf16, #a>
    %y = tile.read %q : !tile.buffer<64x64xf16> -> tensor<64x64xf16, #b>
    %d = tile.dot %x, %y, %s {parts = array<i64: 1, 1, 2>, reads_ahead = 1 : i64}
    ```
    After:
    ```mlir
    %x0 = tile.read %p at [0, 0] : !tile.buffer<64x64xf16> -> tensor<64x32xf16, #a0>
    %y0 = tile.read %q at [0, 0] : !tile.buffer<64x64xf16> -> tensor<32x64xf16, #b0>
    %x1 = tile.read %p at [0, 32] : !tile.buffer<64x64xf16> -> tensor<64x32xf16, #a0>
    %y1 = tile.read %q at [32, 0] : !tile.buffer<64x64xf16> -> tensor<32x64xf16, #b0>
    %d0 = tile.dot %x0, %y0, %s
    %d = tile.dot %x1, %y1, %d0
    ```
    The tests are `test/Schedule/realise-parts.mlir` and `realise-parts-invalid.mlir`.
  }];
}

#endif // KILN_SCHEDULE_PARTPASSES_TD
