// Ops that exist once a schedule is realised: roles, channels, copies and dots in flight.
#ifndef KILN_DIALECT_TILE_IR_TILESCHEDULEOPS_TD
#define KILN_DIALECT_TILE_IR_TILESCHEDULEOPS_TD

include "kiln/Dialect/Tile/IR/TileDialect.td"
include "kiln/Dialect/Tile/IR/TileMemoryOps.td"
include "kiln/Dialect/Tile/IR/TileScheduleAttrs.td"
include "kiln/Dialect/Tile/IR/TileTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Of the programs of several threads that a schedule is realised by.
def Tile_OfSeveralThreads : NativeOpTrait<"OfSeveralThreads"> {
  let cppNamespace = "::kiln::tile";
}

class Tile_ScheduleOp<string mnemonic, list<Trait> traits = []>
    : Tile_Op<mnemonic, !listconcat(traits, [Tile_OfSeveralThreads])>;

// What synchronises reads and writes shared memory as far as upstream's passes can tell: they
// neither delete it nor move an access across it.
class Tile_SyncOp<string mnemonic, list<Trait> traits = []>
    : Tile_ScheduleOp<mnemonic, !listconcat(traits, [
        MemoryEffects<[MemRead<Tile_SharedMemory>, MemWrite<Tile_SharedMemory>]>])>;

//===- Roles --------------------------------------------------------------------------------===//

