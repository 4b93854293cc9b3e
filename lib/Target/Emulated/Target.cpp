// The emulated target: every chip of the other targets, with code for the host.
#include "LowerToHost.h"
#include "Sites.h"
#include "kiln/Binary/HostCode.h"
#include "kiln/Binary/LinkBitcode.h"
#include "kiln/Dialect/Tile/IR/Marks.h"
#include "kiln/Target/Common/ABI.h"
#include "kiln/Target/Common/EmitHost.h"
#include "kiln/Target/Common/ForeignCalls.h"
#include "kiln/Target/Registry.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include "kiln/Target/Emulated/EmulatedDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "kiln/Target/Emulated/EmulatedAttrs.h.inc"

namespace kiln {
extern const llvm::StringRef kEmulatedMath; // made by the build
} // namespace kiln
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::emulated;

#include "kiln/Target/Emulated/EmulatedDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "kiln/Target/Emulated/EmulatedAttrs.cpp.inc"

void EmulatedDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kiln/Target/Emulated/EmulatedAttrs.cpp.inc"
      >();
}

/// Its attributes are values alone: none has a name.
LogicalResult EmulatedDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return tile::refuseMeaningless(op, attribute.getName());
}
LogicalResult EmulatedDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                        NamedAttribute attribute) {
  return tile::refuseMeaningless(op, attribute.getName()) << " on argument " << argument;
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError, Attribute chip) {
  auto target = dyn_cast_or_null<TargetInterface>(chip);
  if (target && !target.runsOnHost() && !isa<TargetAttr>(chip))
    return success();
  return emitError() << "expected an accelerator's target to emulate, got " << chip;
}

static TargetInterface getRealTarget(TargetAttr target) {
  return cast<TargetInterface>(target.getChip());
}

std::string TargetAttr::getSpelling() const {
  return ("emu:" + llvm::StringRef(getChipRecord().name)).str();
}

const Chip &TargetAttr::getChipRecord() const { return getRealTarget(*this).getChipRecord(); }

Attribute TargetAttr::getReal() const { return getRealTarget(*this).getReal(); }

bool TargetAttr::runsOnHost() const { return false; }

std::optional<std::string> TargetAttr::whyUnsupported(Operation *op) const {
  return getRealTarget(*this).whyUnsupported(op);
}

bool TargetAttr::isEmulated(Operation *op) const { return getRealTarget(*this).isEmulated(op); }

SmallVector<Attribute> TargetAttr::getMmaAtoms(Type a, Type b, Type accumulator) const {
  return getRealTarget(*this).getMmaAtoms(a, b, accumulator);
}

SmallVector<Attribute> TargetAttr::getScaledMmaAtoms(Type a, Type scaleA, Type b, Type scaleB,
                                                     Type accumulator) const {
  return getRealTarget(*this).getScaledMmaAtoms(a, scaleA, b, scaleB, accumulator);
}

SmallVector<Attribute> TargetAttr::getAtoms(Operation *op) const {
  return getRealTarget(*this).getAtoms(op);
}

bool TargetAttr::hasAtom(Attribute atom) const { return getRealTarget(*this).hasAtom(atom); }

SmallVector<Attribute> TargetAttr::getCopyAtoms(Type element) const {
  return getRealTarget(*this).getCopyAtoms(element);
}

void TargetAttr::addOwnPasses(OpPassManager &pm, Stage stage) const {
  getRealTarget(*this).addOwnPasses(pm, stage);
}

/// How the chip serves accesses to shared memory, by what a lane asks for: of reads, of writes, the
/// number of banks and the lanes that span a group.
static void describePhases(ModuleOp module, const SharedPhases &phases) {
  Builder builder(module.getContext());
  auto describe = [&](ArrayRef<SharedPhase> sizes) {
    SmallVector<Attribute> all;
    for (const SharedPhase &phase : sizes) {
      SmallVector<int64_t> numbers = {phase.banks};
      for (unsigned lane : phase.lanes)
        if (lane)
          numbers.push_back(lane);
      all.push_back(builder.getI64ArrayAttr(numbers));
    }
    return builder.getArrayAttr(all);
  };
  setMetadata(module, "shared_phases",
              builder.getArrayAttr({describe(phases.reads), describe(phases.writes)}));
}

