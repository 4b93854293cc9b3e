// Layouts as the passes make them: over the parts register, lane and warp, in that order.
#ifndef KILN_LAYOUT_TRANSFORMS_LAYOUTS_H
#define KILN_LAYOUT_TRANSFORMS_LAYOUTS_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Layout/Algebra/LinearLayout.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/WarpCopyAtomInterface.h"
#include "kiln/Layout/Transforms/WarpMmaAtomInterface.h"
#include "kiln/Target/TargetInterface.h"
#include <array>
#include <optional>

namespace kiln {

inline constexpr llvm::StringLiteral kRegister = "register";
inline constexpr llvm::StringLiteral kLane = "lane";
inline constexpr llvm::StringLiteral kWarp = "warp";

using tile::kWarpsAttrName;

/// What one program, or a role of it, has to spread a tensor over.
struct ThreadShape {
  unsigned lanes;
  /// Of all copies together.
  unsigned warps;
  /// Groups of warps that share a tensor out, each of which has consecutive rows or columns of it.
  unsigned copies = 1;
  bool operator==(const ThreadShape &other) const {
    return lanes == other.lanes && warps == other.warps && copies == other.copies;
  }
};

/// The parts in their order, no register that repeats another by a zero basis, and those that an
/// extent cuts behind all others.
LinearLayout canonicalise(const LinearLayout &layout);

/// The largest power of two that an extent is a multiple of: so much of it a layout's bits share
/// out, and what it has of that the highest bits of one part count.
int64_t getPowerOf2Factor(int64_t extent);

/// Blocked and coalesced: `width` elements a thread of the dimension that memory walks first (the
/// last one, or `fastest`), lanes along that one and then the last ones, warps the other way round,
/// and what is left in registers. Copies share out no dimension of more than its `extents`, which
/// they would not have alike.
LinearLayout getBlockedLayout(llvm::ArrayRef<int64_t> shape, int64_t width, ThreadShape threads,
                              int fastest = -1,
                              std::optional<llvm::ArrayRef<int64_t>> extents = {});
/// The same, where copies share out this dimension; or if -1, each has all of it.
LinearLayout getSharedOutLayout(llvm::ArrayRef<int64_t> shape, int64_t width, ThreadShape threads,
                                int dim, int fastest = -1);

/// What an access to global memory by these threads costs, in sectors of 32 bytes: `width` elements
/// at a time along `dim`, whose elements are consecutive; other dimensions lie far apart.
int64_t countSectors(const LinearLayout &layout, unsigned dim, int64_t width, int64_t elementBytes);

/// Drops a dimension: the layout of a reduction's result. Each basis must lie along the axis or
/// across it, see isSeparable.
LinearLayout dropDim(const LinearLayout &layout, unsigned axis);
bool isSeparable(const LinearLayout &layout, unsigned axis);

/// The layout of two tensors joined along a new last dimension of extent 2 when each thread keeps
/// its elements, and the other way round: none if a thread does not hold both of each pair.
LinearLayout joinPairs(const LinearLayout &layout);
std::optional<LinearLayout> splitPairs(const LinearLayout &layout);

/// The layout that a broadcast's input has when its result has `layout`.
LinearLayout projectTo(const LinearLayout &layout, llvm::ArrayRef<int64_t> inputShape);

/// The layout of a box of a tensor, if registers alone choose among its boxes.
std::optional<LinearLayout> getBoxLayout(const LinearLayout &whole, llvm::ArrayRef<int64_t> box);

/// The layouts of a, b and the accumulator of a dot by its atom, and of the scales of a and b.
struct DotLayouts {
  LinearLayout a, b, accumulator;
  std::array<LinearLayout, 2> scales = {};
};
/// Where the accumulator's is given, and one that the atom can make, the operands' follow it.
DotLayouts getDotLayouts(tile::DotOp dot, mlir::Attribute atom, ThreadShape threads,
                         const LinearLayout *accumulator = nullptr);
/// Those of all operands of a scaled dot, in their order.
std::array<LinearLayout, 5> getDotLayouts(tile::DotScaledOp dot, ScaledMmaAtomInterface atom,
                                          ThreadShape threads);
/// Makes a dot the product of its operands in the other order, each transposed. Its sum stays,
/// which is to be the transpose.
void exchangeOperands(tile::DotOp dot);
/// What a load's users see of it, if reshapes alone use it, all of one type, that take away
/// dimensions of one element; and these dimensions.
struct DroppedUnits {
  mlir::RankedTensorType type;
  llvm::SmallVector<int64_t> dims;
};
std::optional<DroppedUnits> findDroppedUnits(tile::LoadOp load);
/// Whether a copy atom brings a tensor into a buffer.
bool isInBuffer(mlir::Value tensor);
/// Whether it comes there through registers, in which it has a layout of its own.
bool isThroughRegisters(mlir::Value tensor);
/// How many of a role's warps, from the first one on, share out so many pieces, each of which is
/// what one instruction of a warp copies: all of them if their number divides that of the pieces or
/// is a power of two, else as many as the next power of two below. None if there are too few
/// pieces, or if warps that count instructions do not make as many each.
std::optional<int64_t> countCopyingWarps(int64_t pieces, int64_t warps, DirectAtomInterface atom);
/// Whether a view is aligned to what each lane copies.
bool isAligned(tile::LoadOp load, DirectAtomInterface atom);
/// Whether it is, and so many warps can share out the tile.
bool canShareOut(tile::LoadOp load, DirectAtomInterface atom, int64_t warps, const Chip &chip);
/// Whether a loop's trip has several products and is written out once for each slot of its rings,
/// as where slots must be known when compiling: it is long then, and takes many scalars.
bool isWrittenOut(mlir::Block &trip, const Chip &chip);
/// How many warps run a kernel of which nobody has said: those of all roles, if there are any; else
/// few enough that the largest tensor gives each thread some elements.
int64_t countWarps(tile::KernelOp kernel, const Chip &chip);
/// Gives a conversion of what lies in a buffer to the role that it is made for, and to when that
/// one's op runs.
void followUser(tile::ConvertLayoutOp conversion, mlir::Operation *user);
/// Whether an author has products read what an op makes from registers.
bool isPinnedToRegisters(mlir::Operation *op);
/// Whether a dot reads this operand where a copy atom has brought it.
bool isReadFromBuffer(mlir::OpOperand &operand);
/// Whether a dot reads this operand from shared memory, and warps that make it write it there: its
/// atom reads it from nowhere else, or an author has said so.
bool isWrittenForDot(mlir::OpOperand &operand);
/// Whether the atom's fragment fits a dot of these extents.
bool fits(WarpMmaAtomInterface atom, tile::DotOp dot);
/// The element types of a dot's operands; unsigned integers are told apart by their type.
std::pair<mlir::Type, mlir::Type> getDotTypes(tile::DotOp dot);
/// The first instruction of the target that has this name, without that of its dialect, and fits an
/// op; null if there is none.
mlir::Attribute findAtom(mlir::Operation *op, llvm::StringRef name, TargetInterface target);
/// The target's matrix instructions that multiply what a dot's operands are read as and fit its
/// extents, best first. f32 is asked for as the precision says; where it is less than exact, a chip
/// that can be exact has its say too.
llvm::SmallVector<mlir::Attribute> getMmaAtoms(tile::DotOp dot, TargetInterface target);
llvm::SmallVector<mlir::Attribute> getMmaAtoms(tile::DotScaledOp dot, TargetInterface target);
/// The best of them, or a multiply-add an element if there is none: by which a dot is made for
/// which nothing else is decided.
mlir::Attribute getUsualAtom(tile::DotOp dot, TargetInterface target);

/// The layout of a tensor's type; it must have one.
LinearLayout getLayout(mlir::Value tensor);
/// Changes the value's type; a constant's attribute follows.
void setLayout(mlir::Value tensor, const LinearLayout &layout);
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, const LinearLayout &layout);

/// A bit of the input's register number that changes places with a bit of the lane's.
struct LaneSwap {
  unsigned registerBit, laneBit;
};

/// The least that a conversion can be made by.
struct Conversion {
  tile::ConversionKind kind;
  /// From the places of the result to those of the input.
  LinearLayout places;
  /// Those that make it, but for names of registers; empty if it is not made of such alone.
  llvm::SmallVector<LaneSwap> swaps;
};
Conversion classifyConversion(const LinearLayout &from, const LinearLayout &to);
/// Of the bits of the input's register number those whose elements go in one word, where bits
/// change places: none of these, and no more than 32 bits have room for.
llvm::SmallVector<unsigned> getPackedBits(const Conversion &conversion, unsigned elementBits);

} // namespace kiln

#endif // KILN_LAYOUT_TRANSFORMS_LAYOUTS_H
