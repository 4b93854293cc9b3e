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
    is 1 and the others are dynamic. Elements narrower than a byte are packed, low bits
    first.

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
    decided.

    ```mlir
    !tile.buffer<128x64xbf16>
    !tile.buffer<128x64xbf16, #layout>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        OptionalParameter<"::mlir::Attribute">:$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_PointerType : Tile_Type<"Pointer", "pointer"> {
  let summary = "a bare address in global memory";
  let description = [{
    What `tile.view_from_pointer` makes a view of; it promises nothing about alignment or
    extent.
  }];
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}

//===- Constraints --------------------------------------------------------------------------===//

def Tile_Element : AnyTypeOf<[AnyFloat, AnySignlessInteger, Index],
                             "float, signless integer or index">;
def Tile_Tensor : Type<And<[
    CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">,
    CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).hasStaticShape()">,
    SubstLeaves<"$_self", "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()",
                Tile_Element.predicate>]>,
    "tensor of static shape of float, signless integer or index", "::mlir::RankedTensorType">;
class Tile_TensorOf<Type element, string words> : Type<And<[
    Tile_Tensor.predicate,
    SubstLeaves<"$_self", "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()",
                element.predicate>]>,
    "tensor of static shape of " # words, "::mlir::RankedTensorType">;
def Tile_BoolTensor : Tile_TensorOf<I1, "i1">;
def Tile_IndexTensor : Tile_TensorOf<AnyTypeOf<[I32, I64, Index]>, "i32, i64 or index">;
def Tile_TensorOrScalar : AnyTypeOf<[Tile_Tensor, Tile_Element]>;
def Tile_BoolTensorOrScalar : AnyTypeOf<[Tile_BoolTensor, I1]>;
def Tile_IndexTensorOrScalar : AnyTypeOf<[Tile_IndexTensor, Index]>;
def Tile_TensorOrBuffer : AnyTypeOf<[Tile_Tensor, Tile_BufferType]>;

#endif // KILN_DIALECT_TILE_IR_TILETYPES_TD
