// One kernel on its way to the program of one thread.
#ifndef KILN_LIB_TARGET_COMMON_THREADS_THREADLOWERING_H
#define KILN_LIB_TARGET_COMMON_THREADS_THREADLOWERING_H

#include "ThreadPlans.h"
#include "ThreadState.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Target/Common/AsyncTarget.h"
#include "kiln/Target/Common/Threads.h"
#include "kiln/Target/Common/WaveTarget.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace kiln {

struct AccessFacts;

/// Rebuilds a kernel, op by op and in order, as a function that one thread runs. A tensor becomes
/// a vector of the registers that the thread holds of it, in the order of its layout's register
/// bits; a scalar stays itself, the same in every thread. Barriers may stand wherever ops do,
/// since all control flow of a tile program is common to its threads.
///
/// Where a thread stands in a tensor is linear: the coordinates of register r are those of the
/// thread (its lane's and warp's bases, computed once at the top of the function) xor a constant.
/// Where no bit of the two meets, the xor is an add, which addressing modes can fold.
class ThreadLowering : ThreadState {
public:
  ThreadLowering(tile::KernelOp kernel, TargetInterface target);
  mlir::LogicalResult run();

private:
  //===- Values -----------------------------------------------------------------------------===//

  mlir::Value get(mlir::Value value) const { return values.lookup(value); }
  void set(mlir::Value value, mlir::Value lowered) { values[value] = lowered; }
  llvm::SmallVector<mlir::Value> getElements(mlir::Value tensor);
  void setElements(mlir::Value tensor, llvm::ArrayRef<mlir::Value> elements);
  mlir::Type convert(mlir::Type type) const;
  mlir::Value fromByte(mlir::Value byte, mlir::Type type);
  mlir::Value index(int64_t value);
  mlir::Value i32(int64_t value);

  //===- Places -----------------------------------------------------------------------------===//

  Place getPlace(const LinearLayout &layout);
  /// A coordinate of register `reg`, added to `offset` if one is given.
  mlir::Value getCoordinate(const Place &place, unsigned dim, int64_t reg, mlir::Value offset = {});
  /// Whether this thread is the first of those that hold its elements.
  mlir::Value isOwner(const LinearLayout &layout);

  //===- Threads ----------------------------------------------------------------------------===//

  void barrier();
  /// All threads of the program do.
  void meetAll();
  /// The warps of a copy of the role wait for one another.
  void meetCopy();
  /// Whether the role is all that the program has.
  bool isAllWarps() const;
  /// A barrier if an access to `span` needs one: a write after any access since the last barrier, a
  /// read after a write. Between barriers that others ask for, and across the bounds of loops and
  /// branches, nothing is known, so the first access has one.
  void beforeAccess(SharedSpan span, bool isWrite);
  /// The element that another lane of this warp holds: lane xor mask, or a lane by number.
  mlir::Value shuffleXor(mlir::Value element, int64_t mask);
  mlir::Value shuffleFrom(mlir::Value element, mlir::Value sourceLane);
  mlir::Value shuffle(mlir::Value element, mlir::Value offset, bool isXor);
  mlir::Value getShared(mlir::Operation *op);

  //===- Ops, by group; each in the file named -----------------------------------------------===//

