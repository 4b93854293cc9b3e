// Holds the pins of each loop against what the chip has, before anything is realised.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_CHECKSCHEDULE
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

namespace {
struct CheckSchedule : kiln::impl::CheckScheduleBase<CheckSchedule> {
  void runOnOperation() override {}
};
} // namespace
