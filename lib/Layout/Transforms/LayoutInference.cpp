// The forward walk: control flow; how each kind of op carries a layout on, it says itself.
#include "LayoutInference.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Layout/Transforms/BufferReaders.h"
#include "kiln/Layout/Transforms/DistributionInterface.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

int kiln::getFastestDim(LoadOp load) {
  int row = getAccessFacts(load.getView(), load.getOffsets()).dim, dim = -1;
  for (unsigned own = 0; own < shapeOf(load.getResult()).size(); ++own)
    if (int(getViewDim(own, load.getDropped())) == row)
      dim = own;
  return dim;
}

//===- Threads ------------------------------------------------------------------------------===//

ThreadShape ProgramThreads::ofRole(StringRef name) const {
  auto roles = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName).getAsRange<RoleAttr>();
  auto found = llvm::find_if(roles, [&](RoleAttr role) { return role.getName() == name; });
  RoleAttr role = found == roles.end() ? *roles.begin() : *found;
  return {lanes, unsigned(role.getTotalWarps()), unsigned(role.getCopies())};
}

/// The roles that use what loops leave behind them of a tensor that their trips only hand on, or
/// what their trips have of one that nobody uses behind them.
static llvm::SetVector<StringRef> findUsersBehind(Value tensor) {
  if (auto loop = tensor.getDefiningOp<scf::WhileOp>())
    return findUsers(loop.getAfterArguments()[cast<OpResult>(tensor).getResultNumber()]);
  if (auto loop = tensor.getDefiningOp<scf::ForOp>())
    return findUsers(loop.getTiedLoopRegionIterArg(cast<OpResult>(tensor)));
  SmallVector<Value> left;
  for (OpOperand &use : tensor.getUses())
    if (auto loop = dyn_cast<scf::ForOp>(use.getOwner()))
      left.push_back(loop.getTiedLoopResult(&use));
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    Operation *parent = argument.getOwner()->getParentOp();
    unsigned number = argument.getArgNumber();
    if (auto loop = dyn_cast<scf::ForOp>(parent); loop && number > 0)
      left.push_back(loop.getResult(number - 1));
    else if (auto loop = dyn_cast<scf::WhileOp>(parent);
             loop && argument.getOwner() == loop.getAfterBody())
      left.push_back(loop.getResult(number));
  }
  llvm::SetVector<StringRef> users;
  for (Value value : left) {
    llvm::SetVector<StringRef> its = findUsers(value);
    users.insert_range(its);
  }
  return users;
}

ThreadShape ProgramThreads::of(Value tensor) const {
  if (!kernel->hasAttr(kRolesAttrName))
    return {lanes, unsigned(kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName).getInt())};
  auto [at, isNew] = known.try_emplace(tensor);
  if (isNew) {
    // What is written to a ring is in registers of those who load it.
    StringRef name =
        isThroughRegisters(tensor) ? getRoleName(tensor.getDefiningOp()) : findKeeper(tensor);
    llvm::SetVector<StringRef> users;
    if (name.empty())
      users = findUsers(tensor);
    if (name.empty() && users.empty())
      users = findUsersBehind(tensor);
    at->second = ofRole(users.empty() ? name : users.front());
  }
  return at->second;
}

ThreadShape ProgramThreads::of(Operation *op) const {
  if (StringRef name = getRoleName(op); !name.empty() && kernel->hasAttr(kRolesAttrName))
    return ofRole(name);
  for (ValueRange values : {ValueRange(op->getResults()), ValueRange(op->getOperands())})
    for (Value value : values)
      if (isTensor(value))
        return of(value);
  return {lanes, 1};
}

static int64_t getElementBytesOf(Operation *access) {
  auto load = dyn_cast<LoadOp>(access);
  Type type = load ? load.getType() : cast<StoreOp>(access).getValue().getType();
  return std::max(1u, getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8);
}

//===- The walk -----------------------------------------------------------------------------===//

