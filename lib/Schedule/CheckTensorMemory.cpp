// Whether what dots sum in tensor memory can be fetched from there, and whether there is room for
// it, as far as that is decided: before anything is realised; of room at the dot that takes most of
// it.
//
// A sum that another role fetches has slots of its own, one more than its dot says to be in flight.
// Of those that a role fetches itself, and that are alike, one slot may serve all that no other
// trip uses, and which do is not known yet but where the source says it: the check of the realised
// schedule counts these (tile-check-protocol). Others have as many slots as stages and orders have
// in flight.
#include "HandOvers.h"
#include "PlannedSums.h"
#include "TensorUses.h"
#include "kiln/Dialect/Tile/IR/Swapped.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Target/Common/TensorColumns.h"
#include "kiln/Target/TargetInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// Or an operand in columns that are no sum's.
struct Sum {
  DotOp dot;
  RankedTensorType type;
  int64_t slots, bytes;
  bool isHandedOver;
};
} // namespace

using HandedOver = llvm::MapVector<DotOp, llvm::SetVector<RoleAttr>>;

/// Dots whose sums other roles use, and which roles.
static HandedOver findHandedOver(KernelOp kernel) {
  HandedOver found;
  kernel.getBody().walk([&](Operation *op) {
    StringRef role = getRoleName(op);
    for (Value operand : op->getOperands()) {
      DotOp dot = isa<RankedTensorType>(operand.getType()) ? findSummingDot(operand) : DotOp();
      if (dot && !role.empty() && !getRoleName(dot).empty() && getRoleName(dot) != role)
        found[dot].insert(lookUpRole(op));
    }
  });
  return found;
}

/// Of a sum, or of operand a, whose columns copies do not share out. Copies have slots of their
/// own.
static int64_t countBytes(DotOp dot, RankedTensorType type, int64_t slots,
                          SynchronisationInterface sync) {
  RoleAttr role = lookUpRole(dot);
  int64_t copies = role ? role.getCopies() : 1;
  SmallVector<int64_t> shape(type.getShape());
  if (auto atom = dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr())) {
    auto [m, n, k] = atom.getExtents();
    int dim = getSharedDim(dot.getM(), dot.getN(), m, n, copies);
    if (dim == 0 || (dim > 0 && type == dot.getType()))
      shape[dim] /= copies;
  }
  auto own = RankedTensorType::get(shape, type.getElementType());
  int64_t bytes = slots * copies * getTensorSlotBytes(own, sync);
  int64_t programs = role ? countTurns(dot->getParentOfType<KernelOp>(), role) : 1;
  return alignTensorBytes(bytes * programs, sync);
}

/// Those of a and those of b, each of which has a channel.
static int64_t countScaleBytes(DotOp dot, SynchronisationInterface sync) {
  auto atom = dyn_cast_or_null<AsyncMmaAtomInterface>(dot.getAtomAttr());
  if (!atom)
    return 0;
  RoleAttr role = lookUpRole(dot);
  int64_t copies = role ? role.getCopies() : 1, all = 0;
  auto [m, n, k] = cast<MmaAtomInterface>(dot.getAtomAttr()).getExtents();
  int shared = getSharedDim(dot.getM(), dot.getN(), m, n, copies);
  for (auto [operand, scales] : llvm::enumerate(dot.getScales())) {
    auto type = cast<RankedTensorType>(scales.getType());
    SmallVector<int64_t> shape(type.getShape());
    if (shared == int(operand))
      shape[0] /= copies;
    if (auto layout = atom.getScaleLayout(operand, shape, atom.getWarps())) {
      auto own = withLayout(RankedTensorType::get(shape, type.getElementType()), *layout);
      all += alignTensorBytes(kSlotsOfScales * copies * getTensorSlotBytes(own, sync), sync);
    }
  }
  return all;
}

/// Each copy fetches the sums of the copy of its own number, and each warp of those that do has its
/// own part of tensor memory.
static LogicalResult checkFetcher(KernelOp kernel, DotOp dot, RoleAttr role) {
  RoleAttr maker = lookUpRole(dot);
  if (role.getCopies() != maker.getCopies())
    return dot.emitOpError("expected as many copies of role \"")
           << role.getName() << "\" as of role \"" << maker.getName() << "\", " << maker.getCopies()
           << ", since each fetches what one of these has in tensor memory by " << dot.getAtomAttr()
           << ", got " << role.getCopies();
  int64_t warps = cast<MmaAtomInterface>(dot.getAtomAttr()).getWarps();
  if (role.getWarps() == warps)
    return success();
  return dot.emitOpError("expected a role of ")
         << warps << " warps to use the result, since " << dot.getAtomAttr()
         << " has it in tensor memory, got role \"" << role.getName() << "\" of "
         << role.getWarps();
}

