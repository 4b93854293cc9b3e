// Who can meet: what a chip has barriers for.
#include "kiln/Target/Common/Meetings.h"
#include "kiln/Target/Common/SharedPieces.h"
#include "kiln/Target/Common/Synchronisation.h"
#include "kiln/Target/TargetInterface.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

bool kiln::isTogether(Operation *op, RoleAttr role) {
  auto barrier = dyn_cast<BarrierOp>(op);
  return role.getCopies() == 1 || (barrier ? barrier.getAllCopies() : isOfAllCopies(op));
}

static SynchronisationInterface getSynchronisation(Operation *op) {
  TargetInterface target = getTarget(op);
  return target ? dyn_cast<SynchronisationInterface>(target.getReal()) : SynchronisationInterface();
}

int64_t kiln::countGroupBarriers(Operation *op) {
  SynchronisationInterface sync = getSynchronisation(op);
  return sync ? sync.getGroupBarriers() : 0;
}

bool kiln::meetInShared(Operation *op) {
  SynchronisationInterface sync = getSynchronisation(op);
  return sync && !sync.getGroupBarriers();
}

ChannelOp kiln::findMeetingPlace(KernelOp kernel, RoleAttr role) {
  for (auto channel : kernel.getBody().getOps<ChannelOp>()) {
    auto name = channel->getAttrOfType<StringAttr>(kMeetsInAttrName);
    if (name && name == role.getName())
      return channel;
  }
  return {};
}

FailureOr<Meeting> kiln::requireMeeting(Operation *op) {
  std::optional<Meeting> meeting = getMeeting(op);
  if (!meeting)
    return op->emitOpError("expected '") << kMeetsAttrName << "' to be decided";
  RoleAttr role = WarpGroupsOp::getRoleOf(op);
  auto warps = op->getParentOfType<KernelOp>()->getAttrOfType<IntegerAttr>(kWarpsAttrName);
  auto refuse = [&](const Twine &expected) {
    return op->emitOpError("expected ")
           << expected << ", since '" << kMeetsAttrName << "' is \"" << stringify(*meeting)
           << "\" in role \"" << role.getName() << "\"";
  };
  bool isGroup = *meeting == Meeting::Copy || *meeting == Meeting::Role;
  if (isGroup && meetInShared(op) && !findMeetingPlace(op->getParentOfType<KernelOp>(), role))
    return refuse("a tile.channel of '" + kMeetsInAttrName + "', whose barriers these are");
  bool reachesCopies = role.getCopies() > 1 && isTogether(op, role);
  switch (*meeting) {
  case Meeting::Lanes:
    if (reachesCopies || role.getWarps() > 1)
      return refuse("copies of one warp, each of which meets alone");
    break;
  case Meeting::Copy:
    if (reachesCopies)
      return refuse("copies each of which meets alone");
    break;
  case Meeting::Role:
    break;
  case Meeting::All:
    if (warps && warps.getInt() != role.getTotalWarps())
      return refuse("a role of all " + Twine(warps.getInt()) + " warps");
    break;
  }
  return *meeting;
}

bool kiln::meetsOtherCopies(Operation *op) {
  RoleAttr role = mayMeet(op) ? WarpGroupsOp::getRoleOf(op) : RoleAttr();
  if (!role || role.getCopies() == 1)
    return false;
  auto barrier = dyn_cast<BarrierOp>(op);
  std::optional<Meeting> meeting = getMeeting(op);
  return (barrier && barrier.getAllCopies()) || meeting == Meeting::Role || meeting == Meeting::All;
}
