// How long a kernel takes for the sizes of a call's arguments, by the closed form that its compile
// describes (docs/rationale/model.md).
#ifndef KILN_RUNTIME_LAUNCH_MODEL_H
#define KILN_RUNTIME_LAUNCH_MODEL_H

#include "kiln-c/Launch.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <memory>
#include <string>
#include <vector>

namespace kiln {

class Model {
public:
  /// From the JSON text of the metadata's member "model".
  static llvm::Expected<std::unique_ptr<Model>> create(llvm::StringRef text);

  /// Microseconds on a device of so many cores; 0: of as many as the chip's record says. An error
  /// where an argument is missing, or of another kind than the kernel's.
  llvm::Expected<double> predict(llvm::ArrayRef<KilnArg> args, int64_t cores) const;

private:
  enum class Op : uint8_t {
    Constant,
    Extent,
    Value,
    Program,
    Programs,
    Middle,
    Trips,
    Add,
    Sub,
    Mul,
    DivS,
    DivU,
    CeilDivS,
    CeilDivU,
    FloorDivS,
    RemS,
    RemU,
    MinS,
    MinU,
    MaxS,
    MaxU,
    And,
    Or,
    Xor,
    ShL,
    ShRS,
    ShRU,
    Select,
    Compare
  };
  struct Number {
    Op op;
    /// Of a constant; of an argument or an axis its number; of a comparison its predicate.
    int64_t value = 0;
    int64_t dim = 0;
    uint32_t of[3] = {0, 0, 0};
  };
  struct Loop {
    uint32_t trips;
    /// Microseconds of a trip on its core, of the cache if all cores ask it, and of what comes to
    /// the core; whether they run beside one another.
    double us, cacheUs, arrivingUs;
    bool isBeside;
  };
  struct Reader;

  llvm::Expected<int64_t> find(llvm::ArrayRef<KilnArg> args, const Number &number) const;
  llvm::Error compute(llvm::ArrayRef<KilnArg> args, std::vector<int64_t> &values) const;

  std::vector<Number> numbers;
  std::vector<uint32_t> programs, bytes;
  std::vector<Loop> loops;
  int64_t cluster[3] = {1, 1, 1}, cores = 0;
  double startUs = 0, turnUs = 0, endUs = 0, bytesPerUs = 0;
};

} // namespace kiln

#endif // KILN_RUNTIME_LAUNCH_MODEL_H
