// A stand-in for NVIDIA's driver library: $KILN_FAKE_DEVICES devices (two without it) of compute
// capability 9.0 whose memory is the host's. A launch that the driver would refuse is refused, and
// its error's description says why. It appends a line to the file $KILN_FAKE_LOG for each
// call that matters and fails the call that $KILN_FAKE_FAIL names, by $KILN_FAKE_RESULT. Streams
// whose number $KILN_FAKE_CAPTURE is are being captured; $KILN_FAKE_BUSY says that nothing ends,
// $KILN_FAKE_SHARED that another library has the contexts too.
#include "../Support/FakeMessages.h"
#include "../Support/LaunchRules.h"
#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define FAKE extern "C" __attribute__((visibility("default"))) int

namespace {
using namespace kiln::testing;
int fakeContexts[8], owners[8], fakeStream, captureMode = 0;
/// What the last refusal was about.
std::string refusal;
/// Of sm_90; a block takes a kilobyte of its multiprocessor's 228 for the system.
constexpr ChipLimits limits{
    232448, 48 * 1024, 232448, 2048, 100, {0x7fffffff, 65535, 65535}, uint64_t(1) << 42};
void *current = nullptr;
constexpr int outOfMemory = 2, invalidValue = 1, invalidImage = 200, notFound = 500;

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
  const char *fail = std::getenv("KILN_FAKE_FAIL");
  const char *result = std::getenv("KILN_FAKE_RESULT");
  return !fail || std::strcmp(fail, name) != 0 ? 0 : result ? std::atoi(result) : invalidValue;
}
int deviceOf(void *context) { return int(static_cast<int *>(context) - fakeContexts); }
FakeQueue queue;
bool isCaptured(void *stream) {
  const char *captured = std::getenv("KILN_FAKE_CAPTURE");
  return captured && std::strtoull(captured, nullptr, 0) == reinterpret_cast<uintptr_t>(stream);
}
/// Work that no graph can hold is refused while a stream is captured, unless the thread says so.
bool isRefused() { return std::getenv("KILN_FAKE_CAPTURE") && captureMode != 2; }
constexpr int captureUnsupported = 900, notReady = 600, alreadyEnabled = 704, tooManyAtOnce = 720;
} // namespace

