// The passes of the CPU target.
#ifndef KILN_TARGET_CPU_PASSES_H
#define KILN_TARGET_CPU_PASSES_H

#include "kiln/Target/CPU/CPU.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace mlir {
namespace arith {
class ArithDialect;
} // namespace arith
namespace cf {
class ControlFlowDialect;
} // namespace cf
namespace func {
class FuncDialect;
} // namespace func
namespace math {
class MathDialect;
} // namespace math
namespace scf {
class SCFDialect;
} // namespace scf
namespace vector {
class VectorDialect;
} // namespace vector
} // namespace mlir

namespace kiln::cpu {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "kiln/Target/CPU/Passes.h.inc"

} // namespace kiln::cpu

#endif // KILN_TARGET_CPU_PASSES_H
