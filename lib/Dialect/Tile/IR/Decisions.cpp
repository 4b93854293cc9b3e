// Reads decisions, wherever they stand.
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Tile.h"

using namespace mlir;

std::string kiln::tile::spellDecision(Operation *op, StringRef name) {
  // The order of an atomic is that of memory.
  bool isOurs = isa_and_nonnull<TileDialect>(op->getDialect()) &&
                !(name == "order" && isa<AtomicRMWOp, AtomicCASOp>(op));
  return isOurs ? name.str() : "tile." + name.str();
}

Attribute kiln::tile::getDecision(Operation *op, StringRef name) {
  return op->getAttr(spellDecision(op, name));
}

std::string kiln::tile::findDecision(Operation *op) {
  for (StringRef name : {"atom", "buffer", "read_atom", "stage", "order", "role", "ring", "depth",
                         "in_flight", "split_loop"})
    if (getDecision(op, name))
      return spellDecision(op, name);
  for (StringRef name : {kAtomNameAttrName, kLayoutAttrName})
    if (op->hasAttr(name))
      return name.str();
  return "";
}

std::string kiln::tile::findPartsDecision(Operation *op) {
  if (isa<DotOp>(op))
    for (StringRef name : {"parts", "reads_ahead", "promote", "swap"})
      if (op->hasAttr(name))
        return name.str();
  return "";
}
