// A stand-in for AMD's runtime library, as its header declares it: two devices of gfx942, or what
// $KILN_FAKE_ARCH says, whose memory is the host's. A launch that the library would refuse is
// refused, and its error's description says why. It appends a line to the file $KILN_FAKE_LOG for
// each call that matters; $KILN_FAKE_INIT is what it says to a start. Streams whose number
// $KILN_FAKE_CAPTURE is are being captured; what $KILN_FAKE_FAIL names fails by $KILN_FAKE_RESULT;
// $KILN_FAKE_BUSY says that nothing ends.
#include "../Support/FakeMessages.h"
#include "../Support/LaunchRules.h"
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <hip/hip_runtime_api.h>

#define FAKE extern "C" __attribute__((visibility("default"))) hipError_t

namespace {
using namespace kiln::testing;
int fakeObject, current = 0;
/// What the last refusal was about.
std::string refusal;
const char *architecture() {
  const char *set = std::getenv("KILN_FAKE_ARCH");
  return set ? set : "gfx942";
}
/// Of CDNA3 and CDNA4. The library counts a grid in threads, of which an axis has 32 bits.
ChipLimits limits() {
  uint64_t shared = std::strcmp(architecture(), "gfx950") == 0 ? 160 * 1024 : 64 * 1024;
  return {shared, shared, shared, 2048, 304, {0x7fffffff, 65535, 65535}, 0xffffffff};
}
hipStreamCaptureMode captureMode = hipStreamCaptureModeGlobal;
template <typename Handle>
Handle handle() {
  return reinterpret_cast<Handle>(&fakeObject);
}

__attribute__((format(printf, 2, 3))) hipError_t call(const char *name,
                                                      const char *format = nullptr, ...) {
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
  return hipError_t(fail && result && std::strcmp(fail, name) == 0 ? std::atoi(result) : 0);
}
FakeQueue queue;
bool isCaptured(hipStream_t stream) {
  const char *captured = std::getenv("KILN_FAKE_CAPTURE");
  return captured && std::strtoull(captured, nullptr, 0) == reinterpret_cast<uintptr_t>(stream);
}
bool isRefused() {
  return std::getenv("KILN_FAKE_CAPTURE") && captureMode != hipStreamCaptureModeRelaxed;
}
} // namespace

