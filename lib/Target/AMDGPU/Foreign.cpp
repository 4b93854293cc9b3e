// Foreign code on AMD's chips: registers, and the device libraries of ROCm.
#include "Chips.h"
#include "kiln/Target/AMDGPU/AMDGPU.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::amdgcn;

StringRef TargetAttr::getRegisterLetters() const { return "vs"; }

/// As many registers of 32 bits as it takes.
Type TargetAttr::getRegisterType(Builder &builder, char letter, unsigned bits) const {
  if (letter != 'v' && letter != 's')
    return {};
  return builder.getIntegerType(bits <= 32 ? 32 : 64);
}

/// LLVM has waves of a block share a cache (AMDGPUUsage, "Memory Model GFX942", without tgsplit),
/// and of other chips dropped the same shortcut since it breaks transitivity (llvm-project#161638).
bool TargetAttr::blockFencesWait() const {
  return amdgcn::getRecord(getChip()).waits != amdgcn::WaitForm::GFX9;
}

StringRef TargetAttr::getLibraryTriple() const { return "amdgcn-amd-amdhsa"; }

VendorLibrary TargetAttr::findVendorLibrary() const { return findDeviceLibraries(); }

VendorLibrary kiln::amdgcn::findDeviceLibraries() {
  return findVendorFiles("KILN_OCML", {"$ROCM_PATH", "/opt/rocm"}, "amdgcn/bitcode",
                         {"ocml.bc", "ockl.bc"});
}

std::string TargetAttr::getVendorName(StringRef function, bool isDouble) const {
  return ("__ocml_" + function + (isDouble ? "_f64" : "_f32")).str();
}

bool TargetAttr::isProvided(StringRef) const { return false; }

/// A chip's number: gfx90a is 9010, gfx942 is 9402, gfx1201 is 12001.
static int64_t getISAVersion(StringRef chip) {
  StringRef digits = chip.drop_front(StringRef("gfx").size());
  int64_t major = 0, minor = 0, stepping = 0;
  digits.drop_back(2).getAsInteger(10, major);
  digits.take_back(2).drop_back(1).getAsInteger(16, minor);
  digits.take_back(1).getAsInteger(16, stepping);
  return major * 1000 + minor * 100 + stepping;
}

/// The libraries ask by constants that each program defines; ROCm ships a file for each answer.
void TargetAttr::answerLibrary(llvm::Module &module, bool flushes) const {
  int64_t lanes = getChipRecord().warpSize;
  for (llvm::GlobalVariable &global : module.globals()) {
    StringRef question = global.getName();
    auto *type = dyn_cast<llvm::IntegerType>(global.getValueType());
    if (!question.consume_front("__oclc_") || !global.isDeclaration() || !type)
      continue;
    int64_t answer = llvm::StringSwitch<int64_t>(question)
                         .Case("ISA_version", getISAVersion(getChip()))
                         .Case("ABI_version", 500)
                         .Case("wavefrontsize64", lanes == 64)
                         .Case("wavefrontsize_log2", llvm::Log2_64(lanes))
                         .Case("correctly_rounded_sqrt32", 1)
                         .Case("daz_opt", flushes)
                         .Default(0); // finite_only_opt, unsafe_math_opt
    global.setInitializer(llvm::ConstantInt::get(type, answer));
    global.setConstant(true);
    global.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}
