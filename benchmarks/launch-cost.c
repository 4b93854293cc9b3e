/* What one launch costs through the C API alone: 3 arrays, 2 integers, one empty program. Prints
   the median in nanoseconds; the suite `host` holds the launch from Python against it.

     kiln-launch-cost [DEVICE]      "cpu" without one

   Batches are short, and what they queued ends before the next: a full queue would be waited for.
 */
#include "kiln-c/Compiler.h"
#include "kiln-c/Launch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kBatches = 1000, kLaunches = 100 };

static const char *const kSource =
    "tile.kernel @empty(%a: !tile.view<?xf32>, %b: !tile.view<?xf32>, %c: !tile.view<?xf32>,\n"
    "                   %m: i64, %n: i64) grid {\n"
    "  %one = arith.constant 1 : index\n"
    "  tile.grid %one\n"
    "} {\n"
    "  tile.return\n"
    "}\n";

static void check(KilnError *error) {
  if (!error)
    return;
  fprintf(stderr, "error: %s\n", kilnErrorGetMessage(error).data);
  kilnErrorDestroy(error);
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "cpu";
  KilnDevice *device = NULL;
  check(kilnDeviceOpen(name, &device));
  KilnCompileRequest request;
  kilnCompileRequestInit(&request);
  request.source = kSource;
  request.source_size = strlen(kSource);
  char target[64];
  snprintf(target, sizeof target, "%s", kilnDeviceGetTarget(device).data);
  request.target = target;
  KilnArtifact *artifact = NULL;
  check(kilnCompile(&request, &artifact));

  KilnExecutable *executable = NULL;
  check(kilnExecutableLoad(device, artifact, &executable));

  KilnParameter parameters[5];
  const char *const names[5] = {"a", "b", "c", "m", "n"};
  for (int i = 0; i < 5; ++i) {
    KilnParameter p = {names[i], i < 3 ? KILN_ARG_TENSOR : KILN_ARG_INTEGER,
                       i < 3 ? KILN_F32 : KILN_I64, i < 3 ? 1 : -1, KILN_FACTS_DEFAULT};
    parameters[i] = p;
  }
  KilnFunction *function = NULL;
  check(kilnFunctionCreate("empty", parameters, 5, &function));

  void *data[3];
  int32_t deviceType, deviceId;
  kilnDeviceGetMemory(device, &deviceType, &deviceId);
  for (int i = 0; i < 3; ++i)
    check(kilnDeviceAllocate(device, 64 * sizeof(float), &data[i]));
  const int64_t shape[1] = {64};
  KilnArg args[5];
  memset(args, 0, sizeof args);
  for (int i = 0; i < 3; ++i) {
    args[i].kind = KILN_ARG_TENSOR;
    args[i].value.tensor.data = data[i];
    args[i].value.tensor.shape = shape;
    args[i].value.tensor.rank = 1;
    args[i].value.tensor.dtype = KILN_F32;
    args[i].value.tensor.device_type = deviceType;
    args[i].value.tensor.device_id = deviceId;
  }
  for (int i = 3; i < 5; ++i) {
    args[i].kind = KILN_ARG_INTEGER;
    args[i].value.integer = 7 * i;
  }

  KilnString key;
  KilnError *error = NULL;
  KilnLaunchStatus status = kilnFunctionLaunch(function, args, 5, NULL, &key, &error);
  if (status == KILN_LAUNCH_MISS)
    check(kilnFunctionInsert(function, key.data, key.size, executable));
  static double samples[kBatches];
  for (int batch = 0; batch < kBatches; ++batch) {
    double start = now();
    for (int i = 0; i < kLaunches; ++i) {
      status = kilnFunctionLaunch(function, args, 5, NULL, &key, &error);
      if (status == KILN_LAUNCH_OK)
        continue;
      check(error);
      fprintf(stderr, "error: expected a launch, got status %d\n", (int)status);
      return 1;
    }
    samples[batch] = (now() - start) / kLaunches;
    check(kilnDeviceSynchronize(device, NULL));
  }
  qsort(samples, kBatches, sizeof samples[0], compare);
  printf("%.1f\n", samples[kBatches / 2]);
  for (int i = 0; i < 3; ++i)
    check(kilnDeviceFree(device, data[i]));
  kilnFunctionDestroy(function);
  kilnExecutableDestroy(executable);
  kilnArtifactDestroy(artifact);
  return 0;
}