/// Nothing counts what a commit tells of by itself; `in_flight` is slots for another role that
/// fetches sums.
static LogicalResult checkInFlight(DotOp dot) {
  int64_t inFlight = dot.getInFlight().value_or(0);
  if (inFlight == 0)
    return success();
  InFlightDiagnostic error = dot.emitOpError("expected in_flight of 0, since ")
                             << dot.getAtomAttr()
                             << " tells of each dot by itself when it ends, and no other role "
                             << "fetches the result there, got " << inFlight
                             << "; stages say for how many trips it is in flight";
  noteSwapped(error, dot);
  return error;
}

static bool isAddedTo(DotOp dot) {
  return llvm::any_of(dot->getUses(), [](OpOperand &use) {
    auto next = dyn_cast<DotOp>(use.getOwner());
    return next && next.getAccumulator() == use.get();
  });
}

/// Whether a sum goes from trip to trip where it is.
static bool isHandedOn(DotOp dot) {
  Value sum = dot.getAccumulator();
  while (auto before = sum.getDefiningOp<DotOp>())
    sum = before.getAccumulator();
  return sum.getParentBlock() == dot->getBlock() && isa<BlockArgument>(sum) && sum.hasOneUse() &&
         dot->hasOneUse() && (*dot->user_begin())->hasTrait<OpTrait::IsTerminator>();
}

/// The dots of a role that sum in tensor memory what it fetches itself; of a chain the last.
static SmallVector<DotOp> findOwn(KernelOp kernel, const HandedOver &handedOver) {
  SmallVector<DotOp> own;
  kernel.getBody().walk([&](DotOp dot) {
    auto atom = dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr());
    if (atom && atom.getAccumulatorPlace() == Place::Tensor && !isAddedTo(dot) &&
        !handedOver.contains(dot))
      own.push_back(dot);
  });
  return own;
}

namespace {
/// What a role is said to have in tensor memory: who says a number of columns first, and whether
/// there is anything of which nobody says any.
struct SaidColumns {
  std::map<int64_t, std::pair<DotOp, StringRef>> said;
  bool isOpen = false;

  void add(DotOp dot, StringRef decision, int64_t number) {
    isOpen |= number < 0;
    said.try_emplace(number, dot, decision);
  }
};
} // namespace

/// Numbers of columns that leave some out, where nothing is left that could have these.
static LogicalResult checkColumns(KernelOp kernel, ArrayRef<DotOp> own) {
  auto getNumber = [](Attribute said) {
    auto number = dyn_cast_or_null<IntegerAttr>(said);
    return number ? number.getInt() : -1;
  };
  llvm::MapVector<RoleAttr, SaidColumns> roles;
  for (DotOp dot : own)
    roles[lookUpRole(dot)].add(dot, kColumnsAttrName, getNumber(dot->getAttr(kColumnsAttrName)));
  kernel.getBody().walk([&](DotOp dot) {
    auto atom = dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr());
    if (!atom || atom.getAccumulatorPlace() != Place::Tensor)
      return;
    SaidColumns &its = roles[lookUpRole(dot)];
    Attribute said = dot->getAttr(kOperandColumnsAttrName);
    if (OpOperand &a = dot.getAMutable(); !isReadFromBuffer(a) && !isWrittenForDot(a))
      its.add(dot, kOperandColumnsAttrName, getNumber(said));
    auto numbers = dyn_cast_or_null<DenseI64ArrayAttr>(said);
    for (size_t scales = 0; scales < dot.getScales().size(); ++scales)
      its.add(dot, kOperandColumnsAttrName, numbers ? numbers[scales] : -1);
  });
  for (SaidColumns &its : llvm::make_second_range(roles)) {
    int64_t next = 0;
    for (auto &[number, by] : its.said)
      if (!its.isOpen && number != next++) {
        auto [dot, decision] = by;
        return dot->emitOpError("expected numbers from 0 on without a gap, the next of which is ")
               << next - 1 << ", since '" << decision << "' is " << number;
      }
  }
  return success();
}

