// From the LLVM dialect to the host's code, with the code generator's errors at the op's line.
//
// LLVM ends the process over an error that nobody listens for: a word of inline assembly that the
// assembler does not know is enough. So its diagnostics are caught here. They name the inline
// assembly by a number that its calls are given beforehand.
#include "kiln/Target/CPU/CPU.h"
#include "kiln/Target/Common/EmitHost.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

/// Gives each call of inline assembly a number, from 1 on, by which LLVM's diagnostics name it, and
/// returns where they come from. The translation keeps the order of functions, blocks and ops.
static SmallVector<Location> numberTexts(ModuleOp module, llvm::Module &code) {
  SmallVector<Location> locations;
  module.walk([&](LLVM::InlineAsmOp op) { locations.push_back(op.getLoc()); });
  uint64_t number = 0;
  for (llvm::Function &function : code)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = dyn_cast<llvm::CallBase>(&instruction); call && call->isInlineAsm()) {
        auto *value = llvm::ConstantInt::get(llvm::Type::getInt64Ty(code.getContext()), ++number);
        auto *node = llvm::MDNode::get(code.getContext(), llvm::ConstantAsMetadata::get(value));
        call->setMetadata("srcloc", node);
      }
  return locations;
}

namespace {

struct Diagnostics : llvm::DiagnosticHandler {
  Diagnostics(Location whole, ArrayRef<Location> locations, bool &wrong)
      : DiagnosticHandler(&wrong), whole(whole), locations(locations), wrong(wrong) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true; // remarks and warnings are nobody's concern
    wrong = true;
    uint64_t number = 0;
    std::string message;
    llvm::raw_string_ostream stream(message);
    if (auto *text = dyn_cast<llvm::DiagnosticInfoSrcMgr>(&info)) {
      number = text->getLocCookie();
      const llvm::SMDiagnostic &where = text->getSMDiag();
      stream << "inline assembly '" << where.getLineContents().trim()
             << "': " << where.getMessage();
    } else {
      if (auto *call = dyn_cast<llvm::DiagnosticInfoInlineAsm>(&info))
        number = call->getLocCookie();
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    // What the assembler finds once all is read has no number: it is of one of the texts, if there
    // are any.
    SmallVector<Location> places(locations);
    if (number > 0 && number <= locations.size())
      places = {locations[number - 1]};
    else if (places.empty())
      places = {whole};
    // Several versions of a loop hold the same text; and one error in it may lead to others.
    if (!seen.insert(places.front()).second)
      return true;
    InFlightDiagnostic error = emitError(places.front()) << message;
    for (Location other : llvm::drop_begin(places))
      if (other != places.front())
        error.attachNote(other) << "or in this inline assembly";
    return true;
  }

  Location whole;
  ArrayRef<Location> locations;
  bool &wrong;
  llvm::DenseSet<Location> seen;
};

} // namespace

FailureOr<TargetCode> TargetAttr::emit(ModuleOp module, const EmitRequest &request) const {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "kiln");
  if (!code)
    return failure();
  SmallVector<Location> locations = numberTexts(module, *code);
  bool wrong = false;
  context.setDiagnosticHandler(std::make_unique<Diagnostics>(module.getLoc(), locations, wrong));
  HostEmission how;
  how.optLevel = request.optLevel;
  how.vectorBits = getVectorBits();
  how.processor = getProcessor();
  FailureOr<TargetCode> result = emitForHost(module, *code, request, how);
  if (wrong)
    return failure();
  return result;
}
