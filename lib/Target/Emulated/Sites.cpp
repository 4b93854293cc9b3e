// Sites.h: from locations to numbers, and the tables that the object has of them.
#include "Sites.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace kiln::emulated;

/// A file that no source has: lines of libraries that are linked are none of these numbers.
static constexpr StringLiteral kNumbered = "kiln.locations";

static void findPlaces(Location loc, SmallVectorImpl<SourcePlace> &found) {
  if (auto file = dyn_cast<FileLineColLoc>(loc)) {
    found.push_back({file.getFilename().str(), file.getLine(), file.getColumn()});
  } else if (auto name = dyn_cast<NameLoc>(loc)) {
    findPlaces(name.getChildLoc(), found);
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    findPlaces(call.getCallee(), found);
    findPlaces(call.getCaller(), found);
  } else if (auto fused = dyn_cast<FusedLoc>(loc); fused && !fused.getLocations().empty()) {
    findPlaces(fused.getLocations().front(), found);
  }
}

FailureOr<SourcePlaces> kiln::emulated::numberLocations(ModuleOp module) {
  SourcePlaces places;
  DenseMap<Location, unsigned> numbers;
  MLIRContext *context = module.getContext();
  for (Operation &top : *module.getBody())
    top.walk([&](Operation *op) {
      auto [at, isNew] = numbers.try_emplace(op->getLoc(), places.size() + 1);
      if (isNew) {
        places.emplace_back();
        findPlaces(op->getLoc(), places.back());
      }
      // Only functions have lines.
      op->setLoc(isa<LLVM::GlobalOp>(top)
                     ? Location(UnknownLoc::get(context))
                     : Location(FileLineColLoc::get(context, kNumbered, at->second, 0)));
    });
  LLVM::DIScopeForLLVMFuncOpPassOptions lines;
  lines.emissionKind = LLVM::DIEmissionKind::LineTablesOnly;
  PassManager passes(context);
  passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass(lines));
  if (failed(passes.run(module)))
    return failure();
  return places;
}

ArrayRef<SourcePlace> Sites::placesOf(const llvm::Instruction &instruction) const {
  const llvm::DILocation *loc = instruction.getDebugLoc().get();
  if (!loc || loc->getFilename() != kNumbered || !loc->getLine() || loc->getLine() > places.size())
    return {};
  return places[loc->getLine() - 1];
}

unsigned Sites::name(StringRef text) {
  auto [at, isNew] = known.try_emplace(text, names.size());
  if (isNew)
    names += text.str() + '\0';
  return at->second;
}

unsigned Sites::add(const llvm::Instruction &instruction, StringRef what) {
  Row row;
  row.what = name(what);
  if (ArrayRef<SourcePlace> chain = placesOf(instruction); !chain.empty()) {
    unsigned &caller = callers[instruction.getDebugLoc().getLine()];
    if (!caller)
      for (const SourcePlace &call : llvm::reverse(chain.drop_front())) {
        rows.push_back({name(call.file), call.line, call.column, name("call"), caller});
        caller = rows.size() - 1;
      }
    row.file = name(chain.front().file);
    row.line = chain.front().line;
    row.column = chain.front().column;
    row.caller = caller;
  }
  rows.push_back(row);
  return rows.size() - 1;
}

std::string Sites::describe(const llvm::Instruction &instruction) const {
  ArrayRef<SourcePlace> chain = placesOf(instruction);
  if (chain.empty())
    return "";
  const SourcePlace &at = chain.front();
  return at.file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": ";
}

void Sites::define(llvm::Module &module) {
  std::vector<uint32_t> numbers;
  for (const Row &row : rows)
    numbers.insert(numbers.end(), {row.file, row.line, row.column, row.what, row.caller});
  auto define = [&](llvm::Constant *value, const char *called) {
    new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                             llvm::GlobalValue::ExternalLinkage, value, called);
  };
  llvm::LLVMContext &context = module.getContext();
  define(llvm::ConstantDataArray::get(context, numbers), "kiln_emulated_sites");
  define(llvm::ConstantDataArray::getString(context, names, /*AddNull=*/false),
         "kiln_emulated_names");
}
