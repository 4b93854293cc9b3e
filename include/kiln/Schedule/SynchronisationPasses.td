// The passes that come last in the stage `schedule`: who runs what, what waits for what, what stays in
// front of what. After them the lowering decides none of these.
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

def RealiseFences : Schedule_Pass<"tile-realise-fences"> {
  let summary = "put fences where warps and engines meet in memory";
  let description = [{
    Precondition: channels have slots and phases. Postcondition:

    - a `tile.put` that warps write ends with a barrier of the copy, which with `publish` tells engines
      of what was written: if an engine copies from the slot, or a dot in flight reads it;
    - accesses to tensor memory stand behind a `tile.fence tensor_after` where the thread was told that
      it may, and a `tile.fence tensor_before` stands between them and where it tells others.

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
  let summary = "keep what runs beside dots in flight in front of the waits for them";
  let description = [{
    Precondition: dots in flight are starts and waits. Postcondition: where tensors are computed
    between a dot, or a wait, and the wait that follows, a `tile.schedule_barrier` stands in front of
    that wait: assemblers would else wait first, since nothing computed there needs the wait to come
    later. In roles of several copies with a skew, on chips with priorities, the warps that multiply
    have priority 1.

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
    without roles a `tile.barrier` stands between accesses to the same bytes of which one writes.

    In a role, channels and barriers order accesses already. Where the chip's barrier waits for no
    access, and the code generator's waits would end copies that are to stay under way, the barrier is
    `bare`, and a `tile.wait_shared` stands where the warp's own accesses must be done: in front of
    barriers between reads and writes, and where a slot of the role's own ring is released or written.

    Before:
    ```mlir
    tile.write %t, %b
    %u = tile.read %b
    ```
    After:
    ```mlir
    tile.barrier
    tile.write %t, %b
    tile.barrier
    %u = tile.read %b
    ```
    The tests are `test/Schedule/order-shared.mlir` and `order-shared-roles.mlir`.
  }];
}

def RealiseThreads : Schedule_Pass<"tile-realise-threads"> {
  let summary = "give what one thread does for all a region of its own";
  let description = [{
    Precondition: a schedule is realised. Postcondition: in each role what starts an engine, or tells of
    its end, and what arrives at a barrier in shared memory stands in a `tile.one_thread`: puts of
    copies that count bytes, copies out and the waits for them, commits; and, for each warp, releases.
    Ops that follow one another share a region. A role of which one thread can do all is one region.

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

#endif // KILN_SCHEDULE_SYNCHRONISATIONPASSES_TD