LayoutInference::LayoutInference(KernelOp kernel, const ProgramThreads &threads)
    : threads(threads) {
  // One width for the whole kernel, so that tensors of one shape share one layout.
  kernel.getBody().walk([&](Operation *op) {
    if (isa<LoadOp, StoreOp>(op)) {
      int64_t own = getAccessFacts(op).width;
      width = std::max(width, own);
      widthBytes = std::max(widthBytes, own * getElementBytesOf(op));
      ++accesses;
    }
    if (isa<ReduceOp>(op))
      ++reductions;
    if (auto run = op->getAttrOfType<DenseI64ArrayAttr>(kRunAttrName))
      width = std::max(width, run[1]);
  });
  // What products read lies as they want it.
  auto isProduct = [](Operation *op) {
    return isa<DotOp, DotScaledOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (kernel->hasAttr(kRolesAttrName) || kernel.getBody().walk(isProduct).wasInterrupted())
    reductions = 0;
  visit(kernel.getBody().front());
  kernel.getBody().walk([&](LoadOp load) {
    if (std::optional<LinearLayout> shared = shareOutAsRead(load))
      asRead[load.getResult()] = *shared;
  });
  if (asRead.empty())
    return;
  layouts.clear();
  visit(kernel.getBody().front());
}

LinearLayout LayoutInference::getBlocked(Value value, ThreadShape shape, int fastest) const {
  auto load = value.getDefiningOp<LoadOp>();
  LinearLayout blocked = getBlockedLayout(shapeOf(value), width, shape, fastest,
                                          load ? load.getExtents() : std::nullopt);
  return reductions ? shareRows(blocked, fastest) : blocked;
}

/// A row that 2^k lanes share takes k exchanges a number that is reduced along it, each a shuffle
/// and an operation, of as many numbers as a lane has rows. An access of a warp takes a line of
/// memory for each row that it reaches, and for each 128 bytes. So of `lanes` along a row of
/// `pieces` (the accesses that it takes of a lane), for each piece of a lane:
///
///   accesses * max(lanes / 2^k, lanes * bytes / 128) + reductions * 2 k * 2^k / pieces
LinearLayout LayoutInference::shareRows(const LinearLayout &blocked, int fastest) const {
  constexpr int64_t kLineBytes = 128;
  SmallVector<int64_t> shape = blocked.getShape();
  if (shape.size() < 2)
    return blocked;
  unsigned dim = fastest >= 0 ? fastest : shape.size() - 1;
  SmallVector<LinearLayout::InDim> ins(blocked.getIns());
  auto find = [&](StringRef name) {
    return llvm::find_if(ins, [&](const LinearLayout::InDim &in) { return in.name == name; });
  };
  auto *registers = find(kRegister), *lanes = find(kLane);
  auto isAlong = [&](const LinearLayout::Basis &basis) { return basis[dim] != 0; };
  int64_t present = llvm::count_if(lanes->bases, isAlong), all = lanes->bases.size();
  int64_t pieces = std::max<int64_t>(1, shape[dim] / width);
  auto cost = [&](int64_t k) {
    int64_t lines = std::max(int64_t(1) << (all - k), (widthBytes << all) / kLineBytes);
    return accesses * lines * pieces + reductions * 2 * k * (int64_t(1) << k);
  };
  for (int64_t k = present; k > 0 && cost(k - 1) < cost(k); --k) {
    auto *row = llvm::find_if(registers->bases, [&](const LinearLayout::Basis &basis) {
      return !isAlong(basis) && !llvm::all_of(basis, [](int64_t value) { return value == 0; });
    });
    if (row == registers->bases.end())
      break;
    auto last = llvm::find_if(llvm::reverse(lanes->bases), isAlong);
    std::swap(*row, *last);
  }
  return *LinearLayout::create(ins, blocked.getOuts());
}

/// Lanes and warps of which a layout does not speak hold what the others do.
static LinearLayout withAllThreads(const LinearLayout &layout, ThreadShape shape) {
  SmallVector<LinearLayout::InDim> ins(canonicalise(layout).getIns());
  for (LinearLayout::InDim &in : ins) {
    unsigned count = in.name == kLane ? shape.lanes : in.name == kWarp ? shape.warps : 1;
    while (in.bases.size() < llvm::Log2_64_Ceil(count))
      in.bases.emplace_back(layout.getOuts().size(), 0);
  }
  return *LinearLayout::create(ins, layout.getOuts());
}

BufferReader LayoutInference::getDotReader(OpOperand &use) const {
  auto dot = cast<DotOp>(use.getOwner());
  BufferReader reader = BufferReader::ofDot(use);
  reader.known = getDotLayouts(dot, dot.getAtomAttr(), threads.of(dot.getOperation())).accumulator;
  return reader;
}

std::optional<LinearLayout> LayoutInference::shareOutForDots(Value value,
                                                             const LinearLayout &layout,
                                                             ArrayRef<BufferReader> dots,
                                                             int64_t width, int fastest) const {
  ThreadShape shape = threads.of(value);
  auto type = cast<RankedTensorType>(value.getType());
  auto fits = [&](const LinearLayout &other) {
    return !findWrittenOrders(other, shape.copies, dots, type).empty();
  };
  if (shape.copies == 1 || dots.empty() || fits(layout))
    return std::nullopt;
  // Where no part lies together each copy writes all of it.
  for (int dim = type.getRank() - 1; dim >= -1; --dim) {
    if (dim >= 0 && type.getDimSize(dim) % shape.copies)
      continue;
    LinearLayout other = getSharedOutLayout(type.getShape(), width, shape, dim, fastest);
    if (other.isExact() && fits(other))
      return canonicalise(other);
  }
  return std::nullopt;
}

/// What is computed and then written for products.
std::optional<LinearLayout> LayoutInference::shareOutWritten(Value value,
                                                             const LinearLayout &layout) const {
  if (isa_and_nonnull<DotOp>(value.getDefiningOp()))
    return std::nullopt;
  std::vector<BufferReader> dots;
  for (OpOperand &use : value.getUses())
    if (isWrittenForDot(use))
      dots.push_back(getDotReader(use));
  int64_t bytes = std::max(1u, getSharedElementBytes(getElementTypeOrSelf(value.getType())));
  return shareOutForDots(value, layout, dots, kMostSharedBytes / bytes);
}

int kiln::getCopiesDim(const LinearLayout &layout, unsigned copies) {
  ArrayRef<LinearLayout::Basis> warps = layout.getBases(kWarp);
  if (copies == 1 || warps.empty())
    return -1;
  const auto *at = llvm::find_if(warps.back(), [](int64_t value) { return value != 0; });
  return at == warps.back().end() ? -1 : int(at - warps.back().begin());
}

/// Which dimensions of a tile those who read it share out, behind what those who have it compute of
/// it element by element.
void LayoutInference::findSharedDims(Value value, llvm::SmallDenseSet<int> &dims) const {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isReadFromBuffer(use)) {
      BufferReader reader = getDotReader(use);
      SmallVector<int64_t> share = getShare(reader, *reader.known, shapeOf(value));
      for (auto [dim, extent] : llvm::enumerate(share))
        if (extent != shapeOf(value)[dim])
          dims.insert(dim);
    } else if (user->hasTrait<OpTrait::Elementwise>() && user->getNumResults() == 1 &&
               threads.of(user) == threads.of(value)) {
      findSharedDims(user->getResult(0), dims);
    } else {
      // What is written for a product lies as it is made.
      LinearLayout layout = isWrittenForDot(use) ? get(value) : getWanted(use);
      if (int dim = getCopiesDim(layout, threads.of(user).copies); dim >= 0)
        dims.insert(dim);
    }
  }
}

