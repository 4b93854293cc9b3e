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

const Chip *findChip(ArrayRef<const Chip *> chips, StringRef name) {
  for (const Chip *chip : chips)
    if (chip->name == name)
      return chip;
  return nullptr;
}

LogicalResult verifyChip(ArrayRef<const Chip *> chips, StringRef name,
                         function_ref<InFlightDiagnostic()> emitError) {
  if (findChip(chips, name))
    return success();
  return emitError() << "expected a known chip, got '" << name << "'";
}

/// Whether the target's name without a chip says which is meant.
static bool isNamedAlone(const TargetEntry &entry) {
  return entry.chips.size() == 1 ||
         (!entry.chips.empty() && entry.chips.front()->name == StringRef(kHostChip));
}

/// The chip that a target's name means, or null.
static const Chip *findNamedChip(const TargetEntry &entry, StringRef name) {
  if (isNamedAlone(entry) && !name.contains(':'))
    return entry.chips.front();
  return findChip(entry.chips, name.split(':').second);
}

/// The target and chip that a name without commas means, or why it means none.
static std::pair<const TargetEntry *, const Chip *> findTarget(StringRef name, std::string &why) {
  llvm::raw_string_ostream text(why);
  StringRef stem = name.split(':').first;
  for (const TargetEntry &entry : entries()) {
    if (entry.name != stem)
      continue;
    if (const Chip *chip = findNamedChip(entry, name))
      return {&entry, chip};
    text << "expected a chip of target '" << stem << "' (";
    llvm::interleaveComma(entry.chips, text, [&](const Chip *known) { text << known->name; });
    text << "), got '" << name << "'";
    return {};
  }
  text << "expected a target (";
  llvm::interleaveComma(entries(), text, [&](const TargetEntry &known) {
    text << known.name << (isNamedAlone(known) ? "" : ":<chip>");
  });
  text << "), got '" << name << "'";
  return {};
}

std::string whyNoTarget(StringRef name) {
  std::string why;
  for (StringRef one : llvm::split(name, ','))
    if (!findTarget(one, why).first)
      break;
  return why;
}

FailureOr<TargetInterface> parseTarget(StringRef name, MLIRContext *context,
                                       function_ref<InFlightDiagnostic()> emitError) {
  std::string why;
  auto [entry, chip] = findTarget(name, why);
  if (!entry)
    return emitError() << why;
  return cast<TargetInterface>(entry->create(context, *chip));
}

} // namespace kiln
