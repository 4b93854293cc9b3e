// From a call's arguments to a running kernel, in well under a microsecond when warm.
//
// A KilnFunction is one kernel of a front end and a table of its specialisations. A launch
// computes the facts of its arguments, packs them into a key of a few words, finds the executable
// under that key and starts it. If there is none, the launch answers KILN_LAUNCH_MISS with the
// key; the front end asks kilnFunctionDescribeKey what is known, compiles for that, loads, and
// calls kilnFunctionInsert. Facts are thus computed in one place, here.
//
// The facts (docs/runtime.md), each of which a parameter may opt out of:
// clang-format off
//   pointer   the base address is a multiple of 16, else of 8, 4, 2 or 1 bytes
//   strides   each stride in bytes: likewise; and whether a stride is exactly 1 element
//   extents   each extent: exactly 1, or a positive multiple of 16; along a stride of 1 also of 8, 4
//             or 2
//   index32   every element lies within 2^31 bytes behind the base address; extents and strides
//             are numbers of 32 bits
//   noalias   no other tensor argument reaches this one's bytes
//   divisor   an integer is exactly 1, or a multiple of 16, or nothing is known
// clang-format on
#ifndef KILN_C_LAUNCH_H
#define KILN_C_LAUNCH_H

#include "kiln-c/Device.h"

