// What lies in tensor memory, which is set aside for all of a program's channels at once.
#ifndef KILN_TARGET_COMMON_TENSORCOLUMNS_H
#define KILN_TARGET_COMMON_TENSORCOLUMNS_H

#include "kiln/Target/Common/Synchronisation.h"

namespace kiln {

/// What a channel's slots take of it: each channel begins where something could be set aside by
/// itself.
int64_t alignTensorBytes(int64_t bytes, SynchronisationInterface sync);

} // namespace kiln

#endif // KILN_TARGET_COMMON_TENSORCOLUMNS_H