LogicalResult kiln::checkPlannedSums(KernelOp kernel) {
  HandedOver handedOver = findHandedOver(kernel);
  for (auto &[dot, roles] : handedOver)
    for (RoleAttr role : roles)
      if (failed(checkFetcher(kernel, dot, role)))
        return failure();
  SmallVector<DotOp> own = findOwn(kernel, handedOver);
  for (DotOp dot : own)
    if (failed(checkInFlight(dot)))
      return failure();
  return checkColumns(kernel, own);
}

//===- Room ---------------------------------------------------------------------------------===//

SumsInFlight kiln::findSumsInFlight(const LoopProblem &made, ArrayRef<schedule::Op> placed) {
  using schedule::Dependence;
  SumsInFlight found;
  auto getTime = [&](unsigned op, int64_t distance) {
    return std::pair(placed[op].pins.stage.value_or(0) + distance,
                     placed[op].pins.order.value_or(0));
  };
  ArrayRef<Dependence> needs = made.problem.dependences;
  auto isNext = [](const Dependence &need) {
    return need.kind == Dependence::Chain && need.distance == 0;
  };
  for (unsigned end = 0; end < placed.size(); ++end) {
    auto follows = [&](const Dependence &need) { return need.from == end && isNext(need); };
    bool isSum = made.isDot(end) && placed[end].completion == schedule::Completion::Signalled &&
                 placed[end].bufferColumns == 0;
    if (!isSum || llvm::any_of(needs, follows))
      continue;
    unsigned begin = end;
    for (bool changes = true; changes;) {
      changes = false;
      for (const Dependence &need : needs)
        if (need.to == begin && isNext(need)) {
          begin = need.from;
          changes = true;
        }
    }
    // Its trip waits for what the next one takes.
    auto first = getTime(end, 0);
    bool isUsed = false;
    for (const Dependence &need : needs)
      if (need.from == end && need.distance == 0) {
        first = isUsed ? std::min(first, getTime(need.to, 0)) : getTime(need.to, 0);
        isUsed = true;
      }
    auto from = getTime(begin, 0);
    bool isTaken = llvm::any_of(
        needs, [&](const Dependence &need) { return need.from == end && need.distance > 0; });
    if (!isUsed || isTaken || first.first == from.first)
      continue;
    found[made.ops[end]] = first.first - from.first + (from.second < first.second);
  }
  return found;
}

/// Of sums of one type that a loop's trip makes, those that another trip uses have slots of their
/// own, as one has that goes from trip to trip; the others may share one.
static void addUnsaid(ArrayRef<DotOp> dots, const SumsInFlight &inFlight,
                      SynchronisationInterface sync, SmallVector<Sum> &sums) {
  struct OfLoop {
    Sum sum;
    bool isShared = false;
  };
  llvm::MapVector<std::pair<Type, Attribute>, llvm::MapVector<Block *, OfLoop>> groups;
  for (DotOp dot : dots) {
    OfLoop all = {{dot, dot.getType(), 0, 0, /*isHandedOver=*/false}};
    auto &blocks = groups[{dot.getType(), lookUpRole(dot)}];
    auto &[sum, isShared] = blocks.insert({dot->getBlock(), all}).first->second;
    int64_t slots = std::max<int64_t>(inFlight.lookup(dot), 1);
    bool isApart = inFlight.contains(dot) || isHandedOn(dot);
    if (!isApart && isShared)
      continue;
    isShared |= !isApart;
    if (inFlight.contains(dot))
      sum.dot = dot;
    sum.slots += slots;
    sum.bytes += countBytes(dot, dot.getType(), slots, sync);
  }
  auto isLess = [](auto &one, auto &other) {
    return one.second.sum.bytes < other.second.sum.bytes;
  };
  for (auto &[type, blocks] : groups)
    sums.push_back(std::max_element(blocks.begin(), blocks.end(), isLess)->second.sum);
}

