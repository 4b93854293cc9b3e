// Memory that a thread keeps from launch to launch.
#ifndef KILN_LIB_RUNTIME_HOST_ARENA_H
#define KILN_LIB_RUNTIME_HOST_ARENA_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace kiln {

/// Grows and never shrinks; 64-byte aligned; contents are not kept when it grows.
class Arena {
public:
  Arena() = default;
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;
  ~Arena() { std::free(memory); }

  /// Null if the system has no more memory.
  void *get(uint64_t size) {
    if (size <= capacity)
      return memory ? memory : &empty;
    if (size > (uint64_t(1) << 62))
      return nullptr;
    uint64_t rounded = (size + size / 2 + 63) / 64 * 64;
    std::free(memory);
    memory = std::aligned_alloc(64, rounded);
    capacity = memory ? rounded : 0;
    return memory;
  }

private:
  void *memory = nullptr;
  uint64_t capacity = 0;
  alignas(64) char empty[64];
};

} // namespace kiln

#endif // KILN_LIB_RUNTIME_HOST_ARENA_H
