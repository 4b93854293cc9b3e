// Foreign code on NVIDIA's chips: PTX's registers, and libdevice.
#include "kiln/Target/NVPTX/NVPTX.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nvptx;

StringRef TargetAttr::getRegisterLetters() const { return "bchrlfd"; }

Type TargetAttr::getRegisterType(Builder &builder, char letter, unsigned) const {
  switch (letter) {
  case 'b':
    return builder.getI1Type();
  case 'c':
  case 'h':
    return builder.getI16Type();
  case 'r':
    return builder.getI32Type();
  case 'l':
    return builder.getI64Type();
  case 'f':
    return builder.getF32Type();
  case 'd':
    return builder.getF64Type();
  default:
    return {};
  }
}

StringRef TargetAttr::getLibraryTriple() const { return "nvptx64-nvidia-cuda"; }

VendorLibrary TargetAttr::findVendorLibrary() const { return findLibdevice(); }

VendorLibrary kiln::nvptx::findLibdevice() {
  return findVendorFiles("KILN_LIBDEVICE", {"$CUDA_HOME", "$CUDA_PATH", "/usr/local/cuda"},
                         "nvvm/libdevice", {"libdevice.10.bc"});
}

std::string TargetAttr::getVendorName(StringRef function, bool isDouble) const {
  return ("__nv_" + function + (isDouble ? "" : "f")).str();
}

bool TargetAttr::isProvided(StringRef function) const {
  return function == "vprintf" || function == "__assertfail" || function == "malloc" ||
         function == "free" || function == "__nvvm_reflect";
}

/// The text that a pointer is the address of, up to its zero.
static StringRef readText(llvm::Value *pointer) {
  auto *global = dyn_cast<llvm::GlobalVariable>(pointer->stripPointerCasts());
  if (!global || !global->hasInitializer())
    return "";
  auto *bytes = dyn_cast<llvm::ConstantDataSequential>(global->getInitializer());
  return bytes && bytes->isCString() ? bytes->getAsCString() : "";
}

/// libdevice asks by calls whose operand is a text (the NVVM IR specification's reflection).
void TargetAttr::answerLibrary(llvm::Module &module, bool flushes) const {
  llvm::Function *ask = module.getFunction("__nvvm_reflect");
  if (!ask)
    return;
  int64_t number = 0;
  StringRef digits = getChip().drop_front(StringRef("sm_").size());
  digits.take_while(llvm::isDigit).getAsInteger(10, number);
  for (llvm::User *user : llvm::make_early_inc_range(ask->users())) {
    auto *call = dyn_cast<llvm::CallBase>(user);
    if (!call || call->getCalledOperand() != ask || call->arg_empty())
      continue;
    StringRef question = readText(call->getArgOperand(0));
    int64_t answer = question == "__CUDA_ARCH"  ? number * 10
                     : question == "__CUDA_FTZ" ? flushes
                                                : question.starts_with("__CUDA_PREC_");
    call->replaceAllUsesWith(llvm::ConstantInt::get(call->getType(), answer));
    call->eraseFromParent();
  }
  if (ask->use_empty())
    ask->eraseFromParent();
}
