// Errors about a schedule in the words of its source.
#ifndef KILN_LIB_SCHEDULE_SOURCEERRORS_H
#define KILN_LIB_SCHEDULE_SOURCEERRORS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

namespace kiln {

/// As emitOpError, but that it names no op that passes alone make: the author knows the line that
/// it was made for, not the op.
mlir::InFlightDiagnostic emitSourceError(mlir::Operation *op, const llvm::Twine &message);

/// What errors call an op: conversions, which no source has, by what makes the value, or, of what a
/// loop carries, by what uses it.
std::string getSourceName(mlir::Operation *op);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_SOURCEERRORS_H
