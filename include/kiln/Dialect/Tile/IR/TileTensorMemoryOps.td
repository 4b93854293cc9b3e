// Ops of what lies in tensor memory: sums of dots, and operands that warps have written there.
#ifndef KILN_DIALECT_TILE_IR_TILETENSORMEMORYOPS_TD
#define KILN_DIALECT_TILE_IR_TILETENSORMEMORYOPS_TD

include "kiln/Dialect/Tile/IR/TileScheduleOps.td"

// What a channel has in each slot, if that is an accumulator.
class Tile_AccumulatorOf<string operand>
    : TypesMatchWith<"the accumulator is what the channel's slots are", "channel", operand,
                     "Type(::llvm::cast<ChannelType>($_self).getAccumulator())">;

def Tile_AcquireOp : Tile_SyncOp<"acquire", [Tile_AccumulatorOf<"accumulator">]> {
  let summary = "what a slot is in tensor memory, once it is empty";
  let description = [{
    The thread that starts the role's dots waits until the slot's use before this one was released
    by all: that of the `tile.one_thread` around it, or, with `one_thread`, the copy's first. All
    learn where the accumulator, or the operand, is. It holds nothing: unless a `tile.fill` comes
    first, no dot may read it.

    ```mlir
    %p = tile.acquire %sums[%s, %ph]
       : !tile.channel<1, !tile.pending<tensor<128x256xf32, #sum>, tensor_memory>>
    ```
  }];
  let arguments = (ins Tile_ChannelType:$channel, I32:$slot, I32:$phase, UnitAttr:$one_thread);
  let results = (outs Tile_PendingType:$accumulator);
  let assemblyFormat = [{
    $channel `[` $slot `,` $phase `]` (`one_thread` $one_thread^)? attr-dict
    `:` qualified(type($channel))
  }];
  let hasVerifier = 1;
}

def Tile_FillOp : Tile_SyncOp<"fill", [AllTypesMatch<["accumulator", "result"]>,
    TypesMatchWith<"the tensor is the accumulator's", "accumulator", "tensor",
                   "::llvm::cast<PendingType>($_self).getTensor()">]> {
  let summary = "a tensor, written into tensor memory";
  let description = [{
    The warps of the copy meet, write the tensor into what the copy has acquired, and meet again. The
    result is the accumulator, which dots may add to; or the operand, which dots may read as a. Into a
    `tile.part` of a sum that the copy got and fetched each warp writes the rows that it has fetched,
    without a meeting in front; the sum's slot is released by `commit` behind the dots then.

    ```mlir
    %q = tile.fill %t into %p {atom = #nvptx.tcgen05<"m128n256k16", bf16, f32>}
       : !tile.pending<tensor<128x256xf32, #sum>, tensor_memory>
    %x = tile.fill %weights into %w {atom = #nvptx.tcgen05<"m128n256k16", bf16, f32>}
       : !tile.pending<tensor<128x64xbf16, #rows>, tensor_memory>
    ```
  }];
  let arguments = (ins Tile_Tensor:$tensor, Tile_PendingType:$accumulator, Tile_MmaAtom:$atom);
  let results = (outs Tile_PendingType:$result);
  let assemblyFormat = "$tensor `into` $accumulator attr-dict `:` qualified(type($accumulator))";
  let hasVerifier = 1;
}

def Tile_CommitOp : Tile_SyncOp<"commit", [Tile_AccumulatorOf<"accumulator">]> {
  let summary = "a slot is full once the dots into its accumulator have ended";
  let description = [{
    The operand is what the last dot into the accumulator gave, or what filled it. Nobody waits here:
    the slot is full when all dots that this copy of the role has started so far have ended.

    ```mlir
    tile.commit %q into %sums[%s]
      : !tile.channel<1, !tile.pending<tensor<128x256xf32, #sum>, tensor_memory>>
    ```
  }];
  let arguments = (ins Tile_PendingType:$accumulator, Tile_ChannelType:$channel, I32:$slot);
  let assemblyFormat = [{
    $accumulator `into` $channel `[` $slot `]` attr-dict `:` qualified(type($channel))
  }];
}

def Tile_FetchOp : Tile_SyncOp<"fetch", [TypesMatchWith<"the result is the pending tensor",
    "pending", "result", "::llvm::cast<PendingType>($_self).getTensor()">]> {
  let summary = "an accumulator in tensor memory, as a tensor in registers";
  let description = [{
    The operand is of a slot that this role got and has not released, or part of it. All warps of
    the copy fetch together, by the atom of the dots that made it.

    ```mlir
    %t = tile.fetch %p {atom = #nvptx.tcgen05<"m128n256k16", bf16, f32>}
       : !tile.pending<tensor<128x256xf32, #sum>, tensor_memory>
    ```
  }];
  let arguments = (ins Tile_PendingType:$pending, Tile_MmaAtom:$atom);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$pending attr-dict `:` qualified(type($pending))";
  let hasVerifier = 1;
}

#endif // KILN_DIALECT_TILE_IR_TILETENSORMEMORYOPS_TD
