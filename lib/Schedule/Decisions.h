// How the realising passes read decisions and build the arithmetic they need.
#ifndef KILN_LIB_SCHEDULE_DECISIONS_H
#define KILN_LIB_SCHEDULE_DECISIONS_H

#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace kiln {

void setRoleName(mlir::Operation *op, llvm::StringRef role);
void dropRole(mlir::Operation *op);
template <typename Op>
Op inRole(Op op, tile::RoleAttr role) {
  setRoleName(op, role.getName());
  return op;
}
/// The decisions that say when an op runs, `stage` and `order`: takes them off, or gives them to
/// another op.
void dropPlace(mlir::Operation *op);
void copyPlace(mlir::Operation *from, mlir::Operation *to);
/// A decision that must have been taken, or an error at the op.
mlir::FailureOr<mlir::Attribute> requireDecision(mlir::Operation *op, llvm::StringRef name);
mlir::FailureOr<int64_t> requireNumber(mlir::Operation *op, llvm::StringRef name);

/// Whether a loop asks nothing but the first of the values that it carries, and hands all others
/// on, as tile-rotate-loops leaves those that have stages.
bool isRotated(mlir::scf::WhileOp loop);
/// The loop in whose body an op stands; none if its turns are tiles of a program's, which are no
/// trips, or an `scf.while` that is not rotated.
mlir::Operation *getLoopOfTrips(mlir::Operation *op);

/// Scalars of the index type.
struct IndexMath {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, mlir::Value y);
  mlir::Value rem(mlir::Value x, mlir::Value y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value max(mlir::Value x, mlir::Value y);
  /// Whether x is less than y, and one value or another by whether something holds.
  mlir::Value isLess(mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value holds, mlir::Value x, mlir::Value y);
  /// An offset and a constant number of elements; the offset itself if there are none.
  mlir::Value shift(mlir::Value offset, int64_t by) {
    return by ? add(offset, constant(by)) : offset;
  }
  /// Where a box of what is stored, which begins so far behind its start, goes.
  llvm::SmallVector<mlir::Value> shiftBox(tile::StoreOp store, llvm::ArrayRef<int64_t> by);
};

/// What goes round a ring in its order: a channel, and of a role's own ring whether it is filled or
/// emptied there.
using RingSide = std::pair<mlir::Value, unsigned>;
RingSide getRingSide(tile::NextOp next);

/// Whether a barrier tells of the ends of the dots by a matrix instruction.
inline bool endsByCommit(mlir::Attribute atom) {
  return llvm::cast<tile::MmaAtomInterface>(atom).getCompletion() == tile::Completion::Commit;
}

/// Whether the chip that the module is for has barriers for these roles, and can give them the
/// registers that they say; an error at the op if not.
llvm::LogicalResult checkRoleLimits(mlir::Operation *op, mlir::ArrayAttr roles);

/// The bytes of a buffer's elements in shared memory.
int64_t getBufferBytes(tile::BufferType type);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_DECISIONS_H
