// The numbers that a chip's record may state, made of include/kiln/Target/Chip.td.
#include "kiln/Target/Chip.h"

using namespace kiln;

llvm::ArrayRef<Quantity> kiln::getQuantities() {
  static const Quantity quantities[] = {
#define KILN_QUANTITY(name, unit, summary) {#name, unit, summary, &Figures::name},
#include "kiln/Target/Quantities.inc"
  };
  return quantities;
}
