// Sorts the ops of a block into the phases in which chunks of their tiles are computed.
#include "ChunkPhases.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/ChunkDecisions.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Of what comes behind a store of tiles that are cut: behind all phases.
static constexpr unsigned kBehind = std::numeric_limits<unsigned>::max() / 2;

static ArrayRef<int64_t> shapeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

ChunkPhases::ChunkPhases(KernelOp kernel) {
  findExtent(kernel);
  if (extent == 1) {
    obstacle = {kernel, "expected a tensor of several elements"};
    return;
  }
  findCut(kernel);
  if (!obstacle)
    findLevels();
  if (!obstacle)
    findUses();
}

//===- The dimension ------------------------------------------------------------------------===//

void ChunkPhases::findExtent(KernelOp kernel) {
  kernel.getBody().walk([&](Block *inner) {
    auto see = [&](Value value) {
      for (int64_t each : shapeOf(value))
        extent = std::max(extent, each);
    };
    llvm::for_each(inner->getArguments(), see);
    for (Operation &op : *inner)
      llvm::for_each(op.getResults(), see);
  });
}

std::optional<unsigned> ChunkPhases::findDim(Value value) const {
  ArrayRef<int64_t> shape = shapeOf(value);
  const auto *found = llvm::find(shape, extent);
  return found == shape.end() ? std::nullopt : std::optional<unsigned>(found - shape.begin());
}

RankedTensorType ChunkPhases::getChunkType(Value tensor, int64_t length) const {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[*findDim(tensor)] = length;
  return type.clone(shape);
}

bool ChunkPhases::isAlong(Operation *op) const {
  auto isAxis = [&](Value input, int64_t axis) {
    std::optional<unsigned> dim = findDim(input);
    return dim && int64_t(*dim) == axis;
  };
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return isAxis(reduce.getInputs().front(), reduce.getAxis());
  auto argReduce = dyn_cast<ArgReduceOp>(op);
  return argReduce && isAxis(argReduce.getInput(), argReduce.getAxis());
}

//===- What can be cut ----------------------------------------------------------------------===//

bool kiln::canCombineTiles(Block &combiner) {
  return llvm::all_of(combiner.without_terminator(), [](Operation &op) {
    return isa<arith::ConstantOp>(op) || op.hasTrait<OpTrait::Elementwise>();
  });
}

static SmallVector<int64_t> getLongExtents(Value value) {
  return llvm::to_vector(
      llvm::make_filter_range(shapeOf(value), [](int64_t extent) { return extent != 1; }));
}

/// Why an op needs its tiles whole; none if chunks of them will do.
std::optional<std::string> ChunkPhases::whyWhole(Operation *op) const {
  auto isTwice = [&](Value value) { return llvm::count(shapeOf(value), extent) > 1; };
  if (llvm::any_of(op->getOperands(), isTwice) || llvm::any_of(op->getResults(), isTwice))
    return "expected tensors with one dimension of the longest extent";
  std::string decided = findDecision(op, [](const Decision &decision) {
    return decision.name != kKeptAttrName && decision.name != kRaggedAttrName;
  });
  if (!decided.empty())
    return "expected no '" + decided + "' of a tile which is cut";
  auto needs = [](bool holds, const char *what) {
    return holds ? std::nullopt : std::optional<std::string>(what);
  };
  return TypeSwitch<Operation *, std::optional<std::string>>(op)
      .Case<LoadOp, StoreOp>([&](auto access) {
        return needs(!access.getExtents(), "expected an access to all of a tile");
      })
      .Case<ReshapeOp>([&](ReshapeOp reshape) {
        return needs(getLongExtents(reshape.getInput()) == getLongExtents(reshape.getResult()),
                     "expected a reshape that adds or drops dimensions of one element");
      })
      .Case<arith::ConstantOp>([&](arith::ConstantOp constant) {
        return needs(isa<SplatElementsAttr>(constant.getValue()),
                     "expected a constant whose elements are all the same");
      })
      .Case<ReduceOp, ArgReduceOp>([&](auto reduce) {
        return needs(!isAlong(reduce) || canCombineTiles(reduce.getCombiner().front()),
                     "expected a combination that works element by element");
      })
      .Case<InlineAsmOp>([&](InlineAsmOp inlined) {
        return needs(inlined.getPure() && inlined.getPack() == 1,
                     "expected code without effects on one element at a time");
      })
      .Case<ExternCallOp>([&](ExternCallOp call) {
        return needs(call.getPure(), "expected a function without effects");
      })
      .Case<GatherOp, ScatterOp, SplatOp, IotaOp, BroadcastOp, TransposeOp, PhiloxOp, MultipleOfOp>(
          [](auto) { return std::nullopt; })
      .Default([&](Operation *other) {
        if (other->getNumRegions() > 0)
          return needs(false, "expected no loop or condition that gives tiles which are cut");
        return needs(other->hasTrait<OpTrait::Elementwise>(),
                     "expected ops that work element by element, or sums, loads and stores");
      });
}

