// Has tiles of rows begin where memory's vectors do (RowStarts.h).
#include "RowStarts.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/ChunkDecisions.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEROWSTARTS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
class RowTurner {
public:
  explicit RowTurner(const ChunkPhases &phases)
      : phases(phases), builder(findFirstPlace(phases)), loc(findLeadingStore(phases)->getLoc()) {}

  void run() {
    Value shift = findShift();
    Value start = arith::SubIOp::create(builder, loc, index(0), shift);
    for (Operation *op : phases.getCut()) {
      if (auto load = dyn_cast<LoadOp>(op))
        move(load, load.getResult(), start);
      if (auto store = dyn_cast<StoreOp>(op))
        move(store, store.getValue(), start);
      auto iota = dyn_cast<IotaOp>(op);
      if (iota && *phases.findDim(iota.getResult()) == iota.getDim())
        turn(iota, start);
    }
  }

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

  /// How many elements of the vector in which the leading store's row begins lie in front of it.
  Value findShift() {
    StoreOp store = findLeadingStore(phases);
    TypedValue<ViewType> view = store.getView();
    int64_t bytes = getElementBytes(view.getType().getElementType());
    Value elements = index(0);
    for (auto [dim, offset] : llvm::enumerate(store.getOffsets())) {
      if (dim == *phases.findDim(store.getValue()))
        continue;
      Value stride = StrideOp::create(builder, loc, builder.getIndexType(), view, dim);
      Value part = arith::MulIOp::create(builder, loc, offset, stride);
      elements = arith::AddIOp::create(builder, loc, elements, part);
    }
    Value address = AddressOp::create(builder, loc, builder.getIndexType(), view);
    Value at = arith::MulIOp::create(builder, loc, elements, index(bytes));
    at = arith::AddIOp::create(builder, loc, address, at);
    at = arith::AndIOp::create(builder, loc, at, index(kVectorBytes - 1));
    return arith::DivUIOp::create(builder, loc, at, index(bytes));
  }

  template <typename AccessOp>
  void move(AccessOp access, Value tile, Value start) {
    access.getOffsetsMutable()[*phases.findDim(tile)].set(start);
    access->setAttr(kRaggedAttrName, builder.getI64IntegerAttr(phases.getExtent()));
  }

  /// (i + extent + start) mod extent: what stands in front of the row has come from the tile's end.
  void turn(IotaOp iota, Value start) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(iota);
    Location here = iota.getLoc();
    auto type = cast<RankedTensorType>(iota.getType());
    Value shifted = arith::AddIOp::create(builder, here, start, index(phases.getExtent()));
    if (!type.getElementType().isIndex())
      shifted = arith::IndexCastOp::create(builder, here, type.getElementType(), shifted);
    Value sum =
        arith::AddIOp::create(builder, here, iota, SplatOp::create(builder, here, type, shifted));
    Attribute last = builder.getIntegerAttr(type.getElementType(), phases.getExtent() - 1);
    Value mask = arith::ConstantOp::create(builder, here, DenseElementsAttr::get(type, last));
    Value turned = arith::AndIOp::create(builder, here, sum, mask);
    iota.getResult().replaceAllUsesExcept(turned, sum.getDefiningOp());
  }

  const ChunkPhases &phases;
  OpBuilder builder;
  Location loc;
};

struct RealiseRowStarts : kiln::impl::RealiseRowStartsBase<RealiseRowStarts> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      auto decided = cast_or_null<BoolAttr>(kernel->removeAttr(kRowStartsAttrName));
      if (!decided || !decided.getValue() || target->runsOnHost())
        continue;
      ChunkPhases phases(kernel);
      if (auto obstacle = findTurnObstacle(phases)) {
        obstacle->op->emitError() << obstacle->why << ", since '" << kRowStartsAttrName
                                  << "' is decided";
        return signalPassFailure();
      }
      RowTurner(phases).run();
    }
  }
};
} // namespace
