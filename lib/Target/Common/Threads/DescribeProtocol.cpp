// By which protocol a kernel's warps hand data to one another, told in its metadata as it was
// realised: what a check of the final code must find there (kiln/Support/Protocol.h).
#include "ThreadPlans.h"
#include "kiln/Support/Protocol.h"
#include "kiln/Target/Common/ABI.h"
#include "kiln/Target/Common/Meetings.h"
#include "kiln/Target/Common/Synchronisation.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/BitVector.h"
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

static_assert(kEngineAlignment == kRingAlignment && kByteBarrierBytes == kCounterBytes);

namespace {
/// Which roles arrive and wait at the barriers of a channel.
struct Users {
  std::set<unsigned> arrive, wait;
};
struct ChannelUsers {
  Users full, empty, end;
  std::set<unsigned> put, get;
};

class Description {
public:
  Description(KernelOp kernel, TargetInterface target)
      : kernel(kernel), chip(target.getChipRecord()), builder(kernel.getContext()) {}

  void run() {
    kernel.getBody().walk([&](WarpGroupsOp op) { groups = op; });
    for (unsigned number = 0; groups && number < groups.getBodies().size(); ++number)
      addUses(number);
    for (auto channel : kernel.getBody().getOps<ChannelOp>())
      addChannel(channel);
    for (unsigned number = 0; groups && number < groups.getBodies().size(); ++number)
      addRole(number);
    if (!groups)
      addWarps();
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
    namedRoles.insert(numbers.begin(), numbers.end());
    return named(name, names);
  }
  void add(SmallVector<Attribute> &list, ArrayRef<NamedAttribute> members) {
    list.push_back(builder.getDictionaryAttr(members));
  }

  void addRole(unsigned number);
  void addWarps();
  void addUses(unsigned number);
  void addMeeting(Operation *op, unsigned number);
  void addChannel(ChannelOp channel);
  bool addRing(ChannelOp channel, const ChannelPlan &plan, int64_t at);
  void addFences();

  KernelOp kernel;
  const Chip &chip;
  Builder builder;
  WarpGroupsOp groups;
  int64_t firstWarp = 0;
  llvm::MapVector<Operation *, ChannelUsers> users;
  std::set<int64_t> known;                                     ///< the numbers of barriers
  std::set<unsigned> namedRoles;                               ///< roles that counters name
  std::vector<SmallVector<std::pair<int64_t, int64_t>>> spans; ///< of rings, first and behind last
  SmallVector<Attribute> roles, rings, counters, barriers, fences;
};
} // namespace

/// How many barriers of the block each innermost loop with such barriers has a trip; zero if
/// conditions decide on some.
static SmallVector<Attribute> countTrips(Region &region, Builder &builder) {
  llvm::MapVector<Operation *, int64_t> counts;
  std::set<Operation *> outer, conditional;
  region.walk([&](Operation *op) {
    if (!mayMeet(op) || getMeeting(op) != Meeting::All)
      return;
    auto loop = op->getParentOfType<LoopLikeOpInterface>();
    if (!loop)
      return;
    if (isa<BarrierOp>(op) && op->getParentOp() == loop)
      ++counts[loop];
    else
      conditional.insert(loop);
    for (loop = loop->getParentOfType<LoopLikeOpInterface>(); loop;
         loop = loop->getParentOfType<LoopLikeOpInterface>())
      outer.insert(loop);
  });
  SmallVector<Attribute> trips;
  for (auto [loop, count] : counts)
    if (!outer.count(loop) && !conditional.count(loop))
      trips.push_back(builder.getI64IntegerAttr(count));
  if (llvm::any_of(conditional, [&](Operation *loop) { return !outer.count(loop); }))
    trips.push_back(builder.getI64IntegerAttr(0));
  return trips;
}

void Description::addRole(unsigned number) {
  RoleAttr role = groups.getRole(number);
  auto warps = kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName).getInt();
  bool setsRegisters =
      role.getRegisters() && role.getRegisters() != chip.getRegistersAtEntry(warps);
  Region &region = groups.getBodies()[number];
  SmallVector<Attribute> trips;
  if (role.getSkew() && chip.bareBarriers)
    trips = countTrips(region, builder);
  SmallVector<NamedAttribute> members{named("first", firstWarp),
                                      named("warps", role.getWarps()),
                                      named("copies", role.getCopies()),
                                      named("skew", role.getSkew()),
                                      named("registers", setsRegisters ? role.getRegisters() : 0),
                                      named("trips", trips)};
  if (namedRoles.count(number))
    members.push_back(named("name", role.getName()));
  add(roles, members);
  firstWarp += role.getTotalWarps();
}

