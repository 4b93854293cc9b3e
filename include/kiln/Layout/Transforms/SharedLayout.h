// How a tensor passes through shared memory: the order of its elements there, derived from who
// writes and who reads them, and what that costs on a chip.
#ifndef KILN_LAYOUT_TRANSFORMS_SHAREDLAYOUT_H
#define KILN_LAYOUT_TRANSFORMS_SHAREDLAYOUT_H

#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Target/TargetInterface.h"

namespace kiln {

/// The most bytes that one lane moves by one instruction.
inline constexpr int64_t kMostSharedBytes = 16;

/// One side of a buffer: how the threads of a layout write or read it.
struct SharedSide {
  /// The copy atom that moves whole rows, or null: each lane moves vectors of its own.
  mlir::Attribute atom;
  /// Elements of a row or vector.
  int64_t width = 1;
  /// What a warp issues for all its registers, and in how many cycles each is served.
  int64_t instructions = 1;
  int64_t cycles = 1;
  /// The least cycles that so many bytes take on the chip.
  int64_t fewest = 1;
};

/// A buffer's layout, from `offset` to the tensor's coordinates, with both sides of it.
struct SharedPlan {
  LinearLayout layout;
  SharedSide write, read;
  int64_t getCycles() const {
    return write.instructions * write.cycles + read.instructions * read.cycles;
  }
};

/// Derives the order of a buffer that `from` writes and `to` reads. The paper's way (Zhou et al.,
/// "Linear Layouts", section 5), in element space over F2:
///
/// 1. Elements that are contiguous come first, so that both sides, or else the one that gains most,
///    move up to 16 bytes a lane: bases that both have in registers, continued by those of one
///    side; or the row of a copy atom.
/// 2. A row of banks is the next offsets, and what lies above chooses among rows. The lanes that a
///    chip serves together conflict exactly if two of them differ by elements of another row: if
///    the span of their bases and of the vector meets the span of the rows' bases. So the rows'
///    bases are chosen outside both sides' spans, one by one; if both spans leave room that never
///    fails, since over F2 two proper subspaces do not cover a space.
///
/// Of all candidates for the first step, narrower ones included, the one with the fewest cycles is
/// taken, and of those the one with the fewest instructions.
SharedPlan planShared(const LinearLayout &from, const LinearLayout &to, unsigned elementBytes,
                      const Chip &chip, llvm::ArrayRef<mlir::Attribute> copyAtoms);

/// What a side costs under a given buffer layout. `tensor` is who holds what; `atom` may be null.
SharedSide measureSide(const LinearLayout &tensor, const LinearLayout &buffer,
                       unsigned elementBytes, const Chip &chip, bool isWrite, mlir::Attribute atom);

/// From the places of a tensor to `dim0`, the offsets of a buffer; row-major without a layout. The
/// tensor may be a part of what the buffer has.
LinearLayout getSharedOffsets(const LinearLayout &tensor, const LinearLayout *buffer);

/// How a buffer [rows, columns] lies in boxes of rows of `span` bytes (128, 64 or 32), side by
/// side, whose 16-byte pieces are permuted: bits 4 to 6 of an address, as many as rows are long,
/// are combined with those from bit 7 on. None if the boxes do not fit: where rows are no power of
/// two, there is one box; where columns are, it is the boxes that are counted.
std::optional<LinearLayout> getSwizzledLayout(llvm::ArrayRef<int64_t> shape, int64_t elementBits,
                                              int64_t span);
/// The last dimension fastest.
LinearLayout getRowMajorLayout(llvm::ArrayRef<int64_t> shape);

/// How a conversion is best made on the target, and what it costs a warp, in cycles of the unit
/// that lanes exchange through: a shuffle takes two, an access as many as its banks take, and
/// meeting the other warps counts as `kBarrierCycles`.
struct ConversionChoice {
  tile::ConversionAttr how;
  int64_t cycles = 0;
  /// Of the way through memory, if that was chosen.
  SharedSide write, read;
};
inline constexpr int64_t kBarrierCycles = 30;
inline constexpr int64_t kShuffleCycles = 2;
/// The shuffles of words by which lanes make a conversion to this type.
int64_t countShuffles(const Conversion &conversion, mlir::RankedTensorType type);
/// Warps meet behind the write, and in a role, whose buffer each round of its loop writes, in front
/// of it.
ConversionChoice decideConversion(const LinearLayout &from, const LinearLayout &to,
                                  mlir::RankedTensorType type, bool isInRole,
                                  TargetInterface target);
/// Whether an op is one of a role's, decided or realised.
bool isInRole(mlir::Operation *op);

/// A tensor as memory holds its elements, and back to this type: those that have no form there are
/// wider integers.
mlir::Value makeStored(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor);
mlir::Value unmakeStored(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value stored,
                         mlir::RankedTensorType type);
mlir::RankedTensorType getStoredType(mlir::RankedTensorType type);

/// The bytes that an element takes in shared memory: sub-byte elements have one each.
unsigned getSharedElementBytes(mlir::Type type);

/// The bytes of shared memory that hold such a buffer, or such a tensor.
int64_t getSharedBytes(tile::BufferType type);
int64_t getSharedBytes(mlir::RankedTensorType type);

/// Registers in an order in which as many as possible (at most `most`) are consecutive.
struct VectorOrder {
  /// The offsets with their register bits in the new order.
  LinearLayout offsets;
  /// For each bit of a register's number in the new order, its bit in the old one.
  llvm::SmallVector<unsigned> bits;
  int64_t width = 1;
  /// The old number of a register.
  int64_t getRegister(int64_t reordered) const;
};
VectorOrder getVectorOrder(const LinearLayout &offsets, int64_t most);

/// Whether the atom can make the move from places to offsets, which differ by `start` from those
/// in memory: within a row the map is the atom's tile, and all else moves by whole rows.
bool canMove(WarpCopyAtomInterface atom, const LinearLayout &offsets, int64_t start = 0);

/// Whether a part of a tensor, at these offsets, is read from a buffer of this order by accesses as
/// wide as those that read all of it. The atom may be null.
bool isReadAsWide(const LinearLayout &part, llvm::ArrayRef<int64_t> offsets,
                  const LinearLayout &whole, const LinearLayout &order, WarpCopyAtomInterface atom,
                  unsigned elementBytes);

} // namespace kiln

#endif // KILN_LAYOUT_TRANSFORMS_SHAREDLAYOUT_H
