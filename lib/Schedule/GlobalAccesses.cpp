// Where accesses to global memory lie: the distance of two tiles of one view is that of their
// offsets, which are compared as sums of products of values and constants.
#include "GlobalAccesses.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

std::optional<GlobalAccess> kiln::findGlobalAccess(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return std::nullopt;
  SmallVector<MemoryEffects::EffectInstance> all;
  effects.getEffectsOnResource(GlobalMemory::get(), all);
  if (all.empty())
    return std::nullopt;
  auto isView = [](Value operand) { return isa<ViewType>(operand.getType()); };
  auto view = llvm::find_if(op->getOperands(), isView);
  auto isWrite = [](const auto &it) { return isa<MemoryEffects::Write>(it.getEffect()); };
  // What lanes copy themselves they access themselves.
  Attribute atom = TypeSwitch<Operation *, Attribute>(op)
                       .Case<CopyInOp, CopyOutOp>([](auto copy) { return copy.getAtom(); })
                       .Default(Attribute());
  return GlobalAccess{op, view == op->operand_end() ? Value() : *view, llvm::any_of(all, isWrite),
                      isa_and_nonnull<EngineAtomInterface>(atom)};
}

//===- Offsets ------------------------------------------------------------------------------===//

namespace {
/// A sum of values, each times a number, of the number of the copy, and of a number.
struct Offset {
  SmallVector<std::pair<Value, int64_t>> terms;
  int64_t copy = 0, constant = 0;
};
} // namespace

static void add(Offset &offset, Value value, int64_t scale, unsigned &budget) {
  if (std::optional<int64_t> constant = getConstantIntValue(value)) {
    offset.constant += scale * *constant;
    return;
  }
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<CopyIdOp>(op)) {
    offset.copy += scale;
    return;
  }
  if (budget && isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    --budget;
    add(offset, op->getOperand(0), scale, budget);
    add(offset, op->getOperand(1), isa<arith::AddIOp>(op) ? scale : -scale, budget);
    return;
  }
  if (budget && isa_and_nonnull<arith::MulIOp>(op))
    if (std::optional<int64_t> by = getConstantIntValue(op->getOperand(1))) {
      --budget;
      add(offset, op->getOperand(0), scale * *by, budget);
      return;
    }
  auto *same = llvm::find_if(offset.terms, [&](auto &term) { return term.first == value; });
  if (same == offset.terms.end())
    offset.terms.push_back({value, scale});
  else
    same->second += scale;
}

static Offset getOffset(Value value) {
  Offset offset;
  unsigned budget = 32;
  add(offset, value, 1, budget);
  llvm::erase_if(offset.terms, [](auto &term) { return term.second == 0; });
  return offset;
}

/// Whether two values, perhaps of two roles, are the same for all copies and in all turns of loops.
static bool isSame(Value a, Value b, unsigned depth = 8) {
  auto findOutside = [](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto groups =
        argument ? dyn_cast<WarpGroupsOp>(argument.getOwner()->getParentOp()) : WarpGroupsOp();
    return groups ? groups.getCaptures()[argument.getArgNumber()] : value;
  };
  a = findOutside(a), b = findOutside(b);
  if (a == b)
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  return depth && x && y && isPure(x) && !isa<CopyIdOp>(x) && x->getNumRegions() == 0 &&
         x->getName() == y->getName() && x->getAttrDictionary() == y->getAttrDictionary() &&
         x->getNumOperands() == y->getNumOperands() &&
         cast<OpResult>(a).getResultNumber() == cast<OpResult>(b).getResultNumber() &&
         llvm::all_of(llvm::zip(x->getOperands(), y->getOperands()), [&](auto pair) {
           return isSame(std::get<0>(pair), std::get<1>(pair), depth - 1);
         });
}

//===- Tiles --------------------------------------------------------------------------------===//

namespace {
/// A tile of a view, along all of its dimensions.
struct Tile {
  SmallVector<Value> offsets;
  SmallVector<int64_t> shape;
  bool hasWholeBytes;
  /// Which threads access what; null if an engine does.
  Value tensor;
};

/// How two tiles lie along a dimension.
enum class Relation { Same, Apart, Unknown };
} // namespace

