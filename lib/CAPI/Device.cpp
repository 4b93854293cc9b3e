// kiln-c/Device.h.
#include "Objects.h"

#ifdef KILN_HAS_COMPILER
#include "kiln/Pipeline/Compile.h"
#endif

using namespace kiln;
using namespace kiln::capi;
using namespace llvm;

//===- Devices ------------------------------------------------------------------------------===//

KilnError *kilnDevicesDescribe(KilnBuffer **json) {
  return json ? give(describeDevices(), json) : reportNull("kilnDevicesDescribe", "json");
}

static KilnError *give(Expected<Device *> device, KilnDevice **out) {
  if (!device)
    return report(device.takeError());
  *out = wrap(*device);
  return nullptr;
}

KilnError *kilnDeviceOpen(const char *name, KilnDevice **out) {
  if (!name || !out)
    return reportNull("kilnDeviceOpen", "name and out");
#ifdef KILN_HAS_COMPILER
  setKnownTargets(whyUnknown);
#endif
  return ::give(openDevice(name), out);
}

KilnError *kilnDeviceOfMemory(int32_t device_type, int32_t device_id, KilnDevice **out) {
  if (!out)
    return reportNull("kilnDeviceOfMemory", "out");
  return ::give(deviceOfMemory({device_type, device_id}), out);
}

KilnError *kilnDeviceDescribe(KilnDevice *device, KilnBuffer **json) {
  if (!device || !json)
    return reportNull("kilnDeviceDescribe", "device and json");
  return capi::give(describeDevice(*unwrap(device)), json);
}

KilnString kilnDeviceGetName(const KilnDevice *device) {
  return string(device ? StringRef(unwrap(device)->name) : "");
}
KilnString kilnDeviceGetTarget(const KilnDevice *device) {
  return string(device ? StringRef(unwrap(device)->target) : "");
}
KilnString kilnDeviceGetIdentity(const KilnDevice *device) {
  return string(device ? StringRef(unwrap(device)->identity) : "");
}
void kilnDeviceGetMemory(const KilnDevice *device, int32_t *device_type, int32_t *device_id) {
  if (device_type)
    *device_type = device ? unwrap(device)->memory.type : 0;
  if (device_id)
    *device_id = device ? unwrap(device)->memory.id : 0;
}

//===- Memory and streams -------------------------------------------------------------------===//

KilnError *kilnDeviceAllocate(KilnDevice *device, uint64_t size, void **out) {
  if (!device || !out)
    return reportNull("kilnDeviceAllocate", "device and out");
  Expected<void *> memory = unwrap(device)->allocate(size);
  if (!memory)
    return report(memory.takeError());
  *out = *memory;
  return nullptr;
}

KilnError *kilnDeviceFree(KilnDevice *device, void *memory) {
  return device ? report(unwrap(device)->free(memory)) : reportNull("kilnDeviceFree", "device");
}

KilnError *kilnDeviceCopy(KilnDevice *device, void *to, const void *from, uint64_t size,
                          KilnCopyKind kind, KilnStream stream) {
  if (!device || (size && (!to || !from)))
    return reportNull("kilnDeviceCopy", "device, to and from");
  if (kind < KILN_COPY_TO_DEVICE || kind > KILN_COPY_ON_DEVICE)
    return report(KILN_ERROR_INVALID_ARGUMENT,
                  "kilnDeviceCopy: expected a kind of 0 to 2, got " + Twine(int(kind)));
  return report(unwrap(device)->copy(to, from, size, kind, stream));
}

KilnError *kilnDeviceCreateStream(KilnDevice *device, KilnStream *out) {
  if (!device || !out)
    return reportNull("kilnDeviceCreateStream", "device and out");
  Expected<KilnStream> stream = unwrap(device)->createStream();
  if (!stream)
    return report(stream.takeError());
  *out = *stream;
  return nullptr;
}

KilnError *kilnDeviceDestroyStream(KilnDevice *device, KilnStream stream) {
  return device ? report(unwrap(device)->destroyStream(stream))
                : reportNull("kilnDeviceDestroyStream", "device");
}

KilnError *kilnDeviceSynchronize(KilnDevice *device, KilnStream stream) {
  return device ? report(unwrap(device)->synchronize(stream))
                : reportNull("kilnDeviceSynchronize", "device");
}

KilnError *kilnDeviceSynchronizeFor(KilnDevice *device, KilnStream stream, uint64_t milliseconds) {
  return device ? report(unwrap(device)->synchronizeFor(stream, milliseconds))
                : reportNull("kilnDeviceSynchronizeFor", "device");
}

//===- Several devices, and after a failure -------------------------------------------------===//

KilnError *kilnDeviceCanAccessPeer(KilnDevice *device, KilnDevice *peer, int32_t *can) {
  if (!device || !peer || !can)
    return reportNull("kilnDeviceCanAccessPeer", "device, peer and can");
  Expected<bool> answer = unwrap(device)->canAccessPeer(*unwrap(peer));
  if (!answer)
    return report(answer.takeError());
  *can = *answer;
  return nullptr;
}

KilnError *kilnDeviceEnablePeerAccess(KilnDevice *device, KilnDevice *peer) {
  if (!device || !peer)
    return reportNull("kilnDeviceEnablePeerAccess", "device and peer");
  return report(unwrap(device)->enablePeerAccess(*unwrap(peer)));
}

KilnError *kilnDeviceReset(KilnDevice *device) {
  return device ? report(unwrap(device)->reset()) : reportNull("kilnDeviceReset", "device");
}

//===- Loaded kernels -----------------------------------------------------------------------===//

KilnError *kilnExecutableLoad(KilnDevice *device, const KilnArtifact *artifact,
                              KilnExecutable **out) {
  if (!device || !artifact || !out)
    return reportNull("kilnExecutableLoad", "device, artifact and out");
  Expected<ExecutablePtr> executable = unwrap(device)->load(artifact->artifact);
  if (!executable)
    return report(executable.takeError());
  (*executable)->Retain();
  *out = wrap(executable->get());
  return nullptr;
}

KilnExecutable *kilnExecutableRetain(KilnExecutable *executable) {
  if (executable)
    unwrap(executable)->Retain();
  return executable;
}
void kilnExecutableDestroy(KilnExecutable *executable) {
  if (executable)
    unwrap(executable)->Release();
}
KilnDevice *kilnExecutableGetDevice(const KilnExecutable *executable) {
  return executable ? wrap(&unwrap(executable)->device) : nullptr;
}
KilnString kilnExecutableGetMetadata(const KilnExecutable *executable) {
  return string(executable ? StringRef(unwrap(executable)->metadata) : "");
}
KilnError *kilnExecutableDescribe(const KilnExecutable *executable, KilnBuffer **json) {
  if (!executable || !json)
    return reportNull("kilnExecutableDescribe", "executable and json");
  return capi::give(unwrap(executable)->describe(), json);
}
