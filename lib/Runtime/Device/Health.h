// What became of a device: which kernels it was given last, and which one took it down.
//
// A kernel that fails ends everything on its device, and the driver tells of it in whatever call
// comes next. So each launch leaves the kernel's name here, in a few words that are overwritten in
// turn; a failure names what was launched since the stream was last waited for. After it the device
// answers nothing but what happened, until it is made anew.
#ifndef KILN_LIB_RUNTIME_DEVICE_HEALTH_H
#define KILN_LIB_RUNTIME_DEVICE_HEALTH_H

#include "kiln/Runtime/Device/Accelerator.h"
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <set>

namespace kiln {

class Health {
public:
  explicit Health(std::string device) : device(std::move(device)) {}

  /// A kernel's name for messages; lives as long as this does.
  const std::string *intern(const LaunchPlan &plan);
  void launched(const std::string *kernel, KilnStream stream) {
    Launch &slot = recent[next.fetch_add(1, std::memory_order_relaxed) % kept];
    slot.kernel.store(kernel, std::memory_order_relaxed);
    slot.stream.store(stream, std::memory_order_relaxed);
  }
  /// All that was launched on the stream has ended well.
  void ended(KilnStream stream);
  /// "kernel 'a' (a.py:3)", "one of the kernels 'b', 'a'", the newest first; or `none`. Those of
  /// one stream only, if one is given.
  std::string recentKernels(llvm::StringRef none,
                            std::optional<KilnStream> stream = std::nullopt) const;

  bool isLost() const { return lost.load(std::memory_order_relaxed); }
  /// What each call answers once the device is lost.
  llvm::Error answer() const;
  /// Passes an error on. One that is fatal loses the device and then names the kernel.
  llvm::Error report(llvm::Error error);
  template <typename T>
  llvm::Expected<T> report(llvm::Expected<T> result) {
    if (LLVM_LIKELY(bool(result)))
      return result;
    return report(result.takeError());
  }
  void renew();

  /// What kernels told before the device was lost and nobody has read, for its cause.
  std::function<std::string()> takeLastWords;

private:
  static constexpr unsigned kept = 16;
  struct Launch {
    std::atomic<const std::string *> kernel{nullptr};
    std::atomic<KilnStream> stream{nullptr};
  };
  const std::string device;
  Launch recent[kept];
  std::atomic<unsigned> next{0};
  std::atomic<bool> lost{false};
  mutable std::mutex mutex;
  std::set<std::string> names;
  std::string cause;
};

} // namespace kiln

#endif // KILN_LIB_RUNTIME_DEVICE_HEALTH_H