static std::optional<Tile> getTile(Operation *op) {
  auto describe = [](auto access, ArrayRef<int64_t> shape, ArrayRef<int64_t> accessed,
                     Value tensor) {
    return Tile{llvm::to_vector(access.getOffsets()), llvm::to_vector(shape),
                hasWholeBytes(access.getView(), access.getOffsets(), accessed), tensor};
  };
  auto describeTensor = [&](auto access, TypedValue<RankedTensorType> tensor) {
    ArrayRef<int64_t> shape = tensor.getType().getShape();
    return describe(access, shape, access.getExtents().value_or(shape), tensor);
  };
  return TypeSwitch<Operation *, std::optional<Tile>>(op)
      .Case<LoadOp>([&](LoadOp load) { return describeTensor(load, load.getResult()); })
      .Case<StoreOp>([&](StoreOp store) { return describeTensor(store, store.getValue()); })
      .Case<CopyInOp, CopyOutOp>([&](auto copy) {
        SmallVector<int64_t> shape =
            getWholeShape(copy.getBuffer().getType().getShape(), copy.getDropped());
        return describe(copy, shape, shape, Value());
      })
      .Default(std::nullopt);
}

static Relation relate(const Offset &first, int64_t firstExtent, const Offset &second,
                       int64_t secondExtent, const Meeting &meeting) {
  if (first.copy != second.copy || first.terms.size() != second.terms.size())
    return Relation::Unknown;
  auto loop = dyn_cast_or_null<scf::ForOp>(meeting.loop);
  // A turn or more later, so the counter is larger by its step at least.
  int64_t turn = 0;
  for (auto [value, scale] : first.terms) {
    if (!llvm::is_contained(second.terms, std::pair(value, scale)))
      return Relation::Unknown;
    if (!meeting.loop || !meeting.loop->isAncestor(value.getParentRegion()->getParentOp()))
      continue;
    if (!loop || value != loop.getInductionVar())
      return Relation::Unknown;
    turn = scale * getConstantIntValue(loop.getStep()).value_or(1);
  }
  int64_t between = second.constant - first.constant;
  auto isApart = [&](int64_t distance) {
    bool isAhead = turn >= 0 && distance + turn >= firstExtent;
    bool isBehind = turn <= 0 && -(distance + turn) >= secondExtent;
    return isAhead || isBehind;
  };
  if (meeting.copies == 1)
    return isApart(between)            ? Relation::Apart
           : turn == 0 && between == 0 ? Relation::Same
                                       : Relation::Unknown;
  for (int64_t by = 1; by < meeting.copies; ++by)
    if (!isApart(between + by * first.copy) || !isApart(between - by * first.copy))
      return Relation::Unknown;
  return Relation::Apart;
}

/// Whether tiles of one view have no element in common, or only such as one thread has in both.
static bool isApartOrOwn(Operation *earlier, Operation *later, const Meeting &meeting) {
  std::optional<Tile> first = getTile(earlier), second = getTile(later);
  if (!first || !second)
    return false;
  Type element = cast<ViewType>(findGlobalAccess(earlier)->view.getType()).getElementType();
  bool sharesBytes = sharesByte(element), isSameTile = true;
  for (auto [a, n, b, m] :
       llvm::zip(first->offsets, first->shape, second->offsets, second->shape)) {
    Relation relation = relate(getOffset(a), n, getOffset(b), m, meeting);
    if (relation == Relation::Apart &&
        (!sharesBytes || (first->hasWholeBytes && second->hasWholeBytes)))
      return true;
    isSameTile &= relation == Relation::Same;
  }
  if (!isSameTile || sharesBytes || !first->tensor || !second->tensor ||
      first->tensor.getType() != second->tensor.getType())
    return false;
  // Source that is handed to a later stage may have roles and no layouts yet.
  if (!cast<RankedTensorType>(first->tensor.getType()).getEncoding())
    return false;
  LinearLayout layout = getLayout(first->tensor);
  for (auto [in, mask] : llvm::zip(layout.getIns(), layout.freeVariables()))
    if (in.name != kRegister && mask)
      return false;
  return true;
}

bool kiln::mayStoreLoaded(Operation *loop, Operation *load) {
  Value view = findGlobalAccess(load)->view;
  WalkResult result = loop->walk([&](Operation *op) {
    std::optional<GlobalAccess> access = findGlobalAccess(op);
    bool isApart =
        !access || !access->writes || (access->view && areOfOtherMemory(access->view, view));
    return isApart ? WalkResult::advance() : WalkResult::interrupt();
  });
  return result.wasInterrupted();
}