/// What a core holds, as far as it is known: blocks, threads, bytes of shared memory.
static void describeCore(ModuleOp module, const Figures &figures) {
  SmallVector<int64_t> holds;
  for (const auto &figure : {figures.blocksPerCore, figures.threadsPerCore, figures.sharedPerCore})
    holds.push_back(figure ? figure->value : 0);
  setMetadata(module, "core_holds", Builder(module.getContext()).getI64ArrayAttr(holds));
}

FailureOr<TargetCode> TargetAttr::emit(ModuleOp module, const EmitRequest &request) const {
  llvm::LLVMContext context;
  OwningOpRef<ModuleOp> numbered = module.clone();
  FailureOr<SourcePlaces> places = numberLocations(*numbered);
  if (failed(places))
    return module.emitError("the module's functions cannot be given their lines");
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(*numbered, context, "kiln");
  if (!code)
    return failure();
  // Libraries are the chip's.
  bool blockFencesWait = true;
  if (auto foreign = dyn_cast<ForeignTargetInterface>(getReal())) {
    blockFencesWait = foreign.blockFencesWait();
    llvm::Triple triple(foreign.getLibraryTriple());
    code->setTargetTriple(triple);
    code->setDataLayout(triple.computeDataLayout());
    if (failed(linkForeign(module, *code, foreign)))
      return failure();
  }
  // Text with names has been read, and nobody reads those of elements.
  context.setDiscardValueNames(true);
  auto prepare = [&](llvm::Module &code, llvm::TargetMachine &machine) -> llvm::Error {
    if (llvm::Error error = lowerToHost(code, machine, *places))
      return error;
    return linkDeviceMath(code, kEmulatedMath);
  };
  describePhases(module, getChipRecord().shared);
  describeCore(module, getChipRecord().figures);
  setMetadata(module, "bare_barriers",
              BoolAttr::get(module.getContext(), getChipRecord().bareBarriers));
  setMetadata(module, "block_fences_wait", BoolAttr::get(module.getContext(), blockFencesWait));
  HostEmission how;
  // What takes time is done by the runtime: products, copies, checks. Optimising the rest takes
  // longer than it saves.
  how.optLevel = 0;
  how.tellsStack = true;
  // Conversions to bf16 that take subnormal numbers for zero are no chip's.
  if (llvm::Triple(getHostCPU().triple).isX86())
    how.features = ",-avx512bf16,-avxneconvert";
  how.prepare = prepare;
  return emitForHost(module, *code, request, how);
}

//===- Registration -------------------------------------------------------------------------===//

/// The target that has the chip; the names of chips are unique.
static Attribute createTarget(MLIRContext *context, const Chip &chip) {
  context->getOrLoadDialect<EmulatedDialect>();
  for (const TargetEntry &entry : getTargets())
    if (entry.name != "emu")
      if (const Chip *real = findChip(entry.chips, chip.name))
        return TargetAttr::get(context, entry.create(context, *real));
  return {};
}

namespace kiln {
/// Comes after all others in the build's list, whose chips it takes over.
void registerEmulatedTarget() {
  static const SmallVector<const Chip *> chips = [] {
    SmallVector<const Chip *> all;
    for (const TargetEntry &entry : getTargets())
      if (entry.chips.size() > 1 && entry.chips.front()->name != StringRef(kHostChip))
        llvm::append_range(all, entry.chips);
    return all;
  }();
  static const TargetEntry entry{
      "emu",
      "the chips of the other targets, emulated on the host",
      chips,
      createTarget,
      [](DialectRegistry &registry) { registry.insert<EmulatedDialect>(); },
      [] {},
      [] {
        std::string all;
        for (const TargetEntry &other : getTargets())
          if (other.name != "emu" && other.identify)
            all += other.identify() + "\n";
        return all;
      }};
  addTarget(entry);
}
} // namespace kiln
