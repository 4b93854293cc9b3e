// Reading, checking and linking of libraries that others wrote.
#include "kiln/Binary/ForeignLibrary.h"
#include "CollectErrors.h"
#include "kiln/Binary/LinkBitcode.h"
#include "kiln/Support/FileHash.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;
using namespace kiln;

//===- Reading ------------------------------------------------------------------------------===//

ForeignLibrary::ForeignLibrary() = default;
ForeignLibrary::ForeignLibrary(ForeignLibrary &&) = default;
ForeignLibrary::~ForeignLibrary() = default;

Expected<ForeignLibrary> ForeignLibrary::open(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/true,
                                      /*IsVolatile=*/true);
  if (!buffer)
    return createStringError(buffer.getError(),
                             "cannot read library '" + path + "': " + buffer.getError().message());
  ForeignLibrary library;
  library.path = path.str();
  library.bytes = std::move(*buffer);
  library.hash = hashOf(library.bytes->getBuffer());
  return std::move(library);
}

/// What a file that is neither bitcode nor text may be.
static StringRef describe(file_magic magic) {
  switch (magic) {
  case file_magic::archive:
    return "an archive";
  case file_magic::elf:
  case file_magic::elf_relocatable:
  case file_magic::elf_shared_object:
  case file_magic::elf_executable:
    return "an object for a processor";
  case file_magic::cuda_fatbinary:
  case file_magic::offload_binary:
  case file_magic::offload_bundle:
    return "a bundle for several devices";
  default:
    return "bytes of another kind";
  }
}

/// Why a library cannot be linked into a module for this triple. How data lies is compared where it
/// matters: producers of other versions spell the same in other ways.
static std::string whyOther(const Module &library, StringRef tripleText) {
  Triple triple(tripleText);
  const Triple &theirs = library.getTargetTriple();
  bool isOther =
      theirs.getArch() != triple.getArch() ||
      (theirs.getVendor() != triple.getVendor() && theirs.getVendor() != Triple::UnknownVendor);
  if (!theirs.str().empty() && isOther)
    return "expected a library for " + triple.str() + ", got one for " + theirs.str();
  const DataLayout &layout = library.getDataLayout();
  if (layout.isDefault())
    return "";
  DataLayout ours(triple.computeDataLayout());
  LLVMContext &context = library.getContext();
  bool agrees = layout.isBigEndian() == ours.isBigEndian();
  for (unsigned space : {0, 1})
    agrees &= layout.getPointerSize(space) == ours.getPointerSize(space);
  for (Type *type :
       {Type::getInt16Ty(context), Type::getInt32Ty(context), Type::getInt64Ty(context)})
    agrees &= layout.getABITypeAlign(type) == ours.getABITypeAlign(type);
  for (Type *type :
       {Type::getHalfTy(context), Type::getFloatTy(context), Type::getDoubleTy(context)})
    agrees &= layout.getABITypeAlign(type) == ours.getABITypeAlign(type);
  if (agrees)
    return "";
  return "expected data to lie as \"" + ours.getStringRepresentation() + "\" says, got \"" +
         layout.getStringRepresentation() + "\"";
}

Expected<std::unique_ptr<Module>> ForeignLibrary::parse(LLVMContext &context, StringRef triple,
                                                        bool isLazy) const {
  StringRef content = bytes->getBuffer();
  auto fail = [&](const Twine &why) {
    return createStringError("cannot read library '" + path + "': " + why);
  };
  // What the reader says of debug information it cannot use would go to the standard error.
  std::string errors;
  std::unique_ptr<DiagnosticHandler> before = context.getDiagnosticHandler();
  context.setDiagnosticHandler(std::make_unique<CollectErrors>(errors));
  scope_exit restore([&] { context.setDiagnosticHandler(std::move(before)); });
  std::unique_ptr<Module> module;
  file_magic magic = identify_magic(content);
  if (magic == file_magic::bitcode) {
    MemoryBufferRef reference(content, path);
    auto read =
        isLazy ? getLazyBitcodeModule(reference, context) : parseBitcodeFile(reference, context);
    if (!read)
      return fail(toString(read.takeError()) + " (LLVM " LLVM_VERSION_STRING " reads it)");
    module = std::move(*read);
  } else if (magic != file_magic::unknown || content.contains('\0')) {
    return fail("expected bitcode or text of LLVM, got " + describe(magic));
  } else {
    SMDiagnostic problem;
    module = parseIR(MemoryBufferRef(content, path), problem, context);
    if (!module)
      return fail("expected bitcode or text of LLVM, got at line " + Twine(problem.getLineNo()) +
                  ": " + problem.getMessage());
  }
  if (!errors.empty())
    return fail(errors);
  if (!isLazy) {
    raw_string_ostream stream(errors);
    bool hasBrokenLines = false;
    if (verifyModule(*module, &stream, &hasBrokenLines))
      return fail("it breaks LLVM's rules: " + StringRef(errors).trim().split('\n').first);
    StripDebugInfo(*module);
  }
  if (std::string why = whyOther(*module, triple); !why.empty())
    return fail(why);
  for (StringRef name : {"llvm.global_ctors", "llvm.global_dtors"})
    if (GlobalVariable *list = module->getNamedGlobal(name);
        list && isa<ArrayType>(list->getValueType()) &&
        cast<ArrayType>(list->getValueType())->getNumElements())
      return fail("expected a library that nobody has to set up, got '" + name + "'");
  return std::move(module);
}

