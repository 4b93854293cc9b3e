// As few warps as must, at what the chip has for them.
//
// Where groups of warps have barriers of their own, those of a copy meet alone, and so do the lanes
// of a copy of one warp that is a program. Where all share one barrier, all come to it: copies that
// run the same ops together may, since each comes to every one of them. Copies that lag behind one
// another, or run programs of their own, and roles beside others do not come together: their warps
// meet at barriers in shared memory, which cost more than the one of all.
#include "Meetings.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Target/Common/Meetings.h"
#include "kiln/Target/Common/SharedPieces.h"
#include "kiln/Target/TargetInterface.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether all that the block runs is a role whose copies come to every op of it at once.
static bool runsTogether(KernelOp kernel, RoleAttr role) {
  auto warps = kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName);
  bool isAll = !warps || warps.getInt() == role.getTotalWarps();
  return isAll && countBlockPrograms(kernel) == 1 && canMeetBetween(kernel, role);
}

static Meeting choose(Operation *op, RoleAttr role, KernelOp kernel) {
  auto warps = kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName);
  bool areTogether = isTogether(op, role);
  bool areBlocks = countBlockPrograms(kernel) > 1;
  if (areTogether && warps && warps.getInt() == role.getTotalWarps())
    return Meeting::All;
  if (countGroupBarriers(op) > 0) {
    if (areTogether)
      return role.getCopies() > 1 ? Meeting::Role : Meeting::Copy;
    return areBlocks && role.getWarps() == 1 ? Meeting::Lanes : Meeting::Copy;
  }
  if (runsTogether(kernel, role))
    return Meeting::All;
  if (areTogether && role.getCopies() > 1)
    return Meeting::Role;
  return role.getWarps() == 1 ? Meeting::Lanes : Meeting::Copy;
}

/// What all copies do once, and all see.
static LogicalResult checkTogether(Operation *op, RoleAttr role) {
  if (role.getSkew() == 0 || !isOfAllCopies(op))
    return success();
  return op->emitOpError("expected a role whose copies come to it together, got role \"")
         << role.getName() << "\" with a skew of " << role.getSkew();
}

/// Whether warps of a role may have to meet in groups; where pieces of shared memory are used one
/// after another is not known yet.
static bool mayMeetInGroups(Region &region, RoleAttr role, KernelOp kernel) {
  auto warps = kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName);
  bool isAll = warps && warps.getInt() == role.getTotalWarps();
  return region
      .walk([&](Operation *op) {
        bool meets = isa<BarrierOp, AllocOp>(op) || getScratchBytes(op);
        bool isOfAll = isAll && isTogether(op, role) && !isa<AllocOp>(op);
        return meets && !isOfAll ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void kiln::makeMeetingPlaces(KernelOp kernel) {
  if (!meetInShared(kernel))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  for (auto groups : kernel.getBody().getOps<WarpGroupsOp>())
    for (auto [number, region] : llvm::enumerate(groups.getBodies())) {
      RoleAttr role = groups.getRole(number);
      if (role.getTotalWarps() == 1 || runsTogether(kernel, role) ||
          !mayMeetInGroups(region, role, kernel))
        continue;
      auto type = ChannelType::get(kernel.getContext(), role.getCopies(), /*own=*/false, {});
      auto channel =
          ChannelOp::create(builder, groups.getLoc(), type, role.getWarps(), role.getTotalWarps());
      channel->setAttr(kMeetsInAttrName, builder.getStringAttr(role.getName()));
    }
}

LogicalResult kiln::decideMeetings(WarpGroupsOp groups) {
  // What is for no chip yet cannot be lowered either.
  if (!getTarget(groups))
    return success();
  auto kernel = cast<KernelOp>(groups->getParentOp());
  WalkResult result = groups.walk([&](Operation *op) -> WalkResult {
    RoleAttr role = op == groups ? RoleAttr() : WarpGroupsOp::getRoleOf(op);
    if (!role)
      return WalkResult::advance();
    if (failed(checkTogether(op, role)))
      return WalkResult::interrupt();
    if (!mayMeet(op))
      return WalkResult::advance();
    Meeting meeting = choose(op, role, kernel);
    op->setAttr(kMeetsAttrName, StringAttr::get(op->getContext(), stringify(meeting)));
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
