// Kernels as the compiler emits them for a host, one an object: see include/kiln/Runtime/Host.
#include <stdint.h>

typedef struct Services Services;
struct Services {
  void (*printText)(Services *, const char *, int64_t);
  void (*printSigned)(Services *, int64_t);
  void (*printUnsigned)(Services *, uint64_t);
  void (*printReal)(Services *, double);
  void (*printLine)(Services *);
  void (*reportAssert)(Services *, const char *, int64_t, const char *, int64_t, int64_t, int64_t,
                       int64_t, int64_t, int64_t);
};

int32_t kiln_entry(const uint64_t *slots, int64_t first, int64_t last, const int64_t *grid,
                   void *scratch, Services *services);

// z[i] = x[i] + y[i] over f32 vectors of any stride: slots x, x extent, x stride, y …, z …; a
// program does 64 elements.
#ifdef KERNEL_ADD
void kiln_grid(const uint64_t *slots, int64_t *grid) {
  grid[0] = ((int64_t)slots[1] + 63) / 64;
  grid[1] = grid[2] = 1;
}
int32_t kiln_entry(const uint64_t *slots, int64_t first, int64_t last, const int64_t *grid,
                   void *scratch, Services *services) {
  const float *x = (const float *)slots[0], *y = (const float *)slots[3];
  float *z = (float *)slots[6];
  int64_t n = (int64_t)slots[1];
  for (int64_t program = first; program < last; ++program)
    for (int64_t i = program * 64; i < program * 64 + 64 && i < n; ++i)
      z[i * (int64_t)slots[8]] = x[i * (int64_t)slots[2]] + y[i * (int64_t)slots[5]];
  return 0;
}
#endif

// The same with the last strides known to be 1, and no grid: slots x, extent, y, z. Counts its
// programs in z instead of adding.
#ifdef KERNEL_NOGRID
int32_t kiln_entry(const uint64_t *slots, int64_t first, int64_t last, const int64_t *grid,
                   void *scratch, Services *services) {
  int64_t *out = (int64_t *)slots[0];
  for (int64_t program = first; program < last; ++program)
    __atomic_fetch_add(&out[program % (int64_t)slots[1]], 1 + grid[1] * 1000, __ATOMIC_RELAXED);
  return 0;
}
#endif

// Each program prints a line of many pieces.
#ifdef KERNEL_PRINT
int32_t kiln_entry(const uint64_t *slots, int64_t first, int64_t last, const int64_t *grid,
                   void *scratch, Services *services) {
  for (int64_t program = first; program < last; ++program) {
    services->printText(services, "program ", 8);
    services->printSigned(services, program);
    for (int i = 0; i < 20; ++i)
      services->printText(services, " .", 2);
    services->printText(services, " ", 1);
    services->printReal(services, 0.5);
    services->printText(services, " ", 1);
    services->printUnsigned(services, ~(uint64_t)0);
    services->printLine(services);
  }
  return 0;
}
#endif

// An assert that fails in the program that slot 0 names.
#ifdef KERNEL_FAIL
int32_t kiln_entry(const uint64_t *slots, int64_t first, int64_t last, const int64_t *grid,
                   void *scratch, Services *services) {
  for (int64_t program = first; program < last; ++program)
    if (program == (int64_t)slots[0]) {
      services->reportAssert(services, "x < n", 5, "k.py", 4, 7, 3, program % grid[0],
                             program / grid[0] % grid[1], program / grid[0] / grid[1]);
      return 1;
    }
  return 0;
}
#endif

// Calls functions of libm and of the compiler's support library: slot 0 is an array of doubles to
// take the sine of, slot 1 their number, slot 2 an array of half bits made of them.
#ifdef KERNEL_BUILTINS
double sin(double);
float __truncdfhf2(double);
int32_t kiln_entry(const uint64_t *slots, int64_t first, int64_t last, const int64_t *grid,
                   void *scratch, Services *services) {
  double *values = (double *)slots[0];
  uint16_t *halves = (uint16_t *)slots[2];
  for (int64_t i = 0; i < (int64_t)slots[1]; ++i) {
    union {
      float carrier;
      uint16_t bits;
    } half = {__truncdfhf2(values[i])};
    halves[i] = half.bits;
    values[i] = sin(values[i]);
  }
  return 0;
}
#endif

#ifdef KERNEL_MISSING
void no_such_function_anywhere(void);
int32_t kiln_entry(const uint64_t *slots, int64_t first, int64_t last, const int64_t *grid,
                   void *scratch, Services *services) {
  no_such_function_anywhere();
  return 0;
}
#endif

// Fills its scratch memory and sums it: slot 0 is where the sums go, slot 1 the bytes.
#ifdef KERNEL_SCRATCH
int32_t kiln_entry(const uint64_t *slots, int64_t first, int64_t last, const int64_t *grid,
                   void *scratch, Services *services) {
  int64_t *out = (int64_t *)slots[0], bytes = (int64_t)slots[1];
  unsigned char *mine = (unsigned char *)scratch;
  for (int64_t program = first; program < last; ++program) {
    for (int64_t i = 0; i < bytes; ++i)
      mine[i] = (unsigned char)program;
    int64_t sum = (uintptr_t)scratch % 64 ? -1 : 0;
    for (int64_t i = 0; i < bytes; ++i)
      sum += mine[i];
    out[program] = sum;
  }
  return 0;
}
#endif

// A workspace and a counter among the parameters: slot 0 an array of one, slot 1 the workspace,
// slot 2 the counter.
#ifdef KERNEL_SLOW
int32_t kiln_entry(const uint64_t *slots, int64_t first, int64_t last, const int64_t *grid,
                   void *scratch, Services *services) {
  int64_t *out = (int64_t *)slots[0], *work = (int64_t *)slots[1];
  int32_t *counter = (int32_t *)slots[2];
  for (int64_t program = first; program < last; ++program) {
    work[program] = program;
    if (__atomic_add_fetch(counter, 1, __ATOMIC_ACQ_REL) == grid[0])
      for (int64_t i = 0; i < grid[0]; ++i)
        *out += work[i];
  }
  return 0;
}
#endif
