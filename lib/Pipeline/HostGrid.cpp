// HostGrid.h: the grid's module, its thread, and the stages that it takes there.
#include "HostGrid.h"
#include "Contexts.h"
#include "kiln/Pipeline/Pipeline.h"
#include "kiln/Target/Registry.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace kiln {

/// The target whose code runs in this process, and in that of an older machine which the artifact
/// is carried to: a grid is a few numbers.
static TargetInterface getHostTarget(MLIRContext *context) {
#ifdef __x86_64__
  StringRef oldest = "x86-64-v2";
#else
  StringRef oldest = kHostChip;
#endif
  for (const TargetEntry &entry : getTargets()) {
    const Chip *chip = findChip(entry.chips, oldest);
    Attribute made = chip ? entry.create(context, *chip) : Attribute();
    if (auto target = dyn_cast_or_null<TargetInterface>(made); target && target.runsOnHost())
      return target;
  }
  return nullptr;
}

OwningOpRef<ModuleOp> cloneGrid(tile::KernelOp kernel) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto clone = cast<tile::KernelOp>(builder.clone(*kernel));
  // What is said of the programs, and was decided of them, is not said of their number.
  clone->setDiscardableAttrs(ArrayRef<NamedAttribute>());
  Block &body = clone.getBody().front();
  body.dropAllReferences();
  while (!body.empty())
    body.back().erase();
  builder.setInsertionPointToEnd(&body);
  tile::ReturnOp::create(builder, kernel.getLoc());
  return module;
}

static FailureOr<std::string> compileGrid(ModuleOp module) {
  MLIRContext *context = module.getContext();
  TargetInterface host = getHostTarget(context);
  if (!host)
    return module.emitError("expected a target for the host in this build, to compute the grid");
  module->setAttr(kTargetAttrName, host);
  for (Stage stage : {Stage::Layout, Stage::Schedule, Stage::Target, Stage::LLVM}) {
    PassManager passes(context, ModuleOp::getOperationName());
    addStage(passes, host, stage, /*proofs=*/nullptr);
    passes.enableVerifier(false);
    if (failed(passes.run(module)))
      return failure();
  }
  if (failed(verify(module)))
    return failure();
  // To optimise a few numbers takes longer than all launches win by it.
  EmitRequest request;
  request.optLevel = 0;
  FailureOr<TargetCode> code = host.emit(module, request);
  if (failed(code))
    return failure();
  return std::move(code->binary);
}

HostGrid::HostGrid(OwningOpRef<ModuleOp> grid) : module(std::move(grid)) {
  llvm::raw_string_ostream stream(bytecode);
  pthread_t started;
  if (succeeded(writeBytecodeToFile(*module, stream)) &&
      pthread_create(&started, nullptr, &HostGrid::run, this) == 0)
    thread = started;
}

void *HostGrid::run(void *pointer) {
  auto *self = static_cast<HostGrid *>(pointer);
  LentContext context;
  // What there is to say is said by the thread that asks, in the context where places are known.
  ScopedDiagnosticHandler silent(context.get(), [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> copy = parseSourceString<ModuleOp>(
      self->bytecode, ParserConfig(context.get(), /*verifyAfterParse=*/false));
  if (!copy)
    return nullptr;
  if (FailureOr<std::string> compiled = compileGrid(*copy); succeeded(compiled))
    self->object = std::move(*compiled);
  return nullptr;
}

void HostGrid::wait() {
  if (thread)
    pthread_join(*thread, nullptr);
  thread.reset();
}

FailureOr<std::string> HostGrid::take() {
  wait();
  if (object)
    return std::move(*object);
  return compileGrid(*module);
}

} // namespace kiln
