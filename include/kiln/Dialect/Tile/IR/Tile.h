// The tile dialect: its types, attributes and ops.
#ifndef KILN_DIALECT_TILE_IR_TILE_H
#define KILN_DIALECT_TILE_IR_TILE_H

#include "kiln/Dialect/Tile/IR/TileAtomInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "kiln/Dialect/Tile/IR/TileDialect.h.inc"
#include "kiln/Dialect/Tile/IR/TileEnums.h.inc"

namespace kiln {
class LinearLayout;
} // namespace kiln

namespace kiln::tile {

/// Memory that all programs of a grid share.
struct GlobalMemory : public mlir::SideEffects::Resource::Base<GlobalMemory> {
  llvm::StringRef getName() final { return "tile.global"; }
};

/// Memory that the threads of one program share.
struct SharedMemory : public mlir::SideEffects::Resource::Base<SharedMemory> {
  llvm::StringRef getName() final { return "tile.shared"; }
};

/// Of an op that exists only in programs that several threads run.
template <typename ConcreteType>
class OfSeveralThreads : public mlir::OpTrait::TraitBase<ConcreteType, OfSeveralThreads> {};

/// So many machine instructions of one kind.
struct InstructionGroup {
  int64_t count;
  InstructionKind kind;
  bool operator==(const InstructionGroup &other) const {
    return count == other.count && kind == other.kind;
  }
};
inline llvm::hash_code hash_value(const InstructionGroup &group) {
  return llvm::hash_combine(group.count, group.kind);
}
mlir::ParseResult parseRounds(mlir::AsmParser &parser, llvm::SmallVector<int64_t> &times,
                              llvm::SmallVector<int64_t> &sizes,
                              llvm::SmallVector<InstructionGroup> &groups);
void printRounds(mlir::AsmPrinter &printer, llvm::ArrayRef<int64_t> times,
                 llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<InstructionGroup> groups);

/// The limits of a tile; `isTileType` says no beyond them.
inline constexpr int64_t kMaxRank = 8;
inline constexpr int64_t kMaxTileElements = int64_t(1) << 24;

/// Whether a scalar, or a tile's element, may be of this type.
bool isElementType(mlir::Type type);
/// Whether memory may hold elements of this type: i1, tf32 and index have no form there.
bool isMemoryElementType(mlir::Type type);
/// Whether this is a tensor of static shape within the limits, of such elements.
bool isTileType(mlir::Type type);

/// The view that a view is part of, by however many `tile.subview`.
mlir::Value getWholeView(mlir::Value view);

/// The name of the attribute that holds an argument's facts.
inline constexpr llvm::StringLiteral kFactsAttrName = "tile.facts";
/// The name of the attribute that holds an argument's name in the source.
inline constexpr llvm::StringLiteral kNameAttrName = "tile.name";

// Decisions about the schedule: a kernel's roles and grid, a loop's ring depth, a condition that
// its loop is split at, and on ops of other dialects what loads, dots and stores have as attributes
// of their own.
inline constexpr llvm::StringLiteral kRolesAttrName = "tile.roles";
inline constexpr llvm::StringLiteral kPersistentAttrName = "tile.persistent";
inline constexpr llvm::StringLiteral kDepthAttrName = "tile.depth";
inline constexpr llvm::StringLiteral kStageAttrName = "tile.stage";
inline constexpr llvm::StringLiteral kOrderAttrName = "tile.order";
inline constexpr llvm::StringLiteral kRoleAttrName = "tile.role";
inline constexpr llvm::StringLiteral kSplitLoopAttrName = "tile.split_loop";

/// Marks the loop of a persistent kernel whose turns are programs: nothing is ordered between them.
inline constexpr llvm::StringLiteral kProgramsAttrName = "tile.programs";

/// What is known of a loop, an i64: it has so many trips or more, whenever it is reached.
inline constexpr llvm::StringLiteral kLeastTripsAttrName = "tile.least_trips";

// Decisions of every target that has threads: a kernel's warps, what it takes of shared memory,
// where in it an op's buffer or scratch begins (bytes); and the threads that run a lowered
// function.
inline constexpr llvm::StringLiteral kAtomNameAttrName = "tile.atom";
inline constexpr llvm::StringLiteral kLayoutAttrName = "tile.layout";
inline constexpr llvm::StringLiteral kWarpsAttrName = "tile.warps";
inline constexpr llvm::StringLiteral kSharedBytesAttrName = "tile.shared_bytes";
inline constexpr llvm::StringLiteral kSharedOffsetAttrName = "tile.shared_offset";
/// A unit, of an op with scratch: its warps meet as at a `tile.barrier bare`, once each has waited
/// for its own accesses.
inline constexpr llvm::StringLiteral kMeetsBareAttrName = "tile.meets_bare";
inline constexpr llvm::StringLiteral kThreadsAttrName = "tile.threads";

} // namespace kiln::tile

#define GET_TYPEDEF_CLASSES
#include "kiln/Dialect/Tile/IR/TileTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "kiln/Dialect/Tile/IR/TileAttributes.h.inc"

#define GET_OP_CLASSES
#include "kiln/Dialect/Tile/IR/TileOps.h.inc"

namespace kiln::tile {
/// The type of a part of a buffer; null if the layout does not keep such a part together.
BufferType getPartType(BufferType whole, llvm::ArrayRef<int64_t> shape);
/// The type of a part of a buffer that an engine reads out of the whole: a window if the layout
/// does not keep such a part together; null if where a window begins permutes what is in it.
BufferType getWindowType(BufferType whole, llvm::ArrayRef<int64_t> shape);
/// The extents of a tile along all dimensions of its view: one where it has dropped one.
llvm::SmallVector<int64_t> getWholeShape(llvm::ArrayRef<int64_t> shape,
                                         std::optional<llvm::ArrayRef<int64_t>> dropped);
/// The view's dimension that is a tile's of this number.
unsigned getViewDim(unsigned dim, std::optional<llvm::ArrayRef<int64_t>> dropped);
/// Whether these are dimensions of the view, in order, which a tile of this rank lacks; an error at
/// the op if not.
llvm::LogicalResult verifyDropped(mlir::Operation *op, ViewType view, int64_t rank,
                                  std::optional<llvm::ArrayRef<int64_t>> dropped);
} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_TILE_H
