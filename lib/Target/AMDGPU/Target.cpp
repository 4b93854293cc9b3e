// The AMDGPU target: its chips, what it answers to the common passes, and its code.
#include "CacheHints.h"
#include "Chips.h"
#include "CodeObject.h"
#include "kiln/Dialect/Tile/IR/Marks.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Support/CodeGenerators.h"
#include "kiln/Support/Protocol.h"
#include "kiln/Target/AMDGPU/AMDGPU.h"
#include "kiln/Target/AMDGPU/Passes.h"
#include "kiln/Target/Common/ABI.h"
#include "kiln/Target/Common/ForeignCode.h"
#include "kiln/Target/Common/Threads.h"
#include "kiln/Target/Registry.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::amdgcn;

#include "kiln/Target/AMDGPU/AMDGPUDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "kiln/Target/AMDGPU/AMDGPUAttrs.cpp.inc"

namespace kiln {
extern const llvm::StringRef kAMDGPUMath; // made by the build
} // namespace kiln

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmPrinter();
void LLVMInitializeAMDGPUAsmParser();
}

void AMDGCNDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kiln/Target/AMDGPU/AMDGPUAttrs.cpp.inc"
      >();
}

/// Its attributes are values alone: none has a name.
LogicalResult AMDGCNDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return tile::refuseMeaningless(op, attribute.getName());
}
LogicalResult AMDGCNDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                      NamedAttribute attribute) {
  return tile::refuseMeaningless(op, attribute.getName()) << " on argument " << argument;
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef chip) {
  return verifyChip(getChips(), chip, emitError);
}

std::string TargetAttr::getSpelling() const { return "amdgpu:" + getChip().str(); }

const Chip &TargetAttr::getChipRecord() const { return getRecord(getChip()); }

bool TargetAttr::runsOnHost() const { return false; }

std::optional<std::string> TargetAttr::whyUnsupported(Operation *op) const {
  if (auto text = dyn_cast<tile::InlineAsmOp>(op))
    return whyForeignConstraints(text, getRegisterLetters());
  return whyUnsupportedByThreads(op);
}

bool TargetAttr::isEmulated(Operation *op) const { return isEmulatedByThreads(op, *this); }

SmallVector<Attribute> TargetAttr::getMmaAtoms(Type a, Type b, Type accumulator) const {
  return getMatrixAtoms(getChip(), a, b, accumulator);
}

SmallVector<Attribute> TargetAttr::getScaledMmaAtoms(Type a, Type scaleA, Type b, Type scaleB,
                                                     Type accumulator) const {
  return getScaledMatrixAtoms(getChip(), a, scaleA, b, scaleB, accumulator);
}

SmallVector<Attribute> TargetAttr::getAtoms(Operation *op) const {
  if (auto dot = dyn_cast<kiln::tile::DotOp>(op))
    return kiln::getMmaAtoms(dot, *this);
  SmallVector<Attribute> atoms;
  if (isa<kiln::tile::LoadOp>(op))
    for (unsigned bytes : {16, 4})
      if (bytes <= getRecord(getChip()).bytesToLDS)
        atoms.push_back(LoadToLDSAttr::get(getContext(), getChip(), bytes));
  if (isa<kiln::tile::LoadOp>(op))
    atoms.push_back(kiln::tile::ThroughRegistersAttr::get(getContext()));
  return atoms;
}

bool TargetAttr::hasAtom(Attribute atom) const {
  if (auto matrix = dyn_cast<MatrixAttr>(atom))
    return matrix.getChip() == getChip();
  if (auto load = dyn_cast<LoadToLDSAttr>(atom))
    return load.getChip() == getChip();
  if (auto read = dyn_cast<TransposingReadAttr>(atom))
    return llvm::is_contained(getCopyAtoms(IntegerType::get(getContext(), read.getBits())), atom);
  return isa<kiln::tile::FmaAtomAttr, kiln::tile::ThroughRegistersAttr>(atom);
}

SmallVector<Attribute> TargetAttr::getCopyAtoms(Type element) const {
  return getTransposingReads(getChip(), element);
}

void TargetAttr::addOwnPasses(OpPassManager &pm, Stage stage) const {
  if (stage == Stage::LLVM)
    pm.addPass(createConvertThreadsToROCDL());
}

/// Beside the code and not loaded with it, as text: in the assembly, and in the code object.
static void declareProtocol(llvm::Module &code, StringRef protocol) {
  if (protocol.empty())
    return;
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "\t.section " << kProtocolSection << ",\"\",@progbits\n\t.asciz \"";
  stream.write_escaped(protocol) << "\"\n\t.text\n";
  code.appendModuleInlineAsm(text);
}

FailureOr<TargetCode> TargetAttr::emit(ModuleOp module, const EmitRequest &request) const {
  static const bool initialised = registerCodeGenerators([] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
  });
  (void)initialised;
  // Version 5 is what every driver of these chips loads.
  const Chip &chip = getChipRecord();
  DeviceMachine machine{
      "amdgcn-amd-amdhsa", chip.name, chip.features, {{"amdhsa_code_object_version", 500}}};
  machine.isKept = true;
  machine.math = kAMDGPUMath;
  machine.finish = [&](llvm::Module &code) {
    expandCacheHints(code);
    declareProtocol(code, spellProtocol(module));
  };
  FailureOr<TargetCode> code =
      emitDeviceCode(module, *this, machine, DeviceBinary::SharedObject, request);
  if (failed(code) || code->binary.empty())
    return code;
  llvm::Expected<std::vector<std::pair<std::string, int64_t>>> figures =
      readFigures(code->binary, chip);
  if (!figures)
    return module.emitError() << llvm::toString(figures.takeError());
  code->figures = std::move(*figures);
  return code;
}

namespace kiln {
void registerAMDGPUTarget() {
  static const TargetEntry entry{"amdgpu",
                                 "AMD's chips, by code objects that are linked here",
                                 getChips(),
                                 [](MLIRContext *context, const Chip &chip) -> Attribute {
                                   context->getOrLoadDialect<AMDGCNDialect>();
                                   return TargetAttr::get(context, chip.name);
                                 },
                                 [](DialectRegistry &registry) {
                                   registry.insert<AMDGCNDialect, ROCDL::ROCDLDialect>();
                                   registerROCDLDialectTranslation(registry);
                                 },
                                 [] {
                                   registerThreadStagePasses();
                                   registerAMDGPUPasses();
                                 },
                                 [] { return identify(findDeviceLibraries()); }};
  addTarget(entry);
}
} // namespace kiln