/// The order that an atomic gives to what a program accesses elsewhere; relaxed for all other ops.
static MemoryOrder getOrder(Operation *op) {
  return TypeSwitch<Operation *, MemoryOrder>(op)
      .Case<AtomicRMWOp, AtomicCASOp>([](auto atomic) { return atomic.getOrder(); })
      .Default(MemoryOrder::Relaxed);
}

bool kiln::releases(Operation *op) {
  MemoryOrder order = getOrder(op);
  return order == MemoryOrder::Release || order == MemoryOrder::AcqRel;
}

/// Without a use of its result nobody has learnt anything.
static bool acquires(Operation *op) {
  MemoryOrder order = getOrder(op);
  return !op->use_empty() && (order == MemoryOrder::Acquire || order == MemoryOrder::AcqRel);
}

bool kiln::isOrderedByAtomic(const GlobalAccess &earlier, const GlobalAccess &later) {
  return (earlier.writes && releases(later.op)) || acquires(earlier.op);
}

bool kiln::isToldByAtomic(const GlobalAccess &access, Operation *other) {
  return access.writes ? releases(other) : acquires(other);
}

bool kiln::mayMeet(const GlobalAccess &earlier, const GlobalAccess &later, const Meeting &meeting) {
  if (!earlier.writes && !later.writes)
    return false;
  Value a = earlier.view, b = later.view;
  if (!a || !b)
    return true;
  // Sums and the like of one view, whose order nobody sees but by what they return.
  auto first = dyn_cast<AtomicRMWOp>(earlier.op), second = dyn_cast<AtomicRMWOp>(later.op);
  if (first && second && first.getKind() == second.getKind() && first->use_empty() &&
      second->use_empty() && first.getKind() != AtomicKind::Exch &&
      (a == b || !isOrderedByAtomic(earlier, later)))
    return false;
  if (isOrderedByAtomic(earlier, later))
    return true;
  if (areOfOtherMemory(a, b))
    return false;
  // A view that the loop makes is another one each turn.
  Operation *maker = a.getDefiningOp();
  bool isRemade = meeting.loop && maker && meeting.loop->isAncestor(maker);
  return a != b || isRemade || !isApartOrOwn(earlier.op, later.op, meeting);
}

//===- Roles --------------------------------------------------------------------------------===//

/// Whether what the copies of a role access along a dimension lies in front of what those of
/// another do.
static bool isInFront(const Offset &first, int64_t extent, int64_t copies, const Offset &second,
                      int64_t otherCopies) {
  int64_t end = first.constant + extent + std::max<int64_t>(0, first.copy) * (copies - 1);
  int64_t begin = second.constant + std::min<int64_t>(0, second.copy) * (otherCopies - 1);
  return end <= begin;
}

/// Of the role in whose region an op stands, or which shall run it.
static int64_t countCopies(Operation *op) {
  RoleAttr role = WarpGroupsOp::getRoleOf(op);
  role = role ? role : lookUpRole(op);
  return role ? role.getCopies() : 1;
}

bool kiln::mayMeetAcrossRoles(const GlobalAccess &first, const GlobalAccess &second) {
  if ((!first.writes && !second.writes) || !first.view || !second.view)
    return false;
  Value view = getWholeView(first.view), other = getWholeView(second.view);
  if (!isa<BlockArgument>(view) || !isSame(view, other))
    return false;
  std::optional<Tile> tile = getTile(first.op), its = getTile(second.op);
  if (!tile || !its || !isSame(first.view, second.view))
    return true;
  int64_t copies = countCopies(first.op), itsCopies = countCopies(second.op);
  auto isApart = [&](auto dim) {
    auto [a, n, b, m] = dim;
    Offset x = getOffset(a), y = getOffset(b);
    bool isComparable = x.terms.size() == y.terms.size() && llvm::all_of(x.terms, [&](auto &term) {
                          return llvm::any_of(y.terms, [&](auto &other) {
                            return other.second == term.second && isSame(term.first, other.first);
                          });
                        });
    return isComparable &&
           (isInFront(x, n, copies, y, itsCopies) || isInFront(y, m, itsCopies, x, copies));
  };
  return llvm::none_of(llvm::zip(tile->offsets, tile->shape, its->offsets, its->shape), isApart);
}
