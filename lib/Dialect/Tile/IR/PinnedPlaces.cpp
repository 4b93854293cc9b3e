// Finds where an author has pinned a kernel's decisions.
#include "kiln/Dialect/Tile/IR/PinnedPlaces.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

InFlightDiagnostic kiln::tile::emitPinError(Operation *op, StringRef decision,
                                            const Twine &message) {
  auto fused = dyn_cast<FusedLoc>(op->getLoc());
  auto places = fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata()) : DictionaryAttr();
  auto place = places ? places.getAs<LocationAttr>(decision) : LocationAttr();
  if (!place)
    return op->emitOpError(message);
  return mlir::emitError(Location(place)) << "'" << op->getName() << "' op " << message;
}
