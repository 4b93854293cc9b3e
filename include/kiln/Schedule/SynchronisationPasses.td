// The passes that come last in the stage `schedule`: who runs what, what waits for what, what stays
// in front of what. After them the lowering decides none of these.
#ifndef KILN_SCHEDULE_SYNCHRONISATIONPASSES_TD
#define KILN_SCHEDULE_SYNCHRONISATIONPASSES_TD

def RealiseOverlap : Schedule_Pass<"tile-realise-overlap"> {
  let summary = "let launches overlap as `tile.overlap` says";
  let description = [{
    Precondition: in a kernel with `tile.overlap` ops may have `tile.triggers`; others have none.
    Postcondition: the kernel begins with a `tile.wait_dependencies`, and has a `tile.launch_dependents`
    behind each such op, in its role and stage, or at its beginning if there is none. The attributes are
    gone, and the metadata says "overlap" to whoever launches it.

    Before:
    ```mlir
    tile.kernel @k(…) attributes {tile.overlap} grid {…} {
      // the program
    }
    ```
    After:
    ```mlir
    tile.kernel @k(…) grid {…} {
      tile.launch_dependents
      tile.wait_dependencies
      // the program
    }
    ```
    The tests are `test/Schedule/realise-overlap.mlir` and `realise-overlap-invalid.mlir`.
  }];
}

def RealiseTurns : Schedule_Pass<"tile-realise-turns"> {
  let summary = "deal the programs of a persistent kernel to copies of a role in turn";
  let description = [{
    Precondition: roles have regions of their own, and in those of the roles that `tile.turns` names
    all that touches memory stands in the loop of the programs. Postcondition: these roles have as many
    `copies` as take turns, and `tile.warps` counts them. Each copy runs every n-th program of the block. In front of a
    program it steps over what the programs between use of each ring, as many times as the bounds and
    conditions around these uses say; they must follow from the program's number. `tile.turns` stays:
    such copies share nothing out.

    Before:
    ```mlir
    scf.for %p = %first to %end step %step {
      scf.for %k = %c0 to %n step %c64 { tile.next %ring … }
    } {tile.programs}
    ```
    After:
    ```mlir
    scf.for %p = %first + copy * %step to %end step 2 * %step {
      %skipped = scf.if %p - %first >= %step { n / 64 } else { 0 }
      scf.for %i = %c0 to %skipped step %c1 { tile.next %ring }
      scf.for %k = %c0 to %n step %c64 { tile.next %ring … }
    } {tile.programs}
    ```
    The tests are `test/Schedule/realise-turns.mlir` and `realise-turns-invalid.mlir`.
  }];
}

def OrderTurns : Schedule_Pass<"tile-order-turns"> {
  let summary = "let copies that take programs in turn use each ring in the order of the programs";
  let description = [{
    Precondition: programs are dealt to copies, and loops have their stages. Postcondition: in each
    program the copy gets a slot of a channel without buffers in front of its first wait for a ring,
    if the block has a program before it, and puts one behind the last, if it has one behind it. Rings
    whose uses lie between one another have one such channel, others each their own. Its slots are as
    many as there are copies.

    A barrier's parity does not tell a phase from the one two rounds on, so a copy must not wait for
    a slot before the copies in front of it have got theirs. What a copy does behind its last wait,
    which are its last dots and its stores, runs beside what the next one does.

    Before:
    ```mlir
    scf.for … { tile.get %ring … }
    %sum = tile.wait %dots in_flight = 0
    ```
    After:
    ```mlir
    scf.if %hasEarlier { tile.get %turn[%s, %p] … tile.release %turn[%s] … }
    scf.for … { tile.get %ring … }
    scf.if %hasLater { tile.put %turn[%s1, %p1] bytes = 0 … {} }
    %sum = tile.wait %dots in_flight = 0
    ```
    The tests are `test/Schedule/order-turns.mlir` and `check-protocol-turns-invalid.mlir`.
  }];
}

