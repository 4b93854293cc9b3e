// What is known of each kind of op on the host, in one table: how it is lowered, and whether that
// is a detour. An op that is added stands there alone.
#ifndef KILN_LIB_TARGET_CPU_LOWERTILES_LOWERINGS_H
#define KILN_LIB_TARGET_CPU_LOWERTILES_LOWERINGS_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/TypeID.h"
#include "llvm/ADT/SmallVector.h"
#include <functional>
#include <map>

namespace kiln::cpu {
class Program;

struct Lowering {
  /// Null of what is made where it is used, element by element (Expressions.cpp).
  std::function<mlir::LogicalResult(Program &, mlir::Operation *)> lower;
  /// Whether it moves elements and computes nothing, so that only those which share a byte are
  /// unpacked for it. All else computes floats other than f32 and f64 in a wider type.
  bool onlyMoves = false;
  /// Whether it is a detour whatever its elements are. Null: they say.
  std::function<bool(mlir::Operation *)> isEmulated;
};

class Lowerings {
public:
  static const Lowerings &get();

  /// Null of ops that compute each element from those at its place.
  const Lowering *find(mlir::Operation *op) const {
    auto found = table.find(op->getName().getTypeID().getAsOpaquePointer());
    return found == table.end() ? nullptr : &found->second;
  }

private:
  friend class Program;

  /// What else is said of ops that have been added.
  struct Added {
    llvm::SmallVector<Lowering *, 1> lowerings;
    Added &moves() {
      for (Lowering *lowering : lowerings)
        lowering->onlyMoves = true;
      return *this;
    }
    Added &emulatedIf(std::function<bool(mlir::Operation *)> isEmulated) {
      for (Lowering *lowering : lowerings)
        lowering->isEmulated = isEmulated;
      return *this;
    }
    Added &emulated() {
      return emulatedIf([](mlir::Operation *) { return true; });
    }
  };

  /// `lower` takes the program and the op, and returns a LogicalResult, or nothing if it cannot
  /// fail.
  template <typename... Ops, typename Fn>
  Added add(Fn lower) {
    Added added = addInline<Ops...>();
    auto set = [&](Lowering &lowering, auto cast) {
      lowering.lower = [lower, cast](Program &program, mlir::Operation *op) {
        if constexpr (std::is_void_v<decltype(lower(program, cast(op)))>) {
          lower(program, cast(op));
          return mlir::success();
        } else {
          return lower(program, cast(op));
        }
      };
    };
    (set(table[mlir::TypeID::get<Ops>().getAsOpaquePointer()],
         [](mlir::Operation *op) { return llvm::cast<Ops>(op); }),
     ...);
    return added;
  }

  /// Ops that are made where they are used.
  template <typename... Ops>
  Added addInline() {
    (table.try_emplace(mlir::TypeID::get<Ops>().getAsOpaquePointer()), ...);
    Added added;
    (added.lowerings.push_back(&table[mlir::TypeID::get<Ops>().getAsOpaquePointer()]), ...);
    return added;
  }

  /// Pointers to what it holds stay.
  std::map<const void *, Lowering> table;
};

} // namespace kiln::cpu

#endif // KILN_LIB_TARGET_CPU_LOWERTILES_LOWERINGS_H
