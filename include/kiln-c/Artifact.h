// A compiled kernel: metadata and named sections in one immutable object.
//
// The metadata is a JSON object. What the runtime reads of it:
// clang-format off
//   "kernel"         the kernel's name
//   "target"         as it was compiled for, "cpu" for example
//   "arguments"      one entry an argument, in the source's order:
//                      {"name": "a", "kind": "view", "type": "f32", "shape": [null, 128],
//                       "strides": [null, 1],      elements; null is not known when compiling
//                       "facts": {"pointer": 16, "strides": [16, 4], "extents": [16, 0],
//                                 "index32": true, "noalias": false}}
//                      {"name": "p", "kind": "pointer", "type": "f32"}
//                      {"name": "n", "kind": "scalar", "type": "i64", "facts": {"divisor": 16}}
//                    "facts" and each of its members may be absent: nothing was promised.
//   "abi"            one entry a parameter, hidden ones included, in the parameters' order:
//                      {"kind": "pointer|extent|stride|scalar|workspace|counter|tensor_map|messages|grid_extent",
//                       "arg": 0, "dim": 1, "type": "i64"}
//                    "arg" and "dim" only where they mean something. A workspace and a counter have "bytes" and
//                    "bytes_per_program", of all programs of the grid; a counter is zero, and the
//                    kernel leaves it so. A tensor map,
//                    128 bytes by value, has the "type", the "box" (extents of a tile), the
//                    "swizzle" in bytes, 0 for none, and "dims", which dimensions of the view those
//                    of a tile lie along, if not each along its own; it is made of the view's other
//                    parameters when the kernel is launched. What takes messages is a pointer to
//                    host memory as kiln/Runtime/Device/MessageRecord.h lays it out. A grid
//                    extent is the number of programs along x.
//   "messages"       what the kernel may tell the host, by the number in a record, from 1 on:
//                      {"kind": "line|real|signed|unsigned|hex", "text": "x", "shape": [64],
//                       "digits": 8}               a line; with a shape it says which element
//                      {"kind": "assert", "text": "x < n", "file": "k.py", "line": 7, "column": 3}
//   "has_grid"       whether the kernel computes its own grid
//   "scratch_bytes"  memory of each program on a host, 64-byte aligned
//   "shared_bytes"   memory that the threads of a program share, on an accelerator
//   "warps", "warp_size", "cluster": [x, y, z]      launch shape, on an accelerator
//   "own_cluster"    whether no clusters will do but these; of a kernel whose grid is cut, clusters of
//                    its programs take clusters of tiles in turn, and the grid is that of the tiles
//   "cooperative"    whether its programs must all run at once
//   "overlap"        whether it may begin before what precedes it on its stream has ended: it waits
//                    for that itself
//   "file", "line"   where the source defines it, if it says so
//   "programs", "persistent_per_core"
//                    programs, in all or for each multiprocessor, to which the grid's x is cut, since
//                    each has a loop over tiles; absent: all of them
//   "even_programs"  whether a launch makes no more of those than run its tiles in as few rounds
//   "streams"        whether there are so many however few tiles the grid has, since several run
//                    parts of one; "bytes_per_program" are of these then
//   "programs_per_block"
//                    programs that follow one another along x, which one block runs side by side: a
//                    launch makes so many times fewer blocks, rounded up; absent: one
//   "protocol"       by which roles, rings, counters, barriers and fences warps hand data to one
//                    another, on an accelerator (kiln/Support/Protocol.h): tile-check-isa finds them
//                    in the code
//   "own_grid"       whether no grid will do but the one that the kernel computes
//   "no_roles"       {"why": "…", "line": 7}: why no roles were decided for a kernel whose products
//                    could run on beside their warps; absent: they were, or nobody asked
//   "registers", "accumulator_registers", "scalar_registers", "spilled_registers", "local_bytes",
//   "waves_per_simd", "spill_store_bytes", "spill_load_bytes", "programs_per_core"
//                    what the code takes of an accelerator, as its code generator or assembler
//                    reports it; absent: not known, which is not 0
//   "any_memory"     true if the kernel makes pointers of integers: what it reads and writes need not
//                    belong to an argument
//   "processor", "processor_features": ["avx2", …]  on a host, the architecture and the features of
//                    the processors that can run the code; loading checks them
//   "versions"       [{"target": "cpu:x86-64-v3", "section": "version:cpu:x86-64-v3"}]: an artifact
//                    for several kinds of processor; each section is one such artifact, serialised,
//                    and loading takes the one of most features that the machine runs
//   "libraries"      bitcode of others that went into the code: [{"path": "…", "hash": "…"}], the hash
//                    BLAKE3 of the file; a cache takes the artifact for absent once a file differs
//   "vendor_math"    whether the kernel was to have the vendor's mathematics where that is found
//   "compiler"       kilnCompilerId() of the library that built it
// clang-format on
// Sections: "ir:tile", "ir:layout", "ir:schedule", "ir:target", "ir:llvm", "ir:llvmir" (those that
// the request kept), "asm", "binary" (what the device loads) and, for an accelerator, "host" (an
// object for the host with the function that computes the grid). On a host, "binary" is a
// relocatable, position-independent object that defines kiln_entry and, with a grid of its own,
// kiln_grid (kiln/Runtime/Host/Services.h).
//
// Serialised, an artifact is one block: magic, version, a checksum over all that follows, the
// metadata, the sections. Reading never trusts it: anything wrong is KILN_ERROR_CORRUPT.
#ifndef KILN_C_ARTIFACT_H
#define KILN_C_ARTIFACT_H

#include "kiln-c/Base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct KilnArtifact KilnArtifact;

// The caller owns what it gets; artifacts share their bytes, so this is cheap.
KILN_EXPORT KilnArtifact *kilnArtifactRetain(const KilnArtifact *artifact);
KILN_EXPORT void kilnArtifactDestroy(KilnArtifact *artifact);

KILN_EXPORT KilnString kilnArtifactGetMetadata(const KilnArtifact *artifact);
KILN_EXPORT size_t kilnArtifactGetNumSections(const KilnArtifact *artifact);
// `index` must be below kilnArtifactGetNumSections.
KILN_EXPORT KilnString kilnArtifactGetSectionName(const KilnArtifact *artifact, size_t index);
// KILN_ERROR_NOT_FOUND names the sections that there are.
KILN_EXPORT KilnError *kilnArtifactGetSection(const KilnArtifact *artifact, const char *name,
                                              KilnString *out);

KILN_EXPORT KilnError *kilnArtifactSerialize(const KilnArtifact *artifact, KilnBuffer **out);
// Copies the bytes.
KILN_EXPORT KilnError *kilnArtifactDeserialize(const void *bytes, size_t size, KilnArtifact **out);

#ifdef __cplusplus
}
#endif

#endif // KILN_C_ARTIFACT_H
