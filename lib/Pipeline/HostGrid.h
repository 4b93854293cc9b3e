// The function of the host that computes an accelerator's grid, compiled beside the kernel.
#ifndef KILN_LIB_PIPELINE_HOSTGRID_H
#define KILN_LIB_PIPELINE_HOSTGRID_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <optional>
#include <pthread.h>
#include <string>

namespace kiln {

/// A module of a kernel of nothing but its grid.
mlir::OwningOpRef<mlir::ModuleOp> cloneGrid(tile::KernelOp kernel);

/// A module of `cloneGrid`, on its way to an object of the host's. A thread with a context
/// of its own compiles it from its bytecode, so that it costs the kernel no time; where there is no
/// thread to be had, it is compiled when it is asked for.
class HostGrid {
public:
  explicit HostGrid(mlir::OwningOpRef<mlir::ModuleOp> grid);
  ~HostGrid() { wait(); }
  HostGrid(const HostGrid &) = delete;

  /// The object. What is wrong with the grid is reported here, in the kernel's context.
  mlir::FailureOr<std::string> take();

private:
  static void *run(void *self);
  void wait();

  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string bytecode;
  std::optional<pthread_t> thread;
  std::optional<std::string> object;
};

} // namespace kiln

#endif // KILN_LIB_PIPELINE_HOSTGRID_H