std::optional<LinearLayout> LayoutInference::shareOutAsRead(LoadOp load) const {
  Value value = load.getResult();
  ThreadShape shape = threads.of(value);
  if (shape.copies == 1 || !isThroughRegisters(value) || load->hasAttr(kLayoutAttrName))
    return std::nullopt;
  llvm::SmallDenseSet<int> dims;
  findSharedDims(value, dims);
  LinearLayout present = get(value), layout = present;
  int dim = dims.size() == 1 ? *dims.begin() : -1;
  if (dim >= 0 && dim != getCopiesDim(present, shape.copies) &&
      shapeOf(value)[dim] % shape.copies == 0) {
    LinearLayout other = getSharedOutLayout(shapeOf(value), width, shape, dim, getFastestDim(load));
    if (other.isExact())
      layout = canonicalise(other);
  }
  std::vector<BufferReader> dots;
  for (OpOperand &use : value.getUses())
    if (isReadFromBuffer(use))
      dots.push_back(getDotReader(use));
  if (auto other = shareOutForDots(value, layout, dots, width, getFastestDim(load)))
    return other;
  return layout != present ? std::optional(layout) : std::nullopt;
}

void LayoutInference::set(Value value, const LinearLayout &layout, Strength strength) {
  if (!isTensor(value))
    return;
  auto type = cast<RankedTensorType>(value.getType());
  // What the author has pinned stays.
  auto pinned = dyn_cast_or_null<LayoutAttr>(type.getEncoding());
  Operation *op = value.getDefiningOp();
  if (auto said = op ? op->getAttrOfType<LayoutAttr>(kLayoutAttrName) : LayoutAttr())
    layouts[value] = {withAllThreads(said.toLinear(type.getShape()), threads.of(value)), Anchored};
  else if (pinned)
    layouts[value] = {canonicalise(pinned.toLinear(type.getShape())), Anchored};
  else if (std::optional<LinearLayout> shared = shareOutWritten(value, canonicalise(layout)))
    layouts[value] = {*shared, Anchored};
  else if (auto other = asRead.find(value); other != asRead.end())
    layouts[value] = {other->second, strength};
  else
    layouts[value] = {canonicalise(layout), strength};
}

