// Passes about what lies in tensor memory.
#ifndef KILN_SCHEDULE_TENSORMEMORYPASSES_TD
#define KILN_SCHEDULE_TENSORMEMORYPASSES_TD

def RealiseAccumulators : Schedule_Pass<"tile-realise-accumulators"> {
  let summary = "give dots a place in tensor memory, for their sums and for operands";
  let description = [{
    Precondition: dots with `in_flight` are starts and waits, and each copy of a role has its own
    tensors. Postcondition: an accumulator in tensor
    memory is a slot of a channel. It is acquired where its first dot's loop or block begins, filled
    if it begins as a tensor, and a wait for it is a `tile.commit` behind the last dot, a `tile.get`,
    a `tile.fetch` and a `tile.release`. Accumulators of one type in one role take turns. One that
    another role uses is a slot of the channel into which it is committed. What such a dot reads as
    operand a and warps have computed is a slot, too: acquired and filled in front of the first of the
    dots that read it, released by `commit` behind the last. A sum that a loop carries, and that is
    changed element by element in front of the trip's dots and not used otherwise, stays in its slot
    until then: it is got and fetched in the trip behind the one that committed it. One that a condition
    chooses, because a loop may have no trips, each branch commits, and it is fetched behind the condition.

    A role of several copies has channels of a slot for each: a copy begins with that of its number and
    steps over the uses of the others.

    Before:
    ```mlir
    %none = ub.poison : !tile.pending<tensor<128x64xf32, #sum>, tensor_memory>
    %p = tile.start_dot %x, %y, %none when %false …
    %t = tile.wait %p in_flight = 0 …
    ```
    After:
    ```mlir
    %s, %ph = tile.next %sums
    %none = tile.acquire %sums[%s, %ph]
    %p = tile.start_dot %x, %y, %none when %false …
    tile.commit %p into %sums[%s]
    %q = tile.get %sums[%s, %ph]
    %t = tile.fetch %q {atom = …}
    tile.release %sums[%s] lanes
    ```
    And `tile.start_dot %weights, %y, %p …` of a tensor becomes:
    ```mlir
    %s, %ph = tile.next %rows
    %empty = tile.acquire %rows[%s, %ph]
    %a = tile.fill %weights into %empty {atom = …}
    %q = tile.start_dot %a, %y, %p …
    tile.release %rows[%s] commit
    ```
    The tests are `test/Schedule/realise-accumulators.mlir`, `realise-accumulators-operands.mlir`,
    `realise-accumulators-carried.mlir`, `realise-accumulators-copies.mlir` and
    `realise-accumulators-invalid.mlir`.
  }];
}

def RealiseFetches : Schedule_Pass<"tile-realise-fetches"> {
  let summary = "fetch sums from tensor memory as they are stored, some columns at a time";
  let description = [{
    Precondition: stores by engines are cut into boxes, each a `tile.slice` of the tensor.
    Postcondition: where all that is made of a sum, element by element, is such slices of columns, it
    is made of the columns of a slice in front of it: a `tile.fetch` of a `tile.part` of the sum, and a
    copy of each op in between. The sum's slot is released behind the last of them. So a thread holds a
    box of each sum at a time, and not the whole of it.

    Before:
    ```mlir
    %t = tile.fetch %q {atom = …}
    tile.release %sums[%s] lanes
    %u = arith.truncf %t …
    %box = tile.slice %u[0, 0] … -> tensor<128x64xbf16, …>
    ```
    After:
    ```mlir
    %some = tile.part %q[%c0, %c0] … -> !tile.pending<tensor<128x64xf32, …>, tensor_memory>
    %t = tile.fetch %some {atom = …}
    %box = arith.truncf %t …
    …
    tile.release %sums[%s] lanes
    ```
    The test is `test/Schedule/realise-fetches.mlir`.
  }];
}

#endif // KILN_SCHEDULE_TENSORMEMORYPASSES_TD
