// WholeNumbers.h: words by shifts first, of which floats of 16 bits come.
#include "WholeNumbers.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace kiln::emulated;

/// Of a vector that has the bits of a word, how many each element has; 0 of any other type.
static unsigned getElementBits(Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  unsigned bits = vector ? vector->getElementType()->getScalarSizeInBits() : 0;
  bool isWord = bits && is_contained({32u, 64u}, bits * vector->getNumElements());
  return isWord && is_contained({8u, 16u, 32u}, bits) ? bits : 0;
}

/// The elements that a word is split into, each shifted down.
static void splitWord(BitCastInst &cast) {
  unsigned bits = getElementBits(cast.getType());
  IRBuilder<> builder(&cast);
  for (User *user : make_early_inc_range(cast.users())) {
    auto *extract = dyn_cast<ExtractElementInst>(user);
    auto *index = extract ? dyn_cast<ConstantInt>(extract->getIndexOperand()) : nullptr;
    if (!index)
      continue;
    Value *word = cast.getOperand(0);
    if (!index->isZero())
      word = builder.CreateLShr(word, index->getZExtValue() * bits);
    Value *element = builder.CreateTrunc(word, builder.getIntNTy(bits));
    extract->replaceAllUsesWith(builder.CreateBitCast(element, extract->getType()));
    extract->eraseFromParent();
  }
  if (cast.use_empty())
    cast.eraseFromParent();
}

/// The word that elements are put together to, each shifted up; those that are not told are 0.
static void joinWord(BitCastInst &cast) {
  unsigned bits = getElementBits(cast.getSrcTy());
  SmallVector<Value *> elements(cast.getType()->getPrimitiveSizeInBits() / bits);
  Value *vector = cast.getOperand(0);
  while (auto *insert = dyn_cast<InsertElementInst>(vector)) {
    auto *index = dyn_cast<ConstantInt>(insert->getOperand(2));
    if (!index)
      return;
    Value *&element = elements[index->getZExtValue()];
    if (!element)
      element = insert->getOperand(1);
    vector = insert->getOperand(0);
  }
  auto *base = dyn_cast<Constant>(vector);
  if (!base)
    return;
  IRBuilder<> builder(&cast);
  Value *word = ConstantInt::get(cast.getType(), 0);
  for (auto [i, element] : enumerate(elements)) {
    if (!element)
      element = base->getAggregateElement(i);
    if (!element || isa<UndefValue>(element))
      continue;
    Value *wide =
        builder.CreateZExt(builder.CreateBitCast(element, builder.getIntNTy(bits)), cast.getType());
    word = i ? builder.CreateOr(word, builder.CreateShl(wide, i * bits)) : wide;
  }
  cast.replaceAllUsesWith(word);
  SmallVector<Instruction *> unused = {&cast};
  while (!unused.empty()) {
    Instruction *instruction = unused.pop_back_val();
    if (!instruction->use_empty())
      continue;
    auto *next = dyn_cast<InsertElementInst>(instruction->getOperand(0));
    instruction->eraseFromParent();
    if (next)
      unused.push_back(next);
  }
}

/// A pointer in another address space has the same number.
static void castPointer(AddrSpaceCastInst &cast) {
  IRBuilder<> builder(&cast);
  Value *number = builder.CreatePtrToInt(cast.getOperand(0), builder.getInt64Ty());
  cast.replaceAllUsesWith(builder.CreateIntToPtr(number, cast.getType()));
  cast.eraseFromParent();
}

/// A bit that is compared with a constant is that bit, or the other.
static void compareBit(ICmpInst &comparison) {
  auto *with = dyn_cast<ConstantInt>(comparison.getOperand(1));
  if (!with || !comparison.isEquality())
    return;
  bool isOther = (comparison.getPredicate() == ICmpInst::ICMP_EQ) == with->isZero();
  IRBuilder<> builder(&comparison);
  Value *bit = comparison.getOperand(0);
  comparison.replaceAllUsesWith(isOther ? builder.CreateNot(bit) : bit);
  comparison.eraseFromParent();
}

static void useWords(Function &function) {
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *comparison = dyn_cast<ICmpInst>(&instruction);
    auto *fence = dyn_cast<FenceInst>(&instruction);
    auto *addresses = dyn_cast<AddrSpaceCastInst>(&instruction);
    if (comparison && comparison->getOperand(0)->getType()->isIntegerTy(1))
      compareBit(*comparison);
    else if (addresses && addresses->getType()->isPointerTy())
      castPointer(*addresses);
    else if (fence) // all threads of a grid are fibres of one of the host's
      fence->eraseFromParent();
  }
  SmallVector<BitCastInst *> joined, split;
  for (Instruction &instruction : instructions(function))
    if (auto *cast = dyn_cast<BitCastInst>(&instruction)) {
      if (cast->getType()->isIntegerTy() && getElementBits(cast->getSrcTy()))
        joined.push_back(cast);
      else if (cast->getSrcTy()->isIntegerTy() && getElementBits(cast->getType()))
        split.push_back(cast);
    }
  for_each(split, [](BitCastInst *cast) { splitWord(*cast); });
  for_each(joined, [](BitCastInst *cast) { joinWord(*cast); });
}

namespace {
/// Floats of 16 bits as their bits.
class ShortFloats {
public:
  ShortFloats(Function &function, Outliner &outliner) : function(function), outliner(outliner) {}
  void run();

private:
  Value *getBits(Value *value, Instruction *before);
  Value *make(Instruction &instruction);
  bool use(Instruction &instruction);
  Value *outline(Instruction &instruction);

