// The slots that copies of a role need which lag behind one another, around the loops in which they
// meet; and who gives rings so many.
#include "Lags.h"
#include "LoopProblem.h"
#include "Trip.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

int64_t kiln::getLag(RoleAttr role) { return role.getSkew() * (role.getCopies() - 1); }

/// In the ops of a region, each of whose dots may be a turn.
static int64_t countTurns(Region &region, RoleAttr role) {
  int64_t turns = 0;
  if (!region.empty())
    for (Operation &op : region.front())
      turns += kiln::countTurns(&op, role);
  return turns;
}

int64_t kiln::countTurns(Operation *op, RoleAttr role) {
  if (auto dot = dyn_cast<DotOp>(op))
    return dot.getInFlight() && lookUpRole(dot) == role;
  int64_t most = 0, least = std::numeric_limits<int64_t>::max();
  for (Region &region : op->getRegions()) {
    int64_t turns = ::countTurns(region, role);
    most = std::max(most, turns);
    least = std::min(least, std::max<int64_t>(turns, 1));
  }
  if (most == 0)
    return 0;
  if (isa<scf::IfOp>(op))
    return least;
  auto loop = dyn_cast<scf::ForOp>(op);
  std::optional<APInt> trips = loop ? loop.getStaticTripCount() : std::nullopt;
  return trips && !trips->isZero() ? trips->getSExtValue() * most : 1;
}
