// Takes layouts off types.
#include "kiln/Dialect/Tile/IR/BareTypes.h"

using namespace mlir;
using namespace kiln::tile;

Type kiln::tile::getBareType(Type type) {
  if (auto pending = dyn_cast<PendingType>(type))
    return getBareType(pending.getTensor());
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return RankedTensorType::get(tensor.getShape(), tensor.getElementType());
  if (auto buffer = dyn_cast<BufferType>(type))
    return BufferType::get(type.getContext(), buffer.getShape(), buffer.getElementType(),
                           Attribute());
  return type;
}
