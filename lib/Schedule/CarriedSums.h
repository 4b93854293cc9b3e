// Sums in tensor memory that loops carry from trip to trip, and that conditions choose.
#ifndef KILN_LIB_SCHEDULE_CARRIEDSUMS_H
#define KILN_LIB_SCHEDULE_CARRIEDSUMS_H

#include "Decisions.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"

namespace kiln {

/// As which value of the loop a sum goes from trip to trip, and what a trip makes of it, element by
/// element, before it adds to it, in the order of the text.
struct CarriedSum {
  mlir::scf::ForOp loop;
  unsigned index;
  llvm::SmallVector<mlir::Operation *> ops;
};

/// What is used first of the accumulator whose value is pending: an operand of its first dot, or of
/// the loop that carries it and only adds to it. With it goes the atom of the dots. Null if it
/// comes from elsewhere.
mlir::OpOperand *findFirstUse(mlir::Value pending, mlir::Attribute &atom);

/// How a loop carries the sum that is waited for, if that can stay in tensor memory from trip to
/// trip: the loop changes it element by element in front of the trip's dots, and does no more with
/// it. Else `expected` says what was.
std::optional<CarriedSum> findCarriedSum(tile::WaitOp wait, std::string &expected);

/// Of a sum that a condition hands on if a loop has trips, instead of the constant that it begins
/// with: which result of the condition it is, if it can be fetched behind it. Else `expected` says
/// what was.
std::optional<unsigned> findChoice(tile::WaitOp wait, std::string &expected);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_CARRIEDSUMS_H