/// All must stand in one block, and no loop or condition may carry any of it.
void ChunkPhases::findCut(KernelOp kernel) {
  auto isCut = [&](Value value) { return findDim(value).has_value(); };
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Block *inner) {
    for (Operation &op : *inner) {
      if (obstacle ||
          (llvm::none_of(op.getOperands(), isCut) && llvm::none_of(op.getResults(), isCut)))
        continue;
      if (std::optional<std::string> why = whyWhole(&op))
        obstacle = {&op, *why};
      else if (block && block != inner)
        obstacle = {&op, "expected all tiles that are cut in one block"};
      block = inner;
      cut.push_back(&op);
    }
    return obstacle ? WalkResult::interrupt() : WalkResult::advance();
  });
}

//===- Phases -------------------------------------------------------------------------------===//

static bool isStore(Operation *op) { return isa<StoreOp, ScatterOp>(op); }

void ChunkPhases::findLevels() {
  DenseSet<Operation *> isCut(cut.begin(), cut.end());
  auto getLevelOf = [&](Value value) -> unsigned {
    Operation *maker = value.getDefiningOp();
    if (!maker || maker->getBlock() != block)
      return 0;
    return levels.lookup(maker) + (isCut.contains(maker) && isAlong(maker));
  };
  // What has effects stays in its order.
  unsigned effects = 0;
  bool hasStores = false, hasEnds = false;
  for (Operation &op : block->without_terminator()) {
    unsigned level = 0;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        level = std::max(level, getLevelOf(operand));
    });
    bool isWhole = !isCut.contains(&op);
    if (isWhole && !isMemoryEffectFree(&op)) {
      level = hasStores ? kBehind : std::max(level, effects);
      effects = std::max(level, effects);
    }
    levels[&op] = level;
    if (isWhole)
      continue;
    if (level >= kBehind) {
      obstacle = {&op, "expected nothing that is made behind a store of tiles which are cut"};
      return;
    }
    hasStores |= isStore(&op);
    if (!isStore(&op) && !isAlong(&op))
      continue;
    hasEnds = true;
    last = std::max(last, level);
  }
  if (!hasEnds)
    obstacle = {cut.front(), "expected a store or a sum of tiles which are cut"};
}

bool ChunkPhases::isEnd(Operation *op, unsigned phase) const {
  return isStore(op) ? phase == last : isAlong(op) && levels.lookup(op) == phase;
}

SmallVector<Operation *> ChunkPhases::getOps(unsigned phase) const {
  DenseSet<Operation *> needed;
  for (Operation *op : llvm::reverse(cut)) {
    if (!isEnd(op, phase) && !needed.contains(op))
      continue;
    needed.insert(op);
    for (Value operand : op->getOperands())
      if (Operation *maker = findDim(operand) ? operand.getDefiningOp() : nullptr)
        needed.insert(maker);
  }
  SmallVector<Operation *> ops;
  for (bool isLoad : {true, false})
    llvm::copy_if(cut, std::back_inserter(ops),
                  [&](Operation *op) { return isa<LoadOp>(op) == isLoad && needed.contains(op); });
  return ops;
}

