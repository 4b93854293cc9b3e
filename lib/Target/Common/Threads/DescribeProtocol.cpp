// By which protocol a kernel's warps hand data to one another, told in its metadata as it was
// realised: what a check of the final code must find there (kiln/Support/Protocol.h).
#include "ThreadPlans.h"
#include "kiln/Target/Common/ABI.h"
#include "kiln/Target/Common/Meetings.h"
#include "kiln/Target/Common/Synchronisation.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <set>

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

RoleBarriers kiln::numberBarriers(WarpGroupsOp op, unsigned number) {
  RoleBarriers barriers{1, 1 + number};
  for (unsigned i = 0; i < op.getBodies().size(); ++i) {
    barriers.first += i < number ? op.getRole(i).getCopies() : 0;
    barriers.shared += op.getRole(i).getCopies();
  }
  return barriers;
}

namespace {
/// Which roles arrive and wait at the barriers of a channel.
struct Users {
  std::set<unsigned> arrive, wait;
};
struct ChannelUsers {
  Users full, empty, end;
};

class Description {
public:
  Description(KernelOp kernel, TargetInterface target)
      : kernel(kernel), chip(target.getChipRecord()), builder(kernel.getContext()) {}

  void run() {
    kernel.getBody().walk([&](WarpGroupsOp op) { groups = op; });
    if (groups)
      for (unsigned number = 0; number < groups.getBodies().size(); ++number)
        addRole(number);
    for (auto channel : kernel.getBody().getOps<ChannelOp>())
      addChannel(channel);
    addFences();
    setMetadata(
        kernel, kProtocolName,
        builder.getDictionaryAttr({named("kernel", kernel.getSymName()), named("roles", roles),
                                   named("rings", rings), named("counters", counters),
                                   named("barriers", barriers), named("fences", fences)}));
  }

private:
  NamedAttribute named(StringRef name, ArrayRef<Attribute> list) {
    return builder.getNamedAttr(name, builder.getArrayAttr(list));
  }
  NamedAttribute named(StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  }
  NamedAttribute named(StringRef name, StringRef text) {
    return builder.getNamedAttr(name, builder.getStringAttr(text));
  }
  NamedAttribute named(StringRef name, const std::set<unsigned> &numbers) {
    SmallVector<Attribute> names;
    for (unsigned number : numbers)
      names.push_back(builder.getStringAttr(groups.getRole(number).getName()));
    return named(name, names);
  }
  void add(SmallVector<Attribute> &list, ArrayRef<NamedAttribute> members) {
    list.push_back(builder.getDictionaryAttr(members));
  }

  void addRole(unsigned number);
  void addUses(Region &region, unsigned number);
  void addMeeting(Operation *op, unsigned number);
  void addChannel(ChannelOp channel);
  void addFences();

  KernelOp kernel;
  const Chip &chip;
  Builder builder;
  WarpGroupsOp groups;
  int64_t firstWarp = 0;
  llvm::MapVector<Operation *, ChannelUsers> users;
  std::set<int64_t> known; ///< the numbers of barriers
  SmallVector<Attribute> roles, rings, counters, barriers, fences;
};
} // namespace

/// How many barriers of the block each innermost loop with such barriers has a trip, where no
/// condition decides on any.
static SmallVector<Attribute> countTrips(Region &region, Builder &builder) {
  llvm::MapVector<Operation *, int64_t> counts;
  std::set<Operation *> others;
  region.walk([&](Operation *op) {
    if (!mayMeet(op) || getMeeting(op) != Meeting::All)
      return;
    auto loop = op->getParentOfType<LoopLikeOpInterface>();
    if (!loop)
      return;
    if (isa<BarrierOp>(op) && op->getParentOp() == loop)
      ++counts[loop];
    else
      others.insert(loop);
    for (loop = loop->getParentOfType<LoopLikeOpInterface>(); loop;
         loop = loop->getParentOfType<LoopLikeOpInterface>())
      others.insert(loop);
  });
  SmallVector<Attribute> trips;
  for (auto [loop, count] : counts)
    if (!others.count(loop))
      trips.push_back(builder.getI64IntegerAttr(count));
  return trips;
}

void Description::addRole(unsigned number) {
  RoleAttr role = groups.getRole(number);
  auto warps = kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName).getInt();
  bool setsRegisters =
      role.getRegisters() && role.getRegisters() != chip.getRegistersAtEntry(warps);
  Region &region = groups.getBodies()[number];
  SmallVector<Attribute> trips;
  if (role.getSkew())
    trips = countTrips(region, builder);
  add(roles,
      {named("name", role.getName()), named("first", firstWarp), named("warps", role.getWarps()),
       named("copies", role.getCopies()), named("skew", role.getSkew()),
       named("registers", setsRegisters ? role.getRegisters() : 0), named("trips", trips)});
  firstWarp += role.getTotalWarps();
  addUses(region, number);
  region.walk([&](Operation *op) {
    if (mayMeet(op))
      addMeeting(op, number);
  });
}

