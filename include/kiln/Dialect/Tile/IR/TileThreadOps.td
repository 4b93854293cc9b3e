// Ops that say which threads run what, and what must stay in front of what: a lowering decides
// neither.
#ifndef KILN_DIALECT_TILE_IR_TILETHREADOPS_TD
#define KILN_DIALECT_TILE_IR_TILETHREADOPS_TD

include "kiln/Dialect/Tile/IR/TileScheduleOps.td"

def Tile_OneThreadOp : Tile_ScheduleOp<"one_thread", [SingleBlock, NoTerminator,
    RecursiveMemoryEffects]> {
  let summary = "what one thread of a copy of a role, or of the program, runs, or one of each warp";
  let description = [{
    The first thread of the copy runs the region, or, outside of roles, that of the program; with
    `each_warp` the first lane of each warp does. The others go on at once: they learn at barriers and
    channels what it did. What each thread would do for itself happens once: one copy is started, one
    arrival made. Where others go on with what an op gives, the place of a slot, it stands outside and
    says itself that one thread does it (`tile.get ... to_start one_thread`).

    ```mlir
    tile.one_thread {
      tile.put %ring[%s, %p] bytes = 8192 : … { … }
    }
    tile.one_thread each_warp {
      tile.release %ring[%s] : …
    }
    ```
  }];
  let arguments = (ins UnitAttr:$each_warp);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`each_warp` $each_warp^)? attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether an op is in such a region, of one thread of its copy alone (`each_warp` does not
    /// count).
    static bool encloses(::mlir::Operation *op);
  }];
}

