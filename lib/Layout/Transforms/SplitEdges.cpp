// Two ways through code that loads and stores tiles which may cross the end of a row: one for tiles
// that do not, with accesses as wide as rows are aligned, and one for those at the edge.
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace kiln {
#define GEN_PASS_DEF_SPLITEDGES
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Code that is written twice is compiled twice.
static constexpr int64_t kMostOps = 256;

namespace {
/// Where an access ends along its rows.
struct Edge {
  TypedValue<ViewType> view;
  int64_t dim;
  Value offset;
  int64_t extent;
  bool operator==(const Edge &other) const {
    return view == other.view && offset == other.offset && extent == other.extent;
  }
};
} // namespace

/// Of an access that would be wider if its tile were known to be whole.
static std::optional<Edge> getEdge(Operation *op) {
  auto get = [&](auto access, Value tile) -> std::optional<Edge> {
    auto view = cast<TypedValue<ViewType>>(access.getView());
    AccessFacts facts = getAccessFacts(view, access.getOffsets());
    if (facts.dim < 0 || facts.aligned <= facts.width || access.getAtomAttr() ||
        view.getType().getElementType().getIntOrFloatBitWidth() < 8 ||
        !isKnownNonNegative(access.getOffsets()[facts.dim]))
      return std::nullopt;
    int64_t extent = access.getExtents()
                         ? (*access.getExtents())[facts.dim]
                         : cast<RankedTensorType>(tile.getType()).getDimSize(facts.dim);
    if (extent < 2 || extent % 2)
      return std::nullopt;
    return Edge{view, facts.dim, access.getOffsets()[facts.dim], extent};
  };
  if (auto load = dyn_cast<LoadOp>(op))
    return get(load, load.getResult());
  if (auto store = dyn_cast<StoreOp>(op))
    return get(store, store.getValue());
  return std::nullopt;
}

/// What a schedule has arranged, and products, which are fed in other ways, stay as they are.
static bool mayBeSplit(Operation *op) {
  return !isa<DotOp, DotScaledOp, AllocOp, ChannelOp, WarpGroupsOp, BarrierOp>(op);
}

namespace {
class Splitter {
public:
  explicit Splitter(KernelOp kernel) : kernel(kernel) {}

  void run() {
    SmallVector<Block *> blocks;
    kernel.getBody().walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      split(*block);
  }

private:
  void split(Block &block) {
    Operation *first = nullptr;
    SmallVector<Edge> edges;
    SmallVector<Operation *> accesses;
    DominanceInfo dominance(kernel);
    for (Operation &op : block) {
      std::optional<Edge> edge = getEdge(&op);
      if (!edge)
        continue;
      if (!first)
        first = &op;
      // The question is asked in front of the first access.
      if (!dominance.properlyDominates(edge->offset, first) ||
          !dominance.properlyDominates(edge->view, first))
        continue;
      accesses.push_back(&op);
      if (!llvm::is_contained(edges, *edge))
        edges.push_back(*edge);
    }
    if (accesses.empty())
      return;
    int64_t count = 0;
    bool allowed = true;
    for (auto op = Block::iterator(first); op != block.end(); ++op)
      op->walk([&](Operation *inner) {
        ++count;
        allowed &= mayBeSplit(inner);
      });
    if (!allowed || count > kMostOps)
      return;

    OpBuilder builder(first);
    Location loc = first->getLoc();
    Value isWhole;
    for (const Edge &edge : edges) {
      Value extent = DimOp::create(builder, loc, edge.view, edge.dim);
      Value size = arith::ConstantIndexOp::create(builder, loc, edge.extent);
      Value end = arith::AddIOp::create(builder, loc, edge.offset, size);
      Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, end, extent);
      isWhole = isWhole ? Value(arith::AndIOp::create(builder, loc, isWhole, fits)) : fits;
    }

    // What the block hands on, if it is computed from here on.
    Operation *last = block.getTerminator();
    llvm::SetVector<Value> results;
    for (Value value : last->getOperands())
      if (Operation *op = value.getDefiningOp();
          op && op->getBlock() == &block && !op->isBeforeInBlock(first))
        results.insert(value);
    auto types = llvm::map_to_vector(results, [](Value value) { return value.getType(); });
    auto branch = scf::IfOp::create(builder, loc, types, isWhole, /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    Block *whole = branch.thenBlock(), *edge = branch.elseBlock();
    edge->getOperations().splice(edge->begin(), block.getOperations(), Block::iterator(first),
                                 Block::iterator(last));
    IRMapping map;
    builder.setInsertionPointToStart(whole);
    for (Operation &op : *edge)
      if (!op.hasTrait<OpTrait::IsTerminator>())
        builder.clone(op, map);
    for (Operation *access : accesses)
      map.lookup(access)->setAttr(kWholeRowsAttrName, builder.getUnitAttr());
    SmallVector<Value> atEdge(results.begin(), results.end()), atWhole;
    for (Value value : atEdge)
      atWhole.push_back(map.lookup(value));
    auto yield = [&](Block *from, ValueRange values) {
      if (!from->empty() && from->back().hasTrait<OpTrait::IsTerminator>())
        from->back().erase();
      builder.setInsertionPointToEnd(from);
      scf::YieldOp::create(builder, loc, values);
    };
    yield(whole, atWhole);
    yield(edge, atEdge);
    for (auto [value, result] : llvm::zip(atEdge, branch.getResults()))
      for (OpOperand &operand : last->getOpOperands())
        if (operand.get() == value)
          operand.set(result);
  }

  KernelOp kernel;
};

struct SplitEdges : kiln::impl::SplitEdgesBase<SplitEdges> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (!kernel->hasAttr(kRolesAttrName))
        Splitter(kernel).run();
  }
};
} // namespace