FAKE cuInit(unsigned) { return call("cuInit"); }
FAKE cuDriverGetVersion(int *version) {
  const char *set = std::getenv("KILN_FAKE_VERSION");
  *version = set ? std::atoi(set) : 12040;
  return 0;
}
FAKE cuGetErrorName(int error, const char **name) {
  *name = error == outOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == 222       ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
          : error == 700       ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                               : "CUDA_ERROR_FAKE";
  return 0;
}
FAKE cuGetErrorString(int, const char **text) {
  *text = refusal.empty() ? "the fake said so" : refusal.c_str();
  return 0;
}
FAKE cuDeviceGetCount(int *count) {
  const char *set = std::getenv("KILN_FAKE_DEVICES");
  *count = set ? std::atoi(set) : 2;
  return 0;
}
FAKE cuDeviceGet(int *device, int number) {
  *device = number;
  return 0;
}
FAKE cuDeviceGetName(char *name, int size, int) {
  std::snprintf(name, size, "Fake");
  return 0;
}
FAKE cuDeviceTotalMem_v2(size_t *bytes, int) {
  *bytes = size_t(80) << 30;
  return 0;
}
FAKE cuDeviceGetAttribute(int *value, int attribute, int) {
  *value = attribute == 75                       ? 9
           : attribute == 76                     ? 0
           : attribute == 97                     ? 232448
           : attribute == 5                      ? 0x7fffffff
           : attribute <= 7                      ? 65535
           : attribute == 95 || attribute == 120 ? 1
                                                 : 100;
  return 0;
}
FAKE cuDevicePrimaryCtxRetain(void **context, int device) {
  ++owners[device];
  *context = &fakeContexts[device];
  int result = call("cuDevicePrimaryCtxRetain", "%d", device);
  owners[device] -= result != 0;
  return result;
}
FAKE cuDevicePrimaryCtxRelease_v2(int device) {
  --owners[device];
  return call("cuDevicePrimaryCtxRelease", "%d", device);
}
FAKE cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
  *flags = 0;
  *active = owners[device] > 0 || std::getenv("KILN_FAKE_SHARED");
  return 0;
}
FAKE cuDeviceCanAccessPeer(int *can, int device, int peer) {
  *can = device != peer && peer < 2;
  return 0;
}
FAKE cuCtxEnablePeerAccess(void *context, unsigned) {
  static bool enabled[8];
  int device = deviceOf(context);
  int result = call("cuCtxEnablePeerAccess", "%d", device);
  if (enabled[device])
    return alreadyEnabled;
  enabled[device] = true;
  return result;
}
FAKE cuCtxGetCurrent(void **context) {
  *context = current;
  return 0;
}
FAKE cuCtxPushCurrent_v2(void *context) {
  current = context;
  return call("cuCtxPushCurrent", "%d", deviceOf(context));
}
FAKE cuCtxPopCurrent_v2(void **context) {
  *context = current;
  current = nullptr;
  return call("cuCtxPopCurrent");
}
FAKE cuModuleLoadDataEx(void **module, const void *image, unsigned numOptions, int *options,
                        void **values) {
  const char *text = static_cast<const char *>(image);
  if (std::strncmp(text, "bad", 3) == 0) {
    for (unsigned i = 0; i < numOptions; ++i)
      if (options[i] == 5)
        std::strcpy(static_cast<char *>(values[i]), "ptxas: line 1: what is this\n");
    return invalidImage;
  }
  if (isRefused())
    return captureUnsupported;
  auto *loaded = new LoadedCode; // it is asked of after it is unloaded, too
  if (std::strncmp(text,
                   "\x7f"
                   "ELF",
                   4) != 0)
    *loaded = std::strstr(text, ".version") ? readPTX(text) : readFakeCode(text);
  *module = loaded;
  return call("cuModuleLoadDataEx", "%s", text);
}
FAKE cuModuleUnload(void *) { return call("cuModuleUnload"); }
FAKE cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = module;
  return std::strcmp(name, "absent") == 0 ? notFound : call("cuModuleGetFunction", "%s", name);
}
FAKE cuFuncGetAttribute(int *value, int attribute, void *function) {
  *value = attribute == 4   ? 168
           : attribute == 3 ? 8184
           : attribute == 1 ? int(static_cast<LoadedCode *>(function)->staticShared)
                            : 0;
  return 0;
}
FAKE cuFuncSetAttribute(void *function, int attribute, int value) {
  auto &code = *static_cast<LoadedCode *>(function);
  if (attribute == 8 && (value < 0 || code.staticShared + value > limits.shared))
    return invalidValue;
  if (attribute == 8)
    code.dynamicShared = value;
  if (attribute == 14)
    code.hasLargeClusters = value != 0;
  return call("cuFuncSetAttribute", "%d=%d", attribute, value);
}
// A map is the text of what it was made of.
FAKE cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address,
                            const uint64_t *extents, const uint64_t *strides, const uint32_t *box,
                            const uint32_t *, int, int swizzle, int, int padding) {
  char *text = static_cast<char *>(map);
  std::memset(text, 0, 128);
  int used = std::snprintf(text, 128, "type %d at %p", type, address);
  for (uint32_t i = 0; i < rank; ++i)
    used += std::snprintf(text + used, 128 - used, " %llu/%u by %llu",
                          static_cast<unsigned long long>(extents[i]), box[i],
                          i ? static_cast<unsigned long long>(strides[i - 1]) : 0ull);
  std::snprintf(text + used, 128 - used, " swizzle %d padding %d", swizzle, padding);
  return call("cuTensorMapEncodeTiled", "aligned %d",
              int(reinterpret_cast<uintptr_t>(map) % 64 == 0));
}
FAKE cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                    unsigned bz, unsigned shared, void *stream, void **parameters, void **) {
  LaunchAsked asked{{gx, gy, gz}, {bx, by, bz}, shared, parameters};
  refusal = whatIsRefused(limits, *static_cast<LoadedCode *>(function), asked);
  if (!refusal.empty())
    return invalidValue;
  fakeMessages(parameters);
  if (const char *number = std::getenv("KILN_FAKE_MAP")) {
    const void *map = parameters[std::atoi(number)];
    call("map", "%s aligned %d", static_cast<const char *>(map),
         int(reinterpret_cast<uintptr_t>(map) % 64 == 0));
  }
  // The first two parameters: an address and a number.
  return call("cuLaunchKernel", "%ux%ux%u of %ux%ux%u shared %u stream %p args %llu %llu", gx, gy,
              gz, bx, by, bz, shared, stream,
              static_cast<unsigned long long>(*static_cast<uint64_t *>(parameters[0])),
              static_cast<unsigned long long>(*static_cast<uint64_t *>(parameters[1])));
}
struct Attribute {
  int id;
  char pad[4];
  unsigned value[16];
};
struct Config {
  unsigned grid[3], block[3], shared;
  void *stream;
  Attribute *attributes;
  unsigned count;
};
FAKE cuLaunchKernelEx(const Config *config, void *function, void **parameters, void **) {
  const LoadedCode &code = *static_cast<LoadedCode *>(function);
  const unsigned *grid = config->grid, *block = config->block;
  LaunchAsked asked{
      {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, config->shared, parameters};
  for (unsigned i = 0; i < config->count; ++i) {
    const Attribute &attribute = config->attributes[i];
    if (attribute.id == 2)
      asked.isCooperative = attribute.value[0] != 0;
    if (attribute.id == 4)
      std::copy_n(attribute.value, 3, asked.cluster);
  }
  refusal = whatIsRefused(limits, code, asked);
  if (!refusal.empty())
    return invalidValue;
  if (asked.isCooperative && !fitsAtOnce(limits, code, asked))
    return tooManyAtOnce;
  char text[256] = {};
  int used = 0;
  for (unsigned i = 0; i < config->count; ++i) {
    const Attribute &attribute = config->attributes[i];
    used +=
        std::snprintf(text + used, sizeof(text) - used, " attribute %d: %dx%dx%d", attribute.id,
                      int(attribute.value[0]), int(attribute.value[1]), int(attribute.value[2]));
  }
  return call("cuLaunchKernelEx", "%ux%ux%u of %u%s", config->grid[0], config->grid[1],
              config->grid[2], config->block[0], text);
}
FAKE cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads,
                                                 size_t shared) {
  *blocks = int(residentBlocks(limits, *static_cast<LoadedCode *>(function), threads, shared));
  return 0;
}
FAKE cuMemAlloc_v2(uint64_t *memory, size_t size) {
  if (size > (size_t(80) << 30))
    return outOfMemory;
  if (isRefused())
    return captureUnsupported;
  *memory = reinterpret_cast<uint64_t>(std::aligned_alloc(256, (size + 255) / 256 * 256));
  return call("cuMemAlloc", "%zu", size);
}
FAKE cuMemFree_v2(uint64_t memory) {
  std::free(reinterpret_cast<void *>(memory));
  return call("cuMemFree");
}
#ifndef KILN_FAKE_OLD
FAKE cuMemHostAlloc(void **memory, size_t size, unsigned flags) {
  if (isRefused())
    return captureUnsupported;
  *memory = std::aligned_alloc(256, (size + 255) / 256 * 256);
  return call("cuMemHostAlloc", "%zu flags %u", size, flags);
}
FAKE cuMemFreeHost(void *memory) {
  std::free(memory);
  return call("cuMemFreeHost");
}
FAKE cuLaunchHostFunc(void *, void (*function)(void *), void *argument) {
  int result = call("cuLaunchHostFunc");
  if (result == 0)
    queue.add(function, argument);
  return result;
}
#endif
FAKE cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *) {
  std::memcpy(reinterpret_cast<void *>(to), from, size);
  return call("cuMemcpyHtoD", "%zu", size);
}
FAKE cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *) {
  std::memcpy(to, reinterpret_cast<void *>(from), size);
  return call("cuMemcpyDtoH", "%zu", size);
}
FAKE cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *) {
  std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), size);
  return call("cuMemcpyDtoD", "%zu", size);
}
FAKE cuMemsetD8Async(uint64_t memory, unsigned char value, size_t size, void *) {
  std::memset(reinterpret_cast<void *>(memory), value, size);
  return call("cuMemsetD8", "%zu", size);
}
FAKE cuStreamCreate(void **stream, unsigned) {
  *stream = &fakeStream;
  return call("cuStreamCreate");
}
FAKE cuStreamDestroy_v2(void *) { return call("cuStreamDestroy"); }
FAKE cuStreamSynchronize(void *stream) {
  return isCaptured(stream) ? captureUnsupported : queue.end(call("cuStreamSynchronize"));
}
FAKE cuCtxSynchronize() { return queue.end(call("cuCtxSynchronize")); }
FAKE cuStreamQuery(void *) {
  int result = call("cuStreamQuery");
  return result == 0 && std::getenv("KILN_FAKE_BUSY") ? notReady : queue.end(result);
}
FAKE cuStreamGetCaptureInfo(void *stream, int *status, uint64_t *number) {
  *status = isCaptured(stream);
  if (*status)
    *number = 77;
  return call("cuStreamGetCaptureInfo");
}
FAKE cuThreadExchangeStreamCaptureMode(int *mode) {
  int before = captureMode;
  captureMode = *mode;
  *mode = before;
  return 0;
}
