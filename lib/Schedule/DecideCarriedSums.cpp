// Leaves a sum in tensor memory wherever it can stay there. Beside one that a loop carries a trip
// computes what its dots multiply, and a thread has not registers for both; one that a condition
// chooses is fetched behind it, where it is stored: there it can be fetched box by box.
#include "CarriedSums.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDECARRIEDSUMS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
struct DecideCarriedSums : kiln::impl::DecideCarriedSumsBase<DecideCarriedSums> {
  void runOnOperation() override {
    auto place = StringAttr::get(&getContext(), "tensor_memory");
    getOperation().walk([&](WaitOp wait) {
      std::string expected;
      if (!wait->hasAttr(kCarriedAttrName) && WarpGroupsOp::getRoleOf(wait) &&
          (findCarriedSum(wait, expected) || findChoice(wait, expected)))
        wait->setAttr(kCarriedAttrName, place);
    });
  }
};
} // namespace
