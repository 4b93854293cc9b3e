// What a chip gives the roles of a kernel.
#ifndef KILN_LIB_SCHEDULE_ROLELIMITS_H
#define KILN_LIB_SCHEDULE_ROLELIMITS_H

#include "kiln/Target/TargetInterface.h"

namespace kiln {

/// Whether roles hand registers to one another: where they wait for one another.
bool resizesRoles(TargetInterface target);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_ROLELIMITS_H
