// The part of a program that one role needs.
#ifndef KILN_LIB_SCHEDULE_SLICE_H
#define KILN_LIB_SCHEDULE_SLICE_H

#include "Decisions.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace kiln {

/// By a number that one role makes, and another that uses it: what this one reads for it.
using ScalarReads = llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value>;

/// A set of ops and values, closed under need. Of loops and conditions only the results that are
/// needed belong to it, so that what another role carries from trip to trip does not.
class Slice {
public:
  Slice(tile::KernelOp kernel, tile::RoleAttr role, const ScalarReads &reads)
      : kernel(kernel), role(role), reads(reads) {}

  mlir::LogicalResult compute();
  bool has(mlir::Operation *op) const { return ops.contains(op); }
  bool has(mlir::Value value) const { return values.contains(value); }
  /// Clones the part of a block that the slice has.
  void clone(mlir::Block &from, mlir::OpBuilder &builder, mlir::IRMapping &mapping) const;

  llvm::SetVector<mlir::Value> captures;
  /// The numbers of other roles that it needs and reads nothing for, and who makes them.
  llvm::MapVector<mlir::Value, tile::RoleAttr> cuts;

private:
  void need(mlir::Value value) {
    if (values.insert(value).second)
      work.push_back(value);
  }
  void needOp(mlir::Operation *op);
  void needValue(mlir::Value value);
  mlir::LogicalResult cut(mlir::Value value, llvm::StringRef maker);
  void cloneLoop(mlir::scf::ForOp loop, mlir::OpBuilder &builder, mlir::IRMapping &mapping) const;
  void cloneWhile(mlir::scf::WhileOp loop, mlir::OpBuilder &builder,
                  mlir::IRMapping &mapping) const;
  void cloneIf(mlir::scf::IfOp condition, mlir::OpBuilder &builder, mlir::IRMapping &mapping) const;

  tile::KernelOp kernel;
  tile::RoleAttr role;
  const ScalarReads &reads;
  llvm::DenseSet<mlir::Operation *> ops;
  llvm::DenseSet<mlir::Value> values;
  /// Of a value that is read: the number of the other role.
  llvm::DenseMap<mlir::Value, mlir::Value> readFor;
  llvm::SmallVector<mlir::Value> work;
  mlir::LogicalResult result = mlir::success();
};

/// Whether each role does it for itself.
bool isOfEachRole(mlir::Operation *op);

/// The role that makes a result; none if each role makes its own. What becomes of a tensor as a
/// number is of who makes the tensor.
llvm::StringRef findResultMaker(mlir::Operation *op);

/// Whether a number, or what follows from it, tells what a role does.
bool tellsRole(mlir::Value number, tile::RoleAttr role);

/// What becomes of a tensor as a number in a loop around an op, trip by trip, and decides whether
/// that op runs; or null.
mlir::Operation *findNumberOfTrip(mlir::Operation *op);

/// Makes channels of one number each for those that one role makes and another uses, where each
/// cannot make its own.
mlir::FailureOr<ScalarReads> handOverScalars(tile::KernelOp kernel, mlir::ArrayAttr roles);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_SLICE_H
