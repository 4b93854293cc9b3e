// Accesses to global memory that ask something of caches, as PTX.
//
// LLVM's code generator has no form for them (it even takes `nontemporal` for any access), so they
// become text. That is done last, when LLVM has moved, merged and widened them as what they are.
//
//  | hints                  | a load                            | a store                        |
//  |------------------------|-----------------------------------|--------------------------------|
//  | global                 | .cg: not in the first cache       | .cg                            |
//  | streaming; evict first | .cs: used once, in both caches    | .cs                            |
//  | bypass                 | .cv: fetched each time            | .wt: written through           |
//  | evict last             | .L1::evict_last, and a policy of the second cache                  |
//  | global, evict first or last | .cg, and a policy of the second cache                         |
#include "CacheHints.h"
#include "kiln/Target/Common/CacheHints.h"
#include "kiln/Target/NVPTX/NVPTX.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace kiln;
using namespace kiln::nvptx;
using tile::Cache;
using tile::Eviction;

/// What is used once is not what is kept, and what is not kept is not let go of.
bool TargetAttr::follows(std::optional<Cache> cache, std::optional<Eviction> eviction) const {
  if (cache == Cache::Streaming)
    return eviction.value_or(Eviction::First) == Eviction::First;
  return cache != Cache::Bypass || eviction.value_or(Eviction::Normal) == Eviction::Normal;
}

namespace {
/// How one access is written.
struct Form {
  std::string modifiers;
  /// Of the second cache; empty if it is the usual one.
  llvm::StringRef policy;
};

/// An access in pieces that one instruction moves each: words of so many bits.
struct Pieces {
  unsigned words, bits, count;
  unsigned getBytes() const { return words * bits / 8; }
};
} // namespace

static Form getForm(CacheHints hints, bool isLoad) {
  Form form;
  Eviction eviction = hints.getEviction();
  switch (hints.cache.value_or(Cache::All)) {
  case Cache::Bypass:
    return {isLoad ? ".cv" : ".wt", ""};
  case Cache::Global:
    form.modifiers = ".cg";
    break;
  case Cache::All:
  case Cache::Streaming:
    if (eviction == Eviction::First)
      return {".cs", ""};
    form.modifiers = ".L1::evict_last";
    break;
  }
  if (eviction == Eviction::Normal)
    return form;
  form.modifiers += ".L2::cache_hint";
  form.policy = eviction == Eviction::First ? "evict_first" : "evict_last";
  return form;
}

static Pieces getPieces(llvm::Type *type, unsigned bytes, unsigned alignment) {
  unsigned each = std::min(std::min(alignment, 16u), bytes & -bytes);
  unsigned scalar = type->getScalarSizeInBits();
  unsigned bits = std::min(8 * each, scalar == 64 ? 64u : 32u);
  return {8 * each / bits, bits, bytes / each};
}

/// The register of a word, for PTX has none of 8 bits.
static llvm::Type *getRegister(llvm::LLVMContext &context, unsigned bits) {
  return llvm::Type::getIntNTy(context, std::max(bits, 16u));
}

static llvm::StringRef getLetter(unsigned bits) {
  return bits == 64 ? "l" : bits == 32 ? "r" : "h";
}

/// The text of one piece; operands are numbered from `first` on, the address is `address`.
static std::string getText(const Form &form, const Pieces &pieces, bool isLoad, bool isGlobal,
                           unsigned first, unsigned address) {
  std::string registers;
  llvm::raw_string_ostream os(registers);
  os << (pieces.words > 1 ? "{" : "");
  for (unsigned i = 0; i < pieces.words; ++i)
    os << (i ? ", $" : "$") << first + i;
  os << (pieces.words > 1 ? "}" : "");
  std::string text = (isLoad ? "ld" : "st") + std::string(isGlobal ? ".global" : "") +
                     form.modifiers +
                     (pieces.words > 1 ? ".v" + std::to_string(pieces.words) : "") + ".b" +
                     std::to_string(pieces.bits) + " ";
  std::string at = "[$" + std::to_string(address) + "]";
  text += isLoad ? registers + ", " + at : at + ", " + registers;
  if (form.policy.empty())
    return text + ";";
  return "{ .reg .b64 %policy; createpolicy.fractional.L2::" + form.policy.str() +
         ".b64 %policy, 1.0; " + text + ", %policy; }";
}

