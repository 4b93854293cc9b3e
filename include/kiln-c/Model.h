// How long a kernel would take, by the closed form that its compile describes: what chooses the
// values of tunables that nobody has given (docs/rationale/model.md). A compile with the option
// "model=true" and "stop-after=tile" has the form as the member "model" of its artifact's metadata,
// or "no_model" with why there is none and the line.
#ifndef KILN_C_MODEL_H
#define KILN_C_MODEL_H

#include "kiln-c/Launch.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct KilnModel KilnModel;
// `json` is the member "model" as it stands; it is not kept.
KILN_EXPORT KilnError *kilnModelCreate(const void *json, size_t size, KilnModel **out);
KILN_EXPORT void kilnModelDestroy(KilnModel *model);

// Microseconds of a launch with these arguments, in the order of the kernel's own: of tensors the
// shape is read, of integers the value. `device` NULL: as many cores as the chip's record says.
// May be called from any thread.
KILN_EXPORT KilnError *kilnModelPredict(const KilnModel *model, const KilnArg *args,
                                        size_t num_args, KilnDevice *device, double *microseconds);

#ifdef __cplusplus
}
#endif

#endif // KILN_C_MODEL_H
