// Messages of kernels on an accelerator.
//
// Behind each launch that may leave some, the driver is given a function to call: it reads them
// when the launch has ended, before the next one on the stream begins, whoever waits for it and
// however; in a graph it is a node. So the texts are known, and one buffer serves a stream. That
// function runs on a thread of the driver's and may not call the driver, hence two locks: `reading`
// is never held while the driver is called, `launching` never taken by that thread.
//
// A failed assertion is told to whoever waits for the device next, or launches on it.
#ifndef KILN_LIB_RUNTIME_DEVICE_DEVICEMESSAGES_H
#define KILN_LIB_RUNTIME_DEVICE_DEVICEMESSAGES_H

#include "kiln/Runtime/Device/Accelerator.h"
#include <atomic>
#include <deque>
#include <map>
#include <mutex>

namespace kiln {

class DeviceMessages {
public:
  DeviceMessages();
  ~DeviceMessages();

  /// A stream's, or a graph's: of capture 0 or the one that records the stream. The latter stay as
  /// long as the process, since the graph may.
  llvm::Expected<StreamMessages *> get(AcceleratorApi &api, KilnStream stream, uint64_t capture);
  /// Launches what writes messages, and has them read.
  llvm::Error launch(AcceleratorApi &api, StreamMessages &messages,
                     const std::shared_ptr<const MessageTable> &table, KilnStream stream,
                     llvm::function_ref<llvm::Error()> launch);

  bool hasFailed() const { return failed.load(std::memory_order_relaxed); }
  /// The first assertion that failed since the last time; success if none did.
  llvm::Error takeFailure();
  /// Reads what a launch left that ended its device, after which the driver calls nothing. The
  /// assertion that failed in it, or "".
  std::string takeLastWords();

  /// Whether the stream has any; it must have been waited for before they are released.
  bool has(KilnStream stream);
  llvm::Error release(AcceleratorApi &api, KilnStream stream);
  /// The driver's memory is gone.
  void forget();

private:
  struct Buffer;
  struct Reading;
  static void read(void *reading);

  std::mutex mutex;
  std::map<std::pair<KilnStream, uint64_t>, std::unique_ptr<Buffer>> buffers;
  std::vector<std::unique_ptr<Buffer>> past; ///< of devices that were made anew
  std::mutex failureMutex;
  std::string failure;
  std::atomic<bool> failed{false};
};

} // namespace kiln

#endif // KILN_LIB_RUNTIME_DEVICE_DEVICEMESSAGES_H
