// What LLVM's tables of the AMDGPU target say of one instruction.
#ifndef KILN_LIB_TARGET_AMDGPU_ISA_DESCRIBEINSTRUCTION_H
#define KILN_LIB_TARGET_AMDGPU_ISA_DESCRIBEINSTRUCTION_H

#include "kiln/Target/AMDGPU/ISA.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"

namespace kiln::amdgcn {

struct Known;

/// "gfx942" is of generation 9, "gfx1201" of 12.
unsigned getGeneration(llvm::StringRef chip);

class InstructionDescriber {
public:
  InstructionDescriber(const llvm::MCInstrInfo &instructions, const llvm::MCRegisterInfo &registers,
                       const llvm::MCSubtargetInfo &subtarget, llvm::MCInstPrinter &printer,
                       unsigned generation);

  /// Everything but the line and where a branch goes. The text gives the mnemonic as the author
  /// reads it, and what tables do not say.
  llvm::Expected<Instruction> describe(const llvm::MCInst &inst, llvm::StringRef text) const;

private:
  /// The registers of 32 bits that one is made of, or part of; none if it is not in a file, as scc.
  std::optional<Registers> getRegisters(llvm::MCRegister reg) const;
  int getTied(const llvm::MCInst &inst, unsigned at, Operation operation) const;
  bool isM0(llvm::MCRegister reg) const;
  bool computesRegisters(const llvm::MCInstrDesc &desc) const;
  void describeOperands(const llvm::MCInst &inst, Instruction &instruction) const;
  llvm::Error describeKind(const llvm::MCInst &inst, Instruction &instruction) const;
  llvm::Error describeMemory(const llvm::MCInstrDesc &desc, Instruction &instruction) const;
  llvm::Error describeWait(const llvm::MCInst &inst, const Known &known, Instruction &wait) const;

  const llvm::MCInstrInfo &instructions;
  const llvm::MCRegisterInfo &registers;
  const llvm::MCSubtargetInfo &subtarget;
  llvm::MCInstPrinter &printer;
  /// Registers of 32 bits by LLVM's number.
  llvm::DenseMap<unsigned, Registers> known;
  Registers m0;
  /// What scalar comparisons write.
  unsigned condition = 0;
};

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_ISA_DESCRIBEINSTRUCTION_H