  mlir::LogicalResult lower(mlir::Block &block);
  mlir::LogicalResult lower(mlir::Operation *op);
  // ThreadLowering.cpp
  void lowerParameters();
  mlir::LogicalResult lowerLaunch();
  mlir::LogicalResult lowerLoop(mlir::Operation *op);
  mlir::LogicalResult lowerIf(mlir::Operation *op);
  mlir::LogicalResult lowerWhile(mlir::Operation *op);
  mlir::LogicalResult lowerConstant(mlir::Operation *op);
  mlir::LogicalResult lowerElementwise(mlir::Operation *op);
  // Memory.cpp
  struct Access;
  Access getAccess(mlir::Value view, mlir::ValueRange offsets,
                   std::optional<llvm::ArrayRef<int64_t>> extents, const AccessFacts &facts,
                   const LinearLayout &layout);
  mlir::Value getPointer(Access &access, int64_t reg);
  mlir::Value getInBounds(Access &access, int64_t reg);
  Within isWithin(const Place &place, unsigned dim, int64_t reg, int64_t extent);
  bool isOutside(const Access &access, int64_t reg);
  /// Where the lanes copy from, turn by turn: by addresses, or by descriptors (BoundedMemory.cpp).
  using EmitCopy = llvm::function_ref<void(int64_t turn, DirectCopy copy)>;
  mlir::LogicalResult forEachAddress(tile::CopyInOp op, const LinearLayout &shares,
                                     DirectAtomInterface atom, EmitCopy emit);
  mlir::LogicalResult forEachOffset(tile::CopyInOp op, const LinearLayout &shares, EmitCopy emit);
  mlir::LogicalResult lowerLoad(tile::LoadOp op);
  mlir::LogicalResult lowerStore(tile::StoreOp op);
  // BoundedMemory.cpp: whether the hardware's bounds serve this access, which is then lowered
  struct BoundedAccess;
  bool hasBoundedMemory() const;
  bool lowerBoundedLoad(tile::LoadOp op);
  bool lowerBoundedStore(tile::StoreOp op);
  std::optional<BoundedAccess> getBoundedAccess(mlir::Value view, mlir::ValueRange offsets,
                                                const AccessFacts &facts,
                                                const LinearLayout &layout);
  mlir::Value getOffset(BoundedAccess &access, int64_t reg);
  mlir::Value getInBounds(BoundedAccess &access, int64_t reg, bool ofHardwareToo);
  mlir::Value getInBounds(BoundedAccess &access, int64_t reg, unsigned dim);
  // Views.cpp
  mlir::LogicalResult lowerMadeView(mlir::Operation *op);
  mlir::LogicalResult lowerViewQuery(mlir::Operation *op);
  mlir::Value packElements(llvm::ArrayRef<mlir::Value> elements);
  /// The address of sixteen bytes that repeat an element's bits.
  mlir::Value getSixteenBytes(const llvm::APInt &element);
  // Shared.cpp
  /// Moves registers to or from shared memory whose element offsets are `layout`'s only
  /// coordinate, xor `start`. By a copy atom, each lane naming a row.
  llvm::SmallVector<mlir::Value> readRows(mlir::Value base, const LinearLayout &offsets,
                                          int64_t start, mlir::Type elementType,
                                          WarpCopyAtomInterface atom);
  void writeRows(mlir::Value base, const LinearLayout &offsets, WarpCopyAtomInterface atom,
                 llvm::ArrayRef<mlir::Value> elements);
  mlir::Value getElementPointer(mlir::Value base, mlir::Type stored, mlir::Value index);
  /// Where a register's element is, by a place among offsets. Registers that differ by bits that no
  /// thread's offset has share an address and differ by a constant, which instructions hold.
  mlir::Value getSharedPointer(mlir::Value base, mlir::Type stored, const Place &place,
                               int64_t reg, int64_t start = 0);
  void writeShared(mlir::Value base, const LinearLayout &offsets,
                   llvm::ArrayRef<mlir::Value> elements);
  llvm::SmallVector<mlir::Value> readShared(mlir::Value base, const LinearLayout &offsets,
                                            int64_t start, mlir::Type elementType);
  /// The same for some elements of a tensor, in row-major order and one by one: its extents need
  /// not be powers of two.
  void writePart(mlir::Value base, const LinearLayout &layout, llvm::ArrayRef<int64_t> extents,
                 llvm::ArrayRef<mlir::Value> elements);
  llvm::SmallVector<mlir::Value> readPart(mlir::Value base, const LinearLayout &layout,
                                          llvm::ArrayRef<int64_t> extents, mlir::Type element);
  /// Where a register's element is, and whether it is within the extents (null: it is).
  std::pair<mlir::Value, mlir::Value> getPartOffset(const Place &place, int64_t reg,
                                                    llvm::ArrayRef<int64_t> extents);
  mlir::LogicalResult lowerBuffer(mlir::Operation *op);
  // Shapes.cpp
  mlir::LogicalResult lowerShape(mlir::Operation *op);
  void lowerIota(mlir::Value result, unsigned dim, mlir::Value start = {});
  mlir::LogicalResult lowerPairs(mlir::Operation *joinOrSplit);
  mlir::LogicalResult lowerConversion(tile::ConvertLayoutOp op);
  // Reduce.cpp
  mlir::LogicalResult lowerReduce(tile::ReduceOp op);
  llvm::SmallVector<mlir::Value> combine(mlir::Region &combiner, llvm::ArrayRef<mlir::Value> left,
                                         llvm::ArrayRef<mlir::Value> right);
  void foldPacked(tile::ReduceOp op, const ReducePlan &plan, mlir::Operation *combiner,
                  llvm::MutableArrayRef<llvm::SmallVector<mlir::Value>> partial);
  // Roles.cpp
  mlir::LogicalResult lowerSchedule(mlir::Operation *op);
  mlir::LogicalResult lowerRoles(tile::WarpGroupsOp op);
  mlir::LogicalResult lowerRole(tile::WarpGroupsOp op, unsigned number, mlir::Value place);
  mlir::LogicalResult lowerBarrier(tile::BarrierOp op);
  void lowerMeeting(tile::BarrierOp op);
  mlir::LogicalResult lowerRoleBuffer(mlir::Operation *op);
  bool writeMatrices(mlir::Value base, const LinearLayout &offsets,
                     llvm::ArrayRef<mlir::Value> elements);
  /// Whether this is the first thread of the copy of the role, or of the program.
  mlir::Value isFirstThread();
  void emitIf(mlir::Value condition, llvm::function_ref<void()> emit);
  // Channels.cpp
  void lowerChannel(tile::ChannelOp op);
  mlir::LogicalResult lowerPut(tile::PutOp op);
  mlir::LogicalResult lowerWrittenPut(tile::PutOp op);
  mlir::LogicalResult lowerGet(tile::GetOp op);
  void lowerRelease(tile::ReleaseOp op);
  void lowerAcquire(tile::AcquireOp op);
  void lowerCommit(tile::CommitOp op);
  /// Sets tensor memory aside for the accumulators that roles capture, as long as they run.
  mlir::LogicalResult lowerTensorMemory(tile::WarpGroupsOp op,
                                        llvm::function_ref<mlir::LogicalResult()> lowerRoles);
  mlir::LogicalResult lowerAdvance(tile::AdvanceOp op);
  mlir::LogicalResult lowerCopyIn(tile::CopyInOp op);
  mlir::LogicalResult lowerCopyOut(tile::CopyOutOp op);
  mlir::LogicalResult lowerPart(tile::PartOp op);
  llvm::SmallVector<mlir::Value> getSlot(mlir::Value channel, mlir::Value slot);
  mlir::Value getBarrier(mlir::Value channel, mlir::Value slot, bool full);
  mlir::Value getSharedAt(mlir::Value base, mlir::Value bytes);
  /// The parameter that holds the map of a view for boxes; an error at `op` if its engine cannot
  /// copy them.
  mlir::FailureOr<mlir::Value> getMap(mlir::Operation *op, mlir::Attribute atom, mlir::Value view,
                                      const CopyBoxes &boxes, bool isWritten);
  std::optional<CopyBoxes> getBoxes(mlir::Attribute atom, tile::BufferType buffer);
  void forEachBox(const CopyBoxes &boxes, tile::BufferType type, mlir::Value buffer,
                  mlir::ValueRange offsets,
                  llvm::function_ref<void(mlir::Value, mlir::ValueRange)> emit);
  // OwnRings.cpp
  void lowerOwnChannel(tile::ChannelOp op);
  mlir::LogicalResult lowerOwnPut(tile::PutOp op);
  void lowerOwnGet(tile::GetOp op);
  void lowerOwnRelease(tile::ReleaseOp op);
  static bool frees(tile::BarrierOp op);
  void lowerWaitPuts(tile::WaitPutsOp op);
  void setOwnSlot(mlir::ValueRange buffers, mlir::Value channel, mlir::Value slot);
  Scopes getScopes(mlir::Value buffer);
  void setOtherScopes();
  void accessSlot(mlir::Value buffer, llvm::function_ref<void()> emit);
  mlir::LogicalResult lowerDirectCopy(tile::CopyInOp op);
  /// Who copies what of a buffer, by the lanes, warps of the role and turns (registers) of an atom.
  mlir::FailureOr<LinearLayout> getShares(tile::CopyInOp op, DirectAtomInterface atom);
  // AsyncDots.cpp
  mlir::LogicalResult lowerStartDot(tile::StartDotOp op);
  mlir::LogicalResult lowerFill(tile::FillOp op);
  mlir::LogicalResult lowerFetch(tile::FetchOp op);
  mlir::LogicalResult lowerWait(tile::WaitOp op);
  mlir::LogicalResult lowerScan(tile::ScanOp op); // Scan.cpp
  // Scratch.cpp
  /// Element `at` (i32) of an array in shared memory.
  mlir::Value loadScratch(mlir::Value base, mlir::Value at, mlir::Type element);
  void storeScratch(mlir::Value base, mlir::Value at, mlir::Value element);
  mlir::Value offsetScratch(mlir::Value base, int64_t bytes);
  /// start + the sum of a register's coordinates times strides, as i32.
  mlir::Value getFlatIndex(const Place &place, int64_t reg, llvm::ArrayRef<int64_t> strides,
                           int64_t start = 0);
  /// Stores the registers of a tensor at such indices, and loads them.
  void scatterScratch(mlir::Value base, mlir::Value tensor, llvm::ArrayRef<int64_t> strides,
                      int64_t start = 0);
  llvm::SmallVector<mlir::Value> gatherScratch(mlir::Value base, const LinearLayout &layout,
                                               llvm::ArrayRef<int64_t> strides, int64_t start,
                                               mlir::Type element);
  /// This thread's number in the block, as i32.
  mlir::Value getThread();
  /// Runs `body` for each i32 of this thread's share of 0 to `count`.
  void forShare(int64_t count, llvm::function_ref<void(mlir::Value)> body);
  /// Runs `body` where `guard` holds; a null guard always does.
  void when(mlir::Value guard, llvm::function_ref<void()> body);
  mlir::Value both(mlir::Value left, mlir::Value right);
  /// Whether a register's coordinates are below a tile's extents; null if they always are.
  mlir::Value isWithinTile(const Place &place, int64_t reg, llvm::ArrayRef<int64_t> extents);
  // Rearrange.cpp
  mlir::LogicalResult lowerRearrangement(mlir::Operation *op);
  mlir::LogicalResult lowerBits(tile::BitcastOp op);
  mlir::LogicalResult lowerTable(mlir::arith::ConstantOp op);
  // Select.cpp
  mlir::LogicalResult lowerSort(mlir::Operation *op, int64_t axis, bool descending,
                                bool isUnsigned);
  void sortPairs(mlir::Value keys, mlir::Value positions, mlir::Type keyType, int64_t rows,
                 int64_t extent);
  mlir::LogicalResult lowerHistogram(tile::HistogramOp op);
  mlir::LogicalResult lowerTake(tile::TakeOp op);
  // Indexed.cpp
  Element getElement(mlir::Value view, llvm::ArrayRef<mlir::Value> indices);
  Element getNearElement(mlir::Value view, llvm::ArrayRef<mlir::Value> indices);
  mlir::Value getElementAddress(mlir::Value view, mlir::Value at);
  mlir::Value loadElement(mlir::Value view, Element element, mlir::Value padding, bool streaming);
  mlir::LogicalResult lowerAtomic(mlir::Operation *op);
  mlir::Value emitAtomic(mlir::Operation *op, mlir::Value pointer, mlir::Value compare,
                         mlir::Value value);
  // Gather.cpp
  llvm::SmallVector<mlir::Value> loadRun(mlir::Value view, Element element, int64_t width,
                                         mlir::Value padding, bool streaming);
  mlir::LogicalResult lowerGather(tile::GatherOp op);
  mlir::LogicalResult lowerScatter(tile::ScatterOp op);
  // Outside.cpp
  mlir::LogicalResult lowerAssert(tile::AssertOp op);
  mlir::LogicalResult lowerPrint(tile::PrintOp op);
  void lowerLine(tile::PrintOp op, mlir::Value value, llvm::ArrayRef<int64_t> shape,
                 mlir::Value element);
  mlir::Value holdsForAll(tile::AssertOp op, mlir::Value holds);
  /// Leaves a record for the host: which message, of which program (none: this one), and what is
  /// its own.
  void leaveMessage(mlir::Attribute message, mlir::ValueRange program, mlir::Value element,
                    mlir::Value value);
  // Foreign.cpp
  mlir::LogicalResult lowerInlineAsm(tile::InlineAsmOp op);
  mlir::LogicalResult lowerExternCall(tile::ExternCallOp op);
  mlir::Value packRegister(llvm::ArrayRef<mlir::Value> elements, mlir::Type type);
  llvm::SmallVector<mlir::Value> unpackRegister(mlir::Value value, mlir::Type element,
                                                int64_t count);
  // Packed.cpp
  mlir::LogicalResult lowerPackedLoad(tile::LoadOp op);
  mlir::LogicalResult lowerPackedStore(tile::StoreOp op);
  void storeBits(mlir::Value pointer, mlir::Value mask, mlir::Value byte);
  // Dot.cpp
  mlir::LogicalResult lowerDot(tile::DotOp op);
  mlir::LogicalResult lowerDotByAtom(tile::DotOp op, WarpMmaAtomInterface atom);
  mlir::LogicalResult lowerDotByFma(tile::DotOp op);
  mlir::LogicalResult lowerScaledDot(tile::DotScaledOp op);

  tile::KernelOp kernel;
  TargetInterface target;
  const Chip &chip;
  unsigned warps;
  mlir::OpBuilder builder;
  /// Stands at the end of what every thread computes first.
  mlir::OpBuilder prologue;
  mlir::Location loc;
  mlir::func::FuncOp function;
  mlir::Value lane, warp;
};

} // namespace kiln

#endif // KILN_LIB_TARGET_COMMON_THREADS_THREADLOWERING_H
