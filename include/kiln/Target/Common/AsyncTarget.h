// What a target's threads have to wait for one another and for engines that work beside them.
//
// The lowering of roles and channels is common; how a barrier is made, a count announced and a
// register handed over is each target's. A target whose chips have such things registers this
// interface with its dialect.
#ifndef KILN_TARGET_COMMON_ASYNCTARGET_H
#define KILN_TARGET_COMMON_ASYNCTARGET_H

#include "kiln/Target/TargetInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectInterface.h"

namespace kiln {

class AsyncTarget : public mlir::DialectInterface::Base<AsyncTarget> {
public:
  explicit AsyncTarget(mlir::Dialect *dialect) : Base(dialect) {}

  /// Whether a chip of this target has what follows.
  virtual bool supports(llvm::StringRef chip) const = 0;

  //===- Launches ---------------------------------------------------------------------------===//

  /// Lets what follows on the stream begin, and waits until all that precedes has ended and its
  /// memory can be read. First in a kernel that overlaps its neighbours.
  virtual void overlapLaunches(mlir::OpBuilder &builder, mlir::Location loc) const = 0;

  //===- Barriers in shared memory ----------------------------------------------------------===//

  /// A phase of one ends when so many have arrived and all bytes it was told of have come; its
  /// first phase is 0.
  static constexpr int64_t barrierBytes = 8;
  virtual void initBarrier(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value barrier,
                           int64_t arrivals) const = 0;
  /// After all of them are made: engines see them too.
  virtual void publishBarriers(mlir::OpBuilder &builder, mlir::Location loc) const = 0;
  virtual void arrive(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value barrier) const = 0;
  /// Arrives and announces bytes that engines will bring.
  virtual void arriveExpecting(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value barrier,
                               int64_t bytes) const = 0;
  /// Holds the phase up until all that this thread has started to copy into shared memory itself is
  /// there. It does not count among the arrivals.
  virtual void awaitCopies(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value barrier) const = 0;
  /// Until the phase of this parity (i32) has ended; of a fresh barrier, that of parity 1 has.
  virtual void waitBarrier(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value barrier,
                           mlir::Value parity) const = 0;

  /// The lanes of a warp wait for one another; what each of them did lies before what any does
  /// next.
  virtual void meetLanes(mlir::OpBuilder &builder, mlir::Location loc) const = 0;

  //===- Groups of warps --------------------------------------------------------------------===//

  /// A barrier of a group of warps; `number` is an i32, from 1 on and below the chip's
  /// `namedBarriers`.
  virtual void groupBarrier(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value number,
                            int64_t threads) const = 0;
  /// What this thread wrote to shared memory, or to global memory, engines see.
  virtual void publishShared(mlir::OpBuilder &builder, mlir::Location loc) const = 0;
  virtual void publishGlobal(mlir::OpBuilder &builder, mlir::Location loc) const = 0;
  /// Leaves each thread of the group so many registers of the `before` it has.
  virtual void setRegisters(mlir::OpBuilder &builder, mlir::Location loc, int64_t before,
                            int64_t after) const = 0;

  //===- Engines ----------------------------------------------------------------------------===//

  /// The type of a parameter that holds a map of a view; its attribute is `tile.tensor_map`, from
  /// which the conversion to LLVM makes those of a parameter by value.
  virtual mlir::Type getMapType(mlir::MLIRContext *context) const = 0;
  virtual void prefetchMap(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value map) const = 0;
  /// Ends what this thread's copies out, started since the last call, are counted as.
  virtual void commitStores(mlir::OpBuilder &builder, mlir::Location loc) const = 0;
  /// Until at most so many of those still read shared memory, or, with `done`, write at all.
  virtual void waitStores(mlir::OpBuilder &builder, mlir::Location loc, int64_t inFlight,
                          bool done) const = 0;
  /// Until at most so many of the dots that this group started are in flight. The values are
  /// those of `registers`, held until then.
  virtual llvm::SmallVector<mlir::Value> waitDots(mlir::OpBuilder &builder, mlir::Location loc,
                                                  int64_t inFlight,
                                                  mlir::ValueRange registers) const = 0;

  /// What was computed so far stays in front of the wait that comes next, so that it runs beside
  /// the dots in flight, whatever an assembler would rather do while they run.
  virtual void keepInFront(mlir::OpBuilder &builder, mlir::Location loc) const = 0;

  //===- Tensor memory ----------------------------------------------------------------------===//

  /// What is set aside for so many bytes of accumulators.
  virtual int64_t getTensorBytes(int64_t bytes) const = 0;
  /// The lanes of one warp set so many aside and write the address (i32) to shared memory, until
  /// they end that and, later, give back what they have.
  virtual void allocTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value shared,
                           int64_t bytes) const = 0;
  virtual void endTensorAllocs(mlir::OpBuilder &builder, mlir::Location loc) const = 0;
  virtual void freeTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value address,
                          int64_t bytes) const = 0;
  /// The address of a slot (i32) of so many bytes.
  virtual mlir::Value getTensorSlot(mlir::OpBuilder &builder, mlir::Location loc,
                                    mlir::Value address, mlir::Value slot, int64_t bytes) const = 0;
  /// What this thread did in tensor memory lies before what threads do there that it tells of it
  /// next; and what it does there next, behind that which it was told of.
  virtual void publishTensor(mlir::OpBuilder &builder, mlir::Location loc) const = 0;
  virtual void observeTensor(mlir::OpBuilder &builder, mlir::Location loc) const = 0;
  /// Arrives at a barrier once all dots have ended that this thread has started into tensor memory.
  virtual void commitDots(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value barrier) const = 0;

  //===- Matrices of 8 by 8 elements of 16 bits ----------------------------------------------===//

  /// The lanes of a warp write one, two or four of these at once: each lane gives the address of
  /// one row of 16 bytes, and a word of two elements of each matrix.
  virtual void storeMatrices(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value address,
                             mlir::ValueRange words) const = 0;
};

/// That of a target's chip; null if the chip has none of it. Of a target that stands in front of
/// another, instructions are the other's.
inline const AsyncTarget *getAsyncTarget(TargetInterface target) {
  mlir::Dialect &dialect = target.getReal().getDialect();
  const auto *async = dialect.getRegisteredInterface<AsyncTarget>();
  return async && async->supports(target.getChipRecord().name) ? async : nullptr;
}

} // namespace kiln

#endif // KILN_TARGET_COMMON_ASYNCTARGET_H
