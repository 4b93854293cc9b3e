// How threads on a device write messages for the host: an ABI between code and runtime.
//
// The memory is the host's, and the device reaches it. A thread claims a record by adding one to
// `claimed`; if there is none left it adds one to `dropped` and goes on. A record says which of the
// artifact's "messages" it is, of which program and element; the host has all texts and types.
#ifndef KILN_RUNTIME_DEVICE_MESSAGERECORD_H
#define KILN_RUNTIME_DEVICE_MESSAGERECORD_H

#include <cstddef>
#include <cstdint>

namespace kiln {

struct MessageHeader {
  uint64_t claimed;
  uint64_t capacity; ///< in records
  uint64_t dropped;
  uint64_t unused[5];
};

struct MessageRecord {
  uint32_t message; ///< its place in the list, from 1 on; 0: nobody has written this record
  uint32_t program[3];
  uint32_t element; ///< its place in the tensor, last dimension fastest
  uint32_t unused;
  uint64_t value; ///< a float as f64, an integer extended by its sign or by zeros
};

static_assert(sizeof(MessageHeader) == 64 && sizeof(MessageRecord) == 32 &&
                  offsetof(MessageRecord, element) == 16 && offsetof(MessageRecord, value) == 24,
              "code that was compiled before relies on these");

} // namespace kiln

#endif // KILN_RUNTIME_DEVICE_MESSAGERECORD_H
