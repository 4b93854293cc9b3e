// From checked arguments to a kernel's parameters, and whether they keep what it was promised.
#include "kiln/Runtime/Error.h"
#include "kiln/Runtime/Launch/DType.h"
#include "kiln/Runtime/Launch/Facts.h"
#include "llvm/Support/MathExtras.h"

using namespace kiln;
using namespace llvm;

/// What is not of an argument is filled in later.
static inline uint64_t valueOf(const LaunchPlan::Slot &slot, const Checked &argument) {
  using Kind = LaunchPlan::Kind;
  if (slot.kind == Kind::Pointer || slot.kind == Kind::Scalar)
    return argument.bits;
  if (slot.kind == Kind::Extent)
    return argument.shape[slot.dim];
  return slot.kind == Kind::Stride ? argument.strides[slot.dim] : 0;
}

void kiln::packSlots(const LaunchPlan &plan, const Checked *checked, uint64_t *slots) {
  for (const LaunchPlan::Slot &slot : plan.slots)
    *slots++ = valueOf(slot, checked[slot.arg]);
}

static Error checkTensor(const LaunchPlan::Argument &promise, const Checked &checked,
                         const KilnTensor &tensor, function_ref<Error(const Twine &)> fail) {
  int64_t bits = dtypeInfo(tensor.dtype).bits;
  int64_t low = 0, high = 1;
  bool isNarrow = true;
  for (size_t i = 0; i < promise.shape.size(); ++i) {
    int64_t extent = checked.shape[i], stride = checked.strides[i];
    if (promise.shape[i] >= 0 && promise.shape[i] != extent)
      return fail("expected extent " + Twine(promise.shape[i]) + " along dimension " + Twine(i) +
                  ", got " + Twine(extent));
    if (promise.strides[i] >= 0 && promise.strides[i] != stride)
      return fail("expected stride " + Twine(promise.strides[i]) + " along dimension " + Twine(i) +
                  ", got " + Twine(stride));
    int64_t multiple = i < promise.extentMultiples.size() ? promise.extentMultiples[i] : 0;
    if (multiple > 1 && extent % multiple)
      return fail("expected an extent that is a multiple of " + Twine(multiple) +
                  " along dimension " + Twine(i) + ", got " + Twine(extent));
    multiple = i < promise.strideMultiples.size() ? promise.strideMultiples[i] : 0;
    if (multiple > 0 && (stride * bits) % (8 * multiple))
      return fail("expected a stride that is a multiple of " + Twine(multiple) +
                  " bytes along dimension " + Twine(i) + ", got " + Twine(stride) + " elements");
    isNarrow &= isInt<32>(extent) && isInt<32>(stride);
    if (extent > 0) {
      int64_t reach = (extent - 1) * stride;
      (reach < 0 ? low : high) += reach;
    }
  }
  if (promise.index32 && (low < 0 || high * bits / 8 > (int64_t(1) << 31)))
    return fail("expected every element to lie within 2^31 bytes behind the first");
  if (promise.index32 && !isNarrow)
    return fail("expected extents and strides of 32 bits");
  return Error::success();
}

/// The tensor that shares bytes with one that is to be alone with its own, if either is written.
static const LaunchPlan::Argument *findOverlap(const LaunchPlan &plan, const Checked *checked,
                                               size_t of) {
  for (auto [i, other] : enumerate(plan.arguments))
    if (i != of && other.kind == KILN_ARG_TENSOR && (other.written || plan.arguments[of].written) &&
        checked[i].begin < checked[of].end && checked[of].begin < checked[i].end)
      return &other;
  return nullptr;
}

Error kiln::checkPromises(const LaunchPlan &plan, ArrayRef<KilnArg> args, const Checked *checked) {
  for (auto [i, promise] : enumerate(plan.arguments)) {
    auto fail = [&, &promise = promise](const Twine &what) {
      return makeError(KILN_ERROR_INVALID_ARGUMENT,
                       "kernel '" + plan.kernel + "': argument '" + promise.name + "': " + what);
    };
    if (promise.pointer > 1 && checked[i].bits % promise.pointer)
      return fail("expected an address that is a multiple of " + Twine(promise.pointer) +
                  " bytes, got 0x" + Twine::utohexstr(checked[i].bits));
    if (promise.divisor > 1 && int64_t(args[i].value.integer) % promise.divisor)
      return fail("expected a multiple of " + Twine(promise.divisor) + ", got " +
                  Twine(args[i].value.integer));
    if (promise.kind == KILN_ARG_TENSOR)
      if (Error error = checkTensor(promise, checked[i], args[i].value.tensor, fail))
        return error;
    if (promise.kind == KILN_ARG_TENSOR && promise.noalias)
      if (const LaunchPlan::Argument *other = findOverlap(plan, checked, i))
        return fail("expected memory that no other argument reaches, as when the kernel was "
                    "compiled, got some of '" +
                    other->name + "'");
  }
  return Error::success();
}

Error kiln::checkNotEmpty(const LaunchPlan &plan, const Checked *checked) {
  for (auto [i, promise] : enumerate(plan.arguments))
    for (auto [dim, multiple] : enumerate(promise.extentMultiples))
      if (promise.kind == KILN_ARG_TENSOR && multiple > 1 && checked[i].shape[dim] == 0)
        return makeError(KILN_ERROR_INVALID_ARGUMENT,
                         "kernel '" + plan.kernel + "': argument '" + promise.name +
                             "': expected an extent that is a positive multiple of " +
                             Twine(multiple) + " along dimension " + Twine(dim) + ", got 0");
  return Error::success();
}
