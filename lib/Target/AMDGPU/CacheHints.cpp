// Accesses to global memory that ask something of caches.
//
// What is used once is LLVM's own `nontemporal`. For going past caches its code generator sets the
// bits of an access that is atomic and unordered with others: one that the whole device observes
// goes past what a core caches, one that the system observes past what the device does. Atomic
// accesses have eight bytes at most, so that wider ones become several; through a buffer's
// descriptor, as most tiles go, they stay what they are.
#include "CacheHints.h"
#include "Chips.h"
#include "kiln/Target/Common/CacheHints.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace kiln;
using namespace kiln::amdgcn;
using tile::Cache;
using tile::Eviction;

/// Data that is used once is marked, which atomic accesses cannot be.
bool TargetAttr::follows(std::optional<Cache> cache, std::optional<Eviction> eviction) const {
  switch (cache.value_or(Cache::All)) {
  case Cache::All:
    return eviction != Eviction::Last;
  case Cache::Streaming:
    return eviction.value_or(Eviction::First) == Eviction::First;
  case Cache::Bypass:
    if (!getRecord(getChip()).pastDevice)
      return false;
    [[fallthrough]];
  case Cache::Global:
    return eviction.value_or(Eviction::Normal) == Eviction::Normal;
  }
  return false;
}

static void expand(llvm::Instruction &access, llvm::SyncScope::ID scope) {
  auto *load = llvm::dyn_cast<llvm::LoadInst>(&access);
  auto *store = llvm::dyn_cast<llvm::StoreInst>(&access);
  llvm::IRBuilder<> builder(&access);
  llvm::Value *pointer = llvm::getPointerOperand(&access);
  llvm::Type *type = load ? load->getType() : store->getValueOperand()->getType();
  unsigned bytes = access.getDataLayout().getTypeStoreSize(type).getFixedValue();
  unsigned alignment = llvm::getLoadStoreAlignment(&access).value();
  unsigned each = std::min(std::min(alignment, 8u), bytes & -bytes);
  auto *pieces = llvm::FixedVectorType::get(builder.getIntNTy(8 * each), bytes / each);
  llvm::Type *whole = builder.getIntNTy(8 * bytes);
  llvm::Type *exact = builder.getIntNTy(type->getPrimitiveSizeInBits().getFixedValue());
  llvm::Value *vector = llvm::PoisonValue::get(pieces);
  if (store) {
    llvm::Value *value = builder.CreateBitOrPointerCast(store->getValueOperand(), exact);
    vector = builder.CreateBitCast(builder.CreateZExt(value, whole), pieces);
  }
  for (unsigned piece = 0; piece < bytes / each; ++piece) {
    llvm::Value *at =
        piece ? builder.CreateConstGEP1_64(builder.getInt8Ty(), pointer, piece * each) : pointer;
    if (load) {
      llvm::LoadInst *made =
          builder.CreateAlignedLoad(pieces->getElementType(), at, llvm::Align(each));
      made->setAtomic(llvm::AtomicOrdering::Monotonic, scope);
      vector = builder.CreateInsertElement(vector, made, piece);
    } else {
      llvm::StoreInst *made = builder.CreateAlignedStore(
          builder.CreateExtractElement(vector, piece), at, llvm::Align(each));
      made->setAtomic(llvm::AtomicOrdering::Monotonic, scope);
    }
  }
  if (load) {
    llvm::Value *value = builder.CreateTrunc(builder.CreateBitCast(vector, whole), exact);
    load->replaceAllUsesWith(builder.CreateBitOrPointerCast(value, type));
  }
  access.eraseFromParent();
}

void kiln::amdgcn::expandCacheHints(llvm::Module &module) {
  llvm::SyncScope::ID device = module.getContext().getOrInsertSyncScopeID("agent");
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      if (llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction))
        if (std::optional<CacheHints> hints = readHints(instruction)) {
          if (hints->cache == Cache::Global)
            expand(instruction, device);
          else if (hints->cache == Cache::Bypass)
            expand(instruction, llvm::SyncScope::System);
        }
}