Expected<Function *> kiln::findForeignFunction(Module &library, StringRef symbol, StringRef path) {
  Function *function = library.getFunction(symbol);
  if (GlobalAlias *alias = library.getNamedAlias(symbol))
    function = dyn_cast<Function>(alias->getAliaseeObject());
  if (!function || function->isDeclaration())
    return createStringError("expected a function '" + symbol + "' in library '" + path +
                             "', got none of that name");
  if (CallingConv::ID convention = function->getCallingConv();
      convention == CallingConv::PTX_Kernel || convention == CallingConv::AMDGPU_KERNEL ||
      convention == CallingConv::SPIR_KERNEL)
    return createStringError("expected '" + symbol + "' in library '" + path +
                             "' to be a function, got a kernel");
  return function;
}

//===- Linking ------------------------------------------------------------------------------===//

/// All that a library defines becomes the module's own, under any name.
static void hide(Module &library) {
  for (GlobalValue &value : library.global_values()) {
    if (value.isDeclaration() || value.hasAppendingLinkage())
      continue;
    value.setLinkage(GlobalValue::InternalLinkage);
    value.setVisibility(GlobalValue::DefaultVisibility);
    if (auto *object = dyn_cast<GlobalObject>(&value))
      object->setComdat(nullptr);
  }
}

/// Functions are called as the module's own are; a call says of operands what the function does.
static void callAsOwn(Function &function) {
  function.setCallingConv(CallingConv::C);
  for (User *user : function.users())
    if (auto *call = dyn_cast<CallBase>(user); call && call->getCalledOperand() == &function) {
      call->setCallingConv(CallingConv::C);
      for (unsigned i = 0; i < function.arg_size(); ++i)
        for (Attribute::AttrKind kind : {Attribute::ZExt, Attribute::SExt})
          if (function.hasParamAttribute(i, kind))
            call->addParamAttr(i, kind);
    }
}

Error kiln::linkForeignLibrary(Module &module, std::unique_ptr<Module> library,
                               ArrayRef<ForeignName> names, StringRef path) {
  forgetOrigin(*library, module);
  for (StringRef name : {"llvm.used", "llvm.compiler.used"})
    if (GlobalVariable *list = library->getNamedGlobal(name))
      list->eraseFromParent();
  hide(*library);
  SmallPtrSet<const Function *, 16> before;
  for (Function &function : module)
    if (!function.isDeclaration())
      before.insert(&function);
  SmallVector<std::string> made;
  for (const ForeignName &one : names) {
    GlobalValue *value = library->getNamedValue(one.symbol);
    value->setLinkage(GlobalValue::ExternalLinkage);
    if (one.symbol != one.name)
      value->setName(one.name);
    made.push_back(value->getName().str());
  }
  if (Linker::linkModules(module, std::move(library), Linker::LinkOnlyNeeded))
    return createStringError("cannot link library '" + path + "'");
  for (const std::string &name : made)
    if (GlobalValue *value = module.getNamedValue(name); value && !value->isDeclaration())
      value->setLinkage(GlobalValue::InternalLinkage);
  for (Function &function : module)
    if (!function.isDeclaration() && !before.contains(&function))
      callAsOwn(function);
  return Error::success();
}
