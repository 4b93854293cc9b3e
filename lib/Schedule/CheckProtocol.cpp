// Proves of each realised kernel, on small instances, that its roles keep to their channels.
#include "Protocol/Decoded.h"
#include "Protocol/Replay.h"
#include "Protocol/Rounds.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace kiln {
#define GEN_PASS_DEF_CHECKPROTOCOL
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static bool hasPairs(WarpGroupsOp groups) {
  return llvm::any_of(groups.getCaptures().getTypes(), [](Type type) {
    auto channel = dyn_cast<ChannelType>(type);
    return channel && channel.getPair();
  });
}

/// Numbers that tell what a trace does from what others do: each event with those in front of it,
/// and how often the ring was gone round by then.
static SmallVector<uint64_t> getSteps(ArrayRef<protocol::ChannelFacts> channels,
                                      const protocol::Trace &trace) {
  SmallVector<uint64_t> steps;
  constexpr unsigned kInFront = 3;
  constexpr int64_t kRounds = 2;
  std::array<uint64_t, kInFront> inFront = {};
  uint64_t who = protocol::getName({trace.role, trace.copy, trace.program, trace.skips});
  for (const protocol::Event &event : trace.events) {
    int64_t depth = event.usesChannel() ? channels[event.channel].depth : 0;
    int64_t round = depth > 0              ? std::min(event.position / depth, kRounds)
                    : event.isWaitForOwn() ? event.position
                                           : 0;
    uint64_t step = protocol::getName({uint64_t(reinterpret_cast<uintptr_t>(event.op)),
                                       uint64_t(event.kind) << 8 | uint64_t(event.who),
                                       uint64_t(reinterpret_cast<uintptr_t>(event.piece)),
                                       uint64_t(event.slot), event.buffer, uint64_t(round)});
    for (const protocol::Reach &reach : trace.getReaches(event))
      step = protocol::getName({step, reach.programs, uint64_t(reach.bytes)});
    steps.push_back(protocol::getName({who, step, inFront[0], inFront[1], inFront[2]}));
    inFront = {step, inFront[0], inFront[1]};
  }
  steps.push_back(protocol::getName({who, inFront[0], inFront[1], inFront[2]}));
  return steps;
}

namespace {
/// Checks a kernel on one instance after another.
class Checker {
public:
  explicit Checker(WarpGroupsOp groups)
      : groups(groups), decoded(groups), rounds(groups),
        cluster(getClusterExtents(cast<KernelOp>(groups->getParentOp()))),
        sharesTiles(protocol::sharesTiles(groups)), usesPairs(hasPairs(groups)) {}
  LogicalResult run();

private:
  FailureOr<std::vector<protocol::Trace>> traceAll(ArrayRef<protocol::Instance> programs);
  LogicalResult checkOn(const protocol::Instance &launch);
  bool playSteps(ArrayRef<protocol::Trace> traces);
  LogicalResult checkPublishing();

  WarpGroupsOp groups;
  protocol::Decoded decoded;
  protocol::Rounds rounds;
  bool isChecked = false;
  /// The names of the steps that were gone through, of the traces that they are in, and of all that
  /// roles did on an instance.
  DenseSet<uint64_t> played, traced, done;
  Operation *tooLong = nullptr;
  /// Programs that share tiles out are looked at together; of all others one alone.
  std::array<int64_t, 3> cluster;
  bool sharesTiles, usesPairs;
  /// Of all instances: the barriers that publish, and those that must.
  llvm::SetVector<Operation *> publishing, needed;
};
} // namespace

/// The traces of all roles and their copies, of each of these programs.
FailureOr<std::vector<protocol::Trace>> Checker::traceAll(ArrayRef<protocol::Instance> programs) {
  size_t copies = 0, first = 0;
  for (auto role : groups.getRoles().getAsRange<RoleAttr>())
    copies += role.getCopies();
  std::vector<protocol::Trace> traces(copies * programs.size());
  // What the two programs of a pair do together, they do each in its own way.
  size_t count = usesPairs ? 1 : programs.size();
  for (unsigned role = 0; role < groups.getRoles().size(); ++role) {
    for (size_t program = 0; program < programs.size(); program += count) {
      FailureOr<std::vector<protocol::Trace>> made =
          protocol::trace(decoded, role, programs.slice(program, count));
      if (failed(made))
        return failure();
      for (auto [i, trace] : llvm::enumerate(*made))
        traces[(program + i % count) * copies + first + trace.copy] = std::move(trace);
    }
    first += groups.getRole(role).getCopies();
  }
  return traces;
}

/// Instances on which a role runs too long are left out: nested loops of small steps run through
/// the large extents, and go round each ring with the small ones.
LogicalResult Checker::checkOn(const protocol::Instance &launch) {
  std::vector<protocol::Instance> programs = launch.getProgramsOfCluster(cluster, sharesTiles);
  const protocol::Instance &instance = programs.front();
  FailureOr<std::vector<protocol::Trace>> traces = traceAll(programs);
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
  rounds.add(*traces);
  isChecked |= instance.getExtent(0, 0) > 0;
  // What all do hangs on nothing else of an instance.
  uint64_t name = 0;
  for (const protocol::Trace &trace : *traces)
    name = protocol::getName({name, trace.name});
  if (!done.insert(name).second)
    return success();
  FailureOr<protocol::Order> order = protocol::play(decoded, *traces, instance);
  if (failed(order))
    return failure();
  if (!playSteps(*traces))
    return success();
  protocol::Replay replay(decoded, *traces, instance);
  if (failed(replay.run(*order)))
    return failure();
  for (const protocol::Trace &trace : *traces)
    publishing.insert_range(trace.publishing);
  needed.insert_range(replay.needed);
  return success();
}

/// What roles have done already, one step behind another, need not be ordered again.
bool Checker::playSteps(ArrayRef<protocol::Trace> traces) {
  size_t before = played.size();
  for (const protocol::Trace &trace : traces)
    if (traced.insert(trace.name).second)
      played.insert_range(getSteps(decoded.channels, trace));
  return played.size() > before;
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
  CheckProtocol() = default;
  explicit CheckProtocol(SharedProofs proofs) : proofs(std::move(proofs)) {}

  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      for (auto groups : kernel.getBody().getOps<WarpGroupsOp>()) {
        if (proofs && proofs->has(kernel))
          continue;
        if (failed(Checker(groups).run()))
          return signalPassFailure();
        if (proofs)
          proofs->add(kernel);
      }
  }

  SharedProofs proofs;
};
} // namespace

std::unique_ptr<Pass> kiln::createCheckProtocol(SharedProofs proofs) {
  return std::make_unique<CheckProtocol>(std::move(proofs));
}
