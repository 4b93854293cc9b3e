// What a kernel's decisions say about its rings and dots in flight, checked before anything
// changes.
#ifndef KILN_LIB_SCHEDULE_RINGS_H
#define KILN_LIB_SCHEDULE_RINGS_H

#include "Decisions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

namespace kiln {

/// A role that uses what loads bring, and at which of its stages.
struct Reader {
  tile::RoleAttr role;
  int64_t stage = 0;
  tile::GetOp get;
  /// What ends its reading, if that is known from the first.
  mlir::Operation *done = nullptr;
  /// Whether a dot that is in flight from trip to trip reads it.
  bool isHeld = false;
};

/// Loads of one ring and block: one put, and one get by each role that uses them. Or a store
/// of a value that another role makes, which puts it.
struct RingUse {
  llvm::SmallVector<tile::LoadOp> loads;
  tile::StoreOp store;
  llvm::SmallVector<Reader> readers;
  /// Of the ring, where the loads stand.
  mlir::Value slot, phase;

  /// The op in whose place it is put and got.
  mlir::Operation *getSite() { return store ? store.getOperation() : loads.back(); }
  mlir::Block *getBlock() { return getSite()->getBlock(); }
  llvm::SmallVector<mlir::Type> getBuffers();
  bool isRead(mlir::Value value) const {
    return llvm::any_of(loads, [&](tile::LoadOp load) { return load.getResult() == value; });
  }
};

/// What becomes one channel.
struct Ring {
  llvm::StringRef name;
  tile::RoleAttr producer;
  /// Whether the atoms count the bytes that they bring, so that one thread makes all copies.
  bool countsBytes = false;
  /// Of its slots; 0 as long as no load has said.
  int64_t depth = 0;
  llvm::SmallVector<RingUse> uses;
  tile::ChannelOp channel;

  /// All roles that use it, each once.
  llvm::SmallVector<tile::RoleAttr> getConsumers() const;
  /// Whether the role that reads is the one that fills.
  bool isOwn() const { return llvm::is_contained(getConsumers(), producer); }
};

/// A dot whose accumulator stays in flight from trip to trip of a loop, as one of its values.
struct CarriedDot {
  tile::DotOp dot;
  mlir::scf::ForOp loop;
  unsigned index = 0;
  int64_t inFlight = 0;
  /// Where the slots that it still reads begin among the loop's values.
  unsigned firstHeld = 0;
  /// The accumulator before the loop, and what the last trip made of it.
  mlir::Value initial;
  tile::WaitOp held;
};

struct RingPlan {
  llvm::SmallVector<Ring> rings;
  llvm::SmallVector<CarriedDot> carried;
  /// Other dots in flight, in the program's order: their block waits for them.
  llvm::SmallVector<tile::DotOp> waited;

  bool isInFlight(mlir::Operation *op) const {
    return llvm::any_of(carried, [&](const CarriedDot &it) { return it.dot == op; }) ||
           llvm::any_of(waited, [&](tile::DotOp dot) { return dot == op; });
  }
  CarriedDot *findCarried(mlir::Operation *loop) {
    auto *at = llvm::find_if(carried, [&](CarriedDot &it) { return it.loop == loop; });
    return at == carried.end() ? nullptr : at;
  }
};

/// The role of this name among the kernel's, or an error at the op that names it.
mlir::FailureOr<tile::RoleAttr> findRole(mlir::Operation *op, llvm::StringRef name);
/// Reads the decisions of a kernel's loads with `buffer`, loops with `tile.depth` and dots with
/// `in_flight`; errors name what is missing or contradictory.
mlir::FailureOr<RingPlan> planRings(tile::KernelOp kernel);

/// How a dot's result is waited for: in front of the first op that uses it, when this many dots of
/// the role have started after it; or not at all, if only another dot adds to it.
struct DotWait {
  mlir::Operation *before = nullptr;
  int64_t later = 0;
};
mlir::FailureOr<DotWait> planWait(tile::DotOp dot);

/// Carries the slot and phase of each ring from use to use, through the loops and conditions that
/// have some of them, and the slots that dots in flight still read from trip to trip. Gives the ops
/// that must come last in their blocks, in this order, once these are complete.
llvm::SmallVector<mlir::Operation *> threadSlots(tile::KernelOp kernel, RingPlan &plan);

/// Puts a store whose value another role makes into a ring: of so many slots as it says stores to
/// be in flight, and one. Nothing if its own role makes the value.
llvm::LogicalResult addStore(RingPlan &plan, tile::StoreOp store);
/// Makes the put, the get and the copies of a store that is handed over.
void handOver(Ring &ring, RingUse &use);

/// Makes starts and waits of a kernel's dots in flight. `getBuffer` is what a role got of a load,
/// or null.
void realiseDots(RingPlan &plan,
                 llvm::function_ref<mlir::Value(mlir::Value, llvm::StringRef)> getBuffer);
/// Behind a loop with a dot in flight: waits for it, and releases what it read.
void drain(RingPlan &plan, CarriedDot &carried);
/// Whether at least `trips` trips of a loop lie before `at`.
mlir::Value isTripAfter(mlir::OpBuilder &builder, mlir::scf::ForOp loop, mlir::Value at,
                        int64_t trips);
/// The first wait of the block that is for this dot too, or null.
tile::WaitOp findWait(tile::StartDotOp dot);

/// A barrier of all copies of a role, and those by which copies with a skew fall behind one another
/// and catch up.
void meetCopies(mlir::OpBuilder &builder, mlir::Location loc, tile::RoleAttr role);
void lagCopies(mlir::OpBuilder &builder, mlir::Location loc, tile::RoleAttr role, bool isEntry);
/// Lets the copies of a role with a skew start their dots in turns.
void skewDots(tile::KernelOp kernel, tile::RoleAttr role);

/// Realises a loop whose rings are filled by the role that reads them. Their channels exist.
void realiseOwnRings(mlir::scf::ForOp loop, llvm::ArrayRef<Ring *> rings);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_RINGS_H
