// From the text or bytecode of a module to an artifact.
#ifndef KILN_C_COMPILER_H
#define KILN_C_COMPILER_H

#include "kiln-c/Artifact.h"

#ifdef __cplusplus
extern "C" {
#endif

// How a compile is kept from harming the process that asks for it. Deeply nested input overflows
// the parser's stack and some bad input ends the process from inside the code generator, so what
// is not trusted is checked for size and depth first and then compiled by a worker process under
// limits; whatever happens in there comes back as an error that names the kernel. A source with
// inline assembly or calls of libraries' functions always goes to a worker, if one can be started:
// LLVM's assembler and its reader of bitcode abort over some input.
typedef enum KilnIsolation {
  KILN_ISOLATION_NONE = 0,   // in this process, sizes and depths still checked
  KILN_ISOLATION_WORKER = 1, // in a worker process of its own, under the limits below
  // The same, in a worker that is kept for this process's next compile: for a source that is
  // trusted, and may all the same be cancelled, run out of memory or end its compiler. Where no
  // worker can be started it is compiled in this process.
  KILN_ISOLATION_KEPT_WORKER = 2
} KilnIsolation;

typedef struct KilnCompileRequest {
  size_t struct_size;
  const void *source; // MLIR text or bytecode, told apart by bytecode's magic
  size_t source_size;
  const char *source_name; // what diagnostics call the source; "<source>" if NULL
  const char *kernel;      // NULL: the module holds exactly one kernel
  // "cpu" (the machine at hand), or another as kilnTargetsDescribe lists them. Several kinds of
  // processor, as in "cpu:x86-64-v2,cpu:x86-64-v4", make an artifact with a version for each.
  // NULL is "cpu"; "" is what the module says (`tile.target`), else "cpu". A module that says
  // another target than the request is refused.
  const char *target;

  // Stages whose IR is kept as sections "ir:<stage>": tile, layout, schedule, target, llvm,
  // llvmir, asm. One entry "all" keeps each. Not part of what the code does, but of the key.
  const char *const *keep_stages;
  size_t num_keep_stages;

  int32_t opt_level;   // 0 to 3
  int32_t fast_math;   // 0 or 1: may reassociate and ignore NaN, infinities, signed zeros
  int32_t vendor_math; // 0 or 1: on accelerators, the vendor's functions of mathematics if found
  // More of the pipeline's options, "name=value name=value", or NULL: stop-after=STAGE; from=STAGE,
  // for a source that is IR kept of that stage, perhaps edited; model=true, to have the metadata
  // say how long the kernel takes (kiln-c/Model.h); exact=true, with from=layout, to decide nothing
  // that the source leaves open.
  const char *options;

  // Limits, all checked before anything is parsed.
  uint64_t max_source_bytes;
  uint32_t max_depth; // nesting of <> () {} [] outside strings and comments

  KilnIsolation isolation;
  uint64_t worker_memory_bytes; // address space of the worker
  uint32_t worker_seconds;      // CPU time; the wall clock gets twice as much
  const char *worker_program;   // NULL: `kiln-worker` beside this library, or $KILN_WORKER

  // Called now and then while a worker runs, from the thread that asked: non-zero kills the worker
  // and gives KILN_ERROR_CANCELLED. A compile inside this process asks once, at its start.
  int32_t (*cancelled)(void *user_data);
  // Called for every diagnostic as it is made, warnings and remarks included, from the thread that
  // asked. The strings live until it returns; a note's `parent` counts the calls before.
  void (*diagnostic)(const KilnDiagnostic *diagnostic, void *user_data);
  void *user_data;
} KilnCompileRequest;

// opt_level 3, no fast-math, 64 MiB of source, depth 200, no isolation, 8 GiB, 300 s.
KILN_EXPORT void kilnCompileRequestInit(KilnCompileRequest *request);

KILN_EXPORT KilnError *kilnCompile(const KilnCompileRequest *request, KilnArtifact **out);

// The targets built in: {"targets": [{"name": "cpu", …}, …]}.
KILN_EXPORT KilnError *kilnTargetsDescribe(KilnBuffer **json);

// The body of kiln-worker: reads one request from the socket, compiles it under the limits that it
// names, writes what came of it and returns the process's exit status.
KILN_EXPORT int32_t kilnWorkerMain(int32_t socket);

//===- Keys -----------------------------------------------------------------------------------===//

// A content address.
typedef struct KilnKey {
  uint8_t bytes[32];
} KilnKey;

// The key of what kilnCompile would make of this request: the source's bytes, the kernel, target,
// stages and options, the compiler's id and, where code is made for the machine at hand, that
// machine's resolved CPU features. Isolation, limits and callbacks are not part of it.
KILN_EXPORT KilnError *kilnCompileRequestKey(const KilnCompileRequest *request, KilnKey *out);

// What code for a target depends on beside the request and the compiler: the machine's CPU, the
// assembler that is found, the vendor's libraries. Part of that key. "": of all targets. An unknown
// one is KILN_ERROR_NOT_FOUND.
KILN_EXPORT KilnError *kilnTargetIdentity(const char *target, KilnBuffer **out);

// The key of any bytes: for a front end's own first-level key over its sources. Add
// kilnCompilerId(), kilnTargetIdentity() and the device's "identity" to the bytes.
KILN_EXPORT void kilnKeyOfBytes(const void *bytes, size_t size, KilnKey *out);

#ifdef __cplusplus
}
#endif

#endif // KILN_C_COMPILER_H
