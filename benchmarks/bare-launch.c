/* What a driver's own launch costs, from a loop in C: what nothing can be faster than. The suite
   `host` loads this into its process, so that the call is timed on the same device, context and
   core as the launches from Python beside it. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The driver's interface, as its library exports it. */
typedef int (*LoadModule)(void **module, const void *image, unsigned count, int *options,
                          void **values);
typedef int (*FindFunction)(void **function, void *module, const char *name);
typedef int (*LaunchKernel)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                            unsigned by, unsigned bz, unsigned shared, void *stream,
                            void **parameters, void **extra);
typedef int (*RetainContext)(void **context, int device);
typedef int (*SetContext)(void *context);
typedef int (*Synchronize)(void *stream);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *library, *function;

static void *find(const char *name) { return library ? dlsym(library, name) : NULL; }

/* Loads a kernel of three pointers, their extents and two integers, of which it reads none. 0, or
   what the driver answered; -1 without a driver. */
__attribute__((visibility("default"))) int kiln_bare_load(const char *code, const char *name) {
  const char *chosen = getenv("KILN_CUDA_LIBRARY");
  library = dlopen(chosen ? chosen : "libcuda.so.1", RTLD_NOW);
  RetainContext retain = (RetainContext)find("cuDevicePrimaryCtxRetain");
  SetContext push = (SetContext)find("cuCtxPushCurrent_v2");
  LoadModule load = (LoadModule)find("cuModuleLoadDataEx");
  FindFunction get = (FindFunction)find("cuModuleGetFunction");
  void *context, *module;
  if (!retain || !push || !load || !get)
    return -1;
  int result = retain(&context, 0);
  if (!result)
    result = push(context);
  if (!result)
    result = load(&module, code, 0, NULL, NULL);
  return result ? result : get(&function, module, name);
}

/* The nanoseconds of one of so many launches in a row, without what they queued; negative: what
   the driver answered. */
__attribute__((visibility("default"))) double kiln_bare_launch(int launches, unsigned threads) {
  LaunchKernel launch = (LaunchKernel)find("cuLaunchKernel");
  Synchronize synchronize = (Synchronize)find("cuStreamSynchronize");
  long long zero = 0;
  void *parameters[16];
  for (int i = 0; i < 16; ++i)
    parameters[i] = &zero;
  int result = launch && synchronize && function ? 0 : 1;
  double start = now();
  for (int i = 0; i < launches && !result; ++i)
    result = launch(function, 1, 1, 1, threads, 1, 1, 0, NULL, parameters, NULL);
  double spent = now() - start;
  if (!result)
    result = synchronize(NULL);
  return result ? -result : spent / launches;
}
