// What a kernel's decisions say about its rings, checked before anything changes.
#ifndef KILN_LIB_SCHEDULE_RINGS_H
#define KILN_LIB_SCHEDULE_RINGS_H

#include "Decisions.h"
#include "kiln/Target/Common/SharedPieces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

namespace kiln {

/// Loads of one ring and block: one put, and one get by each role that uses them. Or a store
/// of a value that another role makes, which puts it.
struct RingUse {
  llvm::SmallVector<tile::LoadOp> loads;
  tile::StoreOp store;
  /// The roles that use what it brings.
  llvm::SmallVector<tile::RoleAttr> readers;

  /// The op in whose place it is put and got: the last of the loads.
  mlir::Operation *getSite();
  mlir::Block *getBlock() { return getSite()->getBlock(); }
  llvm::SmallVector<mlir::Type> getBuffers();
};

/// What becomes one channel.
struct Ring {
  llvm::StringRef name;
  tile::RoleAttr producer;
  /// How the ends of its copies are known.
  tile::Completion completion = tile::Completion::InOrder;
  /// Of its slots; 0 as long as no load has said.
  int64_t depth = 0;
  llvm::SmallVector<RingUse> uses;
  tile::ChannelOp channel;
  /// Whether dots that end by commit read it.
  bool isGivenByCommit = false;

