// What every part of Kiln's C API shares: errors, diagnostics, borrowed and owned bytes.
//
// The rules, said once:
// - A function that can fail returns `KilnError *`: NULL is success, anything else is owned by the
//   caller and goes to kilnErrorDestroy. On failure, out parameters are left untouched.
// - KilnString is borrowed: it points into the object that it was asked of, is valid until that
//   object is destroyed, and is followed by a zero byte. KilnBuffer is owned by the caller.
// - Every object may be used from many threads at once, except that the thread which destroys an
//   object must be its last user. No function keeps a pointer that the caller passed in, unless its
//   comment says so.
// - Structures that the caller fills begin with `struct_size`; their Init function sets it and the
//   defaults, so that a library may grow a structure without breaking its callers. A structure may
//   be that of an older library's headers, or of a newer one's if what it has more is zero.
// - JSON texts are UTF-8, and may gain members: readers must ignore what they do not know.
#ifndef KILN_C_BASE_H
#define KILN_C_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KILN_EXPORT __attribute__((visibility("default")))

// Grows when a signature or a structure changes in a way that callers must follow.
#define KILN_API_VERSION 1

typedef struct KilnString {
  const char *data;
  size_t size; // without the zero byte that follows
} KilnString;

typedef struct KilnBuffer KilnBuffer;
KILN_EXPORT KilnString kilnBufferGet(const KilnBuffer *buffer);
KILN_EXPORT void kilnBufferDestroy(KilnBuffer *buffer); // NULL is allowed, here and below

//===- Errors ---------------------------------------------------------------------------------===//

typedef enum KilnErrorCode {
  KILN_OK = 0,
  KILN_ERROR_INVALID_ARGUMENT = 1, // the caller's: a wrong type, shape, device, name or option
  KILN_ERROR_COMPILE = 2,          // the source is wrong; the diagnostics say where
  KILN_ERROR_UNSUPPORTED = 3,      // legal, but not on this target, device or build
  KILN_ERROR_NOT_FOUND = 4,        // no such kernel, device, section or cache entry
  KILN_ERROR_OUT_OF_MEMORY = 5,    // of the host or of the device
  KILN_ERROR_IO = 6,               // the file system said no
  KILN_ERROR_CORRUPT = 7,          // bytes that are not what they claim to be
  KILN_ERROR_REFUSED = 8,          // unsafe: a hostile directory, a source over its limits
  KILN_ERROR_DEVICE = 9,           // the device's driver reported a failure
  KILN_ERROR_ASSERT = 10,          // a `tile.assert` failed in a program
  KILN_ERROR_WORKER = 11,          // the compile worker died or ran over a limit
  KILN_ERROR_CANCELLED = 12,       // the caller's `cancelled` callback asked for it
  KILN_ERROR_INTERNAL = 13,        // a defect of Kiln; please report it
  KILN_ERROR_TIMEOUT = 14          // what was waited for has not ended in time
} KilnErrorCode;

typedef enum KilnSeverity {
  KILN_SEVERITY_ERROR = 0,
  KILN_SEVERITY_WARNING = 1,
  KILN_SEVERITY_REMARK = 2,
  KILN_SEVERITY_NOTE = 3
} KilnSeverity;

// One message at one place. `parent` is the index, in the same list, of the diagnostic that a note
// belongs to, and -1 for every other severity. Lines and columns start at 1; 0 is "unknown", and
// so is an empty file.
typedef struct KilnDiagnostic {
  KilnSeverity severity;
  int32_t parent;
  KilnString file;
  uint32_t line;
  uint32_t column;
  KilnString text;
} KilnDiagnostic;

typedef struct KilnError KilnError;
KILN_EXPORT KilnErrorCode kilnErrorGetCode(const KilnError *error);
// One line or a few, complete without the diagnostics.
KILN_EXPORT KilnString kilnErrorGetMessage(const KilnError *error);
KILN_EXPORT size_t kilnErrorGetNumDiagnostics(const KilnError *error);
// `index` must be below kilnErrorGetNumDiagnostics; the strings are borrowed from the error.
KILN_EXPORT KilnDiagnostic kilnErrorGetDiagnostic(const KilnError *error, size_t index);
KILN_EXPORT void kilnErrorDestroy(KilnError *error);

//===- Identity -------------------------------------------------------------------------------===//

// "0.1.0". Static.
KILN_EXPORT KilnString kilnVersion(void);

// KILN_API_VERSION of the library that is loaded.
KILN_EXPORT uint32_t kilnApiVersion(void);

// 64 hexadecimal digits over everything that makes this library generate the code it does: its own
// build, LLVM's version and the targets built in. It is part of every cache key, so an upgraded
// compiler never serves what an older one built. Static.
KILN_EXPORT KilnString kilnCompilerId(void);

#ifdef __cplusplus
}
#endif

#endif // KILN_C_BASE_H
