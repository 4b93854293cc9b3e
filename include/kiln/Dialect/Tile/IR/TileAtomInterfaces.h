// What all matrix instructions, and all copy instructions, say of themselves.
#ifndef KILN_DIALECT_TILE_IR_TILEATOMINTERFACES_H
#define KILN_DIALECT_TILE_IR_TILEATOMINTERFACES_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"
#include <array>
#include <cstdint>
#include <optional>

namespace kiln {
struct Chip;
class LinearLayout;
} // namespace kiln

namespace kiln::tile {

/// Which units of a core an instruction keeps busy.
enum class Unit {
  Matrix, ///< those that multiply matrices
  Lanes,  ///< those of the threads
  Engine, ///< one that copies by itself, beside whatever threads do
};

/// How the end of an instruction is known.
enum class Completion {
  InOrder,      ///< what comes after it in the program sees its result
  Groups,       ///< a wait until at most so many groups of them are under way
  CountedBytes, ///< a barrier in shared memory counts the bytes that have come
  Instructions, ///< a wait until at most so many of them are under way
  Commit,       ///< a barrier in shared memory is told once all that one thread started have ended
};

enum class Cache : uint32_t;
enum class Eviction : uint32_t;

/// Where elements are.
enum class Place { Registers, Shared, Global, Tensor };

} // namespace kiln::tile

#include "kiln/Dialect/Tile/IR/TileAtomInterfaces.h.inc"

namespace kiln::tile {

/// Whether operand a (0) or b (1) may be what warps have computed: the instruction reads registers,
/// or tensor memory, where they write it.
inline bool takesComputed(MmaAtomInterface atom, unsigned operand) {
  return atom.readsFrom(operand, Place::Registers) || atom.readsFrom(operand, Place::Tensor);
}

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_TILEATOMINTERFACES_H
