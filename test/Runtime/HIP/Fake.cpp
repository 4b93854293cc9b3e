// A stand-in for AMD's runtime library: two devices of gfx942 whose memory is the host's. It
// appends a line to the file $KILN_FAKE_LOG for each call that matters; $KILN_FAKE_INIT is what it
// says to a start. Streams whose number $KILN_FAKE_CAPTURE is are being captured; what
// $KILN_FAKE_FAIL names fails by $KILN_FAKE_RESULT; $KILN_FAKE_BUSY says that nothing ends.
#include "../Support/FakeMessages.h"
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define FAKE extern "C" __attribute__((visibility("default"))) int

namespace {
int fakeModule, fakeFunction, current = 0, captureMode = 0;
constexpr int outOfMemory = 2, invalidImage = 200, captureUnsupported = 900, notReady = 600;

__attribute__((format(printf, 2, 3))) int call(const char *name, const char *format = nullptr,
                                               ...) {
  if (const char *path = std::getenv("KILN_FAKE_LOG")) {
    std::FILE *log = std::fopen(path, "a");
    std::fprintf(log, "%s", name);
    if (format) {
      va_list values;
      va_start(values, format);
      std::fputc(' ', log);
      std::vfprintf(log, format, values);
      va_end(values);
    }
    std::fputc('\n', log);
    std::fclose(log);
  }
  const char *fail = std::getenv("KILN_FAKE_FAIL"), *result = std::getenv("KILN_FAKE_RESULT");
  return fail && result && std::strcmp(fail, name) == 0 ? std::atoi(result) : 0;
}
kiln::testing::FakeQueue queue;
bool isCaptured(void *stream) {
  const char *captured = std::getenv("KILN_FAKE_CAPTURE");
  return captured && std::strtoull(captured, nullptr, 0) == reinterpret_cast<uintptr_t>(stream);
}
bool isRefused() { return std::getenv("KILN_FAKE_CAPTURE") && captureMode != 2; }
} // namespace

FAKE hipInit(unsigned) {
  const char *result = std::getenv("KILN_FAKE_INIT");
  return result ? std::atoi(result) : call("hipInit");
}
FAKE hipDriverGetVersion(int *version) {
  const char *set = std::getenv("KILN_FAKE_VERSION");
  *version = set ? std::atoi(set) : 60032830;
  return 0;
}
extern "C" __attribute__((visibility("default"))) const char *hipGetErrorName(int error) {
  return error == outOfMemory ? "hipErrorOutOfMemory" : "hipErrorFake";
}
extern "C" __attribute__((visibility("default"))) const char *hipGetErrorString(int) {
  return "the fake said so";
}
FAKE hipGetDeviceCount(int *count) {
  *count = 2;
  return 0;
}
FAKE hipGetDevicePropertiesR0600(char *properties, int) {
  std::memset(properties, 0, 1472);
  std::strcpy(properties, "Fake Instinct");
  std::strcpy(properties + 1160, "gfx942:sramecc+:xnack-");
  return 0;
}
FAKE hipDeviceTotalMem(size_t *bytes, int) {
  *bytes = size_t(192) << 30;
  return 0;
}
FAKE hipGetDevice(int *device) {
  *device = current;
  return 0;
}
FAKE hipSetDevice(int device) {
  current = device;
  return call("hipSetDevice", "%d", device);
}
FAKE hipDeviceGetAttribute(int *value, int attribute, int) {
  *value = attribute == 63 ? 304 : attribute == 10;
  return 0;
}
FAKE hipDeviceCanAccessPeer(int *can, int device, int peer) {
  *can = device != peer;
  return 0;
}
FAKE hipDeviceEnablePeerAccess(int peer, unsigned) {
  return call("hipDeviceEnablePeerAccess", "%d from %d", peer, current);
}
FAKE hipModuleLoadData(void **module, const void *image) {
  if (std::strncmp(static_cast<const char *>(image), "bad", 3) == 0)
    return invalidImage;
  if (isRefused())
    return captureUnsupported;
  *module = &fakeModule;
  return call("hipModuleLoadData");
}
FAKE hipModuleUnload(void *) { return call("hipModuleUnload"); }
FAKE hipModuleGetFunction(void **function, void *, const char *name) {
  *function = &fakeFunction;
  return call("hipModuleGetFunction", "%s", name);
}
FAKE hipFuncGetAttribute(int *value, int, void *) {
  *value = 128;
  return 0;
}
FAKE hipModuleLaunchKernel(void *, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                           unsigned bz, unsigned shared, void *, void **parameters, void **) {
  kiln::testing::fakeMessages(parameters);
  return call("hipModuleLaunchKernel", "%ux%ux%u of %ux%ux%u shared %u args %llu", gx, gy, gz, bx,
              by, bz, shared,
              static_cast<unsigned long long>(*static_cast<uint64_t *>(parameters[0])));
}
FAKE hipModuleLaunchCooperativeKernel(void *, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                      unsigned by, unsigned bz, unsigned shared, void *, void **) {
  return call("hipModuleLaunchCooperativeKernel", "%ux%ux%u of %ux%ux%u shared %u", gx, gy, gz, bx,
              by, bz, shared);
}
FAKE hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *, int, size_t) {
  *blocks = 2;
  return 0;
}
FAKE hipMalloc(void **memory, size_t size) {
  if (size > (size_t(192) << 30))
    return outOfMemory;
  if (isRefused())
    return captureUnsupported;
  *memory = std::aligned_alloc(256, (size + 255) / 256 * 256);
  return call("hipMalloc", "%zu", size);
}
FAKE hipFree(void *memory) {
  std::free(memory);
  return call("hipFree");
}
FAKE hipHostMalloc(void **memory, size_t size, unsigned flags) {
  if (isRefused())
    return captureUnsupported;
  *memory = std::aligned_alloc(256, (size + 255) / 256 * 256);
  return call("hipHostMalloc", "%zu flags %u", size, flags);
}
FAKE hipHostFree(void *memory) {
  std::free(memory);
  return call("hipHostFree");
}
FAKE hipLaunchHostFunc(void *, void (*function)(void *), void *argument) {
  int result = call("hipLaunchHostFunc");
  if (result == 0)
    queue.add(function, argument);
  return result;
}
FAKE hipMemcpyAsync(void *to, const void *from, size_t size, int kind, void *) {
  std::memcpy(to, from, size);
  return call("hipMemcpyAsync", "%zu kind %d", size, kind);
}
FAKE hipMemsetAsync(void *memory, int value, size_t size, void *) {
  std::memset(memory, value, size);
  return call("hipMemsetAsync", "%zu", size);
}
FAKE hipStreamCreateWithFlags(void **stream, unsigned) {
  *stream = &fakeFunction;
  return 0;
}
FAKE hipStreamDestroy(void *) { return 0; }
FAKE hipStreamSynchronize(void *stream) {
  return isCaptured(stream) ? captureUnsupported : queue.end(call("hipStreamSynchronize"));
}
FAKE hipStreamQuery(void *) { return std::getenv("KILN_FAKE_BUSY") ? notReady : queue.end(0); }
FAKE hipStreamGetCaptureInfo(void *stream, int *status, uint64_t *number) {
  *status = isCaptured(stream);
  if (*status)
    *number = 5;
  return 0;
}
FAKE hipThreadExchangeStreamCaptureMode(int *mode) {
  int before = captureMode;
  captureMode = *mode;
  *mode = before;
  return 0;
}
