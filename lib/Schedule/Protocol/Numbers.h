// The numbers of a program that a trace goes on by: what ops make of others, what is loaded, and
// what goes to other roles.
#ifndef KILN_LIB_SCHEDULE_PROTOCOL_NUMBERS_H
#define KILN_LIB_SCHEDULE_PROTOCOL_NUMBERS_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace kiln::protocol {

/// The number that a value is, if it is known.
using GetNumber = llvm::function_ref<std::optional<int64_t>(mlir::Value)>;

/// What folders make of an op's operands: a number, or a value that the result is the same as.
struct Folded {
  std::optional<int64_t> number;
  mlir::Value same;
};
Folded fold(mlir::Operation *op, GetNumber getNumber);

/// How a whole number is made of one or two others, for what most steps of a trace compute.
struct Formula {
  enum class Kind : uint8_t {
    None,
    Add,
    Subtract,
    Multiply,
    Compare,
    Least,
    LeastUnsigned,
    Most,
    MostUnsigned,
    Divide,
    DivideUnsigned,
    DivideUp,
    DivideUpUnsigned,
    Remainder,
    RemainderUnsigned,
    Convert,
    ConvertUnsigned,
  } kind = Kind::None;
  uint8_t bits = 0, madeBits = 0; ///< of the operands, and of the result
  uint8_t predicate = 0;          ///< of a comparison
};
/// That of an op, of kind None if it has another.
Formula findFormula(mlir::Operation *op);
/// None if there is no such number.
std::optional<int64_t> compute(const Formula &formula, int64_t a, int64_t b);

/// The view's argument and the place there of what was loaded from a place that is known, which all
/// roles find the same.
struct LoadedPlace {
  unsigned argument;
  llvm::SmallVector<int64_t> place;
};
std::optional<LoadedPlace> findLoaded(tile::ToScalarOp scalar, GetNumber getNumber);

/// The load of what is one number as it is.
tile::LoadOp findLoad(tile::ToScalarOp scalar);

/// The values that a value is, where loops and conditions hand it on.
void findSources(mlir::Value value, llvm::SmallVectorImpl<mlir::Value> &sources);

/// The channel through which a number goes to other roles, and the bits that it has there.
struct HandedOver {
  unsigned channel, bits;
  /// How many others are put between where it is made and where it is put, by a later trip.
  int64_t behind = 0;
};
/// That of a number which an op makes; also where a later trip, or what stands behind a loop, puts
/// it.
std::optional<HandedOver> findHandedOver(mlir::Value number);
/// Whether what goes through a channel of one element has a name: a real, or what becomes of a
/// tensor and goes as it is.
bool hasName(tile::WarpGroupsOp groups, unsigned channel);

} // namespace kiln::protocol

#endif // KILN_LIB_SCHEDULE_PROTOCOL_NUMBERS_H
