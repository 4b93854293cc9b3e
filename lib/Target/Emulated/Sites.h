// Places in the source of what emulated code does, through LLVM IR, whose lines stand for them.
//
// The object defines `kiln_emulated_sites`, a row of five 32-bit numbers for each site of the
// program: where in `kiln_emulated_names` the file's name begins, line, column, where the
// instruction's name begins, and the site of the call that it is inlined at, or 0. The first row is
// of what has no place.
#ifndef KILN_LIB_TARGET_EMULATED_SITES_H
#define KILN_LIB_TARGET_EMULATED_SITES_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/LogicalResult.h"
#include <string>
#include <vector>

namespace llvm {
class Instruction;
class Module;
} // namespace llvm
namespace mlir {
class Location;
class ModuleOp;
} // namespace mlir

namespace kiln::emulated {

struct SourcePlace {
  std::string file;
  unsigned line, column;
};

/// Of each location, innermost first: where it is, then where that is called.
using SourcePlaces = std::vector<llvm::SmallVector<SourcePlace, 1>>;

/// Numbers the locations of a module's functions, from 1; their lines are these numbers from now
/// on.
llvm::FailureOr<SourcePlaces> numberLocations(mlir::ModuleOp module);

/// The sites of an LLVM module whose lines are such numbers.
class Sites {
public:
  explicit Sites(const SourcePlaces &places) : places(places) {}
  /// A new one, of what an instruction becomes.
  unsigned add(const llvm::Instruction &instruction, llvm::StringRef what);
  /// For messages, with what follows it: "k.py:3:5: ", or nothing.
  std::string describe(const llvm::Instruction &instruction) const;
  void define(llvm::Module &module);

private:
  struct Row {
    unsigned file = 0, line = 0, column = 0, what = 0, caller = 0;
  };
  llvm::ArrayRef<SourcePlace> placesOf(const llvm::Instruction &instruction) const;
  unsigned name(llvm::StringRef text);

  const SourcePlaces &places;
  std::vector<Row> rows = {Row()};
  /// The row of the calls that a location is inlined at.
  llvm::DenseMap<unsigned, unsigned> callers;
  std::string names = std::string(1, '\0');
  llvm::StringMap<unsigned> known;
};

} // namespace kiln::emulated

#endif // KILN_LIB_TARGET_EMULATED_SITES_H