def Tile_WarpGroupsOp : Tile_ScheduleOp<"warp_groups", [IsolatedFromAbove, NoTerminator,
    RecursiveMemoryEffects]> {
  let summary = "the program, shared out among roles";
  let description = [{
    Each region is what one role runs; the roles' warps follow one another in their order and
    together are the kernel's. A role's `copies` all run its region, and `tile.copy_id` tells them
    apart. The operands are all that the regions see from outside; within a region they keep their
    names. In a region

    - a layout's `warp` counts the warps of one copy from zero;
    - `tile.alloc` is memory of each copy alone;
    - `tile.write` and `tile.read` wait for nobody: `tile.barrier` and channels order them.

    The op ends when all roles have. The form is written by hand so that roles head their regions
    and operands keep their names.

    ```mlir
    tile.warp_groups(%ring, %a : !tile.channel<4, !tile.buffer<64x64xf16>>, !tile.view<?x?xf16>) {
      role #tile.role<"load", warps = 4, registers = 40> {
        …
      }
      role #tile.role<"mma", warps = 4, copies = 2, registers = 232> {
        …
      }
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$captures, ArrayAttr:$roles);
  let regions = (region VariadicRegion<SizedRegion<1>>:$bodies);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    RoleAttr getRole(unsigned region) {
      return ::llvm::cast<RoleAttr>(getRoles()[region]);
    }
    /// The role that runs this op.
    static RoleAttr getRoleOf(::mlir::Operation *op);
  }];
}

def Tile_CopyIdOp : Tile_ScheduleOp<"copy_id", [Pure]> {
  let summary = "which copy of its role this is";
  let description = "From 0 to the role's `copies` - 1.\n```mlir\n%i = tile.copy_id\n```";
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

//===- Channels -----------------------------------------------------------------------------===//

def Tile_ChannelOp : Tile_ScheduleOp<"channel"> {
  let summary = "a ring of slots by which one role hands buffers to others";
  let description = [{
    Each of the type's `depth` slots holds one of each buffer, and is empty at first. `full` is how
    many arrivals announce that it was filled: one if copies that count bytes fill it, else one of
    each warp that writes it. `empty` is how many arrivals announce that it was released: one of
    each warp that gets it.

    Roles go round the ring: use `i` is of slot `i mod depth`, and its phase is
    `(i / depth) mod 2`, for those who put and for those who get. Everyone starts at slot 0 and
    phase 0, and `tile.advance` makes the next pair.

    With `own` in the type one role puts and gets alike: its own ring. Then nobody waits for anybody
    at a slot, and phases say nothing. Each copy waits for what it put itself with `tile.wait_puts`,
    barriers tell the others, and in between come `tile.get` and `tile.release`.

    Each slot may be an accumulator in tensor memory, which is the program's from the op on.
    A role fills one between `tile.acquire` and `tile.commit`; the same role or another one gets it,
    fetches it and releases it. Or it is an operand there: the role that starts the dots which read it
    acquires it, fills it, and releases it by `commit`. Nobody waits until such a slot is full, so
    `full` is 0.

    ```mlir
    %ring = tile.channel full = 1 empty = 8
          : !tile.channel<4, !tile.buffer<128x64xbf16, #a>, !tile.buffer<256x64xbf16, #b>>
    %sums = tile.channel full = 1 empty = 4
          : !tile.channel<1, !tile.pending<tensor<128x256xf32, #sum>, tensor_memory>>
    %weights = tile.channel full = 0 empty = 1
          : !tile.channel<1, !tile.pending<tensor<128x64xbf16, #rows>, tensor_memory>>
    ```
  }];
  let arguments = (ins I64Attr:$full, I64Attr:$empty);
  let results = (outs Res<Tile_ChannelType, "the slots",
                          [MemAlloc<Tile_SharedMemory>]>:$result);
  let assemblyFormat = [{
    `full` `=` $full `empty` `=` $empty attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_NextOp : Tile_SyncOp<"next"> {
  let summary = "the slot and phase of a role's next use of a channel";
  let description = [{
    Counts as the program runs: each time it runs it is one use further. It stands in front of the
    `tile.put` or `tile.get` that is this use, until `tile-realise-slots` makes slots and phases
    values that go from use to use. A ring that a role fills for itself it uses twice: with `fills`,
    where it puts, and without, where it gets.

    ```mlir
    %s, %p = tile.next %ring : !tile.channel<4, !tile.buffer<64x64xf16>>
    ```
  }];
  let arguments = (ins Tile_ChannelType:$channel, UnitAttr:$fills);
  let results = (outs I32:$slot, I32:$phase);
  let assemblyFormat = "(`fills` $fills^)? $channel attr-dict `:` qualified(type($channel))";
}

def Tile_AdvanceOp : Tile_ScheduleOp<"advance", [Pure]> {
  let summary = "the slot and phase of the next use of a channel";
  let description = [{
    Or, with `by`, of the use so many further on.

    ```mlir
    %s1, %p1 = tile.advance %s, %p of %ring : !tile.channel<4, !tile.buffer<64x64xf16>>
    ```
  }];
  let arguments = (ins I32:$slot, I32:$phase, Optional<Index>:$by, Tile_ChannelType:$channel);
  let results = (outs I32:$next_slot, I32:$next_phase);
  let assemblyFormat = [{
    $slot `,` $phase (`by` $by^)? `of` $channel attr-dict `:` qualified(type($channel))
  }];
}

def Tile_PutOp : Tile_SyncOp<"put", [SingleBlock, NoTerminator]> {
  let summary = "fills a slot of a channel";
  let description = [{
    Waits until the slot's use before this one was released by all, then runs the region, whose
    arguments are the slot's buffers. (Into its own ring a role puts without waiting: barriers stand
    between all releases and the put.) The slot is full once each warp of the role has ended the
    region and the copies in it have arrived. `bytes` is what those copies bring that count bytes;
    with such copies one thread runs the whole op, and only they may stand in the region.

    ```mlir
    tile.put %ring[%s, %p] bytes = 8192 : !tile.channel<4, !tile.buffer<64x64xf16, #b>> {
    ^bb0(%x: !tile.buffer<64x64xf16, #b>):
      tile.copy_in %a[%m, %k], %x {atom = #nvptx.tma}
        : !tile.view<?x?xf16>, !tile.buffer<64x64xf16, #b>
    }
    ```
  }];
  let arguments = (ins Tile_ChannelType:$channel, I32:$slot, I32:$phase, I64Attr:$bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $channel `[` $slot `,` $phase `]` `bytes` `=` $bytes attr-dict
    `:` qualified(type($channel)) $body
  }];
  let hasRegionVerifier = 1;
}

def Tile_GetOp : Tile_SyncOp<"get", [
    DeclareOpInterfaceMethods<InferTypeOpInterface, ["inferReturnTypes"]>]> {
  let summary = "the buffers of a slot, once it is full";
  let description = [{
    Waits. The buffers may be read until this role's `tile.release` of the slot. From its own ring
    a role gets without waiting: each copy has waited for its part with `tile.wait_puts`, and a
    barrier stands in between.

    With `to_start` the buffers are for dots that one thread of the role starts, which alone waits:
    that which runs the `tile.one_thread` around it, or, with `one_thread`, the copy's first.

    ```mlir
    %x = tile.get %ring[%s, %p] : !tile.channel<4, !tile.buffer<64x64xf16>>
    ```
  }];
  let arguments = (ins Tile_ChannelType:$channel, I32:$slot, I32:$phase, UnitAttr:$to_start,
                       UnitAttr:$one_thread);
  let results = (outs Variadic<AnyTypeOf<[Tile_Buffer, Tile_PendingType]>>:$buffers);
  let assemblyFormat = [{
    $channel `[` $slot `,` $phase `]` (`to_start` $to_start^)? (`one_thread` $one_thread^)?
    attr-dict `:` qualified(type($channel))
  }];
  let hasVerifier = 1;
}

def Tile_WaitPutsOp : Tile_SyncOp<"wait_puts"> {
  let summary = "waits until at most so many of a copy's own puts are under way";
  let description = [{
    Counts the `tile.put` of this copy of the role into rings of its own, oldest first, whichever
    ring they are into: what this copy brought with the others has arrived. What other copies
    brought, a barrier after their `tile.wait_puts` tells of.

    ```mlir
    tile.wait_puts in_flight = 2
    ```
  }];
  let arguments = (ins I64Attr:$in_flight);
  let assemblyFormat = "`in_flight` `=` $in_flight attr-dict";
  let hasVerifier = 1;
}

def Tile_ReleaseOp : Tile_SyncOp<"release"> {
  let summary = "gives a slot back, to be filled again";
  let description = [{
    Each warp of the role arrives once; of its own ring a barrier tells the others. Everything that
    read the slot's buffers must be done: reads before it, and dots that were waited for. One lane
    of a warp arrives: with `lanes` it meets the others first. That is needed where they read the
    slot into registers, and where they do nothing together behind the `tile.get`: a lane that looked
    only when the slot has been filled again would take that phase for the one before.

    With `commit` the slot is given back, by one arrival of each copy, once the dots have ended that
    the copy has started so far; nobody waits for them. So is an operand in tensor memory, by the role
    that has acquired it.

    With `peers` it is given back to all programs that fill it, by their numbers in the cluster.

    ```mlir
    tile.release %ring[%s] lanes : !tile.channel<4, !tile.buffer<64x64xf16>>
    tile.release %ring[%s] to %own, %other : !tile.channel<4, !tile.buffer<64x64xf16>>
    ```
  }];
  let arguments = (ins Tile_ChannelType:$channel, I32:$slot, UnitAttr:$lanes, UnitAttr:$commit,
                       Variadic<I32>:$peers);
  let assemblyFormat = [{
    $channel `[` $slot `]` (`lanes` $lanes^)? (`commit` $commit^)? (`to` $peers^)? attr-dict
    `:` qualified(type($channel))
  }];
  let hasVerifier = 1;
}

//===- Copies -------------------------------------------------------------------------------===//

def Tile_CopyInOp : Tile_ScheduleOp<"copy_in", [AttrSizedOperandSegments]> {
  let summary = "starts a copy of a view's tile into a buffer";
  let description = [{
    What `tile.load` at these offsets gives, without a padding value, replaces what the buffer
    holds. It stands in a `tile.put`, whose slot is full only once the copy is done. The buffer has
    not the dimensions that are `dropped`.

    With a mask the copy goes to the same place in the shared memory of each program of the cluster
    whose bit is set, and counts at its barrier: what `multicast` becomes, the axes of a `tile.load`.

    ```mlir
    tile.copy_in %a[%m, %k], %part to %mask {atom = #nvptx.tma} : !tile.view<?x?xf16>, !part
    ```
  }];
  let arguments = (ins Arg<Tile_ViewType, "the source", [MemRead<Tile_GlobalMemory>]>:$view,
                       Variadic<Index>:$offsets,
                       Arg<Tile_Buffer, "the destination", [MemWrite<Tile_SharedMemory>]>:$buffer,
                       Tile_AtomIn:$atom, OptionalAttr<Tile_CacheAttr>:$cache,
                       OptionalAttr<Tile_EvictionAttr>:$eviction,
                       OptionalAttr<DenseI64ArrayAttr>:$dropped,
                       OptionalAttr<StrArrayAttr>:$multicast, Optional<I32>:$mask);
  let assemblyFormat = [{
    $view `[` $offsets `]` `,` $buffer (`to` $mask^)? (`cache` `=` `` $cache^)?
    (`evict` `=` `` $eviction^)?
    attr-dict `:` qualified(type($view)) `,` qualified(type($buffer))
  }];
  let hasVerifier = 1;
}

def Tile_CopyOutOp : Tile_ScheduleOp<"copy_out"> {
  let summary = "starts a copy of a buffer into a view";
  let description = [{
    What `tile.store` of the buffer's contents at these offsets does, later: the buffer must not
    change until a `tile.wait_stores` has waited for the copy. The warps of the copy of the role
    start it together; what any of them wrote into the buffer must have been published by a
    `tile.barrier publish`.

    ```mlir
    tile.copy_out %x, %c[%m, %n] {atom = #nvptx.tma}
      : !tile.buffer<64x64xbf16, #b>, !tile.view<?x?xbf16>
    ```
  }];
  let arguments = (ins Arg<Tile_Buffer, "the source", [MemRead<Tile_SharedMemory>]>:$buffer,
                       Arg<Tile_ViewType, "the destination", [MemWrite<Tile_GlobalMemory>]>:$view,
                       Variadic<Index>:$offsets, Tile_AtomOut:$atom,
                       OptionalAttr<Tile_CacheAttr>:$cache,
                       OptionalAttr<Tile_EvictionAttr>:$eviction,
                       OptionalAttr<DenseI64ArrayAttr>:$dropped);
  let assemblyFormat = [{
    $buffer `,` $view `[` $offsets `]` (`cache` `=` `` $cache^)? (`evict` `=` `` $eviction^)?
    attr-dict `:` qualified(type($buffer)) `,` qualified(type($view))
  }];
  let hasVerifier = 1;
}

def Tile_WaitStoresOp : Tile_SyncOp<"wait_stores"> {
  let summary = "waits until at most so many of a copy's stores still read their buffers";
  let description = [{
    Counts the `tile.copy_out` of this copy of the role, oldest first. Only the warp that starts
    them waits: a `tile.barrier` tells the others. With `written` it waits until what the other
    stores write is in the view.

    ```mlir
    tile.wait_stores in_flight = 1
    tile.wait_stores in_flight = 0 written
    ```
  }];
  let arguments = (ins I64Attr:$in_flight, UnitAttr:$written);
  let assemblyFormat = "`in_flight` `=` $in_flight (`written` $written^)? attr-dict";
  let hasVerifier = 1;
}

def Tile_PartOp : Tile_ScheduleOp<"part", [Pure]> {
  let summary = "a part of a buffer, or of an accumulator in tensor memory";
  let description = [{
    The part begins at these offsets, which are multiples of its extents. Its layout is that of
    the whole, as far as it reaches; if others of the whole lie between its elements, it is a window,
    which a dot in flight alone reads. Of an accumulator it is some of the columns, in all rows: of its
    own elements, or, for a `tile.fill` that writes over a sum, of the operand's.

    ```mlir
    %half = tile.part %x[%row, %c0]
          : !tile.buffer<128x64xbf16, #a> -> !tile.buffer<64x64xbf16, #half>
    %window = tile.part %x[%c0, %c32]
            : !tile.buffer<128x64xbf16, #a> -> !tile.buffer<128x32xbf16 of 128x64, #a>
    %columns = tile.part %sum[%c0, %c64]
          : !tile.pending<tensor<128x256xf32, #sum>, tensor_memory>
            -> !tile.pending<tensor<128x64xf32, #some>, tensor_memory>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_Buffer, Tile_PendingType]>:$buffer,
                       Variadic<Index>:$offsets);
  let results = (outs AnyTypeOf<[Tile_BufferType, Tile_PendingType]>:$result);
  let assemblyFormat = [{
    $buffer `[` $offsets `]` attr-dict
    `:` qualified(type($buffer)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

//===- Dots in flight -----------------------------------------------------------------------===//

def Tile_PendOp : Tile_ScheduleOp<"pend", [Pure, TypesMatchWith<"the result is the pending tensor",
    "result", "tensor", "::llvm::cast<PendingType>($_self).getTensor()">]> {
  let summary = "a tensor, as the accumulator of dots to come";
  let description = [{
    Nothing is in flight yet. Of an accumulator in tensor memory, `tile-realise-accumulators` makes
    a `tile.fill` of it.

    ```mlir
    %p = tile.pend %t : !tile.pending<tensor<64x256xf32, #acc>>
    ```
  }];
  let arguments = (ins Tile_Tensor:$tensor);
  let results = (outs Tile_PendingType:$result);
  let assemblyFormat = "$tensor attr-dict `:` qualified(type($result))";
}

def Tile_StartDotOp : Tile_SyncOp<"start_dot", [AttrSizedOperandSegments,
    AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "starts a `tile.dot`, whose result is pending";
  let description = [{
    Operands mean what they mean to `tile.dot`. Buffers are read until a `tile.wait` has waited
    for this dot. If `accumulates` is given and false, the accumulator counts as zero and is not
    read. Dots of one role end in the order in which they started. Those whose accumulator lies in
    tensor memory one thread starts: that which runs the `tile.one_thread` around it, or, with
    `one_thread`, the copy's first. They may read a from there, where a `tile.fill` has written it,
    and read scales from there alone.

    ```mlir
    %q = tile.start_dot %x, %y, %p when %more transpose_b {atom = #nvptx.wgmma<"m64n256k16", f16, f32>}
       : !tile.buffer<64x64xf16, #a>, !tile.buffer<256x64xf16, #b>
         -> !tile.pending<tensor<64x256xf32, #acc>>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_Tensor, Tile_BufferType, Tile_PendingType]>:$a,
                       Tile_TensorOrBuffer:$b, Tile_PendingType:$accumulator, Optional<I1>:$accumulates,
                       Variadic<AnyTypeOf<[Tile_Tensor, Tile_PendingType]>>:$scales,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b,
                       UnitAttr:$unsigned_a, UnitAttr:$unsigned_b,
                       DefaultValuedAttr<Tile_DotPrecisionAttr,
                                         "DotPrecision::IEEE">:$precision,
                       Tile_MmaAtom:$atom, UnitAttr:$one_thread);
  let results = (outs Tile_PendingType:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $accumulator (`scales` `(` $scales^ `)`)? (`when` $accumulates^)?
    (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)? (`unsigned_a` $unsigned_a^)?
    (`unsigned_b` $unsigned_b^)? (`precision` `=` `` $precision^)? (`one_thread` $one_thread^)?
    attr-dict `:` type($a) `,` type($b) (`scales` `(` qualified(type($scales))^ `)`)?
    `->` qualified(type($accumulator))
  }];
  let hasVerifier = 1;
}

def Tile_WaitOp : Tile_SyncOp<"wait"> {
  let summary = "waits until at most so many dots are in flight";
  let description = [{
    Counts the `tile.start_dot` of this copy of the role, oldest first. The result is the operand.
    It may be a tensor if the operand's dot is among those waited for; while it is pending, later
    dots may still accumulate into it. Whatever follows uses the result, so that nothing that reads
    the accumulator moves in front of the wait.

    Of an accumulator in tensor memory, `tile-realise-accumulators` makes a `tile.commit`, a
    `tile.get` and a `tile.fetch` of it.

    ```mlir
    %q = tile.wait %p in_flight = 1
       : !tile.pending<tensor<64x256xf32>> -> !tile.pending<tensor<64x256xf32>>
    %t = tile.wait %q in_flight = 0 : !tile.pending<tensor<64x256xf32>> -> tensor<64x256xf32>
    ```
  }];
  let arguments = (ins Tile_PendingType:$pending, I64Attr:$in_flight);
  let results = (outs AnyTypeOf<[Tile_Tensor, Tile_PendingType]>:$result);
  let assemblyFormat = [{
    $pending `in_flight` `=` $in_flight attr-dict
    `:` qualified(type($pending)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

#endif // KILN_DIALECT_TILE_IR_TILESCHEDULEOPS_TD
