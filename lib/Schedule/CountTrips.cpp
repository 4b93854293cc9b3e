// How many trips each loop surely has, by what is known of the numbers that bound it.
//
// A persistent kernel runs the tiles that its grid has. So where one runs, each extent of the grid
// is 1 or more, which says as much of the arguments that it is computed of: of `ceildiv(n, 128)`,
// that n is at least 1. Any other kernel may be launched on a grid of the caller's.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/CheckedArithmetic.h"

namespace kiln {
#define GEN_PASS_DEF_COUNTTRIPS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Numbers above this are not reckoned with: no sum or product of two of them overflows.
static constexpr int64_t kMost = int64_t(1) << 30;
/// More trips than are written in front of any loop.
static constexpr int64_t kMostTrips = 64;

namespace {
class TripCounter {
public:
  explicit TripCounter(KernelOp kernel) : kernel(kernel) {}
  void run();

private:
  void learn(Value value, int64_t least);
  std::optional<int64_t> getLeast(Value value, unsigned depth = 16);
  int64_t countTrips(scf::ForOp loop);

  KernelOp kernel;
  /// What arguments are at least, by number.
  DenseMap<unsigned, int64_t> arguments;
};
} // namespace

/// Whether what is computed with it does not overflow, since no memory is as large.
static bool isWide(Value value) {
  return value.getType().isIndex() || value.getType().isInteger(64);
}

/// Takes down what a value of the grid being at least so much says of arguments.
void TripCounter::learn(Value value, int64_t least) {
  while (std::abs(least) <= kMost) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto [known, isNew] = arguments.try_emplace(argument.getArgNumber(), least);
      known->second = std::max(known->second, least);
      return;
    }
    Operation *op = value.getDefiningOp();
    if (isa<arith::MinSIOp>(op)) {
      learn(op->getOperand(1), least);
      value = op->getOperand(0);
      continue;
    }
    if (isa<arith::IndexCastOp, arith::ExtSIOp>(op)) {
      value = op->getOperand(0);
      continue;
    }
    if (!isWide(value) || !isa<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::DivSIOp,
                               arith::DivUIOp, arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
      return;
    value = op->getOperand(0);
    std::optional<int64_t> by = getConstantIntValue(op->getOperand(1));
    if (!by || *by < 0 || *by > kMost)
      return;
    if (isa<arith::AddIOp>(op))
      least -= *by;
    else if (isa<arith::SubIOp>(op))
      least += *by;
    else if (*by == 0 || least < 1)
      return;
    else if (isa<arith::MulIOp>(op))
      least = llvm::divideCeil(least, *by);
    else
      // The least number whose quotient it is.
      least = isa<arith::DivSIOp, arith::DivUIOp>(op) ? least * *by : (least - 1) * *by + 1;
  }
}

/// A number that a signed integer is not below, as far as what it is made of tells.
std::optional<int64_t> TripCounter::getLeast(Value value, unsigned depth) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return std::clamp(*constant, -kMost, kMost);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto known = arguments.find(argument.getArgNumber());
    bool isKernels = argument.getOwner() == &kernel.getBody().front();
    return isKernels && known != arguments.end() ? std::optional(known->second) : std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  if (isa<DimOp, ProgramIdOp>(op))
    return 0;
  if (isa<NumProgramsOp>(op))
    return 1;
  if (depth == 0)
    return std::nullopt;
  // Fewer bits may hold another number.
  if (isa<arith::ExtSIOp>(op) || (isa<arith::IndexCastOp>(op) && isWide(value)))
    return getLeast(op->getOperand(0), depth - 1);
  bool isBinary = isa<arith::MaxSIOp, arith::MinSIOp, arith::AddIOp, arith::MulIOp,
                      arith::CeilDivSIOp, arith::DivSIOp>(op);
  if (!isBinary || !isWide(value))
    return std::nullopt;
  std::optional<int64_t> x = getLeast(op->getOperand(0), depth - 1);
  std::optional<int64_t> y = getLeast(op->getOperand(1), depth - 1);
  if (isa<arith::MaxSIOp>(op) && (x || y))
    return std::max(x.value_or(-kMost), y.value_or(-kMost));
  if (!x || !y)
    return std::nullopt;
  if (isa<arith::MinSIOp>(op))
    return std::min(*x, *y);
  if (*x < 0 || *y < 0)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return std::min(*x + *y, kMost);
  if (isa<arith::MulIOp>(op))
    return std::min(*x * *y, kMost);
  std::optional<int64_t> by = getConstantIntValue(op->getOperand(1));
  if (!by || *by < 1)
    return std::nullopt;
  return isa<arith::DivSIOp>(op) ? *x / *by : int64_t(llvm::divideCeil(*x, *by));
}

int64_t TripCounter::countTrips(scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  std::optional<int64_t> upper = getLeast(loop.getUpperBound());
  if (loop.getUnsignedCmp() || !lower || !step || !upper || std::abs(*lower) > kMost || *step < 1 ||
      *step > kMost || *upper <= *lower)
    return 0;
  return std::min<int64_t>(llvm::divideCeil(*upper - *lower, *step), kMostTrips);
}

void TripCounter::run() {
  if (kernel.hasGrid() && kernel->getAttrOfType<PersistentAttr>(kPersistentAttrName))
    for (Value extent : kernel.getGrid().front().getTerminator()->getOperands())
      learn(extent, 1);
  kernel.getBody().walk([&](scf::ForOp loop) {
    if (int64_t trips = countTrips(loop))
      loop->setAttr(kLeastTripsAttrName, Builder(loop.getContext()).getI64IntegerAttr(trips));
  });
}

namespace {
struct CountTrips : kiln::impl::CountTripsBase<CountTrips> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (kernel->hasAttr(kRolesAttrName))
        TripCounter(kernel).run();
  }
};
} // namespace
