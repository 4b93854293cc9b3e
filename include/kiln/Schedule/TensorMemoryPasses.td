// Passes about what lies in tensor memory.
#ifndef KILN_SCHEDULE_TENSORMEMORYPASSES_TD
#define KILN_SCHEDULE_TENSORMEMORYPASSES_TD

def DecideCarriedSums : Schedule_Pass<"tile-decide-carried-sums"> {
  let summary = "decide which sums loops and conditions leave in tensor memory";
  let description = [{
    Precondition: dots with `in_flight` are starts and waits. Postcondition: where a loop carries a sum
    that lies in tensor memory, and a trip does no more with it than to change it element by element in
    front of its dots, the wait has `tile.carried = "tensor_memory"`; no thread holds the sum beside
    what the trip computes for these dots then. So has the wait for a sum that a condition chooses, because
    a loop may have no trips, instead of a constant: it is fetched behind the condition, where it is used, box
    by box if it is stored so. A wait for which the source says `tile.carried` keeps it.

    Before:
    ```mlir
    scf.for … iter_args(%s = %zeros) {
      %less = arith.mulf %s, %alpha
      %p = tile.pend %less
      %q = tile.start_dot %x, %y, %p …
      %t = tile.wait %q in_flight = 0 …
      scf.yield %t
    }
    ```
    After: the same with `tile.wait %q in_flight = 0 {tile.carried = "tensor_memory"}`.
    The test is `test/Schedule/decide-carried-sums.mlir`.
  }];
}

def DecideColumns : Schedule_Pass<"tile-decide-columns"> {
  let summary = "decide which sums and operands share columns of tensor memory";
  let description = [{
    Precondition: dots with `in_flight` are starts and waits, which say by `tile.carried` where sums stay, and
    each copy of a role has its own tensors. Postcondition: the wait for each sum in tensor memory that its
    own role fetches has `tile.columns`, and each start of a dot whose operand a warps have computed
    `tile.operand_columns`: numbers from 0 on, of one role. Sums of one type that are in use at different
    times have the same, and so have operands. An operand is written over a sum of the trip that has been
    fetched by then if it has room there, and no sum of that type begins before the dots that read it have
    ended: it has the columns of that sum. Of sums of one type that are in use at different times all are
    written over, or none. A sum that a later trip uses is in use from its first dot, in front of the loop, to
    the last wait behind it, and all of these waits have the same number. What the source says is kept.

    Before:
    ```mlir
    %d = tile.start_dot %x, %y, %none when %no …
    %s = tile.wait %d in_flight = 0 …
    %e = tile.start_dot %weights, %z, %sum …
    %t = tile.wait %e in_flight = 0 …
    ```
    After: the same with `tile.wait %d in_flight = 0 {tile.columns = 0 : i64}`,
    `tile.start_dot %weights, %z, %sum {tile.operand_columns = 0 : i64}` and
    `tile.wait %e in_flight = 0 {tile.columns = 1 : i64}`.
    The test is `test/Schedule/decide-columns.mlir`.
  }];
}

def RealiseAccumulators : Schedule_Pass<"tile-realise-accumulators"> {
  let summary = "give dots a place in tensor memory, for their sums and for operands";
  let description = [{
    Precondition: dots with `in_flight` are starts and waits, which say by `tile.columns` and
    `tile.operand_columns` where their sums and operands are, and each copy of a role has its own
    tensors. Postcondition: an accumulator in tensor
    memory is a slot of a channel. It is acquired where its first dot's loop or block begins, filled
    if it begins as a tensor, and a wait for it is a `tile.commit` behind the last dot, a `tile.get`,
    a `tile.fetch` and a `tile.release`. Each number of columns is a channel, and it is an error if what
    has it is not of one type, in use at different times and given back in one way. A sum that is in
    flight where its trip ends, since a later one waits for it, is committed where it is begun and got where
    it is waited for, in turn; its channel has as many slots as such sums are in flight at once. It is an
    error if dots of several trips add to it, or another role uses it. A sum that
    another role uses is a slot of the channel into which it is committed, and has no columns of its role's.
    What such a dot reads as operand a and warps have computed is written in the columns of a sum over the
    last that has been fetched in front of it: a
    `tile.fill` of a `tile.part` of it, and the sum's slot is released by `commit` behind the last of the
    dots that read it. It is an error if none has room. In other columns it is a slot,
    too: acquired and filled in front of the first, released in the same way. A sum whose wait has
    `tile.carried = "tensor_memory"` stays in its slot from trip to trip: it is got and fetched in the
    trip behind the one that committed it, where that changes it. It is an error if the loop does
    anything else with the sum. In a condition such a sum is committed by each branch, and fetched behind
    the condition. No op has any of these attributes then; "registers" is an error where another role has the sum.

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
    Where the wait is for what the loop carries, both sides have places of their own:
    ```mlir
    %s, %ph = tile.next fills %sums
    %none = tile.acquire %sums[%s, %ph]
    %p = tile.start_dot %x, %y, %none when %false …
    tile.commit %p into %sums[%s]
    %t, %pt = tile.next %sums
    %q = tile.get %sums[%t, %pt]
    %u = tile.fetch %q {atom = …}
    tile.release %sums[%t] lanes
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
    `realise-accumulators-over.mlir`,
    `realise-accumulators-carried.mlir`, `realise-accumulators-flights.mlir`,
    `realise-accumulators-copies.mlir` and
    `realise-accumulators-invalid.mlir`.
  }];
}

def DecideFetches : Schedule_Pass<"tile-decide-fetches"> {
  let summary = "decide which sums are fetched from tensor memory as they are stored";
  let description = [{
    Precondition: stores by engines are cut into boxes, each a `tile.slice` of the tensor.
    Postcondition: such slices have `tile.fetched = "boxes"` where they are columns, and all that is made
    of the tensor, which is made of sums in tensor memory element by element; and nothing between the
    fetches and the last slice waits for another role. Those for which the source decides keep that.

    Before: `%box = tile.slice %u[0, 0] … -> tensor<128x64xbf16, …>`.
    After: the same with `{tile.fetched = "boxes"}`.
    The test is `test/Schedule/decide-fetches.mlir`.
  }];
}

def RealiseFetches : Schedule_Pass<"tile-realise-fetches"> {
  let summary = "fetch sums from tensor memory some columns at a time, as `tile.fetched` says";
  let description = [{
    Precondition: slices of what is made of sums in tensor memory, with `tile.fetched`. Postcondition: no
    slice has it. Those with "boxes" are each made of the columns of a sum that it has, in front of it: a
    `tile.fetch` of a `tile.part` of the sum, and a copy of each op in between. The sum's slot is
    released behind the last of them. So a thread holds a box of each sum at a time, and not the whole
    of it. Where that cannot be it is an error.

    Before:
    ```mlir
    %t = tile.fetch %q {atom = …}
    tile.release %sums[%s] lanes
    %u = arith.truncf %t …
    %box = tile.slice %u[0, 0] {tile.fetched = "boxes"} … -> tensor<128x64xbf16, …>
    ```
    After:
    ```mlir
    %some = tile.part %q[%c0, %c0] … -> !tile.pending<tensor<128x64xf32, …>, tensor_memory>
    %t = tile.fetch %some {atom = …}
    %box = arith.truncf %t …
    …
    tile.release %sums[%s] lanes
    ```
    The tests are `test/Schedule/realise-fetches.mlir` and `realise-fetches-invalid.mlir`.
  }];
}

#endif // KILN_SCHEDULE_TENSORMEMORYPASSES_TD
