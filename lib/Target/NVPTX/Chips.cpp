// NVIDIA's chips, made of include/kiln/Target/NVPTX/Chips.td.
#include "Chips.h"
#include "kiln/Target/Registry.h"

using namespace kiln;
using namespace kiln::nvptx;

static llvm::ArrayRef<ChipRecord> getRecords() {
  static const ChipRecord records[] = {
#include "kiln/Target/NVPTX/Chips.inc"
  };
  return records;
}

llvm::ArrayRef<const Chip *> kiln::nvptx::getChips() {
  static const llvm::SmallVector<const Chip *> chips = listChips(getRecords());
  return chips;
}

const ChipRecord &kiln::nvptx::getRecord(llvm::StringRef chip) {
  static const ChipRecord none = {};
  const Chip *known = findChip(getChips(), chip);
  return known ? static_cast<const ChipRecord &>(*known) : none;
}