/// At which slots a role arrives and waits.
void Description::addUses(Region &region, unsigned number) {
  for (auto [capture, argument] : llvm::zip(groups.getCaptures(), region.getArguments())) {
    auto channel = capture.getDefiningOp<ChannelOp>();
    if (!channel || channel.getResult().getType().getOwn())
      continue;
    ChannelUsers &of = users[channel];
    auto add = [&](Users &arrivesAt, Users &waitsAt, bool arrives, bool waits) {
      if (arrives)
        arrivesAt.arrive.insert(number);
      if (waits)
        waitsAt.wait.insert(number);
    };
    for (Operation *user : argument.getUsers())
      TypeSwitch<Operation *>(user)
          .Case<PutOp>([&](auto) { add(of.full, of.empty, true, true); })
          .Case<GetOp>([&](auto) { add(of.full, of.full, false, true); })
          .Case<ReleaseOp>([&](auto) { add(of.empty, of.empty, true, false); })
          .Case<AcquireOp>([&](auto) { add(of.empty, of.empty, false, true); })
          .Case<CommitOp>([&](auto) { add(of.full, of.full, true, false); })
          .Case<EndDotsOp>([&](auto) { add(of.end, of.end, true, true); });
  }
}

/// At which barrier the warps of a role do.
void Description::addMeeting(Operation *op, unsigned number) {
  RoleAttr role = groups.getRole(number);
  std::optional<Meeting> meeting = getMeeting(op);
  if (meeting != Meeting::Copy && meeting != Meeting::Role)
    return;
  bool isCopy = meeting == Meeting::Copy;
  if (meetInShared(op)) {
    ChannelUsers &of = users[findMeetingPlace(kernel, role)];
    Users &at = isCopy ? of.full : of.empty;
    at.arrive.insert(number);
    at.wait.insert(number);
    return;
  }
  RoleBarriers own = numberBarriers(groups, number);
  if (known.insert(isCopy ? own.first : own.shared).second)
    add(barriers, {named("number", isCopy ? own.first : own.shared),
                   named("count", isCopy ? role.getCopies() : 1),
                   named("warps", isCopy ? role.getWarps() : role.getTotalWarps())});
}

void Description::addChannel(ChannelOp channel) {
  ChannelType type = channel.getResult().getType();
  int64_t at = channel->getAttrOfType<IntegerAttr>(kSharedOffsetAttrName).getInt();
  ChannelPlan plan = planChannel(type);
  SmallVector<Attribute> buffers;
  for (auto [offset, bytes] : llvm::zip(plan.offsets, plan.bytes))
    add(buffers, {named("at", at + offset), named("bytes", bytes)});
  if (!buffers.empty())
    add(rings, {named("depth", type.getDepth()),
                builder.getNamedAttr("own", builder.getBoolAttr(type.getOwn())),
                named("buffers", buffers)});
  if (type.getOwn())
    return;
  const ChannelUsers &of = users[channel];
  auto addCounter = [&](int64_t offset, int64_t slots, int64_t arrivals, const Users &use) {
    if (arrivals)
      add(counters, {named("at", at + offset), named("slots", slots), named("arrivals", arrivals),
                     named("arrive", use.arrive), named("wait", use.wait)});
  };
  addCounter(plan.full, type.getDepth(), channel.getFull(), of.full);
  addCounter(plan.empty, type.getDepth(), channel.getEmpty(), of.empty);
  for (Operation *user : channel->getUsers())
    if (auto ends = user->getAttrOfType<IntegerAttr>(kEndsAttrName); ends && isa<InitOp>(user))
      addCounter(plan.end, 1, ends.getInt(), of.end);
}

void Description::addFences() {
  llvm::MapVector<StringRef, int64_t> counts;
  kernel.getBody().walk([&](Operation *op) {
    if (auto fence = dyn_cast<FenceOp>(op))
      ++counts[stringifyFenceKind(fence.getKind())];
    else if (auto barrier = dyn_cast<BarrierOp>(op); barrier && barrier.getPublish())
      ++counts[stringifyFenceKind(FenceKind::Shared)];
  });
  for (auto [kind, count] : counts)
    add(fences, {named("kind", kind), named("count", count)});
}

void kiln::describeProtocol(KernelOp kernel, TargetInterface target) {
  Description(kernel, target).run();
}