  /// Whether the atoms count the bytes that they bring, so that one thread of each copy of the role
  /// makes all copies.
  bool countsBytes() const { return completion == tile::Completion::CountedBytes; }
  /// Whether what is loaded into registers is written to the slots.
  bool isWritten() const { return completion == tile::Completion::InOrder && !uses.front().store; }
  /// All roles that use it, each once.
  llvm::SmallVector<tile::RoleAttr> getConsumers() const;
  /// Whether the role that reads is the one that fills.
  bool isReadByProducer() const { return llvm::is_contained(getConsumers(), producer); }
  /// Whether its warps then wait for one another alone. Slots whose bytes an engine counts, or
  /// which dots give back by a commit, have barriers, as those which another role fills.
  bool isOwn() const { return isReadByProducer() && !isGivenByCommit && !countsBytes(); }
};

using RingPlan = llvm::SmallVector<Ring>;

/// Stages are fewer than these.
inline constexpr int64_t kStageLimit = 16;

/// Who uses a loaded tile by an operand: the op itself, the `scf.if` whose result it becomes there,
/// or those who first use what a loop hands on to its next trip. They are of one role.
llvm::SmallVector<mlir::Operation *> findTileReaders(mlir::OpOperand &use);
/// Whether a loop hands an operand on to its next trip, or to who asks whether there is one.
bool isHandedOn(mlir::OpOperand &use);
/// Whether such an operand is a role's.
bool isReadBy(mlir::OpOperand &use, tile::RoleAttr role);

/// The stage at whose end a tile that was loaded into registers is written to its slot, if it says.
std::optional<int64_t> getWriteStage(tile::LoadOp load);

/// What of an op's block says a stage and uses what the op gives, perhaps so many trips later, to
/// which the loop hands it on.
struct StagedUser {
  mlir::Operation *op;
  int64_t stage, later;
};
/// The one that comes first, in trips from the op's; nothing if no user says a stage. With a role's
/// name, of those that are not another one's.
std::optional<StagedUser> findFirstUser(mlir::Operation *op, llvm::StringRef role = {});
/// In which of these trips that is.
std::optional<int64_t> findFirstStage(mlir::Operation *op);

/// Whether what a use of a ring brings through registers is written at the end of a trip, while the
/// trip computes. Else it is written where it is loaded: its own role says that it reads it in that
/// trip, or uses the ring in a loop or a condition of the trip, too, in between, or several times a
/// trip with no more slots than that takes.
bool isWrittenLater(Ring &ring, RingUse &use);

/// A loop of a use's block in which the role that fills the ring uses rings, too, so that it may
/// wait there for who waits for the use; null if there is none.
mlir::Operation *findNest(RingPlan &plan, Ring &ring, RingUse &use);

/// The stages of a loop's trips at which a role fills a slot of its own ring and reads it.
struct TripStages {
  int64_t filled, read;
};
/// Those of a use of whose users nobody says a stage: it is filled at once and read as many trips
/// later as leave slots for what dots in flight hold, and for what tells whether the loop goes on,
/// which comes before the next trip. What one dot reads of several rings it reads at one stage: a
/// ring of more slots is filled less far ahead, one of fewer later.
TripStages findTripStages(RingPlan &plan, Ring &ring, RingUse &use);
/// Those, or where a user says its stage, that of the first.
TripStages findOwnStages(RingPlan &plan, Ring &ring, RingUse &use);
/// Whether a ring that its role fills for itself has slots for that, and not more than stages.
llvm::LogicalResult checkTripsAhead(RingPlan &plan, Ring &ring);

/// Whether the role that loads is the one that uses what it loads.
bool isLoadedByUsers(tile::LoadOp load);
/// The dots that run on beside their warps while they read what these loads bring.
llvm::SmallVector<tile::DotOp> findOwnDots(llvm::ArrayRef<tile::LoadOp> loads);
/// Whether a load, its loop or another load of its ring says how many slots the ring has.
bool isDepthSaid(tile::LoadOp load);
/// Whether rings whose depth is said have a slot more than are filled ahead, which a product can
/// hold while the next trip begins.
bool hasRoom(tile::DotOp dot);
/// A ring whose users say their stage has slots for what is filled until then, and for what dots
/// in flight hold, by each of its uses in a trip.
llvm::LogicalResult giveSaidSlots(tile::KernelOp kernel, llvm::ArrayRef<tile::LoadOp> loads);

/// The loop that says how deep the rings are which a block of it fills, in conditions or not; null
/// if the innermost one says nothing.
mlir::Operation *findDeepLoop(mlir::Block *block);
/// What it says.
std::optional<int64_t> getLoopDepth(mlir::Block *block);

/// Reads the decisions of a kernel's loads with `buffer` and loops with `tile.depth`; errors name
/// what is missing or contradictory.
mlir::FailureOr<RingPlan> planRings(tile::KernelOp kernel);

/// Whether dots that end by commit, which gives a slot back, read what a load brings.
bool isReadUntilCommit(tile::LoadOp load);

/// Loads of which nobody says that they share a ring share one as far as they can: what would come
/// together at several stages comes apart, and so does what commits of dots give back and what
/// lanes do; what lies otherwise in memory has a ring of its own.
RingPlan partUnnamed(const RingPlan &plan);

/// Whether a load stands in front of all that uses another of its block.
bool comesWith(tile::LoadOp load, tile::LoadOp other);

/// Of loads of which nobody says a ring or its depth, names the rings of those that another load of
/// their trip is used in front of: each is as far ahead as its own readers allow.
void nameApart(tile::KernelOp kernel, llvm::ArrayRef<tile::LoadOp> loads);

/// Whether programs of a cluster that share tiles out load them alike, each ring's as often and in
/// the same order; an error names the load that may differ.
llvm::LogicalResult checkClusters(tile::KernelOp kernel, const RingPlan &plan);

/// The channel that becomes of a ring.
tile::ChannelType getChannelType(Ring &ring, mlir::MLIRContext *context);
/// What a kernel will have in shared memory, by its decisions: first its rings, in their order.
SharedPieces planSharedPieces(tile::KernelOp kernel, RingPlan &plan);

/// Puts a store whose value another role makes into a ring: of so many slots as it says stores to
/// be in flight, and one. Nothing if its own role makes the value.
llvm::LogicalResult addStore(RingPlan &plan, tile::StoreOp store);
/// Makes the put, the get and the copies of a store that is handed over.
void handOver(Ring &ring, RingUse &use);
/// The slot and phase of a role's next use of a ring, which fills or empties it.
tile::NextOp makeNext(mlir::OpBuilder &builder, mlir::Location loc, Ring &ring,
                      tile::RoleAttr role);

/// A barrier of all copies of a role, and those by which copies with a skew fall behind one another
/// and catch up.
void meetCopies(mlir::OpBuilder &builder, mlir::Location loc, tile::RoleAttr role);
void lagCopies(mlir::OpBuilder &builder, mlir::Location loc, tile::RoleAttr role, bool isEntry);
/// Lets the copies of a role with a skew start their dots in turns. The region is what it runs.
void skewDots(mlir::Region &region, tile::RoleAttr role);

/// How many instructions of a warp each put of a role into rings of its own is, at least; nothing
/// if the ends of its copies are known otherwise.
std::optional<int64_t> countPutInstructions(mlir::Region &body, tile::RoleAttr role, int64_t lanes);

/// Whether anything of the kernel fills a ring, its own role's or another's.
bool hasRings(tile::KernelOp kernel);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_RINGS_H
