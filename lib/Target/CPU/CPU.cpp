// The CPU target: the cpu dialect, what it answers to the common passes, and its pass list.
#include "kiln/Target/CPU/CPU.h"
#include "kiln/Binary/HostCode.h"
#include "kiln/Target/CPU/Passes.h"
#include "kiln/Target/Common/Passes.h"
#include "kiln/Target/Registry.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

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

/// One thread runs one program: no warps, no memory shared among threads.
static const Chip chips[] = {{"host", 1, 1, 0, 0, 0, ""}};

std::string TargetAttr::getSpelling() const { return "cpu"; }

const Chip &TargetAttr::getChipRecord() const { return chips[0]; }

bool TargetAttr::runsOnHost() const { return true; }

/// LLVM has no type that tf32 could live in; as the precision of a dot it needs none.
std::optional<std::string> TargetAttr::whyUnsupported(Operation *op) const {
  auto isTF32 = [](Type type) { return isa<FloatTF32Type>(getElementTypeOrSelf(type)); };
  if (llvm::any_of(op->getOperandTypes(), isTF32) || llvm::any_of(op->getResultTypes(), isTF32))
    return "expected f32 (and precision = tf32 on the dot), got tf32";
  return std::nullopt;
}

void TargetAttr::addPasses(OpPassManager &pm, Stage stage) const {
  switch (stage) {
  case Stage::Layout:
    pm.addPass(createCheckTarget());
    pm.addPass(createDecideMaterialization());
    pm.addPass(createPlanScratch());
    return;
  case Stage::Target:
    pm.addPass(createLowerTiles());
    pm.addPass(createLowerKernel());
    pm.addPass(createCanonicalizerPass());
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

FailureOr<TargetCode> TargetAttr::emit(ModuleOp module, const EmitRequest &request) const {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "kiln");
  if (!code)
    return failure();
  auto fail = [&](llvm::Error error) -> FailureOr<TargetCode> {
    return module.emitError(llvm::toString(std::move(error)));
  };
  auto machine = createHostMachine(request.optLevel);
  if (!machine)
    return fail(machine.takeError());
  const HostCPU &host = getHostCPU();
  for (llvm::Function &function : *code) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", host.name);
    function.addFnAttr("target-features", host.features);
    function.addFnAttr("prefer-vector-width", std::to_string(getVectorBits()));
  }
  optimizeForHost(*code, **machine, request.optLevel);
  TargetCode result;
  if (request.keepLLVMIR || request.last == Stage::LLVMIR)
    llvm::raw_string_ostream(result.llvmIR) << *code;
  if (request.keepAssembly || request.last == Stage::Asm) {
    auto assembly = emitHostAssembly(*code, **machine);
    if (!assembly)
      return fail(assembly.takeError());
    result.assembly = std::move(*assembly);
  }
  if (request.last == Stage::Binary) {
    auto object = emitHostObject(*code, **machine);
    if (!object)
      return fail(object.takeError());
    result.binary = std::move(*object);
  }
  return result;
}

/// What the machine at hand has.
static Attribute createTarget(MLIRContext *context, const Chip &) {
  context->getOrLoadDialect<CPUDialect>();
  StringRef features = getHostCPU().features;
  auto has = [&](StringRef feature) {
    SmallVector<StringRef> all;
    features.split(all, ',');
    return llvm::is_contained(all, feature);
  };
  if (has("+avx512f") && has("+avx512vl") && has("+avx512bw") && has("+avx512dq"))
    return TargetAttr::get(context, 512, 32);
  if (has("+avx2") && has("+fma"))
    return TargetAttr::get(context, 256, 16);
  return TargetAttr::get(context, 128, has("+neon") ? 32 : 16);
}

static void registerDialects(DialectRegistry &registry) { registry.insert<CPUDialect>(); }

namespace kiln {
void registerCPUTarget() {
  static const TargetEntry entry{"cpu",
                                 "the machine at hand: native code, the grid over its threads",
                                 chips,
                                 createTarget,
                                 registerDialects,
                                 [] { registerCPUPasses(); }};
  addTarget(entry);
}
} // namespace kiln
