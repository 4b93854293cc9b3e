#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
namespace kiln {
#define GEN_PASS_DEF_REALISEINTERLEAVING
#include "kiln/Schedule/Passes.h.inc"
struct S2 : impl::RealiseInterleavingBase<S2> { void runOnOperation() override {} };
} // namespace kiln
