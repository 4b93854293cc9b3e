// Having the driver read what kernels on an accelerator tell.
#include "DeviceMessages.h"
#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace llvm;

struct DeviceMessages::Buffer : StreamMessages {
  Buffer(DeviceMessages &owner, void *memory, bool isGraph)
      : StreamMessages(memory, MessageBuffer::defaultBytes), owner(owner), isGraph(isGraph) {}

  /// What launches with this table left; what failed in it, or "".
  std::string read(const MessageTable &table) {
    Messages messages = buffer.take(table);
    writeMessages(table, messages);
    return messages.failure.empty() ? "" : "kernel '" + table.kernel + "': " + messages.failure;
  }

  DeviceMessages &owner;
  const bool isGraph;
  std::mutex launching, reading;
  std::deque<std::shared_ptr<const MessageTable>> queued; ///< launches that were not read yet
};

/// What the driver's call is about. A graph calls it as often as it runs.
struct DeviceMessages::Reading {
  Buffer &buffer;
  std::shared_ptr<const MessageTable> table;
};

DeviceMessages::DeviceMessages() = default;
DeviceMessages::~DeviceMessages() = default;

void DeviceMessages::read(void *given) {
  auto *reading = static_cast<Reading *>(given);
  Buffer &buffer = reading->buffer;
  std::string failure;
  {
    std::lock_guard<std::mutex> lock(buffer.reading);
    failure = buffer.read(*reading->table);
    if (!buffer.isGraph && !buffer.queued.empty())
      buffer.queued.pop_front();
  }
  DeviceMessages &owner = buffer.owner;
  if (!buffer.isGraph)
    delete reading;
  if (failure.empty())
    return;
  std::lock_guard<std::mutex> lock(owner.failureMutex);
  if (owner.failure.empty())
    owner.failure = std::move(failure);
  owner.failed.store(true);
}

Expected<StreamMessages *> DeviceMessages::get(AcceleratorApi &api, KilnStream stream,
                                               uint64_t capture) {
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<Buffer> &buffer = buffers[{stream, capture}];
  if (!buffer) {
    Expected<void *> memory = api.allocateOnHost(MessageBuffer::defaultBytes);
    if (!memory)
      return memory.takeError();
    buffer = std::make_unique<Buffer>(*this, *memory, capture != 0);
  }
  return buffer.get();
}

Error DeviceMessages::launch(AcceleratorApi &api, StreamMessages &messages,
                             const std::shared_ptr<const MessageTable> &table, KilnStream stream,
                             function_ref<Error()> launch) {
  auto &buffer = static_cast<Buffer &>(messages);
  // No other launch comes between this one and its reading.
  std::lock_guard<std::mutex> launching(buffer.launching);
  if (Error error = launch())
    return error;
  auto reading = std::make_unique<Reading>(Reading{buffer, table});
  if (!buffer.isGraph) {
    std::lock_guard<std::mutex> lock(buffer.reading);
    buffer.queued.push_back(table);
  }
  if (Error error = api.callAfter(stream, read, reading.get())) {
    std::lock_guard<std::mutex> lock(buffer.reading);
    if (!buffer.isGraph && !buffer.queued.empty())
      buffer.queued.pop_back();
    return error;
  }
  (void)reading.release(); // `read` frees it
  return Error::success();
}

Error DeviceMessages::takeFailure() {
  if (LLVM_LIKELY(!hasFailed()))
    return Error::success();
  std::lock_guard<std::mutex> lock(failureMutex);
  failed.store(false);
  std::string text = std::move(failure);
  failure.clear();
  return text.empty() ? Error::success() : makeError(KILN_ERROR_ASSERT, text);
}

std::string DeviceMessages::takeLastWords() {
  std::vector<std::string> words;
  {
    std::lock_guard<std::mutex> lock(failureMutex);
    if (!failure.empty())
      words.push_back(std::move(failure));
    failure.clear();
    failed.store(false);
  }
  std::lock_guard<std::mutex> lock(mutex);
  for (auto &[stream, buffer] : buffers) {
    std::lock_guard<std::mutex> reading(buffer->reading);
    if (buffer->queued.empty())
      continue;
    std::string failure = buffer->read(*buffer->queued.front());
    if (!failure.empty())
      words.push_back(std::move(failure));
    buffer->queued.clear();
  }
  return join(words, "; ");
}

bool DeviceMessages::has(KilnStream stream) {
  std::lock_guard<std::mutex> lock(mutex);
  return buffers.count({stream, 0}) != 0;
}

Error DeviceMessages::release(AcceleratorApi &api, KilnStream stream) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = buffers.find({stream, 0});
  if (found == buffers.end())
    return Error::success();
  void *memory = found->second->buffer.getMemory();
  buffers.erase(found);
  return api.freeOnHost(memory);
}

void DeviceMessages::forget() {
  std::lock_guard<std::mutex> lock(mutex);
  for (auto &[stream, buffer] : buffers)
    past.push_back(std::move(buffer));
  buffers.clear();
}