def RealiseFences : Schedule_Pass<"tile-realise-fences"> {
  let summary = "put fences where warps and engines meet in memory";
  let description = [{
    Precondition: channels have slots and phases. Postcondition:

    - a `tile.put` that warps write ends with a barrier of the copy, which with `publish` tells engines
      of what was written: if an engine copies from the slot, or a dot in flight reads it; one in which
      they start copies, or whose slot is of nothing, has `tile.lanes`: the lanes of a warp meet in front
      of the one that tells of them;
    - accesses to tensor memory stand behind a `tile.fence tensor_after` where the thread was told that
      it may, and a `tile.fence tensor_before` stands between them and where it tells others;
    - between a get of what other warps copy and dots in flight that read it, and between reads of lanes
      and the release of a slot that an engine fills again, stands a `tile.fence shared`.

    It realises what channels say, and has no choice: who writes a slot and who reads it, by which proxy,
    tells where each fence is needed, and `tile-check-protocol` refuses one fewer or one more.

    Before:
    ```mlir
    %q = tile.get %sums[%s, %p]
    %t = tile.fetch %q {atom = …}
    tile.release %sums[%s] lanes
    ```
    After:
    ```mlir
    %q = tile.get %sums[%s, %p]
    tile.fence tensor_after
    %t = tile.fetch %q {atom = …}
    tile.fence tensor_before
    tile.release %sums[%s] lanes
    ```
    The test is `test/Schedule/realise-fences.mlir`.
  }];
}

def OrderDots : Schedule_Pass<"tile-order-dots"> {
  let summary = "keep what runs beside dots in front of what it runs beside";
  let description = [{
    Precondition: dots in flight are starts and waits. Postcondition: where tensors are computed
    between a dot, or a wait, and the wait that follows, a `tile.schedule_barrier` stands in front of
    that wait: assemblers would else wait first, since nothing computed there needs the wait to come
    later. So does one in front of a dot where parts of a later one have been read since the dot
    before (`reads_ahead`, `part_orders`), which code generators would else read when they are
    needed; but where instructions of the block alternate as a dot says (`interleave`). What runs
    beside which dot, stages and orders have said.

    Before:
    ```mlir
    %p = tile.start_dot …
    %e = math.exp2 %s
    %t = tile.wait %p in_flight = 0
    ```
    After:
    ```mlir
    %p = tile.start_dot …
    %e = math.exp2 %s
    tile.schedule_barrier
    %t = tile.wait %p in_flight = 0
    ```
    The test is `test/Schedule/order-dots.mlir`.
  }];
}

def RealisePriorities : Schedule_Pass<"tile-realise-priorities"> {
  let summary = "let the copies of a role with a skew that multiply go first";
  let description = [{
    Precondition: dots of roles stand where they stay. Postcondition: in roles of several copies whose
    `skew` is not 0, on chips with priorities, the warps that multiply have priority 1. The skew is the
    decision: of copies that lag behind one another one multiplies while others read and copy.

    Before:
    ```mlir
    %d = tile.dot %x, %y, %s …
    ```
    After:
    ```mlir
    tile.priority 1
    %d = tile.dot %x, %y, %s …
    tile.priority 0
    ```
    The test is `test/Schedule/realise-priorities.mlir`.
  }];
}

def PrepareRoles : Schedule_Pass<"tile-prepare-roles"> {
  let summary = "make what roles find when they begin";
  let description = [{
    Precondition: a schedule is realised; channels stand in the kernel's body. Postcondition: the
    channels come first. Behind them one thread of the program asks for each map by which engines copy,
    makes the barriers of all channels at whose slots anybody waits, and lets engines and the other
    threads see them; the first warp sets tensor memory aside, if accumulators lie there; and all
    threads meet once. Behind the roles they meet again, if there is tensor memory to give back.

    Before:
    ```mlir
    %ring = tile.channel full = 1 empty = 8 : …
    tile.warp_groups(%ring, %a : …) {…}
    ```
    After:
    ```mlir
    %ring = tile.channel full = 1 empty = 8 : …
    tile.one_thread {
      tile.prefetch %a for !tile.buffer<64x64xf16, #rows> {atom = #nvptx.tma} : …
      tile.init %ring : …
      tile.fence barriers
    }
    tile.barrier
    tile.warp_groups(%ring, %a : …) {…}
    ```
    The test is `test/Schedule/prepare-roles.mlir`.
  }];
}

