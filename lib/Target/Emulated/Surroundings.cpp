// Surroundings.h: an entry by slots, shared memory that the runtime gives, and a list of globals.
#include "Surroundings.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"

using namespace llvm;

static constexpr unsigned kGlobalSpace = 1;

/// One 8-byte slot a parameter, its bits in the low bytes.
static void defineEntry(Module &module, Function &kernel) {
  LLVMContext &context = module.getContext();
  auto *pointer = PointerType::get(context, 0);
  auto *type = FunctionType::get(Type::getVoidTy(context), {pointer}, false);
  auto *entry =
      Function::Create(type, GlobalValue::ExternalLinkage, "kiln_emulated_kernel", module);
  IRBuilder<> builder(BasicBlock::Create(context, "", entry));
  SmallVector<Value *> arguments;
  for (auto [i, argument] : enumerate(kernel.args())) {
    Value *slot = builder.CreateConstGEP1_64(builder.getInt64Ty(), entry->getArg(0), i);
    arguments.push_back(builder.CreateLoad(argument.getType(), slot));
  }
  builder.CreateCall(&kernel, arguments);
  builder.CreateRetVoid();
}

/// Each block has shared memory of its own, which the runtime knows: a function that uses it asks
/// when it begins.
static void placeShared(Module &module) {
  GlobalVariable *shared = module.getNamedGlobal("kiln_shared");
  if (!shared)
    return;
  convertUsersOfConstantsToInstructions(shared);
  FunctionCallee getShared =
      module.getOrInsertFunction("kiln_emulated_shared", PointerType::get(module.getContext(), 0));
  for (Function &function : module) {
    Value *base = nullptr;
    for (Use &use : make_early_inc_range(shared->uses())) {
      auto *user = dyn_cast<Instruction>(use.getUser());
      if (!user || user->getFunction() != &function)
        continue;
      if (!base) {
        IRBuilder<> builder(&function.getEntryBlock(),
                            function.getEntryBlock().getFirstInsertionPt());
        base = builder.CreateAddrSpaceCast(builder.CreateCall(getShared), shared->getType());
      }
      use.set(base);
    }
  }
  if (shared->use_empty())
    shared->eraseFromParent();
}

/// Where the module's own global memory is: pairs of an address and a size, and a null address.
static void describeGlobals(Module &module) {
  LLVMContext &context = module.getContext();
  auto *pointer = PointerType::get(context, 0);
  auto *i64 = Type::getInt64Ty(context);
  auto *pair = StructType::get(context, {pointer, i64});
  SmallVector<Constant *> pairs;
  for (GlobalVariable &global : module.globals())
    if (global.getAddressSpace() == kGlobalSpace)
      pairs.push_back(ConstantStruct::get(
          pair,
          {ConstantExpr::getAddrSpaceCast(&global, pointer),
           ConstantInt::get(i64, module.getDataLayout().getTypeAllocSize(global.getValueType()))}));
  pairs.push_back(Constant::getNullValue(pair));
  auto *array = ArrayType::get(pair, pairs.size());
  new GlobalVariable(module, array, /*isConstant=*/true, GlobalValue::ExternalLinkage,
                     ConstantArray::get(array, pairs), "kiln_emulated_globals");
}

void kiln::emulated::defineSurroundings(Module &module, Function &kernel) {
  defineEntry(module, kernel);
  placeShared(module);
  describeGlobals(module);
}
