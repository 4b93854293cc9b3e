// The CPU target: the cpu dialect, and what it answers to the common passes.
#include "kiln/Target/CPU/CPU.h"
#include "kiln/Binary/HostCode.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "kiln/Target/CPU/Passes.h"
#include "kiln/Target/Common/Passes.h"
#include "kiln/Target/Registry.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

#include "kiln/Target/CPU/CPUDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "kiln/Target/CPU/CPUAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "kiln/Target/CPU/CPUOps.cpp.inc"

void CPUDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kiln/Target/CPU/CPUAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "kiln/Target/CPU/CPUOps.cpp.inc"
      >();
}

/// One thread runs one program: no warps, no memory shared among threads. The first is the machine
/// at hand, the others are kinds of processors (kiln/Binary/HostCode.h), whether this is one or
/// not.
static ArrayRef<const Chip *> getChips() {
  static const Chip records[] = {
      {kHostChip}, {"x86-64-v2"}, {"x86-64-v3"}, {"x86-64-v4"}, {"aarch64"}};
  static const SmallVector<const Chip *> chips = listChips(ArrayRef(records));
  return chips;
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t vectorBits,
                                 int64_t registers, StringRef processor) {
  if (vectorBits < 64 || vectorBits > 4096 || !llvm::isPowerOf2_64(vectorBits))
    return emitError() << "expected 'vector_bits' to be a power of two from 64 to 4096, got "
                       << vectorBits;
  if (registers < 1 || registers > 1024)
    return emitError() << "expected 1 to 1024 'registers', got " << registers;
  return processor.empty() ? success() : verifyChip(getChips(), processor, emitError);
}

std::string TargetAttr::getSpelling() const {
  return getProcessor().empty() ? "cpu" : ("cpu:" + getProcessor()).str();
}

const Chip &TargetAttr::getChipRecord() const {
  const Chip *chip = findChip(getChips(), getProcessor());
  return chip ? *chip : *getChips().front();
}

bool TargetAttr::runsOnHost() const { return true; }

/// Libraries that only an accelerator's compiler can read: the host loads what its loader can.
std::optional<std::string> TargetAttr::whyUnsupported(Operation *op) const {
  // They are written for targets that pad; here a tile has any extents.
  if (op->getAttr("extents"))
    return "expected a whole tile, got extents";
  if (op->hasTrait<tile::OfSeveralThreads>())
    return "expected a program that one thread can run, got one for several warps";
  if (auto dot = dyn_cast<tile::DotOp>(op); dot && !dot.getScales().empty())
    return "expected a tile.dot_scaled, got a tile.dot with scales, which accelerators start";
  auto call = dyn_cast<tile::ExternCallOp>(op);
  if (!call)
    return std::nullopt;
  for (StringRef ending : {".bc", ".ll", ".o", ".a"})
    if (call.getLibrary().ends_with(ending))
      return ("expected the path or name of a shared library, got '" + call.getLibrary() + "'")
          .str();
  return std::nullopt;
}

void TargetAttr::addOwnPasses(OpPassManager &pm, Stage stage) const {
  switch (stage) {
  case Stage::Layout:
    pm.addPass(createDecideMaterialization());
    pm.addPass(createPlanScratch());
    return;
  case Stage::Target:
    pm.addPass(createLowerTiles());
    pm.addPass(createLowerKernel());
    pm.addPass(tile::createCanonicalize());
    pm.addPass(createCSEPass());
    pm.addPass(createLegalizeArithmetic());
    pm.addPass(createExpandNarrowFloats());
    return;
  case Stage::LLVM:
    pm.addPass(createConvertToLLVM());
    return;
  default:
    return;
  }
}

static Attribute createTarget(MLIRContext *context, const Chip &chip) {
  context->getOrLoadDialect<CPUDialect>();
  StringRef processor = chip.name == StringRef(kHostChip) ? StringRef() : StringRef(chip.name);
  const HostCPU *cpu = getProcessor(processor);
  if (!cpu)
    return {};
  SmallVector<StringRef> all;
  StringRef(cpu->features).split(all, ',');
  auto has = [&](StringRef feature) { return llvm::is_contained(all, feature); };
  if (has("+avx512f") && has("+avx512vl") && has("+avx512bw") && has("+avx512dq"))
    return TargetAttr::get(context, 512, 32, processor);
  if (has("+avx2") && has("+fma"))
    return TargetAttr::get(context, 256, 16, processor);
  return TargetAttr::get(context, 128, has("+neon") ? 32 : 16, processor);
}

static void registerDialects(DialectRegistry &registry) { registry.insert<CPUDialect>(); }

namespace kiln {
void registerCPUTarget() {
  static const TargetEntry entry{"cpu",
                                 "the machine at hand, or a kind of processor: native code, the "
                                 "grid over its threads",
                                 getChips(),
                                 createTarget,
                                 registerDialects,
                                 [] { registerCPUPasses(); },
                                 [] {
                                   const HostCPU &host = getHostCPU();
                                   return host.triple + " " + host.name + " " + host.features;
                                 }};
  addTarget(entry);
}
} // namespace kiln
