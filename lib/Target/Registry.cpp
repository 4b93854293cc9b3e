// The list of targets, and the reading of their names.
#include "kiln/Target/Registry.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {

static SmallVector<TargetEntry> &entries() {
  static SmallVector<TargetEntry> list;
  return list;
}

void addTarget(const TargetEntry &entry) {
  for (const TargetEntry &known : entries())
    if (known.name == entry.name)
      return;
  entries().push_back(entry);
}

ArrayRef<TargetEntry> getTargets() { return entries(); }

const Chip *findChip(ArrayRef<Chip> chips, StringRef name) {
  for (const Chip &chip : chips)
    if (chip.name == name)
      return &chip;
  return nullptr;
}

LogicalResult verifyChip(ArrayRef<Chip> chips, StringRef name,
                         function_ref<InFlightDiagnostic()> emitError) {
  if (findChip(chips, name))
    return success();
  return emitError() << "expected a known chip, got '" << name << "'";
}

/// Whether the target's name without a chip says which is meant.
static bool isNamedAlone(const TargetEntry &entry) {
  return entry.chips.size() == 1 ||
         (!entry.chips.empty() && entry.chips.front().name == StringRef(kHostChip));
}

/// The chip that a target's name means, or null.
static const Chip *findNamedChip(const TargetEntry &entry, StringRef name) {
  if (isNamedAlone(entry) && !name.contains(':'))
    return &entry.chips.front();
  return findChip(entry.chips, name.split(':').second);
}

bool isTarget(StringRef name) {
  return llvm::all_of(llvm::split(name, ','), [](StringRef one) {
    return llvm::any_of(entries(), [&](const TargetEntry &entry) {
      return entry.name == one.split(':').first && findNamedChip(entry, one);
    });
  });
}

FailureOr<TargetInterface> parseTarget(StringRef name, MLIRContext *context,
                                       function_ref<InFlightDiagnostic()> emitError) {
  StringRef stem = name.split(':').first;
  for (const TargetEntry &entry : entries()) {
    if (entry.name != stem)
      continue;
    if (const Chip *chip = findNamedChip(entry, name))
      return cast<TargetInterface>(entry.create(context, *chip));
    InFlightDiagnostic diagnostic = emitError();
    diagnostic << "expected a chip of target '" << stem << "' (";
    llvm::interleaveComma(entry.chips, diagnostic,
                          [&](const Chip &known) { diagnostic << known.name; });
    return diagnostic << "), got '" << name << "'";
  }
  InFlightDiagnostic diagnostic = emitError();
  diagnostic << "expected a target (";
  llvm::interleaveComma(entries(), diagnostic, [&](const TargetEntry &known) {
    diagnostic << known.name << (isNamedAlone(known) ? "" : ":<chip>");
  });
  return diagnostic << "), got '" << name << "'";
}

} // namespace kiln