def DecideWrites : Schedule_Pass<"tile-decide-writes"> {
  let summary = "decide by which instruction a role's warps write tensors to shared memory";
  let description = [{
    Precondition: each copy of a role has its own tensors; stores by engines and channels have become
    writes to buffers. Postcondition: a `tile.write` in a role that has no `atom` has the copy
    instruction of the target which takes the fewest cycles, if one is quicker than each thread's own
    stores.

    Before: `tile.write %t, %b : tensor<64x64xbf16, #acc>, !tile.buffer<64x64xbf16, #swizzled>`.
    After: the same with `{atom = #nvptx.stmatrix<4, 16>}`.
    The test is `test/Schedule/decide-writes.mlir`.
  }];
}

def OrderShared : Schedule_Pass<"tile-order-shared"> {
  let summary = "let warps wait between accesses to shared memory";
  let description = [{
    Precondition: buffers and scratch have their places in shared memory. Postcondition: in a kernel
    without roles a `tile.barrier` stands between accesses to the same bytes of which one writes, but for
    those of buffers of which each thread reads what it has itself written. In a
    role channels and barriers order what goes through buffers, so it stands between ops that use the
    same bytes of scratch alone. An op with scratch writes it, meets as often as it needs to, and reads
    it in the end; what lies in front of that is the barrier here. Where a ring of the role's own, a
    buffer or scratch lies where another does, all warps of the role meet in front of its first use.
    Each barrier of a role, and each op there with scratch, has `tile.meets`: as few warps as must, at
    a barrier that the chip has for them. Those that have none are an error at the op.

    Before:
    ```mlir
    tile.write %t, %b
    %u = tile.read %b
    ```
    After:
    ```mlir
    tile.write %t, %b
    tile.barrier
    %u = tile.read %b
    ```
    The tests are `test/Schedule/order-shared.mlir`, `order-shared-scratch.mlir`,
    `shared-places.mlir`, `meetings.mlir` and `meetings-invalid.mlir`.
  }];
}

def OrderBare : Schedule_Pass<"tile-order-bare"> {
  let summary = "let warps wait for their own accesses where barriers do not";
  let description = [{
    Precondition: barriers stand between accesses to shared memory. Postcondition: in roles, where the
    chip's barrier waits for no access and the code generator's waits would end copies that are to stay
    under way, the barrier is `bare`, and a `tile.wait_shared` stands where the warp's own accesses must
    be done: in front of barriers between reads and writes, and where a slot of the role's own ring is
    released or written. Ops with scratch meet so too: they have `tile.meets_bare`. On any chip the
    barriers of all warps in a role with a skew are such, since copies that lag count them.

    Before:
    ```mlir
    %t = tile.read %b
    tile.barrier
    tile.write %u, %b
    ```
    After, in a role that copies past the registers:
    ```mlir
    %t = tile.read %b
    tile.wait_shared
    tile.barrier bare
    tile.write %u, %b
    ```
    The test is `test/Schedule/order-bare.mlir`.
  }];
}

def RealiseThreads : Schedule_Pass<"tile-realise-threads"> {
  let summary = "give what one thread does for all a region of its own";
  let description = [{
    Precondition: a schedule is realised. Postcondition: in each role what starts an engine, or tells of
    its end, and what arrives at a barrier in shared memory stands in a `tile.one_thread`: puts of
    copies that count bytes, copies out and the waits for them, commits; and, for each warp, releases.
    Ops that follow one another share a region. A role of which one thread can do all is one region.
    Where the others go on with what one thread's op gives (waits for slots whose dots one thread
    starts, starts of dots into tensor memory), the op stands among theirs and says `one_thread`. Of
    what two programs bring and multiply together, the ops by which the first program alone announces
    bytes, waits for slots, starts dots and gives slots back have `tile.first_of_pair`.

    It has no choice: how many threads an op takes is the op's own, and who runs it twice, or not at
    all, runs another program. `tile.one_thread` refuses what takes more.

    Before:
    ```mlir
    scf.for … {
      tile.put %ring[%s, %p] bytes = 8192 … {…}
    }
    ```
    After:
    ```mlir
    tile.one_thread {
      scf.for … {
        tile.put %ring[%s, %p] bytes = 8192 … {…}
      }
    }
    ```
    The test is `test/Schedule/realise-threads.mlir`.
  }];
}

