// Branches that are too far for their own offset: LLVM takes the address of an instruction, adds
// how far behind it a label lies, and goes to that.
//
//     s_getpc_b64 s[4:5]
//   .Lpost_getpc0:
//     s_add_u32 s4, s4, (.LBB0_7-.Lpost_getpc0)&4294967295
//     s_addc_u32 s5, s5, (.LBB0_7-.Lpost_getpc0)>>32
//     s_setpc_b64 s[4:5]
#ifndef KILN_LIB_TARGET_AMDGPU_ISA_FARBRANCH_H
#define KILN_LIB_TARGET_AMDGPU_ISA_FARBRANCH_H

#include "kiln/Target/AMDGPU/ISA.h"

namespace kiln::amdgcn {

/// What was read of such a sequence.
class FarBranch {
public:
  void addLabel(llvm::StringRef label);
  void add(const Instruction &instruction, llvm::StringRef text);
  /// The label whose address registers hold, if a whole sequence says so.
  std::optional<std::string> find(const Registers &address) const;

private:
  void addPart(const Instruction &instruction, llvm::StringRef text);

  enum { None, Taken, Named, HasLow, HasBoth } state = None;
  Registers registers;
  std::string from, to;
};

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_ISA_FARBRANCH_H
