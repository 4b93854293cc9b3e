// How ops on tensors are spread over threads.
#ifndef KILN_LAYOUT_TRANSFORMS_DISTRIBUTIONINTERFACE_H
#define KILN_LAYOUT_TRANSFORMS_DISTRIBUTIONINTERFACE_H

#include "kiln/Layout/Algebra/LinearLayout.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace kiln {

class LayoutInference;

/// How the copies of a role share tensors out: whole rows or columns each.
class CopyShares {
public:
  virtual ~CopyShares() = default;
  /// The dimension that a value is shared out along; -1 if each copy has all of it.
  virtual int getDim(mlir::Value value) const = 0;
  /// Whether each copy's share of a tensor along a dimension is one piece of a buffer, or a window
  /// of it if a product reads it.
  virtual bool keepsTogether(mlir::Value buffer, int dim, mlir::Value tensor,
                             bool isOfProduct) const = 0;
};

/// A value whose layout does not let the copies of a role do an op by themselves.
struct ShareMisfit {
  mlir::Value value;
  /// Whether each copy would need all of it; else it would need another share.
  bool isNeededWhole = false;
};

/// Attaches the models of all ops to whatever context loads their dialects.
void registerDistributionModels(mlir::DialectRegistry &registry);

} // namespace kiln

#include "kiln/Layout/Transforms/DistributionInterface.h.inc"

#endif // KILN_LAYOUT_TRANSFORMS_DISTRIBUTIONINTERFACE_H