static void expand(llvm::Instruction &access, CacheHints hints) {
  auto *load = llvm::dyn_cast<llvm::LoadInst>(&access);
  auto *store = llvm::dyn_cast<llvm::StoreInst>(&access);
  llvm::IRBuilder<> builder(&access);
  llvm::LLVMContext &context = access.getContext();
  llvm::Value *pointer = llvm::getPointerOperand(&access);
  llvm::Type *type = load ? load->getType() : store->getValueOperand()->getType();
  const llvm::DataLayout &layout = access.getDataLayout();
  unsigned bytes = layout.getTypeStoreSize(type).getFixedValue();
  Pieces pieces = getPieces(type, bytes, llvm::getLoadStoreAlignment(&access).value());
  Form form = getForm(hints, load);
  bool isGlobal = pointer->getType()->getPointerAddressSpace() != 0;
  // As many words as registers take, in one vector.
  unsigned words = pieces.words * pieces.count;
  auto *raw = llvm::FixedVectorType::get(builder.getIntNTy(pieces.bits), words);
  llvm::Type *whole = builder.getIntNTy(8 * bytes),
             *exact = builder.getIntNTy(type->getPrimitiveSizeInBits().getFixedValue());
  llvm::Value *vector = llvm::PoisonValue::get(raw);
  if (store) {
    llvm::Value *value = builder.CreateBitOrPointerCast(store->getValueOperand(), exact);
    vector = builder.CreateBitCast(builder.CreateZExt(value, whole), raw);
  }
  llvm::Type *reg = getRegister(context, pieces.bits);
  std::string letter = getLetter(pieces.bits).str(), constraints;
  for (unsigned i = 0; i < pieces.words; ++i)
    constraints += load ? "=" + letter + "," : "," + letter;
  constraints = load ? constraints + "l,~{memory}" : "l" + constraints + ",~{memory}";
  std::string text = getText(form, pieces, load, isGlobal, /*first=*/load ? 0 : 1,
                             /*address=*/load ? pieces.words : 0);
  llvm::SmallVector<llvm::Type *> inputs = {pointer->getType()};
  llvm::Type *result = builder.getVoidTy();
  if (store)
    inputs.append(pieces.words, reg);
  else if (pieces.words > 1)
    result = llvm::StructType::get(context, llvm::SmallVector<llvm::Type *>(pieces.words, reg));
  else
    result = reg;
  auto *assembly = llvm::InlineAsm::get(llvm::FunctionType::get(result, inputs, /*isVarArg=*/false),
                                        text, constraints, /*hasSideEffects=*/true);
  for (unsigned piece = 0; piece < pieces.count; ++piece) {
    llvm::SmallVector<llvm::Value *> operands = {
        piece ? builder.CreateConstGEP1_64(builder.getInt8Ty(), pointer, piece * pieces.getBytes())
              : pointer};
    for (unsigned i = 0; store && i < pieces.words; ++i)
      operands.push_back(
          builder.CreateZExt(builder.CreateExtractElement(vector, piece * pieces.words + i), reg));
    llvm::Value *made = builder.CreateCall(assembly, operands);
    for (unsigned i = 0; load && i < pieces.words; ++i) {
      llvm::Value *word = pieces.words > 1 ? builder.CreateExtractValue(made, i) : made;
      vector = builder.CreateInsertElement(
          vector, builder.CreateTrunc(word, builder.getIntNTy(pieces.bits)),
          piece * pieces.words + i);
    }
  }
  if (load) {
    llvm::Value *value = builder.CreateTrunc(builder.CreateBitCast(vector, whole), exact);
    load->replaceAllUsesWith(builder.CreateBitOrPointerCast(value, type));
  }
  access.eraseFromParent();
}

void kiln::nvptx::expandCacheHints(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      if (llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction))
        if (std::optional<CacheHints> hints = readHints(instruction))
          expand(instruction, *hints);
}
