// The seam between the runtime and what runs kernels: a driver opens devices, a device loads
// artifacts, an executable is launched. A new kind of device implements these three classes and
// adds its folder's name to the list in lib/Runtime/CMakeLists.txt; nothing else asks which kind
// a device is.
#ifndef KILN_RUNTIME_DEVICE_DEVICE_H
#define KILN_RUNTIME_DEVICE_DEVICE_H

#include "kiln-c/Device.h"
#include "kiln/Binary/Artifact.h"
#include "kiln/Runtime/Device/Plan.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <memory>
#include <string>
#include <vector>

namespace kiln {

class Device;

/// Where launches on a stream leave their messages; a device may know more of it.
struct StreamMessages {
  StreamMessages(void *memory, uint64_t bytes) : buffer(memory, bytes) {}
  virtual ~StreamMessages() = default;
  MessageBuffer buffer;
};

/// What goes with a launch besides its arguments.
struct LaunchContext {
  KilnStream stream = nullptr;
  /// Whether to begin no further program: asked now and then, by the thread that launches, where
  /// a launch ends before it returns. Null: never.
  llvm::function_ref<bool()> cancelled;
  const LaunchTraits *traits = nullptr; ///< null: those of the plan
  /// How large each of the plan's hidden memories is in this launch.
  llvm::ArrayRef<uint64_t> memoryBytes;
  /// What the kernel writes its messages to, if it has any: read once its programs have ended.
  StreamMessages *messages = nullptr;
};

/// A kernel loaded on a device.
class Executable : public llvm::ThreadSafeRefCountedBase<Executable> {
public:
  Executable(Device &device, const Artifact &artifact, LaunchPlan plan)
      : device(device), metadata(artifact.metadataText().str()), plan(std::move(plan)) {}
  virtual ~Executable() = default;

  /// The kernel's own grid; only if plan.hasGrid.
  virtual void computeGrid(const uint64_t *slots, int64_t grid[3]) = 0;

  /// Runs or queues grid[0] * grid[1] * grid[2] programs, at least one. Hidden slots are filled,
  /// and the device is able to do what the traits ask for.
  virtual llvm::Error launch(const uint64_t *slots, const int64_t grid[3],
                             const LaunchContext &context) = 0;

  /// Waits until the device is done with the code; false if it cannot tell, or if a graph holds the
  /// code. The code may go only if nobody launches it any more and this is true.
  virtual bool settle() { return true; }

  /// What the device's loader says of the code.
  virtual llvm::json::Object describe() const { return {}; }

  /// Checks the grid, fills the hidden slots, which are for all of its programs, and launches as
  /// many as the plan says, for which the hidden slots are if these stream. Zero or fewer programs
  /// along an axis launch nothing.
  llvm::Error run(uint64_t *slots, const int64_t grid[3], const LaunchContext &context);

  Device &device;
  const std::string metadata; ///< the artifact's; its code is the device's now
  const LaunchPlan plan;

protected:
  const LaunchTraits &traitsOf(const LaunchContext &context) const {
    return context.traits ? *context.traits : plan.traits;
  }

private:
  llvm::Error checkTraits(const int64_t grid[3], const LaunchTraits &traits) const;
  /// How many programs take the tiles along the grid's x.
  int64_t countPrograms(int64_t tiles, const LaunchTraits &traits) const;
  llvm::Error fillHidden(uint64_t *slots, int64_t programs, llvm::MutableArrayRef<uint64_t> sizes,
                         LaunchContext &context);
};

using ExecutablePtr = llvm::IntrusiveRefCntPtr<Executable>;

/// What DLPack calls a device's memory.
struct MemorySpace {
  int32_t type = 0, id = 0;
};

/// What launches a device can make beside plain ones.
struct LaunchAbilities {
  bool clusters = false, cooperative = false, overlap = false, priority = false;
};

class Device {
public:
  Device(std::string name, std::string target, std::string identity, MemorySpace memory)
      : name(std::move(name)), target(std::move(target)), identity(std::move(identity)),
        memory(memory) {}
  virtual ~Device() = default;