/// Sums that their roles fetch themselves: those with numbers of columns that are said, and those
/// of each type of which nothing is said, if none of it is. Then operands in columns that are said
/// to be no sum's, nor may be.
static void addOwn(ArrayRef<DotOp> dots, const SumsInFlight &inFlight,
                   SynchronisationInterface sync, SmallVector<Sum> &sums) {
  auto add = [&](DotOp dot, RankedTensorType type, int64_t slots) {
    sums.push_back({dot, type, slots, countBytes(dot, type, slots, sync), /*isHandedOver=*/false});
  };
  DenseSet<std::pair<Attribute, Attribute>> numbers; // of a role
  DenseSet<std::pair<Attribute, Type>> types;
  DenseSet<Attribute> open; // roles
  for (DotOp dot : dots) {
    Attribute role = lookUpRole(dot), columns = dot->getAttr(kColumnsAttrName);
    if (!columns)
      open.insert(role);
    else if (types.insert({role, dot.getType()}), numbers.insert({role, columns}).second)
      add(dot, dot.getType(), std::max<int64_t>(inFlight.lookup(dot), 1));
  }
  SmallVector<DotOp> unsaid(llvm::make_filter_range(
      dots, [&](DotOp dot) { return !types.contains({lookUpRole(dot), dot.getType()}); }));
  addUnsaid(unsaid, inFlight, sync, sums);
  for (DotOp dot : dots) {
    Attribute role = lookUpRole(dot), columns = dot->getAttr(kOperandColumnsAttrName);
    auto type = dyn_cast<RankedTensorType>(dot.getA().getType());
    if (columns && type && !dot.getTransposeA() && !open.contains(role) &&
        numbers.insert({role, columns}).second)
      add(dot, type, 1);
  }
}

namespace {
/// All that is planned for tensor memory.
struct Room {
  SmallVector<Sum> sums;
  int64_t scales = 0, limit = 0;

  int64_t getTotal() const {
    int64_t total = 0;
    for (const Sum &sum : sums)
      total += sum.bytes;
    return total;
  }
  bool isEnough() const { return sums.empty() || getTotal() + scales <= limit; }
};
} // namespace

static Room planRoom(KernelOp kernel, const SumsInFlight &inFlight) {
  TargetInterface target = getTarget(kernel);
  const std::optional<Figure> &limit = target.getChipRecord().figures.tensorMemory;
  auto sync = dyn_cast<SynchronisationInterface>(target.getReal());
  Room room;
  if (!limit || !sync)
    return room; // no atom of such a chip sums there
  room.limit = limit->value;
  HandedOver handedOver = findHandedOver(kernel);
  for (auto &entry : handedOver) {
    DotOp dot = entry.first;
    int64_t slots = dot.getInFlight().value_or(0) + 1;
    room.sums.push_back({dot, dot.getType(), slots, countBytes(dot, dot.getType(), slots, sync),
                         /*isHandedOver=*/true});
  }
  addOwn(findOwn(kernel, handedOver), inFlight, sync, room.sums);
  kernel.getBody().walk([&](DotOp dot) {
    if (!dot.getScales().empty())
      room.scales = std::max(room.scales, countScaleBytes(dot, sync));
  });
  return room;
}

bool kiln::haveRoom(KernelOp kernel, const SumsInFlight &inFlight) {
  return planRoom(kernel, inFlight).isEnough();
}

LogicalResult kiln::checkSumRoom(KernelOp kernel, const SumsInFlight &inFlight) {
  Room room = planRoom(kernel, inFlight);
  if (room.isEnough())
    return success();
  const Sum &most = *llvm::max_element(
      room.sums, [](const Sum &one, const Sum &other) { return one.bytes < other.bytes; });
  DotOp dot = most.dot;
  auto isOperand = [](const Sum &sum) {
    DotOp dot = sum.dot;
    return sum.type != dot.getType();
  };
  InFlightDiagnostic error = dot.emitOpError("expected sums")
                             << (llvm::any_of(room.sums, isOperand) ? " and operands" : "")
                             << ", of all copies and turns, of at most " << room.limit
                             << " bytes of tensor memory on " << getTarget(kernel).getSpelling()
                             << ", got " << room.getTotal() << ", of which this one takes "
                             << most.bytes;
  if (room.scales)
    error << ", beside " << room.scales
          << " of scales, in two slots for each copy; make fewer rows or columns in a program";
  if (most.isHandedOver)
    error << " for " << most.slots << " slots, one more than 'in_flight', since another role "
          << "fetches it";
  else if (most.slots > 1)
    error << " for " << most.slots << " slots, since so many of its type are in flight at once, as "
          << "'stage' and 'order' have it";
  for (const Sum &sum : room.sums)
    if (&sum != &most)
      error.attachNote(DotOp(sum.dot).getLoc())
          << sum.bytes << " bytes for " << sum.slots << " of "
          << RankedTensorType::get(sum.type.getShape(), sum.type.getElementType())
          << (isOperand(sum) ? ", since 'tile.operand_columns' are no sum's" : "");
  return error;
}
