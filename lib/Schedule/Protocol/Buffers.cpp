// Buffers of the program, through which the copies of a role exchange what each has made; and
// places of shared memory that are used in several ways after one another.
#include "Protocol.h"
#include "kiln/Target/Common/SharedPieces.h"
#include "llvm/ADT/MapVector.h"
#include <set>

using namespace mlir;
using namespace kiln;
using namespace kiln::protocol;
using namespace kiln::tile;

/// Copies pass the same barriers, so how many there were tells what comes before what.
LogicalResult kiln::protocol::checkBuffers(WarpGroupsOp groups, ArrayRef<Trace> traces,
                                           const Instance &instance) {
  using Buffer = std::pair<unsigned, Operation *>;
  struct Access {
    const Trace *trace;
    const BufferAccess *access;
  };
  // Of each buffer of each program: the first write, its accesses between the same two barriers,
  // and the role that has it.
  DenseMap<Buffer, int64_t> written;
  DenseMap<std::pair<Buffer, int64_t>, SmallVector<Access>> between;
  DenseMap<Buffer, unsigned> roles;
  auto fail = [&](const Access &at, const Access *other, const Twine &expected) {
    InFlightDiagnostic error = at.access->op->emitOpError("expected ") << expected;
    if (other)
      error.attachNote(other->access->op->getLoc())
          << "copy " << other->trace->copy << (other->access->isWrite ? " writes" : " reads")
          << " it here";
    error.attachNote(at.access->buffer->getLoc()) << "the buffer";
    describe(error, groups, instance);
    return failure();
  };
  for (const Trace &trace : traces)
    for (const BufferAccess &access : trace.accesses)
      if (access.isWrite) {
        auto [first, isNew] = written.try_emplace({trace.program, access.buffer}, access.barriers);
        first->second = std::min(first->second, access.barriers);
      }
  for (const Trace &trace : traces)
    for (const BufferAccess &access : trace.accesses) {
      Buffer buffer{trace.program, access.buffer};
      Access at{&trace, &access};
      if (roles.try_emplace(buffer, trace.role).first->second != trace.role)
        return fail(at, nullptr, "a buffer that one role alone uses, since no barrier orders two");
      auto first = written.find(buffer);
      if (!access.isWrite && (first == written.end() || first->second >= access.barriers))
        return fail(at, nullptr,
                    "the buffer to be written in front of a tile.barrier all_copies "
                    "before it is read");
      SmallVector<Access> &others = between[{buffer, access.barriers}];
      for (const Access &other : others)
        if (access.isWrite || other.access->isWrite)
          return fail(at, &other,
                      "a tile.barrier of all copies between this and another access to the buffer");
      others.push_back(at);
    }
  return success();
}

Overlaps::Overlaps(WarpGroupsOp groups) {
  PlacedPieces placed = findPlacedPieces(cast<KernelOp>(groups->getParentOp()));
  for (auto [one, other] : placed.overlaps) {
    others[placed.found.ops[one]].push_back(placed.found.ops[other]);
    others[placed.found.ops[other]].push_back(placed.found.ops[one]);
  }
}

InFlightDiagnostic kiln::protocol::refuseLost(Operation *op, Operation *buffer) {
  InFlightDiagnostic error =
      op->emitOpError("expected the buffer to hold what was written to it, got one that shares its "
                      "place of shared memory with what was used since");
  error.attachNote(buffer->getLoc()) << "the buffer";
  return error;
}

LogicalResult kiln::protocol::checkPlaces(WarpGroupsOp groups, ArrayRef<Trace> traces,
                                          const Overlaps &overlaps, const Instance &instance) {
  // Of each program: between which two barriers which piece is used, and by what; and behind which
  // barriers each buffer of the program is written.
  using Piece = std::pair<unsigned, Operation *>;
  DenseMap<std::pair<unsigned, int64_t>, llvm::SmallMapVector<Operation *, Operation *, 4>> uses;
  DenseMap<Piece, std::set<int64_t>> used, written;
  for (const Trace &trace : traces) {
    for (const BufferAccess &access : trace.accesses)
      if (access.isWrite)
        written[{trace.program, access.buffer}].insert(access.barriers);
    for (const PlaceUse &use : trace.places)
      for (int64_t barriers = use.first; barriers <= use.last; ++barriers) {
        used[{trace.program, use.piece}].insert(barriers);
        auto &here = uses[{trace.program, barriers}];
        for (Operation *other : overlaps.of(use.piece))
          if (auto at = here.find(other); at != here.end()) {
            InFlightDiagnostic error = use.op->emitOpError(
                "expected a tile.barrier of all copies between this and another use of its place "
                "of shared memory");
            error.attachNote(at->second->getLoc()) << "which is used here";
            describe(error, groups, instance);
            return failure();
          }
        here.insert({use.piece, use.op});
      }
  }
  for (const Trace &trace : traces)
    for (const BufferAccess &access : trace.accesses)
      for (Operation *other : overlaps.of(access.buffer)) {
        // That there is a write in front of it, checkBuffers has asked.
        const std::set<int64_t> &writes = written[{trace.program, access.buffer}];
        const std::set<int64_t> &others = used[{trace.program, other}];
        auto write = writes.lower_bound(access.barriers);
        if (access.isWrite || write == writes.begin())
          continue;
        auto since = others.lower_bound(*std::prev(write));
        if (since == others.end() || *since > access.barriers)
          continue;
        InFlightDiagnostic error = refuseLost(access.op, access.buffer);
        describe(error, groups, instance);
        return failure();
      }
  return success();
}
