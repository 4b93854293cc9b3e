// Naming the kernel that a device failed over.
#include "Health.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace llvm;

const std::string *Health::intern(const LaunchPlan &plan) {
  std::lock_guard<std::mutex> lock(mutex);
  return &*names.insert(plan.spelling()).first;
}

void Health::ended(KilnStream stream) {
  for (Launch &slot : recent)
    if (slot.stream.load(std::memory_order_relaxed) == stream)
      slot.kernel.store(nullptr, std::memory_order_relaxed);
}

std::string Health::recentKernels(StringRef none, std::optional<KilnStream> stream) const {
  SmallVector<StringRef> found;
  unsigned newest = next.load(std::memory_order_relaxed);
  for (unsigned i = 1; i <= kept; ++i) {
    const Launch &slot = recent[(newest - i) % kept];
    const std::string *kernel = slot.kernel.load();
    bool isAsked = !stream || slot.stream.load() == *stream;
    if (kernel && isAsked && !is_contained(found, StringRef(*kernel)))
      found.push_back(*kernel);
  }
  if (found.empty())
    return none.str();
  return (found.size() == 1 ? "kernel " : "one of the kernels ") + join(found, ", ");
}

Error Health::answer() const {
  std::lock_guard<std::mutex> lock(mutex);
  return makeError(KILN_ERROR_DEVICE, "device '" + device + "' is lost, because " + cause +
                                          "; kilnDeviceReset (in Python the device's reset()) "
                                          "makes it anew");
}

Error Health::report(Error error) {
  if (LLVM_LIKELY(!error))
    return Error::success();
  if (!error.isA<DriverFailure>())
    return error;
  return handleErrors(std::move(error), [&](std::unique_ptr<DriverFailure> failure) -> Error {
    if (!failure->isFatal)
      return Error(std::move(failure));
    if (isLost())
      return answer();
    std::lock_guard<std::mutex> lock(mutex);
    cause = recentKernels("something other than a kernel of Kiln's") + " failed on device '" +
            device + "': " + failure->text;
    std::string words = takeLastWords ? takeLastWords() : "";
    if (!words.empty())
      cause += "; before that, " + words;
    lost.store(true);
    return makeError(KILN_ERROR_DEVICE, cause);
  });
}

void Health::renew() {
  std::lock_guard<std::mutex> lock(mutex);
  for (Launch &slot : recent)
    slot.kernel.store(nullptr);
  cause.clear();
  lost.store(false);
}
