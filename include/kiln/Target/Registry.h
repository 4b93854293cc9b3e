// The targets that are built in, and the names they are called by.
#ifndef KILN_TARGET_REGISTRY_H
#define KILN_TARGET_REGISTRY_H

#include "kiln/Target/TargetInterface.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace mlir {
class DialectRegistry;
class MLIRContext;
} // namespace mlir

namespace kiln {

/// One folder of lib/Target, as the rest of Kiln sees it.
struct TargetEntry {
  /// What a target's name starts with: the part before the colon.
  llvm::StringLiteral name;
  llvm::StringLiteral summary;
  /// The chips it can compile for. A target with a single chip is named without it.
  llvm::ArrayRef<const Chip *> chips;
  /// The target attribute for one of `chips`.
  mlir::Attribute (*create)(mlir::MLIRContext *context, const Chip &chip);
  /// The dialects that its stages speak, with the interfaces that translation needs.
  void (*registerDialects)(mlir::DialectRegistry &registry);
  /// Its passes, under the names that pipelines are written with; called once a process.
  void (*registerPasses)();
  /// What else, beside the compiler, decides what code comes out; part of each kernel's key. Null
  /// if nothing does.
  std::string (*identify)() = nullptr;
};

/// Adds a target; called by each folder's `register<Name>Target`.
void addTarget(const TargetEntry &entry);

/// All built-in targets, in the order of the build's target list.
llvm::ArrayRef<TargetEntry> getTargets();

/// A target's own records, as others see them.
template <typename Record>
llvm::SmallVector<const Chip *> listChips(llvm::ArrayRef<Record> records) {
  return llvm::map_to_vector(records, [](const Record &record) -> const Chip * { return &record; });
}

/// The chip of a list with this name, or null.
const Chip *findChip(llvm::ArrayRef<const Chip *> chips, llvm::StringRef name);

/// Why a name is no target's, with those there are; empty if it is one, such as "cpu", or several
/// such with commas.
std::string whyNoTarget(llvm::StringRef name);

/// Whether a target's attribute may name this chip.
mlir::LogicalResult verifyChip(llvm::ArrayRef<const Chip *> chips, llvm::StringRef name,
                               llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Reads a target's name, such as "cpu". Loads the dialect of the attribute. An unknown
/// name or chip is an error that lists the known ones.
mlir::FailureOr<TargetInterface>
parseTarget(llvm::StringRef name, mlir::MLIRContext *context,
            llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace kiln

#endif // KILN_TARGET_REGISTRY_H
