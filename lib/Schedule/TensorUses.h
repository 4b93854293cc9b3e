// What one role has in tensor memory, and from where to where in the text.
#ifndef KILN_LIB_SCHEDULE_TENSORUSES_H
#define KILN_LIB_SCHEDULE_TENSORUSES_H

#include "CarriedSums.h"
#include "SumFlights.h"

namespace kiln {

/// The life of an accumulator: from what first uses it, as this operand, to the wait for it; and
/// where it is handed to another role, which needs no wait.
struct SumLife {
  mlir::OpOperand *first = nullptr;
  tile::WaitOp wait;
  mlir::Attribute atom;
  tile::CommitOp commit = {};

  mlir::Operation *getBegin() const { return first->getOwner(); }
  mlir::Operation *getEnd() const { return tile::WaitOp(wait).getPending().getDefiningOp(); }
};

/// Nothing if it begins in another block, or another trip, than the wait for it stands in.
std::optional<SumLife> findLife(tile::WaitOp wait);

/// Of scales, of each copy: the warps write those of a trip while the products of the trip before
/// read theirs.
inline constexpr int64_t kSlotsOfScales = 2;

/// From where to where a slot is in use.
struct SlotSpan {
  mlir::Operation *first, *last;
};

/// What the slots of a channel have in common.
struct SlotKind {
  tile::PendingType type;
  int64_t full, empty;
  /// Filled in one trip and got in another: the two sides go round on their own.
  bool isCarried;
  /// Of each copy.
  int64_t slots = 1;

  /// Whether both could be slots of one channel.
  bool isLike(const SlotKind &other) const {
    return type == other.type && full == other.full && empty == other.empty;
  }
  /// That of a channel which has both.
  void join(const SlotKind &other) {
    isCarried |= other.isCarried;
    slots = std::max(slots, other.slots);
  }
};

/// A sum that its own role fetches, or an operand that its warps write: a, or scales.
struct TensorUse {
  /// Fetched behind the condition that chooses it; left there from trip to trip; or fetched where
  /// it is waited for.
  enum Kind { Chosen, Carried, Fetched, Operand };

  Kind kind;
  SlotSpan span;
  SumLife life;                             ///< of a sum; of one in flight its first begin
  std::optional<CarriedSum> carried;        ///< of one that is
  llvm::SmallVector<tile::StartDotOp> dots; ///< those that read an operand, as they follow
  int scales = -1;                          ///< of which operand it is the scales; -1 if it is a

  /// Of a sum that is in flight where its trip ends: one wait of it. Others of that flight have the
  /// same columns.
  const SumFlight *flight = nullptr;

  /// Its columns, by number; and of a sum the operand that is written over it, of an operand the
  /// sum.
  int64_t columns = -1;
  TensorUse *over = nullptr;

  bool isSum() const { return kind != Operand; }
  bool isSameFlight(const TensorUse &other) const { return flight && flight == other.flight; }
  /// Of a sum: where dots or a loop begin it.
  llvm::SmallVector<mlir::Operation *> getBegins() const;
  /// Where a dot reads it.
  mlir::OpOperand &getRead(tile::StartDotOp dot) const;
  /// As it is written.
  mlir::RankedTensorType getWrittenType() const;
  /// What says where it is, and the name under which it does.
  llvm::SmallVector<mlir::Operation *> getOps() const;
  mlir::Operation *getOp() const { return getOps().front(); }
  llvm::StringRef getDecision() const {
    return isSum() ? tile::kColumnsAttrName : tile::kOperandColumnsAttrName;
  }
  /// What an op says of its columns: of scales one of two numbers. None if it does not.
  std::optional<int64_t> getSaid(mlir::Operation *op) const;
  void say(mlir::Operation *op, int64_t columns) const;
  /// Of its slot, if it is not an operand over a sum.
  SlotKind getSlotKind(tile::RoleAttr role) const;
};

/// Those of a role's region, as `tile.carried` says.
class TensorUses {
public:
  explicit TensorUses(mlir::Region &region);

  /// In the order in which they are given columns: sums that conditions choose, operands, other
  /// sums.
  llvm::SmallVector<TensorUse> all;
  std::vector<SumFlight> flights;

  bool isHandedOver(tile::WaitOp wait) const { return handedOver.contains(wait); }
  /// The flight that a wait is of; null if it is of none.
  const SumFlight *findFlight(tile::WaitOp wait) const { return flightOf.lookup(wait); }
  /// Whether the one is in use in front of the other, or behind it.
  bool areApart(const SlotSpan &one, const SlotSpan &other) const;
  /// Writes an operand over a sum, whose slot, and so its flight, is in use until the last dot.
  void writeOver(TensorUse &operand, TensorUse &sum);
  /// Where an op stands in the text.
  int64_t getNumber(mlir::Operation *op) const { return numbers.lookup(op); }

private:
  void findHandedOver(mlir::Value tensor);
  TensorUse makeFlightUse(const SumFlight &flight, tile::WaitOp wait) const;
  int64_t getLastNumber(mlir::Operation *op) const;

  llvm::DenseMap<mlir::Operation *, int64_t> numbers;
  llvm::DenseSet<mlir::Operation *> handedOver; ///< waits for what another role fetches
  llvm::DenseMap<mlir::Operation *, const SumFlight *> flightOf;
};

/// Takes the columns that each use is given, and which operands are written over which sums. Then
/// the kinds of slots, by the number of their columns; an error where two uses cannot share theirs.
mlir::FailureOr<llvm::SmallVector<SlotKind>> takeColumns(TensorUses &uses, tile::RoleAttr role);

/// Whether an operand has room over a sum: it is a, has its rows, and as many bits or fewer, by
/// which the sum's columns come out even.
bool fitsOver(const SumLife &sum, const TensorUse &operand);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_TENSORUSES_H
