// Memory as the dialect sees it, and the constraints its ops put on values.
#ifndef KILN_DIALECT_TILE_IR_TILETYPES_TD
#define KILN_DIALECT_TILE_IR_TILETYPES_TD

include "kiln/Dialect/Tile/IR/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"

class Tile_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Tile_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def Tile_ViewType : Tile_Type<"View", "view"> {
  let summary = "a strided array in global memory";
  let description = [{
    A base address, an extent for each dimension and a stride, in elements, for each
    dimension; what is not known when compiling is `?`. Without `strides` the last stride
    is 1 and the others are dynamic; a stride may be zero or negative. Elements narrower than
    a byte are packed, low bits first. Every element type but i1, tf32 and index has a form in
    memory: a boolean is kept as i8, a tf32 as f32: it is an f32 whose low 13 bits are zero,
    and what becomes one is rounded to the nearest such, ties to even. The rank is at most 8.

    ```mlir
    !tile.view<?x?xbf16>                  // strides [?, 1]
    !tile.view<128x?xf8E4M3FN, strides [1, ?]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        ArrayRefParameter<"int64_t">:$strides);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape,
                                        "::mlir::Type":$elementType)>,
  ];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    bool isDynamicDim(int64_t dim) const { return ::mlir::ShapedType::isDynamic(getShape()[dim]); }
    bool isDynamicStride(int64_t dim) const {
      return ::mlir::ShapedType::isDynamic(getStrides()[dim]);
    }
    /// How many extents, and how many strides, are only known at launch.
    int64_t getNumDynamicDims() const;
    int64_t getNumDynamicStrides() const;
    /// The strides a view has when none are written: [?, …, ?, 1].
    static ::llvm::SmallVector<int64_t> getDefaultStrides(int64_t rank);
  }];
}

def Tile_BufferType : Tile_Type<"Buffer", "buffer"> {
  let summary = "an array in the memory that one program's threads share";
  let description = [{
    Shape and element type, and the layout that orders the elements in memory once it is
    decided. Element types and rank are those of a view; there are 1 to 2^24 elements.

    A window is a part of a buffer whose elements lie between others of it: its layout is that of the
    whole, whose extents stand behind `of`. It begins where its first element lies. A dot in flight
    alone reads one (`tile.part`).

    ```mlir
    !tile.buffer<128x64xbf16>
    !tile.buffer<128x64xbf16, #layout>
    !tile.buffer<128x32xbf16 of 128x64, #layout>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        OptionalParameter<"::mlir::Attribute">:$layout,
                        OptionalArrayRefParameter<"int64_t">:$whole);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
                     "::mlir::Attribute":$layout), [{
      return $_get($_ctxt, shape, elementType, layout, ::llvm::ArrayRef<int64_t>());
    }]>,
  ];
  let extraClassDeclaration = [{
    bool isWindow() const { return !getWhole().empty(); }
    /// The extents that the layout orders.
    ::llvm::ArrayRef<int64_t> getOrderedShape() const {
      return isWindow() ? getWhole() : getShape();
    }
  }];
}

def Tile_PointerType : Tile_Type<"Pointer", "pointer"> {
  let summary = "a bare address in global memory";
  let description = [{
    What `tile.view_from_pointer` makes a view of; it promises nothing about alignment or
    extent.
  }];
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
  let genVerifyDecl = 1;
}