  Function &function;
  Outliner &outliner;
  /// By what they are the bits of.
  MapVector<Value *, Value *> bits;
};
} // namespace

static Type *getWhole(Type *type) { return Type::getInt16Ty(type->getContext()); }

/// The bits of a value, or any other value as it is.
Value *ShortFloats::getBits(Value *value, Instruction *before) {
  if (!isKeptAsBits(value->getType()))
    return value;
  auto at = bits.find(value);
  return at == bits.end() ? IRBuilder<>(before).CreateBitCast(value, getWhole(value->getType()))
                          : at->second;
}

/// A computation that reads no memory, by the bits of its operands.
Value *ShortFloats::outline(Instruction &instruction) {
  auto *call = dyn_cast<CallBase>(&instruction);
  bool isComputed =
      isa<BinaryOperator, UnaryOperator, CastInst, CmpInst>(instruction) ||
      (isa<IntrinsicInst>(instruction) && call->doesNotAccessMemory() &&
       !call->getCalledFunction()->getAttributes().hasAttrSomewhere(Attribute::ImmArg));
  if (!isComputed)
    return nullptr;
  SmallVector<Value *> operands;
  for (Value *operand : call ? call->args() : instruction.operands())
    operands.push_back(getBits(operand, &instruction));
  return outliner.outline(instruction, operands);
}

/// The bits of what an instruction makes; null if it makes no float of 16 bits, or that is left as
/// it is.
Value *ShortFloats::make(Instruction &instruction) {
  if (!isKeptAsBits(instruction.getType()))
    return nullptr;
  Type *type = getWhole(instruction.getType());
  IRBuilder<> builder(&instruction);
  if (auto *phi = dyn_cast<PHINode>(&instruction))
    return builder.CreatePHI(type, phi->getNumIncomingValues());
  if (auto *select = dyn_cast<SelectInst>(&instruction))
    return builder.CreateSelect(select->getCondition(), getBits(select->getTrueValue(), select),
                                getBits(select->getFalseValue(), select));
  if (isa<FreezeInst>(instruction))
    return builder.CreateFreeze(getBits(instruction.getOperand(0), &instruction));
  if (auto *load = dyn_cast<LoadInst>(&instruction)) {
    if (load->isAtomic())
      return nullptr;
    return builder.CreateAlignedLoad(type, load->getPointerOperand(), load->getAlign(),
                                     load->isVolatile());
  }
  if (auto *cast = dyn_cast<BitCastInst>(&instruction))
    return cast->getSrcTy() == type ? cast->getOperand(0) : nullptr;
  return outline(instruction);
}

/// Whether what uses floats of 16 bits, and makes none, uses their bits now.
bool ShortFloats::use(Instruction &instruction) {
  if (isKeptAsBits(instruction.getType()) ||
      none_of(instruction.operands(), [](Value *value) { return isKeptAsBits(value->getType()); }))
    return false;
  IRBuilder<> builder(&instruction);
  if (auto *store = dyn_cast<StoreInst>(&instruction)) {
    if (store->isAtomic())
      return false;
    builder.CreateAlignedStore(getBits(store->getValueOperand(), store), store->getPointerOperand(),
                               store->getAlign(), store->isVolatile());
    return true;
  }
  Value *made = nullptr;
  auto *cast = dyn_cast<CastInst>(&instruction);
  Value *whole = cast ? getBits(cast->getOperand(0), cast) : nullptr;
  if (isa<BitCastInst>(instruction) && whole->getType() == instruction.getType())
    made = whole;
  else if (isa<FPExtInst>(instruction) && cast->getSrcTy()->isBFloatTy() &&
           cast->getType()->isFloatTy())
    made = builder.CreateBitCast(
        builder.CreateShl(builder.CreateZExt(whole, builder.getInt32Ty()), 16), cast->getType());
  else
    made = outline(instruction);
  if (!made)
    return false;
  instruction.replaceAllUsesWith(made);
  return true;
}

void ShortFloats::run() {
  SmallVector<Instruction *> done;
  for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function))
    for (Instruction &instruction : make_early_inc_range(*block)) {
      if (Value *made = make(instruction))
        bits[&instruction] = made;
      else if (use(instruction))
        instruction.eraseFromParent();
    }
  for (auto [value, made] : bits)
    if (auto *phi = dyn_cast<PHINode>(value))
      for (auto [incoming, block] : zip_equal(phi->incoming_values(), phi->blocks()))
        cast<PHINode>(made)->addIncoming(getBits(incoming, block->getTerminator()), block);
  // What still uses a float has it of its bits.
  for (auto [value, made] : bits) {
    auto *instruction = cast<Instruction>(value);
    bool isUsed = any_of(instruction->users(), [&](User *user) { return !bits.count(user); });
    if (isUsed) {
      IRBuilder<> builder(instruction->getParent(),
                          isa<PHINode>(instruction)
                              ? instruction->getParent()->getFirstInsertionPt()
                              : instruction->getIterator());
      Value *number = builder.CreateBitCast(made, instruction->getType());
      instruction->replaceUsesWithIf(number, [&](Use &use) { return !bits.count(use.getUser()); });
    }
    done.push_back(instruction);
  }
  for (Instruction *instruction : done)
    instruction->replaceAllUsesWith(PoisonValue::get(instruction->getType()));
  for (Instruction *instruction : done)
    instruction->eraseFromParent();
}

void kiln::emulated::useWholeNumbers(Function &function, Outliner &outliner) {
  useWords(function);
  ShortFloats(function, outliner).run();
}
