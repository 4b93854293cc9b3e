// What devices share whose memory is the host's own and whose launches end before they return.
#ifndef KILN_RUNTIME_HOST_HOSTMEMORYDEVICE_H
#define KILN_RUNTIME_HOST_HOSTMEMORYDEVICE_H

#include "kiln/Runtime/Device/Device.h"

namespace kiln {

class HostMemoryDevice : public Device {
public:
  using Device::Device;

  llvm::Expected<void *> allocate(uint64_t size) override;
  llvm::Error free(void *memory) override;
  llvm::Error copy(void *to, const void *from, uint64_t size, KilnCopyKind kind,
                   KilnStream stream) override;
  llvm::Expected<KilnStream> createStream() override { return nullptr; }
  llvm::Error destroyStream(KilnStream) override { return llvm::Error::success(); }
  llvm::Error synchronize(KilnStream) override { return llvm::Error::success(); }
  /// The calling thread's own memory serves each of its launches.
  llvm::Expected<void *> hiddenMemory(unsigned slot, uint64_t size, bool isCounter,
                                      KilnStream stream) override;
  llvm::Expected<StreamMessages *> streamMessages(KilnStream stream) override;
};

} // namespace kiln

#endif // KILN_RUNTIME_HOST_HOSTMEMORYDEVICE_H