FAKE hipInit(unsigned) {
  const char *result = std::getenv("KILN_FAKE_INIT");
  return result ? hipError_t(std::atoi(result)) : call("hipInit");
}
FAKE hipDriverGetVersion(int *version) {
  const char *set = std::getenv("KILN_FAKE_VERSION");
  *version = set ? std::atoi(set) : 60032830;
  return hipSuccess;
}
extern "C" __attribute__((visibility("default"))) const char *hipGetErrorName(hipError_t error) {
  return error == hipErrorOutOfMemory ? "hipErrorOutOfMemory" : "hipErrorFake";
}
extern "C" __attribute__((visibility("default"))) const char *hipGetErrorString(hipError_t) {
  return refusal.empty() ? "the fake said so" : refusal.c_str();
}
FAKE hipGetDeviceCount(int *count) {
  *count = 2;
  return hipSuccess;
}
/// Since 6.0, where the structure is another.
FAKE hipGetDevicePropertiesR0600(char *properties, int) {
  std::memset(properties, 0, 1472);
  std::strcpy(properties, "Fake Instinct");
  std::strcpy(properties + 1160, (architecture() + std::string(":sramecc+:xnack-")).c_str());
  return hipSuccess;
}
FAKE hipDeviceTotalMem(size_t *bytes, hipDevice_t) {
  *bytes = size_t(192) << 30;
  return hipSuccess;
}
FAKE hipGetDevice(int *device) {
  *device = current;
  return hipSuccess;
}
FAKE hipSetDevice(int device) {
  current = device;
  return call("hipSetDevice", "%d", device);
}
FAKE hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int) {
  *value = attribute == hipDeviceAttributeMultiprocessorCount
               ? 304
               : attribute == hipDeviceAttributeCooperativeLaunch;
  return hipSuccess;
}
FAKE hipDeviceCanAccessPeer(int *can, int device, int peer) {
  *can = device != peer;
  return hipSuccess;
}
FAKE hipDeviceEnablePeerAccess(int peer, unsigned) {
  return call("hipDeviceEnablePeerAccess", "%d from %d", peer, current);
}
FAKE hipModuleLoadData(hipModule_t *module, const void *image) {
  if (std::strncmp(static_cast<const char *>(image), "bad", 3) == 0)
    return hipErrorInvalidImage;
  if (isRefused())
    return hipErrorStreamCaptureUnsupported;
  // An object says itself how long it is: the table of sections, at 40, comes last.
  const char *bytes = static_cast<const char *>(image);
  auto *loaded = new LoadedCode;
  if (std::strncmp(bytes,
                   "\x7f"
                   "ELF",
                   4) != 0) {
    *loaded = readFakeCode(bytes);
  } else {
    uint64_t sections;
    uint16_t count;
    std::memcpy(&sections, bytes + 40, sizeof(sections));
    std::memcpy(&count, bytes + 60, sizeof(count));
    *loaded = readCodeObject(std::string(bytes, sections + count * 64));
  }
  *module = reinterpret_cast<hipModule_t>(loaded);
  return call("hipModuleLoadData");
}
FAKE hipModuleUnload(hipModule_t) { return call("hipModuleUnload"); } // it is asked of later
FAKE hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name) {
  *function = reinterpret_cast<hipFunction_t>(module);
  return call("hipModuleGetFunction", "%s", name);
}
FAKE hipFuncGetAttribute(int *value, hipFunction_attribute attribute, hipFunction_t function) {
  bool isShared = attribute == HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
  *value = isShared ? int(reinterpret_cast<LoadedCode *>(function)->staticShared) : 128;
  return hipSuccess;
}
FAKE hipModuleLaunchKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz,
                           unsigned bx, unsigned by, unsigned bz, unsigned shared, hipStream_t,
                           void **parameters, void **) {
  LaunchAsked asked{{gx, gy, gz}, {bx, by, bz}, shared, parameters};
  refusal = whatIsRefused(limits(), *reinterpret_cast<LoadedCode *>(function), asked);
  if (!refusal.empty())
    return hipErrorInvalidValue;
  fakeMessages(parameters);
  return call("hipModuleLaunchKernel", "%ux%ux%u of %ux%ux%u shared %u args %llu", gx, gy, gz, bx,
              by, bz, shared,
              static_cast<unsigned long long>(*static_cast<uint64_t *>(parameters[0])));
}
/// Since 5.3.
FAKE hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz,
                                      unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                      hipStream_t, void **parameters) {
  const LoadedCode &code = *reinterpret_cast<LoadedCode *>(function);
  LaunchAsked asked{{gx, gy, gz}, {bx, by, bz}, shared, parameters};
  refusal = whatIsRefused(limits(), code, asked);
  if (!refusal.empty())
    return hipErrorInvalidValue;
  if (!fitsAtOnce(limits(), code, asked))
    return hipErrorCooperativeLaunchTooLarge;
  return call("hipModuleLaunchCooperativeKernel", "%ux%ux%u of %ux%ux%u shared %u", gx, gy, gz, bx,
              by, bz, shared);
}
FAKE hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hipFunction_t function,
                                                        int threads, size_t shared) {
  const LoadedCode &code = *reinterpret_cast<LoadedCode *>(function);
  *blocks = int(residentBlocks(limits(), code, threads, shared));
  return hipSuccess;
}
FAKE hipMalloc(void **memory, size_t size) {
  if (size > (size_t(192) << 30))
    return hipErrorOutOfMemory;
  if (isRefused())
    return hipErrorStreamCaptureUnsupported;
  *memory = std::aligned_alloc(256, (size + 255) / 256 * 256);
  return call("hipMalloc", "%zu", size);
}
FAKE hipFree(void *memory) {
  std::free(memory);
  return call("hipFree");
}
FAKE hipHostMalloc(void **memory, size_t size, unsigned flags) {
  if (isRefused())
    return hipErrorStreamCaptureUnsupported;
  *memory = std::aligned_alloc(256, (size + 255) / 256 * 256);
  return call("hipHostMalloc", "%zu flags %u", size, flags);
}
FAKE hipHostFree(void *memory) {
  std::free(memory);
  return call("hipHostFree");
}
FAKE hipLaunchHostFunc(hipStream_t, hipHostFn_t function, void *argument) {
  hipError_t result = call("hipLaunchHostFunc");
  if (result == hipSuccess)
    queue.add(function, argument);
  return result;
}
FAKE hipMemcpyAsync(void *to, const void *from, size_t size, hipMemcpyKind kind, hipStream_t) {
  std::memcpy(to, from, size);
  return call("hipMemcpyAsync", "%zu kind %d", size, kind);
}
FAKE hipMemsetAsync(void *memory, int value, size_t size, hipStream_t) {
  std::memset(memory, value, size);
  return call("hipMemsetAsync", "%zu", size);
}
FAKE hipStreamCreateWithFlags(hipStream_t *stream, unsigned) {
  *stream = handle<hipStream_t>();
  return hipSuccess;
}
FAKE hipStreamDestroy(hipStream_t) { return hipSuccess; }
FAKE hipStreamSynchronize(hipStream_t stream) {
  return isCaptured(stream) ? hipErrorStreamCaptureUnsupported
                            : hipError_t(queue.end(call("hipStreamSynchronize")));
}
FAKE hipDeviceSynchronize() { return hipError_t(queue.end(call("hipDeviceSynchronize"))); }
FAKE hipStreamQuery(hipStream_t) {
  return std::getenv("KILN_FAKE_BUSY") ? hipErrorNotReady : hipError_t(queue.end(hipSuccess));
}
FAKE hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *status,
                             unsigned long long *number) {
  *status = isCaptured(stream) ? hipStreamCaptureStatusActive : hipStreamCaptureStatusNone;
  if (isCaptured(stream))
    *number = 5;
  return hipSuccess;
}
FAKE hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode) {
  std::swap(captureMode, *mode);
  return hipSuccess;
}
