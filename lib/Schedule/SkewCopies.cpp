// Copies of a role that lag behind one another by barriers of all of them.
//
// Where such a role starts dots whose operands another role brings, it meets in front of the first
// of them and behind the last, as far as none is waited for in between. With a skew of one each
// copy then starts its dots while the one before it works on the results of its own, in turns.
#include "Rings.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

void kiln::meetCopies(OpBuilder &builder, Location loc, RoleAttr role) {
  BarrierOp::create(builder, loc, /*publish=*/false, /*all_copies=*/role.getCopies() > 1,
                    /*global=*/false);
}

/// A copy lags by its number times the skew. On entry it meets those before it so often first; at
/// the end they meet it as often as it is behind.
void kiln::lagCopies(OpBuilder &builder, Location loc, RoleAttr role, bool isEntry) {
  int64_t most = role.getSkew() * (role.getCopies() - 1);
  for (int64_t i = 0; i < most; ++i) {
    IndexMath math{builder, loc};
    Value copy = CopyIdOp::create(builder, loc, builder.getIndexType());
    Value lag = math.mul(copy, math.constant(role.getSkew()));
    auto predicate = isEntry ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::ult;
    Value meets =
        arith::CmpIOp::create(builder, loc, predicate, lag, math.constant(isEntry ? i : most - i));
    auto condition = scf::IfOp::create(builder, loc, meets);
    OpBuilder inner = condition.getThenBodyBuilder();
    meetCopies(inner, loc, role);
  }
}

void kiln::skewDots(Region &region, RoleAttr role) {
  llvm::SetVector<Block *> blocks;
  region.walk([&](StartDotOp dot) { blocks.insert(dot->getBlock()); });
  if (blocks.empty())
    return;
  for (Block *block : blocks) {
    StartDotOp last;
    auto close = [&] {
      if (!last)
        return;
      OpBuilder builder(last);
      builder.setInsertionPointAfter(last);
      meetCopies(builder, last.getLoc(), role);
      last = nullptr;
    };
    for (Operation &op : llvm::make_early_inc_range(*block)) {
      if (op.getNumRegions() > 0 || isa<WaitOp>(op))
        close();
      auto dot = dyn_cast<StartDotOp>(op);
      if (!dot)
        continue;
      if (!last) {
        OpBuilder builder(dot);
        meetCopies(builder, dot.getLoc(), role);
      }
      last = dot;
    }
    close();
  }
  OpBuilder entry = OpBuilder::atBlockBegin(&region.front());
  OpBuilder exit = OpBuilder::atBlockEnd(&region.front());
  lagCopies(entry, region.getLoc(), role, /*isEntry=*/true);
  lagCopies(exit, region.getLoc(), role, /*isEntry=*/false);
}
