// The functions that the code of an emulated chip calls, each for the thread that runs
// (lib/Target/Emulated/LowerToHost.h).
#ifndef KILN_LIB_RUNTIME_EMULATED_CALLS_H
#define KILN_LIB_RUNTIME_EMULATED_CALLS_H

#include <cstdint>

extern "C" {
int32_t kiln_emulated_register(int32_t which);
void kiln_emulated_barrier(int32_t site);
void kiln_emulated_instruction(const char *name, const void *operands, void *result, int32_t site);
void kiln_emulated_access(void *pointer, int64_t bytes, int32_t kind, const void *value,
                          int32_t site);
void kiln_emulated_fence(int32_t kind, int32_t site);
void kiln_emulated_trip(int32_t site);
void *kiln_emulated_shared();
void kiln_emulated_row(void *pointer, int64_t bytes, int32_t kind, int32_t rows, int32_t site);
void kiln_emulated_arrival(void *pointer, int32_t last);
}

#endif // KILN_LIB_RUNTIME_EMULATED_CALLS_H
