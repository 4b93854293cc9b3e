// Proves of each realised kernel, on small instances, that its roles keep to their channels.
#include "Protocol/Replay.h"
#include "Protocol/Rounds.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SetVector.h"

namespace kiln {
#define GEN_PASS_DEF_CHECKPROTOCOL
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// The traces of all roles and their copies, of each of these programs.
static FailureOr<std::vector<protocol::Trace>> traceAll(WarpGroupsOp groups,
                                                        ArrayRef<protocol::Instance> programs,
                                                        const protocol::Overlaps &overlaps) {
  std::vector<protocol::Trace> traces;
  size_t copies = 0;
  for (unsigned role = 0; role < groups.getRoles().size(); ++role)
    copies += groups.getRole(role).getCopies();
  traces.reserve(copies * programs.size()); // a trace is long, and would be copied
  for (const protocol::Instance &program : programs)
    for (unsigned role = 0; role < groups.getRoles().size(); ++role)
      for (unsigned copy = 0; copy < groups.getRole(role).getCopies(); ++copy) {
        FailureOr<protocol::Trace> trace = protocol::trace(groups, role, copy, program, overlaps);
        if (failed(trace))
          return failure();
        traces.push_back(std::move(*trace));
      }
  return traces;
}

static bool hasPairs(WarpGroupsOp groups) {
  return llvm::any_of(groups.getCaptures().getTypes(), [](Type type) {
    auto channel = dyn_cast<ChannelType>(type);
    return channel && channel.getPair();
  });
}

/// A number that tells what traces do from what others do.
static uint64_t getName(ArrayRef<protocol::Trace> traces) {
  llvm::hash_code name = traces.size();
  for (const protocol::Trace &trace : traces) {
    name = llvm::hash_combine(name, trace.events.size(), trace.skips);
    for (const protocol::Event &event : trace.events) {
      name = llvm::hash_combine(name, event.kind, event.who, event.op, event.piece, event.channel,
                                event.position, event.slot, event.buffer);
      for (const protocol::Reach &reach : event.reaches)
        name = llvm::hash_combine(name, reach.programs, reach.bytes);
    }
  }
  return name;
}

namespace {
/// Checks a kernel on one instance after another.
class Checker {
public:
  explicit Checker(WarpGroupsOp groups)
      : groups(groups), overlaps(groups), rounds(groups),
        cluster(getClusterExtents(cast<KernelOp>(groups->getParentOp()))),
        sharesTiles(protocol::sharesTiles(groups)), usesPairs(hasPairs(groups)) {}
  LogicalResult run();

private:
  LogicalResult checkOn(const protocol::Instance &launch);
  LogicalResult checkPublishing();

  WarpGroupsOp groups;
  protocol::Overlaps overlaps;
  protocol::Rounds rounds;
  bool isChecked = false;
  /// By their names, which events were gone through.
  DenseSet<uint64_t> played;
  Operation *tooLong = nullptr;
  /// Programs that share tiles out are looked at together; of all others one alone.
  std::array<int64_t, 3> cluster;
  bool sharesTiles, usesPairs;
  /// Of all instances: the barriers that publish, and those that must.
  llvm::SetVector<Operation *> publishing, needed;
};
} // namespace

/// Instances on which a role runs too long are left out: nested loops of small steps run through
/// the large extents, and go round each ring with the small ones.
LogicalResult Checker::checkOn(const protocol::Instance &launch) {
  std::vector<protocol::Instance> programs = launch.getProgramsOfCluster(cluster, sharesTiles);
  const protocol::Instance &instance = programs.front();
  FailureOr<std::vector<protocol::Trace>> traces = traceAll(groups, programs, overlaps);
  if (failed(traces))
    return failure();
  auto isLong = [](const protocol::Trace &trace) { return trace.tooLong != nullptr; };
  if (auto trace = llvm::find_if(*traces, isLong); trace != traces->end()) {
    tooLong = trace->tooLong;
    return success();
  }
  // Of what two programs fill together the first alone gets, starts and releases.
  auto skips = [](const protocol::Trace &trace) { return trace.skips; };
  if (usesPairs && llvm::any_of(*traces, skips))
    return groups.emitOpError(
        "expected roles that take all uses of their slots, since two programs "
        "multiply together, got one that steps over some");
  // What other roles have done alike, on other numbers, need not be played again.
  rounds.add(*traces);
  isChecked |= instance.getExtent(0, 0) > 0;
  if (!played.insert(getName(*traces)).second)
    return success();
  FailureOr<protocol::Order> order = protocol::play(groups, *traces, instance);
  if (failed(order))
    return failure();
  protocol::Replay replay(groups, *traces, overlaps, instance);
  if (failed(replay.run(*order)))
    return failure();
  for (const protocol::Trace &trace : *traces)
    publishing.insert_range(trace.publishing);
  needed.insert_range(replay.needed);
  return success();
}

/// A fence that nothing needs is a wait for nothing.
LogicalResult Checker::checkPublishing() {
  for (Operation *barrier : publishing)
    if (!needed.contains(barrier))
      return barrier->emitOpError("expected no 'publish', since no engine reads what warps have "
                                  "written in front of it");
  return success();
}

LogicalResult Checker::run() {
  if (failed(protocol::checkPrepared(groups)) || failed(protocol::checkCounts(groups)))
    return failure();
  for (const protocol::Instance &instance : protocol::getInstances())
    if (failed(checkOn(instance)))
      return failure();
  while (std::optional<protocol::Instance> longer = rounds.getLonger())
    if (failed(checkOn(*longer)))
      return failure();
  if (isChecked || !tooLong)
    return checkPublishing();
  return tooLong->emitOpError("expected a role that ends within ")
         << protocol::kMostSteps << " steps on small extents";
}

namespace {
struct CheckProtocol : kiln::impl::CheckProtocolBase<CheckProtocol> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk(
        [](WarpGroupsOp groups) -> WalkResult { return WalkResult(Checker(groups).run()); });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
