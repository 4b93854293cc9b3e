// What accelerators have in common: code loaded as a module, a grid of blocks, streams.
//
// A vendor's driver implements AcceleratorApi, a thin shell around the functions of its library;
// everything else, from reading the artifact to hidden memory, is here once.
#ifndef KILN_RUNTIME_DEVICE_ACCELERATOR_H
#define KILN_RUNTIME_DEVICE_ACCELERATOR_H

#include "kiln/Runtime/Device/Device.h"
#include "kiln/Runtime/Error.h"

namespace kiln {

/// A driver's refusal. One that is fatal leaves nothing of the device's memory, code and streams.
class DriverFailure : public llvm::ErrorInfo<DriverFailure, RuntimeError> {
public:
  static inline char ID = 0;
  DriverFailure(KilnErrorCode code, std::string message, int result, bool isFatal)
      : ErrorInfo(code, std::move(message)), result(result), isFatal(isFatal) {}

  int result;
  bool isFatal;
};

/// One device through its driver library. Every call but enter() and leave() is made between
/// these two, which make the device the calling thread's and put back what was.
class AcceleratorApi {
public:
  struct Code {
    void *module = nullptr;
    void *function = nullptr;
    /// What a launch asks for beside the shared memory that the code states itself.
    unsigned dynamicShared = 0;
  };
  struct Launch {
    void *function;
    void **parameters;
    unsigned grid[3], block, dynamicShared;
    KilnStream stream;
    const LaunchTraits &traits;
  };
  /// A view and the tiles of it that a copy engine moves, dimensions from the outermost on.
  struct TensorMap {
    uint64_t address;
    const int64_t *shape, *strides; ///< in elements
    const LaunchPlan::TensorMap &map;
  };
  static constexpr size_t tensorMapBytes = 128;
  virtual ~AcceleratorApi() = default;

  virtual llvm::Expected<void *> enter() = 0;
  virtual void leave(void *previous) = 0;

  virtual llvm::Expected<Code> load(llvm::StringRef code, const std::string &symbol,
                                    uint64_t sharedBytes) = 0;
  virtual void unload(const Code &code) = 0;
  virtual llvm::json::Object describe(const Code &code) = 0;
  virtual llvm::Error launch(const Launch &launch) = 0;
  /// Writes tensorMapBytes to `out`, which is aligned to 64; the error begins with what is wrong.
  virtual llvm::Error encode(const TensorMap &view, void *out);

  virtual llvm::Expected<void *> allocate(uint64_t size) = 0;
  virtual llvm::Error free(void *memory) = 0;
  virtual llvm::Error copy(void *to, const void *from, uint64_t size, KilnCopyKind kind,
                           KilnStream stream) = 0;
  virtual llvm::Error clear(void *memory, uint64_t size, KilnStream stream) = 0;
  virtual llvm::Expected<KilnStream> createStream() = 0;
  virtual llvm::Error destroyStream(KilnStream stream) = 0;
  virtual llvm::Error synchronize(KilnStream stream) = 0;
  /// Waits for all streams, of others too.
  virtual llvm::Error synchronizeAll() = 0;
  /// Whether all that was queued on the stream has ended.
  virtual llvm::Expected<bool> isIdle(KilnStream stream) = 0;
  /// Memory of the host's that kernels reach at the same address.
  virtual llvm::Expected<void *> allocateOnHost(uint64_t size) = 0;
  virtual llvm::Error freeOnHost(void *memory) = 0;
  /// Calls a function when all that was queued on the stream before has ended well, and before
  /// what is queued after it. It must not call the driver.
  virtual llvm::Error callAfter(KilnStream stream, void (*function)(void *), void *argument) = 0;
  /// The number of the capture that records the stream into a graph; 0 if none does.
  virtual llvm::Expected<uint64_t> captureOf(KilnStream stream) = 0;

  /// The other is a device of the same driver.
  virtual llvm::Expected<bool> canAccess(AcceleratorApi &peer) = 0;
  virtual llvm::Error enableAccess(AcceleratorApi &peer) = 0;

  /// Outside enter() and leave(): makes the device anew if nobody else in this process uses it.
  virtual llvm::Error renew() = 0;
};

/// What a driver knows of a device before it makes one.
struct AcceleratorInfo {
  std::string name, target, identity, description;
  MemorySpace memory;
  std::vector<int32_t> reachableTypes; ///< DLPack's types of host memory that kernels reach
  uint64_t maxSharedBytes = 0;
  uint64_t maxGrid[3] = {0, 0, 0};
  int64_t multiprocessors = 0;
  LaunchAbilities abilities;
  uint64_t maxThreads = UINT64_MAX;                     ///< of a grid along one axis
  std::vector<std::pair<std::string, int64_t>> numbers; ///< for the description
};

std::unique_ptr<Device> makeAccelerator(AcceleratorInfo info, std::unique_ptr<AcceleratorApi> api);

} // namespace kiln

#endif // KILN_RUNTIME_DEVICE_ACCELERATOR_H