def Tile_ChannelType : Tile_Type<"Channel", "channel"> {
  let summary = "a ring of slots, each with one buffer of each type";
  let description = [{
    How many slots, at least 1, and the buffers of one slot; `own` if the role that reads them is the
    one that fills them. Or, in place of buffers, an accumulator in tensor memory; or nothing, if slots
    only say whose turn it is. See `tile.channel`.

    With `pair` programs 2 i and 2 i + 1 of a cluster use a slot together, and dots that both multiply
    read it. Each program puts its own part of the tiles; all bytes that the two bring count at the
    first program's barrier, and it alone announces them, gets the slot `to_start`, starts the dots and
    releases it by `commit`, to itself and the other. Slots of nothing the warps of both put, at the
    first program's barrier: dots that read what both have written start behind its get. An
    accumulator each of the two acquires and commits, at the barriers of both: their slots are full when
    both have, and empty when the warps of both have released them to both.

    ```mlir
    !tile.channel<4, !tile.buffer<128x64xbf16, #a>, !tile.buffer<256x64xbf16, #b>>
    !tile.channel<2, own, !tile.buffer<256x32xbf16>>
    !tile.channel<4, pair, !tile.buffer<128x64xbf16, #a>, !tile.buffer<128x64xbf16, #a>>
    !tile.channel<1, !tile.pending<tensor<128x256xf32, #sum>, tensor_memory>>
    !tile.channel<2>
    ```
  }];
  let parameters = (ins "int64_t":$depth, "bool":$own, "bool":$pair,
                        ArrayRefParameter<"::mlir::Type">:$buffers);
  let builders = [
    TypeBuilder<(ins "int64_t":$depth, "bool":$own, "::llvm::ArrayRef<::mlir::Type>":$buffers), [{
      return $_get($_ctxt, depth, own, /*pair=*/false, buffers);
    }]>,
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    BufferType getBuffer(unsigned index) const {
      return ::llvm::cast<BufferType>(getBuffers()[index]);
    }
    /// The same channel of pairs.
    ChannelType getOfPair() const {
      return get(getContext(), getDepth(), getOwn(), /*pair=*/true, getBuffers());
    }
    /// What each slot is if that is an accumulator in tensor memory; null if it has buffers.
    PendingType getAccumulator() const;
  }];
}

def Tile_PendingType : Tile_Type<"Pending", "pending"> {
  let summary = "a tensor that dots in flight are still making, or reading";
  let description = [{
    Only `tile.wait` and `tile.fetch` make it a tensor. It lies in registers, or in tensor memory, as
    the dots' atom has it; its layout is that of the registers that it is in, or is fetched to. What
    dots read as operand a in tensor memory is of that type, too; its layout is that of the registers
    from which it was written.

    ```mlir
    !tile.pending<tensor<64x256xf32, #acc>>
    !tile.pending<tensor<128x256xf32, #acc>, tensor_memory>
    ```
  }];
  let parameters = (ins "::mlir::RankedTensorType":$tensor, "bool":$inTensorMemory);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::RankedTensorType":$tensor,
                                        CArg<"bool", "false">:$inTensorMemory), [{
      return $_get(tensor.getContext(), tensor, inTensorMemory);
    }]>,
  ];
}

//===- Constraints --------------------------------------------------------------------------===//

// The element types and limits are those that `isElementType` and `isTileType` in Tile.h name.
def Tile_Element : Type<CPred<"::kiln::tile::isElementType($_self)">,
    "scalar (f64, f32, tf32, f16, bf16, an OCP f8, f6 or f4, i64, i32, i16, i8, i4, i2, i1 or "
    "index)">;
def Tile_Integer : Type<And<[Tile_Element.predicate,
                             CPred<"$_self.isSignlessIntOrIndex()">]>,
    "integer of 1, 2, 4, 8, 16, 32 or 64 bits or index">;
def Tile_Tensor : Type<CPred<"::kiln::tile::isTileType($_self)">,
    "tensor of rank at most 8, of 1 to 2^24 elements, of scalars", "::mlir::RankedTensorType">;
class Tile_TensorOf<Type element, string words> : Type<And<[
    Tile_Tensor.predicate,
    SubstLeaves<"$_self", "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()",
                element.predicate>]>,
    "tensor of rank at most 8, of 1 to 2^24 elements, of " # words, "::mlir::RankedTensorType">;
def Tile_BoolTensor : Tile_TensorOf<I1, "i1">;
def Tile_IndexTensor : Tile_TensorOf<AnyTypeOf<[I32, I64, Index]>, "i32, i64 or index">;
def Tile_TensorOrScalar : AnyTypeOf<[Tile_Tensor, Tile_Element]>;
def Tile_BoolTensorOrScalar : AnyTypeOf<[Tile_BoolTensor, I1]>;
def Tile_IndexTensorOrScalar : AnyTypeOf<[Tile_IndexTensor, Index]>;
def Tile_TensorOrBuffer : AnyTypeOf<[Tile_Tensor, Tile_BufferType]>;
def Tile_Buffer : Type<And<[Tile_BufferType.predicate,
                            CPred<"!::llvm::cast<::kiln::tile::BufferType>($_self).isWindow()">]>,
    "buffer that is no window", "::kiln::tile::BufferType">;

#endif // KILN_DIALECT_TILE_IR_TILETYPES_TD
