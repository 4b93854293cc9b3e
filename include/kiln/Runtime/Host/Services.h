// What the host gives to a running program: printing and failed asserts.
//
// Generated code gets a pointer to a HostServices as its last argument and calls through the
// table at its start, so the members' order is an ABI: append only. Each thread has its own, so
// that a line is collected without locks and written whole.
#ifndef KILN_RUNTIME_HOST_SERVICES_H
#define KILN_RUNTIME_HOST_SERVICES_H

#include <cstdint>

namespace kiln {

struct HostServices {
  /// Append to the line that this thread is collecting.
  void (*printText)(HostServices *services, const char *text, int64_t size); // offset 0
  void (*printSigned)(HostServices *services, int64_t value);                // offset 8
  void (*printUnsigned)(HostServices *services, uint64_t value);             // offset 16
  void (*printReal)(HostServices *services, double value);                   // offset 24
  /// Ends the line and writes it to standard output in one piece.
  void (*printLine)(HostServices *services); // offset 32
  /// Reports a failed assert of program (x, y, z). The first report of a launch becomes its
  /// error; the program then returns and its entry function returns non-zero.
  void (*reportAssert)(HostServices *services, const char *message, int64_t messageSize,
                       const char *file, int64_t fileSize, int64_t line, int64_t column, int64_t x,
                       int64_t y, int64_t z); // offset 40
};

/// The two functions of a host object. `slots` has one 8-byte slot a parameter.
using HostEntry = int32_t (*)(const uint64_t *slots, int64_t first, int64_t last,
                              const int64_t *grid, void *scratch, HostServices *services);
using HostGrid = void (*)(const uint64_t *slots, int64_t *grid);

} // namespace kiln

#endif // KILN_RUNTIME_HOST_SERVICES_H
