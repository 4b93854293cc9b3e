// Registers the targets of the build's list (KILN_TARGETS).
#ifndef KILN_TARGET_ALLTARGETS_H
#define KILN_TARGET_ALLTARGETS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace kiln {

/// Fills the registry of targets; any number of times, from any thread.
void registerAllTargets();

/// The dialects of all targets. Registers the targets first.
void registerTargetDialects(mlir::DialectRegistry &registry);

/// The passes of all targets, and those that they share. Once a process.
void registerTargetPasses();

} // namespace kiln

#endif // KILN_TARGET_ALLTARGETS_H