  virtual llvm::json::Object properties() const = 0;
  virtual std::string description() const = 0;

  /// Whether kernels here can reach memory of another space (pinned or managed, say).
  virtual bool reaches(MemorySpace other) const = 0;

  virtual llvm::Expected<ExecutablePtr> load(const Artifact &artifact) = 0;

  virtual llvm::Expected<void *> allocate(uint64_t size) = 0;
  virtual llvm::Error free(void *pointer) = 0;
  virtual llvm::Error copy(void *to, const void *from, uint64_t size, KilnCopyKind kind,
                           KilnStream stream) = 0;
  virtual llvm::Expected<KilnStream> createStream() = 0;
  virtual llvm::Error destroyStream(KilnStream stream) = 0;
  virtual llvm::Error synchronize(KilnStream stream) = 0;
  /// For so long at most. Where launches end before they return, there is nothing to wait for.
  virtual llvm::Error synchronizeFor(KilnStream stream, uint64_t /*milliseconds*/) {
    return synchronize(stream);
  }

  virtual llvm::Expected<bool> canAccessPeer(Device &peer);
  virtual llvm::Error enablePeerAccess(Device &peer);
  /// Makes a device anew that a kernel has taken down.
  virtual llvm::Error reset();

  /// Memory for a launch's hidden parameter, valid until that launch has run. That of a counter is
  /// zero, and the kernel leaves it so. `slot` tells apart several of one launch.
  virtual llvm::Expected<void *> hiddenMemory(unsigned slot, uint64_t size, bool isCounter,
                                              KilnStream stream) = 0;
  /// What launches on the stream write their messages to.
  virtual llvm::Expected<StreamMessages *> streamMessages(KilnStream stream) = 0;

  const std::string name;
  const std::string target;
  const std::string identity;
  const MemorySpace memory;
  LaunchAbilities abilities;
  /// What persistent grids count their programs by; 0 where nobody counts.
  int64_t cores = 0;
  /// Its place in the process's list of devices; stands for the device in launch keys.
  uint32_t number = 0;
};

class Driver {
public:
  virtual ~Driver() = default;
  /// The part of a device's name before the colon.
  virtual llvm::StringRef prefix() const = 0;
  /// `rest` is what follows the colon, empty without one.
  virtual llvm::Expected<std::unique_ptr<Device>> open(llvm::StringRef rest) = 0;
  /// The devices that there are, for the list; or why there are none.
  virtual llvm::Expected<std::vector<std::string>> names() = 0;
  /// The name of the device that has this memory, or the empty string.
  virtual std::string nameOfMemory(MemorySpace memory) const = 0;
};

//===- The process's devices ----------------------------------------------------------------===//

/// Every driver that was built in, the host's first.
llvm::ArrayRef<std::unique_ptr<Driver>> drivers();

/// Where the compiler is in the process, why it knows no target of a name, or the empty string:
/// asked by drivers of devices that are no more than a target's name. Until it is set, every name
/// is known.
using WhyNoTarget = std::string (*)(llvm::StringRef target);
void setKnownTargets(WhyNoTarget why);
std::string whyUnknownTarget(llvm::StringRef target);

/// Opens a device once; later calls give the same one.
llvm::Expected<Device *> openDevice(llvm::StringRef name);

/// The device that holds this memory, opened if need be. Type 0 is the host.
llvm::Expected<Device *> deviceOfMemory(MemorySpace memory);

/// "on '<device>'", or in DLPack's words where no driver knows this memory.
std::string spellMemory(MemorySpace memory);

/// By Device::number; null for a number that was never given.
Device *deviceByNumber(uint32_t number);

llvm::json::Object describeDevice(const Device &device);
llvm::json::Array describeDevices();

} // namespace kiln

#endif // KILN_RUNTIME_DEVICE_DEVICE_H
