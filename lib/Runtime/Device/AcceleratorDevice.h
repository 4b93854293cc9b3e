// A device on top of a vendor's driver: its memory, streams, peers and health.
#ifndef KILN_LIB_RUNTIME_DEVICE_ACCELERATORDEVICE_H
#define KILN_LIB_RUNTIME_DEVICE_ACCELERATORDEVICE_H

#include "DeviceMessages.h"
#include "Health.h"
#include <map>

namespace kiln {

/// The device is the calling thread's for as long as this lives.
class Entered {
public:
  explicit Entered(AcceleratorApi &api) : api(api), previous(api.enter()) {}
  ~Entered() {
    if (previous)
      api.leave(*previous);
  }
  llvm::Error failed() { return previous ? llvm::Error::success() : previous.takeError(); }

private:
  AcceleratorApi &api;
  llvm::Expected<void *> previous;
};

class AcceleratorDevice : public Device {
public:
  AcceleratorDevice(AcceleratorInfo given, std::unique_ptr<AcceleratorApi> api);

  llvm::json::Object properties() const override;
  std::string description() const override { return info.description; }
  bool reaches(MemorySpace other) const override;

  llvm::Expected<ExecutablePtr> load(const Artifact &artifact) override;
  llvm::Expected<void *> allocate(uint64_t size) override;
  llvm::Error free(void *pointer) override;
  llvm::Error copy(void *to, const void *from, uint64_t size, KilnCopyKind kind,
                   KilnStream stream) override;
  llvm::Expected<KilnStream> createStream() override;
  llvm::Error destroyStream(KilnStream stream) override;
  llvm::Error synchronize(KilnStream stream) override;
  llvm::Error synchronizeFor(KilnStream stream, uint64_t milliseconds) override;
  llvm::Expected<void *> hiddenMemory(unsigned slot, uint64_t size, bool isCounter,
                                      KilnStream stream) override;
  llvm::Expected<StreamMessages *> streamMessages(KilnStream stream) override;
  llvm::Expected<bool> canAccessPeer(Device &peer) override;
  llvm::Error enablePeerAccess(Device &peer) override;
  llvm::Error reset() override;

  /// The code of an artifact, loaded for the device as it is now. Entered by the caller.
  llvm::Expected<AcceleratorApi::Code> loadCode(const Artifact &artifact, const LaunchPlan &plan);

  const AcceleratorInfo info;
  const std::unique_ptr<AcceleratorApi> api;
  Health health;
  DeviceMessages messages;
  /// How often the device was made anew: what was loaded before is gone.
  std::atomic<uint64_t> generation{0};
  /// $KILN_LAUNCH_BLOCKING: each launch is waited for, so that its failure is its own.
  const bool isBlocking;

private:
  /// Does something on the device, which is the thread's meanwhile. An Error or an Expected.
  template <typename Body>
  auto on(Body body) -> decltype(body()) {
    if (LLVM_UNLIKELY(health.isLost()))
      return health.answer();
    Entered entered(*api);
    if (llvm::Error error = entered.failed())
      return health.report(std::move(error));
    return health.report(body());
  }
  /// An error while the stream is being captured, which waiting for it would spoil.
  llvm::Error checkNotCaptured(KilnStream stream);

  struct Hidden {
    void *memory = nullptr;
    uint64_t size = 0;
  };
  /// The stream, the capture that records it, whether it is a counter, and which parameter of a
  /// launch.
  using HiddenKey = std::tuple<KilnStream, uint64_t, bool, unsigned>;
  std::mutex mutex;
  /// Launches on one stream run in order, so they share their hidden memory. A graph may run
  /// beside them, and as long as the process does: it has its own, which is never freed. Counters
  /// are cleared once, since each kernel leaves them zero, and no workspace ever lies there.
  std::map<HiddenKey, Hidden> hidden;
  /// Bit i: kernels reach the memory of the driver's device i.
  std::atomic<uint64_t> peers{0};
};

} // namespace kiln

#endif // KILN_LIB_RUNTIME_DEVICE_ACCELERATORDEVICE_H