#ifdef __cplusplus
extern "C" {
#endif

//===- Arguments ------------------------------------------------------------------------------===//

// Element types. The spelling in JSON is the lower-case name without KILN_: "f32", "f8e4m3fn".
// Unsigned types exist here and in front ends; the IR is signless.
typedef enum KilnDType {
  KILN_NONE = 0,
  KILN_F64 = 1,
  KILN_F32 = 2,
  KILN_F16 = 3,
  KILN_BF16 = 4,
  KILN_F8E4M3FN = 5,
  KILN_F8E5M2 = 6,
  KILN_F8E8M0FNU = 7,
  KILN_F6E2M3FN = 8,
  KILN_F6E3M2FN = 9,
  KILN_F4E2M1FN = 10,
  KILN_I64 = 11,
  KILN_I32 = 12,
  KILN_I16 = 13,
  KILN_I8 = 14,
  KILN_I4 = 15,
  KILN_I2 = 16,
  KILN_U64 = 17,
  KILN_U32 = 18,
  KILN_U16 = 19,
  KILN_U8 = 20,
  KILN_U4 = 21,
  KILN_U2 = 22,
  KILN_BOOL = 23 // one byte an element
} KilnDType;
KILN_EXPORT KilnString kilnDTypeGetName(KilnDType dtype);   // "f8e4m3fn"; static
KILN_EXPORT KilnString kilnDTypeGetIRName(KilnDType dtype); // "f8E4M3FN", "i8" for u8; static
KILN_EXPORT uint32_t kilnDTypeGetBits(KilnDType dtype);

#define KILN_MAX_RANK 8

// Shape and strides are read during the call only. Strides are in elements and may be zero or
// negative; NULL: contiguous, last dimension fastest. Types narrower than a byte are packed, low
// bits first. (device_type, device_id) is DLPack's; type 0: not stated and not checked.
typedef struct KilnTensor {
  void *data;
  const int64_t *shape;
  const int64_t *strides;
  int32_t rank;
  int32_t dtype; // KilnDType
  int32_t device_type;
  int32_t device_id;
} KilnTensor;

typedef enum KilnArgKind {
  KILN_ARG_TENSOR = 0,
  KILN_ARG_INTEGER = 1, // `integer`; unsigned 64-bit values by their bits
  KILN_ARG_FLOAT = 2,   // `real`
  KILN_ARG_BOOL = 3,    // `integer`, 0 or 1
  KILN_ARG_POINTER = 4  // `pointer`
} KilnArgKind;

typedef struct KilnArg {
  int32_t kind; // KilnArgKind
  int32_t reserved;
  union {
    KilnTensor tensor;
    int64_t integer;
    double real;
    void *pointer;
  } value;
} KilnArg;

typedef struct KilnLaunchOptions {
  size_t struct_size; // 0: only the members before `cancelled` are there
  // Programs along x, y, z; has_grid 0: the kernel's own grid. Zero anywhere launches nothing. Code
  // whose metadata says "own_grid" takes none.
  int32_t has_grid;
  int64_t grid[3];
  KilnStream stream;
  KilnDevice *device; // NULL: that of the first tensor, and "cpu" if there is none
  // Whatever else selects a specialisation (values of constexprs, tunables, options): a number
  // that the front end gives to each combination. Part of the key, not interpreted.
  uint64_t variant;
  // Called about 20 times a second while the programs of a grid run on the host, from the thread
  // that launched: non-zero begins no further program and gives KILN_ERROR_CANCELLED once those
  // that run have ended; what they wrote stays written. Never called for a launch of a few
  // milliseconds, for a grid of one program, nor where programs are queued. NULL: never asked. It
  // must not launch.
  int32_t (*cancelled)(void *user_data);
  void *user_data;
  // How the launch differs from a plain one; KILN_ERROR_UNSUPPORTED where the device cannot. What
  // the artifact says of itself ("cluster", "cooperative", "overlap") holds unasked.
  int64_t cluster[3];  // programs along x, y, z that run side by side; 0: what the artifact says
  int32_t cooperative; // all programs run at once, or none
  // May begin before what precedes it on the stream has ended: only of a kernel that waits for
  // that itself, as its artifact's "overlap" says.
  int32_t overlap;
  int32_t has_priority; // over other work of the device; lower numbers come first
  int32_t priority;
} KilnLaunchOptions;
KILN_EXPORT void kilnLaunchOptionsInit(KilnLaunchOptions *options);

//===- Functions ------------------------------------------------------------------------------===//

typedef enum KilnFactFlags {
  KILN_FACT_POINTER = 1,
  KILN_FACT_STRIDES = 2, // alignment of strides
  KILN_FACT_UNIT = 4,    // strides and extents (and integers) that are exactly 1
  KILN_FACT_EXTENTS = 8, // what extents (and integers) are multiples of
  KILN_FACT_INDEX32 = 16,
  KILN_FACT_NOALIAS = 32,
  KILN_FACTS_DEFAULT = 63 // all
} KilnFactFlags;

// `dtype` KILN_NONE: whatever comes (for a tensor), i64 / f32 / bool (for a scalar). `rank` -1:
// whatever comes. What is stated is checked at launch. An integer given to a float parameter is
// converted; a value that its type cannot hold is an error.
typedef struct KilnParameter {
  const char *name;
  int32_t kind;  // KilnArgKind
  int32_t dtype; // KilnDType
  int32_t rank;
  uint32_t facts; // KilnFactFlags that may be used
} KilnParameter;

typedef struct KilnFunction KilnFunction;
// Copies all it is given. `name` is what errors call the kernel.
KILN_EXPORT KilnError *kilnFunctionCreate(const char *name, const KilnParameter *parameters,
                                          size_t num_parameters, KilnFunction **out);
KILN_EXPORT void kilnFunctionDestroy(KilnFunction *function);

typedef enum KilnLaunchStatus {
  KILN_LAUNCH_OK = 0,
  KILN_LAUNCH_MISS = 1,  // *key is set
  KILN_LAUNCH_FAILED = 2 // *error is set
} KilnLaunchStatus;

// On a miss *key is borrowed from the calling thread until its next launch: copy it first.
// `options` NULL: the defaults. On a host the programs have run when this returns; on an
// accelerator they are queued, and what fails in them is reported by kilnDeviceSynchronize; a
// failed assertion by the next launch on the device too, which is not made, for those who wait by
// other means. What programs print is on standard output when the stream has been waited for. On a
// stream that is being captured into a graph they become part of it; a workspace that such a
// launch is given is the graph's own and stays until the process ends.
KILN_EXPORT KilnLaunchStatus kilnFunctionLaunch(KilnFunction *function, const KilnArg *args,
                                                size_t num_args, const KilnLaunchOptions *options,
                                                KilnString *key, KilnError **error);

// The key that a launch with these arguments would look up, without launching.
KILN_EXPORT KilnError *kilnFunctionKey(KilnFunction *function, const KilnArg *args, size_t num_args,
                                       const KilnLaunchOptions *options, KilnBuffer **key);

// clang-format off
// {"variant": 0, "device": "cpu", "arguments": [
//   {"name": "a", "kind": "tensor", "dtype": "f32", "type": "!tile.view<?x1xf32, strides [?, 1]>",
//    "rank": 2, "shape": [null, 1], "strides": [null, 1],
//    "facts": {"pointer": 16, "strides": [16, 4], "extents": [16, 0], "index32": true,
//              "noalias": false},
//    "attribute": "#tile.facts<pointer = 16, strides = [16, 4], extents = [16, 0], index32>"},
//   {"name": "n", "kind": "integer", "dtype": "i64", "type": "i64", "value": 1 or null,
//    "facts": {"divisor": 16}, "attribute": "#tile.facts<divisor = 16>"},
//   {"name": "s", "kind": "float", "dtype": "f32", "type": "f32"},
//   {"name": "p", "kind": "pointer", "dtype": "f32", "type": "!tile.pointer<f32>",
//    "facts": {"pointer": 16}, "attribute": "#tile.facts<pointer = 16>"}]}
// clang-format on
// "type" and "attribute" ("" if nothing is known) are written into the kernel's signature as they
// stand. Extents and strides that are exactly 1 are static in "type" and so no parameters of the
// kernel's. An integer whose "value" is 1 stays a parameter; the front end may use the constant.
// "arguments" depends on nothing but facts: with the kernel's sources it makes a first-level key
// that holds between processes. "variant" and "device" are this process's own.
KILN_EXPORT KilnError *kilnFunctionDescribeKey(KilnFunction *function, const void *key,
                                               size_t key_size, KilnBuffer **json);

// From now on that key runs this executable (of the key's device), which the function retains. A
// key that is there already is replaced.
KILN_EXPORT KilnError *kilnFunctionInsert(KilnFunction *function, const void *key, size_t key_size,
                                          KilnExecutable *executable);

// The variants that a specialisation is loaded of, each once, ascending: 64-bit words in the host's
// byte order. What a front end keeps for the others it may let go of.
KILN_EXPORT KilnError *kilnFunctionVariants(KilnFunction *function, KilnBuffer **variants);

// Forgets every specialisation. No launch may be running.
KILN_EXPORT void kilnFunctionClear(KilnFunction *function);

// How many specialisations stay loaded in this process, of all functions together: over it, the one
// that was launched longest ago goes, and a launch of it is a miss again. Never one that is
// running, nor one that a graph holds. 0: any number. Until this is called,
// $KILN_MAX_SPECIALISATIONS or 4096.
KILN_EXPORT void kilnSpecialisationsSetMax(uint64_t max);
// {"loaded": n, "max": n, "evicted": n}
KILN_EXPORT KilnError *kilnSpecialisationsDescribe(KilnBuffer **json);

// Launches an executable as it is, no table: for tools, and for code compiled ahead of time.
// Checks the arguments against all that the artifact's metadata promises, static extents and facts
// included. A grid of no programs runs for empty tensors too.
KILN_EXPORT KilnError *kilnExecutableLaunch(KilnExecutable *executable, const KilnArg *args,
                                            size_t num_args, const KilnLaunchOptions *options);

#ifdef __cplusplus
}
#endif

#endif // KILN_C_LAUNCH_H
