// Elements of views in global memory, one at a time, and what accesses to it have in common.
#ifndef KILN_LIB_TARGET_COMMON_THREADS_VIEWACCESS_H
#define KILN_LIB_TARGET_COMMON_THREADS_VIEWACCESS_H

#include "ThreadContext.h"
#include "kiln/Target/Common/CacheHints.h"

namespace kiln {

/// What global memory holds for an element, and its bits as another type's.
mlir::Type getStorageType(mlir::Type element);
mlir::Value castBits(ThreadContext &context, mlir::Value value, mlir::Type element);

/// The address of sixteen bytes that repeat an element's bits.
mlir::Value getSixteenBytes(ThreadContext &context, const llvm::APInt &element);

/// An element of a view: how many elements from its start, and whether it is in bounds.
struct ViewElement {
  mlir::Value at, inBounds;
};
ViewElement getElement(ThreadContext &context, mlir::Value view,
                       llvm::ArrayRef<mlir::Value> indices);
/// Where an element of whole bytes is.
mlir::Value getElementAddress(ThreadContext &context, mlir::Value view, mlir::Value at);
/// Outside of the view sixteen zero bytes are read instead; a null padding is zero.
mlir::Value loadElement(ThreadContext &context, mlir::Value view, ViewElement element,
                        mlir::Value padding, CacheHints hints);

} // namespace kiln

#endif // KILN_LIB_TARGET_COMMON_THREADS_VIEWACCESS_H
