// Hints about caches on accesses by LLVM's instructions: written as an alias scope, and read again.
#include "kiln/Target/Common/CacheHints.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Metadata.h"

#include "kiln/Target/Common/CacheHints.cpp.inc"

using namespace mlir;
using namespace kiln;
using tile::Cache;
using tile::Eviction;

static constexpr llvm::StringLiteral kDomain = "kiln.caches";

Eviction CacheHints::getEviction() const {
  return cache == Cache::Streaming ? Eviction::First : eviction.value_or(Eviction::Normal);
}

/// The scope that says so: null if an access does it unasked.
static ArrayAttr getScopes(Builder &builder, CacheHints hints) {
  Cache cache = hints.cache.value_or(Cache::All);
  Eviction eviction = hints.eviction.value_or(Eviction::Normal);
  if (cache == Cache::All && eviction == Eviction::Normal)
    return nullptr;
  StringAttr name =
      builder.getStringAttr(stringifyCache(cache) + Twine(' ') + stringifyEviction(eviction));
  auto domain = LLVM::AliasScopeDomainAttr::get(
      builder.getContext(), builder.getStringAttr(kDomain), builder.getStringAttr(kDomain));
  return builder.getArrayAttr(LLVM::AliasScopeAttr::get(builder.getContext(), name, domain, name));
}

Value kiln::loadGlobal(OpBuilder &builder, Location loc, Type type, Value pointer,
                       unsigned alignment, CacheHints hints) {
  auto load = LLVM::LoadOp::create(builder, loc, type, pointer, alignment, /*isVolatile=*/false,
                                   hints.isStreaming());
  if (ArrayAttr scopes = getScopes(builder, hints))
    load.setAliasScopesAttr(scopes);
  return load;
}

void kiln::storeGlobal(OpBuilder &builder, Location loc, Value value, Value pointer,
                       unsigned alignment, CacheHints hints) {
  auto store = LLVM::StoreOp::create(builder, loc, value, pointer, alignment,
                                     /*isVolatile=*/false, hints.isStreaming());
  if (ArrayAttr scopes = getScopes(builder, hints))
    store.setAliasScopesAttr(scopes);
}

std::optional<CacheHints> kiln::readHints(const llvm::Instruction &access) {
  const llvm::MDNode *scopes = access.getMetadata(llvm::LLVMContext::MD_alias_scope);
  for (const llvm::MDOperand &operand :
       scopes ? scopes->operands() : llvm::ArrayRef<llvm::MDOperand>()) {
    llvm::AliasScopeNode scope(cast<llvm::MDNode>(operand));
    auto *domain = dyn_cast_or_null<llvm::MDString>(
        scope.getDomain() ? scope.getDomain()->getOperand(0).get() : nullptr);
    if (!domain || domain->getString() != kDomain)
      continue;
    auto [cache, eviction] = scope.getName().split(' ');
    return CacheHints{tile::symbolizeCache(cache), tile::symbolizeEviction(eviction)};
  }
  return std::nullopt;
}
