// Instructions that the fast instruction selection does not know, in functions of their own.
#ifndef KILN_LIB_TARGET_EMULATED_OUTLINE_H
#define KILN_LIB_TARGET_EMULATED_OUTLINE_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instruction.h"

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace kiln::emulated {

/// Whether a float is passed and kept as the whole number of its bits: the fast instruction
/// selection knows none of 16 bits.
bool isKeptAsBits(llvm::Type *type);

/// Puts each instruction into a function that all alike are calls of, so that the slow selection,
/// which is started anew for each of them, selects one. Floats of 16 bits come and go as their
/// bits.
class Outliner {
public:
  explicit Outliner(llvm::Module &module) : module(module) {}
  /// The call, to be used instead of the instruction; null if a function cannot be made of it.
  /// `operands` stand for the instruction's, those of 16 bits as bits.
  llvm::Value *outline(llvm::Instruction &instruction, llvm::ArrayRef<llvm::Value *> operands);
  llvm::Value *outline(llvm::Instruction &instruction);

private:
  llvm::Function *getFunction(llvm::Instruction &instruction);

  llvm::Module &module;
  /// By opcode, what was outlined and where it is.
  llvm::DenseMap<unsigned, llvm::SmallVector<std::pair<llvm::Instruction *, llvm::Function *>>>
      made;
};

} // namespace kiln::emulated

#endif // KILN_LIB_TARGET_EMULATED_OUTLINE_H
