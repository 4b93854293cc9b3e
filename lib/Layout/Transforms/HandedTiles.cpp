// Has loops hand tiles on to each role that uses them.
#include "HandedTiles.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// A tile that a loop hands on: what the loop's next trip has of it, and what is left behind it.
struct HandedTile {
  Operation *loop;
  unsigned index;
  Value argument, result;
};
} // namespace

/// What only computes, each role that needs it may compute for itself.
static bool mayCopy(Operation *op) {
  return getRoleName(op).empty() && op->getNumRegions() == 0 &&
         !op->hasTrait<OpTrait::IsTerminator>() && op->getNumResults() == 1 &&
         isMemoryEffectFree(op);
}

/// Collects the roles that use a tile. Fails if what has no role of its own does, and no op that
/// each may compute.
static LogicalResult findRoles(Value tile, llvm::SetVector<StringRef> &roles) {
  for (Operation *user : tile.getUsers())
    if (StringRef role = getRoleName(user); !role.empty())
      roles.insert(role);
    else if (!mayCopy(user) || failed(findRoles(user->getResult(0), roles)))
      return failure();
  return success();
}

/// Has what a role computes with a tile use its own one.
static void give(Value tile, Value own, StringRef role) {
  for (OpOperand &use : llvm::make_early_inc_range(tile.getUses())) {
    Operation *user = use.getOwner();
    if (getRoleName(user) == role) {
      use.set(own);
      continue;
    }
    llvm::SetVector<StringRef> roles;
    if (!getRoleName(user).empty() || failed(findRoles(user->getResult(0), roles)) ||
        !roles.contains(role))
      continue;
    if (roles.size() == 1) {
      use.set(own);
      continue;
    }
    IRMapping mapping;
    mapping.map(tile, own);
    Operation *copy = OpBuilder(user).clone(*user, mapping);
    give(user->getResult(0), copy->getResult(0), role);
  }
}

/// A loop that hands on one tile more: that of another one of its values, as it begins.
static HandedTile addTile(RewriterBase &rewriter, scf::ForOp loop, unsigned index, Value init) {
  auto yield = [&](OpBuilder &, Location, ArrayRef<BlockArgument>) -> SmallVector<Value> {
    return {loop.getYieldedValues()[index]};
  };
  auto made = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, init, /*replaceInitOperandUsesInLoop=*/false, yield));
  unsigned own = made.getNumResults() - 1;
  return {made, own, made.getRegionIterArg(own), made.getResult(own)};
}

static HandedTile addTile(RewriterBase &rewriter, scf::WhileOp loop, unsigned index, Value init) {
  // Which of the values that the loop is asked with its `index`-th result is.
  auto before = cast<BlockArgument>(loop.getConditionOp().getArgs()[index]);
  Value next = loop.getYieldOp().getOperand(before.getArgNumber());
  SmallVector<Value> inits(loop.getInits());
  inits.push_back(init);
  SmallVector<Type> types(loop.getResultTypes());
  types.push_back(init.getType());
  rewriter.setInsertionPoint(loop);
  auto made = scf::WhileOp::create(rewriter, loop.getLoc(), types, inits);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  made.getBefore().takeBody(loop.getBefore());
  made.getAfter().takeBody(loop.getAfter());
  Value asked = made.getBeforeBody()->addArgument(init.getType(), init.getLoc());
  Value argument = made.getAfterBody()->addArgument(init.getType(), init.getLoc());
  made.getConditionOp().getArgsMutable().append(asked);
  made.getYieldOp().getResultsMutable().append(next);
  unsigned own = made.getNumResults() - 1;
  rewriter.replaceOp(loop, made.getResults().drop_back());
  return {made, own, argument, made.getResult(own)};
}

static bool isLoaded(Value value) { return fillsBuffer(value.getDefiningOp()); }

/// The tiles that a loop hands on.
static SmallVector<HandedTile> findTiles(Operation *op) {
  SmallVector<HandedTile> tiles;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [index, next] : llvm::enumerate(loop.getYieldedValues()))
      if (isLoaded(next))
        tiles.push_back(
            {loop, unsigned(index), loop.getRegionIterArg(index), loop.getResult(index)});
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [index, value] : llvm::enumerate(loop.getConditionOp().getArgs())) {
      auto before = dyn_cast<BlockArgument>(value);
      // What asks for another trip is no role's alone.
      if (before && before.getOwner() == loop.getBeforeBody() && before.hasOneUse() &&
          isLoaded(loop.getYieldOp().getOperand(before.getArgNumber())))
        tiles.push_back(
            {loop, unsigned(index), loop.getAfterArguments()[index], loop.getResult(index)});
    }
  }
  return tiles;
}

/// What a role's own tile is at first: of a constant a copy, which may lie otherwise.
static Value makeInit(RewriterBase &rewriter, Operation *loop, unsigned index) {
  auto counted = dyn_cast<scf::ForOp>(loop);
  Value init;
  if (counted) {
    init = counted.getInitArgs()[index];
  } else {
    auto asks = cast<scf::WhileOp>(loop);
    auto before = cast<BlockArgument>(asks.getConditionOp().getArgs()[index]);
    init = asks.getInits()[before.getArgNumber()];
  }
  Operation *maker = init.getDefiningOp();
  if (!maker || !matchPattern(init, m_Constant()))
    return init;
  rewriter.setInsertionPoint(loop);
  return rewriter.clone(*maker)->getResult(0);
}

/// Shares out the first tile of a loop that several roles use, one role at a time. False if there
/// is none.
static bool shareTile(RewriterBase &rewriter, Operation *loop) {
  for (HandedTile &tile : findTiles(loop)) {
    llvm::SetVector<StringRef> roles;
    if (failed(findRoles(tile.argument, roles)) || failed(findRoles(tile.result, roles)) ||
        roles.size() < 2)
      continue;
    StringRef role = roles.back();
    Value init = makeInit(rewriter, loop, tile.index);
    auto counted = dyn_cast<scf::ForOp>(loop);
    HandedTile own = counted ? addTile(rewriter, counted, tile.index, init)
                             : addTile(rewriter, cast<scf::WhileOp>(loop), tile.index, init);
    // Of the loop that has taken this one's place.
    auto made = dyn_cast<scf::ForOp>(own.loop);
    Value shared = made ? Value(made.getRegionIterArg(tile.index))
                        : cast<scf::WhileOp>(own.loop).getAfterArguments()[tile.index];
    give(shared, own.argument, role);
    give(own.loop->getResult(tile.index), own.result, role);
    return true;
  }
  return false;
}

void kiln::shareHandedTiles(KernelOp kernel) {
  IRRewriter rewriter(kernel.getContext());
  for (bool changes = true; changes;)
    changes =
        kernel.getBody()
            .walk([&](Operation *op) {
              return shareTile(rewriter, op) ? WalkResult::interrupt() : WalkResult::advance();
            })
            .wasInterrupted();
}
