// Memory behind descriptors that know its size, for targets that have them.
#ifndef KILN_TARGET_COMMON_BOUNDEDMEMORY_TD
#define KILN_TARGET_COMMON_BOUNDEDMEMORY_TD

include "mlir/IR/OpBase.td"

def BoundedMemoryInterface : AttrInterface<"BoundedMemoryInterface"> {
  let cppNamespace = "::kiln";
  let description = [{
    A target whose hardware checks the bounds of global memory: what lies at or beyond a
    descriptor's number of bytes reads as zero and is not written. A target's attribute
    implements it besides its own interface; the lowering to threads then needs neither branches
    nor addresses chosen by comparison where the hardware's check is enough.

    An access is at the descriptor's base, plus `offset`, which every thread has its own of and
    which is what the hardware checks, plus `uniform`, the same in all threads and not checked;
    both are unsigned and of 32 bits.
  }];
  let methods = [
    InterfaceMethod<"The descriptor of so many bytes (i64, below 2^32) from a pointer on.",
                    "::mlir::Value", "makeBuffer",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Value":$pointer,
             "::mlir::Value":$bytes)>,
    InterfaceMethod<[{
      An integer, or a vector of words, from memory: 1, 2, 4, 8 or 16 bytes.
    }], "::mlir::Value", "loadFromBuffer",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Type":$type,
             "::mlir::Value":$buffer, "::mlir::Value":$offset, "::mlir::Value":$uniform,
             "::kiln::CacheHints":$hints)>,
    InterfaceMethod<"The same into memory.", "void", "storeToBuffer",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Value":$value,
             "::mlir::Value":$buffer, "::mlir::Value":$offset, "::mlir::Value":$uniform,
             "::kiln::CacheHints":$hints)>,
  ];
}

#endif // KILN_TARGET_COMMON_BOUNDEDMEMORY_TD
