// The NVPTX target: its chips, what it answers to the common passes, and its code.
#include "Assembler.h"
#include "CacheHints.h"
#include "Chips.h"
#include "KeepFences.h"
#include "PackedAdds.h"
#include "RolledLoops.h"
#include "kiln/Dialect/Tile/IR/Marks.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Support/CodeGenerators.h"
#include "kiln/Target/Common/ABI.h"
#include "kiln/Target/Common/ForeignCode.h"
#include "kiln/Target/Common/Threads.h"
#include "kiln/Target/NVPTX/Declared.h"
#include "kiln/Target/NVPTX/NVPTX.h"
#include "kiln/Target/NVPTX/Passes.h"
#include "kiln/Target/Registry.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nvptx;

#include "kiln/Target/NVPTX/NVPTXDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "kiln/Target/NVPTX/NVPTXAttrs.cpp.inc"

namespace kiln {
extern const llvm::StringRef kNVPTXMath; // made by the build
} // namespace kiln

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

void NVPTXDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kiln/Target/NVPTX/NVPTXAttrs.cpp.inc"
      >();
}

/// Its attributes are values alone: none has a name.
LogicalResult NVPTXDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return tile::refuseMeaningless(op, attribute.getName());
}
LogicalResult NVPTXDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                     NamedAttribute attribute) {
  return tile::refuseMeaningless(op, attribute.getName()) << " on argument " << argument;
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef chip) {
  return verifyChip(getChips(), chip, emitError);
}

std::string TargetAttr::getSpelling() const { return "nvptx:" + getChip().str(); }

const Chip &TargetAttr::getChipRecord() const { return getRecord(getChip()); }

bool TargetAttr::runsOnHost() const { return false; }

std::optional<std::string> TargetAttr::whyUnsupported(Operation *op) const {
  if (auto text = dyn_cast<kiln::tile::InlineAsmOp>(op))
    return whyForeignConstraints(text, getRegisterLetters());
  return whyUnsupportedByThreads(op);
}

bool TargetAttr::isEmulated(Operation *op) const { return isEmulatedByThreads(op, *this); }

SmallVector<Attribute> TargetAttr::getMmaAtoms(Type a, Type b, Type accumulator) const {
  return getMmaSyncAtoms(getChip(), a, b, accumulator);
}

SmallVector<Attribute> TargetAttr::getAtoms(Operation *op) const {
  SmallVector<Attribute> atoms;
  bool hasEngine = getRecord(getChip()).byteBarriers;
  if (auto dot = dyn_cast<kiln::tile::DotOp>(op)) {
    for (Attribute atom :
         {getTcgen05Atom(dot), getTcgen05PairAtom(dot), getWgmmaAtom(dot, getChipRecord())})
      if (atom && hasAtom(atom))
        atoms.push_back(atom);
    llvm::append_range(atoms, kiln::getMmaAtoms(dot, *this));
  }
  if (auto dot = dyn_cast<kiln::tile::DotScaledOp>(op))
    if (Attribute atom = getTcgen05Atom(dot); atom && hasAtom(atom))
      atoms.push_back(atom);
  if (hasEngine && isa<kiln::tile::LoadOp, kiln::tile::StoreOp>(op))
    atoms.push_back(TmaAttr::get(getContext()));
  if (isa<kiln::tile::LoadOp>(op))
    for (unsigned bytes : {16, 8, 4})
      atoms.push_back(CpAsyncAttr::get(getContext(), bytes));
  if (isa<kiln::tile::LoadOp>(op))
    atoms.push_back(kiln::tile::ThroughRegistersAttr::get(getContext()));
  return atoms;
}

bool TargetAttr::hasAtom(Attribute atom) const {
  const ChipRecord &record = getRecord(getChip());
  if (isa<WgmmaAttr>(atom))
    return record.groupProducts;
  if (auto product = dyn_cast<Tcgen05Attr>(atom))
    return product.getElement().isInteger() ? record.tensorIntegers : record.tensorProducts;
  if (isa<TmaAttr>(atom))
    return record.byteBarriers;
  if (auto mma = dyn_cast<MmaSyncAttr>(atom))
    return llvm::is_contained(getMmaAtoms(mma.getTypeOf(0), mma.getTypeOf(1), mma.getAccumulator()),
                              atom);
  if (isa<StMatrixAttr>(atom))
    return record.storesMatrices;
  return isa<CpAsyncAttr, LdMatrixAttr, kiln::tile::FmaAtomAttr, kiln::tile::ThroughRegistersAttr>(
      atom);
}

SmallVector<Attribute> TargetAttr::getCopyAtoms(Type element) const {
  return getMatrixCopies(element, getRecord(getChip()).storesMatrices);
}

void TargetAttr::addOwnPasses(OpPassManager &pm, Stage stage) const {
  if (stage != Stage::LLVM)
    return;
  pm.addPass(createConvertThreadsToNVVM());
  pm.addPass(createDecideRolledLoops());
}

