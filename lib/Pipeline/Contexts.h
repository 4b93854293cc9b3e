// Contexts that one compile after another uses: to load the dialects takes longer than most passes.
#ifndef KILN_LIB_PIPELINE_CONTEXTS_H
#define KILN_LIB_PIPELINE_CONTEXTS_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include <memory>

namespace kiln {

/// Every dialect that a stage speaks, for a context.
const mlir::DialectRegistry &getAllDialects();

/// A context for one thread, with every dialect loaded, so that no compile depends on what the
/// context compiled before. It is kept for the process's next compile until it has served its
/// number of them: what it has made unique is freed with it alone.
class LentContext {
public:
  LentContext();
  ~LentContext();
  LentContext(const LentContext &) = delete;

  mlir::MLIRContext &operator*() const { return *context; }
  mlir::MLIRContext *operator->() const { return context.get(); }
  mlir::MLIRContext *get() const { return context.get(); }

  /// It serves no other compile: something in it has a name that another source may not use.
  void retire() { isRetired = true; }

private:
  std::unique_ptr<mlir::MLIRContext> context;
  int compiles = 0;
  bool isRetired = false;
};

} // namespace kiln

#endif // KILN_LIB_PIPELINE_CONTEXTS_H
