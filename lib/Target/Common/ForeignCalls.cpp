// Calls into libraries of bitcode, from the op to the linked module.
#include "kiln/Target/Common/ForeignCalls.h"
#include "kiln/Binary/ForeignLibrary.h"
#include "kiln/Target/Common/ABI.h"
#include "kiln/Target/Common/FastMath.h"
#include "kiln/Target/Common/Threads.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

using namespace mlir;
using namespace kiln;

//===- Finding ------------------------------------------------------------------------------===//

/// The scalar of the builtin dialect; null for what is none.
static Type fromLLVM(MLIRContext *context, llvm::Type *type) {
  Builder builder(context);
  if (type->isIntegerTy() && type->getIntegerBitWidth() <= 64)
    return builder.getIntegerType(type->getIntegerBitWidth());
  if (type->isHalfTy())
    return builder.getF16Type();
  if (type->isBFloatTy())
    return builder.getBF16Type();
  if (type->isFloatTy())
    return builder.getF32Type();
  if (type->isDoubleTy())
    return builder.getF64Type();
  return {};
}

static llvm::Expected<FunctionType> getSignature(MLIRContext *context, llvm::Function &function,
                                                 StringRef symbol) {
  llvm::FunctionType *type = function.getFunctionType();
  SmallVector<Type> inputs;
  for (llvm::Type *input : type->params())
    inputs.push_back(fromLLVM(context, input));
  Type result = fromLLVM(context, type->getReturnType());
  if (!result || type->isVarArg() || llvm::is_contained(inputs, Type())) {
    std::string text;
    llvm::raw_string_ostream(text) << *type;
    return llvm::createStringError("expected '" + symbol +
                                   "' to take scalars and to return one, got '" + text + "'");
  }
  return FunctionType::get(context, inputs, result);
}

/// Looks in one file; the error says that there is no such function.
static llvm::Expected<ForeignFunction> findInFile(MLIRContext *context,
                                                  ForeignTargetInterface target, StringRef path,
                                                  StringRef symbol, bool isLazy) {
  llvm::Expected<ForeignLibrary> library = ForeignLibrary::open(path);
  if (!library)
    return library.takeError();
  llvm::LLVMContext llvmContext;
  auto module = library->parse(llvmContext, target.getLibraryTriple(), isLazy);
  if (!module)
    return module.takeError();
  llvm::Expected<llvm::Function *> function = findForeignFunction(**module, symbol, path);
  if (!function)
    return function.takeError();
  llvm::Expected<FunctionType> type = getSignature(context, **function, symbol);
  if (!type)
    return type.takeError();
  return ForeignFunction{path.str(), library->getHash(), symbol.str(), *type};
}

llvm::Expected<ForeignFunction> kiln::findForeign(MLIRContext *context,
                                                  ForeignTargetInterface target, StringRef library,
                                                  StringRef symbol) {
  if (!library.empty())
    return findInFile(context, target, library, symbol, /*isLazy=*/false);
  VendorLibrary vendor = target.findVendorLibrary();
  if (vendor.files.empty())
    return llvm::createStringError("expected the vendor's library to define '" + symbol +
                                   "', found none: looked for " + vendor.looked);
  llvm::Error missing = llvm::Error::success();
  for (const std::string &file : vendor.files) {
    auto found = findInFile(context, target, file, symbol, /*isLazy=*/true);
    if (found) {
      llvm::consumeError(std::move(missing));
      return found;
    }
    missing = llvm::joinErrors(std::move(missing), found.takeError());
  }
  return std::move(missing);
}

func::FuncOp kiln::declareForeign(ModuleOp module, Location loc, const ForeignFunction &function) {
  Builder builder(module.getContext());
  auto field = [&](StringRef name, StringRef value) {
    return NamedAttribute(builder.getStringAttr(name), builder.getStringAttr(value));
  };
  auto origin =
      builder.getDictionaryAttr({field("library", function.library), field("hash", function.hash),
                                 field("symbol", function.symbol)});
  unsigned number = 0;
  for (auto known : module.getOps<func::FuncOp>()) {
    Attribute other = known->getAttr(kForeignAttrName);
    if (other == origin)
      return known;
    number += bool(other);
  }
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  std::string name = "kiln_foreign_" + std::to_string(number) + "_" + function.symbol;
  auto declared = func::FuncOp::create(top, loc, name, function.type);
  declared.setPrivate();
  declared->setAttr(kForeignAttrName, origin);
  return declared;
}

//===- Linking ------------------------------------------------------------------------------===//

namespace {
class Link {
public:
  Link(ModuleOp source, llvm::Module &code, ForeignTargetInterface target)
      : source(source), code(code), target(target), builder(source.getContext()) {}

  LogicalResult run();

private:
  using Functions = SmallVector<LLVM::LLVMFuncOp>;

  LogicalResult fail(llvm::Error error) {
    return first.emitError() << llvm::toString(std::move(error));
  }
  llvm::Error linkFile(StringRef path, StringRef hash, ArrayRef<ForeignName> names, bool isLazy);
  /// What libraries call and do not define.
  SmallVector<std::string> getMissing();
  llvm::Error linkVendor(const VendorLibrary &vendor);
  LogicalResult check(const VendorLibrary &vendor);

