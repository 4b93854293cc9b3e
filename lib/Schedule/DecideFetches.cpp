// Has sums fetched by boxes wherever boxes are all that is made of them. Of a store that an engine
// makes, a box is written at a time, so no more of a sum need be in registers: sums of 128 columns
// that are multiplied with one another would take 256 registers otherwise.
#include "BoxedSums.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDEFETCHES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
struct DecideFetches : kiln::impl::DecideFetchesBase<DecideFetches> {
  void runOnOperation() override {
    auto how = StringAttr::get(&getContext(), "boxes");
    auto isDecided = [](SliceOp box) { return box->hasAttr(kFetchedAttrName); };
    for (auto &[whole, boxes] : findSlices(getOperation())) {
      std::string expected;
      if (llvm::any_of(boxes, isDecided) || !findBoxedSums(whole, boxes, expected))
        continue;
      for (SliceOp box : boxes)
        box->setAttr(kFetchedAttrName, how);
    }
  }
};
} // namespace
