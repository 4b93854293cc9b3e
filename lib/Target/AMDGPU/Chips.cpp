// AMD's chips, made of include/kiln/Target/AMDGPU/Chips.td.
#include "Chips.h"
#include "kiln/Target/Registry.h"

using namespace kiln;
using namespace kiln::amdgcn;

static llvm::ArrayRef<ChipRecord> getRecords() {
  static const ChipRecord records[] = {
#include "kiln/Target/AMDGPU/Chips.inc"
  };
  return records;
}

llvm::ArrayRef<const Chip *> kiln::amdgcn::getChips() {
  static const llvm::SmallVector<const Chip *> chips = listChips(getRecords());
  return chips;
}

const ChipRecord &kiln::amdgcn::getRecord(llvm::StringRef chip) {
  static const ChipRecord none = {};
  const Chip *known = findChip(getChips(), chip);
  return known ? static_cast<const ChipRecord &>(*known) : none;
}