void ChunkPhases::findUses() {
  for (unsigned phase = 0; phase <= last; ++phase)
    for (Operation *op : getOps(phase))
      uses.try_emplace(op, phase, phase).first->second.second = phase;
}

//===- Memory -------------------------------------------------------------------------------===//

namespace {
/// What an op, with those in it, does to global memory; the view is null where it is not known.
struct Access {
  Operation *op;
  Value view;
  bool writes;
};
} // namespace

static SmallVector<Access> findAccesses(Operation *top) {
  SmallVector<Access> accesses;
  top->walk([&](Operation *op) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects)
      return;
    SmallVector<MemoryEffects::EffectInstance> all;
    effects.getEffectsOnResource(GlobalMemory::get(), all);
    if (all.empty())
      return;
    auto isView = [](Value operand) { return isa<ViewType>(operand.getType()); };
    auto view = llvm::find_if(op->getOperands(), isView);
    bool isKnown = isa<LoadOp, StoreOp, GatherOp, ScatterOp>(op) && view != op->operand_end();
    bool writes =
        llvm::any_of(all, [](const auto &it) { return isa<MemoryEffects::Write>(it.getEffect()); });
    accesses.push_back({op, isKnown ? *view : Value(), writes});
  });
  return accesses;
}

static bool areApart(const Access &one, const Access &other) {
  return (!one.writes && !other.writes) ||
         (one.view && other.view && areOfOtherMemory(one.view, other.view));
}

/// Whether an access in a loop over chunks comes to each chunk behind an earlier one: they are of
/// one tile, and what is loaded is not what was stored, since a trip loads first.
static bool areInStep(Operation *earlier, Operation *later) {
  auto describe = [](Operation *op) {
    return TypeSwitch<Operation *, std::pair<SmallVector<Value>, Type>>(op)
        .Case<LoadOp>([](LoadOp load) {
          return std::pair(llvm::to_vector(load.getOffsets()), Type(load.getType()));
        })
        .Case<StoreOp>([](StoreOp store) {
          return std::pair(llvm::to_vector(store.getOffsets()), store.getValue().getType());
        })
        .Default(std::pair<SmallVector<Value>, Type>());
  };
  auto [offsets, type] = describe(earlier);
  auto [others, otherType] = describe(later);
  bool isLoadedBehind = isStore(earlier) && !isStore(later);
  return type && type == otherType && offsets == others && !isLoadedBehind;
}

std::optional<ChunkPhases::Obstacle>
ChunkPhases::findConflict(function_ref<bool(LoadOp)> isKept) const {
  struct Run {
    Access access;
    bool isCut;
    /// The phases in which it runs: one that is not cut runs in front of its phase.
    unsigned first, last;
  };
  SmallVector<Run> runs;
  DenseSet<Operation *> isCut(cut.begin(), cut.end());
  for (Operation &op : block->without_terminator())
    for (const Access &access : findAccesses(&op)) {
      if (!isCut.contains(&op)) {
        runs.push_back({access, false, getLevel(&op), getLevel(&op)});
        continue;
      }
      auto found = uses.find(&op);
      if (found == uses.end())
        continue;
      auto load = dyn_cast<LoadOp>(&op);
      auto [first, last] = found->second;
      runs.push_back({access, true, first, load && isKept(load) ? first : last});
    }
  /// Whether all of the earlier one has run when the later one begins.
  auto isBefore = [](const Run &earlier, const Run &later) {
    return later.isCut && !earlier.isCut    ? earlier.last <= later.first
           : !later.isCut && !earlier.isCut ? true
                                            : earlier.last < later.first;
  };
  for (auto [index, later] : llvm::enumerate(runs))
    for (const Run &earlier : ArrayRef(runs).take_front(index)) {
      bool inStep = earlier.isCut && later.isCut && earlier.last <= later.first &&
                    earlier.access.view == later.access.view &&
                    areInStep(earlier.access.op, later.access.op);
      if (areApart(earlier.access, later.access) || isBefore(earlier, later) || inStep)
        continue;
      return Obstacle{later.access.op,
                      "expected memory that nothing before it accesses in another order, as the "
                      "facts of arguments say"};
    }
  return std::nullopt;
}
