// The tensor maps of one executable: encoded when a launch first needs one, then kept.
#ifndef KILN_LIB_RUNTIME_DEVICE_TENSORMAPS_H
#define KILN_LIB_RUNTIME_DEVICE_TENSORMAPS_H

#include "kiln/Runtime/Device/Accelerator.h"
#include <memory>
#include <mutex>

namespace kiln {

/// One launch's maps, in its own memory: the driver copies them when it queues the kernel.
struct alignas(64) EncodedMap {
  char bytes[AcceleratorApi::tensorMapBytes];
};

class TensorMaps {
public:
  /// Writes plan.maps[number] as the slots have it. A map is known by address, extents and
  /// strides; box, swizzle and type are the executable's. The newest few of each are kept.
  llvm::Error get(AcceleratorApi &api, const LaunchPlan &plan, unsigned number,
                  const uint64_t *slots, EncodedMap &out);

private:
  static constexpr size_t kept = 16;
  struct Entry {
    std::vector<int64_t> key; ///< address, extents, strides
    EncodedMap map;
  };
  struct Ring {
    std::vector<Entry> entries;
    size_t next = 0;
  };
  std::mutex mutex;
  std::vector<Ring> rings; ///< one a map of the plan
};

} // namespace kiln

#endif // KILN_LIB_RUNTIME_DEVICE_TENSORMAPS_H
