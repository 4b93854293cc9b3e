// What a launch finds out about its arguments, and the key that holds it.
//
// A key is a run of 64-bit words. Word 0 is the caller's variant, word 1 the device's number and
// the number of arguments. Then, for each argument:
//   tensor    word A: bits 0-3 kind, 4-11 dtype, 12-15 rank, 16-18 log2 of the base address's
//             alignment, 19 index32, 20 noalias
//             word B: a byte a dimension: bits 0-2 1 + log2 of the stride's alignment in bytes
//             (0: nothing known), 3 the stride is 1, 4 the extent is 1, 5-7 log2 of what the
//             extent is a multiple of, 16 at most (0 of an extent of 0)
//   pointer   word A with kind, dtype and alignment
//   scalar    word A with kind and dtype; for integers bit 21 the value is 1, 22 a multiple of 16
// Everything a specialisation may rely on is in there; two calls with one key run one executable.
#ifndef KILN_RUNTIME_LAUNCH_FACTS_H
#define KILN_RUNTIME_LAUNCH_FACTS_H

#include "kiln-c/Launch.h"
#include "kiln/Runtime/Device/Device.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace kiln {

struct Parameter {
  std::string name;
  KilnArgKind kind;
  int32_t dtype;
  int32_t rank; ///< -1: whatever comes
  uint32_t facts;
};

/// One argument after it was checked.
struct Checked {
  const int64_t *shape, *strides; ///< of a tensor; strides are there even if the caller's were not
  uint64_t bits;                  ///< the address of a tensor or pointer, the value of a scalar
  int64_t rank;
  uint64_t begin, end; ///< the bytes that a tensor reaches, none if both are equal
};

/// The words that n arguments need.
constexpr size_t keyWords(size_t n) { return 2 + 2 * n; }

/// The device that a launch goes to: the one asked for, else that of the first tensor.
llvm::Expected<Device *> chooseDevice(llvm::ArrayRef<KilnArg> args,
                                      const KilnLaunchOptions *options);

/// Checks the arguments against the parameters and the device, and writes the key. `checked` and
/// `strides` have room for one entry, and KILN_MAX_RANK numbers, an argument. Returns the number
/// of words, or 0 with the error set.
size_t computeKey(llvm::StringRef kernel, llvm::ArrayRef<Parameter> parameters,
                  llvm::ArrayRef<KilnArg> args, uint64_t variant, const Device &device,
                  uint64_t *words, Checked *checked, int64_t *strides, llvm::Error &error);

/// The JSON that kilnFunctionDescribeKey promises.
llvm::Expected<std::string> describeKey(llvm::ArrayRef<Parameter> parameters, llvm::StringRef key);

/// Fills the slots that come from arguments.
void packSlots(const LaunchPlan &plan, const Checked *checked, uint64_t *slots);

/// Whether the arguments keep what an executable was compiled for.
llvm::Error checkPromises(const LaunchPlan &plan, llvm::ArrayRef<KilnArg> args,
                          const Checked *checked);

/// The same of extents that must not be 0 where programs run.
llvm::Error checkNotEmpty(const LaunchPlan &plan, const Checked *checked);

} // namespace kiln

#endif // KILN_RUNTIME_LAUNCH_FACTS_H