/// Of a kernel without roles all warps are one.
void Description::addWarps() {
  auto warps = kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName).getInt();
  add(roles, {named("first", int64_t(0)), named("warps", warps), named("copies", 1),
              named("skew", int64_t(0)), named("registers", int64_t(0)),
              named("trips", ArrayRef<Attribute>())});
}

/// At which slots and barriers a role arrives and waits.
void Description::addUses(unsigned number) {
  Region &region = groups.getBodies()[number];
  region.walk([&](Operation *op) {
    if (mayMeet(op))
      addMeeting(op, number);
  });
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
    for (Operation *user : argument.getUsers()) {
      if (isa<PutOp>(user))
        of.put.insert(number);
      if (isa<GetOp>(user))
        of.get.insert(number);
      TypeSwitch<Operation *>(user)
          .Case<PutOp>([&](auto) { add(of.full, of.empty, true, true); })
          .Case<GetOp>([&](auto) { add(of.full, of.full, false, true); })
          .Case<ReleaseOp>([&](auto) { add(of.empty, of.empty, true, false); })
          .Case<AcquireOp>([&](auto) { add(of.empty, of.empty, false, true); })
          .Case<CommitOp>([&](auto) { add(of.full, of.full, true, false); })
          .Case<EndDotsOp>([&](auto) { add(of.end, of.end, true, true); });
    }
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

/// Whether anything is copied to a buffer, or to a part of it.
static bool isCopiedTo(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [](Operation *user) {
    auto part = dyn_cast<PartOp>(user);
    return isa<CopyInOp>(user) || (part && isCopiedTo(part.getResult()));
  });
}

/// By which names roles know a channel, and its own.
static SmallVector<Value> findNames(ChannelOp channel) {
  SmallVector<Value> names{channel.getResult()};
  for (OpOperand &use : channel->getUses())
    if (auto groups = dyn_cast<WarpGroupsOp>(use.getOwner()))
      for (Region &region : groups.getBodies())
        names.push_back(region.getArgument(use.getOperandNumber()));
  return names;
}

/// Which buffers of a channel copies fill.
static llvm::BitVector findCopiedBuffers(ChannelOp channel) {
  llvm::BitVector copied(channel.getResult().getType().getBuffers().size());
  for (Value name : findNames(channel))
    for (Operation *user : name.getUsers())
      if (auto put = dyn_cast<PutOp>(user))
        for (auto [number, buffer] : llvm::enumerate(put.getBody().getArguments()))
          if (isCopiedTo(buffer))
            copied.set(number);
  return copied;
}

using Span = std::pair<int64_t, int64_t>;
static bool lieOn(ArrayRef<Span> spans, ArrayRef<Span> others) {
  return llvm::any_of(spans, [&](Span one) {
    return llvm::any_of(
        others, [&](Span other) { return one.first < other.second && other.first < one.second; });
  });
}

/// False if nothing of it is declared.
bool Description::addRing(ChannelOp channel, const ChannelPlan &plan, int64_t at) {
  ChannelType type = channel.getResult().getType();
  llvm::BitVector copied = findCopiedBuffers(channel);
  SmallVector<Attribute> buffers, over;
  SmallVector<std::pair<int64_t, int64_t>> own;
  for (auto [number, offset, bytes] : llvm::enumerate(plan.offsets, plan.bytes)) {
    if (type.getOwn() && !copied.test(number))
      continue;
    add(buffers, {named("at", at + offset), named("bytes", bytes)});
    own.push_back({at + offset, at + offset + type.getDepth() * bytes});
  }
  if (buffers.empty())
    return false;
  for (auto [number, theirs] : llvm::enumerate(spans))
    if (lieOn(own, theirs))
      over.push_back(builder.getI64IntegerAttr(number));
  // A role may hand tiles to itself by barriers, which tell its warps of what an engine has read.
  bool isOwn = type.getOwn() || users[channel].put == users[channel].get;
  SmallVector<NamedAttribute> members{named("depth", type.getDepth()),
                                      builder.getNamedAttr("own", builder.getBoolAttr(isOwn)),
                                      named("buffers", buffers)};
  if (!over.empty())
    members.push_back(named("over", over));
  add(rings, members);
  spans.push_back(std::move(own));
  return true;
}

