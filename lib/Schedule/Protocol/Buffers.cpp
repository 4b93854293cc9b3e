// Buffers of the program, through which the copies of a role exchange what each has made.
#include "Protocol.h"
#include "llvm/ADT/DenseMap.h"

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