def RealiseInterleaving : Schedule_Pass<"tile-realise-interleaving"> {
  let summary = "say in which order the instructions around a dot come";
  let description = [{
    Precondition: roles, rings, stages and stores are realised, so that barriers stand where they
    stay. Postcondition: no dot has `interleave`; in its place the groups it names stand as
    `tile.schedule_group` at the end of the stretch of code that the dot is in, in front of the next
    barrier or end of a block, in a list of their own.

    Before:
    ```mlir
    %d = tile.dot %x, %y, %s {interleave = #tile.interleave<2 x (2 matrix, 1 load)>} …
    tile.barrier
    ```
    After:
    ```mlir
    %d = tile.dot %x, %y, %s …
    tile.schedule_group 2 matrix of 0
    tile.schedule_group 1 load of 0
    tile.schedule_group 2 matrix of 0
    tile.schedule_group 1 load of 0
    tile.barrier
    ```
    The test is `test/Schedule/realise-interleaving.mlir`.
  }];
}

def RealiseClusters : Schedule_Pass<"tile-realise-clusters"> {
  let summary = "bring a tile once for all programs of a cluster that load it, as `multicast` says";
  let description = [{
    Precondition: rings, slots, copies and stores by engines are realised; copies may have
    `multicast`, in a kernel with `tile.cluster`. Postcondition: each of these brings a part of its
    rows, which the program's place in the cluster says, and has a mask of the programs that it goes
    to. A slot that such a copy fills is given back to all programs that fill it, and its channel
    counts their arrivals; the bytes of a put are still those of the whole slot, whoever brings
    them. A `tile.cluster_barrier` stands in front of the roles, so that no program reaches a channel
    that is not made yet, and one behind them, so that none ends while others reach its own.

    A part's rows must be what the engine can bring as they lie in the buffer; if they are not that
    is an error at the load.

    Rings that dots of pairs of programs read, and their accumulators, become channels of pairs: a
    ring's slots go back to both programs, and to all whose copies reach either; those of an
    accumulator to both.

    Before:
    ```mlir
    tile.put %ring[%s, %p] bytes = 16384 : … {
    ^bb0(%x: !tile.buffer<128x64xbf16>):
      tile.copy_in %b[%n, %k], %x {atom = #nvptx.tma, multicast = ["x"]} : …
    }
    …
    tile.release %ring[%s] : …
    ```
    After, in clusters of two programs along x:
    ```mlir
    %place = arith.remui %program, %c2 : index
    …
    tile.put %ring[%s, %p] bytes = 16384 : … {
    ^bb0(%x: !tile.buffer<128x64xbf16>):
      %part = tile.part %x[%first, %c0] : … -> !tile.buffer<64x64xbf16>
      tile.copy_in %b[%row, %k], %part to %mask {atom = #nvptx.tma} : …
    }
    …
    tile.release %ring[%s] to %own, %other : …
    ```
    The tests are `test/Schedule/realise-clusters.mlir`, `realise-clusters-pairs.mlir` and
    `realise-clusters-invalid.mlir`.
  }];
}

def CountPuts : Schedule_Pass<"tile-count-puts"> {
  let summary = "say how many instructions of a warp the puts are that are waited for";
  let description = [{
    Precondition: roles' copies into rings of their own stand where they stay. Postcondition: each
    `tile.wait_puts` that leaves some under way has `tile.instructions`. In roles whose copies a chip
    counts by instructions under way it is how many a warp makes for each put of the role, at least: of
    puts of fewer and of more, that of fewest. So many times `in_flight` may be under way then. In all
    others it is 0. A number that is too large would let a slot be read before it
    is filled: `tile-check-protocol` refuses it.

    Before: `tile.wait_puts in_flight = 2`.
    After: `tile.wait_puts in_flight = 2 {tile.instructions = 4 : i64}`.
    The tests are `test/Schedule/count-puts.mlir` and `check-protocol-prepared-invalid.mlir`.
  }];
}