/// What the kernel's launches ask for.
static LaunchSize getLaunchSize(ModuleOp module) {
  LaunchSize block;
  module.walk([&](LLVM::LLVMFuncOp function) {
    if (auto threads =
            function->getAttrOfType<DenseI32ArrayAttr>(NVVM::NVVMDialect::getReqntidAttrName()))
      block.threads = threads[0];
  });
  if (auto metadata = module->getAttrOfType<DictionaryAttr>(kMetadataAttrName))
    if (auto bytes = metadata.getAs<IntegerAttr>("shared_bytes"))
      block.sharedBytes = bytes.getInt();
  return block;
}

/// Whether local memory takes what registers that the block may have would hold. ptxas, which
/// weighs how many blocks a multiprocessor holds, may give up so: 32 registers and 12 KB of local
/// memory where 255 registers leave 848 bytes.
static bool spillsBesideRegisters(const Assembled &assembled, const Chip &chip,
                                  const LaunchSize &block) {
  if (!assembled.localBytes || !block.threads)
    return false;
  int64_t most = chip.getRegistersAtEntry(llvm::divideCeil(block.threads, chip.warpSize));
  return assembled.registers < std::min<int64_t>(most, chip.registersPerThread);
}

/// That one block is enough for a multiprocessor.
static std::string tellOneBlock(StringRef ptx) {
  auto [front, back] = ptx.split("\n.reqntid ");
  auto [threads, rest] = back.split('\n');
  return (front + "\n.reqntid " + threads + "\n.minnctapersm 1\n" + rest).str();
}

FailureOr<TargetCode> TargetAttr::emit(ModuleOp module, const EmitRequest &request) const {
  static const bool initialised = registerCodeGenerators([] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  (void)initialised;
  const Chip &chip = getChipRecord();
  DeviceMachine machine{"nvptx64-nvidia-cuda", chip.name, chip.features, {}};
  machine.hasLineDirectives = true;
  machine.isKept = false; // it numbers calls from module to module
  machine.math = kNVPTXMath;
  machine.prepare = keepFences;
  machine.finish = [](llvm::Module &code) {
    keepLoopsRolled(code);
    expandCacheHints(code);
  };
  std::optional<EarlyProgram> assembler;
  if (request.last == Stage::Binary)
    startAssembler(assembler, chip.name);
  FailureOr<TargetCode> code = emitDeviceCode(module, *this, machine, DeviceBinary::Text, request);
  if (failed(code))
    return failure();
  code->assembly = splitPackedAdds(code->assembly);
  if (std::string protocol = spellProtocol(module); !code->assembly.empty() && !protocol.empty())
    code->assembly += (kProtocolMark + protocol + "\n").str();
  if (request.last != Stage::Binary)
    return code;
  LaunchSize block = getLaunchSize(module);
  auto assembleHere = [&](StringRef ptx) -> llvm::Expected<Assembled> {
    llvm::Expected<Assembled> assembled = assemble(ptx, chip.name, assembler);
    if (!assembled || assembled->cubin.empty())
      return assembled;
    if (llvm::Error error = readCubinFigures(*assembled, chip, block))
      return error;
    return assembled;
  };
  llvm::Expected<Assembled> assembled = assembleHere(code->assembly);
  if (assembled && spillsBesideRegisters(*assembled, chip, block)) {
    std::string told = tellOneBlock(code->assembly);
    llvm::Expected<Assembled> other = assembleHere(told);
    if (other && other->localBytes < assembled->localBytes) {
      assembled = std::move(other);
      code->assembly = std::move(told);
    } else {
      llvm::consumeError(other.takeError());
    }
  }
  if (!assembled)
    return module.emitError() << "the assembler of " << getSpelling()
                              << " failed: " << llvm::toString(assembled.takeError());
  setMetadata(module, "assembler", StringAttr::get(getContext(), assembled->assembler));
  code->binary = std::move(assembled->cubin);
  code->figures = std::move(assembled->figures);
  return code;
}

namespace kiln {
void registerNVPTXTarget() {
  static const TargetEntry entry{
      "nvptx",
      "NVIDIA's chips, by PTX",
      getChips(),
      [](MLIRContext *context, const Chip &chip) -> Attribute {
        context->getOrLoadDialect<NVPTXDialect>();
        return TargetAttr::get(context, chip.name);
      },
      [](DialectRegistry &registry) {
        registry.insert<NVPTXDialect, NVVM::NVVMDialect>();
        registerNVVMDialectTranslation(registry);
      },
      [] {
        registerThreadStagePasses();
        registerNVPTXPasses();
      },
      [] { return identifyAssembler() + "\n" + identify(findLibdevice()); }};
  addTarget(entry);
}
} // namespace kiln
