// As few warps as must, at what the chip has for them.
//
// Where groups of warps have barriers of their own, those of a copy meet alone, and so do the lanes
// of a copy of one warp that is a program. Where all share one barrier, all come to it: copies that
// run the same ops together may, since each comes to every one of them. Copies that lag behind one
// another, or run programs of their own, do not come together.
#include "Meetings.h"
#include "SourceErrors.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Target/Common/Meetings.h"
#include "kiln/Target/Common/SharedPieces.h"
#include "kiln/Target/TargetInterface.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Why the warps of each copy need a barrier of their own at an op.
static InFlightDiagnostic refuse(Operation *op, RoleAttr role, const Twine &expected) {
  return emitSourceError(op, "expected ")
         << expected << " in role \"" << role.getName() << "\", since the warps of each copy meet "
         << "here and " << getTarget(op).getSpelling() << " has one barrier for all warps";
}

static FailureOr<Meeting> choose(Operation *op, RoleAttr role, KernelOp kernel) {
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
  if (areBlocks)
    return refuse(op, role, "'" + kBlockProgramsAttrName + "' of 1, one program in a block,")
           << ", got " << countBlockPrograms(kernel);
  if (role.getSkew() > 0)
    return refuse(op, role, "copies without a skew") << ", got a skew of " << role.getSkew();
  return Meeting::All;
}

/// What all copies do once, and all see.
static LogicalResult checkTogether(Operation *op, RoleAttr role) {
  if (role.getSkew() == 0 || !isOfAllCopies(op))
    return success();
  return op->emitOpError("expected a role whose copies come to it together, got role \"")
         << role.getName() << "\" with a skew of " << role.getSkew();
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
    FailureOr<Meeting> meeting = choose(op, role, kernel);
    if (failed(meeting))
      return WalkResult::interrupt();
    op->setAttr(kMeetsAttrName, StringAttr::get(op->getContext(), stringify(*meeting)));
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