def Tile_BarrierOp : Tile_SyncOp<"barrier"> {
  let summary = "the warps of a copy, of its role, or of the program wait for one another";
  let description = [{
    What they wrote to shared memory before it, all of them see after it. With `publish` the
    engines that make copies see it too. With `all_copies` the warps of all copies of the role
    meet; in a kernel without roles all warps do. With `global` it stands between their accesses to
    global memory as well, which need not wait for one another otherwise. With `bare` warps meet and
    no more: for accesses that must be done by then, each has waited with `tile.wait_shared` or
    `tile.wait_puts`.

    ```mlir
    tile.barrier publish
    tile.barrier global all_copies
    ```
  }];
  let arguments = (ins UnitAttr:$publish, UnitAttr:$all_copies, UnitAttr:$global, UnitAttr:$bare);
  let assemblyFormat = [{
    (`bare` $bare^)? (`publish` $publish^)? (`global` $global^)? (`all_copies` $all_copies^)?
    attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_FenceOp : Tile_SyncOp<"fence"> {
  let summary = "orders accesses by different proxies";
  let description = [{
    Accesses to tensor memory, and those of engines to shared memory, go by proxies of their own, which
    barriers and arrivals do not order:

    - `tensor_before`: what the thread did in tensor memory lies before what is done there by threads
      that it tells of it next, by an arrival or a barrier;
    - `tensor_after`: what the thread does there from here on lies behind what it was told of;
    - `shared`: what threads wrote to shared memory, and told this one of, is seen by engines that this
      thread starts from here on. It stands with the reader where the writer cannot fence, since its
      copies land later;
    - `barriers`: the barriers of channels that the thread has made (`tile.init`) are there for engines,
      for the threads that it tells of it next, and for other programs of a cluster.

    What warps write themselves, `tile.barrier publish` shows to engines.

    ```mlir
    tile.fence tensor_after
    %t = tile.fetch %q …
    tile.fence tensor_before
    tile.release %sums[%s] lanes …
    ```
  }];
  let arguments = (ins Tile_FenceKindAttr:$kind);
  let assemblyFormat = "$kind attr-dict";
}

def Tile_ScheduleBarrierOp : Tile_SyncOp<"schedule_barrier"> {
  let summary = "nothing is moved across it";
  let description = [{
    No instruction, and no thread waits. What stands in front of it stays in front of what stands
    behind it, whatever a code generator or an assembler would rather do: so what is computed beside
    dots in flight is computed before they are waited for.

    ```mlir
    tile.schedule_barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_PriorityOp : Tile_SyncOp<"priority"> {
  let summary = "warps of a higher priority issue first";
  let description = [{
    From here on the warps that run it have this priority, from 0, which all have at first, to 3.
    Chips without priorities refuse it.

    ```mlir
    tile.priority 1
    ```
  }];
  let arguments = (ins I64Attr:$level);
  let assemblyFormat = "$level attr-dict";
  let hasVerifier = 1;
}

def Tile_WaitSharedOp : Tile_SyncOp<"wait_shared"> {
  let summary = "waits until a warp's own accesses to shared memory are done";
  let description = [{
    A barrier with `bare`, which follows, then tells the others so. Copies into shared memory that are
    under way are not waited for: `tile.wait_puts` does that.

    ```mlir
    tile.wait_shared
    tile.barrier bare all_copies
    ```
  }];
  let assemblyFormat = "attr-dict";
}

//===- What roles find ----------------------------------------------------------------------===//

def Tile_PrefetchOp : Tile_SyncOp<"prefetch"> {
  let summary = "asks for the map by which an engine copies, before a copy does";
  let description = [{
    Where a view's elements are, an engine reads in a map that the launch has made, and the first who
    asks for it waits for memory. The map is that of copies by this atom between the view, which is an
    argument of the kernel, perhaps with its dimensions in another order, and buffers of this type,
    which have not the dimensions that are `dropped`.

    ```mlir
    tile.prefetch %a for !tile.buffer<64x64xf16, #rows> {atom = #nvptx.tma} : !tile.view<?x?xf16>
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, TypeAttrOf<Tile_BufferType>:$buffer, Tile_EngineAtom:$atom,
                       OptionalAttr<DenseI64ArrayAttr>:$dropped);
  let assemblyFormat = "$view `for` $buffer attr-dict `:` qualified(type($view))";
}

def Tile_InitOp : Tile_SyncOp<"init"> {
  let summary = "makes the barriers of a channel";
  let description = [{
    Each slot gets one of the channel's `full` arrivals and one of its `empty`; where roles end their
    dots (`tile.end_dots`), one more tells them. The thread that makes
    them lets others see them by a `tile.fence barriers` and a barrier of the program, before roles
    begin. At slots of a role's own ring nobody waits, so it has none.

    ```mlir
    tile.one_thread {
      tile.init %ring : !tile.channel<4, !tile.buffer<64x64xf16>>
      tile.fence barriers
    }
    tile.barrier
    ```
  }];
  let arguments = (ins Tile_ChannelType:$channel);
  let assemblyFormat = "$channel attr-dict `:` qualified(type($channel))";
  let hasVerifier = 1;
}

def Tile_AllocTensorOp : Tile_SyncOp<"alloc_tensor"> {
  let summary = "sets tensor memory aside for the accumulators of channels";
  let description = [{
    The first warp of the program does: one piece for all channels, which lie in it side by side in
    their order here. It writes to shared memory where the piece is. Who uses the accumulators
    learns it behind a barrier, with a `tile.fence tensor_before` in front of it and a
    `tile.fence tensor_after` behind it.

    ```mlir
    tile.alloc_tensor %sums
      : !tile.channel<1, !tile.pending<tensor<128x256xf32, #sum>, tensor_memory>>
    ```
  }];
  let arguments = (ins Variadic<Tile_ChannelType>:$channels);
  let assemblyFormat = "$channels attr-dict `:` qualified(type($channels))";
  let hasVerifier = 1;
}

def Tile_FreeTensorOp : Tile_SyncOp<"free_tensor"> {
  let summary = "gives back what `tile.alloc_tensor` has set aside";
  let description = [{
    The first warp of the program does, once all that used it have come to a barrier. The channels
    are those of the `tile.alloc_tensor`.

    ```mlir
    tile.free_tensor %sums
      : !tile.channel<1, !tile.pending<tensor<128x256xf32, #sum>, tensor_memory>>
    ```
  }];
  let arguments = (ins Variadic<Tile_ChannelType>:$channels);
  let assemblyFormat = "$channels attr-dict `:` qualified(type($channels))";
  let hasVerifier = 1;
}

def Tile_EndDotsOp : Tile_SyncOp<"end_dots"> {
  let summary = "waits until the dots that a role's thread has started into tensor memory are over";
  let description = [{
    Dots that commit tell barriers of slots that they are over (`tile.release ... commit`), even where
    nobody waits for the slot any more; a program must not have ended by then. The channel is one of
    the role's sums, and has a barrier for it.

    ```mlir
    tile.one_thread {
      tile.end_dots %sums
        : !tile.channel<1, !tile.pending<tensor<128x256xf32, #sum>, tensor_memory>>
    }
    ```
  }];
  let arguments = (ins Tile_ChannelType:$channel);
  let assemblyFormat = "$channel attr-dict `:` qualified(type($channel))";
  let hasVerifier = 1;
}

//===- Clusters -----------------------------------------------------------------------------===//

def Tile_ClusterBarrierOp : Tile_SyncOp<"cluster_barrier"> {
  let summary = "all warps of all programs of the cluster wait for one another";
  let description = [{
    What they did to their shared memory before it, all of them find done after it: channels that are
    made before it can be released and filled by others, and who has come to it at the end is
    reached by nobody any more. It stands in the kernel's body, outside of roles.

    ```mlir
    tile.cluster_barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

//===- Launches -----------------------------------------------------------------------------===//

def Tile_LaunchDependentsOp : Tile_SyncOp<"launch_dependents"> {
  let summary = "what follows on the stream may begin";
  let description = [{
    The next launch on the stream, if its kernel waits for those before it (`tile.overlap`), begins
    once all programs have come here or ended. To tell it again does nothing. In a kernel
    with roles the first role that comes here tells it; with a `role`, that one.

    ```mlir
    tile.launch_dependents
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_WaitDependenciesOp : Tile_SyncOp<"wait_dependencies"> {
  let summary = "waits until what precedes on the stream has ended";
  let description = [{
    What those launches wrote can be read, and what they read can be written, from here on. In a
    kernel with roles each role waits.

    ```mlir
    tile.wait_dependencies
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // KILN_DIALECT_TILE_IR_TILETHREADOPS_TD
