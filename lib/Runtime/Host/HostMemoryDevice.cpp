// Memory of devices that are the host.
#include "kiln/Runtime/Host/HostMemoryDevice.h"
#include "Arena.h"
#include "kiln/Runtime/Error.h"
#include <cstdlib>
#include <cstring>
#include <optional>

using namespace kiln;
using namespace llvm;

Expected<void *> HostMemoryDevice::allocate(uint64_t size) {
  if (size == 0)
    return nullptr;
  uint64_t rounded = (size + 255) / 256 * 256;
  void *memory = rounded < size ? nullptr : std::aligned_alloc(256, rounded);
  if (!memory)
    return makeError(KILN_ERROR_OUT_OF_MEMORY,
                     "cannot allocate " + Twine(size) + " bytes on '" + name + "'");
  return memory;
}

Error HostMemoryDevice::free(void *memory) {
  std::free(memory);
  return Error::success();
}

Error HostMemoryDevice::copy(void *to, const void *from, uint64_t size, KilnCopyKind, KilnStream) {
  if (size)
    std::memmove(to, from, size);
  return Error::success();
}

Expected<void *> HostMemoryDevice::hiddenMemory(unsigned slot, uint64_t size, bool isCounter,
                                                KilnStream) {
  static thread_local std::vector<std::unique_ptr<Arena>> arenas;
  while (arenas.size() <= slot)
    arenas.push_back(std::make_unique<Arena>());
  void *memory = arenas[slot]->get(size);
  if (!memory)
    return makeError(KILN_ERROR_OUT_OF_MEMORY,
                     "cannot allocate a workspace of " + Twine(size) + " bytes on '" + name + "'");
  // A launch may end at a failed assertion, with counters that nobody has reset.
  if (isCounter)
    std::memset(memory, 0, size);
  return memory;
}

Expected<StreamMessages *> HostMemoryDevice::streamMessages(KilnStream) {
  static thread_local Arena arena;
  static thread_local std::optional<StreamMessages> messages;
  if (!messages) {
    void *memory = arena.get(MessageBuffer::defaultBytes);
    if (!memory)
      return makeError(KILN_ERROR_OUT_OF_MEMORY,
                       "cannot allocate a buffer for messages on '" + name + "'");
    messages.emplace(memory, MessageBuffer::defaultBytes);
  }
  return &*messages;
}
