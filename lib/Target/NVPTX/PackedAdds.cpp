// Packed adds as two adds, in the text of the PTX.
//
// ptxas (12.9 and 13.0, for sm_90a to sm_120a) drops the constant of an `add.s16x2` of which one
// half alone is used: `VIADD.16x2 R0, R0, 0x0`, and the sum is the other operand. LLVM has no
// switch that keeps it from the instruction, which it makes of vectors at several places, so the
// text is mended, where none can be missed. `min` and `max` of this kind, and packed floats, are
// right.
#include "PackedAdds.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace llvm;

std::string kiln::nvptx::splitPackedAdds(const std::string &ptx) {
  std::string result;
  result.reserve(ptx.size());
  for (StringRef rest = ptx; !rest.empty();) {
    size_t end = rest.find('\n');
    StringRef line = rest.take_front(end == StringRef::npos ? end : end + 1), add = line.trim();
    rest = rest.drop_front(line.size());
    SmallVector<StringRef> operands;
    if (add.consume_front("add.s16x2") && add.consume_back(";"))
      add.split(operands, ',');
    if (operands.size() != 3) {
      result += line;
      continue;
    }
    result += ("\t{ .reg .b16 %al, %ah, %bl, %bh; mov.b32 {%al, %ah}, " + operands[1].trim() +
               "; mov.b32 {%bl, %bh}, " + operands[2].trim() +
               "; add.s16 %al, %al, %bl; add.s16 %ah, %ah, %bh; mov.b32 " + operands[0].trim() +
               ", {%al, %ah}; }\n")
                  .str();
  }
  return result;
}