def OrderAccesses : Schedule_Pass<"tile-order-accesses"> {
  let summary = "let warps wait for one another between accesses to the same global memory";
  let description = [{
    Precondition: every tensor has a layout; roles, stages, copies and stores by engines are
    realised. Postcondition: in front of an access that may reach what another thread of the program,
    or of its role, has accessed, and of which one writes, stands a `tile.barrier global` since then:
    of all copies of the role, unless each is known to access memory of its own. A barrier that
    stands there anyway becomes `global`. Where an engine has written, a `tile.wait_stores written`
    stands in front of the barrier. Copies of a role with a skew catch up first.

    An atomic that releases comes behind what all threads have written, to whatever memory; what
    comes behind one that acquires, and whose result something uses, comes behind it in all threads.
    Other accesses meet unless both read, two arguments are known not to overlap, tiles lie apart, or each
    thread comes back to its own elements. In a loop those of earlier turns count, but not where
    turns are programs of a persistent kernel: `tile.programs` says so, and is gone then. Copies into
    rings come behind what their role has stored; what is read from a ring, its protocol orders.

    Roles that no channels join are not ordered: if one writes to an argument that another accesses,
    that is an error.

    Before:
    ```mlir
    %t = tile.load %x[%i] : !tile.view<?xf32> -> tensor<256xf32, #l>
    tile.store %t, %y[%i] : tensor<256xf32, #l>, !tile.view<?xf32>
    ```
    After:
    ```mlir
    %t = tile.load %x[%i] : !tile.view<?xf32> -> tensor<256xf32, #l>
    tile.barrier global
    tile.store %t, %y[%i] : tensor<256xf32, #l>, !tile.view<?xf32>
    ```
    The tests are `test/Schedule/order-accesses.mlir`, `order-accesses-roles.mlir` and
    `order-accesses-invalid.mlir`.
  }];
}

def CheckProtocol : Schedule_Pass<"tile-check-protocol"> {
  let summary = "prove that roles keep to their channels";
  let description = [{
    Precondition: a schedule is realised. Changes nothing; an error says at which op the roles of a
    kernel fall out of step, and on which small instance.

    - What stands still: bytes that a `tile.put` announces are those that its copies bring, arrivals
      are those of the warps that make them, registers fit the chip, what is pending has one use. If
      channels are made already, all of them are, and roles begin behind a fence and a barrier.
    - What moves: on instances from no trip to at least two rounds of each ring, each use of a channel
      has the slot and phase that it must have, nothing is read that was released or is not there
      yet, nothing is released or overwritten that a dot or a store in flight still reads, barriers
      stand between what warps write and what others read, and no role waits forever.
    - Numbers that nobody computes here, as what becomes of a tensor, are drawn by a name that follows from what
      they are made of, the same for who hands a number over and who reads it: roles go alike through
      loops and conditions that it tells, whichever way.
    - What the chip sees of it: a barrier tells a phase by its parity alone, so who waits for one knows
      that the phase before it has ended. What a role has not waited for itself, as it steps over uses
      of others, it is told through channels and barriers.
    - Of programs of a cluster that share tiles out: barriers of the cluster stand around their roles,
      and all of them, run against one another, fill rings equally often, get all bytes that they
      announce, and reach nobody who has not released the slot to them.
    - Of fences and barriers that publish: each has something to order on some instance.
    - Of buffers of the program, through which copies exchange what each has made: barriers of all
      copies stand between writing and reading. Of what lies at one place of shared memory, if that is
      planned: nobody needs any more what was there, and all have met since.

    The tests are `test/Schedule/check-protocol.mlir`, those beside it whose names begin so
    (`check-protocol-order-invalid.mlir` of accesses that nothing orders, and so on)
    and the mutants of `test/Schedule/mutants.test`.
  }];
}

#endif // KILN_SCHEDULE_SYNCHRONISATIONPASSES_TD