void Description::addChannel(ChannelOp channel) {
  ChannelType type = channel.getResult().getType();
  int64_t at = channel->getAttrOfType<IntegerAttr>(kSharedOffsetAttrName).getInt();
  ChannelPlan plan = planChannel(type);
  bool isRing = addRing(channel, plan, at);
  if (type.getOwn())
    return;
  const ChannelUsers &of = users[channel];
  auto addCounter = [&](int64_t offset, int64_t slots, int64_t arrivals, const Users &use) {
    // A word at which nobody counts is a word as any other where no instruction makes it one.
    bool isUsed = !use.arrive.empty() || !use.wait.empty() || !chip.bareBarriers;
    if (!arrivals || !isUsed)
      return;
    SmallVector<NamedAttribute> members{named("at", at + offset), named("slots", slots),
                                        named("arrivals", arrivals), named("arrive", use.arrive),
                                        named("wait", use.wait)};
    if (isRing && offset != plan.end)
      members.push_back(named("ring", int64_t(rings.size() - 1)));
    add(counters, members);
  };
  addCounter(plan.full, type.getDepth(), channel.getFull(), of.full);
  // All copies of a role meet at one word, each copy by itself at its own.
  int64_t slots = channel->hasAttr(kMeetsInAttrName) ? 1 : type.getDepth();
  addCounter(plan.empty, slots, channel.getEmpty(), of.empty);
  for (Operation *user : channel->getUsers())
    if (auto ends = user->getAttrOfType<IntegerAttr>(kEndsAttrName); ends && isa<InitOp>(user))
      addCounter(plan.end, 1, ends.getInt(), of.end);
}

/// The number that constants make a value.
static std::optional<int64_t> evaluate(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() > 0 || op->getNumResults() != 1 || !value.getType().isIntOrIndex())
    return std::nullopt;
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> number = evaluate(operand);
    if (!number)
      return std::nullopt;
    operands.push_back(IntegerAttr::get(operand.getType(), *number));
  }
  SmallVector<OpFoldResult> folded;
  if (failed(op->getName().foldHook(op, operands, folded)) || folded.size() != 1)
    return std::nullopt;
  if (auto same = dyn_cast<Value>(folded.front()))
    return evaluate(same);
  auto number = dyn_cast<IntegerAttr>(cast<Attribute>(folded.front()));
  if (!number)
    return std::nullopt;
  const APInt &bits = number.getValue();
  return bits.getBitWidth() == 1 ? int64_t(bits.getZExtValue()) : bits.getSExtValue();
}

/// Whether no run comes to an op, which LLVM leaves out: trips that a loop of known bounds does not
/// have.
static bool isDead(Operation *op) {
  for (Operation *inner = op, *outer = op->getParentOp(); !isa<KernelOp>(outer);
       inner = outer, outer = outer->getParentOp()) {
    if (auto condition = dyn_cast<scf::IfOp>(outer))
      if (std::optional<int64_t> holds = evaluate(condition.getCondition());
          holds && inner->getParentRegion()->getRegionNumber() == unsigned(*holds != 0))
        return true;
    if (auto loop = dyn_cast<scf::ForOp>(outer)) {
      std::optional<int64_t> first = evaluate(loop.getLowerBound());
      std::optional<int64_t> end = evaluate(loop.getUpperBound());
      if (first && end && *first >= *end)
        return true;
    }
  }
  return false;
}

/// Of the kinds that are instructions. Barriers in shared memory are told to engines as well.
void Description::addFences() {
  llvm::MapVector<StringRef, int64_t> counts;
  auto count = [&](FenceKind kind) { ++counts[stringifyFenceKind(kind)]; };
  kernel.getBody().walk([&](Operation *op) {
    if (!isa<FenceOp, BarrierOp>(op) || isDead(op))
      return;
    auto fence = dyn_cast<FenceOp>(op);
    if (fence && fence.getKind() != FenceKind::Barriers)
      count(fence.getKind());
    if (fence && fence.getKind() == FenceKind::Barriers && chip.figures.barrierBytes) {
      count(FenceKind::Barriers);
      count(FenceKind::Shared);
    }
    auto barrier = dyn_cast<BarrierOp>(op);
    if (!barrier || !barrier.getPublish())
      return;
    count(FenceKind::Shared);
    if (barrier.getGlobal())
      ++counts["global"];
  });
  for (auto [kind, number] : counts)
    add(fences, {named("kind", kind), named("count", number)});
}

void kiln::describeProtocol(KernelOp kernel, TargetInterface target) {
  Description(kernel, target).run();
}