LayoutInference::Entry LayoutInference::lookup(Value value) const {
  return layouts.find(value)->second;
}

LayoutInference::Entry LayoutInference::lookup(Value value, ThreadShape shape) const {
  if (threads.of(value) == shape)
    return lookup(value);
  return {canonicalise(getBlocked(value, shape)), Plain};
}

void LayoutInference::visit(Block &block) {
  for (Operation &op : block)
    visit(&op);
}

/// What a loop carries lies as its trips make it, where they ask for that more strongly.
bool LayoutInference::grow(ValueRange carried, ValueRange yielded) {
  bool changed = false;
  for (auto [argument, made] : llvm::zip(carried, yielded)) {
    if (!isTensor(argument))
      continue;
    Entry before = lookup(argument), after = lookup(made, threads.of(argument));
    if (after.strength > before.strength) {
      set(argument, after.layout, after.strength);
      changed = true;
    }
  }
  return changed;
}

void LayoutInference::visitLoop(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  for (auto [init, argument] : llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs()))
    if (isTensor(init)) {
      Entry entry = lookup(init, threads.of(argument));
      set(argument, entry.layout, entry.strength);
    }
  // Strengths only grow, and there are three, so this ends.
  bool changed = true;
  for (unsigned round = 0; changed && round < 2 * loop.getNumRegionIterArgs() + 1; ++round) {
    visit(*loop.getBody());
    changed = grow(loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOperands());
  }
  for (auto [result, argument] : llvm::zip(loop.getResults(), loop.getRegionIterArgs()))
    if (isTensor(result))
      set(result, lookup(argument).layout, lookup(argument).strength);
}

void LayoutInference::visitWhile(Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  for (auto [init, argument] : llvm::zip(loop.getInits(), loop.getBeforeArguments()))
    if (isTensor(init)) {
      Entry entry = lookup(init, threads.of(argument));
      set(argument, entry.layout, entry.strength);
    }
  bool changed = true;
  for (unsigned round = 0; changed && round < 2 * loop.getInits().size() + 1; ++round) {
    visit(*loop.getBeforeBody());
    for (auto [value, argument, result] :
         llvm::zip(loop.getConditionOp().getArgs(), loop.getAfterArguments(), loop.getResults()))
      if (isTensor(value))
        for (Value each : {Value(argument), Value(result)}) {
          Entry entry = lookup(value, threads.of(each));
          set(each, entry.layout, entry.strength);
        }
    visit(*loop.getAfterBody());
    changed = grow(loop.getBeforeArguments(), loop.getYieldOp().getOperands());
  }
}

void LayoutInference::visitIf(Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
    if (!region->empty())
      visit(region->front());
  for (auto [index, result] : llvm::enumerate(branch.getResults())) {
    if (!isTensor(result))
      continue;
    Entry left = lookup(branch.thenYield().getOperand(index), threads.of(result));
    Entry right = lookup(branch.elseYield().getOperand(index), threads.of(result));
    Entry best = right.strength > left.strength ? right : left;
    set(result, best.layout, std::max(best.strength, Plain));
  }
}

void LayoutInference::visit(Operation *op) {
  if (isa<scf::ForOp>(op))
    visitLoop(op);
  else if (isa<scf::WhileOp>(op))
    visitWhile(op);
  else if (isa<scf::IfOp>(op))
    visitIf(op);
  else if (auto distribution = dyn_cast<DistributionInterface>(op))
    distribution.inferLayouts(*this);
}

LinearLayout LayoutInference::getWanted(OpOperand &operand) const {
  Operation *op = operand.getOwner();
  unsigned index = operand.getOperandNumber();
  if (auto distribution = dyn_cast<DistributionInterface>(op))
    return distribution.getWantedLayout(operand, *this);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return get(loop.getTiedLoopRegionIterArg(&operand));
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return get(loop.getBeforeArguments()[index]);
  Operation *parent = op->getParentOp();
  if (isa<scf::ConditionOp>(op))
    return get(parent->getResult(index - 1));
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    return get(loop.getRegionIterArgs()[index]);
  if (auto loop = dyn_cast<scf::WhileOp>(parent))
    return get(loop.getBeforeArguments()[index]);
  return get(parent->getResult(index));
}
