// Views, buffers and every access to memory.
#ifndef KILN_DIALECT_TILE_IR_TILEMEMORYOPS_TD
#define KILN_DIALECT_TILE_IR_TILEMEMORYOPS_TD

include "kiln/Dialect/Tile/IR/TileDialect.td"
include "kiln/Dialect/Tile/IR/TileEnums.td"
include "kiln/Dialect/Tile/IR/TileTypes.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_GlobalMemory : Resource<"::kiln::tile::GlobalMemory">;
def Tile_SharedMemory : Resource<"::kiln::tile::SharedMemory">;

//===- Views --------------------------------------------------------------------------------===//

def Tile_ViewFromPointerOp : Tile_Op<"view_from_pointer", [Pure, AttrSizedOperandSegments]> {
  let summary = "sees a bare address as a strided array";
  let description = [{
    One operand for each `?` of the view's extents, and one for each `?` of its strides, in
    order. The element types of the pointer and of the view must be the same.

    ```mlir
    %v = tile.view_from_pointer %p extents [%m, %n] strides [%ld]
       : !tile.pointer<f32> -> !tile.view<?x?xf32>
    ```
  }];
  let arguments = (ins Tile_PointerType:$pointer, Variadic<Index>:$extents,
                       Variadic<Index>:$strides);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = [{
    $pointer `extents` ` ` `[` $extents `]` `strides` ` ` `[` $strides `]` attr-dict
    `:` qualified(type($pointer)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_SubviewOp : Tile_Op<"subview", [Pure, AttrSizedOperandSegments]> {
  let summary = "sees elements of a view as a view of their own";
  let description = [{
    The base address moves by `offset` elements, which may be negative; extents and strides are the
    result's own, one operand for each `?`, in order. So slices, transposes, reshapes and views
    of fewer dimensions are all this op. It says what may be reached: an access beyond the result's
    extents is out of bounds, whatever the first view's extents are. Elements narrower than a
    byte must begin on one.

    ```mlir
    %t = tile.subview %x at %o extents [%n] strides [%ld]
       : !tile.view<?x?xf32> -> !tile.view<16x?xf32, strides [1, ?]>
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Index:$offset, Variadic<Index>:$extents,
                       Variadic<Index>:$strides);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = [{
    $view `at` $offset `extents` ` ` `[` $extents `]` `strides` ` ` `[` $strides `]` attr-dict
    `:` qualified(type($view)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_AddressOp : Tile_Op<"address", [Pure]> {
  let summary = "where a view or a pointer begins, in bytes";
  let description = [{
    A number, so it can be chosen and carried as numbers are; `tile.pointer_from_address` makes a
    pointer of it again.

    ```mlir
    %a = tile.address %x : !tile.view<?xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_ViewType, Tile_PointerType]>:$memory);
  let results = (outs Index:$result);
  let assemblyFormat = "$memory attr-dict `:` qualified(type($memory))";
  let hasFolder = 1;
}

def Tile_PointerFromAddressOp : Tile_Op<"pointer_from_address", [Pure]> {
  let summary = "a pointer to an address in bytes";
  let description = [{
    The address is that of global memory which the kernel may reach.

    ```mlir
    %p = tile.pointer_from_address %a : !tile.pointer<f32>
    ```
  }];
  let arguments = (ins Index:$address);
  let results = (outs Tile_PointerType:$result);
  let assemblyFormat = "$address attr-dict `:` qualified(type($result))";
}

class Tile_ViewQuery<string mnemonic, list<Trait> traits = []>
    : Tile_Op<mnemonic, !listconcat(traits, [Pure])> {
  let arguments = (ins Tile_ViewType:$view, I64Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$view `,` $dim attr-dict `:` qualified(type($view))";
  let hasFolder = 1;
  let hasVerifier = 1;
}
def Tile_DimOp : Tile_ViewQuery<"dim",
    [DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "the extent of a view along one dimension, in elements";
  let description = "```mlir\n%n = tile.dim %x, 0 : !tile.view<?xf32>\n```";
}
def Tile_StrideOp : Tile_ViewQuery<"stride"> {
  let summary = "the stride of a view along one dimension, in elements";
  let description = "```mlir\n%ld = tile.stride %x, 0 : !tile.view<?x?xf32>\n```";
}

//===- Tiles at an offset -------------------------------------------------------------------===//

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reads a tile at an offset of a view";
  let description = [{
    Element `[i, j]` of the result is element `[offset0 + i, offset1 + j]` of the view, or
    the padding value (all bits zero if none is given) where that lies outside the view on any side,
    below zero included; offset and index are added without wrapping. The result has the
    view's rank and element type. A padding of zero bits is the same as none. With `extents`
    the tile is smaller than the result: an element whose index is not below them is the padding
    value, as if it lay outside the view. `tile-split-shapes` writes them.

    A load sees what its program stored before it and nothing of what it stores after, also where
    arguments overlap. Roles are ordered by their channels alone.

    `atom` is the copy instruction that a pass or the author chose, `buffer` the type of the shared
    buffer that it copies into, and `stage`, `order` and `role` are when and by whom. `read_atom` is
    the instruction by which the tensor is then read from the buffer; without one each thread reads
    its own elements. Loads of one `ring` share its slots, wherever they stand, and it has `depth` of
    them; without a name a load's ring is that of its loop and role. Where there is an atom, `dropped`
    are the view's dimensions along which the tile has one element, and which the result has not.

    With `multicast` the programs of a cluster that differ along these axes alone load the same tile:
    each brings a part of its rows, and the engine writes it into the shared memory of all of them.

    ```mlir
    %t = tile.load %a[%m, %k] pad(%minus_inf : f32) cache = streaming
       : !tile.view<?x?xf32> -> tensor<64x32xf32>
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Index>:$offsets,
                       Optional<Tile_Element>:$padding,
                       OptionalAttr<Tile_CacheAttr>:$cache,
                       OptionalAttr<Tile_EvictionAttr>:$eviction,
                       OptionalAttr<DenseI64ArrayAttr>:$extents,
                       OptionalAttr<Tile_AtomIn>:$atom,
                       OptionalAttr<TypeAttrOf<Tile_BufferType>>:$buffer,
                       OptionalAttr<Tile_ReadAtom>:$read_atom,
                       OptionalAttr<I64Attr>:$stage, OptionalAttr<I64Attr>:$order,
                       OptionalAttr<StrAttr>:$role, OptionalAttr<StrAttr>:$ring,
                       OptionalAttr<I64Attr>:$depth,
                       OptionalAttr<StrArrayAttr>:$multicast,
                       OptionalAttr<DenseI64ArrayAttr>:$dropped);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $view `[` $offsets `]` (`extents` $extents^)? (`pad` `(` $padding^ `:` type($padding) `)`)?
    (`cache` `=` `` $cache^)? (`evict` `=` `` $eviction^)? attr-dict
    `:` qualified(type($view)) `->` type($result)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "writes a tile at an offset of a view";
  let description = [{
    The counterpart of `tile.load`: elements that lie outside the view, or not below `extents`,
    are dropped. Its decisions are those of `tile.load`; `buffer` is the type of one box of
    columns, and at most `in_flight` stores still read theirs when the next is filled.

    ```mlir
    tile.store %t, %c[%m, %n] : tensor<64x32xf32>, !tile.view<?x?xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$value, Tile_ViewType:$view, Variadic<Index>:$offsets,
                       OptionalAttr<Tile_CacheAttr>:$cache,
                       OptionalAttr<Tile_EvictionAttr>:$eviction,
                       OptionalAttr<DenseI64ArrayAttr>:$extents,
                       OptionalAttr<Tile_AtomOut>:$atom,
                       OptionalAttr<TypeAttrOf<Tile_BufferType>>:$buffer,
                       OptionalAttr<I64Attr>:$stage, OptionalAttr<I64Attr>:$order,
                       OptionalAttr<StrAttr>:$role, OptionalAttr<I64Attr>:$in_flight,
                       OptionalAttr<DenseI64ArrayAttr>:$dropped);
  let assemblyFormat = [{
    $value `,` $view `[` $offsets `]` (`extents` $extents^)? (`cache` `=` `` $cache^)?
    (`evict` `=` `` $eviction^)? attr-dict `:` type($value) `,` qualified(type($view))
  }];
  let hasVerifier = 1;
}

//===- Elements at computed indices ---------------------------------------------------------===//

def Tile_GatherOp : Tile_Op<"gather", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reads elements of a view at computed indices";
  let description = [{
    One index tensor for each dimension of the view, all of the result's shape. An element
    whose mask is false, or that lies outside the view on any side, is the padding value
    (all bits zero if none is given) and its memory is not touched.

    ```mlir
    %t = tile.gather %x[%rows, %cols] mask(%m : tensor<64xi1>) pad(%z : f32)
       : !tile.view<?x?xf32>, [tensor<64xi32>, tensor<64xi32>] -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Tile_IndexTensor>:$indices,
                       Optional<Tile_BoolTensor>:$mask, Optional<Tile_Element>:$padding,
                       OptionalAttr<Tile_CacheAttr>:$cache,
                       OptionalAttr<Tile_EvictionAttr>:$eviction);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $view `[` $indices `]` (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`pad` `(` $padding^ `:` type($padding) `)`)?
    (`cache` `=` `` $cache^)? (`evict` `=` `` $eviction^)? attr-dict
    `:` qualified(type($view)) (`,` `[` type($indices)^ `]`)? `->` type($result)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Tile_ScatterOp : Tile_Op<"scatter", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "writes elements of a view at computed indices";
  let description = [{
    The counterpart of `tile.gather`. Elements whose mask is false or that lie outside the
    view are dropped. Where two elements of one scatter have the same index, one of them is
    written; which one is not defined. Elements fill at least a byte: narrower ones share
    theirs with neighbours.

    ```mlir
    tile.scatter %t, %x[%rows] mask(%m : tensor<64xi1>)
       : tensor<64xf32>, !tile.view<?xf32>, [tensor<64xi32>]
    ```
  }];
  let arguments = (ins Tile_Tensor:$value, Tile_ViewType:$view,
                       Variadic<Tile_IndexTensor>:$indices, Optional<Tile_BoolTensor>:$mask,
                       OptionalAttr<Tile_CacheAttr>:$cache,
                       OptionalAttr<Tile_EvictionAttr>:$eviction);
  let assemblyFormat = [{
    $value `,` $view `[` $indices `]` (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`cache` `=` `` $cache^)? (`evict` `=` `` $eviction^)? attr-dict
    `:` type($value) `,` qualified(type($view)) (`,` `[` type($indices)^ `]`)?
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

//===- Atomics ------------------------------------------------------------------------------===//

def Tile_AtomicRMWOp : Tile_Op<"atomic_rmw", [AttrSizedOperandSegments,
    AllTypesMatch<["value", "result"]>, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "combines elements of a view with values, atomically, and yields the old ones";
  let description = [{
    On a scalar with `index` indices, or on a tensor with one index tensor a dimension; of
    f64, f32, f16, bf16, i64 or i32. Elements whose mask is false or that lie outside the
    view are left alone and yield zero. `minf` and `maxf` follow `arith.minnumf` and
    `arith.maxnumf`. Elements of one op that share an index are each applied once, in an order
    that is not defined.

    ```mlir
    %old = tile.atomic_rmw addf %x[%i], %v order = relaxed scope = device
         : !tile.view<?xf32>, [tensor<64xi32>], tensor<64xf32>
    ```
  }];
  // The value stands before the indices: TableGen infers the result's type from an operand's
  // position, which a variadic operand before it would shift.
  let arguments = (ins Tile_AtomicKindAttr:$kind, Tile_ViewType:$view, Tile_TensorOrScalar:$value,
                       Variadic<Tile_IndexTensorOrScalar>:$indices,
                       Optional<Tile_BoolTensorOrScalar>:$mask,
                       DefaultValuedAttr<Tile_MemoryOrderAttr, "MemoryOrder::AcqRel">:$order,
                       DefaultValuedAttr<Tile_MemoryScopeAttr, "MemoryScope::Device">:$scope);
  let results = (outs Tile_TensorOrScalar:$result);
  let assemblyFormat = [{
    `` $kind $view `[` $indices `]` `,` $value (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`order` `=` `` $order^)? (`scope` `=` `` $scope^)? attr-dict
    `:` qualified(type($view)) `,` (`[` type($indices)^ `]` `,`)? type($value)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Tile_AtomicCASOp : Tile_Op<"atomic_cas", [AttrSizedOperandSegments,
    AllTypesMatch<["compare", "value", "result"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "writes values where a view holds the expected ones, atomically; yields the old";
  let description = [{
    Compared by bits. Types, indices, masks, order and scope are those of `tile.atomic_rmw`.

    ```mlir
    %old = tile.atomic_cas %lock[%i], %zero, %one order = acquire
         : !tile.view<?xi32>, [index], i32
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Tile_TensorOrScalar:$compare,
                       Tile_TensorOrScalar:$value, Variadic<Tile_IndexTensorOrScalar>:$indices,
                       Optional<Tile_BoolTensorOrScalar>:$mask,
                       DefaultValuedAttr<Tile_MemoryOrderAttr, "MemoryOrder::AcqRel">:$order,
                       DefaultValuedAttr<Tile_MemoryScopeAttr, "MemoryScope::Device">:$scope);
  let results = (outs Tile_TensorOrScalar:$result);
  let assemblyFormat = [{
    $view `[` $indices `]` `,` $compare `,` $value (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`order` `=` `` $order^)? (`scope` `=` `` $scope^)? attr-dict
    `:` qualified(type($view)) `,` (`[` type($indices)^ `]` `,`)? type($value)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

//===- Buffers ------------------------------------------------------------------------------===//

def Tile_AllocOp : Tile_Op<"alloc"> {
  let summary = "memory that the threads of one program share";
  let description = [{
    Its contents are undefined until written. It lives until the program ends; in a loop it
    is the same memory each time.

    ```mlir
    %b = tile.alloc : !tile.buffer<128x64xbf16>
    ```
  }];
  let results = (outs Res<Tile_Buffer, "the memory",
                          [MemAlloc<Tile_SharedMemory>]>:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}

def Tile_ReadOp : Tile_Op<"read"> {
  let summary = "the contents of a buffer, as a tensor";
  let description = [{
    Sees every `tile.write` before it in program order. `atom` is the copy instruction that a
    pass or the author chose; without one each thread reads its own elements.

    With `extents` the tensor is larger than what is read: the elements whose indices are below
    them are those of the buffer, both in row-major order; the others are undefined. The buffer
    may then have another rank, and has no layout.

    With `at` the tensor is a part of the buffer: what lies from these offsets on, which are
    multiples of its extents, in whatever order the buffer has its elements.

    ```mlir
    %t = tile.read %b : !tile.buffer<128x64xbf16> -> tensor<128x64xbf16>
    %u = tile.read %c extents [3, 7] : !tile.buffer<21xf32> -> tensor<4x8xf32>
    %v = tile.read %b at [0, 16] : !tile.buffer<128x64xbf16> -> tensor<128x16xbf16>
    ```
  }];
  let arguments = (ins Arg<Tile_Buffer, "the memory", [MemRead<Tile_SharedMemory>]>:$buffer,
                       OptionalAttr<DenseI64ArrayAttr>:$extents, OptionalAttr<Tile_ReadAtom>:$atom,
                       OptionalAttr<DenseI64ArrayAttr>:$at);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $buffer (`extents` $extents^)? (`at` $at^)? attr-dict
    `:` qualified(type($buffer)) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$buffer,
                                 CArg<"::mlir::DenseI64ArrayAttr", "{}">:$extents,
                                 CArg<"::mlir::Attribute", "{}">:$atom), [{
    build($_builder, $_state, result, buffer, extents, atom, ::mlir::DenseI64ArrayAttr());
  }]>];
  let hasVerifier = 1;
}

def Tile_WriteOp : Tile_Op<"write"> {
  let summary = "replaces the contents of a buffer";
  let description = [{
    The counterpart of `tile.read`; with `extents`, only elements below them are written.

    ```mlir
    tile.write %t, %b : tensor<128x64xbf16>, !tile.buffer<128x64xbf16>
    ```
  }];
  let arguments = (ins Tile_Tensor:$value,
                       Arg<Tile_Buffer, "the memory", [MemWrite<Tile_SharedMemory>]>:$buffer,
                       OptionalAttr<DenseI64ArrayAttr>:$extents, OptionalAttr<Tile_WriteAtom>:$atom);
  let assemblyFormat = [{
    $value `,` $buffer (`extents` $extents^)? attr-dict
    `:` type($value) `,` qualified(type($buffer))
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$buffer), [{
    build($_builder, $_state, value, buffer, ::mlir::DenseI64ArrayAttr(), ::mlir::Attribute());
  }]>];
  let hasVerifier = 1;
}

#endif // KILN_DIALECT_TILE_IR_TILEMEMORYOPS_TD