  ModuleOp source;
  llvm::Module &code;
  ForeignTargetInterface target;
  Builder builder;
  LLVM::LLVMFuncOp first;
  llvm::StringSet<> own; // what the source itself calls or defines
  SmallVector<Attribute> linked;
};
} // namespace

llvm::Error Link::linkFile(StringRef path, StringRef hash, ArrayRef<ForeignName> names,
                           bool isLazy) {
  llvm::Expected<ForeignLibrary> library = ForeignLibrary::open(path);
  if (!library)
    return library.takeError();
  if (!hash.empty() && library->getHash() != hash)
    return llvm::createStringError("expected library '" + path +
                                   "' to stay as it is while it is read, got another");
  auto module = library->parse(code.getContext(), target.getLibraryTriple(), isLazy);
  if (!module)
    return module.takeError();
  auto field = [&](StringRef name, StringRef value) {
    return NamedAttribute(builder.getStringAttr(name), builder.getStringAttr(value));
  };
  Attribute entry =
      builder.getDictionaryAttr({field("path", path), field("hash", library->getHash())});
  if (!llvm::is_contained(linked, entry))
    linked.push_back(entry);
  return linkForeignLibrary(code, std::move(*module), names, path);
}

SmallVector<std::string> Link::getMissing() {
  SmallVector<std::string> missing;
  for (const llvm::Function &function : code)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty() &&
        !own.contains(function.getName()) && !target.isProvided(function.getName()))
      missing.push_back(function.getName().str());
  return missing;
}

/// Functions of the vendor's that libraries call, by their own names.
llvm::Error Link::linkVendor(const VendorLibrary &vendor) {
  for (const std::string &file : vendor.files) {
    SmallVector<std::string> missing = getMissing();
    if (missing.empty())
      return llvm::Error::success();
    SmallVector<ForeignName> names;
    {
      llvm::Expected<ForeignLibrary> library = ForeignLibrary::open(file);
      if (!library)
        return library.takeError();
      llvm::LLVMContext context;
      auto module = library->parse(context, target.getLibraryTriple(), /*isLazy=*/true);
      if (!module)
        return module.takeError();
      for (const std::string &name : missing)
        if (llvm::GlobalValue *value = (*module)->getNamedValue(name);
            value && !value->isDeclaration())
          names.push_back({name, name});
    }
    if (names.empty())
      continue;
    if (llvm::Error error = linkFile(file, "", names, /*isLazy=*/true))
      return error;
  }
  return llvm::Error::success();
}

LogicalResult Link::check(const VendorLibrary &vendor) {
  if (SmallVector<std::string> missing = getMissing(); !missing.empty()) {
    InFlightDiagnostic diagnostic =
        first.emitError("expected libraries that define what they call, got none of '")
        << missing.front() << "'";
    if (vendor.files.empty())
      diagnostic << "; of the vendor's library, looked for " << vendor.looked;
    return diagnostic;
  }
  // Shared memory is planned before a library is seen.
  for (const llvm::GlobalVariable &global : code.globals())
    if (global.getAddressSpace() == kSharedSpace && !own.contains(global.getName()) &&
        !global.use_empty())
      return first.emitError("expected functions without shared memory of their own, got '")
             << global.getName() << "'";
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(code, &stream))
    return first.emitError("expected libraries that keep to LLVM's rules, got: ")
           << StringRef(problem).trim().split('\n').first;
  return success();
}

LogicalResult Link::run() {
  llvm::MapVector<Attribute, Functions> files;
  for (auto function : source.getOps<LLVM::LLVMFuncOp>())
    if (auto origin = function->getAttrOfType<DictionaryAttr>(kForeignAttrName))
      files[origin.get("library")].push_back(function);
  if (files.empty())
    return success();
  first = files.front().second.front();
  for (const llvm::GlobalValue &value : code.global_values())
    own.insert(value.getName());
  VendorLibrary vendor = target.findVendorLibrary();
  for (auto &[file, functions] : files) {
    first = functions.front();
    SmallVector<ForeignName> names;
    std::string hash;
    for (LLVM::LLVMFuncOp function : functions) {
      auto origin = function->getAttrOfType<DictionaryAttr>(kForeignAttrName);
      hash = origin.getAs<StringAttr>("hash").str();
      names.push_back({origin.getAs<StringAttr>("symbol").str(), function.getSymName().str()});
      own.erase(function.getSymName());
    }
    std::string path = cast<StringAttr>(file).str();
    bool isVendor = llvm::is_contained(vendor.files, path);
    if (llvm::Error error = linkFile(path, hash, names, isVendor))
      return fail(std::move(error));
  }
  if (llvm::Error error = linkVendor(vendor))
    return fail(std::move(error));
  target.answerLibrary(code, source->hasAttr(kFlushAttrName));
  if (failed(check(vendor)))
    return failure();
  setMetadata(source, kLibrariesName, builder.getArrayAttr(linked));
  return success();
}

LogicalResult kiln::linkForeign(ModuleOp source, llvm::Module &code,
                                ForeignTargetInterface target) {
  return Link(source, code, target).run();
}
