// Devices, their memory, and kernels loaded on them.
//
// A device is named by its driver and a number or chip, "cpu" being the one that is always there;
// kilnDevicesDescribe lists the rest. Drivers are opened at run time: one that is absent is an
// error that says which library was looked for and what the loader answered.
#ifndef KILN_C_DEVICE_H
#define KILN_C_DEVICE_H

#include "kiln-c/Artifact.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct KilnDevice KilnDevice;
typedef struct KilnExecutable KilnExecutable;

// A driver's own stream handle, as PyTorch, JAX and the vendors' runtimes pass it around; NULL is
// the device's default stream. The host ignores it.
typedef void *KilnStream;

//===- Devices --------------------------------------------------------------------------------===//

// clang-format off
// [{"name": "cpu", "available": true, "target": "cpu", "description": "…", "identity": "…",
//   "properties": {…}},
//  {"name": "…", "available": false, "reason": "…"}]
// clang-format on
// Never fails for an absent driver: that is what "reason" is for.
KILN_EXPORT KilnError *kilnDevicesDescribe(KilnBuffer **json);

// The device of that name. A device is opened once, belongs to the library and lives as long as
// the process: every call gives the same pointer, and there is nothing to close.
KILN_EXPORT KilnError *kilnDeviceOpen(const char *name, KilnDevice **out);

// The device that holds memory which DLPack describes by (device type, device id).
KILN_EXPORT KilnError *kilnDeviceOfMemory(int32_t device_type, int32_t device_id, KilnDevice **out);

// Its entry in kilnDevicesDescribe. "target" is what to compile for; "identity" names everything
// about the machine and the driver that generated code may depend on (resolved CPU features, the
// driver's version) and belongs in a cache key.
KILN_EXPORT KilnError *kilnDeviceDescribe(KilnDevice *device, KilnBuffer **json);
KILN_EXPORT KilnString kilnDeviceGetName(const KilnDevice *device);
KILN_EXPORT KilnString kilnDeviceGetTarget(const KilnDevice *device);
KILN_EXPORT KilnString kilnDeviceGetIdentity(const KilnDevice *device);

// What DLPack calls this device's memory.
KILN_EXPORT void kilnDeviceGetMemory(const KilnDevice *device, int32_t *device_type,
                                     int32_t *device_id);

//===- Memory and streams ---------------------------------------------------------------------===//

// At least 256-byte aligned; a size of 0 gives NULL. KILN_ERROR_OUT_OF_MEMORY says how much was
// asked for.
KILN_EXPORT KilnError *kilnDeviceAllocate(KilnDevice *device, uint64_t size, void **out);
KILN_EXPORT KilnError *kilnDeviceFree(KilnDevice *device, void *memory);

typedef enum KilnCopyKind {
  KILN_COPY_TO_DEVICE = 0,
  KILN_COPY_FROM_DEVICE = 1,
  KILN_COPY_ON_DEVICE = 2
} KilnCopyKind;

// Ordered on the stream; a copy from or to pageable host memory has ended when this returns.
KILN_EXPORT KilnError *kilnDeviceCopy(KilnDevice *device, void *to, const void *from, uint64_t size,
                                      KilnCopyKind kind, KilnStream stream);

KILN_EXPORT KilnError *kilnDeviceCreateStream(KilnDevice *device, KilnStream *out);
KILN_EXPORT KilnError *kilnDeviceDestroyStream(KilnDevice *device, KilnStream stream);

// Waits for the stream, and reports what failed on it since it was last asked.
KILN_EXPORT KilnError *kilnDeviceSynchronize(KilnDevice *device, KilnStream stream);

// The same, for so long at most: then KILN_ERROR_TIMEOUT names the kernels that were launched last.
// Nothing is ended by it.
KILN_EXPORT KilnError *kilnDeviceSynchronizeFor(KilnDevice *device, KilnStream stream,
                                                uint64_t milliseconds);

//===- Several devices ------------------------------------------------------------------------===//

// Kernels take the memory of their own device only, unless asked otherwise: after this the kernels
// of `device` reach that of `peer` too. Doing it twice does no harm; KILN_ERROR_UNSUPPORTED says
// which two devices have no way to each other.
KILN_EXPORT KilnError *kilnDeviceCanAccessPeer(KilnDevice *device, KilnDevice *peer, int32_t *can);
KILN_EXPORT KilnError *kilnDeviceEnablePeerAccess(KilnDevice *device, KilnDevice *peer);

//===- After a failure ------------------------------------------------------------------------===//

// A kernel that accesses what it may not, or runs over the driver's time, takes everything of this
// process on the device with it. The first call that hears of it names the kernel; all later ones
// say that the device is lost and by which kernel, until this makes it anew. Memory and streams
// are gone then; kernels are loaded again when they are launched. KILN_ERROR_UNSUPPORTED if another
// library in this process shares the device (its memory is not Kiln's to throw away), or if
// the driver cannot tell; KILN_ERROR_DEVICE if the driver gives this process no other context, as
// some do after a wrong address. The host goes on in any case.
KILN_EXPORT KilnError *kilnDeviceReset(KilnDevice *device);

//===- Loaded kernels -------------------------------------------------------------------------===//

// Loads the artifact's code. The executable keeps what it needs of the artifact.
KILN_EXPORT KilnError *kilnExecutableLoad(KilnDevice *device, const KilnArtifact *artifact,
                                          KilnExecutable **out);
KILN_EXPORT KilnExecutable *kilnExecutableRetain(KilnExecutable *executable);
// The code is unloaded when the last owner is gone; launches in flight must have ended.
KILN_EXPORT void kilnExecutableDestroy(KilnExecutable *executable);
KILN_EXPORT KilnDevice *kilnExecutableGetDevice(const KilnExecutable *executable);
// The artifact's metadata.
KILN_EXPORT KilnString kilnExecutableGetMetadata(const KilnExecutable *executable);
// What the device's loader says of the code: {"registers": n, "spill_bytes": n, …}.
KILN_EXPORT KilnError *kilnExecutableDescribe(const KilnExecutable *executable, KilnBuffer **json);

#ifdef __cplusplus
}
#endif

#endif // KILN_C_DEVICE_H
